// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Perf_Ranks.hpp"

#include <Trikkos.hpp>
#include <TrikkosInstances.hpp>
#include <Trikkos_Distributed.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "Papers_Table.hpp"

namespace Perf {

namespace {

template <class Space>
using Vector = Kokkos::View<double*, Space>;
template <class Space>
using Vectors = Kokkos::View<double**, Kokkos::LayoutRight, Space>;  // (system, row)

constexpr double largest_eta = 1e-13;
// Of a row by itself: the worst of random ones grows with their number, on one rank too, 1e-12 of
// 10^6; where a word from another rank is wrong, it is about 1.
constexpr double largest_of_row = 1e-6;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The rows of this rank, of one system (V has rank 1) or of many: random ones of its own, so that
/// the first ranks have the same rows however many ranks follow.
template <class Space, class V>
struct Block {
  std::int64_t systems, rows;
  Trikkos::Tridiagonal<Vector<Space>> bands;
  Vector<Space> b_memory, x_memory;

  // Periodic: lower(0) and upper(n-1) are numbers then, the couplings to the ranks beside this one.
  Block(const Space& exec, MPI_Comm comm, const RankCase& wanted, std::int64_t rows_)
      : systems(wanted.systems),
        rows(rows_),
        bands(Trikkos::gallery<double>(exec, wanted.matrix, systems * rows, rank_of(comm),
                                       Trikkos::Boundary::periodic)),
        b_memory(Trikkos::gallery_rhs<double>(exec, systems * rows, rank_of(comm))),
        x_memory("Perf::x", systems * rows) {}

  V shaped(const Vector<Space>& v) const {
    if constexpr (V::rank() == 1)
      return v;
    else
      return V(v.data(), systems, rows);
  }
  Trikkos::Tridiagonal<V> A() const {
    return {shaped(bands.lower), shaped(bands.diag), shaped(bands.upper)};
  }
  V b() const { return shaped(b_memory); }
  V x() const { return shaped(x_memory); }
};

/// Of the rows of a system: the largest |b - A x|, sum of |A|, |x| and |b|, and of the rows by
/// themselves |b - A x| / (|A| |x| + |b|).
struct RowErrors {
  const double *lower, *diag, *upper, *b, *x;
  double before, after;  // x of the ranks beside this one, next to its rows
  std::int64_t rows;
  bool is_first, is_last;  // nobody is before, or after

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double& residual, double& row,
                                         double& size, double& rhs, double& of_row) const {
    double r = -b[i], sum = 0, terms = Kokkos::abs(b[i]);
    const auto add = [&](double a, double v) {
      r += a * v;
      sum += Kokkos::abs(a);
      terms += Kokkos::abs(a * v);
    };
    add(diag[i], x[i]);
    if (i > 0 || !is_first) add(lower[i], i > 0 ? x[i - 1] : before);
    if (i < rows - 1 || !is_last) add(upper[i], i < rows - 1 ? x[i + 1] : after);
    r = r == r ? Kokkos::abs(r) : Kokkos::Experimental::infinity_v<double>;
    residual = Kokkos::max(residual, r);
    row = Kokkos::max(row, sum);
    size = Kokkos::max(size, Kokkos::abs(x[i]));
    rhs = Kokkos::max(rhs, Kokkos::abs(b[i]));
    of_row = Kokkos::max(of_row, r > 0 ? r / terms : 0.);
  }
};

/// Sets `eta` and `of_row`, the worst of all systems. Every rank has rows. Collective.
template <class Space, class V>
void judge(const Space& exec, MPI_Comm comm, const Block<Space, V>& block, RankFigures& figures) {
  const auto n = static_cast<int>(block.systems);
  const Vectors<Space> x(block.x_memory.data(), block.systems, block.rows);
  const auto column = [&](std::int64_t i) {
    const Vector<Space> v("Perf::column", n);
    Kokkos::deep_copy(exec, v, Kokkos::subview(x, Kokkos::ALL, i));
    exec.fence("Perf::judge");
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, v);
  };
  const auto first = column(0), last = column(block.rows - 1);
  std::vector<double> before(block.systems), after(block.systems);
  const int rank = rank_of(comm), size = size_of(comm);
  const bool is_first = rank == 0, is_last = rank == size - 1;
  const int left = is_first ? MPI_PROC_NULL : rank - 1;
  const int right = is_last ? MPI_PROC_NULL : rank + 1;
  MPI_Sendrecv(first.data(), n, MPI_DOUBLE, left, 0, after.data(), n, MPI_DOUBLE, right, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last.data(), n, MPI_DOUBLE, right, 0, before.data(), n, MPI_DOUBLE, left, 0, comm,
               MPI_STATUS_IGNORE);

