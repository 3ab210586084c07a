// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The oracle itself, against dense elimination and by hand.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Reference.hpp>
#include <Trikkos_Gallery.hpp>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

constexpr double reference_nan = std::numeric_limits<double>::quiet_NaN();

// Textbook elimination with row pivoting on the full matrix, written down from its definition.
template <class T>
std::vector<T> dense_solve(const Reference::HostSystem<T>& A, const std::vector<T>& right) {
  constexpr bool is_complex = !std::is_floating_point_v<T>;
  using V = std::conditional_t<is_complex, std::complex<long double>, long double>;
  const auto convert = [](T v) -> V {
    if constexpr (is_complex) {
      return {v.real(), v.imag()};
    } else {
      return v;
    }
  };
  const int n = static_cast<int>(A.size());
  std::vector<std::vector<V>> M(n, std::vector<V>(n));
  std::vector<V> b(n);
  for (int i = 0; i < n; ++i) {
    b[i] = convert(right[i]);
    M[i][i] += convert(A.diag[i]);
    if (i > 0) M[i][i - 1] += convert(A.lower[i]);
    if (i + 1 < n) M[i][i + 1] += convert(A.upper[i]);
  }
  if (A.periodic && n > 0) {
    M[0][n - 1] += convert(A.lower[0]);
    M[n - 1][0] += convert(A.upper[n - 1]);
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k; i < n; ++i) {
      if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
    }
    std::swap(M[k], M[pivot]);
    std::swap(b[k], b[pivot]);
    for (int i = k + 1; i < n; ++i) {
      const V factor = M[i][k] / M[k][k];
      for (int j = k; j < n; ++j) M[i][j] -= factor * M[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) b[k] -= M[k][j] * b[j];
    b[k] /= M[k][k];
  }
  std::vector<T> x(n);
  for (int i = 0; i < n; ++i) {
    if constexpr (is_complex) {
      using R = typename T::value_type;
      x[i] = T(static_cast<R>(b[i].real()), static_cast<R>(b[i].imag()));
    } else {
      x[i] = static_cast<T>(b[i]);
    }
  }
  return x;
}

template <class T>
void reference_agrees_with_dense() {
  using Real = decltype(Kokkos::abs(T{}));
  constexpr double epsilon = std::numeric_limits<Real>::epsilon();
  const TEST_EXECSPACE exec;
  for (const auto boundary : {Trikkos::Boundary::open, Trikkos::Boundary::periodic}) {
    for (int n = 0; n < 14; ++n) {
      SCOPED_TRACE(n);
      const auto A =
          Reference::to_host(Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform, n, 5, boundary));
      const auto b = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n));
      const auto x = Reference::solve(A, b);
      ASSERT_EQ(x.size(), b.size());
      EXPECT_LE(Reference::relative_difference(x, dense_solve(A, b)), 2 * epsilon);
      EXPECT_LE(Reference::backward_error(A, x, b), epsilon);
    }
  }
}

}  // namespace

TEST(TEST_CATEGORY, reference_float_agrees_with_dense_elimination) {
  reference_agrees_with_dense<float>();
}
TEST(TEST_CATEGORY, reference_double_agrees_with_dense_elimination) {
  reference_agrees_with_dense<double>();
}
TEST(TEST_CATEGORY, reference_complex_float_agrees_with_dense_elimination) {
  reference_agrees_with_dense<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, reference_complex_double_agrees_with_dense_elimination) {
  reference_agrees_with_dense<Kokkos::complex<double>>();
}

TEST(TEST_CATEGORY, reference_pivots) {
  // Every leading block of odd size is singular, and what is not read is NaN.
  const Reference::HostSystem<double> A{
      {reference_nan, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, reference_nan}};
  EXPECT_EQ(Reference::solve(A, {2, 4, 6, 3}), (std::vector<double>{1, 2, 3, 4}));
}

TEST(TEST_CATEGORY, reference_is_not_fooled_by_row_scaling) {
  const TEST_EXECSPACE exec;
  const auto A =
      Reference::to_host(Trikkos::gallery<double>(exec, Trikkos::Gallery::graded_rows, 500));
  const auto x = Reference::to_host(Trikkos::gallery_rhs<double>(exec, 500));
  EXPECT_LE(Reference::relative_difference(Reference::solve(A, Reference::multiply(A, x)), x),
            1e-12);
}

