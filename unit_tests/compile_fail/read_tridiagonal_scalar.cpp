// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::read_tridiagonal: T must be float, double or Kokkos::complex of them

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() { Trikkos::read_tridiagonal<int>("A.mtx"); }
