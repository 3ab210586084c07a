// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <HostViews.hpp>
#include <InKernels.hpp>
#include <ManySystems.hpp>
#include <Promise.hpp>

/// \file
/// `factor` and `solve` with a KernelFactors: by a thread, for a team, from one kernel to the next.

namespace Test::Factoring {

using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Corners;
using Trikkos::Gallery;
using Trikkos::KernelFactors;
using Trikkos::Options;
using Trikkos::Scaling;
using Trikkos::Transpose;

constexpr Options lu = Options{}.algorithm(Algorithm::thomas);
constexpr Options corrected = Options{}.thomas({Corners::sherman_morrison});

template <class T>
HostSystem<T> toeplitz(std::int64_t n, T lower, T diag, T upper, Boundary boundary) {
  return {std::vector<T>(n, lower), std::vector<T>(n, diag), std::vector<T>(n, upper),
          boundary == Boundary::periodic};
}

template <class T>
HostSystem<T> transposed(const HostSystem<T>& A, Transpose op) {
  return op == Transpose::none ? A : Reference::transpose(A, op == Transpose::conjugate_transpose);
}

// ---- on the host, without a kernel

using Memory = std::vector<double>;
template <class T>
struct Factored {
  Memory memory;
  KernelFactors<T> factors;
  int info;

  Factored(const HostSystem<T>& A, const Options& options)
      : memory(Trikkos::factor_memory_bytes<T>(A.size(), options, boundary_of(A.periodic)) /
                   sizeof(double) +
               1),
        factors(on_host(memory), A.size(), options, boundary_of(A.periodic)),
        info(Trikkos::factor(Trikkos::this_thread, on_host(A), factors)) {}

  /// In place if wanted.
  std::vector<T> solve(std::vector<T> b, int expected_info = 0, bool in_place = false) const {
    std::vector<T> x(b.size());
    auto& to = in_place ? b : x;
    EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, factors, on_host(b), on_host(to)),
              expected_info);
    return to;
  }
};

// ---- accuracy

/// With random b and b = A x, in place, too.
template <class T>
void expect_solved(const HostSystem<T>& A, const Options& options, double gate) {
  SCOPED_TRACE(describe(options) + ", n " + std::to_string(A.size()) + ", " +
               name(boundary_of(A.periodic)) + ", diag " + std::to_string(Kokkos::abs(A.diag[0])));
  const auto op_A = transposed(A, options.transpose());
  const Factored<T> factored(A, options);
  ASSERT_EQ(factored.info, 0);
  EXPECT_EQ(factored.factors.info(), 0);
  for (const auto& b : right_hand_sides(op_A, 5)) {
    const auto x = factored.solve(b);
    EXPECT_LE(Reference::backward_error(op_A, x, b), scaled<T>(gate));
    EXPECT_EQ(factored.solve(b, 0, true), x);
  }
}

constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 16, 66, 67, 100, 257, 1000, 4096};

template <class T>
void stable_factors() {
  for (const std::int64_t n : sizes)
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      if (!std::is_same_v<T, double> && n > 300) continue;  // 1.1^n
      std::vector<HostSystem<T>> all;
      for (const Gallery type : {Gallery::uniform_dominant, Gallery::uniform, Gallery::poisson,
                                 Gallery::diagonal_0101, Gallery::random_row_scaling})
        all.push_back(gallery<T>(type, n, 1, boundary));
      all.push_back(toeplitz(n, T(-1), T(1), T(1), boundary));     // grows with pivoting
      all.push_back(toeplitz(n, T(-1), T(1e-3), T(1), boundary));  // advection: nothing decays
      all.push_back(toeplitz(n, T(-1), T(1), T(0), boundary));
      all.push_back(toeplitz(n, T(1), T(2.5), T(1), boundary));
      all.push_back(toeplitz(n, T(1), T(1), T(1), boundary));
      all.push_back(toeplitz(n, T(1.1), T(1), T(0), boundary));
      for (const auto& A : all)
        if (!Reference::is_singular(A)) expect_solved(A, Options{}, 1e-14);
      const auto A = gallery<T>(Gallery::uniform, n, 2, boundary);
      for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
        expect_solved(A, Options{}.transpose(op), 1e-14);
      expect_solved(A, Options{}.scaling(Scaling::none), 1e-14);
      expect_solved(A, Options{}.algorithm(Algorithm::segmented), 1e-14);
    }
}
TEST(TEST_CATEGORY, kernel_factors_are_stable) {
  stable_factors<double>();
  stable_factors<float>();
  stable_factors<Kokkos::complex<double>>();
  stable_factors<Kokkos::complex<float>>();
}

