// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::inverse: X must be a Kokkos::View of rank 2 (row, column)

#include <Trikkos.hpp>

void invert(const Kokkos::View<double*>& v) {
  const Trikkos::Tridiagonal A{v, v, v};
  static_cast<void>(Trikkos::inverse(Kokkos::DefaultExecutionSpace(), A, v));
}
