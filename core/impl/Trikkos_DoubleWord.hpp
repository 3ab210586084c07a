// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DOUBLEWORD_HPP
#define TRIKKOS_IMPL_DOUBLEWORD_HPP

#include <impl/Trikkos_Scalar.hpp>

namespace Trikkos::Impl {

/// A sum of products with twice the digits of R (double-double where that is double): error-free
/// products (fma) and sums (two-sum).
template <class R>
class DoubleWord {
 public:
  DoubleWord() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit DoubleWord(R v) : m_high(v) {}

  KOKKOS_FORCEINLINE_FUNCTION void add(R v) {
    const R sum = m_high + v, back = sum - m_high;
    m_low += (m_high - (sum - back)) + (v - back);
    m_high = sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(R a, R b) {
    const R p = rounded_product(a, b);
    add(p);
    m_low += Kokkos::fma(a, b, -p);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(R a, const DoubleWord& b) {
    add_product(a, b.m_high);
    m_low += a * b.m_low;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const DoubleWord& v) {
    add(v.m_high);
    m_low += v.m_low;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(const DoubleWord& a, const DoubleWord& b) {
    add_product(a.m_high, b);
    m_low += a.m_low * b.m_high;
  }
  KOKKOS_FORCEINLINE_FUNCTION R value() const { return m_high + m_low; }
  /// Times a power of two, with the words in order again: what cancelled has left a long low one.
  KOKKOS_FORCEINLINE_FUNCTION DoubleWord times_power(R power) const {
    const R high = m_high + m_low;
    return {high * power, (m_low - (high - m_high)) * power};
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION DoubleWord(R high, R low) : m_high(high), m_low(low) {}

  /// nvcc would make one operation of the product and the sum that it goes into, even though the
  /// product is used elsewhere, too: the errors of both would no longer be known.
  static KOKKOS_FORCEINLINE_FUNCTION R rounded_product(R a, R b) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(R) == sizeof(double))
      return __dmul_rn(a, b);
    else
      return __fmul_rn(a, b);
#else
    return a * b;
#endif
  }

  R m_high = 0, m_low = 0;
};

/// The same of real or complex numbers.
template <class T>
class DoubleWords {
  using R = Real<T>;

 public:
  DoubleWords() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit DoubleWords(const T& v) {
    if constexpr (is_complex_v<T>) {
      m_part[0] = DoubleWord<R>(v.real());
      m_part[1] = DoubleWord<R>(v.imag());
    } else {
      m_part[0] = DoubleWord<R>(v);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION T value() const {
    if constexpr (is_complex_v<T>)
      return {m_part[0].value(), m_part[1].value()};
    else
      return m_part[0].value();
  }

  KOKKOS_FORCEINLINE_FUNCTION DoubleWords times_power(R power) const {
    DoubleWords r;
    r.m_part[0] = m_part[0].times_power(power);
    if constexpr (is_complex_v<T>) r.m_part[1] = m_part[1].times_power(power);
    return r;
  }

  /// a x + b y
  KOKKOS_FORCEINLINE_FUNCTION friend DoubleWords sum_of_products(const T& a, const DoubleWords& x,
                                                                 const T& b, const DoubleWords& y) {
    DoubleWords r;
    r.add_product(a, x);
    r.add_product(b, y);
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const DoubleWords& x) {
    m_part[0].add(x.m_part[0]);
    if constexpr (is_complex_v<T>) m_part[1].add(x.m_part[1]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(const T& a, const DoubleWords& x) {
    if constexpr (is_complex_v<T>) {
      m_part[0].add_product(a.real(), x.m_part[0]);
      m_part[0].add_product(-a.imag(), x.m_part[1]);
      m_part[1].add_product(a.real(), x.m_part[1]);
      m_part[1].add_product(a.imag(), x.m_part[0]);
    } else {
      m_part[0].add_product(a, x.m_part[0]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(const DoubleWords& a, const DoubleWords& x) {
    if constexpr (is_complex_v<T>) {
      m_part[0].add_product(a.m_part[0], x.m_part[0]);
      m_part[0].add_product(a.m_part[1].times_power(R(-1)), x.m_part[1]);
      m_part[1].add_product(a.m_part[0], x.m_part[1]);
      m_part[1].add_product(a.m_part[1], x.m_part[0]);
    } else {
      m_part[0].add_product(a.m_part[0], x.m_part[0]);
    }
  }

 private:
  // Not [[no_unique_address]] members: nvcc 13 counts their bytes in one place and not in another.
  DoubleWord<R> m_part[is_complex_v<T> ? 2 : 1];  // real, imaginary
};

}  // namespace Trikkos::Impl

#endif
