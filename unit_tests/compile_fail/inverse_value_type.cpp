// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::inverse: X must have the value type of A, and not be const

#include <Trikkos.hpp>

void invert(const Kokkos::View<double*>& v, const Kokkos::View<float**>& X) {
  const Trikkos::Tridiagonal A{v, v, v};
  static_cast<void>(Trikkos::inverse(Kokkos::DefaultExecutionSpace(), A, X));
}
