// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_PROMISE_HPP
#define TRIKKOS_TEST_PROMISE_HPP

#include <Outcome.hpp>

/// \file
/// An algorithm with its options on one of three levels, and what an ok status of it promises.

namespace Test::Breaker {

using Trikkos::Algorithm;
using Trikkos::Options;

/// Who solves: a host call with an execution space, one system at a time or many, whose rows are
/// adjacent or whose systems are, or one of a Plan's matrix, these also in as many copies as make a
/// device go the ways that it has for thousands; a team, or a thread with memory, with factors that
/// it makes, or without either, inside a kernel.
enum class Level {
  call,
  batch,
  interleaved,
  interleaved_thousands,
  plan,
  plan_thousands,
  team,
  thread_in_memory,
  thread_with_factors,
  thread
};
/// But for those in thousands.
constexpr Level levels[] = {Level::call,
                            Level::batch,
                            Level::interleaved,
                            Level::plan,
                            Level::team,
                            Level::thread_in_memory,
                            Level::thread_with_factors,
                            Level::thread};
constexpr const char* name(Level level) {
  constexpr const char* names[] = {
      "call",           "batch", "interleaved",      "interleaved_thousands", "plan",
      "plan_thousands", "team",  "thread_in_memory", "thread_with_factors",   "thread"};
  return names[static_cast<int>(level)];
}
constexpr bool is_host_call(Level level) { return level < Level::team; }
constexpr bool is_plan(Level level) {
  return level == Level::plan || level == Level::plan_thousands;
}

struct Method {
  Options options;
  Level level = Level::call;
};
inline std::string describe(const Method& m) {
  return std::string(name(m.level)) + ": " + Test::describe(m.options);
}

/// The algorithm that runs: `thomas` is all that a thread has.
constexpr Algorithm algorithm_of(const Method& m) {
  if (m.level == Level::thread) return Algorithm::thomas;
  const Algorithm given = m.options.algorithm();
  return given == Algorithm::automatic ? Trikkos::choose_algorithm(0) : given;
}

/// The largest backward error that an ok status of this method admits, and where that is said.
template <class T>
constexpr double promised(const Method& m) {
  using R = Trikkos::Impl::Real<T>;
  constexpr double unit = std::numeric_limits<R>::epsilon();
  // Workspace::status, solvers/README.md: refine; but for the rounding of what it measures
  if (m.options.refine() > 0) return 45 * unit * (1 + 1e-9);
  switch (algorithm_of(m)) {
    case Algorithm::spike:  // solvers/README.md: spike, Stability; what two ends of a partition
      return (sizeof(R) == 8 ? 1 << 20 : 1 << 12) * unit;  // may differ by goes into one row
    case Algorithm::pcr:  // solvers/README.md: pcr; in any row, of a halved system for host calls
      return (is_host_call(m.level) ? 8 : 1) * 32768 * unit;
    case Algorithm::thomas:
      // solvers/README.md: thomas. LU solves A + E, |E| <= 2 units |L||U| (Higham, section 9.6),
      // and the monitor lets |L||U| be 18 times the matrix: 36 units. Complex multiplications have
      // errors of sqrt(2) units and more.
      // The correction of Sherman and Morrison multiplies that by 16 at most.
      return (m.options.thomas().corners == Trikkos::Corners::bordered ? 1 : 16) * 64 * unit;
    default:  // stable: README.md
      return scaled<T>(1e-14);
  }
}

/// Whether rows are scaled by powers of two, so that each row has a small error of its own. (After
/// refinement it is the error of the whole that counts, as the Status has it.)
constexpr bool judges_rows(const Method& m) {
  const Algorithm a = algorithm_of(m);
  return (a == Algorithm::segmented || a == Algorithm::truncated || a == Algorithm::spike) &&
         m.options.refine() == 0;
}

}  // namespace Test::Breaker

#endif
