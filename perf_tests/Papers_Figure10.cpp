// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Papers.hpp"
#include "Papers_Matrices.hpp"
#include "Papers_TimedSpike.hpp"

/// \file
/// SC'12, Figure 10: what dynamic tiling gains.

namespace Papers {

void figure10(const Arguments& arguments) {
  std::printf(
      "## SC'12, Figure 10: dynamic tiling\n\n"
      "`spike`, diagonal pivoting, double, n = %lld: ms for tiles of so many rows. Paper, 8 "
      "million "
      "rows: up to 3.56 times as fast for `random`, minimal\noverhead elsewhere. \"Untiled\": a "
      "pivot a step, never waiting, as in the paper's baseline. \"In step\": our default, a row a "
      "step. Gains are over untiled.\n\n",
      static_cast<long long>(arguments.rows));
  if (skipped_on_host("SpikeOptions::dynamic_tiling")) return;
  Perf::Harness harness = timing_harness(arguments);
  const std::int64_t tiles[] = {4, 8, 16, 32, 64};
  Cells head = {"matrix", "marshaling", "partition", "untiled"};
  for (const std::int64_t tile : tiles) head.push_back(std::to_string(tile));
  for (const char* column : {"best gain", "in step", "gain", "eta", "status"})
    head.push_back(column);
  Table table(head, 2);
  for (const Pivots pivots : all_pivots) {
    const Perf::Problem<double> system = problem(harness.exec(), pivots, arguments.rows);
    for (const auto marshaling : {Trikkos::Marshaling::global, Trikkos::Marshaling::none}) {
      for (const std::int64_t partition : {64, 256}) {
        TimedSpike solve(harness, system);
        const auto time = [&](std::int64_t tile) {
          return solve(Trikkos::Options{}.partition_size(partition).spike(
              {.marshaling = marshaling, .dynamic_tiling = tile}));
        };
        const double untiled = time(partition), in_step = time(0);
        Cells row = {name(pivots), marshaling == Trikkos::Marshaling::global ? "global" : "none",
                     std::to_string(partition), milliseconds(untiled)};
        double best = Kokkos::Experimental::infinity_v<double>;
        for (const std::int64_t tile : tiles) {
          if (tile >= partition) {  // the same as untiled
            row.push_back("");
            continue;
          }
          const double tiled = time(tile);
          best = std::min(best, tiled);
          row.push_back(milliseconds(tiled));
        }
        const Cells verdict = solve.verdict();
        for (const std::string& cell : {factor(untiled / best), milliseconds(in_step),
                                        factor(untiled / in_step), verdict[0], verdict[1]})
          row.push_back(cell);
        table.add(row);
      }
    }
  }
  table.print();
}

}  // namespace Papers
