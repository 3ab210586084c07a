// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_HALVES_HPP
#define TRIKKOS_IMPL_HALVES_HPP

#include <impl/partition/Trikkos_StridedRows.hpp>

/// \file
/// Two neighbouring partitions with W > 1 diagonals on either side that are eliminated towards each
/// other: the left one from its first row on, the right one from its last row on. The rows of the
/// right one are mirrored, and so is its segment, whose (x_prev, u) are the unknowns on its right.
/// Where they meet, each has 2W rows over 2W unknowns:
///
///   left    *                     right   * * * *  3
///           * *                             * * *  2
///           * * *                             * *  1
///           * * * *                             *  0
///
/// The last rows of the right one are carried by the left one as if they were its next rows.
///
/// A tree of segments would have to be merged in both passes, with all of its columns. Halves meet
/// in the second pass without: what lies around the two of them is known.

namespace Trikkos::Impl {

/// The rows of a partition, as they are or from the last to the first.
template <class Rows>
struct HalfRows {
  using value_type = typename Rows::value_type;
  using index_type = typename Rows::index_type;
  static constexpr int half_bandwidth = Rows::half_bandwidth, W = half_bandwidth;
  static constexpr bool ragged = false;
  using Row = Equation<value_type, W>;

  Rows rows;
  bool is_mirrored;

