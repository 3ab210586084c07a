// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Algorithm::pcr as a host call and by a team: accurate where the matrix is diagonally dominant,
// and never silently wrong elsewhere.

#include <gtest/gtest.h>

#include <InKernels.hpp>
#include <Kokkos_Core.hpp>
#include <Promise.hpp>
#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Status;
using Trikkos::Transpose;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T>
using Host = Reference::HostSystem<T>;

const auto pcr = Options{}.algorithm(Algorithm::pcr);
constexpr auto boundaries = {Boundary::open, Boundary::periodic};

// A bound for double, scaled to the precision of T.
template <class T>
constexpr double scaled(double bound_for_double) {
  return bound_for_double / std::numeric_limits<double>::epsilon() *
         std::numeric_limits<decltype(Kokkos::abs(T{}))>::epsilon();
}

// ---- a team in a user's kernel

/// A, of rank 1, with each right-hand side; twice.
template <class T>
std::vector<int> solve_in_teams(const Trikkos::Tridiagonal<Vector<T>>& A, const Test::Rows<T>& b,
                                const Test::Rows<T>& x, const Options& options, int team_size) {
  const auto for_all = [&](const Vector<T>& band) {
    return Test::Rows<T>(band.data(), Kokkos::LayoutStride(b.extent(0), 0, b.extent(1), 1));
  };
  return Test::solve_by_teams<T, 1>(
      {for_all(A.lower), for_all(A.diag), for_all(A.upper), b, x, A.boundary},
      static_cast<int>(b.extent(0)), options, team_size, true);
}

std::vector<int> team_sizes() {  // 0: AUTO
  if constexpr (Trikkos::Impl::is_host_v<TEST_EXECSPACE>)
    return TEST_EXECSPACE().concurrency() > 1 ? std::vector{0, 1, 2} : std::vector{0, 1};
  else
    return {0, 1, 2, 3, 31, 32, 33, 64, 100, 256};
}

/// Rows that five words each of fit into 32 KiB, all that OpenMP grants a team at level 0.
template <class T>
constexpr int largest_in_team = 32 * 1024 / (5 * static_cast<int>(sizeof(T))) - 2;

template <class T>
void solves_in_teams() {
  const TEST_EXECSPACE exec;
  constexpr int count = 17;
  for (const std::int64_t n :
       {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 100, 127, 128, 129, largest_in_team<T>}) {
    for (const Boundary boundary : boundaries) {
      const auto A = Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 1, boundary);
      const auto host_A = Reference::to_host(A);
      const Kokkos::View<T**, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
      for (int k = 0; k < count; ++k)
        ::Test::copy(Kokkos::subview(b, k, Kokkos::ALL), Trikkos::gallery_rhs<T>(exec, n, k));
      for (const int size : team_sizes()) {
        for (const Options& options : {pcr, Options(pcr).pcr({.reduction_steps = 1}),
                                       Options(pcr).pcr({.reduction_steps = 100}),
                                       Options(pcr).transpose(Transpose::transpose),
                                       Options{}.transpose(Transpose::transpose)}) {
          SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary) + ", team " +
                       std::to_string(size) + ", steps " +
                       std::to_string(options.pcr().reduction_steps));
          ::Test::fill(x, T(0));
          EXPECT_EQ(solve_in_teams<T>(A, b, x, options, size), std::vector<int>(count, 0));
          const auto B =
              options.transpose() == Transpose::none ? host_A : Reference::transpose(host_A);
          for (const int k : {0, count - 1}) {
            const auto of = [&](const auto& v) {
              return Reference::to_host(Kokkos::subview(v, k, Kokkos::ALL));
            };
            EXPECT_LE(Reference::backward_error(B, of(x), of(b)), scaled<T>(1e-15));
          }
        }
      }
    }
  }
}

// ---- host calls

/// Solves, also in place, and expects what is due.
template <class T>
void expect_solved(const Host<T>& host_A, const std::vector<T>& host_b, const Options& options,
                   double bound) {
  const TEST_EXECSPACE exec;
  const auto A = Reference::to_device(exec, host_A);
  const auto b = Reference::to_device(exec, host_b);
  const Vector<T> x("x", host_b.size());
  const Status status = Trikkos::solve(exec, A, b, x, options);
  EXPECT_TRUE(status.ok()) << status.why();
  const auto host_x = Reference::to_host(x);
  EXPECT_LE(Reference::backward_error(host_A, host_x, host_b), bound);
  EXPECT_EQ(Reference::to_host(b), host_b);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, b, options).ok());
  EXPECT_EQ(Reference::to_host(b), host_x);
}

