// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <TemporaryFile.hpp>
#include <Trikkos_MatrixMarket.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>

// What is said of files that are wrong: of the first thing that is, on its line, wherever the text
// is cut into chunks. Test_MatrixMarket.hpp has what is said of bands and vectors.

namespace {

struct Malformed {
  const char *text, *sentence;
};

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define SKEW "%%MatrixMarket matrix coordinate real skew-symmetric\n"
#define INTEGER "%%MatrixMarket matrix coordinate integer general\n"
#define PATTERN "%%MatrixMarket matrix coordinate pattern general\n"
#define COMPLEX "%%MatrixMarket matrix coordinate complex general\n"
#define HERMITIAN "%%MatrixMarket matrix coordinate complex hermitian\n"
#define ARRAY "%%MatrixMarket matrix array real general\n"
#define HEADER_EXPECTED \
  "1: expected a header such as '%%MatrixMarket matrix coordinate real general', got "
#define THREE "a line 'rows columns entries' with three integers that are not negative"
#define TWO "a line 'rows columns' with two integers that are not negative"

const Malformed malformed_real[] = {
    // the header
    {"", HEADER_EXPECTED "nothing"},
    {"\n" REAL "1 1 1\n1 1 1\n", HEADER_EXPECTED "nothing"},
    {"1 1 1\n1 1 1\n", HEADER_EXPECTED "'1 1 1'"},
    {"%MatrixMarket matrix coordinate real\n",
     HEADER_EXPECTED "'%MatrixMarket matrix coordinate real'"},
    {"%%MatrixMarket vector array real general\n",
     HEADER_EXPECTED "'%%MatrixMarket vector array real general'"},
    {"%%MatrixMarket\n", HEADER_EXPECTED "'%%MatrixMarket'"},
    {"\xff\xfe%%MatrixMarket matrix\n", HEADER_EXPECTED "'??%%MatrixMarket matrix'"},
    {"%%MatrixMarket matrix", "1: expected coordinate or array, got nothing"},
    {"%%MatrixMarket matrix sparse real general\n",
     "1: expected coordinate or array, got 'sparse'"},
    {"%%MatrixMarket matrix coordinate\n",
     "1: expected real, integer, complex or pattern, got nothing"},
    {"%%MatrixMarket matrix array double general\n",
     "1: expected real, integer, complex or pattern, got 'double'"},
    {"%%MatrixMarket matrix coordinate real\n",
     "1: expected general, symmetric, skew-symmetric or hermitian, got nothing"},
    {"%%MatrixMarket matrix coordinate real skew\n",
     "1: expected general, symmetric, skew-symmetric or hermitian, got 'skew'"},
    {"%%MatrixMarket matrix coordinate real general %\n",
     "1: expected the end of the line, got '%'"},
    {"%%MatrixMarket matrix coordinate integer hermitian\n",
     "1: 'integer' and 'hermitian' exclude each other"},
    {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
     "1: 'pattern' and 'skew-symmetric' exclude each other"},
    {"%%MatrixMarket matrix array pattern general\n",
     "1: 'array' and 'pattern' exclude each other"},
    {COMPLEX "1 1 1\n1 1 1 0\n", "1: the numbers are complex, expected real ones"},

    // the sizes
    {REAL, "1: the file ends before its size, expected " THREE},
    {REAL "% comment\n\n%", "4: the file ends before its size, expected " THREE},
    {ARRAY, "1: the file ends before its size, expected " TWO},
    {REAL "2 2\n1 1 1\n", "2: expected " THREE ", got '2 2'"},
    {REAL "2 2 1 1\n1 1 1\n", "2: expected " THREE ", got '2 2 1 1'"},
    {REAL "%\n-2 2 1\n1 1 1\n", "3: expected " THREE ", got '-2 2 1'"},
    {REAL "2 2 1.0\n", "2: expected " THREE ", got '2 2 1.0'"},
    {REAL "2 2 1e3\n", "2: expected " THREE ", got '2 2 1e3'"},
    {REAL "two 2 1\n", "2: expected " THREE ", got 'two 2 1'"},
    {REAL "2,2,1\n", "2: expected " THREE ", got '2,2,1'"},
    {ARRAY "2 1 2\n1\n2\n", "2: expected " TWO ", got '2 1 2'"},
    {REAL "9223372036854775808 1 1\n",
     "2: the integer '9223372036854775808' does not fit into 64 bits"},
    {REAL "2147483648 1 0\n",
     "2: the matrix has 2147483648 rows, expected at most 2147483647 (32-bit entries)"},
    {REAL "1 2147483648 0\n",
     "2: the matrix has 2147483648 columns, expected at most 2147483647 (32-bit entries)"},
    {REAL "2147483647 1 0\n",
     "2: the matrix has 2147483647 rows, but in 61 bytes of text most of them must be empty"},
    {ARRAY "100000 100000\n1\n", "2: 57 bytes of text cannot hold 10000000000 values"},
    {ARRAY "9223372036854775807 2\n",
     "2: an array with 9223372036854775807 x 2 values does not fit into 64 bits"},
    {SYMMETRIC "2 3 1\n1 1 1\n",
     "2: the matrix is 2 x 3, expected a square one, as the header says 'symmetric'"},
    {"%%MatrixMarket matrix array real skew-symmetric\n2 1\n1\n",
     "2: the matrix is 2 x 1, expected a square one, as the header says 'skew-symmetric'"},

    // the entries
    {REAL "2 2 1\nx 1 1\n", "3: expected a row index, got 'x'"},
    {REAL "2 2 1\n1.0 1 1\n", "3: expected a row index, got '1.0'"},
    {REAL "2 2 1\n1,1,1\n", "3: expected a row index, got '1,1,1'"},
    {REAL "2 2 1\n1\n", "3: expected a column index, got nothing"},
    {REAL "2 2 1\n1 y 1\n", "3: expected a column index, got 'y'"},
    {REAL "2 2 1\n1 1\n", "3: expected a finite number, got nothing"},
    {REAL "2 2 1\n0 1 1\n", "3: the row index 0 is out of range, expected 1 to 2"},
    {REAL "2 2 1\n-1 1 1\n", "3: the row index -1 is out of range, expected 1 to 2"},
    {REAL "2 3 1\n3 3 1\n", "3: the row index 3 is out of range, expected 1 to 2"},
    {REAL "2 3 1\n2 4 1\n", "3: the column index 4 is out of range, expected 1 to 3"},
    {REAL "2 2 1\n1 0 1\n", "3: the column index 0 is out of range, expected 1 to 2"},
    {REAL "0 0 1\n1 1 1\n", "3: the row index 1 is out of range, expected 1 to 0"},
    {REAL "2 2 1\n99999999999999999999 1 1\n",
     "3: the integer '99999999999999999999' does not fit into 64 bits"},
    {REAL "2 2 1\n1 -99999999999999999999 1\n",
     "3: the integer '-99999999999999999999' does not fit into 64 bits"},
    {REAL "2 2 1\n1 1 nan\n", "3: expected a finite number, got 'nan'"},
    {REAL "2 2 1\n1 1 -inf\n", "3: expected a finite number, got '-inf'"},
    {REAL "2 2 1\n1 1 +Infinity\n", "3: expected a finite number, got '+Infinity'"},
    {REAL "2 2 1\n1 1 1.0D+00\n", "3: expected a finite number, got '1.0D+00'"},
    {REAL "2 2 1\n1 1 1,5\n", "3: expected a finite number, got '1,5'"},
    {REAL "2 2 1\n1 1 0x1p3\n", "3: expected a finite number, got '0x1p3'"},
    {REAL "2 2 1\n1 1 1e\n", "3: expected a finite number, got '1e'"},
    {REAL "2 2 1\n1 1 --1\n", "3: expected a finite number, got '--1'"},
    {REAL "2 2 1\n1 1 +-1\n", "3: expected a finite number, got '+-1'"},
    {REAL "2 2 1\n1 1 -\n", "3: expected a finite number, got '-'"},
    {REAL "2 2 1\n1 1 .\n", "3: expected a finite number, got '.'"},
    {REAL "2 2 1\n1 1 1e309\n", "3: the number '1e309' is too large for double"},
    {REAL "2 2 1\n1 1 -0.001e99999999999999999999\n",
     "3: the number '-0.001e99999999999999999999' is too large for double"},
    {REAL "2 2 1\n1 1 1 2\n", "3: expected the end of the line, got '2'"},
    {REAL "2 2 1\n1 1 1 % comment\n", "3: expected the end of the line, got '% comment'"},
    {REAL "2 2 2\r\n1 1 1\r\n2 2 x\r\n", "4: expected a finite number, got 'x'"},
    {INTEGER "1 1 1\n1 1 1.5\n", "3: expected an integer, got '1.5'"},
    {INTEGER "1 1 1\n1 1 9223372036854775808\n",
     "3: the integer '9223372036854775808' does not fit into 64 bits"},
    {PATTERN "1 1 1\n1 1 1\n", "3: expected the end of the line, got '1'"},
    {ARRAY "2 1\n1\n2 3\n", "4: expected the end of the line, got '3'"},
    {ARRAY "2 1\n1\n\n% comment\nNaN\n", "6: expected a finite number, got 'NaN'"},

    // symmetry
    {SYMMETRIC "2 2 2\n1 1 1\n1 2 1\n",
     "4: row 1, column 2 is above the diagonal, expected the lower triangle only, as the header "
     "says "
     "'symmetric'"},
    {SKEW "2 2 1\n2 2 0\n",
     "3: row 2, column 2 is on the diagonal, expected entries below it only, as the header says "
     "'skew-symmetric'"},
    {SKEW "2 2 1\n1 2 1\n",
     "3: row 1, column 2 is above the diagonal, expected the lower triangle only, as the header "
     "says "
     "'skew-symmetric'"},

    // counts
    {REAL "2 2 1\n", "2: the file ends after 0 of the 1 entries that line 2 promises"},
    {REAL "%\n2 2 3\n1 1 1\n2 2 2\n% comment\n",
     "6: the file ends after 2 of the 3 entries that line 3 promises"},
    {REAL "1 1 9223372036854775807\n1 1 1",
     "3: the file ends after 1 of the 9223372036854775807 entries that line 2 promises"},
    {REAL "2 2 1\n1 1 1\n\n2 2 2\n",
     "5: expected the end of the file after the 1 entries that line 2 promises, got '2 2 2'"},
    {REAL "2 2 1\n1 1 1\nnot an entry\n",
     "4: expected the end of the file after the 1 entries that line 2 promises, got 'not an "
     "entry'"},
    {REAL "0 0 0\n1 1 1\n",
     "3: expected the end of the file after the 0 entries that line 2 promises, got '1 1 1'"},
    {ARRAY "2 2\n1\n2\n3\n", "5: the file ends after 3 of the 4 entries that line 2 promises"},
    {ARRAY "2 1\n1\n2\n3\n",
     "5: expected the end of the file after the 2 entries that line 2 promises, got '3'"},
    {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
     "6: expected the end of the file after the 3 entries that line 2 promises, got '4'"},
    {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n",
     "4: the file ends after 2 of the 3 entries that line 2 promises"},
};

const Malformed malformed_complex[] = {
    {COMPLEX "1 1 1\n1 1 1\n", "3: expected a finite imaginary part, got nothing"},
    {COMPLEX "1 1 1\n1 1 1 nan\n", "3: expected a finite imaginary part, got 'nan'"},
    {COMPLEX "1 1 1\n1 1 (1,2)\n", "3: expected a finite number, got '(1,2)'"},
    {COMPLEX "1 1 1\n1 1 1 2 3\n", "3: expected the end of the line, got '3'"},
    {HERMITIAN "2 2 1\n2 2 1 1\n",
     "3: row 2, column 2 is complex, expected a real diagonal in a hermitian matrix"},
    {HERMITIAN "2 2 1\n1 2 1 1\n",
     "3: row 1, column 2 is above the diagonal, expected the lower triangle only, as the header "
     "says "
     "'hermitian'"},
    {"%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 2\n3 4\n",
     "5: row 2, column 2 is complex, expected a real diagonal in a hermitian matrix"},
};

template <class T>
void expect_sentence(const std::string& text, const std::string& sentence) {
  const ::Test::TemporaryFile file(text);
  for (const std::size_t chunk : {1, 7, 65536}) {
    try {
      Trikkos::Impl::read_csr<T>(file.path(), chunk);
      ADD_FAILURE() << "no exception for\n" << text;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), file.path() + ":" + sentence) << text << "\nchunk " << chunk;
    }
  }
}

}  // namespace

