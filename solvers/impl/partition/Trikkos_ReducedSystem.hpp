// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_REDUCEDSYSTEM_HPP
#define TRIKKOS_IMPL_REDUCEDSYSTEM_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <string>

/// \file
/// The reduced system on a device: the segments that leave the tiles, up a tree to the root, and
/// down again to the values at their ends (recursive SPIKE); or, where they are few, one after the
/// other by one thread (explicit SPIKE).

namespace Trikkos::Impl {

inline constexpr int coarse_levels = 7, coarse_lanes = 1 << coarse_levels;

/// The same, fewer where the segments of so many would not fit into the scratch of a team.
template <class T, int W>
struct CoarseTree {
  static constexpr int levels = W * sizeof(T) > 16 ? coarse_levels - 1 : coarse_levels;
  static constexpr int lanes = 1 << levels;
  static_assert(lanes * Segment<T, W>::words * sizeof(T) < 40 * 1024);
};

/// A level of the coarse tree: `count` segments in groups of `CoarseTree::lanes`.
struct CoarseLevel {
  std::int64_t count, groups, segment_offset, node_offset, counter_offset;  // offsets in scalars
};

/// Scalars of the workspace, each of which counts the teams that have merged a group of segments:
/// the last one of a group above goes on with it. Whoever makes segments sets them to zero.
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

/// How one system spreads over tiles and coarse levels, and where its workspace lies.
struct TeamLayout {
  static constexpr int max_levels = 6;

  std::int64_t n = 0, tiles = 0, segments = 0;
  CoarseLevel level[max_levels];
  int levels = 0;
  std::int64_t bounds_offset = 0, counter_offset = 0, counters = 0, words = 0;

  TeamLayout() = default;
  /// Of systems with W diagonals on either side.
  template <class T, int W>
  static TeamLayout of(std::int64_t n, std::int64_t tile_rows, std::int64_t segments_in_tile) {
    return {n,
            tile_rows,
            segments_in_tile,
            W,
            CoarseTree<T, W>::lanes,
            Segment<T, W>::words,
            MergeNode<T, W>::words};
  }
  TeamLayout(std::int64_t n_, std::int64_t tile_rows, std::int64_t segments_in_tile, int W = 1,
             int lanes = coarse_lanes, int segment_words = Segment<double>::words,
             int node_words = MergeNode<double>::words)
      : n(n_) {
    tiles = (n + tile_rows - 1) / tile_rows;
    segments = tiles * segments_in_tile;
    std::int64_t count = segments;
    do {
      CoarseLevel& l = level[levels++];
      l.count = count;
      l.groups = (count + lanes - 1) / lanes;
      l.segment_offset = words;
      words += segment_words * count;
      l.node_offset = words;
      words += node_words * lanes * l.groups;
      count = l.groups;
    } while (count > 1);
    bounds_offset = words;
    words += 2 * W * (segments + 1);
    counter_offset = words;
    for (int l = 1; l < levels; ++l) {
      level[l].counter_offset = words;
      words += level[l].groups;
    }
    counters = words - counter_offset;
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

/// Up the tree: a team merges `CoarseTree::lanes` segments to one, nodes to memory. The last team
/// of those below a group goes on with that, and the last of all solves the root: nobody waits.
template <class T, int W = 1>
struct MergeCoarse {
  using Node = MergeNode<T, W>;
  static constexpr int lanes = CoarseTree<T, W>::lanes;

  T* work;
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;  // below a segment of the finest level, for reports
  Diagnosis diagnosis;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto [system, finest] = split_index(member.league_rank(), layout.level[0].groups);
    T* const mine = work + system * layout.words;
    T* const scratch = team_scratch<T>(member, scratch_bytes());
    const Diagnosis found = diagnosis.of(system, layout.n);
    std::int64_t group = finest, rows = segment_rows;
    for (int l = 0;; ++l) {
      const Segment<T, W> s = merge_group(member, scratch, mine, l, group, rows, found);
      if (l == layout.levels - 1) {
        if (member.team_rank() == 0) put_root(s, mine, found);
        return;
      }
      if (!is_last(member, mine, l, group, s)) return;
      group /= lanes;
      rows *= lanes;
    }
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * Segment<T, W>::words * lanes + alignof(T);
  }

 private:
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_group(const Member& member, T* scratch, T* mine,
                                                        int l, std::int64_t group,
                                                        std::int64_t rows,
                                                        const Diagnosis& found) const {
    const CoarseLevel& level = layout.level[l];
    const std::int64_t first = group * lanes;
    const int t = member.team_rank();
    Segment<T, W> s = identity_segment<T, W>();
    if (first + t < level.count)
      s = SegmentArray<T, W>{mine + level.segment_offset, level.count}.get(first + t);
    T* const nodes = mine + level.node_offset + group * lanes * Node::words;
    return merge_tree(
        member, SegmentArray<T, W>{scratch, lanes}, lanes, CoarseTree<T, W>::levels, s,
        [&](int slot, const Node& node) {
          TRIKKOS_UNROLL(Node::words)
          for (int k = 0; k < Node::words; ++k) nodes[slot * Node::words + k] = node.g[k];
        },
        [&](int h, int pair, const Segment<T, W>& left, const Segment<T, W>& right,
            const Segment<T, W>& merged, const Node& node) {
          const std::int64_t middle = first + (2 * pair + 1) * (lanes / (2 * h));
          diagnose_merge(found, left, right, merged, node, middle * rows);
        });
  }
  /// Hands the segment of a group to the level above. True, to all threads, where those of its
  /// neighbours there have been handed on, too.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool is_last(const Member& member, T* mine, int l, std::int64_t group,
                                           const Segment<T, W>& s) const {
    int last = 0;
    Kokkos::single(
        Kokkos::PerTeam(member),
        [&](int& result) {
          const CoarseLevel& above = layout.level[l + 1];
          const std::int64_t parent = group / lanes, left = above.count - parent * lanes;
          SegmentArray<T, W>{mine + above.segment_offset, above.count}.put(group, s);
          Kokkos::memory_fence();
          const std::int32_t before = Kokkos::atomic_fetch_add(
              Arrivals<T>::counter(mine + above.counter_offset + parent), 1);
          Kokkos::memory_fence();
          result = before + 1 == (left < lanes ? left : lanes);
        },
        last);
    return last != 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION void put_root(const Segment<T, W>& s, T* mine,
                                            const Diagnosis& found) const {
    const Bounds<T, W> root = solve_root(s, periodic);
    diagnose_root(found, s, periodic, root, layout.n);
    OuterBounds<T, W>{mine + layout.bounds_offset, layout.segments}.put(root);
  }
};

/// The way down the coarse tree, one thread a segment: the values at its ends.
template <class T, int W = 1>
struct DescendCoarse {
  using Node = MergeNode<T, W>;
  static constexpr int lanes = CoarseTree<T, W>::lanes;

