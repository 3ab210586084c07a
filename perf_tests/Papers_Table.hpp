// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_TABLE_HPP
#define TRIKKOS_PAPERS_TABLE_HPP

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Tables in Markdown, and what stands in their cells.

namespace Papers {

using Cells = std::vector<std::string>;

/// The first columns are text, the others numbers.
class Table {
 public:
  explicit Table(Cells head, std::size_t text_columns = 1)
      : m_text_columns(text_columns), m_rows{std::move(head)} {}

  void add(Cells row) { m_rows.push_back(std::move(row)); }

  void print() const {
    std::vector<std::size_t> width(m_rows.front().size(), 3);
    for (const Cells& row : m_rows)
      for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], row[k].size());
    const auto pad = [](std::size_t n, char c) { return std::string(n, c); };
    std::string text;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
      for (std::size_t k = 0; k < width.size(); ++k) {
        const std::string& cell = m_rows[i][k];
        const std::string gap = pad(width[k] - cell.size(), ' ');
        text += "| ";
        text += k < m_text_columns ? cell + gap : gap + cell;
        text += ' ';
      }
      text += "|\n";
      if (i > 0) continue;
      for (std::size_t k = 0; k < width.size(); ++k) {
        text += '|';
        text += pad(width[k] + 1, '-');
        text += k < m_text_columns ? '-' : ':';
      }
      text += "|\n";
    }
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }

 private:
  std::size_t m_text_columns;
  std::vector<Cells> m_rows;
};

inline std::string number(const char* format, double v) {
  if (v != v) return "nan";  // not "-nan"
  char text[40];
  std::snprintf(text, sizeof text, format, v);
  return text;
}
inline std::string error(double v) { return number("%.1e", v); }
inline std::string milliseconds(double seconds) { return number("%.4g", seconds * 1e3); }
inline std::string factor(double v) { return v == v ? number("%.2f", v) : ""; }

}  // namespace Papers

#endif
