// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MINORS_HPP
#define TRIKKOS_IMPL_MINORS_HPP

#include <impl/Trikkos_ScaledNumber.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// The inverse X of a tridiagonal matrix from its leading minors theta_i (of the first i rows) and
/// trailing minors phi_i (of the rows from i on), Usmani 1994:
///
///   X(i,j) = theta_i phi_(j+1) / det * product of -upper(k), i <= k < j           for i <= j
///   X(i,j) = theta_j phi_(i+1) / det * product of -lower(k), j < k <= i           for i >= j
///
///   theta_(i+1) = diag(i) theta_i - lower(i) upper(i-1) theta_(i-1)
///
/// These are known as unusable: minors leave the number range, and where A is ill-conditioned their
/// errors are not those of one matrix. Both ends with the number type: `Scaled` numbers have their
/// own exponents, and twice the digits. Each minor is that of a matrix whose entries differ from
/// A's by some 2^-105; so X has the condition number times that as error, and its last rounding,
/// whatever minors vanish on the way. All this is done once for each row, so it is cheap.
///
/// Trailing minors are the leading ones of the matrix with rows and columns in reverse order.

namespace Trikkos::Impl {

/// The rows of a matrix from the top, or from the bottom with columns reversed, too.
template <class T>
struct DirectedRows {
  Bands<T> A;
  bool reversed;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(std::int64_t r) const {
    return reversed ? A.n - 1 - r : r;
  }
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> before(std::int64_t r) const {
    return Factor<T>::from(reversed ? A.upper(row(r)) : A.lower(row(r)));
  }
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> diag(std::int64_t r) const {
    return Factor<T>::from(A.diag(row(r)));
  }
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> after(std::int64_t r) const {
    return Factor<T>::from(reversed ? A.lower(row(r)) : A.upper(row(r)));
  }
};

/// theta_i and upper(i-1) theta_(i-1). Both vanish only where the rows so far are dependent.
template <class T>
struct MinorPair {
  Scaled<T> minor{T(1)}, coupled;

  KOKKOS_FORCEINLINE_FUNCTION void add_row(const Factor<T>& before, const Factor<T>& diag,
                                           const Factor<T>& after) {
    const Scaled<T> next = sum_of_products(diag, minor, -before, coupled);
    coupled = after * minor;
    minor = next;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_zero() const { return minor.is_zero() && coupled.is_zero(); }
  KOKKOS_FORCEINLINE_FUNCTION bool is_finite() const {
    return minor.is_finite() && coupled.is_finite();
  }
};
/// The determinant, from the rows before a place and those after it.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Scaled<T> determinant(const MinorPair<T>& above,
                                                  const MinorPair<T>& below) {
  return sum_of_products(above.minor, below.minor, -above.coupled, below.coupled);
}

/// A coupling of zero decouples whatever lies on its two sides: as a factor this far below all
/// entries there, which are at most the square of the largest number.
inline constexpr std::int64_t decoupled = -8192;

/// The products of negative couplings of the rows so far: with the row before, and with the next.
template <class T>
struct Couplings {
  Scaled<T> before{T(1)}, after{T(1)};

  static KOKKOS_FORCEINLINE_FUNCTION Factor<T> link(const Factor<T>& coupling) {
    return coupling.m == T(0) ? Factor<T>{T(1), decoupled} : -coupling;
  }
};

/// What is known of the rows up to a place.
template <class T>
struct MinorState {
  MinorPair<T> pair;
  Couplings<T> couplings;
};

/// What rows do to what is known of those before: pairs are multiplied by a matrix with these
/// columns.
template <class T>
struct MinorBlock {
  MinorPair<T> first, second;
  Couplings<T> couplings;

  /// Of no rows.
  KOKKOS_FORCEINLINE_FUNCTION MinorBlock() {
    second.minor = Scaled<T>(T(0));
    second.coupled = Scaled<T>(T(1));
  }
  KOKKOS_FORCEINLINE_FUNCTION MinorPair<T> operator*(const MinorPair<T>& p) const {
    MinorPair<T> r;
    r.minor = sum_of_products(first.minor, p.minor, second.minor, p.coupled);
    r.coupled = sum_of_products(first.coupled, p.minor, second.coupled, p.coupled);
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION Couplings<T> operator*(const Couplings<T>& c) const {
    Couplings<T> r;
    r.before = couplings.before * c.before;
    r.after = couplings.after * c.after;
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION MinorState<T> operator*(const MinorState<T>& s) const {
    return {*this * s.pair, *this * s.couplings};
  }
  /// This block after another one.
  KOKKOS_FORCEINLINE_FUNCTION MinorBlock operator*(const MinorBlock& b) const {
    MinorBlock r;
    r.first = *this * b.first;
    r.second = *this * b.second;
    r.couplings = *this * b.couplings;
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION MinorState<T> state() const { return {first, couplings}; }
};

/// Rows [begin, end) as a block.
template <class T>
KOKKOS_INLINE_FUNCTION MinorBlock<T> minor_block(const DirectedRows<T>& rows, std::int64_t begin,
                                                 std::int64_t end) {
  MinorBlock<T> block;
  for (std::int64_t r = begin; r < end; ++r) {
    const Factor<T> before = rows.before(r), diag = rows.diag(r), after = rows.after(r);
    block.first.add_row(before, diag, after);
    block.second.add_row(before, diag, after);
    if (r > 0) block.couplings.before = Couplings<T>::link(before) * block.couplings.before;
    if (r + 1 < rows.A.n) block.couplings.after = Couplings<T>::link(after) * block.couplings.after;
  }
  return block;
}

/// The minor of the rows before one, over the product of their couplings.
template <class T>
struct Generators {
  Factor<T> over_after, over_before;
};

/// x / y. An x of zero has the exponent of what may be beside it, less much: exponents of
/// neighbours then are near each other, and the result is zero as it should.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Factor<T> generator(const MinorPair<T>& x, const Scaled<T>& y) {
  if (!x.minor.is_zero()) return quotient(x.minor, y);
  const std::int64_t e = x.coupled.is_zero() ? 0 : x.coupled.exponent();
  return {T(0), e - y.exponent() + 2 * decoupled};
}

/// Goes through rows [begin, end): visit(r, generators of r), seen(r, pair after r).
template <class T, class Visit, class Seen>
KOKKOS_INLINE_FUNCTION MinorState<T> visit_minors(const DirectedRows<T>& rows, std::int64_t begin,
                                                  std::int64_t end, MinorState<T> state,
                                                  const Visit& visit, const Seen& seen) {
  for (std::int64_t r = begin; r < end; ++r) {
    const Factor<T> before = rows.before(r), diag = rows.diag(r), after = rows.after(r);
    Couplings<T>& c = state.couplings;
    if (r > 0) c.before = Couplings<T>::link(before) * c.before;
    visit(r, Generators<T>{generator(state.pair, c.after), generator(state.pair, c.before)});
    state.pair.add_row(before, diag, after);
    if (r + 1 < rows.A.n) c.after = Couplings<T>::link(after) * c.after;
    seen(r, state.pair);
  }
  return state;
}

}  // namespace Trikkos::Impl

#endif
