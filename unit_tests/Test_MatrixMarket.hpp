// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <TemporaryFile.hpp>
#include <Trikkos_MatrixMarket.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using ::Test::TemporaryFile;

template <class View>
auto values(const View& v) {
  std::vector<typename View::non_const_value_type> result(v.extent(0));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = v(i);
  return result;
}

template <class T>
void expect_bands(const std::string& text, const std::vector<T>& lower, const std::vector<T>& diag,
                  const std::vector<T>& upper) {
  const TemporaryFile file(text);
  const auto A = Trikkos::read_tridiagonal<T>(file.path());
  EXPECT_EQ(values(A.lower), lower) << text;
  EXPECT_EQ(values(A.diag), diag) << text;
  EXPECT_EQ(values(A.upper), upper) << text;
  EXPECT_EQ(A.boundary, Trikkos::Boundary::open);
}

template <class T>
void expect_vector(const std::string& text, const std::vector<T>& expected) {
  const TemporaryFile file(text);
  EXPECT_EQ(values(Trikkos::read_vector<T>(file.path())), expected) << text;
}

template <class Read>
void expect_error(const std::string& text, const std::string& message, const Read& read) {
  const TemporaryFile file(text);
  try {
    read(file.path());
    ADD_FAILURE() << "no exception for\n" << text;
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), file.path() + message) << text;
  }
}
template <class T = double>
void expect_matrix_error(const std::string& text, const std::string& message) {
  expect_error(text, message, [](const std::string& path) { Trikkos::read_tridiagonal<T>(path); });
}
template <class T = double>
void expect_vector_error(const std::string& text, const std::string& message) {
  expect_error(text, message, [](const std::string& path) { Trikkos::read_vector<T>(path); });
}

const std::string matrix_header = "%%MatrixMarket matrix coordinate real general\n";
const std::string array_header = "%%MatrixMarket matrix array real general\n";

}  // namespace

TEST(TEST_CATEGORY, matrix_market_reads_general) {
  // Any order; what is missing is zero; explicit zeros, also off the diagonals.
  expect_bands<double>(
      matrix_header + "3 3 7\n3 3 9\n1 1 1\n2 3 6.5\n2 1 -4e0\n2 2 0\n3 1 0.0\n1 2 +2\n",
      {0, -4, 0}, {1, 0, 9}, {2, 6.5, 0});
  expect_bands<float>(matrix_header + "1 1 1\n1 1 .5\n", {0}, {.5f}, {0});
  expect_bands<double>(matrix_header + "2 2 0\n", {0, 0}, {0, 0}, {0, 0});
  expect_bands<double>(matrix_header + "0 0 0\n", {}, {}, {});
}

TEST(TEST_CATEGORY, matrix_market_reads_fields) {
  expect_bands<double>("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 -7\n2 1 +8\n",
                       {0, 8}, {-7, 0}, {0, 0});
  expect_bands<double>("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n1 2\n",
                       {0, 0}, {1, 0}, {1, 0});
  using Complex = Kokkos::complex<double>;
  expect_bands<Complex>(
      "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 2\n1 2 3 -4\n", {0, 0},
      {Complex(1, 2), 0}, {Complex(3, -4), 0});
  expect_bands<Complex>(matrix_header + "1 1 1\n1 1 5\n", {0}, {5}, {0});
}

TEST(TEST_CATEGORY, matrix_market_reads_symmetries) {
  const std::string header = "%%MatrixMarket matrix coordinate ";
  expect_bands<double>(header + "real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 3\n", {0, 2}, {1, 3},
                       {2, 0});
  expect_bands<double>(header + "pattern symmetric\n2 2 1\n2 1\n", {0, 1}, {0, 0}, {1, 0});
  expect_bands<double>(header + "integer skew-symmetric\n2 2 1\n2 1 2\n", {0, 2}, {0, 0}, {-2, 0});
  using Complex = Kokkos::complex<float>;
  expect_bands<Complex>(header + "complex hermitian\n2 2 2\n1 1 7 0\n2 1 1 2\n", {0, Complex(1, 2)},
                        {7, 0}, {Complex(1, -2), 0});
  expect_bands<Complex>(header + "complex symmetric\n2 2 1\n2 1 1 2\n", {0, Complex(1, 2)}, {0, 0},
                        {Complex(1, 2), 0});
}

