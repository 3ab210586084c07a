// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <HostViews.hpp>
#include <Message.hpp>
#include <Pentadiagonals.hpp>
#include <Promise.hpp>
#include <Trikkos.hpp>
#include <limits>

/// \file
/// `Algorithm::thomas` of pentadiagonal matrices, by every call: as accurate as LU without pivoting
/// may be where it is safe, and never silently wrong elsewhere. (Test_FactoredPentadiagonal.hpp: a
/// Plan of one matrix, Test_Thomas.hpp: tridiagonal ones.)

namespace Test::Five {

using Trikkos::Algorithm;
using Trikkos::Corners;
using Trikkos::Status;

constexpr Boundary boundaries[] = {Boundary::open, Boundary::periodic};
constexpr Options thomas = Options{}.algorithm(Algorithm::thomas);
constexpr Options corrected = Options{}.thomas({Corners::sherman_morrison});

template <class T>
std::string described(const Batch<T>& batch, const Options& options, Level level) {
  return ::Test::describe(options) + ", " + std::to_string(batch.count()) + " systems of " +
         std::to_string(batch.n()) + (batch.A.front().periodic ? ", periodic" : "") + ", level " +
         std::to_string(static_cast<int>(level));
}
/// More than OpenMP grants is left out.
template <class T>
bool has_scratch(std::int64_t n, const Options& options, Boundary boundary) {
  return Trikkos::team_scratch_bytes<T, 2>(n, options, boundary) <= 30 * 1024;
}

/// What it is for: dominant matrices, and positive definite ones of the same rows. On a ring the
/// latter may be as good as singular, and are no less dominant.
template <class T>
HostPentadiagonal<T> safe_matrix(std::int64_t k, std::int64_t n, Boundary boundary) {
  if (k % 3 == 1 && boundary == Boundary::open)
    return make<T>(Family::positive_definite, n, k, boundary);
  if (k % 3 == 2) {
    auto A = make<T>(Family::biharmonic, n, k, boundary);
    for (T& v : A.diag) v += T(boundary == Boundary::open ? 0 : 1);
    return A;
  }
  return make<T>(Family::dominant, n, k, boundary);
}
template <class T>
Batch<T> safe_batch(std::int64_t count, std::int64_t n, Boundary boundary) {
  Batch<T> r;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto random = random_rhs<T>(n, 200 + k);
    r.A.push_back(safe_matrix<T>(k, n, boundary));
    r.b.push_back(k % 2 ? random : fast_multiply(r.A[k], random));
  }
  return r;
}

/// Whatever is transposed: the solutions are those of `batch`.
template <class T>
Batch<T> transposed(const Batch<T>& batch, Transpose op) {
  Batch<T> r = batch;
  if (op != Transpose::none)
    for (auto& A : r.A) A = Reference::transpose(A, op == Transpose::conjugate_transpose);
  return r;
}

template <class T>
void expect_solved(const Batch<T>& batch, const Options& options, Level level,
                   Many::Layout layout = Many::Layout::right) {
  SCOPED_TRACE(described(batch, options, level) + ", layout " +
               std::to_string(static_cast<int>(layout)));
  const DeviceBatch<T> d(transposed(batch, options.transpose()), layout), in_place = d;
  const std::vector<int> well(batch.count(), 0);
  EXPECT_EQ(solve_all(d, level, options), well);
  std::vector<std::vector<T>> x;
  for (std::int64_t k = 0; k < batch.count(); ++k) {
    x.push_back(d.solution(k));
    EXPECT_LE(batch.eta(k, x[k]), scaled<T>(2e-15)) << "system " << k;
    EXPECT_EQ(Reference::to_host(Many::row_of(d.b, k)), batch.b[k]);
  }
  DeviceBatch<T> same = d;
  same.x = same.b;
  EXPECT_EQ(solve_all(same, level, options), well);
  for (std::int64_t k = 0; k < batch.count(); ++k)
    EXPECT_EQ(Reference::to_host(Many::row_of(same.b, k)), x[k]);
}

// ---- sizes

