// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <BreakerSolvers.hpp>
#include <Triangles.hpp>
#include <impl/factored/Trikkos_Factored.hpp>
#include <string>

/// \file
/// The kernels of devices for one factored matrix, where there are teams of 64 threads: on a host
/// with as many, too. Weights or sweeps tell what leaves a chunk; of contiguous right-hand sides
/// and interleaved ones, in scratch or in registers, the same way makes the same bits.

namespace Test::FactoredKernels {

namespace Impl = Trikkos::Impl;
using Exec = TEST_EXECSPACE;
using Reference::HostMatrix;
using Columns = std::vector<std::vector<double>>;

enum class Way { weights, sweeps, registers };
constexpr int systems = 4, systems_bits = 2;  // of a team

template <class Kernel>
void launch(const Exec& exec, const Kernel& kernel, std::int64_t league, int threads,
            std::size_t bytes) {
  Kokkos::parallel_for("Test::factored",
                       Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(league), threads)
                           .set_scratch_size(0, Kokkos::PerTeam(bytes)),
                       kernel);
}

/// x of each b, by chunks of at most so many rows.
template <int W, class Matrix>
Columns solve(const Matrix& A, const Columns& b, int most_rows, Way way, bool interleaved) {
  const Exec exec;
  const std::int64_t n = A.size(), count = b.size();
  const auto place = [&](std::int64_t k, std::int64_t i) {
    return interleaved ? i * count + k : k * n + i;
  };
  std::vector<double> all(count * n);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < n; ++i) all[place(k, i)] = b[k][i];
  const auto rhs = on_device<double, Exec>(all), x = on_device<double, Exec>(all);
  Kokkos::View<double*, Exec> band[2 * W + 1];
  Impl::Bands<double, W> bands;
  for (int j = 0; j <= 2 * W; ++j) {
    band[j] = on_device<double, Exec>(A.band(j - W));
    bands.band[j] = {band[j].data(), 1};
  }
  bands.n = n;
  bands.periodic = A.periodic;
  const Impl::FactoredShape<double, W> shape(n, Impl::scratch_limit, most_rows);
  const Kokkos::View<double*, Exec> memory("factors", shape.factors(A.periodic, nullptr).words);
  const auto factors = shape.factors(A.periodic, memory.data());
  Impl::factor<Impl::Bands<double, W>>(exec, bands, factors, "Test::factor");

  Impl::Vectors<double> to{x.data(), interleaved ? 1 : n, interleaved ? count : 1};
  Impl::Vectors<const double> from{rhs.data(), to.system_stride, to.row_stride};
  const Kokkos::View<std::int64_t*, Exec> report("report", Impl::Diagnosis::words);
  const Impl::SystemTiles tiles(count, systems);
  const auto solve_with = [&](const auto& kernel, std::size_t bytes) {
    launch(exec, kernel, tiles.count(count), shape.threads(systems), bytes);
  };
  const auto on_chip = [&]<bool Interleaved, bool by_weights>() {
    using Kernel = Impl::SolveFactored<double, Interleaved, W, by_weights>;
    solve_with(Kernel{{factors, from, to, tiles, {report.data(), count}, shape, systems}},
               shape.scratch_bytes(systems));
  };
  const auto in_registers = [&]<int rows>() {
    solve_with(
        Impl::SolveInRegisters<double, W, rows>{
            {factors, from, to, tiles, {report.data(), count}, shape, systems}, systems_bits},
        shape.scratch_bytes_in_registers(systems));
  };
  using Factors = Impl::Factors<double, W>;
  if (way == Way::registers && factors.most_rows() == Factors::short_chunk) {
    in_registers.template operator()<Factors::short_chunk>();
  } else if (way == Way::registers) {
    if constexpr (Factors::has_long_chunks)
      in_registers.template operator()<Factors::long_chunk>();
    else
      return solve<W>(A, b, most_rows, Way::weights, false);
  } else if (way == Way::weights) {
    on_chip.template operator()<false, true>();
  } else if (interleaved) {
    on_chip.template operator()<true, false>();
  } else {
    on_chip.template operator()<false, false>();
  }
  exec.fence("Test::FactoredKernels");

  const auto found = to_vector(x);
  Columns r(count, std::vector<double>(n));
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < n; ++i) r[k][i] = found[place(k, i)];
  return r;
}

template <int W, class Matrix>
void expect_solved(const Matrix& A, double promised) {
  Columns b(systems + 1);  // the last tile is not complete
  for (auto& column : b) column = random_rhs<double>(A.size(), &column - b.data());
  const auto expect_small = [&](const Columns& x) {
    for (std::size_t k = 0; k < b.size(); ++k)
      EXPECT_LE(fast_backward_error(A, x[k], b[k]), promised) << k;
  };
  using Factors = Impl::Factors<double, W>;
  for (const int rows : {Factors::short_chunk, Factors::long_chunk}) {
    SCOPED_TRACE("chunks of " + std::to_string(rows));
    const Columns swept = solve<W>(A, b, rows, Way::sweeps, false);
    expect_small(swept);
    EXPECT_EQ(solve<W>(A, b, rows, Way::sweeps, true), swept);
    if (A.periodic) continue;
    const Columns summed = solve<W>(A, b, rows, Way::weights, false);
    expect_small(summed);
    if (Factors::has_long_chunks || rows == Factors::short_chunk) {
      EXPECT_EQ(solve<W>(A, b, rows, Way::registers, true), summed);
    }
  }
}

/// A chunk, two, an incomplete one, more than a group.
constexpr int sizes[] = {5, 17, 18, 33, 35, 40, 67, 200, 270};

template <int W>
void solves_dominant() {
  for (const int n : sizes)
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + " rows" + (periodic ? ", periodic" : ""));
      HostMatrix<double, W> A;
      A.periodic = periodic;
      for (int j = -W; j <= W; ++j) {
        A.band(j) = random_rhs<double>(n, 100 + j);
        if (j == 0)
          for (double& v : A.band(j)) v = 2 * W + 0.1 + std::fabs(v);
      }
      expect_solved<W>(A, 1e-15);
    }
}

#define TRIKKOS_SKIP_WITHOUT_TEAMS() \
  if (Exec().concurrency() < 64) GTEST_SKIP() << "teams need 64 threads"

TEST(TEST_CATEGORY, factored_kernels) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  solves_dominant<1>();
  solves_dominant<2>();
}
/// Nothing decays, and what five diagonals hand on is corrected.
TEST(TEST_CATEGORY, factored_kernels_without_decay) {
  TRIKKOS_SKIP_WITHOUT_TEAMS();
  for (const int n : sizes) {
    SCOPED_TRACE(n);
    const auto toeplitz = [&](auto& A, std::initializer_list<double> entries) {
      int j = -static_cast<int>(entries.size()) / 2;
      for (const double v : entries) A.band(j++).assign(n, v);
    };
    HostMatrix<double, 1> poisson;
    toeplitz(poisson, {-1, 2, -1});
    expect_solved<1>(poisson, 1e-15);
    HostMatrix<double, 2> biharmonic;
    toeplitz(biharmonic, {1, -4, 6, -4, 1});
    expect_solved<2>(biharmonic, 2e-15);
  }
}

}  // namespace Test::FactoredKernels
