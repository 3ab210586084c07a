// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <FastError.hpp>
#include <Message.hpp>
#include <Outcome.hpp>
#include <Pentadiagonals.hpp>
#include <Trikkos.hpp>
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

/// \file
/// Systems of different sizes in the same arrays.

namespace Test::Variable {

using Reference::HostSystem;
using Trikkos::Gallery;
using Trikkos::Options;
using Reason = Trikkos::Status::Reason;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;

template <class T>
struct Batch {
  std::vector<HostSystem<T>> A;
  std::vector<std::vector<T>> b;

  std::vector<int> offsets() const {
    std::vector<int> r{0};
    for (const auto& a : A) r.push_back(r.back() + static_cast<int>(a.size()));
    return r;
  }
};
template <class T>
Batch<T> make_batch(const std::vector<std::int64_t>& sizes) {
  Batch<T> r;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    r.A.push_back(gallery<T>(Gallery::uniform, sizes[k], 100 + k));
    r.b.push_back(random_rhs<T>(sizes[k], 200 + k));
  }
  return r;
}
template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& parts) {
  std::vector<T> r;
  for (const auto& p : parts) r.insert(r.end(), p.begin(), p.end());
  return r;
}
/// In device memory, with what must not be read at the ends of systems: finite, since systems with
/// NaN are solved again.
template <class T>
auto to_device(const Batch<T>& batch) {
  const TEST_EXECSPACE exec;
  const T garbage(1000);
  std::vector<std::vector<T>> lower, diag, upper;
  for (auto a : batch.A) {
    if (a.size() > 0) a.lower.front() = a.upper.back() = garbage;
    lower.push_back(a.lower);
    diag.push_back(a.diag);
    upper.push_back(a.upper);
  }
  return Trikkos::Tridiagonal{Reference::to_device(exec, joined(lower)),
                              Reference::to_device(exec, joined(diag)),
                              Reference::to_device(exec, joined(upper))};
}

/// The solutions of a solve, and its status.
template <class T>
std::vector<std::vector<T>> solutions(const Batch<T>& batch, Trikkos::Status& status,
                                      bool in_place = false, const Options& options = {}) {
  const TEST_EXECSPACE exec;
  const auto host = batch.offsets();
  const Trikkos::VariableBatch<T, TEST_EXECSPACE> variable(exec, Reference::to_device(exec, host),
                                                           options);
  EXPECT_EQ(variable.systems(), static_cast<std::int64_t>(batch.A.size()));
  EXPECT_EQ(variable.rows(), host.back());
  const auto A = to_device(batch);
  const auto b = Reference::to_device(exec, joined(batch.b));
  const auto x = in_place ? b : Vector<T>("x", b.extent(0));
  Trikkos::solve(exec, variable, A, b, x);
  status = variable.status(exec);
  const auto all = Reference::to_host(x);
  std::vector<std::vector<T>> r;
  for (std::size_t k = 0; k < batch.A.size(); ++k)
    r.emplace_back(all.begin() + host[k], all.begin() + host[k + 1]);
  return r;
}

template <class T>
void expect_solved(const std::vector<std::int64_t>& sizes) {
  const auto batch = make_batch<T>(sizes);
  for (const bool in_place : {false, true}) {
    Trikkos::Status status;
    const auto x = solutions(batch, status, in_place);
    EXPECT_TRUE(status.ok()) << status.why();
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (sizes[k] > 0) {
        EXPECT_LE(fast_backward_error(batch.A[k], x[k], batch.b[k]), scaled<T>(1e-14)) << k;
      }
    }
  }
}
template <class T>
void solves_all_sizes() {
  expect_solved<T>({5});
  expect_solved<T>({0, 1, 0, 2, 3, 1, 1, 0});
  std::vector<std::int64_t> rising, mixed;
  for (std::int64_t n = 1; n < 70; ++n) rising.push_back(n);
  for (int k = 0; k < 300; ++k) mixed.push_back(k * 7919 % 41 == 0 ? 2000 : 1 + k * 31 % 57);
  expect_solved<T>(rising);
  expect_solved<T>(mixed);
}
TEST(TEST_CATEGORY, variable_batch_of_all_sizes) {
  solves_all_sizes<double>();
  solves_all_sizes<float>();
  solves_all_sizes<Kokkos::complex<double>>();
  solves_all_sizes<Kokkos::complex<float>>();
}

