// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <ManySystems.hpp>
#include <Message.hpp>
#include <Outcome.hpp>

/// \file
/// Bands of equal entries, of which one is stored. The judge is the same matrix with all entries
/// stored, by every call: every bit of x must be the same.

namespace Test::Toeplitz {

using Many::Array;
using Many::boundaries;
using Many::matrix;
using Many::numbers;
using Many::right_hand_sides;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Options;
using Trikkos::Transpose;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T>
using Cube = Kokkos::View<T***, Kokkos::LayoutRight, TEST_EXECSPACE>;

/// Entry (i, i + j) of system k; for k = 1 not dominant.
template <class T>
T entry(int j, std::int64_t k) {
  constexpr double values[] = {0.125, -1.0625, 2.5, -0.9375, 0.25};
  const auto system = static_cast<double>(k);
  return T(values[2 + j] + (j == 0 ? (k == 1 ? -2.375 : 0.5 * system) : 0.03125 * system));
}

template <int W, class T>
auto stored(std::int64_t n, Boundary boundary) {
  return matrix<W>(boundary, [n](int j) {
    const Vector<T> band("band", n);
    ::Test::fill(band, entry<T>(j, 0));
    return band;
  });
}
template <int W, class T>
auto toeplitz(std::int64_t n, Boundary boundary) {
  const TEST_EXECSPACE exec;
  const auto e = [](int j) { return entry<T>(j, 0); };
  if constexpr (W == 1)
    return Trikkos::toeplitz(exec, n, e(-1), e(0), e(1), boundary);
  else
    return Trikkos::toeplitz(exec, n, e(-2), e(-1), e(0), e(1), e(2), boundary);
}

/// Of all calls, into x.
template <class Matrix, class StoredMatrix, class B>
void expect_same_bits(const Matrix& A, const StoredMatrix& A_stored, const B& b, const B& x,
                      const Options& options) {
  const TEST_EXECSPACE exec;
  SCOPED_TRACE(describe(options) + ", " + name(A.boundary) +
               ", n = " + std::to_string(A.diag.extent(Matrix::rank() - 1)));
  const auto rhs_count = static_cast<std::int64_t>(B::rank() > 1 ? b.extent(0) : 1);
  const auto compare = [&](const char* call, const auto& solve) {
    SCOPED_TRACE(call);
    const Trikkos::Status expected = solve(A_stored);
    const auto expected_x = numbers(x);
    ::Test::fill(x, typename B::value_type(7));
    const Trikkos::Status status = solve(A);
    EXPECT_EQ(status.why(), expected.why());
    EXPECT_EQ(numbers(x), expected_x);
  };
  if (options.algorithm() != Algorithm::factored) {
    compare("once",
            [&](const auto& matrix) { return Trikkos::solve(exec, matrix, b, x, options); });
    compare("workspace", [&](const auto& matrix) {
      const Trikkos::Workspace work(exec, matrix, b, options);
      Trikkos::solve(exec, work, matrix, b, x);
      return work.status(exec);
    });
  }
  compare("plan", [&](const auto& matrix) {
    const Trikkos::Plan plan(exec, matrix, options, rhs_count);
    plan.update(exec, matrix);
    Trikkos::solve(exec, plan, b, x);
    return plan.status(exec);
  });
  if (b.size() > 0) {
    EXPECT_EQ(Trikkos::backward_error(exec, A, x, b),
              Trikkos::backward_error(exec, A_stored, x, b));
  }
}

template <int W, class T>
void expect_one(std::int64_t n, const Options& options = {}) {
  const Array<T> all = right_hand_sides<T>(Many::Layout::right, 1, n);
  const Vector<T> b("b", n), x("x", n);
  ::Test::copy(b, Many::row_of(all, 0));
  for (const Boundary boundary : boundaries)
    expect_same_bits(toeplitz<W, T>(n, boundary), stored<W, T>(n, boundary), b, x, options);
}
const Options options_of_all[] = {Options{},
                                  Options{}.partition_size(5),
                                  Options{}.transpose(Transpose::transpose),
                                  Options{}.scaling(Trikkos::Scaling::columns),
                                  Options{}.scaling(Trikkos::Scaling::none).verify(1e-12),
                                  Options{}.refine(1),
                                  Options{}.algorithm(Algorithm::thomas)};
const Options options_of_tridiagonals[] = {
    Options{}.algorithm(Algorithm::spike), Options{}.algorithm(Algorithm::pcr),
    Options{}.spike({.marshaling = Trikkos::Marshaling::global}),
    Options{}.algorithm(Algorithm::factored)};

TEST(TEST_CATEGORY, toeplitz_has_the_bits_of_stored_bands) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 64, 1000, 20011}) {
    expect_one<1, double>(n);
    expect_one<2, double>(n);
  }
  for (const Options& options : options_of_all) {
    expect_one<1, double>(700, options);
    expect_one<2, double>(700, options);
  }
  for (const Options& options : options_of_tridiagonals) expect_one<1, double>(700, options);
  expect_one<1, Kokkos::complex<double>>(
      700, Options{}.transpose(Trikkos::Transpose::conjugate_transpose));
}

