// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_PICTURE_HPP
#define TRIKKOS_EXAMPLES_PICTURE_HPP

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace Example {

/// Lines of an image: low is black, then red, yellow, and high white.
class Picture {
 public:
  Picture(double low, double high) : m_low(low), m_high(high) {}

  void add(std::vector<double> line) { m_lines.push_back(std::move(line)); }

  /// As a portable pixmap. \throws std::runtime_error if it cannot be written
  void write(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file << "P6\n"
         << (m_lines.empty() ? 0 : m_lines.front().size()) << ' ' << m_lines.size() << "\n255\n";
    for (const auto& line : m_lines)
      for (const double v : line)
        for (const double from : {0., 1. / 3, 2. / 3}) {
          const double part = 3 * ((v - m_low) / (m_high - m_low) - from);
          file.put(static_cast<char>(std::clamp(part, 0., 1.) * 255));
        }
    if (!file.flush()) throw std::runtime_error("--picture: cannot write " + path);
  }

 private:
  double m_low, m_high;
  std::vector<std::vector<double>> m_lines;
};

}  // namespace Example

#endif
