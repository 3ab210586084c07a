// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <DeviceKernels.hpp>
#include <Windows.hpp>
#include <functional>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/truncated/Trikkos_WindowsAndSegments.hpp>
#include <impl/truncated/Trikkos_WindowsOfEach.hpp>
#include <random>

/// \file
/// `truncated` and `automatic` for many systems of a device, one behind the other: windows of each,
/// judged by itself, and `segmented` for the others; kernels on hosts, too (DeviceKernels.hpp).

namespace Test::DeviceKernels {

/// How systems lie: words between rows, and behind a system.
struct Placed {
  int step, gap;
};
constexpr Placed placings[] = {{1, 0}, {1, 4}, {1, 3}, {2, 0}};

struct OfEach {
  Answers answers;
  std::vector<bool> refused;  // [system]
};
/// Windows of each, `segmented` behind them, of one in the same kernel or in turn; or all by that.
enum class Way { in_one, in_turn, only_segmented };
inline OfEach solve_each(const std::vector<HostSystem<1>>& systems, bool looks, const Placed& at,
                         Way way = Way::in_one) {
  const bool only_segmented = way == Way::only_segmented;
  const int n = systems[0].n, count = static_cast<int>(systems.size());
  const ManyOnDevice<1> many(systems, at.step, n * at.step + at.gap);
  const Impl::DevicePartitions<T, Exec, Impl::OrthogonalCarry> passes(Impl::Shape{n, count, count},
                                                                      Trikkos::Options{});
  const Impl::DeviceWindows<T> windows(n, Trikkos::Options{}.truncated({.overlap = 60}));
  const std::int64_t lists = Impl::WindowLists::words_for<T>(count);
  const Kokkos::View<T*, Exec> storage("storage", lists + count * passes.storage_words());
  const Kokkos::View<Impl::Wanted*, Exec> listed("listed", 1);
  auto problem = many.problem(false);
  problem.A.first.scale_rows = true;
  problem.storage = storage.data();
  if (only_segmented)
    passes.solve(Exec(), problem);
  else
    Impl::solve_each_in_windows(Exec(), windows, looks ? 48 : 0, passes, problem, problem,
                                listed.data(), way == Way::in_turn);
  OfEach r{many.answers(), {}};
  std::vector<T> of_lists = to_vector(storage);
  const auto found = Impl::WindowLists::at(of_lists.data(), count, nullptr);
  int by_windows = 0;
  for (int k = 0; k < count; ++k) {
    r.refused.push_back(!only_segmented && found.refused.all.has(k));
    by_windows += r.refused[k] && found.tried.has(k);
  }
  EXPECT_EQ(to_vector(listed)[0].raised, by_windows);
  return r;
}
inline HostSystem<1> dominant_rows(int n, int seed, T more = 2) {
  return {n, [=](int i, int j) {
            const T v = T(Impl::random_uniform(seed, 3 + j, i));
            return j == 0 ? std::copysign(more, v) : v;
          }};
}
/// Rows that need pivoting, and in which nothing fades, as it does where all entries are random.
inline HostSystem<1> oscillating_rows(int n, int seed) {
  return {n, [=](int i, int j) {
            return j == 0 ? T(0.5 + 0.1 * Impl::random_uniform(seed, 3, i)) : T(1);
          }};
}
/// Rows from `first` on in which nothing fades; no look falls on them.
inline HostSystem<1> dominant_but_for_a_piece(int n, int seed, int first,
                                              int rows = 2 * group - partition) {
  HostSystem<1> A = dominant_rows(n, seed);
  for (int i = first; i < first + rows; ++i) A.band[0][i] = A.band[2][i] = -1, A.band[1][i] = 2;
  return A;
}
/// Of two windows, of two full ones, of three and four, and what is left over for the last.
constexpr int window_sizes[] = {one_window + 4, one_window + window_step,
                                one_window + window_step + 1, one_window + window_step + 260,
                                one_window + 2 * window_step + 121};

TEST(TEST_CATEGORY, windows_of_each_judge_each_system) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : window_sizes)
    for (const Placed& at : placings) {
      SCOPED_TRACE(std::to_string(n) + " rows, step " + std::to_string(at.step) + ", gap " +
                   std::to_string(at.gap));
      const int unseen = n / 8 * 4 + n / 16 + 5;  // rows between two places that are looked at
      const std::vector systems{dominant_rows(n, 1),   oscillating_rows(n, 6),
                                dominant_rows(n, 2),   dominant_but_for_a_piece(n, 3, unseen),
                                dominant_rows(n, 4),   dominant_rows(n, 5, T(1e4)),
                                oscillating_rows(n, 7)};
      for (const bool looks : {true, false}) {
        const OfEach found = solve_each(systems, looks, at);
        EXPECT_EQ(found.refused, (std::vector{false, true, false, true, false, false, true}));
        EXPECT_TRUE(found.answers.status.ok()) << found.answers.status.why();
        EXPECT_GT(found.answers.status.disagreement, 1e-3);  // of those that were refused
        const OfEach stable = solve_each(systems, looks, at, Way::only_segmented);
        for (std::size_t k = 0; k < systems.size(); ++k) {
          SCOPED_TRACE(k);
          const auto& x = found.answers.x[k];
          EXPECT_LE(systems[k].backward_error(x), 8 * std::numeric_limits<T>::epsilon());
          if (at.gap == 0) {
            EXPECT_EQ(x, solve_each({systems[k]}, looks, at).answers.x[0]);
          }
          if (found.refused[k]) {
            EXPECT_EQ(x, stable.answers.x[k]);
          }
        }
        if (testing::Test::HasFailure()) return;
      }
    }
}
// One system, whose coarse tree is gone through by teams: what windows refuse has no segments yet.
TEST(TEST_CATEGORY, windows_of_one_judge_it) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {9 * segment, 100 * segment + 77, 127 * segment + 1, 520 * segment + 5}) {
    if (Impl::is_host_v<Exec> && n > 128 * segment) break;  // whose teams are of 64 threads
    const int unseen = n / 8 * 4 + n / 16 + 5;
    const HostSystem<1> systems[] = {dominant_rows(n, 1), oscillating_rows(n, 6),
                                     dominant_but_for_a_piece(n, 3, unseen)};
    for (const Placed& at : {placings[0], placings[3]})
      for (int k = 0; k < 3; ++k)
        for (const Way way : {Way::in_one, Way::in_one, Way::in_turn, Way::in_turn}) {
          SCOPED_TRACE(std::to_string(n) + " rows, step " + std::to_string(at.step) + ", kind " +
                       std::to_string(k) + (way == Way::in_turn ? ", in turn" : ""));
          const OfEach found = solve_each({systems[k]}, true, at, way);
          EXPECT_EQ(found.refused, (std::vector{k > 0}));
          EXPECT_TRUE(found.answers.status.ok()) << found.answers.status.why();
          const auto& x = found.answers.x[0];
          EXPECT_LE(systems[k].backward_error(x), 8 * std::numeric_limits<T>::epsilon());
          if (k > 0) {
            EXPECT_EQ(x, solve_each({systems[k]}, true, at, Way::only_segmented).answers.x[0]);
          }
        }
  }
}
/// One system, whose windows leave the segments for `segmented` behind them.
inline Answers solve_in_one_or_two(const HostSystem<1>& A, const Placed& at, int offset,
                                   bool tells) {
  const int n = A.n;
  const ManyOnDevice<1> one({A}, at.step, n * at.step, offset);
  const Impl::DevicePartitions<T, Exec, Impl::OrthogonalCarry> passes(Impl::Shape{n, 1, 1},
                                                                      Trikkos::Options{});
  const Impl::WindowsAndSegments<T, Exec> both(passes);
  const Kokkos::View<T*, Exec> storage("storage", both.storage_words() + passes.storage_words());
  auto problem = one.problem(false);
  problem.A.first.scale_rows = true;
  problem.storage = storage.data();
  EXPECT_TRUE(both.is_for(problem));
  both.solve(Exec(), problem, tells);
  return one.answers();
}
constexpr int own_rows = tile - 4 * group;  // of such a window
TEST(TEST_CATEGORY, windows_and_segments_of_one_system) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr bool on_host = Impl::is_host_v<Exec>;  // whose teams are of 64 threads
  const auto solves = [](int n, const Placed& at, int offset) {
    std::vector<HostSystem<1>> systems{dominant_rows(n, 1), dominant_rows(n, 2, T(1e4)),
                                       oscillating_rows(n, 6)};
    for (const int first : {0, own_rows - group, n - 4 * group})
      systems.push_back(dominant_but_for_a_piece(n, 3, first, 4 * group));
    for (std::size_t k = 0; k < systems.size(); ++k) {
      SCOPED_TRACE(std::to_string(n) + " rows, step " + std::to_string(at.step) + ", offset " +
                   std::to_string(offset) + ", kind " + std::to_string(k));
      const HostSystem<1>& A = systems[k];
      const Answers found = solve_in_one_or_two(A, at, offset, false);
      EXPECT_TRUE(found.status.ok()) << found.status.why();
      EXPECT_EQ(found.status.disagreement >= 0, k != 2);
      EXPECT_EQ(found.status.disagreement > Impl::largest_disagreement<T>, k > 2);
      EXPECT_LE(A.backward_error(found.x[0]), 8 * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(found.x[0] == solve_each({A}, false, at, Way::only_segmented).answers.x[0], k >= 2);
    }
    EXPECT_GT(solve_in_one_or_two(systems[2], at, offset, true).status.disagreement, 1e-3);
  };
  for (const int n : {9 * segment, 12 * segment, 12 * segment + 1}) {
    solves(n, placings[0], 0);
    solves(n, placings[0], 1);
    solves(n, placings[3], 0);
  }
  solves((on_host ? 50 : 100) * segment + 77, placings[0], 0);
  if (!on_host) solves(520 * segment + 5, placings[0], 1);
}
TEST(TEST_CATEGORY, windows_and_segments_find_bad_rows) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  const int n = 12 * segment + 100;
  for (const int bad : {0, 1, 2 * group, own_rows - 1, own_rows, own_rows + group, n - 1})
    for (const int how : {0, 1, 2, 3}) {
      SCOPED_TRACE("bad row " + std::to_string(bad) + ", " + std::to_string(how));
      auto A = dominant_rows(n, 1);
      if (how == 0) A.set_row(bad, 0);
      if (how == 1) A.set_column(bad, 0);
      if (how == 2) A.b[bad] = std::nanf("");
      if (how == 3) A.band[1][bad] = std::nanf("");
      const Answers found = solve_in_one_or_two(A, placings[0], 0, false);
      EXPECT_EQ(found.status.reason, how < 2 ? Reason::singular : Reason::not_finite);
      EXPECT_EQ(found.status.row, bad);
    }
}
// Of many systems those are tried whose rows that are looked at say so within two standard
// deviations. Windows would do for all of these, whose other rows pass next to nothing on.
TEST(TEST_CATEGORY, windows_of_each_are_tried_within_two_deviations) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  using Look = Impl::LookAtEach<T>;
  const int n = window_sizes[1], places = Look::rows / Look::side_by_side;
  const double in_an_overlap =
                   Impl::DeviceWindows<T>(n, Trikkos::Options{}.truncated({.overlap = 60})).group(),
               wanted = Look::rows / in_an_overlap * std::log(Impl::largest_disagreement<T>);
  // logarithms of what the rows pass on that are looked at: their sum, and how far each is from
  // their mean
  const auto looking_like = [&](double sum, double deviation) {
    HostSystem<1> A = dominant_rows(n, 1, 10);
    for (int k = 0; k < Look::rows; ++k) {
      const int place = static_cast<int>(Impl::sample_of(n, places, k / Look::side_by_side)),
                row = place / Look::side_by_side * Look::side_by_side + k % Look::side_by_side;
      const double passed_on = std::exp(sum / Look::rows + (k % 2 ? deviation : -deviation));
      A.band[0][row] = A.band[2][row] = 1;
      A.band[1][row] = T(1 / passed_on + 0.5);
    }
    return A;
  };
  const double each = 0.3, two = 2 * each * std::sqrt(double(Look::rows));
  const std::vector systems{looking_like(wanted - 0.1, 0), looking_like(wanted + 0.1, 0),
                            looking_like(wanted + two - 0.1, each),
                            looking_like(wanted + two + 0.1, each)};
  for (const Placed& at : placings)
    EXPECT_EQ(solve_each(systems, true, at).refused, (std::vector{false, true, false, true}));
  EXPECT_EQ(solve_each(systems, false, placings[0]).refused, std::vector(4, false));
}
// What is bad is found, and spoils no other.
TEST(TEST_CATEGORY, windows_of_each_find_bad_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  struct Bad {
    Reason reason;
    std::function<void(HostSystem<1>&, int row)> spoil;
  };
  const Bad kinds[] = {
      {Reason::singular, [](auto& s, int row) { s.set_row(row, 0); }},
      {Reason::singular, [](auto& s, int row) { s.set_column(row, 0); }},
      {Reason::not_finite, [](auto& s, int row) { s.b[row] = std::nanf(""); }},
      {Reason::not_finite, [](auto& s, int row) { s.band[1][row] = std::nanf(""); }}};
  for (const int n : {window_sizes[0], window_sizes[2]}) {
    std::vector<HostSystem<1>> good;
    for (int k = 0; k < 4; ++k) good.push_back(dominant_rows(n, k));
    const auto known = solve_each(good, true, placings[0]).answers.x;
    for (const int bad : {0, 2, n / 2, window_step + 10, n - 1})
      for (const auto& [reason, spoil] : kinds) {
        SCOPED_TRACE(std::to_string(n) + " rows, bad row " + std::to_string(bad));
        auto systems = good;
        spoil(systems[2], bad);
        const OfEach found = solve_each(systems, true, placings[0]);
        EXPECT_TRUE(found.refused[2]);
        EXPECT_EQ(found.answers.status.reason, reason);
        EXPECT_EQ(found.answers.status.system, 2);
        EXPECT_EQ(found.answers.status.row, bad);
        for (const int k : {0, 1, 3}) EXPECT_EQ(found.answers.x[k], known[k]) << k;
        if (testing::Test::HasFailure()) return;
      }
  }
}

