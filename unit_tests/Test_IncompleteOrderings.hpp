// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Orders of rows inside a preconditioner: what they are, and that factors are those of the matrix
// that has its rows and columns in that order.

#include <gtest/gtest.h>

#include <SparseMatrices.hpp>
#include <TriangularSolves.hpp>
#include <Trikkos_ConjugateGradient.hpp>
#include <numeric>

namespace {

using Trikkos::IncompleteCholesky;
using Trikkos::IncompleteLu;
using Trikkos::IncompleteOptions;
using Trikkos::IncompleteOrdering;

using ::Test::HostMatrix;

constexpr IncompleteOrdering orderings[] = {IncompleteOrdering::multicolour,
                                            IncompleteOrdering::reverse_cuthill_mckee};

// Row p of the result is row order[p] of A, columns alike.
template <class T>
HostMatrix<T> permuted(const HostMatrix<T>& A, const std::vector<std::int32_t>& order) {
  std::vector<int> position(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) position[order[p]] = static_cast<int>(p);
  HostMatrix<T> r;
  for (const int i : order) {
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      r.add(position[A.entries[k]], A.values[k]);
    r.end_row();
  }
  return r;
}
template <class T>
HostMatrix<T> lower_part(const HostMatrix<T>& A) {
  HostMatrix<T> r;
  for (int i = 0; i < A.rows(); ++i) {
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] <= i) r.add(A.entries[k], A.values[k]);
    r.end_row();
  }
  return r;
}

bool is_permutation(std::vector<std::int32_t> order, int n) {
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

template <class Factors>
std::string pattern_and_bits(const Factors& factors) {
  const auto F = factors.factors();
  std::string r;
  const auto append = [&](const auto& v) {
    r.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
  };
  append(::Test::to_vector(F.row_map));
  append(::Test::to_vector(F.entries));
  append(::Test::to_vector(F.values));
  return r;
}

// Factors and solves of A in an order, and those of the matrix in that order. `given` is what is
// read of A, and perhaps more.
template <template <class, class> class Incomplete, class Exec, class T>
void expect_same(const HostMatrix<T>& A, const HostMatrix<T>& given) {
  const ::Test::TimeLimit limit;
  const Exec exec;
  const int n = A.rows();
  for (const auto ordering : orderings) {
    SCOPED_TRACE(name(ordering));
    const auto options = IncompleteOptions{}.ordering(ordering);
    const auto matrix = ::Test::csr_on_device<Exec>(given);
    const Incomplete<T, Exec> factors(exec, matrix, options);
    const auto order = ::Test::to_vector(factors.order());
    ASSERT_TRUE(is_permutation(order, n));
    const auto other = ::Test::csr_on_device<Exec>(permuted(A, order));
    const Incomplete<T, Exec> expected(exec, other);
    EXPECT_EQ(expected.order().extent(0), 0);
    EXPECT_TRUE(pattern_and_bits(factors) == pattern_and_bits(expected));
    factors.update(exec, matrix);
    EXPECT_TRUE(pattern_and_bits(factors) == pattern_and_bits(expected));
    EXPECT_EQ(factors.status(exec).ok(), expected.status(exec).ok());

    // Three systems, where there is memory for one, in the place of b, and with strides.
    const auto b = ::Test::random_vector<T>(3 * std::int64_t(n));
    const Kokkos::View<T**, Kokkos::LayoutLeft, Exec> x("x", 3, n), y("y", 3, n);
    const auto right = Kokkos::create_mirror_view(x), ordered = Kokkos::create_mirror_view(y);
    for (int k = 0; k < 3; ++k)
      for (int p = 0; p < n; ++p) {
        right(k, p) = b[k * n + p];
        ordered(k, p) = b[k * n + order[p]];
      }
    Kokkos::deep_copy(x, right);
    Kokkos::deep_copy(y, ordered);
    Trikkos::solve(exec, factors, x, x);
    Trikkos::solve(exec, expected, y, y);
    exec.fence();
    Kokkos::deep_copy(right, x);
    Kokkos::deep_copy(ordered, y);
    int different = 0;
    for (int k = 0; k < 3; ++k)
      for (int p = 0; p < n; ++p) different += right(k, order[p]) != ordered(k, p);
    EXPECT_EQ(different, 0);
  }
}
template <class Exec, class T>
void expect_lu(const HostMatrix<T>& A) {
  expect_same<IncompleteLu, Exec>(A, A);
}
// Of a Hermitian matrix the lower triangle alone may be there.
template <class Exec, class T>
void expect_hermitian(const HostMatrix<T>& A) {
  expect_same<IncompleteCholesky, Exec>(A, A);
  expect_same<IncompleteCholesky, Exec>(A, lower_part(A));
}

// A's rows in a random order.
template <class T>
HostMatrix<T> in_random_order(const HostMatrix<T>& A) {
  std::vector<std::int32_t> order(A.rows());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[Trikkos::Impl::random_bits(5, 0, std::int64_t(i)) % i]);
  return permuted(A, order);
}
// Two grids, rows of nothing else than a diagonal entry, and a pair, in a random order.
HostMatrix<double> disconnected() {
  HostMatrix<double> A;
  int first = 0;
  for (const int m : {7, 4}) {
    const auto part = ::Test::laplacian<double>(m, 2);
    for (int i = 0; i < part.rows(); ++i) {
      for (int k = part.row_map[i]; k < part.row_map[i + 1]; ++k)
        A.add(first + part.entries[k], part.values[k]);
      A.end_row();
    }
    first += part.rows();
    for (int k = 0; k < 3; ++k, ++first) {
      A.add(first, 2);
      A.end_row();
    }
  }
  for (const int i : {0, 1}) {
    A.add(first + i, 3);
    A.add(first + 1 - i, 1);
    A.end_row();
  }
  return in_random_order(A);
}

