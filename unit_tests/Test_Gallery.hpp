// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Message.hpp>
#include <Reference.hpp>
#include <Trikkos_Gallery.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>
#ifdef TRIKKOS_HAVE_LAPACK
#  include <lapacke.h>
#endif

namespace {

using ::Test::message;
using Trikkos::Boundary;
using Trikkos::Gallery;

// A gallery matrix on the host.
template <class T = double, class Exec = TEST_EXECSPACE>
Reference::HostSystem<T> gallery_on_host(Gallery type, std::int64_t n, std::uint64_t seed = 0,
                                         Boundary boundary = Boundary::open,
                                         std::int64_t block = 256) {
  const Exec exec;
  return Reference::to_host(Trikkos::gallery<T>(exec, type, n, seed, boundary, block));
}

bool is_nan(double v) { return std::isnan(v); }
template <class R>
bool is_nan(Kokkos::complex<R> v) {
  return std::isnan(v.real()) || std::isnan(v.imag());
}
bool is_finite(double v) { return std::isfinite(v); }
template <class R>
bool is_finite(Kokkos::complex<R> v) {
  return std::isfinite(v.real()) && std::isfinite(v.imag());
}

// Same numbers, NaN being equal to NaN.
template <class T>
bool identical(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i] || (is_nan(a[i]) && is_nan(b[i])))) return false;
  }
  return true;
}
template <class T>
bool identical(const Reference::HostSystem<T>& A, const Reference::HostSystem<T>& B) {
  return identical(A.lower, B.lower) && identical(A.diag, B.diag) && identical(A.upper, B.upper);
}

// Calls f(i, lower, diag, upper) with the entries of every row; 0 for those outside the matrix.
template <class T, class F>
void for_each_row(const Reference::HostSystem<T>& A, F f) {
  const std::int64_t n = A.size();
  for (std::int64_t i = 0; i < n; ++i) {
    f(i, i > 0 ? A.lower[i] : T(0), A.diag[i], i + 1 < n ? A.upper[i] : T(0));
  }
}

// Rows and columns begin to end-1.
Reference::HostSystem<double> principal_block(const Reference::HostSystem<double>& A,
                                              std::int64_t begin, std::int64_t end) {
  const auto cut = [&](const std::vector<double>& v) {
    return std::vector<double>(v.begin() + begin, v.begin() + end);
  };
  return {cut(A.lower), cut(A.diag), cut(A.upper)};
}

// Ratio of extreme singular values, by power iteration with A^T A and its inverse.
double condition_number(const Reference::HostSystem<double>& A) {
  const auto At = Reference::transpose(A);
  const auto normalize = [](std::vector<double>& v) {
    long double square = 0;
    for (const double y : v) square += static_cast<long double>(y) * y;
    const long double norm = std::sqrt(square);
    for (double& y : v) y = static_cast<double>(y / norm);
    return norm;
  };
  std::vector<double> v = Reference::to_host(
      Trikkos::gallery_rhs<double>(Kokkos::DefaultHostExecutionSpace{}, A.size(), 11));
  std::vector<double> w = v;
  normalize(v);
  normalize(w);
  long double largest = 0, smallest_inverse = 0;
  for (int i = 0; i < 100; ++i) {
    v = Reference::multiply(A, v);
    largest = normalize(v);
    v = Reference::multiply(At, v);
    normalize(v);
  }
  for (int i = 0; i < 20; ++i) {
    w = Reference::solve(At, w);
    normalize(w);
    w = Reference::solve(A, w);
    smallest_inverse = normalize(w);
  }
  return static_cast<double>(largest * smallest_inverse);
}

bool is_randsvd(Gallery type) { return std::string(name(type)).starts_with("randsvd"); }
bool has_non_finite_entry(Gallery type) {
  return type == Gallery::nan_entry || type == Gallery::inf_entry;
}

