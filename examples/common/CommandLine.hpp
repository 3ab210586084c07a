// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_COMMANDLINE_HPP
#define TRIKKOS_EXAMPLES_COMMANDLINE_HPP

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
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

/// What every simulation may be asked for.
struct Request {
  bool help = false;
  bool order = false;   // the convergence of its scheme
  std::string picture;  // the file that it is written to; none if empty
};

/// Options whose values are counts are set where `counts` says.
/// \throws std::invalid_argument for what is no option or no value
inline Request read_command_line(int argc, char* argv[],
                                 const std::map<std::string, std::int64_t*>& counts) {
  Request r;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    const auto count = counts.find(option);
    const bool takes_value = option == "--picture" || count != counts.end();
    if (takes_value && k + 1 == argc)
      throw std::invalid_argument(option + ": expected a value, see --help");
    if (option == "--help")
      r.help = true;
    else if (option == "--order")
      r.order = true;
    else if (option == "--picture")
      r.picture = argv[++k];
    else if (count != counts.end())
      *count->second = number(option, argv[++k]);
    else
      throw std::invalid_argument(option + ": no such option, see --help");
  }
  return r;
}

}  // namespace Example

#endif
