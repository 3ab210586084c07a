// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints the tables of Papers.hpp in Markdown. See README.md for its options.

#include <Trikkos_Version.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "Papers.hpp"
#include "Perf_Machine.hpp"

namespace {

struct Entry {
  std::string_view name;
  void (*print)(const Papers::Arguments&);
};
constexpr Entry entries[] = {
    {"table4", Papers::table4},         {"figure7", Papers::figure7},
    {"figure10", Papers::figure10},     {"figure12", Papers::figure12},
    {"throughput", Papers::throughput}, {"table2", Papers::table2},
    {"figure2", Papers::figure2},       {"figure3", Papers::figure3},
    {"memory", Papers::memory},         {"naumov", Papers::naumov},
};

int usage() {
  std::fprintf(stderr,
               "usage: Trikkos_Papers [--rows=N] [--seeds=K] [--repeats=R] [--matrices=FOLDER] [");
  for (const Entry& entry : entries)
    std::fprintf(stderr, "%s%s", entry.name == entries[0].name ? "" : "|", entry.name.data());
  std::fprintf(stderr, "]...\n");
  return EXIT_FAILURE;
}

/// Reads `--name=value`.
template <class Integer>
bool read(std::string_view argument, std::string_view name, Integer least, Integer& value) {
  if (!argument.starts_with(name)) return false;
  value = std::max(least, static_cast<Integer>(std::atoll(argument.data() + name.size())));
  return true;
}

void describe(const Papers::Arguments& arguments) {
#ifdef TRIKKOS_GIT_COMMIT
  const char* const commit = ", commit " TRIKKOS_GIT_COMMIT;
#else
  const char* const commit = "";
#endif
  std::printf("%s, %s (concurrency %d), Kokkos %d, Trikkos %s%s; medians of %d times.\n\n",
              Perf::processor().c_str(), Perf::Exec::name(), Perf::Exec().concurrency(),
              KOKKOS_VERSION, TRIKKOS_VERSION_STRING, commit, arguments.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  Papers::Arguments arguments;
  std::vector<Entry> wanted;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (read(argument, "--rows=", std::int64_t{2048}, arguments.rows)) continue;
    if (read(argument, "--seeds=", 1, arguments.seeds)) continue;
    if (read(argument, "--repeats=", 1, arguments.repeats)) continue;
    if (argument.starts_with("--matrices=")) {
      arguments.matrices = argument.substr(argument.find('=') + 1);
      continue;
    }
    const auto* const entry =
        std::find_if(std::begin(entries), std::end(entries),
                     [argument](const Entry& candidate) { return candidate.name == argument; });
    if (entry == std::end(entries)) return usage();
    wanted.push_back(*entry);
  }
  if (wanted.empty()) wanted.assign(std::begin(entries), std::end(entries));
  try {
    describe(arguments);
    for (const Entry& entry : wanted) entry.print(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Trikkos_Papers: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return Perf::any_failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