template <class T>
void gallery_has_shape_and_garbage() {
  const TEST_EXECSPACE exec;
  for (const Gallery type : Trikkos::gallery_types) {
    SCOPED_TRACE(name(type));
    for (const std::int64_t n : {0, 1, 2, 3, 10, 31}) {
      SCOPED_TRACE(n);
      const auto A = Trikkos::gallery<T>(exec, type, n);
      static_assert(std::is_same_v<decltype(A),
                                   const Trikkos::Tridiagonal<Kokkos::View<T*, TEST_EXECSPACE>>>);
      EXPECT_EQ(A.lower.label(), "Trikkos::gallery::lower");
      EXPECT_EQ(A.diag.label(), "Trikkos::gallery::diag");
      EXPECT_EQ(A.upper.label(), "Trikkos::gallery::upper");
      EXPECT_EQ(A.boundary, Boundary::open);
      const auto host = Reference::to_host(A);
      ASSERT_EQ(static_cast<std::int64_t>(host.lower.size()), n);
      ASSERT_EQ(static_cast<std::int64_t>(host.diag.size()), n);
      ASSERT_EQ(static_cast<std::int64_t>(host.upper.size()), n);
      if (n == 0) continue;
      EXPECT_TRUE(is_nan(host.lower.front()));
      EXPECT_TRUE(is_nan(host.upper.back()));
      for_each_row(host, [&](std::int64_t i, T l, T d, T u) {
        EXPECT_TRUE(is_finite(l) && is_finite(u)) << i;
        EXPECT_EQ(is_finite(d), !(has_non_finite_entry(type) && i == n / 2)) << i;
      });
    }
  }
}

template <class T>
void gallery_is_the_same_everywhere() {
  for (const Gallery type : Trikkos::gallery_types) {
    SCOPED_TRACE(name(type));
    const std::int64_t n = is_randsvd(type) ? 20 : 1009;
    const auto A = gallery_on_host<T>(type, n, 7);
    EXPECT_TRUE(identical(A, (gallery_on_host<T>(type, n, 7))));
    EXPECT_TRUE(identical(A, (gallery_on_host<T, Kokkos::DefaultHostExecutionSpace>(type, n, 7))));
  }
}

}  // namespace

// ---- names

TEST(TEST_CATEGORY, gallery_names_round_trip) {
  std::set<std::string> names;
  for (const Gallery type : Trikkos::gallery_types) {
    names.insert(name(type));
    EXPECT_EQ(Trikkos::gallery_from_name(name(type)), type);
  }
  EXPECT_EQ(names.size(), Trikkos::gallery_types.size());
  EXPECT_STREQ(name(Gallery::uniform), "uniform");
  EXPECT_STREQ(name(Gallery::randsvd_mode1), "randsvd_mode1");
  EXPECT_STREQ(name(Gallery::zero_diagonal_toeplitz), "zero_diagonal_toeplitz");
  EXPECT_STREQ(name(Gallery::zero_diagonal_entrywise), "zero_diagonal_entrywise");
  EXPECT_STREQ(name(Gallery::diagonal_0101), "diagonal_0101");
  EXPECT_STREQ(name(Gallery::random_row_scaling), "random_row_scaling");
  EXPECT_STREQ(name(Gallery::zero_row), "zero_row");
  EXPECT_STREQ(name(Gallery::inf_entry), "inf_entry");
  EXPECT_EQ(Trikkos::table_iii.front(), Gallery::uniform);
  EXPECT_EQ(Trikkos::table_iii.back(), Gallery::zero_diagonal_toeplitz);
  static_assert(Trikkos::table_iii.size() == 16);
}

TEST(TEST_CATEGORY, gallery_refuses_unknown_names) {
  for (const char* text : {"", "Uniform", "uniform ", "wilkinson"}) {
    try {
      Trikkos::gallery_from_name(text);
      FAIL() << text;
    } catch (const std::invalid_argument& e) {
      const std::string what = e.what();
      EXPECT_EQ(what.find("Trikkos::gallery_from_name: \"" + std::string(text) +
                          "\" is none of uniform, toeplitz_1e8, lesp, "),
                0u);
      for (const Gallery type : Trikkos::gallery_types) {
        EXPECT_NE(what.find(name(type)), std::string::npos);
      }
    }
  }
}

// ---- errors

