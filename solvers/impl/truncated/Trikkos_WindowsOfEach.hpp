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
  SystemSet tried;
  Refusals refused;

  /// In storage, words_for(systems) of whose words they take.
  template <class T>
  static WindowLists at(T* storage, std::int64_t systems, Wanted* listed) {
    auto* const words = reinterpret_cast<std::int32_t*>(storage);
    const std::int64_t in_set = SystemSet::words_for(systems);
    auto* const list = words + 2 * in_set;
    return {{words}, {{listed, list}, {words + in_set}, list + systems}};
  }
  template <class T>
  static constexpr std::int64_t words_for(std::int64_t systems) {
    const std::int64_t bytes = sizeof(std::int32_t) * 2 * (SystemSet::words_for(systems) + systems);
    return (bytes + std::int64_t(sizeof(T)) - 1) / std::int64_t(sizeof(T));
  }

  /// Of a word of the sets, which stands for so many systems, those that are `likely` are tried.
  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t word, std::int32_t likely, int systems) const {
    const auto all = static_cast<std::int32_t>(0xffffffffu >> (SystemSet::each - systems));
    tried.words[word] = likely;
    refused.all.words[word] = all & ~likely;
    for (int i = 0; i < systems; ++i) refused.is_refused[word * SystemSet::each + i] = 0;
  }
};

/// Of numbers, and of their squares.
struct Moments {
  double sum = 0, squares = 0;

  KOKKOS_FORCEINLINE_FUNCTION Moments& operator+=(const Moments& other) {
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

/// Puts systems into these lists: by a look at some rows of each, a lane a row.
template <class T>
struct LookAtEach {
  static constexpr int rows = 32, side_by_side = 4;  // as many as a sector of memory has
  static constexpr int at_once = 16;                 // systems, of as many as a word has

  Problem<T> problem;
  WindowLists lists;
  bool looks;             // or all are tried
  double most_passed_on;  // by all rows that are looked at: its logarithm

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t word = member.league_rank(), first = word * SystemSet::each;
    const std::int64_t left = problem.count() - first;
    const int systems = left < SystemSet::each ? static_cast<int>(left) : SystemSet::each;
    std::int32_t likely = 0;
    for (int i = member.team_rank(); i < systems; i += at_once)
      if (!looks || is_likely(member, first + i)) likely |= SystemSet::bit_of(i);
    member.team_reduce(Kokkos::BOr<std::int32_t>(likely));
    Kokkos::single(Kokkos::PerTeam(member), [&] { lists.put(word, likely, systems); });
  }

 private:
  /// What few rows of many say is uncertain, and windows cost half of what they may save: by two
  /// standard deviations it may be too much.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool is_likely(const Member& member, std::int64_t system) const {
    const Bands<T> A = problem.A[system];
    Moments of;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, rows),
        [&](int k, Moments& all) {
          const std::int64_t place = sample_of(A.n, rows / side_by_side, k / side_by_side);
          const double own =
              Kokkos::log(passes_on(A, place / side_by_side * side_by_side + k % side_by_side));
          all += {own, own * own};
        },
        of);
    const double variance = Kokkos::fmax(of.squares - of.sum * of.sum / rows, 0.);
    return of.sum - 2 * Kokkos::sqrt(variance) <= most_passed_on;
  }
};
/// Of one system.
struct PutFirst {
  WindowLists lists;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(bool is_likely) const {
    lists.refused.list.wanted->set(false);
    lists.put(0, is_likely, 1);
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
    const auto teams = static_cast<int>(SystemSet::words_for(systems));
    Kokkos::parallel_for(
        "Trikkos::truncated::look",
        light(Kokkos::TeamPolicy<Exec>(exec, teams, Look::at_once, Look::rows)),
        Look{problem, lists, samples > 0, part * std::log(largest_disagreement<T>)});
  }
  const OnlyListed of_listed{refused.list, refused.all, systems};
  if (samples == 0) {
    windows.launch(exec, problem, refused);
    return passes.solve(exec, second, of_listed);
  }
  const OnlyDecided of_refused{refused.all, systems};
  if (systems == 1 && in_turn) {
    windows.launch(exec, problem, refused, lists.tried.words);
    passes.reduce(exec, second, BehindWindows{lists.tried.words, refused.all.words});
    passes.solve_reduced(exec, second, of_refused);
    return passes.substitute(exec, second, of_refused);
  }
  windows.launch_or_reduce(exec, problem, lists.tried, refused, passes, second);
  if (systems == 1 && passes.can_reduce_and_solve_reduced()) {
    // one kernel: another that finds nothing to do would take 5 us
    passes.reduce_and_solve_reduced(exec, second, lists.tried.words, refused.all.words, of_refused);
  } else {
    passes.reduce(exec, second, of_listed);
    passes.solve_reduced(exec, second, of_refused);
  }
  passes.substitute(exec, second, of_refused);
}

}  // namespace Trikkos::Impl

#endif
