// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ILU(0) and IC(0), entry by entry against host factors in wide numbers; breakdowns by row and
// count, and every repair of them.

#include <gtest/gtest.h>

#include <Message.hpp>
#include <SparseMatrices.hpp>
#include <TriangularSolves.hpp>

namespace {

using Trikkos::IncompleteKind;
using Trikkos::IncompleteOptions;
using Trikkos::IncompleteStatus;
using Trikkos::OnBreakdown;
using Trikkos::TriangularAlgorithm;
using Trikkos::TriangularOptions;

using ::Test::HostMatrix;
using ::Test::ReferenceFactors;

using Reason = IncompleteStatus::Reason;

template <IncompleteKind kind, class Exec, class Matrix>
auto factors_of(const Exec& exec, const Matrix& A, const IncompleteOptions& options = {}) {
  if constexpr (kind == IncompleteKind::lu)
    return Trikkos::IncompleteLu(exec, A, options);
  else
    return Trikkos::IncompleteCholesky(exec, A, options);
}

// The largest difference of an entry, in units in the last place of the largest of its row; 1e300
// where the patterns differ.
template <class T, class Factors>
double entry_errors(const Factors& factors, const ReferenceFactors<T>& expected) {
  const auto F = factors.factors();
  const auto start = ::Test::to_vector(F.row_map);
  const auto column = ::Test::to_vector(F.entries);
  const auto value = ::Test::to_vector(F.values);
  double worst = 0;
  for (std::size_t i = 0; i < expected.rows.size(); ++i) {
    const auto& row = expected.rows[i];
    if (start[i + 1] - start[i] != static_cast<std::int64_t>(row.size())) return 1e300;
    double largest = 0, error = 0;
    std::int64_t k = start[i];
    for (const auto& [j, v] : row) {
      if (column[k] != j) return 1e300;
      largest = std::max(largest, static_cast<double>(Reference::modulus(v)));
      const auto e = static_cast<double>(Reference::modulus(Reference::widen(value[k++]) - v));
      if (!(e <= error)) error = e;
    }
    const double units = error / std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon();
    if (error != 0 && !(units <= worst * largest)) worst = units / largest;
  }
  return worst;
}

// By every algorithm: the same bits, and those near the reference.
template <class Exec, IncompleteKind kind, class T>
void expect_factors(const std::string& what, const HostMatrix<T>& A) {
  const ::Test::TimeLimit limit;
  const Exec exec;
  const auto matrix = ::Test::csr_on_device<Exec>(A);
  const ReferenceFactors<T> expected(A, kind);
  std::vector<T> first;
  for (const auto algorithm : ::Test::algorithms_of<Exec>()) {
    SCOPED_TRACE(what + ", " + name(algorithm));
    const auto options = IncompleteOptions{}.triangular(TriangularOptions{}.algorithm(algorithm));
    const auto factors = factors_of<kind>(exec, matrix, options);
    EXPECT_TRUE(factors.status(exec).ok()) << factors.status(exec).why();
    EXPECT_EQ(factors.status(exec).why(), "ok");
    EXPECT_LE(entry_errors(factors, expected), 45);
    const auto bits = ::Test::to_vector(factors.factors().values);
    if (first.empty()) first = bits;
    EXPECT_TRUE(::Test::same_bits(bits, first));
    for (int run = 0; run < 2; ++run) {
      factors.update(exec, matrix);
      exec.fence();
      EXPECT_TRUE(::Test::same_bits(::Test::to_vector(factors.factors().values), first));
    }
    if (testing::Test::HasFailure()) return;
  }
}

// A diagonal that dominates the Hermitian matrix of A's lower triangle.
template <class T>
HostMatrix<T> positive(HostMatrix<T> A) {
  std::vector<double> sum(A.rows(), 1);
  ::Test::for_entries(A, [&](int i, int j, const T& v) {
    if (j >= i) return;
    sum[i] += Kokkos::abs(v);
    sum[j] += Kokkos::abs(v);
  });
  for (int i = 0; i < A.rows(); ++i)
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] == i) A.values[k] = T(sum[i]);
  return A;
}

