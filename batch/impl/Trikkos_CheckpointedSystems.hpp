// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CHECKPOINTEDSYSTEMS_HPP
#define TRIKKOS_IMPL_CHECKPOINTEDSYSTEMS_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_ThreadRows.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

/// \file
/// A whole open system a thread, however long: the QR factorization, of which scratch holds the
/// pivot rows of one stretch of rows. The first time over the rows the few words that are carried
/// from stretch to stretch are kept (checkpoints); from there the stretches are eliminated once
/// more, from the last to the first, each before its unknowns are found.
///
/// There are no segments: no columns of outer unknowns, and no tree.
///
/// Traffic: 2W + 2 words a row read twice, 1 written; of W = 2 18 words a stretch.

namespace Trikkos::Impl {

/// Stretches of `rows` unknowns, in teams of so many threads.
template <class T, int W>
struct CheckpointShape {
  static constexpr int threads = 64;

  int n = 0, rows = 0, stretches = 0;

  explicit CheckpointShape(std::int64_t n_) {
    if (n_ < 1 || n_ > 1 << 30) return;
    n = static_cast<int>(n_);
    // a multiple of the rows that are read at a time
    constexpr int ahead = ThreadRows<T, W, Bands<T, W>>::ahead;
    const int fit = (scratch_limit - scratch_reserved(threads) - static_cast<int>(alignof(T))) /
                    (threads * row_bytes) / ahead * ahead;
    const int wanted = (n + fit - 1) / fit;
    rows = ((n + wanted - 1) / wanted + ahead - 1) / ahead * ahead;
    stretches = (n + rows - 1) / rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int end(int stretch) const {
    return stretch + 1 < stretches ? (stretch + 1) * rows : n;
  }
  std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(rows * threads * row_bytes) + alignof(T);
  }

 private:
  static constexpr int row_bytes = (2 * W + 1) * sizeof(T);
};

/// Of what is not safe from underflow or not finite nothing is solved; it is marked in `unsafe`.
template <class T, class Elimination, class Matrices>
struct SolveFromCheckpoints {
  static constexpr int W = Elimination::half_bandwidth;
  using Rows = ThreadRows<T, W, MatrixOf<Matrices>>;
  using Lone = typename Elimination::template Lone<T>;

  Problem<T, W, Matrices> problem;
  CheckpointShape<T, W> shape;
  SystemTiles tiles;  // one a team
  T* checkpoints;     // [stretch - 1][word][system]
  Marks<T> unsafe;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const SystemTiles::Tile here = tiles[member.league_rank()];
    if (member.team_rank() >= here.count) return;
    const std::int64_t system = here.first + member.team_rank();
    const auto A = problem.A[system];
    Rows rows{A, problem.b[system], problem.x[system], 0, shape.n};
    rows.back = team_scratch<T>(member) + member.team_rank();
    rows.apart = shape.threads;
    const auto equation = [&](int i) { return rows.equation(i); };
    const auto for_checkpoint = [&](Lone& carried, int stretch, const auto& use) {
      T* const at = checkpoints + (stretch - 1) * Lone::words * problem.count() + system;
      carried.for_words([&](T& word, int k) { use(word, at[k * problem.count()]); });
    };

    Lone carried(equation);
    const int last = shape.stretches - 1;
    TRIKKOS_UNROLL(1)
    for (int i = 0; i < last; ++i) {
      eliminate(rows, carried, i, [](int, const BackRow<T, W>&) {});
      for_checkpoint(carried, i + 1, [](const T& word, T& kept) { kept = word; });
    }
    T x[2 * W];
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) x[j] = T(0);
    Real<T> probe(0);
    TRIKKOS_UNROLL(1)
    for (int i = last; i >= 0; --i) {
      rows.skipped = i * shape.rows;
      if (i < last && i == 0) carried.start(equation);
      if (i < last && i > 0)
        for_checkpoint(carried, i, [](T& word, const T& kept) { word = kept; });
      eliminate(rows, carried, i, [&](int k, const BackRow<T, W>& row) { rows.keep(k, row); });
      if (i == last) {
        const bool is_sound = carried.is_sound();
        unsafe.mark(system, !is_sound);
        if (!is_sound) return;
      }
      for_kept_rows(rows, shape.end(i) - 1, rows.skipped, [&](int k, const BackRow<T, W>& row) {
        const T v = Elimination::substituted(row, x);
        TRIKKOS_UNROLL(2 * W)
        for (int j = 2 * W - 1; j > 0; --j) x[j] = x[j - 1];
        x[0] = v;
        probe += finite_probe(v);
        // x may be b, of which the stretch before this one ends W rows behind its unknowns
        if (k + W < shape.n) rows.store(k + W, x[W]);
      });
    }
    TRIKKOS_UNROLL(W)
    for (int j = 0; j < W; ++j)
      if (j < shape.n) rows.store(j, x[j]);
    if (!(probe == 0))
      report_first_not_finite(problem.diagnosis.of(system, shape.n), rows.x, 0, shape.n);
  }

 private:
  /// keep(k, row): row k is the pivot row of unknown k.
  template <class Keep>
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(const Rows& rows, Lone& carried, int stretch,
                                             const Keep& keep) const {
    const auto step = [&](int k, const Equation<T, W>& e) { keep(k - W, carried.rotate(e)); };
    int k = stretch * shape.rows + W;
    const int end = shape.end(stretch) + W, inner = rows.inner_rows();
    for_inner_rows(rows, k, end < inner ? end : inner, step);
    for (; k < end; ++k) step(k, rows.equation(k));
  }
};

}  // namespace Trikkos::Impl

#endif
