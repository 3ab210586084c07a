// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COARSELAYOUT_HPP
#define TRIKKOS_IMPL_COARSELAYOUT_HPP

#include <algorithm>
#include <bit>
#include <impl/partition/Trikkos_SegmentTree.hpp>

/// \file
/// Where the segments of the reduced system lie, level by level, and the values at their ends
/// (Trikkos_ReducedSystem.hpp).

namespace Trikkos::Impl {

inline constexpr int coarse_levels = 7, coarse_lanes = 1 << coarse_levels;

/// The same, fewer where the segments of so many would not fit into the scratch of a team.
template <class T, int W>
struct CoarseTree {
  static constexpr int levels = W == 1 ? coarse_levels : sizeof(T) > 8 ? 5 : 6;
  static constexpr int lanes = 1 << levels;
  /// On the way up a thread begins with two segments, which it merges; with W > 1 several do that.
  static constexpr int each = 2, threads = W == 1 ? lanes / each : 64;
  static constexpr int most_bytes = 40 * 1024;  // of scratch
  /// Segments in scratch of a team for so many: with W > 1 all of the tree, an odd number.
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int slots(int wide) {
    return W == 1 ? wide / each : 2 * wide + 1;
  }
  static_assert(slots(lanes) * Segment<T, W>::words * sizeof(T) < most_bytes);
  /// So many are one group, if these are all: one team goes up with them, and down again.
  static constexpr int most_alone = [] {
    int most = lanes;
    while (W == 1 && most < 512 && most * Segment<T, W>::words * sizeof(T) < most_bytes) most *= 2;
    return most;
  }();
  /// Where so many runs of segments fill a device, a thread merges those of each first: trees leave
  /// most threads idle, and with W > 1 merges are most of the work.
  static constexpr bool has_runs = W > 1;
  static constexpr int least_runs = 1 << 14;
  /// Where word k of the node in a slot lies among those of a group of so many segments.
  static KOKKOS_FORCEINLINE_FUNCTION int node_word(int slot, int k, int wide) {
    return k * wide + slot;
  }
};

/// A level of the coarse tree: `count` segments in groups of `CoarseTree::lanes`, or in one of as
/// many as `lanes`, a power of two and at least two.
struct CoarseLevel {
  std::int64_t count, groups, segment_offset, node_offset, counter_offset;  // offsets in scalars
  int lanes;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t segments_of(std::int64_t group) const {
    const std::int64_t left = count - group * lanes;
    return left < lanes ? left : lanes;
  }
};

/// So many segments are a run.
inline constexpr int segment_run = 4;

/// Scalars of the workspace, each of which counts the teams that have merged a group of segments,
/// or made some of it: the last one of a group above goes on with it. Whoever makes segments sets
/// them to zero, if not in the kernel that counts.
template <class T>
struct Arrivals {
  T* first;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION void reset(int rank, int size) const {
    for (std::int64_t i = rank; i < count; i += size) *counter(first + i) = 0;
  }
  static KOKKOS_FORCEINLINE_FUNCTION std::int32_t* counter(T* word) {
    return reinterpret_cast<std::int32_t*>(word);
  }
};

/// Where the segments of one stage lie: those that leave the tiles, what a stage of runs makes of
/// them, and so on up to those that the tree begins with.
struct StageOfSegments {
  std::int64_t segments = 0, segment_offset = 0, bounds_offset = 0;
  std::int64_t runs = 0;  // that they make, if there is a stage behind

  /// Where segment i lies among them: those of all runs that come first, those that come second...
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(std::int64_t i) const {
    return runs == 0 ? i : i % segment_run * runs + i / segment_run;
  }
};

/// How many came before. Who comes later sees what was written before.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t count_arrival(std::int32_t* counter) {
#if defined(__CUDA_ARCH__)  // faster than fences (perf_tests/README.md)
  std::int32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(counter)
               : "memory");
#else
  Kokkos::memory_fence();
  const std::int32_t before = Kokkos::atomic_fetch_add(counter, 1);
  Kokkos::memory_fence();
