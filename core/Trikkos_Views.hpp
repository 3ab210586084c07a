// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_VIEWS_HPP
#define TRIKKOS_VIEWS_HPP

#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_Check.hpp>

/// \file
/// What other libraries have, as Trikkos takes it. Nothing is copied: the results refer to the
/// given memory, but, unlike a View, do not keep it alive.

namespace Trikkos {

namespace Impl {
template <class T, int rank>
struct ArrayOf {
  using type = typename ArrayOf<T, rank - 1>::type*;
};
template <class T>
struct ArrayOf<T, 0> {
  using type = T;
};
template <class View, int rank>
using Referring =
    Kokkos::View<typename ArrayOf<typename View::value_type, rank>::type, Kokkos::LayoutStride,
                 typename View::device_type, Kokkos::MemoryUnmanaged>;
}  // namespace Impl

/// An (n, nrhs) array, one column a right-hand side, as LAPACK and Tpetra::MultiVector have it, as
/// the (system, row) View that `solve` takes:
///
///   Trikkos::solve(exec, plan, Trikkos::columns(b), Trikkos::columns(x));
///
/// \param b  rank 2 (n, nrhs), any layout; LayoutLeft keeps each right-hand side contiguous
template <ViewType View>
auto columns(const View& b) {
  static_assert(View::rank() == 2, "Trikkos::columns: b must have rank 2 (n, nrhs)");
  const Kokkos::LayoutStride layout(b.extent(1), b.stride(1), b.extent(0), b.stride(0));
  return Impl::Referring<View, 2>(b.data(), layout);
}

/// An array whose lines along one axis are systems, as the View with that axis last, the others in
/// their order, that `solve` takes for b, x and bands; what one direction of ADI solves, in place:
///
///   Trikkos::solve(exec, plan, Trikkos::along(u, 1), Trikkos::along(u, 1));
///
/// \param v     rank 2 or 3, any layout
/// \param axis  0 for lines v(:, j, k), 1 for v(i, :, k), 2 for v(i, j, :)
/// \throws std::invalid_argument for another axis
template <ViewType View>
auto along(const View& v, int axis) {
  constexpr int rank = static_cast<int>(View::rank());
  static_assert(rank == 2 || rank == 3, "Trikkos::along: v must have rank 2 or 3");
  if (axis < 0 || axis >= rank)
    throw std::invalid_argument("Trikkos::along: axis is " + std::to_string(axis) +
                                ", expected 0 to " + std::to_string(rank - 1));
  Kokkos::LayoutStride layout;
  for (int k = 0; k < rank; ++k) {
    const int from = k == rank - 1 ? axis : k < axis ? k : k + 1;
    layout.dimension[k] = v.extent(from);
    layout.stride[k] = v.stride(from);
  }
  return Impl::Referring<View, rank>(v.data(), layout);
}

/// The open tridiagonal matrix of LAPACK's `dl`, `d` and `du`, whose outer bands have n-1 entries:
/// dl(i) is A(i+1,i), du(i) is A(i,i+1).
///
/// \param dl, du  rank 1 (n-1), any stride
/// \param d       rank 1 (n)
/// \throws std::invalid_argument for extents that do not fit
template <ViewType Lower, ViewType Diag, ViewType Upper>
auto lapack_bands(const Lower& dl, const Diag& d, const Upper& du) {
  static_assert(Lower::rank() == 1 && Diag::rank() == 1 && Upper::rank() == 1,
                "Trikkos::lapack_bands: dl, d and du must have rank 1");
  constexpr auto function = "Trikkos::lapack_bands";
  const auto n = static_cast<std::int64_t>(d.extent(0));
  const std::int64_t couplings = n > 0 ? n - 1 : 0;
  Impl::expect_extent(function, "dl", "entries", dl.extent(0), couplings, "d.extent(0) - 1");
  Impl::expect_extent(function, "du", "entries", du.extent(0), couplings, "d.extent(0) - 1");
  // Of n entries; the one more, in front of dl and behind du, is never read.
  const auto band = [n](const auto& v, std::int64_t first) {
    const std::int64_t stride = n > 1 ? static_cast<std::int64_t>(v.stride(0)) : 1;
    auto* const start = n > 1 ? v.data() + first * stride : v.data();
    return Impl::Referring<std::remove_cvref_t<decltype(v)>, 1>(start,
                                                                Kokkos::LayoutStride(n, stride));
  };
  return Tridiagonal{band(dl, -1), d, band(du, 0)};
}

}  // namespace Trikkos

#endif