  T* work;
  std::int64_t words;
  TeamLayout layout;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const std::int64_t system = index / layout.segments, i = index % layout.segments;
    T* const mine = work + system * words;
    T* const out = mine + layout.bounds_offset;
    // the outermost, by the root; the rest is written here
    auto b = OuterBounds<T, W>{out, layout.segments}.get();
    for (int l = layout.levels - 1; l >= 0; --l) {
      std::int64_t at = i;
      for (int k = 0; k < l; ++k) at /= lanes;
      const std::int64_t group = at / lanes;
      const int leaf = static_cast<int>(at % lanes);
      const T* const nodes = mine + layout.level[l].node_offset + group * lanes * Node::words;
      const auto word = [&](int slot, int k) { return nodes[slot * Node::words + k]; };
      if constexpr (W == 1)
        descend_path<coarse_levels>(b, leaf, word);
      else
        descend_tree(b, 1, lanes / 2, leaf, word);
    }
    T x[4 * W];
    put_bounds([&](int k) -> T& { return x[k]; }, b);
    TRIKKOS_UNROLL(W)
    for (int k = W; k < 2 * W; ++k) {
      if (i > 0) out[2 * W * i + k] = x[k];
      if (i < layout.segments - 1) out[2 * W * i + W + k] = x[W + k];
    }
  }
};

/// The same for a few segments, by one thread: merged into one from left to right.
template <class T, int W = 1>
struct ChainCoarse {
  /// One more costs about as much as a level of the tree; but where systems alone keep a device
  /// busy, what trees leave idle costs more.
  static constexpr int most = 8, most_of_many = 32, many = 1024;
  static bool is_for(std::int64_t segments, std::int64_t systems) {
    return segments <= (systems < many ? most : most_of_many);
  }

  T* work;
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;
  Diagnosis diagnosis;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    T* const mine = work + system * layout.words;
    const Diagnosis found = diagnosis.of(system, layout.n);
    const int count = static_cast<int>(layout.segments);
    const SegmentArray<T, W> segments{mine + layout.level[0].segment_offset, count};
    auto* const nodes = reinterpret_cast<MergeNode<T, W>*>(mine + layout.level[0].node_offset);
    Segment<T, W> s = segments.get(0);
    for (int i = 1; i < count; ++i) {
      const Segment<T, W> left = s, right = segments.get(i);
      s = merge(left, right, nodes[i]);
      diagnose_merge(found, left, right, s, nodes[i], i * segment_rows);
    }
    Bounds<T, W> b = solve_root(s, periodic);
    diagnose_root(found, s, periodic, b, layout.n);
    T* const out = mine + layout.bounds_offset;
    for (int i = count - 1; i > 0; --i)
      OuterBounds<T, W>{out + 2 * W * i, 1}.put(unchain(b, nodes[i]));
    OuterBounds<T, W>{out, 1}.put(b);
  }
};

/// From the segments of level 0 to the values at their ends.
template <class T, int W = 1>
struct ReducedSystem {
  T* work;  // [systems][layout.words]
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;
  Diagnosis diagnosis;

  template <class Exec, class Gate = Always>
  void launch(const Exec& exec, std::int64_t count, const std::string& label,
              const Gate& gate = {}) const {
    constexpr int lanes = CoarseTree<T, W>::lanes;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<lanes, 1>>;
    if (ChainCoarse<T, W>::is_for(layout.segments, count)) {
      Kokkos::parallel_for(
          label + "chain", range(exec, count),
          gate(ChainCoarse<T, W>{work, layout, periodic, segment_rows, diagnosis}));
      return;
    }
    Kokkos::parallel_for(
        label + "coarse",
        light(Teams(exec, static_cast<int>(count * layout.level[0].groups), lanes)
                  .set_scratch_size(0, Kokkos::PerTeam(MergeCoarse<T, W>::scratch_bytes()))),
        gate(MergeCoarse<T, W>{work, layout, periodic, segment_rows, diagnosis}));
    Kokkos::parallel_for(label + "bounds", range(exec, count * layout.segments),
                         gate(DescendCoarse<T, W>{work, layout.words, layout}));
  }
};

}  // namespace Trikkos::Impl

#endif
