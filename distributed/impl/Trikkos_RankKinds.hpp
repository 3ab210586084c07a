// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKKINDS_HPP
#define TRIKKOS_IMPL_RANKKINDS_HPP

#include <Trikkos_Concepts.hpp>
#include <impl/Trikkos_Communicator.hpp>
#include <string_view>

/// \file
/// Whether ranks round alike. A device and a host do not, nor do programs compiled for different
/// processors: their rough roots differ, and so does what is fused. What two such ranks compute
/// from the same words differs by rounding errors times the condition of what they solve; values
/// where ranks meet must come from one of them then.

namespace Trikkos::Impl {

/// A number for the arithmetic of kernels on `exec`: of the same one, ranks have the same.
template <class Exec>
std::int64_t arithmetic_of(const Exec& exec) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add(is_host_v<Exec> ? "host" : Exec::name());
#ifdef __VERSION__
  add(__VERSION__);
#endif
#ifdef __OPTIMIZE__
  add("optimized");
#endif
#ifdef __FMA__
  add("fma");
#endif
#ifdef __AVX512F__
  add("avx512f");
#endif
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    const auto& device = exec.cuda_device_prop();
    add(std::to_string(10 * device.major + device.minor));
  }
#endif
  static_cast<void>(exec);
  return static_cast<std::int64_t>(hash >> 1);
}

/// What is true of all ranks. Collective.
struct RankKinds {
  bool round_alike, are_devices;

  template <class Exec>
  RankKinds(const Communicator& comm, const Exec& exec) {
    const std::int64_t arithmetic = arithmetic_of(exec),
                       mine[] = {arithmetic, -arithmetic, is_host_v<Exec> ? 0 : 1};
    std::int64_t least[3];
    comm.minimum_of_all(mine, least);
    round_alike = least[0] == -least[1];
    are_devices = least[2] == 1;
  }
};

}  // namespace Trikkos::Impl

#endif