TEST(TEST_CATEGORY, matrix_market_reads_bands_of_arrays) {
  expect_bands<double>(array_header + "3 3\n1\n2\n0\n4\n5\n6\n0\n8\n9\n", {0, 2, 6}, {1, 5, 9},
                       {4, 8, 0});
  expect_bands<double>("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n0\n6\n", {0, 2, 6},
                       {0, 0, 0}, {-2, -6, 0});
  expect_matrix_error("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
                      ":5: row 3, column 1 is not zero, expected entries on the three diagonals "
                      "only");
}

TEST(TEST_CATEGORY, matrix_market_reads_pentadiagonal) {
  const TemporaryFile file(
      "%%MatrixMarket matrix coordinate real symmetric\n4 4 5\n"
      "1 1 1\n2 1 2\n3 1 3\n4 2 4\n4 3 5\n");
  const auto A = Trikkos::read_pentadiagonal<double>(file.path());
  using V = std::vector<double>;
  EXPECT_EQ(values(A.lower2), V({0, 0, 3, 4}));
  EXPECT_EQ(values(A.lower), V({0, 2, 0, 5}));
  EXPECT_EQ(values(A.diag), V({1, 0, 0, 0}));
  EXPECT_EQ(values(A.upper), V({2, 0, 5, 0}));
  EXPECT_EQ(values(A.upper2), V({3, 4, 0, 0}));
  expect_error(matrix_header + "4 4 1\n4 1 1\n",
               ":3: row 4, column 1 is not zero, expected entries on the five diagonals only",
               [](const std::string& path) { Trikkos::read_pentadiagonal<double>(path); });
}

TEST(TEST_CATEGORY, matrix_market_reads_loose_layout) {
  // Upper case, blanks, tabs, blank lines, comments anywhere, CR LF, no line end at the end.
  expect_bands<double>(
      "%%matrixmarket\tMATRIX  Coordinate REAL General  \r\n%\r\n\r\n   % indented\r\n"
      "  2\t2   2 \r\n\r\n%% 5 5 5\r\n\t1 1 1.5\t\r\n% last\r\n2   2  2.5",
      {0, 0}, {1.5, 2.5}, {0, 0});
  expect_vector<double>(
      "%%MatrixMarket matrix array real general\n2 1\n\n 1 \n% comment\n2\n\n% end", {1, 2});
}

