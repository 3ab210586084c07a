// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Message.hpp>
#include <Pentadiagonals.hpp>
#include <Trikkos.hpp>
#include <array>
#include <limits>

/// \file
/// One pentadiagonal matrix, factored once, and many right-hand sides: where factors are used,
/// where they must not be, and that x is right either way. (Test_Factored.hpp: tridiagonal ones.)

namespace Test::Five {

using Trikkos::Algorithm;
using Trikkos::Plan;
using Trikkos::Status;

template <class T = double>
HostPentadiagonal<T> toeplitz(std::int64_t n, std::array<double, 5> row,
                              Boundary boundary = Boundary::open) {
  HostPentadiagonal<T> A;
  A.periodic = boundary == Boundary::periodic;
  for (int j = -2; j <= 2; ++j) A.band(j).assign(n, T(row[2 + j]));
  return A;
}
/// I + s D4, a step of fourth-order diffusion.
inline HostPentadiagonal<double> hyperdiffusion(std::int64_t n, double s, Boundary boundary) {
  return toeplitz(n, {s, -4 * s, 1 + 6 * s, -4 * s, s}, boundary);
}

/// Right-hand sides with one matrix: random ones, and products with a known x by turns.
template <class T>
Batch<T> right_hand_sides_of(const HostPentadiagonal<T>& A, std::int64_t count) {
  Batch<T> r;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto random = random_rhs<T>(A.size(), 300 + k);
    r.A.push_back(A);
    r.b.push_back(k % 2 ? fast_multiply(A, random) : random);
  }
  return r;
}

struct Expected {
  Algorithm algorithm;  // that the plan says it is
  double eta = 1e-14;
};

template <class T>
void expect_solved_with_plan(const HostPentadiagonal<T>& A, std::int64_t count,
                             const Options& options, const Expected& expected,
                             Many::Layout layout) {
  SCOPED_TRACE(::Test::describe(options) + ", layout " + std::to_string(static_cast<int>(layout)) +
               ", " + std::to_string(count) + " right-hand sides of " + std::to_string(A.size()) +
               (A.periodic ? ", periodic" : ""));
  const TEST_EXECSPACE exec;
  const auto batch = right_hand_sides_of(A, count);
  const DeviceBatch<T> device(batch, layout);
  const Plan plan(exec, Reference::to_device(exec, A), options, 1000);
  EXPECT_EQ(plan.algorithm(), expected.algorithm);
  Trikkos::solve(exec, plan, device.b, device.x);
  const auto status = plan.status(exec);
  EXPECT_TRUE(status.ok()) << status.why();
  const Transpose op = options.transpose();
  const auto solved =
      op == Transpose::none ? A : Reference::transpose(A, op == Transpose::conjugate_transpose);
  for (std::int64_t k = 0; k < count; ++k)
    EXPECT_LE(fast_backward_error(solved, device.solution(k), batch.b[k]), scaled<T>(expected.eta))
        << "right-hand side " << k;
}
template <class T>
void expect_solved_with_plan(const HostPentadiagonal<T>& A, std::int64_t count,
                             const Options& options, const Expected& expected) {
  for (const Many::Layout layout : {Many::Layout::left, Many::Layout::right})
    expect_solved_with_plan(A, count, options, expected, layout);
}

constexpr Expected good{Algorithm::factored, 1e-15};

/// Around the matrix's own width, the rows of a chunk, of a group of chunks, and of a team.
constexpr std::int64_t sizes_of_factors[] = {1,   2,   3,   4,   5,   6,   7,    16,   17,   18,
                                             19,  33,  34,  35,  36,  51,  63,   64,   65,   100,
                                             154, 255, 256, 289, 290, 545, 1000, 1088, 1089, 4096};

