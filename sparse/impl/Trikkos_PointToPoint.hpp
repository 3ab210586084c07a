// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_POINTTOPOINT_HPP
#define TRIKKOS_IMPL_POINTTOPOINT_HPP

#include <atomic>
#include <impl/Trikkos_Substitution.hpp>
#include <memory>
#include <numeric>
#ifdef _OPENMP
#  include <omp.h>
#endif

/// \file
/// Triangular solves by the threads of a host. Parts of neighbouring rows make levels. One with
/// enough work is a step, divided between the threads; a run of thin ones is one step, of one
/// thread, in the order of elimination. A thread waits for no more than the steps of other threads
/// that its rows need and that it has not waited for before (Park, Smelyanskiy, Sundaram, Dubey,
/// ISC 2014).

namespace Trikkos::Impl {

/// How rows are divided between threads.
struct StepDivision {
  std::int64_t rows_of_part;  // neighbours, as they are in the same cache lines
  bool follows_needs;         // parts go where what they need is, not by the numbers of their rows
};

/// What each thread does in each step, and what it waits for first. Tasks are counted step by step,
/// thread by thread.
struct PointToPointSchedule {
  struct Wait {
    std::int32_t thread, step;
  };
  struct alignas(64) Progress {  // a cache line each
    std::int64_t steps = 0;      // done since the plan was made
  };

  std::int32_t threads = 1;
  StepDivision division{};
  std::vector<std::int32_t> row;         // by position
  std::vector<std::int32_t> first;       // position of each task
  std::vector<std::int32_t> first_wait;  // of each task
  std::vector<Wait> waits;
  double speedup = 1;  // that is expected, or was seen
  bool is_tried = false;
  // Shared by all copies of a plan.
  std::unique_ptr<Progress[]> progress;

  std::int64_t steps() const { return (static_cast<std::int64_t>(first.size()) - 1) / threads; }
};

/// Makes a schedule. Parts of one row make the levels of the matrix.
class PointToPointScheduler {
 public:
  PointToPointScheduler(const TriangleRows& rows, RowOrder natural, int threads,
                        const StepDivision& division)
      : m_rows(rows), m_natural(natural), m_rows_of_part(division.rows_of_part), m_task(natural.n) {
    m_schedule.threads = threads;
    m_schedule.division = division;
    m_schedule.progress = std::make_unique<PointToPointSchedule::Progress[]>(threads);
    m_schedule.row.reserve(natural.n);
    m_schedule.first.push_back(0);
    m_schedule.first_wait.push_back(0);
    m_waited.assign(threads * threads, -1);
    sort_parts_by_level();
    const std::int64_t levels = static_cast<std::int64_t>(m_level_first.size()) - 1;
    for (std::int64_t l = 0; l < levels;) {
      std::int64_t end = l + 1;
      const bool is_wide = can_be_divided(l);
      if (!is_wide)
        while (end < levels && !can_be_divided(end)) ++end;
      add_step(m_level_first[l], m_level_first[end], is_wide);
      l = end;
    }
    m_schedule.speedup = m_serial_time > 0 ? m_serial_time / (launch_work + m_time) : 1;
  }
  PointToPointSchedule take() { return std::move(m_schedule); }

 private:
  // In entries of a row, about 1 ns each: a row by itself, a cache line that the row before had no
  // use for, a wait. (One core of an EPYC: rows of a 1024 x 1024 grid in order 4.6 ns, by level
  // 7.5 ns; of a Delaunay mesh 12.7 and 12.3 ns.)
  static constexpr double row_work = 2, line_work = 1, wait_work = 250;
  static constexpr double least_share = 500;  // of a step, for a thread
  // The start and end of a parallel loop, 1.3 to 2.5 us there if it does nothing, and cache lines
  // that come from the other core.
  static constexpr double launch_work = 6000;

  std::int64_t begin_of(std::int32_t part) const { return part * m_rows_of_part; }
  std::int64_t end_of(std::int32_t part) const {
    return std::min(begin_of(part) + m_rows_of_part, m_natural.n);
  }

