// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ComputedMatrices.hpp>
#include <Message.hpp>
#include <Outcome.hpp>

/// \file
/// Matrices whose coefficients are computed. The judge is the same matrices, stored: every bit of x
/// must be the same.

namespace Test::Computed {

using ComputedMatrices::Coefficients;
using ComputedMatrices::stored;
using Many::Array;
using Many::boundaries;
using Many::numbers;
using Many::right_hand_sides;
using Trikkos::Boundary;
using Trikkos::Options;

template <class T, int W>
void expect_same_bits(Many::Layout layout, std::int64_t count, std::int64_t n,
                      const Options& options = {}, double shift = 0) {
  const TEST_EXECSPACE exec;
  const Array<T> b = right_hand_sides<T>(layout, count, n),
                 x = Many::make_array<T>(layout, count, n);
  for (const Boundary boundary : boundaries) {
    SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, layout " +
                 std::to_string(static_cast<int>(layout)) + ", " + std::to_string(count) +
                 " systems of " + std::to_string(n) + ", " + name(boundary) + ", " +
                 describe(options));
    const Coefficients<T, W> f{n, boundary, shift};
    const auto A_stored = stored(f, layout, count);
    const Trikkos::Computed A{n, f, boundary};
    const Trikkos::Status expected = Trikkos::solve(exec, A_stored, b, x, options);
    const auto expected_x = numbers(x);

    ::Test::fill(x, T(7));
    const Trikkos::Workspace<T, TEST_EXECSPACE, W> work(exec, n, count, options);
    Trikkos::solve(exec, work, A, b, x);
    EXPECT_EQ(work.status(exec).why(), expected.why());
    EXPECT_EQ(numbers(x), expected_x);
    if (count > 0 && n > 0) {
      EXPECT_EQ(Trikkos::backward_error(exec, A, x, b),
                Trikkos::backward_error(exec, A_stored, x, b));
    }

    ::Test::copy(x, b);  // in place, once
    EXPECT_EQ(Trikkos::solve(exec, A, x, x, options).why(), expected.why());
    EXPECT_EQ(numbers(x), expected_x);
  }
}

TEST(TEST_CATEGORY, computed_has_the_bits_of_stored_matrices) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 64, 1000, 20011}) {
    expect_same_bits<double, 1>(Many::Layout::right, 1, n);
    expect_same_bits<double, 2>(Many::Layout::right, 1, n);
  }
}
TEST(TEST_CATEGORY, computed_batches_have_the_bits_of_stored_matrices) {
  for (const Many::Layout layout : Many::layouts) {
    expect_same_bits<double, 1>(layout, 19, 66);
    expect_same_bits<double, 2>(layout, 19, 66);
  }
  for (const Many::Layout layout : {Many::Layout::left, Many::Layout::right}) {
    expect_same_bits<double, 1>(layout, 0, 10);
    expect_same_bits<double, 1>(layout, 3, 5000);
    expect_same_bits<double, 2>(layout, 17, 2500);
    expect_same_bits<double, 1>(layout, 600, 7);
    expect_same_bits<double, 1>(layout, 9, 3);
    expect_same_bits<double, 2>(layout, 9, 2);
  }
}
/// One matrix for all, from a function of the row.
struct OfRows {
  Coefficients<double, 1> f;
  KOKKOS_FUNCTION auto operator()(std::int64_t row) const { return f(0, row); }
};
// Those of more than 8192 rows a host solves one by one, where each has a matrix of its own.
TEST(TEST_CATEGORY, computed_long_systems_have_the_bits_of_stored_matrices) {
  if (!Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << "nothing else on devices";
  const std::int64_t count = 17, n = 8200;
  for (const Many::Layout layout : {Many::Layout::left, Many::Layout::right}) {
    expect_same_bits<double, 1>(layout, count, n);
    expect_same_bits<double, 2>(layout, count, n);

    const TEST_EXECSPACE exec;
    const Array<double> b = right_hand_sides<double>(layout, count, n),
                        x = Many::make_array<double>(layout, count, n);
    const Coefficients<double, 1> f{n, Boundary::open};
    const auto all = stored(f, layout, 1);
    const Trikkos::Tridiagonal one{Many::row_of(all.lower, 0), Many::row_of(all.diag, 0),
                                   Many::row_of(all.upper, 0)};
    EXPECT_TRUE(Trikkos::solve(exec, one, b, x).ok());
    const auto expected = numbers(x);
    EXPECT_TRUE(Trikkos::solve(exec, Trikkos::Computed{n, OfRows{f}, Boundary::open}, b, x).ok());
    EXPECT_EQ(numbers(x), expected);
  }
}
TEST(TEST_CATEGORY, computed_with_options) {
  for (const Options& options :
       {Options{}.partition_size(5), Options{}.refine(1), Options{}.verify(1e-12),
        Options{}.scaling(Trikkos::Scaling::none), Options{}.refine(1).partition_size(7)}) {
    expect_same_bits<double, 1>(Many::Layout::left, 19, 66, options, 3);
    expect_same_bits<double, 1>(Many::Layout::right, 1, 700, options, 3);
    expect_same_bits<double, 2>(Many::Layout::right, 19, 66, options, 5);
  }
}

/// A function that reads arrays.
struct FromDiagonals {
  Many::Array<double> diag;

  KOKKOS_FUNCTION Kokkos::Array<double, 3> operator()(std::int64_t system, std::int64_t row) const {
    return {-1, diag(system, row), -1};
  }
};
TEST(TEST_CATEGORY, computed_from_arrays) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = 300, count = 20;
  const auto diag = right_hand_sides<double>(Many::Layout::left, count, n),
             b = right_hand_sides<double>(Many::Layout::right, count, n),
             x = Many::make_array<double>(Many::Layout::left, count, n),
             off = Many::make_array<double>(Many::Layout::left, count, n);
  ::Test::fill(off, -1.);
  const Trikkos::Computed A{n, FromDiagonals{diag}};
  EXPECT_TRUE(Trikkos::solve(exec, Trikkos::Tridiagonal{off, diag, off}, b, x).ok());
  const auto expected = numbers(x);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
  EXPECT_EQ(numbers(x), expected);
}

