// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <HostViews.hpp>
#include <InKernels.hpp>
#include <ManySystems.hpp>
#include <Promise.hpp>

/// \file
/// `solve(this_thread, A, b, x, memory, options)`: one thread, any algorithm, memory of its own.

namespace Test::InMemory {

using Many::Layout;
using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Corners;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Pivoting;
using Trikkos::Transpose;

/// Around the 66 rows of a partition.
constexpr std::int64_t sizes[] = {1, 2, 3, 65, 66, 67, 131, 132, 133, 199, 1000};

bool pivots(const Options& options) {
  return options.algorithm() == Algorithm::automatic ||
         options.algorithm() == Algorithm::segmented || options.algorithm() == Algorithm::factored;
}
/// Random ones, or dominant ones where nothing pivots.
template <class T>
Many::Batch<T> systems_for(const Options& options, std::int64_t count, std::int64_t n,
                           Boundary boundary) {
  return Many::make_batch<T>(pivots(options) ? Gallery::uniform : Gallery::uniform_dominant, count,
                             n, boundary);
}
template <class T>
Systems<T> views(const Many::DeviceBatch<T>& device) {
  return {device.A.lower, device.A.diag, device.A.upper, device.b, device.x, device.A.boundary};
}

template <class T>
void expect_solved(const Options& options, std::int64_t n, Boundary boundary,
                   Layout layout = Layout::right) {
  SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary));
  constexpr int count = 3;
  const auto batch = systems_for<T>(options, count, n, boundary);
  const Many::DeviceBatch<T> device(batch, layout), in_place(batch, layout);
  const std::vector<int> well(count, 0);
  EXPECT_EQ(solve_by_threads_in_memory(views(device), count, options), well);
  auto same = views(in_place);
  same.x = same.b;
  EXPECT_EQ(solve_by_threads_in_memory(same, count, options), well);
  for (int k = 0; k < count; ++k) {
    const auto x = device.solution(k);
    EXPECT_LE(Many::eta_of(batch, k, x, options.transpose()),
              scaled<T>(pivots(options) ? 1e-14 : 2e-15));
    EXPECT_EQ(Reference::to_host(Many::row_of(in_place.b, k)), x);
    EXPECT_EQ(Reference::to_host(Many::row_of(device.b, k)), batch.b[k]);
  }
}

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (const Algorithm algorithm : Trikkos::algorithms)
    all.push_back(Options{}.algorithm(algorithm));
  all.push_back(Options{}.spike({.pivoting = Pivoting::none}));
  all.push_back(Options{}.pcr({.reduction_steps = 2}));
  all.push_back(Options{}.thomas({Corners::sherman_morrison}));
  for (const std::int64_t rows : {2, 7, 66, 67, 200})
    for (const Algorithm algorithm : {Algorithm::segmented, Algorithm::spike})
      all.push_back(Options{}.algorithm(algorithm).partition_size(rows));
  return all;
}

template <class T>
void solves() {
  for (const Options& options : all_options())
    for (const std::int64_t n : sizes)
      for (const Boundary boundary : {Boundary::open, Boundary::periodic})
        expect_solved<T>(options, n, boundary);
}
TEST(TEST_CATEGORY, thread_memory_solves) {
  solves<double>();
  solves<float>();
  solves<Kokkos::complex<double>>();
  solves<Kokkos::complex<float>>();
}

TEST(TEST_CATEGORY, thread_memory_transposes) {
  using T = Kokkos::complex<double>;
  for (const Options& options : all_options())
    for (const auto op : {Transpose::transpose, Transpose::conjugate_transpose})
      for (const Boundary boundary : {Boundary::open, Boundary::periodic})
        expect_solved<T>(Options(options).transpose(op), 133, boundary);
}

TEST(TEST_CATEGORY, thread_memory_layouts) {
  for (const Layout layout : Many::layouts)
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      expect_solved<double>(Options{}, 133, boundary, layout);
}

