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
template <class T>
struct ScaledColumns {
  T* bands;        // [matrices][3][n]
  Real<T>* scale;  // [matrices][n]
  std::int64_t n;

  KOKKOS_FORCEINLINE_FUNCTION T* band(std::int64_t k, int which) const {
    return bands + (3 * k + which) * n;
  }
  /// `like`, with the copies for its matrices.
  Systems<T> systems(const Systems<T>& like) const {
    Bands<T> first;
    first.n = n;
    for (int which = 0; which < 3; ++which) first.band[which] = {band(0, which), 1};
    first.periodic = like.first.periodic;
    first.scale_rows = false;
    Systems<T> r(first, like.count);
    if (!like.is_shared())
      for (std::int64_t& stride : r.stride) stride = 3 * n;
    return r;
  }
};

/// Writes column j of A D, and D. Columns, not rows, are what an index stands for: then each entry
/// is read once, and what wraps around in a periodic matrix needs no case of its own.
template <class T>
struct ScaleColumn {
  Systems<T> A;
  ScaledColumns<T> to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, j] = split_index(index, to.n);
    const Bands<T> from = A[k];
    const std::int64_t above = j > 0 ? j - 1 : to.n - 1, below = j < to.n - 1 ? j + 1 : 0;
    const T u = from.upper(above), d = from.diag(j), l = from.lower(below);
    auto field = exponent_field(d);
    if (exponent_field(u) > field) field = exponent_field(u);
    if (exponent_field(l) > field) field = exponent_field(l);
    const auto s = scale_for<Real<T>>(field);  // spoils a column that is not finite
    to.band(k, 2)[above] = u * s;
    to.band(k, 1)[j] = d * s;
    to.band(k, 0)[below] = l * s;
    to.scale[k * to.n + j] = s;
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
