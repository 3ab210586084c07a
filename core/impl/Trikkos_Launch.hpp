// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LAUNCH_HPP
#define TRIKKOS_IMPL_LAUNCH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

namespace Trikkos::Impl {

/// The policy, for functors of any size. Without the hint Kokkos' CUDA backend copies a functor of
/// 512 bytes and more to constant memory, and waits for the kernel that used it before.
template <class Policy>
auto light(const Policy& policy) {
  return Kokkos::Experimental::require(policy,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// [0, count), 64-bit.
template <class Tag = void, class Exec>
auto range(const Exec& exec, std::int64_t count) {
  if constexpr (std::is_void_v<Tag>)
    return light(Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count));
  else
    return light(Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Tag>(exec, 0, count));
}

/// Whether a kernel is done when its launch returns, so that the calling thread may as well do it.
template <class Exec>
inline constexpr bool works_at_once_v = false;
#ifdef KOKKOS_ENABLE_SERIAL
template <>
inline constexpr bool works_at_once_v<Kokkos::Serial> = true;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
inline constexpr bool works_at_once_v<Kokkos::OpenMP> = true;
#endif

/// run(): a kernel that Kokkos does not launch, for tools one like those that it does.
template <class Exec, class Run>
void show_to_tools(const Exec& exec, const std::string& label, const Run& run) {
  std::uint64_t id = 0;
  const bool is_watched = Kokkos::Tools::profileLibraryLoaded();
  if (is_watched)
    Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  run();
  if (is_watched) Kokkos::Tools::endParallelFor(id);
}

/// kernel(0): a kernel of one item. Where the caller can be the thread that does it, no other is
/// woken up, which would cost some microseconds, and milliseconds where cores are busy.
template <class Exec, class Kernel>
void launch_one(const Exec& exec, const std::string& label, const Kernel& kernel) {
  if constexpr (works_at_once_v<Exec>) {
    show_to_tools(exec, label, [&] { kernel(0); });
  } else {
    Kokkos::parallel_for(label, range(exec, 1), kernel);
  }
}

}  // namespace Trikkos::Impl

#endif
