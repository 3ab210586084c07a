// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANESYSTEMS_HPP
#define TRIKKOS_IMPL_LANESYSTEMS_HPP

#include <algorithm>
#include <impl/Trikkos_InterleavedLanes.hpp>
#include <impl/Trikkos_LaneRows.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_WatchedLanes.hpp>
#include <impl/partition/Trikkos_HostPartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>

/// \file
/// `segmented` and `spike` for many systems where the execution space is the host: each SIMD lane
/// has a system of its own, partition after partition, and solves its root. Rows are read a second
/// time, from the cache, to be substituted. Long contiguous systems go one by one, partitions of
/// them in the lanes.
///
/// Some vectors of interleaved ones take turns (Trikkos_InterleavedLanes.hpp).
///
/// Traffic: 2W + 2 words a row read, 1 written.

namespace Trikkos::Impl {

/// How systems are cut: `links` partitions of `rows` rows each, and `groups` of threads' work, each
/// with memory of its own.
struct LaneShape {
  /// Systems of so many rows, whose way back stays in a cache, if not the nearest, are solved
  /// without segments.
  static constexpr std::int64_t longest_alone = 8192;
  /// Longer ones, where they are so few vectors that these may not keep all threads busy, several
  /// threads may share. Not as many as there are threads, nor as slabs of systems are cut into: no
  /// bit of x is to depend on that.
  static constexpr std::int64_t longest_undivided = 2048, most_divided = 8;

  std::int64_t n = 0, rows = 0, links = 0, groups = 0;
  int abreast = 1;  // interleaved vectors
  bool are_few = false;

  LaneShape() = default;
  template <class Elimination>
  LaneShape(const Elimination&, std::int64_t n_, std::int64_t count, std::int64_t partition_size,
            int width, int most_abreast, std::int64_t threads)
      : n(n_), are_few(n > longest_undivided && count <= most_divided * width) {
    const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t wanted = partition_size > 0 ? partition_size : HostShape::longest_rows;
    rows = Elimination::rows_in_one_go(std::min(wanted, n));
    if (partition_size == 0 && n > 0) {  // divided evenly
      constexpr std::int64_t multiple = Elimination::default_row_multiple;
      rows = ceil_div(ceil_div(n, ceil_div(n, rows)), multiple) * multiple;
    }
    links = rows > 0 ? ceil_div(n, rows) : 1;
    groups = std::min(are_few ? std::max(threads, most_divided) : threads, ceil_div(count, width));
    const bool are_alone = n <= longest_alone && !are_few;
    while (are_alone && 2 * abreast <= most_abreast && 4 * abreast * width * threads <= count)
      abreast *= 2;
  }
};

template <class T, class Elimination, class Matrices = Systems<T, Elimination::half_bandwidth>>
struct SolveLaneSystems {
  using V = Lanes<T>;
  static constexpr int W = Elimination::half_bandwidth;
  using Rows = LaneSystems<T, W, Matrices>;
  static_assert(EliminationOf<Elimination, Rows>);
  static constexpr int width = lane_count<T>;

  Problem<T, W, Matrices> problem;
  LaneShape shape;
  Elimination elimination{};
  bool watches = false;  // whether systems are tried without pivoting first
  bool are_abreast = false;

  static constexpr bool can_watch =
      std::is_same_v<Elimination, OrthogonalCarry> && std::is_floating_point_v<T>;
  static constexpr bool solves_alone = requires { typename Elimination::template Alone<V>; };
  static constexpr bool can_be_abreast = solves_alone && std::is_same_v<Matrices, Systems<T, W>>;
  /// So much of a row is as good as more of it.
  static constexpr int most_abreast =
      solves_alone ? std::max(1, 256 / (width * static_cast<int>(sizeof(T)))) : 1;

  static std::int64_t group_words(const LaneShape& s) {
    return width * (std::max(s.abreast * back_rows(s), blocks(s) * s.rows) * (2 * W + 1) +
                    MergeNode<T, W>::words * s.links) +
           staged_words(s);
  }
  /// Of neighbouring partitions, for a thread each, where several threads can share as many systems
  /// as lanes: long ones.
  static std::int64_t blocks(const LaneShape& s) {
    return s.n > LaneShape::longest_undivided ? std::clamp<std::int64_t>(s.links / 8, 1, 16) : 1;
  }