template <class T>
void sizes_are_solved(std::int64_t n, std::int64_t count) {
  for (const Boundary boundary : boundaries) {
    const auto batch = safe_batch<T>(count, n, boundary);
    for (const Options& options : {thomas, corrected})
      for (const Level level : levels)
        if (level != Level::team || has_scratch<T>(n, options, boundary))
          expect_solved(batch, options, level);
  }
}
TEST(TEST_CATEGORY, thomas_pentadiagonal_sizes) {
  for (std::int64_t n = 1; n <= 40; ++n) sizes_are_solved<double>(n, 3);
  for (const std::int64_t n : {63, 64, 65, 66, 67, 255, 256, 257, 426, 1000, 4097})
    sizes_are_solved<double>(n, 3);
}
TEST(TEST_CATEGORY, thomas_pentadiagonal_scalars) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 31, 66, 200}) {
    sizes_are_solved<float>(n, 4);
    sizes_are_solved<Kokkos::complex<float>>(n, 4);
    sizes_are_solved<Kokkos::complex<double>>(n, 4);
  }
}

template <class T>
void transposes_are_solved() {
  for (const Boundary boundary : boundaries)
    for (const std::int64_t n : {2, 3, 5, 6, 50})
      for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
        for (const Options& options : {thomas, corrected})
          for (const Level level : levels)
            expect_solved(safe_batch<T>(4, n, boundary), Options(options).transpose(op), level);
}
TEST(TEST_CATEGORY, thomas_pentadiagonal_transposes) {
  transposes_are_solved<double>();
  transposes_are_solved<Kokkos::complex<double>>();
}

TEST(TEST_CATEGORY, thomas_pentadiagonal_layouts) {
  for (const Boundary boundary : boundaries)
    for (const Options& options : {thomas, corrected})
      for (const Many::Layout layout : Many::layouts)
        for (const std::int64_t n : {1, 5, 67})
          for (const Level level : levels)
            expect_solved(safe_batch<double>(7, n, boundary), options, level, layout);
}

/// More than are in flight at a time.
TEST(TEST_CATEGORY, thomas_pentadiagonal_counts) {
  const TEST_EXECSPACE exec;
  for (const Boundary boundary : boundaries)
    for (const Options& options : {thomas, corrected})
      for (const std::int64_t count : {1, 2, 255, 256, 257, 600})
        expect_solved(safe_batch<double>(count, 9, boundary), options, Level::batch);
  for (const auto& [count, n] : {std::pair(0, 9), {0, 0}, {3, 0}, {1, 0}}) {
    const Kokkos::View<double**, TEST_EXECSPACE> v("v", count, n);
    const Trikkos::Pentadiagonal A{v, v, v, v, v};
    EXPECT_TRUE(Trikkos::solve(exec, A, v, v, thomas).ok());
    const Trikkos::Plan plan(exec, A, thomas);
    Trikkos::solve(exec, plan, v, v);
    EXPECT_TRUE(plan.status(exec).ok());
  }
}

// ---- whoever holds the memory

/// The bits are those of a call.
template <class Solve>
void expect_same_as_a_call(const DeviceBatch<double>& d, const Options& options,
                           const Solve& solve) {
  const TEST_EXECSPACE exec;
  ::Test::fill(d.x, 0.);
  EXPECT_TRUE(Trikkos::solve(exec, d.A, d.b, d.x, options).ok());
  const auto expected = Many::numbers(d.x);
  ::Test::fill(d.x, 0.);
  const Status status = solve();
  EXPECT_TRUE(status.ok()) << status.why();
  EXPECT_EQ(Many::numbers(d.x), expected);
}
TEST(TEST_CATEGORY, thomas_pentadiagonal_workspaces_and_plans_solve_alike) {
  const TEST_EXECSPACE exec;
  for (const Boundary boundary : boundaries)
    for (const Options& options : {thomas, corrected})
      for (const auto& [count, n] : {std::pair<std::int64_t, std::int64_t>(3, 70), {300, 7}}) {
        const DeviceBatch<double> d(safe_batch<double>(count, n, boundary), Many::Layout::left);
        SCOPED_TRACE(::Test::describe(options) + ", " + std::to_string(count) + " systems, " +
                     name(boundary));
        const auto with = [&](const auto& work) {
          expect_same_as_a_call(d, options, [&] {
            Trikkos::solve(exec, work, d.A, d.b, d.x);
            return work.status(exec);
          });
        };
        using Workspace = Trikkos::Workspace<double, TEST_EXECSPACE, 2>;
        with(Workspace(exec, n, count, options));
        with(Workspace(exec, n, 2, options));  // fewer at a time
        // made for one matrix, open or not
        const Workspace of_one(exec, d.matrix(0), d.b, options);
        with(of_one);
        with(Workspace(exec, n, 1, options));
        const Trikkos::Plan plan(exec, d.A, options);
        EXPECT_EQ(plan.algorithm(), Algorithm::thomas);
        expect_same_as_a_call(d, options, [&] {
          plan.update(exec, d.A);
          Trikkos::solve(exec, plan, d.b, d.x);
          return plan.status(exec);
        });
      }
}

