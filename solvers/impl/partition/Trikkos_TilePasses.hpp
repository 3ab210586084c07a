// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TILEPASSES_HPP
#define TRIKKOS_IMPL_TILEPASSES_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <impl/partition/Trikkos_CoarseLayout.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_Halves.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>

/// \file
/// The two passes of `segmented` and `spike` on a device (Trikkos_DevicePartitions.hpp): a team has
/// the rows of a tile in its scratch.

namespace Trikkos::Impl {

/// Whether rows 1 x = 0 make partitions complete. All do, if they may, however rows are copied: the
/// bits of a solution depend on where partitions end.
template <class Elimination, class Matrices>
inline constexpr bool pads_v = requires {
  requires Elimination::pads;
}
&&!requires { requires Matrices::is_part; };

/// Whether partitions are halves that meet in pairs, in place of a tree in each tile.
template <int W>
inline constexpr bool in_halves = W > 1;

/// Whether rows make way for their pivot rows, so that the second pass eliminates them once. Words
/// of these that find no place there go to `Spare`: an array in registers, or memory.
template <class Elimination, class T, class Spare>
inline constexpr bool keeps_pivot_rows = requires(
    const Elimination& e, const StagedRows<T, 1, Elimination::half_bandwidth>& rows, Spare& spare) {
  e.reduce(rows, spare);
};

/// A partition of a thread, or the half that it is.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION HalfRows<Rows> half_of(const Rows& rows, int t) {
  return {rows, t % 2 == 1};
}
/// Segments of halves: threads 2t and 2t + 1 meet in thread t, by way of scratch. `check` as for
/// `merge_tree`.
template <class Member, class T, int W, class Check = Unwatched>
KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> meet_in_pairs(const Member& member,
                                                        const SegmentArray<T, W>& slots,
                                                        const Segment<T, W>& mine,
                                                        const Check& check = {}) {
  const int t = member.team_rank(), pairs = member.team_size() / 2;
  slots.put(t, mine);
  member.team_barrier();
  if (t >= pairs) return mine;
  const Segment<T, W> left = slots.get(2 * t), right = slots.get(2 * t + 1);
  MergeNode<T, W> node;
  const Segment<T, W> met = meet(left, right, node);
  check(pairs, t, left, right, met, node);
  return met;
}

/// The system, of `at_once` the first, and the tile of a team: tiles of a system in sequence, or,
/// where systems have one matrix, the same tile of all of them, so that its rows come from memory
/// once and from the cache then.
template <class T, int W, class Matrices>
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<int, int> place_of_team(
    int rank, int tiles, const Problem<T, W, Matrices>& problem, bool together, int at_once = 1) {
  if (together) {
    const int teams = (static_cast<int>(problem.count()) + at_once - 1) / at_once;
    return {rank % teams * at_once, rank / teams};
  }
  if (rank < tiles) return {0, rank};  // one system: no division
  return {rank / tiles, rank % tiles};
}

/// First pass: rows to segments. K systems with one matrix at a time.
template <class T, class Elimination, int Rows, class Matrices, Moves How = Moves::in_words,
          int K = 1>
struct ReduceTiles {
  static constexpr int W = Elimination::half_bandwidth, systems_at_once = K;
  using V = NumberOf<T, K>;
  using Node = MergeNode<V, W>;
  static constexpr int registers_for = max_tile_lanes;

