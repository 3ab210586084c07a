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

/// The systems of `rows`, of which pairs (u, z) are kept, some rows at a time, as
/// `OrthogonalCarry::Alone`.
template <class V>
class WatchedSystems {
 public:
  static constexpr int begin = 1;

  WatchedSystems() = default;
  /// Only such as look dominant where their first rows, which are on their way anyway, do.
  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION explicit WatchedSystems(const Rows& rows) {
    constexpr std::int64_t looks = 4;  // rows
    std::int64_t k = 1;
    for_inner_rows(rows, k, Kokkos::min(k + looks, rows.inner_rows()),
                   [&](std::int64_t, const Equation<V>& e) {
                     m_row.safe = m_row.safe & (magnitude(e.a) + magnitude(e.c) <= magnitude(e.b));
                   });
    if (goes_on()) eliminate(rows, 0, rows.equation(0));
  }
  /// As long as any lane is safe.
  KOKKOS_FORCEINLINE_FUNCTION bool goes_on() const {
    bool any = false;
    for (int l = 0; l < width; ++l) any = any || m_row.safe[l];
    return any;
  }
  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION void reduce(const Rows& rows, std::int64_t k, std::int64_t end) {
    for_inner_rows(rows, k, Kokkos::min(end, rows.inner_rows()),
                   [&](std::int64_t i, const Equation<V>& e) { eliminate(rows, i, e); });
    for (; k < end; ++k) eliminate(rows, k, rows.equation(k));
  }
  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION typename WatchedRow<V>::Mask turn(const Rows&) {
    m_x = m_probe = constant<V>(0);
    return m_row.safe & (finite_probe(m_row.z) == constant<V>(0));  // which has met every z
  }
  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION void substitute(const Rows& rows, std::int64_t k, std::int64_t last) {
    for (; k >= last; --k) {
      const auto& row = rows.kept(k);
      m_x = fused(-row.q, m_x, row.f);
      m_probe += finite_probe(m_x);
      rows.store_in_pairs(k, m_x);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Findings<V> findings() const { return {m_probe}; }

 private:
  static constexpr int width = lane_count<LaneNumber<V>>;

  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(const Rows& rows, std::int64_t k,
                                             const Equation<V>& e) {
    m_row.eliminate(e);
    rows.keep_pair(k, m_row.u, m_row.z);
  }

  WatchedRow<V> m_row;
  V m_x, m_probe;
};

}  // namespace Trikkos::Impl

#endif
