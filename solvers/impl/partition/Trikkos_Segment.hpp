// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENT_HPP
#define TRIKKOS_IMPL_SEGMENT_HPP

#include <impl/partition/Trikkos_Columns.hpp>

/// \file
/// What a partition leaves once its inner unknowns are eliminated, and how the reduced system of
/// these `Segment`s is solved: two rows over (x_prev, u, v, x_next), where u and v are the first
/// and last unknown of the partition. `segmented` leaves two orthogonal combinations of its rows,
/// `spike` the tips of its spikes,
///
///   u = y_first - w_first x_prev - v_first x_next
///   v = y_last  - w_last  x_prev - v_last  x_next
///
/// Either way the rows are chosen so that the first does not know x_next. Merging two neighbours
/// (Trikkos_Merge.hpp) eliminates the two unknowns where they meet and is associative: segments
/// merge in any tree (recursive SPIKE) or chain.
///
/// V is a scalar, lanes of it, or stands for systems with one matrix (Trikkos_Columns.hpp). All
/// this is for W = 1 diagonal on either side, and for more in Trikkos_WideSegment.hpp.

namespace Trikkos::Impl {

/// One row of the system: a x(k-1) + b x(k) + c x(k+1) = d.
template <class V, int W = 1>
struct Equation;
template <class V>
struct Equation<V, 1> {
  Coefficient<V> a, b, c;
  Unknown<V> d;
};

/// l x_prev + u x_first + p x_k + q x_(k+1) = f
template <class V>
struct CarriedRow {
  Coefficient<V> l, u, p, q;
  Unknown<V> f;
};

/// Two rows that stand for a partition or for several merged ones: p belongs to its last unknown,
/// q, zero in the top row, to the first one after it.
template <class V, int W = 1>
struct Segment;
template <class V>
struct Segment<V, 1> {
  static constexpr int words = 7 + 2 * systems_of<V>;
  struct Top {
    Coefficient<V> l, u, p;
    Unknown<V> f;
  } top;
  CarriedRow<V> bottom;
};

/// The right-hand sides of two rows among their words: the first and the second, and those of
/// further systems in pairs from `more` on.
template <class V, class Word>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<Unknown<V>, Unknown<V>> right_sides(const Word& word,
                                                                             int first, int second,
                                                                             int more) {
  const auto of_row = [&](int row) {
    return columns_from<Unknown<V>>([&](int j) -> Coefficient<V> {
      return word(j > 0 ? more + 2 * (j - 1) + row : row == 0 ? first : second);
    });
  };
  return {of_row(0), of_row(1)};
}
template <class V, class Word>
KOKKOS_FORCEINLINE_FUNCTION void put_right_sides(const Word& word, int first, int second, int more,
                                                 const Unknown<V>& f, const Unknown<V>& g) {
  word(first) = column(f, 0);
  word(second) = column(g, 0);
  if constexpr ((systems_of<V>) > 1) {
    TRIKKOS_UNROLL(systems_of<V>)
    for (int j = 1; j < systems_of<V>; ++j) {
      word(more + 2 * (j - 1)) = column(f, j);
      word(more + 2 * (j - 1) + 1) = column(g, j);
    }
  }
}

/// Scales the row by a power of two so that its largest coefficient is near 1: rounding errors are
/// then small for every row by itself, and squares of coefficients neither overflow nor underflow.
/// A row with an infinite coefficient becomes infinite throughout. Not for `Scaling::columns` and
/// `none`.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Equation<V> scaled(const Equation<V>& e, bool scale_rows) {
  // a select would cost 5 % of the time there
  KOKKOS_IF_ON_HOST((if (!scale_rows) {
    stay_a_branch();
    return e;
  }))
  auto s = scale_for<Real<V>>(exponent_field(e.b, e.a, e.c));
  KOKKOS_IF_ON_DEVICE((s = scale_rows ? s : constant<Real<V>>(1);))  // as a branch would here
  return {e.a * s, e.b * s, e.c * s, e.d * s};
}

/// What the substitution of a partition noticed.
template <class V>
struct Findings {
  using Mask = decltype(Real<V>{} > Real<V>{});

  Real<V> probe;    ///< zero where every unknown is finite
  Mask unstable{};  ///< where pivoting was needed across the edges of the partition
};

/// A partition of no rows: u is x_next and v is x_prev, so its neighbours see each other.
template <class V, int W = 1>
requires(W == 1) KOKKOS_FORCEINLINE_FUNCTION Segment<V> identity_segment() {
  const auto zero = constant<Coefficient<V>>(0), one = constant<Coefficient<V>>(1);
  const Unknown<V> f = zero_unknown<V>();
  return {{-one, zero, one, f}, {zero, one, zero, -one, f}};
}

template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION void select_segment(const Mask& mask, Segment<V>& s,
                                                const Segment<V>& other) {
  const auto pick = [&](const auto& yes, const auto& no) { return select(mask, yes, no); };
  const auto& [A, B] = s;
  const auto& [C, D] = other;
  s = {{pick(C.l, A.l), pick(C.u, A.u), pick(C.p, A.p), pick(C.f, A.f)},
       {pick(D.l, B.l), pick(D.u, B.u), pick(D.p, B.p), pick(D.q, B.q), pick(D.f, B.f)}};
}

/// What a pivot row leaves for the back substitution: x_k = f - q x_(k+1) - r x_(k+2).
template <class V, int W = 1>
struct BackRow;
template <class V>
struct BackRow<V, 1> {
  V q, r, f;
};

