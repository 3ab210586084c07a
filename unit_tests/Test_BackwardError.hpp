// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Outcome.hpp>
#include <Trikkos.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// backward_error against that of the reference: any size of numbers, and bad ones.

namespace {

using Test::gallery;
using Test::is_finite;
using Test::random_rhs;
using Trikkos::Boundary;
using Trikkos::Gallery;

template <class T>
using HostSystem = Reference::HostSystem<T>;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double inf_value = std::numeric_limits<double>::infinity();

template <class T>
double measured_error(const HostSystem<T>& A, const std::vector<T>& x, const std::vector<T>& b) {
  const TEST_EXECSPACE exec;
  return Trikkos::backward_error(exec, Reference::to_device(exec, A), Reference::to_device(exec, x),
                                 Reference::to_device(exec, b));
}

template <class T>
void expect_agrees_with_oracle(const HostSystem<T>& A, const std::vector<T>& x,
                               const std::vector<T>& b) {
  const double expected = Reference::backward_error(A, x, b), actual = measured_error(A, x, b);
  EXPECT_LE(actual, 2 * expected);
  EXPECT_GE(actual, expected / 2);
}

template <class T>
void backward_error_agrees_with_oracle() {
  using Real = decltype(Kokkos::abs(T{}));
  constexpr bool wide = std::is_same_v<Real, double>;
  const auto times = [](std::vector<T> v, double factor) {
    for (T& entry : v) entry *= static_cast<Real>(factor);
    return v;
  };
  const double huge = wide ? 1e300 : 1e37, tiny = wide ? 1e-300 : 1e-37;
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    for (const std::int64_t n : {1, 2, 3, 17, 8193}) {
      if (boundary == Boundary::periodic && n < 3) continue;  // entries that add up: see row_sum
      const auto A = gallery<T>(Gallery::uniform, n, 3, boundary);
      const auto x = random_rhs<T>(n, 5), other = random_rhs<T>(n, 6);
      for (const double a : {1., huge, tiny}) {
        for (const double s : {1., huge, tiny}) {
          if (n > 17 && a != 1 && s != 1) continue;
          SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary) + ", A " +
                       std::to_string(std::log10(a)) + ", x " + std::to_string(std::log10(s)));
          const HostSystem<T> scaled_A{times(A.lower, a), times(A.diag, a), times(A.upper, a),
                                       A.periodic};
          const auto scaled_x = times(x, s);
          for (const double r : {1., huge, tiny}) {  // b that has nothing to do with x
            if (n > 17 && r != 1) continue;
            expect_agrees_with_oracle(scaled_A, scaled_x, times(other, r));
          }
          expect_agrees_with_oracle(scaled_A, scaled_x, std::vector<T>(n, T(0)));
          expect_agrees_with_oracle(scaled_A, std::vector<T>(n, T(0)), other);
          const auto product = Reference::multiply(scaled_A, scaled_x);
          if (!is_finite(product)) continue;
          expect_agrees_with_oracle(scaled_A, scaled_x, product);  // rounded once
          auto nearly = product;
          nearly[n / 2] = nearly[n / 2] * (1 + 1000 * std::numeric_limits<Real>::epsilon());
          expect_agrees_with_oracle(scaled_A, scaled_x, nearly);
        }
      }
    }
  }
}

template <class T>
void backward_error_of_solutions() {  // at the level of rounding errors, where a sloppy residual
                                      // fails
  for (const std::int64_t n : {1, 2, 3, 100, 3000}) {
    for (const Gallery type : {Gallery::uniform, Gallery::poisson, Gallery::dorr, Gallery::lesp}) {
      SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n));
      const auto A = gallery<T>(type, n, 3);
      const auto b = random_rhs<T>(n, 5);
      expect_agrees_with_oracle(A, Reference::solve(A, b), b);
    }
  }
}

template <class T>
void backward_error_of_bad_numbers() {
  constexpr std::int64_t n = 9001;
  const auto A = gallery<T>(Gallery::uniform, n, 3);
  const auto x = random_rhs<T>(n, 5), b = random_rhs<T>(n, 6);
  EXPECT_TRUE(std::isfinite(measured_error(A, x, b)));  // garbage outside A is not read
  for (const double bad : {nan_value, inf_value, -inf_value}) {
    for (const std::int64_t p : {std::int64_t(0), std::int64_t(8191), n - 1}) {
      SCOPED_TRACE(std::to_string(bad) + " at " + std::to_string(p));
      auto bad_A = A;
      bad_A.diag[p] = T(bad);
      EXPECT_EQ(measured_error(bad_A, x, b), inf_value);
      auto bad_x = x;
      bad_x[p] = T(bad);
      EXPECT_EQ(measured_error(A, bad_x, b), inf_value);
      auto bad_b = b;
      bad_b[p] = T(bad);
      EXPECT_EQ(measured_error(A, x, bad_b), inf_value);
    }
    auto bad_A = A;
    bad_A.lower[5] = T(bad);
    EXPECT_EQ(measured_error(bad_A, x, b), inf_value);
    bad_A = A;
    bad_A.upper[5] = T(bad);
    EXPECT_EQ(measured_error(bad_A, x, b), inf_value);
  }
  const std::vector<T> zero(n, T(0));
  EXPECT_EQ(measured_error(A, zero, zero), 0);
  EXPECT_EQ(measured_error(A, zero, b), 1);
  EXPECT_EQ(measured_error(HostSystem<T>{zero, zero, zero}, zero, zero), 0);
}

}  // namespace

TEST(TEST_CATEGORY, backward_error_agrees_with_oracle) {
  backward_error_agrees_with_oracle<float>();
  backward_error_agrees_with_oracle<double>();
  backward_error_agrees_with_oracle<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, backward_error_of_solutions) {
  backward_error_of_solutions<float>();
  backward_error_of_solutions<double>();
  backward_error_of_solutions<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, backward_error_of_bad_numbers) {
  backward_error_of_bad_numbers<float>();
  backward_error_of_bad_numbers<double>();
  backward_error_of_bad_numbers<Kokkos::complex<double>>();
}
