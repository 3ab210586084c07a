// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ManySystems.hpp>
#include <Outcome.hpp>
#include <Trikkos_BackwardError.hpp>
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <vector>

/// \file
/// Interleaved systems, several vectors of which take turns on a host. Every bit of x must be that
/// of other layouts.

namespace Test::Interleaved {

using Many::Array;
using Many::Layout;
using Many::numbers;
using Many::row_of;
using Trikkos::Boundary;
using Trikkos::Options;

template <class T, int W>
auto random_matrix(Layout layout, std::int64_t count, std::int64_t n, Boundary boundary) {
  return Many::matrix<W>(boundary, [&](int j) {
    const Array<T> band = Many::make_array<T>(layout, count, n);
    const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> all("all", count, n);
    const Kokkos::View<T*, TEST_EXECSPACE, Kokkos::MemoryUnmanaged> flat(all.data(), count * n);
    ::Test::copy(flat, Reference::to_device(TEST_EXECSPACE(), random_rhs<T>(count * n, 20 + j)));
    ::Test::copy(band, all);
    return band;
  });
}
template <class T>
Array<T> random_vectors(Layout layout, std::int64_t count, std::int64_t n) {
  return random_matrix<T, 1>(layout, count, n, Boundary::open).diag;
}

template <class T, int W>
void expect_bits_of_contiguous(Layout layout, std::int64_t count, std::int64_t n,
                               const Options& options = {}, Boundary boundary = Boundary::open) {
  SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, layout " +
               std::to_string(static_cast<int>(layout)) + ", " + std::to_string(count) +
               " systems of " + std::to_string(n) + ", " + name(boundary) + ", " +
               describe(options));
  const TEST_EXECSPACE exec;
  const auto solved = [&](Layout of, bool in_place) {
    const auto A = random_matrix<T, W>(of, count, n, boundary);
    const Array<T> b = random_vectors<T>(of, count, n),
                   x = in_place ? b : Many::make_array<T>(of, count, n);
    EXPECT_TRUE(Trikkos::solve(exec, A, b, x, options).ok());
    return numbers(x);
  };
  const auto expected = solved(Layout::right, false);
  EXPECT_EQ(solved(layout, false), expected);
  EXPECT_EQ(solved(layout, true), expected);
}

template <class T>
struct AddToEach {
  Array<T> to;
  T number;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, std::int64_t i) const {
    to(k, i) += number;
  }
};

