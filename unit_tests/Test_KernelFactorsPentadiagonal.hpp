// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <HostViews.hpp>
#include <Pentadiagonals.hpp>
#include <array>
#include <limits>

/// \file
/// `factor` and `solve` with a KernelFactors of a pentadiagonal matrix. (Test_KernelFactors.hpp:
/// tridiagonal ones, and misuse.)

namespace Test::Five {

using Trikkos::Algorithm;
using Trikkos::KernelFactors;

constexpr Options lu = Options{}.algorithm(Algorithm::thomas);
constexpr Options corrected = Options{}.thomas({Trikkos::Corners::sherman_morrison});

template <class T>
auto on_host(const HostPentadiagonal<T>& A) {
  using ::Test::on_host;
  return Trikkos::Pentadiagonal{on_host(A.lower2), on_host(A.lower),  on_host(A.diag),
                                on_host(A.upper),  on_host(A.upper2), boundary_of(A.periodic)};
}
template <class T>
HostPentadiagonal<T> uniform_rows(std::int64_t n, std::array<double, 5> row, Boundary boundary) {
  HostPentadiagonal<T> A;
  A.periodic = boundary == Boundary::periodic;
  for (int j = -2; j <= 2; ++j) A.band(j).assign(n, T(row[2 + j]));
  return A;
}

// ---- on the host, without a kernel

template <class T>
struct Factored {
  std::vector<double> memory;
  KernelFactors<T, 2> factors;
  int info;

  Factored(const HostPentadiagonal<T>& A, const Options& options)
      : memory(Trikkos::factor_memory_bytes<T, 2>(A.size(), options, boundary_of(A.periodic)) /
                   sizeof(double) +
               1),
        factors(::Test::on_host(memory), A.size(), options, boundary_of(A.periodic)),
        info(Trikkos::factor(Trikkos::this_thread, on_host(A), factors)) {}

  int solve(const std::vector<T>& b, std::vector<T>& x) const {
    return Trikkos::solve(Trikkos::this_thread, factors, ::Test::on_host(b), ::Test::on_host(x));
  }
};

template <class T>
HostPentadiagonal<T> transposed(const HostPentadiagonal<T>& A, Transpose op) {
  return op == Transpose::none ? A : Reference::transpose(A, op == Transpose::conjugate_transpose);
}

/// With random b and b = A x, in place, too.
template <class T>
void expect_factored(const HostPentadiagonal<T>& A, const Options& options, double gate) {
  SCOPED_TRACE(::Test::describe(options) + ", n " + std::to_string(A.size()) +
               (A.periodic ? ", periodic" : "") + ", diag " +
               std::to_string(Kokkos::abs(A.diag[0])));
  const auto op_A = transposed(A, options.transpose());
  const Factored<T> factored(A, options);
  ASSERT_EQ(factored.info, 0);
  const auto random = random_rhs<T>(A.size(), 5);
  for (const auto& b : {random, fast_multiply(op_A, random)}) {
    std::vector<T> x(b.size()), y = b;
    EXPECT_EQ(factored.solve(b, x), 0);
    EXPECT_LE(fast_backward_error(op_A, x, b), scaled<T>(gate));
    EXPECT_EQ(factored.solve(y, y), 0);
    EXPECT_EQ(y, x);
  }
}

constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 67, 257, 1000};

template <class T>
void rotations_are_stable() {
  for (const std::int64_t n : sizes)
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      if (!std::is_same_v<Trikkos::Impl::Real<T>, double> && n > 100) continue;  // 1.3^(n/2)
      std::vector<HostPentadiagonal<T>> all;
      for (const Family family : families) all.push_back(make<T>(family, n, 1, boundary));
      all.push_back(uniform_rows<T>(n, {0, -1, 1e-3, 1, 0}, boundary));  // nothing decays
      all.push_back(uniform_rows<T>(n, {1, 0, 1e-3, 0, -1.1}, boundary));
      all.push_back(uniform_rows<T>(n, {0, -1.1, 1, 0, 0}, boundary));
      all.push_back(uniform_rows<T>(n, {0, 0, 1, 0, 1.3}, boundary));
      for (const auto& A : all)
        if (!Reference::is_singular(A)) expect_factored(A, Options{}, 2e-15);
      const auto A = make<T>(Family::random, n, 2, boundary);
      for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
        expect_factored(A, Options{}.transpose(op), 2e-15);
      expect_factored(A, Options{}.scaling(Trikkos::Scaling::none), 2e-15);
      expect_factored(A, Options{}.algorithm(Algorithm::segmented), 2e-15);
      // each row by itself
      auto graded = A;
      for (std::int64_t i = 0; i < n; ++i)
        for (int j = -2; j <= 2; ++j)
          graded.band(j)[i] *= std::ldexp(1., static_cast<int>(7 * i % 60) - 30);
      expect_factored(graded, Options{}, 2e-15);
    }
}
TEST(TEST_CATEGORY, kernel_factors_pentadiagonal_are_stable) {
  rotations_are_stable<double>();
  rotations_are_stable<float>();
  rotations_are_stable<Kokkos::complex<double>>();
  rotations_are_stable<Kokkos::complex<float>>();
}

/// Carried in one word, rows of a ring along which nothing decays are rounded the same way each
/// time.
TEST(TEST_CATEGORY, kernel_factors_pentadiagonal_do_not_add_up_errors) {
  for (const std::array<double, 5> row : {std::array<double, 5>{0, 1, -2.5e-11, -0.198, 0},
                                          {-1, 0, -1.3e-11, 0, -0.141},
                                          {-1, 0.3, 1e-9, -0.2, -0.141}})
    expect_factored(uniform_rows<double>(20000, row, Boundary::periodic), Options{}, 1e-15);
  for (const Boundary boundary : {Boundary::open, Boundary::periodic})
    expect_factored(make<double>(Family::biharmonic, 20000, 1, boundary), Options{}, 1e-15);
}

