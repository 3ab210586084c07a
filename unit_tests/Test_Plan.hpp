// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is kept between solves: Plan and Workspace, and which Views they take.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Reference.hpp>
#include <Trikkos.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Transpose;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T, class Layout = typename TEST_EXECSPACE::array_layout>
using Vectors = Kokkos::View<T**, Layout, TEST_EXECSPACE>;

// 4.5 units in the last place: 1e-15 for double. For diagonally dominant matrices.
template <class T>
constexpr double tolerance = 1e-15 / std::numeric_limits<double>::epsilon() *
                             std::numeric_limits<decltype(Kokkos::abs(T{}))>::epsilon();

constexpr auto algorithms = {Algorithm::segmented, Algorithm::thomas};

/// A diagonally dominant matrix, on both sides.
template <class T>
struct Problem {
  Trikkos::Tridiagonal<Vector<T>> A;
  Reference::HostSystem<T> host;

  Problem(std::int64_t n, int seed, Boundary boundary = Boundary::open)
      : A(Trikkos::gallery<T>(TEST_EXECSPACE(), Gallery::uniform_dominant, n, seed, boundary)),
        host(Reference::to_host(A)) {}
  std::int64_t size() const { return host.size(); }
};

template <class T>
Vector<T> rhs(std::int64_t n, int seed) {
  return Trikkos::gallery_rhs<T>(TEST_EXECSPACE(), n, seed);
}

template <class View, class T>
void overwrite(const Trikkos::Tridiagonal<View>& A, T value) {
  ::Test::fill(A.lower, value);
  ::Test::fill(A.diag, value);
  ::Test::fill(A.upper, value);
}

// A system of a rank-2 View.
template <class View>
auto system(const View& v, std::int64_t k) {
  return Kokkos::subview(v, k, Kokkos::ALL);
}

// Systems b_k, seeds first_seed + k.
template <class View>
void fill(const View& b, int first_seed) {
  for (std::size_t k = 0; k < b.extent(0); ++k) {
    ::Test::copy(system(b, k), rhs<typename View::value_type>(b.extent(1), first_seed + k));
  }
}

template <class T, class X, class B>
void expect_solves(const Reference::HostSystem<T>& A, const X& x, const B& b) {
  if constexpr (X::rank() == 1) {
    EXPECT_LE(Reference::backward_error(A, Reference::to_host(x), Reference::to_host(b)),
              tolerance<T>);
  } else {
    for (std::size_t k = 0; k < x.extent(0); ++k) {
      const bool is_edge = k % 64 == 0 || k % 64 == 63 || k + 1 == x.extent(0);
      if (k > 3 && !is_edge) continue;  // the oracle takes its time
      SCOPED_TRACE(k);
      expect_solves(A, system(x, k), system(b, k));
    }
  }
}

template <class T>
void plan_is_used_many_times() {
  const TEST_EXECSPACE exec;
  for (const auto algorithm : algorithms) {
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      const Problem<T> p(200, 1, boundary);
      const std::int64_t at_a_time = boundary == Boundary::open ? 64 : 1;
      Trikkos::Plan plan(exec, p.A, Options{}.algorithm(algorithm), at_a_time);
      EXPECT_EQ(plan.size(), 200);
      EXPECT_EQ(plan.algorithm(), algorithm);
      EXPECT_GE(plan.bytes(), 3 * 200 * sizeof(T));
      const Vector<T> x("x", 200);
      for (int seed = 0; seed < 5; ++seed) {
        const auto b = rhs<T>(200, seed);
        Trikkos::solve(exec, plan, b, x);
        expect_solves(p.host, x, b);
        EXPECT_TRUE(plan.status(exec).ok()) << plan.status(exec).why();
      }
      // more right-hand sides than it keeps in flight, and then one again
      for (const int count : {1, 2, 63, 64, 65, 200}) {
        SCOPED_TRACE(count);
        const Vectors<T> B("B", count, 200), X("X", count, 200);
        fill(B, 10);
        Trikkos::solve(exec, plan, B, X);
        expect_solves(p.host, X, B);
        EXPECT_TRUE(plan.status(exec).ok());
      }
      const auto b = rhs<T>(200, 99);
      Trikkos::solve(exec, plan, b, x);
      expect_solves(p.host, x, b);
    }
  }
}

