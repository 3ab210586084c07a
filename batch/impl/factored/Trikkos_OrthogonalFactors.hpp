// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ORTHOGONALFACTORS_HPP
#define TRIKKOS_IMPL_ORTHOGONALFACTORS_HPP

#include <impl/Trikkos_DoubleWord.hpp>
#include <impl/partition/Trikkos_Rotation.hpp>
#include <impl/partition/Trikkos_Segment.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// One matrix, factored by Givens rotations: A = Q R, rows scaled. One row is carried,
///
///   p x_k + q x_(k+1) + v x_(n-2) + w x_(n-1) = f
///
/// and rotated with the next one, which takes x_k out of it and leaves row k of R, with another
/// coefficient of x_(k+2). v and w are zero but for periodic matrices. Their last row,
///
///   p' x_k + v' x_(n-2) + w' x_(n-1) = f'
///
/// is carried along, and rotated with the carried one before that meets the next.
///
/// Nothing grows, so this is backward stable for every matrix (Higham, chapter 19). But a number
/// that is multiplied by nearly 1 again and again is rounded the same way each time, and one unit
/// in the last place for each row was what a search found. So f, v, w and f', v', w' are carried in
/// twice the digits; p and q, which live for two steps, need not be.

namespace Trikkos::Impl {

/// Of length 1, not only nearly so: in a chain of any length rows stay as long as they are.
template <class T>
struct UnitRotation : Rotation<T> {
  KOKKOS_FORCEINLINE_FUNCTION UnitRotation(const T& alpha, const T& beta)
      : Rotation<T>(Rotation<T>::scaled(alpha, beta)) {
    const Real<T> length = Kokkos::sqrt(sum_of_squares(this->c, this->s));
    this->c = this->c / length;
    this->s = this->s / length;
    this->p = this->pivot(alpha, beta);
  }
};

/// Where R and the rotations lie.
template <class T>
class OrthogonalFactors {
  /// Of a row of R, and of the rotations that made it.
  enum Band : int { inverse, next, after, c, s, scale, before_end, end, end_c, end_s };
  static constexpr int open_bands = 6, ring_bands = 10;
  using Long = DoubleWords<T>;

  T* m_data;
  std::int64_t m_n;
  bool m_ring;  // periodic, of more than one row

 public:
  KOKKOS_INLINE_FUNCTION OrthogonalFactors(std::int64_t n, bool periodic, T* data)
      : m_data(data), m_n(n), m_ring(periodic && n > 1) {}

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t words(std::int64_t n, bool periodic) {
    return n * (periodic ? ring_bands : open_bands);
  }