#endif
  return before;
}

/// How one system spreads over tiles and coarse levels, and where its workspace lies.
struct TeamLayout {
  static constexpr int max_levels = 6, max_stages = 2;  // stages of runs

  std::int64_t n = 0, tiles = 0, segments = 0;  // those that the tree begins with
  StageOfSegments stage[max_stages + 1];        // the last one for the tree
  int stages = 0;                               // of runs
  CoarseLevel level[max_levels];
  int levels = 0;
  // values at the ends of the segments that the tree begins with, and of those of the first stage
  std::int64_t bounds_offset = 0, finest_bounds_offset = 0;
  std::int64_t counter_offset = 0, counters = 0, words = 0;

  TeamLayout() = default;
  /// With W diagonals on either side; a stage of runs has at least so many of them.
  template <class T, int W>
  static TeamLayout of(std::int64_t n, std::int64_t tile_rows, std::int64_t segments_in_tile,
                       std::int64_t least_runs) {
    using Tree = CoarseTree<T, W>;
    std::int64_t segments = (n + tile_rows - 1) / tile_rows * segments_in_tile;
    int stages = 0;
    while (Tree::has_runs && stages < max_stages && segments % segment_run == 0 &&
           segments / segment_run >= std::max<std::int64_t>(least_runs, 1)) {
      segments /= segment_run;
      ++stages;
    }
    return {n,
            tile_rows,
            segments_in_tile,
            W,
            segments <= Tree::most_alone ? Tree::most_alone : Tree::lanes,
            Segment<T, W>::words,
            MergeNode<T, W>::words,
            stages};
  }
  TeamLayout(std::int64_t n_, std::int64_t tile_rows, std::int64_t segments_in_tile, int W = 1,
             int lanes = coarse_lanes, int segment_words = Segment<double>::words,
             int node_words = MergeNode<double>::words, int stages_ = 0)
      : n(n_), stages(stages_) {
    tiles = (n + tile_rows - 1) / tile_rows;
    segments = tiles * segments_in_tile;
    for (int s = 0; s < stages; ++s) {
      stage[s] = {segments, words, 0, segments / segment_run};
      words += segment_words * segments;
      segments /= segment_run;
    }
    std::int64_t count = segments;
    do {
      CoarseLevel& l = level[levels++];
      l.count = count;
      l.groups = (count + lanes - 1) / lanes;
      l.lanes =
          l.groups > 1 ? lanes : std::max(2, static_cast<int>(std::bit_ceil(std::uint64_t(count))));
      l.segment_offset = words;
      words += segment_words * count;
      l.node_offset = words;
      words += node_words * l.lanes * l.groups;
      count = l.groups;
    } while (count > 1);
    stage[stages] = {segments, level[0].segment_offset};
    for (int s = stages; s >= 0; --s) {
      stage[s].bounds_offset = words;
      words += 2 * W * (stage[s].segments + 1);
    }
    bounds_offset = stage[stages].bounds_offset;
    finest_bounds_offset = stage[0].bounds_offset;
    counter_offset = words;
    for (int l = 0; l < levels; ++l) {
      level[l].counter_offset = words;
      words += level[l].groups;
    }
    counters = words - counter_offset;
    if (stages > 0) words = (words + 3) / 4 * 4;  // systems are copied in bulk
  }
  /// In the workspace of a system.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Arrivals<T> arrivals(T* work) const {
    return {work + counter_offset, counters};
  }
};

/// Among the bounds of `count` neighbouring segments, which start with x(-W), 2W apart, those of
/// all of them as one.
template <class T, int W>
struct OuterBounds {
  T* bounds;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(int k) const {
    return bounds[k < 2 * W ? k : 2 * W * (count - 1) + k];
  }
  KOKKOS_FORCEINLINE_FUNCTION void put(const Bounds<T, W>& b) const { put_bounds(*this, b); }
  KOKKOS_FORCEINLINE_FUNCTION Bounds<T, W> get() const { return bounds_from<T, W>(*this); }
};

}  // namespace Trikkos::Impl

#endif
