// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_COMMANDLINE_HPP
#define TRIKKOS_EXAMPLES_COMMANDLINE_HPP

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace Example {

/// The value of an option that is a count. \throws std::invalid_argument if it is none
inline std::int64_t number(const std::string& option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= 1 && value <= 1e9) || value != std::floor(value))
    throw std::invalid_argument(option + " is '" + text + "', expected a whole number up to 1e9");
  return static_cast<std::int64_t>(value);
}

/// On one line of the terminal, twenty times in all.
inline void show_progress(std::int64_t step, std::int64_t steps, double seconds) {
  std::printf("\rstep %lld of %lld, %.1f s", static_cast<long long>(step),
              static_cast<long long>(steps), seconds);
  if (step == steps) std::printf("\n");
  std::fflush(stdout);
}
inline bool is_progress_due(std::int64_t step, std::int64_t steps) {
  return step == steps || step % (steps / 20 > 0 ? steps / 20 : 1) == 0;
}

}  // namespace Example

#endif
