// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SCHEDULETRIAL_HPP
#define TRIKKOS_IMPL_SCHEDULETRIAL_HPP

#include <chrono>
#include <impl/Trikkos_PointToPoint.hpp>
#include <impl/Trikkos_Slabs.hpp>

/// \file
/// Schedules are tried, as nothing else tells how they do: a cache line goes from core to core in
/// 20 to 250 ns, and threads may have to share a core. On two cores of an EPYC that a hypervisor
/// moves about, the same schedule was 1.55 times as fast as one thread and, a minute later, 0.8
/// times, a word being passed on in 91 and in 240 ns.

namespace Trikkos::Impl {

/// A triangle of the same pattern whose numbers are all zero, solved as the plan will do it.
template <class T, class Exec>
class ScheduleTrial {
 public:
  ScheduleTrial(const Exec& exec, const TriangleRows& rows, RowOrder natural)
      : m_exec(exec), m_rows(rows), m_n(natural.n), m_slice(natural.n + 1), m_length(natural.n) {
    const std::int64_t entries = rows.start[m_n], numbers = 3 * m_n;
    m_memory.reserve(exec, Slabs<Exec>::template bytes_of<std::int32_t>(entries) +
                               Slabs<Exec>::template bytes_of<T>(entries) +
                               Slabs<Exec>::template bytes_of<T>(numbers));
    m_needed = m_memory.template array<std::int32_t>(exec, entries);
    m_value = m_memory.template array<T>(exec, entries);
    m_vectors = m_memory.template array<T>(exec, numbers);
    fill(exec, filled(m_value, T(0)), filled(m_vectors, T(0)));
    std::vector<std::int32_t> order(m_n);
    for (std::int64_t e = 0; e < m_n; ++e) order[e] = natural[e];
    m_one_thread = time(order, [&](const auto& A) { solve_serially(m_exec, A, 0, m_n); });
  }

  /// Times one thread in the order of elimination.
  double speedup(const PointToPointSchedule& schedule) {
    return m_one_thread /
           time(schedule.row, [&](const auto& A) { solve_point_to_point(m_exec, A, schedule); });
  }

 private:
  template <class Solve>
  double time(const std::vector<std::int32_t>& order, const Solve& solve) {
    m_slice[0] = 0;
    for (std::int64_t p = 0; p < m_n; ++p) {
      m_length[p] = static_cast<std::int32_t>(m_rows.needed_entries(order[p]));
      m_slice[p + 1] = m_slice[p] + m_length[p];
    }
    T* const numbers = m_vectors.data();
    const PackedTriangle<T> A{m_slice.data(), m_length.data(), order.data(), m_needed.data(),
                              m_value.data(), numbers,         nullptr,      0};
    Kokkos::parallel_for(
        label, range(m_exec, m_n),
        PackPattern<T, NumberOfRow>{m_n, A, m_rows, order.data(), {}, m_needed.data()});
    const Vectors<T> b{numbers + m_n}, x{numbers + 2 * m_n};
    const Substitution<T, true> rows{A, {b.data}, x, 1, nullptr, 0};
    m_exec.fence(label);
    constexpr int times = 4;
    double fastest = 0;
    for (int i = 0; i < times; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      solve(rows);
      m_exec.fence(label);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      fastest = i == 0 ? taken.count() : std::min(fastest, taken.count());
      if (m_one_thread > 0 && fastest > 2 * m_one_thread) break;  // its threads share cores
    }
    return fastest;
  }

  static constexpr auto label = "Trikkos::TriangularPlan::try";

  const Exec m_exec;
  const TriangleRows m_rows;
  const std::int64_t m_n;
  Slabs<Exec> m_memory{"try"};
  Array<std::int32_t, Exec> m_needed;
  Array<T, Exec> m_value, m_vectors;  // the diagonal's reciprocals, b, x
  std::vector<std::int64_t> m_slice;
  std::vector<std::int32_t> m_length;
  double m_one_thread = 0;
};

/// The likely one, that of single rows, and both divided the other way: the fastest, with the
/// speedup that was seen. The likely one untried, where it is not expected to pay or its threads
/// cannot be had.
template <class T, class Exec>
PointToPointSchedule fastest_schedule(const Exec& exec, const TriangleRows& rows,
                                      RowOrder natural) {
  const int threads = exec.concurrency();
  PointToPointSchedule best = likely_schedule(rows, natural, threads);
  if (best.speedup <= 1 || !runs_side_by_side(exec, threads)) return best;
  ScheduleTrial<T, Exec> trial(exec, rows, natural);
  best.speedup = trial.speedup(best);
  best.is_tried = true;
  const StepDivision likely = best.division;
  const auto look_at = [&](const StepDivision& division) {
    PointToPointSchedule s = PointToPointScheduler(rows, natural, threads, division).take();
    s.speedup = trial.speedup(s);
    s.is_tried = true;
    if (s.speedup > best.speedup) best = std::move(s);
  };
  look_at({likely.rows_of_part, true});
  if (likely.rows_of_part > 1)
    for (const bool follows_needs : {false, true}) look_at({1, follows_needs});
  return best;
}

}  // namespace Trikkos::Impl

#endif
