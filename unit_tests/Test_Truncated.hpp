// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Trikkos_Toeplitz.hpp>
#include <Windows.hpp>

/// \file
/// Algorithm::truncated: one pass where windows agree, else `segmented`, and never a wrong x.

namespace Test::Truncated {

/// Longer than what a device solves on chip.
constexpr std::int64_t large = 20000;

// ---- where windows agree

template <class T>
void accepts_dominant_matrices(double factor, std::int64_t n) {
  for (const bool random : {false, true}) {
    SCOPED_TRACE("factor " + std::to_string(factor) + ", n " + std::to_string(n));
    const auto A = dominant<T>(n, factor, random);
    const auto b = random_vector<T>(n);
    for (const auto& rhs : {b, Reference::multiply(A, b)}) {
      const auto r = solve(A, rhs, truncated());
      EXPECT_TRUE(r.status.ok());
      EXPECT_FALSE(r.status.fell_back);
      EXPECT_GE(r.status.disagreement, 0);
      EXPECT_LE(r.status.disagreement, 16 * unit<T>);
      EXPECT_LE(r.eta, 5 * unit<T>);  // 1e-15 in double
      EXPECT_FALSE(same_bits(r.x, solve(A, rhs, segmented()).x)) << "were there windows at all?";
    }
  }
}
TEST(TEST_CATEGORY, truncated_accepts_dominant_matrices) {
  for (const double factor : {1.4, 1.5, 2., 4., 100.})
    accepts_dominant_matrices<double>(factor, large);
  for (const double factor : {1.4, 2., 10.}) accepts_dominant_matrices<float>(factor, large);
  accepts_dominant_matrices<Kokkos::complex<double>>(2, large);
  accepts_dominant_matrices<Kokkos::complex<float>>(2, large);
  accepts_dominant_matrices<double>(2, 200003);
}

/// More of it for less dominance. A device takes the next overlap of 30, 60, 120 or 240 rows.
TEST(TEST_CATEGORY, truncated_neglects_less_with_more_overlap) {
  const auto A = dominant<double>(large, 1.1, false);
  const auto b = random_vector<double>(large);
  const double first = solve(A, b, truncated(4)).status.disagreement;
  double before = first;
  for (const std::int64_t overlap : {8, 16, 32, 48, 64}) {
    const auto r = solve(A, b, truncated(overlap));
    EXPECT_LE(r.status.disagreement, before);
    if (on_host) {
      EXPECT_LT(r.status.disagreement, before / 4);
      EXPECT_TRUE(r.status.fell_back);
    }
    EXPECT_EQ(r.status.fell_back, r.status.disagreement > 16 * unit<double>);
    before = r.status.disagreement;
  }
  EXPECT_GT(first, 16 * unit<double>);
  EXPECT_LT(first, 0.25);
  EXPECT_LT(before, 1e-5 * first);
  EXPECT_FALSE(solve(A, b, truncated(96)).status.fell_back);
  EXPECT_EQ(solve(A, b, truncated(61)).status.disagreement,
            solve(A, b, truncated(64)).status.disagreement);
}

/// A point source is felt nowhere else, so windows must not be compared by what is left of it.
TEST(TEST_CATEGORY, truncated_accepts_sources_of_any_place) {
  const auto A = dominant<double>(large, 1.5, false);
  for (const std::int64_t row : {0, 40, 999, 1000, 1048, 8000, 9995, 10000, 19999}) {
    std::vector<double> b(large, 0.);
    b[row] = 1;
    const auto r = solve(A, b, truncated());
    EXPECT_FALSE(r.status.fell_back) << row << ": " << r.status.disagreement;
    EXPECT_LE(r.eta, 1e-15) << row;
  }
  const auto zero = solve(A, std::vector<double>(large, 0.), truncated());
  EXPECT_LE(zero.status.disagreement, on_host ? 0 : 16 * unit<double>);
  EXPECT_FALSE(zero.status.fell_back);
}

// ---- every n, around every edge

template <class T>
void every_size(std::int64_t first, std::int64_t last, std::int64_t step, std::int64_t overlap) {
  for (std::int64_t n = first; n <= last; n += step) {
    SCOPED_TRACE("n " + std::to_string(n) + ", overlap " + std::to_string(overlap));
    const auto A = dominant<T>(n, overlap >= 24 ? 2 : 1e4, true);
    const auto r = solve(A, random_vector<T>(n), truncated(overlap));
    EXPECT_TRUE(r.status.ok());
    EXPECT_FALSE(r.status.fell_back);
    EXPECT_LE(r.eta, 5 * unit<T>);
  }
}
TEST(TEST_CATEGORY, truncated_solves_every_size) {
  every_size<double>(0, 460, 1, 0);
  every_size<double>(0, 90, 1, 4);
  every_size<double>(461, 2100, 11, 0);
  every_size<double>(11900, 12100, 13, 8);  // 8 lanes take 1000 rows each
  every_size<double>(700, 1400, 17, 128);
  every_size<float>(0, 500, 3, 0);
  every_size<Kokkos::complex<double>>(0, 500, 7, 0);
  every_size<Kokkos::complex<float>>(0, 500, 7, 8);
  every_size<double>(4340, 4380, 1, 0);   // that a device still solves on chip, or not any more
  every_size<double>(5030, 5110, 1, 0);   // a device's windows are of 960 rows, 840 apart
  every_size<float>(10330, 10450, 3, 0);  // 1472, 1288 apart
  every_size<double>(20000, 40000, 977, 0);
}

/// The last lanes of the last tile, all but one, have no window.
TEST(TEST_CATEGORY, truncated_fills_lanes_as_far_as_there_are_windows) {
  const TEST_EXECSPACE exec;
  constexpr int lanes = Trikkos::Impl::lane_count<double>;
  const std::int64_t tiles = 112 * (lanes - 1) + 8, n = tiles * lanes * 1000 + 97;
  const auto A = Trikkos::gallery<double>(exec, Gallery::uniform_dominant, n, 1);
  const auto b = Trikkos::gallery_rhs<double>(exec, n, 1);
  const Kokkos::View<double*, TEST_EXECSPACE> x("x", n);
  const auto status = Trikkos::solve(exec, A, b, x, truncated());
  EXPECT_TRUE(status.ok());
  EXPECT_FALSE(status.fell_back) << status.disagreement;
  EXPECT_LE(Trikkos::backward_error(exec, A, x, b), 1e-15);
}

// ---- where they do not

template <class T>
void falls_back(const HostSystem<T>& A, const Options& options = truncated()) {
  const auto b = random_vector<T>(A.size());
  for (const auto& rhs : {b, Reference::multiply(A, b)}) {
    const auto r = solve(A, rhs, options);
    EXPECT_TRUE(r.status.fell_back);
    EXPECT_GT(r.status.disagreement, 16 * unit<T>);
    auto second = options;
    const auto s = solve(A, rhs, second.truncated({}).algorithm(Algorithm::segmented));
    EXPECT_TRUE(same_bits(r.x, s.x));
    EXPECT_EQ(r.status.reason, s.status.reason);
    EXPECT_EQ(r.status.row, s.status.row);
    EXPECT_EQ(r.status.backward_error, s.status.backward_error);
  }
}
TEST(TEST_CATEGORY, truncated_falls_back_to_the_bits_of_segmented) {
  // a device has 60 rows of overlap, or 120 and 184 of float where none are asked for
  for (const double factor : {1., 1.01, 1.1})
    falls_back(dominant<double>(large, factor, false), truncated(on_host ? 0 : 48));
  for (const double factor : {1., 1.01, on_host ? 1.1 : 1.015})
    falls_back(dominant<float>(large, factor, false), truncated(on_host ? 0 : 24));
  for (const double factor : {1., 1.001, 1.01}) falls_back(dominant<double>(large, factor, false));
  for (const double factor : {1., 1.001}) falls_back(dominant<float>(large, factor, false));
  falls_back(dominant<Kokkos::complex<double>>(large, 1, false));
  falls_back(dominant<Kokkos::complex<float>>(large, 1, false));
  const auto A = dominant<double>(large, 1, false);
  for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
    falls_back(A, truncated().transpose(op));
  for (const auto scaling : {Trikkos::Scaling::columns, Trikkos::Scaling::none})
    falls_back(A, truncated().scaling(scaling));
  falls_back(A, truncated().verify(1e-15));
}

/// Bad x may come of a window, but not out of the solve.
TEST(TEST_CATEGORY, truncated_meets_the_gates_of_table_iii) {
  for (const Gallery type : Trikkos::table_iii) {
    if (Trikkos::Impl::randsvd_mode(type) != 0) continue;  // small ones only
    for (const std::int64_t overlap : {0, 4, 128}) {
      SCOPED_TRACE(std::string(Trikkos::name(type)) + ", overlap " + std::to_string(overlap));
      for (const std::int64_t n : {std::int64_t(512), large}) {
        const auto A = Reference::to_host(Trikkos::gallery<double>(TEST_EXECSPACE{}, type, n, 1));
        const auto b = random_vector<double>(n);
        for (const auto& rhs : {b, Reference::multiply(A, b)}) {
          const auto r = solve(A, rhs, truncated(overlap));
          const auto s = solve(A, rhs, segmented());
          EXPECT_EQ(r.status.ok(), s.status.ok()) << r.status.why() << ", " << s.status.why();
          EXPECT_TRUE(!r.status.ok() || r.eta <= 1e-14) << r.eta;
          EXPECT_TRUE(!r.status.fell_back || same_bits(r.x, s.x));
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, truncated_names_the_row_of_singular_matrices) {
  auto singular = dominant<double>(large, 2, true);
  singular.lower[7777] = singular.diag[7777] = singular.upper[7777] = 0;
  auto missing = dominant<double>(large, 2, true);
  missing.diag[12345] = std::numeric_limits<double>::quiet_NaN();
  for (const auto& A : {singular, missing}) {
    const auto b = random_vector<double>(large);
    const auto r = solve(A, b, truncated()), s = solve(A, b, segmented());
    EXPECT_FALSE(r.status.ok());
    EXPECT_TRUE(r.status.fell_back);
    // on a device that of a zero pivot is what rounding makes of it
    const bool infinite = on_host || std::isnan(A.diag[12345]);
    EXPECT_GE(r.status.disagreement, infinite ? std::numeric_limits<double>::infinity() : 1);
    EXPECT_EQ(r.status.reason, s.status.reason);
    EXPECT_EQ(r.status.row, s.status.row);
  }
}

/// Two rows that are nearly the same, uncoupled from all others, on every place of a seam: both
/// windows solve them, and what they find may be far apart though nothing was neglected.
TEST(TEST_CATEGORY, truncated_survives_nearly_singular_rows_on_seams) {
  for (const std::int64_t n : {445, 512, 1000, 4500}) {
    const auto b = random_vector<double>(n);
    for (std::int64_t i = 40; i < std::min<std::int64_t>(n - 2, 925); ++i) {
      if (i == 640) i = 900;  // seams of a host's windows, then that of a device's, before row 912
      auto A = dominant<double>(n, 2, true);
      A.lower[i] = A.upper[i + 1] = 0;
      A.diag[i] = 1, A.upper[i] = 0.7, A.lower[i + 1] = 0.3, A.diag[i + 1] = 0.21 * (1 + 1e-9);
      const auto r = solve(A, b, truncated());
      EXPECT_TRUE(r.status.ok());
      EXPECT_LE(r.eta, 1e-14) << "n " << n << ", row " << i;
      EXPECT_EQ(r.status.fell_back, r.status.disagreement > 16 * unit<double>);
    }
  }
}

// ---- what `segmented` solves from the start

template <class T>
struct Views {
  TEST_EXECSPACE exec;
  Trikkos::Tridiagonal<Kokkos::View<T*, TEST_EXECSPACE>> A;
  Kokkos::View<T*, TEST_EXECSPACE> b, x;

  explicit Views(std::int64_t n, Boundary boundary = Boundary::open)
      : A(Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 1, boundary)),
        b(Trikkos::gallery_rhs<T>(exec, n, 1)),
        x("x", n) {}
  std::vector<T> solve(const Options& options) const {
    const auto status = Trikkos::solve(exec, A, b, x, options);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(status.disagreement, -1);
    EXPECT_FALSE(status.fell_back);
    return Reference::to_host(x);
  }
};
TEST(TEST_CATEGORY, truncated_leaves_to_segmented_what_has_no_windows) {
  Views<double> ring(large, Boundary::periodic);
  EXPECT_TRUE(same_bits(ring.solve(truncated()), ring.solve(segmented())));
  Views<double> short_one(90);
  EXPECT_TRUE(same_bits(short_one.solve(truncated()), short_one.solve(segmented())));
  const TEST_EXECSPACE exec;
  for (const std::int64_t count : {2, 40}) {
    const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> b("b", count, large),
        x("x", count, large), y("y", count, large);
    ::Test::fill(b, 1.);
    EXPECT_EQ(Trikkos::solve(exec, ring.A, b, x, truncated()).disagreement, -1);
    EXPECT_TRUE(Trikkos::solve(exec, ring.A, b, y, segmented()).ok());
    const auto flat = [&](const auto& v) {
      return Reference::to_host(Kokkos::View<double*, TEST_EXECSPACE>(v.data(), v.size()));
    };
    EXPECT_TRUE(same_bits(flat(x), flat(y)));
  }
}
TEST(TEST_CATEGORY, truncated_in_place_is_segmented) {
  for (const double factor : {1., 2.}) {
    const TEST_EXECSPACE exec;
    const auto A = dominant<double>(large, factor, false);
    const auto b = random_vector<double>(large);
    const auto x = Reference::to_device(exec, b);
    const auto status = Trikkos::solve(exec, Reference::to_device(exec, A), x, x, truncated());
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(status.disagreement, -1);
    EXPECT_TRUE(same_bits(Reference::to_host(x), solve(A, b, segmented()).x));
  }
}

// ---- again and again

/// Neither the verdict nor the memory of one solve is left to the next, nor is an order of them.
TEST(TEST_CATEGORY, truncated_forgets_the_last_solve) {
  const TEST_EXECSPACE exec;
  const auto good = Reference::to_device(exec, dominant<double>(large, 2, true)),
             bad = Reference::to_device(exec, dominant<double>(large, 1, false));
  const auto b = Reference::to_device(exec, random_vector<double>(large));
  const Kokkos::View<double*, TEST_EXECSPACE> x("x", large);
  const Trikkos::Workspace work(exec, good, b, truncated());
  EXPECT_EQ(work.algorithm(), Algorithm::truncated);
  std::vector<double> first;
  for (int round = 0; round < 3; ++round) {
    Trikkos::solve(exec, work, good, b, x);
    EXPECT_FALSE(work.status(exec).fell_back);
    if (round == 0) first = Reference::to_host(x);
    EXPECT_TRUE(same_bits(first, Reference::to_host(x)));
    Trikkos::solve(exec, work, bad, b, x);
    EXPECT_TRUE(work.status(exec).fell_back);
    EXPECT_TRUE(work.status(exec).ok());
  }
  const Trikkos::Plan plan(exec, good, truncated());
  EXPECT_EQ(plan.algorithm(), Algorithm::truncated);
  Trikkos::solve(exec, plan, b, x);
  EXPECT_TRUE(same_bits(first, Reference::to_host(x)));
  EXPECT_FALSE(plan.status(exec).fell_back);
}

/// Right-hand sides that a workspace for one takes one after the other do not touch each other.
TEST(TEST_CATEGORY, truncated_judges_each_right_hand_side) {
  const TEST_EXECSPACE exec;
  const auto A = Reference::to_device(exec, dominant<double>(large, on_host ? 1.2 : 1.05, false));
  const auto one = random_vector<double>(large);
  const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> b("b", 2, large),
      x("x", 2, large);
  const auto row = [](const auto& v, int k) { return Kokkos::subview(v, k, Kokkos::ALL); };
  ::Test::copy(row(b, 0), Reference::to_device(exec, one));
  const Trikkos::Workspace<double, TEST_EXECSPACE> work(exec, large, 1, truncated());
  Trikkos::solve(exec, work, A, b, x);  // the second one is zero
  EXPECT_TRUE(work.status(exec).fell_back);
  EXPECT_EQ(Reference::max_norm(Reference::to_host(row(x, 1))), 0);
}

template <class A, class B, class X>
void expect_same(const A& a, const B& b, const X& x, const std::vector<double>& expected) {
  const TEST_EXECSPACE exec;
  const auto status = Trikkos::solve(exec, a, b, x, truncated());
  EXPECT_FALSE(status.fell_back);
  EXPECT_GE(status.disagreement, 0);
  EXPECT_TRUE(same_bits(Reference::to_host(x), expected));
}
/// Strides, and bands that are not stored, change no bit.
TEST(TEST_CATEGORY, truncated_takes_any_view) {
  const TEST_EXECSPACE exec;
  const auto host = dominant<double>(large, 2, true);
  const auto b = random_vector<double>(large);
  const auto expected = solve(host, b, truncated()).x;
  const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> all("all", large, 5);
  const auto column = [&](int k) { return Kokkos::subview(all, Kokkos::ALL, k); };
  const auto A = Reference::to_device(exec, host);
  ::Test::copy(column(0), A.lower);
  ::Test::copy(column(1), A.diag);
  ::Test::copy(column(2), A.upper);
  ::Test::copy(column(3), Reference::to_device(exec, b));
  expect_same(Trikkos::Tridiagonal{column(0), column(1), column(2)}, column(3), column(4),
              expected);

  const auto stored = dominant<double>(large, 2, false);
  auto uniform = stored;
  uniform.diag.front() = uniform.diag.back() = 4;
  const Kokkos::View<double*, TEST_EXECSPACE> x("x", large);
  expect_same(Trikkos::toeplitz(exec, large, -1., 4., -1.), Reference::to_device(exec, b), x,
              solve(uniform, b, truncated()).x);
}

}  // namespace Test::Truncated
