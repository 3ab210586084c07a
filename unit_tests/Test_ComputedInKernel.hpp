// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ComputedMatrices.hpp>
#include <InKernels.hpp>
#include <Message.hpp>

/// \file
/// Matrices whose coefficients are computed, in kernels and in Plans. The judge is the same
/// matrices, stored: every bit of x must be the same, and what is said of it.

namespace Test::ComputedInKernel {

using ComputedMatrices::Coefficients;
using ComputedMatrices::stored;
using Many::numbers;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Options;

/// One matrix, of a function of the row alone.
template <class T, int W>
struct OfRow {
  Coefficients<T, W> f;

  KOKKOS_FUNCTION Kokkos::Array<T, 2 * W + 1> operator()(std::int64_t row) const {
    return f(0, row);
  }
};

/// The same matrices, stored, with b and x.
template <class T, int W>
Systems<T, W> stored_systems(const Coefficients<T, W>& f, int count) {
  const auto A = stored(f, Many::Layout::left, count);
  const Rows<T> b = Many::right_hand_sides<T>(Many::Layout::right, count, f.n),
                x = Many::make_array<T>(Many::Layout::right, count, f.n);
  if constexpr (W == 1)
    return {A.lower, A.diag, A.upper, b, x, f.boundary};
  else
    return {A.lower2, A.lower, A.diag, A.upper, A.upper2, b, x, f.boundary};
}

template <class T, int W>
struct Computed {
  Trikkos::Computed<Coefficients<T, W>> A;
  Systems<T, W> systems;  // of which b and x are used
  Options options;
  Infos info;

  KOKKOS_FUNCTION auto row(const Rows<T>& of, int k) const { return systems.row(of, k); }
};

/// Twice: the scratch is free again after a solve.
template <class T, int W>
struct ByTeam : Computed<T, W> {
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int k = member.league_rank();
    int result = 0;
    for (int repeat = 0; repeat < 2; ++repeat)
      result = Trikkos::solve(member, this->A[k], this->row(this->systems.b, k),
                              this->row(this->systems.x, k), this->options);
    Kokkos::atomic_max(&this->info(k), result);
  }
};
using Memory = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;
template <class T, int W>
struct ByThread : Computed<T, W> {
  Memory memory;

  KOKKOS_FUNCTION void operator()(int k) const {
    this->info(k) = Trikkos::solve(Trikkos::this_thread, this->A[k], this->row(this->systems.b, k),
                                   this->row(this->systems.x, k),
                                   Kokkos::subview(memory, k, Kokkos::ALL), this->options);
  }
};
template <class T, int W>
struct WithFactors : Computed<T, W> {
  Memory memory;

  KOKKOS_FUNCTION void operator()(int k) const {
    const Trikkos::KernelFactors<T, W> F(Kokkos::subview(memory, k, Kokkos::ALL), this->A.n,
                                         this->options, this->A.boundary);
    static_cast<void>(Trikkos::factor(Trikkos::this_thread, this->A[k], F));
    this->info(k) = Trikkos::solve(Trikkos::this_thread, F, this->row(this->systems.b, k),
                                   this->row(this->systems.x, k));
  }
};
template <class T>
struct WithoutMemory : Computed<T, 1> {
  KOKKOS_FUNCTION void operator()(int k) const {
    this->info(k) = Trikkos::solve(Trikkos::this_thread, this->A[k], this->row(this->systems.b, k),
                                   this->row(this->systems.x, k));
  }
};

constexpr int count = 9;

/// What the stored ones gave must be there again.
template <class T, int W>
struct Comparison {
  Coefficients<T, W> f;
  Options options;
  Systems<T, W> systems = stored_systems(f, count);
  Computed<T, W> computed{{f.n, f, f.boundary}, systems, options, Infos("info", count)};

