// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Trikkos_Distributed.hpp>

/// \file
/// Instantiates every functor of Trikkos::mpi for CUDA, to be compiled where nothing can run it,
/// and for a host execution space beside it.

namespace {

template <class T, class Exec>
void calls(const Exec& exec, MPI_Comm comm) {
  const Kokkos::View<T*, Exec> band("band", 10);
  const Kokkos::View<T**, Exec> b("b", 3, 10), x("x", 3, 10);
  const Trikkos::Distributed A{comm, Trikkos::Tridiagonal{band, band, band}};
  static_cast<void>(Trikkos::solve(exec, A, b, x));
  const Trikkos::DistributedPlan plan(exec, A, {}, 3);
  plan.update(exec, A);
  Trikkos::solve(exec, plan, b, x);
  Trikkos::scatter(exec, comm, 0, b, x);
  Trikkos::gather(exec, comm, 0, b, x);
}

}  // namespace

void compile_all_for_cuda(MPI_Comm comm) {
  const Kokkos::Cuda exec;
  calls<double>(exec, comm);
  calls<Kokkos::complex<float>>(exec, comm);
  calls<double>(Kokkos::DefaultHostExecutionSpace{}, comm);
}