// ---- a search: pieces of all kinds, most of them dominant

inline HostSystem<1> mixture(std::mt19937_64& random, int n) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  HostSystem<1> A = random_system<1>(n);
  const double odd = std::pow(10., between(-2, -0.5));
  for (int i = 0; i < n;) {
    const int kind = between(0, 1) < odd ? 1 + static_cast<int>(random() % 6) : 0;
    const int end =
        std::min<int>(n, i + 1 + random() % (kind > 0 ? 10 * partition : 100 * partition));
    const double dominance = 1.05 + 3 * std::pow(between(0, 1), 2),
                 tiny = std::pow(10., between(-8, 0)),
                 scale = std::ldexp(1., kind > 3 ? static_cast<int>(random() % 40) - 20 : 0);
    for (; i < end; ++i) {
      double l = between(-1, 1), r = between(-1, 1), d = dominance * (std::fabs(l) + std::fabs(r));
      if (kind == 1 || kind == 4) l = r = -1, d = 2 + tiny;
      if (kind == 2 || kind == 5) l = -1, r = 0.3 * tiny, d = 1 + tiny;
      if (kind == 3 || kind == 6) l = r = 1, d = 0.5 + 0.1 * between(-1, 1);
      if (i > 0) A.band[0][i] = T(scale * l);
      A.band[1][i] = T(scale * d);
      if (i < n - 1) A.band[2][i] = T(scale * r);
    }
  }
  return A;
}
TEST(TEST_CATEGORY, windows_of_each_withstand_mixtures) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  std::mt19937_64 random(23);
  int refused = 0, kept = 0;
  double worst = 0;
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(round);
    const int n = window_sizes[0] + static_cast<int>(random() % (2 * tile));
    std::vector<HostSystem<1>> systems;
    for (int k = 0; k < 8; ++k) systems.push_back(mixture(random, n));
    const OfEach found = solve_each(systems, round % 2 == 0, placings[round % 4]);
    EXPECT_TRUE(found.answers.status.ok()) << found.answers.status.why();
    for (std::size_t k = 0; k < systems.size(); ++k) {
      ++(found.refused[k] ? refused : kept);
      worst = std::max(worst, systems[k].backward_error(found.answers.x[k]));
    }
  }
  EXPECT_LE(worst, 16 * std::numeric_limits<T>::epsilon());
  EXPECT_GE(refused, 30);
  EXPECT_GE(kept, 30);
  RecordProperty("worst", std::to_string(worst));
}

