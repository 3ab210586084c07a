// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_REDUCEDSYSTEM_HPP
#define TRIKKOS_IMPL_REDUCEDSYSTEM_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_CoarseDescent.hpp>
#include <impl/partition/Trikkos_CoarseTeam.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentRuns.hpp>
#include <string>

/// \file
/// The reduced system on a device: the segments that leave the tiles, up a tree to the root, and
/// down again to the values at their ends (recursive SPIKE); or, where they are few, one after the
/// other by one thread (explicit SPIKE).

namespace Trikkos::Impl {

/// Where the nodes of a group of `wide` segments lie.
template <class T, int W>
struct KeepNodes {
  using Node = MergeNode<T, W>;
  using Tree = CoarseTree<T, W>;

  T* nodes;
  int wide;

  KOKKOS_FORCEINLINE_FUNCTION StoredNode<T> node(int slot) const requires(W > 1) {
    return {nodes + Tree::node_word(slot, 0, wide), Tree::node_word(0, 1, wide)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int slot, const Node& node) const requires(W == 1) {
    TRIKKOS_UNROLL(Node::words)
    for (int k = 0; k < Node::words; ++k) nodes[Tree::node_word(slot, k, wide)] = node.g[k];
  }
};

/// Up the tree: a team merges `CoarseTree::lanes` segments to one, nodes to memory. The last team
/// of those below a group goes on with that, and the last of all solves the root: nobody waits. A
/// team that has all segments goes down again, too (with W = 1 only behind a first pass in the same
/// kernel, or where its nodes are too many for `SolveCoarse`, which does it otherwise).
template <class T, int W = 1>
struct MergeCoarse {
  using Node = MergeNode<T, W>;
  using Tree = CoarseTree<T, W>;
  static constexpr int lanes = Tree::lanes, each = Tree::each;
  static constexpr int most_levels = 30;  // of a group: to its root, however wide it is

  T* work;
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;  // below a segment of the finest level, for reports
  Diagnosis diagnosis;
  PackedSegments<T, W> blocks{nullptr};  // where the last segment goes, if this is not the root

