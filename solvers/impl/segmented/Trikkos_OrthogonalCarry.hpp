// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ORTHOGONALCARRY_HPP
#define TRIKKOS_IMPL_ORTHOGONALCARRY_HPP

#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_Merge.hpp>
#include <string>

/// \file
/// The recurrences of `Algorithm::segmented`.
///
/// A partition of rows keeps its first and last unknown, u and v, and eliminates those between. Any
/// nonsingular matrix leaves exactly two independent rows then, so two rows A and B are carried
/// through the partition. With each new row e, the unknown x_k whose coefficients in A, B and e are
/// alpha, beta and gamma goes, by two rotations:
///
///   A' = c B - s A                          (c, s) = (alpha, beta) / h
///   B' = (h^2 e - gamma Q) / (h H)          h^2 = |alpha|^2 + |beta|^2, H^2 = h^2 + |gamma|^2
///   P  = (Q + conj(gamma) e) / H^2          Q = conj(alpha) A + conj(beta) B
///
/// where P is the pivot row: x_k = ... beta, which is known last, is squared last.
///
/// These combinations are orthogonal by their form, whatever is rounded: this is QR, each row
/// scaled by a number near 1. So the elimination is backward stable for every matrix, by a few
/// units in the last place for each row that is carried (Wright 1992; Higham, chapter 19), and
/// there is nothing to choose and no branch. What is left is a `Segment`, two rows over (x_prev, u,
/// v, x_next).
///
/// The second pass repeats the elimination once x_prev and u are known, and must arrive at the same
/// coefficients bit for bit: in a nearly singular partition, one that differs would solve another
/// system. So both passes call one `step`.
///
/// V is a scalar, lanes of it, or stands for systems with one matrix (Trikkos_Columns.hpp).

namespace Trikkos::Impl {

/// Rows that are carried one after the other, at most: their rounding errors add up, those of
/// merges in a tree do not.
inline constexpr std::int64_t longest_carry = 66;

/// The rows of an even division of a partition into stretches of at most that many.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t carried_rows(std::int64_t partition_size) {
  const std::int64_t stretches = (partition_size + longest_carry - 1) / longest_carry;
  return stretches > 0 ? (partition_size + stretches - 1) / stretches : 0;
}

/// On a device: odd, for rows of neighbours are in different banks of scratch then, no more than
/// `most`, as longer ones leave scratch for fewer threads, and at least three, the first two of
/// which have room for the nodes of a tree.
constexpr std::int64_t odd_rows(std::int64_t partition_size, int most) {
  const std::int64_t odd = partition_size < 3 ? 3 : partition_size | 1;
  return odd < most ? odd : most;
}

/// A partition of one row: u and v are the same unknown.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> single_row_segment(const Equation<V>& e) {
  const auto zero = constant<Coefficient<V>>(0), one = constant<Coefficient<V>>(1);
  return {{zero, one, -one, zero_unknown<V>()}, {e.a, e.b, zero, e.c, e.d}};
}

/// The first two rows of a partition.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> start_segment(const Equation<V>& e0, const Equation<V>& e1) {
  return {{e0.a, e0.b, e0.c, e0.d}, {constant<Coefficient<V>>(0), e1.a, e1.b, e1.c, e1.d}};
}

/// The elimination of x_k as far as the columns of x_k and later ones are concerned, from its
/// coefficients, that of x_(k+1) in B, and the new row.
template <class V>
struct OrthogonalStep {
  V a, c, s;  // alpha, or what stands for it where h is zero
  V other;    // B' = own e - other (conj(a) A + conj(beta) B)
  Real<V> own;
  Real<V> H2, H_root;
  V Pq;          // of x_(k+1) in conj(alpha) A + conj(beta) B
  V Ap, Bp, Bq;  // of x_(k+1) in A', of x_(k+1) and x_(k+2) in B'

  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION OrthogonalStep(const V& alpha, const V& beta, const V& q,
                                             const Equation<U>& e) {
    const Real<V> h2 = sum_of_squares(beta, alpha), h_root = clamped_root(h2);
    H2 = add_square(beta, sum_of_squares(e.a, alpha));
    H_root = rough_root(H2);  // Inf where the whole column is zero: own becomes 0 Inf then
    const Real<V> z = h_root * H_root;
    a = or_unit(alpha, h2);
    c = product(h_root, a);
    s = product(h_root, beta);
    own = h2 * z;
    other = product(z, e.a);
    Pq = product(conjugate(beta), q);
    Ap = product(c, q);
    Bp = difference_of_products(own, e.b, other, Pq);
    Bq = product(own, e.c);
  }
};

