// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SHERMANMORRISON_HPP
#define TRIKKOS_IMPL_SHERMANMORRISON_HPP

#include <Trikkos_Options.hpp>
#include <impl/factored/Trikkos_FactoredSweep.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// Periodic matrices as open ones plus a matrix of rank W (Sherman and Morrison; Woodbury for W >
/// 1):
///
///   A = A' + u v^T    u = (D, 0, ..., 0, B)    v^T = (1, 0, ..., 0, D^-1 C)    D = -diag(b_0 ..
///   b_(W-1)) A' y = d          A' z = u                 x = y - z (1 + v^T z)^-1 v^T y
///
/// with the corners C, the first W rows of the last W columns, and B, the last W rows of the first
/// W columns. A' is 2 b_i in its first W rows, and in its last W rows and columns less by B D^-1 C.
/// It is dominant if A is. (W = 1: Gloster et al. 2019, equations 12 to 15; their 13b still shows
/// the corners in A', their 14 has x for z.)
///
/// Errors: of A' they are |A'| (|y| + |theta| |z|) units, theta = v^T x being what z is multiplied
/// by. So relative to |A| |x| they grow by (1 + |v|)^2 (1 + 2 |z|) at most, v without its 1, which
/// is measured. A small 1 + v^T z means that A is nearly singular, and x large; but it must not be
/// rounding alone.

namespace Trikkos::Impl {

/// The rows of A', of more than W rows.
template <class T, int W = 1, class Matrix = Bands<T, W>>
struct WithoutCorners {
  Matrix A;
  std::int64_t n;
  T first_u[W];             // D
  T last_u[W][W] = {};      // B
  T last_v[W][W] = {};      // D^-1 C, row r of which belongs to v's r-th column
  T last_block[W][W] = {};  // B D^-1 C
  static constexpr bool periodic = false;

  KOKKOS_FUNCTION explicit WithoutCorners(const Matrix& A_) : A(A_), n(A.n) {
    for (int r = 0; r < W; ++r) first_u[r] = -A.diag(r);
    put_corners(std::make_integer_sequence<int, W>{});
    for (int r = 0; r < W; ++r)
      for (int c = 0; c < W; ++c) last_v[r][c] = quotient(last_v[r][c], first_u[r]);
    for (int r = 0; r < W; ++r)
      for (int c = 0; c < W; ++c)
        for (int k = 0; k < W; ++k) last_block[r][c] += product(last_u[r][k], last_v[k][c]);
  }

  KOKKOS_FORCEINLINE_FUNCTION T lower(std::int64_t i) const { return entry<-1>(i); }
  KOKKOS_FORCEINLINE_FUNCTION T diag(std::int64_t i) const { return entry<0>(i); }
  KOKKOS_FORCEINLINE_FUNCTION T upper(std::int64_t i) const { return entry<1>(i); }

  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    const std::int64_t column = i + j;
    if (column < 0 || column >= n) return T(0);
    T v = A.template entry<j>(i);
    for (int r = 0; r < W; ++r) {
      if (j == 0 && i == r) v -= first_u[r];
      for (int c = 0; c < W; ++c)
        if (i == n - W + r && column == n - W + c) v -= last_block[r][c];
    }
    return v;
  }

  /// Column c of u.
  KOKKOS_FORCEINLINE_FUNCTION T u(std::int64_t i, int c = 0) const {
    T v(0);
    for (int r = 0; r < W; ++r) {
      if (i == r && c == r) v += first_u[r];
      if (i == n - W + r) v += last_u[r][c];
    }
    return v;
  }
  /// Column r of v, transposed, times y.
  KOKKOS_FORCEINLINE_FUNCTION T v(const Strided<T>& y, int r = 0) const {
    T sum = y[r];
    for (int c = 0; c < W; ++c) sum = fused(last_v[r][c], y[n - W + c], sum);
    return sum;
  }

