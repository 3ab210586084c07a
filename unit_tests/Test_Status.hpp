// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Promise.hpp>
#include <Trikkos.hpp>
#include <limits>
#include <string>
#include <vector>

/// \file
/// Bad numbers: never a finite wrong x with an ok status.

namespace {

using Test::describe;
using Test::gallery;
using Test::is_finite;
using Test::Outcome;
using Test::random_rhs;
using Test::scaled;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Status;
using Trikkos::Transpose;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T>
using Vectors = Kokkos::View<T**, TEST_EXECSPACE>;
template <class T>
using HostSystem = Reference::HostSystem<T>;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double inf_value = std::numeric_limits<double>::infinity();

// The default, odd, short and long partitions.
std::vector<Options> stable_options() {
  std::vector<Options> all;
  for (const int rows : {0, 2, 3, 7, 64}) {
    all.push_back(Options{}.algorithm(Algorithm::segmented).partition_size(rows));
  }
  return all;
}
std::vector<Options> all_options() {
  auto all = stable_options();
  all.push_back(Options{}.algorithm(Algorithm::thomas));
  return all;
}
std::vector<Options> some_options() {
  return {Options{}, Options{}.partition_size(7), Options{}.algorithm(Algorithm::thomas)};
}

/// What must never happen: an ok status, and an x that is finite and not as good as promised.
template <class T>
Outcome<T> solve_honestly(const HostSystem<T>& A, const std::vector<T>& b, const Options& options) {
  const Outcome<T> outcome = Test::solve(A, b, options);
  // The last row of a ring takes up an error from each row that `thomas` eliminates.
  const bool long_row = A.periodic && options.algorithm() == Algorithm::thomas;
  const double bound = long_row ? scaled<T>(1e-13) : Test::Breaker::promised<T>({options});
  if (outcome.ok() && is_finite(outcome.x)) {
    EXPECT_LE(outcome.eta, bound) << outcome;
  }
  return outcome;
}

// ---- exactly singular matrices

const std::vector<std::int64_t> sizes = {1, 2, 3, 4, 5, 8, 15, 17, 65, 99, 265, 527, 961, 3001};

template <class T>
void singular_gallery() {
  for (const Gallery type : Trikkos::gallery_types) {
    for (const std::int64_t n : sizes) {
      if (!Trikkos::is_singular(type, n)) continue;
      const auto A = gallery<T>(type, n, 3);
      const auto b = random_rhs<T>(n, 5);
      for (const Options& options : all_options()) {
        SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " +
                     describe(options));
        const auto outcome = solve_honestly(A, b, options);
        EXPECT_LT(outcome.status.row, n);
        if (n == 1) {
          EXPECT_FALSE(outcome.ok());
          EXPECT_EQ(outcome.status.row, 0);
        }
      }
    }
  }
}

// Rows and columns at the ends of partitions, tiles and groups; those of a host are as wide as its
// vectors.
template <class T>
constexpr std::int64_t host_tile = 264 * Trikkos::Impl::lane_count<T>;
template <class T>
std::vector<std::int64_t> positions(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (const std::int64_t p : {std::int64_t(0), std::int64_t(1), std::int64_t(2), std::int64_t(7)})
    if (p < n - 2) all.push_back(p);
  constexpr std::int64_t rows = Trikkos::Impl::OrthogonalCarry::device_rows<T>;
  for (const std::int64_t end : {rows, std::int64_t(66), 16 * rows, std::int64_t(264), 64 * rows,
                                 host_tile<T>, 4 * host_tile<T>})
    for (const std::int64_t p : {end - 1, end})
      if (p < n - 2) all.push_back(p);
  if (n > 1) all.push_back(n - 2);
  all.push_back(n - 1);
  return all;
}

