// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INCOMPLETEFACTORS_HPP
#define TRIKKOS_INCOMPLETEFACTORS_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <Trikkos_IncompleteOptions.hpp>
#include <Trikkos_TriangularPlan.hpp>
#include <impl/Trikkos_IncompleteFactorization.hpp>
#include <memory>

namespace Trikkos {

/// What IncompleteLu and IncompleteCholesky have in common: factors of a sparse matrix at the
/// places that it has entries at, and on the diagonal, to be solved with many times.
///
///   const Trikkos::CsrMatrix A{row_map, entries, values};
///   const Trikkos::IncompleteLu ilu(exec, A);    // or IncompleteCholesky
///   Trikkos::solve(exec, ilu, b, x);             // no allocation, no fence, on this exec
///   ilu.update(exec, A);                         // new values, same pattern: neither of both
///   if (!ilu.status(exec).ok()) ...              // waits
///
/// The factors keep the pattern alone of what they are made from. A row is eliminated by one
/// thread, when the rows that it needs are there: on a device in one launch, or, where its threads
/// must not wait for each other, level by level; on a host point to point, or by one thread. The
/// same bits from run to run, whatever the number of threads.
///
/// A handle, like a View: copies share the memory; it serves one solve at a time and keeps no
/// execution space instance.
template <class T, ExecutionSpace Exec, IncompleteKind kind>
class IncompleteFactors {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// Allocates and waits. In double 48 bytes an entry of A and 100 a row, on a device some padding,
  /// and what right-hand sides take (TriangularOptions::rhs_count).
  ///
  /// \param A  rows in any order; what stands several times in one place is added up. Of IC(0) only
  ///           the lower triangle is read, and not the imaginary part of the diagonal.
  /// \throws std::invalid_argument for a row_map that is not monotone, columns outside the matrix,
  ///         extents that do not fit, or options that do not
  template <AnyCsrMatrix Matrix>
  IncompleteFactors(const Exec& exec, const Matrix& A, const IncompleteOptions& options = {})
      : m_factors(std::make_shared<Factors>(exec, checked(A), checked(options))) {}

  /// New values at the places of those that the factors were made of: as many, in the same order;
  /// the pattern is not looked at. Asynchronous, no allocation: seven launches (`level_set`: more),
  /// and with OnBreakdown::shift twenty more, of which those that nobody needs return at once, as
  /// nobody waits for the first attempt. \throws std::invalid_argument for another number of rows
  /// or values
  template <AnyCsrMatrix Matrix>
  void update(const Exec& exec, const Matrix& A) const {
    constexpr auto function = "Trikkos::IncompleteFactors::update";
    checked(A);
    Impl::expect_extent(function, "A", "rows", A.rows(), size(), "the factors");
    Impl::expect_extent(function, "values", "entries", A.values.extent(0),
                        m_factors->entries_given(), "those of the factors' A");
    m_factors->update(exec, Impl::strided<const T>(A.values));
  }

  /// About the last factorisation. Waits for `exec`.
  IncompleteStatus status(const Exec& exec) const { return m_factors->status(exec); }

  std::int64_t size() const { return m_factors->size(); }
  /// Entries of the factors, as stored.
  std::int64_t entries() const { return m_factors->entries(); }
  const IncompleteOptions& options() const { return m_factors->options(); }
  /// What factors; never `automatic` or `blocked`. What solves, `lower()` and `upper()` tell.
  TriangularAlgorithm algorithm() const { return m_factors->algorithm(); }
  /// Memory held where Exec works.
  std::size_t bytes() const { return m_factors->bytes(); }

  /// Both factors in one CsrMatrix, rows sorted by column: ILU(0) without the ones of L, IC(0) with
  /// L alone. Its Views share the memory; `update` changes it.
  auto factors() const { return m_factors->factors(); }
  /// The row of A that each row of the factors is; none for IncompleteOrdering::natural.
  auto order() const { return m_factors->order(); }
  /// The plans that solve with L, and with U or L^H.
  const TriangularPlan<T, Exec>& lower() const { return m_factors->lower(); }
  const TriangularPlan<T, Exec>& upper() const { return m_factors->upper(); }