 private:
  /// C into last_v, B into last_u.
  template <int... k>
  KOKKOS_FORCEINLINE_FUNCTION void put_corners(std::integer_sequence<int, k...>) {
    (put_corner<k>(), ...);
  }
  /// Those of the diagonals k + 1 from the main one.
  template <int k>
  KOKKOS_FORCEINLINE_FUNCTION void put_corner() {
    constexpr int j = k + 1;
    for (int r = 0; r < j; ++r) {
      last_v[r][W - j + r] = A.template entry<-j>(r);
      last_u[W - j + r][r] = A.template entry<j>(n - j + r);
    }
  }
};

/// 1 + v^T z, by which v^T y is divided: Gauss and Jordan, with the larger pivots first.
template <class T, int W = 1>
class CornerMatrix {
  int m_from[W];  // the column that was taken for the k-th
  T m_pivot[W], m_multiplier[W][W];
  Real<T> m_growth{}, m_terms{};

 public:
  template <class Rows>
  KOKKOS_FUNCTION CornerMatrix(const Rows& rows, const Strided<T> (&z)[W]) {
    T at[W][W];
    Real<T> size(0), one_v(0);
    for (int r = 0; r < W; ++r) {
      Real<T> row(1);
      for (int k = 0; k < W; ++k) row += magnitude(rows.last_v[r][k]);
      raise<T>(one_v, row);
      for (int c = 0; c < W; ++c) {
        at[c][r] = T(r == c ? 1 : 0) + rows.v(z[c], r);
        Real<T> terms = Real<T>(r == c ? 1 : 0) + magnitude(z[c][r]);
        for (int k = 0; k < W; ++k)
          terms += magnitude(product(rows.last_v[r][k], z[c][rows.n - W + k]));
        raise<T>(m_terms, terms);
      }
    }
    for (std::int64_t i = 0; i < rows.n; ++i) {
      Real<T> row(0);
      for (int c = 0; c < W; ++c) row += magnitude(z[c][i]);
      raise<T>(size, row);
    }
    m_growth = one_v * one_v * (1 + 2 * size);
    eliminate(at);
  }
  /// Whether x may be made with this z.
  KOKKOS_FUNCTION bool is_trusted() const {
    constexpr int growth_limit = 16;  // matrices dominant by rows: 12, or 4 (1 + 2 |z|)
    constexpr Real<T> epsilon = Kokkos::Experimental::epsilon_v<Real<T>>;
    bool result = m_growth <= growth_limit;
    for (const T& pivot : m_pivot)
      result = result && magnitude(pivot) > growth_limit * epsilon * m_terms;
    return result;
  }
  KOKKOS_FORCEINLINE_FUNCTION void divide(T (&v)[W]) const {
    for (int k = 0; k < W; ++k) combine(v, k);
  }

  static constexpr int words = W * (W + 2);
  KOKKOS_FUNCTION explicit CornerMatrix(const T* from) {
    for (int k = 0; k < W; ++k) {
      m_from[k] = static_cast<int>(magnitude(*from++));
      m_pivot[k] = *from++;
      for (int c = 0; c < W; ++c) m_multiplier[k][c] = *from++;
    }
  }
  KOKKOS_FUNCTION void store(T* to) const {
    for (int k = 0; k < W; ++k) {
      *to++ = T(m_from[k]);
      *to++ = m_pivot[k];
      for (int c = 0; c < W; ++c) *to++ = m_multiplier[k][c];
    }
  }

 private:
  KOKKOS_FUNCTION void eliminate(T (&at)[W][W]) {
    for (int k = 0; k < W; ++k) {
      m_from[k] = k;
      for (int c = k + 1; c < W; ++c)
        if (magnitude(at[k][c]) > magnitude(at[k][m_from[k]])) m_from[k] = c;
      m_pivot[k] = at[k][m_from[k]];
      for (int c = 0; c < W; ++c) m_multiplier[k][c] = c == m_from[k] ? at[k][k] : at[k][c];
      for (int r = k + 1; r < W; ++r) combine(at[r], k);
    }
  }
  /// As row k of the matrix becomes one of the unit matrix.
  KOKKOS_FORCEINLINE_FUNCTION void combine(T (&row)[W], int k) const {
    for (int c = k + 1; c < W; ++c)
      if (m_from[k] == c) Kokkos::kokkos_swap(row[k], row[c]);
    row[k] = quotient(row[k], m_pivot[k]);
    for (int c = 0; c < W; ++c)
      if (c != k) row[c] -= m_multiplier[k][c] * row[k];
  }
};

