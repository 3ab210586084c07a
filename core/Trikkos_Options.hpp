// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_OPTIONS_HPP
#define TRIKKOS_OPTIONS_HPP

#include <Kokkos_Macros.hpp>
#include <Trikkos_Algorithm.hpp>
#include <cstdint>

namespace Trikkos {

/// Solve with A, its transpose or its conjugate transpose (LAPACK's 'N', 'T', 'C').
enum class Transpose { none, transpose, conjugate_transpose };

/// Pivoting within the partitions of `Algorithm::spike`.
enum class Pivoting {
  diagonal,  ///< 1x1 and 2x2 blocks (Erway, Marcia, Tyson 2010), as the SC'12 paper; stable as long
             ///< as no partition is singular by itself
  none       ///< the Thomas algorithm; for diagonally dominant matrices
};

/// How the rows of partitions reach the device threads of `Algorithm::spike`. On a host, SIMD lanes
/// gather them and this does not matter.
enum class Marshaling {
  automatic,  ///< `on_chip` for short partitions (about 20 rows in double), else `global`
  on_chip,    ///< staged in team scratch by coalesced loads; for partitions of at most 66 rows
  global,     ///< transposed in device memory by passes of their own (SC'12, section III-A)
  none        ///< read where they are: neighbouring threads are a partition apart in memory
};

/// Options of `Algorithm::spike` alone.
struct SpikeOptions {
  Pivoting pivoting = Pivoting::diagonal;
  Marshaling marshaling = Marshaling::automatic;  ///< on a device only
  /// `Pivoting::diagonal` on a device only. 0: the threads of a team take one row a step and so
  /// stay together. Otherwise a step takes a pivot block of one or two rows, so that threads drift
  /// apart, until they wait for each other every so many rows (SC'12, section III-B: dynamic
  /// tiling). As many rows as a partition has, or more: no waiting.
  std::int64_t dynamic_tiling = 0;

  bool operator==(const SpikeOptions&) const = default;
};

/// Options of `Algorithm::truncated` alone.
struct TruncatedOptions {
  static constexpr std::int64_t most_overlap = 128;

  /// Rows that a window shares with the next one, and does not keep, at either end: more of them
  /// for less dominant matrices. What is neglected shrinks by a factor of at most 1 / (d + sqrt(d^2
  /// - 1)) from row to row, d = |a_ii| / (|a_i,i-1| + |a_i,i+1|), where off-diagonal entries are
  /// equal. A multiple of 4 at most `most_overlap`; others are rounded up. 0: 48 in double (enough
  /// for d = 1.31), 24 in single precision. A device takes the next of 30, 60, 120 and 240
  /// rows, of float 92, 184 and 368, of complex double precision 15 to 120; for one real system of
  /// few windows (solvers/README.md), if this is 0, 120 rows, of float 184.
  std::int64_t overlap = 0;

  bool operator==(const TruncatedOptions&) const = default;
};

/// Options of `Algorithm::pcr` alone.
struct PcrOptions {
  /// Steps of parallel cyclic reduction, each of which doubles the number of independent systems;
  /// each of those is then solved by one thread (PCR-Thomas). 0: as many as there are threads for;
  /// systems that do not fit into team scratch are first halved by cyclic reduction until they do
  /// (CR-PCR).
  int reduction_steps = 0;

  bool operator==(const PcrOptions&) const = default;
};

/// How `Algorithm::thomas` treats the corners of a periodic matrix, W rows and columns each for W
/// diagonals on either side.
enum class Corners {
  bordered,  ///< the last W rows and columns are carried along
  /// They are taken out as a matrix of rank W, and x is corrected for it (Gloster et al. 2019,
  /// equations 12 to 15; Woodbury where W = 2). Where the correction may cancel digits the Status
  /// says `unstable`. Another pass over x: with a Plan 48 bytes an unknown in double, `bordered`
  /// 32.
  sherman_morrison
};

constexpr const char* name(Corners corners) {
  return corners == Corners::bordered ? "bordered" : "sherman_morrison";
}

/// Options of `Algorithm::thomas` alone.
struct ThomasOptions {
  Corners corners = Corners::bordered;  ///< of periodic matrices; others have none

  bool operator==(const ThomasOptions&) const = default;
};

/// Scaling by powers of two, which rounds nothing. Residuals are those of the matrix as given.
enum class Scaling {
  rows,     ///< `segmented` and `spike` scale each row as they read it, at no extra memory traffic:
            ///< rows may differ in size by any factor, each then has a small backward error by
            ///< itself. The other algorithms have no use for it. Columns that differ by 10^8 and
            ///< more (unknowns of mixed units) cost small unknowns digits; `refine(2)` gives them
            ///< back up to about 10^+-8
  columns,  ///< for unknowns of very different size, 10^+-140 too, and rows that do not differ as
            ///< much: each column of op(A) is scaled in a copy, rows are not. Takes 4 words a row
            ///< of memory, and 56 bytes a row and 24 an unknown more traffic in double
  none  ///< for matrices whose rows and columns are of one size; a few operations less on a host
};

constexpr const char* name(Scaling scaling) {
  switch (scaling) {
    case Scaling::rows:
      return "rows";
    case Scaling::columns:
      return "columns";
    case Scaling::none:
      return "none";
  }
  return "unknown";
}

/// How to solve. Setters chain: `Options{}.algorithm(Algorithm::segmented).partition_size(64)`.
/// Values are checked where an Options meets a matrix; see the errors of `solve`. What the
/// algorithm does not know is an error, not ignored.
class Options {
 public:
  /// Options of another algorithm that were given before are an error then.
  KOKKOS_FUNCTION constexpr Options& algorithm(Algorithm a) {
    m_algorithm = a;
    return *this;
  }
  KOKKOS_FUNCTION constexpr Algorithm algorithm() const { return m_algorithm; }

