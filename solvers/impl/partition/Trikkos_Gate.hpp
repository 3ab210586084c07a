// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GATE_HPP
#define TRIKKOS_IMPL_GATE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>

/// \file
/// Kernels that return at once unless a word in device memory says otherwise: a second way to solve
/// is launched behind the first, and the host need not know whether that one did.

namespace Trikkos::Impl {

/// A kernel as it is. Gates are told how many works it does, where that is not in its league.
struct Always {
  static constexpr bool overlaps = false;     // whether a kernel may begin while the last one ends
  static constexpr bool waits_first = false;  // before the kernel itself does so

  template <class Kernel>
  Kernel operator()(const Kernel& kernel, std::int64_t = 0) const {
    return kernel;
  }
  template <class Kernel>
  Kernel teams(const Kernel& kernel, int) const {
    return kernel;
  }
  int league(int teams) const { return teams; }
};

/// The same, where each begins while the one before it ends (Trikkos_TeamLaunch.hpp).
struct Overlapping : Always {
  static constexpr bool overlaps = true;
};

/// In device memory: whether kernels are wanted, and what the teams of the one that runs have done.
struct Wanted {
  /// So many words of any scalar hold it.
  static constexpr std::int64_t words = 3 * sizeof(std::int64_t) / sizeof(float);

  std::int64_t raised;  // not zero where they are; of a SystemList how many systems it has
  std::int64_t taken, finished;

  KOKKOS_FORCEINLINE_FUNCTION void set(bool is_wanted) { *this = {is_wanted, 0, 0}; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_raised() const { return raised != 0; }
  /// Looks first: a nanosecond for each thread that writes there could be as long as a solve.
  KOKKOS_FORCEINLINE_FUNCTION void raise() {
    if (raised == 0) Kokkos::atomic_store(&raised, std::int64_t(1));
  }
  /// The next of the works that no team begins with, for one of its threads.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t take() {
    return Kokkos::atomic_fetch_add(&taken, std::int64_t(1));
  }
  /// The last team makes it ready for the kernel behind.
  KOKKOS_FORCEINLINE_FUNCTION void finish(int teams) {
    if (Kokkos::atomic_fetch_add(&finished, std::int64_t(1)) == teams - 1) taken = finished = 0;
  }
};

/// Those of many systems that kernels are wanted for, in any order.
struct SystemList {
  Wanted* wanted;
  std::int32_t* systems;

  KOKKOS_FORCEINLINE_FUNCTION void append(std::int64_t system) const {
    const std::int64_t k = Kokkos::atomic_fetch_add(&wanted->raised, std::int64_t(1));
    systems[k] = static_cast<std::int32_t>(system);
  }
};

/// A set of systems in any order, a bit each: where many teams find nothing to do, their time is
/// that of this look, and a few lines of memory stay in a multiprocessor's cache.
struct SystemSet {
  std::int32_t* words;

  static constexpr int each = 32;  // of a word
  static constexpr std::int64_t words_for(std::int64_t systems) {
    return (systems + each - 1) / each;
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::int32_t bit_of(std::int64_t system) {
    return static_cast<std::int32_t>(1u << (system % each));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t system) const {
    return (words[system / each] & bit_of(system)) != 0;
  }
  /// By who has not waited for the kernels before, and may find old words in that cache.
  KOKKOS_FORCEINLINE_FUNCTION bool had(std::int64_t system) const {
    const volatile std::int32_t& word = words[system / each];
    return (word & bit_of(system)) != 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION void insert(std::int64_t system) const {
    Kokkos::atomic_or(words + system / each, bit_of(system));
  }
};

/// The gate of kernels behind another of the same solve.
template <class Gate>
auto following(const Gate& gate) {
  if constexpr (std::is_same_v<Gate, Always>)
    return Overlapping();
  else
    return gate;
}

/// Which works of a kernel are done, where it is wanted: all.
struct EveryWork {
  int works = 0;

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t) const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION int count() const { return works; }
  KOKKOS_FORCEINLINE_FUNCTION int operator[](int i) const { return i; }
};
/// `each` for a system: those of systems in a list.
struct WorksOfListed {
  SystemList list;
  SystemSet listed;
  int each;

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t work) const { return listed.has(work / each); }
  KOKKOS_FORCEINLINE_FUNCTION int count() const {
    return static_cast<int>(list.wanted->raised) * each;
  }
  KOKKOS_FORCEINLINE_FUNCTION int operator[](int i) const {
    return list.systems[i / each] * each + i % each;
  }
};

/// In this order: what decides whether kernels are wanted is known before the next begins.
KOKKOS_FORCEINLINE_FUNCTION void begin_behind_others() {
  wait_for_kernels_before();
  let_next_begin();
}

/// The number of a work, or of the team that does it.
template <class Work>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t number_of(const Work& work) {
  if constexpr (requires { work.league_rank(); })
    return work.league_rank();
  else
    return work;
}

template <class Kernel, class Works = EveryWork>
struct KernelIf {
  Kernel kernel;
  const Wanted* wanted;
  Works works{};

  /// `work`: a number, or a team of as many as there are works.
  TRIKKOS_CALLS_ITS_ARGUMENT
  template <class Work>
  KOKKOS_INLINE_FUNCTION void operator()(const Work& work) const {
    begin_behind_others();
    if (wanted->is_raised() && works.has(number_of(work))) kernel(work);
  }
};

/// A kernel for those of many systems that are listed, `each` works for one, where that has been
/// known since before the kernel before this one began. One that is for the only system waits for
/// that itself, when it has asked for rows.
template <class Kernel>
struct KernelIfDecided {
  Kernel kernel;
  SystemSet listed;
  int each;
  bool waits;

