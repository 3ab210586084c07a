// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_CONSTANT_HPP
#define TRIKKOS_PAPERS_CONSTANT_HPP

#include <functional>

#include "Papers.hpp"
#include "Papers_Table.hpp"
#include "Perf_Pentadiagonals.hpp"

/// \file
/// Gloster et al. (2019): interleaved batches whose systems all have the same matrix. Each matrix
/// here has equal entries along a diagonal, so that any part of long bands is one.

namespace Papers {

/// The matrix once, and once for each system: bands of rank 1.
template <class Matrix>
struct ConstantBatch {
  Perf::ManySystems systems;
  Matrix one, copies;
  Perf::Vector b, x;

  /// `make(exec, n)` makes a matrix of n rows.
  template <class Make>
  ConstantBatch(const Perf::Exec& exec, const Perf::ManySystems& s, const Make& make)
      : systems(s),
        one(make(exec, s.n)),
        copies(make(exec, s.unknowns())),
        b(Trikkos::gallery_rhs<double>(exec, s.unknowns(), 2)),
        x("Papers::x", s.unknowns()) {}

  /// (system, row): a matrix for each.
  auto own() const {
    const auto array = [&](const Perf::Vector& v) { return systems.array(v); };
    const auto& A = copies;
    if constexpr (Matrix::half_bandwidth == 1)
      return Trikkos::Tridiagonal{array(A.lower), array(A.diag), array(A.upper), A.boundary};
    else
      return Trikkos::Pentadiagonal{array(A.lower2), array(A.lower),  array(A.diag),
                                    array(A.upper),  array(A.upper2), A.boundary};
  }
  Perf::Array rhs() const { return systems.array(b); }
  Perf::Array solution() const { return systems.array(x); }
};

/// One way to solve such batches: leaves the solutions in x.
template <class Batch>
struct ConstantWay {
  std::string name;
  std::function<Perf::Time(const Perf::Harness&, const Batch&)> solve;
};

/// With matrices of their own, each of which is eliminated anew.
template <class Batch>
ConstantWay<Batch> with_own_matrices(const std::string& name, const Trikkos::Options& options) {
  return {name, [options](const Perf::Harness& h, const Batch& batch) {
            const auto A = batch.own();
            const auto b = batch.rhs(), x = batch.solution();
            const Trikkos::Workspace work(h.exec(), A, b, options);
            return h.time([] {}, [&] { Trikkos::solve(h.exec(), work, A, b, x); });
          }};
}
/// With a Plan of the one matrix.
template <class Batch>
ConstantWay<Batch> with_plan(const std::string& name, const Trikkos::Options& options) {
  return {name, [options](const Perf::Harness& h, const Batch& batch) {
            const auto b = batch.rhs(), x = batch.solution();
            const Trikkos::Plan plan(h.exec(), batch.one, options, batch.systems.count);
            return h.time([] {}, [&] { Trikkos::solve(h.exec(), plan, b, x); });
          }};
}

/// N unknowns in each of M systems, of `rows` together at most.
inline std::vector<Perf::ManySystems> constant_batches(std::int64_t rows) {
  std::vector<Perf::ManySystems> result;
  for (const std::int64_t n : {64, 256, 1024}) {
    const std::int64_t most = std::max<std::int64_t>(1, rows / n);
    for (const std::int64_t count : {std::int64_t{512}, std::int64_t{4096}, most})
      if (count < most || count == most) result.push_back({n, count, true});
  }
  return result;
}

/// Times and the speed-up over the first way. No way may leave a large backward error.
template <class Batch, class Make>
void print_constant(const Arguments& arguments, const Make& make,
                    const std::vector<ConstantWay<Batch>>& ways) {
  Perf::Harness harness = timing_harness(arguments);
  const auto batches = constant_batches(arguments.rows);
  Cells head = {"solver"};
  std::vector<Cells> times, speedups;
  for (const auto& way : ways) {
    times.push_back({way.name});
    speedups.push_back({way.name});
  }
  std::vector<double> worst(ways.size(), 0);
  for (const Perf::ManySystems& systems : batches) {
    head.push_back(number("N %.0f", static_cast<double>(systems.n)) +
                   number(", M %.0f", static_cast<double>(systems.count)));
    const Batch batch(harness.exec(), systems, make);
    double first = 0;
    for (std::size_t k = 0; k < ways.size(); ++k) {
      Kokkos::deep_copy(batch.x, 0.);  // nobody inherits a solution
      const double seconds = ways[k].solve(harness, batch).median;
      if (k == 0) first = seconds;
      times[k].push_back(milliseconds(seconds));
      speedups[k].push_back(factor(first / seconds));
      worst[k] = std::max(worst[k], Trikkos::backward_error(harness.exec(), batch.one,
                                                            batch.solution(), batch.rhs()));
    }
  }
  for (std::size_t k = 0; k < ways.size(); ++k) {
    times[k].push_back(error(worst[k]));
    if (worst[k] <= Perf::tolerated<double>) continue;
    std::fprintf(stderr, "Trikkos_Papers: %s has a backward error of %.1e\n", ways[k].name.c_str(),
                 worst[k]);
    Perf::any_failed() = true;
  }
  const auto print = [](const char* what, const Cells& columns, const std::vector<Cells>& rows) {
    std::printf("%s:\n\n", what);
    Table table(columns);
    for (const Cells& row : rows) table.add(row);
    table.print();
  };
  Cells with_error = head;
  with_error.push_back("worst eta");
  print("Milliseconds", with_error, times);
  print("Speed-up over the first line", head, speedups);
}

}  // namespace Papers

#endif
