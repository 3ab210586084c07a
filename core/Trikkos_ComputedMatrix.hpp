// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_COMPUTEDMATRIX_HPP
#define TRIKKOS_COMPUTEDMATRIX_HPP

#include <impl/Trikkos_ComputedSystems.hpp>

namespace Trikkos {

namespace Impl {
/// One of many.
template <class F>
struct OneOfMany {
  F f;
  std::int64_t system;

  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int64_t row) const { return f(system, row); }
};
}  // namespace Impl

/// Tridiagonal or pentadiagonal matrices of n rows whose coefficients a function computes where
/// they are needed:
///
///   Trikkos::Computed A{n, KOKKOS_LAMBDA(std::int64_t system, std::int64_t row) {
///     return Kokkos::Array<double, 3>{-1, 2 + k(system) * h * h, -1};
///   }};
///   Trikkos::Workspace work(exec, A, b);
///   Trikkos::solve(exec, work, A, b, x);
///
/// f(system, row) returns the coefficients of a row from left to right, three or five, with the
/// meaning they have in a Tridiagonal or Pentadiagonal; those outside an open matrix do not count.
/// There are as many systems as b has; of rank 3, (i, j) of (I, J) is number i J + j, as in a
/// Status. With f(row) there is one matrix for all right-hand sides. f is called once or more for
/// each row, in any order, and must return the same again.
///
/// Solved by `segmented`, so for every nonsingular matrix; with all options but transposes and
/// `Scaling::columns`. No traffic but b and x: 16 bytes an unknown in double where a solve takes
/// one pass, 24 where two. Kernels are compiled for each type of f. A Plan evaluates f once, and
/// then has what it has of a stored matrix. For kernels, see Trikkos_ComputedInKernel.hpp.
template <class F>
struct Computed {
  using Row = std::remove_cvref_t<decltype(Impl::row_of(std::declval<const F&>(), 0, 0))>;
  using value_type = typename Row::value_type;
  static_assert(Row::size() == 3 || Row::size() == 5,
                "Trikkos::Computed: f must return a Kokkos::Array of 3 or 5 coefficients");
  /// Diagonals on either side of the main one.
  static constexpr int half_bandwidth = static_cast<int>(Row::size() / 2);
  /// f(row), not f(system, row).
  static constexpr bool is_one = !Impl::is_of_many_v<F>;
  static constexpr int rank() { return 1; }

  std::int64_t n;
  F f;
  Boundary boundary = Boundary::open;

  /// The matrix of one system: that of a thread or team in a kernel.
  KOKKOS_FUNCTION auto operator[](std::int64_t system) const {
    if constexpr (is_one)
      return *this;
    else
      return Computed<Impl::OneOfMany<F>>{n, {f, system}, boundary};
  }
};
template <class Size, class F>
Computed(Size, F) -> Computed<F>;
template <class Size, class F>
Computed(Size, F, Boundary) -> Computed<F>;

namespace Impl {
template <class M>
inline constexpr bool is_computed_v = false;
template <class F>
inline constexpr bool is_computed_v<Computed<F>> = true;

template <class F>
using SystemsOf = ComputedSystems<typename Computed<F>::value_type, Computed<F>::half_bandwidth, F>;

template <class F>
KOKKOS_INLINE_FUNCTION auto bands(const Computed<F>& A) {
  return MatrixOf<SystemsOf<F>>{A.f, 0, A.n, A.boundary == Boundary::periodic};
}
template <class F>
SystemsOf<F> systems(const Computed<F>& A, std::int64_t count, const Numbering& number = {}) {
  return {bands(A), number, count};
}
}  // namespace Impl

}  // namespace Trikkos

#endif
