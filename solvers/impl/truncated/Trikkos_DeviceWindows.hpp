// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DEVICEWINDOWS_HPP
#define TRIKKOS_IMPL_DEVICEWINDOWS_HPP

#include <bit>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/truncated/Trikkos_Windows.hpp>

/// \file
/// `truncated` on a device: a window is a tile of `segmented`, which a team solves while its rows
/// stay in scratch. The tree ends with *groups* of partitions as long as the overlap. The merge of
/// two neighbours says what the unknowns are where they meet, up to a coupling to the far ends of
/// both, which is neglected. How large it is is known; so all groups of a window but the outermost
/// are right where it is small, whatever A is and whatever lies outside, and their rows are kept.
///
/// Traffic: 4 length / step words a row read, of which those of the overlap come from the cache,
/// and 1 written.

namespace Trikkos::Impl {

/// The last unknown of a group and the first of the next, and the coupling that is neglected,
/// relative to the largest unknown.
template <class T>
struct Meeting {
  T last, first;
  Real<T> coupling;

  KOKKOS_FORCEINLINE_FUNCTION Meeting(const Segment<T>& left, const Segment<T>& right) {
    MergeNode<T> node;
    merge(left, right, node);
    const auto& g = node.g;
    first = g[0];
    last = g[5] - g[8] * first;
    const auto sum = [&](int a, int b, int c, int d) {
      return magnitude(g[a]) + magnitude(g[b]) + magnitude(g[c]) + magnitude(g[d]);
    };
    const Real<T> of_first = sum(1, 2, 3, 4);
    coupling = of_first + sum(6, 7, 9, 10) + magnitude(g[8]) * of_first;
  }
};

/// The first unknown of all, from the segment before which there is nothing, and the unknown at its
/// end and the one behind. Where rounding errors are all that it is found by, `segmented` is to
/// look at the rows: the coupling is infinite.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T first_of_all(const Segment<T>& front, const T& last, const T& next,
                                           Real<T>& coupling) {
  const auto& [A, B] = front;  // x_prev is zero
  constexpr Real<T> noise = 256 * Kokkos::Experimental::epsilon_v<Real<T>>;
  const Real<T> of_others = magnitude(A.p) + magnitude(B.p) + magnitude(B.q);
  if (!(magnitude(A.u) + magnitude(B.u) > noise * of_others))
    coupling = Kokkos::Experimental::infinity_v<Real<T>>;
  return magnitude(A.u) < magnitude(B.u) ? (B.f - B.p * last - B.q * next) / B.u
                                         : (A.f - A.p * last) / A.u;
}

/// Partitions to the segments of groups, the first of the slots; what both leave for the way back
/// is in the place of rows, in `spare` and in the other slots.
template <class T, class Member, class Rows, class Spare>
KOKKOS_FORCEINLINE_FUNCTION void reduce_to_groups(const Member& member,
                                                  const SegmentArray<T>& slots, int levels,
                                                  const Rows& mine, Spare& spare) {
  using Node = MergeNode<T>;
  merge_tree(member, slots, DefaultTile<T>::lanes, levels, OrthogonalCarry::reduce(mine, spare),
             [&](int slot, const Node& node) {
               TRIKKOS_UNROLL(Node::words)
               for (int k = 0; k < Node::words; ++k) slots(slot, k) = node.g[k];
             });
}

/// The systems that windows do not solve.
struct Refusals {
  SystemList list;           // those that windows refuse
  SystemSet all;             // those and what no window was tried for
  std::int32_t* is_refused;  // [system], by windows

  KOKKOS_FORCEINLINE_FUNCTION void refuse(std::int64_t system) const {
    if (Kokkos::atomic_exchange(is_refused + system, 1) != 0) return;
    all.insert(system);
    list.append(system);
  }
};

/// Returned is whether it is small. What is no number is infinite.
template <class R>
KOKKOS_FORCEINLINE_FUNCTION bool report_coupling(const Diagnosis& diagnosis, const R& coupling) {
  constexpr R infinity = Kokkos::Experimental::infinity_v<R>;
  const R known = coupling < infinity ? coupling : infinity;
  diagnosis.report_disagreement(static_cast<double>(known));
  return static_cast<double>(known) <= largest_disagreement<R>;
}

