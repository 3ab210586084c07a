// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SOLVEONCHIP_HPP
#define TRIKKOS_IMPL_SOLVEONCHIP_HPP

#include <impl/Trikkos_SystemsOnChip.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>

/// \file
/// `segmented` and `spike` for systems that fit into the scratch of a team on a device, one or many
/// of them a team: partitions are reduced, merged to the root of each system and substituted while
/// their rows stay on chip.
///
/// Traffic: 2W + 2 words a row read, 1 written. Systems that are blocks of larger ones are read
/// twice, to their segments and from what is around them.

namespace Trikkos::Impl {

/// What is done with systems on chip: all; or, of blocks, what comes before and after the root.
enum class OnChipPhase : int { solve, reduce, substitute };

/// `Rows`: rows of a partition where the compiler is to know them, and all are complete: loops have
/// no branches then.
template <class T, class Elimination, bool Interleaved,
          class Matrices = Systems<T, Elimination::half_bandwidth>, int Rows = 0,
          OnChipPhase Phase = OnChipPhase::solve, int Apart = 0, bool InStep = false,
          class Which = EverySystem>
struct SolveOnChip : SystemsOnChip<T, Interleaved, Matrices, Apart, InStep, Which> {
  using Base = SystemsOnChip<T, Interleaved, Matrices, Apart, InStep, Which>;
  using Base::problem, Base::shape, Base::tiles, Base::rhs, Base::place, Base::load;
  static constexpr int W = Elimination::half_bandwidth;
  using Node = MergeNode<T, W>;

  PackedSegments<T, W> segments{nullptr};  // of blocks
  PackedBounds<T, W> bounds_of_blocks{nullptr};
  Elimination elimination{};

  /// Whether rows make way for their pivot rows, so that they are eliminated once.
  static constexpr bool keeps = requires(
      const Elimination& e, const StagedRows<T, Interleaved ? Apart : 1, W>& rows, T (&spare)[2]) {
    e.reduce(rows, spare);
  };
  static constexpr bool pads = pads_v<Elimination, Matrices>;
  /// The two rows that a partition begins with are in its segment then: room for the tree, where
  /// it is cheap to find.
  static constexpr int in_rows = keeps && (!Interleaved || Apart > 0) ? 8 : 0;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    if (!Base::wants_any(member, tile)) return;
    // long before anything is reported
    if (problem.resets && member.team_rank() == 0) problem.diagnosis.reset();
    T* const scratch = team_scratch<T, staging_alignment>(member);
    T* const bands = Base::bands_in(scratch, tile);
    if (is_padded()) Base::pad(member, bands);
    load(member, scratch + shape.words(), bands, tile);
    wait_for_kernels_before(member);
    solve(member, bands, tile, [&](int s) { return Base::is_wanted(tile.first + s); });
  }