  Problem<T, W, Matrices> problem;
  Elimination elimination;
  TileShape<T, Rows, W, K, How> shape;
  TeamLayout layout;
  bool in_bulk, together;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto [system, tile] =
        place_of_team(member.league_rank(), static_cast<int>(layout.tiles), problem, together, K);
    if (tile == 0) reset_arrivals(member, system);
    reduce(member, system, tile);
  }
  /// Of the system, and those together with it.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void reset_arrivals(const Member& member, std::int64_t system) const {
    for (int j = 0; j < K && system + j < problem.count(); ++j)
      layout.arrivals(problem.storage + (system + j) * layout.words)
          .reset(member.team_rank(), member.team_size());
  }
  /// By a team of at least as many threads as there are partitions; more do the last one, too.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void reduce(const Member& member, int system, int tile) const {
    int t = member.team_rank();
    if constexpr (requires { Member::restages; }) t = t < shape.lanes() ? t : shape.lanes() - 1;
    using Tile = StagedTile<T, Rows, W, How, K>;
    const Tile staged{shape, team_scratch<T, staging_alignment>(member),
                      std::int64_t(tile) * shape.tile_rows(), Tile::shift_of(problem, system)};
    Staging<Member> staging(member, staged.scratch + scratch_words(shape));
    staged.load(member, staging, problem, system, in_bulk);
    let_next_begin(member);
    wait_for_kernels_before(member);  // of one behind windows
    if (problem.resets && member.league_rank() == 0 && t == 0) problem.diagnosis.reset();
    const int systems = staged.systems(problem, system);
    T* const work = problem.storage + system * layout.words;
    staging.wait();
    const bool whole =
        staged.template complete<pads_v<Elimination, Matrices>>(member, problem, system);
    Segment<V, W> s = Rows > 0 && whole
                          ? reduce_partition(t, staged.template rows<Rows>(t, problem))
                          : reduce_partition(t, staged.rows(t, problem, whole));
    member.team_barrier();  // the tree reuses the bands' scratch
    const SegmentArray<V, W> slots{staged.scratch, shape.lanes()};
    if constexpr (in_halves<W>) {
      s = meet_in_pairs(member, slots, s);
    } else {
      s = merge_tree(member, slots, shape.lanes(), shape.levels(), s, [](int, const Node&) {});
    }
    if (member.team_rank() >= shape.segments()) return;
    const StageOfSegments& stage = layout.stage[0];
    const std::int64_t segment = std::int64_t(tile) * shape.segments() + t,
                       place = in_halves<W> ? stage.place(segment) : segment;
    TRIKKOS_UNROLL(K)
    for (int j = 0; j < K; ++j)
      if (j < systems)
        SegmentArray<T, W>{work + j * layout.words + stage.segment_offset, stage.segments}.put(
            place, segment_of_system(s, j));
  }
  static KOKKOS_INLINE_FUNCTION int scratch_words(const TileShape<T, Rows, W, K, How>& shape) {
    return shape.reduce_words();
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(
      const TileShape<T, Rows, W, K, How>& shape) {
    return sizeof(T) * scratch_words(shape) + staging_bytes + staging_alignment;
  }

 private:
  template <class Partition>
  KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> reduce_partition(int t, const Partition& rows) const {
    if constexpr (in_halves<W>)
      return elimination.reduce(half_of(rows, t));
    else
      return elimination.reduce(rows);
  }
};

/// The way up the tree for one system, if that `is_wanted`, and before it the first pass, if that
/// `is_missing`, by teams that go from tile to tile: the last one below a group goes up with it.
template <class Reduce, class Merge>
struct ReduceAndMerge {
  Reduce reduce;
  Merge merge;
  /// The one is known since before the kernel before this one began, the other when that has ended.
  const std::int32_t *is_missing, *is_wanted;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    // volatile: see `KernelIfDecided`
    const volatile std::int32_t &missing = *is_missing, &wanted = *is_wanted;
    const bool begins_below = missing != 0;
    const int rank = member.league_rank(), made = reduce.shape.segments();
    if (!begins_below) {
      if (rank >= merge.layout.level[0].groups) return;
      let_next_begin(member);
    }
    wait_for_kernels_before(member);
    if (begins_below && wanted == 0) return;
    // one way up in the code, which comes from memory, too
    std::int64_t group = rank, tile = rank;
    TRIKKOS_UNROLL(1)
    do {
      if (begins_below) [[unlikely]] {
        group = -1;
        TRIKKOS_UNROLL(1)
        for (; group < 0 && tile < merge.layout.tiles; tile += member.league_size()) {
          using Team = TeamOf<Member>;
          Staging<Team>::finish(member);
          reduce.reduce(Team(member, static_cast<int>(tile)), 0, static_cast<int>(tile));
          member.team_barrier();
          if (merge.is_last(member, merge.work, 0, tile * made, made))
            group = Merge::group_of(merge.layout.level[0], tile * made);
        }
        if (group < 0) return;
      }
      merge.go_up(member, 0, group);
    } while (begins_below);
  }
};
/// For `ReducedSystem`, in place of its gate.
template <class Reduce>
struct ReduceBefore {
  static constexpr bool segments_are_there = false;

