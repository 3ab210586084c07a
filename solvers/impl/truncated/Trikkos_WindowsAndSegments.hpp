// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WINDOWSANDSEGMENTS_HPP
#define TRIKKOS_IMPL_WINDOWSANDSEGMENTS_HPP

#include <impl/truncated/Trikkos_DeviceWindows.hpp>

/// \file
/// One system that is not so long on a device: its first pass is that of `segmented` and of
/// `truncated`. A team eliminates the partitions of three segments, and a group of partitions on
/// either side, half a segment. The segments go to memory, for the reduced system; and where all
/// couplings are small x does, too, and if that is everywhere, nothing else is to be done. So
/// nobody looks at the rows before, and what is refused has lost no pass.
///
/// Traffic: 4/3 of 4 words a row read, a third of which comes from the cache, and 1 written; of
/// `segmented` behind it 4 more, and 1.

namespace Trikkos::Impl {

/// The largest couplings of windows in memory, of those that have any row of the system: whether
/// one of them is too large, to all threads of a team, and which is the largest.
template <class R>
struct NeglectedCouplings {
  R* of_window;
  int windows;

  struct Found {
    double largest = 0;
    bool any_refused = false, any_kept = false;
  };
  /// volatile: see `KernelIfDecided`
  KOKKOS_FORCEINLINE_FUNCTION Found look(int first, int step) const {
    const volatile R* const all = of_window;
    Found r;
    for (int i = first; i < windows; i += step) {
      const double coupling = static_cast<double>(all[i]);
      if (coupling > r.largest) r.largest = coupling;
      const bool is_kept = coupling <= largest_disagreement<R>;
      (is_kept ? r.any_kept : r.any_refused) = true;
    }
    return r;
  }
  template <class Work>
  KOKKOS_FORCEINLINE_FUNCTION bool is_any_refused(const Work& work) const {
    if constexpr (requires { work.team_rank(); })
      return any_in_team(work, look(work.team_rank(), work.team_size()).any_refused);
    else
      return look(0, 1).any_refused;
  }
};

template <class T, Moves How>
struct SolveAndReduce {
  static constexpr int rows = OrthogonalCarry::device_rows<T>, lanes = DefaultTile<T>::lanes,
                       levels = DefaultTile<T>::levels - 1;               // of a group
  static constexpr int overlap = 1 << levels, own = lanes - 2 * overlap,  // partitions
      groups = lanes >> levels, segments = own / (2 * overlap);
  using Shape = TileShape<T, rows, 1, 1, How>;
  using Tile = StagedTile<T, rows, 1, How>;
  using Node = MergeNode<T>;
  static constexpr int registers_for = SolveWindow<T, How>::registers_for;

  Problem<T> problem;
  TeamLayout layout;
  Real<T>* couplings;  // [window]

  static std::int64_t windows(const TeamLayout& layout) {
    return (layout.stage[0].segments + segments - 1) / segments;
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), group = t >> levels;
    const std::int64_t window = member.league_rank();
    // the threads of what is before the window come last, so that segments are where they would be
    const int before = window == 0 ? 0 : overlap, partition = (t + before) % lanes;
    const Tile staged{Shape{}, team_scratch<T, staging_alignment>(member),
                      (window * own - before) * rows, Tile::shift_of(problem, 0)};
    if (window * segments >= layout.stage[0].segments) return;  // of `least_windows`
    Staging<Member> staging(member, staged.scratch + SolveWindow<T, How>::scratch_words());
    staged.load(member, staging, problem, 0, false);
    let_next_begin(member);
    if (window == 0) {
      if (problem.resets && t == 0) problem.diagnosis.reset();
      layout.arrivals(problem.storage).reset(t, member.team_size());
    }
    staging.wait();
    staged.template complete<true>(member, problem, 0);

    const auto mine = staged.template rows<rows>(partition, problem);
    const SegmentArray<T> slots{staged.nodes(), lanes};
    T spare[rows];
    reduce_to_groups(member, slots, levels, mine, spare);
    const Real<T> coupling = meet(member, slots, window);
    if (t == 0) couplings[window] = coupling;
    if (!(coupling <= Real<T>(largest_disagreement<T>))) return;

