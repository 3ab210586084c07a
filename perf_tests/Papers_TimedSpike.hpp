// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_TIMEDSPIKE_HPP
#define TRIKKOS_PAPERS_TIMEDSPIKE_HPP

#include <algorithm>

#include "Papers_Solver.hpp"
#include "Papers_Table.hpp"

/// \file
/// What Figures 7 and 10 of SC'12 share: spike with diagonal pivoting on one system, many ways.

namespace Papers {

class TimedSpike {
 public:
  TimedSpike(Perf::Harness& harness, const Perf::Problem<double>& problem)
      : m_harness(harness), m_problem(problem) {}

  /// Median in seconds.
  double operator()(const Trikkos::Options& options) {
    const Solver<double> solver = ours<double>("spike", options);
    const Outcome outcome = solver.solve(m_harness, m_problem);
    const double eta =
        Trikkos::backward_error(m_harness.exec(), m_problem.A, m_problem.x, m_problem.b);
    expect_accurate(solver, outcome, eta);
    m_eta = std::max(m_eta, eta);
    if (!outcome.ok()) m_complaint = outcome.complaint;
    return outcome.time.median;
  }

  /// The worst so far.
  Cells verdict() const { return {error(m_eta), m_complaint.empty() ? "ok" : m_complaint}; }

 private:
  Perf::Harness& m_harness;
  const Perf::Problem<double>& m_problem;
  double m_eta = 0;
  std::string m_complaint;
};

/// For options that only devices know.
inline bool skipped_on_host(const char* what) {
  if (Perf::on_host)
    std::printf(
        "Nothing to measure on a host: SIMD lanes gather the rows of their partitions and take one "
        "a step,\nand %s is accepted but makes no difference.\n\n",
        what);
  return Perf::on_host;
}

}  // namespace Papers

#endif