  /// Returns the first row that is not finite or without a pivot, -1 if none.
  template <class Rows>
  KOKKOS_INLINE_FUNCTION std::int64_t factor(const Rows& A) const {
    std::int64_t bad = -1;
    const auto expect_finite = [&](std::int64_t i, const Real<T>& probe) {
      if (bad < 0 && !(probe == 0)) bad = i;
    };
    // with the scale for its right-hand side
    const auto row = [&](std::int64_t i) {
      const auto e = scaled(Equation<T>{A.lower(i), A.diag(i), A.upper(i), T(1)}, A.scale_rows);
      at(scale, i) = e.d;
      expect_finite(i, finite_probe(e.a) + finite_probe(e.b) + finite_probe(e.c));
      return e;
    };
    // row i of those that are carried, and its coefficient of x_(n-1) in a ring
    const auto inner_row = [&](std::int64_t i, T& outer) {
      Equation<T> e = row(i);
      outer = m_ring && i == 0 ? e.a : T(0);
      if (m_ring && i == m_n - 2) {
        outer += e.c;
        e.c = T(0);
      }
      return e;
    };
    T outer;
    const Equation<T> first = inner_row(0, outer);
    T p = m_n > 1 ? first.b : first.a + first.b + first.c, q = first.c;
    Long v, w(outer);
    T last_p(0);
    Long last_v, last_w;
    if (m_ring) {
      const Equation<T> last = row(m_n - 1);
      last_p = last.c;
      last_v = Long(last.a);
      last_w = Long(last.b);
    }
    for (std::int64_t k = 0; k < rows(); ++k) {
      if (m_ring) {
        if (k == m_n - 2) {  // columns meet
          p += v.value();
          last_p += last_v.value();
          v = last_v = Long();
        }
        const UnitRotation<T> g(p, last_p);
        p = g.p;
        last_p = -product(g.s, q);
        q = product(conjugate(g.c), q);
        rotate(g.c, g.s, v, last_v);
        rotate(g.c, g.s, w, last_w);
        at(end_c, k) = g.c;
        at(end_s, k) = g.s;
      }
      T row_p = p, row_q = q, row_r(0);
      Long row_v = v, row_w = w;
      if (k + 1 < rows()) {
        const Equation<T> e = inner_row(k + 1, outer);
        const UnitRotation<T> g(p, e.a);
        row_p = g.p;
        row_q = g.pivot(q, e.b);
        row_r = product(conjugate(g.s), e.c);
        p = g.next(q, e.b);
        q = product(g.c, e.c);
        if (m_ring) {
          v = Long();
          w = Long(outer);
          rotate(g.c, g.s, row_v, v);
          rotate(g.c, g.s, row_w, w);
        }
        at(c, k) = g.c;
        at(s, k) = g.s;
      }
      at(inverse, k) = quotient(T(1), row_p);
      at(next, k) = row_q;
      at(after, k) = row_r;
      if (m_ring) {
        at(before_end, k) = row_v.value();
        at(end, k) = row_w.value();
      }
      expect_finite(k, finite_probe(at(inverse, k)));
    }
    if (m_ring) {
      at(inverse, m_n - 1) = quotient(T(1), last_w.value());
      expect_finite(m_n - 1, finite_probe(at(inverse, m_n - 1)));
    }
    return bad;
  }

  /// x may be b. Returns not a number unless x is finite.
  KOKKOS_INLINE_FUNCTION Real<T> solve(const Strided<const T>& b, const Strided<T>& x) const {
    Long f(right(b, 0)), last;
    if (m_ring) last = Long(right(b, m_n - 1));
    for (std::int64_t k = 0; k < rows(); ++k) {
      if (m_ring) rotate(at(end_c, k), at(end_s, k), f, last);
      Long row_f = f;
      if (k + 1 < rows()) {
        f = Long(right(b, k + 1));
        rotate(at(c, k), at(s, k), row_f, f);
      }
      x[k] = row_f.value();
    }
    const T outer = m_ring ? product(at(inverse, m_n - 1), last.value()) : T(0);
    if (m_ring) x[m_n - 1] = outer;
    Real<T> probe = finite_probe(outer);
    T x1(0), x2(0), before(0);  // x_(k+1), x_(k+2), and x_(n-2) behind it
    for (std::int64_t k = rows() - 1; k >= 0; --k) {
      T v = x[k];
      if (m_ring) v = fused(-at(before_end, k), before, fused(-at(end, k), outer, v));
      v = product(at(inverse, k), fused(-at(after, k), x2, fused(-at(next, k), x1, v)));
      x2 = x1;
      x1 = x[k] = v;
      if (k == m_n - 2) before = v;
      probe += finite_probe(v);
    }
    return probe;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const { return m_ring ? m_n - 1 : m_n; }
  KOKKOS_FORCEINLINE_FUNCTION T& at(Band band, std::int64_t k) const {
    return m_data[band * m_n + k];
  }
  /// A column of two rows.
  static KOKKOS_FORCEINLINE_FUNCTION void rotate(const T& c, const T& s, Long& above, Long& below) {
    const Long old = above;
    above = sum_of_products(conjugate(c), old, conjugate(s), below);
    below = sum_of_products(c, below, -s, old);
  }
  KOKKOS_FORCEINLINE_FUNCTION T right(const Strided<const T>& b, std::int64_t i) const {
    if constexpr (is_complex_v<T>)
      return product(at(scale, i).real(), b[i]);
    else
      return at(scale, i) * b[i];
  }
};

}  // namespace Trikkos::Impl

#endif
