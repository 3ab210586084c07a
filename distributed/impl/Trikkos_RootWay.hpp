// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ROOTWAY_HPP
#define TRIKKOS_IMPL_ROOTWAY_HPP

#include <algorithm>
#include <cmath>
#include <impl/Trikkos_RankKinds.hpp>

namespace Trikkos::Impl {

/// Who solves the roots of systems, the chains of all ranks' segments: each rank all of them,
/// perhaps in groups (RankTree); or each rank those of its share of the systems, for all ranks
/// (RankShares). All but the default is for tests and measurements.
struct RootWay {
  /// Ranks without groups. One chain of 256 takes 17 us longer than two of 16
  /// (distributed/README.md); a second message has some microseconds of its own.
  static constexpr int most_ranks = 256;
  /// Segments that a rank gets, from where on ranks share.
  static constexpr std::int64_t many = 4096;
  /// Of a part, so that its messages take longer than a wait for the device, and its rows longer
  /// than the launches.
  static constexpr std::int64_t systems_of_part = 16384, rows_of_part = std::int64_t(1) << 22;
  static constexpr std::int64_t most_parts = 8;

  int groups = 0;  ///< of ranks; 0: one, or with many ranks their square root
  int parts = 0;  ///< of systems, where ranks share; 0: where and as is best; -1: they do not share

  static int square_root(int ranks) {
    return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(ranks))));
  }
  static RootWay in_groups(int ranks) { return {square_root(ranks), -1}; }

  int groups_of(int ranks) const {
    if (groups > 0) return std::min(groups, ranks);
    return ranks <= most_ranks ? 1 : square_root(ranks);
  }
  bool is_shared(const RankKinds& kinds, int ranks, std::int64_t systems) const {
    if (parts != 0) return parts > 0;
    return !kinds.round_alike || (ranks > 1 && systems >= ranks && ranks * systems > many);
  }
  /// `rows` of a rank, on average. A host computes while it communicates, or not at all.
  std::int64_t parts_of(const RankKinds& kinds, std::int64_t systems, std::int64_t rows) const {
    if (parts > 0) return parts;
    if (!kinds.are_devices) return 1;
    return std::clamp<std::int64_t>(
        std::min(systems / systems_of_part, systems * rows / rows_of_part), 1, most_parts);
  }
};

}  // namespace Trikkos::Impl

#endif