// Wherever a column of zeros is, it is named. A row of zeros is at least noticed.
template <class T>
void zero_columns_and_rows() {
  for (const std::int64_t n : {1, 2, 3, 17, 265, 1000, 9001}) {
    const auto uniform = gallery<T>(Gallery::uniform, n, 3);
    const auto dominant = gallery<T>(Gallery::uniform_dominant, n, 3);
    const auto b = random_rhs<T>(n, 5);
    for (const std::int64_t p : positions<T>(n)) {
      for (const Options& options : n < 9001 ? all_options() : some_options()) {
        SCOPED_TRACE("n " + std::to_string(n) + ", " + std::to_string(p) + ", " +
                     describe(options));
        auto no_column = options.algorithm() == Algorithm::thomas ? dominant : uniform;
        auto no_row = no_column;
        no_column.diag[p] = no_row.diag[p] = no_row.lower[p] = no_row.upper[p] = T(0);
        if (p > 0) no_column.upper[p - 1] = T(0);
        if (p + 1 < n) no_column.lower[p + 1] = T(0);
        const auto column = solve_honestly(no_column, b, options);
        EXPECT_FALSE(column.status.ok()) << "zero column";
        EXPECT_EQ(column.status.row, p) << "zero column: " << column;
        const auto row = solve_honestly(no_row, b, options);
        EXPECT_FALSE(row.status.ok()) << "zero row";
      }
    }
  }
}

// Rings that are singular though no row or column is zero.
template <class T>
void singular_rings() {
  for (const std::int64_t n : {1, 2, 3, 4, 8, 64, 1000, 9000}) {
    const std::vector<T> one(n, T(1)), minus(n, T(-1)), two(n, T(2)), zero(n, T(0));
    const HostSystem<T> neumann{minus, two, minus, true}, alternating{one, zero, one, true};
    const auto b = random_rhs<T>(n, 5);
    for (const Options& options : all_options()) {
      SCOPED_TRACE("n " + std::to_string(n) + ", " + describe(options));
      solve_honestly(neumann, b, options);
      solve_honestly(alternating, b, options);
    }
  }
  const HostSystem<T> one_zero{{T(1)}, {T(-2)}, {T(1)}, true};
  for (const Options& options : all_options()) {  // rounded, the three entries may leave something
    const auto outcome = solve_honestly(one_zero, {T(1)}, options);
    if (outcome.ok()) {
      EXPECT_GT(Kokkos::abs(outcome.x[0]),
                0.1 / std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon());
    } else {
      EXPECT_EQ(outcome.status.row, 0);
    }
  }
}

// ---- Inf and NaN

template <class T>
void not_finite_entries() {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    for (const std::int64_t n : {1, 2, 3, 17, 265, 1000, 9001}) {
      const auto good = gallery<T>(Gallery::uniform_dominant, n, 3, boundary);
      const auto good_b = random_rhs<T>(n, 5);
      for (const std::int64_t p : positions<T>(n)) {
        if (n == 9001 && p < host_tile<T> - 1 && p != 0 && p != 264) continue;
        for (int where = 0; where < 4; ++where) {
          const bool outside =
              boundary == Boundary::open && ((where == 0 && p == 0) || (where == 2 && p == n - 1));
          if (outside) continue;
          for (const double bad : {nan_value, inf_value}) {
            auto A = good;
            auto b = good_b;
            (where == 0 ? A.lower : where == 1 ? A.diag : where == 2 ? A.upper : b)[p] = T(bad);
            for (const Options& options : some_options()) {
              SCOPED_TRACE(std::string(name(boundary)) + ", n " + std::to_string(n) + ", " +
                           (where == 0   ? "lower("
                            : where == 1 ? "diag("
                            : where == 2 ? "upper("
                                         : "b(") +
                           std::to_string(p) + ") = " + std::to_string(bad) + ", " +
                           describe(options));
              const auto outcome = Test::solve(A, b, options);
              EXPECT_FALSE(outcome.ok());
              EXPECT_EQ(outcome.status.reason, Status::Reason::not_finite) << outcome;
              EXPECT_EQ(outcome.status.row, p) << outcome;
            }
          }
        }
      }
    }
  }
}

// What lies outside an open matrix may be anything.
template <class T>
void garbage_outside_is_ignored() {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {1, 2, 17, 1000}) {
    auto clean = gallery<T>(Gallery::uniform_dominant, n, 3);
    clean.lower.front() = clean.upper.back() = T(0);
    const auto b = random_rhs<T>(n, 5);
    for (Options options : all_options()) {
      for (const auto transpose :
           {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
        options.transpose(transpose).verify(1e-4);
        const auto expected = Test::solve(clean, b, options);
        EXPECT_TRUE(expected.status.ok()) << expected.status.why();
        const auto with_plan = [&](const HostSystem<T>& A) {
          const Vector<T> x("x", n);
          const Trikkos::Plan plan(exec, Reference::to_device(exec, A), options);
          Trikkos::solve(exec, plan, Reference::to_device(exec, b), x);
          EXPECT_TRUE(plan.status(exec).ok());
          return Reference::to_host(x);
        };
        const auto planned = with_plan(clean);
        for (const double garbage : {nan_value, inf_value, 1e30}) {
          auto dirty = clean;
          dirty.lower.front() = dirty.upper.back() = T(garbage);
          const auto actual = Test::solve(dirty, b, options);
          EXPECT_TRUE(actual.status.ok()) << actual.status.why();
          EXPECT_EQ(actual.x, expected.x);
          EXPECT_EQ(actual.status.backward_error, expected.status.backward_error);
          EXPECT_EQ(with_plan(dirty), planned);
        }
      }
    }
  }
}