TEST(TEST_CATEGORY, matrix_market_reads_numbers) {
  const auto read = [](const std::string& number) {
    const TemporaryFile file(array_header + "1 1\n" + number + "\n");
    return Trikkos::read_vector<double>(file.path())(0);
  };
  EXPECT_EQ(read("0.1"), 0.1);
  EXPECT_EQ(read("-0"), 0.0);
  EXPECT_TRUE(std::signbit(read("-0")));
  EXPECT_EQ(read("1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(read("4.9406564584124654e-324"), 4.9406564584124654e-324);
  EXPECT_EQ(read("1e-400"), 0.0);  // too small is zero, too large an error
  EXPECT_EQ(read("1E+05"), 1e5);
  EXPECT_EQ(read("5."), 5.0);
  expect_vector<float>(array_header + "2 1\n1e-60\n1e38\n", {0.f, 1e38f});
}

TEST(TEST_CATEGORY, matrix_market_reads_vectors) {
  expect_vector<double>(array_header + "3 1\n1\n2.5\n-3\n", {1, 2.5, -3});
  expect_vector<double>("%%MatrixMarket matrix array integer general\n2 1\n4\n5\n", {4, 5});
  expect_vector<double>(matrix_header + "4 1 2\n4 1 7\n2 1 6\n", {0, 6, 0, 7});
  expect_vector<double>(array_header + "0 1\n", {});
  using Complex = Kokkos::complex<double>;
  expect_vector<Complex>("%%MatrixMarket matrix array complex general\n1 1\n1 2\n",
                         {Complex(1, 2)});
}

TEST(TEST_CATEGORY, matrix_market_lines_across_buffers) {
  // Several times the read buffer, with a comment almost as long as it.
  const std::int64_t n = 300000;
  std::string text =
      array_header + "%" + std::string((1 << 20) - 100, '-') + "\n" + std::to_string(n) + " 1\n";
  for (std::int64_t i = 0; i < n; ++i) text += std::to_string(i) + ".25\n";
  const TemporaryFile file(text);
  const auto x = Trikkos::read_vector<double>(file.path());
  ASSERT_EQ(x.extent(0), static_cast<std::size_t>(n));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong += x(i) != static_cast<double>(i) + 0.25;
  EXPECT_EQ(wrong, 0);
}

TEST(TEST_CATEGORY, matrix_market_round_trip) {
  const std::vector<double> numbers = {
      0.1, -1. / 3, 4.9406564584124654e-324, 1.7976931348623157e308, 0, 12345};
  Kokkos::View<double*, TEST_EXECSPACE> x("x", numbers.size());
  const auto host = Kokkos::create_mirror_view(x);
  for (std::size_t i = 0; i < numbers.size(); ++i) host(i) = numbers[i];
  ::Test::copy(x, host);
  const TemporaryFile file;
  Trikkos::write_vector(file.path(), x);
  EXPECT_EQ(values(Trikkos::read_vector<double>(file.path())), numbers);
}

TEST(TEST_CATEGORY, matrix_market_writes) {
  const TemporaryFile file("something longer than what replaces it" + std::string(1000, '!'));
  Kokkos::View<float*, Kokkos::HostSpace> x("x", 2);
  x(0) = 0.1f;
  x(1) = -2;
  Trikkos::write_vector(file.path(), x);
  EXPECT_EQ(file.text(), array_header + "2 1\n0.1\n-2\n");

  using Complex = Kokkos::complex<double>;
  Kokkos::View<Complex*, Kokkos::HostSpace> z("z", 1);
  z(0) = Complex(1, -0.5);
  Trikkos::write_vector(file.path(), z);
  EXPECT_EQ(file.text(), "%%MatrixMarket matrix array complex general\n1 1\n1 -0.5\n");

  // Every other element; nothing at all.
  Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace> strided(
      "strided", Kokkos::LayoutStride(2, 2));
  strided(0) = 1;
  strided(1) = 2;
  Trikkos::write_vector(file.path(), strided);
  EXPECT_EQ(file.text(), array_header + "2 1\n1\n2\n");
  Trikkos::write_vector(file.path(), Kokkos::View<double*, Kokkos::HostSpace>());
  EXPECT_EQ(file.text(), array_header + "0 1\n");
}

TEST(TEST_CATEGORY, matrix_market_bad_files) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no exception";
  };
  const std::string missing = ::testing::TempDir() + "Trikkos_no_such_folder/no_such_file.mtx";
  EXPECT_EQ(message([&] { Trikkos::read_tridiagonal<double>(missing); }),
            missing + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message([&] { Trikkos::read_vector<double>(missing); }),
            missing + ": cannot be opened: No such file or directory");
  const Kokkos::View<double*, Kokkos::HostSpace> x("x", 1);
  EXPECT_EQ(message([&] { Trikkos::write_vector(missing, x); }),
            missing + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message([] { Trikkos::read_tridiagonal<double>(::testing::TempDir()); }),
            ::testing::TempDir() + ": cannot be read: Is a directory");
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_EQ(message([&] { Trikkos::write_vector("/dev/full", x); }),
              "/dev/full: cannot be written: No space left on device");
  }
}

