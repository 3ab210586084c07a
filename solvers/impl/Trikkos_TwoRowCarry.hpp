// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TWOROWCARRY_HPP
#define TRIKKOS_IMPL_TWOROWCARRY_HPP

#include <impl/Trikkos_Segment.hpp>
#include <string>

/// \file
/// The recurrences of `Algorithm::segmented`.
///
/// A partition of rows keeps its first and last unknown, u and v, and eliminates those between. Any
/// nonsingular matrix leaves exactly two independent rows then, so two rows are carried through
/// the partition, and each new row joins them as a third pivot candidate: partial pivoting without
/// branches, also where the inner block of the partition is singular. What is left is a `Segment`,
/// two rows over (x_prev, u, v, x_next). Merging two neighbouring segments eliminates the two
/// unknowns where they meet and is associative, so segments merge in any tree.
///
/// Related: wrap-around partitioning (Hegland 1991) and Wright's structured elimination for almost
/// block diagonal systems.
///
/// V is a scalar or lanes of it. One reciprocal a step, selects instead of branches.

namespace Trikkos::Impl {

/// Rows that are carried one after the other, at most: their rounding errors can grow with the
/// square of the length (diagonal 0, 1, 0, 1, ...), those of merges do not.
inline constexpr std::int64_t longest_carry = 66;

/// The rows of an even division of a partition into stretches of at most that many.
inline std::int64_t carried_rows(std::int64_t partition_size) {
  const std::int64_t stretches = (partition_size + longest_carry - 1) / longest_carry;
  return (partition_size + stretches - 1) / stretches;
}

/// A partition of one row: u and v are the same unknown.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> single_row_segment(const Equation<V>& e) {
  const V zero = constant<V>(0), one = constant<V>(1);
  return {{e.a, e.b, zero, e.c, e.d}, {zero, one, -one, zero, zero}};
}

/// The first two rows of a partition.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> start_segment(const Equation<V>& e0, const Equation<V>& e1) {
  return {{e0.a, e0.b, e0.c, constant<V>(0), e0.d}, {constant<V>(0), e1.a, e1.b, e1.c, e1.d}};
}

/// Adds the next row of the partition and eliminates x_k from the three: the largest of their
/// coefficients of x_k is the pivot, the two other rows are carried on.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void carry(Segment<V>& s, const Equation<V>& e) {
  auto& [A, B] = s;
  const auto b_larger = magnitude(B.p) > magnitude(A.p);
  swap_if(b_larger, A.l, B.l);
  swap_if(b_larger, A.u, B.u);
  swap_if(b_larger, A.p, B.p);
  swap_if(b_larger, A.q, B.q);
  swap_if(b_larger, A.f, B.f);

  // P, the pivot row, and C, the loser, over (x_prev, x_first, x_k, x_(k+1), x_(k+2))
  const auto new_row = magnitude(e.a) > magnitude(A.p);
  const V zero = constant<V>(0);
  const V Pl = select(new_row, zero, A.l), Cl = select(new_row, A.l, zero);
  const V Pu = select(new_row, zero, A.u), Cu = select(new_row, A.u, zero);
  const V Pp = select(new_row, e.a, A.p), Cp = select(new_row, A.p, e.a);
  const V Pq = select(new_row, e.b, A.q), Cq = select(new_row, A.q, e.b);
  const V Pr = select(new_row, e.c, zero), Cr = select(new_row, zero, e.c);
  const V Pf = select(new_row, e.d, A.f), Cf = select(new_row, A.f, e.d);

  const V inv = reciprocal(Pp), mb = B.p * inv, mc = Cp * inv;
  A = {B.l - mb * Pl, B.u - mb * Pu, B.q - mb * Pq, -mb * Pr, B.f - mb * Pf};
  B = {Cl - mc * Pl, Cu - mc * Pu, Cq - mc * Pq, Cr - mc * Pr, Cf - mc * Pf};
}

/// The same carry once x_prev and x_first are known: two rows p x_k + q x_(k+1) = f.
template <class V>
struct FoldedPair {
  V Ap, Aq, Af, Bp, Bq, Bf;
};

