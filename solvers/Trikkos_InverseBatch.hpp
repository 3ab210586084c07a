// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INVERSEBATCH_HPP
#define TRIKKOS_INVERSEBATCH_HPP

#include <Trikkos_Inverse.hpp>
#include <impl/inverse/Trikkos_InverseInTeam.hpp>

/// \file
/// Inverses of many small matrices, a team each.

namespace Trikkos {

/// Bytes of level-0 scratch that a team needs to invert a matrix of n rows inside a kernel, for
/// `TeamPolicy::set_scratch_size(0, Kokkos::PerTeam(bytes))`: 64 bytes a row in double, and 500.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr std::size_t inverse_scratch_bytes(std::int64_t n) {
  return Impl::InverseInTeam<T>::bytes(n);
}

/// Inside a kernel: the team inverts one matrix, as stable as the host call. All threads must call;
/// X is ready for all of them on return. Two threads go through the rows, so this is for small n.
///
/// \param member  the team
/// \param A       Tridiagonal of rank 1; what corners it may have count as zero
/// \param X       rank 2 (n, n)
/// \return 0, or 1 + the first row where A turns out singular or X not finite; to every thread
template <TeamMember Member, TridiagonalMatrix Matrix, ViewType X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int inverse(const Member& member, const Matrix& A,
                                                 const X& x) {
  using T = typename Matrix::value_type;
  static_assert(Matrix::rank() == 1 && X::rank() == 2,
                "Trikkos::inverse: A must have rank 1 and X rank 2 inside a kernel");
  static_assert(std::is_same_v<typename X::value_type, T>,
                "Trikkos::inverse: X must have the value type of A, and not be const");
  Impl::Bands<T> rows = Impl::bands(A);
  rows.periodic = false;
  if (rows.n == 0) return 0;
  const std::int64_t code =
      Impl::InverseInTeam<T>{rows, Impl::inverse_target<T>(x, 0, rows.n)}.invert(member);
  return code == Impl::InverseInTeam<T>::ok ? 0 : 1 + static_cast<int>(code / 4);
}

namespace Impl {
template <class T>
struct InverseBatch {
  Systems<T> A;
  InverseTarget<T> first;
  std::int64_t stride;
  Diagnosis diagnosis;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t k = member.league_rank();
    InverseTarget<T> to = first;
    to.data += k * stride;
    const std::int64_t code = InverseInTeam<T>{A[k], to}.invert(member);
    if (code != InverseInTeam<T>::ok && member.team_rank() == 0)
      diagnosis.of(k, A.first.n).report(static_cast<Status::Reason>(code % 4), code / 4);
  }
};
}  // namespace Impl

/// Inverts many small matrices: allocates a Status, inverts, waits, and says how it went; the first
/// bad system is named, and spoils no other.
///
/// \param exec  execution space instance; the only one used
/// \param A     Tridiagonal of rank 2 (system, row), any layout, open; as many rows as the scratch
///              of a team holds, some 700 in double
/// \param X     rank 3 (system, row, column), any layout
/// \throws std::invalid_argument for extents that do not fit, a periodic A, or too many rows
template <ExecutionSpace Exec, TridiagonalMatrix Matrix, ViewType X>
requires(Matrix::rank() == 2) [[nodiscard]] Status
    inverse(const Exec& exec, const Matrix& A, const X& x) {
  using T = typename Matrix::value_type;
  constexpr auto function = "Trikkos::inverse";
  static_assert(X::rank() == 3 && std::is_same_v<typename X::value_type, T>,
                "Trikkos::inverse: X must have rank 3 (system, row, column), if A has rank 2, and "
                "the value type of A");
  TRIKKOS_CHECK_ACCESS("Trikkos::inverse", "A", Exec, Matrix);
  TRIKKOS_CHECK_ACCESS("Trikkos::inverse", "X", Exec, X);
  Impl::check_matrix(function, A);
  Impl::check_open(function, A.boundary);
  const std::int64_t n = Impl::row_count(A.diag), count = Impl::system_count(A.diag);
  Impl::expect_extent(function, "X", "systems", x.extent(0), count, "diag.extent(0)");
  Impl::expect_extent(function, "X", "rows", x.extent(1), n, "diag.extent(1)");
  Impl::expect_extent(function, "X", "columns", x.extent(2), n, "diag.extent(1)");
  constexpr int threads = Impl::is_host_v<Exec> ? 1 : 64;
  const auto bytes = static_cast<std::int64_t>(inverse_scratch_bytes<T>(n));
  const std::int64_t granted = Impl::granted_scratch<Exec>() - Impl::scratch_reserved(threads);
  if (bytes > granted)
    throw std::invalid_argument(std::string(function) + ": A has " + std::to_string(n) +
                                " rows, expected so many that " + std::to_string(granted) +
                                " bytes of scratch hold them, not " + std::to_string(bytes));
  const Kokkos::Profiling::ScopedRegion region(function);
  const Kokkos::View<Impl::DiagnosisWords, typename Exec::memory_space> words(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(function)));
  const Impl::Diagnosis diagnosis{words.data()->word, count};
  Impl::launch_one(exec, "Trikkos::inverse::reset", Impl::ResetDiagnosis{diagnosis});
  if (n > 0 && count > 0) {
    const Impl::InverseTarget<T> first{x.data(),
                                       static_cast<std::int64_t>(x.stride(1)),
                                       static_cast<std::int64_t>(x.stride(2)),
                                       0,
                                       0,
                                       n,
                                       n};
    Kokkos::parallel_for(
        "Trikkos::inverse::batch",
        Impl::light(Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(count), threads)
                        .set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)))),
        Impl::InverseBatch<T>{Impl::systems(A, count), first,
                              static_cast<std::int64_t>(x.stride(0)), diagnosis});
  }
  return Impl::decode(Impl::fetch(exec, words.data(), function).word, std::max<std::int64_t>(n, 1));
}

}  // namespace Trikkos

#endif
