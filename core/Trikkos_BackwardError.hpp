// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BACKWARDERROR_HPP
#define TRIKKOS_BACKWARDERROR_HPP

#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Residual.hpp>

namespace Trikkos {

/// The normwise backward error of x as a solution of A x = b,
///
///   eta = |b - A x| / (|A| |x| + |b|), infinity norms,
///
/// the worst over all right-hand sides; the residual is computed with twice the digits of double.
/// x solves a system within eta of the given one exactly: a few 1e-16 is as good as double gets,
/// however ill-conditioned A is (Higham, Accuracy and Stability, section 7.1). Infinite if A, x or
/// b is not finite, 0 for an empty system.
///
/// \param A     tridiagonal matrix of n rows
/// \param x, b  rank 1 (n) or rank 2 (system, n); not modified
/// \throws std::invalid_argument for extents that do not fit
///
/// Blocking: allocates 40 bytes a right-hand side and waits. Reads A, x and b twice.
template <ExecutionSpace Exec, class View, class X, class B>
double backward_error(const Exec& exec, const Tridiagonal<View>& A, const X& x, const B& b) {
  using T = typename View::non_const_value_type;
  Impl::check_matrix_type<Exec, Tridiagonal<View>>();
  static_assert(ViewType<X> && ViewType<B>,
                "Trikkos::backward_error: x and b must be Kokkos::Views");
  static_assert(X::rank() == B::rank(), "Trikkos::backward_error: x must have the rank of b");
  static_assert(Impl::is_accessible_v<Exec, X> && Impl::is_accessible_v<Exec, B>,
                "Trikkos::backward_error: x and b must be accessible from the execution space");
  constexpr auto function = "Trikkos::backward_error";
  Impl::check_matrix(function, A);
  Impl::check_vectors(function, static_cast<std::int64_t>(A.diag.extent(0)), b, x);

  const std::int64_t count = Impl::column_count(b);
  Kokkos::View<Impl::ResidualNorms*, typename Exec::memory_space> norms(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::backward_error::norms"),
      count);
  Kokkos::View<double, typename Exec::memory_space> worst(
      Kokkos::view_alloc(exec, "Trikkos::backward_error::worst"));
  Impl::ResidualKernels<T>{
      Impl::bands(A), Impl::columns<const T>(b), Impl::columns<const T>(x), count, norms.data(),
      worst.data()}
      .launch(exec);
  double eta = 0;
  Kokkos::deep_copy(exec, eta, worst);
  exec.fence("Trikkos::backward_error");
  return eta;
}

}  // namespace Trikkos

#endif