// ---- a status belongs to its solve

template <class T>
void good_after_bad() {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {1, 100, 3001}) {
    const auto good = Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 3);
    const auto singular = Trikkos::gallery<T>(exec, Gallery::zero_column, n, 3);
    const auto nan = Trikkos::gallery<T>(exec, Gallery::nan_entry, n, 3);
    const auto b = Trikkos::gallery_rhs<T>(exec, n, 5);
    const Vectors<T> no_b("no b", 0, n), no_x("no x", 0, n);
    const Vector<T> x("x", n);
    for (Options options : all_options()) {
      for (const double tolerance : {0., scaled<T>(1e-14)}) {
        SCOPED_TRACE("n " + std::to_string(n) + ", " + describe(options) + ", verify " +
                     std::to_string(tolerance));
        Trikkos::Workspace work(exec, good, b, options.verify(tolerance));
        EXPECT_TRUE(work.status(exec).ok()) << "before any solve";
        EXPECT_EQ(work.status(exec).row, -1);
        for (const auto& bad : {singular, nan}) {
          Trikkos::solve(exec, work, bad, b, x);
          EXPECT_FALSE(work.status(exec).ok());
          EXPECT_FALSE(work.status(exec).ok()) << "asked twice";
          Trikkos::solve(exec, work, good, b, x);
          const Status status = work.status(exec);
          EXPECT_TRUE(status.ok()) << status.why();
          EXPECT_EQ(status.row, -1);
          EXPECT_EQ(status.why(), "ok");
          EXPECT_TRUE(status);
        }
        Trikkos::solve(exec, work, singular, b, x);
        Trikkos::solve(exec, work, good, no_b, no_x);
        EXPECT_TRUE(work.status(exec).ok()) << "nothing to solve is solved";
      }
    }
  }
}

// One bad right-hand side of many spoils only its own solution.
template <class T>
void bad_rhs_spoils_only_itself() {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {1, 2, 100, 3000}) {
    const std::int64_t count = n < 3000 ? 300 : 20;
    const auto A = Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 3);
    const Vectors<T> b("b", count, n), x("x", count, n), clean_x("x", count, n);
    const auto system = [](const auto& v, std::int64_t k) {
      return Kokkos::subview(v, k, Kokkos::ALL);
    };
    for (std::int64_t k = 0; k < count; ++k) {
      Test::copy(system(b, k), Trikkos::gallery_rhs<T>(exec, n, k));
    }
    for (const Options& options : some_options()) {
      Trikkos::Workspace work(exec, A, b, options);
      Trikkos::solve(exec, work, A, b, clean_x);
      EXPECT_TRUE(work.status(exec).ok());
      const auto host_clean_x = Test::host_copy(clean_x);
      for (const std::int64_t k : {std::int64_t(0), count / 2, count - 1}) {
        for (const std::int64_t row : {std::int64_t(0), n / 2, n - 1}) {
          SCOPED_TRACE("n " + std::to_string(n) + ", system " + std::to_string(k) + ", row " +
                       std::to_string(row) + ", " + describe(options));
          const auto entry = Kokkos::subview(b, k, row);
          const auto good = Test::host_copy(entry);
          const T value = good();
          Test::fill(entry, T(nan_value));
          Trikkos::solve(exec, work, A, b, x);
          const Status status = work.status(exec);
          EXPECT_EQ(status.reason, Status::Reason::not_finite);
          EXPECT_EQ(status.row, row);
          EXPECT_FALSE(is_finite(Reference::to_host(system(x, k))));
          const auto host_x = Test::host_copy(x);
          std::int64_t spoilt = 0;
          for (std::int64_t other = 0; other < count; ++other) {
            for (std::int64_t i = 0; i < n && other != k; ++i) {
              spoilt += !(host_x(other, i) == host_clean_x(other, i));
            }
          }
          EXPECT_EQ(spoilt, 0);
          Test::fill(entry, value);
        }
      }
    }
  }
}

