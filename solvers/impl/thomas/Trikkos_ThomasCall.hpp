// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THOMASCALL_HPP
#define TRIKKOS_IMPL_THOMASCALL_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

namespace Trikkos::Impl {

/// One thread a system.
template <class T>
struct ThomasSweep {
  Problem<T> problem;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const Bands<T> A = problem.A[k];
    const Diagnosis diagnosis = problem.diagnosis.of(k, A.n);
    const Strided<T> x = problem.x[k];
    auto* const states = reinterpret_cast<ThomasState<T>*>(problem.storage) + k * A.n;
    const ThomasVerdict verdict = Thomas<T>{A}.solve(problem.b[k], x, states);
    if (verdict.row >= 0) return diagnosis.report(verdict.reason, verdict.row);
    for (std::int64_t i = 0; i < A.n; ++i)
      if (!(finite_probe(x[i]) == 0)) return diagnosis.report_solution(i);
  }
};

/// `Algorithm::thomas` as a host call.
template <class T, class Exec>
class ThomasCall {
 public:
  ThomasCall(const Shape& shape, const Options&) : m_n(shape.n) {}

  std::int64_t storage_words() const { return 2 * m_n; }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return 1; }

  void solve(const Exec& exec, const Problem<T>& problem) const {
    if (problem.resets)
      Kokkos::parallel_for("Trikkos::thomas::reset", range(exec, 1),
                           ResetDiagnosis{problem.diagnosis});
    Kokkos::parallel_for("Trikkos::thomas", range(exec, problem.count()), ThomasSweep<T>{problem});
  }

 private:
  std::int64_t m_n;
};

/// In a kernel on one thread of the team, without memory.
template <>
struct FormsOf<Algorithm::thomas> {
  template <class T, class Exec>
  using Call = ThomasCall<T, Exec>;

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t, const Options&,
                                                                  bool) {
    return 0;
  }
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member, const Bands<T>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x, const Options&) {
    int info = 0;
    Kokkos::single(
        Kokkos::PerTeam(member),
        [&](int& result) { result = static_cast<int>(Thomas<T>{A}.solve(b, x).row + 1); }, info);
    member.team_barrier();
    return info - 1;
  }
};

}  // namespace Trikkos::Impl

#endif