template <class Exec, class T>
void expect_both(const std::string& what, const HostMatrix<T>& A) {
  expect_factors<Exec, IncompleteKind::lu>(what + ", LU", A);
  expect_factors<Exec, IncompleteKind::cholesky>(what + ", Cholesky", positive(A));
}

template <class T>
HostMatrix<T> random_matrix(int n, int count) {
  return ::Test::triangle<T>(n, ::Test::random_neighbours(count), true);
}
// A row of all, a column of all.
template <class T>
HostMatrix<T> arrow(int n) {
  return ::Test::triangle<T>(
      n,
      [=](int i, const auto& add) {
        if (i == n - 1)
          for (int j = 0; j < i; ++j) add(j);
      },
      true);
}
// Entries of a row backwards, each in two parts.
template <class T>
HostMatrix<T> scattered(const HostMatrix<T>& A) {
  HostMatrix<T> r;
  for (int i = 0; i < A.rows(); ++i) {
    for (const double part : {0.25, 0.75})
      for (int k = A.row_map[i + 1]; k-- > A.row_map[i];)
        r.add(A.entries[k], A.values[k] * T(part));
    r.end_row();
  }
  return r;
}

// Blocks of two rows, [2 1; 1 2], or, one of three, [1 1; 1 1], whose second pivot is zero; and
// rows below that need all second rows of blocks.
template <class T>
HostMatrix<T> singular_blocks(int blocks) {
  HostMatrix<T> A;
  for (int b = 0; b < blocks; ++b)
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) A.add(2 * b + j, T(i == j && b % 3 != 1 ? 2 : 1));
      A.end_row();
    }
  for (int i = 2 * blocks; i < 2 * blocks + 5; ++i) {
    for (int b = 0; b < blocks; ++b) A.add(2 * b + 1, T(1));
    A.add(i, T(8 * blocks));
    A.end_row();
  }
  return A;
}

struct Expected {
  bool ok;
  std::int64_t row, breakdown_row, breakdowns;
  double shift = 0;
};
template <class Exec, IncompleteKind kind, class T>
void expect_breakdown(const HostMatrix<T>& A, const IncompleteOptions& options,
                      const Expected& expected) {
  const ::Test::TimeLimit limit;
  const Exec exec;
  for (const auto algorithm : ::Test::algorithms_of<Exec>()) {
    SCOPED_TRACE(std::string(name(options.on_breakdown())) + ", " + name(algorithm));
    IncompleteOptions with = options;
    with.triangular(TriangularOptions{}.algorithm(algorithm));
    const auto factors = factors_of<kind>(exec, ::Test::csr_on_device<Exec>(A), with);
    const auto s = factors.status(exec);
    EXPECT_EQ(s.ok(), expected.ok) << s.why();
    EXPECT_EQ(s.row, expected.row);
    EXPECT_EQ(s.breakdown_row, expected.breakdown_row);
    EXPECT_EQ(s.breakdowns, expected.breakdowns);
    EXPECT_EQ(s.shift, expected.shift);
    const ReferenceFactors<T> of_shifted(A, kind, options, s.shift);
    EXPECT_EQ(s.row, of_shifted.stuck_row);
    EXPECT_LE(entry_errors(factors, of_shifted), 45);
    const ReferenceFactors<T> of_A(A, kind, options);
    EXPECT_EQ(s.breakdown_row, of_A.breakdown_row);
    EXPECT_EQ(s.breakdowns, of_A.breakdowns);
  }
}

