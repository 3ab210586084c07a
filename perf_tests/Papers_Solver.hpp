// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_SOLVER_HPP
#define TRIKKOS_PAPERS_SOLVER_HPP

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "Perf_Problem.hpp"

/// \file
/// Everything that solves one system, ours and the libraries', behind one signature. Defined for
/// float and double in Papers_Solver.cpp, so that the solvers are compiled once.

namespace Papers {

struct Outcome {
  Perf::Time time;
  std::string complaint;  // what the solver itself says of x; empty: nothing is wrong

  bool ok() const { return complaint.empty(); }
};

template <class T>
struct Solver {
  std::string name;
  bool is_ours;
  std::function<Outcome(Perf::Harness&, const Perf::Problem<T>&)> solve;  // leaves x in the problem
};

/// With a workspace made beforehand.
template <class T>
Solver<T> ours(const std::string& name, const Trikkos::Options& options);

/// What a solver of ours vouches for has to be a solution: else this program fails in the end.
/// spike vouches for what is not more than 2^20 units in the last place off (solvers/README.md).
template <class T>
void expect_accurate(const Solver<T>& solver, const Outcome& outcome, double eta) {
  constexpr double limit = std::is_same_v<T, float> ? 5e-5 : 2.4e-10;
  if (!solver.is_ours || !outcome.ok() || eta <= limit) return;
  std::fprintf(stderr, "Trikkos_Papers: %s vouches for a backward error of %.1e\n",
               solver.name.c_str(), eta);
  Perf::any_failed() = true;
}

/// LAPACK's gtsv and cuSPARSE's gtsv2 and gtsv2_nopivot, those of them that there are. x is NaN
/// where one gives up.
template <class T>
std::vector<Solver<T>> libraries();

inline constexpr auto gtsv = "LAPACK gtsv", gtsv2 = "cuSPARSE gtsv2",
                      gtsv2_nopivot = "cuSPARSE gtsv2_nopivot";

}  // namespace Papers

#endif
