// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Diffusion on a square, much stronger along x than along y, by Belos' conjugate gradients in a
// Tpetra program: without a preconditioner, and with Trikkos' line solve, ILU(0) and IC(0) of what
// each rank has. `with_lines` and `with_factors` are all that is Trikkos here.

#include <BelosLinearProblem.hpp>
#include <BelosPseudoBlockCGSolMgr.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Trikkos.hpp>
#include <Trikkos_Tpetra.hpp>
#include <common/CommandLine.hpp>
#include <common/Simulation.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>

using Teuchos::RCP;
using Teuchos::rcp;
using Matrix = Tpetra::CrsMatrix<>;
using Scalar = Matrix::scalar_type;
using Global = Matrix::global_ordinal_type;
using Map = Matrix::map_type;
using Exec = Matrix::execution_space;
using Vectors = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;

struct CommandLine {
  static constexpr const char* help_text =
      R"(Diffusion on a square by Belos' CG, without and with preconditioners of Trikkos.

  --points M       points along x; 200 unless given
  --lines K        lines along x on each rank; 200 unless given
  --ratio R        how much stronger diffusion is along x than along y; 1000 unless given
  --iterations K   at most; 10000 unless given
  --help           this text

Exit status: 0 all have converged to the residual asked for; 1 not; 2 a wrong command line.
)";

  std::int64_t points = 200, lines = 200, ratio = 1000, iterations = 10000;
  bool help = false;

  CommandLine(int argc, char* argv[]) {
    const std::map<std::string, std::int64_t*> counts = {{"--points", &points},
                                                         {"--lines", &lines},
                                                         {"--ratio", &ratio},
                                                         {"--iterations", &iterations}};
    for (int k = 1; k < argc && !help; ++k) {
      const std::string option = argv[k];
      const auto count = counts.find(option);
      if (option == "--help")
        help = true;
      else if (count == counts.end())
        throw std::invalid_argument(option + ": no such option, see --help");
      else if (k + 1 == argc)
        throw std::invalid_argument(option + ": expected a value, see --help");
      else
        *count->second = Example::number(option, argv[++k]);
    }
  }
};

// ---- the system

/// Row y m + x is a point; every rank has lines along x. The five-point differences, times h^2.
RCP<Matrix> make_matrix(const RCP<const Teuchos::Comm<int>>& comm, const CommandLine& line) {
  const Global m = line.points, lines = line.lines * comm->getSize();
  const double weak = 1. / static_cast<double>(line.ratio);
  const auto map = rcp(new Map(static_cast<Tpetra::global_size_t>(m * lines),
                               static_cast<std::size_t>(m * line.lines), 0, comm));
  const auto A = rcp(new Matrix(map, 5));
  for (Global i = map->getMinGlobalIndex(); i <= map->getMaxGlobalIndex(); ++i) {
    Global columns[5];
    Scalar values[5];
    int count = 0;
    const auto add = [&](bool is_inside, Global column, double value) {
      if (!is_inside) return;
      columns[count] = column;
      values[count++] = value;
    };
    add(i >= m, i - m, -weak);
    add(i % m > 0, i - 1, -1);
    add(true, i, 2 + 2 * weak);
    add(i % m < m - 1, i + 1, -1);
    add(i < m * lines - m, i + m, -weak);
    A->insertGlobalValues(i, count, values, columns);
  }
  A->fillComplete();
  return A;
}

// ---- the preconditioners

RCP<Operator> with_lines(const Exec& exec, const Matrix& A, const CommandLine& line) {
  const double weak = 1. / static_cast<double>(line.ratio);
  const auto along_x = Trikkos::toeplitz(exec, line.points, -1., 2 + 2 * weak, -1.);
  const Trikkos::Plan plan(exec, along_x, {}, line.lines);
  return rcp(new Trikkos::TpetraOperator(plan, A.getRowMap(),
                                         Trikkos::TpetraLines{{line.lines, line.points}, 1}));
}

