// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORSINKERNEL_HPP
#define TRIKKOS_IMPL_FACTORSINKERNEL_HPP

#include <impl/factored/Trikkos_FactoredSweep.hpp>
#include <impl/factored/Trikkos_OrthogonalFactors.hpp>
#include <impl/factored/Trikkos_WideOrthogonalFactors.hpp>
#include <impl/thomas/Trikkos_ShermanMorrison.hpp>

/// \file
/// What one thread can factor, and solve with. The forms have the members of OrthogonalFactors:
/// words(n, periodic), factor(A) and solve(b, x).

namespace Trikkos::Impl {

/// LU without pivoting, or that of a periodic matrix without its corners and the correction for
/// them.
template <class T, int W, bool corrects>
class PlainFactors {
  using FactorsOf = FactorsFor<T, W, corrects>;

 public:
  KOKKOS_INLINE_FUNCTION PlainFactors(std::int64_t n, bool periodic, T* data)
      : m_factors(FactorsOf::whole(n, periodic, data)) {}

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t words(std::int64_t n, bool periodic) {
    return FactorsOf::whole(n, periodic, nullptr).words;
  }
  template <class Rows>
  KOKKOS_INLINE_FUNCTION std::int64_t factor(const Rows& A) const {
    return factor_rows(A, m_factors);
  }
  KOKKOS_INLINE_FUNCTION Real<T> solve(const Strided<const T>& b, const Strided<T>& x) const {
    return sweep(
        m_factors, [&](std::int64_t i) { return b[i]; }, x);
  }

 private:
  FactorsOf m_factors;
};

/// A type as an argument.
template <class Type>
struct As {
  using type = Type;
};

/// f(As<form>{}) with the form that the options ask for.
template <class T, int W = 1, class F>
KOKKOS_INLINE_FUNCTION constexpr auto with_factors(const Options& options, std::int64_t n,
                                                   bool periodic, const F& f) {
  using Orthogonal = std::conditional_t<W == 1, OrthogonalFactors<T>, WideOrthogonalFactors<T, W>>;
  if (options.algorithm() != Algorithm::thomas) return f(As<Orthogonal>{});
  if (corrects_corners<W>(options, n, periodic)) return f(As<PlainFactors<T, W, true>>{});
  return f(As<PlainFactors<T, W, false>>{});
}

}  // namespace Trikkos::Impl

#endif
