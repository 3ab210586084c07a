// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_WORKSPACE_HPP
#define TRIKKOS_WORKSPACE_HPP

#include <Trikkos_ComputedMatrix.hpp>
#include <Trikkos_Options.hpp>
#include <Trikkos_Pentadiagonal.hpp>
#include <Trikkos_Status.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Solver.hpp>
#include <stdexcept>
#include <string>

namespace Trikkos {

/// Memory for solves with matrices of one size, allocated once. The options belong to it.
///
///   Trikkos::Workspace work(exec, A, b, options);
///   Trikkos::solve(exec, work, A, b, x);       // no allocation, no fence, on this exec
///   if (!work.status(exec).ok()) ...           // waits
///
/// A Workspace is a handle, like a View: copies share the memory. It serves one solve at a time; it
/// keeps neither the matrix nor the execution space instance. Other instances may solve with it,
/// but Kokkos' CUDA backend allocates for each of them when it runs its first team kernel.
///
/// \tparam half_bandwidth  1 for tridiagonal matrices, 2 for pentadiagonal ones
template <class T, ExecutionSpace Exec, int half_bandwidth = 1>
class Workspace {
 public:
  using value_type = T;
  using execution_space = Exec;
  /// Memory to work in, allocated here or by the user, aligned to 64 bytes.
  using memory_type = Kokkos::View<std::byte*, typename Exec::memory_space>;

  /// For matrices of A's size and any number of right-hand sides: as many as b has, or
  /// as it takes to fill the machine, are solved at a time, and `bytes()` grows with them.
  /// `thomas` has the factors of pentadiagonal matrices there, up to 9 words a row: of one if A is
  /// one. (Many matrices are then solved one after the other.) Allocates; reads no values.
  /// \throws std::invalid_argument for bad shapes or options
  template <BandMatrix Matrix, class B>
  requires(Matrix::half_bandwidth == half_bandwidth)
      Workspace(const Exec& exec, const Matrix& A, const B& b, const Options& options = {})
      : Workspace(exec, solver(shape_of(A, b), options)) {}

  template <class F, class B>
  requires(Computed<F>::half_bandwidth == half_bandwidth)
      Workspace(const Exec& exec, const Computed<F>& A, const B& b, const Options& options = {})
      : Workspace(exec, solver(shape_of(A, b), options)) {}

  /// The same from numbers: systems of n rows, `count` of them, each with a matrix of its own or
  /// all with one.
  Workspace(const Exec& exec, std::int64_t n, std::int64_t count, const Options& options = {})
      : Workspace(exec, solver({n, count, count}, options)) {}

  /// In memory of the user's, of at least `required_bytes` for the same numbers, which is kept.
  /// \throws std::invalid_argument where it is too small
  Workspace(const Exec& exec, const memory_type& memory, std::int64_t n, std::int64_t count,
            const Options& options = {})
      : Workspace(exec, solver({n, count, count}, options), memory) {}

  static std::size_t required_bytes(std::int64_t n, std::int64_t count,
                                    const Options& options = {}) {
    return solver({n, count, count}, options).bytes();
  }

  /// What the last solve with this workspace found. Waits for `exec`.
  Status status(const Exec& exec) const { return m_solver.status(exec, m_memory.data()); }

  std::int64_t size() const { return m_solver.shape().n; }
  const Options& options() const { return m_solver.options(); }
  /// The algorithm that solves, or is tried first (`truncated`); never `automatic`.
  Algorithm algorithm() const { return m_solver.algorithm(); }
  /// Device memory held.
  std::size_t bytes() const { return m_memory.extent(0); }

