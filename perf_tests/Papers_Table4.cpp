// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Papers.hpp"
#include "Papers_Judge.hpp"
#include "Papers_Solver.hpp"
#include "Papers_Table.hpp"

/// \file
/// SC'12, Table IV: the errors of solvers for the 16 types of matrices of Table III.

namespace Papers {

namespace {

constexpr std::int64_t rows = 512, partition = 8;

/// Table IV: relative errors (equation 13).
struct Paper {
  const char *diagonal, *thomas, *cusparse, *mkl;
};
constexpr Paper paper[16] = {
    {"1.82E-14", "1.97E-14", "7.14E-12", "1.88E-14"},
    {"1.27E-16", "1.27E-16", "1.69E-16", "1.03E-16"},
    {"1.55E-16", "1.52E-16", "2.57E-16", "1.35E-16"},
    {"1.37E-14", "1.22E-14", "1.39E-12", "3.10E-15"},
    {"1.07E-14", "1.13E-14", "1.82E-14", "1.56E-14"},
    {"1.05E-16", "1.06E-16", "1.57E-16", "9.34E-17"},
    {"2.42E-16", "2.46E-16", "5.13E-16", "2.52E-16"},
    {"2.14E-04", "2.14E-04", "1.50E+10", "3.76E-04"},
    {"2.32E-05", "3.90E-04", "1.93E+08", "3.15E-05"},
    {"4.27E-05", "4.83E-05", "2.74E+05", "3.21E-05"},
    {"7.52E-04", "6.59E-02", "4.54E+11", "2.99E-04"},
    {"5.58E-05", "7.95E-05", "5.55E-04", "2.24E-05"},
    {"5.51E-01", "5.45E-01", "1.12E+16", "3.34E-01"},
    {"2.86E+49", "4.49E+49", "2.92E+51", "1.77E+48"},
    {"2.09E+60", "Nan", "Nan", "1.47E+59"},
    {"Inf", "Nan", "Nan", "Inf"},
};

/// The worst of many solutions; an error that its solver has owned up to is marked.
struct Worst {
  double error = 0;
  bool flagged = false;

  void add(double e, bool ok) {
    if (error != error || e <= error) return;
    error = e;
    flagged = !ok;
  }
  std::string text() const { return Papers::error(error) + (flagged ? "!" : ""); }
};

/// What one solver did with the systems of one type.
struct Record {
  Worst residual[2], eta[2];  // b random, b = A x
  double unflagged_eta = 0;
  int flagged = 0;