template <class T>
void solves_dominant_matrices() {
  const TEST_EXECSPACE exec;
  using Call = Trikkos::Impl::PcrCall<T, TEST_EXECSPACE>;
  const std::int64_t open = Call::template on_chip<1>, ring = Call::template on_chip<2>;
  std::vector<std::int64_t> sizes = {0,    1,    2,    3,    4,     5,     7,   8,
                                     31,   32,   33,   100,  127,   128,   129, 1000,
                                     1023, 1024, 1025, 1026, 99991, 131073};
  for (const std::int64_t n : {open - 1, open, open + 1, ring, ring + 1, ring + 2, 2 * open + 1})
    sizes.push_back(n);
  for (const std::int64_t n : sizes) {
    for (const Boundary boundary : boundaries) {
      for (const Gallery type :
           {Gallery::uniform_dominant, Gallery::toeplitz_64, Gallery::toeplitz_1e8_entrywise}) {
        if (n > 10000 && type != Gallery::uniform_dominant) continue;
        const auto A = Reference::to_host(Trikkos::gallery<T>(exec, type, n, 1, boundary));
        const auto b = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, 2));
        for (const int steps : {0, 1, 2, 5, 100}) {
          if (n > 10000 && steps % 100 != 0) continue;  // of a tile, whatever n is
          SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " +
                       name(boundary) + ", steps " + std::to_string(steps));
          expect_solved(A, b, Options(pcr).pcr({.reduction_steps = steps}), scaled<T>(1e-15));
        }
      }
    }
  }
}

// Dominance by rows or by columns alone, by next to nothing, and rows of different size.
template <class T>
void never_flags_dominance() {
  std::mt19937 random(1);
  const auto number = [&] { return T(std::generate_canonical<double, 53>(random) * 2 - 1); };
  for (const bool by_columns : {false, true}) {
    for (const bool scales : {false, true}) {
      for (const std::int64_t n : {2, 3, 10, 100, 1000, 3000, 20000}) {
        for (int seed = 0; seed < (n < 1000 ? 20 : 3); ++seed) {
          Host<T> A{std::vector<T>(n), std::vector<T>(n), std::vector<T>(n)};
          for (std::int64_t i = 0; i < n; ++i) {
            const auto size = scales ? decltype(Kokkos::abs(T{}))(1 << random() % 10) : 1;
            A.lower[i] = i > 0 ? number() * size : T(0);
            A.upper[i] = i < n - 1 ? number() * size : T(0);
          }
          for (std::int64_t i = 0; i < n; ++i) {
            const T left = by_columns ? (i > 0 ? A.upper[i - 1] : T(0)) : A.lower[i];
            const T right = by_columns ? (i < n - 1 ? A.lower[i + 1] : T(0)) : A.upper[i];
            A.diag[i] = (Kokkos::abs(left) + Kokkos::abs(right)) * T(1.001) + T(1e-3);
            if (seed % 2) A.diag[i] = -A.diag[i];
          }
          std::vector<T> b(n);
          for (T& v : b) v = number();
          for (const int steps : {0, 2, 100}) {
            SCOPED_TRACE((by_columns ? "columns, n " : "rows, n ") + std::to_string(n) +
                         ", scales " + std::to_string(scales) + ", seed " + std::to_string(seed) +
                         ", steps " + std::to_string(steps));
            expect_solved(A, b, Options(pcr).pcr({.reduction_steps = steps}),
                          scaled<T>(1e-13));  // dominance by a hair: 1e-14 was seen
          }
        }
      }
    }
  }
}

