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

/// Per right-hand side: maxima that the kernels collect, and the quotient.
struct ResidualNorms {
  double a, x, b;            // largest entries
  double residual, row_sum;  // of the scaled system
};

struct ResidualScale {
  double a, x;

  KOKKOS_FORCEINLINE_FUNCTION explicit ResidualScale(const ResidualNorms& norms)
      : a(scale_for<double>(exponent_field(norms.a))),
        x(scale_for<double>(exponent_field(norms.x))) {}
  /// v * a * x, the factor below one first: no overflow on the way to a product that fits
  KOKKOS_FORCEINLINE_FUNCTION double product(double v) const {
    return a < x ? v * a * x : v * x * a;
  }
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION double absolute(const T& v) {
  return static_cast<double>(Kokkos::abs(v));
}

/// A maximum that a NaN wins.
KOKKOS_FORCEINLINE_FUNCTION double max_or_nan(double m, double v) {
  return v <= m ? m : (v != v ? Kokkos::Experimental::infinity_v<double> : v);
}

/// Raises a maximum in memory; most calls see that it is high enough and only read it.
template <class V>
KOKKOS_INLINE_FUNCTION void raise(V& maximum, V v) {
  if (!(v <= maximum)) Kokkos::atomic_max(&maximum, v);
}

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
    norms[k] = ResidualNorms{0, 0, 0, 0, 0};
  }

  KOKKOS_INLINE_FUNCTION void operator()(Norms, std::int64_t item) const {
    double a = 0, xm = 0, bm = 0;
    const std::int64_t system = for_rows(item, [&](std::int64_t k, std::int64_t i) {
      a = max_or_nan(max_or_nan(max_or_nan(a, absolute(A.lower(i))), absolute(A.diag(i))),
                     absolute(A.upper(i)));
      xm = max_or_nan(xm, absolute(x[k][i]));
      bm = max_or_nan(bm, absolute(b[k][i]));
    });
    raise(norms[system].a, a);
    raise(norms[system].x, xm);
    raise(norms[system].b, bm);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Residual, std::int64_t item) const {
    double residual = 0, row_sum = 0;
    const ResidualScale scale(norms[item / items()]);
    const std::int64_t system = for_rows(item, [&](std::int64_t k, std::int64_t i) {
      const std::int64_t n = A.n;
      const T a[3] = {A.lower(i), A.diag(i), A.upper(i)};
      const T v[3] = {x[k][i > 0 ? i - 1 : n - 1], x[k][i], x[k][i < n - 1 ? i + 1 : 0]};
      DoubleDouble re, im;
      double sum = 0;
      re.add(scale.product(real(b[k][i])));
      im.add(scale.product(imaginary(b[k][i])));
      for (int j = 0; j < 3; ++j) {
        const double ar = real(a[j]) * scale.a, ai = imaginary(a[j]) * scale.a;
        const double xr = real(v[j]) * scale.x, xi = imaginary(v[j]) * scale.x;
        re.add_product(-ar, xr);
        if constexpr (is_complex_v<T>) {
          re.add_product(ai, xi);
          im.add_product(-ar, xi);
          im.add_product(-ai, xr);
        }
        sum += Kokkos::hypot(ar, ai);
      }
      residual = max_or_nan(residual, Kokkos::hypot(re.value(), im.value()));
      row_sum = max_or_nan(row_sum, sum);
    });
    raise(norms[system].residual, residual);
    raise(norms[system].row_sum, row_sum);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Quotient, std::int64_t k) const {
    const ResidualNorms& m = norms[k];
    const ResidualScale scale(m);
    const double rhs = scale.product(m.b), bound = m.row_sum * (m.x * scale.x) + rhs;
    double eta = m.residual / bound;
    if (m.residual == 0) eta = 0;
    if (!(m.a + m.x + m.b < Kokkos::Experimental::infinity_v<double>)) {
      // an entry beyond the range of a sum, or Inf, or NaN
      const auto infinite = [](double v) {
        return !(v < Kokkos::Experimental::infinity_v<double>);
      };
      if (infinite(m.a) || infinite(m.x) || infinite(m.b))
        eta = Kokkos::Experimental::infinity_v<double>;
    } else if (!(rhs < Kokkos::Experimental::infinity_v<double>)) {
      eta = 1;  // A x is nothing beside b
    }
    raise(*worst, Kokkos::bit_cast<std::int64_t>(eta));
  }

  template <class Exec>
  void launch(const Exec& exec) const {
    if (A.n == 0 || rhs_count == 0) return;
    using Kokkos::IndexType;
    using Kokkos::RangePolicy;
    using Index = IndexType<std::int64_t>;
    const std::int64_t all = rhs_count * items();
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
  // Rows of a work item: a stretch of them on a host, every so-manieth on a device (coalesced).
  static constexpr std::int64_t rows_in_item = Host ? 8192 : 256;

  KOKKOS_INLINE_FUNCTION std::int64_t items() const {
    return (A.n + rows_in_item - 1) / rows_in_item;
  }
  template <class Body>
  KOKKOS_INLINE_FUNCTION std::int64_t for_rows(std::int64_t item, const Body& body) const {
    const std::int64_t k = item / items(), t = item % items();
    const std::int64_t first = Host ? t * rows_in_item : t, step = Host ? 1 : items();
    const std::int64_t end = Host && first + rows_in_item < A.n ? first + rows_in_item : A.n;
    for (std::int64_t i = first; i < end; i += step) body(k, i);
    return k;
  }
  static KOKKOS_FORCEINLINE_FUNCTION double real(const T& v) {
    if constexpr (is_complex_v<T>)
      return v.real();
    else
      return v;
  }
  static KOKKOS_FORCEINLINE_FUNCTION double imaginary(const T& v) {
    if constexpr (is_complex_v<T>)
      return v.imag();
    else
      return 0;
  }
};

}  // namespace Trikkos::Impl

#endif
