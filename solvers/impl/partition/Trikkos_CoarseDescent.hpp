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

/// The nodes on the way from the root to a segment. Which they are does not depend on values.
template <class T>
class CoarsePath {
  using Node = MergeNode<T>;

 public:
  KOKKOS_FORCEINLINE_FUNCTION CoarsePath(const TeamLayout& layout, const T* work,
                                         std::int64_t segment)
      : m_layout(layout), m_work(work), m_segment(segment), m_level(layout.levels) {
    enter_level();
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_done() const { return m_level < 0; }
  /// Whether the way goes to the right from here.
  KOKKOS_FORCEINLINE_FUNCTION bool turns_right() const { return (m_leaf & m_half) != 0; }
  KOKKOS_FORCEINLINE_FUNCTION Node node() const {
    Node r;
    const T* at = m_nodes + CoarseTree<T, 1>::node_word(m_slot, 0, m_wide);
    TRIKKOS_UNROLL(Node::words)
    for (int k = 0; k < Node::words; ++k, at += m_wide) r.g[k] = *at;
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void step() {
    m_slot = child_slot(m_slot, 1, turns_right());
    m_half /= 2;
    if (m_half == 0) enter_level();
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void enter_level() {
    constexpr int lanes = CoarseTree<T, 1>::lanes;
    if (--m_level < 0) return;
    std::int64_t at = m_segment;
    for (int k = 0; k < m_level; ++k) at /= lanes;
    const std::int64_t group = m_layout.levels > 1 ? at / lanes : 0;  // an only one may be wider
    const CoarseLevel& level = m_layout.level[m_level];
    m_leaf = static_cast<int>(at - group * lanes);
    m_wide = level.lanes;
    m_nodes = m_work + level.node_offset + group * lanes * Node::words;
    m_slot = 1;
    m_half = m_wide / 2;
  }

  const TeamLayout& m_layout;
  const T* m_work;
  std::int64_t m_segment;
  int m_level;
  const T* m_nodes = nullptr;
  int m_leaf = 0, m_wide = 0, m_slot = 0, m_half = 0;
};

/// The way down, each thread by itself. It reads a node while it goes on from the one before.
template <class T>
struct DescendCoarse {
  T* work;
  TeamLayout layout;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [system, i] = split_index(index, layout.segments);
    T* const mine = work + system * layout.words;
    T* const out = mine + layout.bounds_offset;
    auto b = OuterBounds<T, 1>{out, layout.segments}.get();
    CoarsePath<T> path(layout, mine, i);
    MergeNode<T> next = path.node();
    TRIKKOS_UNROLL(1)
    while (!path.is_done()) {
      const MergeNode<T> node = next;
      const bool right = path.turns_right();
      path.step();
      if (!path.is_done()) next = path.node();
      descend(b, node, right);
    }
    put_inner_bounds<T, 1>(out, i, layout.segments, b);
  }
};

}  // namespace Trikkos::Impl

#endif
