// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RESIDUAL_HPP
#define TRIKKOS_IMPL_RESIDUAL_HPP

#include <impl/Trikkos_System.hpp>

/// \file
/// The normwise backward error eta = |b - A x| / (|A| |x| + |b|), infinity norms, the residual in
/// double-double arithmetic. A and x are scaled by powers of two first, so that entries near the
/// ends of the range neither overflow nor vanish. Asynchronous: norms, residuals, quotients.

namespace Trikkos::Impl {

/// Sum of products with twice the digits of double: error-free products (fma) and sums (two-sum).
class DoubleDouble {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void add(double v) {
    const double sum = m_high + v, back = sum - m_high;
    m_low += (m_high - (sum - back)) + (v - back);
    m_high = sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add_product(double a, double b) {
    const double p = a * b;
    add(p);
    m_low += Kokkos::fma(a, b, -p);
  }
  KOKKOS_FORCEINLINE_FUNCTION double value() const { return m_high + m_low; }

 private:
  double m_high = 0, m_low = 0;
};

/// A maximum that a NaN wins, as Inf.
KOKKOS_FORCEINLINE_FUNCTION double max_or_nan(double m, double v) {
  return v <= m ? m : (v != v ? Kokkos::Experimental::infinity_v<double> : v);
}

/// The maximum of nonnegative numbers, collected in memory as bits, which are ordered like the
/// numbers: devices have an atomic maximum of integers, but not of doubles.
class Maximum {
 public:
  KOKKOS_FORCEINLINE_FUNCTION double value() const { return Kokkos::bit_cast<double>(m_bits); }
  KOKKOS_FORCEINLINE_FUNCTION void clear() { m_bits = 0; }
  /// Most calls see that the maximum is high enough and only read it.
  KOKKOS_FORCEINLINE_FUNCTION void raise(double v) {
    const Bits bits = Kokkos::bit_cast<Bits>(max_or_nan(0, v));
    if (bits > m_bits) Kokkos::atomic_max(&m_bits, bits);
  }

 private:
  using Bits = unsigned long long;  // the 64-bit type whose maximum CUDA has as an atomic
  Bits m_bits;
};

/// Per right-hand side: maxima that the kernels collect.
struct ResidualNorms {
  Maximum a, x, b;            // largest entries
  Maximum residual, row_sum;  // of the scaled system
};

struct ResidualScale {
  double a = 1, x = 1;

