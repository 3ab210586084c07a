// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Message.hpp>
#include <Pentadiagonals.hpp>
#include <Trikkos.hpp>

/// \file
/// Pentadiagonal matrices: what a stable solver owes for every matrix, size, partition size,
/// scalar, boundary, transposition and layout, by every call.

namespace Test::Five {

using Trikkos::Algorithm;
using Trikkos::Status;
constexpr Boundary boundaries[] = {Boundary::open, Boundary::periodic};
constexpr std::int64_t partition_sizes[] = {0, 2, 3, 4, 5, 7, 8, 15, 16, 31, 66, 100, 512};

template <class T>
Outcome<T> solve_one(const HostPentadiagonal<T>& A, const std::vector<T>& b,
                     const Options& options = {}) {
  const TEST_EXECSPACE exec;
  const Kokkos::View<T*, TEST_EXECSPACE> x("x", b.size());
  const auto status = Trikkos::solve(exec, Reference::to_device(exec, A),
                                     Reference::to_device(exec, b), x, options);
  Outcome<T> r{Reference::to_host(x), status, 0};
  const auto op = options.transpose();
  const auto solved =
      op == Transpose::none ? A : Reference::transpose(A, op == Transpose::conjugate_transpose);
  r.eta = Reference::backward_error(solved, r.x, b);
  return r;
}
template <class T>
void expect_stable(const Outcome<T>& r) {
  EXPECT_TRUE(r.ok()) << r;
  EXPECT_LE(r.eta, scaled<T>(1e-14));
}
inline std::string describe(const char* what, std::int64_t n, std::int64_t partition_size,
                            Boundary boundary) {
  return std::string(what) + ", n = " + std::to_string(n) + ", partitions of " +
         std::to_string(partition_size) + ", " + name(boundary);
}

// ---- one system

/// For random b, which hides a loss of digits behind a huge x, and for b = A x.
template <class T>
void families_are_solved(std::int64_t n) {
  for (const Family family : families)
    for (const Boundary boundary : boundaries) {
      const auto A = make<T>(family, n, 3, boundary);
      const auto random = random_rhs<T>(n, 4);
      for (const auto& b : {random, Reference::multiply(A, random)})
        for (const std::int64_t partition_size : partition_sizes) {
          SCOPED_TRACE(describe(name(family), n, partition_size, boundary));
          expect_stable(solve_one(A, b, Options{}.partition_size(partition_size)));
        }
    }
}
TEST(TEST_CATEGORY, pentadiagonal_families_are_solved) {
  families_are_solved<double>(500);
  families_are_solved<float>(100);
  families_are_solved<Kokkos::complex<float>>(100);
  families_are_solved<Kokkos::complex<double>>(100);
}

template <class T>
void every_form(std::int64_t n, std::int64_t partition_size) {
  for (const Boundary boundary : boundaries) {
    const auto A = make<T>(Family::random, n, 5, boundary);
    const auto b = random_rhs<T>(n, 6);
    for (const Transpose op :
         {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
      SCOPED_TRACE(describe("random", n, partition_size, boundary) + ", op " +
                   std::to_string(static_cast<int>(op)));
      expect_stable(solve_one(A, b, Options{}.partition_size(partition_size).transpose(op)));
    }
  }
}
TEST(TEST_CATEGORY, pentadiagonal_solves_every_small_size) {
  for (std::int64_t n = 0; n <= 40; ++n)
    for (const std::int64_t partition_size : {0, 2, 3, 4, 5, 6, 9, 15, 38}) {
      every_form<double>(n, partition_size);
      if (n < 14) every_form<Kokkos::complex<float>>(n, partition_size);
    }
}

/// Tiles, groups and chains of a host and of a device, one up and down.
TEST(TEST_CATEGORY, pentadiagonal_solves_sizes_around_its_thresholds) {
  constexpr std::int64_t lanes = Trikkos::Impl::lane_count<double>;
  for (const std::int64_t threshold :
       {lanes * 66, lanes * 264, 4 * lanes * 264, std::int64_t(32 * 15), std::int64_t(8 * 32 * 15)})
    for (const std::int64_t d : {-2, -1, 0, 1, 2}) every_form<double>(threshold + d, 0);
  for (const std::int64_t d : {-1, 0, 1}) every_form<double>(4 * lanes * 4 * 34 + d, 2);
  every_form<double>(50021, 0);
}

/// The condition number grows with n^4; the backward error does not.
TEST(TEST_CATEGORY, pentadiagonal_accuracy_does_not_depend_on_n) {
  for (const std::int64_t n : {1000, 10000, 100000})
    for (const Family family : {Family::biharmonic, Family::advection}) {
      SCOPED_TRACE(describe(name(family), n, 0, Boundary::open));
      const auto A = make<double>(family, n);
      const auto random = random_rhs(n, 7);
      for (const auto& b : {random, Reference::multiply(A, random)})
        EXPECT_LE(solve_one(A, b).eta, 2e-15);
    }
}

/// Couplings that fade from row to row, to where products would be subnormal.
template <class T>
void couplings_fade() {
  constexpr std::int64_t n = 5001;
  for (const double diagonal : {2., 5., 30., 1e5, 1e9})
    for (const Boundary boundary : boundaries) {
      auto A = make<T>(Family::random, n, 13, boundary);
      for (std::int64_t i = 0; i < n; ++i)
        if (i < n / 2 || i > n / 2 + 40) A.band(0)[i] += T(diagonal);
      const auto b = Reference::multiply(A, random_rhs<T>(n, 14));
      for (const std::int64_t partition_size : {0, 15}) {
        SCOPED_TRACE("diagonal " + std::to_string(diagonal) + ", " +
                     describe("random", n, partition_size, boundary));
        expect_stable(solve_one(A, b, Options{}.partition_size(partition_size)));
      }
    }
}
TEST(TEST_CATEGORY, pentadiagonal_where_couplings_fade) {
  couplings_fade<double>();
  couplings_fade<float>();
  couplings_fade<Kokkos::complex<float>>();
}

TEST(TEST_CATEGORY, pentadiagonal_agrees_with_the_reference) {
  for (const Boundary boundary : boundaries) {
    const auto A = make<double>(Family::dominant, 3001, 9, boundary);
    const auto b = random_rhs(3001, 10);
    EXPECT_LE(Reference::relative_difference(solve_one(A, b).x, Reference::solve(A, b)), 1e-14);
  }
}

/// Each row is solved by itself, whatever its scale; columns by option.
TEST(TEST_CATEGORY, pentadiagonal_rows_and_columns_may_be_scaled) {
  const std::int64_t n = 300;
  for (const Boundary boundary : boundaries) {
    const auto A = make<double>(Family::random, n, 11, boundary);
    const auto b = Reference::multiply(A, random_rhs(n, 12));
    auto rows = A, columns = A;
    auto rows_b = b;
    const auto exponent = [](std::int64_t i) { return static_cast<int>(i * 37 % 600) - 300; };
    for (std::int64_t i = 0; i < n; ++i) {
      for (int j = -2; j <= 2; ++j) {
        rows.band(j)[i] = std::ldexp(A.band(j)[i], exponent(i));
        columns.band(j)[i] = std::ldexp(A.band(j)[i], exponent(Reference::wrapped(i + j, n)));
      }
      rows_b[i] = std::ldexp(b[i], exponent(i));
    }
    const auto by_rows = solve_one(rows, rows_b);
    EXPECT_TRUE(by_rows.ok()) << by_rows;
    EXPECT_LE(Reference::backward_error(A, by_rows.x, b), 1e-14);
    const auto by_columns = solve_one(columns, b, Options{}.scaling(Trikkos::Scaling::columns));
    EXPECT_TRUE(by_columns.ok()) << by_columns;
    auto x = by_columns.x;
    for (std::int64_t i = 0; i < n; ++i) x[i] = std::ldexp(x[i], exponent(i));
    EXPECT_LE(Reference::backward_error(A, x, b), 1e-14);
  }
}

/// The judge must be able to say no.
TEST(TEST_CATEGORY, pentadiagonal_gate_rejects_a_wrong_solution) {
  const auto A = make<double>(Family::random, 100);
  const auto b = random_rhs(100, 1);
  auto x = solve_one(A, b).x;
  *std::max_element(x.begin(), x.end()) *= 1 + 1e-12;
  EXPECT_GT(Reference::backward_error(A, x, b), 1e-14);
}

TEST(TEST_CATEGORY, pentadiagonal_says_what_it_cannot_solve) {
  for (const std::int64_t n : {7, 100, 5000})
    for (const std::int64_t partition_size : {0, 3, 15}) {
      SCOPED_TRACE(describe("singular", n, partition_size, Boundary::open));
      const auto options = Options{}.partition_size(partition_size);
      const auto b = random_rhs(n, 2);
      const std::int64_t bad = 3 * n / 4;
      auto A = make<double>(Family::random, n);
      for (int j = -2; j <= 2; ++j) A.band(j)[bad] = 0;
      const auto row = solve_one(A, b, options);
      EXPECT_EQ(row.status.reason, Status::Reason::singular) << row;
      EXPECT_EQ(row.status.row, bad);

      A = make<double>(Family::random, n);
      for (int j = -2; j <= 2; ++j)
        if (bad - j < n) A.band(j)[bad - j] = 0;
      const auto column = solve_one(A, b, options);
      EXPECT_EQ(column.status.reason, Status::Reason::singular) << column;
      EXPECT_EQ(column.status.row, bad);

      A = make<double>(Family::random, n);
      A.upper2[bad / 2] = std::numeric_limits<double>::quiet_NaN();
      const auto nan = solve_one(A, b, options);
      EXPECT_EQ(nan.status.reason, Status::Reason::not_finite) << nan;
      EXPECT_EQ(nan.status.row, bad / 2);
    }
}

/// What lies outside an open matrix.
TEST(TEST_CATEGORY, pentadiagonal_does_not_read_what_lies_outside) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 50, 700}) {
    auto A = make<double>(Family::random, n);
    for (int j = -2; j <= 2; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        if (i + j < 0 || i + j >= n) A.band(j)[i] = std::numeric_limits<double>::quiet_NaN();
    for (const Transpose op : {Transpose::none, Transpose::transpose})
      expect_stable(solve_one(A, random_rhs(n, 3), Options{}.transpose(op)));
  }
}

