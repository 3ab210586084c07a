// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Papers.hpp"
#include "Papers_Matrices.hpp"
#include "Papers_TimedSpike.hpp"

/// \file
/// SC'12, Figure 7: what data marshaling gains, and what it costs.

namespace Papers {

namespace {

using Trikkos::Marshaling;
using Trikkos::Options;

/// The passes of `Marshaling::global`: four vectors into the layout of the threads, one back.
double marshaling_time(Perf::Harness& harness, const Perf::Problem<double>& problem,
                       std::int64_t partition) {
  const std::int64_t partitions = problem.A.diag.extent(0) / partition;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Given = Kokkos::View<double**, Kokkos::LayoutRight, Perf::Exec, Unmanaged>;
  const Kokkos::View<double**, Kokkos::LayoutLeft, Perf::Exec> marshaled(
      Kokkos::view_alloc(harness.exec(), Kokkos::WithoutInitializing, "Papers::marshaled"),
      partitions, partition);
  const auto given = [&](double* data) { return Given(data, partitions, partition); };
  const auto& [A, b, x] = problem;
  return harness
      .time([] {},
            [&] {
              for (double* band : {A.lower.data(), A.diag.data(), A.upper.data(), b.data()})
                Trikkos::marshal(harness.exec(), given(band), marshaled);
              Trikkos::marshal(harness.exec(), marshaled, given(x.data()));
            })
      .median;
}

}  // namespace

void figure7(const Arguments& arguments) {
  std::printf(
      "## SC'12, Figure 7: data marshaling\n\n"
      "`spike`, diagonal pivoting, double, n = %lld. Paper, 8 million rows: 3.99 to 4.89 times as "
      "fast for `dominant` and `zero diagonal`\n(coefficients of neighbouring threads adjacent), "
      "minimal impact for `random`, whose threads drift apart. \"Drifting\" is what the paper's\n"
      "threads do, one pivot a step without tiling; \"in step\" is our default, one row a step. "
      "Gains are over `none`; \"solver\" is without the passes.\n\n",
      static_cast<long long>(arguments.rows));
  if (skipped_on_host("SpikeOptions::marshaling")) return;
  Perf::Harness harness = timing_harness(arguments);
  Table table({"matrix", "threads", "partition", "none, ms", "global, ms", "of it passes", "gain",
               "solver gain", "on_chip, ms", "gain", "eta", "status"},
              2);
  for (const Pivots pivots : all_pivots) {
    const Perf::Problem<double> system = problem(harness.exec(), pivots, arguments.rows);
    for (const bool drifting : {true, false}) {
      for (const std::int64_t partition : {64, 256}) {
        TimedSpike time(harness, system);
        const auto time_with = [&](Marshaling marshaling) {
          return time(Options{}.partition_size(partition).spike(
              {.marshaling = marshaling, .dynamic_tiling = drifting ? partition : 0}));
        };
        const double none = time_with(Marshaling::none);
        const double global = time_with(Marshaling::global);
        const bool fits = !drifting && partition <= 66;
        const double on_chip = fits ? time_with(Marshaling::on_chip) : 0;
        const Cells verdict = time.verdict();  // before x is overwritten
        const double passes = marshaling_time(harness, system, partition);
        table.add({name(pivots), drifting ? "drifting" : "in step", std::to_string(partition),
                   milliseconds(none), milliseconds(global), milliseconds(passes),
                   factor(none / global), factor(none / (global - passes)),
                   fits ? milliseconds(on_chip) : "", fits ? factor(none / on_chip) : "",
                   verdict[0], verdict[1]});
      }
    }
  }
  table.print();
}

}  // namespace Papers