  /// By several threads: three launches, for each block, each vector of systems, and each block.
  void reduce_block(std::int64_t t, std::int64_t block) const {
    const Divided d = divided(t);
    for_links(block, [&](std::int64_t link) {
      d.template at<Segment<V, W>>(link) = elimination.reduce(partition(d, link, block));
    });
  }
  void chain_blocks(std::int64_t t) const {
    const Divided d = divided(t);
    Segment<V, W> s = d.template at<Segment<V, W>>(0);
    for (std::int64_t link = 1; link < shape.links; ++link) {
      const Segment<V, W> next = d.template at<Segment<V, W>>(link);
      s = merge_flushed(s, next, d.slots[link], d.tile.A.first.scale_rows);
    }
    Bounds<V, W> bounds = solve_root(s, d.tile.A.first.periodic);
    const Real<V> probe = finite_probe(bounds);
    for (int l = 0; l < d.tile.count(); ++l)
      if (!(lane(probe, l) == 0)) diagnose(d.tile, l, lane_of<T>(s, l), lane_of<T>(bounds, l));
    for (std::int64_t link = shape.links - 1; link > 0; --link) {
      const MergeNode<V, W> node = d.slots[link];
      d.template at<Bounds<V, W>>(link) = unchain(bounds, node);
    }
    d.template at<Bounds<V, W>>(0) = bounds;
  }
  void substitute_block(std::int64_t t, std::int64_t block) const {
    const Divided d = divided(t);
    for_links(block, [&](std::int64_t link) {
      const Rows p = partition(d, link, block);
      const auto found = elimination.substitute(p, d.template at<Bounds<V, W>>(link));
      report(d.tile, p.stored, found, p.first_row, p.m);
    });
  }

  void operator()(std::int64_t group) const {
    const Memory memory = memory_of(group);
    if constexpr (can_be_abreast)
      if (are_abreast) return solve_abreast(group, memory);
    for_tiles(group,
              [&](const Problem<T, W, Matrices>& tile, std::int64_t) { solve(tile, memory); });
  }
  /// Of systems that are blocks of larger ones: up to the segment of each.
  void reduce_blocks(std::int64_t group, const PackedSegments<T, W>& segments) const {
    for_tiles(group, [&](const Problem<T, W, Matrices>& tile, std::int64_t first) {
      const Segment<V, W> s = reduce(tile, memory_of(group));
      for (int l = 0; l < static_cast<int>(tile.count()); ++l)
        put_segment(segments, first + l, lane_of<T>(s, l));
    });
  }
  /// The same again, and down from the values around each. So nothing has to be kept.
  void substitute_blocks(std::int64_t group, const PackedBounds<T, W>& from) const {
    for_tiles(group, [&](const Problem<T, W, Matrices>& tile, std::int64_t first) {
      const Memory memory = memory_of(group);
      reduce(tile, memory);
      Bounds<V, W> bounds{};
      for (int l = 0; l < static_cast<int>(tile.count()); ++l) {
        const Bounds<T, W> b = from.get(first + l);
        set_lane_bounds(bounds, l, b);
        if (finite_probe(b) == 0) continue;
        tile.diagnosis.mark_suspect();
        diagnose_rows(tile, l);
      }
      substitute(tile, memory, all_open(tile), bounds);
    });
  }

 private:
  static constexpr std::int64_t looks = 32;  // rows, after which it is seen whether to go on

  /// The partitions [begin, end) of a block.
  template <class F>
  void for_links(std::int64_t block, const F& f) const {
    const std::int64_t count = blocks(shape);
    for (std::int64_t k = block * shape.links / count; k < (block + 1) * shape.links / count; ++k)
      f(k);
  }
  /// The t-th vector of systems, whose memory is that of the t-th group. Each partition has a slot
  /// for its segment, then for the node of its merge, then for its bounds.
  struct Divided {
    Problem<T, W, Matrices> tile;
    MergeNode<V, W>* slots;
    BackRow<V, W>* back;  // of the first block

