// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_HOSTPARTITIONS_HPP
#define TRIKKOS_IMPL_HOSTPARTITIONS_HPP

#include <algorithm>
#include <impl/Trikkos_Method.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_LanePartitions.hpp>
#include <impl/partition/Trikkos_LaneTree.hpp>
#include <impl/segmented/Trikkos_HostEnds.hpp>

/// \file
/// `segmented` and `spike` where the execution space is the host. Each SIMD lane carries a run of
/// neighbouring partitions, one after the other, and merges their segments; the runs of a tile are
/// merged in a tree, the tiles of a group chained by one thread, groups by threads in parallel. The
/// groups' segments are solved by one thread, and a second pass goes back through each group.
/// Shapes depend on n alone, so results do not depend on the number of threads.
///
/// Traffic: 2W + 2 words a row read in the first pass, as many read and 1 written in the second.

namespace Trikkos::Impl {

/// The runs of a tile, one a lane: `rows` in a partition, the last of `links` with what is left.
struct HostRuns {
  std::int64_t rows, links, length;

  std::int64_t rows_of(std::int64_t link) const { return std::min(rows, length - link * rows); }
};

/// How a system is cut: `rows` in a partition, `links` partitions in a lane's run, `lanes` runs in
/// a tile, `tiles_in_group` tiles in a group.
struct HostShape {
  // 4 x 66 rows are an odd number of cache lines, so that the lanes of a tile do not compete for
  // the same cache sets.
  static constexpr std::int64_t default_links = 4, longest_rows = 66;
  static constexpr std::int64_t max_groups = 64, min_tiles_in_group = 4;

  std::int64_t n = 0, rows = 0, links = 1, lanes = 1, tiles = 0, tiles_in_group = 0, groups = 0;
  bool divides_last = false;  // the last tile evenly
  bool is_short = false;      // to be solved from both ends

  HostShape() = default;
  template <class Elimination>
  HostShape(const Elimination&, std::int64_t n_, std::int64_t partition_size, int lanes_)
      : n(n_),
        lanes(lanes_),
        divides_last(partition_size == 0 && Elimination::default_row_multiple == 1) {
    if (partition_size == 0) {  // small systems: one tile, all lanes busy
      links = std::clamp<std::int64_t>(ceil_div(n, lanes * longest_rows), 1, default_links);
      rows = std::clamp<std::int64_t>(ceil_div(n, lanes * links), 2, longest_rows);
      constexpr std::int64_t multiple = Elimination::default_row_multiple;
      rows = ceil_div(rows, multiple) * multiple;
    } else {
      rows = Elimination::rows_in_one_go(partition_size);
      links = std::max(std::min(default_links, ceil_div(default_links * longest_rows, rows)),
                       ceil_div(partition_size, rows));
    }
    tiles = ceil_div(n, tile_rows());
    tiles_in_group = std::max(min_tiles_in_group, ceil_div(tiles, max_groups));
    groups = ceil_div(tiles, tiles_in_group);
    if constexpr (requires { Elimination::longest_from_both_ends; })
      is_short = partition_size == 0 && n >= 2 && n <= Elimination::longest_from_both_ends;
  }
  std::int64_t run_rows() const { return links * rows; }
  /// Lanes that are shorter than others take another, slower way for the rows that these have more.
  HostRuns runs(std::int64_t tile) const {
    if (!divides_last || tile + 1 < tiles) return {rows, links, run_rows()};
    const std::int64_t length = ceil_div(n - tile * tile_rows(), lanes),
                       needed = ceil_div(length, rows);
    return {ceil_div(length, needed), needed, length};
  }
  std::int64_t tile_rows() const { return lanes * run_rows(); }
  std::int64_t group_rows() const { return tiles_in_group * tile_rows(); }

 private:
  static std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

/// One right-hand side's share of the workspace.
template <class T, int W>
struct HostStorage {
  // MergeNode<V>, of the merges within
  T* link_nodes;                 // [tiles][links - 1]: runs
  T* tile_nodes;                 // [tiles]: a tile, and of it into those left of it in its group
  MergeNode<T, W>* group_nodes;  // [groups]
  Segment<T, W>* group_segments;
  Bounds<T, W>* group_bounds;
  T* back;  // [groups][back_words]
};

/// Systems that a thread takes together.
struct Together {
  static constexpr int most = 8;

