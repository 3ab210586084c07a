// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ManySystems.hpp>
#include <Message.hpp>
#include <cstring>
#include <string>
#include <vector>

/// \file
/// Many systems in one call: each is solved, alike however they are laid out, and a bad one is
/// named and spoils only itself.

namespace Test::Many {

using Trikkos::Algorithm;
using Trikkos::Options;
using Trikkos::Transpose;
using Reason = Trikkos::Status::Reason;

template <class T>
bool same(const std::vector<T>& x, const std::vector<T>& y) {
  if (x.empty() || y.empty()) return x.size() == y.size();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), sizeof(T) * x.size()) == 0;
}

/// Each system is solved as well as alone; Workspace, Plan and one call, and all layouts, give the
/// same bits; but a Plan of one matrix has factors where the algorithm has use for them.
template <class T>
void expect_solved_alike(const Batch<T>& batch, const Options& options) {
  const TEST_EXECSPACE exec;
  std::vector<std::vector<T>> first;
  for (const Layout layout : {Layout::left, Layout::right, Layout::strided}) {
    const DeviceBatch<T> device(batch, layout);
    const auto expect_solved = [&](const char* how, const Trikkos::Status& status,
                                   bool has_factors = false) {
      SCOPED_TRACE(std::string(how) + ", " + describe(options) + ", layout " +
                   std::to_string(static_cast<int>(layout)) + ", " + std::to_string(batch.count()) +
                   " systems of " + std::to_string(batch.n()));
      EXPECT_TRUE(status.ok()) << status.why();
      for (std::int64_t k = 0; k < batch.count(); ++k) {
        const auto x = device.solution(k);
        if (k == std::int64_t(first.size())) {
          first.push_back(x);
          EXPECT_LE(eta_of(batch, k, x, options.transpose()), scaled<T>(1e-14)) << "system " << k;
        }
        if (has_factors)
          EXPECT_LE(eta_of(batch, k, x, options.transpose()), scaled<T>(1e-14)) << "system " << k;
        else
          EXPECT_TRUE(same(x, first[k])) << "system " << k;
      }
      ::Test::fill(device.x, T(0));
    };
    expect_solved("once", Trikkos::solve(exec, device.A, device.b, device.x, options));
    const Trikkos::Plan plan(exec, device.A, options);
    Trikkos::solve(exec, plan, device.b, device.x);
    expect_solved("plan", plan.status(exec),
                  batch.count() == 1 && options.algorithm() == Algorithm::thomas);
  }
}

constexpr Algorithm methods[] = {Algorithm::segmented, Algorithm::spike, Algorithm::pcr,
                                 Algorithm::thomas};

TEST(TEST_CATEGORY, systems_are_solved_alike) {
  for (const Algorithm algorithm : methods)
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {1, 2, 3, 17, 1100})
        for (const std::int64_t count : {1, 2, 37})
          expect_solved_alike(make_batch<double>(Gallery::uniform_dominant, count, n, boundary),
                              Options{}.algorithm(algorithm));
}

TEST(TEST_CATEGORY, systems_of_every_scalar_and_option) {
  for (const Algorithm algorithm : methods) {
    const auto options = Options{}.algorithm(algorithm);
    const auto batch = make_batch<double>(Gallery::uniform_dominant, 5, 300, Boundary::periodic);
    for (const auto& o :
         {Options(options).transpose(Transpose::transpose),
          Options(options).scaling(Trikkos::Scaling::columns), Options(options).verify(1e-10),
          Options(options).refine(1).scaling(Trikkos::Scaling::columns)}) {
      expect_solved_alike(batch, o);
    }
    expect_solved_alike(make_batch<float>(Gallery::uniform_dominant, 5, 300), options);
    expect_solved_alike(make_batch<Kokkos::complex<double>>(Gallery::uniform_dominant, 5, 300),
                        Options(options).transpose(Transpose::conjugate_transpose));
  }
}

