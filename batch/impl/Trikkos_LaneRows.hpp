// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANEROWS_HPP
#define TRIKKOS_IMPL_LANEROWS_HPP

#include <impl/Trikkos_LinesAhead.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_LanePartitions.hpp>

namespace Trikkos::Impl {

/// A partition of each of `width` systems, `Rows` of an elimination (Trikkos_Elimination.hpp).
template <class T, int W = 1, class Matrices = Systems<T, W>>
struct LaneSystems {
  using V = Lanes<T>;
  using value_type = V;
  using index_type = std::int64_t;
  static constexpr int half_bandwidth = W;
  static constexpr int width = lane_count<T>;
  static constexpr bool ragged = true;  // for the last W rows of a matrix, which are no inner ones
  static constexpr int at_once = W == 1 && !ComputedMatrices<Matrices> ? rows_at_once<T> : 1;

  const Matrices& A;  // those of the lanes
  const Vectors<const T>& b;
  const Vectors<T>& x;
  int count;  // lanes with one of their own; the others repeat the last of these
  std::int64_t first_row, m;
  BackRow<V, W>* back;
  unsigned stored;  // a bit for each lane whose solution counts

  KOKKOS_FORCEINLINE_FUNCTION LaneSystems(const Problem<T, W, Matrices>& of, std::int64_t first,
                                          std::int64_t rows, BackRow<V, W>* memory, unsigned open)
      : A(of.A),
        b(of.b),
        x(of.x),
        count(static_cast<int>(of.count())),
        first_row(first),
        m(rows),
        back(memory),
        stored(open),
        m_contiguous(are_contiguous()),
        m_lines(of.n(), width) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inner_rows() const {
    const std::int64_t before = A.first.n - W - first_row;
    return before >= m ? m : before > 0 ? before : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto longer_than(std::int64_t k) const {
    return constant<Real<V>>(k < m ? 1 : 0) > constant<Real<V>>(0);
  }
  /// Whether the largest coefficient of each is near 1.
  using unit_rows_of = Real<T>;
  KOKKOS_FORCEINLINE_FUNCTION bool has_unit_rows() const { return A.first.scale_rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t system_of(int l) const {
    return l < count ? l : count - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> inner_equation(std::int64_t k) const {
    prefetch(first_row + k);
    const V d = load_lanes<T>(b, count, first_row + k);
    if constexpr (ComputedMatrices<Matrices>) {
      const auto row = [&](int l) { return A[system_of(l)].row(first_row + k); };
      return scaled(equation_in_lanes<T, W>(row, d), A.first.scale_rows);
    } else {
      return scaled(equation_of<V, W>(*this, k, d), A.first.scale_rows);
    }
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION V entry(std::int64_t k) const {
    const V v = load_lanes<T>(A.band(W + j), count, first_row + k);
    if constexpr (is_complex_v<T>)
      if (A.first.conjugated) return conjugate(v);
    return v;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool comes_at_once() const { return m_contiguous && count == width; }
  KOKKOS_FORCEINLINE_FUNCTION void inner_equations(std::int64_t k,
                                                   Equation<V, W> (&e)[at_once]) const {
    const auto of = [&](int j) { return j <= 2 * W ? A.band(j) : b; };
    LoadedRows<T, W> loaded;
    loaded.load([&](int j) { return of(j).data + first_row + k; },
                [&](int j) { return of(j).system_stride; });
    for (int i = 0; i < at_once; ++i) {
      prefetch(first_row + k + i);
      e[i] = scaled(loaded.equation(i), A.first.scale_rows);
    }
  }
  /// Row k where it is an end of the matrix. Rare, so kept out of the recurrences.
  [[gnu::noinline]] KOKKOS_FUNCTION Equation<V, W> edge_equation(std::int64_t k) const {
    const std::int64_t i = first_row + k;
    Equation<V, W> e{};
    for (int l = 0; l < width; ++l)
      set_lane(e, l, equation_of<T, W>(A[system_of(l)], i, b[system_of(l)][i]));
    return scaled(e, A.first.scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> equation(std::int64_t k) const {
    if (k >= m) return unit_equation<V, W>();
    if (k < inner_rows() && first_row + k >= W) return inner_equation(k);
    prefetch(first_row + k);
    return LaneSystems(*this).edge_equation(k);
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t k, const BackRow<V, W>& row) const {
    back[k] = row;
  }
  /// In the place of q and f.
  KOKKOS_FORCEINLINE_FUNCTION void keep_pair(std::int64_t k, const V& u, const V& z) const {
    back[k].q = u;
    back[k].f = z;
  }
  KOKKOS_FORCEINLINE_FUNCTION const BackRow<V, W>& kept(std::int64_t k) const { return back[k]; }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t k, const V& v) const {
    store_lanes(x, stored, first_row + k, v);
  }
  /// The same of all rows, from the last one on. Of two side by side the second one waits in the
  /// place of its row.
  KOKKOS_FORCEINLINE_FUNCTION void store_in_pairs(std::int64_t k, const V& v) const {
    if constexpr (stores_in_pairs<T>)
      if (x.row_stride == 1 && stored == all_lanes<T> && (k | 1) < m) {
        if (k % 2 != 0)
          back[k].f = v;
        else
          store_pair(x.data + first_row + k, x.system_stride, v, back[k + 1].f);
        return;
      }
    store(k, v);
  }

 private:
  static constexpr int bands = ComputedMatrices<Matrices> ? 0 : 2 * W + 1;  // in memory

  /// What is needed later. In loops, not in a lambda: of one that does nothing but this g++ leaves
  /// nothing.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i) const {
    if (m_contiguous) {
      for (int due = m_lines.due(); due > 0; --due) {
        for (int j = 0; j <= bands; ++j) m_lines.template ask<false>(array(j));
        m_lines.template ask<true>(x);
        m_lines.step();
      }
    } else {
      const RowAhead<T> ahead(i, A.first.n);
      for (int j = 0; j <= bands; ++j) ahead.template ask<false>(array(j));
      ahead.template ask<true>(x);
    }
  }
  /// The bands, and b.
  KOKKOS_FORCEINLINE_FUNCTION Vectors<const T> array(int j) const {
    if constexpr (!ComputedMatrices<Matrices>)
      if (j < 2 * W + 1) return A.band(j);
    return b;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_contiguous() const {
    bool all = x.row_stride == 1;
    for (int j = 0; j <= bands; ++j) all &= array(j).row_stride == 1;
    return all;
  }

  bool m_contiguous;
  mutable LinesAhead<T> m_lines;
};

}  // namespace Trikkos::Impl

#endif
