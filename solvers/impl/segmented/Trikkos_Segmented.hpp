// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTED_HPP
#define TRIKKOS_IMPL_SEGMENTED_HPP

#include <impl/partition/Trikkos_InKernelPartitions.hpp>
#include <impl/partition/Trikkos_Partitioned.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>

namespace Trikkos::Impl {

template <>
struct FormsOf<Algorithm::segmented> {
  template <class T, class Exec>
  using Call = Partitioned<T, Exec, OrthogonalCarry>;

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n,
                                                                  const Options& options, bool) {
    return partition_team_words<OrthogonalCarry>(n, options);
  }
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member, const Bands<T>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x,
                                                           const Options& options) {
    return solve_partitions_in_team<OrthogonalCarry>(member, A, b, x, options);
  }
};

}  // namespace Trikkos::Impl

#endif
