// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ManySystems.hpp>
#include <Message.hpp>
#include <array>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

/// \file
/// The lines of an array along any of its axes as systems. The judge is the batch (system, row) of
/// the same lines, copied, contiguous, or where a Plan has factors of one matrix and lines are
/// interleaved, interleaved: every bit of x must be the same.

namespace Test::Axes {

using Many::Array;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Options;

template <class T>
using Cube = Kokkos::View<T***, Kokkos::LayoutStride, TEST_EXECSPACE>;
using Extents = std::array<std::int64_t, 3>;

enum class Layout { left, right, middle_first, part_of_left, part_of_right };
constexpr Layout layouts[] = {Layout::left, Layout::right, Layout::middle_first,
                              Layout::part_of_left, Layout::part_of_right};

template <class T>
Cube<T> make_cube(Layout layout, const Extents& e) {
  const auto part = [&](int axis) {
    return Kokkos::pair<std::int64_t, std::int64_t>(axis, axis + e[axis]);
  };
  using Left = Kokkos::View<T***, Kokkos::LayoutLeft, TEST_EXECSPACE>;
  using Right = Kokkos::View<T****, Kokkos::LayoutRight, TEST_EXECSPACE>;
  switch (layout) {
    case Layout::left:
      return Left("cube", e[0], e[1], e[2]);
    case Layout::right:
      return Kokkos::View<T***, Kokkos::LayoutRight, TEST_EXECSPACE>("cube", e[0], e[1], e[2]);
    case Layout::middle_first: {
      const int order[] = {1, 2, 0};
      return Cube<T>("cube", Kokkos::LayoutStride::order_dimensions(3, order, e.data()));
    }
    case Layout::part_of_left:
      return Kokkos::subview(Left("cube", e[0] + 1, e[1] + 1, e[2] + 3), part(0), part(1), part(2));
    case Layout::part_of_right:
      break;
  }
  return Kokkos::subview(Right("cube", e[0] + 1, e[1] + 2, e[2] + 2, 2), part(0), part(1), part(2),
                         1);
}

// ---- lines, systems last but one at most, to and from a batch of the same order

/// f(part of the batch, part of the lines), each of rank 2.
template <class T, class Lines, class F>
void for_slabs(const Array<T>& batch, const Lines& lines, const F& f) {
  if constexpr (Lines::rank() == 2) {
    f(batch, lines);
  } else {
    const auto in_slab = static_cast<std::int64_t>(lines.extent(1));
    if (batch.size() == 0) return;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(lines.extent(0)); ++i)
      f(Kokkos::subview(batch,
                        Kokkos::pair<std::int64_t, std::int64_t>(i * in_slab, (i + 1) * in_slab),
                        Kokkos::ALL),
        Kokkos::subview(lines, i, Kokkos::ALL, Kokkos::ALL));
  }
}
template <class T, class Lines>
void scatter(const Array<T>& batch, const Lines& lines) {
  for_slabs(batch, lines, [](const auto& from, const auto& to) { ::Test::copy(to, from); });
}
template <class T, class Lines>
std::vector<T> gathered(const Lines& lines, std::int64_t count, std::int64_t n) {
  const Array<T> batch = Many::make_array<T>(Many::Layout::right, count, n);
  for_slabs(batch, lines, [](const auto& to, const auto& from) { ::Test::copy(to, from); });
  std::vector<T> r;
  const auto host = ::Test::host_copy(batch);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < n; ++i) r.push_back(host(k, i));
  return r;
}

/// Random numbers, at least 2 on the diagonal if dominant.
template <class T>
Array<T> random_batch(std::int64_t count, std::int64_t n, unsigned seed, double shift = 0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> host("host", count, n);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < n; ++i) host(k, i) = static_cast<T>(shift + uniform(random));
  const Array<T> r = Many::make_array<T>(Many::Layout::right, count, n);
  ::Test::copy(r, host);
  return r;
}

template <int W, class View>
auto matrix(const std::vector<View>& v, Boundary boundary) {
  return Many::matrix<W>(boundary, [&](int j) { return v[W + j]; });
}
template <int W, class T>
std::vector<Array<T>> random_bands(std::int64_t count, std::int64_t n, double shift) {
  std::vector<Array<T>> r;
  for (int j = 0; j < 2 * W + 1; ++j)
    r.push_back(random_batch<T>(count, n, 10 + j, j == W ? shift : 0));
  return r;
}

