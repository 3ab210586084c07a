// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Breaker.hpp>

/// \file
/// Short searches of Breaker.hpp for every algorithm, scalar, level and partition size, the same
/// ones every time, and what longer ones (breaker/Program.hpp) have found before.

namespace Test::Breaker {

constexpr std::int64_t partition_sizes[] = {0, 2, 3, 7, 8, 15, 16, 31, 32, 64, 66, 100, 128, 512};

// ---- the judge

/// fast_multiply is off by half a unit in the last place and what long double loses. It need not be
/// Reference::multiply: of sums halfway between two numbers one is as good as the other.
template <class Matrix, class T = typename Matrix::value_type>
void expect_rounded_once(const Matrix& A, const std::vector<T>& x) {
  using Limits = std::numeric_limits<Trikkos::Impl::Real<T>>;
  const auto b = fast_multiply(A, x);
  const auto exact = Reference::multiply_wide(A, x);
  std::vector<Reference::WideOf<T>> error;
  for (std::size_t i = 0; i < b.size(); ++i) error.push_back(Reference::widen(b[i]) - exact[i]);
  const auto size = [](const auto& v) { return static_cast<double>(Reference::max_norm(v)); };
  EXPECT_LE(size(error), Limits::epsilon() / 2 * size(exact) + 1e-18 * size(A) * size(x));
}

template <class T, int W = 1>
void fast_error_is_the_reference() {
  Random random(5);
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 50}) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      for (const Mode mode : modes) {
        SCOPED_TRACE(std::string(name(mode)) + ", n " + std::to_string(n));
        auto p = Genes<T, W>::random(n, boundary, mode, random).problem();
        apply_row_exponents(p);
        auto x = Reference::solve(p.A, p.b);
        for (const double change : {0., 1e-5, 1.}) {  // a good x, a bad one and a wrong one
          x[n / 2] += x[n / 2] * static_cast<Trikkos::Impl::Real<T>>(change);
          const double eta = Reference::backward_error(p.A, x, p.b);
          if (is_finite(x)) {
            EXPECT_NEAR(fast_backward_error(p.A, x, p.b), eta, 1e-18 + 1e-9 * eta);
            const double residual = Reference::relative_residual(p.A, x, p.b);
            if (residual > 1e-15 && residual < 1e100) {
              EXPECT_NEAR(fast_relative_residual(p.A, x, p.b), residual, 0.01 * residual);
            }
          } else {
            EXPECT_TRUE(std::isnan(fast_backward_error(p.A, x, p.b)));
          }
        }
        expect_rounded_once(p.A, p.b);
        auto wrong = p.b;
        wrong[n / 2] = std::numeric_limits<Trikkos::Impl::Real<T>>::quiet_NaN();
        EXPECT_TRUE(std::isnan(fast_backward_error(p.A, wrong, p.b)));
        EXPECT_TRUE(std::isnan(fast_backward_error(p.A, p.b, wrong)));
      }
    }
  }
}

TEST(TEST_CATEGORY, breaker_measures_as_the_reference) {
  fast_error_is_the_reference<float>();
  fast_error_is_the_reference<double>();
  fast_error_is_the_reference<Kokkos::complex<float>>();
  fast_error_is_the_reference<Kokkos::complex<double>>();
  fast_error_is_the_reference<double, 2>();
  fast_error_is_the_reference<Kokkos::complex<float>, 2>();
}

// ---- the search

template <class T, int W>
void expect_unbroken(const Method& method, const Search& how) {
  SCOPED_TRACE(describe(method));
  const auto found = search<T, W>(method, how);
  for (const Mode mode : modes)
    EXPECT_LE(found.worst_of[static_cast<int>(mode)], promised<T>(method)) << name(mode);
  EXPECT_EQ(found.evaluations, how.rounds * how.climbers * how.steps);
  EXPECT_GE(found.worst(), 0) << "everything was flagged";
}

