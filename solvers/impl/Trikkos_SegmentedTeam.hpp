// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTEDTEAM_HPP
#define TRIKKOS_IMPL_SEGMENTEDTEAM_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_PartitionDiagnosis.hpp>
#include <impl/Trikkos_SegmentTree.hpp>
#include <impl/Trikkos_SegmentedCoarse.hpp>
#include <impl/Trikkos_SegmentedTile.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TwoRowCarry.hpp>

/// \file
/// `Algorithm::segmented` on a device. A team stages a tile of rows in its scratch with coalesced
/// loads; each thread carries one partition of it, and a few levels of a tree merge the partitions'
/// segments. The segments that leave the tiles are merged by a coarse tree, the root is solved, and
/// the second pass repeats carry and tree with the values around each segment known.
///
/// Traffic: 4 words a row read in the first pass, 4 read and 1 written in the second, and 10 words
/// a segment of `partition_size << levels` rows.

namespace Trikkos::Impl {

/// First pass: rows to segments.
template <class T, bool Default>
struct ReduceTiles {
  Bands<T> A;
  Columns<const T> b;
  TileShape<T, Default> shape;
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
    const StagedTile<T, Default> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                        tile * shape.tile_rows()};
    staged.load(member, A, b[rhs]);
    Segment<T> s = staged.reduce_partition(t, A.n);
    member.team_barrier();  // the tree reuses the bands' scratch
    s = merge_tree(
        member, staged.scratch, shape.lanes(), shape.levels(), s, [](int, const MergeNode<T>&) {},
        [](int, int, const auto&, const auto&, const auto&, const auto&) {});
    if (t < shape.segments())
      SegmentArray<T>{work + rhs * words, segments}.put(tile * shape.segments() + t, s);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Default>& shape) {
    const int bands = 4 * shape.band_words(), nodes = shape.node_words();
    return sizeof(T) * (bands > nodes ? bands : nodes) + alignof(T);
  }
};

/// Second pass: from the bounds of each segment to the solution of its rows.
template <class T, bool Default>
struct SubstituteTiles {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  TileShape<T, Default> shape;
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
    const StagedTile<T, Default> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                        tile * shape.tile_rows()};
    const std::int64_t n = A.n;
    const int lanes = shape.lanes(), levels = shape.levels(), m = staged.length(t, n);
    const std::int64_t segment = tile * shape.segments() + (t >> levels);
    const T* const at = work + rhs * words + bounds_offset + 2 * segment;
    Bounds<T> bounds{at[0], at[1], at[2], at[3]};
    staged.load(member, A, b[rhs]);

    const bool suspect = diagnosis.is_suspect();
    if (suspect) diagnose_partition(diagnosis, A, b[rhs], staged.base + t * shape.rows(), m);
    T* const nodes = staged.nodes();
    merge_tree(
        member, nodes, lanes, levels, staged.reduce_partition(t, n),
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
    int slot = (lanes >> levels) + (t >> levels);
    TRIKKOS_UNROLL(1)
    for (int h = (1 << levels) / 2; h >= 1; h /= 2) {
      const bool right = (t & h) != 0;
      descend(
          bounds, [&](int k) { return nodes[k * lanes + slot]; }, right);
      slot = 2 * slot + right;
    }

    // The fold writes its three words of a row over those of the band, the substitution the fourth.
    T* const q = staged.band(0) + t * shape.pitch();
    T* const r = staged.band(1) + t * shape.pitch();
    T* const f = staged.band(2) + t * shape.pitch();
    T* const solution = staged.band(3) + t * shape.pitch();
    T next = bounds.last, after = bounds.next;
    auto probe = finite_probe(bounds.first) + finite_probe(next);
    if (m > 1) {
      FoldedPair<T> s =
          start_fold(staged.equation(t, 0), staged.equation(t, 1), bounds.prev, bounds.first);
      TRIKKOS_UNROLL(1)
      for (int k = 2; k < m; ++k) {
        const BackRow<T> row = fold(s, staged.equation(t, k));
        q[k] = row.q;
        r[k] = row.r;
        f[k] = row.f;
      }
      TRIKKOS_UNROLL(2)
      for (int k = m - 1; k >= 2; --k) {
        const T v = f[k] - q[k] * next - r[k] * after;
        solution[k] = next;
        after = next;
        next = v;
        probe += finite_probe(v);
      }
      solution[1] = next;
    }
    if (m > 0) solution[0] = bounds.first;
    member.team_barrier();

    const Strided<T> to = x[rhs];
    for (int i = 0; i < shape.rows(); ++i) {
      const int row = i * lanes + t;
      if (staged.base + row < n) to[staged.base + row] = staged.band(3)[shape.place(row)];
    }
    if (m > 0 && !(probe == 0))
      for (int k = 0; k < m; ++k)
        if (!(finite_probe(solution[k]) == 0)) {
          diagnosis.report_solution(staged.base + t * shape.rows() + k);
          break;
        }
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Default>& shape) {
    return sizeof(T) * (4 * shape.band_words() + shape.node_words()) + alignof(T);
  }
};

