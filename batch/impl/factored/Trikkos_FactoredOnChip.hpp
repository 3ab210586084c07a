// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDONCHIP_HPP
#define TRIKKOS_IMPL_FACTOREDONCHIP_HPP

#include <algorithm>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <impl/factored/Trikkos_Factors.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

/// \file
/// Many right-hand sides with one factored matrix on a device. They come to the scratch of a team,
/// and each thread has a chunk of one of them: it sees first what would leave the chunk, then what
/// does enter it, and sweeps over it then. So x is that of the recurrence itself, and what chunks
/// hand on is all that is rounded otherwise.
///
/// Traffic: 1 word an unknown read, 1 written; factors, 5 words a row (7 where periodic), come
/// through the cache.

namespace Trikkos::Impl {

/// Chunks of a system, and systems of a team.
template <class T>
struct FactoredShape {
  /// Of a chunk. Odd: threads that read rows an even number of words apart compete for the banks of
  /// scratch.
  static constexpr int most_rows = 17;
  static constexpr int most_threads = 512, wanted_threads = 128;

  int n = 0, rows = 0, chunks = 0;  // no chunks: a team cannot hold a system
  int group_bits = 0;               // chunks of a group: 2^group_bits
  int granted = 0;                  // bytes of scratch: an SM holds two teams

  FactoredShape() = default;
  FactoredShape(std::int64_t n_, int granted_) : granted(std::max(scratch_limit, granted_ / 2)) {
    if (n_ < 1 || n_ > most_rows * most_threads) return;
    n = static_cast<int>(n_);
    chunks = (n + most_rows - 1) / most_rows;
    rows = ((n + chunks - 1) / chunks) | 1;
    chunks = (n + rows - 1) / rows;
    // one group if a thread may as well look at all chunks, else about as many as it has chunks
    while (1 << group_bits < chunks && (group_bits < 3 || 1 << 2 * group_bits < chunks))
      ++group_bits;
    if (!fits(1, 1, granted)) chunks = 0;
  }
  Factors<T> factors(bool periodic, T* data) const {
    return {data, n, rows, chunks, 1 << group_bits, periodic};
  }
  KOKKOS_FORCEINLINE_FUNCTION int groups() const {
    return (chunks + (1 << group_bits) - 1) >> group_bits;
  }
  /// Between systems in scratch: chunks are complete, so that all are equally far from each other.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return staged_words<T>(rows * chunks); }

  /// So many systems to a thread, which share the factors that it reads.
  static constexpr int most_of_thread = 2;

  /// Interleaved: as many as memory moves at a time, if they fit. Else as many as leave the fewest
  /// threads idle. `each`: a thread.
  int systems(bool interleaved, int each) const {
    int best = each;
    if (interleaved) {
      const auto fit = [&](int s) {
        return s / each * chunks <= most_threads && fits(s, each, granted);
      };
      constexpr int line = 128 / sizeof(T);
      while (best < line && fit(2 * best)) best *= 2;
      while (best >= line && best / each * chunks < wanted_threads && fit(2 * best)) best *= 2;
      return best;
    }
    for (int s = 2 * each; s / each * chunks <= wanted_threads && fits(s, each); s += each)
      if (s * threads(best, each) > best * threads(s, each)) best = s;
    return best;
  }
  /// In percent of an SM's threads: where so many teams would share it that no cache is left for
  /// the factors, which are read from the L2 cache then, less than could be. (sm_90: 256 KiB for
  /// cache and scratch, of which the driver makes 228, 196, 164, 132 or 100 scratch.)
  int desired_occupancy(int systems, int each, std::size_t factor_bytes) const {
    constexpr std::size_t kibi = 1024, threads_of_sm = 2048, of_team = kibi;
    if (factor_bytes < 16 * kibi || factor_bytes > 150 * kibi) return 100;
    std::size_t scratch = 164 * kibi;
    while (scratch > 100 * kibi && scratch + factor_bytes > 236 * kibi) scratch -= 32 * kibi;
    const std::size_t teams =
        std::max<std::size_t>(scratch / (scratch_bytes(systems) + of_team), 1);
    return std::min<int>(100, 100 * teams * threads(systems, each) / threads_of_sm);
  }
  bool fits(int systems, int each, int bytes = scratch_limit) const {
    return static_cast<int>(scratch_bytes(systems)) + scratch_reserved(threads(systems, each)) <=
           bytes;
  }
  int threads(int systems, int each) const { return (systems / each * chunks + 31) / 32 * 32; }
  KOKKOS_FORCEINLINE_FUNCTION int tile_words(int systems) const { return systems * pitch(); }
  /// For what leaves chunks and groups, one way.
  KOKKOS_FORCEINLINE_FUNCTION int handed_words(int systems) const {
    return staged_words<T>(systems * (chunks + groups()));
  }
  /// Scratch: a tile, and what is handed on, both ways.
  KOKKOS_FORCEINLINE_FUNCTION std::size_t scratch_bytes(int systems) const {
    return sizeof(T) * (tile_words(systems) + 2 * handed_words(systems)) + staging_bytes +
           staging_alignment;
  }
};

/// Each thread has `each` systems.
template <class T, int each, bool Interleaved>
struct SolveFactored {
  Factors<T> factors;
  Vectors<const T> b;
  Vectors<T> x;
  SystemTiles tiles;  // one a team
  Diagnosis diagnosis;
  FactoredShape<T> shape;
  int systems;

