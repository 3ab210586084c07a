// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLELEVELS_HPP
#define TRIKKOS_IMPL_TRIANGLELEVELS_HPP

#include <algorithm>
#include <impl/Trikkos_RelaxedMemory.hpp>
#include <impl/Trikkos_Tickets.hpp>
#include <impl/Trikkos_TrianglePattern.hpp>
#include <vector>

/// \file
/// The level of a row is one more than the largest level of the rows that it needs: rows of one
/// level do not need each other. Three ways to the same numbers.

namespace Trikkos::Impl {

// ---- one thread: rows in the order of elimination

struct SerialLevels {
  TriangleRows rows;
  RowOrder natural;
  std::int32_t* level;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    for (std::int64_t e = 0; e < natural.n; ++e) {
      const std::int32_t row = natural[e];
      std::int32_t mine = 0;
      for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k) {
        const std::int32_t j = rows.needed[k];
        if (j != row && level[j] >= mine) mine = level[j] + 1;
      }
      level[row] = mine;
    }
  }
};

// ---- one launch: each row waits for those that it needs

/// See `solve_when_ready` for the form of the loop.
struct PullLevel {
  static constexpr std::int32_t unknown = -1;
  static constexpr int count = 8;  // entries that are looked for together

  TriangleRows rows;
  RowOrder natural;
  std::int32_t* level;

  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t e, std::int64_t last) const {
    const std::int32_t row = natural[e];
    const std::int32_t* const group_end = level + natural[last];
    const std::int64_t entries = rows.start[row + 1] - rows.start[row];
    std::int32_t needed[count], levels[count];
    bool is_there[count];
    std::int64_t i = 0;
    load(row, i, entries, needed, is_there);
    std::int32_t mine = 0;
    bool is_done = false;
    Backoff backoff;
    while (true) {
      bool are_there = true;
      for (int j = 0; j < count; ++j) {
        levels[j] = is_there[j] ? unknown : relaxed_load(level + needed[j]);
        are_there &= is_there[j] | (levels[j] != unknown);
      }
      const std::int32_t end_level = group > 1 && is_done ? relaxed_load(group_end) : unknown;
      if (!is_done && are_there) {
        for (int j = 0; j < count; ++j) mine = Kokkos::max(mine, levels[j] + 1);
        i += count;
        if (i < entries) {
          load(row, i, entries, needed, is_there);
        } else {
          relaxed_store(level + row, mine);
          is_done = true;
        }
      } else {
        backoff.wait();
      }
      if (is_done && (group == 1 || end_level != unknown)) break;
    }
  }

 private:
  /// From the i-th entry on, in sorted rows those first that are known first.
  KOKKOS_FORCEINLINE_FUNCTION void load(std::int32_t row, std::int64_t i, std::int64_t entries,
                                        std::int32_t* needed, bool* is_there) const {
    const std::int64_t begin = rows.start[row], end = rows.start[row + 1];
    for (int j = 0; j < count; ++j) {
      const std::int64_t k = natural.is_forward ? begin + i + j : end - 1 - i - j;
      needed[j] = i + j < entries ? rows.needed[k] : row;
      is_there[j] = needed[j] == row;  // the diagonal, or nothing
    }
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
void levels_by_rounds(const Exec& exec, const TrianglePattern<Exec>& pattern, const CsrPattern& A,
                      std::int32_t* level) {
  TriangleShape other_way = pattern.shape;
  other_way.transposed = !other_way.transposed;
  const auto dependents = triangle_pattern(exec, A, other_way);
  const std::int64_t n = pattern.shape.n;
  const auto unmet = new_array<std::int32_t>(exec, "unmet", n);
  const auto count = new_array<std::int32_t>(exec, "root_count", 2, 0);
  const Array<std::int32_t, Exec> roots[] = {new_array<std::int32_t>(exec, "roots", n),
                                             new_array<std::int32_t>(exec, "roots", n)};
  const auto buffer = [&](int i) { return Roots{roots[i].data(), count.data() + i}; };
  Kokkos::parallel_for("Trikkos::TriangularPlan::find_roots", range(exec, n),
                       FindRoots{pattern.rows(), unmet.data(), buffer(0)});
  for (std::int32_t round = 0;; ++round) {
    const int now = round % 2, next = 1 - now;
    const std::int32_t found =
        fetch(exec, buffer(now).count, "Trikkos::TriangularPlan::root_count");
    if (found == 0) break;
    fill(exec, count.data() + next, 1, 0);
    Kokkos::parallel_for("Trikkos::TriangularPlan::remove_roots", range(exec, found),
                         RemoveRoots{dependents.rows(), round, roots[now].data(), unmet.data(),
                                     level, buffer(next)});
  }
  exec.fence("Trikkos::TriangularPlan::levels");
}

template <class Exec>
void levels_by_pulling(const Exec& exec, const TrianglePattern<Exec>& pattern,
                       std::int32_t* level) {
  const auto tickets = new_array<Tickets>(exec, "tickets", 1, Tickets{});
  const RowOrder natural = pattern.shape.natural();
  // Rows in the order of elimination: many teams wait until the levels of their rows begin.
  // Measured on an H200: 1024^2 points take 3.6 ms so, with an eighth of the teams 15 ms.
  launch_tickets(exec, "Trikkos::TriangularPlan::levels", tickets.data(), pattern.shape.n, 1, 128,
                 AlwaysOneCopy<PullLevel>{{pattern.rows(), natural, level}});
  exec.fence("Trikkos::TriangularPlan::levels");
}

/// The level of each row.
template <class Exec>
Array<std::int32_t, Exec> triangle_levels(const Exec& exec, const TrianglePattern<Exec>& pattern,
                                          const CsrPattern& A) {
  const auto level = new_array<std::int32_t>(exec, "level", pattern.shape.n, -1);
  const RowOrder natural = pattern.shape.natural();
  if constexpr (is_host_v<Exec>)
    Kokkos::parallel_for("Trikkos::TriangularPlan::levels", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         SerialLevels{pattern.rows(), natural, level.data()});
  else if constexpr (spin_safe_v<Exec>)
    levels_by_pulling(exec, pattern, level.data());
  else
    levels_by_rounds(exec, pattern, A, level.data());
  return level;
}

}  // namespace Trikkos::Impl

#endif