/// Adds the next row of the partition and eliminates x_k, its last unknown so far. Returned is the
/// pivot row, for those who keep it.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PivotRow<V> carry(Segment<V>& segment, const Equation<V>& e) {
  const auto [A, B] = segment;
  using C = Coefficient<V>;
  const OrthogonalStep<C> t(A.p, B.p, B.q, e);
  const C ka = product(t.other, conjugate(t.a)), kb = product(t.other, conjugate(B.p));
  segment.top = {difference_of_products(t.c, B.l, t.s, A.l),
                 difference_of_products(t.c, B.u, t.s, A.u), t.Ap,
                 difference_of_products(t.c, B.f, t.s, A.f)};
  segment.bottom = {difference_of_products(-ka, A.l, kb, B.l),
                    difference_of_products(-ka, A.u, kb, B.u), t.Bp, t.Bq,
                    fused(t.own, e.d, -sum_of_products(ka, A.f, kb, B.f))};
  const Real<V> inv = reciprocal_from(t.H2, t.H_root);
  const C alpha = product(inv, conjugate(A.p)), beta = product(inv, conjugate(B.p)),
          gamma = product(inv, conjugate(e.a));
  return {sum_of_products(alpha, A.l, beta, B.l), sum_of_products(alpha, A.u, beta, B.u),
          fused(gamma, e.b, product(beta, B.q)), product(gamma, e.c),
          fused(gamma, e.d, sum_of_products(alpha, A.f, beta, B.f))};
}

/// The same carry once x_prev and x_first are known: Ap x_k = Af and Bp x_k + Bq x_(k+1) = Bf.
template <class V>
struct FoldedPair {
  V Ap, Af, Bp, Bq, Bf;
};

template <class V>
KOKKOS_FORCEINLINE_FUNCTION FoldedPair<V> start_fold(const Equation<V>& e0, const Equation<V>& e1,
                                                     const V& x_prev, const V& x_first) {
  return {e0.c, e0.d - e0.a * x_prev - e0.b * x_first, e1.b, e1.c, e1.d - e1.a * x_first};
}

/// Returned is the pivot row.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION BackRow<V> fold(FoldedPair<V>& r, const Equation<V>& e) {
  const OrthogonalStep<V> t(r.Ap, r.Bp, r.Bq, e);
  const Real<V> inv = reciprocal_from(t.H2, t.H_root);
  const V gamma = conjugate(e.a), Bf = product(conjugate(r.Bp), r.Bf);
  const BackRow<V> back{product(inv, fused(gamma, e.b, t.Pq)), product(inv, product(gamma, e.c)),
                        product(inv, fused(conjugate(r.Ap), r.Af, fused(gamma, e.d, Bf)))};
  const V Pf = fused(conjugate(t.a), r.Af, Bf);
  r = {t.Ap, difference_of_products(t.c, r.Bf, t.s, r.Af), t.Bp, t.Bq,
       difference_of_products(t.own, e.d, t.other, Pf)};
  return back;
}

/// The row that is carried where no unknown is to be kept at the start: the QR factorization, one
/// rotation a row,
///
///   P = (conj(p) R + conj(a) e) / h^2     the pivot row            h^2 = |p|^2 + |a|^2
///   R' = (p e - a R) / h                  p: of x_k in the carried row R, a: in the new one e
template <class V>
struct LoneRow {
  V p, q, f;  // p x_k + q x_(k+1) = f
  Real<V> least = constant<Real<V>>(1), probe;

