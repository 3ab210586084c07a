// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WIDEORTHOGONALFACTORS_HPP
#define TRIKKOS_IMPL_WIDEORTHOGONALFACTORS_HPP

#include <impl/factored/Trikkos_OrthogonalFactors.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// Trikkos_OrthogonalFactors.hpp for W > 1 diagonals on either side. W rows are carried, row i of
/// which knows the next W + i + 1 unknowns. With the next row x_k goes by a chain of W rotations,
/// which leaves row k of R with 2W coefficients, in the order of Trikkos_Staircase.hpp.
///
/// Of a ring, the last W rows are carried along and rotated with each row of R. All know the last
/// 2W unknowns besides, the `ends`, the first W of which are among the others, too: when their turn
/// comes, both coefficients are added up. A block of W x W is left of the last rows.
///
/// Right-hand sides and ends are carried in twice the digits, as for W = 1.

namespace Trikkos::Impl {

template <class T, int W>
class WideOrthogonalFactors {
  static constexpr int window = 2 * W + 1, ends = 2 * W;
  /// Of a row of R, and of the rotations that made it: words of a row.
  enum Band : int {
    inverse = 0,
    upper = 1,
    c = upper + 2 * W,
    s = c + W,
    scale = s + W,
    open_bands = scale + 1,
    end = open_bands,
    end_c = end + ends,
    end_s = end_c + W,
    ring_bands = end_s + W
  };
  using Long = DoubleWords<T>;

  struct Row {
    T at[window] = {};
    Long end[ends] = {};
  };

  T* m_data;
  std::int64_t m_n;
  bool m_ring;  // periodic, of more than W rows

 public:
  KOKKOS_INLINE_FUNCTION WideOrthogonalFactors(std::int64_t n, bool periodic, T* data)
      : m_data(data), m_n(n), m_ring(periodic && n > W) {}

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t words(std::int64_t n, bool periodic) {
    return n * (periodic ? ring_bands : open_bands);
  }

  /// Returns the first row that is not finite or without a pivot, -1 if none.
  template <class Rows>
  KOKKOS_INLINE_FUNCTION std::int64_t factor(const Rows& A) const {
    std::int64_t bad = -1;
    const auto expect_finite = [&](std::int64_t i, const Real<T>& probe) {
      if (bad < 0 && !(probe == 0)) bad = i;
    };
    // where x_first is the first of the window
    const auto load = [&](std::int64_t i, std::int64_t first, Row& row) {
      expect_finite(i, place(A, i, first, row));
    };
    Row row[W + 1], last[W];  // the last one of `row` comes in, and becomes that of R
    for (int a = 0; a < W; ++a) {
      if (a < rows()) load(a, 0, row[a]);
      if (m_ring) load(m_n - W + a, 0, last[a]);
    }
    for (std::int64_t k = 0; k < rows(); ++k) {
      row[W] = Row{};
      if (k + W < rows()) load(k + W, k, row[W]);
      if (m_ring && k >= m_n - ends) {  // columns meet
        const auto met = static_cast<int>(k - (m_n - ends));
        for (Row& r : row) join(r, met);
        for (Row& r : last) join(r, met);
      }
      for (int i = 1; i <= W; ++i) {
        const bool rotates = k + i < rows();
        rotate_rows(row[i - 1], row[i], rotates, at(c + i - 1, k), at(s + i - 1, k));
        const Row pivot = row[i - 1];  // P is above, and N below: in the order of the staircase
        row[i - 1] = row[i];
        row[i] = pivot;
        shift(row[i - 1]);
      }
      for (int a = 0; m_ring && a < W; ++a) {
        rotate_rows(row[W], last[a], true, at(end_c + a, k), at(end_s + a, k));
        shift(last[a]);
      }
      at(inverse, k) = quotient(T(1), row[W].at[0]);
      for (int j = 0; j < 2 * W; ++j) at(upper + j, k) = row[W].at[1 + j];
      for (int j = 0; m_ring && j < ends; ++j) at(end + j, k) = row[W].end[j].value();
      expect_finite(k, finite_probe(at(inverse, k)));
    }
    if (m_ring) factor_last(last, expect_finite);
    return bad;
  }