  /// For a log: what was factored, in what order, by what, and both plans.
  std::string describe() const {
    const std::string ordering = name(options().ordering());
    return std::string(kind == IncompleteKind::lu ? "ILU(0)" : "IC(0)") + " of " +
           std::to_string(size()) + (size() == 1 ? " row, " : " rows, ") +
           std::to_string(entries()) + " entries, order " + ordering + ", " + name(algorithm()) +
           "; " + std::to_string(bytes()) + " bytes\n  lower: " + lower().describe() +
           "\n  upper: " + upper().describe();
  }

  /// \private
  void run(const Exec& exec, const Impl::Vectors<const T>& b, const Impl::Vectors<T>& x,
           std::int64_t count) const {
    m_factors->solve(exec, b, x, count);
  }

 private:
  using Factors = Impl::IncompleteFactorization<T, Exec, kind>;

  template <class Matrix>
  static const Matrix& checked(const Matrix& A) {
    static_assert(std::is_same_v<typename Matrix::value_type, T>,
                  "Trikkos::IncompleteFactors: A must have the value type of the factors");
    TRIKKOS_CHECK_ACCESS("Trikkos::IncompleteFactors", "A", Exec, Matrix);
    return A;
  }
  static const IncompleteOptions& checked(const IncompleteOptions& options) {
    const auto refuse = [](const std::string& what) {
      throw std::invalid_argument("Trikkos::IncompleteFactors: " + what);
    };
    if (options.triangular().transpose() != Transpose::none)
      refuse("triangular().transpose() is given, expected none");
    if (options.on_breakdown() != OnBreakdown::fail &&
        !(options.value() > 0 && options.value() < std::numeric_limits<double>::infinity()))
      refuse(std::string(name(options.on_breakdown())) + " is " + std::to_string(options.value()) +
             ", expected a positive number");
    Impl::check_triangular_options<Exec>("Trikkos::IncompleteFactors", options.triangular());
    return options;
  }

  std::shared_ptr<const Factors> m_factors;
};

/// ILU(0): A = L U - R, L with a unit diagonal, R zero wherever A has an entry (Meijerink and van
/// der Vorst 1977). They exist for every M-matrix and H-matrix, as for all diagonally dominant
/// ones.
template <class T, ExecutionSpace Exec>
class IncompleteLu : public IncompleteFactors<T, Exec, IncompleteKind::lu> {
  using IncompleteFactors<T, Exec, IncompleteKind::lu>::IncompleteFactors;
};
/// IC(0): A = L L^H - R, of a Hermitian A.
template <class T, ExecutionSpace Exec>
class IncompleteCholesky : public IncompleteFactors<T, Exec, IncompleteKind::cholesky> {
  using IncompleteFactors<T, Exec, IncompleteKind::cholesky>::IncompleteFactors;
};

template <class Exec, AnyCsrMatrix Matrix>
IncompleteLu(const Exec&, const Matrix&, const IncompleteOptions& = {})
    -> IncompleteLu<typename Matrix::value_type, Exec>;
template <class Exec, AnyCsrMatrix Matrix>
IncompleteCholesky(const Exec&, const Matrix&, const IncompleteOptions& = {})
    -> IncompleteCholesky<typename Matrix::value_type, Exec>;

/// Solves L U x = b, or L L^H x = b: asynchronous, no allocation, no fence.
///
/// \param exec  execution space instance; the only one used
/// \param b     right-hand side, rank 1 (n), or many, rank 2 (system, n)
/// \param x     solution, shaped like b; may be b; what is in it is not read
/// \throws std::invalid_argument for extents that do not fit
template <ExecutionSpace Exec, class T, IncompleteKind kind, class B, class X>
void solve(const Exec& exec, const IncompleteFactors<T, Exec, kind>& factors, const B& b,
           const X& x) {
  Impl::check_plan_solve<T, Exec>("the factors", factors.size(), b, x);
  const Kokkos::Profiling::ScopedRegion region("Trikkos::solve");
  factors.run(exec, Impl::vectors<const T>(b), Impl::vectors<T>(x), Impl::system_count(b));
}

}  // namespace Trikkos

#endif
