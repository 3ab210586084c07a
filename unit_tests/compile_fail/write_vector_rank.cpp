// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::write_vector: x must have rank 1

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Kokkos::View<double**, Exec> x;
  Trikkos::write_vector("x.mtx", x);
}
