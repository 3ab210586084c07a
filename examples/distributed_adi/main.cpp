// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Heat by alternating directions, as in adi_heat, where the array is divided among the ranks of
// MPI_COMM_WORLD along its first axis: lines along that axis are solved by all ranks together, in
// one message for all of them, the others by each rank by itself.
//
//   u_t = u_xx + u_yy + u_zz, u = 0 on the boundary
//   (1 - r Dx) (1 - r Dy) (1 - r Dz) (u^(k+1) - u^k) = dt (Dx + Dy + Dz) u^k,   r = dt / 2

#include <Trikkos.hpp>
#include <Trikkos_Distributed.hpp>
#include <common/CommandLine.hpp>
#include <common/Heat.hpp>

namespace {

using Example::Exec;
using Example::Field;
using Plane = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using HostPlane = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

constexpr double end_time = 0.02;

struct Request {
  std::int64_t axes = 3, points = 64, steps = 50;
};

/// The planes before and after those of this rank, zero at the boundary.
class Halo {
 public:
  Halo(MPI_Comm comm, const Field& u)
      : before("before", u.extent(1), u.extent(2)),
        after("after", u.extent(1), u.extent(2)),
        m_comm(comm),
        m_send("send", u.extent(1), u.extent(2)),
        m_receive("receive", u.extent(1), u.extent(2)) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    m_left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    m_right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  }
  void exchange(const Exec& exec, const Field& u) const {
    shift(exec, Kokkos::subview(u, u.extent(0) - 1, Kokkos::ALL, Kokkos::ALL), m_right, before,
          m_left);
    shift(exec, Kokkos::subview(u, 0, Kokkos::ALL, Kokkos::ALL), m_left, after, m_right);
  }

  Plane before, after;

 private:
  template <class Edge>
  void shift(const Exec& exec, const Edge& mine, int to, const Plane& theirs, int from) const {
    Kokkos::deep_copy(exec, m_send, mine);
    exec.fence("the edge is on the host");
    const auto count = static_cast<int>(m_send.size());
    MPI_Sendrecv(m_send.data(), count, MPI_DOUBLE, to, 0, m_receive.data(), count, MPI_DOUBLE, from,
                 0, m_comm, MPI_STATUS_IGNORE);
    if (from == MPI_PROC_NULL) return;
    Kokkos::deep_copy(exec, theirs, m_receive);
    exec.fence("the buffer is free again");
  }

  MPI_Comm m_comm;
  HostPlane m_send, m_receive;
  int m_left, m_right;
};

/// change = dt (Dx + Dy + Dz) u, s = dt / (2 h^2)
void changes(const Exec& exec, double s, int axes, const Field& u, const Halo& halo,
             const Field& change) {
  const Plane before = halo.before, after = halo.after;
  const std::int64_t rows = u.extent_int(0), n = u.extent_int(1), planes = u.extent_int(2);
  Kokkos::parallel_for(
      "right-hand sides", Example::points_of(exec, u),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        double sum = -2 * axes * u(i, j, k);
        sum += i > 0 ? u(i - 1, j, k) : before(j, k);
        sum += i < rows - 1 ? u(i + 1, j, k) : after(j, k);
        if (j > 0) sum += u(i, j - 1, k);
        if (j < n - 1) sum += u(i, j + 1, k);
        if (k > 0) sum += u(i, j, k - 1);
        if (k < planes - 1) sum += u(i, j, k + 1);
        change(i, j, k) = 2 * s * sum;
      });
}

struct Outcome {
  double error, seconds;  // the largest of all ranks
  Trikkos::Status across, within;
};

double largest(MPI_Comm comm, double mine) {
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_MAX, comm);
  return result;
}

Outcome heat(const Exec& exec, MPI_Comm comm, std::int64_t first, std::int64_t rows,
             const Request& request) {
  const int axes = static_cast<int>(request.axes);
  const std::int64_t n = request.points, planes = axes == 3 ? n : 1;
  const double h = 1 / static_cast<double>(n + 1);
  const double s = end_time / static_cast<double>(request.steps) / (2 * h * h);

  // the rows of this rank, of one matrix for all lines along the first axis; and all rows
  const Trikkos::Distributed mine{comm, Trikkos::toeplitz(exec, rows, -s, 1 + 2 * s, -s)};
  const Trikkos::DistributedPlan across(exec, mine, {}, n * planes);
  const Trikkos::Plan within(exec, Trikkos::toeplitz(exec, n, -s, 1 + 2 * s, -s), {},
                             rows * planes);

  const Field u("u", rows, n, planes), change("change", rows, n, planes);
  const Halo halo(comm, u);
  const Example::ExactHeat exact{axes, h};
  Example::set(exec, exact, u, first);
  exec.fence("initial values");
  MPI_Barrier(comm);
  const Kokkos::Timer timer;
  for (std::int64_t step = 0; step < request.steps; ++step) {
    halo.exchange(exec, u);
    changes(exec, s, axes, u, halo, change);
    for (int axis = 0; axis < axes; ++axis) {
      const auto lines = Trikkos::along(change, axis);
      if (axis == 0)
        Trikkos::solve(exec, across, lines, lines);  // collective
      else
        Trikkos::solve(exec, within, lines, lines);
    }
    Example::add(exec, change, u);
  }
  exec.fence("last step");
  const double seconds = timer.seconds();
  return {largest(comm, Example::largest_error(exec, u, exact, end_time, first)),
          largest(comm, seconds), across.status(exec), within.status(exec)};
}

Request read_command_line(int argc, char* argv[]) {
  Request r;
  const std::map<std::string, std::int64_t*> counts{
      {"--axes", &r.axes}, {"--points", &r.points}, {"--steps", &r.steps}};
  for (int k = 1; k < argc; ++k) {
    const auto count = counts.find(argv[k]);
    if (count == counts.end() || k + 1 == argc)
      throw std::invalid_argument(std::string(argv[k]) +
                                  ": expected --axes 2|3, --points N or --steps S");
    ++k;
    *count->second = Example::number(count->first, argv[k]);
  }
  if (r.axes != 2 && r.axes != 3)
    throw std::invalid_argument("--axes is '" + std::to_string(r.axes) + "', expected 2 or 3");
  return r;
}

int run(MPI_Comm comm, int rank, const Request& request) {
  const Exec exec;
  const auto first = Trikkos::balanced_partition(comm, request.points);
  const auto ranks = static_cast<std::int64_t>(first.size()) - 1;
  if (request.points < ranks)
    throw std::invalid_argument("--points is '" + std::to_string(request.points) +
                                "', expected at least one for each rank");
  const Outcome r = heat(exec, comm, first[rank], first[rank + 1] - first[rank], request);
  if (rank == 0) {
    const double points = std::pow(static_cast<double>(request.points), request.axes);
    std::printf("%lld points along each of %lld axes, %lld steps, on %lld ranks\n",
                static_cast<long long>(request.points), static_cast<long long>(request.axes),
                static_cast<long long>(request.steps), static_cast<long long>(ranks));
    std::printf("time            %.3f s, %.3f ns an unknown and step\n", r.seconds,
                r.seconds / (points * static_cast<double>(request.steps)) * 1e9);
    std::printf("error           %.3e against the exact solution\n", r.error);
    std::printf("status          %s\n",
                r.across.ok() ? r.within.why().c_str() : r.across.why().c_str());
  }
  return r.across.ok() && r.within.ok() ? 0 : 1;
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
    if (rank == 0) std::fprintf(stderr, "trikkos_distributed_adi: %s\n", e.what());
  }
  MPI_Finalize();
  return result;
}
