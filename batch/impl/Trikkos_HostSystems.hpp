// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_HOSTSYSTEMS_HPP
#define TRIKKOS_IMPL_HOSTSYSTEMS_HPP

#include <algorithm>
#include <impl/Trikkos_LaneSystems.hpp>
#include <impl/partition/Trikkos_HostPartitions.hpp>

namespace Trikkos::Impl {

/// `segmented` or `spike` on a host: partitions of a system in the lanes, or where there are enough
/// systems, systems.
template <class T, class Exec, class Elimination>
class HostSystems {
  static constexpr int W = Elimination::half_bandwidth;
  using Kernel = SolveLaneSystems<T, Elimination>;

 public:
  HostSystems(const Shape& shape, const Options& options)
      : m_partitions(shape, options),
        m_lanes(Elimination{}, shape.n, shape.count, options.partition_size(), lane_count<T>,
                Kernel::most_abreast, Exec().concurrency()),
        m_fills_lanes(shape.count >= lane_count<T>),
        m_watches(options.algorithm() == Algorithm::automatic && options.partition_size() == 0 &&
                  shape.n >= least_watched),
        m_slots(shape.n > LaneShape::longest_alone
                    ? std::min<std::int64_t>(shape.count, slots_of_thread * Exec().concurrency())
                    : 0) {}

  std::int64_t storage_words() const { return m_fills_lanes ? 0 : m_partitions.storage_words(); }
  std::int64_t shared_words() const {
    if (!m_fills_lanes) return 0;
    return std::max(m_lanes.groups * Kernel::group_words(m_lanes),
                    m_slots * m_partitions.storage_words());
  }
  std::int64_t parallel_items() const { return m_partitions.parallel_items(); }
  /// So many systems of one matrix are better solved at a time: it is read once for all.
  static constexpr std::int64_t at_once = 8;
  /// Matrices are read once anyway.
  bool is_one_pass() const { return m_fills_lanes; }
  /// Where they are read twice.
  const HostPartitions<T, Exec, Elimination>& passes() const { return m_partitions; }

  template <class Matrices = Systems<T, W>>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    if (!m_fills_lanes) return m_partitions.solve(exec, problem);
    if (problem.resets)
      launch_one(exec, Elimination::label("reset"), ResetDiagnosis{problem.diagnosis});
    if (is_one_by_one(problem)) return solve_one_by_one(exec, problem);
    SolveLaneSystems<T, Elimination, Matrices> kernel{problem, m_lanes};
    kernel.watches = m_watches;
    kernel.are_abreast = m_lanes.abreast > 1 && is_interleaved(problem);
    const std::int64_t tiles = SystemTiles(problem.slab(), lane_count<T>).count(problem.count());
    if (m_lanes.are_few && kernel.blocks(m_lanes) > 1 && tiles <= m_lanes.groups)
      return solve_divided(exec, kernel, tiles);
    Kokkos::parallel_for(Elimination::label("batch"), range(exec, m_lanes.groups), kernel);
  }

 private:
  /// Rows of systems that gain from it.
  static constexpr std::int64_t least_watched = 32;

  /// Neighbours side by side.
  template <class Matrices>
  static bool is_interleaved(const Problem<T, W, Matrices>& problem) {
    bool all = problem.b.system_stride == 1 && problem.x.system_stride == 1;
    if constexpr (!ComputedMatrices<Matrices>)
      for (int j = 0; j < 2 * W + 1; ++j) all = all && problem.A.stride[j] <= 1;
    return all && !problem.A.first.periodic;
  }
  /// Long contiguous systems are solved one by one, each as if it were the only one, even where
  /// they have one matrix: one in each lane would be many streams of memory, whose way back no
  /// cache holds.
  template <class Matrices>
  bool is_one_by_one(const Problem<T, W, Matrices>& problem) const {
    bool all = m_slots > 0 && problem.b.row_stride == 1 && problem.x.row_stride == 1;
    if constexpr (!ComputedMatrices<Matrices>)
      for (const auto& band : problem.A.first.band) all = all && band.stride == 1;
    return all;
  }
  template <class Matrices>
  void solve_one_by_one(const Exec& exec, Problem<T, W, Matrices> problem) const {
    problem.resets = false;
    if (problem.count() > m_slots)
      m_partitions.solve_each(exec, problem, m_slots);
    else  // few: all threads for each
      m_partitions.solve(exec, problem);
  }
  /// Where threads would have fewer systems than that each, they share every one.
  static constexpr std::int64_t slots_of_thread = 4;

  template <class Kernel>
  void solve_divided(const Exec& exec, const Kernel& kernel, std::int64_t tiles) const {
    const std::int64_t blocks = kernel.blocks(m_lanes);
    Kokkos::parallel_for(
        Elimination::label("batch_reduce"), range(exec, tiles * blocks),
        [kernel, blocks](std::int64_t i) { kernel.reduce_block(i / blocks, i % blocks); });
    Kokkos::parallel_for(Elimination::label("batch_chain"), range(exec, tiles),
                         [kernel](std::int64_t t) { kernel.chain_blocks(t); });
    Kokkos::parallel_for(
        Elimination::label("batch_substitute"), range(exec, tiles * blocks),
        [kernel, blocks](std::int64_t i) { kernel.substitute_block(i / blocks, i % blocks); });
  }

  HostPartitions<T, Exec, Elimination> m_partitions;
  LaneShape m_lanes;
  bool m_fills_lanes, m_watches;
  std::int64_t m_slots;  // long systems that are solved at a time, one by one
};

}  // namespace Trikkos::Impl

#endif
