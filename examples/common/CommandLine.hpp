// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_COMMANDLINE_HPP
#define TRIKKOS_EXAMPLES_COMMANDLINE_HPP

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

namespace Example {

/// The value of an option that is a whole number, such as 1000000 or 1e6, up to a power of ten.
/// \throws std::invalid_argument if it is none
inline std::int64_t number(const std::string& option, const std::string& text,
                           std::int64_t smallest = 1, int largest_exponent = 9) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool is_inside = value >= static_cast<double>(smallest) &&
                         value <= std::pow(10., largest_exponent) && value == std::floor(value);
  if (error != std::errc{} || rest != end || !is_inside)
    throw std::invalid_argument(option + " is '" + text + "', expected a whole number from " +
                                std::to_string(smallest) + " to 1e" +
                                std::to_string(largest_exponent));
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

/// Prints how to call it. Returns the exit status.
inline int print_usage(const char* program, const char* options) {
  std::printf(
      "usage: %s %s [--steps S] [--picture FILE.ppm]\n"
      "       %s --order    convergence of the scheme\n",
      program, options, program);
  return 0;
}

}  // namespace Example

#endif