/// The same of an elimination that does not know the values around the partition yet:
/// x_k = f - l x_prev - u x_first - q x_(k+1) - r x_(k+2).
template <class V>
struct PivotRow {
  Coefficient<V> l, u, q, r;
  Unknown<V> f;
};

/// What a merge leaves for the way down: the 2W unknowns where the segments met, the last first,
/// each from what is known by then, from left to right. For W = 1:
///   u2 = g[0] - g[1] x_prev - g[2] u1 - g[3] v2 - g[4] x_next
///   v1 = g[5] - g[6] x_prev - g[7] u1 - g[8] u2 - g[9] v2 - g[10] x_next
template <class T, int W = 1>
struct MergeNode {
  static constexpr int words = W * (10 * W + 2 * systems_of<T> - 1);
  Coefficient<T> g[words];

  /// Where the k-th of these unknowns, from left to right, begins; `outside`: coefficients of
  /// (x_prev, u), none once these are known.
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int start(int k, int outside = 2 * W) {
    return (2 * W - 1 - k) * (2 * W + 1 + outside) + (2 * W - 1 - k) * (2 * W - 2 - k) / 2;
  }
  KOKKOS_FORCEINLINE_FUNCTION const Coefficient<T>& operator()(int k) const { return g[k]; }
  KOKKOS_FORCEINLINE_FUNCTION void put(int k, const T& v) { g[k] = v; }
};

/// Where nothing is merged with a segment: below, the values at its last end are those above.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION MergeNode<T> node_of_none() {
  const T zero(0), minus(-1);
  return {{zero, zero, zero, zero, minus, zero, zero, zero, zero, minus, zero}};
}

/// The values around and at the ends of a segment.
template <class V, int W = 1>
struct Bounds;
template <class V>
struct Bounds<V, 1> {
  Unknown<V> prev, first, last, next;
};
/// From and to words in their order, word(k).
template <class V, int W, class Word>
requires(W == 1) KOKKOS_FORCEINLINE_FUNCTION Bounds<V> bounds_from(const Word& word) {
  return {word(0), word(1), word(2), word(3)};
}
template <class V, class Word>
KOKKOS_FORCEINLINE_FUNCTION void put_bounds(const Word& word, const Bounds<V>& b) {
  word(0) = b.prev;
  word(1) = b.first;
  word(2) = b.last;
  word(3) = b.next;
}

/// Not a number if one of the ends of the segment is Inf or NaN, else zero.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Real<V> finite_probe(const Bounds<V>& b) {
  return finite_probe(b.first) + finite_probe(b.last);
}

/// The way down through a merge. `g(k)` yields the node's words; `b` becomes the bounds of the left
/// or the right child; returned are those of the other child's near end, {v1, u2}.
template <class T, class Words>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<Unknown<T>, Unknown<T>> meeting_point(const Bounds<T>& b,
                                                                               const Words& g) {
  const auto [f2, f1] = right_sides<T>(g, 0, 5, 11);
  const Unknown<T> u2 = f2 - g(1) * b.prev - g(2) * b.first - g(3) * b.last - g(4) * b.next;
  const Unknown<T> v1 =
      f1 - g(6) * b.prev - g(7) * b.first - g(8) * u2 - g(9) * b.last - g(10) * b.next;
  return {v1, u2};
}
template <class T, class Words>
KOKKOS_FORCEINLINE_FUNCTION void descend(Bounds<T>& b, const Words& g, bool right) {
  const auto [v1, u2] = meeting_point(b, g);
  b = right ? Bounds<T>{v1, u2, b.last, b.next} : Bounds<T>{b.prev, b.first, v1, u2};
}

/// The last two unknowns, from the one segment that is left. Open: nothing lies outside. Periodic:
/// the last unknown comes before the first, and the first after the last.
template <class V>
KOKKOS_INLINE_FUNCTION Bounds<V> solve_root(const Segment<V>& s, bool periodic) {
  const V zero = constant<V>(0);
  const auto wrap = [&](const V& v) { return periodic ? v : zero; };
  V au = s.top.u, av = s.top.p + wrap(s.top.l), af = s.top.f;
  V bu = s.bottom.u + wrap(s.bottom.q), bv = s.bottom.p + wrap(s.bottom.l), bf = s.bottom.f;
  const auto larger = magnitude(bu) > magnitude(au);
  swap_if(larger, au, bu);
  swap_if(larger, av, bv);
  swap_if(larger, af, bf);
  const auto ratio = [](const V& p, const V& q) -> V {
    if constexpr (is_complex_lanes_v<V>)
      return product(p, reciprocal(q));
    else
      return p / q;
  };
  const V m = ratio(bu, au);
  const V v = ratio(bf - m * af, bv - m * av);
  const V u = ratio(af - av * v, au);
  return {wrap(v), u, v, wrap(u)};
}

/// Not a number if any word of the segment is Inf or NaN, else zero.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Real<T> finite_probe(const Segment<T>& s) {
  const auto& [A, B] = s;
  return finite_probe(A.l) + finite_probe(A.u) + finite_probe(A.p) + finite_probe(A.f) +
         finite_probe(B.l) + finite_probe(B.u) + finite_probe(B.p) + finite_probe(B.q) +
         finite_probe(B.f);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_finite(const Segment<T>& s) {
  return finite_probe(s) == 0;
}

}  // namespace Trikkos::Impl

#endif
