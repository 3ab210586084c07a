// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTEDHOST_HPP
#define TRIKKOS_IMPL_SEGMENTEDHOST_HPP

#include <algorithm>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_PartitionDiagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TwoRowCarry.hpp>

/// \file
/// `Algorithm::segmented` where the execution space is the host. A thread works on a tile of
/// neighbouring partitions at a time, one a SIMD lane, and chains their segments into the segment
/// of its group; the groups are solved by one thread, and a second pass goes back through each
/// group. A group's size depends on n alone, so results do not depend on threads.
///
/// Traffic: 4 words a row read in the first pass, 4 read and 1 written in the second.

namespace Trikkos::Impl {

/// Rows of a system in partitions, tiles of partitions, and groups of tiles.
struct HostShape {
  static constexpr std::int64_t default_rows = 264, max_groups = 64, min_tiles_in_group = 4;

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

/// How a thread works on a tile: `width` partitions side by side, one a lane of V.
template <class T, bool Vectorised>
struct TileKind {
  using V = std::conditional_t<Vectorised, Lanes<T>, T>;
  static constexpr int width = Vectorised ? lane_count<T> : 1;
};

/// A tile: neighbouring partitions, one a lane.
template <class T, class Kind>
struct HostTile {
  using V = typename Kind::V;
  static constexpr int width = Kind::width;

  const Bands<T>& A;
  Strided<const T> b;
  std::int64_t first_row, rows;

  std::int64_t row_of(int l) const { return first_row + l * rows; }
  /// Rows of partition l: fewer, or none, at the end of the system.
  std::int64_t length(int l) const { return std::clamp<std::int64_t>(A.n - row_of(l), 0, rows); }
  bool is_full() const { return first_row + width * rows <= A.n; }

  /// Row k of each partition, for a full tile and 0 < k < rows - 1.
  Equation<V> inner_equation(std::int64_t k) const {
    return scaled(
        Equation<V>{load(A.sub, k), load(A.main, k), load(A.super, k), load<false>(b, k)});
  }
  /// Row k where it may be an end of the matrix, or lie behind it: then 1 x = 0.
  Equation<V> edge_equation(std::int64_t k) const {
    Equation<V> e{};
    for (int l = 0; l < width; ++l) {
      const std::int64_t i = row_of(l) + k;
      const bool inside = k < length(l);
      set_lane(e.a, l, inside ? A.lower(i) : T(0));
      set_lane(e.b, l, inside ? A.diag(i) : T(1));
      set_lane(e.c, l, inside ? A.upper(i) : T(0));
      set_lane(e.d, l, inside ? b[i] : T(0));
    }
    return scaled(e);
  }
  Equation<V> equation(std::int64_t k, bool full) const {
    return full && k > 0 && k < rows - 1 ? inner_equation(k) : edge_equation(k);
  }
  /// Lanes with more than k rows.
  auto longer_than(std::int64_t k) const {
    if constexpr (width == 1) {
      return k < length(0);
    } else {
      decltype(V{} > V{}) mask{};
      for (int l = 0; l < width; ++l) mask[l] = k < length(l) ? -1 : 0;
      return mask;
    }
  }
  void store(const Strided<T>& x, std::int64_t k, const V& v, bool full) const {
    T* const p = x.data + (first_row + k) * x.stride;
    const std::int64_t step = rows * x.stride;
    for (int l = 0; l < width; ++l)
      if (full || k < length(l)) p[l * step] = lane(v, l);
  }
  /// Lanes lie far apart, in more streams than the hardware prefetches. So each step asks for a
  /// cache line of the tile that comes next, which is contiguous.
  void prefetch(std::int64_t next_row, std::int64_t k) const {
    const std::int64_t i = next_row + k * width;
    __builtin_prefetch(A.sub.data + i * A.sub.stride);
    __builtin_prefetch(A.main.data + i * A.main.stride);
    __builtin_prefetch(A.super.data + i * A.super.stride);
    __builtin_prefetch(b.data + i * b.stride);
  }