/// x of the batch and of the lines, once, with a Workspace and with a Plan; in place as well.
/// `interleaved`: the batch's matrices, so. On a device `thomas` has other operations for them.
template <class T, class Matrix, class BatchMatrix, class Lines>
void expect_same_bits(const Matrix& A, const BatchMatrix& A_of_batch,
                      const BatchMatrix& interleaved, const Array<T>& right, const Lines& b,
                      const Lines& x, const Options& options) {
  const TEST_EXECSPACE exec;
  const auto count = static_cast<std::int64_t>(right.extent(0));
  const auto n = static_cast<std::int64_t>(right.extent(1));
  const Array<T> solution = Many::make_array<T>(Many::Layout::right, count, n);
  constexpr bool on_host = Trikkos::Impl::is_host_v<TEST_EXECSPACE>;
  const auto by_interleaved = [&] {
    const Array<T> given = Many::make_array<T>(Many::Layout::left, count, n),
                   solved = Many::make_array<T>(Many::Layout::left, count, n);
    ::Test::copy(given, right);
    EXPECT_TRUE(Trikkos::solve(exec, interleaved, given, solved, options).ok());
    return gathered<T>(solved, count, n);
  };
  const auto expect_solved = [&](const auto& expected, const char* call, const auto& solve) {
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(std::string(call) + (in_place ? ", in place" : ""));
      scatter(right, b);
      ::Test::fill(solution, T(7));
      scatter(solution, x);
      const auto status = solve(in_place ? b : x);
      EXPECT_TRUE(status.ok()) << status.why();
      const auto found = gathered<T>(in_place ? b : x, count, n);
      auto wanted = expected(in_place ? b : x);
      if (!on_host && options.algorithm() == Algorithm::thomas && found != wanted)
        wanted = by_interleaved();
      EXPECT_EQ(found, wanted);
    }
  };
  const bool factored_only = options.algorithm() == Algorithm::factored;
  if (!factored_only) {
    EXPECT_TRUE(Trikkos::solve(exec, A_of_batch, right, solution, options).ok());
    const auto expected = [r = gathered<T>(solution, count, n)](const Lines&) { return r; };
    expect_solved(expected, "once",
                  [&](const Lines& to) { return Trikkos::solve(exec, A, b, to, options); });
    const Trikkos::Workspace work(exec, A, b, options);
    expect_solved(expected, "workspace", [&](const Lines& to) {
      Trikkos::solve(exec, work, A, b, to);
      return work.status(exec);
    });
  }
  const Trikkos::Plan plan_of_batch(exec, A_of_batch, options, count);
  const auto expected = [&](const Lines& to) {
    const auto v = Trikkos::Impl::vectors<T>(b, Trikkos::Impl::order_of(to));
    const bool is_interleaved = plan_of_batch.algorithm() == Algorithm::factored && count > 1 &&
                                v.system_stride < v.row_stride;
    const Many::Layout of_judge = is_interleaved ? Many::Layout::left : Many::Layout::right;
    const Array<T> right_of_judge = Many::make_array<T>(of_judge, count, n),
                   judge = Many::make_array<T>(of_judge, count, n);
    ::Test::copy(right_of_judge, right);
    Trikkos::solve(exec, plan_of_batch, right_of_judge, judge);
    return gathered<T>(judge, count, n);
  };
  const Trikkos::Plan plan(exec, A, options, count);
  EXPECT_EQ(plan.algorithm(), plan_of_batch.algorithm());
  expect_solved(expected, "plan", [&](const Lines& to) {
    Trikkos::solve(exec, plan, b, to);
    return plan.status(exec);
  });
}

