// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEANALYSIS_HPP
#define TRIKKOS_IMPL_TRIANGLEANALYSIS_HPP

#include <impl/Trikkos_LevelSetSolve.hpp>
#include <impl/Trikkos_PartOrder.hpp>
#include <impl/Trikkos_ScheduleTrial.hpp>
#include <impl/Trikkos_TriangleSegments.hpp>
#include <impl/Trikkos_TriangularChoice.hpp>

/// \file
/// From the pattern of a matrix to the order in which its rows are solved, and by what. On a device
/// it is short kernels, and what takes time is to launch them, to allocate and to wait: one slab
/// for nearly all arrays, of small triangles that of the plan, and waits only where the host must
/// know a number to go on.

namespace Trikkos::Impl {

/// Its arrays are gone with their memory.
template <class T, class Exec>
class TriangleAnalysis {
  static constexpr bool on_host = is_host_v<Exec>;
  static constexpr auto function = "Trikkos::TriangularPlan";
  static constexpr int threads_of_team = importing_threads + computing_threads;

 public:
  /// Waits, but not for its last kernels.
  template <class Matrix>
  TriangleAnalysis(const Exec& exec, const Matrix& A, const TriangularOptions& options,
                   Slabs<Exec>& memory)
      : m_options(options), m_memory(memory), size(A.rows()) {
    expect_csr_extents(function, A);
    m_memory.reserve(exec, expected_bytes(size, A.entries.extent(0), options));
    pattern = new_pattern(exec, m_memory,
                          {size, A.uplo == Uplo::lower, A.diag == Diag::unit,
                           m_options.transpose() != Transpose::none});
    const auto row_map = copied_row_map(exec, m_memory, A, pattern.findings.data());
    const auto stored = static_cast<std::int64_t>(A.entries.extent(0));
    const CsrPattern given{row_map.data(), columns_of(A), stored};
    count_entries(exec, pattern, given);
    read_findings(exec);
    expect_matrix(exec, function, A, row_map, found);
    fill_rows(exec, m_memory, pattern, given, found);
    const bool may_divide = !on_host && found.longest_with > SegmentOrder::most;
    const auto first_segment =
        may_divide ? count_segments(exec, m_memory, pattern) : Array<std::int64_t, Exec>{};
    find_levels(exec, m_memory, pattern, given);
    read_findings(exec);
    levels = order_by_level(exec, m_memory, natural(), pattern.level, found.last_level);
    rank_rows(exec, first_segment);
    choose(exec);
    arrange(exec);
    measure(exec);
  }

  bool is_divided() const { return row_of.extent(0) > 0; }
  bool spins() const {
    return choice.algorithm == TriangularAlgorithm::sync_free ||
           choice.algorithm == TriangularAlgorithm::blocked;
  }
  /// Rows, or segments of them.
  std::int64_t positions() const { return pattern.shape.n; }
  RowOrder natural() const { return pattern.shape.natural(); }
  /// What it takes of memory where rows are not divided, and there are no parts.
  static std::int64_t expected_bytes(std::int64_t rows, std::int64_t entries,
                                     const TriangularOptions& options) {
    constexpr std::int64_t slices = on_host ? 8 : 1, lines = 32 * 256;
    const std::int64_t transposed = options.transpose() != Transpose::none ? 8 : 0;
    return rows * (2 * 8 + 10 * 4 + slices + transposed) + entries * (on_host ? 1 : 2) * (4 + 8) +
           lines;
  }

 private:
  TriangularOptions m_options;
  Slabs<Exec>& m_memory;

 public:
  std::int64_t size;
  TriangleFindings found;
  TrianglePattern<Exec> pattern;     // of rows, or of segments
  Array<std::int32_t, Exec> row_of;  // of a segment, or empty
  LevelOrder<Exec> levels;           // of rows
  // Rows, or segments, in an order in which none needs one behind it, and where each is: by level
  // (device) or elimination (host).
  Array<std::int32_t, Exec> by_rank, rank;
  TriangularChoice choice{};
  int systems_of_thread = 1;
  bool brings_side_by_side = false;
  PointToPointSchedule schedule;
  PartSizes<Exec> sizes;
  PartOrder<Exec> parts;
  // Which row, or segment, is solved at each position, its entries, where slices begin.
  Array<std::int32_t, Exec> row, length;
  Array<std::int64_t, Exec> slice;
  int slice_bits = 0;

 private:
  template <class Index>
  auto array(const Exec& exec, std::int64_t count) {
    return m_memory.template array<Index>(exec, count);
  }
  void read_findings(const Exec& exec) { found = fetch(exec, pattern.findings.data(), function); }

  /// Rows, or segments where some are long, and their entries, in the order in which they are
  /// summed up.
  void rank_rows(const Exec& exec, const Array<std::int64_t, Exec>& first_segment) {
    if constexpr (on_host) {
      by_rank = rank = natural_order(exec);
      return;
    } else {
      by_rank = levels.row;
      rank = levels.position;
      sort_rows(exec, pattern, static_cast<const std::int32_t*>(rank.data()));
      if (!may_spin() || found.longest <= SegmentOrder::most) return;
      const auto segments = divide_rows(exec, m_memory, pattern, first_segment, found.segments);
      if (segments.row_of.extent(0) == 0) return;
      pattern = segments.pattern;
      row_of = segments.row_of;
      found.longest = SegmentOrder::most;
      const auto order = order_by_level(exec, m_memory, natural(), pattern.level, found.last_level);
      by_rank = order.row;
      rank = order.position;
    }
  }
  /// Whether rows may wait for each other in a kernel.
  bool may_spin() const {
    using enum TriangularAlgorithm;
    const TriangularAlgorithm wanted = m_options.algorithm();
    if (wanted == automatic) return spin_safe_v<Exec> && levels.levels() > levels_for_launches;
    return wanted == sync_free || wanted == blocked;
  }

