// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PCRINTEAM_HPP
#define TRIKKOS_IMPL_PCRINTEAM_HPP

#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/pcr/Trikkos_PcrCall.hpp>

namespace Trikkos::Impl {

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

template <>
struct FormsOf<Algorithm::pcr> {
  template <class T, class Exec>
  using Call = PcrCall<T, Exec>;

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n, const Options&,
                                                                  bool periodic) {
    return (periodic ? 5 : 4) * n;
  }
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member, const Bands<T>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x,
                                                           const Options& options) {
    const int steps = options.pcr().reduction_steps;
    if (A.periodic && A.n > 1)
      return pcr_in_team(member, MatrixRows<T, 2>{A, b, x, nullptr, A.n - 1}, steps);
    return pcr_in_team(member, MatrixRows<T, 1>{A, b, x, nullptr, A.n}, steps);
  }
};

}  // namespace Trikkos::Impl

#endif