  void add(int rhs, const Errors& e, bool ok) {
    residual[rhs].add(e.residual, ok);
    eta[rhs].add(e.eta, ok);
    if (ok) raise(unflagged_eta, e.eta);
    if (!ok) ++flagged;
  }
};

std::vector<Solver<double>> all_solvers() {
  using Trikkos::Algorithm;
  const auto with = [](Algorithm algorithm) {
    return Trikkos::Options{}.algorithm(algorithm).partition_size(partition);
  };
  std::vector<Solver<double>> all = {
      ours<double>("spike diagonal", with(Algorithm::spike)),
      ours<double>("spike diagonal, refine(1)", with(Algorithm::spike).refine(1)),
      ours<double>("spike Thomas",
                   with(Algorithm::spike).spike({.pivoting = Trikkos::Pivoting::none})),
      ours<double>("pcr", Trikkos::Options{}.algorithm(Algorithm::pcr)),
      ours<double>("segmented", with(Algorithm::segmented))};
  for (auto& library : libraries<double>()) all.push_back(library);
  return all;
}

/// A record for each type and solver.
std::vector<std::vector<Record>> solve_all(const std::vector<Solver<double>>& solvers, int seeds) {
  Perf::Harness harness = error_harness();
  std::vector<std::vector<Record>> result;
  for (const Trikkos::Gallery type : Trikkos::table_iii) {
    std::vector<Record>& records = result.emplace_back(solvers.size());
    for (int seed = 1; seed <= seeds; ++seed) {
      Perf::Problem<double> problem(harness.exec(), {Trikkos::Gallery::uniform, rows});
      problem.A = Trikkos::gallery<double>(harness.exec(), type, rows, seed);
      for (const int rhs : {0, 1}) {
        Kokkos::deep_copy(Kokkos::subview(problem.b, 0, Kokkos::ALL),
                          Trikkos::gallery_rhs<double>(harness.exec(), rows, 2 * seed + rhs));
        if (rhs == 1) Judge<double>::multiply(problem);
        const Judge<double> judge(problem);
        for (std::size_t k = 0; k < solvers.size(); ++k) {
          const Outcome outcome = solvers[k].solve(harness, problem);
          const Errors errors = judge.errors(problem);
          records[k].add(rhs, errors, outcome.ok());
          expect_accurate(solvers[k], outcome, errors.eta);
        }
      }
    }
  }
  return result;
}

/// A row for each type, cells(type, solver) in it, and what the paper has.
template <class CellsOf>
void print_types(const std::vector<Solver<double>>& solvers, bool with_paper,
                 const CellsOf& cells) {
  Cells head = {"type", "matrix"};
  for (const auto& solver : solvers) head.push_back(solver.name);
  if (with_paper)
    for (const char* column : {"SPIKE-diag_pivot", "SPIKE-Thomas", "CUSPARSE", "MKL"})
      head.push_back(std::string("paper: ") + column);
  Table table(head, 2);
  for (std::size_t type = 0; type < Trikkos::table_iii.size(); ++type) {
    Cells row = {std::to_string(type + 1), Trikkos::name(Trikkos::table_iii[type])};
    for (std::size_t k = 0; k < solvers.size(); ++k) row.push_back(cells(type, k));
    if (with_paper)
      for (const char* cell :
           {paper[type].diagonal, paper[type].thomas, paper[type].cusparse, paper[type].mkl})
        row.push_back(cell);
    table.add(row);
  }
  table.print();
}

}  // namespace

void table4(const Arguments& arguments) {
  std::printf(
      "## SC'12, Table IV: errors for the 16 types of Table III\n\n"
      "n = %lld, partitions of %lld rows (`pcr` and the libraries have none), the worst of %d "
      "matrices of each type. A `!`: the solver itself\nsays that this x is not to be trusted "
      "(Status not ok, or the library returned an error, x is NaN then).\n"
      "Condition numbers of random matrices differ by many orders from seed to seed (types 12, 14, "
      "16 "
      "most), and so do residuals.\n\n",
      static_cast<long long>(rows), static_cast<long long>(partition), arguments.seeds);
  const auto solvers = all_solvers();
  const auto records = solve_all(solvers, arguments.seeds);
  const char* const rhs_names[] = {"b random", "b = A x, x random"};
  for (const int rhs : {0, 1}) {
    std::printf("Relative residual |A x - b| / |b|, 2-norms (equation 13), %s:\n\n",
                rhs_names[rhs]);
    print_types(solvers, rhs == 0,
                [&](auto type, auto k) { return records[type][k].residual[rhs].text(); });
  }
  for (const int rhs : {0, 1}) {
    std::printf("Backward error |A x - b| / (|A| |x| + |b|), infinity norms, %s:\n\n",
                rhs_names[rhs]);
    print_types(solvers, false,
                [&](auto type, auto k) { return records[type][k].eta[rhs].text(); });
  }
  std::printf(
      "How many of the %d solutions are flagged, and the worst backward error of the others:\n\n",
      2 * arguments.seeds);
  print_types(solvers, false, [&](auto type, auto k) {
    const Record& r = records[type][k];
    return std::to_string(r.flagged) +
           (r.flagged < 2 * arguments.seeds ? " / " + error(r.unflagged_eta) : "");
  });
}

}  // namespace Papers
