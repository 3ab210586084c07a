// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THREADMEMBER_HPP
#define TRIKKOS_IMPL_THREADMEMBER_HPP

#include <Trikkos_Options.hpp>
#include <cstddef>
#include <impl/Trikkos_KernelTeam.hpp>

namespace Trikkos::Impl {

/// A thread by itself as a team of one, whose scratch is memory that the user gives.
struct ThreadMember {
  char* memory;
  std::size_t bytes;

  KOKKOS_INLINE_FUNCTION int team_rank() const { return 0; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return 1; }
  KOKKOS_INLINE_FUNCTION void team_barrier() const {}
  KOKKOS_INLINE_FUNCTION const ThreadMember& team_scratch(int) const { return *this; }
  KOKKOS_INLINE_FUNCTION char* get_shmem(std::size_t wanted) const {
    return wanted <= bytes ? memory : nullptr;
  }
};

template <>
class KernelTeam<ThreadMember> : public ThreadMember {
 public:
  KOKKOS_INLINE_FUNCTION explicit KernelTeam(const ThreadMember& member) : ThreadMember(member) {}
};

/// One thread has no use for more partitions than accuracy asks for.
KOKKOS_INLINE_FUNCTION constexpr Options options_of_thread(Options options) {
  const bool has_partitions =
      options.algorithm() != Algorithm::pcr && options.algorithm() != Algorithm::thomas;
  if (has_partitions && options.partition_size() == 0) options.partition_size(66);
  return options;
}

}  // namespace Trikkos::Impl

#endif
