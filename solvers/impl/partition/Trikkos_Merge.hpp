// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_MERGE_HPP
#define TRIKKOS_IMPL_MERGE_HPP

#include <impl/partition/Trikkos_Rotation.hpp>
#include <impl/partition/Trikkos_Segment.hpp>

/// \file
/// Merging two neighbouring segments L and R: v1, the last unknown of the left one, is eliminated
/// from the four rows by three rotations, u2, the first of the right one, from the three that are
/// left by two more. Each keeps one row as the pivot row of its unknown, and the last of each the
/// two rows that go on, in the form of a `Segment`.

namespace Trikkos::Impl {

/// `least` is the smallest square.
template <bool Scaled, class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> merge_rows(const Segment<V>& left, const Segment<V>& right,
                                                  MergeNode<V>& node, Real<V>& least) {
  using C = Coefficient<V>;
  using R = Real<V>;
  const auto& [L1, L2] = left;
  const auto& [R1, R2] = right;
  R v1_scale = constant<R>(1), u2_scale = constant<R>(1);

  // v1, whose coefficients are those of L1, L2, R1, R2: A without it, then B, then E
  C alpha = L1.p, beta = L2.p, gamma = R1.l, delta = R2.l;
  if constexpr (Scaled) v1_scale = scale_column(alpha, beta, gamma, delta);
  const auto a = rotation<Scaled>(alpha, beta);
  const C Al = a.next(L1.l, L2.l), Au = a.next(L1.u, L2.u), Am = product(a.c, L2.q);
  const C Pl = a.pivot(L1.l, L2.l), Pu = a.pivot(L1.u, L2.u), Pm = product(conjugate(a.s), L2.q);
  const auto Af = a.next(L1.f, L2.f), Pf = a.pivot(L1.f, L2.f);
  const auto b = rotation<Scaled>(a.p, gamma);
  const C Bl = product(-b.s, Pl), Bu = product(-b.s, Pu), Bm = b.next(Pm, R1.u),
          Bv = product(b.c, R1.p);
  const C Ql = product(conjugate(b.c), Pl), Qu = product(conjugate(b.c), Pu),
          Qm = b.pivot(Pm, R1.u), Qv = product(conjugate(b.s), R1.p);
  const auto Bf = b.next(Pf, R1.f), Qf = b.pivot(Pf, R1.f);
  const R v1_square = sum_of_squares(b.p, delta), v1_root = rough_root(v1_square);
  const C ec = product(v1_root, b.p), es = product(v1_root, delta);
  const C El = product(-es, Ql), Eu = product(-es, Qu),
          Em = difference_of_products(ec, R2.u, es, Qm),
          Ev = difference_of_products(ec, R2.p, es, Qv), Er = product(ec, R2.q);
  const auto Ef = difference_of_products(ec, R2.f, es, Qf);

  // u2, whose coefficients are now those of A, B, E
  C am = Am, bm = Bm, em = Em;
  if constexpr (Scaled) u2_scale = scale_column(am, bm, em);
  const auto d = rotation<Scaled>(am, bm);
  const C Sl = d.pivot(Al, Bl), Su = d.pivot(Au, Bu), Sv = product(conjugate(d.s), Bv);
  const auto Sf = d.pivot(Af, Bf);
  const R u2_square = sum_of_squares(d.p, em), u2_root = rough_root(u2_square);
  const C gc = product(u2_root, d.p), gs = product(u2_root, em);

  // the pivot rows, conj(p) Q + conj(delta) R2 of v1 and conj(p) S + conj(e) E of u2, divided by
  // their coefficients
  const R i1 = reciprocal(v1_square) * v1_scale, i2 = reciprocal(u2_square) * u2_scale;
  const C q1 = product(i1, conjugate(b.p)), r1 = product(i1, conjugate(delta));
  const C s2 = product(i2, conjugate(d.p)), e2 = product(i2, conjugate(em));
  const auto u2 = sum_of_products(s2, Sf, e2, Ef), v1 = sum_of_products(q1, Qf, r1, R2.f);
  node = {{column(u2, 0), sum_of_products(s2, Sl, e2, El), sum_of_products(s2, Su, e2, Eu),
           sum_of_products(s2, Sv, e2, Ev), product(e2, Er), column(v1, 0), product(q1, Ql),
           product(q1, Qu), sum_of_products(q1, Qm, r1, R2.u), sum_of_products(q1, Qv, r1, R2.p),
           product(r1, R2.q)}};
  if constexpr ((systems_of<V>) > 1)  // the first of them once more
    put_right_sides<V>(
        [&](int k) -> auto& { return node.g[k]; }, 0, 5, 11, u2, v1);
  const R in_v1 = select(a.h2 < b.h2, a.h2, b.h2);
  least = select(d.h2 < in_v1, d.h2, in_v1);
  return {{d.next(Al, Bl), d.next(Au, Bu), product(d.c, Bv), d.next(Af, Bf)},
          {difference_of_products(gc, El, gs, Sl), difference_of_products(gc, Eu, gs, Su),
           difference_of_products(gc, Ev, gs, Sv), product(gc, Er),
           difference_of_products(gc, Ef, gs, Sf)}};
}

/// Scaling is dear, and its need rare.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> merge(const Segment<V>& left, const Segment<V>& right,
                                             MergeNode<V>& node) {
  Real<V> least;
  const Segment<V> merged = merge_rows<false>(left, right, node, least);
  if (is_safe(least)) [[likely]]
    return merged;
  return merge_rows<true>(left, right, node, least);
}

/// Of rows of norm 1, what has faded: the last unknown from the first row, those before it from the
/// second.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void flush_segment(Segment<V>& s) {
  auto& [A, B] = s;
  A.p = flushed(A.p, B.p);
  B.l = flushed(B.l, A.l);
  B.u = flushed(B.u, A.u);
}

/// Any two rows in the form of a `Segment`: each scaled by a power of two, then x_next taken out of
/// the first.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Segment<V> segment_of(CarriedRow<V> A, CarriedRow<V> B) {
  const auto scale = [](CarriedRow<V>& r) {
    const V rhs = r.f;
    r.f = product(scale_column(r.l, r.u, r.p, r.q), rhs);
  };
  scale(A);
  scale(B);
  const auto r = rotation<true>(A.q, B.q);
  return {{r.next(A.l, B.l), r.next(A.u, B.u), r.next(A.p, B.p), r.next(A.f, B.f)},
          {r.pivot(A.l, B.l), r.pivot(A.u, B.u), r.pivot(A.p, B.p), r.pivot(A.q, B.q),
           r.pivot(A.f, B.f)}};
}

}  // namespace Trikkos::Impl

#endif
