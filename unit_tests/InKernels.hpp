// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_INKERNELS_HPP
#define TRIKKOS_TEST_INKERNELS_HPP

#include <Reference.hpp>
#include <Trikkos_KernelFactors.hpp>
#include <Trikkos_Pentadiagonal.hpp>
#include <Trikkos_Solve.hpp>

/// \file
/// Many systems, each solved inside a kernel by a team or by a thread.

namespace Test {

/// Rank 2 (system, row), of any layout.
template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutStride, TEST_EXECSPACE>;

/// Of W diagonals on either side.
template <class T, int W = 1>
struct Systems {
  Rows<T> lower, diag, upper, b, x;
  Trikkos::Boundary boundary = Trikkos::Boundary::open;

  KOKKOS_FUNCTION static auto row(const Rows<T>& of, int k) {
    return Kokkos::subview(of, k, Kokkos::ALL);
  }
  KOKKOS_FUNCTION auto matrix(int k) const {
    return Trikkos::Tridiagonal{row(lower, k), row(diag, k), row(upper, k), boundary};
  }
};
template <class T>
struct Systems<T, 2> {
  Rows<T> lower2, lower, diag, upper, upper2, b, x;
  Trikkos::Boundary boundary = Trikkos::Boundary::open;

  KOKKOS_FUNCTION static auto row(const Rows<T>& of, int k) {
    return Kokkos::subview(of, k, Kokkos::ALL);
  }
  KOKKOS_FUNCTION auto matrix(int k) const {
    return Trikkos::Pentadiagonal{row(lower2, k), row(lower, k),  row(diag, k),
                                  row(upper, k),  row(upper2, k), boundary};
  }
};

using Infos = Kokkos::View<int*, TEST_EXECSPACE>;

/// Twice, if wanted: the scratch is free again after a solve. Every thread must learn the same.
template <class T, int W>
struct SolveByTeam {
  Systems<T, W> systems;
  Trikkos::Options options;
  bool twice;
  Infos info;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int k = member.league_rank();
    int result = 0;
    for (int repeat = 0; repeat <= twice; ++repeat) {
      const int before = result;
      result = Trikkos::solve(member, systems.matrix(k), systems.row(systems.b, k),
                              systems.row(systems.x, k), options);
      if (repeat && result != before) Kokkos::atomic_max(&info(k), 1 << 20);
    }
    Kokkos::atomic_max(&info(k), result);
    member.team_barrier();
    if (result != Kokkos::atomic_load(&info(k))) Kokkos::atomic_max(&info(k), 1 << 20);
  }
};

template <class T>
struct SolveByThread {
  Systems<T> systems;
  Infos info;

  KOKKOS_FUNCTION void operator()(int k) const {
    info(k) = Trikkos::solve(Trikkos::this_thread, systems.matrix(k), systems.row(systems.b, k),
                             systems.row(systems.x, k));
  }
};

template <class T, int W>
struct SolveByThreadInMemory {
  Systems<T, W> systems;
  Trikkos::Options options;
  Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory;
  Infos info;

  KOKKOS_FUNCTION void operator()(int k) const {
    info(k) =
        Trikkos::solve(Trikkos::this_thread, systems.matrix(k), systems.row(systems.b, k),
                       systems.row(systems.x, k), Kokkos::subview(memory, k, Kokkos::ALL), options);
  }
};

/// With factors that it makes before.
template <class T, int W>
struct SolveByThreadWithFactors {
  Systems<T, W> systems;
  Trikkos::Options options;
  Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory;
  Infos info;

  KOKKOS_FUNCTION void operator()(int k) const {
    const Trikkos::KernelFactors<T, W> F(Kokkos::subview(memory, k, Kokkos::ALL),
                                         static_cast<std::int64_t>(systems.diag.extent(1)), options,
                                         systems.boundary);
    const int factored = Trikkos::factor(Trikkos::this_thread, systems.matrix(k), F);
    const int solved = Trikkos::solve(Trikkos::this_thread, F, systems.row(systems.b, k),
                                      systems.row(systems.x, k));
    info(k) = factored != 0 && factored != solved ? 1 << 20 : solved;
  }
};

/// The first `count` systems. \param team_size  0: what Kokkos chooses
template <class T, int W>
std::vector<int> solve_by_teams(const Systems<T, W>& systems, int count,
                                const Trikkos::Options& options, int team_size = 0,
                                bool twice = false) {
  const TEST_EXECSPACE exec;
  const Infos info("info", count);
  const auto bytes = static_cast<int>(Trikkos::team_scratch_bytes<T, W>(
      static_cast<std::int64_t>(systems.diag.extent(1)), options, systems.boundary));
  using Policy = Kokkos::TeamPolicy<TEST_EXECSPACE>;
  Policy policy =
      team_size > 0 ? Policy(exec, count, team_size) : Policy(exec, count, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(bytes));
  Kokkos::parallel_for("teams", policy, SolveByTeam<T, W>{systems, options, twice, info});
  return Reference::to_host(info);
}

template <class T>
std::vector<int> solve_by_threads(const Systems<T>& systems, int count) {
  const Infos info("info", count);
  Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(0, count),
                       SolveByThread<T>{systems, info});
  return Reference::to_host(info);
}

/// So many bytes for each of so many threads.
inline Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory_of_threads(
    int count, std::size_t bytes) {
  return Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>(
      "memory", count, (bytes + sizeof(double) - 1) / sizeof(double));
}

template <class T, int W>
std::vector<int> solve_by_threads_in_memory(const Systems<T, W>& systems, int count,
                                            const Trikkos::Options& options) {
  const auto memory = memory_of_threads(
      count, Trikkos::thread_memory_bytes<T, W>(static_cast<std::int64_t>(systems.diag.extent(1)),
                                                options, systems.boundary));
  const Infos info("info", count);
  Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(0, count),
                       SolveByThreadInMemory<T, W>{systems, options, memory, info});
  return Reference::to_host(info);
}

template <class T, int W>
std::vector<int> solve_by_threads_with_factors(const Systems<T, W>& systems, int count,
                                               const Trikkos::Options& options) {
  const auto memory = memory_of_threads(
      count, Trikkos::factor_memory_bytes<T, W>(static_cast<std::int64_t>(systems.diag.extent(1)),
                                                options, systems.boundary));
  const Infos info("info", count);
  Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(0, count),
                       SolveByThreadWithFactors<T, W>{systems, options, memory, info});
  return Reference::to_host(info);
}

}  // namespace Test

#endif