    template <class Word>
    Word& at(std::int64_t link) const {
      static_assert(sizeof(Word) <= sizeof(MergeNode<V, W>));
      return reinterpret_cast<Word&>(slots[link]);
    }
  };
  Divided divided(std::int64_t t) const {
    const SystemTiles tiles(problem.slab(), width);
    T* const storage = problem.storage + t * group_words(shape);
    auto* const slots = reinterpret_cast<MergeNode<V, W>*>(storage);
    return {problem.block(tiles[t].first, tiles[t].count), slots,
            reinterpret_cast<BackRow<V, W>*>(slots + shape.links)};
  }
  Rows partition(const Divided& d, std::int64_t link, std::int64_t block) const {
    const std::int64_t first = link * shape.rows;
    return {d.tile, first, std::min(shape.rows, shape.n - first), d.back + block * shape.rows,
            all_open(d.tile)};
  }

  static std::int64_t back_rows(const LaneShape& s) {
    return solves_alone && s.n <= LaneShape::longest_alone ? s.n : s.rows;
  }
  /// Of a group: the way back of a partition, and the merges of its links.
  struct Memory {
    BackRow<V, W>* back;
    MergeNode<V, W>* nodes;
    T* rows;  // of vectors that take turns
  };
  static std::int64_t staged_words(const LaneShape& s) {
    return s.abreast > 1 ? InterleavedRows<T, W>::words(s.abreast) : 0;
  }
  Memory memory_of(std::int64_t group) const {
    T* const storage = problem.storage + group * group_words(shape);
    return {reinterpret_cast<BackRow<V, W>*>(storage),
            reinterpret_cast<MergeNode<V, W>*>(storage + (2 * W + 1) * width * shape.abreast *
                                                             back_rows(shape)),
            storage + group_words(shape) - staged_words(shape)};
  }
  /// body(tile, first): as many systems as lanes, or fewer, from the given one on.
  template <class Body>
  void for_tiles(std::int64_t group, const Body& body) const {
    const SystemTiles tiles(problem.slab(), width);
    const std::int64_t count = tiles.count(problem.count());
    const std::int64_t end = (group + 1) * count / shape.groups;
    for (std::int64_t t = group * count / shape.groups; t < end; ++t)
      body(problem.block(tiles[t].first, tiles[t].count), tiles[t].first);
  }
  /// A bit for each lane that has a system.
  static unsigned all_open(const Problem<T, W, Matrices>& tile) {
    return all_lanes<T> >> (width - static_cast<int>(tile.count()));
  }
  Rows partition(const Problem<T, W, Matrices>& tile, std::int64_t link, const Memory& memory,
                 unsigned open) const {
    const std::int64_t first = link * shape.rows;
    return {tile, first, std::min(shape.rows, shape.n - first), memory.back, open};
  }
  Segment<V, W> reduce(const Problem<T, W, Matrices>& tile, const Memory& memory) const {
    Segment<V, W> s = elimination.reduce(partition(tile, 0, memory, 0));
    for (std::int64_t link = 1; link < shape.links; ++link)
      s = merge_flushed(s, elimination.reduce(partition(tile, link, memory, 0)),
                        memory.nodes[link - 1], tile.A.first.scale_rows);
    return s;
  }
  void substitute(const Problem<T, W, Matrices>& tile, const Memory& memory, unsigned open,
                  Bounds<V, W> bounds) const {
    for (std::int64_t link = shape.links - 1; link >= 0; --link) {
      const auto p = partition(tile, link, memory, open);
      const auto found =
          elimination.substitute(p, link > 0 ? unchain(bounds, memory.nodes[link - 1]) : bounds);
      report(tile, open, found, p.first_row, p.m);
    }
  }
  /// As many systems as lanes, or fewer.
  void solve(const Problem<T, W, Matrices>& tile, const Memory& memory) const {
    unsigned open = all_open(tile);  // lanes that are not solved yet
    if constexpr (solves_alone)
      if (is_alone()) {
        if constexpr (can_watch)
          if (watches) solve_alone<WatchedSystems<V>>(unscaled(tile), memory, open);
        if (open != 0) solve_alone<typename Elimination::template Alone<V>>(tile, memory, open);
      }
    if (open != 0) solve_in_partitions(tile, memory, open);
  }
  bool is_alone() const {
    return !problem.A.first.periodic && shape.n <= LaneShape::longest_alone && !shape.are_few;
  }
  /// No |u_k| depends on how rows are scaled.
  static Problem<T, W, Matrices> unscaled(Problem<T, W, Matrices> tile) {
    tile.A.first.scale_rows = false;
    return tile;
  }
  /// As a whole, lanes in which that goes well.
  template <class Method>
  void solve_alone(const Problem<T, W, Matrices>& tile, const Memory& memory,
                   unsigned& open) const {
    Rows rows(tile, 0, shape.n, memory.back, open);
    Method method(rows);
    for (std::int64_t k = Method::begin; k < shape.n && method.goes_on(); k += looks)
      method.reduce(rows, k, std::min(k + looks, shape.n));
    rows.stored &= lanes_of(method.turn(rows));
    open &= ~rows.stored;
    if (rows.stored == 0) return;
    method.substitute(rows, shape.n - 1, 0);
    report(tile, rows.stored, method.findings());
  }
  /// Not in one expression: of `mask[l] << l` g++ 12 makes wrong code where it is to check both
  /// shifts and subscripts.
  template <class Mask>
  static unsigned lanes_of(const Mask& mask) {
    unsigned r = 0;
    for (int l = 0; l < width; ++l)
      if (mask[l]) r |= 1u << l;
    return r;
  }