/// More systems than are in flight at a time, each with a matrix of its own.
TEST(TEST_CATEGORY, systems_in_several_blocks) {
  for (const auto scaling : {Trikkos::Scaling::rows, Trikkos::Scaling::columns}) {
    const auto options = Options{}.algorithm(Algorithm::segmented).scaling(scaling);
    expect_solved_alike(make_batch<double>(Gallery::uniform_dominant, 13, 5000), options);
    expect_solved_alike(make_batch<double>(Gallery::uniform_dominant, 300, 7), options);
  }
}

/// Long ones of one matrix, whose rows a device reads once for several right-hand sides: the bits
/// of each alone.
template <class T>
void expect_the_bits_of_one(std::int64_t n, int count, Boundary boundary) {
  SCOPED_TRACE(std::to_string(count) + " right-hand sides of " + std::to_string(n));
  const TEST_EXECSPACE exec;
  const auto A = Trikkos::gallery<T>(exec, Gallery::uniform, n, 3, boundary);
  const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  const Kokkos::View<T*, TEST_EXECSPACE> alone("alone", n);
  const auto row = [](const auto& v, int k) { return Kokkos::subview(v, k, Kokkos::ALL); };
  for (int k = 0; k < count; ++k) ::Test::copy(row(b, k), Trikkos::gallery_rhs<T>(exec, n, k + 1));
  const auto options = Options{}.algorithm(Algorithm::segmented);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, x, options).ok());
  for (int k = 0; k < count; ++k) {
    EXPECT_TRUE(Trikkos::solve(exec, A, row(b, k), alone, options).ok());
    EXPECT_TRUE(same(Reference::to_host(alone), Reference::to_host(row(x, k)))) << k;
  }
}
TEST(TEST_CATEGORY, systems_of_one_matrix_have_the_bits_of_one) {
  for (const auto boundary : {Boundary::open, Boundary::periodic})
    for (const int count : {2, 19}) {
      expect_the_bits_of_one<double>(9000, count, boundary);
      expect_the_bits_of_one<double>(100003, count, boundary);
    }
  expect_the_bits_of_one<float>(20011, 3, Boundary::open);
  expect_the_bits_of_one<Kokkos::complex<double>>(20011, 3, Boundary::open);
}

// ---- bad systems

TEST(TEST_CATEGORY, systems_name_the_bad_one_and_spare_the_others) {
  const TEST_EXECSPACE exec;
  for (const Algorithm algorithm : methods) {
    for (const std::int64_t n : {40, 2500}) {
      const auto good = make_batch<double>(Gallery::uniform_dominant, 9, n);
      const DeviceBatch<double> expected(good, Layout::right);
      const auto options = Options{}.algorithm(algorithm);
      EXPECT_TRUE(Trikkos::solve(exec, expected.A, expected.b, expected.x, options).ok());
      const auto spoil = [&](const std::vector<std::int64_t>& bad, Reason reason) {
        SCOPED_TRACE(describe(options) + ", n " + std::to_string(n));
        auto batch = good;
        const std::int64_t row = n / 3;
        for (const std::int64_t k : bad) {
          if (reason == Reason::not_finite)
            batch.b[k][row] = std::numeric_limits<double>::quiet_NaN();
          else
            batch.A[k].lower[row] = batch.A[k].diag[row] = batch.A[k].upper[row] = 0;
        }
        const DeviceBatch<double> device(batch, Layout::left);
        const auto status = Trikkos::solve(exec, device.A, device.b, device.x, options);
        EXPECT_FALSE(status.ok());
        EXPECT_EQ(status.system, bad.front()) << status.why();
        EXPECT_EQ(status.row, row) << status.why();
        if (reason == Reason::not_finite || algorithm == Algorithm::segmented) {
          EXPECT_EQ(status.reason, reason) << status.why();
        }
        EXPECT_NE(status.why().find("system " + std::to_string(bad.front()) + ", row "),
                  std::string::npos)
            << status.why();
        for (std::int64_t k = 0; k < batch.count(); ++k) {
          if (std::find(bad.begin(), bad.end(), k) == bad.end()) {
            EXPECT_TRUE(same(device.solution(k), expected.solution(k))) << "system " << k;
          }
        }
      };
      for (const Reason reason : {Reason::not_finite, Reason::singular}) {
        spoil({0}, reason);
        spoil({4}, reason);
        spoil({5, 8}, reason);
      }
    }
  }
}

