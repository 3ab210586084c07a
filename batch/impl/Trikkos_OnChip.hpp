// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ONCHIP_HPP
#define TRIKKOS_IMPL_ONCHIP_HPP

#include <algorithm>
#include <impl/Trikkos_BothEnds.hpp>
#include <impl/Trikkos_DissectedInRegisters.hpp>
#include <impl/Trikkos_DissectedSystems.hpp>
#include <impl/Trikkos_InterleavedSystems.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_SolveOnChip.hpp>
#include <impl/Trikkos_WatchedOnChip.hpp>
#include <impl/Trikkos_WideBothEnds.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/segmented/Trikkos_WideCarry.hpp>

/// \file
/// Which kernel solves many systems on a device.

namespace Trikkos::Impl {

/// Systems that a team of a device can hold.
template <class T, class Exec, class Elimination>
class OnChip {
  static constexpr int W = Elimination::half_bandwidth;
  static constexpr int sector = 32 / sizeof(T);  // of memory, in words
  static constexpr bool knows_systems = SolveOnChip<T, Elimination, true>::keeps;
  static constexpr bool watches = std::is_same_v<Elimination, OrthogonalCarry>;
  template <class Matrices>
  static constexpr bool steps =
      watches && !ComputedMatrices<Matrices> && OnChipShape<T, W>::each > 1;

 public:
  /// Of fewer rows than `least_watched` in all none are tried without pivoting: what must pivot
  /// after all would take a fifth to a half more time, some microseconds.
  OnChip(const Shape& shape, const Options& options, std::int64_t least_watched = 1 << 19) {
    const std::int64_t size = options.partition_size();
    if (size > 0) m_exactly = Elimination::rows_in_one_go(std::min(size, shape.n));
    if (size == 0 || shape.count > 1) m_n = shape.n;
    m_watches = size == 0 && options.algorithm() == Algorithm::automatic &&
                shape.count * shape.n >= least_watched;
    m_fits = this->shape(false).lanes > 0;
  }
  bool fits() const { return m_fits; }
  /// At all: `solve_marked` may be called.
  bool fits_marked() const { return largest(false).lanes > 0; }
  /// Whether interleaved systems, of own matrices, are better here than in two passes: a team holds
  /// as many as memory moves at a time, or twice that where each is copied by itself.
  template <class Matrices>
  bool is_for_interleaved(const Problem<T, W, Matrices>& problem) const {
    if constexpr (!knows_systems || ComputedMatrices<Matrices>) {
      return false;
    } else {
      const OnChipShape<T, W> shape = shape_of_two();
      return !problem.A.is_shared() && shape.lanes > 0 &&
             shape.systems() >= (can_load_in_bulk<true>(problem) ? sector : 2 * sector);
    }
  }

  template <class Matrices>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    launch<OnChipPhase::solve>(exec, "on_chip", problem, {nullptr}, {nullptr});
  }
  /// Those that are marked: of tridiagonal ones interleaved systems, of others contiguous ones.
  template <class Matrices>
  void solve_marked(const Exec& exec, const Problem<T, W, Matrices>& problem,
                    const Marks<T>& marks) const {
    if constexpr (W == 1)
      launch_interleaved<OnChipPhase::solve>(exec, "on_chip", problem, {nullptr}, {nullptr},
                                             OnlyIf{marks.any, OnlyIf::most_small_teams},
                                             MarkedSystems<T>{marks.marked});
    else
      launch<OnChipPhase::solve, false, 0, 0>(exec, "on_chip", problem, {nullptr}, {nullptr},
                                              OnlyIf{marks.any}, MarkedSystems<T>{marks.marked});
  }
  /// Of blocks of larger systems: to the segment of each, and back from what is around it.
  template <class Matrices>
  void reduce(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const PackedSegments<T, W>& segments) const {
    launch<OnChipPhase::reduce>(exec, "reduce_on_chip", problem, segments, {nullptr});
  }
  template <class Matrices>
  void substitute(const Exec& exec, const Problem<T, W, Matrices>& problem,
                  const PackedBounds<T, W>& bounds) const {
    launch<OnChipPhase::substitute>(exec, "substitute_on_chip", problem, {nullptr}, bounds);
  }

