// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GENERATORKERNELS_HPP
#define TRIKKOS_IMPL_GENERATORKERNELS_HPP

#include <algorithm>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_ThreadMember.hpp>
#include <impl/inverse/Trikkos_Minors.hpp>

/// \file
/// The generators of the inverse, O(n), in both directions at the same time: rows in blocks, blocks
/// multiplied along each direction, and rows again from where each block starts.

namespace Trikkos::Impl {

/// X(i,j) = down[i].over_after up[j].over_before for i <= j,
///          down[j].over_before up[i].over_after for i >= j.
template <class T>
struct InverseFactors {
  Generators<T>*down, *up;

  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i, std::int64_t j) const {
    return i <= j ? value(down[i].over_after, up[j].over_before)
                  : value(down[j].over_before, up[i].over_after);
  }
  /// With the one rounding that the kernel of all entries makes.
  static KOKKOS_FORCEINLINE_FUNCTION T value(const Factor<T>& a, const Factor<T>& b) {
    return product(a.m, b.m) * power_of_two<Real<T>>(a.e + b.e);
  }
};

/// Memory of n rows, and what is stored of which rows.
template <class T>
struct GeneratorShape {
  std::int64_t n, block_rows, blocks;
  /// Pairs are kept of every so many rows, from which the determinant is found again and again. Of
  /// many: in a small persymmetric matrix both directions make the same errors.
  std::int64_t check_rows;

  GeneratorShape(std::int64_t n_, std::int64_t rows) : n(n_), check_rows(n_ <= 256 ? 1 : 16) {
    block_rows = std::max((rows + check_rows - 1) / check_rows, std::int64_t(1)) * check_rows;
    blocks = (n + block_rows - 1) / block_rows;
  }
  std::int64_t checks() const { return n / check_rows + 2; }
};

/// Twice the digits suffice for at least half of those of T.
template <class T>
inline constexpr double determinant_tolerance = sizeof(Real<T>) == 8 ? 0x1p-26 : 0x1p-12;

template <class T>
KOKKOS_INLINE_FUNCTION bool is_same_determinant(const Scaled<T>& det, const Scaled<T>& other,
                                                double tolerance = determinant_tolerance<T>) {
  const double error = magnitude(quotient(other, det).value() - T(1));
  return error <= tolerance;
}

/// What a second way through all rows found, if there was one.
template <class T>
struct MinorRepair {
  MinorState<T> end;
  int is_needed;
};

/// One functor for all kernels: `direction` 0 is from the top.
template <class T>
struct GeneratorKernels {
  struct Reduce {};
  struct Scan {};
  struct Chain {};
  struct Repair {};
  struct Finish {};
  static constexpr int scan_threads = 128;  // of a team on a device

  Bands<T> A;
  GeneratorShape<T> shape;
  InverseFactors<T> out;
  MinorBlock<T>*block, *partial;  // [direction][blocks], [direction][2][scan_threads]
  MinorState<T>*start, *end;      // [direction][blocks]: before and after a block
  MinorRepair<T>* repair;         // [direction]
  MinorPair<T>* check;            // [direction][checks]: rows before m check_rows, and from there
  Diagnosis diagnosis;

