// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <filesystem>
#include <functional>
#include <memory>

#include "Baseline_SpSV.hpp"
#include "Perf_Problem.hpp"
#include "Perf_Triangles.hpp"

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
#  include <KokkosKernels_Handle.hpp>
#  include <KokkosSparse_sptrsv.hpp>
#endif

/// \file
/// triangular/<pattern>/<L|U|LT>/[rhs:<count>/]<solver>: a lower triangle, an upper one, the
/// transpose of the lower one. What is timed is the solve; what comes before it is reported as
/// analysis_ms, new values as update_ms.

namespace {

using Perf::Exec;
using Perf::Graph;
using Perf::Harness;
using Perf::TriangularProblem;
using Trikkos::TriangularAlgorithm;
using Trikkos::TriangularOptions;
using Trikkos::Uplo;

using T = TriangularProblem::T;
using Vectors = TriangularProblem::Vectors;
using MakeGraph = std::function<Graph(Uplo)>;

struct TriangularCase {
  std::string pattern;
  Uplo uplo = Uplo::lower;
  bool is_transposed = false;
  int rhs_count = 1;

  std::string name() const {
    const std::string side = uplo == Uplo::upper ? "U" : is_transposed ? "LT" : "L";
    const std::string rhs = rhs_count > 1 ? "rhs:" + std::to_string(rhs_count) + "/" : "";
    return "triangular/" + pattern + "/" + side + "/" + rhs;
  }
  TriangularOptions options(TriangularAlgorithm algorithm = TriangularAlgorithm::automatic) const {
    using Trikkos::Transpose;
    return TriangularOptions{}
        .algorithm(algorithm)
        .transpose(is_transposed ? Transpose::transpose : Transpose::none)
        .rhs_count(rhs_count);
  }
};

/// A problem as a solver sees it; `analysis` and `update` are the seconds it reports.
struct Solve {
  const TriangularCase& c;
  const TriangularProblem& problem;
  Vectors b, x;
  double analysis = 0, update = 0;

