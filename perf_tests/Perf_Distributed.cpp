// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints, in Markdown, times of systems whose rows lie on MPI ranks, one device or core a rank: on
// 1, 2, 4 ... ranks, and all. Each rank makes its own rows. See README.md for the options.
//
// Which device a rank has, Kokkos decides: the one with the number of the rank among those of its
// node, modulo the devices there, as the launcher tells it in the environment, Open MPI in
// OMPI_COMM_WORLD_LOCAL_RANK (Kokkos 4.6, Kokkos_CPUDiscovery.cpp). What it chose is printed.

#include <Trikkos_Distributed.hpp>
#include <Trikkos_Version.hpp>
#include <algorithm>
#include <common/CommandLine.hpp>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "Papers_Table.hpp"
#include "Perf_Machine.hpp"
#include "Perf_Ranks.hpp"

namespace {

using Papers::number, Perf::Exec, Perf::RankFigures, Perf::RankHarness, Perf::RankRequest;
using Perf::Team, Perf::World, Trikkos::Gallery;

constexpr std::int64_t small_rows = 1000;
constexpr int small_samples = 20;  // times --repeats: what takes microseconds scatters
constexpr Gallery matrices[] = {Gallery::uniform, Gallery::uniform_dominant};

std::string text(std::int64_t n) { return std::to_string(n); }

enum class Scaling { weak, strong };

/// A table of systems with so many rows a rank, or in all.
void print_scaling(const RankHarness& harness, const RankRequest& request, Scaling scaling,
                   std::int64_t systems, std::int64_t rows) {
  Papers::Table table(
      {"matrix", "ranks", "rows a rank", "ms", "efficiency", "alone, ms", "eta", "worst row"});
  for (const Gallery matrix : matrices) {
    double on_one = 0;
    Perf::for_sizes(harness.world().devices(), [&](int ranks) {
      const bool is_weak = scaling == Scaling::weak;
      const RankFigures r = harness.measure(
          {ranks, 0}, {matrix, is_weak ? rows * ranks : rows, request.repeats, systems});
      if (ranks == 1) on_one = r.all;
      const double ideal = is_weak ? on_one : on_one / ranks;
      table.add({name(matrix), text(ranks), text(r.device_rows), Papers::milliseconds(r.all),
                 Papers::factor(ideal / r.all), Papers::milliseconds(r.device_alone),
                 Papers::error(r.eta), Papers::error(r.of_row)});
    });
  }
  if (harness.world().prints()) table.print();
}

void print_weak(const RankHarness& harness, const RankRequest& request) {
  print_title(harness.world(),
              "Weak scaling: one system, " + text(request.weak_rows) + " rows a rank.");
  print_scaling(harness, request, Scaling::weak, 1, request.weak_rows);
}
void print_strong(const RankHarness& harness, const RankRequest& request) {
  print_title(harness.world(),
              "Strong scaling: one system, " + text(request.strong_rows) + " rows in all.");
  print_scaling(harness, request, Scaling::strong, 1, request.strong_rows);
}
void print_systems(const RankHarness& harness, const RankRequest& request) {
  print_title(harness.world(), "Weak scaling: " + text(request.systems) + " systems, " +
                                   text(request.system_rows) + " rows of each a rank.");
  print_scaling(harness, request, Scaling::weak, request.systems, request.system_rows);
}

/// Many short systems, whose words are a good part of what there is to do: each rank solves all
/// roots, or a share of them, of several parts of the systems one after the other.
void print_lines(const RankHarness& harness, const RankRequest& request) {
  using Trikkos::Impl::RootWay;
  struct Named {
    const char* name;
    RootWay way;
  };
  constexpr Named ways[] = {{"by all", {1, -1}}, {"shared, 1 part", {0, 1}}, {"2 parts", {0, 2}},
                            {"4 parts", {0, 4}}, {"8 parts", {0, 8}},        {"as is best", {}}};
  print_title(harness.world(), "Lines, " + text(request.lines * request.line_rows) +
                                   " unknowns a rank: who solves the roots.");
  Papers::Table table(
      {"systems", "rows a rank", "ranks", "roots", "ms", "alone, ms", "eta", "worst row"});
  for (const std::int64_t longer : {1, 4, 16})
    Perf::for_sizes(harness.world().devices(), [&](int ranks) {
      for (const Named& way : ways) {
        const std::int64_t systems = std::max<std::int64_t>(1, request.lines / longer);
        const RankFigures r =
            harness.measure({ranks, 0}, {.matrix = Gallery::uniform,
                                         .rows = request.line_rows * longer * ranks,
                                         .repeats = request.repeats,
                                         .systems = systems,
                                         .way = way.way});
        table.add({text(systems), text(r.device_rows), text(ranks), way.name,
                   Papers::milliseconds(r.all), Papers::milliseconds(r.device_alone),
                   Papers::error(r.eta), Papers::error(r.of_row)});
      }
    });
  if (harness.world().prints()) table.print();
}

/// What a solve sends, without a solve, and solves that do little else. Caches are warm.
void print_collective(const RankHarness& harness, const RankRequest& request) {
  struct Message {
    double alone, with_copies;
  };
  const Exec exec;
  const std::int64_t samples = small_samples * request.repeats;
  print_title(harness.world(),
              "The collective call of a solve: 80 bytes from each rank to all; "
              "medians of " +
                  text(samples) + ", warm caches.");
  Papers::Table table({"ranks", "MPI_Allgather, us", "with copies, us",
                       text(small_rows) + " rows a rank, us", "alone, us"});
  const auto us = [](double seconds) { return number("%.4g", seconds * 1e6); };
  const auto messages = [&](MPI_Comm comm) -> Message {
    using Buffer = Trikkos::Impl::MessageBuffer<double, Exec>;
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    const auto words = static_cast<int>(Trikkos::Impl::RankWords<double>::count(1));
    const Buffer mine(exec, words), all(exec, words * ranks);
    Kokkos::deep_copy(exec, mine.device, 1.);
    mine.to_host(exec);
    const auto time = [&](const auto& work) {
      return Perf::slowest(comm, Perf::times(
                                     exec, comm, samples, [] {}, work));
    };
    const auto gather = [&] {
      MPI_Allgather(mine.host.data(), words, MPI_DOUBLE, all.host.data(), words, MPI_DOUBLE, comm);
    };
    return {time(gather), time([&] {
              mine.to_host(exec);
              gather();
              all.to_device(exec);
            })};
  };
  Perf::for_sizes(harness.world().devices(), [&](int ranks) {
    const Team team{ranks, 0};
    const Message message = on_team(harness.world(), team, messages);
    const RankFigures solve = harness.measure(team, {.matrix = Gallery::uniform,
                                                     .rows = small_rows * ranks,
                                                     .repeats = samples,
                                                     .has_cold_caches = false});
    table.add({text(ranks), us(message.alone), us(message.with_copies), us(solve.all),
               us(solve.device_alone)});
  });
  if (harness.world().prints()) table.print();
}

/// What ranks of the host add to those that have a device.
void print_mixed(const RankHarness& harness, const RankRequest& request) {
  const World& world = harness.world();
  print_title(world, "Devices and hosts: one system, " + text(request.strong_rows) +
                         " rows in all, shared by the speeds measured.");
  Papers::Table table({"matrix", "devices", "hosts", "rows a device", "rows a host", "ms",
                       "speedup", "device alone, ms", "host alone, ms", "eta", "worst row"});
  for (const Gallery matrix : matrices) {
    double of_devices = 0;
    for (const int hosts : {0, world.hosts()}) {
      const RankFigures r = harness.measure({world.devices(), hosts}, {.matrix = matrix,
                                                                       .rows = request.strong_rows,
                                                                       .repeats = request.repeats,
                                                                       .is_balanced = hosts > 0});
      if (hosts == 0) of_devices = r.all;
      table.add({name(matrix), text(world.devices()), text(hosts), text(r.device_rows),
                 hosts == 0 ? "" : text(r.host_rows), Papers::milliseconds(r.all),
                 Papers::factor(of_devices / r.all), Papers::milliseconds(r.device_alone),
                 hosts == 0 ? "" : Papers::milliseconds(r.host_alone), Papers::error(r.eta),
                 Papers::error(r.of_row)});
    }
  }
  if (world.prints()) table.print();
}

struct Entry {
  std::string_view name;
  void (*print)(const RankHarness&, const RankRequest&);
};
constexpr Entry entries[] = {{"weak", print_weak},
                             {"strong", print_strong},
                             {"collective", print_collective},
                             {"systems", print_systems},
                             {"lines", print_lines},
                             {"mixed", print_mixed},
                             {"figure14", Papers::figure14},
                             {"figure15", Papers::figure15},
                             {"figure16", Papers::figure16}};

/// Machine, backend, ranks and MPI.
void describe(const World& world, const RankRequest& request) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &node);
  int rank_of_node = 0, nodes = 0;
  MPI_Comm_rank(node, &rank_of_node);
  MPI_Comm_free(&node);
  const int is_first = rank_of_node == 0, mine = Kokkos::device_id();
  MPI_Reduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  std::vector<int> devices(world.size());
  MPI_Gather(&mine, 1, MPI_INT, devices.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!world.prints()) return;

