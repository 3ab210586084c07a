// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SYSTEM_HPP
#define TRIKKOS_IMPL_SYSTEM_HPP

#include <Trikkos_Options.hpp>
#include <Trikkos_Pentadiagonal.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <utility>

/// \file
/// What kernels see of matrices and vectors: pointers and strides, so that they are compiled once
/// for all layouts. `Bands` and `Strided` are those of one system, `Systems` and `Vectors` of many.

namespace Trikkos::Impl {

/// A strided vector.
template <class T>
struct Strided {
  T* data = nullptr;
  std::int64_t stride = 1;

  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::int64_t i) const { return data[i * stride]; }
  KOKKOS_FORCEINLINE_FUNCTION Strided from(std::int64_t first) const {
    return {data + first * stride, stride};
  }
};

/// op(A) with W sub-diagonals and W super-diagonals, transposed by shifting. Entries outside the
/// matrix are never read: they are zero, or wrap around in a periodic matrix.
template <class T, int W = 1>
struct Bands {
  static constexpr int width = W;

  Strided<const T> band[2 * W + 1];  // [W + j][i] is op(A)(i, i + j), where that is in the matrix
  std::int64_t n = 0;
  std::int64_t wrap = 0;  // what an index into a band gains where its column wraps to the end: n
                          // where bands are shifted, for op(A) = A^T, 0 where they are not
  bool periodic = false;
  bool conjugated = false;
  bool scale_rows = true;  // `Scaling::rows`: for the algorithms that scale rows as they read them

  KOKKOS_FORCEINLINE_FUNCTION T value(const T& v) const {
    if constexpr (is_complex_v<T>)
      if (conjugated) return Kokkos::conj(v);
    return v;
  }
  /// op(A)(i, i + j)
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    if (is_inside<j>(i)) return value(band[W + j][i]);
    return periodic ? value(band[W + j][i + wraps<j>(i) * wrap]) : T(0);
  }
  /// f(column, entry) for the entries of row i in the matrix, from left to right.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(std::int64_t i, const F& f) const {
    for_row(i, f, std::make_integer_sequence<int, 2 * W + 1>{});
  }

  KOKKOS_FORCEINLINE_FUNCTION T lower(std::int64_t i) const { return entry<-1>(i); }
  KOKKOS_FORCEINLINE_FUNCTION T diag(std::int64_t i) const { return value(band[W][i]); }
  KOKKOS_FORCEINLINE_FUNCTION T upper(std::int64_t i) const { return entry<1>(i); }

  KOKKOS_FORCEINLINE_FUNCTION bool is_contiguous() const {  // and needs no conjugation
    bool result = !conjugated;
    for (const auto& b : band) result = result && b.stride == 1;
    return result;
  }

 private:
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION bool is_inside(std::int64_t i) const {
    if constexpr (j < 0)
      return i >= -j;
    else
      return j == 0 || i < n - j;
  }
  /// How often n must be added to column i + j to get one of the matrix. More than once only where
  /// n < W.
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t wraps(std::int64_t i) const {
    constexpr int sign = j < 0 ? 1 : -1;
    std::int64_t count = sign;
    if constexpr (j < -1 || j > 1)
      for (std::int64_t c = i + j + sign * n; c < 0 || c >= n; c += sign * n) count += sign;
    return count;
  }
  template <class F, int... k>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(std::int64_t i, const F& f,
                                           std::integer_sequence<int, k...>) const {
    (visit<k - W>(i, f), ...);
  }
  template <int j, class F>
  KOKKOS_FORCEINLINE_FUNCTION void visit(std::int64_t i, const F& f) const {
    if (is_inside<j>(i))
      f(i + j, value(band[W + j][i]));
    else if (periodic)
      f(i + j + wraps<j>(i) * n, value(band[W + j][i + wraps<j>(i) * wrap]));
  }
};

/// Matrices of one size.
template <class T, int W = 1>
struct Systems {
  Bands<T, W> first;
  std::int64_t stride[2 * W + 1] = {};  // of a band, between systems; 0: one matrix serves all
  std::int64_t count = 1;

  Systems() = default;
  KOKKOS_FUNCTION Systems(const Bands<T, W>& A, std::int64_t count_) : first(A), count(count_) {}

