// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <memory>

#include "Baseline_cuSPARSE.hpp"
#include "Perf_Problem.hpp"

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
#  include <KokkosKernels_Handle.hpp>
#  include <KokkosSparse_sptrsv.hpp>
#endif

/// \file
/// Lower triangles of grids in their natural order, and of rows that need any rows before them.
/// What is timed is the solve; what comes before it is reported as analysis_ms.

namespace {

using Perf::Exec;
using Perf::Harness;
using Perf::on_device;
using Trikkos::TriangularAlgorithm;
using Trikkos::TriangularOptions;

using T = double;
using Integers = Kokkos::View<int*, Exec>;
using Vector = Kokkos::View<T*, Exec>;

/// Rows 1 + sum |A(i, j)| on the diagonal, which is last.
struct HostMatrix {
  std::vector<int> row_map = {0}, entries;
  std::vector<T> values;

  void add_row(std::vector<int> needed) {
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    T sum = 1;
    for (const int j : needed) {
      const auto index = static_cast<std::int64_t>(entries.size());
      values.push_back(Trikkos::Impl::random_uniform(1, 0, index));
      sum += std::abs(values.back());
      entries.push_back(j);
    }
    entries.push_back(rows());
    values.push_back(sum);
    row_map.push_back(static_cast<int>(entries.size()));
  }
  int rows() const { return static_cast<int>(row_map.size()) - 1; }
};

/// The points of a grid before a point: its neighbours along the axes, or all that touch it.
HostMatrix grid(int m, int dimensions, bool is_full) {
  HostMatrix A;
  for (int z = 0; z < (dimensions == 3 ? m : 1); ++z)
    for (int y = 0; y < m; ++y)
      for (int x = 0; x < m; ++x) {
        std::vector<int> needed;
        for (int c = -1; c <= 0; ++c)
          for (int b = -1; b <= 1; ++b)
            for (int a = -1; a <= 1; ++a) {
              const bool is_before = c < 0 || b < 0 || (b == 0 && a < 0);
              const bool is_inside =
                  z + c >= 0 && y + b >= 0 && y + b < m && x + a >= 0 && x + a < m;
              const bool is_wanted = is_full || (a != 0) + (b != 0) + (c != 0) == 1;
              if (is_before && is_inside && is_wanted)
                needed.push_back((x + a) + m * ((y + b) + m * (z + c)));
            }
        A.add_row(needed);
      }
  return A;
}
HostMatrix random_matrix(int n) {
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    std::vector<int> needed;
    for (int k = 0; k < 3 && i > 0; ++k)
      needed.push_back(static_cast<int>(Trikkos::Impl::random_bits(2, k, i) % i));
    A.add_row(needed);
  }
  return A;
}

struct TriangularProblem {
  HostMatrix host;
  Integers row_map, entries;
  Vector values, b, x;

  TriangularProblem(const Exec& exec, const HostMatrix& A)
      : host(A),
        row_map(on_device(A.row_map)),
        entries(on_device(A.entries)),
        values(on_device(A.values)),
        b(Trikkos::gallery_rhs<T>(exec, A.rows(), 2)),
        x("Perf::x", A.rows()) {}

  auto triangle() const { return Trikkos::CsrTriangle{row_map, entries, values}; }
  /// Matrix, row map, b and x, each once.
  std::int64_t bytes() const {
    return 12 * static_cast<std::int64_t>(host.entries.size()) + 20 * std::int64_t(host.rows());
  }
  /// The largest |b - A x| / (|A| |x| + |b|) of a row.
  double row_error() const {
    const auto x_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
    const auto b_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
    long double worst = 0;
    for (int i = 0; i < host.rows(); ++i) {
      long double r = b_(i), scale = std::abs(b_(i));
      for (int k = host.row_map[i]; k < host.row_map[i + 1]; ++k) {
        const long double term = static_cast<long double>(host.values[k]) * x_(host.entries[k]);
        r -= term;
        scale += std::abs(term);
      }
      if (!(std::abs(r) <= worst * scale)) worst = std::abs(r) / scale;
    }
    return static_cast<double>(worst);
  }
};

/// `solver(harness, problem, analysis)` leaves the solution in problem.x, the seconds that it takes
/// before a solve in `analysis`, and returns its Time.
template <class Make, class Solver>
void add_solver(Harness& harness, const std::string& name, const Make& make, const Solver& solver) {
  Perf::add(name, [&harness, make, solver](benchmark::State& state) {
    const TriangularProblem problem(harness.exec(), make());
    const double ceiling = harness.ceiling(problem.bytes());
    double analysis = 0;
    const Perf::Time time = solver(harness, problem, analysis);
    const double error = problem.row_error();
    if (!(error <= 1e-14)) throw std::runtime_error("row error " + std::to_string(error));
    const Trikkos::TriangularPlan plan(
        harness.exec(), problem.triangle(),
        TriangularOptions{}.algorithm(TriangularAlgorithm::level_set));
    state.counters["levels"] = static_cast<double>(plan.levels());
    state.counters["us/level"] = time.median / static_cast<double>(plan.levels()) * 1e6;
    state.counters["ns/row"] = time.median / problem.host.rows() * 1e9;
    state.counters["of_floor"] = static_cast<double>(problem.bytes()) / ceiling / time.median;
    state.counters["analysis_ms"] = analysis * 1e3;
    state.counters["eta"] = error;
    return time;
  });
}