  LoneRow() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit LoneRow(const Equation<V>& first)
      : p(first.b), q(first.c), f(first.d), probe(finite_probe(f)) {}
  KOKKOS_FORCEINLINE_FUNCTION BackRow<V> rotate(const Equation<V>& e) {
    const Real<V> h2 = sum_of_squares(p, e.a), root = rough_root(h2);
    const Real<V> inv = reciprocal_from(h2, root);
    least = select(h2 < least, h2, least);
    const V cp = product(inv, conjugate(p)), ca = product(inv, conjugate(e.a));
    const BackRow<V> back{sum_of_products(cp, q, ca, e.b), product(ca, e.c),
                          sum_of_products(cp, f, ca, e.d)};
    f = product(root, difference_of_products(p, e.d, e.a, f));
    const V n = product(root, difference_of_products(p, e.b, e.a, q));
    q = product(root, product(p, e.c));
    p = n;
    probe += finite_probe(f);
    return back;
  }
  /// The same without pivoting: R' = p e - a R, of rows of any size, as R is brought near 1 first.
  /// Whether R may eliminate x_k is for the caller to see.
  KOKKOS_FORCEINLINE_FUNCTION BackRow<V> eliminate(const Equation<V>& e) {
    const Real<V> s = scale_for<Real<V>>(exponent_field(p));
    p = product(s, p);
    q = product(s, q);
    f = product(s, f);
    const V inv = reciprocal(p);
    const BackRow<V> back{product(q, inv), constant<V>(0), product(f, inv)};
    f = difference_of_products(p, e.d, e.a, f);
    const V n = difference_of_products(p, e.b, e.a, q);
    q = product(p, e.c);
    p = n;
    return back;
  }
  /// The unknown of a row that knows no other.
  KOKKOS_FORCEINLINE_FUNCTION V last() {
    const Real<V> square = sum_of_squares(p, constant<V>(0));
    least = select(square < least, square, least);
    const V x = product(f, reciprocal(p));
    probe += finite_probe(x);
    return x;
  }
  KOKKOS_FORCEINLINE_FUNCTION typename Findings<V>::Mask is_sound() const {
    return (least > constant<Real<V>>(Tiny<Real<V>>::safe)) & (probe == constant<Real<V>>(0));
  }
};

/// Loops over an array in registers leave none, and go to its end.
template <class Spare>
inline constexpr int unrolled = std::is_array_v<Spare> ? std::extent_v<Spare> : 1;
template <class Spare>
KOKKOS_FORCEINLINE_FUNCTION constexpr int steps(int m) {
  return std::is_array_v<Spare> ? unrolled<Spare> : m;
}

/// The elimination of `segmented`.
struct OrthogonalCarry {
  /// What labels of kernels begin with.
  static std::string label(const char* kernel) {
    return std::string("Trikkos::segmented::") + kernel;
  }
  static constexpr int half_bandwidth = 1;
  template <class T>
  static constexpr int device_rows = sizeof(T) == 4 ? 23 : 15;
  static constexpr int default_row_multiple = 1;
  /// On a host one system of so many rows, or less, is solved from both ends.
  static constexpr std::int64_t longest_from_both_ends = 1024;
  /// Systems with one matrix that a thread of a device eliminates together.
  static constexpr int systems_at_once = 4;
  /// On a device open systems end with rows 1 x = 0 that make the last partitions complete.
  static constexpr bool pads = true;
  /// A partition of more than 66 rows is carried in shorter stretches.
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t rows_in_one_go(std::int64_t partition_size) {
    return carried_rows(partition_size);
  }
  template <class T>
  static constexpr std::int64_t rows_in_tile(std::int64_t partition_size) {
    return odd_rows(partition_size, device_rows<T>);
  }

