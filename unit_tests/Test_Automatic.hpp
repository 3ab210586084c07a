// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Trikkos_Computed.hpp>
#include <Windows.hpp>
#include <algorithm>
#include <cmath>
#include <random>

/// \file
/// Algorithm::automatic for one long system: windows where rows look dominant, and never a wrong x.

namespace Test::Truncated {

/// Of so many rows at least, see `Truncated::is_for`, and of so many after a look, which real ones
/// on a device need not up to there.
template <class T>
constexpr bool is_real = std::is_floating_point_v<T>;
template <class T>
constexpr std::int64_t least_for =
    !on_host && is_real<T> ? 4096 : 1 << (on_host || sizeof(Trikkos::Impl::Real<T>) == 8 ? 16 : 17);
template <class T>
constexpr std::int64_t long_enough_for =
    !on_host && is_real<T> ? (sizeof(T) == 8 ? 200000 : 410000) : least_for<T>;
constexpr std::int64_t long_enough = long_enough_for<double>;

/// `tried`: windows; `kept`: their x.
template <class T>
void automatic_solves(const HostSystem<T>& A, bool tried, bool kept, Options options = {}) {
  const auto b = random_vector<T>(static_cast<std::int64_t>(A.diag.size()));
  const auto r = solve(A, b, options);
  EXPECT_TRUE(r.status.ok());
  EXPECT_EQ(r.status.disagreement >= 0, tried);
  EXPECT_EQ(r.status.fell_back, tried && !kept);
  EXPECT_LE(r.eta, 45 * unit<T>);
  const auto way = kept ? Algorithm::truncated : Algorithm::segmented;
  EXPECT_TRUE(same_bits(r.x, solve(A, b, options.algorithm(way)).x));
}
/// Poisson's rows, not much of the whole but longer than a window.
template <class T>
HostSystem<T> dominant_but_for_a_piece(std::int64_t n) {
  auto A = dominant<T>(n, 2, true);
  for (std::int64_t i = n / 2; i < n / 2 + 3000; ++i)
    A.lower[i] = A.upper[i] = T(-1), A.diag[i] = T(2);
  return A;
}
TEST(TEST_CATEGORY, automatic_tries_windows_where_it_looks_dominant) {
  const std::int64_t n = long_enough + 7;
  automatic_solves(dominant<double>(n, 2, true), true, true);
  automatic_solves(dominant<double>(n, 1.3, false), true, true);
  automatic_solves(dominant<double>(n, 1, false), false, false);
  automatic_solves(dominant_but_for_a_piece<double>(n), true, false);
  automatic_solves(dominant<float>(long_enough_for<float>, 2, true), true, true);
  automatic_solves(dominant<float>(least_for<float> - 1, 2, true), false, false);
  automatic_solves(dominant<double>(least_for<double> - 1, 2, true), false, false);
  automatic_solves(dominant<double>(n, 100, true), true, true);
  automatic_solves(dominant<double>(n, 1, true), false, false);
  for (const auto scaling : {Trikkos::Scaling::columns, Trikkos::Scaling::none})
    automatic_solves(dominant<double>(n, 2, true), true, true, Options{}.scaling(scaling));
  automatic_solves(dominant<double>(n, 2, true), true, true,
                   Options{}.transpose(Transpose::transpose));
  automatic_solves(dominant<Kokkos::complex<float>>(long_enough_for<float>, 2, true), true, true);
  automatic_solves(dominant<Kokkos::complex<double>>(n, 1, true), false, false);
}
/// Rows in which nothing fades.
template <class T>
HostSystem<T> oscillating(std::int64_t n) {
  auto A = dominant<T>(n, 2, true);
  for (std::int64_t i = 0; i < n; ++i) {
    A.lower[i] = A.upper[i] = T(1);
    A.diag[i] = T(0.5 + 0.1 * std::sin(double(i)));
  }
  return A;
}
/// On a device one pass does for windows and for `segmented`, nobody looks before.
TEST(TEST_CATEGORY, automatic_solves_short_systems_in_one_pass_or_two) {
  if (on_host) GTEST_SKIP() << "of a device";
  for (const std::int64_t n : {4096, 4801, 10081, 61440, 61441, 100003, 131072, 190080}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    automatic_solves(dominant<double>(n, 2, true), true, true);
    automatic_solves(oscillating<double>(n), false, false);
    automatic_solves(dominant_but_for_a_piece<double>(2 * n < 190080 ? 2 * n : n), true, false);
    const auto all = solve(oscillating<double>(n), random_vector<double>(n), truncated());
    EXPECT_TRUE(all.status.fell_back);
    EXPECT_GT(all.status.disagreement, 1e-3);
  }
  for (const std::int64_t n : {4096, 10001, 100003, 397440}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    automatic_solves(dominant<float>(n, 2, true), true, true);
    automatic_solves(oscillating<float>(n), false, false);
  }
  automatic_solves(dominant<double>(50000, 2, true), true, true,
                   Options{}.transpose(Transpose::transpose));
  for (const auto scaling : {Trikkos::Scaling::columns, Trikkos::Scaling::none})
    automatic_solves(oscillating<double>(50000), false, false, Options{}.scaling(scaling));
}
/// A device reduces what windows refuse in the kernel that merges segments: in one group, wider
/// than others, or in many. Who comes last there differs from time to time.
TEST(TEST_CATEGORY, automatic_reduces_what_windows_refuse) {
  for (const std::int64_t n : {70001, 130003, 245760, 245761, 400009}) {
    const auto A = dominant_but_for_a_piece<double>(n);
    for (int repeat = 0; repeat < (on_host ? 1 : 5); ++repeat) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", " + std::to_string(repeat));
      automatic_solves(A, true, false);
    }
  }
  automatic_solves(dominant_but_for_a_piece<float>(300007), true, false);
  automatic_solves(dominant_but_for_a_piece<Kokkos::complex<double>>(130003), true, false);
}
/// More tiles than an H200 runs at a time in windows, up to twice as many: by two kernels in turn.
TEST(TEST_CATEGORY, automatic_reduces_behind_windows) {
  if (on_host) GTEST_SKIP() << "of a device";
  for (const std::int64_t n : {800007, 1520640}) {
    SCOPED_TRACE("n = " + std::to_string(n));
    automatic_solves(dominant<double>(n, 2, true), true, true);
    automatic_solves(oscillating<double>(n), false, false);
    automatic_solves(dominant_but_for_a_piece<double>(n), true, false);
  }
  automatic_solves(oscillating<float>(2000007), false, false);
  automatic_solves(oscillating<Kokkos::complex<double>>(800007), false, false);
}
TEST(TEST_CATEGORY, automatic_tries_windows_where_b_is_kept) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = long_enough;
  const auto host = dominant<double>(n, 2, true);
  const auto A = Reference::to_device(exec, host);
  const auto b = random_vector<double>(n);
  const Trikkos::Workspace work(exec, A, Reference::to_device(exec, b));
  EXPECT_EQ(work.algorithm(), Algorithm::truncated);
  const auto x = Reference::to_device(exec, b);
  Trikkos::solve(exec, work, A, x, x);
  EXPECT_TRUE(work.status(exec).ok());
  EXPECT_EQ(work.status(exec).disagreement, -1);
  EXPECT_TRUE(same_bits(Reference::to_host(x), solve(host, b, segmented()).x));
  const auto s = segmented().partition_size(20);
  EXPECT_TRUE(same_bits(solve(host, b, Options{}.partition_size(20)).x, solve(host, b, s).x));
}
/// Rows that are looked at, or not, with entries of any kind.
TEST(TEST_CATEGORY, automatic_tries_windows_and_tells_the_same_of_bad_numbers) {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t n : {least_for<double>, long_enough}) {
    const std::int64_t looked_at = n / 48 / 2;
    const auto b = random_vector<double>(n);
    const auto good = dominant<double>(n, 2, true);
    for (const double bad : {0., nan, inf, -inf, 1e308, -1e308, 1e-320})
      for (const std::int64_t row : {looked_at, looked_at + 100}) {
        auto A = good;
        A.lower[row] = A.diag[row] = A.upper[row] = bad;
        SCOPED_TRACE(testing::Message() << bad << " in row " << row << " of " << n);
        const auto r = solve(A, b, Options{}), s = solve(A, b, segmented());
        EXPECT_EQ(r.status.reason, s.status.reason);
        EXPECT_EQ(r.status.row, s.status.row);
        if (s.status.ok()) {
          EXPECT_LE(r.eta, 45 * unit<double>);
        }
      }
  }
}

