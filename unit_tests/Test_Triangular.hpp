// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sparse triangular solves: every algorithm against residuals in more digits, and bit by bit
// against each other.

#include <gtest/gtest.h>

#include <MatrixFiles.hpp>
#include <Message.hpp>
#include <TriangularSolves.hpp>

namespace {

using Trikkos::CsrTriangle;
using Trikkos::Diag;
using Trikkos::Transpose;
using Trikkos::TriangularAlgorithm;
using Trikkos::TriangularOptions;
using Trikkos::TriangularPlan;
using Trikkos::Uplo;

using ::Test::algorithms_of;
using ::Test::all_ops;
using ::Test::expect_all_solved;
using ::Test::expect_solved;
using ::Test::same_bits;
using ::Test::solve;

template <class T>
::Test::HostTriangle<T> arrow(int n) {
  return ::Test::triangle<T>(
      n,
      [=](int i, const auto& add) {
        if (i == n - 1)
          for (int j = 0; j < i; ++j) add(j);
      },
      true);
}
template <class T>
::Test::HostTriangle<T> bidiagonal(int n) {
  return ::Test::triangle<T>(
      n,
      [](int i, const auto& add) {
        if (i > 0) add(i - 1);
      },
      true);
}

// A and its transpose with values as they come. If it is singular, nothing finite may come of the
// row that is.
template <class Exec>
void expect_solved_or_singular(const std::string& what, const ::Test::HostTriangle<double>& A) {
  const Exec exec;
  const auto matrix = ::Test::on_device<Exec>(A);
  const auto b = ::Test::random_vector<double>(A.rows());
  for (const auto op : {Transpose::none, Transpose::transpose}) {
    std::vector<double> first;
    for (const auto algorithm : algorithms_of<Exec>()) {
      SCOPED_TRACE(what + ", " + name(A.uplo) + ", transpose " +
                   std::to_string(static_cast<int>(op)) + ", " + name(algorithm));
      const TriangularPlan plan(exec, matrix,
                                TriangularOptions{}.algorithm(algorithm).transpose(op));
      const auto x = solve(exec, plan, b);
      if (const auto status = plan.status(exec); !status.ok()) {
        EXPECT_EQ(status.reason, Trikkos::Status::Reason::singular);
        EXPECT_FALSE(std::isfinite(x[status.row]));
        continue;
      }
      if (first.empty()) {
        first = x;
        EXPECT_LE(::Test::worst_row_error(A, op, x, b), 1);
      }
      EXPECT_TRUE(same_bits(x, first));
    }
  }
}

}  // namespace

TEST(TEST_CATEGORY, triangular_grids) {
  using Exec = TEST_EXECSPACE;
  expect_all_solved<Exec>("5-point", ::Test::grid<double>(40, 2, false));
  expect_all_solved<Exec>("7-point", ::Test::grid<double>(11, 3, false));
  expect_all_solved<Exec>("27-point", ::Test::grid<double>(9, 3, true));
}

TEST(TEST_CATEGORY, triangular_random_patterns) {
  using Exec = TEST_EXECSPACE;
  for (const int count : {1, 3, 9})
    expect_all_solved<Exec>("random " + std::to_string(count),
                            ::Test::triangle<double>(5000, ::Test::random_neighbours(count), true));
}

TEST(TEST_CATEGORY, triangular_sizes) {
  using Exec = TEST_EXECSPACE;
  for (const int n : {0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 256, 257, 999, 1000, 1001, 4097})
    expect_solved<Exec>("n " + std::to_string(n),
                        ::Test::triangle<double>(n, ::Test::random_neighbours(2), true));
}

TEST(TEST_CATEGORY, triangular_degenerate_patterns) {
  using Exec = TEST_EXECSPACE;
  expect_all_solved<Exec>("diagonal", ::Test::triangle<double>(
                                          3000, [](int, const auto&) {}, true));
  expect_all_solved<Exec>("bidiagonal", bidiagonal<double>(3000));
  expect_all_solved<Exec>("arrow", arrow<double>(3000));
  expect_all_solved<Exec>("dense", ::Test::dense_triangle<double>(150));
}