  /// Where it solves the root, too: then there is no other kernel for the way down.
  static bool goes_down(const TeamLayout& layout) { return layout.levels == 1; }
  static constexpr int most_threads = W == 1 ? Tree::most_alone / each : Tree::threads;
  static int threads(const TeamLayout& layout) {
    return W == 1 ? std::max(Tree::threads, layout.level[0].lanes / each) : Tree::threads;
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    const auto [system, group] = split_index(member.league_rank(), layout.level[0].groups);
    go_up(member, system, group);
  }
  /// From one of the groups of the finest level, as far as it is for this team.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void go_up(const Member& member, std::int64_t system,
                                         std::int64_t finest) const {
    T* const mine = work + system * layout.words;
    T* const scratch = team_scratch<T>(member);
    const Diagnosis found = diagnosis.of(system, layout.n);
    std::int64_t group = finest, rows = segment_rows;
    for (int l = 0;; ++l) {
      const Segment<T, W> s = merge_group<false>(member, scratch, mine, l, group, rows, found);
      if (!is_finite(s)) {
        member.team_barrier();  // all have read it
        merge_group<true>(member, scratch, mine, l, group, rows, found);
      }
      if (l == layout.levels - 1) {
        if (member.team_rank() == 0) {
          if (blocks.data == nullptr)
            put_root(s, mine, found);
          else
            put_segment(blocks, system, s);
        }
        if (l == 0 && blocks.data == nullptr) descend(member, mine);
        return;
      }
      const CoarseLevel& above = layout.level[l + 1];
      if (member.team_rank() == 0)
        SegmentArray<T, W>{mine + above.segment_offset, above.count}.put(group, s);
      if (!is_last(member, mine, l + 1, group, 1)) return;
      group /= lanes;
      rows *= lanes;
    }
  }
  /// True, to all threads, where the neighbours of segment i of a level in its group are there,
  /// too, now that `made` of them are. `mine`: of the system.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool is_last(const Member& member, T* mine, int l, std::int64_t i,
                                           int made) const {
    bool last = false;
    if (member.team_rank() == 0) {
      const CoarseLevel& level = layout.level[l];
      const std::int64_t group = group_of(level, i);
      const std::int32_t before =
          count_arrival(Arrivals<T>::counter(mine + level.counter_offset + group));
      last = (before + 1) * made == level.segments_of(group);
    }
    return any_in_team(member, last);
  }
  /// That a segment is in.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t group_of(const CoarseLevel& level,
                                                           std::int64_t segment) {
    return level.groups > 1 ? segment / lanes : 0;  // an only one may be wider
  }
  static std::size_t scratch_bytes(const TeamLayout& layout) {
    const int slots = std::max(threads(layout), Tree::slots(layout.level[0].lanes));
    return sizeof(T) * Segment<T, W>::words * slots + alignof(T);
  }

 private:
  /// Returned is the segment of the group, to all threads. What is not finite in one merge is not
  /// in any above it, so only where that segment is not are merges looked at, the second time.
  template <bool is_watched, class Member>
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_group(const Member& member, T* scratch, T* mine,
                                                        int l, std::int64_t group,
                                                        std::int64_t rows,
                                                        const Diagnosis& found) const {
    const CoarseLevel& level = layout.level[l];
    const std::int64_t first = group * lanes;
    const int t = member.team_rank(), wide = level.lanes, active = wide / each;
    const KeepNodes<T, W> keep{mine + level.node_offset + group * lanes * Node::words, wide};
    const auto check = [&](int h, int pair, const Segment<T, W>& left, const Segment<T, W>& right,
                           const Segment<T, W>& merged, const auto& node) {
      if constexpr (is_watched) {
        const std::int64_t middle = first + (2 * pair + 1) * (wide / (2 * h));
        diagnose_merge(found, left, right, merged, node, middle * rows);
      }
    };
    const auto get = [&](int i) {
      const std::int64_t k = first + i;
      if (k >= level.count) return identity_segment<T, W>();
      return SegmentArray<T, W>{mine + level.segment_offset, level.count}.get(k);
    };
    if constexpr (W == 1) {
      const FirstOf has_right{static_cast<int>(level.segments_of(group)), wide};
      Segment<T, W> s = identity_segment<T, W>();
      if (t < active) {
        Node node;
        if (has_right(active, t)) {
          const Segment<T, W> left = get(t * each), right = get(t * each + 1);
          s = merge(left, right, node);
          check(active, t, left, right, s, node);
        } else {
          s = get(t * each);
          node = node_of_none<T>();
        }
        keep(active + t, node);
      }
      const SegmentArray<T, W> slots{scratch, member.team_size()};
      merge_tree(member, slots, active, most_levels, s, keep, 1, check, has_right);
      return slots.get(0);
    } else {
      const SegmentArray<T, W> slots{scratch, Tree::slots(wide)};
      for (int i = t; i < wide; i += member.team_size()) slots.put(wide + i, get(i));
      member.team_barrier();
      if constexpr (is_watched)
        merge_by_columns<T, W>(member, slots, wide, keep, check);
      else
        merge_by_columns<T, W>(member, slots, wide, keep);
      return slots.get(1);
    }
  }
  /// Of the only group: to the ends of the segments that each thread began with.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void descend(const Member& member, T* mine) const {
    member.team_barrier();
    const int wide = layout.level[0].lanes, active = wide / each;
    T* const bounds = mine + layout.bounds_offset;
    const T* const nodes = mine + layout.level[0].node_offset;
    const auto word = [&](int slot, int k) { return nodes[Tree::node_word(slot, k, wide)]; };
    const auto root = OuterBounds<T, W>{bounds, layout.segments}.get();
    for (int t = member.team_rank(); t < active; t += member.team_size()) {
      auto b = root;
      descend_tree(b, 1, active / 2, t, word);
      TRIKKOS_UNROLL(each)
      for (int i = 0; i < each; ++i) {
        auto own = b;
        descend_tree(own, active + t, 1, i, word);
        if (each * t + i < layout.segments)
          put_inner_bounds<T, W>(bounds, each * t + i, layout.segments, own);
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void put_root(const Segment<T, W>& s, T* mine,
                                            const Diagnosis& found) const {
    const Bounds<T, W> root = solve_root(s, periodic);
    diagnose_root(found, s, periodic, root, layout.n);
    OuterBounds<T, W>{mine + layout.bounds_offset, layout.segments}.put(root);
  }
};

/// Up and down for a few segments, by one thread: merged into one from left to right.
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
    const Segment<T, W> s = merge_all(system);
    const Bounds<T, W> b = solve_root(s, periodic);
    diagnose_root(diagnosis.of(system, layout.n), s, periodic, b, layout.n);
    spread(system, b);
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_all(std::int64_t system) const {
    const Diagnosis found = diagnosis.of(system, layout.n);
    const int count = static_cast<int>(layout.segments);
    const SegmentArray<T, W> segments{of(system) + layout.level[0].segment_offset, count};
    Segment<T, W> s = segments.get(0);
    for (int i = 1; i < count; ++i) {
      const Segment<T, W> left = s, right = segments.get(i);
      s = merge(left, right, nodes(system)[i]);
      diagnose_merge(found, left, right, s, nodes(system)[i], i * segment_rows);
    }
    return s;
  }
  KOKKOS_FORCEINLINE_FUNCTION void spread(std::int64_t system, Bounds<T, W> b) const {
    T* const out = of(system) + layout.bounds_offset;
    for (int i = static_cast<int>(layout.segments) - 1; i > 0; --i)
      OuterBounds<T, W>{out + 2 * W * i, 1}.put(unchain(b, nodes(system)[i]));
    OuterBounds<T, W>{out, 1}.put(b);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T* of(std::int64_t system) const {
    return work + system * layout.words;
  }
  KOKKOS_FORCEINLINE_FUNCTION MergeNode<T, W>* nodes(std::int64_t system) const {
    return reinterpret_cast<MergeNode<T, W>*>(of(system) + layout.level[0].node_offset);
  }
};

/// Of systems that are blocks of larger ones: up, without a root, and down again.
template <class T, int W = 1>
struct MergeChain {
  ChainCoarse<T, W> chain;
  PackedSegments<T, W> blocks;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    put_segment(blocks, system, chain.merge_all(system));
  }
};
template <class T, int W = 1>
struct SpreadChain {
  ChainCoarse<T, W> chain;
  PackedBounds<T, W> bounds;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    const Bounds<T, W> b = bounds.get(system);
    if (!(finite_probe(b) == 0)) chain.diagnosis.mark_suspect();
    chain.spread(system, b);
  }
};
/// The same as if the root had been here, for `DescendCoarse`.
template <class T, int W = 1>
struct PutRoot {
  T* work;
  TeamLayout layout;
  Diagnosis diagnosis;
  PackedBounds<T, W> bounds;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    const Bounds<T, W> b = bounds.get(system);
    if (!(finite_probe(b) == 0)) diagnosis.mark_suspect();
    OuterBounds<T, W>{work + system * layout.words + layout.bounds_offset, layout.segments}.put(b);
  }
};

