// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGULARCHOICE_HPP
#define TRIKKOS_IMPL_TRIANGULARCHOICE_HPP

#include <Trikkos_TriangularOptions.hpp>

namespace Trikkos::Impl {

/// Up to these a launch for each level is best on a device. H200: a launch costs 3.5 us, as much as
/// about 10 values that go from thread to thread.
inline constexpr std::int64_t levels_for_launches = 4;
/// Up to these parts do not pay. H200: 13 us for 20 at 8 and 12 levels, 25 us for 22 at 44.
inline constexpr std::int64_t levels_without_parts = 20;

/// Times one thread that point_to_point must promise. Two cores of an EPYC, 12 matrices, both
/// triangles, two runs, by the fastest of 101 solves: where it promises 1.29 to 1.65, it was 1.09
/// to 1.83 times as fast as one thread in 13 of 16 cases and 0.63 to 0.99 in three; where it
/// promises 1.21 or less, 0.74 to 1.51, one thread being as good or better in half of them.
inline constexpr double least_speedup = 1.25;

/// Levels of so many rows in the mean keep a device busy. H200, 27 points 64^3 and 80^3, 593 and
/// 924 rows a level: sync_free 265 and 352 us, blocked 449 and 595.
inline bool is_wide(std::int64_t rows, std::int64_t levels) { return rows >= 500 * levels; }

/// Whether rows of parts mostly need others than their neighbours.
inline bool needs_distant_ones(std::int64_t rows, std::int64_t imports) {
  return 10 * imports >= 6 * rows;
}

/// What the choice of an algorithm depends on.
struct TriangleFacts {
  std::int64_t rows, levels;
  bool on_host, spin_safe;
  bool has_parts;        // that fit into scratch, for blocked,
  std::int64_t imports;  // with so many values that parts need of others
  double rows_of_level;  // in a part, in the mean
  int threads_of_part;
  std::int64_t parts, parts_at_work;  // how many there are, at a time
  std::int64_t rhs_count;
  int threads;
  double speedup;  // of point_to_point, as expected from its schedule
};
struct TriangularChoice {
  TriangularAlgorithm algorithm;
  const char* why;
};
/// The choice behind `TriangularAlgorithm::automatic`.
inline TriangularChoice choose_triangular_algorithm(const TriangleFacts& facts) {
  using enum TriangularAlgorithm;
  if (facts.on_host) {
    if (facts.threads == 1) return {serial, "there is one thread"};
    if (facts.speedup < least_speedup)
      return {serial, "its levels are too thin to be worth dividing"};
    return {point_to_point, "its levels have work for all threads"};
  }
  if (!facts.spin_safe) return {level_set, "threads of this device must not wait for each other"};
  if (facts.levels <= levels_for_launches) return {level_set, "there are at most 4 levels"};
  if (facts.levels <= levels_without_parts) return {sync_free, "its levels are few"};
  // H200, 11 matrices: global memory was faster for three-dimensional grids (261 us for 345, 439
  // for 722) and random numberings, scratch up to three times for all else.
  if (is_wide(facts.rows, facts.levels) && needs_distant_ones(facts.rows, facts.imports))
    return {sync_free, "its levels are wide and its rows need distant ones"};
  if (!facts.has_parts) return {sync_free, "parts of it do not fit into scratch"};
  // Rows that one team must solve one after the other, while others wait for them. H200: ecology2,
  // five points, 10^6 rows, by reverse Cuthill-McKee, where a part of 4096 rows has four levels of
  // 1000 rows for 128 threads: 10 us a level. In lines of the grid 1024^2, with 32 rows of each
  // level in a part: 0.23 us.
  if (facts.rows_of_level > facts.threads_of_part)
    return {sync_free, "levels of its parts have more rows than a team has threads"};
  // Parts for each of several right-hand sides: those that no team has yet keep the others waiting.
  // H200, by the number of parts and right-hand sides over those at work: 1.2 (Dubcova1, 16) 0.16
  // ms for 0.29 by sync_free, 1.2 (five points 1024^2, 4) 0.51 for 0.98, 2.4 (dftwater, 4) 0.100
  // for 0.097, 2.5 (igea, 4) 1.1 for 2.0, 2.8 (ship_001, 4) 1.5 for 2.4, 4.9 (delaunay, 16) 0.29
  // for 0.15, 4.9 (five points, 16) 1.14 for 1.16, 10 (igea, 16) 2.2 for 1.8.
  if (facts.rhs_count > 1 && facts.parts * facts.rhs_count > 3 * facts.parts_at_work)
    return {sync_free, "its parts, for each right-hand side, are more than what works at a time"};
  return {blocked, "its levels are thin, or its rows need near ones"};
}

}  // namespace Trikkos::Impl

#endif