template <class Work>
double seconds(const Harness& h, const Work& work) {
  return Perf::Stopwatch<Exec>().seconds(h.exec(), work);
}

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
/// Its solve adds to x, which must be zero.
auto kokkos_kernels(KokkosSparse::Experimental::SPTRSVAlgorithm algorithm) {
  return [algorithm](const Harness& h, const TriangularProblem& p, double& analysis) {
    using Memory = Exec::memory_space;
    KokkosKernels::Experimental::KokkosKernelsHandle<int, int, T, Exec, Memory, Memory> handle;
    handle.create_sptrsv_handle(algorithm, p.host.rows(), true);
    handle.get_sptrsv_handle()->reset_chain_threshold(256);
    analysis =
        seconds(h, [&] { KokkosSparse::sptrsv_symbolic(&handle, p.row_map, p.entries, p.values); });
    Exec exec = h.exec();
    const auto time = h.time([&] { Kokkos::deep_copy(exec, p.x, T(0)); },
                             [&] {
                               KokkosSparse::sptrsv_solve(exec, &handle, p.row_map, p.entries,
                                                          p.values, p.b, p.x);
                             });
    handle.destroy_sptrsv_handle();
    return time;
  };
}
#endif

template <class Make>
void add_case(Harness& harness, const std::string& pattern, const Make& make) {
  const std::string prefix = "triangular/double/" + pattern + "/";
  for (const auto algorithm : Trikkos::triangular_algorithms) {
    if (algorithm == TriangularAlgorithm::point_to_point && !Perf::on_host) continue;
    add_solver(harness, prefix + name(algorithm), make,
               [algorithm](const Harness& h, const TriangularProblem& p, double& analysis) {
                 using Plan = Trikkos::TriangularPlan<T, Exec>;
                 std::unique_ptr<Plan> plan;
                 const auto options = TriangularOptions{}.algorithm(algorithm);
                 analysis = seconds(
                     h, [&] { plan = std::make_unique<Plan>(h.exec(), p.triangle(), options); });
                 return h.time([] {}, [&] { Trikkos::solve(h.exec(), *plan, p.b, p.x); });
               });
  }
  if constexpr (Perf::on_host)
    add_solver(harness, prefix + "loop", make,
               [](const Harness& h, const TriangularProblem& p, double&) {
                 const auto solve = [&] {
                   const int *const row_map = p.row_map.data(), *const entries = p.entries.data();
                   const T *const values = p.values.data(), *const b = p.b.data();
                   T* const x = p.x.data();
                   for (int i = 0; i < p.host.rows(); ++i) {
                     T s = b[i];
                     int k = row_map[i];
                     for (; k + 1 < row_map[i + 1]; ++k) s -= values[k] * x[entries[k]];
                     x[i] = s / values[k];
                   }
                 };
                 return h.time([] {}, solve);
               });
#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
  using Algorithm = KokkosSparse::Experimental::SPTRSVAlgorithm;
  add_solver(harness, prefix + "kokkos_kernels_rp", make, kokkos_kernels(Algorithm::SEQLVLSCHD_RP));
  if constexpr (!Perf::on_host) {  // teams of the threshold's size, more threads than hosts have
    add_solver(harness, prefix + "kokkos_kernels_tp1", make,
               kokkos_kernels(Algorithm::SEQLVLSCHD_TP1));
    add_solver(harness, prefix + "kokkos_kernels_chain", make,
               kokkos_kernels(Algorithm::SEQLVLSCHD_TP1CHAIN));
  }
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>)
    add_solver(harness, prefix + "cusparse_spsv", make,
               [](const Harness& h, const TriangularProblem& p, double& analysis) {
                 return Perf::cusparse_spsv(h, p.row_map, p.entries, p.values, p.b, p.x, analysis);
               });
#endif
}

const Perf::Registration registration([](Harness& harness) {
  const auto edge = [&](int wanted, int dimensions) {
    const std::int64_t points =
        dimensions == 2 ? std::int64_t(wanted) * wanted : std::int64_t(wanted) * wanted * wanted;
    const auto rows = static_cast<double>(harness.sizes({points}).front());
    return static_cast<int>(std::floor(std::pow(rows, 1. / dimensions) + 1e-6));
  };
  const auto add_grid = [&](const char* name, int wanted, int dimensions, bool is_full) {
    const int m = edge(wanted, dimensions);
    add_case(harness, name + std::string("/m:") + std::to_string(m),
             [=] { return grid(m, dimensions, is_full); });
  };
  add_grid("5_point", 1024, 2, false);
  if (edge(2048, 2) != edge(1024, 2)) add_grid("5_point", 2048, 2, false);
  add_grid("7_point", 128, 3, false);
  add_grid("27_point", 96, 3, true);
  const auto n = static_cast<int>(harness.sizes({1 << 20}).front());
  add_case(harness, "random/n:" + std::to_string(n), [=] { return random_matrix(n); });
});

}  // namespace
