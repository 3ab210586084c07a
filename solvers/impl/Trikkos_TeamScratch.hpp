// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TEAMSCRATCH_HPP
#define TRIKKOS_IMPL_TEAMSCRATCH_HPP

#include <algorithm>
#include <cstdint>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_KernelTeam.hpp>

namespace Trikkos::Impl {

inline constexpr int scratch_limit = 48 * 1024;  // what every backend grants at level 0 ...

KOKKOS_INLINE_FUNCTION constexpr int scratch_reserved(int team_size) {
  return 8 * (team_size + 2) + 32;  // ... less what Kokkos keeps for team reductions and itself
}

/// What teams of a kernel may ask for: Kokkos 5 grants what the device has.
template <class Exec>
int granted_scratch() {
  return std::max(scratch_limit, Kokkos::TeamPolicy<Exec>::scratch_size_max(0));
}

/// The same of `launch_teams`: all that the default device has.
template <class Exec>
int scratch_of_teams() {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>)
    return static_cast<int>(Exec().cuda_device_prop().sharedMemPerBlockOptin);
#endif
  return granted_scratch<Exec>();
}

/// The scratch that a kernel was launched with, the last few bytes of which are for alignment.
template <class T, std::size_t alignment = alignof(T), class Member>
KOKKOS_FORCEINLINE_FUNCTION T* team_scratch(const Member& member) {
  // Of no bytes, of which there are always enough: each use of a pointer that may be null is a
  // select. Not get_shmem_aligned, which divides 64-bit numbers. An offset, not a mask: compilers
  // must see that what it points to is still scratch.
  auto* const start = static_cast<char*>(member.team_scratch(0).get_shmem(0));
  const auto offset = -reinterpret_cast<std::uintptr_t>(start) & (alignment - 1);
  return reinterpret_cast<T*>(start + offset);
}

// ---- scratch of a user's kernel

/// Bytes for `words` scalars, and for the row that is reported.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr std::size_t team_bytes(std::int64_t words) {
  constexpr std::size_t aligned = alignof(T) > 8 ? alignof(T) : 8;
  return words == 0 ? 0 : 2 * aligned + sizeof(T) * static_cast<std::size_t>(words);
}

/// What lies in such memory.
template <class T>
struct AlignedScratch {
  std::int64_t* row;
  T* words;
};
template <class T>
KOKKOS_INLINE_FUNCTION AlignedScratch<T> aligned_scratch(char* start) {
  constexpr std::size_t aligned = alignof(T) > 8 ? alignof(T) : 8;
  start += (aligned - reinterpret_cast<std::uintptr_t>(start) % aligned) % aligned;
  return {reinterpret_cast<std::int64_t*>(start), reinterpret_cast<T*>(start + aligned)};
}

/// Lets `body(team, memory)` work in scratch. Returns the smallest of the threads' results, to all.
template <class T, class Member, class Body>
KOKKOS_INLINE_FUNCTION std::int64_t in_scratch(const Member& member, std::int64_t words,
                                               const Body& body) {
  // A copy of the handle: what is allocated from it is free again when this function returns.
  const auto scratch = member.team_scratch(0);
  auto* const start = static_cast<char*>(scratch.get_shmem(team_bytes<T>(words)));
  if (start == nullptr)
    Kokkos::abort(
        "Trikkos::solve: the team has too little scratch, expected Trikkos::team_scratch_bytes "
        "at level 0");
  const auto [smallest, memory] = aligned_scratch<T>(start);
  const KernelTeam<Member> team(member);
  constexpr std::int64_t none = Diagnosis::clear;
  if (team.team_rank() == 0) *smallest = none;
  team.team_barrier();
  const std::int64_t mine = body(team, memory);
  if (mine < none) Kokkos::atomic_min(smallest, mine);
  team.team_barrier();
  const std::int64_t result = *smallest;
  team.team_barrier();  // nobody writes there again before all have read it
  return result;
}

}  // namespace Trikkos::Impl

#endif
