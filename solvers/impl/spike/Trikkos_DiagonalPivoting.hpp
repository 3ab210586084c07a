// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DIAGONALPIVOTING_HPP
#define TRIKKOS_IMPL_DIAGONALPIVOTING_HPP

#include <Trikkos_Options.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_Merge.hpp>
#include <string>

/// \file
/// The elimination of `Algorithm::spike` within a partition (SC'12, sections II and III).
///
/// A partition of m rows, solved by itself, gives y = A_i^-1 f and the spikes w and v, its answers
/// to the unknowns before and after it:
///
///   x_k = y_k - w_k x_prev - v_k x_next
///
/// The reduced system needs their first and last entries only, and all of them come from one sweep
/// forward: the last ones from the last pivot row, the first ones from x_first written over the
/// unknowns that are not yet eliminated. The substitution repeats the sweep, with the values around
/// the partition known, and goes back through its pivot rows. So no spike is ever stored.
///
/// Pivots (equation 12) are 1x1 or 2x2 blocks on the diagonal, chosen as Erway, Marcia and Tyson do
/// after Bunch and Kaufman: 1x1 if |b_1| sigma >= kappa |a_2 c_1|. A 2x2 block [p q; a b] is itself
/// factored by exchanging its rows, as the choice makes |p| <= kappa |a|: its pivots are a and
/// q - (p / a) b, no determinant is formed that could leave the number range, and both kinds of
/// block become one recurrence in which every row costs one reciprocal and a few selects.
///
/// Rows are scaled by powers of two first, so that a choice compares like with like. What decides
/// (p, q and what they come from) is computed by both passes in the same fused operations.

namespace Trikkos::Impl {

/// The pivot row of column k, P, and the row that it is subtracted from, C, over
/// (x_k, x_(k+1), x_(k+2)): P is the reached row p x_k + q x_(k+1) = f, or, in the first column of
/// a 2x2 block, the new row.
template <class V>
struct PivotRows {
  V Pp, Pq, Pr, Pf, Cp, Cq, Cr, Cf;

  template <class Mask>
  KOKKOS_FORCEINLINE_FUNCTION PivotRows(const V& p, const V& q, const V& f, const Mask& two_by_two,
                                        const Equation<V>& e) {
    const V zero = constant<V>(0);
    Pp = select(two_by_two, e.a, p), Cp = select(two_by_two, p, e.a);
    Pq = select(two_by_two, e.b, q), Cq = select(two_by_two, q, e.b);
    Pr = select(two_by_two, e.c, zero), Cr = select(two_by_two, zero, e.c);
    Pf = select(two_by_two, e.d, f), Cf = select(two_by_two, f, e.d);
  }
};

/// First pass: the row that the elimination has reached, and the first unknown,
///   p x_k + q x_(k+1) = f - w x_prev,    x_first = first_f - first_w x_prev - h x_k - i x_(k+1)
template <class V>
struct SpikeTips {
  V p, q, f, w;
  V h, i, first_f, first_w;

  KOKKOS_FORCEINLINE_FUNCTION explicit SpikeTips(const Equation<V>& e)
      : p(e.b),
        q(e.c),
        f(e.d),
        w(e.a),
        h(constant<V>(-1)),
        i(constant<V>(0)),
        first_f(constant<V>(0)),
        first_w(constant<V>(0)) {}

