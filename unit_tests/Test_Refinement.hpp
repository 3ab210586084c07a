// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Outcome.hpp>
#include <random>

/// \file
/// Options::refine: whatever the algorithm and the system, the backward error does not grow above
/// rounding, a Status is ok only where it is small, and one that was not becomes ok only then.

namespace Test::Refinement {

using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Pivoting;
using Trikkos::Transpose;
using Reason = Trikkos::Status::Reason;

/// All algorithms, some with options that cost accuracy.
std::vector<Options> algorithms() {
  std::vector<Options> all{Options{}.algorithm(Algorithm::segmented),
                           Options{}.algorithm(Algorithm::segmented).partition_size(7),
                           Options{}.truncated({.overlap = 8}),
                           Options{}.algorithm(Algorithm::spike),
                           Options{}.algorithm(Algorithm::spike).partition_size(8),
                           Options{}.algorithm(Algorithm::spike).partition_size(7),
                           Options{}.spike({.pivoting = Pivoting::none}),
                           Options{}.algorithm(Algorithm::pcr),
                           Options{}.algorithm(Algorithm::thomas)};
  const auto is_missing = [](const Options& o) {
    return Trikkos::Workspace<double, TEST_EXECSPACE>(TEST_EXECSPACE{}, 8, 1, o).algorithm() !=
           o.algorithm();
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_missing), all.end());
  return all;
}

template <class T>
double max_entry(const std::vector<T>& v) {
  double largest = 0;
  for (const T& entry : v) largest = std::max<double>(largest, Kokkos::abs(entry));
  return largest;
}

struct Count {
  int systems = 0, better = 0, cleared = 0, hopeless = 0;
};

/// What holds for every system, with `options` for op(stored).
template <class T>
void expect_guarded(const HostSystem<T>& stored, const std::vector<T>& b, const Options& options,
                    Count& count) {
  // The library's residual has twice the digits of double, but not of subnormal numbers.
  constexpr double rounding = 1 + 1e-12;
  constexpr double epsilon = std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon();
  const auto plain = solve(stored, b, options);
  for (const int steps : {1, 3}) {
    SCOPED_TRACE(describe(Options(options).refine(steps)));
    const auto r = solve(stored, b, Options(options).refine(steps));
    ++count.systems;
    if (is_finite(plain.x)) {
      EXPECT_TRUE(is_finite(r.x));
      count.better += r.eta < plain.eta;
    } else {
      EXPECT_FALSE(r.ok()) << r;
      ++count.hopeless;
    }
    if (r.ok() && !plain.ok()) {
      EXPECT_EQ(plain.status.reason, Reason::unstable);
      ++count.cleared;
    }
    if (!r.ok() && r.status.reason != plain.status.reason) {
      EXPECT_TRUE(plain.ok());
      EXPECT_EQ(r.status.reason, Reason::inaccurate);
    }
    if (!plain.ok() && !r.ok()) {
      EXPECT_EQ(r.status.row, plain.status.row);
    }
    if (stored.periodic && stored.size() < 3) continue;  // entries that add up: |A| may be larger
    if (std::isfinite(plain.eta)) {
      EXPECT_LE(r.eta, std::max(plain.eta, epsilon) * rounding) << "before: " << plain;
    }
    if (r.ok()) {
      EXPECT_LE(r.eta, 45 * epsilon * rounding);
    } else if (r.status.reason == Reason::inaccurate) {
      EXPECT_GE(r.eta, 45 * epsilon / rounding);
    }
    // what is reported is the error of this x; b is scaled, which rounds subnormal numbers
    const double rounded = max_entry(b) < 1e-300 ? 1e-14 : 1e-16;
    if (std::isfinite(r.eta)) {
      EXPECT_LE(r.status.backward_error, 2 * r.eta + scaled<T>(rounded));
      EXPECT_GE(r.status.backward_error, r.eta / 2);
    } else {
      EXPECT_FALSE(std::isfinite(r.status.backward_error)) << r.status.backward_error;
    }
  }
}

