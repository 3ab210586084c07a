// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_MATRIXMARKET_HPP
#define TRIKKOS_MATRIXMARKET_HPP

#include <Trikkos_Tridiagonal.hpp>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <impl/Trikkos_MatrixMarketReader.hpp>
#include <limits>
#include <string>

/// \file
/// Matrices and vectors from Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html),
/// on the host. `Kokkos::create_mirror_view_and_copy` takes them to a device.
///
///     auto A = Trikkos::read_tridiagonal<double>("poisson_12.mtx");
///     auto b = Trikkos::read_vector<double>("poisson_12_rhs.mtx");
///     ...
///     Trikkos::write_vector("solution.mtx", x);
///
/// What is wrong with a file is said in one sentence, `FILE:LINE: what is wrong, what was
/// expected`, in a std::runtime_error. Reading costs about 0.1 us a line and no memory but the
/// result and one byte a row.

namespace Trikkos {

namespace Impl {

/// n zeros.
/// \throws std::runtime_error if there is not enough memory for them
template <class T, class Reader>
Kokkos::View<T*, Kokkos::HostSpace> read_allocate(const Reader& file, const std::string& label,
                                                  std::int64_t n) {
  constexpr std::int64_t largest = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T) / 8;
  if (n <= largest) {
    try {
      return Kokkos::View<T*, Kokkos::HostSpace>(label, n);
    } catch (const std::exception&) {  // says so below
    }
  }
  file.fail("there is not enough memory for " + std::to_string(n) + " rows");
}

}  // namespace Impl

/// Reads a tridiagonal matrix from a Matrix Market file of the format `coordinate`.
///
/// Field `real`, `integer` or `pattern` (all ones), `complex` only if T is; symmetry `general`,
/// `symmetric`, `skew-symmetric` or `hermitian`, the last three with the lower triangle stored.
/// Entries come in any order, each at most once; what is not stored is zero. Outside the three
/// diagonals only zeros may be stored. Comments and blank lines may stand anywhere after the
/// header.
///
/// \tparam T float, double, Kokkos::complex<float> or Kokkos::complex<double>
/// \return A with lower(0) = upper(n-1) = 0
/// \throws std::runtime_error if the file is missing, malformed, too large for the memory, or holds
///   anything else than a square tridiagonal matrix of finite numbers
template <class T>
Tridiagonal<Kokkos::View<T*, Kokkos::HostSpace>> read_tridiagonal(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_tridiagonal: T must be float, double or Kokkos::complex of them");
  using Reader = Impl::MatrixMarketReader<T>;
  Reader file(path, Impl::MatrixMarketContent::matrix);
  const std::int64_t n = file.rows();
  if (n != file.columns()) {
    file.fail("the matrix is " + std::to_string(n) + " x " + std::to_string(file.columns()) +
              ", expected a square one");
  }
  if (file.bytes() >= 0 && n > file.bytes()) {  // before a typing error takes all memory
    file.fail("the matrix has " + std::to_string(n) + " rows, but in a file of " +
              std::to_string(file.bytes()) + " bytes most of them must be empty");
  }
  const Tridiagonal<Kokkos::View<T*, Kokkos::HostSpace>> A{
      Impl::read_allocate<T>(file, "Trikkos::read_tridiagonal::lower", n),
      Impl::read_allocate<T>(file, "Trikkos::read_tridiagonal::diag", n),
      Impl::read_allocate<T>(file, "Trikkos::read_tridiagonal::upper", n)};
  // a bit for each band
  const auto seen = Impl::read_allocate<unsigned char>(file, "Trikkos::read_tridiagonal::seen", n);

  const bool general = file.symmetry() == Reader::Symmetry::general;
  file.for_each([&](std::int64_t row, std::int64_t column, const T& value) {
    const std::int64_t band = column - row;
    if (band < -1 || band > 1) {
      if (value == T(0)) return;
      file.fail(Reader::place(row, column) +
                " is not zero, expected entries on the three diagonals only");
    }
    const unsigned char bit = 1 << (band + 1);
    if (seen(row) & bit) {
      file.fail(Reader::place(row, column) + " is stored twice, expected each entry once");
    }
    seen(row) |= bit;
    (band < 0 ? A.lower : band == 0 ? A.diag : A.upper)(row) = value;
    if (general || band == 0) return;
    switch (file.symmetry()) {
      case Reader::Symmetry::skew_symmetric:
        A.upper(column) = -value;
        break;
      case Reader::Symmetry::hermitian:
        A.upper(column) = Impl::conjugate(value);
        break;
      default:
        A.upper(column) = value;
    }
  });
  return A;
}

/// Reads a vector from a Matrix Market file with one column, of the format `array` or `coordinate`
/// (then what is not stored is zero). Fields as in `read_tridiagonal`, symmetry `general`.
///
/// \throws std::runtime_error as `read_tridiagonal`
template <class T>
Kokkos::View<T*, Kokkos::HostSpace> read_vector(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_vector: T must be float, double or Kokkos::complex of them");
  using Reader = Impl::MatrixMarketReader<T>;
  Reader file(path, Impl::MatrixMarketContent::vector);
  const std::int64_t n = file.rows();
  const bool array = file.format() == Reader::Format::array;
  if (array && file.bytes() >= 0 && n > file.bytes()) {
    file.fail("a file of " + std::to_string(file.bytes()) + " bytes cannot hold " +
              std::to_string(n) + " values");
  }
  const auto x = Impl::read_allocate<T>(file, "Trikkos::read_vector", n);
  const auto seen = Impl::read_allocate<bool>(file, "Trikkos::read_vector::seen", array ? 0 : n);
  file.for_each([&](std::int64_t row, std::int64_t column, const T& value) {
    if (!array) {
      if (seen(row)) {
        file.fail(Reader::place(row, column) + " is stored twice, expected each entry once");
      }
      seen(row) = true;
    }
    x(row) = value;
  });
  return x;
}

/// Writes a vector as a Matrix Market `array` with 17 significant digits, so that `read_vector`
/// returns the same numbers (it refuses Inf and NaN, which are written as `inf` and `nan`).
/// Replaces the file. Blocking; x may be on a device if it is contiguous.
///
/// \throws std::runtime_error if the file cannot be written
template <class View>
void write_vector(const std::string& path, const View& x) {
  static_assert(ViewType<View>, "Trikkos::write_vector: x must be a Kokkos::View");
  static_assert(View::rank() == 1, "Trikkos::write_vector: x must have rank 1");
  using T = typename View::non_const_value_type;
  constexpr bool is_complex = Impl::is_complex_v<T>;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  const Impl::File file = Impl::open_file(path, "wb");

  const auto write = [&](double value, char last) {
    char text[32];  // the longest has 24 characters
    char* const end = std::to_chars(text, text + 31, value, std::chars_format::scientific, 16).ptr;
    *end = last;
    std::fwrite(text, 1, end + 1 - text, file.get());
  };
  std::fprintf(file.get(), "%%%%MatrixMarket matrix array %s general\n%lld 1\n",
               is_complex ? "complex" : "real", static_cast<long long>(host.extent(0)));
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    if constexpr (is_complex) {
      write(host(i).real(), ' ');
      write(host(i).imag(), '\n');
    } else {
      write(host(i), '\n');
    }
  }
  if (std::fflush(file.get()) != 0 || std::ferror(file.get())) {
    throw std::runtime_error(path + ": cannot be written: " + std::strerror(errno));
  }
}

}  // namespace Trikkos

#endif
