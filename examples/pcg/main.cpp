// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Solves a sparse system from a file, or diffusion on a grid, by CG or BiCGStab with incomplete
// factors as preconditioner. `solve` shows how Trikkos is used: factors and memory once, then as
// many solves as needed.

#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <common/Plot.hpp>
#include <common/Simulation.hpp>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "CommandLine.hpp"

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;
using HostMatrix = Trikkos::HostCsrMatrix<double>;

template <class View>
auto to_device(const View& v) {
  return Kokkos::create_mirror_view_and_copy(Exec::memory_space{}, v);
}

// ---- the system

/// Diffusion on a square, zero around it: the five-point differences, times h^2, with upwind ones
/// of a wind along both axes.
HostMatrix grid(std::int64_t m, bool has_wind) {
  const double wind = has_wind ? 0.5 : 0;
  const auto entries = static_cast<std::size_t>(m * m * 5 - 4 * m);
  const HostMatrix A{decltype(HostMatrix::row_map)("row_map", m * m + 1),
                     decltype(HostMatrix::entries)("entries", entries),
                     decltype(HostMatrix::values)("values", entries)};
  std::int64_t k = 0;
  const auto add = [&](bool is_inside, std::int64_t column, double value) {
    if (!is_inside) return;
    A.entries(k) = static_cast<std::int32_t>(column);
    A.values(k++) = value;
  };
  for (std::int64_t i = 0; i < m * m; ++i) {
    add(i >= m, i - m, -1 - wind);
    add(i % m > 0, i - 1, -1 - wind);
    add(true, i, 4 + 2 * wind);
    add(i % m < m - 1, i + 1, -1);
    add(i < m * m - m, i + m, -1);
    A.row_map(i + 1) = k;
  }
  return A;
}

HostMatrix make_matrix(const CommandLine& line) {
  if (line.matrix.empty()) return grid(line.points.value_or(300), line.wind);
  const auto A = Trikkos::read_csr<double>(line.matrix);
  if (A.rows() != A.columns || A.rows() == 0)
    throw std::invalid_argument(line.matrix + " is " + std::to_string(A.rows()) + " x " +
                                std::to_string(A.columns) + ", expected a square matrix with rows");
  return A;
}

/// Of all matrices that CG is not for, most are seen to be such.
bool may_be_positive(const HostMatrix& A) {
  const auto value = [&](std::int64_t i, std::int64_t j) {  // rows are sorted by column
    const auto *const first = &A.entries(0) + A.row_map(i), *const last =
                                                                &A.entries(0) + A.row_map(i + 1);
    const auto* const at = std::lower_bound(first, last, j);
    return at != last && *at == j ? A.values(at - &A.entries(0)) : 0.;
  };
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    if (A.row_map(i) == A.row_map(i + 1) || !(value(i, i) > 0)) return false;
    for (std::int64_t k = A.row_map(i); k < A.row_map(i + 1); ++k)
      if (A.values(k) != value(A.entries(k), i)) return false;
  }
  return true;
}

Vector make_rhs(const CommandLine& line, const HostMatrix& A) {
  const std::int64_t n = A.rows();
  if (!line.rhs.empty()) {
    const auto b = Trikkos::read_vector<double>(line.rhs);
    if (static_cast<std::int64_t>(b.extent(0)) != n)
      throw std::invalid_argument(line.rhs + " has " + std::to_string(b.extent(0)) +
                                  " rows, expected " + std::to_string(n) + " as in the matrix");
    return to_device(b);
  }
  const Kokkos::View<double*, Kokkos::HostSpace> b("b", n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = A.row_map(i); k < A.row_map(i + 1); ++k) b(i) += A.values(k);
  return to_device(b);
}

// ---- what is written

void write_columns(const std::string& path, const char* head, const std::vector<double>& values,
                   int first) {
  std::ofstream file(path);
  file.precision(std::numeric_limits<double>::max_digits10);
  file << head << '\n';
  for (std::size_t i = 0; i < values.size(); ++i) file << i + first << ',' << values[i] << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void write_files(const CommandLine& line, const Vector& x, const std::vector<double>& history) {
  if (line.solution.ends_with(".csv")) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
    write_columns(line.solution, "row,x", {host.data(), host.data() + host.size()}, 1);
  } else if (!line.solution.empty()) {
    Trikkos::write_vector(line.solution, x);
  }
  if (!line.history.empty()) write_columns(line.history, "iteration,residual", history, 0);
  if (!line.picture.empty()) Example::logarithmic_plot(history).write(line.picture);
  for (const auto& [what, path] :
       {std::pair("solution", &line.solution), std::pair("history", &line.history),
        std::pair("picture", &line.picture)})
    if (!path->empty()) std::printf("%-16sin %s\n", what, path->c_str());
}

