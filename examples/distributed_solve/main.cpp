// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One tridiagonal system whose rows lie on the ranks of MPI_COMM_WORLD, more of them on faster
// ranks. Rank 0 has it all at first, hands out the rows, and judges the solution that comes back.

#include <Trikkos.hpp>
#include <Trikkos_Distributed.hpp>
#include <algorithm>
#include <common/CommandLine.hpp>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;

struct Request {
  std::int64_t size = 1000000, repeat = 5;
  Trikkos::Boundary boundary = Trikkos::Boundary::open;
};

/// Rows a second that this rank solves by itself.
double speed(const Exec& exec) {
  const std::int64_t n = 100000;
  const auto A = Trikkos::gallery<double>(exec, Trikkos::Gallery::uniform, n);
  const Vector x = Trikkos::gallery_rhs<double>(exec, n);
  const Trikkos::Workspace work(exec, A, x);
  Trikkos::solve(exec, work, A, x, x);  // the first one takes longer
  exec.fence();
  const Kokkos::Timer timer;
  Trikkos::solve(exec, work, A, x, x);
  exec.fence();
  return static_cast<double>(n) / timer.seconds();
}

struct Outcome {
  Trikkos::Status status;
  double seconds, backward_error;  // of the fastest solve; on rank 0
};

Outcome solve(const Exec& exec, MPI_Comm comm, int rank, const Request& request,
              const std::vector<std::int64_t>& first) {
  // all of the system, on rank 0
  const std::int64_t n = rank == 0 ? request.size : 0, mine = first[rank + 1] - first[rank];
  const auto all =
      Trikkos::gallery<double>(exec, Trikkos::Gallery::uniform, n, 1, request.boundary);
  const Vector all_b = Trikkos::gallery_rhs<double>(exec, n), all_x("x", n);

  // the rows of this rank
  const auto rows = [&](const Vector& of_all) {
    const Vector block("block", mine);
    Trikkos::scatter(exec, comm, 0, of_all, block);
    return block;
  };
  const Trikkos::Distributed A{
      comm, Trikkos::Tridiagonal{rows(all.lower), rows(all.diag), rows(all.upper), all.boundary}};
  const Vector b = rows(all_b), x("x", mine);

  const Trikkos::DistributedWorkspace work(exec, A, b);
  double fastest = -1;
  for (std::int64_t k = 0; k < request.repeat; ++k) {
    MPI_Barrier(comm);
    const Kokkos::Timer timer;
    Trikkos::solve(exec, work, A, b, x);
    exec.fence();
    double seconds = timer.seconds(), slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
    fastest = k == 0 ? slowest : std::min(fastest, slowest);
  }
  const Trikkos::Status status = work.status(exec);  // waits

  Trikkos::gather(exec, comm, 0, x, all_x);
  return {status, fastest, rank == 0 ? Trikkos::backward_error(exec, all, all_x, all_b) : 0};
}

Request read_command_line(int argc, char* argv[]) {
  Request r;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (option == "--periodic")
      r.boundary = Trikkos::Boundary::periodic;
    else if ((option == "--size" || option == "--repeat") && k + 1 < argc)
      (option == "--size" ? r.size : r.repeat) = Example::number(option, argv[++k]);
    else
      throw std::invalid_argument(option + ": expected --size N, --repeat N or --periodic");
  }
  return r;
}

int run(MPI_Comm comm, int rank, const Request& request) {
  const Exec exec;
  const auto first = Trikkos::balanced_partition(comm, request.size, speed(exec));
  const Outcome r = solve(exec, comm, rank, request, first);
  if (rank == 0) {
    const double rows = static_cast<double>(request.size);
    std::printf("rows            %lld, %s\nof the ranks   ", static_cast<long long>(request.size),
                Trikkos::name(request.boundary));
    for (std::size_t k = 1; k < first.size(); ++k)
      std::printf(" %lld", static_cast<long long>(first[k] - first[k - 1]));
    std::printf("\ntime            %.3g ms, %.3g ns a row\n", 1e3 * r.seconds,
                1e9 * r.seconds / rows);
    std::printf("backward error  %.2g\nstatus          %s\n", r.backward_error,
                r.status.why().c_str());
  }
  return r.status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  int rank = 0, result = 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Request request = read_command_line(argc, argv);
    const Kokkos::ScopeGuard kokkos(argc, argv);
    result = run(MPI_COMM_WORLD, rank, request);
  } catch (const std::exception& e) {
    if (rank == 0) std::fprintf(stderr, "trikkos_distributed_solve: %s\n", e.what());
  }
  MPI_Finalize();
  return result;
}
