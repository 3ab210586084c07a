// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THOMASCALL_HPP
#define TRIKKOS_IMPL_THOMASCALL_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_ThreadMember.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/thomas/Trikkos_ShermanMorrison.hpp>

namespace Trikkos::Impl {

/// One thread a system. `corrects`: periodic ones by the formula of Sherman and Morrison.
template <class T, bool corrects>
struct ThomasSweep {
  Problem<T> problem;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const Bands<T> A = problem.A[k];
    const Diagnosis diagnosis = problem.diagnosis.of(k, A.n);
    const Strided<T> x = problem.x[k];
    auto* const states = reinterpret_cast<ThomasState<T>*>(problem.storage) + k * A.n;
    const ThomasVerdict verdict = solve(A, problem.b[k], x, states);
    if (verdict.row >= 0) return diagnosis.report(verdict.reason, verdict.row);
    for (std::int64_t i = 0; i < A.n; ++i)
      if (!(finite_probe(x[i]) == 0)) return diagnosis.report_solution(i);
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION ThomasVerdict solve(const Bands<T>& A,
                                                         const Strided<const T>& b,
                                                         const Strided<T>& x,
                                                         ThomasState<T>* states) {
    if constexpr (corrects)
      return solve_by_sherman_morrison(A, b, x, states);
    else
      return Thomas<T>{A}.solve(b, x, states);
  }
};

/// With the factors of one matrix (Gloster et al. 2019: cuThomasConstantBatch, and of W = 2
/// cuPentConstantBatch).
template <class T, bool corrects, int W = 1>
struct ThomasFactoredSweep {
  using FactorsOf = std::conditional_t<corrects, CorrectedFactors<T, W>, Factors<T, W>>;

  Problem<T, W> problem;
  FactorsOf factors;  // one chunk

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t n = problem.n();
    const Strided<const T> b = problem.b[k];
    const Strided<T> x = problem.x[k];
    const Diagnosis diagnosis = problem.diagnosis.of(k, n);
    const auto right = [&](std::int64_t i) {
      const T d = b[i];
      if (!(finite_probe(d) == 0)) diagnosis.report(Status::Reason::not_finite, i);
      return d;
    };
    Real<T> probe;
    if constexpr (corrects) {
      sweep(factors.open, right, x);
      probe = correct(factors, x);
    } else {
      probe = sweep(factors, right, x);
    }
    if (!(probe == 0)) report_first_not_finite(diagnosis, x, 0, n);
  }
};

/// Factors of one matrix that are not safe, and why.
template <class T, int W, class FactorsOf>
struct FactorUnsafely {
  Problem<T, W> problem;
  FactorsOf factors;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    const Bands<T, W> A = problem.A[0];
    const std::int64_t bad = factor_rows(A, factors);
    if (bad < 0) return;
    Real<T> probe(0);
    A.for_row(bad, [&](std::int64_t, const T& v) { probe += finite_probe(v); });
    problem.diagnosis.of(0, A.n).report(
        probe == 0 ? Status::Reason::unstable : Status::Reason::not_finite, bad);
  }
};

/// `Algorithm::thomas` as a host call. Of W > 1 diagonals on either side it is for a Plan's one
/// matrix.
template <class T, class Exec, int W = 1>
class ThomasCall {
 public:
  ThomasCall(const Shape& shape, const Options& options)
      : m_shape(shape), m_corrects(options.thomas().corners == Corners::sherman_morrison) {}

  std::int64_t storage_words() const { return W == 1 ? 2 * m_shape.n : 0; }
  std::int64_t shared_words() const { return W == 1 ? 0 : words_of_factors(); }
  std::int64_t parallel_items() const { return 1; }

  void solve(const Exec& exec, const Problem<T, W>& problem) const {
    reset(exec, problem);
    if constexpr (W > 1) {
      if (corrects_factors())
        factor_and_sweep<true>(exec, problem, corrected(problem.storage));
      else
        factor_and_sweep<false>(exec, problem, factors(problem.storage));
    } else if (m_corrects && problem.A.first.periodic) {
      Kokkos::parallel_for("Trikkos::thomas", range(exec, problem.count()),
                           ThomasSweep<T, true>{problem});
    } else {
      Kokkos::parallel_for("Trikkos::thomas", range(exec, problem.count()),
                           ThomasSweep<T, false>{problem});
    }
  }

