// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ManySystems.hpp>
#include <Message.hpp>
#include <limits>
#include <string>

/// \file
/// One matrix, factored once, and many right-hand sides: where factors are used, where they must
/// not be, and that x is right either way.

namespace Test::Many {

using Trikkos::Algorithm;
using Trikkos::Options;
using Trikkos::Plan;
using Trikkos::Transpose;

template <class T>
HostSystem<T> toeplitz(std::int64_t n, T lower, T diag, T upper,
                       Boundary boundary = Boundary::open) {
  return {std::vector<T>(n, lower), std::vector<T>(n, diag), std::vector<T>(n, upper),
          boundary == Boundary::periodic};
}

/// Right-hand sides with one matrix: random ones, and products with a known x by turns.
template <class T>
Batch<T> right_hand_sides_of(const HostSystem<T>& A, std::int64_t count) {
  Batch<T> r;
  for (std::int64_t k = 0; k < count; ++k) {
    r.A.push_back(A);
    r.b.push_back(random_rhs<T>(A.size(), 300 + k));
    if (k % 2 == 1) r.b.back() = Reference::multiply(A, r.b.back());
  }
  return r;
}

struct Expected {
  Algorithm algorithm;  // that the plan says it is
  double eta = 1e-14;
};

/// Solves in the layouts, `at_a_time` right-hand sides being expected.
template <class T>
void expect_solved_with_plan(const HostSystem<T>& A, std::int64_t count, const Options& options,
                             const Expected& expected, Layout layout, Layout x_layout) {
  SCOPED_TRACE(describe(options) + ", layouts " + std::to_string(static_cast<int>(layout)) +
               " and " + std::to_string(static_cast<int>(x_layout)) + ", " + std::to_string(count) +
               " right-hand sides of " + std::to_string(A.size()));
  const TEST_EXECSPACE exec;
  const auto batch = right_hand_sides_of(A, count);
  const DeviceBatch<T> device(batch, layout, x_layout);
  const Plan plan(exec, Reference::to_device(exec, A), options, 1000);
  EXPECT_EQ(plan.algorithm(), expected.algorithm);
  Trikkos::solve(exec, plan, device.b, device.x);
  const auto status = plan.status(exec);
  EXPECT_TRUE(status.ok()) << status.why();
  for (std::int64_t k = 0; k < count; ++k)
    EXPECT_LE(eta_of(batch, k, device.solution(k), options.transpose()), scaled<T>(expected.eta))
        << "right-hand side " << k;
}
template <class T>
void expect_solved_with_plan(const HostSystem<T>& A, std::int64_t count, const Options& options,
                             const Expected& expected) {
  for (const Layout layout : {Layout::left, Layout::right})
    expect_solved_with_plan(A, count, options, expected, layout, layout);
}

/// Around the rows of a chunk, of a group of chunks, of a team, and of as many chunks as a team has
/// in registers.
constexpr std::int64_t sizes_of_factored[] = {1,   2,   3,   4,   5,    16,   17,   18,  33,
                                              34,  35,  51,  52,  64,   100,  153,  154, 255,
                                              256, 289, 544, 545, 1000, 1088, 1089, 4096};

template <class T>
void factored_sizes() {
  for (const std::int64_t n : sizes_of_factored)
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      if (sizeof(T) != 8 && n > 600) continue;
      const auto A = gallery<T>(Gallery::uniform_dominant, n, 1, boundary);
      expect_solved_with_plan(A, 35, Options{}, {Algorithm::factored, 1e-15});
      expect_solved_with_plan(A, 9, Options{}.algorithm(Algorithm::thomas),
                              {Algorithm::thomas, 1e-15});
    }
}
TEST(TEST_CATEGORY, factored_sizes) {
  factored_sizes<double>();
  factored_sizes<float>();
  factored_sizes<Kokkos::complex<float>>();
  factored_sizes<Kokkos::complex<double>>();
}

/// Around sizes from which a device has chunks of other lengths, or weights, or an odd number of
/// chunks.
TEST(TEST_CATEGORY, factored_chunks) {
  for (const std::int64_t n : {33, 34, 66, 67, 68, 69, 99, 1056, 1057, 2112, 2113, 2560, 2561})
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      const auto A = gallery<double>(Gallery::uniform_dominant, n, 1, boundary);
      expect_solved_with_plan(A, 20, Options{}, {Algorithm::factored, 1e-15});
    }
}

