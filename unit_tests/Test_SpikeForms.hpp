// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Promise.hpp>

/// \file
/// Algorithm::spike in every size, scalar, boundary, transposition and View, with every option; and
/// bad numbers. How accurate it is where that is hard: Test_Spike.hpp.

namespace Test::SpikeForms {

using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Marshaling;
using Trikkos::Options;
using Trikkos::Pivoting;
using Trikkos::Transpose;
using Reason = Trikkos::Status::Reason;

constexpr bool on_host = Trikkos::Impl::is_host_v<TEST_EXECSPACE>;

Options spike(std::int64_t partition_size) {
  return Options{}.algorithm(Algorithm::spike).partition_size(partition_size);
}

/// Every combination of the options of `spike` that is allowed; those beyond the first few take
/// the same path on a host.
std::vector<Options> all_options(std::int64_t partition_size) {
  std::vector<Options> all;
  for (const auto pivoting : {Pivoting::diagonal, Pivoting::none})
    for (const auto marshaling :
         {Marshaling::automatic, Marshaling::on_chip, Marshaling::global, Marshaling::none})
      for (const std::int64_t tile : {std::int64_t(0), std::int64_t(1), std::int64_t(8),
                                      partition_size, partition_size + 100})
        if (marshaling != Marshaling::on_chip || (tile == 0 && partition_size <= 66))
          all.push_back(spike(partition_size).spike({pivoting, marshaling, tile}));
  return all;
}
/// The paths of a backend.
std::vector<Options> ways(std::int64_t partition_size) {
  const Options o = spike(partition_size);
  if (on_host) return {o};
  return {o, Options(o).spike({.marshaling = Marshaling::global}),
          Options(o).spike({.marshaling = Marshaling::none, .dynamic_tiling = 8})};
}

/// Solves with a dominant matrix, and with one that needs pivoting and refinement.
template <class T>
void every_form(std::int64_t n, Options options,
                std::initializer_list<Boundary> boundaries = {Boundary::open, Boundary::periodic}) {
  for (const Boundary boundary : boundaries) {
    for (const auto type : {Gallery::uniform_dominant, Gallery::uniform}) {
      const auto A = gallery<T>(type, n, n + 1, boundary);
      const auto b = random_rhs<T>(n, n);
      for (const auto op :
           {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose}) {
        if (op == Transpose::conjugate_transpose && !Trikkos::Impl::is_complex_v<T>) continue;
        options.transpose(op).refine(type == Gallery::uniform ? 1 : 0);
        SCOPED_TRACE("n " + std::to_string(n) + ", " + name(type) + ", " + name(boundary) + ", " +
                     describe(options));
        const auto r = solve(A, b, options);
        EXPECT_TRUE(r.ok()) << r;
        EXPECT_LE(r.eta, scaled<T>(type == Gallery::uniform ? 1e-14 : 1e-15));
      }
    }
  }
}

// ---- sizes

TEST(TEST_CATEGORY, spike_solves_every_small_size) {
  for (std::int64_t n = 0; n <= 70; n += n < 20 ? 1 : 3) {
    for (const std::int64_t partition_size : {0, 2, 3, 8, 16}) {
      for (const Options& options : ways(partition_size)) {
        every_form<double>(n, options);
        if (n >= 20) continue;
        every_form<float>(n, options);
        every_form<Kokkos::complex<float>>(n, options);
        every_form<Kokkos::complex<double>>(n, options);
      }
    }
  }
}

TEST(TEST_CATEGORY, spike_solves_sizes_around_its_thresholds) {
  const std::int64_t lanes = Trikkos::Impl::lane_count<double>;
  for (const std::int64_t rows : {2, 7, 8, 64}) {
    // a partition; the links and lanes of a host; segments that one thread chains, a device's team
    for (const std::int64_t partitions :
         {std::int64_t(1), 4 * lanes, std::int64_t(8), std::int64_t(64), std::int64_t(128)})
      for (const int d : {-1, 0, 1})
        for (const Options& options : ways(rows))
          every_form<double>(rows * partitions + d, options, {Boundary::open});
  }
  // defaults; tiles of a device, groups of a host
  for (const std::int64_t n : {4 * lanes * 66, 8 * 64l, 64 * 16l, 128 * 64l, 16 * lanes * 4 * 66})
    for (const int d : {-1, 0, 1})
      for (const Options& options : ways(0)) every_form<double>(n + d, options);
  // two and three levels of the tree of segments
  for (const std::int64_t n : {128 * 128 * 2 - 1, 128 * 128 * 2, 128 * 128 * 2 + 1})
    for (const Options& options : ways(2)) every_form<double>(n, options, {Boundary::periodic});
}

TEST(TEST_CATEGORY, spike_solves_primes_and_large_systems) {
  for (const std::int64_t n : {101, 997, 7919})
    for (const std::int64_t partition_size : {0, 5, 13, 64, 97, 1009})
      for (const Options& options : ways(partition_size)) every_form<double>(n, options);
  for (const std::int64_t partition_size : {0, 33})
    for (const Options& options : ways(partition_size))
      every_form<double>((1 << 17) + 1, options, {Boundary::open});
}

TEST(TEST_CATEGORY, spike_solves_in_every_scalar) {
  for (const std::int64_t n : {1000, 5003})
    for (const std::int64_t partition_size : {0, 8, 37, 100})
      for (const Options& options : ways(partition_size)) {
        every_form<float>(n, options);
        every_form<Kokkos::complex<float>>(n, options);
        every_form<Kokkos::complex<double>>(n, options);
      }
}

/// On a host, marshaling and tiling change no bit.
template <class T>
void every_option(std::int64_t n, std::int64_t partition_size) {
  const auto uniform = gallery<T>(Gallery::uniform, n, 5),
             dominant = gallery<T>(Gallery::uniform_dominant, n, 5);
  const auto b = random_rhs<T>(n, 6);
  std::vector<T> first[2];
  for (Options options : all_options(partition_size)) {
    const bool none = options.spike().pivoting == Pivoting::none;
    options.refine(none ? 0 : 1);
    SCOPED_TRACE("n " + std::to_string(n) + ", " + describe(options));
    const auto r = solve(none ? dominant : uniform, b, options);
    EXPECT_TRUE(r.ok()) << r;
    EXPECT_LE(r.eta, scaled<T>(none ? 1e-15 : 1e-14));
    if (first[none].empty()) first[none] = r.x;
    if (on_host) {
      EXPECT_EQ(r.x, first[none]);
    }
  }
}

TEST(TEST_CATEGORY, spike_takes_every_combination_of_options) {
  for (const std::int64_t n : {1, 2, 9, 1000, 5003})
    for (const std::int64_t partition_size : {0, 2, 8, 33, 66, 67, 300}) {
      every_option<double>(n, partition_size);
      if (n == 1000) {
        every_option<float>(n, partition_size);
        every_option<Kokkos::complex<double>>(n, partition_size);
      }
    }
}

TEST(TEST_CATEGORY, spike_is_reproducible) {
  const auto A = gallery(Gallery::uniform, 50021, 7);
  const auto b = random_rhs(50021, 7);
  for (const std::int64_t partition_size : {0, 8, 64}) {
    for (const Options& options : ways(partition_size)) {
      const auto first = solve(A, b, options);
      for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(solve(A, b, options).x, first.x);
    }
  }
}

// ---- Views

/// Bands, b and x with a stride; what lies between is not touched.
TEST(TEST_CATEGORY, spike_reads_strided_views) {
  const TEST_EXECSPACE exec;
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, TEST_EXECSPACE>;
  for (const std::int64_t n : {1, 2, 100, 3001}) {
    const auto A = gallery(Gallery::uniform_dominant, n, 3);
    const auto b = random_rhs(n, 3);
    const Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE> memory("memory", n, 7);
    const auto put = [&](int column, const std::vector<double>& v) {
      const Strided view = Kokkos::subview(memory, Kokkos::ALL, column);
      ::Test::copy(view, Reference::to_device(exec, v));
      return view;
    };
    for (const std::int64_t partition_size : {0, 2, 7, 32, 100}) {
      for (const Options& options : ways(partition_size)) {
        SCOPED_TRACE("n " + std::to_string(n) + ", " + describe(options));
        ::Test::fill(memory, -7.);
        const Trikkos::Tridiagonal<Strided> strided{put(1, A.lower), put(2, A.diag),
                                                    put(3, A.upper), Boundary::open};
        const Strided b_view = put(4, b), x = Kokkos::subview(memory, Kokkos::ALL, 5);
        EXPECT_TRUE(Trikkos::solve(exec, strided, b_view, x, options).ok());
        EXPECT_EQ(Reference::to_host(x), solve(A, b, options).x);
        for (const int column : {0, 6})
          EXPECT_EQ(Reference::to_host(Strided(Kokkos::subview(memory, Kokkos::ALL, column))),
                    std::vector<double>(n, -7.));
      }
    }
  }
}

/// x beside b, and in its place.
template <class T, class Layout>
void many_right_hand_sides(std::int64_t n, std::int64_t count, const Options& options) {
  SCOPED_TRACE(std::to_string(count) + " right-hand sides, n " + std::to_string(n) + ", " +
               describe(options));
  const TEST_EXECSPACE exec;
  const auto A = gallery<T>(Gallery::uniform_dominant, n, 4, Boundary::periodic);
  const auto A_view = Reference::to_device(exec, A);
  const Kokkos::View<T**, Layout, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  const auto host = Kokkos::create_mirror_view(b);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto one = random_rhs<T>(n, k);
    for (std::int64_t i = 0; i < n; ++i) host(k, i) = one[i];
  }
  ::Test::copy(b, host);
  EXPECT_TRUE(Trikkos::solve(exec, A_view, b, x, options).ok());
  EXPECT_TRUE(Trikkos::solve(exec, A_view, b, b, options).ok());
  const auto host_x = ::Test::host_copy(x);
  ::Test::copy(host, b);
  for (std::int64_t k = 0; k < count; k += std::max<std::int64_t>(1, count / 3)) {
    std::vector<T> beside(n);
    for (std::int64_t i = 0; i < n; ++i) {
      beside[i] = host_x(k, i);
      EXPECT_EQ(beside[i], host(k, i)) << "system " << k;
    }
    EXPECT_LE(Reference::backward_error(A, beside, random_rhs<T>(n, k)), scaled<T>(1e-15));
  }
}

