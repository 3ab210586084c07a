// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Conjugate gradients and BiCGStab: residuals in wide numbers, iterations beside those of a plain
// host loop in more digits, and every word for how they end.

#include <gtest/gtest.h>

#include <Message.hpp>
#include <SparseMatrices.hpp>
#include <Trikkos_BiCgStab.hpp>
#include <Trikkos_ConjugateGradient.hpp>
#include <Trikkos_Plan.hpp>
#include <Trikkos_Solve.hpp>

namespace {

using Trikkos::BiCgStab;
using Trikkos::ConjugateGradient;
using Trikkos::IncompleteCholesky;
using Trikkos::IncompleteLu;
using Trikkos::KrylovOptions;
using Trikkos::KrylovResult;

using ::Test::csr_on_device;
using ::Test::HostMatrix;
using ::Test::laplacian;

using Reason = KrylovResult::Reason;

struct NoPreconditioner {};

template <class T, class Exec>
struct Solved {
  KrylovResult result;
  std::vector<T> x;
  std::vector<double> history;
};

// From x = 0, or a given one.
template <class T, class Exec, class Method, class Matrix, class M>
Solved<T, Exec> solved_by(const Exec& exec, const Method& method, const Matrix& A, const M& m,
                          const std::vector<T>& b, std::vector<T> x0 = {}) {
  if (x0.empty()) x0.resize(b.size());
  const auto right = ::Test::on_device<T, Exec>(b), x = ::Test::on_device<T, Exec>(x0);
  KrylovResult result;
  if constexpr (std::is_same_v<M, NoPreconditioner>)
    result = Trikkos::solve(exec, method, A, right, x);
  else
    result = Trikkos::solve(exec, method, A, m, right, x);
  exec.fence();
  return {result, ::Test::to_vector(x), method.history()};
}

// Converged, by its own words, by the residual in wide numbers, and by its history.
template <class T, class Exec>
void expect_converged(const Solved<T, Exec>& s, const HostMatrix<T>& A, const std::vector<T>& b,
                      double tolerance) {
  EXPECT_EQ(s.result.reason, Reason::converged) << s.result.why();
  const double residual = ::Test::relative_residual(A, s.x, b);
  EXPECT_LE(residual, tolerance * 1.01);  // rounding of b - A x on the device
  EXPECT_NEAR(s.result.residual / s.result.right_norm, residual, 0.02 * tolerance);
  ASSERT_EQ(s.history.size(), static_cast<std::size_t>(s.result.iterations + 1));
  EXPECT_DOUBLE_EQ(s.history.front(), s.result.right_norm);
  EXPECT_LE(s.history.back(), tolerance * s.result.right_norm);
}

// Iterations of the textbook's method without preconditioner, in long double.
int iterations_of_cg(const HostMatrix<double>& A, const std::vector<double>& b, double tolerance) {
  const int n = A.rows();
  std::vector<long double> r(b.begin(), b.end()), p = r, q(n);
  const auto dot = [&](const auto& u, const auto& v) {
    long double sum = 0;
    for (int i = 0; i < n; ++i) sum += u[i] * v[i];
    return sum;
  };
  long double rho = dot(r, r);
  const long double target = tolerance * std::sqrt(rho);
  int iterations = 0;
  for (; std::sqrt(rho) > target; ++iterations) {
    std::fill(q.begin(), q.end(), 0);
    ::Test::for_entries(A, [&](int i, int j, double v) { q[i] += v * p[j]; });
    const long double alpha = rho / dot(p, q);
    for (int i = 0; i < n; ++i) r[i] -= alpha * q[i];
    const long double before = rho;
    rho = dot(r, r);
    for (int i = 0; i < n; ++i) p[i] = r[i] + rho / before * p[i];
  }
  return iterations;
}

template <class T>
HostMatrix<T> diagonal(int n, double first, double others) {
  HostMatrix<T> A;
  for (int i = 0; i < n; ++i) {
    A.add(i, T(i == 0 ? first : others + i));
    A.end_row();
  }
  return A;
}

struct ScaledCopy {
  Kokkos::View<const double*, TEST_EXECSPACE> from;
  Kokkos::View<double*, TEST_EXECSPACE> to;
  double factor;
  KOKKOS_FUNCTION void operator()(int i) const { to(i) = factor * from(i); }
};
// z = factor r, asynchronously.
struct Scaling {
  double factor;
  template <class Exec, class R, class Z>
  void operator()(const Exec& exec, const R& r, const Z& z) const {
    Kokkos::parallel_for("Trikkos::Test::scale",
                         Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(r.extent(0))),
                         ScaledCopy{r, z, factor});
  }
};

