// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A must hold float, double or Kokkos::complex of either

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<int*, Exec> v;
  const Trikkos::Tridiagonal A{v, v, v};
  (void)Trikkos::solve(exec, A, v, v);
}
