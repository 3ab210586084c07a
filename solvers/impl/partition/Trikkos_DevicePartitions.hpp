// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DEVICEPARTITIONS_HPP
#define TRIKKOS_IMPL_DEVICEPARTITIONS_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_ReducedSystem.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>
#include <limits>
#include <stdexcept>
#include <string>

/// \file
/// `segmented` and `spike` on a device. A team stages a tile of rows in its scratch with coalesced
/// loads; each thread eliminates one partition of it, and a few levels of a tree merge the
/// partitions' segments. Those that leave the tiles are the reduced system; once it is solved, the
/// second pass repeats elimination and tree with the values around each segment known.
///
/// Traffic: 2W + 2 words a row read in the first pass, as many read and 1 written in the second,
/// and for W = 1 10 words a segment of `partition_size << levels` rows.

namespace Trikkos::Impl {

/// First pass: rows to segments.
template <class T, class Elimination, int Rows, class Matrices>
struct ReduceTiles {
  static constexpr int W = Elimination::half_bandwidth;
  using Node = MergeNode<T, W>;

  Problem<T, W, Matrices> problem;
  Elimination elimination;
  TileShape<T, Rows, W> shape;
  std::int64_t words, segments;
  int tiles;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t system = member.league_rank() / tiles, tile = member.league_rank() % tiles;
    if (problem.resets && member.league_rank() == 0 && t == 0) problem.diagnosis.reset();
    const MatrixOf<Matrices> A = problem.A[system];
    const StagedTile<T, Rows, W> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                        tile * shape.tile_rows()};
    staged.load(member, SystemRows<T, W, MatrixOf<Matrices>>{A, problem.b[system], staged.base});
    Segment<T, W> s = elimination.reduce(staged.rows(t, A));
    member.team_barrier();  // the tree reuses the bands' scratch
    s = merge_tree(
        member, SegmentArray<T, W>{staged.scratch, shape.lanes()}, shape.lanes(), shape.levels(), s,
        [](int, const Node&) {},
        [](int, int, const auto&, const auto&, const auto&, const auto&) {});
    if (t < shape.segments())
      SegmentArray<T, W>{problem.storage + system * words, segments}.put(
          tile * shape.segments() + t, s);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Rows, W>& shape) {
    const int bands = (2 * W + 2) * shape.band_words(), nodes = shape.node_words();
    return sizeof(T) * (bands > nodes ? bands : nodes) + alignof(T);
  }
};

/// Second pass: from the bounds of each segment to the solution of its rows.
template <class T, class Elimination, int Rows, class Matrices>
struct SubstituteTiles {
  static constexpr int W = Elimination::half_bandwidth;
  using Node = MergeNode<T, W>;

  Problem<T, W, Matrices> problem;
  Elimination elimination;
  TileShape<T, Rows, W> shape;
  std::int64_t words, bounds_offset;
  int tiles;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t system = member.league_rank() / tiles;
    const MatrixOf<Matrices> A = problem.A[system];
    const Strided<const T> b = problem.b[system];
    // backwards: the tiles that the first pass read last may still be in the cache
    const std::int64_t tile = tiles - 1 - member.league_rank() % tiles;
    const StagedTile<T, Rows, W> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                        tile * shape.tile_rows()};
    const std::int64_t n = A.n;
    const int lanes = shape.lanes(), levels = shape.levels();
    const StagedRows<T, 1, W> rows = staged.rows(t, A);
    const std::int64_t segment = tile * shape.segments() + (t >> levels);
    const T* const at = problem.storage + system * words + bounds_offset + 2 * W * segment;
    auto bounds = bounds_from<T, W>([&](int k) { return at[k]; });
    staged.load(member, SystemRows<T, W, MatrixOf<Matrices>>{A, b, staged.base});

    const Diagnosis diagnosis = problem.diagnosis.of(system, n);
    const bool suspect = diagnosis.is_suspect();
    if (suspect)
      elimination.diagnose(diagnosis, UnstagedRows<T, W, MatrixOf<Matrices>>{
                                          A, b, staged.base + t * shape.rows(), rows.m});
    T* const nodes = staged.nodes();
    merge_tree(
        member, SegmentArray<T, W>{nodes, lanes}, lanes, levels, elimination.reduce(rows),
        [&](int slot, const Node& node) {
          TRIKKOS_UNROLL(Node::words)
          for (int k = 0; k < Node::words; ++k) nodes[k * lanes + slot] = node.g[k];
        },
        [&](int h, int pair, const Segment<T, W>& left, const Segment<T, W>& right,
            const Segment<T, W>& merged, const Node& node) {
          if (!suspect) return;
          const int middle = (2 * pair + 1) * (lanes / (2 * h)) * shape.rows();
          diagnose_merge(diagnosis, left, right, merged, node, staged.base + middle);
        });
    descend_tree(bounds, (lanes >> levels) + (t >> levels), (1 << levels) / 2, t,
                 [&](int slot, int k) { return nodes[k * lanes + slot]; });

    const Findings<T> found = elimination.substitute(rows, bounds);
    member.team_barrier();

    const Strided<T> to = problem.x[system];
    PlaceWalk<T, Rows, W> walk(shape, t);
    for (int i = 0; i < shape.rows(); ++i, walk.advance()) {
      const std::int64_t row = staged.base + i * lanes + t;
      if (row < n) to[row] = staged.band(2 * W + 1)[walk.place()];
    }
    const std::int64_t first = staged.base + t * shape.rows();
    if (found.unstable) diagnosis.report_unstable(first);
    if (!(found.probe == 0))
      for (int k = 0; k < rows.m; ++k)
        if (!(finite_probe(rows.solution(k)) == 0)) {
          diagnosis.report_solution(first + k);
          break;
        }
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Rows, W>& shape) {
    return sizeof(T) * ((2 * W + 2) * shape.band_words() + shape.node_words()) + alignof(T);
  }
};

