// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <FastError.hpp>
#include <Trikkos_BackwardError.hpp>
#include <Trikkos_Gallery.hpp>
#include <Trikkos_Solve.hpp>
#include <map>

/// \file
/// Algorithm::segmented: what a stable solver owes for every matrix, size, partition size, scalar,
/// boundary and transposition.

namespace Test::Segmented {

using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Transpose;

/// What a solve left behind, on the host.
template <class T>
struct Outcome {
  std::vector<T> x;
  Trikkos::Status status;
  double eta;
};

template <class T, class View>
Outcome<T> solve(const Trikkos::Tridiagonal<View>& A, const std::vector<T>& b,
                 const Options& options) {
  const TEST_EXECSPACE exec;
  const auto b_view = Reference::to_device(exec, b);
  const Kokkos::View<T*, TEST_EXECSPACE> x("x", b.size());
  const Trikkos::Status status = Trikkos::solve(exec, A, b_view, x, options);
  Outcome<T> r{Reference::to_host(x), status, 0};
  auto host_A = Reference::to_host(A);
  if (options.transpose() != Transpose::none)
    host_A = Reference::transpose(host_A, options.transpose() == Transpose::conjugate_transpose);
  r.eta = fast_backward_error(host_A, r.x, b);
  return r;
}

/// 1e-14 in double, and as many units in the last place in other precisions.
template <class T>
constexpr double gate = 1e-14 / 2.2e-16 * std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon();

constexpr std::int64_t partition_sizes[] = {0, 2, 3, 7, 8, 15, 16, 31, 32, 64, 66, 100, 128, 512};

inline std::string describe(const std::string& matrix, std::int64_t n, std::int64_t partition_size,
                            const char* rhs = "") {
  return matrix + ", n = " + std::to_string(n) + ", partitions of " +
         std::to_string(partition_size) + rhs;
}

/// b random, which hides a loss of digits behind a huge x, and b = A x, which does not.
template <class View>
auto right_hand_sides(const Trikkos::Tridiagonal<View>& A, std::uint64_t seed) {
  using T = typename View::non_const_value_type;
  const auto random = Reference::to_host(
      Trikkos::gallery_rhs<T>(TEST_EXECSPACE{}, static_cast<std::int64_t>(A.diag.extent(0)), seed));
  return std::array{random, Reference::multiply(Reference::to_host(A), random)};
}

/// eta within the gate; or, where x itself leaves the number range, a status that says so.
template <class T>
void expect_stable(const Outcome<T>& r, const Reference::HostSystem<T>& A,
                   const std::vector<T>& b) {
  if (r.status.ok()) {
    EXPECT_LE(r.eta, gate<T>);
    return;
  }
  const auto exact = Reference::solve_wide(A, b);
  constexpr double largest = std::numeric_limits<Trikkos::Impl::Real<T>>::max();
  EXPECT_TRUE(exact.zero_pivot >= 0 || !(Reference::max_norm(exact.x) < 1e-8 * largest))
      << "x is representable, but the status is " << r.status.why();
}

// ---- the gates of the SC'12 paper's matrices

template <class T>
void table_iii(Gallery type, std::int64_t n, int seeds) {
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto A = Trikkos::gallery<T>(TEST_EXECSPACE{}, type, n, seed);
    const auto host_A = Reference::to_host(A);
    const auto rhs = right_hand_sides(A, seed);
    for (const std::int64_t partition_size : partition_sizes) {
      const auto options = Options{}.algorithm(Algorithm::segmented).partition_size(partition_size);
      for (int k = 0; k < 2; ++k) {
        SCOPED_TRACE(describe(Trikkos::name(type), n, partition_size, k ? ", b = A x" : ""));
        expect_stable(solve(A, rhs[k], options), host_A, rhs[k]);
      }
    }
  }
}