/// Around sizes from which a device's teams have half a line of interleaved ones, or a whole one
/// again; the last half of a line lacks its other half.
TEST(TEST_CATEGORY, factored_half_a_line) {
  for (const std::int64_t n : {408, 409, 512, 528, 529, 544, 545, 816, 817, 1056, 1057})
    for (const std::int64_t count : {40, 48}) {
      const auto A = gallery<double>(Gallery::uniform_dominant, n, 1);
      expect_solved_with_plan(A, count, Options{}, {Algorithm::factored, 1e-15}, Layout::left,
                              Layout::left);
    }
  for (const std::int64_t n : {544, 545, 1088, 1089}) {
    const auto A = gallery<Kokkos::complex<double>>(Gallery::uniform_dominant, n, 1);
    expect_solved_with_plan(A, 20, Options{}, {Algorithm::factored, 1e-15}, Layout::left,
                            Layout::left);
  }
}

TEST(TEST_CATEGORY, factored_counts) {
  const auto A = gallery<double>(Gallery::uniform_dominant, 100, 1);
  for (const std::int64_t count : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 500})
    expect_solved_with_plan(A, count, Options{}, {Algorithm::factored, 1e-15});
}

/// However many were expected.
TEST(TEST_CATEGORY, factored_more_than_expected) {
  const TEST_EXECSPACE exec;
  for (const Algorithm algorithm : {Algorithm::factored, Algorithm::thomas})
    for (const std::int64_t expected : {0, 1, 40, 500})
      for (const std::int64_t count : {1, 3, 200}) {
        const auto A = gallery<double>(Gallery::uniform_dominant, 100, 1);
        const auto batch = right_hand_sides_of(A, count);
        const DeviceBatch<double> device(batch, Layout::right);
        const Plan plan(exec, Reference::to_device(exec, A), Options{}.algorithm(algorithm),
                        expected);
        Trikkos::solve(exec, plan, device.b, device.x);
        EXPECT_TRUE(plan.status(exec).ok());
        EXPECT_EQ(plan.algorithm(), algorithm);
        for (std::int64_t k = 0; k < count; ++k)
          EXPECT_LE(eta_of(batch, k, device.solution(k), Transpose::none), 1e-15);
      }
}

TEST(TEST_CATEGORY, factored_layouts) {
  for (const std::int64_t n : {7, 64, 65}) {
    const auto A = gallery<double>(Gallery::uniform_dominant, n, 1);
    for (const Layout layout : layouts)
      for (const Layout x_layout : layouts)
        expect_solved_with_plan(A, 34, Options{}, {Algorithm::factored, 1e-15}, layout, x_layout);
  }
}

template <class T>
void factored_with_options() {
  for (const auto boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = gallery<T>(Gallery::uniform_dominant, 130, 1, boundary);
    for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
      expect_solved_with_plan(A, 20, Options{}.transpose(op), {Algorithm::factored, 1e-15});
    for (const auto& options :
         {Options{}.scaling(Trikkos::Scaling::columns), Options{}.refine(2),
          Options{}.verify(scaled<T>(1e-14)), Options{}.algorithm(Algorithm::factored)})
      expect_solved_with_plan(A, 20, options, {Algorithm::factored, 1e-15});
  }
}
TEST(TEST_CATEGORY, factored_options) {
  factored_with_options<double>();
  factored_with_options<Kokkos::complex<float>>();
}

/// Nothing decays from chunk to chunk in (-1, 2, -1), (-1, 1, 0) or their rings: the accuracy must
/// not depend on n for that.
TEST(TEST_CATEGORY, factored_without_decay) {
  for (const std::int64_t n : {50, 500, 4096, 5000}) {
    const Expected good{Algorithm::factored, 2e-15};
    expect_solved_with_plan(gallery<double>(Gallery::poisson, n), 8, Options{}, good);
    expect_solved_with_plan(toeplitz(n, -1., 1., 0.), 8, Options{}, good);
    expect_solved_with_plan(toeplitz(n, 0., 1., -1.), 8, Options{}, good);
    expect_solved_with_plan(toeplitz(n, -1., 2 + 1e-6, -1., Boundary::periodic), 8, Options{},
                            good);
    expect_solved_with_plan(toeplitz(n, -0.999, 1., 0., Boundary::periodic), 8, Options{}, good);
  }
  // rows of very different size
  auto graded = gallery<double>(Gallery::poisson, 1000);
  for (std::int64_t i = 0; i < 1000; ++i)
    for (auto* const band : {&graded.lower, &graded.diag, &graded.upper})
      (*band)[i] = std::ldexp((*band)[i], static_cast<int>(i % 200) - 100);
  expect_solved_with_plan(graded, 8, Options{}, {Algorithm::factored, 2e-15});
}

