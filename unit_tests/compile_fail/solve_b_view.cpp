// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: b must be a Kokkos::View

#include <Trikkos.hpp>
#include <vector>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Trikkos::Tridiagonal A{v, v, v};
  (void)Trikkos::solve(exec, A, std::vector<double>(8), v);
}
