// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANEPARTITIONS_HPP
#define TRIKKOS_IMPL_LANEPARTITIONS_HPP

#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>

/// \file
/// Partitions in SIMD lanes, one in each, gathered from where their rows lie.

namespace Trikkos::Impl {

/// A row of a matrix in each lane.
template <class T, int W>
struct LaneRows {
  T of_lane[2 * W + 1][lane_count<T>];

  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION Lanes<T> entry(int) const {
    return gathered<T>([&](int l) { return of_lane[W + j][l]; },
                       std::make_integer_sequence<int, lane_count<T>>{});
  }
};
/// Computed rows, row(l) in lane l.
template <class T, int W, class RowOfLane>
KOKKOS_FORCEINLINE_FUNCTION Equation<Lanes<T>, W> equation_in_lanes(const RowOfLane& row,
                                                                    const Lanes<T>& d) {
  LaneRows<T, W> rows;
  for (int l = 0; l < lane_count<T>; ++l) {
    const auto r = row(l);
    for (int j = 0; j < 2 * W + 1; ++j) rows.of_lane[j][l] = r[j];
  }
  return equation_of<Lanes<T>, W>(rows, 0, d);
}

/// Rows that are loaded at once.
template <class T, int W>
struct LoadedRows {
  Lanes<T> word[2 * W + 2][rows_at_once<T>];  // of bands and right-hand side

