// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <string>

#include "Papers_Table.hpp"
#include "Perf_Ranks.hpp"

/// \file
/// SC'12, Figures 14 to 16: random rows on several devices, on cores of hosts, and on both. "From
/// and to rank 0": A and b are on the first rank before, in the memory of its execution space, and
/// x afterwards.

namespace Papers {

namespace {

using Perf::RankFigures, Perf::RankHarness, Perf::RankRequest, Perf::Team, Perf::World;

std::string text(std::int64_t n) { return std::to_string(n); }

/// A heading, and what the paper says.
void print_heading(const World& world, const std::string& heading, const char* paper) {
  print_title(world, "## SC'12, " + heading + "\n\n> paper: " + paper);
}

RankFigures measure(const RankHarness& harness, const RankRequest& request, const Team& team,
                    std::int64_t rows) {
  return harness.measure(team, {.matrix = Trikkos::Gallery::uniform,
                                .rows = rows,
                                .repeats = request.repeats,
                                .is_balanced = team.devices > 0 && team.hosts > 0,
                                .is_moved = true});
}

/// On 1, 2, 4 ... devices.
void print_devices(const RankHarness& harness, const RankRequest& request, bool is_weak) {
  Table table({"devices", "rows a device", "in place, ms", "efficiency", "from and to rank 0, ms",
               "efficiency", "eta", "worst row"});
  RankFigures one{};
  Perf::for_sizes(harness.world().devices(), [&](int devices) {
    const int parts = is_weak ? devices : 1;
    const RankFigures r = measure(harness, request, {devices, 0}, request.paper_rows * parts);
    if (devices == 1) one = r;
    const auto efficiency = [&](double first, double seconds) {
      return factor(first * parts / (seconds * devices));
    };
    table.add({text(devices), text(r.device_rows), milliseconds(r.all), efficiency(one.all, r.all),
               milliseconds(r.moved), efficiency(one.moved, r.moved), error(r.eta),
               error(r.of_row)});
  });
  if (harness.world().prints()) table.print();
}

/// The ranks in as many parts as there are devices, as nodes are: of 1, 2, 4 ... of them the hosts,
/// the devices, and both.
void print_kinds(const RankHarness& harness, const RankRequest& request, bool is_weak) {
  const World& world = harness.world();
  struct Kind {
    const char* name;
    bool has_hosts, has_devices;
  };
  Table table({"ranks", "devices", "hosts", "rows", "rows a device", "rows a host", "in place, ms",
               "speedup", "from and to the first rank, ms", "speedup", "eta", "worst row"});
  for (const Kind& kind :
       {Kind{"hosts", true, false}, {"devices", false, true}, {"both", true, true}}) {
    RankFigures one{};
    if (kind.has_hosts && world.hosts() == 0) continue;
    Perf::for_sizes(world.devices(), [&](int parts) {
      const Team team{kind.has_devices ? parts : 0,
                      kind.has_hosts ? std::max(1, world.hosts() * parts / world.devices()) : 0};
      const std::int64_t rows = is_weak ? request.paper_rows * parts : request.paper_rows;
      const RankFigures r = measure(harness, request, team, rows);
      if (parts == 1) one = r;
      const double work = is_weak ? parts : 1;
      const auto count = [](int ranks, std::int64_t n) { return ranks == 0 ? "" : text(n); };
      table.add({kind.name, text(team.devices), text(team.hosts), text(rows),
                 count(team.devices, r.device_rows), count(team.hosts, r.host_rows),
                 milliseconds(r.all), factor(work * one.all / r.all), milliseconds(r.moved),
                 factor(work * one.moved / r.moved), error(r.eta), error(r.of_row)});
    });
  }
  if (world.prints()) table.print();
}

}  // namespace

void figure14(const RankHarness& harness, const RankRequest& request) {
  print_heading(harness.world(), "Figure 14: strong scaling, " + text(request.paper_rows) + " rows",
                "close to linear within a node, whose devices share the PCI-E bus; perfectly "
                "linear across nodes when the rows are\n> there already; with source and solution "
                "on one node, the time is that of distributing them by MPI.");
  print_devices(harness, request, false);
}

void figure15(const RankHarness& harness, const RankRequest& request) {
  print_heading(harness.world(),
                "Figure 15: weak scaling, " + text(request.paper_rows) + " rows a device",
                "scales well when the matrix grows with the number of devices.");
  print_devices(harness, request, true);
}

void figure16(const RankHarness& harness, const RankRequest& request) {
  const std::string rows = text(request.paper_rows) + " rows";
  print_heading(harness.world(),
                "Figure 16 (a), (b): hosts, devices and both, strong scaling, " + rows,
                "(a) in place: good strong scaling; (b) called from one node: distribution by MPI "
                "dominates. Up to 4 nodes of 2 GPUs\n> and 4 CPU cores.");
  print_kinds(harness, request, false);
  print_heading(harness.world(), "Figure 16 (c): the same, weak scaling, " + rows + " a part",
                "with distribution: its cost grows with the number of nodes, and fastest for "
                "CPUs and GPUs together, which are the most.");
  print_kinds(harness, request, true);
}

}  // namespace Papers