TEST(TEST_CATEGORY, matrix_market_bad_headers) {
  const std::string wanted =
      ":1: expected a header such as '%%MatrixMarket matrix coordinate real general', got ";
  expect_matrix_error("", wanted + "nothing");
  expect_matrix_error("\n" + matrix_header, wanted + "nothing");
  expect_matrix_error("1 1 1\n1 1 1\n", wanted + "'1 1 1'");
  expect_matrix_error("%MatrixMarket matrix coordinate real general\n",
                      wanted + "'%MatrixMarket matrix coordinate real gen...'");
  expect_matrix_error("%%MatrixMarket vector array real general\n",
                      wanted + "'%%MatrixMarket vector array real general'");
  expect_matrix_error(std::string("\0\1\xff", 3), wanted + "'" + std::string(3, '?') + "'");

  const std::string start = "%%MatrixMarket matrix ";
  expect_matrix_error(start + "\n", ":1: expected coordinate or array, got nothing");
  expect_matrix_error(start + "coord real general\n",
                      ":1: expected coordinate or array, got 'coord'");
  expect_matrix_error(start + "coordinate double general\n",
                      ":1: expected real, integer, complex or pattern, got 'double'");
  expect_matrix_error(start + "coordinate real\n",
                      ":1: expected general, symmetric, skew-symmetric or hermitian, got nothing");
  expect_matrix_error(start + "coordinate real general 3\n",
                      ":1: expected the end of the line, got '3'");
  expect_matrix_error(start + "coordinate complex general\n1 1 1\n1 1 1 0\n",
                      ":1: the numbers are complex, expected real ones");
  expect_matrix_error(start + "coordinate real hermitian\n",
                      ":1: 'real' and 'hermitian' exclude each other");
  expect_matrix_error(start + "coordinate pattern skew-symmetric\n",
                      ":1: 'pattern' and 'skew-symmetric' exclude each other");
  expect_vector_error(start + "array pattern general\n1 1\n",
                      ":1: 'array' and 'pattern' exclude each other");
  expect_vector_error(start + "coordinate real symmetric\n1 1 1\n",
                      ":1: a vector cannot be 'symmetric', expected 'general'");
}

TEST(TEST_CATEGORY, matrix_market_bad_sizes) {
  const std::string three =
      "a line 'rows columns entries' with three integers that are not negative";
  const std::string two = "a line 'rows columns' with two integers that are not negative";
  expect_matrix_error(matrix_header, ":1: the file ends before its size, expected " + three);
  expect_matrix_error(matrix_header + "% only comments\n\n",
                      ":3: the file ends before its size, expected " + three);
  expect_vector_error(array_header, ":1: the file ends before its size, expected " + two);
  for (const std::string line : {"2 2", "2 2 2 2", "2 -2 2", "2 2 2.0", "n n 3", "2 2 2x"}) {
    expect_matrix_error(matrix_header + "%\n" + line + "\n",
                        ":3: expected " + three + ", got '" + line + "'");
  }
  expect_vector_error(array_header + "2 1 2\n1\n2\n", ":2: expected " + two + ", got '2 1 2'");
  expect_matrix_error(matrix_header + "3 4 0\n", ":2: the matrix is 3 x 4, expected a square one");
  expect_vector_error(array_header + "3 2\n",
                      ":2: there are 2 columns, expected a vector, one column");
  expect_vector_error(matrix_header + "3 2 0\n",
                      ":2: there are 2 columns, expected a vector, one column");
  expect_matrix_error(matrix_header + "9223372036854775808 1 1\n",
                      ":2: the integer '9223372036854775808' does not fit into 64 bits");
}

TEST(TEST_CATEGORY, matrix_market_too_large) {
  const std::string huge = "1000000000000000000";
  expect_matrix_error(
      matrix_header + huge + " " + huge + " 1\n1 1 1\n",
      ":2: the matrix has 1000000000000000000 rows, but in 94 bytes of text most of them must be "
      "empty");
  expect_vector_error(array_header + huge + " 1\n1\n",
                      ":2: 65 bytes of text cannot hold 1000000000000000000 values");
  expect_vector_error(
      matrix_header + huge + " 1 1\n1 1 1\n",
      ":2: the matrix has 1000000000000000000 rows, but in 76 bytes of text most of "
      "them must be empty");
  expect_vector_error(
      array_header + "9223372036854775807 9223372036854775807\n",
      ":2: an array with 9223372036854775807 x 9223372036854775807 values does not fit "
      "into 64 bits");
  // What a line promises costs nothing before it is there.
  expect_matrix_error(
      matrix_header + "1 1 9223372036854775807\n1 1 1\n",
      ":3: the file ends after 1 of the 9223372036854775807 entries that line 2 promises");
}

