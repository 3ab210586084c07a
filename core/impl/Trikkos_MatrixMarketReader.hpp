// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MATRIXMARKETREADER_HPP
#define TRIKKOS_IMPL_MATRIXMARKETREADER_HPP

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <impl/Trikkos_LineReader.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <limits>

namespace Trikkos::Impl {

enum class MatrixMarketContent { matrix, vector };
enum class MatrixMarketFormat { coordinate, array };
enum class MatrixMarketField { real, integer, complex, pattern };
enum class MatrixMarketSymmetry { general, symmetric, skew_symmetric, hermitian };

// In the order of the enumerations.
inline constexpr std::array matrix_market_formats = {"coordinate", "array"};
inline constexpr std::array matrix_market_fields = {"real", "integer", "complex", "pattern"};
inline constexpr std::array matrix_market_symmetries = {"general", "symmetric", "skew-symmetric",
                                                        "hermitian"};

inline const char* name(MatrixMarketField field) {
  return matrix_market_fields[static_cast<std::size_t>(field)];
}
inline const char* name(MatrixMarketSymmetry symmetry) {
  return matrix_market_symmetries[static_cast<std::size_t>(symmetry)];
}

/// A Matrix Market file of Ts: the constructor reads header and size, `for_each` the entries. It
/// holds a matrix (not of the format `array`) or a vector (not symmetric, one column).
template <class T>
class MatrixMarketReader {
 public:
  using Format = MatrixMarketFormat;
  using Field = MatrixMarketField;
  using Symmetry = MatrixMarketSymmetry;

  /// \throws std::runtime_error unless the file starts with a header and size line fit for Ts
  MatrixMarketReader(const std::string& path, MatrixMarketContent content) : m_lines(path) {
    const bool vector = content == MatrixMarketContent::vector;
    read_header();
    if (!vector && m_format == Format::array) {
      fail("a matrix of the format 'array' is dense, expected 'coordinate'");
    }
    if (vector && m_symmetry != Symmetry::general) {
      fail(std::string("a vector cannot be '") + name(m_symmetry) + "', expected 'general'");
    }
    read_size();
    if (vector && m_columns != 1) {
      fail("there are " + std::to_string(m_columns) + " columns, expected a vector, one column");
    }
  }

  Format format() const { return m_format; }
  Symmetry symmetry() const { return m_symmetry; }
  std::int64_t rows() const { return m_rows; }
  std::int64_t columns() const { return m_columns; }
  /// The size of the file, -1 where it is no regular file.
  std::int64_t bytes() const { return m_lines.bytes(); }

  /// Calls f(row, column, value) for the stored entries in the order of the file, counting from 0.
  template <class Function>
  void for_each(Function&& f) {
    const std::string promised = std::to_string(m_entries) + " entries that line " +
                                 std::to_string(m_lines.number()) + " promises";
    for (std::int64_t entry = 0; entry < m_entries; ++entry) {
      if (!m_lines.next_content()) {
        fail("the file ends after " + std::to_string(entry) + " of the " + promised);
      }
      std::int64_t row = entry, column = 0;
      if (m_format == Format::coordinate) {
        row = index("row", m_rows);
        column = index("column", m_columns);
        check_symmetry(row, column);
      }
      const T value = number();
      expect_end_of_line();
      if constexpr (is_complex_v<T>) {
        if (m_symmetry == Symmetry::hermitian && row == column && value.imag() != 0) {
          fail(place(row, column) + " is complex, expected a real diagonal in a hermitian matrix");
        }
      }
      f(row, column, value);
    }
    if (m_lines.next_content()) {
      m_lines.fail_expected("the end of the file after the " + promised, m_lines.rest());
    }
  }

  /// "row 3, column 4" as the file counts.
  static std::string place(std::int64_t row, std::int64_t column) {
    return "row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1);
  }

  /// \throws std::runtime_error `FILE:LINE: what`
  [[noreturn]] void fail(const std::string& what) const { m_lines.fail(what); }

 private:
  using Real = typename RealOf<T>::type;

  void read_header() {
    constexpr const char* banner = "%%MatrixMarket matrix";
    const bool any = m_lines.next();
    if (any && m_lines.rest().starts_with("\x1f\x8b")) {
      fail("the file is compressed, expected text; unpack it with gunzip");
    }
    const std::string_view line = m_lines.rest();
    if (!same(m_lines.word(), "%%MatrixMarket") || !same(m_lines.word(), "matrix")) {
      m_lines.fail_expected(
          "a header such as '" + std::string(banner) + " coordinate real general'", line);
    }
    m_format = static_cast<Format>(choice("coordinate or array", matrix_market_formats));
    m_field = static_cast<Field>(choice("real, integer, complex or pattern", matrix_market_fields));
    m_symmetry = static_cast<Symmetry>(
        choice("general, symmetric, skew-symmetric or hermitian", matrix_market_symmetries));
    expect_end_of_line();

    if (m_field == Field::complex && !is_complex_v<T>) {
      fail("the numbers are complex, expected real ones");
    }
    if ((m_symmetry == Symmetry::hermitian && m_field != Field::complex) ||
        (m_symmetry == Symmetry::skew_symmetric && m_field == Field::pattern)) {
      fail(std::string("'") + name(m_field) + "' and '" + name(m_symmetry) +
           "' exclude each other");
    }
    if (m_format == Format::array && m_field == Field::pattern) {
      fail("'array' and 'pattern' exclude each other");
    }
  }

