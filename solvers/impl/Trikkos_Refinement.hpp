// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_REFINEMENT_HPP
#define TRIKKOS_IMPL_REFINEMENT_HPP

#include <impl/Trikkos_Residual.hpp>

/// \file
/// Iterative refinement with a guard: x becomes x + d, where A d = b - A x, only if that makes the
/// backward error smaller. A smaller residual is not enough: x may have shrunk far more.

namespace Trikkos::Impl {

/// x + d, not stored.
template <class T>
struct Corrected {
  Strided<const T> x, d;
  KOKKOS_FORCEINLINE_FUNCTION T operator[](std::int64_t i) const { return x[i] + d[i]; }
};

template <class T, class Matrices, bool Host>
struct Refinement {
  ResidualKernels<T, Matrices, Host> measured;  // of x, with the residual stored in d
  Vectors<T> x, d;

  struct Trial {};
  struct Decide {};
  struct Keep {};

  KOKKOS_INLINE_FUNCTION void operator()(Trial, std::int64_t item) const {
    ResidualNorms& found = measured.norms[split_index(item, measured.rows().count()).first];
    const ResidualScale scale(found);
    RowMaxima<T> maxima;
    measured.rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      const Corrected<T> sum{{x[k].data, x.row_stride}, {d[k].data, d.row_stride}};
      maxima.take(row_residual(measured.A[k], measured.b[k], sum, i, scale));
    });
    found.trial.x.raise(maxima.x);
    found.trial.residual.raise(maxima.residual);
    found.trial.row_error.raise(maxima.row_error);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Decide, std::int64_t k) const {
    ResidualNorms& norms = measured.norms[k];
    norms.is_improved = is_improved(norms);
    if (norms.is_improved) norms.fit = norms.trial;
    norms.trial.clear();
  }
  KOKKOS_INLINE_FUNCTION void operator()(Keep, std::int64_t index) const {
    const auto [k, i] = split_index(index, measured.n);
    if (measured.norms[k].is_improved) x[k][i] += d[k][i];
  }

  /// `solve()` replaces the residual in d by the correction.
  template <class Exec, class Solve>
  void launch(const Exec& exec, int steps, const Solve& solve) const {
    for (int step = 0; step < steps; ++step) {
      if (step > 0) measured.store_residual(exec);
      solve();
      Kokkos::parallel_for("Trikkos::refine::trial", range<Trial>(exec, measured.items()), *this);
      Kokkos::parallel_for("Trikkos::refine::decide", range<Decide>(exec, measured.count), *this);
      Kokkos::parallel_for("Trikkos::refine::keep", range<Keep>(exec, measured.count * measured.n),
                           *this);
    }
  }

 private:
  /// Above the unit roundoff the normwise error decides. Below it that error is rounding and says
  /// nothing, and the errors of single rows do: of badly scaled columns they see the small
  /// unknowns.
  KOKKOS_INLINE_FUNCTION static bool is_improved(const ResidualNorms& norms) {
    constexpr double epsilon = Kokkos::Experimental::epsilon_v<Real<T>>;
    // An x + d beside which the scale of x is too large by far is not measured: it may vanish.
    if (!(norms.trial.x.value() >= 0x1p-500)) return false;
    const double before = norms.eta(norms.fit), after = norms.eta(norms.trial);
    if (before > epsilon) return after < before;
    return after <= epsilon && norms.trial.row_error.value() < norms.fit.row_error.value();
  }
};

}  // namespace Trikkos::Impl

#endif
