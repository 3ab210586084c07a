// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::gallery: T must be float, double or Kokkos::complex of these

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() { Trikkos::gallery<int>(Exec(), Trikkos::Gallery::uniform, 8); }
