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
#include <common/Simulation.hpp>
#include <vector>

using Example::Outcome;
using Exec = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<double***, Kokkos::LayoutRight, Exec>;  // a square has one plane only

constexpr double end_time = 0.02;
constexpr double pi = 3.14159265358979323846;

struct Size {
  std::int64_t axes = 3;
  std::int64_t points = 128, steps = 100;  // inner points along an axis
};

/// Two products of sines, of which the second decays faster.
struct Exact {
  int axes;
  double h;

  KOKKOS_FUNCTION double wave(int number, std::int64_t i, std::int64_t j, std::int64_t k,
                              double time) const {
    const double w = pi * number;
    const auto sine = [&](std::int64_t at) {
      return Kokkos::sin(w * h * static_cast<double>(at + 1));
    };
    return Kokkos::exp(-axes * w * w * time) * sine(i) * sine(j) * (axes == 3 ? sine(k) : 1);
  }
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                    double time) const {
    return wave(1, i, j, k, time) + 0.5 * wave(3, i, j, k, time);
  }
};

auto points_of(const Exec& exec, const Field& u) {
  return Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3, Kokkos::Iterate::Right>,
                               Kokkos::IndexType<std::int64_t>>(
      exec, {0, 0, 0}, {u.extent_int(0), u.extent_int(1), u.extent_int(2)});
}

/// change = dt (Dx + Dy + Dz) u, s = dt / (2 h^2)
void changes(const Exec& exec, double s, int axes, const Field& u, const Field& change) {
  const std::int64_t n = u.extent_int(0), planes = u.extent_int(2);
  Kokkos::parallel_for(
      "right-hand sides", points_of(exec, u),
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
void add(const Exec& exec, const Field& change, const Field& u) {
  Kokkos::parallel_for(
      "step", points_of(exec, u), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        u(i, j, k) += change(i, j, k);
      });
}

void set(const Exec& exec, const Exact& exact, const Field& u) {
  Kokkos::parallel_for(
      "initial", points_of(exec, u), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        u(i, j, k) = exact(i, j, k, 0);
      });
}
double largest_error(const Exec& exec, const Field& u, const Exact& exact) {
  double error = 0;
  Kokkos::parallel_reduce(
      "error", points_of(exec, u),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k, double& largest) {
        const double e = Kokkos::abs(u(i, j, k) - exact(i, j, k, end_time));
        if (!(e <= largest)) largest = e;
      },
      Kokkos::Max<double>(error));
  return error;
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
  const Exact exact{axes, h};
  set(exec, exact, u);
  const double seconds = Example::march(exec, size.steps, show.progress, [&](std::int64_t) {
    changes(exec, s, axes, u, change);
    for (int axis = 0; axis < axes; ++axis) {
      const auto lines = Trikkos::along(change, axis);
      Trikkos::solve(exec, plan, lines, lines);
    }
    add(exec, change, u);
  });
  if (show.picture != nullptr) draw(u, *show.picture);
  return {largest_error(exec, u, exact), seconds, plan.status(exec), plan.algorithm()};
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
