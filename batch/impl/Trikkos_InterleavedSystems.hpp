// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INTERLEAVEDSYSTEMS_HPP
#define TRIKKOS_IMPL_INTERLEAVEDSYSTEMS_HPP

#include <algorithm>
#include <impl/Trikkos_CheckpointedSystems.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_ThreadRows.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>

/// \file
/// `segmented` for interleaved systems on a device. A thread has a partition of one
/// system, neighbouring threads have neighbouring systems, and so each row of a warp is whole lines
/// of memory, which go straight to registers: only the way back lies in scratch.
///
/// Systems that are a partition each are solved at once: 2W + 2 words a row read, 1 written. Longer
/// ones in two passes with the chains of their segments between: as many again read, and for W = 1
/// 48 words a partition of at most 33 rows in double. Where there are enough of them for W > 1,
/// each by one thread (Trikkos_CheckpointedSystems.hpp).

namespace Trikkos::Impl {

/// What the kernels share: the systems of a team, one a thread, and the partition of each. `Which`
/// systems are solved; others are left as they are.
template <class T, class Elimination, class Matrices, class Which = EverySystem>
struct ThreadSystems {
  static constexpr int W = Elimination::half_bandwidth;
  using Matrix = MatrixOf<Matrices>;
  using Rows = ThreadRows<T, W, Matrix>;

  Problem<T, W, Matrices> problem;
  ThreadShape<T, W> shape;
  SystemTiles tiles;
  Which wanted{};
  Elimination elimination{};

  /// body(system, link) for each thread that has one.
  template <class Member, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_thread(const Member& member, const Body& body) const {
    const auto [link, tile] = split_index(member.league_rank(), tiles.count(problem.count()));
    const SystemTiles::Tile here = tiles[tile];
    const std::int64_t system = here.first + member.team_rank();
    if (member.team_rank() < here.count && wanted.has(system)) body(system, static_cast<int>(link));
  }
  KOKKOS_FORCEINLINE_FUNCTION Rows rows(const Matrix& A, std::int64_t system, int link) const {
    return {A, problem.b[system], problem.x[system], link * shape.rows, shape.length(link)};
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void keep_in(const Member& member, Rows& rows) const {
    rows.back = team_scratch<T>(member) + member.team_rank();
    rows.apart = shape.threads;
  }
  KOKKOS_FORCEINLINE_FUNCTION void report(const Rows& rows, std::int64_t system,
                                          const Findings<T>& found) const {
    if (!found.unstable && found.probe == 0) return;
    const Diagnosis diagnosis = problem.diagnosis.of(system, shape.n);
    if (found.unstable) diagnosis.report_unstable(rows.first);
    if (!(found.probe == 0)) report_first_not_finite(diagnosis, rows.x, rows.first, rows.m);
  }
  KOKKOS_FORCEINLINE_FUNCTION Bounds<T, W> root(const Segment<T, W>& s, const Matrix& A,
                                                std::int64_t system) const {
    const Bounds<T, W> bounds = solve_root(s, A.periodic);
    if (!(finite_probe(bounds) == 0)) {
      const Diagnosis diagnosis = problem.diagnosis.of(system, shape.n);
      diagnose_root(diagnosis, s, A.periodic, bounds, shape.n);
      // b is still what it was
      elimination.diagnose(diagnosis, UnstagedRows<T, W, Matrix>{A, problem.b[system], 0, shape.n});
    }
    return bounds;
  }
};

/// A system a thread, from one reading: the pivot rows of its rotations are kept.
template <class T, class Elimination, class Matrices, class Which>
struct SolveInThreads : ThreadSystems<T, Elimination, Matrices, Which> {
  using Base = ThreadSystems<T, Elimination, Matrices, Which>;
  static constexpr int W = Elimination::half_bandwidth;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    this->for_thread(member, [&](std::int64_t system, int) {
      const auto A = this->problem.A[system];
      auto rows = this->rows(A, system, 0);
      this->keep_in(member, rows);
      T last{};
      if (!A.periodic && this->elimination.reduce_alone(rows, last))
        return this->report(rows, system, this->elimination.substitute_alone(rows, last));
      rows.skipped = 2 * W;
      const auto bounds = this->root(this->elimination.reduce(rows), A, system);
      this->report(rows, system, this->elimination.substitute(rows, bounds));
    });
  }
};

/// What is known of a partition between the passes: first its segment, then the node of its merge
/// with those before it, then its bounds. A word of all systems at a time.
template <class T, int W>
struct ThreadSlots {
  static constexpr int words = std::max({Segment<T, W>::words, MergeNode<T, W>::words, 4 * W});

