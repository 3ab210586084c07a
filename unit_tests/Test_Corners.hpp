// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <InKernels.hpp>
#include <Promise.hpp>
#include <Trikkos.hpp>

/// \file
/// `Corners::sherman_morrison` of `thomas`: one-shot, with the factors of a Plan, and inside
/// kernels.

namespace Test::CornersOfRings {

using Breaker::Level;
using Reference::HostSystem;
using Trikkos::Boundary;
using Trikkos::Corners;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Status;
using Trikkos::Transpose;

constexpr Options corrected = Options{}.thomas({Corners::sherman_morrison});
constexpr Level levels[] = {Level::call, Level::plan, Level::team, Level::thread_in_memory};

template <class T>
HostSystem<T> ring(std::int64_t n, T lower, T diag, T upper) {
  return {std::vector<T>(n, lower), std::vector<T>(n, diag), std::vector<T>(n, upper), true};
}
/// A step of Crank and Nicolson (Gloster 2019, equation 11).
template <class T>
HostSystem<T> diffusion(std::int64_t n, double sigma) {
  return ring<T>(n, T(-sigma), T(1 + 2 * sigma), T(-sigma));
}

template <class T>
struct Solved {
  std::vector<T> x;
  bool ok;
};
template <class T>
Solved<T> solve_inside(Level level, const HostSystem<T>& A, const std::vector<T>& b,
                       const Options& options) {
  const TEST_EXECSPACE exec;
  const auto rows = [&](const std::vector<T>& v) {
    const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> r("row", 1, v.size());
    ::Test::copy(Kokkos::subview(r, 0, Kokkos::ALL), Reference::to_device(exec, v));
    return r;
  };
  const Systems<T> systems{rows(A.lower), rows(A.diag), rows(A.upper),
                           rows(b),       rows(b),      Boundary::periodic};
  const auto info = level == Level::team ? solve_by_teams(systems, 1, options)
                                         : solve_by_threads_in_memory(systems, 1, options);
  return {Reference::to_host(systems.row(systems.x, 0)), info[0] == 0};
}
template <class T>
Solved<T> solve(Level level, const HostSystem<T>& A, const std::vector<T>& b,
                const Options& options = corrected) {
  const TEST_EXECSPACE exec;
  if (level == Level::team || level == Level::thread_in_memory)
    return solve_inside(level, A, b, options);
  const Kokkos::View<T*, TEST_EXECSPACE> x("x", b.size());
  const auto device_b = Reference::to_device(exec, b);
  if (level == Level::call) {
    const Status status = Trikkos::solve(exec, Reference::to_device(exec, A), device_b, x, options);
    return {Reference::to_host(x), status.ok()};
  }
  const Trikkos::Plan plan(exec, Reference::to_device(exec, A), options);
  Trikkos::solve(exec, plan, device_b, device_b);  // in place
  return {Reference::to_host(device_b), plan.status(exec).ok()};
}

template <class T>
void expect_solved(const HostSystem<T>& A, double gate) {
  for (const auto op : {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
    const auto op_A =
        op == Transpose::none ? A : Reference::transpose(A, op == Transpose::conjugate_transpose);
    for (const auto& b : right_hand_sides(op_A, 7))
      for (const Level level : levels) {
        const Options options = Options(corrected).transpose(op);
        if (level == Level::team &&
            Trikkos::team_scratch_bytes<T>(A.size(), options, Boundary::periodic) > 30 * 1024)
          continue;
        SCOPED_TRACE("n " + std::to_string(A.size()) + ", " + Breaker::name(level) + ", op " +
                     std::to_string(static_cast<int>(op)));
        const auto solved = solve(level, A, b, options);
        EXPECT_TRUE(solved.ok);
        EXPECT_LE(Reference::backward_error(op_A, solved.x, b), scaled<T>(gate));
      }
  }
}

template <class T>
void solves_dominant_rings() {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 16, 17, 100, 1000}) {
    for (const double sigma : {0.1, 1., 1000.}) expect_solved(diffusion<T>(n, sigma), 1e-15);
    expect_solved(gallery<T>(Gallery::uniform_dominant, n, 3, Boundary::periodic), 2e-15);
    expect_solved(ring<T>(n, T(-1), T(4), T(2)), 1e-15);
  }
}
TEST(TEST_CATEGORY, corners_of_dominant_rings) {
  solves_dominant_rings<double>();
  solves_dominant_rings<float>();
  solves_dominant_rings<Kokkos::complex<double>>();
  solves_dominant_rings<Kokkos::complex<float>>();
}

