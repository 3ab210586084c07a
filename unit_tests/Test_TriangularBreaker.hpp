// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <TriangleBreaker.hpp>

/// \file
/// Short searches of TriangleBreaker.hpp, the same ones every time.

namespace Test::Breaker {

// ---- the judge

template <class T>
void judge_notices() {
  const TEST_EXECSPACE exec;
  using Real = Trikkos::Impl::Real<T>;
  constexpr auto op = Trikkos::Transpose::transpose;
  const auto A = triangle<T>(50, random_neighbours(3));
  const auto b = random_vector<T>(50);
  const Trikkos::TriangularPlan plan(exec, on_device<TEST_EXECSPACE>(A),
                                     Trikkos::TriangularOptions{}.transpose(op));
  const auto x = solve(exec, plan, b);
  const auto worst = [&](const auto& change) {
    auto changed = x;
    change(changed[20]);
    const auto errors = judge_rows(A, op, changed, b);
    return *std::max_element(errors.begin(), errors.end());
  };
  EXPECT_LE(worst([](T&) {}), 1);
  // a row has at most 50 entries, and the diagonal is most of it
  EXPECT_GT(worst([](T& v) { v += v * Real(400 * std::numeric_limits<Real>::epsilon()); }), 1);
  EXPECT_EQ(worst([](T& v) { v = std::numeric_limits<Real>::quiet_NaN(); }), HUGE_VAL);
  EXPECT_EQ(worst([](T& v) { v = std::numeric_limits<Real>::infinity(); }), HUGE_VAL);
  EXPECT_GT(worst([](T& v) { v = 0; }), 1);
}
TEST(TEST_CATEGORY, triangular_breaker_judge) {
  judge_notices<float>();
  judge_notices<Kokkos::complex<double>>();
}

// ---- the search

/// Every fourth form: those of four scalars are all of them.
template <class T>
void expect_unbroken_triangles(int scalar) {
  const TEST_EXECSPACE exec;
  const TimeLimit limit;
  const auto forms = triangle_forms();
  for (std::size_t k = scalar; k < forms.size(); k += 4) {
    SCOPED_TRACE(name(forms[k].uplo) + std::string(", ") + name(forms[k].diag) + ", transpose " +
                 std::to_string(static_cast<int>(forms[k].op)));
    const auto found = search_triangles<T>(exec, forms[k], {.seed = k});
    for (int range = 0; range < range_count; ++range) {
      EXPECT_LE(found.worst[range], 1) << "range " << range;
      EXPECT_GE(found.worst[range], 0.01) << "range " << range;  // something was judged
    }
    EXPECT_EQ(found.flagged, 0);
    EXPECT_TRUE(found.agree);
  }
}
TEST(TEST_CATEGORY, triangular_breaker) {
  expect_unbroken_triangles<double>(0);
  expect_unbroken_triangles<float>(1);
  expect_unbroken_triangles<Kokkos::complex<double>>(2);
  expect_unbroken_triangles<Kokkos::complex<float>>(3);
}

// ---- numbers that nothing can be divided by, or that are none

/// A diagonal entry, in one part or two, or an entry beside it, of row 5 of 9 rows in a chain: what
/// is said of it, or else what x is worth.
template <class T>
void bad_numbers_are_flagged() {
  using Real = Trikkos::Impl::Real<T>;
  using Limits = std::numeric_limits<Real>;
  using Reason = Trikkos::Status::Reason;
  const TEST_EXECSPACE exec;
  const TimeLimit limit;
  const Real largest = Limits::max(), tiny = Limits::denorm_min(), inf = Limits::infinity(),
             nan = Limits::quiet_NaN();
  struct Case {
    Real beside, diagonal, second;
    Reason reason, of_unit;
  };
  const Case cases[] = {
      {1, 0, 0, Reason::singular, Reason::none},
      {1, 3, -3, Reason::singular, Reason::none},
      {0, 0, 0, Reason::singular, Reason::none},
      {1, tiny, 0, Reason::singular, Reason::none},
      {1, Limits::min() / 8, 0, Reason::singular, Reason::none},
      {1, 4 * Limits::min(), 0, Reason::none, Reason::none},
      {1, tiny, 1, Reason::none, Reason::none},
      {1, largest, 0, Reason::none, Reason::none},
      {1, largest, largest, Reason::not_finite, Reason::none},
      {1, inf, 0, Reason::not_finite, Reason::none},
      {1, nan, 0, Reason::not_finite, Reason::none},
      {inf, 1, 0, Reason::not_finite, Reason::not_finite},
      {nan, 1, 0, Reason::not_finite, Reason::not_finite},
      {largest, 1, 0, Reason::none, Reason::none},
      {tiny, 1, 0, Reason::none, Reason::none},
  };
  for (const Case& c : cases)
    for (const auto diag : {Trikkos::Diag::non_unit, Trikkos::Diag::unit}) {
      HostTriangle<T> A;
      A.diag = diag;
      for (int i = 0; i < 9; ++i) {
        if (i > 0) A.add(i - 1, T(i == 5 ? c.beside : 0.5));
        A.add(i, T(i == 5 ? c.diagonal : 2));
        if (i == 5) A.add(i, T(c.second));
        A.end_row();
      }
      for (const auto algorithm : algorithms_of<TEST_EXECSPACE>()) {
        SCOPED_TRACE(std::string(Trikkos::name(algorithm)) + ", " + name(diag) + ", beside " +
                     std::to_string(c.beside) + ", diagonal " + std::to_string(c.diagonal) +
                     " and " + std::to_string(c.second));
        const Trikkos::TriangularPlan plan(exec, on_device<TEST_EXECSPACE>(A),
                                           Trikkos::TriangularOptions{}.algorithm(algorithm));
        const auto status = plan.status(exec);
        EXPECT_EQ(status.reason, diag == Trikkos::Diag::unit ? c.of_unit : c.reason);
        EXPECT_EQ(status.row, status.ok() ? -1 : 5);
        if (!status.ok()) continue;
        for (const Real right : {Real(1), Real(0), largest, tiny, inf, nan}) {
          std::vector<T> b(9, T(1));
          b[4] = T(right);
          for (const double error :
               judge_rows(A, Trikkos::Transpose::none, solve(exec, plan, b), b))
            EXPECT_LE(error, 1) << "b " << right;
        }
      }
    }
}
TEST(TEST_CATEGORY, triangular_breaker_bad_numbers) {
  bad_numbers_are_flagged<double>();
  bad_numbers_are_flagged<float>();
  bad_numbers_are_flagged<Kokkos::complex<double>>();
  bad_numbers_are_flagged<Kokkos::complex<float>>();
}

// ---- what it has found

/// What lies behind the last entry of a row was subtracted from complex sums, as zeros times zeros,
/// which made -0 a 0.
template <class T>
void signs_of_zeros_are_the_same() {
  const TEST_EXECSPACE exec;
  const TimeLimit limit;
  const auto A = triangle<T>(8, [](int, const auto&) {});
  const std::vector<T> b(A.rows(), -T(0));
  std::vector<T> first;
  for (const auto algorithm : algorithms_of<TEST_EXECSPACE>()) {
    const Trikkos::TriangularPlan plan(exec, on_device<TEST_EXECSPACE>(A),
                                       Trikkos::TriangularOptions{}.algorithm(algorithm));
    const auto x = solve(exec, plan, b);
    if (first.empty()) first = x;
    EXPECT_TRUE(same_bits(x, first)) << Trikkos::name(algorithm);
  }
}
TEST(TEST_CATEGORY, triangular_breaker_signs_of_zeros) {
  signs_of_zeros_are_the_same<double>();
  signs_of_zeros_are_the_same<Kokkos::complex<double>>();
  signs_of_zeros_are_the_same<Kokkos::complex<float>>();
}

}  // namespace Test::Breaker