/// Rings along which nothing decays. Carried in one word, rows are rounded the same way each time,
/// and the errors of 2113 of them make 4e-15.
template <class T>
void errors_do_not_add_up() {
  for (const std::int64_t n : {2113, 20000}) {
    expect_solved(toeplitz(n, T(1), T(-2.5e-11), T(-0.198), Boundary::periodic), Options{}, 1e-15);
    expect_solved(toeplitz(n, T(-1), T(-1.3e-11), T(-0.141), Boundary::periodic), Options{}, 1e-15);
  }
}
TEST(TEST_CATEGORY, kernel_factors_do_not_add_up_errors) {
  errors_do_not_add_up<double>();
  errors_do_not_add_up<Kokkos::complex<double>>();
}

template <class T>
void plain_factors() {
  for (const std::int64_t n : sizes)
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const Options& options : {lu, corrected})
        for (const auto op :
             {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
          const Options with_op = Options(options).transpose(op);
          expect_solved(gallery<T>(Gallery::uniform_dominant, n, 1, boundary), with_op, 2e-15);
          expect_solved(toeplitz(n, T(-1), T(3), T(-1), boundary), with_op, 2e-15);
        }
}
TEST(TEST_CATEGORY, kernel_factors_without_pivoting) {
  plain_factors<double>();
  plain_factors<float>();
  plain_factors<Kokkos::complex<double>>();
  plain_factors<Kokkos::complex<float>>();
}

// ---- what cannot be solved

TEST(TEST_CATEGORY, kernel_factors_flag_what_has_none) {
  const auto info = [](const HostSystem<double>& A, const Options& options = {}) {
    const Factored<double> factored(A, options);
    if (factored.info != 0) {
      factored.solve(std::vector<double>(A.size(), 1.), factored.info);
    }
    return factored.info;
  };
  using Host = HostSystem<double>;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(info(Host{{0}, {0}, {0}}), 1);
  EXPECT_EQ(info(Host{{1}, {-2}, {1}, true}), 1);
  EXPECT_EQ(info(Host{{0, 1, 0}, {4, 0, 4}, {0, 1, 0}}), 2);  // an empty column
  EXPECT_EQ(info(Host{{0, 0, 1}, {4, 0, 4}, {1, 0, 0}}), 3);  // an empty row: x_2 has no pivot
  EXPECT_EQ(info(Host{{0, 1, 1}, {4, 4, nan}, {1, 1, 0}}), 3);
  EXPECT_EQ(info(Host{{nan, 1, 1}, {4, 4, 4}, {1, 1, nan}}), 0);  // outside the matrix
  EXPECT_EQ(info(Host{{nan, 1, 1}, {4, 4, 4}, {1, 1, 1}, true}), 1);
  EXPECT_GT(info(Host{{0, 1, 0, 1}, {1, 1, 1, 1}, {1, 0, 1, 0}}), 0);  // equal rows
  EXPECT_GT(info(Host{{0, 0, 0, 0}, {1, 0, 1, 1}, {0, 0, 0, 0}, true}), 0);

  EXPECT_EQ(info(Host{{0, 1, 1}, {0, 4, 4}, {1, 1, 0}}, lu), 1);  // needs pivoting
  EXPECT_EQ(info(Host{{0, 1, 1}, {0, 4, 4}, {1, 1, 0}}), 0);
  EXPECT_EQ(info(Host{{0, 1, 1}, {1, 1, 4}, {1, 1, 0}}, lu), 2);
  EXPECT_EQ(info(Host{{0, 1, 1}, {4, 4, nan}, {1, 1, 0}}, lu), 3);
  EXPECT_GT(info(toeplitz(64, -1., 2., -1., Boundary::periodic), corrected), 0);

  const Factored<double> good(gallery<double>(Gallery::uniform, 10, 1), {});
  std::vector<double> b(10, 1.);
  b[0] = nan;
  good.solve(b, 1);
}

