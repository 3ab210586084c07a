// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_SOLVE_HPP
#define TRIKKOS_SOLVE_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Plan.hpp>
#include <Trikkos_Workspace.hpp>
#include <impl/Trikkos_TeamSolve.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// The one verb: `solve`. A x = b for one tridiagonal matrix A of n rows.
///
/// \param exec  execution space instance; the only one used
/// \param A     Tridiagonal of rank-1 Views, any layout; never modified
/// \param b     right-hand side, rank 1 (n), or many, rank 2 (system, n)
/// \param x     solution, shaped like b; may be the same View as b, nothing else may overlap.
///              (LAPACK's column-major (n, nrhs) array is the LayoutRight (nrhs, n) View of the
///              same memory.)
///
/// Scalars: float, double, Kokkos::complex of both. Indices are 64-bit.
///
/// Cost with `Algorithm::segmented`: 72 bytes and about 150 flops an unknown and right-hand side in
/// double. Views of stride 1 are fastest.
///
/// Stability: `segmented` and `automatic` eliminate by rotations and are backward stable for every
/// nonsingular A, for each row by itself (`Scaling::rows`). `thomas` only for diagonally dominant
/// A; elsewhere its Status says `unstable`.
///
/// Errors: wrong types fail to compile; wrong shapes and options throw std::invalid_argument before
/// anything is launched; bad numbers never throw: x is then Inf or NaN, or flagged by the Status.

namespace Trikkos {

/// With a Workspace: asynchronous, no allocation, no fence, on the execution space instance that
/// the workspace was made with. On another one Kokkos' CUDA backend allocates scratch of its own,
/// once, when that instance runs its first team kernel; the results are the same.
template <ExecutionSpace Exec, class T, class View, class B, class X>
void solve(const Exec& exec, Workspace<T, Exec>& work, const Tridiagonal<View>& A, const B& b,
           const X& x) {
  constexpr auto function = "Trikkos::solve";
  Impl::check_matrix_type<Exec, Tridiagonal<View>>();
  Impl::check_vector_types<Exec, Tridiagonal<View>, B, X>();
  static_assert(std::is_same_v<typename View::non_const_value_type, T>,
                "Trikkos::solve: A must have the value type of the workspace");
  Impl::check_matrix(function, A);
  Impl::expect_extent(function, "A", "rows", A.diag.extent(0), work.size(), "the workspace");
  Impl::check_vectors(function, work.size(), b, x);
  const Kokkos::Profiling::ScopedRegion region(function);
  work.run(exec, Impl::bands(A, work.options().transpose()), Impl::columns<const T>(b),
           Impl::columns<T>(x), Impl::column_count(b));
}

/// With a Plan: asynchronous, no allocation, no fence; on another execution space instance than the
/// plan was made with as for a Workspace.
template <ExecutionSpace Exec, class T, class B, class X>
void solve(const Exec& exec, Plan<T, Exec>& plan, const B& b, const X& x) {
  constexpr auto function = "Trikkos::solve";
  using Matrix = Tridiagonal<Kokkos::View<T*, typename Exec::memory_space>>;
  Impl::check_vector_types<Exec, Matrix, B, X>();
  Impl::check_vectors(function, plan.size(), b, x);
  const Kokkos::Profiling::ScopedRegion region(function);
  plan.run(exec, Impl::columns<const T>(b), Impl::columns<T>(x), Impl::column_count(b));
}

/// Once: allocates a workspace, solves, waits, and says how it went.
template <ExecutionSpace Exec, class View, class B, class X>
Status solve(const Exec& exec, const Tridiagonal<View>& A, const B& b, const X& x,
             const Options& options = {}) {
  Impl::check_matrix_type<Exec, Tridiagonal<View>>();
  Impl::check_vector_types<Exec, Tridiagonal<View>, B, X>();
  constexpr auto function = "Trikkos::solve";
  Impl::check_matrix(function, A);
  Impl::check_vectors(function, static_cast<std::int64_t>(A.diag.extent(0)), b, x);
  Impl::check_options(function, options);
  Workspace work(exec, A, b, options);
  solve(exec, work, A, b, x);
  return work.status(exec);
}

/// Inside a kernel (or on the host): the calling thread solves one system by the Thomas algorithm.
/// For diagonally dominant A. Needs no memory: pivots are computed again for the way back, 4 to 5
/// divisions an unknown (beyond 4096 rows, n/8192 more).
/// \return 0, or 1 + the first row that is not finite or whose pivot is too small to trust x
template <class View, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(ThisThread, const Tridiagonal<View>& A, const B& b,
                                               const X& x) {
  using T = typename View::non_const_value_type;
  Impl::check_matrix_values<Tridiagonal<View>>();
  Impl::check_vector_values<Tridiagonal<View>, B, X>();
  static_assert(B::rank() == 1 && X::rank() == 1,
                "Trikkos::solve: b and x must have rank 1 inside a kernel");
  const Impl::Bands<T> rows = Impl::bands(A);
  return static_cast<int>(Impl::Thomas<T>{rows}
                              .solve({b.data(), static_cast<std::int64_t>(b.stride(0))},
                                     {x.data(), static_cast<std::int64_t>(x.stride(0))})
                              .row +
                          1);
}

/// Inside a kernel: the team solves one system by the Thomas algorithm, on one of its threads. All
/// threads must call; x is ready for all of them on return.
/// \return as for `this_thread`, to every thread
template <TeamMember Member, class View, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(const Member& member, const Tridiagonal<View>& A,
                                               const B& b, const X& x) {
  int info = 0;
  Kokkos::single(
      Kokkos::PerTeam(member), [&](int& result) { result = solve(this_thread, A, b, x); }, info);
  member.team_barrier();
  return info;
}

/// Bytes of level-0 scratch that a team needs to solve a system of n rows inside a kernel, for
/// `TeamPolicy::set_scratch_size(0, Kokkos::PerTeam(bytes))`, besides what the kernel itself takes.
/// `pcr`: 4 words a row, 5 for a periodic matrix; `segmented`, `spike`: 3 words a row and 22 a
/// partition (of 16 rows unless the options say otherwise); `thomas`, `automatic`: none. What a
/// backend grants is `TeamPolicy::scratch_size_max(0)`: seen were 48 KiB on CUDA, 32 on OpenMP.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr std::size_t team_scratch_bytes(
    std::int64_t n, const Options& options, Boundary boundary = Boundary::open) {
  return Impl::team_bytes<T>(Impl::team_words<T>(n, options, boundary == Boundary::periodic));
}

