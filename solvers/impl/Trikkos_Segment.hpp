// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENT_HPP
#define TRIKKOS_IMPL_SEGMENT_HPP

#include <impl/Trikkos_Scalar.hpp>

/// \file
/// What a partition leaves once its inner unknowns are eliminated, and how the reduced system of
/// these `Segment`s is solved: two rows over (x_prev, u, v, x_next), where u and v are the first
/// and last unknown of the partition. `segmented` leaves any two rows that imply the partition's,
/// `spike` the tips of its spikes,
///
///   u = y_first - w_first x_prev - v_first x_next
///   v = y_last  - w_last  x_prev - v_last  x_next
///
/// Merging two neighbours eliminates the two unknowns where they meet, with partial pivoting, and
/// is associative: segments merge in any tree (recursive SPIKE) or chain.
///
/// V is a scalar or lanes of it.

namespace Trikkos::Impl {

/// One row of the system: a x(k-1) + b x(k) + c x(k+1) = d.
template <class V>
struct Equation {
  V a, b, c, d;
};

/// l x_prev + u x_first + p x_k + q x_(k+1) = f
template <class V>
struct CarriedRow {
  V l, u, p, q, f;
};

/// Two rows that stand for a partition or for several merged ones: p belongs to its last unknown,
/// q to the first one after it.
template <class V>
struct Segment {
  CarriedRow<V> top, bottom;
};
inline constexpr int segment_words = 10;

/// Scales the row by a power of two so that its largest coefficient is near 1: partial pivoting
/// then compares like with like, and products of coefficients neither overflow nor underflow. A row
/// with an infinite coefficient becomes infinite throughout; as a pivot it would silently vanish.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Equation<V> scaled(const Equation<V>& e) {
  auto field = exponent_field(e.b);
  const auto of_a = exponent_field(e.a), of_c = exponent_field(e.c);
  field = of_a > field ? of_a : field;
  field = of_c > field ? of_c : field;
  const auto s = scale_for<Real<V>>(field);
  return {e.a * s, e.b * s, e.c * s, e.d * s};
}

/// What the substitution of a partition noticed. An elimination works on `Rows`, one partition or
/// one in each lane, and the memory for its way back:
///
///   value_type V, index_type  a scalar, or lanes of it; int, or 64 bits
///   equation(k)              row k, scaled; behind the last row of a partition 1 x = 0
///   inner_equation(k)        the same where 0 < k < inner_rows(): for fast loops
///   length(), inner_rows()   rows of the longest partition, and of every partition
///   ragged                   whether the two may differ
///   longer_than(k)           a mask of the lanes whose partition has a row k
///   keep(k, BackRow), kept(k), store(k, x_k)
///
/// `elimination.reduce(rows)` returns the Segment of the partition,
/// `elimination.substitute(rows, bounds)` stores its solution.
template <class V>
struct Findings {
  using Mask = decltype(Real<V>{} > Real<V>{});

  Real<V> probe;    ///< zero where every unknown is finite
  Mask unstable{};  ///< where pivoting was needed across the edges of the partition
};

/// A partition of no rows: u is x_next and v is x_prev, so its neighbours see each other.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> transparent_segment() {
  const V zero = constant<V>(0), one = constant<V>(1);
  return {{zero, one, zero, -one, zero}, {-one, zero, one, zero, zero}};
}

template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION void select_segment(const Mask& mask, Segment<V>& s,
                                                const Segment<V>& other) {
  const auto row = [&](CarriedRow<V>& r, const CarriedRow<V>& o) {
    r = {select(mask, o.l, r.l), select(mask, o.u, r.u), select(mask, o.p, r.p),
         select(mask, o.q, r.q), select(mask, o.f, r.f)};
  };
  row(s.top, other.top);
  row(s.bottom, other.bottom);
}

/// What a pivot row leaves for the back substitution: x_k = f - q x_(k+1) - r x_(k+2).
template <class V>
struct BackRow {
  V q, r, f;
};

/// What a merge leaves for the way down: the two unknowns where the segments met.
///   u2 = g[0] - g[1] x_prev - g[2] u1 - g[3] v2 - g[4] x_next
///   v1 = g[5] - g[6] x_prev - g[7] u1 - g[8] u2 - g[9] v2 - g[10] x_next
template <class T>
struct MergeNode {
  static constexpr int words = 11, first_of_v1 = 5;
  T g[words];
};

/// The values around and at the ends of a segment.
template <class V>
struct Bounds {
  V prev, first, last, next;
};

