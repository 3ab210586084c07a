// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_SOLVE_HPP
#define TRIKKOS_SOLVE_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Plan.hpp>
#include <Trikkos_Workspace.hpp>
#include <impl/Trikkos_ThreadMember.hpp>

/// \file
/// The one verb: `solve`, for one tridiagonal or pentadiagonal system A x = b of n rows or many.
///
/// | A               | b and x          | solves                                    |
/// |-----------------|------------------|-------------------------------------------|
/// | rank 1 (n)      | rank 1 (n)       | one system                                |
/// | rank 1 (n)      | rank 2 (system, n) | one matrix with many right-hand sides   |
/// | rank 2 (system, n) | rank 2 (system, n) | many systems, a matrix each          |
/// | rank 1 (n)      | rank 3 (system, system, n) | one matrix, the lines of an array |
/// | rank 3          | rank 3           | the lines of an array, a matrix each      |
///
/// The lines of an array of rank 2 or 3 along any of its axes are `along(v, axis)`, in any layout.
/// `Status::system` counts them with the last of the axes that are not solved along fastest: line
/// (i, j) of (I, J) is i J + j.
///
/// Scalars: float, double, Kokkos::complex of both. Indices are 64-bit. A is never modified; x may
/// be the same View as b, nothing else may overlap. An (n, nrhs) array, as LAPACK and Tpetra have,
/// is `columns(b)`. Where it is square, its extents do not tell which is meant: rank 2 is always
/// read as (system, row).
///
/// Cost with `Algorithm::segmented`: 72 bytes and about 150 flops an unknown in double, 104 bytes
/// and about 500 flops for pentadiagonal A. Views of stride 1 are fastest. A `toeplitz` matrix
/// takes 48 or 80 bytes less.
///
/// With `Algorithm::truncated` 40 bytes where the matrix is dominant enough, 112 where it turns out
/// not to be, and 72 where x is b. `automatic` tries that for one tridiagonal system of 2^16 rows
/// (on a device 2^17 in single precision) and more whose rows, as far as it looks, are dominant
/// enough; on a device for any real one of 4096 to some 190 000 rows (400 000 in single precision),
/// which then takes 72 bytes, and reads a third of the rows twice from the cache, where it fails.
///
/// Stability: `segmented` and `automatic` eliminate by rotations and are backward stable for every
/// nonsingular A, for each row by itself (`Scaling::rows`). (Rows where the windows of `truncated`
/// meet have residuals of up to 16 units in the last place more. On a device `automatic` tries LU
/// without pivoting on contiguous systems that a team's scratch holds, of 2^19 rows in all
/// tridiagonal ones that look dominant, and pentadiagonal ones where there are 4096 or more, and
/// takes that where |L||U| stays within 8 times each row; interleaved ones of 32 to some 94 rows,
/// where there are thousands, as far as U stays within 1. On a host it does so with real
/// tridiagonal batches of 32 to 2048 rows whose first rows look dominant, where U stays within 1.)
/// `thomas` only for diagonally dominant A; elsewhere its Status says `unstable`. Pentadiagonal A
/// are for these three only, one in a Plan also for `factored`: any other algorithm is an error,
/// inside a kernel it aborts.
///
/// Errors: wrong types fail to compile; wrong shapes and options throw std::invalid_argument before
/// anything is launched; bad numbers never throw: x is then Inf or NaN, or flagged by the Status. A
/// bad system spoils only itself.

