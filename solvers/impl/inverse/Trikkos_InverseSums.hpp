// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INVERSESUMS_HPP
#define TRIKKOS_IMPL_INVERSESUMS_HPP

#include <impl/inverse/Trikkos_GeneratorKernels.hpp>

/// \file
/// Products of the inverse and a vector in O(n), by running sums from both ends:
///
///   (X b)(i) = p(i) * sum of q(j) b(j) over j >= i  +  r(i) * sum of s(j) b(j) over j < i
///
/// The same with absolute values, and b of ones, makes sums of rows or, of X^T, of columns.

namespace Trikkos::Impl {

template <class T>
struct InverseSumsMemory {
  Factor<T>* sum;   // [direction][blocks]: of a block, then of those before it on the way
  Factor<T>* term;  // [n]
};

template <class T>
struct InverseSums {
  struct Reduce {};
  struct Scan {};
  struct Write {};

  InverseFactors<T> of;
  InverseSumsMemory<T> memory;
  std::int64_t n;
  bool transposed, absolute;
  Strided<const T> b{};  // of ones where there is none
  Strided<T> x{};        // for `apply`

  /// As many as there are blocks.
  static KOKKOS_INLINE_FUNCTION std::int64_t block_rows(std::int64_t n) {
    std::int64_t rows = 1;
    while (rows * rows < n) rows *= 2;
    return rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t blocks() const {
    const std::int64_t rows = block_rows(n);
    return (n + rows - 1) / rows;
  }

  template <class Exec>
  void apply(const Exec& exec) const {
    start(exec);
    Kokkos::parallel_for("Trikkos::InverseGenerators::apply", range<Write>(exec, blocks()), *this);
  }
  /// The largest sum; Inf where one is no number. Waits.
  template <class Exec>
  Real<T> largest(const Exec& exec) const {
    start(exec);
    Real<T> result = 0;
    Kokkos::parallel_reduce("Trikkos::InverseGenerators::norm", range(exec, blocks()), *this,
                            Kokkos::Max<Real<T>>(result));
    return n > 0 ? result : Real<T>(0);
  }

  KOKKOS_INLINE_FUNCTION void operator()(Reduce, std::int64_t index) const {
    const bool upward = index >= blocks();
    const std::int64_t first = (upward ? index - blocks() : index) * block_rows(n),
                       last = Kokkos::min(first + block_rows(n), n);
    Factor<T> total{T(0), zero_exponent};
    for (std::int64_t i = first; i < last; ++i) total = total + weight(i, upward);
    memory.sum[index] = total;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Scan, std::int64_t direction) const {
    Factor<T> total{T(0), zero_exponent};
    for (std::int64_t k = 0; k < blocks(); ++k) {
      Factor<T>& s = memory.sum[direction == 1 ? 2 * blocks() - 1 - k : k];
      const Factor<T> own = s;
      s = total;
      total = total + own;
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(Write, std::int64_t k) const {
    for_block(k, [&](std::int64_t i, const T& v) { x[i] = v; });
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, Real<T>& most) const {
    for_block(k, [&](std::int64_t, const T& v) {
      const Real<T> r = magnitude(v);
      most = r <= most ? most : r == r ? r : Kokkos::Experimental::infinity_v<Real<T>>;
    });
  }

 private:
  template <class Exec>
  void start(const Exec& exec) const {
    Kokkos::parallel_for("Trikkos::InverseGenerators::reduce", range<Reduce>(exec, 2 * blocks()),
                         *this);
    Kokkos::parallel_for("Trikkos::InverseGenerators::scan", range<Scan>(exec, 2), *this);
  }
  /// f(i, entry i) for the rows of a block.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_block(std::int64_t k, const F& f) const {
    const std::int64_t first = k * block_rows(n), last = Kokkos::min(first + block_rows(n), n);
    Factor<T> total = memory.sum[k];
    for (std::int64_t i = first; i < last; ++i) {
      memory.term[i] = total * end(i, false);
      total = total + weight(i, false);
    }
    total = memory.sum[blocks() + k];
    for (std::int64_t i = last - 1; i >= first; --i) {
      total = total + weight(i, true);
      f(i, (memory.term[i] + total * end(i, true)).value());
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION Factor<T> number(const Factor<T>& f) const {
    if (absolute) return {T(Kokkos::abs(f.m)), f.e};
    return f;
  }
  /// What row i adds to the sums over rows before it, or from it on.
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> weight(std::int64_t i, bool upward) const {
    const Factor<T> f =
        number(transposed ? (upward ? of.up[i].over_after : of.down[i].over_after)
                          : (upward ? of.up[i].over_before : of.down[i].over_before));
    return b.data == nullptr ? f : f * Factor<T>::from(b[i]);
  }
  /// What a sum is multiplied by.
  KOKKOS_FORCEINLINE_FUNCTION Factor<T> end(std::int64_t i, bool upward) const {
    return number(transposed ? (upward ? of.down[i].over_before : of.up[i].over_before)
                             : (upward ? of.down[i].over_after : of.up[i].over_after));
  }
};

}  // namespace Trikkos::Impl

#endif
