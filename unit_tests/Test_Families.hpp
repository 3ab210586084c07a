// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <BreakerSolvers.hpp>
#include <random>

/// \file
/// Matrices as programs have them, which random ones do not resemble: advection, Helmholtz, graded
/// meshes, penalties, shooting. Each row is judged by itself, at every partition size.

namespace Test::Families {

using Breaker::Level;
using Breaker::Method;
using Breaker::Problem;
using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Options;

struct Family {
  std::string name;
  HostSystem<double> A;
};

HostSystem<double> toeplitz(std::int64_t n, double lower, double diag, double upper) {
  return {std::vector(n, lower), std::vector(n, diag), std::vector(n, upper)};
}
std::string with(const std::string& name, double number) {
  return name + " " + std::to_string(number);
}

/// u' + u_x, implicit in time, central in space: cells per time step. Nothing is dominant above 1,
/// and the condition is about the Courant number.
void add_advection(std::vector<Family>& all, std::int64_t n) {
  for (const double courant : {0.1, 0.5, 1., 2., 10., 100.}) {
    all.push_back({with("advection", courant), toeplitz(n, -courant / 2, 1, courant / 2)});
    all.push_back(
        {with("advection to the left", courant), toeplitz(n, courant / 2, 1, -courant / 2)});
  }
}

/// Signs that alternate on and off the diagonal.
void add_alternating(std::vector<Family>& all, std::int64_t n) {
  for (const double size : {1., 0.5, 1e-3, 3.}) {
    auto A = toeplitz(n, 1, size, 1);
    for (std::int64_t i = 1; i < n; i += 2) A.diag[i] = -size;
    all.push_back({with("alternating diagonal", size), A});
    A = toeplitz(n, 1, 1.1 * size, 1);  // 1 is singular as a ring of 3
    for (std::int64_t i = 0; i < n; i += 3) A.lower[i] = -1;
    for (std::int64_t i = 0; i < n; i += 2) A.upper[i] = -1;
    all.push_back({with("alternating neighbours", size), A});
  }
}

/// -u'' - k^2 u, and k near an eigenvalue, where the matrix is nearly singular.
void add_helmholtz(std::vector<Family>& all, std::int64_t n) {
  for (const double kh : {0.1, 0.5, 1.05, 1.4, 1.7, 1.99})  // 1: singular where n = 3 k + 2
    all.push_back({with("Helmholtz, kh", kh), toeplitz(n, -1, 2 - kh * kh, -1)});
  for (const std::int64_t j : {std::int64_t(1), n / 3, n / 2, n - 1}) {
    const double kh =
        2 * std::sin(std::acos(-1.) / 2 * static_cast<double>(j) / static_cast<double>(n + 1));
    for (const double detuned : {1e-3, 1e-6})
      all.push_back({with("Helmholtz, detuned by", detuned) + ", mode " + std::to_string(j),
                     toeplitz(n, -1, 2 - kh * kh * (1 + detuned), -1)});
  }
}

/// -u'' - k u on a mesh whose spacing grows by a factor from cell to cell, and starts anew.
void add_graded_meshes(std::vector<Family>& all, std::int64_t n) {
  for (const double factor : {1.01, 1.2, 2.}) {
    for (const double k : {0., 3.}) {
      const auto spacing = [&](std::int64_t i) {
        return std::pow(factor, static_cast<double>((i + 40) % 40) - 20);
      };
      auto finite_volumes = toeplitz(n, 0, 0, 0), finite_differences = finite_volumes;
      for (std::int64_t i = 0; i < n; ++i) {
        const double left = 1 / spacing(i), right = 1 / spacing((i + 1) % n);
        const double width = (spacing(i) + spacing((i + 1) % n)) / 2;
        const double diag = (left + right) * (1 + 1e-4) - k * width;
        finite_volumes.lower[i] = -left;
        finite_volumes.diag[i] = diag;
        finite_volumes.upper[i] = -right;
        finite_differences.lower[i] = -left / width;
        finite_differences.diag[i] = diag / width;
        finite_differences.upper[i] = -right / width;
      }
      const std::string name = with("mesh graded by", factor) + with(", k", k);
      all.push_back({name + ", finite volumes", finite_volumes});
      all.push_back({name + ", finite differences", finite_differences});
    }
  }
}

/// Conditions on single unknowns enforced by huge entries.
void add_penalties(std::vector<Family>& all, std::int64_t n) {
  for (const double penalty : {1e10, 1e30}) {
    for (const std::int64_t period : {std::int64_t(5), std::int64_t(16), n}) {
      auto poisson = toeplitz(n, -1, 2.01, -1), advection = toeplitz(n, -1, 1, 1);
      for (std::int64_t i = 0; i < n; i += period) poisson.diag[i] = advection.diag[i] = penalty;
      const std::string what = with(", period", static_cast<double>(period));
      all.push_back({with("Poisson with penalties of", penalty) + what, poisson});
      all.push_back({with("advection with penalties of", penalty) + what, advection});
    }
  }
}

/// Two-point boundary value problems. Convection against diffusion, with a turning point or
/// without; and shooting from point to point, where row exchanges let the last column grow
/// (Wright 1993) if the ends are coupled.
void add_boundary_value_problems(std::vector<Family>& all, std::int64_t n, Boundary boundary) {
  for (const double peclet : {0.5, 1., 1.5, 10., 1e3}) {
    all.push_back({with("convection, cell Peclet number", peclet),
                   toeplitz(n, -1 - peclet, 2.001, -1 + peclet)});
    auto turning = toeplitz(n, 0, 2.001, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      const double p = peclet * (2 * static_cast<double>(i) / static_cast<double>(n) - 1 + 1e-3);
      turning.lower[i] = -1 - p;
      turning.upper[i] = -1 + p;
    }
    all.push_back({with("turning point, cell Peclet number", peclet), turning});
  }
  for (const double growth : {0.5, 0.99, 1.01, 1.1, 2.}) {
    // The condition of an open one. Beyond the range of squares, a Status may well say so.
    const double condition = std::pow(growth, static_cast<double>(n));
    if (boundary == Boundary::open && condition > 1e15) continue;
    all.push_back({with("shooting", growth), toeplitz(n, -growth, 1, 0)});
    all.push_back({with("shooting backwards", growth), toeplitz(n, 0, 1, -growth)});
    all.push_back({with("shooting with damping", growth), toeplitz(n, -growth, 1, 0.15)});
  }
}

/// Singular but for a small shift.
void add_nearly_singular(std::vector<Family>& all, std::int64_t n, double smallest) {
  for (const double shift : {1e-2, 1e-4, std::max(1e-12, smallest)}) {
    auto A = toeplitz(n, -1, 2 + shift, -1);
    all.push_back({with("Poisson, shift 1e", std::log10(shift)), A});
    A.diag.front() = A.diag.back() = 1 + shift;
    all.push_back({with("Neumann, shift 1e", std::log10(shift)), A});
  }
}

template <class T>
std::vector<Family> families(std::int64_t n, Boundary boundary) {
  std::vector<Family> all;
  add_advection(all, n);
  add_alternating(all, n);
  add_helmholtz(all, n);
  add_graded_meshes(all, n);
  add_penalties(all, n);
  add_boundary_value_problems(all, n, boundary);
  add_nearly_singular(all, n, 64 * std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon());
  return all;
}

/// In numbers T. If they are complex, rows and columns turn, each by an angle of its own.
template <class T>
HostSystem<T> converted(const HostSystem<double>& A) {
  HostSystem<T> B{{}, {}, {}, A.periodic};
  using R = Trikkos::Impl::Real<T>;
  for (const double v : A.lower) B.lower.push_back(static_cast<R>(v));
  for (const double v : A.diag) B.diag.push_back(static_cast<R>(v));
  for (const double v : A.upper) B.upper.push_back(static_cast<R>(v));
  if constexpr (!std::is_floating_point_v<T>) {
    const std::int64_t n = B.size();
    const auto turn = [&](T& v, std::int64_t i, std::int64_t j) {
      const T phases[] = {T(1), T(0, 1), T(R(0.6), R(0.8))};
      v *= phases[i % 3] * phases[(j + n) % n % 2];
    };
    for (std::int64_t i = 0; i < n; ++i) {
      turn(B.lower[i], i, i - 1);
      turn(B.diag[i], i, i);
      turn(B.upper[i], i, i + 1);
    }
  }
  return B;
}

/// A as it is, but with rows of entries up to 2 and powers that undo that: so that eta judges every
/// row by itself.
template <class T>
Problem<T> by_rows(HostSystem<T> A, const std::vector<T>& x, bool x_is_b) {
  std::vector<int> exponents(A.diag.size());
  for (std::int64_t i = 0; i < A.size(); ++i) {
    exponents[i] = std::ilogb(
        std::max({Kokkos::abs(A.lower[i]), Kokkos::abs(A.diag[i]), Kokkos::abs(A.upper[i])}));
    for (auto* const band : {&A.lower, &A.diag, &A.upper})
      (*band)[i] = Breaker::times_power((*band)[i], -exponents[i]);
  }
  return {A, x_is_b ? x : fast_multiply(A, x), exponents};
}

/// Both right-hand sides of all families at once.
template <class T>
class Suite {
 public:
  Suite(std::int64_t n, Boundary boundary) : m_n(n), m_boundary(boundary) {
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    const auto number = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1; };
    std::vector<T> x(n);
    for (T& v : x) v = static_cast<Trikkos::Impl::Real<T>>(number());
    for (const Family& family : families<T>(n, boundary)) {
      auto A = converted<T>(family.A);
      A.periodic = boundary == Boundary::periodic;
      for (const bool x_is_b : {false, true}) {
        m_problems.push_back(by_rows(A, x, x_is_b));
        m_names.push_back(family.name + (x_is_b ? ", random b" : ", b = A x"));
      }
    }
  }
  void expect_solved(const Method& method) const {
    const bool stable = Breaker::algorithm_of(method) == Algorithm::segmented;
    SCOPED_TRACE(describe(method) + ", n " + std::to_string(m_n) + ", " + name(m_boundary));
    Breaker::Solver<T> solver(method, m_n, m_boundary, static_cast<int>(m_problems.size()));
    const auto judged = solver(m_problems);
    for (std::size_t k = 0; k < judged.size(); ++k) {
      EXPECT_LE(judged[k].score(), Breaker::promised<T>(method)) << m_names[k];
      if (stable) {
        EXPECT_TRUE(judged[k].score() >= 0) << m_names[k];
      }
    }
  }