TEST(TEST_CATEGORY, gallery_refuses_wrong_arguments) {
  const TEST_EXECSPACE exec;
  EXPECT_EQ(message([&] { Trikkos::gallery<double>(exec, Gallery::uniform, -1); }),
            "Trikkos::gallery: n is -1, expected 0 or more");
  EXPECT_EQ(message([&] { Trikkos::gallery_rhs<double>(exec, -3); }),
            "Trikkos::gallery_rhs: n is -3, expected 0 or more");
  EXPECT_EQ(message([&] {
              Trikkos::gallery<double>(exec, Gallery::zero_coupling, 8, 0, Boundary::open, 0);
            }),
            "Trikkos::gallery: block is 0, expected 1 or more");
  EXPECT_EQ(message([&] { Trikkos::gallery<double>(exec, Gallery::randsvd_mode3, 2049); }),
            "Trikkos::gallery: n is 2049, expected at most 2048 for randsvd_mode3");
  EXPECT_EQ(message([&] {
              Trikkos::gallery<double>(exec, Gallery::randsvd_mode1, 8, 0, Boundary::periodic);
            }),
            "Trikkos::gallery: boundary is periodic, expected open for randsvd_mode1");
}

// ---- all types

TEST(TEST_CATEGORY, gallery_float_has_shape_and_garbage) { gallery_has_shape_and_garbage<float>(); }
TEST(TEST_CATEGORY, gallery_double_has_shape_and_garbage) {
  gallery_has_shape_and_garbage<double>();
}
TEST(TEST_CATEGORY, gallery_complex_float_has_shape_and_garbage) {
  gallery_has_shape_and_garbage<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, gallery_complex_double_has_shape_and_garbage) {
  gallery_has_shape_and_garbage<Kokkos::complex<double>>();
}

TEST(TEST_CATEGORY, gallery_float_is_the_same_everywhere) {
  gallery_is_the_same_everywhere<float>();
}
TEST(TEST_CATEGORY, gallery_double_is_the_same_everywhere) {
  gallery_is_the_same_everywhere<double>();
}
TEST(TEST_CATEGORY, gallery_complex_double_is_the_same_everywhere) {
  gallery_is_the_same_everywhere<Kokkos::complex<double>>();
}

TEST(TEST_CATEGORY, gallery_float_is_double_rounded) {
  for (const Gallery type : {Gallery::uniform, Gallery::toeplitz_64, Gallery::lesp,
                             Gallery::inverse_kms, Gallery::dorr, Gallery::uniform_dominant}) {
    SCOPED_TRACE(name(type));
    const auto single = gallery_on_host<float>(type, 50, 2);
    const auto twice = gallery_on_host(type, 50, 2);
    for (int i = 1; i < 49; ++i) {
      EXPECT_EQ(single.lower[i], static_cast<float>(twice.lower[i]));
      EXPECT_EQ(single.diag[i], static_cast<float>(twice.diag[i]));
      EXPECT_EQ(single.upper[i], static_cast<float>(twice.upper[i]));
    }
  }
}

TEST(TEST_CATEGORY, gallery_complex_random_types_have_imaginary_parts) {
  using T = Kokkos::complex<double>;
  const auto real = gallery_on_host(Gallery::uniform, 50);
  const auto A = gallery_on_host<T>(Gallery::uniform, 50);
  for (int i = 1; i < 49; ++i) {
    EXPECT_EQ(A.lower[i].real(), real.lower[i]);
    EXPECT_EQ(A.diag[i].real(), real.diag[i]);
    EXPECT_NE(A.lower[i].imag(), 0);
    EXPECT_NE(A.diag[i].imag(), A.diag[i].real());
    EXPECT_LT(std::fabs(A.upper[i].imag()), 1);
  }
  for (const Gallery type : {Gallery::clement, Gallery::randsvd_mode4, Gallery::dorr}) {
    for (const T d : gallery_on_host<T>(type, 20).diag) EXPECT_EQ(d.imag(), 0);
  }
}

TEST(TEST_CATEGORY, gallery_seeds_differ) {
  for (const Gallery type : {Gallery::uniform, Gallery::toeplitz_1e8, Gallery::randsvd_mode3,
                             Gallery::sparse_off_diagonals, Gallery::zero_diagonal_entrywise,
                             Gallery::random_row_scaling, Gallery::graded_rows}) {
    SCOPED_TRACE(name(type));
    EXPECT_FALSE(identical(gallery_on_host(type, 40, 1), gallery_on_host(type, 40, 2)));
  }
}

