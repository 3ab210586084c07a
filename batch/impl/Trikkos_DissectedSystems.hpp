// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DISSECTEDSYSTEMS_HPP
#define TRIKKOS_IMPL_DISSECTEDSYSTEMS_HPP

#include <impl/Trikkos_Dissection.hpp>
#include <impl/Trikkos_SystemsOnChip.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>

/// \file
/// Many contiguous systems of W > 1 diagonals on either side, without pivoting and watched, on a
/// device. A thread eliminates a chunk of one, and separators go in a tree
/// (Trikkos_Dissection.hpp), all in the place of the rows. Systems of which anything grows, or is
/// not finite, are not stored, but marked: a stable kernel solves them behind.
///
/// Traffic: 2W + 2 words a row read, 1 written.

namespace Trikkos::Impl {

/// A chunk in scratch: the way back takes the place of the bands, x that of b.
template <class T, int W>
struct ChunkRows {
  T* diag;   // of its first row
  int band;  // between bands

  KOKKOS_FORCEINLINE_FUNCTION T& word(int k, int j) const { return diag[(j - W) * band + k]; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(int k) const {
    Equation<T, W> e;
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j <= 2 * W; ++j) e.a[j] = word(k, j);
    e.d = word(k, 2 * W + 1);
    return e;
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const InteriorRow<T, W>& row) const {
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) {
      word(k, c) = row.w[c];
      word(k, W + 1 + c) = row.u[c];
    }
    word(k, W) = row.z;
  }
  KOKKOS_FORCEINLINE_FUNCTION InteriorRow<T, W> kept(int k) const {
    InteriorRow<T, W> row;
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) {
      row.w[c] = word(k, c);
      row.u[c] = word(k, W + 1 + c);
    }
    row.z = word(k, W);
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION T& solution(int k) const { return word(k, 2 * W + 1); }
};

/// Systems that are left to a second kernel.
template <class T>
struct Marks {
  T* marked;            // [system]: 1, or 0 for those that are solved
  std::int64_t* count;  // of those
};

template <class T, class Matrices>
struct SolveDissected : SystemsOnChip<T, false, Matrices> {
  using Base = SystemsOnChip<T, false, Matrices>;
  using Base::problem, Base::shape, Base::tiles, Base::rhs, Base::place;
  static constexpr int W = Base::W;
  using Separator = SeparatorRows<T, W>;
  using Eliminated = EliminatedSeparator<T, W>;
  static_assert(Separator::words <= W * (2 * W + 2) && Eliminated::words <= W * (2 * W + 2));

