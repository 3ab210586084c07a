// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GALLERYROW_HPP
#define TRIKKOS_IMPL_GALLERYROW_HPP

#include <Kokkos_Core.hpp>
#include <Trikkos_GalleryTypes.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <cstdint>
#include <impl/Trikkos_Random.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <type_traits>

/// \file
/// The gallery matrices whose row i follows from i alone: all but the randsvd types.

namespace Trikkos::Impl {

/// Extreme magnitudes in a precision; `exponent`: the largest power of two in graded rows.
template <class T>
struct GalleryRange {
  static constexpr double tiny = 1e-50, nearly_zero = 1e-13, huge = 1e307, small = 1e-307,
                          subnormal = 1e-310;
  static constexpr int exponent = 996;
};
template <>
struct GalleryRange<float> {
  static constexpr double tiny = 1e-30, nearly_zero = 1e-5, huge = 1e37, small = 1e-37,
                          subnormal = 1e-40;
  static constexpr int exponent = 99;
};

/// 2^exponent, exactly, for normal numbers.
KOKKOS_INLINE_FUNCTION double power_of_two(std::int64_t exponent) {
  return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

template <class S>
struct GalleryRow {
  S lower, diag, upper;

  KOKKOS_INLINE_FUNCTION GalleryRow operator*(double s) const {
    return {lower * s, diag * s, upper * s};
  }
};

/// Row i of a gallery matrix, computed in double and rounded once. No sums of products: what a
/// compiler contracts to fused multiply-adds would differ between backends.
template <class T>
struct GalleryFormula {
  using S = std::conditional_t<is_complex_v<T>, Kokkos::complex<double>, double>;
  using Row = GalleryRow<S>;
  using Range = GalleryRange<Real<T>>;

  enum Stream : std::uint64_t { lower, diag, upper, choice_lower, choice_upper, scale, rhs, imag };

  Gallery type;
  std::int64_t n;
  std::uint64_t seed;
  std::int64_t block;
  double dorr_term;  // theta / h^2 with theta = 1e-4, h = 1 / (n + 1)

  GalleryFormula(Gallery type_, std::int64_t n_, std::uint64_t seed_, std::int64_t block_)
      : type(type_), n(n_), seed(seed_), block(block_), dorr_term(1e-4 * (n_ + 1.) * (n_ + 1.)) {}

  KOKKOS_INLINE_FUNCTION S random(Stream stream, std::int64_t i) const {
    const double re = random_uniform(seed, stream, i);
    if constexpr (is_complex_v<T>) {
      return {re, random_uniform(seed, stream + imag, i)};
    } else {
      return re;
    }
  }

  KOKKOS_INLINE_FUNCTION Row operator()(std::int64_t i) const {
    using enum Gallery;
    switch (type) {
      case toeplitz_1e8:
        return {random(lower, 0), 1e8, random(upper, 0)};
      case toeplitz_64:
        return {random(lower, 0), 64., random(upper, 0)};
      case toeplitz_1e_8:
        return {random(lower, 0), 1e-8, random(upper, 0)};
      case zero_diagonal_toeplitz:
        return {random(lower, 0), 0., random(upper, 0)};
      case toeplitz_1e8_entrywise:
        return {random(lower, i), 1e8, random(upper, i)};
      case toeplitz_64_entrywise:
        return {random(lower, i), 64., random(upper, i)};
      case toeplitz_1e_8_entrywise:
        return {random(lower, i), 1e-8, random(upper, i)};
      case zero_diagonal_entrywise:
        return {random(lower, i), 0., random(upper, i)};
      case lesp:
        return {1. / (i + 1.), -(2. * i + 5.), i + 2.};
      case inverse_kms:
        return inverse_kms_row(i);
      case dorr:
        return dorr_row(i);
      case clement:
        return {static_cast<double>(n - i), 0., i + 1.};
      case poisson:
        return {-1., 2., -1.};
      case neumann:
        return {-1., 2. - (i == 0) - (i == n - 1), -1.};
      case diagonal_0101:
        return {1., static_cast<double>(i % 2), 1.};
      case all_ones_toeplitz:
        return {1., 1., 1.};
      case random_row_scaling: {
        const auto exponent = static_cast<std::int64_t>(random_bits(seed, scale, i) % 53) - 26;
        return uniform_row(i) * power_of_two(exponent);
      }
      case graded_rows: {
        constexpr std::int64_t top = Range::exponent;
        return uniform_row(i) * power_of_two(n > 1 ? 2 * top * i / (n - 1) - top : 0);
      }
      case near_overflow:
        return uniform_row(i) * Range::huge;
      case near_underflow:
        return uniform_row(i) * Range::small;
      case subnormal:
        return uniform_row(i) * Range::subnormal;
      case singular_blocks:
        return blocks_row(i, 0.);
      case nearly_singular_blocks:
        return blocks_row(i, Range::nearly_zero);
      default:
        return modified_uniform_row(i);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION Row uniform_row(std::int64_t i) const {
    return {random(lower, i), random(diag, i), random(upper, i)};
  }

  // A uniform row with few entries changed.
  KOKKOS_INLINE_FUNCTION Row modified_uniform_row(std::int64_t i) const {
    using enum Gallery;
    // Local copies: device code may not refer to static members.
    constexpr double tiny = Range::tiny, nan = Kokkos::Experimental::quiet_NaN_v<double>,
                     infinity = Kokkos::Experimental::infinity_v<double>;
    const std::int64_t middle = n / 2;
    Row row = uniform_row(i);
    switch (type) {
      case small_coupling:
        if (i == middle) row.lower *= tiny;
        break;
      case sparse_off_diagonals:
        if (random_uniform(seed, choice_lower, i) < 0) row.lower = 0.;
        if (random_uniform(seed, choice_upper, i) < 0) row.upper = 0.;
        break;
      case tiny_lower:
        row.lower *= tiny;
        break;
      case uniform_dominant:
        row.diag = dominant_diag(i);
        break;
      case zero_coupling:
        if (i % block == 0) row.lower = 0.;
        if ((i + 1) % block == 0) row.upper = 0.;
        break;
      case zero_row:
        if (i == middle) row = {0., 0., 0.};
        break;
      case zero_column:
        if (i == middle) row.diag = 0.;
        if (i == middle + 1) row.lower = 0.;
        if (i == middle - 1) row.upper = 0.;
        break;
      case equal_rows:
        if (n > 1 && i == middle - 1) row.lower = 0.;
        if (n > 1 && i == middle) row = {random(diag, i - 1), random(upper, i - 1), 0.};
        break;
      case nan_entry:
        if (i == middle) row.diag = nan;
        break;
      case inf_entry:
        if (i == middle) row.diag = infinity;
        break;
      default:
        break;
    }
    return row;
  }

  // |re| + |im| bounds the modulus without a square root, which backends may round differently.
  KOKKOS_INLINE_FUNCTION static double bound(S z) {
    if constexpr (is_complex_v<T>) {
      return Kokkos::fabs(z.real()) + Kokkos::fabs(z.imag());
    } else {
      return Kokkos::fabs(z);
    }
  }

  KOKKOS_INLINE_FUNCTION S dominant_diag(std::int64_t i) const {
    const double in_row = bound(random(lower, i)) + bound(random(upper, i));
    const double in_column = bound(random(lower, i + 1)) + bound(random(upper, i - 1));
    const double modulus = 1 + Kokkos::fmax(in_row, in_column);
    S d = random(diag, i);
    if constexpr (is_complex_v<T>) {
      d.real() = d.real() < 0 ? -modulus : modulus;
    } else {
      d = d < 0 ? -modulus : modulus;
    }
    return d;
  }

  KOKKOS_INLINE_FUNCTION Row inverse_kms_row(std::int64_t i) const {
    constexpr double rho = 0.5, s = 1 - rho * rho;
    constexpr double off = -rho / s, inner = (1 + rho * rho) / s, corner = 1 / s;
    if (n == 1) return {off, 1., off};
    return {off, i == 0 || i == n - 1 ? corner : inner, off};
  }

  // MATLAB's dorr.m: upwind differences of theta u'' + (1/2 - x) u', h = 1 / (n + 1).
  KOKKOS_INLINE_FUNCTION Row dorr_row(std::int64_t i) const {
    const double drift = (n + 1) * 0.5 - (i + 1.);  // (1/2 - x) / h, exactly
    const bool left = i < (n + 1) / 2;
    const double l = left ? -dorr_term : -dorr_term + drift;
    const double u = left ? -dorr_term - drift : -dorr_term;
    return {l, -(l + u), u};
  }

  // Blocks 1, 5, 9, ... are singular inside, blocks 3, 7, 11, ... as a whole. A singular group of m
  // rows has off-diagonals 1 and diag 0, 0, 0, ... (m odd) or 1, 1, 0, 0, ... (m even); with
  // `perturbation` in its last diagonal entry its determinant is that times 1 or -1.
  KOKKOS_INLINE_FUNCTION Row blocks_row(std::int64_t i, double perturbation) const {
    Row row = uniform_row(i);
    const std::int64_t k = i / block;
    const std::int64_t margin = k % 4 == 1 ? 1 : 0;
    const std::int64_t begin = k * block + margin, end = (k + 1) * block - margin;
    if (k % 2 == 0 || i < begin || i >= end) return row;
    if (i > begin) row.lower = 1.;
    if (i + 1 < end) row.upper = 1.;
    const bool is_one = (end - begin) % 2 == 0 && i < begin + 2;
    row.diag = (is_one ? 1. : 0.) + (i + 1 == end ? perturbation : 0.);
    return row;
  }
};

/// Writes the rows of a formula; what open boundaries never read becomes NaN.
template <class View>
struct GalleryFill {
  Tridiagonal<View> A;
  GalleryFormula<typename View::value_type> formula;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    using T = typename View::value_type;
    const auto row = formula(i);
    const bool open = A.boundary == Boundary::open;
    const T garbage{Kokkos::Experimental::quiet_NaN_v<Real<T>>};
    A.lower(i) = open && i == 0 ? garbage : static_cast<T>(row.lower);
    A.diag(i) = static_cast<T>(row.diag);
    A.upper(i) = open && i == formula.n - 1 ? garbage : static_cast<T>(row.upper);
  }
};

/// Writes a random vector.
template <class View>
struct GalleryFillVector {
  View v;
  GalleryFormula<typename View::value_type> formula;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    v(i) = static_cast<typename View::value_type>(formula.random(formula.rhs, i));
  }
};

}  // namespace Trikkos::Impl

#endif