// ---- many systems, by every call

template <class T>
void batches_are_solved(std::int64_t count, std::int64_t n, Boundary boundary) {
  const auto batch = make_batch<T>(count, n, boundary);
  for (const Level level : levels)
    for (const Many::Layout layout : Many::layouts) {
      if (level != Level::batch && layout != Many::Layout::strided) continue;
      SCOPED_TRACE(describe("batch", n, 0, boundary) + ", " + std::to_string(count) +
                   " systems, level " + std::to_string(static_cast<int>(level)) + ", layout " +
                   std::to_string(static_cast<int>(layout)));
      const DeviceBatch<T> d(batch, layout);
      EXPECT_EQ(solve_all(d, level, {}), std::vector<int>(count, 0));
      for (std::int64_t k = 0; k < count; ++k)
        EXPECT_LE(batch.eta(k, d.solution(k)), scaled<T>(1e-14)) << "system " << k;
    }
}
TEST(TEST_CATEGORY, pentadiagonal_batches_are_solved) {
  for (const Boundary boundary : boundaries) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 17, 67, 200})
      for (const std::int64_t count : {1, 3, 19}) batches_are_solved<double>(count, n, boundary);
    batches_are_solved<double>(0, 10, boundary);
    batches_are_solved<float>(37, 30, boundary);
    batches_are_solved<Kokkos::complex<float>>(11, 30, boundary);
    batches_are_solved<Kokkos::complex<double>>(5, 30, boundary);
  }
}

