// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_STRIDEDROWS_HPP
#define TRIKKOS_IMPL_STRIDEDROWS_HPP

#include <impl/Trikkos_System.hpp>
#include <impl/partition/Trikkos_Segment.hpp>

/// \file
/// The rows of a partition where they lie in memory, `Rows` of an elimination
/// (Trikkos_Elimination.hpp).

namespace Trikkos::Impl {

/// For the first pass and for a diagnosis: without memory for the way back.
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
    const std::int64_t i = first + k;
    return scaled(Equation<T>{A.lower(i), A.diag(i), A.upper(i), b[i]}, A.scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(std::int64_t k) const {
    return k < m ? inner_equation(k) : Equation<T>{T(0), T(1), T(0), T(0)};
  }
};

/// For both passes of one thread.
template <class T>
struct StridedRows {
  using value_type = T;
  using index_type = std::int64_t;
  static constexpr bool ragged = false;

  Strided<const T> a, b, c, d;  // from the first row of the partition on
  Strided<T> q, r, f, x;
  T first_a, last_c;  // at the ends of the matrix not what the arrays hold
  bool conjugated, scale_rows;
  std::int64_t m;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inner_rows() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(std::int64_t k) const { return k < m; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> inner_equation(std::int64_t k) const {
    return scaled(Equation<T>{k > 0 ? value(a[k]) : first_a, value(b[k]),
                              k < m - 1 ? value(c[k]) : last_c, d[k]},
                  scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(std::int64_t k) const {
    return k < m ? inner_equation(k) : Equation<T>{T(0), T(1), T(0), T(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t k, const BackRow<T>& row) const {
    q[k] = row.q;
    r[k] = row.r;
    f[k] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T> kept(std::int64_t k) const { return {q[k], r[k], f[k]}; }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t k, const T& v) const { x[k] = v; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T value(const T& v) const { return conjugated ? conjugate(v) : v; }
};

}  // namespace Trikkos::Impl

#endif
