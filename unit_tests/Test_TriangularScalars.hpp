// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <TriangularSolves.hpp>

TEST(TEST_CATEGORY, triangular_scalars) {
  using Exec = TEST_EXECSPACE;
  const auto neighbours = ::Test::random_neighbours(4);
  ::Test::expect_all_solved<Exec>("float", ::Test::triangle<float>(700, neighbours, true));
  ::Test::expect_all_solved<Exec>("complex<float>",
                                  ::Test::triangle<Kokkos::complex<float>>(700, neighbours, true));
  ::Test::expect_all_solved<Exec>("complex<double>",
                                  ::Test::triangle<Kokkos::complex<double>>(700, neighbours, true));
}
