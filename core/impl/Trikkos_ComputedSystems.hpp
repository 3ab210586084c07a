// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COMPUTEDSYSTEMS_HPP
#define TRIKKOS_IMPL_COMPUTEDSYSTEMS_HPP

#include <impl/Trikkos_System.hpp>

/// \file
/// What kernels see of matrices whose rows are computed: as `Bands` and `Systems`, but for the
/// arrays. Kernels are compiled for each `F`, where it is used.

namespace Trikkos::Impl {

/// Whether `f` makes a matrix for each system, f(system, row), not one for all, f(row).
template <class F>
inline constexpr bool is_of_many_v = std::is_invocable_v<const F&, std::int64_t, std::int64_t>;

template <class F>
KOKKOS_FORCEINLINE_FUNCTION auto row_of(const F& f, std::int64_t system, std::int64_t i) {
  if constexpr (is_of_many_v<F>)
    return f(system, i);
  else
    return f(i);
}

/// One matrix. `row(i)` are the coefficients of row i from left to right, zero outside the matrix.
template <class T, int W, class F>
struct ComputedBands {
  static constexpr bool is_computed = true;
  static constexpr int width = W;
  using Row = Kokkos::Array<T, 2 * W + 1>;

  F f;
  std::int64_t system, n;
  bool periodic;
  bool conjugated = false, scale_rows = true;  // as of Bands

  KOKKOS_FORCEINLINE_FUNCTION Row row(std::int64_t i) const {
    Row r = row_of(f, system, i);
    if (!periodic && (i < W || i >= n - W))
      for (int j = -W; j <= W; ++j)
        if (i + j < 0 || i + j >= n) r[W + j] = T(0);
    return r;
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    return row(i)[W + j];
  }
  KOKKOS_FORCEINLINE_FUNCTION T lower(std::int64_t i) const { return entry<-1>(i); }
  KOKKOS_FORCEINLINE_FUNCTION T diag(std::int64_t i) const { return entry<0>(i); }
  KOKKOS_FORCEINLINE_FUNCTION T upper(std::int64_t i) const { return entry<1>(i); }
  /// g(column, entry) for the entries of row i in the matrix, from left to right.
  template <class G>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(std::int64_t i, const G& g) const {
    const Row r = row(i);
    for (int j = -W; j <= W; ++j) {
      std::int64_t column = i + j;
      if (periodic) {
        while (column < 0) column += n;
        while (column >= n) column -= n;
      }
      if (column >= 0 && column < n) g(column, r[W + j]);
    }
  }
};

/// Many of one size.
template <class T, int W, class F>
struct ComputedSystems {
  static constexpr bool is_computed = true;

  ComputedBands<T, W, F> first;
  Numbering number;  // of the systems, as f knows them
  std::int64_t count;
  std::int64_t slab = one_slab;

  static constexpr bool is_shared() { return !is_of_many_v<F>; }
  KOKKOS_FORCEINLINE_FUNCTION ComputedBands<T, W, F> operator[](std::int64_t k) const {
    ComputedBands<T, W, F> r = first;
    r.system = number[k];
    return r;
  }
  ComputedSystems block(std::int64_t k, std::int64_t count_) const {
    ComputedSystems r = *this;
    r.number = number.from(k);
    r.count = count_;
    return r;
  }
};

}  // namespace Trikkos::Impl

#endif