/// Where rows are computed `segmented` solves, whatever they look like.
struct DominantRows {
  KOKKOS_FUNCTION Kokkos::Array<double, 3> operator()(std::int64_t row) const {
    return {-1, 4. + static_cast<double>(row % 3), 0.5};
  }
};
TEST(TEST_CATEGORY, automatic_tries_no_windows_where_rows_are_computed) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = long_enough;
  const Trikkos::Computed<DominantRows> A{n, {}};
  const auto b = Reference::to_device(exec, random_vector<double>(n));
  const auto solution = [&](const Options& options) {
    const Kokkos::View<double*, TEST_EXECSPACE> x("x", n);
    const Trikkos::Workspace work(exec, A, b, options);
    Trikkos::solve(exec, work, A, b, x);
    EXPECT_TRUE(work.status(exec).ok());
    EXPECT_EQ(work.status(exec).disagreement, -1);
    return Reference::to_host(x);
  };
  EXPECT_TRUE(same_bits(solution({}), solution(segmented())));
}

// ---- a search: pieces of all kinds, most of them dominant

using Random = std::mt19937_64;

inline double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
/// Rows of one kind: 0 is dominant; others Poisson's, advective, of any or no diagonal, -1 1 -1,
/// nearly singular pairs, nearly uncoupled.
inline void fill_piece(Random& random, HostSystem<double>& A, std::int64_t first, std::int64_t last,
                       int kind, double dominance) {
  const double tiny = std::pow(10., between(random, -16, 0));
  const bool is_scaled = kind > 0 && random() % 5 < 2;
  const double scale = is_scaled ? std::ldexp(1., static_cast<int>(random() % 80) - 40) : 1;
  for (std::int64_t i = first; i < last; ++i) {
    double l = between(random, -1, 1), r = between(random, -1, 1);
    double d = dominance * (std::abs(l) + std::abs(r));
    if (kind == 1) l = r = -1, d = 2;
    if (kind == 2) l = -1, r = tiny, d = 1 + tiny;
    if (kind == 3) l = tiny, r = -1, d = 1 + tiny;
    if (kind == 4) d = between(random, -1, 1);
    if (kind == 5) d = 0;
    if (kind == 6) l = r = d = 1;
    if (kind == 7 && (i - first) % 2 == 0) l *= tiny, r = 0.7, d = 1;
    if (kind == 7 && (i - first) % 2 == 1) l = 0.3, r *= tiny, d = 0.21 * (1 + tiny);
    if (kind == 8) l *= tiny, r *= tiny, d = 1;
    A.lower[i] = scale * l, A.diag[i] = scale * d, A.upper[i] = scale * r;
  }
}
inline HostSystem<double> mixed(Random& random, std::int64_t n) {
  HostSystem<double> A = dominant<double>(n, 2, false);
  const double odd = std::pow(10., between(random, -3, -0.7)),
               dominance = 1.2 + 3 * std::pow(between(random, 0, 1), 2);
  for (std::int64_t i = 0; i < n;) {
    const bool is_odd = between(random, 0, 1) < odd;
    const auto length = 1 + static_cast<std::int64_t>(random() % (is_odd ? 300 : 4000));
    const std::int64_t end = std::min(n, i + length);
    fill_piece(random, A, i, end, is_odd ? 1 + static_cast<int>(random() % 8) : 0, dominance);
    i = end;
  }
  return A;
}
/// Of numbers, of numbers of any size, or of a solution with a few that are large.
inline std::vector<double> mixed_rhs(Random& random, const HostSystem<double>& A) {
  std::vector<double> b(A.diag.size());
  const int kind = static_cast<int>(random() % 3);
  for (double& v : b) {
    v = between(random, -1, 1);
    if (kind == 1) v *= std::pow(10., between(random, -8, 8));
    if (kind == 2 && random() % 5000 == 0) v *= 1e12;
  }
  return kind == 2 ? Reference::multiply(A, b) : b;
}
/// What becomes of mixtures of `least` to `least + more` rows.
struct OfMixtures {
  int kept = 0, fell_back = 0, not_tried = 0;
  double worst = 0;

