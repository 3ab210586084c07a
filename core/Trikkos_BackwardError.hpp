// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BACKWARDERROR_HPP
#define TRIKKOS_BACKWARDERROR_HPP

#include <Trikkos_Pentadiagonal.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Residual.hpp>

namespace Trikkos {

namespace Impl {
/// `backward_error` of any matrices that have `for_row`.
template <class T, class Exec, class Matrices>
double worst_backward_error(const Exec& exec, const Matrices& A, std::int64_t n, std::int64_t count,
                            const Vectors<const T>& x, const Vectors<const T>& b) {
  if (count == 0 || n == 0) return 0;
  const auto allocated = [&exec](const std::string& label) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label);
  };
  using Memory = typename Exec::memory_space;
  const Kokkos::View<ResidualNorms*, Memory> norms(allocated("Trikkos::backward_error::norms"),
                                                   count);
  const Kokkos::View<Accuracy, Memory> accuracy(allocated("Trikkos::backward_error::accuracy"));
  launch_one(exec, "Trikkos::backward_error::reset", ClearAccuracy{accuracy.data()});
  const ResidualKernels<T, Matrices, is_host_v<Exec>> measured{A, b, x, n, count, norms.data()};
  measured.measure(exec);
  ReportAccuracy{norms.data(), {}, 0, accuracy.data()}.launch(exec, count);
  return fetch(exec, accuracy.data(), "Trikkos::backward_error").worst.value();
}
}  // namespace Impl

/// The normwise backward error of x as a solution of A x = b,
///
///   eta = |b - A x| / (|A| |x| + |b|), infinity norms,
///
/// the worst over all systems; the residual is computed with twice the digits of double. x solves a
/// system within eta of the given one exactly: a few 1e-16 is as good as double gets, however
/// ill-conditioned A is (Higham, Accuracy and Stability, section 7.1). Infinite if A, x or b is not
/// finite, 0 for an empty system.
///
/// \param A     Tridiagonal or Pentadiagonal of n rows, or many, rank 2 (system, n) or 3
/// \param x, b  rank 1 (n), 2 (system, n) or 3 (system, system, n); not modified
/// \throws std::invalid_argument for extents that do not fit
///
/// Blocking: allocates 88 bytes a system and waits. Reads A, x and b twice.
template <ExecutionSpace Exec, BandMatrix Matrix, class X, class B>
double backward_error(const Exec& exec, const Matrix& A, const X& x, const B& b) {
  using T = typename Matrix::value_type;
  TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::backward_error", Matrix);
  TRIKKOS_CHECK_VECTOR_VALUES("Trikkos::backward_error", "x", X, Matrix);
  TRIKKOS_CHECK_VECTOR_VALUES("Trikkos::backward_error", "b", B, Matrix);
  static_assert(X::rank() == B::rank(), "Trikkos::backward_error: x must have the rank of b");
  TRIKKOS_CHECK_ACCESS("Trikkos::backward_error", "A", Exec, Matrix);
  TRIKKOS_CHECK_ACCESS("Trikkos::backward_error", "x", Exec, X);
  TRIKKOS_CHECK_ACCESS("Trikkos::backward_error", "b", Exec, B);
  constexpr auto function = "Trikkos::backward_error";
  Impl::check_matrix(function, A);
  Impl::check_rhs(function, A, b);
  Impl::check_solution(function, b, x);

  const std::int64_t n = Impl::row_count(A.diag), count = Impl::system_count(b);
  return Impl::worst_backward_error<T>(exec, Impl::systems(A, count), n, count,
                                       Impl::vectors<const T>(x), Impl::vectors<const T>(b));
}

}  // namespace Trikkos

#endif
