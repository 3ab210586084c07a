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
#include <common/Picture.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;
using Field = Kokkos::View<double***, Kokkos::LayoutRight, Exec>;  // a square has one plane only

constexpr double end_time = 0.02;
constexpr double pi = 3.14159265358979323846;

struct Size {
  int axes = 3;
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

struct Outcome {
  double error, seconds;  // the largest error at the end; of all steps
  Trikkos::Status status;
};

Outcome heat(const Exec& exec, const Size& size, Example::Picture* picture, bool shows_progress) {
  const int axes = size.axes;
  const std::int64_t n = size.points, planes = axes == 3 ? n : 1;
  const double h = 1 / static_cast<double>(n + 1);
  const double s = end_time / static_cast<double>(size.steps) / (2 * h * h);
  const Vector off("off-diagonals", n), diag("diagonal", n);
  Kokkos::deep_copy(exec, off, -s);
  Kokkos::deep_copy(exec, diag, 1 + 2 * s);
  const Trikkos::Plan plan(exec, Trikkos::Tridiagonal{off, diag, off}, {}, n * planes);

  const Field u("u", n, n, planes), change("change", n, n, planes);
  const Exact exact{axes, h};
  Kokkos::parallel_for(
      "initial", points_of(exec, u), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        u(i, j, k) = exact(i, j, k, 0);
      });
  exec.fence("initial values");
  const Kokkos::Timer timer;
  for (std::int64_t step = 1; step <= size.steps; ++step) {
    Kokkos::parallel_for(
        "right-hand sides", points_of(exec, u),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
          const double at = u(i, j, k);
          double sum = -2 * axes * at;
          if (i > 0) sum += u(i - 1, j, k);
          if (i < n - 1) sum += u(i + 1, j, k);
          if (j > 0) sum += u(i, j - 1, k);
          if (j < n - 1) sum += u(i, j + 1, k);
          if (k > 0) sum += u(i, j, k - 1);
          if (k < planes - 1) sum += u(i, j, k + 1);
          change(i, j, k) = 2 * s * sum;
        });
    for (int axis = 0; axis < axes; ++axis) {
      const auto lines = Trikkos::along(change, axis);
      Trikkos::solve(exec, plan, lines, lines);
    }
    Kokkos::parallel_for(
        "step", points_of(exec, u), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
          u(i, j, k) += change(i, j, k);
        });
    if (shows_progress && Example::is_progress_due(step, size.steps)) {
      exec.fence("progress");
      Example::show_progress(step, size.steps, timer.seconds());
    }
  }
  exec.fence("last step");
  Outcome r{0, timer.seconds(), plan.status(exec)};
  Kokkos::parallel_reduce(
      "error", points_of(exec, u),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k, double& largest) {
        const double error = Kokkos::abs(u(i, j, k) - exact(i, j, k, end_time));
        if (!(error <= largest)) largest = error;
      },
      Kokkos::Max<double>(r.error));
  if (picture != nullptr) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, u);
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<double> line;
      for (std::int64_t j = 0; j < n; ++j) line.push_back(host(i, j, planes / 2));
      picture->add(std::move(line));
    }
  }
  return r;
}

/// Half the steps in space and time must leave a quarter of the error.
bool shows_order(const Exec& exec) {
  bool good = true;
  std::printf("%8s %8s %8s %12s %8s\n", "axes", "points", "steps", "error", "order");
  for (const int axes : {2, 3}) {
    double before = 0;
    for (std::int64_t intervals = 16; intervals <= 64; intervals *= 2) {
      const Outcome r = heat(exec, {axes, intervals - 1, intervals}, nullptr, false);
      const double order = before > 0 ? std::log2(before / r.error) : 0;
      std::printf("%8d %8lld %8lld %12.3e %8.2f\n", axes, static_cast<long long>(intervals - 1),
                  static_cast<long long>(intervals), r.error, order);
      good = good && r.status.ok() && (before == 0 || std::abs(order - 2) < 0.1);
      before = r.error;
    }
  }
  return good;
}

int run(int argc, char* argv[]) {
  Size size;
  std::string path;
  bool order = false;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (option == "--order") {
      order = true;
      continue;
    }
    if (option == "--help") {
      std::printf(
          "usage: trikkos_adi_heat [--axes 2|3] [--points N] [--steps S] [--picture FILE.ppm]\n"
          "       trikkos_adi_heat --order    convergence of the scheme\n");
      return 0;
    }
    if (k + 1 == argc) throw std::invalid_argument(option + ": expected a value, see --help");
    const char* const value = argv[++k];
    if (option == "--axes") {
      size.axes = static_cast<int>(Example::number(option, value));
      if (size.axes != 2 && size.axes != 3)
        throw std::invalid_argument(option + " is '" + value + "', expected 2 or 3");
    } else if (option == "--points") {
      size.points = Example::number(option, value);
    } else if (option == "--steps") {
      size.steps = Example::number(option, value);
    } else if (option == "--picture") {
      path = value;
    } else {
      throw std::invalid_argument(option + ": no such option, see --help");
    }
  }
  const Exec exec;
  if (order) return shows_order(exec) ? 0 : 1;

  std::printf("%lld points along each of %d axes, %lld steps\n",
              static_cast<long long>(size.points), size.axes, static_cast<long long>(size.steps));
  Example::Picture picture(0, 0.5);
  const Outcome r = heat(exec, size, path.empty() ? nullptr : &picture, true);
  const double unknowns = std::pow(static_cast<double>(size.points), size.axes);
  std::printf("time            %.3f s, %.3f ns a point and step\n", r.seconds,
              r.seconds / unknowns / static_cast<double>(size.steps) * 1e9);
  std::printf("error           %.3e against the exact solution\n", r.error);
  std::printf("status          %s\n", r.status.why().c_str());
  if (!path.empty()) {
    picture.write(path);
    std::printf("picture         %s\n", path.c_str());
  }
  return r.status.ok() ? 0 : 1;
}

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trikkos_adi_heat: %s\n", e.what());
    return 2;
  }
}
