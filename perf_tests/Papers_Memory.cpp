// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Papers_Constant.hpp"

/// \file
/// Gloster et al. (2019), sections III-A and IV-A: memory for batches with one matrix and with
/// matrices of their own.

namespace Papers {

namespace {

constexpr double word = sizeof(double);

/// Bytes for each unknown: what is given (A and b, which x overwrites), and what Trikkos holds.
Cells trikkos_row(const char* name, const Perf::ManySystems& s, double words, std::size_t held) {
  const auto unknowns = static_cast<double>(s.unknowns());
  const double given = word * words, ours = static_cast<double>(held);
  return {name, number("%.2f", given / unknowns), number("%.2f", ours / unknowns),
          number("%.2f", (given + ours) / unknowns)};
}

template <class Matrix, class Make>
void print_matrix(const char* what, const Arguments& arguments, const Make& make,
                  const std::vector<std::pair<const char*, Trikkos::Options>>& plans) {
  using Batch = ConstantBatch<Matrix>;
  const Perf::Exec exec;
  constexpr int bands = 2 * Matrix::half_bandwidth + 1;
  for (const std::int64_t n : {64, 1024}) {
    const Perf::ManySystems s{n, std::max<std::int64_t>(1, arguments.rows / n), true};
    const Batch batch(exec, s, make);
    const auto unknowns = static_cast<double>(s.unknowns()), rows = static_cast<double>(s.n);
    std::printf("%s, N %lld, M %lld:\n\n", what, static_cast<long long>(s.n),
                static_cast<long long>(s.count));
    Table table({"solver", "A and b", "held", "bytes an unknown"});
    const auto paper = [&](const char* name, double words) {
      const std::string bytes = number("%.2f", word * words / unknowns);
      table.add({name, bytes, "", bytes});
    };
    if (bands == 3) {
      paper("paper: cuThomasBatch, 4 M N", 4 * unknowns);
      paper("paper: cuThomasConstantBatch, 3 N + M N", 3 * rows + unknowns);
    } else {
      paper("paper: cuPentBatch, 6 M N", 6 * unknowns);
      paper("paper: cuPentConstantBatch, 5 N + M N", 5 * rows + unknowns);
      paper("paper: cuPentUniformBatch, 4 N + M N", 4 * rows + unknowns);
    }
    const Trikkos::Workspace work(exec, batch.own(), batch.rhs());
    table.add(trikkos_row("own matrices, segmented", s, (bands + 1) * unknowns, work.bytes()));
    for (const auto& [name, options] : plans) {
      const Trikkos::Plan plan(exec, batch.one, options, s.count);
      table.add(trikkos_row(name, s, bands * rows + unknowns, plan.bytes()));
    }
    table.print();
  }
}

}  // namespace

void memory(const Arguments& arguments) {
  using Trikkos::Algorithm;
  using Trikkos::Options;
  std::printf(
      "## Gloster et al. 2019, sections III-A and IV-A: memory\n\n"
      "Double precision, solutions in the place of right-hand sides. The paper's are its formulas "
      "(75 %% less for tridiagonal, 83 %% for pentadiagonal\nmatrices); \"held\" is what a "
      "Workspace or Plan says that it holds (`bytes()`), the Plan's copy of the matrix "
      "included.\n\n");
  print_matrix<Trikkos::Tridiagonal<Perf::Vector>>(
      "Tridiagonal", arguments,
      [](const Perf::Exec& exec, std::int64_t n) {
        const Perf::FiveBands five = Perf::hyperdiffusion(exec, n, 12);  // (-4, 18, -4)
        return Trikkos::Tridiagonal{five.lower, five.diag, five.upper};
      },
      {{"one matrix, factored", Options{}.algorithm(Algorithm::factored)},
       {"one matrix, thomas", Options{}.algorithm(Algorithm::thomas)}});
  print_matrix<Perf::FiveBands>(
      "Pentadiagonal", arguments,
      [](const Perf::Exec& exec, std::int64_t n) { return Perf::hyperdiffusion(exec, n, 1); },
      {{"one matrix, factored", Options{}.algorithm(Algorithm::factored)},
       {"one matrix, thomas", Options{}.algorithm(Algorithm::thomas)}});
}

}  // namespace Papers
