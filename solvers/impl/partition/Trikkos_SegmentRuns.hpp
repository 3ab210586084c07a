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

/// The words of a node, `apart` from each other.
template <class T>
struct StoredNode {
  T* first;
  std::int64_t apart;

  KOKKOS_FORCEINLINE_FUNCTION const T& operator()(int k) const { return first[k * apart]; }
  KOKKOS_FORCEINLINE_FUNCTION void put(int k, const T& v) const { first[k * apart] = v; }
};

/// Runs of a stage, which threads merge from left to right. Their segments come to the scratch of a
/// team, where nodes take the place of what is merged. So it is on the way down, too: to merge once
/// more moves fewer words than to write all nodes and to read them.
template <class T, int W>
struct StageOfRuns {
  static constexpr int threads = sizeof(T) > 8 ? 16 : 32, row_bytes = threads * sizeof(T);
  static constexpr int segment_words = Segment<T, W>::words, node_words = MergeNode<T, W>::words;
  /// In scratch, of a thread; each of them beside those of the other threads.
  static constexpr int words = (segment_run - 1) * node_words;
  static_assert(segment_run * segment_words <= words);
  static_assert(words - node_words <= (segment_run - 1) * segment_words);  // the last one is whole
  static_assert(threads * words * sizeof(T) < 40 * 1024);

  T* work;  // [systems][layout.words]
  TeamLayout layout;
  int stage;
  std::int64_t systems;

  League league() const {
    const std::int64_t teams = (systems * runs() + threads - 1) / threads;
    return {static_cast<int>(teams), threads,
            sizeof(T) * threads * words + staging_bytes + staging_alignment};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t runs() const { return layout.stage[stage].runs; }
  KOKKOS_FORCEINLINE_FUNCTION SegmentArray<T, W> segments(std::int64_t system, int of_stage) const {
    const StageOfSegments& s = layout.stage[of_stage];
    return {work + system * layout.words + s.segment_offset, s.segments};
  }
  /// Of the values around and at their ends.
  KOKKOS_FORCEINLINE_FUNCTION T* bounds(std::int64_t system, int of_stage) const {
    return work + system * layout.words + layout.stage[of_stage].bounds_offset;
  }

  /// That of a thread, or, where there is none for it, the last one.
  struct Run {
    bool is_any;
    std::int64_t system, number;
    T* scratch;

    KOKKOS_FORCEINLINE_FUNCTION StoredNode<T> node(int i) const {
      return {scratch + (i - 1) * node_words * threads, threads};
    }
    KOKKOS_FORCEINLINE_FUNCTION T& word(int i, int k) const {
      return scratch[(i * segment_words + k) * threads];
    }
  };
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Run run_of(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t r = std::int64_t(member.league_rank()) * threads + t,
                       count = systems * runs();
    const auto [system, number] = split_index(r < count ? r : count - 1, runs());
    return {r < count, system, number, team_scratch<T, staging_alignment>(member) + t};
  }
  /// All threads call it; their segments are there when it returns.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member) const {
    T* const scratch = team_scratch<T, staging_alignment>(member);
    Staging<Member> staging(member, scratch + threads * words);
    const std::int64_t count = systems * runs(),
                       begin = std::int64_t(member.league_rank()) * threads,
                       end = begin + threads < count ? begin + threads : count;
    for (std::int64_t r = begin; r < end;) {  // system by system
      const auto [system, run] = split_index(r, runs());
      const std::int64_t here = runs() - run < end - r ? runs() - run : end - r;
      const SegmentArray<T, W> from = segments(system, stage);
      for (int i = 0; i < segment_run; ++i)
        staging.template load<false, row_bytes>(Runs<const T>{
            scratch + (i * segment_words * threads + (r - begin)), from.data + (i * runs() + run),
            segment_words, static_cast<int>(here), threads, from.count});
      r += here;
    }
    staging.wait();
  }
  /// If it `is_watched`, the first merge of finite segments that is not finite is reported.
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge(const Run& run, bool is_watched = false,
                                                  const Diagnosis& diagnosis = {},
                                                  std::int64_t segment_rows = 0) const {
    const auto get = [&](int i) {
      Segment<T, W> s;
      TRIKKOS_UNROLL(segment_words)
      for (int k = 0; k < segment_words; ++k) s.w[k] = run.word(i, k);
      return s;
    };
    Segment<T, W> s = get(0);
    TRIKKOS_UNROLL(1)
    for (int i = 1; i < segment_run; ++i) {
      StoredNode<T> node = run.node(i);
      const Segment<T, W> right = get(i);
      const bool were_finite = is_watched && is_finite(s) && is_finite(right);
      s = Impl::merge(s, right, node);
      if (were_finite && !is_finite(s))
        report_merge<T, W>(diagnosis.of(run.system, layout.n), node,
                           (run.number * segment_run + i) * segment_rows);
    }
    return s;
  }
};