TEST(TEST_CATEGORY, triangular_long_chain) {
  using Exec = TEST_EXECSPACE;
  expect_solved<Exec>("bidiagonal", bidiagonal<double>(20000));
  const ::Test::TimeLimit limit;
  const Exec exec;
  const auto A = bidiagonal<double>(1000000);
  const auto b = ::Test::random_vector<double>(A.rows());
  const TriangularPlan plan(exec, ::Test::on_device<Exec>(A));
  EXPECT_EQ(plan.levels(), A.rows());
  EXPECT_LE(::Test::worst_row_error(A, Transpose::none, solve(exec, plan, b), b), 1);
}

TEST(TEST_CATEGORY, triangular_files) {
  using Exec = TEST_EXECSPACE;
  const ::Test::MatrixFiles files;
  if (files.paths.empty()) GTEST_SKIP() << files.why_none();
  const ::Test::TimeLimit limit(600);
  for (const auto& path : files.paths) {
    const auto A = Trikkos::read_csr<double>(path.string());
    for (const auto uplo : {Uplo::lower, Uplo::upper})
      expect_solved_or_singular<Exec>(path.filename().string(),
                                      ::Test::host_triangle(Trikkos::csr_triangle(A, uplo)));
  }
}

// The factors of an incomplete factorisation, in one array.
TEST(TEST_CATEGORY, triangular_combined_array) {
  using Exec = TEST_EXECSPACE;
  auto A = ::Test::grid<double>(20, 2, false);
  A.diag = Diag::unit;
  for (double& v : A.values) v *= 0.25;
  expect_solved<Exec>("unit lower", A, all_ops);
  const Exec exec;
  const TriangularPlan lower(exec, ::Test::on_device<Exec>(A));
  A.uplo = Uplo::upper;
  A.diag = Diag::non_unit;
  const TriangularPlan upper(exec, ::Test::on_device<Exec>(A));
  constexpr std::int64_t n = 400, neighbours = 2 * 20 * 19;
  EXPECT_EQ(lower.entries(), neighbours);
  EXPECT_EQ(lower.ignored(), n + neighbours);
  EXPECT_EQ(upper.entries(), n + neighbours);
  EXPECT_EQ(upper.ignored(), neighbours);
  EXPECT_EQ(lower.levels(), 39);
  EXPECT_EQ(lower.size(), n);
}

TEST(TEST_CATEGORY, triangular_unsorted_rows) {
  using Exec = TEST_EXECSPACE;
  expect_all_solved<Exec>("5-point, shuffled",
                          ::Test::shuffled(::Test::grid<double>(25, 2, false)));
  expect_all_solved<Exec>("arrow, shuffled", ::Test::shuffled(arrow<double>(100)));
}

// Any integers, strides and constness that are allowed.
TEST(TEST_CATEGORY, triangular_views) {
  using Exec = TEST_EXECSPACE;
  const ::Test::TimeLimit limit;
  const Exec exec;
  const auto A = ::Test::grid<double>(10, 2, false);
  const auto b = ::Test::random_vector<double>(A.rows());
  const auto expected = solve(exec, TriangularPlan(exec, ::Test::on_device<Exec>(A)), b);

  const std::vector<std::size_t> offsets(A.row_map.begin(), A.row_map.end());
  const std::vector<unsigned> columns(A.entries.begin(), A.entries.end());
  std::vector<double> twice(2 * A.values.size(), std::nan(""));
  for (std::size_t k = 0; k < A.values.size(); ++k) twice[2 * k] = A.values[k];
  const auto every_other = Kokkos::subview(
      Kokkos::View<double**, Kokkos::LayoutRight, Exec, Kokkos::MemoryUnmanaged>(nullptr, 0, 2),
      Kokkos::ALL, 0);
  using Strided = decltype(every_other);
  const auto storage = ::Test::on_device<double, Exec>(twice);
  const Kokkos::View<double**, Kokkos::LayoutRight, Exec, Kokkos::MemoryUnmanaged> pairs(
      storage.data(), A.values.size(), 2);
  const Strided values = Kokkos::subview(pairs, Kokkos::ALL, 0);
  const Kokkos::View<const std::size_t*, Exec> row_map =
      ::Test::on_device<std::size_t, Exec>(offsets);
  const Kokkos::View<const unsigned*, Exec> entries = ::Test::on_device<unsigned, Exec>(columns);
  const TriangularPlan plan(exec, CsrTriangle{row_map, entries, values});
  EXPECT_TRUE(same_bits(solve(exec, plan, b), expected));
  plan.update(exec, values);
  EXPECT_TRUE(same_bits(solve(exec, plan, b), expected));

  const struct {  // as KokkosSparse::CrsMatrix
    struct {
      Kokkos::View<const std::size_t*, Exec> row_map;
      Kokkos::View<const unsigned*, Exec> entries;
    } graph;
    Strided values;
  } matrix{{row_map, entries}, values};
  const TriangularPlan like(exec, Trikkos::csr_triangle(matrix, Uplo::lower));
  EXPECT_TRUE(same_bits(solve(exec, like, b), expected));
}

