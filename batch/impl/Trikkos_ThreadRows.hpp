// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THREADROWS_HPP
#define TRIKKOS_IMPL_THREADROWS_HPP

#include <algorithm>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>

/// \file
/// The partition of one thread of a device, read where it lies and straight to registers.
///
/// Nothing in kernels with these may make the compiler put an array into local memory: nvcc 13.0
/// then took x and b for local as well, where they are read and written through a copy of the
/// matrix.

namespace Trikkos::Impl {

/// The rows [first, first + m) of a system, `Rows` of an elimination (Trikkos_Elimination.hpp).
template <class T, int W, class Matrix>
struct ThreadRows {
  using value_type = T;
  using index_type = int;
  static constexpr int half_bandwidth = W;
  static constexpr bool ragged = true;  // for the last W rows of a matrix, which are no inner ones
  // 64 registers on their way, and as many in work
  static constexpr int ahead = std::min<int>(8 / W, 256 / (sizeof(T) * (2 * W + 2)));

  Matrix A;
  Strided<const T> b;
  Strided<T> x;
  int first, m;
  T* back = nullptr;  // of the thread: word j of row k lies at [((k - skipped)(2W + 1) + j) apart]
  int apart = 0, skipped = 0;

  KOKKOS_FORCEINLINE_FUNCTION int length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION int inner_rows() const {
    const std::int64_t before = A.n - W - first;
    return before >= m ? m : before > 0 ? static_cast<int>(before) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(int k) const { return k < m; }
  /// As it is stored.
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> read(int k) const {
    return equation_of<T, W>(*this, k, b[first + k]);
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(int k) const {
    if constexpr (ComputedMatrices<Matrix>)
      return A.template entry<j>(first + k);
    else
      return A.value(A.band[W + j][first + k]);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> scale(const Equation<T, W>& e) const {
    return scaled(e, A.scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> inner_equation(int k) const { return scale(read(k)); }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(int k) const {
    return k < m ? scale(equation_of<T, W>(A, first + k, b[first + k])) : unit_equation<T, W>();
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const BackRow<T, W>& row) const {
    T* const to = at(k);
    if constexpr (W == 1) {
      to[0] = row.q;
      to[apart] = row.r;
    } else {
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) to[j * apart] = row.q[j];
    }
    to[2 * W * apart] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T, W> kept(int k) const {
    const T* const from = at(k);
    if constexpr (W == 1) {
      return {from[0], from[apart], from[2 * apart]};
    } else {
      BackRow<T, W> row;
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) row.q[j] = from[j * apart];
      row.f = from[2 * W * apart];
      return row;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(int k, const T& v) const { x[first + k] = v; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T* at(int k) const {
    return back + (k - skipped) * (2 * W + 1) * apart;
  }
};

/// How systems are cut: `links` partitions of `rows` rows each, by teams of `threads`.
template <class T, int W>
struct ThreadShape {
  static constexpr int most_threads = 128, least_threads = 32, threads_of_passes = 64;
  static constexpr int back_bytes = (2 * W + 1) * sizeof(T);  // of a row
  /// Rows of the way back that a system by itself does without, and a partition.
  static constexpr int not_kept_alone = W == 1 ? 1 : 0, not_kept = 2 * W;

  std::int64_t n = 0;
  int rows = 0, links = 0, threads = 0;
  bool is_alone = false;  // one partition, solved without segments if that goes well

  /// `wanted`: rows of a partition, if any.
  template <class Elimination>
  ThreadShape(const Elimination&, std::int64_t n_, std::int64_t wanted) : n(n_) {
    if (n == 0) return;
    threads = most_threads;
    while (threads > least_threads && n > most_kept(threads) + not_kept_alone) threads /= 2;
    is_alone = wanted == 0 && n <= most_kept(threads) + not_kept_alone &&
               Elimination::rows_in_one_go(n) == n;
    if (is_alone) {
      rows = static_cast<int>(n);
      links = 1;
      return;
    }
    threads = threads_of_passes;
    const std::int64_t most = Elimination::rows_in_one_go(
        std::min<std::int64_t>(most_kept(threads) + not_kept, wanted > 0 ? wanted : n));
    const auto ceil_div = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    constexpr int multiple = Elimination::default_row_multiple;
    rows = static_cast<int>(most);
    if (wanted == 0 && most >= multiple) {  // divided evenly
      const std::int64_t parts = ceil_div(n, most / multiple * multiple);
      rows = static_cast<int>(ceil_div(ceil_div(n, parts), multiple) * multiple);
    }
    links = static_cast<int>(std::min<std::int64_t>(ceil_div(n, rows), 1 << 30));
  }
  KOKKOS_FORCEINLINE_FUNCTION int length(int link) const {
    const std::int64_t left = n - std::int64_t(link) * rows;
    return left >= rows ? rows : static_cast<int>(left);
  }
  /// For the way back of `kept` rows of each thread.
  KOKKOS_FORCEINLINE_FUNCTION std::size_t scratch_bytes(int kept) const {
    return static_cast<std::size_t>(kept * threads * back_bytes) + alignof(T);
  }

 private:
  /// Rows whose way back fits into the scratch of so many threads.
  static int most_kept(int threads) {
    const int bytes = scratch_limit - scratch_reserved(threads) - static_cast<int>(alignof(T));
    return bytes / (threads * back_bytes);
  }
};

}  // namespace Trikkos::Impl

#endif