/// Where LU without pivoting would lose digits, rotations solve.
TEST(TEST_CATEGORY, factors_are_not_used_where_they_lose_digits) {
  const Expected stable{Algorithm::segmented};
  for (const std::int64_t n : {300, 3000}) {
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      expect_solved_with_plan(gallery<double>(Gallery::uniform, n, 1, boundary), 9, Options{},
                              stable);
      expect_solved_with_plan(toeplitz(n, 1., 1e-9, 1.1, boundary), 9, Options{}, stable);
    }
    expect_solved_with_plan(gallery<double>(Gallery::diagonal_0101, n), 9, Options{}, stable);
  }
  // a harmless ring, whose first rows by themselves let solutions grow
  for (const double growth : {1.01, 1.5, 10.})
    expect_solved_with_plan(toeplitz(300, -growth, 1., 0., Boundary::periodic), 9, Options{},
                            stable);
}

/// Whoever solves: x is right.
TEST(TEST_CATEGORY, factored_families) {
  for (const std::int64_t n : {40, 300, 3000}) {
    const auto expect_right = [&](const HostSystem<double>& A) {
      const TEST_EXECSPACE exec;
      const Plan plan(exec, Reference::to_device(exec, A), {}, 1000);
      SCOPED_TRACE(std::to_string(A.lower[1]) + ", " + std::to_string(A.diag[1]) + ", " +
                   std::to_string(A.upper[1]));
      expect_solved_with_plan(A, 9, Options{}, {plan.algorithm()});
    };
    for (const Gallery type : {Gallery::lesp, Gallery::inverse_kms, Gallery::toeplitz_64})
      expect_right(gallery<double>(type, n));
    for (const Gallery type : {Gallery::clement, Gallery::tiny_lower, Gallery::dorr})
      if (n < 1000) expect_right(gallery<double>(type, n));  // x overflows beyond
    // one solution of the recurrence grows and one decays, or none does: else A^-1 may overflow
    using Pair = std::pair<double, double>;
    for (const auto& [diag, upper] : {Pair(2, 1), Pair(1, 1), Pair(0.5, 1), Pair(2, -1),
                                      Pair(1, -1), Pair(0.5, -1), Pair(2, 0.1), Pair(1, 0.1)})
      expect_right(toeplitz(n, -1., diag, upper));
    for (const double upper : {1., 0.1, -0.5})  // others are singular rings for some n
      expect_right(toeplitz(n, -1., 2., upper, Boundary::periodic));
  }
}

TEST(TEST_CATEGORY, factored_follows_an_update) {
  const TEST_EXECSPACE exec;
  const auto good = gallery<double>(Gallery::uniform_dominant, 200, 1),
             bad = gallery<double>(Gallery::uniform, 200, 2);
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::thomas}) {
    const Plan plan(exec, Reference::to_device(exec, good), Options{}.algorithm(algorithm), 64);
    const auto copy = plan;
    for (const auto* const A : {&good, &bad, &good}) {
      plan.update(exec, Reference::to_device(exec, *A));
      const auto batch = right_hand_sides_of(*A, 20);
      const DeviceBatch<double> device(batch, Layout::right);
      Trikkos::solve(exec, copy, device.b, device.x);
      if (algorithm == Algorithm::thomas) {
        EXPECT_EQ(copy.status(exec).ok(), A == &good);
      } else {
        EXPECT_EQ(copy.algorithm(), A == &good ? Algorithm::factored : Algorithm::segmented);
        EXPECT_TRUE(copy.status(exec).ok());
      }
      for (std::int64_t k = 0; k < batch.count() && copy.status(exec).ok(); ++k)
        EXPECT_LE(eta_of(batch, k, device.solution(k), Transpose::none), 1e-14);
    }
  }
}

/// Solutions in the place of right-hand sides.
TEST(TEST_CATEGORY, factored_in_place) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {3, 64, 1000})
    for (const Layout layout : layouts) {
      const auto A = gallery<double>(Gallery::uniform_dominant, n, 1);
      const auto batch = right_hand_sides_of(A, 37);
      const DeviceBatch<double> expected(batch, layout), device(batch, layout);
      const Plan plan(exec, Reference::to_device(exec, A), {}, 37);
      EXPECT_EQ(plan.algorithm(), Algorithm::factored);
      Trikkos::solve(exec, plan, expected.b, expected.x);
      Trikkos::solve(exec, plan, device.b, device.b);
      for (std::int64_t k = 0; k < batch.count(); ++k)
        EXPECT_EQ(Reference::to_host(row_of(device.b, k)), expected.solution(k));
    }
}

