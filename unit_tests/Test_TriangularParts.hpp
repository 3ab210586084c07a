// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <TriangleRows.hpp>
#include <TriangularSolves.hpp>
#include <impl/Trikkos_PartOrder.hpp>

/// \file
/// Which rows are a part of `blocked`, and when a device makes strips of them.

namespace Test::TriangularParts {

namespace Impl = Trikkos::Impl;
using Trikkos::Transpose;
using Trikkos::TriangularAlgorithm;
using Trikkos::TriangularOptions;
using Trikkos::TriangularPlan;

/// Five points of an m x m grid, numbered from a corner on, front after front, as reverse
/// Cuthill-McKee does; or line by line.
inline HostTriangle<double> five_points(int m, bool by_fronts) {
  std::vector<int> number(m * m);
  for (int front = 0, next = 0; front < 2 * m - 1; ++front)
    for (int y = std::max(0, front - m + 1); y <= std::min(front, m - 1); ++y, ++next)
      number[y * m + front - y] = by_fronts ? next : y * m + front - y;
  std::vector<std::vector<int>> needed(m * m);
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < m; ++x) {
      std::vector<int>& row = needed[number[y * m + x]];
      if (x > 0) row.push_back(number[y * m + x - 1]);
      if (y > 0) row.push_back(number[(y - 1) * m + x]);
      row.push_back(number[y * m + x]);
    }
  HostTriangle<double> A;
  for (const auto& row : needed) {
    for (const int j : row) A.add(j, j == row.back() ? 4. : -1.);
    A.end_row();
  }
  return A;
}

/// A triangle before it is divided into parts, and how it is.
template <class Exec>
struct Divided {
  static constexpr std::int64_t slots = 5500;

  Exec exec{};
  HostTriangle<double> A;
  RowsOfTriangle<Exec> given;
  Impl::LevelOrder<Exec> by_level;

  Divided(const HostTriangle<double>& A_, Transpose op)
      : A(A_),
        given(exec, A, op),
        by_level(RowsOfTriangle<Exec>::by_level(exec, given.memory, given.pattern)) {}

  Impl::PartSizes<Exec> sizes() {
    return Impl::part_sizes(exec, given.memory, given.pattern, by_level.row, by_level.position,
                            slots, false, by_level.levels(), 2);
  }
};

template <class Exec>
void expect_levels_of_parts() {
  constexpr int m = 300, rows_of_part = 256;  // the least
  constexpr int parts = (m * m + rows_of_part - 1) / rows_of_part;
  for (const bool by_fronts : {false, true}) {
    Divided<Exec> divided(five_points(m, by_fronts), Transpose::none);
    const auto level = to_vector(divided.given.pattern.level);
    int levels = 0;
    for (int q = 0; q < parts; ++q) {
      const auto begin = level.begin() + q * rows_of_part,
                 end = level.begin() + std::min((q + 1) * rows_of_part, m * m);
      const auto [first, last] = std::minmax_element(begin, end);
      levels += *last - *first + 1;
    }
    const auto sizes = divided.sizes();
    ASSERT_EQ(sizes.rows_of_part, rows_of_part);
    EXPECT_EQ(sizes.parts_of_strip, 1);
    EXPECT_EQ(sizes.rows_of_level, double(m * m) / levels);
    EXPECT_EQ(sizes.rows_of_level > 50, by_fronts);  // one of each level, or much of a front
  }
}
TEST(TEST_CATEGORY, triangular_levels_of_parts) {
  if constexpr (Impl::spin_safe_v<TEST_EXECSPACE>) expect_levels_of_parts<TEST_EXECSPACE>();
}

/// Strips in natural order, rows of each by level, those of a level in natural order.
template <class Exec>
void expect_strips(Transpose op, std::int64_t rows_of_strip) {
  SCOPED_TRACE("transpose " + std::to_string(static_cast<int>(op)) + ", strips of " +
               std::to_string(rows_of_strip));
  Divided<Exec> divided(five_points(37, false), op);
  const auto natural = divided.given.pattern.shape.natural();
  const auto level = to_vector(divided.given.pattern.level);
  const Impl::StripOrder order = Impl::order_strips(divided.exec, divided.given.memory, natural,
                                                    divided.by_level.row, rows_of_strip);
  const std::int64_t n = natural.n;
  const auto of = [&](const std::int32_t* data) {
    const Kokkos::View<const std::int32_t*, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>> all(data,
                                                                                               n);
    Impl::Array<std::int32_t, Exec> copied("Test::strips", n);
    Kokkos::deep_copy(divided.exec, copied, all);
    divided.exec.fence("Test::strips");
    return to_vector(copied);
  };
  const auto row = of(order.row), place = of(order.place);
  std::vector<std::int32_t> expected(n);
  for (std::int64_t i = 0; i < n; ++i) expected[i] = natural[i];
  for (std::int64_t first = 0; first < n; first += rows_of_strip)
    std::stable_sort(expected.begin() + first,
                     expected.begin() + std::min(first + rows_of_strip, n),
                     [&](std::int32_t i, std::int32_t j) { return level[i] < level[j]; });
  EXPECT_EQ(row, expected);
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(place[row[i]], i);
}
TEST(TEST_CATEGORY, triangular_strips) {
  for (const auto op : {Transpose::none, Transpose::transpose})
    for (const std::int64_t rows_of_strip : {1, 37, 100, 512, 1368, 1369, 5000})
      expect_strips<TEST_EXECSPACE>(op, rows_of_strip);
}

