// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SCALAR_HPP
#define TRIKKOS_IMPL_SCALAR_HPP

#include <impl/Trikkos_Lanes.hpp>

/// \file
/// The few operations that the recurrences need beyond + - *, for real and complex scalars and for
/// SIMD lanes of real scalars. A recurrence written with them runs one partition a device thread or
/// `lane_count` partitions a host thread, from one source.

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#  error \
      "Trikkos needs Inf, NaN and sums in the order in which they are written: compile without \
-ffast-math (-Ofast, -ffinite-math-only, -fassociative-math, -freciprocal-math)"
#endif

/// Unrolls the next loop `count` times in device code; host compilers choose for themselves.
#if defined(__CUDA_ARCH__)
#  define TRIKKOS_PRAGMA(text) _Pragma(#  text)
#  define TRIKKOS_UNROLL(count) TRIKKOS_PRAGMA(unroll count)
#else
#  define TRIKKOS_UNROLL(count)
#endif

/// Before a function for hosts and devices that calls what it is given, on hosts a host's function:
/// nvcc would warn of that.
#ifdef __CUDACC__
#  define TRIKKOS_CALLS_ITS_ARGUMENT _Pragma("nv_exec_check_disable")
#else
#  define TRIKKOS_CALLS_ITS_ARGUMENT
#endif

namespace Trikkos::Impl {

/// std::integral_constant<int, i>, of which nvcc knows that it is for devices.
template <int i>
struct Constant {
  KOKKOS_FORCEINLINE_FUNCTION constexpr operator int() const { return i; }
};
TRIKKOS_CALLS_ITS_ARGUMENT
template <int begin, class F, int... i>
KOKKOS_FORCEINLINE_FUNCTION void for_constants(const F& f, std::integer_sequence<int, i...>) {
  (f(Constant<begin + i>{}), ...);
}
/// f(i) for i in [begin, end), each a constant: loops over the parts of an array stay in registers
/// then, which no pragma makes sure of where bounds depend on another loop.
template <int begin, int end, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_constants(const F& f) {
  for_constants<begin>(f, std::make_integer_sequence<int, (end > begin ? end - begin : 0)>{});
}

/// Lanes of complex numbers: their real parts and their imaginary parts.
template <class V>
struct ComplexLanes {
  V re, im;

  KOKKOS_FORCEINLINE_FUNCTION const V& real() const { return re; }
  KOKKOS_FORCEINLINE_FUNCTION const V& imag() const { return im; }

