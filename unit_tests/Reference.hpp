// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_REFERENCE_HPP
#define TRIKKOS_TEST_REFERENCE_HPP

#include <Copy.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// What the library is judged by: plain host code, written for reading, in a number type so wide
/// that its own rounding and overflow need no thought. About 0.5 us a row.
///
///   const auto A = Reference::to_host(Trikkos::gallery<double>(exec, type, n));
///   const auto x = Reference::solve(A, b);
///   EXPECT_LE(Reference::backward_error(A, x, b), 1e-15);  // NaN fails, as it should

namespace Reference {

// ---- numbers

/// A real number of 113 bits with decimal exponents to 4932, where the compiler has them: twice
/// double and more, and no product of doubles overflows. Else a long double (the same on AArch64).
class Wide {
#if defined(__SIZEOF_FLOAT128__)
  __extension__ typedef __float128 Number;
#else
  using Number = long double;
#endif
  // nvcc takes no class with a __float128 inside std::vector, so keep its bytes.
  alignas(Number) unsigned char bytes[sizeof(Number)];

  static Wide from(Number v) {
    Wide w;
    std::memcpy(w.bytes, &v, sizeof v);
    return w;
  }
  Number number() const {
    Number v;
    std::memcpy(&v, bytes, sizeof v);
    return v;
  }

 public:
  Wide() : bytes{} {}  // all zeros are the number 0
  Wide(long double v) : Wide(from(v)) {}
  template <class T>
  requires std::is_floating_point_v<T>
  explicit operator T() const { return static_cast<T>(number()); }

  friend Wide operator+(Wide a, Wide b) { return from(a.number() + b.number()); }
  friend Wide operator-(Wide a, Wide b) { return from(a.number() - b.number()); }
  friend Wide operator*(Wide a, Wide b) { return from(a.number() * b.number()); }
  friend Wide operator/(Wide a, Wide b) { return from(a.number() / b.number()); }
  friend bool operator==(Wide a, Wide b) { return a.number() == b.number(); }
  friend bool operator<(Wide a, Wide b) { return a.number() < b.number(); }
};

/// A complex number of two of them.
struct WideComplex {
  Wide re = 0, im = 0;

  WideComplex() = default;
  WideComplex(Wide re_, Wide im_ = 0) : re(re_), im(im_) {}

  friend WideComplex operator+(WideComplex a, WideComplex b) { return {a.re + b.re, a.im + b.im}; }
  friend WideComplex operator-(WideComplex a, WideComplex b) { return {a.re - b.re, a.im - b.im}; }
  friend WideComplex operator*(WideComplex a, WideComplex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend WideComplex operator/(WideComplex a, WideComplex b) {
    const Wide square = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
  }
};

inline Wide widen(float v) { return v; }
inline Wide widen(double v) { return v; }
inline Wide widen(Wide v) { return v; }
inline WideComplex widen(WideComplex v) { return v; }
template <class R>
WideComplex widen(Kokkos::complex<R> v) {
  return {v.real(), v.imag()};
}
template <class T>
using WideOf = decltype(widen(T{}));

template <class T>
T narrow(Wide v) {
  return static_cast<T>(v);
}
template <class T>
T narrow(WideComplex v) {
  using R = typename T::value_type;
  return {static_cast<R>(v.re), static_cast<R>(v.im)};
}
template <class T>
std::vector<T> narrow(const std::vector<WideOf<T>>& v) {
  std::vector<T> result;
  for (const auto& entry : v) result.push_back(narrow<T>(entry));
  return result;
}

inline Wide modulus(Wide v) { return v < 0 ? 0 - v : v; }
/// To 64 bits, which is plenty for a norm or a pivot search. No square of doubles overflows.
inline Wide modulus(WideComplex v) {
  const auto re = static_cast<long double>(v.re), im = static_cast<long double>(v.im);
  return std::sqrt(re * re + im * im);
}

/// Largest modulus; NaN if any entry is.
template <class V>
Wide max_norm(const std::vector<V>& v) {
  Wide largest = 0;
  for (const V& entry : v) {
    const Wide m = modulus(widen(entry));
    if (m != m) return m;
    largest = std::max(largest, m);
  }
  return largest;
}

// ---- matrices

/// A tridiagonal matrix on the host; the fields mean what they mean in Trikkos::Tridiagonal.
template <class T>
struct HostSystem {
  using value_type = T;
  static constexpr int half_bandwidth = 1;

