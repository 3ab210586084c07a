// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_HOSTENDS_HPP
#define TRIKKOS_IMPL_HOSTENDS_HPP

#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/segmented/Trikkos_OrthogonalCarry.hpp>

namespace Trikkos::Impl {

/// Numbers of the two ends in the first lanes, zeros in the others.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> in_two_lanes(const T& first, const T& second) {
  return gathered<T>([&](int l) { return l == 0   ? first
                                         : l == 1 ? second
                                                  : T(0); },
                     std::make_integer_sequence<int, lane_count<T>>{});
}
template <class T>
LoneRow<T> end_of(const LoneRow<Lanes<T>>& ends, int l) {
  LoneRow<T> r;
  r.p = lane(ends.p, l);
  r.q = lane(ends.q, l);
  r.f = lane(ends.f, l);
  r.least = lane(ends.least, l);
  r.probe = lane(ends.probe, l);
  return r;
}

/// `segmented` for one short open tridiagonal system of at least two rows, on a host: one row is
/// carried from the first row on, another from the last row on (`LoneRow`), a SIMD lane each. This
/// is QR of the rows in another order. It is less code than partitions in all lanes, which a system
/// that is solved now and then finds in no cache.
///
/// Returns whether all went well, before x is written: not where squares are not safe from
/// underflow or anything is not finite, which segments are better at. `back` has room for n rows.
///
/// Traffic: 4 words a row read, 1 written.
template <class T, class Matrix>
bool solve_from_both_ends(const Matrix& A, const Strided<const T>& b, const Strided<T>& x,
                          const Diagnosis& diagnosis, BackRow<T>* back) {
  using V = Lanes<T>;
  const std::int64_t n = A.n,
                     half = (n + 1) / 2;  // of an odd number of rows the first half has more
  const auto row = [&](std::int64_t i) { return equation_of<T, 1>(A, i, b[i]); };
  const auto both = [&](const Equation<T>& e, const Equation<T>& mirrored) {
    return scaled(Equation<V>{in_two_lanes(e.a, mirrored.c), in_two_lanes(e.b, mirrored.b),
                              in_two_lanes(e.c, mirrored.a), in_two_lanes(e.d, mirrored.d)},
                  A.scale_rows);
  };
  LoneRow<V> ends(both(row(0), row(n - 1)));
  const auto eliminate = [&](const auto& inner_row) {
    LoneRow<V> carried = ends;
    for (std::int64_t i = 1, j = n - 2; j >= half; ++i, --j) {
      const BackRow<V> r = carried.rotate(both(inner_row(i), inner_row(j)));
      back[i - 1] = {lane(r.q, 0), lane(r.r, 0), lane(r.f, 0)};
      back[j + 1] = {lane(r.q, 1), lane(r.r, 1), lane(r.f, 1)};
    }
    ends = carried;
  };
  bool is_contiguous = b.stride == 1;
  if constexpr (std::is_same_v<Matrix, Bands<T>>) {
    is_contiguous = is_contiguous && A.is_contiguous();
    if (is_contiguous) {
      const T *const lower = A.band[0].data, *const diag = A.band[1].data,
                     *const upper = A.band[2].data, *const rhs = b.data;
      eliminate([=](std::int64_t i) { return Equation<T>{lower[i], diag[i], upper[i], rhs[i]}; });
    }
  } else {
    is_contiguous = false;
  }
  if (!is_contiguous) eliminate(row);
  LoneRow<T> front = end_of<T>(ends, 0), rear = end_of<T>(ends, 1);
  if (n % 2 != 0) back[half - 2] = front.rotate(scaled(row(half - 1), A.scale_rows));

  // Where they meet, the first half takes what the other one carries for one more row.
  const BackRow<T> met = front.rotate({rear.q, rear.p, T(0), rear.f});
  T before[] = {front.last(), T(0)};  // unknowns `half` and half - 1
  before[1] = fused(-met.q, before[0], met.f);
  if (!front.is_sound() || !rear.is_sound()) return false;

  T behind[] = {before[1], before[0]};  // the same, the later one last
  Real<T> probe = finite_probe(before[0]) + finite_probe(before[1]);
  const auto next = [&](T(&known)[2], const BackRow<T>& of) {
    const T v = fused(-of.r, known[0], fused(-of.q, known[1], of.f));
    known[0] = known[1];
    known[1] = v;
    probe += finite_probe(v);
    return v;
  };
  x[half - 1] = before[1];
  x[half] = before[0];
  std::int64_t i = half - 2;
  for (std::int64_t j = half + 1; j < n; --i, ++j) {
    x[j] = next(behind, back[j]);
    if (i >= 0) x[i] = next(before, back[i]);
  }
  for (; i >= 0; --i) x[i] = next(before, back[i]);
  if (!(probe == 0)) report_first_not_finite(diagnosis, x, 0, n);
  return true;
}

}  // namespace Trikkos::Impl

#endif