template <class Exec>
void cg_converges_as_a_plain_loop() {
  const Exec exec;
  for (const auto& A : {laplacian<double>(40, 2), laplacian<double>(10, 3)}) {
    const auto b = ::Test::random_vector<double>(A.rows());
    const auto matrix = csr_on_device<Exec>(A);
    for (const double tolerance : {1e-4, 1e-10}) {
      const ConjugateGradient<double, Exec> cg(exec, A.rows(), KrylovOptions{}.relative(tolerance));
      const auto plain = solved_by(exec, cg, matrix, NoPreconditioner{}, b);
      expect_converged(plain, A, b, tolerance);
      EXPECT_NEAR(static_cast<double>(plain.result.iterations), iterations_of_cg(A, b, tolerance),
                  1);
      // One that is a multiple of none takes the same steps.
      const auto scaled = solved_by(exec, cg, matrix, Scaling{0.25}, b);
      EXPECT_EQ(scaled.result.iterations, plain.result.iterations);
      expect_converged(scaled, A, b, tolerance);
    }
  }
}

template <class T, class Exec>
void expect_preconditioned(double tolerance) {
  const Exec exec;
  const auto A = laplacian<T>(30, 2);
  const auto matrix = csr_on_device<Exec>(A);
  const auto b = ::Test::random_vector<T>(A.rows());
  const auto options = KrylovOptions{}.relative(tolerance);
  const ConjugateGradient<T, Exec> cg(exec, A.rows(), options);
  const BiCgStab<T, Exec> bicgstab(exec, A.rows(), options);
  const IncompleteCholesky ic(exec, matrix);
  const IncompleteLu ilu(exec, matrix);
  const auto plain = solved_by(exec, cg, matrix, NoPreconditioner{}, b);
  const auto with_ic = solved_by(exec, cg, matrix, ic, b);
  const auto with_ilu = solved_by(exec, cg, matrix, ilu, b);  // the same matrix, other factors
  expect_converged(plain, A, b, tolerance);
  expect_converged(with_ic, A, b, tolerance);
  expect_converged(with_ilu, A, b, tolerance);
  EXPECT_LT(2 * with_ic.result.iterations, plain.result.iterations);
  EXPECT_LE(std::abs(with_ic.result.iterations - with_ilu.result.iterations), 1);
  const auto other = solved_by(exec, bicgstab, matrix, ilu, b);
  expect_converged(other, A, b, tolerance);
  EXPECT_LT(other.result.iterations, with_ic.result.iterations);
}

// Wind across a grid: unsymmetric.
template <class Exec>
void bicgstab_converges() {
  const Exec exec;
  for (const double wind : {0.5, 20.})
    for (const int d : {2, 3}) {
      const auto A = laplacian<double>(d == 2 ? 30 : 9, d, wind);
      const auto matrix = csr_on_device<Exec>(A);
      const auto b = ::Test::random_vector<double>(A.rows());
      const BiCgStab<double, Exec> bicgstab(exec, A.rows(), KrylovOptions{}.relative(1e-10));
      const IncompleteLu ilu(exec, matrix);
      const auto plain = solved_by(exec, bicgstab, matrix, NoPreconditioner{}, b);
      const auto with_ilu = solved_by(exec, bicgstab, matrix, ilu, b);
      expect_converged(plain, A, b, 1e-10);
      expect_converged(with_ilu, A, b, 1e-10);
      EXPECT_LT(2 * with_ilu.result.iterations, plain.result.iterations);
      const auto scaled = solved_by(exec, bicgstab, matrix, Scaling{0.25}, b);
      EXPECT_EQ(scaled.result.iterations, plain.result.iterations);
    }
}

