// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_LAPACK.hpp"
#include "Baseline_cuSPARSE.hpp"
#include "Perf_ManySystems.hpp"

/// \file
/// Many systems with a matrix each, side by side in memory (contiguous) or alternating
/// (interleaved): our algorithms and the baselines on the same matrices.

namespace {

using Perf::Exec;
using Perf::Harness;
using Trikkos::Algorithm;
using Trikkos::Gallery;
using Trikkos::Options;

using Perf::Array;

using T = double;

struct BatchCase : Perf::ManySystems {
  Gallery type;
};

/// Entries are drawn one by one, so that any part of a long matrix is one.
struct BatchProblem {
  BatchCase batch;
  Trikkos::Tridiagonal<Kokkos::View<T*, Exec>> memory;
  Kokkos::View<T*, Exec> b, x;

  BatchProblem(const Exec& exec, const BatchCase& c)
      : batch(c),
        memory(Trikkos::gallery<T>(exec, c.type, c.unknowns(), 1)),
        b(Trikkos::gallery_rhs<T>(exec, c.unknowns(), 2)),
        x("Perf::x", c.unknowns()) {}
  auto A() const {
    return Trikkos::Tridiagonal{batch.array(memory.lower), batch.array(memory.diag),
                                batch.array(memory.upper)};
  }
};

/// `solver(harness, problem)` leaves the solutions in problem.x and returns its Time. The largest
/// backward error of all systems counts.
template <class Solver>
void add_solver(Harness& harness, const std::string& name, const BatchCase& c,
                const Solver& solver) {
  Perf::add(name, [&harness, c, solver](benchmark::State& state) {
    const std::int64_t bytes = 5 * c.unknowns() * std::int64_t(sizeof(T));
    const double ceiling = harness.ceiling(bytes);
    const BatchProblem problem(harness.exec(), c);
    const Perf::Time time = solver(harness, problem);
    const double eta = Trikkos::backward_error(harness.exec(), problem.A(), c.array(problem.x),
                                               c.array(problem.b));
    Perf::report(state, time, static_cast<double>(c.unknowns()), static_cast<double>(bytes),
                 ceiling, eta, Perf::tolerated<T>);
    return time;
  });
}

void add_trikkos(Harness& harness, const std::string& name, const BatchCase& c,
                 const Options& options) {
  add_solver(harness, name, c, [options](const Harness& h, const BatchProblem& p) {
    const auto b = p.batch.array(p.b), x = p.batch.array(p.x);
    const Trikkos::Workspace work(h.exec(), p.A(), b, options);
    return h.time([] {}, [&] { Trikkos::solve(h.exec(), work, p.A(), b, x); });
  });
}

/// Copies of the bands and b, in x, that a baseline overwrites; restored before each run, which is
/// not timed.
struct Overwritten {
  explicit Overwritten(const BatchProblem& p) : m_problem(p) {
    for (auto& band : bands)
      band = Kokkos::View<T*, Exec>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "Perf::Overwritten"), p.batch.unknowns());
  }
  void restore(const Exec& exec) const {
    const auto& [batch, memory, b, x] = m_problem;
    Kokkos::deep_copy(exec, bands[0], memory.lower);
    Kokkos::deep_copy(exec, bands[1], memory.diag);
    Kokkos::deep_copy(exec, bands[2], memory.upper);
    Kokkos::deep_copy(exec, x, b);
    // baselines want zeros outside
    const Array lower = batch.array(bands[0]), upper = batch.array(bands[2]);
    Kokkos::deep_copy(exec, Kokkos::subview(lower, Kokkos::ALL, 0), T(0));
    Kokkos::deep_copy(exec, Kokkos::subview(upper, Kokkos::ALL, batch.n - 1), T(0));
  }
  Kokkos::View<T*, Exec> bands[3];

 private:
  const BatchProblem& m_problem;
};

