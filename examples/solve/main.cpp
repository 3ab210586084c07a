// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Solves a tridiagonal system from a file, or from the gallery of test matrices, on Kokkos' default
// execution space. `solve` shows how Trikkos is used: allocate a workspace once, solve as often as
// needed, then ask for the status and check the backward error.

#include <unistd.h>

#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "CommandLine.hpp"
#include "Lapack.hpp"
#include "Stability.hpp"

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;
using Matrix = Trikkos::Tridiagonal<Vector>;

/// A host View in the memory of the execution space.
Vector to_device(const Kokkos::View<double*, Kokkos::HostSpace>& v) {
  return Kokkos::create_mirror_view_and_copy(Exec::memory_space{}, v);
}

Matrix make_matrix(const Exec& exec, const CommandLine& line) {
  if (line.gallery) return Trikkos::gallery<double>(exec, *line.gallery, *line.size, line.seed);
  const auto A = Trikkos::read_tridiagonal<double>(line.matrix);
  return {to_device(A.lower), to_device(A.diag), to_device(A.upper)};
}

Vector make_rhs(const Exec& exec, const CommandLine& line, std::size_t n) {
  if (line.rhs.empty()) return Trikkos::gallery_rhs<double>(exec, n, line.seed);
  const Vector b = to_device(Trikkos::read_vector<double>(line.rhs));
  if (b.extent(0) != n) {
    throw std::invalid_argument(line.rhs + " has " + std::to_string(b.extent(0)) +
                                " rows, expected " + std::to_string(n) + " as in the matrix");
  }
  return b;
}

/// Who types 1e12 should hear that it is too much before Linux ends whatever uses too much memory.
void check_memory(const CommandLine& line) {
  const bool on_host = std::is_same_v<Exec::memory_space, Kokkos::HostSpace>;
  const double vectors = (on_host ? 5 : 0) + (line.lapack ? 8 : 0);  // A, b, x; dgtsv's copies
  const double needed = vectors * sizeof(double) * static_cast<double>(line.size.value_or(0));
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (needed > there) {
    char text[128];
    std::snprintf(text, sizeof text, "--size: %lld rows need %.3g GB, this machine has %.3g GB",
                  static_cast<long long>(*line.size), 1e-9 * needed, 1e-9 * there);
    throw std::invalid_argument(text);
  }
}

/// What memory allows: the bands and b read and x written once, 40 bytes a row.
void stream(const Exec& exec, const Matrix& A, const Vector& b, const Vector& x) {
  Kokkos::parallel_for(
      "stream", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, x.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t i) { x(i) = A.lower(i) + A.diag(i) + A.upper(i) + b(i); });
}

/// The median time of `function` after one call that does not count.
template <class Function, class Prepare>
double median_seconds(const Exec& exec, std::int64_t repeat, const Function& function,
                      const Prepare& prepare) {
  std::vector<double> times;
  for (std::int64_t k = 0; k <= repeat; ++k) {
    prepare();
    exec.fence("trikkos_solve: before");
    const Kokkos::Timer timer;
    function();
    exec.fence("trikkos_solve: after");
    if (k > 0) times.push_back(timer.seconds());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
template <class Function>
double median_seconds(const Exec& exec, std::int64_t repeat, const Function& function) {
  return median_seconds(exec, repeat, function, [] {});
}

/// \return whether the system was solved
bool solve(const CommandLine& line) {
  const Exec exec;
  const Matrix A = make_matrix(exec, line);
  const Vector b = make_rhs(exec, line, A.diag.extent(0));
  const Vector x("x", b.extent(0));
  const double n = static_cast<double>(b.extent(0));
  if (n == 0)
    throw std::invalid_argument(line.matrix + " has no rows, so there is nothing to solve");

  const double ceiling = median_seconds(exec, line.repeat, [&] { stream(exec, A, b, x); });

  Trikkos::Workspace work(exec, A, b, line.options);
  const double seconds =
      median_seconds(exec, line.repeat, [&] { Trikkos::solve(exec, work, A, b, x); });
  const Trikkos::Status status = work.status(exec);
  const double eta = Trikkos::backward_error(exec, A, x, b);

  const double bytes = 72, ceiling_bytes = 40;  // a row: two passes over A and b, x written
  const double rate = bytes * n / seconds, ceiling_rate = ceiling_bytes * n / ceiling;
  std::printf("system          %s, n = %.0f\n",
              line.gallery ? Trikkos::name(*line.gallery) : line.matrix.c_str(), n);
  std::printf("backend         %s, concurrency %d\n", Exec::name(), exec.concurrency());
  std::printf("algorithm       %s%s\n", Trikkos::name(work.algorithm()),
              line.options.algorithm() == Trikkos::Algorithm::automatic ? " (automatic)" : "");
  std::printf("time            %.4g ms, median of %lld\n", 1e3 * seconds,
              static_cast<long long>(line.repeat));
  std::printf("                %.3g ns a row\n", 1e9 * seconds / n);
  std::printf("bandwidth       %.4g GB/s at %.0f bytes a row\n", 1e-9 * rate, bytes);
  std::printf("                %.0f %% of the %.4g GB/s of a kernel that reads A and b, writes x\n",
              100 * rate / ceiling_rate, 1e-9 * ceiling_rate);
  std::printf("backward error  %.2e\n", eta);
  std::printf("status          %s\n", status.why().c_str());

#ifdef TRIKKOS_HAVE_LAPACK
  if (line.lapack) {
    Lapack lapack(A, b);
    const double lapack_seconds = median_seconds(
        exec, line.repeat, [&] { lapack.solve(); }, [&] { lapack.prepare(); });
    const Vector y("y", b.extent(0));
    lapack.copy_solution(y);
    std::printf("LAPACK dgtsv    %.4g ms, %.3g ns a row, %.3g times the time above\n",
                1e3 * lapack_seconds, 1e9 * lapack_seconds / n, lapack_seconds / seconds);
    std::printf("                backward error %.2e%s\n", Trikkos::backward_error(exec, A, y, b),
                lapack.ok() ? "" : ", a pivot is zero");
  }
#endif

  const bool solved = status.ok() && std::isfinite(eta);
  if (!line.output.empty()) {
    if (solved) Trikkos::write_vector(line.output, x);
    std::printf("solution        %s%s\n", solved ? "in " : "not written to ", line.output.c_str());
  }
  return solved;
}

int main(int argc, char** argv) {
  try {
    const CommandLine line(argc, argv);
    if (line.help) {
      CommandLine::print_help();
      return 0;
    }
    check_memory(line);
    const Kokkos::ScopeGuard kokkos(argc, argv);
    return (line.stability ? Stability(line).run() : solve(line)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trikkos_solve: %s\n", error.what());
    return 2;
  }
}
