// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FUSED_HPP
#define TRIKKOS_IMPL_FUSED_HPP

#include <impl/Trikkos_Scalar.hpp>

/// \file
/// Sums of products that are rounded the same way wherever they are inlined. A compiler may
/// contract a * b + c to one instruction here and not there; what two passes compute must be one
/// number. So recurrences that are repeated spell out each fused multiply-add. Where the target has
/// none, there is nothing to contract to, and a * b + c is always rounded twice.

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__) || \
    defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__AVX512F__) || defined(__aarch64__)
#  define TRIKKOS_HAVE_FMA 1
#else
#  define TRIKKOS_HAVE_FMA 0
#endif

namespace Trikkos::Impl {

/// a b + c
template <class T>
requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T fused(const T& a, const T& b,
                                                                         const T& c) {
#if TRIKKOS_HAVE_FMA
  return Kokkos::fma(a, b, c);
#else
  return a * b + c;
#endif
}

#if defined(__CUDA_ARCH__)
template <class V>
requires is_lanes_v<V> KOKKOS_FUNCTION V fused(const V&, const V&, const V&);
#else
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V fused(const V& a, const V& b, const V& c) {
  [[maybe_unused]] constexpr bool is_double = sizeof(LaneNumber<V>) == 8;
#  if defined(__AVX512F__)
  if constexpr (is_double)
    return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  else
    return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#  elif defined(__FMA__)
  if constexpr (is_double)
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  else
    return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#  elif TRIKKOS_HAVE_FMA
  V r{};
  for (int l = 0; l < lane_count<LaneNumber<V>>; ++l) r[l] = fused(a[l], b[l], c[l]);
  return r;
#  else
  return a * b + c;
#  endif
}
#endif

/// a b + c of complex b and c, a real or complex.
template <class V>
requires is_complex_v<V> KOKKOS_FORCEINLINE_FUNCTION V fused(const Real<V>& a, const V& b,
                                                             const V& c) {
  return {fused(a, b.real(), c.real()), fused(a, b.imag(), c.imag())};
}
template <class V>
requires is_complex_v<V> KOKKOS_FORCEINLINE_FUNCTION V fused(const V& a, const V& b, const V& c) {
  return {fused(a.real(), b.real(), fused(-a.imag(), b.imag(), c.real())),
          fused(a.real(), b.imag(), fused(a.imag(), b.real(), c.imag()))};
}

/// a b, b real or complex, a of b's type or real.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V product(const V& a, const V& b) {
  if constexpr (is_complex_v<V>)
    return {fused(a.real(), b.real(), -(a.imag() * b.imag())),
            fused(a.real(), b.imag(), a.imag() * b.real())};
  else
    return a * b;
}
template <class V>
requires is_complex_v<V> KOKKOS_FORCEINLINE_FUNCTION V product(const Real<V>& a, const V& b) {
  return {a * b.real(), a * b.imag()};
}

/// a b + c d and a b - c d, with c d rounded.
template <class A, class C, class V>
KOKKOS_FORCEINLINE_FUNCTION V sum_of_products(const A& a, const V& b, const C& c, const V& d) {
  return fused(a, b, product(c, d));
}
template <class A, class C, class V>
KOKKOS_FORCEINLINE_FUNCTION V difference_of_products(const A& a, const V& b, const C& c,
                                                     const V& d) {
  if constexpr (is_complex_v<V>)  // a minus before a sum of products may be taken into it, and a
    return fused(a, b, product(-c, d));  // zero then has the other sign
  else
    return fused(a, b, -product(c, d));
}

/// |v|^2, and with s added
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Real<V> square_of(const V& v) {
  if constexpr (is_complex_v<V>)
    return fused(v.real(), v.real(), v.imag() * v.imag());
  else
    return v * v;
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Real<V> add_square(const V& v, const Real<V>& s) {
  if constexpr (is_complex_v<V>)
    return fused(v.real(), v.real(), fused(v.imag(), v.imag(), s));
  else
    return fused(v, v, s);
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Real<V> sum_of_squares(const V& a, const V& b) {
  return add_square(a, square_of(b));
}

}  // namespace Trikkos::Impl

#endif
