// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A, b and x must have rank 1 inside a kernel

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

struct Solve {
  Kokkos::View<double*, Exec> v;
  Kokkos::View<double**, Exec> b;
  KOKKOS_INLINE_FUNCTION void operator()(const Kokkos::TeamPolicy<Exec>::member_type& team) const {
    (void)Trikkos::solve(team, Trikkos::Tridiagonal{v, v, v}, b, b);
  }
};

int main() { Kokkos::parallel_for("team", Kokkos::TeamPolicy<Exec>(1, 1), Solve{}); }