  Reduce reduce;
  const std::int32_t *is_missing, *is_wanted;

  template <class Merge, class Gate>
  ReduceAndMerge<Reduce, Merge> kernel(const Merge& merge, const Gate&, int) const {
    return {reduce, merge, is_missing, is_wanted};
  }
  League league(League r) const {
    const auto tiles = static_cast<int>(reduce.layout.tiles);
    r.teams = std::max(r.teams, std::min(tiles, OnlyIf::most_teams));
    r.threads = std::max(r.threads, reduce.shape.lanes());
    r.scratch_bytes = std::max(r.scratch_bytes, Reduce::scratch_bytes(reduce.shape));
    return r;
  }
};

/// Second pass: from the bounds of each segment to the solution of its rows.
template <class T, class Elimination, int Rows, class Matrices, Moves How = Moves::in_words,
          int K = 1>
struct SubstituteTiles {
  static constexpr int W = Elimination::half_bandwidth, systems_at_once = K;
  using V = NumberOf<T, K>;
  using Node = MergeNode<V, W>;

  Problem<T, W, Matrices> problem;
  Elimination elimination;
  TileShape<T, Rows, W, K, How> shape;
  TeamLayout layout;
  bool in_bulk, together;
  /// So many, the first, eliminate before the bounds of segments are known: while the reduced
  /// system is solved. More would get in its way, unless it is all of them.
  int early_teams = 0;

  /// Teams that scratch has room for.
  static constexpr int on_multiprocessor = K > 2 ? 4 : K > 1 ? 5 : sizeof(T) == 4 ? 8 : 6;

  using Spare = std::conditional_t<Rows == 0, T*, T[Rows == 0 ? 1 : Rows]>;
  static constexpr bool keeps = keeps_pivot_rows<Elimination, T, Spare>;
  /// So many threads: else registers are hoarded, and fewer teams run.
  static constexpr int registers_for =
      max_tile_lanes * (keeps && W == 1 && sizeof(T) == 8 ? on_multiprocessor : 1);

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const int tiles = static_cast<int>(layout.tiles);
    const auto [system, from_last] =
        place_of_team(member.league_rank(), tiles, problem, together, K);
    // backwards: the tiles that the first pass read last may still be in the cache
    const std::int64_t tile = tiles - 1 - from_last;
    const Tile staged{shape, team_scratch<T, staging_alignment>(member), tile * shape.tile_rows(),
                      Tile::shift_of(problem, system)};
    Staging<Member> staging(member, staged.scratch + scratch_words(shape));
    staged.load(member, staging, problem, system, in_bulk);

    const std::int64_t segment = tile * shape.segments() + (t >> shape.levels());
    const T* const at =
        problem.storage + system * layout.words + layout.finest_bounds_offset + 2 * W * segment;
    const int systems = staged.systems(problem, system);
    bool suspect = false;
    const auto read = [&] {
      wait_for_kernels_before(member);
      suspect = problem.diagnosis.is_suspect();
      return bounds_from<V, W>([&](int k) {
        return columns_from<Unknown<V>>(
            [&](int j) { return at[(j < systems ? j : 0) * layout.words + k]; });
      });
    };
    const bool is_early = !in_halves<W> && member.league_rank() < early_teams;
    Bounds<V, W> bounds;
    if (!is_early) bounds = read();
    staging.wait();
    const bool whole =
        staged.template complete<pads_v<Elimination, Matrices>>(member, problem, system);

