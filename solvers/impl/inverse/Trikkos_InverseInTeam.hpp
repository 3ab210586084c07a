// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INVERSEINTEAM_HPP
#define TRIKKOS_IMPL_INVERSEINTEAM_HPP

#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/inverse/Trikkos_InverseTile.hpp>

namespace Trikkos::Impl {

/// The inverse of a small matrix by one team, in its scratch: a thread each for the minors from the
/// top and from the bottom, all of them for the entries.
template <class T>
struct InverseInTeam {
  static constexpr std::int64_t ok = Diagnosis::clear;

  Bands<T> A;
  InverseTarget<T> to;

  static KOKKOS_INLINE_FUNCTION constexpr std::size_t bytes(std::int64_t n) {
    return sizeof(Shared) + 2 * sizeof(Generators<T>) * static_cast<std::size_t>(n) + 16;
  }

  /// Returns `ok`, or 4 row + reason, to every thread.
  template <class Member>
  KOKKOS_INLINE_FUNCTION std::int64_t invert(const Member& member) const {
    const KernelTeam team(member);
    char* const memory = team_scratch<char, 16>(member);
    auto& shared = *reinterpret_cast<Shared*>(memory);
    auto* const down = reinterpret_cast<Generators<T>*>(memory + sizeof(Shared));
    const InverseFactors<T> factors{down, down + A.n};
    for (int direction = 0; direction < 2; ++direction)
      if (team.team_rank() == direction % team.team_size()) chain(shared, factors, direction == 1);
    team.team_barrier();

    const Scaled<T> det = shared.end[0].pair.minor;
    const Factor<T> above = quotient(shared.end[0].couplings.after, det),
                    below = quotient(shared.end[0].couplings.before, det);
    for (std::int64_t i = team.team_rank(); i < A.n; i += team.team_size()) {
      Generators<T>& g = factors.up[i];
      g = {g.over_after * below, g.over_before * above};
    }
    if (team.team_rank() == 0 && shared.code == ok &&
        !(is_same_determinant(det, shared.end[1].pair.minor) &&
          is_same_determinant(det, determinant(shared.middle[0], shared.middle[1]))))
      shared.code = code(Status::Reason::singular, A.n / 2);
    team.team_barrier();

    const bool transposed = to.is_transposed(), had_inverse = shared.code == ok;
    for (std::int64_t index = team.team_rank(); index < A.n * A.n; index += team.team_size()) {
      const std::int64_t slow = index / A.n, fast = index % A.n, i = transposed ? fast : slow,
                         j = transposed ? slow : fast;
      const T v = factors.entry(i, j);
      to.data[i * to.row_stride + j * to.column_stride] = v;
      if (had_inverse && !(finite_probe(v) == 0))
        Kokkos::atomic_min(&shared.code, code(Status::Reason::not_finite, i));
    }
    team.team_barrier();
    const std::int64_t result = shared.code;
    team.team_barrier();
    return result;
  }

 private:
  struct alignas(16) Shared {
    MinorState<T> end[2];
    MinorPair<T> middle[2];  // before row n / 2, and from it on
    std::int64_t code;
  };
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t code(Status::Reason reason, std::int64_t row) {
    return 4 * row + static_cast<int>(reason);
  }

  KOKKOS_FORCEINLINE_FUNCTION void chain(Shared& shared, const InverseFactors<T>& to_factors,
                                         bool reversed) const {
    const DirectedRows<T> rows{A, reversed};
    Generators<T>* const out = reversed ? to_factors.up : to_factors.down;
    std::int64_t bad = ok;
    shared.middle[reversed ? 1 : 0] = {};
    shared.end[reversed ? 1 : 0] = visit_minors(
        rows, 0, A.n, MinorState<T>{},
        [&](std::int64_t r, const Generators<T>& g) { out[rows.row(r)] = g; },
        [&](std::int64_t r, const MinorPair<T>& pair) {
          const std::int64_t place = reversed ? rows.row(r) : r + 1;
          if (place == A.n / 2) shared.middle[reversed ? 1 : 0] = pair;
          if (bad == ok && (pair.is_zero() || !pair.is_finite()))
            bad = code(pair.is_finite() ? Status::Reason::singular : Status::Reason::not_finite, r);
        });
    if (!reversed) shared.code = bad;
  }
};

}  // namespace Trikkos::Impl

#endif
