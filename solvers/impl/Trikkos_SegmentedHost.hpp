// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTEDHOST_HPP
#define TRIKKOS_IMPL_SEGMENTEDHOST_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_PartitionDiagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TwoRowCarry.hpp>
#include <algorithm>

/// \file
/// `Algorithm::segmented` where the execution space is the host. A thread works on a tile of
/// `lane_count` neighbouring partitions at a time, one a SIMD lane, and chains their segments into
/// the segment of its group; the groups are solved by one thread, and a second pass goes back
/// through each group. A group's size depends on n alone, so results do not depend on threads.
///
/// Traffic: 4 words a row read in the first pass, 4 read and 1 written in the second.

namespace Trikkos::Impl {

/// Rows of a system in partitions, tiles of partitions, and groups of tiles.
struct HostShape {
  static constexpr std::int64_t default_rows = 128, max_groups = 64, min_tiles_in_group = 4;

  std::int64_t n = 0, rows = 0, partitions = 0, tiles_in_group = 0, groups = 0;
  int lanes = 1;

  HostShape() = default;
  HostShape(std::int64_t n_, std::int64_t partition_size, int lanes_) : n(n_), lanes(lanes_) {
    rows = partition_size;
    if (rows == 0)  // small systems: one tile, all lanes busy
      rows = std::clamp<std::int64_t>((n + lanes - 1) / lanes, 2, default_rows);
    partitions = (n + rows - 1) / rows;
    const std::int64_t tiles = (partitions + lanes - 1) / lanes;
    tiles_in_group = std::max(min_tiles_in_group, (tiles + max_groups - 1) / max_groups);
    groups = (tiles + tiles_in_group - 1) / tiles_in_group;
  }
  std::int64_t partitions_in_group() const { return tiles_in_group * lanes; }
  /// Scalars that each group needs to hold the back substitution of a tile.
  std::int64_t back_words() const { return 3 * rows * lanes; }
};

/// One right-hand side's share of the workspace.
template <class T>
struct HostStorage {
  MergeNode<T>* partition_nodes;  // [partitions]: merge of partition i into those left of it
  MergeNode<T>* group_nodes;      // [groups]
  Segment<T>* group_segments;     // [groups]
  Bounds<T>* group_bounds;        // [groups]
  T* back;                        // [groups][back_words]
};

/// A tile: `lanes` partitions of V = Lanes<T>, or one of V = T. Row k of the tile is row k of each.
template <class T, class V, int Width>
struct HostTile {
  const Bands<T>& A;
  std::int64_t first_row, rows;

  std::int64_t row_of(int l) const { return first_row + l * rows; }
  /// Rows of partition l: fewer, or none, at the end of the system.
  std::int64_t length(int l) const { return std::clamp<std::int64_t>(A.n - row_of(l), 0, rows); }
  bool is_full() const { return first_row + Width * rows <= A.n; }

  template <class Element>
  V gather(const Element& element) const {
    V v{};
    for (int l = 0; l < Width; ++l) set_lane(v, l, element(row_of(l), l));
    return v;
  }

