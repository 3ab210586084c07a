// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_COMPUTED_HPP
#define TRIKKOS_COMPUTED_HPP

#include <Trikkos_BackwardError.hpp>
#include <Trikkos_ComputedMatrix.hpp>
#include <Trikkos_Solve.hpp>

/// \file
/// Solves with matrices that are not stored, `Computed` (Trikkos_ComputedMatrix.hpp).

namespace Trikkos {

namespace Impl {
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
  const Algorithm algorithm = work.options().algorithm();
  if (algorithm != Algorithm::automatic && algorithm != Algorithm::segmented)
    refuse(std::string("algorithm is ") + name(algorithm) + ", expected automatic or segmented");
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
