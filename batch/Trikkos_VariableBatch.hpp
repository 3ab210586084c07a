// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_VARIABLEBATCH_HPP
#define TRIKKOS_VARIABLEBATCH_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Solve.hpp>
#include <algorithm>
#include <impl/Trikkos_SeparateSystems.hpp>
#include <vector>

/// \file
/// Systems of different sizes, one behind the other in memory.

namespace Trikkos {

/// Memory for solves with many open systems of different sizes, whose rows lie one behind the other
/// in the same arrays: system k has rows [offsets(k), offsets(k+1)).
///
///   Trikkos::VariableBatch<double, Exec> batch(exec, offsets, options);
///   Trikkos::solve(exec, batch, A, b, x);  // A, b, x of rank 1, all rows; no allocation, no fence
///   if (!batch.status(exec).ok()) ...      // waits
///
/// All systems are solved at once as the diagonal blocks of one matrix, by `segmented`, so that
/// tiny ones cost no more a row than huge ones: 113 bytes a row in double, 177 of pentadiagonal
/// matrices, and 16 more where x is b. If one of them has no finite solution, each is solved again
/// by itself, which is slow, and spoils no other. Entries outside a system are not read.
///
/// A handle, like a Workspace, and serves one solve at a time.
///
/// \tparam half_bandwidth  1 for tridiagonal matrices, 2 for pentadiagonal ones
template <class T, ExecutionSpace Exec, int half_bandwidth = 1>
class VariableBatch {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// Allocates and waits.
  /// \param offsets  integers of rank 1, one more than systems: 0, then not decreasing; any memory
  /// \param options  of `automatic` or `segmented`, without transposes
  /// \throws std::invalid_argument for anything else
  template <ViewType Offsets>
  VariableBatch(const Exec& exec, const Offsets& offsets, const Options& options = {})
      : m_offsets(host_offsets(offsets)),
        m_device_offsets(copy_offsets(exec)),
        m_work(exec, m_offsets.back(), 1, checked(options)),
        m_off(allocate(exec, "Trikkos::VariableBatch::off", 2 * half_bandwidth * rows())),
        m_kept(allocate(exec, "Trikkos::VariableBatch::rhs", rows())),
        m_memory(allocate(exec, "Trikkos::VariableBatch::memory",
                          Again::words_before(rows(), systems()))),
        m_report(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                    std::string("Trikkos::VariableBatch::report"))),
        m_distances(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                       std::string("Trikkos::VariableBatch::distances")),
                    rows()) {
    using Measure = Impl::MeasureDistances<DeviceOffsets, half_bandwidth>;
    const Measure measure{m_device_offsets, m_distances.data()};
    Impl::launch_one(exec, "Trikkos::VariableBatch::reset",
                     Impl::ResetVariableReport{m_report.data()});
    Kokkos::parallel_for("Trikkos::VariableBatch::clear",
                         Impl::range<typename Measure::Clear>(exec, rows()), measure);
    Kokkos::parallel_for("Trikkos::VariableBatch::measure", Impl::range(exec, systems()), measure);
    exec.fence("Trikkos::VariableBatch");
  }

  std::int64_t systems() const { return static_cast<std::int64_t>(m_offsets.size()) - 1; }
  /// Of all systems.
  std::int64_t rows() const { return m_offsets.back(); }
  const Options& options() const { return m_work.options(); }

  /// What the last solve found. Waits for `exec`.
  Status status(const Exec& exec) const {
    Status s = m_work.status(exec);
    const auto report = Impl::fetch(exec, m_report.data(), "Trikkos::VariableBatch::status");
    if (report.suspect != 0) {
      s = {.backward_error = s.backward_error};
      if (report.worst != Impl::VariableReport::none) {
        s.reason = static_cast<Status::Reason>(report.worst % 4);
        s.row = report.worst / 4;
      }
    }
    if (!s.ok() && s.row >= 0) {
      const auto behind = std::upper_bound(m_offsets.begin(), m_offsets.end(), s.row);
      s.system = behind - m_offsets.begin() - 1;
      s.row -= m_offsets[s.system];
      if (systems() == 1) s.system = -1;
    }
    return s;
  }

  /// \private What `solve` runs.
  template <class Matrix, class B, class X>
  void run(const Exec& exec, const Matrix& A, const B& b, const X& x) const {
    constexpr int W = half_bandwidth;
    const bool in_place = static_cast<const void*>(b.data()) == static_cast<const void*>(x.data());
    const auto right = Impl::strided<const T>(b);
    const auto left = Impl::strided<T>(x);
    Impl::Bands<T, W> blocks = Impl::bands(A);
    Impl::SeparateSystems<T, W> separate{
        blocks, m_distances.data(), {}, right, in_place ? m_kept.data() : nullptr};
    for (int j = 0; j < 2 * W; ++j) {
      const int band = j < W ? j : j + 1;
      separate.off[band] = m_off.data() + j * rows();
      blocks.band[band] = {separate.off[band], 1};
    }
    Impl::launch_one(exec, "Trikkos::VariableBatch::reset",
                     Impl::ResetVariableReport{m_report.data()});
    Kokkos::parallel_for("Trikkos::VariableBatch::separate", Impl::range(exec, rows()), separate);
    m_work.run(exec, Impl::Systems<T, W>(blocks, 1), {right.data, 0, right.stride},
               {left.data, 0, left.stride});
    Kokkos::parallel_for("Trikkos::VariableBatch::check", Impl::range(exec, rows()),
                         Impl::FindNotFinite<T>{{left.data, left.stride}, m_report.data()});
    blocks.scale_rows = options().scaling() == Scaling::rows;
    Kokkos::parallel_for(
        "Trikkos::VariableBatch::solve_each_again", Impl::range(exec, systems()),
        Again{m_device_offsets, blocks, in_place ? Impl::Strided<const T>{m_kept.data(), 1} : right,
              left, Options(options()).partition_size(0), reinterpret_cast<char*>(m_memory.data()),
              m_report.data()});
  }

 private:
  using DeviceOffsets = Kokkos::View<const std::int64_t*, typename Exec::memory_space>;
  using Distances = Kokkos::View<Impl::Distance<half_bandwidth>*, typename Exec::memory_space>;
  using Vector = Kokkos::View<T*, typename Exec::memory_space>;
  using Again = Impl::SolveEachAgain<T, half_bandwidth, DeviceOffsets>;
  static constexpr const char* function = "Trikkos::VariableBatch";

  static Vector allocate(const Exec& exec, const char* label, std::int64_t words) {
    return Vector(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(label)), words);
  }
  template <class Offsets>
  static std::vector<std::int64_t> host_offsets(const Offsets& offsets) {
    static_assert(Offsets::rank() == 1 && std::is_integral_v<typename Offsets::value_type>,
                  "Trikkos::VariableBatch: offsets must be a View of integers of rank 1");
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, offsets);
    const auto refuse = [](const std::string& what) {
      throw std::invalid_argument(std::string(function) + ": " + what);
    };
    if (host.extent(0) == 0) refuse("offsets has 0 entries, expected one more than systems");
    std::vector<std::int64_t> r;
    for (std::size_t k = 0; k < host.extent(0); ++k) {
      const auto offset = static_cast<std::int64_t>(host(k));
      const std::string entry = "offsets(" + std::to_string(k) + ") is " + std::to_string(offset);
      if (k == 0 && offset != 0) refuse(entry + ", expected 0");
      if (k > 0 && offset < r.back())
        refuse(entry + ", expected at least " + std::to_string(r.back()) + " as the one before");
      r.push_back(offset);
    }
    return r;
  }
  static const Options& checked(const Options& options) {
    const bool is_segmented =
        options.algorithm() == Algorithm::automatic || options.algorithm() == Algorithm::segmented;
    if (!is_segmented)
      throw std::invalid_argument(std::string(function) + ": algorithm is " +
                                  name(options.algorithm()) + ", expected automatic or segmented");
    if (options.transpose() != Transpose::none)
      throw std::invalid_argument(std::string(function) + ": transpose is given, expected none");
    return options;
  }
  DeviceOffsets copy_offsets(const Exec& exec) const {
    const Kokkos::View<std::int64_t*, typename Exec::memory_space> r(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                           std::string("Trikkos::VariableBatch::offsets")),
        m_offsets.size());
    Kokkos::deep_copy(
        exec, r,
        Kokkos::View<const std::int64_t*, Kokkos::HostSpace,
                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>(m_offsets.data(), m_offsets.size()));
    return r;
  }

  std::vector<std::int64_t> m_offsets;
  DeviceOffsets m_device_offsets;
  Workspace<T, Exec, half_bandwidth> m_work;
  Vector m_off, m_kept, m_memory;
  Kokkos::View<Impl::VariableReport, typename Exec::memory_space> m_report;
  Distances m_distances;
};