template <class T>
void every_gallery_type(std::int64_t n, int seed, Boundary boundary, Count& count) {
  for (const Gallery type : Trikkos::gallery_types) {
    if (Trikkos::Impl::randsvd_mode(type) != 0 && (boundary == Boundary::periodic || n > 100))
      continue;
    const auto A = gallery<T>(type, n, seed, boundary);
    const auto rhs = right_hand_sides(A, seed);
    for (int k = 0; k < 2; ++k) {
      for (Options options : algorithms()) {
        const auto op = seed % 3 == 0   ? Transpose::none
                        : seed % 3 == 1 ? Transpose::transpose
                                        : Transpose::conjugate_transpose;
        SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " + name(boundary) +
                     (k ? ", b = A x" : ", random b"));
        expect_guarded(A, rhs[k], options.transpose(op), count);
      }
    }
  }
}

TEST(TEST_CATEGORY, refinement_does_no_harm) {
  Count count;
  for (const std::int64_t n : {1, 2, 3, 16, 63, 64}) {
    every_gallery_type<double>(n, static_cast<int>(n), Boundary::open, count);
    every_gallery_type<double>(n, static_cast<int>(n) + 1, Boundary::periodic, count);
  }
  every_gallery_type<double>(511, 3, Boundary::open, count);
  every_gallery_type<double>(512, 4, Boundary::open, count);
  // all cases did occur
  EXPECT_GT(count.systems, 5000);
  EXPECT_GT(count.better, 1000);
  EXPECT_GT(count.cleared, 100);
  EXPECT_GT(count.hopeless, 1000);
}

TEST(TEST_CATEGORY, refinement_does_no_harm_float_and_complex) {
  Count count;
  for (const std::int64_t n : {3, 100}) {
    every_gallery_type<float>(n, 3, Boundary::open, count);
    every_gallery_type<Kokkos::complex<float>>(n, 5, Boundary::open, count);
    every_gallery_type<Kokkos::complex<double>>(n, 4, Boundary::periodic, count);
  }
  EXPECT_GT(count.better, 500);
}

/// Partitions that are singular, or nearly: b = A * ones leaves the ones and a large null vector
/// beside them, so that a step can shrink x far more than the residual.
TEST(TEST_CATEGORY, refinement_does_no_harm_to_a_large_solution) {
  Count count;
  for (const Gallery type :
       {Gallery::clement, Gallery::zero_diagonal_toeplitz, Gallery::zero_diagonal_entrywise,
        Gallery::toeplitz_1e_8, Gallery::diagonal_0101}) {
    for (const std::int64_t n : {60, 62, 64, 512, 1000}) {
      const auto A = gallery(type, n, 3);
      const auto b = Reference::multiply(A, std::vector<double>(n, 1));
      for (const std::int64_t partition_size : {0, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 64, 66}) {
        for (const Pivoting pivoting : {Pivoting::diagonal, Pivoting::none}) {
          SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n));
          expect_guarded(
              A, b, Options{}.spike({.pivoting = pivoting}).partition_size(partition_size), count);
        }
      }
    }
  }
}

