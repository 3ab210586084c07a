// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGULARCHOICE_HPP
#define TRIKKOS_IMPL_TRIANGULARCHOICE_HPP

#include <Trikkos_TriangularOptions.hpp>
#include <algorithm>
#include <bit>

namespace Trikkos::Impl {

/// Up to these a launch for each level is best on a device. H200: a launch costs 3.5 us, as much as
/// about 10 values that go from thread to thread.
inline constexpr std::int64_t levels_for_launches = 4;
/// Up to these parts do not pay. H200: 13 us for 20 at 8 and 12 levels, 25 us for 22 at 44.
inline constexpr std::int64_t levels_without_parts = 20;

/// Times one thread that point_to_point must be when it is tried. What is expected of its schedule
/// says little: of two cores of an EPYC, where 1.29 to 1.65 were expected, 0.63 to 1.83 were seen.
inline constexpr double least_speedup = 1.1;
/// Times that must be expected of it where it is not tried: for incomplete factors, and for plans
/// made where its threads cannot be had.
inline constexpr double least_expected_speedup = 1.25;

/// Levels of so many rows in the mean, or values of all right-hand sides, keep a device busy. H200,
/// 27 points 64^3 and 80^3, 593 and 924 rows a level: sync_free 265 and 352 us, blocked 449 and
/// 595; dftwater, 215 rows a level, 4 right-hand sides: 93 and 85, 16: 109 and 151.
inline bool is_wide(std::int64_t rows, std::int64_t levels, std::int64_t rhs_count) {
  return rows >= 500 * levels || rows * rhs_count >= 2000 * levels;
}

/// Whether rows of parts mostly need others than their neighbours.
inline bool needs_distant_ones(std::int64_t rows, std::int64_t imports) {
  return 10 * imports >= 6 * rows;
}

/// What the choice of an algorithm depends on.
struct TriangleFacts {
  std::int64_t rows = 0, levels = 0;
  bool on_host = false, spin_safe = false;
  bool has_parts = false;    // that fit into scratch, for blocked,
  std::int64_t imports = 0;  // with so many values that parts need of others
  double rows_of_level = 0;  // in a part, in the mean
  int threads_of_part = 0;
  std::int64_t parts = 0, parts_at_work = 0;  // how many there are, at a time
  int systems_in_scratch = 1;                 // side by side, of the largest part
  bool is_divided = false;                    // whether long rows are in segments
  std::int64_t rhs_count = 1;
  int threads = 0;
  double speedup = 1;  // of point_to_point, as it was seen, or is expected
  bool is_tried = false;
};
struct TriangularChoice {
  TriangularAlgorithm algorithm;
  const char* why;
};

/// For how many right-hand sides a thread solves a row (1, 2 or 4): the fewer threads, the more of
/// them work at a time, but the longer a value takes to the next row.
///
/// H200, sync_free, us with 1 / 2 / 4, by values of a level: 8 000 (five points 1024^2, 16
/// right-hand sides) 1160 / 1280 / 3700, 18 000 (ScaleMicrogrid, 4) 18 / 15 / 16, 21 000 (27 points
/// 96^3, 16) 1220 / 980 / 1310, 49 000 (random rows, 4) 278 / 208 / 322, 72 000 (ScaleMicrogrid,
/// 16) 47 / 30 / 23, 88 000 (7 points 128^3, 16) 2080 / 1120 / 1110, 300 000 (five points
/// renumbered, 4) 207 / 161 / 137.
///
/// blocked, by parts and right-hand sides over the parts at work: 0.4 (Dubcova1, 4) 148 / 163 /
/// 187, 1.2 (delaunay, 4) 98 / 77 / 81, 1.4 (memplus, 16) 57 / 54 / 69, 1.6 (Dubcova1, 16) 157 /
/// 171 / 200, 2.1 (luxembourg, 4) 146 / 115 / 84, 10 (igea, 16) 2300 / 1810 / 1450; long rows in
/// segments: 2.3 (dftwater, 4) 100 / 85 / 90, 3.1 (ship_001, 4) 1430 / 1410 / 1880, 4.9 (delaunay,
/// 16) 297 / 179 / 126, 9.1 (dftwater, 16) 273 / 172 / 151.
inline int systems_of_thread(const TriangleFacts& facts, TriangularAlgorithm algorithm) {
  if (facts.on_host) return 1;
  int most = 1;
  if (algorithm == TriangularAlgorithm::sync_free) {
    const std::int64_t of_level =
        facts.rows * facts.rhs_count / std::max<std::int64_t>(1, facts.levels);
    most = 4 * of_level >= facts.threads ? 4 : 16 * of_level >= facts.threads ? 2 : 1;
  } else if (algorithm == TriangularAlgorithm::blocked) {
    const std::int64_t units = facts.parts * facts.rhs_count;
    const std::int64_t many = (facts.is_divided ? 4 : 2) * facts.parts_at_work;
    most = units >= many ? 4 : 2 * units >= facts.parts_at_work ? 2 : 1;
    most = std::min(most, facts.systems_in_scratch);
  }
  const auto all = std::bit_ceil(static_cast<std::uint64_t>(facts.rhs_count));
  return static_cast<int>(std::min<std::uint64_t>(most, all));
}

/// Whether `sync_free` is worth two more launches, which bring b and x to where the values of a row
/// are adjacent: if many are solved at a time, and they do not fit into a cache. H200, us without
/// and with: 7 points 128^3, 16 right-hand sides 1990 and 1120, random rows, 4, 49 000 values a
/// level 268 and 209, 7 points 128^3, 4, 22 000 a level 468 and 512.
inline bool brings_side_by_side(const TriangleFacts& facts, int systems_of_thread) {
  constexpr std::int64_t many = 1 << 21;
  const std::int64_t values = facts.rows * facts.rhs_count;
  return systems_of_thread > 1 && values >= many && 8 * values >= facts.threads * facts.levels;
}

/// The choice behind `TriangularAlgorithm::automatic`.
inline TriangularChoice choose_triangular_algorithm(const TriangleFacts& facts) {
  using enum TriangularAlgorithm;
  if (facts.on_host) {
    if (facts.threads == 1) return {serial, "there is one thread"};
    if (facts.speedup < (facts.is_tried ? least_speedup : least_expected_speedup))
      return {serial, "threads that wait for each other are no faster than one"};
    return {point_to_point, "its levels have work for all threads"};
  }
  if (!facts.spin_safe) return {level_set, "threads of this device must not wait for each other"};
  if (facts.levels <= levels_for_launches) return {level_set, "there are at most 4 levels"};
  if (facts.levels <= levels_without_parts) return {sync_free, "its levels are few"};
  // H200, 11 matrices: global memory was faster for three-dimensional grids (261 us for 345, 439
  // for 722) and random numberings, scratch up to three times for all else.
  if (is_wide(facts.rows, facts.levels, facts.rhs_count) &&
      needs_distant_ones(facts.rows, facts.imports))
    return {sync_free, "its levels are wide and its rows need distant ones"};
  if (!facts.has_parts) return {sync_free, "parts of it do not fit into scratch"};
  // Rows that one team must solve one after the other, while others wait for them. H200: ecology2,
  // five points, 10^6 rows, by reverse Cuthill-McKee, where a part of 4096 rows has four levels of
  // 1000 rows for 128 threads: 10 us a level. In lines of the grid 1024^2, with 32 rows of each
  // level in a part: 0.23 us.
  if (facts.rows_of_level > facts.threads_of_part)
    return {sync_free, "levels of its parts have more rows than a team has threads"};
  // Parts for each of several right-hand sides: those that no team has yet keep the others waiting.
  // H200, by their number over that of parts at work, right-hand sides of a thread being one: 1.2
  // (delaunay, 16) 126 us for 150 by sync_free, 2.1 (luxembourg, 16) 181 for 197, 2.5 (igea, 16)
  // 1450 for 1800, 3.1 (ship_001, 16) 2290 for 2120, 4.9 (five points 1024^2, 16) 1080 for
  // 1150, 4.9 (2048^2, 4) 2200 for 2010.
  if (facts.rhs_count > 1 &&
      facts.parts * facts.rhs_count > 3 * facts.parts_at_work * systems_of_thread(facts, blocked))
    return {sync_free, "its parts, for each right-hand side, are more than what works at a time"};
  return {blocked, "its levels are thin, or its rows need near ones"};
}

}  // namespace Trikkos::Impl

#endif