TEST(TEST_CATEGORY, gallery_periodic_continues_the_formula) {
  for (const Gallery type : Trikkos::gallery_types) {
    if (is_randsvd(type)) continue;
    SCOPED_TRACE(name(type));
    const auto open = gallery_on_host(type, 30, 3);
    auto ring = gallery_on_host(type, 30, 3, Boundary::periodic);
    EXPECT_TRUE(ring.periodic);
    EXPECT_TRUE(is_finite(ring.lower.front()));
    EXPECT_TRUE(is_finite(ring.upper.back()));
    ring.lower.front() = ring.upper.back() = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(identical(open, ring));
  }
}

TEST(TEST_CATEGORY, gallery_singular_means_singular) {
  for (const Gallery type : Trikkos::gallery_types) {
    if (has_non_finite_entry(type)) continue;
    SCOPED_TRACE(name(type));
    for (int n = 0; n < 25; ++n) {
      const auto A = gallery_on_host(type, n, 1, Boundary::open, 5);
      EXPECT_EQ(Reference::is_singular(A), Trikkos::is_singular(type, n)) << n;
    }
  }
}

// ---- random numbers

TEST(TEST_CATEGORY, gallery_random_numbers_are_splitmix64) {
  using namespace Trikkos::Impl;
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu);      // first output for state 0,
  EXPECT_EQ(mix64(2 * 0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);  // second
  const auto v = Reference::to_host(Trikkos::gallery_rhs<double>(TEST_EXECSPACE{}, 100000, 4));
  double mean = 0, square = 0, neighbours = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    ASSERT_LT(std::fabs(v[i]), 1);
    ASSERT_NE(v[i], 0);
    mean += v[i] / 1e5;
    square += v[i] * v[i] / 1e5;
    if (i > 0) neighbours += v[i] * v[i - 1] / 1e5;
  }
  EXPECT_NEAR(mean, 0, 5 * std::sqrt(1. / 3 / 1e5));  // 5 standard deviations
  EXPECT_NEAR(square, 1. / 3, 5 * std::sqrt(4. / 45 / 1e5));
  EXPECT_NEAR(neighbours, 0, 5. / 3 / std::sqrt(1e5));
}

TEST(TEST_CATEGORY, gallery_streams_are_independent) {
  const int n = 100000;
  const auto A = gallery_on_host(Gallery::uniform, n);
  const auto b = Reference::to_host(Trikkos::gallery_rhs<double>(TEST_EXECSPACE{}, n));
  const auto correlation = [&](const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (int i = 1; i + 1 < n; ++i) sum += x[i] * y[i];
    return 3 * sum / n;
  };
  EXPECT_NEAR(correlation(A.lower, A.diag), 0, 5 / std::sqrt(n));
  EXPECT_NEAR(correlation(A.lower, A.upper), 0, 5 / std::sqrt(n));
  EXPECT_NEAR(correlation(A.diag, A.upper), 0, 5 / std::sqrt(n));
  EXPECT_NEAR(correlation(A.diag, b), 0, 5 / std::sqrt(n));
}

TEST(TEST_CATEGORY, gallery_rhs_is_empty_for_no_rows) {
  const auto b = Trikkos::gallery_rhs<float>(TEST_EXECSPACE{}, 0);
  EXPECT_EQ(b.extent(0), 0u);
  EXPECT_EQ(b.label(), "Trikkos::gallery::rhs");
}

// ---- Table III, type by type

TEST(TEST_CATEGORY, gallery_toeplitz_types_have_one_pair) {
  const std::vector<std::pair<Gallery, double>> types{{Gallery::toeplitz_1e8, 1e8},
                                                      {Gallery::toeplitz_64, 64},
                                                      {Gallery::toeplitz_1e_8, 1e-8},
                                                      {Gallery::zero_diagonal_toeplitz, 0}};
  for (const auto& [type, diagonal] : types) {
    SCOPED_TRACE(name(type));
    const auto A = gallery_on_host(type, 40, 9);
    EXPECT_NE(A.lower[1], A.upper[1]);
    EXPECT_LT(std::fabs(A.lower[1]), 1);
    EXPECT_LT(std::fabs(A.upper[1]), 1);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(A.diag[i], diagonal);
      if (i > 0) {
        EXPECT_EQ(A.lower[i], A.lower[1]);
      }
      if (i < 39) {
        EXPECT_EQ(A.upper[i], A.upper[1]);
      }
    }
  }
}

