// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PENTADIAGONAL_HPP
#define TRIKKOS_PENTADIAGONAL_HPP

#include <Trikkos_Tridiagonal.hpp>

namespace Trikkos {

/// A pentadiagonal matrix of n rows, five Views of rank 1 (row), or many of them, five Views of
/// rank 2 (system, row) or 3 (system, system, row).
///
///   (A x)(i) = lower2(i) x(i-2) + lower(i) x(i-1) + diag(i) x(i) + upper(i) x(i+1)
///            + upper2(i) x(i+2)
///
/// All bands have length n, so row i's coefficients share the index i. Layouts, strides, constness,
/// `Uniform` and `Boundary` as in a Tridiagonal: entries outside an open matrix, `lower2(0)`,
/// `lower2(1)`, `lower(0)`, `upper(n-1)`, `upper2(n-2)` and `upper2(n-1)`, are never read; in a
/// periodic one indices wrap around, x(-2) is x(n-2) and x(n+1) is x(1). For n < 5, entries that
/// fall on the same place of a periodic matrix add up.
template <class Lower2, class Lower = Lower2, class Diag = Lower2, class Upper = Lower2,
          class Upper2 = Lower2>
struct Pentadiagonal {
  static_assert(BandType<Lower2> && BandType<Lower> && BandType<Diag> && BandType<Upper> &&
                    BandType<Upper2>,
                "Trikkos::Pentadiagonal: lower2, lower, diag, upper and upper2 must be "
                "Kokkos::Views, or Trikkos::Uniform");
  static_assert(Lower2::rank() == Diag::rank() && Lower::rank() == Diag::rank() &&
                    Upper::rank() == Diag::rank() && Upper2::rank() == Diag::rank(),
                "Trikkos::Pentadiagonal: lower2, lower, diag, upper and upper2 must have the same "
                "rank");
  using value_type = typename Diag::non_const_value_type;
  static_assert(std::is_same_v<typename Lower2::non_const_value_type, value_type> &&
                    std::is_same_v<typename Lower::non_const_value_type, value_type> &&
                    std::is_same_v<typename Upper::non_const_value_type, value_type> &&
                    std::is_same_v<typename Upper2::non_const_value_type, value_type>,
                "Trikkos::Pentadiagonal: lower2, lower, diag, upper and upper2 must have the same "
                "value type");
  static KOKKOS_INLINE_FUNCTION constexpr int rank() { return static_cast<int>(Diag::rank()); }
  /// Diagonals on either side of the main one.
  static constexpr int half_bandwidth = 2;

  Lower2 lower2;
  Lower lower;
  Diag diag;
  Upper upper;
  Upper2 upper2;
  Boundary boundary = Boundary::open;
};

template <class Lower2, class Lower, class Diag, class Upper, class Upper2>
Pentadiagonal(Lower2, Lower, Diag, Upper, Upper2)
    -> Pentadiagonal<Lower2, Lower, Diag, Upper, Upper2>;
template <class Lower2, class Lower, class Diag, class Upper, class Upper2>
Pentadiagonal(Lower2, Lower, Diag, Upper, Upper2, Boundary)
    -> Pentadiagonal<Lower2, Lower, Diag, Upper, Upper2>;

template <class T>
inline constexpr bool is_pentadiagonal_v = false;
template <class... Views>
inline constexpr bool is_pentadiagonal_v<Pentadiagonal<Views...>> = true;

template <class T>
concept PentadiagonalMatrix = is_pentadiagonal_v<std::remove_cvref_t<T>>;

/// A matrix that `solve` takes.
template <class T>
concept BandMatrix = TridiagonalMatrix<T> || PentadiagonalMatrix<T>;

namespace Impl {
template <class Exec, class... Views>
inline constexpr bool is_accessible_v<Exec, Pentadiagonal<Views...>> =
    (is_accessible_v<Exec, Views> && ...);
}

}  // namespace Trikkos

#endif