/// A finite x without notice is good, whatever A is.
template <class T>
void flags_what_it_cannot_solve(const Options& options) {
  const double promised = Breaker::promised<T>({options, Breaker::Level::thread_with_factors});
  int solved = 0;
  for (const Gallery type :
       {Gallery::uniform, Gallery::sparse_off_diagonals, Gallery::clement, Gallery::toeplitz_1e_8,
        Gallery::zero_diagonal_entrywise, Gallery::singular_blocks, Gallery::nearly_singular_blocks,
        Gallery::graded_rows, Gallery::random_row_scaling, Gallery::lesp, Gallery::dorr})
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {1, 2, 3, 4, 5, 100})
        for (int seed = 0; seed < 10; ++seed) {
          const auto A = gallery<T>(type, n, seed, boundary);
          const Factored<T> factored(A, options);
          if (factored.info != 0) continue;
          for (const auto& b : right_hand_sides(A, seed)) {
            std::vector<T> x(n);
            if (Trikkos::solve(Trikkos::this_thread, factored.factors, on_host(b), on_host(x)) != 0)
              continue;
            ++solved;
            EXPECT_LE(Reference::backward_error(A, x, b), promised) << name(type) << ", " << n;
          }
        }
  EXPECT_GT(solved, 100);
}
TEST(TEST_CATEGORY, kernel_factors_flag_what_they_cannot_solve) {
  for (const Options& options : {Options{}, lu, corrected}) {
    flags_what_it_cannot_solve<double>(options);
    flags_what_it_cannot_solve<Kokkos::complex<float>>(options);
  }
}

/// LU and the factors of a Plan are the same elimination.
TEST(TEST_CATEGORY, kernel_factors_are_those_of_a_plan) {
  const Kokkos::DefaultHostExecutionSpace exec;
  for (const Boundary boundary : {Boundary::open, Boundary::periodic})
    for (const Options& options : {lu, corrected}) {
      const auto A = gallery<double>(Gallery::uniform_dominant, 100, 1, boundary);
      const auto b = random_rhs<double>(100);
      const Trikkos::Plan plan(exec, on_host(A), options);
      std::vector<double> x(100);
      Trikkos::solve(exec, plan, on_host(b), on_host(x));
      EXPECT_LE(Reference::relative_difference(Factored<double>(A, options).solve(b), x), 1e-15);
    }
}

// ---- inside kernels

/// A team has one matrix, its threads a right-hand side each.
template <class T>
struct FactorByTeam {
  Systems<T> matrices;                   // of which b and x are not used
  Kokkos::View<T***, TEST_EXECSPACE> x;  // (matrix, right-hand side, row)
  Options options;
  Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory;
  Infos info;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int k = member.league_rank();
    const KernelFactors<T> F(Kokkos::subview(memory, k, Kokkos::ALL),
                             static_cast<std::int64_t>(matrices.diag.extent(1)), options,
                             matrices.boundary);
    for (int repeat = 0; repeat < 2; ++repeat)
      Kokkos::atomic_max(&info(k), Trikkos::factor(member, matrices.matrix(k), F));
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(member, static_cast<int>(x.extent(1))), [&](int j) {
          const auto mine = Kokkos::subview(x, k, j, Kokkos::ALL);
          Kokkos::atomic_max(&info(k), Trikkos::solve(Trikkos::this_thread, F, mine, mine));
        });
  }
};
/// With what another kernel has left in memory.
template <class T>
struct SolveAgain {
  Systems<T> systems;
  Options options;
  Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory;
  Infos info;

  KOKKOS_FUNCTION void operator()(int k) const {
    const KernelFactors<T> F(Kokkos::subview(memory, k, Kokkos::ALL),
                             static_cast<std::int64_t>(systems.diag.extent(1)), options,
                             systems.boundary);
    info(k) = Trikkos::solve(Trikkos::this_thread, F, systems.row(systems.b, k),
                             systems.row(systems.x, k));
  }
};

template <class T>
void factors_in_kernels(const Options& options, std::int64_t n, Many::Layout layout,
                        Boundary boundary) {
  constexpr int count = 5, rhs_count = 7;
  SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary));
  const auto type =
      options.algorithm() == Algorithm::thomas ? Gallery::uniform_dominant : Gallery::uniform;
  const auto batch = Many::make_batch<T>(type, count, n, boundary);
  const Many::DeviceBatch<T> device(batch, layout);
  const Systems<T> systems{device.A.lower, device.A.diag, device.A.upper,
                           device.b,       device.x,      boundary};
  EXPECT_EQ(solve_by_threads_with_factors(systems, count, options), std::vector<int>(count, 0));
  for (int k = 0; k < count; ++k)
    EXPECT_LE(Many::eta_of(batch, k, device.solution(k), options.transpose()), scaled<T>(1e-14));

  const auto memory =
      memory_of_threads(count, Trikkos::factor_memory_bytes<T>(n, options, boundary));
  const Kokkos::View<T***, TEST_EXECSPACE> x("x", count, rhs_count, n);
  for (int k = 0; k < count; ++k)
    for (int j = 0; j < rhs_count; ++j)
      ::Test::copy(Kokkos::subview(x, k, j, Kokkos::ALL),
                   Trikkos::gallery_rhs<T>(TEST_EXECSPACE{}, n, 10 * k + j));
  const Infos info("info", count);
  Kokkos::parallel_for("factor", Kokkos::TeamPolicy<TEST_EXECSPACE>(count, Kokkos::AUTO),
                       FactorByTeam<T>{systems, x, options, memory, info});
  EXPECT_EQ(Reference::to_host(info), std::vector<int>(count, 0));
  for (int k = 0; k < count; ++k)
    for (int j = 0; j < rhs_count; ++j)
      EXPECT_LE(Reference::backward_error(transposed(batch.A[k], options.transpose()),
                                          Reference::to_host(Kokkos::subview(x, k, j, Kokkos::ALL)),
                                          random_rhs<T>(n, 10 * k + j)),
                scaled<T>(1e-14));

  const auto before = device.solution(count - 1);
  for (int k = 0; k < count; ++k)
    ::Test::copy(Many::row_of(device.x, k), Many::row_of(device.b, k));
  Systems<T> in_place = systems;
  in_place.b = in_place.x;
  Kokkos::parallel_for("solve", Kokkos::RangePolicy<TEST_EXECSPACE>(0, count),
                       SolveAgain<T>{in_place, options, memory, info});
  EXPECT_EQ(Reference::to_host(info), std::vector<int>(count, 0));
  EXPECT_EQ(device.solution(count - 1), before);
}

