// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <filesystem>
#include <memory>
#include <stdexcept>

#include "Baseline_Incomplete.hpp"
#include "Papers.hpp"
#include "Papers_OneCore.hpp"
#include "Papers_Sparse.hpp"
#include "Papers_Table.hpp"

/// \file
/// Naumov 2011: CG and BiCGStab with incomplete factors, whole solves.

namespace Papers {

namespace {

using Perf::Exec;
using Trikkos::IncompleteOrdering;
using Trikkos::KrylovResult;
using Vector = Kokkos::View<double*, Exec::memory_space>;

constexpr double tolerance = 1e-7;  // those of the paper
constexpr std::int64_t most_iterations = 2000;

/// With ILU(0) or IC(0), Tesla C2050 and Core i7-950; the GPU's time an iteration is without
/// factors.
struct Published {
  const char* matrix;
  double cpu_seconds, gpu_seconds, iterations, speedup;
};
constexpr Published published[] = {
    {"offshore", 0.72, 1.52, 25, 0.57},        {"af_shell3", 38.5, 33.9, 571, 1.13},
    {"parabolic_fem", 39.2, 6.91, 1044, 5.59}, {"apache2", 35.0, 12.8, 713, 2.72},
    {"ecology2", 107, 55.3, 1746, 1.92},       {"thermal2", 155, 54.4, 1656, 2.83},
    {"G3_circuit", 20.2, 8.61, 183, 2.32},     {"FEM_3D_thermal2", 0.13, 0.52, 4, 0.53},
    {"thermomech_dK", 72.7, 40.0, 2000, 1.80}, {"ASIC_320ks", 0.27, 0.12, 6, 1.59},
    {"cage13", 0.28, 0.15, 2.5, 1.10},         {"atmosmodd", 12.5, 4.30, 74.5, 2.79}};

/// A x = b where Exec works, b = A times a vector of ones.
struct System {
  Kokkos::View<int*, Exec> row_map, entries;
  Kokkos::View<double*, Exec> values, b, x;
  bool is_cg;

  System(const SparseMatrix& host, const std::vector<double>& right)
      : row_map(Perf::on_device(host.row_map)),
        entries(Perf::on_device(host.entries)),
        values(Perf::on_device(host.values)),
        b(Perf::on_device(right)),
        x("Papers::x", right.size()),
        is_cg(host.may_be_positive()) {}

  auto A() const { return Trikkos::CsrMatrix{row_map, entries, values}; }
};

struct Figures {
  double analysis = 0, factorisation = 0, factors_alone = std::nan(""), preconditioning = 0,
         solve = 0;  // seconds
  KrylovResult result;
  std::string complaint;  // about the factors
  std::int64_t levels = 0;