  template <class Exec>
  void launch(const Exec& exec) const {
    const std::int64_t both = 2 * shape.blocks;
    if (shape.blocks > 1) {
      Kokkos::parallel_for("Trikkos::inverse::reduce", range<Reduce>(exec, both), *this);
      constexpr auto label = "Trikkos::inverse::scan";
      if constexpr (is_host_v<Exec>)
        Kokkos::parallel_for(label, range<Scan>(exec, 2), *this);
      else
        Kokkos::parallel_for(label, light(Kokkos::TeamPolicy<Exec, Scan>(exec, 2, scan_threads)),
                             *this);
    }
    Kokkos::parallel_for("Trikkos::inverse::chain", range<Chain>(exec, both), *this);
    if (shape.blocks > 1) {
      constexpr auto label = "Trikkos::inverse::repair";
      if constexpr (is_host_v<Exec>)
        Kokkos::parallel_for(label, range<Repair>(exec, 2), *this);
      else
        Kokkos::parallel_for(label, light(Kokkos::TeamPolicy<Exec, Repair>(exec, 2, scan_threads)),
                             *this);
    }
    Kokkos::parallel_for("Trikkos::inverse::finish", range<Finish>(exec, shape.n), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Reduce, std::int64_t index) const {
    const bool reversed = index >= shape.blocks;
    const std::int64_t k = reversed ? index - shape.blocks : index;
    block[index] = minor_block(DirectedRows<T>{A, reversed}, begin(k, reversed), stop(k, reversed));
  }

  /// A team for each direction, of a host one thread.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(Scan, const Member& member) const {
    scan(member, member.league_rank() == 1);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Scan, std::int64_t direction) const {
    scan(ThreadMember{nullptr, 0}, direction == 1);
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void scan(const Member& member, bool reversed) const {
    const int threads = member.team_size(), me = member.team_rank();
    const std::int64_t share = (shape.blocks + threads - 1) / threads;
    const std::int64_t first = Kokkos::min(me * share, shape.blocks),
                       last = Kokkos::min(first + share, shape.blocks);
    const auto place = [&](std::int64_t k) { return reversed ? 2 * shape.blocks - 1 - k : k; };
    MinorBlock<T> mine;
    for (std::int64_t k = first; k < last; ++k) mine = block[place(k)] * mine;
    MinorBlock<T>* from = partial + (reversed ? 2 * scan_threads : 0);
    MinorBlock<T>* to = from + scan_threads;
    from[me] = mine;
    member.team_barrier();
    for (int step = 1; step < threads; step *= 2) {
      to[me] = me >= step ? from[me] * from[me - step] : from[me];
      member.team_barrier();
      MinorBlock<T>* const swap = from;
      from = to;
      to = swap;
    }
    MinorState<T> state = me > 0 ? from[me - 1].state() : MinorState<T>{};
    for (std::int64_t k = first; k < last; ++k) {
      start[place(k)] = state;
      state = block[place(k)] * state;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Chain, std::int64_t index) const {
    const bool reversed = index >= shape.blocks;
    const std::int64_t k = reversed ? index - shape.blocks : index;
    end[index] = chain(reversed, begin(k, reversed), stop(k, reversed),
                       shape.blocks > 1 ? start[index] : MinorState<T>{});
  }

  /// Where A is so ill-conditioned that the minors of neighbouring blocks do not belong together to
  /// the last digit of T, though they do to half of them, all rows are gone through once more, by
  /// one thread in each direction: errors there are those of one matrix.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(Repair, const Member& member) const {
    mend(member, member.league_rank() == 1);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Repair, std::int64_t direction) const {
    mend(ThreadMember{nullptr, 0}, direction == 1);
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void mend(const Member& member, bool reversed) const {
    constexpr double tolerance = 4 * Kokkos::Experimental::epsilon_v<Real<T>>;
    MinorRepair<T>& mine = repair[reversed ? 1 : 0];
    if (member.team_rank() == 0) mine.is_needed = 0;
    member.team_barrier();
    const Scaled<T> det = end[shape.blocks - 1].pair.minor;
    for (std::int64_t k = 1 + member.team_rank(); k < shape.blocks; k += member.team_size())
      if (!blocks_agree(det, k, tolerance)) Kokkos::atomic_store(&mine.is_needed, 1);
    member.team_barrier();
    if (member.team_rank() == 0 && mine.is_needed != 0)
      mine.end = chain(reversed, 0, shape.n, MinorState<T>{});
  }

  /// Divides by the determinant. Wherever it is found it must be the same: where it is not, A is
  /// singular to twice the precision.
  KOKKOS_INLINE_FUNCTION void operator()(Finish, std::int64_t i) const {
    const bool repaired = shape.blocks > 1 && repair[0].is_needed != 0;
    const MinorState<T> all = repaired ? repair[0].end : end[shape.blocks - 1];
    const MinorPair<T> other = repaired ? repair[1].end.pair : end[shape.blocks].pair;
    const Scaled<T> det = all.pair.minor;
    Generators<T>& g = out.up[i];
    g.over_before = g.over_before * quotient(all.couplings.after, det);
    g.over_after = g.over_after * quotient(all.couplings.before, det);
    if (i == 0) expect_same(det, MinorPair<T>{}, other, 0);
    if (i > 0 && i % shape.check_rows == 0)
      expect_same(det, check[i / shape.check_rows], check[shape_checks() + i / shape.check_rows],
                  i - 1);
    if (!repaired && i > 0 && i % shape.block_rows == 0 &&
        !blocks_agree(det, i / shape.block_rows, determinant_tolerance<T>))
      diagnosis.report_merge(i - 1);
  }

 private:
  KOKKOS_INLINE_FUNCTION MinorState<T> chain(bool reversed, std::int64_t first, std::int64_t last,
                                             const MinorState<T>& from) const {
    const DirectedRows<T> rows{A, reversed};
    Generators<T>* const to = reversed ? out.up : out.down;
    MinorPair<T>* const checks = check + (reversed ? shape_checks() : 0);
    bool is_fine = true;
    return visit_minors(
        rows, first, last, from,
        [&](std::int64_t r, const Generators<T>& g) { to[rows.row(r)] = g; },
        [&](std::int64_t r, const MinorPair<T>& pair) {
          const std::int64_t place = reversed ? rows.row(r) : r + 1;
          if (place % shape.check_rows == 0) checks[place / shape.check_rows] = pair;
          if (reversed || !is_fine) return;
          is_fine = pair.is_finite() && !pair.is_zero();
          if (!is_fine)
            diagnosis.report(
                pair.is_finite() ? Status::Reason::singular : Status::Reason::not_finite, r);
        });
  }
  /// Whether the k-th block and the one before it lead to the determinant, from both ends.
  KOKKOS_INLINE_FUNCTION bool blocks_agree(const Scaled<T>& det, std::int64_t k,
                                           double tolerance) const {
    const MinorPair<T> above = start[k].pair, below = start[shape.blocks + k - 1].pair;
    return is_same_determinant(det, determinant(above, below), tolerance) &&
           is_same_determinant(det, determinant(end[k - 1].pair, below), tolerance) &&
           is_same_determinant(det, determinant(above, end[shape.blocks + k].pair), tolerance);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t shape_checks() const {
    return shape.n / shape.check_rows + 2;
  }
  /// Blocks are the same rows in both directions.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t k, bool reversed) const {
    return reversed ? shape.n - Kokkos::min((k + 1) * shape.block_rows, shape.n)
                    : k * shape.block_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stop(std::int64_t k, bool reversed) const {
    return reversed ? shape.n - k * shape.block_rows
                    : Kokkos::min((k + 1) * shape.block_rows, shape.n);
  }
  KOKKOS_FORCEINLINE_FUNCTION void expect_same(const Scaled<T>& det, const MinorPair<T>& above,
                                               const MinorPair<T>& below, std::int64_t row) const {
    if (!is_same_determinant(det, determinant(above, below))) diagnosis.report_merge(row);
  }
};

}  // namespace Trikkos::Impl

#endif
