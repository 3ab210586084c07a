// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A, b and x must have rank 1 inside a kernel

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<double**, Exec> b;
  const Trikkos::Tridiagonal A{v, v, v};
  (void)Trikkos::solve(Trikkos::this_thread, A, b, b);
}
