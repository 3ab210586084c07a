// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_KRYLOVOPERATORS_HPP
#define TRIKKOS_IMPL_KRYLOVOPERATORS_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <impl/Trikkos_Fused.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// What iterations know of a matrix and of a preconditioner: a product, and a solve.

namespace Trikkos::Impl {

/// y = A x, a thread a row.
template <class T, class Offset>
struct CsrProduct {
  Strided<const Offset> row_map;
  Strided<const std::int32_t> column;
  Strided<const T> value;
  const T* x;
  T* y;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    T sum(0);
    const auto end = static_cast<std::int64_t>(row_map[i + 1]);
    for (auto k = static_cast<std::int64_t>(row_map[i]); k < end; ++k)
      sum = fused(value[k], x[column[k]], sum);
    y[i] = sum;
  }
};

/// y = A x for a CsrMatrix, or for what is called A(exec, x, y).
template <class Exec, class Matrix, class Vector>
void multiply(const Exec& exec, const Matrix& A, const Vector& x, const Vector& y) {
  if constexpr (AnyCsrMatrix<Matrix>) {
    using T = typename Matrix::value_type;
    using Offset = typename decltype(A.row_map)::non_const_value_type;
    const Strided<const std::int32_t> column{
        reinterpret_cast<const std::int32_t*>(A.entries.data()), row_stride(A.entries)};
    Kokkos::parallel_for("Trikkos::Krylov::multiply", range(exec, A.rows()),
                         CsrProduct<T, Offset>{strided<const Offset>(A.row_map), column,
                                               strided<const T>(A.values), x.data(), y.data()});
  } else {
    A(exec, x, y);
  }
}

/// No preconditioner.
struct Identity {};

/// z = M^-1 r by a plan, or by what is called M(exec, r, z). Returns where it is.
template <class Exec, class Preconditioner, class Vector>
const Vector& precondition(const Exec& exec, const Preconditioner& M, const Vector& r,
                           const Vector& z) {
  if constexpr (std::is_same_v<Preconditioner, Identity>) {
    return r;
  } else if constexpr (std::is_invocable_v<const Preconditioner&, const Exec&, const Vector&,
                                           const Vector&>) {
    M(exec, r, z);
  } else {
    solve(exec, M, r, z);
  }
  return z;
}

}  // namespace Trikkos::Impl

#endif
