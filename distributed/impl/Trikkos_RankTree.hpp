// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKTREE_HPP
#define TRIKKOS_IMPL_RANKTREE_HPP

#include <impl/Trikkos_MessageBuffer.hpp>
#include <impl/Trikkos_RankGroups.hpp>
#include <impl/Trikkos_RootWay.hpp>
#include <impl/partition/Trikkos_BlockChain.hpp>

/// \file
/// The top of the tree of partitions: a segment for each rank. What two ranks both need, both
/// compute, by the same merges, so that they have the same bits and none has to be told.

namespace Trikkos::Impl {

/// A partition of no rows for each system.
template <class T>
struct PutIdentity {
  PackedSegments<T> segments;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    put_segment(segments, system, identity_segment<T>());
  }
};

/// What goes in a message: one word that tells whether the sender has a fault, then segments.
template <class T>
struct RankWords {
  static constexpr std::int64_t header = 1;
  enum Header : int { fine, broken, fault };  // `broken`: only those who get this word know

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t count(std::int64_t systems) {
    return header + Segment<T>::words * systems;
  }
};

/// One thread a system: from the segments of all ranks to the values around and at the ends of this
/// one.
template <class T>
struct SolveRanks {
  BlockChain<T> ranks;
  int rank;
  PackedBounds<T> bounds;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    ranks.solve(system);
    ranks.put_bounds_of(rank, system, bounds);
  }
};

/// The same in groups: from the segments of the ranks of one to its own,
template <class T>
struct MergeGroup {
  BlockChain<T> ranks;
  PackedSegments<T> group;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    put_segment(group, system, ranks.merge(system));
  }
};
/// and from those of all groups down to this rank.
template <class T>
struct SolveGroups {
  BlockChain<T> groups, ranks;
  int group, rank;
  PackedBounds<T> bounds;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    groups.solve(system);
    ranks.spread(system, groups.bounds_of(group, system));
    ranks.put_bounds_of(rank, system, bounds);
  }
};

/// The links of a chain, each sent by a rank of one communicator; others of it may repeat them.
template <class T, class Exec>
class RankChain {
 public:
  RankChain() = default;
  RankChain(const Exec& exec, const Communicator& comm, int links, std::int64_t systems)
      : m_layout(BlockChain<T>::layout(links)),
        m_words(RankWords<T>::count(systems)),
        m_mine(exec, m_words),
        m_all(exec, m_words * comm.size()),
        m_tree(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::distributed::tree"),
               systems * m_layout.words) {}

  std::int64_t words() const { return m_mine.device.size() + m_all.device.size() + m_tree.size(); }
  int links() const { return static_cast<int>(m_layout.segments); }
  /// What this rank sends.
  PackedSegments<T> segments() const { return {m_mine.device.data() + RankWords<T>::header}; }
  /// Waits for them.
  void to_host(const Exec& exec) const { m_mine.to_host(exec); }
  /// Collective, whatever is wrong. The worst header that came.
  typename RankWords<T>::Header exchange(const Communicator& comm,
                                         typename RankWords<T>::Header header) const {
    m_mine.host(0) = word(header);
    comm.gather_to_all(m_mine.host.data(), m_all.host.data(), m_words);
    auto worst = header;
    for (std::int64_t r = 0; r < comm.size(); ++r)
      for (const auto h : {RankWords<T>::broken, RankWords<T>::fault})
        if (h > worst && m_all.host(r * m_words) == word(h)) worst = h;
    return worst;
  }
  void to_device(const Exec& exec) const { m_all.to_device(exec); }
  BlockChain<T> chain(bool periodic, const Diagnosis& found) const {
    return {m_all.device.data() + RankWords<T>::header,
            m_words,
            {m_tree.data(), m_layout, periodic, BlockChain<T>::rows_of_block, found}};
  }

 private:
  static T word(typename RankWords<T>::Header header) { return T(static_cast<Real<T>>(header)); }

  TeamLayout m_layout;
  std::int64_t m_words = 0;
  MessageBuffer<T, Exec> m_mine, m_all;
  Kokkos::View<T*, typename Exec::memory_space> m_tree;
};