  KOKKOS_FORCEINLINE_FUNCTION index_type length() const { return rows.length(); }
  KOKKOS_FORCEINLINE_FUNCTION index_type inner_rows() const { return rows.length(); }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(index_type k) const { return k < length(); }
  KOKKOS_FORCEINLINE_FUNCTION Row inner_equation(index_type k) const {
    const Row e = rows.inner_equation(place(k));
    Row r = e;
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j < 2 * W + 1; ++j) r.a[j] = is_mirrored ? e.a[2 * W - j] : e.a[j];
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION Row equation(index_type k) const {
    return k < length() ? inner_equation(k) : unit_equation<value_type, W>();
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(index_type k, const BackRow<value_type, W>& row) const {
    rows.keep(place(k), row);
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<value_type, W> kept(index_type k) const {
    return rows.kept(place(k));
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(index_type k, const value_type& v) const {
    rows.store(place(k), v);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION index_type place(index_type k) const {
    return is_mirrored ? length() - 1 - k : k;
  }
};

/// Each of the values around a partition is where it is in the mirror.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Bounds<V, W> mirrored(const Bounds<V, W>& b) {
  Bounds<V, W> r;
  TRIKKOS_UNROLL(4 * W)
  for (int j = 0; j < 4 * W; ++j) r.x[j] = b.x[4 * W - 1 - j];
  return r;
}

/// The rows that a half has left once what lies around both is known: row i over the first i + 1 of
/// the unknowns where they meet, from its side on.
template <class V, int W>
struct HalfLeft : Staircase<V, 2 * W + 1, 0, 2 * W + 1> {
  using Base = Staircase<V, 2 * W + 1, 0, 2 * W + 1>;
  static constexpr int words = W * (2 * W + 3);

  HalfLeft() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit HalfLeft(const Base& rows) : Base(rows) {}
  /// use(word, k) for all of them.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_words(const Use& use) {
    for_constants<0, 2 * W>([&](auto i) {
      for_constants<0, i + 2>([&](auto j) { use(this->row[i][j], i * (i + 3) / 2 + j); });
    });
  }
};

/// Eliminates the 2W unknowns where halves meet, the first ones of the window; `put(t)` makes row
/// 2W the next one of the right half, `take(t)` sees it as the pivot row of unknown t. Both passes
/// call it, as they must arrive at the same coefficients bit for bit.
template <bool Scaled, int W, class Rows, class R, class Put, class Take>
KOKKOS_FORCEINLINE_FUNCTION void eliminate_met(Rows& rows, R& least, const Put& put,
                                               const Take& take) {
  constexpr int half = 2 * W;
  least = constant<R>(1);
  for_constants<0, half>([&](auto t) {
    put(t);
    rows.template eliminate<Scaled, t, false, half>(half, least);
    take(t);
  });
}

/// As `merge_rows`, where the right segment is mirrored.
template <bool Scaled, class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> meet_rows(const Segment<V, W>& left,
                                                    const Segment<V, W>& right,
                                                    MergeNode<V, W>& node, Real<V>& least) {
  using S = Segment<V, W>;
  constexpr int half = 2 * W;
  // outside (x_prev, u) of the left one, in the window the unknowns where they meet and
  // (v, x_next) of the right one
  Staircase<V, half + 1, half, 2 * half, 0, half> rows;
  TRIKKOS_UNROLL(half)
  for (int i = 0; i < half; ++i) {
    TRIKKOS_UNROLL(2 * half)
    for (int j = 0; j < S::length(i); ++j) rows.row[i][j] = left.w[S::start(i) + j];
  }
  eliminate_met<Scaled, W>(
      rows, least,
      [&](auto t) {
        constexpr int i = half - 1 - t;
        V(&to)[rows.columns] = rows.row[half];
        to[rows.rhs] = right.w[S::rhs(i)];
        TRIKKOS_UNROLL(half)
        for (int j = 0; j <= i; ++j) to[rows.window + half - 1 - j] = right.w[S::rhs(i) + 1 + j];
        TRIKKOS_UNROLL(half)
        for (int j = 0; j < half; ++j)
          to[rows.window + 2 * half - 1 - j] = right.w[S::start(i) + j];
      },
      [&](auto t) {
        const V(&pivot)[rows.columns] = rows.row[half];
        constexpr int to = node.start(t), first = rows.window + t + 1;
        node.g[to] = pivot[rows.rhs];
        TRIKKOS_UNROLL(half)
        for (int j = 0; j < half; ++j) node.g[to + 1 + j] = pivot[j];
        TRIKKOS_UNROLL(2 * half)
        for (int j = first; j < rows.columns; ++j) node.g[to + 1 + half + j - first] = pivot[j];
      });
  // Row i of a segment knows the first i + 1 of (v, x_next) alone.
  constexpr int outer = rows.window + half;
  for_constants<1, half>([&](auto from_last) {
    constexpr int last = half - from_last;
    for_constants<0, last>([&](auto i) {
      V(&A)[rows.columns] = rows.row[i];
      V(&B)[rows.columns] = rows.row[i + 1];
      const auto r = rotation<true>(A[outer + last], B[outer + last]);
      const auto both = [&](int j) {
        const V n = r.next(A[j], B[j]);
        B[j] = r.pivot(A[j], B[j]);
        A[j] = n;
      };
      TRIKKOS_UNROLL(half + 1)
      for (int j = 0; j <= half; ++j) both(j);
      TRIKKOS_UNROLL(half)
      for (int j = 0; j < last; ++j) both(outer + j);
      B[outer + last] = r.p;
    });
  });
  S s;
  TRIKKOS_UNROLL(half)
  for (int i = 0; i < half; ++i) {
    TRIKKOS_UNROLL(half + 1)
    for (int j = 0; j <= half; ++j) s.w[S::start(i) + j] = rows.row[i][j];
    TRIKKOS_UNROLL(half)
    for (int j = 0; j <= i; ++j) s.w[S::rhs(i) + 1 + j] = rows.row[i][outer + j];
  }
  return s;
}
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> meet(const Segment<V, W>& left,
                                               const Segment<V, W>& right, MergeNode<V, W>& node) {
  Real<V> least;
  const Segment<V, W> met = meet_rows<false>(left, right, node, least);
  if (is_safe(least)) [[likely]]
    return met;
  return meet_rows<true>(left, right, node, least);
}

/// The unknowns where halves meet, x, from left to right.
template <bool Scaled, class V, int W>
KOKKOS_FORCEINLINE_FUNCTION void meet_rows(const HalfLeft<V, W>& left, const HalfLeft<V, W>& right,
                                           V (&x)[2 * W], Real<V>& least) {
  constexpr int half = 2 * W;
  Staircase<V, half + 1, 0, half> rows;
  Staircase<V, half, 0, half> pivots;
  TRIKKOS_UNROLL(half)
  for (int i = 0; i < half; ++i) {
    TRIKKOS_UNROLL(half + 1)
    for (int j = 0; j <= i + 1; ++j) rows.row[i][j] = left.row[i][j];
  }
  eliminate_met<Scaled, W>(
      rows, least,
      [&](auto t) {
        constexpr int i = half - 1 - t;
        rows.row[half][rows.rhs] = right.row[i][right.rhs];
        TRIKKOS_UNROLL(half)
        for (int j = 0; j <= i; ++j)
          rows.row[half][rows.window + half - 1 - j] = right.row[i][right.window + j];
      },
      [&](auto t) {
        TRIKKOS_UNROLL(half + 1)
        for (int j = 0; j < rows.columns; ++j) pivots.row[t][j] = rows.row[half][j];
      });
  for_constants<0, half>([&](auto from_last) {
    constexpr int t = half - 1 - from_last;
    x[t] = pivots.row[t][rows.rhs];
    TRIKKOS_UNROLL(half)
    for (int j = t + 1; j < half; ++j) x[t] = fused(-pivots.row[t][rows.window + j], x[j], x[t]);
  });
}
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION void meet(const HalfLeft<V, W>& left, const HalfLeft<V, W>& right,
                                      V (&x)[2 * W]) {
  Real<V> least;
  meet_rows<false, V, W>(left, right, x, least);
  if (!is_safe(least)) [[unlikely]]
    meet_rows<true, V, W>(left, right, x, least);
}

}  // namespace Trikkos::Impl

#endif