/// Solves all systems of a VariableBatch: asynchronous, no allocation, no fence.
///
/// \param A, b, x  of rank 1, with the rows of all systems; x may be b
/// \throws std::invalid_argument for extents that do not fit, or a periodic A
template <ExecutionSpace Exec, class T, int half_bandwidth, BandMatrix Matrix, class B, class X>
void solve(const Exec& exec, const VariableBatch<T, Exec, half_bandwidth>& batch, const Matrix& A,
           const B& b, const X& x) {
  TRIKKOS_CHECK_SYSTEM("Trikkos::solve", Exec, Matrix, B, X);
  static_assert(std::is_same_v<typename Matrix::value_type, T>,
                "Trikkos::solve: A must have the value type of the batch");
  static_assert(Matrix::half_bandwidth == half_bandwidth,
                "Trikkos::solve: A must have as many diagonals as the batch is for");
  static_assert(Matrix::rank() == 1 && B::rank() == 1,
                "Trikkos::solve: A, b and x must have rank 1 for systems of different sizes");
  constexpr auto function = "Trikkos::solve";
  Impl::check_matrix(function, A);
  Impl::expect_extent(function, "A", "rows", Impl::row_count(A.diag), batch.rows(), "the batch");
  Impl::check_rhs(function, A, b);
  Impl::check_solution(function, b, x);
  if (A.boundary != Boundary::open)
    throw std::invalid_argument(std::string(function) + ": A is " + name(A.boundary) +
                                ", expected open (systems of different sizes)");
  const Kokkos::Profiling::ScopedRegion region(function);
  batch.run(exec, A, b, x);
}

}  // namespace Trikkos

#endif
