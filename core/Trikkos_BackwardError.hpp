// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BACKWARDERROR_HPP
#define TRIKKOS_BACKWARDERROR_HPP

#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Residual.hpp>

namespace Trikkos {

namespace Impl {
/// `backward_error` of `count` solutions.
template <class T, class Exec>
double worst_backward_error(const Exec& exec, const Bands<T>& A, const Columns<const T>& x,
                            const Columns<const T>& b, std::int64_t count) {
  if (count == 0 || A.n == 0) return 0;
  const auto allocated = [&exec](const std::string& label) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label);
  };
  using Memory = typename Exec::memory_space;
  const Kokkos::View<ResidualNorms*, Memory> norms(allocated("Trikkos::backward_error::norms"),
                                                   count);
  const Kokkos::View<std::int64_t[Diagnosis::words], Memory> words(
      allocated("Trikkos::backward_error::words"));
  const Diagnosis diagnosis{words.data()};
  Kokkos::parallel_for("Trikkos::backward_error::reset", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                       ResetDiagnosis{diagnosis});
  const ResidualKernels<T, is_host_v<Exec>> measured{
      A, b, x, count, norms.data(), diagnosis.word + Diagnosis::backward_error};
  measured.measure(exec);
  measured.report(exec);
  return fetch(exec, words, "Trikkos::backward_error").backward_error;
}
}  // namespace Impl

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
/// Blocking: allocates 88 bytes a right-hand side and waits. Reads A, x and b twice.
template <ExecutionSpace Exec, class View, class X, class B>
double backward_error(const Exec& exec, const Tridiagonal<View>& A, const X& x, const B& b) {
  using T = typename View::non_const_value_type;
  Impl::check_matrix_type<Exec, Tridiagonal<View>>();
  static_assert(ViewType<X> && ViewType<B>,
                "Trikkos::backward_error: x and b must be Kokkos::Views");
  static_assert(std::is_same_v<typename X::non_const_value_type, T> &&
                    std::is_same_v<typename B::non_const_value_type, T>,
                "Trikkos::backward_error: x and b must have the value type of A");
  static_assert(X::rank() == B::rank(), "Trikkos::backward_error: x must have the rank of b");
  static_assert(Impl::is_accessible_v<Exec, X> && Impl::is_accessible_v<Exec, B>,
                "Trikkos::backward_error: x and b must be accessible from the execution space");
  constexpr auto function = "Trikkos::backward_error";
  Impl::check_matrix(function, A);
  Impl::check_vectors(function, static_cast<std::int64_t>(A.diag.extent(0)), b, x);

  return Impl::worst_backward_error(exec, Impl::bands(A), Impl::columns<const T>(x),
                                    Impl::columns<const T>(b), Impl::column_count(b));
}

}  // namespace Trikkos

#endif