  T* data;
  std::int64_t count, system;  // this one of so many

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::int64_t link, int k) const {
    return data[(link * words + k) * count + system];
  }
};

template <class T, class Elimination, class Matrices, class Which>
struct ReduceInThreads : ThreadSystems<T, Elimination, Matrices, Which> {
  static constexpr int W = Elimination::half_bandwidth;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto& given = this->problem;
    if (given.resets && member.league_rank() == 0 && member.team_rank() == 0)
      given.diagnosis.reset();
    this->for_thread(member, [&](std::int64_t system, int link) {
      const auto A = given.A[system];
      put_segment(ThreadSlots<T, W>{given.storage, given.count(), system}, link,
                  this->elimination.reduce(this->rows(A, system, link)));
    });
  }
};

/// The segments of each system to the bounds of each: `chains` threads chain those of neighbouring
/// partitions, a tree merges the chains.
template <class T, class Elimination, class Matrices, class Which>
struct ChainInThreads : ThreadSystems<T, Elimination, Matrices, Which> {
  static constexpr int W = Elimination::half_bandwidth;
  static constexpr int systems = 32;
  using Node = MergeNode<T, W>;

  int levels;  // 2^levels chains

  static int levels_for(int links) {
    int levels = 0;
    while ((4 << levels) <= links && bytes(levels + 1) < 40 * 1024 && levels < 3) ++levels;
    return levels;
  }
  static KOKKOS_INLINE_FUNCTION int bytes(int levels) {
    return static_cast<int>(sizeof(T)) * Node::words * (systems << levels) +
           static_cast<int>(alignof(T));
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto& given = this->problem;
    const SystemTiles::Tile tile = this->tiles[member.league_rank()];
    const int t = member.team_rank(), s = t % systems, chain = t / systems, chains = 1 << levels;
    const bool exists = s < tile.count && this->wanted.has(tile.first + s);
    const std::int64_t system = tile.first + (exists ? s : 0);
    const int links = exists ? this->shape.links : 0;
    const int begin = chain * links / chains, end = (chain + 1) * links / chains;
    const ThreadSlots<T, W> slot{given.storage, given.count(), system};
    T* const scratch = team_scratch<T>(member);
    const SegmentArray<T, W> tree{scratch, systems << levels};

    Segment<T, W> merged = identity_segment<T, W>();
    if (begin < end) merged = get_segment<T, W>(slot, begin);
    TRIKKOS_UNROLL(1)
    for (int link = begin + 1; link < end; ++link) {
      Node node;
      merged = merge(merged, get_segment<T, W>(slot, link), node);
      TRIKKOS_UNROLL(Node::words)
      for (int k = 0; k < Node::words; ++k) slot(link, k) = node.g[k];
    }
    merged = merge_tree<false>(
        member, tree, systems << levels, levels, merged,
        [&](int place, const Node& node) {
          TRIKKOS_UNROLL(Node::words)
          for (int k = 0; k < Node::words; ++k) tree(place, k) = node.g[k];
        },
        systems);
    if (t < systems && exists) {
      const auto A = given.A[system];
      put_bounds([&](int k) -> T& { return tree(t, k); }, this->root(merged, A, system));
    }
    member.team_barrier();
    auto bounds = bounds_from<T, W>([&](int k) { return tree(s, k); });
    descend_tree(bounds, systems + s, chains / 2, chain, tree, systems);
    TRIKKOS_UNROLL(1)
    for (int link = end - 1; link >= begin; --link) {
      Bounds<T, W> mine = bounds;
      if (link > begin) {
        Node node;
        TRIKKOS_UNROLL(Node::words)
        for (int k = 0; k < Node::words; ++k) node.g[k] = slot(link, k);
        mine = unchain(bounds, node);
      }
      put_bounds([&](int k) -> T& { return slot(link, k); }, mine);
    }
  }
};

