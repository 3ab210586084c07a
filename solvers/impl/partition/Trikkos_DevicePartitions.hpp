// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DEVICEPARTITIONS_HPP
#define TRIKKOS_IMPL_DEVICEPARTITIONS_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_ReducedSystem.hpp>
#include <impl/partition/Trikkos_TilePasses.hpp>
#include <limits>
#include <stdexcept>
#include <string>

/// \file
/// `segmented` and `spike` on a device. A team stages a tile of rows in its scratch; each thread
/// eliminates one partition of it, and a few levels of a tree merge the partitions' segments. Those
/// that leave the tiles are the reduced system; once it is solved, the second pass repeats
/// elimination and tree with the values around each segment known.
///
/// Traffic: 2W + 2 words a row read in the first pass, as many read and 1 written in the second,
/// and for W = 1 10 words a segment of `partition_size << levels` rows. Of systems with one matrix
/// a thread of `segmented` eliminates a few at a time, its coefficients once for all of them.

namespace Trikkos::Impl {

/// Whether tiles of these are copied in bulk, as they are contiguous and so aligned.
template <class T>
bool is_in_bulk(const T* data, std::int64_t system_stride, std::int64_t row_stride,
                std::int64_t tile_rows) {
  return row_stride == 1 && is_bulk(reinterpret_cast<std::uintptr_t>(data) |
                                        sizeof(T) * static_cast<std::size_t>(system_stride),
                                    sizeof(T) * tile_rows);
}
/// Of the bands and b.
template <class T, int W, class Matrices>
bool can_load_in_bulk(const Problem<T, W, Matrices>& problem, const TileShape<T, 0, W>& tile) {
  if constexpr (ComputedMatrices<Matrices>)
    return false;
  else {
    const Matrices& A = problem.A;
    const Vectors<const T>& b = problem.b;
    bool all = A.first.is_contiguous() && tile.pitch() == tile.rows() &&
               problem.slab() == problem.count() &&
               is_in_bulk(b.data, b.system_stride, b.row_stride, tile.tile_rows());
    for (int j = 0; j <= 2 * W; ++j)
      all = all && is_in_bulk(A.first.band[j].data, A.stride[j], 1, tile.tile_rows());
    return all;
  }
}
/// Of x, too, and up to the ends of open systems; K with one matrix at a time.
template <int K, class T, int W>
Moves moves_of(const Problem<T, W>& problem, const TileShape<T, 0, W>& tile) {
  const Systems<T, W>& A = problem.A;
  const auto& x = problem.x;
  const auto place = [](const auto* data) {
    return reinterpret_cast<std::uintptr_t>(data) % staging_alignment;
  };
  const auto bytes = [&](std::int64_t system_stride) {
    return problem.count() == 1
               ? 0
               : sizeof(T) * static_cast<std::size_t>(system_stride) % staging_alignment;
  };
  const auto is_like_x = [&](const auto* data, std::int64_t system_stride,
                             std::int64_t row_stride) {
    return row_stride == 1 && place(data) == place(x.data) &&
           bytes(system_stride) == bytes(x.system_stride);
  };
  bool all = !A.first.periodic && A.first.wrap == 0 && A.first.is_contiguous() &&
             problem.slab() == problem.count() && tile.pitch() == tile.rows() &&
             is_bulk(0, sizeof(T) * tile.tile_rows()) && x.row_stride == 1 &&
             is_like_x(problem.b.data, problem.b.system_stride, problem.b.row_stride);
  for (int j = 0; j <= 2 * W; ++j)
    all = all && is_like_x(A.first.band[j].data, K > 1 ? x.system_stride : A.stride[j], 1);
  if (!all || (K > 1 && place(x.data) != 0)) return Moves::in_words;
  return place(x.data) == 0 && bytes(x.system_stride) == 0 ? Moves::in_bulk : Moves::shifted;
}
/// f(std::integral_constant<Moves, ...>) for how they are moved.
template <bool may_be_shifted = true, int K = 1, class T, int W, class Matrices, class F>
void with_moves(const Problem<T, W, Matrices>& problem, const TileShape<T, 0, W>& tile,
                const F& f) {
  if constexpr (std::is_same_v<Matrices, Systems<T, W>>) {
    const Moves how = moves_of<K>(problem, tile);
    if (how == Moves::in_bulk) return f(std::integral_constant<Moves, Moves::in_bulk>());
    if constexpr (may_be_shifted && (in_one_go<T>) > 1)
      if (how == Moves::shifted) return f(std::integral_constant<Moves, Moves::shifted>());
  }
  f(std::integral_constant<Moves, Moves::in_words>());
}

template <class T, int W, class Matrices>
bool solves_together(const Problem<T, W, Matrices>& problem) {
  if constexpr (ComputedMatrices<Matrices>)
    return false;
  else
    return problem.count() > 1 && problem.A.is_shared();
}

/// `segmented` or `spike` on a device.
template <class T, class Exec, class Elimination>
class DevicePartitions {
  static constexpr int W = Elimination::half_bandwidth;
  static_assert(EliminationOf<Elimination, StagedRows<T, 1, W>>);

