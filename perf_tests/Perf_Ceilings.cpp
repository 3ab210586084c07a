// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Perf_Harness.hpp"

/// \file
/// How fast this machine moves the arrays of a tridiagonal system of n rows in double (five words a
/// row) when it does nothing else: the ceilings that the fractions of floor refer to.

namespace {

using Perf::Harness;

template <int Reads>
void add_stream(Harness& harness, const std::string& kernel, std::int64_t n) {
  const std::string name = "ceilings/" + kernel + "/double/n:" + std::to_string(n);
  Perf::add(name, [&harness, n](benchmark::State& state) {
    const std::int64_t bytes = 5 * n * static_cast<std::int64_t>(sizeof(double));
    const Perf::Time time = harness.stream_time<Reads>(bytes);
    const auto moved = static_cast<double>(Harness::stream_bytes(bytes, Reads + 1));
    state.counters["ns/row"] = time.median / static_cast<double>(n) * 1e9;
    state.counters["GB/s"] = moved / time.median * 1e-9;
    return time;
  });
}

const Perf::Registration registration([](Harness& harness) {
  const auto sizes = Perf::on_host ? harness.sizes({1 << 20, 1 << 22, 1 << 24})
                                   : harness.sizes({1 << 20, 1 << 23, 1 << 25, 1 << 27});
  for (const std::int64_t n : sizes) {
    add_stream<0>(harness, "fill", n);
    add_stream<1>(harness, "copy", n);
    add_stream<4>(harness, "read4_write1", n);
  }
});

}  // namespace