/// One matrix for all lines, and a matrix for each, in arrays of the layout of b; x in another.
template <class T, int W, class Make>
void expect_axis(const Make& make, Layout layout, Layout x_layout, int axis, const Options& options,
                 Boundary boundary) {
  const auto bands_in = make(layout);
  using Whole = std::remove_cvref_t<decltype(bands_in)>;
  const Whole b = make(layout), x = make(x_layout);
  const auto lines = Trikkos::along(b, axis);
  const auto n = static_cast<std::int64_t>(b.extent(axis));
  const auto count = n > 0 ? static_cast<std::int64_t>(b.size()) / n : std::int64_t(0);
  SCOPED_TRACE("layouts " + std::to_string(static_cast<int>(layout)) + " and " +
               std::to_string(static_cast<int>(x_layout)) + ", axis " + std::to_string(axis) +
               ", " + std::to_string(count) + " lines of " + std::to_string(n) + ", " +
               describe(options));
  const double shift = options.algorithm() == Algorithm::automatic ? 0 : 2 * W + 1;
  const Array<T> right = random_batch<T>(count, n, 3);
  const auto bands = random_bands<W, T>(count, n, shift);

  if (options.algorithm() != Algorithm::factored) {
    std::vector<Whole> owners;
    std::vector<std::remove_cvref_t<decltype(lines)>> along;
    for (const auto& band : bands) {
      owners.push_back(make(layout));
      along.push_back(Trikkos::along(owners.back(), axis));
      scatter(band, along.back());
    }
    std::vector<Array<T>> interleaved;
    for (const auto& band : bands) {
      interleaved.push_back(Many::make_array<T>(Many::Layout::left, count, n));
      ::Test::copy(interleaved.back(), band);
    }
    expect_same_bits(matrix<W>(along, boundary), matrix<W>(bands, boundary),
                     matrix<W>(interleaved, boundary), right, lines, Trikkos::along(x, axis),
                     options);
  }
  if (count == 0) return;
  using Row = Kokkos::View<T*, Kokkos::LayoutStride, TEST_EXECSPACE>;
  std::vector<Row> rows;
  for (const auto& band : bands) rows.push_back(Many::row_of(band, 0));
  const auto A = matrix<W>(rows, boundary);
  expect_same_bits(A, A, A, right, lines, Trikkos::along(x, axis), options);
}

template <class T, int W = 1>
void expect_cube(const Extents& e, const Options& options = {},
                 Boundary boundary = Boundary::open) {
  const auto make = [&](Layout layout) { return make_cube<T>(layout, e); };
  for (int axis = 0; axis < 3; ++axis)
    for (const Layout layout : layouts)
      expect_axis<T, W>(make, layout, layout, axis, options, boundary);
  expect_axis<T, W>(make, Layout::left, Layout::right, 1, options, boundary);
  expect_axis<T, W>(make, Layout::right, Layout::part_of_left, 0, options, boundary);
}

/// Fewer lines than lanes, not a multiple of them, more than are solved at a time (256).
constexpr Extents extents[] = {{5, 7, 33}, {17, 9, 4},  {1, 1, 6},  {1, 18, 5}, {19, 1, 5},
                               {2, 20, 2}, {3, 2, 300}, {40, 3, 9}, {3, 9, 1}};

TEST(TEST_CATEGORY, axes_of_cubes) {
  for (const Extents& e : extents) expect_cube<double>(e);
  expect_cube<double>({5, 7, 33}, {}, Boundary::periodic);
}
TEST(TEST_CATEGORY, axes_of_empty_cubes) {
  for (const Extents& e : {Extents{0, 3, 4}, Extents{3, 0, 4}, Extents{3, 4, 0}})
    expect_cube<double>(e);
}
TEST(TEST_CATEGORY, axes_with_options) {
  for (const Extents& e : {Extents{5, 7, 33}, Extents{3, 2, 300}})
    for (const Options& options :
         {Options{}.refine(1), Options{}.scaling(Trikkos::Scaling::columns),
          Options{}.scaling(Trikkos::Scaling::columns).verify(1e-14),
          Options{}.transpose(Trikkos::Transpose::transpose), Options{}.partition_size(5),
          Options{}.algorithm(Algorithm::spike), Options{}.algorithm(Algorithm::pcr),
          Options{}.algorithm(Algorithm::thomas), Options{}.algorithm(Algorithm::factored)})
      expect_cube<double>(e, options);
}
TEST(TEST_CATEGORY, axes_of_long_lines) {
  const auto make = [](Layout layout) { return make_cube<double>(layout, {3, 5000, 5}); };
  for (const Layout layout : layouts)
    expect_axis<double, 1>(make, layout, layout, 1, Options{}, Boundary::open);
}
TEST(TEST_CATEGORY, axes_pentadiagonal) {
  expect_cube<double, 2>({5, 7, 33});
  expect_cube<double, 2>({17, 9, 4}, {}, Boundary::periodic);
  expect_cube<double, 2>({3, 2, 300}, Options{}.algorithm(Algorithm::thomas), Boundary::periodic);
}
TEST(TEST_CATEGORY, axes_other_scalars) {
  expect_cube<float>({5, 9, 35});
  expect_cube<Kokkos::complex<double>>({5, 7, 33});
}

