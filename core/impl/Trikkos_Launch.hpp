// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LAUNCH_HPP
#define TRIKKOS_IMPL_LAUNCH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

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

}  // namespace Trikkos::Impl

#endif
