// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CROUT_HPP
#define TRIKKOS_IMPL_CROUT_HPP

#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// LU without pivoting, row after row, in Crout's form, where U has a unit diagonal and no
/// multiplier depends on how rows are scaled. Of W = 1 diagonal on either side:
///
///   z_i = (d_i - a_i z_(i-1)) / p_i        p_i = b_i - a_i u_(i-1)
///   x_i = z_i - u_i x_(i+1) - w_i x_(n-1)  u_i = c_i / p_i
///
/// w is zero but for a periodic matrix, whose last column it is: w_i = (A(i, n-1) - a_i w_(i-1)) /
/// p_i. Its last row r, r_i = A(n-1, i) - r_(i-1) u_(i-1), gives
///
///   x_(n-1) = (d_(n-1) - sum r_i z_i) / p_(n-1),  p_(n-1) = b_(n-1) - sum r_i w_i
///
/// Of W = 2, p_i = b_i - l1_i u1_(i-1) - l2_i u2_(i-2) and likewise; the last two rows and columns
/// of a ring leave a block of 2 x 2, which is factored in the end.
///
/// (Gloster et al. 2019, equations 4 to 6, whose equation 6 lacks the index i+1; their
/// periodic systems take a Sherman-Morrison correction instead, another pass over memory.)

namespace Trikkos::Impl {

/// What may be done with factors.
enum class FactorsAre : int {
  unsafe,               ///< nothing: pivots are too small, or not finite
  as_thomas,            ///< what `thomas` may: the backward error is small against the whole matrix
  stable,               ///< the backward error is small in each row by itself
  stable_if_corrected,  ///< the same of chunks, if what they hand on is corrected once
  stable_in_chunks      ///< the same of chunks: products of multipliers are small
};

/// The words that are kept of a row, by W words each but the first: 1/p, l/p and u (nearest first),
/// w and r of a ring; of several chunks the weights.
template <int W>
struct FactorBands {
  enum Band : int {
    inverse = 0,
    lower = 1,
    upper = lower + W,
    column = upper + W,
    last = column + W,
    leaves_forward = last + W,
    leaves_backward = leaves_forward + W,
    bands = leaves_backward + W
  };
};

/// A maximum that not a number stays in.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void raise(Real<T>& most, const Real<T>& v) {
  if (!(v <= most) && most == most) most = v;
}

/// The 2W+1 entries of row i.
template <class Rows, class T, int W, int... k>
KOKKOS_FORCEINLINE_FUNCTION void read_row(const Rows& A, std::int64_t i, T (&to)[2 * W + 1],
                                          std::integer_sequence<int, k...>) {
  ((to[k] = A.template entry<k - W>(i)), ...);
}
template <int W, class Rows, class T>
KOKKOS_FORCEINLINE_FUNCTION void read_row(const Rows& A, std::int64_t i, T (&to)[2 * W + 1]) {
  read_row<Rows, T, W>(A, i, to, std::make_integer_sequence<int, 2 * W + 1>{});
}

/// The factorisation, row after row.
template <class T, int W = 1>
class Crout {
 public:
  /// In the order of `FactorBands`.
  struct Row {
    T band[4 * W + 1] = {};
  };

  template <class Rows>
  KOKKOS_FUNCTION explicit Crout(const Rows& A)
      : n(A.n), periodic(A.periodic), ring(A.periodic && A.n > W) {
    if (!ring) return;
    for (int a = 0; a < W; ++a) {
      read_row<W>(A, n - W + a, ends[a]);
      for (int c = 0; c < W; ++c) {
        end[a][c] = from_end(a, n - W + c);
        end_growth[a][c] = magnitude(end[a][c]);
      }
    }
  }

