// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Algorithm::thomas by a thread, by a team and as a host call: accurate where the matrix is
// diagonally dominant, and never silently wrong elsewhere.

#include <gtest/gtest.h>

#include <InKernels.hpp>
#include <Kokkos_Core.hpp>
#include <Promise.hpp>
#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Status;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T>
using Matrix = Trikkos::Tridiagonal<Vector<T>>;
using Infos = Kokkos::View<int*, TEST_EXECSPACE>;

constexpr Options in_team = Options{}.algorithm(Algorithm::thomas);

// ---- the kernels that users would write

template <class A_, class B, class X>
struct SolveInThread {
  A_ A;
  B b;
  X x;
  Infos info;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    info(i) = Trikkos::solve(Trikkos::this_thread, A, b, x);
  }
};

// A system a thread, all rows at once: what the thread level is for.
template <class T>
struct SolveManyInThreads {
  Matrix<T> A;
  Kokkos::View<T**, TEST_EXECSPACE> b, x;
  Infos info;
  KOKKOS_INLINE_FUNCTION void operator()(int k) const {
    info(k) = Trikkos::solve(Trikkos::this_thread, A, Kokkos::subview(b, k, Kokkos::ALL),
                             Kokkos::subview(x, k, Kokkos::ALL));
  }
};

/// (system, row) of what has rank 1, the same for every system.
template <class View>
auto rows_of(const View& v) {
  using T = typename View::non_const_value_type;
  return Kokkos::View<T**, Kokkos::LayoutStride, TEST_EXECSPACE, Kokkos::MemoryUnmanaged>(
      const_cast<T*>(v.data()), Kokkos::LayoutStride(1, 0, v.extent(0), v.stride(0)));
}

enum class Level { host, thread, team };
constexpr auto levels = {Level::host, Level::thread, Level::team};
const char* name(Level level) {
  return level == Level::host ? "host call" : level == Level::thread ? "thread" : "team";
}

/// Solves at the given level; 0 or 1 + the first bad row. A host call says as much in its Status.
template <class A_, class B, class X>
int solve_at(Level level, const A_& A, const B& b, const X& x) {
  const TEST_EXECSPACE exec;
  if (level == Level::host) {
    const Status status = Trikkos::solve(exec, A, b, x, Options{}.algorithm(Algorithm::thomas));
    return status.ok() ? 0 : 1 + static_cast<int>(status.row);
  }
  if (level == Level::thread) {
    const Infos info("info", 1);
    Kokkos::parallel_for("solve in a thread", Kokkos::RangePolicy<TEST_EXECSPACE>(exec, 0, 1),
                         SolveInThread<A_, B, X>{A, b, x, info});
    return Reference::to_host(info)[0];
  }
  using T = typename X::value_type;
  const Test::Systems<T> systems{rows_of(A.lower), rows_of(A.diag), rows_of(A.upper),
                                 rows_of(b),       rows_of(x),      A.boundary};
  return Test::solve_by_teams(systems, 1, in_team)[0];  // every thread learns it
}

template <class T>
bool is_finite(const std::vector<T>& x) {
  return std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(Kokkos::abs(v)); });
}

// A bound for double, scaled to the precision of T.
template <class T>
constexpr double scaled(double bound_for_double) {
  return bound_for_double / std::numeric_limits<double>::epsilon() *
         std::numeric_limits<decltype(Kokkos::abs(T{}))>::epsilon();
}

// ---- dominant matrices

// Around the checkpoints of the backward sweep, 16, 16^2 and 16^3 rows apart.
const std::vector<std::int64_t> sizes = {0,   1,   2,   3,    15,   16,   17,   18,
                                         255, 256, 257, 4095, 4096, 4097, 4098, 10000};

template <class T>
void solves_dominant_matrices() {
  const TEST_EXECSPACE exec;
  for (const Gallery type : {Gallery::uniform_dominant, Gallery::poisson, Gallery::toeplitz_64,
                             Gallery::toeplitz_1e8, Gallery::inverse_kms, Gallery::dorr}) {
    for (const std::int64_t n : sizes) {
      for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
        // what is hardly dominant: singular as a ring, and dorr by rounding where it is long
        const bool hardly =
            type == Gallery::poisson || type == Gallery::inverse_kms || type == Gallery::dorr;
        if (hardly && boundary == Boundary::periodic) continue;
        if (type == Gallery::dorr && n > 100) continue;
        const auto A = Trikkos::gallery<T>(exec, type, n, 1, boundary);
        const auto host_A = Reference::to_host(A);
        const auto random = Trikkos::gallery_rhs<T>(exec, n, 2);
        for (const bool known_x : {false, true}) {
          if (known_x && type != Gallery::uniform_dominant) continue;
          const auto host_random = Reference::to_host(random);
          const auto host_b = known_x ? Reference::multiply(host_A, host_random) : host_random;
          const auto b = Reference::to_device(exec, host_b);
          std::vector<T> first;
          for (const Level level : levels) {
            SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " +
                         name(boundary) + ", " + name(level) + (known_x ? ", b = A x" : ""));
            const Vector<T> x("x", n);
            EXPECT_EQ(solve_at(level, A, b, x), 0);
            const auto host_x = Reference::to_host(x);
            if (level == Level::host || host_x != first) {
              EXPECT_LE(Reference::backward_error(host_A, host_x, host_b), scaled<T>(1e-15));
            }
            if (level == Level::host) first = host_x;

            const Vector<T> in_place("x", n);
            ::Test::copy(in_place, b);
            EXPECT_EQ(solve_at(level, A, in_place, in_place), 0);
            EXPECT_EQ(Reference::to_host(in_place), host_x);
          }
          EXPECT_EQ(Reference::to_host(b), host_b);
        }
      }
    }
  }
}

