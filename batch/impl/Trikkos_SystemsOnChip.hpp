// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SYSTEMSONCHIP_HPP
#define TRIKKOS_IMPL_SYSTEMSONCHIP_HPP

#include <algorithm>
#include <impl/Trikkos_ComputedSystems.hpp>
#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_OnChipShape.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// The systems that a team of a device holds in its scratch: how their rows get there, and x back.

namespace Trikkos::Impl {

/// What kernels with them share. `Apart`: words between the rows of an interleaved system, as many
/// as there are systems, where the compiler is to know them. `InStep`: whether the shape is.
/// `Which` systems are solved; others are left as they are.
template <class T, bool Interleaved, class Matrices, int Apart = 0, bool InStep = false,
          class Which = EverySystem>
struct SystemsOnChip {
  static constexpr int W = MatrixOf<Matrices>::width;
  static constexpr int rhs = 2 * W + 1;  // the band that is b

  Problem<T, W, Matrices> problem;
  OnChipShape<T, W> shape;
  SystemTiles tiles;  // one a team
  bool in_bulk;       // contiguous systems of bands and b: aligned, equally far apart, long enough;
                      // rows of interleaved ones: aligned
  Which wanted{};

  KOKKOS_FORCEINLINE_FUNCTION int systems() const {
    return Interleaved && Apart > 0 ? Apart : shape.systems();
  }
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const {
    return (shape.rows << shape.levels) + (InStep && !Interleaved ? shape.gap : 0);
  }
  /// Of interleaved systems from a row to the next.
  KOKKOS_FORCEINLINE_FUNCTION int apart() const { return systems() + (InStep ? 1 : 0); }
  KOKKOS_FORCEINLINE_FUNCTION int place(int s, int row) const {
    return Interleaved ? row * apart() + s : s * pitch() + row;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_wanted(std::int64_t system) const {
    return wanted.has(system);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool wants_any(const Member& member,
                                             const SystemTiles::Tile& tile) const {
    if constexpr (std::is_same_v<Which, EverySystem>) return true;
    bool any = false;
    for (int s = member.team_rank(); s < tile.count; s += member.team_size())
      any = any || is_wanted(tile.first + s);
    return any_in_team(member, any);
  }
  /// The bands of a tile: `InStep` as far from a multiple of 16 bytes as its b is.
  KOKKOS_FORCEINLINE_FUNCTION T* bands_in(T* scratch, const SystemTiles::Tile& tile) const {
    if (!InStep || Interleaved) return scratch;
    const auto b = reinterpret_cast<std::uintptr_t>(problem.b.block(tile.first).data);
    return scratch + b % staging_alignment / sizeof(T);
  }
  /// Rows [begin, end) of `here` systems; what neighbours in memory are neighbours in a run.
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION Runs<U> runs(std::remove_const_t<U>* band, const Vectors<U>& v,
                                           int here, int begin, int end) const {
    if constexpr (Interleaved)
      return {band + place(0, begin),
              v.data + begin * v.row_stride,
              end - begin,
              here,
              apart(),
              v.row_stride,
              v.system_stride};
    else
      return {
          band + begin, v.data + begin * v.row_stride, here, end - begin, pitch(), v.system_stride,
          v.row_stride};
  }

  /// `in_words`: what else goes in bulk, as a warp starts one bulk copy after the other.
  template <bool in_words = false, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, void* arrivals, T* bands,
                                        const SystemTiles::Tile& tile) const {
    Staging<Member> staging(member, arrivals);
    if constexpr (ComputedMatrices<Matrices>) {
      load_rhs(staging, bands, tile);
      compute_rows(member, bands, tile);
      staging.wait();
    } else {
      load_stored<in_words>(member, staging, bands, tile);
    }
  }
  /// Short systems by 16 bytes, as a warp starts one bulk copy after the other.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_short_or_long(const Member& member, void* arrivals,
                                                      T* bands,
                                                      const SystemTiles::Tile& tile) const {
    constexpr int long_system = 1024;  // bytes
    if (shape.n * static_cast<int>(sizeof(T)) < long_system)
      load<true>(member, arrivals, bands, tile);
    else
      load(member, arrivals, bands, tile);
  }
  /// Rows 1 x = 0 behind each system, which make its last partition complete.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void pad(const Member& member, T* bands) const {
    const int n = shape.n, more = pitch() - n;
    for (int k = member.team_rank(); k < systems() * more; k += member.team_size()) {
      T* const row = bands + place(k / more, n + k % more);
      TRIKKOS_UNROLL(rhs + 1)
      for (int j = 0; j <= rhs; ++j) row[j * shape.band_words()] = T(j == W);
    }
  }
  /// x of the tile, from the place of b, but of systems for which !is_one(s). All threads call it.
  template <int bulk = long_run, class Member, class IsOne>
  KOKKOS_FORCEINLINE_FUNCTION void store_some(const Member& member, T* bands,
                                              const SystemTiles::Tile& tile,
                                              const IsOne& is_one) const {
    T* const solutions = bands + rhs * shape.band_words();
    const Vectors<T> x = problem.x.block(tile.first);
    bool all = true;
    for (int s = 0; s < tile.count; ++s) all = all && is_one(s);
    if (all)
      return Staging<Member>::template store<Interleaved, bulk>(
          member, runs(solutions, x, tile.count, 0, shape.n));
    member.team_barrier();
    for (int k = member.team_rank(); k < tile.count * shape.n; k += member.team_size()) {
      const int s = Interleaved ? k % tile.count : k / shape.n,
                i = Interleaved ? k / tile.count : k % shape.n;
      if (is_one(s)) x.data[s * x.system_stride + i * x.row_stride] = solutions[place(s, i)];
    }
  }
  template <int bulk = long_run, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void store_wanted(const Member& member, T* bands,
                                                const SystemTiles::Tile& tile) const {
    store_some<bulk>(member, bands, tile, [&](int s) { return is_wanted(tile.first + s); });
  }

