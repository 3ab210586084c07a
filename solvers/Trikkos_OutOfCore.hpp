// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_OUTOFCORE_HPP
#define TRIKKOS_OUTOFCORE_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/out_of_core/Trikkos_OutOfCoreSolver.hpp>

namespace Trikkos {

/// Solves tridiagonal systems that lie in the memory of the host, of any size, in chunks that fit a
/// device, by `segmented`: backward stable for every nonsingular A, for each row by itself.
///
///   Trikkos::OutOfCore out(exec, A, b, {.memory_limit = std::size_t(8) << 30});  // allocates
///   Trikkos::Status s = Trikkos::solve(out, A, b, x);   // waits: x is there, s tells how it went
///
/// Chunks take turns on some execution space instances, so that copies in both directions and
/// kernels overlap. A chunk is a block of rows of a system, or, where systems fit, some of them. A
/// block of rows is one more level of the tree of partitions, as a rank of Trikkos::mpi is: a first
/// pass reduces each to two rows, one thread a system chains these, a second pass, from the last
/// chunk to the first, solves the rows of each from the values around them.
///
/// **Over the link**, in double: 64 bytes a row to the device, two passes over A and b, less 32 for
/// those rows of which a copy has stayed there since the first pass, as many as fit (all of them
/// where `memory_limit` allows); 8 back. Whole systems: 32 and 8. With one A for many right-hand
/// sides A's share is divided by those that go together. `traffic()` tells what the last solve
/// took.
///
/// **Host memory.** Views of any layout, pinned or pageable. The device copies by itself what is
/// pinned (Kokkos::SharedHostPinnedSpace, or registered with CUDA) and contiguous; all else goes
/// through pinned memory of this object, as much as is in a chunk for each instance, allocated when
/// first needed, copied by threads of Kokkos::DefaultHostExecutionSpace. So pageable memory costs
/// the host's threads as much again.
///
/// **Device memory** is at most `OutOfCoreOptions::memory_limit`. On an execution space of the host
/// the same is done by copies within its memory, with one instance: there is nothing to win.
///
/// Options: `partition_size`, `scaling` by rows or none. It serves one solve at a time.
template <class T, ExecutionSpace Exec>
class OutOfCore {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// For matrices of A's size and as many right-hand sides as b has. Allocates; reads no values.
  ///
  /// \param exec  where to solve: instances of its device are made, `limits.instances` of them
  /// \throws std::invalid_argument for bad shapes or options, or a memory limit too low for any
  ///         chunks
  template <TridiagonalMatrix Matrix, class B>
  OutOfCore(const Exec& exec, const Matrix& A, const B& b, const OutOfCoreOptions& limits = {},
            const Options& options = {})
      : OutOfCore(instances(exec, limits), A, b, limits, options) {}

  /// With instances of the user's, which should be able to work side by side, instead of
  /// `limits.instances`.
  template <TridiagonalMatrix Matrix, class B>
  OutOfCore(const std::vector<Exec>& instances, const Matrix& A, const B& b,
            const OutOfCoreOptions& limits = {}, const Options& options = {})
      : m_solver(instances, chunks(instances, A, b, limits, options), A.boundary, options) {}

  std::int64_t size() const { return m_solver.chunks().n; }
  /// Systems that it solves.
  std::int64_t count() const { return m_solver.chunks().count; }
  /// Of a chunk, at most.
  std::int64_t chunk_rows() const { return m_solver.chunks().rows; }
  std::int64_t chunk_systems() const { return m_solver.chunks().systems; }
  /// In all; and those that the device has memory for.
  std::int64_t chunk_count() const {
    return m_solver.chunks().groups() * m_solver.chunks().blocks();
  }
  std::int64_t resident_chunks() const { return m_solver.chunks().slots; }
  /// Of the last solve.
  LinkTraffic traffic() const { return m_solver.traffic(); }
  const Options& options() const { return m_solver.options(); }
  /// Device memory held; and pinned memory of the host.
  std::size_t bytes() const { return m_solver.bytes(); }
  std::size_t staging_bytes() const { return m_solver.staging_bytes(); }

  /// \private What `solve` runs.
  Impl::OutOfCoreSolver<T, Exec>& solver() { return m_solver; }

 private:
  static constexpr const char* function = "Trikkos::OutOfCore";