// The lines of a grid are tridiagonal matrices.
template <class Exec>
void line_solves_are_preconditioners() {
  const Exec exec;
  constexpr int m = 24, n = m * m;
  auto A = laplacian<double>(m, 2);
  for (int i = 0; i < n; ++i)  // strong along lines
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (std::abs(A.entries[k] - i) <= 1) A.values[k] *= A.entries[k] == i ? 50.5 : 100;
  const auto matrix = csr_on_device<Exec>(A);
  std::vector<double> lower(n), upper(n), diag(n, 202);
  for (int i = 0; i < n; ++i) {
    lower[i] = i % m > 0 ? -100 : 0;
    upper[i] = i % m < m - 1 ? -100 : 0;
  }
  const Trikkos::Plan lines(exec, Trikkos::Tridiagonal{::Test::on_device<double, Exec>(lower),
                                                       ::Test::on_device<double, Exec>(diag),
                                                       ::Test::on_device<double, Exec>(upper)});
  const auto b = ::Test::random_vector<double>(n);
  const ConjugateGradient<double, Exec> cg(exec, n);
  const auto plain = solved_by(exec, cg, matrix, NoPreconditioner{}, b);
  const auto with_lines = solved_by(exec, cg, matrix, lines, b);
  expect_converged(plain, A, b, 1e-8);
  expect_converged(with_lines, A, b, 1e-8);
  EXPECT_LT(2 * with_lines.result.iterations, plain.result.iterations);
}

// What is called A(exec, x, y), and Views with strides.
template <class Exec>
void matrices_may_be_functions() {
  const Exec exec;
  constexpr int n = 100;
  const auto A = diagonal<double>(n, 4, 4);
  const BiCgStab<double, Exec> bicgstab(exec, n);
  const ConjugateGradient<double, Exec> cg(exec, n);
  const auto b = ::Test::random_vector<double>(n);
  const auto s = solved_by(exec, cg, Scaling{4}, NoPreconditioner{}, b);
  EXPECT_EQ(s.result.iterations, 1);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(s.x[i], b[i] / 4, 1e-15);
  EXPECT_EQ(solved_by(exec, bicgstab, Scaling{4}, NoPreconditioner{}, b).result.iterations, 1);

  const Kokkos::View<double**, Kokkos::LayoutRight, Exec> both("both", n, 3);
  const auto host = Kokkos::create_mirror_view(both);
  for (int i = 0; i < n; ++i) host(i, 1) = b[i];
  Kokkos::deep_copy(both, host);
  const auto right = Kokkos::subview(both, Kokkos::ALL, 1);
  const auto x = Kokkos::subview(both, Kokkos::ALL, 2);
  EXPECT_TRUE(Trikkos::solve(exec, cg, csr_on_device<Exec>(A), right, x).ok());
  exec.fence();
  Kokkos::deep_copy(host, both);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(host(i, 2), b[i] / (4 + i), 1e-8);
}

