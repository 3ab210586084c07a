// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WIDECARRY_HPP
#define TRIKKOS_IMPL_WIDECARRY_HPP

#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>

/// \file
/// The recurrences of `Algorithm::segmented` for W > 1 diagonals on either side.
///
/// A partition of rows keeps its first W and its last W unknowns, u and v, and eliminates those
/// between. Any nonsingular matrix leaves exactly 2W independent rows then, so 2W rows are carried
/// through the partition: after row k over x_prev, u, the last W unknowns x_(k-W+1) .. x_k and the
/// next W, of which row i knows the first i + 1. With the next row e, x_(k-W+1) goes by a chain of
/// 2W rotations, from row 0 down to e (Trikkos_Staircase.hpp). For W = 2, columns from x_(k-1) on:
///
///   row 0   *                      *
///   row 1   * *                    * *
///   row 2   * * *        becomes   * * *         and the pivot row   x_(k-1) = f - q (x_k ...
///   row 3   * * * *                * * * *                                      x_(k+3))
///   e       * * * * *
///
/// This is QR, each row scaled by a number near 1: backward stable for every matrix, by a few units
/// in the last place for each row that is carried, as for W = 1 (Trikkos_OrthogonalCarry.hpp).
///
/// The second pass repeats the elimination once x_prev and u are known, without their columns, and
/// must arrive at the same coefficients bit for bit: both passes call one `eliminate`.
///
/// V is a scalar or lanes of it.

namespace Trikkos::Impl {

/// The rows that are carried and, last, the new one. `Outer` is 2W while x_prev and u are unknown,
/// and 0 once they are not.
template <class V, int W, int Outer>
using CarriedRows = Staircase<V, 2 * W + 1, Outer, 2 * W + 1>;

template <class V, int W, int Outer>
KOKKOS_FORCEINLINE_FUNCTION void carry(CarriedRows<V, W, Outer>& rows, const Equation<V, W>& e) {
  V(&last)[CarriedRows<V, W, Outer>::columns] = rows.row[2 * W];
  last[rows.rhs] = e.d;
  TRIKKOS_UNROLL(2 * W + 1)
  for (int j = 0; j < 2 * W + 1; ++j) last[rows.window + j] = e.a[j];
  Real<V> least = constant<Real<V>>(1);
  rows.template eliminate<false, 0, true>(2 * W, least);
}
/// Of the unknown that went last.
template <int W, class V>
KOKKOS_FORCEINLINE_FUNCTION BackRow<V, W> back_row(const CarriedRows<V, W, 0>& rows) {
  BackRow<V, W> back;
  back.f = rows.row[2 * W][rows.rhs];
  TRIKKOS_UNROLL(2 * W)
  for (int j = 0; j < 2 * W; ++j) back.q[j] = rows.row[2 * W][rows.window + 1 + j];
  return back;
}

/// Row `first` + i of a partition is equation(i), i < 2W, which are the first ones.
template <int W, class V, class Equations>
KOKKOS_FORCEINLINE_FUNCTION CarriedRows<V, W, 2 * W> start_rows(const Equations& equation) {
  constexpr int half = 2 * W;
  CarriedRows<V, W, half> rows;
  TRIKKOS_UNROLL(half)
  for (int i = 0; i < half; ++i) {
    const Equation<V, W> e = equation(i);
    TRIKKOS_UNROLL(half)
    for (int j = 0; j < half; ++j) rows.row[i][j] = j < i ? constant<V>(0) : e.a[j - i];
    rows.row[i][rows.rhs] = e.d;
    TRIKKOS_UNROLL(half)
    for (int j = 0; j <= i; ++j) rows.row[i][rows.window + j] = e.a[half - i + j];
  }
  return rows;
}
/// The same once x_prev and u are known: `outer` are their values.
template <int W, class V, class Equations>
KOKKOS_FORCEINLINE_FUNCTION CarriedRows<V, W, 0> start_fold(const Equations& equation,
                                                            const V* outer) {
  constexpr int half = 2 * W;
  CarriedRows<V, W, 0> rows;
  TRIKKOS_UNROLL(half)
  for (int i = 0; i < half; ++i) {
    const Equation<V, W> e = equation(i);
    V f = e.d;
    TRIKKOS_UNROLL(half)
    for (int j = i; j < half; ++j) f = fused(-e.a[j - i], outer[j], f);
    rows.row[i][rows.rhs] = f;
    TRIKKOS_UNROLL(half)
    for (int j = 0; j <= i; ++j) rows.row[i][rows.window + j] = e.a[half - i + j];
  }
  return rows;
}

template <int W, class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> segment_of(const CarriedRows<V, W, 2 * W>& rows) {
  using S = Segment<V, W>;
  S s;
  TRIKKOS_UNROLL(2 * W)
  for (int i = 0; i < 2 * W; ++i) {
    TRIKKOS_UNROLL(4 * W + 1)
    for (int j = 0; j < S::length(i); ++j) s.w[S::start(i) + j] = rows.row[i][j];
  }
  return s;
}
/// The same of a segment, once x_prev and u are known.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION CarriedRows<V, W, 0> folded(Segment<V, W> s, const V* outer) {
  using S = Segment<V, W>;
  fold(s, outer);
  CarriedRows<V, W, 0> rows;
  TRIKKOS_UNROLL(2 * W)
  for (int i = 0; i < 2 * W; ++i) {
    rows.row[i][rows.rhs] = s.w[S::rhs(i)];
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j <= i; ++j) rows.row[i][rows.window + j] = s.w[S::rhs(i) + 1 + j];
  }
  return rows;
}
/// One more row for any segment.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION void carry(Segment<V, W>& s, const Equation<V, W>& e) {
  using S = Segment<V, W>;
  CarriedRows<V, W, 2 * W> rows;
  TRIKKOS_UNROLL(2 * W)
  for (int i = 0; i < 2 * W; ++i) {
    TRIKKOS_UNROLL(4 * W + 1)
    for (int j = 0; j < S::length(i); ++j) rows.row[i][j] = s.w[S::start(i) + j];
  }
  carry(rows, e);
  s = segment_of<W>(rows);
}

