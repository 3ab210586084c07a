// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDSWEEP_HPP
#define TRIKKOS_IMPL_FACTOREDSWEEP_HPP

#include <impl/factored/Trikkos_FactorMatrix.hpp>

namespace Trikkos::Impl {

/// One thread factors a matrix, as one chunk. Returns the first row by which the factors are not to
/// be used, -1 if none.
template <class T, int W, class Rows>
KOKKOS_INLINE_FUNCTION std::int64_t factor_rows(const Rows& A, const Factors<T, W>& factors) {
  Crout<T, W> crout(A);
  std::int64_t bad = -1;
  for (std::int64_t i = 0; i < A.n; ++i) {
    T entries[2 * W + 1];
    read_row<W>(A, i, entries);
    const auto row = crout.next(i, entries);
    for (int j = 0; j < 4 * W + 1; ++j)
      if (factors.band[j] != nullptr) factors.at(j, i, 0) = row.band[j];
    if (bad < 0 && !crout.is_safe()) bad = i;
  }
  FactorMatrix<T, W>::store_end(crout, factors);
  return bad;
}

/// One thread solves with factors of one chunk. `right(i)` is d_i, read in ascending order, each
/// just before x_i is written. Returns not a number unless x is finite.
template <class T, int W, class Right>
KOKKOS_INLINE_FUNCTION Real<T> sweep(const Factors<T, W>& factors, const Right& right,
                                     const Strided<T>& x) {
  using F = Factors<T, W>;
  const std::int64_t n = factors.n;
  const auto multiplier = [&](int band, std::int64_t i) {
    return [&factors, band, i](int t) { return factors.at(band + t, i, 0); };
  };
  T v[W] = {}, ends[W] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    const T d = right(i);
    push_next(v, product(factors.at(F::inverse, i, 0), d), multiplier(F::lower, i));
    x[i] = v[0];
    if (factors.periodic)
      for (int a = 0; a < W; ++a) ends[a] = fused(factors.at(F::last + a, i, 0), v[0], ends[a]);
  }
  if (factors.periodic) {
    solve_end(ends, [&](int a, int c) { return factors.end[a * W + c]; });
    for (int a = 0; a < W; ++a) x[n - W + a] = ends[a];
  }
  for (T& value : v) value = T(0);
  Real<T> probe(0);
  for (std::int64_t i = n - 1; i >= 0; --i) {
    T z = x[i];
    if (factors.periodic && i < n - W)
      for (int c = 0; c < W; ++c) z = fused(-factors.at(F::column + c, i, 0), ends[c], z);
    push_next(v, z, multiplier(F::upper, i));
    probe += finite_probe(v[0]);
    x[i] = v[0];
  }
  return probe;
}

}  // namespace Trikkos::Impl

#endif
