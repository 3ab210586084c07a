// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDONCHIP_HPP
#define TRIKKOS_IMPL_FACTOREDONCHIP_HPP

#include <impl/factored/Trikkos_FactoredChunks.hpp>

/// \file
/// Many right-hand sides with one factored matrix on a device. They come to the scratch of a team,
/// and each thread has a chunk of one of them, over which it sweeps twice each way: as if nothing
/// entered, to see what would leave it, and from what does enter. So x is that of the recurrence
/// itself, and what chunks hand on is all that is rounded otherwise.
///
/// Weights sum what leaves a chunk by one multiplication a row, but they are two more words of
/// factors, which an SM's cache then holds for half as many rows: so short open ones have them.
///
/// Of W > 1 diagonals on either side, the W values that chunks hand on may lose digits: those of a
/// smooth solution differ by little, but what their difference makes grows with the rows, as with
/// the biharmonic. Where products of multipliers say so, they are corrected once: what did leave a
/// chunk less what was taken for it is handed on likewise, and what that makes of rows is added.
///
/// Traffic: 1 word an unknown read, 1 written; factors, 3 words a row (5 where periodic or by
/// weights), of W = 2 5 (9), come through the cache.

namespace Trikkos::Impl {

/// W words of each row of a chunk.
template <class T, int W>
struct ChunkWords {
  struct Row {
    T word[W];
    KOKKOS_FORCEINLINE_FUNCTION const T& operator()(int t) const { return word[t]; }
  };
  const T* band[W];
  int step;  // between rows

  KOKKOS_FORCEINLINE_FUNCTION ChunkWords(const Factors<T, W>& factors, int first, int p, int chunks)
      : step(chunks) {
    for (int t = 0; t < W; ++t) band[t] = factors.band[first + t] + p;
  }
  KOKKOS_FORCEINLINE_FUNCTION Row operator[](int k) const {
    Row r;
    for (int t = 0; t < W; ++t) r.word[t] = band[t][k * step];
    return r;
  }
};

/// `by_weights`: what leaves chunks is summed, of open matrices, with the bits that the same chunks
/// make in Trikkos_FactoredInRegisters.hpp.
template <class T, bool Interleaved, int W = 1, bool by_weights = false>
struct SolveFactored : FactoredChunks<T, W> {
  using Base = FactoredChunks<T, W>;
  using Base::factors, Base::b, Base::x, Base::tiles, Base::shape, Base::systems;
  using Base::is_mine, Base::place, Base::post, Base::diagnose;
  using typename Base::F, typename Base::Values;
  using Words = ChunkWords<T, W>;

  /// Of a run that is copied in bulk: little else is to be done here.
  static constexpr int bulk = 128;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), n = shape.n, chunks = shape.chunks;
    const SystemTiles::Tile these = tiles[member.league_rank()];
    const std::int64_t first = these.first;
    const int here = these.count;
    T* const tile = team_scratch<T, staging_alignment>(member);
    T* const handed = tile + shape.tile_words(systems);
    T* const handed_back = handed + shape.handed_words(systems);
    Staging<Member> staging(member, handed_back + shape.handed_words(systems));
    staging.template load<Interleaved, bulk>(runs<const T>(tile, b, first, here));
    staging.wait();

    // of this thread
    const int s = Interleaved ? t % systems : t / chunks;
    const int p = Interleaved ? t / systems : t % chunks;
    const int begin = p * shape.rows, left = is_mine(s, p) ? n - begin : 0;
    const int m = left > shape.rows ? shape.rows : left > 0 ? left : 0;
    const int step = Interleaved ? systems : 1;
    T* const mine = tile + (Interleaved ? begin * systems + s : s * shape.pitch() + begin);
    const auto y = [&](int k) -> T& { return mine[k * step]; };
    const bool corrects = W > 1 && factors.judged() == FactorsAre::stable_if_corrected;

