// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SIDEBYSIDE_HPP
#define TRIKKOS_IMPL_SIDEBYSIDE_HPP

#include <cstdlib>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// Many systems with the values of a row adjacent, so that whoever needs a row needs one place in
/// memory.

namespace Trikkos::Impl {

/// Systems in groups of a power of two. A row's values of one group are adjacent, so that threads
/// that solve it look at them with one access.
struct SideBySide {
  std::int64_t count = 1;
  int bits = 0;  // of the number in a group

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t width() const { return std::int64_t(1) << bits; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t groups() const { return (count + width() - 1) >> bits; }
  /// Where the value of a row is, of the k-th system.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t index(std::int64_t k, std::int64_t row,
                                                 std::int64_t rows) const {
    return (((k >> bits) * rows + row) << bits) + (k & (width() - 1));
  }
};

/// Adjacent numbers, aligned to the size of all of them: moved with one instruction, if a device
/// can.
template <class T, int count>
struct alignas(count * sizeof(T)) Adjoining {
  T value[count];
};

/// Values of rows.
template <class T>
struct ValuesSideBySide {
  T* data = nullptr;  // or none
  SideBySide systems;
  std::int64_t rows = 0;

  /// Of the k-th system and those after it; k is a multiple of how many.
  template <int of_thread>
  KOKKOS_FORCEINLINE_FUNCTION Adjoining<T, of_thread>& at(std::int64_t k, std::int64_t row) const {
    return *reinterpret_cast<Adjoining<T, of_thread>*>(data + systems.index(k, row, rows));
  }
};

/// Whether the values of a row lie farther apart than those of a system. A sector of memory (32
/// bytes) then has other rows' values, of which a thread that goes by levels makes no use.
template <class T>
bool are_apart(const Vectors<T>& v) {
  return std::abs(v.system_stride) > std::abs(v.row_stride);
}

/// From vectors to side by side, or back. Neighbouring threads have neighbouring systems of a row,
/// two each, and a warp so many rows that it reads and writes whole sectors.
template <class T, bool is_back>
struct BringSideBySide {
  static constexpr int warp_bits = 5, rows_of_thread = 4;

  std::conditional_t<is_back, Vectors<T>, Vectors<const T>> apart;
  ValuesSideBySide<T> near;

  /// Asynchronous.
  template <class Exec>
  void launch(const Exec& exec, const char* label) const {
    const std::int64_t rows_of_warp = rows_of_thread << row_bits();
    const std::int64_t warps =
        (near.rows + rows_of_warp - 1) / rows_of_warp * near.systems.groups();
    Kokkos::parallel_for(label, range(exec, warps << warp_bits), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const int lane = static_cast<int>(i & ((1 << warp_bits) - 1));
    const int bits = row_bits(), thread_bits = warp_bits - bits;
    const std::int64_t warp = i >> warp_bits, groups = near.systems.groups();
    const std::int64_t first = ((warp / groups * rows_of_thread) << bits) + (lane >> thread_bits);
    const std::int64_t k =
        (warp % groups << near.systems.bits) + 2 * (lane & ((1 << thread_bits) - 1));
    if (k >= near.systems.count) return;
    const bool has_second = k + 1 < near.systems.count;
    Adjoining<T, 2> v[rows_of_thread] = {};
    TRIKKOS_UNROLL(rows_of_thread)
    for (int j = 0; j < rows_of_thread; ++j) {
      const std::int64_t row = first + (std::int64_t(j) << bits);
      if (row >= near.rows) continue;
      if constexpr (is_back) {
        v[j] = near.template at<2>(k, row);
      } else {
        v[j].value[0] = apart.in_slab(k, row);
        if (has_second) v[j].value[1] = apart.in_slab(k + 1, row);
      }
    }
    TRIKKOS_UNROLL(rows_of_thread)
    for (int j = 0; j < rows_of_thread; ++j) {
      const std::int64_t row = first + (std::int64_t(j) << bits);
      if (row >= near.rows) continue;
      if constexpr (is_back) {
        apart.in_slab(k, row) = v[j].value[0];
        if (has_second) apart.in_slab(k + 1, row) = v[j].value[1];
      } else {
        near.template at<2>(k, row) = v[j];
      }
    }
  }

 private:
  /// Of the number of rows that a warp has at a time.
  KOKKOS_FORCEINLINE_FUNCTION int row_bits() const { return warp_bits + 1 - near.systems.bits; }
};

}  // namespace Trikkos::Impl

#endif
