// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COARSEDESCENT_HPP
#define TRIKKOS_IMPL_COARSEDESCENT_HPP

#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_CoarseLayout.hpp>

/// \file
/// The way down the coarse tree: from the root to the values at the ends of its segments.

namespace Trikkos::Impl {

/// The values at the ends of a segment, whose outermost ones were written by the root.
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION void put_inner_bounds(T* bounds, std::int64_t i, std::int64_t segments,
                                                  const Bounds<T, W>& b) {
  T x[4 * W];
  put_bounds([&](int k) -> T& { return x[k]; }, b);
  TRIKKOS_UNROLL(W)
  for (int k = W; k < 2 * W; ++k) {
    if (i > 0) bounds[2 * W * i + k] = x[k];
    if (i < segments - 1) bounds[2 * W * i + W + k] = x[W + k];
  }
}

/// The way down the coarse tree, a team a group of the finest level, a thread a segment. Which
/// nodes are on the way does not depend on their values: all are read at once.
template <class T, int W = 1>
struct DescendInTeams {
  using Node = MergeNode<T, W>;
  using Tree = CoarseTree<T, W>;
  static constexpr int lanes = Tree::lanes, path_words = Tree::levels * Node::words;

  T* work;
  TeamLayout layout;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    const auto [system, group] = split_index(member.league_rank(), layout.level[0].groups);
    const int t = member.team_rank();
    T* const mine = work + system * layout.words;
    T* const own = team_scratch<T, staging_alignment>(member);
    T* const path = own + lanes * Node::words;
    const T* const nodes = mine + layout.level[0].node_offset + group * lanes * Node::words;
    const int wide = layout.level[0].lanes;
    Staging<Member> staging(member, path + staged_words<T>((layout.levels - 1) * path_words));
    staging.load_by_all([&] {
      if (t < wide) {
        TRIKKOS_UNROLL(Node::words)
        for (int k = 0; k < Node::words; ++k)
          start_copy(own + (k * wide + t), nodes + k * wide + t);
      }
      for_levels(group, [&](int l, std::int64_t parent, int leaf, int depth) {
        const T* const above = mine + layout.level[l].node_offset + parent * lanes * Node::words;
        TRIKKOS_UNROLL(1)
        for (int i = t; i < depth * Node::words; i += lanes) {
          const int d = i / Node::words, k = i % Node::words,
                    slot = (1 << d) + (leaf >> (depth - d));
          start_copy(path + ((l - 1) * path_words + i),
                     above + Tree::node_word(slot, k, 1 << depth));
        }
      });
    });
    T* const bounds = mine + layout.bounds_offset;
    auto b = OuterBounds<T, W>{bounds, layout.segments}.get();
    staging.wait();

    for_levels(group, [&](int l, std::int64_t, int leaf, int depth) {
      const T* node = path + (l - 1) * path_words;
      for (int h = (1 << depth) / 2; h >= 1; h /= 2, node += Node::words)
        descend(
            b, [&](int k) { return node[k]; }, (leaf & h) != 0);
    });
    const std::int64_t i = group * lanes + t;
    if (i >= layout.segments) return;
    descend_tree(b, 1, wide / 2, t, [&](int slot, int k) { return own[k * wide + slot]; });
    put_inner_bounds<T, W>(bounds, i, layout.segments, b);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(int levels) {
    return sizeof(T) * (lanes * Node::words + staged_words<T>((levels - 1) * path_words)) +
           staging_bytes + staging_alignment;
  }

 private:
  /// body(l, group, leaf, depth) for the levels above the finest, from the top: where the group
  /// that counts there is, and that of the finest level below it.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_levels(std::int64_t group, const Body& body) const {
    TRIKKOS_UNROLL(1)
    for (int l = layout.levels - 1; l >= 1; --l) {
      std::int64_t at = group;
      for (int k = 1; k < l; ++k) at /= lanes;
      int depth = 0;
      while ((1 << depth) < layout.level[l].lanes) ++depth;
      body(l, at / lanes, static_cast<int>(at % lanes), depth);
    }
  }
};

/// The way down an only group, however wide it is, each thread by itself.
template <class T>
struct DescendCoarse {
  T* work;
  TeamLayout layout;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [system, i] = split_index(index, layout.segments);
    T* const mine = work + system * layout.words;
    T* const bounds = mine + layout.bounds_offset;
    const T* const nodes = mine + layout.level[0].node_offset;
    const int wide = layout.level[0].lanes;
    auto b = OuterBounds<T, 1>{bounds, layout.segments}.get();
    descend_tree(b, 1, wide / 2, static_cast<int>(i), [&](int slot, int k) {
      return nodes[CoarseTree<T, 1>::node_word(slot, k, wide)];
    });
    put_inner_bounds<T, 1>(bounds, i, layout.segments, b);
  }
};

}  // namespace Trikkos::Impl

#endif
