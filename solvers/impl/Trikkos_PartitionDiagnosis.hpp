// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTITIONDIAGNOSIS_HPP
#define TRIKKOS_IMPL_PARTITIONDIAGNOSIS_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_DiagonalPivoting.hpp>
#include <impl/Trikkos_OrthogonalCarry.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// Where did it go wrong? Run only once something is known not to be finite, so that the passes
/// themselves pay nothing for good reports.

namespace Trikkos::Impl {

/// Row i, scaled as the elimination sees it.
template <class T>
KOKKOS_INLINE_FUNCTION Equation<T> scaled_row(const Bands<T>& A, const Strided<const T>& b,
                                              std::int64_t i) {
  return scaled(Equation<T>{A.lower(i), A.diag(i), A.upper(i), b[i]}, A.scale_rows);
}

/// The rows of one partition where they are in memory: `Rows` of an elimination's first pass.
template <class T>
struct UnstagedRows {
  using value_type = T;
  using index_type = std::int64_t;
  static constexpr bool ragged = false;

  const Bands<T>& A;
  Strided<const T> b;
  std::int64_t first, m;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inner_rows() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(std::int64_t k) const { return k < m; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> inner_equation(std::int64_t k) const {
    return scaled_row(A, b, first + k);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(std::int64_t k) const {
    return k < m ? inner_equation(k) : Equation<T>{T(0), T(1), T(0), T(0)};
  }
};

/// Repeats the elimination of rows [first, first + length) and reports the first row that is not
/// finite or zero, or else the first column without a pivot.
template <class T>
KOKKOS_INLINE_FUNCTION void diagnose_partition(OrthogonalCarry, const Diagnosis& diagnosis,
                                               const Bands<T>& A, const Strided<const T>& b,
                                               std::int64_t first, std::int64_t length) {
  Segment<T> s = transparent_segment<T>();
  Equation<T> before{};
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t i = first + k;
    const Equation<T> e = scaled_row(A, b, i);
    const auto probe =
        finite_probe(e.a) + finite_probe(e.b) + finite_probe(e.c) + finite_probe(e.d);
    if (!(probe == 0)) return diagnosis.report(Status::Reason::not_finite, i);
    if (magnitude(e.a) == 0 && magnitude(e.b) == 0 && magnitude(e.c) == 0)
      return diagnosis.report(Status::Reason::singular, i);
    const auto pivot = [&] {
      const auto top = magnitude(s.top.p), bottom = magnitude(s.bottom.p), row = magnitude(e.a);
      return top == 0 && bottom == 0 && row == 0;
    };
    if (k >= 2 && pivot()) return diagnosis.report(Status::Reason::singular, i - 1);
    if (k == 1) s = start_segment(before, e);
    if (k >= 2) carry(s, e);
    if (k >= 1 && !is_finite(s)) return diagnosis.report(Status::Reason::not_finite, i);
    before = e;
  }
}

/// ... and where SPIKE's partition is singular by itself, or would need a pivot from outside.
template <Pivoting P, class T>
KOKKOS_INLINE_FUNCTION void diagnose_partition(DiagonalPivoting<P>, const Diagnosis& diagnosis,
                                               const Bands<T>& A, const Strided<const T>& b,
                                               std::int64_t first, std::int64_t length) {
  for (std::int64_t i = first; i < first + length; ++i) {
    const Equation<T> e = scaled_row(A, b, i);
    const auto probe =
        finite_probe(e.a) + finite_probe(e.b) + finite_probe(e.c) + finite_probe(e.d);
    if (!(probe == 0)) return diagnosis.report(Status::Reason::not_finite, i);
    if (magnitude(e.a) == 0 && magnitude(e.b) == 0 && magnitude(e.c) == 0)
      return diagnosis.report(Status::Reason::singular, i);
  }
  const Segment<T> s = DiagonalPivoting<P>{}.reduce(UnstagedRows<T>{A, b, first, length});
  if (!is_finite(s)) diagnosis.report(Status::Reason::unstable, first);
}

/// Reports a merge of two finite segments that is not finite: one of the two unknowns that it
/// eliminates, x(row - 1) and x(row), had no pivot.
template <class T>
KOKKOS_INLINE_FUNCTION void diagnose_merge(const Diagnosis& diagnosis, const Segment<T>& left,
                                           const Segment<T>& right, const Segment<T>& merged,
                                           const T& first_node_word, std::int64_t row) {
  if (is_finite(merged) || !is_finite(left) || !is_finite(right)) return;
  const bool first_is_finite = finite_probe(first_node_word) == 0;
  diagnosis.report_merge(first_is_finite ? row : row - 1);
}

/// Reports a root whose solution is not finite: as suspect, and as singular if the two rows were.
template <class T>
KOKKOS_INLINE_FUNCTION void diagnose_root(const Diagnosis& diagnosis, const Segment<T>& s,
                                          bool periodic, const Bounds<T>& root, std::int64_t n) {
  if (finite_probe(root.first) + finite_probe(root.last) == 0) return;
  diagnosis.mark_suspect();
  if (!is_finite(s)) return;
  const T bottom = s.bottom.u + (periodic ? s.bottom.q : T(0));
  const bool first_column = magnitude(s.top.u) == 0 && magnitude(bottom) == 0;
  diagnosis.report_merge(first_column ? 0 : n - 1);
}

/// Reports the first row of [first, first + length) whose solution is not finite.
template <class T>
KOKKOS_INLINE_FUNCTION void report_first_not_finite(const Diagnosis& diagnosis, const Strided<T>& x,
                                                    std::int64_t first, std::int64_t length) {
  for (std::int64_t i = first; i < first + length; ++i)
    if (!(finite_probe(x[i]) == 0)) return diagnosis.report_solution(i);
}

}  // namespace Trikkos::Impl

#endif