// On the host, without a kernel.
template <class T>
void solves_on_the_host() {
  const Kokkos::DefaultHostExecutionSpace exec;
  for (const std::int64_t n : sizes) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      SCOPED_TRACE(n);
      const auto host_A =
          Reference::to_host(Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 1, boundary));
      const auto host_b = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, 2));
      const auto A = Reference::to_device(exec, host_A);
      const auto b = Reference::to_device(exec, host_b);
      const auto x = Reference::to_device(exec, host_b);
      EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, A, b, x), 0);
      EXPECT_LE(Reference::backward_error(host_A, Reference::to_host(x), host_b), scaled<T>(1e-15));
      ::Test::copy(x, b);
      EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, A, x, x), 0);
      EXPECT_LE(Reference::backward_error(host_A, Reference::to_host(x), host_b), scaled<T>(1e-15));
    }
  }
}

template <class T>
void solves_strided_views() {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {1, 2, 17, 300, 5000}) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      const auto A = Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 1, boundary);
      const auto b = Trikkos::gallery_rhs<T>(exec, n, 2);
      const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> rows("rows", n, 5);
      const auto column = [&](int k) { return Kokkos::subview(rows, Kokkos::ALL, k); };
      ::Test::copy(column(0), A.lower);
      ::Test::copy(column(1), A.diag);
      ::Test::copy(column(2), A.upper);
      ::Test::copy(column(3), b);
      const Trikkos::Tridiagonal strided{column(0), column(1), column(2), boundary};
      for (const Level level : levels) {
        SCOPED_TRACE("n " + std::to_string(n) + ", " + name(level));
        EXPECT_EQ(solve_at(level, strided, column(3), column(4)), 0);
        EXPECT_LE(Reference::backward_error(Reference::to_host(A), Reference::to_host(column(4)),
                                            Reference::to_host(b)),
                  scaled<T>(1e-15));
        EXPECT_EQ(Reference::to_host(column(3)), Reference::to_host(b));
      }
    }
  }
}

template <class T>
void solves_many_at_once() {
  const TEST_EXECSPACE exec;
  constexpr int count = 257;
  constexpr std::int64_t n = 100;
  const auto A = Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 1, Boundary::periodic);
  const auto host_A = Reference::to_host(A);
  const Kokkos::View<T**, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  for (int k = 0; k < count; ++k) {
    ::Test::copy(Kokkos::subview(b, k, Kokkos::ALL), Trikkos::gallery_rhs<T>(exec, n, k));
  }
  const auto expect_solved = [&](const Infos& info) {
    EXPECT_EQ(Reference::to_host(info), std::vector<int>(count, 0));
    for (int k = 0; k < count; k += 16) {
      const auto of = [&](const auto& v) {
        return Reference::to_host(Kokkos::subview(v, k, Kokkos::ALL));
      };
      EXPECT_LE(Reference::backward_error(host_A, of(x), of(b)), scaled<T>(1e-15));
    }
    ::Test::fill(x, T(0));
  };
  const Infos info("info", count);
  ::Test::fill(info, -1);
  Kokkos::parallel_for("threads", Kokkos::RangePolicy<TEST_EXECSPACE>(exec, 0, count),
                       SolveManyInThreads<T>{A, b, x, info});
  expect_solved(info);
  const auto every = [&](const Vector<T>& band) {  // system has the same matrix
    return Kokkos::View<T**, Kokkos::LayoutStride, TEST_EXECSPACE, Kokkos::MemoryUnmanaged>(
        band.data(), Kokkos::LayoutStride(count, 0, band.extent(0), 1));
  };
  const Test::Systems<T> systems{every(A.lower), every(A.diag), every(A.upper), b, x, A.boundary};
  expect_solved(Reference::to_device(exec, Test::solve_by_teams(systems, count, in_team)));
}

// ---- where pivoting is needed

