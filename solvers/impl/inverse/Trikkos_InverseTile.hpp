// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INVERSETILE_HPP
#define TRIKKOS_IMPL_INVERSETILE_HPP

#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/inverse/Trikkos_GeneratorKernels.hpp>

/// \file
/// The kernel that writes entries of the inverse, a tile a team: two products and the sum of two
/// exponents an entry, nothing read but the generators of the tile.

namespace Trikkos::Impl {

/// Where a rectangle of the inverse goes.
template <class T>
struct InverseTarget {
  T* data;
  std::int64_t row_stride, column_stride;
  std::int64_t first_row, first_column;  // of the inverse
  std::int64_t rows, columns;

  /// Rows are written along: columns of a LayoutLeft View change places with them.
  KOKKOS_FORCEINLINE_FUNCTION bool is_transposed() const { return row_stride < column_stride; }
};

/// Rows of X, from the first_row-th on, as many as the View has.
template <class T, class View>
InverseTarget<T> inverse_target(const View& x, std::int64_t first_row, std::int64_t n) {
  return {x.data(),
          static_cast<std::int64_t>(x.stride(0)),
          static_cast<std::int64_t>(x.stride(1)),
          first_row,
          0,
          static_cast<std::int64_t>(x.extent(0)),
          n};
}

/// A factor of which the exponent is relative to that of others in a tile.
template <class T>
struct TileFactor {
  T m;
  int e;
};

/// Entries of lines and along them: entry (line, place) is X(line, place), or X(place, line) where
/// `transposed`.
template <class T>
struct InverseTiles {
  static constexpr int device_lines = 8, threads = 128, wide = 2, host_lines = 64;
  static constexpr int host_places = 4096;  // pages of one line are written one after the other
  static constexpr int scratch_bytes = 2 * device_lines * sizeof(TileFactor<T>) + 16;
  static constexpr int far = 1 << 29;

  InverseFactors<T> of;
  Diagnosis diagnosis;
  T* data;
  std::int64_t line_stride, stride;
  std::int64_t first_line, first_place, line_count, place_count;
  bool transposed;
  int lines, places;  // of a tile
  std::int64_t tiles_along;

  InverseTiles(const InverseFactors<T>& of_, const InverseTarget<T>& to, const Diagnosis& d,
               bool is_host)
      : of(of_), diagnosis(d), data(to.data), transposed(to.is_transposed()) {
    line_stride = transposed ? to.column_stride : to.row_stride;
    stride = transposed ? to.row_stride : to.column_stride;
    first_line = transposed ? to.first_column : to.first_row;
    first_place = transposed ? to.first_row : to.first_column;
    line_count = transposed ? to.columns : to.rows;
    place_count = transposed ? to.rows : to.columns;
    lines = is_host ? host_lines : device_lines;
    places = is_host ? host_places : threads * wide;
    tiles_along = (place_count + places - 1) / places;
  }

  template <class Exec>
  void launch(const Exec& exec) const {
    const std::int64_t tiles = tiles_along * ((line_count + lines - 1) / lines);
    if constexpr (is_host_v<Exec>) {
      Kokkos::parallel_for(
          "Trikkos::inverse::write",
          light(Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                    Kokkos::IndexType<std::int64_t>>(exec, 0, tiles)),
          *this);
    } else {
      for (std::int64_t first = 0; first < tiles; first += most_teams) {
        InverseTiles part = *this;
        part.first_tile = first;
        Kokkos::parallel_for(
            "Trikkos::inverse::write",
            light(Kokkos::TeamPolicy<Exec>(
                      exec, static_cast<int>(Kokkos::min(most_teams, tiles - first)), threads)
                      .set_scratch_size(0, Kokkos::PerTeam(scratch_bytes))),
            part);
      }
    }
  }

  /// A tile of a device.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Tile tile(*this, first_tile + member.league_rank());
    auto* const after = team_scratch<TileFactor<T>, 16>(member);
    TileFactor<T>* const before = after + device_lines;
    for (int l = member.team_rank(); l < tile.lines; l += member.team_size()) {
      after[l] = relative(line_factor<true>(tile.line + l), tile.after_e);
      before[l] = relative(line_factor<false>(tile.line + l), tile.before_e);
    }
    member.team_barrier();
    if (tile.is_after)
      write<1>(member, tile, after, before);
    else if (tile.is_before)
      write<-1>(member, tile, after, before);
    else
      write<0>(member, tile, after, before);
  }

