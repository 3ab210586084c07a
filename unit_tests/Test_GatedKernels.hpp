// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <DeviceKernels.hpp>

/// \file
/// Kernels that wait for a word in device memory, or for a list of systems (Trikkos_Gate.hpp).

namespace Test::DeviceKernels {

struct SetWanted {
  Impl::Wanted* wanted;
  bool to;
  KOKKOS_INLINE_FUNCTION void operator()(int) const { wanted->set(to); }
};
/// How often each work has been done.
struct CountWork {
  int* done;
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    Kokkos::atomic_inc(done + member.league_rank());
  }
};
// By fewer teams than there are works, as many, and one; one kernel behind the other.
TEST(TEST_CATEGORY, device_kernels_that_are_wanted_do_each_work_once) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr int size = 32;
  for (const bool is_wanted : {true, false}) {
    for (const int teams : {1, 7, 1000}) {
      const Kokkos::View<Impl::Wanted*, Exec> wanted("wanted", 1);
      Kokkos::parallel_for("Test::set", Kokkos::RangePolicy<Exec>(0, 1),
                           SetWanted{wanted.data(), is_wanted});
      const Impl::OnlyIf gate{wanted.data(), teams};
      for (const int league : {1, 6, 7, 8, 500}) {
        const Kokkos::View<int*, Exec> done("done", league);
        const CountWork kernel{done.data()};
        for (int k = 0; k < 2; ++k)
          Kokkos::parallel_for("Test::count",
                               Kokkos::TeamPolicy<Exec>(Exec(), gate.league(league), size),
                               gate.teams(kernel, league));
        EXPECT_EQ(to_vector(done), std::vector(league, is_wanted ? 2 * size : 0));
      }
    }
  }
}
/// Every third system, from the last to the first.
struct ListSystems {
  Impl::SystemList list;
  std::int32_t* is_listed;
  int systems;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    list.wanted->set(false);
    for (int k = systems - 1; k >= 0; --k) {
      is_listed[k] = k % 3 == 1;
      if (is_listed[k]) list.append(k);
    }
  }
};
struct CountOne {
  int* done;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t work) const {
    Kokkos::atomic_inc(done + work);
  }
};
// Works of listed systems, by teams that take them, by a league of all, and by threads.
TEST(TEST_CATEGORY, device_kernels_that_are_listed_do_each_work_once) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr int size = 32;
  for (const int systems : {1, 2, 5, 40})
    for (const int each : {1, 5})
      for (const int teams : {1, 7, 1000}) {
        const int works = systems * each;
        const Kokkos::View<Impl::Wanted*, Exec> wanted("wanted", 1);
        const Kokkos::View<std::int32_t*, Exec> list("list", systems), listed("listed", systems);
        const Impl::SystemList wanted_systems{wanted.data(), list.data()};
        Kokkos::parallel_for("Test::list", Kokkos::RangePolicy<Exec>(0, 1),
                             ListSystems{wanted_systems, listed.data(), systems});
        const Impl::OnlyListed gate{wanted_systems, listed.data(), systems, teams};
        const Kokkos::View<int*, Exec> done("done", works);
        const CountWork by_team{done.data()};
        for (int k = 0; k < 2; ++k)
          Kokkos::parallel_for("Test::count",
                               Kokkos::TeamPolicy<Exec>(Exec(), gate.league(works), size),
                               gate.teams(by_team, works));
        Kokkos::parallel_for("Test::count", Kokkos::TeamPolicy<Exec>(Exec(), works, size),
                             gate(by_team, works));
        using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
        Kokkos::parallel_for("Test::count", Range(0, works), gate(CountOne{done.data()}, works));
        const auto found = to_vector(done);
        for (int i = 0; i < works; ++i)
          EXPECT_EQ(found[i], i / each % 3 == 1 ? 3 * size + 1 : 0) << i;
      }
}

}  // namespace Test::DeviceKernels
