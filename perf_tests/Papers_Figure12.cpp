// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <map>

#include "Papers.hpp"
#include "Papers_Judge.hpp"
#include "Papers_Matrices.hpp"
#include "Papers_Solver.hpp"
#include "Papers_Table.hpp"

/// \file
/// SC'12, Figure 12: one large system, our solvers and the libraries'.

namespace Papers {

namespace {

struct Row {
  Solver<double> solver;
  // Section IV-B, random and dominant. Times of CUSPARSE and SPIKE-Thomas do not depend on the
  // matrix, so 1.72 is for both.
  const char *over_cusparse[2], *over_mkl[2];
};

std::vector<Row> all_solvers() {
  using Trikkos::Algorithm;
  const auto with = [](Algorithm algorithm) { return Trikkos::Options{}.algorithm(algorithm); };
  std::vector<Row> rows = {
      {ours<double>("spike diagonal", with(Algorithm::spike)),
       {"1 (within 5 %)", "1.35"},
       {"12.61", "16.06"}},
      {ours<double>("spike Thomas",
                    with(Algorithm::spike).spike({.pivoting = Trikkos::Pivoting::none})),
       {"1.72", "1.72"},
       {"22.70", ""}},
      {ours<double>("segmented", with(Algorithm::segmented)), {"", ""}, {"", ""}},
      {ours<double>("pcr", with(Algorithm::pcr)), {"", ""}, {"", ""}}};
  for (const auto& library : libraries<double>()) rows.push_back({library, {"", ""}, {"", ""}});
  return rows;
}

void print_system(Perf::Harness& harness, Pivots pivots, std::int64_t n) {
  const Perf::Case system{Trikkos::Gallery::uniform, n};  // for its sizes
  constexpr auto word = static_cast<std::int64_t>(sizeof(double));
  const double floor = static_cast<double>(system.necessary_words() * word) /
                       harness.ceiling(system.footprint() * word);
  const Perf::Problem<double> given = problem(harness.exec(), pivots, n);
  const Judge<double> judge(given);

  struct Result {
    Outcome outcome;
    Errors errors;
  };
  const std::vector<Row> rows = all_solvers();
  std::vector<Result> results;
  std::map<std::string, double> seconds;
  for (const Row& row : rows) {
    Kokkos::deep_copy(given.x, 0);  // nobody inherits a solution
    const Outcome outcome = row.solver.solve(harness, given);
    results.push_back({outcome, judge.errors(given)});
    expect_accurate(row.solver, outcome, results.back().errors.eta);
    seconds[row.solver.name] = outcome.time.median;
  }

  std::printf("%s, n = %lld:\n\n", name(pivots), static_cast<long long>(n));
  Cells head = {"solver", "ms", "of floor"};
  std::vector<const char*> libraries;
  for (const char* library : {gtsv2, gtsv2_nopivot, gtsv}) {
    if (!seconds.contains(library)) continue;
    libraries.push_back(library);
    head.push_back(std::string("over ") + library);
  }
  for (const char* column :
       {"residual", "eta", "status", "paper: over CUSPARSE", "paper: over MKL"})
    head.push_back(column);
  Table table(head);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto& [outcome, errors] = results[k];
    const double median = outcome.time.median;
    Cells row = {rows[k].solver.name, milliseconds(median), factor(floor / median)};
    for (const char* library : libraries) row.push_back(factor(seconds[library] / median));
    const int column = pivots == Pivots::all_1x1;
    for (const std::string& cell :
         {error(errors.residual), error(errors.eta),
          outcome.ok() ? std::string("ok") : outcome.complaint,
          std::string(rows[k].over_cusparse[column]), std::string(rows[k].over_mkl[column])})
      row.push_back(cell);
    table.add(row);
  }
  table.print();
}

}  // namespace

void figure12(const Arguments& arguments) {
  std::printf(
      "## SC'12, Figure 12: one large system\n\n"
      "double; \"of floor\": 72 bytes a row, twice through A and b and once through x, at the rate "
      "that this process measured for streaming,\nover the time taken; residual: equation 13. The "
      "paper's CUSPARSE 4.1 was cyclic reduction, its MKL ran on one core; times without data "
      "transfer.\n\n");
  Perf::Harness harness = timing_harness(arguments);
  for (const std::int64_t n : {arguments.rows, 4 * arguments.rows})
    for (const Pivots pivots : {Pivots::random, Pivots::all_1x1}) print_system(harness, pivots, n);
}

}  // namespace Papers