/// Systems are counted as the axes of the user's array are, whatever their order in memory.
TEST(TEST_CATEGORY, computed_along_axes_of_an_array) {
  const TEST_EXECSPACE exec;
  using Cube = Kokkos::View<double***, Kokkos::LayoutLeft, TEST_EXECSPACE>;
  const std::int64_t e[] = {4, 5, 33}, size = 4 * 5 * 33;
  const Cube b("b", e[0], e[1], e[2]);
  const Kokkos::View<double*, TEST_EXECSPACE, Kokkos::MemoryUnmanaged> all(b.data(), size);
  ::Test::copy(all, Reference::to_device(exec, random_rhs<double>(size, 1)));
  for (int axis = 0; axis < 3; ++axis) {
    SCOPED_TRACE("axis " + std::to_string(axis));
    const auto lines = Trikkos::along(b, axis);
    const auto n = static_cast<std::int64_t>(lines.extent(2)), count = size / n;
    const auto second = static_cast<std::int64_t>(lines.extent(1));
    const Coefficients<double, 1> f{n, Boundary::open, 3};
    const Array<double> right = Many::make_array<double>(Many::Layout::right, count, n),
                        x = Many::make_array<double>(Many::Layout::right, count, n);
    const auto line = [&](std::int64_t k) {
      return Kokkos::subview(lines, k / second, k % second, Kokkos::ALL);
    };
    for (std::int64_t k = 0; k < count; ++k) ::Test::copy(Many::row_of(right, k), line(k));
    EXPECT_TRUE(Trikkos::solve(exec, stored(f, Many::Layout::right, count), right, x).ok());
    EXPECT_TRUE(Trikkos::solve(exec, Trikkos::Computed{n, f}, lines, lines).ok());
    for (std::int64_t k = 0; k < count; ++k) ::Test::copy(Many::row_of(right, k), line(k));
    EXPECT_EQ(numbers(right), numbers(x));
  }
}

TEST(TEST_CATEGORY, computed_status_names_the_system) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {40, 5000})
    for (const Many::Layout layout : {Many::Layout::left, Many::Layout::right}) {
      const std::int64_t count = 21;
      const Array<double> b = right_hand_sides<double>(layout, count, n),
                          x = Many::make_array<double>(layout, count, n);
      Coefficients<double, 1> f{n, Boundary::open, 3};
      f.bad_system = 18;
      const auto status = Trikkos::solve(exec, Trikkos::Computed{n, f}, b, x);
      EXPECT_EQ(status.reason, Trikkos::Status::Reason::not_finite);
      EXPECT_EQ(status.system, 18);
      EXPECT_EQ(status.row, n / 2);
    }
}

TEST(TEST_CATEGORY, computed_errors) {
  const TEST_EXECSPACE exec;
  const auto A = [](std::int64_t n) {
    return Trikkos::Computed{n, Coefficients<double, 1>{n, Boundary::open, 3}};
  };
  const Kokkos::View<double*, TEST_EXECSPACE> five("five", 5), six("six", 6);
  const auto text = [&](std::int64_t n, const auto& b, const auto& x, const Options& options = {}) {
    return message([&] { static_cast<void>(Trikkos::solve(exec, A(n), b, x, options)); });
  };
  EXPECT_EQ(text(6, five, five), "Trikkos::solve: b has 5 rows, expected 6 (A.n)");
  EXPECT_EQ(text(5, five, six), "Trikkos::solve: x has 6 rows, expected 5 (b.extent(0))");
  EXPECT_EQ(text(-1, five, five), "Trikkos::solve: n is -1, expected 0 or more");
  EXPECT_EQ(text(5, five, five, Options{}.algorithm(Trikkos::Algorithm::pcr)),
            "Trikkos::solve: algorithm is pcr, expected automatic or segmented (A is computed)");
  EXPECT_EQ(text(5, five, five, Options{}.transpose(Trikkos::Transpose::transpose)),
            "Trikkos::solve: transpose is given, expected none (A is computed)");
  EXPECT_EQ(text(5, five, five, Options{}.scaling(Trikkos::Scaling::columns)),
            "Trikkos::solve: scaling is columns, expected rows or none (A is computed)");
  const Trikkos::Workspace<double, TEST_EXECSPACE> work(exec, 6, 1);
  EXPECT_EQ(message([&] { Trikkos::solve(exec, work, A(5), five, five); }),
            "Trikkos::solve: A has 5 rows, expected 6 (the workspace)");
}

}  // namespace Test::Computed
