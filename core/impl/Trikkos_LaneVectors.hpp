// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANEVECTORS_HPP
#define TRIKKOS_IMPL_LANEVECTORS_HPP

#include <cstring>
#include <impl/Trikkos_System.hpp>

/// \file
/// A row of as many systems as there are SIMD lanes, from memory and back.

namespace Trikkos::Impl {

/// A bit for each lane.
template <class T>
inline constexpr unsigned all_lanes = (1u << lane_count<T>)-1;

/// All lanes at once: set one by one, each would cost an instruction on the whole vector.
template <class T, class At, int... l>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> gathered(const At& at, std::integer_sequence<int, l...>) {
  using V = Lanes<T>;
  if constexpr (is_complex_v<T>)
    return V{Real<V>{at(l).real()...}, Real<V>{at(l).imag()...}};
  else
    return V{at(l)...};
}

/// Rows of each lane that `load_rows` brings at once.
#if defined(__AVX__) && !defined(__CUDA_ARCH__)
template <class T>
inline constexpr int rows_at_once = is_complex_v<T> ? 1 : 16 / static_cast<int>(sizeof(T));

/// 16 bytes from each of p, p + step, ...
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> load_parts(const T* p, std::int64_t step) {
  const auto part = [&](int i) {
    return _mm_loadu_ps(reinterpret_cast<const float*>(p + i * step));
  };
#  if defined(__AVX512F__)
  __m512 v = _mm512_castps128_ps512(part(0));
  v = _mm512_insertf32x4(v, part(1), 1);
  v = _mm512_insertf32x4(v, part(2), 2);
  return (Lanes<T>)_mm512_insertf32x4(v, part(3), 3);
#  else
  return (Lanes<T>)_mm256_insertf128_ps(_mm256_castps128_ps256(part(0)), part(1), 1);
#  endif
}
/// Of every 16 bytes of a and b, the first (`high` 0) or last halves by turns.
template <int high, class V, int... l>
KOKKOS_FORCEINLINE_FUNCTION V unpacked(const V& a, const V& b, std::integer_sequence<int, l...>) {
  constexpr int part = 16 / sizeof(LaneNumber<V>), width = sizeof...(l);
  return shuffled(a, b,
                  std::integer_sequence<int, (l % 2 * width + l / part * part + high * part / 2 +
                                              l % part / 2)...>{});
}
/// p[l step + i] to lane l of rows[i]. One by one, each number takes an instruction or two.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void load_rows(const T* p, std::int64_t step,
                                           Lanes<T> (&rows)[rows_at_once<T>]) {
  using V = Lanes<T>;
  constexpr int count = rows_at_once<T>;
  V part[count];
  for (int i = 0; i < count; ++i) part[i] = load_parts(p + i * step, count * step);
  constexpr auto lanes = std::make_integer_sequence<int, lane_count<T>>{};
  if constexpr (count == 2) {
    rows[0] = unpacked<0>(part[0], part[1], lanes);
    rows[1] = unpacked<1>(part[0], part[1], lanes);
  } else {
    using Pairs = Lanes<double>;
    constexpr auto pairs = std::make_integer_sequence<int, lane_count<double>>{};
    const auto low = (Pairs)unpacked<0>(part[0], part[1], lanes),
               other_low = (Pairs)unpacked<0>(part[2], part[3], lanes),
               high = (Pairs)unpacked<1>(part[0], part[1], lanes),
               other_high = (Pairs)unpacked<1>(part[2], part[3], lanes);
    rows[0] = (V)unpacked<0>(low, other_low, pairs);
    rows[1] = (V)unpacked<1>(low, other_low, pairs);
    rows[2] = (V)unpacked<0>(high, other_high, pairs);
    rows[3] = (V)unpacked<1>(high, other_high, pairs);
  }
}
/// Lane l of a and b to p[l step] and the place behind it: half as many stores as one by one.
template <int... i>
KOKKOS_FORCEINLINE_FUNCTION void store_parts(double* p, std::int64_t step, const Lanes<double>& v,
                                             std::integer_sequence<int, i...>) {
#  if defined(__AVX512F__)
  // masked, as g++ 12 warns of what the other one begins with
  (_mm_storeu_ps(reinterpret_cast<float*>(p + i * step),
                 _mm512_maskz_extractf32x4_ps(0xf, (__m512)v, i)),
   ...);
#  else
  (_mm_storeu_pd(p + i * step, _mm256_extractf128_pd((__m256d)v, i)), ...);
#  endif
}
template <class T>
inline constexpr bool stores_in_pairs = std::is_same_v<T, double>;
KOKKOS_FORCEINLINE_FUNCTION void store_pair(double* p, std::int64_t step, const Lanes<double>& a,
                                            const Lanes<double>& b) {
  constexpr auto lanes = std::make_integer_sequence<int, lane_count<double>>{};
  constexpr auto parts = std::make_integer_sequence<int, lane_count<double> / 2>{};
  store_parts(p, 2 * step, unpacked<0>(a, b, lanes), parts);
  store_parts(p + step, 2 * step, unpacked<1>(a, b, lanes), parts);
}
#else
template <class T>
inline constexpr int rows_at_once = 1;
template <class T>
inline constexpr bool stores_in_pairs = false;
#endif

