// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LOOKFIRST_HPP
#define TRIKKOS_IMPL_LOOKFIRST_HPP

#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_StridedRows.hpp>
#include <impl/truncated/Trikkos_Windows.hpp>

/// \file
/// Before any window `automatic` looks at some rows, spread evenly over a system, and tries windows
/// if an overlap of such rows would do. Where it is wrong no x is: windows do not agree then, and
/// only their time is lost.

namespace Trikkos::Impl {

/// How much of a neighbour's change the unknown of a row passes on, if half of that came through
/// the row before.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION double passes_on(const Bands<T>& A, std::int64_t row) {
  const auto e = equation_of<T, 1>(A, row, T(0));
  const double a = magnitude(e.a), b = magnitude(e.b), c = magnitude(e.c);
  const double down = c / (b - a / 2), up = a / (b - c / 2);
  const double more = down < up ? up : down;
  constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
  if (!(a < 2 * b && c < 2 * b && more < infinity)) return infinity;
  return more < 0.25 ? 0.25 : more;  // few rows that stop all must not stand for all others
}
/// The i-th of so many rows.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t sample_of(std::int64_t n, std::int64_t samples,
                                                   std::int64_t i) {
  return n / samples * i + n / samples / 2;
}

/// At as many rows of one system as an overlap has. `answer(is_likely)` takes what is found.
template <class T, class Answer>
struct LookFirst {
  Problem<T> problem;
  std::int64_t samples;  // or 0: windows are tried in any case
  Answer answer;

  KOKKOS_INLINE_FUNCTION double passes_on(std::int64_t sample) const {
    return Impl::passes_on(problem.A[0], sample_of(problem.n(), samples, sample));
  }
  KOKKOS_INLINE_FUNCTION void decide(double passed_on) const {
    answer(samples == 0 || passed_on <= largest_disagreement<T>);
    if (problem.resets) problem.diagnosis.reset();
  }

  template <class Exec>
  void launch(const Exec& exec) const {
    constexpr auto label = "Trikkos::truncated::look";
    if constexpr (is_host_v<Exec>)
      launch_one(exec, label, [look = *this](std::int64_t) {
        double passed_on = 1;
        for (std::int64_t i = 0; i < look.samples; ++i) passed_on *= look.passes_on(i);
        look.decide(passed_on);
      });
    else
      launch_teams<threads>(exec, label, {1, threads, threads * sizeof(double)}, *this);
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    let_next_begin(member);
    double* const of_threads = team_scratch<double>(member);
    double passed_on = 1;
    for (std::int64_t i = member.team_rank(); i < samples; i += member.team_size())
      passed_on *= passes_on(i);
    const int t = member.team_rank();
    of_threads[t] = passed_on;
    for (int h = threads / 2; h >= 1; h /= 2) {
      member.team_barrier();
      if (t < h) of_threads[t] *= of_threads[t + h];
    }
    if (t == 0) decide(of_threads[0]);
  }

 private:
  static constexpr int threads = 64;  // a power of two
};

}  // namespace Trikkos::Impl

#endif
