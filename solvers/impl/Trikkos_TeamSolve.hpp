// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TEAMSOLVE_HPP
#define TRIKKOS_IMPL_TEAMSOLVE_HPP

#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/partition/Trikkos_InKernelPartitions.hpp>
#include <impl/pcr/Trikkos_Pcr.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>
#include <impl/spike/Trikkos_DiagonalPivoting.hpp>

/// \file
/// One system by one team inside a user's kernel: the algorithms that work in its scratch.

namespace Trikkos::Impl {

/// Scalars of scratch for a system of n rows.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n, const Options& options,
                                                         bool periodic) {
  switch (options.algorithm()) {
    case Algorithm::pcr:
      return (periodic ? 5 : 4) * n;
    case Algorithm::segmented:
      return partition_words(n, partition_rows<OrthogonalCarry>(n, options.partition_size()));
    case Algorithm::spike:
      return partition_words(
          n, partition_rows<DiagonalPivoting<Pivoting::diagonal>>(n, options.partition_size()));
    default:
      return 0;
  }
}

/// Bytes for that, and for the row that is reported.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr std::size_t team_bytes(std::int64_t words) {
  constexpr std::size_t aligned = alignof(T) > 8 ? alignof(T) : 8;
  return words == 0 ? 0 : 2 * aligned + sizeof(T) * static_cast<std::size_t>(words);
}

/// Lets `body(team, memory)` work in scratch. Returns the smallest of the threads' results, to all.
template <class T, class Member, class Body>
KOKKOS_INLINE_FUNCTION std::int64_t in_scratch(const Member& member, std::int64_t words,
                                               const Body& body) {
  constexpr std::size_t aligned = alignof(T) > 8 ? alignof(T) : 8;
  // A copy of the handle: what is allocated from it is free again when this function returns.
  const auto scratch = member.team_scratch(0);
  auto* start = static_cast<char*>(scratch.get_shmem(team_bytes<T>(words)));
  if (start == nullptr)
    Kokkos::abort(
        "Trikkos::solve: the team has too little scratch, expected Trikkos::team_scratch_bytes "
        "at level 0");
  start += (aligned - reinterpret_cast<std::uintptr_t>(start) % aligned) % aligned;
  auto* const smallest = reinterpret_cast<std::int64_t*>(start);
  const KernelTeam<Member> team(member);
  constexpr std::int64_t none = Diagnosis::clear;
  if (team.team_rank() == 0) *smallest = none;
  team.team_barrier();
  const std::int64_t mine = body(team, reinterpret_cast<T*>(start + aligned));
  if (mine < none) Kokkos::atomic_min(smallest, mine);
  team.team_barrier();
  const std::int64_t result = *smallest;
  team.team_barrier();  // nobody writes there again before all have read it
  return result;
}

template <int Rhs, class T, class Member>
KOKKOS_INLINE_FUNCTION std::int64_t pcr_in_team(const Member& member, const MatrixRows<T, Rhs>& A,
                                                int steps) {
  const std::int64_t n = A.A.n;
  const std::int64_t rank = in_scratch<T>(member, (3 + Rhs) * n, [&](const auto& team, T* memory) {
    CyclicVerdict verdict;
    const PcrOnChip<T, Rhs, KernelTeam<Member>> pcr{team, {memory, static_cast<int>(A.n)}, verdict};
    pcr.solve(A, steps);
    pcr.store(A);
    return verdict.rank(n);
  });
  return CyclicVerdict::row(n, rank);
}

template <class Elimination, class T, class Member>
KOKKOS_INLINE_FUNCTION std::int64_t partitions_in_team(const Member& member, const Bands<T>& A,
                                                       const Strided<const T>& b,
                                                       const Strided<T>& x,
                                                       const Options& options) {
  const std::int64_t rows = partition_rows<Elimination>(A.n, options.partition_size());
  const std::int64_t bad =
      in_scratch<T>(member, partition_words(A.n, rows), [&](const auto& team, T* memory) {
        return InKernelPartitions<T, Elimination>{A, b, x, rows}.solve(team, memory);
      });
  return bad < A.n ? bad : -1;
}

/// The first row that is not finite or not to be trusted, -1 if none, to every thread.
template <class T, class Member>
KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member, const Bands<T>& A,
                                                  const Strided<const T>& b, const Strided<T>& x,
                                                  const Options& options) {
  if (A.n == 0) return -1;
  switch (options.algorithm()) {
    case Algorithm::pcr:
      if (A.periodic() && A.n > 1)
        return pcr_in_team(member, MatrixRows<T, 2>{A, b, x, nullptr, A.n - 1},
                           options.reduction_steps());
      return pcr_in_team(member, MatrixRows<T, 1>{A, b, x, nullptr, A.n},
                         options.reduction_steps());
    case Algorithm::segmented:
      return partitions_in_team<OrthogonalCarry>(member, A, b, x, options);
    case Algorithm::spike:
      if (options.pivoting() == Pivoting::none)
        return partitions_in_team<DiagonalPivoting<Pivoting::none>>(member, A, b, x, options);
      return partitions_in_team<DiagonalPivoting<Pivoting::diagonal>>(member, A, b, x, options);
    default: {
      int info = 0;
      Kokkos::single(
          Kokkos::PerTeam(member),
          [&](int& result) { result = static_cast<int>(Thomas<T>{A}.solve(b, x).row + 1); }, info);
      member.team_barrier();
      return info - 1;
    }
  }
}

}  // namespace Trikkos::Impl

#endif
