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
/// Triangular solves by the threads of a host. Levels with enough work are a step each, divided
/// between the threads; a run of thin levels is one step, of one thread, in the order of
/// elimination. A thread waits for no more than the steps of other threads that its rows need
/// and that it has not waited for before (Park, Smelyanskiy, Sundaram, Dubey, ISC 2014).

namespace Trikkos::Impl {

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
  std::vector<std::int32_t> row;         // by position
  std::vector<std::int32_t> first;       // position of each task
  std::vector<std::int32_t> first_wait;  // of each task
  std::vector<Wait> waits;
  double speedup = 1;  // that is expected
  // Shared by all copies of a plan.
  std::unique_ptr<Progress[]> progress;

  std::int64_t steps() const { return (static_cast<std::int64_t>(first.size()) - 1) / threads; }
};

/// Makes a schedule from levels.
class PointToPointScheduler {
 public:
  PointToPointScheduler(const TriangleRows& rows, RowOrder natural, const std::int32_t* by_level,
                        const std::vector<std::int32_t>& level_first, int threads)
      : m_rows(rows), m_natural(natural), m_level_first(level_first), m_task(natural.n) {
    m_schedule.threads = threads;
    m_schedule.row.assign(by_level, by_level + natural.n);
    m_schedule.progress = std::make_unique<PointToPointSchedule::Progress[]>(threads);
    m_schedule.first.push_back(0);
    m_schedule.first_wait.push_back(0);
    m_waited.assign(threads * threads, -1);
    const std::int64_t levels = static_cast<std::int64_t>(level_first.size()) - 1;
    for (std::int64_t l = 0; l < levels;) {
      std::int64_t end = l + 1;
      const bool is_wide = work(l) >= wide_work;
      if (!is_wide)
        while (end < levels && work(end) < wide_work) ++end;
      add_step(level_first[l], level_first[end], is_wide);
      l = end;
    }
    m_schedule.speedup = m_time > 0 ? m_work / m_time : 1;
  }
  PointToPointSchedule take() { return std::move(m_schedule); }

 private:
  // In entries, about 1.2 ns each; a row counts as two more.
  static constexpr double wide_work = 1000, wait_work = 200;

  double work_of_row(std::int32_t row) const {
    return static_cast<double>(m_rows.start[row + 1] - m_rows.start[row]) + 2;
  }
  double work(std::int64_t level) const {
    return work(m_level_first[level], m_level_first[level + 1]);
  }
  double work(std::int32_t begin, std::int32_t end) const {
    double sum = 0;
    for (std::int32_t p = begin; p < end; ++p) sum += work_of_row(m_schedule.row[p]);
    return sum;
  }

  void add_step(std::int32_t begin, std::int32_t end, bool is_wide) {
    const double all = work(begin, end);
    m_work += all;
    m_time += wait_work + (is_wide ? all / m_schedule.threads : all);
    auto* const row = m_schedule.row.data();
    if (!is_wide)
      std::sort(row + begin, row + end, [&](std::int32_t a, std::int32_t b) {
        return m_natural.is_forward ? a < b : a > b;
      });
    double done = 0;
    std::int32_t p = begin;
    for (int t = 0; t < m_schedule.threads; ++t) {
      const double share = is_wide ? all * (t + 1) / m_schedule.threads : all;
      const std::int32_t task_begin = p;
      while (p < end && done + 0.5 * work_of_row(row[p]) <= share) done += work_of_row(row[p++]);
      if (t + 1 == m_schedule.threads) p = end;
      add_task(t, task_begin, p);
    }
  }

  void add_task(int thread, std::int32_t begin, std::int32_t end) {
    const auto task = static_cast<std::int32_t>(m_schedule.first.size() - 1);
    const int threads = m_schedule.threads;
    std::vector<std::int32_t>& needed = m_needed;  // last step of each thread
    needed.assign(threads, -1);
    for (std::int32_t p = begin; p < end; ++p) {
      const std::int32_t row = m_schedule.row[p];
      m_task[row] = task;
      for (std::int64_t k = m_rows.start[row]; k < m_rows.start[row + 1]; ++k) {
        const std::int32_t of = m_task[m_rows.needed[k]];
        needed[of % threads] = std::max(needed[of % threads], of / threads);
      }
    }
    for (int t = 0; t < threads; ++t) {
      std::int32_t& waited = m_waited[thread * threads + t];
      if (t == thread || needed[t] <= waited) continue;
      waited = needed[t];
      m_schedule.waits.push_back({t, needed[t]});
    }
    m_schedule.first.push_back(end);
    m_schedule.first_wait.push_back(static_cast<std::int32_t>(m_schedule.waits.size()));
  }

  const TriangleRows m_rows;
  const RowOrder m_natural;
  const std::vector<std::int32_t>& m_level_first;
  std::vector<std::int32_t> m_task;  // of each row
  std::vector<std::int32_t> m_waited, m_needed;
  double m_work = 0, m_time = 0;
  PointToPointSchedule m_schedule;
};

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