  std::vector<T> lower, diag, upper;
  bool periodic = false;

  std::int64_t size() const { return static_cast<std::int64_t>(diag.size()); }
  /// Of A(i, i + j).
  const std::vector<T>& band(int j) const { return j < 0 ? lower : j > 0 ? upper : diag; }
  std::vector<T>& band(int j) { return j < 0 ? lower : j > 0 ? upper : diag; }
};

/// A copy on the host of a View of rank 1 in any memory, with any stride.
template <class View>
auto to_host(const View& view) -> std::vector<typename View::non_const_value_type> {
  using T = typename View::non_const_value_type;
  std::vector<T> values(view.extent(0));
  Test::copy(
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()),
      view);
  return values;
}
template <class View>
auto to_host(const Trikkos::Tridiagonal<View>& A)
    -> HostSystem<typename View::non_const_value_type> {
  return {to_host(A.lower), to_host(A.diag), to_host(A.upper),
          A.boundary == Trikkos::Boundary::periodic};
}

/// The way back, into the memory of an execution space.
template <class T, Trikkos::ExecutionSpace Exec>
auto to_device(const Exec&, const std::vector<T>& v) -> Kokkos::View<T*, Exec> {
  const Kokkos::View<T*, Exec> view("Reference::to_device", v.size());
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(v.data(), v.size());
  Test::copy(view, host);
  return view;
}
template <class T, Trikkos::ExecutionSpace Exec>
auto to_device(const Exec& exec, const HostSystem<T>& A)
    -> Trikkos::Tridiagonal<Kokkos::View<T*, Exec>> {
  return {to_device(exec, A.lower), to_device(exec, A.diag), to_device(exec, A.upper),
          A.periodic ? Trikkos::Boundary::periodic : Trikkos::Boundary::open};
}

/// The transpose, or with `conjugate` the conjugate transpose.
template <class T>
HostSystem<T> transpose(const HostSystem<T>& A, bool conjugate = false) {
  const std::int64_t n = A.size();
  HostSystem<T> B = A;
  for (std::int64_t i = 0; i < n; ++i) {
    B.lower[i] = A.upper[(i + n - 1) % n];
    B.upper[i] = A.lower[(i + 1) % n];
  }
  if constexpr (!std::is_floating_point_v<T>) {
    for (auto* band : {&B.lower, &B.diag, &B.upper}) {
      for (T& v : *band) v = conjugate ? Kokkos::conj(v) : v;
    }
  }
  return B;
}

/// One entry of a row of the matrix.
template <class T>
struct Entry {
  std::int64_t column;
  WideOf<T> value;
};

/// f(column, entry) for the entries of row i as they are stored, from left to right.
template <class T, class F>
void for_row(const HostSystem<T>& A, std::int64_t i, const F& f) {
  const std::int64_t n = A.size();
  if (i > 0 || A.periodic) f((i + n - 1) % n, A.lower[i]);
  f(i, A.diag[i]);
  if (i < n - 1 || A.periodic) f((i + 1) % n, A.upper[i]);
}

/// The entries of row i, each column once: small periodic matrices add up what falls on one place.
template <class Matrix, class T = typename Matrix::value_type>
std::vector<Entry<T>> row(const Matrix& A, std::int64_t i) {
  std::vector<Entry<T>> entries;
  for_row(A, i, [&](std::int64_t column, T value) {
    for (Entry<T>& e : entries) {
      if (e.column == column) {
        e.value = e.value + widen(value);
        return;
      }
    }
    entries.push_back({column, widen(value)});
  });
  return entries;
}

/// Largest sum of moduli in a row, of the entries as they are stored: those of a small ring that
/// share a place, and may cancel there, are as uncertain as all others.
template <class Matrix, class T = typename Matrix::value_type>
Wide max_norm(const Matrix& A) {
  std::vector<Wide> sums(A.diag.size(), 0);
  for (std::int64_t i = 0; i < A.size(); ++i)
    for_row(A, i, [&](std::int64_t, T v) { sums[i] = sums[i] + modulus(widen(v)); });
  return max_norm(sums);
}

// ---- products and residuals

template <class Matrix, class T = typename Matrix::value_type>
std::vector<WideOf<T>> multiply_wide(const Matrix& A, const std::vector<T>& x) {
  std::vector<WideOf<T>> y(x.size());
  for (std::int64_t i = 0; i < A.size(); ++i)
    for_row(A, i, [&](std::int64_t j, T v) { y[i] = y[i] + widen(v) * widen(x[j]); });
  return y;
}

/// A x, rounded once.
template <class Matrix, class T = typename Matrix::value_type>
std::vector<T> multiply(const Matrix& A, const std::vector<T>& x) {
  return narrow<T>(multiply_wide(A, x));
}

/// b - A x
template <class Matrix, class T = typename Matrix::value_type>
std::vector<WideOf<T>> residual(const Matrix& A, const std::vector<T>& x, const std::vector<T>& b) {
  std::vector<WideOf<T>> r = multiply_wide(A, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = widen(b[i]) - r[i];
  return r;
}

/// Normwise backward error |b - A x| / (|A| |x| + |b|) in maximum norms (Rigal, Gaches 1967): the
/// relative change of A and b for which x is exact. NaN if any number involved is Inf or NaN.
template <class Matrix, class T = typename Matrix::value_type>
double backward_error(const Matrix& A, const std::vector<T>& x, const std::vector<T>& b) {
  const Wide error = max_norm(residual(A, x, b));
  const Wide scale = max_norm(A) * max_norm(x) + max_norm(b);
  return error == 0 ? 0. : static_cast<double>(error / scale);
}

/// |A x - b| / |b| in Euclidean norms, equation 13 of Chang et al., SC'12. Meaningful only where x
/// is not much larger than b / |A|: for ill-conditioned A and random b even the exact x, rounded to
/// T, leaves a large one.
template <class Matrix, class T = typename Matrix::value_type>
double relative_residual(const Matrix& A, const std::vector<T>& x, const std::vector<T>& b) {
  const auto square = [](const auto& v) { return modulus(v) * modulus(v); };
  Wide error = 0, scale = 0;
  for (const auto& v : residual(A, x, b)) error = error + square(v);
  for (const auto& v : b) scale = scale + square(widen(v));
  return error == 0 ? 0. : static_cast<double>(std::sqrt(static_cast<long double>(error / scale)));
}

/// |x - y| / |y| in maximum norms.
template <class T>
double relative_difference(const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<WideOf<T>> difference, wide_y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    wide_y.push_back(widen(y[i]));
    difference.push_back(widen(x[i]) - wide_y[i]);
  }
  const Wide error = max_norm(difference);
  return error == 0 ? 0. : static_cast<double>(error / max_norm(wide_y));
}

// ---- solving

template <class V>
struct Solution {
  std::vector<V> x;              // NaN if singular
  std::int64_t zero_pivot = -1;  // first column without a nonzero pivot, -1 if none
};

/// Gaussian elimination with row pivoting for a matrix with at most `width` diagonals on either
/// side: `band[i][width + j - i]` is entry (i,j), and pivoting fills up to 2 `width` above. Solves
/// in place of b.
template <int width, class V>
Solution<V> eliminate(std::vector<std::array<V, 3 * width + 1>> band, std::vector<V> b) {
  const auto n = static_cast<std::int64_t>(band.size());
  const auto entry = [&](std::int64_t i, std::int64_t j) -> V& { return band[i][width + j - i]; };
  const auto end_row = [&](std::int64_t k) { return std::min(k + width + 1, n); };
  const auto end_column = [&](std::int64_t k) { return std::min(k + 2 * width + 1, n); };

  std::vector<Wide> row_size(band.size());
  for (std::int64_t i = 0; i < n; ++i) {
    for (const V& v : band[i]) row_size[i] = std::max(row_size[i], modulus(v));
  }
  const auto larger = [&](std::int64_t i, std::int64_t p, std::int64_t k) {
    return modulus(entry(p, k)) * row_size[i] < modulus(entry(i, k)) * row_size[p];
  };

  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < end_row(k); ++i) {
      if (larger(i, pivot, k)) pivot = i;
    }
    if (modulus(entry(pivot, k)) == 0) {
      const V nan(std::numeric_limits<double>::quiet_NaN());
      return {std::vector<V>(b.size(), nan), k};
    }
    if (pivot != k) {
      for (std::int64_t j = k; j < end_column(k); ++j) std::swap(entry(k, j), entry(pivot, j));
      std::swap(b[k], b[pivot]);
      std::swap(row_size[k], row_size[pivot]);
    }
    for (std::int64_t i = k + 1; i < end_row(k); ++i) {
      const V factor = entry(i, k) / entry(k, k);
      entry(i, k) = V(0);
      for (std::int64_t j = k + 1; j < end_column(k); ++j) {
        entry(i, j) = entry(i, j) - factor * entry(k, j);
      }
      b[i] = b[i] - factor * b[k];
    }
  }
  for (std::int64_t k = n - 1; k >= 0; --k) {
    for (std::int64_t j = k + 1; j < end_column(k); ++j) b[k] = b[k] - entry(k, j) * b[j];
    b[k] = b[k] / entry(k, k);
  }
  return {b, -1};
}