  for (std::int64_t k = 0; k < block.systems; ++k) {
    const auto of = [&](const Vector<Space>& v) { return v.data() + k * block.rows; };
    const auto system = static_cast<std::size_t>(k);
    const RowErrors kernel{of(block.bands.lower),
                           of(block.bands.diag),
                           of(block.bands.upper),
                           of(block.b_memory),
                           of(block.x_memory),
                           before[system],
                           after[system],
                           block.rows,
                           is_first,
                           is_last};
    using Max = Kokkos::Max<double>;
    double mine[5], all[5];
    Kokkos::parallel_reduce(
        "Perf::errors",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(exec, 0, block.rows), kernel,
        Max(mine[0]), Max(mine[1]), Max(mine[2]), Max(mine[3]), Max(mine[4]));
    MPI_Allreduce(mine, all, 5, MPI_DOUBLE, MPI_MAX, comm);
    const auto [residual, row, size_of_x, rhs, of_row] = all;
    const double eta = residual > 0 ? residual / (row * size_of_x + rhs) : 0;
    figures.eta = std::max(figures.eta, std::isfinite(residual) ? eta : residual);
    figures.of_row = std::max(figures.of_row, of_row);
  }
}

/// How many ranks share the caches of this node.
int ranks_of_node() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int ranks = size_of(node);
  MPI_Comm_free(&node);
  return ranks;
}

}  // namespace

RankHarness::RankHarness(const RankRequest& request)
    : m_world(static_cast<int>(request.host_ranks)) {
  const int ranks = ranks_of_node();
  if (!m_world.is_host() || std::is_same_v<Exec, Host>)
    m_device = Caches<Exec>(request.most_rows(), on_host ? ranks : 1);
  else
    m_host = Caches<Host>(request.most_rows(), ranks);
}

template <class Space>
void RankHarness::prepare(const Space& exec, const RankCase& wanted) const {
  if (!wanted.has_cold_caches) return;
  if constexpr (std::is_same_v<Space, Exec>)
    m_device.empty(exec);
  else
    m_host.empty(exec);
}

void RankHarness::fail(const std::string& why) const {
  any_failed() = true;
  std::fprintf(stderr, "Trikkos_PerfDistributed: rank %d: %s\n", m_world.rank(), why.c_str());
}

/// What this rank takes for its rows as if they were a system, all ranks at the same time.
template <class Space, class Block>
double RankHarness::alone(MPI_Comm comm, const RankCase& wanted, const Block& block) const {
  const Space exec;
  const auto A = block.A();
  const auto b = block.b(), x = block.x();
  const Trikkos::Workspace work(exec, A, b,
                                Trikkos::Options{}.algorithm(Trikkos::Algorithm::segmented));
  const auto taken = times(
      exec, comm, wanted.repeats, [&] { prepare(exec, wanted); },
      [&] { Trikkos::solve(exec, work, A, b, x); });
  const Trikkos::Status status = work.status(exec);
  if (!status) fail("alone: " + status.why());
  return summary(taken).median;
}