// Beyond what the growth limit lets pass, a finite x without notice is a lie. An x that is not
// finite speaks for itself; a host call says so nevertheless.
template <class T>
void flags_what_it_cannot_solve() {
  const TEST_EXECSPACE exec;
  int wrong = 0, silent = 0;
  const auto judge = [&](Gallery type, std::int64_t n, int seed, Boundary boundary,
                         const std::vector<Level>& which) {
    const auto A = Trikkos::gallery<T>(exec, type, n, seed, boundary);
    const auto host_A = Reference::to_host(A);
    const auto random = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, seed + 1));
    for (const bool known_x : {false, true}) {
      const auto host_b = known_x ? Reference::multiply(host_A, random) : random;
      const auto b = Reference::to_device(exec, host_b);
      for (const Level level : which) {
        const Vector<T> x("x", n);
        const int info = solve_at(level, A, b, x);
        const auto host_x = Reference::to_host(x);
        if (level != Level::host && !is_finite(host_x)) continue;
        const double eta = is_finite(host_x) ? Reference::backward_error(host_A, host_x, host_b)
                                             : std::numeric_limits<double>::infinity();
        const bool bad =
            !(eta <= Test::Breaker::promised<T>({Options{}.algorithm(Algorithm::thomas)}));
        wrong += bad;
        if (!bad || info != 0) continue;
        ++silent;
        ADD_FAILURE() << "eta " << eta << " but info 0: " << name(type) << ", n " << n << ", seed "
                      << seed << ", " << name(boundary) << ", " << name(level)
                      << (known_x ? ", b = A x" : ", random b");
      }
    }
  };
  for (const Gallery type :
       {Gallery::uniform, Gallery::sparse_off_diagonals, Gallery::toeplitz_1e_8, Gallery::clement,
        Gallery::zero_diagonal_toeplitz, Gallery::toeplitz_1e_8_entrywise,
        Gallery::zero_diagonal_entrywise, Gallery::diagonal_0101, Gallery::all_ones_toeplitz,
        Gallery::singular_blocks, Gallery::nearly_singular_blocks, Gallery::graded_rows,
        Gallery::random_row_scaling, Gallery::lesp, Gallery::dorr}) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      for (const std::int64_t n : {1, 2, 3, 4, 5, 8}) {  // small ones often just work
        for (int seed = 0; seed < 60; ++seed) judge(type, n, seed, boundary, {Level::host});
      }
      for (const std::int64_t n : {16, 100, 512}) {
        for (int seed = 0; seed < 4; ++seed) judge(type, n, seed, boundary, {Level::host});
        judge(type, n, 9, boundary, levels);
      }
    }
  }
  EXPECT_GT(wrong, 100);  // it was a test
  EXPECT_EQ(silent, 0);
}

// A pivot of zero has a row, on every level.
void names_the_row() {
  const TEST_EXECSPACE exec;
  using Host = Reference::HostSystem<double>;
  const auto info = [&](const Host& A, Level level) {
    const Vector<double> x("x", A.size());
    ::Test::fill(x, 1.);
    return solve_at(level, Reference::to_device(exec, A), x, x);
  };
  for (const Level level : levels) {
    SCOPED_TRACE(name(level));
    EXPECT_EQ(info(Host{{0}, {0}, {0}}, level), 1);
    EXPECT_EQ(info(Host{{0, 1, 1}, {0, 4, 4}, {1, 1, 0}}, level), 1);
    EXPECT_EQ(info(Host{{0, 1, 1}, {1, 1, 4}, {1, 1, 0}}, level), 2);
    EXPECT_EQ(info(Host{{0, 1, 1}, {4, 4, 0}, {1, 0, 0}}, level), 3);
    EXPECT_EQ(info(Host{{0, 1, 1}, {1e-30, 4, 4}, {1, 1, 0}}, level), 2);  // pivot grows to 1e30
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(info(Host{{nan, 1, 1}, {4, 4, 4}, {1, 1, nan}}, level), 0);  // outside the matrix
    EXPECT_EQ(info(Host{{nan, 1, 1}, {4, nan, 4}, {1, 1, nan}}, level), 2);
    EXPECT_EQ(info(Host{{nan, nan, 1}, {4, 4, 4}, {1, 1, nan}}, level), 2);
    EXPECT_EQ(info(Host{{nan, 1, 1}, {4, 4, 4}, {nan, 1, nan}}, level), 1);
    EXPECT_EQ(info(Host{{1}, {-2}, {1}, true}, level), 1);  // the corners add up to 0
  }
}

}  // namespace

TEST(TEST_CATEGORY, thomas_solves_dominant_matrices_float) { solves_dominant_matrices<float>(); }
TEST(TEST_CATEGORY, thomas_solves_dominant_matrices_double) { solves_dominant_matrices<double>(); }
TEST(TEST_CATEGORY, thomas_solves_dominant_matrices_complex) {
  solves_dominant_matrices<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, thomas_solves_on_the_host) {
  solves_on_the_host<float>();
  solves_on_the_host<double>();
  solves_on_the_host<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, thomas_solves_strided_views) {
  solves_strided_views<double>();
  solves_strided_views<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, thomas_solves_many_at_once) {
  solves_many_at_once<double>();
  solves_many_at_once<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, thomas_flags_what_it_cannot_solve_float) {
  flags_what_it_cannot_solve<float>();
}
TEST(TEST_CATEGORY, thomas_flags_what_it_cannot_solve_double) {
  flags_what_it_cannot_solve<double>();
}
TEST(TEST_CATEGORY, thomas_flags_what_it_cannot_solve_complex) {
  flags_what_it_cannot_solve<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, thomas_names_the_row) { names_the_row(); }
