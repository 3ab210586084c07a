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

// Options that are made in the kernel leave out the algorithms that are not asked for.
struct Default {
  KOKKOS_FUNCTION static constexpr Options options() { return {}; }
};
struct Transposed {
  KOKKOS_FUNCTION static constexpr Options options() {
    return Options{}.transpose(Trikkos::Transpose::transpose).partition_size(7);
  }
};
struct Thomas {
  KOKKOS_FUNCTION static constexpr Options options() {
    return Options{}.algorithm(Algorithm::thomas);
  }
};
struct Corrected {
  KOKKOS_FUNCTION static constexpr Options options() {
    return Thomas::options().thomas({Trikkos::Corners::sherman_morrison});
  }
};

using Memory = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;

/// The systems of a kernel, whose matrices are computed or not.
template <class T, int W, bool computed>
struct Kernel {
  Trikkos::Computed<Coefficients<T, W>> A;
  Systems<T, W> systems;
  Infos info;
  Memory memory;

  KOKKOS_FUNCTION auto matrix(int k) const {
    if constexpr (computed)
      return A[k];
    else
      return systems.matrix(k);
  }
  KOKKOS_FUNCTION auto b(int k) const { return systems.row(systems.b, k); }
  KOKKOS_FUNCTION auto x(int k) const { return systems.row(systems.x, k); }
  KOKKOS_FUNCTION auto memory_of(int k) const { return Kokkos::subview(memory, k, Kokkos::ALL); }
};
/// Twice: the scratch is free again after a solve.
template <class T, int W, class Choice, bool computed>
struct ByTeam : Kernel<T, W, computed> {
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int k = member.league_rank();
    int result = 0;
    for (int repeat = 0; repeat < 2; ++repeat)
      result = Trikkos::solve(member, this->matrix(k), this->b(k), this->x(k), Choice::options());
    Kokkos::atomic_max(&this->info(k), result);
  }
};
template <class T, int W, class Choice, bool computed>
struct ByThread : Kernel<T, W, computed> {
  KOKKOS_FUNCTION void operator()(int k) const {
    this->info(k) = Trikkos::solve(Trikkos::this_thread, this->matrix(k), this->b(k), this->x(k),
                                   this->memory_of(k), Choice::options());
  }
};
template <class T, int W, class Choice, bool computed>
struct WithFactors : Kernel<T, W, computed> {
  KOKKOS_FUNCTION void operator()(int k) const {
    const Trikkos::KernelFactors<T, W> F(this->memory_of(k), this->A.n, Choice::options(),
                                         this->A.boundary);
    static_cast<void>(Trikkos::factor(Trikkos::this_thread, this->matrix(k), F));
    this->info(k) = Trikkos::solve(Trikkos::this_thread, F, this->b(k), this->x(k));
  }
};
template <class T, int W, class, bool computed>
struct WithoutMemory : Kernel<T, W, computed> {
  KOKKOS_FUNCTION void operator()(int k) const {
    this->info(k) = Trikkos::solve(Trikkos::this_thread, this->matrix(k), this->b(k), this->x(k));
  }
};

/// What the stored ones give must be there again. `bytes(A)` is for each thread, or a team.
template <class T, int W, class Choice, template <class, int, class, bool> class Functor,
          bool by_teams, class Bytes>
void compare(double shift, const Bytes& bytes) {
  constexpr int count = 9;
  for (const std::int64_t n : {1, 2, 3, 5, 40, 150})
    for (const Boundary boundary : Many::boundaries)
      for (const std::int64_t bad : {-1, 3}) {
        SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, n " + std::to_string(n) + ", " +
                     name(boundary) + ", " + describe(Choice::options()));
        const Coefficients<T, W> f{n, boundary, shift, bad};
        const Trikkos::Computed A{n, f, boundary};
        const auto systems = stored_systems(f, count);
        const Memory memory = memory_of_threads(count, bytes(A[0]));
        const auto run = [&](auto computed) {
          ::Test::fill(systems.x, T(7));
          const Infos info("info", count);
          const Functor<T, W, Choice, decltype(computed)::value> functor{
              {A, systems, info, memory}};
          if constexpr (by_teams) {
            Kokkos::TeamPolicy<TEST_EXECSPACE> policy(TEST_EXECSPACE(), count, Kokkos::AUTO);
            policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes(A[0]))));
            Kokkos::parallel_for("teams", policy, functor);
          } else {
            Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(0, count), functor);
          }
          return std::pair(Reference::to_host(info), numbers(systems.x));
        };
        const auto [infos, x] = run(std::false_type());
        const auto [computed_infos, computed_x] = run(std::true_type());
        EXPECT_EQ(computed_infos, infos);
        EXPECT_EQ(infos[3] != 0, bad == 3);
        for (std::size_t i = 0; i < x.size(); ++i)
          if (infos[i / n] == 0) {
            ASSERT_EQ(computed_x[i], x[i]) << i;
          }
      }
}

struct TeamBytes {
  Options options;
  template <class A>
  std::size_t operator()(const A& a) const {
    return Trikkos::team_scratch_bytes(a, options);
  }
};
struct ThreadBytes {
  Options options;
  template <class A>
  std::size_t operator()(const A& a) const {
    return Trikkos::thread_memory_bytes(a, options);
  }
};
template <int W>
struct FactorBytes {
  Options options;
  template <class A>
  std::size_t operator()(const A& a) const {
    return Trikkos::factor_memory_bytes<double, W>(a.n, options, a.boundary);
  }
};

TEST(TEST_CATEGORY, computed_by_teams) {
  compare<double, 1, Transposed, ByTeam, true>(0, TeamBytes{Transposed::options()});
  compare<double, 2, Default, ByTeam, true>(0, TeamBytes{Default::options()});
}
TEST(TEST_CATEGORY, computed_by_threads) {
  compare<double, 1, Default, ByThread, false>(0, ThreadBytes{Default::options()});
  compare<double, 2, Transposed, ByThread, false>(0, ThreadBytes{Transposed::options()});
  compare<double, 1, Thomas, WithoutMemory, false>(3, ThreadBytes{Thomas::options()});
}
TEST(TEST_CATEGORY, computed_with_factors_in_kernels) {
  compare<double, 1, Default, WithFactors, false>(4, FactorBytes<1>{Default::options()});
  compare<double, 2, Default, WithFactors, false>(6, FactorBytes<2>{Default::options()});
  compare<double, 1, Corrected, WithFactors, false>(4, FactorBytes<1>{Corrected::options()});
  compare<double, 2, Corrected, WithFactors, false>(6, FactorBytes<2>{Corrected::options()});
}

/// One matrix in a Plan, from its function and stored.
template <class T, int W>
void expect_same_plan(std::int64_t n, Boundary boundary, const Options& options) {
  constexpr int count = 9;
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
    const std::int64_t count = 9;
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
