// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MATRIXMARKETHEADER_HPP
#define TRIKKOS_IMPL_MATRIXMARKETHEADER_HPP

#include <Trikkos_MatrixMarketSymmetry.hpp>
#include <array>
#include <impl/Trikkos_LineWords.hpp>
#include <limits>

namespace Trikkos::Impl {

enum class MatrixMarketFormat { coordinate, array };
enum class MatrixMarketField { real, integer, complex, pattern };

// In the order of the enumerations.
inline constexpr std::array matrix_market_formats = {"coordinate", "array"};
inline constexpr std::array matrix_market_fields = {"real", "integer", "complex", "pattern"};

inline const char* name(MatrixMarketFormat format) {
  return matrix_market_formats[static_cast<std::size_t>(format)];
}
inline const char* name(MatrixMarketField field) {
  return matrix_market_fields[static_cast<std::size_t>(field)];
}

/// What the first line and the line of sizes say. What is wrong is a LineError.
struct MatrixMarketHeader {
  using Format = MatrixMarketFormat;
  using Field = MatrixMarketField;
  using Symmetry = MatrixMarketSymmetry;

  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0;  ///< that the file stores

  bool is_general() const { return symmetry == Symmetry::general; }

  void read_kind(LineWords line) {
    const std::string_view all = line.rest();
    if (!same(line.word(), "%%MatrixMarket") || !same(line.word(), "matrix")) {
      LineWords::fail_expected("a header such as '%%MatrixMarket matrix coordinate real general'",
                               all);
    }
    format = static_cast<Format>(choice(line, "coordinate or array", matrix_market_formats));
    field =
        static_cast<Field>(choice(line, "real, integer, complex or pattern", matrix_market_fields));
    constexpr std::array symmetries = {name(Symmetry::general), name(Symmetry::symmetric),
                                       name(Symmetry::skew_symmetric), name(Symmetry::hermitian)};
    symmetry = static_cast<Symmetry>(
        choice(line, "general, symmetric, skew-symmetric or hermitian", symmetries));
    line.expect_end();

    if ((symmetry == Symmetry::hermitian && field != Field::complex) ||
        (symmetry == Symmetry::skew_symmetric && field == Field::pattern)) {
      exclude(name(field), name(symmetry));
    }
    if (format == Format::array && field == Field::pattern) exclude(name(format), name(field));
  }

  std::string expected_size() const {
    return std::string("a line 'rows columns") +
           (format == Format::coordinate ? " entries' with three" : "' with two") +
           " integers that are not negative";
  }

  void read_size(LineWords line) {
    const std::string_view all = line.rest();
    const auto size = [&] {
      std::int64_t value = 0;
      if (!line.integer(value) || value < 0) LineWords::fail_expected(expected_size(), all);
      return value;
    };
    rows = size();
    columns = size();
    if (format == Format::coordinate) entries = size();
    if (!line.at_end()) LineWords::fail_expected(expected_size(), all);
    if (!is_general() && rows != columns) {
      throw LineError{"the matrix is " + std::to_string(rows) + " x " + std::to_string(columns) +
                      ", expected a square one, as the header says '" + name(symmetry) + "'"};
    }
    if (format == Format::array) entries = values_of_array();
  }

 private:
  // An array has all values, or those in the lower triangle, with or without the diagonal.
  std::int64_t values_of_array() const {
    if (columns != 0 && rows > std::numeric_limits<std::int64_t>::max() / columns) {
      throw LineError{"an array with " + std::to_string(rows) + " x " + std::to_string(columns) +
                      " values does not fit into 64 bits"};
    }
    if (is_general()) return rows * columns;
    const std::int64_t below = rows == 0 ? 0 : (rows * (rows - 1)) / 2;
    return symmetry == Symmetry::skew_symmetric ? below : below + rows;
  }

  template <class Names>
  static std::size_t choice(LineWords& line, const char* expected, const Names& names) {
    const std::string_view word = line.word();
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const char* known) { return same(word, known); });
    if (found == names.end()) LineWords::fail_expected(expected, word);
    return found - names.begin();
  }

  [[noreturn]] static void exclude(const char* a, const char* b) {
    throw LineError{std::string("'") + a + "' and '" + b + "' exclude each other"};
  }

  // Matrix Market's words may be written in upper or lower case.
  static bool same(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
  }
};

}  // namespace Trikkos::Impl

#endif
