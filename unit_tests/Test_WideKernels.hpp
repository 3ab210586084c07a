// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <DeviceKernels.hpp>
#include <impl/Trikkos_OnChip.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_Segmented.hpp>
#include <impl/segmented/Trikkos_WideCarry.hpp>

/// \file
/// The kernels of devices for five diagonals (DeviceKernels.hpp).

namespace Test::DeviceKernels {

using WideCarry = Impl::WideCarry<2>;

/// Five diagonals, one system, by the kernel for thousands, in stretches of 8 rows. What it leaves
/// unsafe another one solves, as in a call.
class FromCheckpoints {
  using Kernel = Impl::SolveFromCheckpoints<T, WideCarry, Impl::Systems<T, 2>>;

 public:
  FromCheckpoints(const Impl::Shape& shape, const Trikkos::Options& options, bool in_place)
      : m_shape(shape.n), m_in_place(in_place), m_safe(shape, options) {
    m_shape.rows = 8;
    m_shape.stretches = (m_shape.n + 7) / 8;
  }
  std::int64_t storage_words() const { return m_safe.storage_words(); }
  void solve(const Exec& exec, Impl::Problem<T, 2> problem) const {
    if (m_in_place) problem.b = problem.x.read_only();  // where b is, too
    const Kokkos::View<T*, Exec> words("checkpoints", 1 + Kernel::Lone::words * m_shape.stretches);
    const Kokkos::View<Impl::Wanted*, Exec> unsafe("unsafe", 1);
    Kokkos::parallel_for("Test::reset", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         Impl::ResetDiagnosis{problem.diagnosis});
    Kokkos::parallel_for("Test::solve_from_checkpoints",
                         Kokkos::TeamPolicy<Exec>(exec, 1, m_shape.threads)
                             .set_scratch_size(0, Kokkos::PerTeam(m_shape.scratch_bytes())),
                         Kernel{problem,
                                m_shape,
                                Impl::SystemTiles(1, m_shape.threads),
                                words.data() + 1,
                                {words.data(), unsafe.data()}});
    if (to_vector(unsafe)[0].is_raised()) m_safe.solve(exec, problem);
  }

 private:
  Impl::CheckpointShape<T, 2> m_shape;
  bool m_in_place;
  Impl::DeviceSystems<T, Exec, WideCarry> m_safe;
};

/// Without pivoting, and in a stable way what that leaves, as in a call.
template <int W = 2, bool Interleaved = false>
class Watched {
  using Shape = Impl::OnChipShape<T, W>;

 public:
  Watched(const Impl::Shape& shape, const Trikkos::Options& options)
      : m_shape(Interleaved ? Shape::interleaved_chunks(shape.n, Impl::scratch_limit)
                            : Shape::chunks(shape.n, Impl::scratch_limit)),
        m_safe(shape, options) {
    m_shape.lanes = m_shape.partitions();  // one system a team: a host's has little scratch
  }
  std::int64_t storage_words() const { return m_safe.storage_words(); }
  void solve(const Exec& exec, const Impl::Problem<T, W>& problem) const {
    const Kokkos::View<T*, Exec> marked("marked", 1);
    const Kokkos::View<Impl::Wanted*, Exec> count("count", 1);
    const Impl::Marks<T> marks{marked.data(), count.data()};
    Kokkos::parallel_for("Test::reset", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         Impl::ResetWanted{problem.diagnosis, true, marks.any});
    Kokkos::parallel_for(
        "Test::solve_dissected",
        Kokkos::TeamPolicy<Exec>(exec, 1, m_shape.lanes)
            .set_scratch_size(0, Kokkos::PerTeam(m_shape.scratch_bytes())),
        Impl::SolveDissected<T, Impl::Systems<T, W>, Interleaved>{
            {problem, m_shape, Impl::SystemTiles(1, m_shape.systems()), false}, marks});
    m_left = to_vector(count)[0].is_raised();
    EXPECT_EQ(m_left, to_vector(marked)[0] == 1);
    if (m_left) m_safe.solve(exec, problem);
  }
  /// Whether the last one was left to the other kernel.
  bool left() const { return m_left; }

