// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_PENTADIAGONALS_HPP
#define TRIKKOS_PERF_PENTADIAGONALS_HPP

#include "Perf_ManySystems.hpp"

/// \file
/// Pentadiagonal systems to solve: one, many with a matrix each, and many with the same matrix.

namespace Perf {

using FiveBands = Trikkos::Pentadiagonal<Vector>;

/// Makes the diagonal as large as the sum of four other entries can be, or larger.
struct MakeDominant {
  Vector diag;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    diag(i) += Kokkos::copysign(4., diag(i));
  }
};

/// All entries U(-1,1). They are drawn one by one, so that any part of a long matrix is one.
inline FiveBands random_bands(const Exec& exec, std::int64_t n, bool dominant) {
  const auto band = [&](int seed) { return Trikkos::gallery_rhs<double>(exec, n, seed); };
  const FiveBands A{band(11), band(12), band(13), band(14), band(15)};
  if (dominant)
    Kokkos::parallel_for("Perf::make_dominant",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                         MakeDominant{A.diag});
  return A;
}
/// (1, -4, 6 + shift, -4, 1): a step of implicit hyperdiffusion, positive definite.
inline FiveBands hyperdiffusion(const Exec& exec, std::int64_t n, double shift) {
  const auto band = [&](double value) {
    const Vector v(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::band"), n);
    Kokkos::deep_copy(exec, v, value);
    return v;
  };
  return {band(1), band(-4), band(6 + shift), band(-4), band(1)};
}

struct PentadiagonalCase {
  ManySystems systems;
  bool dominant;  // where entries are random
};

struct PentadiagonalMemory {
  ManySystems systems;
  FiveBands bands;
  Vector b, x;
};
inline PentadiagonalMemory with_rhs(const Exec& exec, const ManySystems& systems,
                                    const FiveBands& bands) {
  return {systems, bands, Trikkos::gallery_rhs<double>(exec, systems.unknowns(), 2),
          Vector("Perf::x", systems.unknowns())};
}

// The systems as solvers take them: A(), rhs() and solution(). `footprint`: words an unknown of A,
// b and x; `necessary`: those that have to move. With pivoting, A and b of one system are read
// twice (Perf_Problem.hpp).

struct OnePentadiagonal : PentadiagonalMemory {
  static constexpr int footprint = 7, necessary = 13;

  OnePentadiagonal(const Exec& exec, const PentadiagonalCase& c)
      : PentadiagonalMemory(
            with_rhs(exec, c.systems, random_bands(exec, c.systems.unknowns(), c.dominant))) {}
  FiveBands A() const { return bands; }
  Vector rhs() const { return b; }
  Vector solution() const { return x; }
};
struct ManyPentadiagonals : PentadiagonalMemory {
  static constexpr int footprint = 7, necessary = 7;

  ManyPentadiagonals(const Exec& exec, const PentadiagonalCase& c)
      : PentadiagonalMemory(
            with_rhs(exec, c.systems, random_bands(exec, c.systems.unknowns(), c.dominant))) {}
  Trikkos::Pentadiagonal<Array> A() const {
    const auto array = [&](const Vector& v) { return systems.array(v); };
    return {array(bands.lower2), array(bands.lower), array(bands.diag), array(bands.upper),
            array(bands.upper2)};
  }
  Array rhs() const { return systems.array(b); }
  Array solution() const { return systems.array(x); }
};
struct ConstantPentadiagonal : PentadiagonalMemory {
  static constexpr int footprint = 2, necessary = 2;

  ConstantPentadiagonal(const Exec& exec, const PentadiagonalCase& c)
      : PentadiagonalMemory(with_rhs(exec, c.systems, hyperdiffusion(exec, c.systems.n, 1))) {}
  FiveBands A() const { return bands; }
  Array rhs() const { return systems.array(b); }
  Array solution() const { return systems.array(x); }
};

/// Adds a benchmark: `solver(harness, problem)` leaves the solutions in problem.x and returns its
/// Time. The largest backward error counts.
template <class Problem, class Solver>
void add_pentadiagonal(Harness& harness, const std::string& name, const PentadiagonalCase& c,
                       const Solver& solver) {
  add(name, [&harness, c, solver](benchmark::State& state) {
    const std::int64_t bytes = c.systems.unknowns() * std::int64_t(sizeof(double));
    const double ceiling = harness.ceiling(Problem::footprint * bytes);
    const Problem problem(harness.exec(), c);
    const Time time = solver(harness, problem);
    const double eta =
        Trikkos::backward_error(harness.exec(), problem.A(), problem.solution(), problem.rhs());
    report(state, time, static_cast<double>(c.systems.unknowns()),
           static_cast<double>(Problem::necessary * bytes), ceiling, eta, tolerated<double>);
    return time;
  });
}

}  // namespace Perf

#endif