 protected:
  /// What is loaded, and stores it, of systems for which is_open(s).
  template <class Member, class IsOpen>
  KOKKOS_FORCEINLINE_FUNCTION void solve(const Member& member, T* bands,
                                         const SystemTiles::Tile& tile,
                                         const IsOpen& is_open) const {
    const int t = member.team_rank(), n = shape.n, systems = this->systems(), levels = shape.levels;
    const std::int64_t first = tile.first;
    const int here = tile.count;
    T* const nodes = bands + shape.bands * shape.band_words();
    const auto word = [&](int slot, int k) -> T& {
      const int row = slot_place(slot);
      return k < in_rows ? bands[(k & 3) * shape.band_words() + row +
                                 (k < 4         ? 0
                                  : Interleaved ? systems
                                                : 1)]
                         : nodes[(k - in_rows) * shape.lanes + slot];
    };

    // system and partition of this thread
    const int s = Interleaved ? t & (systems - 1) : t >> levels;
    const int p = Interleaved ? t / systems : t & (shape.partitions() - 1);
    const bool exists = s < here && is_open(s);
    const int left = exists ? n - p * shape.rows : 0;
    const int m = left > shape.rows ? shape.rows : left > 0 ? left : 0;
    const auto rows = rows_of(bands, s, p * shape.rows, is_padded() && exists ? shape.rows : m);
    const int apart = Interleaved ? systems : 1;
    T spare[Rows > 0 ? Rows : OnChipShape<T, W>::longest];
    Segment<T, W> mine;
    if constexpr (keeps && Phase != OnChipPhase::reduce)
      mine = elimination.reduce(rows, spare);
    else
      mine = elimination.reduce(rows);
    constexpr bool by_warp = W == 1 && !Interleaved;
    const Segment<T, W> root = merge_tree<by_warp>(
        member, word, shape.lanes, levels, mine,
        [&](int slot, const Node& node) {
          TRIKKOS_UNROLL(Node::words)
          for (int k = 0; k < Node::words; ++k) word(slot, k) = node.g[k];
        },
        apart);

    if constexpr (Phase == OnChipPhase::reduce) {
      if (t < here) put_segment(segments, first + t, root);
      return;
    }
    if (t < here)
      put_bounds([&](int k) -> T& { return word(t, k); }, ends_of(first + t, root, is_open(t)));
    member.team_barrier();
    auto bounds = bounds_from<T, W>([&](int k) { return word(s, k); });
    descend_tree(bounds, systems + s, shape.partitions() / 2, p, word, apart);
    member.team_barrier();  // solutions take the place of the tree

    if (m > 0) {
      Findings<T> found;
      if constexpr (keeps)
        found = elimination.substitute(rows, spare, bounds);
      else
        found = elimination.substitute(rows, bounds);
      const Diagnosis diagnosis = problem.diagnosis.of(first + s, n);
      if (found.unstable) diagnosis.report_unstable(p * shape.rows);
      if (!(found.probe == 0)) {
        // b is still what it was: x is stored behind the next barrier
        if (p == 0) {
          const MatrixOf<Matrices> A = problem.A[first + s];
          const int more = is_padded() ? W : 0;  // rows that take out the last unknowns
          elimination.diagnose(diagnosis, CompletedRows<T, W, MatrixOf<Matrices>>{
                                              {A, problem.b[first + s], 0, n + more}});
        }
        for (int k = 0; k < m; ++k)
          if (!(finite_probe(rows.solution(k)) == 0)) {
            diagnosis.report_solution(p * shape.rows + k);
            break;
          }
      }
    }
    Base::store_some(member, bands, tile, is_open);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_padded() const {
    return pads && (Rows > 0 || !problem.A.first.periodic);
  }

 private:
  /// The values around and at the ends of a system.
  KOKKOS_FORCEINLINE_FUNCTION Bounds<T, W> ends_of(std::int64_t system, const Segment<T, W>& root,
                                                   bool is_open) const {
    if constexpr (Phase == OnChipPhase::substitute) {
      const Bounds<T, W> ends = bounds_of_blocks.get(system);
      if (!(finite_probe(ends) == 0)) problem.diagnosis.mark_suspect();
      return ends;
    } else {
      const bool periodic = problem.A.first.periodic;
      const Bounds<T, W> ends = solve_root(root, periodic);
      if (!is_open) return ends;
      diagnose_root(problem.diagnosis.of(system, shape.n), root, periodic, ends, shape.n);
      return ends;
    }
  }
  /// Of the first row of a slot's partition.
  KOKKOS_FORCEINLINE_FUNCTION int slot_place(int slot) const {
    if constexpr (!Interleaved)
      return slot * (Rows > 0 ? Rows : shape.rows) +
             (InStep ? (slot >> shape.levels) * shape.gap : 0);
    const int s = slot & (this->systems() - 1);
    return (slot - s) * shape.rows + s;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto rows_of(T* bands, int s, int row, int m) const {
    return StagedRows < T, Interleaved ? Apart : 1, W,
           Rows > {bands + place(s, row), shape.band_words(), m, problem.A.first.scale_rows,
                   Interleaved ? this->systems() : 1};
  }
};

}  // namespace Trikkos::Impl

#endif
