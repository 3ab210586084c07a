// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <DeviceKernels.hpp>
#include <functional>
#include <impl/Trikkos_OnChip.hpp>
#include <impl/partition/Trikkos_BlockChain.hpp>
#include <impl/partition/Trikkos_BlockMethods.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/truncated/Trikkos_DeviceWindows.hpp>
#include <impl/truncated/Trikkos_LookFirst.hpp>

/// \file
/// The kernels of devices for three diagonals (DeviceKernels.hpp), in blocks of rows, too; many
/// interleaved systems in double. Ends of systems, of tiles and of partitions: that is where these
/// kernels differ from those of hosts.

namespace Test::DeviceKernels {

/// Systems in blocks of rows, as those of ranks: each block to its segment, the chain of these, and
/// down again.
struct InBlocks {
  std::vector<int> first;  // row of each block, and their end
  Impl::Problem<T> problem;
  Impl::Diagnosis found_in_chain;

  int blocks() const { return static_cast<int>(first.size()) - 1; }
  Impl::BlockProblem<T> block(int r, T* storage) const {
    Impl::BlockProblem<T> p{};
    static_cast<Impl::Systems<T>&>(p.A) = problem.A;
    for (auto& band : p.A.first.band) band.data += first[r] * band.stride;
    p.A.first.n = first[r + 1] - first[r];
    p.A.has_before = r > 0;
    p.A.has_after = r + 1 < blocks();
    p.b = problem.b;
    p.x = problem.x;
    p.b.data += first[r] * p.b.row_stride;
    p.x.data += first[r] * p.x.row_stride;
    p.storage = storage;
    p.diagnosis = problem.diagnosis;
    return p;
  }
  void solve(const Exec& exec) const {
    constexpr int words = Impl::Segment<T>::words;
    const std::int64_t systems = problem.count();
    using Words = Kokkos::View<T*, Exec>;
    const Words segments("segments", words * systems * blocks());
    const Words bounds("bounds", 4 * systems * blocks());
    std::vector<Impl::DeviceBlocks<T, Exec>> methods;
    std::vector<Words> storage;
    for (int r = 0; r < blocks(); ++r) {
      methods.emplace_back(Impl::Shape{first[r + 1] - first[r], systems, systems},
                           Trikkos::Options{});
      storage.emplace_back("storage", systems * methods[r].storage_words() + 1);
    }
    for (int r = 0; r < blocks(); ++r)
      methods[r].reduce(exec, block(r, storage[r].data()), {segments.data() + words * systems * r});
    chain(exec, segments, bounds);
    for (int r = 0; r < blocks(); ++r)
      methods[r].substitute(exec, block(r, storage[r].data()), {bounds.data() + 4 * systems * r});
    exec.fence("Test::DeviceKernels: blocks");
  }
  void chain(const Exec& exec, const Kokkos::View<T*, Exec>& segments,
             const Kokkos::View<T*, Exec>& bounds) const {
    const std::int64_t systems = problem.count();
    const int ranks = blocks();
    const auto layout = Impl::BlockChain<T>::layout(ranks);
    const Kokkos::View<T*, Exec> work("work", systems * layout.words);
    const Impl::BlockChain<T> all{
        segments.data(),
        Impl::Segment<T>::words * systems,
        {work.data(), layout, false, Impl::BlockChain<T>::rows_of_block, found_in_chain}};
    Kokkos::parallel_for(
        "chain", Kokkos::RangePolicy<Exec>(exec, 0, systems), KOKKOS_LAMBDA(std::int64_t k) {
          all.solve(k);
          for (int r = 0; r < ranks; ++r)
            all.put_bounds_of(r, k, {bounds.data() + 4 * systems * r});
        });
    exec.fence("Test::DeviceKernels: chain");
  }
};
/// `count` systems, one after the other or interleaved. A singular one and one with NaN among them
/// are found, and spoil no other.
inline void expect_solved_in_blocks(const std::vector<int>& first, int count, bool interleaved) {
  SCOPED_TRACE(std::to_string(first[1]) + " rows and others, " + std::to_string(count) +
               (interleaved ? " interleaved" : "") + " systems");
  const int n = first.back();
  const auto place = [&](int k, int i) { return interleaved ? i * count + k : k * n + i; };
  std::vector<HostSystem<1>> systems;
  for (int k = 0; k < count; ++k)
    systems.emplace_back(n,
                         [k](int i, int j) { return T(Impl::random_uniform(20 + k, 3 + j, i)); });
  for (const Reason bad : {Reason::none, Reason::singular, Reason::not_finite}) {
    auto A = systems;
    if (bad == Reason::singular) A[count / 2].set_column(first[1], 0);
    if (bad == Reason::not_finite) A[count / 2].b[first[1]] = std::nanf("");
    const auto pack = [&](const auto& vector_of) {
      std::vector<T> all(count * n);
      for (int k = 0; k < count; ++k)
        for (int i = 0; i < n; ++i) all[place(k, i)] = vector_of(A[k])[i];
      return on_device<T, Exec>(all);
    };
    const std::int64_t between = interleaved ? 1 : n, row = interleaved ? count : 1;
    InBlocks blocks{first, {}, {}};
    Impl::Problem<T>& problem = blocks.problem;
    problem.A = Impl::Systems<T>({}, count);
    problem.A.first.n = n;
    Kokkos::View<T*, Exec> band[3];
    for (int j = 0; j < 3; ++j) {
      band[j] = pack([&](const HostSystem<1>& s) { return s.band[j]; });
      problem.A.first.band[j] = {band[j].data(), row};
      problem.A.stride[j] = between;
    }
    const auto x = pack([](const HostSystem<1>& s) { return s.b; });
    problem.b = {x.data(), between, row};  // x is b
    problem.x = {x.data(), between, row};
    constexpr int words = Impl::Diagnosis::words;
    const Kokkos::View<std::int64_t*, Exec> report("report", 2 * words);
    problem.diagnosis = {report.data(), count};
    blocks.found_in_chain = {report.data() + words, count};
    Kokkos::parallel_for("reset", Kokkos::RangePolicy<Exec>(0, 2),
                         Impl::ResetMany{report.data(), count});
    blocks.solve(Exec{});
    const auto reports = to_vector(report);
    const Reason in_rows = Impl::decode(reports.data(), n).reason,
                 in_chain = Impl::decode(reports.data() + words, n).reason;
    EXPECT_EQ(in_rows == Reason::none && in_chain == Reason::none, bad == Reason::none);
    EXPECT_TRUE(in_rows == bad || in_chain == bad);
    const auto found = to_vector(x);
    for (int k = 0; k < count; ++k) {
      std::vector<T> of_system(n);
      for (int i = 0; i < n; ++i) of_system[i] = found[place(k, i)];
      if (bad != Reason::none && k == count / 2) continue;
      EXPECT_LE(A[k].backward_error(of_system), 8 * std::numeric_limits<T>::epsilon()) << k;
    }
  }
}

/// Interleaved systems in double, of which a team has as many as its kernel says. A singular one
/// and one with NaN among them are found, and spoil no other.
inline void expect_solved_interleaved(int n, int count, Many::Layout layout,
                                      Trikkos::Boundary boundary) {
  SCOPED_TRACE(std::to_string(count) + " systems of " + std::to_string(n) + " rows, " +
               name(boundary) + ", layout " + std::to_string(static_cast<int>(layout)));
  const Impl::OnChip<double, Exec, Impl::OrthogonalCarry> solver(Impl::Shape{n, count, count},
                                                                 Trikkos::Options{});
  const auto good = Many::make_batch<double>(Trikkos::Gallery::uniform, count, n, boundary);
  const int bad_system = count / 2, bad_row = n / 2;
  for (const Reason bad : {Reason::none, Reason::singular, Reason::not_finite}) {
    auto batch = good;
    auto& A = batch.A[bad_system];
    if (bad == Reason::singular) A.lower[bad_row] = A.diag[bad_row] = A.upper[bad_row] = 0;
    if (bad == Reason::not_finite) batch.b[bad_system][bad_row] = std::nan("");
    const Many::DeviceBatch<double> device(batch, layout);
    const Kokkos::View<std::int64_t*, Exec> report("report", Impl::Diagnosis::words);
    Impl::Problem<double> problem{};
    problem.A = Impl::systems(device.A, count);
    problem.A.first.scale_rows = true;
    problem.b = Impl::vectors<const double>(device.b);
    problem.x = Impl::vectors<double>(device.x);
    problem.diagnosis = {report.data(), count};
    problem.resets = true;
    solver.solve(Exec(), problem);
    Exec().fence("Test::DeviceKernels: interleaved");
    const Trikkos::Status status = Impl::decode(to_vector(report).data(), n);
    EXPECT_EQ(status.reason, bad);
    if (bad != Reason::none) {
      EXPECT_EQ(status.system, bad_system);
      EXPECT_EQ(status.row, bad_row);
    }
    for (int k = 0; k < count; ++k)
      if (bad == Reason::none || k != bad_system) {
        EXPECT_LE(Many::eta_of(batch, k, device.solution(k), Trikkos::Transpose::none), 1e-14) << k;
      }
  }
}

using Carry = Impl::OrthogonalCarry;

/// Contiguous systems in one call; arrays begin `offset` words after a multiple of 16 bytes.
inline Answers solve_contiguous(const std::vector<HostSystem<1>>& systems,
                                const Trikkos::Options& options, int offset = 0, int gap = 0) {
  const int count = static_cast<int>(systems.size()), n = systems.front().n;
  const ManyOnDevice<1> many(systems, 1, n + gap, offset);
  const Impl::OnChip<T, Exec, Carry> solver(Impl::Shape{n, count, count}, options, 0);
  solver.solve(Exec(), many.problem());
  return many.answers();
}
/// tridiag(-1, 2, -1), for any diagonal.
inline HostSystem<1> laplacian(int n, const std::function<T(int)>& diagonal) {
  return {n, [&](int i, int j) { return j == 0 ? diagonal(i) : T(-1); }};
}
const auto stable = Trikkos::Options{}.algorithm(Trikkos::Algorithm::segmented);
constexpr int watched_sizes[] = {1,  2,  3,  4,  5,  16, 17,  18,  27,  28,  33,
                                 34, 35, 54, 55, 64, 68, 100, 109, 136, 137, 272};

TEST(TEST_CATEGORY, device_kernels_on_chip) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {2, 3, 7, 14, 15, 16, 17, 18, 27, 28, 33, 54, 55, 64}) {
    expect_solved<Impl::DeviceSystems<T, Exec, Carry>, 1>(n);
    expect_solved<Impl::OnChip<T, Exec, Carry>, 1>(n, 0);
  }
}
// Without pivoting: other bits than by rotations, and as good in every row.
TEST(TEST_CATEGORY, device_kernels_of_dominant_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  int others = 0;
  for (const int n : watched_sizes) {
    SCOPED_TRACE(n);
    std::vector<HostSystem<1>> systems;
    for (int k = 0; k < 19; ++k)
      systems.emplace_back(n, [k](int i, int j) {
        return T(Impl::random_uniform(20 + k, 3 + j, i) + (j == 0 ? 3 : 0));
      });
    systems.push_back(laplacian(n, [](int) { return T(2); }));
    systems.emplace_back(n, [](int i, int j) {  // rows of any size
      return std::ldexp(T(j == 0 ? 2 : -1), (7 * i) % 41 - 20);
    });
    systems.emplace_back(n, [](int, int j) { return T(j < 1 ? 1 : 0); });  // nothing fades
    systems.emplace_back(n, [](int, int j) { return T(j > -1 ? 1 : 0); });
    const Answers found = solve_contiguous(systems, {}), known = solve_contiguous(systems, stable);
    EXPECT_TRUE(found.status.ok()) << found.status.why();
    for (std::size_t k = 0; k < systems.size(); ++k) {
      EXPECT_LE(systems[k].backward_error(found.x[k]), 8 * std::numeric_limits<T>::epsilon()) << k;
      others += found.x[k] != known.x[k];
    }
  }
  EXPECT_GE(others, 200);
}
// Wherever systems begin, and however far from a multiple of 16 bytes the next one is.
TEST(TEST_CATEGORY, device_kernels_of_unaligned_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {129, 131, 200})
    for (const T dominance : {0, 3}) {
      std::vector<HostSystem<1>> systems;
      for (int k = 0; k < 23; ++k)
        systems.emplace_back(n, [&](int i, int j) {
          return T(Impl::random_uniform(20 + k, 3 + j, i) + (j == 0 ? dominance : 0));
        });
      for (const auto& options : {Trikkos::Options{}, stable}) {
        const auto known = solve_contiguous(systems, options).x;
        for (const auto& [offset, gap] :
             {std::pair{1, 0}, {2, 0}, {3, 0}, {0, 1}, {3, 2}, {1, 3}}) {
          SCOPED_TRACE(std::to_string(n) + " rows, offset " + std::to_string(offset) + ", gap " +
                       std::to_string(gap));
          const Answers found = solve_contiguous(systems, options, offset, gap);
          EXPECT_TRUE(found.status.ok()) << found.status.why();
          EXPECT_EQ(found.x, known);
          for (std::size_t k = 0; k < systems.size(); ++k) {
            EXPECT_LE(systems[k].backward_error(found.x[k]), 8 * std::numeric_limits<T>::epsilon());
          }
        }
      }
    }
}
// Side by side: what needs pivoting, though it may not look so, has the bits of `segmented`, and
// what does not has those that it has alone.
TEST(TEST_CATEGORY, device_kernels_watch_each_system) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : watched_sizes) {
    SCOPED_TRACE(n);
    std::vector<HostSystem<1>> systems;
    std::vector<bool> needs_pivoting;
    const auto add = [&](const HostSystem<1>& s, bool needs) {
      systems.push_back(s);
      needs_pivoting.push_back(needs);
    };
    for (int k = 0; k < 5; ++k) {
      add(laplacian(n, [&](int) { return T(2 + k); }), false);
      add({n,
           [&](int i, int j) {  // nobody looks at row 7 before it turns out to be a small pivot
             return i == 7 && j < 1 ? T(j == 0 ? 1e-6 : 0) : T(j == 0 ? 2 + k : -1);
           }},
          n > 8);
      add(laplacian(n, [&](int) { return T(0.3) * (k + 1); }), n > 2);
    }
    const Answers found = solve_contiguous(systems, {}), known = solve_contiguous(systems, stable);
    EXPECT_EQ(found.status.ok(), known.status.ok());
    for (std::size_t k = 0; k < systems.size(); ++k) {
      SCOPED_TRACE("system " + std::to_string(k));
      if (needs_pivoting[k]) {
        EXPECT_EQ(found.x[k], known.x[k]);
      }
      EXPECT_EQ(found.x[k], solve_contiguous({systems[k]}, {}).x[0]);
    }
  }
}
// Dominant ones that are singular, or not finite, spoil no other.
TEST(TEST_CATEGORY, device_kernels_find_bad_dominant_systems) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  const int count = 21, bad = 13;
  for (const int n : {1, 2, 5, 17, 34, 64, 137}) {
    std::vector<HostSystem<1>> systems(count, laplacian(n, [](int) { return T(2); }));
    const auto good = solve_contiguous(systems, {}).x;
    for (const int row : {0, n / 2, n - 1})
      for (const Reason reason : {Reason::singular, Reason::not_finite}) {
        SCOPED_TRACE(std::to_string(n) + " rows, row " + std::to_string(row));
        auto spoilt = systems;
        if (reason == Reason::singular)
          spoilt[bad].set_row(row, 0);  // 0 = 0 is dominant, too
        else
          spoilt[bad].b[row] = std::nanf("");
        const Answers found = solve_contiguous(spoilt, {});
        EXPECT_EQ(found.status.reason, reason) << found.status.why();
        EXPECT_EQ(found.status.system, bad);
        EXPECT_EQ(found.status.row, row);
        for (int k = 0; k < count; ++k)
          if (k != bad) {
            EXPECT_EQ(found.x[k], good[k]) << k;
          }
      }
  }
}
// 16, 8 and 4 systems a team; and partitions of 13 to 27 rows, where there is scratch for these.
TEST(TEST_CATEGORY, device_kernels_interleaved) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  std::vector<int> sizes = {52, 100, 207};
  if (Kokkos::TeamPolicy<Exec>::scratch_size_max(0) >= Impl::scratch_limit)
    sizes.insert(sizes.end(), {60, 64, 103, 113, 128, 136, 200, 238, 256, 272});
  for (const int n : sizes)
    for (const int count : {3, 22})
      for (const auto layout : {Many::Layout::left, Many::Layout::odd_left})
        for (const auto boundary : Many::boundaries)
          expect_solved_interleaved(n, count, layout, boundary);
}
TEST(TEST_CATEGORY, device_kernels_from_both_ends) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {1, 2, 3, 4, 5, 31, 32, 33, 61})
    expect_solved<Impl::BothEnds<T, Exec, Carry>, 1>(n, threads);
}
// `automatic`, without pivoting as far as that is safe: other bits than by rotations, and as good
// in every row.
TEST(TEST_CATEGORY, device_kernels_from_both_ends_without_pivoting) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  int others = 0;
  for (const int n : {31, 32, 33, 45, 61}) {
    SCOPED_TRACE(n);
    const auto dominant = [n](int k) {
      return HostSystem<1>(n, [k](int i, int j) {
        return T(Impl::random_uniform(20 + k, 3 + j, i) + (j == 0 ? 3 : 0));
      });
    };
    std::vector<HostSystem<1>> systems;
    for (int k = 0; k < 19; ++k) systems.push_back(dominant(k));
    systems.push_back(laplacian(n, [](int) { return T(2); }));
    systems.emplace_back(n, [](int i, int j) {  // rows of any size
      return std::ldexp(T(j == 0 ? 2 : -1), (37 * i) % 201 - 100);
    });
    systems.emplace_back(n, [](int, int j) { return T(j < 1 ? 1 : 0); });  // nothing fades
    systems.emplace_back(n, [](int, int j) { return T(j > -1 ? 1 : 0); });
    for (int i = 0; i < n; ++i) {  // up to some row
      systems.push_back(dominant(i));
      systems.back().band[1][i] = T(1e-6);
    }
    for (int i = 0; i < n; ++i) {  // from there on each row needs pivoting
      systems.push_back(dominant(i));
      for (int k = i; k < n; ++k) systems.back().band[1][k] = T(0.01);
    }
    const auto solve = [&](const Trikkos::Options& options) {
      const int count = static_cast<int>(systems.size());
      const ManyOnDevice<1> many(systems, count, 1);
      Impl::BothEnds<T, Exec, Carry>(Impl::Shape{n, count, count}, options, threads)
          .solve(Exec(), many.problem());
      return many.answers();
    };
    const Answers found = solve({}), known = solve(stable);
    EXPECT_TRUE(found.status.ok()) << found.status.why();
    for (std::size_t k = 0; k < systems.size(); ++k) {
      EXPECT_LE(systems[k].backward_error(found.x[k]), 8 * std::numeric_limits<T>::epsilon()) << k;
      others += found.x[k] != known.x[k];
    }
    for (const int row : {0, 1, n / 2 - 1, n / 2, n - 1})
      for (const int how : {0, 1, 2, 3}) {
        SCOPED_TRACE("bad row " + std::to_string(row) + ", " + std::to_string(how));
        const auto good = systems;
        HostSystem<1>& bad = systems[7];
        if (how == 0) bad.set_column(row, 0);
        if (how == 1) bad.set_row(row, 0);
        if (how == 2) bad.b[row] = std::nanf("");
        if (how == 3) bad.band[1][row] = std::numeric_limits<T>::infinity();
        const Answers spoilt = solve({});
        EXPECT_EQ(spoilt.status.reason, how < 2 ? Reason::singular : Reason::not_finite);
        EXPECT_EQ(spoilt.status.system, 7);
        EXPECT_EQ(spoilt.status.row, row);
        for (std::size_t k = 0; k < systems.size(); ++k)
          if (k != 7) {
            EXPECT_EQ(spoilt.x[k], found.x[k]) << k;
          }
        systems = good;
      }
  }
  EXPECT_GE(others, 200);
}
// An odd number of systems of double: every other row lies between what wide copies begin at. The
// bits that they have where all rows are aligned.
TEST(TEST_CATEGORY, device_kernels_from_both_ends_in_step) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  constexpr int count = 197;
  for (const int n : {1, 2, 3, 16, 17, 40}) {
    SCOPED_TRACE(n);
    const auto solve = [&](int stride) {
      Kokkos::View<double*, Exec> arrays[5];  // bands, b, x
      for (int j = 0; j < 5; ++j) {
        std::vector<double> words(std::size_t(n) * stride, std::nan(""));
        for (int i = 0; i < n; ++i)
          for (int k = 0; k < count; ++k)
            if (j == 3 || (j < 3 && i + j - 1 >= 0 && i + j - 1 < n))  // else nobody reads it
              words[std::size_t(i) * stride + k] = Impl::random_uniform(7, j, i * count + k);
        arrays[j] = on_device<double, Exec>(words);
      }
      const Kokkos::View<std::int64_t*, Exec> report("report", Impl::Diagnosis::words);
      Impl::Problem<double> problem{};
      problem.A = Impl::Systems<double>({}, count);
      problem.A.first.n = n;
      problem.A.first.scale_rows = true;
      for (int j = 0; j < 3; ++j) {
        problem.A.first.band[j] = {arrays[j].data(), stride};
        problem.A.stride[j] = 1;
      }
      problem.b = {arrays[3].data(), 1, stride};
      problem.x = {arrays[4].data(), 1, stride};
      problem.diagnosis = {report.data(), count};
      problem.resets = true;
      EXPECT_EQ(Impl::are_rows_to_be_in_step(problem), stride % 2 != 0);
      const int all = Impl::scratch_of_teams<Exec>();
      const auto shape = Impl::OnChipShape<double>::both_ends(n, all, threads);
      EXPECT_GT(shape.with_rows_in_step(all).lanes, 0) << "they would not be";
      Impl::BothEnds<double, Exec, Carry>(Impl::Shape{n, count, count}, Trikkos::Options{}, threads)
          .solve(Exec(), problem);
      Exec().fence("device_kernels_from_both_ends_in_step");
      EXPECT_TRUE(Impl::decode(to_vector(report).data(), n).ok());
      std::vector<double> x;
      const auto found = to_vector(arrays[4]);
      for (int i = 0; i < n; ++i)
        x.insert(x.end(), found.begin() + std::ptrdiff_t(i) * stride,
                 found.begin() + std::ptrdiff_t(i) * stride + count);
      return x;
    };
    EXPECT_EQ(solve(count), solve(count + 1));
  }
}
TEST(TEST_CATEGORY, device_kernels_withstand_the_breaker) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {2, 33, 61}) expect_unbroken<Impl::BothEnds<T, Exec, Carry>>(n, threads);
  using BothEnds = Impl::BothEnds<T, Exec, Carry>;
  expect_unbroken_by(BothEnds({33, 1, 1}, stable, threads), 33);
  expect_unbroken_by(BothEnds({61, 1, 1}, {}, threads), 61, true);
  expect_unbroken<Impl::DeviceSystems<T, Exec, Carry>>(64);
  expect_unbroken<Impl::OnChip<T, Exec, Carry>>(33, 0);
}
// Blocks on chip, one a team or many, and of one row.
TEST(TEST_CATEGORY, device_kernels_of_blocks) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int count : {1, 2, 37}) {
    for (const std::vector<int>& first :
         {std::vector<int>{0, 1, 2, 4, 7}, {0, 16, 33, 34, 98}, {0, 130, 131, 400}})
      expect_solved_in_blocks(first, count, false);
    for (const std::vector<int>& first : {std::vector<int>{0, 1, 2, 4, 7}, {0, 16, 33, 34, 68}})
      expect_solved_in_blocks(first, count, true);
  }
  expect_solved_in_blocks({0, 40, 1040, 1041}, 2, false);
}
// What `truncated` promises: where it accepts its windows, every row is solved.
TEST(TEST_CATEGORY, device_kernels_of_windows) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  using Kokkos::abs;
  for (const int n :
       {window_step + 1, one_window - 1, one_window, one_window + 1, tile,
        one_window + window_step - 1, one_window + window_step, one_window + window_step + 1,
        tile + window_step, one_window + 2 * window_step + 1})
    for (const int stride : {1, 3})
      for (const double dominance : {1., 1.2, 2., 1e4}) {
        SCOPED_TRACE(std::to_string(n) + " rows, stride " + std::to_string(stride) +
                     ", dominance " + std::to_string(dominance));
        HostSystem<1> A = random_system<1>(n);
        for (int i = 0; i < n && dominance == 1; ++i) {  // no coupling fades
          if (i > 0) A.band[0][i] = -1;
          if (i < n - 1) A.band[2][i] = -1;
          A.band[1][i] = 1;
        }
        for (int i = 0; i < n; ++i) {
          // the first row more, or the matrix would be singular
          const double others =
              (i == 0) + (i > 0 ? abs(A.band[0][i]) : 0) + (i < n - 1 ? abs(A.band[2][i]) : 0);
          A.band[1][i] = std::copysign(T(dominance * others), A.band[1][i]);
        }
        const Impl::DeviceWindows<T> windows(n, Trikkos::Options{}.truncated({.overlap = 60}));
        const Kokkos::View<Impl::Wanted*, Exec> listed("listed", 1);
        const Kokkos::View<std::int32_t*, Exec> systems("systems", 3);
        std::int32_t* const words = systems.data();
        const Impl::Refusals refusals{{listed.data(), words}, {words + 1}, words + 2};
        const Answer found = solve(A, stride, 1, [&](const Exec& exec, const auto& problem) {
          windows.launch(exec, problem, refusals);
        });
        const auto refused = to_vector(systems);
        const bool is_accepted = refused[1] == 0;
        EXPECT_EQ(is_accepted, dominance > 1);
        EXPECT_EQ(refused[2], is_accepted ? 0 : 1);
        EXPECT_EQ(to_vector(listed)[0].raised, is_accepted ? 0 : 1);
        if (is_accepted) {
          EXPECT_LE(A.backward_error(found.x), 8 * std::numeric_limits<T>::epsilon());
        }
      }
}

}  // namespace Test::DeviceKernels
