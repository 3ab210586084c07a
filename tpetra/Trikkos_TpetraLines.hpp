// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TPETRALINES_HPP
#define TRIKKOS_TPETRALINES_HPP

#include <cstdint>
#include <vector>

namespace Trikkos {

/// The rows of a rank as the points of a grid, whose lines along one axis are systems:
///
///   Trikkos::TpetraLines{{ny, nx}, 1}   // row y nx + x of the vector; lines along x
///
/// A line has all its points on one rank.
struct TpetraLines {
  std::vector<std::int64_t> extents;  ///< of this rank's grid, the last index fastest
  int axis = 0;                       ///< of the lines: 0 to extents.size() - 1

  /// Points of a line.
  std::int64_t length() const { return extents[axis]; }
  /// Points in the axes before that of the lines.
  std::int64_t before() const { return product(0, axis); }
  /// Points in the axes after it: the distance of neighbours in a line.
  std::int64_t after() const { return product(axis + 1, static_cast<int>(extents.size())); }
  std::int64_t count() const { return before() * after(); }

 private:
  std::int64_t product(int from, int to) const {
    std::int64_t points = 1;
    for (int k = from; k < to; ++k) points *= extents[k];
    return points;
  }
};

}  // namespace Trikkos

#endif
