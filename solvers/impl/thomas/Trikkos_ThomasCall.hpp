// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THOMASCALL_HPP
#define TRIKKOS_IMPL_THOMASCALL_HPP

#include <Trikkos_Concepts.hpp>
#include <algorithm>
#include <impl/Trikkos_DissectedInRegisters.hpp>
#include <impl/Trikkos_DissectedSystems.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_ThreadMember.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/thomas/Trikkos_ShermanMorrison.hpp>

namespace Trikkos::Impl {

/// One thread a system. `corrects`: periodic ones by the formula of Sherman and Morrison.
template <class T, bool corrects, int W = 1>
struct ThomasSweep {
  Problem<T, W> problem;
  std::int64_t words;  // of storage for a system

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    sweep(k, problem.storage + k * words);
  }
  KOKKOS_FORCEINLINE_FUNCTION void sweep(std::int64_t k, T* memory) const {
    const Bands<T, W> A = problem.A[k];
    const Diagnosis diagnosis = problem.diagnosis.of(k, A.n);
    const Strided<T> x = problem.x[k];
    const ThomasVerdict verdict = solve(A, problem.b[k], x, memory);
    if (verdict.row >= 0) diagnosis.report(verdict.reason, verdict.row);
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION ThomasVerdict solve(const Bands<T, W>& A,
                                                         const Strided<const T>& b,
                                                         const Strided<T>& x, T* memory) {
    if constexpr (W > 1)
      return factor_and_solve(A, FactorsFor<T, W, corrects>::whole(A.n, A.periodic, memory), b, x);
    else if constexpr (corrects)
      return solve_by_sherman_morrison(A, b, x, reinterpret_cast<ThomasState<T>*>(memory));
    else
      return Thomas<T>{A}.solve(b, x, reinterpret_cast<ThomasState<T>*>(memory));
  }
};

/// Of systems that are marked: so many threads at a time have one each, with memory for as many.
template <class T, int W = 1>
struct SweepMarked {
  Problem<T, W> problem;
  std::int64_t words;  // of storage for a thread
  std::int64_t threads;
  Marks<T> marks;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t thread) const {
    if (!marks.any->is_raised()) return;
    for (std::int64_t k = thread; k < problem.count(); k += threads)
      if (marks.marked[k] != T(0))
        ThomasSweep<T, false, W>{problem, words}.sweep(k, problem.storage + thread * words);
  }
};

/// With the factors of one matrix (Gloster et al. 2019: cuThomasConstantBatch, and of W = 2
/// cuPentConstantBatch).
template <class T, bool corrects, int W = 1>
struct ThomasFactoredSweep {
  Problem<T, W> problem;
  FactorsFor<T, W, corrects> factors;  // one chunk

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
    const Real<T> probe = sweep(factors, right, x);
    if (!(probe == 0)) report_first_not_finite(diagnosis, x, 0, n);
  }
};

/// Factors of one matrix that are not safe, and why.
template <class T, bool corrects, int W>
struct FactorUnsafely {
  Problem<T, W> problem;
  FactorsFor<T, W, corrects> factors;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    const Bands<T, W> A = problem.A[0];
    const ThomasVerdict verdict = factor_watched(A, factors);
    if (verdict.row >= 0) problem.diagnosis.of(0, A.n).report(verdict.reason, verdict.row);
  }
};

/// `Algorithm::thomas` as a host call. For W > 1 diagonals on either side a system's memory is that
/// of its factors; where there is one matrix for all, only it is factored. On a device many go by
/// chunks first, and one thread each solves what grows there.
template <class T, class Exec, int W = 1>
class ThomasCall {
 public:
  ThomasCall(const Shape& shape, const Options& options) : m_shape(shape), m_options(options) {}

  std::int64_t storage_words() const {
    if (shares_storage()) return 0;
    return is_dissected() ? 1 : words();
  }
  std::int64_t shared_words() const {
    if (shares_storage()) return words();
    return is_dissected() ? Wanted::words + swept_at_once() * words() : 0;
  }
  std::int64_t parallel_items() const { return 1; }
  /// So many fill a device where a system takes a word.
  std::int64_t at_least() const { return is_dissected() ? std::int64_t(1) << 20 : 1; }

  void solve(const Exec& exec, const Problem<T, W>& problem) const {
    if constexpr (dissects)
      if (is_dissected()) {
        const bool interleaved = is_interleaved(problem);
        const Chunks chunks(m_shape, least_chunked);
        if (!(interleaved && is_in_registers()) && chunks.is_for(problem, interleaved))
          return solve_dissected(exec, problem, [&](const Marks<T>& marks) {
            chunks.solve(exec, problem, marks, interleaved);
          });
        if constexpr (W == 1)
          if (is_in_registers() && InRegisters(m_shape).is_for(problem))
            return solve_dissected(exec, problem, [&](const Marks<T>& marks) {
              InRegisters(m_shape).solve(exec, "Trikkos::thomas", problem, marks);
            });
      }
    reset(exec, problem);
    if (is_corrected(problem.A.first.periodic)) return solve_all<true>(exec, problem);
    solve_all<false>(exec, problem);
  }

