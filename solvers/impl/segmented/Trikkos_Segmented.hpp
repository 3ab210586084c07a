// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTED_HPP
#define TRIKKOS_IMPL_SEGMENTED_HPP

#include <impl/partition/Trikkos_Partitioned.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>

namespace Trikkos::Impl {

/// `Algorithm::segmented` as a host call.
template <class T, class Exec>
using Segmented = Partitioned<T, Exec, OrthogonalCarry>;

}  // namespace Trikkos::Impl

#endif
