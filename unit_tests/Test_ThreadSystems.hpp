// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Pentadiagonals.hpp>
#include <cstring>
#include <limits>

/// \file
/// So many systems that a device gives each thread a system, or half or a partition of one. A few
/// differ, and are repeated: the error of these is measured, and all that are alike must get
/// the same bits, wherever they lie.

namespace Test::ByThreads {

using Reference::HostMatrix;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Transpose;

constexpr std::int64_t different = 61;  // a prime: no tile of systems starts as another one

/// Enough for a device's threads, even if partitions are few, and not a multiple of a warp. Of five
/// diagonals a thread has all partitions of a system.
template <int W = 1>
std::int64_t enough(std::int64_t n) {
  if (Trikkos::Impl::is_host_v<TEST_EXECSPACE>) return different + 12;
  const std::int64_t partitions = W > 1 || n <= 64 ? 1 : n / 70 + 1;
  return (1 << 14) / partitions + 13;
}

constexpr Gallery galleries[] = {Gallery::uniform, Gallery::toeplitz_64,
                                 Gallery::zero_diagonal_toeplitz};

template <class T, int W>
struct Host {
  std::vector<HostMatrix<T, W>> A;
  std::vector<std::vector<T>> b;

  Host(std::int64_t n, Boundary boundary) {
    // the last one is singular if n is odd, or on a ring, and in float if n is large
    const int types = n % 2 == 0 && boundary == Boundary::open && sizeof(T) > 4 ? 3 : 2;
    for (std::int64_t k = 0; k < different; ++k) {
      if constexpr (W == 1)
        A.push_back(gallery<T>(galleries[k % types], n, 100 + k, boundary));
      else
        A.push_back(
            Five::make<T>(Five::families[k % std::size(Five::families)], n, 100 + k, boundary));
      b.push_back(random_rhs<T>(n, 200 + k));
    }
  }
  std::int64_t n() const { return A.front().size(); }
  double eta(std::int64_t k, const std::vector<T>& x, Transpose op) const {
    using Five::fast_backward_error;
    using ::Test::fast_backward_error;
    if (op == Transpose::none) return fast_backward_error(A[k], x, b[k]);
    return fast_backward_error(Reference::transpose(A[k], op == Transpose::conjugate_transpose), x,
                               b[k]);
  }
};

template <class T>
using Array = Many::Array<T>;

/// values(k) of system k % different, for `count` systems.
template <class T, class Values>
Array<T> repeated(Many::Layout layout, std::int64_t count, std::int64_t n, const Values& values) {
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> host("host", count, n);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < n; ++i) host(k, i) = values(k % different)[i];
  const Array<T> r = Many::make_array<T>(layout, count, n);
  ::Test::copy(r, host);
  return r;
}
template <class T, int W>
auto matrices(const Host<T, W>& host, std::int64_t count, Many::Layout layout) {
  const auto boundary = host.A.front().periodic ? Boundary::periodic : Boundary::open;
  return Many::matrix<W>(boundary, [&](int j) {
    return repeated<T>(layout, count, host.n(),
                       [&](std::int64_t k) -> const std::vector<T>& { return host.A[k].band(j); });
  });
}
template <class T, int W>
Array<T> right_hand_sides(const Host<T, W>& host, std::int64_t count, Many::Layout layout) {
  return repeated<T>(layout, count, host.n(),
                     [&](std::int64_t k) -> const std::vector<T>& { return host.b[k]; });
}
template <class T>
auto on_host(const Array<T>& x) {
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> host("host", x.extent(0),
                                                                       x.extent(1));
  ::Test::copy(host, x);
  return host;
}
template <class T>
std::vector<T> row(const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>& x,
                   std::int64_t k) {
  return {&x(k, 0), &x(k, 0) + x.extent(1)};
}

template <class T, int W>
void expect_solved(const Host<T, W>& host, const Array<T>& x, Transpose op = Transpose::none) {
  const auto found = on_host<T>(x);
  const std::int64_t n = host.n(), count = x.extent(0);
  for (std::int64_t k = 0; k < std::min(different, count); ++k)
    EXPECT_LE(host.eta(k, row<T>(found, k), op), scaled<T>(1e-14)) << "system " << k;
  for (std::int64_t k = different; k < count; ++k)
    ASSERT_EQ(std::memcmp(&found(k, 0), &found(k % different, 0), sizeof(T) * n), 0)
        << "system " << k;
}
template <class T, int W>
void expect_solved(std::int64_t n, Boundary boundary, const Options& options,
                   Many::Layout layout = Many::Layout::left) {
  SCOPED_TRACE(describe(options) + ", " + std::to_string(n) + " rows, " +
               std::to_string(2 * W + 1) + " diagonals" +
               (boundary == Boundary::periodic ? ", periodic" : ""));
  const Host<T, W> host(n, boundary);
  const std::int64_t count = enough<W>(n);
  const auto A = matrices(host, count, layout);
  const auto b = right_hand_sides(host, count, layout);
  const Array<T> x = Many::make_array<T>(layout, count, n);
  const auto status = Trikkos::solve(TEST_EXECSPACE(), A, b, x, options);
  EXPECT_TRUE(status.ok()) << status.why();
  expect_solved(host, x, options.transpose());
}

