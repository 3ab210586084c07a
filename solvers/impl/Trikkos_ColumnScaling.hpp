// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COLUMNSCALING_HPP
#define TRIKKOS_IMPL_COLUMNSCALING_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// `Scaling::columns`: A D y = b in place of A x = b, then x = D y. D are powers of two that bring
/// the largest entry of each column into [1, 4), so that nothing is rounded.

namespace Trikkos::Impl {

/// The copies A D and D of some matrices.
template <class T, int W = 1>
struct ScaledColumns {
  static constexpr int diagonals = 2 * W + 1;

  T* bands;        // [matrices][diagonals][n]
  Real<T>* scale;  // [matrices][n]
  std::int64_t n;

  KOKKOS_FORCEINLINE_FUNCTION T* band(std::int64_t k, int which) const {
    return bands + (diagonals * k + which) * n;
  }
  /// `like`, with the copies for its matrices.
  Systems<T, W> systems(const Systems<T, W>& like) const {
    Bands<T, W> first;
    first.n = n;
    for (int which = 0; which < diagonals; ++which) first.band[which] = {band(0, which), 1};
    first.periodic = like.first.periodic;
    first.scale_rows = false;
    Systems<T, W> r(first, like.count);
    if (!like.is_shared())
      for (std::int64_t& stride : r.stride) stride = diagonals * n;
    return r;
  }
};

/// Writes column j of A D, and D. Columns, not rows, are what an index stands for: then each entry
/// is read once, and what wraps around in a periodic matrix needs no case of its own.
template <class T, int W = 1>
struct ScaleColumn {
  Systems<T, W> A;
  ScaledColumns<T, W> to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, j] = split_index(index, to.n);
    T column[to.diagonals];
    read(A[k], j, column, std::make_integer_sequence<int, 2 * W + 1>{});
    auto field = exponent_field(column[0]);
    for (const T& v : column) field = larger_words(field, exponent_field(v));
    const auto s = scale_for<Real<T>>(field);  // spoils a column that is not finite
    for (int d = 0; d < to.diagonals; ++d) to.band(k, d)[row(j, d)] = column[d] * s;
    to.scale[k * to.n + j] = s;
  }

 private:
  /// Of the entry in column j and diagonal d, which counts from the leftmost.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(std::int64_t j, int d) const {
    std::int64_t i = j + W - d;
    while (i < 0) i += to.n;  // more than once only where n < W
    while (i >= to.n) i -= to.n;
    return i;
  }
  template <int... d>
  KOKKOS_FORCEINLINE_FUNCTION void read(const Bands<T, W>& from, std::int64_t j,
                                        T (&column)[2 * W + 1],
                                        std::integer_sequence<int, d...>) const {
    ((column[d] = from.template entry<d - W>(row(j, d))), ...);
  }
};

/// x = D y, in place; y may be finite where x is not.
template <class T>
struct RestoreUnknown {
  Vectors<T> x;
  const Real<T>* scale;
  std::int64_t n, scale_stride;  // between systems
  Diagnosis diagnosis;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, i] = split_index(index, n);
    const Strided<T> of = x[k];
    of[i] *= scale[k * scale_stride + i];
    if (!(finite_probe(of[i]) == 0)) diagnosis.of(k, n).report_solution(i);
  }
};

}  // namespace Trikkos::Impl

#endif
