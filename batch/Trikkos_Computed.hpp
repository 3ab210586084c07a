// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_COMPUTED_HPP
#define TRIKKOS_COMPUTED_HPP

#include <Trikkos_BackwardError.hpp>
#include <Trikkos_Solve.hpp>
#include <impl/Trikkos_ComputedSystems.hpp>

/// \file
/// Matrices that are not stored.

namespace Trikkos {

/// Tridiagonal or pentadiagonal matrices of n rows whose coefficients a function computes where
/// they are needed:
///
///   Trikkos::Computed A{n, KOKKOS_LAMBDA(std::int64_t system, std::int64_t row) {
///     return Kokkos::Array<double, 3>{-1, 2 + k(system) * h * h, -1};
///   }};
///   Trikkos::Workspace<double, Exec> work(exec, n, count);
///   Trikkos::solve(exec, work, A, b, x);
///
/// f(system, row) returns the coefficients of a row from left to right, three or five, with the
/// meaning they have in a Tridiagonal or Pentadiagonal; those outside an open matrix do not count.
/// There are as many systems as b has; of rank 3, (i, j) of (I, J) is number i J + j, as in a
/// Status. f is called once or more for each row, in any order, and must return the same again.
///
/// Solved by `segmented`, so for every nonsingular matrix; with all options but transposes and
/// `Scaling::columns`. No traffic but b and x: 16 bytes an unknown in double where a solve takes
/// one pass, 24 where two. Kernels are compiled for each type of f.
template <class F>
struct Computed {
  using Row = std::remove_cvref_t<std::invoke_result_t<const F&, std::int64_t, std::int64_t>>;
  using value_type = typename Row::value_type;
  static_assert(Row::size() == 3 || Row::size() == 5,
                "Trikkos::Computed: f must return a Kokkos::Array of 3 or 5 coefficients");
  /// Diagonals on either side of the main one.
  static constexpr int half_bandwidth = static_cast<int>(Row::size() / 2);
  static constexpr int rank() { return 1; }

  std::int64_t n;
  F f;
  Boundary boundary = Boundary::open;
};
template <class Size, class F>
Computed(Size, F) -> Computed<F>;
template <class Size, class F>
Computed(Size, F, Boundary) -> Computed<F>;

namespace Impl {
template <class F>
using SystemsOf = ComputedSystems<typename Computed<F>::value_type, Computed<F>::half_bandwidth, F>;

template <class F>
SystemsOf<F> systems(const Computed<F>& A, std::int64_t count, const Numbering& number = {}) {
  return {{A.f, 0, A.n, A.boundary == Boundary::periodic}, number, count};
}
/// Rows of A, b and x.
template <class F, class B, class X>
void check_computed(const char* function, const Computed<F>& A, const B& b, const X& x) {
  check_count(function, "n", A.n);
  check_rhs(function, A.n, "A.n", b);
  check_solution(function, b, x);
}
}  // namespace Impl

/// Solves with a Workspace made for n and for as many systems, or more: asynchronous, no
/// allocation, no fence.
///
/// \param b, x  as for any matrix: rank 1 (n), 2 (system, n) or 3 (system, system, n); may be the
///              same
/// \throws std::invalid_argument for extents that do not fit, or a workspace with another algorithm
///         than `segmented`, a transpose or `Scaling::columns`
template <ExecutionSpace Exec, class T, int half_bandwidth, class F, class B, class X>
void solve(const Exec& exec, const Workspace<T, Exec, half_bandwidth>& work, const Computed<F>& A,
           const B& b, const X& x) {
  constexpr auto function = "Trikkos::solve";
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Computed<F>);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "b", Exec, B);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "x", Exec, X);
  static_assert(std::is_same_v<typename Computed<F>::value_type, T>,
                "Trikkos::solve: A must have the value type of the workspace");
  static_assert(Computed<F>::half_bandwidth == half_bandwidth,
                "Trikkos::solve: A must have as many diagonals as the workspace is for");
  Impl::expect_extent(function, "A", "rows", A.n, work.size(), "the workspace");
  Impl::check_computed(function, A, b, x);
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(std::string(function) + ": " + what + " (A is computed)");
  };
  if (work.algorithm() != Algorithm::segmented)
    refuse(std::string("algorithm is ") + name(work.algorithm()) +
           ", expected automatic or segmented");
  if (work.options().transpose() != Transpose::none) refuse("transpose is given, expected none");
  if (work.options().scaling() == Scaling::columns)
    refuse("scaling is columns, expected rows or none");
  const Kokkos::Profiling::ScopedRegion region(function);
  const Impl::SystemOrder order = Impl::order_of(x);
  work.run(exec, Impl::systems(A, Impl::system_count(b), order.number),
           Impl::vectors<const T>(b, order), Impl::vectors<T>(x, order), order.number);
}

/// Solves once: allocates, waits.
template <ExecutionSpace Exec, class F, class B, class X>
Status solve(const Exec& exec, const Computed<F>& A, const B& b, const X& x,
             const Options& options = {}) {
  Impl::check_computed("Trikkos::solve", A, b, x);
  const Workspace<typename Computed<F>::value_type, Exec, Computed<F>::half_bandwidth> work(
      exec, A.n, Impl::system_count(b), options);
  solve(exec, work, A, b, x);
  return work.status(exec);
}

/// The backward error of x, as of any matrix. Blocking.
template <ExecutionSpace Exec, class F, class X, class B>
double backward_error(const Exec& exec, const Computed<F>& A, const X& x, const B& b) {
  using T = typename Computed<F>::value_type;
  Impl::check_computed("Trikkos::backward_error", A, b, x);
  const std::int64_t count = Impl::system_count(b);
  return Impl::worst_backward_error<T>(exec, Impl::systems(A, count), A.n, count,
                                       Impl::vectors<const T>(x), Impl::vectors<const T>(b));
}

}  // namespace Trikkos

#endif
