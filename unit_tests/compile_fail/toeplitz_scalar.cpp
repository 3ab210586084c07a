// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::toeplitz: diag must be float, double or Kokkos::complex of either

#include <Trikkos.hpp>

int main() { (void)Trikkos::toeplitz(Kokkos::DefaultHostExecutionSpace(), 7, -1, 2, -1); }