// ---- the solve

struct NoFactors {};

/// A preconditioner that tells how far the iteration is, ten times a second at most.
template <class Krylov, class Factors>
struct Observed {
  Krylov method;  // a handle: its history is that of the running solve
  Factors factors;
  const Kokkos::Timer& timer;
  double* shown_at;

  template <class V>
  void operator()(const Exec& exec, const V& r, const V& z) const {
    if constexpr (std::is_same_v<Factors, NoFactors>)
      Kokkos::deep_copy(exec, z, r);
    else
      Trikkos::solve(exec, factors, r, z);
    if (timer.seconds() - *shown_at > 0.1) show();
  }
  void show() const {
    const auto& history = method.history();
    if (history.empty()) return;
    *shown_at = timer.seconds();
    std::printf("\riteration %zu, |b - A x| = %.2e, %.1f s ", history.size() - 1, history.back(),
                *shown_at);
    std::fflush(stdout);
  }
};

/// \return whether it has converged
template <class Krylov, class Matrix, class Factors>
bool iterate(const Exec& exec, const CommandLine& line, const Matrix& A, const Factors& factors,
             const Vector& b) {
  const Krylov method(
      exec, A.rows(),
      Trikkos::KrylovOptions{}.relative(line.relative).max_iterations(line.iterations));
  const Vector x("x", A.rows());
  double shown_at = 0;
  const Kokkos::Timer timer;
  const Observed<Krylov, Factors> M{method, factors, timer, &shown_at};
  const Trikkos::KrylovResult result = Trikkos::solve(exec, method, A, M, b, x);
  const double seconds = timer.seconds();
  M.show();
  std::printf("\ntime            %.4g s, %.4g ms an iteration\n", seconds,
              1e3 * seconds / static_cast<double>(std::max<std::int64_t>(result.iterations, 1)));
  std::printf("result          %s\n", result.why().c_str());
  write_files(line, x, method.history());
  return result.ok();
}

template <class Matrix, class Factors>
bool iterate(const Exec& exec, const CommandLine& line, Method method, const Matrix& A,
             const Factors& factors, const Vector& b) {
  return method == Method::cg
             ? iterate<Trikkos::ConjugateGradient<double, Exec>>(exec, line, A, factors, b)
             : iterate<Trikkos::BiCgStab<double, Exec>>(exec, line, A, factors, b);
}

/// Whether it was solved.
template <template <class, class> class Incomplete, class Matrix>
bool factor_and_iterate(const Exec& exec, const CommandLine& line, Method method, const Matrix& A,
                        const Vector& b) {
  const Kokkos::Timer timer;
  const Incomplete<double, Exec> factors(
      exec, A, Trikkos::IncompleteOptions{}.shift().ordering(line.ordering));
  std::printf("preconditioner  %s\n", factors.describe().c_str());
  const Trikkos::IncompleteStatus status = factors.status(exec);
  std::printf("factors         %s, in %.4g s\n", status.why().c_str(), timer.seconds());
  return status.ok() && iterate(exec, line, method, A, factors, b);
}

bool solve(const CommandLine& line) {
  const Exec exec;
  const HostMatrix host = make_matrix(line);
  const Trikkos::CsrMatrix A{to_device(host.row_map), to_device(host.entries),
                             to_device(host.values)};
  const Vector b = make_rhs(line, host);
  const Method method = line.method.value_or(may_be_positive(host) ? Method::cg : Method::bicgstab);
  const Preconditioner preconditioner =
      line.preconditioner.value_or(method == Method::cg ? Preconditioner::ic : Preconditioner::ilu);
  std::printf("system          %s, n = %lld, %lld entries\n",
              line.matrix.empty() ? "diffusion on a grid" : line.matrix.c_str(),
              static_cast<long long>(A.rows()), static_cast<long long>(A.entries.extent(0)));
  std::printf("backend         %s, concurrency %d\n", Exec::name(), exec.concurrency());
  std::printf("method          %s%s\n", name(method), line.method ? "" : " (automatic)");
  switch (preconditioner) {
    case Preconditioner::ic:
      return factor_and_iterate<Trikkos::IncompleteCholesky>(exec, line, method, A, b);
    case Preconditioner::ilu:
      return factor_and_iterate<Trikkos::IncompleteLu>(exec, line, method, A, b);
    case Preconditioner::none:
      break;
  }
  std::printf("preconditioner  none\n");
  return iterate(exec, line, method, A, NoFactors{}, b);
}

int run(int argc, char* argv[]) {
  const CommandLine line(argc, argv);
  if (line.help) {
    std::printf("%s", CommandLine::help_text);
    return 0;
  }
  return solve(line) ? 0 : 1;
}

int main(int argc, char* argv[]) { return Example::main_of("trikkos_pcg", argc, argv, run); }
