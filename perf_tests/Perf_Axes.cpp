// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Perf_Pentadiagonals.hpp"

/// \file
/// The lines of a cube along each of its axes, where the array is in memory as programs have it
/// (LayoutRight: axis 2 is contiguous), beside a copy of the array.

namespace {

using Perf::Exec;
using Perf::Harness;

using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Exec>;

struct AxisCase {
  std::int64_t n;
  int axis;

  std::int64_t unknowns() const { return n * n * n; }
};

Cube cube(const Exec& exec, std::int64_t n, int seed) {
  const Cube result(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::cube"), n, n, n);
  Kokkos::deep_copy(exec, Perf::Vector(result.data(), result.size()),
                    Trikkos::gallery_rhs<double>(exec, n * n * n, seed));
  return result;
}
/// Entries U(-1,1), the diagonal as large as makes rows dominant.
Cube diagonal(const Exec& exec, std::int64_t n) {
  const Cube result = cube(exec, n, 13);
  Kokkos::parallel_for(
      "Perf::make_dominant",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n * n * n),
      Perf::MakeDominant{Perf::Vector(result.data(), result.size())});
  return result;
}

/// A matrix for each line, or one for all.
template <int half_bandwidth>
auto own_matrices(const Exec& exec, const AxisCase& c) {
  const auto band = [&](int seed) { return cube(exec, c.n, seed); };
  if constexpr (half_bandwidth == 1)
    return Trikkos::Tridiagonal<Cube>{band(12), diagonal(exec, c.n), band(14)};
  else
    return Trikkos::Pentadiagonal<Cube>{band(11), band(12), diagonal(exec, c.n), band(14),
                                        band(15)};
}
template <int half_bandwidth>
auto one_matrix(const Exec& exec, const AxisCase& c) {
  const Perf::FiveBands five = Perf::hyperdiffusion(exec, c.n, 12);
  if constexpr (half_bandwidth == 1)
    return Trikkos::Tridiagonal{five.lower, five.diag, five.upper};
  else
    return five;
}

template <class View>
auto along(const Trikkos::Tridiagonal<View>& A, int axis) {
  return Trikkos::Tridiagonal{Trikkos::along(A.lower, axis), Trikkos::along(A.diag, axis),
                              Trikkos::along(A.upper, axis)};
}
template <class View>
auto along(const Trikkos::Pentadiagonal<View>& A, int axis) {
  return Trikkos::Pentadiagonal{Trikkos::along(A.lower2, axis), Trikkos::along(A.lower, axis),
                                Trikkos::along(A.diag, axis), Trikkos::along(A.upper, axis),
                                Trikkos::along(A.upper2, axis)};
}
/// What solves take: lines refer to the cubes.
template <class Matrix>
auto lines(const Matrix& A, int axis) {
  if constexpr (Matrix::rank() == 1)
    return A;
  else
    return along(A, axis);
}

/// `solver(exec, A, b, x)` makes what it needs and returns what is to be timed.
template <class Make, class Solver>
void add_solver(Harness& harness, const std::string& name, const AxisCase& c, int words,
                const Make& make, const Solver& solver) {
  Perf::add(name, [&harness, c, words, make, solver](benchmark::State& state) {
    const std::int64_t bytes = words * c.unknowns() * std::int64_t(sizeof(double));
    const double ceiling = harness.ceiling(bytes);
    const Exec& exec = harness.exec();
    const Cube b = cube(exec, c.n, 2), x("Perf::x", c.n, c.n, c.n);
    const auto given = make(exec, c);
    const auto A = lines(given, c.axis);
    const auto right = Trikkos::along(b, c.axis), left = Trikkos::along(x, c.axis);
    const Perf::Time time = harness.time([] {}, solver(exec, A, right, left));
    Perf::report(state, time, static_cast<double>(c.unknowns()), static_cast<double>(bytes),
                 ceiling, Trikkos::backward_error(exec, A, left, right), Perf::tolerated<double>);
    return time;
  });
}

template <int half_bandwidth>
void add_matrix(Harness& harness, const std::string& prefix, const AxisCase& c) {
  const std::string matrix = half_bandwidth == 1 ? "tridiagonal_" : "pentadiagonal_";
  add_solver(harness, prefix + matrix + "own", c, 2 * half_bandwidth + 3,
             own_matrices<half_bandwidth>,
             [](const Exec& exec, const auto& A, const auto& b, const auto& x) {
               return [exec, A, b, x, work = Trikkos::Workspace(exec, A, b)] {
                 Trikkos::solve(exec, work, A, b, x);
               };
             });
  add_solver(harness, prefix + matrix + "plan", c, 2, one_matrix<half_bandwidth>,
             [c](const Exec& exec, const auto& A, const auto& b, const auto& x) {
               return [exec, b, x, plan = Trikkos::Plan(exec, A, {}, c.n * c.n)] {
                 Trikkos::solve(exec, plan, b, x);
               };
             });
}

const Perf::Registration registration([](Harness& harness) {
  constexpr std::int64_t n = Perf::on_host ? 128 : 512;
  std::int64_t edge = n;
  while (edge > 8 && edge * edge * edge > harness.sizes({n * n * n}).front()) edge /= 2;
  const std::string prefix = "axes/double/n:" + std::to_string(edge) + "/";
  Perf::add(prefix + "copy", [&harness, edge](benchmark::State& state) {
    const std::int64_t bytes = 2 * edge * edge * edge * std::int64_t(sizeof(double));
    const Perf::Time time = harness.stream_time<1>(bytes);
    state.counters["ns/row"] = time.median / static_cast<double>(edge * edge * edge) * 1e9;
    state.counters["GB/s"] =
        static_cast<double>(Harness::stream_bytes(bytes, 2)) / time.median * 1e-9;
    return time;
  });
  for (const int axis : {0, 1, 2}) {
    const std::string of_axis = prefix + "axis:" + std::to_string(axis) + "/";
    add_matrix<1>(harness, of_axis, {edge, axis});
    add_matrix<2>(harness, of_axis, {edge, axis});
  }
});

}  // namespace
