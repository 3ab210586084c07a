// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>

#include "Papers.hpp"
#include "Papers_Judge.hpp"
#include "Papers_Solver.hpp"
#include "Papers_Table.hpp"

/// \file
/// CTAC 2014, Table 2: errors for diagonally dominant systems in single precision.

namespace Papers {

namespace {

struct Row {
  Solver<float> solver;
  const char* paper;
};

std::vector<Row> all_solvers() {
  using Trikkos::Algorithm;
  const auto with = [](Algorithm algorithm) {
    return ours<float>(Trikkos::name(algorithm), Trikkos::Options{}.algorithm(algorithm));
  };
  std::vector<Row> rows = {{with(Algorithm::thomas), "3.6e-07"},
                           {with(Algorithm::pcr), "5.4e-07"},
                           {with(Algorithm::spike), "4.2e-07"},
                           {with(Algorithm::segmented), ""}};
  for (const auto& library : libraries<float>()) rows.push_back({library, ""});
  return rows;
}

}  // namespace

void table2(const Arguments& arguments) {
  constexpr std::int64_t n = 1024;
  std::printf(
      "## CTAC 2014, Table 2: accuracy in single precision\n\n"
      "n = %lld, diagonally dominant (`uniform_dominant`), b U(-1,1), %d systems: the largest "
      "entry of |A x - b|.\n\n",
      static_cast<long long>(n), arguments.seeds);
  Table table({"algorithm", "median", "worst", "worst eta", "flagged", "paper"});
  Perf::Harness harness = error_harness();
  for (const auto& [solver, paper] : all_solvers()) {
    std::vector<double> largest;
    double worst_eta = 0;
    int flagged = 0;
    for (int seed = 1; seed <= arguments.seeds; ++seed) {
      Perf::Problem<float> problem(harness.exec(), {Trikkos::Gallery::uniform_dominant, n});
      problem.A =
          Trikkos::gallery<float>(harness.exec(), Trikkos::Gallery::uniform_dominant, n, seed);
      Kokkos::deep_copy(Kokkos::subview(problem.b, 0, Kokkos::ALL),
                        Trikkos::gallery_rhs<float>(harness.exec(), n, seed));
      const Outcome outcome = solver.solve(harness, problem);
      const Errors errors = Judge<float>(problem).errors(problem);
      expect_accurate(solver, outcome, errors.eta);
      if (!outcome.ok()) ++flagged;
      largest.push_back(errors.largest);
      raise(worst_eta, errors.eta);
    }
    std::sort(largest.begin(), largest.end());
    table.add({solver.name, error(largest[largest.size() / 2]), error(largest.back()),
               error(worst_eta), std::to_string(flagged), paper});
  }
  table.print();
}

}  // namespace Papers