template <class T>
void sizes_are_solved_with_factors() {
  for (const std::int64_t n : sizes_of_factors)
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      if (sizeof(T) != 8 && n > 100) continue;
      const auto A = make<T>(Family::dominant, n, 1, boundary);
      const std::int64_t count = n > 1000 ? 9 : 35;
      expect_solved_with_plan(A, count, {}, good);
      expect_solved_with_plan(A, 3, Options{}.algorithm(Algorithm::thomas),
                              {Algorithm::thomas, 1e-15});
    }
}
TEST(TEST_CATEGORY, factored_pentadiagonal_sizes) {
  sizes_are_solved_with_factors<double>();
  sizes_are_solved_with_factors<float>();
  sizes_are_solved_with_factors<Kokkos::complex<float>>();
  sizes_are_solved_with_factors<Kokkos::complex<double>>();
}

/// As of tridiagonal matrices.
TEST(TEST_CATEGORY, factored_pentadiagonal_half_a_line) {
  for (const std::int64_t n : {272, 273, 512, 544, 545})
    for (const std::int64_t count : {40, 48})
      expect_solved_with_plan(make<double>(Family::dominant, n, 1), count, Options{}, good,
                              Many::Layout::left);
}

TEST(TEST_CATEGORY, factored_pentadiagonal_counts_and_layouts) {
  const auto A = make<double>(Family::dominant, 65, 1);
  for (const std::int64_t count : {1, 2, 7, 8, 9, 31, 32, 33, 300})
    expect_solved_with_plan(A, count, Options{}, good);
  for (const Many::Layout layout : Many::layouts)
    expect_solved_with_plan(A, 34, Options{}, good, layout);
}

template <class T>
void options_are_heeded() {
  for (const auto boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = make<T>(Family::dominant, 130, 1, boundary);
    for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
      for (const Algorithm algorithm : {Algorithm::factored, Algorithm::thomas})
        expect_solved_with_plan(A, 20, Options{}.transpose(op).algorithm(algorithm),
                                {algorithm, 1e-15});
    for (const auto& options : {Options{}.scaling(Trikkos::Scaling::columns), Options{}.refine(2),
                                Options{}.verify(scaled<T>(1e-14))})
      expect_solved_with_plan(A, 20, options, good);
  }
}
TEST(TEST_CATEGORY, factored_pentadiagonal_options) {
  options_are_heeded<double>();
  options_are_heeded<Kokkos::complex<float>>();
}

/// The judge of the tests below.
TEST(TEST_CATEGORY, factored_pentadiagonal_error_is_the_reference) {
  for (const std::int64_t n : {1, 3, 5, 6, 50})
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      const auto A = make<Kokkos::complex<double>>(Family::random, n, 1, boundary);
      const auto x = random_rhs<Kokkos::complex<double>>(n, 1);
      auto b = Reference::multiply(A, x);
      EXPECT_LE(Reference::relative_difference(fast_multiply(A, x), b), 1e-18);
      for (const double change : {0., 1e-5, 1.}) {
        b[n / 2] += change;
        const double eta = Reference::backward_error(A, x, b);
        EXPECT_NEAR(fast_backward_error(A, x, b), eta, 1e-18 + 1e-9 * eta);
      }
    }
}

/// What two neighbours hand on grows with the rows where roots are double: the accuracy must not
/// depend on n for that.
TEST(TEST_CATEGORY, factored_pentadiagonal_accuracy_does_not_depend_on_n) {
  const Expected accurate{Algorithm::factored, 2e-15};
  for (const std::int64_t n : {5, 18, 50, 137, 500, 1000, 4096}) {
    const auto expect_solved = [&](const HostPentadiagonal<double>& A) {
      expect_solved_with_plan(A, 9, Options{}, accurate, Many::Layout::right);
    };
    expect_solved(make<double>(Family::biharmonic, n));
    expect_solved(toeplitz(n, {1, 4, 6, 4, 1}));
    expect_solved(toeplitz(n, {1, 0, -2, 0, 1}));
    expect_solved(toeplitz(n, {1, -2, 1, 0, 0}));
    expect_solved(toeplitz(n, {0, 0, 1, -2, 1}));
    expect_solved(toeplitz(n, {0, -1, 2, -1, 0}));
    expect_solved(toeplitz(n, {1, -4, 6 + 1e-6, -4, 1}, Boundary::periodic));
    for (const double s : {1., 1e4, 1e8})
      for (const auto boundary : {Boundary::open, Boundary::periodic})
        expect_solved(hyperdiffusion(n, s, boundary));
  }
  expect_solved_with_plan(make<double>(Family::biharmonic, 300), 40, Options{}, accurate);
  // rows of very different size
  auto graded = make<double>(Family::biharmonic, 1000);
  for (std::int64_t i = 0; i < 1000; ++i)
    for (int j = -2; j <= 2; ++j)
      graded.band(j)[i] = std::ldexp(graded.band(j)[i], static_cast<int>(i % 200) - 100);
  expect_solved_with_plan(graded, 8, Options{}, accurate);
}