TEST(TEST_CATEGORY, spike_solves_many_right_hand_sides) {
  for (const std::int64_t partition_size : {0, 8, 33}) {
    for (const Options& options : ways(partition_size)) {
      for (const std::int64_t n : {1, 3, 17, 1000, 3001}) {
        for (const std::int64_t count : {0, 1, 2, 40}) {
          many_right_hand_sides<double, Kokkos::LayoutLeft>(n, count, options);
          many_right_hand_sides<double, Kokkos::LayoutRight>(n, count, options);
        }
        many_right_hand_sides<Kokkos::complex<float>, Kokkos::LayoutLeft>(n, 3, options);
      }
      many_right_hand_sides<double, Kokkos::LayoutRight>(100, 1009, options);
    }
  }
}

TEST(TEST_CATEGORY, spike_serves_workspace_and_plan) {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t n = 3001;
  const auto A = gallery(Gallery::uniform_dominant, n, 3), other = gallery(Gallery::poisson, n);
  const auto b = random_rhs(n, 3);
  const Kokkos::View<double*, TEST_EXECSPACE> x("x", n);
  for (const std::int64_t partition_size : {0, 8, 33}) {
    for (const Options& options : ways(partition_size)) {
      Trikkos::Workspace work(exec, Reference::to_device(exec, A), x, options);
      Trikkos::Plan plan(exec, Reference::to_device(exec, A), options);
      EXPECT_EQ(work.algorithm(), Algorithm::spike);
      EXPECT_EQ(plan.algorithm(), Algorithm::spike);
      for (const auto& M : {other, A, A}) {
        const auto expected = solve(M, b, options).x;
        Trikkos::solve(exec, work, Reference::to_device(exec, M), Reference::to_device(exec, b), x);
        EXPECT_TRUE(work.status(exec).ok());
        EXPECT_EQ(Reference::to_host(x), expected);
        plan.update(exec, Reference::to_device(exec, M));
        Trikkos::solve(exec, plan, Reference::to_device(exec, b), x);
        EXPECT_TRUE(plan.status(exec).ok());
        EXPECT_EQ(Reference::to_host(x), expected);
      }
    }
  }
}

