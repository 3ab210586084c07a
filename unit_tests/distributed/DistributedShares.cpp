// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks that share the roots of many systems, in parts whose words travel while others are solved.

#include <Ranks.hpp>

namespace {

using namespace Test;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Status;
using Trikkos::Impl::RankKinds;
using Trikkos::Impl::RootWay;
using Trikkos::Impl::SystemRange;

constexpr RootWay by_all{1, -1};
RootWay shared(int parts) { return {0, parts}; }

using Array = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;
using Lines = Kokkos::View<double***, Kokkos::LayoutRight, TEST_EXECSPACE>;

TEST(distributed_shares, many_systems_are_shared) {
  RankKinds kinds(Trikkos::Impl::Communicator("test", world), TEST_EXECSPACE());
  EXPECT_TRUE(kinds.round_alike);
  EXPECT_EQ(kinds.are_devices, !Trikkos::Impl::is_host_v<TEST_EXECSPACE>);
  const auto is_shared = [&](int count, std::int64_t systems) {
    return RootWay{}.is_shared(kinds, count, systems);
  };
  EXPECT_FALSE(is_shared(1, 1000000));
  EXPECT_FALSE(is_shared(2, 2048));
  EXPECT_TRUE(is_shared(2, 2049));
  EXPECT_TRUE(is_shared(16, 257));
  EXPECT_FALSE(is_shared(1024, 1023));  // some would have nothing to do
  EXPECT_FALSE(by_all.is_shared(kinds, 2, 1000000));
  EXPECT_TRUE(shared(1).is_shared(kinds, 2, 1));
  kinds.round_alike = false;
  EXPECT_TRUE(is_shared(2, 1));

  const auto parts = [&](std::int64_t systems, std::int64_t rows) {
    return RootWay{}.parts_of(kinds, systems, rows);
  };
  kinds.are_devices = false;
  EXPECT_EQ(parts(1000000, 1000), 1);
  kinds.are_devices = true;
  EXPECT_EQ(parts(1000000, 1000), RootWay::most_parts);
  EXPECT_EQ(parts(1000, 1000000), 1);
  EXPECT_EQ(parts(1000000, 0), 1);
  EXPECT_EQ(parts(3 * RootWay::systems_of_part, 1000), 3);
}

TEST(distributed_shares, parts_are_all_there_is) {
  for (const std::int64_t count : {0, 1, 2, 7, 100})
    for (const std::int64_t parts : {1, 2, 3, 8}) {
      std::int64_t next = 5;
      for (std::int64_t k = 0; k < parts; ++k) {
        const SystemRange part = Trikkos::Impl::part_of({5, count}, k, parts);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(std::abs(part.count - count / parts), 1);
        next += part.count;
      }
      EXPECT_EQ(next, 5 + count);
    }
}

/// Own matrices, in the order that View v, which may have slabs, counts them.
template <class View>
struct Systems {
  View lower, diag, upper, b;

  Systems(const View& shape, std::int64_t first_row) {
    for (View* v : {&lower, &diag, &upper, &b}) {
      *v = View("v", shape.layout());
      const auto host = Kokkos::create_mirror_view(*v);
      auto* const words = host.data();
      const std::int64_t rows = shape.extent(View::rank() - 1);
      for (std::int64_t k = 0; rows > 0 && k < static_cast<std::int64_t>(v->size()); ++k)
        words[k] = std::sin(
            1. + static_cast<double>((k / rows * 1000 + first_row + k % rows) * 4 + (v - &lower)));
      Kokkos::deep_copy(*v, host);
    }
  }
  auto matrix(Boundary boundary) const {
    return Trikkos::Distributed{world, Trikkos::Tridiagonal{lower, diag, upper, boundary}};
  }
};

/// The merges are the same, whoever makes them, and so are the bits.
template <class View>
void has_the_bits_of_all(const Systems<View>& systems, Boundary boundary) {
  const TEST_EXECSPACE exec;
  const auto solve = [&](const RootWay& root) {
    const View x("x", systems.b.layout());
    const auto A = systems.matrix(boundary);
    const Trikkos::DistributedWorkspace work(exec, A, systems.b, {}, root);
    for (int k = 0; k < 2; ++k) Trikkos::solve(exec, work, A, systems.b, x);
    EXPECT_TRUE(work.status(exec).ok()) << work.status(exec).why();
    EXPECT_GT(work.bytes(), 0);
    return ::Test::host_copy(Kokkos::View<double*, TEST_EXECSPACE>(x.data(), x.size()));
  };
  const auto expected = solve(by_all);
  for (const int parts : {1, 2, 3, 7, 40}) {
    SCOPED_TRACE(std::to_string(parts) + " parts, " + std::string(Trikkos::name(boundary)));
    const auto x = solve(shared(parts));
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_EQ(x.data()[k], expected.data()[k]) << k;
  }
}
TEST(distributed_shares, has_the_bits_of_a_solve_by_all) {
  for (const std::int64_t n : {1, 40, 300})
    for (const Cut& cut : {even_cut(n), cut_at(n, 1), with_empty_ranks(n)}) {
      SCOPED_TRACE(describe(cut));
      const std::int64_t first = cut[rank()], rows = cut[rank() + 1] - first;
      for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
        for (const std::int64_t count : {1, 5, 37})
          has_the_bits_of_all(Systems(Array("shape", count, rows), first), boundary);
        // slabs that parts do not divide
        const Lines memory("shape", 5, 12, rows);
        has_the_bits_of_all(Systems(memory, first), boundary);
      }
    }
}

/// The same systems in slabs of so many, with gaps after each,
using Slabs =
    decltype(Kokkos::subview(Lines(), Kokkos::ALL, Kokkos::pair<int, int>(), Kokkos::ALL));
