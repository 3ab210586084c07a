// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKGROUPS_HPP
#define TRIKKOS_IMPL_RANKGROUPS_HPP

#include <impl/Trikkos_RowBlocks.hpp>

/// \file
/// Ranks in groups of neighbours, so that what all must know goes in two messages of about
/// sqrt(ranks) segments: within each group, then between the groups.

namespace Trikkos::Impl {

/// Neighbouring links of a chain, of some ranks each, as blocks of rows (`report_at_block`).
template <class FirstRank>
struct LinkRows {
  const RowBlocks& blocks;
  FirstRank first_rank;  // of a link, and of the one after the last

  std::int64_t first(int link) const { return blocks.first(first_rank(link)); }
  std::int64_t end(int link) const { return first(link + 1); }
  std::int64_t total() const { return blocks.total(); }
};
template <class FirstRank>
LinkRows(const RowBlocks&, FirstRank) -> LinkRows<FirstRank>;

/// Groups of as many ranks, or one more. `near` has the ranks of this one's group; `far`, where
/// there is more than one group, has first one rank of each, in their order, and then perhaps more
/// of some, which have nothing to add. All ranks of a group know its segment, so that each can take
/// part in one of the messages between groups, and none has to be told what came of them: the words
/// of a rank reach all in as many hops as if there were no groups, log2(ranks).
class RankGroups {
 public:
  /// `count` of 1 to all ranks. Collective.
  RankGroups(const Communicator& all, int count)
      : m_ranks(all.size()),
        m_groups(count),
        m_group(group_of(all.rank())),
        m_near(all),
        m_far(all) {
    if (!is_tree()) return;
    m_near = all.split(m_group, all.rank());
    // the last rank of a large group would have no partner in the small ones, and joins others
    const int least = m_ranks / m_groups, at = m_near.rank();
    m_far = all.split(at < least ? at : m_group % least, (at < least ? 0 : m_ranks) + all.rank());
  }

  bool is_tree() const { return m_groups > 1; }
  int groups() const { return m_groups; }
  /// That of this rank.
  int group() const { return m_group; }
  int first_rank(int group) const {
    return static_cast<int>(static_cast<std::int64_t>(m_ranks) * group / m_groups);
  }
  const Communicator& near() const { return m_near; }
  const Communicator& far() const { return m_far; }

  auto rows_of_ranks(const RowBlocks& blocks) const {
    return LinkRows{blocks, [first = first_rank(m_group)](int link) { return first + link; }};
  }
  auto rows_of_groups(const RowBlocks& blocks) const {
    return LinkRows{blocks, [this](int link) { return first_rank(link); }};
  }

 private:
  int group_of(int rank) const {
    return static_cast<int>((static_cast<std::int64_t>(rank + 1) * m_groups - 1) / m_ranks);
  }

  int m_ranks, m_groups, m_group;
  Communicator m_near, m_far;
};

}  // namespace Trikkos::Impl

#endif
