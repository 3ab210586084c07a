// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_BLOCKEDSOLVE_HPP
#define TRIKKOS_IMPL_BLOCKEDSOLVE_HPP

#include <impl/Trikkos_SyncFreeSolve.hpp>
#include <impl/Trikkos_TriangleParts.hpp>

/// \file
/// One launch: every row waits for the values that it needs, in the scratch of its team. A team
/// takes a part of neighbouring rows. What parts need of each other goes through global memory:
/// some threads of a team do nothing but wait for it there and copy it to its slot, so that those
/// that compute look into scratch only, where a value is after 0.11 us (H200) for 0.3 us.

namespace Trikkos::Impl {

template <class T, class Exec, class Form>
struct BlockedSolve {
  static constexpr bool on_host = is_host_v<Exec>;
  using Flag = Flagged<T>;
  using Word = typename Flag::Word;
  static constexpr int importing = importing_threads;

  Tickets* tickets;
  PackedTriangle<T> A;
  PartsView parts;
  Vectors<const T> b;
  Vectors<T> x;
  std::int64_t systems, capacity;  // of this call; that there is memory for
  Word* copies;                    // two
  Word* host_memory;               // in place of scratch: slots for each of `teams` threads
  std::int32_t teams;

  /// A host's thread: first what the part needs, then its rows.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t worker) const {
    Word* const memory = host_memory + worker * parts.slots * Flag::words;
    const Copies copy = current();
    while (true) {
      const std::int64_t t = Kokkos::atomic_fetch_add(&tickets->next, std::int64_t(1));
      const std::int64_t k = t % systems, part = t / systems;
      if (part >= parts.parts) break;
      for (std::int64_t i = 0; i < parts.slots * Flag::words; ++i) memory[i] = Flag::Of::empty;
      wait_for_imports(part, k, 0, 1, memory, copy);
      for (std::int64_t r = 0; r < parts.rows(part); ++r) solve<1>(part, r, k, memory, copy);
    }
    tickets->finish(teams, systems);
  }
  /// A device's team.
  template <class Member>
  requires TeamMember<Member> KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t words = parts.slots * Flag::words;
    Word* const memory = team_scratch<Word>(member);
    const Copies copy = current();
    const int rank = member.team_rank(), computing = member.team_size() - importing;
    while (true) {
      const std::int64_t t = tickets->take(member);
      const std::int64_t k = t % systems, part = t / systems;
      if (part >= parts.parts) break;
      for (std::int64_t i = rank; i < words; i += member.team_size()) memory[i] = Flag::Of::empty;
      member.team_barrier();
      if (rank < importing)
        wait_for_imports(part, k, rank, importing, memory, copy);
      else
        for (std::int64_t r = rank - importing; r < parts.rows(part); r += computing)
          solve<32>(part, r, k, memory, copy);
      member.team_barrier();
    }
    member.team_barrier();  // all have read `copy`
    Kokkos::single(Kokkos::PerTeam(member), [&] { tickets->finish(teams, systems); });
  }

  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(std::int64_t slots) {
    return static_cast<std::size_t>(slots) * sizeof(T) + alignof(Word);
  }

 private:
  struct Copies {
    Word *now, *next;
    std::int64_t used;  // systems that the solve before has filled of `next`
  };
  KOKKOS_FORCEINLINE_FUNCTION Copies current() const {
    const std::int64_t words = capacity * parts.n * Flag::words;
    Word *const first = copies, *const second = copies + words;
    if (tickets->copy == 0) return {first, second, tickets->used};
    return {second, first, tickets->used};
  }
  KOKKOS_FORCEINLINE_FUNCTION Word* at(Word* copy, std::int64_t k, std::int64_t position) const {
    return copy + (k * parts.n + position) * Flag::words;
  }

  KOKKOS_FORCEINLINE_FUNCTION void wait_for_imports(std::int64_t part, std::int64_t k, int first,
                                                    int step, Word* memory,
                                                    const Copies& copy) const {
    const std::int64_t start = parts.import_start[part];
    const std::int64_t count = parts.import_start[part + 1] - start;
    Word* const to = memory + parts.rows(part) * Flag::words;
    Backoff backoff;
    for (std::int64_t j = first; j < count;) {
      const auto seen = Flag::look(at(copy.now, k, parts.import_position[start + j]));
      if (seen.is_empty()) {
        backoff.wait();
      } else {
        Flag::publish(to + j * Flag::words, seen.value());
        j += step;
      }
    }
  }

  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t part, std::int64_t r, std::int64_t k,
                                         Word* memory, const Copies& copy) const {
    const std::int64_t p = part * parts.rows_of_part + r;
    const std::int64_t last = Kokkos::min(r | (group - 1), parts.rows(part) - 1);
    const bool is_exported = parts.is_exported[p];
    const std::int32_t row = A.row[p];
    const T s = solve_when_ready<group, Form>(A, p, b[k][row], Flag::words, memory,
                                              memory + r * Flag::words, memory + last * Flag::words,
                                              is_exported ? at(copy.now, k, p) : nullptr);
    if (!Form::goes_on(A, p)) x[k][row] = s;
    if (!is_exported) return;
    Flag::clear(at(copy.next, k, p));
    if (k == systems - 1)
      for (std::int64_t j = systems; j < copy.used; ++j) Flag::clear(at(copy.next, j, p));
  }
};

/// Asynchronous. On a host at most `kernel.teams` threads work.
template <class T, class Exec, class Form>
void launch_blocked(const Exec& exec, BlockedSolve<T, Exec, Form> kernel) {
  using Kernel = BlockedSolve<T, Exec, Form>;
  const std::int64_t portions = kernel.parts.parts * kernel.systems;
  if (portions == 0) return;
  if constexpr (is_host_v<Exec>) {
    const std::int64_t threads =
        std::min<std::int64_t>({exec.concurrency(), kernel.teams, portions});
    kernel.teams = static_cast<std::int32_t>(threads);
    Kokkos::parallel_for("Trikkos::solve::blocked", range(exec, threads), kernel);
  } else {
    // As many as run at once, as far as their scratch decides: more do no harm.
    const std::size_t bytes = Kernel::scratch_bytes(kernel.parts.slots);
    const std::int64_t multiprocessors = std::max(1, exec.concurrency() / 2048);
    const std::int64_t of_each = std::max<std::int64_t>(1, 227000 / (bytes + 1200));
    kernel.teams = static_cast<std::int32_t>(std::min(portions, multiprocessors * of_each));
    const int team_size = Kernel::importing + threads_of_part(kernel.parts.rows_of_part);
    Kokkos::parallel_for("Trikkos::solve::blocked",
                         light(Kokkos::TeamPolicy<Exec>(exec, kernel.teams, team_size)
                                   .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)))),
                         kernel);
  }
}

}  // namespace Trikkos::Impl

#endif
