// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SHERMANMORRISONINVERSE_HPP
#define TRIKKOS_IMPL_SHERMANMORRISONINVERSE_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/inverse/Trikkos_InverseTile.hpp>

/// \file
/// The inverse by divide and conquer (Climent, Tortosa, Zamora 1999), n a power of two: without the
/// couplings across its middle, rows m-1 and m, a block is D, two smaller blocks, and
///
///   B = D + u v^T,   u = e_(m-1) + e_m,   v = lower(m) e_(m-1) + upper(m-1) e_m
///   B^-1 = D^-1 - D^-1 u v^T D^-1 / (1 + v^T D^-1 u)                    (Sherman, Morrison)
///
/// The diagonals of all D are known from the start, and blocks of two rows are inverted by formula.
/// About 4 n^2 words are moved, and more for what is zero at first. For diagonally dominant
/// matrices, others are reported; here as a baseline.

namespace Trikkos::Impl {

template <class T>
struct ShermanMorrisonInverse {
  struct Start {};
  struct Vectors {};
  struct Update {};

  Bands<T> A;
  InverseTarget<T> to;
  T *x, *y;  // [n]: D^-1 u and v^T D^-1 of each block
  Diagnosis diagnosis;
  int q;         // n = 2^q
  int half = 0;  // blocks of 2^half rows become blocks of twice as many

  template <class Exec>
  void launch(const Exec& exec) const {
    Kokkos::parallel_for("Trikkos::inverse::sherman_morrison::start",
                         range<Start>(exec, std::int64_t(1) << 2 * q), *this);
    ShermanMorrisonInverse level = *this;
    for (level.half = 1; level.half < q; ++level.half) {
      Kokkos::parallel_for("Trikkos::inverse::sherman_morrison::vectors", range<Vectors>(exec, A.n),
                           level);
      Kokkos::parallel_for("Trikkos::inverse::sherman_morrison::update",
                           range<Update>(exec, std::int64_t(1) << (q + level.half + 1)), level);
    }
  }

  /// Blocks of two rows, and zeros.
  KOKKOS_INLINE_FUNCTION void operator()(Start, std::int64_t index) const {
    const auto [i, j] = row_and_column(index, q, A.n - 1);
    T& entry = at(i, j);
    entry = T(0);
    if (i / 2 != j / 2) return;
    if (i == j && !(magnitude(A.lower(i)) + magnitude(A.upper(i)) <= Kokkos::abs(A.diag(i))))
      diagnosis.report_unstable(i);
    if (A.n == 1) {
      entry = T(1) / A.diag(0);
      expect_finite(entry, 0);
      return;
    }
    const std::int64_t k = i / 2 * 2;
    T first = A.diag(k), last = A.diag(k + 1);
    if (k > 0) first -= A.upper(k - 1);
    if (k + 2 < A.n) last -= A.lower(k + 2);
    const T product = first * last, coupled = A.upper(k) * A.lower(k + 1);
    const T det = product - coupled;
    entry = (i != j ? -(i < j ? A.upper(k) : A.lower(k + 1)) : i == k ? last : first) / det;
    expect_trusted(det, magnitude(product) + magnitude(coupled), i);
    expect_finite(entry, i);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Vectors, std::int64_t i) const {
    const std::int64_t m = middle(i);
    const std::int64_t near = i < m ? m - 1 : m;
    x[i] = at(i, near);
    y[i] = (i < m ? A.lower(m) : A.upper(m - 1)) * at(near, i);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Update, std::int64_t index) const {
    const std::int64_t mask = (std::int64_t(1) << (half + 1)) - 1;
    const auto [i, j_in_block] = row_and_column(index, half + 1, mask);
    const auto swapped = to.is_transposed();
    const std::int64_t j = swapped ? j_in_block : (i & ~mask) + j_in_block,
                       row = swapped ? (j & ~mask) + (i & mask) : i;
    const std::int64_t m = middle(j);
    const T before = A.lower(m) * x[m - 1], after = A.upper(m - 1) * x[m];
    const T det = T(1) + before + after;
    if (row == j && row == m) expect_trusted(det, 1 + magnitude(before) + magnitude(after), m);
    T& entry = at(row, j);
    entry -= x[row] * y[j] / det;
    if (row == j) expect_finite(entry, row);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T& at(std::int64_t i, std::int64_t j) const {
    return to.data[i * to.row_stride + j * to.column_stride];
  }
  /// Neighbours in memory are written by neighbours.
  KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<std::int64_t, std::int64_t> row_and_column(
      std::int64_t index, int bits, std::int64_t mask) const {
    const std::int64_t slow = index >> bits, fast = index & mask;
    if (to.is_transposed()) return {fast, slow};
    return {slow, fast};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t middle(std::int64_t i) const {
    return (i >> (half + 1) << (half + 1)) + (std::int64_t(1) << half);
  }
  /// A difference that is small beside its terms has lost their digits.
  KOKKOS_FORCEINLINE_FUNCTION void expect_trusted(const T& difference, const Real<T>& terms,
                                                  std::int64_t row) const {
    constexpr double limit = 0x1p-12;
    if (!(magnitude(difference) > static_cast<Real<T>>(limit) * terms))
      diagnosis.report_unstable(row);
  }
  KOKKOS_FORCEINLINE_FUNCTION void expect_finite(const T& v, std::int64_t row) const {
    if (!(finite_probe(v) == 0)) diagnosis.report_solution(row);
  }
};

}  // namespace Trikkos::Impl

#endif