template <class T, Moves How>
struct SolveWindow {
  static constexpr int rows = OrthogonalCarry::device_rows<T>, lanes = DefaultTile<T>::lanes;
  using Shape = TileShape<T, rows, 1, 1, How>;
  using Tile = StagedTile<T, rows, 1, How>;
  using Node = MergeNode<T>;
  /// So many threads: see `SubstituteTiles`.
  static constexpr int registers_for = sizeof(T) == 8 ? 384 : max_tile_lanes;

  Problem<T> problem;
  Windows windows;  // of each system
  int levels;       // 2^levels partitions are a group
  Refusals refused;
  const std::int32_t* is_tried = nullptr;  // if this is one system that may not be

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (is_tried != nullptr) {
      begin_behind_others();
      if (*is_tried == 0) return;
    }
    const auto [system, window] = place_of_team(
        member.league_rank(), static_cast<int>(windows.count), problem, /*together=*/false);
    solve(member, system, window);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void solve(const Member& member, std::int64_t system,
                                         std::int64_t window) const {
    const int t = member.team_rank(), groups = lanes >> levels, group = t >> levels;
    const Tile staged{Shape{}, team_scratch<T, staging_alignment>(member), window * windows.step(),
                      Tile::shift_of(problem, system)};
    Staging<Member> staging(member, staged.scratch + scratch_words());
    staged.load(member, staging, problem, system, false);
    let_next_begin(member);
    wait_for_kernels_before(member);
    staging.wait();
    staged.template complete<true>(member, problem, system);

    const auto mine = staged.template rows<rows>(t, problem);
    const SegmentArray<T> slots{staged.nodes(), lanes};
    T spare[rows];
    reduce_to_groups(member, slots, levels, mine, spare);
    const Real<T> coupling = meet(member, slots, groups, window == 0);

    Bounds<T> bounds{};  // the outermost remain unknown, but for the first unknown of all
    if (group > 0) {
      bounds.prev = slots(group - 1, 0);
      bounds.first = slots(group - 1, 1);
    } else if (window == 0) {
      bounds.first = slots(groups - 1, 0);
    }
    if (group < groups - 1) {
      bounds.last = slots(group, 0);
      bounds.next = slots(group, 1);
    }
    descend_tree(bounds, groups + group, (1 << levels) / 2, t, slots);
    const Real<T> probe = OrthogonalCarry::substitute(mine, spare, bounds).probe;
    store(member, staged, system, window);

    const bool is_kept = (group > 0 || window == 0) && group < groups - 1;
    bool small = t >= groups - 1 || report_coupling(problem.diagnosis, coupling);
    if (is_kept && !(probe == 0)) small = report_coupling(problem.diagnosis, probe);
    if (!small) refused.refuse(system);
  }
  static KOKKOS_INLINE_FUNCTION int scratch_words() {
    return 4 * Shape{}.band_words() + Shape{}.node_words();
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * scratch_words() + staging_bytes + staging_alignment;
  }

 private:
  /// Of the groups t and t + 1, whose segments make way for the unknowns where they meet, and that
  /// of the last for the first unknown of all, in the first window.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION static Real<T> meet(const Member& member,
                                                  const SegmentArray<T>& slots, int groups,
                                                  bool is_first) {
    const int t = member.team_rank();
    T last(0), first(0), outermost(0);
    Real<T> coupling = 0;
    if (t < groups - 1) {
      const Segment<T> left = slots.get(t);
      const Meeting<T> meeting(left, slots.get(t + 1));
      last = meeting.last;
      first = meeting.first;
      coupling = meeting.coupling;
      if (is_first && t == 0) outermost = first_of_all(left, last, first, coupling);
    }
    member.team_barrier();
    if (t < groups - 1) {
      slots(t, 0) = last;
      slots(t, 1) = first;
    }
    if (t == 0) slots(groups - 1, 0) = outermost;
    member.team_barrier();
    return coupling;
  }
  /// x of its own rows.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Member& member, const Tile& staged,
                                         std::int64_t system, std::int64_t window) const {
    const std::int64_t left = problem.n() - staged.base;
    const int first = window == 0 ? 0 : static_cast<int>(windows.overlap),
              end = static_cast<int>(windows.end());
    T* const from = staged.band(Tile::rhs) + first;
    if constexpr (Tile::is_bulk)
      if (window < windows.count - 1)
        return staged.store_run(
            member, problem.x.data + (system * problem.x.system_stride + staged.base + first), from,
            end - first);
    const int last = left < end ? static_cast<int>(left) : end;
    const Strided<T> x = problem.x[system];
    Staging<Member>::store(member, Runs<T>{from, x.data + (staged.base + first) * x.stride, 1,
                                           last - first, 0, 0, x.stride});
  }
};