// Groups that are full or not, of a row more than a warp has threads, and calls with fewer systems
// than the call before, and more.
TEST(TEST_CATEGORY, triangular_many_right_hand_sides) {
  using Exec = TEST_EXECSPACE;
  const ::Test::TimeLimit limit;
  const Exec exec;
  for (const auto& A : {::Test::grid<double>(17, 2, true), arrow<double>(150)}) {
    const auto matrix = ::Test::on_device<Exec>(A);
    const auto b = ::Test::random_vector<double>(A.rows());
    const auto expected = solve(exec, TriangularPlan(exec, matrix), b);
    for (const auto algorithm : algorithms_of<Exec>())
      for (const int rhs_count : {2, 3, 5, 16, 40}) {
        SCOPED_TRACE(std::to_string(rhs_count) + ", " + name(algorithm));
        const TriangularPlan plan(exec, matrix,
                                  TriangularOptions{}.algorithm(algorithm).rhs_count(rhs_count));
        for (const int count : {rhs_count, 1, rhs_count - 1, rhs_count + 3, 1, 2, rhs_count}) {
          ::Test::expect_same_with_many<Kokkos::LayoutLeft>(exec, plan, b, expected, count);
          ::Test::expect_same_with_many<Kokkos::LayoutRight>(exec, plan, b, expected, count);
          ASSERT_FALSE(testing::Test::HasFailure()) << count << " systems";
        }
      }
  }
}

TEST(TEST_CATEGORY, triangular_update) {
  using Exec = TEST_EXECSPACE;
  const ::Test::TimeLimit limit;
  const Exec exec;
  auto A = ::Test::grid<double>(12, 3, false);
  const auto b = ::Test::random_vector<double>(A.rows());
  for (const auto op : all_ops)
    for (const auto algorithm : algorithms_of<Exec>()) {
      SCOPED_TRACE(name(algorithm));
      const TriangularPlan plan(exec, ::Test::on_device<Exec>(A),
                                TriangularOptions{}.algorithm(algorithm).transpose(op));
      const TriangularPlan copy = plan;
      for (std::size_t k = 0; k < A.values.size(); ++k) A.values[k] *= 1 + 0.1 * (k % 5);
      plan.update(exec, ::Test::on_device<double, Exec>(A.values));
      EXPECT_LE(::Test::worst_row_error(A, op, solve(exec, copy, b), b), 1);
    }
}

TEST(TEST_CATEGORY, triangular_status) {
  using Exec = TEST_EXECSPACE;
  using Reason = Trikkos::Status::Reason;
  const ::Test::TimeLimit limit;
  const Exec exec;
  auto A = ::Test::grid<double>(20, 2, false);
  const auto b = ::Test::random_vector<double>(A.rows());
  const auto diagonal = [&](int i) -> double& {
    for (int k = A.row_map[i];; ++k)
      if (A.entries[k] == i) return A.values[k];
  };
  for (const auto algorithm : algorithms_of<Exec>()) {
    const TriangularPlan plan(exec, ::Test::on_device<Exec>(A),
                              TriangularOptions{}.algorithm(algorithm));
    const auto update = [&] {
      plan.update(exec, ::Test::on_device<double, Exec>(A.values));
      return plan.status(exec);
    };
    const auto expect = [&](double value, Reason reason) {
      SCOPED_TRACE(std::string(name(algorithm)) + ", " + std::to_string(value));
      const double kept[] = {diagonal(123), diagonal(350)};
      diagonal(123) = diagonal(350) = value;
      const auto status = update();
      EXPECT_EQ(status.reason, reason);
      EXPECT_EQ(status.row, 123);
      EXPECT_EQ(status.system, -1);
      const auto x = solve(exec, plan, b);
      if (reason == Reason::singular) {
        EXPECT_FALSE(std::isfinite(x[123]));
      }
      diagonal(123) = kept[0];
      diagonal(350) = kept[1];
    };
    expect(0, Reason::singular);
    expect(1e-310, Reason::singular);
    expect(std::nan(""), Reason::not_finite);
    expect(HUGE_VAL, Reason::not_finite);
    EXPECT_TRUE(update().ok());  // and all is well again
    EXPECT_LE(::Test::worst_row_error(A, Transpose::none, solve(exec, plan, b), b), 1);
  }
}

