// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_FASTERROR_HPP
#define TRIKKOS_TEST_FASTERROR_HPP

#include <Reference.hpp>
#include <cmath>
#include <limits>

/// \file
/// Reference::backward_error about fifty times as fast, for searches and large n. Long double has
/// 11 bits more than double on x86, which leaves an error of 1e-19 in eta, and the range that
/// products of any doubles need. (Where it is no more than double: 2e-16, still far below the
/// bounds.) Test_Breaker.hpp compares the two.

namespace Test {

/// A sum of products.
template <class T>
struct LongSum {
  long double re = 0;

  void add(T a, T b) { re += static_cast<long double>(a) * b; }
  void subtract(T a) { re -= a; }
  bool is_finite() const { return std::isfinite(re); }
  long double square() const { return re * re; }
};
template <class R>
struct LongSum<Kokkos::complex<R>> {
  long double re = 0, im = 0;

  void add(Kokkos::complex<R> a, Kokkos::complex<R> b) {
    const long double ar = a.real(), ai = a.imag();
    re += ar * b.real() - ai * b.imag();
    im += ar * b.imag() + ai * b.real();
  }
  void subtract(Kokkos::complex<R> a) {
    re -= a.real();
    im -= a.imag();
  }
  bool is_finite() const { return std::isfinite(re) && std::isfinite(im); }
  long double square() const { return re * re + im * im; }
};

template <class T>
long double long_square(T v) {
  LongSum<T> sum;
  sum.subtract(v);
  return sum.square();
}
inline long double long_modulus(float v) { return std::fabs(v); }
inline long double long_modulus(double v) { return std::fabs(v); }
template <class R>
long double long_modulus(Kokkos::complex<R> v) {
  return std::sqrt(long_square(v));
}

/// Row i of A times x.
template <class T>
LongSum<T> row_times(const Reference::HostSystem<T>& A, const std::vector<T>& x, std::int64_t i) {
  const std::int64_t n = A.size();
  LongSum<T> sum;
  if (i > 0 || A.periodic) sum.add(A.lower[i], x[i > 0 ? i - 1 : n - 1]);
  sum.add(A.diag[i], x[i]);
  if (i < n - 1 || A.periodic) sum.add(A.upper[i], x[i < n - 1 ? i + 1 : 0]);
  return sum;
}

/// |b - A x| / (|A| |x| + |b|) in maximum norms; NaN unless all numbers are finite.
template <class T>
double fast_backward_error(const Reference::HostSystem<T>& A, const std::vector<T>& x,
                           const std::vector<T>& b) {
  const std::int64_t n = A.size();
  if (n < 3) return Reference::backward_error(A, x, b);  // entries of a ring may share a place
  long double error = 0, rows = 0, size_of_x = 0, size_of_b = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    LongSum<T> r = row_times(A, x, i);
    r.subtract(b[i]);
    if (!r.is_finite()) return std::numeric_limits<double>::quiet_NaN();
    error = std::max(error, r.square());
    long double row = long_modulus(A.diag[i]);
    if (i > 0 || A.periodic) row += long_modulus(A.lower[i]);
    if (i < n - 1 || A.periodic) row += long_modulus(A.upper[i]);
    rows = std::max(rows, row);
    size_of_x = std::max(size_of_x, long_square(x[i]));
    size_of_b = std::max(size_of_b, long_square(b[i]));
  }
  const long double scale = rows * std::sqrt(size_of_x) + std::sqrt(size_of_b);
  return error == 0 ? 0. : static_cast<double>(std::sqrt(error) / scale);
}

/// |A x - b| / |b| in Euclidean norms (Reference::relative_residual, but fast).
template <class T>
double fast_relative_residual(const Reference::HostSystem<T>& A, const std::vector<T>& x,
                              const std::vector<T>& b) {
  if (A.size() < 3) return Reference::relative_residual(A, x, b);
  long double error = 0, scale = 0;
  for (std::int64_t i = 0; i < A.size(); ++i) {
    LongSum<T> r = row_times(A, x, i);
    r.subtract(b[i]);
    error += r.square();
    scale += long_square(b[i]);
  }
  return error == 0 ? 0. : static_cast<double>(std::sqrt(error / scale));
}

/// A x, rounded once (Reference::multiply, but fast).
template <class T>
std::vector<T> fast_multiply(const Reference::HostSystem<T>& A, const std::vector<T>& x) {
  if (A.size() < 3) return Reference::multiply(A, x);
  std::vector<T> b(x.size());
  for (std::int64_t i = 0; i < A.size(); ++i) {
    const LongSum<T> sum = row_times(A, x, i);
    if constexpr (std::is_floating_point_v<T>) {
      b[i] = static_cast<T>(sum.re);
    } else {
      using R = typename T::value_type;
      b[i] = T(static_cast<R>(sum.re), static_cast<R>(sum.im));
    }
  }
  return b;
}

}  // namespace Test

#endif
