// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Breaker.hpp>
#include <ManySystems.hpp>
#include <Triangles.hpp>
#include <cmath>
#include <impl/Trikkos_OnChip.hpp>
#include <impl/partition/Trikkos_BlockChain.hpp>
#include <impl/partition/Trikkos_BlockMethods.hpp>
#include <impl/partition/Trikkos_DevicePartitions.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/segmented/Trikkos_WideCarry.hpp>
#include <impl/truncated/Trikkos_DeviceWindows.hpp>
#include <limits>
#include <string>

/// \file
/// The kernels that devices solve a system with, or a few and in blocks of rows, where there are
/// teams of 64 threads: on a host with as many, too, so that its tests see what a device would. In
/// float, whose tiles fit into a host's scratch; many interleaved systems in double. Ends of
/// systems, of tiles and of partitions: that is where these kernels differ from those of hosts.

namespace Test::DeviceKernels {

namespace Impl = Trikkos::Impl;
using Exec = TEST_EXECSPACE;
using T = float;
using Reason = Trikkos::Status::Reason;

/// A system of 2W + 1 diagonals, on the host. Entries outside the matrix are NaN: nobody reads
/// them.
template <int W>
struct HostSystem {
  int n;
  std::vector<T> band[2 * W + 1], b;

  template <class Entry>
  HostSystem(int n_, const Entry& entry) : n(n_), b(n_) {
    for (int j = 0; j <= 2 * W; ++j)
      for (int i = 0; i < n; ++i)
        band[j].push_back(is_inside(i + j - W) ? entry(i, j - W) : std::nanf(""));
    for (int i = 0; i < n; ++i) b[i] = T(Impl::random_uniform(1, 9, i));
  }
  bool is_inside(int column) const { return 0 <= column && column < n; }
  void set_column(int column, T value) {
    for (int j = 0; j <= 2 * W; ++j)
      if (const int i = column + W - j; is_inside(i)) band[j][i] = value;
  }
  void set_row(int i, T value) {
    for (int j = 0; j <= 2 * W; ++j)
      if (is_inside(i + j - W)) band[j][i] = value;
  }
  /// The largest |b - A x| of a row beside (|A| max |x| + |b|).
  double backward_error(const std::vector<T>& x) const {
    double most = 0, worst = 0;
    for (const T v : x) most = std::max(most, std::fabs(double(v)));
    for (int i = 0; i < n; ++i) {
      double r = b[i], size = std::fabs(double(b[i]));
      for (int j = 0; j <= 2 * W; ++j)
        if (is_inside(i + j - W)) {
          r -= double(band[j][i]) * x[i + j - W];
          size += std::fabs(double(band[j][i])) * most;
        }
      if (!(std::fabs(r) / size <= worst)) worst = std::fabs(r) / size;
    }
    return worst;
  }
};
/// Random entries, which need pivoting.
template <int W>
HostSystem<W> random_system(int n) {
  return {n, [](int i, int j) { return T(Impl::random_uniform(2, 3 + j, i)); }};
}

struct Answer {
  std::vector<T> x;
  Trikkos::Status status;
};
/// run(exec, problem) solves it, with arrays on the device, rows `stride` apart.
template <int W, class Solve>
Answer solve(const HostSystem<W>& A, int stride, std::int64_t words, const Solve& run) {
  const Exec exec;
  const auto spread = [&](const std::vector<T>& from) {
    std::vector<T> to(from.size() * stride, std::nanf(""));
    for (std::size_t i = 0; i < from.size(); ++i) to[i * stride] = from[i];
    return on_device<T, Exec>(to);
  };
  Kokkos::View<T*, Exec> band[2 * W + 1];
  Impl::Bands<T, W> bands;
  for (int j = 0; j <= 2 * W; ++j) {
    band[j] = spread(A.band[j]);
    bands.band[j] = {band[j].data(), stride};
  }
  bands.n = A.n;
  bands.scale_rows = true;
  const auto b = spread(A.b), x = spread(A.b);
  const Kokkos::View<T*, Exec> storage("storage", words);
  const Kokkos::View<std::int64_t*, Exec> report("report", Impl::Diagnosis::words);
  Impl::Problem<T, W> problem{};
  problem.A = Impl::Systems<T, W>(bands, 1);
  problem.b.data = b.data();
  problem.x.data = x.data();
  problem.b.row_stride = problem.x.row_stride = stride;
  problem.storage = storage.data();
  problem.diagnosis = {report.data(), 1};
  problem.resets = true;
  run(exec, problem);
  exec.fence("Test::DeviceKernels");
  const auto found = to_vector(x);
  Answer r{std::vector<T>(A.n), Impl::decode(to_vector(report).data(), A.n)};
  for (int i = 0; i < A.n; ++i) r.x[i] = found[std::size_t(i) * stride];
  return r;
}

template <int W, class Solver>
Answer solve_with(const Solver& solver, const HostSystem<W>& A, int stride = 1) {
  std::int64_t words = 1;
  if constexpr (requires { solver.storage_words(); }) words += solver.storage_words();
  return solve(A, stride, words,
               [&](const Exec& exec, const auto& problem) { solver.solve(exec, problem); });
}

template <class Solver, int W>
void expect_solved(int n, auto... more) {
  const Solver solver(Impl::Shape{n, 1, 1}, Trikkos::Options{}, more...);
  for (const int stride : {1, 2}) {
    SCOPED_TRACE(std::to_string(n) + " rows, stride " + std::to_string(stride));
    const auto A = random_system<W>(n);
    const Answer good = solve_with(solver, A, stride);
    EXPECT_TRUE(good.status.ok()) << good.status.why();
    EXPECT_LE(A.backward_error(good.x), 8 * W * std::numeric_limits<T>::epsilon());
    for (const int bad : {0, n / 2, n - 1}) {
      SCOPED_TRACE("bad row or column " + std::to_string(bad));
      auto singular = A;
      singular.set_column(bad, 0);
      const Answer of_column = solve_with(solver, singular, stride);
      EXPECT_EQ(of_column.status.reason, Reason::singular);
      EXPECT_EQ(of_column.status.row, bad);
      singular = A;
      singular.set_row(bad, 0);
      const Answer of_row = solve_with(solver, singular, stride);
      EXPECT_EQ(of_row.status.reason, Reason::singular);
      EXPECT_EQ(of_row.status.row, bad);
      auto not_finite = A;
      not_finite.b[bad] = std::nanf("");
      const Answer of_nan = solve_with(solver, not_finite, stride);
      EXPECT_EQ(of_nan.status.reason, Reason::not_finite);
      EXPECT_EQ(of_nan.status.row, bad);
    }
    if (testing::Test::HasFailure()) return;
  }
}

/// The breaker against kernels that calls take for thousands of systems only.
template <class Solver, int W = 1>
void expect_unbroken(int n, auto... more) {
  const Solver solver(Impl::Shape{n, 1, 1}, Trikkos::Options{}, more...);
  for (const Breaker::Mode mode : Breaker::modes) {
    SCOPED_TRACE(std::to_string(n) + " rows, " + name(mode));
    double worst = -1;
    for (int k = 0; k < 3; ++k) {
      Breaker::Climber<T, W> climber(n, Trikkos::Boundary::open, mode, false, 1000 * n + k);
      for (int step = 0; step < 40; ++step) {
        const auto problem = climber.next().problem();
        auto scaled = problem;
        Breaker::apply_row_exponents(scaled);
        HostSystem<W> A(n, [&](int i, int j) { return scaled.A.band(j)[i]; });
        A.b = scaled.b;
        const Answer found = solve_with(solver, A);
        const Breaker::Judged judged{fast_backward_error(problem.A, found.x, problem.b),
                                     found.status.ok()};
        climber.judge(judged.score(), 2000);
        worst = std::max(worst, judged.score());
      }
    }
    EXPECT_LE(worst, Breaker::promised<T>({}));
    EXPECT_GE(worst, 0) << "everything was flagged";
  }
}

/// Five diagonals, one system, by the kernel for thousands, in stretches of 8 rows. What it leaves
/// unsafe another one solves, as in a call.
class FromCheckpoints {
  using Carry = Impl::WideCarry<2>;
  using Kernel = Impl::SolveFromCheckpoints<T, Carry, Impl::Systems<T, 2>>;

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
    const Kokkos::View<std::int64_t*, Exec> unsafe("unsafe", 1);
    Kokkos::parallel_for("Test::reset", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         Impl::ResetDiagnosis{problem.diagnosis});
    Kokkos::parallel_for("Test::solve_from_checkpoints",
                         Kokkos::TeamPolicy<Exec>(exec, 1, m_shape.threads)
                             .set_scratch_size(0, Kokkos::PerTeam(m_shape.scratch_bytes())),
                         Kernel{problem, m_shape, Impl::SystemTiles(1, m_shape.threads),
                                words.data() + 1, words.data(), unsafe.data()});
    if (to_vector(unsafe)[0] > 0) m_safe.solve(exec, problem);
  }

