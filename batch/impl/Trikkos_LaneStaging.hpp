// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANESTAGING_HPP
#define TRIKKOS_IMPL_LANESTAGING_HPP

#include <algorithm>
#include <cstring>
#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/Trikkos_Method.hpp>

/// \file
/// Systems on a host that are copied to where a thread solves them, while those before them are
/// being solved.
///
/// Interleaved ones: a row of as many as there are lanes is one line of memory, in a page of its
/// own, and costs as much as four lines of one page. So rows of several vectors of systems are
/// copied at a time.
///
/// Contiguous ones: a vector of systems is a stream for each lane and array; copied, it is one for
/// each array. Each begins with a line there.
///
/// Either way distances of a power of two, which are in each other's way in a cache, do no harm.

namespace Trikkos::Impl {

/// Where a thread copies them to, `systems` together; 0: nowhere.
template <class T, int W>
struct LaneStage {
  static constexpr int arrays = 2 * W + 2;        // bands and b
  static constexpr int most = 512 / sizeof(T);    // systems
  static constexpr std::size_t budget = 5 << 20;  // bytes
  static constexpr std::int64_t line = 64 / sizeof(T);
  /// Rows of contiguous systems that gain from it: longer ones do not stay in a cache.
  static constexpr std::int64_t least_contiguous = 96, most_contiguous = 2048;

  std::int64_t n = 0;
  int systems = 0;
  bool contiguous = false;

  /// For systems of n rows in any layout, where a thread has so many of them. The memory is less
  /// than half of what the systems take.
  static LaneStage largest(std::int64_t n, std::int64_t of_thread) {
    for (int r = most; r > lane_count<T>; r /= 2) {
      const LaneStage stage{n, r};
      if (stage.words() * sizeof(T) <= budget && 4 * r <= of_thread) return stage;
    }
    return {n};
  }
  /// That of a problem, in the memory of this one, the largest: a vector of lanes is half as many
  /// systems or less, and what lies between contiguous ones less than their rows.
  LaneStage of(const Problem<T, W>& problem) const;

  std::int64_t row_stride() const { return contiguous ? 1 : systems; }
  /// Of contiguous ones an odd number of lines.
  std::int64_t system_stride() const { return contiguous ? (n / line / 2 * 2 + 3) * line : 1; }
  /// A line more, so that equal rows of different arrays are not in each other's way either.
  std::int64_t array_words() const { return systems * (contiguous ? system_stride() : n) + line; }
  /// Two copies of A and b, and x.
  std::int64_t words() const { return (2 * arrays + 1) * array_words(); }
};

template <class T, int W>
LaneStage<T, W> LaneStage<T, W>::of(const Problem<T, W>& problem) const {
  if (systems == 0 || problem.A.first.periodic) return {n};
  const auto all = [&](const auto& lies_so) {
    for (int j = 0; j < 2 * W + 1; ++j)
      if (problem.A.stride[j] != 0 && !lies_so(problem.A.band(j))) return false;
    return lies_so(problem.b) && lies_so(problem.x);
  };
  if (all([](const auto& v) {  // far from the next rows
        return v.system_stride == 1 && v.row_stride * static_cast<std::int64_t>(sizeof(T)) >= 1024;
      }))
    return *this;
  if (n >= least_contiguous && n <= most_contiguous &&
      all([](const auto& v) { return v.row_stride == 1; }))
    return {n, lane_count<T>, true};
  return {n};
}

/// Copies one block of systems, piece after piece of what lies side by side: rows of all of them,
/// or one system after the other.
template <class T, int W>
class LaneStaging {
 public:
  using Stage = LaneStage<T, W>;