  /// Of a run that is copied in bulk: little else is to be done here.
  static constexpr int bulk = 128;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    using F = Factors<T>;
    const int t = member.team_rank(), n = shape.n, chunks = shape.chunks;
    const SystemTiles::Tile these = tiles[member.league_rank()];
    const std::int64_t first = these.first;
    const int here = these.count;
    T* const tile = team_scratch<T, staging_alignment>(member, shape.scratch_bytes(systems));
    T* const handed = tile + shape.tile_words(systems);
    Staging<Member> staging(member, handed + 2 * shape.handed_words(systems));
    staging.template load<Interleaved, bulk>(runs<const T>(tile, b, first, here));
    staging.wait();

    // first system, and chunk, of this thread
    const int apart = systems / each;
    const int s = Interleaved ? t % apart : t / chunks;
    const int p = Interleaved ? t / apart : t % chunks;
    const int begin = p * shape.rows, left = s < apart && p < chunks ? n - begin : 0;
    const int m = left > shape.rows ? shape.rows : left > 0 ? left : 0;
    const int step = Interleaved ? systems : 1, next = Interleaved ? apart : apart * shape.pitch();
    T* const mine = tile + (Interleaved ? begin * systems + s : s * shape.pitch() + begin);
    const auto factor = [&](typename F::Band band) -> const T* { return factors.band[band] + p; };
    const auto y = [&](int k, int j) -> T& { return mine[k * step + j * next]; };

