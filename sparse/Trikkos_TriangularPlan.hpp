// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TRIANGULARPLAN_HPP
#define TRIKKOS_TRIANGULARPLAN_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_CsrTriangle.hpp>
#include <Trikkos_TriangularOptions.hpp>
#include <impl/Trikkos_TriangularSolver.hpp>
#include <memory>

namespace Trikkos {

namespace Impl {
/// \throws std::invalid_argument for an algorithm that Exec does not have, or no right-hand side
template <class Exec>
void check_triangular_options(const char* function, const TriangularOptions& options) {
  const auto refuse = [&](const char* expected) {
    throw std::invalid_argument(std::string(function) + ": algorithm is " +
                                name(options.algorithm()) + ", expected " + expected);
  };
  if (options.algorithm() == TriangularAlgorithm::point_to_point && !is_host_v<Exec>)
    refuse("another on a device");
  const bool spins = options.algorithm() == TriangularAlgorithm::sync_free ||
                     options.algorithm() == TriangularAlgorithm::blocked;
  if (spins && !spin_safe_v<Exec>)
    refuse("another: threads of this device must not wait for each other");
  if (options.rhs_count() < 1)
    throw std::invalid_argument(std::string(function) + ": rhs_count is " +
                                std::to_string(options.rhs_count()) + ", expected 1 or more");
}

/// The checks of `solve` with a plan of n rows, or with incomplete factors.
template <class T, class Exec, class B, class X>
void check_plan_solve(const char* plan, std::int64_t n, const B& b, const X& x) {
  static_assert(ViewType<B> && ViewType<X>, "Trikkos::solve: b and x must be Kokkos::Views");
  static_assert((B::rank() == 1 || B::rank() == 2) && X::rank() == B::rank(),
                "Trikkos::solve: b and x must have rank 1 (row) or 2 (system, row), both the same");
  static_assert(std::is_same_v<typename B::non_const_value_type, T> &&
                    std::is_same_v<typename X::value_type, T>,
                "Trikkos::solve: b and x must have the value type of the plan, x not const");
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "b", Exec, B);
  TRIKKOS_CHECK_ACCESS("Trikkos::solve", "x", Exec, X);
  constexpr auto function = "Trikkos::solve";
  check_rhs(function, n, plan, b);
  check_solution(function, b, x);
}
}  // namespace Impl

/// A sparse triangle made ready to be solved with many times.
///
///   const Trikkos::CsrTriangle L{row_map, entries, values, Trikkos::Uplo::lower};
///   const Trikkos::TriangularPlan plan(exec, L);
///   Trikkos::solve(exec, plan, b, x);    // no allocation, no fence, on this exec
///   plan.update(exec, new_values);       // same pattern: no allocation, no fence
///   if (!plan.status(exec).ok()) ...     // waits
///
/// The plan copies the matrix: what happens to its Views later does not concern it. On a device
/// that of a small triangle keeps up to 20 MB that its analysis took (`bytes()`). A solve reads 12
/// bytes an entry in double and some 44 bytes a row; the time is mostly that of the longest chain
/// of rows that need each other (`levels()`), which `describe()` tells.
///
/// Each row is summed up in an order that depends on the pattern alone: the same bits from run to
/// run, by every algorithm, for any number of threads and right-hand sides. Every row has a small
/// backward error by itself, |b - A x| <= c u (|A| |x|): c = k + 1 in a row of k entries, the
/// diagonal included, 3 k + 4 for complex numbers (Higham, Accuracy and Stability, section 8.1).
/// What underflows adds less than 4 (k + |d| (1 + |d x|)) times the smallest positive number, d the
/// diagonal entry.
///
/// A plan is a handle, like a View: copies share the memory; it serves one solve at a time and
/// keeps no execution space instance.
template <class T, ExecutionSpace Exec>
class TriangularPlan {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// Allocates and waits. 12 bytes an entry in double for the matrix, 8 for the way of new values
  /// to it, 36 a row, and what right-hand sides take (`TriangularOptions::rhs_count`). On a host
  /// with several threads a triangle with wide levels is solved some 20 times, all numbers zero, to
  /// see whether and how threads do better than one: `describe()` can tell otherwise the next time.
  ///
  /// \param A  rows in any order, combined arrays too; see CsrTriangle
  /// \throws std::invalid_argument for a row_map that is not monotone, columns outside the matrix,
  ///         extents that do not fit, or an algorithm that Exec does not have
  template <CsrTriangleMatrix Matrix>
  TriangularPlan(const Exec& exec, const Matrix& A, const TriangularOptions& options = {})
      : m_solver(std::make_shared<Solver>(exec, checked(A), checked(options))) {}