  /// Row k where it can be an end of the matrix or lie behind it.
  Equation<V> safe_equation(const Strided<const T>& b, std::int64_t k) const {
    const auto in = [&](int l) { return k < length(l); };
    return scaled(Equation<V>{
        gather([&](std::int64_t r, int l) { return in(l) ? A.lower(r + k) : T(0); }),
        gather([&](std::int64_t r, int l) { return in(l) ? A.diag(r + k) : T(1); }),
        gather([&](std::int64_t r, int l) { return in(l) ? A.upper(r + k) : T(0); }),
        gather([&](std::int64_t r, int l) { return in(l) ? b[r + k] : T(0); })});
  }
  /// Row k of a full tile, k > 0.
  Equation<V> equation(const Strided<const T>& b, std::int64_t k) const {
    if (k == rows - 1) return safe_equation(b, k);
    const auto load = [&](const Strided<const T>& s) {
      const T* p = s.data + (first_row + k) * s.stride;
      const std::int64_t step = rows * s.stride;
      V v{};
      for (int l = 0; l < Width; ++l) set_lane(v, l, A.value(p[l * step]));
      return v;
    };
    const V a = load(A.sub), d = load(A.main), c = load(A.super);
    const T* p = b.data + (first_row + k) * b.stride;
    const std::int64_t step = rows * b.stride;
    V f{};
    for (int l = 0; l < Width; ++l) set_lane(f, l, p[l * step]);
    return scaled(Equation<V>{a, d, c, f});
  }
  auto longer_than(std::int64_t k) const {
    if constexpr (Width == 1) {
      return k < length(0);
    } else {
      decltype(V{} > V{}) mask{};
      for (int l = 0; l < Width; ++l) mask[l] = k < length(l) ? -1 : 0;
      return mask;
    }
  }
};

template <class Mask, class V>
void select_segment(const Mask& mask, Segment<V>& s, const Segment<V>& other) {
  const auto row = [&](CarriedRow<V>& r, const CarriedRow<V>& o) {
    r = {select(mask, o.l, r.l), select(mask, o.u, r.u), select(mask, o.p, r.p),
         select(mask, o.q, r.q), select(mask, o.f, r.f)};
  };
  row(s.top, other.top);
  row(s.bottom, other.bottom);
}

/// First pass over a tile: the segments of its partitions.
template <class T, class V, int Width>
Segment<V> reduce_tile(const HostTile<T, V, Width>& tile, const Strided<const T>& b) {
  const Equation<V> e0 = tile.safe_equation(b, 0);
  if (tile.is_full()) {
    Segment<V> s = start_segment(e0, tile.equation(b, 1));
    for (std::int64_t k = 2; k < tile.rows; ++k) carry(s, tile.equation(b, k));
    return s;
  }
  Segment<V> s = transparent_segment<V>();
  select_segment(tile.longer_than(0), s, single_row_segment(e0));
  select_segment(tile.longer_than(1), s, start_segment(e0, tile.safe_equation(b, 1)));
  for (std::int64_t k = 2; k < tile.length(0); ++k) {
    Segment<V> next = s;
    carry(next, tile.safe_equation(b, k));
    select_segment(tile.longer_than(k), s, next);
  }
  return s;
}

/// Second pass over a tile whose bounds are known: its solution. `back` holds 3 rows Width words.
/// Returns a probe of its finiteness.
template <class T, class V, int Width>
auto substitute_tile(const HostTile<T, V, Width>& tile, const Strided<const T>& b,
                  const Strided<T>& x, const Bounds<V>& bounds, T* back_words) {
  V* back = reinterpret_cast<V*>(back_words);
  const bool full = tile.is_full();
  const std::int64_t length = full ? tile.rows : tile.length(0);
  const auto put = [&](std::int64_t k, const V& v) {
    T* p = x.data + (tile.first_row + k) * x.stride;
    const std::int64_t step = tile.rows * x.stride;
    if (full)
      for (int l = 0; l < Width; ++l) p[l * step] = lane(v, l);
    else
      for (int l = 0; l < Width; ++l)
        if (k < tile.length(l)) p[l * step] = lane(v, l);
  };

  if (length > 1) {
    const Equation<V> e0 = tile.safe_equation(b, 0);
    FoldedPair<V> s = start_fold(e0, full ? tile.equation(b, 1) : tile.safe_equation(b, 1),
                                 bounds.prev, bounds.first);
    for (std::int64_t k = 2; k < length; ++k) {
      const auto r = fold(s, full ? tile.equation(b, k) : tile.safe_equation(b, k));
      back[3 * k] = r.q;
      back[3 * k + 1] = r.r;
      back[3 * k + 2] = r.f;
    }
  }
  // Row k of the fold has eliminated unknown k - 1.
  V next = bounds.last, after = bounds.next;
  auto probe = finite_probe(next);
  for (std::int64_t k = length - 1; k >= 2; --k) {
    V v = back[3 * k + 2] - back[3 * k] * next - back[3 * k + 1] * after;
    if (!full) {  // lanes that end before row k still wait with their own last unknown
      const auto active = tile.longer_than(k);
      put(k, next);
      v = select(active, v, next);
      after = select(active, next, after);
    } else {
      put(k, next);
      after = next;
    }
    next = v;
    probe += finite_probe(next);
  }
  if (length > 1) put(1, next);
  put(0, bounds.first);
  return probe + finite_probe(bounds.first);
}

/// Everything that one solve of `segmented` on the host needs to know.
template <class T>
struct SegmentedHost {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  HostShape shape;
  Diagnosis diagnosis;
  T* storage;  // [rhs in flight][storage_words(shape)]