template <class T, class Elimination, class Matrices, class Which>
struct SubstituteInThreads : ThreadSystems<T, Elimination, Matrices, Which> {
  static constexpr int W = Elimination::half_bandwidth;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto& given = this->problem;
    this->for_thread(member, [&](std::int64_t system, int link) {
      const auto A = given.A[system];
      auto rows = this->rows(A, system, link);
      this->keep_in(member, rows);
      rows.skipped = 2 * W;
      const ThreadSlots<T, W> slot{given.storage, given.count(), system};
      const auto bounds = bounds_from<T, W>([&](int k) { return slot(link, k); });
      this->report(rows, system, this->elimination.substitute(rows, bounds));
    });
  }
};

/// The systems that are marked in `unsafe`, if any are: `flight` threads at a time solve one each,
/// by a chain of its segments.
template <class T, class Elimination, class Matrices>
struct SolveUnsafe : ThreadSystems<T, Elimination, Matrices> {
  static constexpr int W = Elimination::half_bandwidth;
  using Node = MergeNode<T, W>;

  Marks<T> unsafe;
  std::int64_t flight;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t first =
        std::int64_t(member.league_rank()) * member.team_size() + member.team_rank();
    if (!unsafe.any->is_raised() || first >= flight) return;
    const ThreadSlots<T, W> nodes{this->problem.storage, flight, first};
    for (std::int64_t system = first; system < this->problem.count(); system += flight)
      if (unsafe.marked[system] != T(0)) solve(member, system, nodes);
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION void solve(const Member& member, std::int64_t system,
                             const ThreadSlots<T, W>& nodes) const {
    const auto A = this->problem.A[system];
    Segment<T, W> s = this->elimination.reduce(this->rows(A, system, 0));
    TRIKKOS_UNROLL(1)
    for (int link = 1; link < this->shape.links; ++link) {
      Node node;
      s = merge(s, this->elimination.reduce(this->rows(A, system, link)), node);
      TRIKKOS_UNROLL(Node::words)
      for (int k = 0; k < Node::words; ++k) nodes(link, k) = node.g[k];
    }
    Bounds<T, W> bounds = this->root(s, A, system);
    TRIKKOS_UNROLL(1)
    for (int link = this->shape.links - 1; link >= 0; --link) {
      Bounds<T, W> mine = bounds;
      if (link > 0) {
        Node node;
        TRIKKOS_UNROLL(Node::words)
        for (int k = 0; k < Node::words; ++k) node.g[k] = nodes(link, k);
        mine = unchain(bounds, node);
      }
      auto rows = this->rows(A, system, link);
      this->keep_in(member, rows);
      rows.skipped = 2 * W;
      this->report(rows, system, this->elimination.substitute(rows, mine));
    }
  }
};

/// `segmented` for interleaved systems on a device.
template <class T, class Exec, class Elimination>
class InterleavedSystems {
  static constexpr int W = Elimination::half_bandwidth;

 public:
  /// Whether there is a way with systems by themselves, as in `segmented`.
  static constexpr bool is_for_it = requires(const ThreadRows<T, W, Bands<T, W>>& r, T& last) {
    Elimination::reduce_alone(r, last);
  };

  /// ... and one with long ones, each by one thread.
  static constexpr bool has_whole = requires { typename Elimination::template Lone<T>; };

  InterleavedSystems(const Shape& shape, const Options& options)
      : m_shape(Elimination{}, shape.n, options.partition_size()),
        m_whole(shape.n),
        m_is_used(is_for_it && shape.interleaved && shape.count * m_shape.links >= least_threads &&
                  m_shape.links <= most_links &&
                  (m_shape.is_alone || m_shape.links >= least_links)),
        m_begins_whole(has_whole && m_is_used && !m_shape.is_alone &&
                       options.partition_size() == 0 && shape.count >= least_whole &&
                       shape.n <= longest_whole) {}

