// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_PROBLEM_HPP
#define TRIKKOS_PERF_PROBLEM_HPP

#include <Trikkos.hpp>
#include <TrikkosInstances.hpp>
#include <cstdio>
#include <stdexcept>

#include "Perf_Harness.hpp"

/// \file
/// One tridiagonal system to solve, the same for every solver, and what is said of a solver's time.

namespace Perf {

template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, Kokkos::complex<float>>) return "complex_float";
  if constexpr (std::is_same_v<T, Kokkos::complex<double>>) return "complex";
}

struct Case {
  Trikkos::Gallery type;
  std::int64_t n, rhs_count = 1;

  double unknowns() const { return static_cast<double>(n * rhs_count); }
  std::int64_t footprint() const { return n * (3 + 2 * rhs_count); }  // words of A, b and x
  /// Words that a solver with pivoting must move: it goes through the system twice, since no pivot
  /// is known for sure before the last row; A and b are read twice, x is written once.
  std::int64_t necessary_words() const { return n * (2 * (3 + rhs_count) + rhs_count); }
};

template <class T>
std::string case_name(const Case& c) {
  const char* matrix = c.type == Trikkos::Gallery::uniform            ? "random"
                       : c.type == Trikkos::Gallery::uniform_dominant ? "dominant"
                                                                      : name(c.type);
  return std::string(type_name<T>()) + "/n:" + std::to_string(c.n) + "/" +
         (c.rhs_count > 1 ? "rhs:" + std::to_string(c.rhs_count) + "/" : "") + matrix + "/";
}

template <class T>
struct Problem {
  using Matrix = Trikkos::Tridiagonal<Kokkos::View<T*, Exec>>;
  using Vectors = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;  // LAPACK's (n, rhs_count)

  Matrix A;
  Vectors b, x;

  Problem(const Exec& exec, const Case& c)
      : A(Trikkos::gallery<T>(exec, c.type, c.n, 1)),
        b(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::b"), c.rhs_count, c.n),
        x(Kokkos::view_alloc(exec, "Perf::x"), c.rhs_count, c.n) {
    const Kokkos::View<T*, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>> entries(b.data(),
                                                                                  b.size());
    Kokkos::deep_copy(exec, entries, Trikkos::gallery_rhs<T>(exec, c.n * c.rhs_count, 2));
    exec.fence("Perf::Problem");
  }
};

/// The largest backward error that a stable algorithm may have: 1e-13 in double.
template <class T>
inline constexpr double tolerated =
    450 * static_cast<double>(Kokkos::Experimental::epsilon_v<Trikkos::Impl::Real<T>>);

/// What is said of a solve of so many unknowns that has to move so many bytes, where streaming
/// moves `ceiling` a second. Throws for a backward error above the limit.
inline void report(benchmark::State& state, const Time& time, double unknowns, double bytes,
                   double ceiling, double eta, double limit) {
  if (!(eta <= limit)) {
    char text[80];
    std::snprintf(text, sizeof(text), "backward error %.1e, at most %.1e allowed", eta, limit);
    throw std::runtime_error(text);
  }
  state.counters["ns/row"] = time.median / unknowns * 1e9;
  state.counters["GB/s"] = bytes / time.median * 1e-9;
  state.counters["of_floor"] = bytes / ceiling / time.median;
  state.counters["eta"] = eta;
}

/// Adds a benchmark: `solver(harness, problem)` leaves the solution in problem.x and returns
/// its Time. A backward error that no stable algorithm has makes it fail.
template <class T, class Solver>
void add_solver(Harness& harness, const std::string& full_name, const Case& c,
                const Solver& solver) {
  add(full_name, [&harness, c, solver](benchmark::State& state) {
    constexpr auto word = static_cast<std::int64_t>(sizeof(T));
    const double ceiling = harness.ceiling(c.footprint() * word);  // before memory is scarce
    const Problem<T> problem(harness.exec(), c);
    const Time time = solver(harness, problem);

    const double eta = Trikkos::backward_error(harness.exec(), problem.A, problem.x, problem.b);
    report(state, time, c.unknowns(), static_cast<double>(c.necessary_words() * word), ceiling, eta,
           tolerated<T>);
    return time;
  });
}

}  // namespace Perf

#endif
