// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: x must have the rank of b

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<double**, Exec> x;
  const Trikkos::Tridiagonal A{v, v, v};
  (void)Trikkos::solve(exec, A, v, x);
}
