// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTED_HPP
#define TRIKKOS_IMPL_SEGMENTED_HPP

#include <algorithm>
#include <impl/Trikkos_SegmentedHost.hpp>
#include <impl/Trikkos_SegmentedTeam.hpp>
#include <limits>
#include <stdexcept>
#include <string>

namespace Trikkos::Impl {

/// `Algorithm::segmented` as a host call, on the host: SIMD lanes, threads over groups of tiles.
template <class T, class Exec, bool Host = is_host_v<Exec>>
class Segmented {
 public:
  Segmented(std::int64_t n, const Options& options)
      : m_shape(n, std::min(options.partition_size(), std::max<std::int64_t>(n, 2)),
                lane_count<T>) {}

  std::int64_t storage_words() const { return SegmentedHost<T>::storage_words(m_shape); }
  std::int64_t parallel_items() const { return m_shape.groups; }

  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    SegmentedHost<T>{A, b, x, m_shape, diagnosis, storage}.launch(exec, rhs_count, reset);
  }

 private:
  HostShape m_shape;
};

/// ... and on a device: teams and scratch.
template <class T, class Exec>
class Segmented<T, Exec, false> {
 public:
  Segmented(std::int64_t n, const Options& options)
      : m_shape(options.partition_size() == 0
                    ? default_tile_shape<T>()
                    : tile_shape<T>(carried_rows(
                          std::min(options.partition_size(), std::max<std::int64_t>(n, 2))))),
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
    SegmentedTeam<T>{A, b, x, m_shape, m_layout, diagnosis, storage}.launch(exec, rhs_count, reset);
  }

 private:
  TileShape<T, false> m_shape;
  TeamLayout m_layout;
};

}  // namespace Trikkos::Impl

#endif