/// All scalars, and all transposes by turns; complex numbers and single precision fewer steps.
/// Batches have more systems than any lanes, and half the steps.
template <int W = 1>
void expect_unbroken(Method method, int steps) {
  static int turn = 0;
  if (method.level != Level::thread) {
    const Transpose turns[] = {Transpose::none, Transpose::none, Transpose::transpose,
                               Transpose::conjugate_transpose};
    method.options.transpose(turns[turn++ % 4]);
  }
  const bool batch = method.level == Level::batch || method.level == Level::interleaved;
  const auto search = [&](int of_steps) {
    return Search{.seed = static_cast<std::uint64_t>(method.options.partition_size() + 1),
                  .climbers = batch ? 20 : 10,
                  .steps = batch ? of_steps / 2 : of_steps};
  };
  expect_unbroken<double, W>(method, search(steps));
  expect_unbroken<float, W>(method, search(steps / 2));
  expect_unbroken<Kokkos::complex<float>, W>(method, search(steps / 4));
  expect_unbroken<Kokkos::complex<double>, W>(method, search(steps / 4));
}

TEST(TEST_CATEGORY, breaker_segmented) {
  for (const std::int64_t rows : partition_sizes)
    expect_unbroken({Options{}.algorithm(Algorithm::segmented).partition_size(rows)}, 40);
  expect_unbroken({Options{}}, 40);
}
TEST(TEST_CATEGORY, breaker_segmented_in_batches) {
  for (const Level level : {Level::batch, Level::interleaved})
    for (const std::int64_t rows : {0, 2, 3, 7, 8, 15, 16, 17})
      expect_unbroken({Options{}.algorithm(Algorithm::segmented).partition_size(rows), level}, 40);
}
TEST(TEST_CATEGORY, breaker_segmented_in_teams) {
  for (const std::int64_t rows : partition_sizes)
    expect_unbroken({Options{}.algorithm(Algorithm::segmented).partition_size(rows), Level::team},
                    40);
}
TEST(TEST_CATEGORY, breaker_segmented_in_threads) {
  for (const std::int64_t rows : {0, 2, 7, 16, 66})
    expect_unbroken(
        {Options{}.algorithm(Algorithm::segmented).partition_size(rows), Level::thread_in_memory},
        40);
}
TEST(TEST_CATEGORY, breaker_factors_in_threads) {
  expect_unbroken({Options{}, Level::thread_with_factors}, 400);
}
TEST(TEST_CATEGORY, breaker_spike) {
  for (const std::int64_t rows : partition_sizes) {
    const auto spike = Options{}.algorithm(Algorithm::spike).partition_size(rows);
    expect_unbroken({spike}, 32);
    expect_unbroken({Options(spike).refine(1)}, 32);
    expect_unbroken({Options(spike).spike({.pivoting = Trikkos::Pivoting::none})}, 20);
  }
}
TEST(TEST_CATEGORY, breaker_spike_in_teams) {
  for (const std::int64_t rows : partition_sizes) {
    const auto spike = Options{}.algorithm(Algorithm::spike).partition_size(rows);
    expect_unbroken({spike, Level::team}, 40);
    expect_unbroken({Options(spike).spike({.pivoting = Trikkos::Pivoting::none}), Level::team}, 20);
  }
}
TEST(TEST_CATEGORY, breaker_pcr) {
  for (const int steps : {0, 1, 2, 100}) {
    const auto pcr = Options{}.pcr({.reduction_steps = steps});
    expect_unbroken({pcr}, 100);
    expect_unbroken({pcr, Level::team}, 100);
  }
}
TEST(TEST_CATEGORY, breaker_thomas) {
  for (const Level level : levels)
    expect_unbroken({Options{}.algorithm(Algorithm::thomas), level}, 200);
  expect_unbroken({Options{}, Level::team}, 100);
  for (const Level level :
       {Level::call, Level::plan, Level::team, Level::thread_in_memory, Level::thread_with_factors})
    expect_unbroken({Options{}.thomas({Trikkos::Corners::sherman_morrison}), level}, 100);
}

TEST(TEST_CATEGORY, breaker_factored) {
  expect_unbroken({Options{}.algorithm(Algorithm::factored), Level::plan}, 40);
  expect_unbroken({Options{}, Level::plan}, 20);
}

