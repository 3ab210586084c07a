// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <DeviceKernels.hpp>
#include <impl/thomas/Trikkos_ThomasCall.hpp>

/// \file
/// The kernel of devices that has chunks of interleaved systems in registers (DeviceKernels.hpp).

namespace Test::DeviceKernels {

using InRegisters = Impl::DissectedInRegisters<T, Exec>;

/// `gap`: words between the last system of a row and the first one of the next. `scratch`: bytes,
/// of which little makes the kernel keep more in registers. `one_by_one`: each system in one piece.
inline Answers solve_in_registers(const std::vector<HostSystem<1>>& systems, int gap = 0,
                                  int scratch = Impl::scratch_limit, bool looks = false,
                                  bool one_by_one = false) {
  const int count = static_cast<int>(systems.size()), n = systems.front().n;
  const ManyOnDevice<1> many(systems, one_by_one ? 1 : count + gap, one_by_one ? n + gap : 1);
  const InRegisters solver(Impl::Shape{n, count, count}, threads, scratch);
  EXPECT_TRUE(solver.is_for(many.problem()));
  EXPECT_EQ(solver.is_interleaved(many.problem()), !one_by_one || count == 1);
  solver.solve(Exec(), "Test", many.problem(), many.marks(), looks);
  return many.answers();
}
inline HostSystem<1> dominant_system(int n, int seed) {
  return {n, [seed](int i, int j) {
            return T(Impl::random_uniform(20 + seed, 3 + j, i) + (j == 0 ? 3 : 0));
          }};
}
// one and more chunks of 17 rows, complete and not, and as many as there are
constexpr int chunked_sizes[] = {1,  2,  3,   16,  17,  18,  33,   34,
                                 35, 69, 100, 137, 272, 273, 1000, 1088};

TEST(TEST_CATEGORY, register_kernels_of_dominant_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : chunked_sizes) {
    SCOPED_TRACE(n);
    std::vector<HostSystem<1>> systems;
    for (int k = 0; k < 13; ++k) systems.push_back(dominant_system(n, k));
    systems.emplace_back(n, [](int, int j) { return T(j == 0 ? 2 : -1); });
    systems.emplace_back(n, [](int i, int j) {  // rows of any size
      return std::ldexp(T(j == 0 ? 2 : -1), (7 * i) % 41 - 20);
    });
    systems.emplace_back(n, [](int, int j) { return T(j < 1 ? 1 : 0); });  // nothing fades
    systems.emplace_back(n, [](int i, int j) { return T(j == 0 ? 1 : i % 2 ? 0.5 : -0.5); });
    systems.emplace_back(n, [](int, int j) { return T(j == 0); });
    const Answers found = solve_in_registers(systems);
    EXPECT_FALSE(found.any_left);
    EXPECT_TRUE(found.status.ok()) << found.status.why();
    for (std::size_t k = 0; k < systems.size(); ++k)
      EXPECT_LE(systems[k].backward_error(found.x[k]), 8 * std::numeric_limits<T>::epsilon()) << k;
    EXPECT_EQ(solve_in_registers(systems, 3).x, found.x);
    EXPECT_EQ(solve_in_registers(systems, 0, 1024).x, found.x);
    EXPECT_EQ(solve_in_registers(systems, 2, Impl::scratch_limit, false, true).x, found.x);
  }
  EXPECT_FALSE(InRegisters(Impl::Shape{1089, 5, 5}, threads).fits());
  EXPECT_FALSE(InRegisters(Impl::Shape{0, 5, 5}, threads).fits());
}
// Side by side: what grows is left as it is, and what does not has the bits that it has alone.
TEST(TEST_CATEGORY, register_kernels_watch_each_system) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : chunked_sizes) {
    if (n < 3) continue;
    SCOPED_TRACE(n);
    std::vector<HostSystem<1>> systems;
    std::vector<T> grows;
    const auto add = [&](const HostSystem<1>& s, bool does) {
      systems.push_back(s);
      grows.push_back(T(does));
    };
    for (int row : {0, n / 2, n - 2}) {
      if (row % 17 == 16) --row;  // the last row of a chunk has the next one for its pivot, too
      add(dominant_system(n, row), false);
      add({n, [&](int i,
                  int j) { return i == row && j < 1 ? T(j == 0 ? 1e-6 : 0) : T(j == 0 ? 3 : -1); }},
          true);
      add({n, [](int, int j) { return j == 0 ? T(0.3) : T(j); }}, true);
    }
    add({n, [](int, int j) { return T(j > -1 ? 1 : 0); }}, n > 17 + 6);  // nothing fades
    if (n > 34)  // all but nothing is left of row 16 once its neighbours have gone
      add({n, [](int i, int j) { return T(j != 0 ? -1 : i == 16 ? 32. / 17 + 1e-4 : 2); }}, true);
    const Answers found = solve_in_registers(systems);
    EXPECT_EQ(found.marked, grows);
    EXPECT_TRUE(found.status.ok()) << found.status.why();  // so far
    for (std::size_t k = 0; k < systems.size(); ++k) {
      EXPECT_EQ(found.x[k],
                grows[k] == T(0) ? solve_in_registers({systems[k]}).x[0] : systems[k].b);
    }
  }
}
// What does not look dominant is not tried, and changes nothing for others; what looks so and is
// not is left as it is.
TEST(TEST_CATEGORY, register_kernels_look_first) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {17, 100, 272}) {
    SCOPED_TRACE(n);
    std::vector<HostSystem<1>> systems;
    std::vector<T> left;
    for (int k = 0; k < 150; ++k) {  // three teams that look, tiles of which none is tried
      const bool is_tried = k < 90 && k % 3 > 0;
      systems.push_back(is_tried ? dominant_system(n, k) : HostSystem<1>(n, [&](int i, int j) {
        return T(j == 0 && i == (2 * (k % 4) + 1) * n / 8 ? 1 : j == 0 ? 3 : -1);
      }));
      if (k % 9 == 1) systems.back().band[0][n / 5] = 0, systems.back().band[1][n / 5] = T(1e-9);
      left.push_back(T(!is_tried || k % 9 == 1));
    }
    const Answers found = solve_in_registers(systems, 0, Impl::scratch_limit, true);
    EXPECT_EQ(found.marked, left);
    const Answers all = solve_in_registers(systems);
    for (std::size_t k = 0; k < systems.size(); ++k)
      EXPECT_EQ(found.x[k], left[k] == T(0) ? all.x[k] : systems[k].b) << k;
    const std::vector alike(9, dominant_system(n, 5));
    EXPECT_FALSE(solve_in_registers(alike, 0, Impl::scratch_limit, true).any_left);
  }
}
// Whatever is not finite, or so large or small that it turns out so, is left, wherever it is.
TEST(TEST_CATEGORY, register_kernels_leave_what_is_not_finite) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  const int count = 3, bad = 1;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T huge = std::numeric_limits<T>::max();  // 1 / huge is below the normal numbers
  for (const int n : {1, 2, 17, 18, 35, 137}) {
    for (const bool is_coupled : {true, false}) {
      const HostSystem<1> diagonal(n, [](int, int j) { return T(j == 0 ? 3 : 0); });
      const std::vector<HostSystem<1>> systems(count,
                                               is_coupled ? dominant_system(n, 1) : diagonal);
      const auto good = solve_in_registers(systems).x;
      for (const int row : {0, n / 3, n / 2, n - 1})
        for (int word = 0; word < 4; ++word)
          for (const T value : {inf, -inf, nan, huge}) {
            if ((row == 0 && word == 0) || (row == n - 1 && word == 2)) continue;
            if (value == huge && (word == 0 || word == 2)) continue;  // there is no harm in that
            SCOPED_TRACE(std::to_string(n) + " rows, row " + std::to_string(row) + ", word " +
                         std::to_string(word) + ": " + std::to_string(value));
            auto spoilt = systems;
            auto& changed = spoilt[bad];
            if (value == huge && word == 3)  // x would overflow
              for (auto& band : changed.band) band[row] *= T(1e-3);
            (word == 3 ? changed.b : changed.band[word])[row] = value;
            const Answers found = solve_in_registers(spoilt);
            EXPECT_TRUE(found.any_left);
            EXPECT_EQ(found.marked[bad], T(1));
            for (const int k : {0, 2}) EXPECT_EQ(found.x[k], good[k]);
            if (testing::Test::HasFailure()) return;
          }
    }
  }
}

/// What is left is flagged.
struct FlagMarked {
  Impl::Diagnosis diagnosis;
  const T* marked;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    if (*marked != T(0)) diagnosis.report(Reason::unstable, 0);
  }
};
class Chunked {
 public:
  explicit Chunked(int n) : m_chunks(Impl::Shape{n, 1, 1}, threads) {}
  void solve(const Exec& exec, const Impl::Problem<T>& problem) const {
    const Kokkos::View<T*, Exec> marked("marked", 1);
    const Kokkos::View<Impl::Wanted*, Exec> left("left", 1);
    EXPECT_TRUE(m_chunks.is_for(problem));
    m_chunks.solve(exec, "Test", problem, {marked.data(), left.data()});
    Kokkos::parallel_for("Test::flag", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         FlagMarked{problem.diagnosis.of(0, problem.n()), marked.data()});
  }

 private:
  InRegisters m_chunks;
};
TEST(TEST_CATEGORY, register_kernels_withstand_the_breaker) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {8, 33, 150}) expect_unbroken_by(Chunked(n), n, true);
}

}  // namespace Test::DeviceKernels