 private:
  OnChipShape<T, W> shape(bool interleaved, int granted,
                          int most_rows = OnChipShape<T, W>::longest) const {
    return {m_n, interleaved, granted, Elimination::default_row_multiple, m_exactly, most_rows};
  }
  /// Interleaved ones in a team of which a multiprocessor has two, and so loads one while it solves
  /// the other.
  OnChipShape<T, W> shape_of_two() const {
    return shape(true, std::max(scratch_limit, scratch_of_teams<Exec>() / 2));
  }
  OnChipShape<T, W> shape(bool interleaved) const {
    if (interleaved)
      if (const auto r = shape_of_two(); r.lanes > 0 && r.systems() >= sector) return r;
    if (interleaved) return largest(true);
    // a multiprocessor has two such teams, or two passes take less time
    const auto r = shape(false, std::max(scratch_limit, scratch_of_teams<Exec>() / 2));
    return W == 1 && r.lanes <= 128 ? r : shape(false, scratch_limit);
  }
  /// Where nothing else solves contiguous ones.
  OnChipShape<T, W> largest(bool interleaved) const {
    return shape(interleaved, scratch_of_teams<Exec>(),
                 interleaved ? OnChipShape<T, W>::longest : OnChipShape<T, W>::longest_chunk);
  }
  template <OnChipPhase Phase, class Matrices>
  void launch(const Exec& exec, const char* label, const Problem<T, W, Matrices>& problem,
              const PackedSegments<T, W>& segments, const PackedBounds<T, W>& bounds) const {
    if (is_interleaved(problem))
      return launch_interleaved<Phase>(exec, label, problem, segments, bounds);
    if constexpr (Phase == OnChipPhase::solve && watches)
      if (m_watches && !problem.A.first.periodic) return launch_watched(exec, label, problem);
    if constexpr (Phase == OnChipPhase::solve && steps<Matrices>)
      if (are_to_be_in_step(problem))
        return launch_known<Phase, false, 0, true>(exec, label, problem, segments, bounds);
    launch_known<Phase, false, 0>(exec, label, problem, segments, bounds);
  }
  template <OnChipPhase Phase, class Matrices, class... Gated>
  void launch_interleaved(const Exec& exec, const char* label,
                          const Problem<T, W, Matrices>& problem,
                          const PackedSegments<T, W>& segments, const PackedBounds<T, W>& bounds,
                          const Gated&... gated) const {
    const auto launch_apart = [&]<int Apart>() {
      launch_known<Phase, true, Apart>(exec, label, problem, segments, bounds, gated...);
    };
    if constexpr (Phase == OnChipPhase::solve && knows_systems && !ComputedMatrices<Matrices>) {
      const int systems = shape(true).systems();
      if (systems == 4 * sector) return launch_apart.template operator()<4 * sector>();
      if (systems == 2 * sector) return launch_apart.template operator()<2 * sector>();
      if (systems == sector) return launch_apart.template operator()<sector>();
    }
    launch_apart.template operator()<0>();
  }
  template <OnChipPhase Phase, bool Interleaved, int Apart, bool InStep = false, class Matrices,
            class... Gated>
  void launch_known(const Exec& exec, const char* label, const Problem<T, W, Matrices>& problem,
                    const PackedSegments<T, W>& segments, const PackedBounds<T, W>& bounds,
                    const Gated&... gated) const {
    constexpr int known = OnChipShape<T, W>::known_rows;
    using Kernel = SolveOnChip<T, Elimination, Interleaved, Matrices, 0, Phase, Apart>;
    // interleaved doubles gain a tenth, floats lose 5 %
    constexpr bool is_known = Interleaved ? Apart > 0 && sizeof(T) == 8 : true;
    if constexpr (Kernel::pads && Kernel::keeps && is_known && !ComputedMatrices<Matrices>)
      if (shape(Interleaved).rows == known && !problem.A.first.periodic)
        return launch<Phase, Interleaved, known, Apart, InStep>(exec, label, problem, segments,
                                                                bounds, gated...);
    launch<Phase, Interleaved, 0, Apart, InStep>(exec, label, problem, segments, bounds, gated...);
  }
  template <OnChipPhase Phase, bool Interleaved, int Rows, int Apart, bool InStep = false,
            class Matrices, class Gate = Always, class Which = EverySystem>
  void launch(const Exec& exec, const char* label, const Problem<T, W, Matrices>& problem,
              const PackedSegments<T, W>& segments, const PackedBounds<T, W>& bounds,
              const Gate& gate = {}, const Which& wanted = {}) const {
    using Kernel =
        SolveOnChip<T, Elimination, Interleaved, Matrices, Rows, Phase, Apart, InStep, Which>;
    constexpr bool is_rest = W > 1 && !std::is_same_v<Which, EverySystem>;
    OnChipShape<T, W> shape = is_rest ? largest(Interleaved) : this->shape(Interleaved);
    if (InStep) shape = shape.in_step(problem.b.system_stride);
    shape.in_rows = Kernel::in_rows;
    const SystemTiles tiles(problem.slab(), shape.systems());
    Kernel kernel{
        {problem, shape, tiles, can_load_in_bulk<Interleaved>(problem), wanted}, segments, bounds};
    if (Phase == OnChipPhase::substitute) kernel.problem.resets = false;
    launch_on_chip<Elimination>(exec, label, kernel, gate);
  }
  template <class Matrices>
  void launch_watched(const Exec& exec, const char* label,
                      const Problem<T, W, Matrices>& problem) const {
    constexpr int known = OnChipShape<T, W>::known_rows;
    const auto launch_for = [&]<int Rows, bool InStep>() {
      using Kernel = SolveWatchedOnChip<T, Elimination, Matrices, Rows, InStep>;
      OnChipShape<T, W> shape = this->shape(false).with_marks();
      if (InStep) shape = shape.in_step(problem.b.system_stride);
      shape.in_rows = Kernel::in_rows;
      const SystemTiles tiles(problem.slab(), shape.systems());
      launch_on_chip<Elimination>(
          exec, label,
          Kernel{{{problem, shape, tiles, can_load_in_bulk<false, staging_alignment>(problem)}}});
    };
    const auto launch_of = [&]<int Rows>() {
      if constexpr (steps<Matrices>)
        if (are_to_be_in_step(problem)) return launch_for.template operator()<Rows, true>();
      launch_for.template operator()<Rows, false>();
    };
    if (!ComputedMatrices<Matrices> && shape(false).rows == known)
      launch_of.template operator()<known>();
    else
      launch_of.template operator()<0>();
  }

