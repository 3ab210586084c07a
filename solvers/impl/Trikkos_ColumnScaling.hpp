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

/// Writes column j of A D, and D. Columns, not rows, are what an index stands for: then each entry
/// is read once, and what wraps around in a periodic matrix needs no case of its own.
template <class T>
struct ScaleColumn {
  Bands<T> A;
  T *lower, *diag, *upper;  // A D, 3 n
  Real<T>* scale;           // D

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j) const {
    const std::int64_t above = j > 0 ? j - 1 : A.n - 1, below = j < A.n - 1 ? j + 1 : 0;
    const T u = A.upper(above), d = A.diag(j), l = A.lower(below);
    auto field = exponent_field(d);
    if (exponent_field(u) > field) field = exponent_field(u);
    if (exponent_field(l) > field) field = exponent_field(l);
    const auto s = scale_for<Real<T>>(field);  // spoils a column that is not finite
    upper[above] = u * s;
    diag[j] = d * s;
    lower[below] = l * s;
    scale[j] = s;
  }

  /// A D, whose rows stay as they are.
  Bands<T> scaled() const {
    Bands<T> r;
    r.n = A.n;
    r.sub = {lower, 1};
    r.main = {diag, 1};
    r.super = {upper, 1};
    if (A.periodic()) {
      r.top_right = lower;
      r.bottom_left = upper + (A.n - 1);
    }
    r.scale_rows = false;
    return r;
  }
};

/// x = D y, in place; y may be finite where x is not.
template <class T>
struct RestoreUnknown {
  Columns<T> x;
  const Real<T>* scale;
  std::int64_t n;
  Diagnosis found;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, i] = split_index(index, n);
    x[k][i] *= scale[i];
    if (!(finite_probe(x[k][i]) == 0)) found.report_solution(i);
  }
};

}  // namespace Trikkos::Impl

#endif
