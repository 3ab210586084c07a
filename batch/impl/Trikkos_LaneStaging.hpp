// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANESTAGING_HPP
#define TRIKKOS_IMPL_LANESTAGING_HPP

#include <algorithm>
#include <cstring>
#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/Trikkos_Method.hpp>

/// \file
/// Interleaved systems on a host. A row of as many of them as there are lanes is one line of
/// memory, in a page of its own: each costs as much as four lines of one page. So several vectors
/// of systems are copied at a time to where their rows are side by side, while those before them
/// are being solved. It is also where power-of-two distances between rows, which are in the way of
/// each other in a cache, do no harm.

namespace Trikkos::Impl {

/// What a thread copies to, and how much.
template <class T, int W>
struct LaneStage {
  static constexpr int arrays = 2 * W + 2;        // bands and b
  static constexpr int most = 512 / sizeof(T);    // systems
  static constexpr std::size_t budget = 5 << 20;  // bytes

  /// Systems of n rows that are copied together, where a thread has so many of them; 0 where that
  /// is not worth it. The memory is less than half of what the systems take.
  static int systems(std::int64_t n, std::int64_t of_thread) {
    int r = most;
    while (r > lane_count<T> && (words(n, r) * sizeof(T) > budget || 4 * r > of_thread)) r /= 2;
    return r > lane_count<T> ? r : 0;
  }
  /// Two copies of A and b, and x.
  static std::int64_t words(std::int64_t n, int systems) {
    return (2 * arrays + 1) * array_words(n, systems);
  }
  /// A line more, so that equal rows of different arrays are not in each other's way in a cache.
  static std::int64_t array_words(std::int64_t n, int systems) {
    return n * systems + 64 / static_cast<int>(sizeof(T));
  }
};

/// Whether rows of neighbouring systems are side by side, and far from the next ones.
template <class T>
bool has_far_rows(const Vectors<T>& v) {
  return v.system_stride == 1 && v.row_stride * sizeof(T) >= 1024;
}
template <class T, int W>
bool can_stage(const Problem<T, W>& problem) {
  if (problem.A.first.periodic || !has_far_rows(problem.b) || !has_far_rows(problem.x))
    return false;
  for (int j = 0; j < 2 * W + 1; ++j)
    if (problem.A.stride[j] != 0 && !has_far_rows(problem.A.band(j))) return false;
  return true;
}

/// Copies one block of systems, run after run: a row of one array.
template <class T, int W>
class LaneStaging {
 public:
  LaneStaging() = default;
  /// `to` has room for one copy of A and b, `width` systems to a row.
  LaneStaging(const Problem<T, W>& block, T* to, int width)
      : m_n(block.n()), m_width(width), m_count(static_cast<int>(block.count())), m_to(to) {
    for (int j = 0; j < 2 * W + 1; ++j)
      if (block.A.stride[j] != 0) put(block.A.band(j), j);
    put(block.b, 2 * W + 1);
    m_ahead = m_next;
    for (int k = 0; k < distance; ++k) ask();
  }

  /// Some more of it. Called for each row that is solved, so that memory is busy meanwhile.
  KOKKOS_FORCEINLINE_FUNCTION void advance() {
    if (m_next.from == m_end) return;
    for (int k = 0; k < runs; ++k) copy();
  }
  void finish() {
    while (m_next.from < m_end) copy();
  }

  /// The block as it lies there, with solutions in `x`.
  static Problem<T, W> staged(Problem<T, W> block, T* at, T* x, int width) {
    const std::int64_t words = LaneStage<T, W>::array_words(block.n(), width);
    for (int j = 0; j < 2 * W + 1; ++j)
      if (block.A.stride[j] != 0) {
        block.A.first.band[j] = {at + j * words, width};
        block.A.stride[j] = 1;
      }
    block.A.slab = one_slab;
    block.b = {at + (2 * W + 1) * words, 1, width};
    block.x = {x, 1, width};
    return block;
  }

 private:
  static constexpr int arrays = 2 * W + 2, line = 64 / sizeof(T);
  static constexpr int runs = 2;       // for each row that is solved
  static constexpr int distance = 12;  // runs that are asked for ahead of time

  struct Source {
    const T* data;
    std::int64_t stride, first, end;  // rows that are in the matrix
    T* to;
  };
  struct Cursor {
    int from = 0;
    std::int64_t row = 0;
  };

  void put(const Vectors<const T>& v, int j) {
    const int shift = j < 2 * W + 1 ? j - W : 0;
    const std::int64_t first = std::max<std::int64_t>(0, -shift), end = std::min(m_n, m_n - shift);
    if (first >= end) return;  // a matrix smaller than its band is wide
    m_source[m_end++] = {v.data, v.row_stride, first, end,
                         m_to + j * LaneStage<T, W>::array_words(m_n, m_width)};
    if (m_end == 1) m_next.row = first;
  }
  KOKKOS_FORCEINLINE_FUNCTION void step(Cursor& c) const {
    if (++c.row < m_source[c.from].end) return;
    ++c.from;
    c.row = c.from < m_end ? m_source[c.from].first : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION void ask() {
    if (m_ahead.from == m_end) return;
    const Source& s = m_source[m_ahead.from];
    const T* const p = s.data + m_ahead.row * s.stride;
    for (int k = 0; k < m_width; k += line) KOKKOS_IF_ON_HOST((__builtin_prefetch(p + k, 0, 2);))
    step(m_ahead);
  }
  KOKKOS_FORCEINLINE_FUNCTION void copy() {
    if (m_next.from == m_end) return;
    ask();
    const Source& s = m_source[m_next.from];
    const T* const p = s.data + m_next.row * s.stride;
    T* const to = s.to + m_next.row * m_width;
    if (m_count == m_width)
      for (int k = 0; k < m_width; k += line) std::memcpy(to + k, p + k, line * sizeof(T));
    else
      std::memcpy(to, p, m_count * sizeof(T));
    step(m_next);
  }

  std::int64_t m_n = 0;
  int m_width = 0, m_count = 0, m_end = 0;
  T* m_to = nullptr;
  Source m_source[arrays];
  Cursor m_next, m_ahead;
};

/// The solutions of a block to where they belong.
template <class T>
void store_staged(const T* from, int width, std::int64_t n, int count, const Vectors<T>& to) {
  constexpr int distance = 12, line = 64 / sizeof(T);
  for (std::int64_t i = 0; i < n; ++i) {
    T* const p = to.data + i * to.row_stride;
    if (i + distance < n)
      for (int k = 0; k < count; k += line)
        KOKKOS_IF_ON_HOST((__builtin_prefetch(p + distance * to.row_stride + k, 1, 2);))
    std::memcpy(p, from + i * width, count * sizeof(T));
  }
}

}  // namespace Trikkos::Impl

#endif
