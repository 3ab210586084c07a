// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTRUNS_HPP
#define TRIKKOS_IMPL_SEGMENTRUNS_HPP

#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_CoarseLayout.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <string>

/// \file
/// The reduced system of W > 1 diagonals on either side, where it is large: before the tree, whose
/// threads are idle for the most part, threads merge runs of segments.

namespace Trikkos::Impl {

/// The words of a node in memory, `apart` from each other.
template <class T>
struct StoredNode {
  T* first;
  std::int64_t apart;

  KOKKOS_FORCEINLINE_FUNCTION const T& operator()(int k) const { return first[k * apart]; }
  KOKKOS_FORCEINLINE_FUNCTION void put(int k, const T& v) const { first[k * apart] = v; }
};

/// Where the segments of all stages lie, and the nodes of their merges.
template <class T, int W>
struct RunsInMemory {
  T* work;  // [systems][layout.words]
  TeamLayout layout;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t runs(int stage) const {
    return layout.stage[stage].segments / segment_run;
  }
  KOKKOS_FORCEINLINE_FUNCTION SegmentArray<T, W> segments(std::int64_t system, int stage) const {
    return {work + system * layout.words + layout.stage[stage].segment_offset,
            layout.stage[stage].segments};
  }
  /// Of the values around and at their ends.
  KOKKOS_FORCEINLINE_FUNCTION T* bounds(std::int64_t system, int stage) const {
    return work + system * layout.words + layout.stage[stage].bounds_offset;
  }
  /// Of the merge with the i-th segment of a run: a word of all runs at a time.
  KOKKOS_FORCEINLINE_FUNCTION StoredNode<T> node(std::int64_t system, int stage, std::int64_t run,
                                                 int i) const {
    T* const nodes = work + system * layout.words + layout.stage[stage].node_offset;
    return {nodes + (i - 1) * MergeNode<T, W>::words * runs(stage) + run, runs(stage)};
  }
};

/// A thread merges a run from left to right.
template <class T, int W>
struct MergeRuns {
  static constexpr int threads = sizeof(T) > 8 ? 16 : 32, tile = threads * segment_run;
  static constexpr int words = Segment<T, W>::words;
  static_assert(tile * words * sizeof(T) < 40 * 1024);  // scratch of a team

  RunsInMemory<T, W> all;
  int stage;
  std::int64_t systems, segment_rows;
  Diagnosis diagnosis;

  std::int64_t count() const { return systems * all.runs(stage); }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    T* const scratch = team_scratch<T, staging_alignment>(member);
    Staging<Member> staging(member, scratch + tile * words);
    const std::int64_t runs = all.runs(stage), last = systems * runs,
                       begin = std::int64_t(member.league_rank()) * threads,
                       end = begin + threads < last ? begin + threads : last;
    for (std::int64_t r = begin; r < end;) {  // system by system
      const auto [system, run] = split_index(r, runs);
      const std::int64_t here = runs - run < end - r ? runs - run : end - r;
      const SegmentArray<T, W> from = all.segments(system, stage);
      staging.load(Runs<const T>{scratch + (r - begin) * segment_run, from.data + run * segment_run,
                                 words, static_cast<int>(here) * segment_run, tile, from.count});
      r += here;
    }
    staging.wait();
    const std::int64_t r = begin + member.team_rank();
    if (r >= end) return;
    const auto [system, run] = split_index(r, runs);
    const SegmentArray<T, W> mine{scratch + member.team_rank() * segment_run, tile};
    Segment<T, W> s;
    TRIKKOS_UNROLL(1)
    for (int look = 0; look < 2; ++look) {  // for what is not finite, the second time
      s = merge_all(mine, system, run, look == 1);
      if (is_finite(s)) break;
    }
    all.segments(system, stage + 1).put(run, s);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * tile * words + staging_bytes + staging_alignment;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_all(const SegmentArray<T, W>& mine,
                                                      std::int64_t system, std::int64_t run,
                                                      bool is_watched) const {
    Segment<T, W> s = mine.get(0);
    TRIKKOS_UNROLL(1)
    for (int i = 1; i < segment_run; ++i) {
      StoredNode<T> node = all.node(system, stage, run, i);
      s = merge(s, mine.get(i), node);
      if (is_watched) {
        diagnose_merge(diagnosis.of(system, all.layout.n), mine.get(0), mine.get(i), s, node,
                       (run * segment_run + i) * segment_rows);
        mine.put(0, s);
      }
    }
    return s;
  }
};

/// From the values around and at the ends of the segments of a stage to those of the stage below, a
/// thread for each.
template <class T, int W>
struct SpreadRuns {
  static constexpr int threads = MergeRuns<T, W>::threads, node_words = MergeNode<T, W>::words,
                       words = (segment_run - 1) * node_words, row_bytes = threads * sizeof(T);
  static_assert(threads * words * sizeof(T) < 40 * 1024);  // scratch of a team