/// No memory for right-hand sides that nobody asked for: A, its factors, and what a workspace for
/// as many takes.
void plan_takes_memory_for_one() {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t n = 1000000;
  const Problem<double> p(n, 1);
  const auto options = Options{}.algorithm(Algorithm::thomas);
  EXPECT_LE(Trikkos::Plan(exec, p.A, options).bytes(), 8 * n * sizeof(double) + 1000);
  EXPECT_GE(Trikkos::Plan(exec, p.A, options, 3).bytes(), 9 * n * sizeof(double));
  for (const auto algorithm : algorithms) {
    for (const std::int64_t rhs_count : {0, 1, 5}) {
      const Problem<double> small(1000, 1);
      const Vectors<double> b("b", rhs_count, 1000);
      const Trikkos::Workspace work(exec, small.A, b, Options{}.algorithm(algorithm));
      const Trikkos::Plan plan(exec, small.A, Options{}.algorithm(algorithm), rhs_count);
      const std::size_t factors = algorithm == Algorithm::thomas ? 3 * 1000 * sizeof(double) : 0;
      EXPECT_GE(plan.bytes(), work.bytes() + factors + 3 * 1000 * sizeof(double));
      EXPECT_LE(plan.bytes(), work.bytes() + factors + 3 * 1000 * sizeof(double) + 64);
    }
  }
}

template <class T>
void plan_is_independent_of_the_matrix() {
  const TEST_EXECSPACE exec;
  for (const auto algorithm : algorithms) {
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      for (const auto transpose : {Transpose::none, Transpose::transpose}) {
        const Problem<T> p(500, 1, boundary), q(500, 2, boundary);
        const auto op = [&](const Problem<T>& which) {
          return transpose == Transpose::none ? which.host : Reference::transpose(which.host);
        };
        Trikkos::Plan plan(exec, p.A, Options{}.algorithm(algorithm).transpose(transpose));
        overwrite(p.A, T(std::numeric_limits<double>::quiet_NaN()));
        const auto b = rhs<T>(500, 3);
        const Vector<T> x("x", 500);
        Trikkos::solve(exec, plan, b, x);
        expect_solves(op(p), x, b);

        plan.update(exec, q.A);  // the old values are gone, and the new ones are copies, too
        overwrite(q.A, T(0));
        Trikkos::solve(exec, plan, b, x);
        expect_solves(op(q), x, b);
        EXPECT_TRUE(plan.status(exec).ok());

        // from other Views: strided bands of another matrix
        const Problem<T> r(500, 4, boundary);
        const Vectors<T, Kokkos::LayoutRight> bands("bands", 500, 3);
        const auto column = [&](int k) { return Kokkos::subview(bands, Kokkos::ALL, k); };
        ::Test::copy(column(0), r.A.lower);
        ::Test::copy(column(1), r.A.diag);
        ::Test::copy(column(2), r.A.upper);
        plan.update(exec, Trikkos::Tridiagonal{column(0), column(1), column(2), boundary});
        Trikkos::solve(exec, plan, b, x);
        expect_solves(op(r), x, b);
      }
    }
  }
}

void plan_copies_share() {
  const TEST_EXECSPACE exec;
  const Problem<double> p(300, 1), q(300, 2);
  Trikkos::Plan plan(exec, p.A);
  auto copy = plan;
  copy.update(exec, q.A);
  const auto b = rhs<double>(300, 3);
  const Vector<double> x("x", 300);
  Trikkos::solve(exec, plan, b, x);
  expect_solves(q.host, x, b);

  // the status, too
  const Vector<double> bad("bad", 300);
  ::Test::fill(bad, std::numeric_limits<double>::quiet_NaN());
  Trikkos::solve(exec, plan, bad, x);
  EXPECT_FALSE(copy.status(exec).ok());
  Trikkos::solve(exec, copy, b, x);
  EXPECT_TRUE(plan.status(exec).ok());

  // a copy outlives the original, and plans can be moved and assigned
  Trikkos::Plan assigned(exec, Problem<double>(7, 1).A);
  {
    Trikkos::Plan scoped(exec, p.A);
    assigned = std::move(scoped);
  }
  EXPECT_EQ(assigned.size(), 300);
  Trikkos::solve(exec, assigned, b, x);
  expect_solves(p.host, x, b);
}

