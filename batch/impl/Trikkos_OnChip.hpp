// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ONCHIP_HPP
#define TRIKKOS_IMPL_ONCHIP_HPP

#include <algorithm>
#include <impl/Trikkos_BothEnds.hpp>
#include <impl/Trikkos_DissectedSystems.hpp>
#include <impl/Trikkos_InterleavedSystems.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_SystemsOnChip.hpp>
#include <impl/Trikkos_WideBothEnds.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>
#include <impl/segmented/Trikkos_WideCarry.hpp>

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
          OnChipPhase Phase = OnChipPhase::solve, int Apart = 0>
struct SolveOnChip : SystemsOnChip<T, Interleaved, Matrices, Apart> {
  using Base = SystemsOnChip<T, Interleaved, Matrices, Apart>;
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
    const int t = member.team_rank(), n = shape.n, systems = this->systems(), levels = shape.levels;
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    const std::int64_t first = tile.first;
    const int here = tile.count;
    if (!Base::wants_any(tile)) return;
    if (problem.resets && t == 0) problem.diagnosis.reset();  // long before anything is reported
    T* const bands = team_scratch<T, staging_alignment>(member);
    T* const nodes = bands + shape.bands * shape.band_words();
    if (is_padded()) pad(member, bands, here);
    load(member, nodes + shape.node_words(), bands, tile);
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
    const bool exists = s < here && Base::is_wanted(first + s);
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
    if (t < here) put_bounds([&](int k) -> T& { return word(t, k); }, ends_of(first + t, root));
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
    Base::store_wanted(member, bands, tile);
  }

 private:
  /// The values around and at the ends of a system.
  KOKKOS_FORCEINLINE_FUNCTION Bounds<T, W> ends_of(std::int64_t system,
                                                   const Segment<T, W>& root) const {
    if constexpr (Phase == OnChipPhase::substitute) {
      const Bounds<T, W> ends = bounds_of_blocks.get(system);
      if (!(finite_probe(ends) == 0)) problem.diagnosis.mark_suspect();
      return ends;
    } else {
      const bool periodic = problem.A.first.periodic;
      const Bounds<T, W> ends = solve_root(root, periodic);
      if (!Base::is_wanted(system)) return ends;
      diagnose_root(problem.diagnosis.of(system, shape.n), root, periodic, ends, shape.n);
      return ends;
    }
  }
  /// Of the first row of a slot's partition.
  KOKKOS_FORCEINLINE_FUNCTION int slot_place(int slot) const {
    if constexpr (!Interleaved) return slot * (Rows > 0 ? Rows : shape.rows);
    const int s = slot & (this->systems() - 1);
    return (slot - s) * shape.rows + s;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto rows_of(T* bands, int s, int row, int m) const {
    return StagedRows < T, Interleaved ? Apart : 1, W,
           Rows > {bands + place(s, row), shape.band_words(), m, problem.A.first.scale_rows,
                   Interleaved ? this->systems() : 1};
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_padded() const {
    return pads && (Rows > 0 || !problem.A.first.periodic);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void pad(const Member& member, T* bands, int here) const {
    const int n = shape.n, more = shape.pitch() - n;
    for (int k = member.team_rank(); k < here * more; k += member.team_size()) {
      T* const row = bands + place(k / more, n + k % more);
      TRIKKOS_UNROLL(rhs + 1)
      for (int j = 0; j <= rhs; ++j) row[j * shape.band_words()] = T(j == W);
    }
  }
};

/// As the matrices are, or b, where they are not read.
template <class T, int W, class Matrices>
bool is_interleaved(const Problem<T, W, Matrices>& problem) {
  if (problem.count() <= 1) return false;
  const Matrices& A = problem.A;
  if constexpr (!ComputedMatrices<Matrices>)
    if (!A.is_shared() && A.first.band[W].stride != 0) return A.stride[W] < A.first.band[W].stride;
  return problem.b.system_stride < problem.b.row_stride;
}

/// Systems that a team of a device can hold.
template <class T, class Exec, class Elimination>
class OnChip {
  static constexpr int W = Elimination::half_bandwidth;
  static constexpr int sector = 32 / sizeof(T);  // of memory, in words
  static constexpr bool knows_systems = SolveOnChip<T, Elimination, true>::keeps;

 public:
  OnChip(const Shape& shape, const Options& options) {
    const std::int64_t size = options.partition_size();
    if (size > 0) m_exactly = Elimination::rows_in_one_go(std::min(size, shape.n));
    if (size == 0 || shape.count > 1) m_n = shape.n;
    m_fits = this->shape(false).lanes > 0;
  }
  bool fits() const { return m_fits; }
  /// Whether interleaved systems, of own matrices, are better here than in two passes: a team holds
  /// as many as memory moves at a time, or twice that where each is copied by itself.
  template <class Matrices>
  bool is_for_interleaved(const Problem<T, W, Matrices>& problem) const {
    if constexpr (!knows_systems || ComputedMatrices<Matrices>) {
      return false;
    } else {
      const OnChipShape<T, W> shape = shape_of_two();
      return !problem.A.is_shared() && shape.lanes > 0 &&
             shape.systems() >= (can_load_in_bulk<true>(problem) ? sector : 2 * sector);
    }
  }

  template <class Matrices>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    launch<OnChipPhase::solve>(exec, "on_chip", problem, {nullptr}, {nullptr});
  }
  /// Of contiguous systems those that are marked.
  template <class Matrices>
  void solve_marked(const Exec& exec, const Problem<T, W, Matrices>& problem,
                    const Marks<T>& marks) const {
    launch<OnChipPhase::solve, false, 0, 0>(exec, "on_chip", problem, {nullptr}, {nullptr},
                                            OnlyIf{marks.count}, marks.marked);
  }
  /// Of blocks of larger systems: to the segment of each, and back from what is around it.
  template <class Matrices>
  void reduce(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const PackedSegments<T, W>& segments) const {
    launch<OnChipPhase::reduce>(exec, "reduce_on_chip", problem, segments, {nullptr});
  }
  template <class Matrices>
  void substitute(const Exec& exec, const Problem<T, W, Matrices>& problem,
                  const PackedBounds<T, W>& bounds) const {
    launch<OnChipPhase::substitute>(exec, "substitute_on_chip", problem, {nullptr}, bounds);
  }

 private:
  OnChipShape<T, W> shape(bool interleaved, int granted) const {
    return {m_n, interleaved, granted, Elimination::default_row_multiple, m_exactly};
  }
  /// Interleaved ones in a team of which a multiprocessor has two, and so loads one while it solves
  /// the other.
  OnChipShape<T, W> shape_of_two() const {
    return shape(true, std::max(scratch_limit, granted_scratch<Exec>() / 2));
  }
  OnChipShape<T, W> shape(bool interleaved) const {
    if (interleaved)
      if (const auto r = shape_of_two(); r.lanes > 0 && r.systems() >= sector) return r;
    return shape(interleaved, granted_scratch<Exec>());
  }
  template <OnChipPhase Phase, class Matrices>
  void launch(const Exec& exec, const char* label, const Problem<T, W, Matrices>& problem,
              const PackedSegments<T, W>& segments, const PackedBounds<T, W>& bounds) const {
    const auto launch_for = [&]<bool Interleaved, int Apart>() {
      constexpr int longest = OnChipShape<T, W>::longest;
      using Kernel = SolveOnChip<T, Elimination, Interleaved, Matrices, 0, Phase, Apart>;
      // interleaved doubles gain a tenth, floats lose 5 %
      constexpr bool is_known = Interleaved ? Apart > 0 && sizeof(T) == 8 : true;
      if constexpr (Kernel::pads && Kernel::keeps && is_known && !ComputedMatrices<Matrices>)
        if (shape(Interleaved).rows == longest && !problem.A.first.periodic)
          return launch<Phase, Interleaved, longest, Apart>(exec, label, problem, segments, bounds);
      launch<Phase, Interleaved, 0, Apart>(exec, label, problem, segments, bounds);
    };
    if (!is_interleaved(problem)) return launch_for.template operator()<false, 0>();
    if constexpr (Phase == OnChipPhase::solve && knows_systems && !ComputedMatrices<Matrices>) {
      const int systems = shape(true).systems();
      if (systems == 4 * sector) return launch_for.template operator()<true, 4 * sector>();
      if (systems == 2 * sector) return launch_for.template operator()<true, 2 * sector>();
      if (systems == sector) return launch_for.template operator()<true, sector>();
    }
    launch_for.template operator()<true, 0>();
  }
  template <OnChipPhase Phase, bool Interleaved, int Rows, int Apart, class Matrices,
            class Gate = Always>
  void launch(const Exec& exec, const char* label, const Problem<T, W, Matrices>& problem,
              const PackedSegments<T, W>& segments, const PackedBounds<T, W>& bounds,
              const Gate& gate = {}, const T* wanted = nullptr) const {
    using Kernel = SolveOnChip<T, Elimination, Interleaved, Matrices, Rows, Phase, Apart>;
    OnChipShape<T, W> shape = this->shape(Interleaved);
    shape.in_rows = Kernel::in_rows;
    const SystemTiles tiles(problem.slab(), shape.systems());
    Kernel kernel{
        {problem, shape, tiles, can_load_in_bulk<Interleaved>(problem), wanted}, segments, bounds};
    if (Phase == OnChipPhase::substitute) kernel.problem.resets = false;
    launch_on_chip<Elimination>(exec, label, kernel, gate);
  }

  std::int64_t m_n = 0, m_exactly = 0;
  bool m_fits;
};

/// `segmented` or `spike` on a device: on chip where a team can hold a system, else in two passes;
/// `segmented` of many short systems by two threads each, of many interleaved ones by one each, or
/// for each partition. `automatic` solves contiguous systems of W > 1 without pivoting first, and
/// by `segmented` those of which anything grows.
template <class T, class Exec, class Elimination>
class DeviceSystems {
  static constexpr int W = Elimination::half_bandwidth;

 public:
  DeviceSystems(const Shape& shape, const Options& options)
      : m_on_chip(shape, options),
        m_from_both_ends(shape, options),
        m_wide_from_both_ends(shape, options),
        m_by_threads(shape, options),
        m_passes(shape, options),
        m_dissected(shape),
        m_is_watched(is_stable && W > 1 && options.algorithm() == Algorithm::automatic &&
                     options.partition_size() == 0 && m_on_chip.fits() && m_dissected.fits()) {}

  std::int64_t storage_words() const {
    return std::max({m_on_chip.fits() ? 0 : m_passes.storage_words(), m_by_threads.storage_words(),
                     std::int64_t(m_is_watched ? 1 : 0)});
  }
  std::int64_t shared_words() const {
    return std::max(m_by_threads.shared_words(), m_is_watched ? words_of_count : 0);
  }
  std::int64_t parallel_items() const { return m_passes.parallel_items(); }
  std::int64_t at_least() const {
    constexpr std::int64_t most_watched = 1 << 19;  // that fill a device
    return std::max<std::int64_t>({m_by_threads.at_least(), m_is_watched ? most_watched : 1,
                                   m_on_chip.fits() ? 1 : m_passes.at_least()});
  }
  /// So many systems of one matrix are better solved at a time: it is read once for all.
  static constexpr std::int64_t at_once = 8;
  /// Matrices are read once anyway.
  bool is_one_pass() const { return m_on_chip.fits(); }
  /// Where they are read twice.
  const DevicePartitions<T, Exec, Elimination>& passes() const { return m_passes; }

  template <class Matrices = Systems<T, W>>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    const bool interleaved = is_interleaved(problem);
    if constexpr (watches<Matrices>)
      if (m_is_watched && !interleaved && m_dissected.is_for(problem))
        return solve_watched(exec, problem);
    if constexpr (decltype(m_from_both_ends)::is_for_it)
      if (interleaved && m_from_both_ends.is_for(problem))
        return m_from_both_ends.solve(exec, problem);
    if constexpr (decltype(m_wide_from_both_ends)::is_for_it)
      if (!(interleaved && m_by_threads.is_alone()) &&
          m_wide_from_both_ends.is_for(problem, interleaved))
        return m_wide_from_both_ends.solve(exec, problem, interleaved);
    if (interleaved && m_on_chip.is_for_interleaved(problem)) return m_on_chip.solve(exec, problem);
    if constexpr (decltype(m_by_threads)::is_for_it)
      if (interleaved && m_by_threads.is_for(problem.slab()))
        return m_by_threads.solve(exec, problem);
    if (m_on_chip.fits())
      m_on_chip.solve(exec, problem);
    else
      m_passes.solve(exec, problem);
  }

 private:
  /// Whether the elimination is that of `segmented`.
  static constexpr bool is_stable = std::is_same_v<Elimination, WideCarry<W>>;
  template <class Matrices>
  static constexpr bool watches = is_stable&& W > 1 && !ComputedMatrices<Matrices>;
  static constexpr std::int64_t words_of_count = 2;  // of any scalar hold a 64-bit number

  template <class Matrices>
  void solve_watched(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    const Marks<T> marks{problem.storage + words_of_count,
                         reinterpret_cast<std::int64_t*>(problem.storage)};
    m_dissected.solve(exec, problem, marks);
    Problem<T, W, Matrices> rest = problem;
    rest.resets = false;
    if (m_wide_from_both_ends.is_for(problem, false))
      m_wide_from_both_ends.solve_marked(exec, rest, marks);
    else
      m_on_chip.solve_marked(exec, rest, marks);
  }

  OnChip<T, Exec, Elimination> m_on_chip;
  BothEnds<T, Exec, Elimination> m_from_both_ends;
  WideBothEnds<T, Exec, Elimination> m_wide_from_both_ends;
  InterleavedSystems<T, Exec, Elimination> m_by_threads;
  DevicePartitions<T, Exec, Elimination> m_passes;
  DissectedSystems<T, Exec, W> m_dissected;
  bool m_is_watched;
};

}  // namespace Trikkos::Impl

#endif
