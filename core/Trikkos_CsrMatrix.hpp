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
/// The Views may differ in layout, stride and constness; the matrix refers to them.
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
  using value_type = typename Values::non_const_value_type;

  RowMap row_map;
  Entries entries;
  Values values;
  std::int64_t columns = 0;

  std::int64_t rows() const {
    const auto starts = static_cast<std::int64_t>(row_map.extent(0));
    return starts > 0 ? starts - 1 : 0;
  }
};

template <class RowMap, class Entries, class Values>
CsrMatrix(RowMap, Entries, Values, std::int64_t) -> CsrMatrix<RowMap, Entries, Values>;

template <class T>
inline constexpr bool is_csr_matrix_v = false;
template <class... Views>
inline constexpr bool is_csr_matrix_v<CsrMatrix<Views...>> = true;

/// On the host, as `read_csr` returns it.
template <class T>
using HostCsrMatrix =
    CsrMatrix<Kokkos::View<std::int64_t*, Kokkos::HostSpace>,
              Kokkos::View<std::int32_t*, Kokkos::HostSpace>, Kokkos::View<T*, Kokkos::HostSpace>>;

}  // namespace Trikkos

#endif
