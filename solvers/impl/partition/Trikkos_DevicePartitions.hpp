// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DEVICEPARTITIONS_HPP
#define TRIKKOS_IMPL_DEVICEPARTITIONS_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_ReducedSystem.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>

/// \file
/// `segmented` and `spike` on a device. A team stages a tile of rows in its scratch with coalesced
/// loads; each thread eliminates one partition of it, and a few levels of a tree merge the
/// partitions' segments. Those that leave the tiles are the reduced system; once it is solved, the
/// second pass repeats elimination and tree with the values around each segment known.
///
/// Traffic: 4 words a row read in the first pass, 4 read and 1 written in the second, and 10 words
/// a segment of `partition_size << levels` rows.

namespace Trikkos::Impl {

/// First pass: rows to segments.
template <class T, class Elimination, int Rows>
struct ReduceTiles {
  Bands<T> A;
  Columns<const T> b;
  Elimination elimination;
  TileShape<T, Rows> shape;
  Diagnosis diagnosis;
  T* work;
  std::int64_t words, segments;
  int tiles;
  bool reset;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t rhs = member.league_rank() / tiles, tile = member.league_rank() % tiles;
    if (reset && member.league_rank() == 0 && t == 0) diagnosis.reset();
    const StagedTile<T, Rows> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                     tile * shape.tile_rows()};
    staged.load(member, A, b[rhs]);
    Segment<T> s = elimination.reduce(staged.rows(t, A));
    member.team_barrier();  // the tree reuses the bands' scratch
    s = merge_tree(
        member, staged.scratch, shape.lanes(), shape.levels(), s, [](int, const MergeNode<T>&) {},
        [](int, int, const auto&, const auto&, const auto&, const auto&) {});
    if (t < shape.segments())
      SegmentArray<T>{work + rhs * words, segments}.put(tile * shape.segments() + t, s);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Rows>& shape) {
    const int bands = 4 * shape.band_words(), nodes = shape.node_words();
    return sizeof(T) * (bands > nodes ? bands : nodes) + alignof(T);
  }
};

/// Second pass: from the bounds of each segment to the solution of its rows.
template <class T, class Elimination, int Rows>
struct SubstituteTiles {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  Elimination elimination;
  TileShape<T, Rows> shape;
  Diagnosis diagnosis;
  T* work;
  std::int64_t words, bounds_offset;
  int tiles;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t rhs = member.league_rank() / tiles;
    // backwards: the tiles that the first pass read last may still be in the cache
    const std::int64_t tile = tiles - 1 - member.league_rank() % tiles;
    const StagedTile<T, Rows> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                     tile * shape.tile_rows()};
    const std::int64_t n = A.n;
    const int lanes = shape.lanes(), levels = shape.levels();
    const StagedRows<T> rows = staged.rows(t, A);
    const std::int64_t segment = tile * shape.segments() + (t >> levels);
    const T* const at = work + rhs * words + bounds_offset + 2 * segment;
    Bounds<T> bounds{at[0], at[1], at[2], at[3]};
    staged.load(member, A, b[rhs]);

    const bool suspect = diagnosis.is_suspect();
    if (suspect)
      elimination.diagnose(diagnosis,
                           UnstagedRows<T>{A, b[rhs], staged.base + t * shape.rows(), rows.m});
    T* const nodes = staged.nodes();
    merge_tree(
        member, nodes, lanes, levels, elimination.reduce(rows),
        [&](int slot, const MergeNode<T>& node) {
          for (int k = 0; k < MergeNode<T>::words; ++k) nodes[k * lanes + slot] = node.g[k];
        },
        [&](int h, int pair, const Segment<T>& left, const Segment<T>& right,
            const Segment<T>& merged, const MergeNode<T>& node) {
          if (!suspect) return;
          const int middle = (2 * pair + 1) * (lanes / (2 * h)) * shape.rows();
          diagnose_merge(diagnosis, left, right, merged, node.g[MergeNode<T>::first_of_v1],
                         staged.base + middle);
        });
    descend_tree(bounds, (lanes >> levels) + (t >> levels), (1 << levels) / 2, t,
                 [&](int slot, int k) { return nodes[k * lanes + slot]; });

    const Findings<T> found = elimination.substitute(rows, bounds);
    member.team_barrier();

    const Strided<T> to = x[rhs];
    PlaceWalk<T, Rows> walk(shape, t);
    for (int i = 0; i < shape.rows(); ++i, walk.advance()) {
      const std::int64_t row = staged.base + i * lanes + t;
      if (row < n) to[row] = staged.band(3)[walk.place()];
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
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Rows>& shape) {
    return sizeof(T) * (4 * shape.band_words() + shape.node_words()) + alignof(T);
  }
};

/// Everything that one solve on a device needs to know.
template <class T, class Elimination>
struct DevicePartitions {
  static_assert(EliminationOf<Elimination, StagedRows<T>>);

  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  Elimination elimination;
  TileShape<T, 0> shape;
  TeamLayout layout;
  Diagnosis diagnosis;
  T* storage;  // [rhs in flight][layout.words]

  template <class Exec>
  void launch(const Exec& exec, std::int64_t rhs_count, bool reset) const {
    constexpr int rows = Elimination::device_rows;
    if (shape.m_rows == rows && shape.m_lanes == DefaultTile<T>::lanes && A.scale_rows)
      launch_with(exec, rhs_count, reset, TileShape<T, rows>{});
    else
      launch_with(exec, rhs_count, reset, shape);
  }

 private:
  template <class Exec, int Rows>
  void launch_with(const Exec& exec, std::int64_t rhs_count, bool reset,
                   const TileShape<T, Rows>& tile) const {
    using TilePolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<max_tile_lanes, 1>>;
    using Reduce = ReduceTiles<T, Elimination, Rows>;
    using Substitute = SubstituteTiles<T, Elimination, Rows>;
    const int league = static_cast<int>(rhs_count * layout.tiles);

    Kokkos::parallel_for(Elimination::label("reduce"),
                         TilePolicy(exec, league, tile.lanes())
                             .set_scratch_size(0, Kokkos::PerTeam(Reduce::scratch_bytes(tile))),
                         Reduce{A, b, elimination, tile, diagnosis, storage, layout.words,
                                layout.segments, static_cast<int>(layout.tiles), reset});
    ReducedSystem<T>{storage, layout, A.periodic(), std::int64_t(tile.rows()) << tile.levels(),
                     diagnosis}
        .launch(exec, rhs_count, Elimination::label(""));
    Kokkos::parallel_for(Elimination::label("substitute"),
                         TilePolicy(exec, league, tile.lanes())
                             .set_scratch_size(0, Kokkos::PerTeam(Substitute::scratch_bytes(tile))),
                         Substitute{A, b, x, elimination, tile, diagnosis, storage, layout.words,
                                    layout.bounds_offset, static_cast<int>(layout.tiles)});
  }
};

}  // namespace Trikkos::Impl

#endif
