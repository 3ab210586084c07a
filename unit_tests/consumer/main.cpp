// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Trikkos.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  using Vector = Kokkos::View<double*>;
  const int n = 1000000;
  const Vector lower("lower", n), diag("diag", n), upper("upper", n), b("b", n), x("x", n);
  for (const Vector& v : {lower, upper, b}) Kokkos::deep_copy(exec, v, 1);  // diag stays zero

  const Trikkos::Tridiagonal A{lower, diag, upper};
  Trikkos::Workspace work(exec, A, b);               // allocates
  Trikkos::solve(exec, work, A, b, x);               // neither allocates nor waits
  const Trikkos::Status status = work.status(exec);  // waits
  Kokkos::printf("%s\n", status.why().c_str());
  return status.ok() ? 0 : 1;
}
