// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DISTRIBUTEDSOLVER_HPP
#define TRIKKOS_IMPL_DISTRIBUTEDSOLVER_HPP

#include <impl/Trikkos_RankShares.hpp>
#include <impl/Trikkos_RankTree.hpp>
#include <impl/Trikkos_RowBlocks.hpp>
#include <impl/Trikkos_Solver.hpp>
#include <impl/partition/Trikkos_BlockMethods.hpp>
#include <limits>
#include <optional>

namespace Trikkos::Impl {

/// `segmented` across ranks: each reduces its rows as if they were a system, up to one segment;
/// from those of all ranks come the values around its rows (RankTree, or RankShares for many
/// systems), and it substitutes them. Copies share the memory.
template <class T, class Exec>
class DistributedSolver {
 public:
  /// `count` systems. Collective.
  DistributedSolver(const char* function, const Exec& exec, const RowBlocks& blocks,
                    std::int64_t count, Boundary boundary, const Options& options,
                    const RootWay& way)
      : m_blocks(blocks), m_count(count), m_boundary(boundary), m_options(options) {
    const Communicator& comm = blocks.comm();
    const RankKinds kinds(comm, exec);
    const bool periodic = boundary == Boundary::periodic;
    const std::int64_t systems = blocks.total() > 0 ? count : 0;
    if (way.is_shared(kinds, comm.size(), systems)) {
      const std::int64_t rows = blocks.total() / comm.size();
      m_shares.emplace(comm, systems, way.parts_of(kinds, systems, rows), periodic);
    } else {
      m_tree.emplace(comm, systems, periodic, way.groups_of(comm.size()));
    }
    agree(comm, attempt([&] { allocate(function, exec); }));
  }

  const RowBlocks& blocks() const { return m_blocks; }
  std::int64_t count() const { return m_count; }
  Boundary boundary() const { return m_boundary; }
  const Options& options() const { return m_options; }
  std::size_t bytes() const {
    const std::size_t words =
        m_storage.size() + m_bounds.size() + (m_tree ? m_tree->words() : m_shares->words());
    return sizeof(T) * words + sizeof(std::int64_t) * m_words.size();
  }

  /// The rows of this rank, of a matrix with the bands of A.
  template <BandMatrix Matrix>
  BlockSystems<T> block(const Matrix& A) const {
    const bool periodic = m_boundary == Boundary::periodic;
    const std::int64_t first = m_blocks.first(), end = first + m_blocks.rows();
    Systems<T> rows = systems(A, m_count);
    rows.first.scale_rows = m_options.scaling() == Scaling::rows;
    return {rows, periodic || first > 0, periodic || end < m_blocks.total()};
  }

  /// That A is one of those that this is for.
  void check_same(const char* function, MPI_Comm comm, Boundary boundary) const {
    const auto refuse = [&](const std::string& what, const char* expected) {
      throw std::invalid_argument(std::string(function) + ": A " + what + ", expected " + expected +
                                  " (the workspace)");
    };
    int is_same = MPI_UNEQUAL;
    if (comm != MPI_COMM_NULL)
      check_mpi(MPI_Comm_compare(comm, m_blocks.comm().comm(), &is_same), "MPI_Comm_compare");
    if (is_same != MPI_IDENT && is_same != MPI_CONGRUENT)
      refuse("has a communicator of other ranks", "that which it was made for");
    if (boundary != m_boundary) refuse(std::string("is ") + name(boundary), name(m_boundary));
  }

  /// Solves {A, b, x} that `make` returns, or throws on all ranks what it throws on one.
  /// Collective; waits for the first pass and for the words of all ranks, not for x.
  template <class Make>
  void solve(const Exec& exec, const Make& make) const {
    std::optional<BlockProblem<T>> problem;
    const Fault fault = attempt([&] {
      problem = make();
      problem->storage = m_storage.data();
      problem->diagnosis = found_in_rows();
      problem->resets = false;
      reset(exec);
    });
    if (m_tree)
      solve_by_all(exec, problem, fault);
    else
      solve_by_shares(exec, problem, fault);
  }

