// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Heat in a square or a cube by alternating directions (Douglas 1962): a step solves a tridiagonal
// system for each line along each axis of the array, in place, with one factored matrix.
//
//   u_t = u_xx + u_yy + u_zz, u = 0 on the boundary
//   (1 - r Dx) (1 - r Dy) (1 - r Dz) (u^(k+1) - u^k) = dt (Dx + Dy + Dz) u^k,   r = dt / 2

#include <Trikkos.hpp>
#include <cmath>
#include <common/CommandLine.hpp>
#include <common/Heat.hpp>
#include <common/Simulation.hpp>
#include <vector>

using Example::Exec;
using Example::Field;
using Example::Outcome;

constexpr double end_time = 0.02;

struct Size {
  std::int64_t axes = 3;
  std::int64_t points = 128, steps = 100;  // inner points along an axis
};

/// change = dt (Dx + Dy + Dz) u, s = dt / (2 h^2)
void changes(const Exec& exec, double s, int axes, const Field& u, const Field& change) {
  const std::int64_t n = u.extent_int(0), planes = u.extent_int(2);
  Kokkos::parallel_for(
      "right-hand sides", Example::points_of(exec, u),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        double sum = -2 * axes * u(i, j, k);
        if (i > 0) sum += u(i - 1, j, k);
        if (i < n - 1) sum += u(i + 1, j, k);
        if (j > 0) sum += u(i, j - 1, k);
        if (j < n - 1) sum += u(i, j + 1, k);
        if (k > 0) sum += u(i, j, k - 1);
        if (k < planes - 1) sum += u(i, j, k + 1);
        change(i, j, k) = 2 * s * sum;
      });
}
/// A cut through the middle.
void draw(const Field& u, Example::Picture& picture) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, u);
  for (int i = 0; i < u.extent_int(0); ++i) {
    std::vector<double> line;
    for (int j = 0; j < u.extent_int(1); ++j) line.push_back(host(i, j, u.extent_int(2) / 2));
    picture.add(std::move(line));
  }
}

Outcome heat(const Exec& exec, const Size& size, const Example::Show& show) {
  const int axes = static_cast<int>(size.axes);
  const std::int64_t n = size.points, planes = axes == 3 ? n : 1;
  const double h = 1 / static_cast<double>(n + 1);
  const double s = end_time / static_cast<double>(size.steps) / (2 * h * h);
  const Trikkos::Plan plan(exec, Trikkos::toeplitz(exec, n, -s, 1 + 2 * s, -s), {}, n * planes);

  const Field u("u", n, n, planes), change("change", n, n, planes);
  const Example::ExactHeat exact{axes, h};
  Example::set(exec, exact, u);
  const double seconds = Example::march(exec, size.steps, show.progress, [&](std::int64_t) {
    changes(exec, s, axes, u, change);
    for (int axis = 0; axis < axes; ++axis) {
      const auto lines = Trikkos::along(change, axis);
      Trikkos::solve(exec, plan, lines, lines);
    }
    Example::add(exec, change, u);
  });
  if (show.picture != nullptr) draw(u, *show.picture);
  return {Example::largest_error(exec, u, exact, end_time), seconds, plan.status(exec),
          plan.algorithm()};
}

int run(int argc, char* argv[]) {
  Size size;
  const Example::Request request = Example::read_command_line(
      argc, argv, {{"--axes", &size.axes}, {"--points", &size.points}, {"--steps", &size.steps}});
  if (request.help) return Example::print_usage("trikkos_adi_heat", "[--axes 2|3] [--points N]");
  if (size.axes != 2 && size.axes != 3)
    throw std::invalid_argument("--axes is '" + std::to_string(size.axes) + "', expected 2 or 3");
  const Exec exec;
  if (request.order) {
    bool good = true;
    for (const int axes : {2, 3}) {
      std::printf("%d axes\n", axes);
      good = Example::shows_second_order(16, 64,
                                         [&](std::int64_t intervals) {
                                           return heat(exec, {axes, intervals - 1, intervals}, {});
                                         }) &&
             good;
    }
    return good ? 0 : 1;
  }
  std::printf("%lld points along each of %lld axes, %lld steps\n",
              static_cast<long long>(size.points), static_cast<long long>(size.axes),
              static_cast<long long>(size.steps));
  Example::Picture picture(0, 0.5);
  const Outcome r = heat(exec, size, {true, request.picture.empty() ? nullptr : &picture});
  const double points = std::pow(static_cast<double>(size.points), size.axes);
  return Example::report(r, points * static_cast<double>(size.steps), picture, request.picture);
}

int main(int argc, char* argv[]) { return Example::main_of("trikkos_adi_heat", argc, argv, run); }