/// It is named, and its neighbours have the bits that they have without it.
TEST(TEST_CATEGORY, pentadiagonal_singular_system_spoils_only_itself) {
  const std::int64_t count = 20, n = 90, bad = 13;
  const auto batch = make_batch<double>(count, n);
  auto spoilt = batch;
  for (int j = -2; j <= 2; ++j) spoilt.A[bad].band(j)[40] = 0;
  for (const Many::Layout layout : {Many::Layout::left, Many::Layout::right}) {
    const DeviceBatch<double> good(batch, layout), d(spoilt, layout);
    const TEST_EXECSPACE exec;
    EXPECT_TRUE(Trikkos::solve(exec, good.A, good.b, good.x).ok());
    const Status status = Trikkos::solve(exec, d.A, d.b, d.x);
    EXPECT_EQ(status.reason, Status::Reason::singular) << status.why();
    EXPECT_EQ(status.system, bad);
    EXPECT_EQ(status.row, 40);
    for (std::int64_t k = 0; k < count; ++k)
      if (k != bad) {
        EXPECT_EQ(d.solution(k), good.solution(k)) << "system " << k;
      }
    for (const Level level : {Level::team, Level::thread}) {
      auto expected = std::vector<int>(count, 0);
      const auto info = solve_all(d, level, {});
      expected[bad] = info[bad];
      EXPECT_EQ(info, expected);
      EXPECT_GT(info[bad], 0);
    }
  }
}

