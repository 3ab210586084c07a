// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The control: every call that the other files get wrong.

#include <Trikkos.hpp>

using Exec = Kokkos::DefaultHostExecutionSpace;

template <class T>
struct Solve {
  Kokkos::View<T*, Exec> v;
  KOKKOS_INLINE_FUNCTION void operator()(const Kokkos::TeamPolicy<Exec>::member_type& team) const {
    (void)Trikkos::solve(team, Trikkos::Tridiagonal{v, v, v}, v, v);
  }
};

template <class T>
void calls(const Exec& exec) {
  const Kokkos::View<T*, Exec> v("v", 8), x("x", 8);
  const Kokkos::View<const T*, Exec> constant = v;
  const Kokkos::View<T**, Exec> many("many", 3, 8);
  const Trikkos::Tridiagonal A{v, v, v}, C{constant, constant, constant};
  (void)Trikkos::solve(exec, A, v, x);
  Trikkos::solve(exec, C, constant, x);
  (void)Trikkos::solve(exec, A, many, many);
  Trikkos::Workspace work(exec, A, many);
  Trikkos::solve(exec, work, C, constant, x);
  Trikkos::Plan plan(exec, C);
  plan.update(exec, A);
  Trikkos::solve(exec, plan, many, many);
  (void)Trikkos::backward_error(exec, C, x, constant);
  (void)Trikkos::solve(Trikkos::this_thread, C, constant, x);
  Kokkos::parallel_for("team", Kokkos::TeamPolicy<Exec>(exec, 1, 1), Solve<T>{v});
  Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform, 8);
  Trikkos::gallery_rhs<T>(exec, 8);
  Trikkos::read_tridiagonal<T>("A.mtx");
  Trikkos::read_vector<T>("b.mtx");
  Trikkos::write_vector("x.mtx", constant);
}

int main() {
  const Exec exec;
  calls<float>(exec);
  calls<double>(exec);
  calls<Kokkos::complex<float>>(exec);
  calls<Kokkos::complex<double>>(exec);
}
