// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TICKETS_HPP
#define TRIKKOS_IMPL_TICKETS_HPP

#include <algorithm>
#include <impl/Trikkos_RelaxedMemory.hpp>
#include <impl/Trikkos_SideBySide.hpp>

/// \file
/// A kernel whose rows wait for others of the same kernel. Rows are handed out in portions, in an
/// order in which no row needs one behind it. A team takes the next portion when it has finished
/// one: what a row waits for is done or held by a team that runs, whatever the number of teams and
/// the order in which they start. (The tickets of Ginkgo's triangular solver.)

namespace Trikkos::Impl {

/// In device memory. The last team resets it for the next launch.
struct Tickets {
  std::int64_t next = 0;      // portion to be handed out
  std::int32_t finished = 0;  // teams
  std::int32_t copy = 0;      // of two that launches take in turn
  std::int64_t used = 0;      // systems that the launch before left values of, in the other copy

  /// The next portion, for a team.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t take(const Member& member) {
    std::int64_t r = 0;
    Kokkos::single(
        Kokkos::PerTeam(member),
        [&](std::int64_t& ticket) { ticket = Kokkos::atomic_fetch_add(&next, std::int64_t(1)); },
        r);
    return r;
  }
  KOKKOS_INLINE_FUNCTION void finish(std::int32_t teams, std::int64_t systems) {
    if (Kokkos::atomic_fetch_add(&finished, 1) < teams - 1) return;
    next = 0;
    finished = 0;
    copy = 1 - copy;
    used = systems;
  }
};

/// Body: `start(copy, used)` gives what solves: `solve<group>(p, last, k)` row p of system k, where
/// the rows up to `last` are solved in lockstep by threads of one warp. A device's teams call it
/// for all of a group, also where it has fewer systems.
template <class Exec, class Body>
struct TicketKernel {
  static constexpr int team_size = 128;
  static constexpr int warp = 32;  // or a multiple of what the device has

  Tickets* tickets;
  std::int64_t rows;
  SideBySide systems;
  std::int32_t teams;
  Body body;

  /// Measured, of 32 to 1024 threads.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows_of_portion() const {
    return is_host_v<Exec> ? team_size : team_size >> thread_bits();
  }
  /// Of the number of threads for a row.
  KOKKOS_FORCEINLINE_FUNCTION int thread_bits() const {
    constexpr int of_thread = Body::systems_of_thread;
    static_assert(of_thread == 1 || of_thread == 2 || of_thread == 4);
    return systems.bits - of_thread / 2;
  }
  std::int64_t portions() const {
    return (rows + rows_of_portion() - 1) / rows_of_portion() *
           (is_host_v<Exec> ? systems.count : systems.groups());
  }

  /// A host's thread.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    const auto work = body.start(tickets->copy, tickets->used);
    while (true) {
      const std::int64_t t = Kokkos::atomic_fetch_add(&tickets->next, std::int64_t(1));
      const std::int64_t k = t % systems.count, first = t / systems.count * rows_of_portion();
      if (first >= rows) break;
      const std::int64_t end = Kokkos::min(first + rows_of_portion(), rows);
      for (std::int64_t p = first; p < end; ++p) work.template solve<1>(p, p, k);
    }
    tickets->finish(teams, systems.count);
  }
  /// A device's team: neighbouring threads have neighbouring systems of a row.
  template <class Member>
  requires TeamMember<Member> KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto work = body.start(tickets->copy, tickets->used);
    const int bits = thread_bits();
    const std::int64_t groups = systems.groups(), in_group = (std::int64_t(1) << bits) - 1;
    while (true) {
      const std::int64_t t = tickets->take(member);
      const std::int64_t g = t % groups, first = t / groups * rows_of_portion();
      if (first >= rows) break;
      const std::int64_t end = Kokkos::min(first + rows_of_portion(), rows);
      const std::int64_t p = first + (member.team_rank() >> bits);
      const std::int64_t last = Kokkos::min(p | ((warp >> bits) - 1), end - 1);
      const std::int64_t k = (member.team_rank() & in_group) * Body::systems_of_thread;
      if (p < end) work.template solve<warp>(p, last, (g << systems.bits) + k);
    }
    member.team_barrier();  // all have read `copy`
    Kokkos::single(Kokkos::PerTeam(member), [&] { tickets->finish(teams, systems.count); });
  }
};

/// Asynchronous.
/// \param wanted  threads that can be at work at a time; at least as many as is good for all. Every
///                waiting thread polls the cache. H200, of 2, 4, 8, 16 teams for each
///                multiprocessor of 2048 threads: 2 are best for levels of up to 2000 rows (27
///                points 96^3 482, 525, 594 us), 8 for 50000 (93, 59, 53, 55 us) and for several
///                systems.
template <class Exec, class Body>
void launch_tickets(const Exec& exec, const char* label, Tickets* tickets, std::int64_t rows,
                    const SideBySide& systems, std::int64_t wanted, const Body& body) {
  TicketKernel<Exec, Body> kernel{tickets, rows, systems, 1, body};
  if (kernel.portions() == 0) return;
  if constexpr (is_host_v<Exec>) {
    const std::int64_t threads = std::min<std::int64_t>(exec.concurrency(), kernel.portions());
    kernel.teams = static_cast<std::int32_t>(threads);
    Kokkos::parallel_for(label, range(exec, threads), kernel);
  } else {
    // More teams than run at once do no harm.
    const std::int64_t multiprocessors = std::max(1, exec.concurrency() / 2048);
    const std::int64_t teams = std::clamp<std::int64_t>(wanted / kernel.team_size,
                                                        2 * multiprocessors, 8 * multiprocessors);
    kernel.teams = static_cast<std::int32_t>(std::min(teams, kernel.portions()));
    Kokkos::parallel_for(
        label, light(Kokkos::TeamPolicy<Exec>(exec, kernel.teams, kernel.team_size)), kernel);
  }
}

/// A body that needs no copies, of one system.
template <class Row>
struct AlwaysOneCopy {
  static constexpr int systems_of_thread = 1;
  struct Work {
    Row row;
    template <int group>
    KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t last, std::int64_t) const {
      row.template solve<group>(p, last);
    }
  };
  Row row;
  KOKKOS_FORCEINLINE_FUNCTION Work start(std::int32_t, std::int64_t) const { return {row}; }
};

}  // namespace Trikkos::Impl

#endif
