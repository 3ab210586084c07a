// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THOMAS_HPP
#define TRIKKOS_IMPL_THOMAS_HPP

#include <Trikkos_Status.hpp>
#include <impl/Trikkos_Fused.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// The Thomas algorithm: LU factorisation without pivoting, one system a thread.
///
///   p_i = b_i - (a_i / p_(i-1)) c_(i-1)          forward, p_0 = b_0
///   y_i = d_i - (a_i / p_(i-1)) y_(i-1)
///   x_i = (y_i - c_i x_(i+1)) / p_i              backward
///
/// A periodic matrix carries its last column w along, w_i = -(a_i / p_(i-1)) w_(i-1), and its last
/// row into the last pivot.
///
/// The backward sweep needs both y, which lives in x, and p. Where the caller gives no memory for
/// p, it is computed again from checkpoints, at most three times.

namespace Trikkos::Impl {

/// What the forward sweep hands from row to row besides y.
template <class T>
struct ThomasState {
  T p, w;
};

/// The first row that the forward sweep objects to: -1 if none.
struct ThomasVerdict {
  std::int64_t row = -1;
  Status::Reason reason = Status::Reason::none;
};

/// a / p, in fused operations: pivots that are computed again have to be the same pivots, however
/// ill-conditioned A is.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T quotient(const T& a, const T& p) {
  if constexpr (is_complex_v<T>) {
    const Real<T> s = scale_for<Real<T>>(exponent_field(p)), re = p.real() * s, im = p.imag() * s;
    const Real<T> square = fused(re, re, im * im);
    return T(fused(a.real(), re, a.imag() * im) / square * s,
             fused(a.imag(), re, -(a.real() * im)) / square * s);
  } else {
    return a / p;
  }
}

/// Of a matrix whose rows are those of `Bands`.
template <class T, class Rows = Bands<T>>
struct Thomas {
  const Rows& A;

  /// Growth of a pivot beyond its row by which rounding errors exceed some ten units in the last
  /// place; diagonally dominant matrices stay below 2.
  static constexpr int growth_limit = 16;

  KOKKOS_FORCEINLINE_FUNCTION ThomasState<T> start() const {
    return {A.n > 1 ? A.diag(0) : A.diag(0) + A.lower(0) + A.upper(0), A.lower(0)};
  }
  /// Rows 0 .. n-2; the couplings of rows 0 and n-1 across the corner are not part of them.
  KOKKOS_FORCEINLINE_FUNCTION ThomasState<T> next(const ThomasState<T>& s, std::int64_t i,
                                                  T& multiplier) const {
    multiplier = quotient(A.lower(i), s.p);
    return {fused(-multiplier, A.upper(i - 1), A.diag(i)), -product(multiplier, s.w)};
  }

  /// Forward sweep: y into x, the last unknown into x(n-1). `keep(i, state)` sees every state, and
  /// after it neither lower(i) nor diag(i) is read again.
  template <class Keep>
  KOKKOS_INLINE_FUNCTION ThomasVerdict forward(const Strided<const T>& b, const Strided<T>& x,
                                               const Keep& keep) const {
    const std::int64_t n = A.n;
    ThomasVerdict verdict;
    // `p` and `fill`, the elimination's part in the row, against the row: |L||U| against |A|, the
    // backward error of LU without pivoting. Rows of very different size, as a matrix dominant by
    // columns may have, fail that with multipliers up to 1, which are no worse than those of
    // partial pivoting. Below the normal numbers it cannot be judged.
    const auto check = [&](std::int64_t i, const T& p, const Real<T>& fill, bool small_multiplier) {
      if (verdict.row >= 0) return;
      const T lower = A.lower(i), diag = A.diag(i), upper = A.upper(i);
      auto size = magnitude(diag);
      size = magnitude(lower) > size ? magnitude(lower) : size;
      size = magnitude(upper) > size ? magnitude(upper) : size;
      const auto probe =
          finite_probe(lower) + finite_probe(diag) + finite_probe(upper) + finite_probe(b[i]);
      if (!(probe == 0))
        verdict = {i, Status::Reason::not_finite};
      else if (!(magnitude(p) > 0 && finite_probe(p) == 0 &&
                 (small_multiplier || magnitude(p) + fill <= growth_limit * size) &&
                 size >= Kokkos::Experimental::norm_min_v<Real<T>>))
        verdict = {i, Status::Reason::unstable};
    };
    ThomasState<T> s = start();
    T y = b[0];
    const bool ring = A.periodic && n > 1;
    // the last row: r at column i, its diagonal and right-hand side so far
    T r = ring ? A.upper(n - 1) : T(0), last_p = A.diag(n - 1), last_y = n > 1 ? b[n - 1] : y;
    Real<T> last_fill(0);
    bool last_small = false;
    for (std::int64_t i = 0; i < n - 1; ++i) {
      if (i > 0) {
        T l;
        s = next(s, i, l);
        y = b[i] - l * y;
        check(i, s.p, magnitude(l * A.upper(i - 1)) + magnitude(s.w), magnitude(l) <= 1);
      } else {
        check(i, s.p, Real<T>(0), false);
      }
      x[i] = y;
      keep(i, s);
      if (!ring && i < n - 2) continue;
      // row n-1 loses column i: to the corner's fill and, at i = n-2, to its own lower entry
      if (i == n - 2) r += A.lower(n - 1);
      const T m = r / s.p, column = s.w + (i == n - 2 ? A.upper(n - 2) : T(0));
      last_p -= m * column;
      last_fill += magnitude(m * column) + magnitude(m * A.upper(i));
      last_y -= m * y;
      r = -m * A.upper(i);
      last_small = !ring && magnitude(m) <= 1;
    }
    if (n == 1) last_p = s.p;
    check(n - 1, last_p, last_fill, last_small);
    x[n - 1] = last_y / last_p;
    keep(n - 1, {last_p, T(0)});
    return verdict;
  }