/// Of this rank. For equal times, from the times of the rows by themselves, again and again, since
/// a speed changes with their number: fewer fit a cache, or leave a device idle.
template <class Space>
std::int64_t RankHarness::rows(MPI_Comm comm, const RankCase& wanted) const {
  constexpr int rounds = 4;
  const auto rank = static_cast<std::size_t>(rank_of(comm));
  const auto evenly = Trikkos::balanced_partition(comm, wanted.rows);
  auto first = evenly;
  RankCase once = wanted;
  once.repeats = std::min<std::int64_t>(wanted.repeats, 3);
  for (int k = 0; wanted.is_balanced && k < rounds; ++k) {
    const std::int64_t mine = first[rank + 1] - first[rank];
    const Block<Space, Vector<Space>> block(Space(), comm, wanted, mine);
    const double seconds = alone<Space>(comm, once, block);
    first = Trikkos::balanced_partition(comm, wanted.rows, static_cast<double>(mine) / seconds);
    // so few rows that some ranks would have none
    if (std::adjacent_find(first.begin(), first.end()) != first.end()) first = evenly;
  }
  return first[rank + 1] - first[rank];
}

template <class Space, class V>
RankFigures RankHarness::measure_in(MPI_Comm comm, const RankCase& wanted) const {
  const Space exec;
  const Block<Space, V> block(exec, comm, wanted, rows<Space>(comm, wanted));
  const Trikkos::Distributed A{comm, block.A()};
  const V b = block.b(), x = block.x();
  RankFigures r{};

  const double mine = alone<Space>(comm, wanted, block);
  const Trikkos::DistributedWorkspace work(exec, A, b, {}, wanted.way);
  const auto time = [&](const auto& solve) {
    Kokkos::deep_copy(exec, block.x_memory, 0.);  // nobody inherits a solution
    const double seconds =
        slowest(comm, times(
                          exec, comm, wanted.repeats, [&] { prepare(exec, wanted); }, solve));
    const Trikkos::Status status = work.status(exec);
    if (!status) fail(status.why());
    judge(exec, comm, block, r);
    return seconds;
  };
  r.all = time([&] { Trikkos::solve(exec, work, A, b, x); });

  if constexpr (V::rank() == 1) {
    if (wanted.is_moved) {
      const V part[] = {block.bands.lower, block.bands.diag, block.bands.upper, b, x};
      V whole[5];
      for (int k = 0; k < 5; ++k) {
        whole[k] = V("Perf::whole", rank_of(comm) == 0 ? wanted.rows : 0);
        Trikkos::gather(exec, comm, 0, part[k], whole[k]);
      }
      r.moved = time([&] {
        for (int k = 0; k < 4; ++k) Trikkos::scatter(exec, comm, 0, whole[k], part[k]);
        Trikkos::solve(exec, work, A, b, x);
        Trikkos::gather(exec, comm, 0, x, whole[4]);
      });
    }
  }
  const auto expect = [&](const char* what, double error, double largest) {  // the same on all
    if (rank_of(comm) == 0 && !(error <= largest)) fail(what + Papers::error(error));
  };
  expect("backward error ", r.eta, largest_eta);
  expect("error of a row ", r.of_row, largest_of_row);

  const bool is_host = m_world.is_host();
  const double seconds[] = {is_host ? 0 : mine, is_host ? mine : 0};
  const std::int64_t rows[] = {is_host ? 0 : block.rows, is_host ? block.rows : 0};
  double slowest[2];
  std::int64_t most[2];
  MPI_Allreduce(seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(rows, most, 2, MPI_INT64_T, MPI_MAX, comm);
  r.device_alone = slowest[0];
  r.host_alone = slowest[1];
  r.device_rows = most[0];
  r.host_rows = most[1];
  return r;
}

RankFigures RankHarness::measure(const Team& team, const RankCase& wanted) const {
  return on_team(m_world, team, [&](MPI_Comm comm) {
    const auto in = [&]<class Space>(const Space&) {
      return wanted.systems == 1 ? measure_in<Space, Vector<Space>>(comm, wanted)
                                 : measure_in<Space, Vectors<Space>>(comm, wanted);
    };
    return m_world.is_host() ? in(Host()) : in(Exec());
  });
}

void print_title(const World& world, const std::string& title) {
  if (world.prints()) std::printf("%s\n\n", title.c_str());
}

}  // namespace Perf
