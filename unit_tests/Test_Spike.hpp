// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Promise.hpp>
#include <map>
#include <random>

/// \file
/// Algorithm::spike: the accuracy of the SC'12 paper's Tables III and IV, what refinement makes of
/// it, and that its Status knows where pivoting within partitions does not suffice. Sizes, forms
/// and options are in Test_SpikeForms.hpp.

namespace Test::Spike {

using Reference::HostSystem;
using Test::describe;
using Trikkos::Algorithm;
using Trikkos::Gallery;
using Trikkos::Marshaling;
using Trikkos::Options;
using Trikkos::Pivoting;
using Reason = Trikkos::Status::Reason;

Options spike(std::int64_t partition_size) {
  return Options{}.algorithm(Algorithm::spike).partition_size(partition_size);
}

/// The ways of one partition size through the code of a backend.
std::vector<Options> ways(std::int64_t partition_size) {
  const Options o = spike(partition_size);
  if (Trikkos::Impl::is_host_v<TEST_EXECSPACE>) return {o};
  return {o, Options(o).spike({.marshaling = Marshaling::global}),
          Options(o).spike({.marshaling = Marshaling::none}),
          Options(o).spike({.marshaling = Marshaling::global, .dynamic_tiling = 4}),
          Options(o).spike({.marshaling = Marshaling::none, .dynamic_tiling = 5})};
}

std::string describe(Gallery type, std::int64_t n, const Options& options, int rhs = 0) {
  return std::string(name(type)) + ", n " + std::to_string(n) + ", " + describe(options) +
         (rhs ? ", b = A x" : ", random b");
}

void expect_good(const Outcome<double>& r, double bound) {
  EXPECT_TRUE(r.ok()) << r;
  EXPECT_LE(r.eta, bound);
}

// ---- the paper's matrices

/// Of 512 rows; made once, as the randsvd types take their time.
const HostSystem<double>& paper(Gallery type, int seed) {
  static std::map<std::pair<Gallery, int>, HostSystem<double>> made;
  const auto [at, is_new] = made.try_emplace({type, seed});
  if (is_new) at->second = gallery(type, 512, seed);
  return at->second;
}

/// Table IV: 512 rows, random b, the worst relative residual (equation 13) of five matrices beside
/// the worst one of row exchanges; within 10 times that for types 1 to 12 and 100 for 14 to 16. As
/// in the paper in 64 partitions, of 8 rows; in others, where both are a few units in the last
/// place of a huge x and the better one a matter of luck, with a step of refinement.
void table_iv(Gallery type) {
  constexpr std::int64_t n = 512;
  constexpr int seeds = 5;
  const auto number = static_cast<int>(type) + 1;
  double row_exchanges = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto b = random_rhs(n, seed);
    const auto x = Reference::solve_in<double>(paper(type, seed), b);
    row_exchanges = std::max(row_exchanges, Reference::relative_residual(paper(type, seed), x, b));
  }
  EXPECT_TRUE(std::isfinite(row_exchanges));
  for (const std::int64_t partition_size : {8, 2, 16, 32, 64}) {
    for (Options options : ways(partition_size)) {
      for (const int steps : {0, 1}) {
        options.refine(steps);
        SCOPED_TRACE(describe(type, n, options));
        double worst = 0;
        for (int seed = 1; seed <= seeds; ++seed) {
          const auto& A = paper(type, seed);
          const auto b = random_rhs(n, seed);
          const auto r = solve(A, b, options);
          EXPECT_TRUE(is_finite(r.x));
          if (number >= 8) {
            EXPECT_LE(r.eta, 1e-15);
          }
          worst = std::max(worst, Reference::relative_residual(A, r.x, b));
        }
        if (type != Gallery::dorr && (partition_size == 8 || steps == 1)) {
          EXPECT_LE(worst, (number >= 14 ? 100 : 10) * row_exchanges);
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, spike_meets_the_gates_of_table_iv) {
  for (const Gallery type : Trikkos::table_iii) table_iv(type);
}

/// ... and of a backward error, with one step of refinement. In types 14 to 16 the diagonal is zero
/// or nearly, and partitions are singular, those of an odd size by themselves: there the Status may
/// say that x is not good, but not that a bad one is; and not always.
TEST(TEST_CATEGORY, spike_refined_meets_the_gates_of_table_iii) {
  for (const Gallery type : Trikkos::table_iii) {
    const bool hard = static_cast<int>(type) + 1 >= 14;
    int solves = 0, flagged = 0;
    for (int seed = 1; seed <= 3; ++seed) {
      const auto& A = paper(type, seed);
      const auto rhs = right_hand_sides(A, seed);
      for (const std::int64_t partition_size : {0, 2, 7, 8, 15, 16, 31, 32, 64, 100, 512}) {
        const auto options = spike(partition_size).refine(1);
        for (int k = 0; k < 2; ++k) {
          SCOPED_TRACE(describe(type, 512, options, k));
          const auto r = solve(A, rhs[k], options);
          ++solves;
          flagged += !r.ok();
          if (!hard || r.ok()) expect_good(r, 1e-14);
        }
      }
    }
    EXPECT_LE(2 * flagged, solves) << name(type);
  }
}

// ---- partitions that are singular, or nearly

HostSystem<double> with_diagonal(HostSystem<double> A, double value) {
  for (double& d : A.diag) d = value;
  return A;
}

/// (l, 0, u): the partitions of odd size are singular, the matrix is not.
TEST(TEST_CATEGORY, spike_flags_singular_partitions) {
  for (const Gallery type : {Gallery::clement, Gallery::zero_diagonal_toeplitz,
                             Gallery::zero_diagonal_entrywise, Gallery::poisson}) {
    for (const std::int64_t n : {62, 512, 4096}) {
      const auto A = with_diagonal(gallery(type, n, 3), 0);
      for (const auto& b : right_hand_sides(A, 3)) {
        for (const std::int64_t partition_size : {3, 5, 7, 15, 31, 33}) {
          for (const int steps : {0, 2}) {
            for (Options options : ways(partition_size)) {
              SCOPED_TRACE(describe(type, n, options.refine(steps)));
              const auto r = solve(A, b, options);
              EXPECT_FALSE(r.ok()) << r;
              EXPECT_EQ(r.status.reason, Reason::unstable);
              EXPECT_EQ(r.status.row, 0);
            }
          }
        }
      }
    }
  }
}

/// What passes is good to the tolerance of the test on a partition's ends, 2^20 units in the last
/// place.
TEST(TEST_CATEGORY, spike_flags_nearly_singular_partitions) {
  int flagged = 0, passed = 0;
  for (const Gallery type : {Gallery::zero_diagonal_toeplitz, Gallery::zero_diagonal_entrywise,
                             Gallery::poisson, Gallery::uniform}) {
    for (const double diagonal : {1e-4, 1e-8, 1e-12, 1e-16}) {
      for (int seed = 1; seed <= 2; ++seed) {
        const auto A = with_diagonal(gallery(type, 512, seed), diagonal);
        for (const auto& b : right_hand_sides(A, seed)) {
          for (const std::int64_t partition_size : {3, 7, 15, 16, 31, 33}) {
            for (const Options& options : ways(partition_size)) {
              SCOPED_TRACE(describe(type, 512, options) + ", diagonal " + std::to_string(diagonal));
              const auto r = solve(A, b, options);
              ++(r.ok() ? passed : flagged);
              if (r.ok()) {
                EXPECT_LE(r.eta, Breaker::promised<double>({options}));
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(flagged, 100);
  EXPECT_GT(passed, 100);
}

// ---- the judge must be able to say no

TEST(TEST_CATEGORY, spike_gates_reject_partitions_without_pivoting) {
  for (const Gallery type : {Gallery::toeplitz_1e_8_entrywise, Gallery::clement,
                             Gallery::zero_diagonal_toeplitz, Gallery::uniform}) {
    const auto A = gallery(type, 512, 1);
    const auto b = right_hand_sides(A, 1)[1];
    for (const std::int64_t partition_size : {0, 8, 32, 64}) {
      for (Options options : ways(partition_size)) {
        SCOPED_TRACE(describe(type, 512, with(options, Pivoting::none), 1));
        const auto r = solve(A, b, with(options, Pivoting::none));
        EXPECT_FALSE(r.ok());
        EXPECT_EQ(r.status.reason, Reason::unstable);
        if (type != Gallery::uniform) {
          EXPECT_FALSE(r.eta <= 1e-14) << r;
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, spike_needs_no_pivoting_in_dominant_matrices) {
  for (const Gallery type : {Gallery::uniform_dominant, Gallery::poisson, Gallery::toeplitz_1e8,
                             Gallery::toeplitz_64, Gallery::inverse_kms, Gallery::lesp}) {
    for (const std::int64_t n : {512, 10007}) {
      const auto A = gallery(type, n, 2);
      for (const auto& b : right_hand_sides(A, 2)) {
        for (const std::int64_t partition_size : {0, 2, 3, 7, 8, 16, 31, 64, 100, 1000, 20000}) {
          for (const Options& way : ways(partition_size)) {
            const Options options = with(way, Pivoting::none);
            SCOPED_TRACE(describe(type, n, options));
            expect_good(solve(A, b, options), 1e-15);
          }
        }
      }
    }
  }
}

// ---- 2x2 pivots at the ends of the number range

/// (1, d, -1) with random signs, row i times 2^exponent(i): determinants of 2x2 blocks would leave
/// the range. x does not notice, so it is judged by the matrix before scaling.
template <class Exponent>
void scaled_rows(double diagonal, const char* what, const Exponent& exponent) {
  constexpr std::int64_t n = 512;
  std::mt19937 random(7);
  HostSystem<double> A{std::vector<double>(n), std::vector<double>(n, diagonal),
                       std::vector<double>(n)};
  for (std::int64_t i = 0; i < n; ++i) {
    A.lower[i] = random() % 2 ? 1 : -1;
    A.upper[i] = random() % 2 ? 1 : -1;
  }
  const auto b = right_hand_sides(A, 1)[1];
  auto scaled_A = A;
  auto scaled_b = b;
  for (std::int64_t i = 0; i < n; ++i)
    for (double* const v :
         {&scaled_A.lower[i], &scaled_A.diag[i], &scaled_A.upper[i], &scaled_b[i]})
      *v = std::ldexp(*v, exponent(i));
  for (const std::int64_t partition_size : {0, 2, 8, 16, 32, 64, 512}) {
    for (const Options& options : ways(partition_size)) {
      SCOPED_TRACE(std::string(what) + ", diagonal " + std::to_string(diagonal) + ", " +
                   describe(options));
      const auto r = solve(scaled_A, scaled_b, options);
      EXPECT_TRUE(is_finite(r.x));
      EXPECT_TRUE(r.ok()) << r;
      EXPECT_LE(Reference::backward_error(A, r.x, b), 1e-14);
    }
  }
}

TEST(TEST_CATEGORY, spike_forms_no_determinants) {
  for (const double diagonal : {0., 1e-20, 1e-8}) {  // 2^996 = 7e299, 2^498 = 8e149
    scaled_rows(diagonal, "1", [](std::int64_t) { return 0; });
    scaled_rows(diagonal, "1e300", [](std::int64_t) { return 996; });
    scaled_rows(diagonal, "1e-300", [](std::int64_t) { return -996; });
    scaled_rows(diagonal, "1e150, 1e-150", [](std::int64_t i) { return i % 2 ? -498 : 498; });
    scaled_rows(diagonal, "1e300, 1e-300", [](std::int64_t i) { return i / 2 % 2 ? -996 : 996; });
  }
}

// ---- independent systems, one after the other

/// Appends a system; couplings between systems are 0.
void append(HostSystem<double>& all, HostSystem<double> one) {
  one.lower.front() = one.upper.back() = 0;
  all.lower.insert(all.lower.end(), one.lower.begin(), one.lower.end());
  all.diag.insert(all.diag.end(), one.diag.begin(), one.diag.end());
  all.upper.insert(all.upper.end(), one.upper.begin(), one.upper.end());
}
template <class V>
V slice(const V& v, std::int64_t first, std::int64_t n) {
  return V(v.begin() + first, v.begin() + first + n);
}

/// Systems of 1 to 50 rows that partitions cut anywhere. With `even`, those of an even number of
/// rows only, by turns with a zero diagonal: their halves in even partitions are not singular.
void irregular_systems(bool even, const std::vector<std::int64_t>& partition_sizes) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    HostSystem<double> A;
    std::vector<std::int64_t> first{0};
    while (A.size() < 3000) {
      const std::int64_t n = even ? 2 * (1 + random() % 25) : 1 + random() % 50;
      const auto kind = random() % 3;
      const Gallery type = kind == 0 ? Gallery::uniform : Gallery::uniform_dominant;
      auto one = gallery(type, n, random());
      // sizes 0.5 to 1, so that every system is well-conditioned
      if (even && kind == 2)
        for (std::int64_t i = 0; i < n; ++i) {
          one.diag[i] = 0;
          one.lower[i] = one.upper[i] = 1 - 0.5 * std::ldexp(static_cast<double>(random()), -32);
        }
      append(A, one);
      first.push_back(A.size());
    }
    A.lower.front() = A.upper.back() = nan;  // not to be read
    const auto rhs = right_hand_sides(A, seed);
    for (const std::int64_t partition_size : partition_sizes) {
      for (Options options : ways(partition_size)) {
        options.refine(1);
        SCOPED_TRACE(describe(options) + ", seed " + std::to_string(seed));
        for (const auto& b : rhs) {
          const auto r = solve(A, b, options);
          EXPECT_TRUE(r.ok()) << r;
          for (std::size_t k = 0; k + 1 < first.size(); ++k) {
            const std::int64_t begin = first[k], n = first[k + 1] - begin;
            const HostSystem<double> block{slice(A.lower, begin, n), slice(A.diag, begin, n),
                                           slice(A.upper, begin, n)};
            const double eta =
                Reference::backward_error(block, slice(r.x, begin, n), slice(b, begin, n));
            EXPECT_TRUE(eta <= 1e-14) << "system " << k << " of " << n << " rows: " << eta;
          }
        }
      }
    }
  }
}

TEST(TEST_CATEGORY, spike_solves_irregular_independent_systems) {
  irregular_systems(false, {0, 2, 3, 7, 8, 16, 31, 64, 100});
}
TEST(TEST_CATEGORY, spike_solves_irregular_independent_systems_with_zero_diagonals) {
  irregular_systems(true, {0, 2, 8, 16, 32, 64, 100});
}

}  // namespace Test::Spike
