// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CYCLICROWS_HPP
#define TRIKKOS_IMPL_CYCLICROWS_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// What cyclic reduction and parallel cyclic reduction share: rows, the elimination of a row's
/// neighbours, and the monitor, as neither pivots.
///
/// A periodic matrix is bordered: its first n-1 rows are an open system, solved for b and for the
/// last column, y and z; then x_i = y_i - z_i x_(n-1), and the last row gives x_(n-1).

namespace Trikkos::Impl {

/// lower x_(i-s) + diag x_i + upper x_(i+s) = rhs, with two right-hand sides for a periodic matrix.
template <class T, int Rhs>
struct CyclicRow {
  T lower, diag, upper, rhs[Rhs];
};

/// The first row that a thread objects to.
class CyclicVerdict {
 public:
  KOKKOS_INLINE_FUNCTION void note(Status::Reason reason, std::int64_t row) {
    if (row >= m_row && m_row >= 0) return;
    m_row = row;
    m_reason = reason;
  }
  /// What comes from Inf or NaN, in the data or by overflow, elsewhere: second choice.
  KOKKOS_INLINE_FUNCTION void note_overflow(std::int64_t row) {
    if (row < m_overflow || m_overflow < 0) m_overflow = row;
  }
  /// Tells a Diagnosis. `spacing`: distance of the rows in the matrix, 2^level.
  KOKKOS_INLINE_FUNCTION void report(const Diagnosis& diagnosis, std::int64_t spacing) const {
    if (m_row >= 0) diagnosis.report(m_reason, (m_row + 1) * spacing - 1);
    if (m_overflow >= 0) diagnosis.report_solution((m_overflow + 1) * spacing - 1);
  }
  /// A number that is smaller the more a row is to be named: `row(n, smallest)` is that row.
  KOKKOS_INLINE_FUNCTION std::int64_t rank(std::int64_t n) const {
    return m_row >= 0 ? m_row : m_overflow >= 0 ? n + m_overflow : 2 * n;
  }
  KOKKOS_INLINE_FUNCTION static std::int64_t row(std::int64_t n, std::int64_t rank) {
    return rank < n ? rank : rank < 2 * n ? rank - n : -1;
  }

 private:
  std::int64_t m_row = -1, m_overflow = -1;
  Status::Reason m_reason = Status::Reason::none;
};

/// 1 / v, of any v: `reciprocal` wants numbers in the middle of the range.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T inverse(const T& v) {
  if constexpr (is_complex_v<T>)
    return reciprocal(v);
  else
    return T(1) / v;
}

/// A row after both its neighbours at distance s are eliminated from it: it is coupled to rows at
/// distance 2 s then.
///
/// Without pivoting, this is harmless where what is added to the row is no larger than the row
/// (always so if the matrix is diagonally dominant by rows) or where no multiplier exceeds 1 (by
/// columns). Reduced matrices inherit dominance; the factor of 2 is for magnitudes of complex
/// numbers, and spares what is nearly dominant.
template <class T, int Rhs>
KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> eliminate_neighbours(const CyclicRow<T, Rhs>& before,
                                                                   const CyclicRow<T, Rhs>& row,
                                                                   const CyclicRow<T, Rhs>& after,
                                                                   std::int64_t i, std::int64_t s,
                                                                   CyclicVerdict& verdict) {
  const T alpha = row.lower * inverse(before.diag), beta = row.upper * inverse(after.diag);
  const T from_before = alpha * before.upper, from_after = beta * after.lower;
  CyclicRow<T, Rhs> result;
  result.lower = -(alpha * before.lower);
  result.diag = row.diag - from_before - from_after;
  result.upper = -(beta * after.upper);
  for (int k = 0; k < Rhs; ++k)
    result.rhs[k] = row.rhs[k] - alpha * before.rhs[k] - beta * after.rhs[k];

  using namespace Kokkos::Experimental;
  constexpr auto largest = finite_max_v<Real<T>>, one = 1 + 16 * epsilon_v<Real<T>>;
  const auto fill = magnitude(result.lower) + magnitude(from_before) + magnitude(from_after) +
                    magnitude(result.upper);
  const auto size = magnitude(row.lower) + magnitude(row.diag) + magnitude(row.upper);
  const bool small_multipliers = magnitude(alpha) <= one && magnitude(beta) <= one;
  if (fill <= (small_multipliers ? largest : 2 * size) && magnitude(result.diag) <= largest)
    return result;
  if (!(finite_probe(result.diag) + finite_probe(fill) == 0)) verdict.note_overflow(i);
  if (magnitude(before.diag) == 0) verdict.note(Status::Reason::unstable, i - s);
  if (magnitude(after.diag) == 0) verdict.note(Status::Reason::unstable, i + s);
  if (!small_multipliers && fill > 2 * size) verdict.note(Status::Reason::unstable, i);
  return result;
}

/// Rows in memory: lower, diag, upper and the right-hand sides, n words each. On chip an `Index` of
/// 32 bits is enough, and faster.
template <class T, int Rhs, class Index = std::int64_t>
struct CyclicRows {
  static constexpr int words = 3 + Rhs;  // a row
  static constexpr bool bordered = false;

  T* data;
  Index n;