TEST(TEST_CATEGORY, axes_of_planes) {
  for (const auto& [rows, columns] : {std::pair(33, 7), std::pair(4, 19), std::pair(1, 6)})
    for (int axis = 0; axis < 2; ++axis)
      for (const Many::Layout layout : Many::layouts) {
        const auto make = [&, rows = rows, columns = columns](Layout) {
          return Many::make_array<double>(layout, rows, columns);
        };
        expect_axis<double, 1>(make, Layout::left, Layout::left, axis, Options{}, Boundary::open);
      }
}

// ---- what a line is called

/// Bad lines at (i, j); the first of them in the order of the axes is named.
TEST(TEST_CATEGORY, axes_status_names_the_line) {
  const TEST_EXECSPACE exec;
  const Extents e{6, 11, 10};
  for (const Layout layout : layouts)
    for (int axis = 0; axis < 3; ++axis) {
      const auto b = make_cube<double>(layout, e), x = make_cube<double>(layout, e);
      const auto lines = Trikkos::along(b, axis), solutions = Trikkos::along(x, axis);
      const auto n = static_cast<std::int64_t>(lines.extent(2));
      const auto in_slab = static_cast<std::int64_t>(lines.extent(1));
      const auto count = static_cast<std::int64_t>(lines.extent(0)) * in_slab;
      const Many::Array<double> zero = Many::make_array<double>(Many::Layout::right, 1, n);
      const Many::Array<double> diag = Many::make_array<double>(Many::Layout::right, 1, n);
      ::Test::fill(diag, 1.);
      using Row = Kokkos::View<double*, Kokkos::LayoutStride, TEST_EXECSPACE>;
      const Row off = Many::row_of(zero, 0), main = Many::row_of(diag, 0);
      const Trikkos::Tridiagonal<Row> A{off, main, off};
      // (1, 5) comes before (2, 3), wherever it is in memory
      const auto spoil = [&](std::int64_t i, std::int64_t j) {
        const Row line = Kokkos::subview(lines, i, j, Kokkos::ALL);
        ::Test::fill(Kokkos::subview(line, Kokkos::pair<int, int>(4, 5)),
                     std::numeric_limits<double>::quiet_NaN());
      };
      ::Test::fill(diag, 1.);
      scatter(random_batch<double>(count, n, 5), lines);
      spoil(2, 3);
      spoil(1, 5);
      for (const Options& options :
           {Options{}, Options{}.algorithm(Algorithm::thomas), Options{}.refine(1)}) {
        SCOPED_TRACE("layout " + std::to_string(static_cast<int>(layout)) + ", axis " +
                     std::to_string(axis) + ", " + describe(options));
        const auto status = Trikkos::solve(exec, A, lines, solutions, options);
        EXPECT_EQ(status.reason, Trikkos::Status::Reason::not_finite);
        EXPECT_EQ(status.system, in_slab + 5);
        EXPECT_EQ(status.row, 4);
        const Trikkos::Plan plan(exec, A, options, count);
        Trikkos::solve(exec, plan, lines, solutions);
        EXPECT_EQ(plan.status(exec).system, in_slab + 5);
      }
    }
}
/// Of lines whose x is finite, the first that is less accurate than wanted.
TEST(TEST_CATEGORY, axes_status_names_the_inaccurate_line) {
  const TEST_EXECSPACE exec;
  for (const Layout layout : layouts) {
    const auto b = make_cube<double>(layout, {3, 10, 200}),
               x = make_cube<double>(layout, {3, 10, 200});
    const auto lines = Trikkos::along(b, 1), solutions = Trikkos::along(x, 1);
    const auto off = random_batch<double>(1, 10, 1), diag = random_batch<double>(1, 10, 2, 3);
    using Row = Kokkos::View<double*, Kokkos::LayoutStride, TEST_EXECSPACE>;
    const Row lower = Many::row_of(off, 0), main = Many::row_of(diag, 0);
    const Trikkos::Tridiagonal<Row> A{lower, main, lower};
    ::Test::fill(Kokkos::subview(lines, 0, Kokkos::ALL, Kokkos::ALL), 0.);
    ::Test::fill(Kokkos::subview(lines, 1, Kokkos::ALL, Kokkos::ALL), 0.);
    ::Test::fill(Kokkos::subview(lines, 2, Kokkos::ALL, Kokkos::ALL), 0.);
    const auto random = random_batch<double>(2, 10, 4);
    ::Test::copy(Kokkos::subview(lines, 2, 3, Kokkos::ALL), Many::row_of(random, 0));
    ::Test::copy(Kokkos::subview(lines, 1, 150, Kokkos::ALL), Many::row_of(random, 1));
    const auto status = Trikkos::solve(exec, A, lines, solutions, Options{}.verify(1e-30));
    EXPECT_EQ(status.reason, Trikkos::Status::Reason::inaccurate);
    EXPECT_EQ(status.system, 350) << "layout " << static_cast<int>(layout);
    EXPECT_LE(Trikkos::backward_error(exec, A, solutions, lines), 1e-15);
  }
}

