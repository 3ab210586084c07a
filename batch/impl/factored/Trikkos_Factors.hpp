// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORS_HPP
#define TRIKKOS_IMPL_FACTORS_HPP

#include <impl/factored/Trikkos_Crout.hpp>

/// \file
/// Where the factors of one matrix lie, for many right-hand sides, and what all that solve with
/// them do.
///
/// Rows are numbered by chunks, which threads sweep over side by side. What leaves a chunk that
/// nothing enters is the last W values of a sweep, or a sum over its rows, whose weights are
/// products of multipliers; what does enter is found from what leaves the chunks before it and the
/// products over all their rows, matrices of W x W. Weights and products are made beforehand, too
/// (Trikkos_FactorMatrix.hpp).

namespace Trikkos::Impl {

/// Row k of chunk p is row k + p rows of the matrix; chunks come in groups.
template <class T, int W = 1>
struct Factors : FactorBands<W> {
  using Words = FactorBands<W>;
  static constexpr int square = W * W;
  static constexpr int short_chunk = 17, long_chunk = 33;      // of so many rows at most
  static constexpr bool has_long_chunks = W * sizeof(T) == 8;  // in registers, too
  static constexpr bool has_chunks = W * sizeof(T) <= 16;      // else registers would not hold one
  static constexpr int abreast = 4;                            // chunks side by side in `by_chunk`
  static constexpr int in_chunk = 4 * W + 1;                   // words of a row there

  std::int64_t n = 0, rows = 0, chunks = 0, group = 0;  // group 0: swept over as a whole
  bool periodic = false;                                // of more than W rows

  T* band[Words::bands] = {};  // [rows][chunks] each
  T* end = nullptr;            // of a ring: the factors of its last W x W, L, 1/p and U
  // of -l (forward) and -u (backward): over a chunk, over those of its group that are swept before
  // it, over a group; what a chunk sends backward of what enters it forward: W x W words each
  T *product[2] = {}, *product_before[2] = {}, *group_product[2] = {}, *response = nullptr;
  // of an open matrix the words of rows once more, for threads that have a chunk in registers:
  // [chunks / abreast][most_rows()][in_chunk][abreast]; rows that a chunk lacks come first
  T* by_chunk = nullptr;
  T* verdict = nullptr;  // a `FactorsAre`, in the place of a scalar
  std::int64_t words = 0;

  KOKKOS_INLINE_FUNCTION constexpr Factors(T* data, std::int64_t n_, std::int64_t rows_,
                                           std::int64_t chunks_, std::int64_t group_,
                                           bool is_periodic)
      : n(n_), rows(rows_), chunks(chunks_), group(group_), periodic(is_periodic && n_ > W) {
    const auto take = [&](T*& part, std::int64_t count) {
      if (data != nullptr) part = data + words;
      words += count;
    };
    const auto take_bands = [&](int first, int past) {
      for (int j = first; j < past; ++j) take(band[j], rows * chunks);
    };
    take_bands(Words::inverse, periodic ? Words::leaves_forward : Words::column);
    if (periodic) take(end, square);
    if (group > 0) {
      take_bands(Words::leaves_forward, Words::bands);
      for (int way = 0; way < 2; ++way) {
        take(product[way], square * chunks);
        take(product_before[way], square * chunks);
        take(group_product[way], square * groups());
      }
      take(response, square * chunks);
      take(by_chunk, words_by_chunk());
    }
    take(verdict, 1);
  }
  KOKKOS_INLINE_FUNCTION static constexpr Factors whole(std::int64_t n, bool periodic, T* data) {
    return {data, n, n, 1, 0, periodic};
  }

  KOKKOS_FORCEINLINE_FUNCTION constexpr int most_rows() const {
    return rows > short_chunk ? long_chunk : short_chunk;
  }
  KOKKOS_INLINE_FUNCTION constexpr std::int64_t words_by_chunk() const {
    return !has_chunks || periodic || group == 0
               ? 0
               : in_chunk * most_rows() * ((chunks + abreast - 1) / abreast * abreast);
  }
  /// Those that are read on chip.
  std::int64_t words_on_chip(bool by_weights) const {
    return words - words_by_chunk() - square * chunks - (by_weights ? 0 : 2 * W * rows * chunks);
  }
  KOKKOS_FORCEINLINE_FUNCTION constexpr std::int64_t groups() const {
    return (chunks + group - 1) / group;
  }
  KOKKOS_FORCEINLINE_FUNCTION T& at(int which, std::int64_t k, std::int64_t p) const {
    return band[which][k * chunks + p];
  }
  /// The words of a chunk there, of a row as they are read.
  struct Chunk {
    T* first;
    KOKKOS_FORCEINLINE_FUNCTION T& operator()(int k, int which) const {
      const int place = which >= Words::leaves_backward ? which - Words::leaves_backward + 2 * W + 1
                        : which >= Words::leaves_forward ? which - Words::leaves_forward
                        : which >= Words::upper          ? which - Words::upper + 3 * W + 1
                                                         : which - Words::inverse + W;
      return first[(in_chunk * k + place) * abreast];
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Chunk chunk(std::int64_t p) const {
    return {by_chunk + (p / abreast * (in_chunk * most_rows()) * abreast + p % abreast)};
  }
  KOKKOS_FORCEINLINE_FUNCTION T& row(int which, std::int64_t i) const {
    return at(which, i % rows, i / rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION FactorsAre judged() const {
    return static_cast<FactorsAre>(static_cast<int>(magnitude(*verdict)));
  }
};

/// A row is taken into the W last values, the newest of which comes first.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION void push_value(V (&values)[W], const V& v) {
  for (int t = W - 1; t > 0; --t) values[t] = values[t - 1];
  values[0] = v;
}
/// The next value, v less the multipliers of those before it: the newest one last, for it is the
/// last to be known.
TRIKKOS_CALLS_ITS_ARGUMENT
template <class V, int W, class Multiplier>
KOKKOS_FORCEINLINE_FUNCTION void push_next(V (&values)[W], V v, const Multiplier& multiplier) {
  for (int t = W - 1; t >= 0; --t) v = fused(-multiplier(t), values[t], v);
  push_value(values, v);
}

/// The last W unknowns of a ring in the place of the sums of `last` z over all rows. `end(a, c)`:
/// the factors' words.
TRIKKOS_CALLS_ITS_ARGUMENT
template <class V, int W, class End>
KOKKOS_FORCEINLINE_FUNCTION void solve_end(V (&sums)[W], const End& end) {
  for (int a = 0; a < W; ++a) {
    V sum = sums[a];
    for (int k = 0; k < a; ++k) sum = fused(end(a, k), sums[k], sum);
    sums[a] = -product(end(a, a), sum);
  }
  for (int a = W - 1; a >= 0; --a)
    for (int c = W - 1; c > a; --c) sums[a] = fused(-end(a, c), sums[c], sums[a]);
}

}  // namespace Trikkos::Impl

#endif