  OfMixtures(std::int64_t least, std::int64_t more) {
    Random random(17);
    for (int round = 0; round < 60; ++round) {
      SCOPED_TRACE(round);
      const std::int64_t n = least + static_cast<std::int64_t>(random() % more);
      const HostSystem<double> A = mixed(random, n);
      const auto r = solve(A, mixed_rhs(random, A), Options{});
      ++(r.status.disagreement < 0 ? not_tried : r.status.fell_back ? fell_back : kept);
      if (!r.status.ok()) continue;  // some are singular
      EXPECT_LE(r.eta, 45 * unit<double>);
      worst = std::max(worst, r.eta);
    }
    testing::Test::RecordProperty("worst", std::to_string(worst));
  }
};
TEST(TEST_CATEGORY, automatic_tries_windows_and_no_mixture_breaks_it) {
  const OfMixtures found(long_enough, 3000);
  EXPECT_GE(found.kept, 5);
  EXPECT_GE(found.fell_back, 5);
  EXPECT_GE(found.not_tried, 5);
}
TEST(TEST_CATEGORY, automatic_solves_short_mixtures) {
  if (on_host) GTEST_SKIP() << "of a device";
  const OfMixtures found(least_for<double>, 60000);
  EXPECT_GE(found.kept, 5);
  EXPECT_GE(found.fell_back, 5);
}

}  // namespace Test::Truncated