  KOKKOS_DEFAULTED_FUNCTION ResidualScale() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit ResidualScale(const ResidualNorms& norms)
      : a(scale_for<double>(exponent_field(norms.a.value()))),
        x(scale_for<double>(exponent_field(norms.x.value()))) {}
  /// v * a * x, the factor below one first: no overflow on the way to a product that fits
  KOKKOS_FORCEINLINE_FUNCTION double product(double v) const {
    return a < x ? v * a * x : v * x * a;
  }
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION double real_part(const T& v) {
  if constexpr (is_complex_v<T>)
    return v.real();
  else
    return v;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION double imaginary_part(const T& v) {
  if constexpr (is_complex_v<T>)
    return v.imag();
  else
    return 0;
}

/// |re + i im|, where im is 0 unless T is complex.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION double length(double re, double im) {
  if constexpr (is_complex_v<T>)
    return Kokkos::hypot(re, im);
  else
    return Kokkos::abs(re);
}

/// Row i of b - A x, and the sum of |A| in it, scaled.
struct RowResidual {
  double re, im, row_sum;
};
template <class T, class X>
KOKKOS_FORCEINLINE_FUNCTION RowResidual row_residual(const Bands<T>& A, const Strided<const T>& b,
                                                     const X& x, std::int64_t i,
                                                     const ResidualScale& scale) {
  const std::int64_t n = A.n;
  const T a[3] = {A.lower(i), A.diag(i), A.upper(i)};
  const T v[3] = {x[i > 0 ? i - 1 : n - 1], x[i], x[i < n - 1 ? i + 1 : 0]};
  DoubleDouble re, im;
  double sum = 0;
  re.add(scale.product(real_part(b[i])));
  im.add(scale.product(imaginary_part(b[i])));
  for (int j = 0; j < 3; ++j) {
    const double ar = real_part(a[j]) * scale.a, ai = imaginary_part(a[j]) * scale.a;
    const double xr = real_part(v[j]) * scale.x, xi = imaginary_part(v[j]) * scale.x;
    re.add_product(-ar, xr);
    if constexpr (is_complex_v<T>) {
      re.add_product(ai, xi);
      im.add_product(-ar, xi);
      im.add_product(-ai, xr);
    }
    sum += length<T>(ar, ai);
  }
  return {re.value(), im.value(), sum};
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION double absolute(const T& v) {
  return static_cast<double>(Kokkos::abs(v));
}

/// The rows of all right-hand sides in work items of several rows, so that maxima are taken in
/// registers first: a stretch of rows on a host, every so-manieth row on a device (coalesced).
template <bool Host>
struct RowItems {
  static constexpr std::int64_t rows_in_item = Host ? 8192 : 16;

  std::int64_t n;

  KOKKOS_INLINE_FUNCTION std::int64_t count() const {
    return (n + rows_in_item - 1) / rows_in_item;
  }

  /// body(right-hand side, row) for all rows of an item; returns the right-hand side.
  template <class Body>
  KOKKOS_INLINE_FUNCTION std::int64_t for_rows(std::int64_t item, const Body& body) const {
    const auto [k, t] = split_index(item, count());
    const std::int64_t first = Host ? t * rows_in_item : t, step = Host ? 1 : count();
    const std::int64_t end = Host && first + rows_in_item < n ? first + rows_in_item : n;
    for (std::int64_t i = first; i < end; i += step) body(k, i);
    return k;
  }
};

template <class T, bool Host>
struct ResidualKernels {
  Bands<T> A;
  Columns<const T> b, x;
  std::int64_t rhs_count;
  ResidualNorms* norms;  // [rhs_count]
  std::int64_t* worst;   // largest eta so far, as bits, which are ordered like the numbers

  struct Clear {};
  struct Norms {};
  struct Residual {};
  struct Quotient {};

  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t k) const {
    norms[k].a.clear();
    norms[k].x.clear();
    norms[k].b.clear();
    norms[k].residual.clear();
    norms[k].row_sum.clear();
  }

  KOKKOS_INLINE_FUNCTION void operator()(Norms, std::int64_t item) const {
    double a = 0, xm = 0, bm = 0;
    const std::int64_t system = rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      a = max_or_nan(max_or_nan(max_or_nan(a, absolute(A.lower(i))), absolute(A.diag(i))),
                     absolute(A.upper(i)));
      xm = max_or_nan(xm, absolute(x[k][i]));
      bm = max_or_nan(bm, absolute(b[k][i]));
    });
    norms[system].a.raise(a);
    norms[system].x.raise(xm);
    norms[system].b.raise(bm);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Residual, std::int64_t item) const {
    double residual = 0, row_sum = 0;
    const ResidualScale scale(norms[split_index(item, rows().count()).first]);
    const std::int64_t system = rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      const auto r = row_residual(A, b[k], x[k], i, scale);
      residual = max_or_nan(residual, length<T>(r.re, r.im));
      row_sum = max_or_nan(row_sum, r.row_sum);
    });
    norms[system].residual.raise(residual);
    norms[system].row_sum.raise(row_sum);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Quotient, std::int64_t k) const {
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    const ResidualNorms& m = norms[k];
    const ResidualScale scale(m);
    const double a = m.a.value(), xm = m.x.value(), bm = m.b.value();
    const double residual = m.residual.value(), rhs = scale.product(bm);
    double eta = residual == 0 ? 0 : residual / (m.row_sum.value() * (xm * scale.x) + rhs);
    if (!(a + xm + bm < infinity)) {  // an entry beyond the range of a sum, or Inf, or NaN
      if (!(a < infinity && xm < infinity && bm < infinity)) eta = infinity;
    } else if (!(rhs < infinity)) {
      eta = 1;  // A x is nothing beside b
    }
    const std::int64_t bits = Kokkos::bit_cast<std::int64_t>(eta);
    if (bits > *worst) Kokkos::atomic_max(worst, bits);
  }

  template <class Exec>
  void launch(const Exec& exec) const {
    if (A.n == 0 || rhs_count == 0) return;
    using Kokkos::IndexType;
    using Kokkos::RangePolicy;
    using Index = IndexType<std::int64_t>;
    const std::int64_t all = rhs_count * rows().count();
    Kokkos::parallel_for("Trikkos::backward_error::clear",
                         RangePolicy<Exec, Index, Clear>(exec, 0, rhs_count), *this);
    Kokkos::parallel_for("Trikkos::backward_error::norms",
                         RangePolicy<Exec, Index, Norms>(exec, 0, all), *this);
    Kokkos::parallel_for("Trikkos::backward_error::residual",
                         RangePolicy<Exec, Index, Residual>(exec, 0, all), *this);
    Kokkos::parallel_for("Trikkos::backward_error::quotient",
                         RangePolicy<Exec, Index, Quotient>(exec, 0, rhs_count), *this);
  }

 private:
  KOKKOS_INLINE_FUNCTION RowItems<Host> rows() const { return {A.n}; }
};

}  // namespace Trikkos::Impl

#endif