  /// Behind the row before it, or elsewhere.
  double work_of_row(std::int64_t e, bool follows) const {
    constexpr std::int32_t line = 8;  // of doubles
    const std::int32_t row = m_natural[e], before = follows ? m_natural[e - 1] : row;
    const std::int64_t begin = m_rows.start[row], count = m_rows.start[row + 1] - begin;
    const std::int64_t begin_before = m_rows.start[before];
    const std::int64_t known = follows ? m_rows.start[before + 1] - begin_before : 0;
    std::int64_t lines = follows ? 0 : 1;
    for (std::int64_t k = 0; k < count; ++k)
      lines += k >= known ||
               std::abs(m_rows.needed[begin + k] - m_rows.needed[begin_before + k]) >= line;
    return static_cast<double>(count) + row_work + line_work * static_cast<double>(lines);
  }

  void sort_parts_by_level() {
    const std::int64_t parts = (m_natural.n + m_rows_of_part - 1) / m_rows_of_part;
    std::vector<std::int32_t> level(parts);
    m_work.resize(parts);
    m_level_first = {0};
    for (std::int32_t part = 0; part < parts; ++part) {
      for (std::int64_t e = begin_of(part); e < end_of(part); ++e) {
        const std::int32_t row = m_natural[e];
        m_work[part] += work_of_row(e, e > begin_of(part));
        m_serial_time += work_of_row(e, e > 0);
        for (std::int64_t k = m_rows.start[row]; k < m_rows.start[row + 1]; ++k) {
          const auto other =
              static_cast<std::int32_t>(m_natural[m_rows.needed[k]] / m_rows_of_part);
          if (other != part) level[part] = std::max(level[part], level[other] + 1);
        }
      }
      if (level[part] + 2 > static_cast<std::int64_t>(m_level_first.size()))
        m_level_first.resize(level[part] + 2);
      ++m_level_first[level[part] + 1];
    }
    std::partial_sum(m_level_first.begin(), m_level_first.end(), m_level_first.begin());
    std::vector<std::int32_t> next = m_level_first;
    m_part.resize(parts);
    for (std::int32_t part = 0; part < parts; ++part) m_part[next[level[part]]++] = part;
  }

  double work(std::int32_t first, std::int32_t last) const {
    double sum = 0;
    for (std::int32_t i = first; i < last; ++i) sum += m_work[m_part[i]];
    return sum;
  }
  bool can_be_divided(std::int64_t level) const {
    const std::int32_t first = m_level_first[level], last = m_level_first[level + 1];
    return last - first >= m_schedule.threads &&
           work(first, last) >= least_share * m_schedule.threads;
  }

  /// Parts m_part[first] to m_part[last]: of one level, for all threads, or of many, for the first.
  void add_step(std::int32_t first, std::int32_t last, bool is_wide) {
    const double all = work(first, last);
    const auto begin = m_part.begin();
    if (!is_wide)
      std::sort(begin + first, begin + last);
    else if (m_schedule.division.follows_needs)
      sort_by_needs(first, last);
    std::int32_t i = first;
    double done = 0, longest = 0;
    for (int t = 0; t < m_schedule.threads; ++t) {
      const double share = is_wide ? all * (t + 1) / m_schedule.threads : all;
      const std::int32_t mine = i;
      const double before = done;
      const bool is_last = t + 1 == m_schedule.threads;
      while (i < last && (is_last || done + 0.5 * m_work[m_part[i]] <= share))
        done += m_work[m_part[i++]];
      longest = std::max(longest, done - before);
      std::sort(begin + mine, begin + i);
      add_task(t, mine, i);
    }
    m_time += longest + wait_work;
  }

  /// By the mean of the threads that have what a part needs.
  void sort_by_needs(std::int32_t first, std::int32_t last) {
    m_near.resize(m_part.size());
    for (std::int32_t i = first; i < last; ++i) {
      const std::int32_t part = m_part[i];
      double sum = 0, count = 0;
      for (std::int64_t e = begin_of(part); e < end_of(part); ++e) {
        const std::int32_t row = m_natural[e];
        for (std::int64_t k = m_rows.start[row]; k < m_rows.start[row + 1]; ++k) {
          const std::int32_t other = m_rows.needed[k];
          if (m_natural[other] / m_rows_of_part == part) continue;
          sum += m_task[other] % m_schedule.threads;
          ++count;
        }
      }
      m_near[part] = count > 0 ? sum / count : 0;
    }
    std::stable_sort(m_part.begin() + first, m_part.begin() + last,
                     [&](std::int32_t a, std::int32_t b) { return m_near[a] < m_near[b]; });
  }