TEST(TEST_CATEGORY, gallery_entrywise_types_vary) {
  const std::vector<std::pair<Gallery, double>> types{{Gallery::toeplitz_1e8_entrywise, 1e8},
                                                      {Gallery::toeplitz_64_entrywise, 64},
                                                      {Gallery::toeplitz_1e_8_entrywise, 1e-8},
                                                      {Gallery::zero_diagonal_entrywise, 0}};
  const auto random = gallery_on_host(Gallery::uniform, 40, 9);
  for (const auto& [type, diagonal] : types) {
    SCOPED_TRACE(name(type));
    const auto A = gallery_on_host(type, 40, 9);
    EXPECT_EQ(A.diag, std::vector<double>(40, diagonal));
    EXPECT_TRUE(identical(A.lower, random.lower));
    EXPECT_TRUE(identical(A.upper, random.upper));
  }
}

TEST(TEST_CATEGORY, gallery_lesp_is_matlabs) {
  const auto A = gallery_on_host(Gallery::lesp, 5);
  EXPECT_EQ(A.diag, (std::vector<double>{-5, -7, -9, -11, -13}));
  for_each_row(A, [](std::int64_t i, double l, double, double u) {
    if (i > 0) {
      EXPECT_EQ(l, 1. / (i + 1));
    }
    if (i < 4) {
      EXPECT_EQ(u, i + 2);
    }
  });
}

TEST(TEST_CATEGORY, gallery_clement_has_known_eigenvalues) {
  const int n = 12;
  const auto A = gallery_on_host(Gallery::clement, n);
  for_each_row(A, [&](std::int64_t i, double l, double d, double u) {
    if (i > 0) {
      EXPECT_EQ(l, n - i);
    }
    EXPECT_EQ(d, 0);
    if (i < n - 1) {
      EXPECT_EQ(u, i + 1);
    }
  });
  // Determinants of the leading blocks of A - lambda I; integers, so exact.
  for (int lambda = -(n - 1); lambda <= n - 1; lambda += 2) {
    double before = 1, determinant = -lambda;
    for (int i = 1; i < n; ++i) {
      const double next = -lambda * determinant - A.lower[i] * A.upper[i - 1] * before;
      before = determinant;
      determinant = next;
    }
    EXPECT_EQ(determinant, 0) << lambda;
  }
}

TEST(TEST_CATEGORY, gallery_inverse_kms_inverts_kms) {
  for (const int n : {1, 2, 3, 20}) {
    const auto A = gallery_on_host(Gallery::inverse_kms, n);
    for (int j = 0; j < n; ++j) {
      std::vector<double> kms_column(n);
      for (int i = 0; i < n; ++i) kms_column[i] = std::pow(0.5, std::abs(i - j));
      const auto unit = Reference::multiply(A, kms_column);
      for (int i = 0; i < n; ++i) EXPECT_NEAR(unit[i], i == j, 1e-15);
    }
  }
}

TEST(TEST_CATEGORY, gallery_dorr_is_matlabs) {
  const auto A = gallery_on_host(Gallery::dorr, 4);
  const double term = 0.0025;  // theta / h^2, h = 1/5
  EXPECT_NEAR(A.upper[0], -term - 1.5, 1e-15);
  EXPECT_NEAR(A.diag[0], 2 * term + 1.5, 1e-15);
  EXPECT_NEAR(A.lower[1], -term, 1e-15);
  EXPECT_NEAR(A.upper[1], -term - 0.5, 1e-15);
  EXPECT_NEAR(A.lower[2], -term - 0.5, 1e-15);
  EXPECT_NEAR(A.upper[2], -term, 1e-15);
  EXPECT_NEAR(A.lower[3], -term - 1.5, 1e-15);
  EXPECT_NEAR(A.diag[3], 2 * term + 1.5, 1e-15);
  for (const int n : {2, 3, 511, 512}) {
    for_each_row(gallery_on_host(Gallery::dorr, n),
                 [&](std::int64_t, double l, double d, double u) {
                   EXPECT_LE(l, 0);
                   EXPECT_LE(u, 0);
                   EXPECT_GE(d, -(l + u));
                 });
  }
}

