// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Diffusion on many rings, in time by Crank-Nicolson: one periodic matrix, factored once by a Plan,
// and a right-hand side a ring in every step (Gloster, O Naraigh, Pang 2019, section III).
//
//   C_t = C_xx on [0, 1),  (1 - s D) C^(k+1) = (1 + s D) C^k,  s = dt / (2 dx^2)

#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <common/CommandLine.hpp>
#include <common/Picture.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;
using Field = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;  // (ring, point)

constexpr double end_time = 0.02;
constexpr double pi = 3.14159265358979323846;

struct Size {
  std::int64_t rings = 1000, points = 1000, steps = 1000;
};

/// Two waves, whose phases differ from ring to ring. Higher ones decay faster.
struct Exact {
  std::int64_t points, rings;

  KOKKOS_FUNCTION double operator()(std::int64_t ring, std::int64_t point, double time) const {
    const double x = static_cast<double>(point) / static_cast<double>(points);
    const double phase = static_cast<double>(ring) / static_cast<double>(rings);
    const auto wave = [&](double number, double at) {
      const double k = 2 * pi * number;
      return Kokkos::exp(-k * k * time) * Kokkos::sin(k * (x - at));
    };
    return wave(1, phase) + 0.5 * wave(3, 0.3 + 2 * phase);
  }
};

template <class F>
void for_field(const Exec& exec, const char* label, const Field& C, const F& f) {
  using Points = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2, Kokkos::Iterate::Right>,
                                       Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(label, Points(exec, {0, 0}, {C.extent_int(0), C.extent_int(1)}), f);
}

/// A line of the picture: the first ring.
std::vector<double> first_ring(const Exec& exec, const Field& C) {
  const auto ring = Kokkos::subview(C, 0, Kokkos::ALL);
  const Vector copy("picture", ring.extent(0));
  Kokkos::deep_copy(exec, copy, ring);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, copy);
  return std::vector<double>(host.data(), host.data() + host.size());
}

struct Outcome {
  double error, seconds;  // the largest error at the end; of all steps
  Trikkos::Status status;
};

Outcome diffuse(const Exec& exec, const Size& size, Example::Picture* picture,
                bool shows_progress) {
  const std::int64_t rings = size.rings, points = size.points, steps = size.steps;
  const double dt = end_time / static_cast<double>(steps);
  const double s = dt / 2 * static_cast<double>(points) * static_cast<double>(points);
  const Vector off("off-diagonals", points), diag("diagonal", points);
  Kokkos::deep_copy(exec, off, -s);
  Kokkos::deep_copy(exec, diag, 1 + 2 * s);
  const Trikkos::Plan plan(exec, Trikkos::Tridiagonal{off, diag, off, Trikkos::Boundary::periodic},
                           {}, rings);

  const Field C("C", rings, points), b("b", rings, points);
  const Exact exact{points, rings};
  for_field(
      exec, "initial", C,
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t i) { C(k, i) = exact(k, i, 0); });
  exec.fence("initial values");
  const Kokkos::Timer timer;
  for (std::int64_t step = 0; step < steps; ++step) {
    if (picture != nullptr && step % std::max<std::int64_t>(steps / 250, 1) == 0)
      picture->add(first_ring(exec, C));
    for_field(
        exec, "right-hand sides", C, KOKKOS_LAMBDA(std::int64_t k, std::int64_t i) {
          const double left = C(k, i > 0 ? i - 1 : points - 1);
          const double right = C(k, i < points - 1 ? i + 1 : 0);
          b(k, i) = C(k, i) + s * (left - 2 * C(k, i) + right);
        });
    Trikkos::solve(exec, plan, b, C);
    if (shows_progress && Example::is_progress_due(step + 1, steps)) {
      exec.fence("progress");
      Example::show_progress(step + 1, steps, timer.seconds());
    }
  }
  exec.fence("last step");
  Outcome r{0, timer.seconds(), plan.status(exec)};
  if (shows_progress) std::printf("algorithm       %s\n", name(plan.algorithm()));
  Kokkos::parallel_reduce(
      "error", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rings * points),
      KOKKOS_LAMBDA(std::int64_t at, double& largest) {
        const std::int64_t k = at / points, i = at % points;
        const double error = Kokkos::abs(C(k, i) - exact(k, i, end_time));
        if (!(error <= largest)) largest = error;
      },
      Kokkos::Max<double>(r.error));
  return r;
}

/// Half the steps in space and time must leave a quarter of the error.
bool shows_order(const Exec& exec) {
  double before = 0;
  bool good = true;
  std::printf("%8s %8s %12s %8s\n", "points", "steps", "error", "order");
  for (std::int64_t points = 32; points <= 512; points *= 2) {
    const Outcome r = diffuse(exec, {8, points, points}, nullptr, false);
    const double order = before > 0 ? std::log2(before / r.error) : 0;
    std::printf("%8lld %8lld %12.3e %8.2f\n", static_cast<long long>(points),
                static_cast<long long>(points), r.error, order);
    good = good && r.status.ok() && (before == 0 || std::abs(order - 2) < 0.1);
    before = r.error;
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
          "usage: trikkos_diffusion [--rings M] [--points N] [--steps S] [--picture FILE.ppm]\n"
          "       trikkos_diffusion --order    convergence of the scheme\n");
      return 0;
    }
    if (k + 1 == argc) throw std::invalid_argument(option + ": expected a value, see --help");
    const char* const value = argv[++k];
    if (option == "--rings")
      size.rings = Example::number(option, value);
    else if (option == "--points")
      size.points = Example::number(option, value);
    else if (option == "--steps")
      size.steps = Example::number(option, value);
    else if (option == "--picture")
      path = value;
    else
      throw std::invalid_argument(option + ": no such option, see --help");
  }
  const Exec exec;
  if (order) return shows_order(exec) ? 0 : 1;

  std::printf("%lld rings of %lld points, %lld steps\n", static_cast<long long>(size.rings),
              static_cast<long long>(size.points), static_cast<long long>(size.steps));
  Example::Picture picture(-1.5, 1.5);
  const Outcome r = diffuse(exec, size, path.empty() ? nullptr : &picture, true);
  const double unknowns = static_cast<double>(size.rings * size.points * size.steps);
  std::printf("time            %.3f s, %.3f ns an unknown and step\n", r.seconds,
              r.seconds / unknowns * 1e9);
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
    std::fprintf(stderr, "trikkos_diffusion: %s\n", e.what());
    return 2;
  }
}
