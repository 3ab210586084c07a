// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_HOSTVIEWS_HPP
#define TRIKKOS_TEST_HOSTVIEWS_HPP

#include <Reference.hpp>

/// \file
/// Vectors and matrices of the host as Views, for what is called there without a kernel.

namespace Test {

inline Trikkos::Boundary boundary_of(bool periodic) {
  return periodic ? Trikkos::Boundary::periodic : Trikkos::Boundary::open;
}

template <class T>
using HostView = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

template <class T>
HostView<const T> on_host(const std::vector<T>& v) {
  return HostView<const T>(v.data(), v.size());
}
template <class T>
HostView<T> on_host(std::vector<T>& v) {
  return HostView<T>(v.data(), v.size());
}
template <class T>
auto on_host(const Reference::HostSystem<T>& A) {
  return Trikkos::Tridiagonal{on_host(A.lower), on_host(A.diag), on_host(A.upper),
                              boundary_of(A.periodic)};
}

}  // namespace Test

#endif
