// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_STAIRCASE_HPP
#define TRIKKOS_IMPL_STAIRCASE_HPP

#include <impl/partition/Trikkos_Rotation.hpp>

namespace Trikkos::Impl {

/// Rows from which unknowns are eliminated by rotations, where there is more than one diagonal on
/// either side: what the carry, the merge and the root have in common.
///
///           outer     rhs   window
///   row 0   * * * *    *    *
///   row 1   * * * *    *    * *
///   row 2   . . . .    *    * * *        from row `bare` on: no outer coefficients
///   row 3   . . . .    *    * * * *
///
/// The first unknown of the window goes by a chain of rotations. The pivot row P starts as row 0,
/// and for each row B below,
///
///   P' = conj(c) P + conj(s) B
///   N  = c B - s P                (c, s) = (alpha, beta) / h, coefficients of the unknown in P, B
///
/// N is one of the rows that are left, in the place of P. As it knows no unknown that B does not,
/// and one less, what is left is a staircase again. The last P is the pivot row of the unknown.
/// Each N and the last P are orthogonal combinations of the rows, so nothing grows, and there is
/// nothing to choose.
///
/// \tparam Lead  unknowns of the window that every row knows besides
/// \tparam Tail  so many last unknowns of the window are known to a row that knows any of them
template <class V, int Rows, int Outer, int Window, int Lead = 0, int Tail = 0>
struct Staircase {
  static constexpr int rhs = Outer, window = Outer + 1, columns = window + Window;

  V row[Rows][columns];

  /// Eliminates unknown t of the window, once those before it are. Rows 0 to `last` - 1 remain,
  /// with `Shift` moved so that the window starts behind the unknown; row `last` becomes its
  /// pivot row, divided by its coefficient. `least` becomes the smallest square of all that come
  /// here but that of the last, which is returned. With `Scaled` the column is brought near 1: what
  /// counts as zero is so beside its largest entry, and small beside rows of norm 1, of which these
  /// are orthogonal combinations.
  template <bool Scaled, int t = 0, bool Shift = false, int last = Rows - 1 - t>
  KOKKOS_FORCEINLINE_FUNCTION Real<V> eliminate(int bare, Real<V>& least) {
    constexpr int column = window + t;
    const auto scale = scale_if<Scaled, last>(column);
    // of the column as it is now: h is that but for its rough roots, and not waited for
    Real<V> h2 = square_of(row[0][column]);
    for_constants<1, last>([&](auto i) {
      h2 = add_square(row[i][column], h2);
      const Rotation<V> r(row[i - 1][column], row[i][column], h2);
      least = select(r.h2 < least, r.h2, least);
      combine<Shift, i, t>(i >= bare, {r.c, r.s, conjugate(r.c), conjugate(r.s)});
      row[i][column] = r.p;
    });
    // not clamped: a column of zeros spoils what is left
    const V alpha = row[last - 1][column], beta = row[last][column];
    const Real<V> square = sum_of_squares(alpha, beta);
    Real<V> root;
    KOKKOS_IF_ON_DEVICE((root = rough_root(add_square(beta, h2));))
    KOKKOS_IF_ON_HOST((root = rough_root(square);))  // of use for the reciprocal, too
    const Real<V> inverse = reciprocal_from(square, root) * scale;
    combine<Shift, last, t>(
        last >= bare, {product(root, alpha), product(root, beta),
                       product(inverse, conjugate(alpha)), product(inverse, conjugate(beta))});
    return square;
  }

 private:
  /// N = c B - s P, P' = p P + q B
  struct Factors {
    V c, s, p, q;
  };
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int end(int i, int t) {
    const int steps = window + Lead + i + t + 1;
    return steps > columns - Tail ? columns : steps;
  }
  /// P, which is row i - 1, with B, which is row i.
  template <bool Shift, int i, int t>
  KOKKOS_FORCEINLINE_FUNCTION void combine(bool is_bare, const Factors& r) {
    constexpr int shift = Shift ? 1 : 0, both_end = end(i - 1, t), row_end = end(i, t);
    V(&P)[columns] = row[i - 1];
    V(&B)[columns] = row[i];
    const auto both = [&](int j, int to) {
      const V n = difference_of_products(r.c, B[j], r.s, P[j]);
      B[j] = sum_of_products(r.p, P[j], r.q, B[j]);
      P[to] = n;
    };
    if (is_bare) {
      TRIKKOS_UNROLL(columns)
      for (int j = 0; j < rhs; ++j) {
        B[j] = product(r.p, P[j]);
        P[j] = product(-r.s, P[j]);
      }
    } else {
      TRIKKOS_UNROLL(columns)
      for (int j = 0; j < rhs; ++j) both(j, j);
    }
    both(rhs, rhs);
    TRIKKOS_UNROLL(columns)
    for (int j = window + t + 1; j < both_end; ++j) both(j, j - shift);
    TRIKKOS_UNROLL(columns)
    for (int j = both_end; j < row_end; ++j) {
      P[j - shift] = product(r.c, B[j]);
      B[j] = product(r.q, B[j]);
    }
  }
  /// Scales a column by a power of two that brings its largest entry near 1, and returns that.
  template <bool Scaled, int last>
  KOKKOS_FORCEINLINE_FUNCTION Real<V> scale_if(int column) {
    if constexpr (!Scaled) return constant<Real<V>>(1);
    auto field = exponent_field(row[0][column]);
    TRIKKOS_UNROLL(last)
    for (int i = 1; i <= last; ++i) field = larger_words(field, exponent_field(row[i][column]));
    const auto s = scale_for<Real<V>>(field);
    TRIKKOS_UNROLL(last + 1)
    for (int i = 0; i <= last; ++i) row[i][column] = product(s, row[i][column]);
    return s;
  }
};

}  // namespace Trikkos::Impl

#endif