// ---- what devices have for thousands: a thread a partition, a team that goes over them twice

constexpr const char* no_such_way = "hosts have no way of their own for thousands of systems";

TEST(TEST_CATEGORY, breaker_segmented_in_thousands) {
  if (Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << no_such_way;
  for (const std::int64_t rows : {0, 16}) {
    const Method method{Options{}.algorithm(Algorithm::segmented).partition_size(rows),
                        Level::interleaved_thousands};
    expect_unbroken(method, 24);
    expect_unbroken<2>(method, 24);
  }
}
TEST(TEST_CATEGORY, breaker_factored_in_thousands) {
  if (Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << no_such_way;
  expect_unbroken({Options{}.algorithm(Algorithm::factored), Level::plan_thousands}, 24);
}

TEST(TEST_CATEGORY, breaker_truncated) {
  for (const std::int64_t overlap : {4, 8, 16, 48}) {
    const Method method{Options{}.truncated({.overlap = overlap})};
    const auto seed = static_cast<std::uint64_t>(overlap);
    expect_unbroken<double, 1>(method, {.seed = seed, .steps = 60});
    expect_unbroken<float, 1>(method, {.seed = seed, .steps = 30});
  }
}
TEST(TEST_CATEGORY, breaker_pentadiagonal) {
  for (const std::int64_t rows : {0, 2, 3, 4, 5, 7, 15, 16, 66, 100})
    expect_unbroken<2>({Options{}.algorithm(Algorithm::segmented).partition_size(rows)}, 24);
  for (const Algorithm algorithm :
       {Algorithm::automatic, Algorithm::segmented, Algorithm::factored, Algorithm::thomas})
    expect_unbroken<2>({Options{}.algorithm(algorithm), Level::plan}, 24);
  expect_unbroken<2>({Options{}.thomas({Trikkos::Corners::sherman_morrison}), Level::plan}, 24);
}
TEST(TEST_CATEGORY, breaker_pentadiagonal_factors_in_threads) {
  for (const Options& options : {Options{}, Options{}.algorithm(Algorithm::thomas),
                                 Options{}.thomas({Trikkos::Corners::sherman_morrison})})
    expect_unbroken<2>({options, Level::thread_with_factors}, 60);
}
TEST(TEST_CATEGORY, breaker_pentadiagonal_thomas) {
  for (const Level level :
       {Level::call, Level::batch, Level::interleaved, Level::team, Level::thread_in_memory})
    for (const Options& options : {Options{}.algorithm(Algorithm::thomas),
                                   Options{}.thomas({Trikkos::Corners::sherman_morrison})})
      expect_unbroken<2>({options, level}, 24);
}
TEST(TEST_CATEGORY, breaker_pentadiagonal_in_batches) {
  for (const Level level : {Level::batch, Level::interleaved})
    for (const std::int64_t rows : {0, 2, 3, 15, 17})
      expect_unbroken<2>({Options{}.algorithm(Algorithm::segmented).partition_size(rows), level},
                         40);
}
TEST(TEST_CATEGORY, breaker_pentadiagonal_in_kernels) {
  for (const Level level : {Level::team, Level::thread_in_memory})
    for (const std::int64_t rows : {0, 2, 7, 16})
      expect_unbroken<2>({Options{}.algorithm(Algorithm::segmented).partition_size(rows), level},
                         40);
}

// ---- what it has found

/// Golden ratio a row: implicit central differences of advection, and relatives. The first version
/// of `segmented` pivoted, and said ok to an eta of 4e-3.
template <class T>
void carried_rows_do_not_grow(std::int64_t n) {
  Random random(3);
  std::vector<T> x(n);
  for (T& v : x) v = any_number<T>(random);
  const auto toeplitz = [n](T lower, T diag, T upper) {
    return HostSystem<T>{std::vector<T>(n, lower), std::vector<T>(n, diag),
                         std::vector<T>(n, upper)};
  };
  auto alternating = toeplitz(T(1), T(1), T(1));
  for (std::int64_t i = 1; i < n; i += 2) alternating.diag[i] = T(-1);
  auto coupled = toeplitz(T(1), T(0), T(1));
  for (std::int64_t i = 1; i < n; i += 2) coupled.diag[i] = T(1);
  const std::pair<const char*, HostSystem<T>> systems[] = {
      {"(-1, 1, 1)", toeplitz(T(-1), T(1), T(1))},
      {"(-1, 0.5, 1)", toeplitz(T(-1), T(0.5), T(1))},
      {"(1, +-1, 1)", alternating},
      {"(1, 0 or 1, 1)", coupled}};
  for (auto [what, A] : systems) {
    for (const bool periodic : {false, true}) {
      A.periodic = periodic;
      const std::vector<Problem<T>> problem{{A, fast_multiply(A, x), {}}};
      for (const std::int64_t rows : partition_sizes) {
        for (const auto& options :
             {Options{}.algorithm(Algorithm::segmented), Options{}.algorithm(Algorithm::spike)}) {
          const Method method{Options(options).partition_size(rows)};
          SCOPED_TRACE(std::string(what) + ", n " + std::to_string(n) + ", " + describe(method));
          Solver<T> solver(method, n, periodic ? Boundary::periodic : Boundary::open, 1);
          const Judged judged = solver(problem)[0];
          if (options.algorithm() == Algorithm::segmented) {
            EXPECT_TRUE(judged.ok);
            EXPECT_LE(judged.eta, promised<T>(method));
          } else {
            EXPECT_LE(judged.score(), promised<T>(method));
          }
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, breaker_carried_rows_do_not_grow) {
  carried_rows_do_not_grow<double>(20000);
  carried_rows_do_not_grow<float>(20000);
  carried_rows_do_not_grow<Kokkos::complex<double>>(3001);
  carried_rows_do_not_grow<Kokkos::complex<float>>(3001);
}

/// (-g, 1, 0) as a ring is harmless, but its first n-1 rows by themselves let solutions grow by g a
/// row. What is bordered subtracts huge numbers from one another in the end.
template <class T>
void open_parts_of_rings_may_grow() {
  Random random(3);
  for (const std::int64_t n : {100, 1000, 1281, 3000, 20000}) {
    std::vector<T> x(n);
    for (T& v : x) v = any_number<T>(random);
    std::vector<Problem<T>> problems;
    for (const double growth : {1.01, 1.05, 1.5, 10.}) {
      HostSystem<T> A{std::vector<T>(n, T(-growth)), std::vector<T>(n, T(1)), std::vector<T>(n),
                      true};
      problems.push_back({A, fast_multiply(A, x), {}});
      std::swap(A.lower, A.upper);
      problems.push_back({A, fast_multiply(A, x), {}});
    }
    // multipliers above 1 now and then only: each step of cyclic reduction looks harmless
    for (const int period : {2, 3}) {
      HostSystem<T> A{std::vector<T>(n, T(-0.96)), std::vector<T>(n, T(-1)), std::vector<T>(n),
                      true};
      for (std::int64_t i = 0; i < n; i += period) A.diag[i] = T(-0.65);
      problems.push_back({A, fast_multiply(A, x), {}});
    }
    for (const Algorithm algorithm :
         {Algorithm::segmented, Algorithm::spike, Algorithm::pcr, Algorithm::thomas}) {
      const Method method{Options{}.algorithm(algorithm)};
      SCOPED_TRACE("n " + std::to_string(n) + ", " + describe(method));
      Solver<T> solver(method, n, Boundary::periodic, static_cast<int>(problems.size()));
      for (const Judged& judged : solver(problems)) {
        EXPECT_LE(judged.score(), promised<T>(method));
        if (algorithm == Algorithm::segmented) {
          EXPECT_TRUE(judged.ok);
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, breaker_open_parts_of_rings_may_grow) {
  open_parts_of_rings_may_grow<double>();
  open_parts_of_rings_may_grow<Kokkos::complex<double>>();
}

}  // namespace Test::Breaker