    const Words lower(factors, F::lower, p, chunks), upper(factors, F::upper, p, chunks);
    const T* const inverse = factors.band[F::inverse] + p;
    const auto forward = [&](Values& v, const auto& put) {
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) {
        push_next(v, product(inverse[k * chunks], y(k)), lower[k]);
        put(y(k), v[0]);
      }
    };
    const auto backward = [&](Values& v, const auto& put) {
      TRIKKOS_UNROLL(4)
      for (int k = m - 1; k >= 0; --k) {
        push_next(v, y(k), upper[k]);
        put(y(k), v[0]);
      }
    };
    const auto see = [](const T&, const T&) {};
    const Words weight_back(factors, F::leaves_backward, p, chunks);

    Values v = {}, leaves = {};
    if constexpr (by_weights) {
      const Words weight(factors, F::leaves_forward, p, chunks);
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) add_products(weight[k], y(k), v);
    } else {
      forward(v, see);
    }
    this->template entering<true>(member, handed, s, p, v);
    if (corrects) post(handed_back, s, p, v);
    if constexpr (by_weights) {
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) {
        push_next(v, product(inverse[k * chunks], y(k)), lower[k]);
        add_products(weight_back[k], v[0], leaves);
        y(k) = v[0];
      }
    } else {
      forward(v, [](T& at, const T& value) { at = value; });
    }
    if (corrects) {
      this->template mistaken<true>(member, handed_back, s, p, v);
      this->template entering<true>(member, handed, s, p, v);
      for (int k = 0; k < m; ++k) {
        push_next(v, T(0), lower[k]);
        if constexpr (by_weights) add_products(weight_back[k], v[0], leaves);
        y(k) += v[0];
      }
    }
    if (factors.periodic) close_ring(member, handed, s, p, begin, m, y);

    if constexpr (!by_weights) backward(leaves, see);
    this->template entering<false>(member, handed_back, s, p, leaves);
    if (corrects) post(handed, s, p, leaves);
    Real<T> probe(0);
    backward(leaves, [&](T& at, const T& value) {
      at = value;
      probe += finite_probe(value);
    });
    if (corrects) {
      this->template mistaken<false>(member, handed, s, p, leaves);
      this->template entering<false>(member, handed_back, s, p, leaves);
      for (int k = m - 1; k >= 0; --k) {
        push_next(leaves, T(0), upper[k]);
        y(k) += leaves[0];
        probe += finite_probe(y(k));
      }
    }
    if (!(probe == 0) && s < here) {
      int bad = 0;
      while (bad < m && finite_probe(y(bad)) == 0) ++bad;
      diagnose(first + s, begin, m, bad);
    }
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
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static void add_products(const Row& weight, const T& y, T (&to)[W]) {
    for (int i = 0; i < W; ++i) to[i] = fused(weight(i), y, to[i]);
  }
  /// The last unknowns of a ring from the sums over its rows, and what they are in those.
  template <class Member, class Y>
  KOKKOS_FORCEINLINE_FUNCTION void close_ring(const Member& member, T* handed, int s, int p,
                                              int begin, int m, const Y& y) const {
    const Words last(factors, F::last, p, shape.chunks),
        column(factors, F::column, p, shape.chunks);
    Values ends = {};
    for (int k = 0; k < m; ++k) {
      const auto l = last[k];
      for (int a = 0; a < W; ++a) ends[a] = fused(l(a), y(k), ends[a]);
    }
    sum(member, handed, s, p, ends);
    solve_end(ends, [&](int a, int c) { return factors.end[a * W + c]; });
    for (int k = 0; k < m; ++k) {
      const auto c = column[k];
      T z = y(k);
      for (int a = 0; a < W; ++a) z = fused(-c(a), ends[a], z);
      for (int a = 0; a < W; ++a)
        if (begin + k == shape.n - W + a) z = ends[a];
      y(k) = z;
    }
  }
  /// Over the chunks of a system.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void sum(const Member& member, T* handed, int s, int p,
                                       Values& v) const {
    T* const of_groups = handed + place(shape.chunks, 0, 0);
    const int in_group = 1 << shape.group_bits;
    const auto add = [&](const T* from, int begin, int end) {
      for (int r = 0; r < W; ++r) {
        v[r] = T(0);
        for (int i = begin; i < end; ++i) v[r] += from[place(i, r, s)];
      }
    };
    member.team_barrier();  // what was handed on before has been read
    post(handed, s, p, v);
    member.team_barrier();
    if (is_mine(s, p) && p % in_group == 0) {
      add(handed, p, p + in_group < shape.chunks ? p + in_group : shape.chunks);
      post(of_groups, s, p >> shape.group_bits, v);
    }
    member.team_barrier();
    if (is_mine(s, p)) add(of_groups, 0, shape.groups());
  }
};

}  // namespace Trikkos::Impl

#endif