  KOKKOS_FORCEINLINE_FUNCTION Bands<T, W> operator[](std::int64_t k) const {
    Bands<T, W> r = first;
    if (k > 0)  // else compilers would compute it anew for each row of a loop
      for (int j = 0; j < 2 * W + 1; ++j) r.band[j].data += k * stride[j];
    return r;
  }
  /// `count_` systems from the k-th on.
  Systems block(std::int64_t k, std::int64_t count_) const {
    Systems r = *this;
    r.first = (*this)[k];
    r.count = count_;
    return r;
  }
  bool is_shared() const {
    for (const std::int64_t s : stride)
      if (s != 0) return false;
    return true;
  }
};

/// One or many right-hand sides (or solutions): element (k, i) is row i of the k-th.
template <class T>
struct Vectors {
  T* data = nullptr;
  std::int64_t system_stride = 0, row_stride = 1;

  KOKKOS_FORCEINLINE_FUNCTION Strided<T> operator[](std::int64_t k) const {
    return {data + k * system_stride, row_stride};
  }
  KOKKOS_FORCEINLINE_FUNCTION Vectors block(std::int64_t k) const {
    return {data + k * system_stride, system_stride, row_stride};
  }
  Vectors<const T> read_only() const { return {data, system_stride, row_stride}; }
};

/// System and row of an index that counts all rows of all of them. The first one, often the only
/// one, needs no 64-bit division, which devices do in software.
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<std::int64_t, std::int64_t> split_index(std::int64_t index,
                                                                                 std::int64_t n) {
  if (index < n) return {0, index};
  return {index / n, index % n};
}

// ---- from Views

/// The rows of a View of rank 1 (row) or 2 (system, row).
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t row_count(const View& v) {
  return static_cast<std::int64_t>(v.extent(View::rank() - 1));
}
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t system_count(const View& v) {
  if constexpr (View::rank() == 1)
    return 1;
  else
    return static_cast<std::int64_t>(v.extent(0));
}
/// Between rows.
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t row_stride(const View& v) {
  return static_cast<std::int64_t>(v.stride(View::rank() - 1));
}
/// Between systems.
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t system_stride(const View& v) {
  if constexpr (View::rank() == 1)
    return 0;
  else
    return static_cast<std::int64_t>(v.stride(0));
}

template <class T, class View>
KOKKOS_INLINE_FUNCTION Strided<T> strided(const View& v) {
  return {v.data(), row_stride(v)};
}
template <class T, class View>
Vectors<T> vectors(const View& v) {
  return {v.data(), system_stride(v), row_stride(v)};
}

/// f(j, view) for the view of each diagonal A(i, i + j), from left to right.
#ifdef __CUDACC__
#  pragma nv_exec_check_disable  // f is a host function in calls
#endif
template <class... Views, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_bands(const Tridiagonal<Views...>& A, const F& f) {
  f(-1, A.lower);
  f(0, A.diag);
  f(1, A.upper);
}
#ifdef __CUDACC__
#  pragma nv_exec_check_disable
#endif
template <class... Views, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_bands(const Pentadiagonal<Views...>& A, const F& f) {
  f(-2, A.lower2);
  f(-1, A.lower);
  f(0, A.diag);
  f(1, A.upper);
  f(2, A.upper2);
}

/// op(A), or the first one of many. A^T(i, i - j) = A(i - j, i), so its bands are shifted.
template <BandMatrix Matrix>
KOKKOS_INLINE_FUNCTION auto bands(const Matrix& A, Transpose op = Transpose::none) {
  using T = typename Matrix::value_type;
  constexpr int W = Matrix::half_bandwidth;
  Bands<T, W> r;
  r.n = row_count(A.diag);
  r.conjugated = op == Transpose::conjugate_transpose;
  r.periodic = A.boundary == Boundary::periodic;
  r.wrap = op == Transpose::none ? 0 : r.n;
  for_bands(A, [&](int j, const auto& view) {
    const auto band = strided<const T>(view);
    if (op == Transpose::none)
      r.band[W + j] = band;
    else
      r.band[W - j] = band.from(-j);
  });
  return r;
}

/// op(A) for `count` right-hand sides.
template <BandMatrix Matrix>
auto systems(const Matrix& A, std::int64_t count, Transpose op = Transpose::none) {
  constexpr int W = Matrix::half_bandwidth;
  Systems<typename Matrix::value_type, W> r(bands(A, op), count);
  for_bands(A, [&](int j, const auto& view) {
    r.stride[op == Transpose::none ? W + j : W - j] = system_stride(view);
  });
  return r;
}

}  // namespace Trikkos::Impl

#endif