  /// \private What `solve` runs.
  void run(const Exec& exec, const Impl::Systems<T, half_bandwidth>& A,
           const Impl::Vectors<const T>& b, const Impl::Vectors<T>& x,
           const Impl::Numbering& number = {}) const {
    m_solver.factor(exec, m_memory.data(), A);
    m_solver.solve(exec, m_memory.data(), A, b, x, false, number);
  }
  template <Impl::ComputedMatrices Matrices>
  void run(const Exec& exec, const Matrices& A, const Impl::Vectors<const T>& b,
           const Impl::Vectors<T>& x, const Impl::Numbering& number) const {
    m_solver.solve(exec, m_memory.data(), A, b, x, number);
  }
  /// \private A copy of columns takes memory for each matrix.
  void check_systems(const char* called, std::int64_t matrices) const {
    if (m_solver.scales_columns() && matrices > m_solver.shape().matrices)
      throw std::invalid_argument(std::string(called) + ": A has " + std::to_string(matrices) +
                                  " systems, expected at most " +
                                  std::to_string(m_solver.shape().matrices) +
                                  " (the workspace, Scaling::columns)");
  }

 private:
  template <class, ExecutionSpace, int>
  friend class Plan;
  using Solver = Impl::Solver<T, Exec, half_bandwidth>;
  static constexpr const char* function = "Trikkos::Workspace";

  Workspace(const Exec& exec, const Solver& solver)
      : Workspace(exec, solver,
                  memory_type(
                      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(function)),
                      solver.bytes())) {}
  Workspace(const Exec& exec, const Solver& solver, const memory_type& memory)
      : m_solver(solver), m_memory(memory) {
    if (memory.extent(0) < solver.bytes())
      throw std::invalid_argument(std::string(function) + ": memory has " +
                                  std::to_string(memory.extent(0)) + " bytes, expected " +
                                  std::to_string(solver.bytes()) + " (required_bytes)");
    m_solver.start(exec, m_memory.data());
  }

  template <class Matrix, class B>
  static Impl::Shape shape_of(const Matrix& A, const B& b) {
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::Workspace", Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::Workspace", "A", Exec, Matrix);
    TRIKKOS_CHECK_VECTOR_VALUES("Trikkos::Workspace", "b", B, Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::Workspace", "b", Exec, B);
    Impl::check_matrix(function, A);
    Impl::check_rhs(function, A, b);
    const std::int64_t count = Impl::system_count(b);
    Impl::Shape shape{Impl::row_count(A.diag), count, A.rank() == 1 ? 1 : count};
    if constexpr (Matrix::rank() > 1)
      shape.interleaved = Impl::is_interleaved(A.diag);
    else if constexpr (B::rank() > 1)
      shape.interleaved = Impl::is_interleaved(b);
    return shape;
  }
  template <class F, class B>
  static Impl::Shape shape_of(const Computed<F>& A, const B& b) {
    TRIKKOS_CHECK_VECTOR_VALUES("Trikkos::Workspace", "b", B, Computed<F>);
    TRIKKOS_CHECK_ACCESS("Trikkos::Workspace", "b", Exec, B);
    Impl::check_count(function, "n", A.n);
    Impl::check_rhs(function, A.n, "A.n", b);
    const std::int64_t count = Impl::system_count(b);
    return {A.n, count, Computed<F>::is_one ? 1 : count};
  }
  static Solver solver(const Impl::Shape& shape, const Options& options) {
    Impl::check_count(function, "n", shape.n);
    Impl::check_count(function, "count", shape.count);
    Impl::check_options(function, options, half_bandwidth);
    if (options.algorithm() == Algorithm::factored)
      throw std::invalid_argument(std::string(function) +
                                  ": algorithm is factored, expected another: factors are made "
                                  "once, by a Plan, for many solves");
    return Solver(shape, options);
  }

  Solver m_solver;
  memory_type m_memory;
};

template <class Exec, BandMatrix Matrix, class B>
Workspace(const Exec&, const Matrix&, const B&, const Options& = {})
    -> Workspace<typename Matrix::value_type, Exec, Matrix::half_bandwidth>;
template <class Exec, class F, class B>
Workspace(const Exec&, const Computed<F>&, const B&, const Options& = {})
    -> Workspace<typename Computed<F>::value_type, Exec, Computed<F>::half_bandwidth>;

}  // namespace Trikkos

#endif