  /// x_k = f - l x_prev - q x_(k+1)
  KOKKOS_FORCEINLINE_FUNCTION PivotRow<V> pivot_row(const V& inv) const {
    const V zero = constant<V>(0);
    return {product(w, inv), zero, product(q, inv), zero, product(f, inv)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void eliminate_unpivoted(const V& inv, const Equation<V>& e) {
    const V m = product(e.a, inv), t = -product(h, inv);
    first_f = fused(t, f, first_f);
    first_w = fused(t, w, first_w);
    h = product(t, q);
    p = fused(-m, q, e.b);
    q = e.c;
    f = fused(-m, f, e.d);
    w = -product(m, w);
  }
  template <Pivoting P, class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(std::int64_t, const Mask& two_by_two,
                                             const Equation<V>& e) {
    const V zero = constant<V>(0);
    if constexpr (P == Pivoting::none) {
      eliminate_unpivoted(reciprocal(p), e);
    } else {
      const PivotRows<V> r(p, q, f, two_by_two, e);
      const V Pw = select(two_by_two, zero, w), Cw = select(two_by_two, w, zero);
      const V inv = reciprocal(r.Pp), m = -product(r.Cp, inv), t = -product(h, inv);
      p = fused(m, r.Pq, r.Cq);
      q = fused(m, r.Pr, r.Cr);
      f = fused(m, r.Pf, r.Cf);
      w = fused(m, Pw, Cw);
      h = fused(t, r.Pq, i);
      i = product(t, r.Pr);
      first_f = fused(t, r.Pf, first_f);
      first_w = fused(t, Pw, first_w);
    }
  }
  template <class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void advance_where(const Mask& mask, const SpikeTips& to) {
    p = select(mask, to.p, p), q = select(mask, to.q, q), f = select(mask, to.f, f);
    w = select(mask, to.w, w), h = select(mask, to.h, h), i = select(mask, to.i, i);
    first_f = select(mask, to.first_f, first_f), first_w = select(mask, to.first_w, first_w);
  }
  /// Once the last row is reached, x_(k+1) is x_next.
  KOKKOS_FORCEINLINE_FUNCTION Segment<V> segment() const {
    const V zero = constant<V>(0), one = constant<V>(1), inv = reciprocal(p), t = -product(h, inv);
    return segment_of<V>({fused(t, w, first_w), one, zero, fused(t, q, i), fused(t, f, first_f)},
                         {product(w, inv), zero, one, product(q, inv), product(f, inv)});
  }
};

/// Second pass, x_prev known: p x_k + q x_(k+1) = f; the pivot rows are kept for the way back.
template <class V, class Rows>
struct SpikeFold {
  const Rows& rows;
  V p, q, f;
  Real<V> growth = constant<Real<V>>(0);  // largest fill, of rows whose largest entry is near 1

  KOKKOS_FORCEINLINE_FUNCTION SpikeFold(const Rows& rows_, const Equation<V>& e, const V& x_prev)
      : rows(rows_), p(e.b), q(e.c), f(fused(-e.a, x_prev, e.d)) {}

  template <Pivoting P, class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(std::int64_t k, const Mask& two_by_two,
                                             const Equation<V>& e) {
    if constexpr (P == Pivoting::none) {
      const V inv = reciprocal(p), m = product(e.a, inv);
      rows.keep(k, {product(q, inv), constant<V>(0), product(f, inv)});
      const auto size = magnitude(product(m, q));
      growth = select(growth > size, growth, size);
      p = fused(-m, q, e.b);
      q = e.c;
      f = fused(-m, f, e.d);
    } else {
      const PivotRows<V> r(p, q, f, two_by_two, e);
      const V inv = reciprocal(r.Pp), m = -product(r.Cp, inv);
      rows.keep(k, {product(r.Pq, inv), product(r.Pr, inv), product(r.Pf, inv)});
      p = fused(m, r.Pq, r.Cq);
      q = fused(m, r.Pr, r.Cr);
      f = fused(m, r.Pf, r.Cf);
    }
  }
  template <class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void advance_where(const Mask& mask, const SpikeFold& to) {
    p = select(mask, to.p, p), q = select(mask, to.q, q), f = select(mask, to.f, f);
    growth = select(mask, to.growth, growth);
  }
};

/// Every thread, or lane, takes one row a step.
struct LockStep {};

/// Every thread takes a pivot block a step, one row or two, and waits for its team every `tile`
/// rows of the `rows` of a partition (section III-B).
template <class Member>
struct DynamicTiling {
  const Member& member;
  std::int64_t tile, rows;
};

template <Pivoting P, class Stepping = LockStep>
struct DiagonalPivoting {
  Stepping stepping;

  static constexpr bool is_unpivoted = P == Pivoting::none && std::is_same_v<Stepping, LockStep>;

  /// What labels of kernels begin with.
  static std::string label(const char* kernel) { return std::string("Trikkos::spike::") + kernel; }
  static constexpr int half_bandwidth = 1;
  /// Even: where the diagonal is zero, partitions of an odd number of rows are singular.
  template <class>
  static constexpr int device_rows = 16;
  static constexpr int default_row_multiple = P == Pivoting::none ? 1 : 2;
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t rows_in_one_go(std::int64_t partition_size) {
    return partition_size;
  }
  template <class>
  static constexpr std::int64_t rows_in_tile(std::int64_t partition_size) {
    return partition_size;
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION Segment<V> reduce(const Rows& rows) const {
    SpikeTips<V> s(rows.equation(0));
    sweep(rows, s);
    Segment<V> r = s.segment();
    if (Rows::ragged || rows.length() == 0) {
      const auto empty = !rows.longer_than(0);
      select_segment(empty, r, identity_segment<V>());
    }
    return r;
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION Findings<V> substitute(const Rows& rows,
                                                     const Bounds<V>& bounds) const {
    SpikeFold<V, Rows> s(rows, rows.equation(0), bounds.prev);
    sweep(rows, s);
    const auto length = rows.length();
    const V last = product(fused(-s.q, bounds.next, s.f), reciprocal(s.p));
    V next = last, after = bounds.next;
    Findings<V> r{finite_probe(last)};
    Real<V> largest = magnitude(last);
    back_substitute<1>(rows, length - 1, 1, next, after, [&](const V& v) {
      r.probe += finite_probe(v);
      const Real<V> size = magnitude(v);
      largest = select(size > largest, size, largest);
    });
    if (length > 0) rows.store(0, next);
    // Inf and NaN have a report of their own, which names their row
    r.unstable = is_unstable(next - bounds.first, last - bounds.last, largest, s.growth) &
                 (r.probe == constant<Real<V>>(0));
    if (Rows::ragged || length == 0) {
      const auto present = rows.longer_than(0);
      r.probe = select(present, r.probe, constant<Real<V>>(0));
      r.unstable = r.unstable & present;
    }
    return r;
  }

  /// The same without pivoting for at most `most` rows, which make way for their pivot rows. In
  /// `spare` are returned those of the first and the last unknown, and the growth: also that of
  /// what x_prev is multiplied by, as it is not folded into right-hand sides here.
  template <int most, class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Segment<V> reduce(const Rows& rows,
                                                       V (&spare)[most]) requires is_unpivoted {
    static_assert(most >= 7);
    const int m = rows.length();
    SpikeTips<V> s(rows.equation(0));
    Real<V> growth = constant<Real<V>>(0);
    const auto put = [&](int at, const PivotRow<V>& row) {
      spare[at] = row.l, spare[at + 1] = row.q, spare[at + 2] = row.f;
    };
    TRIKKOS_UNROLL(most)
    for (int k = 1; k < most; ++k) {
      if (k < m) {
        const Equation<V> e = rows.inner_equation(k);
        const V inv = reciprocal(s.p);
        const PivotRow<V> row = s.pivot_row(inv);
        if (k == 1)
          put(0, row);
        else
          rows.keep_pivot(k, row);
        grow(growth, magnitude(product(e.a, row.q)));
        grow(growth, magnitude(row.l));
        s.eliminate_unpivoted(inv, e);
      }
    }
    put(3, s.pivot_row(reciprocal(s.p)));
    spare[6] = V(growth);
    return m > 0 ? s.segment() : identity_segment<V>();
  }
  template <int most, class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute(
      const Rows& rows, const V (&spare)[most], const Bounds<V>& bounds) requires is_unpivoted {
    const int m = rows.length();
    if (m == 0) return {constant<Real<V>>(0)};
    const auto unknown = [&](const V& l, const V& q, const V& f, const V& after) {
      return fused(-q, after, fused(-l, bounds.prev, f));
    };
    const V last = unknown(spare[3], spare[4], spare[5], bounds.next);
    V next = last;
    Findings<V> r{finite_probe(last)};
    Real<V> largest = magnitude(last);
    const auto note = [&](const V& v) {
      r.probe += finite_probe(v);
      grow(largest, magnitude(v));
    };
    TRIKKOS_UNROLL(most)
    for (int k = most - 1; k >= 2; --k) {
      if (k >= m) continue;
      const PivotRow<V> row = rows.kept_pivot(k);
      rows.store(k, next);
      next = unknown(row.l, row.q, row.f, next);
      note(next);
    }
    if (m > 1) {
      rows.store(1, next);
      next = unknown(spare[0], spare[1], spare[2], next);
      note(next);
    }
    if (m > 0) rows.store(0, next);
    r.unstable =
        is_unstable(next - bounds.first, last - bounds.last, largest, magnitude(spare[6])) &
        (r.probe == constant<Real<V>>(0));
    return r;
  }

  /// Reports the first row that is not finite or zero, or else a partition that is singular by
  /// itself, or would need a pivot from outside.
  template <class T>
  KOKKOS_INLINE_FUNCTION static void diagnose(const Diagnosis& diagnosis,
                                              const UnstagedRows<T>& rows) {
    for (std::int64_t k = 0; k < rows.m; ++k)
      if (report_bad_row(diagnosis, rows.inner_equation(k), rows.first + k)) return;
    if (!is_finite(DiagonalPivoting<P>{}.reduce(rows)))
      diagnosis.report(Status::Reason::unstable, rows.first);
  }

 private:
  template <class V>
  using Mask = typename Findings<V>::Mask;

  /// Eliminates columns 0 .. length - 2.
  template <class Rows, class State, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION void sweep(
      const Rows& rows, State& s) const requires std::is_same_v<Stepping, LockStep> {
    const auto inner = rows.inner_rows(), length = rows.length();
    Equation<V> e = rows.equation(1);
    Mask<V> second{};  // the second column of a 2x2 block
    typename Rows::index_type k = 0;
    TRIKKOS_UNROLL(1)
    for (; k + 2 < inner; ++k) {
      const Equation<V> e2 = rows.inner_equation(k + 2);
      const Mask<V> first = starts_block(s, e, e2.a, second);
      s.template eliminate<P>(k, first, e);
      second = first;
      e = e2;
    }
    for (; k + 1 < length; ++k) {  // what lies behind the partition has no say in its pivots
      const Equation<V> e2 = rows.equation(k + 2);
      Equation<V> within = e;
      within.c = select(rows.longer_than(k + 2), e.c, constant<V>(0));
      const Mask<V> first = starts_block(s, within, e2.a, second);
      State next = s;
      next.template eliminate<P>(k, first, e);
      s.advance_where(rows.longer_than(k + 1), next);
      second = first;
      e = e2;
    }
  }

  template <class Rows, class State, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION void sweep(const Rows& rows, State& s) const {
    static_assert(!Rows::ragged);
    const auto length = rows.length();
    Equation<V> e = rows.equation(1);
    typename Rows::index_type k = 0;
    for (std::int64_t stop = stepping.tile;; stop += stepping.tile) {
      while (k + 1 < length && k < stop) {
        Equation<V> e2 = rows.equation(k + 2), within = e;
        if (k + 2 >= length) within.c = V(0);
        const bool block = starts_block(s, within, e2.a, false);
        s.template eliminate<P>(k++, block, e);
        if (block && k + 1 < length) {
          s.template eliminate<P>(k++, false, e2);
          e2 = rows.equation(k + 1);
        }
        e = e2;
      }
      if (stop >= stepping.rows) break;
      stepping.member.team_barrier();
    }
  }

  /// Whether the reached row and the next one form a 2x2 block: |p| sigma < kappa |a q|.
  template <class State, class V>
  KOKKOS_FORCEINLINE_FUNCTION static Mask<V> starts_block(const State& s, const Equation<V>& e,
                                                          const V& a_after, const Mask<V>& second) {
    if constexpr (P == Pivoting::none) {
      return Mask<V>{};
    } else {
      constexpr double kappa = 0.6180339887498949;  // (sqrt(5) - 1) / 2
      const Real<V> a = magnitude(e.a), q = magnitude(s.q);
      const auto larger = [](const Real<V>& x, const Real<V>& y) { return select(x > y, x, y); };
      const Real<V> sigma =
          larger(larger(larger(a, q), larger(magnitude(e.b), magnitude(e.c))), magnitude(a_after));
      return (magnitude(s.p) * sigma < a * q * constant<Real<V>>(kappa)) & !second;
    }
  }

  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static void grow(R& largest, const R& size) {
    largest = select(largest > size, largest, size);
  }

  /// The ends of the partition come out of the reduced system and, once more, of the substitution.
  /// Where the two differ, the partition is close to singular by itself, and the rows on both sides
  /// of its edges have a residual in proportion.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static Mask<V> is_unstable(const V& first, const V& last,
                                                         const Real<V>& largest,
                                                         const Real<V>& growth) {
    using R = Real<V>;
    using Number = std::remove_cvref_t<decltype(lane(R{}, 0))>;
    constexpr int units_in_last_place = sizeof(Number) == 8 ? 1 << 20 : 1 << 12;
    constexpr double tolerance = Kokkos::Experimental::epsilon_v<Number> * units_in_last_place;
    const R bound = largest * constant<R>(tolerance), limit = constant<R>(64);
    return (magnitude(first) > bound) | (magnitude(last) > bound) | (growth > limit);
  }
};

}  // namespace Trikkos::Impl

#endif