/// Many interleaved ones, with a few that repeat: up to 1088 rows (544 in float) a device has them
/// in registers, longer ones it reads twice, rather than a few at a time.
template <class T>
void factored_streams(std::int64_t n) {
  SCOPED_TRACE(n);
  const TEST_EXECSPACE exec;
  const std::int64_t different = 61, count = Trikkos::Impl::is_host_v<TEST_EXECSPACE> ? 100 : 8201;
  const auto A = gallery<T>(Gallery::uniform_dominant, n, 1);
  const auto batch = right_hand_sides_of(A, different);
  const Kokkos::View<T**, Kokkos::LayoutLeft, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  const auto host = Kokkos::create_mirror(b);  // never b itself
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < count; ++k) host(k, i) = batch.b[k % different][i];
  Kokkos::deep_copy(b, host);
  const Plan plan(exec, Reference::to_device(exec, A), {}, count);
  EXPECT_EQ(plan.algorithm(), Algorithm::factored);
  const auto solve = [&](const auto& from, const auto& to) {
    Trikkos::solve(exec, plan, from, to);
    Kokkos::deep_copy(host, to);
    return plan.status(exec);
  };
  const auto row = [&](std::int64_t k) {
    std::vector<T> r(n);
    for (std::int64_t i = 0; i < n; ++i) r[i] = host(k, i);
    return r;
  };
  EXPECT_TRUE(solve(b, x).ok());
  std::vector<std::vector<T>> expected;
  for (std::int64_t k = 0; k < different; ++k) {
    expected.push_back(row(k));
    EXPECT_LE(eta_of(batch, k, expected[k], Transpose::none), scaled<T>(1e-15)) << k;
  }
  for (std::int64_t k = different; k < count; ++k) ASSERT_EQ(row(k), expected[k % different]) << k;

  const std::int64_t bad = count - 3, where = n - 20;
  Kokkos::deep_copy(Kokkos::subview(b, bad, where), T(std::numeric_limits<double>::quiet_NaN()));
  const auto status = solve(b, b);  // in place
  EXPECT_EQ(status.reason, Trikkos::Status::Reason::not_finite);
  EXPECT_EQ(status.system, bad);
  EXPECT_EQ(status.row, where);
  for (std::int64_t k = 0; k < count; ++k) {
    if (k == bad) continue;
    ASSERT_EQ(row(k), expected[k % different]) << k;
  }
}
TEST(TEST_CATEGORY, factored_streams) {
  for (const std::int64_t n : {351, 1000, 1089, 3000}) factored_streams<double>(n);
  factored_streams<float>(701);
  factored_streams<Kokkos::complex<double>>(176);
  factored_streams<Kokkos::complex<double>>(2200);
}

/// What is not finite is named, and spoils no other right-hand side.
TEST(TEST_CATEGORY, factored_names_what_is_not_finite) {
  const TEST_EXECSPACE exec;
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::thomas})
        for (const Layout layout : {Layout::left, Layout::right})
          for (const std::int64_t row : {0, 57, 99}) {
            const auto A = gallery<double>(Gallery::uniform_dominant, 100, 1, boundary);
            const auto good = right_hand_sides_of(A, 40);
            auto batch = good;
            batch.b[21][row] = wrong;
            const DeviceBatch<double> device(batch, layout), expected(good, layout);
            const Plan plan(exec, Reference::to_device(exec, A), Options{}.algorithm(algorithm),
                            40);
            Trikkos::solve(exec, plan, expected.b, expected.x);
            EXPECT_TRUE(plan.status(exec).ok());
            Trikkos::solve(exec, plan, device.b, device.x);
            const auto status = plan.status(exec);
            EXPECT_EQ(status.reason, Trikkos::Status::Reason::not_finite);
            EXPECT_EQ(status.system, 21);
            EXPECT_EQ(status.row, row);
            for (std::int64_t k = 0; k < 40; ++k) {
              if (k != 21) {
                EXPECT_EQ(device.solution(k), expected.solution(k));
              }
            }
          }
}

TEST(TEST_CATEGORY, factored_needs_a_plan_of_one_matrix) {
  const TEST_EXECSPACE exec;
  const auto options = Options{}.algorithm(Algorithm::factored);
  EXPECT_EQ(message([&] { Trikkos::Workspace<double, TEST_EXECSPACE>(exec, 10, 10, options); }),
            "Trikkos::Workspace: algorithm is factored, expected another: factors are made once, "
            "by a Plan, for many solves");
  const DeviceBatch<double> device(make_batch<double>(Gallery::uniform, 3, 10), Layout::left);
  EXPECT_EQ(message([&] { Plan(exec, device.A, options); }),
            "Trikkos::Plan: A has 3 systems, expected one (algorithm factored)");
}

}  // namespace Test::Many
