// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTITIONDIAGNOSIS_HPP
#define TRIKKOS_IMPL_PARTITIONDIAGNOSIS_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/partition/Trikkos_Segment.hpp>

/// \file
/// Where did it go wrong? Run only once something is known not to be finite, so that the passes
/// themselves pay nothing for good reports.

namespace Trikkos::Impl {

/// Reports row i if it is not finite or zero; whether it is.
template <class T>
KOKKOS_INLINE_FUNCTION bool report_bad_row(const Diagnosis& diagnosis, const Equation<T>& e,
                                           std::int64_t i) {
  const auto probe = finite_probe(e.a) + finite_probe(e.b) + finite_probe(e.c) + finite_probe(e.d);
  const bool finite = probe == 0;
  const bool zero = magnitude(e.a) == 0 && magnitude(e.b) == 0 && magnitude(e.c) == 0;
  if (finite && !zero) return false;
  diagnosis.report(finite ? Status::Reason::singular : Status::Reason::not_finite, i);
  return true;
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