 public:
  /// \param least_runs  of segments, from which on they are merged before the tree
  DevicePartitions(const Shape& shape, const Options& options,
                   std::int64_t least_runs = CoarseTree<T, W>::least_runs)
      : m_tile(tile(shape, options.partition_size())),
        m_layout(TeamLayout::of<T, W>(shape.n, m_tile.tile_rows(), m_tile.segments(),
                                      least_runs / std::max<std::int64_t>(shape.count, 1))),
        m_may_be_interleaved(shape.interleaved) {
    if (m_layout.tiles > std::numeric_limits<int>::max())
      throw std::invalid_argument("Trikkos::Workspace: " + std::to_string(shape.n) +
                                  " rows exceed the largest grid of teams, " +
                                  std::to_string(std::numeric_limits<int>::max()) + " times " +
                                  std::to_string(m_tile.tile_rows()) + " rows");
  }

  std::int64_t storage_words() const { return m_layout.words; }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return m_layout.tiles; }
  /// Where a thread chains the segments of a system: so many fill a device. Others, which are known
  /// not to be interleaved, so as to wait seldom for the last teams of a kernel.
  std::int64_t at_least() const {
    using Chain = ChainCoarse<T, W>;
    const bool is_chain = Chain::is_for(m_layout.segments, Chain::many);
    if (W == 1 && is_chain) return std::int64_t(1) << 15;
    if (!is_chain && (W > 1 || m_may_be_interleaved)) return 1;
    const std::int64_t rows = std::max<std::int64_t>(m_layout.tiles, 1) * m_tile.tile_rows();
    return std::max<std::int64_t>((std::int64_t(1) << (W == 1 ? 26 : 25)) / rows, 1);
  }

  /// Whether tiles have the default shape, which is known to compilers.
  template <class Matrices>
  bool is_default(const Problem<T, W, Matrices>& problem) const {
    return m_tile.m_rows == rows_by_default && m_tile.m_lanes == DefaultTile<T, W>::lanes &&
           problem.A.first.scale_rows;
  }