    const auto late = [&] { return is_early ? read() : bounds; };
    const Findings<V> found = substitute(member, staged, whole, late);
    // before b is overwritten, if x is b
    TRIKKOS_UNROLL(1)
    for (int j = 0; j < systems; ++j) {
      if (suspect || (in_halves<W> && !(found.probe == 0))) diagnose_rows(t, staged, system + j);
      if (suspect) diagnose_merges(member, staged, system + j);
    }
    staged.store(member, problem, system);
    if (!found.unstable && found.probe == 0) return;
    const std::int64_t first = staged.base + t * shape.rows();
    TRIKKOS_UNROLL(1)
    for (int j = 0; j < systems; ++j) {
      const Diagnosis diagnosis = problem.diagnosis.of(system + j, problem.n());
      if (found.unstable) diagnosis.report_unstable(first);
      if (!(found.probe == 0)) report_solution(staged.rows(t, problem), j, diagnosis, first);
    }
  }
  static KOKKOS_INLINE_FUNCTION int scratch_words(const TileShape<T, Rows, W, K, How>& shape) {
    if (in_halves<W>) return shape.reduce_words();
    return spare_offset(shape) + (keeps && Rows == 0 ? shape.band_words() : 0);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(
      const TileShape<T, Rows, W, K, How>& shape) {
    return sizeof(T) * scratch_words(shape) + staging_bytes + staging_alignment;
  }

 private:
  using Tile = StagedTile<T, Rows, W, How, K>;

  static KOKKOS_INLINE_FUNCTION int spare_offset(const TileShape<T, Rows, W, K, How>& shape) {
    return shape.row_words() + (keeps ? shape.words_of_nodes_behind() : shape.node_words());
  }

  /// `late()`: the bounds of the segment, which are known when the rows have been eliminated.
  template <class Member, class Late>
  KOKKOS_FORCEINLINE_FUNCTION Findings<V> substitute(const Member& member, const Tile& staged,
                                                     bool whole, const Late& late) const {
    const int t = member.team_rank();
    if constexpr (in_halves<W>) {
      if (Rows > 0 && whole)
        return meet_and_substitute(member, staged, staged.template rows<Rows>(t, problem), late());
      return meet_and_substitute(member, staged, staged.rows(t, problem, whole), late());
    }
    const auto solve = [&](const auto& rows) {
      if constexpr (keeps) {
        Spare spare;
        if constexpr (Rows == 0) spare = staged.scratch + spare_offset(shape) + t * shape.pitch();
        const auto bounds =
            descend(member, staged.nodes_among_rows(), elimination.reduce(rows, spare), late);
        member.team_barrier();  // x takes the place of nodes
        return elimination.substitute(rows, spare, bounds);
      } else {
        const SegmentArray<V, W> slots{staged.nodes(), shape.lanes()};
        return elimination.substitute(rows, descend(member, slots, elimination.reduce(rows), late));
      }
    };
    if (Rows > 0 && keeps && whole) return solve(staged.template rows<Rows>(t, problem));
    return solve(staged.rows(t, problem, whole));
  }
  /// The halves hand each other the rows that they have left, in the place of rows at their ends:
  /// the way back keeps nothing in the first 2W.
  template <class Member, class Partition>
  KOKKOS_FORCEINLINE_FUNCTION Findings<T> meet_and_substitute(const Member& member,
                                                              const Tile& staged,
                                                              const Partition& rows,
                                                              const Bounds<T, W>& bounds) const {
    constexpr int bands = 2 * W + 1, taken = (HalfLeft<T, W>::words + bands - 1) / bands;
    static_assert(taken <= 2 * W);
    const int t = member.team_rank(), pitch = shape.pitch();
    const auto word = [&](int half, int k) -> T& {
      const int first = half * pitch + (half % 2 == 1 ? shape.rows() - taken : 0);
      return staged.band(k % bands)[first + k / bands];
    };
    const auto half = half_of(rows, t);
    Bounds<T, W> around = half.is_mirrored ? mirrored(bounds) : bounds;
    HalfLeft<T, W> mine(elimination.fold(half, around.x));
    mine.for_words([&](const T& value, int k) { word(t, k) = value; });
    member.team_barrier();
    HalfLeft<T, W> left, right;
    left.for_words([&](T& value, int k) { value = word(t / 2 * 2, k); });
    right.for_words([&](T& value, int k) { value = word(t / 2 * 2 + 1, k); });
    T met[2 * W];
    meet(left, right, met);
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j)
      around.x[2 * W + j] = half.is_mirrored ? met[2 * W - 1 - j] : met[j];
    member.team_barrier();  // all have read
    return elimination.go_back(half, around);
  }
  /// Where something is not finite: looks for the row, once more from memory.
  KOKKOS_FORCEINLINE_FUNCTION void diagnose_rows(int t, const Tile& staged,
                                                 std::int64_t system) const {
    const MatrixOf<Matrices> A = problem.A[system];
    const bool ends = is_padded() && !staged.is_whole(A.n) && t == shape.lanes() - 1;
    const int m = length(t, staged);
    elimination.diagnose(problem.diagnosis.of(system, A.n),  // takes out the last unknowns
                         rows_in_memory(A, t, staged, system, ends ? m + W : m));
  }
  /// All threads call it: looks for the merge.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void diagnose_merges(const Member& member, const Tile& staged,
                                                   std::int64_t system) const {
    const MatrixOf<Matrices> A = problem.A[system];
    const int t = member.team_rank(), lanes = shape.lanes();
    const Diagnosis diagnosis = problem.diagnosis.of(system, A.n);
    const auto rows = rows_in_memory(A, t, staged, system, length(t, staged));
    member.team_barrier();  // the diagonals are no longer needed, nor is the way back
    const auto check = [&](int h, int pair, const Segment<T, W>& left, const Segment<T, W>& right,
                           const Segment<T, W>& merged, const auto& node) {
      const int middle = (2 * pair + 1) * (lanes / (2 * h)) * shape.rows();
      diagnose_merge(diagnosis, left, right, merged, node, staged.base + middle);
    };
    if constexpr (in_halves<W>)
      meet_in_pairs(member, SegmentArray<T, W>{staged.scratch, lanes},
                    elimination.reduce(half_of(rows, t)), check);
    else
      merge_tree(
          member, SegmentArray<T, W>{keeps ? staged.scratch : staged.nodes(), lanes}, lanes,
          shape.levels(), elimination.reduce(rows), [](int, const MergeNode<T, W>&) {}, 1, check);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_padded() const {
    return pads_v<Elimination, Matrices> && !problem.A.first.periodic;
  }
  KOKKOS_FORCEINLINE_FUNCTION int length(int t, const Tile& staged) const {
    return is_padded() ? shape.rows() : staged.length(t, problem.n());
  }
  KOKKOS_FORCEINLINE_FUNCTION CompletedRows<T, W, MatrixOf<Matrices>> rows_in_memory(
      const MatrixOf<Matrices>& A, int t, const Tile& staged, std::int64_t system,
      int length) const {
    return {{A, problem.b[system], staged.base + t * shape.rows(), length}};
  }
  /// Repeats the tree of the first pass. Returned are the bounds of the thread's own partition.
  template <class Member, class Slots, class Late>
  KOKKOS_FORCEINLINE_FUNCTION Bounds<V, W> descend(const Member& member, const Slots& slots,
                                                   const Segment<V, W>& mine,
                                                   const Late& late) const {
    const int t = member.team_rank(), lanes = shape.lanes(), levels = shape.levels();
    merge_tree(member, slots, lanes, levels, mine, [&](int slot, const Node& node) {
      TRIKKOS_UNROLL(Node::words)
      for (int k = 0; k < Node::words; ++k) slots(slot, k) = node.g[k];
    });
    Bounds<V, W> bounds = late();
    descend_tree(bounds, (lanes >> levels) + (t >> levels), (1 << levels) / 2, t, slots);
    return bounds;
  }
  /// Of the j-th system of the tile.
  template <class Partition>
  KOKKOS_FORCEINLINE_FUNCTION static void report_solution(const Partition& rows, int j,
                                                          const Diagnosis& diagnosis,
                                                          std::int64_t first) {
    for (int k = 0; k < rows.m; ++k)
      if (!(finite_probe(rows.solution(k, j)) == 0)) return diagnosis.report_solution(first + k);
  }
};

}  // namespace Trikkos::Impl

#endif
