// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LANEVECTORS_HPP
#define TRIKKOS_IMPL_LANEVECTORS_HPP

#include <impl/Trikkos_System.hpp>

/// \file
/// A row of as many systems as there are SIMD lanes, from memory and back.

namespace Trikkos::Impl {

/// A bit for each lane.
template <class T>
inline constexpr unsigned all_lanes = (1u << lane_count<T>)-1;

/// All lanes at once: set one by one, each would cost an instruction on the whole vector.
template <class T, class At, int... l>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> gathered(const At& at, std::integer_sequence<int, l...>) {
  using V = Lanes<T>;
  if constexpr (is_complex_v<T>)
    return V{Real<V>{at(l).real()...}, Real<V>{at(l).imag()...}};
  else
    return V{at(l)...};
}

/// One scalar in all of them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> in_all_lanes(const T& v) {
  if constexpr (is_complex_v<T>)
    return {same_in_lanes<Real<Lanes<T>>>(v.real()), same_in_lanes<Real<Lanes<T>>>(v.imag())};
  else
    return same_in_lanes<Lanes<T>>(v);
}

/// Row i of the first systems, of one slab; lanes from `count` on repeat the last of them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Lanes<T> load_lanes(const Vectors<const T>& from, int count,
                                                std::int64_t i) {
  const T* const p = from.data + i * from.row_stride;
  const std::int64_t stride = from.system_stride;
  constexpr auto lanes = std::make_integer_sequence<int, lane_count<T>>{};
  if (count < lane_count<T>)
    return gathered<T>([&](int l) { return p[(l < count ? l : count - 1) * stride]; }, lanes);
  if (stride == 1) return gathered<T>([&](int l) { return p[l]; }, lanes);
  return gathered<T>([&](int l) { return p[l * stride]; }, lanes);
}

/// Where `stored` has a bit.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void store_lanes(const Vectors<T>& to, unsigned stored, std::int64_t i,
                                             const Lanes<T>& v) {
  T* const p = to.data + i * to.row_stride;
  if (stored == all_lanes<T>) {
    for (int l = 0; l < lane_count<T>; ++l) p[l * to.system_stride] = lane(v, l);
  } else {
    for (int l = 0; l < lane_count<T>; ++l)
      if (stored >> l & 1) p[l * to.system_stride] = lane(v, l);
  }
}

}  // namespace Trikkos::Impl

#endif
