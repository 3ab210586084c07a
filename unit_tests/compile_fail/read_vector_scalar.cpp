// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::read_vector: T must be float, double or Kokkos::complex of them

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() { Trikkos::read_vector<int>("b.mtx"); }