/// What the teams that go up the tree have to do before: nothing.
struct SegmentsAreThere {
  static constexpr bool segments_are_there = true;

  template <class Merge, class Gate>
  auto kernel(const Merge& merge, const Gate& gate, int teams) const {
    return gate(merge, teams);
  }
  League league(const League& of_merge) const { return of_merge; }
};

/// From the segments of level 0 to the values at their ends.
template <class T, int W = 1>
struct ReducedSystem {
  T* work;  // [systems][layout.words]
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;
  Diagnosis diagnosis;

  template <class Exec, class Gate = Always, class Before = SegmentsAreThere>
  void launch(const Exec& exec, std::int64_t count, const std::string& label, const Gate& gate = {},
              const Before& before = {}) const {
    runs().merge(exec, count, label, gate);
    if (is_chain(count)) {
      Kokkos::parallel_for(label + "chain", range(exec, count), gate(chain(), count));
    } else if (W == 1 && Before::segments_are_there && SolveCoarse<T>::is_for(layout)) {
      if constexpr (W == 1 && Before::segments_are_there)
        launch_merge(exec, count, label,
                     SolveCoarse<T>{work, layout, periodic, coarse_rows(), diagnosis}, gate,
                     before);
    } else {
      launch_merge(exec, count, label, merge_coarse(), gate, before);
      if (!MergeCoarse<T, W>::goes_down(layout)) launch_descent(exec, count, label, gate);
    }
    runs().spread(exec, count, label, gate);
  }
  /// Of systems that are blocks of larger ones.
  template <class Exec>
  void merge(const Exec& exec, std::int64_t count, const std::string& label,
             const PackedSegments<T, W>& blocks) const {
    runs().merge(exec, count, label, Always());
    if (is_chain(count))
      Kokkos::parallel_for(label + "merge_chain", range(exec, count),
                           MergeChain<T, W>{chain(), blocks});
    else
      launch_merge(exec, count, label, merge_coarse(blocks), Always(), SegmentsAreThere());
  }
  template <class Exec>
  void spread(const Exec& exec, std::int64_t count, const std::string& label,
              const PackedBounds<T, W>& bounds) const {
    if (is_chain(count)) {
      Kokkos::parallel_for(label + "spread_chain", range(exec, count),
                           SpreadChain<T, W>{chain(), bounds});
    } else {
      Kokkos::parallel_for(label + "root", range(exec, count),
                           PutRoot<T, W>{work, layout, diagnosis, bounds});
      launch_descent(exec, count, label, Always());
    }
    runs().spread(exec, count, label, Always());
  }

