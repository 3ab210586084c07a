// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INVERSEGENERATORS_HPP
#define TRIKKOS_INVERSEGENERATORS_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Solver.hpp>
#include <impl/inverse/Trikkos_InverseParts.hpp>
#include <impl/inverse/Trikkos_InverseSums.hpp>
#include <impl/inverse/Trikkos_InverseTile.hpp>

#define TRIKKOS_CHECK_PART(function, name, View)                                                   \
  static_assert(View::rank() == 1 && std::is_same_v<typename View::value_type, T>,                 \
                function ": " name " must have rank 1 and the value type of A, and not be const"); \
  TRIKKOS_CHECK_ACCESS(function, name, Exec, View)

namespace Trikkos {

/// The inverse X of a tridiagonal matrix in O(n) memory: X(i,j) = p(i) q(j) above the diagonal and
/// r(i) s(j) below it (Trikkos_Minors.hpp). Any part of it costs what is written.
///
///   Trikkos::InverseGenerators G(exec, A);
///   Trikkos::inverse(exec, G, X);            // all of it: no allocation, no fence, on this exec
///   G.diagonal(exec, 1, d);                  // d(i) = X(i, i+1)
///   double kappa = G.condition_1(exec);      // exact, waits
///   if (!G.status(exec).ok()) ...            // waits
///
/// For every nonsingular A, whatever its minors: X is that of a matrix whose entries differ by some
/// 2^-105 of themselves (float: 2^-47), and rounded a few times. Where A is singular, or so nearly
/// that twice the precision cannot tell, the Status says so. Entries that exceed the number range
/// are Inf, and in the Status of what wrote them; those below the normal range may be zero.
///
/// A handle, like a View: copies share the memory. It keeps neither A nor an execution space
/// instance; one `update` at a time. 64 bytes a row in double, and 22 (device: 64) in work space.
template <class T, ExecutionSpace Exec>
class InverseGenerators {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// Memory for matrices of n rows, to be filled by `update`. Allocates.
  /// \param block_rows  how many rows one thread goes through, 0 for as many as fit the backend
  /// \throws std::invalid_argument for negative numbers
  InverseGenerators(const Exec& exec, std::int64_t n, std::int64_t block_rows = 0)
      : m_shape(shape(n, block_rows)),
        m_memory(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::InverseGenerators"),
            parts(nullptr).bytes) {
    const Parts p = parts(m_memory.data());
    Impl::launch_one(exec, "Trikkos::InverseGenerators::reset",
                     Impl::ResetDiagnosis{Impl::Diagnosis{p.words->word}});
    Impl::prepare_for_teams(exec);
  }
  /// Of a matrix. Allocates; asynchronous.
  template <TridiagonalMatrix Matrix>
  InverseGenerators(const Exec& exec, const Matrix& A)
      : InverseGenerators(exec, Impl::row_count(A.diag)) {
    update(exec, A);
  }

  /// Those of another matrix of the same size: asynchronous, no allocation, no fence.
  /// \throws std::invalid_argument where A has another size, or is periodic
  template <TridiagonalMatrix Matrix>
  void update(const Exec& exec, const Matrix& A) const {
    constexpr auto function = "Trikkos::InverseGenerators::update";
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::InverseGenerators::update", Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::InverseGenerators::update", "A", Exec, Matrix);
    static_assert(
        std::is_same_v<typename Matrix::value_type, T>,
        "Trikkos::InverseGenerators::update: A must have the value type of the generators");
    static_assert(Matrix::rank() == 1,
                  "Trikkos::InverseGenerators::update: A must have rank 1 (row)");
    Impl::check_matrix(function, A);
    Impl::check_open(function, A.boundary);
    Impl::expect_extent(function, "A", "rows", Impl::row_count(A.diag), size(), "the generators");
    const Kokkos::Profiling::ScopedRegion region(function);
    const Parts p = parts(m_memory.data());
    const Impl::Diagnosis diagnosis{p.words->word};
    Impl::launch_one(exec, "Trikkos::InverseGenerators::reset", Impl::ResetDiagnosis{diagnosis});
    if (size() == 0) return;
    p.kernels(Impl::bands(A), m_shape, diagnosis).launch(exec);
  }

  /// What `update`, and what has written entries since, found. Waits for `exec`.
  Status status(const Exec& exec) const {
    const auto report =
        Impl::fetch(exec, parts(m_memory.data()).words, "Trikkos::InverseGenerators::status");
    return Impl::decode(report.word, std::max<std::int64_t>(size(), 1));
  }