template <class Exec>
void ends_have_words() {
  const Exec exec;
  constexpr int n = 50;
  const auto b = ::Test::random_vector<double>(n);
  const NoPreconditioner none;
  const ConjugateGradient<double, Exec> cg(exec, n);
  const BiCgStab<double, Exec> bicgstab(exec, n);

  // Not definite: x is the last good one.
  std::vector<double> unit(n);
  unit[0] = 1;
  const auto negative = csr_on_device<Exec>(diagonal<double>(n, -1, 1));
  const auto at_once = solved_by(exec, cg, negative, none, unit);
  EXPECT_EQ(at_once.result.reason, Reason::indefinite);
  EXPECT_EQ(at_once.result.iterations, 1);
  EXPECT_EQ(at_once.x, std::vector<double>(n));
  EXPECT_EQ(at_once.result.why(),
            "the matrix is not positive definite after 1 iteration, |b - A x| = 1, |b| = 1");
  const auto later = solved_by(exec, cg, negative, none, b);
  EXPECT_EQ(later.result.reason, Reason::indefinite);
  EXPECT_GT(later.result.iterations, 1);
  EXPECT_LT(later.result.residual, 2 * later.result.right_norm);
  const auto good = csr_on_device<Exec>(diagonal<double>(n, 1, 1));
  EXPECT_EQ(solved_by(exec, cg, good, Scaling{-1}, b).result.reason,
            Reason::indefinite_preconditioner);
  EXPECT_EQ(solved_by(exec, bicgstab, negative, none, b).result.reason, Reason::converged);
  const auto twice = solved_by(exec, cg, Scaling{-2}, Scaling{-1}, b);  // both are not
  EXPECT_EQ(twice.result.reason, Reason::indefinite_preconditioner);
  EXPECT_EQ(twice.x, std::vector<double>(n));

  // b is at right angles to A b.
  HostMatrix<double> turn;
  for (int i = 0; i < n; ++i) {
    turn.add(i ^ 1, i % 2 ? -1 : 1);
    turn.end_row();
  }
  const auto broken = solved_by(exec, bicgstab, csr_on_device<Exec>(turn), none, b);
  EXPECT_EQ(broken.result.reason, Reason::breakdown);
  EXPECT_EQ(broken.result.iterations, 1);

  // More digits than there are.
  const auto grid = laplacian<double>(20, 2);
  const auto of_grid = ::Test::random_vector<double>(400);
  const ConjugateGradient<double, Exec> greedy(exec, 400, KrylovOptions{}.relative(1e-30));
  const auto stagnant = solved_by(exec, greedy, csr_on_device<Exec>(grid), none, of_grid);
  EXPECT_EQ(stagnant.result.reason, Reason::stagnation);
  EXPECT_LT(stagnant.result.residual, 1e-13 * stagnant.result.right_norm);
  EXPECT_GT(stagnant.result.residual, 1e-30 * stagnant.result.right_norm);
  // From so far away that the recurrence loses digits: it converges twice.
  const ConjugateGradient<double, Exec> accurate(exec, 400, KrylovOptions{}.relative(1e-12));
  const std::vector<double> far(400, 1e8);
  const auto restarted = solved_by(exec, accurate, csr_on_device<Exec>(grid), none, of_grid, far);
  EXPECT_EQ(restarted.result.reason, Reason::converged) << restarted.result.why();
  const double target = 1e-12 * restarted.result.right_norm;
  EXPECT_LE(restarted.result.residual, target);
  EXPECT_LE(::Test::relative_residual(grid, restarted.x, of_grid), 1.01e-12);
  EXPECT_GT(std::count_if(restarted.history.begin(), restarted.history.end(),
                          [=](double r) { return r <= target; }),
            1);

  const ConjugateGradient<double, Exec> short_one(exec, 400, KrylovOptions{}.max_iterations(5));
  const auto unfinished = solved_by(exec, short_one, csr_on_device<Exec>(grid), none, of_grid);
  EXPECT_EQ(unfinished.result.reason, Reason::max_iterations);
  EXPECT_EQ(unfinished.result.iterations, 5);
  EXPECT_EQ(unfinished.history.size(), 6u);
  EXPECT_NEAR(unfinished.result.residual / unfinished.history.back(), 1, 1e-12);

  for (const double bad : {std::nan(""), HUGE_VAL}) {
    auto spoilt = diagonal<double>(n, 1, 1);
    spoilt.values[17] = bad;
    const auto matrix = csr_on_device<Exec>(spoilt);
    EXPECT_EQ(solved_by(exec, cg, matrix, none, b).result.reason, Reason::not_finite);
    EXPECT_EQ(solved_by(exec, bicgstab, matrix, none, b).result.reason, Reason::not_finite);
    auto c = b;
    c[n - 1] = bad;
    EXPECT_EQ(solved_by(exec, cg, good, none, c).result.reason, Reason::not_finite);
    EXPECT_EQ(solved_by(exec, bicgstab, good, none, c).result.reason, Reason::not_finite);
    // Of a step, x is what it was.
    const auto of_cg = solved_by(exec, cg, good, Scaling{bad}, b);
    const auto of_bicgstab = solved_by(exec, bicgstab, good, Scaling{bad}, b);
    EXPECT_EQ(of_cg.result.reason, Reason::not_finite);
    EXPECT_EQ(of_bicgstab.result.reason, Reason::not_finite);
    EXPECT_EQ(of_cg.x, std::vector<double>(n));
    EXPECT_EQ(of_bicgstab.x, std::vector<double>(n));
  }
}