TEST(TEST_CATEGORY, windows_and_segments_withstand_mixtures) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  std::mt19937_64 random(29);
  int refused = 0, kept = 0;
  double worst = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const HostSystem<1> A = mixture(random, 9 * segment + static_cast<int>(random() % (2 * tile)));
    const Answers found = solve_in_one_or_two(A, placings[round % 4], round % 2, true);
    EXPECT_TRUE(found.status.ok()) << found.status.why();
    ++(found.status.disagreement > Impl::largest_disagreement<T> ? refused : kept);
    worst = std::max(worst, A.backward_error(found.x[0]));
  }
  EXPECT_LE(worst, 16 * std::numeric_limits<T>::epsilon());
  EXPECT_GE(refused, 10);
  EXPECT_GE(kept, 10);
  RecordProperty("worst", std::to_string(worst));
}

}  // namespace Test::DeviceKernels

// ---- calls

namespace Test::Truncated {

/// Systems of 4096 rows, as many as `automatic` tries windows for, on a device.
struct ManyLong {
  static constexpr std::int64_t n = 4096, count = (std::int64_t(1) << 23) / n;
  using Array = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;

  Trikkos::Tridiagonal<Array> A;
  Array b, x;

  /// The k-th is dominant, or random, as kind(k) says.
  template <class IsDominant>
  explicit ManyLong(const IsDominant& is_dominant)
      : A{Array("lower", count, n), Array("diag", count, n), Array("upper", count, n)},
        b("b", count, n),
        x("x", count, n) {
    const auto fill = [&](const Array& array, int which) {
      const auto host = Kokkos::create_mirror_view(array);
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t i = 0; i < n; ++i) {
          const double v = Trikkos::Impl::random_uniform(which, 0, k * n + i);
          host(k, i) = which == 1 && is_dominant(k) ? std::copysign(2.5, v) : v;
        }
      Kokkos::deep_copy(array, host);
    };
    fill(A.lower, 0);
    fill(A.diag, 1);
    fill(A.upper, 2);
    fill(b, 3);
  }
  std::vector<std::vector<double>> solutions(const Options& options, Trikkos::Status& status,
                                             Algorithm algorithm) const {
    const TEST_EXECSPACE exec;
    const Trikkos::Workspace work(exec, A, b, options);
    EXPECT_EQ(work.algorithm(), algorithm);
    Kokkos::deep_copy(x, std::nan(""));
    Trikkos::solve(exec, work, A, b, x);
    status = work.status(exec);
    EXPECT_TRUE(status.ok()) << status.why();
    EXPECT_LE(Trikkos::backward_error(exec, A, x, b), 45 * unit<double>);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    std::vector<std::vector<double>> r(count);
    for (std::int64_t k = 0; k < count; ++k) r[k].assign(&host(k, 0), &host(k, 0) + n);
    return r;
  }
};