/// Thousands of contiguous systems, some of which need pivoting: a device solves them without
/// first. Each is as it would be among others, in place, too.
TEST(TEST_CATEGORY, pentadiagonal_thousands_that_may_need_pivoting) {
  const TEST_EXECSPACE exec;
  const std::int64_t count = Trikkos::Impl::is_host_v<TEST_EXECSPACE> ? 40 : 4099, bad = 13;
  for (const std::int64_t n : {8, 33, 100, 129, 400}) {
    SCOPED_TRACE(n);
    const auto batch = make_batch<double>(count, n);
    auto spoilt = batch;
    for (int j = -2; j <= 2; ++j) {
      const std::int64_t row = n / 2 - j;
      if (row >= 0 && row < n) spoilt.A[bad].band(j)[row] = 0;
    }
    const DeviceBatch<double> d(batch, Many::Layout::right), again(batch, Many::Layout::right),
        one_bad(spoilt, Many::Layout::right);
    const Status status = Trikkos::solve(exec, d.A, d.b, d.x);
    EXPECT_TRUE(status.ok()) << status.why();
    EXPECT_TRUE(Trikkos::solve(exec, again.A, again.b, again.b).ok());
    const Status of_bad = Trikkos::solve(exec, one_bad.A, one_bad.b, one_bad.x);
    EXPECT_EQ(of_bad.reason, Status::Reason::singular) << of_bad.why();
    EXPECT_EQ(of_bad.system, bad);
    EXPECT_EQ(of_bad.row, n / 2);
    ::Test::copy(again.x, again.b);
    for (std::int64_t k = 0; k < count; ++k) {
      const auto x = d.solution(k);
      ASSERT_LE(batch.eta(k, x), 1e-14) << "system " << k;
      ASSERT_EQ(again.solution(k), x) << "system " << k;
      if (k != bad) {
        ASSERT_EQ(one_bad.solution(k), x) << "system " << k;
      }
    }
  }
}

/// Bit for bit the same, wherever x lies and whoever holds the memory.
TEST(TEST_CATEGORY, pentadiagonal_workspaces_and_plans_solve_alike) {
  const TEST_EXECSPACE exec;
  using Views = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;
  for (const std::int64_t n : {5, 800})
    for (const std::int64_t count : {1, 3, 20})
      for (const Boundary boundary : boundaries) {
        const auto host = make<double>(Family::random, n, 8, boundary);
        const auto A = Reference::to_device(exec, host);
        const Views b("b", count, n), x("x", count, n), again("again", count, n);
        for (std::int64_t k = 0; k < count; ++k)
          ::Test::copy(Kokkos::subview(b, k, Kokkos::ALL),
                       Reference::to_device(exec, random_rhs(n, k)));
        EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
        EXPECT_LE(Trikkos::backward_error(exec, A, x, b), 1e-14);

        const auto expect_same = [&](const char* what) {
          for (std::int64_t k = 0; k < count; ++k)
            EXPECT_EQ(Reference::to_host(Kokkos::subview(again, k, Kokkos::ALL)),
                      Reference::to_host(Kokkos::subview(x, k, Kokkos::ALL)))
                << what;
        };
        const Trikkos::Workspace work(exec, A, b);
        ::Test::copy(again, b);
        Trikkos::solve(exec, work, A, again, again);
        EXPECT_TRUE(work.status(exec).ok());
        expect_same("workspace, in place");

        const auto other =
            Reference::to_device(exec, make<double>(Family::dominant, n, 9, boundary));
        const Trikkos::Plan plan(exec, other, Options{}.algorithm(Algorithm::segmented), count);
        plan.update(exec, A);
        Trikkos::solve(exec, plan, b, again);
        EXPECT_TRUE(plan.status(exec).ok());
        expect_same("plan");
      }
}