#ifdef TRIKKOS_GIT_COMMIT
  const char* const commit = ", commit " TRIKKOS_GIT_COMMIT;
#else
  const char* const commit = "";
#endif
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, version = 0, subversion = 0;
  MPI_Get_library_version(library, &length);
  MPI_Get_version(&version, &subversion);
  const std::string_view words(library);
  const std::string mpi(words.substr(0, words.find_first_of(",\n")));
  std::string ranks = text(world.size()) + " ranks, nodes: " + text(nodes);
  if (mine >= 0) {
    ranks += ", devices in the order of ranks:";
    for (int r = 0; r < world.devices(); ++r) ranks += " " + text(devices[r]);
  }
  if (world.hosts() > 0)
    ranks += ", the last " + text(world.hosts()) + " of the host: " + Perf::Host::name() +
             " (concurrency " + text(Perf::Host().concurrency()) + ")";
  std::printf("%s, %s (concurrency %d), Kokkos %d, Trikkos %s%s; %s; %s (MPI %d.%d).\n",
              Perf::processor().c_str(), Exec::name(), Exec().concurrency(), KOKKOS_VERSION,
              TRIKKOS_VERSION_STRING, commit, ranks.c_str(), mpi.c_str(), version, subversion);
  std::printf("Medians of %lld times of the slowest rank. Alone: each rank's rows by itself.\n\n",
              static_cast<long long>(request.repeats));
}