    Bounds<T> bounds{slots(group, 0), slots(group, 1), T(0), T(0)};
    if (group < groups - 1) {
      bounds.last = slots(group + 1, 0);
      bounds.next = slots(group + 1, 1);
    }
    descend_tree(bounds, groups + group, (1 << levels) / 2, t, slots);
    const Real<T> probe = OrthogonalCarry::substitute(mine, spare, bounds).probe;
    const std::int64_t first = staged.base + before * rows;
    const std::int64_t left = problem.n() - first;
    store(member, staged, before * rows, left < own * rows ? static_cast<int>(left) : own * rows);
    if (group < groups - 2 && !(probe == 0))
      couplings[window] = Kokkos::Experimental::infinity_v<Real<T>>;
  }

 private:
  /// Where groups meet, slots become the unknowns on either side: slot m those between group m and
  /// the one before it. Others merge pairs of groups to segments. Returned is the largest coupling.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Real<T> meet(const Member& member, const SegmentArray<T>& slots,
                                           std::int64_t window) const {
    constexpr Real<T> infinity = Kokkos::Experimental::infinity_v<Real<T>>;
    const int t = member.team_rank(), pair = t - lanes / 2;  // by another warp
    const bool meets = t < groups - 1, is_front = window == 0 && t == 0;
    T last(0), first(0);
    Real<T> coupling = 0;
    if (meets) {
      // of the first window: what is behind its first group, for the first unknown
      const Segment<T> left = slots.get(is_front ? 0 : t > 0 ? t - 1 : groups - 1);
      const Meeting<T> meeting(left, slots.get(is_front ? 1 : t));
      last = meeting.last;
      first = meeting.first;
      coupling = meeting.coupling;
      if (is_front) {
        first = first_of_all(left, last, first, coupling);
        last = T(0);
      }
    } else if (pair >= 0 && pair < segments) {
      Node node;
      const std::int64_t segment = window * segments + pair, all = layout.stage[0].segments;
      const Segment<T> s = merge(slots.get(2 * pair), slots.get(2 * pair + 1), node);
      if (segment < all)
        SegmentArray<T>{problem.storage + layout.stage[0].segment_offset, all}.put(segment, s);
    }
    member.team_barrier();
    if (meets) {
      slots(t, 0) = last;
      slots(t, 1) = first;
      slots(t, 2) = T(coupling < infinity ? coupling : infinity);
    }
    member.team_barrier();
    Real<T> largest = 0;
    TRIKKOS_UNROLL(groups - 1)
    for (int m = 0; m < groups - 1; ++m) {
      const Real<T> of_meeting = magnitude(slots(m, 2));
      if (of_meeting > largest) largest = of_meeting;
    }
    return largest;
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Member& member, const Tile& staged, int begin,
                                         int count) const {
    T* const from = staged.band(Tile::rhs) + begin;
    const std::int64_t first = staged.base + begin;
    if constexpr (Tile::is_bulk)
      if (count == own * rows) return staged.store_run(member, problem.x.data + first, from, count);
    const Strided<T> x = problem.x[0];
    Staging<Member>::store(member,
                           Runs<T>{from, x.data + first * x.stride, 1, count, 0, 0, x.stride});
  }
};

/// A kernel where a window is refused, which has been known since before the kernel before began.
template <class Kernel, class R>
struct KernelIfRefused {
  Kernel kernel;
  NeglectedCouplings<R> couplings;

  TRIKKOS_CALLS_ITS_ARGUMENT
  template <class Work>
  KOKKOS_INLINE_FUNCTION void operator()(const Work& work) const {
    if (couplings.is_any_refused(work))
      kernel(work);
    else
      wait_for_kernels_before();  // who waits for this kernel waits for those, too
  }
};
template <class R>
struct OnlyRefused {
  static constexpr bool overlaps = true, waits_first = false;
  NeglectedCouplings<R> couplings;

  template <class Kernel>
  KernelIfRefused<Kernel, R> operator()(const Kernel& kernel, std::int64_t) const {
    return {kernel, couplings};
  }
};

