// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INVERSE_HPP
#define TRIKKOS_INVERSE_HPP

#include <Trikkos_InverseGenerators.hpp>
#include <impl/inverse/Trikkos_BlocksOfInverse.hpp>
#include <impl/inverse/Trikkos_ShermanMorrisonInverse.hpp>

/// \file
/// The inverse of a tridiagonal matrix, every entry of it. To solve, do not invert: `solve` moves
/// 72 bytes an unknown, this 8 n. Parts of it, norms and condition numbers: `InverseGenerators`.

namespace Trikkos {

/// How all entries of an inverse are made.
enum class InverseAlgorithm {
  automatic,        ///< the same as `generators`
  generators,       ///< `InverseGenerators`: for every nonsingular matrix
  sherman_morrison  ///< recursive Sherman-Morrison updates: for diagonally dominant matrices of
                    ///< 2^q rows; a baseline that moves more than 4 n^2 words
};
constexpr const char* name(InverseAlgorithm algorithm) {
  return algorithm == InverseAlgorithm::automatic    ? "automatic"
         : algorithm == InverseAlgorithm::generators ? "generators"
                                                     : "sherman_morrison";
}

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
  G.write(exec, Impl::inverse_target<T>(x, first_row, G.size()));
}

/// All rows of an inverse that is larger than the memory of the device, in blocks, one after the
/// other: while `use` has one on the host, the next one is made and copied. Waits.
///
/// \param exec  execution space instance; for a device two more are made, with their memory
/// \param G     the generators; their `status(exec)` tells how it went
/// \param rows  of a block; the last one may have fewer. Two blocks are allocated in either memory
///              before anything is written, so what does not fit throws at once
/// \param use   use(first_row, block) on the host, with a View of rank 2 (rows, n), LayoutRight,
///              that is valid until it returns
/// \throws std::invalid_argument for rows < 1; what Kokkos throws where memory is short
template <ExecutionSpace Exec, class T, class Use>
void inverse_in_blocks(const Exec& exec, const InverseGenerators<T, Exec>& G, std::int64_t rows,
                       const Use& use) {
  constexpr auto function = "Trikkos::inverse_in_blocks";
  if (rows < 1)
    throw std::invalid_argument(std::string(function) + ": rows is " + std::to_string(rows) +
                                ", expected at least 1");
  const Kokkos::Profiling::ScopedRegion region(function);
  Impl::BlocksOfInverse<T, Exec> blocks(exec, std::min(rows, G.size()), G.size());
  for (std::int64_t first = 0; first < G.size(); first += rows)
    blocks.add(
        first, std::min(rows, G.size() - first),
        [&](const Exec& e, const auto& to) { inverse_rows(e, G, first, to); }, use);
  blocks.finish(use);
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

namespace Impl {
template <class T, class Exec, class Matrix>
Status inverse_by_sherman_morrison(const Exec& exec, const Matrix& A, const InverseTarget<T>& to) {
  constexpr auto function = "Trikkos::inverse";
  const std::int64_t n = row_count(A.diag);
  check_matrix(function, A);
  check_open(function, A.boundary);
  int q = 0;
  while (std::int64_t(1) << q < n) ++q;
  if (std::int64_t(1) << q != n)
    throw std::invalid_argument(std::string(function) + ": A has " + std::to_string(n) +
                                " rows, expected a power of two (InverseAlgorithm::" +
                                name(InverseAlgorithm::sherman_morrison) + ")");
  const Kokkos::View<T*, typename Exec::memory_space> vectors(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(function)), 2 * n);
  const Kokkos::View<DiagnosisWords, typename Exec::memory_space> words(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(function)));
  const Diagnosis diagnosis{words.data()->word};
  launch_one(exec, "Trikkos::inverse::reset", ResetDiagnosis{diagnosis});
  ShermanMorrisonInverse<T>{bands(A), to, vectors.data(), vectors.data() + n, diagnosis, q}.launch(
      exec);
  return decode(fetch(exec, words.data(), function).word, n);
}
}  // namespace Impl

/// Inverts A once: allocates 150 bytes a row (double), inverts, waits, and says how it went.
///
/// \param exec  execution space instance; the only one used
/// \param A     Tridiagonal of n rows, rank 1, any layout, open
/// \param X     rank 2 (n, n), any layout
/// \throws std::invalid_argument for extents that do not fit, a periodic A, or, with
///         `InverseAlgorithm::sherman_morrison`, an n that is no power of two
template <ExecutionSpace Exec, TridiagonalMatrix Matrix, class X>
requires(Matrix::rank() == 1) [[nodiscard]] Status
    inverse(const Exec& exec, const Matrix& A, const X& x,
            InverseAlgorithm algorithm = InverseAlgorithm::automatic) {
  using T = typename Matrix::value_type;
  TRIKKOS_CHECK_INVERSE(X);
  TRIKKOS_CHECK_ACCESS("Trikkos::inverse", "A", Exec, Matrix);
  constexpr auto function = "Trikkos::inverse";
  const std::int64_t n = Impl::row_count(A.diag);
  Impl::expect_extent(function, "X", "rows", x.extent(0), n, "diag.extent(0)");
  Impl::expect_extent(function, "X", "columns", x.extent(1), n, "diag.extent(0)");
  if (algorithm == InverseAlgorithm::sherman_morrison && n > 0)
    return Impl::inverse_by_sherman_morrison(exec, A, Impl::inverse_target<T>(x, 0, n));
  const InverseGenerators G(exec, A);
  inverse(exec, G, x);
  return G.status(exec);
}

}  // namespace Trikkos

#endif
