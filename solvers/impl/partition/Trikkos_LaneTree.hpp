// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANETREE_HPP
#define TRIKKOS_IMPL_LANETREE_HPP

#include <bit>
#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/partition/Trikkos_Merge.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>

/// \file
/// Segments in SIMD lanes, out of them, and merged to one.

namespace Trikkos::Impl {

// ---- word by word

template <class R, class V, int W, class F>
Segment<R, W> mapped(const Segment<V, W>& s, const F& f) {
  if constexpr (W == 1) {
    const auto& [A, B] = s;
    return {{f(A.l), f(A.u), f(A.p), f(A.f)}, {f(B.l), f(B.u), f(B.p), f(B.q), f(B.f)}};
  } else {
    Segment<R, W> r;
    for (int k = 0; k < r.words; ++k) r.w[k] = f(s.w[k]);
    return r;
  }
}
template <class R, class V, int W, class F>
Bounds<R, W> mapped(const Bounds<V, W>& b, const F& f) {
  if constexpr (W == 1) {
    return {f(b.prev), f(b.first), f(b.last), f(b.next)};
  } else {
    Bounds<R, W> r;
    for (int k = 0; k < 4 * W; ++k) r.x[k] = f(b.x[k]);
    return r;
  }
}
template <class R, class V, int W, class F>
MergeNode<R, W> mapped(const MergeNode<V, W>& node, const F& f) {
  MergeNode<R, W> r;
  for (int k = 0; k < r.words; ++k) r.g[k] = f(node.g[k]);
  return r;
}

template <class T, template <class, int> class Words, class V, int W>
Words<T, W> lane_of(const Words<V, W>& words, int l) {
  return mapped<T>(words, [l](const V& v) { return lane(v, l); });
}
template <class V, class T>
void set_lane_bounds(Bounds<V>& to, int l, const Bounds<T>& from) {
  set_lane(to.prev, l, from.prev);
  set_lane(to.first, l, from.first);
  set_lane(to.last, l, from.last);
  set_lane(to.next, l, from.next);
}
template <class V, class T, int W>
void set_lane_bounds(Bounds<V, W>& to, int l, const Bounds<T, W>& from) {
  for (int k = 0; k < 4 * W; ++k) set_lane(to.x[k], l, from.x[k]);
}

/// The words of a node in one lane.
template <class T, class V, int W>
struct LaneNode {
  const MergeNode<V, W>& node;
  int l;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(int k) const { return lane(node.g[k], l); }
};

/// Reports those lanes of a merge that break down, if these are among the first `count`; the first
/// row of `right` is `row` + l `stride`.
template <class T, class V, int W>
void diagnose_lanes(const Diagnosis& diagnosis, const Segment<V, W>& left,
                    const Segment<V, W>& right, const Segment<V, W>& merged,
                    const MergeNode<V, W>& node, int count, std::int64_t row, std::int64_t stride) {
  for (int l = 0; l < count; ++l)
    diagnose_merge(diagnosis, lane_of<T>(left, l), lane_of<T>(right, l), lane_of<T>(merged, l),
                   LaneNode<T, V, W>{node, l}, row + l * stride);
}

/// Merges segments, of rows of norm 1 what has faded flushed.
template <class V, int W>
Segment<V, W> merge_flushed(const Segment<V, W>& left, const Segment<V, W>& right,
                            MergeNode<V, W>& node, bool unit_rows) {
  Segment<V, W> s = merge(left, right, node);
  if constexpr (W == 1)
    if (unit_rows) flush_segment(s);
  return s;
}

/// The segments of all lanes, merged to one: those of even lanes with those of odd ones, again and
/// again. While m segments are left, lane l has the (l modulo m)-th. So the nodes of all merges
/// find place in one vector: those of the first ones in the first half of the lanes, and so on. The
/// last lane is left for a node of the user's.
template <class T, int W>
class LaneTree {
  using V = Lanes<T>;
  static constexpr int width = lane_count<T>, levels = std::bit_width(unsigned(width)) - 1;
  static_assert(1 << levels == width);

