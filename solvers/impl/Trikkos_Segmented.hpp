// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTED_HPP
#define TRIKKOS_IMPL_SEGMENTED_HPP

#include <impl/Trikkos_SegmentedHost.hpp>
#include <impl/Trikkos_SegmentedTeam.hpp>
#include <stdexcept>
#include <string>

namespace Trikkos::Impl {

/// `Algorithm::segmented` as a host call, on the host: SIMD lanes, threads over groups of tiles.
template <class T, class Exec, bool Host = is_host_v<Exec>>
class Segmented {
 public:
  Segmented(std::int64_t n, const Options& options)
      : m_vectorised(options.partition_size() <= longest_lane),
        m_shape(n, options.partition_size(),
                m_vectorised ? TileKind<T, true>::width : TileKind<T, false>::width) {}

  std::int64_t storage_words() const { return SegmentedHost<T>::storage_words(m_shape); }
  std::int64_t parallel_items() const { return m_shape.groups; }

  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    const SegmentedHost<T> solver{A, b, x, m_shape, diagnosis, storage};
    if (m_vectorised)
      solver.template launch<TileKind<T, true>>(exec, rhs_count, reset);
    else
      solver.template launch<TileKind<T, false>>(exec, rhs_count, reset);
  }

 private:
  // A thread keeps 24 bytes a row of all its lanes; longer partitions are carried one at a time.
  static constexpr std::int64_t longest_lane = 8192;

  bool m_vectorised;
  HostShape m_shape;
};

/// ... and on a device: teams and scratch.
template <class T, class Exec>
class Segmented<T, Exec, false> {
 public:
  Segmented(std::int64_t n, const Options& options)
      : m_shape(
            options.partition_size() == 0
                ? TileShape<T, false>{DefaultTile<T>::lanes, DefaultTile<T>::rows,
                                      DefaultTile<T>::levels}
                : tile_shape<T>(std::min(options.partition_size(), std::max<std::int64_t>(n, 2)))) {
    if (m_shape.lanes() == 0)
      throw std::invalid_argument("Trikkos::solve: partition_size is " +
                                  std::to_string(options.partition_size()) + ", expected at most " +
                                  std::to_string(largest_partition()) +
                                  " (a partition must fit into the scratch memory of a team)");
    m_layout = TeamLayout(n, m_shape.tile_rows(), m_shape.segments());
    if (m_layout.tiles > std::numeric_limits<int>::max())
      throw std::invalid_argument("Trikkos::solve: " + std::to_string(n) +
                                  " rows exceed the largest grid of teams");
  }

  std::int64_t storage_words() const { return m_layout.words; }
  std::int64_t parallel_items() const { return m_layout.tiles; }

  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    SegmentedTeam<T>{A, b, x, m_shape, m_layout, diagnosis, storage}.launch(exec, rhs_count, reset);
  }

 private:
  static std::int64_t largest_partition() {
    std::int64_t rows = 2;
    while (tile_shape<T>(rows + 1).lanes() > 0) ++rows;
    return rows;
  }

  TileShape<T, false> m_shape;
  TeamLayout m_layout;
};

}  // namespace Trikkos::Impl

#endif
