// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A must have the value type of the workspace

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Trikkos::Tridiagonal A{v, v, v};
  Trikkos::Workspace<float, Exec> work(exec, 8, 1);
  Trikkos::solve(exec, work, A, v, v);
}