  KOKKOS_FORCEINLINE_FUNCTION T* lower() const { return data; }
  KOKKOS_FORCEINLINE_FUNCTION T* diag() const { return data + n; }
  KOKKOS_FORCEINLINE_FUNCTION T* upper() const { return data + 2 * n; }
  KOKKOS_FORCEINLINE_FUNCTION T* rhs(int k) const { return data + (3 + k) * n; }

  KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> row(Index i) const {
    CyclicRow<T, Rhs> r;
    r.lower = lower()[i];
    r.diag = diag()[i];
    r.upper = upper()[i];
    for (int k = 0; k < Rhs; ++k) r.rhs[k] = rhs(k)[i];
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(Index i, const CyclicRow<T, Rhs>& r) const {
    lower()[i] = r.lower;
    diag()[i] = r.diag;
    upper()[i] = r.upper;
    for (int k = 0; k < Rhs; ++k) rhs(k)[i] = r.rhs[k];
  }
  /// Beyond the ends: a row of the unit matrix.
  KOKKOS_FORCEINLINE_FUNCTION static CyclicRow<T, Rhs> no_row() {
    CyclicRow<T, Rhs> r{};
    r.diag = T(1);
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> row_or_none(Index i) const {
    return i >= 0 && i < n ? row(i) : no_row();
  }
  KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> checked_row(Index i, CyclicVerdict&) const {
    return row(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION T solution(int k, Index i) const { return rhs(k)[i]; }
  KOKKOS_FORCEINLINE_FUNCTION void set_solution(int k, Index i, const T& v, CyclicVerdict&) const {
    rhs(k)[i] = v;
  }
};

/// The rows of a matrix and where its solution goes. For Rhs 2, a periodic one: its open part.
template <class T, int Rhs>
struct MatrixRows {
  static constexpr bool bordered = Rhs == 2;

  Bands<T> A;
  Strided<const T> b;
  Strided<T> x;  // y until the border is known
  T* border;     // z
  std::int64_t n;

  KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> row(std::int64_t i) const {
    CyclicRow<T, Rhs> r;
    r.lower = A.lower(i);
    r.diag = A.diag(i);
    r.upper = A.upper(i);
    r.rhs[0] = b[i];
    if constexpr (Rhs == 2) {
      r.rhs[1] = T(0);
      if (i == 0) {
        r.rhs[1] += r.lower;
        r.lower = T(0);
      }
      if (i == n - 1) {
        r.rhs[1] += r.upper;
        r.upper = T(0);
      }
    } else if (A.n == 1) {
      r.diag += r.lower + r.upper;  // the corners of a periodic matrix, else zeros
      r.lower = r.upper = T(0);
    }
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> row_or_none(std::int64_t i) const {
    return i >= 0 && i < n ? row(i) : CyclicRows<T, Rhs>::no_row();
  }
  /// ... with a look at the data. Below the normal numbers stability cannot be judged.
  KOKKOS_FORCEINLINE_FUNCTION CyclicRow<T, Rhs> checked_row(std::int64_t i,
                                                            CyclicVerdict& verdict) const {
    const auto r = row(i);
    const auto probe = finite_probe(r.lower) + finite_probe(r.diag) + finite_probe(r.upper) +
                       finite_probe(r.rhs[0]) + finite_probe(r.rhs[Rhs - 1]);
    const auto size = magnitude(r.lower) + magnitude(r.diag) + magnitude(r.upper);
    if (!(probe == 0))
      verdict.note(Status::Reason::not_finite, i);
    else if (!(size >= Kokkos::Experimental::norm_min_v<Real<T>>))
      verdict.note(Status::Reason::unstable, i);
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION T solution(int k, std::int64_t i) const {
    return k == 0 ? x[i] : border[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_solution(int k, std::int64_t i, const T& v,
                                                CyclicVerdict& verdict) const {
    if (!(finite_probe(v) == 0)) verdict.note_overflow(i);
    if (k == 0)
      x[i] = v;
    else
      border[i] = v;
  }

  /// The last unknown of a periodic matrix from those before it, `values.solution(k, i)`.
  template <class Values>
  KOKKOS_INLINE_FUNCTION T last_unknown(const Values& values, CyclicVerdict& verdict) const {
    const T right = A.upper(n), left = A.lower(n), diag = A.diag(n);
    const T from_first = right * values.solution(1, 0),
            from_last = left * values.solution(1, n - 1);
    const T pivot = diag - from_first - from_last;
    const auto size = magnitude(left) + magnitude(diag) + magnitude(right);
    const auto fill = magnitude(from_first) + magnitude(from_last);
    const auto probe =
        finite_probe(left) + finite_probe(diag) + finite_probe(right) + finite_probe(b[n]);
    if (!(probe == 0))
      verdict.note(Status::Reason::not_finite, n);
    else if (!(finite_probe(fill) + finite_probe(pivot) == 0))
      verdict.note_overflow(n);
    else if (!(magnitude(pivot) > 0 && fill <= 2 * size))
      verdict.note(Status::Reason::unstable, n);
    return quotient(b[n] - right * values.solution(0, 0) - left * values.solution(0, n - 1), pivot);
  }
};

}  // namespace Trikkos::Impl

#endif