  std::int64_t factor_words() const { return can_factor() ? words_of_factors() : 0; }
  bool factor(const Exec& exec, const Systems<T, W>& A, T* memory) const {
    constexpr auto label = "Trikkos::thomas::factor";
    if (!can_factor()) return false;
    if (corrects_factors()) {
      const CorrectedFactors<T, W> corrected = this->corrected(memory);
      Impl::factor<WithoutCorners<T, W>>(exec, A.first, corrected.open, label);
      Kokkos::parallel_for("Trikkos::thomas::correct", range(exec, 1),
                           CorrectFactors<T, W>{A.first, corrected});
      return judged(exec, corrected.open) != FactorsAre::unsafe;
    }
    Impl::factor<Bands<T, W>>(exec, A.first, factors(memory), label);
    return judged(exec, factors(memory)) != FactorsAre::unsafe;
  }
  void solve_factored(const Exec& exec, const Problem<T, W>& problem, T* memory) const {
    reset(exec, problem);
    if (corrects_factors()) return sweep_all<true>(exec, problem, corrected(memory));
    sweep_all<false>(exec, problem, factors(memory));
  }

 private:
  static void reset(const Exec& exec, const Problem<T, W>& problem) {
    if (problem.resets)
      Kokkos::parallel_for("Trikkos::thomas::reset", range(exec, 1),
                           ResetDiagnosis{problem.diagnosis});
  }
  template <bool corrects, class FactorsOf>
  static void sweep_all(const Exec& exec, const Problem<T, W>& problem, const FactorsOf& factors) {
    Kokkos::parallel_for("Trikkos::thomas::factored", range(exec, problem.count()),
                         ThomasFactoredSweep<T, corrects, W>{problem, factors});
  }
  template <bool corrects, class FactorsOf>
  static void factor_and_sweep(const Exec& exec, const Problem<T, W>& problem,
                               const FactorsOf& factors) {
    Kokkos::parallel_for("Trikkos::thomas::factor", range(exec, 1),
                         FactorUnsafely<T, W, FactorsOf>{problem, factors});
    sweep_all<corrects>(exec, problem, factors);
  }
  std::int64_t words_of_factors() const {
    return corrects_factors() ? corrected(nullptr).words : factors(nullptr).words;
  }
  bool can_factor() const {
    return m_shape.is_factored_once && m_shape.matrices == 1 && m_shape.n > 0;
  }
  bool corrects_factors() const { return m_corrects && m_shape.periodic && m_shape.n > W; }
  Factors<T, W> factors(T* memory) const {
    return Factors<T, W>::whole(m_shape.n, m_shape.periodic, memory);
  }
  CorrectedFactors<T, W> corrected(T* memory) const { return {m_shape.n, memory}; }

  Shape m_shape;
  bool m_corrects;
};

/// In a kernel on one thread of the team, without memory but for the formula of Sherman and
/// Morrison.
template <>
struct FormsOf<Algorithm::thomas> {
  template <class T, class Exec, int W = 1>
  using Call = ThomasCall<T, Exec, W>;

  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n,
                                                                  const Options& options,
                                                                  bool periodic) {
    return corrects(options, periodic) ? 2 * n : 0;
  }
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member, const Bands<T>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x,
                                                           const Options& options) {
    if (corrects(options, A.periodic)) return correct_in_scratch(member, A, b, x);
    if constexpr (std::is_same_v<Member, ThreadMember>) {
      return Thomas<T>{A}.solve(b, x).row;
    } else {
      int info = 0;
      Kokkos::single(
          Kokkos::PerTeam(member),
          [&](int& result) { result = static_cast<int>(Thomas<T>{A}.solve(b, x).row + 1); }, info);
      member.team_barrier();
      return info - 1;
    }
  }

 private:
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t correct_in_scratch(const Member& member,
                                                                const Bands<T>& A,
                                                                const Strided<const T>& b,
                                                                const Strided<T>& x) {
    const std::int64_t bad = in_scratch<T>(member, 2 * A.n, [&](const auto& team, T* memory) {
      std::int64_t row = -1;
      if (team.team_rank() == 0)
        row = solve_by_sherman_morrison(A, b, x, reinterpret_cast<ThomasState<T>*>(memory)).row;
      return row < 0 ? Diagnosis::clear : row;
    });
    return bad < A.n ? bad : -1;
  }
  static KOKKOS_FORCEINLINE_FUNCTION constexpr bool corrects(const Options& options,
                                                             bool periodic) {
    return periodic && options.thomas().corners == Corners::sherman_morrison;
  }
};

}  // namespace Trikkos::Impl

#endif