/// One matrix and many right-hand sides, more than are in flight: it is factored once.
TEST(TEST_CATEGORY, thomas_pentadiagonal_one_matrix) {
  const TEST_EXECSPACE exec;
  for (const Boundary boundary : boundaries)
    for (const Options& options : {thomas, corrected, Options(thomas).verify(1e-14),
                                   Options(thomas).refine(1), Options(corrected).refine(1)})
      for (const std::int64_t n : {1, 3, 40}) {
        SCOPED_TRACE(::Test::describe(options) + ", " + std::to_string(n) + ", " + name(boundary));
        constexpr std::int64_t count = 600;
        Batch<double> batch = safe_batch<double>(1, n, boundary);
        batch.A.resize(count, batch.A[0]);
        for (std::int64_t k = 1; k < count; ++k) batch.b.push_back(random_rhs(n, k));
        const DeviceBatch<double> d(batch, Many::Layout::left);
        const auto A = Reference::to_device(exec, batch.A[0]);
        const Trikkos::Workspace of_one(exec, A, d.b, options);
        const Trikkos::Workspace<double, TEST_EXECSPACE, 2> of_many(exec, n, count, options);
        if (options.verify() == 0 && options.refine() == 0) {  // the memory is that of one
          EXPECT_LE(of_one.bytes(), (9 * n + 20) * sizeof(double) + 500);
        }
        for (const auto* const work : {&of_one, &of_many}) {
          ::Test::fill(d.x, 0.);
          Trikkos::solve(exec, *work, A, d.b, d.x);
          const Status status = work->status(exec);
          EXPECT_TRUE(status.ok()) << status.why();
          for (std::int64_t k = 0; k < count; ++k)
            ASSERT_LE(batch.eta(k, d.solution(k)), 2e-15) << "right-hand side " << k;
        }
      }
}

TEST(TEST_CATEGORY, thomas_pentadiagonal_options) {
  for (const Boundary boundary : boundaries)
    for (const Options& options :
         {Options(thomas).verify(1e-14), Options(thomas).refine(1), Options(corrected).refine(2),
          Options(thomas).scaling(Trikkos::Scaling::columns),
          Options(thomas).scaling(Trikkos::Scaling::none)})
      for (const Level level : {Level::call, Level::batch})
        expect_solved(safe_batch<double>(300, 12, boundary), options, level);
}

// ---- what cannot be solved

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Spoils a system of more than 8 rows; says which row is to be named, and why.
struct Fault {
  const char* what;
  void (*spoil)(HostPentadiagonal<double>& A, std::vector<double>& b);
  std::int64_t row;
  Status::Reason reason;
};
const Fault faults[] = {
    {"a zero row",
     [](auto& A, auto&) {
       for (int j = -2; j <= 2; ++j) A.band(j)[5] = 0;
     },
     5, Status::Reason::unstable},
    {"a zero column",
     [](auto& A, auto&) {
       for (int j = -2; j <= 2; ++j) A.band(j)[5 - j] = 0;
     },
     5, Status::Reason::unstable},
    {"a small pivot", [](auto& A, auto&) { A.diag[0] = 1e-12; }, 1, Status::Reason::unstable},
    {"pivoting is needed",
     [](auto& A, auto&) {
       for (int j = -2; j <= 2; ++j)
         std::fill(A.band(j).begin(), A.band(j).end(),
                   j == 0    ? 1e-9
                   : j == 1  ? 1.1
                   : j == -1 ? 1.
                             : 0.);
     },
     1, Status::Reason::unstable},
    {"NaN in A", [](auto& A, auto&) { A.upper2[4] = not_a_number; }, 4, Status::Reason::not_finite},
    {"Inf in A", [](auto& A, auto&) { A.lower[6] = std::numeric_limits<double>::infinity(); }, 6,
     Status::Reason::not_finite},
    {"NaN in b", [](auto&, auto& b) { b[7] = not_a_number; }, 7, Status::Reason::not_finite},
    {"NaN in b, a zero row behind it",
     [](auto& A, auto& b) {
       b[3] = not_a_number;
       for (int j = -2; j <= 2; ++j) A.band(j)[5] = 0;
     },
     3, Status::Reason::not_finite},
    {"x is too large",
     [](auto& A, auto& b) {
       for (int j = -2; j <= 2; ++j) A.band(j)[0] = A.band(j)[(A.size() - j) % A.size()] = 0;
       A.diag[0] = 1e-200;
       b[0] = 1e200;
     },
     0, Status::Reason::not_finite}};