/// From the segments of this rank to the values around its rows: with the segments of all ranks, or
/// with those of its group and of all groups. Copies share the memory.
template <class T, class Exec>
class RankTree {
 public:
  /// What is found in a chain of ranks, and in one of groups.
  static constexpr int chains = 2;

  /// Collective.
  RankTree(const Communicator& all, std::int64_t systems, bool periodic, int groups)
      : m_groups(all, groups), m_all(all), m_systems(systems), m_periodic(periodic) {}
  /// `found`: memory for `chains` diagnoses.
  void allocate(const Exec& exec, std::int64_t* found) {
    m_found = found;
    m_near = {exec, m_groups.near(), m_groups.near().size(), m_systems};
    if (m_groups.is_tree()) m_far = {exec, m_groups.far(), m_groups.groups(), m_systems};
  }

  const RankGroups& groups() const { return m_groups; }
  std::int64_t words() const { return m_near.words() + m_far.words(); }
  /// Of this rank.
  PackedSegments<T> segments() const { return m_near.segments(); }
  /// Waits for them.
  void to_host(const Exec& exec) const { m_near.to_host(exec); }
  Diagnosis found(int chain) const { return {m_found + chain * Diagnosis::words, m_systems}; }

  /// Those of all ranks to where they are needed; or throws on all ranks what is wrong on one.
  /// Collective; waits for the other ranks, and where there are groups for `exec`.
  void exchange(const Exec& exec, const Fault& fault) const {
    using Words = RankWords<T>;
    const auto mine = fault.kind == Fault::none ? Words::fine : Words::fault;
    auto worst = m_near.exchange(m_groups.near(), mine);
    if (m_groups.is_tree()) {
      const Fault here = attempt([&] {
        if (worst == Words::fine) merge_group(exec);
      });
      if (here.kind != Fault::none) worst = Words::broken;
      worst = m_far.exchange(m_groups.far(), worst);
      if (worst == Words::broken)
        throw std::runtime_error(here.kind == Fault::none
                                     ? "Trikkos::solve: a rank of another group has failed"
                                     : here.sentence);
    }
    if (worst == Words::fault) agree(m_all, fault);
  }
  /// After `exchange`.
  void solve(const Exec& exec, const PackedBounds<T>& bounds) const {
    const int rank = m_groups.near().rank();
    if (!m_groups.is_tree()) {
      m_near.to_device(exec);
      Kokkos::parallel_for("Trikkos::distributed::ranks", range(exec, m_systems),
                           SolveRanks<T>{near(), rank, bounds});
      return;
    }
    m_far.to_device(exec);
    Kokkos::parallel_for(
        "Trikkos::distributed::groups", range(exec, m_systems),
        SolveGroups<T>{m_far.chain(m_periodic, found(1)), near(), m_groups.group(), rank, bounds});
  }

  /// The first merge of ranks that failed, as row of the whole, of the words of all chains.
  std::int64_t first_merge(const std::int64_t* word, const RowBlocks& blocks) const {
    const std::int64_t in_ranks =
        report_at_block(word[Diagnosis::merge], m_groups.rows_of_ranks(blocks), m_near.links());
    if (!m_groups.is_tree()) return in_ranks;
    return std::min(in_ranks, report_at_block(word[Diagnosis::words + Diagnosis::merge],
                                              m_groups.rows_of_groups(blocks), m_far.links()));
  }

 private:
  BlockChain<T> near() const { return m_near.chain(m_periodic, found(0)); }
  /// From the words of the group to what is to be sent to others. Waits.
  void merge_group(const Exec& exec) const {
    m_near.to_device(exec);
    Kokkos::parallel_for("Trikkos::distributed::group", range(exec, m_systems),
                         MergeGroup<T>{near(), m_far.segments()});
    m_far.to_host(exec);
  }

  RankGroups m_groups;
  Communicator m_all;
  std::int64_t m_systems;
  bool m_periodic;
  std::int64_t* m_found = nullptr;  // for kernels
  RankChain<T, Exec> m_near, m_far;
};

}  // namespace Trikkos::Impl

#endif
