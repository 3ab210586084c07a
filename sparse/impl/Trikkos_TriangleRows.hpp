// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEROWS_HPP
#define TRIKKOS_IMPL_TRIANGLEROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// \file
/// The rows of op(A)'s triangle, and the order of their entries.

namespace Trikkos::Impl {

/// Row r of op(A) has the entries start[r] to start[r + 1]: the row that it needs, or r itself for
/// the diagonal, and the number of the value.
struct TriangleRows {
  static constexpr std::int64_t no_source = -1;  // of the sum that a segment goes on with

  const std::int64_t* start;
  std::int32_t* needed;
  std::int64_t* source;

  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t at, std::int32_t row, std::int64_t k) const {
    needed[at] = row;
    source[at] = k;
  }
  /// Where the diagonal comes last: entries without it.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t needed_entries(std::int64_t r) const {
    std::int64_t end = start[r + 1];
    while (end > start[r] && needed[end - 1] == r) --end;
    return end - start[r];
  }
};

/// Sorts the entries of each row by the rank of the row that is needed, what is stored twice by
/// its place. The diagonal comes last. Rank: what rank[row] is called.
template <class Rank>
struct SortRows {
  TriangleRows rows;
  Rank rank;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t begin = rows.start[row], count = rows.start[row + 1] - begin;
    if (is_sorted(begin, count)) return;
    for (std::int64_t i = count / 2; i-- > 0;) sift(begin, i, count);
    for (std::int64_t i = count; i-- > 1;) {
      swap(begin, begin + i);
      sift(begin, 0, i);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_before(std::int64_t a, std::int64_t b) const {
    const std::int32_t x = rank[rows.needed[a]], y = rank[rows.needed[b]];
    return x < y || (x == y && rows.source[a] < rows.source[b]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_sorted(std::int64_t begin, std::int64_t count) const {
    for (std::int64_t i = 1; i < count; ++i)
      if (is_before(begin + i, begin + i - 1)) return false;
    return true;
  }
  KOKKOS_FORCEINLINE_FUNCTION void swap(std::int64_t a, std::int64_t b) const {
    Kokkos::kokkos_swap(rows.needed[a], rows.needed[b]);
    Kokkos::kokkos_swap(rows.source[a], rows.source[b]);
  }
  /// Restores the heap below i.
  KOKKOS_INLINE_FUNCTION void sift(std::int64_t begin, std::int64_t i, std::int64_t count) const {
    for (std::int64_t child = 2 * i + 1; child < count; child = 2 * i + 1) {
      if (child + 1 < count && is_before(begin + child, begin + child + 1)) ++child;
      if (!is_before(begin + i, begin + child)) return;
      swap(begin + i, begin + child);
      i = child;
    }
  }
};

/// The same, to other arrays, by some threads a row: each counts what comes before its entries.
template <class Rank>
struct SortRowsTogether {
  static constexpr std::int64_t most = 2048;  // entries, where counting takes as long as sorting

  TriangleRows from, to;
  Rank rank;
  int bits;  // of the number of threads

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t threads = std::int64_t(1) << bits, row = i >> bits, first = i % threads;
    const std::int64_t begin = from.start[row], end = from.start[row + 1];
    if (end - begin <= most) {
      for (std::int64_t k = begin + first; k < end; k += threads)
        move(k, begin + before(k, begin, end));
    } else if (first == 0) {
      for (std::int64_t k = begin; k < end; ++k) move(k, k);
      SortRows<Rank>{to, rank}(row);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t before(std::int64_t k, std::int64_t begin,
                                                  std::int64_t end) const {
    const std::int32_t mine = rank[from.needed[k]];
    std::int64_t less = 0, same = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const std::int32_t other = rank[from.needed[j]];
      less += other < mine;
      same += other == mine;
    }
    if (same > 1)
      for (std::int64_t j = begin; j < end; ++j)
        less += rank[from.needed[j]] == mine && from.source[j] < from.source[k];
    return less;
  }
  KOKKOS_FORCEINLINE_FUNCTION void move(std::int64_t k, std::int64_t place) const {
    to.needed[place] = from.needed[k];
    to.source[place] = from.source[k];
  }
};

}  // namespace Trikkos::Impl

#endif