  std::int64_t first;
  int count;
};

/// The three phases, each for a group of one system, or of several.
template <class T, class Elimination, class Matrices = Systems<T, Elimination::half_bandwidth>>
struct HostPasses {
  using V = Lanes<T>;
  static constexpr int W = Elimination::half_bandwidth;
  static_assert(EliminationOf<Elimination, LanePartitions<T, W>>);
  static constexpr int width = lane_count<T>;
  using Matrix = MatrixOf<Matrices>;

  Problem<T, W, Matrices> problem;
  HostShape shape;
  Elimination elimination{};

  static std::int64_t storage_words(const HostShape& s) {
    return aligned(node_words * s.tiles * (s.links - 1) * s.lanes) +
           aligned(node_words * (s.tiles * s.lanes + s.groups) +
                   (Segment<T, W>::words + 4 * W) * s.groups) +
           aligned(s.groups * back_words(s));
  }
  HostStorage<T, W> storage_of(std::int64_t system) const {
    T* p = problem.storage + system * storage_words(shape);
    T* const end = p + storage_words(shape);
    HostStorage<T, W> r;
    r.link_nodes = p;
    p += aligned(node_words * shape.tiles * (shape.links - 1) * shape.lanes);
    r.tile_nodes = p;
    p += node_words * shape.tiles * shape.lanes;
    r.group_nodes = reinterpret_cast<MergeNode<T, W>*>(p);
    r.group_segments = reinterpret_cast<Segment<T, W>*>(r.group_nodes + shape.groups);
    r.group_bounds = reinterpret_cast<Bounds<T, W>*>(r.group_segments + shape.groups);
    r.back = end - aligned(shape.groups * back_words(shape));
    return r;
  }
  Diagnosis diagnosis_of(std::int64_t system) const {
    return problem.diagnosis.of(system, shape.n);
  }

  /// `next_tile` is the one whose rows are fetched meanwhile.
  LanePartitions<T, W, Matrix> partitions(const Matrix& A, std::int64_t system, std::int64_t tile,
                                          const HostRuns& runs, std::int64_t link,
                                          std::int64_t next_tile) const {
    const std::int64_t group = tile / shape.tiles_in_group;
    return {A,
            problem.b[system],
            problem.x[system],
            tile * shape.tile_rows() + link * runs.rows,
            runs.rows_of(link),
            runs.length,
            reinterpret_cast<BackRow<V, W>*>(storage_of(system).back + group * back_words(shape)),
            next_tile * shape.tile_rows() + link * shape.rows * shape.lanes};
  }
  MergeNode<V, W>* link_nodes(const HostStorage<T, W>& store, std::int64_t tile) const {
    return reinterpret_cast<MergeNode<V, W>*>(store.link_nodes) + tile * (shape.links - 1);
  }
  MergeNode<V, W>& tile_nodes(const HostStorage<T, W>& store, std::int64_t tile) const {
    return reinterpret_cast<MergeNode<V, W>*>(store.tile_nodes)[tile];
  }
  std::int64_t first_tile(std::int64_t group) const { return group * shape.tiles_in_group; }
  std::int64_t end_tile(std::int64_t group) const {
    return std::min(first_tile(group + 1), shape.tiles);
  }