TEST(TEST_CATEGORY, systems_name_the_bad_right_hand_side_of_one_matrix) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = 500, count = 6;
  const auto A = Trikkos::gallery<double>(exec, Gallery::uniform, n, 1);
  const Array<double> b = make_array<double>(Layout::right, count, n), x = b;
  for (std::int64_t k = 0; k < count; ++k) {
    auto values = random_rhs(n, k);
    if (k >= 2) values[7 * k] = std::numeric_limits<double>::infinity();
    ::Test::copy(row_of(b, k), Reference::to_device(exec, values));
  }
  const auto status = Trikkos::solve(exec, A, b, x);
  EXPECT_EQ(status.reason, Reason::not_finite);
  EXPECT_EQ(status.system, 2);
  EXPECT_EQ(status.row, 14);
  EXPECT_EQ(Trikkos::solve(exec, A, row_of(b, 3), row_of(x, 3)).system, -1);
}

/// `verify` and `refine` name the system that they do not trust: with b = 0 x is exact, else not.
TEST(TEST_CATEGORY, systems_name_the_inaccurate_one) {
  const TEST_EXECSPACE exec;
  auto batch = make_batch<double>(Gallery::uniform_dominant, 5, 64);
  for (const std::int64_t k : {0, 1, 2, 4}) batch.b[k].assign(64, 0);
  const DeviceBatch<double> device(batch, Layout::right);
  for (const Algorithm algorithm : methods)
    for (const int steps : {0, 1}) {
      const auto options = Options{}.algorithm(algorithm).refine(steps);
      EXPECT_TRUE(Trikkos::solve(exec, device.A, device.b, device.x, options).ok());
      const auto status =
          Trikkos::solve(exec, device.A, device.b, device.x, Options(options).verify(1e-30));
      EXPECT_EQ(status.reason, Reason::inaccurate) << status.why();
      EXPECT_EQ(status.system, 3) << status.why();
      EXPECT_GT(status.backward_error, 1e-30);
      EXPECT_TRUE(status.why().ends_with(" (system 3)")) << status.why();
    }
}

// ---- shapes

