// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DEVICEWINDOWS_HPP
#define TRIKKOS_IMPL_DEVICEWINDOWS_HPP

#include <bit>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/truncated/Trikkos_Windows.hpp>

/// \file
/// `truncated` on a device: a window is a tile of `segmented`, which a team reduces to its root and
/// substitutes while its rows stay in scratch.
///
/// Traffic: 4 length / step words a row read, of which those of the overlap come from the cache,
/// and 1 written.

namespace Trikkos::Impl {

template <class T>
struct SolveWindow {
  static constexpr int rows = OrthogonalCarry::device_rows;
  using Shape = TileShape<T, rows>;
  using Tile = StagedTile<T, rows>;
  using Node = MergeNode<T>;
  /// So many threads: see `SubstituteTiles`.
  static constexpr int registers_for = sizeof(T) == 8 ? 384 : max_tile_lanes;

  Problem<T> problem;
  Windows windows;
  Opinion<T>* opinions;
  std::int64_t* refused;
  bool in_bulk;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t window = member.league_rank();
    const Tile staged{Shape{}, team_scratch<T, staging_alignment>(member, scratch_bytes()),
                      window * windows.step()};
    Staging<Member> staging(member, staged.scratch + scratch_words());
    staged.load(member, staging, problem, 0, in_bulk);
    if (window == 0 && t == 0) {
      if (problem.resets) problem.diagnosis.reset();
      *refused = 0;
    }
    const Bands<T> A = problem.A[0];
    staging.wait();
    staged.complete(member, A);
    const Real<T> probe = staged.is_whole(A.n)
                              ? solve(member, staged, staged.template rows<rows>(t, A))
                              : solve(member, staged, staged.rows(t, A));
    store(member, staged, A.n, probe);
  }
  static KOKKOS_INLINE_FUNCTION int scratch_words() {
    return 4 * Shape{}.band_words() + Shape{}.node_words();
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * scratch_words() + staging_bytes + staging_alignment;
  }

 private:
  /// Not a number where x is not finite, as far as this thread knows, else zero.
  template <class Member, class Rows>
  KOKKOS_FORCEINLINE_FUNCTION Real<T> solve(const Member& member, const Tile& staged,
                                            const Rows& mine) const {
    constexpr int lanes = DefaultTile<T>::lanes;
    const int t = member.team_rank();
    const SegmentArray<T> slots{staged.nodes(), lanes};
    T spare[rows];
    const Segment<T> root = merge_tree(
        member, slots, lanes, std::bit_width(unsigned(lanes)) - 1,
        OrthogonalCarry::reduce(mine, spare),
        [&](int slot, const Node& node) {
          TRIKKOS_UNROLL(Node::words)
          for (int k = 0; k < Node::words; ++k) slots(slot, k) = node.g[k];
        },
        [](int, int, const auto&, const auto&, const auto&, const auto&) {});
    const auto word = [&](int k) -> T& { return slots(0, k); };
    if (t == 0) put_bounds(word, solve_root(root, false));
    member.team_barrier();
    auto bounds = bounds_from<T, 1>(word);
    descend_tree(bounds, 1, lanes / 2, t, slots);
    return OrthogonalCarry::substitute(mine, spare, bounds).probe;
  }

  /// x of its own rows, and what it is at the seams.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Member& member, const Tile& staged, std::int64_t n,
                                         Real<T> probe) const {
    const int t = member.team_rank(), overlap = static_cast<int>(windows.overlap),
              end = static_cast<int>(windows.end());
    const std::int64_t window = member.league_rank(), left = n - staged.base;
    const int first = window == 0 ? 0 : overlap,
              last = window < windows.count - 1 ? end : static_cast<int>(left);
    const T* const x = staged.band(Tile::rhs);
    Real<T> largest = 0;
    TRIKKOS_UNROLL(rows)
    for (int i = t * rows; i < (t + 1) * rows; ++i) {
      const Real<T> size = magnitude(x[i]);
      if (i >= first && i < last && largest < size) largest = size;
    }
    if (!(probe == 0)) largest = Kokkos::Experimental::infinity_v<Real<T>>;
    member.team_reduce(Kokkos::Max<Real<T>>(largest));
    member.team_barrier();
    if (t == 0) opinions[window] = {{x[overlap - 1], x[overlap]}, {x[end - 1], x[end]}, largest};
    Staging<Member>::store(
        member, Runs<T>{staged.band(Tile::rhs) + first,
                        problem.x[0].data + (staged.base + first) * problem.x[0].stride, 1,
                        last - first, 0, 0, problem.x[0].stride});
  }
};

/// A thread looks at a seam.
template <class T>
struct JudgeSeams {
  static constexpr int team = 128;

  Verdict<T> verdict;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t seam = std::int64_t(member.league_rank()) * team + member.team_rank();
    double worst = seam + 1 < verdict.count ? verdict.at(seam) : 0;
    member.team_reduce(Kokkos::Max<double>(worst));
    if (member.team_rank() == 0) verdict.tell(worst);
  }
};

template <class T>
class DeviceWindows {
  using Tile = TileShape<T, OrthogonalCarry::device_rows>;

 public:
  DeviceWindows(std::int64_t n, const Options& options)
      : m_windows(n, Tile{}.tile_rows(), overlap_of<T>(options)) {}

  std::int64_t count() const { return m_windows.count; }
  std::int64_t opinions() const { return m_windows.count; }
  std::int64_t storage_words() const { return 0; }

  template <class Exec>
  void launch(const Exec& exec, const Problem<T>& problem, const Verdict<T>& verdict,
              Opinion<T>* opinions, T*) const {
    using Kernel = SolveWindow<T>;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Kernel::registers_for, 1>>;
    const TileShape<T, 0> shape{Tile{}.lanes(), Tile{}.rows(), Tile{}.levels()};
    Kokkos::parallel_for(
        "Trikkos::truncated::windows",
        light(Teams(exec, static_cast<int>(m_windows.count), shape.lanes())
                  .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()))),
        Kernel{problem, m_windows, opinions, verdict.refused, can_load_in_bulk(problem, shape)});
    constexpr int team = JudgeSeams<T>::team;
    using Judges = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team, 1>>;
    Kokkos::parallel_for(
        "Trikkos::truncated::verdict",
        light(Judges(exec, static_cast<int>((m_windows.count - 1 + team - 1) / team), team)),
        JudgeSeams<T>{verdict});
  }

 private:
  Windows m_windows;
};

}  // namespace Trikkos::Impl

#endif