  /// Systems in slabs of so many.
  bool is_for(std::int64_t slab) const { return m_is_used && slab >= least_slab; }
  /// Whether a thread has a system as a whole, and reads it once.
  bool is_alone() const { return m_is_used && m_shape.is_alone; }
  std::int64_t storage_words() const {
    if (!m_is_used || m_shape.is_alone) return 0;
    return m_begins_whole ? words_of_whole() + 1 : words_of_passes();
  }
  std::int64_t shared_words() const { return m_begins_whole ? Wanted::words : 0; }
  /// So many fill the device.
  std::int64_t at_least() const {
    if (m_begins_whole) return most_whole;
    return m_is_used ? most_threads / m_shape.links : 1;
  }

  /// Of tridiagonal systems those that are marked.
  template <class Matrices>
  requires(is_for_it&& W == 1) void solve_marked(const Exec& exec,
                                                 const Problem<T, W, Matrices>& problem,
                                                 const Marks<T>& marks) const {
    const auto systems = those(problem, MarkedSystems<T>{marks.marked});
    const OnlyIf gate{marks.any, OnlyIf::most_small_teams};
    if (m_shape.is_alone)
      solve_alone(exec, systems, gate);
    else
      solve_in_passes(exec, systems, gate);
  }
  template <class Matrices>
  requires(is_for_it) void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    if (m_shape.is_alone) {
      auto systems = those(problem);
      if (problem.resets) {
        systems.problem.resets = false;
        launch_one(exec, Elimination::label("reset"), ResetDiagnosis{problem.diagnosis});
      }
      return solve_alone(exec, systems);
    }
    if constexpr (has_whole)
      if (m_begins_whole) return solve_whole(exec, problem);
    solve_in_passes(exec, those(problem));
  }

 private:
  template <class Matrices, class Which = EverySystem>
  ThreadSystems<T, Elimination, Matrices, Which> those(const Problem<T, W, Matrices>& problem,
                                                       const Which& wanted = {}) const {
    return {problem, m_shape, SystemTiles(problem.slab(), m_shape.threads), wanted};
  }
  std::int64_t words_of_passes() const { return m_shape.links * ThreadSlots<T, W>::words; }
  std::int64_t words_of_whole() const {
    if constexpr (has_whole)
      return std::int64_t(Elimination::template Lone<T>::words) * m_whole.stretches;
    else
      return 0;
  }

  /// Open systems from checkpoints, and those that are not safe there in segments; periodic ones in
  /// passes. As many at a time, either way, as the memory for checkpoints holds.
  template <class Matrices>
  void solve_whole(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    const auto unsafe = Marks<T>::at(problem.storage);
    Problem<T, W, Matrices> rest = problem;
    rest.storage = unsafe.marked + problem.count();
    const std::int64_t at_a_time =
        std::max<std::int64_t>(problem.count() * words_of_whole() / words_of_passes(), 1);
    if (problem.A.first.periodic) {
      for (std::int64_t first = 0, count; first < problem.count(); first += count) {
        count = problem.block_size(first, at_a_time);
        auto block = rest.block(first, count);
        block.resets = problem.resets && first == 0;
        solve_in_passes(exec, those(block));
      }
      return;
    }
    launch_one(exec, Elimination::label("reset"),
               ResetWanted{problem.diagnosis, problem.resets, unsafe.any});
    rest.resets = false;
    using Kernel = SolveFromCheckpoints<T, Elimination, Matrices>;
    const SystemTiles tiles(problem.slab(), m_whole.threads);
    Kokkos::parallel_for(
        Elimination::label("solve_from_checkpoints"),
        teams(exec, tiles.count(problem.count()), m_whole.threads, m_whole.scratch_bytes()),
        Kernel{rest, m_whole, tiles, rest.storage, unsafe});
    using Unsafe = SolveUnsafe<T, Elimination, Matrices>;
    constexpr std::int64_t most_teams = 768;  // that cost little where nothing is unsafe
    const std::int64_t threads = m_shape.threads,
                       flight = std::min({at_a_time, problem.count(), most_teams * threads});
    Kokkos::parallel_for(Elimination::label("solve_unsafe"),
                         teams(exec, (flight + threads - 1) / threads, m_shape.threads,
                               m_shape.scratch_bytes(kept_in_passes())),
                         Unsafe{those(rest), unsafe, flight});
  }
  template <class Matrices, class Which, class Gate = Always>
  void solve_alone(const Exec& exec, const ThreadSystems<T, Elimination, Matrices, Which>& systems,
                   const Gate& gate = {}) const {
    launch(exec, "solve_in_threads", SolveInThreads<T, Elimination, Matrices, Which>{systems},
           m_shape.scratch_bytes(m_shape.rows - m_shape.not_kept_alone), gate);
  }
  template <class Matrices, class Which, class Gate = Always>
  void solve_in_passes(const Exec& exec,
                       const ThreadSystems<T, Elimination, Matrices, Which>& systems,
                       const Gate& gate = {}) const {
    launch(exec, "reduce_in_threads", ReduceInThreads<T, Elimination, Matrices, Which>{systems}, 0,
           gate);
    launch_chain(exec, systems, gate);
    launch(exec, "substitute_in_threads",
           SubstituteInThreads<T, Elimination, Matrices, Which>{systems},
           m_shape.scratch_bytes(kept_in_passes()), gate);
  }
  /// Rows of the way back of a partition.
  int kept_in_passes() const { return std::max(m_shape.rows - m_shape.not_kept, 0); }
  static auto teams(const Exec& exec, std::int64_t league, int threads, std::size_t bytes) {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<128, 1>>;
    return light(Policy(exec, static_cast<int>(league), threads)
                     .set_scratch_size(0, Kokkos::PerTeam(bytes)));
  }
  template <class Kernel, class Gate>
  void launch(const Exec& exec, const char* phase, const Kernel& kernel, std::size_t bytes,
              const Gate& gate) const {
    const auto league =
        static_cast<int>(m_shape.links * kernel.tiles.count(kernel.problem.count()));
    Kokkos::parallel_for(Elimination::label(phase),
                         teams(exec, gate.league(league), m_shape.threads, bytes),
                         gate.teams(kernel, league));
  }
  template <class Matrices, class Which, class Gate>
  void launch_chain(const Exec& exec, ThreadSystems<T, Elimination, Matrices, Which> systems,
                    const Gate& gate) const {
    using Chain = ChainInThreads<T, Elimination, Matrices, Which>;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 1>>;
    systems.tiles = SystemTiles(systems.problem.slab(), Chain::systems);
    const int levels = Chain::levels_for(m_shape.links);
    const int league = static_cast<int>(systems.tiles.count(systems.problem.count()));
    Kokkos::parallel_for(Elimination::label("chain_in_threads"),
                         light(Policy(exec, gate.league(league), Chain::systems << levels)
                                   .set_scratch_size(0, Kokkos::PerTeam(Chain::bytes(levels)))),
                         gate.teams(Chain{systems, levels}, league));
  }

  // Below these, a team that holds the system is as fast: threads are too few to hide the latency
  // of memory, or the second pass costs more than it saves.
  static constexpr std::int64_t least_threads = 1 << 14, least_slab = 32;
  static constexpr int least_links = W == 1 ? 4 : 2;
  static constexpr int most_links = 512;  // which 8 threads chain
  static constexpr std::int64_t most_threads = 1 << 20;

  // A thread a system from so many on, and up to as many rows as a SIMD lane of a host takes.
  static constexpr std::int64_t least_whole = 1 << 14, longest_whole = 2048, most_whole = 1 << 19;

  ThreadShape<T, W> m_shape;
  CheckpointShape<T, W> m_whole;
  bool m_is_used, m_begins_whole;
};

}  // namespace Trikkos::Impl

#endif
