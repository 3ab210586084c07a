// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ManySystems.hpp>
#include <string>

/// \file
/// Batches: every layout, alignment, number and size of systems, in particular those around which
/// the way to solve them changes.

namespace Test::Many {

using Trikkos::Algorithm;
using Trikkos::Options;
using Trikkos::Transpose;

template <class T>
void expect_solved(const Batch<T>& batch, const Options& options, Layout layout, Layout x_layout) {
  SCOPED_TRACE(describe(options) + ", layouts " + std::to_string(static_cast<int>(layout)) +
               " and " + std::to_string(static_cast<int>(x_layout)) + ", " +
               std::to_string(batch.count()) + " systems of " + std::to_string(batch.n()));
  const DeviceBatch<T> device(batch, layout, x_layout);
  const auto status = Trikkos::solve(TEST_EXECSPACE(), device.A, device.b, device.x, options);
  EXPECT_TRUE(status.ok()) << status.why();
  for (std::int64_t k = 0; k < batch.count(); ++k)
    EXPECT_LE(eta_of(batch, k, device.solution(k), options.transpose()), scaled<T>(1e-14))
        << "system " << k;
}

/// Around the rows of a partition, of a team of threads and of its scratch on a device, and of a
/// tile on a host.
constexpr std::int64_t sizes[] = {1,   2,   3,   4,   5,   15,  16,   17,   18,  27,  28,
                                  33,  34,  35,  54,  55,  67,  68,   69,   70,  100, 109,
                                  135, 136, 137, 272, 543, 544, 1087, 1088, 1089};

TEST(TEST_CATEGORY, batch_sizes) {
  for (const std::int64_t n : sizes)
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t count : {1, 3, 33})
        for (const Layout layout : {Layout::left, Layout::right})
          expect_solved(make_batch<double>(Gallery::uniform, count, n, boundary), Options{}, layout,
                        layout);
  for (const std::int64_t n :
       {2176, 3200, 3201})  // that a device still solves on chip, or not any more
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      expect_solved(make_batch<double>(Gallery::uniform, 3, n, boundary), Options{}, Layout::right,
                    Layout::right);
  // few long ones, and as many as a host's threads do not share
  for (const std::int64_t count : {9, 70})
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      expect_solved(make_batch<double>(Gallery::uniform, count, 4096, boundary), Options{},
                    Layout::left, Layout::right);
}

TEST(TEST_CATEGORY, batch_counts) {
  for (const std::int64_t n : {4, 5, 64, 101, 128, 200, 256})
    for (const std::int64_t count : {2, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 129, 600})
      for (const Layout layout : {Layout::left, Layout::right, Layout::odd_left})
        expect_solved(make_batch<double>(Gallery::uniform, count, n), Options{}, layout, layout);
}

constexpr bool on_host = Trikkos::Impl::is_host_v<TEST_EXECSPACE>;

