// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gates of a stable solver, with cuts between ranks at every awkward place.

#include <Ranks.hpp>

namespace {

using namespace Test;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;

TEST(distributed, meets_the_gates_of_table_iii) {
  constexpr std::int64_t n = 512;
  std::vector<Reference::HostSystem<double>> matrices(Trikkos::table_iii.size());
  for (std::size_t k = 0; k < matrices.size(); ++k)  // some take long to make
    if (static_cast<int>(k) % ranks() == rank()) matrices[k] = gallery(Trikkos::table_iii[k], n, 1);
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    broadcast(matrices[k], n, static_cast<int>(k) % ranks());
    const auto& A = matrices[k];
    for (const auto& b : right_hand_sides(A, 1))
      for (const Cut& cut : {even_cut(n), cut_at(n, 253)})
        for (const std::int64_t partition_size : {0, 2, 7, 31, 66, 100}) {
          SCOPED_TRACE(std::string(Trikkos::name(Trikkos::table_iii[k])) + ", " + describe(cut));
          expect_stable(solve(A, b, cut, Options{}.partition_size(partition_size)), A, b);
        }
  }
}

/// What the gate must see: blocks that do not know of each other.
TEST(distributed, gates_reject_blocks_without_their_couplings) {
  if (ranks() == 1) GTEST_SKIP() << "one rank has no neighbours";
  const auto A = gallery(Gallery::uniform_dominant, 512, 1);
  const auto b = random_rhs(512, 1);
  const Cut cut = even_cut(512);
  auto without = A;
  for (const std::int64_t first : cut)
    if (first > 0 && first < 512) without.lower[first] = without.upper[first - 1] = 0;
  const auto r = solve(without, b, cut);
  EXPECT_TRUE(r.status.ok());
  if (rank() == 0) {
    EXPECT_LE(r.eta, gate<double>);
    EXPECT_GT(fast_backward_error(A, r.x, b), 1e-3);
  }
}

/// Cuts wander through singular blocks, beside zero couplings and past both ends.
TEST(distributed, cuts_may_be_anywhere) {
  constexpr std::int64_t n = 24, block = 8;
  for (const Gallery type : {Gallery::singular_blocks, Gallery::nearly_singular_blocks,
                             Gallery::zero_coupling, Gallery::diagonal_0101}) {
    const auto A = Reference::to_host(
        Trikkos::gallery<double>(TEST_EXECSPACE{}, type, n, 3, Boundary::open, block));
    const auto b = right_hand_sides(A, 3)[1];
    for (std::int64_t c = 0; c <= n; ++c) {
      SCOPED_TRACE(std::string(Trikkos::name(type)) + ", " + describe(cut_at(n, c)));
      expect_stable(solve(A, b, cut_at(n, c)), A, b);
    }
  }
}

template <class T>
void every_cut(std::int64_t n) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = gallery<T>(Gallery::uniform, n, n + 1, boundary);
    const auto b = random_rhs<T>(n, n);
    for (const Cut& cut : cuts(n)) {
      SCOPED_TRACE(std::string(Trikkos::name(boundary)) + ", " + describe(cut));
      const auto r = solve(A, b, cut);
      EXPECT_TRUE(r.status.ok()) << r.status.why();
      if (rank() == 0) {
        EXPECT_LE(r.eta, gate<T>);
      }
    }
  }
}

TEST(distributed, solves_every_small_size) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 13}) every_cut<double>(n);
}
TEST(distributed, solves_every_scalar) {
  for (const std::int64_t n : {1, 2, 9, 500}) {
    every_cut<float>(n);
    every_cut<Kokkos::complex<double>>(n);
  }
}
TEST(distributed, solves_large_blocks) { every_cut<double>(40009); }

TEST(distributed, survives_the_ends_of_the_number_range) {
  for (const Gallery type : {Gallery::random_row_scaling, Gallery::graded_rows,
                             Gallery::near_overflow, Gallery::near_underflow}) {
    const auto A = gallery(type, 100, 5);
    const auto b = right_hand_sides(A, 5)[1];
    for (const Cut& cut : cuts(100)) {
      SCOPED_TRACE(std::string(Trikkos::name(type)) + ", " + describe(cut));
      expect_stable(solve(A, b, cut), A, b);
    }
  }
}

TEST(distributed, agrees_with_the_reference) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = gallery(Gallery::uniform_dominant, 1003, 9, boundary);
    const auto b = random_rhs(1003, 9);
    const auto r = solve(A, b, even_cut(1003));
    if (rank() == 0) {
      EXPECT_LE(Reference::relative_difference(r.x, Reference::solve(A, b)), 1e-14);
    }
  }
}

/// The ranks' chain goes on where that of one host's groups would: a group a rank is the same tree.
TEST(distributed, has_the_bits_of_one_rank_where_the_tree_is_the_same) {
  if (mode == Mode::tree) GTEST_SKIP() << "groups of ranks are another tree";
  if constexpr (Trikkos::Impl::is_host_v<TEST_EXECSPACE>) {
    for (const std::int64_t partition_size : {0, 5}) {
      const Trikkos::Impl::HostShape shape(Trikkos::Impl::OrthogonalCarry{}, 1 << 20,
                                           partition_size, Trikkos::Impl::lane_count<double>);
      const std::int64_t rows = shape.min_tiles_in_group * shape.tile_rows(), n = rows * ranks();
      const auto options = Options{}.partition_size(partition_size);
      for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
        const auto A = gallery(Gallery::uniform, n, 7, boundary);
        const auto b = random_rhs(n, 7);
        const auto r = solve(A, b, even_cut(n), options);
        if (rank() == 0) {
          EXPECT_EQ(r.x, ::Test::solve(A, b, options).x);
        }
      }
    }
  }
}

/// One of the host that is not the tested one, where Kokkos has it.
#ifdef KOKKOS_ENABLE_SERIAL
using OtherSpace = Kokkos::Serial;
#else
using OtherSpace = Kokkos::DefaultHostExecutionSpace;
#endif

/// Every other rank works in another execution space, by other partitions.
TEST(distributed, ranks_may_differ_in_execution_space_and_partitions) {
  const std::int64_t n = 5003;
  const Cut cut = even_cut(n);
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = gallery(Gallery::uniform, n, 7, boundary);
    const auto b = random_rhs(n, 7);
    const Kokkos::View<double*, TEST_EXECSPACE> all("x", b.size());
    const auto solve_on = [&](const auto& exec, const Options& options) {
      const auto x = Reference::to_device(exec, b);
      const auto rows = rows_of(x, cut);
      const auto status =
          solve_rows(exec, rows_of(Reference::to_device(exec, A), cut), rows, rows, options);
      ::Test::copy(all, x);
      return status;
    };
    const auto status = rank() % 2 == 0 ? solve_on(TEST_EXECSPACE(), {})
                                        : solve_on(OtherSpace(), Options{}.partition_size(5));
    EXPECT_TRUE(status.ok()) << status.why();
    expect_common(status);
    const Kokkos::View<double*, TEST_EXECSPACE> whole("whole", b.size());
    Trikkos::gather(TEST_EXECSPACE(), world, 0, rows_of(all, cut), whole);
    if (rank() == 0) {
      EXPECT_LE(fast_backward_error(A, Reference::to_host(whole), b), gate<double>);
    }
  }
}

TEST(distributed, is_reproducible) {
  const auto A = gallery(Gallery::uniform, 5003, 7);
  const auto b = random_rhs(5003, 7);
  const auto first = solve(A, b, even_cut(5003));
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(solve(A, b, even_cut(5003)).x, first.x);
}

}  // namespace