TEST(TEST_CATEGORY, systems_of_wrong_shapes_are_refused) {
  const TEST_EXECSPACE exec;
  const auto array = [](std::int64_t count, std::int64_t n) {
    return make_array<double>(Layout::right, count, n);
  };
  const Array<double> a = array(4, 8), x = array(4, 8);
  const Trikkos::Tridiagonal A{a, a, a};
  const auto solve = [&](const auto& M, const auto& b, const auto& s) {
    return message([&] { static_cast<void>(Trikkos::solve(exec, M, b, s)); });
  };
  EXPECT_EQ(solve(A, array(3, 8), x),
            "Trikkos::solve: b has 3 systems, expected 4 (diag.extent(0))");
  EXPECT_EQ(solve(A, array(4, 7), x), "Trikkos::solve: b has 7 rows, expected 8 (diag.extent(1))");
  EXPECT_EQ(solve(A, a, array(5, 8)), "Trikkos::solve: x has 5 systems, expected 4 (b.extent(0))");
  EXPECT_EQ(solve(A, a, array(4, 9)), "Trikkos::solve: x has 9 rows, expected 8 (b.extent(1))");
  EXPECT_EQ(solve(Trikkos::Tridiagonal{array(2, 8), a, a}, a, x),
            "Trikkos::solve: lower has 2 systems, expected 4 (diag.extent(0))");
  EXPECT_EQ(solve(Trikkos::Tridiagonal{a, a, array(4, 6)}, a, x),
            "Trikkos::solve: upper has 6 rows, expected 8 (diag.extent(1))");
  EXPECT_EQ(solve(A, array(8, 3), array(8, 3)),
            "Trikkos::solve: b has 3 rows, expected 8 (diag.extent(1); pass an (n, nrhs) array as "
            "Trikkos::columns(b))");

  const Trikkos::Plan plan(exec, A);
  EXPECT_EQ(message([&] { Trikkos::solve(exec, plan, array(5, 8), array(5, 8)); }),
            "Trikkos::solve: b has 5 systems, expected 4 (the plan)");
  EXPECT_EQ(message([&] {
              plan.update(exec, Trikkos::Tridiagonal{array(3, 8), array(3, 8), array(3, 8)});
            }),
            "Trikkos::Plan::update: A has 3 systems, expected 4 (the plan's A)");

  // One matrix was announced, of which columns are copied: there is no memory for more.
  const Kokkos::View<double*, TEST_EXECSPACE> v("v", 8);
  const Trikkos::Workspace one(exec, Trikkos::Tridiagonal{v, v, v}, x,
                               Options{}.scaling(Trikkos::Scaling::columns));
  EXPECT_EQ(message([&] { Trikkos::solve(exec, one, A, a, x); }),
            "Trikkos::solve: A has 4 systems, expected at most 1 (the workspace, "
            "Scaling::columns)");
}

TEST(TEST_CATEGORY, systems_of_no_extent_are_no_work) {
  const TEST_EXECSPACE exec;
  for (const auto& [count, n] : {std::pair(0, 5), std::pair(5, 0), std::pair(0, 0)}) {
    const Array<double> a = make_array<double>(Layout::right, count, n);
    const Trikkos::Tridiagonal A{a, a, a};
    for (const Algorithm algorithm : methods) {
      const auto options = Options{}.algorithm(algorithm);
      EXPECT_TRUE(Trikkos::solve(exec, A, a, a, options).ok());
      const Trikkos::Plan plan(exec, A, options);
      Trikkos::solve(exec, plan, a, a);
      EXPECT_TRUE(plan.status(exec).ok());
    }
    EXPECT_EQ(Trikkos::backward_error(exec, A, a, a), 0);
  }
}

// ---- memory of the user's

TEST(TEST_CATEGORY, systems_are_solved_in_memory_that_is_given) {
  using Work = Trikkos::Workspace<double, TEST_EXECSPACE>;
  const TEST_EXECSPACE exec;
  const auto batch = make_batch<double>(Gallery::uniform, 6, 700);
  for (const auto& options : {Options{}, Options{}.refine(1).scaling(Trikkos::Scaling::columns)}) {
    const DeviceBatch<double> device(batch, Layout::right), expected(batch, Layout::right);
    const std::size_t bytes = Work::required_bytes(700, 6, options);
    const Work::memory_type memory("memory", bytes);
    const Work work(exec, memory, 700, 6, options);
    EXPECT_EQ(work.bytes(), bytes);
    Trikkos::solve(exec, work, device.A, device.b, device.x);
    EXPECT_TRUE(work.status(exec).ok());
    EXPECT_TRUE(Trikkos::solve(exec, expected.A, expected.b, expected.x, options).ok());
    for (std::int64_t k = 0; k < 6; ++k)
      EXPECT_TRUE(same(device.solution(k), expected.solution(k)));
    const Work::memory_type less("less", bytes - 1);
    EXPECT_EQ(message([&] { Work(exec, less, 700, 6, options); }),
              "Trikkos::Workspace: memory has " + std::to_string(bytes - 1) + " bytes, expected " +
                  std::to_string(bytes) + " (required_bytes)");
  }
}

