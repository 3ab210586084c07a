// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BICGSTAB_HPP
#define TRIKKOS_BICGSTAB_HPP

#include <impl/Trikkos_KrylovIteration.hpp>
#include <memory>

namespace Trikkos {

/// The preconditioned BiCGStab method (van der Vorst 1992) for any nonsingular A: its memory, and
/// when it stops. It may break down, and says so; M acts from the right, so that residuals are
/// those of A x = b.
///
///   const Trikkos::BiCgStab<double, Exec> bicgstab(exec, n, options);
///   Trikkos::KrylovResult r = Trikkos::solve(exec, bicgstab, A, M, b, x);  // or without M
///
/// A and M are those of ConjugateGradient; M may be an IncompleteLu. An iteration is two products,
/// two solves with M, and five passes over vectors, 19 words a row. It waits once, for all its sums
/// together, and allocates nothing; a solve waits three times beside, for |b| and for b - A x at
/// first and at last. Sums are in double. When the recurrence says that x has converged, b - A x is
/// computed anew (that wait): only it counts. If it is too large, or at a breakdown, the method
/// starts again from x, as long as that has halved the residual.
///
/// A handle, like a View: copies share the memory; it serves one solve at a time.
template <class T, ExecutionSpace Exec>
class BiCgStab {
 public:
  using value_type = T;
  using execution_space = Exec;
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::BiCgStab: T must be float, double or Kokkos::complex of either");

  /// Allocates 7 vectors, and waits.
  /// \throws std::invalid_argument for negative numbers
  BiCgStab(const Exec& exec, std::int64_t n, const KrylovOptions& options = {})
      : m_memory(std::make_shared<Memory>(exec, "Trikkos::BiCgStab", n, options)) {}

  std::int64_t size() const { return m_memory->n; }
  const KrylovOptions& options() const { return m_memory->options; }
  std::size_t bytes() const { return m_memory->bytes(); }
  /// |b - A x| of the last solve, as the recurrence has it: at first, and after each iteration.
  const std::vector<double>& history() const { return m_memory->history; }

  /// \private
  template <class Matrix, class Preconditioner>
  KrylovResult run(const Exec& exec, const Matrix& A, const Preconditioner& M,
                   const Impl::Strided<const T>& b, const Impl::Strided<T>& x) const {
    const auto& vector = m_memory->vector;
    const auto &r = vector[0], &p = vector[1], &v = vector[2], &t = vector[3];
    T* const shadow = vector[4].data();
    const std::int64_t n = m_memory->n;
    Impl::KrylovSums<T>* const sums = m_memory->sums.data();
    int now = 0;
    const auto step = [&](bool is_first) {
      now = 1 - now;
      const T *const residual = r.data(), *const product = v.data(), *const second = t.data();
      if (is_first) {
        Kokkos::parallel_for("Trikkos::BiCgStab::shadow", Impl::range(exec, n),
                             Impl::CopyVector<T>{{residual, 1}, shadow});
        Impl::sum_into(exec, "Trikkos::BiCgStab::rho", n,
                       Impl::Dot{residual, residual, Impl::NoQuotient{}}, sums->rho + now);
      }
      Kokkos::parallel_for(
          "Trikkos::BiCgStab::direction", Impl::range(exec, n),
          Impl::BiCgStabDirection<T>{sums, now, is_first, residual, product, p.data()});
      const auto& y = Impl::precondition(exec, M, p, vector[5]);
      Impl::multiply(exec, A, y, v);
      const T* const of_shadow = shadow;
      Impl::sum_into(exec, "Trikkos::BiCgStab::sigma", n,
                     Impl::Dot{of_shadow, product, Impl::BiCgStabAlpha<T>{sums->rho + now}},
                     &sums->sigma);
      Kokkos::parallel_for("Trikkos::BiCgStab::half_step", Impl::range(exec, n),
                           Impl::BiCgStabHalfStep<T>{&sums->sigma, product, r.data()});
      const auto& z = Impl::precondition(exec, M, r, vector[6]);
      Impl::multiply(exec, A, z, t);
      Impl::sum_into(exec, "Trikkos::BiCgStab::omega", n,
                     Impl::Dot{second, residual, Impl::BiCgStabOmega{}}, &sums->t);
      Impl::sum_into(
          exec, "Trikkos::BiCgStab::update", n,
          Impl::BiCgStabUpdate<T>{sums, now, y.data(), z.data(), second, of_shadow, x, r.data()},
          sums->rho + (1 - now));
    };
    const auto judge = [&](const Impl::KrylovSums<T>& s) { return judged(s, now); };
    Impl::KrylovSystem<T, Exec, Memory, Matrix> system(exec, *m_memory, A, b, x);
    return system.iterate(step, judge);
  }

 private:
  using Memory = Impl::KrylovMemory<T, Exec, 7>;

  /// What the sums of a step say, and |r|^2.
  static std::pair<KrylovResult::Reason, double> judged(const Impl::KrylovSums<T>& s, int now) {
    using enum KrylovResult::Reason;
    const double square = s.rho[1 - now].square;
    double sum = square;
    auto reason = converged;
    for (const auto* const divisor : {&s.rho[now], &s.sigma, &s.t}) {
      if (divisor->is_lost()) reason = breakdown;
      sum += Kokkos::abs(divisor->dot) + divisor->square + divisor->other_square;
    }
    return {std::isfinite(sum) ? reason : not_finite, square};
  }

  std::shared_ptr<Memory> m_memory;
};

/// Solves A x = b by the BiCGStab method, with a preconditioner M. Waits.
///
/// \param b  right-hand side, rank 1 (n)
/// \param x  rank 1 (n); given: where to start from; not b
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, class Matrix, class Preconditioner, class B, class X>
[[nodiscard]] KrylovResult solve(const Exec& exec, const BiCgStab<T, Exec>& bicgstab,
                                 const Matrix& A, const Preconditioner& M, const B& b, const X& x) {
  Impl::check_krylov<T, Exec>("Trikkos::solve", bicgstab.size(), A, b, x);
  const Kokkos::Profiling::ScopedRegion region("Trikkos::solve");
  return bicgstab.run(exec, A, M, Impl::strided<const T>(b), Impl::strided<T>(x));
}
/// The same without a preconditioner.
template <ExecutionSpace Exec, class T, class Matrix, class B, class X>
[[nodiscard]] KrylovResult solve(const Exec& exec, const BiCgStab<T, Exec>& bicgstab,
                                 const Matrix& A, const B& b, const X& x) {
  return solve(exec, bicgstab, A, Impl::Identity{}, b, x);
}

}  // namespace Trikkos

#endif
