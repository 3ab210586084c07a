// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <functional>

#include "Papers.hpp"
#include "Papers_Lapack.hpp"
#include "Papers_ManySystems.hpp"
#include "Papers_Solver.hpp"
#include "Papers_Table.hpp"

/// \file
/// CTAC 2014, Figures 1 and 2: how many small diagonally dominant systems are solved in a second.

namespace Papers {

namespace {

constexpr std::int64_t sizes[] = {64, 128, 256, 512, 1024};

/// One way to solve many systems: leaves their solutions in the problem.
template <class T>
struct Way {
  std::string name;
  bool is_ours;
  std::function<Outcome(const ManySystems<T>&)> solve;
};

template <class T>
std::vector<Way<T>> all_ways(Perf::Harness& harness) {
  using Trikkos::Algorithm;
  using Trikkos::Options;
  std::vector<Way<T>> ways;
  const auto add_team = [&](int threads) {
    ways.push_back(
        {number("pcr, teams of %.0f", threads), true, [threads](const ManySystems<T>& systems) {
           return systems.template by_teams<Algorithm::pcr>(threads);
         }});
  };
  if (Perf::on_host)
    add_team(1);
  else
    for (const int threads : {32, 64, 128, 256}) add_team(threads);

  const auto add_concatenated = [&](const std::string& name, const Options& options) {
    ways.push_back({name + ", concatenated", true,
                    [&harness, solver = ours<T>(name, options)](const ManySystems<T>& systems) {
                      return solver.solve(harness, systems.problem);
                    }});
  };
  for (const int partition : {16, 32})
    add_concatenated(number("spike, partitions of %.0f", partition),
                     Options{}.algorithm(Algorithm::spike).partition_size(partition));
  add_concatenated("segmented", Options{}.algorithm(Algorithm::segmented));

  ways.push_back({"thomas, a thread each", true,
                  [](const ManySystems<T>& systems) { return systems.by_threads(); }});
#ifdef TRIKKOS_HAVE_LAPACK
  ways.push_back({std::string(gtsv) + ", one thread", false,
                  [&harness](const ManySystems<T>& systems) -> Outcome {
                    return {lapack(harness, systems.problem, systems.count()), ""};
                  }});
#endif
  return ways;
}

template <class T>
void print(const Arguments& arguments) {
  Perf::Harness harness = timing_harness(arguments);
  // Teams launched on an instance without one cost CUDA an allocation each (Trikkos_Marshal.hpp).
  const Trikkos::Workspace<T, Perf::Exec> prepare(harness.exec(), 2, 1);
  const std::vector<Way<T>> ways = all_ways<T>(harness);

  std::vector<Cells> rates, fractions;
  for (const Way<T>& way : ways) {
    rates.push_back({way.name});
    fractions.push_back({way.name});
  }
  std::vector<double> worst(ways.size(), 0);
  std::vector<std::string> complaints(ways.size(), "ok");
  Cells head = {"solver"};
  for (const std::int64_t n : sizes) {
    head.push_back(number("n = %.0f", static_cast<double>(n)));
    const std::int64_t count = std::max<std::int64_t>(1, arguments.rows / n);
    const double bytes = 5. * sizeof(T) * static_cast<double>(n * count);  // A, b and x once
    const double ceiling = harness.ceiling(static_cast<std::int64_t>(bytes));
    const ManySystems<T> systems(harness, n, count);
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const auto& [A, b, x] = systems.problem;
      Kokkos::deep_copy(x, T(0));  // nobody inherits a solution
      const Outcome outcome = ways[k].solve(systems);
      const double seconds = outcome.time.median;
      if (seconds != seconds) {  // no such team
        rates[k].push_back("");
        fractions[k].push_back("");
        continue;
      }
      const double eta = Trikkos::backward_error(harness.exec(), A, x, b);
      expect_accurate(Solver<T>{ways[k].name, ways[k].is_ours, {}}, outcome, eta);
      worst[k] = std::max(worst[k], eta);
      if (!outcome.ok()) complaints[k] = outcome.complaint;
      rates[k].push_back(number("%.3g", static_cast<double>(count) / seconds));
      fractions[k].push_back(factor(bytes / ceiling / seconds));
    }
  }

  const auto print_rows = [&](const char* what, const Cells& heading, const auto& rows) {
    std::printf("%s, %s:\n\n", Perf::type_name<T>(), what);
    Table table(heading);
    for (const Cells& row : rows) table.add(row);
    table.print();
  };
  Cells rate_head = head;
  rate_head.insert(rate_head.end(), {"worst eta", "status"});
  for (std::size_t k = 0; k < ways.size(); ++k)
    rates[k].insert(rates[k].end(), {error(worst[k]), complaints[k]});
  print_rows("systems per second", rate_head, rates);
  print_rows("fraction of one pass", head, fractions);
}

}  // namespace

void throughput(const Arguments& arguments) {
  std::printf(
      "## CTAC 2014, Figures 1 and 2: many small systems\n\n"
      "Diagonally dominant (`uniform_dominant`), %lld rows together, from cold caches. \"One "
      "pass\": the time to stream A, b and x once,\nas measured in this process, over the time "
      "taken. `thomas` finds its systems in the layout that its threads prefer, the others one\n"
      "behind the other. The paper's figures are curves without numbers.\n\n",
      static_cast<long long>(arguments.rows));
  print<float>(arguments);
  print<double>(arguments);
}

}  // namespace Papers
