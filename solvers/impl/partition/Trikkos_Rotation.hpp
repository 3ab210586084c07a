// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ROTATION_HPP
#define TRIKKOS_IMPL_ROTATION_HPP

#include <impl/Trikkos_Fused.hpp>

/// \file
/// Givens rotations of two rows A and B whose coefficients of one unknown are alpha and beta:
///
///   P = conj(c) A + conj(s) B   the pivot row
///   N = c B - s A               the row without that unknown       (c, s) = (alpha, beta) / h
///
/// The two combinations are orthogonal whatever h is; |alpha|^2 + |beta|^2 = h^2 only makes them as
/// long as the rows were. So a rough 1 / h will do, and is better than a precise one: in long
/// chains the errors of that all have one sign.

namespace Trikkos::Impl {

/// Squares below `square` count as zero. `root` is the largest 1 / h.
template <class V>
struct Tiny {
  static constexpr bool is_double = sizeof(WordOf<double>) == sizeof(V);
  static constexpr double square = is_double ? 0x1p-1000 : 0x1p-120;
  static constexpr double root = is_double ? 0x1p500 : 0x1p60;
  /// Squares above this are safe without a scaled column (`merge`).
  static constexpr double safe = is_double ? 0x1p-700 : 0x1p-60;
  /// So much of a number, added to another and taken away, leaves nothing of that below 1 / `root`.
  static constexpr double flush = is_double ? 0x1p-447 : 0x1p-36;
};
template <class V>
requires is_lanes_v<V>
struct Tiny<V> : Tiny<LaneNumber<V>> {
};

/// 1 / sqrt(v) (1 + delta), |delta| < 1e-4. Inf for 0 and, but for AVX-512, what is subnormal.
#if defined(__CUDA_ARCH__)
KOKKOS_FORCEINLINE_FUNCTION double rough_root(const double& v) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
  return r;
}
KOKKOS_FORCEINLINE_FUNCTION float rough_root(const float& v) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return __int_as_float(__float_as_int(r) & 0xffffff00);
}
template <class V>
requires is_lanes_v<V> KOKKOS_FUNCTION V rough_root(const V&);
#else
/// A step of third order from an integer's guess, in numbers or lanes: 1 / sqrt(1 - e) is nearly
/// 1 + e / 2 + 3 e^2 / 8, |e| < 0.07. NaN for Inf and NaN.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V refined_root(const V& v, const V& guess) {
  const V e = fused(-(v * guess), guess, constant<V>(1));
  const V rest = fused(constant<V>(0.3755322), e, constant<V>(0.5010938));  // within 2.6e-5
  return fused(guess * e, rest, guess + (v - v));
}
/// What is left of that: in float 14 bits. Where couplings fade, rows are multiplied by the same c
/// again and again, and the nearer that is to 1 the more do rounding errors of that add up.
template <class Word>
inline constexpr Word bits_of_root = static_cast<Word>(sizeof(Word) == 4 ? 0xfffffe00 : ~Word(0));
template <class T>
requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T rough_root(const T& v) {
#  if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8)
    return _mm_cvtsd_f64(_mm_rsqrt14_sd(_mm_setzero_pd(), _mm_set_sd(v)));
  else
    return _mm_cvtss_f32(_mm_rsqrt14_ss(_mm_setzero_ps(), _mm_set_ss(v)));
#  else
  using Word = WordOf<T>;
  constexpr Word magic =
      sizeof(T) == 8 ? static_cast<Word>(0x5fe6eb50c7b537a9) : static_cast<Word>(0x5f3759df);
  const Word guess = magic - (Kokkos::bit_cast<Word>(v) >> 1);
  const Word refined = Kokkos::bit_cast<Word>(refined_root(v, Kokkos::bit_cast<T>(guess)));
  if (v < Kokkos::Experimental::norm_min_v<T>) return Kokkos::Experimental::infinity_v<T>;
  return Kokkos::bit_cast<T>(static_cast<Word>(refined & bits_of_root<Word>));
#  endif
}
template <class V>
requires is_lanes_v<V> KOKKOS_FORCEINLINE_FUNCTION V rough_root(const V& v) {
#  if defined(__AVX512F__)
  if constexpr (sizeof(LaneNumber<V>) == 8)
    return (V)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)v);
  else
    return (V)_mm512_maskz_rsqrt14_ps(0xffff, (__m512)v);
#  else
  using Word = WordOf<LaneNumber<V>>;
  constexpr Word magic =
      sizeof(Word) == 8 ? static_cast<Word>(0x5fe6eb50c7b537a9) : static_cast<Word>(0x5f3759df);
  const V refined = refined_root(v, from_bits<V>(same_words<V>(magic) - half_words(bits(v)))),
          y = from_bits<V>(bits(refined) & same_words<V>(bits_of_root<Word>));
  using namespace Kokkos::Experimental;
  return select(v < constant<V>(norm_min_v<LaneNumber<V>>), constant<V>(infinity_v<double>), y);
