// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_MATRICES_HPP
#define TRIKKOS_PAPERS_MATRICES_HPP

#include <array>

#include "Perf_Problem.hpp"

/// \file
/// The matrices of Figures 7, 10 and 12 of SC'12, by the pivots that they ask of diagonal pivoting.

namespace Papers {

enum class Pivots {
  random,   ///< every entry U(-1,1): 1x1 and 2x2 pivots in disorder
  all_1x1,  ///< strictly diagonally dominant, by columns and by rows
  all_2x2   ///< zero diagonal, nonzero off-diagonals
};
inline constexpr std::array all_pivots = {Pivots::random, Pivots::all_1x1, Pivots::all_2x2};

constexpr const char* name(Pivots pivots) {
  return pivots == Pivots::random    ? "random"
         : pivots == Pivots::all_1x1 ? "dominant"
                                     : "zero diagonal";
}

/// Rows a (x(i-1) + x(i+1)) = d with 1/2 <= |a| < 1: x is a sum of independent d/a then. With two
/// independent off-diagonal entries it is a product, which overflows in a system of millions.
struct ZeroDiagonal {
  Kokkos::View<double*, Perf::Exec> lower, diag, upper, random;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    lower(i) = upper(i) = Kokkos::copysign((1 + Kokkos::abs(random(i))) / 2, random(i));
    diag(i) = 0;
  }
};

inline Perf::Problem<double> problem(const Perf::Exec& exec, Pivots pivots, std::int64_t n) {
  using Trikkos::Gallery;
  const Perf::Problem<double> result(
      exec, {pivots == Pivots::all_1x1 ? Gallery::uniform_dominant : Gallery::uniform, n});
  if (pivots == Pivots::all_2x2) {
    const auto& A = result.A;
    Kokkos::parallel_for(
        "Papers::zero_diagonal",
        Kokkos::RangePolicy<Perf::Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
        ZeroDiagonal{A.lower, A.diag, A.upper, Trikkos::gallery_rhs<double>(exec, n, 3)});
    exec.fence("Papers::problem");
  }
  return result;
}

}  // namespace Papers

#endif