 private:
  Shape m_shape;
  Impl::DeviceSystems<T, Exec, Impl::CarryOf<W>> m_safe;
  mutable bool m_left = false;
};
constexpr int dissected_sizes[] = {1,  2,  3,  4,  5,  8,  16, 17,  18,  19, 33,
                                   34, 35, 36, 67, 68, 69, 70, 100, 136, 137};
inline int chunk_rows(int n) {
  return Impl::OnChipShape<T, 2>::chunks(n, Impl::scratch_limit).rows;
}
inline Watched<> watched(int n) { return {Impl::Shape{n, 1, 1}, Trikkos::Options{}}; }

TEST(TEST_CATEGORY, wide_kernels_watched) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {1, 2, 3, 4, 5, 7, 16, 17, 48}) expect_solved<Watched<>, 2>(n);
}
// Matrices of applications, and random dominant ones, need no second kernel.
TEST(TEST_CATEGORY, wide_kernels_without_pivoting) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  const auto expect_solved_at_once = [](const HostSystem<2>& A, int stride) {
    const Watched<> solver = watched(A.n);
    const Answer found = solve_with(solver, A, stride);
    EXPECT_FALSE(solver.left());
    EXPECT_TRUE(found.status.ok()) << found.status.why();
    EXPECT_LE(A.backward_error(found.x), 16 * std::numeric_limits<T>::epsilon());
  };
  for (const int n : dissected_sizes)
    for (const int stride : {1, 2}) {
      SCOPED_TRACE(std::to_string(n) + " rows, stride " + std::to_string(stride));
      expect_solved_at_once(
          {n, [](int i, int j) { return T(Impl::random_uniform(2, 3 + j, i) + (j == 0 ? 6 : 0)); }},
          stride);
      constexpr T biharmonic[] = {1, -4, 6, -4, 1};
      expect_solved_at_once({n, [&](int, int j) { return biharmonic[2 + j]; }}, stride);
      expect_solved_at_once({n, [&](int, int j) { return biharmonic[2 + j] + T(j == 0); }}, stride);
      // rows and columns of any size, as they come
      expect_solved_at_once(
          {n, [&](int i,
                  int j) { return std::ldexp(biharmonic[2 + j] + T(j == 0), (7 * i) % 41 - 20); }},
          stride);
    }
}
// A pivot that is next to nothing, wherever it is: in an interior, in a separator, in the last one.
TEST(TEST_CATEGORY, wide_kernels_find_small_pivots) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {17, 36, 70})
    for (const T small : {T(0), T(1e-30), T(1e-6), T(1e-3)}) {
      for (int row = 0; row < n; ++row) {
        SCOPED_TRACE(std::to_string(n) + " rows, row " + std::to_string(row));
        // decoupled from the rows before it, so that the pivot stays what it is
        const HostSystem<2> A(n, [&](int i, int j) {
          if (i + j < row && i >= row) return T(0);
          if (i == row && j == 0) return small;
          return j == 0 ? T(5) : T(1);
        });
        const Watched<> solver = watched(n);
        const Answer found = solve_with(solver, A);
        // others are not the first of their columns to be eliminated
        const int in_chunk = row % chunk_rows(n);
        if (in_chunk + 2 < chunk_rows(n) && row + 2 < n) {
          EXPECT_TRUE(solver.left());
          EXPECT_TRUE(found.status.ok()) << found.status.why();
        }
        if (found.status.ok()) {
          EXPECT_LE(A.backward_error(found.x), 16 * std::numeric_limits<T>::epsilon());
        }
      }
    }
}
TEST(TEST_CATEGORY, wide_kernels_watched_withstand_the_breaker) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {17, 36}) {
    expect_unbroken<Watched<>, 2>(n);
    expect_unbroken<Watched<2, true>, 2>(n);
    expect_unbroken<Watched<1>, 1>(n);  // tried even if it does not look dominant
  }
}

