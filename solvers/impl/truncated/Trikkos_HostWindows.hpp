// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_HOSTWINDOWS_HPP
#define TRIKKOS_IMPL_HOSTWINDOWS_HPP

#include <algorithm>
#include <impl/Trikkos_Method.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_LanePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/truncated/Trikkos_Windows.hpp>

/// \file
/// `truncated` where the execution space is the host: each SIMD lane has a window of its own, in
/// which one row is carried by one rotation a row, as in a batch of open systems. Pivot rows stay
/// in the cache.
///
/// Traffic: 4 words a row read, 1 written; arithmetic length / step of that of a batch.

namespace Trikkos::Impl {

/// A window in each lane, `Rows` of `OrthogonalCarry::reduce_alone`. Behind the last row of the
/// system 1 x = 0.
template <class T>
struct LaneWindows : LanePartitions<T> {
  using V = Lanes<T>;
  static constexpr bool ragged = false;
  using LanePartitions<T>::width;

  unsigned stored = 0;  // a bit for each lane whose solution counts

  LaneWindows(const Bands<T>& A_, const Strided<const T>& b_, const Strided<T>& x_,
              std::int64_t first, const Windows& windows, BackRow<V>* kept_in)
      : LanePartitions<T>{A_,
                          b_,
                          x_,
                          first,
                          windows.length,
                          windows.step(),
                          kept_in,
                          first + width * windows.step()} {}

  /// All of them: rows behind the last one are solved, too.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return this->rows; }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t k, const V& v) const {
    if (stored == all_lanes<T>) return LanePartitions<T>::store(k, v);
    for (int l = 0; l < width; ++l)
      if ((stored >> l & 1) && k < LanePartitions<T>::length(l))
        this->x[this->row_of(l) + k] = lane(v, l);
  }
};

template <class T>
class HostWindows {
 public:
  static constexpr int width = lane_count<T>;
  /// Rows that a window is to keep: more cost less overlap, but pivot rows that leave the cache.
  static constexpr std::int64_t wanted_step = 1000;
  static constexpr std::int64_t most_groups = 64;

  HostWindows(std::int64_t n, const Options& options) {
    const std::int64_t overlap = overlap_of<T>(options), wanted = width * wanted_step;
    const std::int64_t tiles = std::max<std::int64_t>(1, (n + wanted / 2) / wanted);
    const std::int64_t inner = n - 2 * overlap, lanes = tiles * width;
    std::int64_t step = std::max(overlap + 1, (inner + lanes - 1) / lanes);
    if (step * sizeof(T) % 512 == 0) ++step;  // or lanes compete for the same cache sets
    m_windows = Windows(n, step + 2 * overlap, overlap);
    m_tiles = (m_windows.count + width - 1) / width;
    m_groups = std::min(most_groups, m_tiles);
  }
  std::int64_t count() const { return m_windows.count; }
  std::int64_t opinion_words() const { return Opinion<T>::words(m_tiles * width); }
  /// Besides those of the opinions.
  std::int64_t storage_words() const { return m_groups * group_words(); }

  template <class Exec, class Gate>
  void launch(const Exec& exec, const Problem<T>& problem, const Gate& gate, Wanted* refused,
              T* opinion_storage, T* storage) const {
    auto* const opinions = reinterpret_cast<Opinion<T>*>(opinion_storage);
    const Verdict<T> verdict{opinions, count(), refused, problem.diagnosis};
    const auto windows = [=, self = *this](std::int64_t group) {
      const std::int64_t tiles = self.m_tiles, groups = self.m_groups;
      auto* const back = reinterpret_cast<Back*>(storage + group * self.group_words());
      for (std::int64_t tile = group * tiles / groups; tile < (group + 1) * tiles / groups; ++tile)
        self.solve(problem, tile, back, opinions + tile * width);
    };
    Kokkos::parallel_for("Trikkos::truncated::windows", range(exec, m_groups), gate(windows));
    launch_one(exec, "Trikkos::truncated::verdict", gate([verdict](std::int64_t) {
                 double worst = 0;
                 for (std::int64_t i = 0; i + 1 < verdict.count; ++i)
                   worst = std::max(worst, verdict.at(i));
                 verdict.tell(worst);
               }));
  }

 private:
  using V = Lanes<T>;
  using Back = BackRow<V>;

  std::int64_t group_words() const { return 3 * width * m_windows.length; }

  void solve(const Problem<T>& problem, std::int64_t tile, Back* back, Opinion<T>* opinions) const {
    const std::int64_t overlap = m_windows.overlap, end = m_windows.end();
    const Bands<T> A = problem.A[0];
    const std::int64_t first = tile * width, left = m_windows.count - first;
    const int used = static_cast<int>(std::min<std::int64_t>(left, width));
    LaneWindows<T> rows(A, problem.b[0], problem.x[0], first * m_windows.step(), m_windows, back);

    V next, after = constant<V>(0);
    const auto sound = OrthogonalCarry::reduce_alone(rows, next);
    Real<V> probe = finite_probe(next), largest = constant<Real<V>>(0);  // of about its own rows
    const auto solve_down_to = [&](std::int64_t from, std::int64_t to, unsigned stored,
                                   auto&& note) {
      rows.stored = stored;
      back_substitute<1>(rows, from - 1, to, next, after, note);
    };
    const auto look = [&](const V& v) { probe += finite_probe(v); };
    // the overlap on the right, which the last window keeps
    solve_down_to(m_windows.length, end, left <= width ? 1u << (used - 1) : 0, look);
    for (int l = 0; l < used; ++l)
      opinions[l].right[0] = lane(next, l), opinions[l].right[1] = lane(after, l);
    // those behind the last window know no more than it does
    solve_down_to(end, overlap, all_lanes<T> >> (width - used), [&](const V& v) {
      const Real<V> size = magnitude(v);
      largest = select(largest < size, size, largest);
      look(v);
    });
    for (int l = 0; l < used; ++l)
      opinions[l].left[0] = lane(next, l), opinions[l].left[1] = lane(after, l);
    if (tile == 0) {  // nor is there a seam before the first
      solve_down_to(overlap, 1, 1, look);
      rows.store(0, next);
    }
    constexpr auto infinity = Kokkos::Experimental::infinity_v<Real<T>>;
    for (int l = 0; l < used; ++l)
      opinions[l].largest = sound[l] && lane(probe, l) == 0 ? lane(largest, l) : infinity;
  }

  Windows m_windows;
  std::int64_t m_tiles = 0, m_groups = 0;
};

}  // namespace Trikkos::Impl

#endif
