// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Outcome.hpp>
#include <Trikkos_BackwardError.hpp>

/// \file
/// A solve gives the same bits on every instance of an execution space: with any number of threads
/// on a host, on every stream of a device. So the other tests run with one number of threads.

namespace Test::Threads {

using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;

template <class Exec>
std::vector<Exec> instances() {
  return Kokkos::Experimental::partition_space(Exec(), std::vector<int>{1, 1});
}
#ifdef KOKKOS_ENABLE_OPENMP
template <>
std::vector<Kokkos::OpenMP> instances() {
  std::vector<Kokkos::OpenMP> all;
  for (const int threads : {1, 2, 3, 4, 7}) all.emplace_back(threads);
  return all;
}
#endif

/// Everything that a solve of some right-hand sides leaves behind.
template <class T>
struct Left {
  std::vector<T> x;
  Trikkos::Status::Reason reason;
  std::int64_t row;
  double eta, measured;
};

template <class T>
void expect_same_bits(const Left<T>& a, const Left<T>& b) {
  EXPECT_EQ(std::memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(T)), 0);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.row, b.row);
  EXPECT_EQ(a.eta, b.eta);
  EXPECT_EQ(a.measured, b.measured);
}

template <class T>
class Problem {
 public:
  Problem(std::int64_t n, Boundary boundary, int count)
      : m_A(Trikkos::gallery<T>(m_exec, Gallery::uniform_dominant, n, 3, boundary)),
        m_b("b", count, n),
        m_x("x", count, n) {
    for (int k = 0; k < count; ++k)
      ::Test::copy(Kokkos::subview(m_b, k, Kokkos::ALL), Trikkos::gallery_rhs<T>(m_exec, n, k));
  }
  /// Two rows of zeros: the first one is to be named.
  void spoil() const {
    const auto n = static_cast<std::int64_t>(m_A.diag.extent(0));
    for (const std::int64_t row : {2 * n / 3, n / 3})
      for (const auto* const band : {&m_A.lower, &m_A.diag, &m_A.upper})
        ::Test::fill(Kokkos::subview(*band, row), T(0));
  }
  Left<T> solve(const TEST_EXECSPACE& exec, const Options& options) const {
    ::Test::fill(m_x, T(0));
    m_exec.fence();
    const auto s = Trikkos::solve(exec, m_A, m_b, m_x, options);
    const double measured = Trikkos::backward_error(exec, m_A, m_x, m_b);
    const Kokkos::View<T*, TEST_EXECSPACE> flat(m_x.data(), m_x.size());
    return {Reference::to_host(flat), s.reason, s.row, s.backward_error, measured};
  }

 private:
  TEST_EXECSPACE m_exec;
  Trikkos::Tridiagonal<Kokkos::View<T*, TEST_EXECSPACE>> m_A;
  Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> m_b, m_x;
};

template <class T>
void same_bits(const std::vector<std::int64_t>& sizes) {
  std::vector<Options> all;
  for (const auto algorithm : {Algorithm::segmented, Algorithm::truncated, Algorithm::spike,
                               Algorithm::pcr, Algorithm::thomas})
    for (const std::int64_t rows : {0, 3, 100})
      if (rows == 0 || algorithm == Algorithm::segmented || algorithm == Algorithm::spike)
        all.push_back(Options{}.algorithm(algorithm).partition_size(rows));
  all.push_back(Options{}.refine(2));
  all.push_back(Options{}.verify(1).scaling(Trikkos::Scaling::columns));
  const auto execs = instances<TEST_EXECSPACE>();
  for (const std::int64_t n : sizes) {
    std::vector<int> counts{1, 3};
    if (n == 2500 || n == 9001)  // in SIMD lanes, and few enough for threads to share them
      counts.push_back(Trikkos::Impl::lane_count<T> + 5);
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      for (const int count : counts)
        for (const bool spoilt : {false, true}) {
          const Problem<T> problem(n, boundary, count);
          if (spoilt) problem.spoil();
          for (const Options& options : all) {
            SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary) + ", " +
                         std::to_string(count) + (spoilt ? ", spoilt, " : ", ") +
                         describe(options));
            const Left<T> first = problem.solve(execs[0], options);
            EXPECT_EQ(first.reason == Trikkos::Status::Reason::none, !spoilt);
            for (std::size_t k = 1; k < execs.size(); ++k)
              expect_same_bits(problem.solve(execs[k], options), first);
          }
        }
  }
}

TEST(TEST_CATEGORY, threads_change_no_bit) {
  same_bits<double>({17, 1000, 2500, 9001, 100003});
  same_bits<float>({9001});
  same_bits<Kokkos::complex<float>>({9001});
  same_bits<Kokkos::complex<double>>({9001});
}

/// Contiguous systems of more than 8192 rows, which a host solves one by one: few of them all
/// threads share, of many each has its own.
TEST(TEST_CATEGORY, threads_change_no_bit_of_long_systems) {
  using Rows = Kokkos::View<double**, Kokkos::LayoutRight, TEST_EXECSPACE>;
  const std::int64_t n = 8500, lanes = Trikkos::Impl::lane_count<double>;
  for (const std::int64_t count : {lanes, 30 * lanes + 3}) {
    std::vector<Rows> all;
    for (int j = 0; j < 6; ++j) {
      all.emplace_back("rows", count, n);
      const Kokkos::View<double*, TEST_EXECSPACE> flat(all.back().data(), all.back().size());
      ::Test::copy(flat, Reference::to_device(TEST_EXECSPACE(), random_rhs<double>(count * n, j)));
    }
    const auto solved = [&](const TEST_EXECSPACE& exec, const auto& A) {
      const Rows x("x", count, n);
      Kokkos::fence();
      EXPECT_TRUE(Trikkos::solve(exec, A, all[5], x).ok());
      return Reference::to_host(Kokkos::View<double*, TEST_EXECSPACE>(x.data(), x.size()));
    };
    const Trikkos::Tridiagonal three{all[1], all[2], all[3]};
    const Trikkos::Pentadiagonal five{all[0], all[1], all[2], all[3], all[4]};
    const auto execs = instances<TEST_EXECSPACE>();
    const auto x3 = solved(execs[0], three), x5 = solved(execs[0], five);
    for (std::size_t k = 1; k < execs.size(); ++k) {
      EXPECT_EQ(solved(execs[k], three), x3) << count << " systems, instance " << k;
      EXPECT_EQ(solved(execs[k], five), x5) << count << " systems, instance " << k;
    }
  }
}

}  // namespace Test::Threads
