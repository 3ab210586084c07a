// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKTREE_HPP
#define TRIKKOS_IMPL_RANKTREE_HPP

#include <impl/partition/Trikkos_ReducedSystem.hpp>

/// \file
/// The top of the tree of partitions: a segment for each rank. Every rank solves this reduced
/// system by the same chain of merges, so that all have the same bits and none has to be told.

namespace Trikkos::Impl {

/// A partition of no rows for each system.
template <class T>
struct PutIdentity {
  PackedSegments<T> segments;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    put_segment(segments, system, identity_segment<T>());
  }
};

/// What a rank sends: one word that tells whether it has a fault, then its segments.
template <class T>
struct RankWords {
  static constexpr std::int64_t header = 1;

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t count(std::int64_t systems) {
    return header + Segment<T>::words * systems;
  }
};

/// One thread a system: from the segments of all ranks to the values around and at the ends of this
/// one.
template <class T>
struct SolveRanks {
  const T* gathered;  // [ranks][RankWords::count(systems)]
  std::int64_t systems;
  int rank;
  ChainCoarse<T> chain;
  PackedBounds<T> bounds;

  /// For reports, a rank stands for two rows, its first and its last.
  static constexpr std::int64_t rows_of_rank = 2;
  static TeamLayout layout(int ranks) { return {rows_of_rank * ranks, rows_of_rank, 1, 1, ranks}; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    T* const mine = chain.work + system * chain.layout.words;
    const std::int64_t ranks = chain.layout.segments, words = RankWords<T>::count(systems);
    const SegmentArray<T> segments{mine + chain.layout.level[0].segment_offset, ranks};
    for (std::int64_t r = 0; r < ranks; ++r)
      for (int k = 0; k < Segment<T>::words; ++k)
        segments(r, k) =
            gathered[r * words + RankWords<T>::header + system * Segment<T>::words + k];
    chain(system);
    const OuterBounds<T, 1> own{mine + chain.layout.bounds_offset + 2 * rank, 1};
    for (int k = 0; k < 4; ++k) bounds.words(system)[k] = own(k);
  }
};

}  // namespace Trikkos::Impl

#endif
