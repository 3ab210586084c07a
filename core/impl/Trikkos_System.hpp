// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SYSTEM_HPP
#define TRIKKOS_IMPL_SYSTEM_HPP

#include <Trikkos_Options.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_Scalar.hpp>

namespace Trikkos::Impl {

/// A strided vector: what kernels see of a rank-1 View, so that they are compiled once for all
/// layouts.
template <class T>
struct Strided {
  T* data = nullptr;
  std::int64_t stride = 1;

  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::int64_t i) const { return data[i * stride]; }
};

template <class T, class View>
Strided<T> strided(const View& v) {
  return {v.data(), static_cast<std::int64_t>(v.stride(0))};
}

/// op(A) as kernels see it: row i is lower(i), diag(i), upper(i), with the transposition done by
/// shifting and the ends of an open matrix read as zero, whatever its arrays hold there.
template <class T>
struct Bands {
  Strided<const T> sub, main, super;  // sub[i], super[i] are valid but for the ends
  const T* top_right = nullptr;       // A(0,n-1), A(n-1,0): null in an open matrix
  const T* bottom_left = nullptr;
  std::int64_t n = 0;
  bool conjugated = false;
  bool scale_rows = true;  // `Scaling::rows`: for the algorithms that scale rows as they read them

  KOKKOS_FORCEINLINE_FUNCTION T value(const T& v) const {
    if constexpr (is_complex_v<T>)
      if (conjugated) return Kokkos::conj(v);
    return v;
  }
  KOKKOS_FORCEINLINE_FUNCTION T lower(std::int64_t i) const {
    if (i > 0) return value(sub[i]);
    return top_right ? value(*top_right) : T(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION T diag(std::int64_t i) const { return value(main[i]); }
  KOKKOS_FORCEINLINE_FUNCTION T upper(std::int64_t i) const {
    if (i < n - 1) return value(super[i]);
    return bottom_left ? value(*bottom_left) : T(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_contiguous() const {  // and needs no conjugation
    return sub.stride == 1 && main.stride == 1 && super.stride == 1 && !conjugated;
  }
  KOKKOS_INLINE_FUNCTION bool periodic() const { return top_right != nullptr; }
};

template <class View>
KOKKOS_INLINE_FUNCTION auto bands(const Tridiagonal<View>& A, Transpose op = Transpose::none) {
  using T = typename View::non_const_value_type;
  Bands<T> r;
  r.n = static_cast<std::int64_t>(A.diag.extent(0));
  r.main = {A.diag.data(), static_cast<std::int64_t>(A.diag.stride(0))};
  const Strided<const T> lower{A.lower.data(), static_cast<std::int64_t>(A.lower.stride(0))};
  const Strided<const T> upper{A.upper.data(), static_cast<std::int64_t>(A.upper.stride(0))};
  const T* first = lower.data;
  const T* last = r.n > 0 ? upper.data + (r.n - 1) * upper.stride : nullptr;
  r.conjugated = op == Transpose::conjugate_transpose;
  if (op == Transpose::none) {
    r.sub = lower;
    r.super = upper;
  } else {  // A^T(i, i-1) = upper(i-1), A^T(i, i+1) = lower(i+1)
    r.sub = {upper.data - upper.stride, upper.stride};
    r.super = {lower.data + lower.stride, lower.stride};
  }
  if (A.boundary == Boundary::periodic && r.n > 0) {
    r.top_right = op == Transpose::none ? first : last;
    r.bottom_left = op == Transpose::none ? last : first;
  }
  return r;
}

/// One or many right-hand sides (or solutions): element (k, i) is row i of the k-th.
template <class T>
struct Columns {
  T* data = nullptr;
  std::int64_t rhs_stride = 0, row_stride = 1;

  KOKKOS_FORCEINLINE_FUNCTION Strided<T> operator[](std::int64_t k) const {
    return {data + k * rhs_stride, row_stride};
  }
};

/// Right-hand side and row of an index that counts all rows of all of them. The first one, often
/// the only one, needs no 64-bit division, which devices do in software.
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<std::int64_t, std::int64_t> split_index(std::int64_t index,
                                                                                 std::int64_t n) {
  if (index < n) return {0, index};
  return {index / n, index % n};
}

/// `b` of rank 1 (row) or rank 2 (system, row).
template <class T, class View>
Columns<T> columns(const View& b) {
  if constexpr (View::rank() == 1)
    return {b.data(), 0, static_cast<std::int64_t>(b.stride(0))};
  else
    return {b.data(), static_cast<std::int64_t>(b.stride(0)),
            static_cast<std::int64_t>(b.stride(1))};
}
template <class View>
std::int64_t column_count(const View& b) {
  if constexpr (View::rank() == 1)
    return 1;
  else
    return static_cast<std::int64_t>(b.extent(0));
}

}  // namespace Trikkos::Impl

#endif
