// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks in groups, of any number: who sends what to whom, and that nobody waits.

#include <Ranks.hpp>
#include <optional>

namespace {

using namespace Test;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Status;
using Trikkos::Impl::Communicator;
using Trikkos::Impl::Fault;
using Trikkos::Impl::RankGroups;
using Trikkos::Impl::RankTree;
using Trikkos::Impl::RootWay;

Communicator all() { return {"test", world}; }

/// f(number of groups), from one to as many as there are ranks.
template <class F>
void for_groups(const F& f) {
  for (int count = 1; count <= ranks(); ++count) {
    SCOPED_TRACE(std::to_string(count) + " groups");
    f(count);
  }
}
RootWay in_groups(int count) { return {count, -1}; }

TEST(distributed_tree, few_ranks_form_no_groups) {
  for (const int few : {1, 2, 16, 256}) EXPECT_EQ(RootWay{}.groups_of(few), 1);
  EXPECT_EQ(RootWay{}.groups_of(257), 17);
  EXPECT_EQ(RootWay{}.groups_of(1024), 32);
  EXPECT_EQ(RootWay{}.groups_of(1000000), 1000);
  EXPECT_EQ(RootWay{.groups = 5}.groups_of(3), 3);
}

TEST(distributed_tree, every_rank_hears_of_every_group) {
  for_groups([](int count) {
    const RankGroups groups(all(), count);
    const int first = groups.first_rank(groups.group());
    EXPECT_EQ(groups.groups(), count);
    EXPECT_LE(first, rank());
    EXPECT_LT(rank(), groups.first_rank(groups.group() + 1));
    if (!groups.is_tree()) return;
    EXPECT_EQ(groups.near().size(), groups.first_rank(groups.group() + 1) - first);
    EXPECT_EQ(groups.near().rank(), rank() - first);
    const std::int64_t mine = groups.group();
    std::vector<std::int64_t> theirs(groups.far().size());
    groups.far().gather_to_all(&mine, theirs.data(), 1);
    ASSERT_GE(groups.far().size(), groups.groups());
    EXPECT_LE(groups.far().size(), 2 * groups.groups());
    for (int k = 0; k < groups.groups(); ++k) EXPECT_EQ(theirs[k], k);
  });
}

template <class T>
void any_groups(std::int64_t n, Boundary boundary) {
  const auto A = gallery<T>(Gallery::uniform, n, n + 1, boundary);
  const auto b = random_rhs<T>(n, n);
  for (const Cut& cut : cuts(n)) {
    SCOPED_TRACE(std::string(Trikkos::name(boundary)) + ", " + describe(cut));
    for_groups([&](int count) {
      const auto r = solve(A, b, cut, {}, in_groups(count));
      EXPECT_TRUE(r.status.ok()) << r.status.why();
      if (rank() > 0) return;
      EXPECT_LE(r.eta, gate<T>);
    });
    // a group a rank is a chain of all ranks again
    const auto r = solve(A, b, cut, {}, in_groups(1)),
               of_one = solve(A, b, cut, {}, in_groups(ranks()));
    EXPECT_EQ(of_one.x, r.x);
  }
}
TEST(distributed_tree, any_number_of_groups_solves) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    for (const std::int64_t n : {0, 1, 2, 5, 13, 300}) any_groups<double>(n, boundary);
    any_groups<float>(100, boundary);
    any_groups<Kokkos::complex<double>>(100, boundary);
  }
}

/// Found where ranks merge, where groups merge, or at the root.
TEST(distributed_tree, a_column_of_zeros_is_found_in_its_row) {
  const std::int64_t n = std::max(2, ranks());
  for_groups([&](int count) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
      for (std::int64_t c = 0; c < n; ++c) {
        SCOPED_TRACE("column " + std::to_string(c));
        auto A = gallery(Gallery::uniform, n, 1, boundary);
        A.diag[c] = A.upper[(c + n - 1) % n] = A.lower[(c + 1) % n] = 0;
        const Status s = solve(A, random_rhs(n, 1), even_cut(n), {}, in_groups(count)).status;
        EXPECT_EQ(s.reason, Status::Reason::singular);
        EXPECT_LE(std::min(std::abs(s.row - c), n - std::abs(s.row - c)), 1) << s.row;
      }
  });
}