  std::int64_t m_n = 0, m_exactly = 0;
  bool m_watches, m_fits;
};

/// `segmented` or `spike` on a device: on chip where a team can hold a system, else in two passes;
/// `segmented` of many short systems by two threads each, of many interleaved ones by one each, or
/// for each partition. `automatic` solves contiguous systems of W > 1, and interleaved ones of
/// W = 1, without pivoting first, and by `segmented` those of which anything grows.
template <class T, class Exec, class Elimination>
class DeviceSystems {
  static constexpr int W = Elimination::half_bandwidth;

 public:
  DeviceSystems(const Shape& shape, const Options& options)
      : m_on_chip(shape, options),
        m_from_both_ends(shape, options),
        m_wide_from_both_ends(shape, options),
        m_by_threads(shape, options),
        m_passes(shape, options),
        m_dissected(shape),
        m_in_registers(shape),
        m_is_watched(has_watched && options.algorithm() == Algorithm::automatic &&
                     options.partition_size() == 0 &&
                     (W > 1 ? m_on_chip.fits_marked() && m_dissected.fits(false)
                            : m_in_registers.fits() && shape.interleaved &&
                                  shape.matrices == shape.count && shape.n >= least_in_registers &&
                                  shape.count * shape.n >= least_watched)) {}

  std::int64_t storage_words() const {
    return std::max(m_on_chip.fits() ? 0 : m_passes.storage_words(),
                    m_by_threads.storage_words() + (m_is_watched ? 1 : 0));
  }
  std::int64_t shared_words() const {
    return std::max(m_by_threads.shared_words(), m_is_watched ? Wanted::words : 0);
  }
  std::int64_t parallel_items() const { return m_passes.parallel_items(); }
  std::int64_t at_least() const {
    constexpr std::int64_t most_watched = 1 << 19;  // that fill a device, and take a word each
    const bool takes_words_only = m_is_watched && (W > 1 || m_by_threads.storage_words() == 0);
    return std::max<std::int64_t>({m_by_threads.at_least(), takes_words_only ? most_watched : 1,
                                   m_on_chip.fits() ? 1 : m_passes.at_least()});
  }
  /// So many systems of one matrix are better solved at a time: it is read once for all.
  static constexpr std::int64_t at_once = 32;
  /// Matrices are read once anyway.
  bool is_one_pass() const { return m_on_chip.fits(); }
  /// Where they are read twice.
  const DevicePartitions<T, Exec, Elimination>& passes() const { return m_passes; }