/// The same sought at random: zeros and almost zeros on the diagonal, entries that tie.
TEST(TEST_CATEGORY, refinement_does_no_harm_that_a_search_finds) {
  std::mt19937_64 random(7);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1; };
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  Count count;
  for (int trial = 0; trial < 4000 && !::testing::Test::HasFailure(); ++trial) {
    const std::int64_t n = 4 + static_cast<std::int64_t>(random() % 61);
    const bool is_toeplitz = random() % 2;
    const double zero = one_of(0., 1e-17, 1e-15, 1e-12, 1e-8);
    const double l = one_of(1., -1., uniform()), u = one_of(1., -1., uniform());
    HostSystem<double> A{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    std::vector<double> x(n, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      A.lower[i] = is_toeplitz ? l : one_of(1., -1., uniform());
      A.upper[i] = is_toeplitz ? u : one_of(1., -1., uniform());
      A.diag[i] = zero * uniform();
      if (random() % 8 == 0) A.diag[i] = one_of(1., -1., uniform());
    }
    if (random() % 2)
      for (double& v : x) v = uniform();
    A.periodic = random() % 4 == 0;
    const auto b = random() % 4 ? Reference::multiply(A, x) : x;
    auto options = one_of(
        Options{}.algorithm(Algorithm::spike), Options{}.algorithm(Algorithm::spike),
        Options{}.spike({.pivoting = Pivoting::none}), Options{}.algorithm(Algorithm::segmented),
        Options{}.algorithm(Algorithm::pcr), Options{}.algorithm(Algorithm::thomas));
    const auto rows = 2 + static_cast<std::int64_t>(random() % 15);
    if (options.algorithm() == Algorithm::segmented || options.algorithm() == Algorithm::spike)
      options.partition_size(rows);
    SCOPED_TRACE("trial " + std::to_string(trial) + ", n " + std::to_string(n));
    expect_guarded(A, b, options, count);
  }
  EXPECT_GT(count.better, 1000);
  EXPECT_GT(count.cleared, 100);
}

/// It does more than no harm.
TEST(TEST_CATEGORY, refinement_makes_up_for_lost_digits) {
  for (const Gallery type : {Gallery::uniform, Gallery::small_coupling, Gallery::tiny_lower}) {
    SCOPED_TRACE(name(type));
    const auto options = Options{}.algorithm(Algorithm::spike).partition_size(2);
    double before = 0;
    for (int seed = 1; seed <= 20; ++seed) {  // a few lose digits, with any vector width
      const auto A = gallery(type, 512, seed);
      const auto b = right_hand_sides(A, seed)[1];
      before = std::max(before, solve(A, b, options).eta);
      EXPECT_LT(solve(A, b, Options(options).refine(1)).eta, 4e-16);
    }
    EXPECT_GT(before, 2e-15);
  }
}

/// `verify` sets the limit for a good x, and works without flagging what is good.
TEST(TEST_CATEGORY, refinement_and_verify) {
  const auto A = gallery(Gallery::uniform, 512, 1);
  const auto b = right_hand_sides(A, 1)[1];
  for (const Options& options : algorithms()) {
    SCOPED_TRACE(describe(options));
    const auto refined = Options(options).refine(1);
    EXPECT_EQ(solve(A, b, options).status.backward_error, -1);
    const auto r = solve(A, b, refined);
    const auto strict = solve(A, b, Options(refined).verify(1e-30));
    const auto lenient = solve(A, b, Options(refined).verify(1.));
    EXPECT_EQ(strict.x, r.x);
    EXPECT_EQ(lenient.x, r.x);
    EXPECT_EQ(strict.status.backward_error, r.status.backward_error);
    EXPECT_FALSE(strict.ok());
    EXPECT_EQ(lenient.ok(),
              r.ok());  // a tolerance above 45 units in the last place changes nothing
  }
}

// ---- many right-hand sides

