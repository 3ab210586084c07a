// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANES_HPP
#define TRIKKOS_IMPL_LANES_HPP

#include <Trikkos_Concepts.hpp>

/// \file
/// SIMD lanes of real numbers for host threads: the compilers' vector extension (g++, clang++).
///
/// nvcc reads recurrences that serve both kinds of machine twice, once for the host and once for
/// the device, and knows no vectors in the second reading. There, lanes are a struct of the same
/// size whose operations are declared and never called.

namespace Trikkos::Impl {

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

#endif

}  // namespace Trikkos::Impl

#endif