    T v[each] = {}, leaves[each] = {};
    {
      const T* const weight = factor(F::leaves_forward);
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) {
        const T w = weight[k * chunks];
        for_each_mine([&](int j) { v[j] = fused(w, y(k, j), v[j]); });
      }
      entering<true>(member, handed, s, p, v);
    }
    {
      const T *const inverse = factor(F::inverse), *const lower = factor(F::lower),
                     *const weight = factor(F::leaves_backward);
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) {
        const T i = inverse[k * chunks], l = -lower[k * chunks], w = weight[k * chunks];
        for_each_mine([&](int j) {
          v[j] = fused(l, v[j], product(i, y(k, j)));
          leaves[j] = fused(w, v[j], leaves[j]);
          y(k, j) = v[j];
        });
      }
    }
    if (factors.periodic) {
      const T *const last = factor(F::last), *const column = factor(F::column);
      T ends[each] = {};
      for (int k = 0; k < m; ++k)
        for_each_mine([&](int j) { ends[j] = fused(last[k * chunks], y(k, j), ends[j]); });
      sum(member, handed, s, p, ends);
      const T inverse = -factors.row(F::inverse, n - 1);
      for_each_mine([&](int j) { ends[j] = product(inverse, ends[j]); });
      for (int k = 0; k < m; ++k)
        for_each_mine([&](int j) {
          y(k, j) = begin + k == n - 1 ? ends[j] : fused(-column[k * chunks], ends[j], y(k, j));
        });
      if (p < chunks)
        for_each_mine(
            [&](int j) { leaves[j] = fused(-factors.column_leaves[p], ends[j], leaves[j]); });
    }
    entering<false>(member, handed + shape.handed_words(systems), s, p, leaves);
    Real<T> probe[each] = {};
    {
      const T* const upper = factor(F::upper);
      TRIKKOS_UNROLL(4)
      for (int k = m - 1; k >= 0; --k) {
        const T u = -upper[k * chunks];
        for_each_mine([&](int j) {
          leaves[j] = fused(u, leaves[j], y(k, j));
          y(k, j) = leaves[j];
          probe[j] += finite_probe(leaves[j]);
        });
      }
    }
    for_each_mine([&](int j) {
      if (!(probe[j] == 0) && s + j * apart < here)
        diagnose(first + s + j * apart, begin, m, mine + j * next, step);
    });
    Staging<Member>::template store<Interleaved, bulk>(member, runs<T>(tile, x, first, here));
  }

 private:
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION Runs<U> runs(T* tile, const Vectors<U>& all, std::int64_t first,
                                           int here) const {
    U* const from = all.block(first).data;
    if constexpr (Interleaved)
      return {tile, from, shape.n, here, systems, all.row_stride, all.system_stride};
    else
      return {tile, from, here, shape.n, shape.pitch(), all.system_stride, all.row_stride};
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_mine(const F& f) {
    TRIKKOS_UNROLL(each)
    for (int j = 0; j < each; ++j) f(j);
  }
  /// From what leaves a chunk to what enters it: Horner's rule over what leaves the chunks before
  /// it in its group, and over the groups before that.
  template <bool forward, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void entering(const Member& member, T* handed, int s, int p,
                                            T (&v)[each]) const {
    constexpr int way = forward ? 0 : 1;
    const int chunks = shape.chunks, g = p >> shape.group_bits, start = g << shape.group_bits;
    const int past = start + (1 << shape.group_bits), end = past < chunks ? past : chunks;
    const int apart = systems / each;
    const bool is_mine = p < chunks && s < apart;
    if (is_mine) for_each_mine([&](int j) { handed[p * systems + s + j * apart] = v[j]; });
    member.team_barrier();
    T leaving[each];
    for_each_mine([&](int j) { leaving[j] = v[j]; });
    if (is_mine) horner<forward>(handed + s, factors.product[way], start, p, end, v);
    if (shape.groups() == 1) return;

    T* const of_groups = handed + systems * chunks;
    if (is_mine && p == (forward ? end - 1 : start))
      for_each_mine([&](int j) {
        of_groups[g * systems + s + j * apart] = fused(factors.product[way][p], v[j], leaving[j]);
      });
    member.team_barrier();
    if (!is_mine) return;
    T before[each];
    horner<forward>(of_groups + s, factors.group_product[way], 0, g, shape.groups(), before);
    for_each_mine([&](int j) { v[j] = fused(factors.product_before[way][p], before[j], v[j]); });
  }
  /// Over [start, at) forward, (at, end) backward.
  template <bool forward>
  KOKKOS_FORCEINLINE_FUNCTION void horner(const T* leaving, const T* product, int start, int at,
                                          int end, T (&v)[each]) const {
    const int apart = systems / each;
    for_each_mine([&](int j) { v[j] = T(0); });
    const auto step = [&](int i) {
      for_each_mine(
          [&](int j) { v[j] = fused(product[i], v[j], leaving[i * systems + j * apart]); });
    };
    TRIKKOS_UNROLL(2)
    for (int i = forward ? start : end - 1; forward ? i < at : i > at; i += forward ? 1 : -1)
      step(i);
  }
  /// Over the chunks of a system.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void sum(const Member& member, T* handed, int s, int p,
                                       T (&v)[each]) const {
    T* const of_groups = handed + systems * shape.chunks;
    const int in_group = 1 << shape.group_bits, apart = systems / each;
    const bool is_mine = p < shape.chunks && s < apart;
    const auto add = [&](const T* from, int begin, int end) {
      for_each_mine([&](int j) {
        v[j] = T(0);
        for (int i = begin; i < end; ++i) v[j] += from[i * systems + s + j * apart];
      });
    };
    member.team_barrier();  // what was handed on before has been read
    if (is_mine) for_each_mine([&](int j) { handed[p * systems + s + j * apart] = v[j]; });
    member.team_barrier();
    if (is_mine && p % in_group == 0) {
      add(handed, p, p + in_group < shape.chunks ? p + in_group : shape.chunks);
      const int g = p >> shape.group_bits;
      for_each_mine([&](int j) { of_groups[g * systems + s + j * apart] = v[j]; });
    }
    member.team_barrier();
    if (is_mine) add(of_groups, 0, shape.groups());
  }
  /// What is not finite is reported where it is first seen: in b, which is still what it was, and
  /// in x.
  KOKKOS_FUNCTION void diagnose(std::int64_t k, int begin, int m, const T* mine, int step) const {
    const Diagnosis found = diagnosis.of(k, shape.n);
    found.mark_suspect();
    const Strided<const T> rhs = b[k].from(begin);
    for (int i = m - 1; i >= 0; --i) {
      if (!(finite_probe(mine[i * step]) == 0)) found.report_solution(begin + i);
      if (!(finite_probe(rhs[i]) == 0)) found.report(Status::Reason::not_finite, begin + i);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