#  endif
}
#endif

/// The same, but `Tiny::root` for squares that count as zero.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V clamped_root(const V& v) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<V, double>) {  // positive: ordered like the upper halves of its bits
    const int high = __double2hiint(rough_root(v));
    return __hiloint2double(high < 0x5f300000 ? high : 0x5f300000, 0);
  }
#endif
  const V tiny = constant<V>(Tiny<V>::square);
  return rough_root(select(v < tiny, tiny, v));
}

/// `alpha`, but 1 / `Tiny::root` where `h2`, its square and its partner's, counts as zero: c is 1
/// then.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V or_unit(const V& alpha, const Real<V>& h2) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<V, double>)  // what is left of alpha's lower half is rounding
    return __hiloint2double(__double2hiint(h2) < 0x01700000 ? 0x20b00000 : __double2hiint(alpha),
                            __double2loint(alpha));
#endif
  return select(h2 < constant<Real<V>>(Tiny<Real<V>>::square), constant<V>(1 / Tiny<Real<V>>::root),
                alpha);
}

/// 1 / v, precise, where y is about 1 / sqrt(v).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V reciprocal_from(const V& v, const V& y) {
#if defined(__AVX512F__) && !defined(__CUDA_ARCH__)
  if constexpr (is_lanes_v<V>) {
    const V one = constant<V>(1);
    V r = y * y;
    r = fused(r, fused(-v, r, one), r);
    return fused(r, fused(-v, r, one), r);
  }
#endif
  static_cast<void>(y);
  return reciprocal(v);
}

/// v, but zero where it is next to nothing beside another coefficient of its unknown, in rows of
/// norm 1. Couplings fade, and a CPU takes a hundred cycles for a product that is subnormal, as
/// those of two numbers that are left are not.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V flushed(const V& v, const V& beside) {
  const auto rounded = [](const Real<V>& part, const Real<V>& t) { return (part + t) - t; };
  const Real<V> small = constant<Real<V>>(Tiny<Real<V>>::flush);
  if constexpr (is_complex_v<V>) {
    const Real<V> t = small * (beside.real() + beside.imag());
    return {rounded(v.real(), t), rounded(v.imag(), t)};
  } else {
    return rounded(v, small * beside);
  }
}

/// Multiplies a column by a power of two, which is returned, that brings its largest entry near 1,
/// and so its squares into the number range.
template <class V, class... Entries>
KOKKOS_FORCEINLINE_FUNCTION Real<V> scale_column(V& first, Entries&... rest) {
  const auto s = scale_for<Real<V>>(exponent_field(first, rest...));
  first = product(s, first);
  ((rest = product(s, rest)), ...);
  return s;
}

/// The rotation that takes x out of N. p is the coefficient of x in P: not h^2 / h, which is zero
/// where h^2 is below the number range.
template <class V>
struct Rotation {
  V c, s, p;
  Real<V> h2;

  KOKKOS_FORCEINLINE_FUNCTION Rotation(const V& alpha, const V& beta)
      : Rotation(alpha, beta, sum_of_squares(alpha, beta)) {}
  /// `square`: about h^2.
  KOKKOS_FORCEINLINE_FUNCTION Rotation(const V& alpha, const V& beta, const Real<V>& square)
      : h2(square) {
    const Real<V> y = clamped_root(h2);
    c = product(y, or_unit(alpha, h2));
    s = product(y, beta);
    p = pivot(alpha, beta);
  }
  /// ... of coefficients that are brought near 1 first, so that only zeros count as zero.
  KOKKOS_FORCEINLINE_FUNCTION static Rotation scaled(const V& alpha, const V& beta) {
    V a = alpha, b = beta;
    scale_column(a, b);
    Rotation r(a, b);
    r.p = r.pivot(alpha, beta);
    return r;
  }
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION U pivot(const U& a, const U& b) const {
    return sum_of_products(conjugate(c), a, conjugate(s), b);
  }
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION U next(const U& a, const U& b) const {
    return difference_of_products(c, b, s, a);
  }
};

/// The rotation of two coefficients, as they are or scaled.
template <bool Scaled, class V>
KOKKOS_FORCEINLINE_FUNCTION Rotation<V> rotation(const V& alpha, const V& beta) {
  if constexpr (Scaled)
    return Rotation<V>::scaled(alpha, beta);
  else
    return Rotation<V>(alpha, beta);
}

/// Whether the number, or that of every lane, is safely above what counts as zero.
template <class R>
KOKKOS_FORCEINLINE_FUNCTION bool is_safe(const R& square) {
  bool safe = true;
  constexpr int lanes = sizeof(R) / sizeof(lane(R{}, 0));
  for (int l = 0; l < lanes; ++l) safe &= lane(square, l) > Tiny<R>::safe;
  return safe;
}

}  // namespace Trikkos::Impl

#endif