  void read_size() {
    const bool coordinate = m_format == Format::coordinate;
    const std::string expected = std::string("a line 'rows columns") +
                                 (coordinate ? " entries' with three" : "' with two") +
                                 " integers that are not negative";
    if (!m_lines.next_content()) {
      fail("the file ends before its size, expected " + expected);
    }
    const std::string_view line = m_lines.rest();
    const auto size = [&] {
      std::int64_t value = 0;
      if (!parse_integer(m_lines.word(), value) || value < 0) {
        m_lines.fail_expected(expected, line);
      }
      return value;
    };
    m_rows = size();
    m_columns = size();
    if (coordinate) {
      m_entries = size();
    } else if (m_columns != 0 && m_rows > std::numeric_limits<std::int64_t>::max() / m_columns) {
      fail("an array with " + std::to_string(m_rows) + " x " + std::to_string(m_columns) +
           " values does not fit into 64 bits");
    } else {
      m_entries = m_rows * m_columns;
    }
    if (!m_lines.rest().empty()) m_lines.fail_expected(expected, line);
  }

  void check_symmetry(std::int64_t row, std::int64_t column) const {
    if (m_symmetry == Symmetry::general || row > column) return;
    if (row < column) {
      fail(place(row, column) +
           " is above the diagonal, expected the lower triangle only, as the "
           "header says '" +
           name(m_symmetry) + "'");
    }
    if (m_symmetry == Symmetry::skew_symmetric) {
      fail(place(row, column) +
           " is on the diagonal, expected entries below it only, as the header says "
           "'skew-symmetric'");
    }
  }

  std::int64_t index(const char* what, std::int64_t size) {
    const std::string_view word = m_lines.word();
    std::int64_t value = 0;
    if (!parse_integer(word, value)) {
      m_lines.fail_expected(std::string("a ") + what + " index", word);
    }
    if (value < 1 || value > size) {
      fail(std::string("the ") + what + " index " + std::to_string(value) +
           " is out of range, expected 1 to " + std::to_string(size));
    }
    return value - 1;
  }

  T number() {
    if (m_field == Field::pattern) return T(1);
    if (m_field == Field::integer) {
      const std::string_view word = m_lines.word();
      std::int64_t value = 0;
      if (!parse_integer(word, value)) m_lines.fail_expected("an integer", word);
      return T(static_cast<Real>(value));
    }
    const Real real = real_number("a finite number");
    if constexpr (is_complex_v<T>) {
      if (m_field == Field::complex) return T(real, real_number("a finite imaginary part"));
    }
    return T(real);
  }

  Real real_number(const char* expected) {
    const std::string_view word = m_lines.word();
    std::string_view digits = word;
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    // from_chars also reads "inf" and "nan", with a sign that must not follow another one.
    const std::size_t first =
        !digits.empty() && digits.size() == word.size() && digits.front() == '-';
    const bool numeric = digits.size() > first && (is_digit(digits[first]) || digits[first] == '.');
    Real value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = numeric ? std::from_chars(digits.data(), end, value)
                                       : std::from_chars_result{nullptr, std::errc{}};
    if (rest != end || error == std::errc::invalid_argument) m_lines.fail_expected(expected, word);
    if (error == std::errc::result_out_of_range) value = out_of_range(word);
    return value;
  }

  // from_chars calls numbers too large and too small alike: only the large ones are wrong.
  Real out_of_range(std::string_view word) const {
    const std::string text(word);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size() ||
        !(std::abs(value) <= std::numeric_limits<Real>::max())) {
      fail("the number " + quoted(word) + " is too large for " +
           (std::is_same_v<Real, float> ? "float" : "double"));
    }
    return static_cast<Real>(value);
  }

  bool parse_integer(std::string_view word, std::int64_t& value) const {
    std::string_view digits = word;
    if (digits.size() > 1 && digits[0] == '+' && is_digit(digits[1])) digits.remove_prefix(1);
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range && rest == end) {
      fail("the integer " + quoted(word) + " does not fit into 64 bits");
    }
    return error == std::errc{} && rest == end;
  }

  template <class Names>
  std::size_t choice(const char* expected, const Names& names) {
    const std::string_view word = m_lines.word();
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const char* known) { return same(word, known); });
    if (found == names.end()) m_lines.fail_expected(expected, word);
    return found - names.begin();
  }

  void expect_end_of_line() const {
    if (!m_lines.rest().empty()) m_lines.fail_expected("the end of the line", m_lines.rest());
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // Matrix Market's words may be written in upper or lower case.
  static bool same(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
  }

  LineReader m_lines;
  Format m_format = Format::coordinate;
  Field m_field = Field::real;
  Symmetry m_symmetry = Symmetry::general;
  std::int64_t m_rows = 0, m_columns = 0, m_entries = 0;
};

}  // namespace Trikkos::Impl

#endif