/// The relative residual beside that of elimination with row exchanges. For the worst-conditioned
/// types both are rounding noise of a huge x, and their ratio in a single draw may be 1000 or
/// 1/1000 by luck. In half of many draws it is within the gate.
void compare_residuals(Gallery type) {
  constexpr std::int64_t n = 512;
  std::map<std::int64_t, std::vector<double>> ratios;
  for (int seed = 1; seed <= 15; ++seed) {
    const auto A = Trikkos::gallery<double>(TEST_EXECSPACE{}, type, n, seed);
    const auto host_A = Reference::to_host(A);
    const auto b = Reference::to_host(Trikkos::gallery_rhs<double>(TEST_EXECSPACE{}, n, seed));
    const auto exchanged = Reference::solve_in<double>(host_A, b);
    const double row_exchanges = fast_relative_residual(host_A, exchanged, b);
    if (!std::isfinite(row_exchanges)) continue;  // some of type 14 leave the number range
    for (const std::int64_t partition_size : {0, 2, 7, 8, 16, 31, 66, 512}) {
      const auto r = solve(A, b, Options{}.partition_size(partition_size));
      ratios[partition_size].push_back(fast_relative_residual(host_A, r.x, b) / row_exchanges);
      EXPECT_TRUE(std::isfinite(ratios[partition_size].back()));
    }
  }
  for (auto& [partition_size, r] : ratios) {
    EXPECT_GE(r.size(), 8);
    std::sort(r.begin(), r.end());
    EXPECT_LE(r[r.size() / 2], static_cast<int>(type) + 1 >= 14 ? 100 : 10)
        << describe(Trikkos::name(type), n, partition_size);
  }
}

TEST(TEST_CATEGORY, segmented_meets_the_gates_of_table_iii) {
  for (const Gallery type : Trikkos::table_iii) table_iii<double>(type, 512, 2);
}

TEST(TEST_CATEGORY, segmented_leaves_the_residuals_of_row_exchanges) {
  for (const Gallery type : Trikkos::table_iii)
    if (type != Gallery::dorr) compare_residuals(type);  // 13: the paper has no residual to compare
}

TEST(TEST_CATEGORY, segmented_meets_the_gates_of_table_iii_read_entrywise) {
  for (const Gallery type : {Gallery::toeplitz_1e8_entrywise, Gallery::toeplitz_64_entrywise,
                             Gallery::toeplitz_1e_8_entrywise, Gallery::zero_diagonal_entrywise})
    table_iii<double>(type, 512, 3);
}

TEST(TEST_CATEGORY, segmented_meets_the_gates_of_table_iii_at_scale) {
  for (const Gallery type : Trikkos::table_iii)
    if (Trikkos::Impl::randsvd_mode(type) == 0) table_iii<double>(type, 1 << 17, 1);
}

TEST(TEST_CATEGORY, segmented_gates_scale_with_precision) {
  for (const Gallery type : Trikkos::table_iii) {
    table_iii<float>(type, 512, 1);
    table_iii<Kokkos::complex<float>>(type, 512, 1);
    table_iii<Kokkos::complex<double>>(type, 512, 1);
  }
}

/// The judge must be able to say no.
TEST(TEST_CATEGORY, segmented_gates_reject_elimination_without_pivoting) {
  const TEST_EXECSPACE exec;
  for (const Gallery type :
       {Gallery::toeplitz_1e_8_entrywise, Gallery::zero_diagonal_toeplitz, Gallery::clement}) {
    SCOPED_TRACE(Trikkos::name(type));
    const auto A = Trikkos::gallery<double>(exec, type, 512, 1);
    const auto rhs = right_hand_sides(A, 1);
    const auto r = solve(A, rhs[1], Options{}.algorithm(Algorithm::thomas));
    EXPECT_FALSE(r.eta <= gate<double>);
    EXPECT_FALSE(r.status.ok());
  }
}

// ---- matrices built against tiles