/// The second pass, where a window is refused; and what windows neglect is told where one is kept,
/// or `always`. Both are known since before the reduced system is solved, which takes longer.
template <class Kernel, class R>
struct TellAndSubstitute {
  Kernel kernel;
  NeglectedCouplings<R> couplings;
  bool always;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const auto found = couplings.look(member.team_rank(), member.team_size());
    if (member.league_rank() == 0) {
      const bool is_any_kept = any_in_team(member, found.any_kept);
      if (always || is_any_kept) kernel.problem.diagnosis.report_disagreement(found.largest);
    }
    if (any_in_team(member, found.any_refused))
      kernel(member);
    else
      wait_for_kernels_before();  // who waits for this kernel waits for those, too
  }
};
template <class R>
struct OnlyRefusedAndTold {
  static constexpr bool overlaps = true, waits_first = false;
  NeglectedCouplings<R> couplings;
  bool always;

  template <class Kernel>
  TellAndSubstitute<Kernel, R> teams(const Kernel& kernel, int) const {
    return {kernel, couplings, always};
  }
  int league(int teams) const { return teams; }
};

/// The way up the tree where a window is refused.
template <class Merge, class R>
struct MergeIfRefused {
  Merge merge;
  NeglectedCouplings<R> couplings;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    wait_for_kernels_before(member);
    let_next_begin(member);
    const auto is_wanted = [&] { return couplings.is_any_refused(member); };
    if constexpr (requires { Merge::is_for_one_team; })
      merge.solve(member, 0, is_wanted);
    else if (is_wanted())
      merge.go_up(member, 0, member.league_rank());
  }
};
template <class R>
struct RefusedBefore {
  static constexpr bool segments_are_there = true;

  NeglectedCouplings<R> couplings;

  template <class Merge, class Gate>
  MergeIfRefused<Merge, R> kernel(const Merge& merge, const Gate&, int) const {
    return {merge, couplings};
  }
  League league(const League& of_merge) const { return of_merge; }
};

/// `truncated` and `automatic` for one system of real numbers on a device.
template <class T, class Exec>
class WindowsAndSegments {
  using Passes = DevicePartitions<T, Exec, OrthogonalCarry>;
  using AnyMoves = SolveAndReduce<T, Moves::in_words>;
  /// More take longer than a look at some rows and what follows that (perf_tests/README.md): 190000
  /// rows in double, 400000 in float. Complex numbers gain nothing.
  static constexpr std::int64_t most_windows = sizeof(T) == 8 ? 264 : 360;
  /// Teams, as many as an H200 has clusters of multiprocessors: where fewer begin, all that follows
  /// takes 2 us longer.
  static constexpr std::int64_t least_windows = 8;

 public:
  explicit WindowsAndSegments(const Passes& passes)
      : m_passes(passes),
        m_windows(std::max(AnyMoves::windows(passes.layout()), least_windows)),
        m_is_for(m_windows <= most_windows && passes.goes_up_a_tree()) {}

  bool is_for(const Problem<T>& problem) const {
    return m_is_for && problem.count() == 1 && m_passes.is_default(problem);
  }
  std::int64_t storage_words() const { return m_is_for ? m_windows : 0; }

  /// `tells`: what is neglected in any case.
  void solve(const Exec& exec, Problem<T> problem, bool tells) const {
    constexpr int own_rows = AnyMoves::own * AnyMoves::rows;
    const auto windows = static_cast<int>(m_windows);
    const NeglectedCouplings<T> couplings{
        problem.storage, static_cast<int>((problem.n() + own_rows - 1) / own_rows)};
    const bool resets = problem.resets;
    problem.storage += windows;
    problem.resets = false;
    m_passes.with_moves_of(problem, [&]<Moves How>(std::integral_constant<Moves, How>) {
      using Kernel = SolveAndReduce<T, How>;
      Kernel kernel{problem, m_passes.layout(), couplings.of_window};
      kernel.problem.resets = resets;
      launch_teams<Kernel::registers_for>(
          exec, "Trikkos::truncated::windows",
          {windows, Kernel::lanes, SolveWindow<T, How>::scratch_bytes()}, kernel);
    });
    m_passes.solve_reduced(exec, problem, OnlyRefused<T>{couplings}, RefusedBefore<T>{couplings});
    m_passes.substitute(exec, problem, OnlyRefusedAndTold<T>{couplings, tells});
  }

 private:
  const Passes& m_passes;
  std::int64_t m_windows;
  bool m_is_for;
};

}  // namespace Trikkos::Impl

#endif
