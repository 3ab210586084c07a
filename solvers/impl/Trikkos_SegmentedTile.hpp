// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTEDTILE_HPP
#define TRIKKOS_IMPL_SEGMENTEDTILE_HPP

#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TwoRowCarry.hpp>

/// \file
/// The tile of `Algorithm::segmented` on a device: its shape, how its rows get into the scratch of
/// a team, and how a thread carries its partition.

namespace Trikkos::Impl {

/// Partitions (threads) in a tile, rows in a partition, tree levels in a tile. The default shape is
/// known to the compiler; any other comes as numbers.
template <class T>
struct DefaultTile {
  // Odd rows: no bank conflicts. 64 double partitions of 15 rows fill 36 KiB of scratch.
  static constexpr int lanes = sizeof(T) > 8 ? 32 : 64, rows = 15, levels = sizeof(T) > 8 ? 3 : 4;
};

inline constexpr int max_tile_lanes = 64;
inline constexpr int coarse_lanes = 128;
inline constexpr int scratch_limit = 48 * 1024;  // what every backend grants at level 0 ...

KOKKOS_INLINE_FUNCTION constexpr int scratch_reserved(int team_size) {
  return 8 * (team_size + 2);  // ... less what Kokkos keeps of it for team reductions
}

template <class T, bool Default>
struct TileShape {
  int m_lanes = 0, m_rows = 0, m_levels = 0;

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const {
    if constexpr (Default)
      return DefaultTile<T>::lanes;
    else
      return m_lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const {
    if constexpr (Default)
      return DefaultTile<T>::rows;
    else
      return m_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int levels() const {
    if constexpr (Default)
      return DefaultTile<T>::levels;
    else
      return m_levels;
  }
  KOKKOS_FORCEINLINE_FUNCTION int tile_rows() const { return lanes() * rows(); }
  KOKKOS_FORCEINLINE_FUNCTION int segments() const { return lanes() >> levels(); }

  // Scratch: the rows of partition t start at t * pitch, an odd number.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return rows() | 1; }
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const { return lanes() * pitch(); }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const { return MergeNode<T>::words * lanes(); }
  KOKKOS_FORCEINLINE_FUNCTION int place(int row_in_tile) const {
    if constexpr (Default)
      return row_in_tile;
    else
      return row_in_tile + row_in_tile / rows() * (pitch() - rows());
  }
};
static_assert(DefaultTile<double>::rows % 2 == 1, "place() of the default tile assumes it");

/// `bytes` of the team's scratch, of which the last few are for alignment.
template <class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T* team_scratch(const Member& member, std::size_t bytes) {
  return static_cast<T*>(member.team_scratch(0).get_shmem_aligned(bytes - alignof(T), alignof(T)));
}

template <class T>
TileShape<T, false> default_tile_shape() {
  return {DefaultTile<T>::lanes, DefaultTile<T>::rows, DefaultTile<T>::levels};
}

/// The shape for partitions of `rows` rows, with as many threads as the scratch holds.
template <class T>
TileShape<T, false> tile_shape(std::int64_t rows) {
  int lanes = max_tile_lanes;
  const auto fits = [&] {
    const std::int64_t words = lanes * (4 * (rows | 1) + MergeNode<T>::words);
    return words * std::int64_t(sizeof(T)) + std::int64_t(alignof(T)) + scratch_reserved(lanes) <=
           scratch_limit;
  };
  while (lanes > 1 && !fits()) lanes /= 2;
  int levels = DefaultTile<T>::levels;
  while ((1 << levels) > lanes) --levels;
  return {lanes, static_cast<int>(rows), levels};
}

/// The arrays of a tile in scratch and the steps that both passes share.
template <class T, bool Default>
struct StagedTile {
  TileShape<T, Default> shape;
  T* scratch;  // a, b, c, d, each band_words(), then the nodes
  std::int64_t base;

  KOKKOS_FORCEINLINE_FUNCTION T* band(int k) const { return scratch + k * shape.band_words(); }
  KOKKOS_FORCEINLINE_FUNCTION T* nodes() const { return band(4); }

  /// Copies element(i) of the rows i < n of the tile into band k: coalesced, `Chunk` loads of a
  /// thread in flight at a time.
  template <int Chunk, class Member, class Element>
  KOKKOS_FORCEINLINE_FUNCTION void stage(const Member& member, int k, std::int64_t n,
                                         const Element& element) const {
    const int t = member.team_rank(), lanes = shape.lanes(), rows = shape.rows();
    T* const to = band(k);
    TRIKKOS_UNROLL(1)
    for (int first = 0; first < rows; first += Chunk) {
      T v[Chunk];
      TRIKKOS_UNROLL(Chunk)
      for (int i = 0; i < Chunk; ++i) {
        const int row = (first + i) * lanes + t;
        v[i] = first + i < rows && base + row < n ? element(base + row) : T(0);
      }
      TRIKKOS_UNROLL(Chunk)
      for (int i = 0; i < Chunk; ++i)
        if (first + i < rows) to[shape.place((first + i) * lanes + t)] = v[i];
    }
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, const Bands<T>& A,
                                        const Strided<const T>& b) const {
    if (Default && base > 0 && base + shape.tile_rows() < A.n && A.is_contiguous() &&
        b.stride == 1) {
      // A band at a time, all its loads in flight: more of them would cost registers, and so teams.
      constexpr int lanes = DefaultTile<T>::lanes, rows = DefaultTile<T>::rows;
      TRIKKOS_UNROLL(1)
      for (int k = 0; k < 4; ++k) {
        const T* const from = k == 0   ? A.sub.data
                              : k == 1 ? A.main.data
                              : k == 2 ? A.super.data
                                       : b.data;
        const T* const p = from + base + member.team_rank();
        T* const to = band(k) + member.team_rank();
        T v[rows];
        TRIKKOS_UNROLL(rows)
        for (int i = 0; i < rows; ++i) v[i] = p[i * lanes];
        TRIKKOS_UNROLL(rows)
        for (int i = 0; i < rows; ++i) to[i * lanes] = v[i];
      }
    } else {
      stage<4>(member, 0, A.n, [&](std::int64_t i) { return A.lower(i); });
      stage<4>(member, 1, A.n, [&](std::int64_t i) { return A.diag(i); });
      stage<4>(member, 2, A.n, [&](std::int64_t i) { return A.upper(i); });
      stage<4>(member, 3, A.n, [&](std::int64_t i) { return b[i]; });
    }
    member.team_barrier();
  }

  /// Rows in the partition of thread t.
  KOKKOS_FORCEINLINE_FUNCTION int length(int t, std::int64_t n) const {
    const std::int64_t left = n - base - t * shape.rows();
    return left >= shape.rows() ? shape.rows() : left > 0 ? static_cast<int>(left) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(int t, int k) const {
    const int i = t * shape.pitch() + k;
    return scaled(Equation<T>{band(0)[i], band(1)[i], band(2)[i], band(3)[i]});
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment<T> reduce_partition(int t, std::int64_t n) const {
    const int m = length(t, n);
    if (m == 0) return transparent_segment<T>();
    const Equation<T> e0 = equation(t, 0);
    if (m == 1) return single_row_segment(e0);
    Segment<T> s = start_segment(e0, equation(t, 1));
    TRIKKOS_UNROLL(1)
    for (int k = 2; k < m; ++k) carry(s, equation(t, k));
    return s;
  }
};

}  // namespace Trikkos::Impl

#endif
