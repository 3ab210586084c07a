// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTITIONDIAGNOSIS_HPP
#define TRIKKOS_IMPL_PARTITIONDIAGNOSIS_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// Where did it go wrong? Run only once something is known not to be finite, so that the passes
/// themselves pay nothing for good reports.

namespace Trikkos::Impl {

/// Reports row i if it is not finite or zero; whether it is.
KOKKOS_INLINE_FUNCTION bool report_bad_row(const Diagnosis& diagnosis, bool finite, bool zero,
                                           std::int64_t i) {
  if (finite && !zero) return false;
  diagnosis.report(finite ? Status::Reason::singular : Status::Reason::not_finite, i);
  return true;
}
template <class T>
KOKKOS_INLINE_FUNCTION bool report_bad_row(const Diagnosis& diagnosis, const Equation<T>& e,
                                           std::int64_t i) {
  const auto probe = finite_probe(e.a) + finite_probe(e.b) + finite_probe(e.c) + finite_probe(e.d);
  const bool zero = magnitude(e.a) == 0 && magnitude(e.b) == 0 && magnitude(e.c) == 0;
  return report_bad_row(diagnosis, probe == 0, zero, i);
}
template <class T, int W>
KOKKOS_INLINE_FUNCTION bool report_bad_row(const Diagnosis& diagnosis, const Equation<T, W>& e,
                                           std::int64_t i) {
  auto probe = finite_probe(e.d);
  bool zero = true;
  for (const T& a : e.a) {
    probe += finite_probe(a);
    zero = zero && magnitude(a) == 0;
  }
  return report_bad_row(diagnosis, probe == 0, zero, i);
}

/// Reports that one of the 2W unknowns that a merge eliminates, x(row - W) to x(row + W - 1), had
/// no pivot. `word(k)` are those of its node.
template <class T, int W, class Word>
KOKKOS_INLINE_FUNCTION void report_merge(const Diagnosis& diagnosis, const Word& word,
                                         std::int64_t row) {
  int first = 0;
  while (first < 2 * W - 1 && finite_probe(word(MergeNode<T, W>::start(first))) == 0) ++first;
  diagnosis.report_merge(row - W + first);
}
/// If the merge of two finite segments is not finite.
template <class T, int W, class Word>
KOKKOS_INLINE_FUNCTION void diagnose_merge(const Diagnosis& diagnosis, const Segment<T, W>& left,
                                           const Segment<T, W>& right, const Segment<T, W>& merged,
                                           const Word& word, std::int64_t row) {
  if (is_finite(merged) || !is_finite(left) || !is_finite(right)) return;
  report_merge<T, W>(diagnosis, word, row);
}

/// Reports a root whose solution is not finite: as suspect, and as singular if the two rows were.
template <class T>
KOKKOS_INLINE_FUNCTION void diagnose_root(const Diagnosis& diagnosis, const Segment<T>& s,
                                          bool periodic, const Bounds<T>& root, std::int64_t n) {
  if (finite_probe(root) == 0) return;
  diagnosis.mark_suspect();
  if (!is_finite(s)) return;
  const T bottom = s.bottom.u + (periodic ? s.bottom.q : T(0));
  const bool first_column = magnitude(s.top.u) == 0 && magnitude(bottom) == 0;
  diagnosis.report_merge(first_column ? 0 : n - 1);
}

template <class T, int W>
KOKKOS_INLINE_FUNCTION void diagnose_root(const Diagnosis& diagnosis, const Segment<T, W>& s,
                                          bool periodic, const Bounds<T, W>& root, std::int64_t n) {
  if (finite_probe(root) == 0) return;
  diagnosis.mark_suspect();
  if (!is_finite(s)) return;
  const auto is_zero = [&](int j) {  // the column of an unknown of (u, v)
    for (int i = 0; i < 2 * W; ++i) {
      const T *const prev = s.w + s.start(i), *const last = s.w + s.rhs(i) + 1;
      const auto at = [&](int k) { return k <= i ? last[k] : T(0); };
      const T inside = j < W ? prev[W + j] : at(j - W);
      const T outside = !periodic ? T(0) : j < W ? at(W + j) : prev[j - W];
      if (magnitude(inside + outside) != 0) return false;
    }
    return true;
  };
  int j = 0;
  while (j < 2 * W - 1 && !is_zero(j)) ++j;
  const std::int64_t row = j < W ? j : n - 2 * W + j;
  diagnosis.report_merge(row < 0 ? 0 : row < n ? row : n - 1);
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
