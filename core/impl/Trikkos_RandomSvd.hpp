// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANDOMSVD_HPP
#define TRIKKOS_IMPL_RANDOMSVD_HPP

#include <cmath>
#include <cstdint>
#include <impl/Trikkos_Random.hpp>
#include <numbers>
#include <vector>

/// \file
/// Random tridiagonal matrices with given singular values, as MATLAB's gallery('randsvd',n,kappa,
/// mode,1,1) makes them: diag(sigma) between two random orthogonal matrices, then reduced to
/// bandwidth 1 by Householder reflections from both sides. On the host, in double. Source: N. J.
/// Higham: The Test Matrix Toolbox for MATLAB (randsvd.m, qmult.m, bandred.m).

namespace Trikkos::Impl {

/// Dense n x n, row-major.
struct DenseMatrix {
  std::int64_t n;
  std::vector<double> entries;

  explicit DenseMatrix(std::int64_t size)
      : n(size), entries(static_cast<std::size_t>(size * size)) {}
  double* row(std::int64_t i) { return entries.data() + i * n; }
};

/// H = I - beta v v^T; v stands at indices begin, begin + 1, ...
struct Householder {
  std::int64_t begin;
  std::vector<double> v;
  double beta;

  /// H maps x to a multiple of e1 (sign chosen against cancellation).
  Householder(std::int64_t first, std::vector<double> x) : begin(first), v(std::move(x)), beta(0) {
    double square = 0;
    for (const double y : v) square += y * y;
    if (square == 0) return;
    const double head = v[0];
    v[0] += std::copysign(std::sqrt(square), head);
    beta = 2 / (square - head * head + v[0] * v[0]);
  }

  /// A := H A, columns `first_column` on.
  void apply_left(DenseMatrix& A, std::int64_t first_column) const {
    const auto m = static_cast<std::int64_t>(v.size());
    std::vector<double> w(static_cast<std::size_t>(A.n));  // v^T A
    for (std::int64_t r = 0; r < m; ++r) {
      const double* a = A.row(begin + r);
      for (std::int64_t c = first_column; c < A.n; ++c) w[c] += v[r] * a[c];
    }
    for (std::int64_t r = 0; r < m; ++r) {
      double* a = A.row(begin + r);
      const double s = beta * v[r];
      for (std::int64_t c = first_column; c < A.n; ++c) a[c] -= s * w[c];
    }
  }

  /// A := A H, rows `first_row` on.
  void apply_right(DenseMatrix& A, std::int64_t first_row) const {
    const auto m = static_cast<std::int64_t>(v.size());
    for (std::int64_t r = first_row; r < A.n; ++r) {
      double* a = A.row(r) + begin;
      double dot[4] = {};  // lets the compiler vectorise without reordering a sum
      std::int64_t c = 0;
      for (; c + 4 <= m; c += 4) {
        for (int lane = 0; lane < 4; ++lane) dot[lane] += a[c + lane] * v[c + lane];
      }
      for (; c < m; ++c) dot[0] += a[c] * v[c];
      const double s = beta * ((dot[0] + dot[1]) + (dot[2] + dot[3]));
      for (c = 0; c < m; ++c) a[c] -= s * v[c];
    }
  }
};

/// The bands of a random tridiagonal matrix.
struct HostBands {
  std::vector<double> lower, diag, upper;
};

/// Standard normal variates, by pairs (Box-Muller), from stream `stream`.
inline std::vector<double> random_normal(std::int64_t count, std::uint64_t seed,
                                         std::uint64_t stream) {
  std::vector<double> x(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double radius = 0.5 + 0.5 * random_uniform(seed, stream, 2 * i);  // (0,1)
    const double angle = std::numbers::pi * random_uniform(seed, stream, 2 * i + 1);
    x[i] = std::sqrt(-2 * std::log(radius)) * std::cos(angle);
  }
  return x;
}

/// Singular values of mode 1 (one large), 2 (one small), 3 (geometric), 4 (arithmetic), from 1 down
/// to 1/kappa.
inline std::vector<double> singular_values(std::int64_t n, double kappa, int mode) {
  std::vector<double> sigma(static_cast<std::size_t>(n), mode == 1 ? 1 / kappa : 1.);
  if (n == 1) return {1.};
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(n - 1);
    if (mode == 3) sigma[i] = std::pow(kappa, -t);
    if (mode == 4) sigma[i] = 1 - t * (1 - 1 / kappa);
  }
  if (mode == 1) sigma.front() = 1;
  if (mode == 2) sigma.back() = 1 / kappa;
  return sigma;
}

/// n rows (n > 0). Work: 20/3 n^3 operations. Memory: n^2 doubles.
inline HostBands random_svd(std::int64_t n, double kappa, int mode, std::uint64_t seed) {
  // U diag(sigma) V^T. A random orthogonal matrix is a product of reflections of ever longer normal
  // vectors and random signs (Stewart 1980).
  DenseMatrix A(n);
  const std::vector<double> sigma = singular_values(n, kappa, mode);
  for (std::int64_t i = 0; i < n; ++i) {
    A.row(i)[i] = random_uniform(seed, 64, i) < 0 ? -sigma[i] : sigma[i];
  }
  for (std::int64_t k = n - 2; k >= 0; --k) {
    // Rows and columns before k are still diagonal.
    Householder(k, random_normal(n - k, seed, 1000 + 2 * k)).apply_left(A, k);
    Householder(k, random_normal(n - k, seed, 1001 + 2 * k)).apply_right(A, k);
  }

  // bandred(A, 1, 1): clear column j below its second entry from the left, row j from the right.
  for (std::int64_t j = 0; j + 2 < n; ++j) {
    std::vector<double> x(static_cast<std::size_t>(n - j - 1));
    for (std::int64_t i = j + 1; i < n; ++i) x[i - j - 1] = A.row(i)[j];
    Householder(j + 1, x).apply_left(A, j);
    x.assign(A.row(j) + j + 1, A.row(j) + n);
    Householder(j + 1, x).apply_right(A, j);
  }

  HostBands bands{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  for (std::int64_t i = 0; i < n; ++i) {
    bands.diag[i] = A.row(i)[i];
    if (i > 0) bands.lower[i] = A.row(i)[i - 1];
    if (i + 1 < n) bands.upper[i] = A.row(i)[i + 1];
  }
  return bands;
}

}  // namespace Trikkos::Impl

#endif