template <class Exec, class T>
void expect_repairs() {
  const auto A = singular_blocks<T>(20);  // 7 of them broken
  constexpr auto lu = IncompleteKind::lu, cholesky = IncompleteKind::cholesky;
  expect_breakdown<Exec, lu>(A, {}, {false, 3, 3, 7});
  expect_breakdown<Exec, lu>(A, IncompleteOptions{}.replace(4), {true, -1, 3, 7});
  expect_breakdown<Exec, lu>(A, IncompleteOptions{}.boost(0.25), {true, -1, 3, 7});
  expect_breakdown<Exec, lu>(A, IncompleteOptions{}.shift(0.5), {true, -1, 3, 7, 0.5});
  expect_breakdown<Exec, cholesky>(A, {}, {false, 3, 3, 7});
  expect_breakdown<Exec, cholesky>(A, IncompleteOptions{}.replace(4), {true, -1, 3, 7});
  expect_breakdown<Exec, cholesky>(A, IncompleteOptions{}.boost(0.25), {true, -1, 3, 7});
  expect_breakdown<Exec, cholesky>(A, IncompleteOptions{}.shift(0.5), {true, -1, 3, 7, 0.5});
}

template <class T>
HostMatrix<T> diagonal_matrix(const std::vector<T>& d) {
  HostMatrix<T> A;
  for (std::size_t i = 0; i < d.size(); ++i) {
    A.add(static_cast<int>(i), d[i]);
    A.end_row();
  }
  return A;
}

}  // namespace

TEST(TEST_CATEGORY, incomplete_patterns) {
  using Exec = TEST_EXECSPACE;
  expect_both<Exec>("5-point", ::Test::grid<double>(20, 2, false));
  expect_both<Exec>("27-point", ::Test::grid<double>(6, 3, true));
  expect_both<Exec>("random", random_matrix<double>(1000, 4));
  expect_both<Exec>("arrow", arrow<double>(300));
  expect_both<Exec>("dense", ::Test::dense_triangle<double>(60));
  expect_both<Exec>("scattered", scattered(::Test::grid<double>(9, 2, true)));
  expect_both<Exec>("lower only", ::Test::triangle<double>(500, ::Test::random_neighbours(3)));
}

TEST(TEST_CATEGORY, incomplete_sizes) {
  using Exec = TEST_EXECSPACE;
  for (const int n : {0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 257})
    expect_both<Exec>("n " + std::to_string(n), random_matrix<double>(n, 2));
}

TEST(TEST_CATEGORY, incomplete_scalars) {
  using Exec = TEST_EXECSPACE;
  expect_both<Exec>("float", ::Test::grid<float>(12, 2, true));
  expect_both<Exec>("complex double", ::Test::grid<Kokkos::complex<double>>(12, 2, true));
}

TEST(TEST_CATEGORY, incomplete_repairs) {
  using Exec = TEST_EXECSPACE;
  expect_repairs<Exec, double>();
  expect_repairs<Exec, Kokkos::complex<double>>();
}

TEST(TEST_CATEGORY, incomplete_boost_raises_small_pivots) {
  using Exec = TEST_EXECSPACE;
  const auto A = diagonal_matrix<double>({1, -1, 0, 2});
  // A row of zeros has nothing to be a part of.
  expect_breakdown<Exec, IncompleteKind::lu>(A, IncompleteOptions{}.boost(2), {false, 2, 0, 4});
  expect_breakdown<Exec, IncompleteKind::lu>(A, IncompleteOptions{}.boost(0.5), {false, 2, 2, 1});
}

TEST(TEST_CATEGORY, incomplete_shift_grows) {
  using Exec = TEST_EXECSPACE;
  const auto A = diagonal_matrix<double>({1, 1, -1, -2, 3});
  expect_breakdown<Exec, IncompleteKind::cholesky>(A, {}, {false, 2, 2, 2});
  expect_breakdown<Exec, IncompleteKind::cholesky>(A, IncompleteOptions{}.shift(),
                                                   {true, -1, 2, 2, 4});
  const auto hopeless = diagonal_matrix<double>({1, 0, 1, 0});
  expect_breakdown<Exec, IncompleteKind::lu>(hopeless, IncompleteOptions{}.shift(),
                                             {false, 1, 1, 2, 256});
}

