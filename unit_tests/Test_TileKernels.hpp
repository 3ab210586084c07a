// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <DeviceKernels.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/spike/Trikkos_DiagonalPivoting.hpp>

/// \file
/// The two passes of `segmented` on a device, on hosts, too (DeviceKernels.hpp): ends of systems,
/// of tiles and of partitions, and systems with one matrix, a few of which are eliminated together.

namespace Test::DeviceKernels {

using Passes = Impl::DevicePartitions<T, Exec, Impl::OrthogonalCarry>;
/// With partitions so short that a host has scratch for as many systems as are eliminated together.
struct ShortCarry : Impl::OrthogonalCarry {
  template <class>
  static constexpr int device_rows = 15;
};
using ShortPasses = Impl::DevicePartitions<T, Exec, ShortCarry>;
constexpr int short_tile = 64 * 15;

/// So many systems with one matrix, and right-hand sides of their own.
inline std::vector<HostSystem<1>> of_one_matrix(int n, int count, bool periodic) {
  std::vector<HostSystem<1>> r(count, random_system<1>(n, periodic));
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < n; ++i) r[k].b[i] = T(Impl::random_uniform(1, 20 + k, i));
  return r;
}
/// Row i of the k-th is at i step + k next, its matrix that of the first.
inline Answers solve_together(const std::vector<HostSystem<1>>& systems, int step, int next,
                              bool in_place) {
  const int count = static_cast<int>(systems.size());
  const ManyOnDevice<1> many(systems, step, next);
  const ShortPasses passes(Impl::Shape{systems[0].n, count, 1}, Trikkos::Options{});
  const Kokkos::View<T*, Exec> storage("storage", count * passes.storage_words());
  Impl::Problem<T> problem = many.problem(in_place);
  for (auto& stride : problem.A.stride) stride = 0;
  problem.A.first.periodic = systems[0].periodic;
  problem.A.first.scale_rows = true;
  problem.storage = storage.data();
  passes.solve(Exec(), problem);
  return many.answers();
}