  std::int64_t size() const { return m_shape.n; }
  /// Device memory held.
  std::size_t bytes() const { return m_memory.extent(0); }

  /// d(i) = X(i, i + k) for k >= 0, X(i - k, i) for k < 0. Asynchronous.
  /// \param d  rank 1 (n - |k|)
  /// \throws std::invalid_argument for another extent, or where there is no such diagonal
  template <ViewType D>
  void diagonal(const Exec& exec, std::int64_t k, const D& d) const {
    constexpr auto function = "Trikkos::InverseGenerators::diagonal";
    TRIKKOS_CHECK_PART("Trikkos::InverseGenerators::diagonal", "d", D);
    const std::int64_t length = size() - (k < 0 ? -k : k);
    if (length < 0)
      throw std::invalid_argument(std::string(function) + ": k is " + std::to_string(k) +
                                  ", expected at most " + std::to_string(size()) + " either way");
    Impl::expect_extent(function, "d", "entries", d.extent(0), length, "n - |k|");
    Kokkos::parallel_for(function, Impl::range(exec, length),
                         Impl::InverseDiagonal<T>{factors(), k, Impl::strided<T>(d)});
  }
  /// values(m) = X(rows(m), columns(m)). Asynchronous.
  /// \param rows, columns  rank 1, of any integer type; what is outside of X gives NaN
  /// \throws std::invalid_argument for extents that differ
  template <ViewType Rows, ViewType Columns, ViewType Values>
  void entries(const Exec& exec, const Rows& rows, const Columns& columns,
               const Values& values) const {
    constexpr auto function = "Trikkos::InverseGenerators::entries";
    TRIKKOS_CHECK_PART("Trikkos::InverseGenerators::entries", "values", Values);
    static_assert(Rows::rank() == 1 && Columns::rank() == 1,
                  "Trikkos::InverseGenerators::entries: rows and columns must have rank 1");
    Impl::expect_extent(function, "rows", "entries", rows.extent(0), values.extent(0), "values");
    Impl::expect_extent(function, "columns", "entries", columns.extent(0), values.extent(0),
                        "values");
    Kokkos::parallel_for(function, Impl::range(exec, values.extent(0)),
                         Impl::InverseEntries<T, Rows, Columns>{factors(), size(), rows, columns,
                                                                Impl::strided<T>(values)});
  }
  /// x = X b, O(n). Asynchronous. Errors are those of a product of X and b: where A is
  /// ill-conditioned `solve` has the smaller residual.
  /// \param b, x  rank 1 (n), any layout; x may be b
  /// \throws std::invalid_argument for other extents
  template <ViewType B, ViewType X>
  void apply(const Exec& exec, const B& b, const X& x) const {
    constexpr auto function = "Trikkos::InverseGenerators::apply";
    TRIKKOS_CHECK_PART("Trikkos::InverseGenerators::apply", "x", X);
    static_assert(B::rank() == 1 && std::is_same_v<typename B::non_const_value_type, T>,
                  "Trikkos::InverseGenerators::apply: b must have rank 1 and the value type of A");
    Impl::expect_extent(function, "b", "rows", b.extent(0), size(), "the generators");
    Impl::expect_extent(function, "x", "rows", x.extent(0), size(), "the generators");
    if (size() == 0) return;
    auto sums = this->sums(false, false);
    sums.b = Impl::strided<const T>(b);
    sums.x = Impl::strided<T>(x);
    sums.apply(exec);
  }

  /// The sum of the diagonal of X. Waits.
  T trace(const Exec& exec) const {
    T result{};
    Kokkos::parallel_reduce("Trikkos::InverseGenerators::trace", Impl::range(exec, size()),
                            Impl::InverseDiagonal<T>{factors(), 0, {}}, Kokkos::Sum<T>(result));
    return result;
  }
  /// The largest sum of moduli of a column of X (`norm_1`) or of a row (`norm_inf`), to within
  /// rounding errors; Inf where X has none. Complex numbers too, not only their parts. Waits.
  Impl::Real<T> norm_1(const Exec& exec) const { return sums(true, true).largest(exec); }
  Impl::Real<T> norm_inf(const Exec& exec) const { return sums(false, true).largest(exec); }
  /// The norm of A, the matrix of the last `update`, times that of X. Waits.
  template <TridiagonalMatrix Matrix>
  Impl::Real<T> condition_1(const Exec& exec, const Matrix& A) const {
    return norm_1(exec) * norm_of(exec, Impl::bands(A, Transpose::transpose));
  }
  template <TridiagonalMatrix Matrix>
  Impl::Real<T> condition_inf(const Exec& exec, const Matrix& A) const {
    return norm_inf(exec) * norm_of(exec, Impl::bands(A));
  }

