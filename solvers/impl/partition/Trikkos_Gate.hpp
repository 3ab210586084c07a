// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GATE_HPP
#define TRIKKOS_IMPL_GATE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <impl/Trikkos_Staging.hpp>

/// \file
/// Kernels that return at once unless a word in device memory says otherwise: a second way to solve
/// is launched behind the first, and the host need not know whether that one did.

namespace Trikkos::Impl {

/// A kernel as it is.
struct Always {
  template <class Kernel>
  Kernel operator()(const Kernel& kernel) const {
    return kernel;
  }
  template <class Kernel>
  Kernel teams(const Kernel& kernel, int) const {
    return kernel;
  }
  int league(int teams) const { return teams; }
};

template <class Kernel>
struct KernelIf {
  Kernel kernel;
  const std::int64_t* wanted;

  TRIKKOS_CALLS_ITS_ARGUMENT
  template <class Work>
  KOKKOS_INLINE_FUNCTION void operator()(const Work& work) const {
    if (*wanted != 0) kernel(work);
  }
};

/// A team that does the work of the team `rank` of a larger league.
template <class Member>
class TeamOf {
 public:
  static constexpr bool restages = true;

  KOKKOS_INLINE_FUNCTION TeamOf(const Member& member, int rank) : m_member(member), m_rank(rank) {}
  KOKKOS_INLINE_FUNCTION int league_rank() const { return m_rank; }
  KOKKOS_INLINE_FUNCTION int team_rank() const { return m_member.team_rank(); }
  KOKKOS_INLINE_FUNCTION int team_size() const { return m_member.team_size(); }
  KOKKOS_INLINE_FUNCTION void team_barrier() const { m_member.team_barrier(); }
  template <class Reducer>
  KOKKOS_INLINE_FUNCTION void team_reduce(const Reducer& reducer) const {
    m_member.team_reduce(reducer);
  }
  /// A copy of the handle: what is taken from it is free again for the next.
  KOKKOS_INLINE_FUNCTION auto team_scratch(int level) const { return m_member.team_scratch(level); }

 private:
  const Member& m_member;
  int m_rank;
};

/// A team kernel in the teams of a smaller league, one after the other: 35 000 teams that return at
/// once would take a tenth of the time of a solve.
template <class Kernel>
struct TeamsIf {
  Kernel kernel;
  const std::int64_t* wanted;
  int teams;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (*wanted == 0) return;
    for (int rank = member.league_rank(); rank < teams; rank += member.league_size()) {
      kernel(TeamOf<Member>(member, rank));
      Staging<TeamOf<Member>>::finish(member);
    }
  }
};

/// A kernel where `wanted` is not zero by the time it runs.
struct OnlyIf {
  /// About as many as an H200 runs at a time. Where they have work, 2^23 rows, 2048, some of which
  /// wait for others, take 2 % more time, and 396 take 20 %. A prime: work that recurs at regular
  /// distances, as marked systems may, falls to all of them.
  static constexpr int most_teams = 761;
  /// The same of small teams, of which it runs up to 2112; fewer where there are three kernels.
  static constexpr int most_small_teams = 6089, most_of_three = 3167;
  /// Where either way is as likely: on an H100, 2^25 rows, 761, 3049, 6089, 12203 teams cost the
  /// two passes 55, 50, 35, 18 us more than without this where they have work, and of 860; those
  /// that have none cost about a nanosecond each.
  static constexpr int most_as_likely = 12203;

  const std::int64_t* wanted;
  int most = most_teams;

  template <class Kernel>
  KernelIf<Kernel> operator()(const Kernel& kernel) const {
    return {kernel, wanted};
  }
  template <class Kernel>
  TeamsIf<Kernel> teams(const Kernel& kernel, int league) const {
    return {kernel, wanted, league};
  }
  int league(int teams) const { return teams < most ? teams : most; }
};

/// Systems that are left to a second kernel.
template <class T>
struct Marks {
  static constexpr std::int64_t words_of_any = 2;  // so many of any scalar hold a 64-bit number

  T* marked;          // [system]: 1, or 0 for those that are solved
  std::int64_t* any;  // whether there are any

  KOKKOS_FORCEINLINE_FUNCTION void mark(std::int64_t system, bool is_left) const {
    marked[system] = T(is_left);
    if (is_left) raise();
  }
  /// Looks first: a nanosecond for each thread that writes there could be as long as a solve.
  KOKKOS_FORCEINLINE_FUNCTION void raise() const {
    if (*any == 0) Kokkos::atomic_store(any, std::int64_t(1));
  }
};

/// Whether that system is left; where there are no marks all are.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool has_mark(const T* marked, std::int64_t system) {
  return marked == nullptr || marked[system] != T(0);
}

/// Before anything is wanted.
struct ResetWanted {
  Diagnosis diagnosis;
  bool resets;
  std::int64_t* wanted;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    *wanted = 0;
    if (resets) diagnosis.reset();
  }
};

}  // namespace Trikkos::Impl

#endif
