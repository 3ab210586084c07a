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

template <class T, int W = 1>
struct FactoredChunks {
  using F = Factors<T, W>;
  using Values = T[W];  // of neighbouring rows, the newest first

  F factors;
  Vectors<const T> b;
  Vectors<T> x;
  SystemTiles tiles;  // one a team
  Diagnosis diagnosis;
  FactoredShape<T, W> shape;
  int systems;

  /// to += the i-th of matrices times v
  KOKKOS_FORCEINLINE_FUNCTION static void add_transferred(const T* matrices, int i, const Values& v,
                                                          Values& to) {
    for (int r = 0; r < W; ++r)
      for (int c = 0; c < W; ++c) to[r] = fused(matrices[(i * W + r) * W + c], v[c], to[r]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_mine(int s, int p) const {
    return p < shape.chunks && s < systems;
  }
  /// Where the r-th value that a chunk or a group hands on is.
  KOKKOS_FORCEINLINE_FUNCTION int place(int p, int r, int s) const {
    return (p * W + r) * systems + s;
  }
  KOKKOS_FORCEINLINE_FUNCTION void post(T* handed, int s, int p, const Values& v) const {
    if (!is_mine(s, p)) return;
    for (int r = 0; r < W; ++r) handed[place(p, r, s)] = v[r];
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
    for (int r = 0; r < W; ++r) leaving[r] = v[r];
    if (is_mine(s, p)) horner<forward>(handed, s, factors.product[way], start, p, end, v);
    if (shape.groups() == 1) return;

    T* const of_groups = handed + place(chunks, 0, 0);
    if (is_mine(s, p) && p == (forward ? end - 1 : start)) {
      add_transferred(factors.product[way], p, v, leaving);
      post(of_groups, s, g, leaving);
    }
    member.team_barrier();
    if (!is_mine(s, p)) return;
    Values before;
    horner<forward>(of_groups, s, factors.group_product[way], 0, g, shape.groups(), before);
    add_transferred(factors.product_before[way], p, before, v);
  }
  /// From what did leave a chunk to what that is more than its neighbour has posted as entering.
  template <bool forward, class Member>
  KOKKOS_FORCEINLINE_FUNCTION void mistaken(const Member& member, const T* entered, int s, int p,
                                            Values& v) const {
    member.team_barrier();
    const int q = forward ? p + 1 : p - 1;
    const bool has_neighbour = is_mine(s, p) && q >= 0 && q < shape.chunks;
    for (int r = 0; r < W; ++r) v[r] = has_neighbour ? v[r] - entered[place(q, r, s)] : T(0);
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
    for (T& value : v) value = T(0);
    TRIKKOS_UNROLL(8)
    for (int i = forward ? start : end - 1; forward ? i < at : i > at; i += forward ? 1 : -1)
      pass_chunk(handed, s, product, i, v);
  }
  /// From what enters to what leaves. (Not in the loop above: nvcc 13.0 would unroll it by less.)
  KOKKOS_FORCEINLINE_FUNCTION void pass_chunk(const T* handed, int s, const T* product, int i,
                                              Values& v) const {
    Values leaving;
    for (int r = 0; r < W; ++r) leaving[r] = handed[place(i, r, s)];
    add_transferred(product, i, v, leaving);
    for (int r = 0; r < W; ++r) v[r] = leaving[r];
  }
};

/// The rows of a chunk of an open matrix in the registers of a thread: of b, then of y, then of x.
/// Those that it lacks come first, so that both sweeps end and begin with rows that exist. `word`:
/// the words of the chunk, which has so many rows at most.
template <class T, int W = 1, int rows = Factors<T, W>::short_chunk>
struct ChunkInRegisters {
  using F = Factors<T, W>;
  using Words = typename F::Chunk;

  T y[rows];
  int lacking;

  KOKKOS_FORCEINLINE_FUNCTION ChunkInRegisters(const T* from, std::int64_t stride, int count)
      : lacking(rows - count) {
    from -= lacking * stride;
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      y[k] = T(0);
      if (k >= lacking) y[k] = *from;
      from += stride;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to, std::int64_t stride) const {
    to -= lacking * stride;
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      if (k >= lacking) *to = y[k];
      to += stride;
    }
  }
  /// What leaves it if nothing enters.
  KOKKOS_FORCEINLINE_FUNCTION void leaves_forward(const Words& word, T (&leaves)[W]) const {
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) add(word, F::leaves_forward, k, y[k], leaves);
  }
  /// The sweep, from what enters to what leaves the chunk; and what will leave it backward if
  /// nothing enters there.
  KOKKOS_FORCEINLINE_FUNCTION void sweep_forward(const Words& word, T (&v)[W], T (&leaves)[W]) {
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      if (is_lacking(k)) continue;
      next(word, F::lower, k, product(word(k, F::inverse), y[k]), v);
      add(word, F::leaves_backward, k, v[0], leaves);
      y[k] = v[0];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void sweep_backward(const Words& word, T (&v)[W]) {
    TRIKKOS_UNROLL(rows)
    for (int k = rows - 1; k >= 0; --k) {
      if (is_lacking(k)) continue;
      next(word, F::upper, k, y[k], v);
      y[k] = v[0];
    }
  }
  /// What more makes of the rows if v enters than they were swept with.
  KOKKOS_FORCEINLINE_FUNCTION void correct_forward(const Words& word, T (&v)[W], T (&leaves)[W]) {
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) {
      if (is_lacking(k)) continue;
      next(word, F::lower, k, T(0), v);
      add(word, F::leaves_backward, k, v[0], leaves);
      y[k] += v[0];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void correct_backward(const Words& word, T (&v)[W]) {
    TRIKKOS_UNROLL(rows)
    for (int k = rows - 1; k >= 0; --k) {
      if (is_lacking(k)) continue;
      next(word, F::upper, k, T(0), v);
      y[k] += v[0];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_finite() const {
    Real<T> probe(0);
    TRIKKOS_UNROLL(rows)
    for (int k = 0; k < rows; ++k) probe += finite_probe(y[k]);
    return probe == 0;
  }
  /// The first row that is not finite, or as many as there are.
  KOKKOS_FORCEINLINE_FUNCTION int first_bad() const {
    int bad = rows;
    TRIKKOS_UNROLL(rows)
    for (int k = rows - 1; k >= 0; --k)
      if (k >= lacking && !(finite_probe(y[k]) == 0)) bad = k;
    return bad - lacking;
  }

 private:
  /// For W = 1 the words see to that.
  KOKKOS_FORCEINLINE_FUNCTION bool is_lacking(int k) const { return W > 1 && k < lacking; }
  KOKKOS_FORCEINLINE_FUNCTION static void next(const Words& word, int multiplier, int k, const T& v,
                                               T (&values)[W]) {
    push_next(values, v, [&](int t) { return word(k, multiplier + t); });
  }
  KOKKOS_FORCEINLINE_FUNCTION static void add(const Words& word, int weight, int k, const T& v,
                                              T (&to)[W]) {
    for (int i = 0; i < W; ++i) to[i] = fused(word(k, weight + i), v, to[i]);
  }
};

}  // namespace Trikkos::Impl

#endif