TEST(TEST_CATEGORY, matrix_market_malformed) {
  for (const auto& [text, sentence] : malformed_real) expect_sentence<double>(text, sentence);
  for (const auto& [text, sentence] : malformed_complex) {
    expect_sentence<Kokkos::complex<double>>(text, sentence);
  }
}

// Bytes that no literal can hold, and lines that are too long.
TEST(TEST_CATEGORY, matrix_market_malformed_bytes) {
  using namespace std::string_literals;
  expect_sentence<double>("\0\1\xff"s, HEADER_EXPECTED
                          "'?"
                          "?"
                          "?'");
  expect_sentence<double>(REAL "1 1 1\n1 1 1\0\n"s, "3: expected a finite number, got '1?'");
  expect_sentence<double>(REAL "1 1 1\n\0\n"s, "3: expected a row index, got '?'");
  const std::string longest(std::size_t(1) << 20, '7');
  const std::string too_long = "the line is longer than 1048576 characters, expected at most 1024";
  expect_sentence<double>(REAL "1 1 1\n1 1 7" + longest + "\n", "3: " + too_long);
  expect_sentence<double>(REAL "1 1 1\n% " + longest, "3: " + too_long);
  expect_sentence<double>("%%" + longest, "1: " + too_long);
  expect_sentence<double>(
      REAL "1 1 1\n1 1 " + longest.substr(5) + "\n",
      "3: the number '" + longest.substr(0, 40) + "...' is too large for double");
}

#undef REAL
#undef SYMMETRIC
#undef SKEW
#undef INTEGER
#undef PATTERN
#undef COMPLEX
#undef HERMITIAN
#undef ARRAY
#undef HEADER_EXPECTED
#undef THREE
#undef TWO
