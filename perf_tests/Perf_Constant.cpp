// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_LAPACK.hpp"
#include "Perf_ManySystems.hpp"

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
#  include <KokkosBatched_Pttrf.hpp>
#  include <KokkosBatched_Pttrs.hpp>
#endif

/// \file
/// One matrix, factored once, and many right-hand sides: side by side in memory (contiguous) or
/// alternating (interleaved). What is timed is the solve.

namespace {

using Perf::Exec;
using Perf::Harness;
using Trikkos::Algorithm;
using Trikkos::Options;

using Perf::Array;
using Perf::Vector;
using ConstantCase = Perf::ManySystems;

using T = double;
using Matrix = Trikkos::Tridiagonal<Vector>;

/// (-1, 3, -1), which every baseline can factor.
Matrix matrix(const Exec& exec, std::int64_t n) {
  const Matrix A{Vector("Perf::lower", n), Vector("Perf::diag", n), Vector("Perf::upper", n)};
  Kokkos::deep_copy(exec, A.lower, T(-1));
  Kokkos::deep_copy(exec, A.diag, T(3));
  Kokkos::deep_copy(exec, A.upper, T(-1));
  return A;
}

struct ConstantProblem {
  ConstantCase c;
  Matrix A;
  Vector b, x;

  ConstantProblem(const Exec& exec, const ConstantCase& c_)
      : c(c_),
        A(matrix(exec, c.n)),
        b(Trikkos::gallery_rhs<T>(exec, c.unknowns(), 2)),
        x("Perf::x", c.unknowns()) {}
};

/// `solver(harness, problem)` leaves the solutions in problem.x and returns its Time. The largest
/// backward error of all counts.
template <class Solver>
void add_solver(Harness& harness, const std::string& name, const ConstantCase& c,
                const Solver& solver) {
  Perf::add(name, [&harness, c, solver](benchmark::State& state) {
    const std::int64_t bytes = 2 * c.unknowns() * std::int64_t(sizeof(T));
    const double ceiling = harness.ceiling(bytes);
    const ConstantProblem problem(harness.exec(), c);
    const Perf::Time time = solver(harness, problem);
    const double eta =
        Trikkos::backward_error(harness.exec(), problem.A, c.array(problem.x), c.array(problem.b));
    Perf::report(state, time, static_cast<double>(c.unknowns()), static_cast<double>(bytes),
                 ceiling, eta, 1e-14);
    return time;
  });
}

void add_plan(Harness& harness, const std::string& name, const ConstantCase& c,
              Algorithm algorithm) {
  add_solver(harness, name, c, [algorithm](const Harness& h, const ConstantProblem& p) {
    const auto b = p.c.array(p.b), x = p.c.array(p.x);
    const Trikkos::Plan plan(h.exec(), p.A, Options{}.algorithm(algorithm), p.c.count);
    return h.time([] {}, [&] { Trikkos::solve(h.exec(), plan, b, x); });
  });
}

#ifdef TRIKKOS_HAVE_LAPACK
/// dgttrs with the factors of dgttrf, one right-hand side after the other, by all threads.
Perf::Time lapack_gttrs(const Harness& h, const ConstantProblem& p) {
  const auto n = static_cast<lapack_int>(p.c.n);
  const Vector lower("Perf::lower", n), diag("Perf::diag", n), upper("Perf::upper", n),
      second("Perf::second", n);
  Kokkos::deep_copy(lower, p.A.lower);
  Kokkos::deep_copy(diag, p.A.diag);
  Kokkos::deep_copy(upper, p.A.upper);
  std::vector<lapack_int> pivots(n);
  if (LAPACKE_dgttrf_work(n, lower.data(), diag.data(), upper.data(), second.data(),
                          pivots.data()) != 0)
    throw std::runtime_error("dgttrf failed");
  const lapack_int* const ipiv = pivots.data();
  const Vector x = p.x;
  return h.time([&] { Kokkos::deep_copy(h.exec(), x, p.b); },
                [&] {
                  Perf::for_all_by_host(p.c.count, [&](std::int64_t k) {
                    LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, 'N', n, 1, lower.data(), diag.data(),
                                        upper.data(), second.data(), ipiv, x.data() + k * n, n);
                  });
                });
}
#endif

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
/// KokkosBatched::SerialPttrs, a thread a right-hand side.
Perf::Time kokkos_kernels_pttrs(const Harness& h, const ConstantProblem& p) {
  namespace KB = KokkosBatched;
  const Vector diag("Perf::diag", p.c.n), lower("Perf::lower", p.c.n - 1);
  Kokkos::deep_copy(diag, p.A.diag);
  Kokkos::deep_copy(lower, T(-1));
  Kokkos::parallel_for(
      "Perf::pttrf", Kokkos::RangePolicy<Exec>(h.exec(), 0, 1),
      KOKKOS_LAMBDA(int) { KB::SerialPttrf<KB::Algo::Pttrf::Unblocked>::invoke(diag, lower); });
  const Vector memory = p.x;
  const Array x = p.c.array(p.x);
  return h.time([&] { Kokkos::deep_copy(h.exec(), memory, p.b); },
                [&] {
                  Kokkos::parallel_for(
                      "Perf::pttrs", Kokkos::RangePolicy<Exec>(h.exec(), 0, p.c.count),
                      KOKKOS_LAMBDA(std::int64_t k) {
                        KB::SerialPttrs<KB::Uplo::Lower, KB::Algo::Pttrs::Unblocked>::invoke(
                            diag, lower, Kokkos::subview(x, k, Kokkos::ALL));
                      });
                });
}
#endif

void add_case(Harness& harness, const ConstantCase& c) {
  const std::string prefix = "constant/double/" + Perf::name(c);
  for (const Algorithm algorithm : {Algorithm::factored, Algorithm::thomas})
    add_plan(harness, prefix + Trikkos::name(algorithm), c, algorithm);
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (Perf::on_host)
    if (!c.interleaved) add_solver(harness, prefix + "lapack_gttrs", c, lapack_gttrs);
#endif
#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
  if (c.n > 1) add_solver(harness, prefix + "kokkos_kernels_pttrs", c, kokkos_kernels_pttrs);
#endif
}

const Perf::Registration registration([](Harness& harness) {
  for (const ConstantCase& c : Perf::many_systems(harness)) add_case(harness, c);
});

}  // namespace
