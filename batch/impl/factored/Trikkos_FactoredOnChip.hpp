// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDONCHIP_HPP
#define TRIKKOS_IMPL_FACTOREDONCHIP_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/factored/Trikkos_FactoredShape.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

/// \file
/// Many right-hand sides with one factored matrix on a device. They come to the scratch of a team,
/// and each thread has a chunk of one of them: it sees first what would leave the chunk, then what
/// does enter it, and sweeps over it then. So x is that of the recurrence itself, and what chunks
/// hand on is all that is rounded otherwise.
///
/// Of W > 1 diagonals on either side, the W values that chunks hand on may lose digits: those of a
/// smooth solution differ by little, but what their difference makes grows with the rows, as with
/// the biharmonic. Where products of multipliers say so, they are corrected once: what did leave a
/// chunk less what was taken for it is handed on likewise, and what that makes of rows is added.
///
/// Traffic: 1 word an unknown read, 1 written; factors, 5 words a row (7 where periodic), of W = 2
/// 9 (13), come through the cache.

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

/// Each thread has `each` systems.
template <class T, int each, bool Interleaved, int W = 1>
struct SolveFactored {
  using F = Factors<T, W>;
  using Words = ChunkWords<T, W>;
  using Values = T[each][W];  // of neighbouring rows, the newest first

  F factors;
  Vectors<const T> b;
  Vectors<T> x;
  SystemTiles tiles;  // one a team
  Diagnosis diagnosis;
  FactoredShape<T, W> shape;
  int systems;

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

    // first system, and chunk, of this thread
    const int apart = systems / each;
    const int s = Interleaved ? t % apart : t / chunks;
    const int p = Interleaved ? t / apart : t % chunks;
    const int begin = p * shape.rows, left = s < apart && p < chunks ? n - begin : 0;
    const int m = left > shape.rows ? shape.rows : left > 0 ? left : 0;
    const int step = Interleaved ? systems : 1, next = Interleaved ? apart : apart * shape.pitch();
    T* const mine = tile + (Interleaved ? begin * systems + s : s * shape.pitch() + begin);
    const auto words = [&](int band) { return Words(factors, band, p, chunks); };
    const auto y = [&](int k, int j) -> T& { return mine[k * step + j * next]; };

