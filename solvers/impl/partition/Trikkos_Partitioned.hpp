// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTITIONED_HPP
#define TRIKKOS_IMPL_PARTITIONED_HPP

#include <algorithm>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/partition/Trikkos_HostPartitions.hpp>
#include <limits>
#include <stdexcept>
#include <string>

namespace Trikkos::Impl {

/// `segmented` and `spike` as host calls, on the host: SIMD lanes, threads over groups of tiles.
template <class T, class Exec, class Elimination, bool Host = is_host_v<Exec>>
class Partitioned {
 public:
  Partitioned(std::int64_t n, const Options& options)
      : m_shape(Elimination{}, n, std::min(options.partition_size(), std::max<std::int64_t>(n, 2)),
                lane_count<T>) {}

  std::int64_t storage_words() const {
    return HostPartitions<T, Elimination>::storage_words(m_shape);
  }
  std::int64_t parallel_items() const { return m_shape.groups; }

  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    HostPartitions<T, Elimination>{A, b, x, {}, m_shape, diagnosis, storage}.launch(exec, rhs_count,
                                                                                    reset);
  }

 private:
  HostShape m_shape;
};

/// ... and on a device: teams and scratch.
template <class T, class Exec, class Elimination>
class Partitioned<T, Exec, Elimination, false> {
 public:
  Partitioned(std::int64_t n, const Options& options)
      : m_shape(shape(n, options.partition_size())),
        m_layout(n, m_shape.tile_rows(), m_shape.segments()) {
    if (m_layout.tiles > std::numeric_limits<int>::max())
      throw std::invalid_argument("Trikkos::Workspace: " + std::to_string(n) +
                                  " rows exceed the largest grid of teams, " +
                                  std::to_string(std::numeric_limits<int>::max()) + " times " +
                                  std::to_string(m_shape.tile_rows()) + " rows");
  }

  std::int64_t storage_words() const { return m_layout.words; }
  std::int64_t parallel_items() const { return m_layout.tiles; }

  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    DevicePartitions<T, Elimination>{A, b, x, {}, m_shape, m_layout, diagnosis, storage}.launch(
        exec, rhs_count, reset);
  }

 private:
  static TileShape<T, 0> shape(std::int64_t n, std::int64_t partition_size) {
    if (partition_size == 0)
      return {DefaultTile<T>::lanes, Elimination::device_rows, DefaultTile<T>::levels};
    return tile_shape<T>(
        Elimination::rows_in_one_go(std::min(partition_size, std::max<std::int64_t>(n, 2))));
  }

  TileShape<T, 0> m_shape;
  TeamLayout m_layout;
};

}  // namespace Trikkos::Impl

#endif
