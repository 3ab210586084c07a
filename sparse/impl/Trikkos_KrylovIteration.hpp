// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_KRYLOVITERATION_HPP
#define TRIKKOS_IMPL_KRYLOVITERATION_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_KrylovOptions.hpp>
#include <algorithm>
#include <cmath>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_KrylovKernels.hpp>
#include <impl/Trikkos_Residual.hpp>
#include <utility>
#include <vector>

/// \file
/// The loop around the steps of a method: when to stop, and whether what a recurrence says of the
/// residual is so.

namespace Trikkos::Impl {

/// Vectors, sums, and the history of residuals.
template <class T, class Exec, int count>
struct KrylovMemory {
  using Vector = Kokkos::View<T*, typename Exec::memory_space>;
  using Sums = Kokkos::View<KrylovSums<T>*, typename Exec::memory_space>;

  std::int64_t n;
  KrylovOptions options;
  Vector vector[count];
  Sums sums;
  std::vector<double> history;

  KrylovMemory(const Exec& exec, const char* function, std::int64_t rows, const KrylovOptions& o)
      : n(rows), options(o) {
    check_count(function, "n", n);
    check_count(function, "max_iterations", options.max_iterations());
    if (!(options.relative() >= 0) || !(options.absolute() >= 0))
      throw std::invalid_argument(std::string(function) +
                                  ": a tolerance is negative or no number, expected 0 or more");
    for (Vector& v : vector) v = Vector(Kokkos::view_alloc(exec, "Trikkos::Krylov::vector"), n);
    sums = Sums(Kokkos::view_alloc(exec, "Trikkos::Krylov::sums"), 1);
    history.reserve(options.max_iterations() + 1);
    // What Kokkos allocates with the first sum on this instance.
    const T* const v = vector[0].data();
    if (n > 0)
      sum_into(exec, "Trikkos::Krylov::prepare", n, Dot{v, v, NoQuotient{}}, &sums.data()->right);
    exec.fence(function);
  }
  std::size_t bytes() const { return count * n * sizeof(T) + sizeof(KrylovSums<T>); }
};

/// A system and how far it is solved.
template <class T, class Exec, class Memory, class Matrix>
class KrylovSystem {
  using Reason = KrylovResult::Reason;

 public:
  KrylovSystem(const Exec& exec, Memory& memory, const Matrix& A, const Strided<const T>& b,
               const Strided<T>& x)
      : m_exec(exec), m_memory(memory), m_A(A), m_b(b), m_x(x) {}

  /// \param step   step(is_first): asynchronous, from the residual in vector 0 where it is first
  /// \param judge  what the sums of a step say: `converged` for nothing special, and |r|^2
  template <class Step, class Judge>
  KrylovResult iterate(const Step& step, const Judge& judge) {
    m_memory.history.clear();
    if (m_memory.n == 0) return m_result;
    measure_right();
    m_result.right_norm = m_result.residual = std::sqrt(m_right);
    if (!std::isfinite(m_right)) return ended(Reason::not_finite);
    if (m_right == 0) {  // so is x
      Kokkos::parallel_for("Trikkos::Krylov::zero", range(m_exec, m_memory.n), SetToZero<T>{m_x});
      return m_result;
    }
    const KrylovOptions& options = m_memory.options;
    const double target = std::max(options.relative() * m_result.right_norm, options.absolute());
    double started_from = measure();
    m_memory.history.push_back(started_from);
    if (m_result.residual <= target) return m_result;
    if (!std::isfinite(started_from)) return ended(Reason::not_finite);
    bool is_first = true;
    while (m_result.iterations < options.max_iterations()) {
      step(is_first);
      is_first = false;
      ++m_result.iterations;
      const auto sums = fetch(m_exec, m_memory.sums.data(), "Trikkos::Krylov::step");
      const auto [reason, square] = judge(sums);
      const double norm = std::sqrt(square);
      m_memory.history.push_back(norm);
      if (reason == Reason::converged && norm > target) continue;
      if (measure() <= target) return ended(Reason::converged);
      if (is_final(reason)) return ended(reason);
      if (!(m_result.residual <= 0.5 * started_from))
        return ended(reason == Reason::breakdown ? reason : Reason::stagnation);
      started_from = m_result.residual;
      is_first = true;
    }
    return ended(measure() <= target ? Reason::converged : Reason::max_iterations);
  }

 private:
  static bool is_final(Reason reason) {
    return reason != Reason::converged && reason != Reason::breakdown;
  }
  KrylovResult ended(Reason reason) {
    m_result.reason = reason;
    return m_result;
  }
  void measure_right() {
    KrylovSum<T>* const right = &m_memory.sums.data()->right;
    sum_into(m_exec, "Trikkos::Krylov::right_norm", m_memory.n, RightSquare<T>{m_b}, right);
    m_right = fetch(m_exec, right, "Trikkos::Krylov::right_norm").square;
  }
  /// |b - A x|; b - A x itself becomes vector 0. Vectors 1 and 2 are overwritten. Waits.
  double measure() {
    const auto &r = m_memory.vector[0], &copy = m_memory.vector[1], &q = m_memory.vector[2];
    KrylovSum<T>* const residual = &m_memory.sums.data()->residual;
    Kokkos::parallel_for("Trikkos::Krylov::copy", range(m_exec, m_memory.n),
                         CopyVector<T>{{m_x.data, m_x.stride}, copy.data()});
    multiply(m_exec, m_A, copy, q);
    sum_into(m_exec, "Trikkos::Krylov::residual", m_memory.n, Residual<T>{m_b, q.data(), r.data()},
             residual);
    return m_result.residual =
               std::sqrt(fetch(m_exec, residual, "Trikkos::Krylov::residual").square);
  }

  const Exec& m_exec;
  Memory& m_memory;
  const Matrix& m_A;
  Strided<const T> m_b;
  Strided<T> m_x;
  double m_right = 0;
  KrylovResult m_result;
};

/// The checks of both calls.
template <class T, class Exec, class Matrix, class B, class X>
void check_krylov(const char* function, std::int64_t n, const Matrix& A, const B& b, const X& x) {
  if constexpr (AnyCsrMatrix<Matrix>) {
    static_assert(std::is_same_v<typename Matrix::value_type, T>,
                  "Trikkos::solve: A must have the value type of the method");
    TRIKKOS_CHECK_ACCESS("Trikkos::solve", "A", Exec, Matrix);
    expect_extent(function, "A", "rows", A.rows(), n, "the method");
    expect_extent(function, "A", "columns", A.columns, n, "its rows");
  }
  static_assert(ViewType<B> && ViewType<X>, "Trikkos::solve: b and x must be Kokkos::Views");
  static_assert(B::rank() == 1 && X::rank() == 1, "Trikkos::solve: b and x must have rank 1 (row)");
  static_assert(std::is_same_v<typename B::non_const_value_type, T> &&
                    std::is_same_v<typename X::value_type, T>,
                "Trikkos::solve: b and x must have the value type of the method, x not const");
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "b", Exec, B);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "x", Exec, X);
  check_rhs(function, n, "the method", b);
  check_solution(function, b, x);
}

}  // namespace Trikkos::Impl

#endif
