// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TILESHAPE_HPP
#define TRIKKOS_IMPL_TILESHAPE_HPP

#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// The shape of a tile on a device (Trikkos_Tile.hpp), and what it takes of scratch.

namespace Trikkos::Impl {

/// How tiles are moved. In bulk: bands, b and x, where they are contiguous and the system open, and
/// rows 1 x = 0 complete its last tile; there is no other way in the code then, as jumping over it
/// takes a tenth of the time of a tile. Arrays are so aligned that bulk copies can begin with each
/// tile, or `shifted`: all of a system as many words; of systems with one matrix each right-hand
/// side as many words more than the one before it.
enum class Moves { in_words, in_bulk, shifted };

/// So many words are what bulk copies move at least, and begin at.
template <class T>
inline constexpr int in_one_go = sizeof(T) < staging_alignment
                                     ? static_cast<int>(staging_alignment / sizeof(T))
                                     : 1;

/// So many words behind where they begin lies the j-th of some arrays, of which each lies `shift`
/// words further behind than the one before it, the first one none.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION int shift_of_column(int j, int shift) {
  constexpr int each = in_one_go<T>;
  return each == 2 ? j % 2 : j * shift % each;
}

/// Partitions (threads) in a tile and tree levels in a tile by default: 64 double partitions of 15
/// rows fill 36 KiB of scratch. With W > 1 partitions are halves that meet, and longer.
template <class T, int W = 1>
struct DefaultTile {
  static constexpr std::size_t bytes = W * sizeof(T);
  static constexpr int lanes = bytes > 16 ? 16 : bytes > 8 ? 32 : 64;
  static constexpr int levels = W > 1 ? 1 : bytes > 8 ? 3 : 4;
};

inline constexpr int max_tile_lanes = 64;
/// The default shape, and that rows are scaled, is known to the compiler, `Rows` a partition; any
/// other, `Rows` = 0, comes as numbers. K systems with one matrix are in a tile together.
template <class T, int Rows, int W = 1, int K = 1, Moves How = Moves::in_words>
struct TileShape {
  using Default = DefaultTile<T, W>;

  int m_lanes = 0, m_rows = 0, m_levels = 0;

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const {
    if constexpr (Rows > 0)
      return Default::lanes;
    else
      return m_lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const {
    if constexpr (Rows > 0)
      return Rows;
    else
      return m_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int levels() const {
    if constexpr (Rows > 0)
      return Default::levels;
    else
      return m_levels;
  }
  KOKKOS_FORCEINLINE_FUNCTION int tile_rows() const { return lanes() * rows(); }
  KOKKOS_FORCEINLINE_FUNCTION int segments() const { return lanes() >> levels(); }

  // Scratch: the rows of partition t start at t * pitch, an odd number: no bank conflicts.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return rows() | 1; }
  /// With room for what is moved more where tiles are shifted: a line, as bulk copies to where
  /// lines of scratch begin are faster.
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const {
    constexpr int line = 128 / sizeof(T);
    return staged_words<T>(lanes() * pitch()) + (How == Moves::shifted ? line : 0);
  }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const {
    return staged_words<T>(MergeNode<NumberOf<T, K>, W>::words * lanes());
  }
  /// Of those, what finds no place among rows (`NodesAmongRows`).
  KOKKOS_FORCEINLINE_FUNCTION int words_of_nodes_behind() const {
    constexpr int words = MergeNode<NumberOf<T, K>, W>::words, among = 2 * (2 * W + 1 + K);
    return words > among ? staged_words<T>((words - among) * lanes()) : 0;
  }
  /// The diagonals and the right-hand sides.
  KOKKOS_FORCEINLINE_FUNCTION int row_words() const { return (2 * W + 1 + K) * band_words(); }
  /// Of the first pass: rows, and in their place segments.
  KOKKOS_FORCEINLINE_FUNCTION int reduce_words() const {
    const int bands = row_words();
    const int segments = W > 1 ? staged_words<T>(Segment<T, W>::words * lanes()) : node_words();
    return bands > segments ? bands : segments;
  }
  KOKKOS_FORCEINLINE_FUNCTION int place(int row_in_tile) const {
    if constexpr (Rows % 2 == 1)
      return row_in_tile;
    else
      return row_in_tile + row_in_tile / rows() * (pitch() - rows());
  }
};
/// The shape for partitions of `rows` rows, with as many threads as the scratch holds, which has as
/// many words as rows for each of `more_bands`, too.
template <class T, int W = 1>
TileShape<T, 0, W> tile_shape(std::int64_t rows, int more_bands = 0) {
  int lanes = max_tile_lanes;
  // segments take the place of the bands, but not of b, which is x when a merge is looked for
  if (W > 1) rows = std::max<std::int64_t>(rows, 3 * W);
  const auto fits = [&] {
    const int nodes = W > 1 ? 0 : MergeNode<T, W>::words;
    const std::int64_t words = lanes * ((2 * W + 2 + more_bands) * (rows | 1) + nodes);
    return words * std::int64_t(sizeof(T)) + (6 + more_bands) * std::int64_t(staging_alignment) +
               scratch_reserved(lanes) <=
           scratch_limit;
  };
  while (lanes > 1 && !fits()) lanes /= 2;
  int levels = DefaultTile<T, W>::levels;
  while ((1 << levels) > lanes) --levels;
  return {lanes, static_cast<int>(rows), levels};
}

}  // namespace Trikkos::Impl

#endif