/// Around the rows of a system by itself, of a partition and of what is read ahead.
TEST(TEST_CATEGORY, by_threads_sizes) {
  for (const std::int64_t n :
       {1, 2, 3, 4, 9, 10, 11, 17, 18, 32, 33, 34, 63, 64, 65, 66, 67, 99, 100, 130, 331})
    expect_solved<double, 1>(n, Boundary::open, Options{});
  for (const std::int64_t n : {1, 2, 3, 10, 64, 65, 130})
    expect_solved<double, 1>(n, Boundary::periodic, Options{});
}
TEST(TEST_CATEGORY, by_threads_sizes_pentadiagonal) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 12, 13, 36, 37, 38, 39, 46, 47, 93, 200})
    expect_solved<double, 2>(n, Boundary::open, Options{});
  for (const std::int64_t n : {1, 2, 3, 5, 30, 45, 93})
    expect_solved<double, 2>(n, Boundary::periodic, Options{});
  for (const auto layout : {Many::Layout::wide_left, Many::Layout::odd_left})
    for (const std::int64_t n : {40, 130}) expect_solved<double, 2>(n, Boundary::open, {}, layout);
}
/// From both ends, in bulk and not.
TEST(TEST_CATEGORY, by_threads_sizes_pentadiagonal_contiguous) {
  for (const std::int64_t n : {7, 8, 9, 10, 11, 15, 16, 32, 33, 50, 64, 65, 66, 99, 100, 150, 300})
    expect_solved<double, 2>(n, Boundary::open, Options{}, Many::Layout::right);
  for (const auto layout : {Many::Layout::wide_right, Many::Layout::odd_right})
    for (const std::int64_t n : {20, 50, 64})
      expect_solved<double, 2>(n, Boundary::open, Options{}, layout);
  for (const std::int64_t n : {10, 64, 150}) {
    expect_solved<float, 2>(n, Boundary::open, Options{}, Many::Layout::right);
    expect_solved<Kokkos::complex<double>, 2>(n, Boundary::open,
                                              Options{}.transpose(Transpose::conjugate_transpose),
                                              Many::Layout::right);
  }
}
template <class T>
void solves_scalars() {
  for (const auto boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {5, 31, 66, 67, 130}) {
      expect_solved<T, 1>(n, boundary, Options{});
      expect_solved<T, 2>(n, boundary, Options{});
    }
}
TEST(TEST_CATEGORY, by_threads_scalars) {
  solves_scalars<float>();
  solves_scalars<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, by_threads_options) {
  for (const auto boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {40, 130}) {
      for (const std::int64_t rows : {2, 3, 5, 8, 33, 34, 200})
        expect_solved<double, 1>(n, boundary, Options{}.partition_size(rows));
      expect_solved<double, 2>(n, boundary, Options{}.partition_size(7));
      for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose}) {
        expect_solved<double, 1>(n, boundary, Options{}.transpose(op));
        expect_solved<Kokkos::complex<double>, 1>(n, boundary, Options{}.transpose(op));
        expect_solved<double, 2>(n, boundary, Options{}.transpose(op));
      }
      expect_solved<double, 1>(n, boundary, Options{}.algorithm(Trikkos::Algorithm::spike));
      expect_solved<double, 1>(n, boundary, Options{}.scaling(Trikkos::Scaling::columns));
    }
  for (const auto layout : {Many::Layout::wide_left, Many::Layout::odd_left})
    for (const std::int64_t n : {40, 130}) expect_solved<double, 1>(n, Boundary::open, {}, layout);
}

/// x = b, x in another layout than A and b, and one matrix for all: the same bits.
template <int W>
void solves_in_place(Many::Layout layout = Many::Layout::left) {
  using Many::Layout;
  const TEST_EXECSPACE exec;
  const Layout other_layout = layout == Layout::left ? Layout::right : Layout::left;
  for (const std::int64_t n : {20, 64, 150}) {
    const Host<double, W> host(n, Boundary::open);
    const std::int64_t count = enough<W>(n);
    const auto A = matrices(host, count, layout);
    const auto b = right_hand_sides(host, count, layout);
    const Array<double> x = Many::make_array<double>(layout, count, n),
                        other = Many::make_array<double>(other_layout, count, n);
    EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
    EXPECT_TRUE(Trikkos::solve(exec, A, b, other).ok());
    const Trikkos::Workspace work(exec, A, b);
    Trikkos::solve(exec, work, A, b, b);
    EXPECT_TRUE(work.status(exec).ok());
    const auto expected = Many::numbers(x);
    EXPECT_EQ(Many::numbers(other), expected);
    EXPECT_EQ(Many::numbers(b), expected);
  }
}
TEST(TEST_CATEGORY, by_threads_in_place) {
  solves_in_place<1>();
  solves_in_place<2>();
  solves_in_place<2>(Many::Layout::right);
}