int bandwidth(const HostMatrix<double>& A) {
  int widest = 0;
  ::Test::for_entries(A, [&](int i, int j, double) { widest = std::max(widest, std::abs(i - j)); });
  return widest;
}

template <class Exec>
void orderings_do_their_work() {
  const Exec exec;
  const auto grid = ::Test::laplacian<double>(20, 2);
  const auto A = in_random_order(grid);
  const auto matrix = ::Test::csr_on_device<Exec>(A);
  const auto with = [](IncompleteOrdering o) { return IncompleteOptions{}.ordering(o); };
  const IncompleteLu natural(exec, matrix), colours(exec, matrix, with(orderings[0])),
      rcm(exec, matrix, with(orderings[1]));
  EXPECT_EQ(::Test::to_vector(natural.order()).size(), 0);
  // At most as many colours as a row has entries; fewer is not possible than two.
  EXPECT_GE(colours.lower().levels(), 2);
  EXPECT_LE(colours.lower().levels(), 5);
  EXPECT_GT(natural.lower().levels(), 5);
  // A grid of 20 x 20 by diagonals.
  EXPECT_GT(bandwidth(A), 300);
  EXPECT_LE(bandwidth(permuted(A, ::Test::to_vector(rcm.order()))), 20);
  EXPECT_NE(colours.describe().find("ILU(0) of 400 rows, 1920 entries, order multicolour"),
            std::string::npos)
      << colours.describe();

  const std::vector<double> ones(A.rows(), 1);
  const auto b = ::Test::on_device<double, Exec>(ones);
  std::vector<std::int64_t> iterations;
  for (const auto ordering : {IncompleteOrdering::natural, orderings[0], orderings[1]}) {
    SCOPED_TRACE(name(ordering));
    const IncompleteCholesky ic(exec, matrix, with(ordering));
    const Trikkos::ConjugateGradient<double, Exec> cg(exec, A.rows(),
                                                      Trikkos::KrylovOptions{}.relative(1e-10));
    const Kokkos::View<double*, Exec> x("x", A.rows());
    const auto result = Trikkos::solve(exec, cg, matrix, ic, b, x);
    EXPECT_TRUE(result.ok()) << result.why();
    EXPECT_LE(::Test::relative_residual(A, ::Test::to_vector(x), ones), 1e-10);
    iterations.push_back(result.iterations);
  }
  EXPECT_LT(iterations[2], iterations[1]);  // fewer by diagonals than by colours
  EXPECT_LE(iterations[1], 50);
}

// Rows of A are reported, and missing entries count as stored zeros in any order.
template <class Exec>
void statuses_are_about_rows_of_A() {
  const Exec exec;
  auto A = ::Test::laplacian<double>(9, 2);
  HostMatrix<double> bad;  // row 17 is empty, column 17 too; row 40 has nothing but zeros
  for (int i = 0; i < A.rows(); ++i) {
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (i != 17 && A.entries[k] != 17) bad.add(A.entries[k], i == 40 ? 0 : A.values[k]);
    bad.end_row();
  }
  auto infinite = bad;
  infinite.values[infinite.row_map[33]] = HUGE_VAL;
  for (const auto ordering : orderings) {
    SCOPED_TRACE(name(ordering));
    const auto options = IncompleteOptions{}.ordering(ordering);
    const auto s = IncompleteLu(exec, ::Test::csr_on_device<Exec>(bad), options).status(exec);
    EXPECT_EQ(s.missing_row, 17);
    EXPECT_EQ(s.missing, 1);
    EXPECT_EQ(s.breakdowns, 2);
    EXPECT_TRUE(s.row == 17 || s.row == 40) << s.why();
    EXPECT_EQ(s.row, s.breakdown_row);
    const auto t = IncompleteLu(exec, ::Test::csr_on_device<Exec>(infinite), options).status(exec);
    EXPECT_EQ(t.why(), "Inf or NaN in the matrix (row 33)");
    const HostMatrix<double> nothing;
    const IncompleteLu none(exec, ::Test::csr_on_device<Exec>(nothing), options);
    EXPECT_TRUE(none.status(exec).ok());
    const Kokkos::View<double*, Exec> x("x", 0);
    Trikkos::solve(exec, none, x, x);
  }
}

}  // namespace

TEST(TEST_CATEGORY, incomplete_orderings_factors) {
  using Exec = TEST_EXECSPACE;
  expect_lu<Exec>(in_random_order(::Test::laplacian<double>(13, 2, 0.5)));
  expect_lu<Exec>(::Test::grid<float>(5, 3, true));
  expect_lu<Exec>(::Test::triangle<double>(700, ::Test::random_neighbours(3)));  // not symmetric
  expect_lu<Exec>(::Test::dense_triangle<double>(150));  // more colours than bits of a word
  for (const int n : {0, 1, 2, 3})
    expect_lu<Exec>(::Test::triangle<double>(n, ::Test::random_neighbours(1), true));
}
TEST(TEST_CATEGORY, incomplete_orderings_hermitian) {
  using Exec = TEST_EXECSPACE;
  expect_hermitian<Exec>(in_random_order(::Test::laplacian<double>(6, 3)));
  expect_hermitian<Exec>(in_random_order(::Test::laplacian<Kokkos::complex<double>>(11, 2)));
  expect_hermitian<Exec>(disconnected());
  expect_lu<Exec>(disconnected());
}
TEST(TEST_CATEGORY, incomplete_orderings_work) { orderings_do_their_work<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, incomplete_orderings_status) { statuses_are_about_rows_of_A<TEST_EXECSPACE>(); }