// One partition, tile, and more of them; one row before and behind their ends.
TEST(TEST_CATEGORY, tile_kernels_in_tiles) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n :
       {tile - 1, tile, tile + 1, tile + partition, tile + segment, 2 * tile - 1, 2 * tile})
    expect_solved<Passes, 1>(n);
}
// Partitions of any size, whose rows are copied in bulk, or a word at a time: the same bits.
TEST(TEST_CATEGORY, tile_kernels_of_any_partition) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int rows : {2, 5, 8, 9, 14, 40})
    for (const int n : {3, 575, 700, 1300}) {
      SCOPED_TRACE(std::to_string(n) + " rows, partitions of " + std::to_string(rows));
      const Passes solver(Impl::Shape{n, 1, 1}, Trikkos::Options{}.partition_size(rows));
      auto A = random_system<1>(n);
      const Answer in_bulk = solve_with(solver, A), in_words = solve_with(solver, A, 3);
      EXPECT_TRUE(in_bulk.status.ok()) << in_bulk.status.why();
      EXPECT_LE(A.backward_error(in_bulk.x), 8 * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(in_bulk.x, in_words.x);
      for (const int bad : {0, n / 2, n - 1}) {
        auto singular = A;
        singular.set_row(bad, 0);
        for (const int stride : {1, 3}) {
          const Answer found = solve_with(solver, singular, stride);
          EXPECT_EQ(found.status.reason, Reason::singular);
          EXPECT_EQ(found.status.row, bad);
        }
      }
    }
}
// SPIKE: last tiles and partitions of all lengths, and some of no rows, which nothing is said of.
template <class Elimination>
void expect_solved_by_spike(int n) {
  SCOPED_TRACE(std::to_string(n) + " rows");
  const Impl::DevicePartitions<T, Exec, Elimination> solver(Impl::Shape{n, 1, 1},
                                                            Trikkos::Options{});
  for (const bool periodic : {false, true}) {
    auto A = random_system<1>(n, periodic);
    for (int i = 0; i < n; ++i) A.band[1][i] = std::copysign(T(2), A.band[1][i]);
    for (const int stride : {1, 2}) {
      const Answer found = solve_with(solver, A, stride);
      EXPECT_TRUE(found.status.ok()) << found.status.why();
      EXPECT_LE(A.backward_error(found.x), 8 * std::numeric_limits<T>::epsilon());
    }
  }
}
TEST(TEST_CATEGORY, tile_kernels_of_spike) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr int rows = 16, all = 64 * rows;
  for (const int n : {2, rows - 1, rows, rows + 1, all - rows, all - 1, all, all + 1, all + rows,
                      2 * all + 5 * rows + 3}) {
    expect_solved_by_spike<Impl::DiagonalPivoting<Trikkos::Pivoting::none>>(n);
    expect_solved_by_spike<Impl::DiagonalPivoting<Trikkos::Pivoting::diagonal>>(n);
  }
}
// Segments that have none on their right, at any level of the coarse tree, in the only group and in
// the last one of several.
TEST(TEST_CATEGORY, tile_kernels_of_any_number_of_segments) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int tiles : {3, 5, 7, 9, 17, 23, 32, 33, 64, 127, 129, 171}) {
    if (Impl::is_host_v<Exec> && tiles > 32) break;  // whose teams are of 64 threads
    const int n = tiles * tile - segment - 1;
    const Passes solver(Impl::Shape{n, 1, 1}, Trikkos::Options{});
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(std::to_string(tiles) + (periodic ? " tiles of a ring" : " tiles"));
      auto A = random_system<1>(n, periodic);
      const Answer found = solve_with(solver, A);
      EXPECT_TRUE(found.status.ok()) << found.status.why();
      EXPECT_LE(A.backward_error(found.x), 8 * std::numeric_limits<T>::epsilon());
      A.set_row(n - 2, 0);
      const Answer singular = solve_with(solver, A);
      EXPECT_EQ(singular.status.reason, Reason::singular);
      EXPECT_EQ(singular.status.row, n - 2);
    }
  }
}
// A coarse tree of one group, and of two levels, each with a singular system, too.
TEST(TEST_CATEGORY, tile_kernels_in_many_tiles) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {125 * segment, 512 * segment, 512 * segment + 1}) {
    if (Impl::is_host_v<Exec> && n > 128 * segment) break;  // whose teams are of 64 threads
    SCOPED_TRACE(n);
    const Passes solver(Impl::Shape{n, 1, 1}, Trikkos::Options{});
    auto A = random_system<1>(n);
    const Answer good = solve_with(solver, A);
    EXPECT_TRUE(good.status.ok()) << good.status.why();
    EXPECT_LE(A.backward_error(good.x), 8 * std::numeric_limits<T>::epsilon());
    const int bad = n / segment * (segment / 2) - 1;  // the last row below a merge
    A.set_row(bad, 0);
    const Answer singular = solve_with(solver, A);
    EXPECT_EQ(singular.status.reason, Reason::singular);
    EXPECT_EQ(singular.status.row, bad);
  }
}
// Without a coupling at each seam of a tile, and where nothing but pivoting helps.
TEST(TEST_CATEGORY, tile_kernels_at_seams) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {tile + 40, 2 * tile - 120})
    for (const int where : {tile - 3, tile - 2, tile - 1, tile, tile + 1}) {
      SCOPED_TRACE(std::to_string(n) + " rows, cut behind row " + std::to_string(where));
      const Passes solver(Impl::Shape{n, 1, 1}, Trikkos::Options{});
      for (const T diagonal : {T(0), T(1)}) {  // tridiag(-1, 1, 1), and without a diagonal
        HostSystem<1> A(n, [&](int i, int j) {
          const bool is_cut = (i == where && j == 1) || (i == where + 1 && j == -1);
          return is_cut ? T(0) : j == 0 ? diagonal : T(j);
        });
        if (diagonal == 0 && where % 2 == 0) continue;  // halves are odd, and singular
        const Answer found = solve_with(solver, A);
        EXPECT_TRUE(found.status.ok()) << found.status.why();
        EXPECT_LE(A.backward_error(found.x), 8 * std::numeric_limits<T>::epsilon());
      }
    }
}
// Systems, with a matrix each, that begin anywhere: tiles are moved in bulk from where they can be.
TEST(TEST_CATEGORY, tile_kernels_of_unaligned_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {tile - 1, tile + 2, 2 * tile - 2, 2 * tile + 3})
    for (const int count : {1, 4}) {
      std::vector<HostSystem<1>> systems;
      std::vector<std::vector<T>> alone;
      for (int k = 0; k < count; ++k) {
        systems.push_back(
            {n, [=](int i, int j) { return T(Impl::random_uniform(30 + k, 3 + j, i)); }});
        alone.push_back(solve_with(Passes(Impl::Shape{n, 1, 1}, Trikkos::Options{}), systems[k]).x);
        EXPECT_LE(systems[k].backward_error(alone[k]), 8 * std::numeric_limits<T>::epsilon());
      }
      for (const int offset : {0, 1, 2, 3})
        for (const int gap : {0, 1, 2, 3}) {
          SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n) + " rows, offset " +
                       std::to_string(offset) + ", gap " + std::to_string(gap));
          const ManyOnDevice<1> many(systems, 1, n + gap, offset);
          const Passes passes(Impl::Shape{n, count, count}, Trikkos::Options{});
          const Kokkos::View<T*, Exec> storage("storage", count * passes.storage_words());
          Impl::Problem<T> problem = many.problem(offset % 2 == 0);
          problem.A.first.scale_rows = true;
          problem.storage = storage.data();
          passes.solve(Exec(), problem);
          const Answers found = many.answers();
          EXPECT_TRUE(found.status.ok()) << found.status.why();
          EXPECT_EQ(found.x, alone);
        }
    }
}
// Each has the bits that it has alone, wherever it lies.
TEST(TEST_CATEGORY, tile_kernels_of_one_matrix) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {14, 2 * short_tile - 1, 2 * short_tile + 241})
    for (const int count : {2, 3, 5})
      for (const bool periodic : {false, true}) {
        const auto systems = of_one_matrix(n, count, periodic);
        std::vector<std::vector<T>> alone;
        for (const auto& A : systems)
          alone.push_back(solve_with(ShortPasses(Impl::Shape{n, 1, 1}, Trikkos::Options{}), A).x);
        EXPECT_LE(systems[count - 1].backward_error(alone[count - 1]),
                  8 * std::numeric_limits<T>::epsilon());
        const int aligned = (n + 3) / 4 * 4;
        for (const auto& [step, next] : std::vector<std::pair<int, int>>{{1, aligned},
                                                                         {1, aligned + 1},
                                                                         {1, aligned + 2},
                                                                         {1, aligned + 3},
                                                                         {3, 3 * n},
                                                                         {count, 1}})
          for (const bool in_place : {true, false}) {
            SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n) + " rows, " +
                         std::to_string(step) + " apart" + (periodic ? ", periodic" : ""));
            const Answers found = solve_together(systems, step, next, in_place);
            EXPECT_TRUE(found.status.ok()) << found.status.why();
            EXPECT_EQ(found.x, alone);
          }
      }
}
// A bad right-hand side is named, and spoils no other; of a singular matrix the first is named.
TEST(TEST_CATEGORY, tile_kernels_of_one_matrix_name_what_is_bad) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  const int n = short_tile + 40;
  for (const int count : {2, 3, 5})
    for (const auto& [step, next] :
         std::vector<std::pair<int, int>>{{1, n}, {1, n + 1}, {1, n + 3}, {2, 2 * n}}) {
      const auto systems = of_one_matrix(n, count, false);
      const Answers good = solve_together(systems, step, next, true);
      for (const int bad : {0, count / 2, count - 1})
        for (const int row : {0, short_tile - 1, short_tile, n - 1}) {
          SCOPED_TRACE("system " + std::to_string(bad) + " of " + std::to_string(count) + ", row " +
                       std::to_string(row) + ", " + std::to_string(step) + " apart, systems " +
                       std::to_string(next));
          auto spoilt = systems;
          spoilt[bad].b[row] = std::nanf("");
          const Answers found = solve_together(spoilt, step, next, true);
          EXPECT_EQ(found.status.reason, Reason::not_finite);
          EXPECT_EQ(found.status.system, bad);
          EXPECT_EQ(found.status.row, row);
          for (int k = 0; k < count; ++k) {
            if (k != bad) {
              EXPECT_EQ(found.x[k], good.x[k]) << "system " << k;
            }
          }
        }
      auto singular = systems;
      singular[0].set_row(n / 2, 0);
      const Answers found = solve_together(singular, step, next, true);
      EXPECT_EQ(found.status.reason, Reason::singular);
      EXPECT_EQ(found.status.system, 0);
      EXPECT_EQ(found.status.row, n / 2);
    }
}