/// A thread is a team of one.
TEST(TEST_CATEGORY, thread_memory_has_the_bits_of_a_team) {
  constexpr int count = 3;
  for (const Algorithm algorithm : {Algorithm::segmented, Algorithm::spike, Algorithm::pcr})
    for (const std::int64_t n : sizes)
      for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
        const auto options = Options{}.algorithm(algorithm);
        auto of_team = options;
        if (algorithm != Algorithm::pcr) of_team.partition_size(66);
        if (Trikkos::team_scratch_bytes<double>(n, of_team, boundary) > 30 * 1024) continue;
        SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary));
        const auto batch = systems_for<double>(options, count, n, boundary);
        const Many::DeviceBatch<double> device(batch, Layout::right), team(batch, Layout::right);
        EXPECT_EQ(solve_by_threads_in_memory(views(device), count, options),
                  solve_by_teams(views(team), count, of_team, 1));
        for (int k = 0; k < count; ++k) EXPECT_EQ(device.solution(k), team.solution(k));
      }
}

TEST(TEST_CATEGORY, thread_memory_flags_what_it_cannot_solve) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {3, 66, 133}) {
      auto batch = systems_for<double>(Options{}, 4, n, boundary);
      const std::int64_t row = n / 2;
      batch.A[1].lower[row] = batch.A[1].diag[row] = batch.A[1].upper[row] = 0;
      batch.b[2][row] = std::numeric_limits<double>::quiet_NaN();
      batch.A[3].diag[row] = std::numeric_limits<double>::infinity();
      for (const Algorithm algorithm : {Algorithm::segmented, Algorithm::spike}) {
        const Many::DeviceBatch<double> device(batch, Layout::right);
        const auto info =
            solve_by_threads_in_memory(views(device), 4, Options{}.algorithm(algorithm));
        if (algorithm == Algorithm::segmented) {
          EXPECT_EQ(info[0], 0);
        }
        for (int k = 1; k < 4; ++k) {
          EXPECT_GT(info[k], 0) << k;
          EXPECT_LE(info[k], n) << k;
        }
      }
    }
}

/// Nothing is wrong with A, nor with b: x is too large.
TEST(TEST_CATEGORY, thread_memory_flags_an_x_that_overflows) {
  constexpr int count = 2;
  for (const Options& options : all_options())
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {2, 3, 66, 133})
        for (const std::int64_t row : {std::int64_t(0), n / 2, n - 1}) {
          SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary) +
                       ", row " + std::to_string(row));
          auto batch = systems_for<double>(options, count, n, boundary);
          for (auto* band : {&batch.A[1].lower, &batch.A[1].diag, &batch.A[1].upper})
            (*band)[row] = std::ldexp((*band)[row], -600);
          batch.b[1][row] = std::ldexp(1., 600);
          const Many::DeviceBatch<double> device(batch, Layout::right);
          const auto expect_flagged = [&](const std::vector<int>& info) {
            EXPECT_EQ(info[0], 0);
            EXPECT_GT(info[1], 0);
            EXPECT_LE(info[1], n);
          };
          expect_flagged(solve_by_threads_in_memory(views(device), count, options));
          if (options.algorithm() == Algorithm::thomas)
            expect_flagged(solve_by_threads(views(device), count));
          if (Trikkos::team_scratch_bytes<double>(n, options, boundary) < 30 * 1024)
            expect_flagged(solve_by_teams(views(device), count, options));
        }
}

/// Entries are numbers, and a pivot is none: whoever says nothing has solved that all the same.
TEST(TEST_CATEGORY, thread_memory_flags_pivots_that_overflow) {
  for (const Options& options : all_options())
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {3, 66, 133})
        for (const std::int64_t row : {std::int64_t(1), n / 2, n - 1}) {
          SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary) +
                       ", row " + std::to_string(row));
          auto batch = systems_for<double>(options, 1, n, boundary);
          auto& A = batch.A[0];
          A.lower[row - 1] = 0;
          A.diag[row - 1] = A.lower[row] = batch.b[0][row] = 1e308;
          A.upper[row - 1] = -1e308;
          A.diag[row] = 1.7e308;
          A.upper[row] = 1;
          const Many::DeviceBatch<double> device(batch, Layout::right);
          const auto expect_right_or_flagged = [&](const std::vector<int>& info) {
            const double eta = Many::eta_of(batch, 0, device.solution(0), options.transpose());
            EXPECT_TRUE(info[0] > 0 || eta <= 1e-12) << eta;
          };
          expect_right_or_flagged(solve_by_threads_in_memory(views(device), 1, options));
          if (options.algorithm() == Algorithm::thomas)
            expect_right_or_flagged(solve_by_threads(views(device), 1));
          if (Trikkos::team_scratch_bytes<double>(n, options, boundary) < 30 * 1024)
            expect_right_or_flagged(solve_by_teams(views(device), 1, options));
        }
}

