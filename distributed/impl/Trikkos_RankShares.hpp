// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKSHARES_HPP
#define TRIKKOS_IMPL_RANKSHARES_HPP

#include <array>
#include <impl/Trikkos_MessageBuffer.hpp>
#include <impl/Trikkos_RowBlocks.hpp>
#include <impl/partition/Trikkos_BlockChain.hpp>

/// \file
/// The top of the tree of partitions where there are many systems: each rank solves the roots of a
/// share of them. It gets the segments of all ranks for its share, and tells each rank the values
/// around its rows: 9 and 4 words a system to and from each rank, however many ranks there are
/// (PaScaL_TDMA: Kim, Kang, Pan, Choi, Comput. Phys. Commun. 260, 2021). What the ranks on both
/// sides of a cut are told comes from one rank, so ranks need not round alike.

namespace Trikkos::Impl {

/// Of `PackedBounds`, for each system.
inline constexpr std::int64_t bound_words = 4;

struct SystemRange {
  std::int64_t first, count;
};
/// The k-th of so many parts, as long or one longer than others.
inline SystemRange part_of(const SystemRange& all, std::int64_t k, std::int64_t parts) {
  const auto begin = [&](std::int64_t j) { return all.count * j / parts; };
  return {all.first + begin(k), begin(k + 1) - begin(k)};
}

/// One thread a system: from the segments of all ranks to the values around and at the ends of the
/// rows of each, one rank's behind the other's.
template <class T>
struct SolveRoots {
  BlockChain<T> ranks;
  T* bounds;
  std::int64_t systems;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    ranks.solve(system);
    for (std::int64_t r = 0; r < ranks.chain.layout.segments; ++r)
      ranks.put_bounds_of(r, system, {bounds + r * bound_words * systems});
  }
};

/// Words of a solve on their way, and whether any rank has a fault. Ranks that do not yet know of
/// one send what they have.
class SharedMessages {
 public:
  SharedMessages() { m_request.fill(MPI_REQUEST_NULL); }

