// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGULARCHOICE_HPP
#define TRIKKOS_IMPL_TRIANGULARCHOICE_HPP

#include <Trikkos_TriangularOptions.hpp>

namespace Trikkos::Impl {

/// What the choice of an algorithm depends on.
struct TriangleFacts {
  std::int64_t rows, levels;
  bool on_host, spin_safe;
  bool has_parts;        // that fit into scratch, for blocked,
  std::int64_t imports;  // with so many values that parts need of others
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
    // The margin is for what the model of the schedule does not know.
    if (facts.speedup < 1.3) return {serial, "its levels are too thin to be worth dividing"};
    return {point_to_point, "its levels have work for all threads"};
  }
  if (!facts.spin_safe) return {level_set, "threads of this device must not wait for each other"};
  // H200: a launch costs 3.5 us, as much as about 10 values that go from thread to thread.
  if (facts.levels <= 4) return {level_set, "there are at most 4 levels"};
  if (!facts.has_parts) return {sync_free, "parts of it do not fit into scratch"};
  // H200, 11 matrices: global memory was faster for three-dimensional grids (261 us for 345, 439
  // for 722) and random numberings, scratch up to three times for all else.
  const bool is_wide = facts.rows >= 1000 * facts.levels;
  const bool is_local = 10 * facts.imports < 6 * facts.rows;
  if (is_wide && !is_local)
    return {sync_free, "its levels are wide and its rows need distant ones"};
  return {blocked, "its levels are thin, or its rows need near ones"};
}

}  // namespace Trikkos::Impl

#endif