/// One matrix, and one for each right-hand side.
template <int W, class T>
void expect_many(Many::Layout layout, std::int64_t count, std::int64_t n,
                 const Options& options = {}) {
  SCOPED_TRACE("layout " + std::to_string(static_cast<int>(layout)) + ", " + std::to_string(count) +
               " systems");
  const Array<T> b = right_hand_sides<T>(layout, count, n),
                 x = Many::make_array<T>(layout, count, n);
  for (const Boundary boundary : boundaries) {
    expect_same_bits(toeplitz<W, T>(n, boundary), stored<W, T>(n, boundary), b, x, options);
    if (options.algorithm() == Algorithm::factored) continue;
    const auto A = matrix<W>(boundary, [&](int j) {
      const Vector<T> value("value", count);
      for (std::int64_t k = 0; k < count; ++k)
        ::Test::fill(Kokkos::subview(value, Kokkos::pair(k, k + 1)), entry<T>(j, k));
      return Trikkos::Uniform{value, n};
    });
    const auto A_stored = matrix<W>(boundary, [&](int j) {
      const Array<T> band = Many::make_array<T>(layout, count, n);
      for (std::int64_t k = 0; k < count; ++k) ::Test::fill(Many::row_of(band, k), entry<T>(j, k));
      return band;
    });
    expect_same_bits(A, A_stored, b, x, options);
  }
}
TEST(TEST_CATEGORY, toeplitz_batches_have_the_bits_of_stored_bands) {
  for (const Many::Layout layout : Many::layouts) {
    expect_many<1, double>(layout, 19, 66);
    expect_many<2, double>(layout, 19, 66);
  }
  expect_many<1, double>(Many::Layout::left, 3, 5000);
  expect_many<2, double>(Many::Layout::right, 9, 5000);
  expect_many<2, double>(Many::Layout::left, 19, 66, Options{}.algorithm(Algorithm::thomas));
  for (const Options& options : options_of_all)
    expect_many<1, double>(Many::Layout::left, 19, 66, options);
  for (const Options& options : options_of_tridiagonals)
    expect_many<1, double>(Many::Layout::left, 19, 66, options);
}

/// Lines of an array, with values for each of them.
TEST(TEST_CATEGORY, toeplitz_along_axes_of_an_array) {
  const TEST_EXECSPACE exec;
  const std::int64_t e[] = {4, 5, 33}, size = e[0] * e[1] * e[2];
  const auto make_cube = [&] { return Cube<double>("cube", e[0], e[1], e[2]); };
  const auto row = [&](const Cube<double>& cube) {
    return Kokkos::View<double*, TEST_EXECSPACE, Kokkos::MemoryUnmanaged>(cube.data(), size);
  };
  const Cube<double> b = make_cube(), x = make_cube();
  ::Test::copy(row(b), Reference::to_device(exec, random_rhs<double>(size, 1)));
  for (int axis = 0; axis < 3; ++axis) {
    SCOPED_TRACE("axis " + std::to_string(axis));
    const std::int64_t first = e[axis == 0 ? 1 : 0], second = e[axis == 2 ? 1 : 2];
    std::vector<Array<double>> values;
    std::vector<Cube<double>> bands;
    for (int j = -1; j <= 1; ++j) {
      values.push_back(Many::make_array<double>(Many::Layout::left, first, second));
      bands.push_back(make_cube());
      for (std::int64_t k = 0; k < first; ++k)
        for (std::int64_t l = 0; l < second; ++l) {
          const double v = entry<double>(j, k * second + l);
          ::Test::fill(Kokkos::subview(values.back(), Kokkos::pair(k, k + 1), l), v);
          ::Test::fill(Kokkos::subview(Trikkos::along(bands.back(), axis), k, l, Kokkos::ALL), v);
        }
    }
    const auto lines = Trikkos::along(b, axis), solution = Trikkos::along(x, axis);
    const auto solved = [&](const auto& A) {
      ::Test::fill(row(x), 7.);
      const auto status = Trikkos::solve(exec, A, lines, solution);
      EXPECT_TRUE(status.ok()) << status.why();
      return numbers(row(x));
    };
    const auto uniform = [&](int j) { return Trikkos::Uniform{values[1 + j], lines.extent(2)}; };
    const auto stored = [&](int j) { return Trikkos::along(bands[1 + j], axis); };
    for (const Boundary boundary : boundaries)
      EXPECT_EQ(solved(matrix<1>(boundary, uniform)), solved(matrix<1>(boundary, stored)));
  }
}

