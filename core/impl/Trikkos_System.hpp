// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SYSTEM_HPP
#define TRIKKOS_IMPL_SYSTEM_HPP

#include <Trikkos_Options.hpp>
#include <Trikkos_Pentadiagonal.hpp>
#include <algorithm>
#include <impl/Trikkos_Scalar.hpp>
#include <limits>
#include <utility>

/// \file
/// What kernels see of matrices and vectors: pointers and strides, so that they are compiled once
/// for all layouts. `Bands` and `Strided` are those of one system, `Systems` and `Vectors` of many.

namespace Trikkos::Impl {

/// System and row of an index that counts all rows of all of them. The first one, often the only
/// one, needs no 64-bit division, which devices do in software.
KOKKOS_FORCEINLINE_FUNCTION Kokkos::pair<std::int64_t, std::int64_t> split_index(std::int64_t index,
                                                                                 std::int64_t n) {
  if (index < n) return {0, index};
  return {index / n, index % n};
}

/// Systems are equally far apart, or, where two axes of an array count them that do not make one,
/// equally far within slabs of so many.
inline constexpr std::int64_t one_slab = std::numeric_limits<std::int64_t>::max();

/// How far the k-th system is from the first.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset_of(std::int64_t k, std::int64_t stride,
                                                   std::int64_t slab, std::int64_t slab_stride) {
  if (k < slab) return k * stride;
  return k / slab * slab_stride + k % slab * stride;
}

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

/// One or many right-hand sides (or solutions): element (k, i) is row i of the k-th.
template <class T>
struct Vectors {
  T* data = nullptr;
  std::int64_t system_stride = 0, row_stride = 1;
  std::int64_t slab = one_slab, slab_stride = 0;

  KOKKOS_FORCEINLINE_FUNCTION Strided<T> operator[](std::int64_t k) const {
    return {data + offset_of(k, system_stride, slab, slab_stride), row_stride};
  }
  /// Of the first slab: without a division, whose mere possibility costs registers.
  KOKKOS_FORCEINLINE_FUNCTION T& in_slab(std::int64_t k, std::int64_t row) const {
    return data[k * system_stride + row * row_stride];
  }
  /// From the k-th on: as many as are left of its slab, or all, where a slab begins with it.
  KOKKOS_FORCEINLINE_FUNCTION Vectors block(std::int64_t k) const {
    return {(*this)[k].data, system_stride, row_stride, slab, slab_stride};
  }
  Vectors<const T> read_only() const {
    return {data, system_stride, row_stride, slab, slab_stride};
  }
};

/// Matrices of one size.
template <class T, int W = 1>
struct Systems {
  Bands<T, W> first;
  std::int64_t stride[2 * W + 1] = {};  // of a band, between systems; 0: one matrix serves all
  std::int64_t count = 1;
  std::int64_t slab = one_slab, slab_stride[2 * W + 1] = {};

  Systems() = default;
  KOKKOS_FUNCTION Systems(const Bands<T, W>& A, std::int64_t count_) : first(A), count(count_) {}

  KOKKOS_FORCEINLINE_FUNCTION Bands<T, W> operator[](std::int64_t k) const {
    Bands<T, W> r = first;
    if (k > 0)  // else compilers would compute it anew for each row of a loop
      for (int j = 0; j < 2 * W + 1; ++j)
        r.band[j].data += offset_of(k, stride[j], slab, slab_stride[j]);
    return r;
  }
  /// One diagonal of all of them.
  KOKKOS_FORCEINLINE_FUNCTION Vectors<const T> band(int j) const {
    return {first.band[j].data, stride[j], first.band[j].stride, slab, slab_stride[j]};
  }
  /// `count_` systems from the k-th on, as `Vectors::block`.
  Systems block(std::int64_t k, std::int64_t count_) const {
    Systems r = *this;
    r.first = (*this)[k];
    r.count = count_;
    return r;
  }
  bool is_shared() const {
    for (int j = 0; j < 2 * W + 1; ++j)
      if (stride[j] != 0 || slab_stride[j] != 0) return false;
    return true;
  }
};

/// What [k] of them is.
template <class Matrices>
using MatrixOf = std::remove_cvref_t<decltype(std::declval<const Matrices&>()[0])>;

/// Matrices of which rows are computed, not read (Trikkos_ComputedSystems.hpp).
template <class M>
concept ComputedMatrices = M::is_computed;