 private:
  template <bool Band = true>
  V load(const Strided<const T>& from, std::int64_t k) const {
    const T* const p = from.data + (first_row + k) * from.stride;
    const std::int64_t step = rows * from.stride;
    V v{};
    for (int l = 0; l < width; ++l) set_lane(v, l, Band ? A.value(p[l * step]) : p[l * step]);
    return v;
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
template <class T, class Kind, class V = typename Kind::V>
Segment<V> reduce_tile(const HostTile<T, Kind>& tile) {
  const Equation<V> e0 = tile.edge_equation(0);
  if (tile.is_full()) {
    Segment<V> s = start_segment(e0, tile.equation(1, true));
    const std::int64_t next = tile.first_row + Kind::width * tile.rows;
    for (std::int64_t k = 2; k < tile.rows - 1; ++k) {
      tile.prefetch(next, k);
      carry(s, tile.inner_equation(k));
    }
    if (tile.rows > 2) carry(s, tile.edge_equation(tile.rows - 1));
    return s;
  }
  Segment<V> s = transparent_segment<V>();
  select_segment(tile.longer_than(0), s, single_row_segment(e0));
  select_segment(tile.longer_than(1), s, start_segment(e0, tile.edge_equation(1)));
  for (std::int64_t k = 2; k < tile.length(0); ++k) {
    Segment<V> next = s;
    carry(next, tile.edge_equation(k));
    select_segment(tile.longer_than(k), s, next);
  }
  return s;
}

/// Second pass over a tile whose bounds are known: its solution. `back` holds the rows of a tile.
/// Returns a probe of each lane's finiteness.
template <class T, class Kind, class V = typename Kind::V>
Real<V> substitute_tile(const HostTile<T, Kind>& tile, const Strided<T>& x, const Bounds<V>& bounds,
                        BackRow<V>* back) {
  const bool full = tile.is_full();
  const std::int64_t length = tile.length(0);  // of the longest partition
  const std::int64_t previous = tile.first_row - Kind::width * tile.rows;
  FoldedPair<V> s =
      start_fold(tile.equation(0, full), tile.equation(1, full), bounds.prev, bounds.first);
  for (std::int64_t k = 2; k < length; ++k) {  // eliminates unknown k - 1
    if (full) tile.prefetch(previous, k);
    back[k] = fold(s, tile.equation(k, full));
  }
  V next = bounds.last, after = bounds.next;
  Real<V> probe = finite_probe(bounds.first) + finite_probe(next);
  for (std::int64_t k = length - 1; k >= 2; --k) {
    V v = back[k].f - back[k].q * next - back[k].r * after;
    tile.store(x, k, next, full);
    if (full) {
      after = next;
    } else {  // lanes that end before row k still wait with their own last unknown
      const auto active = tile.longer_than(k);
      v = select(active, v, next);
      after = select(active, next, after);
    }
    next = v;
    probe += finite_probe(v);
  }
  if (length > 1) tile.store(x, 1, next, full);
  tile.store(x, 0, bounds.first, full);
  return probe;
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
    const std::int64_t words =
        MergeNode<T>::words * (s.partitions + s.groups) + (segment_words + 4) * s.groups;
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
  template <class V>
  static Segment<T> lane_of(const Segment<V>& s, int l) {
    const auto row = [l](const CarriedRow<V>& r) {
      return CarriedRow<T>{lane(r.l, l), lane(r.u, l), lane(r.p, l), lane(r.q, l), lane(r.f, l)};
    };
    return {row(s.top), row(s.bottom)};
  }
  /// Splits the bounds of a chain into those of its last link, returned, and of the rest.
  static Bounds<T> unchain(Bounds<T>& b, const MergeNode<T>& node) {
    const auto [v1, u2] = meeting_point(b, [&](int k) { return node.g[k]; });
    const Bounds<T> last{v1, u2, b.last, b.next};
    b = {b.prev, b.first, v1, u2};
    return last;
  }

  // ---- the three phases

  template <class Kind>
  void reduce_group(std::int64_t rhs, std::int64_t group, bool report = false) const {
    using V = typename Kind::V;
    const auto store = storage_of(rhs);
    const std::int64_t first = group * shape.partitions_in_group();
    const std::int64_t last = std::min(first + shape.partitions_in_group(), shape.partitions);
    Segment<T> s;
    for (std::int64_t i = first; i < last; i += Kind::width) {
      const HostTile<T, Kind> tile{A, b[rhs], i * shape.rows, shape.rows};
      const Segment<V> partitions = reduce_tile(tile);
      for (int l = 0; l < Kind::width && i + l < last; ++l) {
        const Segment<T> right = lane_of(partitions, l);
        if (i + l == first)
          s = right;
        else
          chain(s, right, store.partition_nodes[i + l], tile.row_of(l), report);
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

  template <class Kind>
  void substitute_group(std::int64_t rhs, std::int64_t group) const {
    using V = typename Kind::V;
    constexpr int width = Kind::width;
    const auto store = storage_of(rhs);
    auto* const back = reinterpret_cast<BackRow<V>*>(store.back + group * shape.back_words());
    const std::int64_t first = group * shape.partitions_in_group();
    const std::int64_t last = std::min(first + shape.partitions_in_group(), shape.partitions);
    const bool suspect = diagnosis.is_suspect();
    if (suspect) reduce_group<Kind>(rhs, group, true);  // once more, with reports
    Bounds<T> rest = store.group_bounds[group];
    for (std::int64_t i = first + (last - first - 1) / width * width; i >= first; i -= width) {
      Bounds<V> bounds{};
      for (int l = std::min<std::int64_t>(width, last - i) - 1; l >= 0; --l) {
        const Bounds<T> one = i + l == first ? rest : unchain(rest, store.partition_nodes[i + l]);
        set_lane(bounds.prev, l, one.prev);
        set_lane(bounds.first, l, one.first);
        set_lane(bounds.last, l, one.last);
        set_lane(bounds.next, l, one.next);
      }
      const HostTile<T, Kind> tile{A, b[rhs], i * shape.rows, shape.rows};
      if (suspect)
        for (int l = 0; l < width; ++l)
          diagnose_partition(diagnosis, A, b[rhs], tile.row_of(l), tile.length(l));
      const Real<V> probe = substitute_tile(tile, x[rhs], bounds, back);
      for (int l = 0; l < width; ++l)
        if (!(lane(probe, l) == 0))
          report_first_not_finite(diagnosis, x[rhs], tile.row_of(l), tile.length(l));
    }
  }

  // ---- launches

  template <class Kind, class Exec>
  void launch(const Exec& exec, std::int64_t rhs_count, bool reset) const {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    const std::int64_t groups = shape.groups;
    const SegmentedHost self = *this;
    if (groups == 1 &&
        rhs_count == 1) {  // one launch: at n = 1000 a launch costs as much as a pass
      Kokkos::parallel_for("Trikkos::segmented", Policy(exec, 0, 1), [self, reset](std::int64_t) {
        if (reset) self.diagnosis.reset();
        self.template reduce_group<Kind>(0, 0);
        self.solve_groups(0);
        self.template substitute_group<Kind>(0, 0);
      });
      return;
    }
    Kokkos::parallel_for("Trikkos::segmented::reduce", Policy(exec, 0, rhs_count * groups),
                         [self, groups, reset](std::int64_t i) {
                           if (reset && i == 0) self.diagnosis.reset();
                           self.template reduce_group<Kind>(i / groups, i % groups);
                         });
    Kokkos::parallel_for("Trikkos::segmented::coarse", Policy(exec, 0, rhs_count),
                         [self](std::int64_t rhs) { self.solve_groups(rhs); });
    Kokkos::parallel_for("Trikkos::segmented::substitute", Policy(exec, 0, rhs_count * groups),
                         [self, groups](std::int64_t i) {
                           self.template substitute_group<Kind>(i / groups, i % groups);
                         });
  }
};

}  // namespace Trikkos::Impl

#endif
