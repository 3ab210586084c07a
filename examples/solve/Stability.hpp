// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_SOLVE_STABILITY_HPP
#define TRIKKOS_EXAMPLES_SOLVE_STABILITY_HPP

#include <Trikkos.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "CommandLine.hpp"
#include "Lapack.hpp"

/// y = A x
template <class View>
void multiply(const Trikkos::Tridiagonal<View>& A, const View& x, const View& y) {
  using Exec = typename View::execution_space;
  const auto n = static_cast<std::int64_t>(x.extent(0));
  Kokkos::parallel_for(
      "multiply", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n),
      KOKKOS_LAMBDA(const std::int64_t i) {
        double sum = A.diag(i) * x(i);
        if (i > 0) sum += A.lower(i) * x(i - 1);
        if (i < n - 1) sum += A.upper(i) * x(i + 1);
        y(i) = sum;
      });
}

/// Table III and IV of L.-W. Chang et al.: A scalable, numerically stable, high-performance
/// tridiagonal solver using GPUs (SC'12): 16 types of matrices, here with a row for each type and
/// three columns for each solver.
class Stability {
  using Exec = Kokkos::DefaultExecutionSpace;
  using Vector = Kokkos::View<double*, Exec>;
  using Matrix = Trikkos::Tridiagonal<Vector>;

 public:
  static constexpr double gate = 1e-14;

  explicit Stability(const CommandLine& line) : m_n(line.size.value_or(512)), m_seed(line.seed) {
    using Trikkos::Algorithm;
    const Algorithm first = line.options.algorithm();
    m_solvers.push_back({Trikkos::name(first), trikkos(line.options)});
    for (const Algorithm other : {Algorithm::spike, Algorithm::thomas}) {
      if (first != other) {
        m_solvers.push_back({Trikkos::name(other), trikkos(Trikkos::Options{}.algorithm(other))});
      }
    }
#ifdef TRIKKOS_HAVE_LAPACK
    m_solvers.push_back({"LAPACK dgtsv", [](const Matrix& A, const Vector& b, const Vector& x) {
                           Lapack lapack(A, b);
                           lapack.prepare();
                           lapack.solve();
                           lapack.copy_solution(x);
                           return lapack.ok();
                         }});
#endif
  }

  /// Prints the table.
  /// \return whether the first solver solved every nonsingular system and flagged the others
  bool run() const {
    print_head();
    std::string failures;
    int number = 0;
    for (const Trikkos::Gallery type : Trikkos::table_iii) {
      std::printf("%2d %-22s", ++number, Trikkos::name(type));
      Matrix A;
      try {
        A = Trikkos::gallery<double>(m_exec, type, m_n, m_seed);
      } catch (const std::invalid_argument&) {
        std::printf("  not made for so many rows\n");
        continue;
      }
      const bool singular = Trikkos::is_singular(type, m_n);
      const Vector b = Trikkos::gallery_rhs<double>(m_exec, m_n, m_seed);
      const Vector Ax("Ax", m_n);
      multiply(A, Trikkos::gallery_rhs<double>(m_exec, m_n, m_seed + 1), Ax);
      for (std::size_t k = 0; k < m_solvers.size(); ++k) {
        const Result random = solve(m_solvers[k], A, b), known = solve(m_solvers[k], A, Ax);
        std::printf(" |%8.1e %8.1e%c%8.1e%c", random.residual, random.eta, random.mark(), known.eta,
                    known.mark());
        if (k == 0 && (singular ? random.ok : random.failed() || known.failed())) {
          failures += std::string(failures.empty() ? "" : ", ") + Trikkos::name(type);
        }
      }
      std::printf("%s\n", singular ? " singular" : "");
    }
    std::printf("\n  * more than %.0e    ! the solver itself says that it failed\n\n", gate);
    std::printf("%s: %s%s\n", m_solvers[0].name, failures.empty() ? "passed" : "failed for ",
                failures.c_str());
    return failures.empty();
  }

 private:
  using SolveFunction = std::function<bool(const Matrix&, const Vector& b, const Vector& x)>;
  struct Solver {
    const char* name;
    SolveFunction solve;
  };
  struct Result {
    bool ok;
    double residual, eta;

    bool failed() const { return mark() != ' '; }
    char mark() const { return !ok ? '!' : eta <= gate ? ' ' : '*'; }
  };

  static SolveFunction trikkos(const Trikkos::Options& options) {
    return [options](const Matrix& A, const Vector& b, const Vector& x) {
      return Trikkos::solve(Exec{}, A, b, x, options).ok();
    };
  }

  void print_head() const {
    std::printf(
        "n = %lld. |b - A x| / |b| for random b (2-norms), and the backward error\n"
        "|b - A x| / (|A| |x| + |b|) (infinity norms) for random b and for b = A times a known "
        "x.\n\n"
        "%-25s",
        static_cast<long long>(m_n), "");
    for (const Solver& solver : m_solvers) std::printf(" |%-26s", solver.name);
    std::printf("\n%-25s", "   matrix");
    for (std::size_t k = 0; k < m_solvers.size(); ++k) {
      std::printf(" |residual b random  b = A x ");
    }
    std::printf("\n");
  }

  Result solve(const Solver& solver, const Matrix& A, const Vector& b) const {
    const Vector x("x", m_n);
    const bool ok = solver.solve(A, b, x);
    return {ok, relative_residual(A, x, b), Trikkos::backward_error(m_exec, A, x, b)};
  }

  /// Equation 13 of the paper.
  double relative_residual(const Matrix& A, const Vector& x_, const Vector& b_) const {
    const auto host = [](const Vector& v) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
    };
    const auto l = host(A.lower), d = host(A.diag), u = host(A.upper), x = host(x_), b = host(b_);
    using Long = long double;
    Long rr = 0, bb = 0;
    for (std::int64_t i = 0; i < m_n; ++i) {
      Long r = Long(b(i)) - Long(d(i)) * x(i);
      if (i > 0) r -= Long(l(i)) * x(i - 1);
      if (i < m_n - 1) r -= Long(u(i)) * x(i + 1);
      rr += r * r;
      bb += Long(b(i)) * b(i);
    }
    return static_cast<double>(std::abs(std::sqrt(rr / bb)));  // abs: "nan" instead of "-nan"
  }

  Exec m_exec;
  std::int64_t m_n;
  std::uint64_t m_seed;
  std::vector<Solver> m_solvers;
};

#endif