/// Merges two neighbours: eliminates v1, the last unknown of the left one, and u2, the first of the
/// right one, from their four rows with partial pivoting.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Segment<T> merge(const Segment<T>& left, const Segment<T>& right,
                                             MergeNode<T>& node) {
  enum { prev, u1, v1, u2, v2, next, rhs, columns };
  const T zero = constant<T>(0);
  T w[4][columns] = {
      {left.top.l, left.top.u, left.top.p, left.top.q, zero, zero, left.top.f},
      {left.bottom.l, left.bottom.u, left.bottom.p, left.bottom.q, zero, zero, left.bottom.f},
      {zero, zero, right.top.l, right.top.u, right.top.p, right.top.q, right.top.f},
      {zero, zero, right.bottom.l, right.bottom.u, right.bottom.p, right.bottom.q, right.bottom.f}};
  const auto order = [&](int i, int j, int column) {
    const auto larger = magnitude(w[j][column]) > magnitude(w[i][column]);
    for (int k = 0; k < columns; ++k) swap_if(larger, w[i][k], w[j][k]);
  };
  order(0, 1, v1);
  order(2, 3, v1);
  order(0, 2, v1);
  const T inv1 = reciprocal(w[0][v1]);
  for (int j = 1; j < 4; ++j) {
    const T m = w[j][v1] * inv1;
    for (int k = 0; k < columns; ++k)
      if (k != v1) w[j][k] -= m * w[0][k];
  }
  order(1, 2, u2);
  order(1, 3, u2);
  const T inv2 = reciprocal(w[1][u2]);
  for (int j = 2; j < 4; ++j) {
    const T m = w[j][u2] * inv2;
    for (int k = 0; k < columns; ++k)
      if (k != v1 && k != u2) w[j][k] -= m * w[1][k];
  }
  node = {{w[1][rhs] * inv2, w[1][prev] * inv2, w[1][u1] * inv2, w[1][v2] * inv2, w[1][next] * inv2,
           w[0][rhs] * inv1, w[0][prev] * inv1, w[0][u1] * inv1, w[0][u2] * inv1, w[0][v2] * inv1,
           w[0][next] * inv1}};
  return {{w[2][prev], w[2][u1], w[2][v2], w[2][next], w[2][rhs]},
          {w[3][prev], w[3][u1], w[3][v2], w[3][next], w[3][rhs]}};
}

/// The way down through a merge. `g(k)` yields the node's words; `b` becomes the bounds of the left
/// or the right child; returned are those of the other child's near end, {v1, u2}.
template <class T, class Words>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<T, T> meeting_point(const Bounds<T>& b, const Words& g) {
  const T u2 = g(0) - g(1) * b.prev - g(2) * b.first - g(3) * b.last - g(4) * b.next;
  const T v1 = g(5) - g(6) * b.prev - g(7) * b.first - g(8) * u2 - g(9) * b.last - g(10) * b.next;
  return {v1, u2};
}
template <class T, class Words>
KOKKOS_FORCEINLINE_FUNCTION void descend(Bounds<T>& b, const Words& g, bool right) {
  const auto [v1, u2] = meeting_point(b, g);
  b = right ? Bounds<T>{v1, u2, b.last, b.next} : Bounds<T>{b.prev, b.first, v1, u2};
}

/// The last two unknowns, from the one segment that is left. Open: nothing lies outside. Periodic:
/// the last unknown comes before the first, and the first after the last.
template <class T>
KOKKOS_INLINE_FUNCTION Bounds<T> solve_root(const Segment<T>& s, bool periodic) {
  const T zero(0);
  const auto wrap = [&](const T& v) { return periodic ? v : zero; };
  T au = s.top.u + wrap(s.top.q), av = s.top.p + wrap(s.top.l), af = s.top.f;
  T bu = s.bottom.u + wrap(s.bottom.q), bv = s.bottom.p + wrap(s.bottom.l), bf = s.bottom.f;
  const bool larger = magnitude(bu) > magnitude(au);
  swap_if(larger, au, bu);
  swap_if(larger, av, bv);
  swap_if(larger, af, bf);
  const T m = bu / au;
  const T v = (bf - m * af) / (bv - m * av);
  const T u = (af - av * v) / au;
  return {wrap(v), u, v, wrap(u)};
}

/// Not a number if any word of the segment is Inf or NaN, else zero.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Real<T> finite_probe(const Segment<T>& s) {
  const auto row = [](const CarriedRow<T>& r) {
    return finite_probe(r.l) + finite_probe(r.u) + finite_probe(r.p) + finite_probe(r.q) +
           finite_probe(r.f);
  };
  return row(s.top) + row(s.bottom);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_finite(const Segment<T>& s) {
  return finite_probe(s) == 0;
}

}  // namespace Trikkos::Impl

#endif
