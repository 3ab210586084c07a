// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_PLOT_HPP
#define TRIKKOS_EXAMPLES_PLOT_HPP

#include <algorithm>
#include <cmath>
#include <common/Picture.hpp>
#include <vector>

namespace Example {

/// A curve of positive numbers on a logarithmic scale, over a red line for each power of ten.
inline Picture logarithmic_plot(const std::vector<double>& values) {
  constexpr int width = 600, height = 300;
  std::vector<double> logs;
  for (const double v : values)
    if (v > 0 && std::isfinite(v)) logs.push_back(std::log10(v));
  Picture picture(0, 1);
  if (logs.empty()) return picture;
  const auto [least, largest] = std::minmax_element(logs.begin(), logs.end());
  const double bottom = std::floor(*least), top = std::max(std::ceil(*largest), bottom + 1);
  const auto row_of = [&](double log) {
    return static_cast<int>(std::lround((top - log) / (top - bottom) * (height - 1)));
  };
  std::vector<std::vector<double>> lines(height, std::vector<double>(width));
  for (double power = bottom; power <= top; ++power)
    std::fill(lines[row_of(power)].begin(), lines[row_of(power)].end(), 1. / 3);
  int before = row_of(logs.front());
  for (int column = 0; column < width; ++column) {
    const double at =
        static_cast<double>(column) / (width - 1) * static_cast<double>(logs.size() - 1);
    const auto left = static_cast<std::size_t>(at);
    const double part = at - static_cast<double>(left);
    const double log = (1 - part) * logs[left] + part * logs[std::min(left + 1, logs.size() - 1)];
    const int row = row_of(log);
    for (int k = std::min(row, before); k <= std::max(row, before); ++k) lines[k][column] = 1;
    before = row;
  }
  for (auto& line : lines) picture.add(std::move(line));
  return picture;
}

}  // namespace Example

#endif
