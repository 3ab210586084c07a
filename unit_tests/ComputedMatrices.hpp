// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_COMPUTEDMATRICES_HPP
#define TRIKKOS_TEST_COMPUTEDMATRICES_HPP

#include <ManySystems.hpp>
#include <limits>

/// \file
/// Matrices from a function, and the same ones stored.

namespace Test::ComputedMatrices {

using Trikkos::Boundary;

/// Odd multiples of 1/64, so that nothing is rounded; NaN where an open matrix has no entry.
template <class T, int W>
struct Coefficients {
  std::int64_t n;
  Boundary boundary;
  double shift = 0;              // of the diagonal
  std::int64_t bad_system = -1;  // has a row of NaN

  KOKKOS_FUNCTION Kokkos::Array<T, 2 * W + 1> operator()(std::int64_t system,
                                                         std::int64_t row) const {
    Kokkos::Array<T, 2 * W + 1> r;
    for (int j = -W; j <= W; ++j) {
      const bool inside = boundary == Boundary::periodic || (row + j >= 0 && row + j < n);
      auto hash = static_cast<std::uint64_t>(system * 7919 + row * 31 + (j + 5) * 1013);
      hash = (hash ^ hash >> 7) * 0x9E3779B97F4A7C15u >> 40;
      const bool bad = !inside || (system == bad_system && row == n / 2);
      r[W + j] = bad ? T(std::numeric_limits<double>::quiet_NaN())
                     : T(static_cast<double>(hash % 64) / 32 - 1 + 1. / 64 + (j == 0 ? shift : 0));
    }
    return r;
  }
};

/// A matrix for each system, in any layout.
template <class T, int W>
auto stored(const Coefficients<T, W>& f, Many::Layout layout, std::int64_t count) {
  return Many::matrix<W>(f.boundary, [&](int j) {
    const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> host("host", count, f.n);
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = 0; i < f.n; ++i) host(k, i) = f(k, i)[W + j];
    const Many::Array<T> band = Many::make_array<T>(layout, count, f.n);
    ::Test::copy(band, host);
    return band;
  });
}

}  // namespace Test::ComputedMatrices

#endif
