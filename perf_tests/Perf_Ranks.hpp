// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_RANKS_HPP
#define TRIKKOS_PERF_RANKS_HPP

#include <unistd.h>

#include <Trikkos_Distributed.hpp>
#include <Trikkos_Gallery.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "Perf_Harness.hpp"

#include <mpi.h>

/// \file
/// What Trikkos_PerfDistributed measures: systems whose rows lie on ranks, each of which solves on
/// a device or on the host.

namespace Perf {

/// Of ranks of the host. Where there is no device, that of the others too.
using Host = Kokkos::DefaultHostExecutionSpace;

/// What the command line says; see README.md.
struct RankRequest {
  bool help = false;
  std::int64_t weak_rows = on_host ? 1 << 20 : 1 << 27;
  std::int64_t strong_rows = on_host ? 1 << 21 : 1 << 28;
  std::int64_t systems = 64;
  std::int64_t system_rows = on_host ? 1 << 14 : 1 << 20;
  std::int64_t lines = on_host ? 1 << 13 : 1 << 18;
  std::int64_t line_rows = on_host ? 256 : 512;
  std::int64_t paper_rows = 1 << 24;
  std::int64_t repeats = 9;
  std::int64_t host_ranks = 0;

  std::int64_t most_rows() const {
    return std::max({weak_rows, strong_rows, systems * system_rows, lines * line_rows, paper_rows});
  }
};

/// So many ranks: the first of those that have a device, and of those of the host.
struct Team {
  int devices, hosts;
  int size() const { return devices + hosts; }
};

/// All ranks. Those of the host are the last ones.
class World {
 public:
  explicit World(int hosts = 0) : m_hosts(hosts) {
    MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m_size);
  }
  int rank() const { return m_rank; }
  int size() const { return m_size; }
  int devices() const { return m_size - m_hosts; }
  int hosts() const { return m_hosts; }
  bool is_host() const { return m_rank >= devices(); }

  bool has(const Team& team) const {
    return is_host() ? m_rank - devices() < team.hosts : m_rank < team.devices;
  }
  int first(const Team& team) const { return team.devices > 0 ? 0 : devices(); }
  bool prints() const { return m_rank == 0; }

 private:
  int m_rank = 0, m_size = 1, m_hosts;
};

/// Without keeping a core busy that others may need.
inline void wait_for_all() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int is_done = 0; !is_done;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (!is_done) usleep(1000);
  }
}

/// What f returns on the first rank of a team, while the other ranks wait, on all. f(comm) is for
/// the communicator of the team. Collective.
template <class F>
auto on_team(const World& world, const Team& team, const F& f) {
  std::invoke_result_t<F, MPI_Comm> result{};
  static_assert(std::is_trivially_copyable_v<decltype(result)>);
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, world.has(team) ? 0 : MPI_UNDEFINED, world.rank(), &comm);
  if (comm != MPI_COMM_NULL) {
    result = f(comm);
    MPI_Comm_free(&comm);
  }
  wait_for_all();
  MPI_Bcast(&result, sizeof result, MPI_BYTE, world.first(team), MPI_COMM_WORLD);
  return result;
}

/// 1, 2, 4 ... and most.
template <class F>
void for_sizes(int most, const F& f) {
  for (int size = 1, last = 0; size != last; size = std::min(2 * size, most)) f(last = size);
}

/// So many times of this rank: from a barrier, the execution space being idle, until it is again.
/// By the host's clock, since messages go through the host. Collective.
template <class Space, class Prepare, class Work>
std::vector<double> times(const Space& exec, MPI_Comm comm, std::int64_t samples,
                          const Prepare& prepare, const Work& work) {
  constexpr int warm_ups = 2;
  std::vector<double> seconds;
  for (std::int64_t i = -warm_ups; i < samples; ++i) {
    prepare();
    exec.fence("Perf::times: start");
    MPI_Barrier(comm);
    const Kokkos::Timer timer;
    work();
    exec.fence("Perf::times: stop");
    if (i >= 0) seconds.push_back(timer.seconds());
    MPI_Barrier(comm);
  }
  return seconds;
}
/// The median of the times that the slowest rank takes. Collective.
inline double slowest(MPI_Comm comm, std::vector<double> seconds) {
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                comm);
  return summary(seconds).median;
}

/// A system of so many rows on all ranks, or many of them.
struct RankCase {
  Trikkos::Gallery matrix;
  std::int64_t rows;
  std::int64_t repeats;
  std::int64_t systems = 1;
  /// Whether all ranks shall need the same time, rather than have as many rows.
  bool is_balanced = false;
  /// Whether it is also timed with its rows on the first rank before, and x afterwards.
  bool is_moved = false;
  bool has_cold_caches = true;
  Trikkos::Impl::RootWay way{};
};

/// Times in seconds, those of the slowest rank. Of a kind of ranks that there is none of: 0.
struct RankFigures {
  double all;                           ///< all ranks together
  double moved;                         ///< with all that goes from and to the first rank
  double device_alone, host_alone;      ///< each rank its own rows, all at the same time
  std::int64_t device_rows, host_rows;  ///< of the rank that has most
  double eta;     ///< as Trikkos::backward_error, but for the residual, in double here
  double of_row;  ///< the worst row by itself: no gate but for rows that are wrong
};

/// Collective, on all ranks. What is wrong is told on stderr, and then any_failed().
class RankHarness {
 public:
  explicit RankHarness(const RankRequest& request);

  const World& world() const { return m_world; }
  RankFigures measure(const Team& team, const RankCase& wanted) const;

 private:
  template <class Space, class Vector>
  RankFigures measure_in(MPI_Comm comm, const RankCase& wanted) const;
  template <class Space, class Block>
  double alone(MPI_Comm comm, const RankCase& wanted, const Block& block) const;
  template <class Space>
  std::int64_t rows(MPI_Comm comm, const RankCase& wanted) const;
  template <class Space>
  void prepare(const Space& exec, const RankCase& wanted) const;
  void fail(const std::string& why) const;

  World m_world;
  Caches<Exec> m_device;
  Caches<Host> m_host;
};

/// On rank 0.
void print_title(const World& world, const std::string& title);

}  // namespace Perf

namespace Papers {

// SC'12 (Papers.hpp)
void figure14(const Perf::RankHarness&, const Perf::RankRequest&);  // strong scaling
void figure15(const Perf::RankHarness&, const Perf::RankRequest&);  // weak scaling
void figure16(const Perf::RankHarness&, const Perf::RankRequest&);  // hosts, devices, both

}  // namespace Papers

#endif