/// Everything that one solve of `segmented` on a device needs to know.
template <class T>
struct SegmentedTeam {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  TileShape<T, false> shape;
  TeamLayout layout;
  Diagnosis diagnosis;
  T* storage;  // [rhs in flight][layout.words]

  template <class Exec>
  void launch(const Exec& exec, std::int64_t rhs_count, bool reset) const {
    if (shape.m_rows == DefaultTile<T>::rows && shape.m_lanes == DefaultTile<T>::lanes)
      launch_with(exec, rhs_count, reset, TileShape<T, true>{});
    else
      launch_with(exec, rhs_count, reset, shape);
  }

 private:
  template <class Exec, bool Default>
  void launch_with(const Exec& exec, std::int64_t rhs_count, bool reset,
                   const TileShape<T, Default>& tile) const {
    using TilePolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<max_tile_lanes, 1>>;
    using CoarsePolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<coarse_lanes, 1>>;
    using Reduce = ReduceTiles<T, Default>;
    using Substitute = SubstituteTiles<T, Default>;
    const int league = static_cast<int>(rhs_count * layout.tiles);

    Kokkos::parallel_for("Trikkos::segmented::reduce",
                         TilePolicy(exec, league, tile.lanes())
                             .set_scratch_size(0, Kokkos::PerTeam(Reduce::scratch_bytes(tile))),
                         Reduce{A, b, tile, diagnosis, storage, layout.words, layout.segments,
                                static_cast<int>(layout.tiles), reset});

    std::int64_t segment_rows = std::int64_t(tile.rows()) << tile.levels();
    for (int l = 0; l < layout.levels; ++l) {
      const bool is_root = l == layout.levels - 1;
      const std::int64_t parent = is_root ? 0 : layout.level[l + 1].segment_offset;
      Kokkos::parallel_for(
          "Trikkos::segmented::coarse",
          CoarsePolicy(exec, static_cast<int>(rhs_count * layout.level[l].groups), coarse_lanes)
              .set_scratch_size(0, Kokkos::PerTeam(MergeCoarse<T>::scratch_bytes())),
          MergeCoarse<T>{storage, layout.words, layout.level[l], parent, layout.bounds_offset,
                         is_root, A.periodic(), layout.n, segment_rows, layout.segments,
                         diagnosis});
      segment_rows *= coarse_lanes;
    }
    Kokkos::parallel_for("Trikkos::segmented::bounds",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, rhs_count * layout.segments),
                         DescendCoarse<T>{storage, layout.words, layout});
    Kokkos::parallel_for("Trikkos::segmented::substitute",
                         TilePolicy(exec, league, tile.lanes())
                             .set_scratch_size(0, Kokkos::PerTeam(Substitute::scratch_bytes(tile))),
                         Substitute{A, b, x, tile, diagnosis, storage, layout.words,
                                    layout.bounds_offset, static_cast<int>(layout.tiles)});
  }
};

}  // namespace Trikkos::Impl

#endif