// ---- from Views

/// The rows of a View of rank 1 (row), 2 (system, row) or 3 (system, system, row).
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t row_count(const View& v) {
  return static_cast<std::int64_t>(v.extent(View::rank() - 1));
}
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t system_count(const View& v) {
  std::int64_t count = 1;
  for (int axis = 0; axis + 1 < static_cast<int>(View::rank()); ++axis) count *= v.extent(axis);
  return count;
}
/// Between rows.
template <class View>
KOKKOS_INLINE_FUNCTION std::int64_t row_stride(const View& v) {
  return static_cast<std::int64_t>(v.stride(View::rank() - 1));
}

/// Whether neighbouring systems are closer to each other than neighbouring rows.
template <class View>
bool is_interleaved(const View& v) {
  std::int64_t closest = row_stride(v);
  for (int axis = 0; axis + 1 < static_cast<int>(View::rank()); ++axis)
    closest = std::min<std::int64_t>(closest, v.stride(axis));
  return closest < row_stride(v);
}

/// The number of a system, which is that of the user's axes, from the place that it is solved in.
struct Numbering {
  std::int64_t first = 0;  // place of the first one
  std::int64_t stride = 1, slab = one_slab, slab_stride = 0;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator[](std::int64_t k) const {
    return offset_of(first + k, stride, slab, slab_stride);
  }
  KOKKOS_FORCEINLINE_FUNCTION Numbering from(std::int64_t k) const {
    return {first + k, stride, slab, slab_stride};
  }
};

/// In what order systems are solved: along the last of the axes that count them first, or, of a
/// View of rank 3 (system, system, row), along the other.
struct SystemOrder {
  bool swapped = false;
  Numbering number{};
};
/// Along the axis where neighbours in memory are closer.
template <class View>
SystemOrder order_of(const View& v) {
  if constexpr (View::rank() == 3)
    if (v.stride(0) < v.stride(1)) {
      const std::int64_t first = v.extent(0), second = v.extent(1);
      return {true, {0, second, first, 1}};
    }
  return {};
}

/// Between systems, and between slabs of them.
struct SystemStrides {
  std::int64_t stride = 0, slab = one_slab, slab_stride = 0;
};
template <class View>
SystemStrides system_strides(const View& v, const SystemOrder& order) {
  SystemStrides r;
  if constexpr (View::rank() == 2) r.stride = v.stride(0);
  if constexpr (View::rank() == 3) {
    const int inner = order.swapped ? 0 : 1, outer = 1 - inner;
    const std::int64_t in_slab = v.extent(inner), slabs = v.extent(outer);
    r.stride = v.stride(in_slab > 1 ? inner : outer);
    if (in_slab > 1 && slabs > 1) {
      r.slab_stride = v.stride(outer);
      if (r.slab_stride != in_slab * r.stride) r.slab = in_slab;  // else the axes make one
    }
  }
  return r;
}

template <class T, class View>
KOKKOS_INLINE_FUNCTION Strided<T> strided(const View& v) {
  return {v.data(), row_stride(v)};
}
template <class T, class View>
Vectors<T> vectors(const View& v, const SystemOrder& order = {}) {
  const SystemStrides s = system_strides(v, order);
  return {v.data(), s.stride, row_stride(v), s.slab, s.slab_stride};
}

/// f(j, view) for the view of each diagonal A(i, i + j), from left to right.
TRIKKOS_CALLS_ITS_ARGUMENT
template <class... Views, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_bands(const Tridiagonal<Views...>& A, const F& f) {
  f(-1, A.lower);
  f(0, A.diag);
  f(1, A.upper);
}
TRIKKOS_CALLS_ITS_ARGUMENT
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
auto systems(const Matrix& A, std::int64_t count, Transpose op = Transpose::none,
             const SystemOrder& order = {}) {
  constexpr int W = Matrix::half_bandwidth;
  Systems<typename Matrix::value_type, W> r(bands(A, op), count);
  for_bands(A, [&](int j, const auto& view) {
    const SystemStrides s = system_strides(view, order);
    const int k = op == Transpose::none ? W + j : W - j;
    r.stride[k] = s.stride;
    r.slab_stride[k] = s.slab_stride;
    r.slab = s.slab < r.slab ? s.slab : r.slab;  // of those that do not make one, it is the same
  });
  return r;
}

}  // namespace Trikkos::Impl

#endif
