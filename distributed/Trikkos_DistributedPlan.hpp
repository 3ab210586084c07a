// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_DISTRIBUTEDPLAN_HPP
#define TRIKKOS_DISTRIBUTEDPLAN_HPP

#include <Trikkos_DistributedWorkspace.hpp>
#include <Trikkos_Plan.hpp>

namespace Trikkos {

/// A distributed matrix, or many, kept for many solves: a copy of its values, 3 words a row, beside
/// a DistributedWorkspace. No factors are kept, a solve costs what it costs without a plan.
///
///   Trikkos::DistributedPlan plan(exec, A, options, rhs_count);  // collective
///   Trikkos::solve(exec, plan, b, x);                            // collective, no allocation
///   plan.update(exec, A);                                        // new values; no allocation
///
/// Copies share the memory; it serves one solve at a time. The last one goes as that of a
/// DistributedWorkspace.
template <class T, ExecutionSpace Exec>
class DistributedPlan {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// For `rhs_count` right-hand sides at a time, exactly, of one matrix; many matrices have one
  /// each. Collective; allocates; asynchronous on `exec` but for that.
  /// \throws std::invalid_argument on all ranks, as DistributedWorkspace
  template <class Matrix>
  DistributedPlan(const Exec& exec, const Distributed<Matrix>& A, const Options& options = {},
                  std::int64_t rhs_count = 1, const Impl::RootWay& way = {})
      : m_work(Impl::DistributedSolver<T, Exec>(
            function, exec, blocks(A, options, rhs_count),
            Matrix::rank() == 1 ? rhs_count : Impl::system_count(A.block.diag), A.block.boundary,
            options, way)),
        m_matrices(Matrix::rank() == 1 ? 1 : count()) {
    Impl::agree(m_work.solver().blocks().comm(), Impl::attempt([&] { allocate(exec); }));
    copy(exec, A.block);
  }

  /// New values for matrices of the same size, number and boundary. On each rank by itself, without
  /// any message; no allocation; asynchronous.
  /// \throws std::invalid_argument, on this rank, where one of these differs
  template <class Matrix>
  void update(const Exec& exec, const Distributed<Matrix>& A) const {
    constexpr auto called = "Trikkos::DistributedPlan::update";
    check_types<Matrix>();
    Impl::check_matrix(called, A.block);
    Impl::expect_extent(called, "A", "rows", Impl::row_count(A.block.diag), size(), "the plan's A");
    Impl::expect_extent(called, "A", "systems", Impl::system_count(A.block.diag), m_matrices,
                        "the plan's A");
    if (A.block.boundary != m_work.solver().boundary())
      throw std::invalid_argument(std::string(called) + ": A is " + name(A.block.boundary) +
                                  ", expected " + name(m_work.solver().boundary()) +
                                  " (the plan's A)");
    copy(exec, A.block);
  }

  /// What the last solve found, the same on all ranks. Collective; waits.
  Status status(const Exec& exec) const { return m_work.status(exec); }

  /// Rows of this rank, the number of the first one, and rows of all ranks.
  std::int64_t size() const { return m_work.size(); }
  std::int64_t first_row() const { return m_work.first_row(); }
  std::int64_t total_size() const { return m_work.total_size(); }
  /// Systems that it solves at a time.
  std::int64_t count() const { return m_work.count(); }
  const Options& options() const { return m_work.options(); }
  std::size_t bytes() const { return m_work.bytes() + 3 * sizeof(T) * m_diag.size(); }

  /// \private
  const Impl::DistributedSolver<T, Exec>& solver() const { return m_work.solver(); }
  /// \private The copy, for all systems.
  Impl::BlockSystems<T> block() const {
    Impl::BlockSystems<T> r =
        solver().block(Tridiagonal{m_lower, m_diag, m_upper, solver().boundary()});
    if (m_matrices == 1)
      for (std::int64_t& stride : r.stride) stride = 0;
    return r;
  }

 private:
  using Band = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;
  static constexpr const char* function = "Trikkos::DistributedPlan";

  template <class Matrix>
  static void check_types() {
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::DistributedPlan", Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::DistributedPlan", "A", Exec, Matrix);
    static_assert(std::is_same_v<typename Matrix::value_type, T>,
                  "Trikkos::DistributedPlan: A must have the value type of the plan");
  }
  template <class Matrix>
  static Impl::RowBlocks blocks(const Distributed<Matrix>& A, const Options& options,
                                std::int64_t rhs_count) {
    check_types<Matrix>();
    const Impl::Communicator comm(function, A.comm);
    const Impl::Fault fault = Impl::attempt([&] {
      Impl::check_distributed_options(function, options);
      Impl::check_matrix(function, A.block);
      Impl::check_count(function, "rhs_count", rhs_count);
    });
    const bool is_one = Matrix::rank() == 1;
    return {function,
            comm,
            fault,
            Impl::row_count(A.block.diag),
            {Impl::common_scalar<T>(),
             {is_one ? "rhs_count" : "the number of systems of A",
              is_one ? rhs_count : Impl::system_count(A.block.diag)},
             {"the boundary of A (0: open, 1: periodic)",
              static_cast<std::int64_t>(A.block.boundary)}}};
  }
  void allocate(const Exec& exec) {
    const auto band = [&](const char* name) {
      const std::string label = std::string("Trikkos::DistributedPlan::") + name;
      return Band(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), m_matrices, size());
    };
    m_lower = band("lower");
    m_diag = band("diag");
    m_upper = band("upper");
  }
  template <class Matrix>
  void copy(const Exec& exec, const Matrix& A) const {
    Impl::BlockSystems<T> from = solver().block(A);
    from.first.conjugated = false;
    const Impl::CopyRow<T, 1, Impl::BlockSystems<T>> kernel{
        from, {Impl::vectors<T>(m_lower), Impl::vectors<T>(m_diag), Impl::vectors<T>(m_upper)}};
    Kokkos::parallel_for("Trikkos::DistributedPlan::update", Impl::range(exec, m_matrices * size()),
                         kernel);
  }

  DistributedWorkspace<T, Exec> m_work;
  std::int64_t m_matrices;
  Band m_lower, m_diag, m_upper;
};

template <class Exec, class Matrix>
DistributedPlan(const Exec&, const Distributed<Matrix>&, const Options& = {}, std::int64_t = 1,
                const Impl::RootWay& = {}) -> DistributedPlan<typename Matrix::value_type, Exec>;

}  // namespace Trikkos

#endif