  Marks<T> marks;
  bool in_words;  // short systems come by 16 bytes, as a warp starts one bulk copy after the other

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), s = t >> shape.levels, p = t & (shape.partitions() - 1);
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    T* const bands = team_scratch<T, staging_alignment>(member);
    T* const failed = bands + shape.bands * shape.band_words();
    void* const arrivals = failed + staged_words<T>(shape.systems());
    if (p == 0) failed[s] = T(0);
    pad(member, bands);
    if (in_words)
      Base::template load<true>(member, arrivals, bands, tile);
    else
      Base::load(member, arrivals, bands, tile);
    const bool is_solved = solve(
        {bands + W * shape.band_words() + place(s, p * shape.rows), shape.band_words()}, member, p);
    if (!is_solved) failed[s] = T(1);
    barrier(member);
    if (p == 0 && s < tile.count) {
      marks.marked[tile.first + s] = failed[s];
      if (failed[s] != T(0)) Kokkos::atomic_inc(marks.count);
    }
    Base::store_some(member, bands, tile, [&](int k) { return failed[k] == T(0); });
  }

 private:
  /// The chunk p of a system, whose neighbours are those of the next threads. Returns whether
  /// nothing has grown here and x is finite.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool solve(const ChunkRows<T, W>& chunk, const Member& member,
                                         int p) const {
    // what lies in the place of the separator in the chunk q chunks from here
    const auto separator = [&](int q) {
      return [=, this](int k) -> T& { return chunk.word((q + 1) * shape.rows - W + k % W, k / W); };
    };
    const int partitions = shape.partitions(), inner = shape.rows - W;
    // The first thread of some chunks has the rows of their l, the last one those of their r: even
    // ones give away r, odd ones l.
    const bool is_odd = (p & 1) != 0;
    Dissection<T, W> dissection;
    Separator mine, given;
    dissection.reduce(chunk, shape.rows, p == 0, mine, given);
    if (is_odd) {
      const Separator l = mine;
      mine = given;
      given = l;
    }
    barrier(member);  // rows of l are read by the next thread
    given.put(separator(0));
    TRIKKOS_UNROLL(1)
    for (int h = 1; h < partitions; h *= 2) {
      const int q = p & (2 * h - 1);
      if (h > 1 && (q == h - 1 || q == h)) mine.put(separator(q == h ? h - 1 : 0));
      barrier(member);
      Eliminated met;
      if (q == 0 || q == 2 * h - 1) {
        const Separator near = Separator::get(separator(is_odd ? 0 : h - 1)),
                        far = Separator::get(separator(is_odd ? -h : 2 * h - 1));
        dissection.merge(mine, near, far, met);
      }
      barrier(member);
      if (q == 0) met.put(separator(h - 1));
    }
    const auto last = separator(partitions - 1 - p);
    T xl[W], x[W];  // of the separators before the chunk and in it
    if (p == partitions - 1) {
      if (!is_odd) mine = given;  // the only one
      dissection.solve_last(mine, x);
      TRIKKOS_UNROLL(W)
      for (int a = 0; a < W; ++a) last(a) = x[a];
    }
    barrier(member);
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      xl[a] = T(0);
      x[a] = last(a);
    }
    TRIKKOS_UNROLL(1)
    for (int h = partitions / 2; h > 0; h /= 2) {
      const int q = p & (2 * h - 1);
      T met[W];
      Eliminated::get(separator(h - 1 - q)).solve(xl, x, met);
      TRIKKOS_UNROLL(W)
      for (int a = 0; a < W; ++a) {
        xl[a] = q < h ? xl[a] : met[a];
        x[a] = q < h ? met[a] : x[a];
      }
    }
    barrier(member);  // x takes the place of separators
    Real<T> probe(0);
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      chunk.solution(inner + a) = x[a];
      probe += finite_probe(x[a]);
    }
    for_kept_rows(chunk, inner - 1, 0, [&](int i, const InteriorRow<T, W>& row) {
      T v = row.z;
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) v = fused(-row.w[c], xl[c], v);
      TRIKKOS_UNROLL(W)
      for (int j = W - 1; j >= 0; --j) v = fused(-row.u[j], x[j], v);
      TRIKKOS_UNROLL(W)
      for (int j = W - 1; j > 0; --j) x[j] = x[j - 1];
      x[0] = v;
      chunk.solution(i) = v;
      probe += finite_probe(v);
    });
    return dissection.is_safe() && probe == 0;
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION static void barrier(const Member& member) {
    if (member.team_size() <= threads_of_warp<Member>())
      warp_barrier();
    else
      member.team_barrier();
  }
  /// Rows 1 x = 0 behind each system.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void pad(const Member& member, T* bands) const {
    const int n = shape.n, more = shape.pitch() - n;
    for (int k = member.team_rank(); k < shape.systems() * more; k += member.team_size()) {
      T* const row = bands + place(k / more, n + k % more);
      TRIKKOS_UNROLL(rhs + 1)
      for (int j = 0; j <= rhs; ++j) row[j * shape.band_words()] = T(j == W);
    }
  }
};

struct ResetMarks {
  Diagnosis diagnosis;
  bool resets;
  std::int64_t* count;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    *count = 0;
    if (resets) diagnosis.reset();
  }
};

template <class T, class Exec, int W>
class DissectedSystems {
 public:
  explicit DissectedSystems(const Shape& shape)
      : m_shape(OnChipShape<T, W>::chunks(shape.count < least_systems ? 0 : shape.n,
                                          granted_scratch<Exec>())) {}
  bool fits() const { return m_shape.lanes > 0; }
  template <class Matrices>
  bool is_for(const Problem<T, W, Matrices>& problem) const {
    return !ComputedMatrices<Matrices> && fits() && problem.count() >= least_systems &&
           !problem.A.first.periodic;
  }
  template <class Matrices>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem,
             const Marks<T>& marks) const {
    Kokkos::parallel_for("Trikkos::dissected::reset", range(exec, 1),
                         ResetMarks{problem.diagnosis, problem.resets, marks.count});
    using Kernel = SolveDissected<T, Matrices>;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 1>>;
    constexpr int long_system = 1024;  // bytes
    const Kernel kernel{{problem, m_shape, SystemTiles(problem.slab(), m_shape.systems()),
                         can_load_in_bulk<false, staging_alignment>(problem)},
                        marks,
                        problem.n() * static_cast<std::int64_t>(sizeof(T)) < long_system};
    Kokkos::parallel_for(
        "Trikkos::dissected",
        light(Teams(exec, static_cast<int>(kernel.tiles.count(problem.count())), m_shape.lanes)
                  .set_scratch_size(0, Kokkos::PerTeam(m_shape.chunk_bytes()))),
        kernel);
  }

 private:
  static constexpr std::int64_t least_systems = 1 << 12;

  OnChipShape<T, W> m_shape;
};

}  // namespace Trikkos::Impl

#endif
