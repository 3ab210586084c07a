// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Trikkos.hpp>

int main(int argc, char** argv) { const Kokkos::ScopeGuard kokkos(argc, argv); }