Slabs in_slabs(const Array& v, int of) {
  const int rows = v.extent_int(1);
  const Lines wide("wide", v.extent(0) / of, of + 2, rows);
  const Slabs part = Kokkos::subview(wide, Kokkos::ALL, Kokkos::pair<int, int>(0, of), Kokkos::ALL);
  Kokkos::parallel_for(
      "spread", Kokkos::RangePolicy<TEST_EXECSPACE>(0, v.size()), KOKKOS_LAMBDA(int k) {
        part(k / rows / of, k / rows % of, k % rows) = v(k / rows, k % rows);
      });
  return part;
}
/// and back.
Array from_slabs(const Slabs& v) {
  const int of = v.extent_int(1), rows = v.extent_int(2);
  const Array packed("packed", v.extent(0) * of, rows);
  Kokkos::parallel_for(
      "pack", Kokkos::RangePolicy<TEST_EXECSPACE>(0, packed.size()), KOKKOS_LAMBDA(int k) {
        packed(k / rows, k % rows) = v(k / rows / of, k / rows % of, k % rows);
      });
  return packed;
}

TEST(distributed_shares, slabs_are_solved_whole_and_in_pieces) {
  const int n = 41, of = 7;
  const Cut cut = even_cut(n);
  const std::int64_t first = cut[rank()], rows = cut[rank() + 1] - first;
  const Systems<Array> flat(Array("shape", 6 * of, rows), first);
  const TEST_EXECSPACE exec;
  const Array expected("x", 6 * of, rows);
  EXPECT_TRUE(solve_rows(exec, flat.matrix(Boundary::open), flat.b, expected, {}, by_all).ok());
  const auto expected_bits = ::Test::host_copy(expected);
  const Trikkos::Distributed A{
      world, Trikkos::Tridiagonal{in_slabs(flat.lower, of), in_slabs(flat.diag, of),
                                  in_slabs(flat.upper, of)}};
  for (const int parts : {1, 2, 4, 5, 11}) {
    SCOPED_TRACE(std::to_string(parts) + " parts");
    const auto x = in_slabs(flat.b, of);
    EXPECT_TRUE(solve_rows(exec, A, x, x, {}, shared(parts)).ok());
    const auto bits = ::Test::host_copy(from_slabs(x));
    for (std::size_t k = 0; k < bits.size(); ++k)
      ASSERT_EQ(bits.data()[k], expected_bits.data()[k]) << k;
  }
}

/// The first bad system is named, of whatever part and share.
TEST(distributed_shares, a_singular_system_is_found_in_its_row) {
  const std::int64_t n = std::max(2, ranks()), count = 11;
  const Cut cut = even_cut(n);
  const std::int64_t first = cut[rank()], rows = cut[rank() + 1] - first;
  for (const int parts : {1, 3})
    for (const std::int64_t bad : {0, 4, 10})
      for (std::int64_t c = 0; c < n; ++c) {
        SCOPED_TRACE("system " + std::to_string(bad) + ", column " + std::to_string(c));
        const Systems<Array> s(Array("shape", count, rows), first);
        const auto zero = [&](const Array& v, std::int64_t row) {
          if (row >= first && row < first + rows)
            Kokkos::deep_copy(Kokkos::subview(v, bad, row - first), 0.);
        };
        zero(s.diag, c);
        zero(s.upper, c - 1);
        zero(s.lower, c + 1);
        const Status status =
            solve_rows(TEST_EXECSPACE{}, s.matrix(Boundary::open), s.b, s.b, {}, shared(parts));
        expect_common(status);
        EXPECT_EQ(status.reason, Status::Reason::singular);
        EXPECT_EQ(status.system, bad);
        EXPECT_LE(std::abs(status.row - c), 1) << status.row;
      }
}

/// In whatever step a rank fails, all hear of it, and the next solve is as if nothing had been.
TEST(distributed_shares, a_launch_that_fails_is_thrown_on_all) {
  static int until = 0;
  // a root of each of three parts for every rank: all launch as often
  const std::int64_t n = 100, count = 3 * std::max(4, ranks());
  const Cut cut = even_cut(n);
  const std::int64_t first = cut[rank()], rows = cut[rank() + 1] - first;
  const Systems<Array> s(Array("shape", count, rows), first);
  const auto A = s.matrix(Boundary::open);
  const Array x("x", count, rows);
  const TEST_EXECSPACE exec;
  const Trikkos::DistributedWorkspace work(exec, A, s.b, {}, shared(3));
  const auto callbacks = Kokkos::Tools::Experimental::get_callbacks();
  int failed = 0;
  for (const int bad : {0, ranks() - 1})
    for (int launch = 0; launch < 9; ++launch) {
      SCOPED_TRACE(std::to_string(launch) + " launches on rank " + std::to_string(bad));
      until = launch;
      if (rank() == bad)
        Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
            [](const char*, std::uint32_t, std::uint64_t*) {
              if (until-- == 0) throw std::runtime_error("no launch");
            });
      std::string words;
      try {
        Trikkos::solve(exec, work, A, s.b, x);
      } catch (const std::exception& e) {
        words = e.what();
      }
      Kokkos::Tools::Experimental::set_callbacks(callbacks);
      failed += words.empty() ? 0 : 1;
      // of the last part nobody has to be told: others have their x
      const std::string told = "no launch, on rank " + std::to_string(bad);
      EXPECT_TRUE(words == told || (launch >= 6 && (words.empty() || words == "no launch")))
          << words;
      Trikkos::solve(exec, work, A, s.b, x);
      EXPECT_TRUE(work.status(exec).ok());
    }
  EXPECT_GE(failed, 12);
}

}  // namespace
