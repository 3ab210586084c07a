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

/// Runs of a stage, a thread each, which merges their segments from left to right: the first one in
/// registers, the others come to the scratch of a team.
///
/// So it is on the way down, too, once x_prev and u of a run are known: to merge once more, without
/// their columns, moves fewer words than to write nodes and to read them.
template <class T, int W>
struct StageOfRuns {
  static constexpr int threads = sizeof(T) > 8 ? 16 : 32;
  /// So many warps, for each of which there is room in scratch.
  static constexpr int registers_for = 9 * 32;
  static constexpr int segment_words = Segment<T, W>::words;
  /// In scratch, of a thread; each of them beside those of the other threads.
  static constexpr int words = (segment_run - 1) * segment_words;
  static_assert(threads * words * sizeof(T) < 24 * 1024);

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

    /// That with the number i > 0.
    KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> segment(int i) const {
      Segment<T, W> s;
      TRIKKOS_UNROLL(segment_words)
      for (int k = 0; k < segment_words; ++k)
        s.w[k] = scratch[((i - 1) * segment_words + k) * threads];
      return s;
    }
    /// Of the merge with that, in the place of what is merged.
    KOKKOS_FORCEINLINE_FUNCTION StoredNode<T> folded_node(int i) const {
      constexpr int words = MergeNode<T, W>::start(-1, 0);
      static_assert(words <= segment_words);
      return {scratch + (i - 1) * words * threads, threads};
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
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> first_of(const Run& run) const {
    return segments(run.system, stage).get(run.number);
  }
  /// The others to scratch, where they are when it returns. All threads call it.
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
      for (int i = 1; i < segment_run; ++i)
        staging.template load<true>(
            Runs<const T>{scratch + ((i - 1) * segment_words * threads + (r - begin)),
                          from.data + (i * runs() + run), segment_words, static_cast<int>(here),
                          threads, from.count});
      r += here;
    }
    staging.wait();
  }
};

/// Of the node of a merge only the right-hand sides, which tell whether there were pivots.
template <class T, int W>
struct NodeRhs {
  T f[2 * W] = {};

  KOKKOS_FORCEINLINE_FUNCTION void put(int k, const T& v) {
    TRIKKOS_UNROLL(2 * W)
    for (int t = 0; t < 2 * W; ++t)
      if (k == MergeNode<T, W>::start(t)) f[t] = v;
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(int k) const {
    T v = f[0];
    TRIKKOS_UNROLL(2 * W)
    for (int t = 1; t < 2 * W; ++t)
      if (k == MergeNode<T, W>::start(t)) v = f[t];
    return v;
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
    Segment<T, W> s = stage.first_of(run);
    stage.load(member);
    if (!run.is_any) return;
    TRIKKOS_UNROLL(1)
    for (int look = 0;; ++look) {
      s = merge_all(run, s, look == 1);
      if (is_finite(s) || look == 1) break;
      s = stage.first_of(run);  // to be looked at, the second time
    }
    const int above = stage.stage + 1;
    stage.segments(run.system, above).put(stage.layout.stage[above].place(run.number), s);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Segment<T, W> merge_all(const typename StageOfRuns<T, W>::Run& run,
                                                      Segment<T, W> s, bool is_watched) const {
    TRIKKOS_UNROLL(1)
    for (int i = 1; i < segment_run; ++i) {
      const Segment<T, W> right = run.segment(i);
      const bool were_finite = is_watched && is_finite(s) && is_finite(right);
      NodeRhs<T, W> node;
      s = merge(s, right, node);
      if (were_finite && !is_finite(s))
        report_merge<T, W>(diagnosis.of(run.system, stage.layout.n), node,
                           (run.number * segment_run + i) * segment_rows);
    }
    return s;
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
    Segment<T, W> s = stage.first_of(run);
    auto b =
        OuterBounds<T, W>{stage.bounds(run.system, stage.stage + 1) + 2 * W * run.number, 1}.get();
    stage.load(member);
    if (!run.is_any) return;
    fold(s, b.x);
    TRIKKOS_UNROLL(1)
    for (int i = 1; i < segment_run; ++i) {
      StoredNode<T> node = run.folded_node(i);
      s = merge<true>(s, run.segment(i), node);
    }
    T* const out = stage.bounds(run.system, stage.stage) + 2 * W * segment_run * run.number;
    const auto put = [&](int i, const T* x) {
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) out[2 * W * i + j] = x[j];
    };
    put(0, b.x);
    if (run.number == stage.runs() - 1) put(segment_run, b.x + 2 * W);
    TRIKKOS_UNROLL(1)
    for (int i = segment_run - 1; i > 0; --i) {
      const MeetingPoint<T, W, true> met(b, run.folded_node(i));
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
      launch_teams<stage.registers_for>(exec, label, stage.league(), kernel_of(stage), gate);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
