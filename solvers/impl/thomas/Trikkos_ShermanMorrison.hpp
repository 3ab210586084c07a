// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SHERMANMORRISON_HPP
#define TRIKKOS_IMPL_SHERMANMORRISON_HPP

#include <impl/factored/Trikkos_FactoredSweep.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// Periodic matrices as open ones plus a matrix of rank one (Gloster et al. 2019,
/// equations 12 to 15; their 13b still shows the corners in A', their 14 has x for z):
///
///   A = A' + u v^T    u = (-b_0, 0, ..., 0, A(n-1, 0))    v = (1, 0, ..., 0, -A(0, n-1) / b_0)
///   A' y = d          A' z = u                            x = y - z (v^T y) / (1 + v^T z)
///
/// The first entry of A' is 2 b_0, its last one b_(n-1) + A(0, n-1) A(n-1, 0) / b_0. It is
/// dominant if A is.
///
/// Errors: of A' they are |A'| (|y| + |theta| |z|) units, theta = v^T x being what z is multiplied
/// by. So relative to |A| |x| they grow by (1 + |v|)^2 (1 + 2 |z|) at most, v without its 1, which
/// is measured. A small 1 + v^T z means that A is nearly singular, and x large; but it must not be
/// rounding alone.

namespace Trikkos::Impl {

/// The rows of A', of more than one row.
template <class T>
struct WithoutCorners {
  Bands<T> A;
  std::int64_t n;
  T first_u, last_u, last_v;
  T first_diag, last_diag;
  static constexpr bool periodic = false;

  KOKKOS_FUNCTION explicit WithoutCorners(const Bands<T>& A_)
      : A(A_),
        n(A.n),
        first_u(-A.diag(0)),
        last_u(A.upper(n - 1)),
        last_v(quotient(A.lower(0), first_u)),
        first_diag(A.diag(0) - first_u),
        last_diag(A.diag(n - 1) - product(last_u, last_v)) {}

  KOKKOS_FORCEINLINE_FUNCTION T lower(std::int64_t i) const { return i > 0 ? A.lower(i) : T(0); }
  KOKKOS_FORCEINLINE_FUNCTION T diag(std::int64_t i) const {
    return i == 0 ? first_diag : i == n - 1 ? last_diag : A.diag(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION T upper(std::int64_t i) const {
    return i < n - 1 ? A.upper(i) : T(0);
  }

  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    return j < 0 ? lower(i) : j > 0 ? upper(i) : diag(i);
  }

  KOKKOS_FORCEINLINE_FUNCTION T u(std::int64_t i) const {
    return i == 0 ? first_u : i == n - 1 ? last_u : T(0);
  }
  /// v^T y, of a y given by its ends.
  KOKKOS_FORCEINLINE_FUNCTION T v(const T& first, const T& last) const {
    return fused(last_v, last, first);
  }
  /// Whether x may be made with this z.
  KOKKOS_INLINE_FUNCTION bool trusts(const Strided<T>& z) const {
    constexpr int growth_limit = 16;  // matrices dominant by rows: 12, or 4 (1 + 2 |z|)
    Real<T> size(0);
    for (std::int64_t i = 0; i < n; ++i)
      if (!(magnitude(z[i]) <= size)) size = magnitude(z[i]);
    const T end = product(last_v, z[n - 1]), sum = T(1) + z[0] + end;
    const Real<T> terms = Real<T>(1) + magnitude(z[0]) + magnitude(end),
                  one_v = Real<T>(1) + magnitude(last_v);
    constexpr Real<T> epsilon = Kokkos::Experimental::epsilon_v<Real<T>>;
    return one_v * one_v * (1 + 2 * size) <= growth_limit &&
           magnitude(sum) > growth_limit * epsilon * terms;
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
  const Strided<T> z{&states[0].w, 2};
  for (std::int64_t i = 0; i < n; ++i) z[i] = rows.u(i);
  open.solve_again(z, [&](std::int64_t i) { return states[i]; });
  if (verdict.row < 0 && !rows.trusts(z)) verdict = {n - 1, Status::Reason::unstable};
  const T theta = quotient(rows.v(x[0], x[n - 1]), T(1) + rows.v(z[0], z[n - 1]));
  for (std::int64_t i = 0; i < n; ++i) x[i] -= theta * z[i];
  return verdict;
}

// ---- a Plan's one matrix

/// Factors of A', z / (1 + v^T z), and the last entry of v.
template <class T>
struct CorrectedFactors {
  Factors<T> open;
  Strided<T> z;
  T* last_v;
  std::int64_t words;

  KOKKOS_INLINE_FUNCTION constexpr CorrectedFactors(std::int64_t n, T* data)
      : open(Factors<T>::whole(n, false, data)),
        z{data == nullptr ? nullptr : data + open.words, 1},
        last_v(z.data + (data == nullptr ? 0 : n)),
        words(open.words + n + 1) {}
};

/// Makes z, once A' is factored. Returns whether it is to be used.
template <class T>
KOKKOS_INLINE_FUNCTION bool make_correction(const Bands<T>& A, const CorrectedFactors<T>& factors) {
  const WithoutCorners<T> rows(A);
  const Strided<T> z = factors.z;
  sweep(
      factors.open, [&](std::int64_t i) { return rows.u(i); }, z);
  const bool result = rows.trusts(z);
  const T sum = T(1) + rows.v(z[0], z[A.n - 1]);
  for (std::int64_t i = 0; i < A.n; ++i) z[i] = quotient(z[i], sum);
  *factors.last_v = rows.last_v;
  return result;
}
/// The same as a kernel, which withdraws factors that are not to be used.
template <class T>
struct CorrectFactors {
  Bands<T> A;
  CorrectedFactors<T> factors;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    if (!make_correction(A, factors))
      *factors.open.verdict = T(static_cast<int>(FactorsAre::unsafe));
  }
};

/// x from y, which it replaces. Returns not a number unless x is finite.
template <class T>
KOKKOS_INLINE_FUNCTION Real<T> correct(const CorrectedFactors<T>& factors, const Strided<T>& x) {
  const std::int64_t n = factors.open.n;
  const T theta = fused(*factors.last_v, x[n - 1], x[0]);
  Real<T> probe(0);
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = fused(-theta, factors.z[i], x[i]);
    probe += finite_probe(x[i]);
  }
  return probe;
}

}  // namespace Trikkos::Impl

#endif
