// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: b must have rank 1 (row), 2 (system, row) or 3 (system, system, row)

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<double****, Exec> b;
  const Trikkos::Tridiagonal A{v, v, v};
  (void)Trikkos::solve(exec, A, b, b);
}