TEST(TEST_CATEGORY, triangular_missing_diagonal) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  ::Test::HostTriangle<double> A;
  for (int i = 0; i < 10; ++i) {
    if (i > 0) A.add(i - 1, 1);
    if (i != 4 && i != 7) A.add(i, 2);
    A.end_row();
  }
  const auto matrix = ::Test::on_device<Exec>(A);
  for (const auto op : {Transpose::none, Transpose::transpose}) {
    const auto status =
        TriangularPlan(exec, matrix, TriangularOptions{}.transpose(op)).status(exec);
    EXPECT_EQ(status.reason, Trikkos::Status::Reason::singular);
    EXPECT_EQ(status.row, 4);
  }
  A.diag = Diag::unit;
  EXPECT_TRUE(TriangularPlan(exec, ::Test::on_device<Exec>(A)).status(exec).ok());
}

// A NaN in b goes to all that needs it and nowhere else, also the one that means "not there yet";
// nothing waits for ever, and the next solve knows nothing of it.
TEST(TEST_CATEGORY, triangular_nan_in_b) {
  using Exec = TEST_EXECSPACE;
  const ::Test::TimeLimit limit;
  const Exec exec;
  const auto A = ::Test::triangle<double>(3000, ::Test::random_neighbours(2));
  const auto b = ::Test::random_vector<double>(A.rows());
  const double empty = Kokkos::bit_cast<double>(Trikkos::Impl::FlaggedWord<double>::empty);
  for (const auto algorithm : algorithms_of<Exec>()) {
    SCOPED_TRACE(name(algorithm));
    const TriangularPlan plan(exec, ::Test::on_device<Exec>(A),
                              TriangularOptions{}.algorithm(algorithm));
    const auto expected = solve(exec, plan, b);
    for (const double bad : {std::nan(""), empty}) {
      auto with_nan = b;
      with_nan[500] = bad;
      const auto x = solve(exec, plan, with_nan);
      std::vector<bool> reached(A.rows());
      reached[500] = true;
      A.for_each([&](int i, int j, double) { reached[i] = reached[i] || reached[j]; });
      for (int i = 0; i < A.rows(); ++i) {
        if (reached[i])
          ASSERT_TRUE(std::isnan(x[i])) << i;
        else
          ASSERT_EQ(x[i], expected[i]) << i;
      }
      EXPECT_TRUE(same_bits(solve(exec, plan, b), expected));
    }
    const auto all_empty = solve(exec, plan, std::vector<double>(A.rows(), empty));
    for (const double v : all_empty) ASSERT_TRUE(std::isnan(v));
    EXPECT_TRUE(same_bits(solve(exec, plan, b), expected));
  }
}

TEST(TEST_CATEGORY, triangular_runs_are_the_same) {
  using Exec = TEST_EXECSPACE;
  const ::Test::TimeLimit limit;
  const Exec exec;
  const auto A = ::Test::grid<double>(30, 2, true);
  const auto b = ::Test::random_vector<double>(A.rows());
  std::vector<double> first;
  for (const auto algorithm : algorithms_of<Exec>())
    for (int made = 0; made < 2; ++made) {
      const TriangularPlan plan(
          exec, ::Test::on_device<Exec>(A),
          TriangularOptions{}.algorithm(algorithm).transpose(Transpose::transpose));
      for (int run = 0; run < 50; ++run) {
        const auto x = solve(exec, plan, b);
        if (first.empty()) first = x;
        ASSERT_TRUE(same_bits(x, first)) << name(algorithm);
      }
    }
}

