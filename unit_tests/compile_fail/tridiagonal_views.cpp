// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::Tridiagonal: lower, diag and upper must be Kokkos::Views

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Trikkos::Tridiagonal A{1., 2., 3.};
  (void)A;
}