template <template <class, class> class Incomplete>
RCP<Operator> with_factors(const Exec& exec, const Matrix& A) {
  const Incomplete<Scalar, Exec> factors(exec, Trikkos::local_block(exec, A));
  const Trikkos::IncompleteStatus status = factors.status(exec);
  if (!status.ok()) throw std::runtime_error(status.why());
  return rcp(new Trikkos::TpetraOperator(factors, A.getRowMap()));
}

// ---- the solve

constexpr double tolerance = 1e-8;

/// |b - A x| / |b|
double residual(const Matrix& A, const Vectors& b, const Vectors& x) {
  Vectors r(b, Teuchos::Copy);
  A.apply(x, r, Teuchos::NO_TRANS, -1, 1);
  Teuchos::Array<double> of_r(1), of_b(1);
  r.norm2(of_r());
  b.norm2(of_b());
  return of_r[0] / of_b[0];
}

/// Prints a line. \return whether the residual is as small as it should be
template <class Make>
bool iterate(const char* name, const RCP<Matrix>& A, const CommandLine& line, const Make& make) {
  const int rank = A->getComm()->getRank();
  const auto b = rcp(new Vectors(A->getRangeMap(), 1)), x = rcp(new Vectors(A->getDomainMap(), 1));
  b->putScalar(1);
  Kokkos::Timer timer;
  const RCP<Operator> preconditioner = make();
  Kokkos::fence("set-up");
  const double setup = timer.seconds();

  const auto problem = rcp(new Belos::LinearProblem<Scalar, Vectors, Operator>(A, x, b));
  if (!preconditioner.is_null()) problem->setLeftPrec(preconditioner);
  problem->setProblem();
  const auto parameters = Teuchos::parameterList();
  parameters->set("Convergence Tolerance", tolerance);
  parameters->set("Maximum Iterations", static_cast<int>(line.iterations));
  parameters->set("Residual Scaling", "Norm of RHS");
  Belos::PseudoBlockCGSolMgr<Scalar, Vectors, Operator> cg(problem, parameters);
  timer.reset();
  const bool converged = cg.solve() == Belos::Converged;
  Kokkos::fence("solve");
  const double seconds = timer.seconds(), relative = residual(*A, *b, *x);
  const bool good = converged && relative <= 10 * tolerance;
  if (rank == 0)
    std::printf("%-12s %10d %11.4f %11.4f %12.2e  %s\n", name, cg.getNumIters(), setup, seconds,
                relative, good ? "converged" : "NOT converged");
  return good;
}

int run(int argc, char* argv[]) {
  const CommandLine line(argc, argv);
  if (line.help) {
    std::printf("%s", CommandLine::help_text);
    return 0;
  }
  const Tpetra::ScopeGuard tpetra(&argc, &argv);
  const auto comm = Tpetra::getDefaultComm();
  const Exec exec;
  const RCP<Matrix> A = make_matrix(comm, line);
  if (comm->getRank() == 0)
    std::printf("%d rank%s, %s, n = %lld\n%-12s %10s %11s %11s %12s\n", comm->getSize(),
                comm->getSize() == 1 ? "" : "s", Exec::name(),
                static_cast<long long>(A->getGlobalNumRows()), "", "iterations", "set-up, s",
                "solve, s", "|b-Ax|/|b|");
  bool good = iterate("none", A, line, [] { return RCP<Operator>(); });
  good &= iterate("lines", A, line, [&] { return with_lines(exec, *A, line); });
  good &= iterate("ILU(0)", A, line, [&] { return with_factors<Trikkos::IncompleteLu>(exec, *A); });
  good &= iterate("IC(0)", A, line,
                  [&] { return with_factors<Trikkos::IncompleteCholesky>(exec, *A); });
  return good ? 0 : 1;
}

int main(int argc, char* argv[]) {
  return Example::main_of("trikkos_tpetra_belos", argc, argv, run);
}
