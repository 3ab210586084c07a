// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Outcome.hpp>
#include <Trikkos.hpp>
#include <string>
#include <vector>

/// \file
/// Five diagonals: a `Pentadiagonal` as kernels see it, and the residual that judges solutions.

namespace Test::Five {

/// op(A)(i, j) of five bands on the host, entries on the same place added up.
std::vector<std::vector<double>> dense(const std::vector<std::vector<double>>& band, bool periodic,
                                       bool transposed) {
  const auto n = static_cast<std::int64_t>(band[0].size());
  std::vector<std::vector<double>> A(n, std::vector<double>(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (int j = -2; j <= 2; ++j) {
      const std::int64_t column = ((i + j) % n + n) % n;
      if (!periodic && column != i + j) continue;
      (transposed ? A[column][i] : A[i][column]) += band[2 + j][i];
    }
  return A;
}

/// Against the dense matrix.
TEST(TEST_CATEGORY, bands_of_five_diagonals_have_a_backward_error) {
  using namespace Trikkos::Impl;
  using Trikkos::Boundary;
  using Trikkos::Transpose;
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 40})
    for (const bool periodic : {false, true})
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + (periodic ? " periodic" : "") +
                     (transposed ? " transposed" : ""));
        std::vector<std::vector<double>> host;
        std::vector<Kokkos::View<double*, TEST_EXECSPACE>> device;
        for (int k = 0; k < 5; ++k) {
          host.push_back(random_rhs(n, 30 + k));
          device.push_back(Reference::to_device(exec, host.back()));
        }
        const Trikkos::Pentadiagonal A{device[0], device[1],
                                       device[2], device[3],
                                       device[4], periodic ? Boundary::periodic : Boundary::open};
        const auto op = transposed ? Transpose::transpose : Transpose::none;
        const auto full = dense(host, periodic, transposed);
        const auto x = random_rhs(n, 40);
        auto b = random_rhs(n, 41);
        const auto expected = [&] {
          long double residual = 0, norm = 0, largest_x = 0, largest_b = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            long double r = b[i], sum = 0;
            for (std::int64_t j = 0; j < n; ++j) r -= static_cast<long double>(full[i][j]) * x[j];
            for (int j = -2; j <= 2; ++j) {
              const std::int64_t column = i + j;
              if (!periodic && (column < 0 || column >= n)) continue;
              const std::int64_t at = transposed ? ((column % n) + n) % n : i;
              sum += std::abs(host[transposed ? 2 - j : 2 + j][at]);
            }
            residual = std::max(residual, std::abs(r));
            norm = std::max(norm, sum);
            largest_x = std::max<long double>(largest_x, std::abs(x[i]));
            largest_b = std::max<long double>(largest_b, std::abs(b[i]));
          }
          return static_cast<double>(residual / (norm * largest_x + largest_b));
        };
        const auto measured = [&] {
          const auto x_view = Reference::to_device(exec, x), b_view = Reference::to_device(exec, b);
          const double eta = worst_backward_error<double>(exec, systems(A, 1, op), n, 1,
                                                          vectors<const double>(x_view),
                                                          vectors<const double>(b_view));
          if (!transposed) {
            EXPECT_EQ(eta, Trikkos::backward_error(exec, A, x_view, b_view));
          }
          return eta;
        };
        EXPECT_NEAR(measured(), expected(), 1e-14 * expected());
        for (std::int64_t i = 0; i < n; ++i) {
          long double sum = 0;
          for (std::int64_t j = 0; j < n; ++j) sum += static_cast<long double>(full[i][j]) * x[j];
          b[i] = static_cast<double>(sum);
        }
        EXPECT_LE(measured(), 1e-16);
      }
}

}  // namespace Test::Five