/// One right-hand side, with memory for n states, whose w is z.
template <class T>
KOKKOS_INLINE_FUNCTION ThomasVerdict solve_by_sherman_morrison(const Bands<T>& A,
                                                               const Strided<const T>& b,
                                                               const Strided<T>& x,
                                                               ThomasState<T>* states) {
  const std::int64_t n = A.n;
  if (n < 2) return Thomas<T>{A}.solve(b, x, states);
  const WithoutCorners<T> rows(A);
  const Thomas<T, WithoutCorners<T>> open{rows};
  ThomasVerdict verdict = open.solve(b, x, states);
  const Strided<T> z[1] = {{&states[0].w, 2}};
  for (std::int64_t i = 0; i < n; ++i) z[0][i] = rows.u(i);
  open.solve_again(z[0], [&](std::int64_t i) { return states[i]; });
  const CornerMatrix<T> corners(rows, z);
  if (verdict.row < 0 && !corners.is_trusted()) verdict = {n - 1, Status::Reason::unstable};
  T theta[1] = {rows.v(x)};
  corners.divide(theta);
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] -= theta[0] * z[0][i];
    if (verdict.row < 0 && !(finite_probe(x[i]) == 0)) verdict = {i, Status::Reason::not_finite};
  }
  return verdict;
}

// ---- with factors

/// Factors of A', z, the last rows of v, and 1 + v^T z. For W = 1 z is divided by that beforehand.
/// (For W = 2 rows of z would have errors of its condition number, each row another one.)
template <class T, int W = 1>
struct CorrectedFactors {
  Factors<T, W> open;
  T *z, *last_v, *corners;
  std::int64_t words;

  KOKKOS_INLINE_FUNCTION constexpr CorrectedFactors(std::int64_t n, T* data)
      : open(Factors<T, W>::whole(n, false, data)),
        z(data == nullptr ? nullptr : data + open.words),
        last_v(data == nullptr ? nullptr : z + W * n),
        corners(data == nullptr ? nullptr : last_v + W * W),
        words(open.words + W * n + W * W + (W > 1 ? CornerMatrix<T, W>::words : 0)) {}
  /// As `Factors`; it is periodic.
  KOKKOS_INLINE_FUNCTION static constexpr CorrectedFactors whole(std::int64_t n, bool, T* data) {
    return {n, data};
  }

  /// Column c.
  KOKKOS_FORCEINLINE_FUNCTION Strided<T> column(int c) const { return {z + c * open.n, 1}; }
};

/// Makes z, once A' is factored. Returns whether it is to be used.
template <class Matrix, class T, int W>
KOKKOS_INLINE_FUNCTION bool make_correction(const Matrix& A,
                                            const CorrectedFactors<T, W>& factors) {
  const WithoutCorners<T, W, Matrix> rows(A);
  Strided<T> z[W];
  for (int c = 0; c < W; ++c) {
    z[c] = factors.column(c);
    sweep(
        factors.open, [&](std::int64_t i) { return rows.u(i, c); }, z[c]);
  }
  const CornerMatrix<T, W> corners(rows, z);
  if constexpr (W == 1) {
    for (std::int64_t i = 0; i < A.n; ++i) {
      T row[1] = {z[0][i]};
      corners.divide(row);
      z[0][i] = row[0];
    }
  } else {
    corners.store(factors.corners);
  }
  for (int r = 0; r < W; ++r)
    for (int c = 0; c < W; ++c) factors.last_v[r * W + c] = rows.last_v[r][c];
  return corners.is_trusted();
}
/// One thread factors, as it does without a correction.
template <class Matrix, class T, int W>
KOKKOS_INLINE_FUNCTION std::int64_t factor_rows(const Matrix& A,
                                                const CorrectedFactors<T, W>& factors) {
  const std::int64_t bad = factor_rows(WithoutCorners<T, W, Matrix>(A), factors.open);
  return make_correction(A, factors) || bad >= 0 ? bad : A.n - 1;
}
/// `make_correction` as a kernel, which withdraws factors that are not to be used.
template <class T, int W>
struct CorrectFactors {
  Bands<T, W> A;
  CorrectedFactors<T, W> factors;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    if (!make_correction(A, factors))
      *factors.open.verdict = T(static_cast<int>(FactorsAre::unsafe));
  }
};