TEST(TEST_CATEGORY, pentadiagonal_solves_are_verified_and_refined) {
  const auto A = make<double>(Family::random, 500);
  const auto b = Reference::multiply(A, random_rhs(500, 1));
  const auto verified = solve_one(A, b, Options{}.verify(1e-14));
  expect_stable(verified);
  EXPECT_NEAR(verified.status.backward_error, verified.eta, 1e-3 * verified.eta);
  const auto refined = solve_one(A, b, Options{}.refine(1));
  expect_stable(refined);
  EXPECT_LE(refined.eta, verified.eta);
}

// ---- sentences

TEST(TEST_CATEGORY, pentadiagonal_errors_say_what_is_wrong) {
  const TEST_EXECSPACE exec;
  using View = Kokkos::View<double*, TEST_EXECSPACE>;
  const View v("v", 10), w("w", 9);
  const auto solve = [&](const auto& A, const View& b, const Options& options = {}) {
    return message([&] { static_cast<void>(Trikkos::solve(exec, A, b, v, options)); });
  };
  using Trikkos::Pentadiagonal;
  EXPECT_EQ(solve(Pentadiagonal{w, v, v, v, v}, v),
            "Trikkos::solve: lower2 has 9 rows, expected 10 (diag.extent(0))");
  EXPECT_EQ(solve(Pentadiagonal{v, v, v, v, w}, v),
            "Trikkos::solve: upper2 has 9 rows, expected 10 (diag.extent(0))");
  EXPECT_EQ(solve(Pentadiagonal{v, v, v, v, v}, w),
            "Trikkos::solve: b has 9 rows, expected 10 (diag.extent(0))");
  for (const Algorithm algorithm :
       {Algorithm::truncated, Algorithm::spike, Algorithm::pcr, Algorithm::factored}) {
    const std::string sentence = std::string("algorithm is ") + name(algorithm) +
                                 ", expected automatic, segmented or thomas (A is pentadiagonal)";
    const auto options = Options{}.algorithm(algorithm);
    const Pentadiagonal A{v, v, v, v, v};
    EXPECT_EQ(solve(A, v, options), "Trikkos::solve: " + sentence);
    EXPECT_EQ(message([&] { Trikkos::Workspace(exec, A, v, options); }),
              "Trikkos::Workspace: " + sentence);
  }
  const Trikkos::Plan plan(exec, Pentadiagonal{v, v, v, v, v});
  EXPECT_EQ(message([&] {
              plan.update(exec, Pentadiagonal{w, w, w, w, w});
            }),
            "Trikkos::Plan::update: A has 9 rows, expected 10 (the plan's A)");
  EXPECT_EQ(message([&] {
              plan.update(exec, Pentadiagonal{v, v, v, v, v, Boundary::periodic});
            }),
            "Trikkos::Plan::update: A is periodic, expected open (the plan's A)");
  EXPECT_EQ(message([&] {
              static_cast<void>(Trikkos::backward_error(exec, Pentadiagonal{v, w, v, v, v}, v, v));
            }),
            "Trikkos::backward_error: lower has 9 rows, expected 10 (diag.extent(0))");
}

