// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ONCHIP_HPP
#define TRIKKOS_IMPL_ONCHIP_HPP

#include <algorithm>
#include <impl/Trikkos_InterleavedSystems.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_SegmentTree.hpp>
#include <impl/partition/Trikkos_Tile.hpp>

/// \file
/// `segmented` and `spike` for systems that fit into the scratch of a team on a device, one or many
/// of them a team: partitions are reduced, merged to the root of each system and substituted while
/// their rows stay on chip.
///
/// Traffic: 2W + 2 words a row read, 1 written.

namespace Trikkos::Impl {

/// The systems of a team: each has 2^levels of its `lanes` threads, and those `rows` rows each.
template <class T, int W = 1>
struct OnChipShape {
  static constexpr int bands = 2 * W + 2;  // of the matrix, and b
  static constexpr int default_lanes = 64, most_lanes = 256, longest = 17;

  int n = 0, rows = 0, lanes = 0, levels = 0;  // no lanes: a team cannot hold a system
  int in_rows = 0;  // words of a slot of the tree that take the place of rows

  /// In so many bytes of scratch; with partitions of a multiple of `multiple` rows, or of so many
  /// rows exactly, if any.
  OnChipShape(std::int64_t n_, bool interleaved, int granted, int multiple,
              std::int64_t exactly = 0) {
    if (n_ < 1 || n_ > granted) return;
    n = static_cast<int>(n_);
    levels = n > 1 ? 1 : 0;
    const auto partition = [&] { return (n + partitions() - 1) / partitions(); };
    const std::int64_t most = exactly > 0 ? exactly : longest;
    while (partition() > most && partitions() < most_lanes) ++levels;
    // an odd number of multiples: threads that read rows a power of two apart compete for banks
    rows = exactly > 0 ? static_cast<int>(exactly)
                       : multiple * ((std::max(partition(), 2) + multiple - 1) / multiple | 1);
    lanes = std::max(default_lanes, partitions());
    // as many systems as memory moves at a time, or half of that where an SM holds two teams then
    constexpr int line = 128 / sizeof(T);
    if (interleaved) {
      lanes = std::clamp(line * partitions(), default_lanes, most_lanes);
      if (systems() >= line && !fits(std::max(granted / 2, scratch_limit))) lanes /= 2;
    }
    while (!fits(granted) && systems() > 1) lanes /= 2;
    if (!fits(granted) || partition() > most || rows >= longest + multiple || rows < 2) lanes = 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION int partitions() const { return 1 << levels; }
  KOKKOS_FORCEINLINE_FUNCTION int systems() const { return lanes >> levels; }
  /// Words of a band of a system in scratch: partitions are complete, so that all are equally far
  /// from each other.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return rows << levels; }
  /// Scratch: the bands, what the tree needs besides, and what a Staging wants.
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const {
    return staged_words<T>(pitch() * systems());
  }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const {
    return staged_words<T>((MergeNode<T, W>::words - in_rows) * lanes);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t scratch_bytes() const {
    return sizeof(T) * (bands * band_words() + node_words()) + staging_bytes + staging_alignment;
  }

 private:
  bool fits(int granted) const {
    return static_cast<int>(scratch_bytes()) + scratch_reserved(lanes) <= granted;
  }
};

/// `Rows`: rows of a partition where the compiler is to know them, and all are complete: loops have
/// no branches then.
template <class T, class Elimination, bool Interleaved,
          class Matrices = Systems<T, Elimination::half_bandwidth>, int Rows = 0>
struct SolveOnChip {
  static constexpr int W = Elimination::half_bandwidth;
  static constexpr int rhs = 2 * W + 1;  // the band that is b
  using Node = MergeNode<T, W>;

  Problem<T, W, Matrices> problem;
  Elimination elimination;
  OnChipShape<T, W> shape;
  SystemTiles tiles;  // one a team
  bool in_bulk;       // contiguous systems of bands and b: aligned, equally far apart, long enough

  /// Whether rows make way for their pivot rows, so that they are eliminated once.
  static constexpr bool keeps = requires(
      const Elimination& e, const StagedRows<T, Interleaved ? 0 : 1, W>& rows, T (&spare)[2]) {
    e.reduce(rows, spare);
  };
  static constexpr bool pads = pads_v<Elimination, Matrices>;
  /// The two rows that a partition begins with are in its segment then: room for the tree.
  static constexpr int in_rows = keeps && !Interleaved ? 8 : 0;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), n = shape.n, systems = shape.systems(), levels = shape.levels;
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    const std::int64_t first = tile.first;
    const int here = tile.count;
    if (problem.resets && t == 0) problem.diagnosis.reset();  // long before anything is reported
    T* const bands = team_scratch<T, staging_alignment>(member);
    T* const nodes = bands + shape.bands * shape.band_words();
    if (is_padded()) pad(member, bands, here);
    load(member, nodes + shape.node_words(), bands, tile);
    const auto word = [&](int slot, int k) -> T& {
      const int row = slot_place(slot);
      return k < in_rows ? bands[(k & 3) * shape.band_words() + row +
                                 (k < 4         ? 0
                                  : Interleaved ? systems
                                                : 1)]
                         : nodes[(k - in_rows) * shape.lanes + slot];
    };

    // system and partition of this thread
    const int s = Interleaved ? t & (systems - 1) : t >> levels;
    const int p = Interleaved ? t / systems : t & (shape.partitions() - 1);
    const int left = s < here ? n - p * shape.rows : 0;
    const int m = left > shape.rows ? shape.rows : left > 0 ? left : 0;
    const auto rows = rows_of(bands, s, p * shape.rows, is_padded() && s < here ? shape.rows : m);
    const int apart = Interleaved ? systems : 1;
    T spare[Rows > 0 ? Rows : OnChipShape<T, W>::longest];
    Segment<T, W> mine;
    if constexpr (keeps)
      mine = elimination.reduce(rows, spare);
    else
      mine = elimination.reduce(rows);
    const Segment<T, W> root = merge_tree(
        member, word, shape.lanes, levels, mine,
        [&](int slot, const Node& node) {
          TRIKKOS_UNROLL(Node::words)
          for (int k = 0; k < Node::words; ++k) word(slot, k) = node.g[k];
        },
        [](int, int, const auto&, const auto&, const auto&, const auto&) {}, apart);

    if (t < here) {
      const bool periodic = problem.A.first.periodic;
      const Bounds<T, W> all = solve_root(root, periodic);
      diagnose_root(problem.diagnosis.of(first + t, n), root, periodic, all, n);
      put_bounds([&](int k) -> T& { return word(t, k); }, all);
    }
    member.team_barrier();
    auto bounds = bounds_from<T, W>([&](int k) { return word(s, k); });
    descend_tree(bounds, systems + s, shape.partitions() / 2, p, word, apart);
    member.team_barrier();  // solutions take the place of the tree

    if (m > 0) {
      Findings<T> found;
      if constexpr (keeps)
        found = elimination.substitute(rows, spare, bounds);
      else
        found = elimination.substitute(rows, bounds);
      const Diagnosis diagnosis = problem.diagnosis.of(first + s, n);
      if (found.unstable) diagnosis.report_unstable(p * shape.rows);
      if (!(found.probe == 0)) {
        // b is still what it was: x is stored behind the next barrier
        if (p == 0) {
          const MatrixOf<Matrices> A = problem.A[first + s];
          const int more = is_padded() ? W : 0;  // rows that take out the last unknowns
          elimination.diagnose(diagnosis, CompletedRows<T, W, MatrixOf<Matrices>>{
                                              {A, problem.b[first + s], 0, n + more}});
        }
        for (int k = 0; k < m; ++k)
          if (!(finite_probe(rows.solution(k)) == 0)) {
            diagnosis.report_solution(p * shape.rows + k);
            break;
          }
      }
    }
    Staging<Member>::template store<Interleaved>(
        member, runs(bands + rhs * shape.band_words(), problem.x.block(first), here, 0, n));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int place(int s, int row) const {
    return Interleaved ? row * shape.systems() + s : s * shape.pitch() + row;
  }
  /// Of the first row of a slot's partition.
  KOKKOS_FORCEINLINE_FUNCTION int slot_place(int slot) const {
    if constexpr (!Interleaved) return slot * (Rows > 0 ? Rows : shape.rows);
    const int s = slot & (shape.systems() - 1);
    return (slot - s) * shape.rows + s;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto rows_of(T* bands, int s, int row, int m) const {
    return StagedRows < T, Interleaved ? 0 : 1, W,
           Rows > {bands + place(s, row), shape.band_words(), m, problem.A.first.scale_rows,
                   Interleaved ? shape.systems() : 1};
  }
  /// Rows [begin, end) of `here` systems; what neighbours in memory are neighbours in a run.
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION Runs<U> runs(std::remove_const_t<U>* band, const Vectors<U>& v,
                                           int here, int begin, int end) const {
    if constexpr (Interleaved)
      return {band + place(0, begin),
              v.data + begin * v.row_stride,
              end - begin,
              here,
              shape.systems(),
              v.row_stride,
              v.system_stride};
    else
      return {band + begin,  v.data + begin * v.row_stride,
              here,          end - begin,
              shape.pitch(), v.system_stride,
              v.row_stride};
  }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, void* arrivals, T* bands,
                                        const SystemTiles::Tile& tile) const {
    Staging<Member> staging(member, arrivals);
    if constexpr (ComputedMatrices<Matrices>) {
      load_rhs(staging, bands, tile);
      compute_rows(member, bands, tile);
      staging.wait();
    } else {
      load_stored(member, staging, bands, tile);
    }
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void compute_rows(const Member& member, T* bands,
                                                const SystemTiles::Tile& tile) const {
    for (int k = member.team_rank(); k < tile.count * shape.n; k += member.team_size()) {
      const int s = k / shape.n, i = k % shape.n;
      const auto row = problem.A[tile.first + s].row(i);
      for (int j = 0; j < rhs; ++j) bands[j * shape.band_words() + place(s, i)] = row[j];
    }
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_stored(const Member& member, Staging<Member>& staging,
                                               T* bands, const SystemTiles::Tile& tile) const {
    const int words = shape.band_words(), here = tile.count;
    const Systems<T, W>& A = problem.A;
    if (!Interleaved && in_bulk && tile.is_inside)
      load_in_bulk(staging, bands, tile.first, here);
    else
      load_bands(staging, bands, tile);
    staging.wait();
    if (A.first.conjugated) {
      for (int i = member.team_rank(); i < rhs * words; i += member.team_size())
        bands[i] = conjugate(bands[i]);
      member.team_barrier();
    }
    // what lies outside the matrix, or wraps around
    for (int s = member.team_rank(); s < here; s += member.team_size())
      load_edges(bands + place(s, 0), place(0, 1) - place(0, 0), A[tile.first + s],
                 std::make_integer_sequence<int, W>{});
    member.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_padded() const {
    return pads && (Rows > 0 || !problem.A.first.periodic);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void pad(const Member& member, T* bands, int here) const {
    const int n = shape.n, more = shape.pitch() - n;
    for (int k = member.team_rank(); k < here * more; k += member.team_size()) {
      T* const row = bands + place(k / more, n + k % more);
      TRIKKOS_UNROLL(rhs + 1)
      for (int j = 0; j <= rhs; ++j) row[j * shape.band_words()] = T(j == W);
    }
  }
  /// What lies outside the matrix lies between two systems.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_in_bulk(Staging<Member>& staging, T* bands,
                                                std::int64_t first, int here) const {
    staging.load_runs((rhs + 1) * here, shape.n, [&](int i) {
      const int j = i % (rhs + 1), s = i / (rhs + 1);
      const T* const all = j < rhs ? problem.A.first.band[j].data : problem.b.data;
      return Kokkos::pair<T*, const T*>(bands + j * shape.band_words() + place(s, 0),
                                        all + (first + s) * problem.b.system_stride);
    });
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_bands(Staging<Member>& staging, T* bands,
                                              const SystemTiles::Tile& tile) const {
    const int n = shape.n, words = shape.band_words(), here = tile.count;
    TRIKKOS_UNROLL(1)
    for (int j = 0; j < rhs; ++j) {
      const Vectors<const T> band = problem.A.band(j).block(tile.first);
      T* const to = bands + j * words;
      // What lies outside the matrix is not read, unless it lies between two systems.
      const int begin = smaller(W - j, n), end = n - smaller(j - W, n);
      const bool is_between =
          !Interleaved && band.system_stride > band.row_stride && tile.is_inside;
      staging.template load<Interleaved>(is_between ? runs(to, band, here, 0, n)
                                                    : runs(to, band, here, begin, end));
    }
    load_rhs(staging, bands, tile);
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_rhs(Staging<Member>& staging, T* bands,
                                            const SystemTiles::Tile& tile) const {
    staging.template load<Interleaved>(runs(bands + rhs * shape.band_words(),
                                            problem.b.block(tile.first), tile.count, 0, shape.n));
  }
  /// Of one system, whose rows are `apart` words from each other.
  template <int... j>
  KOKKOS_FORCEINLINE_FUNCTION void load_edges(T* bands, int apart, const Bands<T, W>& of,
                                              std::integer_sequence<int, j...>) const {
    const int n = shape.n, words = shape.band_words();
    const auto load = [&](auto k) {  // k diagonals from the main one
      constexpr int away = decltype(k)::value;
      for (int i = 0; i < smaller(away, n); ++i) {
        bands[(W - away) * words + i * apart] = of.template entry<-away>(i);
        bands[(W + away) * words + (n - 1 - i) * apart] = of.template entry<away>(n - 1 - i);
      }
    };
    (load(std::integral_constant<int, j + 1>{}), ...);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int smaller(int count, int n) {
    return count < 0 ? 0 : count < n ? count : n;
  }
};

/// `segmented` or `spike` on a device: on chip where a team can hold a system, else in two passes;
/// `segmented` of many interleaved systems by a thread each, or for each partition.
template <class T, class Exec, class Elimination>
class DeviceSystems {
  static constexpr int W = Elimination::half_bandwidth;

 public:
  DeviceSystems(const Shape& shape, const Options& options)
      : m_by_threads(shape, options), m_passes(shape, options) {
    const std::int64_t size = options.partition_size();
    if (size > 0) m_exactly = Elimination::rows_in_one_go(std::min(size, shape.n));
    if (size == 0 || shape.count > 1) m_n = shape.n;
    m_on_chip = this->shape(false).lanes > 0;
  }

  std::int64_t storage_words() const {
    return std::max(m_on_chip ? 0 : m_passes.storage_words(), m_by_threads.storage_words());
  }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return m_passes.parallel_items(); }
  std::int64_t at_least() const {
    return std::max<std::int64_t>(m_by_threads.at_least(), m_on_chip ? 1 : m_passes.at_least());
  }
  /// So many systems of one matrix are better solved at a time: it is read once for all.
  static constexpr std::int64_t at_once = 8;
  /// Matrices are read once anyway.
  bool is_one_pass() const { return m_on_chip; }
  /// Where they are read twice.
  const DevicePartitions<T, Exec, Elimination>& passes() const { return m_passes; }

  template <class Matrices = Systems<T, W>>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    const bool interleaved = problem.count() > 1 && is_interleaved(problem);
    if constexpr (decltype(m_by_threads)::is_for_it)
      if (interleaved && m_by_threads.is_for(problem.slab()))
        return m_by_threads.solve(exec, problem);
    if (!m_on_chip) return m_passes.solve(exec, problem);
    if (interleaved)
      launch<true>(exec, problem);
    else
      launch<false>(exec, problem);
  }

 private:
  OnChipShape<T, W> shape(bool interleaved) const {
    return {m_n, interleaved, granted_scratch<Exec>(), Elimination::default_row_multiple,
            m_exactly};
  }

  /// As the matrices are, or b, where they are not read.
  template <class Matrices>
  static bool is_interleaved(const Problem<T, W, Matrices>& problem) {
    const Matrices& A = problem.A;
    if constexpr (!ComputedMatrices<Matrices>)
      if (!A.is_shared() && A.first.band[W].stride != 0)
        return A.stride[W] < A.first.band[W].stride;
    return problem.b.system_stride < problem.b.row_stride;
  }
  static bool can_load_in_bulk(const Problem<T, W>& problem) {
    const Vectors<const T>& b = problem.b;
    const std::int64_t n = problem.n();
    std::size_t bytes = sizeof(T) * static_cast<std::size_t>(b.system_stride | n) |
                        reinterpret_cast<std::uintptr_t>(b.data);
    bool alike = b.row_stride == 1 && problem.slab() == problem.count();
    for (int j = 0; j <= 2 * W; ++j) {
      const auto& band = problem.A.first.band[j];
      alike = alike && band.stride == 1 && problem.A.stride[j] == b.system_stride;
      bytes |= reinterpret_cast<std::uintptr_t>(band.data);
    }
    return alike && is_bulk(bytes, sizeof(T) * n);
  }
  template <bool Interleaved, class Matrices>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    constexpr int longest = OnChipShape<T, W>::longest;
    using Kernel = SolveOnChip<T, Elimination, Interleaved, Matrices>;
    if constexpr (Kernel::pads && Kernel::keeps && !Interleaved && !ComputedMatrices<Matrices>)
      if (shape(Interleaved).rows == longest && !problem.A.first.periodic)
        return launch<Interleaved, longest>(exec, problem);
    launch<Interleaved, 0>(exec, problem);
  }
  template <bool Interleaved, int Rows, class Matrices>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem) const {
    using Kernel = SolveOnChip<T, Elimination, Interleaved, Matrices, Rows>;
    // of more threads than there are: else registers are hoarded for addresses; wide rows need all
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<(W > 1 ? 256 : 384), 1>>;
    OnChipShape<T, W> shape = this->shape(Interleaved);
    shape.in_rows = Kernel::in_rows;
    const SystemTiles tiles(problem.slab(), shape.systems());
    const int league = static_cast<int>(tiles.count(problem.count()));
    bool in_bulk = false;
    if constexpr (!ComputedMatrices<Matrices>) in_bulk = can_load_in_bulk(problem);
    Kernel kernel{problem, {}, shape, tiles, in_bulk};
    if (problem.resets && league != 1) {  // one team does it itself
      kernel.problem.resets = false;
      Kokkos::parallel_for(Elimination::label("reset"), range(exec, 1),
                           ResetDiagnosis{problem.diagnosis});
    }
    Kokkos::parallel_for(Elimination::label("on_chip"),
                         light(Teams(exec, league, shape.lanes)
                                   .set_scratch_size(0, Kokkos::PerTeam(shape.scratch_bytes()))),
                         kernel);
  }

  std::int64_t m_n = 0, m_exactly = 0;
  bool m_on_chip;
  InterleavedSystems<T, Exec, Elimination> m_by_threads;
  DevicePartitions<T, Exec, Elimination> m_passes;
};

}  // namespace Trikkos::Impl

#endif
