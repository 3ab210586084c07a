// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_SIMULATION_HPP
#define TRIKKOS_EXAMPLES_SIMULATION_HPP

#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <common/Picture.hpp>
#include <cstdio>
#include <exception>
#include <string>

namespace Example {

struct Outcome {
  double error, seconds;  // the largest error at the end; of all steps
  Trikkos::Status status;
  Trikkos::Algorithm algorithm;
};

/// What a simulation shows on its way: by default nothing.
struct Show {
  bool progress = false;
  Picture* picture = nullptr;
};

/// step(k) for k = 1, ..., steps, and, if wanted, one line of the terminal that shows how far it
/// is. Returns the seconds.
template <class Exec, class Step>
double march(const Exec& exec, std::int64_t steps, bool shows_progress, const Step& step) {
  exec.fence("initial values");
  const Kokkos::Timer timer;
  for (std::int64_t k = 1; k <= steps; ++k) {
    step(k);
    if (!shows_progress || (k != steps && k % std::max<std::int64_t>(steps / 20, 1) != 0)) continue;
    exec.fence("progress");
    std::printf("\rstep %lld of %lld, %.1f s", static_cast<long long>(k),
                static_cast<long long>(steps), timer.seconds());
    std::fflush(stdout);
  }
  exec.fence("last step");
  if (shows_progress) std::printf("\n");
  return timer.seconds();
}

/// Whether half the steps in space and time leave a quarter of the error.
/// \param simulate  (intervals) -> Outcome, with as many steps as intervals
template <class Simulate>
bool shows_second_order(std::int64_t coarsest, std::int64_t finest, const Simulate& simulate) {
  double before = 0;
  bool good = true;
  std::printf("%10s %12s %8s\n", "intervals", "error", "order");
  for (std::int64_t intervals = coarsest; intervals <= finest; intervals *= 2) {
    const Outcome r = simulate(intervals);
    const double order = before > 0 ? std::log2(before / r.error) : 0;
    std::printf("%10lld %12.3e %8.2f\n", static_cast<long long>(intervals), r.error, order);
    good = good && r.status.ok() && (before == 0 || std::abs(order - 2) < 0.1);
    before = r.error;
  }
  return good;
}

/// Prints the outcome of `unknowns` in all steps together, and writes the picture where it is
/// wanted. Returns the exit status.
inline int report(const Outcome& r, double unknowns, const Picture& picture,
                  const std::string& path) {
  std::printf("algorithm       %s\n", name(r.algorithm));
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

/// run(argc, argv) with Kokkos; exceptions are answered by a sentence.
template <class Run>
int main_of(const char* program, int argc, char* argv[], const Run& run) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", program, e.what());
    return 2;
  }
}

}  // namespace Example

#endif
