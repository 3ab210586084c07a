// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_CSRMATRIX_HPP
#define TRIKKOS_CSRMATRIX_HPP

#include <Trikkos_Concepts.hpp>

namespace Trikkos {

/// A sparse matrix in compressed rows (CSR). Row i has the entries
///
///   A(i, entries(k)) = values(k) for row_map(i) <= k < row_map(i + 1)
///
/// in any order; those of one place add up. The Views may differ in layout, stride and constness;
/// the matrix refers to them. It is square unless given a number of columns. One triangle of it is
/// a CsrTriangle.
///
/// \tparam RowMap   rank 1 (rows + 1, or 0 without rows), 32- or 64-bit integers
/// \tparam Entries  rank 1, 32-bit integers, at least row_map(rows) of them
/// \tparam Values   rank 1, as many
template <class RowMap, class Entries, class Values>
struct CsrMatrix {
  static_assert(ViewType<RowMap> && ViewType<Entries> && ViewType<Values>,
                "Trikkos::CsrMatrix: row_map, entries and values must be Kokkos::Views");
  static_assert(RowMap::rank() == 1 && Entries::rank() == 1 && Values::rank() == 1,
                "Trikkos::CsrMatrix: row_map, entries and values must have rank 1");
  static_assert(std::is_integral_v<typename RowMap::value_type> &&
                    sizeof(typename RowMap::value_type) >= 4,
                "Trikkos::CsrMatrix: row_map must hold 32- or 64-bit integers");
  static_assert(std::is_integral_v<typename Entries::value_type> &&
                    sizeof(typename Entries::value_type) == 4,
                "Trikkos::CsrMatrix: entries must hold 32-bit integers");
  using value_type = typename Values::non_const_value_type;
  static_assert(Impl::is_scalar_v<value_type>,
                "Trikkos::CsrMatrix: values must hold float, double or Kokkos::complex of either");

  RowMap row_map;
  Entries entries;
  Values values;
  std::int64_t columns = rows();

  std::int64_t rows() const {
    const auto starts = static_cast<std::int64_t>(row_map.extent(0));
    return starts > 0 ? starts - 1 : 0;
  }
};

template <class RowMap, class Entries, class Values>
CsrMatrix(RowMap, Entries, Values) -> CsrMatrix<RowMap, Entries, Values>;
template <class RowMap, class Entries, class Values>
CsrMatrix(RowMap, Entries, Values, std::int64_t) -> CsrMatrix<RowMap, Entries, Values>;

/// On the host, as `read_csr` returns it.
template <class T>
using HostCsrMatrix =
    CsrMatrix<Kokkos::View<std::int64_t*, Kokkos::HostSpace>,
              Kokkos::View<std::int32_t*, Kokkos::HostSpace>, Kokkos::View<T*, Kokkos::HostSpace>>;

/// A KokkosSparse::CrsMatrix, or what has its members `graph.row_map`, `graph.entries`, `values`
/// and `numCols()`.
template <class Matrix>
auto csr_matrix(const Matrix& A) {
  return CsrMatrix{A.graph.row_map, A.graph.entries, A.values,
                   static_cast<std::int64_t>(A.numCols())};
}

template <class T>
inline constexpr bool is_csr_matrix_v = false;
template <class... Views>
inline constexpr bool is_csr_matrix_v<CsrMatrix<Views...>> = true;

template <class T>
concept AnyCsrMatrix = is_csr_matrix_v<std::remove_cvref_t<T>>;

namespace Impl {
template <class Exec, class... Views>
inline constexpr bool is_accessible_v<Exec, CsrMatrix<Views...>> = (is_accessible_v<Exec, Views> &&
                                                                    ...);
}

}  // namespace Trikkos

#endif
