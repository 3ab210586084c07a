// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RESIDUAL_HPP
#define TRIKKOS_IMPL_RESIDUAL_HPP

#include <impl/Trikkos_DoubleWord.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// The normwise backward error eta = |b - A x| / (|A| |x| + |b|), infinity norms, the residual in
/// double-double arithmetic; beside it the largest such quotient of a single row (Oettli, Prager
/// 1964), which sees small unknowns as well. A and x are scaled by powers of two first, so that
/// entries near the ends of the range neither overflow nor vanish. Asynchronous.

namespace Trikkos::Impl {

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

/// How well one x solves: maxima over the rows of the scaled system.
struct Fit {
  Maximum x, residual;  // largest entries
  Maximum row_error;    // of a row's residual over what the row adds up, |A| |x| + |b|

  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    x.clear();
    residual.clear();
    row_error.clear();
  }
};

/// Per right-hand side: maxima that the kernels collect.
struct ResidualNorms {
  Maximum a, x, b;   // largest entries, which set the scale
  Maximum row_sum;   // of the scaled matrix
  Fit fit, trial;    // of x, and of x + d in a step of refinement
  bool is_improved;  // x + d is the better one

  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    a.clear();
    x.clear();
    b.clear();
    row_sum.clear();
    fit.clear();
    trial.clear();
  }
  /// The normwise backward error.
  KOKKOS_INLINE_FUNCTION double eta(const Fit& of) const;
};

/// Powers of two that bring the largest entries of A and x near 1.
struct ResidualScale {
  double a, x;

  KOKKOS_FORCEINLINE_FUNCTION explicit ResidualScale(const ResidualNorms& norms)
      : a(scale_for<double>(exponent_field(norms.a.value()))),
        x(scale_for<double>(exponent_field(norms.x.value()))) {
    const bool are_alike = (a < 1) == (x < 1);
    first = are_alike ? a : a * x;
    second = are_alike ? x : 1;
    first_inverse = 1 / first;
    second_inverse = 1 / second;
  }
  /// v * a * x and back, without leaving the range on the way to a product that fits
  KOKKOS_FORCEINLINE_FUNCTION double product(double v) const { return v * first * second; }
  KOKKOS_FORCEINLINE_FUNCTION double quotient(double v) const {
    return v * first_inverse * second_inverse;
  }

 private:
  double first, second, first_inverse, second_inverse;
};

KOKKOS_INLINE_FUNCTION double ResidualNorms::eta(const Fit& of) const {
  constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
  const double rhs = ResidualScale(*this).product(b.value()), residual = of.residual.value();
  if (!(a.value() < infinity && x.value() < infinity && b.value() < infinity)) return infinity;
  if (!(rhs < infinity)) return 1;  // A x is nothing beside b
  return residual == 0 ? 0 : residual / (row_sum.value() * of.x.value() + rhs);
}

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

/// Row i of b - A x, scaled, and what it is measured by. Complex numbers within a row by
/// |re| + |im|, which needs no root.
struct RowResidual {
  double re, im, x, row_sum;  // x: the entry of this row
  double error, terms;        // of the row by itself: |b - A x|, and |A| |x| + |b|
};
/// \param A  a matrix with `for_row(i, f)`, which calls f(column, entry) for each entry of row i
template <class T, class Matrix, class X>
KOKKOS_FORCEINLINE_FUNCTION RowResidual row_residual(const Matrix& A, const Strided<const T>& b,
                                                     const X& x, std::int64_t i,
                                                     const ResidualScale& scale) {
  const double br = scale.product(real_part(b[i])), bi = scale.product(imaginary_part(b[i]));
  const auto sum_of_parts = [](double p, double q) { return Kokkos::abs(p) + Kokkos::abs(q); };
  DoubleWord<double> re, im;
  double row_sum = 0, terms = sum_of_parts(br, bi);
  re.add(br);
  im.add(bi);
  A.for_row(i, [&](std::int64_t j, const T& a) {
    const T v = x[j];
    const double ar = real_part(a) * scale.a, ai = imaginary_part(a) * scale.a;
    const double xr = real_part(v) * scale.x, xi = imaginary_part(v) * scale.x;
    re.add_product(-ar, xr);
    if constexpr (is_complex_v<T>) {
      re.add_product(ai, xi);
      im.add_product(-ar, xi);
      im.add_product(-ai, xr);
    }
    row_sum += length<T>(ar, ai);
    terms += sum_of_parts(ar, ai) * sum_of_parts(xr, xi);
  });
  const T v = x[i];
  const double length_of_x = length<T>(real_part(v) * scale.x, imaginary_part(v) * scale.x);
  const double error = sum_of_parts(re.value(), im.value());
  return {re.value(), im.value(), length_of_x, row_sum, error, terms};
}

/// Maxima over some rows, in registers.
template <class T>
struct RowMaxima {
  double x = 0, residual = 0, row_error = 0, row_sum = 0;

