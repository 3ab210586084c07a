// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::read_csr: T must be float, double or Kokkos::complex of them

#include <Trikkos.hpp>

int main() { Trikkos::read_csr<int>("A.mtx"); }
