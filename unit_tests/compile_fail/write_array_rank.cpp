// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::write_array: A must have rank 2

#include <Trikkos.hpp>

int main() { Trikkos::write_array("A.mtx", Kokkos::View<double*>("A", 1)); }