// The three ways to levels agree.
TEST(TEST_CATEGORY, triangular_levels) {
  using Exec = TEST_EXECSPACE;
  namespace Impl = Trikkos::Impl;
  const ::Test::TimeLimit limit;
  const Exec exec;
  auto A = ::Test::triangle<double>(4000, ::Test::random_neighbours(3), true);
  for (const auto uplo : {Uplo::lower, Uplo::upper})
    for (const bool transposed : {false, true}) {
      A.uplo = uplo;
      std::vector<int> expected(A.rows());
      const bool is_forward = (uplo == Uplo::lower) != transposed;
      std::vector<std::vector<int>> needed(A.rows());
      A.for_each([&](int i, int j, double) {
        if (i != j) needed[transposed ? j : i].push_back(transposed ? i : j);
      });
      for (int e = 0; e < A.rows(); ++e) {
        const int i = is_forward ? e : A.rows() - 1 - e;
        for (const int j : needed[i]) expected[i] = std::max(expected[i], expected[j] + 1);
      }
      const auto matrix = ::Test::on_device<Exec>(A);
      Impl::Slabs<Exec> memory("test");
      const auto row_map = Impl::checked_row_map(exec, memory, matrix);
      const Impl::CsrPattern given{row_map.data(), Impl::columns_of(matrix)};
      const auto pattern = Impl::triangle_pattern(
          exec, memory, given, {A.rows(), uplo == Uplo::lower, false, transposed});
      const auto filled = [&] {
        return Impl::new_array<std::int32_t>(exec, "level", A.rows(), -1);
      };
      const auto findings = [&] {
        return Trikkos::Impl::fetch(exec, pattern.findings.data(), "Test::findings");
      };
      const auto last = *std::max_element(expected.begin(), expected.end());
      Impl::find_levels(exec, memory, pattern, given);
      EXPECT_EQ(::Test::to_vector(pattern.level), expected);
      EXPECT_EQ(findings().last_level, last);
      if constexpr (Impl::spin_safe_v<Exec>) {
        std::size_t longest = 0;
        for (const auto& row : needed) longest = std::max(longest, row.size());
        EXPECT_EQ(findings().longest, static_cast<std::int32_t>(longest));
      }
      EXPECT_EQ(Impl::largest_of(exec, pattern.level), last);
      const auto by_rounds = filled();
      Impl::levels_by_rounds(exec, memory, pattern, given, by_rounds.data());
      EXPECT_EQ(::Test::to_vector(by_rounds), expected);
      EXPECT_EQ(findings().last_level, last);
      if constexpr (Impl::spin_safe_v<Exec>) {
        const auto by_pulling = filled();
        Impl::levels_by_pulling(exec, pattern, by_pulling.data());
        EXPECT_EQ(::Test::to_vector(by_pulling), expected);
      }
      const auto order =
          Impl::order_by_level(exec, memory, pattern.shape.natural(), by_rounds, last);
      std::vector<int> sorted(A.rows());
      for (int e = 0; e < A.rows(); ++e) sorted[e] = is_forward ? e : A.rows() - 1 - e;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](int i, int j) { return expected[i] < expected[j]; });
      EXPECT_EQ(::Test::to_vector(order.row), sorted);
      EXPECT_EQ(order.levels(), last + 1);
      std::vector<int> first(last + 2);
      for (const int level : expected) ++first[level + 1];
      for (int l = 0; l <= last; ++l) first[l + 1] += first[l];
      EXPECT_EQ(Impl::level_starts(exec, order), first);
    }
}

TEST(TEST_CATEGORY, triangular_describe) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  const auto matrix = ::Test::on_device<Exec>(::Test::grid<double>(10, 2, false));
  const TriangularPlan plan(exec, matrix,
                            TriangularOptions{}.algorithm(TriangularAlgorithm::level_set));
  EXPECT_EQ(plan.describe(),
            "100 rows, 280 entries (180 ignored), 19 levels of 1 to 10 rows, median 5; level_set "
            "in 1 launch, as it was asked for; " +
                std::to_string(plan.bytes()) + " bytes");
  if constexpr (Trikkos::Impl::spin_safe_v<Exec>) {
    const auto of_parts = ::Test::on_device<Exec>(::Test::grid<double>(30, 2, true));
    const TriangularPlan blocked(exec, of_parts,
                                 TriangularOptions{}.algorithm(TriangularAlgorithm::blocked));
    EXPECT_EQ(blocked.algorithm(), TriangularAlgorithm::blocked);
  }
  const TriangularPlan automatic(exec, matrix);
  EXPECT_NE(automatic.algorithm(), TriangularAlgorithm::automatic);
  for (const auto a : Trikkos::triangular_algorithms)
    EXPECT_EQ(Trikkos::triangular_algorithm_from_name(name(a)), a);
}

