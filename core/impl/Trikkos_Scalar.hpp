// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SCALAR_HPP
#define TRIKKOS_IMPL_SCALAR_HPP

#include <Trikkos_Concepts.hpp>

/// \file
/// The few operations that the recurrences need beyond + - *, for real and complex scalars and for
/// SIMD lanes of real scalars. A recurrence written with them runs one partition a device thread or
/// `lane_count` partitions a host thread, from one source.

/// Unrolls the next loop `count` times in device code; host compilers choose for themselves.
#if defined(__CUDACC__)
#  define TRIKKOS_PRAGMA(text) _Pragma(#  text)
#  define TRIKKOS_UNROLL(count) TRIKKOS_PRAGMA(unroll count)
#else
#  define TRIKKOS_UNROLL(count)
#endif

namespace Trikkos::Impl {

// ---- lanes: the compilers' vector extension (g++, clang++ and nvcc's host pass know it)

#if defined(__AVX512F__)
inline constexpr int lane_bytes = 64;
#elif defined(__AVX__)
inline constexpr int lane_bytes = 32;
#else
inline constexpr int lane_bytes = 16;
#endif

template <class T>
struct LanesOf {  // complex numbers: one at a time
  using type = T;
  static constexpr int count = 1;
};
template <class T>
requires std::is_floating_point_v<T>
struct LanesOf<T> {
  typedef T type __attribute__((vector_size(lane_bytes)));
  static constexpr int count = lane_bytes / sizeof(T);
};
template <class T>
using Lanes = typename LanesOf<T>::type;
template <class T>
inline constexpr int lane_count = LanesOf<T>::count;

template <class V>
inline constexpr bool is_lanes_v =
    std::is_same_v<V, Lanes<float>> || std::is_same_v<V, Lanes<double>>;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION const T& lane(const T& v, int) {
  return v;
}
template <class V>
requires is_lanes_v<V>
inline auto lane(const V& v, int i) { return v[i]; }
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(T& v, int, const T& s) {
  v = s;
}
template <class V, class T>
requires is_lanes_v<V>
inline void set_lane(V& v, int i, const T& s) { v[i] = s; }

// ---- real type behind a scalar or a lane

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<Kokkos::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
inline constexpr bool is_complex_v = !std::is_same_v<T, Real<T>>;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T conjugate(const T& v) {
  if constexpr (is_complex_v<T>)
    return Kokkos::conj(v);
  else
    return v;
}

/// A number in every lane.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V constant(int value) {
  if constexpr (is_lanes_v<V>)
    return V{} + static_cast<std::remove_cvref_t<decltype(V{}[0])>>(value);
  else
    return V(value);
}

// ---- select, magnitude, reciprocal

template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION V select(Mask mask, const V& yes, const V& no) {
  return mask ? yes : no;
}

template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION void swap_if(Mask mask, V& x, V& y) {
  const V t = select(mask, y, x);
  y = select(mask, x, y);
  x = t;
}

/// Size for the choice of a pivot: max(|re|, |im|) for complex numbers, within sqrt(2) of |v|.
template <class T>
requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T magnitude(const T& v) {
  return Kokkos::abs(v);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T magnitude(const Kokkos::complex<T>& v) {
  const T re = Kokkos::abs(v.real()), im = Kokkos::abs(v.imag());
  return im > re ? im : re;
}
template <class V>
requires is_lanes_v<V>
inline V magnitude(const V& v) {
  using Bits = decltype(v > v);
  constexpr auto sign_off = ~(1ull << (8 * sizeof(v[0]) - 1));
  return (V)((Bits)v & (Bits{} + static_cast<std::remove_cvref_t<decltype(Bits{}[0])>>(sign_off)));
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V reciprocal(const V& v) {
  return constant<V>(1) / v;
}

// ---- row scaling

/// A power of two s such that s*m lies in [1, 4) for any normal m: scaling by it is exact. A
/// subnormal or zero m gets the largest such power.
template <class M>
KOKKOS_FORCEINLINE_FUNCTION M power_of_two_near_reciprocal(const M& m) {
  // exponent fields: s = 2^(2 bias - e), at least the smallest normal number
  if constexpr (is_lanes_v<M>) {
    using Bits = decltype(m > m);
    using Int = std::remove_cvref_t<decltype(Bits{}[0])>;
    constexpr int mantissa = sizeof(Int) == 8 ? 52 : 23, top = sizeof(Int) == 8 ? 2046 : 254;
    const Bits one = Bits{} + (Int(1) << mantissa);
    const Bits e = (Bits)m & (Bits{} + (Int(top + 1) << mantissa));
    const Bits s = (Bits{} + (Int(top) << mantissa)) - e;
    return (M)(s < one ? one : s);
  } else {
    using Int = std::conditional_t<sizeof(M) == 8, std::int64_t, std::int32_t>;
    constexpr int mantissa = sizeof(M) == 8 ? 52 : 23, top = sizeof(M) == 8 ? 2046 : 254;
    constexpr Int one = Int(1) << mantissa, fields = Int(top + 1) << mantissa;
    const Int s = (Int(top) << mantissa) - (Kokkos::bit_cast<Int>(m) & fields);
    return Kokkos::bit_cast<M>(s < one ? one : s);
  }
}

/// Not a number where v is Inf or NaN, else zero: sums of it tell whether all terms were finite.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Real<V> finite_probe(const V& v) {
  if constexpr (is_complex_v<V>)
    return (v.real() + v.imag() * 0) * 0;
  else
    return v * constant<V>(0);
}

}  // namespace Trikkos::Impl

#endif