/// Two of them, or so many as are given, in a team: a host's has little scratch.
template <class U = T>
AnswersIn<U> solve_interleaved(const std::vector<HostSystem<2>>& systems, int step, int offset = 0,
                               int in_team = 2) {
  const ManyOnDevice<2, U> many(systems, step, 1, offset);
  const auto problem = many.problem();
  const auto run = [&]<bool InStep>(std::bool_constant<InStep>) {
    auto shape = Impl::OnChipShape<U, 2>::interleaved_chunks(problem.n(), Impl::scratch_limit);
    shape.lanes = in_team << shape.levels;
    if (InStep) shape = shape.with_step_of_rows();
    const Impl::SystemTiles tiles(problem.slab(), in_team);
    Kokkos::parallel_for("Test::reset", Kokkos::RangePolicy<Exec>(0, 1),
                         Impl::ResetWanted{problem.diagnosis, true, many.marks().any});
    Kokkos::parallel_for(
        "Test::solve_interleaved",
        Kokkos::TeamPolicy<Exec>(static_cast<int>(tiles.count(problem.count())), shape.lanes)
            .set_scratch_size(0, Kokkos::PerTeam(shape.scratch_bytes())),
        Impl::SolveDissected<U, Impl::Systems<U, 2>, true, InStep>{
            {problem, shape, tiles, Impl::can_load_in_bulk<true, Impl::staging_alignment>(problem)},
            many.marks()});
  };
  EXPECT_EQ(Impl::are_rows_to_be_in_step(problem), sizeof(U) == 8 && step % 2 != 0 && offset == 0);
  if (sizeof(U) == 8 && Impl::are_rows_to_be_in_step(problem))
    run(std::true_type());
  else
    run(std::false_type());
  return many.answers();
}
// However their rows are copied, each system has the bits that it has alone, and what grows is
// marked and left as it is.
TEST(TEST_CATEGORY, wide_kernels_of_interleaved_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr T biharmonic[] = {1, -4, 6, -4, 1};
  for (const int n : {1, 2, 3, 4, 5, 16, 24, 25, 33, 48, 49, 70, 97}) {
    SCOPED_TRACE(n);
    std::vector<HostSystem<2>> systems;
    for (int k = 0; k < 7; ++k) {
      systems.emplace_back(n, [&](int i, int j) {
        return k % 3 == 1 ? biharmonic[2 + j]
                          : T(Impl::random_uniform(2 + k, 3 + j, i) + (j == 0 ? 6 : 0));
      });
    }
    const int bad = 5;
    const bool grows = n > 4;  // a pivot next to nothing, and what it is divided into
    if (grows) {
      systems[3].set_row(1, 1);
      systems[3].band[2][1] = T(1e-7);
      systems[3].band[1][1] = systems[3].band[0][2] = 0;
    }
    systems[bad].b[n - 1] = std::numeric_limits<T>::infinity();
    const auto expect_alone = [&]<class U>(U) {
      const auto expected = solve_interleaved<U>(systems, 8);
      std::vector<U> left(7);
      left[bad] = 1;
      EXPECT_EQ(expected.marked[bad], U(1));
      for (const int k : {0, 1, 2, 4, 6}) {
        EXPECT_EQ(expected.marked[k], U(0)) << k;
        EXPECT_EQ(expected.x[k], solve_interleaved<U>({systems[k]}, 4, 0, 1).x[0]) << k;
        const std::vector<T> x(expected.x[k].begin(), expected.x[k].end());
        EXPECT_LE(systems[k].backward_error(x), 16 * std::numeric_limits<T>::epsilon()) << k;
      }
      if (grows) {
        EXPECT_EQ(expected.marked[3], U(1));
        EXPECT_EQ(expected.x[3], std::vector<U>(systems[3].b.begin(), systems[3].b.end()));
      }
      const auto words = [](const AnswersIn<U>& a) {  // of what may be Inf and NaN
        std::vector<U> all = a.marked;
        for (const auto& x : a.x)
          for (const U& v : x) all.push_back(std::isfinite(v) ? v : U(-1));
        return all;
      };
      EXPECT_EQ(words(solve_interleaved<U>(systems, 7)), words(expected));
      EXPECT_EQ(words(solve_interleaved<U>(systems, 9)), words(expected));
      EXPECT_EQ(words(solve_interleaved<U>(systems, 8, 1)), words(expected));
      EXPECT_EQ(words(solve_interleaved<U>(systems, 8, 0, 4)), words(expected));
    };
    expect_alone(T());
    expect_alone(double());
  }
}

