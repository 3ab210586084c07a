// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_REDUCEDSYSTEM_HPP
#define TRIKKOS_IMPL_REDUCEDSYSTEM_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <string>

/// \file
/// The reduced system on a device: the segments that leave the tiles, up a tree to the root, and
/// down again to the values at their ends (recursive SPIKE); or, where they are few, one after the
/// other by one thread (explicit SPIKE).

namespace Trikkos::Impl {

inline constexpr int coarse_levels = 7, coarse_lanes = 1 << coarse_levels;

/// A level of the coarse tree: `count` segments in groups of `coarse_lanes`.
struct CoarseLevel {
  std::int64_t count, groups, segment_offset, node_offset;  // offsets in scalars
};

/// How one system spreads over tiles and coarse levels, and where its workspace lies.
struct TeamLayout {
  static constexpr int max_levels = 6;

  std::int64_t n = 0, tiles = 0, segments = 0;
  CoarseLevel level[max_levels];
  int levels = 0;
  std::int64_t bounds_offset = 0, root_offset = 0, words = 0;

  TeamLayout() = default;
  TeamLayout(std::int64_t n_, std::int64_t tile_rows, std::int64_t segments_in_tile) : n(n_) {
    tiles = (n + tile_rows - 1) / tile_rows;
    segments = tiles * segments_in_tile;
    std::int64_t count = segments;
    do {
      CoarseLevel& l = level[levels++];
      l.count = count;
      l.groups = (count + coarse_lanes - 1) / coarse_lanes;
      l.segment_offset = words;
      words += segment_words * count;
      l.node_offset = words;
      words += 11 * coarse_lanes * l.groups;
      count = l.groups;
    } while (count > 1);
    bounds_offset = words;
    words += 2 * segments + 2;
  }
};

/// A level of the tree: `coarse_lanes` segments to one, nodes to memory; the last level
/// solves the root.
template <class T>
struct MergeCoarse {
  T* work;
  std::int64_t words;
  CoarseLevel level;
  std::int64_t parent_offset, bounds_offset;
  bool is_root, periodic;
  std::int64_t n, segment_rows;  // rows below a segment of this level, for reports
  std::int64_t root_count;       // segments of the finest level
  Diagnosis diagnosis;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t system = member.league_rank() / level.groups;
    const std::int64_t group = member.league_rank() % level.groups;
    T* const mine = work + system * words;
    const Diagnosis found = diagnosis.of(system, n);
    const std::int64_t first = group * coarse_lanes;
    Segment<T> s = identity_segment<T>();
    if (first + t < level.count)
      s = SegmentArray<T>{mine + level.segment_offset, level.count}.get(first + t);
    T* const nodes = mine + level.node_offset + group * coarse_lanes * MergeNode<T>::words;
    s = merge_tree(
        member, SegmentArray<T>{team_scratch<T>(member, scratch_bytes()), coarse_lanes},
        coarse_lanes, coarse_levels, s,
        [&](int slot, const MergeNode<T>& node) {
          for (int k = 0; k < MergeNode<T>::words; ++k)
            nodes[slot * MergeNode<T>::words + k] = node.g[k];
        },
        [&](int h, int pair, const Segment<T>& left, const Segment<T>& right,
            const Segment<T>& merged, const MergeNode<T>& node) {
          const std::int64_t middle = first + (2 * pair + 1) * (coarse_lanes / (2 * h));
          diagnose_merge(found, left, right, merged, node.g[MergeNode<T>::first_of_v1],
                         middle * segment_rows);
        });
    if (t != 0) return;
    if (!is_root) {
      SegmentArray<T>{mine + parent_offset, level.groups}.put(group, s);
      return;
    }
    const Bounds<T> root = solve_root(s, periodic);
    diagnose_root(found, s, periodic, root, n);
    // the bounds of the finest segments start with x(-1) and end with x(n), two apart from the rest
    T* const bounds = mine + bounds_offset;
    bounds[0] = root.prev;
    bounds[2 * root_count + 1] = root.next;
    bounds[1] = root.first;
    bounds[2 * root_count] = root.last;
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * segment_words * coarse_lanes + alignof(T);
  }
};

