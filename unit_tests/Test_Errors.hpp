// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sentence of every exception, and that nothing was launched before it.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Reference.hpp>
#include <Trikkos.hpp>
#include <Watch.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace {

using Trikkos::Boundary;
using Trikkos::Options;

template <class T = double>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T = double>
using Vectors = Kokkos::View<T**, TEST_EXECSPACE>;

/// The text of the std::invalid_argument that the body throws before any kernel, or what it did
/// instead.
template <class Body>
std::string message(const Body& body) {
  Test::Watching::Trace trace;
  std::string text = "(no exception)";
  try {
    const Test::Watching::Watch watching(trace);
    body();
  } catch (const std::invalid_argument& e) {
    text = e.what();
  } catch (const std::exception& e) {
    text = std::string("(another exception) ") + e.what();
  }
  if (!trace.kernels.empty()) text += " (after a kernel was launched)";
  return text;
}

// A dominant matrix whose bands may have different lengths.
auto matrix(std::int64_t lower, std::int64_t diag, std::int64_t upper,
            Boundary boundary = Boundary::open) {
  const Trikkos::Tridiagonal A{Vector<>("lower", lower), Vector<>("diag", diag),
                               Vector<>("upper", upper), boundary};
  ::Test::fill(A.diag, 1.);
  return A;
}
auto matrix(std::int64_t n) { return matrix(n, n, n); }