namespace Trikkos {

namespace Impl {
/// By a thread as a team of one.
template <class T, class Member, class Matrix, class B, class X>
KOKKOS_FORCEINLINE_FUNCTION int solve_in_team(const Member& member, const Matrix& A, const B& b,
                                              const X& x, const Options& options) {
  auto rows = bands(A, options.transpose());
  rows.scale_rows = options.scaling() == Scaling::rows;
  if (rows.n == 0) return 0;
  return 1 + static_cast<int>(with_forms<Matrix::half_bandwidth>(
                 options.algorithm(), rows.n, [&](auto forms) -> std::int64_t {
                   return decltype(forms)::solve_in_team(member, rows, strided<const T>(b),
                                                         strided<T>(x), options);
                 }));
}
}  // namespace Impl

/// Solves A x = b with a Workspace: asynchronous, no allocation, no fence, on the execution space
/// instance that the workspace was made with. On another one Kokkos' CUDA backend allocates scratch
/// of its own, once, when that instance runs its first team kernel; the results are the same.
///
/// \param exec  execution space instance; the only one used
/// \param work  made for matrices of A's size; its `status(exec)` tells how it went
/// \param A     Tridiagonal or Pentadiagonal of n rows, rank 1, or that of b, any layout
/// \param b     right-hand side, rank 1 (n), or many, rank 2 (system, n) or 3 (system, system, n)
/// \param x     solution, shaped like b; may be b
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, int half_bandwidth, BandMatrix Matrix, class B, class X>
void solve(const Exec& exec, const Workspace<T, Exec, half_bandwidth>& work, const Matrix& A,
           const B& b, const X& x) {
  TRIKKOS_CHECK_SYSTEM("Trikkos::solve", Exec, Matrix, B, X);
  static_assert(std::is_same_v<typename Matrix::value_type, T>,
                "Trikkos::solve: A must have the value type of the workspace");
  static_assert(Matrix::half_bandwidth == half_bandwidth,
                "Trikkos::solve: A must have as many diagonals as the workspace is for");
  constexpr auto function = "Trikkos::solve";
  Impl::check_matrix(function, A);
  Impl::expect_extent(function, "A", "rows", Impl::row_count(A.diag), work.size(), "the workspace");
  Impl::check_rhs(function, A, b);
  Impl::check_solution(function, b, x);
  work.check_systems(function, Impl::system_count(A.diag));
  const Kokkos::Profiling::ScopedRegion region(function);
  const Impl::SystemOrder order = Impl::order_of(x);
  work.run(exec, Impl::systems(A, Impl::system_count(b), work.options().transpose(), order),
           Impl::vectors<const T>(b, order), Impl::vectors<T>(x, order), order.number);
}

/// Solves with the matrix of a Plan: asynchronous, no allocation, no fence; on another execution
/// space instance than the plan was made with as for a Workspace.
///
/// \param exec  execution space instance; the only one used
/// \param plan  its `status(exec)` tells how it went
/// \param b     right-hand side, rank 1 (n), or many, rank 2 (system, n) or 3 (system, system, n)
/// \param x     solution, shaped like b; may be b
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, int half_bandwidth, class B, class X>
void solve(const Exec& exec, const Plan<T, Exec, half_bandwidth>& plan, const B& b, const X& x) {
  using Matrix = Tridiagonal<Kokkos::View<T*, typename Exec::memory_space>>;
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "b", Exec, B);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "x", Exec, X);
  constexpr auto function = "Trikkos::solve";
  Impl::check_rhs(function, plan.size(), "the plan", b);
  if (plan.matrices() != 1)
    Impl::expect_extent(function, "b", "systems", Impl::system_count(b), plan.matrices(),
                        "the plan");
  Impl::check_solution(function, b, x);
  const Kokkos::Profiling::ScopedRegion region(function);
  // many matrices are kept in the order of the axes
  const Impl::SystemOrder order = plan.matrices() == 1 ? Impl::order_of(x) : Impl::SystemOrder{};
  plan.run(exec, Impl::vectors<const T>(b, order), Impl::vectors<T>(x, order),
           Impl::system_count(b), order.number);
}

