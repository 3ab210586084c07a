// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_CSRTRIANGLE_HPP
#define TRIKKOS_CSRTRIANGLE_HPP

#include <Trikkos_Concepts.hpp>
#include <Trikkos_CsrMatrix.hpp>
#include <impl/Trikkos_Check.hpp>

namespace Trikkos {

/// Which triangle of a matrix is meant.
enum class Uplo { lower, upper };

/// What stands on its diagonal.
enum class Diag {
  non_unit,  ///< what is stored there
  unit       ///< ones; what is stored there is ignored
};

constexpr const char* name(Uplo uplo) { return uplo == Uplo::lower ? "lower" : "upper"; }
constexpr const char* name(Diag diag) { return diag == Diag::unit ? "unit" : "non_unit"; }

/// One triangle of a sparse matrix in compressed rows (CSR). Row i has the entries
///
///   A(i, entries(k)) = values(k) for row_map(i) <= k < row_map(i + 1)
///
/// in any order; those of one place add up. What is stored outside the triangle is ignored (a
/// TriangularPlan counts it), so both factors of an incomplete factorisation can be kept in one
/// array:
///
///   Trikkos::CsrTriangle L{row_map, entries, values, Trikkos::Uplo::lower, Trikkos::Diag::unit};
///   Trikkos::CsrTriangle U{row_map, entries, values, Trikkos::Uplo::upper};
///
/// The Views may differ in layout, stride and constness; the matrix refers to them.
///
/// \tparam RowMap   rank 1 (n + 1, or 0 for n = 0), 32- or 64-bit integers
/// \tparam Entries  rank 1, 32-bit integers, at least row_map(n) of them
/// \tparam Values   rank 1, as many
template <class RowMap, class Entries, class Values>
struct CsrTriangle {
  static_assert(ViewType<RowMap> && ViewType<Entries> && ViewType<Values>,
                "Trikkos::CsrTriangle: row_map, entries and values must be Kokkos::Views");
  static_assert(RowMap::rank() == 1 && Entries::rank() == 1 && Values::rank() == 1,
                "Trikkos::CsrTriangle: row_map, entries and values must have rank 1");
  static_assert(std::is_integral_v<typename RowMap::value_type> &&
                    sizeof(typename RowMap::value_type) >= 4,
                "Trikkos::CsrTriangle: row_map must hold 32- or 64-bit integers");
  static_assert(std::is_integral_v<typename Entries::value_type> &&
                    sizeof(typename Entries::value_type) == 4,
                "Trikkos::CsrTriangle: entries must hold 32-bit integers");
  using value_type = typename Values::non_const_value_type;
  static_assert(Impl::is_scalar_v<value_type>,
                "Trikkos::CsrTriangle: values must hold float, double or Kokkos::complex of "
                "either");

  RowMap row_map;
  Entries entries;
  Values values;
  Uplo uplo = Uplo::lower;
  Diag diag = Diag::non_unit;

  std::int64_t rows() const {
    const auto starts = static_cast<std::int64_t>(row_map.extent(0));
    return starts > 0 ? starts - 1 : 0;
  }
};

template <class RowMap, class Entries, class Values>
CsrTriangle(RowMap, Entries, Values) -> CsrTriangle<RowMap, Entries, Values>;
template <class RowMap, class Entries, class Values>
CsrTriangle(RowMap, Entries, Values, Uplo) -> CsrTriangle<RowMap, Entries, Values>;
template <class RowMap, class Entries, class Values>
CsrTriangle(RowMap, Entries, Values, Uplo, Diag) -> CsrTriangle<RowMap, Entries, Values>;

/// A triangle of a CsrMatrix, of a KokkosSparse::CrsMatrix, or of what has the latter's members
/// `graph.row_map`, `graph.entries` and `values`.
/// \throws std::invalid_argument for a number of columns, if A tells it, that is not that of rows
template <class Matrix>
auto csr_triangle(const Matrix& A, Uplo uplo, Diag diag = Diag::non_unit) {
  constexpr auto function = "Trikkos::csr_triangle";
  if constexpr (is_csr_matrix_v<Matrix>) {
    Impl::expect_extent(function, "A", "columns", A.columns, A.rows(), "its rows");
    return CsrTriangle{A.row_map, A.entries, A.values, uplo, diag};
  } else {
    if constexpr (requires { A.numRows() == A.numCols(); })
      Impl::expect_extent(function, "A", "columns", A.numCols(), A.numRows(), "its rows");
    return CsrTriangle{A.graph.row_map, A.graph.entries, A.values, uplo, diag};
  }
}

template <class T>
inline constexpr bool is_csr_triangle_v = false;
template <class... Views>
inline constexpr bool is_csr_triangle_v<CsrTriangle<Views...>> = true;

template <class T>
concept CsrTriangleMatrix = is_csr_triangle_v<std::remove_cvref_t<T>>;

namespace Impl {
template <class Exec, class... Views>
inline constexpr bool is_accessible_v<Exec, CsrTriangle<Views...>> =
    (is_accessible_v<Exec, Views> && ...);
}

}  // namespace Trikkos

#endif