// ---- the memory

TEST(TEST_CATEGORY, thread_memory_is_as_much_as_is_said) {
  for (const std::int64_t n : {1, 66, 660, 10000}) {
    const auto words = [&](const Options& options, Boundary boundary = Boundary::open) {
      return static_cast<std::int64_t>(Trikkos::thread_memory_bytes<double>(n, options, boundary) /
                                       sizeof(double));
    };
    const std::int64_t partitions = (n + 65) / 66;
    EXPECT_LE(words(Options{}), 3 * n + 22 * partitions + 6);
    EXPECT_LE(words(Options{}.algorithm(Algorithm::spike)), 3 * n + 22 * partitions + 6);
    EXPECT_LE(words(Options{}.algorithm(Algorithm::pcr)), 4 * n + 4);
    EXPECT_LE(words(Options{}.algorithm(Algorithm::pcr), Boundary::periodic), 5 * n + 4);
    EXPECT_EQ(words(Options{}.algorithm(Algorithm::thomas)), 0);
    EXPECT_LE(words(Options{}.thomas({Corners::sherman_morrison}), Boundary::periodic), 2 * n + 4);
  }
}

/// No more than that is written to, and any alignment will do.
TEST(TEST_CATEGORY, thread_memory_is_not_exceeded) {
  using T = Kokkos::complex<double>;
  constexpr char untouched = 77;
  for (const Options& options : all_options())
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t n : {1, 67}) {
        SCOPED_TRACE(describe(options) + ", n " + std::to_string(n) + ", " + name(boundary));
        const auto A = gallery<T>(Gallery::uniform_dominant, n, 1, boundary);
        const auto b = random_rhs<T>(n);
        const auto bytes = Trikkos::thread_memory_bytes<T>(n, options, boundary);
        std::vector<T> first;
        for (const std::size_t offset : {0, 1, 8, 15}) {
          std::vector<char> memory(bytes + 64, untouched);
          std::vector<T> x(n);
          EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, on_host(A), on_host(b), on_host(x),
                                   HostView<char>(memory.data() + offset, bytes), options),
                    0);
          for (std::size_t i = 0; i < memory.size(); ++i) {
            if (i < offset || i >= offset + bytes) {
              ASSERT_EQ(memory[i], untouched) << i;
            }
          }
          if (offset == 0) first = x;
          EXPECT_EQ(x, first);
        }
      }
}

TEST(TEST_CATEGORY, thread_memory_aborts_on_misuse) {
  constexpr std::int64_t n = 10;
  const auto A = gallery<double>(Gallery::uniform_dominant, n);
  auto x = random_rhs<double>(n);
  const auto bytes = Trikkos::thread_memory_bytes<double>(n);
  std::vector<double> memory(bytes);
  const auto solve = [&](const auto& view) {
    return Trikkos::solve(Trikkos::this_thread, on_host(A), on_host(x), on_host(x), view);
  };
  auto* const start = reinterpret_cast<char*>(memory.data());
  EXPECT_EQ(solve(HostView<char>(start, bytes)), 0);
  EXPECT_DEATH(static_cast<void>(solve(HostView<char>(start, bytes - 1))), "too little scratch");
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace>;
  EXPECT_DEATH(static_cast<void>(solve(Strided(memory.data(), Kokkos::LayoutStride(bytes / 2, 2)))),
               "memory is strided, expected a contiguous View");
}

TEST(TEST_CATEGORY, thread_memory_of_no_rows) {
  std::vector<double> x, memory;
  EXPECT_EQ(Trikkos::solve(Trikkos::this_thread, on_host(HostSystem<double>{}), on_host(x),
                           on_host(x), on_host(memory)),
            0);
}

}  // namespace Test::InMemory