/// Solves A x = b once: allocates a workspace, solves, waits, and says how it went.
///
/// \param exec  execution space instance; the only one used
/// \param A     Tridiagonal or Pentadiagonal of n rows, rank 1, or that of b, any layout
/// \param b     right-hand side, rank 1 (n), or many, rank 2 (system, n) or 3 (system, system, n)
/// \param x     solution, shaped like b; may be b
/// \param options  the algorithm and all else
/// \throws std::invalid_argument for extents that do not fit, or bad options
template <ExecutionSpace Exec, BandMatrix Matrix, class B, class X>
[[nodiscard]] Status solve(const Exec& exec, const Matrix& A, const B& b, const X& x,
                           const Options& options = {}) {
  TRIKKOS_CHECK_SYSTEM("Trikkos::solve", Exec, Matrix, B, X);
  constexpr auto function = "Trikkos::solve";
  Impl::check_matrix(function, A);
  Impl::check_rhs(function, A, b);
  Impl::check_solution(function, b, x);
  Impl::check_options(function, options, Matrix::half_bandwidth);
  const Workspace work(exec, A, b, options);
  solve(exec, work, A, b, x);
  return work.status(exec);
}

/// Inside a kernel (or on the host): the calling thread solves one tridiagonal system by the Thomas
/// algorithm. For diagonally dominant A. Needs no memory: pivots are computed again for the way
/// back, 4 to 5 divisions an unknown (beyond 4096 rows, n/8192 more).
///
/// \param A, b, x  of rank 1
/// \return 0, or 1 + the first row that is not finite or whose pivot is too small to trust x
template <class... Views, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(ThisThread, const Tridiagonal<Views...>& A,
                                               const B& b, const X& x) {
  using Matrix = Tridiagonal<Views...>;
  using T = typename Matrix::value_type;
  TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::solve", Matrix);
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  static_assert(Matrix::rank() == 1 && B::rank() == 1 && X::rank() == 1,
                "Trikkos::solve: A, b and x must have rank 1 inside a kernel");
  const Impl::Bands<T> rows = Impl::bands(A);
  return 1 + static_cast<int>(
                 Impl::Thomas<T>{rows}.solve(Impl::strided<const T>(b), Impl::strided<T>(x)).row);
}

/// Bytes of level-0 scratch that a team needs to solve a system of n rows inside a kernel, for
/// `TeamPolicy::set_scratch_size(0, Kokkos::PerTeam(bytes))`, besides what the kernel itself takes.
/// `automatic`, `segmented`, `truncated`, `spike`: 3 words a row and 22 a partition (of 16 rows
/// unless the options say otherwise); `pcr`: 4 words a row, 5 for a periodic matrix; `thomas`:
/// none, but 2 words a row for `Corners::sherman_morrison`. For a pentadiagonal matrix
/// (`half_bandwidth` 2) 5 words a row and 84 a partition; `thomas`: 5 words a row, 9 for a periodic
/// matrix, 7 for `Corners::sherman_morrison`. What a backend grants is
/// `TeamPolicy::scratch_size_max(0)`: seen were 40 KiB on CUDA (Kokkos 4.6), 32 on OpenMP.
template <class T, int half_bandwidth = 1>
KOKKOS_INLINE_FUNCTION constexpr std::size_t team_scratch_bytes(
    std::int64_t n, const Options& options = {}, Boundary boundary = Boundary::open) {
  return Impl::team_bytes<T>(
      Impl::with_forms<half_bandwidth>(options.algorithm(), n, [&](auto forms) -> std::int64_t {
        const bool periodic = boundary == Boundary::periodic;
        if constexpr (half_bandwidth == 1)
          return decltype(forms)::team_words(n, options, periodic);
        else
          return decltype(forms)::template team_words<half_bandwidth>(n, options, periodic);
      }));
}

