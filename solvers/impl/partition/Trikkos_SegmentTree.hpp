// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTTREE_HPP
#define TRIKKOS_IMPL_SEGMENTTREE_HPP

#include <impl/partition/Trikkos_Merge.hpp>

/// \file
/// Segments in memory, and the tree in which a team merges those of its threads.

namespace Trikkos::Impl {

/// Segments in memory, a word of all of them at a time.
template <class T>
struct SegmentArray {
  T* data;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t i, const Segment<T>& s) const {
    T* p = data + i;
    const T w[segment_words] = {s.top.l,    s.top.u,    s.top.p,    s.top.f,   s.bottom.l,
                                s.bottom.u, s.bottom.p, s.bottom.q, s.bottom.f};
    for (int k = 0; k < segment_words; ++k) p[k * count] = w[k];
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment<T> get(std::int64_t i) const {
    const T* p = data + i;
    return {{p[0], p[count], p[2 * count], p[3 * count]},
            {p[4 * count], p[5 * count], p[6 * count], p[7 * count], p[8 * count]}};
  }
};

/// Merges the segments of `lanes` threads in pairs, `levels` times, in scratch of 11 words a lane:
/// slots [0, h) hold the h segments of a level, slots [h, 2h) the nodes of the merges that made
/// them (a heap). `keep(slot, node)` stores a node, `check(h, pair, left, right, merged, node)`
/// sees every merge. Returns segment t to the threads t < lanes >> levels.
template <class Member, class T, class Keep, class Check>
KOKKOS_FORCEINLINE_FUNCTION Segment<T> merge_tree(const Member& member, T* scratch, int lanes,
                                                  int levels, Segment<T> s, const Keep& keep,
                                                  const Check& check) {
  const int t = member.team_rank();
  const SegmentArray<T> slots{scratch, lanes};
  if (t < lanes) slots.put(t, s);
  member.team_barrier();
  TRIKKOS_UNROLL(1)
  for (int h = lanes / 2; h >= lanes >> levels && h > 0; h /= 2) {
    MergeNode<T> node;
    if (t < h) {
      const Segment<T> left = slots.get(2 * t), right = slots.get(2 * t + 1);
      s = merge(left, right, node);
      check(h, t, left, right, s, node);
    }
    member.team_barrier();
    if (t < h) {
      slots.put(t, s);
      keep(h + t, node);
    }
    member.team_barrier();
  }
  return s;
}

/// The way down the tree from node `slot` to the segment of `leaf`, whose bounds `b` becomes.
/// `h`: half the segments below that node. `word(slot, k)` is what `keep` has stored.
template <class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION void descend_tree(Bounds<T>& b, int slot, int h, int leaf,
                                              const Word& word) {
  TRIKKOS_UNROLL(1)
  for (; h >= 1; h /= 2) {
    const bool right = (leaf & h) != 0;
    descend(
        b, [&](int k) { return word(slot, k); }, right);
    slot = 2 * slot + right;
  }
}

/// The same from the root of a tree of 2^levels segments in slow memory: which nodes lie on the way
/// does not depend on their values, so that all are read at once.
template <int levels, class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION void descend_path(Bounds<T>& b, int leaf, const Word& word) {
  MergeNode<T> path[levels];
  TRIKKOS_UNROLL(levels)
  for (int d = 0; d < levels; ++d)
    for (int k = 0; k < MergeNode<T>::words; ++k)
      path[d].g[k] = word((1 << d) + (leaf >> (levels - d)), k);
  TRIKKOS_UNROLL(levels)
  for (int d = 0; d < levels; ++d)
    descend(
        b, [&](int k) { return path[d].g[k]; }, (leaf >> (levels - 1 - d) & 1) != 0);
}

/// Splits the bounds of a chain, merged from left to right, into those of its last link, which are
/// returned, and of the rest.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Bounds<V> unchain(Bounds<V>& b, const MergeNode<V>& node) {
  const auto [v1, u2] = meeting_point(b, node);
  const Bounds<V> last{v1, u2, b.last, b.next};
  b = {b.prev, b.first, v1, u2};
  return last;
}

}  // namespace Trikkos::Impl

#endif