using Wanted = std::vector<Entry>;

void run(const RankRequest& request, const Wanted& wanted) {
  const RankHarness harness(request);
  describe(harness.world(), request);
  for (const Entry& entry : wanted) entry.print(harness, request);
}

RankRequest read_command_line(int argc, char* argv[], Wanted& wanted) {
  RankRequest r;
  const std::map<std::string, std::int64_t*> counts = {
      {"--weak-rows", &r.weak_rows},   {"--strong-rows", &r.strong_rows},
      {"--systems", &r.systems},       {"--system-rows", &r.system_rows},
      {"--lines", &r.lines},           {"--line-rows", &r.line_rows},
      {"--paper-rows", &r.paper_rows}, {"--repeats", &r.repeats},
      {"--host-ranks", &r.host_ranks}};
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k], option = argument.substr(0, argument.find('='));
    const auto count = counts.find(option);
    const auto* const entry = std::find_if(std::begin(entries), std::end(entries),
                                           [&](const Entry& e) { return e.name == argument; });
    if (option.starts_with("--kokkos-")) continue;
    if (argument == "--help")
      r.help = true;
    else if (entry != std::end(entries))
      wanted.push_back(*entry);
    else if (count == counts.end())
      throw std::invalid_argument(option + ": no such " +
                                  (option.starts_with("-") ? "option" : "table") + ", see --help");
    else if (option == argument)
      throw std::invalid_argument(option + ": expected " + option + "=N, see --help");
    else
      *count->second = Example::number(option, argument.substr(option.size() + 1),
                                       count->second == &r.host_ranks ? 0 : 1,
                                       count->second == &r.repeats ? 6 : 10);
  }
  const int ranks = World().size();
  const auto refuse = [](const char* option, std::int64_t value, const std::string& expected) {
    throw std::invalid_argument(std::string(option) + " is '" + text(value) + "', expected " +
                                expected);
  };
  for (const char* option : {"--strong-rows", "--paper-rows"})
    if (*counts.at(option) < ranks)
      refuse(option, *counts.at(option), "at least one for each rank");
  if (r.host_ranks >= ranks)
    refuse("--host-ranks", r.host_ranks, "fewer than the " + text(ranks) + " ranks");
  const auto is_mixed = [](const Entry& e) { return e.print == print_mixed; };
  if (wanted.empty()) {
    wanted.assign(std::begin(entries), std::end(entries));
    if (r.host_ranks == 0) std::erase_if(wanted, is_mixed);
  }
  if (r.host_ranks == 0 && std::any_of(wanted.begin(), wanted.end(), is_mixed))
    throw std::invalid_argument("mixed: expected --host-ranks=H, see --help");
  return r;
}

