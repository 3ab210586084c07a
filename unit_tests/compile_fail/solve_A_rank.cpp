// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A must have rank 1 (one system): its bands are rank-1 Views

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<double**, Exec> bands;
  Trikkos::solve(exec, Trikkos::Tridiagonal{bands, bands, bands}, v, v);
}
