// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WATCHEDONCHIP_HPP
#define TRIKKOS_IMPL_WATCHEDONCHIP_HPP

#include <impl/Trikkos_DissectedChunk.hpp>
#include <impl/Trikkos_SolveOnChip.hpp>

/// \file
/// Contiguous tridiagonal systems in the scratch of a team, those that look dominant without
/// pivoting: dissected, and |L||U| is compared with each row (Trikkos_Dissection.hpp). What does
/// not look so, grows or is not finite is solved by rotations, in the same kernel.

namespace Trikkos::Impl {

template <class T, class Elimination, class Matrices, int Rows, bool InStep>
struct SolveWatchedOnChip
    : SolveOnChip<T, Elimination, false, Matrices, Rows, OnChipPhase::solve, 0, InStep> {
  using Stable = SolveOnChip<T, Elimination, false, Matrices, Rows, OnChipPhase::solve, 0, InStep>;
  using Stable::problem, Stable::shape, Stable::tiles, Stable::place;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    if (problem.resets && member.team_rank() == 0) problem.diagnosis.reset();
    T* const scratch = team_scratch<T, staging_alignment>(member);
    T* const bands = Stable::bands_in(scratch, tile);
    T* const solved = bands + shape.bands * shape.band_words() + shape.node_words();
    Stable::pad(member, bands);
    Stable::load_short_or_long(member, scratch + shape.words(), bands, tile);
    wait_for_kernels_before(member);

    const int s = member.team_rank() >> shape.levels,
              p = member.team_rank() & (shape.partitions() - 1);
    const bool exists = s < tile.count;
    const int m = Rows > 0 ? Rows : shape.rows, band = shape.band_words();
    const ChunkRows<T, 1> chunk{bands + band + place(s, p * m), band, m};
    if (p == 0) solved[s] = T(exists);
    member.team_barrier();
    // Some rows tell as much as all where they are alike, or random.
    bool looks_dominant = true;
    const int step = m > 8 ? m / 3 : 1;
    for (int k = 0; k < m; k += step)
      looks_dominant = looks_dominant & chunk.equation(k).is_dominant();
    if (!looks_dominant) solved[s] = T(0);
    member.team_barrier();
    const bool is_tried = solved[s] != T(0);
    if (any_in_team(member, is_tried)) {
      const int partitions = shape.partitions();
      const bool is_good = solve_dissected(chunk, member, p, partitions, partitions) && is_tried;
      if (!is_good) solved[s] = T(0);
      const bool some_failed = any_in_team(member, exists && !is_good);
      const auto is_solved = [&](int k) { return !some_failed || solved[k] != T(0); };
      Stable::store_some(member, bands, tile, is_solved);
      if (!some_failed) return;
      reload(member, bands, tile, solved);
    }
    Stable::solve(member, bands, tile, [&](int k) { return solved[k] == T(0); });
  }

 private:
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void reload(const Member& member, T* bands,
                                          const SystemTiles::Tile& tile, const T* solved) const {
    const int n = shape.n, pitch = Stable::pitch(), band = shape.band_words();
    member.team_barrier();
    for (int k = member.team_rank(); k < tile.count * pitch; k += member.team_size()) {
      const int s = k / pitch, i = k % pitch;
      if (solved[s] != T(0)) continue;
      const Equation<T> e =
          i < n ? equation_of<T, 1>(problem.A[tile.first + s], i, problem.b[tile.first + s][i])
                : unit_equation<T, 1>();
      T* const to = bands + place(s, i);
      to[0] = e.a;
      to[band] = e.b;
      to[2 * band] = e.c;
      to[3 * band] = e.d;
    }
    member.team_barrier();
  }
};

}  // namespace Trikkos::Impl

#endif