template <class T>
void factors_in_kernels() {
  for (const Options& options :
       {Options{}, lu, corrected, Options{}.transpose(Transpose::conjugate_transpose)})
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {1, 2, 3, 100})
        for (const auto layout : {Many::Layout::left, Many::Layout::right, Many::Layout::strided})
          factors_in_kernels<T>(options, n, layout, boundary);
}
TEST(TEST_CATEGORY, kernel_factors_in_kernels) {
  factors_in_kernels<double>();
  factors_in_kernels<float>();
  factors_in_kernels<Kokkos::complex<double>>();
  factors_in_kernels<Kokkos::complex<float>>();
}

TEST(TEST_CATEGORY, kernel_factors_of_no_rows) {
  const Factored<double> none(HostSystem<double>{}, {});
  EXPECT_EQ(none.info, 0);
  EXPECT_EQ(none.solve({}), std::vector<double>{});
}

// ---- misuse

TEST(TEST_CATEGORY, kernel_factors_abort_on_misuse) {
  const auto bytes = Trikkos::factor_memory_bytes<double>(10);
  Memory memory(2 * bytes);
  const auto make = [&](const auto& view, const Options& options = {}) {
    return KernelFactors<double>(view, 10, options);
  };
  using Bytes = HostView<char>;
  auto* const start = reinterpret_cast<char*>(memory.data());
  make(Bytes(start, bytes));
  EXPECT_DEATH(make(Bytes(start, bytes - 1)), "memory is too small, expected");
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace>;
  EXPECT_DEATH(make(Strided(memory.data(), Kokkos::LayoutStride(bytes, 2))), "memory is strided");
  EXPECT_DEATH(make(Bytes(start, bytes), Options{}.algorithm(Algorithm::pcr)),
               "algorithm is pcr or spike");
  const auto F = make(Bytes(start, bytes));
  const auto factored = [&](const HostSystem<double>& A) {
    return Trikkos::factor(Trikkos::this_thread, on_host(A), F);
  };
  EXPECT_EQ(factored(gallery<double>(Gallery::poisson, 10)), 0);
  // made beforehand: a process that dies may not use the device
  const auto longer = gallery<double>(Gallery::poisson, 11),
             ring = gallery<double>(Gallery::poisson, 10, 0, Boundary::periodic);
  EXPECT_DEATH(static_cast<void>(factored(longer)), "not the size or boundary");
  EXPECT_DEATH(static_cast<void>(factored(ring)), "not the size or boundary");
}

/// Any alignment will do.
TEST(TEST_CATEGORY, kernel_factors_in_unaligned_memory) {
  using T = Kokkos::complex<double>;
  const auto A = gallery<T>(Gallery::uniform, 10);
  const auto b = random_rhs<T>(10);
  const auto bytes = Trikkos::factor_memory_bytes<T>(10);
  std::vector<char> memory(bytes + 16);
  const auto x = Factored<T>(A, {}).solve(b);
  for (int offset = 0; offset < 16; ++offset) {
    const KernelFactors<T> F(HostView<char>(memory.data() + offset, bytes), 10);
    std::vector<T> y(10);
    EXPECT_EQ(Trikkos::factor(Trikkos::this_thread, on_host(A), F), 0);
    EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, F, on_host(b), on_host(y)), 0);
    EXPECT_EQ(y, x);
  }
}

}  // namespace Test::Factoring