  auto column(const Vectors& v, int k) const { return Kokkos::subview(v, k, Kokkos::ALL); }
};

/// The last problem made, as solvers of one case come one after the other.
const TriangularProblem& problem_of(const TriangularCase& c, const MakeGraph& make) {
  static std::string name;
  static std::unique_ptr<const TriangularProblem> problem;
  const std::string wanted = c.pattern + (c.uplo == Uplo::lower ? "/L" : "/U");
  if (name != wanted) {
    if (name.empty()) Kokkos::push_finalize_hook([] { problem.reset(); });
    problem.reset();
    problem = std::make_unique<const TriangularProblem>(make(c.uplo), c.uplo);
    name = wanted;
  }
  return *problem;
}

double largest_row_error(const Solve& s) {
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, s.b);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, s.x);
  double worst = 0;
  for (const int k : {0, s.c.rhs_count - 1}) {
    const double error = s.problem.host.row_error(s.c.is_transposed, &x(k, 0), &b(k, 0));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/// `solver(harness, solve)` leaves the solutions in solve.x and returns its Time.
template <class Solver>
void add_solver(Harness& harness, const TriangularCase& c, const std::string& name,
                const MakeGraph& make, const Solver& solver) {
  Perf::add(c.name() + name, [&harness, c, make, solver](benchmark::State& state) {
    const Exec& exec = harness.exec();
    const TriangularProblem& p = problem_of(c, make);
    const std::int64_t bytes = p.bytes(c.rhs_count);
    const double ceiling = harness.ceiling(bytes);
    Solve s{c, p, Vectors("Perf::b", c.rhs_count, p.rows()),
            Vectors("Perf::x", c.rhs_count, p.rows())};
    for (int k = 0; k < c.rhs_count; ++k)
      Kokkos::deep_copy(s.column(s.b, k), Trikkos::gallery_rhs<T>(exec, p.rows(), 2 + k));
    const Perf::Time time = solver(harness, s);
    const double error = largest_row_error(s);
    if (!(error <= 1e-14)) throw std::runtime_error("row error " + std::to_string(error));
    const Trikkos::TriangularPlan plan(exec, p.triangle(), c.options());
    const auto levels = static_cast<double>(plan.levels());
    state.counters["rows"] = p.rows();
    state.counters["levels"] = levels;
    state.counters["us/level"] = time.median / levels * 1e6;
    state.counters["ns/row"] = time.median / p.rows() / c.rhs_count * 1e9;
    state.counters["of_floor"] = static_cast<double>(bytes) / ceiling / time.median;
    state.counters["analysis_ms"] = s.analysis * 1e3;
    if (s.update > 0) state.counters["update_ms"] = s.update * 1e3;
    state.counters["eta"] = error;
    return time;
  });
}

template <class Work>
double seconds(const Harness& h, const Work& work) {
  return Perf::Stopwatch<Exec>().seconds(h.exec(), work);
}

Perf::Time trikkos(const Harness& h, Solve& s, TriangularAlgorithm algorithm) {
  using Plan = Trikkos::TriangularPlan<T, Exec>;
  std::unique_ptr<Plan> plan;
  // The second one: without the cost of loading kernels.
  for (int i = 0; i < 2; ++i) {
    plan.reset();
    s.analysis = seconds(h, [&] {
      plan = std::make_unique<Plan>(h.exec(), s.problem.triangle(), s.c.options(algorithm));
    });
  }
  s.update = h.time([] {}, [&] { plan->update(h.exec(), s.problem.values); }).median;
  if (s.c.rhs_count == 1) {  // rank 1: what most users give
    const auto b = s.column(s.b, 0), x = s.column(s.x, 0);
    return h.time([] {}, [&] { Trikkos::solve(h.exec(), *plan, b, x); });
  }
  return h.time([] {}, [&] { Trikkos::solve(h.exec(), *plan, s.b, s.x); });
}

/// What one writes without a library.
Perf::Time loop(const Harness& h, Solve& s) {
  const auto solve = [&] {
    const int *const row_map = s.problem.row_map.data(), *const entries = s.problem.entries.data();
    const T* const values = s.problem.values.data();
    const int n = s.problem.rows();
    const bool is_lower = s.problem.host.uplo == Uplo::lower;
    for (int k = 0; k < s.c.rhs_count; ++k) {
      const T* const b = &s.b(k, 0);
      T* const x = &s.x(k, 0);
      for (int step = 0; step < n; ++step) {
        const int i = is_lower ? step : n - 1 - step;
        const int first = row_map[i] + (is_lower ? 0 : 1),
                  last = row_map[i + 1] - (is_lower ? 1 : 0);
        T sum = b[i];
        for (int e = first; e < last; ++e) sum -= values[e] * x[entries[e]];
        x[i] = sum / values[is_lower ? last : first - 1];
      }
    }
  };
  return h.time([] {}, solve);
}

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
/// Its solve adds to x, which must be zero.
Perf::Time kokkos_kernels(const Harness& h, Solve& s,
                          KokkosSparse::Experimental::SPTRSVAlgorithm algorithm) {
  using Memory = Exec::memory_space;
  const TriangularProblem& p = s.problem;
  KokkosKernels::Experimental::KokkosKernelsHandle<int, int, T, Exec, Memory, Memory> handle;
  handle.create_sptrsv_handle(algorithm, p.rows(), p.host.uplo == Uplo::lower);
  handle.get_sptrsv_handle()->reset_chain_threshold(256);
  s.analysis =
      seconds(h, [&] { KokkosSparse::sptrsv_symbolic(&handle, p.row_map, p.entries, p.values); });
  Exec exec = h.exec();
  const Kokkos::View<T*, Exec> b("Perf::b", p.rows()), x("Perf::x", p.rows());
  Kokkos::deep_copy(b, s.column(s.b, 0));
  const auto time = h.time(
      [&] { Kokkos::deep_copy(exec, x, T(0)); },
      [&] { KokkosSparse::sptrsv_solve(exec, &handle, p.row_map, p.entries, p.values, b, x); });
  Kokkos::deep_copy(s.column(s.x, 0), x);
  handle.destroy_sptrsv_handle();
  return time;
}
#endif

void add_case(Harness& harness, const TriangularCase& c, const MakeGraph& make) {
  for (const auto algorithm : Trikkos::triangular_algorithms) {
    if (algorithm == TriangularAlgorithm::point_to_point && !Perf::on_host) continue;
    add_solver(harness, c, name(algorithm), make,
               [algorithm](const Harness& h, Solve& s) { return trikkos(h, s, algorithm); });
  }
  if constexpr (Perf::on_host) {
    if (!c.is_transposed) add_solver(harness, c, "loop", make, loop);
  }
#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS
  if (c.rhs_count == 1 && !c.is_transposed) {
    using Algorithm = KokkosSparse::Experimental::SPTRSVAlgorithm;
    const auto add = [&](const char* name, Algorithm algorithm) {
      add_solver(harness, c, name, make, [algorithm](const Harness& h, Solve& s) {
        return kokkos_kernels(h, s, algorithm);
      });
    };
    add("kokkos_kernels_rp", Algorithm::SEQLVLSCHD_RP);
    if constexpr (!Perf::on_host) {  // teams of the threshold's size, more threads than hosts have
      add("kokkos_kernels_tp1", Algorithm::SEQLVLSCHD_TP1);
      add("kokkos_kernels_chain", Algorithm::SEQLVLSCHD_TP1CHAIN);
    }
  }
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>)
    add_solver(harness, c, c.rhs_count == 1 ? "cusparse_spsv" : "cusparse_spsm", make,
               [](const Harness& h, Solve& s) {
                 const bool is_transposed = s.c.is_transposed;
                 if (s.c.rhs_count == 1)
                   return Perf::cusparse_spsv(h, s.problem, is_transposed, s.b.data(), s.x.data(),
                                              s.analysis);
                 return Perf::cusparse_spsm(h, s.problem, is_transposed, s.c.rhs_count, s.b.data(),
                                            s.x.data(), s.analysis);
               });
#endif
}