  KOKKOS_FORCEINLINE_FUNCTION void back(const Strided<T>& x, std::int64_t i, const T& last,
                                        const ThomasState<T>& s) const {
    T y = x[i] - s.w * last;
    y -= A.upper(i) * x[i + 1];
    x[i] = y / s.p;
  }

  /// Once the backward sweep has come to row 0: an unknown that is not finite spoils all before it.
  KOKKOS_FORCEINLINE_FUNCTION static ThomasVerdict judged(const ThomasVerdict& verdict,
                                                          const Strided<T>& x) {
    if (verdict.row >= 0 || finite_probe(x[0]) == 0) return verdict;
    return {0, Status::Reason::not_finite};
  }

  /// Backward sweep over rows [first, end) from the state of row `first`, by computing the states
  /// again: those of every width^(Level-1)-th row, and then each stretch between.
  template <int Level>
  KOKKOS_INLINE_FUNCTION void back_again(const Strided<T>& x, std::int64_t first, std::int64_t end,
                                         const T& last, ThomasState<T> s) const {
    constexpr int width = 16;
    std::int64_t stretch = 1;
    for (int k = 1; k < Level; ++k) stretch *= width;
    ThomasState<T> state[width];
    int count = 0;
    T l;
    for (std::int64_t i = first; i < end; ++i) {
      if (i > first) s = next(s, i, l);
      if ((i - first) % stretch == 0) state[count++] = s;
    }
    while (count-- > 0) {
      const std::int64_t from = first + count * stretch;
      if constexpr (Level == 1) {
        back(x, from, last, state[count]);
      } else {
        const std::int64_t to = from + stretch < end ? from + stretch : end;
        back_again<Level - 1>(x, from, to, last, state[count]);
      }
    }
  }

  /// Solves without memory: rows in blocks of 16^3, whose first states are computed from row 0.
  KOKKOS_INLINE_FUNCTION ThomasVerdict solve(const Strided<const T>& b, const Strided<T>& x) const {
    if (A.n == 0) return {};
    const ThomasVerdict verdict = forward(b, x, [](std::int64_t, const ThomasState<T>&) {});
    constexpr std::int64_t block = 16 * 16 * 16;
    const std::int64_t rows = A.n - 1;
    const T last = x[A.n - 1];
    for (std::int64_t first = (rows - 1) / block * block; first >= 0 && rows > 0; first -= block) {
      ThomasState<T> s = start();
      T l;
      for (std::int64_t i = 1; i <= first; ++i) s = next(s, i, l);
      back_again<3>(x, first, first + block < rows ? first + block : rows, last, s);
    }
    return judged(verdict, x);
  }

  /// Solves with memory for n states: `keep(i, state)` stores one, `kept(i)` is it.
  template <class Keep, class Kept>
  KOKKOS_INLINE_FUNCTION ThomasVerdict solve(const Strided<const T>& b, const Strided<T>& x,
                                             const Keep& keep, const Kept& kept) const {
    if (A.n == 0) return {};
    const ThomasVerdict verdict = forward(b, x, keep);
    const T last = x[A.n - 1];
    for (std::int64_t i = A.n - 2; i >= 0; --i) back(x, i, last, kept(i));
    return judged(verdict, x);
  }
  KOKKOS_INLINE_FUNCTION ThomasVerdict solve(const Strided<const T>& b, const Strided<T>& x,
                                             ThomasState<T>* states) const {
    return solve(
        b, x, [&](std::int64_t i, const ThomasState<T>& s) { states[i] = s; },
        [&](std::int64_t i) { return states[i]; });
  }

  /// Solves an open system again, in place, with the pivots of an earlier solve.
  template <class Kept>
  KOKKOS_INLINE_FUNCTION void solve_again(const Strided<T>& x, const Kept& kept) const {
    for (std::int64_t i = 1; i < A.n; ++i) x[i] -= quotient(A.lower(i), kept(i - 1).p) * x[i - 1];
    for (std::int64_t i = A.n - 1; i >= 0; --i) {
      const T y = i < A.n - 1 ? x[i] - A.upper(i) * x[i + 1] : x[i];
      x[i] = y / kept(i).p;
    }
  }
};

}  // namespace Trikkos::Impl

#endif