/// Large grids, line by line, are solved in strips, with the bits of other algorithms.
template <class Exec>
void expect_solved_in_strips() {
  constexpr int m = 730;  // 1 << 19 rows and some
  const TimeLimit limit;
  const Exec exec;
  for (const bool by_fronts : {false, true}) {
    const auto A = five_points(m, by_fronts);
    const auto b = random_vector<double>(A.rows());
    const auto matrix = on_device<Exec>(A);
    for (const auto op : {Transpose::none, Transpose::transpose}) {
      SCOPED_TRACE("transpose " + std::to_string(static_cast<int>(op)));
      Divided<Exec> divided(A, op);
      const auto sizes = divided.sizes();
      EXPECT_EQ(sizes.parts_of_strip, by_fronts ? 1 : 8);  // 4096 rows are five or six lines
      EXPECT_EQ(sizes.rows_of_part, by_fronts ? 1024 : 4096);
      std::vector<double> first;
      for (const auto algorithm : {TriangularAlgorithm::sync_free, TriangularAlgorithm::blocked}) {
        const Trikkos::TriangularPlan plan(
            exec, matrix, Trikkos::TriangularOptions{}.algorithm(algorithm).transpose(op));
        const auto x = solve(exec, plan, b);
        if (first.empty()) {
          first = x;
          EXPECT_LE(worst_row_error(A, op, x, b), 1);
        }
        EXPECT_TRUE(same_bits(x, first));
        EXPECT_TRUE(same_bits(solve(exec, plan, b), first));  // the other copy of the values
      }
    }
  }
}
TEST(TEST_CATEGORY, triangular_large_grids) {
  if constexpr (Impl::spin_safe_v<TEST_EXECSPACE> && !Impl::is_host_v<TEST_EXECSPACE>)
    expect_solved_in_strips<TEST_EXECSPACE>();
  else
    GTEST_SKIP() << "strips are a device's";
}

/// Large ones of several right-hand sides, of which a device's thread has two or four, with the
/// bits of one.
template <class T, class Exec>
void expect_solved_by_fewer_threads() {
  using enum TriangularAlgorithm;
  const TimeLimit limit;
  const Exec exec;
  struct Case {
    const char* what;
    const HostTriangle<T>& A;
    TriangularAlgorithm algorithm;
    int rhs_count, of_thread;
  };
  const auto half = [](int i, const auto& add) {  // two levels
    if (i >= 1 << 16)
      for (int j = 0; j < 3; ++j) add((i * 7 + j * 1001) & ((1 << 16) - 1));
  };
  const auto wide = triangle<T>(1 << 17, half, true);
  const auto thin = triangle<T>(400 * 400, grid_neighbours(400, 2, false), true);
  const auto full = triangle<T>(40 * 40 * 40, grid_neighbours(40, 3, true), true);
  const Case cases[] = {{"wide", wide, sync_free, 2, 2},  {"wide", wide, sync_free, 3, 4},
                        {"wide", wide, sync_free, 17, 4}, {"full", full, sync_free, 80, 2},
                        {"thin", thin, blocked, 2, 2},    {"thin", thin, blocked, 7, 4},
                        {"full", full, blocked, 2, 2},    {"full", full, blocked, 13, 4}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what + std::string(", ") + std::to_string(c.rhs_count) + ", " +
                 name(c.algorithm));
    const auto matrix = on_device<Exec>(c.A);
    const auto b = random_vector<T>(c.A.rows());
    const auto expected =
        solve(exec, TriangularPlan(exec, matrix, TriangularOptions{}.algorithm(sync_free)), b);
    EXPECT_LE(worst_row_error(c.A, Transpose::none, expected, b), 1);
    const TriangularPlan plan(exec, matrix,
                              TriangularOptions{}.algorithm(c.algorithm).rhs_count(c.rhs_count));
    EXPECT_EQ(plan.algorithm(), c.algorithm);
    const auto told = ", " + std::to_string(c.of_thread) + " right-hand sides a thread";
    EXPECT_NE(plan.describe().find(told), std::string::npos) << plan.describe();
    for (const int count : {c.rhs_count, 1, c.rhs_count}) {
      expect_same_with_many<Kokkos::LayoutRight>(exec, plan, b, expected, count);
      expect_same_with_many<Kokkos::LayoutLeft>(exec, plan, b, expected, count);
      ASSERT_FALSE(testing::Test::HasFailure()) << count << " systems";
    }
  }
}
TEST(TEST_CATEGORY, triangular_fewer_threads) {
  if constexpr (Impl::spin_safe_v<TEST_EXECSPACE> && !Impl::is_host_v<TEST_EXECSPACE>) {
    expect_solved_by_fewer_threads<double, TEST_EXECSPACE>();
    expect_solved_by_fewer_threads<float, TEST_EXECSPACE>();
    expect_solved_by_fewer_threads<Kokkos::complex<double>, TEST_EXECSPACE>();
    expect_solved_by_fewer_threads<Kokkos::complex<float>, TEST_EXECSPACE>();
  } else {
    GTEST_SKIP() << "a host's threads have one system";
  }
}