TEST(TEST_CATEGORY, interleaved_has_the_bits_of_contiguous) {
  const TEST_EXECSPACE exec;
  // of a host's threads each has some times as many as take turns, and the last one some that do
  // not
  const std::int64_t many = Trikkos::Impl::is_host_v<TEST_EXECSPACE>
                                ? 20 * Trikkos::Impl::lane_count<double> * exec.concurrency() + 19
                                : 259;
  for (const Layout layout : {Layout::left, Layout::wide_left, Layout::odd_left})
    for (const std::int64_t n : {1, 2, 3, 5, 64})
      for (const std::int64_t count : {std::int64_t(140), many}) {
        expect_bits_of_contiguous<double, 1>(layout, count, n);
        expect_bits_of_contiguous<double, 2>(layout, count, n);
      }
  for (const std::int64_t n : {1000, 2049, 8192}) {
    if (n > 4096 && !Trikkos::Impl::is_host_v<TEST_EXECSPACE>) break;  // of other partitions there
    expect_bits_of_contiguous<double, 1>(Layout::left, 130, n);
    expect_bits_of_contiguous<double, 2>(Layout::left, 130, n);
  }
  expect_bits_of_contiguous<float, 2>(Layout::left, 601, 70);
}
/// Of many systems, vectors of which take turns on a host, and of a few of them: the same bits.
TEST(TEST_CATEGORY, interleaved_has_the_bits_of_a_few) {
  if (!Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << "devices take few another way";
  const TEST_EXECSPACE exec;
  constexpr int lanes = Trikkos::Impl::lane_count<double>;
  for (const std::int64_t n : {5, 40, 2048, 2049, 8192, 8193, 9000})
    for (const std::int64_t count : {8 * lanes, 16 * lanes * exec.concurrency() + 3}) {
      SCOPED_TRACE(std::to_string(count) + " systems of " + std::to_string(n));
      const auto A = random_matrix<double, 1>(Layout::left, count, n, Boundary::open);
      const Array<double> b = random_vectors<double>(Layout::left, count, n),
                          x = Many::make_array<double>(Layout::left, count, n),
                          y = Many::make_array<double>(Layout::left, count, n);
      EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
      for (std::int64_t first = 0; first < count; first += lanes) {
        const auto part = [&](const Array<double>& v) {
          return Kokkos::subview(v, std::pair(first, std::min(first + lanes, count)), Kokkos::ALL);
        };
        const Trikkos::Tridiagonal some{part(A.lower), part(A.diag), part(A.upper)};
        // fewer than lanes, and few long ones, go in partitions
        if (n <= 2048 && count - first >= lanes)
          EXPECT_TRUE(Trikkos::solve(exec, some, part(b), part(y)).ok());
        else
          ::Test::copy(part(y), part(x));
      }
      EXPECT_EQ(numbers(x), numbers(y));
      EXPECT_LE(Trikkos::backward_error(exec, A, x, b), 1e-14);
    }
}
TEST(TEST_CATEGORY, contiguous_has_the_bits_of_strided) {
  if (!Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << "devices stage them otherwise";
  for (const Layout layout : {Layout::strided, Layout::wide_right, Layout::odd_right})
    for (const std::int64_t n : {95, 96, 97, 201})
      for (const std::int64_t count : {300, 307}) {
        expect_bits_of_contiguous<double, 1>(layout, count, n);
        expect_bits_of_contiguous<double, 2>(layout, count, n);
      }
  for (const std::int64_t n : {2048, 2049})
    expect_bits_of_contiguous<double, 1>(Layout::strided, 300, n);
  expect_bits_of_contiguous<float, 2>(Layout::strided, 601, 130);
  expect_bits_of_contiguous<Kokkos::complex<double>, 1>(Layout::strided, 150, 130);
  expect_bits_of_contiguous<double, 2>(Layout::strided, 300, 130,
                                       Options{}.transpose(Trikkos::Transpose::transpose));
}
template <class Matrix>
auto matrix_of(const Matrix& A, std::int64_t k) {
  if constexpr (Matrix::half_bandwidth == 1)
    return Trikkos::Tridiagonal{row_of(A.lower, k), row_of(A.diag, k), row_of(A.upper, k),
                                A.boundary};
  else
    return Trikkos::Pentadiagonal{row_of(A.lower2, k), row_of(A.lower, k),  row_of(A.diag, k),
                                  row_of(A.upper, k),  row_of(A.upper2, k), A.boundary};
}
/// Contiguous systems of more than 8192 rows a host solves one by one, in whichever way threads
/// share them; interleaved ones it does not.
template <class T, int W>
void expect_bits_of_each(Layout layout, std::int64_t count, std::int64_t n, Options options = {},
                         Boundary boundary = Boundary::open) {
  options = options.algorithm(Trikkos::Algorithm::segmented);
  SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, " + std::to_string(count) + " systems of " +
               std::to_string(n) + ", " + name(boundary) + ", " + describe(options));
  const TEST_EXECSPACE exec;
  const auto A = random_matrix<T, W>(layout, count, n, boundary);
  const Array<T> b = random_vectors<T>(layout, count, n), x = Many::make_array<T>(layout, count, n),
                 y = Many::make_array<T>(layout, count, n);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, x, options).ok());
  for (std::int64_t k = 0; k < count; ++k)
    EXPECT_TRUE(Trikkos::solve(exec, matrix_of(A, k), row_of(b, k), row_of(y, k), options).ok());
  EXPECT_EQ(numbers(x), numbers(y));
  EXPECT_TRUE(Trikkos::solve(exec, A, b, b, options).ok());
  EXPECT_EQ(numbers(b), numbers(y));
}
TEST(TEST_CATEGORY, contiguous_long_systems_are_solved_one_by_one) {
  if (!Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << "devices have other partitions";
  // more than four a thread, each by one thread; and as few as complex numbers have lanes, by all
  const std::int64_t many = 4 * TEST_EXECSPACE().concurrency() + Trikkos::Impl::lane_count<double>;
  using Complex = Kokkos::complex<double>;
  for (const std::int64_t n : {8193, 8449, 17000}) {  // one group of tiles and more
    expect_bits_of_each<double, 1>(Layout::right, many, n);
    expect_bits_of_each<double, 2>(Layout::odd_right, many, n);
    expect_bits_of_each<Complex, 1>(Layout::right, Trikkos::Impl::lane_count<Complex>, n);
  }
  expect_bits_of_each<double, 1>(Layout::right, many, 8193, {}, Boundary::periodic);
  expect_bits_of_each<double, 2>(Layout::right, many, 8193,
                                 Options{}.transpose(Trikkos::Transpose::transpose));
  expect_bits_of_each<Complex, 1>(Layout::right, many, 8193,
                                  Options{}.transpose(Trikkos::Transpose::conjugate_transpose));
}
TEST(TEST_CATEGORY, interleaved_with_options) {
  const auto transposed = Options{}.transpose(Trikkos::Transpose::transpose);
  expect_bits_of_contiguous<double, 1>(Layout::left, 300, 50, transposed);
  expect_bits_of_contiguous<double, 2>(Layout::left, 300, 50, transposed);
  expect_bits_of_contiguous<double, 2>(Layout::left, 300, 2, transposed);
  expect_bits_of_contiguous<Kokkos::complex<double>, 2>(
      Layout::left, 90, 50, Options{}.transpose(Trikkos::Transpose::conjugate_transpose));
  expect_bits_of_contiguous<double, 2>(Layout::left, 300, 50,
                                       Options{}.scaling(Trikkos::Scaling::none));
  expect_bits_of_contiguous<double, 2>(Layout::left, 300, 50, Options{}.refine(1).verify(1e-9));
  expect_bits_of_contiguous<double, 2>(Layout::left, 300, 50, {}, Boundary::periodic);
}

/// Bands that all systems share, or of one value, beside others that are copied.
TEST(TEST_CATEGORY, interleaved_with_bands_that_are_shared) {
  const TEST_EXECSPACE exec;
  const std::int64_t count = 300;
  const auto solved = [&](Layout layout, std::int64_t n) {
    const Kokkos::View<double*, TEST_EXECSPACE> offs("offs", count);
    Kokkos::deep_copy(offs, -1.5);
    const Array<double> diag = random_vectors<double>(layout, count, n),
                        b = random_vectors<double>(layout, count, n),
                        x = Many::make_array<double>(layout, count, n);
    const Trikkos::Tridiagonal A{Trikkos::Uniform{offs, n}, diag, Trikkos::Uniform{offs, n}};
    EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
    auto result = numbers(x);
    const auto one = random_matrix<double, 2>(Layout::right, 1, n, Boundary::open);
    EXPECT_TRUE(Trikkos::solve(exec, matrix_of(one, 0), b, x).ok());
    const auto second = numbers(x);
    result.insert(result.end(), second.begin(), second.end());
    return result;
  };
  EXPECT_EQ(solved(Layout::left, 40), solved(Layout::right, 40));
  EXPECT_EQ(solved(Layout::right, 100), solved(Layout::left, 100));
}

/// The middle axis of a cube: slabs of systems.
TEST(TEST_CATEGORY, interleaved_in_slabs) {
  const TEST_EXECSPACE exec;
  const std::int64_t slabs = 3, n = 21, in_slab = 150, count = slabs * in_slab;
  using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TEST_EXECSPACE>;
  std::vector<Cube> cubes;  // `along` does not own what it refers to
  const auto lines = [&](const Array<double>& rows) {
    cubes.emplace_back("cube", slabs, n, in_slab);
    const auto along = Trikkos::along(cubes.back(), 1);
    for (std::int64_t k = 0; k < count; ++k)
      ::Test::copy(Kokkos::subview(along, k / in_slab, k % in_slab, Kokkos::ALL), row_of(rows, k));
    return along;
  };
  const auto A = random_matrix<double, 2>(Layout::right, count, n, Boundary::open);
  const Array<double> b = random_vectors<double>(Layout::right, count, n),
                      x = Many::make_array<double>(Layout::right, count, n);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
  const auto expected = numbers(x);
  const Trikkos::Pentadiagonal in_cube{lines(A.lower2), lines(A.lower), lines(A.diag),
                                       lines(A.upper), lines(A.upper2)};
  const auto y = lines(b);
  EXPECT_TRUE(Trikkos::solve(exec, in_cube, y, y).ok());
  for (std::int64_t k = 0; k < count; ++k)
    ::Test::copy(row_of(x, k), Kokkos::subview(y, k / in_slab, k % in_slab, Kokkos::ALL));
  EXPECT_EQ(numbers(x), expected);
}

/// All systems but those that are spoilt have their bits.
template <class T>
void expect_others_as_before(const Array<T>& x, const std::vector<T>& before,
                             std::initializer_list<std::int64_t> spoilt) {
  const auto now = numbers(x);
  const auto n = static_cast<std::int64_t>(x.extent(1));
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(x.extent(0)); ++k)
    if (std::find(spoilt.begin(), spoilt.end(), k) == spoilt.end()) {
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(now[k * n + i], before[k * n + i]) << k;
    }
}

