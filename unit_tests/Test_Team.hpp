// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <InKernels.hpp>
#include <Promise.hpp>

/// \file
/// `solve(member, A, b, x, options)`: what a team of a user's kernel owes with `segmented` and
/// `spike`. (`pcr` is in Test_Pcr.hpp, `thomas` in Test_Thomas.hpp.)

namespace Test::Team {

using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Pivoting;
using Trikkos::Transpose;

template <class T>
struct Result {
  std::vector<T> x;
  int info;
  double eta;
};

/// All systems at once, in place if wanted.
template <class T>
std::vector<Result<T>> solve(const std::vector<Reference::HostSystem<T>>& A,
                             const std::vector<std::vector<T>>& b, const Options& options,
                             int team_size, bool in_place) {
  const int count = static_cast<int>(A.size());
  const std::int64_t n = A[0].size();
  const auto vectors = [&](const std::string& label, const auto& row) {
    const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> all(label, count, n);
    const auto host = Kokkos::create_mirror_view(all);
    for (int k = 0; k < count; ++k)
      for (std::int64_t i = 0; i < n; ++i) host(k, i) = row(k)[i];
    ::Test::copy(all, host);
    return all;
  };
  Systems<T> systems{vectors("lower", [&](int k) { return A[k].lower; }),
                     vectors("diag", [&](int k) { return A[k].diag; }),
                     vectors("upper", [&](int k) { return A[k].upper; }),
                     vectors("b", [&](int k) { return b[k]; }),
                     vectors("x", [&](int) { return std::vector<T>(n); }),
                     A[0].periodic ? Boundary::periodic : Boundary::open};
  if (in_place) systems.x = systems.b;

  const auto info = solve_by_teams(systems, count, options, team_size);
  std::vector<Result<T>> results;
  for (int k = 0; k < count; ++k) {
    Result<T> r{Reference::to_host(systems.row(systems.x, k)), info[k], 0};
    const auto op_A =
        options.transpose() == Transpose::none ? A[k] : Reference::transpose(A[k], false);
    r.eta = Reference::backward_error(op_A, r.x, b[k]);
    results.push_back(r);
  }
  return results;
}

std::vector<int> team_sizes() {  // 0: AUTO
  std::vector<int> sizes{0, 1};
  if (!Trikkos::Impl::is_host_v<TEST_EXECSPACE>) sizes.insert(sizes.end(), {7, 32, 96, 128});
  return sizes;
}

/// Every x is as good as an ok status promises, and half of those of one size are within the gate.
template <class T>
void solves(const Options& options, Gallery type, double gate) {
  constexpr int systems = 5;
  const double promised = Breaker::promised<T>({options, Breaker::Level::team});
  for (const std::int64_t n : {1, 2, 3, 15, 16, 17, 33, 100, 257, 500})
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const Transpose transpose : {Transpose::none, Transpose::transpose})
        for (const int team_size : team_sizes()) {
          if (Trikkos::team_scratch_bytes<T>(n, options, boundary) > 30 * 1024)
            continue;  // more than OpenMP grants
          SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary) +
                       ", team " + std::to_string(team_size));
          std::vector<Reference::HostSystem<T>> A;
          std::vector<std::vector<T>> b;
          for (int k = 0; k < systems; ++k) {
            A.push_back(gallery<T>(type, n, k, boundary));
            b.push_back(random_rhs<T>(n, k));
          }
          const auto results = solve(A, b, Options(options).transpose(transpose), team_size, n % 2);
          std::vector<double> etas;
          for (const auto& r : results) {
            EXPECT_EQ(r.info, 0);
            EXPECT_LE(r.eta, promised);
            etas.push_back(r.eta);
          }
          std::sort(etas.begin(), etas.end());
          EXPECT_LE(etas[systems / 2], scaled<T>(gate));
        }
}

TEST(TEST_CATEGORY, team_segmented_solves) {
  solves<double>(Options{}.algorithm(Algorithm::segmented), Gallery::uniform, 1e-14);
  solves<float>(Options{}.algorithm(Algorithm::segmented), Gallery::uniform, 1e-14);
  solves<Kokkos::complex<double>>(Options{}.algorithm(Algorithm::segmented), Gallery::uniform,
                                  1e-14);
  for (const std::int64_t rows : {2, 7, 66, 128})
    solves<double>(Options{}.algorithm(Algorithm::segmented).partition_size(rows), Gallery::uniform,
                   1e-14);
}

TEST(TEST_CATEGORY, team_spike_solves) {
  const auto spike = Options{}.algorithm(Algorithm::spike);
  solves<double>(spike, Gallery::uniform, 1e-14);
  solves<double>(Options(spike).partition_size(66), Gallery::uniform, 1e-14);
  solves<double>(Options(spike).spike({.pivoting = Pivoting::none}), Gallery::uniform_dominant,
                 1e-15);
  solves<float>(Options(spike).spike({.pivoting = Pivoting::none}), Gallery::uniform_dominant,
                1e-15);
  solves<Kokkos::complex<double>>(spike, Gallery::uniform, 1e-14);
}

/// What the host call flags, a team does, too; a bad system spoils only itself.
TEST(TEST_CATEGORY, team_flags_what_it_cannot_solve) {
  const std::int64_t n = 100;
  for (const int team_size : team_sizes()) {
    SCOPED_TRACE("team " + std::to_string(team_size));
    std::vector<Reference::HostSystem<double>> A{
        gallery<double>(Gallery::uniform, n, 1), gallery<double>(Gallery::clement, n),
        gallery<double>(Gallery::uniform, n, 2), gallery<double>(Gallery::uniform, n, 3)};
    A[2].diag[40] = A[2].lower[40] = A[2].upper[40] = 0;  // singular
    std::vector<std::vector<double>> b(4, random_rhs<double>(n));
    b[3][70] = std::numeric_limits<double>::quiet_NaN();
    const auto segmented = solve(A, b, Options{}.algorithm(Algorithm::segmented), team_size, false);
    EXPECT_EQ(segmented[0].info, 0);
    EXPECT_EQ(segmented[1].info, 0);
    EXPECT_LE(segmented[1].eta, 1e-14);
    EXPECT_GT(segmented[2].info, 0);
    EXPECT_GT(segmented[3].info, 0);
    const auto odd = Options{}.algorithm(Algorithm::spike).partition_size(15);
    const auto spike = solve(A, b, odd, team_size, false);
    EXPECT_EQ(spike[0].info, 0);
    EXPECT_GT(spike[1].info, 0);  // zero diagonal, odd partitions
    EXPECT_GT(spike[2].info, 0);
    EXPECT_GT(spike[3].info, 0);
  }
}

}  // namespace Test::Team