 private:
  bool is_chain(std::int64_t count) const {
    return ChainCoarse<T, W>::is_for(layout.segments, count);
  }
  SegmentRuns<T, W> runs() const { return {work, layout, segment_rows, diagnosis}; }
  /// Below a segment that the tree begins with.
  std::int64_t coarse_rows() const {
    return segment_rows * (layout.stage[0].segments / layout.segments);
  }
  ChainCoarse<T, W> chain() const { return {work, layout, periodic, coarse_rows(), diagnosis}; }
  MergeCoarse<T, W> merge_coarse(const PackedSegments<T, W>& blocks = {nullptr}) const {
    return {work, layout, periodic, coarse_rows(), diagnosis, blocks};
  }
  template <class Exec, class Merge, class Gate, class Before>
  void launch_merge(const Exec& exec, std::int64_t count, const std::string& label,
                    const Merge& merge, const Gate& gate, const Before& before) const {
    const League league =
        before.league({static_cast<int>(count * layout.level[0].groups), Merge::threads(layout),
                       Merge::scratch_bytes(layout), Gate::overlaps});
    const auto kernel = before.kernel(merge, gate, league.teams);
    if constexpr (W == 1)
      launch_teams<Merge::most_threads>(exec, label + "coarse", league, kernel);
    else  // 2 to 4 us faster than overlapped, up to a million rows
      launch_teams_by_kokkos<Merge::most_threads>(exec, label + "coarse", league, kernel);
  }
  template <class Exec, class Gate>
  void launch_descent(const Exec& exec, std::int64_t count, const std::string& label,
                      const Gate& gate) const {
    if (layout.level[0].lanes <= CoarseTree<T, W>::lanes) {
      using Descent = DescendInTeams<T, W>;
      const League league{static_cast<int>(count * layout.level[0].groups), Descent::lanes,
                          Descent::scratch_bytes(layout.levels), Gate::overlaps};
      launch_teams<Descent::lanes>(exec, label + "bounds", league,
                                   gate(Descent{work, layout}, league.teams));
    } else if constexpr (W == 1) {
      const std::int64_t segments = count * layout.segments;
      Kokkos::parallel_for(label + "bounds", range(exec, segments),
                           gate(DescendCoarse<T>{work, layout}, segments));
    }
  }
};

}  // namespace Trikkos::Impl

#endif
