// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDSWEEP_HPP
#define TRIKKOS_IMPL_FACTOREDSWEEP_HPP

#include <impl/factored/Trikkos_Factors.hpp>

namespace Trikkos::Impl {

/// One thread factors a matrix, as one chunk. Returns the first row by which the factors are not to
/// be used, -1 if none.
template <class T, class Rows>
KOKKOS_INLINE_FUNCTION std::int64_t factor_rows(const Rows& A, const Factors<T>& factors) {
  using F = Factors<T>;
  Crout<T> crout(A);
  std::int64_t bad = -1;
  for (std::int64_t i = 0; i < A.n; ++i) {
    const auto row =
        crout.ring && i == A.n - 1 ? crout.end() : crout.next(i, A.lower(i), A.diag(i), A.upper(i));
    factors.at(F::inverse, i, 0) = row.inverse;
    factors.at(F::lower, i, 0) = row.lower;
    factors.at(F::upper, i, 0) = row.upper;
    if (factors.periodic) {
      factors.at(F::column, i, 0) = row.column;
      factors.at(F::last, i, 0) = row.last;
    }
    if (bad < 0 && !crout.is_safe()) bad = i;
  }
  return bad;
}

/// One thread solves with factors of one chunk. `right(i)` is d_i, read in ascending order, each
/// just before x_i is written. Returns not a number unless x is finite.
template <class T, class Right>
KOKKOS_INLINE_FUNCTION Real<T> sweep(const Factors<T>& factors, const Right& right,
                                     const Strided<T>& x) {
  using F = Factors<T>;
  const std::int64_t n = factors.n;
  T v(0), total(0);
  for (std::int64_t i = 0; i < n; ++i) {
    const T d = right(i);
    v = fused(-factors.at(F::lower, i, 0), v, product(factors.at(F::inverse, i, 0), d));
    x[i] = v;
    if (factors.periodic) total = fused(factors.at(F::last, i, 0), v, total);
  }
  if (factors.periodic) {
    total = -product(factors.at(F::inverse, n - 1, 0), total);
    x[n - 1] = total;
  }
  v = T(0);
  Real<T> probe(0);
  for (std::int64_t i = n - 1; i >= 0; --i) {
    T z = x[i];
    if (factors.periodic && i < n - 1) z = fused(-factors.at(F::column, i, 0), total, z);
    v = fused(-factors.at(F::upper, i, 0), v, z);
    probe += finite_probe(v);
    x[i] = v;
  }
  return probe;
}

}  // namespace Trikkos::Impl

#endif
