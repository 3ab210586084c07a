// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORINWARPS_HPP
#define TRIKKOS_IMPL_FACTORINWARPS_HPP

#include <impl/Trikkos_IncompleteRows.hpp>
#include <impl/Trikkos_Tickets.hpp>

/// \file
/// ILU(0) on a device in one launch, a row a warp. For each entry left of the diagonal the lanes
/// take the entries of the row that is subtracted, look each up among the columns of their own, and
/// wait for those alone that they find. Values are their own flags, so a row needs no fence, and is
/// not waited for as a whole. The sums are those of `IncompleteRow`, in the same order: the same
/// bits.

namespace Trikkos::Impl {

template <class T>
struct FactorInWarps {
  static constexpr int lanes = 32;
  using Flag = Flagged<T>;
  using Row = IncompleteRow<T, IncompleteKind::lu>;

  Row rows;  // `value`: rows of A, and what is left of them
  Published<T> published;
  const std::int32_t* order;
  Tickets* tickets;
  std::int64_t n;
  std::int32_t teams;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (!rows.attempt.is_needed()) return;
    while (true) {
      const std::int64_t p = tickets->take(member);
      if (p >= n) break;
      factor(member, order[p]);
    }
    Kokkos::single(Kokkos::PerTeam(member), [&] { tickets->finish(teams, 1); });
  }

 private:
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void factor(const Member& member, std::int64_t i) const {
    const FactorRows& A = rows.rows;
    T* const entry = rows.value;
    const std::int64_t diagonal = A.diagonal[i], end = A.start[i + 1];
    for (std::int64_t k = A.start[i]; k < diagonal; ++k) {
      const std::int32_t j = A.column[k];
      const std::int64_t above = A.diagonal[j] + 1;
      const auto count = static_cast<int>(A.start[j + 1] - above);
      const T mine = entry[k];
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, count), [&](int m) {
        const std::int64_t at = find(A.column, k + 1, end, A.column[above + m]);
        if (at == end) return;
        const auto [inverse, other] = both(j, above + m);
        entry[at] = fused(-product(inverse, mine), other, entry[at]);
      });
      Kokkos::single(Kokkos::PerThread(member),
                     [&] { put(published.factors, k, product(one(j), mine)); });
    }
    const auto pivot = rows.judged(i, entry[diagonal]);
    Kokkos::parallel_for(
        Kokkos::ThreadVectorRange(member, static_cast<int>(end - diagonal)), [&](int m) {
          put(published.factors, diagonal + m, m == 0 ? pivot.value : entry[diagonal + m]);
          if (m > 0) return;
          put(published.inverse, i, pivot.inverse);
          if (pivot.is_broken) rows.report(i, pivot.is_stuck);
        });
  }
  static KOKKOS_FORCEINLINE_FUNCTION void put(typename Flag::Word* to, std::int64_t k, const T& v) {
    Flag::publish(to + k * Flag::words, v);
  }

  /// Waits for the inverse pivot of row j,
  KOKKOS_FORCEINLINE_FUNCTION T one(std::int64_t j) const {
    auto seen = Flag::nothing();
    while (seen.is_empty()) seen = Flag::look(published.inverse + j * Flag::words);
    return seen.value();
  }
  struct Both {
    T inverse, entry;
  };
  /// and for its entry k. One look takes as long as two at a time.
  KOKKOS_FORCEINLINE_FUNCTION Both both(std::int64_t j, std::int64_t k) const {
    auto inverse = Flag::nothing(), entry = inverse;
    while (inverse.is_empty() || entry.is_empty()) {
      inverse = Flag::look(published.inverse + j * Flag::words);
      entry = Flag::look(published.factors + k * Flag::words);
    }
    return {inverse.value(), entry.value()};
  }

  /// The place of a column among some in order, or their end.
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t find(const std::int32_t* column,
                                                       std::int64_t begin, std::int64_t end,
                                                       std::int32_t wanted) {
    std::int64_t low = begin, high = end;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (column[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low < end && column[low] == wanted ? low : end;
  }
};

template <class T, class Exec>
void factor_in_warps(const Exec& exec, const IncompleteRow<T, IncompleteKind::lu>& rows,
                     const Published<T>& published, const std::int32_t* order, Tickets* tickets,
                     std::int64_t n) {
  using Kernel = FactorInWarps<T>;
  constexpr int threads_for_a_warp =
      64;  // of those that run at once: half of them, at 64 registers
  const auto teams = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(exec.concurrency() / threads_for_a_warp, 1, n));
  Kokkos::parallel_for("Trikkos::IncompleteFactors::sync_free",
                       light(Kokkos::TeamPolicy<Exec>(exec, teams, 1, Kernel::lanes)),
                       Kernel{rows, published, order, tickets, n, teams});
}

}  // namespace Trikkos::Impl

#endif
