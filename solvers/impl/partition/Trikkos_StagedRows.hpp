// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_STAGEDROWS_HPP
#define TRIKKOS_IMPL_STAGEDROWS_HPP

#include <impl/partition/Trikkos_StridedRows.hpp>
#include <impl/partition/Trikkos_TileShape.hpp>

/// \file
/// The rows of a partition in the scratch of a team.

namespace Trikkos::Impl {

/// The partition of one thread in scratch: `Rows` of an elimination (Trikkos_Elimination.hpp). The
/// way back is kept in the place of the bands, the solution in that of b. Its rows are `Apart`
/// words from each other, or as many as `apart` says, and `Length` in number, or as many as m says.
/// V: of the systems whose right-hand sides are there, each `Shifted` as tiles are, or not.
template <class T, int Apart = 1, int W = 1, int Length = 0, class V = T, bool Shifted = false>
struct StagedRows {
  using value_type = V;
  using index_type = int;
  static constexpr int half_bandwidth = W;
  static constexpr bool ragged = false;

  T* first;  // of the first band; the others and b follow, each `band_words` after the one before,
             // and the b of further systems
  int band_words, m;
  bool scale_rows;
  int apart = Apart;
  int shift = 0;  // from one right-hand side to the next

  KOKKOS_FORCEINLINE_FUNCTION int length() const { return Length > 0 ? Length : m; }
  KOKKOS_FORCEINLINE_FUNCTION int inner_rows() const { return length(); }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(int k) const { return k < length(); }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> inner_equation(int k) const {
    return scaled(equation_of<V, W>(*this, k, right_side(k)), scale_rows);
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(int k) const {
    return at(k)[(W + j) * band_words];
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> equation(int k) const {
    return k < length() ? inner_equation(k) : unit_equation<V, W>();
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const BackRow<T, W>& row) const {
    T* const e = at(k);
    if constexpr (W == 1) {
      e[0] = row.q;
      e[band_words] = row.r;
    } else {
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) e[j * band_words] = row.q[j];
    }
    e[2 * W * band_words] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T, W> kept(int k) const {
    const T* const e = at(k);
    if constexpr (W == 1) {
      return {e[0], e[band_words], e[2 * band_words]};
    } else {
      BackRow<T, W> row;
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) row.q[j] = e[j * band_words];
      row.f = e[2 * W * band_words];
      return row;
    }
  }
  /// All but u, in the place of the row.
  KOKKOS_FORCEINLINE_FUNCTION void keep_pivot(int k, const PivotRow<V>& row) const {
    T* const e = at(k);
    e[0] = row.l;
    e[band_words] = row.q;
    e[2 * band_words] = row.r;
    store(k, row.f);
  }
  KOKKOS_FORCEINLINE_FUNCTION PivotRow<V> kept_pivot(int k) const {
    const T* const e = at(k);
    return {e[0], T(0), e[band_words], e[2 * band_words], right_side(k)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(int k, const Unknown<V>& v) const {
    TRIKKOS_UNROLL(systems_of<V>)
    for (int j = 0; j < systems_of<V>; ++j) solution(k, j) = column(v, j);
  }
  /// That of the j-th system.
  KOKKOS_FORCEINLINE_FUNCTION T& solution(int k, int j = 0) const {
    return at(k)[(2 * W + 1 + j) * band_words + (Shifted ? shift_of_column<T>(j, shift) : 0)];
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Unknown<V> right_side(int k) const {
    return columns_from<Unknown<V>>([&](int j) { return solution(k, j); });
  }
  KOKKOS_FORCEINLINE_FUNCTION T* at(int k) const {
    return first + (Apart > 0 ? k * Apart : k * apart);
  }
};

}  // namespace Trikkos::Impl

#endif
