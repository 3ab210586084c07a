// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WATCHEDLANES_HPP
#define TRIKKOS_IMPL_WATCHEDLANES_HPP

#include <impl/Trikkos_Fused.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>

/// \file
/// A whole open tridiagonal system in each SIMD lane of a host without pivoting, watched:
///
///   p_k = b_k - a_k u_(k-1)        u_k = c_k / p_k        z_k = (d_k - a_k z_(k-1)) / p_k
///   x_k = z_k - u_k x_(k+1)
///
/// A lane is safe while no |u_k| exceeds one: no entry of L or U grows then, and |L||U| is at most
/// three times |A|. Rows that are diagonally dominant leave nothing larger.

namespace Trikkos::Impl {

/// What has become of the rows so far.
template <class V>
struct WatchedRow {
  using Mask = typename Findings<V>::Mask;

  V u = constant<V>(0), z = constant<V>(0);
  Mask safe = z == z;

  KOKKOS_FORCEINLINE_FUNCTION void eliminate(const Equation<V>& e) {
    // A reciprocal below the normal numbers would be rounded more than others; u may exceed one by
    // rounding errors.
    const V least = constant<V>(Kokkos::Experimental::norm_min_v<LaneNumber<V>>);
    const V inverse = reciprocal(fused(-e.a, u, e.b));
    u = product(e.c, inverse);
    z = product(fused(-e.a, z, e.d), inverse);
    safe = safe & (magnitude(u) <= constant<V>(1.01)) & (magnitude(inverse) >= least);
  }
};

/// Eliminates `rows`, of which pairs (u, z) are kept, as long as any lane is safe. Returns which
/// are: only such as look dominant where their first rows, which are on their way anyway, do.
template <class Rows, class V = typename Rows::value_type>
KOKKOS_FORCEINLINE_FUNCTION typename WatchedRow<V>::Mask eliminate_watched(const Rows& rows) {
  constexpr std::int64_t looks = 4, block = 32;  // rows
  const std::int64_t n = rows.length(), inner = rows.inner_rows();
  WatchedRow<V> row;
  std::int64_t k = 1;
  for_inner_rows(rows, k, Kokkos::min(1 + looks, inner), [&](std::int64_t, const Equation<V>& e) {
    row.safe = row.safe & (magnitude(e.a) + magnitude(e.c) <= magnitude(e.b));
  });
  const auto any_is_safe = [&] {
    bool any = false;
    for (int l = 0; l < Rows::width; ++l) any = any || row.safe[l];
    return any;
  };
  const auto eliminate = [&](std::int64_t i, const Equation<V>& e) {
    row.eliminate(e);
    rows.keep_pair(i, row.u, row.z);
  };
  if (!any_is_safe()) return row.safe;
  k = 0;
  eliminate(k++, rows.equation(0));
  while (k < inner && any_is_safe())
    for_inner_rows(rows, k, Kokkos::min(k + block, inner), eliminate);
  for (; k < n && any_is_safe(); ++k) eliminate(k, rows.equation(k));
  return row.safe & (finite_probe(row.z) == constant<V>(0));  // which has met every z
}
template <class Rows, class V = typename Rows::value_type>
KOKKOS_FORCEINLINE_FUNCTION Findings<V> substitute_watched(const Rows& rows) {
  V x = constant<V>(0);
  Real<V> probe = x;
  std::int64_t k = rows.length() - 1;
  const auto next = [&](std::int64_t i) {
    const auto& row = rows.kept(i);
    x = fused(-row.q, x, row.f);
    probe += finite_probe(x);
  };
  if (rows.comes_in_pairs()) {
    for (; k > 0; k -= 2) {
      next(k);
      const V behind = x;
      next(k - 1);
      rows.store_both(k - 1, x, behind);
    }
  }
  for (; k >= 0; --k) {
    next(k);
    rows.store(k, x);
  }
  return {probe};
}

}  // namespace Trikkos::Impl

#endif
