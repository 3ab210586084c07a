// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_LAPACK.hpp"
#include "Baseline_cuSPARSE.hpp"
#include "Perf_Problem.hpp"

/// \file
/// Many systems with a matrix each, side by side in memory (contiguous) or alternating
/// (interleaved): our algorithms and the baselines on the same matrices.

namespace {

using Perf::Exec;
using Perf::Harness;
using Trikkos::Algorithm;
using Trikkos::Gallery;
using Trikkos::Options;

using T = double;
using Array = Kokkos::View<T**, Kokkos::LayoutStride, Exec>;

struct BatchCase {
  Gallery type;
  std::int64_t n, count;
  bool interleaved;

  std::int64_t rows() const { return n * count; }
  Array array(const Kokkos::View<T*, Exec>& memory) const {
    return Array(memory.data(), interleaved ? Kokkos::LayoutStride(count, 1, n, count)
                                            : Kokkos::LayoutStride(count, n, n, 1));
  }
};

/// Entries are drawn one by one, so that any part of a long matrix is one.
struct BatchProblem {
  BatchCase batch;
  Trikkos::Tridiagonal<Kokkos::View<T*, Exec>> memory;
  Kokkos::View<T*, Exec> b, x;

  BatchProblem(const Exec& exec, const BatchCase& c)
      : batch(c),
        memory(Trikkos::gallery<T>(exec, c.type, c.rows(), 1)),
        b(Trikkos::gallery_rhs<T>(exec, c.rows(), 2)),
        x("Perf::x", c.rows()) {}
  auto A() const {
    return Trikkos::Tridiagonal{batch.array(memory.lower), batch.array(memory.diag),
                                batch.array(memory.upper)};
  }
};

/// `solver(harness, problem)` leaves the solutions in problem.x and returns its Time. The largest
/// backward error of all systems counts.
template <class Solver>
void add_solver(Harness& harness, const std::string& name, const BatchCase& c, double limit,
                const Solver& solver) {
  Perf::add(name, [&harness, c, limit, solver](benchmark::State& state) {
    const double bytes = static_cast<double>(5 * c.rows() * std::int64_t(sizeof(T)));
    const double ceiling = harness.ceiling(5 * c.rows() * std::int64_t(sizeof(T)));
    const BatchProblem problem(harness.exec(), c);
    const Perf::Time time = solver(harness, problem);
    const double eta = Trikkos::backward_error(harness.exec(), problem.A(), c.array(problem.x),
                                               c.array(problem.b));
    if (!(eta <= limit)) throw std::runtime_error("backward error " + std::to_string(eta));
    state.counters["ns/row"] = time.median / static_cast<double>(c.rows()) * 1e9;
    state.counters["GB/s"] = bytes / time.median * 1e-9;
    state.counters["of_floor"] = bytes / ceiling / time.median;
    state.counters["eta"] = eta;
    return time;
  });
}

void add_trikkos(Harness& harness, const std::string& name, const BatchCase& c, double limit,
                 const Options& options) {
  add_solver(harness, name, c, limit, [options](const Harness& h, const BatchProblem& p) {
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
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "Perf::Overwritten"), p.batch.rows());
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
                  Kokkos::parallel_for(
                      "Perf::lapack_gtsv", Kokkos::RangePolicy<Exec>(h.exec(), 0, p.batch.count),
                      [=](std::int64_t k) {
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
  const std::string prefix = "batch/own/double/n:" + std::to_string(c.n) + "/" +
                             (c.interleaved ? "interleaved/" : "contiguous/") +
                             (dominant ? "dominant/" : "random/");
  // 1e-13 is what Perf_Problem.hpp allows; without pivoting random matrices are not for a baseline
  const double limit = 1e-13;
  add_trikkos(harness, prefix + "segmented", c, limit, Options{}.algorithm(Algorithm::segmented));
  if (dominant) {
    add_trikkos(harness, prefix + "spike_nopivot", c, limit,
                Options{}.spike({.pivoting = Trikkos::Pivoting::none}));
    add_trikkos(harness, prefix + "thomas", c, limit, Options{}.algorithm(Algorithm::thomas));
  }
#ifdef TRIKKOS_HAVE_LAPACK
  if constexpr (Perf::on_host)
    if (!c.interleaved) add_solver(harness, prefix + "lapack_gtsv", c, limit, lapack_gtsv);
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (!Perf::on_host) {
    if (c.interleaved) {
      if (dominant)
        add_solver(harness, prefix + "cusparse_thomas", c, limit, cusparse_interleaved<0>);
      add_solver(harness, prefix + "cusparse_lu", c, limit, cusparse_interleaved<1>);
      add_solver(harness, prefix + "cusparse_qr", c, limit, cusparse_interleaved<2>);
    } else if (dominant) {
      add_solver(harness, prefix + "cusparse_strided", c, limit, cusparse_strided);
    }
  }
#endif
}

const Perf::Registration registration([](Harness& harness) {
  const std::int64_t unknowns = harness.sizes({Perf::on_host ? 1 << 22 : 1 << 25}).front();
  for (const std::int64_t n : {64, 100, 256, 1000, 1024, 3000, 4096})
    for (const bool interleaved : {false, true})
      for (const Gallery type : {Gallery::uniform, Gallery::uniform_dominant}) {
        const std::int64_t rows = std::min(n, unknowns);
        add_case(harness, {type, rows, std::max<std::int64_t>(unknowns / rows, 1), interleaved});
      }
});

}  // namespace
