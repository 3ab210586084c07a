// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MATRIXMARKETWRITER_HPP
#define TRIKKOS_IMPL_MATRIXMARKETWRITER_HPP

#include <charconv>
#include <impl/Trikkos_CsrCheck.hpp>
#include <impl/Trikkos_MatrixMarketHeader.hpp>
#include <impl/Trikkos_TextFile.hpp>
#include <string>

namespace Trikkos::Impl {

/// LineWords and numbers into a file, through a buffer.
class MatrixMarketWriter {
 public:
  explicit MatrixMarketWriter(const std::string& path) : m_file(path) { m_text.reserve(size); }

  void write(std::string_view text) {
    m_text += text;
    if (m_text.size() >= size - longest) flush();
  }
  /// As few digits as are needed to read the same number back.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void write(Number value) {
    char digits[longest];
    write({digits,
           static_cast<std::size_t>(std::to_chars(digits, digits + longest, value).ptr - digits)});
  }
  template <class T>
  void write(const Kokkos::complex<T>& value) {
    write(value.real());
    write(" ");
    write(value.imag());
  }
  void header(MatrixMarketFormat format, MatrixMarketField field, MatrixMarketSymmetry symmetry) {
    write(std::string("%%MatrixMarket matrix ") + name(format) + " " + name(field) + " " +
          name(symmetry) + "\n");
  }
  void close() {
    flush();
    m_file.close();
  }

 private:
  static constexpr std::size_t size = std::size_t(1) << 16, longest = 32;

  void flush() {
    m_file.write(m_text);
    m_text.clear();
  }

  OutputFile m_file;
  std::string m_text;
};

template <class T>
inline constexpr MatrixMarketField matrix_market_field =
    is_complex_v<T> ? MatrixMarketField::complex : MatrixMarketField::real;

/// \tparam View rank 1 or 2 (row, column)
template <class View>
void write_array(const std::string& path, const View& x) {
  using T = typename View::non_const_value_type;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  MatrixMarketWriter file(path);
  file.header(MatrixMarketFormat::array, matrix_market_field<T>, MatrixMarketSymmetry::general);
  const std::size_t columns = View::rank() == 1 ? 1 : host.extent(1);
  file.write(std::to_string(host.extent(0)) + " " + std::to_string(columns) + "\n");
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      if constexpr (View::rank() == 1)
        file.write(host(i));
      else
        file.write(host(i, j));
      file.write("\n");
    }
  }
  file.close();
}

// ---- compressed rows

/// Calls f(row, column, value) for what a file stores of a matrix, the rows one after the other.
template <class Matrix, class Function>
void for_each_written(const Matrix& A, MatrixMarketSymmetry symmetry, const Function& f) {
  const std::int64_t above = symmetry == MatrixMarketSymmetry::skew_symmetric ? 0 : 1;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    const std::int64_t end = symmetry == MatrixMarketSymmetry::general ? A.columns : i + above;
    for (auto k = A.row_map(i); k < A.row_map(i + 1); ++k) {
      const auto j = static_cast<std::int64_t>(A.entries(k));
      if (j < end) f(i, j, A.values(k));
    }
  }
}

template <class View>
auto on_host_memory(const View& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
}

template <class Matrix>
void write_csr(const std::string& path, const Matrix& A, MatrixMarketSymmetry symmetry,
               bool pattern) {
  using T = typename Matrix::value_type;
  if (symmetry != MatrixMarketSymmetry::general && A.rows() != A.columns) {
    throw std::invalid_argument("Trikkos::write_csr: A is " + std::to_string(A.rows()) + " x " +
                                std::to_string(A.columns) + ", expected a square matrix (" +
                                name(symmetry) + ")");
  }
  if (symmetry == MatrixMarketSymmetry::skew_symmetric && pattern) {
    throw std::invalid_argument("Trikkos::write_csr_pattern: a pattern cannot be skew-symmetric");
  }
  if (symmetry == MatrixMarketSymmetry::hermitian && (pattern || !is_complex_v<T>)) {
    symmetry = MatrixMarketSymmetry::symmetric;  // what a real matrix is then
  }
  const CsrMatrix host{on_host_memory(A.row_map), on_host_memory(A.entries),
                       on_host_memory(A.values), A.columns};
  expect_csr("Trikkos::write_csr", host);
  if (symmetry != MatrixMarketSymmetry::general) expect_symmetry(host, symmetry, pattern);
  std::int64_t entries = 0;
  for_each_written(host, symmetry, [&](std::int64_t, std::int64_t, const T&) { ++entries; });
  MatrixMarketWriter file(path);
  file.header(MatrixMarketFormat::coordinate,
              pattern ? MatrixMarketField::pattern : matrix_market_field<T>, symmetry);
  file.write(std::to_string(A.rows()) + " " + std::to_string(A.columns) + " " +
             std::to_string(entries) + "\n");
  for_each_written(host, symmetry, [&](std::int64_t i, std::int64_t j, const T& value) {
    file.write(i + 1);
    file.write(" ");
    file.write(j + 1);
    if (!pattern) {
      file.write(" ");
      file.write(value);
    }
    file.write("\n");
  });
  file.close();
}

}  // namespace Trikkos::Impl

#endif