template <class V>
KOKKOS_FORCEINLINE_FUNCTION FoldedPair<V> start_fold(const Equation<V>& e0, const Equation<V>& e1,
                                                     const V& x_prev, const V& x_first) {
  return {e0.c, constant<V>(0), e0.d - e0.a * x_prev - e0.b * x_first,
          e1.b, e1.c,           e1.d - e1.a * x_first};
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION BackRow<V> fold(FoldedPair<V>& s, const Equation<V>& e) {
  const auto b_larger = magnitude(s.Bp) > magnitude(s.Ap);
  swap_if(b_larger, s.Ap, s.Bp);
  swap_if(b_larger, s.Aq, s.Bq);
  swap_if(b_larger, s.Af, s.Bf);

  const auto new_row = magnitude(e.a) > magnitude(s.Ap);
  const V zero = constant<V>(0);
  const V Pp = select(new_row, e.a, s.Ap), Cp = select(new_row, s.Ap, e.a);
  const V Pq = select(new_row, e.b, s.Aq), Cq = select(new_row, s.Aq, e.b);
  const V Pr = select(new_row, e.c, zero), Cr = select(new_row, zero, e.c);
  const V Pf = select(new_row, e.d, s.Af), Cf = select(new_row, s.Af, e.d);

  const V inv = reciprocal(Pp), mb = s.Bp * inv, mc = Cp * inv;
  s = {s.Bq - mb * Pq, -mb * Pr, s.Bf - mb * Pf, Cq - mc * Pq, Cr - mc * Pr, Cf - mc * Pf};
  return {Pq * inv, Pr * inv, Pf * inv};
}

/// The elimination of `segmented`.
struct TwoRowCarry {
  /// What labels of kernels begin with.
  static std::string label(const char* kernel) {
    return std::string("Trikkos::segmented::") + kernel;
  }
  static constexpr int device_rows = 15;
  static constexpr std::int64_t default_row_multiple = 1;
  /// A partition of more than 66 rows is carried in shorter stretches.
  static std::int64_t rows_in_one_go(std::int64_t partition_size) {
    return carried_rows(partition_size);
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Segment<V> reduce(const Rows& rows) {
    const auto inner = rows.inner_rows();
    const Equation<V> e0 = rows.equation(0), e1 = rows.equation(1);
    Segment<V> s = start_segment(e0, e1);
    typename Rows::index_type k = 2;
    TRIKKOS_UNROLL(1)
    for (; k < inner; ++k) carry(s, rows.inner_equation(k));
    if (inner < 2) {
      s = transparent_segment<V>();
      select_segment(rows.longer_than(0), s, single_row_segment(e0));
      select_segment(rows.longer_than(1), s, start_segment(e0, e1));
    }
    if constexpr (Rows::ragged) {
      for (; k < rows.length(); ++k) {
        Segment<V> next = s;
        carry(next, rows.equation(k));
        select_segment(rows.longer_than(k), s, next);
      }
    }
    return s;
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute(const Rows& rows,
                                                            const Bounds<V>& bounds) {
    const auto inner = rows.inner_rows(), length = rows.length();
    V next = bounds.last, after = bounds.next;
    Real<V> probe = finite_probe(bounds.first) + finite_probe(next);
    if (length > 1) {
      FoldedPair<V> s = start_fold(rows.equation(0), rows.equation(1), bounds.prev, bounds.first);
      typename Rows::index_type k = 2;
      TRIKKOS_UNROLL(1)
      for (; k < inner; ++k) rows.keep(k, fold(s, rows.inner_equation(k)));  // eliminates x_(k-1)
      if constexpr (Rows::ragged)
        for (; k < length; ++k) rows.keep(k, fold(s, rows.equation(k)));

      TRIKKOS_UNROLL(2)
      for (--k; k >= 2; --k) {
        const BackRow<V> row = rows.kept(k);
        V v = row.f - row.q * next - row.r * after;
        rows.store(k, next);
        if (Rows::ragged && k >= inner) {
          // lanes that end before row k still wait with their own last unknown
          const auto active = rows.longer_than(k);
          v = select(active, v, next);
          after = select(active, next, after);
        } else {
          after = next;
        }
        next = v;
        probe += finite_probe(v);
      }
      rows.store(1, next);
    }
    if (length > 0) rows.store(0, bounds.first);
    return {probe};
  }
};

}  // namespace Trikkos::Impl

#endif
