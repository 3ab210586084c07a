// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_KRYLOVKERNELS_HPP
#define TRIKKOS_IMPL_KRYLOVKERNELS_HPP

#include <impl/Trikkos_KrylovOperators.hpp>

/// \file
/// Passes over vectors. Their coefficients are quotients of sums, which the pass that makes a sum
/// leaves in device memory: so nobody waits between them. Sums are in double, whatever the numbers.

namespace Trikkos::Impl {

template <class T>
using SumOf = std::conditional_t<is_complex_v<T>, Kokkos::complex<double>, double>;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION SumOf<T> inner(const T& x, const T& y) {  // conj(x) y
  if constexpr (is_complex_v<T>)
    return product(conjugate(SumOf<T>(x)), SumOf<T>(y));
  else
    return static_cast<double>(x) * static_cast<double>(y);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION double square(const T& x) {
  return add_square(static_cast<SumOf<T>>(x), 0.);
}

/// What a pass sums up, x^H y, |x|^2 and |y|^2, and the coefficient that follows from it.
template <class T>
struct KrylovSum {
  SumOf<T> dot = 0;
  double square = 0, other_square = 0;
  SumOf<T> quotient = 0;

  KOKKOS_FORCEINLINE_FUNCTION KrylovSum& operator+=(const KrylovSum& b) {
    dot += b.dot;
    square += b.square;
    other_square += b.other_square;
    return *this;
  }
  /// Whether x and y are at right angles, as far as numbers of T tell.
  KOKKOS_FORCEINLINE_FUNCTION bool is_lost() const {
    constexpr double unit = Kokkos::Experimental::epsilon_v<Real<T>>;
    return Kokkos::abs(dot) <= unit * Kokkos::sqrt(square) * Kokkos::sqrt(other_square);
  }
};
/// The last ones; in device memory.
template <class T>
struct KrylovSums {
  KrylovSum<T> rho[2];    // of this step and the one before, in turn
  KrylovSum<T> sigma;     // p^H A p; BiCGStab: of the shadow residual and v
  KrylovSum<T> t;         // t^H s, |t|^2
  KrylovSum<T> residual;  // |r|^2
  KrylovSum<T> right;     // |b|^2
};

/// a / b, or zero where that is no number, so that x stays one.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S finite_quotient(const S& a, const S& b) {
  const S q = a / b;
  return finite_probe(q) == 0 ? q : S(0);
}

/// a x + y; a zero takes nothing of an x that is no number.
template <class S, class T>
KOKKOS_FORCEINLINE_FUNCTION T plus_multiple(const S& a, const T& x, const T& y) {
  return a == S(0) ? y : fused(a, x, y);
}

template <class Exec, class Functor, class T>
void sum_into(const Exec& exec, const char* label, std::int64_t n, const Functor& functor,
              KrylovSum<T>* sum) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::parallel_reduce(label, range(exec, n), functor,
                          Kokkos::View<KrylovSum<T>, typename Exec::memory_space, Unmanaged>(sum));
}

/// All of them, and what `finish` makes of them.
template <class T, class Finish>
struct Dot {
  using value_type = KrylovSum<T>;
  const T *x, *y;
  Finish finish;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, value_type& sum) const {
    sum.dot += inner(x[i], y[i]);
    sum.square += square(x[i]);
    sum.other_square += square(y[i]);
  }
  KOKKOS_INLINE_FUNCTION void final(value_type& sum) const { finish(sum); }
};
template <class T, class Finish>
Dot(const T*, const T*, Finish) -> Dot<T, Finish>;

struct NoQuotient {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(KrylovSum<T>&) const {}
};

// ---- what both methods need

template <class T>
struct CopyVector {
  Strided<const T> from;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i]; }
};
template <class T>
struct SetToZero {
  Strided<T> x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { x[i] = T(0); }
};
/// |b|^2
template <class T>
struct RightSquare {
  using value_type = KrylovSum<T>;
  Strided<const T> b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, value_type& sum) const {
    sum.square += square(b[i]);
  }
};
/// r = b - q
template <class T>
struct Residual {
  using value_type = KrylovSum<T>;
  Strided<const T> b;
  const T* q;
  T* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, value_type& sum) const {
    r[i] = b[i] - q[i];
    sum.square += square(r[i]);
  }
};

