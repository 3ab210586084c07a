// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_CONJUGATEGRADIENT_HPP
#define TRIKKOS_CONJUGATEGRADIENT_HPP

#include <impl/Trikkos_KrylovIteration.hpp>
#include <memory>

namespace Trikkos {

/// The preconditioned conjugate gradient method (Hestenes and Stiefel 1952) for Hermitian positive
/// definite A: its memory, and when it stops.
///
///   const Trikkos::ConjugateGradient<double, Exec> cg(exec, n, options);
///   Trikkos::KrylovResult r = Trikkos::solve(exec, cg, A, b, x);     // from the x that is given
///   Trikkos::KrylovResult r = Trikkos::solve(exec, cg, A, M, b, x);  // with a preconditioner
///
/// A is a CsrMatrix, or what is called `A(exec, x, y)` for y = A x, asynchronously: Kokkos Kernels'
/// or a vendor's product, or one without a matrix. M is a plan of this library (IncompleteCholesky,
/// a Plan of a tridiagonal matrix, a TriangularPlan), or what is called `M(exec, r, z)`. Views that
/// they get are `Kokkos::View<T*, Exec::memory_space>`. M, too, must be positive definite.
///
/// An iteration is one product, one solve with M, and four passes over vectors, 13 words a row. It
/// waits once, for all its sums together, and allocates nothing; a solve waits three times beside,
/// for |b| and for b - A x at first and at last. Sums are in double. When the recurrence says that
/// x has converged, b - A x is computed anew (that wait): only it counts. If it is too large, the
/// method starts again from x.
///
/// A handle, like a View: copies share the memory; it serves one solve at a time.
template <class T, ExecutionSpace Exec>
class ConjugateGradient {
 public:
  using value_type = T;
  using execution_space = Exec;
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::ConjugateGradient: T must be float, double or Kokkos::complex of either");

  /// Allocates 4 vectors, and waits.
  /// \throws std::invalid_argument for negative numbers
  ConjugateGradient(const Exec& exec, std::int64_t n, const KrylovOptions& options = {})
      : m_memory(std::make_shared<Memory>(exec, "Trikkos::ConjugateGradient", n, options)) {}

  std::int64_t size() const { return m_memory->n; }
  const KrylovOptions& options() const { return m_memory->options; }
  std::size_t bytes() const { return m_memory->bytes(); }
  /// |b - A x| of the last solve, as the recurrence has it: at first, and after each iteration.
  const std::vector<double>& history() const { return m_memory->history; }

  /// \private
  template <class Matrix, class Preconditioner>
  KrylovResult run(const Exec& exec, const Matrix& A, const Preconditioner& M,
                   const Impl::Strided<const T>& b, const Impl::Strided<T>& x) const {
    const auto &r = m_memory->vector[0], &p = m_memory->vector[1], &q = m_memory->vector[2];
    const std::int64_t n = m_memory->n;
    Impl::KrylovSums<T>* const sums = m_memory->sums.data();
    int now = 0;
    const auto step = [&](bool is_first) {
      now = 1 - now;
      Impl::KrylovSum<T>*const rho = sums->rho + now, *const before = sums->rho + (1 - now);
      const T* const z = Impl::precondition(exec, M, r, m_memory->vector[3]).data();
      const T* const residual = r.data();
      Impl::sum_into(exec, "Trikkos::ConjugateGradient::rho", n,
                     Impl::Dot{residual, z, Impl::CgBeta<T>{before}}, rho);
      Kokkos::parallel_for("Trikkos::ConjugateGradient::direction", Impl::range(exec, n),
                           Impl::CgDirection<T>{rho, is_first, z, p.data()});
      Impl::multiply(exec, A, p, q);
      const T *const direction = p.data(), *const product = q.data();
      Impl::sum_into(exec, "Trikkos::ConjugateGradient::sigma", n,
                     Impl::Dot{direction, product, Impl::CgAlpha<T>{rho}}, &sums->sigma);
      Impl::sum_into(exec, "Trikkos::ConjugateGradient::update", n,
                     Impl::CgUpdate<T>{&sums->sigma, direction, product, x, r.data()},
                     &sums->residual);
    };
    const auto judge = [&](const Impl::KrylovSums<T>& s) { return judged(s, now); };
    Impl::KrylovSystem<T, Exec, Memory, Matrix> system(exec, *m_memory, A, b, x);
    return system.iterate(step, judge);
  }

 private:
  using Memory = Impl::KrylovMemory<T, Exec, 4>;

  /// What the sums of a step say, and |r|^2.
  static std::pair<KrylovResult::Reason, double> judged(const Impl::KrylovSums<T>& s, int now) {
    using enum KrylovResult::Reason;
    const double rho = Kokkos::real(s.rho[now].dot), sigma = Kokkos::real(s.sigma.dot);
    const double square = s.residual.square;
    if (!std::isfinite(rho + sigma + square)) return {not_finite, square};
    if (rho <= 0) return {indefinite_preconditioner, square};
    return {sigma <= 0 ? indefinite : converged, square};
  }

  std::shared_ptr<Memory> m_memory;
};

/// Solves A x = b by the conjugate gradient method, with a preconditioner M. Waits.
///
/// \param b  right-hand side, rank 1 (n)
/// \param x  rank 1 (n); given: where to start from; not b
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, class Matrix, class Preconditioner, class B, class X>
[[nodiscard]] KrylovResult solve(const Exec& exec, const ConjugateGradient<T, Exec>& cg,
                                 const Matrix& A, const Preconditioner& M, const B& b, const X& x) {
  Impl::check_krylov<T, Exec>("Trikkos::solve", cg.size(), A, b, x);
  const Kokkos::Profiling::ScopedRegion region("Trikkos::solve");
  return cg.run(exec, A, M, Impl::strided<const T>(b), Impl::strided<T>(x));
}
/// The same without a preconditioner.
template <ExecutionSpace Exec, class T, class Matrix, class B, class X>
[[nodiscard]] KrylovResult solve(const Exec& exec, const ConjugateGradient<T, Exec>& cg,
                                 const Matrix& A, const B& b, const X& x) {
  return solve(exec, cg, A, Impl::Identity{}, b, x);
}

}  // namespace Trikkos

#endif