/// The rows that are carried where no unknown is to be kept at the start: W of them, of which row i
/// knows W + i + 1 unknowns. This is the QR factorization, W rotations a row.
template <class V, int W>
struct LoneRows {
  static constexpr int words = W * (W + 2) + W * (W - 1) / 2;  // that are carried

  Staircase<V, W + 1, 0, 2 * W + 1, W> rows;
  Real<V> least = constant<Real<V>>(1), probe = constant<Real<V>>(0);

  LoneRows() = default;
  /// equation(i) is row i, i < W.
  template <class Equations>
  KOKKOS_FORCEINLINE_FUNCTION explicit LoneRows(const Equations& equation) {
    start(equation);
  }
  template <class Equations>
  KOKKOS_FORCEINLINE_FUNCTION void start(const Equations& equation) {
    TRIKKOS_UNROLL(W)
    for (int i = 0; i < W; ++i) put(i, equation(i));
  }
  /// The pivot row of the unknown W rows before e.
  KOKKOS_FORCEINLINE_FUNCTION BackRow<V, W> rotate(const Equation<V, W>& e) {
    put(W, e);
    Real<V> others = least;  // small ones of them do no harm: rows are scaled
    const Real<V> square = rows.template eliminate<false, 0, true>(W + 1, others);
    least = select(square < least, square, least);
    BackRow<V, W> back;
    back.f = rows.row[W][rows.rhs];
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) back.q[j] = rows.row[W][rows.window + 1 + j];
    probe += finite_probe(back.f);
    return back;
  }
  KOKKOS_FORCEINLINE_FUNCTION typename Findings<V>::Mask is_sound() const {
    return (least > constant<Real<V>>(Tiny<Real<V>>::safe)) & (probe == constant<Real<V>>(0));
  }
  /// use(word, number) for the words that are carried.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_words(const Use& use) {
    int k = 0;
    TRIKKOS_UNROLL(W)
    for (int i = 0; i < W; ++i) {
      use(rows.row[i][rows.rhs], k++);
      TRIKKOS_UNROLL(2 * W + 1)
      for (int j = 0; j <= W + i; ++j) use(rows.row[i][rows.window + j], k++);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void put(int i, const Equation<V, W>& e) {
    rows.row[i][rows.rhs] = e.d;
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j <= W + i; ++j) rows.row[i][rows.window + j] = e.a[W - i + j];
  }
};