/// As many as are tried without pivoting where they look dominant: every second one does, some of
/// these in rows of any size, or with a row that must not be a pivot row. Each has the bits that it
/// has among others, and x may be b.
void expect_watched(std::int64_t n, Layout layout) {
  const TEST_EXECSPACE exec;
  const std::int64_t least = layout == Layout::left && n > 200 ? (1 << 21) / n + 3 : 4099;
  const std::int64_t count = on_host ? 150 : least;
  auto batch = make_batch<double>(Gallery::uniform_dominant, count, n);
  for (std::int64_t k = 1; k < count; k += 2)
    batch.A[k] = gallery<double>(Gallery::uniform, n, 100 + k);
  for (std::int64_t k = 4; k < count; k += 12)
    for (std::int64_t i = 0; i < n; ++i) {
      const double scale = std::ldexp(1., static_cast<int>((19 * i) % 2045 - 1022));
      for (int j = -1; j <= 1; ++j) batch.A[k].band(j)[i] *= scale;
      batch.b[k][i] *= scale;
    }
  for (std::int64_t k = 8; k < count; k += 12) batch.A[k].diag[k % n] = 1e-9;
  const DeviceBatch<double> d(batch, layout), again(batch, layout);
  const auto status = Trikkos::solve(exec, d.A, d.b, d.x);
  EXPECT_TRUE(status.ok()) << status.why();
  EXPECT_TRUE(Trikkos::solve(exec, again.A, again.b, again.b).ok());
  ::Test::copy(again.x, again.b);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto x = d.solution(k);
    ASSERT_LE(eta_of(batch, k, x, Transpose::none), 1e-14) << "system " << k;
    ASSERT_EQ(again.solution(k), x) << "system " << k;
  }
  for (const std::int64_t bad : {13, 14}) {
    auto spoilt = batch;
    spoilt.A[bad].lower[n / 2] = spoilt.A[bad].diag[n / 2] = spoilt.A[bad].upper[n / 2] = 0;
    for (std::int64_t k = 1; k < count; k += 2)
      if (k != bad) spoilt.A[k] = batch.A[k - 1];  // and other neighbours
    const DeviceBatch<double> one_bad(spoilt, layout);
    const auto of_bad = Trikkos::solve(exec, one_bad.A, one_bad.b, one_bad.x);
    EXPECT_EQ(of_bad.reason, Trikkos::Status::Reason::singular) << of_bad.why();
    EXPECT_EQ(of_bad.system, bad);
    EXPECT_EQ(of_bad.row, n / 2);
    for (std::int64_t k = 0; k < count; k += 2)
      if (k != bad) {
        ASSERT_EQ(one_bad.solution(k), d.solution(k)) << "system " << k;
      }
  }
}
TEST(TEST_CATEGORY, batch_many_of_which_some_look_dominant) {
  for (const std::int64_t n : {32, 129, 256, 520})
    for (const Layout layout : {Layout::right, Layout::left}) {
      if (on_host && n > 256) continue;  // nothing new there
      SCOPED_TRACE(std::to_string(n) + " rows, layout " + std::to_string(static_cast<int>(layout)));
      expect_watched(n, layout);
    }
}

/// On a device more than threads sweep at a time: every fifth system has a pivot below its
/// neighbours, which is still safe, one is singular.
TEST(TEST_CATEGORY, batch_thousands_by_thomas) {
  constexpr std::int64_t n = 19, at_once = on_host ? 0 : 16384, count = at_once + 100,
                         bad = at_once + 6;
  auto batch = make_batch<double>(Gallery::uniform_dominant, count, n);
  for (std::int64_t k = 0; k < count; k += 5)
    batch.A[k].upper[0] = 3 * batch.A[k].diag[0], batch.A[k].lower[1] = 0;
  const auto options = Options{}.algorithm(Algorithm::thomas);
  for (const Layout layout : {Layout::left, Layout::right}) {
    expect_solved(batch, options, layout, layout);
    auto spoilt = batch;
    spoilt.A[bad].lower[n / 2] = spoilt.A[bad].diag[n / 2] = 0;
    const DeviceBatch<double> device(spoilt, layout);
    const auto status = Trikkos::solve(TEST_EXECSPACE(), device.A, device.b, device.x, options);
    EXPECT_EQ(status.reason, Trikkos::Status::Reason::unstable) << status.why();
    EXPECT_EQ(status.system, bad);
    for (const std::int64_t k : {std::int64_t(0), bad - 1, bad + 1, count - 1})
      EXPECT_LE(eta_of(batch, k, device.solution(k), Transpose::none), 1e-14) << k;
  }
}

template <class T>
void solves_in_every_layout() {
  for (const std::int64_t n : {7, 64, 65, 128, 200, 300}) {
    const auto batch = make_batch<T>(Gallery::uniform, 34, n);
    for (const Layout layout : layouts)
      for (const Layout x_layout : layouts) expect_solved(batch, Options{}, layout, x_layout);
  }
}
TEST(TEST_CATEGORY, batch_layouts_double) { solves_in_every_layout<double>(); }
TEST(TEST_CATEGORY, batch_layouts_float) { solves_in_every_layout<float>(); }
TEST(TEST_CATEGORY, batch_layouts_complex) {
  solves_in_every_layout<Kokkos::complex<double>>();
  solves_in_every_layout<Kokkos::complex<float>>();
}

