// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_RANKS_HPP
#define TRIKKOS_TEST_RANKS_HPP

#include <gtest/gtest.h>

#include <FastError.hpp>
#include <Mode.hpp>
#include <Outcome.hpp>
#include <Trikkos_Distributed.hpp>
#include <Trikkos_Views.hpp>
#include <string>
#include <vector>

/// \file
/// One matrix, known to every rank, cut into blocks of rows; what a solve of them left behind is
/// judged by rank 0.

// The kernels, compiled once for each scalar (Instances.cpp), where they are those of a host.
#ifndef KOKKOS_ENABLE_CUDA
#  define TRIKKOS_BLOCK_INSTANCES(EXTERN)                                    \
    EXTERN template class Trikkos::Impl::HostBlocks<float, TEST_EXECSPACE>;  \
    EXTERN template class Trikkos::Impl::HostBlocks<double, TEST_EXECSPACE>; \
    EXTERN template class Trikkos::Impl::HostBlocks<Kokkos::complex<double>, TEST_EXECSPACE>;
TRIKKOS_BLOCK_INSTANCES(extern)
#else
#  define TRIKKOS_BLOCK_INSTANCES(EXTERN)
#endif

namespace Test {

inline const MPI_Comm world = MPI_COMM_WORLD;

inline int rank() {
  int r = 0;
  MPI_Comm_rank(world, &r);
  return r;
}
inline int ranks() {
  int p = 1;
  MPI_Comm_size(world, &p);
  return p;
}
/// That of `mode`.
inline Trikkos::Impl::RootWay way() {
  using Trikkos::Impl::RootWay;
  return mode == Mode::tree     ? RootWay::in_groups(ranks())
         : mode == Mode::shared ? RootWay{.parts = 2}
                                : RootWay{};
}
/// Whether v is the same on all ranks.
inline bool is_common(std::int64_t v) {
  std::int64_t least = 0, most = 0;
  MPI_Allreduce(&v, &least, 1, MPI_INT64_T, MPI_MIN, world);
  MPI_Allreduce(&v, &most, 1, MPI_INT64_T, MPI_MAX, world);
  return least == most;
}

/// That of one rank, to all.
template <class T>
void broadcast(Reference::HostSystem<T>& A, std::int64_t n, int from) {
  for (std::vector<T>* band : {&A.lower, &A.diag, &A.upper}) {
    band->resize(n);
    MPI_Bcast(band->data(), static_cast<int>(n * sizeof(T)), MPI_BYTE, from, world);
  }
}

/// Rank r has the rows from [r] to [r + 1].
using Cut = std::vector<std::int64_t>;

inline Cut even_cut(std::int64_t n) {
  Cut first;
  for (int r = 0; r <= ranks(); ++r) first.push_back(n * r / ranks());
  return first;
}
/// The first cut at row c, then 1, 0, 2, 1, 0, 2, ... rows, and the rest.
inline Cut cut_at(std::int64_t n, std::int64_t c) {
  constexpr std::int64_t rows[] = {1, 0, 2};
  Cut first{0};
  for (int r = 1; r < ranks(); ++r)
    first.push_back(std::min(n, r == 1 ? c : first.back() + rows[(r - 2) % 3]));
  first.push_back(n);
  return first;
}
/// All rows on rank r.
inline Cut all_on(int r, std::int64_t n) {
  Cut first(static_cast<std::size_t>(ranks()) + 1, 0);
  for (std::size_t k = static_cast<std::size_t>(r) + 1; k < first.size(); ++k) first[k] = n;
  return first;
}
/// The same rows of all ranks but every other one, which have none.
inline Cut with_empty_ranks(std::int64_t n) {
  Cut first{0};
  for (int r = 0; r < ranks(); ++r)
    first.push_back(n * ((r + 1) / 2 * 2) / std::max(1, ranks() / 2 * 2));
  first.back() = n;
  return first;
}
inline std::vector<Cut> cuts(std::int64_t n) {
  return {even_cut(n),  cut_at(n, n / 2),       cut_at(n, 1),
          all_on(0, n), all_on(ranks() - 1, n), with_empty_ranks(n)};
}
inline std::string describe(const Cut& cut) {
  std::string s = "rows from";
  for (const std::int64_t first : cut) s += " " + std::to_string(first);
  return s;
}

/// The rows of this rank, the last axis of v.
template <class View>
auto rows_of(const View& v, const Cut& cut, int r = rank()) {
  const auto k = static_cast<std::size_t>(r);
  const Kokkos::pair<std::int64_t, std::int64_t> range(cut[k], cut[k + 1]);
  if constexpr (View::rank() == 1) return Kokkos::subview(v, range);
  if constexpr (View::rank() == 2) return Kokkos::subview(v, Kokkos::ALL, range);
  if constexpr (View::rank() == 3) return Kokkos::subview(v, Kokkos::ALL, Kokkos::ALL, range);
}
template <class... Bands>
auto rows_of(const Trikkos::Tridiagonal<Bands...>& A, const Cut& cut) {
  return Trikkos::Distributed{world,
                              Trikkos::Tridiagonal{rows_of(A.lower, cut), rows_of(A.diag, cut),
                                                   rows_of(A.upper, cut), A.boundary}};
}

/// On the device; what an open matrix never reads is not a number.
template <class T>
auto poisoned(Reference::HostSystem<T> A) {
  if (!A.periodic && A.size() > 0)
    A.lower.front() = A.upper.back() = T(std::numeric_limits<double>::quiet_NaN());
  return Reference::to_device(TEST_EXECSPACE{}, A);
}

/// A status is one thing, on whatever rank.
inline void expect_common(const Trikkos::Status& s) {
  EXPECT_TRUE(is_common(static_cast<std::int64_t>(s.reason)));
  EXPECT_TRUE(is_common(s.system));
  EXPECT_TRUE(is_common(s.row));
}

/// `Trikkos::solve`, in the way of this program.
template <class Exec, class Matrix, class B, class X>
Trikkos::Status solve_rows(const Exec& exec, const Trikkos::Distributed<Matrix>& A, const B& b,
                           const X& x, const Trikkos::Options& options = {},
                           const Trikkos::Impl::RootWay& root = way()) {
  if (root.groups == 0 && root.parts == 0) return Trikkos::solve(exec, A, b, x, options);
  const Trikkos::DistributedWorkspace work(exec, A, b, options, root);
  Trikkos::solve(exec, work, A, b, x);
  return work.status(exec);
}

/// Of rank 0; on others without x.
template <class T>
Outcome<T> solve(const Reference::HostSystem<T>& A, const std::vector<T>& b, const Cut& cut,
                 const Trikkos::Options& options = {}, const Trikkos::Impl::RootWay& root = way()) {
  const TEST_EXECSPACE exec;
  const Kokkos::View<T*, TEST_EXECSPACE> all("x", b.size());
  const auto x = rows_of(all, cut);
  Outcome<T> r;
  r.status = solve_rows(exec, rows_of(poisoned(A), cut),
                        rows_of(Reference::to_device(exec, b), cut), x, options, root);
  expect_common(r.status);
  const Kokkos::View<T*, TEST_EXECSPACE> whole("whole", b.size());
  Trikkos::gather(exec, world, 0, x, whole);
  if (rank() > 0) return r;
  r.x = Reference::to_host(whole);
  r.eta = fast_backward_error(A, r.x, b);
  return r;
}

template <class T>
inline constexpr double gate = scaled<T>(1e-14);

/// eta within the gate; or, where x leaves the number range, a status that says so.
template <class T>
void expect_stable(const Outcome<T>& r, const Reference::HostSystem<T>& A,
                   const std::vector<T>& b) {
  if (rank() > 0) return;
  if (r.status.ok()) {
    EXPECT_LE(r.eta, gate<T>);
    return;
  }
  const auto exact = Reference::solve_wide(A, b);
  constexpr double largest = std::numeric_limits<Trikkos::Impl::Real<T>>::max();
  EXPECT_TRUE(exact.zero_pivot >= 0 || !(Reference::max_norm(exact.x) < 1e-8 * largest))
      << "x is representable, but the status is " << r.status.why();
}

}  // namespace Test

#endif