  RunsInMemory<T, W> all;
  int stage;
  std::int64_t systems;

  std::int64_t count() const { return systems * all.runs(stage); }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    T* const scratch = team_scratch<T, staging_alignment>(member);
    Staging<Member> staging(member, scratch + threads * words);
    const std::int64_t runs = all.runs(stage), last = systems * runs,
                       begin = std::int64_t(member.league_rank()) * threads,
                       end = begin + threads < last ? begin + threads : last;
    const std::int64_t mine = begin + member.team_rank();
    const auto [system, run] = split_index(mine < end ? mine : begin, runs);
    // before copies fill the way to memory
    auto b = OuterBounds<T, W>{all.bounds(system, stage + 1) + 2 * W * run, 1}.get();
    for (std::int64_t r = begin; r < end;) {  // system by system
      const auto [of, first] = split_index(r, runs);
      const std::int64_t here = runs - first < end - r ? runs - first : end - r;
      staging.template load<false, row_bytes>(
          Runs<const T>{scratch + (r - begin), all.node(of, stage, first, 1).first, words,
                        static_cast<int>(here), threads, runs});
      r += here;
    }
    staging.wait();
    if (mine >= end) return;
    T* const out = all.bounds(system, stage) + 2 * W * segment_run * run;
    const auto put = [&](int i, const T* x) {
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) out[2 * W * i + j] = x[j];
    };
    put(0, b.x);
    if (run == runs - 1) put(segment_run, b.x + 2 * W);
    TRIKKOS_UNROLL(1)
    for (int i = segment_run - 1; i > 0; --i) {
      const T* const node = scratch + member.team_rank() + (i - 1) * node_words * threads;
      const MeetingPoint<T, W> met(b, [&](int k) { return node[k * threads]; });
      put(i, met.x);
      b = met.left(b);
    }
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * threads * words + staging_bytes + staging_alignment;
  }
};

/// All stages.
template <class T, int W>
struct SegmentRuns {
  T* work;
  TeamLayout layout;
  std::int64_t segment_rows;  // below a segment of the first stage, for reports
  Diagnosis diagnosis;

  template <class Exec, class Gate>
  void merge(const Exec& exec, std::int64_t systems, const std::string& label,
             const Gate& gate) const {
    if constexpr (W > 1) {
      using Kernel = MergeRuns<T, W>;
      std::int64_t rows = segment_rows;
      for (int s = 0; s < layout.stages; ++s, rows *= segment_run) {
        const Kernel kernel{{work, layout}, s, systems, rows, diagnosis};
        const int league =
            static_cast<int>((kernel.count() + Kernel::threads - 1) / Kernel::threads);
        launch_teams<Kernel::threads>(exec, label + "merge_runs",
                                      {league, Kernel::threads, Kernel::scratch_bytes()}, kernel,
                                      gate);
      }
    }
  }
  template <class Exec, class Gate>
  void spread(const Exec& exec, std::int64_t systems, const std::string& label,
              const Gate& gate) const {
    if constexpr (W > 1)
      for (int s = layout.stages - 1; s >= 0; --s) {
        using Kernel = SpreadRuns<T, W>;
        const Kernel kernel{{work, layout}, s, systems};
        const int league =
            static_cast<int>((kernel.count() + Kernel::threads - 1) / Kernel::threads);
        launch_teams<Kernel::threads>(exec, label + "spread_runs",
                                      {league, Kernel::threads, Kernel::scratch_bytes()}, kernel,
                                      gate);
      }
  }
};

}  // namespace Trikkos::Impl

#endif