/// The tree by itself, of some systems of random segments.
struct Tree {
  static constexpr std::int64_t systems = 5;
  using Chains = RankTree<double, TEST_EXECSPACE>;
  static constexpr int words = Chains::chains * Trikkos::Impl::Diagnosis::words;

  TEST_EXECSPACE exec;
  Kokkos::View<std::int64_t*, TEST_EXECSPACE> found{"found", words};
  Chains chains;

  Tree(int count, bool periodic) : chains(all(), systems, periodic, count) {
    chains.allocate(exec, found.data());
    Kokkos::parallel_for("reset", Trikkos::Impl::range(exec, Chains::chains),
                         Trikkos::Impl::ResetMany{found.data(), systems});
    const auto words_of_rank = random_rhs(Trikkos::Impl::Segment<double>::words * systems, rank());
    Kokkos::deep_copy(
        exec, Kokkos::View<double*, TEST_EXECSPACE>(chains.segments().data, words_of_rank.size()),
        Kokkos::View<const double*, Kokkos::HostSpace>(words_of_rank.data(), words_of_rank.size()));
    chains.to_host(exec);
  }
  /// Around and at the ends of this rank, four of each system.
  std::vector<double> bounds() const {
    const Kokkos::View<double*, TEST_EXECSPACE> b("bounds", 4 * systems);
    chains.exchange(exec, {});
    chains.solve(exec, {b.data()});
    return Reference::to_host(b);
  }
};

TEST(distributed_tree, neighbours_agree_bit_for_bit) {
  for (const bool periodic : {false, true}) {
    const auto in_chain = Tree(1, periodic).bounds();
    for_groups([&](int count) {
      const auto mine = Tree(count, periodic).bounds();
      std::vector<double> theirs(mine.size() * ranks());
      all().gather_to_all(mine.data(), theirs.data(), static_cast<std::int64_t>(mine.size()));
      for (int r = 0; r < ranks() - (periodic ? 0 : 1); ++r)
        for (std::size_t k = 0; k < mine.size(); k += 4) {
          const double* const left = theirs.data() + mine.size() * r + k;
          const double* const right = theirs.data() + mine.size() * ((r + 1) % ranks()) + k;
          EXPECT_EQ(left[2], right[0]);
          EXPECT_EQ(left[3], right[1]);
        }
      for (std::size_t k = 0; k < mine.size(); ++k)
        EXPECT_LE(std::abs(mine[k] - in_chain[k]), 1e-10 * (1 + std::abs(in_chain[k])));
    });
  }
}

/// What f throws.
template <class F>
std::string words_of(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

TEST(distributed_tree, the_fault_of_any_rank_reaches_all) {
  for_groups([](int count) {
    const Tree tree(count, false);
    for (int r = 0; r < ranks(); ++r) {
      const Fault fault{rank() < r ? Fault::none : Fault::argument, "bad"};
      EXPECT_EQ(words_of([&] { tree.chains.exchange(tree.exec, fault); }),
                "bad, on rank " + std::to_string(r));
    }
    EXPECT_EQ(words_of([&] { static_cast<void>(tree.bounds()); }), "");
  });
}

/// Between the two messages those who do not get a rank's word do not miss it, and nobody waits.
TEST(distributed_tree, a_launch_that_fails_between_messages_leaves_nobody_waiting) {
  for_groups([](int count) {
    const Tree tree(count, false);
    if (!tree.chains.groups().is_tree()) return;
    const auto callbacks = Kokkos::Tools::Experimental::get_callbacks();
    if (rank() == 0)
      Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
          [](const char* name, std::uint32_t, std::uint64_t*) {
            if (std::string(name) == "Trikkos::distributed::group")
              throw std::runtime_error("no launch");
          });
    const std::string words = words_of([&] { static_cast<void>(tree.bounds()); });
    Kokkos::Tools::Experimental::set_callbacks(callbacks);
    if (rank() == 0) {
      EXPECT_EQ(words, "no launch");
    } else {
      EXPECT_TRUE(words == "" || words == "Trikkos::solve: a rank of another group has failed");
    }
    EXPECT_EQ(words_of([&] { static_cast<void>(tree.bounds()); }), "");
  });
}

/// A copy that goes only when MPI has ended.
std::optional<Communicator> late;
TEST(distributed_tree, communicators_may_outlive_mpi) {
  late = all().split(rank() % 2, rank());
  EXPECT_EQ(late->size(), (ranks() + 1 - rank() % 2) / 2);
}

}  // namespace