void errors_of_shapes() {
  const TEST_EXECSPACE exec;
  const auto A = matrix(8);
  const Vector<> b("b", 8), x("x", 8), b7("b", 7), x9("x", 9);
  const Vectors<> B("B", 3, 8), X("X", 3, 8), X2("X", 2, 8), B7("B", 3, 7), X7("X", 3, 7);
  const auto short_lower = matrix(7, 8, 8), short_upper = matrix(8, 8, 0);

  // once
  const auto solve = [&](const auto& M, const auto& r, const auto& s) {
    return message([&] { static_cast<void>(Trikkos::solve(exec, M, r, s)); });
  };
  EXPECT_EQ(solve(short_lower, b, x),
            "Trikkos::solve: lower has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(solve(short_upper, b, x),
            "Trikkos::solve: upper has 0 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(solve(A, b7, x), "Trikkos::solve: b has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(solve(A, b, x9), "Trikkos::solve: x has 9 rows, expected 8 (b.extent(0))");
  EXPECT_EQ(solve(A, B7, X), "Trikkos::solve: b has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(solve(A, B, X7), "Trikkos::solve: x has 7 rows, expected 8 (b.extent(1))");
  EXPECT_EQ(solve(A, B, X2), "Trikkos::solve: x has 2 systems, expected 3 (b.extent(0))");
  EXPECT_EQ(solve(A, X2, X), "Trikkos::solve: x has 3 systems, expected 2 (b.extent(0))");

  // workspace
  const auto make = [&](const auto& M, const auto& r) {
    return message([&] { Trikkos::Workspace(exec, M, r); });
  };
  EXPECT_EQ(make(short_lower, b),
            "Trikkos::Workspace: lower has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(make(short_upper, b),
            "Trikkos::Workspace: upper has 0 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(make(A, b7), "Trikkos::Workspace: b has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(make(A, B7), "Trikkos::Workspace: b has 7 rows, expected 8 (diag.extent(0))");

  Trikkos::Workspace work(exec, A, b);
  const auto with_workspace = [&](const auto& M, const auto& r, const auto& s) {
    return message([&] { Trikkos::solve(exec, work, M, r, s); });
  };
  EXPECT_EQ(with_workspace(short_lower, b, x),
            "Trikkos::solve: lower has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(with_workspace(short_upper, b, x),
            "Trikkos::solve: upper has 0 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(with_workspace(matrix(9), b, x),
            "Trikkos::solve: A has 9 rows, expected 8 (the workspace)");
  EXPECT_EQ(with_workspace(A, b7, x), "Trikkos::solve: b has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(with_workspace(A, b, x9), "Trikkos::solve: x has 9 rows, expected 8 (b.extent(0))");
  EXPECT_EQ(with_workspace(A, B, X2), "Trikkos::solve: x has 2 systems, expected 3 (b.extent(0))");

  // plan
  EXPECT_EQ(message([&] { Trikkos::Plan(exec, short_lower); }),
            "Trikkos::Plan: lower has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(message([&] { Trikkos::Plan(exec, short_upper); }),
            "Trikkos::Plan: upper has 0 rows, expected 8 (diag.extent(0))");
  Trikkos::Plan plan(exec, A);
  const auto with_plan = [&](const auto& r, const auto& s) {
    return message([&] { Trikkos::solve(exec, plan, r, s); });
  };
  EXPECT_EQ(with_plan(b7, x), "Trikkos::solve: b has 7 rows, expected 8 (the plan)");
  EXPECT_EQ(with_plan(b, x9), "Trikkos::solve: x has 9 rows, expected 8 (b.extent(0))");
  EXPECT_EQ(with_plan(B, X2), "Trikkos::solve: x has 2 systems, expected 3 (b.extent(0))");
  const auto update = [&](const auto& M) { return message([&] { plan.update(exec, M); }); };
  EXPECT_EQ(update(short_lower),
            "Trikkos::Plan::update: lower has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(update(short_upper),
            "Trikkos::Plan::update: upper has 0 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(update(matrix(9)), "Trikkos::Plan::update: A has 9 rows, expected 8 (the plan's A)");
  EXPECT_EQ(update(matrix(0)), "Trikkos::Plan::update: A has 0 rows, expected 8 (the plan's A)");
  EXPECT_EQ(update(matrix(8, 8, 8, Boundary::periodic)),
            "Trikkos::Plan::update: A is periodic, expected open (the plan's A)");
  Trikkos::Plan ring(exec, matrix(8, 8, 8, Boundary::periodic));
  EXPECT_EQ(message([&] { ring.update(exec, A); }),
            "Trikkos::Plan::update: A is open, expected periodic (the plan's A)");

  // backward error
  const auto error = [&](const auto& M, const auto& s, const auto& r) {
    return message([&] { Trikkos::backward_error(exec, M, s, r); });
  };
  EXPECT_EQ(error(short_lower, x, b),
            "Trikkos::backward_error: lower has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(error(short_upper, x, b),
            "Trikkos::backward_error: upper has 0 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(error(A, x, b7), "Trikkos::backward_error: b has 7 rows, expected 8 (diag.extent(0))");
  EXPECT_EQ(error(A, x9, b), "Trikkos::backward_error: x has 9 rows, expected 8 (b.extent(0))");
  EXPECT_EQ(error(A, X2, B), "Trikkos::backward_error: x has 2 systems, expected 3 (b.extent(0))");

  // and what is right is accepted
  EXPECT_TRUE(solve(A, b, x).starts_with("(no exception)"));
  EXPECT_TRUE(with_workspace(A, B, X).starts_with("(no exception)"));
  EXPECT_TRUE(with_plan(B, X).starts_with("(no exception)"));
  EXPECT_TRUE(update(A).starts_with("(no exception)"));
}

// Counts of a Workspace made from numbers.
void errors_of_counts() {
  const TEST_EXECSPACE exec;
  using Work = Trikkos::Workspace<double, TEST_EXECSPACE>;
  EXPECT_EQ(message([&] { Work(exec, -1, 1); }), "Trikkos::Workspace: n is -1, expected 0 or more");
  EXPECT_EQ(message([&] { Work(exec, 8, -2); }),
            "Trikkos::Workspace: count is -2, expected 0 or more");
  const auto A = matrix(8);
  EXPECT_EQ(message([&] { Trikkos::Plan(exec, A, Options{}, -2); }),
            "Trikkos::Plan: rhs_count is -2, expected 0 or more");
}

void errors_of_options() {
  const TEST_EXECSPACE exec;
  const auto A = matrix(8);
  const Vector<> b("b", 8), x("x", 8);
  const auto expect = [&](const Options& options, const std::string& words) {
    EXPECT_EQ(message([&] { Trikkos::Workspace(exec, A, b, options); }),
              "Trikkos::Workspace: " + words);
    EXPECT_EQ(message([&] { Trikkos::Plan(exec, A, options); }), "Trikkos::Plan: " + words);
    EXPECT_EQ(message([&] { static_cast<void>(Trikkos::solve(exec, A, b, x, options)); }),
              "Trikkos::solve: " + words);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  expect(Options{}.partition_size(1), "partition_size is 1, expected 0 (automatic) or at least 2");
  expect(Options{}.partition_size(-1),
         "partition_size is -1, expected 0 (automatic) or at least 2");
  expect(Options{}.partition_size(-64).algorithm(Trikkos::Algorithm::thomas),
         "partition_size is -64, expected 0 (automatic) or at least 2");
  expect(Options{}.verify(-1), "verify is -1.000000, expected a tolerance of at least 0");
  expect(Options{}.verify(nan), "verify is nan, expected a tolerance of at least 0");

  const auto spike = Options{}.algorithm(Trikkos::Algorithm::spike);
  const auto on_chip = Options{}.spike({.marshaling = Trikkos::Marshaling::on_chip});
  for (const auto algorithm : {Trikkos::Algorithm::segmented, Trikkos::Algorithm::spike})
    expect(Options{}.algorithm(algorithm).refine(-1), "refine is -1, expected at least 0");
  expect(Options{}.spike({.dynamic_tiling = -8}), "dynamic_tiling is -8, expected at least 0");
  expect(Options(on_chip).partition_size(67),
         "partition_size is 67, expected at most 66 (Marshaling::on_chip)");
  expect(Options{}.spike({.marshaling = Trikkos::Marshaling::on_chip, .dynamic_tiling = 8}),
         "dynamic_tiling is 8, expected at most 0 (Marshaling::on_chip)");
  ::Test::fill(b, 3.);
  for (const Options& fine :
       {Options(on_chip).partition_size(66), Options(spike).partition_size(67),
        Options{}.spike({.dynamic_tiling = 8}), Options(spike).refine(1)})
    EXPECT_NO_THROW(EXPECT_TRUE(Trikkos::solve(exec, A, b, x, fine).ok()));
  expect(Options{}.pcr({.reduction_steps = -1}), "reduction_steps is -1, expected at least 0");
  expect(Options{}.truncated({.overlap = -1}), "overlap is -1, expected 0 to 128");
  expect(Options{}.truncated({.overlap = 129}), "overlap is 129, expected 0 to 128");
}

// An option that the algorithm does not know is not ignored.
void errors_of_foreign_options() {
  using Trikkos::Algorithm;
  const TEST_EXECSPACE exec;
  const auto A = matrix(8);
  const Vector<> b("b", 8);
  const auto expect = [&](const Options& options, const std::string& words) {
    EXPECT_EQ(message([&] { Trikkos::Workspace(exec, A, b, options); }),
              "Trikkos::Workspace: " + words);
  };
  const auto spike = Options{}.spike({.pivoting = Trikkos::Pivoting::none});
  const auto overlapping = Options{}.truncated({.overlap = 8});
  const auto pcr = Options{}.pcr({.reduction_steps = 3});
  const auto corrected = Options{}.thomas({Trikkos::Corners::sherman_morrison});
  for (const Algorithm algorithm : Trikkos::algorithms) {
    const std::string behind = std::string(" (algorithm ") + Trikkos::name(algorithm) + ")";
    if (algorithm != Algorithm::spike)
      expect(Options(spike).algorithm(algorithm),
             "options of spike are given, expected none" + behind);
    if (algorithm != Algorithm::truncated)
      expect(Options(overlapping).algorithm(algorithm),
             "options of truncated are given, expected none" + behind);
    if (algorithm != Algorithm::pcr)
      expect(Options(pcr).algorithm(algorithm), "options of pcr are given, expected none" + behind);
    if (algorithm != Algorithm::thomas)
      expect(Options(corrected).algorithm(algorithm),
             "options of thomas are given, expected none" + behind);
    if (algorithm == Algorithm::pcr || algorithm == Algorithm::thomas ||
        algorithm == Algorithm::factored || algorithm == Algorithm::truncated)
      expect(Options{}.algorithm(algorithm).partition_size(16),
             "partition_size is 16, expected 0: it has no partitions" + behind);
    EXPECT_EQ(Trikkos::algorithm_from_name(Trikkos::name(algorithm)), algorithm);
  }
  EXPECT_EQ(message([] { static_cast<void>(Trikkos::algorithm_from_name("gauss")); }),
            "Trikkos::algorithm_from_name: name is 'gauss', expected one of automatic, segmented, "
            "truncated, spike, pcr, thomas, factored");
}

// Partitions far longer than the matrix: no error, and no memory for rows that are not there.
void partitions_beyond_the_matrix() {
  const TEST_EXECSPACE exec;
  const auto A = matrix(8);
  const Vector<> b("b", 8), x("x", 8);
  ::Test::fill(b, 3.);
  for (const std::int64_t rows : {std::int64_t(9000), std::int64_t(1) << 24, std::int64_t(1) << 40,
                                  std::numeric_limits<std::int64_t>::max()}) {
    SCOPED_TRACE(rows);
    const auto options = Options{}.partition_size(rows);
    ::Test::fill(x, 0.);
    EXPECT_NO_THROW({
      EXPECT_TRUE(Trikkos::solve(exec, A, b, x, options).ok());
      EXPECT_LE(Reference::relative_difference(Reference::to_host(x), std::vector<double>(8, 3.)),
                1e-15);
      EXPECT_LT(Trikkos::Workspace(exec, A, b, options).bytes(), 100000u);
    });
  }
}

}  // namespace

TEST(TEST_CATEGORY, errors_of_shapes) { errors_of_shapes(); }
TEST(TEST_CATEGORY, errors_of_counts) { errors_of_counts(); }
TEST(TEST_CATEGORY, errors_of_options) { errors_of_options(); }
TEST(TEST_CATEGORY, errors_of_foreign_options) { errors_of_foreign_options(); }
TEST(TEST_CATEGORY, errors_not_of_partitions_beyond_the_matrix) { partitions_beyond_the_matrix(); }
