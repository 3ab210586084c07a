// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_DEVICEKERNELS_HPP
#define TRIKKOS_TEST_DEVICEKERNELS_HPP

#include <gtest/gtest.h>

#include <Breaker.hpp>
#include <ManySystems.hpp>
#include <Triangles.hpp>
#include <algorithm>
#include <cmath>
#include <impl/Trikkos_Method.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <limits>
#include <string>
#include <vector>

/// \file
/// The kernels that devices solve a system with, or a few, where there are teams of 64 threads: on
/// a host with as many, too, so that its tests see what a device would. In float, whose tiles fit
/// into a host's scratch.

namespace Test::DeviceKernels {

namespace Impl = Trikkos::Impl;
using Exec = TEST_EXECSPACE;
using T = float;
/// Rows of `segmented` on a device: of a partition, of a segment that leaves a tile, of a tile; and
/// of the groups of `truncated`, from one window to the next, and of a system with one of them.
constexpr int partition = Impl::OrthogonalCarry::device_rows<T>, segment = 16 * partition,
              tile = 64 * partition, group = 4 * partition, window_step = tile - 2 * group,
              one_window = tile - group;
using Reason = Trikkos::Status::Reason;

/// A system of 2W + 1 diagonals, on the host. Entries outside the matrix are NaN: nobody reads
/// them.
template <int W>
struct HostSystem {
  int n;
  bool periodic;
  std::vector<T> band[2 * W + 1], b;

