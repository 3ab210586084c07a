// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TEAMLAUNCH_HPP
#define TRIKKOS_IMPL_TEAMLAUNCH_HPP

#include <Kokkos_Core.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <stdexcept>
#include <string>

/// \file
/// Kernels of teams. On CUDA they are launched here, not by Kokkos, as that has no kernels that
/// begin while the one before them ends (programmatic dependent launch, from sm_90 on), and before
/// version 5 does not grant all the scratch of a device. A kernel that overlaps finds its teams on
/// the device, and what does not depend on the kernel before it loaded, when that one is done.

namespace Trikkos::Impl {

/// From here on all that was launched before is done, and may be read and overwritten. Every thread
/// of a kernel that overlaps calls it; in others there is nothing to wait for.
KOKKOS_FORCEINLINE_FUNCTION void wait_for_kernels_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next kernel, if it overlaps, begins when each team of this one has called it, or ended.
KOKKOS_FORCEINLINE_FUNCTION void let_next_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// The same, but for a team that goes from work to work, which has done so before the first.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void wait_for_kernels_before(const Member&) {
  if constexpr (!requires { Member::restages; }) wait_for_kernels_before();
}
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void let_next_begin(const Member&) {
  if constexpr (!requires { Member::restages; }) let_next_begin();
}

/// How a kernel is launched.
struct League {
  int teams, threads;
  std::size_t scratch_bytes;  // of a team
  bool overlap = false;       // they begin while the kernel before ends
};

#ifdef KOKKOS_ENABLE_CUDA
/// Whether all code there is for devices has the instructions above: what is made from that of an
/// older architecture would not wait.
constexpr bool is_all_for_overlap() {
#  ifdef __CUDA_ARCH_LIST__
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture < 900) return false;
  return true;
#  else
  return false;
#  endif
}
inline bool has_overlap(const cudaDeviceProp& device) {
  return is_all_for_overlap() && device.major >= 9;
}

/// A block of threads as a team of Kokkos.
class BlockMember {
 public:
  KOKKOS_FORCEINLINE_FUNCTION int league_rank() const {
    KOKKOS_IF_ON_DEVICE((return blockIdx.x;))
    KOKKOS_IF_ON_HOST((return 0;))
  }
  KOKKOS_FORCEINLINE_FUNCTION int league_size() const {
    KOKKOS_IF_ON_DEVICE((return gridDim.x;))
    KOKKOS_IF_ON_HOST((return 1;))
  }
  KOKKOS_FORCEINLINE_FUNCTION int team_rank() const {
    KOKKOS_IF_ON_DEVICE((return threadIdx.x;))
    KOKKOS_IF_ON_HOST((return 0;))
  }
  KOKKOS_FORCEINLINE_FUNCTION int team_size() const {
    KOKKOS_IF_ON_DEVICE((return blockDim.x;))
    KOKKOS_IF_ON_HOST((return 1;))
  }
  KOKKOS_FORCEINLINE_FUNCTION void team_barrier() const { KOKKOS_IF_ON_DEVICE((__syncthreads();)) }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void team_broadcast(T& value, int from) const {
#  ifdef __CUDA_ARCH__
    __shared__ T shared;
    if (team_rank() == from) shared = value;
    __syncthreads();
    value = shared;
    __syncthreads();
#  endif
  }
  template <class Reducer>
  KOKKOS_FORCEINLINE_FUNCTION void team_reduce(const Reducer&) const {}  // of hosts
  KOKKOS_FORCEINLINE_FUNCTION const BlockMember& team_scratch(int) const { return *this; }
  KOKKOS_FORCEINLINE_FUNCTION void* get_shmem(std::size_t) const {
#  ifdef __CUDA_ARCH__
    extern __shared__ WideWord trikkos_scratch[];
    return trikkos_scratch;
#  else
    return nullptr;
#  endif
  }
};

template <int most_threads, class Kernel>
__global__ void __launch_bounds__(most_threads, 1)
    run_in_blocks(const __grid_constant__ Kernel kernel) {
  kernel(BlockMember());
}

template <int most_threads, class Kernel>
void launch_blocks(const Kokkos::Cuda& exec, const std::string& label, const League& league,
                   const Kernel& kernel) {
  constexpr auto run = run_in_blocks<most_threads, Kernel>;
  const cudaDeviceProp& device = exec.cuda_device_prop();
  const auto check = [&](cudaError_t error) {
    if (error == cudaSuccess) return;
    cudaGetLastError();  // nobody else is to find it
    throw std::runtime_error("Trikkos: launch of " + label + " by " + std::to_string(league.teams) +
                             " teams of " + std::to_string(league.threads) + " threads with " +
                             std::to_string(league.scratch_bytes) +
                             " bytes of scratch each: " + cudaGetErrorString(error));
  };
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(league.teams);
  config.blockDim = dim3(league.threads);
  config.dynamicSmemBytes = league.scratch_bytes;
  config.stream = exec.cuda_stream();
  config.attrs = &attribute;
  config.numAttrs = league.overlap && has_overlap(device);
  check(cudaSetDevice(exec.cuda_device()));
  if (league.scratch_bytes > device.sharedMemPerBlock)
    check(cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(league.scratch_bytes)));
  check(cudaLaunchKernelEx(&config, run, kernel));
}
#endif

/// A kernel of teams of at most `most_threads` threads.
template <int most_threads, class Exec, class Kernel>
void launch_teams_by_kokkos(const Exec& exec, const std::string& label, const League& league,
                            const Kernel& kernel) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<most_threads, 1>>;
  Kokkos::parallel_for(label,
                       light(Policy(exec, league.teams, league.threads)
                                 .set_scratch_size(0, Kokkos::PerTeam(league.scratch_bytes))),
                       kernel);
}
/// The same, which may overlap.
template <int most_threads, class Exec, class Kernel>
void launch_teams(const Exec& exec, const std::string& label, const League& league,
                  const Kernel& kernel) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    if (league.teams > 0)
      show_to_tools(exec, label, [&] { launch_blocks<most_threads>(exec, label, league, kernel); });
  } else
#endif
    launch_teams_by_kokkos<most_threads>(exec, label, league, kernel);
}

/// Of a device whose kernels overlap, or none.
template <class Exec>
int overlapping_multiprocessors(const Exec& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    const cudaDeviceProp& device = exec.cuda_device_prop();
    return has_overlap(device) ? device.multiProcessorCount : 0;
  }
#endif
  static_cast<void>(exec);
  return 0;
}

}  // namespace Trikkos::Impl

#endif