// ---- the ends of the number range

template <class T>
void range_ends() {
  for (const Gallery type :
       {Gallery::near_overflow, Gallery::near_underflow, Gallery::subnormal,
        Gallery::random_row_scaling, Gallery::graded_rows, Gallery::small_coupling,
        Gallery::tiny_lower, Gallery::zero_coupling, Gallery::nearly_singular_blocks}) {
    for (const std::int64_t n : {1, 2, 3, 17, 265, 1000}) {
      const auto A = gallery<T>(type, n, 3);
      const auto random = random_rhs<T>(n, 5);
      for (const bool known_x : {false, true}) {
        const auto b = known_x ? Reference::multiply(A, random) : random;
        if (!is_finite(b)) continue;
        // with room for the sums on the way to it
        constexpr auto largest = std::numeric_limits<Trikkos::Impl::Real<T>>::max() / 1024;
        const auto exact = Reference::solve_wide(A, b);
        const bool has_solution = exact.zero_pivot < 0 && Reference::max_norm(exact.x) < largest;
        for (const Options& options : all_options()) {
          SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " +
                       describe(options) + (known_x ? ", b = A x" : ", random b"));
          const auto outcome = solve_honestly(A, b, options);
          EXPECT_FALSE(outcome.ok() && !is_finite(outcome.x)) << outcome;
          if (has_solution && options.algorithm() != Algorithm::thomas) {
            EXPECT_TRUE(outcome.ok()) << outcome;
            EXPECT_TRUE(is_finite(outcome.x)) << outcome;
          }
        }
      }
    }
  }
}

// A and b scaled by powers of two: x must not notice as long as it is in range.
template <class T>
void scaled_systems() {
  using Real = decltype(Kokkos::abs(T{}));
  constexpr int top = std::numeric_limits<Real>::max_exponent - 8;
  const auto A = gallery<T>(Gallery::uniform, 1000, 3);
  const auto b = random_rhs<T>(1000, 5);
  const auto times = [](std::vector<T> v, int exponent) {
    const Real first = std::ldexp(Real(1), exponent / 2),
               rest = std::ldexp(Real(1), exponent - exponent / 2);
    for (T& entry : v) entry = entry * first * rest;
    return v;
  };
  for (const Options& options : stable_options()) {
    const auto expected = solve_honestly(A, b, options);
    EXPECT_TRUE(expected.ok()) << expected;
    for (const int exponent : {top, top / 2, -top / 2}) {
      SCOPED_TRACE(describe(options) + ", 2^" + std::to_string(exponent));
      const HostSystem<T> scaled_A{times(A.lower, exponent), times(A.diag, exponent),
                                   times(A.upper, exponent)};
      const auto actual = solve_honestly(scaled_A, times(b, exponent), options);
      EXPECT_TRUE(actual.status.ok()) << actual;
      EXPECT_EQ(actual.x, expected.x);
    }
  }
}
}  // namespace

TEST(TEST_CATEGORY, status_of_singular_gallery) {
  singular_gallery<float>();
  singular_gallery<double>();
  singular_gallery<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_of_zero_columns_and_rows) {
  zero_columns_and_rows<double>();
  zero_columns_and_rows<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_of_singular_rings) {
  singular_rings<double>();
  singular_rings<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, status_of_not_finite_entries_double) { not_finite_entries<double>(); }
TEST(TEST_CATEGORY, status_of_not_finite_entries_complex) {
  not_finite_entries<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_ignores_garbage_outside) {
  garbage_outside_is_ignored<float>();
  garbage_outside_is_ignored<double>();
  garbage_outside_is_ignored<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_good_after_bad) {
  good_after_bad<double>();
  good_after_bad<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_bad_rhs_spoils_only_itself) {
  bad_rhs_spoils_only_itself<double>();
  bad_rhs_spoils_only_itself<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_at_the_ends_of_the_range_float) { range_ends<float>(); }
TEST(TEST_CATEGORY, status_at_the_ends_of_the_range_double) { range_ends<double>(); }
TEST(TEST_CATEGORY, status_at_the_ends_of_the_range_complex) {
  range_ends<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, status_of_scaled_systems) {
  scaled_systems<float>();
  scaled_systems<double>();
  scaled_systems<Kokkos::complex<double>>();
}
