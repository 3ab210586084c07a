// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_PCG_COMMANDLINE_HPP
#define TRIKKOS_EXAMPLES_PCG_COMMANDLINE_HPP

#include <Trikkos.hpp>
#include <common/CommandLine.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

enum class Method { cg, bicgstab };
enum class Preconditioner { none, ic, ilu };

constexpr const char* name(Method m) { return m == Method::cg ? "cg" : "bicgstab"; }
constexpr const char* name(Preconditioner p) {
  return p == Preconditioner::none ? "none" : p == Preconditioner::ic ? "ic" : "ilu";
}

/// What the user asked for; what cannot be meant throws std::invalid_argument.
struct CommandLine {
  static constexpr const char* help_text =
      R"(Solves the sparse system A x = b in double precision by a preconditioned iteration.

  trikkos_pcg [FILE.mtx]     A from a Matrix Market file; else diffusion on a square grid

  --rhs FILE                 b from a Matrix Market file; else A times a vector of ones
  --points M                 points of the grid along an axis; 300 unless given
  --wind                     diffusion with a wind, which makes A unsymmetric
  --method NAME              cg or bicgstab; cg unless given where A is symmetric and its diagonal
                             positive
  --preconditioner NAME      ic, ilu or none; ic with cg, ilu with bicgstab unless given
  --ordering NAME            in the preconditioner: natural (unless given), multicolour or
                             reverse_cuthill_mckee
  --relative R               stop at |b - A x| <= R |b|; 1e-8 unless given
  --iterations K             at most; 10000 unless given
  --solution FILE            write x to a Matrix Market file, or, called *.csv, as such
  --history FILE.csv         write the residual after each iteration
  --picture FILE.ppm         draw it, on a logarithmic scale
  --help                     this text

Exit status: 0 converged; 1 not; 2 a wrong command line or file.
)";

  std::string matrix, rhs, solution, history, picture;
  std::optional<std::int64_t> points;
  std::int64_t iterations = 10000;
  std::optional<Method> method;
  std::optional<Preconditioner> preconditioner;
  Trikkos::IncompleteOrdering ordering = Trikkos::IncompleteOrdering::natural;
  double relative = 1e-8;
  bool wind = false, help = false;

  CommandLine(int argc, char* argv[]) {
    using Read = std::function<void(const std::string&, const char*)>;
    const auto text = [](std::string& to) {
      return [&to](const std::string&, const char* value) { to = value; };
    };
    const std::map<std::string, Read> options = {
        {"--rhs", text(rhs)},
        {"--solution", text(solution)},
        {"--history", text(history)},
        {"--picture", text(picture)},
        {"--points", [&](const auto& o, const char* v) { points = Example::number(o, v); }},
        {"--iterations", [&](const auto& o, const char* v) { iterations = Example::number(o, v); }},
        {"--relative", [&](const auto& o, const char* v) { relative = tolerance(o, v); }},
        {"--method",
         [&](const auto& o, const char* v) {
           method = one_of(o, v, {Method::cg, Method::bicgstab});
         }},
        {"--preconditioner",
         [&](const auto& o, const char* v) {
           using enum Preconditioner;
           preconditioner = one_of(o, v, {ic, ilu, none});
         }},
        {"--ordering", [&](const auto& o, const char* v) {
           using enum Trikkos::IncompleteOrdering;
           ordering = one_of(o, v, {natural, multicolour, reverse_cuthill_mckee});
         }}};
    for (int k = 1; k < argc && !help; ++k) {
      const std::string argument = argv[k];
      const auto option = options.find(argument);
      if (option != options.end()) {
        if (k + 1 == argc) throw std::invalid_argument(argument + ": expected a value, see --help");
        option->second(argument, argv[++k]);
      } else if (argument == "--help") {
        help = true;
      } else if (argument == "--wind") {
        wind = true;
      } else if (argument.starts_with("-")) {
        throw std::invalid_argument(argument + ": no such option, see --help");
      } else if (!matrix.empty()) {
        throw std::invalid_argument("one matrix at a time, got '" + matrix + "' and '" + argument +
                                    "'");
      } else {
        matrix = argument;
      }
    }
    if (!matrix.empty() && (points || wind))
      throw std::invalid_argument("--points and --wind are of a grid, but a matrix is given");
    if (points.value_or(1) > 30000)
      throw std::invalid_argument("--points: expected at most 30000, which are 9e8 rows");
  }

 private:
  static double tolerance(const std::string& option, const char* text) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0 && value < 1))
      throw std::invalid_argument(option + " is '" + text + "', expected a number between 0 and 1");
    return value;
  }
  template <class Choice>
  static Choice one_of(const std::string& option, const std::string& text,
                       std::initializer_list<Choice> choices) {
    std::string names;
    for (const Choice choice : choices) {
      if (text == name(choice)) return choice;
      names += std::string(names.empty() ? "" : ", ") + name(choice);
    }
    throw std::invalid_argument(option + " is '" + text + "', expected one of " + names);
  }
};

#endif