/// One bad system is named, with its row, and spoils no other: these have the bits that they have
/// without it.
TEST(TEST_CATEGORY, thomas_pentadiagonal_names_the_bad_system) {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t count = 300, bad = 270;
  for (const Fault& fault : faults)
    for (const std::int64_t n : {10, 47})
      for (const Boundary boundary : boundaries)
        for (const Options& options : {thomas, corrected}) {
          SCOPED_TRACE(std::string(fault.what) + ", " + ::Test::describe(options) + ", " +
                       std::to_string(n) + " rows, " + name(boundary));
          const auto good = safe_batch<double>(count, n, boundary);
          auto spoilt = good;
          fault.spoil(spoilt.A[bad], spoilt.b[bad]);
          const DeviceBatch<double> expected(good, Many::Layout::left),
              d(spoilt, Many::Layout::left);
          EXPECT_TRUE(Trikkos::solve(exec, expected.A, expected.b, expected.x, options).ok());
          const Status status = Trikkos::solve(exec, d.A, d.b, d.x, options);
          EXPECT_EQ(status.reason, fault.reason) << status.why();
          EXPECT_EQ(status.system, bad);
          EXPECT_EQ(status.row, fault.row);
          const auto alone = Trikkos::solve(exec, d.matrix(bad), Many::row_of(d.b, bad),
                                            Many::row_of(d.x, bad), options);
          EXPECT_EQ(alone.reason, fault.reason) << alone.why();
          EXPECT_EQ(alone.system, -1);
          EXPECT_EQ(alone.row, fault.row);
          for (std::int64_t k = 0; k < count; ++k)
            if (k != bad) {
              ASSERT_EQ(d.solution(k), expected.solution(k)) << "system " << k;
            }
          auto info = std::vector<int>(count, 0);
          info[bad] = 1 + static_cast<int>(fault.row);
          for (const Level level : {Level::team, Level::thread})
            EXPECT_EQ(solve_all(d, level, options), info);
        }
}

/// Of one matrix all systems are bad, of one right-hand side one is, in whichever block it is.
TEST(TEST_CATEGORY, thomas_pentadiagonal_names_what_is_bad_of_one_matrix) {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t count = 600, bad = 400, n = 30;
  for (const Boundary boundary : boundaries)
    for (const Options& options : {thomas, corrected}) {
      SCOPED_TRACE(::Test::describe(options) + ", " + name(boundary));
      auto A = safe_matrix<double>(0, n, boundary);
      Batch<double> batch;
      batch.A.resize(count, A);
      batch.b.resize(count, random_rhs(n, 1));
      batch.b[bad][3] = not_a_number;
      const DeviceBatch<double> d(batch, Many::Layout::right);
      const Trikkos::Workspace<double, TEST_EXECSPACE, 2> work(exec, n, count, options);
      const auto status_of = [&] {
        Trikkos::solve(exec, work, Reference::to_device(exec, A), d.b, d.x);
        return work.status(exec);
      };
      const Status of_rhs = status_of();
      EXPECT_EQ(of_rhs.reason, Status::Reason::not_finite) << of_rhs.why();
      EXPECT_EQ(of_rhs.system, bad);
      EXPECT_EQ(of_rhs.row, 3);
      A.diag[0] = 1e-12;
      const Status of_matrix = status_of();
      EXPECT_EQ(of_matrix.reason, Status::Reason::unstable) << of_matrix.why();
      EXPECT_EQ(of_matrix.system, 0);
      EXPECT_EQ(of_matrix.row, 1);
    }
}