/// To the segments of the stage above.
template <class T, int W>
struct MergeRuns {
  StageOfRuns<T, W> stage;
  std::int64_t segment_rows;
  Diagnosis diagnosis;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    const auto run = stage.run_of(member);
    stage.load(member);
    if (!run.is_any) return;
    Segment<T, W> s;
    TRIKKOS_UNROLL(1)
    for (int look = 0; look < 2; ++look) {  // for what is not finite, the second time
      s = stage.merge(run, look == 1, diagnosis, segment_rows);
      if (is_finite(s)) break;
      restore(run);
    }
    const int above = stage.stage + 1;
    stage.segments(run.system, above).put(stage.layout.stage[above].place(run.number), s);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void restore(const typename StageOfRuns<T, W>::Run& run) const {
    const auto from = stage.segments(run.system, stage.stage);
    TRIKKOS_UNROLL(1)
    for (int i = 0; i < segment_run; ++i) {
      TRIKKOS_UNROLL(1)
      for (int k = 0; k < stage.segment_words; ++k)
        run.word(i, k) = from(i * stage.runs() + run.number, k);
    }
  }
};

/// From the values around and at the ends of the segments of the stage above.
template <class T, int W>
struct SpreadRuns {
  StageOfRuns<T, W> stage;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    wait_for_kernels_before(member);
    const auto run = stage.run_of(member);
    // before copies fill the way to memory
    auto b =
        OuterBounds<T, W>{stage.bounds(run.system, stage.stage + 1) + 2 * W * run.number, 1}.get();
    stage.load(member);
    if (!run.is_any) return;
    stage.merge(run);
    T* const out = stage.bounds(run.system, stage.stage) + 2 * W * segment_run * run.number;
    const auto put = [&](int i, const T* x) {
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) out[2 * W * i + j] = x[j];
    };
    put(0, b.x);
    if (run.number == stage.runs() - 1) put(segment_run, b.x + 2 * W);
    TRIKKOS_UNROLL(1)
    for (int i = segment_run - 1; i > 0; --i) {
      const MeetingPoint<T, W> met(b, run.node(i));
      put(i, met.x);
      b = met.left(b);
    }
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
    std::int64_t rows = segment_rows;
    for (int s = 0; s < layout.stages; ++s, rows *= segment_run)
      launch(exec, label + "merge_runs", gate, systems, s, [&](const auto& stage) {
        return MergeRuns<T, W>{stage, rows, diagnosis};
      });
  }
  template <class Exec, class Gate>
  void spread(const Exec& exec, std::int64_t systems, const std::string& label,
              const Gate& gate) const {
    for (int s = layout.stages - 1; s >= 0; --s)
      launch(exec, label + "spread_runs", gate, systems, s,
             [&](const auto& stage) { return SpreadRuns<T, W>{stage}; });
  }

 private:
  template <class Exec, class Gate, class Kernel>
  void launch(const Exec& exec, const std::string& label, const Gate& gate, std::int64_t systems,
              int s, const Kernel& kernel_of) const {
    if constexpr (W > 1) {
      const StageOfRuns<T, W> stage{work, layout, s, systems};
      launch_teams<stage.threads>(exec, label, stage.league(), kernel_of(stage), gate);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
