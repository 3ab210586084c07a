// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MESSAGEBUFFER_HPP
#define TRIKKOS_IMPL_MESSAGEBUFFER_HPP

#include <Kokkos_Core.hpp>
#include <Trikkos_Concepts.hpp>
#include <cstdint>

namespace Trikkos::Impl {

/// Of the host, for messages, and where kernels can reach it.
template <class T, class Exec>
struct MessageBuffer {
  using Memory = typename Exec::memory_space;

  Kokkos::View<T*, Kokkos::HostSpace> host;
  Kokkos::View<T*, Memory> device;  // the same memory, if that is the host's

  MessageBuffer() = default;
  MessageBuffer(const Exec& exec, std::int64_t count)
      : host(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Trikkos::distributed::message"),
             count) {
    if constexpr (is_host_v<Exec>)
      device = host;
    else
      device = Kokkos::View<T*, Memory>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::distributed::message"),
          count);
  }
  /// Waits.
  void to_host(const Exec& exec) const {
    if constexpr (!is_host_v<Exec>) Kokkos::deep_copy(exec, host, device);
    exec.fence("Trikkos::distributed: a message is on the host");
  }
  void to_device(const Exec& exec) const {
    if constexpr (!is_host_v<Exec>) Kokkos::deep_copy(exec, device, host);
  }
};

}  // namespace Trikkos::Impl

#endif
