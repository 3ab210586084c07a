// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_SOLVE_COMMANDLINE_HPP
#define TRIKKOS_EXAMPLES_SOLVE_COMMANDLINE_HPP

#include <Trikkos.hpp>
#include <algorithm>
#include <common/CommandLine.hpp>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// What the user asked for; what cannot be meant throws std::invalid_argument.
struct CommandLine {
  static constexpr const char* help_text =
      R"(Solves the tridiagonal system A x = b in double precision and says how fast and how well.

  trikkos_solve FILE.mtx                   A from a Matrix Market file
  trikkos_solve --gallery NAME --size N    A from the gallery of test matrices
  trikkos_solve --stability                the 16 matrix types of Table III (SC'12), as a table

  --rhs FILE            b from a Matrix Market file instead of random numbers U(-1,1)
  --output FILE         write x to a Matrix Market file
  --size N              rows, such as 512, 10000000 or 1e7; with --stability 512 unless given
  --seed S              of the random numbers; 1 unless given
  --algorithm NAME      one of %s
  --partition-size P    rows in a partition; 0, the default, lets the algorithm choose
  --refine K            steps of iterative refinement; 0 unless given
  --repeat R            timed solves, 5 unless given; the median is shown
  --lapack              solve with LAPACK's dgtsv as well
  --help                this text

Options that start with --kokkos- go to Kokkos, for example --kokkos-num-threads=2.
Exit status: 0 solved; 1 numbers that could not be solved with; 2 a wrong command line or file.
)";

  std::string matrix, rhs, output;
  std::optional<Trikkos::Gallery> gallery;
  std::optional<std::int64_t> size;
  std::uint64_t seed = 1;
  std::int64_t repeat = 5;
  bool stability = false, lapack = false, help = false;
  Trikkos::Options options;

  CommandLine(int argc, char** argv) {
    for (int i = 1; i < argc && !help; ++i) {
      const std::string argument = argv[i];
      if (argument.starts_with("--kokkos-")) continue;
      if (argument.starts_with("--")) {
        const auto equals = argument.find('=');
        const std::string option = argument.substr(0, equals);
        if (read_flag(option)) {
          if (equals != std::string::npos) throw std::invalid_argument(option + " takes no value");
        } else if (equals != std::string::npos) {
          read_option(option, argument.substr(equals + 1));
        } else if (i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--")) {
          read_option(option, argv[++i]);
        } else {
          read_option(option, "");
        }
      } else if (argument.starts_with("-")) {
        throw std::invalid_argument("unknown option '" + argument + "', see --help");
      } else if (!matrix.empty()) {
        throw std::invalid_argument("one matrix at a time, got '" + matrix + "' and '" + argument +
                                    "'");
      } else {
        matrix = argument;
      }
    }
    if (!help) check();
  }

  static void print_help() { std::printf(help_text, algorithm_names().c_str()); }

 private:
  bool read_flag(const std::string& option) {
    if (option == "--stability") return stability = true;
    if (option == "--lapack") return lapack = true;
    if (option == "--help") return help = true;
    return false;
  }

  void read_option(const std::string& option, const std::string& value) {
    constexpr const char* known[] = {"--rhs",    "--output",         "--gallery",
                                     "--size",   "--seed",           "--algorithm",
                                     "--refine", "--partition-size", "--repeat"};
    if (std::find(std::begin(known), std::end(known), option) == std::end(known)) {
      throw std::invalid_argument("unknown option '" + option + "', see --help");
    }
    if (value.empty()) throw std::invalid_argument(option + " needs a value");
    if (option == "--rhs") rhs = value;
    if (option == "--output") output = value;
    if (option == "--gallery") gallery = gallery_type(value);
    if (option == "--size") size = whole_number(option, value, 1);
    if (option == "--seed") seed = whole_number(option, value, 0);
    if (option == "--algorithm") options.algorithm(Trikkos::algorithm_from_name(value));
    if (option == "--partition-size") options.partition_size(whole_number(option, value, 0));
    if (option == "--refine") options.refine(static_cast<int>(whole_number(option, value, 0)));
    if (option == "--repeat") repeat = whole_number(option, value, 1);
  }

  void check() const {
    if (int(!matrix.empty()) + int(gallery.has_value()) + int(stability) != 1) {
      throw std::invalid_argument(
          "expected exactly one of a matrix file, --gallery and --stability, see --help");
    }
    if (gallery && !size) throw std::invalid_argument("--gallery needs --size");
    if (size && !matrix.empty()) {
      throw std::invalid_argument("--size goes with --gallery or --stability: a file has its own");
    }
    if (stability && !(rhs.empty() && output.empty())) {
      throw std::invalid_argument("--stability does not go with --rhs and --output");
    }
#ifndef TRIKKOS_HAVE_LAPACK
    if (lapack) throw std::invalid_argument("--lapack: this program was built without LAPACK");
#endif
  }

  static std::int64_t whole_number(const std::string& option, const std::string& text,
                                   std::int64_t smallest) {
    return Example::number(option, text, smallest, 15);  // doubles are exact up to here
  }

  static Trikkos::Gallery gallery_type(const std::string& text) {
    std::string names;
    for (const Trikkos::Gallery type : Trikkos::gallery_types) {
      if (text == Trikkos::name(type)) return type;
      names += std::string(names.empty() ? "" : ", ") + Trikkos::name(type);
    }
    throw std::invalid_argument("--gallery: '" + text + "' is none of " + names);
  }

  static std::string algorithm_names() {
    std::string names;
    for (const Trikkos::Algorithm algorithm : Trikkos::algorithms)
      names += std::string(names.empty() ? "" : ", ") + Trikkos::name(algorithm);
    return names;
  }
};

#endif
