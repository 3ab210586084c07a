// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_ALGORITHM_HPP
#define TRIKKOS_ALGORITHM_HPP

#include <Kokkos_Macros.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace Trikkos {

enum class Algorithm {
  automatic,  ///< what `choose_algorithm` chooses
  segmented,  ///< partitions reduced to two rows each by rotations; stable for every matrix
  truncated,  ///< for diagonally dominant matrices: overlapping windows are solved in one pass, and
              ///< `segmented` solves where too much was neglected; stable for every matrix
  spike,      ///< SPIKE: partitions solved by themselves, pivoting within them (see `Pivoting`)
  pcr,        ///< parallel cyclic reduction, no pivoting; for diagonally dominant matrices
  thomas,     ///< no pivoting, one thread, on a device some for each of many systems; for
              ///< diagonally dominant matrices
  factored    ///< for many right-hand sides: a Plan's one matrix is factored once, without
              ///< pivoting; where its factors do not promise a stable solution, `segmented` solves
};

/// The choice behind `Algorithm::automatic` in a kernel, and in most calls: the fastest algorithm
/// that is stable for every nonsingular matrix, which is `segmented` at every size. At n = 1000 it
/// beats one thread's LAPACK with warm caches only (perf_tests/README.md).
///
/// Calls know more than n. There one tridiagonal system of 2^16 rows and more whose x is not b is
/// solved by `truncated` if rows that are looked at suggest that windows will agree; on a device
/// real ones of 4096 to some 190 000 rows (400 000 in single precision) without a look, as the
/// windows leave what `segmented` goes on with where they do not; and so is on a device each of
/// many contiguous systems of a matrix each, 2^23 rows and more in all, that a team's scratch does
/// not hold. A Plan of one matrix takes `factored` where it fits on chip; and on a device
/// contiguous systems that a team's scratch holds are tried without pivoting first: of 2^19 rows in
/// all tridiagonal ones that look dominant, and pentadiagonal ones where they are thousands;
/// interleaved tridiagonal ones of 32 rows and more, too.
KOKKOS_INLINE_FUNCTION constexpr Algorithm choose_algorithm(std::int64_t /*n*/) {
  return Algorithm::segmented;
}

/// All of them, for loops.
inline constexpr Algorithm algorithms[] = {
    Algorithm::automatic, Algorithm::segmented, Algorithm::truncated, Algorithm::spike,
    Algorithm::pcr,       Algorithm::thomas,    Algorithm::factored};

constexpr const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "automatic";
    case Algorithm::segmented:
      return "segmented";
    case Algorithm::truncated:
      return "truncated";
    case Algorithm::spike:
      return "spike";
    case Algorithm::pcr:
      return "pcr";
    case Algorithm::thomas:
      return "thomas";
    case Algorithm::factored:
      return "factored";
  }
  return "unknown";
}

/// The algorithm of that name, as on a command line.
/// \throws std::invalid_argument for any other name
inline Algorithm algorithm_from_name(std::string_view wanted) {
  std::string names;
  for (const Algorithm algorithm : algorithms) {
    if (wanted == name(algorithm)) return algorithm;
    names += std::string(names.empty() ? "" : ", ") + name(algorithm);
  }
  throw std::invalid_argument("Trikkos::algorithm_from_name: name is '" + std::string(wanted) +
                              "', expected one of " + names);
}

}  // namespace Trikkos

#endif
