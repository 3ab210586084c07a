// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_VARIABLEBATCH_HPP
#define TRIKKOS_VARIABLEBATCH_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Solve.hpp>
#include <algorithm>
#include <vector>

/// \file
/// Systems of different sizes, one behind the other in memory.

namespace Trikkos {

namespace Impl {

/// Where systems begin and end, a byte a row.
struct EndsOfSystem {
  static constexpr unsigned char first = 1, last = 2;
};

/// Marks the ends of every system.
template <class Offsets, class Marks>
struct MarkEnds {
  struct Clear {};

  Offsets offsets;
  Marks marks;

  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t i) const { marks(i) = 0; }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t begin = offsets(k), end = offsets(k + 1);
    if (begin == end) return;
    marks(begin) |= EndsOfSystem::first;
    marks(end - 1) |= EndsOfSystem::last;
  }
};

/// The bands of one matrix that has all systems for its diagonal blocks, and maybe a copy of b.
template <class T>
struct SeparateSystems {
  Bands<T> A;
  const unsigned char* marks;
  T *lower, *upper;
  Strided<const T> b;
  T* kept;  // or null

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    // what lies outside a system is not read
    lower[i] = marks[i] & EndsOfSystem::first ? T(0) : A.band[0][i];
    upper[i] = marks[i] & EndsOfSystem::last ? T(0) : A.band[2][i];
    if (kept != nullptr) kept[i] = b[i];
  }
};

/// What a batch of systems of different sizes leaves behind for its Status.
struct VariableReport {
  static constexpr std::int64_t none = Diagnosis::clear;
  std::int64_t suspect;  // whether any x is not finite
  std::int64_t worst;    // 4 row + reason, the least
};
struct ResetVariableReport {
  VariableReport* report;
  KOKKOS_INLINE_FUNCTION void operator()(int) const { *report = {0, VariableReport::none}; }
};

template <class T>
struct FindNotFinite {
  Strided<const T> x;
  VariableReport* report;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (!(finite_probe(x[i]) == 0)) report->suspect = 1;  // so does every writer
  }
};

/// Solves each system by itself, a thread each, if one has spoilt the others: they share rotations,
/// and Inf times zero is not zero.
template <class T, class Offsets>
struct SolveEachAgain {
  Offsets offsets;
  Bands<T> A;  // the diagonal blocks
  Strided<const T> b;
  Strided<T> x;
  Options options;
  char* memory;
  VariableReport* report;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    if (report->suspect == 0) return;
    const std::int64_t begin = offsets(k), n = offsets(k + 1) - begin;
    if (n == 0) return;
    Bands<T> block = A;
    block.n = n;
    for (auto& band : block.band) band = band.from(begin);
    const Strided<const T> right = b.from(begin);
    const Strided<T> left = x.from(begin);
    const ThreadMember thread{memory + words_before(begin, k) * sizeof(T),
                              thread_memory_bytes<T>(n, options)};
    std::int64_t bad = FormsOf<Algorithm::segmented>::solve_in_team<T>(thread, block, right, left,
                                                                       options_of_thread(options));
    for (std::int64_t i = 0; i < n; ++i) {
      const auto probe = finite_probe(block.lower(i)) + finite_probe(block.diag(i)) +
                         finite_probe(block.upper(i)) + finite_probe(right[i]);
      if (!(probe == 0)) return lower(Status::Reason::not_finite, begin + i);
      if (bad < 0 && !(finite_probe(left[i]) == 0)) bad = i;
    }
    if (bad >= 0) lower(Status::Reason::singular, begin + bad);
  }
  /// Of memory, for all systems before the k-th.
  static KOKKOS_INLINE_FUNCTION std::int64_t words_before(std::int64_t rows, std::int64_t k) {
    // 3 words a row and 22 for each partition, of which each system has one more at most
    return 4 * rows + 64 * k;
  }

 private:
  KOKKOS_INLINE_FUNCTION void lower(Status::Reason reason, std::int64_t row) const {
    Kokkos::atomic_min(&report->worst, 4 * row + static_cast<int>(reason));
  }
};

}  // namespace Impl

