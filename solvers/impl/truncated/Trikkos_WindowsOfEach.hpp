// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WINDOWSOFEACH_HPP
#define TRIKKOS_IMPL_WINDOWSOFEACH_HPP

#include <cmath>
#include <impl/truncated/Trikkos_DeviceWindows.hpp>
#include <impl/truncated/Trikkos_LookFirst.hpp>

/// \file
/// `truncated` and `automatic` for one system on a device, or many that lie one behind the other:
/// each is judged by itself, so that what becomes of it does not depend on its neighbours.

namespace Trikkos::Impl {

/// Which systems windows are tried for, and which they do not solve.
struct WindowLists {
  std::int32_t* is_tried;  // [system]
  Refusals refused;

  /// In storage, words_for(systems) of whose words they take.
  template <class T>
  static WindowLists at(T* storage, std::int64_t systems, Wanted* listed) {
    auto* const words = reinterpret_cast<std::int32_t*>(storage);
    return {words, {{listed, words + systems}, words + 2 * systems}};
  }
  template <class T>
  static constexpr std::int64_t words_for(std::int64_t systems) {
    return systems * ((3 * sizeof(std::int32_t) + sizeof(T) - 1) / sizeof(T));
  }

  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t system, bool is_likely) const {
    is_tried[system] = is_likely;
    refused.is_refused[system] = !is_likely;
  }
};

/// Puts systems into these lists: by a look at some rows of each, a lane a row.
template <class T>
struct LookAtEach {
  static constexpr int rows = 32, side_by_side = 4;  // as many as a sector of memory has
  static constexpr int systems = 4;                  // of a team

  Problem<T> problem;
  WindowLists lists;
  bool looks;             // or all are tried
  double most_passed_on;  // by all rows that are looked at

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t system = std::int64_t(member.league_rank()) * systems + member.team_rank();
    if (system >= problem.count()) return;
    double passed_on = 1;
    if (looks) {
      const Bands<T> A = problem.A[system];
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, rows),
          [&](int k, double& all) {
            const std::int64_t place = sample_of(A.n, rows / side_by_side, k / side_by_side);
            all *= passes_on(A, place / side_by_side * side_by_side + k % side_by_side);
          },
          Kokkos::Prod<double>(passed_on));
    }
    Kokkos::single(Kokkos::PerThread(member),
                   [&] { lists.put(system, !looks || passed_on <= most_passed_on); });
  }
};
/// Of one system.
struct PutFirst {
  WindowLists lists;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(bool is_likely) const {
    lists.refused.list.wanted->set(false);
    lists.put(0, is_likely);
  }
};

/// The first pass of one system behind windows, where they are not tried, which has been known
/// since before they began, or do not solve it, which is when they have ended.
template <class Reduce>
struct ReduceBehindWindows {
  Reduce reduce;
  const std::int32_t *is_tried, *is_refused;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const volatile std::int32_t &tried = *is_tried,
                                &refused = *is_refused;  // see `KernelIfDecided`
    if (tried != 0) {
      wait_for_kernels_before();
      if (refused == 0) return;
    }
    reduce(member);
  }
};
struct BehindWindows {
  static constexpr bool overlaps = true, waits_first = false;
  const std::int32_t *is_tried, *is_refused;

  template <class Reduce>
  ReduceBehindWindows<Reduce> teams(const Reduce& reduce, int) const {
    return {reduce, is_tried, is_refused};
  }
  int league(int teams) const { return teams; }
};

/// `samples`: so many rows of a system by itself are looked at, some of each of many, and those
/// whose rows do not look as if windows would do are not tried; 0: all are. `second`: the same
/// systems for `passes`, which solves those that windows do not; its storage begins with the lists.
/// `in_turn`: windows of one system and its first pass by two kernels, not by one for either.
template <class T, class Exec, class Passes>
void solve_each_in_windows(const Exec& exec, const DeviceWindows<T>& windows, std::int64_t samples,
                           const Passes& passes, const Problem<T>& problem, Problem<T> second,
                           Wanted* listed, bool in_turn) {
  const std::int64_t systems = problem.count();
  const auto lists = WindowLists::at(second.storage, systems, listed);
  const Refusals& refused = lists.refused;
  second.storage += WindowLists::words_for<T>(systems);
  second.resets = false;
  if (systems == 1) {
    LookFirst<T, PutFirst>{problem, samples, {lists}}.launch(exec);
  } else {
    launch_one(exec, "Trikkos::truncated::reset",
               ResetWanted{problem.diagnosis, problem.resets, listed});
    using Look = LookAtEach<T>;
    const double part = double(Look::rows) / static_cast<double>(windows.group());
    const auto teams = static_cast<int>((systems + Look::systems - 1) / Look::systems);
    Kokkos::parallel_for(
        "Trikkos::truncated::look",
        light(Kokkos::TeamPolicy<Exec>(exec, teams, Look::systems, Look::rows)),
        Look{problem, lists, samples > 0, std::pow(largest_disagreement<T>, part)});
  }
  const OnlyListed of_listed{refused.list, refused.is_refused, systems};
  if (samples == 0) {
    windows.launch(exec, problem, refused);
    return passes.solve(exec, second, of_listed);
  }
  const OnlyDecided of_refused{refused.is_refused, systems};
  if (systems == 1 && in_turn) {
    windows.launch(exec, problem, refused, lists.is_tried);
    passes.reduce(exec, second, BehindWindows{lists.is_tried, refused.is_refused});
    passes.solve_reduced(exec, second, of_refused);
    return passes.substitute(exec, second, of_refused);
  }
  windows.launch_or_reduce(exec, problem, lists.is_tried, refused, passes, second);
  if (systems == 1 && passes.can_reduce_and_solve_reduced()) {
    // one kernel: another that finds nothing to do would take 5 us
    passes.reduce_and_solve_reduced(exec, second, lists.is_tried, refused.is_refused, of_refused);
  } else {
    passes.reduce(exec, second, of_listed);
    passes.solve_reduced(exec, second, of_refused);
  }
  passes.substitute(exec, second, of_refused);
}

}  // namespace Trikkos::Impl

#endif