TEST(TEST_CATEGORY, incomplete_missing_diagonals) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  // [1 1; 1 .] has the pivots 1 and -1; [. 1; 1 .] has none.
  HostMatrix<double> A;
  for (const auto& row : std::vector<std::vector<int>>{{0, 1}, {0}, {3}, {2}, {4}}) {
    for (const int j : row) A.add(j, 1);
    A.end_row();
  }
  const Trikkos::IncompleteLu factors(exec, ::Test::csr_on_device<Exec>(A));
  const auto s = factors.status(exec);
  EXPECT_EQ(s.missing_row, 1);
  EXPECT_EQ(s.missing, 3);
  EXPECT_EQ(s.breakdown_row, 2);
  EXPECT_EQ(s.breakdowns, 2);
  EXPECT_EQ(s.reason, Reason::zero_pivot);
  EXPECT_EQ(s.why(),
            "a pivot is zero (row 2); breakdown in 2 rows, the first is 2; no diagonal entry in 3 "
            "rows, the first is 1");
  EXPECT_EQ(factors.entries(), 9);
  const auto x = ::Test::to_vector(factors.factors().values);
  EXPECT_EQ(x[3], -1);  // of row 1
}

TEST(TEST_CATEGORY, incomplete_not_finite) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    auto A = ::Test::laplacian<double>(10, 2);
    A.values[A.row_map[37]] = A.values[A.row_map[71]] = bad;
    for (const auto& options : {IncompleteOptions{}, IncompleteOptions{}.shift()}) {
      const Trikkos::IncompleteLu factors(exec, ::Test::csr_on_device<Exec>(A), options);
      const auto s = factors.status(exec);
      EXPECT_EQ(s.reason, Reason::not_finite);
      EXPECT_EQ(s.row, 37);
      EXPECT_EQ(s.why(), "Inf or NaN in the matrix (row 37)");
    }
  }
}

// The plan after an update is that of the new values, whatever the old ones were.
TEST(TEST_CATEGORY, incomplete_update) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  const auto good = ::Test::grid<double>(15, 2, true);
  auto bad = good, other = good;
  for (double& v : bad.values) v = 0;
  for (double& v : other.values) v *= 3;
  const auto at = ::Test::csr_on_device<Exec>(good);
  const auto b = ::Test::random_vector<double>(good.rows());
  const auto right = ::Test::on_device<double, Exec>(b);
  const Kokkos::View<double*, Exec> x("x", b.size()), expected("expected", b.size());
  for (const auto& options : {IncompleteOptions{}, IncompleteOptions{}.shift()}) {
    const Trikkos::IncompleteLu factors(exec, at, options);
    for (const auto& A : {bad, other, good}) {
      Kokkos::deep_copy(at.values, ::Test::on_device<double, Exec>(A.values));
      factors.update(exec, at);
      const Trikkos::IncompleteLu fresh(exec, ::Test::csr_on_device<Exec>(A), options);
      EXPECT_EQ(factors.status(exec).why(), fresh.status(exec).why());
      EXPECT_EQ(factors.status(exec).ok(), A.values != bad.values);
      Trikkos::solve(exec, factors, right, x);
      Trikkos::solve(exec, fresh, right, expected);
      exec.fence();
      if (A.values != bad.values) {
        EXPECT_TRUE(::Test::same_bits(::Test::to_vector(x), ::Test::to_vector(expected)));
      } else {
        EXPECT_FALSE(std::isfinite(::Test::to_vector(x)[0]));
      }
    }
  }
}

