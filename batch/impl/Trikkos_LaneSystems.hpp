// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANESYSTEMS_HPP
#define TRIKKOS_IMPL_LANESYSTEMS_HPP

#include <algorithm>
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
/// Traffic: 2W + 2 words a row read, 1 written.

namespace Trikkos::Impl {

/// How systems are cut: `links` partitions of `rows` rows each, and `groups` of threads' work, each
/// with memory of its own.
struct LaneShape {
  static constexpr std::int64_t most_groups = 64;
  /// Systems of so many rows, whose way back stays in a cache, if not the nearest, are solved
  /// without segments.
  static constexpr std::int64_t longest_alone = 8192;
  /// Longer ones several threads may share. They are fewer groups, as these take more memory each.
  static constexpr std::int64_t longest_undivided = 2048;

  std::int64_t n = 0, rows = 0, links = 0, groups = 0;

  LaneShape() = default;
  template <class Elimination>
  LaneShape(const Elimination&, std::int64_t n_, std::int64_t count, std::int64_t partition_size,
            int width, std::int64_t threads)
      : n(n_) {
    const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t wanted = partition_size > 0 ? partition_size : HostShape::longest_rows;
    rows = Elimination::rows_in_one_go(std::min(wanted, n));
    if (partition_size == 0 && n > 0) {  // divided evenly
      constexpr std::int64_t multiple = Elimination::default_row_multiple;
      rows = ceil_div(ceil_div(n, ceil_div(n, rows)), multiple) * multiple;
    }
    links = rows > 0 ? ceil_div(n, rows) : 1;
    const std::int64_t few =
        most_groups * longest_undivided / std::clamp(n, longest_undivided, longest_alone);
    groups = std::min({most_groups, std::max(few, threads), ceil_div(count, width)});
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
  bool watches = false;     // whether systems are tried without pivoting first
  bool is_for_few = false;  // systems in partitions, which threads may share

  static constexpr bool can_watch =
      std::is_same_v<Elimination, OrthogonalCarry> && std::is_floating_point_v<T>;
  static constexpr std::int64_t longest_alone = LaneShape::longest_alone;
  static constexpr bool solves_alone = requires(const Rows& rows, V& last) {
    Elimination::reduce_alone(rows, last);
  };

  static std::int64_t group_words(const LaneShape& s) {
    const std::int64_t rows = std::max(back_rows(s), blocks(s) * s.rows);
    return width * (rows * (2 * W + 1) + MergeNode<T, W>::words * s.links);
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
      report(d.tile, p, elimination.substitute(p, d.template at<Bounds<V, W>>(link)));
    });
  }

  static constexpr bool can_be_staged = solves_alone && std::is_same_v<Matrices, Systems<T, W>>;
  using Stage = LaneStage<T, W>;

  /// Blocks of systems, one of which is copied while the one before is solved. `all` threads, or
  /// fewer, share them.
  void solve_staged(std::int64_t thread, std::int64_t all, const Stage& stage, T* memory) const {
    const SystemTiles blocks(problem.slab(), stage.systems);
    const std::int64_t count = blocks.count(problem.count()), words = stage.array_words();
    const std::int64_t end = (thread + 1) * count / all;
    T* const x = memory;
    T* const copies[] = {memory + words, memory + (1 + Stage::arrays) * words};
    const auto block = [&](std::int64_t k) {
      return problem.block(blocks[k].first, blocks[k].count);
    };
    std::int64_t k = thread * count / all;
    if (k == end) return;
    LaneStaging<T, W> next(block(k), copies[0], stage);
    for (int which = 0; k < end; ++k, which = 1 - which) {
      next.finish();
      const auto now = block(k);
      next = k + 1 < end ? LaneStaging<T, W>(block(k + 1), copies[1 - which], stage)
                         : LaneStaging<T, W>();
      const auto here = LaneStaging<T, W>::staged(now, copies[which], x, stage);
      for (std::int64_t first = 0; first < now.count(); first += width)
        solve(here.block(first, std::min<std::int64_t>(width, now.count() - first)),
              memory_of(thread), &next);
      if (!stage.contiguous)
        store_staged(x, stage.systems, shape.n, static_cast<int>(now.count()), now.x);
    }
  }

  void operator()(std::int64_t group) const {
    for_tiles(group, [&](const Problem<T, W, Matrices>& tile, std::int64_t) {
      solve(tile, memory_of(group));
    });
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
    const int count = static_cast<int>(d.tile.count());
    return {d.tile.A,
            d.tile.b,
            d.tile.x,
            count,
            first,
            std::min(shape.rows, shape.n - first),
            d.back + block * shape.rows,
            all_lanes<T> >> (width - count)};
  }