TEST(TEST_CATEGORY, matrix_market_bad_entries) {
  const auto bad = [](const std::string& line, const std::string& message) {
    expect_matrix_error(matrix_header + "% comment\n12 12 2\n1 1 1\n" + line + "\n",
                        ":5: " + message);
  };
  bad("x 1 1", "expected a row index, got 'x'");
  bad("1.0 1 1", "expected a row index, got '1.0'");
  bad("1", "expected a column index, got nothing");
  bad("1 y 1", "expected a column index, got 'y'");
  bad("2 2", "expected a finite number, got nothing");
  bad("0 1 1", "the row index 0 is out of range, expected 1 to 12");
  bad("13 12 1", "the row index 13 is out of range, expected 1 to 12");
  bad("12 13 1", "the column index 13 is out of range, expected 1 to 12");
  bad("-1 1 1", "the row index -1 is out of range, expected 1 to 12");
  bad("99999999999999999999 1 1", "the integer '99999999999999999999' does not fit into 64 bits");
  bad("1 -99999999999999999999 1", "the integer '-99999999999999999999' does not fit into 64 bits");
  for (const std::string number : {"nan", "-nan", "inf", "+inf", "-Infinity", "abc", "1.0.0", "1,5",
                                   "1.0D+00", "--1", "+-1", "0x10", ".", "-", "+", "e5"}) {
    bad("2 2 " + number, "expected a finite number, got '" + number + "'");
  }
  bad("2 2 1e400", "the number '1e400' is too large for double");
  bad("2 2 -1e400", "the number '-1e400' is too large for double");
  bad("2 2 1 0", "expected the end of the line, got '0'");
  bad("2 2 1 % comment", "expected the end of the line, got '% comment'");
  bad("3 7 1", "row 3, column 7 is not zero, expected entries on the three diagonals only");
  bad("12 1 1", "row 12, column 1 is not zero, expected entries on the three diagonals only");
  bad("1 1 1", "row 1, column 1 is stored twice, expected each entry once");
  bad(std::string("2 2 1\0002", 7), "expected a finite number, got '1?2'");
  bad("2 2 " + std::string(50, 'z'),
      "expected a finite number, got '" + std::string(40, 'z') + "...'");
  bad("% " + std::string(1 << 20, '-'),
      "the line is longer than 1048576 characters, expected at most 1024");

  expect_matrix_error<float>(matrix_header + "1 1 1\n1 1 1e39\n",
                             ":3: the number '1e39' is too large for float");
  expect_matrix_error("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
                      ":3: expected an integer, got '1.5'");
  expect_matrix_error("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n",
                      ":3: expected the end of the line, got '1'");
  expect_matrix_error<Kokkos::complex<double>>(
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n",
      ":3: expected a finite imaginary part, got nothing");
  expect_vector_error(array_header + "2 1\n1\n2 3\n", ":4: expected the end of the line, got '3'");
  expect_vector_error(array_header + "1 1\nnan\n", ":3: expected a finite number, got 'nan'");
  expect_vector_error(matrix_header + "3 1 2\n2 1 5\n2 1 6\n",
                      ":4: row 2, column 1 is stored twice, expected each entry once");
}

TEST(TEST_CATEGORY, matrix_market_bad_symmetry) {
  const std::string header = "%%MatrixMarket matrix coordinate ";
  expect_matrix_error(
      header + "real symmetric\n2 2 1\n1 2 1\n",
      ":3: row 1, column 2 is above the diagonal, expected the lower triangle only, as "
      "the header says 'symmetric'");
  expect_matrix_error(
      header + "real skew-symmetric\n2 2 1\n1 1 1\n",
      ":3: row 1, column 1 is on the diagonal, expected entries below it only, as the "
      "header says 'skew-symmetric'");
  expect_matrix_error<Kokkos::complex<double>>(
      header + "complex hermitian\n2 2 1\n2 2 1 1\n",
      ":3: row 2, column 2 is complex, expected a real diagonal in a hermitian matrix");
}

TEST(TEST_CATEGORY, matrix_market_bad_counts) {
  expect_matrix_error(matrix_header + "2 2 3\n1 1 1\n2 2 2\n% comment\n",
                      ":5: the file ends after 2 of the 3 entries that line 2 promises");
  expect_matrix_error(
      matrix_header + "2 2 1\n1 1 1\n\n2 2 2\n",
      ":5: expected the end of the file after the 1 entries that line 2 promises, got "
      "'2 2 2'");
  expect_vector_error(array_header + "%\n3 1\n1\n2\n",
                      ":5: the file ends after 2 of the 3 entries that line 3 promises");
  expect_vector_error(
      array_header + "1 1\n1\n2\n",
      ":4: expected the end of the file after the 1 entries that line 2 promises, got "
      "'2'");
}
