// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_LAPACK.hpp"
#include "Baseline_cuSPARSE.hpp"
#include "Perf_Problem.hpp"

/// \file
/// One tridiagonal system: our algorithms and the baselines on the same matrices, and the choice of
/// the partition size.

namespace {

using Perf::Case;
using Perf::Harness;
using Trikkos::Algorithm;
using Trikkos::Gallery;
using Trikkos::Options;

template <class T>
void add_trikkos(Harness& harness, const std::string& name, const Case& c, const Options& options) {
  Perf::add_solver<T>(
      harness, name, c, [options](const Harness& h, const Perf::Problem<T>& problem) {
        Trikkos::Workspace work(h.exec(), problem.A, problem.b, options);
        return h.time_of(work,
                         [&] { Trikkos::solve(h.exec(), work, problem.A, problem.b, problem.x); });
      });
}

template <class T>
void add_case(Harness& harness, const Case& c, std::initializer_list<Algorithm> algorithms) {
  const std::string prefix = "tridiagonal/single/" + Perf::case_name<T>(c);
  for (const Algorithm algorithm : algorithms) {
    add_trikkos<T>(harness, prefix + Trikkos::name(algorithm), c, Options{}.algorithm(algorithm));
  }
  Perf::add_lapack<T>(harness, prefix, c);
  Perf::add_cusparse<T>(harness, prefix, c);
}

void add_sizes(Harness& harness) {
  const auto sizes = Perf::on_host ? harness.sizes({1000, 1 << 20, 1 << 22, 1 << 24})
                                   : harness.sizes({1000, 1 << 20, 1 << 23, 1 << 25, 1 << 27});
  for (const std::int64_t n : sizes) {
    for (const Gallery type : {Gallery::uniform, Gallery::uniform_dominant}) {
      if (n <= 1000 && type == Gallery::uniform_dominant) {
        add_case<double>(harness, {type, n},
                         {Algorithm::automatic, Algorithm::segmented, Algorithm::thomas});
      } else {
        add_case<double>(
            harness, {type, n},
            {Algorithm::automatic, Algorithm::segmented, Algorithm::truncated, Algorithm::spike});
      }
    }
  }
}

void add_types(Harness& harness) {
  const std::int64_t n = harness.sizes({Perf::on_host ? 1 << 22 : 1 << 25}).front();
  add_case<float>(harness, {Gallery::uniform, n}, {Algorithm::segmented});
  add_case<Kokkos::complex<double>>(harness, {Gallery::uniform, n}, {Algorithm::segmented});
}

void add_many_right_hand_sides(Harness& harness) {
  const std::int64_t n = harness.sizes({Perf::on_host ? 1 << 20 : 1 << 23}).front();
  add_case<double>(harness, {Gallery::uniform, n, 16}, {Algorithm::segmented});
}

void add_partition_sizes(Harness& harness) {
  const Case c{Gallery::uniform, harness.sizes({Perf::on_host ? 1 << 22 : 1 << 25}).front()};
  const auto rows = Perf::on_host
                        ? std::vector<std::int64_t>{16, 32, 64, 128, 256, 512, 1024, 4096, 16384}
                        : std::vector<std::int64_t>{7, 8, 11, 13, 15, 31, 64};
  for (const std::int64_t r : rows) {
    add_trikkos<double>(
        harness,
        "tridiagonal/partition/" + Perf::case_name<double>(c) + "rows:" + std::to_string(r), c,
        Options{}.algorithm(Algorithm::segmented).partition_size(r));
  }
}

const Perf::Registration registration([](Harness& harness) {
  add_sizes(harness);
  add_types(harness);
  add_many_right_hand_sides(harness);
  add_partition_sizes(harness);
});

}  // namespace