TEST(TEST_CATEGORY, triangular_systems_of_thread) {
  using enum TriangularAlgorithm;
  Impl::TriangleFacts facts;
  facts.levels = 100;
  facts.parts_at_work = 844;
  facts.systems_in_scratch = 4;
  facts.threads = 132 * 2048;
  const auto by_level = [&](std::int64_t rows_of_level, std::int64_t rhs_count) {
    facts.rows = 100 * rows_of_level;
    facts.rhs_count = rhs_count;
    return Impl::systems_of_thread(facts, sync_free);
  };
  EXPECT_EQ(by_level(75000, 1), 1);
  EXPECT_EQ(by_level(75000, 2), 2);
  EXPECT_EQ(by_level(75000, 3), 4);
  EXPECT_EQ(by_level(1329, 4), 1);
  EXPECT_EQ(by_level(1329, 16), 2);
  EXPECT_EQ(by_level(4500, 16), 4);
  const auto by_parts = [&](std::int64_t parts, std::int64_t rhs_count) {
    facts.parts = parts;
    facts.rhs_count = rhs_count;
    return Impl::systems_of_thread(facts, blocked);
  };
  EXPECT_EQ(by_parts(525, 1), 1);
  EXPECT_EQ(by_parts(84, 4), 1);
  EXPECT_EQ(by_parts(300, 4), 2);
  EXPECT_EQ(by_parts(448, 4), 4);
  facts.systems_in_scratch = 2;
  EXPECT_EQ(by_parts(448, 4), 2);
  facts.systems_in_scratch = 4;
  facts.is_divided = true;
  EXPECT_EQ(by_parts(448, 4), 2);
  facts.on_host = true;
  EXPECT_EQ(by_parts(448, 16), 1);
}

TEST(TEST_CATEGORY, triangular_choice) {
  using enum Trikkos::TriangularAlgorithm;
  // Of an H200: rows, levels, imports, rows of a level in a part.
  const auto chosen = [](std::int64_t rows, std::int64_t levels, std::int64_t imports,
                         double rows_of_level, std::int64_t rhs_count = 1) {
    Impl::TriangleFacts facts;
    facts.rows = rows;
    facts.levels = levels;
    facts.spin_safe = facts.has_parts = true;
    facts.imports = imports;
    facts.rows_of_level = rows_of_level;
    facts.parts = rows / 4096;
    facts.parts_at_work = 844;
    facts.threads_of_part = 256;
    facts.rhs_count = rhs_count;
    facts.threads = 132 * 2048;
    return Impl::choose_triangular_algorithm(facts).algorithm;
  };
  EXPECT_EQ(chosen(1000000, 4, 0, 4), level_set);
  EXPECT_EQ(chosen(1000000, 20, 0, 4), sync_free);
  EXPECT_EQ(chosen(1 << 20, 2047, 1 << 18, 4), blocked);  // five points, line by line
  EXPECT_EQ(chosen(1 << 20, 2047, 1 << 18, 4, 4), blocked);
  EXPECT_EQ(chosen(1 << 20, 2047, 1 << 18, 4, 16), sync_free);  // more parts than teams
  EXPECT_EQ(chosen(1000000, 1999, 245000, 800), sync_free);     // the same, by fronts
  EXPECT_EQ(chosen(1 << 21, 382, 2 << 20, 26), sync_free);      // seven points
  EXPECT_EQ(chosen(1 << 18, 442, 1 << 18, 26), sync_free);      // 27 points, 64^3
  EXPECT_EQ(chosen(34296, 159, 210000, 50, 4), blocked);        // dftwater
  EXPECT_EQ(chosen(34296, 159, 210000, 50, 16), sync_free);
}

