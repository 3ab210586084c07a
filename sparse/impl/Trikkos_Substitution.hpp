// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SUBSTITUTION_HPP
#define TRIKKOS_IMPL_SUBSTITUTION_HPP

#include <impl/Trikkos_PackedTriangle.hpp>

/// \file
/// The recurrence: x(i) = (b(i) - sum of A(i, j) x(j)) / A(i, i).

namespace Trikkos::Impl {

/// Right-hand sides and solutions, which may be the same memory: b(i) is read by whoever writes
/// x(i), before. On a host the values that rows need are read from x; on a device from `known`, by
/// position, where neighbours are adjacent.
template <class T, bool on_host>
struct Substitution {
  PackedTriangle<T> A;
  Vectors<const T> b;
  Vectors<T> x;
  std::int64_t systems;
  T* known;
  std::int64_t known_stride;  // between systems

  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t k) const {
    const std::int32_t row = A.row[p];
    const std::int64_t place = on_host ? A.slice[p] : A.place(p);  // a host's slices are rows
    const std::int64_t stride = on_host ? 1 : A.stride();
    const std::int32_t length = A.length[p];
    const Strided<T> solution = x[k];
    T* const values = known + k * known_stride;
    T s = b[k][row];
    for (std::int32_t i = 0; i < length; ++i) {
      const std::int64_t at = place + i * stride;
      if constexpr (on_host)
        s = fused(-A.value[at], solution[A.needed[at]], s);
      else
        s = fused(-A.value[at], values[A.needed[at]], s);
    }
    s = product(A.inverse[p], s);
    if constexpr (!on_host) values[p] = s;
    solution[row] = s;
  }
  /// Positions in order, all systems. Not inlined on hosts: among the loops of point_to_point its
  /// registers would be spilled (one core of an EPYC, bcsstk13: 61 us for 43).
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__) && defined(__GNUC__)
  [[gnu::noinline]]
#endif
  KOKKOS_FUNCTION void
  solve_range(std::int64_t first, std::int64_t last) const {
    for (std::int64_t p = first; p < last; ++p)
      for (std::int64_t k = 0; k < systems; ++k) solve(p, k);
  }
};

template <class Rows>
struct SerialSolve {
  Rows rows;
  std::int64_t first, last;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const { rows.solve_range(first, last); }
};
template <class Exec, class Rows>
void solve_serially(const Exec& exec, const Rows& rows, std::int64_t first, std::int64_t last) {
  launch_one(exec, "Trikkos::solve::serial", SerialSolve<Rows>{rows, first, last});
}

}  // namespace Trikkos::Impl

#endif
