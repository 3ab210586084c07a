// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::Plan::update: A must have the value type of the plan

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Kokkos::View<float*, Exec> w;
  const Trikkos::Tridiagonal A{v, v, v};
  Trikkos::Plan plan(exec, A);
  plan.update(exec, Trikkos::Tridiagonal{w, w, w});
}