TEST(TEST_CATEGORY, automatic_tries_windows_of_many_systems) {
  if (on_host) GTEST_SKIP() << "hosts have them in SIMD lanes";
  const auto two_of_three = [](std::int64_t k) { return k % 3 > 0; };
  const ManyLong mixed(two_of_three), dominant([](std::int64_t) { return true; }),
      random([](std::int64_t) { return false; });
  Trikkos::Status status;
  const auto all = dominant.solutions({}, status, Algorithm::truncated);
  EXPECT_FALSE(status.fell_back);
  EXPECT_GE(status.disagreement, 0);
  EXPECT_EQ(dominant.solutions(truncated(), status, Algorithm::truncated), all);
  const auto stable = random.solutions(segmented(), status, Algorithm::segmented);
  EXPECT_EQ(random.solutions({}, status, Algorithm::truncated), stable);
  EXPECT_EQ(random.solutions(truncated(), status, Algorithm::truncated), stable);
  EXPECT_TRUE(status.fell_back);
  const auto some = mixed.solutions({}, status, Algorithm::truncated);
  for (std::int64_t k = 0; k < ManyLong::count; ++k)
    ASSERT_EQ(some[k], two_of_three(k) ? all[k] : stable[k]) << k;
  // in place there is no second way
  Kokkos::deep_copy(dominant.x, dominant.b);
  const TEST_EXECSPACE exec;
  const Trikkos::Workspace work(exec, dominant.A, dominant.x);
  Trikkos::solve(exec, work, dominant.A, dominant.x, dominant.x);
  EXPECT_EQ(work.status(exec).disagreement, -1);
  EXPECT_LE(Trikkos::backward_error(exec, dominant.A, dominant.x, dominant.b), 45 * unit<double>);
}

}  // namespace Test::Truncated