template <class T>
void plain_factors() {
  for (const std::int64_t n : sizes)
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const Options& options : {lu, corrected})
        for (const auto op :
             {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
          const Options with_op = Options(options).transpose(op);
          expect_factored(make<T>(Family::dominant, n, 1, boundary), with_op, 2e-15);
          expect_factored(uniform_rows<T>(n, {1, -4, 7, -4, 1}, boundary), with_op, 2e-15);
        }
}
TEST(TEST_CATEGORY, kernel_factors_pentadiagonal_without_pivoting) {
  plain_factors<double>();
  plain_factors<float>();
  plain_factors<Kokkos::complex<double>>();
  plain_factors<Kokkos::complex<float>>();
}

/// A finite x without notice is as good as is promised, whatever A is.
TEST(TEST_CATEGORY, kernel_factors_pentadiagonal_flag_what_they_cannot_solve) {
  for (const Options& options : {Options{}, lu, corrected}) {
    const double promised =
        Breaker::promised<double>({options, Breaker::Level::thread_with_factors});
    int solved = 0, flagged = 0;
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 30})
        for (const Family family : families)
          for (int seed = 0; seed < 20; ++seed) {
            auto A = make<double>(family, n, seed, boundary);
            if (seed % 4 == 1) A.diag[seed % n] *= 1e-9;
            if (seed % 4 == 2) A.upper2[n - 1 - seed % n] = A.lower[seed % n] = 100;
            if (seed % 4 == 3)
              for (int j = -2; j <= 2; ++j) A.band(j)[seed % n] = 0;
            const Factored<double> factored(A, options);
            const auto b = random_rhs<double>(n, seed);
            std::vector<double> x(n);
            const bool ok = factored.solve(b, x) == 0;
            (ok ? solved : flagged) += 1;
            EXPECT_TRUE(!ok || factored.info == 0);
            if (ok) {
              EXPECT_LE(fast_backward_error(A, x, b), promised) << name(family) << ", " << n;
            }
          }
    EXPECT_GT(solved, 300);
    EXPECT_GT(flagged, 100);
  }
}

// ---- inside kernels

/// A thread, or one for its team, factors; all threads solve.
template <class T>
struct SolveWithKernelFactors {
  DeviceBatch<T> systems;
  Options options;
  Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory;
  Infos info;

  KOKKOS_FUNCTION auto factors(int k) const {
    return KernelFactors<T, 2>(Kokkos::subview(memory, k, Kokkos::ALL), systems.b.extent(1),
                               options, systems.A.boundary);
  }
  KOKKOS_FUNCTION int solve(int k) const {
    return Trikkos::solve(Trikkos::this_thread, factors(k), Many::row_of(systems.b, k),
                          Many::row_of(systems.x, k));
  }
  KOKKOS_FUNCTION void operator()(int k) const {
    const int result = Trikkos::factor(Trikkos::this_thread, systems.matrix(k), factors(k));
    const int solved = solve(k);
    info(k) = solved == result ? result : -1;
  }
  KOKKOS_FUNCTION void operator()(
      const Kokkos::TeamPolicy<TEST_EXECSPACE>::member_type& member) const {
    const int k = member.league_rank();
    const int result = Trikkos::factor(member, systems.matrix(k), factors(k));
    Kokkos::single(Kokkos::PerTeam(member), [&] { info(k) = solve(k) == result ? result : -1; });
  }
};

template <class T>
void factors_inside_kernels(const Options& options) {
  const TEST_EXECSPACE exec;
  constexpr int count = 4, bad = 2;
  for (const auto boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 100}) {
      SCOPED_TRACE(::Test::describe(options) + ", " + std::to_string(n) + " rows, " +
                   name(boundary));
      const auto family =
          options.algorithm() == Algorithm::thomas ? Family::dominant : Family::random;
      Batch<T> batch;
      for (int k = 0; k < count; ++k) {
        batch.A.push_back(make<T>(family, n, k, boundary));
        batch.b.push_back(random_rhs<T>(n, k));
      }
      batch.A[bad].diag[n / 2] = std::numeric_limits<double>::quiet_NaN();
      const DeviceBatch<T> device(batch, Many::Layout::left);
      const auto bytes = Trikkos::factor_memory_bytes<T, 2>(n, options, boundary);
      const SolveWithKernelFactors<T> kernel{device, options, memory_of_threads(count, bytes),
                                             Infos("info", count)};
      for (const bool by_teams : {false, true}) {
        if (by_teams)
          Kokkos::parallel_for(
              "teams", Kokkos::TeamPolicy<TEST_EXECSPACE>(exec, count, Kokkos::AUTO), kernel);
        else
          Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(exec, 0, count),
                               kernel);
        const auto info = Reference::to_host(kernel.info);
        for (int k = 0; k < count; ++k) {
          EXPECT_EQ(info[k], k == bad ? 1 + n / 2 : 0);
          if (k != bad) {
            EXPECT_LE(batch.eta(k, device.solution(k)), scaled<T>(1e-15));
          }
        }
      }
    }
}
TEST(TEST_CATEGORY, kernel_factors_pentadiagonal_inside_kernels) {
  for (const Options& options : {Options{}, lu, corrected}) factors_inside_kernels<double>(options);
  factors_inside_kernels<Kokkos::complex<float>>(Options{});
}

}  // namespace Test::Five
