// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MATRIXMARKETMATRICES_HPP
#define TRIKKOS_IMPL_MATRIXMARKETMATRICES_HPP

#include <array>
#include <impl/Trikkos_CsrFromEntries.hpp>
#include <impl/Trikkos_MatrixMarketReader.hpp>

/// \file
/// What the entries of a Matrix Market file become: bands, compressed rows, a vector or an array.

namespace Trikkos::Impl {

template <class T>
using HostVector = Kokkos::View<T*, Kokkos::HostSpace>;
template <class T>
using HostArray = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

// ---- bands

/// The 2W + 1 diagonals, from the lowest to the highest.
template <class T, int W>
std::array<HostVector<T>, 2 * W + 1> allocate_bands(const MatrixMarketReader<T>& file,
                                                    const char* function) {
  const std::int64_t n = file.rows();
  if (n != file.columns()) {
    file.fail("the matrix is " + std::to_string(n) + " x " + std::to_string(file.columns()) +
              ", expected a square one");
  }
  file.expect_size_to_fit();
  std::array<HostVector<T>, 2 * W + 1> bands;
  for (auto& band : bands) {
    band = file.template allocate<HostVector<T>>(std::string(function) + "::band", n, "rows");
  }
  return bands;
}

template <class T, int W>
std::array<HostVector<T>, 2 * W + 1> read_bands(const char* function, const std::string& path,
                                                std::size_t chunk_size = matrix_market_chunk) {
  MatrixMarketReader<T> file(path, MatrixMarketContent::matrix, chunk_size);
  auto bands = allocate_bands<T, W>(file, function);
  // a bit for each band
  const auto seen = file.template allocate<HostVector<unsigned char>>(
      std::string(function) + "::seen", file.rows(), "rows");
  const bool general = file.symmetry() == MatrixMarketSymmetry::general;
  file.for_each([&](std::int64_t row, std::int64_t column, const T& value) {
    const std::int64_t d = column - row;
    if (d < -W || d > W) {
      if (value == T(0)) return;
      file.fail(place_in_file(row, column) + " is not zero, expected entries on the " +
                (W == 1 ? "three" : "five") + " diagonals only");
    }
    const auto bit = static_cast<unsigned char>(1 << (d + W));
    if (seen(row) & bit) {
      file.fail(place_in_file(row, column) + " is stored twice, expected each entry once");
    }
    seen(row) |= bit;
    bands[W + d](row) = value;
    if (!general && d != 0) bands[W - d](column) = mirrored(file.symmetry(), value);
  });
  return bands;
}

// ---- compressed rows

/// The entries; of an array, those that are not zero.
template <class T>
EntryList<T> read_entries(MatrixMarketReader<T>& file) {
  EntryList<T> list{file.rows(),
                    file.columns(),
                    file.symmetry(),
                    file.field() != MatrixMarketField::pattern,
                    {},
                    {},
                    {}};
  const bool array = file.format() == MatrixMarketFormat::array;
  if (!array) {
    list.row.reserve(file.most_entries());
    list.column.reserve(file.most_entries());
    list.value.reserve(file.most_entries());
  }
  file.for_each([&](std::int64_t row, std::int64_t column, const T& value) {
    if (array && value == T(0)) return;
    list.row.push_back(static_cast<std::int32_t>(row));
    list.column.push_back(static_cast<std::int32_t>(column));
    list.value.push_back(value);
  });
  return list;
}

template <class T>
HostCsrMatrix<T> read_csr(const std::string& path, std::size_t chunk_size = matrix_market_chunk) {
  MatrixMarketReader<T> file(path, MatrixMarketContent::matrix, chunk_size);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto expect_32_bits = [&](std::int64_t count, const char* what) {
    if (count <= most) return;
    file.fail("the matrix has " + std::to_string(count) + what + ", expected at most " +
              std::to_string(most) + " (32-bit entries)");
  };
  expect_32_bits(file.rows(), " rows");
  expect_32_bits(file.columns(), " columns");
  file.expect_size_to_fit();
  HostCsrMatrix<T> A;
  EntryList<T> list;
  std::int64_t bad_row = 0;
  try {
    list = read_entries(file);
  } catch (const std::bad_alloc&) {
    file.fail_memory(file.entries(), "entries");
  }
  try {
    bad_row = csr_from_entries(list, A);
  } catch (const std::exception&) {  // of Kokkos, too
    file.fail_memory(file.entries(), "entries");
  }
  if (bad_row < file.rows()) {
    throw std::runtime_error(path + ": the entries of one place in row " +
                             std::to_string(bad_row + 1) + " add up to more than fits");
  }
  return A;
}

// ---- vectors and arrays

template <class T>
HostVector<T> read_vector(const std::string& path, std::size_t chunk_size = matrix_market_chunk) {
  MatrixMarketReader<T> file(path, MatrixMarketContent::vector, chunk_size);
  const bool array = file.format() == MatrixMarketFormat::array;
  file.expect_size_to_fit();
  auto x = file.template allocate<HostVector<T>>("Trikkos::read_vector", file.rows(), "rows");
  const auto seen = file.template allocate<HostVector<bool>>("Trikkos::read_vector::seen",
                                                             array ? 0 : file.rows(), "rows");
  file.for_each([&](std::int64_t row, std::int64_t column, const T& value) {
    if (!array) {
      if (seen(row)) {
        file.fail(place_in_file(row, column) + " is stored twice, expected each entry once");
      }
      seen(row) = true;
    }
    x(row) = value;
  });
  return x;
}

template <class T>
HostArray<T> read_array(const std::string& path, std::size_t chunk_size = matrix_market_chunk) {
  MatrixMarketReader<T> file(path, MatrixMarketContent::matrix, chunk_size);
  if (file.format() != MatrixMarketFormat::array) {
    file.fail("the format is 'coordinate', expected 'array'");
  }
  file.expect_size_to_fit();
  const auto all = file.rows() * file.columns();
  HostArray<T> x;
  try {
    x = HostArray<T>("Trikkos::read_array", file.rows(), file.columns());
  } catch (const std::exception&) {
    file.fail_memory(all, "values");
  }
  file.for_each([&](std::int64_t row, std::int64_t column, const T& value) {
    x(row, column) = value;
    if (file.symmetry() != MatrixMarketSymmetry::general && row != column) {
      x(column, row) = mirrored(file.symmetry(), value);
    }
  });
  return x;
}

}  // namespace Trikkos::Impl

#endif