TEST(TEST_CATEGORY, variable_batch_of_no_rows) {
  expect_solved<double>({});
  expect_solved<double>({0, 0});
}

/// Again and again with one batch, in Views of any stride, with options.
TEST(TEST_CATEGORY, variable_batch_solves_again_with_options) {
  const TEST_EXECSPACE exec;
  const std::vector<std::int64_t> sizes{3, 0, 200, 1, 66, 67, 500};
  const auto first = make_batch<double>(sizes);
  const auto host = first.offsets();
  const Kokkos::View<std::int64_t*, Kokkos::HostSpace> offsets("offsets", host.size());
  std::copy(host.begin(), host.end(), offsets.data());
  const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> rows("rows", host.back(), 5);
  const auto column = [&](int k) { return Kokkos::subview(rows, Kokkos::ALL, k); };
  for (const auto& options :
       {Options{}, Options{}.partition_size(7), Options{}.refine(2), Options{}.verify(1e-14),
        Options{}.scaling(Trikkos::Scaling::none), Options{}.scaling(Trikkos::Scaling::columns)}) {
    SCOPED_TRACE(describe(options));
    const Trikkos::VariableBatch<double, TEST_EXECSPACE> variable(exec, offsets, options);
    for (const double factor : {1., -3.}) {
      auto batch = first;
      for (auto& a : batch.A)
        for (double& v : a.diag) v *= factor;
      const auto A = to_device(batch);
      ::Test::copy(column(0), A.lower);
      ::Test::copy(column(1), A.diag);
      ::Test::copy(column(2), A.upper);
      ::Test::copy(column(3), Reference::to_device(exec, joined(batch.b)));
      Trikkos::solve(exec, variable, Trikkos::Tridiagonal{column(0), column(1), column(2)},
                     column(3), column(4));
      const auto status = variable.status(exec);
      EXPECT_TRUE(status.ok()) << status.why();
      EXPECT_EQ(status.backward_error >= 0, options.refine() > 0 || options.verify() > 0);
      const auto x = Reference::to_host(column(4));
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        const std::vector<double> mine(x.begin() + host[k], x.begin() + host[k + 1]);
        if (sizes[k] > 0) {
          EXPECT_LE(fast_backward_error(batch.A[k], mine, batch.b[k]), 1e-14) << k;
        }
      }
      EXPECT_EQ(Reference::to_host(column(3)), joined(batch.b));
    }
  }
}

/// One that cannot be solved is named, and all others are.
TEST(TEST_CATEGORY, variable_batch_spares_the_others) {
  std::vector<std::int64_t> sizes;
  for (int k = 0; k < 100; ++k) sizes.push_back(1 + k * 13 % 200);
  const auto good = make_batch<double>(sizes);
  for (const std::size_t k : {0, 37, 99})
    for (const bool in_place : {false, true})
      for (const Reason reason : {Reason::singular, Reason::not_finite}) {
        auto batch = good;
        auto& A = batch.A[k];
        const std::int64_t row = A.size() / 2;
        if (reason == Reason::not_finite) {
          batch.b[k][row] = std::numeric_limits<double>::infinity();
        } else {
          A.diag[row] = 0;
          A.lower[row] = A.upper[row] = 0;
        }
        Trikkos::Status status;
        // the partitions of all systems together are not those in which each is solved again
        const auto x =
            solutions(batch, status, in_place, Options{}.partition_size(in_place ? 2 : 0));
        EXPECT_EQ(status.reason, reason) << status.why();
        EXPECT_EQ(status.system, static_cast<std::int64_t>(k));
        EXPECT_GE(status.row, 0);
        EXPECT_LT(status.row, A.size());
        for (std::size_t other = 0; other < sizes.size(); ++other) {
          if (other != k) {
            EXPECT_LE(fast_backward_error(batch.A[other], x[other], batch.b[other]), 1e-14);
          }
        }
      }
}

// ---- pentadiagonal