  MPI_Request& request_of_segments() { return m_request[0]; }
  MPI_Request& request_of_bounds() { return m_request[1]; }
  void start_fault(const Communicator& comm, const Fault& mine) {
    m_mine = fault_code(comm, mine);
    comm.start_minimum_of_all(m_mine, m_first, m_request[2]);
  }
  /// Waits; throws on all ranks what is wrong on one. Collective.
  void finish(const Communicator& comm, const Fault& mine) {
    check_mpi(
        MPI_Waitall(static_cast<int>(m_request.size()), m_request.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
    raise_first(comm, mine, m_first);
    m_first = no_fault;
  }

 private:
  std::array<MPI_Request, 3> m_request;
  std::int64_t m_mine = no_fault, m_first = no_fault;
};

/// The systems in parts, and of each part a share for each rank. Copies share the memory.
template <class T, class Exec>
class RankShares {
 public:
  RankShares(const Communicator& comm, std::int64_t systems, std::int64_t parts, bool periodic)
      : m_comm(comm), m_systems(systems), m_periodic(periodic) {
    const int ranks = comm.size(), me = comm.rank();
    for (std::int64_t k = 0; k < parts; ++k) {
      Part p;
      p.systems = part_of({0, systems}, k, parts);
      p.first_root = m_roots;
      const auto share = [&](int rank) { return part_of(p.systems, rank, ranks); };
      p.mine = share(me);
      p.segments_to =
          RankParts::of<T>(ranks, [&](int r) { return Segment<T>::words * share(r).count; });
      p.segments_from =
          RankParts::of<T>(ranks, [&](int) { return Segment<T>::words * p.mine.count; });
      p.bounds_to = RankParts::of<T>(ranks, [&](int) { return bound_words * p.mine.count; });
      p.bounds_from = RankParts::of<T>(ranks, [&](int r) { return bound_words * share(r).count; });
      m_roots += p.mine.count;
      m_longest = std::max(m_longest, p.mine.count);
      m_part.push_back(p);
    }
  }
  /// `found`: memory for a diagnosis.
  void allocate(const Exec& exec, std::int64_t* found) {
    m_found = found;
    m_layout = BlockChain<T>::layout(m_comm.size());
    m_segments = {exec, Segment<T>::words * m_systems};
    m_bounds = {exec, bound_words * m_systems};
    m_root_segments = {exec, Segment<T>::words * m_roots * m_comm.size()};
    m_root_bounds = {exec, bound_words * m_roots * m_comm.size()};
    m_tree = Kokkos::View<T*, typename Exec::memory_space>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::distributed::tree"),
        m_longest * m_layout.words);
  }
  std::int64_t words() const {
    return m_segments.device.size() + m_bounds.device.size() + m_root_segments.device.size() +
           m_root_bounds.device.size() + m_tree.size();
  }
  /// Of the longest message of a rank to or from all.
  static std::int64_t message_words(std::int64_t systems, std::int64_t parts, int ranks) {
    const std::int64_t longest = systems / parts + 1;
    return Segment<T>::words * std::max(longest, (longest / ranks + 1) * ranks);
  }

  std::int64_t parts() const { return static_cast<std::int64_t>(m_part.size()); }
  SystemRange systems(std::int64_t part) const { return at(part).systems; }
  /// Of this rank, of all systems.
  PackedSegments<T> segments() const { return {m_segments.device.data()}; }
  PackedBounds<T> bounds() const { return {m_bounds.device.data()}; }

  // For each part, in this order; of two parts side by side.

  void segments_to_host(const Exec& exec, std::int64_t part) const {
    const auto [first, count] = systems(part);
    m_segments.start_to_host(exec, Segment<T>::words * first, Segment<T>::words * count);
  }
  void start_segments(std::int64_t part, SharedMessages& messages) const {
    const Part& p = at(part);
    m_comm.start_to_each(m_segments.host.data() + Segment<T>::words * p.systems.first,
                         p.segments_to, m_root_segments.host.data() + first_segment(p),
                         p.segments_from, messages.request_of_segments());
  }
  /// Of the share of this rank, to the host.
  void solve_roots(const Exec& exec, std::int64_t part) const {
    const Part& p = at(part);
    const std::int64_t links = m_comm.size(), words = bound_words * p.mine.count * links;
    if (words == 0) return;
    const std::int64_t block = Segment<T>::words * p.mine.count;
    m_root_segments.to_device(exec, first_segment(p), block * links);
    const Diagnosis found{m_found, m_systems};
    const BlockChain<T> chain{m_root_segments.device.data() + first_segment(p),
                              block,
                              {m_tree.data(), m_layout, m_periodic, BlockChain<T>::rows_of_block,
                               found.of(p.mine.first, m_layout.n)}};
    Kokkos::parallel_for(
        "Trikkos::distributed::roots", range(exec, p.mine.count),
        SolveRoots<T>{chain, m_root_bounds.device.data() + first_bound(p), p.mine.count});
    m_root_bounds.start_to_host(exec, first_bound(p), words);
  }
  void start_bounds(std::int64_t part, SharedMessages& messages) const {
    const Part& p = at(part);
    m_comm.start_to_each(m_root_bounds.host.data() + first_bound(p), p.bounds_to,
                         m_bounds.host.data() + bound_words * p.systems.first, p.bounds_from,
                         messages.request_of_bounds());
  }
  void bounds_to_device(const Exec& exec, std::int64_t part) const {
    const auto [first, count] = systems(part);
    m_bounds.to_device(exec, bound_words * first, bound_words * count);
  }

  /// The first merge of ranks that failed, as row of the whole.
  std::int64_t first_merge(const std::int64_t* word, const RowBlocks& blocks) const {
    return report_at_block(word[Diagnosis::merge], blocks, m_comm.size());
  }

 private:
  struct Part {
    SystemRange systems, mine;
    std::int64_t first_root;  // of this rank's, of all parts
    RankParts segments_to, segments_from, bounds_to, bounds_from;
  };
  const Part& at(std::int64_t part) const { return m_part[static_cast<std::size_t>(part)]; }
  std::int64_t first_segment(const Part& p) const {
    return Segment<T>::words * p.first_root * m_comm.size();
  }
  std::int64_t first_bound(const Part& p) const {
    return bound_words * p.first_root * m_comm.size();
  }

  Communicator m_comm;
  std::int64_t m_systems;
  bool m_periodic;
  std::vector<Part> m_part;
  std::int64_t m_roots = 0, m_longest = 0;  // that this rank solves; of one part
  std::int64_t* m_found = nullptr;          // for kernels
  TeamLayout m_layout;
  MessageBuffer<T, Exec> m_segments, m_bounds, m_root_segments, m_root_bounds;
  Kokkos::View<T*, typename Exec::memory_space> m_tree;
};

}  // namespace Trikkos::Impl

#endif
