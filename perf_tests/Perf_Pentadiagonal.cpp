// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_Band.hpp"

/// \file
/// Pentadiagonal systems: one, many with a matrix each, and many with the same matrix, our solver
/// and the baselines.

namespace {

using Perf::Harness;
using Perf::ManySystems;
using Perf::PentadiagonalCase;

template <class Problem>
Perf::Time solve(const Harness& h, const Problem& p, const Trikkos::Options& options) {
  const auto A = p.A();
  const auto b = p.rhs();
  const auto x = p.solution();
  const Trikkos::Workspace work(h.exec(), A, b, options);
  return h.time_of(work, [&] { Trikkos::solve(h.exec(), work, A, b, x); });
}
template <class Problem>
Perf::Time segmented(const Harness& h, const Problem& p) {
  return solve(h, p, Trikkos::Options{}.algorithm(Trikkos::Algorithm::segmented));
}
template <class Problem>
Perf::Time automatic(const Harness& h, const Problem& p) {
  return solve(h, p, {});
}
template <class Problem>
Perf::Time thomas(const Harness& h, const Problem& p) {
  return solve(h, p, Trikkos::Options{}.algorithm(Trikkos::Algorithm::thomas));
}
Perf::Time plan(const Harness& h, const Perf::ConstantPentadiagonal& p) {
  const auto b = p.rhs(), x = p.solution();
  const Trikkos::Plan plan(h.exec(), p.A(), {}, p.systems.count);
  return h.time_of(plan, [&] { Trikkos::solve(h.exec(), plan, b, x); });
}
/// What a plan chooses, for its name.
const char* algorithm_of_plan(const Harness& h, const ManySystems& systems) {
  const auto A = Perf::hyperdiffusion(h.exec(), systems.n, 1);
  return name(Trikkos::Plan(h.exec(), A, {}, systems.count).algorithm());
}

/// add(name, solver)
template <class Problem>
auto adder(Harness& harness, const std::string& prefix, const PentadiagonalCase& c) {
  return [=, &harness](const std::string& name, const auto& solver) {
    Perf::add_pentadiagonal<Problem>(harness, "pentadiagonal/" + prefix + name, c, solver);
  };
}

void add_one(Harness& harness, std::int64_t n, bool dominant) {
  using Problem = Perf::OnePentadiagonal;
  const auto add = adder<Problem>(
      harness, "single/double/n:" + std::to_string(n) + (dominant ? "/dominant/" : "/random/"),
      {{n, 1, false}, dominant});
  add("segmented", segmented<Problem>);
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (Perf::on_host) add("lapack_gbsv", Perf::lapack_gbsv);
#endif
}

void add_own(Harness& harness, const ManySystems& systems, bool dominant) {
  using Problem = Perf::ManyPentadiagonals;
  const auto add = adder<Problem>(
      harness, "own/double/" + Perf::name(systems) + (dominant ? "dominant/" : "random/"),
      {systems, dominant});
  add("segmented", segmented<Problem>);
  if constexpr (!Perf::on_host) {
    if (!systems.interleaved) add("automatic", automatic<Problem>);
    if (dominant) add("thomas", thomas<Problem>);
  }
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (Perf::on_host)
    if (!systems.interleaved) add("lapack_gbsv", Perf::lapack_gbsv);
#endif
#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS_GB
  add("kokkos_kernels_gbsv", Perf::kokkos_kernels_gbsv);
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (!Perf::on_host)
    if (systems.interleaved) add("cusparse_gpsv", Perf::cusparse_gpsv);
#endif
}

void add_constant(Harness& harness, const ManySystems& systems) {
  const auto add = adder<Perf::ConstantPentadiagonal>(
      harness, "constant/double/" + Perf::name(systems), {systems, false});
  add(std::string("plan_") + algorithm_of_plan(harness, systems), plan);
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (Perf::on_host)
    if (!systems.interleaved) add("lapack_gbtrs", Perf::lapack_gbtrs);
#endif
#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS_GB
  add("kokkos_kernels_gbtrs", Perf::kokkos_kernels_gbtrs);
#endif
}

const Perf::Registration registration([](Harness& harness) {
  const auto sizes = Perf::on_host ? harness.sizes({1 << 20, 1 << 22, 1 << 24})
                                   : harness.sizes({1 << 20, 1 << 23, 1 << 25});
  for (const std::int64_t n : sizes)
    for (const bool dominant : {false, true}) add_one(harness, n, dominant);
  for (const ManySystems& systems : Perf::many_systems(harness)) {
    for (const bool dominant : {false, true}) add_own(harness, systems, dominant);
    add_constant(harness, systems);
  }
});

}  // namespace
