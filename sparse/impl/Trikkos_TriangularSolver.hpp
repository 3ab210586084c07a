// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGULARSOLVER_HPP
#define TRIKKOS_IMPL_TRIANGULARSOLVER_HPP

#include <impl/Trikkos_BlockedSolve.hpp>
#include <impl/Trikkos_LevelSetSolve.hpp>
#include <impl/Trikkos_PointToPoint.hpp>
#include <impl/Trikkos_TriangleSegments.hpp>
#include <impl/Trikkos_TriangularChoice.hpp>

/// \file
/// What a TriangularPlan holds, and its three phases: the pattern, the values, the solve.

namespace Trikkos::Impl {

template <class T, class Exec>
class TriangularSolver {
  static constexpr bool on_host = is_host_v<Exec>;
  using Flag = Flagged<T>;

 public:
  template <class Matrix>
  TriangularSolver(const Exec& exec, const Matrix& A, const TriangularOptions& options)
      : m_options(options), m_is_unit(A.diag == Diag::unit), m_entries_given(A.entries.extent(0)) {
    analyse(exec, A);
    m_report = new_array<std::int64_t>(exec, "report", Diagnosis::words);
    update(exec, strided<const T>(A.values));
  }

  /// New values: asynchronous, no allocation.
  void update(const Exec& exec, const Strided<const T>& values) const {
    const Diagnosis diagnosis{m_report.data()};
    Kokkos::parallel_for("Trikkos::TriangularPlan::reset",
                         light(Kokkos::RangePolicy<Exec>(exec, 0, 1)), ResetDiagnosis{diagnosis});
    const bool is_conjugated = m_options.transpose() == Transpose::conjugate_transpose;
    Kokkos::parallel_for(
        "Trikkos::TriangularPlan::update", range(exec, positions()),
        PackValues<T>{packed(), m_pattern.rows(), m_segment.data(), values, m_is_unit,
                      is_conjugated, m_value.data(), m_inverse.data(), diagnosis});
  }

  /// Asynchronous, no allocation.
  void solve(const Exec& exec, const Vectors<const T>& b, const Vectors<T>& x,
             std::int64_t count) const {
    if (size() == 0) return;
    const std::int64_t portion = !on_host || spins() ? m_options.rhs_count() : count;
    for (std::int64_t k = 0; k < count; k += portion)
      solve_portion(exec, b.block(k), x.block(k), std::min(portion, count - k));
  }

  /// Waits.
  Status status(const Exec& exec) const {
    if (size() == 0) return {};
    struct Words {
      std::int64_t word[Diagnosis::words];
    };
    const auto words = fetch(exec, reinterpret_cast<const Words*>(m_report.data()),
                             "Trikkos::TriangularPlan::status");
    return decode(words.word, size());
  }

  std::int64_t size() const { return m_size; }
  std::int64_t entries() const { return m_entries; }
  std::int64_t ignored() const { return m_pattern.ignored; }
  std::int64_t entries_given() const { return m_entries_given; }
  std::int64_t levels() const { return m_order.levels(); }
  std::int32_t width(std::int64_t l) const { return m_order.width(l); }
  std::int64_t launches() const {
    return algorithm() == TriangularAlgorithm::level_set ? std::int64_t(m_links.size()) : 1;
  }
  TriangularAlgorithm algorithm() const { return m_choice.algorithm; }
  const char* why() const { return m_choice.why; }
  /// Of point_to_point, as expected from its schedule; 1 where there is none.
  double speedup() const { return m_schedule.speedup; }
  const TriangularOptions& options() const { return m_options; }
  std::size_t bytes() const {
    const auto of = [](const auto&... array) {
      return ((array.extent(0) * sizeof(*array.data())) + ...);
    };
    return of(m_pattern.start, m_pattern.source, m_segment, m_row, m_kind, m_length, m_needed,
              m_slice, m_value, m_inverse, m_known, m_words, m_worker_words, m_tickets,
              m_level_first, m_report, m_parts.import_start, m_parts.import_position,
              m_parts.is_exported);
  }

 private:
  bool spins() const {
    return algorithm() == TriangularAlgorithm::sync_free ||
           algorithm() == TriangularAlgorithm::blocked;
  }

  bool is_divided() const { return m_kind.extent(0) > 0; }
  /// Rows, or segments of them.
  std::int64_t positions() const { return m_pattern.shape.n; }

  // ---- the pattern