/// One singular system, and one that is not finite, among many.
void bad_systems_spoil_only_themselves(Layout layout, std::int64_t n) {
  const TEST_EXECSPACE exec;
  const std::int64_t count = 171, singular = 137, bad = 40;
  const auto A = random_matrix<double, 2>(layout, count, n, Boundary::open);
  const Array<double> b = random_vectors<double>(layout, count, n),
                      x = Many::make_array<double>(layout, count, n);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
  const auto good = numbers(x);
  for (const Array<double>& band : {A.lower2, A.lower, A.diag, A.upper, A.upper2})
    Kokkos::deep_copy(Kokkos::subview(band, singular, 12), 0.);
  const auto expect = [&](std::int64_t system, Trikkos::Status::Reason reason) {
    const auto status = Trikkos::solve(exec, A, b, x);
    EXPECT_EQ(status.reason, reason) << status.why();
    EXPECT_EQ(status.system, system);
    expect_others_as_before(x, good, {singular, bad});
  };
  expect(singular, Trikkos::Status::Reason::singular);
  Kokkos::deep_copy(Kokkos::subview(A.upper, bad, 7), std::numeric_limits<double>::infinity());
  expect(bad, Trikkos::Status::Reason::not_finite);
}
TEST(TEST_CATEGORY, interleaved_bad_systems_spoil_only_themselves) {
  bad_systems_spoil_only_themselves(Layout::left, 30);
}
TEST(TEST_CATEGORY, contiguous_bad_systems_spoil_only_themselves) {
  bad_systems_spoil_only_themselves(Layout::right, 100);
  bad_systems_spoil_only_themselves(Layout::right, 8200);
}