 private:
  Impl::CheckpointShape<T, 2> m_shape;
  bool m_in_place;
  Impl::DeviceSystems<T, Exec, Carry> m_safe;
};

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
using WideCarry = Impl::WideCarry<2>;
inline constexpr int threads = 64;

#define TRIKKOS_SKIP_WITHOUT_TEAMS() \
  if (Exec().concurrency() < threads) GTEST_SKIP() << "teams need " << threads << " threads"

TEST(TEST_CATEGORY, device_kernels_on_chip) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {2, 3, 7, 14, 15, 16, 17, 18, 33, 64})
    expect_solved<Impl::DeviceSystems<T, Exec, Carry>, 1>(n);
  for (const int n : {5, 7, 16, 17, 48})
    expect_solved<Impl::DeviceSystems<T, Exec, WideCarry>, 2>(n);
}
// 16, 8 and 4 systems a team; and partitions of 15 and 17 rows, where there is scratch for these.
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
struct InterleavedFromBothEnds : Impl::WideBothEnds<T, Exec, WideCarry> {
  using Base = Impl::WideBothEnds<T, Exec, WideCarry>;
  using Base::Base;
  void solve(const Exec& exec, const Impl::Problem<T, 2>& problem) const {
    Base::solve(exec, problem, true);
  }
};
TEST(TEST_CATEGORY, device_kernels_from_both_ends_pentadiagonal) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {8, 9, 10, 11, 16, 33, 34, 65, 66, 67}) {
    expect_solved<Impl::WideBothEnds<T, Exec, WideCarry>, 2>(n);
    expect_solved<InterleavedFromBothEnds, 2>(n);
  }
}
TEST(TEST_CATEGORY, device_kernels_from_checkpoints) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {1, 2, 3, 7, 8, 9, 10, 11, 17, 40})
    expect_solved<FromCheckpoints, 2>(n, n % 2 == 1 || n == 40);
}
TEST(TEST_CATEGORY, device_kernels_withstand_the_breaker) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {3, 17, 48}) expect_unbroken<FromCheckpoints, 2>(n, false);
  for (const int n : {8, 33, 66}) {
    expect_unbroken<Impl::WideBothEnds<T, Exec, WideCarry>, 2>(n);
    expect_unbroken<InterleavedFromBothEnds, 2>(n);
  }
  for (const int n : {2, 33, 61}) expect_unbroken<Impl::BothEnds<T, Exec, Carry>>(n, threads);
  expect_unbroken<Impl::DeviceSystems<T, Exec, Carry>>(64);
}
// One partition, tile, and more of them; one row before and behind their ends.
TEST(TEST_CATEGORY, device_kernels_in_tiles) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {959, 960, 961, 975, 1200, 1919, 1920})
    expect_solved<Impl::DevicePartitions<T, Exec, Carry>, 1>(n);
  if (Kokkos::TeamPolicy<Exec>::scratch_size_max(0) < Impl::scratch_limit) return;  // 1 KiB less
  for (const int n : {480, 481, 495, 960, 961})
    expect_solved<Impl::DevicePartitions<T, Exec, WideCarry>, 2>(n);
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
// Without a coupling at each seam of a tile, and where nothing but pivoting helps.
TEST(TEST_CATEGORY, device_kernels_at_seams) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : {1000, 1800})
    for (const int where : {957, 958, 959, 960, 961}) {
      SCOPED_TRACE(std::to_string(n) + " rows, cut behind row " + std::to_string(where));
      const Impl::DevicePartitions<T, Exec, Carry> solver(Impl::Shape{n, 1, 1}, Trikkos::Options{});
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
// What `truncated` promises: where it accepts its windows, every row is solved.
TEST(TEST_CATEGORY, device_kernels_of_windows) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  using Kokkos::abs;
  for (const int n : {841, 899, 900, 901, 960, 1739, 1740, 1741, 1800, 2581})
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
        const Kokkos::View<std::int64_t*, Exec> refused("refused", 1);
        const Answer found = solve(A, stride, 1, [&](const Exec& exec, const auto& problem) {
          windows.launch(exec, problem, refused.data(), static_cast<T*>(nullptr),
                         static_cast<T*>(nullptr));
        });
        const bool is_accepted = to_vector(refused)[0] == 0;
        EXPECT_EQ(is_accepted, dominance > 1);
        if (is_accepted) {
          EXPECT_LE(A.backward_error(found.x), 8 * std::numeric_limits<T>::epsilon());
        }
      }
}

#undef TRIKKOS_SKIP_WITHOUT_TEAMS

}  // namespace Test::DeviceKernels