  template <class Matrix>
  void analyse(const Exec& exec, const Matrix& A) {
    const auto row_map = checked_row_map(exec, A);
    const CsrPattern given{row_map.data(), columns_of(A)};
    const std::int64_t n = A.rows();
    const std::int64_t stored =
        n == 0 ? 0 : fetch(exec, row_map.data() + n, "Trikkos::TriangularPlan::row_map");
    check_columns(exec, given.column, n, stored);
    m_pattern = triangle_pattern(
        exec, given,
        {n, A.uplo == Uplo::lower, m_is_unit, m_options.transpose() != Transpose::none});
    m_size = n;
    m_entries = m_pattern.entries;
    if constexpr (!on_host)  // levels are found one entry after the other, the last one last
      Kokkos::parallel_for("Trikkos::TriangularPlan::sort_pattern", range(exec, n),
                           SortRows<RowOrder>{m_pattern.rows(), m_pattern.shape.natural()});
    const auto level = triangle_levels(exec, m_pattern, given);
    m_order = order_by_level(exec, m_pattern.shape.natural(), level);
    arrange(exec, level);
    allocate(exec);
    exec.fence("Trikkos::TriangularPlan");  // before what is no longer needed is freed
    m_pattern.needed = {};
    if (algorithm() != TriangularAlgorithm::level_set) m_links.clear();
    m_order.row = {};
  }

  /// Which row, or segment of one, is solved where.
  void arrange(const Exec& exec, const Array<std::int32_t, Exec>& level) {
    Ranks ranks = on_host ? Ranks{natural_order(exec), natural_order(exec)}
                          : Ranks{m_order.row, inverse_of(exec, m_order.row)};
    Kokkos::parallel_for("Trikkos::TriangularPlan::sort_rows", range(exec, size()),
                         SortRows<const std::int32_t*>{m_pattern.rows(), ranks.rank.data()});
    TriangleSegments<Exec> segments;
    if constexpr (!on_host)
      if (may_spin()) segments = divide_rows(exec, m_pattern, level);
    const bool divided = segments.row_of.extent(0) > 0;
    if (divided) {
      m_pattern = segments.pattern;
      const auto order = order_by_level(exec, m_pattern.shape.natural(), segments.level);
      ranks = {order.row, inverse_of(exec, order.row)};
    }
    const auto sizes = choose(exec, ranks);
    Array<std::int32_t, Exec> slot;
    if constexpr (spin_safe_v<Exec>)
      if (algorithm() == TriangularAlgorithm::blocked)
        m_parts = make_parts(exec, m_pattern, sizes, ranks.row, ranks.rank, m_segment, slot);
    if (m_segment.extent(0) == 0) m_segment = order_of_rows(exec, ranks.row);
    m_row = m_segment;
    if (divided) place_segments(exec, segments.row_of);
    pack(exec, on_host ? nullptr : ranks.rank.data(), slot.data());
  }

  /// Rows, or segments, in an order in which none needs one behind it, and where each is: by level
  /// (device) or elimination (host).
  struct Ranks {
    Array<std::int32_t, Exec> row, rank;
  };
  static Array<std::int32_t, Exec> inverse_of(const Exec& exec,
                                              const Array<std::int32_t, Exec>& row) {
    const auto rank = new_array<std::int32_t>(exec, "rank", row.extent(0));
    Kokkos::parallel_for("Trikkos::TriangularPlan::invert", range(exec, row.extent(0)),
                         InvertOrder{row.data(), rank.data()});
    return rank;
  }

  /// Whether rows may wait for each other in a kernel.
  bool may_spin() const {
    using enum TriangularAlgorithm;
    const TriangularAlgorithm wanted = m_options.algorithm();
    if (wanted == automatic) return spin_safe_v<Exec> && levels() > levels_for_launches;
    return wanted == sync_free || wanted == blocked;
  }

