// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: Trikkos::solve: A must be accessible from the execution space

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

// Memory that the host does not reach.
struct Elsewhere {
  using memory_space = Elsewhere;
  using execution_space = Exec;
  using device_type = Kokkos::Device<Exec, Elsewhere>;
  using size_type = std::size_t;
  static constexpr const char* name() { return "Elsewhere"; }
};
using Far = Kokkos::View<double*, Elsewhere, Kokkos::MemoryUnmanaged>;

int main() {
  const Exec exec;
  const Kokkos::View<double*, Exec> v;
  const Far far;
  (void)Trikkos::solve(exec, Trikkos::Tridiagonal{far, far, far}, v, v);
}