template <class Exec>
void starts_from_x() {
  const Exec exec;
  constexpr int n = 50;
  const auto A = diagonal<double>(n, 1, 1);
  const auto matrix = csr_on_device<Exec>(A);
  const auto x = ::Test::random_vector<double>(n, 7);
  std::vector<double> b(n);
  ::Test::for_entries(A, [&](int i, int j, double v) { b[i] += v * x[j]; });
  const ConjugateGradient<double, Exec> cg(exec, n, KrylovOptions{}.relative(1e-12));
  const auto there = solved_by(exec, cg, matrix, NoPreconditioner{}, b, x);
  EXPECT_EQ(there.result.reason, Reason::converged);
  EXPECT_EQ(there.result.iterations, 0);
  EXPECT_EQ(there.x, x);
  auto near = x;
  near[3] += 0.5;
  const auto one_off = solved_by(exec, cg, matrix, NoPreconditioner{}, b, near);
  EXPECT_EQ(one_off.result.iterations, 1);
  expect_converged(solved_by(exec, cg, matrix, NoPreconditioner{}, b), A, b, 1e-12);

  const std::vector<double> zeros(n);
  const auto zero = solved_by(exec, cg, matrix, NoPreconditioner{}, zeros, x);
  EXPECT_EQ(zero.result.reason, Reason::converged);
  EXPECT_EQ(zero.x, zeros);
  const ConjugateGradient<double, Exec> absolute(
      exec, n, KrylovOptions{}.relative(0).absolute(2 * 0.5 * 4));  // row 3 of A is 4
  EXPECT_EQ(solved_by(exec, absolute, matrix, NoPreconditioner{}, b, near).result.iterations, 0);
  const ConjugateGradient<double, Exec> stricter(exec, n,
                                                 KrylovOptions{}.relative(0).absolute(1.9));
  EXPECT_EQ(solved_by(exec, stricter, matrix, NoPreconditioner{}, b, near).result.iterations, 1);
}

template <class Exec>
void errors_have_sentences() {
  const Exec exec;
  EXPECT_EQ(::Test::message([&] { ConjugateGradient<double, Exec>(exec, -1); }),
            "Trikkos::ConjugateGradient: n is -1, expected 0 or more");
  EXPECT_EQ(
      ::Test::message([&] { BiCgStab<double, Exec>(exec, 1, KrylovOptions{}.max_iterations(-3)); }),
      "Trikkos::BiCgStab: max_iterations is -3, expected 0 or more");
  EXPECT_EQ(::Test::message(
                [&] { BiCgStab<double, Exec>(exec, 1, KrylovOptions{}.relative(std::nan(""))); }),
            "Trikkos::BiCgStab: a tolerance is negative or no number, expected 0 or more");
  const auto A = csr_on_device<Exec>(diagonal<double>(3, 1, 1));
  const ConjugateGradient<double, Exec> three(exec, 3), four(exec, 4), none(exec, 0);
  const Kokkos::View<double*, Exec> x3("x", 3), x4("x", 4), x0("x", 0);
  const auto error = [&](const auto& cg, const auto& b, const auto& x) {
    return ::Test::message([&] { static_cast<void>(Trikkos::solve(exec, cg, A, b, x)); });
  };
  EXPECT_EQ(error(four, x4, x4), "Trikkos::solve: A has 3 rows, expected 4 (the method)");
  EXPECT_EQ(error(three, x4, x4), "Trikkos::solve: b has 4 rows, expected 3 (the method)");
  EXPECT_EQ(error(three, x3, x4), "Trikkos::solve: x has 4 rows, expected 3 (b.extent(0))");
  EXPECT_EQ(::Test::message([&] {
              const Trikkos::CsrMatrix wide{A.row_map, A.entries, A.values, 4};
              static_cast<void>(Trikkos::solve(exec, three, wide, x3, x3));
            }),
            "Trikkos::solve: A has 4 columns, expected 3 (its rows)");
  EXPECT_TRUE(Trikkos::solve(exec, none, csr_on_device<Exec>(HostMatrix<double>{}), x0, x0).ok());
}

}  // namespace

TEST(TEST_CATEGORY, krylov_cg) { cg_converges_as_a_plain_loop<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, krylov_preconditioned) {
  expect_preconditioned<double, TEST_EXECSPACE>(1e-10);
  expect_preconditioned<Kokkos::complex<float>, TEST_EXECSPACE>(1e-4);
}
TEST(TEST_CATEGORY, krylov_bicgstab) { bicgstab_converges<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, krylov_line_solves) { line_solves_are_preconditioners<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, krylov_functions) { matrices_may_be_functions<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, krylov_ends) { ends_have_words<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, krylov_starts) { starts_from_x<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, krylov_errors) { errors_have_sentences<TEST_EXECSPACE>(); }
