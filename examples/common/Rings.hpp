// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_RINGS_HPP
#define TRIKKOS_EXAMPLES_RINGS_HPP

#include <algorithm>
#include <common/CommandLine.hpp>
#include <common/Simulation.hpp>
#include <vector>

/// \file
/// What the benchmarks of Gloster, O Naraigh, Pang (2019) have in common: an even derivative on
/// many rings [0, 1), whose waves decay.

namespace Example {

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;
using Field = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;  // (ring, point)

struct Size {
  std::int64_t rings = 1000, points = 1000, steps = 1000;
};

/// Two waves, whose phases differ from ring to ring.
struct Waves {
  std::int64_t rings, points;
  int second;      // waves on a ring, of the second one
  int derivative;  // a wave of wave number k decays like exp(-k^derivative t)

  KOKKOS_FUNCTION double operator()(std::int64_t ring, std::int64_t point, double time) const {
    const double x = static_cast<double>(point) / static_cast<double>(points);
    const double phase = static_cast<double>(ring) / static_cast<double>(rings);
    return wave(1, x - phase, time) + 0.5 * wave(second, x - 0.3 - 2 * phase, time);
  }

 private:
  KOKKOS_FUNCTION double wave(int number, double x, double time) const {
    const double k = 2 * 3.14159265358979323846 * number;
    return Kokkos::exp(-Kokkos::pow(k, derivative) * time) * Kokkos::sin(k * x);
  }
};

template <class F>
void for_field(const Exec& exec, const char* label, const Field& C, const F& f) {
  using Points = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2, Kokkos::Iterate::Right>,
                                       Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(label, Points(exec, {0, 0}, {C.extent_int(0), C.extent_int(1)}), f);
}

inline Field initial(const Exec& exec, const Waves& exact) {
  const Field C("C", exact.rings, exact.points);
  for_field(
      exec, "initial", C,
      KOKKOS_LAMBDA(std::int64_t k, std::int64_t i) { C(k, i) = exact(k, i, 0); });
  return C;
}
inline double largest_error(const Exec& exec, const Field& C, const Waves& exact, double time) {
  double error = 0;
  const std::int64_t points = exact.points;
  Kokkos::parallel_reduce(
      "error",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, exact.rings * points),
      KOKKOS_LAMBDA(std::int64_t at, double& largest) {
        const std::int64_t k = at / points, i = at % points;
        const double e = Kokkos::abs(C(k, i) - exact(k, i, time));
        if (!(e <= largest)) largest = e;
      },
      Kokkos::Max<double>(error));
  return error;
}
/// A line of the picture.
inline std::vector<double> first_ring(const Exec& exec, const Field& C) {
  const auto ring = Kokkos::subview(C, 0, Kokkos::ALL);
  const Vector copy("picture", ring.extent(0));
  Kokkos::deep_copy(exec, copy, ring);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, copy);
  return std::vector<double>(host.data(), host.data() + host.size());
}

/// `steps` steps until `end_time`, of which step(C) does one by solving with the plan.
template <class Plan, class Step>
Outcome march_rings(const Exec& exec, const Plan& plan, const Waves& exact, std::int64_t steps,
                    double end_time, const Show& show, const Step& step) {
  const Field C = initial(exec, exact);
  const double seconds = march(exec, steps, show.progress, [&](std::int64_t k) {
    if (show.picture != nullptr && (k - 1) % std::max<std::int64_t>(steps / 250, 1) == 0)
      show.picture->add(first_ring(exec, C));
    step(C);
  });
  return {largest_error(exec, C, exact, end_time), seconds, plan.status(exec), plan.algorithm()};
}

/// What the program does with its arguments; returns the exit status.
/// \param simulate  (exec, size, show) -> Outcome
template <class Simulate>
int run_rings(const char* program, int argc, char* argv[], const Simulate& simulate) {
  Size size;
  const Request request = read_command_line(
      argc, argv, {{"--rings", &size.rings}, {"--points", &size.points}, {"--steps", &size.steps}});
  if (request.help) return print_usage(program, "[--rings M] [--points N]");
  const Exec exec;
  if (request.order) {
    const auto on_few = [&](std::int64_t points) {
      return simulate(exec, Size{8, points, points}, Show{});
    };
    return shows_second_order(32, 512, on_few) ? 0 : 1;
  }
  std::printf("%lld rings of %lld points, %lld steps\n", static_cast<long long>(size.rings),
              static_cast<long long>(size.points), static_cast<long long>(size.steps));
  Picture picture(-1.5, 1.5);
  const Outcome r = simulate(exec, size, Show{true, request.picture.empty() ? nullptr : &picture});
  const double unknowns = static_cast<double>(size.rings * size.points * size.steps);
  return report(r, unknowns, picture, request.picture);
}

template <class Simulate>
int main_of_rings(const char* program, int argc, char* argv[], const Simulate& simulate) {
  return main_of(program, argc, argv, [&](int count, char* values[]) {
    return run_rings(program, count, values, simulate);
  });
}

}  // namespace Example

#endif