  /// Row i with its entries: all rows, one after the other.
  KOKKOS_FUNCTION Row next(std::int64_t i, const T (&entries)[2 * W + 1]) {
    for (int a = 0; a < W; ++a)
      if (ring && i == n - W + a) return next_end(a);
    return next_inner(i, entries);
  }
  /// Of the block that a ring's last rows and columns leave, at (a, c): L, 1/p and U.
  KOKKOS_FUNCTION T factor_of_end(int a, int c) const {
    return a == c ? quotient(T(1), end[a][a]) : end[a][c];
  }
  /// So far.
  KOKKOS_FUNCTION bool is_safe() const { return possible && growth <= Thomas<T>::growth_limit; }
  /// Rounding errors are some units in the last place times the growth |L||U| / |A|.
  /// \param largest_product  of what chunks hand on: so many digits it may lose
  /// \param largest_growth   of anything that is handed on, so of a correction, over the chunks
  KOKKOS_FUNCTION FactorsAre verdict(Real<T> largest_product, Real<T> largest_growth) const {
    // diagonally dominant and positive definite ones: 3, dominant rings of W = 2: 4
    constexpr int stable_growth = 4;
    constexpr int most_product = 4;  // a digit is lost to cancellation beyond
    if (!is_safe()) return FactorsAre::unsafe;
    if (!(growth_of_rows <= stable_growth)) return FactorsAre::as_thomas;
    if (largest_product <= most_product) return FactorsAre::stable_in_chunks;
    // a correction loses as many digits as what it corrects
    constexpr Real<T> epsilon = Kokkos::Experimental::epsilon_v<Real<T>>;
    const Real<T> correction = epsilon * largest_product * largest_growth;
    const bool is_corrected = W > 1 && correction * largest_product <= 1;
    return is_corrected ? FactorsAre::stable_if_corrected : FactorsAre::stable;
  }

 private:
  KOKKOS_FUNCTION Row next_inner(std::int64_t i, const T (&entries)[2 * W + 1]) {
    T inner[2 * W + 1], outer[W] = {};  // in the last columns of a ring
    split(i, entries, inner, outer);
    const Real<T> size = ring ? largest(entries) : largest(inner);
    bool small_multipliers = i > 0;
    Real<T> most(0);  // of |L||U| in a column
    T l[W], p = inner[W], new_u[W], new_w[W];
    for (int s = W; s > 0; --s) {
      Real<T> terms(0);
      l[s - 1] = inner[W - s];
      for (int t = s + 1; t <= W; ++t) subtract(l[s - 1], l[t - 1] * u[t - 1][t - s - 1], terms);
      if (s < W) raise<T>(most, magnitude(l[s - 1]) + terms);
      small_multipliers = small_multipliers && magnitude(l[s - 1]) <= magnitude(pivots[s - 1]);
    }
    Real<T> of_pivot(0);
    for (int t = 0; t < W; ++t) subtract(p, l[t] * u[t][t], of_pivot);
    raise<T>(most, magnitude(p) + of_pivot);
    for (int j = 0; j < W; ++j) {
      Real<T> terms(0);
      T v = inner[W + 1 + j];
      for (int t = 0; t + j + 1 < W; ++t) subtract(v, l[t] * u[t][t + j + 1], terms);
      if (j + 1 < W) raise<T>(most, magnitude(v) + terms);
      new_u[j] = quotient(v, p);
    }
    Real<T> of_columns(0);
    for (int c = 0; c < W; ++c) {
      Real<T> terms(0);
      T v = outer[c];
      for (int t = 0; t < W; ++t) subtract(v, l[t] * w[t][c], terms);
      new_w[c] = quotient(v, p);
      raise<T>(of_columns, terms + magnitude(p * new_w[c]));
    }
    Row row;
    if (ring) eliminate_from_end(i, new_w, row);
    push(pivots, p);
    push(u, new_u);
    push(w, new_w);
    judge(p, most + of_columns, size, small_multipliers);

    using F = FactorBands<W>;
    row.band[F::inverse] = quotient(T(1), p);
    for (int t = 0; t < W; ++t) {
      row.band[F::lower + t] = quotient(l[t], p);
      row.band[F::upper + t] = new_u[t];
      row.band[F::column + t] = new_w[t];
    }
    return row;
  }
  /// Column i of the last rows of a ring.
  KOKKOS_FUNCTION void eliminate_from_end(std::int64_t i, const T (&new_w)[W], Row& row) {
    T new_r[W];
    for (int a = 0; a < W; ++a) {
      Real<T> terms(0);
      T v = i < W || i >= n - 2 * W ? from_end(a, i) : T(0);
      for (int t = 0; t < W; ++t) subtract(v, r[t][a] * u[t][t], terms);
      raise<T>(end_fill[a], magnitude(v) + terms);
      for (int c = 0; c < W; ++c) subtract(end[a][c], v * new_w[c], end_growth[a][c]);
      row.band[FactorBands<W>::last + a] = new_r[a] = v;
    }
    push(r, new_r);
  }
  /// Row a of the block: z = d/p is summed up with the others of its row, by -p.
  KOKKOS_FUNCTION Row next_end(int a) {
    Real<T> most = end_fill[a];
    for (int c = 0; c < W; ++c) {
      for (int k = 0; k < (a < c ? a : c); ++k)
        subtract(end[a][c], end[a][k] * end[k][c], end_growth[a][c]);
      raise<T>(most, magnitude(end[a][c]) + end_growth[a][c]);
      if (c > a) end[a][c] = quotient(end[a][c], end[a][a]);
    }
    judge(end[a][a], most, largest(ends[a]), false);
    Row row;
    row.band[FactorBands<W>::inverse] = quotient(T(1), end[a][a]);
    row.band[FactorBands<W>::last + a] = -end[a][a];
    return row;
  }

