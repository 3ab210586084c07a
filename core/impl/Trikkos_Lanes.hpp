// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANES_HPP
#define TRIKKOS_IMPL_LANES_HPP

#include <Trikkos_Concepts.hpp>
#include <utility>

#if defined(__AVX__)
#  include <immintrin.h>
#endif

/// \file
/// SIMD lanes of real numbers for host threads: the compilers' vector extension (g++, clang++).
///
/// nvcc reads recurrences that serve both kinds of machine twice, once for the host and once for
/// the device, and knows no vectors in the second reading. There, lanes are a struct of the same
/// size whose operations are declared and never called.

namespace Trikkos::Impl {

/// Where all lanes branch by one bool: g++ 12 may make a select of it, by a mask whose bits are
/// those of the bool, which is one. The other lanes do not branch then.
KOKKOS_FORCEINLINE_FUNCTION void stay_a_branch() { KOKKOS_IF_ON_HOST((asm volatile("");)) }

#if defined(__AVX512F__)
inline constexpr int lane_bytes = 64;
#elif defined(__AVX__)
inline constexpr int lane_bytes = 32;
#else
inline constexpr int lane_bytes = 16;
#endif

/// The unsigned integer of T's size.
template <class T>
using WordOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

#if !defined(__CUDA_ARCH__)

template <class T>
struct LanesOf {
  typedef T type __attribute__((vector_size(lane_bytes)));
  typedef WordOf<T> words __attribute__((vector_size(lane_bytes)));
  static constexpr int count = lane_bytes / sizeof(T);
};

#else

template <class T>
struct alignas(lane_bytes) UnusedLanes {
  T v[lane_bytes / sizeof(T)];

  KOKKOS_FUNCTION T operator[](int) const;
  KOKKOS_FUNCTION T& operator[](int);
  KOKKOS_FUNCTION UnusedLanes operator-() const;
  KOKKOS_FUNCTION UnusedLanes operator!() const;
  KOKKOS_FUNCTION UnusedLanes operator+(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes operator-(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes operator*(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes operator/(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes operator&(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes operator|(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes& operator+=(const UnusedLanes&);
  KOKKOS_FUNCTION UnusedLanes& operator-=(const UnusedLanes&);
  KOKKOS_FUNCTION UnusedLanes& operator*=(const UnusedLanes&);
  KOKKOS_FUNCTION UnusedLanes<std::make_signed_t<WordOf<T>>> operator<(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes<std::make_signed_t<WordOf<T>>> operator>(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes<std::make_signed_t<WordOf<T>>> operator<=(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes<std::make_signed_t<WordOf<T>>> operator>=(const UnusedLanes&) const;
  KOKKOS_FUNCTION UnusedLanes<std::make_signed_t<WordOf<T>>> operator==(const UnusedLanes&) const;
};
template <class T>
struct LanesOf {
  using type = UnusedLanes<T>;
  using words = UnusedLanes<WordOf<T>>;
  static constexpr int count = lane_bytes / sizeof(T);
};

#endif

template <class T>
using Lanes = typename LanesOf<T>::type;
template <class T>
inline constexpr int lane_count = LanesOf<T>::count;

template <class V>
inline constexpr bool is_lanes_v =
    std::is_same_v<V, Lanes<float>> || std::is_same_v<V, Lanes<double>>;

/// The number in each of V's lanes.
template <class V>
using LaneNumber = std::remove_cvref_t<decltype(std::declval<const V&>()[0])>;
template <class V>
using LaneWords = typename LanesOf<LaneNumber<V>>::words;

#if !defined(__CUDA_ARCH__)

template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V same_in_lanes(LaneNumber<V> value) {
  return V{} + value;
}
template <class Mask, class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V select(const Mask& mask, const V& yes,
                                                            const V& no) {
  return mask ? yes : no;
}
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION LaneWords<V> bits(const V& v) {
  return (LaneWords<V>)v;
}
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V from_bits(const LaneWords<V>& v) {
  return (V)v;
}
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION LaneWords<V> same_words(
    WordOf<LaneNumber<V>> w) {
  return LaneWords<V>{} + w;
}
template <class W>
KOKKOS_FORCEINLINE_FUNCTION W larger_words(const W& a, const W& b) {
  return a > b ? a : b;
}
template <class W>
KOKKOS_FORCEINLINE_FUNCTION W half_words(const W& a) {
  return a >> 1;
}
/// Lane l is the of[l]-th of a and b, one behind the other.
template <class V, int... of>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V shuffled(const V& a, const V& b,
                                                              std::integer_sequence<int, of...>) {
#  if defined(__clang__)
  return __builtin_shufflevector(a, b, of...);
#  else
  return __builtin_shuffle(a, b, LaneWords<V>{of...});
#  endif
}
#  if defined(__AVX512DQ__)
/// The larger modulus, in half the time that integers take; of a NaN and a number it is the number.
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V larger_modulus(const V& a, const V& b) {
  constexpr int of_moduli = 3, without_sign = 2 << 2;
  if constexpr (sizeof(LaneNumber<V>) == 8)
    return (V)_mm512_range_pd((__m512d)a, (__m512d)b, of_moduli | without_sign);
  else
    return (V)_mm512_range_ps((__m512)a, (__m512)b, of_moduli | without_sign);
}
#  endif

#else

template <class V>
requires is_lanes_v<V> KOKKOS_FUNCTION V same_in_lanes(LaneNumber<V>);
template <class Mask, class V>
requires is_lanes_v<V> KOKKOS_FUNCTION V select(const Mask&, const V&, const V&);
template <class V>
requires is_lanes_v<V> KOKKOS_FUNCTION LaneWords<V> bits(const V&);
template <class V>
requires is_lanes_v<V> KOKKOS_FUNCTION V from_bits(const LaneWords<V>&);
template <class V>
requires is_lanes_v<V> KOKKOS_FUNCTION LaneWords<V> same_words(WordOf<LaneNumber<V>>);
template <class W>
KOKKOS_FUNCTION W larger_words(const W&, const W&);
template <class W>
KOKKOS_FUNCTION W half_words(const W&);
template <class V, int... of>
requires is_lanes_v<V> KOKKOS_FUNCTION V shuffled(const V&, const V&,
                                                  std::integer_sequence<int, of...>);

#endif

}  // namespace Trikkos::Impl

#endif
