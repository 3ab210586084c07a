// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COLUMNS_HPP
#define TRIKKOS_IMPL_COLUMNS_HPP

#include <impl/Trikkos_Fused.hpp>

/// \file
/// Systems with one matrix: its coefficients are eliminated once for all of them. A recurrence is
/// written for a number V; the coefficients of its rows are `Coefficient<V>`, right-hand sides and
/// unknowns `Unknown<V>`. Both are V itself, but for `SameMatrix`.

namespace Trikkos::Impl {

/// A number of each of K systems. Whatever is done with them is done with each by itself, as if it
/// were alone.
template <class T, int K>
struct Columns {
  T of[K];
};

/// The V of K systems with the same matrix.
template <class T, int K>
struct SameMatrix {};
template <class T, int K>
struct RealOf<SameMatrix<T, K>> : RealOf<T> {};

template <class V>
struct NumbersOf {
  using Coefficient = V;
  using Unknown = V;
  static constexpr int systems = 1;
};
template <class T, int K>
struct NumbersOf<SameMatrix<T, K>> {
  using Coefficient = T;
  using Unknown = Columns<T, K>;
  static constexpr int systems = K;
};
template <class V>
using Coefficient = typename NumbersOf<V>::Coefficient;
template <class V>
using Unknown = typename NumbersOf<V>::Unknown;
template <class V>
inline constexpr int systems_of = NumbersOf<V>::systems;

/// The V of so many systems.
template <class T, int K>
using NumberOf = std::conditional_t<K == 1, T, SameMatrix<T, K>>;

/// That of the j-th system.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION const V& column(const V& v, int) {
  return v;
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V& column(V& v, int) {
  return v;
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION const T& column(const Columns<T, K>& v, int j) {
  return v.of[j];
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION T& column(Columns<T, K>& v, int j) {
  return v.of[j];
}
/// f(j) for each.
template <class U, class F>
KOKKOS_FORCEINLINE_FUNCTION U columns_from(const F& f) {
  constexpr int count = sizeof(U) / sizeof(f(0));
  U r;
  TRIKKOS_UNROLL(count)
  for (int j = 0; j < count; ++j) column(r, j) = f(j);
  return r;
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION Unknown<V> zero_unknown() {
  return columns_from<Unknown<V>>([](int) { return constant<Coefficient<V>>(0); });
}

template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> operator-(const Columns<T, K>& a) {
  return columns_from<Columns<T, K>>([&](int j) -> T { return -a.of[j]; });
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> operator-(const Columns<T, K>& a,
                                                    const Columns<T, K>& b) {
  return columns_from<Columns<T, K>>([&](int j) -> T { return a.of[j] - b.of[j]; });
}
template <class T, int K, class A>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> operator*(const A& a, const Columns<T, K>& b) {
  return columns_from<Columns<T, K>>([&](int j) -> T { return a * b.of[j]; });
}
template <class T, int K, class A>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> operator*(const Columns<T, K>& a, const A& b) {
  return columns_from<Columns<T, K>>([&](int j) -> T { return a.of[j] * b; });
}
template <class T, int K, class A>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> product(const A& a, const Columns<T, K>& b) {
  return columns_from<Columns<T, K>>([&](int j) -> T { return product(a, b.of[j]); });
}
template <class T, int K, class A>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> fused(const A& a, const Columns<T, K>& b,
                                                const Columns<T, K>& c) {
  return columns_from<Columns<T, K>>([&](int j) -> T { return fused(a, b.of[j], c.of[j]); });
}
template <class T, int K, class A, class C>
KOKKOS_FORCEINLINE_FUNCTION Columns<T, K> difference_of_products(const A& a, const Columns<T, K>& b,
                                                                 const C& c,
                                                                 const Columns<T, K>& d) {
  return columns_from<Columns<T, K>>(
      [&](int j) -> T { return difference_of_products(a, b.of[j], c, d.of[j]); });
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Real<T> finite_probe(const Columns<T, K>& v) {
  Real<T> probe = finite_probe(v.of[0]);
  TRIKKOS_UNROLL(K - 1)
  for (int j = 1; j < K; ++j) probe += finite_probe(v.of[j]);
  return probe;
}

}  // namespace Trikkos::Impl

#endif
