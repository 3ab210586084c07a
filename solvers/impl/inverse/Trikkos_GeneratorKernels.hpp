// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GENERATORKERNELS_HPP
#define TRIKKOS_IMPL_GENERATORKERNELS_HPP

#include <algorithm>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/Trikkos_ThreadMember.hpp>
#include <impl/inverse/Trikkos_Minors.hpp>

/// \file
/// The generators of the inverse, O(n), in both directions at the same time: rows in blocks, blocks
/// multiplied along each direction, first those of a group, and rows again from where each block
/// starts.

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
  std::int64_t group, groups;  // of so many blocks
  /// Pairs are kept of every so many rows, from which the determinant is found again and again. Of
  /// many: in a small persymmetric matrix both directions make the same errors.
  std::int64_t check_rows;

  GeneratorShape(std::int64_t n_, std::int64_t rows, std::int64_t group_)
      : n(n_), block_rows(std::max<std::int64_t>(rows, 1)), group(group_) {
    check_rows = n <= 256 ? 1 : 16;
    blocks = (n + block_rows - 1) / block_rows;
    groups = (blocks + group - 1) / group;
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

/// A second way through all rows, in both directions, if one is needed.
template <class T>
struct MinorRepair {
  MinorState<T> end[2];
  int is_needed;
};

/// One functor for all kernels: `direction` 0 is from the top.
template <class T>
struct GeneratorKernels {
  struct Reduce {};
  struct Scan {};
  struct Chain {};
  struct Finish {};
  struct Repair {};
  static constexpr int scan_threads = 128, lanes = 32;  // of teams on a device

  Bands<T> A;
  GeneratorShape<T> shape;
  InverseFactors<T> out;
  MinorBlock<T>* block;        // [direction][blocks]: those of a group up to this one
  MinorState<T>* group_start;  // [direction][groups]: before the first of its blocks
  MinorState<T>*start, *end;   // [direction][blocks]: before and after a block
  MinorRepair<T>* repair;
  MinorPair<T>* check;  // [direction][checks]: rows before m check_rows, and from there
  Diagnosis diagnosis;

  template <class Exec>
  void launch(const Exec& exec) const {
    const std::int64_t both = 2 * shape.blocks;
    if (shape.blocks > 1) {
      constexpr auto reduce = "Trikkos::inverse::reduce", scan = "Trikkos::inverse::scan";
      if constexpr (is_host_v<Exec>) {
        Kokkos::parallel_for(reduce, range<Reduce>(exec, both), *this);
        Kokkos::parallel_for(scan, range<Scan>(exec, 2), *this);
      } else {
        const auto teams = static_cast<int>(2 * shape.groups);
        launch_teams<Reduce>(exec, reduce, teams, static_cast<int>(shape.group));
        launch_teams<Scan>(exec, scan, 2, scan_threads);
      }
    }
    // Few threads, each with a long chain: over as many multiprocessors as there are.
    Kokkos::parallel_for("Trikkos::inverse::chain",
                         light(Kokkos::RangePolicy<Exec, Chain, Kokkos::LaunchBounds<lanes>,
                                                   Kokkos::IndexType<std::int64_t>>(exec, 0, both)),
                         *this);
    Kokkos::parallel_for("Trikkos::inverse::finish", range<Finish>(exec, shape.n), *this);
    if (shape.blocks > 1) {
      constexpr auto label = "Trikkos::inverse::repair";
      if constexpr (is_host_v<Exec>)
        Kokkos::parallel_for(label, range<Repair>(exec, 1), *this);
      else
        launch_teams<Repair>(exec, label, 1, scan_threads);
    }
  }

  /// A host: groups of one block.
  KOKKOS_INLINE_FUNCTION void operator()(Reduce, std::int64_t index) const {
    const bool reversed = index >= shape.blocks;
    block[index] = reduced(reversed, reversed ? index - shape.blocks : index);
  }
  /// A device: a team for each group.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(Reduce, const Member& member) const {
    const bool reversed = member.league_rank() >= shape.groups;
    const std::int64_t g = member.league_rank() - (reversed ? shape.groups : 0),
                       k = g * shape.group + member.team_rank();
    MinorBlock<T> mine;
    if (k < shape.blocks) mine = reduced(reversed, matrix_order(reversed, k));
    multiply_up(member, mine);
    if (k < shape.blocks) block[place(reversed, k)] = mine;
  }

  /// Groups one after the other: a team for each direction, of a host one thread.
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
    const std::int64_t share = (shape.groups + threads - 1) / threads;
    const std::int64_t first = Kokkos::min(me * share, shape.groups),
                       last = Kokkos::min(first + share, shape.groups);
    const auto all = [&](std::int64_t g) -> const MinorBlock<T>& {
      return block[place(reversed, Kokkos::min((g + 1) * shape.group, shape.blocks) - 1)];
    };
    MinorBlock<T> mine;
    for (std::int64_t g = first; g < last; ++g) mine = all(g) * mine;
    const MinorBlock<T>* const before = multiply_up(member, mine);
    MinorState<T> state = me > 0 ? before[me - 1].state() : MinorState<T>{};
    MinorState<T>* const to = group_start + (reversed ? shape.groups : 0);
    for (std::int64_t g = first; g < last; ++g) {
      to[g] = state;
      if (g + 1 < last) state = all(g) * state;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Chain, std::int64_t index) const {
    const bool reversed = index >= shape.blocks;
    const std::int64_t k = reversed ? index - shape.blocks : index;
    MinorState<T> state;
    if (shape.blocks > 1) {
      const std::int64_t at = matrix_order(reversed, k), g = at / shape.group;
      state = group_start[(reversed ? shape.groups : 0) + g];
      if (at > g * shape.group) state = block[place(reversed, at - 1)] * state;
      start[index] = state;
    }
    if (index == 0) repair->is_needed = 0;
    end[index] = chain(reversed, begin(k, reversed), stop(k, reversed), state);
  }

  /// Divides by the determinant. Wherever it is found it must be the same: where it is not, A is
  /// singular to twice the precision.
  KOKKOS_INLINE_FUNCTION void operator()(Finish, std::int64_t i) const {
    const MinorState<T>& all = end[shape.blocks - 1];
    const bool is_same = finish(i, all, end[shape.blocks].pair);
    if (shape.blocks == 1) return report_unless(is_same, i);
    const std::int64_t k = i / shape.block_rows;
    const bool begins = i > 0 && i == k * shape.block_rows;
    if (!is_same || (begins && !blocks_agree(all.pair.minor, k)))
      Kokkos::atomic_store(&repair->is_needed, 1);
  }

  /// Where A is so ill-conditioned that the minors of neighbouring blocks do not belong together to
  /// the last digit of T, though they do to half of them, all rows are gone through once more, by
  /// one thread in each direction: errors there are those of one matrix.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(Repair, const Member& member) const {
    mend(member);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Repair, std::int64_t) const {
    mend(ThreadMember{nullptr, 0});
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void mend(const Member& member) const {
    if (repair->is_needed == 0) return;
    const int me = member.team_rank(), threads = member.team_size();
    for (int direction = 0; direction < 2; ++direction)  // in warps of their own
      if (me == direction * (threads / 2))
        repair->end[direction] = chain(direction == 1, 0, shape.n, MinorState<T>{});
    member.team_barrier();
    for (std::int64_t i = me; i < shape.n; i += threads)
      report_unless(finish(i, repair->end[0], repair->end[1].pair), i);
  }

 private:
  template <class Tag, class Exec>
  void launch_teams(const Exec& exec, const char* label, int teams, int threads) const {
    const std::size_t bytes = (sizeof(MinorBlock<T>) + 1) * threads;
    Kokkos::parallel_for(label,
                         light(Kokkos::TeamPolicy<Exec, Tag>(exec, teams, threads)
                                   .set_scratch_size(0, Kokkos::PerTeam(bytes))),
                         *this);
  }
  /// Block k of a direction in the order of rows, and the other way round.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_order(bool reversed, std::int64_t k) const {
    return reversed ? shape.blocks - 1 - k : k;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(bool reversed, std::int64_t k) const {
    return reversed ? 2 * shape.blocks - 1 - k : k;
  }
  KOKKOS_INLINE_FUNCTION MinorBlock<T> reduced(bool reversed, std::int64_t k) const {
    return minor_block(DirectedRows<T>{A, reversed}, begin(k, reversed), stop(k, reversed));
  }
  /// Each thread's block becomes the product of all up to it. Returns them, of all threads.
  template <class Member>
  KOKKOS_INLINE_FUNCTION const MinorBlock<T>* multiply_up(const Member& member,
                                                          MinorBlock<T>& mine) const {
    if (member.team_size() == 1) return &mine;
    const int me = member.team_rank(), threads = member.team_size();
    auto* const slot = team_scratch<MinorBlock<T>>(member);
    slot[me] = mine;
    for (int step = 1; step < threads; step *= 2) {
      member.team_barrier();
      if (me >= step) mine = mine * slot[me - step];
      member.team_barrier();
      slot[me] = mine;
    }
    member.team_barrier();
    return slot;
  }
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
  /// Divides row i by the determinant. Returns whether that is the same there.
  KOKKOS_FORCEINLINE_FUNCTION bool finish(std::int64_t i, const MinorState<T>& all,
                                          const MinorPair<T>& from_below) const {
    const Scaled<T> det = all.pair.minor;
    Generators<T>& g = out.up[i];
    g.over_before = g.over_before * quotient(all.couplings.after, det);
    g.over_after = g.over_after * quotient(all.couplings.before, det);
    if (i == 0) return is_same_determinant(det, determinant(MinorPair<T>{}, from_below));
    const std::int64_t m = i / shape.check_rows;
    return i != m * shape.check_rows ||
           is_same_determinant(det, determinant(check[m], check[shape_checks() + m]));
  }
  KOKKOS_FORCEINLINE_FUNCTION void report_unless(bool is_same, std::int64_t i) const {
    if (!is_same) diagnosis.report_merge(i > 0 ? i - 1 : 0);
  }
  /// Whether the k-th block and the one before it lead to the determinant, from both ends, to the
  /// last digits.
  KOKKOS_INLINE_FUNCTION bool blocks_agree(const Scaled<T>& det, std::int64_t k) const {
    constexpr double tolerance = 4 * Kokkos::Experimental::epsilon_v<Real<T>>;
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
};

}  // namespace Trikkos::Impl

#endif