  /// Returns what `blocked` begins with.
  PartSizes<Exec> choose(const Exec& exec, const Ranks& ranks) {
    const TriangularAlgorithm wanted = m_options.algorithm();
    using enum TriangularAlgorithm;
    if constexpr (on_host)
      if (wanted == automatic || wanted == point_to_point)
        m_schedule = point_to_point_schedule(m_pattern.rows(), m_pattern.shape.natural(),
                                             exec.concurrency());
    PartSizes<Exec> sizes;
    if constexpr (spin_safe_v<Exec>)
      if (wanted == blocked ||
          (wanted == automatic && !on_host && levels() > levels_without_parts)) {
        const std::int64_t bytes = granted_scratch<Exec>() - scratch_reserved(1024);
        const bool large_only = wanted == automatic && is_wide(size(), levels());
        sizes = part_sizes(exec, m_pattern, ranks.rank,
                           bytes / static_cast<std::int64_t>(sizeof(T)), large_only);
      }
    m_choice = {wanted, "it was asked for"};
    if (wanted == blocked && !sizes.fit())
      m_choice = {sync_free, "parts of it do not fit into scratch"};
    if (wanted == automatic)
      m_choice = choose_triangular_algorithm(
          {size(), levels(), on_host, spin_safe_v<Exec>, sizes.fit(), sizes.imports,
           static_cast<int>(exec.concurrency()), m_schedule.speedup});
    if (algorithm() == level_set) m_links = level_links(m_order);
    return sizes;
  }

  Array<std::int32_t, Exec> natural_order(const Exec& exec) const {
    const auto row = new_array<std::int32_t>(exec, "row", size());
    Kokkos::parallel_for("Trikkos::TriangularPlan::list", range(exec, size()),
                         ListRows{m_pattern.shape.natural(), row.data()});
    return row;
  }
  /// By position, except for `blocked`.
  Array<std::int32_t, Exec> order_of_rows(const Exec& exec,
                                          const Array<std::int32_t, Exec>& by_rank) {
    if constexpr (on_host) {
      if (algorithm() == TriangularAlgorithm::serial) return natural_order(exec);
      if (algorithm() == TriangularAlgorithm::point_to_point) {
        const auto row = new_array<std::int32_t>(exec, "row", size());
        std::copy(m_schedule.row.begin(), m_schedule.row.end(), row.data());
        m_schedule.row = {};
        return row;
      }
    }
    return algorithm() == TriangularAlgorithm::level_set ? m_order.row : by_rank;
  }

  void place_segments(const Exec& exec, const Array<std::int32_t, Exec>& row_of) {
    m_row = new_array<std::int32_t>(exec, "row", positions());
    m_kind = new_array<unsigned char>(exec, "kind", positions());
    Kokkos::parallel_for("Trikkos::TriangularPlan::place_segments", range(exec, positions()),
                         PlaceSegments{m_pattern.rows(), m_pattern.shape.natural(), row_of.data(),
                                       m_segment.data(), m_row.data(), m_kind.data()});
  }

  /// \param name  of each row, as those that need it call it; null: its number
  /// \param slot  of each entry, in place of a name; null: none
  void pack(const Exec& exec, const std::int32_t* name, const std::int32_t* slot) {
    const std::int64_t n = positions();
    const TriangleRows rows = m_pattern.rows();
    m_length = new_array<std::int32_t>(exec, "length", n);
    Kokkos::parallel_for("Trikkos::TriangularPlan::measure", range(exec, n),
                         MeasureRows{rows, m_segment.data(), m_length.data()});
    if (spins()) m_longest = longest(exec);

    m_slice_bits = on_host ? 0 : 5;
    std::int64_t places = measure_slices(exec);
    // One long row in a slice may cost a lot of memory. Segments are short.
    if (!spins() && places > 2 * m_pattern.entries + 32) {
      m_slice_bits = 0;
      places = measure_slices(exec);
    }
    m_needed = new_array<std::int32_t>(exec, "needed", places);
    m_value = new_array<T>(exec, "value", places);
    m_inverse = new_array<T>(exec, "inverse", n);
    Kokkos::parallel_for(
        "Trikkos::TriangularPlan::pack", range(exec, n),
        PackPattern<T>{packed(), rows, m_segment.data(), name, slot, m_needed.data()});
  }
  std::int32_t longest(const Exec& exec) const {
    std::int32_t r = 0;
    Kokkos::parallel_reduce("Trikkos::TriangularPlan::longest", range(exec, positions()),
                            FindMaximum{m_length.data()}, Kokkos::Max<std::int32_t>(r));
    exec.fence("Trikkos::TriangularPlan::longest");
    return r;
  }
  /// How many places they have.
  std::int64_t measure_slices(const Exec& exec) {
    const std::int64_t in_slice = std::int64_t(1) << m_slice_bits;
    const std::int64_t slices = (positions() + in_slice - 1) >> m_slice_bits;
    m_slice = new_array<std::int64_t>(exec, "slice", slices + 1, std::int64_t(0));
    Kokkos::parallel_for("Trikkos::TriangularPlan::measure_slices", range(exec, slices),
                         MeasureSlices{m_length.data(), positions(), m_slice_bits, m_slice.data()});
    sum_up(exec, m_slice.data(), slices + 1);
    return fetch(exec, m_slice.data() + slices, "Trikkos::TriangularPlan::slice");
  }

