// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LEVELSETSOLVE_HPP
#define TRIKKOS_IMPL_LEVELSETSOLVE_HPP

#include <impl/Trikkos_Substitution.hpp>

/// \file
/// Naumov 2011: level after level, the rows of a level in parallel. A launch for each level, and
/// one for a chain of thin levels, which one team solves with a barrier behind each.

namespace Trikkos::Impl {

/// Levels that one launch solves.
struct LevelLink {
  std::int64_t first, last;
  bool is_chain;
};

/// A level of at most so many rows is thin: one team is done with it before a launch would begin.
/// H200: 0.4 us for 2048 rows against 3.5 us a launch. A host's thread: 1000 rows in about the 2 us
/// of a launch.
template <class Exec>
inline constexpr std::int32_t thin_level_rows = is_host_v<Exec> ? 1000 : 4096;

/// \param first  of each level, and how many rows there are
template <class Exec>
std::vector<LevelLink> level_links(const std::vector<std::int32_t>& first) {
  std::vector<LevelLink> links;
  const auto levels = static_cast<std::int64_t>(first.size()) - 1;
  for (std::int64_t l = 0; l < levels; ++l) {
    const bool is_thin = first[l + 1] - first[l] <= thin_level_rows<Exec>;
    if (is_thin && !links.empty() && links.back().is_chain)
      links.back().last = l + 1;
    else
      links.push_back({l, l + 1, is_thin});
  }
  return links;
}

template <class Rows>
struct SolveRowsOfLevel {
  Rows rows;
  std::int64_t first, width;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, i] = split_index(index, width);
    rows.solve(first + i, k);
  }
};

/// One team.
template <class Rows>
struct SolveChain {
  Rows rows;
  const std::int32_t* level_first;
  std::int64_t first, last;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    for (std::int64_t l = first; l < last; ++l) {
      const std::int64_t begin = level_first[l], width = level_first[l + 1] - begin;
      for (std::int64_t i = member.team_rank(); i < width * rows.systems; i += member.team_size()) {
        const auto [k, p] = split_index(i, width);
        rows.solve(begin + p, k);
      }
      member.team_barrier();
    }
  }
};

/// \param level_first  of the order, where the execution space can read it
template <class Exec, class Rows>
void solve_levels(const Exec& exec, const Rows& rows, const std::vector<LevelLink>& links,
                  const std::vector<std::int32_t>& first, const std::int32_t* level_first) {
  for (const LevelLink& link : links) {
    const std::int64_t begin = first[link.first], end = first[link.last];
    if (!link.is_chain) {
      Kokkos::parallel_for("Trikkos::solve::level", range(exec, (end - begin) * rows.systems),
                           SolveRowsOfLevel<Rows>{rows, begin, end - begin});
    } else if constexpr (is_host_v<Exec>) {
      solve_serially(exec, rows, begin, end);
    } else {
      using Policy = Kokkos::TeamPolicy<Exec>;
      const SolveChain<Rows> chain{rows, level_first, link.first, link.last};
      const int most = Policy(exec, 1, 1).team_size_max(chain, Kokkos::ParallelForTag()) / 32 * 32;
      Kokkos::parallel_for("Trikkos::solve::chain",
                           light(Policy(exec, 1, std::clamp(most, 1, 1024))), chain);
    }
  }
}

}  // namespace Trikkos::Impl

#endif