/// One bad system of many is named, and the others get what they get without it.
template <int W>
void names_the_bad_system(Many::Layout layout = Many::Layout::left) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {20, 64, 150})
    for (const bool singular : {true, false}) {
      const Host<double, W> host(n, Boundary::open);
      const std::int64_t count = enough<W>(n), bad = count - 20, row = n / 2;
      const auto A = matrices(host, count, layout);
      const auto b = right_hand_sides(host, count, layout);
      const Array<double> x = Many::make_array<double>(layout, count, n),
                          y = Many::make_array<double>(layout, count, n);
      EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
      const auto put = [&](const Array<double>& to, double value) {
        ::Test::fill(
            Kokkos::subview(to, bad, Kokkos::pair<std::int64_t, std::int64_t>(row, row + 1)),
            value);
      };
      if (singular) {
        put(A.lower, 0);
        put(A.diag, 0);
        put(A.upper, 0);
        if constexpr (W > 1) {
          put(A.lower2, 0);
          put(A.upper2, 0);
        }
      } else {
        put(b, std::numeric_limits<double>::quiet_NaN());
      }
      const auto status = Trikkos::solve(exec, A, b, y);
      EXPECT_EQ(status.reason,
                singular ? Trikkos::Status::Reason::singular : Trikkos::Status::Reason::not_finite);
      EXPECT_EQ(status.system, bad);
      EXPECT_EQ(status.row, row);
      const auto expected = on_host<double>(x), found = on_host<double>(y);
      for (std::int64_t k = 0; k < count; ++k) {
        if (k == bad) continue;
        ASSERT_EQ(ByThreads::row<double>(found, k), ByThreads::row<double>(expected, k));
      }
    }
}
TEST(TEST_CATEGORY, by_threads_bad_system) {
  names_the_bad_system<1>();
  names_the_bad_system<2>();
  names_the_bad_system<2>(Many::Layout::right);
}

/// Pivots whose squares are below the number range: what solves all others leaves these systems to
/// another way, every third one, in place.
TEST(TEST_CATEGORY, by_threads_tiny_pivots) {
  const TEST_EXECSPACE exec;
  for (const auto layout : {Many::Layout::left, Many::Layout::right})
    for (const std::int64_t n : {41, 64, 150}) {
      Host<double, 2> host(n, Boundary::open);
      for (std::int64_t k = 0; k < different; k += 3) {
        auto& A = host.A[k];
        for (int j = -2; j <= 2; ++j) A.band(j).assign(n, j == 0 ? 2. : 0.);
        A.diag[n / 2] = 1e-120;
        A.upper[n / 2] = 1;
      }
      const std::int64_t count = enough<2>(n);
      const auto A = matrices(host, count, layout);
      const auto x = right_hand_sides(host, count, layout);
      const auto status = Trikkos::solve(exec, A, x, x);
      EXPECT_TRUE(status.ok()) << status.why();
      expect_solved(host, x);
    }
}

/// Slabs of systems that are not equally far apart: the middle axis of an array.
TEST(TEST_CATEGORY, by_threads_slabs) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {40, 150}) {
    const Host<double, 1> host(n, Boundary::open);
    const std::int64_t inner = 75, outer = enough(n) / inner + 1;
    const auto cube = [&](const auto& values) {
      using Cube = Kokkos::View<double***, Kokkos::LayoutRight, TEST_EXECSPACE>;
      const Cube all("cube", outer, n, inner);
      const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> flat("flat", outer * n,
                                                                                inner);
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t k = 0; k < inner; ++k)
            flat(o * n + i, k) = values((o * inner + k) % different)[i];
      ::Test::copy(
          Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE, Kokkos::MemoryUnmanaged>(
              all.data(), outer * n, inner),
          flat);
      return all;
    };
    const auto band = [&](int j) {
      return cube([&](std::int64_t k) -> const std::vector<double>& { return host.A[k].band(j); });
    };
    const auto lower = band(-1), diag = band(0), upper = band(1);
    const auto b = cube([&](std::int64_t k) -> const std::vector<double>& { return host.b[k]; });
    const auto status =
        Trikkos::solve(exec,
                       Trikkos::Tridiagonal{Trikkos::along(lower, 1), Trikkos::along(diag, 1),
                                            Trikkos::along(upper, 1)},
                       Trikkos::along(b, 1), Trikkos::along(b, 1));
    EXPECT_TRUE(status.ok()) << status.why();
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> flat("flat", outer * n,
                                                                              inner);
    ::Test::copy(
        flat, Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE, Kokkos::MemoryUnmanaged>(
                  b.data(), outer * n, inner));
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = 0; k < inner; ++k) {
        std::vector<double> x(n);
        for (std::int64_t i = 0; i < n; ++i) x[i] = flat(o * n + i, k);
        const std::int64_t s = (o * inner + k) % different;
        ASSERT_LE(fast_backward_error(host.A[s], x, host.b[s]), 1e-14)
            << "system " << o << ", " << k;
      }
  }
}

}  // namespace Test::ByThreads