TEST(TEST_CATEGORY, reference_solves_rings) {
  const Reference::HostSystem<double> one{{1}, {2}, {4}, true};  // the corners fall on the diagonal
  EXPECT_EQ(Reference::solve(one, {14}), std::vector<double>{2});
  const Reference::HostSystem<double> two{{1, 2}, {1, 1}, {3, 4}, true};  // 1 4; 6 1
  EXPECT_EQ(Reference::solve(two, {9, 8}), (std::vector<double>{1, 2}));
  const Reference::HostSystem<double> three{{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, true};
  EXPECT_EQ(Reference::solve(three, {5, 4, 3}), (std::vector<double>{1, 2, 3}));
}

TEST(TEST_CATEGORY, reference_finds_singular_matrices) {
  const Reference::HostSystem<double> ring{{1, 1, 1, 1}, {0, 0, 0, 0}, {1, 1, 1, 1}, true};
  EXPECT_TRUE(Reference::is_singular(ring));  // columns 0 and 2 are equal
  const Reference::HostSystem<double> zero{{0}, {0}, {0}};
  EXPECT_TRUE(Reference::is_singular(zero));
  EXPECT_TRUE(std::isnan(Reference::solve(zero, {1})[0]));
  EXPECT_FALSE(Reference::is_singular(Reference::HostSystem<double>{}));
}

TEST(TEST_CATEGORY, reference_measures_errors) {
  using V = std::vector<double>;
  const Reference::HostSystem<double> two{{reference_nan}, {2}, {reference_nan}};
  EXPECT_DOUBLE_EQ(Reference::backward_error(two, V{1}, V{3}), 0.2);  // 1 / (2 * 1 + 3)
  EXPECT_DOUBLE_EQ(Reference::relative_residual(two, V{1}, V{3}), 1. / 3);
  EXPECT_EQ(Reference::backward_error(two, V{0}, V{0}), 0);
  EXPECT_TRUE(std::isnan(Reference::backward_error(two, V{reference_nan}, V{3})));
  EXPECT_TRUE(
      std::isnan(Reference::backward_error(two, V{std::numeric_limits<double>::infinity()}, V{3})));

  const Reference::HostSystem<double> A{{0, 1, -2}, {-3, 4, 5}, {6, -7, 0}};
  const V x{1, 2, 3}, b{9, -12, 12};
  EXPECT_EQ(Reference::multiply(A, x), (V{9, -12, 11}));
  EXPECT_DOUBLE_EQ(Reference::backward_error(A, x, b), 1. / (12 * 3 + 12));
  EXPECT_DOUBLE_EQ(Reference::relative_residual(A, x, b), 1 / std::sqrt(81. + 144 + 144));
  EXPECT_TRUE(std::isnan(Reference::backward_error(A, V{reference_nan, 2, 3}, b)));  // first, too
}

TEST(TEST_CATEGORY, reference_resolves_below_rounding_and_beyond_the_range) {
  using V = std::vector<double>;
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const Reference::HostSystem<double> third{{0}, {3}, {0}};
  // 3 x = 1 in double is exact to all appearances; the residual of the rounded 1/3 is epsilon / 4.
  EXPECT_DOUBLE_EQ(Reference::backward_error(third, V{1. / 3}, V{1}), epsilon / 4 / 2);
  const Reference::HostSystem<double> huge{{0}, {1e300}, {0}}, tiny{{0}, {1e-300}, {0}};
  EXPECT_DOUBLE_EQ(Reference::backward_error(huge, V{1e300}, V{0}), 1);
  EXPECT_DOUBLE_EQ(Reference::backward_error(tiny, V{1e-300}, V{0}), 1);
  EXPECT_DOUBLE_EQ(Reference::relative_residual(huge, V{2e0}, V{1e300}), 1);
}

TEST(TEST_CATEGORY, reference_transposes) {
  using T = Kokkos::complex<double>;
  const TEST_EXECSPACE exec;
  for (const auto boundary : {Trikkos::Boundary::open, Trikkos::Boundary::periodic}) {
    for (int n = 1; n < 6; ++n) {
      const auto A =
          Reference::to_host(Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform, n, 1, boundary));
      const auto x = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, 2));
      const auto y = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, 3));
      for (const bool conjugate : {false, true}) {
        const auto Ax = Reference::multiply(A, x);
        const auto By = Reference::multiply(Reference::transpose(A, conjugate), y);
        T left = 0, right = 0;  // y^T A x and (A^T y)^T x
        for (int i = 0; i < n; ++i) {
          left += (conjugate ? Kokkos::conj(y[i]) : y[i]) * Ax[i];
          right += (conjugate ? Kokkos::conj(By[i]) : By[i]) * x[i];
        }
        EXPECT_NEAR(Kokkos::abs(left - right), 0, 1e-15 * 3 * n);
      }
    }
  }
}

TEST(TEST_CATEGORY, reference_copies_any_view) {
  const TEST_EXECSPACE exec;
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const auto view = Reference::to_device(exec, values);
  EXPECT_EQ(Reference::to_host(view), values);
  const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> rows("rows", 6, 3);
  const auto column = Kokkos::subview(rows, Kokkos::ALL, 1);
  ::Test::copy(column, view);
  EXPECT_EQ(Reference::to_host(column), values);

  const Reference::HostSystem<double> A{{0, 1}, {2, 3}, {4, 5}, true};
  const auto B = Reference::to_host(Reference::to_device(exec, A));
  EXPECT_EQ(B.lower, A.lower);
  EXPECT_EQ(B.diag, A.diag);
  EXPECT_EQ(B.upper, A.upper);
  EXPECT_TRUE(B.periodic);
}