#ifdef TRIKKOS_HAVE_LAPACK
/// dgtsv, system after system, by all threads.
Perf::Time lapack_gtsv(const Harness& h, const BatchProblem& p) {
  const Overwritten copy(p);
  const auto n = static_cast<lapack_int>(p.batch.n);
  return h.time([&] { copy.restore(h.exec()); },
                [&] {
                  Perf::for_all_by_host(p.batch.count, [&](std::int64_t k) {
                    const auto at = [&](const auto& v) { return v.data() + k * n; };
                    LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, n, 1, at(copy.bands[0]) + 1,
                                       at(copy.bands[1]), at(copy.bands[2]), at(p.x), n);
                  });
                });
}
#endif

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
/// gtsv2StridedBatch, cyclic reduction without pivoting.
Perf::Time cusparse_strided(const Harness& h, const BatchProblem& p) {
  const Overwritten copy(p);
  const Perf::CusparseHandle handle(h.exec());
  const int n = static_cast<int>(p.batch.n), count = static_cast<int>(p.batch.count);
  std::size_t bytes = 0;
  Perf::expect_success(cusparseDgtsv2StridedBatch_bufferSizeExt(
      handle.get(), n, copy.bands[0].data(), copy.bands[1].data(), copy.bands[2].data(), p.x.data(),
      count, n, &bytes));
  const Kokkos::View<char*, Exec> buffer("Perf::cusparse", bytes);
  return h.time([&] { copy.restore(h.exec()); },
                [&] {
                  cusparseDgtsv2StridedBatch(handle.get(), n, copy.bands[0].data(),
                                             copy.bands[1].data(), copy.bands[2].data(), p.x.data(),
                                             count, n, buffer.data());
                });
}
/// gtsvInterleavedBatch: 0 the Thomas algorithm, 1 LU with pivoting, 2 QR.
template <int method>
Perf::Time cusparse_interleaved(const Harness& h, const BatchProblem& p) {
  const Overwritten copy(p);
  const Perf::CusparseHandle handle(h.exec());
  const int n = static_cast<int>(p.batch.n), count = static_cast<int>(p.batch.count);
  std::size_t bytes = 0;
  Perf::expect_success(cusparseDgtsvInterleavedBatch_bufferSizeExt(
      handle.get(), method, n, copy.bands[0].data(), copy.bands[1].data(), copy.bands[2].data(),
      p.x.data(), count, &bytes));
  const Kokkos::View<char*, Exec> buffer("Perf::cusparse", bytes);
  return h.time([&] { copy.restore(h.exec()); },
                [&] {
                  cusparseDgtsvInterleavedBatch(handle.get(), method, n, copy.bands[0].data(),
                                                copy.bands[1].data(), copy.bands[2].data(),
                                                p.x.data(), count, buffer.data());
                });
}
#endif

void add_case(Harness& harness, const BatchCase& c) {
  const bool dominant = c.type == Gallery::uniform_dominant;
  const std::string prefix =
      "batch/own/double/" + Perf::name(c) + (dominant ? "dominant/" : "random/");
  // without pivoting random matrices are for nobody
  add_trikkos(harness, prefix + "segmented", c, Options{}.algorithm(Algorithm::segmented));
  add_trikkos(harness, prefix + "automatic", c, {});
  if (dominant) {
    add_trikkos(harness, prefix + "spike_nopivot", c,
                Options{}.spike({.pivoting = Trikkos::Pivoting::none}));
    add_trikkos(harness, prefix + "thomas", c, Options{}.algorithm(Algorithm::thomas));
  }
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (Perf::on_host)
    if (!c.interleaved) add_solver(harness, prefix + "lapack_gtsv", c, lapack_gtsv);
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (!Perf::on_host) {
    if (c.interleaved) {
      if (dominant) add_solver(harness, prefix + "cusparse_thomas", c, cusparse_interleaved<0>);
      add_solver(harness, prefix + "cusparse_lu", c, cusparse_interleaved<1>);
      add_solver(harness, prefix + "cusparse_qr", c, cusparse_interleaved<2>);
    } else if (dominant) {
      add_solver(harness, prefix + "cusparse_strided", c, cusparse_strided);
    }
  }
#endif
}

const Perf::Registration registration([](Harness& harness) {
  for (const Perf::ManySystems& systems : Perf::many_systems(harness))
    for (const Gallery type : {Gallery::uniform, Gallery::uniform_dominant})
      add_case(harness, {systems, type});
});

}  // namespace
