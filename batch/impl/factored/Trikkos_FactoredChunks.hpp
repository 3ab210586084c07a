// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDCHUNKS_HPP
#define TRIKKOS_IMPL_FACTOREDCHUNKS_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/factored/Trikkos_FactoredShape.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

/// \file
/// A team whose threads have a chunk each of some systems: what leaves the chunks is handed on from
/// one to the next through scratch.

namespace Trikkos::Impl {

/// `each`: systems of a thread.
template <class T, int each, int W = 1>
struct FactoredChunks {
  using F = Factors<T, W>;
  using Values = T[each][W];  // of neighbouring rows, the newest first

  F factors;
  Vectors<const T> b;
  Vectors<T> x;
  SystemTiles tiles;  // one a team
  Diagnosis diagnosis;
  FactoredShape<T, W> shape;
  int systems;

  template <class Each>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_mine(const Each& f) {
    if constexpr (each == 1) {  // nvcc keeps arrays that a loop of one turn indexes
      f(0);
    } else {
      TRIKKOS_UNROLL(each)
      for (int j = 0; j < each; ++j) f(j);
    }
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
  /// What is not finite is reported where it is first seen: in b, which is still what it was, and
  /// in x, of whose m rows from `begin` on that is row `bad`.
  KOKKOS_FUNCTION void diagnose(std::int64_t system, int begin, int m, int bad) const {
    const Diagnosis found = diagnosis.of(system, shape.n);
    found.mark_suspect();
    if (bad < m) found.report_solution(begin + bad);
    const Strided<const T> rhs = b[system].from(begin);
    for (int k = m - 1; k >= 0; --k)
      if (!(finite_probe(rhs[k]) == 0)) found.report(Status::Reason::not_finite, begin + k);
  }

 private:
  /// Over [start, at) forward, (at, end) backward.
  template <bool forward>
  KOKKOS_FORCEINLINE_FUNCTION void horner(const T* handed, int s, const T* product, int start,
                                          int at, int end, Values& v) const {
    for_each_mine([&](int j) {
      for (T& value : v[j]) value = T(0);
    });
    TRIKKOS_UNROLL(8)
    for (int i = forward ? start : end - 1; forward ? i < at : i > at; i += forward ? 1 : -1)
      for_each_mine([&](int j) {
        T leaving[W];
        for (int r = 0; r < W; ++r) leaving[r] = handed[place(i, r, s, j)];
        add_transferred(product, i, v[j], leaving);
        for (int r = 0; r < W; ++r) v[j][r] = leaving[r];
      });
  }
  KOKKOS_FORCEINLINE_FUNCTION static void assign(Values& to, const Values& from) {
    for_each_mine([&](int j) {
      for (int r = 0; r < W; ++r) to[j][r] = from[j][r];
    });
  }
};

/// The rows of a chunk of an open tridiagonal matrix in the registers of a thread: of b, then of y,
/// then of x. `word`: the words of the chunk; where it has fewer rows, they do nothing.
template <class T>
struct ChunkInRegisters {
  using F = Factors<T>;
  static constexpr int rows = F::most_rows;

  T y[rows];

  KOKKOS_FORCEINLINE_FUNCTION ChunkInRegisters(const T* from, std::int64_t stride, int m) {
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      y[k] = T(0);
      if (k < m) y[k] = *from;
      from += stride;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to, std::int64_t stride, int m) const {
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      if (k < m) *to = y[k];
      to += stride;
    }
  }
  /// What leaves it if nothing enters.
  KOKKOS_FORCEINLINE_FUNCTION T leaves_forward(const typename F::Chunk& word) const {
    T sum(0);
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) sum = fused(word(k, F::leaves_forward), y[k], sum);
    return sum;
  }
  /// The sweep, and what will leave the chunk backward if nothing enters there.
  KOKKOS_FORCEINLINE_FUNCTION T sweep_forward(const typename F::Chunk& word, T enters) {
    T leaves(0);
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      y[k] = fused(-word(k, F::lower), enters, product(word(k, F::inverse), y[k]));
      enters = y[k];
      leaves = fused(word(k, F::leaves_backward), y[k], leaves);
    }
    return leaves;
  }
  /// Returns zero where all are finite.
  KOKKOS_FORCEINLINE_FUNCTION Real<T> sweep_backward(const typename F::Chunk& word, T enters) {
    Real<T> probe(0);
    TRIKKOS_UNROLL(rows)
    for (int k = rows - 1; k >= 0; --k) {
      y[k] = fused(-word(k, F::upper), enters, y[k]);
      enters = y[k];
      probe += finite_probe(y[k]);
    }
    return probe;
  }
  /// The first of m rows that is not finite, or m.
  KOKKOS_FORCEINLINE_FUNCTION int first_bad(int m) const {
    int bad = m;
    TRIKKOS_UNROLL(rows)
    for (int k = rows - 1; k >= 0; --k)
      if (k < m && !(finite_probe(y[k]) == 0)) bad = k;
    return bad;
  }
};

}  // namespace Trikkos::Impl

#endif