  /// The same group of several systems. Those of one matrix take turns at each tile, so that its
  /// rows come from memory once.
  void reduce_group(const Together& systems, std::int64_t group) const {
    Segment<T, W> s[Together::most];
    for (int k = 0; k < systems.count; ++k) s[k] = identity_segment<T, W>();
    for (std::int64_t tile = first_tile(group); tile < end_tile(group); ++tile)
      for (int k = 0; k < systems.count; ++k) reduce_tile(systems.first + k, tile, s[k], false);
    for (int k = 0; k < systems.count; ++k)
      storage_of(systems.first + k).group_segments[group] = s[k];
  }
  /// Of which `s` is the rest of its group, up to here.
  void reduce_tile(std::int64_t system, std::int64_t tile, Segment<T, W>& s, bool report) const {
    const auto store = storage_of(system);
    const Diagnosis diagnosis = diagnosis_of(system);
    const Matrix A = problem.A[system];
    MergeNode<V, W>* const nodes = link_nodes(store, tile);
    const HostRuns runs = shape.runs(tile);
    Segment<V, W> run;
    for (std::int64_t link = 0; link < runs.links; ++link) {
      const auto p = partitions(A, system, tile, runs, link, tile + 1);
      const Segment<V, W> next = elimination.reduce(p), left = run;
      run = link == 0 ? next : merge_flushed(left, next, nodes[link - 1], A.scale_rows);
      if (report && link > 0)
        diagnose_lanes<T>(diagnosis, left, next, run, nodes[link - 1], width, p.first_row,
                          p.stride);
    }
    const std::int64_t row = tile * shape.tile_rows();
    MergeNode<V, W>& in_tile = tile_nodes(store, tile);
    MergeNode<T, W> node;
    chain(diagnosis, s,
          Tree::merge_all(run, in_tile, A.scale_rows, diagnosis, report, row, runs.length), node,
          report, row);
    Tree::put_last(in_tile, node);
  }

  /// The segment of the whole system, from those of its groups.
  Segment<T, W> merge_groups(std::int64_t system) const {
    const auto store = storage_of(system);
    const Diagnosis diagnosis = diagnosis_of(system);
    Segment<T, W> s = store.group_segments[0];
    for (std::int64_t g = 1; g < shape.groups; ++g)
      chain(diagnosis, s, store.group_segments[g], store.group_nodes[g], true,
            g * shape.group_rows());
    return s;
  }
  /// And back, from the values around the system and at its ends.
  void spread_bounds(std::int64_t system, Bounds<T, W> bounds) const {
    const auto store = storage_of(system);
    for (std::int64_t g = shape.groups - 1; g > 0; --g)
      store.group_bounds[g] = unchain(bounds, store.group_nodes[g]);
    store.group_bounds[0] = bounds;
  }
  void solve_groups(std::int64_t system) const {
    const bool periodic = problem.A.first.periodic;
    const Segment<T, W> s = merge_groups(system);
    const Bounds<T, W> bounds = solve_root(s, periodic);
    diagnose_root(diagnosis_of(system), s, periodic, bounds, shape.n);
    spread_bounds(system, bounds);
  }

  void substitute_group(const Together& systems, std::int64_t group) const {
    Bounds<T, W> rest[Together::most];
    const bool suspect = diagnosis_of(systems.first).is_suspect();  // or any other system
    for (int k = 0; k < systems.count; ++k) {
      rest[k] = storage_of(systems.first + k).group_bounds[group];
      Segment<T, W> s = identity_segment<T, W>();
      for (std::int64_t tile = first_tile(group); suspect && tile < end_tile(group); ++tile)
        reduce_tile(systems.first + k, tile, s, true);  // once more, with reports
    }
    for (std::int64_t tile = end_tile(group) - 1; tile >= first_tile(group); --tile)
      for (int k = 0; k < systems.count; ++k)
        substitute_tile(systems.first + k, tile, rest[k], suspect);
  }
  /// Of which `rest` are the bounds of its group, up to here.
  void substitute_tile(std::int64_t system, std::int64_t tile, Bounds<T, W>& rest,
                       bool suspect) const {
    const auto store = storage_of(system);
    const Diagnosis diagnosis = diagnosis_of(system);
    const Matrix A = problem.A[system];
    const Strided<const T> b = problem.b[system];
    const Strided<T> x = problem.x[system];
    const MergeNode<V, W>& in_tile = tile_nodes(store, tile);
    Bounds<V, W> of_runs = Tree::spread(unchain(rest, Tree::last(in_tile)), in_tile);
    const MergeNode<V, W>* const nodes = link_nodes(store, tile);
    const HostRuns runs = shape.runs(tile);
    for (std::int64_t link = runs.links - 1; link >= 0; --link) {
      const auto p = partitions(A, system, tile, runs, link, tile - 1);
      if (suspect)
        for (int l = 0; l < width; ++l)
          elimination.diagnose(diagnosis,
                               UnstagedRows<T, W, Matrix>{A, b, p.row_of(l), p.length(l)});
      const Bounds<V, W> bounds = link > 0 ? unchain(of_runs, nodes[link - 1]) : of_runs;
      const Findings<V> found = elimination.substitute(p, bounds);
      for (int l = 0; l < width; ++l) {
        if (!(lane(found.probe, l) == 0))
          report_first_not_finite(diagnosis, x, p.row_of(l), p.length(l));
        if (found.unstable[l]) diagnosis.report_unstable(p.row_of(l));
      }
    }
  }