/// x from y, which it replaces. Returns not a number unless x is finite.
template <class T, int W>
KOKKOS_INLINE_FUNCTION Real<T> correct(const CorrectedFactors<T, W>& factors, const Strided<T>& x) {
  const std::int64_t n = factors.open.n;
  T theta[W];
  for (int r = 0; r < W; ++r) {
    theta[r] = x[r];
    for (int c = 0; c < W; ++c) theta[r] = fused(factors.last_v[r * W + c], x[n - W + c], theta[r]);
  }
  if constexpr (W > 1) CornerMatrix<T, W>(factors.corners).divide(theta);
  Real<T> probe(0);
  for (std::int64_t i = 0; i < n; ++i) {
    T v = x[i];
    for (int c = 0; c < W; ++c) v = fused(-theta[c], factors.z[c * n + i], v);
    x[i] = v;
    probe += finite_probe(v);
  }
  return probe;
}
/// As without a correction.
template <class T, int W, class Right>
KOKKOS_INLINE_FUNCTION Real<T> sweep(const CorrectedFactors<T, W>& factors, const Right& right,
                                     const Strided<T>& x) {
  sweep(factors.open, right, x);
  return correct(factors, x);
}

/// Whether the options ask for a correction.
template <int W>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool corrects_corners(const Options& options, std::int64_t n,
                                                            bool periodic) {
  return periodic && n > W && options.thomas().corners == Corners::sherman_morrison;
}
template <class T, int W, bool corrects>
using FactorsFor = std::conditional_t<corrects, CorrectedFactors<T, W>, Factors<T, W>>;

/// One thread factors. Objects to the first row by which the factors are not to be used, or to the
/// one that is not finite before it.
template <class T, int W, class FactorsOf>
KOKKOS_INLINE_FUNCTION ThomasVerdict factor_watched(const Bands<T, W>& A,
                                                    const FactorsOf& factors) {
  const std::int64_t bad = factor_rows(A, factors);
  Real<T> probe(0);
  for (std::int64_t i = 0; i <= bad; ++i) {
    A.for_row(i, [&](std::int64_t, const T& v) { probe += finite_probe(v); });
    if (!(probe == 0)) return {i, Status::Reason::not_finite};
  }
  return {bad, Status::Reason::unstable};
}
/// One right-hand side, with memory for the factors. Objects to what is not finite in x, too.
template <class T, int W, class FactorsOf>
KOKKOS_INLINE_FUNCTION ThomasVerdict factor_and_solve(const Bands<T, W>& A,
                                                      const FactorsOf& factors,
                                                      const Strided<const T>& b,
                                                      const Strided<T>& x) {
  ThomasVerdict verdict = factor_watched(A, factors);
  const auto object = [&](std::int64_t i) { verdict = {i, Status::Reason::not_finite}; };
  const auto right = [&](std::int64_t i) {
    const T d = b[i];
    if (!(finite_probe(d) == 0) && (verdict.row < 0 || i < verdict.row)) object(i);
    return d;
  };
  const Real<T> probe = sweep(factors, right, x);
  for (std::int64_t i = 0; !(probe == 0) && verdict.row < 0 && i < A.n; ++i)
    if (!(finite_probe(x[i]) == 0)) object(i);
  return verdict;
}

}  // namespace Trikkos::Impl

#endif