    Values v = {}, leaves = {};
    {
      const Words weight = words(F::leaves_forward);
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) {
        const auto w = weight[k];
        for_each_mine([&](int j) { add_products(w, y(k, j), v[j]); });
      }
      entering<true>(member, handed, s, p, v);
    }
    const bool corrects = W > 1 && factors.judged() == FactorsAre::stable_if_corrected;
    if (corrects) post(handed_back, s, p, v);
    {
      const Words lower = words(F::lower), weight = words(F::leaves_backward);
      const T* const inverse = factors.band[F::inverse] + p;
      TRIKKOS_UNROLL(4)
      for (int k = 0; k < m; ++k) {
        const T i = inverse[k * chunks];
        const auto l = lower[k], w = weight[k];
        for_each_mine([&](int j) {
          push_next(v[j], product(i, y(k, j)), l);
          add_products(w, v[j][0], leaves[j]);
          y(k, j) = v[j][0];
        });
      }
    }
    if (corrects) {
      mistaken<true>(member, handed_back, s, p, v);
      entering<true>(member, handed, s, p, v);
      const Words lower = words(F::lower), weight = words(F::leaves_backward);
      for (int k = 0; k < m; ++k) {
        const auto l = lower[k], w = weight[k];
        for_each_mine([&](int j) {
          push_next(v[j], T(0), l);
          add_products(w, v[j][0], leaves[j]);
          y(k, j) += v[j][0];
        });
      }
    }
    if (factors.periodic) {
      const Words last = words(F::last), column = words(F::column);
      Values ends = {};
      for (int k = 0; k < m; ++k) {
        const auto l = last[k];
        for_each_mine([&](int j) { add_products(l, y(k, j), ends[j]); });
      }
      sum(member, handed, s, p, ends);
      for_each_mine(
          [&](int j) { solve_end(ends[j], [&](int a, int c) { return factors.end[a * W + c]; }); });
      for (int k = 0; k < m; ++k) {
        const auto c = column[k];
        for_each_mine([&](int j) {
          T z = y(k, j);
          for (int a = 0; a < W; ++a) z = fused(-c(a), ends[j][a], z);
          for (int a = 0; a < W; ++a)
            if (begin + k == n - W + a) z = ends[j][a];
          y(k, j) = z;
        });
      }
      if (p < chunks)
        for_each_mine([&](int j) {
          for (T& end : ends[j]) end = -end;
          add_transferred(factors.column_leaves, p, ends[j], leaves[j]);
        });
    }
    entering<false>(member, handed_back, s, p, leaves);
    if (corrects) post(handed, s, p, leaves);
    Real<T> probe[each] = {};
    const Words upper = words(F::upper);
    TRIKKOS_UNROLL(4)
    for (int k = m - 1; k >= 0; --k) {
      const auto u = upper[k];
      for_each_mine([&](int j) {
        push_next(leaves[j], y(k, j), u);
        y(k, j) = leaves[j][0];
        probe[j] += finite_probe(leaves[j][0]);
      });
    }
    if (corrects) {
      mistaken<false>(member, handed, s, p, leaves);
      entering<false>(member, handed_back, s, p, leaves);
      for (int k = m - 1; k >= 0; --k) {
        const auto u = upper[k];
        for_each_mine([&](int j) {
          push_next(leaves[j], T(0), u);
          y(k, j) += leaves[j][0];
          probe[j] += finite_probe(y(k, j));
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
  template <class Each>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_mine(const Each& f) {
    if constexpr (each == 1) {  // nvcc keeps arrays that a loop of one turn indexes
      f(0);
    } else {
      TRIKKOS_UNROLL(each)
      for (int j = 0; j < each; ++j) f(j);
    }
  }
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION static void add_products(const Row& weight, const T& y, T (&to)[W]) {
    for (int i = 0; i < W; ++i) to[i] = fused(weight(i), y, to[i]);
  }
  /// to += the i-th of matrices times v
  KOKKOS_FORCEINLINE_FUNCTION static void add_transferred(const T* matrices, int i, const T (&v)[W],
                                                          T (&to)[W]) {
    for (int r = 0; r < W; ++r)
      for (int c = 0; c < W; ++c) to[r] = fused(matrices[(i * W + r) * W + c], v[c], to[r]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_mine(int s, int p) const {
    return p < shape.chunks && s < systems / each;
  }
  /// Where the r-th value that a chunk or a group hands on is, of the j-th system.
  KOKKOS_FORCEINLINE_FUNCTION int place(int p, int r, int s, int j) const {
    return (p * W + r) * systems + s + j * (systems / each);
  }
  KOKKOS_FORCEINLINE_FUNCTION void post(T* handed, int s, int p, const Values& v) const {
    if (!is_mine(s, p)) return;
    for_each_mine([&](int j) {
      for (int r = 0; r < W; ++r) handed[place(p, r, s, j)] = v[j][r];
    });
  }
  /// From what leaves a chunk to what enters it: Horner's rule over what leaves the chunks before
  /// it in its group, and over the groups before that.
  template <bool forward, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void entering(const Member& member, T* handed, int s, int p,
                                            Values& v) const {
    constexpr int way = forward ? 0 : 1;
    const int chunks = shape.chunks, g = p >> shape.group_bits, start = g << shape.group_bits;
    const int past = start + (1 << shape.group_bits), end = past < chunks ? past : chunks;
    post(handed, s, p, v);
    member.team_barrier();
    Values leaving;
    assign(leaving, v);
    if (is_mine(s, p)) horner<forward>(handed, s, factors.product[way], start, p, end, v);
    if (shape.groups() == 1) return;

    T* const of_groups = handed + place(chunks, 0, 0, 0);
    if (is_mine(s, p) && p == (forward ? end - 1 : start)) {
      for_each_mine([&](int j) { add_transferred(factors.product[way], p, v[j], leaving[j]); });
      post(of_groups, s, g, leaving);
    }
    member.team_barrier();
    if (!is_mine(s, p)) return;
    Values before;
    horner<forward>(of_groups, s, factors.group_product[way], 0, g, shape.groups(), before);
    for_each_mine([&](int j) { add_transferred(factors.product_before[way], p, before[j], v[j]); });
  }
  /// Over [start, at) forward, (at, end) backward.
  template <bool forward>
  KOKKOS_FORCEINLINE_FUNCTION void horner(const T* handed, int s, const T* product, int start,
                                          int at, int end, Values& v) const {
    for_each_mine([&](int j) {
      for (T& value : v[j]) value = T(0);
    });
    TRIKKOS_UNROLL(2)
    for (int i = forward ? start : end - 1; forward ? i < at : i > at; i += forward ? 1 : -1)
      for_each_mine([&](int j) {
        T leaving[W];
        for (int r = 0; r < W; ++r) leaving[r] = handed[place(i, r, s, j)];
        add_transferred(product, i, v[j], leaving);
        for (int r = 0; r < W; ++r) v[j][r] = leaving[r];
      });
  }
  /// From what did leave a chunk to what that is more than its neighbour has posted as entering.
  template <bool forward, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void mistaken(const Member& member, const T* entered, int s, int p,
                                            Values& v) const {
    member.team_barrier();
    const int q = forward ? p + 1 : p - 1;
    const bool has_neighbour = is_mine(s, p) && q >= 0 && q < shape.chunks;
    for_each_mine([&](int j) {
      for (int r = 0; r < W; ++r)
        v[j][r] = has_neighbour ? v[j][r] - entered[place(q, r, s, j)] : T(0);
    });
  }
  /// Over the chunks of a system.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void sum(const Member& member, T* handed, int s, int p,
                                       Values& v) const {
    T* const of_groups = handed + place(shape.chunks, 0, 0, 0);
    const int in_group = 1 << shape.group_bits;
    const auto add = [&](const T* from, int begin, int end) {
      for_each_mine([&](int j) {
        for (int r = 0; r < W; ++r) {
          v[j][r] = T(0);
          for (int i = begin; i < end; ++i) v[j][r] += from[place(i, r, s, j)];
        }
      });
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
  KOKKOS_FORCEINLINE_FUNCTION static void assign(Values& to, const Values& from) {
    for_each_mine([&](int j) {
      for (int r = 0; r < W; ++r) to[j][r] = from[j][r];
    });
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