template <class T, class Layout>
void solves_many() {
  const TEST_EXECSPACE exec;
  for (const std::int64_t n : {1, 2, 33, 1000, 5000}) {
    for (const Boundary boundary : boundaries) {
      const std::int64_t count = n < 5000 ? 300 : 5;
      const auto A = Trikkos::gallery<T>(exec, Gallery::uniform_dominant, n, 1, boundary);
      const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> bands("bands", n, 5);
      const auto column = [&](int k) { return Kokkos::subview(bands, Kokkos::ALL, k); };
      ::Test::copy(column(0), A.lower);
      ::Test::copy(column(2), A.diag);
      ::Test::copy(column(3), A.upper);
      const Trikkos::Tridiagonal strided{column(0), column(2), column(3), boundary};
      const Kokkos::View<T**, Layout, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
      for (int k = 0; k < count; ++k)
        ::Test::copy(Kokkos::subview(b, k, Kokkos::ALL), Trikkos::gallery_rhs<T>(exec, n, k));
      for (const auto op :
           {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
        for (const int steps : {0, 3}) {
          SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary));
          const auto options = Options(pcr).transpose(op).pcr({.reduction_steps = steps});
          const auto host_A = op == Transpose::none
                                  ? Reference::to_host(A)
                                  : Reference::transpose(Reference::to_host(A),
                                                         op == Transpose::conjugate_transpose);
          const Status status = Trikkos::solve(exec, strided, b, x, options);
          EXPECT_TRUE(status.ok()) << status.why();
          for (std::int64_t k = 0; k < count; k += 37) {
            const auto of = [&](const auto& v) {
              return Reference::to_host(Kokkos::subview(v, k, Kokkos::ALL));
            };
            EXPECT_LE(Reference::backward_error(host_A, of(x), of(b)), scaled<T>(1e-15));
          }
        }
      }
    }
  }
}

// ---- where pivoting is needed

// Host calls and teams: beyond what a Status tolerates, a finite x without notice is a lie.
template <class T>
void flags_what_it_cannot_solve(int seeds) {
  const TEST_EXECSPACE exec;
  int wrong = 0, silent = 0;
  const auto judge = [&](Gallery type, std::int64_t n, int seed, Boundary boundary) {
    const auto A = Trikkos::gallery<T>(exec, type, n, seed, boundary);
    const auto host_A = Reference::to_host(A);
    const auto known = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, seed + 1));
    const auto host_b = Reference::multiply(host_A, known);
    const auto b = Reference::to_device(exec, host_b);
    for (const int steps : {0, 2, 100, -1}) {  // -1: a team
      const Vector<T> x("x", n);
      bool ok;
      if (steps >= 0) {
        ok = Trikkos::solve(exec, A, b, x, Options(pcr).pcr({.reduction_steps = steps})).ok();
      } else if (n <= largest_in_team<T>) {
        const Kokkos::View<T**, TEST_EXECSPACE> B("b", 1, n), X("x", 1, n);
        ::Test::copy(Kokkos::subview(B, 0, Kokkos::ALL), b);
        ok = solve_in_teams<T>(A, B, X, pcr, 0)[0] == 0;
        ::Test::copy(x, Kokkos::subview(X, 0, Kokkos::ALL));
      } else {
        continue;
      }
      const double eta = Reference::backward_error(host_A, Reference::to_host(x), host_b);
      const bool bad = !(eta <= Test::Breaker::promised<T>({pcr}));
      wrong += bad;
      silent += bad && ok;
      EXPECT_FALSE(bad && ok) << "eta " << eta << " but ok: " << name(type) << ", n " << n
                              << ", seed " << seed << ", " << name(boundary) << ", steps " << steps;
    }
  };
  for (const Gallery type : Trikkos::gallery_types) {
    const bool svd = std::string(name(type)).starts_with("randsvd");
    for (const Boundary boundary : boundaries) {
      if (svd && boundary == Boundary::periodic) continue;
      for (const std::int64_t n : {1, 2, 3, 4, 5, 8})
        for (int seed = 0; seed < seeds; ++seed) judge(type, n, seed, boundary);
      for (const std::int64_t n : {100, 512, 1500})
        for (int seed = 1; seed <= (svd ? 1 : 3); ++seed)
          if (!svd || n < 1000) judge(type, n, seed, boundary);
    }
  }
  EXPECT_GT(wrong, 100);  // it was a test
  EXPECT_EQ(silent, 0);
}

