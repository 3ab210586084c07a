// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_BOTHENDS_HPP
#define TRIKKOS_IMPL_BOTHENDS_HPP

#include <impl/Trikkos_SystemsOnChip.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>

/// \file
/// `segmented` for many short interleaved systems on a device, which a team holds in its scratch.
/// Of each, one thread carries one row from the first row on, and another from the last row on:
/// one rotation a row, no segments, and half as many steps that wait for each other as from one
/// end. This is QR of the rows in another order.
///
/// `automatic` eliminates by the row that is carried without pivoting first, as long as that is
/// safe, and by rotations from there.
///
/// Traffic: 4 words a row read, 1 written.

namespace Trikkos::Impl {

/// Half of a system in scratch, from its end: `Rows` of `OrthogonalCarry::carry_alone`. The way
/// back takes the place of the bands, x that of b.
template <class T>
struct EndRows {
  using value_type = T;
  using index_type = int;
  static constexpr int half_bandwidth = 1;
  static constexpr bool ragged = false, looks_ahead = true;

  T* diag;                 // of the first of them
  int before, after, rhs;  // from there to its other words: before is the side it begins at
  int step, m;
  bool scale_rows;

  KOKKOS_FORCEINLINE_FUNCTION int length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION int inner_rows() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(int k) const { return k < m; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> unscaled(int k) const {
    const T* const at = diag + k * step;
    return {at[before], at[0], at[after], at[rhs]};
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> inner_equation(int k) const {
    return scaled(unscaled(k), scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(int k) const {
    return k < m ? inner_equation(k) : unit_equation<T, 1>();
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const BackRow<T>& row) const {
    T* const at = diag + k * step;
    at[before] = row.q;
    at[0] = row.r;
    at[after] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T> kept(int k) const {
    const T* const at = diag + k * step;
    return {at[before], at[0], at[after]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(int k, const T& v) const { diag[k * step + rhs] = v; }
};

/// Rows of a system in scratch, from the `begin`-th on, that are read from memory again.
template <class T, class Matrix>
struct RereadRows : StagedRows<T, 0> {
  const Matrix& A;
  Strided<const T> b;
  int begin;

  KOKKOS_FORCEINLINE_FUNCTION Equation<T> inner_equation(int k) const {
    return scaled(equation_of<T, 1>(A, begin + k, b[begin + k]), A.scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(int k) const {
    return k < this->m ? inner_equation(k) : unit_equation<T, 1>();
  }
};

/// `Watched`: without pivoting first.
template <class T, class Elimination, class Matrices, bool InStep, bool Watched>
struct SolveFromBothEnds : SystemsOnChip<T, true, Matrices, 0, InStep> {
  using Base = SystemsOnChip<T, true, Matrices, 0, InStep>;
  using Base::problem, Base::shape, Base::tiles, Base::rhs, Base::place, Base::apart, Base::runs,
      Base::load;
  using Matrix = MatrixOf<Matrices>;

  Elimination elimination{};

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), n = shape.n, systems = shape.systems();
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    if (problem.resets && t == 0) problem.diagnosis.reset();  // long before anything is reported
    T* const bands = team_scratch<T, staging_alignment>(member);
    T* const handed = bands + shape.bands * shape.band_words();
    load(member, handed + shape.node_words(), bands, tile);
    wait_for_kernels_before(member);

    const bool is_last = t >= systems;  // the half that ends with the last row
    const int s = is_last ? t - systems : t;
    const int m = is_last ? n - shape.rows : shape.rows, band = shape.band_words();
    const bool exists = s < tile.count;
    const int side = is_last ? band : -band;
    const EndRows<T> half{bands + band + place(s, is_last ? n - 1 : 0),
                          side,
                          -side,
                          2 * band,
                          is_last ? -apart() : apart(),
                          exists ? m : 0,
                          problem.A.first.scale_rows};
    auto carried = carry(half);
    // Where they meet, the first half takes what the other one carries for one more row. What is
    // not sound is handed on as not a number.
    const T not_a_number(Kokkos::Experimental::quiet_NaN_v<Real<T>>);
    T* const word = handed + s;
    if (is_last) {
      word[0] = carried.p;
      word[systems] = carried.q;
      word[2 * systems] = carried.is_sound() ? carried.f : not_a_number;
    }
    member.team_barrier();
    if (!is_last) {
      const BackRow<T> met = carried.rotate({word[systems], word[0], T(0), word[2 * systems]});
      const T behind = carried.last();
      word[0] = fused(-met.q, behind, met.f);
      word[systems] = carried.is_sound() ? behind : not_a_number;
    }
    member.team_barrier();
    if (exists) {
      const T last = word[0], behind = word[systems];  // of the first half, and behind it
      if (finite_probe(behind) == 0) {
        if (half.m > 0) {
          const auto found = is_last ? elimination.substitute_alone(half, behind, last)
                                     : elimination.substitute_alone(half, last, behind);
          if (!(found.probe == 0)) report(bands, tile.first, s, is_last ? shape.rows : 0, m);
        }
      } else if (!is_last) {
        solve_as_segment(bands, tile.first, s);
      }
    }
    Staging<Member>::template store<true>(
        member, runs(bands + rhs * band, problem.x.block(tile.first), tile.count, 0, n));
  }

 private:
  /// Of another unknown in the row that eliminates one, but for rounding errors: |L||U| is at most
  /// three times |A| then.
  static constexpr double most = 1.01;

  /// The last row, which is carried; of no rows 1 x = 0.
  KOKKOS_FORCEINLINE_FUNCTION LoneRow<T> carry(const EndRows<T>& half) const {
    if constexpr (!Watched) {
      return elimination.carry_alone(half);
    } else {
      constexpr int at_once = 6;
      LoneRow<T> carried(half.m > 0 ? half.unscaled(0) : unit_equation<T, 1>());
      int k = 1;
      TRIKKOS_UNROLL(1)
      for (; k + at_once <= half.m; k += at_once) {
        Equation<T> e[at_once];
        TRIKKOS_UNROLL(at_once)
        for (int i = 0; i < at_once; ++i) e[i] = half.unscaled(k + i);
        LoneRow<T> next = carried;
        BackRow<T> back[at_once];
        bool safe = true;
        TRIKKOS_UNROLL(at_once)
        for (int i = 0; i < at_once; ++i) {
          back[i] = next.eliminate(e[i]);
          safe = safe && magnitude(back[i].q) <= T(most);
        }
        if (!safe) break;
        TRIKKOS_UNROLL(at_once)
        for (int i = 0; i < at_once; ++i) half.keep(k + i - 1, back[i]);
        carried = next;
      }
      LoneRow<T> rest(scaled(Equation<T>{T(0), carried.p, carried.q, carried.f}, half.scale_rows));
      elimination.carry_alone(half, rest, k, half.m);
      return rest;
    }
  }
  /// By one thread: what is not safe from underflow, or not finite.
  KOKKOS_FUNCTION void solve_as_segment(T* bands, std::int64_t first, int s) const {
    const int n = shape.n;
    const Matrix A = problem.A[first + s];
    const auto rows = [&](int begin, int m) {
      return RereadRows<T, Matrix>{
          {bands + place(s, begin), shape.band_words(), m, A.scale_rows, apart()},
          A,
          problem.b[first + s],
          begin};
    };
    const auto front = rows(0, shape.rows), back = rows(shape.rows, n - shape.rows);
    MergeNode<T> node;
    const auto segment = merge(elimination.reduce(front), elimination.reduce(back), node);
    auto bounds = solve_root(segment, false);
    const Diagnosis diagnosis = problem.diagnosis.of(first + s, n);
    diagnose_root(diagnosis, segment, false, bounds, n);
    auto found = elimination.substitute(back, unchain(bounds, node));
    found.probe += elimination.substitute(front, bounds).probe;
    if (found.probe == 0) return;
    // b is still what it was: x is stored behind the next barrier
    elimination.diagnose(diagnosis, UnstagedRows<T, 1, Matrix>{A, problem.b[first + s], 0, n});
    report(bands, first, s, 0, n);
  }
  /// The first of m unknowns that is not finite.
  KOKKOS_FUNCTION void report(const T* bands, std::int64_t first, int s, int begin, int m) const {
    const T* const x = bands + rhs * shape.band_words();
    for (int i = begin; i < begin + m; ++i)
      if (!(finite_probe(x[place(s, i)]) == 0))
        return problem.diagnosis.of(first + s, shape.n).report_solution(i);
  }
};

/// `segmented` for short interleaved systems on a device, many of them.
template <class T, class Exec, class Elimination>
class BothEnds {
  static constexpr int W = Elimination::half_bandwidth;
  using OnChip = OnChipShape<T, W>;

 public:
  /// Whether the elimination has a way with one row that is carried.
  static constexpr bool is_for_it = requires(const EndRows<T>& rows) {
    Elimination::carry_alone(rows);
  };

  BothEnds(const Shape& shape, const Options& options, int most_lanes = OnChip::most_lanes)
      : m_shape(OnChip::both_ends(options.partition_size() == 0 ? shape.n : 0,
                                  scratch_of_teams<Exec>(), most_lanes)),
        m_in_step(m_shape.with_rows_in_step(scratch_of_teams<Exec>())),
        m_is_watched(has_watched && options.algorithm() == Algorithm::automatic &&
                     shape.n >= least_watched) {}

  template <class Matrices>
  bool is_for(const Problem<T, W, Matrices>& problem) const {
    return problem.slab() >= least_slab && problem.count() >= least_systems &&
           !problem.A.first.periodic && m_shape.lanes > 0;
  }
  template <class Matrices>
  requires(is_for_it) void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    if constexpr (!ComputedMatrices<Matrices> && OnChip::each == 2)
      if (m_in_step.lanes > 0 && are_rows_to_be_in_step(problem))
        return launch<true>(exec, problem, m_in_step);
    launch<false>(exec, problem, m_shape);
  }

 private:
  static constexpr bool has_watched = std::is_floating_point_v<T>;
  template <bool InStep, class Matrices>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem, const OnChip& shape) const {
    if constexpr (has_watched)
      if (m_is_watched) return launch<InStep, true>(exec, problem, shape);
    launch<InStep, false>(exec, problem, shape);
  }
  template <bool InStep, bool Watched, class Matrices>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem, const OnChip& shape) const {
    const SystemTiles tiles(problem.slab(), shape.systems());
    launch_on_chip<Elimination>(exec, "from_both_ends",
                                SolveFromBothEnds<T, Elimination, Matrices, InStep, Watched>{
                                    {problem, shape, tiles, can_load_in_bulk<true>(problem)}});
  }

  static constexpr std::int64_t least_watched = 32;  // rows; of fewer, rotations are done before
                                                     // the next rows have come
  // Fewer are solved sooner by more threads each.
  static constexpr std::int64_t least_systems = 1 << 13, least_slab = 32;

  OnChip m_shape, m_in_step;
  bool m_is_watched;
};

}  // namespace Trikkos::Impl

#endif