  /// Of array j, lane l begins at first(j) + l step(j).
  template <class First, class Step>
  KOKKOS_FORCEINLINE_FUNCTION void load(const First& first, const Step& step) {
    for (int j = 0; j < 2 * W + 2; ++j) load_rows(first(j), step(j), word[j]);
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION const Lanes<T>& entry(int i) const {
    return word[W + j][i];
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<Lanes<T>, W> equation(int i) const {
    return equation_of<Lanes<T>, W>(*this, i, word[2 * W + 1][i]);
  }
};

/// Link `link` of each run of a tile: `width` partitions, one a lane, `stride` rows apart. `Rows`
/// of an elimination (Trikkos_Elimination.hpp).
template <class T, int W = 1, class Matrix = Bands<T, W>>
struct LanePartitions {
  using V = Lanes<T>;
  using value_type = V;
  using index_type = std::int64_t;
  static constexpr int half_bandwidth = W;
  static constexpr int width = lane_count<T>;
  static constexpr bool ragged = true;
  static constexpr int at_once = W == 1 && !ComputedMatrices<Matrix> ? rows_at_once<T> : 1;

  const Matrix& A;
  Strided<const T> b;
  Strided<T> x;
  std::int64_t first_row, rows, stride;
  BackRow<V, W>* back;      // of the rows of a partition
  std::int64_t prefetched;  // row where the tile starts that comes next

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(int l) const { return first_row + l * stride; }
  /// Rows of the partition of lane l: fewer, or none, at the end of the system.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(int l) const { return clamped(A.n - row_of(l)); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return length(0); }
  /// Rows before the first k that is missing in some lane or holds one of the last W of the matrix.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inner_rows() const {
    return clamped(A.n - W - row_of(width - 1));
  }

  /// Whether the largest coefficient of each is near 1.
  using unit_rows_of = Real<T>;
  KOKKOS_FORCEINLINE_FUNCTION bool has_unit_rows() const { return A.scale_rows; }

  /// Row k of each partition, with W <= k < inner_rows(), or less where it is none of A's first W.
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> inner_equation(std::int64_t k) const {
    if constexpr (ComputedMatrices<Matrix>) {
      const auto row = [&](int l) { return A.row(row_of(l) + k); };
      return scaled(equation_in_lanes<T, W>(row, load(b, k)), A.scale_rows);
    } else {
      prefetch(k);
      return scaled(equation_of<V, W>(*this, k, load(b, k)), A.scale_rows);
    }
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION V entry(std::int64_t k) const {
    return load_band(A.band[W + j], k);
  }
  /// Whether rows lie side by side. Then `at_once` of them may be loaded together.
  KOKKOS_FORCEINLINE_FUNCTION bool comes_at_once() const {
    bool contiguous = b.stride == 1;
    for (const auto& band : A.band) contiguous &= band.stride == 1;
    return contiguous;
  }
  KOKKOS_FORCEINLINE_FUNCTION void inner_equations(std::int64_t k,
                                                   Equation<V, W> (&e)[at_once]) const {
    LoadedRows<T, W> loaded;
    loaded.load([&](int j) { return (j <= 2 * W ? A.band[j] : b).data + first_row + k; },
                [&](int) { return stride; });
    for (int i = 0; i < at_once; ++i) {
      prefetch(k + i);
      prefetch_next_line(k + i);
      e[i] = scaled(loaded.equation(i), A.scale_rows);
    }
  }
  /// Row k where it may be an end of the matrix, or lie behind it: then 1 x = 0. Rare, so kept out
  /// of the recurrences.
  [[gnu::noinline]] KOKKOS_FUNCTION Equation<V, W> edge_equation(std::int64_t k) const {
    Equation<V, W> e{};
    for (int l = 0; l < width; ++l) {
      const std::int64_t i = row_of(l) + k;
      set_lane(e, l, k < length(l) ? equation_of<T, W>(A, i, b[i]) : unit_equation<T, W>());
    }
    return scaled(e, A.scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> equation(std::int64_t k) const {
    if (k >= rows) return unit_equation<V, W>();
    const bool inner = k < inner_rows() && first_row + k >= W;
    // of a copy, so that the compiler need not think that the call changes what loops hold
    return inner ? inner_equation(k) : LanePartitions(*this).edge_equation(k);
  }
  /// Lanes with more than k rows.
  KOKKOS_FORCEINLINE_FUNCTION auto longer_than(std::int64_t k) const {
    decltype(Real<V>{} > Real<V>{}) mask{};
    for (int l = 0; l < width; ++l) mask[l] = k < length(l) ? -1 : 0;
    return mask;
  }
  /// Only the pass that goes back keeps rows, and writes x.
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t k, const BackRow<V, W>& row) const {
    if constexpr (!ComputedMatrices<Matrix>) ask<true>(x, k);
    back[k] = row;
  }
  KOKKOS_FORCEINLINE_FUNCTION const BackRow<V, W>& kept(std::int64_t k) const { return back[k]; }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t k, const V& v) const {
    T* const p = x.data + (first_row + k) * x.stride;
    const std::int64_t step = stride * x.stride;
    if (k < inner_rows()) {
      for (int l = 0; l < width; ++l) p[l * step] = lane(v, l);
    } else {
      for (int l = 0; l < width; ++l)
        if (k < length(l)) p[l * step] = lane(v, l);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t clamped(std::int64_t count) const {
    return count < 0 ? 0 : count > rows ? rows : count;
  }
  /// Lanes lie far apart, in more streams than the hardware prefetches. So each step asks for one
  /// cache line of the tile that comes next, which is contiguous.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t k) const {
    for (const auto& band : A.band) ask<false>(band, k);
    ask<false>(b, k);
  }
  /// Nor from the second cache to the first: one line of one lane each.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch_next_line(std::int64_t k) const {
    constexpr std::int64_t line = 64 / sizeof(T);
    const std::int64_t at = row_of(static_cast<int>(k % width)) + (k / line + 1) * line;
    for (const auto& band : A.band) __builtin_prefetch(band.data + at);
    __builtin_prefetch(b.data + at);
  }
  template <bool to_write, class Number>
  KOKKOS_FORCEINLINE_FUNCTION void ask(const Strided<Number>& from, std::int64_t k) const {
    [[maybe_unused]] constexpr int second_level = 2;
    [[maybe_unused]] const Number* const p = from.data + (prefetched + k * width) * from.stride;
    KOKKOS_IF_ON_HOST((__builtin_prefetch(p, to_write, second_level);))
  }
  KOKKOS_FORCEINLINE_FUNCTION V load(const Strided<const T>& from, std::int64_t k) const {
    return gathered(from.data + (first_row + k) * from.stride, stride * from.stride,
                    std::make_integer_sequence<int, width>{});
  }
  KOKKOS_FORCEINLINE_FUNCTION V load_band(const Strided<const T>& from, std::int64_t k) const {
    const V v = load(from, k);
    if constexpr (is_complex_v<T>)
      if (A.conjugated) return conjugate(v);
    return v;
  }
  /// All lanes at once: set one by one, each would cost an instruction on the whole vector.
  template <int... l>
  KOKKOS_FORCEINLINE_FUNCTION static V gathered(const T* p, std::int64_t step,
                                                std::integer_sequence<int, l...>) {
    if constexpr (is_complex_v<T>)
      return V{Real<V>{p[l * step].real()...}, Real<V>{p[l * step].imag()...}};
    else
      return V{p[l * step]...};
  }
};

}  // namespace Trikkos::Impl

#endif
