// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::marshal: from and to must be Kokkos::Views

#include <Trikkos.hpp>
#include <vector>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double**, Exec> v;
  Trikkos::marshal(exec, std::vector<double>(8), v);
}