// ---- bad numbers

/// The row of a bad number is named, and the next solve knows nothing of it.
template <class T>
void bad_numbers(std::int64_t n, const Options& options) {
  const auto good = gallery<T>(Gallery::uniform_dominant, n, 3);
  const auto good_b = random_rhs<T>(n, 5);
  for (const std::int64_t row : {std::int64_t(0), n / 3, n - 2, n - 1}) {
    if (row < 0) continue;
    for (int where = 0; where < 5; ++where) {
      if ((where == 0 && row == 0) || (where == 2 && row == n - 1)) continue;  // outside
      for (const double bad :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        SCOPED_TRACE("n " + std::to_string(n) + ", row " + std::to_string(row) + ", where " +
                     std::to_string(where) + ", " + std::to_string(bad) + ", " + describe(options));
        auto A = good;
        auto b = good_b;
        if (where < 4)
          (where == 0 ? A.lower : where == 1 ? A.diag : where == 2 ? A.upper : b)[row] = T(bad);
        else
          A.lower[row] = A.diag[row] = A.upper[row] = T(0);
        const auto r = solve(A, b, options);
        EXPECT_EQ(r.status.reason, where < 4 ? Reason::not_finite : Reason::singular) << r;
        EXPECT_EQ(r.status.row, row) << r;
      }
    }
  }
}