TEST(TEST_CATEGORY, segmented_pivots_across_partition_edges) {
  const TEST_EXECSPACE exec;
  for (const Gallery type :
       {Gallery::diagonal_0101, Gallery::zero_coupling, Gallery::singular_blocks,
        Gallery::nearly_singular_blocks, Gallery::zero_diagonal_entrywise}) {
    for (const std::int64_t n : {62, 64, 248, 510, 512, 992, 1920, 4096}) {
      for (const std::int64_t partition_size : {0, 2, 3, 4, 5, 8, 15, 16, 31, 32, 64}) {
        for (const std::int64_t block : {partition_size, std::int64_t{15}, std::int64_t{31}}) {
          if (block < 3) continue;
          SCOPED_TRACE(describe(Trikkos::name(type), n, partition_size) + ", blocks of " +
                       std::to_string(block));
          const auto A = Trikkos::gallery<double>(exec, type, n, 3, Boundary::open, block);
          const auto host_A = Reference::to_host(A);
          const auto rhs = right_hand_sides(A, 3);
          for (const auto& b : rhs)
            expect_stable(solve(A, b, Options{}.partition_size(partition_size)), host_A, b);
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, segmented_survives_the_ends_of_the_number_range) {
  const TEST_EXECSPACE exec;
  for (const Gallery type : {Gallery::random_row_scaling, Gallery::graded_rows,
                             Gallery::near_overflow, Gallery::near_underflow, Gallery::subnormal}) {
    for (const std::int64_t n : {1, 2, 3, 64, 512, 1000, 10007}) {
      for (const std::int64_t partition_size : {0, 8, 31}) {
        SCOPED_TRACE(describe(Trikkos::name(type), n, partition_size, ", b = A x"));
        const auto A = Trikkos::gallery<double>(exec, type, n, 5);
        const auto b = right_hand_sides(A, 5)[1];
        expect_stable(solve(A, b, Options{}.partition_size(partition_size)), Reference::to_host(A),
                      b);
      }
    }
  }
}

/// Couplings that fade from row to row, slowly or at once, below the number range: an implicit step
/// in time, long or short. Rows in the middle are coupled by their neighbours only. b = A x is zero
/// but in places, where x fades as well.
template <class T>
void couplings_fade() {
  constexpr std::int64_t n = 9001;
  for (const double diagonal : {1.0, 2.5, 30., 1e3, 1e5, 1e9, 1e20})
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      auto host_A = Reference::to_host(
          Trikkos::gallery<T>(TEST_EXECSPACE{}, Gallery::uniform, n, 3, boundary));
      for (auto& d : host_A.diag) d = T(diagonal) + d;
      for (std::int64_t i = n / 2; i < n / 2 + 40; ++i) host_A.diag[i] = T(0);
      const auto A = Reference::to_device(TEST_EXECSPACE{}, host_A);
      const auto x = Reference::to_host(Trikkos::gallery_rhs<T>(TEST_EXECSPACE{}, n, 7));
      const auto b = Reference::multiply(host_A, x);
      auto places = b;
      for (std::int64_t i = 0; i < n; ++i)
        if (i % 1000 != 7) places[i] = T(0);
      for (const auto scaling : {Trikkos::Scaling::rows, Trikkos::Scaling::none})
        for (const std::int64_t partition_size : {0, 15}) {
          if (scaling == Trikkos::Scaling::none && diagonal > 1e9) continue;  // squares overflow
          SCOPED_TRACE("diagonal " + std::to_string(diagonal) + ", " +
                       describe(Trikkos::name(boundary), n, partition_size) +
                       (scaling == Trikkos::Scaling::none ? ", not scaled" : ""));
          const auto options = Options{}
                                   .algorithm(Algorithm::segmented)
                                   .scaling(scaling)
                                   .partition_size(partition_size);
          expect_stable(solve(A, b, options), host_A, b);
          expect_stable(solve(A, places, options), host_A, places);
        }
    }
}
TEST(TEST_CATEGORY, segmented_where_couplings_fade) {
  couplings_fade<double>();
  couplings_fade<float>();
  couplings_fade<Kokkos::complex<double>>();
}

// ---- sizes, boundaries, transposition, scalars

template <class T>
void every_form(std::int64_t n, std::int64_t partition_size) {
  const TEST_EXECSPACE exec;
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = Trikkos::gallery<T>(exec, Gallery::uniform, n, n + 1, boundary);
    const auto b = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, n));
    for (const Transpose op :
         {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
      if (op == Transpose::conjugate_transpose && !Trikkos::Impl::is_complex_v<T>) continue;
      SCOPED_TRACE(describe(Trikkos::name(boundary), n, partition_size) + ", op " +
                   std::to_string(static_cast<int>(op)));
      const auto r = solve(A, b, Options{}.partition_size(partition_size).transpose(op));
      EXPECT_TRUE(r.status.ok()) << r.status.why();
      EXPECT_LE(r.eta, gate<T>);
    }
  }
}

TEST(TEST_CATEGORY, segmented_solves_every_small_size) {
  for (std::int64_t n = 0; n <= 70; ++n)
    for (const std::int64_t partition_size : {0, 2, 3, 8, 15}) {
      every_form<double>(n, partition_size);
      if (n < 20) {
        every_form<float>(n, partition_size);
        every_form<Kokkos::complex<float>>(n, partition_size);
        every_form<Kokkos::complex<double>>(n, partition_size);
      }
    }
}

/// Tiles of a device, groups of the coarse tree, lanes and groups of the host, one up and down.
template <class T>
void sizes_around_thresholds() {
  constexpr std::int64_t lanes = Trikkos::Impl::lane_count<T>;
  for (const std::int64_t threshold :
       {lanes * 66, lanes * 264, 4 * lanes * 264, std::int64_t(64 * 15), std::int64_t(32 * 64 * 15),
        std::int64_t(128 * 240), Trikkos::Impl::OrthogonalCarry::longest_from_both_ends})
    for (const std::int64_t d : {-1, 0, 1}) every_form<T>(threshold + d, 0);
  // a tile of given partitions: of a device, and of a host, whose lanes chain some partitions
  for (const std::int64_t partition_size : {2, 8, 64, 100}) {
    const Trikkos::Impl::HostShape host(Trikkos::Impl::OrthogonalCarry{}, 1 << 20, partition_size,
                                        lanes);
    for (const std::int64_t tile : {host.tile_rows(), 4 * host.tile_rows(), 64 * partition_size})
      for (const std::int64_t d : {-1, 0, 1}) every_form<T>(tile + d, partition_size);
  }
}

/// The same system from every tenth word has the same bits. What A does not hold is not a number.
template <class T>
void end_anywhere(std::int64_t first, std::int64_t last) {
  const TEST_EXECSPACE exec;
  for (std::int64_t n = first; n <= last; ++n) {
    SCOPED_TRACE("n = " + std::to_string(n));
    auto host_A = Reference::to_host(Trikkos::gallery<T>(exec, Gallery::uniform, n, n));
    host_A.lower.front() = host_A.upper.back() = std::numeric_limits<double>::quiet_NaN();
    const auto A = Reference::to_device(exec, host_A);
    const auto b = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, n));
    const auto r = solve(A, b, Options{}.algorithm(Algorithm::segmented));
    EXPECT_TRUE(r.status.ok()) << r.status.why();
    EXPECT_LE(r.eta, gate<T>);

    const Kokkos::View<T**, Kokkos::LayoutLeft, TEST_EXECSPACE> words("words", 10, n);
    const auto every_tenth = [&](int k) { return Kokkos::subview(words, k, Kokkos::ALL); };
    ::Test::copy(every_tenth(0), A.lower);
    ::Test::copy(every_tenth(1), A.diag);
    ::Test::copy(every_tenth(2), A.upper);
    ::Test::copy(every_tenth(3), Reference::to_device(exec, b));
    const auto status =
        Trikkos::solve(exec, Trikkos::Tridiagonal{every_tenth(0), every_tenth(1), every_tenth(2)},
                       every_tenth(3), every_tenth(4), Options{}.algorithm(Algorithm::segmented));
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(Reference::to_host(every_tenth(4)), r.x);
  }
}
/// Tiles that are moved in bulk, and completed with rows that change no bit; and short systems,
/// that a host solves from both ends.
template <class T>
void systems_end_anywhere() {
  end_anywhere<T>(5757, 5777);
  end_anywhere<T>(1, 20);
  end_anywhere<T>(1019, 1028);
}
TEST(TEST_CATEGORY, segmented_ends_anywhere) {
  systems_end_anywhere<double>();
  systems_end_anywhere<float>();
  systems_end_anywhere<Kokkos::complex<float>>();
  systems_end_anywhere<Kokkos::complex<double>>();
}