  /// \private
  Impl::InverseFactors<T> factors() const { return parts(m_memory.data()).factors; }
  /// \private Writes a part of X.
  void write(const Exec& exec, const Impl::InverseTarget<T>& to) const {
    if (to.rows == 0 || to.columns == 0) return;
    const Parts p = parts(m_memory.data());
    Impl::InverseTiles<T>(p.factors, to, Impl::Diagnosis{p.words->word}, Impl::is_host_v<Exec>)
        .launch(exec);
  }

 private:
  /// Rows that a thread goes through: a device needs thousands of threads, a host two.
  static constexpr std::int64_t device_rows = 8, host_rows = std::int64_t(1) << 16;
  using Memory = Kokkos::View<std::byte*, typename Exec::memory_space>;
  struct Parts {
    Impl::DiagnosisWords* words;
    Impl::InverseFactors<T> factors;
    Impl::MinorBlock<T>* block;
    Impl::MinorState<T>*group_start, *start, *end;
    Impl::MinorRepair<T>* repair;
    Impl::MinorPair<T>* check;
    Impl::InverseSumsMemory<T> sums;
    std::size_t bytes;

    Impl::GeneratorKernels<T> kernels(const Impl::Bands<T>& A, const Impl::GeneratorShape<T>& shape,
                                      const Impl::Diagnosis& diagnosis) const {
      return {A, shape, factors, block, group_start, start, end, repair, check, diagnosis};
    }
  };
  Parts parts(std::byte* memory) const {
    Impl::Parts all(memory);
    const std::int64_t n = m_shape.n, blocks = m_shape.blocks;
    Parts p;
    p.words = all.take<Impl::DiagnosisWords>(1);
    p.factors.down = all.take<Impl::Generators<T>>(n);
    p.factors.up = all.take<Impl::Generators<T>>(n);
    p.block = all.take<Impl::MinorBlock<T>>(2 * blocks);
    p.group_start = all.take<Impl::MinorState<T>>(2 * m_shape.groups);
    p.start = all.take<Impl::MinorState<T>>(2 * blocks);
    p.end = all.take<Impl::MinorState<T>>(2 * blocks);
    p.repair = all.take<Impl::MinorRepair<T>>(1);
    p.check = all.take<Impl::MinorPair<T>>(2 * m_shape.checks());
    p.sums.sum = all.take<Impl::Factor<T>>(2 * Impl::InverseSums<T>::block_rows(n));
    p.sums.term = all.take<Impl::Factor<T>>(n);
    p.bytes = all.bytes();
    return p;
  }
  static Impl::GeneratorShape<T> shape(std::int64_t n, std::int64_t block_rows) {
    constexpr auto function = "Trikkos::InverseGenerators";
    Impl::check_count(function, "n", n);
    Impl::check_count(function, "block_rows", block_rows);
    const std::int64_t rows = Impl::is_host_v<Exec> ? host_rows : device_rows;
    return Impl::GeneratorShape<T>(n, block_rows > 0 ? block_rows : rows,
                                   Impl::is_host_v<Exec> ? 1 : Impl::GeneratorKernels<T>::lanes);
  }
  Impl::InverseSums<T> sums(bool transposed, bool absolute) const {
    const Parts p = parts(m_memory.data());
    return {p.factors, p.sums, size(), transposed, absolute};
  }
  static Impl::Real<T> norm_of(const Exec& exec, const Impl::Bands<T>& A) {
    Impl::Real<T> result = 0;
    Kokkos::parallel_reduce("Trikkos::InverseGenerators::norm_of_matrix", Impl::range(exec, A.n),
                            Impl::RowSum<T>{A}, Kokkos::Max<Impl::Real<T>>(result));
    return A.n > 0 ? result : Impl::Real<T>(0);
  }

  Impl::GeneratorShape<T> m_shape;
  Memory m_memory;
};

template <class Exec, TridiagonalMatrix Matrix>
InverseGenerators(const Exec&, const Matrix&)
    -> InverseGenerators<typename Matrix::value_type, Exec>;

}  // namespace Trikkos

#endif
