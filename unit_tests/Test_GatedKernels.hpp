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
        for (int k = 0; k < 2; ++k)
          Impl::launch_teams<size>(Exec(), "Test::count",
                                   {gate.league(league), size, 0, /*overlap=*/true},
                                   gate.teams(kernel, league));
        EXPECT_EQ(to_vector(done), std::vector(league, is_wanted ? 4 * size : 0));
      }
    }
  }
}
/// Every third system, from the last to the first.
struct ListSystems {
  Impl::SystemList list;
  Impl::SystemSet listed;
  int systems;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    list.wanted->set(false);
    for (int k = systems - 1; k >= 0; --k)
      if (k % 3 == 1) {
        listed.insert(k);
        list.append(k);
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
        const Kokkos::View<std::int32_t*, Exec> list("list", systems), bits("bits", systems);
        const Impl::SystemSet listed{bits.data()};
        const Impl::SystemList wanted_systems{wanted.data(), list.data()};
        Kokkos::parallel_for("Test::list", Kokkos::RangePolicy<Exec>(0, 1),
                             ListSystems{wanted_systems, listed, systems});
        const Impl::OnlyListed gate{wanted_systems, listed, systems, teams};
        const Kokkos::View<int*, Exec> done("done", works);
        const CountWork by_team{done.data()};
        for (int k = 0; k < 2; ++k)
          Kokkos::parallel_for("Test::count",
                               Kokkos::TeamPolicy<Exec>(Exec(), gate.league(works), size),
                               gate.teams(by_team, works));
        Kokkos::parallel_for("Test::count", Kokkos::TeamPolicy<Exec>(Exec(), works, size),
                             gate(by_team, works));
        const Impl::OnlyDecided decided{listed, systems};
        Impl::launch_teams<size>(Exec(), "Test::count", {works, size, 0, /*overlap=*/true}, by_team,
                                 decided);
        Kokkos::parallel_for("Test::count", Kokkos::TeamPolicy<Exec>(Exec(), works, size),
                             decided(by_team, works));
        using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
        Kokkos::parallel_for("Test::count", Range(0, works), gate(CountOne{done.data()}, works));
        const auto found = to_vector(done);
        for (int i = 0; i < works; ++i)
          EXPECT_EQ(found[i], i / each % 3 == 1 ? 5 * size + 1 : 0) << i;
      }
}

/// Each team takes what its neighbour had, and one more. The last one takes its time.
struct PassOn {
  const int* before;
  int* after;
  unsigned none;  // 0, which compilers do not know
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    Impl::let_next_begin();
    Impl::wait_for_kernels_before();
    const int size = member.team_size(), all = member.league_size() * size;
    const int at = member.league_rank() * size + member.team_rank();
    const int passed_on = before[(at + size + 1) % all] + 1;
    unsigned wasted = passed_on;
    if (member.league_rank() == member.league_size() - 1)
      for (int k = 0; k < 100000; ++k) wasted = 1664525 * wasted + 1013904223;
    after[at] = passed_on + static_cast<int>(wasted & none);
  }
};
// More teams than a device runs at a time, and few: all kernels are under way at once then.
TEST(TEST_CATEGORY, device_kernels_that_overlap_see_what_was_written_before) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr int size = 32, kernels = 20;
  const int many = Impl::is_host_v<Exec> ? 200 : 20000;
  for (const int teams : {1, 50, many}) {
    const Kokkos::View<int*, Exec> even("even", teams * size), odd("odd", teams * size);
    for (int k = 0; k < kernels; ++k) {
      const PassOn kernel =
          k % 2 == 0 ? PassOn{even.data(), odd.data(), 0} : PassOn{odd.data(), even.data(), 0};
      Impl::launch_teams<size>(Exec(), "Test::pass_on", {teams, size, 0, /*overlap=*/k > 0},
                               kernel);
    }
    EXPECT_EQ(to_vector(even), std::vector(teams * size, kernels));
  }
}
/// The words of scratch that are not what was stored there.
struct FillScratch {
  int words;
  int* wrong;
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    int* const scratch = Impl::team_scratch<int>(member);
    for (int k = member.team_rank(); k < words; k += member.team_size())
      scratch[k] = k + member.league_rank();
    member.team_barrier();
    for (int k = member.team_rank(); k < words; k += member.team_size()) {
      const int other = words - 1 - k;
      if (scratch[other] != other + member.league_rank()) Kokkos::atomic_inc(wrong);
    }
  }
};
TEST(TEST_CATEGORY, device_kernels_have_the_scratch_that_is_granted) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr int size = 32;
  // what every device has, and what Kokkos grants on a host, which may be less
  const int granted = Impl::is_host_v<Exec> ? Kokkos::TeamPolicy<Exec>::scratch_size_max(0)
                                            : Impl::scratch_of_teams<Exec>();
  const int bytes = granted - Impl::scratch_reserved(size);
  const Kokkos::View<int*, Exec> wrong("wrong", 1);
  const FillScratch kernel{(bytes - 4) / 4, wrong.data()};
  Impl::launch_teams<size>(Exec(), "Test::fill", {300, size, static_cast<std::size_t>(bytes)},
                           kernel);
  EXPECT_EQ(to_vector(wrong), std::vector(1, 0));
}
#ifdef KOKKOS_ENABLE_CUDA
TEST(TEST_CATEGORY, device_kernels_that_cannot_be_launched_say_so) {
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    const Kokkos::View<int*, Exec> wrong("wrong", 1);
    const FillScratch kernel{1, wrong.data()};
    try {
      Impl::launch_teams<32>(Exec(), "Test::fill", {1, 32, 1 << 20}, kernel);
      FAIL() << "no device has so much scratch";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("Test::fill by 1 teams of 32 threads with 1048576"),
                std::string::npos)
          << error.what();
    }
    Impl::launch_teams<32>(Exec(), "Test::fill", {1, 32, 1024}, kernel);  // as if nothing had been
    EXPECT_EQ(to_vector(wrong), std::vector(1, 0));
  } else {
    GTEST_SKIP() << "others are launched by Kokkos";
  }
}
#endif

}  // namespace Test::DeviceKernels