/// The way down the coarse tree, one thread a segment: the values at its ends.
template <class T>
struct DescendCoarse {
  T* work;
  std::int64_t words;
  TeamLayout layout;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const std::int64_t system = index / layout.segments, i = index % layout.segments;
    T* const mine = work + system * words;
    T* const out = mine + layout.bounds_offset;
    const std::int64_t last = 2 * layout.segments;
    // the outermost four, by the root; the rest is written here
    Bounds<T> b{out[0], out[1], out[last], out[last + 1]};
    for (int l = layout.levels - 1; l >= 0; --l) {
      std::int64_t at = i;
      for (int k = 0; k < l; ++k) at /= coarse_lanes;
      const std::int64_t group = at / coarse_lanes;
      const int leaf = static_cast<int>(at % coarse_lanes);
      const T* const nodes =
          mine + layout.level[l].node_offset + group * coarse_lanes * MergeNode<T>::words;
      descend_path<coarse_levels>(
          b, leaf, [&](int slot, int k) { return nodes[slot * MergeNode<T>::words + k]; });
    }
    if (i > 0) out[2 * i + 1] = b.first;
    if (i < layout.segments - 1) out[2 * i + 2] = b.last;
  }
};

/// The same for a few segments, by one thread: merged into one from left to right.
template <class T>
struct ChainCoarse {
  static constexpr int most = 8;  // one more costs about as much as a level of the tree

  T* work;
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;
  Diagnosis diagnosis;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    T* const mine = work + system * layout.words;
    const Diagnosis found = diagnosis.of(system, layout.n);
    const int count = static_cast<int>(layout.segments);
    const SegmentArray<T> segments{mine + layout.level[0].segment_offset, count};
    auto* const nodes = reinterpret_cast<MergeNode<T>*>(mine + layout.level[0].node_offset);
    Segment<T> s = segments.get(0);
    for (int i = 1; i < count; ++i) {
      const Segment<T> left = s, right = segments.get(i);
      s = merge(left, right, nodes[i]);
      diagnose_merge(found, left, right, s, nodes[i].g[MergeNode<T>::first_of_v1],
                     i * segment_rows);
    }
    Bounds<T> b = solve_root(s, periodic);
    diagnose_root(found, s, periodic, b, layout.n);
    T* const out = mine + layout.bounds_offset;
    out[0] = b.prev;
    out[1] = b.first;
    out[2 * count] = b.last;
    out[2 * count + 1] = b.next;
    for (int i = count - 1; i > 0; --i) {
      const Bounds<T> link = unchain(b, nodes[i]);
      out[2 * i] = link.prev;
      out[2 * i + 1] = link.first;
    }
  }
};

/// From the segments of level 0 to the values at their ends.
template <class T>
struct ReducedSystem {
  T* work;  // [systems][layout.words]
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;
  Diagnosis diagnosis;

  template <class Exec>
  void launch(const Exec& exec, std::int64_t count, const std::string& label) const {
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<coarse_lanes, 1>>;
    if (layout.segments <= ChainCoarse<T>::most) {
      Kokkos::parallel_for(label + "chain", range(exec, count),
                           ChainCoarse<T>{work, layout, periodic, segment_rows, diagnosis});
      return;
    }
    std::int64_t rows = segment_rows;
    for (int l = 0; l < layout.levels; ++l) {
      const bool is_root = l == layout.levels - 1;
      const std::int64_t parent = is_root ? 0 : layout.level[l + 1].segment_offset;
      Kokkos::parallel_for(
          label + "coarse",
          light(Teams(exec, static_cast<int>(count * layout.level[l].groups), coarse_lanes)
                    .set_scratch_size(0, Kokkos::PerTeam(MergeCoarse<T>::scratch_bytes()))),
          MergeCoarse<T>{work, layout.words, layout.level[l], parent, layout.bounds_offset, is_root,
                         periodic, layout.n, rows, layout.segments, diagnosis});
      rows *= coarse_lanes;
    }
    Kokkos::parallel_for(label + "bounds", range(exec, count * layout.segments),
                         DescendCoarse<T>{work, layout.words, layout});
  }
};

}  // namespace Trikkos::Impl

#endif
