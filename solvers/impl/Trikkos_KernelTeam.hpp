// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_KERNELTEAM_HPP
#define TRIKKOS_IMPL_KERNELTEAM_HPP

#include <Trikkos_Concepts.hpp>

namespace Trikkos::Impl {

/// The team of a Kokkos kernel. Of the vector lanes of a thread, one works: what is
/// updated in place must not be so by two.
template <class Member>
class KernelTeam {
 public:
  KOKKOS_INLINE_FUNCTION explicit KernelTeam(const Member& member)
      : m_member(member), m_rank(idle) {
    Kokkos::single(Kokkos::PerThread(member), [&] { m_rank = m_member.team_rank(); });
  }
  KOKKOS_INLINE_FUNCTION int team_rank() const { return m_rank; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return m_member.team_size(); }
  KOKKOS_INLINE_FUNCTION void team_barrier() const { m_member.team_barrier(); }

 private:
  static constexpr int idle = 1 << 30;  // beyond all rows

  const Member& m_member;
  int m_rank;
};

template <class Member>
inline constexpr bool is_kernel_team_v = false;
template <class Member>
inline constexpr bool is_kernel_team_v<KernelTeam<Member>> = true;

/// How many threads, the first of a team, have a barrier of their own: those of a warp. None in a
/// user's kernel, where a thread may have vector lanes.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION constexpr int threads_of_warp() {
#ifdef __CUDA_ARCH__
  if (!is_kernel_team_v<Member>) return 32;
#endif
  return 0;
}
KOKKOS_FORCEINLINE_FUNCTION void warp_barrier() {
#ifdef __CUDA_ARCH__
  __syncwarp();
#endif
}

/// A barrier of a whole team, and whether any of its threads says so.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION bool any_in_team(const Member& member, bool mine) {
#ifdef __CUDA_ARCH__
  static_cast<void>(member);
  return __syncthreads_or(mine) != 0;
#else
  int any = mine;
  member.team_reduce(Kokkos::Max<int>(any));
  member.team_barrier();
  return any != 0;
#endif
}

}  // namespace Trikkos::Impl

#endif
