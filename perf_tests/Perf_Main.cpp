// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs all benchmarks. Takes Kokkos' options, Google Benchmark's and those of Perf::Settings.

#include <Trikkos_Version.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "Perf_Harness.hpp"
#include "Perf_Machine.hpp"

namespace {

// Removes `--name=value` from the arguments; nullptr if it is not among them.
const char* take_option(int& argc, char** argv, std::string_view name) {
  const char* value = nullptr;
  const auto is_option = [&](const char* argument) {
    const std::string_view text = argument;
    if (!text.starts_with(name) || text.substr(name.size(), 1) != "=") return false;
    value = argument + name.size() + 1;
    return true;
  };
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, is_option) - argv);
  return value;
}

Perf::Settings settings_from(int& argc, char** argv) {
  Perf::Settings settings;
  if (const char* rows = take_option(argc, argv, "--trikkos_max_rows")) {
    settings.max_rows = std::max(8LL, std::atoll(rows));
  }
  if (const char* samples = take_option(argc, argv, "--trikkos_samples")) {
    settings.samples = std::max(1, std::atoi(samples));
  }
  if (const char* rows = take_option(argc, argv, "--trikkos_out_of_core_rows")) {
    settings.out_of_core_rows = std::max(8LL, std::atoll(rows));
  }
  if (const char* caches = take_option(argc, argv, "--trikkos_caches")) {
    settings.cold_caches = std::string_view(caches) != "warm";
  }
  if (const char* directory = take_option(argc, argv, "--trikkos_matrices"))
    settings.matrices = directory;
  return settings;
}

void describe_run(const Perf::Settings& settings) {
  using benchmark::AddCustomContext;
  AddCustomContext("trikkos_version", TRIKKOS_VERSION_STRING);
#ifdef TRIKKOS_GIT_COMMIT
  AddCustomContext("trikkos_commit", TRIKKOS_GIT_COMMIT);
#endif
  AddCustomContext("trikkos_samples", std::to_string(settings.samples));
  AddCustomContext("trikkos_caches", settings.cold_caches ? "cold" : "warm");
  AddCustomContext("kokkos_version", std::to_string(KOKKOS_VERSION));
  AddCustomContext("kokkos_backend", Perf::Exec::name());
  AddCustomContext("kokkos_concurrency", std::to_string(Perf::Exec().concurrency()));
  AddCustomContext("processor", Perf::processor());
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Perf::Settings settings = settings_from(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  describe_run(settings);

  Perf::Harness harness(settings);
  for (const auto add_benchmarks : Perf::Registration::all()) add_benchmarks(harness);
  const std::size_t run = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  // A filter that matches nothing is a mistake too.
  return run > 0 && !Perf::any_failed() ? EXIT_SUCCESS : EXIT_FAILURE;
}
