// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INCOMPLETEFACTORIZATION_HPP
#define TRIKKOS_IMPL_INCOMPLETEFACTORIZATION_HPP

#include <Trikkos_TriangularPlan.hpp>
#include <cmath>
#include <impl/Trikkos_FactorInWarps.hpp>
#include <impl/Trikkos_RowOrdering.hpp>
#include <optional>

/// \file
/// What incomplete factors hold, and their phases: the pattern, the numbers, and plans to solve
/// with both factors.

namespace Trikkos::Impl {

/// Rows by position, for who takes them in an order in which what a row needs is done.
template <class T, IncompleteKind kind>
struct FactorPositions {
  static constexpr std::int64_t systems = 1;

  IncompleteRow<T, kind> rows;
  const std::int32_t* order;

  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t) const {
    if (rows.attempt.is_needed()) factor(order[p]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void solve_range(std::int64_t first, std::int64_t last) const {
    if (!rows.attempt.is_needed()) return;
    for (std::int64_t p = first; p < last; ++p) factor(order[p]);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void factor(std::int64_t i) const {
    const std::int64_t diagonal = rows.rows.diagonal[i];
    for (std::int64_t k = rows.rows.start[i]; k < diagonal; ++k) rows.eliminate(i, k);
    rows.finish(i);
  }
};

/// One launch: each row waits for those that it needs. A row is many values, so unlike in a solve
/// they are not their own flags: fences order them and the word that says that a row is done. See
/// `SyncFreeRow` for the form of the loop.
template <class T, IncompleteKind kind>
struct FactorWhenReady {
  IncompleteRow<T, kind> rows;
  const std::int32_t* order;
  std::int32_t* done;

  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t last) const {
    if (!rows.attempt.is_needed()) return;
    const std::int32_t i = order[p];
    const std::int32_t* const group_end = done + order[last];
    const std::int64_t diagonal = rows.rows.diagonal[i];
    std::int64_t k = rows.rows.start[i];
    bool is_done = false;
    Backoff backoff;
    while (true) {
      if (is_done) {
        if (group == 1 || relaxed_load(group_end) != 0) break;
      } else if (k == diagonal) {
        rows.finish(i);
        Kokkos::memory_fence();
        relaxed_store(done + i, 1);
        is_done = true;
      } else if (relaxed_load(done + rows.rows.column[k]) != 0) {
        Kokkos::memory_fence();
        rows.eliminate(i, k);
        ++k;
      } else {
        backoff.wait();
      }
    }
  }
};

template <class T, class Exec, IncompleteKind kind>
class IncompleteFactorization {
  static constexpr bool on_host = is_host_v<Exec>;
  static constexpr bool has_warps = !on_host && spin_safe_v<Exec> && kind == IncompleteKind::lu;
  static constexpr const char* function = "Trikkos::IncompleteFactors";
  using Solver = TriangularPlan<T, Exec>;

 public:
  template <class Matrix>
  IncompleteFactorization(const Exec& exec, const Matrix& A, const IncompleteOptions& options)
      : m_options(options), m_entries_given(A.entries.extent(0)) {
    analyse(exec, A);
    allocate(exec);
    factor(exec, strided<const T>(A.values));
    const CsrTriangle lower{m_pattern.start, m_pattern.column, m_value, Uplo::lower,
                            kind == IncompleteKind::lu ? Diag::unit : Diag::non_unit};
    CsrTriangle upper = lower;
    TriangularOptions of_upper = options.triangular();
    if constexpr (kind == IncompleteKind::lu) {
      upper.uplo = Uplo::upper;
      upper.diag = Diag::non_unit;
    } else {
      of_upper.transpose(Transpose::conjugate_transpose);
    }
    m_lower.emplace(exec, lower, options.triangular());
    m_upper.emplace(exec, upper, of_upper);
  }

  /// New values: asynchronous, no allocation.
  void update(const Exec& exec, const Strided<const T>& values) const {
    factor(exec, values);
    m_lower->update(exec, m_value);
    m_upper->update(exec, m_value);
  }

  /// Waits.
  IncompleteStatus status(const Exec& exec) const {
    IncompleteStatus s;
    if (size() == 0) return s;
    struct All {
      AttemptReport report[1 + IncompleteOptions::largest_shift_count];
    };
    const auto all = fetch(exec, reinterpret_cast<const All*>(m_reports.data()),
                           "Trikkos::IncompleteFactors::status");
    int last = 0;
    while (last + 1 < attempts() && all.report[last].asks_for_another()) ++last;
    const auto row = [&](std::int64_t p) -> std::int64_t {
      if (p < 0 || p == Diagnosis::clear) return -1;
      return m_ordering.is_natural() ? p : fetch(exec, m_ordering.old_row.data() + p, function);
    };
    s.missing_row = row(m_pattern.missing_row);
    s.missing = m_pattern.missing;
    s.breakdown_row = row(all.report[0].breakdown_row);
    s.breakdowns = all.report[0].breakdowns;
    s.shift = shift(last);
    using enum IncompleteStatus::Reason;
    const AttemptReport& r = all.report[last];
    if (r.not_finite_row != Diagnosis::clear) {
      s.reason = not_finite;
      s.row = row(r.not_finite_row);
    } else if (r.stuck_row != Diagnosis::clear) {
      s.reason = kind == IncompleteKind::lu ? zero_pivot : indefinite;
      s.row = row(r.stuck_row);
    }
    return s;
  }

  /// Asynchronous. b and x may be the same memory.
  void solve(const Exec& exec, const Vectors<const T>& b, const Vectors<T>& x,
             std::int64_t count) const {
    const auto solve_both = [&](const Vectors<const T>& right, const Vectors<T>& left,
                                std::int64_t systems) {
      m_lower->run(exec, right, left, systems);
      m_upper->run(exec, left.read_only(), left, systems);
    };
    if (m_ordering.is_natural()) return solve_both(b, x, count);
    const std::int64_t n = size(), most = m_options.triangular().rhs_count();
    const std::int32_t* const old_row = m_ordering.old_row.data();
    T* const ordered = m_ordered.data();
    for (std::int64_t first = 0; first < count; first += most) {
      const std::int64_t systems = std::min(most, count - first);
      Kokkos::parallel_for("Trikkos::IncompleteFactors::gather_vectors", range(exec, n * systems),
                           GatherVectors<T>{old_row, n, b.block(first), ordered});
      solve_both({ordered, n}, {ordered, n}, systems);
      Kokkos::parallel_for("Trikkos::IncompleteFactors::scatter_vectors", range(exec, n * systems),
                           ScatterVectors<T>{old_row, n, ordered, x.block(first)});
    }
  }

  std::int64_t size() const { return m_pattern.n; }
  Array<const std::int32_t, Exec> order() const { return m_ordering.old_row; }
  std::int64_t entries() const { return m_pattern.entries; }
  std::int64_t entries_given() const { return m_entries_given; }
  const IncompleteOptions& options() const { return m_options; }
  TriangularAlgorithm algorithm() const { return m_algorithm; }
  const Solver& lower() const { return *m_lower; }
  const Solver& upper() const { return *m_upper; }
  auto factors() const {
    return CsrMatrix{Array<const std::int64_t, Exec>(m_pattern.start),
                     Array<const std::int32_t, Exec>(m_pattern.column),
                     Array<const T, Exec>(m_value)};
  }
  std::size_t bytes() const {
    const auto of = [](const auto&... array) {
      return ((array.extent(0) * sizeof(*array.data())) + ...);
    };
    return m_lower->bytes() + m_upper->bytes() +
           of(m_pattern.start, m_pattern.diagonal, m_pattern.first_source, m_pattern.source,
              m_pattern.column, m_order, m_done, m_level_first, m_value, m_rows, m_inverse, m_scale,
              m_reports, m_ordering.old_row, m_ordering.new_row, m_ordered);
  }

 private:
  // ---- the pattern

  template <class Matrix>
  void analyse(const Exec& exec, const Matrix& A) {
    const std::int64_t n = A.rows();
    expect_extent(function, "A", "columns", A.columns, n, "its rows");
    Slabs<Exec> scratch("scratch");
    const auto row_map = checked_row_map(exec, scratch, A, function);
    const CsrPattern given{row_map.data(), columns_of(A)};
    const FactorShape shape{kind == IncompleteKind::cholesky};
    m_ordering = row_ordering(exec, given, n, shape, m_options.ordering());
    m_pattern = factor_pattern(exec, NumberedPattern{given, shape, m_ordering.new_row.data()}, n);
    order_rows(exec, scratch);
    exec.fence(function);  // before what it worked in is freed
  }

  /// Rows need those of their strict lower triangle.
  void order_rows(const Exec& exec, Slabs<Exec>& scratch) {
    using enum TriangularAlgorithm;
    const CsrPattern pattern = m_pattern.as_given();
    const auto needs = triangle_pattern(exec, scratch, pattern, {size(), true, true, false});
    const RowOrder natural{size(), true};
    m_algorithm = m_options.triangular().algorithm();
    if (m_algorithm == blocked) m_algorithm = sync_free;
    if (m_algorithm == automatic && !on_host)
      m_algorithm = spin_safe_v<Exec> ? sync_free : level_set;
    if constexpr (on_host) {
      const bool may_divide = m_algorithm == automatic && exec.concurrency() > 1;
      if (may_divide || m_algorithm == point_to_point)
        m_schedule = likely_schedule(needs.rows(), natural, exec.concurrency());
      if (m_algorithm == automatic)
        m_algorithm =
            may_divide && m_schedule.speedup >= least_expected_speedup ? point_to_point : serial;
      if (m_algorithm == point_to_point) {
        m_order = new_array<std::int32_t>(exec, "order", size());
        std::copy(m_schedule.row.begin(), m_schedule.row.end(), m_order.data());
        return;
      }
    }
    if (m_algorithm == serial) {
      m_order = new_array<std::int32_t>(exec, "order", size());
      Kokkos::parallel_for("Trikkos::IncompleteFactors::list", range(exec, size()),
                           ListRows{natural, m_order.data()});
      return;
    }
    find_levels(exec, scratch, needs, pattern);
    const std::int32_t last = fetch(exec, needs.findings.data(), function).last_level;
    const auto levels = order_by_level(exec, scratch, natural, needs.level, last);
    m_order = new_array<std::int32_t>(exec, "order", size());
    if (m_algorithm != level_set) return copy(exec, copied(levels.row, m_order));
    m_level_first = new_array<std::int32_t>(exec, "level_first", levels.begin.extent(0));
    copy(exec, copied(levels.row, m_order), copied(levels.begin, m_level_first));
    m_first = level_starts(exec, levels);
    m_links = level_links<Exec>(m_first);
  }

  void allocate(const Exec& exec) {
    m_value = new_array<T>(exec, "factors", entries());
    if (publishes()) m_rows = new_array<T>(exec, "rows", entries());
    m_inverse = new_array<T>(exec, "inverse_pivots", size());
    m_scale = new_array<Real<T>>(exec, "scale", size());
    m_done = new_array<std::int32_t>(exec, "done", size());
    m_reports =
        new_array<AttemptReport>(exec, "reports", 1 + IncompleteOptions::largest_shift_count);
    m_tickets = new_array(exec, "tickets", 1, Tickets{});
    if (!m_ordering.is_natural())
      m_ordered = new_array<T>(exec, "ordered", size() * m_options.triangular().rhs_count());
  }

  // ---- the numbers

  int attempts() const {
    return m_options.on_breakdown() == OnBreakdown::shift
               ? 1 + IncompleteOptions::largest_shift_count
               : 1;
  }
  double shift(int attempt) const {
    return attempt == 0 ? 0 : m_options.value() * std::ldexp(1., 2 * (attempt - 1));
  }

  /// Whether rows are factored by warps, which publish values one by one: elsewhere than rows of A.
  bool publishes() const { return has_warps && m_algorithm == TriangularAlgorithm::sync_free; }
  T* rows_to_factor() const { return publishes() ? m_rows.data() : m_value.data(); }
  Published<T> published() const {
    using Word = typename Flagged<T>::Word;
    if (!publishes()) return {};
    return {reinterpret_cast<Word*>(m_value.data()), reinterpret_cast<Word*>(m_inverse.data())};
  }

  void factor(const Exec& exec, const Strided<const T>& values) const {
    Kokkos::parallel_for("Trikkos::IncompleteFactors::reset", range(exec, m_reports.extent(0)),
                         ResetAttempts{m_reports.data()});
    for (int a = 0; a < attempts() && size() > 0; ++a) {
      const Attempt attempt{m_reports.data(), a, shift(a)};
      Kokkos::parallel_for("Trikkos::IncompleteFactors::gather", range(exec, size()),
                           GatherRow<T, kind>{m_pattern.rows(), attempt, values, rows_to_factor(),
                                              m_scale.data(), m_done.data(), published()});
      const PivotRule<T> rule{m_options.on_breakdown(), static_cast<Real<T>>(m_options.value())};
      factor_rows(exec, IncompleteRow<T, kind>{{m_pattern.rows(), rows_to_factor(),
                                                m_inverse.data(), m_scale.data(), rule, attempt}});
    }
  }
  void factor_rows(const Exec& exec, const IncompleteRow<T, kind>& rows) const {
    using enum TriangularAlgorithm;
    const FactorPositions<T, kind> positions{rows, m_order.data()};
    switch (m_algorithm) {
      case sync_free:
        if constexpr (has_warps)
          return factor_in_warps(exec, rows, published(), m_order.data(), m_tickets.data(), size());
        else
          return launch_tickets(
              exec, "Trikkos::IncompleteFactors::sync_free", m_tickets.data(), size(), {}, 0,
              AlwaysOneCopy<FactorWhenReady<T, kind>>{{rows, m_order.data(), m_done.data()}});
      case level_set:
        return solve_levels(exec, positions, m_links, m_first, m_level_first.data());
      case point_to_point:
        if constexpr (on_host) return solve_point_to_point(exec, positions, m_schedule);
        [[fallthrough]];
      default:
        return solve_serially(exec, positions, 0, size());
    }
  }

  IncompleteOptions m_options;
  std::int64_t m_entries_given;
  RowOrdering<Exec> m_ordering;
  FactorPattern<Exec> m_pattern;
  TriangularAlgorithm m_algorithm = TriangularAlgorithm::automatic;
  std::vector<LevelLink> m_links;
  std::vector<std::int32_t> m_first;  // of each level
  PointToPointSchedule m_schedule;

  Array<std::int32_t, Exec> m_order, m_done, m_level_first;
  Array<T, Exec> m_value, m_rows, m_inverse, m_ordered;
  Array<Real<T>, Exec> m_scale;
  Array<AttemptReport, Exec> m_reports;
  Array<Tickets, Exec> m_tickets;
  std::optional<Solver> m_lower, m_upper;
};

}  // namespace Trikkos::Impl

#endif