  template <class Entry>
  HostSystem(int n_, const Entry& entry, bool periodic_ = false)
      : n(n_), periodic(periodic_), b(n_) {
    for (int j = 0; j <= 2 * W; ++j)
      for (int i = 0; i < n; ++i)
        band[j].push_back(is_inside(i + j - W) ? entry(i, j - W) : std::nanf(""));
    for (int i = 0; i < n; ++i) b[i] = T(Impl::random_uniform(1, 9, i));
  }
  bool is_inside(int column) const { return periodic || (0 <= column && column < n); }
  int wrapped(int column) const { return (column + n) % n; }
  void set_column(int column, T value) {
    for (int j = 0; j <= 2 * W; ++j)
      if (const int i = column + W - j; is_inside(i)) band[j][wrapped(i)] = value;
  }
  void set_row(int i, T value) {
    for (int j = 0; j <= 2 * W; ++j)
      if (is_inside(i + j - W)) band[j][i] = value;
  }
  /// The largest |b - A x| of a row beside (|A| max |x| + |b|).
  double backward_error(const std::vector<T>& x) const {
    double most = 0, worst = 0;
    for (const T v : x) most = std::max(most, std::fabs(double(v)));
    for (int i = 0; i < n; ++i) {
      double r = b[i], size = std::fabs(double(b[i]));
      for (int j = 0; j <= 2 * W; ++j)
        if (is_inside(i + j - W)) {
          r -= double(band[j][i]) * x[wrapped(i + j - W)];
          size += std::fabs(double(band[j][i])) * most;
        }
      if (!(std::fabs(r) / size <= worst)) worst = std::fabs(r) / size;
    }
    return worst;
  }
};
/// Random entries, which need pivoting.
template <int W>
HostSystem<W> random_system(int n, bool periodic = false) {
  return {n, [](int i, int j) { return T(Impl::random_uniform(2, 3 + j, i)); }, periodic};
}

struct Answer {
  std::vector<T> x;
  Trikkos::Status status;
};
/// run(exec, problem) solves it, with arrays on the device, rows `stride` apart.
template <int W, class Solve>
Answer solve(const HostSystem<W>& A, int stride, std::int64_t words, const Solve& run) {
  const Exec exec;
  const auto spread = [&](const std::vector<T>& from) {
    std::vector<T> to(from.size() * stride, std::nanf(""));
    for (std::size_t i = 0; i < from.size(); ++i) to[i * stride] = from[i];
    return on_device<T, Exec>(to);
  };
  Kokkos::View<T*, Exec> band[2 * W + 1];
  Impl::Bands<T, W> bands;
  for (int j = 0; j <= 2 * W; ++j) {
    band[j] = spread(A.band[j]);
    bands.band[j] = {band[j].data(), stride};
  }
  bands.n = A.n;
  bands.periodic = A.periodic;
  bands.scale_rows = true;
  const auto b = spread(A.b), x = spread(A.b);
  const Kokkos::View<T*, Exec> storage("storage", words);
  const Kokkos::View<std::int64_t*, Exec> report("report", Impl::Diagnosis::words);
  Impl::Problem<T, W> problem{};
  problem.A = Impl::Systems<T, W>(bands, 1);
  problem.b.data = b.data();
  problem.x.data = x.data();
  problem.b.row_stride = problem.x.row_stride = stride;
  problem.storage = storage.data();
  problem.diagnosis = {report.data(), 1};
  problem.resets = true;
  run(exec, problem);
  exec.fence("Test::DeviceKernels");
  const auto found = to_vector(x);
  Answer r{std::vector<T>(A.n), Impl::decode(to_vector(report).data(), A.n)};
  for (int i = 0; i < A.n; ++i) r.x[i] = found[std::size_t(i) * stride];
  return r;
}

template <int W, class Solver>
Answer solve_with(const Solver& solver, const HostSystem<W>& A, int stride = 1) {
  std::int64_t words = 1;
  if constexpr (requires { solver.storage_words(); }) words += solver.storage_words();
  return solve(A, stride, words,
               [&](const Exec& exec, const auto& problem) { solver.solve(exec, problem); });
}

/// What became of many systems, those that are left to a second kernel included.
template <class U>
struct AnswersIn {
  std::vector<std::vector<U>> x;
  std::vector<U> marked;
  bool any_left;
  Trikkos::Status status;
};
using Answers = AnswersIn<T>;
/// Systems of one size on the device, as numbers U, x in the place of b, or not: row i of the k-th
/// at i step + k next, `offset` words after a multiple of 16 bytes.
template <int W, class U = T>
class ManyOnDevice {
 public:
  ManyOnDevice(const std::vector<HostSystem<W>>& systems, int step, int next, int offset = 0)
      : m_count(static_cast<int>(systems.size())),
        m_n(systems[0].n),
        m_step(step),
        m_next(next),
        m_offset(offset) {
    const auto pack = [&](const auto& vector_of) {
      std::vector<U> all(place(m_count, m_n), U(std::nanf("")));
      for (int k = 0; k < m_count; ++k)
        for (int i = 0; i < m_n; ++i) all[place(k, i)] = vector_of(systems[k])[i];
      return on_device<U, Exec>(all);
    };
    for (int j = 0; j <= 2 * W; ++j)
      m_band[j] = pack([&](const HostSystem<W>& s) -> auto& { return s.band[j]; });
    m_x = pack([](const HostSystem<W>& s) -> auto& { return s.b; });
    m_b = pack([](const HostSystem<W>& s) -> auto& { return s.b; });
  }
  Impl::Problem<U, W> problem(bool in_place = true) const {
    Impl::Problem<U, W> r{};
    r.A = Impl::Systems<U, W>({}, m_count);
    r.A.first.n = m_n;
    for (int j = 0; j <= 2 * W; ++j) {
      r.A.first.band[j] = {m_band[j].data() + m_offset, m_step};
      r.A.stride[j] = m_next;
    }
    r.b = {(in_place ? m_x : m_b).data() + m_offset, m_next, m_step};
    r.x = {m_x.data() + m_offset, m_next, m_step};
    r.diagnosis = {m_report.data(), m_count};
    r.resets = true;
    return r;
  }
  Impl::Marks<U> marks() const { return {m_marked.data(), m_any.data()}; }
  AnswersIn<U> answers() const {
    Exec().fence("Test::DeviceKernels: many systems");
    AnswersIn<U> r{{},
                   to_vector(m_marked),
                   to_vector(m_any)[0].is_raised(),
                   Impl::decode(to_vector(m_report).data(), m_n)};
    const auto found = to_vector(m_x);
    for (int k = 0; k < m_count; ++k) {
      r.x.emplace_back(m_n);
      for (int i = 0; i < m_n; ++i) r.x[k][i] = found[place(k, i)];
    }
    EXPECT_EQ(std::count(r.marked.begin(), r.marked.end(), U(1)) > 0, r.any_left);
    return r;
  }