TEST(TEST_CATEGORY, gallery_condition_numbers_are_those_of_table_iii) {
  EXPECT_NEAR(condition_number(gallery_on_host(Gallery::lesp, 512)), 3.52e2, 0.01 * 3.52e2);
  EXPECT_NEAR(condition_number(gallery_on_host(Gallery::inverse_kms, 512)), 9.00, 0.02 * 9);
  // Where the table says 3.21e16 and 6.02e24, it shows the limits of double precision.
  EXPECT_GT(condition_number(gallery_on_host(Gallery::dorr, 512)), 3.21e16);
  EXPECT_GT(condition_number(gallery_on_host(Gallery::clement, 512)), 6.02e24);
}

TEST(TEST_CATEGORY, gallery_randsvd_has_given_singular_values) {
  const std::vector<std::pair<Gallery, int>> types{{Gallery::randsvd_mode1, 1},
                                                   {Gallery::randsvd_mode2, 2},
                                                   {Gallery::randsvd_mode3, 3},
                                                   {Gallery::randsvd_mode4, 4}};
  for (const auto& [type, mode] : types) {
    SCOPED_TRACE(name(type));
    for (const int n : {2, 3, 10, 100, 512}) {
      SCOPED_TRACE(n);
      const auto A = gallery_on_host(type, n, 1);
      const auto sigma = Trikkos::Impl::singular_values(n, 1e15, mode);
      double squares = 0, expected_squares = 0;
      for_each_row(
          A, [&](std::int64_t, double l, double d, double u) { squares += l * l + d * d + u * u; });
      for (const double s : sigma) expected_squares += s * s;
      EXPECT_NEAR(squares, expected_squares, 1e-13 * expected_squares);
      EXPECT_NEAR(std::log10(condition_number(A)), 15, 0.2);
    }
  }
}

#ifdef TRIKKOS_HAVE_LAPACK
TEST(TEST_CATEGORY, gallery_randsvd_singular_values_by_lapack) {
  const std::vector<std::pair<Gallery, int>> types{{Gallery::randsvd_mode1, 1},
                                                   {Gallery::randsvd_mode2, 2},
                                                   {Gallery::randsvd_mode3, 3},
                                                   {Gallery::randsvd_mode4, 4}};
  const int n = 60;
  for (const auto& [type, mode] : types) {
    SCOPED_TRACE(name(type));
    const auto A = gallery_on_host(type, n, 1);
    std::vector<double> dense(n * n), sigma(n), work(n);
    for_each_row(A, [&](std::int64_t i, double l, double d, double u) {
      if (i > 0) dense[i * n + i - 1] = l;
      dense[i * n + i] = d;
      if (i < n - 1) dense[i * n + i + 1] = u;
    });
    ASSERT_EQ(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', n, n, dense.data(), n, sigma.data(),
                             nullptr, n, nullptr, n, work.data()),
              0);
    const auto expected = Trikkos::Impl::singular_values(n, 1e15, mode);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(sigma[i], expected[i], 1e-14);
  }
}
#endif

TEST(TEST_CATEGORY, gallery_small_coupling_changes_one_entry) {
  for (const int n : {2, 5, 512}) {
    const auto random = gallery_on_host(Gallery::uniform, n);
    auto A = gallery_on_host(Gallery::small_coupling, n);
    EXPECT_EQ(A.lower[n / 2], random.lower[n / 2] * 1e-50);
    A.lower[n / 2] = random.lower[n / 2];
    EXPECT_TRUE(identical(A, random));
    EXPECT_NE(gallery_on_host<float>(Gallery::small_coupling, n).lower[n / 2], 0);
  }
}

TEST(TEST_CATEGORY, gallery_tiny_lower_scales_lower) {
  const auto random = gallery_on_host(Gallery::uniform, 30);
  const auto A = gallery_on_host(Gallery::tiny_lower, 30);
  for (int i = 1; i < 30; ++i) EXPECT_EQ(A.lower[i], random.lower[i] * 1e-50);
  EXPECT_EQ(A.diag, random.diag);
  EXPECT_TRUE(identical(A.upper, random.upper));
}