TEST(TEST_CATEGORY, triangular_errors) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  const auto plan_error = [&](std::vector<int> row_map, std::vector<int> entries, int values,
                              const TriangularOptions& options = {}) {
    const CsrTriangle A{::Test::on_device<int, Exec>(row_map),
                        ::Test::on_device<int, Exec>(entries),
                        Kokkos::View<double*, Exec>("values", values)};
    return ::Test::message([&] { TriangularPlan(exec, A, options); });
  };
  const std::string plan = "Trikkos::TriangularPlan: ";
  EXPECT_EQ(plan_error({0, 2, 1, 3}, {0, 1, 2}, 3),
            plan + "row_map(2) is 1, expected at least 2 as the one before");
  EXPECT_EQ(plan_error({1, 2, 3}, {0, 1, 2}, 3), plan + "row_map(0) is 1, expected 0");
  EXPECT_EQ(plan_error({0, 2, 4}, {0, 1, 1}, 3),
            plan + "row_map(2) is 4, expected at most 3 (entries.extent(0))");
  EXPECT_EQ(plan_error({0, 1, 2}, {0, 2}, 2), plan + "entries(1) is 2, expected 0 to 1 (2 rows)");
  EXPECT_EQ(plan_error({0, 1, 2}, {-1, 5}, 2), plan + "entries(0) is -1, expected 0 to 1 (2 rows)");
  EXPECT_EQ(plan_error({0, 1, 2}, {-1, 5}, 2,
                       TriangularOptions{}.transpose(Trikkos::Transpose::transpose)),
            plan + "entries(0) is -1, expected 0 to 1 (2 rows)");
  EXPECT_EQ(plan_error({0, 1, 2}, {0, 1}, 3),
            plan + "values has 3 entries, expected 2 (entries.extent(0))");
  EXPECT_EQ(plan_error({0}, {}, 0, TriangularOptions{}.rhs_count(0)),
            plan + "rhs_count is 0, expected 1 or more");
  EXPECT_EQ(plan_error({0, 1, 2}, {0, 1, 7}, 3), "(no exception)");  // not in a row
  EXPECT_EQ(plan_error({}, {}, 0), "(no exception)");
  EXPECT_EQ(::Test::message([] { Trikkos::triangular_algorithm_from_name("fast"); }),
            "Trikkos::triangular_algorithm_from_name: name is 'fast', expected one of automatic, "
            "serial, level_set, sync_free, blocked, point_to_point");
  if constexpr (!Trikkos::Impl::is_host_v<Exec>) {
    EXPECT_EQ(plan_error({0, 1, 2}, {0, 1}, 2,
                         TriangularOptions{}.algorithm(TriangularAlgorithm::point_to_point)),
              plan + "algorithm is point_to_point, expected another on a device");
  }

  const auto A = ::Test::on_device<Exec>(bidiagonal<double>(3));
  EXPECT_EQ(
      ::Test::message([&] {
        Trikkos::csr_triangle(Trikkos::CsrMatrix{A.row_map, A.entries, A.values, 4}, Uplo::lower);
      }),
      "Trikkos::csr_triangle: A has 4 columns, expected 3 (its rows)");
  const struct {
    int numRows() const { return 3; }
    int numCols() const { return 2; }
    struct {
      Kokkos::View<int*, Exec> row_map, entries;
    } graph{};
    Kokkos::View<double*, Exec> values;
  } other;
  EXPECT_EQ(::Test::message([&] { Trikkos::csr_triangle(other, Uplo::upper); }),
            "Trikkos::csr_triangle: A has 2 columns, expected 3 (its rows)");

  const TriangularPlan good(exec, A);
  const Kokkos::View<double*, Exec> three("three", 3), four("four", 4);
  EXPECT_EQ(::Test::message([&] { Trikkos::solve(exec, good, four, three); }),
            "Trikkos::solve: b has 4 rows, expected 3 (the plan)");
  EXPECT_EQ(::Test::message([&] { Trikkos::solve(exec, good, three, four); }),
            "Trikkos::solve: x has 4 rows, expected 3 (b.extent(0))");
  EXPECT_EQ(::Test::message([&] { good.update(exec, three); }),
            "Trikkos::TriangularPlan::update: values has 3 entries, expected 7 (the plan's A)");
}