  /// x may be b. Returns not a number unless x is finite.
  KOKKOS_INLINE_FUNCTION Real<T> solve(const Strided<const T>& b, const Strided<T>& x) const {
    Long f[W + 1], last[W];
    for (int a = 0; a < W; ++a) {
      if (a < rows()) f[a] = Long(right(b, a));
      if (m_ring) last[a] = Long(right(b, m_n - W + a));
    }
    for (std::int64_t k = 0; k < rows(); ++k) {
      f[W] = k + W < rows() ? Long(right(b, k + W)) : Long();
      for (int i = 1; i <= W; ++i) {
        rotate(at(c + i - 1, k), at(s + i - 1, k), f[i - 1], f[i]);
        const Long pivot = f[i - 1];
        f[i - 1] = f[i];
        f[i] = pivot;
      }
      for (int a = 0; m_ring && a < W; ++a)
        rotate(at(end_c + a, k), at(end_s + a, k), f[W], last[a]);
      x[k] = f[W].value();
    }
    T outer[ends] = {}, next[2 * W] = {};  // the last 2W unknowns, and those behind x_k
    Real<T> probe(0);
    if (m_ring) solve_last(last, outer);
    for (int a = 0; m_ring && a < W; ++a) {
      x[m_n - W + a] = outer[W + a];
      probe += finite_probe(outer[W + a]);
    }
    for (std::int64_t k = rows() - 1; k >= 0; --k) {
      T v = x[k];
      for (int j = ends - 1; m_ring && j >= 0; --j) v = fused(-at(end + j, k), outer[j], v);
      for (int j = 2 * W - 1; j >= 0; --j) v = fused(-at(upper + j, k), next[j], v);
      v = product(at(inverse, k), v);
      for (int j = 2 * W - 1; j > 0; --j) next[j] = next[j - 1];
      next[0] = x[k] = v;
      for (int j = 0; j < W; ++j)
        if (k == m_n - ends + j) outer[j] = v;
      probe += finite_probe(v);
    }
    return probe;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const { return m_ring ? m_n - W : m_n; }
  KOKKOS_FORCEINLINE_FUNCTION T& at(int band, std::int64_t k) const {
    return m_data[band * m_n + k];
  }

  /// Row i of the matrix, scaled, the scale for its right-hand side, and whether it is finite.
  template <class Rows>
  KOKKOS_INLINE_FUNCTION Real<T> place(const Rows& A, std::int64_t i, std::int64_t first,
                                       Row& row) const {
    Equation<T, W> e;
    read_row<W>(A, i, e.a);
    e.d = T(1);
    e = scaled(e, A.scale_rows);
    at(scale, i) = e.d;
    Real<T> probe(0);
    for (int j = -W; j <= W; ++j) {
      const T& v = e.a[W + j];
      probe += finite_probe(v);
      std::int64_t column = i + j;
      if (!A.periodic && (column < 0 || column >= m_n)) continue;
      while (column < 0) column += m_n;
      while (column >= m_n) column -= m_n;
      const bool at_end = m_ring && column >= (i < rows() ? rows() : m_n - ends);
      for (int t = 0; t < ends; ++t)
        if (at_end && column == m_n - ends + t) row.end[t].add(Long(v));
      for (int t = 0; t < window; ++t)
        if (!at_end && column == first + t) row.at[t] += v;
    }
    return probe;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void join(Row& row, int met) {
    for (int t = 0; t < ends; ++t)
      if (t == met) {
        row.at[0] += row.end[t].value();
        row.end[t] = Long();
      }
  }
  /// The window goes one unknown on.
  KOKKOS_FORCEINLINE_FUNCTION static void shift(Row& row) {
    for (int t = 0; t + 1 < window; ++t) row.at[t] = row.at[t + 1];
    row.at[window - 1] = T(0);
  }

  /// The first unknown goes from the row below; keeps the rotation.
  KOKKOS_INLINE_FUNCTION static void rotate_rows(Row& above, Row& below, bool rotates, T& kept_c,
                                                 T& kept_s) {
    kept_c = T(1);
    kept_s = T(0);
    if (!rotates) return;
    const UnitRotation<T> g(above.at[0], below.at[0]);
    for (int t = 1; t < window; ++t) {
      const T p = g.pivot(above.at[t], below.at[t]);
      below.at[t] = g.next(above.at[t], below.at[t]);
      above.at[t] = p;
    }
    above.at[0] = g.p;
    below.at[0] = T(0);
    for (int t = 0; t < ends; ++t) rotate(g.c, g.s, above.end[t], below.end[t]);
    kept_c = g.c;
    kept_s = g.s;
  }
  /// A column of two rows.
  static KOKKOS_FORCEINLINE_FUNCTION void rotate(const T& c, const T& s, Long& above, Long& below) {
    const Long old = above;
    above = sum_of_products(conjugate(c), old, conjugate(s), below);
    below = sum_of_products(c, below, -s, old);
  }

  /// The block of W x W that is left of the last rows; its factors lie where a row of R has its
  /// own.
  template <class Expect>
  KOKKOS_INLINE_FUNCTION void factor_last(Row (&last)[W], const Expect& expect_finite) const {
    for (int a = 0; a < W; ++a) {
      const std::int64_t i = m_n - W + a;
      for (int r = a + 1; r < W; ++r) {
        const UnitRotation<T> g(last[a].end[W + a].value(), last[r].end[W + a].value());
        for (int t = a; t < W; ++t) rotate(g.c, g.s, last[a].end[W + t], last[r].end[W + t]);
        at(end_c + r, i) = g.c;
        at(end_s + r, i) = g.s;
      }
      at(inverse, i) = quotient(T(1), last[a].end[W + a].value());
      for (int t = a + 1; t < W; ++t) at(end + W + t, i) = last[a].end[W + t].value();
      expect_finite(i, finite_probe(at(inverse, i)));
    }
  }
  KOKKOS_INLINE_FUNCTION void solve_last(Long (&last)[W], T (&outer)[ends]) const {
    for (int a = 0; a < W; ++a)
      for (int r = a + 1; r < W; ++r)
        rotate(at(end_c + r, m_n - W + a), at(end_s + r, m_n - W + a), last[a], last[r]);
    for (int a = W - 1; a >= 0; --a) {
      const std::int64_t i = m_n - W + a;
      T v = last[a].value();
      for (int t = W - 1; t > a; --t) v = fused(-at(end + W + t, i), outer[W + t], v);
      outer[W + a] = product(at(inverse, i), v);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION T right(const Strided<const T>& b, std::int64_t i) const {
    if constexpr (is_complex_v<T>)
      return product(at(scale, i).real(), b[i]);
    else
      return at(scale, i) * b[i];
  }
};

}  // namespace Trikkos::Impl

#endif
