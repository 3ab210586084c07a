// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hyperdiffusion on many rings, the linear part of the Cahn-Hilliard equation, in time by
// Crank-Nicolson: one periodic pentadiagonal matrix in a Plan, and a right-hand side a ring in
// every step (Gloster, O Naraigh, Pang 2019, section IV).
//
//   C_t = -C_xxxx on [0, 1),  (1 + s D) C^(k+1) = (1 - s D) C^k,  s = dt / (2 dx^4)
//   (D C)_i = C_(i-2) - 4 C_(i-1) + 6 C_i - 4 C_(i+1) + C_(i+2)

#include <Trikkos.hpp>
#include <common/Rings.hpp>

using namespace Example;

/// b = (1 - s D) C
void right_hand_sides(const Exec& exec, double s, const Field& C, const Field& b) {
  const std::int64_t points = C.extent_int(1);
  for_field(
      exec, "right-hand sides", C, KOKKOS_LAMBDA(std::int64_t k, std::int64_t i) {
        const auto at = [&](std::int64_t j) { return C(k, (j + 2 * points) % points); };
        const double next = at(i - 1) + at(i + 1), second = at(i - 2) + at(i + 2);
        b(k, i) = C(k, i) - s * (second - 4 * next + 6 * C(k, i));
      });
}

Outcome diffuse(const Exec& exec, const Size& size, const Show& show) {
  const double end_time = 2e-4;
  const double dt = end_time / static_cast<double>(size.steps);
  const double s = dt / 2 * std::pow(static_cast<double>(size.points), 4);
  const auto A = Trikkos::toeplitz(exec, size.points, s, -4 * s, 1 + 6 * s, -4 * s, s,
                                   Trikkos::Boundary::periodic);
  const Trikkos::Plan plan(exec, A, {}, size.rings);

  const Field b("b", size.rings, size.points);
  const Waves exact{size.rings, size.points, 2, 4};
  return march_rings(exec, plan, exact, size.steps, end_time, show, [&](const Field& C) {
    right_hand_sides(exec, s, C, b);
    Trikkos::solve(exec, plan, b, C);
  });
}

int main(int argc, char* argv[]) {
  return main_of_rings("trikkos_hyperdiffusion", argc, argv, diffuse);
}