// ---- the View

TEST(TEST_CATEGORY, axes_along) {
  const Extents e{3, 4, 5};
  for (const Layout layout : layouts) {
    const auto v = make_cube<double>(layout, e);
    const auto a0 = Trikkos::along(v, 0), a1 = Trikkos::along(v, 1), a2 = Trikkos::along(v, 2);
    ASSERT_EQ(a1.extent(0), 3u);
    ASSERT_EQ(a1.extent(1), 5u);
    ASSERT_EQ(a1.extent(2), 4u);
    const auto offset = [&](const auto& view, std::int64_t i, std::int64_t j, std::int64_t k) {
      return i * view.stride(0) + j * view.stride(1) + k * view.stride(2);
    };
    for (std::int64_t i = 0; i < e[0]; ++i)
      for (std::int64_t j = 0; j < e[1]; ++j)
        for (std::int64_t k = 0; k < e[2]; ++k) {
          EXPECT_EQ(offset(a0, j, k, i), offset(v, i, j, k));
          EXPECT_EQ(offset(a1, i, k, j), offset(v, i, j, k));
          EXPECT_EQ(offset(a2, i, j, k), offset(v, i, j, k));
        }
    EXPECT_EQ(a0.data(), v.data());
  }
}

TEST(TEST_CATEGORY, axes_errors) {
  const TEST_EXECSPACE exec;
  const auto v = make_cube<double>(Layout::right, {3, 4, 5});
  EXPECT_EQ(message([&] { Trikkos::along(v, 3); }), "Trikkos::along: axis is 3, expected 0 to 2");
  EXPECT_EQ(message([&] { Trikkos::along(v, -1); }), "Trikkos::along: axis is -1, expected 0 to 2");
  const auto lines = Trikkos::along(v, 2), turned = Trikkos::along(v, 0);
  const auto cube = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return Trikkos::along(make_cube<double>(Layout::right, {a, b, c}), 2);  // only its extents
  };
  const auto solve = [&](const auto& A, const auto& b, const auto& x) {
    return message([&] { static_cast<void>(Trikkos::solve(exec, A, b, x)); });
  };
  using Lines = std::remove_cvref_t<decltype(lines)>;
  const auto of = [](const Lines& l, const Lines& d) {
    return Trikkos::Tridiagonal<Lines>{l, d, l};
  };
  EXPECT_EQ(solve(of(lines, lines), turned, turned),
            "Trikkos::solve: b has 3 rows, expected 5 (diag.extent(2))");
  EXPECT_EQ(solve(of(cube(4, 3, 5), lines), lines, lines),
            "Trikkos::solve: lower has 4 systems along axis 0, expected 3 (diag.extent(0))");
  EXPECT_EQ(solve(of(lines, lines), cube(3, 6, 5), lines),
            "Trikkos::solve: b has 6 systems along axis 1, expected 4 (diag.extent(1))");
  EXPECT_EQ(solve(of(lines, lines), lines, cube(4, 3, 5)),
            "Trikkos::solve: x has 4 systems along axis 0, expected 3 (b.extent(0))");
  EXPECT_EQ(solve(of(lines, lines), lines, cube(3, 4, 6)),
            "Trikkos::solve: x has 6 rows, expected 5 (b.extent(2))");
}

}  // namespace Test::Axes
