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

/// Calls f(column, entry) for row i. (Reference::for_row takes remainders.)
template <class Matrix, class F>
void for_row_fast(const Matrix& A, std::int64_t i, const F& f) {
  const std::int64_t n = A.size();
  for (int j = -Matrix::half_bandwidth; j <= Matrix::half_bandwidth; ++j) {
    const std::int64_t column = i + j;
    if (column >= 0 && column < n)
      f(column, A.band(j)[i]);
    else if (A.periodic)
      f(column < 0 ? column + n : column - n, A.band(j)[i]);
  }
}
/// Entries of such a ring may share a place.
template <class Matrix>
bool is_tiny(const Matrix& A) {
  return A.size() < 2 * Matrix::half_bandwidth + 1;
}

/// Row i of A times x.
template <class Matrix, class T = typename Matrix::value_type>
LongSum<T> row_times(const Matrix& A, const std::vector<T>& x, std::int64_t i) {
  LongSum<T> sum;
  for_row_fast(A, i, [&](std::int64_t column, const T& v) { sum.add(v, x[column]); });
  return sum;
}

/// |b - A x| / (|A| |x| + |b|) in maximum norms; NaN unless all numbers are finite.
template <class Matrix, class T = typename Matrix::value_type>
double fast_backward_error(const Matrix& A, const std::vector<T>& x, const std::vector<T>& b) {
  const std::int64_t n = A.size();
  if (is_tiny(A)) return Reference::backward_error(A, x, b);
  long double error = 0, rows = 0, size_of_x = 0, size_of_b = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    LongSum<T> r = row_times(A, x, i);
    r.subtract(b[i]);
    if (!r.is_finite()) return std::numeric_limits<double>::quiet_NaN();
    error = std::max(error, r.square());
    long double row = 0;
    for_row_fast(A, i, [&](std::int64_t, const T& v) { row += long_modulus(v); });
    rows = std::max(rows, row);
    size_of_x = std::max(size_of_x, long_square(x[i]));
    size_of_b = std::max(size_of_b, long_square(b[i]));
  }
  const long double scale = rows * std::sqrt(size_of_x) + std::sqrt(size_of_b);
  return error == 0 ? 0. : static_cast<double>(std::sqrt(error) / scale);
}

/// |A x - b| / |b| in Euclidean norms (Reference::relative_residual, but fast).
template <class Matrix, class T = typename Matrix::value_type>
double fast_relative_residual(const Matrix& A, const std::vector<T>& x, const std::vector<T>& b) {
  if (is_tiny(A)) return Reference::relative_residual(A, x, b);
  long double error = 0, scale = 0;
  for (std::int64_t i = 0; i < A.size(); ++i) {
    LongSum<T> r = row_times(A, x, i);
    r.subtract(b[i]);
    error += r.square();
    scale += long_square(b[i]);
  }
  return error == 0 ? 0. : static_cast<double>(std::sqrt(error / scale));
}

/// A x, rounded once from long double (Reference::multiply, but fast).
template <class Matrix, class T = typename Matrix::value_type>
std::vector<T> fast_multiply(const Matrix& A, const std::vector<T>& x) {
  if (is_tiny(A)) return Reference::multiply(A, x);
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