/// Where LU without pivoting would lose digits, rotations solve.
TEST(TEST_CATEGORY, factored_pentadiagonal_only_where_it_is_safe) {
  for (const std::int64_t n : {40, 300, 1000})
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      for (const Family family : {Family::random, Family::zero_diagonal})
        expect_solved_with_plan(make<double>(family, n, 1, boundary), 9, Options{},
                                {Algorithm::segmented});
      expect_solved_with_plan(toeplitz(n, {0, 1, 1e-9, 1.1, 0}, boundary), 9, Options{},
                              {Algorithm::segmented});
    }
  // a harmless ring, whose first rows by themselves let solutions grow
  for (const double growth : {1.05, 1.5, 10.})
    expect_solved_with_plan(toeplitz(300, {0, -growth, 1, 0, 0}, Boundary::periodic), 9, Options{},
                            {Algorithm::segmented});
  // whoever solves: x is right
  const TEST_EXECSPACE exec;
  for (const Family family : families)
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      const auto A = make<double>(family, 400, 2, boundary);
      const Plan plan(exec, Reference::to_device(exec, A), {}, 1000);
      expect_solved_with_plan(A, 9, Options{}, {plan.algorithm()});
    }
}

/// `thomas` says so instead.
TEST(TEST_CATEGORY, factored_pentadiagonal_thomas_flags_what_is_not_safe) {
  const TEST_EXECSPACE exec;
  const auto status_of = [&](const HostPentadiagonal<double>& A) {
    const auto batch = right_hand_sides_of(A, 5);
    const DeviceBatch<double> device(batch, Many::Layout::right);
    const Plan plan(exec, Reference::to_device(exec, A), Options{}.algorithm(Algorithm::thomas), 5);
    Trikkos::solve(exec, plan, device.b, device.x);
    return plan.status(exec);
  };
  for (const auto boundary : {Boundary::open, Boundary::periodic}) {
    auto A = make<double>(Family::dominant, 90, 1, boundary);
    EXPECT_TRUE(status_of(A).ok());
    EXPECT_EQ(status_of(toeplitz(90, {0, 1, 1e-9, 1.1, 0}, boundary)).reason,
              Status::Reason::unstable);
    A.diag[0] = 1e-12;
    EXPECT_EQ(status_of(A).reason, Status::Reason::unstable);
    A.diag[0] = 6;
    A.diag[40] = std::numeric_limits<double>::quiet_NaN();
    const Status status = status_of(A);
    EXPECT_EQ(status.reason, Status::Reason::not_finite) << status.why();
    EXPECT_EQ(status.row, 40);
    for (int j = -2; j <= 2; ++j) A.band(j)[40] = 0;
    EXPECT_FALSE(status_of(A).ok());
  }
}