/// Memory for solves with many open systems of different sizes, whose rows lie one behind the other
/// in the same arrays: system k has rows [offsets(k), offsets(k+1)).
///
///   Trikkos::VariableBatch<double, Exec> batch(exec, offsets, options);
///   Trikkos::solve(exec, batch, A, b, x);  // A, b, x of rank 1, all rows; no allocation, no fence
///   if (!batch.status(exec).ok()) ...      // waits
///
/// All systems are solved at once as the diagonal blocks of one matrix, by `segmented`, so that
/// tiny ones cost no more a row than huge ones: 113 bytes a row in double, 129 where x is b. If one
/// of them has no finite solution, each is solved again by itself, which is slow, and spoils no
/// other. What is before the first and behind the last entry of a system's lower and upper band is
/// not read.
///
/// A handle, like a Workspace, and serves one solve at a time.
template <class T, ExecutionSpace Exec>
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
        m_lower(allocate(exec, "Trikkos::VariableBatch::lower", rows())),
        m_upper(allocate(exec, "Trikkos::VariableBatch::upper", rows())),
        m_kept(allocate(exec, "Trikkos::VariableBatch::rhs", rows())),
        m_memory(allocate(exec, "Trikkos::VariableBatch::memory",
                          Again::words_before(rows(), systems()))),
        m_report(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                    std::string("Trikkos::VariableBatch::report"))),
        m_marks(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                   std::string("Trikkos::VariableBatch::marks")),
                rows()) {
    using Mark = Impl::MarkEnds<DeviceOffsets, Marks>;
    using Clear = typename Mark::Clear;
    Kokkos::parallel_for("Trikkos::VariableBatch::reset", Impl::range(exec, 1),
                         Impl::ResetVariableReport{m_report.data()});
    Kokkos::parallel_for("Trikkos::VariableBatch::clear", Impl::range<Clear>(exec, rows()),
                         Mark{m_device_offsets, m_marks});
    Kokkos::parallel_for("Trikkos::VariableBatch::mark", Impl::range(exec, systems()),
                         Mark{m_device_offsets, m_marks});
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
  template <class... Views, class B, class X>
  void run(const Exec& exec, const Tridiagonal<Views...>& A, const B& b, const X& x) const {
    const bool in_place = static_cast<const void*>(b.data()) == static_cast<const void*>(x.data());
    const auto right = Impl::strided<const T>(b);
    const auto left = Impl::strided<T>(x);
    Kokkos::parallel_for("Trikkos::VariableBatch::reset", Impl::range(exec, 1),
                         Impl::ResetVariableReport{m_report.data()});
    Kokkos::parallel_for(
        "Trikkos::VariableBatch::separate", Impl::range(exec, rows()),
        Impl::SeparateSystems<T>{Impl::bands(A), m_marks.data(), m_lower.data(), m_upper.data(),
                                 right, in_place ? m_kept.data() : nullptr});
    Impl::Bands<T> blocks = Impl::bands(A);
    blocks.band[0] = {m_lower.data(), 1};
    blocks.band[2] = {m_upper.data(), 1};
    m_work.run(exec, Impl::Systems<T>(blocks, 1), {right.data, 0, right.stride},
               {left.data, 0, left.stride});
    Kokkos::parallel_for("Trikkos::VariableBatch::check", Impl::range(exec, rows()),
                         Impl::FindNotFinite<T>{{left.data, left.stride}, m_report.data()});
    blocks.scale_rows = options().scaling() == Scaling::rows;
    Kokkos::parallel_for(
        "Trikkos::VariableBatch::solve_each_again", Impl::range(exec, systems()),
        Again{m_device_offsets, blocks, in_place ? Impl::Strided<const T>{m_kept.data(), 1} : right,
              left, options(), reinterpret_cast<char*>(m_memory.data()), m_report.data()});
  }

 private:
  using DeviceOffsets = Kokkos::View<const std::int64_t*, typename Exec::memory_space>;
  using Marks = Kokkos::View<unsigned char*, typename Exec::memory_space>;
  using Vector = Kokkos::View<T*, typename Exec::memory_space>;
  using Again = Impl::SolveEachAgain<T, DeviceOffsets>;
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
  Workspace<T, Exec> m_work;
  Vector m_lower, m_upper, m_kept, m_memory;
  Kokkos::View<Impl::VariableReport, typename Exec::memory_space> m_report;
  Marks m_marks;
};

/// Solves all systems of a VariableBatch: asynchronous, no allocation, no fence.
///
/// \param A, b, x  of rank 1, with the rows of all systems; x may be b
/// \throws std::invalid_argument for extents that do not fit, or a periodic A
template <ExecutionSpace Exec, class T, class... Views, class B, class X>
void solve(const Exec& exec, const VariableBatch<T, Exec>& batch, const Tridiagonal<Views...>& A,
           const B& b, const X& x) {
  using Matrix = Tridiagonal<Views...>;
  TRIKKOS_CHECK_SYSTEM("Trikkos::solve", Exec, Matrix, B, X);
  static_assert(std::is_same_v<typename Matrix::value_type, T>,
                "Trikkos::solve: A must have the value type of the batch");
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
