// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_TRIANGULARSOLVES_HPP
#define TRIKKOS_TEST_TRIANGULARSOLVES_HPP

#include <gtest/gtest.h>

#include <Triangles.hpp>
#include <cstring>
#include <string>

/// \file
/// A triangle put to every algorithm.

namespace Test {

template <class Exec>
std::vector<Trikkos::TriangularAlgorithm> algorithms_of() {
  std::vector<Trikkos::TriangularAlgorithm> r;
  for (const auto a : Trikkos::triangular_algorithms) {
    if (a == Trikkos::TriangularAlgorithm::point_to_point && !Trikkos::Impl::is_host_v<Exec>)
      continue;
    const bool spins =
        a == Trikkos::TriangularAlgorithm::sync_free || a == Trikkos::TriangularAlgorithm::blocked;
    if (spins && !Trikkos::Impl::spin_safe_v<Exec>) continue;
    r.push_back(a);
  }
  return r;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// One right-hand side into an x full of NaN.
template <class T, class Exec>
std::vector<T> solve(const Exec& exec, const Trikkos::TriangularPlan<T, Exec>& plan,
                     const std::vector<T>& b) {
  const auto right = on_device<T, Exec>(b);
  const Kokkos::View<T*, Exec> x("x", b.size());
  Kokkos::deep_copy(x, T(std::nan("")));
  Trikkos::solve(exec, plan, right, x);
  exec.fence();
  return to_vector(x);
}

/// In place, several right-hand sides, as columns or as rows of memory. Each is b times a power of
/// two, and so is x: other values than those of the call before, which may still be there.
template <class Layout, class T, class Exec>
void expect_same_with_many(const Exec& exec, const Trikkos::TriangularPlan<T, Exec>& plan,
                           const std::vector<T>& b, const std::vector<T>& expected, int count = 3) {
  const int n = static_cast<int>(b.size());
  const Kokkos::View<T**, Layout, Exec> x("x", count, n);
  const auto host = Kokkos::create_mirror_view(x);
  const bool is_left = std::is_same_v<Layout, Kokkos::LayoutLeft>;
  const auto scale = [&](int k) { return T(1 << (is_left ? k % 10 : 10 + k % 10)); };
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < n; ++i) host(k, i) = scale(k) * b[i];
  Kokkos::deep_copy(x, host);
  Trikkos::solve(exec, plan, x, x);
  exec.fence();
  Kokkos::deep_copy(host, x);
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(host(k, i), scale(k) * expected[i]) << "system " << k << ", row " << i;
}

/// All algorithms, op(A), one and several right-hand sides, runs.
template <class Exec, class T>
void expect_solved(const std::string& what, const HostTriangle<T>& A,
                   std::vector<Trikkos::Transpose> ops = {Trikkos::Transpose::none}) {
  const TimeLimit limit;
  const Exec exec;
  const auto matrix = on_device<Exec>(A);
  const auto b = random_vector<T>(A.rows());
  for (const auto op : ops) {
    std::vector<T> first;
    for (const auto algorithm : algorithms_of<Exec>()) {
      SCOPED_TRACE(what + ", " + name(A.uplo) + ", transpose " +
                   std::to_string(static_cast<int>(op)) + ", " + name(algorithm));
      const Trikkos::TriangularPlan plan(
          exec, matrix,
          Trikkos::TriangularOptions{}.algorithm(algorithm).transpose(op).rhs_count(2));
      EXPECT_TRUE(plan.status(exec).ok()) << plan.status(exec).why();
      const auto x = solve(exec, plan, b);
      EXPECT_LE(worst_row_error(A, op, x, b), 1);
      if (first.empty()) first = x;
      EXPECT_TRUE(same_bits(x, first));
      for (int run = 0; run < 3; ++run) EXPECT_TRUE(same_bits(solve(exec, plan, b), first));
      expect_same_with_many<Kokkos::LayoutLeft>(exec, plan, b, first);
      expect_same_with_many<Kokkos::LayoutRight>(exec, plan, b, first);
      EXPECT_TRUE(same_bits(solve(exec, plan, b), first));  // fewer systems than before
      expect_same_with_many<Kokkos::LayoutLeft>(exec, plan, b, first);
      if (testing::Test::HasFailure()) return;
    }
  }
}

inline const std::vector<Trikkos::Transpose> all_ops = {Trikkos::Transpose::none,
                                                        Trikkos::Transpose::transpose,
                                                        Trikkos::Transpose::conjugate_transpose};

template <class Exec, class T>
void expect_all_solved(const std::string& what, HostTriangle<T> A) {
  for (const auto uplo : {Trikkos::Uplo::lower, Trikkos::Uplo::upper}) {
    A.uplo = uplo;
    expect_solved<Exec>(what, A, all_ops);
  }
}

}  // namespace Test

#endif
