// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows from one rank to all and back, and how many each should have.

#include <Ranks.hpp>

namespace {

using namespace Test;

double value(std::int64_t system, std::int64_t row) { return 1000. * system + row; }

template <class Layout>
void there_and_back(const Cut& cut, std::int64_t systems, int root) {
  SCOPED_TRACE(describe(cut) + ", " + std::to_string(systems) + " systems, root " +
               std::to_string(root));
  const std::int64_t n = cut.back(), here = rank() == root ? n : 0;
  const Kokkos::View<double**, Layout, TEST_EXECSPACE> all("all", systems, here);
  const auto host = Kokkos::create_mirror_view(all);
  for (std::int64_t k = 0; k < systems; ++k)
    for (std::int64_t i = 0; i < here; ++i) host(k, i) = value(k, i);
  ::Test::copy(all, host);
  const Kokkos::View<double**, Kokkos::LayoutLeft, TEST_EXECSPACE> block(
      "block", systems, cut[rank() + 1] - cut[rank()]);
  Trikkos::scatter(TEST_EXECSPACE{}, world, root, all, block);
  const auto host_block = ::Test::host_copy(block);
  for (std::int64_t k = 0; k < systems; ++k)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(block.extent(1)); ++i)
      EXPECT_EQ(host_block(k, i), value(k, cut[rank()] + i));

  ::Test::fill(all, -1.);
  Trikkos::gather(TEST_EXECSPACE{}, world, root, block, all);
  const auto again = ::Test::host_copy(all);
  for (std::int64_t k = 0; k < systems; ++k)
    for (std::int64_t i = 0; i < here; ++i) EXPECT_EQ(again(k, i), value(k, i));
}

TEST(distributed_rows, go_there_and_back) {
  for (const std::int64_t n : {0, 1, 50})
    for (const Cut& cut : cuts(n))
      for (const std::int64_t systems : {0, 1, 3})
        for (const int root : {0, ranks() - 1}) {
          there_and_back<Kokkos::LayoutLeft>(cut, systems, root);
          there_and_back<Kokkos::LayoutRight>(cut, systems, root);
        }
}

/// No message is larger than a window, and windows cover everything once.
TEST(distributed_rows, windows_cover_all_values_once) {
  for (const std::int64_t most : {1, 5, 12, 100})
    for (const std::int64_t systems : {0, 1, 3, 8})
      for (const std::int64_t rows : {0, 1, 6, 13}) {
        std::vector<int> seen(systems * rows, 0);
        const auto visit = [&](const Trikkos::Impl::Window& w) {
          EXPECT_LE(w.systems * w.rows, most);
          for (std::int64_t k = w.system; k < w.system + w.systems; ++k)
            for (std::int64_t i = w.row; i < w.row + w.rows; ++i) ++seen[k * rows + i];
        };
        Trikkos::Impl::for_windows(systems, rows, visit, most);
        EXPECT_EQ(seen, std::vector<int>(systems * rows, 1));
      }
}

TEST(distributed_rows, small_windows_make_the_same_vectors) {
  const Cut cut = cut_at(40, 11);
  const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> all("all", 3, 40),
      block("block", 3, cut[rank() + 1] - cut[rank()]);
  const auto host = Kokkos::create_mirror_view(all);
  for (std::int64_t k = 0; k < 3; ++k)
    for (std::int64_t i = 0; i < 40; ++i) host(k, i) = value(k, i);
  ::Test::copy(all, host);
  using Trikkos::Impl::vectors;
  for (const std::int64_t most : {1, 7, 40, 80, 1000}) {
    const Trikkos::Impl::RowTransfer<double, TEST_EXECSPACE> transfer("test", TEST_EXECSPACE{},
                                                                      world, 0, all, block, most);
    ::Test::fill(block, -1.);
    transfer.scatter(TEST_EXECSPACE{}, vectors<const double>(all), vectors<double>(block));
    const auto host_block = ::Test::host_copy(block);
    for (std::int64_t k = 0; k < 3; ++k)
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(block.extent(1)); ++i)
        EXPECT_EQ(host_block(k, i), value(k, cut[rank()] + i));
    ::Test::fill(all, -1.);
    transfer.gather(TEST_EXECSPACE{}, vectors<const double>(block), vectors<double>(all));
    const auto again = ::Test::host_copy(all);
    for (std::int64_t k = 0; rank() == 0 && k < 3; ++k)
      for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(again(k, i), value(k, i));
    ::Test::copy(all, host);
  }
}

TEST(distributed_rows, that_do_not_fit_are_refused_on_all_ranks) {
  const Kokkos::View<double*, TEST_EXECSPACE> all("all", 2 * ranks() + 1), block("block", 2);
  try {
    Trikkos::scatter(TEST_EXECSPACE{}, world, 0, all, block);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& e) {
    EXPECT_EQ(std::string(e.what()), "Trikkos::scatter: all has " +
                                         std::to_string(2 * ranks() + 1) + " rows, expected " +
                                         std::to_string(2 * ranks()) + " (all blocks), on rank 0");
  }
  EXPECT_THROW(Trikkos::gather(TEST_EXECSPACE{}, world, ranks(), block, all),
               std::invalid_argument);
}

TEST(distributed_rows, are_balanced_by_speed) {
  const int p = ranks();
  const Cut same = Trikkos::balanced_partition(world, 1000);
  ASSERT_EQ(same.size(), static_cast<std::size_t>(p) + 1);
  for (int r = 0; r < p; ++r) EXPECT_NEAR(same[r + 1] - same[r], 1000. / p, 1);

  // rank r is r + 1 times as fast as the first; in any unit
  for (const double unit : {1e-300, 1., 1e300}) {
    const Cut first = Trikkos::balanced_partition(world, 1000000, unit * (rank() + 1));
    for (int r = 0; r < p; ++r)
      EXPECT_NEAR(first[r + 1] - first[r], 1e6 * (r + 1) / (p * (p + 1) / 2), 1);
    EXPECT_EQ(first.front(), 0);
    EXPECT_EQ(first.back(), 1000000);
    EXPECT_TRUE(is_common(first[p / 2]));
  }
  // those that stand still get nothing
  const Cut one = Trikkos::balanced_partition(world, 10, rank() == p - 1 ? 3. : 0.);
  EXPECT_EQ(one, all_on(p - 1, 10));
  const auto of_speed = [&](double speed) { return Trikkos::balanced_partition(world, 10, speed); };
  EXPECT_THROW(of_speed(0), std::invalid_argument);
  EXPECT_THROW(of_speed(rank() == p - 1 ? -1 : 1), std::invalid_argument);
  EXPECT_THROW(of_speed(rank() == 0 ? std::nan("") : 1), std::invalid_argument);
  if (p > 1) {
    EXPECT_THROW(Trikkos::balanced_partition(world, rank() == 0 ? 10 : 11), std::invalid_argument);
  }
}

}  // namespace
