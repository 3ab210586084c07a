// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::Plan: A must have rank 1 (row), 2 (system, row) or 3 (system, system, row)

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double****, Exec> v;
  const Trikkos::Tridiagonal A{v, v, v};
  const Trikkos::Plan plan(exec, A);
}
