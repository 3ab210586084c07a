// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_WATCH_HPP
#define TRIKKOS_TEST_WATCH_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// \file
/// What Kokkos does while something runs, as Kokkos Tools tell.

namespace Test::Watching {

using Strings = std::vector<std::string>;

struct Event {
  std::string label;
  std::uint32_t device;  // as Kokkos::Tools::Experimental::device_id has it
};

struct Trace {
  std::vector<Event> kernels, fences;
  Strings regions, allocations, deallocations;
};

/// Records what Kokkos does during its life.
class Watch {
 public:
  explicit Watch(Trace& trace) : m_callbacks(Kokkos::Tools::Experimental::get_callbacks()) {
    using namespace Kokkos::Tools::Experimental;
    s_trace = &trace;
    set_begin_parallel_for_callback(begin_kernel);
    set_begin_parallel_reduce_callback(begin_kernel);
    set_begin_parallel_scan_callback(begin_kernel);
    set_begin_fence_callback(begin_fence);
    set_push_region_callback(push_region);
    set_allocate_data_callback(allocate);
    set_deallocate_data_callback(deallocate);
  }
  ~Watch() { Kokkos::Tools::Experimental::set_callbacks(m_callbacks); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  using Space = Kokkos::Tools::SpaceHandle;
  static void begin_kernel(const char* label, std::uint32_t device, std::uint64_t* id) {
    *id = 0;
    s_trace->kernels.push_back({label, device});
  }
  static void begin_fence(const char* label, std::uint32_t device, std::uint64_t* id) {
    *id = 0;
    // Kokkos itself fences around every callback, for the tool's sake.
    const bool ours = std::string(label).find("Kokkos Profile Tool Fence") == std::string::npos;
    if (ours) s_trace->fences.push_back({label, device});
  }
  static void push_region(const char* label) { s_trace->regions.push_back(label); }
  static void allocate(Space, const char* label, const void*, std::uint64_t) {
    s_trace->allocations.push_back(label);
  }
  static void deallocate(Space, const char* label, const void*, std::uint64_t) {
    s_trace->deallocations.push_back(label);
  }

  static inline Trace* s_trace = nullptr;
  Kokkos::Tools::Experimental::EventSet m_callbacks;
};

template <class Body>
Trace watch(const Body& body) {
  Trace trace;
  const Watch watching(trace);
  body();
  return trace;
}

// What breaks the contract, one line each; empty if nothing does.
inline Strings foreign_labels(const Trace& trace) {
  Strings found;
  const auto look = [&](const char* kind, const std::string& label) {
    if (!label.starts_with("Trikkos::")) found.push_back(kind + (" " + label));
  };
  for (const Event& e : trace.kernels) look("kernel", e.label);
  for (const std::string& label : trace.regions) look("region", label);
  for (const std::string& label : trace.allocations) {
    // Kokkos' own, when a Workspace prepares an instance for team launches
    if (label != "Kokkos::CudaSpace::TeamScratchMemory") look("allocation", label);
  }
  return found;
}
inline Strings foreign_kernels(const Trace& trace, std::uint32_t device) {
  Strings found;
  for (const Event& e : trace.kernels) {
    if (e.device != device) found.push_back(e.label + " on " + std::to_string(e.device));
  }
  return found;
}
inline Strings waits(const Trace& trace) {
  Strings found;
  for (const Event& e : trace.fences) found.push_back("fence " + e.label);
  for (const std::string& label : trace.allocations) found.push_back("allocation " + label);
  for (const std::string& label : trace.deallocations) found.push_back("deallocation " + label);
  return found;
}
inline bool has_region(const Trace& trace, const char* label) {
  return std::count(trace.regions.begin(), trace.regions.end(), label) > 0;
}

template <class Exec>
std::uint32_t device_id(const Exec& exec) {
  return Kokkos::Tools::Experimental::device_id(exec);
}

}  // namespace Test::Watching

#endif