  static std::vector<Exec> instances(const Exec& exec, const OutOfCoreOptions& limits) {
    check(limits);
    if constexpr (Impl::is_host_v<Exec>)
      return {exec};  // several would divide its threads
    else
      return Kokkos::Experimental::partition_space(
          exec, std::vector<double>(static_cast<std::size_t>(limits.instances), 1));
  }
  static void check(const OutOfCoreOptions& limits) {
    const auto at_least = [](const char* what, std::int64_t given, std::int64_t least) {
      if (given < least)
        throw std::invalid_argument(std::string(function) + ": " + what + " is " +
                                    std::to_string(given) + ", expected at least " +
                                    std::to_string(least));
    };
    at_least("chunk_rows", limits.chunk_rows, 0);
    at_least("instances", limits.instances, 1);
  }
  template <class Matrix, class B>
  static Impl::Chunks chunks(const std::vector<Exec>& instances, const Matrix& A, const B& b,
                             const OutOfCoreOptions& given, const Options& options) {
    using Host = Kokkos::DefaultHostExecutionSpace;
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::OutOfCore", Matrix);
    TRIKKOS_CHECK_VECTOR_VALUES("Trikkos::OutOfCore", "b", B, Matrix);
    static_assert(Impl::is_accessible_v<Host, Matrix> && Impl::is_accessible_v<Host, B>,
                  "Trikkos::OutOfCore: A and b must be accessible from the host");
    static_assert(std::is_same_v<typename Matrix::value_type, T>,
                  "Trikkos::OutOfCore: A must have the value type of the object");
    OutOfCoreOptions limits = given;
    limits.instances = static_cast<int>(instances.size());
    check(limits);
    Impl::check_options(function, options);
    Impl::check_block_options(function, options, "A goes in chunks");
    Impl::check_matrix(function, A);
    Impl::check_rhs(function, A, b);
    return Impl::ChunkChoice<T, Exec>(function, Impl::row_count(A.diag), Impl::system_count(b),
                                      Matrix::rank() == 1, options, limits)();
  }

  Impl::OutOfCoreSolver<T, Exec> m_solver;
};

template <class Exec, TridiagonalMatrix Matrix, class B>
OutOfCore(const Exec&, const Matrix&, const B&, const OutOfCoreOptions& = {}, const Options& = {})
    -> OutOfCore<typename Matrix::value_type, Exec>;
template <class Exec, TridiagonalMatrix Matrix, class B>
OutOfCore(const std::vector<Exec>&, const Matrix&, const B&, const OutOfCoreOptions& = {},
          const Options& = {}) -> OutOfCore<typename Matrix::value_type, Exec>;

/// Solves A x = b, all in memory of the host, and waits.
///
/// \param out  made for matrices of A's size, as many right-hand sides, and A's boundary
/// \param A    Tridiagonal of n rows, rank 1, or that of b, any layout
/// \param b    right-hand side, rank 1 (n), or many, rank 2 (system, n) or 3 (system, system, n)
/// \param x    solution, shaped like b; may be b
/// \return     how it went, as `Workspace::status`
/// \throws std::invalid_argument for extents that do not fit
template <class T, class Exec, TridiagonalMatrix Matrix, class B, class X>
[[nodiscard]] Status solve(OutOfCore<T, Exec>& out, const Matrix& A, const B& b, const X& x) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  constexpr auto function = "Trikkos::solve";
  TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::solve", Matrix);
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  static_assert(Impl::is_accessible_v<Host, Matrix> && Impl::is_accessible_v<Host, B> &&
                    Impl::is_accessible_v<Host, X>,
                "Trikkos::solve: A, b and x must be accessible from the host (OutOfCore)");
  static_assert(std::is_same_v<typename Matrix::value_type, T>,
                "Trikkos::solve: A must have the value type of the OutOfCore");
  const Kokkos::Profiling::ScopedRegion region(function);
  const auto& solver = out.solver();
  Impl::check_matrix(function, A);
  Impl::expect_extent(function, "A", "rows", Impl::row_count(A.diag), out.size(), "the OutOfCore");
  Impl::check_rhs(function, A, b);
  Impl::expect_extent(function, "b", "systems", Impl::system_count(b), out.count(),
                      "the OutOfCore");
  Impl::check_solution(function, b, x);
  const std::int64_t matrices = solver.chunks().is_shared ? 1 : out.count();
  Impl::expect_extent(function, "A", "systems", Impl::system_count(A.diag), matrices,
                      "the OutOfCore");
  if (A.boundary != solver.boundary())
    throw std::invalid_argument(std::string(function) + ": A is " + name(A.boundary) +
                                ", expected " + name(solver.boundary()) + " (the OutOfCore)");
  return out.solver().solve(
      {{Impl::array_on_host<const T>(A.lower), Impl::array_on_host<const T>(A.diag),
        Impl::array_on_host<const T>(A.upper)},
       Impl::array_on_host<const T>(b),
       Impl::array_on_host<T>(x)});
}

}  // namespace Trikkos

#endif