TEST(TEST_CATEGORY, gallery_sparse_off_diagonals_are_zero_half_the_time) {
  const int n = 10000;
  const auto A = gallery_on_host(Gallery::sparse_off_diagonals, n);
  int lower = 0, upper = 0, both = 0;
  for (int i = 1; i < n - 1; ++i) {
    lower += A.lower[i] == 0;
    upper += A.upper[i] == 0;
    both += A.lower[i] == 0 && A.upper[i] == 0;
    EXPECT_NE(A.diag[i], 0);
  }
  EXPECT_NEAR(lower, n / 2, 5 * 50);
  EXPECT_NEAR(upper, n / 2, 5 * 50);
  EXPECT_NEAR(both, n / 4, 5 * 44);
}

// ---- the others

TEST(TEST_CATEGORY, gallery_uniform_dominant_dominates_rows_and_columns) {
  const int n = 1000;
  const auto A = gallery_on_host<Kokkos::complex<double>>(Gallery::uniform_dominant, n);
  int negative = 0;
  for (int i = 1; i + 1 < n; ++i) {
    const double d = Kokkos::abs(A.diag[i]);
    EXPECT_GE(d, 1 + Kokkos::abs(A.lower[i]) + Kokkos::abs(A.upper[i]));
    if (i > 1 && i + 2 < n) {
      EXPECT_GE(d, 1 + Kokkos::abs(A.upper[i - 1]) + Kokkos::abs(A.lower[i + 1]));
    }
    negative += A.diag[i].real() < 0;
  }
  EXPECT_NEAR(negative, n / 2, 5 * 16);
}

TEST(TEST_CATEGORY, gallery_constant_types) {
  using V = std::vector<double>;
  EXPECT_EQ(gallery_on_host(Gallery::poisson, 4).diag, (V{2, 2, 2, 2}));
  EXPECT_EQ(gallery_on_host(Gallery::neumann, 4).diag, (V{1, 2, 2, 1}));
  EXPECT_EQ(gallery_on_host(Gallery::neumann, 1).diag, V{0});
  EXPECT_EQ(gallery_on_host(Gallery::diagonal_0101, 4).diag, (V{0, 1, 0, 1}));
  EXPECT_EQ(gallery_on_host(Gallery::all_ones_toeplitz, 3).diag, (V{1, 1, 1}));
  for (const auto& [type, off] :
       {std::pair{Gallery::poisson, -1.}, std::pair{Gallery::neumann, -1.},
        std::pair{Gallery::diagonal_0101, 1.}, std::pair{Gallery::all_ones_toeplitz, 1.}}) {
    const auto A = gallery_on_host(type, 4);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(A.lower[i + 1], off);
      EXPECT_EQ(A.upper[i], off);
    }
  }
}

TEST(TEST_CATEGORY, gallery_zero_coupling_separates_blocks) {
  for (const int block : {1, 7, 256}) {
    const auto A = gallery_on_host(Gallery::zero_coupling, 1000, 0, Boundary::open, block);
    for (int i = 1; i < 1000; ++i) {
      EXPECT_EQ(A.lower[i] == 0, i % block == 0) << i;
      EXPECT_EQ(A.upper[i - 1] == 0, i % block == 0) << i;
    }
  }
}

TEST(TEST_CATEGORY, gallery_singular_blocks_are_singular) {
  for (const int block : {1, 2, 3, 4, 5, 8, 9, 32}) {
    SCOPED_TRACE(block);
    const int n = 9 * block + 1;
    const auto A = gallery_on_host(Gallery::singular_blocks, n, 0, Boundary::open, block);
    const auto nearly =
        gallery_on_host(Gallery::nearly_singular_blocks, n, 0, Boundary::open, block);
    EXPECT_FALSE(Reference::is_singular(A));
    for (int k = 1; k < 9; k += 2) {
      const int margin = k % 4 == 1 ? 1 : 0;
      const int begin = k * block + margin, end = (k + 1) * block - margin;
      if (begin >= end) continue;
      EXPECT_TRUE(Reference::is_singular(principal_block(A, begin, end))) << k;
      EXPECT_FALSE(Reference::is_singular(principal_block(nearly, begin, end))) << k;
      EXPECT_NEAR(nearly.diag[end - 1], A.diag[end - 1], 1.01e-13);
      EXPECT_NE(nearly.diag[end - 1], A.diag[end - 1]);
    }
    // A random b is solved well.
    const auto b = Reference::to_host(Trikkos::gallery_rhs<double>(TEST_EXECSPACE{}, n));
    EXPECT_LE(Reference::backward_error(A, Reference::solve(A, b), b), 2e-16);
    EXPECT_LE(Reference::backward_error(nearly, Reference::solve(nearly, b), b), 2e-16);
  }
}

