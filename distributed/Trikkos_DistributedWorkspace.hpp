// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_DISTRIBUTEDWORKSPACE_HPP
#define TRIKKOS_DISTRIBUTEDWORKSPACE_HPP

#include <Trikkos_DistributedMatrix.hpp>
#include <Trikkos_Status.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_DistributedSolver.hpp>

namespace Trikkos {

namespace Impl {
/// Ranks have no copy of each other's rows but the segments of `segmented`.
inline void check_distributed_options(const char* function, const Options& options) {
  check_options(function, options);
  check_block_options(function, options, "A is distributed");
}
}  // namespace Impl

/// Memory for solves with distributed matrices of one size, allocated once.
///
///   Trikkos::DistributedWorkspace work(exec, A, b, options);  // collective: every rank calls it
///   Trikkos::solve(exec, work, A, b, x);                      // collective, no allocation
///   if (!work.status(exec).ok()) ...                          // collective, waits
///
/// Copies share the memory. It serves one solve at a time and keeps neither the matrix nor the
/// execution space instance, but the communicator, which must live as long. `segmented` solves, by
/// partitions of `Options::partition_size` rows, which may differ between ranks; of the other
/// options `scaling` may be rows or none, the rest is refused.
///
/// Many ranks form groups (distributed/README.md), which have communicators of their own: the last
/// copy then goes on all ranks, in the order of other collective calls, or after MPI_Finalize.
///
/// Memory, in words, for each system: 31 a rank, or where they form groups of g, for each of g
/// ranks and of all groups, or 50 in all where they share the reduced systems; and on a host, where
/// there are fewer systems than SIMD lanes, about 1 for each 6 rows and up to 100000, on a device 1
/// for each 11 rows.
template <class T, ExecutionSpace Exec>
class DistributedWorkspace {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// For matrices of A's size and as many right-hand sides as b has. Collective; allocates; reads
  /// no values. `way` is for tests.
  /// \throws std::invalid_argument on all ranks, for bad shapes or options on one, or where ranks
  ///         have different numbers of systems, boundaries or scalars
  template <class Matrix, class B>
  DistributedWorkspace(const Exec& exec, const Distributed<Matrix>& A, const B& b,
                       const Options& options = {}, const Impl::RootWay& way = {})
      : m_solver(function, exec, blocks(A, b, options), Impl::system_count(b), A.block.boundary,
                 options, way) {}

  /// What the last solve found, the same on all ranks: rows are those of the whole matrix.
  /// Collective; waits for `exec` and for the other ranks.
  Status status(const Exec& exec) const { return m_solver.status(exec); }

  /// Rows of this rank, the number of the first one, and rows of all ranks.
  std::int64_t size() const { return m_solver.blocks().rows(); }
  std::int64_t first_row() const { return m_solver.blocks().first(); }
  std::int64_t total_size() const { return m_solver.blocks().total(); }
  /// Systems that it solves at a time.
  std::int64_t count() const { return m_solver.count(); }
  const Options& options() const { return m_solver.options(); }
  /// Memory held by this rank, without copies on the host of what a device has.
  std::size_t bytes() const { return m_solver.bytes(); }

  /// \private What `solve` runs.
  const Impl::DistributedSolver<T, Exec>& solver() const { return m_solver; }

 private:
  template <class, ExecutionSpace>
  friend class DistributedPlan;
  static constexpr const char* function = "Trikkos::DistributedWorkspace";

  explicit DistributedWorkspace(const Impl::DistributedSolver<T, Exec>& solver)
      : m_solver(solver) {}

  template <class Matrix, class B>
  static Impl::RowBlocks blocks(const Distributed<Matrix>& A, const B& b, const Options& options) {
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::DistributedWorkspace", Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::DistributedWorkspace", "A", Exec, Matrix);
    TRIKKOS_CHECK_VECTOR_VALUES("Trikkos::DistributedWorkspace", "b", B, Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::DistributedWorkspace", "b", Exec, B);
    const Impl::Communicator comm(function, A.comm);
    const Impl::Fault fault = Impl::attempt([&] {
      Impl::check_distributed_options(function, options);
      Impl::check_matrix(function, A.block);
      Impl::check_rhs(function, A.block, b);
    });
    return {function,
            comm,
            fault,
            Impl::row_count(A.block.diag),
            {Impl::common_scalar<T>(),
             {"the number of systems of b", Impl::system_count(b)},
             {"the boundary of A (0: open, 1: periodic)",
              static_cast<std::int64_t>(A.block.boundary)}}};
  }

  Impl::DistributedSolver<T, Exec> m_solver;
};

template <class Exec, class Matrix, class B>
DistributedWorkspace(const Exec&, const Distributed<Matrix>&, const B&, const Options& = {},
                     const Impl::RootWay& = {})
    -> DistributedWorkspace<typename Matrix::value_type, Exec>;

}  // namespace Trikkos

#endif
