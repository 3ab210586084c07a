// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_RANKTREE_HPP
#define TRIKKOS_IMPL_RANKTREE_HPP

#include <impl/partition/Trikkos_BlockChain.hpp>

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
  BlockChain<T> ranks;
  int rank;
  PackedBounds<T> bounds;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    ranks.solve(system);
    ranks.put_bounds_of(rank, system, bounds);
  }
};

}  // namespace Trikkos::Impl

#endif