TEST(TEST_CATEGORY, wide_kernels_on_chip) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {5, 7, 16, 17, 48})
    expect_solved<Impl::DeviceSystems<T, Exec, WideCarry>, 2>(n);
}
struct InterleavedFromBothEnds : Impl::WideBothEnds<T, Exec, WideCarry> {
  using Base = Impl::WideBothEnds<T, Exec, WideCarry>;
  using Base::Base;
  void solve(const Exec& exec, const Impl::Problem<T, 2>& problem) const {
    Base::solve(exec, problem, true);
  }
};
TEST(TEST_CATEGORY, wide_kernels_from_both_ends) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {8, 9, 10, 11, 16, 33, 34, 65, 66, 67}) {
    expect_solved<Impl::WideBothEnds<T, Exec, WideCarry>, 2>(n);
    expect_solved<InterleavedFromBothEnds, 2>(n);
  }
}
TEST(TEST_CATEGORY, wide_kernels_from_checkpoints) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {1, 2, 3, 7, 8, 9, 10, 11, 17, 40})
    expect_solved<FromCheckpoints, 2>(n, n % 2 == 1 || n == 40);
}

/// With halves of 17 rows, of which a host's scratch has room for a tile, too.
struct ShortHalves : WideCarry {
  template <class>
  static constexpr int device_rows = 17;
  template <class T>
  static constexpr std::int64_t rows_in_tile(std::int64_t partition_size) {
    return Impl::odd_rows(partition_size, device_rows<T>);
  }
};
/// With partitions as for so many systems: one that is short, a few, or so many that their tiles
/// are to be full. `least_runs` as for any: 1 for runs of segments before the tree, however few
/// they are.
struct Tiles : Impl::DevicePartitions<T, Exec, ShortHalves> {
  using Base = Impl::DevicePartitions<T, Exec, ShortHalves>;
  enum Systems { one = 1, few = 2, many = 1 << 12 };
  Tiles(const Impl::Shape& shape, const Trikkos::Options& options, Systems systems,
        std::int64_t least_runs)
      : Base({shape.n, systems, systems}, options, least_runs * systems) {}
};
inline void expect_solved_in_tiles(int n, const Trikkos::Options& options, Tiles::Systems systems) {
  for (const std::int64_t least_runs : {1, 3, 1 << 14})  // two stages of runs, one and none
    for (const bool periodic : {false, true}) {
      if (least_runs == 3 && Impl::is_host_v<Exec>) continue;  // for the sake of time
      SCOPED_TRACE("runs from " + std::to_string(least_runs));
      expect_solved_by<2>(Tiles(Impl::Shape{n, 1, 1}, options, systems, least_runs), n, periodic);
    }
}
// One behind the other: what is read between them, and is of neither, is not used.
TEST(TEST_CATEGORY, wide_kernels_in_tiles_of_neighbours) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {1088, 1200, 2180}) {
    SCOPED_TRACE(n);
    std::vector<HostSystem<2>> systems;
    for (int k = 0; k < 3; ++k)
      systems.emplace_back(n,
                           [k](int i, int j) { return T(Impl::random_uniform(20 + k, 5 + j, i)); });
    const Tiles solver(Impl::Shape{n, 3, 3}, Trikkos::Options{}, Tiles::few, 1 << 14);
    const Kokkos::View<T*, Exec> storage("storage", 3 * solver.storage_words());
    for (const int gap : {0, 4}) {
      const ManyOnDevice<2> many(systems, 1, n + gap);
      auto problem = many.problem();
      problem.A.first.scale_rows = true;
      problem.storage = storage.data();
      solver.solve(Exec(), problem);
      const Answers found = many.answers();
      EXPECT_TRUE(found.status.ok()) << found.status.why();
      for (int k = 0; k < 3; ++k) EXPECT_EQ(found.x[k], solve_with(solver, systems[k]).x) << k;
    }
  }
}
// 64 of them in a tile: around the ends of both, and where one of a pair has no rows.
TEST(TEST_CATEGORY, wide_kernels_in_halves) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {5, 6, 16, 17, 18, 21, 33, 34, 35, 37, 60, 1087, 1088, 1089, 1107, 2177})
    expect_solved_in_tiles(n, {}, Tiles::few);
}
// Shorter ones, so that threads have less to do.
TEST(TEST_CATEGORY, wide_kernels_of_a_short_system) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {5, 17, 19, 35, 577}) expect_solved_in_tiles(n, {}, Tiles::one);
}
// Shorter ones, so that the last tile of a system is full.
TEST(TEST_CATEGORY, wide_kernels_in_full_tiles) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {6, 320, 321, 1000, 1088, 1200, 2177})
    expect_solved_in_tiles(n, {}, Tiles::many);
}
TEST(TEST_CATEGORY, wide_kernels_of_any_partition) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int rows : {2, 4, 5, 8, 16, 33, 66})
    for (const int n : {7, 1000}) {
      SCOPED_TRACE("partitions of " + std::to_string(rows));
      expect_solved_in_tiles(n, Trikkos::Options{}.partition_size(rows), Tiles::few);
    }
}
// No coupling at the seams of halves, of pairs of them and of tiles; zero diagonals.
TEST(TEST_CATEGORY, wide_kernels_at_seams) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  const int n = 1200;
  const Tiles solver(Impl::Shape{n, 1, 1}, Trikkos::Options{}, Tiles::few, 1);
  for (const int seam : {16, 33, 1087})
    for (int where = seam - 2; where <= seam + 2; ++where)
      for (const bool is_cut_off : {false, true})
        for (const T diagonal : {T(0), T(1)}) {
          SCOPED_TRACE("cut behind row " + std::to_string(where) + ", diagonal " +
                       std::to_string(diagonal));
          const HostSystem<2> A(n, [&](int i, int j) {
            const bool crosses = i <= where ? i + j > where : i + j <= where;
            if (crosses && (is_cut_off || std::abs(j) == 2)) return T(0);
            return j == 0 ? diagonal : T(Impl::random_uniform(4, 5 + j, i));
          });
          const Answer found = solve_with(solver, A);
          EXPECT_TRUE(found.status.ok()) << found.status.why();
          EXPECT_LE(A.backward_error(found.x), 16 * std::numeric_limits<T>::epsilon());
        }
}
TEST(TEST_CATEGORY, wide_kernels_withstand_the_breaker) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {3, 17, 48}) expect_unbroken<FromCheckpoints, 2>(n, false);
  for (const int n : {8, 33, 66}) {
    expect_unbroken<Impl::WideBothEnds<T, Exec, WideCarry>, 2>(n);
    expect_unbroken<InterleavedFromBothEnds, 2>(n);
  }
  for (const int n : {19, 34, 140}) expect_unbroken<Tiles, 2>(n, Tiles::few, 1);
  expect_unbroken<Tiles, 2>(321, Tiles::many, 1);
  expect_unbroken<Tiles, 2>(34, Tiles::one, 1);
}

}  // namespace Test::DeviceKernels
