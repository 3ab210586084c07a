// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TRIANGULAROPTIONS_HPP
#define TRIKKOS_TRIANGULAROPTIONS_HPP

#include <Trikkos_Options.hpp>

namespace Trikkos {

/// In what order, and by whom, the rows of a sparse triangle are solved. The result is the same
/// number, bit by bit, for all of them on one execution space.
enum class TriangularAlgorithm {
  automatic,      ///< what `choose_triangular_algorithm` chooses
  serial,         ///< one thread, row after row
  level_set,      ///< Naumov 2011: rows without mutual dependencies make a level; a launch for each
                  ///< level, and one for a chain of thin ones
  sync_free,      ///< one launch; a row waits for the values that it needs, in global memory
  blocked,        ///< the same, but values of neighbouring rows stay in scratch; `sync_free` where
                  ///< those of 256 rows and what they need do not fit
  point_to_point  ///< hosts only, Park et al. 2014: one launch; threads wait for each other's
                  ///< progress, which they look at once for a level, or for many thin ones
};

/// All of them, for loops.
inline constexpr TriangularAlgorithm triangular_algorithms[] = {
    TriangularAlgorithm::automatic, TriangularAlgorithm::serial,
    TriangularAlgorithm::level_set, TriangularAlgorithm::sync_free,
    TriangularAlgorithm::blocked,   TriangularAlgorithm::point_to_point};

constexpr const char* name(TriangularAlgorithm algorithm) {
  switch (algorithm) {
    case TriangularAlgorithm::automatic:
      return "automatic";
    case TriangularAlgorithm::serial:
      return "serial";
    case TriangularAlgorithm::level_set:
      return "level_set";
    case TriangularAlgorithm::sync_free:
      return "sync_free";
    case TriangularAlgorithm::blocked:
      return "blocked";
    case TriangularAlgorithm::point_to_point:
      return "point_to_point";
  }
  return "unknown";
}

/// The algorithm of that name, as on a command line.
/// \throws std::invalid_argument for any other name
inline TriangularAlgorithm triangular_algorithm_from_name(std::string_view wanted) {
  std::string names;
  for (const TriangularAlgorithm algorithm : triangular_algorithms) {
    if (wanted == name(algorithm)) return algorithm;
    names += std::string(names.empty() ? "" : ", ") + name(algorithm);
  }
  throw std::invalid_argument("Trikkos::triangular_algorithm_from_name: name is '" +
                              std::string(wanted) + "', expected one of " + names);
}

/// How to solve with a sparse triangle. Setters chain:
///
///   TriangularOptions{}.transpose(Transpose::transpose).rhs_count(4)
class TriangularOptions {
 public:
  constexpr TriangularOptions& algorithm(TriangularAlgorithm a) {
    m_algorithm = a;
    return *this;
  }
  constexpr TriangularAlgorithm algorithm() const { return m_algorithm; }

  /// Solve with A, its transpose or its conjugate transpose. The plan keeps the rows of that
  /// matrix, so a solve costs the same.
  constexpr TriangularOptions& transpose(Transpose t) {
    m_transpose = t;
    return *this;
  }
  constexpr Transpose transpose() const { return m_transpose; }

  /// Right-hand sides that are solved at a time; more of them are solved one portion after the
  /// other. `sync_free`, `blocked`, and every algorithm on a device, take memory for each: one
  /// value a row, two with `sync_free` and `blocked`, three with `sync_free` of large ones on a
  /// device
  /// (`sync_free` for up to twice as many: for a power of two up to 32, or for whole groups of 32).
  /// A plan for many is slower with few; `automatic` chooses by it, too.
  constexpr TriangularOptions& rhs_count(std::int64_t count) {
    m_rhs_count = count;
    return *this;
  }
  constexpr std::int64_t rhs_count() const { return m_rhs_count; }

 private:
  TriangularAlgorithm m_algorithm = TriangularAlgorithm::automatic;
  Transpose m_transpose = Transpose::none;
  std::int64_t m_rhs_count = 1;
};

}  // namespace Trikkos

#endif