/// Of every tenth of many interleaved systems all know one unknown by numbers whose squares are not
/// safe from underflow: what is fast for thousands leaves them to segments.
struct SmallColumns {
  using Many = Kokkos::View<double**, Kokkos::LayoutLeft, TEST_EXECSPACE>;
  static constexpr double small = 1e-120;
  Many band[5], b;
  double column;  // what that one is multiplied by

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const int n = b.extent_int(1);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < 5; ++j)
        band[j](k, i) = Trikkos::Impl::random_uniform(k, j, i) *
                        (k % 10 == 3 && i + j - 2 == n / 2 ? column : 1.0);
      b(k, i) = Trikkos::Impl::random_uniform(k, 5, i);
    }
  }
};
struct ScaleUnknown {
  SmallColumns::Many x;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    if (k % 10 == 3) x(k, x.extent(1) / 2) *= SmallColumns::small;
  }
};
TEST(TEST_CATEGORY, pentadiagonal_small_columns_among_thousands) {
  const TEST_EXECSPACE exec;
  const int count = Trikkos::Impl::is_host_v<TEST_EXECSPACE> ? 1000 : (1 << 14) + 5;
  const Kokkos::RangePolicy<TEST_EXECSPACE> systems(exec, 0, count);
  for (const int n : {16, 64, 130, 333}) {
    SCOPED_TRACE(n);
    const auto make = [&] { return SmallColumns::Many("array", count, n); };
    SmallColumns fill{{make(), make(), make(), make(), make()}, make(), SmallColumns::small};
    const SmallColumns::Many x = make();
    const Trikkos::Pentadiagonal A{fill.band[0], fill.band[1], fill.band[2], fill.band[3],
                                   fill.band[4]};
    Kokkos::parallel_for("Test::fill", systems, fill);
    const Status status = Trikkos::solve(exec, A, fill.b, x);
    EXPECT_TRUE(status.ok()) << status.why();
    fill.column = 1;
    Kokkos::parallel_for("Test::fill", systems, fill);
    Kokkos::parallel_for("Test::scale", systems, ScaleUnknown{x});
    EXPECT_LE(Trikkos::backward_error(exec, A, x, fill.b), 1e-14);
  }
}

// Teams of a device hold as many systems as they can: the scratch that they ask for is granted.
template <class Layout>
void batches_of_every_size() {
  using Many = Kokkos::View<double**, Layout, TEST_EXECSPACE>;
  const TEST_EXECSPACE exec;
  for (int n = 8; n <= 416; ++n) {
    SCOPED_TRACE(n);
    const Many one("one", 4096, n), diag("diag", 4096, n), b("b", 4096, n), x("x", 4096, n);
    Kokkos::deep_copy(exec, one, 1.0);
    Kokkos::deep_copy(exec, diag, 2.5);
    Kokkos::deep_copy(exec, b, 1.0);
    const Trikkos::Pentadiagonal A{one, one, diag, one, one};
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::segmented}) {
      EXPECT_TRUE(Trikkos::solve(exec, A, b, x, Options{}.algorithm(algorithm)).ok());
      EXPECT_LE(Trikkos::backward_error(exec, A, x, b), 1e-14);
    }
  }
}
TEST(TEST_CATEGORY, pentadiagonal_batches_of_every_size) {
  if (Trikkos::Impl::is_host_v<TEST_EXECSPACE>) GTEST_SKIP() << "no teams";
  batches_of_every_size<Kokkos::LayoutRight>();
  batches_of_every_size<Kokkos::LayoutLeft>();
}

// No rows, and no systems: a Workspace can be made before what it is for is known.
TEST(TEST_CATEGORY, pentadiagonal_of_no_rows) {
  using Many = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;
  const TEST_EXECSPACE exec;
  for (const auto& [systems, rows] : {std::pair{1, 0}, {5000, 0}, {0, 0}, {0, 700}}) {
    SCOPED_TRACE(std::to_string(systems) + " systems of " + std::to_string(rows) + " rows");
    const Many v("v", systems, rows);
    const Trikkos::Pentadiagonal A{v, v, v, v, v};
    const Trikkos::Workspace work(exec, A, v);
    Trikkos::solve(exec, work, A, v, v);
    EXPECT_TRUE(work.status(exec).ok());
  }
}

}  // namespace Test::Five