void plans_on_two_instances() {
  const auto instances =
      TEST_EXECSPACE().concurrency() < 2  // which Kokkos 4.6 does not divide
          ? std::vector(2, TEST_EXECSPACE())
          : Kokkos::Experimental::partition_space(TEST_EXECSPACE(), std::vector<int>{1, 1});
  constexpr std::int64_t n = 20000;
  const Problem<double> p(n, 1), q(n, 2);
  Trikkos::Plan first(instances[0], p.A), second(instances[1], q.A);
  Kokkos::fence();
  std::vector<Vector<double>> b, x;
  for (int k = 0; k < 20; ++k) {
    b.push_back(rhs<double>(n, k));
    x.emplace_back("x", n);
  }
  Kokkos::fence();
  for (int k = 0; k < 20; k += 2) {
    Trikkos::solve(instances[0], first, b[k], x[k]);
    Trikkos::solve(instances[1], second, b[k + 1], x[k + 1]);
  }
  EXPECT_TRUE(first.status(instances[0]).ok());
  EXPECT_TRUE(second.status(instances[1]).ok());
  for (int k = 0; k < 20; ++k) expect_solves(k % 2 == 0 ? p.host : q.host, x[k], b[k]);

  // A plan is not bound to an instance.
  Trikkos::solve(instances[1], first, b[0], x[1]);
  EXPECT_TRUE(first.status(instances[1]).ok());
  expect_solves(p.host, x[1], b[0]);
}

template <class T>
void solve_in_place() {
  const TEST_EXECSPACE exec;
  for (const auto algorithm : algorithms) {
    for (const double tolerance_of_verify : {0., 1e-4}) {
      for (const auto boundary : {Boundary::open, Boundary::periodic}) {
        for (const std::int64_t n : {1, 2, 17, 500, 9001}) {
          SCOPED_TRACE(n);
          const Problem<T> p(n, 1, boundary);
          const auto options = Options{}.algorithm(algorithm).verify(tolerance_of_verify);
          const auto b = rhs<T>(n, 2);
          const Vector<T> x("x", n);

          ::Test::copy(x, b);
          EXPECT_TRUE(Trikkos::solve(exec, p.A, x, x, options).ok());
          expect_solves(p.host, x, b);

          ::Test::copy(x, b);
          Trikkos::Workspace work(exec, p.A, x, options);
          Trikkos::solve(exec, work, p.A, x, x);
          EXPECT_TRUE(work.status(exec).ok());
          expect_solves(p.host, x, b);

          ::Test::copy(x, b);
          Trikkos::Plan plan(exec, p.A, options);
          Trikkos::solve(exec, plan, x, x);
          EXPECT_TRUE(plan.status(exec).ok());
          expect_solves(p.host, x, b);

          if (n > 500) continue;
          const Vectors<T> B("B", 3, n), X("X", 3, n);
          fill(B, 3);
          ::Test::copy(X, B);
          Trikkos::solve(exec, plan, X, X);
          EXPECT_TRUE(plan.status(exec).ok());
          expect_solves(p.host, X, B);
        }
      }
    }
  }
}