  /// A problem of one system, from start to end, by one thread.
  void solve_alone() const {
    if constexpr (requires { Elimination::longest_from_both_ends; })
      if (shape.is_short && !problem.A.first.periodic)
        if (solve_from_both_ends(problem.A[0], problem.b[0], problem.x[0], diagnosis_of(0),
                                 reinterpret_cast<BackRow<T>*>(storage_of(0).back)))
          return;
    for (std::int64_t g = 0; g < shape.groups; ++g) reduce_group({0, 1}, g);
    solve_groups(0);
    for (std::int64_t g = shape.groups - 1; g >= 0; --g) substitute_group({0, 1}, g);
  }

 private:
  using Tree = LaneTree<T, W>;
  static constexpr int node_words = MergeNode<T, W>::words;

  /// Merges `right`, whose first row is `row`, into the chain `s`.
  void chain(const Diagnosis& diagnosis, Segment<T, W>& s, const Segment<T, W>& right,
             MergeNode<T, W>& node, bool report, std::int64_t row) const {
    const Segment<T, W> left = s;
    s = merge_flushed(left, right, node, problem.A.first.scale_rows);
    if (report) diagnose_merge(diagnosis, left, right, s, LaneNode<T, T, W>{node, 0}, row);
  }

  /// Scalars that the back substitution of a tile's partitions, one of each lane, takes.
  static std::int64_t back_words(const HostShape& s) {
    return (2 * W + 1) * (s.is_short ? std::max(s.n, s.rows * s.lanes) : s.rows * s.lanes);
  }
  /// Scalars up to the next cache line.
  static std::int64_t aligned(std::int64_t words) {
    constexpr std::int64_t line = 64 / sizeof(T);
    return (words + line - 1) / line * line;
  }
};

/// `segmented` or `spike` where the execution space is the host.
template <class T, class Exec, class Elimination>
class HostPartitions {
  static constexpr int W = Elimination::half_bandwidth;

 public:
  HostPartitions(const Shape& shape, const Options& options)
      : m_shape(Elimination{}, shape.n,
                std::min(options.partition_size(), std::max<std::int64_t>(shape.n, 2)),
                lane_count<T>) {}

  std::int64_t storage_words() const { return HostPasses<T, Elimination>::storage_words(m_shape); }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return m_shape.groups; }