  static std::int64_t storage_words(const HostShape& s) {
    constexpr std::int64_t alignment = 64 / sizeof(T) ? 64 / sizeof(T) : 1;
    const std::int64_t words = MergeNode<T>::words * (s.partitions + s.groups) +
                               (segment_words + 4) * s.groups;
    return (words + alignment - 1) / alignment * alignment + s.groups * s.back_words();
  }
  HostStorage<T> storage_of(std::int64_t rhs) const {
    const std::int64_t words = storage_words(shape);
    T* p = storage + rhs * words;
    HostStorage<T> r;
    r.partition_nodes = reinterpret_cast<MergeNode<T>*>(p);
    r.group_nodes = r.partition_nodes + shape.partitions;
    r.group_segments = reinterpret_cast<Segment<T>*>(r.group_nodes + shape.groups);
    r.group_bounds = reinterpret_cast<Bounds<T>*>(r.group_segments + shape.groups);
    r.back = p + words - shape.groups * shape.back_words();
    return r;
  }

  // ---- chains of segments

  /// Merges `right` into the chain `s` and keeps the node; reports a breakdown of this merge, whose
  /// first eliminated unknown is x(row - 1).
  void chain(Segment<T>& s, const Segment<T>& right, MergeNode<T>& node, std::int64_t row,
             bool report) const {
    const Segment<T> left = s;
    s = merge(left, right, node);
    if (report && !is_finite(s) && is_finite(left) && is_finite(right))
      diagnosis.report(Status::Reason::singular, row - 1);
  }
  /// Splits the bounds of a chain into those of its last link, returned, and of the rest.
  static Bounds<T> unchain(Bounds<T>& b, const MergeNode<T>& node) {
    const auto [v1, u2] = meeting_point(b, [&](int k) { return node.g[k]; });
    const Bounds<T> last{v1, u2, b.last, b.next};
    b = {b.prev, b.first, v1, u2};
    return last;
  }

  // ---- the three phases

  template <class V, int Width>
  void reduce_group(std::int64_t rhs, std::int64_t group, bool report = false) const {
    const auto store = storage_of(rhs);
    const std::int64_t first = group * shape.partitions_in_group();
    const std::int64_t last = std::min(first + shape.partitions_in_group(), shape.partitions);
    Segment<T> s;
    for (std::int64_t i = first; i < last; i += Width) {
      const HostTile<T, V, Width> tile{A, i * shape.rows, shape.rows};
      const Segment<V> lanes = reduce_tile(tile, b[rhs]);
      for (int l = 0; l < Width && i + l < last; ++l) {
        const Segment<T> right = {
            {lane(lanes.top.l, l), lane(lanes.top.u, l), lane(lanes.top.p, l),
             lane(lanes.top.q, l), lane(lanes.top.f, l)},
            {lane(lanes.bottom.l, l), lane(lanes.bottom.u, l), lane(lanes.bottom.p, l),
             lane(lanes.bottom.q, l), lane(lanes.bottom.f, l)}};
        if (i + l == first) s = right;
        else chain(s, right, store.partition_nodes[i + l], tile.row_of(l), report);
      }
    }
    store.group_segments[group] = s;
  }

