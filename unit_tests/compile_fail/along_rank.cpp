// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::along: v must have rank 2 or 3

#include <Trikkos.hpp>

int main() {
  const Kokkos::View<double*, Kokkos::DefaultHostExecutionSpace> v;
  Trikkos::along(v, 0);
}