  /// The entries where they are in the matrix: in its band, or in the last columns of a ring. On a
  /// ring of at most W rows all are in the band, several in one place. (No index but of loops:
  /// these are registers.)
  KOKKOS_FUNCTION void split(std::int64_t i, const T (&entries)[2 * W + 1], T (&inner)[2 * W + 1],
                             T (&outer)[W]) const {
    if (!periodic || (i >= W && i < n - 2 * W)) {
      for (int j = 0; j <= 2 * W; ++j) inner[j] = entries[j];
      return;
    }
    for (T& v : inner) v = T(0);
    const auto add = [&](int j) {
      const std::int64_t column = (i + j + W * n) % n;
      for (int c = 0; c < W; ++c)
        if (ring && column == n - W + c) outer[c] += entries[W + j];
      for (int k = -W; k <= W; ++k)
        if (!(ring && column >= n - W) && column == i + k) inner[W + k] += entries[W + j];
    };
    for (int s = 1; s <= W; ++s) {
      add(-s);
      add(s);
    }
    add(0);
  }
  /// The a-th of the last rows of a ring at a column.
  KOKKOS_FUNCTION T from_end(int a, std::int64_t column) const {
    T v(0);
    for (int j = -W; j <= W; ++j)
      if ((2 * n - W + a + j) % n == column) v += ends[a][W + j];
    return v;
  }
  static KOKKOS_FORCEINLINE_FUNCTION void subtract(T& from, const T& term, Real<T>& terms) {
    from -= term;
    terms += magnitude(term);
  }
  template <class Item>
  static KOKKOS_FORCEINLINE_FUNCTION void push(Item (&items)[W], const Item& item) {
    for (int t = W - 1; t > 0; --t) assign(items[t], items[t - 1]);
    assign(items[0], item);
  }
  static KOKKOS_FORCEINLINE_FUNCTION void assign(T& to, const T& from) { to = from; }
  static KOKKOS_FORCEINLINE_FUNCTION void assign(T (&to)[W], const T (&from)[W]) {
    for (int t = 0; t < W; ++t) to[t] = from[t];
  }
  static KOKKOS_FUNCTION Real<T> largest(const T (&entries)[2 * W + 1]) {
    Real<T> size = magnitude(entries[0]);
    for (const T& v : entries) size = magnitude(v) > size ? magnitude(v) : size;
    return size;
  }
  /// `grown`: |L||U| in a row. Multipliers of at most 1 are as good as those of partial pivoting,
  /// but not for a row that is smaller than the one before.
  KOKKOS_FUNCTION void judge(const T& pivot, Real<T> grown, Real<T> size, bool small_multipliers) {
    // not a number where an entry, u or w are not finite, and Inf where p is not
    possible = possible && finite_probe(grown) == 0 && magnitude(pivot) > 0 &&
               size >= Kokkos::Experimental::norm_min_v<Real<T>>;
    if (grown > growth_of_rows * size) growth_of_rows = grown / size;
    if (!small_multipliers && grown > growth * size) growth = grown / size;
  }

  std::int64_t n;
  bool periodic, ring;  // a ring has more than W rows

  // of the rows before, nearest first
  T pivots[W] = {}, u[W][W] = {}, w[W][W] = {}, r[W][W] = {};
  // of a ring: the last rows, and what they and the last columns leave
  T ends[W][2 * W + 1] = {}, end[W][W] = {};
  Real<T> end_growth[W][W] = {}, end_fill[W] = {};
  Real<T> growth_of_rows{}, growth{};  // at most: against the size of a row, of the matrix
  bool possible = true;
};

}  // namespace Trikkos::Impl

#endif
