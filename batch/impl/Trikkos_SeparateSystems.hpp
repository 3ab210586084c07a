// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEPARATESYSTEMS_HPP
#define TRIKKOS_IMPL_SEPARATESYSTEMS_HPP

#include <Trikkos_Solve.hpp>

/// \file
/// Systems of different sizes, one behind the other, as the diagonal blocks of one matrix.

namespace Trikkos::Impl {

/// Rows between a row and the ends of its system, up to W, a byte a row.
template <int W>
struct Distance {
  unsigned char both = 0;

  static KOKKOS_FORCEINLINE_FUNCTION constexpr Distance far() { return {W | W << 4}; }
  KOKKOS_FORCEINLINE_FUNCTION int first() const { return both & 15; }
  KOKKOS_FORCEINLINE_FUNCTION int last() const { return both >> 4; }
  KOKKOS_FORCEINLINE_FUNCTION void set_first(int rows) { both = (both & 0xf0) | rows; }
  KOKKOS_FORCEINLINE_FUNCTION void set_last(int rows) { both = (both & 15) | rows << 4; }
};

/// Measures them.
template <class Offsets, int W>
struct MeasureDistances {
  struct Clear {};

  Offsets offsets;
  Distance<W>* distances;

  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t i) const {
    distances[i] = Distance<W>::far();
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t begin = offsets(k), end = offsets(k + 1);
    for (int rows = 0; rows < W && begin + rows < end; ++rows) {
      distances[begin + rows].set_first(rows);
      distances[end - 1 - rows].set_last(rows);
    }
  }
};

/// The off-diagonals of one matrix that has all systems for its diagonal blocks, and maybe a copy
/// of b.
template <class T, int W>
struct SeparateSystems {
  Bands<T, W> A;
  const Distance<W>* distances;
  T* off[2 * W + 1];  // but for the diagonal
  Strided<const T> b;
  T* kept;  // or null

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const Distance<W> to = distances[i];
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = -W; j <= W; ++j)  // what lies outside a system is not read
      if (j != 0) off[W + j][i] = to.first() < -j || to.last() < j ? T(0) : A.band[W + j][i];
    if (kept != nullptr) kept[i] = b[i];
  }
};

/// What a batch of systems of different sizes leaves behind for its Status.
struct VariableReport {
  static constexpr std::int64_t none = Diagnosis::clear;
  std::int64_t suspect;  // whether any x is not finite
  std::int64_t worst;    // 4 row + reason, the least
};
struct ResetVariableReport {
  VariableReport* report;
  KOKKOS_INLINE_FUNCTION void operator()(int) const { *report = {0, VariableReport::none}; }
};

template <class T>
struct FindNotFinite {
  Strided<const T> x;
  VariableReport* report;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (!(finite_probe(x[i]) == 0)) report->suspect = 1;  // so does every writer
  }
};

/// Solves each system by itself, a thread each, if one has spoilt the others: they share rotations,
/// and Inf times zero is not zero.
template <class T, int W, class Offsets>
struct SolveEachAgain {
  Offsets offsets;
  Bands<T, W> A;  // the diagonal blocks
  Strided<const T> b;
  Strided<T> x;
  Options options;  // with partitions of the default size
  char* memory;
  VariableReport* report;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    if (report->suspect == 0) return;
    const std::int64_t begin = offsets(k), n = offsets(k + 1) - begin;
    if (n == 0) return;
    Bands<T, W> block = A;
    block.n = n;
    for (auto& band : block.band) band = band.from(begin);
    const Strided<const T> right = b.from(begin);
    const Strided<T> left = x.from(begin);
    const ThreadMember thread{memory + words_before(begin, k) * sizeof(T),
                              thread_memory_bytes<T, W>(n, options)};
    std::int64_t bad = FormsOf<Algorithm::segmented>::solve_in_team<T>(thread, block, right, left,
                                                                       options_of_thread(options));
    for (std::int64_t i = 0; i < n; ++i) {
      auto probe = finite_probe(right[i]);
      block.for_row(i, [&](std::int64_t, const T& v) { probe += finite_probe(v); });
      if (!(probe == 0)) return lower(Status::Reason::not_finite, begin + i);
      if (bad < 0 && !(finite_probe(left[i]) == 0)) bad = i;
    }
    if (bad >= 0) lower(Status::Reason::singular, begin + bad);
  }
  /// Of memory, for all systems before the k-th.
  static KOKKOS_INLINE_FUNCTION std::int64_t words_before(std::int64_t rows, std::int64_t k) {
    // 2W + 1 words a row, and 22 or 84 for each partition, of 66 rows but for the last of a system
    return (3 * W + 1) * rows + 64 * W * k;
  }

 private:
  KOKKOS_INLINE_FUNCTION void lower(Status::Reason reason, std::int64_t row) const {
    Kokkos::atomic_min(&report->worst, 4 * row + static_cast<int>(reason));
  }
};

}  // namespace Trikkos::Impl

#endif