/// Systems of all families, the bad one of which, if any, has a row without coefficients.
inline void expect_pentadiagonal(const std::vector<std::int64_t>& sizes, const Options& options,
                                 std::size_t bad = std::size_t(-1)) {
  using Test::Five::HostPentadiagonal;
  const TEST_EXECSPACE exec;
  std::vector<HostPentadiagonal<double>> A;
  std::vector<std::vector<double>> b;
  HostPentadiagonal<double> all;
  std::vector<int> offsets{0};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::int64_t n = sizes[k];
    A.push_back(Test::Five::make<double>(Test::Five::families[k % 6], n, 7 + k));
    b.push_back(random_rhs<double>(n, 200 + k));
    offsets.push_back(offsets.back() + static_cast<int>(n));
    for (int j = -2; j <= 2; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        if (k == bad && i == n / 2) A[k].band(j)[i] = 0;
        const bool inside = i + j >= 0 && i + j < n;
        all.band(j).push_back(inside ? A[k].band(j)[i] : 1000);
      }
  }
  const Trikkos::VariableBatch<double, TEST_EXECSPACE, 2> variable(
      exec, Reference::to_device(exec, offsets), options);
  const auto right = Reference::to_device(exec, joined(b));
  const Vector<double> left("x", right.extent(0));
  for (const auto& x : {left, right}) {  // the latter in place
    Trikkos::solve(exec, variable, Reference::to_device(exec, all), right, x);
    const auto status = variable.status(exec);
    EXPECT_EQ(status.ok(), bad >= sizes.size()) << status.why();
    if (bad < sizes.size()) {
      EXPECT_EQ(status.reason, Reason::singular);
      EXPECT_EQ(status.system, static_cast<std::int64_t>(bad));
    }
    const auto found = Reference::to_host(x);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const std::vector<double> mine(found.begin() + offsets[k], found.begin() + offsets[k + 1]);
      if (k != bad && !mine.empty()) {
        EXPECT_LE(Reference::backward_error(A[k], mine, b[k]), 1e-14) << k << ", n " << sizes[k];
      }
    }
  }
}
TEST(TEST_CATEGORY, variable_batch_of_pentadiagonal_matrices) {
  std::vector<std::int64_t> sizes{5, 0, 1, 2, 3, 4, 1, 1, 0, 2, 2};
  for (std::int64_t n = 1; n < 70; ++n) sizes.push_back(n);
  sizes.push_back(1500);
  for (const Options& options : {Options{}, Options{}.partition_size(3), Options{}.refine(1)}) {
    expect_pentadiagonal(sizes, options);
    for (const std::size_t bad : {std::size_t(0), std::size_t(60), sizes.size() - 1})
      expect_pentadiagonal(sizes, options, bad);
  }
}

TEST(TEST_CATEGORY, variable_batch_refuses_nonsense) {
  const TEST_EXECSPACE exec;
  using Variable = Trikkos::VariableBatch<double, TEST_EXECSPACE>;
  const auto refused = [&](const std::vector<int>& offsets, const Options& options = {}) {
    return message([&] { Variable(exec, Reference::to_device(exec, offsets), options); });
  };
  EXPECT_EQ(refused({}),
            "Trikkos::VariableBatch: offsets has 0 entries, expected one more than systems");
  EXPECT_EQ(refused({1, 2}), "Trikkos::VariableBatch: offsets(0) is 1, expected 0");
  EXPECT_EQ(refused({0, 5, 4}),
            "Trikkos::VariableBatch: offsets(2) is 4, expected at least 5 as the one before");
  EXPECT_EQ(refused({0, 5}, Options{}.algorithm(Trikkos::Algorithm::pcr)),
            "Trikkos::VariableBatch: algorithm is pcr, expected automatic or segmented");
  EXPECT_EQ(refused({0, 5}, Options{}.transpose(Trikkos::Transpose::transpose)),
            "Trikkos::VariableBatch: transpose is given, expected none");
  const Variable variable(exec, Reference::to_device(exec, std::vector<int>{0, 3, 7}));
  const auto A = Trikkos::gallery<double>(exec, Gallery::uniform, 8);
  const Vector<double> b("b", 8), x("x", 8);
  EXPECT_EQ(message([&] { Trikkos::solve(exec, variable, A, b, x); }),
            "Trikkos::solve: A has 8 rows, expected 7 (the batch)");
  auto ring = Trikkos::gallery<double>(exec, Gallery::uniform, 7);
  ring.boundary = Trikkos::Boundary::periodic;
  const Vector<double> seven("b", 7);
  EXPECT_EQ(message([&] { Trikkos::solve(exec, variable, ring, seven, seven); }),
            "Trikkos::solve: A is periodic, expected open (systems of different sizes)");
}

}  // namespace Test::Variable
