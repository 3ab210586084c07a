// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLELEVELS_HPP
#define TRIKKOS_IMPL_TRIANGLELEVELS_HPP

#include <algorithm>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/Trikkos_Tickets.hpp>
#include <impl/Trikkos_TrianglePattern.hpp>
#include <vector>

/// \file
/// The level of a row is one more than the largest level of the rows that it needs: rows of one
/// level do not need each other. Three ways to the same numbers.

namespace Trikkos::Impl {

/// Of the rows of a thread.
struct Extremes {
  std::int32_t level = -1, entries = 0;

  KOKKOS_FORCEINLINE_FUNCTION void take(std::int32_t level_, std::int32_t entries_) {
    level = Kokkos::max(level, level_);
    entries = Kokkos::max(entries, entries_);
  }
  KOKKOS_INLINE_FUNCTION void report(TriangleFindings* findings) const {
    if (relaxed_load(&findings->last_level) < level)
      Kokkos::atomic_max(&findings->last_level, level);
    if (relaxed_load(&findings->longest) < entries) Kokkos::atomic_max(&findings->longest, entries);
  }
};

// ---- one thread: rows in the order of elimination

struct SerialLevels {
  TriangleRows rows;
  RowOrder natural;
  std::int32_t* level;
  TriangleFindings* findings;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    Extremes extremes;
    for (std::int64_t e = 0; e < natural.n; ++e) {
      const std::int32_t row = natural[e];
      std::int32_t mine = 0;
      for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k) {
        const std::int32_t j = rows.needed[k];
        if (j != row && level[j] >= mine) mine = level[j] + 1;
      }
      level[row] = mine;
      extremes.take(mine, static_cast<std::int32_t>(rows.needed_entries(row)));
    }
    extremes.report(findings);
  }
};

// ---- one launch: each row waits for those that it needs

/// Portions of neighbouring rows, which need each other more than others: the levels of a portion
/// in the scratch of its team, where a look takes a third of the time. See `solve_when_ready` for
/// the form of the loop. One entry at a time, in the order of elimination: few are missing, and the
/// loop is short.
template <class Exec>
struct PullLevels {
  static constexpr std::int32_t unknown = -1;
  static constexpr int warp = is_host_v<Exec> ? 1 : 32;
  static constexpr int team_size = is_host_v<Exec> ? 1 : 128;

  TriangleFindings* findings;
  TriangleRows rows;
  RowOrder natural;
  std::int32_t* level;
  std::int32_t teams, rows_of_portion;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    std::int32_t* const local = team_scratch<std::int32_t>(member);
    const int rank = member.team_rank();
    Tickets* const tickets = &findings->tickets;
    Extremes extremes;
    while (true) {
      const std::int64_t first = tickets->take(member) * rows_of_portion;
      if (first >= natural.n) break;
      const std::int64_t end = Kokkos::min(first + rows_of_portion, natural.n);
      for (int i = rank; i < rows_of_portion; i += team_size) local[i] = unknown;
      member.team_barrier();
      for (std::int64_t e = first + rank; e < end; e += team_size)
        find({first, end, local}, e, extremes);
      member.team_barrier();
    }
    extremes.report(findings);
    Kokkos::single(Kokkos::PerTeam(member), [&] { tickets->finish(teams, 1); });
  }
  KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() const {
    return (rows_of_portion + 1) * sizeof(std::int32_t);
  }

 private:
  /// Rows in the order of elimination.
  struct Portion {
    std::int64_t first, end;
    std::int32_t* local;  // levels, as far as they are known
  };
  /// Where the level of a row will be.
  KOKKOS_FORCEINLINE_FUNCTION const std::int32_t* place_of(std::int32_t row,
                                                           const Portion& portion) const {
    const std::int64_t e = natural[row];
    return e >= portion.first ? portion.local + (e - portion.first) : level + row;
  }
  KOKKOS_FORCEINLINE_FUNCTION void find(const Portion& portion, std::int64_t e,
                                        Extremes& extremes) const {
    const std::int32_t row = natural[e];
    const std::int32_t* const needed = rows.needed + rows.start[row];
    const auto entries = static_cast<std::int32_t>(rows.needed_entries(row));
    // Of this warp, the last.
    const std::int32_t* const last =
        portion.local + (Kokkos::min(e | (warp - 1), portion.end - 1) - portion.first);
    const auto place = [&](std::int32_t i) {
      return i < entries ? place_of(needed[i], portion) : last;
    };
    std::int32_t i = 0, mine = 0;
    bool is_done = entries == 0;
    if (is_done) report(row, e, mine, entries, portion, extremes);
    const std::int32_t *from = place(0), *next = place(1);
    Backoff backoff;
    while (true) {
      const std::int32_t found = relaxed_load(from);
      if (found != unknown) {
        if (is_done) break;
        mine = Kokkos::max(mine, found + 1);
        from = next;
        next = place(++i + 1);
        if (i >= entries) {
          report(row, e, mine, entries, portion, extremes);
          is_done = true;
        }
      } else {
        backoff.wait();
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void report(std::int32_t row, std::int64_t e, std::int32_t mine,
                                          std::int32_t entries, const Portion& portion,
                                          Extremes& extremes) const {
    relaxed_store(portion.local + (e - portion.first), mine);
    relaxed_store(level + row, mine);
    extremes.take(mine, entries);
  }
};

// ---- a launch for each level: Naumov 2011, algorithm 1, with two buffers of root candidates

/// Rows that nothing keeps from being solved, and how many there are.
struct Roots {
  std::int32_t* row;
  std::int32_t* count;

  KOKKOS_FORCEINLINE_FUNCTION void add(std::int32_t r) const {
    row[Kokkos::atomic_fetch_add(count, 1)] = r;
  }
};

struct FindRoots {
  TriangleRows rows;
  std::int32_t* unmet;
  Roots found;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int32_t needs = 0;
    for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k)
      needs += rows.needed[k] != row;
    unmet[row] = needs;
    if (needs == 0) found.add(static_cast<std::int32_t>(row));
  }
};