  template <class Run>
  void expect_same(const std::vector<int>& expected, const Run& run) const {
    const auto expected_x = numbers(systems.x);
    ::Test::fill(systems.x, T(7));
    run();
    EXPECT_EQ(Reference::to_host(computed.info), expected);
    const auto x = numbers(systems.x);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (expected[i / f.n] == 0) {
        ASSERT_EQ(x[i], expected_x[i]) << i;
      }
  }
  void by_teams() const {
    expect_same(solve_by_teams(systems, count, options), [&] {
      using Policy = Kokkos::TeamPolicy<TEST_EXECSPACE>;
      const auto bytes = Trikkos::team_scratch_bytes(computed.A[0], options);
      Policy policy(TEST_EXECSPACE(), count, Kokkos::AUTO);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)));
      Kokkos::parallel_for("teams", policy, ByTeam<T, W>{computed});
    });
  }
  template <class Functor>
  void run(const Functor& functor) const {
    Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(0, count), functor);
  }
  void by_threads() const {
    expect_same(solve_by_threads_in_memory(systems, count, options), [&] {
      const auto bytes = Trikkos::thread_memory_bytes(computed.A[0], options);
      run(ByThread<T, W>{computed, memory_of_threads(count, bytes)});
    });
  }
  void with_factors() const {
    expect_same(solve_by_threads_with_factors(systems, count, options), [&] {
      const auto bytes = Trikkos::factor_memory_bytes<T, W>(f.n, options, f.boundary);
      run(WithFactors<T, W>{computed, memory_of_threads(count, bytes)});
    });
  }
  void without_memory() const {
    if constexpr (W == 1)
      expect_same(solve_by_threads(systems, count), [&] { run(WithoutMemory<T>{computed}); });
  }
};

/// compare(comparison) for sizes, boundaries and options.
template <class T, int W, class Compare>
void for_all(const std::vector<Options>& all_options, double shift, const Compare& compare) {
  for (const std::int64_t n : {1, 2, 3, 5, 40, 150})
    for (const Boundary boundary : Many::boundaries)
      for (const Options& options : all_options) {
        SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, n " + std::to_string(n) + ", " +
                     name(boundary) + ", " + describe(options));
        compare(Comparison<T, W>{{n, boundary, shift}, options});
        compare(Comparison<T, W>{{n, boundary, shift, 3}, options});
      }
}

TEST(TEST_CATEGORY, computed_by_teams) {
  const auto teams = [](const auto& c) { c.by_teams(); };
  const std::vector<Options> both = {{}, Options{}.transpose(Trikkos::Transpose::transpose)};
  for_all<double, 1>(both, 0, teams);
  for_all<double, 2>(both, 0, teams);
  for_all<double, 1>({Options{}.algorithm(Algorithm::thomas), Options{}.algorithm(Algorithm::pcr),
                      Options{}.algorithm(Algorithm::spike)},
                     3, teams);
}
TEST(TEST_CATEGORY, computed_by_threads) {
  const auto threads = [](const auto& c) { c.by_threads(); };
  for_all<double, 1>({{}, Options{}.algorithm(Algorithm::spike)}, 0, threads);
  for_all<double, 2>({{}, Options{}.scaling(Trikkos::Scaling::none)}, 0, threads);
  for_all<double, 1>({{}}, 3, [](const auto& c) { c.without_memory(); });
}
TEST(TEST_CATEGORY, computed_with_factors_in_kernels) {
  const auto factors = [](const auto& c) { c.with_factors(); };
  const Options thomas = Options{}.algorithm(Algorithm::thomas);
  const std::vector<Options> all = {
      {}, thomas, Options(thomas).thomas({Trikkos::Corners::sherman_morrison})};
  for_all<double, 1>(all, 4, factors);
  for_all<double, 2>(all, 6, factors);
}

/// One matrix in a Plan, from its function and stored.
template <class T, int W>
void expect_same_plan(std::int64_t n, Boundary boundary, const Options& options) {
  SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, n " + std::to_string(n) + ", " +
               name(boundary) + ", " + describe(options));
  const TEST_EXECSPACE exec;
  const auto b = Many::right_hand_sides<T>(Many::Layout::left, count, n),
             x = Many::make_array<T>(Many::Layout::right, count, n);
  const auto solved = [&](const auto& plan) {
    ::Test::fill(x, T(7));
    Trikkos::solve(exec, plan, b, x);
    EXPECT_TRUE(plan.status(exec).ok()) << plan.status(exec).why();
    return numbers(x);
  };
  const Coefficients<T, W> f{n, boundary, 6}, g{n, boundary, 7};
  const auto matrix = [&](const auto& of) { return stored_systems(of, 1).matrix(0); };
  const Trikkos::Computed A{n, OfRow<T, W>{f}, boundary}, B{n, OfRow<T, W>{g}, boundary};
  const Trikkos::Plan expected(exec, matrix(f), options, count), plan(exec, A, options, count);
  EXPECT_EQ(plan.matrices(), 1);
  EXPECT_EQ(plan.algorithm(), expected.algorithm());
  EXPECT_EQ(plan.bytes(), expected.bytes());
  EXPECT_EQ(solved(plan), solved(expected));
  plan.update(exec, B);
  expected.update(exec, matrix(g));
  EXPECT_EQ(solved(plan), solved(expected));

  if (options.algorithm() != Algorithm::automatic) return;
  // a matrix for each
  const auto own = stored(f, Many::Layout::right, count);
  const Trikkos::Plan of_many(exec, Trikkos::Computed{n, f, boundary}, options, count),
      stored_many(exec, own, options);
  EXPECT_EQ(of_many.matrices(), count);
  EXPECT_EQ(solved(of_many), solved(stored_many));
}
TEST(TEST_CATEGORY, computed_in_a_plan) {
  for (const std::int64_t n : {1, 2, 4, 66, 1000})
    for (const Boundary boundary : Many::boundaries) {
      expect_same_plan<double, 1>(n, boundary, {});
      expect_same_plan<double, 2>(n, boundary, {});
      expect_same_plan<double, 1>(n, boundary, Options{}.algorithm(Algorithm::thomas));
      expect_same_plan<double, 2>(n, boundary, Options{}.algorithm(Algorithm::segmented));
      expect_same_plan<double, 1>(n, boundary,
                                  Options{}.transpose(Trikkos::Transpose::transpose).refine(1));
    }
}