TEST(TEST_CATEGORY, factored_pentadiagonal_says_what_it_cannot_solve) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {7, 100, 1000}) {
    const std::int64_t bad = 3 * n / 4;
    const auto status_of = [&](const HostPentadiagonal<double>& A) {
      const auto batch = right_hand_sides_of(make<double>(Family::dominant, n), 20);
      const DeviceBatch<double> device(batch, Many::Layout::left);
      const Plan plan(exec, Reference::to_device(exec, A), {}, 20);
      Trikkos::solve(exec, plan, device.b, device.x);
      EXPECT_EQ(plan.algorithm(), Algorithm::segmented);
      return plan.status(exec);
    };
    auto A = make<double>(Family::dominant, n);
    for (int j = -2; j <= 2; ++j) A.band(j)[bad] = 0;
    EXPECT_EQ(status_of(A).reason, Status::Reason::singular);
    EXPECT_EQ(status_of(A).row, bad);
    for (const double wrong :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (int j = -2; j <= 2; ++j) {
        if (bad + j >= n) continue;
        A = make<double>(Family::dominant, n);
        A.band(j)[bad] = wrong;
        EXPECT_EQ(status_of(A).reason, Status::Reason::not_finite);
        EXPECT_EQ(status_of(A).row, bad);
      }
  }
}

/// What is not finite in b is named, and spoils no other right-hand side.
TEST(TEST_CATEGORY, factored_pentadiagonal_names_what_is_not_finite) {
  const TEST_EXECSPACE exec;
  const double wrong = std::numeric_limits<double>::quiet_NaN();
  for (const auto boundary : {Boundary::open, Boundary::periodic})
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::thomas})
      for (const Many::Layout layout : {Many::Layout::left, Many::Layout::right})
        for (const std::int64_t row : {0, 57, 99}) {
          const auto A = make<double>(Family::dominant, 100, 1, boundary);
          const auto right = right_hand_sides_of(A, 40);
          auto batch = right;
          batch.b[21][row] = wrong;
          const DeviceBatch<double> device(batch, layout), expected(right, layout);
          const Plan plan(exec, Reference::to_device(exec, A), Options{}.algorithm(algorithm), 40);
          Trikkos::solve(exec, plan, expected.b, expected.x);
          EXPECT_TRUE(plan.status(exec).ok());
          Trikkos::solve(exec, plan, device.b, device.b);  // in place
          const auto status = plan.status(exec);
          EXPECT_EQ(status.reason, Status::Reason::not_finite);
          EXPECT_EQ(status.system, 21);
          EXPECT_EQ(status.row, row);
          for (std::int64_t k = 0; k < 40; ++k)
            if (k != 21) {
              EXPECT_EQ(Reference::to_host(Many::row_of(device.b, k)), expected.solution(k));
            }
        }
}

TEST(TEST_CATEGORY, factored_pentadiagonal_follows_an_update) {
  const TEST_EXECSPACE exec;
  const auto safe = make<double>(Family::dominant, 200, 1),
             unsafe = make<double>(Family::random, 200, 2);
  const Plan plan(exec, Reference::to_device(exec, safe), {}, 64);
  for (const auto* const A : {&safe, &unsafe, &safe}) {
    plan.update(exec, Reference::to_device(exec, *A));
    EXPECT_EQ(plan.algorithm(), A == &safe ? Algorithm::factored : Algorithm::segmented);
    const auto batch = right_hand_sides_of(*A, 20);
    const DeviceBatch<double> device(batch, Many::Layout::right);
    Trikkos::solve(exec, plan, device.b, device.x);
    EXPECT_TRUE(plan.status(exec).ok());
    for (std::int64_t k = 0; k < batch.count(); ++k)
      EXPECT_LE(batch.eta(k, device.solution(k)), 1e-14);
  }
}

// ---- corners of rings, corrected for by the formula of Woodbury

constexpr Options corrected = Options{}.thomas({Trikkos::Corners::sherman_morrison});
constexpr Expected as_thomas{Algorithm::thomas, 2e-15};

template <class T>
void corners_are_corrected() {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 100, 1000})
    for (const auto op : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
      const Options options = Options(corrected).transpose(op);
      for (const double sigma : {0.1, 1., 10.})
        expect_solved_with_plan(
            toeplitz<T>(n, {sigma, -4 * sigma, 1 + 6 * sigma, -4 * sigma, sigma},
                        Boundary::periodic),
            3, options, as_thomas, Many::Layout::right);
      expect_solved_with_plan(make<T>(Family::dominant, n, 1, Boundary::periodic), 3, options,
                              as_thomas, Many::Layout::left);
    }
}
TEST(TEST_CATEGORY, factored_pentadiagonal_corners_are_corrected) {
  corners_are_corrected<double>();
  corners_are_corrected<float>();
  corners_are_corrected<Kokkos::complex<double>>();
  corners_are_corrected<Kokkos::complex<float>>();
}