/// A Plan keeps the factors and the correction: they solve for right-hand sides that come later.
TEST(TEST_CATEGORY, corners_of_a_plan_with_many_right_hand_sides) {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t n = 100, count = 33;
  const Trikkos::Plan plan(exec, Reference::to_device(exec, diffusion<double>(n, 1)), corrected,
                           count);
  for (const double sigma : {1., 10.}) {
    const auto A = diffusion<double>(n, sigma);
    plan.update(exec, Reference::to_device(exec, A));
    const Kokkos::View<double**, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
    for (int k = 0; k < count; ++k)
      ::Test::copy(Kokkos::subview(b, k, Kokkos::ALL), Trikkos::gallery_rhs<double>(exec, n, k));
    Trikkos::solve(exec, plan, b, x);
    EXPECT_TRUE(plan.status(exec).ok());
    for (int k = 0; k < count; ++k) {
      const auto row = [&](const auto& v) {
        return Reference::to_host(Kokkos::subview(v, k, Kokkos::ALL));
      };
      EXPECT_LE(Reference::backward_error(A, row(x), row(b)), 1e-15);
    }
  }
}

/// Nobody has corners in an open matrix: all is as without the option.
TEST(TEST_CATEGORY, corners_of_open_matrices_do_not_matter) {
  const auto A = gallery<double>(Gallery::uniform_dominant, 50);
  const auto b = random_rhs<double>(50);
  EXPECT_EQ(::Test::solve(A, b, corrected).x,
            ::Test::solve(A, b, Options{}.algorithm(Trikkos::Algorithm::thomas)).x);
}

/// The correction is no better than A', z and 1 + v^T z.
TEST(TEST_CATEGORY, corners_that_cannot_be_corrected_are_flagged) {
  const auto b = random_rhs<double>(64);
  const auto expect_flagged = [&](const HostSystem<double>& A) {
    for (const Level level : levels) {
      const auto solved = solve(level, A, b);
      if (level == Level::call || level == Level::plan || is_finite(solved.x)) {
        EXPECT_FALSE(solved.ok) << Breaker::name(level);
      }
    }
  };
  expect_flagged(ring(64, -1., 2., -1.));  // singular: 1 + v^T z is rounding
  auto huge_v = ring(64, -1., 4., -1.);
  huge_v.lower[0] = 100;  // against b_0
  expect_flagged(huge_v);
  auto no_first = ring(64, -1., 4., -1.);
  no_first.diag[0] = 0;  // no u
  expect_flagged(no_first);
  auto cancelled = ring(64, -1., 4., -1.);
  cancelled.lower[0] = -4;  // A'(n-1, n-1) is 0
  cancelled.upper[63] = 4;
  expect_flagged(cancelled);
  expect_flagged(ring(64, -1.5, 1., 0.));  // z grows
}

/// However the ring is: an x that passes for ok is as good as is said.
template <class T>
void flags_what_it_cannot_solve() {
  int wrong = 0;
  for (const Gallery type : {Gallery::uniform, Gallery::sparse_off_diagonals, Gallery::clement,
                             Gallery::toeplitz_1e_8_entrywise, Gallery::singular_blocks,
                             Gallery::graded_rows, Gallery::random_row_scaling, Gallery::lesp})
    for (const std::int64_t n : {1, 2, 3, 5, 8, 100})
      for (int seed = 0; seed < 20; ++seed) {
        const auto A = gallery<T>(type, n, seed, Boundary::periodic);
        for (const auto& b : right_hand_sides(A, seed))
          for (const Level level : levels) {
            const auto solved = solve(level, A, b);
            const double eta = is_finite(solved.x) ? Reference::backward_error(A, solved.x, b) : 1;
            const bool bad = !(eta <= Breaker::promised<T>({corrected, level}));
            wrong += bad;
            if (is_finite(solved.x)) {
              EXPECT_FALSE(bad && solved.ok) << name(type) << ", " << n;
            }
          }
      }
  EXPECT_GT(wrong, 100);  // it was a test
}
TEST(TEST_CATEGORY, corners_flag_what_they_cannot_solve) {
  flags_what_it_cannot_solve<double>();
  flags_what_it_cannot_solve<Kokkos::complex<float>>();
}

}  // namespace Test::CornersOfRings
