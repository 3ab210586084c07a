// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A must have rank 1 (one system): its bands are rank-1 Views

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double**, Exec> v;
  const Trikkos::Tridiagonal A{v, v, v};
  const Trikkos::Plan plan(exec, A);
}