  /// Of a host's lanes of `Number`, what fades from row to row.
  template <class Number, class Rows, class Flush>
  KOKKOS_FORCEINLINE_FUNCTION static void flush(const Rows& rows, const Flush& flush) {
    if constexpr (requires { requires std::is_same_v<typename Rows::unit_rows_of, Number>; })
      if (rows.has_unit_rows()) flush();
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Segment<V> reduce(const Rows& rows) {
    const auto inner = rows.inner_rows();
    const Equation<V> e0 = rows.equation(0), e1 = rows.equation(1);
    Segment<V> s = start_segment(e0, e1);
    typename Rows::index_type k = 2;
    Segment<V> in_registers = s;  // s itself, which what follows refers to, is kept in memory
    const auto flush_faded = [&] { flush_segment(in_registers); };
    for_inner_rows(
        rows, k, inner,
        [&](auto, const Equation<V>& e) {
          carry(in_registers, e);
          flush<float>(rows, flush_faded);
        },
        [&] { flush<double>(rows, flush_faded); });
    s = in_registers;
    if (inner < 2) {
      s = identity_segment<V>();
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

  /// The same, where rows make way for their pivot rows; of these, the words that find no place
  /// there go to spare[k]: an array in registers, of as many as there are rows, or memory.
  template <class Rows, class Spare, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Segment<V> reduce(const Rows& rows, Spare& spare) {
    const int m = rows.length();
    const Equation<V> e0 = rows.equation(0), e1 = rows.equation(1);
    Segment<V> s = start_segment(e0, e1);
    if (m < 2) s = m == 1 ? single_row_segment(e0) : identity_segment<V>();
    TRIKKOS_UNROLL(unrolled<Spare>)
    for (int k = 2; k < steps<Spare>(m); ++k) {
      if (k >= m) continue;
      const PivotRow<V> row = carry(s, rows.inner_equation(k));
      rows.keep_pivot(k, row);
      spare[k] = row.u;
    }
    return s;
  }
  template <class Rows, class Spare, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute(const Rows& rows, const Spare& spare,
                                                            const Bounds<V>& bounds) {
    const int m = rows.length();
    Unknown<V> next = bounds.last, after = bounds.next;
    Real<V> probe = finite_probe(bounds.first) + finite_probe(next);
    TRIKKOS_UNROLL(unrolled<Spare>)
    for (int k = steps<Spare>(m) - 1; k >= 2; --k) {
      if (k >= m) continue;
      const PivotRow<V> row = rows.kept_pivot(k);
      const auto outer = fused(-row.l, bounds.prev, fused(-spare[k], bounds.first, row.f));
      const auto v = fused(-row.r, after, fused(-row.q, next, outer));
      rows.store(k, next);
      after = next;
      next = v;
      probe += finite_probe(v);
    }
    if (m > 1) rows.store(1, next);
    if (m > 0) rows.store(0, bounds.first);
    return {probe};
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
      const auto flush_faded = [&] { s.Ap = flushed(s.Ap, s.Bp); };
      for_inner_rows(
          rows, k, inner,
          [&](auto row, const Equation<V>& e) {
            rows.keep(row, fold(s, e));  // eliminates x_(row-1)
            flush<float>(rows, flush_faded);
          },
          [&] { flush<double>(rows, flush_faded); });
      if constexpr (Rows::ragged)
        for (; k < length; ++k) rows.keep(k, fold(s, rows.equation(k)));

      back_substitute<0>(rows, --k, 2, next, after, [&](const V& v) { probe += finite_probe(v); });
      rows.store(1, next);
    }
    if (length > 0) rows.store(0, bounds.first);
    return {probe};
  }

  /// A whole open system by itself: with no unknown to be kept at its start, one row is carried
  /// (`LoneRow`).
  ///
  /// Leaves the last unknown and returns where all went well: not where squares are not safe from
  /// underflow or anything is not finite, which segments are better at.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static typename Findings<V>::Mask reduce_alone(const Rows& rows,
                                                                             V& last) {
    LoneRow<V> carried = carry_alone(rows);
    last = carried.last();
    return carried.is_sound();
  }
  /// All of its rows, or the first of them.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static LoneRow<V> carry_alone(const Rows& rows) {
    LoneRow<V> carried(rows.equation(0));
    carry_alone(rows, carried, 1, rows.length());
    return carried;
  }
  /// Rows k up to `end`.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static void carry_alone(const Rows& rows, LoneRow<V>& carried,
                                                      typename Rows::index_type k,
                                                      typename Rows::index_type end) {
    const auto inner = rows.inner_rows();
    const auto rotate = [&](typename Rows::index_type row, const Equation<V>& e) {
      rows.keep(row - 1, carried.rotate(e));
    };
    for_inner_rows(rows, k, end < inner ? end : inner, rotate);
    for (; k < end; ++k) rotate(k, rows.equation(k));
  }
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute_alone(const Rows& rows, const V& last) {
    return substitute_alone(rows, last, constant<V>(0));
  }
  /// `behind`: the unknown behind the last one.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute_alone(const Rows& rows, const V& last,
                                                                  const V& behind) {
    static_assert(!is_lanes_v<V>);  // of which each might end with another row
    using Index = typename Rows::index_type;
    V next = last, after = behind;
    Real<V> probe = finite_probe(next);
    for_kept_rows(rows, Index(rows.length() - 2), Index(0), [&](Index k, const BackRow<V>& row) {
      const V v = fused(-row.r, after, fused(-row.q, next, row.f));
      rows.store(k + 1, next);
      after = next;
      next = v;
      probe += finite_probe(v);
    });
    rows.store(0, next);
    return {probe};
  }

  /// The same, some rows at a time.
  template <class V>
  class Alone {
   public:
    static constexpr int begin = 1;  // rows before are carried

    Alone() = default;
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION explicit Alone(const Rows& rows) : m_carried(rows.equation(0)) {}
    KOKKOS_FORCEINLINE_FUNCTION bool goes_on() const { return true; }
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION void reduce(const Rows& rows, std::int64_t k, std::int64_t end) {
      carry_alone(rows, m_carried, k, end);
    }
    /// When all rows are: where all went well.
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION typename Findings<V>::Mask turn(const Rows&) {
      m_next = m_carried.last();
      m_after = constant<V>(0);
      m_probe = finite_probe(m_next);
      return m_carried.is_sound();
    }
    /// Stores unknown k, down to the `last`.
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION void substitute(const Rows& rows, std::int64_t k,
                                                std::int64_t last) {
      back_substitute<1>(rows, k, last > 0 ? last : 1, m_next, m_after,
                         [&](const V& v) { m_probe += finite_probe(v); });
      if (last == 0) rows.store(0, m_next);
    }
    KOKKOS_FORCEINLINE_FUNCTION Findings<V> findings() const { return {m_probe}; }

   private:
    LoneRow<V> m_carried;
    V m_next, m_after;
    Real<V> m_probe;
  };

  /// Repeats the elimination and reports the first row that is not finite or zero, or else the
  /// first column without a pivot.
  template <class Rows, class T = typename Rows::value_type>
  KOKKOS_INLINE_FUNCTION static void diagnose(const Diagnosis& diagnosis, const Rows& rows) {
    Segment<T> s = identity_segment<T>();
    Equation<T> before{};
    for (std::int64_t k = 0; k < rows.m; ++k) {
      const std::int64_t i = rows.first + k;
      const Equation<T> e = rows.inner_equation(k);
      if (report_bad_row(diagnosis, e, i)) return;
      const auto pivot = [&] {
        const auto top = magnitude(s.top.p), bottom = magnitude(s.bottom.p), row = magnitude(e.a);
        return top == 0 && bottom == 0 && row == 0;
      };
      if (k >= 2 && pivot()) return diagnosis.report(Status::Reason::singular, i - 1);
      if (k == 1) s = start_segment(before, e);
      if (k >= 2) carry(s, e);
      if (k >= 1 && !is_finite(s))
        return diagnosis.report(Status::Reason::not_finite, rows.existing(i));
      before = e;
    }
  }
};

}  // namespace Trikkos::Impl

#endif