/// Eliminates in numbers V with row and column i of A at place(i) of a band matrix of given width.
template <int width, class V, class Matrix, class T, class Place>
Solution<V> eliminate_permuted(const Matrix& A, const std::vector<T>& b, Place place) {
  std::vector<std::array<V, 3 * width + 1>> band(A.diag.size());  // zeros
  std::vector<V> permuted_b(b.size());
  for (std::int64_t i = 0; i < A.size(); ++i) {
    for (const Entry<T>& e : row(A, i))
      band[place(i)][width + place(e.column) - place(i)] = V(e.value);
    permuted_b[place(i)] = V(widen(b[i]));
  }
  const Solution<V> permuted = eliminate<width>(std::move(band), std::move(permuted_b));
  Solution<V> result = permuted;
  for (std::int64_t i = 0; i < A.size(); ++i) result.x[i] = permuted.x[place(i)];
  return result;
}

/// The solution of A x = b in wide numbers, whether or not A is periodic: a ring of unknowns is
/// folded flat, 0, n-1, 1, n-2, ..., which puts neighbours at most 2 places apart.
template <class Matrix, class T = typename Matrix::value_type>
Solution<WideOf<T>> solve_wide(const Matrix& A, const std::vector<T>& b) {
  using V = WideOf<T>;
  constexpr int W = Matrix::half_bandwidth;
  const std::int64_t n = A.size();
  if (A.periodic) {
    return eliminate_permuted<2 * W, V>(
        A, b, [n](std::int64_t i) { return 2 * i < n ? 2 * i : 2 * (n - i) - 1; });
  }
  return eliminate_permuted<W, V>(A, b, [](std::int64_t i) { return i; });
}

/// The solution of A x = b, rounded once; NaN if A is singular.
template <class Matrix, class T = typename Matrix::value_type>
std::vector<T> solve(const Matrix& A, const std::vector<T>& b) {
  return narrow<T>(solve_wide(A, b).x);
}

/// The solution of an open A x = b in the working precision: what row exchanges can achieve.
template <class T>
std::vector<T> solve_in(const HostSystem<T>& A, const std::vector<T>& b) {
  if constexpr (std::is_floating_point_v<T>)
    return eliminate_permuted<1, T>(A, b, [](std::int64_t i) { return i; }).x;
  else
    return solve(A, b);
}

/// True if elimination finds a column without a nonzero pivot.
template <class Matrix>
bool is_singular(const Matrix& A) {
  return solve_wide(A, std::vector<typename Matrix::value_type>(A.diag.size())).zero_pivot >= 0;
}

}  // namespace Reference

#endif
