// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_DISTRIBUTEDSOLVE_HPP
#define TRIKKOS_DISTRIBUTEDSOLVE_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_DistributedPlan.hpp>
#include <Trikkos_DistributedWorkspace.hpp>

/// \file
/// `solve` for systems whose rows lie on the ranks of a communicator, by `segmented`: backward
/// stable for every nonsingular A, for each row by itself.
///
/// A rank is one more level of the tree of partitions. It reduces its rows to two for each system;
/// one MPI_Allgather of 9 words a system, and 1, through buffers of the host, gives those of all
/// ranks to all; each rank solves the same reduced system of two unknowns a rank by a chain of
/// merges, one thread a system, with the same bits; and it substitutes its rows. So a solve costs
/// what `segmented` costs, 72 bytes and about 150 flops an unknown in double, and for each system
/// 80 bytes and a merge a rank, everywhere. A Workspace or Plan for more than 256 ranks makes of it
/// two MPI_Allgathers, within groups of about sqrt(ranks) neighbours and between groups, and two
/// chains of sqrt(ranks) merges: of one system on 1024 ranks 5 KB come to each (times:
/// distributed/README.md).
///
/// Of many systems, where all ranks together have more than 4096 segments for each, every rank
/// solves the reduced systems of a share of them: to and from each rank go 13 words a system, in
/// all, and one merge of its own. Devices do so in up to 8 parts of the systems, and the words of
/// one travel while the rows of others are reduced and substituted. Where ranks are of different
/// kinds, devices and hosts or programs for different processors, which do not round alike, each
/// system is solved by one rank too, however few there are.
///
/// These calls are collective: every rank of the communicator makes them, in the same order, from
/// one thread at a time. They wait: for the first pass of this rank, whose words must be on the
/// host, and for the other ranks. They do not wait for x, which the second pass writes
/// asynchronously on `exec`.
///
/// Errors: a bad argument of one rank is thrown on all, by a sentence that ends in its number, and
/// nobody is left waiting; x is then what it was. What the numbers are is in the Status, the same
/// on all ranks, with the row in the whole matrix.

namespace Trikkos {

/// Solves A x = b with a DistributedWorkspace, without allocation. Collective.
///
/// \param exec  execution space instance; the only one used
/// \param work  made for this communicator, as many rows on each rank, and as many systems
/// \param A     rows of this rank
/// \param b     right-hand side of these rows, rank 1 (n), or many, rank 2 (system, n) or 3
/// \param x     solution, shaped like b; may be b
/// \throws std::invalid_argument on all ranks for extents that do not fit on one
template <ExecutionSpace Exec, class T, class Matrix, class B, class X>
void solve(const Exec& exec, const DistributedWorkspace<T, Exec>& work,
           const Distributed<Matrix>& A, const B& b, const X& x) {
  TRIKKOS_CHECK_SYSTEM("Trikkos::solve", Exec, Matrix, B, X);
  static_assert(std::is_same_v<typename Matrix::value_type, T>,
                "Trikkos::solve: A must have the value type of the workspace");
  constexpr auto function = "Trikkos::solve";
  const Kokkos::Profiling::ScopedRegion region(function);
  const auto& solver = work.solver();
  solver.solve(exec, [&]() -> Impl::BlockProblem<T> {
    Impl::check_matrix(function, A.block);
    Impl::expect_extent(function, "A", "rows", Impl::row_count(A.block.diag), work.size(),
                        "the workspace");
    Impl::check_rhs(function, A.block, b);
    Impl::expect_extent(function, "b", "systems", Impl::system_count(b), work.count(),
                        "the workspace");
    Impl::check_solution(function, b, x);
    solver.check_same(function, A.comm, A.block.boundary);
    return {
        solver.block(A.block), Impl::vectors<const T>(b), Impl::vectors<T>(x), nullptr, {}, false};
  });
}

/// Solves with the matrix of a DistributedPlan, without allocation. Collective.
///
/// \param exec  execution space instance; the only one used
/// \param plan  its `status(exec)` tells how it went
/// \param b     right-hand side of the rows of this rank, or as many as the plan is for
/// \param x     solution, shaped like b; may be b
/// \throws std::invalid_argument on all ranks for extents that do not fit on one
template <ExecutionSpace Exec, class T, class B, class X>
void solve(const Exec& exec, const DistributedPlan<T, Exec>& plan, const B& b, const X& x) {
  using Matrix = Tridiagonal<Kokkos::View<T*, typename Exec::memory_space>>;
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "b", Exec, B);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "x", Exec, X);
  constexpr auto function = "Trikkos::solve";
  const Kokkos::Profiling::ScopedRegion region(function);
  plan.solver().solve(exec, [&]() -> Impl::BlockProblem<T> {
    Impl::check_rhs(function, plan.size(), "the plan", b);
    Impl::expect_extent(function, "b", "systems", Impl::system_count(b), plan.count(), "the plan");
    Impl::check_solution(function, b, x);
    return {plan.block(), Impl::vectors<const T>(b), Impl::vectors<T>(x), nullptr, {}, false};
  });
}

/// Solves A x = b once: allocates a workspace, solves, waits, and says how it went. Collective. Of
/// many ranks a workspace that is kept costs less (groups: distributed/README.md).
///
/// \param exec  execution space instance; the only one used
/// \param A     rows of this rank
/// \param b     right-hand side of these rows, rank 1 (n), or many, rank 2 (system, n) or 3
/// \param x     solution, shaped like b; may be b
/// \throws std::invalid_argument on all ranks for extents that do not fit on one, or bad options
template <ExecutionSpace Exec, class Matrix, class B, class X>
[[nodiscard]] Status solve(const Exec& exec, const Distributed<Matrix>& A, const B& b, const X& x,
                           const Options& options = {}) {
  TRIKKOS_CHECK_SYSTEM("Trikkos::solve", Exec, Matrix, B, X);
  const DistributedWorkspace work(exec, A, b, options, Impl::RootWay{.groups = 1});
  solve(exec, work, A, b, x);
  return work.status(exec);
}

}  // namespace Trikkos

#endif
