// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GUARD_HPP
#define TRIKKOS_IMPL_GUARD_HPP

#include <algorithm>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_Refinement.hpp>
#include <impl/truncated/Trikkos_Windows.hpp>

/// \file
/// `Options::verify` and `refine` around any method: b is kept, x measured, refined, and measured
/// again, and the status told.

namespace Trikkos::Impl {

/// What solves leave behind for a Status, in device memory.
struct Report {
  std::int64_t words[Diagnosis::words];
  Accuracy accuracy;
};
/// Nothing to complain of.
struct ResetReport {
  Report* report;
  std::int64_t count;  // systems
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    Diagnosis{report->words, count}.reset();
    report->accuracy.clear();
  }
};

/// The memory of a guard, for the systems in flight.
template <class T>
struct GuardMemory {
  T *rhs, *correction;  // [systems][n]
  ResidualNorms* norms;
  std::int64_t* words;  // of a diagnosis of corrections, which do not concern x
};

/// b -> a copy: x may be the same View.
template <class T>
struct KeepRhs {
  Vectors<const T> from;
  Vectors<T> to;
  std::int64_t n;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const auto [k, row] = split_index(i, n);
    to[k][row] = from[k][row];
  }
};

template <class T>
class Guard {
 public:
  explicit Guard(const Options& options) : m_refine(options.refine()), m_verify(options.verify()) {}

  bool measures() const { return m_verify > 0 || refines(); }
  bool refines() const { return m_refine > 0; }

  /// Solves `problem`, whose matrices may be scaled, with the method's `solve(problem)`; residuals
  /// are those of `A`.
  template <class Exec, int W, class Matrices, class Solve>
  void run(const Exec& exec, const Matrices& A, Problem<T, W, Matrices> problem,
           const GuardMemory<T>& memory, Report* report, const Solve& solve) const {
    if (!measures()) return solve(problem);
    const std::int64_t n = problem.n(), count = problem.count();
    const Vectors<T> kept{memory.rhs, n, 1}, d{memory.correction, n, 1};
    Kokkos::parallel_for("Trikkos::Workspace::keep_rhs", range(exec, count * n),
                         KeepRhs<T>{problem.b, kept, n});
    problem.b = kept.read_only();
    solve(problem);
    const ResidualKernels<T, Matrices, is_host_v<Exec>> measured{
        A, problem.b, problem.x.read_only(), n, count, memory.norms, d};
    measured.measure(exec);
    if (refines()) {
      Problem<T, W, Matrices> correction = problem;
      correction.b = d.read_only();
      correction.x = d;
      correction.diagnosis = {memory.words, count};
      correction.resets = true;
      Refinement<T, Matrices, is_host_v<Exec>>{measured, problem.x, d}.launch(
          exec, m_refine, [&] { solve(correction); });
    }
    if (problem.resets)
      launch_one(exec, "Trikkos::Workspace::reset", ClearAccuracy{&report->accuracy});
    ReportAccuracy{memory.norms, problem.diagnosis.number, tolerance(), &report->accuracy}.launch(
        exec, count);
  }

  /// What a report, fetched from the device, says of systems of n rows.
  Status status(const Report& report, std::int64_t n) const {
    Status s = decode(report.words, n);
    s.fell_back = s.disagreement > largest_disagreement<T>;
    if (!measures()) return s;
    const Accuracy& found = report.accuracy;
    const bool accurate = found.first_bad == Accuracy::none;
    s.backward_error = found.worst.value();
    const bool is_unstable = s.reason == Status::Reason::unstable;
    if (is_unstable && refines() && found.first_bad != std::max<std::int64_t>(s.system, 0))
      s.reason = Status::Reason::none, s.system = s.row = -1;  // it was, refinement has mended it
    if (s.ok() && !accurate) {
      s.reason = Status::Reason::inaccurate;
      if (report.words[Diagnosis::systems] > 1) s.system = found.first_bad;
    }
    return s;
  }

 private:
  double tolerance() const {
    const double most = 45 * Kokkos::Experimental::epsilon_v<Real<T>>;
    return m_verify > 0 ? std::min(most, m_verify) : most;
  }

  int m_refine;
  double m_verify;
};

}  // namespace Trikkos::Impl

#endif