TEST(TEST_CATEGORY, segmented_solves_sizes_around_its_thresholds) {
  sizes_around_thresholds<float>();
  sizes_around_thresholds<double>();
  sizes_around_thresholds<Kokkos::complex<double>>();
  every_form<double>(100003, 0);
  every_form<double>(100003, 3);
}

TEST(TEST_CATEGORY, segmented_agrees_with_the_reference) {
  const TEST_EXECSPACE exec;
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = Trikkos::gallery<double>(exec, Gallery::uniform_dominant, 5003, 9, boundary);
    const auto b = Reference::to_host(Trikkos::gallery_rhs<double>(exec, 5003, 9));
    const auto r = solve(A, b, Options{});
    EXPECT_LE(Reference::relative_difference(r.x, Reference::solve(Reference::to_host(A), b)),
              1e-14);
  }
}

TEST(TEST_CATEGORY, segmented_solves_millions_of_unknowns) {
  const TEST_EXECSPACE exec;
  const std::int64_t n = 3000017;
  for (const Gallery type : {Gallery::uniform, Gallery::uniform_dominant}) {
    const auto A = Trikkos::gallery<double>(exec, type, n, 2);
    const auto b = Trikkos::gallery_rhs<double>(exec, n, 2);
    const Kokkos::View<double*, TEST_EXECSPACE> x("x", n);
    EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
    EXPECT_LE(Trikkos::backward_error(exec, A, x, b), 1e-15);
  }
}

