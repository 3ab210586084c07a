// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INKERNELPARTITIONS_HPP
#define TRIKKOS_IMPL_INKERNELPARTITIONS_HPP

#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>

namespace Trikkos::Impl {

/// Rows in a partition where one team solves a system: 16 leave enough partitions for a team.
template <class Elimination>
KOKKOS_INLINE_FUNCTION constexpr std::int64_t partition_rows(std::int64_t n,
                                                             std::int64_t partition_size) {
  const std::int64_t rows = partition_size > 0 ? partition_size : 16;
  return Elimination::rows_in_one_go(rows < n ? rows : n);
}
/// Scalars of scratch: the way back, a node for each merge and the tree, and the root's bounds.
template <int W>
KOKKOS_INLINE_FUNCTION constexpr std::int64_t partition_words(std::int64_t n, std::int64_t rows) {
  constexpr int back = 2 * W + 1, node = MergeNode<float, W>::words;
  return n == 0 ? 0 : back * n + 2 * node * ((n + rows - 1) / rows) + 4 * W;
}

/// `segmented` and `spike` by one team, inside a kernel. A and b are read where they are; the way
/// back and the reduced system live in scratch. Each thread chains the segments of neighbouring
/// partitions, a tree merges the chains.
template <class T, class Elimination>
struct InKernelPartitions {
  static constexpr int W = Elimination::half_bandwidth;
  static_assert(EliminationOf<Elimination, StridedRows<T, W>>);

  Bands<T, W> A;
  Strided<const T> b;
  Strided<T> x;
  std::int64_t rows;  // in a partition

  /// Returns the first row of the first partition that is not finite or not to be trusted, as this
  /// thread sees it, or n.
  template <class Team>
  KOKKOS_INLINE_FUNCTION std::int64_t solve(const Team& team, T* scratch) const {
    const std::int64_t partitions = (A.n + rows - 1) / rows;
    int lanes = 1;
    while (2 * lanes <= team.team_size() && 2 * lanes <= partitions) lanes *= 2;
    int levels = 0;
    while ((1 << levels) < lanes) ++levels;
    const int t = team.team_rank();
    const std::int64_t in_chain = (partitions + lanes - 1) / lanes;
    const auto smaller = [&](std::int64_t p) { return p < partitions ? p : partitions; };
    const std::int64_t first = t < lanes ? smaller(t * in_chain) : partitions;
    const std::int64_t end = t < lanes ? smaller(first + in_chain) : partitions;

    using Node = MergeNode<T, W>;
    auto* const nodes = reinterpret_cast<Node*>(scratch + (2 * W + 1) * A.n);
    T* const tree = scratch + (2 * W + 1) * A.n + Node::words * partitions;
    T* const root = tree + Node::words * lanes;
    const Elimination elimination{};

    Segment<T, W> s = identity_segment<T, W>();
    for (std::int64_t p = first; p < end; ++p) {
      const Segment<T, W> next = elimination.reduce(rows_of(p, scratch));
      s = p == first ? next : merge(s, next, nodes[p]);
    }
    s = merge_tree(team, SegmentArray<T, W>{tree, lanes}, lanes, levels, s,
                   [&](int slot, const Node& node) {
                     for (int k = 0; k < Node::words; ++k) tree[k * lanes + slot] = node.g[k];
                   });
    const auto word = [&](int k) -> T& { return root[k]; };
    if (t == 0) put_bounds(word, solve_root(s, A.periodic));
    team.team_barrier();

    std::int64_t bad = A.n;
    auto bounds = bounds_from<T, W>(word);
    descend_tree(bounds, 1, lanes / 2, t, [&](int slot, int k) { return tree[k * lanes + slot]; });
    for (std::int64_t p = end - 1; p >= first; --p) {
      const Bounds<T, W> mine = p > first ? unchain(bounds, nodes[p]) : bounds;
      const Findings<T> found = elimination.substitute(rows_of(p, scratch), mine);
      if (!(found.probe == 0) || found.unstable) bad = p * rows;
    }
    return bad;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION StridedRows<T, W> rows_of(std::int64_t p, T* back) const {
    const std::int64_t first = p * rows, left = A.n - first, m = left < rows ? left : rows;
    if constexpr (W > 1)
      return {{A, b, first, m}, back, x.from(first)};
    else
      return {A.band[0].from(first),
              A.band[1].from(first),
              A.band[2].from(first),
              b.from(first),
              {back + first, 1},
              {back + A.n + first, 1},
              {back + 2 * A.n + first, 1},
              x.from(first),
              A.lower(first),
              A.upper(first + m - 1),
              A.conjugated,
              A.scale_rows,
              m};
  }
};

template <class Elimination>
KOKKOS_INLINE_FUNCTION constexpr std::int64_t partition_team_words(std::int64_t n,
                                                                   const Options& options) {
  return partition_words<Elimination::half_bandwidth>(
      n, partition_rows<Elimination>(n, options.partition_size()));
}

template <class Elimination, class T, int W, class Member>
KOKKOS_INLINE_FUNCTION std::int64_t solve_partitions_in_team(const Member& member,
                                                             const Bands<T, W>& A,
                                                             const Strided<const T>& b,
                                                             const Strided<T>& x,
                                                             const Options& options) {
  const std::int64_t rows = partition_rows<Elimination>(A.n, options.partition_size());
  const std::int64_t bad =
      in_scratch<T>(member, partition_words<W>(A.n, rows), [&](const auto& team, T* memory) {
        return InKernelPartitions<T, Elimination>{A, b, x, rows}.solve(team, memory);
      });
  return bad < A.n ? bad : -1;
}

}  // namespace Trikkos::Impl

#endif
