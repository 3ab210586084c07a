// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::marshal: to must have the value type of from

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double**, Exec> v;
  const Kokkos::View<float**, Exec> to;
  Trikkos::marshal(exec, v, to);
}
