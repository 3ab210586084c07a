// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: x must have the value type of A

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<float*, Exec> x;
  const Trikkos::Tridiagonal A{v, v, v};
  (void)Trikkos::solve(exec, A, v, x);
}