TEST(TEST_CATEGORY, computed_of_a_row_is_one_matrix_for_all) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {3, 150, 3000}) {
    const auto b = Many::right_hand_sides<double>(Many::Layout::left, count, n),
               x = Many::make_array<double>(Many::Layout::right, count, n);
    const Coefficients<double, 1> f{n, Boundary::open, 3};
    const Trikkos::Computed A{n, OfRow<double, 1>{f}};
    const Trikkos::Workspace work(exec, A, b);
    Trikkos::solve(exec, work, A, b, x);
    EXPECT_TRUE(work.status(exec).ok());
    const auto result = numbers(x);
    ::Test::fill(x, 7.);
    Trikkos::solve(exec, work, stored_systems(f, 1).matrix(0), b, x);
    EXPECT_EQ(result, numbers(x));
  }
}

TEST(TEST_CATEGORY, computed_plan_errors) {
  const TEST_EXECSPACE exec;
  const auto A = [](std::int64_t n, Boundary boundary = Boundary::open) {
    return Trikkos::Computed{n, OfRow<double, 1>{{n, boundary, 3}}, boundary};
  };
  EXPECT_EQ(message([&] { Trikkos::Plan(exec, A(-1)); }),
            "Trikkos::Plan: n is -1, expected 0 or more");
  const Trikkos::Plan plan(exec, A(5));
  EXPECT_EQ(message([&] { plan.update(exec, A(6)); }),
            "Trikkos::Plan::update: A has 6 rows, expected 5 (the plan's A)");
  EXPECT_EQ(message([&] { plan.update(exec, A(5, Boundary::periodic)); }),
            "Trikkos::Plan::update: A is periodic, expected open (the plan's A)");
  const Trikkos::Computed own{5, Coefficients<double, 1>{5, Boundary::open, 3}};
  EXPECT_EQ(message([&] { Trikkos::Plan(exec, own, Options{}.algorithm(Algorithm::factored), 3); }),
            "Trikkos::Plan: A has 3 systems, expected one (algorithm factored)");
}

TEST(TEST_CATEGORY, computed_in_kernels_aborts_on_misuse) {
  const Coefficients<double, 1> f{10, Boundary::open, 3};
  const Trikkos::Computed A{10, OfRow<double, 1>{f}};
  std::vector<double> x(10, 1.), memory(Trikkos::thread_memory_bytes(A) / 8 + 1);
  using View = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  const View on_host(x.data(), x.size());
  EXPECT_EQ(
      Trikkos::solve(Trikkos::this_thread, A, on_host, on_host, View(memory.data(), memory.size())),
      0);
  EXPECT_DEATH(static_cast<void>(Trikkos::solve(Trikkos::this_thread, A, on_host, on_host,
                                                View(memory.data(), memory.size() - 2))),
               "memory is too small, expected Trikkos::thread_memory_bytes");
  const Trikkos::KernelFactors<double> F(
      View(memory.data(), memory.size()), 5,
      Options{}.transpose(Trikkos::Transpose::transpose).algorithm(Algorithm::thomas));
  EXPECT_DEATH(static_cast<void>(Trikkos::factor(Trikkos::this_thread,
                                                 Trikkos::Computed{5, OfRow<double, 1>{f}}, F)),
               "transpose is given, expected none");
}

}  // namespace Test::ComputedInKernel
