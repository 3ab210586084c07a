// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TEAMSCRATCH_HPP
#define TRIKKOS_IMPL_TEAMSCRATCH_HPP

#include <Trikkos_Concepts.hpp>

namespace Trikkos::Impl {

inline constexpr int scratch_limit = 48 * 1024;  // what every backend grants at level 0 ...

KOKKOS_INLINE_FUNCTION constexpr int scratch_reserved(int team_size) {
  return 8 * (team_size + 2);  // ... less what Kokkos keeps of it for team reductions
}

/// `bytes` of the team's scratch, of which the last few are for alignment.
template <class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T* team_scratch(const Member& member, std::size_t bytes) {
  return static_cast<T*>(member.team_scratch(0).get_shmem_aligned(bytes - alignof(T), alignof(T)));
}

}  // namespace Trikkos::Impl

#endif