// Every third entry of a longer View, a column of a matrix, and reverse-looking rank-2 layouts.
template <class T>
void solve_strided() {
  const TEST_EXECSPACE exec;
  constexpr int count = 3;
  for (const auto algorithm : algorithms) {
    for (const std::int64_t n : {1, 2, 63, 1001}) {
      SCOPED_TRACE(n);
      const auto options = Options{}.algorithm(algorithm);
      const Problem<T> p(n, 1, Boundary::periodic);
      const Vectors<T, Kokkos::LayoutRight> rows("rows", n, 7);
      const auto column = [&](int k) { return Kokkos::subview(rows, Kokkos::ALL, k); };
      static_assert(
          std::is_same_v<typename decltype(column(0))::array_layout, Kokkos::LayoutStride>);
      ::Test::copy(column(0), p.A.lower);
      ::Test::copy(column(2), p.A.diag);
      ::Test::copy(column(4), p.A.upper);
      const auto b = rhs<T>(n, 2);
      ::Test::copy(column(1), b);
      ::Test::fill(column(3), T(77));
      ::Test::fill(column(6), T(77));
      const Trikkos::Tridiagonal A{column(0), column(2), column(4), Boundary::periodic};
      EXPECT_TRUE(Trikkos::solve(exec, A, column(1), column(5), options).ok());
      expect_solves(p.host, column(5), b);
      for (const int neighbour : {3, 6}) {  // nothing written beside x
        EXPECT_EQ(Reference::to_host(column(neighbour)), std::vector<T>(n, T(77)));
      }
      EXPECT_EQ(Reference::to_host(column(1)), Reference::to_host(b));
      EXPECT_EQ(Reference::to_host(column(2)), p.host.diag);

      // const Views of b and A; b contiguous, x strided
      const Trikkos::Tridiagonal constant{Kokkos::View<const T*, TEST_EXECSPACE>(p.A.lower),
                                          Kokkos::View<const T*, TEST_EXECSPACE>(p.A.diag),
                                          Kokkos::View<const T*, TEST_EXECSPACE>(p.A.upper),
                                          Boundary::periodic};
      const Kokkos::View<const T*, TEST_EXECSPACE> constant_b = b;
      ::Test::fill(column(5), T(0));
      EXPECT_TRUE(Trikkos::solve(exec, constant, constant_b, column(5), options).ok());
      expect_solves(p.host, column(5), b);

      // rank 2: both layouts for b and x, and a strided cut of three dimensions
      const Vectors<T, Kokkos::LayoutLeft> left_b("b", count, n), left_x("x", count, n);
      const Vectors<T, Kokkos::LayoutRight> right_b("b", count, n), right_x("x", count, n);
      const Kokkos::View<T***, Kokkos::LayoutRight, TEST_EXECSPACE> box("box", count, n, 3);
      const auto strided_x = Kokkos::subview(box, Kokkos::ALL, Kokkos::ALL, 1);
      fill(left_b, 5);
      fill(right_b, 5);
      Trikkos::Plan plan(exec, p.A, options);
      Trikkos::solve(exec, plan, left_b, left_x);
      expect_solves(p.host, left_x, right_b);
      Trikkos::solve(exec, plan, right_b, right_x);
      expect_solves(p.host, right_x, right_b);
      Trikkos::solve(exec, plan, left_b, strided_x);
      expect_solves(p.host, strided_x, right_b);
      ::Test::fill(right_x, T(0));
      Trikkos::solve(exec, plan, left_b, right_x);
      expect_solves(p.host, right_x, right_b);
      EXPECT_TRUE(plan.status(exec).ok());
    }
  }
}

template <class T>
void solve_nothing() {
  const TEST_EXECSPACE exec;
  for (const auto algorithm : algorithms) {
    for (const double tolerance_of_verify : {0., 1e-4}) {
      const auto options = Options{}.algorithm(algorithm).verify(tolerance_of_verify);
      for (const auto boundary : {Boundary::open, Boundary::periodic}) {
        // no rows
        const Problem<T> none(0, 1, boundary);
        const Vector<T> b("b", 0), x("x", 0);
        const Vectors<T> B("B", 3, 0), X("X", 3, 0), B0("B", 0, 0), X0("X", 0, 0);
        EXPECT_TRUE(Trikkos::solve(exec, none.A, b, x, options).ok());
        EXPECT_TRUE(Trikkos::solve(exec, none.A, B, X, options).ok());
        EXPECT_TRUE(Trikkos::solve(exec, none.A, B0, X0, options).ok());
        Trikkos::Workspace work(exec, none.A, b, options);
        Trikkos::solve(exec, work, none.A, b, x);
        EXPECT_TRUE(work.status(exec).ok());
        Trikkos::Plan plan(exec, none.A, options);
        plan.update(exec, none.A);
        Trikkos::solve(exec, plan, B, X);
        EXPECT_TRUE(plan.status(exec).ok());
        EXPECT_EQ(Trikkos::backward_error(exec, none.A, x, b), 0);

        // no right-hand sides
        const Problem<T> p(100, 1, boundary);
        const Vectors<T> C("C", 0, 100), Y("Y", 0, 100);
        EXPECT_TRUE(Trikkos::solve(exec, p.A, C, Y, options).ok());
        EXPECT_EQ(Trikkos::backward_error(exec, p.A, Y, C), 0);
        Trikkos::Plan another(exec, p.A, options);
        Trikkos::solve(exec, another, C, Y);
        EXPECT_TRUE(another.status(exec).ok());
      }
    }
  }
}