/// Long partitions are divided: what a carry of their length would lose is not lost.
TEST(TEST_CATEGORY, segmented_takes_long_partitions) {
  const TEST_EXECSPACE exec;
  for (const std::int64_t partition_size : {65, 66, 67, 128, 1000, 10000, 1000000}) {
    every_form<double>(50000, partition_size);
    const auto A = Trikkos::gallery<double>(exec, Gallery::diagonal_0101, 50000);
    const auto b = right_hand_sides(A, 1)[1];
    const auto r = solve(A, b, Options{}.partition_size(partition_size));
    EXPECT_TRUE(r.status.ok()) << r.status.why();
    EXPECT_LE(r.eta, gate<double>);
  }
}

TEST(TEST_CATEGORY, segmented_is_reproducible) {
  const TEST_EXECSPACE exec;
  const auto A = Trikkos::gallery<double>(exec, Gallery::uniform, 200003, 7);
  const auto b = Reference::to_host(Trikkos::gallery_rhs<double>(exec, 200003, 7));
  const auto first = solve(A, b, Options{});
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(solve(A, b, Options{}).x, first.x);
}

// ---- many right-hand sides

template <class T, class Layout>
void many_right_hand_sides(std::int64_t n, std::int64_t count, Boundary boundary) {
  SCOPED_TRACE(std::to_string(count) + " right-hand sides, n = " + std::to_string(n));
  const TEST_EXECSPACE exec;
  const auto A = Trikkos::gallery<T>(exec, Gallery::uniform, n, 4, boundary);
  const auto host_A = Reference::to_host(A);
  const Kokkos::View<T**, Layout, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  const auto host_b = Kokkos::create_mirror_view(b);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto one = Reference::to_host(Trikkos::gallery_rhs<T>(exec, n, k));
    for (std::int64_t i = 0; i < n; ++i) host_b(k, i) = one[i];
  }
  ::Test::copy(b, host_b);
  EXPECT_TRUE(Trikkos::solve(exec, A, b, x).ok());
  const auto host_x = ::Test::host_copy(x);
  for (std::int64_t k = 0; k < count; k += std::max<std::int64_t>(1, count / 7)) {
    std::vector<T> one_x(n), one_b(n);
    for (std::int64_t i = 0; i < n; ++i) {
      one_x[i] = host_x(k, i);
      one_b[i] = host_b(k, i);
    }
    EXPECT_LE(Reference::backward_error(host_A, one_x, one_b), gate<T>) << "system " << k;
  }
}

TEST(TEST_CATEGORY, segmented_solves_many_right_hand_sides) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {1, 2, 17, 1000, 9001}) {
      for (const std::int64_t count : {0, 1, 2, 7, 64}) {
        many_right_hand_sides<double, Kokkos::LayoutLeft>(n, count, boundary);
        many_right_hand_sides<double, Kokkos::LayoutRight>(n, count, boundary);
      }
      many_right_hand_sides<Kokkos::complex<double>, Kokkos::LayoutRight>(n, 3, boundary);
    }
  many_right_hand_sides<double, Kokkos::LayoutRight>(100, 1009, Boundary::open);
}

}  // namespace Test::Segmented
