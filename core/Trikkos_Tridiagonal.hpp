// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TRIDIAGONAL_HPP
#define TRIKKOS_TRIDIAGONAL_HPP

#include <Trikkos_Concepts.hpp>

namespace Trikkos {

/// What the two band entries outside the matrix mean.
enum class Boundary {
  open,     ///< lower(0) and upper(n-1) are never read
  periodic  ///< they are the corners A(0,n-1) and A(n-1,0)
};

constexpr const char* name(Boundary boundary) {
  return boundary == Boundary::open ? "open" : "periodic";
}

/// A tridiagonal matrix: three Views of equal length n, rank 1.
///
///   (A x)(i) = lower(i) x(i-1) + diag(i) x(i) + upper(i) x(i+1)
///
/// All bands have length n, so row i's coefficients share the index i (LAPACK's `dl` is `lower`
/// without its first entry, its `du` is `upper` without its last). The Views may have any layout
/// and stride; the matrix refers to them and is never modified by a solve.
///
/// With `Boundary::periodic`, indices wrap around: x(-1) is x(n-1) and x(n) is x(0). For n = 1 and
/// n = 2, entries that fall on the same place of the matrix add up.
template <class View>
struct Tridiagonal {
  static_assert(ViewType<View>,
                "Trikkos::Tridiagonal: lower, diag and upper must be Kokkos::Views");
  using view_type = View;
  using value_type = typename View::non_const_value_type;

  View lower, diag, upper;
  Boundary boundary = Boundary::open;
};

template <class View>
Tridiagonal(View, View, View) -> Tridiagonal<View>;
template <class View>
Tridiagonal(View, View, View, Boundary) -> Tridiagonal<View>;

template <class T>
inline constexpr bool is_tridiagonal_v = false;
template <class View>
inline constexpr bool is_tridiagonal_v<Tridiagonal<View>> = true;

template <class T>
concept TridiagonalMatrix = is_tridiagonal_v<std::remove_cvref_t<T>>;

}  // namespace Trikkos

#endif
