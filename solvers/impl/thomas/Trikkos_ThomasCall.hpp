// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THOMASCALL_HPP
#define TRIKKOS_IMPL_THOMASCALL_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_ThreadMember.hpp>
#include <impl/factored/Trikkos_Factors.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
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

/// With the factors of one matrix (Gloster, O Naraigh, Pang 2019: cuThomasConstantBatch).
template <class T>
struct ThomasFactoredSweep {
  Problem<T> problem;
  Factors<T> factors;  // one chunk

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    using F = Factors<T>;
    const std::int64_t n = factors.n;
    const Strided<const T> b = problem.b[k];
    const Strided<T> x = problem.x[k];
    const Diagnosis diagnosis = problem.diagnosis.of(k, n);
    T v(0), total(0);
    for (std::int64_t i = 0; i < n; ++i) {
      const T d = b[i];
      if (!(finite_probe(d) == 0)) diagnosis.report(Status::Reason::not_finite, i);
      v = fused(-factors.at(F::lower, i, 0), v, product(factors.at(F::inverse, i, 0), d));
      x[i] = v;
      if (factors.periodic) total = fused(factors.at(F::last, i, 0), v, total);
    }
    if (factors.periodic) {
      total = -product(factors.at(F::inverse, n - 1, 0), total);
      x[n - 1] = total;
    }
    v = T(0);
    Real<T> probe(0);
    for (std::int64_t i = n - 1; i >= 0; --i) {
      T right = x[i];
      if (factors.periodic && i < n - 1) right = fused(-factors.at(F::column, i, 0), total, right);
      v = fused(-factors.at(F::upper, i, 0), v, right);
      probe += finite_probe(v);
      x[i] = v;
    }
    if (!(probe == 0)) report_first_not_finite(diagnosis, x, 0, n);
  }
};

/// `Algorithm::thomas` as a host call.
template <class T, class Exec>
class ThomasCall {
 public:
  ThomasCall(const Shape& shape, const Options&) : m_shape(shape) {}

  std::int64_t storage_words() const { return 2 * m_shape.n; }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return 1; }

  void solve(const Exec& exec, const Problem<T>& problem) const {
    if (problem.resets)
      Kokkos::parallel_for("Trikkos::thomas::reset", range(exec, 1),
                           ResetDiagnosis{problem.diagnosis});
    Kokkos::parallel_for("Trikkos::thomas", range(exec, problem.count()), ThomasSweep<T>{problem});
  }

  std::int64_t factor_words() const { return can_factor() ? factors(nullptr).words : 0; }
  bool factor(const Exec& exec, const Systems<T>& A, T* memory) const {
    return can_factor() && Impl::factor(exec, A.first, factors(memory),
                                        "Trikkos::thomas::factor") != FactorsAre::unsafe;
  }
  void solve_factored(const Exec& exec, const Problem<T>& problem, T* memory) const {
    if (problem.resets)
      Kokkos::parallel_for("Trikkos::thomas::reset", range(exec, 1),
                           ResetDiagnosis{problem.diagnosis});
    Kokkos::parallel_for("Trikkos::thomas::factored", range(exec, problem.count()),
                         ThomasFactoredSweep<T>{problem, factors(memory)});
  }

 private:
  bool can_factor() const {
    return m_shape.is_factored_once && m_shape.matrices == 1 && m_shape.n > 0;
  }
  Factors<T> factors(T* memory) const {
    return Factors<T>::whole(m_shape.n, m_shape.periodic, memory);
  }

  Shape m_shape;
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
};

}  // namespace Trikkos::Impl

#endif