  TRIKKOS_CALLS_ITS_ARGUMENT
  template <class Work>
  KOKKOS_INLINE_FUNCTION void operator()(const Work& work) const {
    const std::int64_t number = number_of(work), system = number < each ? 0 : number / each;
    if (waits) wait_for_kernels_before();
    if (waits ? listed.has(system) : listed.had(system))
      kernel(work);
    else
      wait_for_kernels_before();  // who waits for this kernel waits for those, too
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

/// A team kernel in the teams of a smaller league, each of which takes its next work when it has
/// finished one: 35 000 teams that return at once would take a tenth of the time of a solve.
template <class Kernel, class Works = EveryWork>
struct TeamsIf {
  Kernel kernel;
  Wanted* wanted;
  Works works;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    begin_behind_others();
    if (!wanted->is_raised()) return;
    const bool asks = member.team_rank() == 0;
    const int count = works.count();
    int rank = member.league_rank();
    while (rank < count) {
      std::int64_t next = 0;  // the answer takes a microsecond: nothing needs it before the end
      if (asks) next = wanted->take();
      kernel(TeamOf<Member>(member, works[rank]));
      Staging<TeamOf<Member>>::finish(member);
      member.team_broadcast(next, 0);
      rank = member.league_size() + static_cast<int>(next);
    }
    if (asks) wanted->finish(member.league_size());
  }
};

/// A kernel that runs where it is wanted by then.
struct OnlyIf {
  static constexpr bool overlaps = true, waits_first = true;
  /// No fewer than an H200 runs at a time: of teams that have a tile of a system each, and of small
  /// ones. Each costs a nanosecond where it has nothing to do.
  static constexpr int most_teams = 8 * 132, most_small_teams = 16 * 132;

  Wanted* wanted;
  int most = most_teams;

  template <class Kernel>
  KernelIf<Kernel> operator()(const Kernel& kernel, std::int64_t = 0) const {
    return {kernel, wanted};
  }
  template <class Kernel>
  TeamsIf<Kernel> teams(const Kernel& kernel, int league) const {
    return {kernel, wanted, {league}};
  }
  int league(int teams) const { return teams < most ? teams : most; }
};

/// The same for those of so many systems that are in a list.
struct OnlyListed {
  static constexpr bool overlaps = true, waits_first = true;
  SystemList list;
  SystemSet listed;
  std::int64_t systems;
  int most = OnlyIf::most_teams;

  template <class Kernel>
  KernelIf<Kernel, WorksOfListed> operator()(const Kernel& kernel, std::int64_t works) const {
    return {kernel, list.wanted, works_of(works)};
  }
  template <class Kernel>
  TeamsIf<Kernel, WorksOfListed> teams(const Kernel& kernel, int league) const {
    return {kernel, list.wanted, works_of(league)};
  }
  int league(int teams) const { return teams < most ? teams : most; }

 private:
  WorksOfListed works_of(std::int64_t works) const {
    return {list, listed, static_cast<int>(works / systems)};
  }
};

/// The same where what is listed has been known since before the kernel before began; by teams that
/// have a work each.
struct OnlyDecided {
  static constexpr bool overlaps = true, waits_first = false;
  SystemSet listed;
  std::int64_t systems;

  template <class Kernel>
  KernelIfDecided<Kernel> operator()(const Kernel& kernel, std::int64_t works) const {
    return {kernel, listed, static_cast<int>(works / systems), systems > 1};
  }
  template <class Kernel>
  KernelIfDecided<Kernel> teams(const Kernel& kernel, int league) const {
    return (*this)(kernel, league);
  }
  int league(int teams) const { return teams; }
};

/// `launch_teams` of a kernel behind a gate.
template <int most_threads, class Exec, class Kernel, class Gate>
void launch_teams(const Exec& exec, const std::string& label, League league, const Kernel& kernel,
                  const Gate& gate) {
  const int works = league.teams;
  league.teams = gate.league(works);
  league.overlap = league.overlap || Gate::overlaps;
  launch_teams<most_threads>(exec, label, league, gate.teams(kernel, works));
}

/// Systems that are left to a second kernel.
template <class T>
struct Marks {
  T* marked;    // [system]: 1, or 0 for those that are solved
  Wanted* any;  // whether there are any

  /// In storage, whose words they are the first of.
  static Marks at(T* storage) {
    return {storage + Wanted::words, reinterpret_cast<Wanted*>(storage)};
  }

  KOKKOS_FORCEINLINE_FUNCTION void mark(std::int64_t system, bool is_left) const {
    marked[system] = T(is_left);
    if (is_left) any->raise();
  }
};

/// Which systems a kernel solves.
struct EverySystem {
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t) const { return true; }
};
template <class T>
struct MarkedSystems {
  const T* marked;  // [system]

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t system) const { return marked[system] != T(0); }
};

/// Before anything is wanted.
struct ResetWanted {
  Diagnosis diagnosis;
  bool resets;
  Wanted* wanted;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    let_next_begin();
    wanted->set(false);
    if (resets) diagnosis.reset();
  }
};

}  // namespace Trikkos::Impl

#endif