  template <class Matrices = Systems<T, W>>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    const bool interleaved = is_interleaved(problem);
    if constexpr (watches<Matrices>)
      if (m_is_watched && is_watched(problem, interleaved)) return solve_watched(exec, problem);
    if constexpr (decltype(m_from_both_ends)::is_for_it)
      if (interleaved && m_from_both_ends.is_for(problem))
        return m_from_both_ends.solve(exec, problem);
    if constexpr (decltype(m_wide_from_both_ends)::is_for_it)
      if (!(interleaved && m_by_threads.is_alone()) &&
          m_wide_from_both_ends.is_for(problem, interleaved))
        return m_wide_from_both_ends.solve(exec, problem, interleaved);
    if (interleaved && m_on_chip.is_for_interleaved(problem)) return m_on_chip.solve(exec, problem);
    if constexpr (decltype(m_by_threads)::is_for_it)
      if (interleaved && m_by_threads.is_for(problem.slab()))
        return m_by_threads.solve(exec, problem);
    if (m_on_chip.fits())
      m_on_chip.solve(exec, problem);
    else
      m_passes.solve(exec, problem);
  }

 private:
  /// Whether the elimination is that of `segmented`.
  static constexpr bool is_stable =
      std::is_same_v<Elimination, OrthogonalCarry> || std::is_same_v<Elimination, WideCarry<W>>;
  static constexpr bool has_watched = is_stable && (W > 1 || std::is_floating_point_v<T>);
  template <class Matrices>
  static constexpr bool watches = has_watched && !ComputedMatrices<Matrices>;
  // Shorter ones two threads solve each in the time of their memory. Of fewer rows in all, systems
  // that must pivot after all would lose more than others gain.
  static constexpr std::int64_t least_in_registers = 95, least_watched = 1 << 21;

  template <class Matrices>
  bool is_watched(const Problem<T, W, Matrices>& problem, bool interleaved) const {
    if constexpr (W > 1)
      return !interleaved && m_dissected.is_for(problem, false);
    else
      return interleaved && m_in_registers.is_for(problem) &&
             m_in_registers.is_interleaved(problem) &&
             (m_on_chip.is_for_interleaved(problem) || m_by_threads.is_for(problem.slab()));
  }
  template <class Matrices>
  void solve_watched(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    const auto marks = Marks<T>::at(problem.storage);
    Problem<T, W, Matrices> rest = problem;
    rest.resets = false;
    rest.storage = marks.marked + problem.count();
    if constexpr (W > 1) {
      m_dissected.solve(exec, problem, marks, false);
      if (m_wide_from_both_ends.is_for(problem, false))
        m_wide_from_both_ends.solve_marked(exec, rest, marks);
      else
        m_on_chip.solve_marked(exec, rest, marks);
    } else {
      m_in_registers.solve(exec, "Trikkos::watched", problem, marks, true);
      if (m_on_chip.is_for_interleaved(problem))
        m_on_chip.solve_marked(exec, rest, marks);
      else
        m_by_threads.solve_marked(exec, rest, marks);
    }
  }

  OnChip<T, Exec, Elimination> m_on_chip;
  BothEnds<T, Exec, Elimination> m_from_both_ends;
  WideBothEnds<T, Exec, Elimination> m_wide_from_both_ends;
  InterleavedSystems<T, Exec, Elimination> m_by_threads;
  DevicePartitions<T, Exec, Elimination> m_passes;
  DissectedSystems<T, Exec, W> m_dissected;
  DissectedInRegisters<T, Exec> m_in_registers;
  bool m_is_watched;
};

}  // namespace Trikkos::Impl

#endif
