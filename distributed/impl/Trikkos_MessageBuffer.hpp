// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MESSAGEBUFFER_HPP
#define TRIKKOS_IMPL_MESSAGEBUFFER_HPP

#include <Kokkos_Core.hpp>
#include <Trikkos_Concepts.hpp>
#include <cstdint>

namespace Trikkos::Impl {

/// Of the host, for messages, and where kernels can reach it. Pinned where there is a device, so
/// that copies are asynchronous and take half the time.
template <class T, class Exec>
struct MessageBuffer {
  using Memory = typename Exec::memory_space;
  using HostMemory = std::conditional_t<is_host_v<Exec>, Memory, Kokkos::SharedHostPinnedSpace>;

  Kokkos::View<T*, HostMemory> host;
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
    start_to_host(exec, 0, host.extent(0));
    exec.fence("Trikkos::distributed: a message is on the host");
  }
  void to_device(const Exec& exec) const { to_device(exec, 0, host.extent(0)); }

  /// Some of it.
  void start_to_host(const Exec& exec, std::int64_t first, std::int64_t count) const {
    if constexpr (!is_host_v<Exec>) copy(exec, host, device, first, count);
  }
  void to_device(const Exec& exec, std::int64_t first, std::int64_t count) const {
    if constexpr (!is_host_v<Exec>) copy(exec, device, host, first, count);
  }

 private:
  static void copy(const Exec& exec, const auto& to, const auto& from, std::int64_t first,
                   std::int64_t count) {
    const Kokkos::pair<std::int64_t, std::int64_t> range(first, first + count);
    Kokkos::deep_copy(exec, Kokkos::subview(to, range), Kokkos::subview(from, range));
  }
};

}  // namespace Trikkos::Impl

#endif
