// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INVERSE_HPP
#define TRIKKOS_INVERSE_HPP

#include <Trikkos_InverseGenerators.hpp>

/// \file
/// The inverse of a tridiagonal matrix, every entry of it. To solve, do not invert: `solve` moves
/// 72 bytes an unknown, this 8 n. Parts of it, norms and condition numbers: `InverseGenerators`.

namespace Trikkos {

#define TRIKKOS_CHECK_INVERSE(X)                                                        \
  static_assert(ViewType<X> && X::rank() == 2,                                          \
                "Trikkos::inverse: X must be a Kokkos::View of rank 2 (row, column)");  \
  static_assert(std::is_same_v<typename X::value_type, T>,                              \
                "Trikkos::inverse: X must have the value type of A, and not be const"); \
  TRIKKOS_CHECK_ACCESS("Trikkos::inverse", "X", Exec, X)

/// Writes rows [first_row, first_row + X.extent(0)) of the inverse: asynchronous, no allocation, no
/// fence. X that the memory of a device has no room for is made like this, some rows at a time.
///
/// \param exec  execution space instance; the only one used
/// \param G     the generators; their `status(exec)` tells how it went
/// \param X     rank 2 (rows, n), any layout
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, class X>
void inverse_rows(const Exec& exec, const InverseGenerators<T, Exec>& G, std::int64_t first_row,
                  const X& x) {
  TRIKKOS_CHECK_INVERSE(X);
  constexpr auto function = "Trikkos::inverse_rows";
  Impl::expect_extent(function, "X", "columns", x.extent(1), G.size(), "the generators");
  const std::int64_t rows = x.extent(0);
  if (first_row < 0 || first_row > G.size() - rows)
    throw std::invalid_argument(
        std::string(function) + ": first_row is " + std::to_string(first_row) + ", expected 0 to " +
        std::to_string(G.size() - rows) + " (X has " + std::to_string(rows) + " rows)");
  const Kokkos::Profiling::ScopedRegion region(function);
  G.write(exec, {x.data(), static_cast<std::int64_t>(x.stride(0)),
                 static_cast<std::int64_t>(x.stride(1)), first_row, 0, rows, G.size()});
}

/// Writes the inverse: asynchronous, no allocation, no fence.
///
/// \param exec  execution space instance; the only one used
/// \param G     the generators; their `status(exec)` tells how it went
/// \param X     rank 2 (n, n), any layout
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, class X>
void inverse(const Exec& exec, const InverseGenerators<T, Exec>& G, const X& x) {
  TRIKKOS_CHECK_INVERSE(X);
  Impl::expect_extent("Trikkos::inverse", "X", "rows", x.extent(0), G.size(), "the generators");
  inverse_rows(exec, G, 0, x);
}

/// Inverts A in the memory of generators of its size: asynchronous, no allocation, no fence.
///
/// \param exec  execution space instance; the only one used
/// \param G     what they were made of before does not matter; `status(exec)` tells how it went
/// \param A     Tridiagonal of n rows, rank 1, any layout, open
/// \param X     rank 2 (n, n), any layout
/// \throws std::invalid_argument for extents that do not fit, or a periodic A
template <ExecutionSpace Exec, class T, TridiagonalMatrix Matrix, class X>
void inverse(const Exec& exec, const InverseGenerators<T, Exec>& G, const Matrix& A, const X& x) {
  G.update(exec, A);
  inverse(exec, G, x);
}

/// Inverts A once: allocates 150 bytes a row (double), inverts, waits, and says how it went.
///
/// \param exec  execution space instance; the only one used
/// \param A     Tridiagonal of n rows, rank 1, any layout, open
/// \param X     rank 2 (n, n), any layout
/// \throws std::invalid_argument for extents that do not fit, or a periodic A
template <ExecutionSpace Exec, TridiagonalMatrix Matrix, class X>
[[nodiscard]] Status inverse(const Exec& exec, const Matrix& A, const X& x) {
  const InverseGenerators G(exec, A);
  inverse(exec, G, x);
  return G.status(exec);
}

}  // namespace Trikkos

#endif