// ---- conjugate gradients

/// rho / rho of the step before
template <class T>
struct CgBeta {
  const KrylovSum<T>* before;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(KrylovSum<T>& rho) const {
    rho.quotient = SumOf<T>(finite_quotient(Kokkos::real(rho.dot), Kokkos::real(before->dot)));
  }
};
/// rho / sigma; zero where A or M are seen not to be positive definite, so that x stays.
template <class T>
struct CgAlpha {
  const KrylovSum<T>* rho;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(KrylovSum<T>& sigma) const {
    const double above = Kokkos::real(rho->dot), below = Kokkos::real(sigma.dot);
    sigma.quotient = SumOf<T>(above > 0 && below > 0 ? finite_quotient(above, below) : 0.);
  }
};
/// p = z + beta p
template <class T>
struct CgDirection {
  const KrylovSum<T>* rho;
  bool is_first;
  const T* z;
  T* p;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const auto beta = static_cast<Real<T>>(Kokkos::real(rho->quotient));
    p[i] = is_first ? z[i] : fused(beta, p[i], z[i]);
  }
};
/// x += alpha p, r -= alpha q
template <class T>
struct CgUpdate {
  using value_type = KrylovSum<T>;
  const KrylovSum<T>* sigma;
  const T *p, *q;
  Strided<T> x;
  T* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, value_type& sum) const {
    const auto alpha = static_cast<Real<T>>(Kokkos::real(sigma->quotient));
    x[i] = plus_multiple(alpha, p[i], x[i]);
    r[i] = plus_multiple(-alpha, q[i], r[i]);
    sum.square += square(r[i]);
  }
};

// ---- BiCGStab

/// alpha = rho / sigma; zero where a divisor is lost, so that x stays.
template <class T>
struct BiCgStabAlpha {
  const KrylovSum<T>* rho;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(KrylovSum<T>& sigma) const {
    const bool is_lost = rho->is_lost() || sigma.is_lost();
    sigma.quotient = is_lost ? SumOf<T>(0) : finite_quotient(rho->dot, sigma.dot);
  }
};
/// omega = t^H s / |t|^2
struct BiCgStabOmega {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(KrylovSum<T>& t) const {
    t.quotient = t.is_lost() ? SumOf<T>(0) : finite_quotient(t.dot, SumOf<T>(t.square));
  }
};
/// p = r + beta (p - omega v)
template <class T>
struct BiCgStabDirection {
  const KrylovSums<T>* sums;
  int now;
  bool is_first;
  const T *r, *v;
  T* p;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const T beta(sums->rho[now].quotient), omega(sums->t.quotient);
    p[i] = is_first ? r[i] : fused(beta, fused(-omega, v[i], p[i]), r[i]);
  }
};
/// s = r - alpha v, in the place of r.
template <class T>
struct BiCgStabHalfStep {
  const KrylovSum<T>* sigma;
  const T* v;
  T* r;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    r[i] = plus_multiple(-T(sigma->quotient), v[i], r[i]);
  }
};
/// x += alpha y + omega z, r = s - omega t; rho and beta of the next step.
template <class T>
struct BiCgStabUpdate {
  using value_type = KrylovSum<T>;
  const KrylovSums<T>* sums;
  int now;
  const T *y, *z, *t, *shadow;
  Strided<T> x;
  T* r;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, value_type& sum) const {
    const T alpha(sums->sigma.quotient), omega(sums->t.quotient);
    x[i] = plus_multiple(alpha, y[i], plus_multiple(omega, z[i], x[i]));
    r[i] = plus_multiple(-omega, t[i], r[i]);
    sum.dot += inner(shadow[i], r[i]);
    sum.square += square(r[i]);
    sum.other_square += square(shadow[i]);
  }
  KOKKOS_INLINE_FUNCTION void final(value_type& next) const {
    next.quotient = product(finite_quotient(next.dot, sums->rho[now].dot),
                            finite_quotient(sums->sigma.quotient, sums->t.quotient));
  }
};

}  // namespace Trikkos::Impl

#endif