// The judge can say no: what it must not solve, it does not solve, and says so.
void fails_without_dominance() {
  const TEST_EXECSPACE exec;
  for (const Gallery type :
       {Gallery::toeplitz_1e_8_entrywise, Gallery::clement, Gallery::zero_diagonal_toeplitz}) {
    for (const std::int64_t n : {512, 5000}) {
      SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n));
      const auto A = Trikkos::gallery<double>(exec, type, n);
      const auto b = Reference::to_device(
          exec, Reference::multiply(Reference::to_host(A),
                                    Reference::to_host(Trikkos::gallery_rhs<double>(exec, n, 2))));
      const Vector<double> x("x", n);
      const Status status = Trikkos::solve(exec, A, b, x, pcr);
      EXPECT_FALSE(status.ok());
      EXPECT_FALSE(Reference::backward_error(Reference::to_host(A), Reference::to_host(x),
                                             Reference::to_host(b)) <= 1e-15);
    }
  }
}

void names_row_and_reason() {
  const TEST_EXECSPACE exec;
  const auto status = [&](const Host<double>& A, std::int64_t bad_b, int steps) {
    std::vector<double> b(A.diag.size(), 1.);
    if (bad_b >= 0) b[bad_b] = std::numeric_limits<double>::quiet_NaN();
    const auto x = Reference::to_device(exec, b);
    return Trikkos::solve(exec, Reference::to_device(exec, A), x, x,
                          Options(pcr).pcr({.reduction_steps = steps}));
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t n : {1, 2, 50, 3000}) {
    for (const int steps : {0, 3, 100}) {
      for (const bool periodic : {false, true}) {
        const auto ones = std::vector<double>(n, 1.);
        const Host<double> good{ones, std::vector<double>(n, 4.), ones, periodic};
        EXPECT_TRUE(status(good, -1, steps).ok());
        for (const std::int64_t row : {std::int64_t(0), n / 2, n - 1}) {
          SCOPED_TRACE("n " + std::to_string(n) + ", row " + std::to_string(row) + ", steps " +
                       std::to_string(steps) + ", periodic " + std::to_string(periodic));
          for (int what = 0; what < 4; ++what) {
            Host<double> A = good;
            if (what == 1) A.diag[row] = nan;
            if (what == 2) A.diag[row] = inf;
            if (what == 3) (row > 0 ? A.lower : A.diag)[row] = inf;
            const Status s = status(A, what == 0 ? row : -1, steps);
            EXPECT_EQ(s.reason, Status::Reason::not_finite) << what;
            EXPECT_EQ(s.row, row) << what;
          }
          Host<double> A = good;  // singular
          A.lower[row] = A.diag[row] = A.upper[row] = 0;
          EXPECT_EQ(status(A, -1, steps).reason, Status::Reason::unstable);
        }
      }
    }
  }
}

}  // namespace

TEST(TEST_CATEGORY, pcr_solves_dominant_matrices_float) { solves_dominant_matrices<float>(); }
TEST(TEST_CATEGORY, pcr_solves_dominant_matrices_double) { solves_dominant_matrices<double>(); }
TEST(TEST_CATEGORY, pcr_solves_dominant_matrices_complex) {
  solves_dominant_matrices<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, pcr_never_flags_dominance) {
  never_flags_dominance<double>();
  never_flags_dominance<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, pcr_solves_many) {
  solves_many<double, Kokkos::LayoutRight>();
  solves_many<Kokkos::complex<float>, Kokkos::LayoutLeft>();
}
TEST(TEST_CATEGORY, pcr_solves_in_teams) {
  solves_in_teams<float>();
  solves_in_teams<double>();
  solves_in_teams<Kokkos::complex<double>>();
}
TEST(TEST_CATEGORY, pcr_flags_what_it_cannot_solve_float) { flags_what_it_cannot_solve<float>(8); }
TEST(TEST_CATEGORY, pcr_flags_what_it_cannot_solve_double) {
  flags_what_it_cannot_solve<double>(20);
}
TEST(TEST_CATEGORY, pcr_flags_what_it_cannot_solve_complex) {
  flags_what_it_cannot_solve<Kokkos::complex<double>>(8);
}
TEST(TEST_CATEGORY, pcr_fails_without_dominance) { fails_without_dominance(); }
TEST(TEST_CATEGORY, pcr_names_row_and_reason) { names_row_and_reason(); }
