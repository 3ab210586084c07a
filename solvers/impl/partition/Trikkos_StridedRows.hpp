// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_STRIDEDROWS_HPP
#define TRIKKOS_IMPL_STRIDEDROWS_HPP

#include <impl/Trikkos_System.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// The rows of a partition where they lie in memory, `Rows` of an elimination
/// (Trikkos_Elimination.hpp).

namespace Trikkos::Impl {

/// The row whose coefficients are source.entry<j>(k), j = -W, ..., W.
template <class V, int W, class Source, class Index, int... j>
KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> equation_of(const Source& source, Index k,
                                                       const Unknown<V>& d,
                                                       std::integer_sequence<int, j...>) {
  if constexpr (W == 1)
    return {source.template entry<j - W>(k)..., d};
  else
    return {{source.template entry<j - W>(k)...}, d};
}
template <class V, int W, class Source, class Index>
KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> equation_of(const Source& source, Index k,
                                                       const Unknown<V>& d) {
  return equation_of<V, W>(source, k, d, std::make_integer_sequence<int, 2 * W + 1>{});
}

/// 1 x = 0
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> unit_equation() {
  const auto zero = constant<Coefficient<V>>(0), one = constant<Coefficient<V>>(1);
  if constexpr (W == 1) {
    return {zero, one, zero, zero_unknown<V>()};
  } else {
    Equation<V, W> e;
    for (int j = 0; j < 2 * W + 1; ++j) e.a[j] = j == W ? one : zero;
    e.d = zero;
    return e;
  }
}

template <class V, class T, int W>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(Equation<V, W>& to, int l, const Equation<T, W>& e) {
  if constexpr (W == 1) {
    set_lane(to.a, l, e.a);
    set_lane(to.b, l, e.b);
    set_lane(to.c, l, e.c);
  } else {
    for (int j = 0; j < 2 * W + 1; ++j) set_lane(to.a[j], l, e.a[j]);
  }
  set_lane(to.d, l, e.d);
}

/// For the first pass and for a diagnosis: without memory for the way back.
template <class T, int W = 1, class Matrix = Bands<T, W>>
struct UnstagedRows {
  using value_type = T;
  using index_type = std::int64_t;
  static constexpr int half_bandwidth = W;
  static constexpr bool ragged = false;

  const Matrix& A;
  Strided<const T> b;
  std::int64_t first, m;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inner_rows() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(std::int64_t k) const { return k < m; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> inner_equation(std::int64_t k) const {
    return scaled(equation_of<T, W>(A, first + k, b[first + k]), A.scale_rows);
  }
  /// What is reported for row i.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t existing(std::int64_t i) const {
    return i < A.n ? i : A.n - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(std::int64_t k) const {
    return k < m ? inner_equation(k) : unit_equation<T, W>();
  }
};

/// The same, and behind the last row of the matrix rows 1 x = 0.
template <class T, int W, class Matrix>
struct CompletedRows : UnstagedRows<T, W, Matrix> {
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> inner_equation(std::int64_t k) const {
    if (this->first + k >= this->A.n) return unit_equation<T, W>();
    return UnstagedRows<T, W, Matrix>::inner_equation(k);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(std::int64_t k) const {
    return k < this->m ? inner_equation(k) : unit_equation<T, W>();
  }
};

/// For both passes of one thread.
template <class T, int W = 1>
struct StridedRows : UnstagedRows<T, W> {
  T* back;  // band j of the way back starts at back + j n
  Strided<T> x;

  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t k, const BackRow<T, W>& row) const {
    T* const to = back + this->first + k;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) to[j * this->A.n] = row.q[j];
    to[2 * W * this->A.n] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T, W> kept(std::int64_t k) const {
    const T* const from = back + this->first + k;
    BackRow<T, W> row;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) row.q[j] = from[j * this->A.n];
    row.f = from[2 * W * this->A.n];
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t k, const T& v) const { x[k] = v; }
};
/// With pointers to its first row: they need no 64-bit products for each row.
template <class T>
struct StridedRows<T, 1> {
  using value_type = T;
  using index_type = std::int64_t;
  static constexpr int half_bandwidth = 1;
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
