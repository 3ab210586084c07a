// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MATRIXMARKETCHUNK_HPP
#define TRIKKOS_IMPL_MATRIXMARKETCHUNK_HPP

#include <exception>
#include <impl/Trikkos_MatrixMarketHeader.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <impl/Trikkos_TextBlocks.hpp>
#include <vector>

/// \file
/// The entries of some lines of a Matrix Market file: what one thread parses at a time.

namespace Trikkos::Impl {

/// "row 3, column 4" as the file counts.
inline std::string place_in_file(std::int64_t row, std::int64_t column) {
  return "row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1);
}

/// \throws LineError for a line that is cut off, too
inline void check_length(std::string_view line) {
  if (line.size() > TextBlocks::longest_line) {
    throw LineError{"the line is longer than " + std::to_string(TextBlocks::longest_line) +
                    " characters, expected at most 1024"};
  }
}

template <class T>
T parse_value(LineWords& line, MatrixMarketField field) {
  if (field == MatrixMarketField::pattern) return T(1);
  if (field == MatrixMarketField::integer) {
    std::int64_t value = 0;
    if (!line.integer(value)) line.fail_expected("an integer");
    return T(static_cast<Real<T>>(value));
  }
  const auto real = line.number<Real<T>>("a finite number");
  if constexpr (is_complex_v<T>) {
    if (field == MatrixMarketField::complex) {
      return T(real, line.number<Real<T>>("a finite imaginary part"));
    }
  }
  return T(real);
}

/// What may not stand at a place of a matrix of that symmetry.
/// \throws LineError
template <class T>
void check_place(MatrixMarketSymmetry symmetry, std::int64_t row, std::int64_t column,
                 const T& value) {
  if (symmetry == MatrixMarketSymmetry::general || row > column) return;
  if (row < column) {
    throw LineError{place_in_file(row, column) +
                    " is above the diagonal, expected the lower triangle only, as the header says "
                    "'" +
                    name(symmetry) + "'"};
  }
  if (symmetry == MatrixMarketSymmetry::skew_symmetric) {
    throw LineError{place_in_file(row, column) +
                    " is on the diagonal, expected entries below it only, as the header says "
                    "'skew-symmetric'"};
  }
  if constexpr (is_complex_v<T>) {
    if (symmetry == MatrixMarketSymmetry::hermitian && value.imag() != 0) {
      throw LineError{place_in_file(row, column) +
                      " is complex, expected a real diagonal in a hermitian matrix"};
    }
  }
}

template <class T>
struct MatrixMarketEntry {
  std::int64_t line;         ///< within the chunk
  std::int64_t row, column;  ///< only in files that state them
  T value;
};

template <class T>
struct MatrixMarketChunk {
  std::string_view text;
  std::vector<MatrixMarketEntry<T>> entries;
  std::int64_t lines = 0;        ///< those that were read
  std::string wrong;             ///< with the last of them
  std::exception_ptr no_memory;  ///< or whatever else stopped it

  /// Parses the text up to its end or the first bad line. Lets no exception out, which threads must
  /// not.
  void parse(const MatrixMarketHeader& header) {
    entries.clear();
    lines = 0;
    wrong.clear();
    try {
      for (std::string_view rest = text; !rest.empty();) {
        ++lines;
        parse_line(take_line(rest), header);
      }
    } catch (const LineError& error) {
      wrong = error.what;
    } catch (...) {
      no_memory = std::current_exception();
    }
  }

 private:
  void parse_line(std::string_view characters, const MatrixMarketHeader& header) {
    check_length(characters);
    LineWords line(characters);
    if (line.no_content()) return;
    MatrixMarketEntry<T> entry{lines, 0, 0, T(0)};
    if (header.format == MatrixMarketFormat::coordinate) {
      entry.row = line.index("row", header.rows);
      entry.column = line.index("column", header.columns);
    }
    entry.value = parse_value<T>(line, header.field);
    line.expect_end();
    if (header.format == MatrixMarketFormat::coordinate) {
      check_place(header.symmetry, entry.row, entry.column, entry.value);
    }
    entries.push_back(entry);
  }
};

}  // namespace Trikkos::Impl

#endif