TEST(TEST_CATEGORY, spike_names_rows_of_bad_numbers) {
  for (const std::int64_t n : {1, 2, 17, 1000, 9001}) {
    for (const std::int64_t partition_size : {0, 2, 7, 8, 100}) {
      if (n > 1000 && partition_size % 8 != 0) continue;  // 9001: several tiles or groups
      for (const Options& way : ways(partition_size)) {
        for (const auto pivoting : {Pivoting::diagonal, Pivoting::none}) {
          bad_numbers<double>(n, with(way, pivoting));
          if (n < 9001) bad_numbers<Kokkos::complex<float>>(n, with(way, pivoting));
        }
        bad_numbers<double>(n, with(way, Pivoting::none).refine(1));
      }
    }
  }
}

/// Whatever the matrix, singular ones included: what passes is good to the tolerance of the tests
/// within spike.
/// Returns how many passed.
template <class T>
int expect_honest(std::int64_t n, int seed, const Options& options, Boundary boundary) {
  int passed = 0;
  for (const Gallery type : Trikkos::gallery_types) {
    if (Trikkos::Impl::randsvd_mode(type) != 0 && (n > 100 || boundary == Boundary::periodic))
      continue;
    const auto A = gallery<T>(type, n, seed, boundary);
    for (const auto& b : right_hand_sides(A, seed)) {
      SCOPED_TRACE(std::string(name(type)) + ", n " + std::to_string(n) + ", " + name(boundary) +
                   ", " + describe(options));
      const auto r = solve(A, b, options);
      if (r.ok()) {
        ++passed;
        EXPECT_TRUE(is_finite(r.x));
        EXPECT_LE(r.eta, Breaker::promised<T>({options}));
      }
    }
  }
  return passed;
}

TEST(TEST_CATEGORY, spike_never_passes_a_wrong_solution) {
  int seed = 0, passed = 0;
  for (const std::int64_t n : {1, 2, 3, 8, 17, 64, 265, 1000})
    for (const std::int64_t partition_size : {0, 2, 3, 8, 31})
      for (const Options& way : ways(partition_size))
        for (const auto pivoting : {Pivoting::diagonal, Pivoting::none})
          for (const auto boundary : {Boundary::open, Boundary::periodic}) {
            const Options options = with(way, pivoting);
            passed += expect_honest<double>(n, ++seed, options, boundary);
            if (n >= 100) continue;
            passed += expect_honest<float>(n, seed, options, boundary);
            passed += expect_honest<Kokkos::complex<double>>(n, seed, options, boundary);
          }
  EXPECT_GT(passed, 10 * seed);  // of some 80 to 250 each time
}

}  // namespace Test::SpikeForms
