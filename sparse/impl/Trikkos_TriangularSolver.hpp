// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGULARSOLVER_HPP
#define TRIKKOS_IMPL_TRIANGULARSOLVER_HPP

#include <bit>
#include <impl/Trikkos_BlockedSolve.hpp>
#include <impl/Trikkos_TriangleAnalysis.hpp>

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
    // To allocate takes as long as ten kernels: one slab for all of a small triangle.
    // Of a larger one all that its analysis may need, while that takes less than another
    // allocation.
    constexpr std::int64_t small = 20 << 20, with_plan = 4, medium = 32 << 20;
    const std::int64_t bytes = Analysis::expected_bytes(A.rows(), m_entries_given, options);
    const bool is_small = !on_host && bytes <= small / with_plan;
    Slabs<Exec> scratch("scratch");
    if (is_small)
      m_memory.reserve(exec, with_plan * bytes);
    else if (!on_host && bytes <= medium)
      scratch.reserve(exec, bytes * 5 / 2);
    Analysis analysis(exec, A, options, is_small ? m_memory : scratch);
    m_first = level_starts(exec, analysis.levels);
    keep(exec, analysis);
    if (algorithm() == TriangularAlgorithm::level_set) m_links = level_links<Exec>(m_first);
    pack_values(exec, strided<const T>(A.values));
    if (!on_host && !is_small) exec.fence("Trikkos::TriangularPlan");  // before memory is freed
  }

  /// New values: asynchronous, no allocation.
  void update(const Exec& exec, const Strided<const T>& values) const {
    const Diagnosis diagnosis{m_report.data()};
    Kokkos::parallel_for("Trikkos::TriangularPlan::reset",
                         light(Kokkos::RangePolicy<Exec>(exec, 0, 1)), ResetDiagnosis{diagnosis});
    pack_values(exec, values);
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
  std::int64_t ignored() const { return m_ignored; }
  std::int64_t entries_given() const { return m_entries_given; }
  std::int64_t levels() const { return static_cast<std::int64_t>(m_first.size()) - 1; }
  std::int32_t width(std::int64_t l) const { return m_first[l + 1] - m_first[l]; }
  /// Of a solve whose right-hand sides lie apart.
  std::int64_t launches() const {
    if (algorithm() == TriangularAlgorithm::level_set) return std::int64_t(m_links.size());
    return m_side_by_side.extent(0) > 0 ? 3 : 1;
  }
  TriangularAlgorithm algorithm() const { return m_choice.algorithm; }
  const char* why() const { return m_choice.why; }
  /// Right-hand sides that a thread solves a row for.
  int of_thread() const { return m_of_thread; }
  /// Of point_to_point, as it was seen or is expected; 1 where there is none.
  double speedup() const { return m_schedule.speedup; }
  const TriangularOptions& options() const { return m_options; }
  std::size_t bytes() const { return m_memory.bytes(); }

 private:
  bool spins() const {
    return algorithm() == TriangularAlgorithm::sync_free ||
           algorithm() == TriangularAlgorithm::blocked;
  }

  bool is_divided() const { return m_kind.extent(0) > 0; }
  /// Rows, or segments of them.
  std::int64_t positions() const { return m_segment.extent(0); }
  TriangleRows rows() const { return {m_start.data(), nullptr, m_source.data()}; }

  // ---- what is kept

  using Analysis = TriangleAnalysis<T, Exec>;

  /// Asynchronous.
  void keep(const Exec& exec, Analysis& a) {
    m_size = a.size;
    m_entries = a.found.entries;
    m_ignored = a.size == 0 ? 0 : a.found.stored - a.found.entries;
    m_choice = a.choice;
    m_of_thread = a.systems_of_thread;
    m_longest = a.found.longest;
    m_slice_bits = a.slice_bits;
    m_schedule = std::move(a.schedule);
    allocate(exec, a);
    launch_all(exec, "Trikkos::TriangularPlan::copy", copied(a.pattern.start, m_start),
               copied(a.pattern.source, m_source), copied(a.row, m_segment),
               copied(a.length, m_length), copied(a.slice, m_slice),
               copied(a.levels.begin, m_level_first),
               copied(a.sizes.import_start, m_parts.import_start), ResetOnce{{m_report.data()}},
               filled(m_words, Flag::Of::empty), filled(m_tickets, Tickets{}),
               filled(m_parts.is_exported, static_cast<unsigned char>(0)));
    if (algorithm() == TriangularAlgorithm::blocked)
      pack(exec, a,
           SlotOfRow{positions(), a.sizes.rows_of_part, a.rank.data(), a.parts.position.data(),
                     m_parts.import_start.data(), a.parts.import_rank.data()});
    else if constexpr (on_host)
      pack(exec, a, NumberOfRow{});
    else
      pack(exec, a, PositionOfRow{a.rank.data()});
  }

  /// All in one slab.
  void allocate(const Exec& exec, const Analysis& a) {
    const bool blocks = algorithm() == TriangularAlgorithm::blocked;
    const bool has_levels = !on_host && algorithm() == TriangularAlgorithm::level_set;
    const std::int64_t n = a.positions(), places = a.found.places, divided = a.is_divided() ? n : 0;
    const std::int64_t values = n * m_options.rhs_count();
    m_parts = {n, a.sizes.rows_of_part, a.sizes.parts, a.sizes.slots, {}, {}, {}};
    m_workers = on_host && blocks ? static_cast<std::int32_t>(exec.concurrency()) : 0;
    const auto for_arrays = [&](const auto& f) {
      f(m_start, n + 1);
      f(m_source, a.pattern.entries);
      f(m_segment, n);
      f(m_row, divided);
      f(m_kind, divided);
      f(m_length, n);
      f(m_slice, std::int64_t(a.slice.extent(0)));
      f(m_needed, places);
      f(m_value, places);
      f(m_inverse, n);
      f(m_report, std::int64_t(Diagnosis::words));
      f(m_words, spins() ? 2 * n * room() * Flag::words : 0);
      f(m_tickets, std::int64_t(spins()));
      f(m_side_by_side, a.brings_side_by_side ? size() * room() : 0);
      f(m_known, on_host || spins() ? 0 : values);
      f(m_level_first, has_levels ? std::int64_t(a.levels.begin.extent(0)) : 0);
      f(m_parts.import_start, blocks ? a.sizes.parts + 1 : 0);
      f(m_parts.import_position, blocks ? a.sizes.imports : 0);
      f(m_parts.is_exported, blocks ? n : 0);
      f(m_worker_words, m_workers * (a.sizes.slots + 1) * Flag::words);
    };
    std::int64_t bytes = 0;
    for_arrays([&](const auto& array, std::int64_t count) {
      using Value = typename std::remove_cvref_t<decltype(array)>::value_type;
      bytes += Slabs<Exec>::template bytes_of<Value>(count);
    });
    m_memory.reserve(exec, bytes);
    for_arrays([&](auto& array, std::int64_t count) {
      using Value = typename std::remove_cvref_t<decltype(array)>::value_type;
      array = m_memory.template array<Value>(exec, count);
    });
    if (divided == 0) m_row = m_segment;
  }

  /// \param name  what rows call those that they need
  template <class Name>
  void pack(const Exec& exec, const Analysis& a, const Name& name) {
    const std::int64_t imports = m_parts.import_position.extent(0);
    launch_all(
        exec, "Trikkos::TriangularPlan::pack",
        PackPattern<T, Name>{positions(), packed(), a.pattern.rows(), m_segment.data(), name,
                             m_needed.data()},
        PlaceSegments{is_divided() ? positions() : 0, a.pattern.rows(), a.natural(),
                      a.row_of.data(), m_segment.data(), m_row.data(), m_kind.data()},
        PlaceImports{imports, a.parts.import_rank.data(), a.by_rank.data(), a.parts.position.data(),
                     m_parts.import_position.data(), m_parts.is_exported.data()});
  }

  void pack_values(const Exec& exec, const Strided<const T>& values) const {
    const bool is_conjugated = m_options.transpose() == Transpose::conjugate_transpose;
    Kokkos::parallel_for(
        "Trikkos::TriangularPlan::update", range(exec, positions()),
        PackValues<T>{packed(), rows(), m_segment.data(), values, m_is_unit, is_conjugated,
                      m_value.data(), m_inverse.data(), Diagnosis{m_report.data()}});
  }

  // ---- the solve

  PackedTriangle<T> packed() const {
    return {m_slice.data(), m_length.data(),  m_row.data(),  m_needed.data(),
            m_value.data(), m_inverse.data(), m_kind.data(), m_slice_bits};
  }

  /// Of at most `rhs_count` systems.
  SideBySide side_by_side(std::int64_t count) const {
    constexpr int most = 5;  // a warp for a row
    const auto others = static_cast<std::uint64_t>(m_options.rhs_count() - 1);
    return {count, std::min(most, static_cast<int>(std::bit_width(others)))};
  }
  /// Values of a row that there is memory for.
  std::int64_t room() const {
    const std::int64_t count = m_options.rhs_count();
    if (algorithm() != TriangularAlgorithm::sync_free)
      return (count + m_of_thread - 1) / m_of_thread * m_of_thread;
    const SideBySide systems = side_by_side(count);
    return systems.groups() * systems.width();
  }

  void solve_portion(const Exec& exec, const Vectors<const T>& b, const Vectors<T>& x,
                     std::int64_t count) const {
    using enum TriangularAlgorithm;
    const Substitution<T, on_host> rows{packed(), b, x, count, m_known.data(), size()};
    switch (algorithm()) {
      case level_set:
        return solve_levels(exec, rows, m_links, m_first, m_level_first.data());
      case sync_free:
        return solve_sync_free(exec, b, x, count);
      case blocked:
        return with_row_form<on_host, 2>(
            m_longest, is_divided(), m_of_thread, [&](auto form, auto of_thread) {
              launch_blocked(exec, BlockedSolve<T, Exec, decltype(form), of_thread>{
                                       m_tickets.data(), packed(), m_parts.view(), b, x, count,
                                       room(), m_words.data(), m_worker_words.data(), m_workers});
            });
      case point_to_point:
        if constexpr (on_host) return solve_point_to_point(exec, rows, m_schedule);
        [[fallthrough]];
      default:
        return solve_serially(exec, rows, 0, size());
    }
  }

  void solve_sync_free(const Exec& exec, const Vectors<const T>& b, const Vectors<T>& x,
                       std::int64_t count) const {
    auto* const words = m_words.data();
    auto* const other = words + m_words.extent(0) / 2;
    const SideBySide systems = side_by_side(count);
    const std::int64_t wanted = systems.bits > 0 ? positions() : 4 * positions() / levels();
    const bool pays = m_side_by_side.extent(0) > 0 && 2 * count > systems.width();
    const ValuesSideBySide<T> near{m_side_by_side.data(), systems, size()}, none;
    const auto near_b = pays && are_apart(b) ? near : none;
    const auto near_x = pays && are_apart(x) ? near : none;
    if (near_b.data != nullptr)
      BringSideBySide<T, false>{b, near}.launch(exec, "Trikkos::solve::side_by_side");
    with_row_form<on_host, 4>(m_longest, is_divided(), m_of_thread, [&](auto form, auto of_thread) {
      const SyncFreeBody<T, on_host, decltype(form), of_thread> body{
          {packed(), b, x, systems, 0, words, other, positions(), near_b, near_x}};
      launch_tickets(exec, "Trikkos::solve::sync_free", m_tickets.data(), positions(), systems,
                     wanted, body);
    });
    if (near_x.data != nullptr)
      BringSideBySide<T, true>{x, near}.launch(exec, "Trikkos::solve::apart");
  }

  TriangularOptions m_options;
  bool m_is_unit;
  std::int64_t m_entries_given, m_size = 0, m_entries = 0, m_ignored = 0;
  Slabs<Exec> m_memory{"plan"};
  std::vector<std::int32_t> m_first;  // of each level
  TriangularChoice m_choice{};
  int m_of_thread = 1;  // systems that a thread solves a row for
  std::vector<LevelLink> m_links;
  PointToPointSchedule m_schedule;
  TriangleParts<Exec> m_parts;
  std::int32_t m_workers = 0;

  // Of rows, or of segments where m_kind has any: where entries begin, and their values come from.
  Array<std::int64_t, Exec> m_start, m_source;
  Array<std::int32_t, Exec> m_segment, m_row, m_length, m_needed;  // m_segment: rows, if whole
  Array<unsigned char, Exec> m_kind;
  std::int32_t m_longest = 0;
  Array<std::int64_t, Exec> m_slice;
  Array<T, Exec> m_value, m_inverse;
  int m_slice_bits = 0;

  Array<T, Exec> m_known, m_side_by_side;
  Array<typename Flag::Word, Exec> m_words, m_worker_words;
  Array<Tickets, Exec> m_tickets;
  Array<std::int32_t, Exec> m_level_first;
  Array<std::int64_t, Exec> m_report;
};

}  // namespace Trikkos::Impl

#endif