  void add_task(int thread, std::int32_t first, std::int32_t last) {
    const auto task = static_cast<std::int32_t>(m_schedule.first.size() - 1);
    const int threads = m_schedule.threads;
    m_needed.assign(threads, -1);  // last step of each thread
    for (std::int32_t i = first; i < last; ++i)
      for (std::int64_t e = begin_of(m_part[i]); e < end_of(m_part[i]); ++e) {
        const std::int32_t row = m_natural[e];
        m_schedule.row.push_back(row);
        m_task[row] = task;
        for (std::int64_t k = m_rows.start[row]; k < m_rows.start[row + 1]; ++k) {
          const std::int32_t of = m_task[m_rows.needed[k]];
          m_needed[of % threads] = std::max(m_needed[of % threads], of / threads);
        }
      }
    for (int t = 0; t < threads; ++t) {
      std::int32_t& waited = m_waited[thread * threads + t];
      if (t == thread || m_needed[t] <= waited) continue;
      waited = m_needed[t];
      m_schedule.waits.push_back({t, m_needed[t]});
    }
    m_schedule.first.push_back(static_cast<std::int32_t>(m_schedule.row.size()));
    m_schedule.first_wait.push_back(static_cast<std::int32_t>(m_schedule.waits.size()));
  }

  const TriangleRows m_rows;
  const RowOrder m_natural;
  const std::int64_t m_rows_of_part;
  std::vector<std::int32_t> m_level_first, m_part;  // parts by level
  std::vector<double> m_work, m_near;               // of each part; the thread that it is near
  std::vector<std::int32_t> m_task;                 // of each row
  std::vector<std::int32_t> m_waited, m_needed;     // steps of other threads
  double m_serial_time = 0, m_time = 0;
  PointToPointSchedule m_schedule;
};

/// The one that is expected to be the fastest, of some sizes of parts.
inline PointToPointSchedule likely_schedule(const TriangleRows& rows, RowOrder natural,
                                            int threads) {
  PointToPointSchedule best;
  best.speedup = 0;
  for (const std::int64_t rows_of_part : {512, 128, 32, 8, 1}) {
    PointToPointSchedule s =
        PointToPointScheduler(rows, natural, threads, {rows_of_part, false}).take();
    if (s.speedup > best.speedup) best = std::move(s);
  }
  return best;
}

/// A thread of a host.
template <class Rows>
struct PointToPointSolve {
  Rows rows;
  std::int32_t threads;
  std::int64_t steps;
  const std::int32_t *first, *first_wait;
  const PointToPointSchedule::Wait* waits;
  PointToPointSchedule::Progress* progress;

  void operator()(std::int64_t thread) const {
    // All threads have done as many steps before this solve.
    const std::int64_t before = progress[thread].steps;
    for (std::int64_t s = 0; s < steps; ++s) {
      const std::int64_t task = s * threads + thread;
      for (std::int32_t w = first_wait[task]; w < first_wait[task + 1]; ++w)
        wait_for(progress[waits[w].thread].steps, before + waits[w].step + 1);
      rows.solve_range(first[task], first[task + 1]);
      std::atomic_ref(progress[thread].steps).store(before + s + 1, std::memory_order_release);
    }
  }

 private:
  static void wait_for(std::int64_t& steps, std::int64_t wanted) {
    Backoff backoff;
    while (std::atomic_ref(steps).load(std::memory_order_acquire) < wanted) backoff.wait();
  }
};

/// Whether a kernel of so many iterations has a thread for each of them, at the same time.
template <class Exec>
bool runs_side_by_side(const Exec& exec, int threads) {
#ifdef _OPENMP
  if (omp_in_parallel()) return false;
#endif
  return exec.concurrency() == threads;
}

template <class Exec, class Rows>
void solve_point_to_point(const Exec& exec, const Rows& rows,
                          const PointToPointSchedule& schedule) {
  const std::int32_t threads = schedule.threads;
  if (threads == 1 || !runs_side_by_side(exec, threads)) {
    solve_serially(exec, rows, 0, schedule.first.back());
    return;
  }
  Kokkos::parallel_for("Trikkos::solve::point_to_point", range(exec, threads),
                       PointToPointSolve<Rows>{rows, threads, schedule.steps(),
                                               schedule.first.data(), schedule.first_wait.data(),
                                               schedule.waits.data(), schedule.progress.get()});
}

}  // namespace Trikkos::Impl

#endif