  KOKKOS_FORCEINLINE_FUNCTION void take(const RowResidual& r) {
    x = max_or_nan(x, r.x);
    residual = max_or_nan(residual, length<T>(r.re, r.im));
    if (r.error > row_error * r.terms) row_error = r.error / r.terms;  // few divisions
    row_sum = max_or_nan(row_sum, r.row_sum);
  }
};

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

/// How accurate all solutions are.
struct Accuracy {
  Maximum worst;           // eta of all
  std::int64_t first_bad;  // system whose eta is above the tolerance; none: `none`
  static constexpr std::int64_t none = std::int64_t(1) << 62;

  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    worst.clear();
    first_bad = none;
  }
};

/// Measures x: `fit` in the norms; its `row_error` only where the residual is wanted, too.
/// `Matrices`: [k] is the matrix of the k-th system, with `n` and `for_row`.
template <class T, class Matrices, bool Host>
struct ResidualKernels {
  Matrices A;
  Vectors<const T> b, x;
  std::int64_t n, count;  // rows, systems
  ResidualNorms* norms;   // [count]
  Vectors<T> residual{};  // receives b - A x, unless it has no data

  struct Clear {};
  struct Norms {};
  struct Residual {};
  struct Again {};

  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t k) const { norms[k].clear(); }

  KOKKOS_INLINE_FUNCTION void operator()(Norms, std::int64_t item) const {
    double a = 0, xm = 0, bm = 0;
    const std::int64_t system = rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      A[k].for_row(i, [&](std::int64_t, const T& v) { a = max_or_nan(a, absolute(v)); });
      xm = max_or_nan(xm, absolute(x[k][i]));
      bm = max_or_nan(bm, absolute(b[k][i]));
    });
    norms[system].a.raise(a);
    norms[system].x.raise(xm);
    norms[system].b.raise(bm);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Residual, std::int64_t item) const {
    const auto [system, part] = split_index(item, rows().count());
    ResidualNorms& found = norms[system];
    const RowMaxima<T> maxima = compute_rows(item, found);
    // On a device every maximum that all threads raise costs time: one address takes it.
    found.fit.residual.raise(maxima.residual);
    found.row_sum.raise(maxima.row_sum);
    if (residual.data != nullptr) found.fit.row_error.raise(maxima.row_error);
    if (part == 0) found.fit.x.raise(found.x.value() * ResidualScale(found).x);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Again, std::int64_t item) const {
    compute_rows(item, norms[split_index(item, rows().count()).first]);
  }

  template <class Exec>
  void measure(const Exec& exec) const {
    Kokkos::parallel_for("Trikkos::backward_error::clear", range<Clear>(exec, count), *this);
    Kokkos::parallel_for("Trikkos::backward_error::norms", range<Norms>(exec, items()), *this);
    Kokkos::parallel_for("Trikkos::backward_error::residual", range<Residual>(exec, items()),
                         *this);
  }
  /// Only stores the residual, of an x that is measured already.
  template <class Exec>
  void store_residual(const Exec& exec) const {
    Kokkos::parallel_for("Trikkos::backward_error::again", range<Again>(exec, items()), *this);
  }

  std::int64_t items() const { return count * rows().count(); }
  KOKKOS_INLINE_FUNCTION RowItems<Host> rows() const { return {n}; }

 private:
  /// Stores the residual where it is wanted.
  KOKKOS_INLINE_FUNCTION RowMaxima<T> compute_rows(std::int64_t item,
                                                   const ResidualNorms& found) const {
    const ResidualScale scale(found);
    RowMaxima<T> maxima;
    rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      const RowResidual r = row_residual(A[k], b[k], x[k], i, scale);
      maxima.take(r);
      if (residual.data == nullptr) return;
      if constexpr (is_complex_v<T>)
        residual[k][i] = T(scale.quotient(r.re), scale.quotient(r.im));
      else
        residual[k][i] = static_cast<T>(scale.quotient(r.re));
    });
    return maxima;
  }
};

/// Adds solutions that were measured to the account of all.
struct ReportAccuracy {
  const ResidualNorms* norms;
  Numbering number;
  double tolerance;
  Accuracy* accuracy;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const double eta = norms[k].eta(norms[k].fit);
    accuracy->worst.raise(eta);
    const std::int64_t system = number[k];
    if (!(eta <= tolerance) && system < accuracy->first_bad)
      Kokkos::atomic_min(&accuracy->first_bad, system);
  }
  template <class Exec>
  void launch(const Exec& exec, std::int64_t count) const {
    Kokkos::parallel_for("Trikkos::backward_error::report", range(exec, count), *this);
  }
};
struct ClearAccuracy {
  Accuracy* accuracy;
  KOKKOS_INLINE_FUNCTION void operator()(int) const { accuracy->clear(); }
};

/// A word or a few, from a device. Waits.
template <class Exec, class Words>
Words fetch(const Exec& exec, const Words* from, const char* function) {
  Words host;
  using Memory = typename Exec::memory_space;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(exec, Kokkos::View<Words, Kokkos::HostSpace, Unmanaged>(&host),
                    Kokkos::View<const Words, Memory, Unmanaged>(from));
  exec.fence(function);
  return host;
}

}  // namespace Trikkos::Impl

#endif