  std::int64_t factor_words() const {
    return can_factor() ? words_of_factors(m_shape.periodic) : 0;
  }
  bool factor(const Exec& exec, const Systems<T, W>& A, T* memory) const {
    constexpr auto label = "Trikkos::thomas::factor";
    if (!can_factor()) return false;
    if (is_corrected(m_shape.periodic)) {
      const auto corrected = factors<true>(m_shape.periodic, memory);
      Impl::factor<WithoutCorners<T, W>>(exec, A.first, corrected.open, label);
      launch_one(exec, "Trikkos::thomas::correct", CorrectFactors<T, W>{A.first, corrected});
      return judged(exec, corrected.open) != FactorsAre::unsafe;
    }
    const auto plain = factors<false>(m_shape.periodic, memory);
    Impl::factor<Bands<T, W>>(exec, A.first, plain, label);
    return judged(exec, plain) != FactorsAre::unsafe;
  }
  void solve_factored(const Exec& exec, const Problem<T, W>& problem, T* memory) const {
    reset(exec, problem);
    if (is_corrected(m_shape.periodic)) return sweep_all<true>(exec, problem, memory);
    sweep_all<false>(exec, problem, memory);
  }

 private:
  using Chunks = DissectedSystems<T, Exec, W>;
  using InRegisters = DissectedInRegisters<T, Exec>;
  static constexpr bool dissects = (W > 1 || std::is_floating_point_v<T>)&&!is_host_v<Exec>;
  /// Fewer leave most of a device idle, but where their chunks are in registers.
  static constexpr std::int64_t least_chunked = 1 << 10;

  std::int64_t swept_at_once() const {
    constexpr std::int64_t most = W > 1 ? 65536 : 16384;
    return std::min(m_shape.count, most);
  }

  /// Whether threads share a system, if it is open.
  bool is_dissected() const {
    if constexpr (!dissects) {
      return false;
    } else {
      if (m_shape.count == 0 || m_shape.matrices < m_shape.count) return false;
      return is_in_registers() || Chunks(m_shape, least_chunked).fits(m_shape.interleaved);
    }
  }
  bool is_in_registers() const {
    return W == 1 && m_shape.n > InRegisters::rows && InRegisters(m_shape).fits();
  }
  /// `solve_most(marks)` marks what is left to one thread each.
  template <class SolveMost>
  void solve_dissected(const Exec& exec, const Problem<T, W>& problem,
                       const SolveMost& solve_most) const {
    const Marks<T> marks{problem.storage + Wanted::words + swept_at_once() * words(),
                         reinterpret_cast<Wanted*>(problem.storage)};
    solve_most(marks);
    Problem<T, W> rest = problem;
    rest.storage = problem.storage + Wanted::words;
    const std::int64_t threads = std::min(problem.count(), swept_at_once());
    launch(exec, "Trikkos::thomas", threads, SweepMarked<T, W>{rest, words(), threads, marks});
  }
  static void reset(const Exec& exec, const Problem<T, W>& problem) {
    if (problem.resets)
      launch_one(exec, "Trikkos::thomas::reset", ResetDiagnosis{problem.diagnosis});
  }
  /// kernel(k) for `count` systems.
  template <class Kernel>
  static void launch(const Exec& exec, const char* label, std::int64_t count,
                     const Kernel& kernel) {
    if (count == 1) return launch_one(exec, label, kernel);
    Kokkos::parallel_for(label, range(exec, count), kernel);
  }
  template <bool corrects>
  void solve_all(const Exec& exec, const Problem<T, W>& problem) const {
    if constexpr (W > 1)
      if (problem.A.is_shared()) return factor_and_sweep<corrects>(exec, problem);
    // made for one matrix, it has memory for the factors of one
    const std::int64_t at_a_time = shares_storage() ? 1
                                   : is_dissected() ? swept_at_once()
                                                    : problem.count();
    for (std::int64_t first = 0, count; first < problem.count(); first += count) {
      count = problem.block_size(first, at_a_time);
      launch(exec, "Trikkos::thomas", count,
             ThomasSweep<T, corrects, W>{problem.block(first, count), words()});
    }
  }
  template <bool corrects>
  void sweep_all(const Exec& exec, const Problem<T, W>& problem, T* memory) const {
    launch(exec, "Trikkos::thomas::factored", problem.count(),
           ThomasFactoredSweep<T, corrects, W>{
               problem, factors<corrects>(problem.A.first.periodic, memory)});
  }
  template <bool corrects>
  void factor_and_sweep(const Exec& exec, const Problem<T, W>& problem) const {
    if (problem.resets)  // the first of several blocks: its factors serve the others
      launch_one(exec, "Trikkos::thomas::factor",
                 FactorUnsafely<T, corrects, W>{
                     problem, factors<corrects>(problem.A.first.periodic, problem.storage)});
    sweep_all<corrects>(exec, problem, problem.storage);
  }