/// So many systems that a device takes them in chunks: however they lie, those that need no
/// pivoting are solved, and another one is named and spoils only itself.
template <class T, int W>
void thomas_solves_many(std::int64_t count, std::int64_t n) {
  SCOPED_TRACE(std::to_string(2 * W + 1) + " diagonals, " + std::to_string(count) + " systems of " +
               std::to_string(n));
  using Trikkos::Status;
  const TEST_EXECSPACE exec;
  const auto thomas = Options{}.algorithm(Trikkos::Algorithm::thomas);
  const std::int64_t left = 2000, bad = 3001;
  std::vector<T> first;
  for (const Layout layout : {Layout::left, Layout::odd_left, Layout::right, Layout::odd_right}) {
    SCOPED_TRACE("layout " + std::to_string(static_cast<int>(layout)));
    auto A = random_matrix<T, W>(layout, count, n, Boundary::open);
    const Array<T> diag = A.diag, b = random_vectors<T>(layout, count, n),
                   x = Many::make_array<T>(layout, count, n);
    Kokkos::parallel_for(
        "Test::make_dominant",
        Kokkos::MDRangePolicy<TEST_EXECSPACE, Kokkos::Rank<2>>(exec, {0, 0}, {count, n}),
        AddToEach<T>{diag, T(5)});
    EXPECT_TRUE(Trikkos::solve(exec, A, b, x, thomas).ok());
    EXPECT_LE(Trikkos::backward_error(exec, A, x, b),
              8 * Kokkos::Experimental::epsilon_v<Trikkos::Impl::Real<T>>);
    const auto good = numbers(x);
    if (layout == Layout::left) first = good;
    if (layout == Layout::odd_left) {
      EXPECT_EQ(good, first);
    }

    const auto expect = [&](std::int64_t system, Status::Reason reason) {
      const Status status = Trikkos::solve(exec, A, b, x, thomas);
      EXPECT_EQ(status.reason, reason) << status.why();
      EXPECT_EQ(status.system, system);
      expect_others_as_before(x, good, {left, bad});
    };
    Kokkos::deep_copy(Kokkos::subview(diag, left, 0), T(1e-12));
    Kokkos::deep_copy(Kokkos::subview(A.lower, left, 1), T(1));
    expect(left, Status::Reason::unstable);
    Kokkos::deep_copy(Kokkos::subview(diag, left, 0), T(6));
    Kokkos::deep_copy(Kokkos::subview(A.upper, bad, n / 2),
                      std::numeric_limits<Trikkos::Impl::Real<T>>::infinity());
    expect(bad, Status::Reason::not_finite);
  }
}
TEST(TEST_CATEGORY, thomas_solves_many_systems) {
  using Complex = Kokkos::complex<double>;
  for (const std::int64_t n : {3, 17, 40, 100, 300, 1200}) {
    if (n > 100 && Trikkos::Impl::is_host_v<TEST_EXECSPACE>) break;  // like 100 there
    thomas_solves_many<double, 1>(4098, n);
    thomas_solves_many<double, 2>(4098, n);
  }
  thomas_solves_many<double, 1>(4099, 16);
  thomas_solves_many<double, 2>(4099, 40);
  thomas_solves_many<float, 1>(4099, 70);
  thomas_solves_many<float, 2>(4099, 70);
  thomas_solves_many<Complex, 1>(4097, 60);
  thomas_solves_many<Complex, 2>(4097, 60);
}

}  // namespace Test::Interleaved
