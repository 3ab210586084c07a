// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PCR_HPP
#define TRIKKOS_IMPL_PCR_HPP

#include <impl/pcr/Trikkos_CyclicRows.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// Parallel cyclic reduction and Thomas (PCR-Thomas) of one system in fast memory, by one team.
///
/// Every row eliminates both its neighbours at a distance of s = 1, 2, 4, ..., which leaves s
/// independent systems, the rows of equal i mod s; each of those is then solved by one thread.
/// Hockney, Jesshope 1981; Zhang, Cohen, Owens 2010 for the hybrid.
///
/// A `Team` has team_rank(), team_size() and team_barrier(), as a Kokkos team handle.

namespace Trikkos::Impl {

/// The team of a host: one thread.
struct LoneThread {
  KOKKOS_INLINE_FUNCTION int team_rank() const { return 0; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return 1; }
  KOKKOS_INLINE_FUNCTION void team_barrier() const {}
};

/// Solves the open system of the rows r, r + s, r + 2 s, ... by the Thomas algorithm, in place; the
/// pivots replace the diagonal.
template <class T, int Rhs, class Index>
KOKKOS_INLINE_FUNCTION void solve_class(const CyclicRows<T, Rhs, Index>& rows, std::int64_t r,
                                        std::int64_t s, CyclicVerdict& verdict) {
  T* const pivots = rows.diag() + r;
  Bands<T> A;
  A.band[0] = {rows.lower() + r, s};
  A.band[1] = {pivots, s};
  A.band[2] = {rows.upper() + r, s};
  A.n = (rows.n - r + s - 1) / s;
  const auto kept = [=](std::int64_t i) { return ThomasState<T>{pivots[i * s], T(0)}; };
  const ThomasVerdict found = Thomas<T>{A}.solve(
      {rows.rhs(0) + r, s}, {rows.rhs(0) + r, s},
      [=](std::int64_t i, const ThomasState<T>& state) { pivots[i * s] = state.p; }, kept);
  if (found.reason == Status::Reason::not_finite)
    verdict.note_overflow(r + found.row * s);  // where it came from has been noted
  else if (found.row >= 0)
    verdict.note(found.reason, r + found.row * s);
  for (int k = 1; k < Rhs; ++k) Thomas<T>{A}.solve_again({rows.rhs(k) + r, s}, kept);
}

/// Takes unknown i to where row i came from, and looks at it there: in PCR each unknown has an
/// elimination of its own, so that together they may leave a large residual although each is as
/// exact as the condition of A lets it be. Where rows differ in size by 2^10, matrices dominant by
/// columns were seen to leave 12000 units in the last place of a row. Reads no b but that of row i.
/// \param last  the last unknown of a periodic matrix, else 0
template <class T, int Rhs, class Index, class Source>
KOKKOS_INLINE_FUNCTION void store_unknown(const CyclicRows<T, Rhs, Index>& from, const Source& to,
                                          std::int64_t i, const T& last, CyclicVerdict& verdict) {
  using Kokkos::Experimental::epsilon_v;
  constexpr auto limit = 32768 * epsilon_v<Real<T>>;
  constexpr auto underflow = Kokkos::Experimental::norm_min_v<Real<T>> / epsilon_v<Real<T>>;
  const auto row = to.row(i);
  for (int k = 0; k < (Source::bordered ? 1 : Rhs); ++k) {
    const auto unknown = [&](std::int64_t j) {
      if (j < 0 || j >= from.n) return T(0);
      return Source::bordered ? from.rhs(k)[j] - from.rhs(Rhs - 1)[j] * last : from.rhs(k)[j];
    };
    const T x = unknown(i), of_x = row.diag * x, of_last = row.rhs[Rhs - 1] * last;
    const T of_left = row.lower * unknown(i - 1), of_right = row.upper * unknown(i + 1);
    const T residual = row.rhs[k] - of_left - of_x - of_right - of_last;
    const auto size = magnitude(row.rhs[k]) + magnitude(of_left) + magnitude(of_x) +
                      magnitude(of_right) + magnitude(of_last);
    if (magnitude(residual) > limit * size && size > underflow)
      verdict.note(Status::Reason::unstable, i);
    to.set_solution(k, i, x, verdict);
  }
}

/// \param rows  the fast memory
template <class T, int Rhs, class Team>
struct PcrOnChip {
  using Row = CyclicRow<T, Rhs>;

  Team team;
  CyclicRows<T, Rhs, int> rows;
  CyclicVerdict& verdict;

  /// Fills the rows from where they come from, and solves. The solution is in `rows.rhs(k)`.
  /// \param steps  doublings of s; 0: as many as give every thread a system
  template <class Source>
  KOKKOS_INLINE_FUNCTION void solve(const Source& from, int steps) const {
    const int n = rows.n;
    for (int i = team.team_rank(); i < n; i += team.team_size())
      rows.set(i, from.checked_row(i, verdict));
    team.team_barrier();
    int s = 1;
    for (int k = 0; s < n && (steps > 0 ? k < steps : s < team.team_size()); ++k, s *= 2) step(s);
    for (int r = team.team_rank(); r < s && r < n; r += team.team_size())
      solve_class(rows, r, s, verdict);
    team.team_barrier();
  }

  /// Takes the solution to where the rows came from.
  template <class Source>
  KOKKOS_INLINE_FUNCTION void store(const Source& to) const {
    T last(0);
    if constexpr (Source::bordered) {
      last = to.last_unknown(rows, verdict);
      team.team_barrier();  // everyone has read b, which x may overwrite
      if (team.team_rank() == 0) to.set_solution(0, rows.n, last, verdict);
    }
    for (int i = team.team_rank(); i < rows.n; i += team.team_size())
      store_unknown(rows, to, i, last, verdict);
  }

 private:
  /// In place: the rows that are overwritten and yet needed are the two beyond the ends of a
  /// stretch, which its thread reads before anyone writes, and the one before, which it keeps.
  KOKKOS_INLINE_FUNCTION void step(int s) const {
    const int n = rows.n;
    const int t = team.team_rank(), threads = team.team_size();
    if (s >= threads) {
      for (int r = t; r < s && r < n; r += threads) walk(r, n, s, rows.no_row(), rows.no_row());
    } else {
      // Threads share a class: a stretch each, of an odd number of rows, against bank conflicts,
      // unless that would leave every third of them without work.
      const int r = t % s, part = t / s, parts = threads / s;
      const int fair = ((n - r + s - 1) / s + parts - 1) / parts;
      const int stretch = fair > 2 ? fair | 1 : fair;
      const int first = part < parts ? r + part * stretch * s : n, end = first + stretch * s;
      const bool works = first < n;
      const Row before = works ? rows.row_or_none(first - s) : rows.no_row();
      const Row after = works ? rows.row_or_none(end) : rows.no_row();
      team.team_barrier();
      if (works) walk(first, end < n ? end : n, s, before, after);
    }
    team.team_barrier();
  }

  KOKKOS_FORCEINLINE_FUNCTION void walk(int first, int end, int s, Row before,
                                        const Row& after) const {
    Row row = rows.row(first);
    for (int i = first; i < end; i += s) {
      const Row next = i + s < end ? rows.row(i + s) : after;
      rows.set(i, eliminate_neighbours(before, row, next, i, s, verdict));
      before = row;
      row = next;
    }
  }
};

}  // namespace Trikkos::Impl

#endif
