// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_MANYSYSTEMS_HPP
#define TRIKKOS_PERF_MANYSYSTEMS_HPP

#include "Perf_Problem.hpp"

/// \file
/// Where the rows of many systems are.

namespace Perf {

using Vector = Kokkos::View<double*, Exec>;
using Array = Kokkos::View<double**, Kokkos::LayoutStride, Exec>;

/// `count` systems of n rows, side by side in memory (contiguous) or alternating (interleaved).
struct ManySystems {
  std::int64_t n, count;
  bool interleaved;

  std::int64_t unknowns() const { return n * count; }
  /// (system, row)
  Array array(const Vector& memory) const {
    return Array(memory.data(), interleaved ? Kokkos::LayoutStride(count, 1, n, count)
                                            : Kokkos::LayoutStride(count, n, n, 1));
  }
};

inline std::string name(const ManySystems& systems) {
  return "n:" + std::to_string(systems.n) + "/" +
         (systems.interleaved ? "interleaved/" : "contiguous/");
}

/// All that are measured, of about as many unknowns each.
inline std::vector<ManySystems> many_systems(const Harness& harness) {
  const std::int64_t unknowns = harness.sizes({on_host ? 1 << 22 : 1 << 25}).front();
  std::vector<ManySystems> result;
  for (const std::int64_t n : {64, 100, 256, 1000, 1024, 3000, 4096})
    for (const bool interleaved : {false, true}) {
      const std::int64_t rows = std::min(n, unknowns);
      result.push_back({rows, std::max<std::int64_t>(unknowns / rows, 1), interleaved});
    }
  return result;
}

}  // namespace Perf

#endif
