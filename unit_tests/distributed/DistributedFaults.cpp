// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is wrong on one rank is known to all, and nobody waits.

#include <Ranks.hpp>

namespace {

using namespace Test;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Status;

using Vector = Kokkos::View<double*, TEST_EXECSPACE>;

/// The words of the std::invalid_argument that f throws, none if it does not.
template <class F>
std::string words_of(const F& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

// ---- numbers

/// Reason and row are those of the whole, whatever rank they are on.
TEST(distributed_faults, bad_numbers_are_found_in_their_row) {
  for (const std::int64_t n : {7, 100})
    for (const Cut& cut : cuts(n)) {
      SCOPED_TRACE(describe(cut));
      const auto b = random_rhs(n, 2);
      const auto status = [&](Gallery type) { return solve(gallery(type, n, 2), b, cut).status; };
      EXPECT_EQ(status(Gallery::zero_row).reason, Status::Reason::singular);
      EXPECT_EQ(status(Gallery::zero_row).row, n / 2);
      EXPECT_EQ(status(Gallery::nan_entry).reason, Status::Reason::not_finite);
      EXPECT_EQ(status(Gallery::nan_entry).row, n / 2);
      EXPECT_EQ(status(Gallery::zero_column).reason, Status::Reason::singular);
      EXPECT_LE(std::abs(status(Gallery::zero_column).row - n / 2), 1);
    }
}

/// With one row a rank it is found where the segments of ranks merge, or at the root.
TEST(distributed_faults, a_column_of_zeros_is_found_across_ranks) {
  const std::int64_t n = std::max(2, ranks());
  for (std::int64_t c = 0; c < n; ++c) {
    SCOPED_TRACE("column " + std::to_string(c));
    auto A = gallery(Gallery::uniform, n, 1);
    A.diag[c] = A.upper[(c + n - 1) % n] = A.lower[(c + 1) % n] = 0;
    const Status s = solve(A, random_rhs(n, 1), even_cut(n)).status;
    EXPECT_EQ(s.reason, Status::Reason::singular);
    EXPECT_LE(std::abs(s.row - c), 1);
    EXPECT_EQ(s.system, -1);
  }
}

/// Few systems, each in all SIMD lanes, and many, one in each lane.
TEST(distributed_faults, a_bad_system_spoils_no_other) {
  constexpr std::int64_t n = 50;
  const Cut cut = even_cut(n);
  const TEST_EXECSPACE exec;
  const auto A = rows_of(poisoned(gallery(Gallery::uniform, n, 1)), cut);
  for (const std::int64_t systems : {3, 40}) {
    const std::int64_t bad = systems - 2;
    const Kokkos::View<double**, TEST_EXECSPACE> b("b", systems, n);
    const auto host = Kokkos::create_mirror_view(b);
    for (std::int64_t k = 0; k < systems; ++k) {
      const auto one = random_rhs(n, k);
      for (std::int64_t i = 0; i < n; ++i) host(k, i) = one[i];
    }
    host(bad, n - 2) = std::numeric_limits<double>::quiet_NaN();
    Kokkos::deep_copy(b, host);
    const auto x = rows_of(b, cut);
    const Trikkos::DistributedWorkspace work(exec, A, x, {}, way());
    Trikkos::solve(exec, work, A, x, x);
    const Status s = work.status(exec);
    expect_common(s);
    EXPECT_EQ(s.reason, Status::Reason::not_finite);
    EXPECT_EQ(s.system, bad);
    EXPECT_EQ(s.row, n - 2);
    const auto host_x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
    for (std::int64_t k = 0; k < systems; ++k)
      for (std::int64_t i = cut[rank()]; k != bad && i < cut[rank() + 1]; ++i)
        EXPECT_TRUE(std::isfinite(host_x(k, i)));
    // and the next solve knows nothing of it
    Kokkos::deep_copy(x, 1);
    Trikkos::solve(exec, work, A, x, x);
    EXPECT_TRUE(work.status(exec).ok());
  }
}

// ---- arguments

TEST(distributed_faults, a_bad_argument_of_one_rank_is_thrown_on_all) {
  const Cut cut = even_cut(60);
  const int last = ranks() - 1;
  const bool is_bad = rank() == last;
  const std::int64_t rows = cut[rank() + 1] - cut[rank()];
  const auto A = rows_of(poisoned(gallery(Gallery::uniform, 60, 1)), cut);
  const Vector b("b", rows), x("x", rows), longer("x", rows + 1);
  const Trikkos::DistributedWorkspace work(TEST_EXECSPACE{}, A, b, {}, way());
  const std::int64_t of_last = cut[last + 1] - cut[last];
  const auto tail = ", on rank " + std::to_string(last);
  EXPECT_EQ(words_of([&] { Trikkos::solve(TEST_EXECSPACE{}, work, A, b, is_bad ? longer : x); }),
            "Trikkos::solve: x has " + std::to_string(of_last + 1) + " rows, expected " +
                std::to_string(of_last) + " (b.extent(0))" + tail);
  EXPECT_EQ(words_of([&] {
              auto other = A;
              if (is_bad) other.comm = MPI_COMM_SELF;
              if (is_bad && ranks() == 1) other.comm = MPI_COMM_NULL;
              Trikkos::solve(TEST_EXECSPACE{}, work, other, b, x);
            }),
            "Trikkos::solve: A has a communicator of other ranks, expected that which it was made "
            "for (the workspace)" +
                tail);
  EXPECT_EQ(words_of([&] {
              auto other = A;
              if (is_bad) other.block.boundary = Boundary::periodic;
              Trikkos::solve(TEST_EXECSPACE{}, work, other, b, x);
            }),
            "Trikkos::solve: A is periodic, expected open (the workspace)" + tail);
  EXPECT_EQ(words_of([&] {
              const auto options = is_bad ? Options{}.refine(1) : Options{};
              const Trikkos::DistributedWorkspace refused(TEST_EXECSPACE{}, A, b, options, way());
            }),
            "Trikkos::DistributedWorkspace: refine is 1, expected 0 (A is distributed)" + tail);
  Trikkos::solve(TEST_EXECSPACE{}, work, A, b, x);  // it still works
  EXPECT_TRUE(work.status(TEST_EXECSPACE{}).ok());
}

TEST(distributed_faults, all_that_is_not_supported_is_refused) {
  const auto A = rows_of(poisoned(gallery(Gallery::uniform, 60, 1)), even_cut(60));
  const auto refused = [&](const Options& options, const std::string& words) {
    EXPECT_EQ(words_of([&] {
                const Vector b("b", A.block.diag.extent(0));
                static_cast<void>(solve_rows(TEST_EXECSPACE{}, A, b, b, options));
              }),
              "Trikkos::DistributedWorkspace: " + words + " (A is distributed), on rank 0");
  };
  refused(Options{}.algorithm(Trikkos::Algorithm::thomas),
          "algorithm is thomas, expected automatic or segmented");
  refused(Options{}.transpose(Trikkos::Transpose::transpose),
          "A is to be transposed, expected Transpose::none");
  refused(Options{}.scaling(Trikkos::Scaling::columns),
          "scaling is columns, expected rows or none");
  refused(Options{}.verify(1), "verify is 1.000000, expected 0");
  auto nowhere = A;
  nowhere.comm = MPI_COMM_NULL;
  EXPECT_EQ(words_of([&] { const Trikkos::DistributedPlan plan(TEST_EXECSPACE{}, nowhere); }),
            "Trikkos::DistributedPlan: comm is MPI_COMM_NULL, expected a communicator");
}

TEST(distributed_faults, what_ranks_disagree_about_is_thrown_on_all) {
  if (ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const bool is_bad = rank() == 1;
  const auto A = rows_of(poisoned(gallery(Gallery::uniform, 60, 1)), even_cut(60));
  const Kokkos::View<double**, TEST_EXECSPACE> b("b", is_bad ? 3 : 2, A.block.diag.extent(0));
  EXPECT_EQ(words_of([&] { static_cast<void>(solve_rows(TEST_EXECSPACE{}, A, b, b)); }),
            "Trikkos::DistributedWorkspace: the number of systems of b is 3 on rank 1, expected 2 "
            "(rank 0)");
  auto ring = A;
  if (is_bad) ring.block.boundary = Boundary::periodic;
  EXPECT_EQ(words_of([&] { const Trikkos::DistributedPlan plan(TEST_EXECSPACE{}, ring); }),
            "Trikkos::DistributedPlan: the boundary of A (0: open, 1: periodic) is 1 on rank 1, "
            "expected 0 (rank 0)");
  const auto make = [&](auto zero) {
    const Kokkos::View<decltype(zero)*, TEST_EXECSPACE> v("v", 5);
    const Trikkos::Distributed B{world, Trikkos::Tridiagonal{v, v, v}};
    return words_of([&] { const Trikkos::DistributedWorkspace work(TEST_EXECSPACE{}, B, v); });
  };
  EXPECT_EQ(is_bad ? make(0.f) : make(0.),
            "Trikkos::DistributedWorkspace: the scalar (its bytes, negative if complex) is 4 on "
            "rank 1, expected 8 (rank 0)");
}

}  // namespace