  void solve_groups(std::int64_t rhs) const {
    const auto store = storage_of(rhs);
    Segment<T> s = store.group_segments[0];
    for (std::int64_t g = 1; g < shape.groups; ++g)
      chain(s, store.group_segments[g], store.group_nodes[g],
            g * shape.partitions_in_group() * shape.rows, true);
    Bounds<T> bounds = solve_root(s, A.periodic());
    if (!(finite_probe(bounds.first) + finite_probe(bounds.last) == 0)) {
      diagnosis.mark_suspect();
      if (is_finite(s)) diagnosis.report(Status::Reason::singular, A.n - 1);
    }
    for (std::int64_t g = shape.groups - 1; g > 0; --g)
      store.group_bounds[g] = unchain(bounds, store.group_nodes[g]);
    store.group_bounds[0] = bounds;
  }

  template <class V, int Width>
  void substitute_group(std::int64_t rhs, std::int64_t group) const {
    const auto store = storage_of(rhs);
    T* const back = store.back + group * shape.back_words();
    const std::int64_t first = group * shape.partitions_in_group();
    const std::int64_t last = std::min(first + shape.partitions_in_group(), shape.partitions);
    const bool suspect = diagnosis.is_suspect();
    if (suspect) reduce_group<V, Width>(rhs, group, true);  // once more, with reports
    Bounds<T> rest = store.group_bounds[group];
    for (std::int64_t i = first + (last - first - 1) / Width * Width; i >= first; i -= Width) {
      Bounds<V> bounds{};
      for (int l = std::min<std::int64_t>(Width, last - i) - 1; l >= 0; --l) {
        const Bounds<T> one =
            i + l == first ? rest : unchain(rest, store.partition_nodes[i + l]);
        set_lane(bounds.prev, l, one.prev);
        set_lane(bounds.first, l, one.first);
        set_lane(bounds.last, l, one.last);
        set_lane(bounds.next, l, one.next);
      }
      const HostTile<T, V, Width> tile{A, i * shape.rows, shape.rows};
      if (suspect)
        for (int l = 0; l < Width; ++l)
          diagnose_partition(diagnosis, A, b[rhs], tile.row_of(l), tile.length(l));
      const auto probe = substitute_tile(tile, b[rhs], x[rhs], bounds, back);
      for (int l = 0; l < Width; ++l)
        if (!(lane(probe, l) == 0))
          report_first_not_finite(diagnosis, x[rhs], tile.row_of(l), tile.length(l));
    }
  }

  // ---- launches

  template <class V, int Width, class Exec>
  void launch(const Exec& exec, std::int64_t rhs_count, bool reset) const {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    const std::int64_t groups = shape.groups;
    const SegmentedHost self = *this;
    if (groups == 1 && rhs_count == 1) {  // one launch: at n = 1000 a launch costs as much as a pass
      Kokkos::parallel_for("Trikkos::segmented", Policy(exec, 0, 1), [self, reset](std::int64_t) {
        if (reset) self.diagnosis.reset();
        self.template reduce_group<V, Width>(0, 0);
        self.solve_groups(0);
        self.template substitute_group<V, Width>(0, 0);
      });
      return;
    }
    Kokkos::parallel_for("Trikkos::segmented::reduce", Policy(exec, 0, rhs_count * groups),
                         [self, groups, reset](std::int64_t i) {
                           if (reset && i == 0) self.diagnosis.reset();
                           self.template reduce_group<V, Width>(i / groups, i % groups);
                         });
    Kokkos::parallel_for("Trikkos::segmented::coarse", Policy(exec, 0, rhs_count),
                         [self](std::int64_t rhs) { self.solve_groups(rhs); });
    Kokkos::parallel_for("Trikkos::segmented::substitute", Policy(exec, 0, rhs_count * groups),
                         [self, groups](std::int64_t i) {
                           self.template substitute_group<V, Width>(i / groups, i % groups);
                         });
  }
};

}  // namespace Trikkos::Impl

#endif
