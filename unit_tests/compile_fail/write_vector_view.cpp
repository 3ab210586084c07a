// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::write_vector: x must be a Kokkos::View

#include <Trikkos.hpp>
#include <vector>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() { Trikkos::write_vector("x.mtx", std::vector<double>(8)); }