/// What is flagged: by the number of rows, 1 + v^T z that is rounding alone, and errors that the
/// correction multiplies.
TEST(TEST_CATEGORY, factored_pentadiagonal_corners_that_cannot_be_corrected) {
  const TEST_EXECSPACE exec;
  const auto status_of = [&](const HostPentadiagonal<double>& A) {
    const auto batch = right_hand_sides_of(A, 3);
    const DeviceBatch<double> device(batch, Many::Layout::right);
    const Plan plan(exec, Reference::to_device(exec, A), corrected, 3);
    Trikkos::solve(exec, plan, device.b, device.x);
    return plan.status(exec).reason;
  };
  const auto ring = [](std::array<double, 5> row) { return toeplitz(64, row, Boundary::periodic); };
  EXPECT_EQ(status_of(ring({1, -4, 7, -4, 1})), Status::Reason::none);
  EXPECT_EQ(status_of(ring({1, -4, 6, -4, 1})), Status::Reason::unstable);  // singular
  EXPECT_EQ(status_of(ring({0, -1, 2, -1, 0})), Status::Reason::unstable);
  EXPECT_EQ(status_of(ring({0, -1.5, 1, 0, 0})), Status::Reason::unstable);  // z grows
  for (const std::int64_t row : {0, 1}) {
    auto A = ring({1, -1, 7, -1, 1});
    EXPECT_EQ(status_of(A), Status::Reason::none);
    A.lower2[row] = 100;  // against the diagonal
    EXPECT_EQ(status_of(A), Status::Reason::unstable);
    A = ring({1, -1, 7, -1, 1});
    A.diag[row] = 0;  // no u
    EXPECT_EQ(status_of(A), Status::Reason::unstable);
  }
  auto A = ring({1, -1, 7, -1, 1});
  A.upper[63] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(status_of(A), Status::Reason::none);
}

/// Nobody has corners in an open matrix.
TEST(TEST_CATEGORY, factored_pentadiagonal_corners_of_open_matrices_do_not_matter) {
  const TEST_EXECSPACE exec;
  const auto batch = right_hand_sides_of(make<double>(Family::dominant, 50), 3);
  std::vector<double> x[2];
  for (const bool corrects : {false, true}) {
    const DeviceBatch<double> device(batch, Many::Layout::right);
    const Plan plan(exec, Reference::to_device(exec, batch.A[0]),
                    corrects ? corrected : Options{}.algorithm(Algorithm::thomas), 3);
    Trikkos::solve(exec, plan, device.b, device.x);
    x[corrects] = device.solution(2);
  }
  EXPECT_EQ(x[0], x[1]);
}

TEST(TEST_CATEGORY, factored_pentadiagonal_errors_say_what_is_wrong) {
  const TEST_EXECSPACE exec;
  using View = Kokkos::View<double*, TEST_EXECSPACE>;
  using Views = Kokkos::View<double**, TEST_EXECSPACE>;
  const View v("v", 10);
  const Views w("w", 3, 10);
  const auto plan = [&](const auto& a, const Options& options) {
    return message([&] { Plan(exec, Trikkos::Pentadiagonal{a, a, a, a, a}, options); });
  };
  for (const Algorithm algorithm : {Algorithm::spike, Algorithm::pcr})
    EXPECT_EQ(plan(v, Options{}.algorithm(algorithm)),
              std::string("Trikkos::Plan: algorithm is ") + name(algorithm) +
                  ", expected automatic, segmented, factored or thomas (A is pentadiagonal)");
  EXPECT_EQ(plan(w, Options{}.algorithm(Algorithm::factored)),
            "Trikkos::Plan: A has 3 systems, expected one (algorithm factored)");
}

}  // namespace Test::Five
