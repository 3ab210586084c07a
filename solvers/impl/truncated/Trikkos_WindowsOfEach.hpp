// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WINDOWSOFEACH_HPP
#define TRIKKOS_IMPL_WINDOWSOFEACH_HPP

#include <cmath>
#include <impl/truncated/Trikkos_DeviceWindows.hpp>
#include <impl/truncated/Trikkos_LookFirst.hpp>

/// \file
/// `truncated` for many systems on a device, one behind the other. Each is judged by itself, so
/// that what becomes of it does not depend on its neighbours.

namespace Trikkos::Impl {

/// The systems that windows are tried for, and those that they do not solve.
struct WindowLists {
  SystemList tried;
  Refusals refused;

  /// In storage, words_for(systems) of whose words they take.
  template <class T>
  static WindowLists at(T* storage, std::int64_t systems, Wanted* tried, Wanted* refused) {
    auto* const words = reinterpret_cast<std::int32_t*>(storage);
    return {{tried, words}, {{refused, words + systems}, words + 2 * systems}};
  }
  template <class T>
  static constexpr std::int64_t words_for(std::int64_t systems) {
    return systems * ((3 * sizeof(std::int32_t) + sizeof(T) - 1) / sizeof(T));
  }
};

struct ResetWindowLists {
  WindowLists lists;
  Diagnosis diagnosis;
  bool resets;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    lists.tried.wanted->set(false);
    lists.refused.list.wanted->set(false);
    if (resets) diagnosis.reset();
  }
};

/// Puts systems into these lists: by a look at some rows of each, a lane a row, or, where all are
/// to be tried, into none.
template <class T>
struct LookAtEach {
  static constexpr int rows = 32, side_by_side = 4;  // as many as a sector of memory has
  static constexpr int systems = 4;                  // of a team

  Problem<T> problem;
  WindowLists lists;
  bool looks;
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
    Kokkos::single(Kokkos::PerThread(member), [&] {
      const bool is_likely = !looks || passed_on <= most_passed_on;
      lists.refused.is_refused[system] = !is_likely;
      if (looks) (is_likely ? lists.tried : lists.refused.list).append(system);
    });
  }
};

/// `looks`: systems whose rows do not look as if windows would do are not tried. `second`: the same
/// systems for `passes`, which solves those that windows do not; its storage begins with the lists.
template <class T, class Exec, class Passes>
void solve_each_in_windows(const Exec& exec, const DeviceWindows<T>& windows, bool looks,
                           const Passes& passes, const Problem<T>& problem, Problem<T> second,
                           Wanted* tried, Wanted* any_refused) {
  const std::int64_t systems = problem.count();
  const auto lists = WindowLists::at(second.storage, systems, tried, any_refused);
  second.storage += WindowLists::words_for<T>(systems);
  second.resets = false;
  launch_one(exec, "Trikkos::truncated::reset",
             ResetWindowLists{lists, problem.diagnosis, problem.resets});
  using Look = LookAtEach<T>;
  const double part = double(Look::rows) / static_cast<double>(windows.group());
  const auto teams = static_cast<int>((systems + Look::systems - 1) / Look::systems);
  Kokkos::parallel_for("Trikkos::truncated::look",
                       light(Kokkos::TeamPolicy<Exec>(exec, teams, Look::systems, Look::rows)),
                       Look{problem, lists, looks, std::pow(largest_disagreement<T>, part)});
  const auto gate = [&](const SystemList& list, int most) {
    return OnlyListed{list, lists.refused.is_refused, systems, most};
  };
  if (looks)
    windows.launch(exec, problem, gate(lists.tried, OnlyIf::most_small_teams), lists.refused,
                   nullptr, nullptr);
  else  // a gate costs something
    windows.launch(exec, problem, Overlapping{}, lists.refused, nullptr, nullptr);
  passes.solve(exec, second, gate(lists.refused.list, OnlyIf::most_teams));
}

}  // namespace Trikkos::Impl

#endif
