// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CYCLICREDUCTION_HPP
#define TRIKKOS_IMPL_CYCLICREDUCTION_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/pcr/Trikkos_CyclicRows.hpp>

/// \file
/// Cyclic reduction in device memory: the odd rows of a level eliminate their neighbours and are
/// the next level, of half as many rows; on the way back the even unknowns follow from those. One
/// kernel a level and direction, an index for every row that is computed.
///
/// Level 0 is the matrix, which is never written; its x is written on the last step only, by the
/// indices that read b there. Levels above keep their rows and, in place of b, their solution.

namespace Trikkos::Impl {

/// The rows of one level, `spacing` apart in the matrix, of every system. The workspace of each, of
/// so many `words`, starts with z, if there is one.
template <class T, int Rhs, bool IsMatrix>
struct CyclicLevel {
  using value_type = T;
  static constexpr int rhs_words = Rhs;

  Problem<T> problem;
  std::int64_t words;
  std::int64_t n, spacing = 1, offset = 0;

  KOKKOS_FORCEINLINE_FUNCTION auto rows(std::int64_t system) const {
    T* const memory = problem.storage + system * words;
    if constexpr (IsMatrix)
      return MatrixRows<T, Rhs>{problem.A[system], problem.b[system], problem.x[system], memory, n};
    else
      return CyclicRows<T, Rhs>{memory + offset, n};
  }
  KOKKOS_FORCEINLINE_FUNCTION void report(std::int64_t system, const CyclicVerdict& verdict) const {
    verdict.report(problem.diagnosis.of(system, problem.n()), spacing);
  }
};

template <class From, class To>
struct ReduceLevel {
  From from;
  To to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [system, j] = split_index(index, to.n);
    const auto rows = from.rows(system);
    const std::int64_t i = 2 * j + 1;
    CyclicVerdict verdict;
    const auto before = rows.checked_row(i - 1, verdict), row = rows.checked_row(i, verdict);
    const auto after = i + 1 < from.n ? rows.checked_row(i + 1, verdict) : rows.row_or_none(i + 1);
    to.rows(system).set(j, eliminate_neighbours(before, row, after, i, 1, verdict));
    from.report(system, verdict);
  }
};

/// `to` from the solution of `from`, the next level.
template <class From, class To>
struct SubstituteLevel {
  From from;
  To to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    using T = typename From::value_type;
    const auto [system, j] = split_index(index, to.n - from.n);
    const auto rows = to.rows(system);
    const auto known = from.rows(system);
    const auto row = rows.row(2 * j);
    CyclicVerdict verdict;
    for (int k = 0; k < From::rhs_words; ++k) {
      const T left = j > 0 ? known.solution(k, j - 1) : T(0);
      const T right = j < from.n ? known.solution(k, j) : T(0);
      const T y = row.rhs[k] - row.lower * left - row.upper * right;
      rows.set_solution(k, 2 * j, quotient(y, row.diag), verdict);
      if (j < from.n) rows.set_solution(k, 2 * j + 1, right, verdict);
    }
    to.report(system, verdict);
  }
};

/// The last unknown of a periodic matrix, from those before it ...
template <class Known, class Matrix>
struct SolveBorder {
  Known known;
  Matrix matrix;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    const auto rows = matrix.rows(system);
    CyclicVerdict verdict;
    rows.set_solution(0, matrix.n, rows.last_unknown(known.rows(system), verdict), verdict);
    matrix.report(system, verdict);
  }
};
/// ... and what it does to the others. The open part of a harmless ring may let y and z grow
/// without bound; x = y - z x_last then cancels what has drowned it. (b, which could tell, may be
/// x.)
template <class Matrix>
struct SubstituteBorder {
  Matrix matrix;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    constexpr int limit = 4096;  // some rounding errors in each term: below that of `store_unknown`
    const auto [system, i] = split_index(index, matrix.n);
    const auto rows = matrix.rows(system);
    const auto y = rows.x[i], last = rows.x[matrix.n], x = y - rows.border[i] * last;
    CyclicVerdict verdict;
    if (magnitude(y) > limit * (magnitude(x) + magnitude(last)))
      verdict.note(Status::Reason::unstable, i);
    rows.set_solution(0, i, x, verdict);
    matrix.report(system, verdict);
  }
};

}  // namespace Trikkos::Impl

#endif
