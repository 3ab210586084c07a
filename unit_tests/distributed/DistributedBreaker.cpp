// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The search for matrices that lose digits (Breaker.hpp), ten at a time in one distributed batch.

#include <Breaker.hpp>
#include <Ranks.hpp>

namespace {

using namespace Test;
using Breaker::Climber;
using Breaker::Problem;
using Trikkos::Boundary;

using Systems = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;

/// A word of all systems, one(problem).
template <class One>
Systems array(const std::vector<Problem<double>>& problems, const One& one) {
  const Systems v("v", problems.size(), one(problems[0]).size());
  const auto host = Kokkos::create_mirror_view(v);
  for (std::size_t k = 0; k < problems.size(); ++k)
    for (std::size_t i = 0; i < host.extent(1); ++i) host(k, i) = one(problems[k])[i];
  Kokkos::deep_copy(v, host);
  return v;
}
/// The backward errors, the same on all ranks; -1 where x is not finite, or known to be bad.
std::vector<double> scores(std::vector<Problem<double>> problems, const Cut& cut, Boundary boundary,
                           const Trikkos::Options& options) {
  const TEST_EXECSPACE exec;
  for (auto& p : problems) apply_row_exponents(p);
  const auto lower = array(
      problems, [](const auto& p) -> auto& { return p.A.lower; });
  const auto diag = array(
      problems, [](const auto& p) -> auto& { return p.A.diag; });
  const auto upper = array(
      problems, [](const auto& p) -> auto& { return p.A.upper; });
  const auto x = array(
      problems, [](const auto& p) -> auto& { return p.b; });
  const auto A = rows_of(Trikkos::Tridiagonal{lower, diag, upper, boundary}, cut);
  const auto rows = rows_of(x, cut);
  const Trikkos::Status status = solve_rows(exec, A, rows, rows, options);
  Trikkos::gather(exec, world, 0, rows, x);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  std::vector<double> scores(problems.size(), -1);
  for (std::size_t k = 0; rank() == 0 && k < problems.size(); ++k) {
    std::vector<double> one(host.extent(1));
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = host(k, i);
    if (is_finite(one) && status.system != static_cast<std::int64_t>(k))
      scores[k] = fast_backward_error(problems[k].A, one, problems[k].b);
  }
  MPI_Bcast(scores.data(), static_cast<int>(scores.size()), MPI_DOUBLE, 0, world);
  return scores;
}

/// Climbers of each mode; all ranks take the same steps.
double search(std::int64_t n, const Cut& cut, Boundary boundary, int count, int steps,
              std::int64_t partition_size) {
  std::vector<Climber<double>> climbers;
  for (int k = 0; k < count; ++k)
    climbers.emplace_back(n, boundary, Breaker::modes[k % std::size(Breaker::modes)], false,
                          1009 * n + k);
  double worst = -1;
  std::vector<Problem<double>> problems(count);
  for (int step = 0; step < steps; ++step) {
    for (int k = 0; k < count; ++k) problems[k] = climbers[k].next().problem();
    const auto found =
        scores(problems, cut, boundary, Trikkos::Options{}.partition_size(partition_size));
    for (int k = 0; k < count; ++k) {
      climbers[k].judge(found[k], steps);
      if (!(found[k] <= worst)) worst = found[k];  // NaN, too
    }
  }
  return worst;
}

TEST(distributed, is_not_broken_by_a_search) {
  const std::int64_t n = 8 * ranks() + 9;
  const auto expect_unbroken = [&](const Cut& cut, Boundary boundary, int systems,
                                   std::int64_t partition_size) {
    const double worst = search(n, cut, boundary, systems, 60, partition_size);
    EXPECT_LE(worst, gate<double>) << describe(cut);
    EXPECT_GE(worst, 0) << "nothing was solved";
    if (rank() == 0) std::printf("worst backward error %.2g\n", worst);
  };
  expect_unbroken(even_cut(n), Boundary::open, 5, 0);
  expect_unbroken(cut_at(n, 5), Boundary::open, 10, 3);
  expect_unbroken(even_cut(n), Boundary::periodic, 10, 0);
  expect_unbroken(cut_at(n, 8), Boundary::periodic, 5, 2);
}

}  // namespace
