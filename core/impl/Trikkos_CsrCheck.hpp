// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CSRCHECK_HPP
#define TRIKKOS_IMPL_CSRCHECK_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <algorithm>
#include <impl/Trikkos_CsrFromEntries.hpp>
#include <stdexcept>
#include <string>
#include <vector>

/// \file
/// Whether compressed rows on the host are a matrix, and a symmetric one.

namespace Trikkos::Impl {

/// \throws std::invalid_argument for offsets or columns that are none
template <class Matrix>
void expect_csr(const char* function, const Matrix& A) {
  const auto refuse = [&](const char* name, std::int64_t i, std::int64_t value, std::int64_t low,
                          std::int64_t high) {
    throw std::invalid_argument(std::string(function) + ": " + name + "(" + std::to_string(i) +
                                ") is " + std::to_string(value) + ", expected " +
                                std::to_string(low) + " to " + std::to_string(high));
  };
  const auto most = static_cast<std::int64_t>(std::min(A.entries.extent(0), A.values.extent(0)));
  for (std::int64_t i = 0, before = 0; i < static_cast<std::int64_t>(A.row_map.extent(0)); ++i) {
    const auto start = static_cast<std::int64_t>(A.row_map(i));
    const std::int64_t high = i == 0 ? 0 : most;
    if (start < before || start > high) refuse("row_map", i, start, before, high);
    for (std::int64_t k = before; k < start; ++k) {
      const auto j = static_cast<std::int64_t>(A.entries(k));
      if (j < 0 || j >= A.columns) refuse("entries", k, j, 0, A.columns - 1);
    }
    before = start;
  }
}

template <class T>
struct CsrEntry {
  std::int64_t row, column;
  T value;

  bool operator<(const CsrEntry& other) const {
    return row != other.row ? row < other.row : column < other.column;
  }
};

/// \throws std::invalid_argument unless A(j,i) is what the symmetry says, entry by entry
template <class T>
void expect_symmetry(std::vector<CsrEntry<T>> lower, std::vector<CsrEntry<T>> upper,
                     MatrixMarketSymmetry symmetry) {
  for (CsrEntry<T>& e : upper) {
    std::swap(e.row, e.column);
    e.value = mirrored(symmetry, e.value);
  }
  std::erase_if(lower, [](const auto& e) { return e.row == e.column; });
  std::stable_sort(lower.begin(), lower.end());
  std::stable_sort(upper.begin(), upper.end());
  const std::size_t common = std::min(lower.size(), upper.size());
  for (std::size_t k = 0; k < std::max(lower.size(), upper.size()); ++k) {
    if (k < common && lower[k].row == upper[k].row && lower[k].column == upper[k].column &&
        lower[k].value == upper[k].value) {
      continue;
    }
    const bool from_lower = k < lower.size() && (k >= upper.size() || !(upper[k] < lower[k]));
    const CsrEntry<T>& e = from_lower ? lower[k] : upper[k];
    throw std::invalid_argument("Trikkos::write_csr: A(" + std::to_string(e.row) + "," +
                                std::to_string(e.column) + ") and A(" + std::to_string(e.column) +
                                "," + std::to_string(e.row) +
                                ") do not belong to a matrix that is " + name(symmetry));
  }
}

/// \throws std::invalid_argument for a diagonal entry that such a matrix does not have
template <class T>
void expect_diagonal(const std::vector<CsrEntry<T>>& lower, MatrixMarketSymmetry symmetry) {
  for (const CsrEntry<T>& e : lower) {
    if (e.row != e.column) continue;
    const bool is_zero = e.value == T(0), is_real = conjugate(e.value) == e.value;
    if ((symmetry == MatrixMarketSymmetry::skew_symmetric && !is_zero) ||
        (symmetry == MatrixMarketSymmetry::hermitian && !is_real)) {
      throw std::invalid_argument(
          "Trikkos::write_csr: A(" + std::to_string(e.row) + "," + std::to_string(e.column) +
          ") cannot be on the diagonal of a matrix that is " + name(symmetry));
    }
  }
}

/// \throws std::invalid_argument unless A has that symmetry, entry by entry
template <class Matrix>
void expect_symmetry(const Matrix& A, MatrixMarketSymmetry symmetry, bool pattern) {
  using T = typename Matrix::value_type;
  std::vector<CsrEntry<T>> lower, upper;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (auto k = A.row_map(i); k < A.row_map(i + 1); ++k) {
      const auto j = static_cast<std::int64_t>(A.entries(k));
      (j <= i ? lower : upper).push_back({i, j, pattern ? T(1) : A.values(k)});
    }
  }
  expect_diagonal(lower, symmetry);
  expect_symmetry(std::move(lower), std::move(upper), symmetry);
}

}  // namespace Trikkos::Impl

#endif
