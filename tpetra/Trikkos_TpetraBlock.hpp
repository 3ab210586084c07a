// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TPETRABLOCK_HPP
#define TRIKKOS_TPETRABLOCK_HPP

#include <Tpetra_CrsMatrix.hpp>
#include <Trikkos_CsrMatrix.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <stdexcept>

namespace Trikkos {

namespace Impl {
/// The entries of a row whose columns are rows of this rank, too.
template <class LocalMatrix, class LocalMap>
struct BlockRows {
  LocalMatrix A;
  LocalMap rows, columns;

  template <class F>
  KOKKOS_FUNCTION void for_row(std::int64_t i, const F& f) const {
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k) {
      const auto column = rows.getLocalElement(columns.getGlobalElement(A.graph.entries(k)));
      if (column != Tpetra::Details::OrdinalTraits<decltype(column)>::invalid()) f(k, column);
    }
  }
};

template <class Rows, class RowMap>
struct CountBlock {
  Rows rows;
  RowMap row_map;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& before, bool is_final) const {
    rows.for_row(i, [&](auto, auto) { ++before; });
    if (is_final) row_map(i + 1) = before;
  }
};

template <class Rows, class Block>
struct CopyBlock {
  Rows rows;
  Block block;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t place = block.row_map(i);
    rows.for_row(i, [&](auto k, auto column) {
      block.entries(place) = column;
      block.values(place++) = rows.A.values(k);
    });
  }
};
}  // namespace Impl

/// The square block of a sparse matrix that has the rows of this rank, and the columns of the same
/// numbers: a copy, in which rows and columns are counted from 0 as in the row map. What couples
/// ranks is left out. The entries keep their order, so that a plan may be updated:
///
///   Trikkos::IncompleteCholesky ic(exec, Trikkos::local_block(exec, A));
///   ic.update(exec, Trikkos::local_block(exec, A));  // new values, same pattern
///
/// Allocates; waits for the number of entries. Not collective.
/// \throws std::invalid_argument for a matrix that is not fill-complete
template <ExecutionSpace Exec, class Scalar, class LO, class GO, class Node>
auto local_block(const Exec& exec, const Tpetra::CrsMatrix<Scalar, LO, GO, Node>& A) {
  using Matrix = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;
  using LocalMatrix = typename Matrix::local_matrix_device_type;
  using LocalMap = typename Matrix::map_type::local_map_type;
  using T = typename LocalMatrix::value_type;
  using Memory = typename Exec::memory_space;
  static_assert(std::is_integral_v<LO> && sizeof(LO) == 4,
                "Trikkos::local_block: local indices must be 32-bit integers");
  static_assert(Impl::is_accessible_v<Exec, typename LocalMatrix::values_type>,
                "Trikkos::local_block: A must be accessible from the execution space");
  if (!A.isFillComplete())
    throw std::invalid_argument("Trikkos::local_block: A is not fill-complete");

  const auto n = static_cast<std::int64_t>(A.getLocalNumRows());
  const Impl::BlockRows<LocalMatrix, LocalMap> rows{
      A.getLocalMatrixDevice(), A.getRowMap()->getLocalMap(), A.getColMap()->getLocalMap()};
  const Kokkos::View<std::int64_t*, Memory> row_map(
      Kokkos::view_alloc(exec, "Trikkos::local_block::row_map"), n + 1);
  std::int64_t count = 0;
  Kokkos::parallel_scan("Trikkos::local_block::count", Impl::range(exec, n),
                        Impl::CountBlock<decltype(rows), decltype(row_map)>{rows, row_map}, count);
  const Kokkos::View<LO*, Memory> entries(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::local_block::entries"),
      count);
  const Kokkos::View<T*, Memory> values(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::local_block::values"), count);
  const CsrMatrix block{row_map, entries, values};
  Kokkos::parallel_for("Trikkos::local_block::copy", Impl::range(exec, n),
                       Impl::CopyBlock<decltype(rows), decltype(block)>{rows, block});
  return block;
}

}  // namespace Trikkos

#endif