  /// Some vectors of systems take turns. The first rows of those behind them come meanwhile.
  void solve_abreast(std::int64_t group, const Memory& memory) const {
    const SystemTiles tiles(problem.slab(), shape.abreast * width);
    const std::int64_t count = tiles.count(problem.count()),
                       end = (group + 1) * count / shape.groups;
    InterleavedRows<T, W> rows(memory.rows);
    const auto tile = [&](std::int64_t t) { return problem.block(tiles[t].first, tiles[t].count); };
    std::int64_t t = group * count / shape.groups;
    if (t < end) rows.begin(tile(t));
    for (; t < end; ++t)
      solve_abreast(tile(t), memory, rows, [&] {
        if (t + 1 < end) rows.begin(tile(t + 1));
      });
  }
  template <class BeginNext>
  void solve_abreast(const Problem<T, W>& tile, const Memory& memory, InterleavedRows<T, W>& rows,
                     const BeginNext& begin_next) const {
    const int all = static_cast<int>(tile.count()), count = all / width, first = count * width;
    InterleavedLanes<T, W> vectors[most_abreast];
    unsigned open[most_abreast];
    for (int v = 0; v < count; ++v) {
      open[v] = all_lanes<T>;
      vectors[v].rows = &rows;
      vectors[v].n = shape.n;
      vectors[v].vector = v;
      vectors[v].x = {tile.x.data + v * width, tile.x.row_stride};
      vectors[v].back = memory.back + v * shape.n;
      vectors[v].conjugated = tile.A.first.conjugated;
    }
    bool is_solved = false;
    if constexpr (can_watch)
      if (watches) {
        for (auto& v : vectors) v.scale_rows = false;  // no |u_k| depends on it
        is_solved = solve_abreast<WatchedSystems<V>>(tile, rows, vectors, open, begin_next);
      }
    for (auto& v : vectors) v.scale_rows = tile.A.first.scale_rows;
    using Alone = typename Elimination::template Alone<V>;
    if (!is_solved) is_solved = solve_abreast<Alone>(tile, rows, vectors, open, begin_next);
    if (!is_solved) begin_next();
    for (int v = 0; v < count; ++v)
      if (open[v] != 0) solve_in_partitions(tile.block(v * width, width), memory, open[v]);
    if (first < all) solve(tile.block(first, all - first), memory);
  }
  /// Returns whether all are solved.
  template <class Method, class BeginNext>
  bool solve_abreast(const Problem<T, W>& tile, InterleavedRows<T, W>& rows,
                     InterleavedLanes<T, W> (&vectors)[most_abreast],
                     unsigned (&open)[most_abreast], const BeginNext& begin_next) const {
    constexpr std::int64_t block = InterleavedRows<T, W>::block;
    const std::int64_t n = shape.n;
    const int count = static_cast<int>(tile.count()) / width;
    Method method[most_abreast];
    bool goes_on[most_abreast], any = false;
    if (!rows.has_first_block()) rows.restart();
    rows.finish();
    for (int v = 0; v < count; ++v) {
      vectors[v].stored = open[v];
      if (open[v] != 0) method[v] = Method(vectors[v]);
      goes_on[v] = open[v] != 0 && method[v].goes_on();
      any = any || goes_on[v];
    }
    for (std::int64_t k = 0; k < n && any; k += block) {
      rows.next_block();
      any = false;
      for (int v = 0; v < count; ++v) {
        if (!goes_on[v]) continue;
        method[v].reduce(vectors[v], std::max<std::int64_t>(k, Method::begin),
                         std::min(k + block, n));
        goes_on[v] = method[v].goes_on();
        any = any || goes_on[v];
      }
    }
    bool is_solved = true;
    for (int v = 0; v < count; ++v)
      if (open[v] != 0) {
        vectors[v].stored &= lanes_of(method[v].turn(vectors[v]));
        open[v] &= ~vectors[v].stored;
        is_solved = is_solved && open[v] == 0;
      }
    if (is_solved) begin_next();
    for (std::int64_t k = n - 1; k >= 0; k -= block)
      for (int v = 0; v < count; ++v)
        if (vectors[v].stored != 0)
          method[v].substitute(vectors[v], k, std::max<std::int64_t>(k - block + 1, 0));
    for (int v = 0; v < count; ++v)
      if (vectors[v].stored != 0)
        report(tile.block(v * width, width), vectors[v].stored, method[v].findings());
    return is_solved;
  }

