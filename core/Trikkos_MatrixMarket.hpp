// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_MATRIXMARKET_HPP
#define TRIKKOS_MATRIXMARKET_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <Trikkos_MatrixMarketSymmetry.hpp>
#include <Trikkos_Pentadiagonal.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_MatrixMarketMatrices.hpp>
#include <impl/Trikkos_MatrixMarketWriter.hpp>

/// \file
/// Matrices and vectors from Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html)
/// and into them, on the host. `Kokkos::create_mirror_view_and_copy` takes them to a device.
///
///     auto A = Trikkos::read_csr<double>("memplus.mtx.gz");
///     Trikkos::CsrTriangle L{A.row_map, A.entries, A.values, Trikkos::Uplo::lower};
///     auto T = Trikkos::read_tridiagonal<double>("poisson_12.mtx");
///     auto b = Trikkos::read_vector<double>("poisson_12_rhs.mtx");
///     ...
///     Trikkos::write_vector("solution.mtx", x);
///
/// **What is read.** Formats `coordinate` and `array`; fields `real`, `integer`, `pattern` (all
/// ones), and `complex` if T is; symmetries `general`, `symmetric`, `skew-symmetric` and
/// `hermitian`, the last three with the lower triangle stored. Entries come in any order. Comments
/// and blank lines may stand anywhere after the header; lines may end in CR LF, the last one
/// without an end. Inf and NaN are refused; what is too small for T is zero, what is too large an
/// error.
///
/// **Errors.** What is wrong with a file is said in one sentence, `FILE:LINE: what is wrong, what
/// was expected`, of the first thing that is wrong, in a std::runtime_error.
///
/// **Compressed files.** What gzip compressed is read as it is, and names that end in `.gz` are
/// written so, in programs that are compiled with `TRIKKOS_HAVE_ZLIB` defined (in all of their
/// sources) and linked with zlib; in others these files are an error.
///
/// **Cost.** The threads of Kokkos::DefaultHostExecutionSpace parse parts of the file side by side,
/// one of them 10^8 characters a second or more; to decompress is the work of one thread. Beside
/// the result, bands and vectors take a byte a row, compressed rows 16 bytes an entry of the file
/// in double.
///
/// T is float, double, Kokkos::complex<float> or Kokkos::complex<double>.

namespace Trikkos {

/// Reads a tridiagonal matrix. Each entry may be stored once; what is not stored is zero. Outside
/// the three diagonals only zeros may be stored.
///
/// \return A with lower(0) = upper(n-1) = 0
/// \throws std::runtime_error if the file is missing, malformed, too large for the memory, or holds
///   anything else than a square tridiagonal matrix of finite numbers
template <class T>
Tridiagonal<Kokkos::View<T*, Kokkos::HostSpace>> read_tridiagonal(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_tridiagonal: T must be float, double or Kokkos::complex of them");
  const auto [lower, diag, upper] = Impl::read_bands<T, 1>("Trikkos::read_tridiagonal", path);
  return {lower, diag, upper};
}

/// Reads a pentadiagonal matrix, as `read_tridiagonal`.
template <class T>
Pentadiagonal<Kokkos::View<T*, Kokkos::HostSpace>> read_pentadiagonal(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_pentadiagonal: T must be float, double or Kokkos::complex of them");
  const auto [lower2, lower, diag, upper, upper2] =
      Impl::read_bands<T, 2>("Trikkos::read_pentadiagonal", path);
  return {lower2, lower, diag, upper, upper2};
}

/// Reads a sparse matrix, square or not, into compressed rows, sorted by column and with each place
/// once. Zeros that a file of the format `coordinate` stores are kept, those of an `array` are not.
/// Both triangles of a matrix that is not general are stored.
///
/// Entries of one place add up, in the order of the file, as in SciPy, Eigen and Trilinos; the
/// format does not say. In a pattern they are one.
///
/// \throws std::runtime_error if the file is missing, malformed, too large for the memory or for
///   32-bit columns, or if entries add up to Inf
template <class T>
HostCsrMatrix<T> read_csr(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_csr: T must be float, double or Kokkos::complex of them");
  return Impl::read_csr<T>(path);
}

/// Reads a vector: a file with one column, of the format `array`, or `coordinate` with each entry
/// at most once (what is not stored is zero). Symmetry `general`.
///
/// \throws std::runtime_error as `read_tridiagonal`
template <class T>
Kokkos::View<T*, Kokkos::HostSpace> read_vector(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_vector: T must be float, double or Kokkos::complex of them");
  return Impl::read_vector<T>(path);
}

/// Reads a dense matrix (row, column), or vectors side by side: the format `array`, any symmetry.
/// `Trikkos::columns` makes right-hand sides of it.
///
/// \throws std::runtime_error as `read_tridiagonal`
template <class T>
Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace> read_array(const std::string& path) {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::read_array: T must be float, double or Kokkos::complex of them");
  return Impl::read_array<T>(path);
}

/// Writes a vector as an `array` with as few digits as are needed for `read_vector` of the same
/// type to return the same numbers (it refuses Inf and NaN, which are written as `inf` and `nan`).
/// Replaces the file. Blocking; x may be on a device if it is contiguous.
///
/// \throws std::runtime_error if the file cannot be written
template <class View>
void write_vector(const std::string& path, const View& x) {
  static_assert(ViewType<View>, "Trikkos::write_vector: x must be a Kokkos::View");
  static_assert(View::rank() == 1, "Trikkos::write_vector: x must have rank 1");
  Impl::write_array(path, x);
}

/// Writes a dense matrix (row, column) as an `array`, as `write_vector`.
template <class View>
void write_array(const std::string& path, const View& A) {
  static_assert(ViewType<View>, "Trikkos::write_array: A must be a Kokkos::View");
  static_assert(View::rank() == 2, "Trikkos::write_array: A must have rank 2");
  Impl::write_array(path, A);
}

/// Writes a sparse matrix in the format `coordinate`, the rows one after the other; digits as
/// `write_vector`. Of a matrix that is not general, the lower triangle is written; a real one that
/// is hermitian is called symmetric. Blocking; to check the symmetry takes up to 48 bytes an entry
/// in double.
///
/// \throws std::invalid_argument if A has offsets or columns that are none, or does not have that
///   symmetry, exactly
/// \throws std::runtime_error if the file cannot be written
template <class RowMap, class Entries, class Values>
void write_csr(const std::string& path, const CsrMatrix<RowMap, Entries, Values>& A,
               MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general) {
  Impl::write_csr(path, A, symmetry, false);
}

/// Writes where a sparse matrix has entries, the field `pattern`, as `write_csr`.
///
/// \throws std::invalid_argument if A's entries do not have that symmetry, or for skew-symmetric
template <class RowMap, class Entries, class Values>
void write_csr_pattern(const std::string& path, const CsrMatrix<RowMap, Entries, Values>& A,
                       MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general) {
  Impl::write_csr(path, A, symmetry, true);
}

}  // namespace Trikkos

#endif
