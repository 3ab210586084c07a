// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTITIONED_HPP
#define TRIKKOS_IMPL_PARTITIONED_HPP

#include <impl/Trikkos_HostSystems.hpp>
#include <impl/Trikkos_OnChip.hpp>

namespace Trikkos::Impl {

/// `segmented` and `spike` as host calls: SIMD lanes and threads over groups of tiles on a host,
/// teams and their scratch on a device.
template <class T, class Exec, class Elimination>
using Partitioned = std::conditional_t<is_host_v<Exec>, HostSystems<T, Exec, Elimination>,
                                       DeviceSystems<T, Exec, Elimination>>;

}  // namespace Trikkos::Impl

#endif