/// The elimination of `segmented`.
template <int W>
struct WideCarry {
  static constexpr int half_bandwidth = W;
  template <class V>
  using Lone = LoneRows<V, W>;
  static std::string label(const char* kernel) { return OrthogonalCarry::label(kernel); }
  template <class>
  static constexpr int device_rows = 29;
  static constexpr int default_row_multiple = 1;
  static constexpr bool pads = OrthogonalCarry::pads;
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t rows_in_one_go(std::int64_t partition_size) {
    return carried_rows(partition_size);
  }
  template <class T>
  static constexpr std::int64_t rows_in_tile(std::int64_t partition_size) {
    return odd_rows(partition_size, device_rows<T>);
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Segment<V, W> reduce(const Rows& rows) {
    using Index = typename Rows::index_type;
    const auto inner = rows.inner_rows();
    const auto equation = [&](int i) { return rows.equation(i); };
    CarriedRows<V, W, 2 * W> carried = start_rows<W, V>(equation);
    Index k = 2 * W;
    for_inner_rows(rows, k, inner, [&](auto, const Equation<V, W>& e) {
      carry<V, W, 2 * W>(carried, e);
      flush(rows, carried);
    });
    Segment<V, W> s = segment_of<W>(carried);
    const auto add = [&](Index row) {
      Segment<V, W> next = s;
      carry(next, rows.equation(row));
      select_segment(rows.longer_than(row), s, next);
    };
    if (inner < 2 * W) {
      const Segment<V, W> started = s;
      s = identity_segment<V, W>();
      TRIKKOS_UNROLL(1)
      for (Index row = 0; row < 2 * W - 1; ++row) add(row);
      select_segment(rows.longer_than(2 * W - 1), s, started);
    }
    if constexpr (Rows::ragged) {
      for (; k < rows.length(); ++k) add(k);
    }
    return s;
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute(const Rows& rows,
                                                            const Bounds<V, W>& bounds) {
    using Index = typename Rows::index_type;
    const auto length = rows.length();
    if (length > 2 * W) {
      Index k = 2 * W;
      CarriedRows<V, W, 0> carried = fold_inner(rows, bounds.x, k);
      if constexpr (Rows::ragged) {
        for (; k < length; ++k) {
          carry<V, W, 0>(carried, rows.equation(k));
          rows.keep(k, back_row<W>(carried));
        }
      }
    }
    return go_back(rows, bounds);
  }
  /// The same in two steps: the rows that are left, once x_prev and u, `outer`, are known; and
  /// from the values around the partition to the solution.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static CarriedRows<V, W, 0> fold(const Rows& rows, const V* outer) {
    if (rows.length() >= 2 * W) {
      typename Rows::index_type k = 2 * W;
      return fold_inner(rows, outer, k);
    }
    return folded(reduce(rows), outer);
  }

  /// A whole open system by itself: with no unknown to be kept at its start, W rows are carried
  /// (`LoneRows`). Behind the system follow rows 1 x = 0.
  ///
  /// Leaves the last unknown and returns where all went well: not where squares are not safe from
  /// underflow or anything is not finite, which segments are better at.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static typename Findings<V>::Mask reduce_alone(const Rows& rows,
                                                                             V& last) {
    LoneRows<V, W> carried([&](int i) { return rows.equation(i); });
    carry_alone(rows, carried, last, W, rows.length() + W);
    return carried.is_sound();
  }
  /// Rows k up to `end`. Leaves the right-hand side of the last pivot row.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static void carry_alone(const Rows& rows, LoneRows<V, W>& carried,
                                                      V& last, typename Rows::index_type k,
                                                      typename Rows::index_type end) {
    const auto inner = rows.inner_rows();
    const auto rotate = [&](typename Rows::index_type row, const Equation<V, W>& e) {
      const BackRow<V, W> back = carried.rotate(e);
      rows.keep(row - W, back);
      last = back.f;
    };
    for_inner_rows(rows, k, end < inner ? end : inner, rotate);
    for (; k < end; ++k) rotate(k, rows.equation(k));
  }
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> substitute_alone(const Rows& rows, const V& last) {
    V x[2 * W];
    start_alone(x, last);
    Real<V> probe = finite_probe(last);
    substitute_alone(rows, x, probe, rows.length() - 1, 0);
    return {probe};
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static void start_alone(V (&x)[2 * W], const V& last) {
    x[0] = last;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 1; j < 2 * W; ++j) x[j] = constant<V>(0);
  }
  /// Stores unknown k, which is x[0], down to the `last`.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static void substitute_alone(const Rows& rows, V (&x)[2 * W],
                                                           Real<V>& probe,
                                                           typename Rows::index_type k,
                                                           typename Rows::index_type last) {
    using Index = typename Rows::index_type;
    for_kept_rows(rows, Index(k - 1), last > 0 ? Index(last - 1) : Index(0),
                  [&](Index row, const BackRow<V, W>& back) {
                    rows.store(row + 1, x[0]);
                    const V v = substituted(back, x);
                    TRIKKOS_UNROLL(2 * W)
                    for (int j = 2 * W - 1; j > 0; --j) x[j] = x[j - 1];
                    x[0] = v;
                    probe += finite_probe(v);
                  });
    if (last == 0) rows.store(0, x[0]);
  }
  /// The same, some rows at a time.
  template <class V>
  class Alone {
   public:
    static constexpr int begin = W;  // rows before are carried

    Alone() = default;
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION explicit Alone(const Rows& rows)
        : m_carried([&](int i) { return rows.equation(i); }) {}
    KOKKOS_FORCEINLINE_FUNCTION bool goes_on() const { return true; }
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION void reduce(const Rows& rows, std::int64_t k, std::int64_t end) {
      carry_alone(rows, m_carried, m_x[0], k, end);
    }
    /// When all rows are: where all went well.
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION typename Findings<V>::Mask turn(const Rows& rows) {
      const auto n = rows.length();
      reduce(rows, n > W ? n : W, n + W);
      start_alone(m_x, m_x[0]);
      m_probe = finite_probe(m_x[0]);
      return m_carried.is_sound();
    }
    /// Stores unknown k, down to the `last`.
    template <class Rows>
    KOKKOS_FORCEINLINE_FUNCTION void substitute(const Rows& rows, std::int64_t k,
                                                std::int64_t last) {
      substitute_alone(rows, m_x, m_probe, k, last);
    }
    KOKKOS_FORCEINLINE_FUNCTION Findings<V> findings() const { return {m_probe}; }

   private:
    LoneRows<V, W> m_carried;
    V m_x[2 * W];
    Real<V> m_probe;
  };

  /// Repeats the elimination and reports the first row that is not finite or zero, or else the
  /// first column without a pivot.
  template <class Rows, class T = typename Rows::value_type>
  KOKKOS_INLINE_FUNCTION static void diagnose(const Diagnosis& diagnosis, const Rows& rows) {
    using S = Segment<T, W>;
    S s = identity_segment<T, W>();
    for (std::int64_t k = 0; k < rows.m; ++k) {
      const std::int64_t i = rows.first + k;
      const Equation<T, W> e = rows.inner_equation(k);
      if (report_bad_row(diagnosis, e, i)) return;
      bool has_pivot = magnitude(e.a[0]) != 0;
      for (int r = 0; r < 2 * W; ++r) has_pivot |= magnitude(s.w[S::rhs(r) + 1]) != 0;
      if (k >= W && !has_pivot) return diagnosis.report(Status::Reason::singular, i - W);
      carry(s, e);
      if (!is_finite(s)) return diagnosis.report(Status::Reason::not_finite, rows.existing(i));
    }
  }

  /// The unknown of a row from those behind it.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V substituted(const BackRow<V, W>& row, const V (&x)[2 * W]) {
    V v = row.f;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 2 * W - 1; j >= 0; --j) v = fused(-row.q[j], x[j], v);
    return v;
  }

  /// From the last unknown to the first; `x` are W of them and W behind them.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static Findings<V> go_back(const Rows& rows,
                                                         const Bounds<V, W>& bounds) {
    const auto inner = rows.inner_rows(), length = rows.length();
    V x[2 * W];
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) x[j] = bounds.x[2 * W + j];
    Real<V> probe = finite_probe(bounds);
    // x_k is stored, and v = x_(k-W) comes before the others
    const auto step = [&](typename Rows::index_type k, const V& v) {
      rows.store(k, x[W - 1]);
      // lanes that end before row k still wait with their own last unknowns
      const auto active = rows.longer_than(k);
      const bool all = !Rows::ragged || k < inner;
      TRIKKOS_UNROLL(2 * W)
      for (int j = 2 * W - 1; j >= 0; --j) {
        const V& before = j > 0 ? x[j - 1] : v;
        x[j] = all ? before : select(active, before, x[j]);
      }
      probe += finite_probe(x[0]);
    };
    using Index = typename Rows::index_type;
    for_kept_rows(rows, Index(length - 1), Index(2 * W),
                  [&](Index k, const BackRow<V, W>& row) { step(k, substituted(row, x)); });
    // by numbers that the compiler knows: it would copy the bounds to memory for an index
    TRIKKOS_UNROLL(W)
    for (int i = 2 * W - 1; i >= W; --i)
      if (i < length) step(i, bounds.x[i]);
    TRIKKOS_UNROLL(W)
    for (int i = W - 1; i >= 0; --i)
      if (i < length) rows.store(i, bounds.x[W + i]);
    return {probe};
  }

 private:
  /// Up to row k, which becomes that behind the inner ones.
  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION static CarriedRows<V, W, 0> fold_inner(const Rows& rows,
                                                                     const V* outer,
                                                                     typename Rows::index_type& k) {
    CarriedRows<V, W, 0> carried = start_fold<W, V>([&](int i) { return rows.equation(i); }, outer);
    for_inner_rows(rows, k, rows.inner_rows(), [&](auto row, const Equation<V, W>& e) {
      carry<V, W, 0>(carried, e);
      rows.keep(row, back_row<W>(carried));  // of x_(row-W)
      flush(rows, carried);
    });
    return carried;
  }
  /// Of a host's lanes of float, what fades from row to row. In double there is more room, and time
  /// is lost.
  template <class Rows, class V, int Outer>
  KOKKOS_FORCEINLINE_FUNCTION static void flush(const Rows& rows,
                                                CarriedRows<V, W, Outer>& carried) {
    if constexpr (requires { requires std::is_same_v<typename Rows::unit_rows_of, float>; }) {
      if (!rows.has_unit_rows()) return;
      auto& row = carried.row;
      for (int j = 0; j < Outer; ++j)  // the first unknowns, from the last rows
        for (int i = W; i < 2 * W; ++i) row[i][j] = flushed(row[i][j], row[i - W][j]);
      for (int j = carried.window; j < carried.window + W; ++j)  // and the other way round
        for (int i = j - carried.window; i < W; ++i) row[i][j] = flushed(row[i][j], row[i + W][j]);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