  static std::int64_t back_rows(const LaneShape& s) {
    return solves_alone && s.n <= longest_alone ? s.n : s.rows;
  }
  /// Of a group: the way back of a partition, and the merges of its links.
  struct Memory {
    BackRow<V, W>* back;
    MergeNode<V, W>* nodes;
  };
  Memory memory_of(std::int64_t group) const {
    T* const storage = problem.storage + group * group_words(shape);
    return {reinterpret_cast<BackRow<V, W>*>(storage),
            reinterpret_cast<MergeNode<V, W>*>(storage + (2 * W + 1) * width * back_rows(shape))};
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
  static Rows rows(const Problem<T, W, Matrices>& tile, std::int64_t first, std::int64_t m,
                   BackRow<V, W>* back, unsigned open) {
    return {tile.A, tile.b, tile.x, static_cast<int>(tile.count()), first, m, back, open};
  }
  Rows partition(const Problem<T, W, Matrices>& tile, std::int64_t link, const Memory& memory,
                 unsigned open) const {
    const std::int64_t first = link * shape.rows;
    return rows(tile, first, std::min(shape.rows, shape.n - first), memory.back, open);
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
      report(
          tile, p,
          elimination.substitute(p, link > 0 ? unchain(bounds, memory.nodes[link - 1]) : bounds));
    }
  }
  void solve(const Problem<T, W, Matrices>& tile, const Memory& memory,
             LaneStaging<T, W>* next = nullptr) const {
    const bool periodic = tile.A.first.periodic;
    const int count = static_cast<int>(tile.count());
    unsigned open = all_open(tile);  // lanes that are not solved yet

    // as a whole, lanes in which that goes well
    const auto solve_alone = [&](const Problem<T, W, Matrices>& from, const auto& reduce,
                                 const auto& substitute) {
      auto whole = rows(from, 0, shape.n, memory.back, open);
      whole.next = next;
      const auto solved = reduce(whole);
      for (int l = 0; l < count; ++l)
        if (!solved[l]) whole.stored &= ~(1u << l);
      if (whole.stored != 0) report(tile, whole, substitute(whole));
      open &= ~whole.stored;
    };
    const bool is_alone = !periodic && shape.n <= longest_alone && !is_for_few;
    if constexpr (can_watch)
      if (watches && is_alone) {
        auto as_it_is = tile;  // no |u_k| depends on how rows are scaled
        as_it_is.A.first.scale_rows = false;
        solve_alone(
            as_it_is, [](const Rows& whole) { return eliminate_watched(whole); },
            [](const Rows& whole) { return substitute_watched(whole); });
        if (open == 0) return;
      }
    if constexpr (solves_alone)
      if (is_alone) {
        V last = constant<V>(0);
        solve_alone(
            tile, [&](const Rows& whole) { return elimination.reduce_alone(whole, last); },
            [&](const Rows& whole) { return elimination.substitute_alone(whole, last); });
        if (open == 0) return;
      }

    const Segment<V, W> s = reduce(tile, memory);
    const Bounds<V, W> bounds = solve_root(s, periodic);
    const Real<V> probe = finite_probe(bounds);
    for (int l = 0; l < count; ++l)
      if ((open >> l & 1) && !(lane(probe, l) == 0))
        diagnose(tile, l, lane_of<T>(s, l), lane_of<T>(bounds, l));
    substitute(tile, memory, open, bounds);
  }
  static void report(const Problem<T, W, Matrices>& tile, const Rows& p, const Findings<V>& found) {
    for (int l = 0; l < p.count; ++l) {
      if (!(p.stored >> l & 1)) continue;
      const Diagnosis diagnosis = tile.diagnosis.of(l, tile.n());
      if (!(lane(found.probe, l) == 0))
        report_first_not_finite(diagnosis, tile.x[l], p.first_row, p.m);
      if (found.unstable[l]) diagnosis.report_unstable(p.first_row);
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

/// `segmented` or `spike` on a host: partitions of a system in the lanes, or where there are enough
/// systems, systems.
template <class T, class Exec, class Elimination>
class HostSystems {
  static constexpr int W = Elimination::half_bandwidth;
  using Kernel = SolveLaneSystems<T, Elimination>;
  using Stage = LaneStage<T, W>;

 public:
  HostSystems(const Shape& shape, const Options& options)
      : m_partitions(shape, options),
        m_lanes(Elimination{}, shape.n, shape.count, options.partition_size(), lane_count<T>,
                Exec().concurrency()),
        m_fills_lanes(shape.count >= lane_count<T>),
        m_are_few(shape.n > LaneShape::longest_undivided &&
                  shape.count <= most_divided * lane_count<T>),
        m_watches(options.algorithm() == Algorithm::automatic && options.partition_size() == 0 &&
                  shape.n >= least_watched),
        m_slots(shape.n > LaneShape::longest_alone
                    ? std::min<std::int64_t>(shape.count, slots_of_thread * Exec().concurrency())
                    : 0) {
    if (!Kernel::can_be_staged || shape.n > Kernel::longest_alone) return;
    const auto threads = std::min<std::int64_t>(m_lanes.groups, Exec().concurrency());
    if (threads > 0) m_stage = Stage::largest(shape.n, shape.count / threads);
    if (m_stage.systems > 0) m_stages = threads;
  }

  std::int64_t storage_words() const { return m_fills_lanes ? 0 : m_partitions.storage_words(); }
  std::int64_t shared_words() const {
    if (!m_fills_lanes) return 0;
    return std::max(m_lanes.groups * Kernel::group_words(m_lanes) + m_stages * m_stage.words(),
                    m_slots * m_partitions.storage_words());
  }
  std::int64_t parallel_items() const { return m_partitions.parallel_items(); }
  /// So many systems of one matrix are better solved at a time: it is read once for all.
  static constexpr std::int64_t at_once = 8;
  /// Matrices are read once anyway.
  bool is_one_pass() const { return m_fills_lanes; }
  /// Where they are read twice.
  const HostPartitions<T, Exec, Elimination>& passes() const { return m_partitions; }

  template <class Matrices = Systems<T, W>>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    if (!m_fills_lanes) return m_partitions.solve(exec, problem);
    if (problem.resets)
      launch_one(exec, Elimination::label("reset"), ResetDiagnosis{problem.diagnosis});
    if (is_one_by_one(problem)) return solve_one_by_one(exec, problem);
    SolveLaneSystems<T, Elimination, Matrices> kernel{problem, m_lanes};
    kernel.watches = m_watches;
    kernel.is_for_few = m_are_few;
    const std::int64_t tiles = SystemTiles(problem.slab(), lane_count<T>).count(problem.count());
    if (m_are_few && kernel.blocks(m_lanes) > 1 && tiles <= m_lanes.groups)
      return solve_divided(exec, kernel, tiles);
    if constexpr (std::is_same_v<Matrices, Systems<T, W>> && Kernel::can_be_staged)
      if (const Stage stage = m_stage.of(problem); stage.systems > 0) {
        T* const memory = problem.storage + m_lanes.groups * Kernel::group_words(m_lanes);
        return Kokkos::parallel_for(
            Elimination::label("batch"), range(exec, m_stages),
            [kernel, memory, stage, all = m_stages, words = m_stage.words()](std::int64_t k) {
              kernel.solve_staged(k, all, stage, memory + k * words);
            });
      }
    Kokkos::parallel_for(Elimination::label("batch"), range(exec, m_lanes.groups), kernel);
  }

 private:
  /// Rows of systems that gain from it.
  static constexpr std::int64_t least_watched = 32;
  /// So many vectors of long systems may not keep all threads busy. Not as many as there are
  /// threads, nor as slabs of systems are cut into: no bit of x is to depend on that.
  static constexpr std::int64_t most_divided = 8;

  /// Long systems of own matrices are solved one by one, each as if it were the only one: one in
  /// each lane would be many streams of memory, whose way back no cache holds.
  template <class Matrices>
  bool is_one_by_one(const Problem<T, W, Matrices>& problem) const {
    bool all = m_slots > 0 && !problem.A.is_shared() && problem.b.row_stride == 1 &&
               problem.x.row_stride == 1;
    if constexpr (!ComputedMatrices<Matrices>)
      for (const auto& band : problem.A.first.band) all = all && band.stride == 1;
    return all;
  }
  template <class Matrices>
  void solve_one_by_one(const Exec& exec, Problem<T, W, Matrices> problem) const {
    problem.resets = false;
    if (problem.count() > m_slots)
      m_partitions.solve_each(exec, problem, m_slots);
    else  // few: all threads for each
      m_partitions.solve(exec, problem);
  }
  /// Where threads would have fewer systems than that each, they share every one.
  static constexpr std::int64_t slots_of_thread = 4;

  template <class Kernel>
  void solve_divided(const Exec& exec, const Kernel& kernel, std::int64_t tiles) const {
    const std::int64_t blocks = kernel.blocks(m_lanes);
    Kokkos::parallel_for(
        Elimination::label("batch_reduce"), range(exec, tiles * blocks),
        [kernel, blocks](std::int64_t i) { kernel.reduce_block(i / blocks, i % blocks); });
    Kokkos::parallel_for(Elimination::label("batch_chain"), range(exec, tiles),
                         [kernel](std::int64_t t) { kernel.chain_blocks(t); });
    Kokkos::parallel_for(
        Elimination::label("batch_substitute"), range(exec, tiles * blocks),
        [kernel, blocks](std::int64_t i) { kernel.substitute_block(i / blocks, i % blocks); });
  }

  HostPartitions<T, Exec, Elimination> m_partitions;
  LaneShape m_lanes;
  bool m_fills_lanes, m_are_few, m_watches;
  std::int64_t m_slots;       // long systems that are solved at a time, one by one
  Stage m_stage;              // the largest
  std::int64_t m_stages = 0;  // threads that have one each
};

}  // namespace Trikkos::Impl

#endif