/// Good ones beside one that is not a number, one that overflows, and a zero: each as if it were
/// alone. x beside b or in its place, with a Workspace and a Plan, twice.
template <class T>
void neighbours(Gallery type, std::int64_t n, std::int64_t count, const Options& options) {
  SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " + std::to_string(count) +
               " right-hand sides, " + describe(options));
  const TEST_EXECSPACE exec;
  const auto A = gallery<T>(type, n, 3);
  const auto A_view = Reference::to_device(exec, A);
  const Kokkos::View<T**, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  const auto host_b = Kokkos::create_mirror(b), host_x = Kokkos::create_mirror(x);
  using Real = Trikkos::Impl::Real<T>;
  std::vector<std::vector<T>> rhs;
  for (std::int64_t k = 0; k < count; ++k) {
    rhs.push_back(k % 2 ? right_hand_sides(A, k)[1] : random_rhs<T>(n, k));
    if (k == 1) rhs[k][n / 2] = T(std::numeric_limits<Real>::quiet_NaN());
    if (k == 2)
      for (T& v : rhs[k]) v *= std::numeric_limits<Real>::max() / 2;
    if (k == 4) rhs[k].assign(n, T(0));
    for (std::int64_t i = 0; i < n; ++i) host_b(k, i) = rhs[k][i];
  }
  std::vector<std::vector<T>> alone;
  for (const auto& one : rhs) alone.push_back(solve(A, one, options).x);
  const auto bits = [](const T& v) {
    return std::pair(Trikkos::Impl::real_part(v), Trikkos::Impl::imaginary_part(v));
  };
  const auto expect_alone = [&](const auto& view) {
    ::Test::copy(host_x, view);
    std::int64_t differ = 0;
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = 0; i < n; ++i)
        differ +=
            !(bits(host_x(k, i)) == bits(alone[k][i])) && std::isfinite(Kokkos::abs(alone[k][i]));
    EXPECT_EQ(differ, 0);
  };
  Trikkos::Workspace work(exec, A_view, b, options);
  Trikkos::Plan plan(exec, A_view, options);
  for (int repeat = 0; repeat < 2; ++repeat) {
    ::Test::copy(b, host_b);
    Trikkos::solve(exec, work, A_view, b, x);
    EXPECT_FALSE(work.status(exec).ok());
    EXPECT_FALSE(std::isfinite(work.status(exec).backward_error));
    expect_alone(x);
    Trikkos::solve(exec, plan, b, x);
    EXPECT_FALSE(plan.status(exec).ok());
    expect_alone(x);
    Trikkos::solve(exec, work, A_view, b, b);
    expect_alone(b);
    ::Test::copy(b, host_b);
    Trikkos::solve(exec, plan, b, b);
    expect_alone(b);
  }
}

TEST(TEST_CATEGORY, refinement_guards_each_right_hand_side_by_itself) {
  for (Options options : algorithms()) {
    options.refine(2);
    for (const std::int64_t n : {1, 100, 1000}) {
      neighbours<double>(Gallery::uniform, n, 7, options);
      if (n <= 100) neighbours<double>(Gallery::uniform_dominant, n, 300, options);
    }
    // enough to fill lanes, which is another way than alone: the same bits where refinement has
    // nothing left to do
    neighbours<float>(Gallery::uniform_dominant, 100, 20, options);
    neighbours<float>(Gallery::uniform, 100, 3, options);
    neighbours<Kokkos::complex<double>>(Gallery::uniform_dominant, 100, 7, options);
  }
}

/// In the same workspace a bad solve leaves nothing behind for the next.
TEST(TEST_CATEGORY, refinement_forgets_the_solve_before) {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t n = 300;
  const auto good = gallery(Gallery::uniform_dominant, n, 3);
  const auto b = random_rhs(n, 3);
  const Kokkos::View<double*, TEST_EXECSPACE> x("x", n);
  for (Options options : algorithms()) {
    SCOPED_TRACE(describe(options.refine(1)));
    const auto expected = solve(good, b, options);
    Trikkos::Workspace work(exec, Reference::to_device(exec, good), x, options);
    for (const Gallery type : {Gallery::nan_entry, Gallery::zero_column, Gallery::clement}) {
      Trikkos::solve(exec, work, Reference::to_device(exec, gallery(type, n, 3)),
                     Reference::to_device(exec, b), x);
      Trikkos::solve(exec, work, Reference::to_device(exec, good), Reference::to_device(exec, b),
                     x);
      const auto status = work.status(exec);
      EXPECT_TRUE(status.ok()) << status.why();
      EXPECT_EQ(status.backward_error, expected.status.backward_error);
      EXPECT_EQ(Reference::to_host(x), expected.x);
    }
  }
}

}  // namespace Test::Refinement