/// One scalar in all of them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> in_all_lanes(const T& v) {
  if constexpr (is_complex_v<T>)
    return {same_in_lanes<Real<Lanes<T>>>(v.real()), same_in_lanes<Real<Lanes<T>>>(v.imag())};
  else
    return same_in_lanes<Lanes<T>>(v);
}

/// As many numbers as lanes, side by side.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> load_adjacent(const T* p) {
  if constexpr (is_complex_v<T>) {
    return gathered<T>([&](int l) { return p[l]; },
                       std::make_integer_sequence<int, lane_count<T>>{});
  } else {
    Lanes<T> v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }
}
/// Row i of the first systems, of one slab; lanes from `count` on repeat the last of them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> load_lanes(const Vectors<const T>& from, int count,
                                                std::int64_t i) {
  const T* const p = from.data + i * from.row_stride;
  const std::int64_t stride = from.system_stride;
  constexpr auto lanes = std::make_integer_sequence<int, lane_count<T>>{};
  if (count < lane_count<T>)
    return gathered<T>([&](int l) { return p[(l < count ? l : count - 1) * stride]; }, lanes);
  if (stride == 1) return load_adjacent(p);
  return gathered<T>([&](int l) { return p[l * stride]; }, lanes);
}

/// What to ask for at row i of n: some rows later, of the same systems or of those that come next,
/// `step` systems further on. Of systems side by side, each a stream and so more than the hardware
/// follows, the line of one lane, by turns; of others, whose rows may lie in a page each, a row of
/// all lanes.
template <class T>
class RowAhead {
  static constexpr int width = lane_count<T>;

 public:
  KOKKOS_FORCEINLINE_FUNCTION RowAhead(std::int64_t i, std::int64_t n, int step = width) {
    const std::int64_t ahead = i + 2 * width;
    const bool is_next = ahead >= n;
    m_row = is_next ? ahead - n : ahead;
    m_first = is_next ? step : 0;
    m_lane = i & (width - 1);
  }
  template <bool to_write, class Number>
  KOKKOS_FORCEINLINE_FUNCTION void ask(const Vectors<Number>& of) const {
    const std::int64_t lane = of.system_stride > of.row_stride ? m_lane : 0;
    ask<to_write>(of.data + m_row * of.row_stride + (m_first + lane) * of.system_stride);
  }
  /// The same where the rows of a system are adjacent.
  template <bool to_write, class Number>
  KOKKOS_FORCEINLINE_FUNCTION void ask_contiguous(const Vectors<Number>& of) const {
    ask<to_write>(of.data + m_row + (m_first + m_lane) * of.system_stride);
  }

 private:
  template <bool to_write, class Number>
  KOKKOS_FORCEINLINE_FUNCTION static void ask([[maybe_unused]] const Number* p) {
    [[maybe_unused]] constexpr int second_level = 2;
    KOKKOS_IF_ON_HOST((__builtin_prefetch(p, to_write, second_level);))
  }

  std::int64_t m_row, m_first, m_lane;
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void store_adjacent(T* p, const Lanes<T>& v) {
  if constexpr (is_complex_v<T>)
    for (int l = 0; l < lane_count<T>; ++l) p[l] = lane(v, l);
  else
    std::memcpy(p, &v, sizeof(v));  // one store, of which more can wait for memory
}
/// Where `stored` has a bit.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void store_lanes(const Vectors<T>& to, unsigned stored, std::int64_t i,
                                             const Lanes<T>& v) {
  T* const p = to.data + i * to.row_stride;
  if (stored == all_lanes<T>) {
    if (to.system_stride == 1) return store_adjacent(p, v);
    for (int l = 0; l < lane_count<T>; ++l) p[l * to.system_stride] = lane(v, l);
  } else {
    for (int l = 0; l < lane_count<T>; ++l)
      if (stored >> l & 1) p[l * to.system_stride] = lane(v, l);
  }
}

}  // namespace Trikkos::Impl

#endif