  std::int64_t words() const {
    if (W == 1) return 2 * m_shape.n;
    if (m_shape.is_factored_once) return words_of_factors(m_shape.periodic);
    return std::max(words_of_factors(false), words_of_factors(true));  // whatever it is to be
  }
  std::int64_t words_of_factors(bool periodic) const {
    return is_corrected(periodic) ? factors<true>(periodic, nullptr).words
                                  : factors<false>(periodic, nullptr).words;
  }
  bool shares_storage() const { return W > 1 && m_shape.matrices == 1; }
  bool can_factor() const {
    return m_shape.is_factored_once && m_shape.matrices == 1 && m_shape.n > 0;
  }
  bool is_corrected(bool periodic) const {
    return corrects_corners<W>(m_options, m_shape.n, periodic);
  }
  template <bool corrects>
  FactorsFor<T, W, corrects> factors(bool periodic, T* memory) const {
    return FactorsFor<T, W, corrects>::whole(m_shape.n, periodic, memory);
  }

  Shape m_shape;
  Options m_options;
};

/// In a kernel on one thread of the team. Tridiagonal systems take no memory but for the formula of
/// Sherman and Morrison, others that of their factors.
template <>
struct FormsOf<Algorithm::thomas> {
  template <class T, class Exec, int W = 1>
  using Call = ThomasCall<T, Exec, W>;

  template <int W = 1>
  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t team_words(std::int64_t n,
                                                                  const Options& options,
                                                                  bool periodic) {
    const bool corrects = corrects_corners<W>(options, n, periodic);
    if constexpr (W == 1)
      return corrects ? 2 * n : 0;
    else
      return corrects ? words_of_factors<W, true>(n, periodic)
                      : words_of_factors<W, false>(n, periodic);
  }
  template <class T, int W, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_in_team(const Member& member,
                                                           const Bands<T, W>& A,
                                                           const Strided<const T>& b,
                                                           const Strided<T>& x,
                                                           const Options& options) {
    const bool corrects = corrects_corners<W>(options, A.n, A.periodic);
    if constexpr (W > 1)
      return corrects ? factor_in_scratch<true>(member, A, b, x)
                      : factor_in_scratch<false>(member, A, b, x);
    else
      return corrects ? correct_in_scratch(member, A, b, x) : solve_by_one(member, A, b, x);
  }

 private:
  /// Of any scalar as many.
  template <int W, bool corrects>
  static KOKKOS_INLINE_FUNCTION constexpr std::int64_t words_of_factors(std::int64_t n,
                                                                        bool periodic) {
    return FactorsFor<double, W, corrects>::whole(n, periodic, nullptr).words;
  }

  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t solve_by_one(const Member& member, const Bands<T>& A,
                                                          const Strided<const T>& b,
                                                          const Strided<T>& x) {
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
  template <class T, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t correct_in_scratch(const Member& member,
                                                                const Bands<T>& A,
                                                                const Strided<const T>& b,
                                                                const Strided<T>& x) {
    return by_one_in_scratch<T>(member, 2 * A.n, [&](T* memory) {
      return solve_by_sherman_morrison(A, b, x, reinterpret_cast<ThomasState<T>*>(memory));
    });
  }
  template <bool corrects, class T, int W, class Member>
  static KOKKOS_INLINE_FUNCTION std::int64_t factor_in_scratch(const Member& member,
                                                               const Bands<T, W>& A,
                                                               const Strided<const T>& b,
                                                               const Strided<T>& x) {
    const std::int64_t words = words_of_factors<W, corrects>(A.n, A.periodic);
    return by_one_in_scratch<T>(member, words, [&](T* memory) {
      return factor_and_solve(A, FactorsFor<T, W, corrects>::whole(A.n, A.periodic, memory), b, x);
    });
  }
  /// f(memory) by one thread. Returns the row that it objects to, to all.
  template <class T, class Member, class F>
  static KOKKOS_INLINE_FUNCTION std::int64_t by_one_in_scratch(const Member& member,
                                                               std::int64_t words, const F& f) {
    const std::int64_t bad = in_scratch<T>(member, words, [&](const auto& team, T* memory) {
      const std::int64_t row = team.team_rank() == 0 ? f(memory).row : -1;
      return row < 0 ? Diagnosis::clear : row;
    });
    return bad < Diagnosis::clear ? bad : -1;
  }
};

}  // namespace Trikkos::Impl

#endif