  bool is_solved() const { return complaint.empty() && result.ok(); }
};

template <class Work>
double seconds(const Exec& exec, const Work& work) {
  return Perf::Stopwatch<Exec>().seconds(exec, work);
}
/// Of `repeats` times, or fewer where they take more than two seconds together.
template <class Work>
double median_seconds(const Exec& exec, int repeats, const Work& work) {
  std::vector<double> times;
  for (double sum = 0; static_cast<int>(times.size()) < repeats && sum < 2;) {
    times.push_back(seconds(exec, work));
    sum += times.back();
  }
  return Perf::summary(times).median;
}

/// The solve itself, after one of three iterations that does not count.
template <class Method, class Preconditioner>
void iterate(const Exec& exec, const System& s, const Preconditioner& M, int repeats,
             Figures& figures) {
  const auto options = Trikkos::KrylovOptions{}.relative(tolerance);
  const std::int64_t n = s.b.extent(0);
  const auto solve = [&](std::int64_t most) {
    const Method method(exec, n, Trikkos::KrylovOptions{options}.max_iterations(most));
    return [&exec, &s, &M, method] {
      Kokkos::deep_copy(exec, s.x, 0.);
      return Trikkos::solve(exec, method, s.A(), M, s.b, s.x);
    };
  };
  static_cast<void>(solve(3)());
  const auto whole = solve(most_iterations);
  figures.solve = median_seconds(exec, repeats, [&] { figures.result = whole(); });
  const Vector z("Papers::z", n);
  const auto precondition = [&] { Trikkos::Impl::precondition(exec, M, Vector(s.b), z); };
  precondition();
  figures.preconditioning = median_seconds(exec, repeats, precondition) * (s.is_cg ? 1 : 2);
}
template <class Preconditioner>
void iterate(const Exec& exec, const System& s, const Preconditioner& M, int repeats,
             Figures& figures) {
  if (s.is_cg)
    iterate<Trikkos::ConjugateGradient<double, Exec>>(exec, s, M, repeats, figures);
  else
    iterate<Trikkos::BiCgStab<double, Exec>>(exec, s, M, repeats, figures);
}

template <template <class, class> class Incomplete>
Figures trikkos(const Exec& exec, const System& s, const Trikkos::IncompleteOptions& options,
                int repeats) {
  using Factors = Incomplete<double, Exec>;
  Figures figures;
  auto factors = std::make_unique<Factors>(exec, s.A(), options);
  factors.reset();
  const double all =
      seconds(exec, [&] { factors = std::make_unique<Factors>(exec, s.A(), options); });
  figures.factorisation = median_seconds(exec, repeats, [&] { factors->update(exec, s.A()); });
  figures.analysis = std::max(0., all - figures.factorisation);
  figures.levels = factors->lower().levels();
  const auto status = factors->status(exec);
  if (!status.ok()) figures.complaint = status.why();
  if (status.ok()) iterate(exec, s, *factors, repeats, figures);
  return figures;
}

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
Figures cusparse(const Exec& exec, const System& s, int repeats) {
  Figures figures;
  std::unique_ptr<Perf::CusparseIlu> ilu;
  const auto make = [&] {
    ilu = std::make_unique<Perf::CusparseIlu>(exec, s.row_map, s.entries, s.values);
  };
  make();
  ilu.reset();
  const double all = seconds(exec, make);
  figures.factorisation = median_seconds(exec, repeats, [&] { ilu->update(exec); });
  figures.factors_alone = median_seconds(exec, repeats, [&] { ilu->factor(exec); });
  figures.analysis = std::max(0., all - figures.factorisation);
  const int row = ilu->zero_pivot();
  if (row >= 0) figures.complaint = "a pivot is zero (row " + std::to_string(row) + ")";
  if (row < 0) iterate(exec, s, *ilu, repeats, figures);
  return figures;
}
#endif

// ---- the table of a matrix

const Cells head = {"solver",        "levels",        "iterations",   "analysis ms",
                    "factors ms",    "csrilu02 ms",   "solve s",      "ms/iteration",
                    "solves with M", "over one core", "with factors", "how it ended"};

/// \param core  seconds that one core takes to factor, and to solve
Cells row(const std::string& solver, const Figures& f, const std::pair<double, double>& core) {
  const auto text = [](const char* format, double v) {
    return std::isnan(v) ? "" : number(format, v);
  };
  Cells cells = {solver, f.levels > 0 ? std::to_string(f.levels) : ""};
  if (!f.complaint.empty()) {
    cells.insert(cells.end(), {"", milliseconds(f.analysis), milliseconds(f.factorisation)});
    cells.resize(head.size());
    cells.back() = f.complaint.substr(0, f.complaint.find(';'));
    return cells;
  }
  const auto iterations = static_cast<double>(f.result.iterations);
  const std::string why = f.result.why();
  const double worth = f.result.ok() ? 1 : std::nan("");
  cells.insert(cells.end(),
               {std::to_string(f.result.iterations), milliseconds(f.analysis),
                milliseconds(f.factorisation), text("%.4g", f.factors_alone * 1e3),
                text("%.4g", f.solve), text("%.4g", f.solve / iterations * 1e3),
                text("%.0f %%", 100 * f.preconditioning * iterations / f.solve),
                factor(worth * core.second / f.solve),
                factor(worth * (core.first + core.second) / (f.factorisation + f.solve)),
                why.substr(0, why.find(" after"))});
  return cells;
}

/// What one core takes for as many iterations as the first of ours, of which it does those of ten
/// seconds; NaN where none of both has come to an end.
std::pair<double, double> add_core(Table& table, const SparseMatrix& A, bool is_cg,
                                   const std::vector<double>& b, const Figures& first) {
  const auto r = OneCore(A).solve(is_cg, b, tolerance, most_iterations, 10);
  const double each = r.solve / static_cast<double>(std::max<std::int64_t>(r.iterations, 1));
  const bool is_scaled = !r.has_converged && first.is_solved();
  const double solve = is_scaled ? each * static_cast<double>(first.result.iterations) : r.solve;
  table.add({"one core, plain loops, ILU(0)", "", std::to_string(r.iterations), "",
             milliseconds(r.factorisation), "", number("%.4g", solve), number("%.4g", each * 1e3),
             "", "", "",
             r.has_converged ? "converged"
             : is_scaled     ? "stopped, time scaled"
                             : "not converged"});
  return {r.factorisation, r.has_converged || is_scaled ? solve : std::nan("")};
}

void add_published(Table& table, const std::string& name) {
  for (const Published& p : published) {
    if (name != p.matrix) continue;
    const auto add = [&](const char* who, double its, double time, double speedup) {
      table.add({who, "", number("%g", its), "", "", "", number("%.4g", time),
                 number("%.4g", time / its * 1e3), "", "", factor(speedup), ""});
    };
    add("paper: C2050, cuSPARSE 4.0", p.iterations, p.gpu_seconds, p.speedup);
    add("paper: i7-950, MKL 10.2", p.iterations, p.cpu_seconds, 1);
  }
}

/// \param is_sure  that natural orders converge
void print_matrix(const std::string& name, const SparseMatrix& A, const Arguments& arguments,
                  bool is_sure) {
  const Exec exec;
  std::vector<double> b(A.rows());
  A.multiply(std::vector<double>(A.rows(), 1.), b);
  const System s(A, b);
  std::printf("%s: %d rows, %zu entries, %s\n\n", name.c_str(), A.rows(), A.values.size(),
              s.is_cg ? "CG" : "BiCGStab");
  std::fflush(stdout);

  std::vector<std::pair<std::string, Figures>> all;
  const auto add = [&](const std::string& more, const Trikkos::IncompleteOptions& options,
                       bool with_lu) {
    const int repeats = arguments.repeats;
    if (s.is_cg)
      all.emplace_back("IC(0)" + more,
                       trikkos<Trikkos::IncompleteCholesky>(exec, s, options, repeats));
    if (!s.is_cg || with_lu)
      all.emplace_back("ILU(0)" + more, trikkos<Trikkos::IncompleteLu>(exec, s, options, repeats));
  };
  add("", {}, true);
  if (!all.front().second.complaint.empty())
    add(", shift", Trikkos::IncompleteOptions{}.shift(), false);
  for (const auto ordering :
       {IncompleteOrdering::multicolour, IncompleteOrdering::reverse_cuthill_mckee})
    add(std::string(", ") + Trikkos::name(ordering),
        Trikkos::IncompleteOptions{}.ordering(ordering), false);
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>)
    all.emplace_back("cuSPARSE csrilu02, SpSV", cusparse(exec, s, arguments.repeats));
#endif
  const Figures& first = all.front().second;
  if (is_sure && !first.is_solved()) {
    std::fprintf(stderr, "Trikkos_Papers: %s: %s %s\n", name.c_str(), first.complaint.c_str(),
                 first.result.why().c_str());
    Perf::any_failed() = true;
  }
  Table table(head);
  const auto core = add_core(table, A, s.is_cg, b, first);
  for (const auto& [solver, figures] : all) table.add(row(solver, figures, core));
  add_published(table, name);
  table.print();
}

/// Square ones of a folder, by name.
void print_files(const Arguments& arguments) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(arguments.matrices))
    if (file.path().filename().string().find(".mtx") != std::string::npos)
      paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const std::string file = path.filename().string();
    try {
      print_matrix(file.substr(0, file.find(".mtx")), read_sparse(path.string()), arguments, false);
    } catch (const std::runtime_error& error) {
      std::printf("%s\n\n", error.what());
    }
  }
}

}  // namespace

void naumov(const Arguments& arguments) {
  std::printf(
      "## Naumov 2011: whole solves\n\n"
      "Double precision, b = A times ones, from x = 0 to |b - A x| <= 1e-7 |b|, at most 2000 "
      "iterations; matrices of the size and the pattern of the paper's, "
      "but with values,\nand rows in an order, of our own. \"factors\": new values, with what "
      "solves need of them, \"csrilu02\": without that; \"analysis\": what is done\nonce. "
      "\"Solves with M\": their part of the time, measured by themselves. Speedups are over one "
      "core of this host, without and with\nfactors (the paper: with, over its own "
      "CPU).\n\n");
  const std::int64_t rows = arguments.rows;
  print_matrix("parabolic_fem", parabolic_fem(rows), arguments, true);
  print_matrix("parabolic_fem, shuffled", shuffled(parabolic_fem(rows)), arguments, true);
  print_matrix("ecology2", ecology2(rows), arguments, true);
  print_matrix("atmosmodd", atmosmodd(rows), arguments, true);
  if (!arguments.matrices.empty()) print_files(arguments);
}

}  // namespace Papers
