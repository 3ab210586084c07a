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

/// \tparam of_thread  systems that a thread solves a row for, and a team a part, side by side
template <class T, class Exec, class Form, int of_thread = 1>
struct BlockedSolve {
  static constexpr bool on_host = is_host_v<Exec>;
  static constexpr int group = on_host ? 1 : 32;  // rows of a slice, that a warp solves together
  static constexpr int count = Form::polled;
  using Flag = Flagged<T>;
  using Word = typename Flag::Word;
  static constexpr int of_slot = of_thread * Flag::words;
  static constexpr std::size_t alignment = of_slot * sizeof(Word);

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
    Word* const memory = host_memory + worker * words_of(parts.slots);
    const Copies copy = current();
    while (true) {
      const std::int64_t t = Kokkos::atomic_fetch_add(&tickets->next, std::int64_t(1));
      const Part part(*this, t, memory, copy);
      if (part.number >= parts.parts) break;
      empty_slots(memory, 0, 1);
      part.wait_for_imports(0, 1);
      part.solve_rows(0, 1);
    }
    tickets->finish(teams, systems);
  }
  /// A device's team.
  template <class Member>
  requires TeamMember<Member> KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    Word* const memory = &team_scratch<SlotWords>(member)->word[0];
    const Copies copy = current();
    const int rank = member.team_rank(), importing = importing_threads;
    while (true) {
      // The next part is on its way while its slots are emptied.
      std::int64_t t = rank == 0 ? Kokkos::atomic_fetch_add(&tickets->next, std::int64_t(1)) : 0;
      empty_slots(memory, rank, member.team_size());
      member.team_broadcast(t, 0);
      const Part part(*this, t, memory, copy);
      if (part.number >= parts.parts) break;
      if (rank < importing)
        part.wait_for_imports(rank, importing);
      else
        part.solve_rows(rank - importing, member.team_size() - importing);
      member.team_barrier();
    }
    member.team_barrier();  // all have read `copy`
    Kokkos::single(Kokkos::PerTeam(member), [&] { tickets->finish(teams, systems); });
  }

  /// Of slots, and of one more that holds a zero, for what is behind the last entry of a row.
  static KOKKOS_INLINE_FUNCTION std::int64_t words_of(std::int64_t slots) {
    return (slots + 1) * of_slot;
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(std::int64_t slots) {
    return static_cast<std::size_t>(words_of(slots)) * sizeof(Word) + alignment;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t groups() const {
    return (systems + of_thread - 1) / of_thread;
  }

 private:
  struct alignas(alignment) SlotWords {
    Word word[of_slot];
  };
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

  KOKKOS_FORCEINLINE_FUNCTION void empty_slots(Word* memory, int first, int step) const {
    const std::int64_t words = words_of(parts.slots);
    for (std::int64_t i = first; i < words; i += step)
      memory[i] = i < words - of_slot ? Flag::Of::empty : Word(0);
  }

  /// One part, for systems side by side.
  struct Part {
    const BlockedSolve& all;
    std::int64_t k, number, start;  // k: the first system
    int rows;
    Strided<const T> b;  // of the first system
    Strided<T> x;
    Word* memory;
    const Copies& copy;

    KOKKOS_FORCEINLINE_FUNCTION Part(const BlockedSolve& all_, std::int64_t ticket, Word* memory_,
                                     const Copies& copy_)
        : all(all_),
          k(ticket % all.groups() * of_thread),
          number(ticket / all.groups()),
          start(number * all.parts.rows_of_part),
          rows(static_cast<int>(all.parts.rows(number))),
          b(all.b[k]),
          x(all.x[k]),
          memory(memory_),
          copy(copy_) {}

    KOKKOS_FORCEINLINE_FUNCTION void wait_for_imports(int first, int step) const {
      const std::int32_t begin = all.parts.import_start[number];
      const int imports = all.parts.import_start[number + 1] - begin;
      const std::int32_t* const position = all.parts.import_position + begin;
      Word* const to = slot(rows);
      std::int32_t next = first < imports ? position[first] : 0;
      Backoff backoff;
      for (int j = first; j < imports; j += step) {
        const Word* const from = at(copy.now, k, next);
        if (j + step < imports) next = position[j + step];
        for (bool is_there = false; !is_there;) {
          typename Flag::Seen seen[of_thread];
          Flag::look(from, seen);
          is_there = true;
          for (const auto& s : seen) is_there &= !s.is_empty();
          if (is_there) {
            T value[of_thread];
            for (int i = 0; i < of_thread; ++i) value[i] = seen[i].value();
            Flag::publish(to + j * of_slot, value);
          } else {
            backoff.wait();
          }
        }
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION void solve_rows(int first, int step) const {
      for (int r = first; r < rows; r += step) solve(r);
    }

   private:
    using Entries = PolledEntries<T, count, group>;

    KOKKOS_FORCEINLINE_FUNCTION Word* slot(int i) const { return memory + i * of_slot; }
    KOKKOS_FORCEINLINE_FUNCTION Word* at(Word* words, std::int64_t system,
                                         std::int64_t position) const {
      return words + (system * all.parts.n + position * of_thread) * Flag::words;
    }

    /// As `solve_when_ready`, which tells why there is one loop; what parts of this one wait for is
    /// as short as can be. In scratch it takes less time to look at everything again than to
    /// choose.
    KOKKOS_FORCEINLINE_FUNCTION void solve(int r) const {
      const PackedTriangle<T>& A = all.A;
      const std::int64_t p = start + r, place = A.place(p);
      const std::int32_t* const needed = A.needed + place;
      const T* const value = A.value + place;
      const auto zero = static_cast<std::int32_t>(all.parts.slots);
      const std::int32_t length = A.length[p], row = A.row[p];
      const T inverse = A.inverse[p];
      const bool goes_on = Form::goes_on(A, p), is_exported = all.parts.is_exported[p] != 0;
      Word* const mine = slot(r);
      Word* const for_others = is_exported ? at(copy.now, k, p) : nullptr;
      const Word* const group_end = slot(Kokkos::min(r | (group - 1), rows - 1));
      Entries entries, next;
      PolledValues<T, count, of_thread> values;
      T s[of_thread];
      for (int j = 0; j < of_thread; ++j)
        s[j] = k + j < all.systems ? (&b[row])[j * all.b.system_stride] : T(0);
      bool continues = Form::continues(A, p), is_done = false;
      std::int32_t i = 0;
      entries.load(needed, value, 0, length, zero);
      next.load(needed, value, count, length, zero);
      Backoff backoff;
      // Threads that look take turns with those that get on: until the rows of two groups before
      // are there, they look at one word only (H200: up to 30 %).
      constexpr int groups = 2;
      const int before = (r & ~(group - 1)) - (groups - 1) * group - 1;
      if (group > 1 && before >= 0)
        while (Flag::look(slot(before)).is_empty()) backoff.wait();
      while (true) {
        values.look_again(entries, memory);
        const auto end = Flag::look(group_end);
        const bool waits = is_done | !values.are_there();
        if (!waits) {
          values.subtract_from(s, continues, entries);
          continues = false;
          i += count;
          if (i >= length) {
            if (!goes_on)
              for (T& each : s) each = product(inverse, each);
            Flag::publish(mine, s);
            if (for_others != nullptr) Flag::publish(for_others, s);
            is_done = true;
          } else {
            entries = next;
            next.load(needed, value, i + count, length, zero);
          }
        } else {
          backoff.wait();
        }
        if (is_done & !end.is_empty()) break;
      }
      if (!goes_on)
        for (int j = 0; j < of_thread; ++j)
          if (k + j < all.systems) (&x[row])[j * all.x.system_stride] = s[j];
      if (!is_exported) return;
      Flag::template clear<of_thread>(at(copy.next, k, p));
      if (k + of_thread >= all.systems)
        for (std::int64_t j = k + of_thread; j < copy.used; j += of_thread)
          Flag::template clear<of_thread>(at(copy.next, j, p));
    }
  };
};

/// Asynchronous. On a host at most `kernel.teams` threads work.
template <class T, class Exec, class Form, int of_thread>
void launch_blocked(const Exec& exec, BlockedSolve<T, Exec, Form, of_thread> kernel) {
  using Kernel = BlockedSolve<T, Exec, Form, of_thread>;
  const std::int64_t portions = kernel.parts.parts * kernel.groups();
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
    constexpr int team_size = importing_threads + computing_threads;
    Kokkos::parallel_for("Trikkos::solve::blocked",
                         light(Kokkos::TeamPolicy<Exec>(exec, kernel.teams, team_size)
                                   .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)))),
                         kernel);
  }
}

}  // namespace Trikkos::Impl

#endif