// Where there is no fill, incomplete factors are complete.
template <class Exec, IncompleteKind kind, class T>
void expect_solved_completely(const HostMatrix<T>& A) {
  const Exec exec;
  const int n = A.rows();
  const auto factors = factors_of<kind>(exec, ::Test::csr_on_device<Exec>(A));
  const auto b = ::Test::random_vector<T>(n);
  const Kokkos::View<T**, Kokkos::LayoutRight, Exec> x("x", 2, n);
  const auto host = Kokkos::create_mirror_view(x);
  for (int i = 0; i < n; ++i) host(0, i) = host(1, i) = b[i];
  Kokkos::deep_copy(x, host);
  Trikkos::solve(exec, factors, x, x);
  exec.fence();
  Kokkos::deep_copy(host, x);
  for (int k = 0; k < 2; ++k) {
    const std::vector<T> solution(&host(k, 0), &host(k, 0) + n);
    EXPECT_LE(::Test::relative_residual(A, solution, b), 1e-14);
  }
}
TEST(TEST_CATEGORY, incomplete_solves) {
  using Exec = TEST_EXECSPACE;
  using Complex = Kokkos::complex<double>;
  expect_solved_completely<Exec, IncompleteKind::lu>(::Test::dense_triangle<double>(50));
  expect_solved_completely<Exec, IncompleteKind::lu>(::Test::dense_triangle<Complex>(50));
  HostMatrix<Complex> line;  // Hermitian
  for (int i = 0; i < 500; ++i) {
    if (i > 0) line.add(i - 1, Complex(0.6, 0.8));
    line.add(i, Complex(2.5));
    if (i < 499) line.add(i + 1, Complex(0.6, -0.8));
    line.end_row();
  }
  expect_solved_completely<Exec, IncompleteKind::cholesky>(line);
  expect_solved_completely<Exec, IncompleteKind::lu>(line);
}

TEST(TEST_CATEGORY, incomplete_errors) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  const auto error = [&](std::vector<int> row_map, std::vector<int> entries, int values,
                         const IncompleteOptions& options = {}) {
    const Trikkos::CsrMatrix A{::Test::on_device<int, Exec>(row_map),
                               ::Test::on_device<int, Exec>(entries),
                               Kokkos::View<double*, Exec>("values", values)};
    return ::Test::message([&] { Trikkos::IncompleteLu(exec, A, options); });
  };
  const std::string who = "Trikkos::IncompleteFactors: ";
  EXPECT_EQ(error({0, 2, 1, 3}, {0, 1, 2}, 3),
            who + "row_map(2) is 1, expected at least 2 as the one before");
  EXPECT_EQ(error({0, 1, 2}, {0, 2}, 2), who + "entries(1) is 2, expected 0 to 1 (2 rows)");
  EXPECT_EQ(error({0, 1, 2}, {0, 1}, 3), who +
                                             "values has 3 entries, expected 2 "
                                             "(entries.extent(0))");
  EXPECT_EQ(error({}, {}, 0), "(no exception)");
  EXPECT_EQ(error({0}, {}, 0, IncompleteOptions{}.boost(-1)),
            who + "boost is -1.000000, expected a positive number");
  EXPECT_EQ(error({0}, {}, 0,
                  IncompleteOptions{}.triangular(
                      TriangularOptions{}.transpose(Trikkos::Transpose::transpose))),
            who + "triangular().transpose() is given, expected none");
  EXPECT_EQ(error({0}, {}, 0, IncompleteOptions{}.triangular(TriangularOptions{}.rhs_count(0))),
            who + "rhs_count is 0, expected 1 or more");

  const Trikkos::IncompleteLu good(exec,
                                   ::Test::csr_on_device<Exec>(diagonal_matrix<double>({1, 2})));
  const auto longer = ::Test::csr_on_device<Exec>(diagonal_matrix<double>({1, 2, 3}));
  EXPECT_EQ(::Test::message([&] { good.update(exec, longer); }),
            "Trikkos::IncompleteFactors::update: A has 3 rows, expected 2 (the factors)");
  const Trikkos::CsrMatrix wide{longer.row_map, longer.entries, longer.values, 4};
  EXPECT_EQ(::Test::message([&] { Trikkos::IncompleteLu(exec, wide); }),
            who + "A has 4 columns, expected 3 (its rows)");
}