  /// What the last solve found on all ranks. Collective; waits.
  Status status(const Exec& exec) const {
    using Words = Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    std::int64_t word[diagnoses * Diagnosis::words];
    Kokkos::deep_copy(exec, Words(word, diagnoses * Diagnosis::words), m_words);
    exec.fence("Trikkos::DistributedWorkspace::status");
    std::int64_t suspect = word[Diagnosis::suspect];
    for (int k = 1; k < diagnoses; ++k)
      suspect = std::min(suspect, word[k * Diagnosis::words + Diagnosis::suspect]);
    const auto in_all = [&](std::int64_t code) {
      return report_in_whole(code, m_blocks.rows(), m_blocks.first(), m_blocks.total());
    };
    const std::int64_t mine[] = {
        in_all(word[Diagnosis::elimination]),
        std::min(in_all(word[Diagnosis::merge]), first_merge(word + Diagnosis::words)),
        in_all(word[Diagnosis::solution]), suspect};
    std::int64_t least[4];
    m_blocks.comm().minimum_of_all(mine, least);
    std::int64_t all[Diagnosis::words];
    all[Diagnosis::elimination] = least[0];
    all[Diagnosis::merge] = least[1];
    all[Diagnosis::solution] = least[2];
    all[Diagnosis::suspect] = least[3];
    all[Diagnosis::systems] = m_count;
    all[Diagnosis::seams] = -1;  // nobody has windows
    return decode(all, m_blocks.total());
  }

 private:
  using Memory = typename Exec::memory_space;
  using Buffer = Kokkos::View<T*, Memory>;
  using Method = BlockMethod<T, Exec>;
  static constexpr int diagnoses = 1 + RankTree<T, Exec>::chains;  // that of the rows is the first

  void allocate(const char* function, const Exec& exec) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    const auto refuse = [&](const char* what, std::int64_t systems) {
      throw std::invalid_argument(std::string(function) + ": " + std::to_string(m_count) +
                                  " systems, expected at most " + std::to_string(systems) + " (" +
                                  what + ")");
    };
    const std::int64_t message = most / MessageOf<T>::words;
    const std::int64_t longest =
        m_tree ? RankWords<T>::count(m_count)
               : RankShares<T, Exec>::message_words(m_count, m_shares->parts(), m_blocks.ranks());
    if (longest > message) refuse("the longest message", message / (longest / m_count + 1));
    m_method.emplace(Shape{m_blocks.rows(), m_count, m_count}, m_options);
    if (m_count > m_method->most_systems()) refuse("the largest grid", m_method->most_systems());