  template <class Matrices = Systems<T, W>, class Gate = Always>
  void reduce(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const Gate& gate = {}) const {
    const HostPasses<T, Elimination, Matrices> passes{problem, m_shape};
    const Items items = this->items(exec, problem);
    Kokkos::parallel_for(Elimination::label("reduce"), range(exec, items.count()),
                         gate([passes, items](std::int64_t i) {
                           if (passes.problem.resets && i == 0) passes.problem.diagnosis.reset();
                           passes.reduce_group(items.systems(i), items.group(i));
                         }));
  }
  template <class Matrices = Systems<T, W>, class Gate = Always>
  void solve_reduced(const Exec& exec, const Problem<T, W, Matrices>& problem,
                     const Gate& gate = {}) const {
    const HostPasses<T, Elimination, Matrices> passes{problem, m_shape};
    const auto kernel = gate([passes](std::int64_t system) { passes.solve_groups(system); });
    if (problem.count() == 1) return launch_one(exec, Elimination::label("coarse"), kernel);
    Kokkos::parallel_for(Elimination::label("coarse"), range(exec, problem.count()), kernel);
  }
  /// Instead of `solve_reduced` where the systems are blocks of larger ones: their segments to
  /// those who solve these, and back from the values around and at the ends of each.
  template <class Matrices = Systems<T, W>>
  void merge(const Exec& exec, const Problem<T, W, Matrices>& problem,
             const PackedSegments<T, W>& segments) const {
    const HostPasses<T, Elimination, Matrices> passes{problem, m_shape};
    Kokkos::parallel_for(Elimination::label("merge"), range(exec, problem.count()),
                         [passes, segments](std::int64_t system) {
                           put_segment(segments, system, passes.merge_groups(system));
                         });
  }
  template <class Matrices = Systems<T, W>>
  void spread(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const PackedBounds<T, W>& bounds) const {
    const HostPasses<T, Elimination, Matrices> passes{problem, m_shape};
    Kokkos::parallel_for(Elimination::label("spread"), range(exec, problem.count()),
                         [passes, bounds](std::int64_t system) {
                           const Bounds<T, W> b = bounds.get(system);
                           if (!(finite_probe(b) == 0)) passes.problem.diagnosis.mark_suspect();
                           passes.spread_bounds(system, b);
                         });
  }
  template <class Matrices = Systems<T, W>, class Gate = Always>
  void substitute(const Exec& exec, const Problem<T, W, Matrices>& problem,
                  const Gate& gate = {}) const {
    const HostPasses<T, Elimination, Matrices> passes{problem, m_shape};
    const Items items = this->items(exec, problem);
    Kokkos::parallel_for(Elimination::label("substitute"), range(exec, items.count()),
                         gate([passes, items](std::int64_t i) {
                           passes.substitute_group(items.systems(i), items.group(i));
                         }));
  }
  /// Many systems, each by one thread, `slots` of them at a time: rows are read again from a cache,
  /// if it holds a system. There is memory for as many; bits are those of `solve`.
  template <class Matrices>
  void solve_each(const Exec& exec, const Problem<T, W, Matrices>& problem,
                  std::int64_t slots) const {
    Kokkos::parallel_for(Elimination::label("each"), range(exec, slots),
                         [problem, shape = m_shape, slots](std::int64_t slot) {
                           using Passes = HostPasses<T, Elimination, Matrices>;
                           const std::int64_t end = (slot + 1) * problem.count() / slots;
                           for (std::int64_t k = slot * problem.count() / slots; k < end; ++k) {
                             auto one = problem.block(k, 1);
                             one.storage += slot * Passes::storage_words(shape);
                             Passes{one, shape}.solve_alone();
                           }
                         });
  }
  /// `gate`: whether kernels do what they are for (Trikkos_Gate.hpp).
  template <class Matrices = Systems<T, W>, class Gate = Always>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem,
             const Gate& gate = {}) const {
    if (m_shape.groups == 1 && problem.count() == 1) return solve_at_once(exec, problem, gate);
    if constexpr (std::is_same_v<Gate, Always>)
      if (m_shape.is_short) {
        if (problem.resets)
          launch_one(exec, Elimination::label("reset"), ResetDiagnosis{problem.diagnosis});
        return solve_each(exec, problem, problem.count());
      }
    reduce(exec, problem, gate);
    solve_reduced(exec, problem, gate);
    substitute(exec, problem, gate);
  }

 private:
  /// Groups of systems, `together` of these at a time.
  struct Items {
    std::int64_t groups, total, together;

    std::int64_t count() const { return groups * ((total + together - 1) / together); }
    std::int64_t group(std::int64_t i) const { return i % groups; }
    Together systems(std::int64_t i) const {
      const std::int64_t first = i / groups * together;
      return {first, static_cast<int>(std::min(together, total - first))};
    }
  };
  /// Those of one matrix together, unless threads would be idle. No bit of x depends on it.
  template <class Matrices>
  Items items(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    bool is_shared = false;
    if constexpr (!ComputedMatrices<Matrices>) is_shared = problem.A.is_shared();
    const bool many = m_shape.groups >= 4 * exec.concurrency();
    return {m_shape.groups, problem.count(), is_shared && many ? Together::most : 1};
  }

  /// By one thread, the caller's: at n = 1000 to wake others costs more than all passes.
  template <class Matrices, class Gate>
  void solve_at_once(const Exec& exec, const Problem<T, W, Matrices>& problem,
                     const Gate& gate) const {
    const HostPasses<T, Elimination, Matrices> passes{problem, m_shape};
    launch_one(exec, Elimination::label("small"), gate([passes](std::int64_t) {
                 if (passes.problem.resets) passes.problem.diagnosis.reset();
                 passes.solve_alone();
               }));
  }

  HostShape m_shape;
};

}  // namespace Trikkos::Impl

#endif