/// Rows of a schedule that need one which their thread neither solves before nor has waited for.
inline int unmet_needs(const Impl::PointToPointSchedule& s, const Impl::TriangleRows& rows) {
  std::vector<std::int64_t> task_of(s.row.size(), -1);
  int unmet = 0;
  std::vector<std::int64_t> awaited(s.threads * s.threads, -1);  // steps, of each by each
  for (std::int64_t task = 0; task < s.steps() * s.threads; ++task) {
    const std::int64_t me = task % s.threads;
    for (std::int32_t w = s.first_wait[task]; w < s.first_wait[task + 1]; ++w) {
      std::int64_t& step = awaited[me * s.threads + s.waits[w].thread];
      step = std::max<std::int64_t>(step, s.waits[w].step);
      // A step that all can wait for: nobody waits for one that comes later.
      unmet += s.waits[w].step >= task / s.threads;
    }
    for (std::int32_t p = s.first[task]; p < s.first[task + 1]; ++p) {
      const std::int32_t row = s.row[p];
      for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k) {
        if (rows.needed[k] == row) continue;
        const std::int64_t of = task_of[rows.needed[k]], other = of % s.threads;
        const bool is_there =
            of >= 0 && (other == me || of / s.threads <= awaited[me * s.threads + other]);
        unmet += !is_there;
      }
      task_of[row] = task;
    }
  }
  return unmet + static_cast<int>(std::count(task_of.begin(), task_of.end(), -1));
}

/// Whatever a plan may try: every row once, and not before what it needs.
TEST(TEST_CATEGORY, triangular_schedules) {
  const auto expect_schedules = [](const HostTriangle<double>& A) {
    const bool is_lower = A.uplo == Trikkos::Uplo::lower;
    std::vector<std::vector<std::int32_t>> of_row(A.rows());
    A.for_each([&](int i, int j, double) { of_row[i].push_back(j); });
    std::vector<std::int64_t> start = {0};
    std::vector<std::int32_t> needed;
    for (const auto& row : of_row) {
      needed.insert(needed.end(), row.begin(), row.end());
      start.push_back(static_cast<std::int64_t>(needed.size()));
    }
    const Impl::TriangleRows rows{start.data(), needed.data(), nullptr};
    const Impl::RowOrder natural{A.rows(), is_lower};
    int divided = 0;
    for (const int threads : {1, 2, 3, 5})
      for (const std::int64_t rows_of_part : {512, 128, 32, 8, 7, 1})
        for (const bool follows_needs : {false, true}) {
          const auto s =
              Impl::PointToPointScheduler(rows, natural, threads, {rows_of_part, follows_needs})
                  .take();
          EXPECT_EQ(static_cast<int>(s.row.size()), A.rows());
          EXPECT_EQ(unmet_needs(s, rows), 0)
              << threads << " threads, parts of " << rows_of_part << " rows"
              << (follows_needs ? ", where what they need is" : "");
          divided += !s.waits.empty();
        }
    EXPECT_GT(divided, 6);  // threads do wait for each other
  };
  expect_schedules(triangle<double>(6000, random_neighbours(3)));
  expect_schedules(triangle<double>(32 * 32 * 32, grid_neighbours(32, 3, true)));
  auto upper = triangle<double>(32 * 32 * 32, grid_neighbours(32, 3, false), true);
  upper.uplo = Trikkos::Uplo::upper;
  expect_schedules(upper);
}

/// Threads of a host are chosen where they were faster.
TEST(TEST_CATEGORY, triangular_choice_on_hosts) {
  using enum Trikkos::TriangularAlgorithm;
  Impl::TriangleFacts facts;
  facts.rows = 1000000;
  facts.levels = 100;
  facts.on_host = facts.spin_safe = true;
  facts.threads = 2;
  facts.speedup = 1.2;
  EXPECT_EQ(Impl::choose_triangular_algorithm(facts).algorithm, serial);  // only expected
  facts.is_tried = true;
  EXPECT_EQ(Impl::choose_triangular_algorithm(facts).algorithm, point_to_point);
  facts.speedup = 0.8;
  EXPECT_EQ(Impl::choose_triangular_algorithm(facts).algorithm, serial);
  facts.threads = 1;
  facts.speedup = 1.2;
  EXPECT_EQ(Impl::choose_triangular_algorithm(facts).algorithm, serial);
}

}  // namespace Test::TriangularParts
