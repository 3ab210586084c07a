// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_LAPACK_HPP
#define TRIKKOS_PAPERS_LAPACK_HPP

#include "Baseline_LAPACK.hpp"

/// \file
/// LAPACK's gtsv on one thread of the host, wherever the system is, and on many systems.

#ifdef TRIKKOS_HAVE_LAPACK

namespace Papers {

/// Solves `count` systems of equal size, which lie one behind the other in `problem`, one after the
/// other. Copies to the host and back are not timed.
template <class T>
Perf::Time lapack(Perf::Harness& harness, const Perf::Problem<T>& problem, std::int64_t count) {
  if constexpr (Perf::on_host) {
    if (count == 1) return Perf::lapack_gtsv(harness, problem);
  }
  using Gtsv = Perf::Gtsv<T>;
  const auto host = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  };
  const auto lower = host(problem.A.lower), diag = host(problem.A.diag),
             upper = host(problem.A.upper);
  const auto b = host(problem.b);
  const auto rows = static_cast<std::int64_t>(diag.extent(0)) / count;

  // What gtsv overwrites.
  const auto copy = [](const auto& view) { return Kokkos::create_mirror(view); };
  const auto dl = copy(lower), d = copy(diag), du = copy(upper);
  const auto x = copy(b);
  const auto restore = [&] {
    Kokkos::deep_copy(dl, lower);
    Kokkos::deep_copy(d, diag);
    Kokkos::deep_copy(du, upper);
    Kokkos::deep_copy(x, b);
  };
  lapack_int info = 0;
  const auto work = [&] {
    const auto n = static_cast<lapack_int>(rows);
    for (std::int64_t first = 0; first < count * rows; first += rows) {
      const lapack_int code = Gtsv::solve(LAPACK_COL_MAJOR, n, 1, dl.data() + first + 1,
                                          d.data() + first, du.data() + first, x.data() + first, n);
      if (code != 0) info = code;
    }
  };
  const Perf::Time time = harness.time_in(Kokkos::DefaultHostExecutionSpace{}, restore, work);
  if (info != 0) throw std::runtime_error("gtsv returned " + std::to_string(info));
  Kokkos::deep_copy(problem.x, x);
  return time;
}

}  // namespace Papers

#endif
#endif
