// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANEROWS_HPP
#define TRIKKOS_IMPL_LANEROWS_HPP

#include <impl/Trikkos_LaneStaging.hpp>
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
  unsigned stored;                    // a bit for each lane whose solution counts
  LaneStaging<T, W>* next = nullptr;  // the systems to come, where they are copied meanwhile

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
  KOKKOS_FORCEINLINE_FUNCTION bool comes_at_once() const {
    bool contiguous = count == width && b.row_stride == 1;
    for (int j = 0; j < 2 * W + 1; ++j) contiguous &= A.band(j).row_stride == 1;
    return contiguous;
  }
  KOKKOS_FORCEINLINE_FUNCTION void inner_equations(std::int64_t k,
                                                   Equation<V, W> (&e)[at_once]) const {
    const auto of = [&](int j) { return j <= 2 * W ? A.band(j) : b; };
    LoadedRows<T, W> loaded;
    loaded.load([&](int j) { return of(j).data + first_row + k; },
                [&](int j) { return of(j).system_stride; });
    for (int i = 0; i < at_once; ++i) {
      prefetch<true>(first_row + k + i);
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
  /// Whether x of rows k and k + 1 can be stored together, and that.
  KOKKOS_FORCEINLINE_FUNCTION bool comes_in_pairs() const {
    return stores_in_pairs<T> && stored == all_lanes<T> && x.row_stride == 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION void store_both(std::int64_t k, const V& v, const V& behind) const {
    if constexpr (stores_in_pairs<T>)
      store_pair(x.data + first_row + k, x.system_stride, v, behind);
  }

 private:
  /// `contiguous`: the bands and b.
  template <bool contiguous = false>
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i) const {
    const RowAhead<T> ahead(i, A.first.n);
    if constexpr (!ComputedMatrices<Matrices>)
      if (next != nullptr) {
        next->advance();
        if (next->leaves_x()) ahead.template ask<true>(x);
        return;
      }
    const auto ask = [&](const Vectors<const T>& of) {
      if constexpr (contiguous)
        ahead.template ask_contiguous<false>(of);
      else
        ahead.template ask<false>(of);
    };
    if constexpr (!ComputedMatrices<Matrices>)
      for (int j = 0; j < 2 * W + 1; ++j) ask(A.band(j));
    ask(b);
    ahead.template ask<true>(x);
  }
};

}  // namespace Trikkos::Impl

#endif