  /// Rows in a partition of `segmented` or `spike`, at least 2; 0 lets the algorithm choose. The
  /// last partition may be short. `segmented` divides partitions of more than 66 rows evenly into
  /// shorter ones, for accuracy; in the tiles of a device it takes the next odd number, and no more
  /// rows than by default.
  KOKKOS_FUNCTION constexpr Options& partition_size(std::int64_t rows) {
    m_partition_size = rows;
    return *this;
  }
  KOKKOS_FUNCTION constexpr std::int64_t partition_size() const { return m_partition_size; }

  KOKKOS_FUNCTION constexpr Options& transpose(Transpose t) {
    m_transpose = t;
    return *this;
  }
  KOKKOS_FUNCTION constexpr Transpose transpose() const { return m_transpose; }

  /// Inside a kernel `columns` is `none`: there is no memory for a scaled copy of the matrix.
  KOKKOS_FUNCTION constexpr Options& scaling(Scaling s) {
    m_scaling = s;
    return *this;
  }
  KOKKOS_FUNCTION constexpr Scaling scaling() const { return m_scaling; }

  /// Lets every solve compute its own normwise backward error (see `backward_error`) and flag the
  /// Status as `inaccurate` where it exceeds `tolerance`, or 45 units in the last place (1e-14 in
  /// double) where that is less, or is not a number. Reads A, x and b twice and copies b, 96 bytes
  /// an unknown in double; still asynchronous. 0 switches it off.
  KOKKOS_FUNCTION constexpr Options& verify(double tolerance) {
    m_verify = tolerance;
    return *this;
  }
  KOKKOS_FUNCTION constexpr double verify() const { return m_verify; }

  /// Steps of iterative refinement after the solve: x + d with A d = b - A x, the residual in
  /// twice the working precision. A step is kept only where it makes the backward error smaller,
  /// for each right-hand side by itself; once that error is at rounding (epsilon), only where it
  /// stays there and the largest error of a single row, |b - A x| / (|A| |x| + |b|) in it, gets
  /// smaller. So refinement does no harm, and 2 steps give small unknowns of badly scaled columns
  /// their digits. A Status is then never ok with a backward error above 45 units in the last place
  /// (1e-14 in double). A first step costs another solve and about 180 bytes an unknown in double
  /// (the check of `verify` is included), each further one a solve and 120 bytes. 0: none.
  KOKKOS_FUNCTION constexpr Options& refine(int steps) {
    m_refine = steps;
    return *this;
  }
  KOKKOS_FUNCTION constexpr int refine() const { return m_refine; }

  /// Chooses `Algorithm::spike`, with options: `Options{}.spike({.pivoting = Pivoting::none})`.
  KOKKOS_FUNCTION constexpr Options& spike(const SpikeOptions& o) {
    m_algorithm = Algorithm::spike;
    m_spike = o;
    return *this;
  }
  KOKKOS_FUNCTION constexpr const SpikeOptions& spike() const { return m_spike; }

  /// Chooses `Algorithm::truncated`, with options.
  KOKKOS_FUNCTION constexpr Options& truncated(const TruncatedOptions& o) {
    m_algorithm = Algorithm::truncated;
    m_truncated = o;
    return *this;
  }
  KOKKOS_FUNCTION constexpr const TruncatedOptions& truncated() const { return m_truncated; }

  /// Chooses `Algorithm::pcr`, with options.
  KOKKOS_FUNCTION constexpr Options& pcr(const PcrOptions& o) {
    m_algorithm = Algorithm::pcr;
    m_pcr = o;
    return *this;
  }
  KOKKOS_FUNCTION constexpr const PcrOptions& pcr() const { return m_pcr; }

  /// Chooses `Algorithm::thomas`, with options.
  KOKKOS_FUNCTION constexpr Options& thomas(const ThomasOptions& o) {
    m_algorithm = Algorithm::thomas;
    m_thomas = o;
    return *this;
  }
  KOKKOS_FUNCTION constexpr const ThomasOptions& thomas() const { return m_thomas; }

 private:
  Algorithm m_algorithm = Algorithm::automatic;
  std::int64_t m_partition_size = 0;
  Transpose m_transpose = Transpose::none;
  Scaling m_scaling = Scaling::rows;
  int m_refine = 0;
  double m_verify = 0;
  SpikeOptions m_spike;
  TruncatedOptions m_truncated;
  PcrOptions m_pcr;
  ThomasOptions m_thomas;
};

}  // namespace Trikkos

#endif
