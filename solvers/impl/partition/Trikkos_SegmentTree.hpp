// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTTREE_HPP
#define TRIKKOS_IMPL_SEGMENTTREE_HPP

#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/partition/Trikkos_Merge.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// Segments in memory, and the tree in which a team merges those of its threads.

namespace Trikkos::Impl {

/// The words of a segment in the slot of some memory: `word(slot, k)` is where the k-th lies.
template <class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION void put_segment(const Word& word, std::int64_t slot,
                                             const Segment<T>& s) {
  const auto& [A, B] = s;
  const Coefficient<T> top[] = {A.l, A.u, A.p}, bottom[] = {B.l, B.u, B.p, B.q};
  TRIKKOS_UNROLL(3)
  for (int k = 0; k < 3; ++k) word(slot, k) = top[k];
  TRIKKOS_UNROLL(4)
  for (int k = 0; k < 4; ++k) word(slot, 4 + k) = bottom[k];
  put_right_sides<T>(
      [&](int k) -> auto& { return word(slot, k); }, 3, 8, 9, A.f, B.f);
}
template <class T, int W, class Word>
KOKKOS_FORCEINLINE_FUNCTION void put_segment(const Word& word, std::int64_t slot,
                                             const Segment<T, W>& s) {
  TRIKKOS_UNROLL(s.words)
  for (int k = 0; k < s.words; ++k) word(slot, k) = s.w[k];
}
template <class T, int W, class Word>
requires(W == 1)
    KOKKOS_FORCEINLINE_FUNCTION Segment<T> get_segment(const Word& word, std::int64_t slot) {
  const auto [f, g] = right_sides<T>([&](int k) { return word(slot, k); }, 3, 8, 9);
  return {{word(slot, 0), word(slot, 1), word(slot, 2), f},
          {word(slot, 4), word(slot, 5), word(slot, 6), word(slot, 7), g}};
}
/// That of the j-th system.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Segment<Coefficient<V>, W> segment_of_system(const Segment<V, W>& s,
                                                                         int j) {
  if constexpr (systems_of<V> == 1) {
    return s;
  } else {
    const auto& [A, B] = s;
    return {{A.l, A.u, A.p, column(A.f, j)}, {B.l, B.u, B.p, B.q, column(B.f, j)}};
  }
}

template <class T, int W, class Word>
requires(W > 1)
    KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> get_segment(const Word& word, std::int64_t slot) {
  Segment<T, W> s;
  TRIKKOS_UNROLL(s.words)
  for (int k = 0; k < s.words; ++k) s.w[k] = word(slot, k);
  return s;
}

/// Segments in memory, a word of all of them at a time.
template <class T, int W = 1>
struct SegmentArray {
  Coefficient<T>* data;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION Coefficient<T>& operator()(std::int64_t i, int k) const {
    return data[k * count + i];
  }
  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t i, const Segment<T, W>& s) const {
    put_segment(*this, i, s);
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> get(std::int64_t i) const {
    return get_segment<T, W>(*this, i);
  }
};

/// Segments of systems that are blocks of larger ones, each in one piece, to be handed on.
template <class T, int W = 1>
struct PackedSegments {
  T* data;

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::int64_t i, int k) const {
    return data[i * Segment<T, W>::words + k];
  }
};
/// What comes back for each of them.
template <class T, int W = 1>
struct PackedBounds {
  T* data;

  KOKKOS_FORCEINLINE_FUNCTION T* words(std::int64_t i) const { return data + 4 * W * i; }
  KOKKOS_FORCEINLINE_FUNCTION Bounds<T, W> get(std::int64_t i) const {
    return bounds_from<T, W>([&](int k) { return words(i)[k]; });
  }
};

/// The left or right child of a node of `apart` interleaved heaps.
KOKKOS_FORCEINLINE_FUNCTION int child_slot(int slot, int apart, bool right) {
  return 2 * slot - (slot & (apart - 1)) + (right ? apart : 0);
}

/// For `merge_tree`: every segment has one to be merged with.
struct InPairs {
  KOKKOS_FORCEINLINE_FUNCTION constexpr bool operator()(int, int) const { return true; }
};
/// The first `count` of `lanes` segments are there. Others would be identities, but merges with
/// these want scaling, which takes as long again as merges without.
struct FirstOf {
  int count, lanes;

  KOKKOS_FORCEINLINE_FUNCTION bool operator()(int h, int pair) const {
    return (2 * pair + 1) * (lanes / (2 * h)) < count;
  }
};

/// For `merge_tree`: nobody sees its merges.
struct Unwatched {
  template <class... Any>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Any&...) const {}
};

/// Merges segments in pairs, `levels` times, in scratch that has a slot of as many words as a node
/// for each, `word(slot, k)`: slots [0, h) hold the h segments of a level, slots [h, 2h) the nodes
/// of the merges that made them (a heap). The first of them are there, behind a barrier; half as
/// many threads as these merge. `keep(slot, node)` stores a node;
/// `check(h, pair, left, right, merged, node)` sees every merge, some more than once;
/// `has_right(h, pair)` says where there is none, as no segment is on the right. Returns segment t
/// to the threads t < lanes >> levels, and `s` where nothing is merged.
///
/// Neighbours are `apart` slots from each other, a power of two: as many trees are interleaved.
/// \tparam by_warp  whether a warp has a loop of its own where it suffices; two loops cost more
///                  than they gain in some kernels (perf_tests/README.md)
template <bool by_warp = true, class Member, class Slots, class T, int W, class Keep,
          class Check = Unwatched, class HasRight = InPairs>
KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_slots(const Member& member, const Slots& word,
                                                      int lanes, int levels, Segment<T, W> s,
                                                      const Keep& keep, int apart = 1,
                                                      const Check& check = {},
                                                      const HasRight& has_right = {}) {
  const int t = member.team_rank(), alone = threads_of_warp<Member>();
  const int last = lanes >> levels > 0 ? lanes >> levels : 1;
  int h = lanes / 2;
  const auto merge_pairs = [&](int pair, bool merges, const auto& barrier) {
    const int first = child_slot(pair, apart, false);
    MergeNode<T, W> node;
    if (merges) {
      const Segment<T, W> left = get_segment<T, W>(word, first);
      if (has_right(h, pair)) {
        const Segment<T, W> right = get_segment<T, W>(word, first + apart);
        s = merge(left, right, node);
        check(h, pair, left, right, s, node);
      } else if constexpr (!std::is_same_v<HasRight, InPairs>) {
        s = left;
        node = node_of_none<T>();
      }
    }
    barrier();
    if (t < h) {
      put_segment(word, t, s);
      keep(h + t, node);
    }
    barrier();
  };
  if (by_warp && h <= alone) {
    // All threads of the warp merge, some what others do, too: branches and barriers took as long
    // as the merge itself.
    if (t < alone) {
      TRIKKOS_UNROLL(1)
      for (; h >= last; h /= 2) merge_pairs(t & (h - 1), true, [] { warp_barrier(); });
    }
  } else {
    TRIKKOS_UNROLL(1)
    for (; h >= last; h /= 2) {
      if (h <= alone && t >= alone) break;  // the rest by the first threads, without the team
      merge_pairs(t, t < h, [&] {
        if (h <= alone)
          warp_barrier();
        else
          member.team_barrier();
      });
    }
  }
  member.team_barrier();
  return s;
}
/// Those of `lanes` threads. With W > 1 one that merges nothing does not get its own back, for
/// which registers would be wanted while others merge, but where there is no level at all.
template <bool by_warp = true, class Member, class Slots, class T, int W, class Keep,
          class Check = Unwatched, class HasRight = InPairs>
KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_tree(const Member& member, const Slots& word,
                                                     int lanes, int levels,
                                                     const Segment<T, W>& mine, const Keep& keep,
                                                     int apart = 1, const Check& check = {},
                                                     const HasRight& has_right = {}) {
  if (member.team_rank() < lanes) put_segment(word, member.team_rank(), mine);
  member.team_barrier();
  if constexpr (W == 1) {
    return merge_slots<by_warp>(member, word, lanes, levels, mine, keep, apart, check, has_right);
  } else {
    if (levels == 0) return mine;
    return merge_slots<by_warp>(member, word, lanes, levels, identity_segment<T, W>(), keep, apart,
                                check);
  }
}

/// The same to the root, for W > 1, by 2W threads a merge, of which each has some columns
/// (`MeetingRows`): fewer are idle, and fewer registers are wanted. Slots hold segments as a heap:
/// those to be merged are in [lanes, 2 lanes), behind a barrier, and the root is in slot 1, also
/// behind one. Nodes lie in other memory, `keep.node(slot)`.
template <class T, int W, class Member, class Slots, class Keep, class Check = Unwatched>
KOKKOS_FORCEINLINE_FUNCTION void merge_by_columns(const Member& member, const Slots& word,
                                                  int lanes, const Keep& keep,
                                                  const Check& check = {}) {
  constexpr int threads = 2 * W;
  const int t = member.team_rank(), alone = threads_of_warp<Member>();
  TRIKKOS_UNROLL(1)
  for (int h = lanes / 2; h >= 1; h /= 2) {
    const bool by_warp = h * threads <= alone;
    if (by_warp && t >= alone) break;
    const auto barrier = [&] {
      if (by_warp)
        warp_barrier();
      else
        member.team_barrier();
    };
    TRIKKOS_UNROLL(1)
    for (int i = t; i < h * threads; i += member.team_size()) {
      const int slot = h + i / threads, left = 2 * slot;
      MeetingRows<T, W, threads> rows([&](int k) { return word(left, k); },
                                      [&](int k) { return word(left + 1, k); }, i % threads);
      auto node = keep.node(slot);
      rows.template eliminate<true>(node);
      rows.put_segment([&](int k, const T& v) { word(slot, k) = v; });
    }
    barrier();
    if constexpr (!std::is_same_v<Check, Unwatched>)
      for (int i = t; i < h; i += member.team_size()) {
        const auto get = [&](int slot) { return get_segment<T, W>(word, slot); };
        check(h, i, get(2 * (h + i)), get(2 * (h + i) + 1), get(h + i), keep.node(h + i));
      }
  }
  member.team_barrier();
}

/// The way down the tree from node `slot` to the segment of `leaf`, whose bounds `b` becomes.
/// `h`: half the segments below that node. `word(slot, k)` is what `keep` has stored.
template <class T, int W, class Word>
KOKKOS_FORCEINLINE_FUNCTION void descend_tree(Bounds<T, W>& b, int slot, int h, int leaf,
                                              const Word& word, int apart = 1) {
  TRIKKOS_UNROLL(1)
  for (; h >= 1; h /= 2) {
    const bool right = (leaf & h) != 0;
    descend(
        b, [&](int k) { return word(slot, k); }, right);
    slot = child_slot(slot, apart, right);
  }
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
