// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SCALEDNUMBER_HPP
#define TRIKKOS_IMPL_SCALEDNUMBER_HPP

#include <impl/Trikkos_DoubleWord.hpp>
#include <impl/Trikkos_Fused.hpp>

/// \file
/// Numbers with an exponent of their own, so that no product of any number of them overflows or
/// underflows: `Factor` with the digits of T, `Scaled` with twice as many.

namespace Trikkos::Impl {

/// 2^0 as its exponent field.
template <class T>
inline constexpr int exponent_bias = ExponentField<Real<T>>::largest / 2;

/// 2^k; 0 where k <= -bias, infinite where k > bias.
template <class R>
KOKKOS_FORCEINLINE_FUNCTION R power_of_two(std::int64_t k) {
  constexpr std::int64_t bias = exponent_bias<R>;
  const std::int64_t low = k < -bias ? -bias : k, field = (low > bias ? bias + 1 : low) + bias;
  if constexpr (sizeof(R) == 8)
    return Kokkos::bit_cast<R>(field << 52);
  else
    return Kokkos::bit_cast<R>(static_cast<std::uint32_t>(field) << 23);
}

/// The exponent of zero: below all others, and sums of some such still are in range.
inline constexpr std::int64_t zero_exponent = -(std::int64_t(1) << 40);

/// k of the power of two, 2^-k, that `scale_for` the number is.
template <class R>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t exponent_of_scale(const R& scale) {
  return exponent_bias<R> -
         static_cast<std::int64_t>(exponent_field(scale) >> ExponentField<R>::mantissa);
}

/// m 2^e, the larger part of m in [1, 4), or near 1 where the number was subnormal.
template <class T>
struct Factor {
  T m;
  std::int64_t e;

  KOKKOS_FORCEINLINE_FUNCTION static Factor from(const T& v, std::int64_t e = 0) {
    if (v == T(0)) return {v, zero_exponent};
    const auto scale = scale_for<Real<T>>(exponent_field(v));
    return {v * scale, e + exponent_of_scale(scale)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Factor operator-() const { return {-m, e}; }
  KOKKOS_FORCEINLINE_FUNCTION Factor operator*(const Factor& b) const {
    const T v = product(m, b.m);
    return v == T(0) ? Factor{v, e + b.e} : from(v, e + b.e);
  }
  KOKKOS_FORCEINLINE_FUNCTION Factor operator+(const Factor& b) const {
    const std::int64_t most = e > b.e ? e : b.e;
    return from(m * power_of_two<Real<T>>(e - most) + b.m * power_of_two<Real<T>>(b.e - most),
                most);
  }
  KOKKOS_FORCEINLINE_FUNCTION T value() const { return m * power_of_two<Real<T>>(e); }
};

/// The same with twice the digits.
template <class T>
class Scaled {
  using R = Real<T>;
  using Words = DoubleWords<T>;

 public:
  Scaled() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit Scaled(const T& v) : Scaled(Words(v), 0) {}

  KOKKOS_FORCEINLINE_FUNCTION bool is_zero() const { return m_exponent == zero_exponent; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_finite() const { return finite_probe(m_words.value()) == 0; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t exponent() const { return m_exponent; }

  /// a x + b y
  KOKKOS_FORCEINLINE_FUNCTION friend Scaled sum_of_products(const Factor<T>& a, const Scaled& x,
                                                            const Factor<T>& b, const Scaled& y) {
    const std::int64_t ex = a.e + x.m_exponent, ey = b.e + y.m_exponent, e = ex > ey ? ex : ey;
    return Scaled(sum_of_products(a.m * power_of_two<R>(ex - e), x.m_words,
                                  b.m * power_of_two<R>(ey - e), y.m_words),
                  e);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Scaled sum_of_products(const Scaled& a, const Scaled& x,
                                                            const Scaled& b, const Scaled& y) {
    const std::int64_t ex = a.m_exponent + x.m_exponent, ey = b.m_exponent + y.m_exponent,
                       e = ex > ey ? ex : ey;
    Words w;
    w.add_product(a.m_words.times_power(power_of_two<R>(ex - e)), x.m_words);
    w.add_product(b.m_words.times_power(power_of_two<R>(ey - e)), y.m_words);
    return Scaled(w, e);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Scaled operator*(const Factor<T>& a, const Scaled& x) {
    Words w;
    w.add_product(a.m, x.m_words);
    return Scaled(w, a.e + x.m_exponent);
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Scaled operator*(const Scaled& a, const Scaled& x) {
    Words w;
    w.add_product(a.m_words, x.m_words);
    return Scaled(w, a.m_exponent + x.m_exponent);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scaled operator-() const {
    Scaled r = *this;
    r.m_words = m_words.times_power(R(-1));
    return r;
  }
  /// x / y, rounded once.
  KOKKOS_FORCEINLINE_FUNCTION friend Factor<T> quotient(const Scaled& x, const Scaled& y) {
    const T inverse = reciprocal(y.m_words.value());
    const T q = product(x.m_words.value(), inverse);
    Words rest = x.m_words;
    rest.add_product(-q, y.m_words);
    return Factor<T>::from(q + product(rest.value(), inverse), x.m_exponent - y.m_exponent);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Scaled(const Words& words, std::int64_t e) {
    const T v = words.value();
    const R scale = scale_for<R>(exponent_field(v));
    m_words = words.times_power(scale);
    m_exponent = v == T(0) ? zero_exponent : e + exponent_of_scale(scale);
  }

  Words m_words;
  std::int64_t m_exponent = zero_exponent;
};

}  // namespace Trikkos::Impl

#endif