template <class T>
void solves_with_options() {
  for (const auto boundary : {Boundary::open, Boundary::periodic}) {
    const auto batch = make_batch<T>(Gallery::uniform, 20, 130, boundary);
    for (const Layout layout : {Layout::left, Layout::right, Layout::odd_right}) {
      for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
        expect_solved(batch, Options{}.transpose(op), layout, layout);
      for (const std::int64_t rows : {2, 3, 5, 8, 16, 17, 18, 64, 200})
        expect_solved(batch, Options{}.partition_size(rows), layout, layout);
      expect_solved(batch, Options{}.scaling(Trikkos::Scaling::columns), layout, layout);
      expect_solved(batch, Options{}.refine(1), layout, layout);
    }
  }
}
TEST(TEST_CATEGORY, batch_options) {
  solves_with_options<double>();
  solves_with_options<Kokkos::complex<float>>();
}

/// Solutions in the place of right-hand sides.
TEST(TEST_CATEGORY, batch_in_place) {
  for (const std::int64_t n : {3, 64, 100, 2000})
    for (const Layout layout : layouts) {
      const auto batch = make_batch<double>(Gallery::uniform, 21, n);
      const DeviceBatch<double> expected(batch, layout), device(batch, layout);
      EXPECT_TRUE(Trikkos::solve(TEST_EXECSPACE(), expected.A, expected.b, expected.x).ok());
      EXPECT_TRUE(Trikkos::solve(TEST_EXECSPACE(), device.A, device.b, device.b).ok());
      for (std::int64_t k = 0; k < batch.count(); ++k)
        EXPECT_EQ(Reference::to_host(row_of(device.b, k)), expected.solution(k));
    }
}

/// Entries are numbers, and a pivot of one system is none: whoever says nothing has solved that all
/// the same.
TEST(TEST_CATEGORY, batch_flags_pivots_that_overflow) {
  const TEST_EXECSPACE exec;
  std::vector<Options> all;
  for (const Algorithm algorithm : Trikkos::algorithms)
    all.push_back(Options{}.algorithm(algorithm));
  all.push_back(Options{}.thomas({Trikkos::Corners::sherman_morrison}));
  for (const std::int64_t n : {3, 66, 133, 3000})
    for (const std::int64_t count : {1, 40})
      for (const auto boundary : {Boundary::open, Boundary::periodic})
        for (const std::int64_t row : {std::int64_t(1), n / 2, n - 1}) {
          auto batch = make_batch<double>(Gallery::uniform_dominant, count, n, boundary);
          auto& A = batch.A.back();
          A.lower[row - 1] = 0;
          A.diag[row - 1] = A.lower[row] = batch.b.back()[row] = 1e308;
          A.upper[row - 1] = -1e308;
          A.diag[row] = 1.7e308;
          A.upper[row] = 1;
          for (const Options& options : all)
            for (const Layout layout : {Layout::left, Layout::right}) {
              const bool is_factored = options.algorithm() == Algorithm::factored;
              if (is_factored && count > 1) continue;  // one matrix only, and by a Plan
              SCOPED_TRACE(describe(options) + ", layout " +
                           std::to_string(static_cast<int>(layout)) + ", " + std::to_string(count) +
                           " systems of " + std::to_string(n) + ", " + name(boundary) + ", row " +
                           std::to_string(row));
              const DeviceBatch<double> device(batch, layout);
              const auto expect_right_or_flagged = [&](const Trikkos::Status& status) {
                for (std::int64_t k = 0; k < count; ++k) {
                  const double eta = eta_of(batch, k, device.solution(k), options.transpose());
                  const bool is_flagged = k == count - 1 && !status.ok();
                  EXPECT_TRUE(is_flagged || eta <= 1e-12) << "system " << k << ": " << eta;
                }
              };
              if (!is_factored)
                expect_right_or_flagged(
                    Trikkos::solve(exec, device.A, device.b, device.x, options));
              const Trikkos::Plan plan(exec, device.A, options);
              Trikkos::solve(exec, plan, device.b, device.x);
              expect_right_or_flagged(plan.status(exec));
            }
        }
}

}  // namespace Test::Many