 public:
  using Nodes = MergeNode<V, W>;

  /// The first row of lane l is `row` + l `stride`.
  static Segment<T, W> merge_all(Segment<V, W> s, Nodes& nodes, bool unit_rows,
                                 const Diagnosis& diagnosis, bool report, std::int64_t row,
                                 std::int64_t stride) {
    for_constants<0, levels>([&](auto level) {
      constexpr int left_over = width >> (level + 1);
      const Segment<V, W> left = mapped<V>(s, [](const V& v) { return every_second<0>(v, all); });
      const Segment<V, W> right = mapped<V>(s, [](const V& v) { return every_second<1>(v, all); });
      Nodes node;
      s = merge_flushed(left, right, node, unit_rows);
      for (int k = 0; k < node.words; ++k)
        nodes.g[k] = level == 0 ? node.g[k] : put<left_over>(nodes.g[k], node.g[k], all);
      if (report)
        diagnose_lanes<T>(diagnosis, left, right, s, node, left_over, row + (stride << level),
                          stride << (level + 1));
    });
    return lane_of<T>(s, 0);
  }
  /// Back, from the bounds of all.
  static Bounds<V, W> spread(const Bounds<T, W>& bounds, const Nodes& nodes) {
    auto b = mapped<V>(bounds, [](const T& v) { return in_all_lanes(v); });
    for_constants<0, levels>([&](auto step) {
      constexpr int merges = 1 << step;
      const auto node = mapped<V>(nodes, [](const V& v) { return taken<merges>(v, all); });
      const Bounds<V, W> right = unchain(b, node);
      b = alternating(b, right);
    });
    return b;
  }
  static void put_last(Nodes& nodes, const MergeNode<T, W>& node) {
    for (int k = 0; k < node.words; ++k) set_lane(nodes.g[k], width - 1, node.g[k]);
  }
  static MergeNode<T, W> last(const Nodes& nodes) { return lane_of<T>(nodes, width - 1); }

 private:
  template <int... l>
  using Order = std::integer_sequence<int, l...>;
  static constexpr auto all = std::make_integer_sequence<int, width>{};

  template <class U, class O>
  KOKKOS_FORCEINLINE_FUNCTION static U ordered(const U& a, const U& b, O order) {
    if constexpr (is_complex_v<U>)
      return {ordered(a.re, b.re, order), ordered(a.im, b.im, order)};
    else
      return shuffled(a, b, order);
  }
  template <int first, int... l>
  KOKKOS_FORCEINLINE_FUNCTION static V every_second(const V& v, Order<l...>) {
    return ordered(v, v, Order<(2 * l + first) % width...>{});
  }
  template <int... l>
  KOKKOS_FORCEINLINE_FUNCTION static V alternating(const V& even, const V& odd, Order<l...>) {
    return ordered(even, odd, Order<(l % 2 * width + l / 2)...>{});
  }
  /// The nodes of so many merges begin where so many lanes, and as many more, are left.
  template <int merges, int... l>
  KOKKOS_FORCEINLINE_FUNCTION static V put(const V& nodes, const V& node, Order<l...>) {
    return ordered(nodes, node, Order<(l < width - 2 * merges ? l : width + l)...>{});
  }
  template <int merges, int... l>
  KOKKOS_FORCEINLINE_FUNCTION static V taken(const V& nodes, Order<l...>) {
    return ordered(nodes, nodes, Order<(width - 2 * merges + l % merges)...>{});
  }
  static Bounds<V, W> alternating(const Bounds<V, W>& even, const Bounds<V, W>& odd) {
    if constexpr (W == 1) {
      return {alternating(even.prev, odd.prev, all), alternating(even.first, odd.first, all),
              alternating(even.last, odd.last, all), alternating(even.next, odd.next, all)};
    } else {
      Bounds<V, W> r;
      for (int k = 0; k < 4 * W; ++k) r.x[k] = alternating(even.x[k], odd.x[k], all);
      return r;
    }
  }
};

}  // namespace Trikkos::Impl

#endif