 private:
  std::size_t place(int k, int i) const {
    return m_offset + std::size_t(i) * m_step + std::size_t(k) * m_next;
  }

  int m_count, m_n, m_step, m_next, m_offset;
  Kokkos::View<U*, Exec> m_band[2 * W + 1], m_b, m_x, m_marked{"marked", std::size_t(m_count)};
  Kokkos::View<Impl::Wanted*, Exec> m_any{"any", 1};
  Kokkos::View<std::int64_t*, Exec> m_report{"report", Impl::Diagnosis::words};
};

template <int W, class Solver>
void expect_solved_by(const Solver& solver, int n, bool periodic = false) {
  for (const int stride : {1, 2}) {
    SCOPED_TRACE(std::to_string(n) + " rows, stride " + std::to_string(stride) +
                 (periodic ? ", periodic" : ""));
    const auto A = random_system<W>(n, periodic);
    const Answer good = solve_with(solver, A, stride);
    EXPECT_TRUE(good.status.ok()) << good.status.why();
    EXPECT_LE(A.backward_error(good.x), 8 * W * std::numeric_limits<T>::epsilon());
    for (const int bad : {0, n / 2, n - 1}) {
      SCOPED_TRACE("bad row or column " + std::to_string(bad));
      auto singular = A;
      singular.set_column(bad, 0);
      const Answer of_column = solve_with(solver, singular, stride);
      EXPECT_EQ(of_column.status.reason, Reason::singular);
      EXPECT_EQ(of_column.status.row, bad);
      singular = A;
      singular.set_row(bad, 0);
      const Answer of_row = solve_with(solver, singular, stride);
      EXPECT_EQ(of_row.status.reason, Reason::singular);
      EXPECT_EQ(of_row.status.row, bad);
      auto not_finite = A;
      not_finite.b[bad] = std::nanf("");
      const Answer of_nan = solve_with(solver, not_finite, stride);
      EXPECT_EQ(of_nan.status.reason, Reason::not_finite);
      EXPECT_EQ(of_nan.status.row, bad);
    }
    if (testing::Test::HasFailure()) return;
  }
}
template <class Solver, int W>
void expect_solved(int n, auto... more) {
  expect_solved_by<W>(Solver(Impl::Shape{n, 1, 1}, Trikkos::Options{}, more...), n);
}

/// The breaker against kernels that calls take for thousands of systems only. `dominant`: what it
/// starts from, row by row.
template <int W = 1, class Solver>
void expect_unbroken_by(const Solver& solver, int n, bool dominant = false) {
  for (const Breaker::Mode mode : Breaker::modes) {
    if (dominant && mode == Breaker::Mode::columns) continue;  // none of whose rows are
    SCOPED_TRACE(std::to_string(n) + " rows, " + name(mode));
    double worst = -1;
    for (int k = 0; k < 3; ++k) {
      Breaker::Climber<T, W> climber(n, Trikkos::Boundary::open, mode, dominant, 1000 * n + k, 0);
      for (int step = 0; step < 40; ++step) {
        const auto problem = climber.next().problem();
        auto scaled = problem;
        Breaker::apply_row_exponents(scaled);
        HostSystem<W> A(n, [&](int i, int j) { return scaled.A.band(j)[i]; });
        A.b = scaled.b;
        const Answer found = solve_with(solver, A);
        const Breaker::Judged judged{fast_backward_error(problem.A, found.x, problem.b),
                                     found.status.ok()};
        climber.judge(judged.score(), 2000);
        worst = std::max(worst, judged.score());
      }
    }
    EXPECT_LE(worst, Breaker::promised<T>({}));
    EXPECT_GE(worst, 0) << "everything was flagged";
  }
}
template <class Solver, int W = 1>
void expect_unbroken(int n, auto... more) {
  expect_unbroken_by<W>(Solver(Impl::Shape{n, 1, 1}, Trikkos::Options{}, more...), n);
}

inline constexpr int threads = 64;

#define TRIKKOS_SKIP_WITHOUT_TEAMS() \
  if (Exec().concurrency() < threads) GTEST_SKIP() << "teams need " << threads << " threads"

}  // namespace Test::DeviceKernels

#endif