    const auto label = [](const char* name) {
      return std::string("Trikkos::DistributedWorkspace::") + name;
    };
    const auto buffer = [&](const char* name, std::int64_t words) {
      return Buffer(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label(name)), words);
    };
    m_storage = buffer("storage", m_blocks.rows() > 0 ? storage_words() : 0);
    m_bounds = buffer("bounds", m_tree ? bound_words * m_count : 0);
    m_words = Kokkos::View<std::int64_t*, Memory>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("found")),
        diagnoses * Diagnosis::words);
    if (m_tree)
      m_tree->allocate(exec, m_words.data() + Diagnosis::words);
    else
      m_shares->allocate(exec, m_words.data() + Diagnosis::words);
    reset(exec);
    prepare_for_teams(exec);
    exec.fence("Trikkos::DistributedWorkspace");  // other ranks may be faster
  }

  std::int64_t storage_words() const {
    return m_method->shared_words() + m_count * m_method->storage_words();
  }
  bool is_empty() const { return m_count == 0 || m_blocks.total() == 0; }
  Diagnosis found_in_rows() const { return {m_words.data(), m_count}; }

  void reset(const Exec& exec) const {
    Kokkos::parallel_for("Trikkos::DistributedWorkspace::reset", range(exec, diagnoses),
                         ResetMany{m_words.data(), m_count});
  }

  std::int64_t first_merge(const std::int64_t* word) const {
    return m_tree ? m_tree->first_merge(word, m_blocks) : m_shares->first_merge(word, m_blocks);
  }

  /// Each rank solves all roots.
  void solve_by_all(const Exec& exec, const std::optional<BlockProblem<T>>& problem,
                    Fault fault) const {
    const SystemRange all{0, m_count};
    if (fault.kind == Fault::none)
      fault = attempt([&] {
        if (!is_empty()) reduce(exec, *problem, all, m_tree->segments());
        m_tree->to_host(exec);
      });
    m_tree->exchange(exec, fault);
    if (is_empty()) return;
    const PackedBounds<T> bounds{m_bounds.data()};
    m_tree->solve(exec, bounds);
    substitute(exec, *problem, all, bounds);
  }

  /// Each rank solves the roots of its share. Of one part of the systems the words travel while
  /// rows of others are reduced and substituted: those of part k between `start` of step k and
  /// `finish` of the next one.
  void solve_by_shares(const Exec& exec, const std::optional<BlockProblem<T>>& problem,
                       Fault fault) const {
    const RankShares<T, Exec>& shares = *m_shares;
    const std::int64_t parts = shares.parts();
    const auto for_part = [&](std::int64_t part, const auto& work) {
      if (part < 0 || part >= parts || fault.kind != Fault::none) return;
      fault = attempt([&] { work(part); });
    };
    SharedMessages messages;
    for (std::int64_t step = 0; step < parts + 2; ++step) {
      for_part(step, [&](std::int64_t part) {
        reduce(exec, *problem, shares.systems(part), shares.segments());
        shares.segments_to_host(exec, part);
      });
      if (step > 0) messages.finish(m_blocks.comm(), fault);
      for_part(step - 1, [&](std::int64_t part) { shares.solve_roots(exec, part); });
      if (step <= parts) {
        exec.fence("Trikkos::distributed: a message is on the host");
        if (step < parts) shares.start_segments(step, messages);
        if (step > 0) shares.start_bounds(step - 1, messages);
        messages.start_fault(m_blocks.comm(), fault);
      }
      for_part(step - 2, [&](std::int64_t part) {
        shares.bounds_to_device(exec, part);
        substitute(exec, *problem, shares.systems(part), shares.bounds());
      });
    }
    if (fault.kind != Fault::none) throw std::runtime_error(fault.sentence);
  }

  /// Of some systems: from their rows to the segments,
  void reduce(const Exec& exec, const BlockProblem<T>& problem, const SystemRange& some,
              const PackedSegments<T>& segments) const {
    if (m_blocks.rows() == 0) {
      const PackedSegments<T> here{segments.data + Segment<T>::words * some.first};
      return Kokkos::parallel_for("Trikkos::distributed::no_rows", range(exec, some.count),
                                  PutIdentity<T>{here});
    }
    for_blocks(problem, some, [&](const BlockProblem<T>& block, std::int64_t first) {
      m_method->reduce(exec, block, {segments.data + Segment<T>::words * first});
    });
  }
  /// and from what is around these down to x.
  void substitute(const Exec& exec, const BlockProblem<T>& problem, const SystemRange& some,
                  const PackedBounds<T>& bounds) const {
    if (m_blocks.rows() == 0) return;
    for_blocks(problem, some, [&](const BlockProblem<T>& block, std::int64_t first) {
      m_method->substitute(exec, block, {bounds.data + bound_words * first});
    });
  }
  /// f(problem, first): all of them; or part of a slab, whole ones, and part of the last.
  template <class F>
  void for_blocks(const BlockProblem<T>& problem, const SystemRange& some, const F& f) const {
    if (some.count == problem.count()) return f(problem, 0);
    const std::int64_t slab = problem.slab(), end = some.first + some.count;
    for (std::int64_t first = some.first; first < end;) {
      const std::int64_t rest = end - first;
      const std::int64_t count = first % slab == 0 && rest >= slab
                                     ? rest / slab * slab
                                     : std::min(rest, slab - first % slab);
      BlockProblem<T> block = problem.block(first, count);
      block.storage += first * m_method->storage_words();
      f(block, first);
      first += count;
    }
  }

  RowBlocks m_blocks;
  std::int64_t m_count;
  Boundary m_boundary;
  Options m_options;
  std::optional<RankTree<T, Exec>> m_tree;
  std::optional<RankShares<T, Exec>> m_shares;  // one of them
  std::optional<Method> m_method;
  Buffer m_storage, m_bounds;
  Kokkos::View<std::int64_t*, Memory> m_words;  // of found_in_rows, then of m_tree
};

}  // namespace Trikkos::Impl

#endif