/// Beside Views, and with other values before a second solve.
TEST(TEST_CATEGORY, toeplitz_bands_beside_others) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = 500;
  const auto diag = Reference::to_device(exec, std::vector<double>(n, 2.5));
  ::Test::fill(Kokkos::subview(diag, Kokkos::pair(100, 200)), 3.);
  const Vector<double> off("off", 2), band("band", n), b("b", n), x("x", n);
  ::Test::copy(b, Reference::to_device(exec, random_rhs<double>(n, 1)));
  const Trikkos::Uniform uniform{Kokkos::subview(off, 1), n};
  for (const double value : {-1., 1.25}) {
    ::Test::fill(off, value);
    ::Test::fill(band, value);
    expect_same_bits(Trikkos::Tridiagonal{uniform, diag, uniform},
                     Trikkos::Tridiagonal{band, diag, band}, b, x, {});
    expect_same_bits(Trikkos::Tridiagonal{band, diag, uniform},
                     Trikkos::Tridiagonal{band, diag, band}, b, x, {});
  }
}

template <class Matrix>
struct SolveInKernels {
  Matrix A;
  Array<double> x;  // b before: by the team, by a thread, by a thread in memory, with factors
  Vector<double> memory, factors;
  Vector<int> info;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const auto row = [&](int k) { return Many::row_of(x, k); };
    int result = Trikkos::solve(member, A, row(0), row(0));
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      constexpr auto thread = Trikkos::this_thread;
      result += Trikkos::solve(thread, A, row(1), row(1));
      result += Trikkos::solve(thread, A, row(2), row(2), memory);
      const Trikkos::KernelFactors<double> F(factors, A.diag.extent(0), {}, A.boundary);
      result += Trikkos::factor(thread, A, F);
      result += Trikkos::solve(thread, F, row(3), row(3));
      info(0) = result;
    });
  }
};
TEST(TEST_CATEGORY, toeplitz_inside_kernels) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = 150;
  const auto solved = [&](const auto& A) {
    const Array<double> x = right_hand_sides<double>(Many::Layout::right, 4, n);
    const auto words = Trikkos::thread_memory_bytes<double>(n) / sizeof(double) + 1;
    const Vector<double> memory("memory", words), factors("factors", 10 * n + 64);
    const Vector<int> info("info", 1);
    const auto bytes = static_cast<int>(Trikkos::team_scratch_bytes<double>(n));
    Kokkos::parallel_for(
        "toeplitz",
        Kokkos::TeamPolicy<TEST_EXECSPACE>(exec, 1, Kokkos::AUTO)
            .set_scratch_size(0, Kokkos::PerTeam(bytes)),
        SolveInKernels<std::remove_cvref_t<decltype(A)>>{A, x, memory, factors, info});
    EXPECT_EQ(Reference::to_host(info).front(), 0);
    return numbers(x);
  };
  for (const Boundary boundary : boundaries)
    EXPECT_EQ(solved(toeplitz<1, double>(n, boundary)), solved(stored<1, double>(n, boundary)));
}

TEST(TEST_CATEGORY, toeplitz_systems_of_different_sizes) {
  const TEST_EXECSPACE exec;
  const std::vector<std::int64_t> offsets{0, 1, 1, 70, 200};
  const Trikkos::VariableBatch<double, TEST_EXECSPACE> batch(exec,
                                                             Reference::to_device(exec, offsets));
  const Vector<double> b("b", 200), x("x", 200);
  ::Test::copy(b, Reference::to_device(exec, random_rhs<double>(200, 1)));
  const auto solved = [&](const auto& A) {
    Trikkos::solve(exec, batch, A, b, x);
    EXPECT_TRUE(batch.status(exec).ok());
    return numbers(x);
  };
  EXPECT_EQ(solved(toeplitz<1, double>(200, Boundary::open)),
            solved(stored<1, double>(200, Boundary::open)));
}

/// The memory of the values lives as long as the matrix.
TEST(TEST_CATEGORY, toeplitz_owns_its_values) {
  const auto A = toeplitz<2, double>(100, Boundary::open);
  EXPECT_EQ(A.diag.value.use_count(), 5);
  EXPECT_EQ(A.upper2.data() - A.lower2.data(), 4);
}

TEST(TEST_CATEGORY, toeplitz_errors) {
  const TEST_EXECSPACE exec;
  EXPECT_EQ(message([&] { Trikkos::toeplitz(exec, -1, 1., 2., 1.); }),
            "Trikkos::toeplitz: n is -1, expected 0 or more");
  const auto five = toeplitz<1, double>(5, Boundary::open);
  const auto six = toeplitz<1, double>(6, Boundary::open);
  const Vector<double> b("b", 5);
  EXPECT_EQ(message([&] {
              static_cast<void>(Trikkos::solve(
                  exec, Trikkos::Tridiagonal{five.lower, five.diag, six.upper}, b, b));
            }),
            "Trikkos::solve: upper has 6 rows, expected 5 (diag.extent(0))");
  EXPECT_EQ(message([&] { static_cast<void>(Trikkos::solve(exec, six, b, b)); }),
            "Trikkos::solve: b has 5 rows, expected 6 (diag.extent(0))");
}

}  // namespace Test::Toeplitz
