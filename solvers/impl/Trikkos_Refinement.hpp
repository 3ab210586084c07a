// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_REFINEMENT_HPP
#define TRIKKOS_IMPL_REFINEMENT_HPP

#include <impl/Trikkos_Residual.hpp>

/// \file
/// Iterative refinement with a guard: x becomes x + d, where A d = b - A x, only if that makes the
/// largest entry of the residual smaller. Residuals in double-double arithmetic.

namespace Trikkos::Impl {

/// Largest entries of b - A x and b - A (x + d).
struct RefinementNorms {
  Maximum before, after;
};

/// x + d, not stored.
template <class T>
struct Corrected {
  Strided<const T> x, d;
  KOKKOS_FORCEINLINE_FUNCTION T operator[](std::int64_t i) const { return x[i] + d[i]; }
};

template <class T, bool Host>
struct Refinement {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x, d;  // d: first the residual, then the correction
  RefinementNorms* norms;

  struct Clear {};
  struct Residual {};
  struct Trial {};
  struct Keep {};

  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t k) const {
    norms[k].before.clear();
    norms[k].after.clear();
  }

  KOKKOS_INLINE_FUNCTION void operator()(Residual, std::int64_t item) const {
    double largest = 0;
    const std::int64_t system = rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      const RowResidual r = row_residual(A, b[k], x[k], i, ResidualScale{});
      if constexpr (is_complex_v<T>)
        d[k][i] = T(r.re, r.im);
      else
        d[k][i] = static_cast<T>(r.re);
      largest = max_or_nan(largest, length<T>(r.re, r.im));
    });
    norms[system].before.raise(largest);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Trial, std::int64_t item) const {
    double largest = 0;
    const std::int64_t system = rows().for_rows(item, [&](std::int64_t k, std::int64_t i) {
      const Corrected<T> sum{{x[k].data, x.row_stride}, {d[k].data, d.row_stride}};
      const RowResidual r = row_residual(A, b[k], sum, i, ResidualScale{});
      largest = max_or_nan(largest, length<T>(r.re, r.im));
    });
    norms[system].after.raise(largest);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Keep, std::int64_t index) const {
    const auto [k, i] = split_index(index, A.n);
    if (norms[k].after.value() < norms[k].before.value()) x[k][i] += d[k][i];
  }

  /// `solve()` replaces the residual in d by the correction.
  template <class Exec, class Solve>
  void launch(const Exec& exec, std::int64_t rhs_count, const Solve& solve) const {
    using Kokkos::RangePolicy;
    using Index = Kokkos::IndexType<std::int64_t>;
    const std::int64_t items = rhs_count * rows().count();
    Kokkos::parallel_for("Trikkos::refine::clear",
                         RangePolicy<Exec, Index, Clear>(exec, 0, rhs_count), *this);
    Kokkos::parallel_for("Trikkos::refine::residual",
                         RangePolicy<Exec, Index, Residual>(exec, 0, items), *this);
    solve();
    Kokkos::parallel_for("Trikkos::refine::trial", RangePolicy<Exec, Index, Trial>(exec, 0, items),
                         *this);
    Kokkos::parallel_for("Trikkos::refine::keep",
                         RangePolicy<Exec, Index, Keep>(exec, 0, rhs_count * A.n), *this);
  }

 private:
  KOKKOS_INLINE_FUNCTION RowItems<Host> rows() const { return {A.n}; }
};

}  // namespace Trikkos::Impl

#endif
