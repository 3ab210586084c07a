// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INVERSEPARTS_HPP
#define TRIKKOS_IMPL_INVERSEPARTS_HPP

#include <impl/inverse/Trikkos_GeneratorKernels.hpp>

/// \file
/// Selected entries of the inverse.

namespace Trikkos::Impl {

/// The k-th diagonal, or its sum.
template <class T>
struct InverseDiagonal {
  InverseFactors<T> of;
  std::int64_t k;
  Strided<T> to;

  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    return k < 0 ? of.entry(i - k, i) : of.entry(i, i + k);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = entry(i); }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, T& sum) const { sum += entry(i); }
};

template <class T, class Rows, class Columns>
struct InverseEntries {
  InverseFactors<T> of;
  std::int64_t n;
  Rows rows;
  Columns columns;
  Strided<T> to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t m) const {
    const auto i = static_cast<std::int64_t>(rows(m)), j = static_cast<std::int64_t>(columns(m));
    const bool inside = i >= 0 && i < n && j >= 0 && j < n;
    to[m] = inside ? of.entry(i, j) : T(Kokkos::Experimental::quiet_NaN_v<Real<T>>);
  }
};

/// For the norm of the matrix itself.
template <class T>
struct RowSum {
  Bands<T> A;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, Real<T>& most) const {
    const Real<T> sum = Kokkos::abs(A.lower(i)) + Kokkos::abs(A.diag(i)) + Kokkos::abs(A.upper(i));
    most = sum <= most ? most : sum == sum ? sum : Kokkos::Experimental::infinity_v<Real<T>>;
  }
};

}  // namespace Trikkos::Impl

#endif
