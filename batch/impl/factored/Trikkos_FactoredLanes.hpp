// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDLANES_HPP
#define TRIKKOS_IMPL_FACTOREDLANES_HPP

#include <algorithm>
#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/factored/Trikkos_Factors.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

/// \file
/// Many right-hand sides with one factored matrix where the execution space is the host: each SIMD
/// lane sweeps over one of them, a few vectors of lanes at a time, as one would wait for itself.
///
/// Traffic: 1 word an unknown read, 1 written.

namespace Trikkos::Impl {

template <class T, int W = 1>
struct SolveFactoredLanes {
  using V = Lanes<T>;
  using F = Factors<T, W>;
  static constexpr int width = lane_count<T>, vectors = 4;
  static constexpr std::int64_t most_groups = 64;

  F factors;  // one chunk
  Problem<T, W> problem;
  std::int64_t groups;  // of threads' work, each with memory of its own

  static std::int64_t groups_of(std::int64_t count) {
    return std::min(most_groups, (count + vectors * width - 1) / (vectors * width));
  }
  static std::int64_t group_words(std::int64_t n) { return n * vectors * width; }

  void operator()(std::int64_t group) const {
    const SystemTiles tiles(problem.slab(), width);
    const std::int64_t count = tiles.count(problem.count());
    const std::int64_t end = (group + 1) * count / groups;
    auto* const z = reinterpret_cast<V*>(problem.storage + group * group_words(factors.n));
    const auto all_full = [&](std::int64_t t) {
      bool full = t + vectors <= end;
      for (int j = 0; full && j < vectors; ++j) full = tiles[t + j].count == width;
      return full;
    };
    for (std::int64_t t = group * count / groups; t < end;) {
      const bool many = all_full(t);
      many ? sweep<vectors>(tiles, t, z) : sweep<1>(tiles, t, z);
      t += many ? vectors : 1;
    }
  }

 private:
  /// `many` tiles from the t-th on, a vector each: full ones, or one.
  template <int many>
  void sweep(const SystemTiles& tiles, std::int64_t t, V* z) const {
    const std::int64_t n = factors.n;
    const int count = many > 1 ? width : tiles[t].count;
    const T* starts[many];
    T* solutions[many];
    for (int j = 0; j < many; ++j) {
      starts[j] = problem.b[tiles[t + j].first].data;
      solutions[j] = problem.x[tiles[t + j].first].data;
    }
    Vectors<const T> b = problem.b;  // strides of its own would be looked at for each vector
    Vectors<T> solution = problem.x;
    // longer streams than a page are left to the hardware
    constexpr std::int64_t page = 4096 / sizeof(T);
    const bool asks_ahead = n <= page || b.system_stride < b.row_stride;
    const auto word = [&](int band, std::int64_t i) {
      return in_all_lanes(factors.at(band, i, 0));
    };
    // of a row, for all vectors
    const auto load_words = [&](int band, std::int64_t i, V(&to)[W]) {
      for (int a = 0; a < W; ++a) to[a] = word(band + a, i);
    };
    V v[many][W], ends[many][W], words[W]{}, columns[W], inverse;
    const auto multiplier = [&](int a) { return words[a]; };
    for (int j = 0; j < many; ++j) set_to_zero(v[j]), set_to_zero(ends[j]);
    for (std::int64_t i = 0; i < n; ++i) {
      inverse = word(F::inverse, i);
      load_words(F::lower, i, words);
      for (int j = 0; j < many; ++j) {
        b.data = starts[j];
        solution.data = solutions[j];
        if (asks_ahead) {
          const RowAhead<T> ahead(i, n, many * width);
          ahead.template ask<false>(b);
          ahead.template ask<true>(solution);
        }
        const V d = load_lanes<T>(b, count, i);
        push_next(v[j], product(inverse, d), multiplier);
        z[i * many + j] = v[j][0];
      }
      if (!factors.periodic) continue;
      load_words(F::last, i, words);
      for (int j = 0; j < many; ++j)
        for (int a = 0; a < W; ++a) ends[j][a] = fused(words[a], v[j][0], ends[j][a]);
    }
    if (factors.periodic)
      for (int j = 0; j < many; ++j) {
        solve_end(ends[j], [&](int a, int c) { return in_all_lanes(factors.end[a * W + c]); });
        for (int a = 0; a < W; ++a) z[(n - W + a) * many + j] = ends[j][a];
      }

    Real<V> probe[many];
    for (int j = 0; j < many; ++j) {
      set_to_zero(v[j]);
      probe[j] = constant<Real<V>>(0);
    }
    const unsigned stored = all_lanes<T> >> (width - count);
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const bool has_columns = factors.periodic && i < n - W;
      if (has_columns) load_words(F::column, i, columns);
      load_words(F::upper, i, words);
      for (int j = 0; j < many; ++j) {
        V right = z[i * many + j];
        for (int c = 0; has_columns && c < W; ++c) right = fused(-columns[c], ends[j][c], right);
        push_next(v[j], right, multiplier);
        probe[j] += finite_probe(v[j][0]);
        z[i * many + j] = v[j][0];
      }
    }
    for (int j = 0; j < many; ++j) {
      const std::int64_t first = tiles[t + j].first;
      for (int l = 0; l < count; ++l)
        if (!(lane(probe[j], l) == 0)) diagnose(first + l, z + j, many, l);
      const Vectors<T> x = problem.x.block(first);
      for (std::int64_t i = 0; i < n; ++i) store_lanes(x, stored, i, z[i * many + j]);
    }
  }
  static void set_to_zero(V (&values)[W]) {
    for (V& v : values) v = constant<V>(0);
  }
  /// What is not finite is reported in b, which is still what it was, and in x.
  void diagnose(std::int64_t k, const V* x, int step, int l) const {
    const Diagnosis found = problem.diagnosis.of(k, factors.n);
    found.mark_suspect();
    const Strided<const T> rhs = problem.b[k];
    for (std::int64_t i = factors.n - 1; i >= 0; --i) {
      if (!(finite_probe(lane(x[i * step], l)) == 0)) found.report_solution(i);
      if (!(finite_probe(rhs[i]) == 0)) found.report(Status::Reason::not_finite, i);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
