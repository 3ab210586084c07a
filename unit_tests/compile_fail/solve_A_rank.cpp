// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: b must have the rank of A, unless A has rank 1 (row)

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<double**, Exec> bands;
  (void)Trikkos::solve(exec, Trikkos::Tridiagonal{bands, bands, bands}, v, v);
}
