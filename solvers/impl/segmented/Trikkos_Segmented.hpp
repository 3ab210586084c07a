// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTED_HPP
#define TRIKKOS_IMPL_SEGMENTED_HPP

#include <impl/partition/Trikkos_InKernelPartitions.hpp>
#include <impl/partition/Trikkos_Partitioned.hpp>
#include <impl/segmented/Trikkos_WideCarry.hpp>

namespace Trikkos::Impl {

/// The elimination for W diagonals on either side.
template <int W>
using CarryOf = std::conditional_t<W == 1, OrthogonalCarry, WideCarry<W>>;

template <>
struct FormsOf<Algorithm::segmented> {
  template <class T, class Exec, int W = 1>
  using Call = Partitioned<T, Exec, CarryOf<W>>;

  template <int W = 1>
  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n,
                                                                  const Options& options, bool) {
    return partition_team_words<CarryOf<W>>(n, options);
  }
  template <class T, int W, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member,
                                                           const Bands<T, W>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x,
                                                           const Options& options) {
    return solve_partitions_in_team<CarryOf<W>>(member, A, b, x, options);
  }
};

}  // namespace Trikkos::Impl

#endif
