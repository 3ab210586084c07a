// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TRIDIAGONAL_HPP
#define TRIKKOS_TRIDIAGONAL_HPP

#include <Trikkos_Uniform.hpp>

namespace Trikkos {

/// What the two band entries outside the matrix mean.
enum class Boundary {
  open,     ///< lower(0) and upper(n-1) are never read
  periodic  ///< they are the corners A(0,n-1) and A(n-1,0)
};

constexpr const char* name(Boundary boundary) {
  return boundary == Boundary::open ? "open" : "periodic";
}

/// A tridiagonal matrix of n rows, three Views of rank 1 (row), or many of them, three Views of
/// rank 2 (system, row) or 3 (system, system, row).
///
///   (A x)(i) = lower(i) x(i-1) + diag(i) x(i) + upper(i) x(i+1)
///
/// All bands have length n, so row i's coefficients share the index i. (LAPACK's `dl` and `du` have
/// n-1 entries: see `lapack_bands`.) The Views may differ in layout, stride and constness; the
/// matrix refers to them and is never modified by a solve. Many matrices in LayoutLeft are
/// interleaved: row i of neighbouring systems is adjacent; in LayoutRight each system is
/// contiguous. A band of equal entries may be `Uniform` instead of a View.
///
/// With `Boundary::periodic`, indices wrap around: x(-1) is x(n-1) and x(n) is x(0). For n = 1 and
/// n = 2, entries that fall on the same place of the matrix add up.
template <class Lower, class Diag = Lower, class Upper = Lower>
struct Tridiagonal {
  static_assert(BandType<Lower> && BandType<Diag> && BandType<Upper>,
                "Trikkos::Tridiagonal: lower, diag and upper must be Kokkos::Views, or "
                "Trikkos::Uniform");
  static_assert(Lower::rank() == Diag::rank() && Upper::rank() == Diag::rank(),
                "Trikkos::Tridiagonal: lower, diag and upper must have the same rank");
  using value_type = typename Diag::non_const_value_type;
  static_assert(std::is_same_v<typename Lower::non_const_value_type, value_type> &&
                    std::is_same_v<typename Upper::non_const_value_type, value_type>,
                "Trikkos::Tridiagonal: lower, diag and upper must have the same value type");
  static KOKKOS_INLINE_FUNCTION constexpr int rank() { return static_cast<int>(Diag::rank()); }
  /// Diagonals on either side of the main one.
  static constexpr int half_bandwidth = 1;

  Lower lower;
  Diag diag;
  Upper upper;
  Boundary boundary = Boundary::open;
};

template <class Lower, class Diag, class Upper>
Tridiagonal(Lower, Diag, Upper) -> Tridiagonal<Lower, Diag, Upper>;
template <class Lower, class Diag, class Upper>
Tridiagonal(Lower, Diag, Upper, Boundary) -> Tridiagonal<Lower, Diag, Upper>;

template <class T>
inline constexpr bool is_tridiagonal_v = false;
template <class... Views>
inline constexpr bool is_tridiagonal_v<Tridiagonal<Views...>> = true;

template <class T>
concept TridiagonalMatrix = is_tridiagonal_v<std::remove_cvref_t<T>>;

namespace Impl {
template <class Exec, class... Views>
inline constexpr bool is_accessible_v<Exec, Tridiagonal<Views...>> =
    (is_accessible_v<Exec, Views> && ...);
}

}  // namespace Trikkos

#endif