/// A finite x without notice is as good as is promised, whatever A is.
template <class T>
void wrong_solutions_are_flagged(const Options& options) {
  const double promised = Breaker::promised<T>({options});
  int wrong = 0;
  for (const Boundary boundary : boundaries)
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 30, 100}) {
      Batch<T> batch;
      for (const Family family : families)
        for (int seed = 0; seed < 40; ++seed) {
          auto A = make<T>(family, n, seed, boundary);
          if (seed % 4 == 1) A.diag[seed % n] *= T(1e-5);
          if (seed % 4 == 2) A.upper2[n - 1 - seed % n] = A.lower[seed % n] = T(100);
          batch.b.push_back(fast_multiply(A, random_rhs<T>(n, seed)));
          batch.A.push_back(std::move(A));
        }
      const DeviceBatch<T> d(batch, Many::Layout::right);
      for (const Level level : levels) {
        const auto info = solve_all(d, level, options);
        for (std::int64_t k = 0; k < batch.count(); ++k) {
          const double eta = batch.eta(k, d.solution(k));
          wrong += !(eta <= promised);
          EXPECT_TRUE(eta <= promised || info[k] != 0)
              << eta << ", " << described(batch, options, level) << ", system " << k;
        }
      }
    }
  EXPECT_GT(wrong, 100);  // it was a test
}
TEST(TEST_CATEGORY, thomas_pentadiagonal_flags_what_it_cannot_solve) {
  for (const Options& options : {thomas, corrected}) {
    wrong_solutions_are_flagged<double>(options);
    wrong_solutions_are_flagged<float>(options);
    wrong_solutions_are_flagged<Kokkos::complex<double>>(options);
  }
}

// ---- memory of kernels

TEST(TEST_CATEGORY, thomas_pentadiagonal_memory_is_as_much_as_is_said) {
  for (const std::int64_t n : {1, 2, 3, 66, 10000}) {
    const auto words = [&](const Options& options, Boundary boundary) {
      const auto bytes = Trikkos::thread_memory_bytes<double, 2>(n, options, boundary);
      EXPECT_EQ(bytes, (Trikkos::team_scratch_bytes<double, 2>(n, options, boundary)));
      return static_cast<std::int64_t>(bytes / sizeof(double));
    };
    EXPECT_LE(words(thomas, Boundary::open), 5 * n + 3);
    EXPECT_LE(words(corrected, Boundary::open), 5 * n + 3);
    EXPECT_LE(words(thomas, Boundary::periodic), 9 * n + 7);
    EXPECT_LE(words(corrected, Boundary::periodic), 7 * n + 15);
  }
}

template <class T>
auto on_host_of(const HostPentadiagonal<T>& A) {
  return Trikkos::Pentadiagonal{on_host(A.lower2), on_host(A.lower),  on_host(A.diag),
                                on_host(A.upper),  on_host(A.upper2), boundary_of(A.periodic)};
}
/// No more than that is written to, and any alignment will do.
TEST(TEST_CATEGORY, thomas_pentadiagonal_memory_is_not_exceeded) {
  using T = Kokkos::complex<double>;
  constexpr char untouched = 77;
  for (const Options& options : {thomas, corrected})
    for (const Boundary boundary : boundaries)
      for (const std::int64_t n : {1, 2, 3, 67}) {
        SCOPED_TRACE(::Test::describe(options) + ", " + std::to_string(n) + ", " + name(boundary));
        const auto A = make<T>(Family::dominant, n, 1, boundary);
        const auto b = random_rhs<T>(n);
        const auto bytes = Trikkos::thread_memory_bytes<T, 2>(n, options, boundary);
        std::vector<T> first;
        for (const std::size_t offset : {0, 1, 8, 15}) {
          std::vector<char> memory(bytes + 64, untouched);
          std::vector<T> x(n);
          EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, on_host_of(A), on_host(b), on_host(x),
                                   HostView<char>(memory.data() + offset, bytes), options),
                    0);
          for (std::size_t i = 0; i < memory.size(); ++i)
            if (i < offset || i >= offset + bytes) {
              ASSERT_EQ(memory[i], untouched) << i;
            }
          if (offset == 0) first = x;
          EXPECT_EQ(x, first);
        }
      }
}
TEST(TEST_CATEGORY, thomas_pentadiagonal_aborts_on_misuse) {
  const auto A = make<double>(Family::dominant, 10);
  auto x = random_rhs<double>(10);
  const auto solve = [&](std::size_t bytes, const Options& options) {
    std::vector<char> memory(bytes);
    return Trikkos::solve(Trikkos::this_thread, on_host_of(A), on_host(x), on_host(x),
                          on_host(memory), options);
  };
  const auto bytes = Trikkos::thread_memory_bytes<double, 2>(10, thomas);
  EXPECT_EQ(solve(bytes, thomas), 0);
  EXPECT_DEATH(static_cast<void>(solve(bytes - 1, thomas)), "too little scratch");
  for (const Algorithm algorithm : {Algorithm::spike, Algorithm::pcr, Algorithm::factored})
    EXPECT_DEATH(static_cast<void>(solve(10000, Options{}.algorithm(algorithm))),
                 "expected algorithm automatic, segmented or thomas \\(A is pentadiagonal\\)");
}

}  // namespace Test::Five