 private:
  std::int64_t m_n;
  Boundary m_boundary;
  std::vector<Problem<T>> m_problems;
  std::vector<std::string> m_names;
};

constexpr std::int64_t partition_sizes[] = {0, 2, 3, 7, 8, 15, 16, 31, 32, 64, 66, 100, 128, 512};

template <class T>
void solves_families(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes)
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      if (n == 3 && boundary == Boundary::periodic) continue;  // some are singular
      const Suite<T> suite(n, boundary);
      suite.expect_solved({Options{}});
      for (const std::int64_t rows : partition_sizes) {
        const auto segmented = Options{}.algorithm(Algorithm::segmented).partition_size(rows);
        const auto spike = Options{}.algorithm(Algorithm::spike).partition_size(rows);
        const bool takes_its_time = n > 2000;
        if (takes_its_time && rows > 3 && rows % 33 != 0) continue;
        suite.expect_solved({segmented});
        if (takes_its_time && rows % 33 != 0) continue;
        suite.expect_solved({spike});
        suite.expect_solved({Options(spike).refine(1)});
        if (n != Breaker::fitting<T>(n, {segmented, Level::team})) continue;
        suite.expect_solved({segmented, Level::team});
        suite.expect_solved({spike, Level::team});
      }
      for (const Algorithm algorithm : {Algorithm::pcr, Algorithm::thomas})
        suite.expect_solved({Options{}.algorithm(algorithm)});
    }
}

// Small primes, around the edges of partitions, and many of them.
TEST(TEST_CATEGORY, families_double) {
  solves_families<double>({3, 5, 7, 13, 31, 33, 65, 67, 131, 257, 513, 1009});
}
TEST(TEST_CATEGORY, families_double_large) { solves_families<double>({20000}); }
TEST(TEST_CATEGORY, families_float) { solves_families<float>({3, 7, 33, 65, 131, 1009}); }
TEST(TEST_CATEGORY, families_complex_double) {
  solves_families<Kokkos::complex<double>>({3, 7, 33, 65, 131, 1009});
}
TEST(TEST_CATEGORY, families_complex_float) {
  solves_families<Kokkos::complex<float>>({3, 67, 1009});
}

}  // namespace Test::Families