/// Of systems that windows are tried for these, of others the first pass of `segmented`: in one
/// kernel, as one that finds nothing to do would take a tenth of the time of a solve.
template <class T, int Rows, Moves How>
struct WindowsOrSegments {
  using Window = SolveWindow<T, How>;
  using Reduce = ReduceTiles<T, OrthogonalCarry, Rows, Systems<T>, How>;
  static constexpr int registers_for = Window::registers_for;

  Window window;
  Reduce reduce;
  SystemSet tried;

  int each() const { return static_cast<int>(std::max(window.windows.count, reduce.layout.tiles)); }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int each = member.league_size() / static_cast<int>(window.problem.count());
    const auto [system, work] =
        place_of_team(member.league_rank(), each, window.problem, /*together=*/false);
    wait_for_kernels_before(member);
    if (work == 0) reduce.reset_arrivals(member, system);
    if (tried.has(system)) {
      if (work < window.windows.count) window.solve(member, system, work);
    } else {
      if (work < reduce.layout.tiles) reduce.reduce(member, system, work);
    }
  }
  std::size_t scratch_bytes() const {
    return std::max(Window::scratch_bytes(), Reduce::scratch_bytes(reduce.shape));
  }
};

template <class T>
class DeviceWindows {
  using Tile = TileShape<T, OrthogonalCarry::device_rows<T>>;

 public:
  DeviceWindows(std::int64_t n, const Options& options)
      : m_levels(levels_for(overlap_of<T>(options))),
        // the last group of the last window lies behind the system
        m_windows(n + overlap(m_levels), Tile{}.tile_rows(), overlap(m_levels)) {}

  std::int64_t count() const { return m_windows.count; }
  /// Rows that a coupling fades over.
  std::int64_t group() const { return m_windows.overlap; }

  template <class Exec>
  void launch(const Exec& exec, const Problem<T>& problem, const Refusals& refused,
              const std::int32_t* is_tried = nullptr) const {
    const TileShape<T, 0> shape{Tile{}.lanes(), Tile{}.rows(), Tile{}.levels()};
    with_moves(problem, shape, [&]<Moves How>(std::integral_constant<Moves, How>) {
      using Window = SolveWindow<T, How>;
      launch_teams<Window::registers_for>(exec, label,
                                          {static_cast<int>(problem.count() * m_windows.count),
                                           Window::lanes, Window::scratch_bytes(), true},
                                          Window{problem, m_windows, m_levels, refused, is_tried});
    });
  }
  /// Of the systems that are tried; of others the first pass of `passes`, which solves `second`.
  template <class Exec, class Passes>
  void launch_or_reduce(const Exec& exec, const Problem<T>& problem, SystemSet tried,
                        const Refusals& refused, const Passes& passes,
                        const Problem<T>& second) const {
    passes.with_reduce(
        second, [&]<int Rows, Moves How>(
                    const ReduceTiles<T, OrthogonalCarry, Rows, Systems<T>, How>& reduce) {
          using Kernel = WindowsOrSegments<T, Rows, How>;
          const Kernel kernel{{problem, m_windows, m_levels, refused}, reduce, tried};
          launch_teams<Kernel::registers_for>(exec, label,
                                              {static_cast<int>(problem.count()) * kernel.each(),
                                               Tile{}.lanes(), kernel.scratch_bytes(), true},
                                              kernel);
        });
  }

 private:
  static constexpr auto label = "Trikkos::truncated::windows";

  static std::int64_t overlap(int levels) { return std::int64_t(Tile{}.rows()) << levels; }
  /// Groups at least as long as that, as far as half of a window remains to be kept, and so that
  /// each begins where bulk copies can.
  static int levels_for(std::int64_t wanted) {
    const int most = std::bit_width(unsigned(Tile{}.lanes())) - 3;
    int levels = 0;
    while (levels < most &&
           (overlap(levels) < wanted || sizeof(T) * overlap(levels) % staging_alignment != 0))
      ++levels;
    return levels;
  }
  int m_levels;
  Windows m_windows;
};

}  // namespace Trikkos::Impl

#endif