  void choose(const Exec& exec) {
    using enum TriangularAlgorithm;
    const TriangularAlgorithm wanted = m_options.algorithm();
    const std::int64_t count = levels.levels();
    const auto threads = static_cast<int>(exec.concurrency());
    if constexpr (on_host)
      if ((wanted == automatic && threads > 1) || wanted == point_to_point)
        schedule = fastest_schedule<T>(exec, pattern.rows(), natural());
    TriangleFacts facts{.rows = size,
                        .levels = count,
                        .on_host = on_host,
                        .spin_safe = spin_safe_v<Exec>,
                        .threads_of_part = computing_threads,
                        .parts_at_work = threads / threads_of_team,
                        .is_divided = is_divided(),
                        .rhs_count = m_options.rhs_count(),
                        .threads = threads,
                        .speedup = schedule.speedup,
                        .is_tried = schedule.is_tried};
    if constexpr (spin_safe_v<Exec>)
      if (wanted == blocked || (wanted == automatic && !on_host && count > levels_without_parts))
        size_parts(exec, facts);
    choice = {wanted, "it was asked for"};
    if (wanted == blocked && !sizes.fit())
      choice = {sync_free, "parts of it do not fit into scratch"};
    if (wanted == automatic) choice = choose_triangular_algorithm(facts);
    systems_of_thread = Impl::systems_of_thread(facts, choice.algorithm);
    brings_side_by_side =
        choice.algorithm == sync_free && Impl::brings_side_by_side(facts, systems_of_thread);
  }

  /// For `blocked`.
  void size_parts(const Exec& exec, TriangleFacts& facts) {
    constexpr auto of_value = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t bytes = granted_scratch<Exec>() - scratch_reserved(threads_of_team);
    const bool large_only = m_options.algorithm() == TriangularAlgorithm::automatic &&
                            is_wide(size, facts.levels, facts.rhs_count);
    sizes = part_sizes(exec, m_memory, pattern, by_rank, rank, bytes / of_value - 1, large_only,
                       facts.levels, found.longest);
    facts.has_parts = sizes.fit();
    facts.imports = sizes.imports;
    facts.rows_of_level = sizes.rows_of_level;
    facts.parts = sizes.parts;
    // With a zero, and what it takes to align them.
    int& systems = facts.systems_in_scratch;
    while (systems < 4 && 2 * systems * (sizes.slots + 2) * of_value <= bytes) systems *= 2;
  }

  void arrange(const Exec& exec) {
    using enum TriangularAlgorithm;
    length = array<std::int32_t>(exec, positions());
    if constexpr (spin_safe_v<Exec>)
      if (choice.algorithm == blocked) {
        row = array<std::int32_t>(exec, positions());
        parts = order_parts(exec, m_memory, pattern.shape.n, sizes, by_rank, rank, row);
        return;
      }
    row = order_of_rows(exec);
  }
  /// Except for `blocked`.
  Array<std::int32_t, Exec> order_of_rows(const Exec& exec) {
    using enum TriangularAlgorithm;
    if constexpr (on_host) {
      if (choice.algorithm == serial) return by_rank;
      if (choice.algorithm == point_to_point) {
        const auto r = array<std::int32_t>(exec, size);
        std::copy(schedule.row.begin(), schedule.row.end(), r.data());
        schedule.row = {};
        return r;
      }
    }
    return choice.algorithm == level_set ? levels.row : by_rank;
  }
  Array<std::int32_t, Exec> natural_order(const Exec& exec) {
    const auto r = array<std::int32_t>(exec, size);
    Kokkos::parallel_for("Trikkos::TriangularPlan::list", range(exec, size),
                         ListRows{natural(), r.data()});
    return r;
  }

  /// Slices, and how many places they have.
  void measure(const Exec& exec) {
    slice_bits = on_host ? 0 : 5;
    measure_slices_of(exec);
    // One long row in a slice may cost a lot of memory. Segments are short.
    if (spins() || found.places <= 2 * pattern.entries + 32) return;
    slice_bits = 0;
    measure_slices_of(exec);
  }
  void measure_slices_of(const Exec& exec) {
    const std::int64_t slices = (positions() + (std::int64_t(1) << slice_bits) - 1) >> slice_bits;
    slice = array<std::int64_t>(exec, slices + 1);
    measure_slices(exec, {pattern.rows(), row.data(), positions(), slice_bits, 0, length.data(),
                          slice.data()});
    sum_up(exec, slice.data(), slices + 1, {&pattern.findings.data()->places});
    found.places = fetch(exec, &pattern.findings.data()->places, function);
  }
};

}  // namespace Trikkos::Impl

#endif