 private:
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void compute_rows(const Member& member, T* bands,
                                                const SystemTiles::Tile& tile) const {
    for (int k = member.team_rank(); k < tile.count * shape.n; k += member.team_size()) {
      const int s = k / shape.n, i = k % shape.n;
      const auto row = problem.A[tile.first + s].row(i);
      for (int j = 0; j < rhs; ++j) bands[j * shape.band_words() + place(s, i)] = row[j];
    }
  }
  template <bool in_words, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_stored(const Member& member, Staging<Member>& staging,
                                               T* bands, const SystemTiles::Tile& tile) const {
    const int words = shape.band_words(), here = tile.count;
    const Systems<T, W>& A = problem.A;
    constexpr int each = sizeof(WideWord) / sizeof(T);
    if (Interleaved && InStep && tile.is_inside)
      load_rows_in_step(member, staging, bands, tile.first);
    else if (InStep && tile.is_inside)
      load_in_step(member, staging, bands, tile.first, here);
    else if (Interleaved && in_bulk && here == systems() && here >= each)
      load_rows(member, staging, bands, tile.first);
    else if (!Interleaved && in_bulk && tile.is_inside && in_words)
      load_in_words(member, staging, bands, tile.first, here);
    else if (!Interleaved && in_bulk && tile.is_inside)
      load_in_bulk(staging, bands, tile.first, here);
    else
      load_bands(staging, bands, tile);
    staging.wait();
    if (A.first.conjugated) {
      for (int i = member.team_rank(); i < rhs * words; i += member.team_size())
        bands[i] = conjugate(bands[i]);
      member.team_barrier();
    }
    // what lies outside the matrix, or wraps around, or belongs to the rows around a block
    for (int s = member.team_rank(); s < here; s += member.team_size())
      load_edges(bands + place(s, 0), place(0, 1) - place(0, 0), problem.A[tile.first + s],
                 std::make_integer_sequence<int, W>{});
    member.team_barrier();
  }
  /// Rows of as many systems as the team has, by wide words: what is outside the matrix is not
  /// read.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_rows(const Member& member, Staging<Member>& staging,
                                             T* bands, std::int64_t first) const {
    constexpr int each = sizeof(WideWord) / sizeof(T);
    const int pieces = systems() / each, word = member.team_rank() % pieces * each;
    const int begin = member.team_rank() / pieces, at_once = member.team_size() / pieces;
    const T* from[rhs + 1];
    std::int64_t step[rhs + 1];
    TRIKKOS_UNROLL(rhs + 1)
    for (int j = 0; j <= rhs; ++j) {
      const Vectors<const T> v = j < rhs ? problem.A.band(j).block(first) : problem.b.block(first);
      from[j] = v.data + (begin * v.row_stride + word);
      step[j] = at_once * v.row_stride;
    }
    staging.load_by_all([&] {
      T* to = bands + (begin * systems() + word);
      TRIKKOS_UNROLL(2)
      for (int i = begin; i < shape.n; i += at_once) {
        TRIKKOS_UNROLL(rhs + 1)
        for (int j = 0; j <= rhs; ++j) {
          const bool exists = j >= rhs || (i >= W - j && i < shape.n - (j - W));
          if (exists)
            start_copy(reinterpret_cast<WideWord*>(to + j * shape.band_words()),
                       reinterpret_cast<const WideWord*>(from[j]));
          from[j] += step[j];
        }
        to += at_once * systems();
      }
    });
  }
  /// The same where every other row begins a word behind a multiple of 16 bytes, in scratch, too:
  /// with the words before and behind it.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_rows_in_step(const Member& member, Staging<Member>& staging,
                                                     T* bands, std::int64_t first) const {
    constexpr int each = sizeof(WideWord) / sizeof(T);
    const int pieces = systems() / each, piece = member.team_rank() % pieces;
    const int begin = member.team_rank() / pieces, at_once = member.team_size() / pieces;
    staging.load_by_all([&] {
      TRIKKOS_UNROLL(2)
      for (int i = begin; i < shape.n; i += at_once) {
        const int word = piece * each - i % each;
        TRIKKOS_UNROLL(rhs + 1)
        for (int j = 0; j <= rhs; ++j) {
          const bool exists = j >= rhs || (i >= W - j && i < shape.n - (j - W));
          if (!exists) continue;
          const Vectors<const T> v = j < rhs ? problem.A.band(j) : problem.b;
          auto* const to =
              reinterpret_cast<WideWord*>(bands + (j * shape.band_words() + place(word, i)));
          const auto* const from =
              reinterpret_cast<const WideWord*>(v.data + (first + word + i * v.row_stride));
          start_copy(to, from);
          if (piece == 0 && i % each != 0) start_copy(to + pieces, from + pieces);
        }
      }
    });
  }
  /// What lies outside the matrix lies between two systems.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_in_bulk(Staging<Member>& staging, T* bands,
                                                std::int64_t first, int here) const {
    staging.load_runs((rhs + 1) * here, shape.n, [&](int i) {
      const int j = i % (rhs + 1), s = i / (rhs + 1);
      const T* const all = j < rhs ? problem.A.first.band[j].data : problem.b.data;
      return Kokkos::pair<T*, const T*>(bands + j * shape.band_words() + place(s, 0),
                                        all + (first + s) * problem.b.system_stride);
    });
  }
  /// The same by wide words.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_in_words(const Member& member, Staging<Member>& staging,
                                                 T* bands, std::int64_t first, int here) const {
    constexpr int each = sizeof(WideWord) / sizeof(T);
    const std::int64_t between = problem.b.system_stride;
    staging.load_by_all([&] {
      for (int i = member.team_rank() * each; i < shape.n; i += member.team_size() * each) {
        const T* from[rhs + 1];
        TRIKKOS_UNROLL(rhs + 1)
        for (int j = 0; j <= rhs; ++j)
          from[j] =
              (j < rhs ? problem.A.first.band[j].data : problem.b.data) + (first * between + i);
        T* to = bands + i;
        TRIKKOS_UNROLL(2)
        for (int s = 0; s < here; ++s) {
          TRIKKOS_UNROLL(rhs + 1)
          for (int j = 0; j <= rhs; ++j) {
            start_copy(reinterpret_cast<WideWord*>(to + j * shape.band_words()),
                       reinterpret_cast<const WideWord*>(from[j]));
            from[j] += between;
          }
          to += pitch();
        }
      }
    });
  }
  /// By wide words but for a few at the ends of each system. Nothing else looks at the gaps.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_in_step(const Member& member, Staging<Member>& staging,
                                                T* bands, std::int64_t first, int here) const {
    constexpr int each = OnChipShape<T, W>::each;
    const int n = shape.n, words = shape.band_words();
    const std::int64_t between = problem.b.system_stride;
    const auto head_of = [&](const T* to) {
      const auto at = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T));
      return smaller(-at & (each - 1), n);
    };
    const auto all = [&](int j) { return j < rhs ? problem.A.first.band[j].data : problem.b.data; };
    staging.load_by_all([&] {
      for (int k = member.team_rank(); k < here * (rhs + 1); k += member.team_size()) {
        const int s = k / (rhs + 1), j = k % (rhs + 1);
        T* const to = bands + j * words + place(s, 0);
        const T* const from = all(j) + (first + s) * between;
        const int head = head_of(to), tail = head + (n - head) / each * each;
        for (int i = 0; i < head; ++i) start_copy(to + i, from + i);
        for (int i = tail; i < n; ++i) start_copy(to + i, from + i);
      }
      for (int s = 0; s < here; ++s) {
        T* const to = bands + place(s, 0);
        const int head = head_of(to);
        for (int i = head + member.team_rank() * each; i + each <= n;
             i += member.team_size() * each) {
          TRIKKOS_UNROLL(rhs + 1)
          for (int j = 0; j <= rhs; ++j)
            start_copy(reinterpret_cast<WideWord*>(to + j * words + i),
                       reinterpret_cast<const WideWord*>(all(j) + ((first + s) * between + i)));
        }
      }
    });
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_bands(Staging<Member>& staging, T* bands,
                                              const SystemTiles::Tile& tile) const {
    const int n = shape.n, words = shape.band_words(), here = tile.count;
    TRIKKOS_UNROLL(1)
    for (int j = 0; j < rhs; ++j) {
      const Vectors<const T> band = problem.A.band(j).block(tile.first);
      T* const to = bands + j * words;
      // What lies outside the matrix is not read, unless it lies between two systems.
      const int begin = smaller(W - j, n), end = n - smaller(j - W, n);
      const bool is_between =
          !Interleaved && band.system_stride > band.row_stride && tile.is_inside;
      staging.template load<Interleaved>(is_between ? runs(to, band, here, 0, n)
                                                    : runs(to, band, here, begin, end));
    }
    load_rhs(staging, bands, tile);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_rhs(Staging<Member>& staging, T* bands,
                                            const SystemTiles::Tile& tile) const {
    staging.template load<Interleaved>(runs(bands + rhs * shape.band_words(),
                                            problem.b.block(tile.first), tile.count, 0, shape.n));
  }
  /// Of one system, whose rows are `apart` words from each other.
  template <int... j>
  KOKKOS_FORCEINLINE_FUNCTION void load_edges(T* bands, int apart, const MatrixOf<Matrices>& of,
                                              std::integer_sequence<int, j...>) const {
    const int n = shape.n, words = shape.band_words();
    const auto load = [&](auto k) {  // k diagonals from the main one
      constexpr int away = decltype(k)::value;
      for (int i = 0; i < smaller(away, n); ++i) {
        bands[(W - away) * words + i * apart] = of.template entry<-away>(i);
        bands[(W + away) * words + (n - 1 - i) * apart] = of.template entry<away>(n - 1 - i);
      }
    };
    (load(std::integral_constant<int, j + 1>{}), ...);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int smaller(int count, int n) {
    return count < 0 ? 0 : count < n ? count : n;
  }
};

/// As the matrices are, or b, where they are not read.
template <class T, int W, class Matrices>
bool is_interleaved(const Problem<T, W, Matrices>& problem) {
  if (problem.count() <= 1) return false;
  const Matrices& A = problem.A;
  if constexpr (!ComputedMatrices<Matrices>)
    if (!A.is_shared() && A.first.band[W].stride != 0) return A.stride[W] < A.first.band[W].stride;
  return problem.b.system_stride < problem.b.row_stride;
}

/// Whether arrays are such as `SystemsOnChip::in_bulk` says, systems of `long_enough` bytes.
template <bool Interleaved, int long_enough = long_run, class T, int W, class Matrices>
bool can_load_in_bulk(const Problem<T, W, Matrices>& problem) {
  if constexpr (ComputedMatrices<Matrices>) {
    return false;
  } else {
    std::size_t bytes = 0;
    bool alike = problem.slab() == problem.count();
    const auto look_at = [&](const Vectors<const T>& v) {
      const std::int64_t between = Interleaved ? v.row_stride : v.system_stride;
      alike = alike && (Interleaved ? v.system_stride : v.row_stride) == 1 &&
              (Interleaved || between == problem.b.system_stride);
      bytes |=
          sizeof(T) * static_cast<std::size_t>(between) | reinterpret_cast<std::uintptr_t>(v.data);
    };
    look_at(problem.b);
    for (int j = 0; j <= 2 * W; ++j) look_at(problem.A.band(j));
    if (Interleaved) return alike && bytes % staging_alignment == 0;
    const std::size_t run = sizeof(T) * static_cast<std::size_t>(problem.n());
    return alike && is_bulk(bytes | run, run, long_enough);
  }
}

/// Whether interleaved systems can be loaded by wide words only where they are `in_step` in
/// scratch, as every other row of theirs begins a word behind a multiple of 16 bytes.
template <class T, int W, class Matrices>
bool are_rows_to_be_in_step(const Problem<T, W, Matrices>& problem) {
  if constexpr (ComputedMatrices<Matrices> || OnChipShape<T, W>::each != 2) {
    return false;
  } else {
    const auto alternate = [](const Vectors<const T>& v) {
      return v.system_stride == 1 && v.row_stride % 2 != 0 &&
             reinterpret_cast<std::uintptr_t>(v.data) % staging_alignment == 0;
    };
    bool all = problem.slab() == problem.count() && alternate(problem.b);
    for (int j = 0; j <= 2 * W; ++j) all = all && alternate(problem.A.band(j));
    return all;
  }
}

/// Whether contiguous systems, not the shortest, can be loaded by wide words only where they are
/// `in_step` in scratch: bands and b are as far from multiples of 16 bytes as each other.
template <class T, int W, class Matrices>
bool are_to_be_in_step(const Problem<T, W, Matrices>& problem) {
  if constexpr (ComputedMatrices<Matrices> || OnChipShape<T, W>::each == 1) {
    return false;
  } else {
    const auto away = [](const Vectors<const T>& v) {
      return reinterpret_cast<std::uintptr_t>(v.data) % staging_alignment;
    };
    const auto bytes = static_cast<std::int64_t>(sizeof(T)) * problem.n();
    bool alike = problem.slab() == problem.count() && bytes >= long_run;
    for (int j = 0; j <= 2 * W; ++j) {
      const Vectors<const T> v = problem.A.band(j);
      alike = alike && v.row_stride == 1 && v.system_stride == problem.b.system_stride &&
              away(v) == away(problem.b);
    }
    return alike && problem.b.row_stride == 1 &&
           !can_load_in_bulk<false, staging_alignment>(problem);
  }
}

/// Kernel: a `SystemsOnChip`.
template <class Elimination, class Exec, class Kernel, class Gate = Always>
void launch_on_chip(const Exec& exec, const char* label, Kernel kernel, const Gate& gate = {}) {
  // of more threads than there are: else registers are hoarded for addresses; wide rows need all
  constexpr int most_threads = Elimination::half_bandwidth > 1 ? 256 : 384;
  const int league = static_cast<int>(kernel.tiles.count(kernel.problem.count()));
  const bool follows = kernel.problem.resets && league != 1;  // one team does it itself
  if (follows) {
    kernel.problem.resets = false;
    launch_one(exec, Elimination::label("reset"), ResetDiagnosis{kernel.problem.diagnosis});
  }
  launch_teams<most_threads>(exec, Elimination::label(label),
                             {gate.league(league), kernel.shape.lanes, kernel.shape.scratch_bytes(),
                              follows || Gate::overlaps},
                             gate.teams(kernel, league));
}

}  // namespace Trikkos::Impl

#endif
