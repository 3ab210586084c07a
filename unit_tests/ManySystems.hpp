// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_MANYSYSTEMS_HPP
#define TRIKKOS_TEST_MANYSYSTEMS_HPP

#include <FastError.hpp>
#include <Outcome.hpp>
#include <Trikkos.hpp>
#include <vector>

/// \file
/// Many systems on the host and, in any layout, in the memory of the execution space.

namespace Test::Many {

using Reference::HostSystem;
using Trikkos::Boundary;
using Trikkos::Gallery;

constexpr Boundary boundaries[] = {Boundary::open, Boundary::periodic};

/// (system, row) in memory of any layout.
template <class T>
using Array = Kokkos::View<T**, Kokkos::LayoutStride, TEST_EXECSPACE>;
enum class Layout {
  left,
  right,
  strided,     // no two entries are adjacent
  wide_left,   // more systems in memory than are solved
  wide_right,  // more rows, an even number
  odd_left,    // from the second system on, in memory for an odd number
  odd_right,   // from the second row on, in memory for an odd number
};
constexpr Layout layouts[] = {Layout::left,      Layout::right,      Layout::strided,
                              Layout::wide_left, Layout::wide_right, Layout::odd_left,
                              Layout::odd_right};

template <class T>
Array<T> make_array(Layout layout, std::int64_t count, std::int64_t n) {
  using Left = Kokkos::View<T**, Kokkos::LayoutLeft, TEST_EXECSPACE>;
  using Right = Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE>;
  const auto part = [](std::int64_t first, std::int64_t extent) {
    return Kokkos::pair<std::int64_t, std::int64_t>(first, first + extent);
  };
  switch (layout) {
    case Layout::left:
      return Left("array", count, n);
    case Layout::right:
      return Right("array", count, n);
    case Layout::wide_left:
      return Kokkos::subview(Left("array", (count + 5) / 2 * 2, n), part(0, count), Kokkos::ALL);
    case Layout::wide_right:
      return Kokkos::subview(Right("array", count, (n + 5) / 2 * 2), Kokkos::ALL, part(0, n));
    case Layout::odd_left:
      return Kokkos::subview(Left("array", (count + 2) | 1, n), part(1, count), Kokkos::ALL);
    case Layout::odd_right:
      return Kokkos::subview(Right("array", count, (n + 2) | 1), Kokkos::ALL, part(1, n));
    case Layout::strided:
      break;
  }
  const Kokkos::View<T***, Kokkos::LayoutRight, TEST_EXECSPACE> wide("array", count, n + 3, 2);
  return Kokkos::subview(wide, Kokkos::ALL, part(0, n), 1);
}
template <class T>
KOKKOS_FUNCTION auto row_of(const Array<T>& array, std::int64_t k) {
  return Kokkos::subview(array, k, Kokkos::ALL);
}

/// make(j) is band j, of W on either side.
template <int W, class Make>
auto matrix(Boundary boundary, const Make& make) {
  if constexpr (W == 1)
    return Trikkos::Tridiagonal{make(-1), make(0), make(1), boundary};
  else
    return Trikkos::Pentadiagonal{make(-2), make(-1), make(0), make(1), make(2), boundary};
}

/// Random ones.
template <class T>
Array<T> right_hand_sides(Layout layout, std::int64_t count, std::int64_t n) {
  const Array<T> b = make_array<T>(layout, count, n);
  for (std::int64_t k = 0; k < count; ++k)
    ::Test::copy(row_of(b, k), Reference::to_device(TEST_EXECSPACE(), random_rhs<T>(n, k)));
  return b;
}

/// As many numbers as a View of rank 1 or 2 has, in memory of any layout.
template <class View>
std::vector<typename View::non_const_value_type> numbers(const View& v) {
  const auto host = ::Test::host_copy(v);
  std::vector<typename View::non_const_value_type> r;
  if constexpr (View::rank() == 1) {
    for (std::size_t i = 0; i < host.extent(0); ++i) r.push_back(host(i));
  } else {
    for (std::size_t k = 0; k < host.extent(0); ++k)
      for (std::size_t i = 0; i < host.extent(1); ++i) r.push_back(host(k, i));
  }
  return r;
}

/// Systems on the host, and one solve of all of them.
template <class T>
struct Batch {
  std::vector<HostSystem<T>> A;
  std::vector<std::vector<T>> b;

  std::int64_t count() const { return static_cast<std::int64_t>(A.size()); }
  std::int64_t n() const { return A.front().size(); }
};
template <class T>
Batch<T> make_batch(Gallery type, std::int64_t count, std::int64_t n,
                    Boundary boundary = Boundary::open) {
  Batch<T> r;
  for (std::int64_t k = 0; k < count; ++k) {
    r.A.push_back(gallery<T>(type, n, 100 + k, boundary));
    r.b.push_back(random_rhs<T>(n, 200 + k));
  }
  return r;
}

template <class T>
struct DeviceBatch {
  Trikkos::Tridiagonal<Array<T>> A;
  Array<T> b, x;

  DeviceBatch(const Batch<T>& batch, Layout layout) : DeviceBatch(batch, layout, layout) {}
  /// Matrices and right-hand sides in one layout, solutions in another.
  DeviceBatch(const Batch<T>& batch, Layout layout, Layout x_layout)
      : A{array(batch, layout), array(batch, layout), array(batch, layout),
          batch.A.front().periodic ? Boundary::periodic : Boundary::open},
        b(array(batch, layout)),
        x(array(batch, x_layout)) {
    const TEST_EXECSPACE exec;
    const auto put = [&](const Array<T>& to, std::int64_t k, const std::vector<T>& values) {
      ::Test::copy(row_of(to, k), Reference::to_device(exec, values));
    };
    for (std::int64_t k = 0; k < batch.count(); ++k) {
      put(A.lower, k, batch.A[k].lower);
      put(A.diag, k, batch.A[k].diag);
      put(A.upper, k, batch.A[k].upper);
      put(b, k, batch.b[k]);
    }
  }
  std::vector<T> solution(std::int64_t k) const { return Reference::to_host(row_of(x, k)); }

 private:
  static Array<T> array(const Batch<T>& batch, Layout layout) {
    return make_array<T>(layout, batch.count(), batch.n());
  }
};

/// The backward error of system k.
template <class T>
double eta_of(const Batch<T>& batch, std::int64_t k, const std::vector<T>& x,
              Trikkos::Transpose op) {
  if (op == Trikkos::Transpose::none) return fast_backward_error(batch.A[k], x, batch.b[k]);
  const bool conjugate = op == Trikkos::Transpose::conjugate_transpose;
  return fast_backward_error(Reference::transpose(batch.A[k], conjugate), x, batch.b[k]);
}

}  // namespace Test::Many

#endif