/// `segmented` or `spike` on a device.
template <class T, class Exec, class Elimination>
class DevicePartitions {
  static constexpr int W = Elimination::half_bandwidth;
  static_assert(EliminationOf<Elimination, StagedRows<T, 1, W>>);

 public:
  DevicePartitions(const Shape& shape, const Options& options)
      : m_tile(tile(shape.n, options.partition_size())),
        m_layout(TeamLayout::of<T, W>(shape.n, m_tile.tile_rows(), m_tile.segments())) {
    if (m_layout.tiles > std::numeric_limits<int>::max())
      throw std::invalid_argument("Trikkos::Workspace: " + std::to_string(shape.n) +
                                  " rows exceed the largest grid of teams, " +
                                  std::to_string(std::numeric_limits<int>::max()) + " times " +
                                  std::to_string(m_tile.tile_rows()) + " rows");
  }

  std::int64_t storage_words() const { return m_layout.words; }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return m_layout.tiles; }

  template <class Matrices = Systems<T, W>>
  void reduce(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    with_tile(problem, [&]<int Rows>(const TileShape<T, Rows, W>& tile) {
      launch(exec, "reduce", tile,
             ReduceTiles<T, Elimination, Rows, Matrices>{
                 problem, {}, tile, m_layout.words, m_layout.segments, tiles()});
    });
  }
  template <class Matrices = Systems<T, W>>
  void solve_reduced(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    ReducedSystem<T, W>{problem.storage, m_layout, problem.A.first.periodic,
                        std::int64_t(m_tile.rows()) << m_tile.levels(), problem.diagnosis}
        .launch(exec, problem.count(), Elimination::label(""));
  }
  template <class Matrices = Systems<T, W>>
  void substitute(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    with_tile(problem, [&]<int Rows>(const TileShape<T, Rows, W>& tile) {
      launch(exec, "substitute", tile,
             SubstituteTiles<T, Elimination, Rows, Matrices>{
                 problem, {}, tile, m_layout.words, m_layout.bounds_offset, tiles()});
    });
  }
  template <class Matrices = Systems<T, W>>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    reduce(exec, problem);
    solve_reduced(exec, problem);
    substitute(exec, problem);
  }

 private:
  static TileShape<T, 0, W> tile(std::int64_t n, std::int64_t partition_size) {
    if (partition_size == 0)
      return {DefaultTile<T, W>::lanes, Elimination::device_rows, DefaultTile<T, W>::levels};
    return tile_shape<T, W>(
        Elimination::rows_in_one_go(std::min(partition_size, std::max<std::int64_t>(n, 2))));
  }
  int tiles() const { return static_cast<int>(m_layout.tiles); }

  /// body(tile), the default shape as a type of its own.
  template <class Matrices, class Body>
  void with_tile(const Problem<T, W, Matrices>& problem, const Body& body) const {
    constexpr int rows = Elimination::device_rows;
    if (m_tile.m_rows == rows && m_tile.m_lanes == DefaultTile<T, W>::lanes &&
        problem.A.first.scale_rows)
      body(TileShape<T, rows, W>{});
    else
      body(m_tile);
  }
  template <int Rows, class Kernel>
  void launch(const Exec& exec, const char* phase, const TileShape<T, Rows, W>& tile,
              const Kernel& kernel) const {
    using TilePolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<max_tile_lanes, 1>>;
    const int league = static_cast<int>(kernel.problem.count()) * tiles();
    Kokkos::parallel_for(
        Elimination::label(phase),
        light(TilePolicy(exec, league, tile.lanes())
                  .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(tile)))),
        kernel);
  }

  TileShape<T, 0, W> m_tile;
  TeamLayout m_layout;
};

}  // namespace Trikkos::Impl

#endif
