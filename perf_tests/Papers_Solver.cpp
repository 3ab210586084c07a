// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Papers_Solver.hpp"

#include "Baseline_cuSPARSE.hpp"
#include "Papers_Lapack.hpp"

namespace Papers {

template <class T>
Solver<T> ours(const std::string& name, const Trikkos::Options& options) {
  return {name, true,
          [options](Perf::Harness& harness, const Perf::Problem<T>& problem) -> Outcome {
            const Perf::Exec& exec = harness.exec();
            Trikkos::Workspace work(exec, problem.A, problem.b, options);
            const Perf::Time time = harness.time(
                [] {}, [&] { Trikkos::solve(exec, work, problem.A, problem.b, problem.x); });
            const Trikkos::Status status = work.status(exec);
            return {time, status ? "" : status.why()};
          }};
}

template <class T>
std::vector<Solver<T>> libraries() {
  std::vector<Solver<T>> result;
  [[maybe_unused]] const auto add = [&result](const char* name, const auto& routine) {
    result.push_back(
        {name, false,
         [routine](Perf::Harness& harness, const Perf::Problem<T>& problem) -> Outcome {
           constexpr double nan = Kokkos::Experimental::quiet_NaN_v<double>;
           try {
             return {routine(harness, problem), ""};
           } catch (const std::exception& error) {
             Kokkos::deep_copy(problem.x, static_cast<T>(nan));
             return {{nan, nan}, error.what()};
           }
         }});
  };
#ifdef TRIKKOS_HAVE_LAPACK
  add(gtsv, [](Perf::Harness& h, const Perf::Problem<T>& p) { return lapack(h, p, 1); });
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  add(gtsv2, Perf::cusparse_gtsv2<T, true>);
  add(gtsv2_nopivot, Perf::cusparse_gtsv2<T, false>);
#endif
  return result;
}

template Solver<float> ours(const std::string&, const Trikkos::Options&);
template Solver<double> ours(const std::string&, const Trikkos::Options&);
template std::vector<Solver<float>> libraries();
template std::vector<Solver<double>> libraries();

}  // namespace Papers
