// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_COMPUTEDINKERNEL_HPP
#define TRIKKOS_COMPUTEDINKERNEL_HPP

#include <Trikkos_ComputedMatrix.hpp>
#include <Trikkos_Solve.hpp>

/// \file
/// Inside a kernel: systems whose coefficients are computed, f(row), or A[system] of f(system,
/// row).
///
///   const Trikkos::Computed A{n, [=](std::int64_t row) {
///     return Kokkos::Array<double, 3>{-1, 2 + k(row), -1};
///   }};
///   int info = Trikkos::solve(member, A, b, x);
///
/// A team, or a thread in memory of its own, evaluates each row once and keeps it in that memory, 3
/// words a row (5) besides what the solve takes: all algorithms and options of stored matrices, and
/// every bit of their x. Only b and x are read from elsewhere.

namespace Trikkos {

namespace Impl {
/// For the coefficients, any alignment included.
template <class F>
KOKKOS_INLINE_FUNCTION constexpr std::size_t coefficient_bytes(const Computed<F>& A) {
  using T = typename Computed<F>::value_type;
  constexpr std::size_t words = Computed<F>::Row::size();
  return A.n == 0 ? 0 : alignof(T) + words * sizeof(T) * static_cast<std::size_t>(A.n);
}

/// The rows, evaluated by the team into `memory`: the matrix that they make.
template <class F, class Team>
KOKKOS_INLINE_FUNCTION auto evaluated(const Computed<F>& A, const Team& team, char* memory) {
  using C = Computed<F>;
  using T = typename C::value_type;
  using Band = Kokkos::View<T*, Kokkos::AnonymousSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  memory += -reinterpret_cast<std::uintptr_t>(memory) % alignof(T);
  auto* const words = reinterpret_cast<T*>(memory);
  for (std::int64_t i = team.team_rank(); i < A.n; i += team.team_size()) {
    const typename C::Row row = A.f(i);
    for (std::size_t j = 0; j < C::Row::size(); ++j) words[j * A.n + i] = row[j];
  }
  team.team_barrier();
  const auto band = [&](int j) { return Band(words + j * A.n, A.n); };
  if constexpr (C::half_bandwidth == 1)
    return Tridiagonal{band(0), band(1), band(2), A.boundary};
  else
    return Pentadiagonal{band(0), band(1), band(2), band(3), band(4), A.boundary};
}
}  // namespace Impl

/// As for a stored matrix, with room for the coefficients.
template <class Matrix>
requires Impl::is_computed_v<Matrix> KOKKOS_INLINE_FUNCTION constexpr std::size_t
team_scratch_bytes(const Matrix& A, const Options& options = {}) {
  return team_scratch_bytes<typename Matrix::value_type, Matrix::half_bandwidth>(A.n, options,
                                                                                 A.boundary) +
         8 + Impl::coefficient_bytes(A);  // Kokkos aligns each allocation
}
/// The same for one thread.
template <class Matrix>
requires Impl::is_computed_v<Matrix> KOKKOS_INLINE_FUNCTION constexpr std::size_t
thread_memory_bytes(const Matrix& A, const Options& options = {}) {
  return thread_memory_bytes<typename Matrix::value_type, Matrix::half_bandwidth>(A.n, options,
                                                                                  A.boundary) +
         Impl::coefficient_bytes(A);
}

/// Inside a kernel (or on the host): the calling thread solves a tridiagonal system by the Thomas
/// algorithm, without memory. For diagonally dominant A. f is evaluated about five times a row.
///
/// \return as for a stored matrix
template <class F, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(ThisThread, const Computed<F>& A, const B& b,
                                               const X& x) {
  using T = typename Computed<F>::value_type;
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Computed<F>);
  static_assert(Computed<F>::is_one,
                "Trikkos::solve: A must be one matrix inside a kernel: f(row), or A[system]");
  static_assert(Computed<F>::half_bandwidth == 1,
                "Trikkos::solve: a thread needs memory for a pentadiagonal matrix");
  static_assert(B::rank() == 1 && X::rank() == 1,
                "Trikkos::solve: b and x must have rank 1 inside a kernel");
  const auto rows = Impl::bands(A);
  return 1 + static_cast<int>(Impl::Thomas<T, std::remove_const_t<decltype(rows)>>{rows}
                                  .solve(Impl::strided<const T>(b), Impl::strided<T>(x))
                                  .row);
}

/// The calling thread solves with the algorithm of the options, in memory of `thread_memory_bytes`.
///
/// \param memory   of rank 1 and any value type, contiguous; aborts where it is not or too small
/// \return as for a stored matrix
template <class F, class B, class X, ViewType Memory>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(ThisThread, const Computed<F>& A, const B& b,
                                               const X& x, const Memory& memory,
                                               const Options& options = {}) {
  using T = typename Computed<F>::value_type;
  static_assert(Computed<F>::is_one,
                "Trikkos::solve: A must be one matrix inside a kernel: f(row), or A[system]");
  static_assert(Memory::rank() == 1, "Trikkos::solve: memory must have rank 1 inside a kernel");
  if (!memory.span_is_contiguous())
    Kokkos::abort("Trikkos::solve: memory is strided, expected a contiguous View");
  if (A.n == 0) return 0;
  const std::size_t own =
      thread_memory_bytes<T, Computed<F>::half_bandwidth>(A.n, options, A.boundary);
  if (memory.extent(0) * sizeof(typename Memory::value_type) < own + Impl::coefficient_bytes(A))
    Kokkos::abort("Trikkos::solve: memory is too small, expected Trikkos::thread_memory_bytes");
  auto* const start = reinterpret_cast<char*>(memory.data());
  const Impl::ThreadMember thread{start, own};
  return Impl::solve_in_team<T>(thread, Impl::evaluated(A, thread, start + own), b, x,
                                Impl::options_of_thread(options));
}

/// Inside a kernel: the team solves with the algorithm of the options, in scratch of
/// `team_scratch_bytes(A, options)` at level 0. All threads must call.
///
/// \return as for a stored matrix; to every thread
template <TeamMember Member, class F, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(const Member& member, const Computed<F>& A,
                                               const B& b, const X& x,
                                               const Options& options = {}) {
  using T = typename Computed<F>::value_type;
  static_assert(Computed<F>::is_one,
                "Trikkos::solve: A must be one matrix inside a kernel: f(row), or A[system]");
  if (A.n == 0) return 0;
  // Behind what the solve will take from the same place. A copy of the handle: all is free again
  // when this function returns.
  const auto scratch = member.team_scratch(0);
  scratch.get_shmem(team_scratch_bytes<T, Computed<F>::half_bandwidth>(A.n, options, A.boundary));
  auto* const memory = static_cast<char*>(scratch.get_shmem(Impl::coefficient_bytes(A)));
  if (memory == nullptr)
    Kokkos::abort(
        "Trikkos::solve: the team has too little scratch, expected Trikkos::team_scratch_bytes "
        "at level 0");
  const Impl::KernelTeam<Member> team(member);
  const int info = solve(member, Impl::evaluated(A, team, memory), b, x, options);
  team.team_barrier();  // nobody writes there again before all are done
  return info;
}

}  // namespace Trikkos

#endif