  LaneStaging() = default;
  /// `to` has room for one copy of A and b.
  LaneStaging(const Problem<T, W>& block, T* to, const Stage& stage)
      : m_contiguous(stage.contiguous) {
    const auto put = [&](const Vectors<const T>& v, int j) {
      const int shift = j < 2 * W + 1 ? j - W : 0;
      const std::int64_t first = std::max<std::int64_t>(0, -shift),
                         rows = std::min(stage.n, stage.n - shift) - first;
      if (rows <= 0) return;  // a matrix smaller than its band is wide
      const T* const from = v.data + first * v.row_stride;
      T* const at = to + j * stage.array_words() + first * stage.row_stride();
      m_source[m_end++] =
          m_contiguous
              ? Source{from, v.system_stride, block.count(), rows, at, stage.system_stride()}
              : Source{from, v.row_stride, rows, block.count(), at, stage.row_stride()};
    };
    for (int j = 0; j < 2 * W + 1; ++j)
      if (block.A.stride[j] != 0) put(block.A.band(j), j);
    put(block.b, 2 * W + 1);
    for (int k = 0; k < distance; ++k) ask();
  }

  /// Some more of it. Called for each row that is solved, so that memory is busy meanwhile.
  KOKKOS_FORCEINLINE_FUNCTION void advance() {
    if (m_next.from == m_end) return;
    for (int k = 0; k < pieces; ++k) copy();
  }
  void finish() {
    while (m_next.from < m_end) copy();
  }
  /// Whether solutions go to where they belong at once.
  KOKKOS_FORCEINLINE_FUNCTION bool leaves_x() const { return m_contiguous; }

  /// The block as it lies there; solutions of interleaved systems go to `x`.
  static Problem<T, W> staged(Problem<T, W> block, T* at, T* x, const Stage& stage) {
    const std::int64_t system = stage.system_stride(), row = stage.row_stride();
    for (int j = 0; j < 2 * W + 1; ++j)
      if (block.A.stride[j] != 0) {
        block.A.first.band[j] = {at + j * stage.array_words(), row};
        block.A.stride[j] = system;
      }
    block.A.slab = one_slab;
    block.b = {at + (2 * W + 1) * stage.array_words(), system, row};
    if (!stage.contiguous) block.x = {x, system, row};
    return block;
  }

 private:
  static constexpr int line = 64 / sizeof(T);
  static constexpr int longest = Stage::most;  // numbers of a piece
  static constexpr int pieces = 2;             // for each row that is solved
  static constexpr int distance = 12;          // pieces that are asked for ahead of time

  /// Of one array: `runs` of numbers side by side.
  struct Source {
    const T* data;
    std::int64_t stride, runs, length;
    T* to;
    std::int64_t to_stride;
  };
  struct Cursor {
    int from = 0;
    std::int64_t run = 0, k = 0;
  };

  KOKKOS_FORCEINLINE_FUNCTION void step(Cursor& c) const {
    c.k += longest;
    if (c.k < m_source[c.from].length) return;
    c.k = 0;
    if (++c.run < m_source[c.from].runs) return;
    c.run = 0;
    ++c.from;
  }
  KOKKOS_FORCEINLINE_FUNCTION void ask() {
    if (m_ahead.from == m_end) return;
    const Source& s = m_source[m_ahead.from];
    const T* const p = s.data + m_ahead.run * s.stride + m_ahead.k;
    const std::int64_t m = Kokkos::min<std::int64_t>(longest, s.length - m_ahead.k);
    for (std::int64_t k = 0; k < m; k += line) KOKKOS_IF_ON_HOST((__builtin_prefetch(p + k, 0, 2);))
    step(m_ahead);
  }
  KOKKOS_FORCEINLINE_FUNCTION void copy() {
    if (m_next.from == m_end) return;
    ask();
    const Source& s = m_source[m_next.from];
    const T* const p = s.data + m_next.run * s.stride + m_next.k;
    T* const to = s.to + m_next.run * s.to_stride + m_next.k;
    const std::int64_t m = Kokkos::min<std::int64_t>(longest, s.length - m_next.k);
    std::int64_t k = 0;
    for (; k + line <= m; k += line) std::memcpy(to + k, p + k, line * sizeof(T));
    if (k < m) std::memcpy(to + k, p + k, (m - k) * sizeof(T));
    step(m_next);
  }

  bool m_contiguous = false;
  int m_end = 0;
  Source m_source[Stage::arrays];
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