void add_cases(Harness& harness, const std::string& pattern, const MakeGraph& make) {
  for (const Uplo uplo : {Uplo::lower, Uplo::upper})
    for (const bool is_transposed : {false, true}) {
      if (uplo == Uplo::upper && is_transposed) continue;
      for (const int rhs_count : {1, 4, 16})
        add_case(harness, {pattern, uplo, is_transposed, rhs_count}, make);
    }
}

const Perf::Registration registration([](Harness& harness) {
  const auto edge = [&](int wanted, int dimensions) {
    const std::int64_t points =
        dimensions == 2 ? std::int64_t(wanted) * wanted : std::int64_t(wanted) * wanted * wanted;
    const auto rows = static_cast<double>(harness.sizes({points}).front());
    return static_cast<int>(std::floor(std::pow(rows, 1. / dimensions) + 1e-6));
  };
  const auto add_grid = [&](const std::string& name, int wanted, int dimensions, bool is_full) {
    const int m = edge(wanted, dimensions);
    add_cases(harness, name + ":" + std::to_string(m),
              [=](Uplo) { return Perf::grid(m, dimensions, is_full); });
  };
  const auto add_renumbered = [&](const std::string& name, int wanted, int dimensions) {
    const int m = edge(wanted, dimensions);
    add_cases(harness, name + "_renumbered:" + std::to_string(m),
              [=](Uplo) { return Perf::renumbered(Perf::grid(m, dimensions, false)); });
  };
  add_grid("5_point", 1024, 2, false);
  if (edge(2048, 2) != edge(1024, 2)) add_grid("5_point", 2048, 2, false);
  add_grid("7_point", 128, 3, false);
  add_grid("27_point", 96, 3, true);
  const auto n = static_cast<int>(harness.sizes({1 << 20}).front());
  add_cases(harness, "random:" + std::to_string(n), [=](Uplo) { return Perf::random_graph(n); });
  add_renumbered("5_point", 1024, 2);
  add_renumbered("7_point", 100, 3);

  if (harness.matrices().empty()) return;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(harness.matrices()))
    if (entry.path().filename().string().find(".mtx") != std::string::npos)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    add_cases(harness, name.substr(0, name.find(".mtx")),
              [=](Uplo uplo) { return Perf::graph_from_file(file.string(), uplo); });
  }
});

}  // namespace
