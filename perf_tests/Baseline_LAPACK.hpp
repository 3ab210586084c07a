// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BASELINE_LAPACK_HPP
#define TRIKKOS_BASELINE_LAPACK_HPP

#include "Perf_Problem.hpp"

/// \file
/// LAPACK's gtsv: partial pivoting on one thread. For host backends, where LAPACKE is found.

#ifdef TRIKKOS_HAVE_LAPACK

#  include <complex>
#  define LAPACK_COMPLEX_CUSTOM
#  define lapack_complex_float std::complex<float>
#  define lapack_complex_double std::complex<double>
#  include <lapacke.h>

namespace Perf {

template <class T>
struct Gtsv;
template <>
struct Gtsv<float> {
  using value_type = float;
  static constexpr auto solve = LAPACKE_sgtsv_work;
};
template <>
struct Gtsv<double> {
  using value_type = double;
  static constexpr auto solve = LAPACKE_dgtsv_work;
};
template <>
struct Gtsv<Kokkos::complex<float>> {
  using value_type = std::complex<float>;
  static constexpr auto solve = LAPACKE_cgtsv_work;
};
template <>
struct Gtsv<Kokkos::complex<double>> {
  using value_type = std::complex<double>;
  static constexpr auto solve = LAPACKE_zgtsv_work;
};

/// f(k) for k < count, by all threads of the host.
template <class F>
void for_all_by_host(std::int64_t count, const F& f) {
  Kokkos::parallel_for(
      "Perf::for_all_by_host",
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          0, count),
      f);
}

/// gtsv overwrites the matrix and b: they are restored before each run, which is not timed.
template <class T>
Time lapack_gtsv(Harness& harness, const Problem<T>& problem) {
  using Value = typename Gtsv<T>::value_type;
  using Band = Kokkos::View<T*, Exec>;
  const auto n = static_cast<lapack_int>(problem.A.diag.extent(0));
  const Exec& exec = harness.exec();
  const auto band = [&] {
    return Band(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::lapack_gtsv"), n);
  };
  const Band lower = band(), diag = band(), upper = band();
  const auto data = [](const auto& view) { return reinterpret_cast<Value*>(view.data()); };

  lapack_int info = 0;
  const Time time = harness.time(
      [&] {
        Kokkos::deep_copy(exec, lower, problem.A.lower);
        Kokkos::deep_copy(exec, diag, problem.A.diag);
        Kokkos::deep_copy(exec, upper, problem.A.upper);
        Kokkos::deep_copy(exec, problem.x, problem.b);
      },
      [&] {
        info = Gtsv<T>::solve(LAPACK_COL_MAJOR, n, static_cast<lapack_int>(problem.b.extent(0)),
                              data(lower) + 1, data(diag), data(upper), data(problem.x), n);
      });
  if (info != 0) throw std::runtime_error("gtsv returned " + std::to_string(info));
  return time;
}

}  // namespace Perf

#endif

namespace Perf {

/// Adds gtsv as one more solver of the case, where there is one.
template <class T>
void add_lapack([[maybe_unused]] Harness& harness, [[maybe_unused]] const std::string& prefix,
                [[maybe_unused]] const Case& c) {
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (on_host) {
    add_solver<T>(harness, prefix + "lapack_gtsv", c, lapack_gtsv<T>);
  }
#endif
}

}  // namespace Perf

#endif
