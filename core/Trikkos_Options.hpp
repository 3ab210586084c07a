// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_OPTIONS_HPP
#define TRIKKOS_OPTIONS_HPP

#include <cstdint>

namespace Trikkos {

enum class Algorithm {
  automatic,  ///< the choice is made by `choose_algorithm` (Trikkos_Workspace.hpp)
  segmented,  ///< partitions reduced to two rows each, row pivoting across partition edges; stable
  thomas      ///< one thread, no pivoting; for diagonally dominant matrices
};

constexpr const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "automatic";
    case Algorithm::segmented:
      return "segmented";
    case Algorithm::thomas:
      return "thomas";
  }
  return "unknown";
}

/// Solve with A, its transpose or its conjugate transpose (LAPACK's 'N', 'T', 'C').
enum class Transpose { none, transpose, conjugate_transpose };

/// How to solve. Setters chain: `Options{}.algorithm(Algorithm::segmented).partition_size(64)`.
/// Values are checked where an Options meets a matrix; see the errors of `solve`.
class Options {
 public:
  constexpr Options& algorithm(Algorithm a) {
    m_algorithm = a;
    return *this;
  }
  constexpr Algorithm algorithm() const { return m_algorithm; }

  /// Rows in a partition, at least 2; 0 lets the algorithm choose. The last partition may be short.
  /// `segmented` divides partitions of more than 66 rows evenly into shorter ones, for accuracy.
  constexpr Options& partition_size(std::int64_t rows) {
    m_partition_size = rows;
    return *this;
  }
  constexpr std::int64_t partition_size() const { return m_partition_size; }

  constexpr Options& transpose(Transpose t) {
    m_transpose = t;
    return *this;
  }
  constexpr Transpose transpose() const { return m_transpose; }

  /// Lets every solve compute its own normwise backward error (see `backward_error`) and flag the
  /// Status as `inaccurate` where it exceeds `tolerance` or is not a number. Reads A, x and b twice
  /// and copies b, 96 bytes an unknown in double; still asynchronous. 0 switches it off.
  constexpr Options& verify(double tolerance) {
    m_verify = tolerance;
    return *this;
  }
  constexpr double verify() const { return m_verify; }

 private:
  Algorithm m_algorithm = Algorithm::automatic;
  std::int64_t m_partition_size = 0;
  Transpose m_transpose = Transpose::none;
  double m_verify = 0;
};

}  // namespace Trikkos

#endif