  void solve_in_partitions(const Problem<T, W, Matrices>& tile, const Memory& memory,
                           unsigned open) const {
    const bool periodic = tile.A.first.periodic;
    const Segment<V, W> s = reduce(tile, memory);
    const Bounds<V, W> bounds = solve_root(s, periodic);
    const Real<V> probe = finite_probe(bounds);
    for (int l = 0; l < tile.count(); ++l)
      if ((open >> l & 1) && !(lane(probe, l) == 0))
        diagnose(tile, l, lane_of<T>(s, l), lane_of<T>(bounds, l));
    substitute(tile, memory, open, bounds);
  }
  void report(const Problem<T, W, Matrices>& tile, unsigned stored,
              const Findings<V>& found) const {
    report(tile, stored, found, 0, shape.n);
  }
  static void report(const Problem<T, W, Matrices>& tile, unsigned stored, const Findings<V>& found,
                     std::int64_t first_row, std::int64_t rows) {
    for (int l = 0; l < static_cast<int>(tile.count()); ++l) {
      if (!(stored >> l & 1)) continue;
      const Diagnosis diagnosis = tile.diagnosis.of(l, tile.n());
      if (!(lane(found.probe, l) == 0))
        report_first_not_finite(diagnosis, tile.x[l], first_row, rows);
      if (found.unstable[l]) diagnosis.report_unstable(first_row);
    }
  }
  void diagnose(const Problem<T, W, Matrices>& tile, int l, const Segment<T, W>& root,
                const Bounds<T, W>& bounds) const {
    diagnose_root(tile.diagnosis.of(l, shape.n), root, tile.A.first.periodic, bounds, shape.n);
    diagnose_rows(tile, l);
  }
  /// b is still what it was.
  void diagnose_rows(const Problem<T, W, Matrices>& tile, int l) const {
    const MatrixOf<Matrices> A = tile.A[l];
    elimination.diagnose(tile.diagnosis.of(l, shape.n),
                         UnstagedRows<T, W, MatrixOf<Matrices>>{A, tile.b[l], 0, shape.n});
  }
};

}  // namespace Trikkos::Impl

#endif