// A View that was never allocated has no rows.
void solve_default_views() {
  const TEST_EXECSPACE exec;
  const Vector<double> nothing;
  const Trikkos::Tridiagonal A{nothing, nothing, nothing};
  EXPECT_TRUE(Trikkos::solve(exec, A, nothing, nothing).ok());
  EXPECT_EQ(Trikkos::backward_error(exec, A, nothing, nothing), 0);
}

template <class T>
void workspace_serves_any_matrix_of_its_size() {
  const TEST_EXECSPACE exec;
  const auto b = rhs<T>(700, 1);
  const Vector<T> x("x", 700);
  for (const auto algorithm : algorithms) {
    Trikkos::Workspace<T, TEST_EXECSPACE> work(exec, 700, 3, Options{}.algorithm(algorithm));
    EXPECT_EQ(work.size(), 700);
    EXPECT_EQ(work.algorithm(), algorithm);
    EXPECT_EQ(work.options().algorithm(), algorithm);
    EXPECT_GT(work.bytes(), 0u);
    for (int seed = 0; seed < 3; ++seed) {
      for (const auto boundary : {Boundary::open, Boundary::periodic}) {
        const Problem<T> p(700, seed, boundary);
        Trikkos::solve(exec, work, p.A, b, x);
        EXPECT_TRUE(work.status(exec).ok());
        expect_solves(p.host, x, b);
        for (const int count : {1, 3, 4}) {
          const Vectors<T> B("B", count, 700), X("X", count, 700);
          fill(B, seed);
          Trikkos::solve(exec, work, p.A, B, X);
          expect_solves(p.host, X, B);
        }
      }
    }
  }
  static_assert(
      std::is_same_v<decltype(Trikkos::solve(exec, Problem<T>(7, 1).A, b, x)), Trikkos::Status>);
  Trikkos::Workspace<T, TEST_EXECSPACE> automatic(exec, 700, 1);
  EXPECT_NE(automatic.algorithm(), Algorithm::automatic);
}

}  // namespace

TEST(TEST_CATEGORY, plan_is_used_many_times) {
  plan_is_used_many_times<float>();
  plan_is_used_many_times<double>();
  plan_is_used_many_times<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, plan_takes_memory_for_one) { plan_takes_memory_for_one(); }
TEST(TEST_CATEGORY, plan_is_independent_of_the_matrix) {
  plan_is_independent_of_the_matrix<double>();
  plan_is_independent_of_the_matrix<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, plan_copies_share) { plan_copies_share(); }
TEST(TEST_CATEGORY, plan_on_two_instances) { plans_on_two_instances(); }
TEST(TEST_CATEGORY, plan_solves_in_place) {
  solve_in_place<float>();
  solve_in_place<double>();
  solve_in_place<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, plan_solves_strided_views) {
  solve_strided<float>();
  solve_strided<double>();
  solve_strided<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, plan_solves_nothing) {
  solve_nothing<double>();
  solve_nothing<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, plan_takes_default_views) { solve_default_views(); }
TEST(TEST_CATEGORY, plan_workspace_serves_any_matrix_of_its_size) {
  workspace_serves_any_matrix_of_its_size<double>();
  workspace_serves_any_matrix_of_its_size<Kokkos::complex<double>>();
}
