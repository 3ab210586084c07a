// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_EXCLUSIVESUM_HPP
#define TRIKKOS_IMPL_EXCLUSIVESUM_HPP

#include <algorithm>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_RelaxedMemory.hpp>
#include <impl/Trikkos_TeamScratch.hpp>

/// \file
/// From counts to starts, in place: what each of several items begins at, of how many it has.

namespace Trikkos::Impl {

/// What is to be known of counts, besides their sums.
struct CountFindings {
  std::int64_t *total = nullptr, *largest = nullptr;  // or null

  template <class Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_largest(Count some) const {
    if (largest == nullptr) return;
    const auto mine = static_cast<std::int64_t>(some);
    if (relaxed_load(largest) < mine) Kokkos::atomic_max(largest, mine);
  }
  template <class Count>
  KOKKOS_FORCEINLINE_FUNCTION void set_total(Count sum) const {
    if (total != nullptr) *total = sum;
  }
};

/// From counts to starts, in place; the last is the sum of all, whatever was there. A thread of the
/// scan takes a chunk of them: Kokkos' scan costs much more an item than to read one.
template <class Count>
struct ExclusiveSum {
  Count* count;
  std::int64_t size, chunk;
  CountFindings found;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, Count& sum, bool is_final) const {
    const std::int64_t last = size - 1, end = Kokkos::min((c + 1) * chunk, size);
    Count so_far = sum, largest(0);
    for (std::int64_t i = c * chunk; i < end; ++i) {
      const Count here = i == last ? Count(0) : count[i];
      if (is_final) count[i] = so_far;
      so_far += here;
      largest = Kokkos::max(largest, here);
    }
    sum = so_far;
    if (!is_final) return;
    found.add_largest(largest);
    if (end == size) found.set_total(so_far);
  }
};
/// The same of a few, in one kernel of a device and not two: each warp sums up what is adjacent.
template <class Count>
struct ExclusiveSumInTeam {
  static constexpr int warps = 32, warp = 32;
  static constexpr std::int64_t few = warps * warp * 16;

  Count* count;
  std::int64_t size;
  CountFindings found;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t last = size - 1, chunk = (size + warps - 1) / warps;
    const std::int64_t begin = Kokkos::min(member.team_rank() * chunk, last),
                       end = Kokkos::min(begin + chunk, last);
    Count mine(0), largest(0);
    const auto lanes = Kokkos::ThreadVectorRange(member, warp);
    Kokkos::parallel_reduce(
        lanes,
        [&](std::int64_t lane, Count& sum) {
          for (std::int64_t i = begin + lane; i < end; i += warp) sum += count[i];
        },
        mine);
    if (found.largest != nullptr)
      Kokkos::parallel_reduce(
          lanes,
          [&](std::int64_t lane, Count& most) {
            for (std::int64_t i = begin + lane; i < end; i += warp)
              most = Kokkos::max(most, count[i]);
          },
          Kokkos::Max<Count>(largest));
    // Not team_scan, in which Kokkos' CUDA backend takes threads of several lanes for lanes.
    Count* const sums = team_scratch<Count>(member);
    Kokkos::single(Kokkos::PerThread(member), [&] {
      sums[member.team_rank()] = mine;
      found.add_largest(largest);
    });
    member.team_barrier();
    Count before(0);
    for (int w = 0; w < member.team_rank(); ++w) before += sums[w];
    Kokkos::parallel_scan(Kokkos::ThreadVectorRange(member, end - begin),
                          [&](std::int64_t i, Count& sum, bool is_final) {
                            const Count here = count[begin + i];
                            if (is_final) count[begin + i] = before + sum;
                            sum += here;
                          });
    if (member.team_rank() < warps - 1) return;
    Kokkos::single(Kokkos::PerThread(member), [&] {
      count[last] = before + mine;
      found.set_total(before + mine);
    });
  }
  static constexpr int scratch_bytes() { return (warps + 1) * sizeof(Count); }
};
template <class Exec, class Count>
void sum_up(const Exec& exec, Count* count, std::int64_t size, const CountFindings& found = {}) {
  constexpr auto label = "Trikkos::TriangularPlan::sum";
  using InTeam = ExclusiveSumInTeam<Count>;
  if constexpr (!is_host_v<Exec>)
    if (size <= InTeam::few)
      return Kokkos::parallel_for(
          label,
          light(Kokkos::TeamPolicy<Exec>(exec, 1, InTeam::warps, InTeam::warp)
                    .set_scratch_size(0, Kokkos::PerTeam(InTeam::scratch_bytes()))),
          InTeam{count, size, found});
  constexpr std::int64_t many = 1 << 16, most = 16;
  const std::int64_t chunk = std::clamp<std::int64_t>(size / many, 1, most);
  Kokkos::parallel_scan(label, range(exec, (size + chunk - 1) / chunk),
                        ExclusiveSum<Count>{count, size, chunk, found});
}

}  // namespace Trikkos::Impl

#endif