  template <class Matrices = Systems<T, W>, class Gate = Always>
  void reduce(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const Gate& gate = {}) const {
    launch<ReduceTiles>(exec, "reduce", problem, gate);
  }
  /// For who launches the first pass as a part of another kernel: f(kernel).
  template <class F, class Matrices = Systems<T, W>>
  void with_reduce(const Problem<T, W, Matrices>& problem, const F& f) const {
    with_kernel<ReduceTiles>(problem, f);
  }
  template <class Matrices = Systems<T, W>, class Gate = Always>
  void solve_reduced(const Exec& exec, const Problem<T, W, Matrices>& problem,
                     const Gate& gate = {}) const {
    reduced(problem).launch(exec, problem.count(), Elimination::label(""), gate);
  }
  template <class Gate, class Before>
  void solve_reduced(const Exec& exec, const Problem<T, W>& problem, const Gate& gate,
                     const Before& before) const {
    reduced(problem).launch(exec, 1, Elimination::label(""), gate, before);
  }
  /// f(std::integral_constant<Moves, ...>) for how its tiles are moved.
  template <class F>
  void with_moves_of(const Problem<T, W>& problem, const F& f) const {
    with_moves(problem, m_tile, f);
  }
  /// Whether teams go up the tree of one system.
  bool goes_up_a_tree() const { return !ChainCoarse<T, W>::is_for(m_layout.segments, 1); }
  const TeamLayout& layout() const { return m_layout; }
  /// Whether two kernels are better than one that either reduces tiles or does something else, as
  /// teams of that run in two turns: its registers are those of the second pass.
  bool takes_two_turns(const Exec& exec) const {
    using Substitute = SubstituteTiles<T, Elimination, rows_by_default, Systems<T, W>>;
    const int at_a_time = Substitute::on_multiprocessor * overlapping_multiprocessors(exec);
    return tiles() > at_a_time && tiles() <= 2 * at_a_time;
  }
  /// Whether this is better than two kernels: where teams go up the tree, and a launch is more than
  /// what fewer of them at a time take longer.
  bool can_reduce_and_solve_reduced() const {
    return goes_up_a_tree() && tiles() <= 8 * OnlyIf::most_teams;
  }
  /// Of one system, if it `is_wanted` then; its first pass is done before, if it `is_missing`.
  template <class Gate>
  void reduce_and_solve_reduced(const Exec& exec, const Problem<T, W>& problem,
                                const std::int32_t* is_missing, const std::int32_t* is_wanted,
                                const Gate& of_wanted) const {
    with_kernel<ReduceTiles>(problem, [&]<class Reduce>(const Reduce& kernel) {
      reduced(problem).launch(exec, 1, Elimination::label(""), of_wanted,
                              ReduceBefore<Reduce>{kernel, is_missing, is_wanted});
    });
  }
  /// Instead of `solve_reduced` where the systems are blocks of larger ones: their segments to
  /// those who solve these, and back from the values around and at the ends of each.
  template <class Matrices = Systems<T, W>>
  void merge(const Exec& exec, const Problem<T, W, Matrices>& problem,
             const PackedSegments<T, W>& segments) const {
    reduced(problem).merge(exec, problem.count(), Elimination::label(""), segments);
  }
  template <class Matrices = Systems<T, W>>
  void spread(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const PackedBounds<T, W>& bounds) const {
    reduced(problem).spread(exec, problem.count(), Elimination::label(""), bounds);
  }
  template <class Matrices = Systems<T, W>, class Gate = Always>
  void substitute(const Exec& exec, const Problem<T, W, Matrices>& problem,
                  const Gate& gate = {}) const {
    launch<SubstituteTiles>(exec, "substitute", problem, gate);
  }
  /// `gate`: whether kernels do what they are for (Trikkos_Gate.hpp).
  template <class Matrices = Systems<T, W>, class Gate = Always>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem,
             const Gate& gate = {}) const {
    reduce(exec, problem, gate);
    const auto next = following(gate);
    solve_reduced(exec, problem, next);
    substitute(exec, problem, next);
  }

 private:
  static TileShape<T, 0, W> tile(const Shape& shape, std::int64_t partition_size) {
    using Default = DefaultTile<T, W>;
    if (partition_size == 0)
      return {Default::lanes, default_rows(shape.n, shape.count), Default::levels};
    return tile_shape<T, W>(Elimination::template rows_in_tile<T>(
                                std::min(partition_size, std::max<std::int64_t>(shape.n, 2))),
                            /*more_bands=*/keeps_pivot_rows<Elimination, T, T*>);
  }
  /// Of many systems whose last tiles would be most of the work, so that tiles are full. Of one
  /// that leaves most of a device idle, so that each thread has less to do.
  static int default_rows(std::int64_t n, std::int64_t systems) {
    constexpr int most = Elimination::template device_rows<T>, lanes = DefaultTile<T, W>::lanes;
    if (W > 1 && systems == 1 && n <= short_system) return std::min(short_rows, most);
    constexpr std::int64_t full = lanes * most;
    const std::int64_t tiles = std::max<std::int64_t>((n + full - 1) / full, 1);
    if (W == 1 || systems < many || tiles > few_tiles) return most;
    const std::int64_t rows = (n + tiles * lanes - 1) / (tiles * lanes);
    return static_cast<int>(std::max<std::int64_t>(rows, 3 * W) | 1);  // as in tile_shape
  }
  static constexpr std::int64_t short_system = 1 << 16;
  static constexpr int short_rows = 9;
  static constexpr std::int64_t many = 1 << 10, few_tiles = 8;
  int tiles() const { return static_cast<int>(m_layout.tiles); }
  template <class Matrices>
  ReducedSystem<T, W> reduced(const Problem<T, W, Matrices>& problem) const {
    return {problem.storage, m_layout, problem.A.first.periodic,
            std::int64_t(m_tile.rows()) << m_tile.levels(), problem.diagnosis};
  }

  template <template <class, class, int, class, Moves, int> class Tiles, class Matrices, class Gate>
  void launch(const Exec& exec, const char* phase, const Problem<T, W, Matrices>& problem,
              const Gate& gate) const {
    const auto launch_it = [&](const auto& kernel) { launch(exec, phase, kernel, gate); };
    if constexpr (std::is_base_of_v<Always, Gate> && std::is_same_v<Matrices, Systems<T, W>> &&
                  requires { Elimination::systems_at_once; })
      if (is_default(problem) && solves_together(problem)) {
        constexpr int most = Elimination::systems_at_once;
        using Kernel = Tiles<T, Elimination, rows_by_default, Matrices, Moves::in_words, most>;
        if (problem.count() > 2 &&
            Kernel::scratch_bytes({}) <= static_cast<std::size_t>(scratch_of_teams<Exec>()))
          return with_tile<Tiles, most>(problem, default_tile(), launch_it);
        return with_tile<Tiles, 2>(problem, default_tile(), launch_it);
      }
    with_kernel<Tiles>(problem, launch_it);
  }
  /// The default shape is a type of its own, and so are its tiles where all is moved in bulk.
  template <template <class, class, int, class, Moves, int> class Tiles, class Matrices, class F>
  void with_kernel(const Problem<T, W, Matrices>& problem, const F& f) const {
    if (is_default(problem))
      with_tile<Tiles, 1>(problem, default_tile(), f);
    else
      with_tile<Tiles, 1>(problem, m_tile, f);
  }
  template <template <class, class, int, class, Moves, int> class Tiles, int K, class Matrices,
            int Rows, class F>
  void with_tile(const Problem<T, W, Matrices>& problem, const TileShape<T, Rows, W>& tile,
                 const F& f) const {
    const auto with = [&]<Moves How>(std::integral_constant<Moves, How>) {
      f(Tiles<T, Elimination, Rows, Matrices, How, K>{problem,
                                                      {},
                                                      {tile.m_lanes, tile.m_rows, tile.m_levels},
                                                      m_layout,
                                                      can_load_in_bulk(problem, m_tile),
                                                      solves_together(problem)});
    };
    // K begin at a multiple of K systems, which is to be one of what bulk copies begin at
    constexpr bool may_be_shifted = Rows > 0 && (K == 1 || K % in_one_go<T> == 0);
    if constexpr (pads_v<Elimination, Matrices>)
      with_moves<may_be_shifted, K>(problem, m_tile, with);
    else
      with(std::integral_constant<Moves, Moves::in_words>());
  }
  static constexpr int rows_by_default = Elimination::template device_rows<T>;
  static TileShape<T, rows_by_default, W> default_tile() { return {}; }
  template <class Kernel, class Gate>
  void launch(const Exec& exec, const char* phase, Kernel kernel, const Gate& gate) const {
    constexpr int at_once = Kernel::systems_at_once;
    const int league = static_cast<int>((kernel.problem.count() + at_once - 1) / at_once) * tiles();
    if constexpr (Gate::overlaps && !Gate::waits_first && requires { kernel.early_teams; }) {
      const int at_a_time = Kernel::on_multiprocessor * overlapping_multiprocessors(exec);
      kernel.early_teams = league <= at_a_time ? league : at_a_time / 2;
    }
    launch_teams<Kernel::registers_for>(
        exec, Elimination::label(phase),
        {league, m_tile.lanes(), Kernel::scratch_bytes(kernel.shape)}, kernel, gate);
  }

  TileShape<T, 0, W> m_tile;
  TeamLayout m_layout;
  bool m_may_be_interleaved;
};

}  // namespace Trikkos::Impl

#endif