  /// What solves work in.
  void allocate(const Exec& exec) {
    // Kokkos' CUDA backend allocates for a team launch until one has asked for level-1 scratch.
    if constexpr (!on_host)
      Kokkos::parallel_for(
          "Trikkos::TriangularPlan::team_scratch",
          Kokkos::TeamPolicy<Exec>(exec, 1, 1024).set_scratch_size(1, Kokkos::PerTeam(8)),
          IdleTeam{});
    const std::int64_t values = positions() * m_options.rhs_count();
    if (spins()) {
      m_words = new_array(exec, "words", 2 * values * Flag::words, Flag::Of::empty);
      m_tickets = new_array(exec, "tickets", 1, Tickets{});
    } else if (!on_host) {
      m_known = new_array<T>(exec, "known", values);
    }
    if (on_host && algorithm() == TriangularAlgorithm::blocked) {
      m_workers = static_cast<std::int32_t>(exec.concurrency());
      m_worker_words =
          new_array<typename Flag::Word>(exec, "slots", m_workers * m_parts.slots * Flag::words);
    }
    if (!on_host && algorithm() == TriangularAlgorithm::level_set) {
      m_level_first = new_array<std::int32_t>(exec, "level_first", m_order.first.size());
      using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
      Kokkos::deep_copy(exec, m_level_first,
                        Kokkos::View<const std::int32_t*, Kokkos::HostSpace, Unmanaged>(
                            m_order.first.data(), m_order.first.size()));
    }
  }

  // ---- the solve

  PackedTriangle<T> packed() const {
    return {m_slice.data(), m_length.data(),  m_row.data(),  m_needed.data(),
            m_value.data(), m_inverse.data(), m_kind.data(), m_slice_bits};
  }

  void solve_portion(const Exec& exec, const Vectors<const T>& b, const Vectors<T>& x,
                     std::int64_t count) const {
    using enum TriangularAlgorithm;
    const Substitution<T, on_host> rows{packed(), b, x, count, m_known.data(), size()};
    switch (algorithm()) {
      case level_set:
        return solve_levels(exec, rows, m_links, m_order.first, m_level_first.data());
      case sync_free: {
        auto* const words = m_words.data();
        auto* const other = words + m_words.extent(0) / 2;
        return with_row_form<on_host>(m_longest, is_divided(), [&](auto form) {
          const SyncFreeBody<T, on_host, decltype(form)> body{
              {packed(), b, x, count, 0, words, other, positions()}};
          launch_tickets(exec, "Trikkos::solve::sync_free", m_tickets.data(), positions(), count,
                         body);
        });
      }
      case blocked:
        return with_row_form<on_host>(m_longest, is_divided(), [&](auto form) {
          launch_blocked(
              exec, BlockedSolve<T, Exec, decltype(form)>{
                        m_tickets.data(), packed(), m_parts.view(), b, x, count,
                        m_options.rhs_count(), m_words.data(), m_worker_words.data(), m_workers});
        });
      case point_to_point:
        if constexpr (on_host) return solve_point_to_point(exec, rows, m_schedule);
        [[fallthrough]];
      default:
        return solve_serially(exec, rows, 0, size());
    }
  }

  TriangularOptions m_options;
  bool m_is_unit;
  std::int64_t m_entries_given, m_size = 0, m_entries = 0;
  TrianglePattern<Exec> m_pattern;
  LevelOrder<Exec> m_order;
  TriangularChoice m_choice{};
  std::vector<LevelLink> m_links;
  PointToPointSchedule m_schedule;
  TriangleParts<Exec> m_parts;
  std::int32_t m_workers = 0;

  Array<std::int32_t, Exec> m_segment, m_row, m_length,
      m_needed;  // m_segment: rows, if not divided
  Array<unsigned char, Exec> m_kind;
  std::int32_t m_longest = 0;
  Array<std::int64_t, Exec> m_slice;
  Array<T, Exec> m_value, m_inverse;
  int m_slice_bits = 0;

  Array<T, Exec> m_known;
  Array<typename Flag::Word, Exec> m_words, m_worker_words;
  Array<Tickets, Exec> m_tickets;
  Array<std::int32_t, Exec> m_level_first;
  Array<std::int64_t, Exec> m_report;
};

}  // namespace Trikkos::Impl

#endif