void print_usage() {
  const RankRequest r;
  const auto line = [](const char* option, std::int64_t usual, const char* what) {
    std::printf("  %-16s %s, default %lld\n", option, what, static_cast<long long>(usual));
  };
  std::printf("usage: mpiexec -n RANKS Trikkos_PerfDistributed [OPTION | ");
  for (const Entry& entry : entries)
    std::printf("%s%s", entry.name == entries[0].name ? "" : " | ", entry.name.data());
  std::printf("]...\n");
  line("--weak-rows=N", r.weak_rows, "rows a rank of one system");
  line("--strong-rows=N", r.strong_rows, "rows in all of another");
  line("--systems=N", r.systems, "how many systems are solved together");
  line("--system-rows=N", r.system_rows, "rows a rank of each of them");
  line("--lines=N", r.lines, "systems of the table of lines, or a 4th or 16th");
  line("--line-rows=N", r.line_rows, "rows a rank of each of them, or 4 or 16 times as many");
  line("--paper-rows=N", r.paper_rows, "rows of figures, in all or for each part of the ranks");
  line("--host-ranks=H", r.host_ranks, "so many ranks, the last, solve on the host");
  line("--repeats=N", r.repeats, "times taken for a median");
}

}  // namespace

// Exit status: 1 for a large backward error or a Status that is not ok, 2 for a wrong command line
// or what a rank could not do.
int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  const int rank = World().rank();
  int result = 2;
  try {
    Wanted wanted;
    const RankRequest request = read_command_line(argc, argv, wanted);
    if (!request.help) {
      const Kokkos::ScopeGuard kokkos(argc, argv);
      try {
        run(request, wanted);
      } catch (const std::exception& e) {  // others may be waiting
        std::fprintf(stderr, "Trikkos_PerfDistributed: rank %d: %s\n", rank, e.what());
        MPI_Abort(MPI_COMM_WORLD, result);
      }
    } else if (rank == 0) {
      print_usage();
    }
    result = Perf::any_failed() ? 1 : 0;
  } catch (const std::exception& e) {  // the same on all ranks
    if (rank == 0) std::fprintf(stderr, "Trikkos_PerfDistributed: %s\n", e.what());
  }
  MPI_Finalize();
  return result;
}
