// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Diffusion on many rings, in time by Crank-Nicolson: one periodic matrix, factored once by a Plan,
// and a right-hand side a ring in every step (Gloster, O Naraigh, Pang 2019, section III).
//
//   C_t = C_xx on [0, 1),  (1 - s D) C^(k+1) = (1 + s D) C^k,  s = dt / (2 dx^2)

#include <Trikkos.hpp>
#include <common/Rings.hpp>

using namespace Example;

/// b = (1 + s D) C
void right_hand_sides(const Exec& exec, double s, const Field& C, const Field& b) {
  const std::int64_t points = C.extent_int(1);
  for_field(
      exec, "right-hand sides", C, KOKKOS_LAMBDA(std::int64_t k, std::int64_t i) {
        const double left = C(k, i > 0 ? i - 1 : points - 1);
        const double right = C(k, i < points - 1 ? i + 1 : 0);
        b(k, i) = C(k, i) + s * (left - 2 * C(k, i) + right);
      });
}

Outcome diffuse(const Exec& exec, const Size& size, const Show& show) {
  const double end_time = 0.02;
  const double dt = end_time / static_cast<double>(size.steps);
  const double s = dt / 2 * std::pow(static_cast<double>(size.points), 2);
  const auto A =
      Trikkos::toeplitz(exec, size.points, -s, 1 + 2 * s, -s, Trikkos::Boundary::periodic);
  const Trikkos::Plan plan(exec, A, {}, size.rings);

  const Field b("b", size.rings, size.points);
  const Waves exact{size.rings, size.points, 3, 2};
  return march_rings(exec, plan, exact, size.steps, end_time, show, [&](const Field& C) {
    right_hand_sides(exec, s, C, b);
    Trikkos::solve(exec, plan, b, C);
  });
}

int main(int argc, char* argv[]) { return main_of_rings("trikkos_diffusion", argc, argv, diffuse); }