struct RemoveRoots {
  TriangleRows dependents;  // of each row: those that need it
  std::int32_t round;
  const std::int32_t* root;
  std::int32_t* unmet;
  std::int32_t* level;
  Roots found;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int32_t row = root[i];
    level[row] = round;
    for (std::int64_t k = dependents.start[row]; k < dependents.start[row + 1]; ++k) {
      const std::int32_t j = dependents.needed[k];
      if (j != row && Kokkos::atomic_fetch_sub(unmet + j, 1) == 1) found.add(j);
    }
  }
};

/// Waits in every round.
template <class Exec>
void levels_by_rounds(const Exec& exec, Slabs<Exec>& memory, const TrianglePattern<Exec>& pattern,
                      const CsrPattern& A, std::int32_t* level) {
  TriangleShape other_way = pattern.shape;
  other_way.transposed = !other_way.transposed;
  const auto dependents = triangle_pattern(exec, memory, A, other_way);
  const std::int64_t n = pattern.shape.n;
  const auto array = [&](std::int64_t size) {
    return memory.template array<std::int32_t>(exec, size);
  };
  const auto unmet = array(n), count = array(2);
  const Array<std::int32_t, Exec> roots[] = {array(n), array(n)};
  fill(exec, filled(count, 0));
  const auto buffer = [&](int i) { return Roots{roots[i].data(), count.data() + i}; };
  Kokkos::parallel_for("Trikkos::TriangularPlan::find_roots", range(exec, n),
                       FindRoots{pattern.rows(), unmet.data(), buffer(0)});
  for (std::int32_t round = 0;; ++round) {
    const int now = round % 2, next = 1 - now;
    const std::int32_t found =
        fetch(exec, buffer(now).count, "Trikkos::TriangularPlan::root_count");
    if (found == 0)
      return fill(exec, Fill<std::int32_t>{&pattern.findings.data()->last_level, 1, round - 1});
    fill(exec, Fill<std::int32_t>{count.data() + next, 1, 0});
    Kokkos::parallel_for("Trikkos::TriangularPlan::remove_roots", range(exec, found),
                         RemoveRoots{dependents.rows(), round, roots[now].data(), unmet.data(),
                                     level, buffer(next)});
  }
}

template <class Exec>
void levels_by_pulling(const Exec& exec, const TrianglePattern<Exec>& pattern,
                       std::int32_t* level) {
  const std::int64_t n = pattern.shape.n;
  if (n == 0) return;
  // As many teams as run at once: rows come in the order of elimination, in which most wait until
  // the levels of their rows begin. Of a large triangle all rows at once, as those of a grid's
  // front are far apart (H200, 5-point 2048^2: 19 ms become 5). But the threads of a portion then
  // have its rows one after the other (27-point 96^3: 1.3 ms would become 6).
  constexpr std::int64_t size = PullLevels<Exec>::team_size, most = 2048, large = 8;
  const std::int64_t resident = std::max<std::int64_t>(exec.concurrency() / size, 1);
  const std::int64_t turns = (n + resident * size - 1) / (resident * size);
  const std::int64_t portion = turns > large ? std::min(turns * size, most) : size;
  const std::int64_t portions = (n + portion - 1) / portion;
  const PullLevels<Exec> kernel{pattern.findings.data(),
                                pattern.rows(),
                                pattern.shape.natural(),
                                level,
                                static_cast<std::int32_t>(std::min(resident, portions)),
                                static_cast<std::int32_t>(portion)};
  // With no more registers than all threads may have, where it is known how many a multiprocessor
  // has: more would be a warning of the compiler.
#ifdef KOKKOS_ARCH_HOPPER
  constexpr int teams_of_multiprocessor = 2048 / kernel.team_size;
#else
  constexpr int teams_of_multiprocessor = 1;
#endif
  using Bounds = Kokkos::LaunchBounds<kernel.team_size, teams_of_multiprocessor>;
  // Scratch of level 1 is not used: until a kernel has asked for some, Kokkos' CUDA backend
  // allocates for each launch of teams, and solves must not.
  Kokkos::parallel_for(
      "Trikkos::TriangularPlan::levels",
      light(Kokkos::TeamPolicy<Exec, Bounds>(exec, kernel.teams, kernel.team_size)
                .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(kernel.scratch_bytes())))
                .set_scratch_size(1, Kokkos::PerTeam(8))),
      kernel);
}

/// Finds pattern.level and, among the findings, the last one; unless by rounds, the longest row.
/// Asynchronous but for rounds.
template <class Exec>
void find_levels(const Exec& exec, Slabs<Exec>& memory, const TrianglePattern<Exec>& pattern,
                 const CsrPattern& A) {
  std::int32_t* const level = pattern.level.data();
  if constexpr (is_host_v<Exec>)
    Kokkos::parallel_for(
        "Trikkos::TriangularPlan::levels", Kokkos::RangePolicy<Exec>(exec, 0, 1),
        SerialLevels{pattern.rows(), pattern.shape.natural(), level, pattern.findings.data()});
  else if constexpr (spin_safe_v<Exec>)
    levels_by_pulling(exec, pattern, level);
  else
    levels_by_rounds(exec, memory, pattern, A, level);
}

}  // namespace Trikkos::Impl

#endif