/// Inside a kernel: the team solves one system with the algorithm of the options, `segmented`,
/// `spike` or `pcr` with all its threads, in scratch of `team_scratch_bytes`, or `thomas` (also
/// `automatic`) as above. Of the other options `transpose`, `partition_size`, `pivoting`,
/// `reduction_steps` and `scaling` matter; `Scaling::columns`, for which a kernel has no memory, is
/// as `none` here. All threads must call; x is ready for all of them on return, and the
/// scratch is free again. Aborts where the scratch is too small.
///
/// Options made in the kernel, `Trikkos::Options{}.algorithm(Trikkos::Algorithm::pcr)`, are
/// constants to the compiler: the other algorithms are left out, and with them half of the
/// registers. \return 0, or 1 + the first row (`segmented`, `spike`: of the first partition) that
/// is not finite or shows that x is not to be trusted; to every thread
template <TeamMember Member, class View, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(const Member& member, const Tridiagonal<View>& A,
                                               const B& b, const X& x, const Options& options) {
  using T = typename View::non_const_value_type;
  Impl::check_matrix_values<Tridiagonal<View>>();
  Impl::check_vector_values<Tridiagonal<View>, B, X>();
  static_assert(B::rank() == 1 && X::rank() == 1,
                "Trikkos::solve: b and x must have rank 1 inside a kernel");
  Impl::Bands<T> rows = Impl::bands(A, options.transpose());
  rows.scale_rows = options.scaling() == Scaling::rows;
  return 1 + static_cast<int>(Impl::solve_in_team<T>(
                 member, rows, {b.data(), static_cast<std::int64_t>(b.stride(0))},
                 {x.data(), static_cast<std::int64_t>(x.stride(0))}, options));
}

}  // namespace Trikkos

#endif