/// Bytes of memory that one thread needs to solve a system of n rows with these options.
/// `automatic`, `segmented`, `truncated`, `spike`: 3 words a row and 22 for each 66 rows; others as
/// a team. For a pentadiagonal matrix 5 words a row and 84 for each 66 rows; `thomas` as a team.
template <class T, int half_bandwidth = 1>
KOKKOS_INLINE_FUNCTION constexpr std::size_t thread_memory_bytes(
    std::int64_t n, const Options& options = {}, Boundary boundary = Boundary::open) {
  return team_scratch_bytes<T, half_bandwidth>(n, Impl::options_of_thread(options), boundary);
}

/// Inside a kernel (or on the host): the calling thread solves one system with the algorithm of the
/// options, in memory of its own: `automatic` and `segmented` are stable for every nonsingular A.
/// For a GPU this is the slowest way to solve many systems, for a host thread a good one.
///
///   Kokkos::View<T*, ScratchSpace> memory(member.thread_scratch(1), words);
///   int info = Trikkos::solve(Trikkos::this_thread, A, b, x, memory);
///
/// \param A, b, x  of rank 1
/// \param memory   of rank 1 and any value type, contiguous, of `thread_memory_bytes` at least;
///                 aborts where it is not
/// \param options  as for a team
/// \return as for a team
template <BandMatrix Matrix, class B, class X, ViewType Memory>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(ThisThread, const Matrix& A, const B& b, const X& x,
                                               const Memory& memory, const Options& options = {}) {
  using T = typename Matrix::value_type;
  TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::solve", Matrix);
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  static_assert(Matrix::rank() == 1 && B::rank() == 1 && X::rank() == 1 && Memory::rank() == 1,
                "Trikkos::solve: A, b, x and memory must have rank 1 inside a kernel");
  if (!memory.span_is_contiguous())
    Kokkos::abort("Trikkos::solve: memory is strided, expected a contiguous View");
  const std::size_t bytes = memory.extent(0) * sizeof(typename Memory::value_type);
  return Impl::solve_in_team<T>(Impl::ThreadMember{reinterpret_cast<char*>(memory.data()), bytes},
                                A, b, x, Impl::options_of_thread(options));
}

/// Inside a kernel: the team solves one system with the algorithm of the options: `automatic`,
/// `segmented`, `spike` or `pcr` with all its threads, in scratch of `team_scratch_bytes`, or
/// `thomas` on one of them, without if A is tridiagonal. All threads must call; x is ready for all
/// of them on return, and the scratch is free again. Aborts where the scratch is too small.
///
/// Options made in the kernel, `Trikkos::Options{}.algorithm(Trikkos::Algorithm::pcr)`, are
/// constants to the compiler: the other algorithms are left out, and with them half of the
/// registers.
///
/// \param member   the team
/// \param A, b, x  of rank 1
/// \param options  of which `transpose`, `partition_size`, `scaling`, the pivoting of `spike` and
///                 the steps of `pcr` and the corners of `thomas` matter; `Scaling::columns`, for
///                 which a kernel has no memory, is as `none` here
/// \return 0, or 1 + the first row (`segmented`, `spike`: of the first partition) that is not
///         finite or shows that x is not to be trusted; to every thread
template <TeamMember Member, BandMatrix Matrix, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(const Member& member, const Matrix& A, const B& b,
                                               const X& x, const Options& options = {}) {
  using T = typename Matrix::value_type;
  TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::solve", Matrix);
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  static_assert(Matrix::rank() == 1 && B::rank() == 1 && X::rank() == 1,
                "Trikkos::solve: A, b and x must have rank 1 inside a kernel");
  auto rows = Impl::bands(A, options.transpose());
  rows.scale_rows = options.scaling() == Scaling::rows;
  if (rows.n == 0) return 0;
  return 1 + static_cast<int>(Impl::with_forms<Matrix::half_bandwidth>(
                 options.algorithm(), rows.n, [&](auto forms) -> std::int64_t {
                   return decltype(forms)::solve_in_team(member, rows, Impl::strided<const T>(b),
                                                         Impl::strided<T>(x), options);
                 }));
}

}  // namespace Trikkos

#endif
