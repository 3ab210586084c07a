// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COARSETEAM_HPP
#define TRIKKOS_IMPL_COARSETEAM_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_CoarseDescent.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

namespace Trikkos::Impl {

/// Segments and nodes of a tree in scratch, each in one piece: a place takes no multiplication.
template <class T>
struct PackedNodes {
  T* data;

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(int slot, int k) const {
    return data[slot * MergeNode<T>::words + k];
  }
};

/// The reduced system of one system, by a team that has all its segments in scratch: up the tree,
/// the root, and down again. Everything is there once in the code, rare cases too: what waits for
/// instructions here is the whole device, and those of a second loop take as long as its arithmetic
/// (perf_tests/README.md).
template <class T>
struct SolveCoarse {
  using Node = MergeNode<T>;
  static constexpr int threads_at_least = CoarseTree<T, 1>::threads,
                       most_threads = CoarseTree<T, 1>::most_alone / 2;

  static constexpr bool is_for_one_team = true;

  T* work;
  TeamLayout layout;
  bool periodic;
  std::int64_t segment_rows;  // below a segment, for reports
  Diagnosis diagnosis;

  /// Where all nodes fit into the scratch that every device has: complex numbers in double
  /// precision up to 256 segments, all others as many as are one group.
  static bool is_for(const TeamLayout& layout) {
    return layout.levels == 1 && scratch_bytes(layout) + scratch_reserved(0) <= scratch_limit;
  }
  static int threads(const TeamLayout& layout) {
    return std::max(threads_at_least, layout.level[0].lanes / 2);
  }
  static std::size_t scratch_bytes(const TeamLayout& layout) {
    return sizeof(T) * scratch_words(layout.level[0].lanes) + staging_bytes + staging_alignment;
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    solve(member, member.league_rank(), [] { return true; });
  }
  /// If `is_wanted()`, which is asked while segments are on their way.
  template <class Member, class Wanted>
  KOKKOS_FORCEINLINE_FUNCTION void solve(const Member& member, std::int64_t system,
                                         const Wanted& is_wanted) const {
    const int wide = layout.level[0].lanes;
    T* const mine = work + system * layout.words;
    const Diagnosis found = diagnosis.of(system, layout.n);
    const PackedNodes<T> slots{team_scratch<T, staging_alignment>(member)};
    Staging<Member> staging(member, slots.data + scratch_words(wide));
    load(member, staging, slots, mine);
    if (!is_wanted()) return staging.wait();

    Segment<T> all;
    bool is_watched = false;
    for (;;) {
      staging.wait();
      all = go_up(member, slots, is_watched, found);
      // what is not finite in one merge is not in any above it
      if (is_watched || is_finite(all)) break;
      is_watched = true;
      member.team_barrier();  // all have read it
      load(member, staging, slots, mine);
    }
    const Bounds<T> root = solve_root(all, periodic);
    if (member.team_rank() == 0) {
      diagnose_root(found, all, periodic, root, layout.n);
      OuterBounds<T, 1>{mine + layout.bounds_offset, layout.segments}.put(root);
    }
    go_down(member, slots, root, mine + layout.bounds_offset);
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION int scratch_words(int wide) {
    return staged_words<T>(Node::words * wide);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, Staging<Member>& staging,
                                        const PackedNodes<T>& slots, T* mine) const {
    const CoarseLevel& level = layout.level[0];
    const SegmentArray<T> segments{mine + level.segment_offset, level.count};
    staging.load_by_all([&] {
      TRIKKOS_UNROLL(1)
      for (int i = member.team_rank(); i < level.count; i += member.team_size()) {
        TRIKKOS_UNROLL(Segment<T>::words)
        for (int k = 0; k < Segment<T>::words; ++k) start_copy(&slots(i, k), &segments(i, k));
      }
    });
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Segment<T> go_up(const Member& member, const PackedNodes<T>& slots,
                                               bool is_watched, const Diagnosis& found) const {
    constexpr int most_levels = 30;  // to the root, however wide it is
    const int wide = layout.level[0].lanes;
    const FirstOf has_right{static_cast<int>(layout.segments), wide};
    const auto keep = [&](int slot, const Node& node) {
      TRIKKOS_UNROLL(Node::words)
      for (int k = 0; k < Node::words; ++k) slots(slot, k) = node.g[k];
    };
    const auto check = [&](int h, int pair, const Segment<T>& left, const Segment<T>& right,
                           const Segment<T>& merged, const Node& node) {
      if (!is_watched) [[likely]]
        return;
      const std::int64_t middle = (2 * pair + 1) * (wide / (2 * h));
      diagnose_merge(found, left, right, merged, node, middle * segment_rows);
    };
    merge_slots<false>(member, slots, wide, most_levels, identity_segment<T>(), keep, 1, check,
                       has_right);
    return get_segment<T, 1>(slots, 0);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void go_down(const Member& member, const PackedNodes<T>& nodes,
                                           const Bounds<T>& root, T* bounds) const {
    const int t = member.team_rank(), active = layout.level[0].lanes / 2;
    if (t >= active) return;
    Bounds<T> b = root;
    descend_tree(b, 1, active / 2, t, nodes);
    TRIKKOS_UNROLL(2)
    for (int i = 0; i < 2; ++i) {
      Bounds<T> own = b;
      descend(
          own, [&](int k) { return nodes(active + t, k); }, i == 1);
      if (2 * t + i < layout.segments)
        put_inner_bounds<T, 1>(bounds, 2 * t + i, layout.segments, own);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