TEST(TEST_CATEGORY, gallery_scaled_rows_are_uniform_rows_times_powers_of_two) {
  const int n = 100;
  const auto random = gallery_on_host(Gallery::uniform, n);
  const auto scaled = gallery_on_host(Gallery::random_row_scaling, n);
  const auto graded = gallery_on_host(Gallery::graded_rows, n);
  std::set<int> exponents;
  int last = -996;
  for (int i = 1; i + 1 < n; ++i) {
    for (const auto* A : {&scaled, &graded}) {
      int exponent;
      EXPECT_EQ(std::frexp(A->diag[i] / random.diag[i], &exponent), 0.5);
      exponent -= 1;
      EXPECT_EQ(A->lower[i], std::ldexp(random.lower[i], exponent));
      EXPECT_EQ(A->upper[i], std::ldexp(random.upper[i], exponent));
      if (A == &scaled) {
        EXPECT_LE(std::abs(exponent), 26);
        exponents.insert(exponent);
      } else {
        EXPECT_GE(exponent, last);
        last = exponent;
      }
    }
  }
  EXPECT_GT(exponents.size(), 30u);
  EXPECT_EQ(graded.diag[0], std::ldexp(random.diag[0], -996));
  EXPECT_EQ(graded.diag[n - 1], std::ldexp(random.diag[n - 1], 996));
}

template <class T>
void gallery_reaches_the_ends_of_the_range() {
  const std::vector<std::pair<Gallery, double>> types{
      {Gallery::near_overflow, sizeof(T) == 8 ? 1e307 : 1e37},
      {Gallery::near_underflow, sizeof(T) == 8 ? 1e-307 : 1e-37},
      {Gallery::subnormal, sizeof(T) == 8 ? 1e-310 : 1e-40}};
  for (const auto& [type, scale] : types) {
    SCOPED_TRACE(name(type));
    T largest = 0;
    for (const T d : gallery_on_host<T>(type, 1000).diag) largest = std::max(largest, std::fabs(d));
    EXPECT_LE(largest, scale * 1.0001);
    EXPECT_GT(largest, scale * 0.9);
  }
}
TEST(TEST_CATEGORY, gallery_float_reaches_the_ends_of_the_range) {
  gallery_reaches_the_ends_of_the_range<float>();
}
TEST(TEST_CATEGORY, gallery_double_reaches_the_ends_of_the_range) {
  gallery_reaches_the_ends_of_the_range<double>();
}

TEST(TEST_CATEGORY, gallery_singular_types_change_few_entries) {
  for (const int n : {1, 2, 3, 10, 11}) {
    SCOPED_TRACE(n);
    const int m = n / 2;
    const auto row = gallery_on_host(Gallery::zero_row, n);
    EXPECT_EQ(row.diag[m], 0);
    if (m > 0) {
      EXPECT_EQ(row.lower[m], 0);
    }
    if (m + 1 < n) {
      EXPECT_EQ(row.upper[m], 0);
    }
    const auto column = gallery_on_host(Gallery::zero_column, n);
    EXPECT_EQ(column.diag[m], 0);
    if (m > 0) {
      EXPECT_EQ(column.upper[m - 1], 0);
    }
    if (m + 1 < n) {
      EXPECT_EQ(column.lower[m + 1], 0);
    }
    const auto equal = gallery_on_host(Gallery::equal_rows, n);
    if (n == 1) continue;
    EXPECT_EQ(equal.diag[m - 1], equal.lower[m]);
    EXPECT_EQ(equal.upper[m - 1], equal.diag[m]);
    if (m > 1) {
      EXPECT_EQ(equal.lower[m - 1], 0);
    }
    if (m + 1 < n) {
      EXPECT_EQ(equal.upper[m], 0);
    }
  }
  EXPECT_TRUE(std::isnan(gallery_on_host(Gallery::nan_entry, 10).diag[5]));
  EXPECT_TRUE(std::isinf(gallery_on_host(Gallery::inf_entry, 10).diag[5]));
}