/// Of any number of segments each is in one group, which is as wide as it says.
TEST(TEST_CATEGORY, tile_kernels_count_the_segments_of_groups) {
  for (const std::int64_t tiles : {1, 2, 5, 63, 64, 65, 69, 128, 255, 256, 257, 5000}) {
    const auto layout = Trikkos::Impl::TeamLayout::of<double, 1>(tiles * 960, 960, 2, 1);
    SCOPED_TRACE(std::to_string(layout.segments) + " segments");
    for (int l = 0; l < layout.levels; ++l) {
      const auto& level = layout.level[l];
      std::vector<std::int64_t> segments(level.groups);
      for (std::int64_t i = 0; i < level.count; ++i) {
        const auto its = Trikkos::Impl::MergeCoarse<double>::group_of(level, i);
        ASSERT_LT(its, level.groups);
        ++segments[its];
      }
      for (std::int64_t g = 0; g < level.groups; ++g) EXPECT_EQ(segments[g], level.segments_of(g));
    }
  }
}

/// Of a coarse tree in one group, whichever kernel solves it. Returned is whether it is
/// `SolveCoarse`.
template <class U>
bool expect_scratch_of_every_device(int segments) {
  const auto layout = Impl::TeamLayout::of<U, 1>(segments * 480, 960, 2, 1);
  EXPECT_EQ(layout.levels, 1);
  const bool is_packed = Impl::SolveCoarse<U>::is_for(layout);
  EXPECT_LE(is_packed ? Impl::SolveCoarse<U>::scratch_bytes(layout)
                      : Impl::MergeCoarse<U>::scratch_bytes(layout),
            Impl::scratch_limit)
      << segments << " segments";
  return is_packed;
}
TEST(TEST_CATEGORY, tile_kernels_need_no_more_scratch_than_every_device_has) {
  for (const int segments : {2, 4, 128, 130, 256, 258, 512}) {
    EXPECT_TRUE(expect_scratch_of_every_device<double>(segments));
    EXPECT_TRUE(expect_scratch_of_every_device<float>(segments));
    EXPECT_TRUE(expect_scratch_of_every_device<Kokkos::complex<float>>(segments));
    EXPECT_EQ(expect_scratch_of_every_device<Kokkos::complex<double>>(segments), segments <= 256);
  }
}

}  // namespace Test::DeviceKernels
