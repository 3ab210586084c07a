// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_BLOCKMETHODS_HPP
#define TRIKKOS_IMPL_BLOCKMETHODS_HPP

#include <impl/Trikkos_LaneSystems.hpp>
#include <impl/Trikkos_OnChip.hpp>
#include <impl/partition/Trikkos_BlockSystems.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <limits>

/// \file
/// `segmented` for a block of rows: up to a segment for each system, and down from the values
/// around them.

namespace Trikkos::Impl {

template <class T>
using BlockProblem = Problem<T, 1, BlockSystems<T>>;

/// Partitions of a system in the SIMD lanes, or where there are enough systems, systems: their
/// segments are then made twice, and nothing is kept between the passes.
template <class T, class Exec>
class HostBlocks {
 public:
  HostBlocks(const Shape& shape, const Options& options)
      : m_partitions(shape, options),
        m_lanes(OrthogonalCarry{}, shape.n, shape.count, options.partition_size(), lane_count<T>,
                /*most_abreast=*/1, Exec().concurrency()),
        m_fills_lanes(shape.count >= lane_count<T>) {}

  std::int64_t storage_words() const { return m_fills_lanes ? 0 : m_partitions.storage_words(); }
  std::int64_t shared_words() const {
    return m_fills_lanes ? m_lanes.groups * Lanes::group_words(m_lanes) : 0;
  }
  std::int64_t most_systems() const { return std::numeric_limits<std::int64_t>::max(); }

  void reduce(const Exec& exec, const BlockProblem<T>& problem,
              const PackedSegments<T>& segments) const;
  void substitute(const Exec& exec, const BlockProblem<T>& problem,
                  const PackedBounds<T>& bounds) const;

 private:
  using Lanes = SolveLaneSystems<T, OrthogonalCarry, BlockSystems<T>>;

  HostPartitions<T, Exec, OrthogonalCarry> m_partitions;
  LaneShape m_lanes;
  bool m_fills_lanes;
};

// Outside the class, so not inline: an `extern template class HostBlocks<double, Exec>` keeps the
// kernels out of a translation unit.

template <class T, class Exec>
void HostBlocks<T, Exec>::reduce(const Exec& exec, const BlockProblem<T>& problem,
                                 const PackedSegments<T>& segments) const {
  if (!m_fills_lanes) {
    m_partitions.reduce(exec, problem);
    m_partitions.merge(exec, problem, segments);
    return;
  }
  const Lanes lanes{problem, m_lanes};
  Kokkos::parallel_for(
      "Trikkos::segmented::reduce_batch", range(exec, m_lanes.groups),
      [lanes, segments](std::int64_t group) { lanes.reduce_blocks(group, segments); });
}
template <class T, class Exec>
void HostBlocks<T, Exec>::substitute(const Exec& exec, const BlockProblem<T>& problem,
                                     const PackedBounds<T>& bounds) const {
  if (!m_fills_lanes) {
    m_partitions.spread(exec, problem, bounds);
    m_partitions.substitute(exec, problem);
    return;
  }
  const Lanes lanes{problem, m_lanes};
  Kokkos::parallel_for(
      "Trikkos::segmented::substitute_batch", range(exec, m_lanes.groups),
      [lanes, bounds](std::int64_t group) { lanes.substitute_blocks(group, bounds); });
}

/// The same by the teams of a device, each of which has a tile of a system, or short ones whole.
template <class T, class Exec>
class DeviceBlocks {
 public:
  DeviceBlocks(const Shape& shape, const Options& options)
      : m_on_chip(shape, options), m_partitions(shape, options) {}

  std::int64_t storage_words() const { return m_on_chip.fits() ? 0 : m_partitions.storage_words(); }
  std::int64_t shared_words() const { return 0; }
  /// That one launch has teams for.
  std::int64_t most_systems() const {
    return std::numeric_limits<int>::max() /
           std::max<std::int64_t>(m_partitions.parallel_items(), 1);
  }

  void reduce(const Exec& exec, const BlockProblem<T>& problem,
              const PackedSegments<T>& segments) const {
    if (m_on_chip.fits()) return m_on_chip.reduce(exec, problem, segments);
    m_partitions.reduce(exec, problem);
    m_partitions.merge(exec, problem, segments);
  }
  void substitute(const Exec& exec, const BlockProblem<T>& problem,
                  const PackedBounds<T>& bounds) const {
    if (m_on_chip.fits()) return m_on_chip.substitute(exec, problem, bounds);
    m_partitions.spread(exec, problem, bounds);
    m_partitions.substitute(exec, problem);
  }

 private:
  OnChip<T, Exec, OrthogonalCarry> m_on_chip;
  DevicePartitions<T, Exec, OrthogonalCarry> m_partitions;
};

template <class T, class Exec>
using BlockMethod = std::conditional_t<is_host_v<Exec>, HostBlocks<T, Exec>, DeviceBlocks<T, Exec>>;

}  // namespace Trikkos::Impl

#endif