// ---- what other libraries have

TEST(TEST_CATEGORY, systems_as_columns) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = 50, count = 3;
  const auto A = gallery(Gallery::uniform, n, 3);
  const auto device_A = Reference::to_device(exec, A);
  const Kokkos::View<double**, Kokkos::LayoutLeft, TEST_EXECSPACE> left("left", n, count);
  const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> right("right", n, count);
  const auto expect_columns = [&](const auto& b) {
    for (std::int64_t k = 0; k < count; ++k)
      ::Test::copy(Kokkos::subview(b, Kokkos::ALL, k),
                   Reference::to_device(exec, random_rhs(n, k)));
    const auto x = Trikkos::columns(b);
    EXPECT_EQ(x.extent(0), std::size_t(count));
    EXPECT_TRUE(Trikkos::solve(exec, device_A, x, x).ok());
    for (std::int64_t k = 0; k < count; ++k) {
      const auto of_k = Reference::to_host(Kokkos::subview(b, Kokkos::ALL, k));
      EXPECT_LE(Reference::backward_error(A, of_k, random_rhs(n, k)), 1e-14);
    }
  };
  expect_columns(left);
  expect_columns(right);
}

TEST(TEST_CATEGORY, systems_of_bands_that_differ_in_layout_and_constness) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {0, 1, 2, 3, 1000}) {
    const auto A = gallery(Gallery::uniform, n, 5);
    const auto b = random_rhs(n, 6);
    const auto device = Reference::to_device(exec, A);
    const Kokkos::View<const double*, TEST_EXECSPACE> lower = device.lower;
    const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> wide("wide", n, 3);
    const auto upper = Kokkos::subview(wide, Kokkos::ALL, 1);
    ::Test::copy(upper, device.upper);
    const Kokkos::View<double*, TEST_EXECSPACE> x("x", n);
    const Trikkos::Tridiagonal mixed{lower, device.diag, upper};
    EXPECT_TRUE(Trikkos::solve(exec, mixed, Reference::to_device(exec, b), x).ok());
    EXPECT_TRUE(same(Reference::to_host(x), solve(A, b, Options{}).x));
  }
}

/// n-1 entries exactly, in memory that a sanitizer watches.
TEST(TEST_CATEGORY, systems_of_lapack_bands) {
  const TEST_EXECSPACE exec;
  using Vector = Kokkos::View<double*, TEST_EXECSPACE>;
  for (const std::int64_t n : {0, 1, 2, 3, 100, 5000}) {
    auto A = gallery(Gallery::uniform, n, 5);
    const auto b = random_rhs(n, 6);
    const auto inner = [&](const std::vector<double>& v, std::int64_t first) {
      return n == 0 ? std::vector<double>{}
                    : std::vector<double>(v.begin() + first, v.begin() + first + n - 1);
    };
    const Vector dl = Reference::to_device(exec, inner(A.lower, 1)),
                 d = Reference::to_device(exec, A.diag),
                 du = Reference::to_device(exec, inner(A.upper, 0)), x("x", n);
    for (const auto op : {Transpose::none, Transpose::transpose}) {
      const auto options = Options{}.transpose(op);
      EXPECT_TRUE(Trikkos::solve(exec, Trikkos::lapack_bands(dl, d, du),
                                 Reference::to_device(exec, b), x, options)
                      .ok());
      EXPECT_TRUE(same(Reference::to_host(x), solve(A, b, options).x)) << n;
    }
    EXPECT_EQ(message([&] { Trikkos::lapack_bands(Vector("dl", n + 3), d, du); }),
              "Trikkos::lapack_bands: dl has " + std::to_string(n + 3) + " entries, expected " +
                  std::to_string(n > 0 ? n - 1 : 0) + " (d.extent(0) - 1)");
  }
}

}  // namespace Test::Many