  KOKKOS_FORCEINLINE_FUNCTION ComplexLanes operator-() const { return {-re, -im}; }
  KOKKOS_FORCEINLINE_FUNCTION ComplexLanes operator+(const ComplexLanes& b) const {
    return {re + b.re, im + b.im};
  }
  KOKKOS_FORCEINLINE_FUNCTION ComplexLanes operator-(const ComplexLanes& b) const {
    return {re - b.re, im - b.im};
  }
  KOKKOS_FORCEINLINE_FUNCTION ComplexLanes operator*(const ComplexLanes& b) const {
    return {re * b.re - im * b.im, re * b.im + im * b.re};
  }
  KOKKOS_FORCEINLINE_FUNCTION ComplexLanes operator*(const V& b) const { return {re * b, im * b}; }
  KOKKOS_FORCEINLINE_FUNCTION ComplexLanes& operator-=(const ComplexLanes& b) {
    return *this = *this - b;
  }
};
template <class T>
struct LanesOf<Kokkos::complex<T>> {
  using type = ComplexLanes<typename LanesOf<T>::type>;
  static constexpr int count = LanesOf<T>::count;
};
template <class V>
inline constexpr bool is_complex_lanes_v = false;
template <class V>
inline constexpr bool is_complex_lanes_v<ComplexLanes<V>> = true;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION const T& lane(const T& v, int) {
  return v;
}
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION auto lane(const V& v, int i) { return v[i]; }
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto lane(const ComplexLanes<V>& v, int i) {
  return Kokkos::complex<LaneNumber<V>>(v.re[i], v.im[i]);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(T& v, int, const T& s) {
  v = s;
}
template <class V, class T>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION void set_lane(V& v, int i, const T& s) {
  v[i] = s;
}
template <class V, class T>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(ComplexLanes<V>& v, int i, const Kokkos::complex<T>& s) {
  v.re[i] = s.real();
  v.im[i] = s.imag();
}

// ---- real type behind a scalar or a lane

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<Kokkos::complex<T>> {
  using type = T;
};
template <class V>
struct RealOf<ComplexLanes<V>> {
  using type = V;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
inline constexpr bool is_complex_v = !std::is_same_v<T, Real<T>>;

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V conjugate(const V& v) {
  if constexpr (is_complex_v<V>)
    return {v.real(), -v.imag()};
  else
    return v;
}

/// A number in every lane.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V constant(double value) {
  if constexpr (is_complex_lanes_v<V>)
    return {constant<Real<V>>(value), constant<Real<V>>(0)};
  else if constexpr (is_lanes_v<V>)
    return same_in_lanes<V>(static_cast<LaneNumber<V>>(value));
  else
    return V(static_cast<Real<V>>(value));
}

// ---- select, magnitude, reciprocal

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V select(bool mask, const V& yes, const V& no) {
  return mask ? yes : no;
}
template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION ComplexLanes<V> select(const Mask& mask, const ComplexLanes<V>& yes,
                                                   const ComplexLanes<V>& no) {
  return {select(mask, yes.re, no.re), select(mask, yes.im, no.im)};
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
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V magnitude(const V& v) {
  using Word = WordOf<LaneNumber<V>>;
  return from_bits<V>(bits(v) & same_words<V>(static_cast<Word>(~Word(0)) >> 1));
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V magnitude(const ComplexLanes<V>& v) {
  const V re = magnitude(v.re), im = magnitude(v.im);
  return select(im > re, im, re);
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION V reciprocal(const V& v) {
#if defined(__CUDA_ARCH__)
  // The hardware's 20 or 23 bits and one step, to 1 unit in the last place, without the branch for
  // subnormal results. A zero or subnormal v, no pivot once rows are scaled, gives NaN.
  if constexpr (std::is_same_v<V, double>) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    double e = Kokkos::fma(-v, r, 1.0);
    e = Kokkos::fma(e, e, e);
    return Kokkos::fma(r, e, r);
  } else if constexpr (std::is_same_v<V, float>) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return Kokkos::fma(r, Kokkos::fma(-v, r, 1.0f), r);
  }
#endif
  return constant<V>(1) / v;
}

// ---- row scaling

/// The exponent field of IEEE numbers and where it lies in the word that holds it: for double the
/// upper half, which is all a device needs to look at.
template <class T>
struct ExponentField {
  using Word = std::uint32_t;
  static constexpr int mantissa = sizeof(T) == 8 ? 20 : 23, largest = sizeof(T) == 8 ? 2047 : 255;
  static constexpr Word mask = Word(largest) << mantissa;
};

KOKKOS_FORCEINLINE_FUNCTION std::uint32_t larger_words(std::uint32_t a, std::uint32_t b) {
  return a > b ? a : b;
}

/// The exponent field of v: of the larger part of a complex number, of each lane.
template <class T>
requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION std::uint32_t exponent_field(
    const T& v) {
  if constexpr (sizeof(T) == 8)
    return static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(v) >> 32) &
           ExponentField<T>::mask;
  else
    return Kokkos::bit_cast<std::uint32_t>(v) & ExponentField<T>::mask;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t exponent_field(const Kokkos::complex<T>& v) {
  return larger_words(exponent_field(v.real()), exponent_field(v.imag()));
}
/// For lanes the field stays in place in integers of the lanes' size.
template <class V>
struct LaneField {
  using Word = WordOf<LaneNumber<V>>;
  static constexpr int mantissa = sizeof(Word) == 8 ? 52 : 23;
  static constexpr Word largest = sizeof(Word) == 8 ? 2047 : 255;
};
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION auto exponent_field(const V& v) {
  using F = LaneField<V>;
  return bits(v) & same_words<V>(F::largest << F::mantissa);
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto exponent_field(const ComplexLanes<V>& v) {
  return larger_words(exponent_field(v.re), exponent_field(v.im));
}

/// Of the largest of them.
template <class V, class... Rest>
requires(sizeof...(Rest) > 0)
    KOKKOS_FORCEINLINE_FUNCTION auto exponent_field(const V& first, const Rest&... rest) {
#if defined(__AVX512DQ__) && !defined(__CUDA_ARCH__)
  if constexpr (is_lanes_v<V>) {
    V modulus = first;
    ((modulus = larger_modulus(modulus, rest)), ...);
    return exponent_field(modulus);
  }
#endif
  auto field = exponent_field(first);
  ((field = larger_words(field, exponent_field(rest))), ...);
  return field;
}

/// The power of two that brings a number with this exponent field into [1, 4), subnormal numbers
/// near it, and Inf and NaN to no number at all: -Inf, which spoils what it multiplies.
template <class V, class Field>
KOKKOS_FORCEINLINE_FUNCTION V scale_for(const Field& field) {
  if constexpr (is_lanes_v<V>) {
    using F = LaneField<V>;
    const Field one = same_words<V>(typename F::Word(1) << F::mantissa);
    const Field s =
        same_words<V>((F::largest - 1) << F::mantissa) - field;  // wraps for Inf and NaN
    return from_bits<V>(larger_words(s, one));
  } else {
    using E = ExponentField<V>;
    constexpr std::uint32_t one = std::uint32_t(1) << E::mantissa;
    const std::uint32_t s = (std::uint32_t(E::largest - 1) << E::mantissa) - field;
    const std::uint32_t clamped = s > one ? s : one;
    if constexpr (sizeof(V) == 8)
      return Kokkos::bit_cast<V>(std::uint64_t(clamped) << 32);
    else
      return Kokkos::bit_cast<V>(clamped);
  }
}

/// 1 / v with one real division, by way of a power of two that keeps |v|^2 in range.
template <class C>
KOKKOS_FORCEINLINE_FUNCTION C complex_reciprocal(const C& v) {
  const Real<C> s = scale_for<Real<C>>(exponent_field(v)), re = v.real() * s, im = v.imag() * s;
  const Real<C> r = s / (re * re + im * im);
  return {re * r, -im * r};
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::complex<T> reciprocal(const Kokkos::complex<T>& v) {
  return complex_reciprocal(v);
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION ComplexLanes<V> reciprocal(const ComplexLanes<V>& v) {
  return complex_reciprocal(v);
}

/// Not a number where v is Inf or NaN, else zero: sums of it tell whether all terms were finite.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Real<V> finite_probe(const V& v) {
  if constexpr (is_complex_v<V>)
    return (v.real() + v.imag() * constant<Real<V>>(0)) * constant<Real<V>>(0);
  else
    return v * constant<V>(0);
}

}  // namespace Trikkos::Impl

#endif