  /// A tile of a host: those behind the diagonal of each line, then those before it.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const Tile tile(*this, index);
    if (!tile.is_before) write_side<true>(tile);
    if (!tile.is_after) write_side<false>(tile);
  }

 private:
  using R = Real<T>;
  static constexpr std::int64_t most_teams = std::int64_t(1) << 30;
  std::int64_t first_tile = 0;

  struct Tile {
    std::int64_t line, place;
    int lines, places;
    bool is_after, is_before;  // all places are behind the diagonal, or before it
    std::int64_t after_e, before_e;

    KOKKOS_FORCEINLINE_FUNCTION Tile(const InverseTiles& all, std::int64_t index) {
      const std::int64_t down = index / all.tiles_along, along = index % all.tiles_along;
      const std::int64_t l = down * all.lines, p = along * all.places;
      line = all.first_line + l;
      place = all.first_place + p;
      lines = static_cast<int>(Kokkos::min(std::int64_t(all.lines), all.line_count - l));
      places = static_cast<int>(Kokkos::min(std::int64_t(all.places), all.place_count - p));
      is_after = place >= all.diagonal(line + lines - 1);
      is_before = place + places <= all.diagonal(line);
      after_e = all.template line_factor<true>(line).e;
      before_e = all.template line_factor<false>(line).e;
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION T* address(std::int64_t line, std::int64_t place) const {
    return data + (line - first_line) * line_stride + (place - first_place) * stride;
  }
  /// The first place of a line that is behind: with the diagonal, or without it where that would be
  /// the other of its two products.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t diagonal(std::int64_t line) const {
    return line + (transposed ? 1 : 0);
  }
  /// For entries behind the diagonal of a line or before it.
  template <bool after>
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> line_factor(std::int64_t line) const {
    if (transposed) return after ? of.down[line].over_before : of.up[line].over_before;
    return after ? of.down[line].over_after : of.up[line].over_after;
  }
  template <bool after>
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> place_factor(std::int64_t place) const {
    if (transposed) return after ? of.up[place].over_after : of.down[place].over_after;
    return after ? of.up[place].over_before : of.down[place].over_before;
  }
  static KOKKOS_FORCEINLINE_FUNCTION TileFactor<T> relative(const Factor<T>& f, std::int64_t base) {
    const std::int64_t e = f.e - base;
    return {f.m, static_cast<int>(Kokkos::clamp(e, -std::int64_t(far), std::int64_t(far)))};
  }
  static KOKKOS_FORCEINLINE_FUNCTION R power(int k) {
    constexpr int bias = exponent_bias<R>;
    const int field = (k < -bias ? -bias : k > bias ? bias + 1 : k) + bias;
    if constexpr (sizeof(R) == 8)
      return Kokkos::bit_cast<R>(static_cast<std::int64_t>(field) << 52);
    else
      return Kokkos::bit_cast<R>(static_cast<std::uint32_t>(field) << 23);
  }

  /// side: 1 behind the diagonal, -1 before it, 0 across it.
  template <int side, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void write(const Member& member, const Tile& tile,
                                         const TileFactor<T>* after,
                                         const TileFactor<T>* before) const {
    const int step = member.team_size();
    TileFactor<T> fa[wide], fb[wide];
    bool inside[wide];
    for_constants<0, wide>([&](auto w) {
      const int p = member.team_rank() + w * step;
      inside[w] = p < tile.places;
      const std::int64_t place = tile.place + (inside[w] ? p : 0);
      if constexpr (side >= 0) fa[w] = relative(place_factor<true>(place), -tile.after_e);
      if constexpr (side <= 0) fb[w] = relative(place_factor<false>(place), -tile.before_e);
    });
    int largest = -far;
    T* to = address(tile.line, tile.place + member.team_rank());
    TRIKKOS_UNROLL(4)
    for (int l = 0; l < tile.lines; ++l, to += line_stride) {
      for_constants<0, wide>([&](auto w) {
        int k = 0;
        T v{};
        if constexpr (side >= 0) {
          k = after[l].e + fa[w].e;
          v = product(after[l].m, fa[w].m);
        }
        if constexpr (side <= 0) {
          const int p = member.team_rank() + w * step;
          if (side < 0 || tile.place + p < diagonal(tile.line + l)) {
            k = before[l].e + fb[w].e;
            v = product(fb[w].m, before[l].m);
          }
        }
        largest = k > largest ? k : largest;
        if (inside[w]) to[w * step * stride] = v * power(k);
      });
    }
    if (largest >= exponent_bias<R> - 2) report_overflow(tile);
  }

  /// Factors of some places of a host's tile, and, as long as their exponents are not too far
  /// apart, as plain numbers: entries are one product then.
  struct Places {
    static constexpr int length = 256;
    T m[length], plain[length];
    int e[length];
    int least, most, middle;  // exponents, of those that are not zero

    KOKKOS_FORCEINLINE_FUNCTION void set(int p, const TileFactor<T>& f) {
      m[p] = f.m;
      e[p] = f.e;
      if (f.m == T(0)) return;
      least = Kokkos::min(least, f.e);
      most = Kokkos::max(most, f.e);
    }
    KOKKOS_FORCEINLINE_FUNCTION void make_plain(int count) {
      middle = least / 2 + most / 2;
      for (int p = 0; p < count; ++p) plain[p] = m[p] * power(e[p] - middle);
    }
  };

  template <bool after>
  KOKKOS_FORCEINLINE_FUNCTION void write_side(const Tile& tile) const {
    Places part[host_places / Places::length];
    const int parts = (tile.places + Places::length - 1) / Places::length;
    const std::int64_t base = after ? tile.after_e : tile.before_e;
    for (int k = 0; k < parts; ++k) {
      const int first = k * Places::length,
                count = Kokkos::min(int(Places::length), tile.places - first);
      part[k].least = far;
      part[k].most = -far;
      for (int p = 0; p < count; ++p)
        part[k].set(p, relative(place_factor<after>(tile.place + first + p), -base));
      part[k].make_plain(count);
    }
    for (int l = 0; l < tile.lines; ++l) {
      const std::int64_t line = tile.line + l;
      const TileFactor<T> f = relative(line_factor<after>(line), base);
      const auto own = static_cast<int>(
          Kokkos::clamp(diagonal(line) - tile.place, std::int64_t(0), std::int64_t(tile.places)));
      const int begin = after ? own : 0, stop = after ? tile.places : own;
      for (int k = begin / Places::length; k < parts && k * Places::length < stop; ++k) {
        const int first = k * Places::length, a = Kokkos::max(begin - first, 0),
                  b = Kokkos::min(stop - first, int(Places::length));
        T* const to = address(line, tile.place + first);
        if (stride == 1)
          write_places<after>(to, Constant<1>{}, part[k], f, a, b, line, tile.place + first);
        else
          write_places<after>(to, stride, part[k], f, a, b, line, tile.place + first);
      }
    }
  }
  template <bool after, class Stride>
  KOKKOS_FORCEINLINE_FUNCTION void write_places(T* to, const Stride& step, const Places& part,
                                                const TileFactor<T>& f, int begin, int stop,
                                                std::int64_t line, std::int64_t place) const {
    constexpr int bias = exponent_bias<R>;
    const auto multiplied = [](const T& line_m, const T& m) {
      return after ? product(line_m, m) : product(m, line_m);
    };
    const int least = f.e + part.least, most = f.e + part.most;
    if (most <= -bias)
      write_in_lines(to, step, begin, stop, [](int) { return T(0); });
    else if (least > 2 - bias && most < bias - 2)
      write_in_lines(to, step, begin, stop, [&, m = f.m * power(f.e + part.middle)](int p) {
        return multiplied(m, part.plain[p]);
      });
    else
      write_in_lines(to, step, begin, stop,
                     [&](int p) { return multiplied(f.m, part.m[p]) * power(f.e + part.e[p]); });
    if (most < bias - 2) return;
    for (int p = begin; p < stop; ++p)
      if (!(finite_probe(to[p * step]) == 0))
        return diagnosis.report_solution(transposed ? place + p : line);
  }
  /// to[p] = entry(p), in whole cache lines as far as there are: partial ones take twice the time.
  template <class Stride, class Entry>
  static KOKKOS_FORCEINLINE_FUNCTION void write_in_lines(T* to, const Stride& step, int begin,
                                                         int stop, const Entry& entry) {
    constexpr int chunk = 16;  // by a local array of constant length, which compilers vectorise
    int p = begin;
    for (; p < stop && reinterpret_cast<std::uintptr_t>(to + p * step) % 64 != 0; ++p)
      to[p * step] = entry(p);
    for (; p + chunk <= stop; p += chunk) {
      T v[chunk];
      for (int q = 0; q < chunk; ++q) v[q] = entry(p + q);
      for (int q = 0; q < chunk; ++q) to[(p + q) * step] = v[q];
    }
    for (; p < stop; ++p) to[p * step] = entry(p);
  }
  /// Entries near the largest number: seldom, so they are found by themselves.
  KOKKOS_INLINE_FUNCTION void report_overflow(const Tile& tile) const {
    for (int l = 0; l < tile.lines; ++l)
      for (int p = 0; p < tile.places; ++p) {
        const std::int64_t i = tile.line + l, j = tile.place + p;
        const T v = transposed ? of.entry(j, i) : of.entry(i, j);
        if (!(finite_probe(v) == 0)) return diagnosis.report_solution(transposed ? j : i);
      }
  }
};

}  // namespace Trikkos::Impl

#endif
