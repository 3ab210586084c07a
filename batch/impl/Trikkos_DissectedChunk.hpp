// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DISSECTEDCHUNK_HPP
#define TRIKKOS_IMPL_DISSECTEDCHUNK_HPP

#include <impl/Trikkos_Dissection.hpp>
#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>

/// \file
/// Systems in the scratch of a team, dissected: neighbouring threads have the chunks of one, and
/// separators go in a tree (Trikkos_Dissection.hpp), all in the place of the rows.

namespace Trikkos::Impl {

/// A chunk in scratch: the way back takes the place of the bands, x that of b. Its rows are beside
/// each other or, of `Interleaved` systems, `apart` words from each other.
template <class T, int W, bool Interleaved = false>
struct ChunkRows {
  T* diag;         // of its first row
  int band, rows;  // words between bands
  int apart = 1;

  KOKKOS_FORCEINLINE_FUNCTION T& word(int k, int j) const {
    return diag[(j - W) * band + (Interleaved ? k * apart : k)];
  }
  KOKKOS_FORCEINLINE_FUNCTION BandRow<T, W> equation(int k) const {
    BandRow<T, W> e;
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j <= 2 * W; ++j) e.a[j] = word(k, j);
    e.d = word(k, 2 * W + 1);
    return e;
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const InteriorRow<T, W>& row) const {
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) {
      word(k, c) = row.w[c];
      word(k, W + 1 + c) = row.u[c];
    }
    word(k, W) = row.z;
  }
  KOKKOS_FORCEINLINE_FUNCTION InteriorRow<T, W> kept(int k) const {
    InteriorRow<T, W> row;
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) {
      row.w[c] = word(k, c);
      row.u[c] = word(k, W + 1 + c);
    }
    row.z = word(k, W);
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION T& solution(int k) const { return word(k, 2 * W + 1); }
};

/// Between threads of one system, which are among so many neighbours of a team, a power of two.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void barrier_of_systems(const Member& member, int threads) {
  if (threads <= threads_of_warp<Member>())
    warp_barrier();
  else
    member.team_barrier();
}

/// The chunk p of a system, whose `partitions` chunks are among those of `threads` neighbouring
/// threads. Returns whether nothing has grown here and x is finite.
template <class T, int W, bool Interleaved, class Member>
KOKKOS_FORCEINLINE_FUNCTION bool solve_dissected(const ChunkRows<T, W, Interleaved>& chunk,
                                                 const Member& member, int p, int partitions,
                                                 int threads) {
  using Separator = SeparatorRows<T, W>;
  using Eliminated = EliminatedSeparator<T, W>;
  static_assert(Separator::words <= W * (2 * W + 2) && Eliminated::words <= W * (2 * W + 2));
  // what lies in the place of the separator in the chunk q chunks from here
  const auto separator = [&](int q) {
    return [=](int k) -> T& { return chunk.word((q + 1) * chunk.rows - W + k % W, k / W); };
  };
  const int inner = chunk.rows - W;
  // The first thread of some chunks has the rows of their l, the last one those of their r: even
  // ones give away r, odd ones l.
  const bool is_odd = (p & 1) != 0;
  Dissection<T, W> dissection;
  Separator mine, given;
  dissection.reduce(chunk, chunk.rows, p == 0, mine, given);
  if (is_odd) {
    const Separator l = mine;
    mine = given;
    given = l;
  }
  barrier_of_systems(member, threads);  // rows of l are read by the next thread
  given.put(separator(0));
  TRIKKOS_UNROLL(1)
  for (int h = 1; h < partitions; h *= 2) {
    const int q = p & (2 * h - 1);
    if (h > 1 && (q == h - 1 || q == h)) mine.put(separator(q == h ? h - 1 : 0));
    barrier_of_systems(member, threads);
    Eliminated met;
    if (q == 0 || q == 2 * h - 1) {
      const Separator near = Separator::get(separator(is_odd ? 0 : h - 1)),
                      far = Separator::get(separator(is_odd ? -h : 2 * h - 1));
      dissection.merge(mine, near, far, met);
    }
    barrier_of_systems(member, threads);
    if (q == 0) met.put(separator(h - 1));
  }
  const auto last = separator(partitions - 1 - p);
  T xl[W], x[W];  // of the separators before the chunk and in it
  if (p == partitions - 1) {
    if (!is_odd) mine = given;  // the only one
    dissection.solve_last(mine, x);
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) last(a) = x[a];
  }
  barrier_of_systems(member, threads);
  TRIKKOS_UNROLL(W)
  for (int a = 0; a < W; ++a) {
    xl[a] = T(0);
    x[a] = last(a);
  }
  TRIKKOS_UNROLL(1)
  for (int h = partitions / 2; h > 0; h /= 2) {
    const int q = p & (2 * h - 1);
    T met[W];
    Eliminated::get(separator(h - 1 - q)).solve(xl, x, met);
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      xl[a] = q < h ? xl[a] : met[a];
      x[a] = q < h ? met[a] : x[a];
    }
  }
  barrier_of_systems(member, threads);  // x takes the place of separators
  Real<T> probe(0);
  TRIKKOS_UNROLL(W)
  for (int a = 0; a < W; ++a) {
    chunk.solution(inner + a) = x[a];
    probe += finite_probe(x[a]);
  }
  for_kept_rows(chunk, inner - 1, 0, [&](int i, const InteriorRow<T, W>& row) {
    T v = row.z;
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) v = fused(-row.w[c], xl[c], v);
    TRIKKOS_UNROLL(W)
    for (int j = W - 1; j >= 0; --j) v = fused(-row.u[j], x[j], v);
    TRIKKOS_UNROLL(W)
    for (int j = W - 1; j > 0; --j) x[j] = x[j - 1];
    x[0] = v;
    chunk.solution(i) = v;
    probe += finite_probe(v);
  });
  return dissection.is_safe() && probe == 0;
}

}  // namespace Trikkos::Impl

#endif