  /// New values in the places of those that the plan was made with: as many, in the same order.
  /// Asynchronous, no allocation; 28 bytes an entry in double.
  /// \throws std::invalid_argument for another number of values
  template <ViewType Values>
  void update(const Exec& exec, const Values& values) const {
    static_assert(Values::rank() == 1 && std::is_same_v<typename Values::non_const_value_type, T>,
                  "Trikkos::TriangularPlan::update: values must have rank 1 and the value type of "
                  "the plan");
    TRIKKOS_CHECK_ACCESS("Trikkos::TriangularPlan::update", "values", Exec, Values);
    Impl::expect_extent("Trikkos::TriangularPlan::update", "values", "entries", values.extent(0),
                        m_solver->entries_given(), "the plan's A");
    m_solver->update(exec, Impl::strided<const T>(values));
  }

  /// About the values: `singular` with the first row whose diagonal entry is zero, missing or too
  /// small to divide by (x then has Inf or NaN), `not_finite` with the first row that has Inf or
  /// NaN. Those of b are seen in x alone. Waits for `exec`.
  Status status(const Exec& exec) const { return m_solver->status(exec); }

  std::int64_t size() const { return m_solver->size(); }
  /// Entries of the triangle, as stored.
  std::int64_t entries() const { return m_solver->entries(); }
  /// Entries that were not in the triangle, or on a unit diagonal.
  std::int64_t ignored() const { return m_solver->ignored(); }
  /// The longest chain of rows that need each other.
  std::int64_t levels() const { return m_solver->levels(); }
  const TriangularOptions& options() const { return m_solver->options(); }
  /// What solves; never `automatic`.
  TriangularAlgorithm algorithm() const { return m_solver->algorithm(); }
  /// Memory held where Exec works.
  std::size_t bytes() const { return m_solver->bytes(); }

  /// For a log: size, levels and their widths, memory, the algorithm and why.
  std::string describe() const {
    std::vector<std::int32_t> widths(levels());
    for (std::int64_t l = 0; l < levels(); ++l) widths[l] = m_solver->width(l);
    std::sort(widths.begin(), widths.end());
    const auto count = [](std::int64_t n, const char* what) {
      return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    std::string text = count(size(), "row") + ", " + std::to_string(entries()) + " entries (" +
                       std::to_string(ignored()) + " ignored), " + count(levels(), "level");
    if (!widths.empty())
      text += " of " + std::to_string(widths.front()) + " to " + std::to_string(widths.back()) +
              " rows, median " + std::to_string(widths[widths.size() / 2]);
    return text + "; " + name(algorithm()) + " in " + std::to_string(m_solver->launches()) +
           (m_solver->launches() == 1 ? " launch" : " launches") +
           (m_solver->of_thread() == 1
                ? ""
                : ", " + std::to_string(m_solver->of_thread()) + " right-hand sides a thread") +
           ", as " + m_solver->why() + "; " + std::to_string(bytes()) + " bytes";
  }

  /// \private
  void run(const Exec& exec, const Impl::Vectors<const T>& b, const Impl::Vectors<T>& x,
           std::int64_t count) const {
    m_solver->solve(exec, b, x, count);
  }

 private:
  using Solver = Impl::TriangularSolver<T, Exec>;

  template <class Matrix>
  static const Matrix& checked(const Matrix& A) {
    static_assert(std::is_same_v<typename Matrix::value_type, T>,
                  "Trikkos::TriangularPlan: A must have the value type of the plan");
    TRIKKOS_CHECK_ACCESS("Trikkos::TriangularPlan", "A", Exec, Matrix);
    return A;
  }
  static const TriangularOptions& checked(const TriangularOptions& options) {
    Impl::check_triangular_options<Exec>("Trikkos::TriangularPlan", options);
    return options;
  }

  std::shared_ptr<const Solver> m_solver;
};

template <class Exec, CsrTriangleMatrix Matrix>
TriangularPlan(const Exec&, const Matrix&, const TriangularOptions& = {})
    -> TriangularPlan<typename Matrix::value_type, Exec>;

/// Solves op(A) x = b with the triangle of a plan: asynchronous, no allocation, no fence.
///
/// \param exec  execution space instance; the only one used
/// \param b     right-hand side, rank 1 (n), or many, rank 2 (system, n); see `columns` for others
/// \param x     solution, shaped like b; may be b; what is in it is not read
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, class B, class X>
void solve(const Exec& exec, const TriangularPlan<T, Exec>& plan, const B& b, const X& x) {
  Impl::check_plan_solve<T, Exec>("the plan", plan.size(), b, x);
  const Kokkos::Profiling::ScopedRegion region("Trikkos::solve");
  plan.run(exec, Impl::vectors<const T>(b), Impl::vectors<T>(x), Impl::system_count(b));
}

}  // namespace Trikkos

#endif
