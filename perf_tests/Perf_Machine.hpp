// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_MACHINE_HPP
#define TRIKKOS_PERF_MACHINE_HPP

#include <Kokkos_Core.hpp>
#include <fstream>
#include <string>
#include <type_traits>

/// \file
/// What figures are worth nothing without.

namespace Perf {

/// The name of the processor or device that Kokkos' default execution space runs on.
inline std::string processor() {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::Cuda>) {
    return Kokkos::Cuda().cuda_device_prop().name;
  }
#endif
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace Perf

#endif
