// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_WORKSPACE_HPP
#define TRIKKOS_WORKSPACE_HPP

#include <Trikkos_Options.hpp>
#include <Trikkos_Status.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <algorithm>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_ColumnScaling.hpp>
#include <impl/Trikkos_Refinement.hpp>
#include <impl/pcr/Trikkos_PcrCall.hpp>
#include <impl/segmented/Trikkos_Segmented.hpp>
#include <impl/spike/Trikkos_Spike.hpp>
#include <impl/thomas/Trikkos_ThomasCall.hpp>
#include <variant>

namespace Trikkos {

namespace Impl {
struct NoWork {
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member&) const {}
};

/// A copy of b for `Options::verify` and `refine`: x may be the same View.
template <class T>
struct KeepRhs {
  Columns<const T> from;
  Columns<T> to;
  std::int64_t n;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const auto [k, row] = split_index(i, n);
    to[k][row] = from[k][row];
  }
};
}  // namespace Impl

/// The choice behind `Algorithm::automatic`: the fastest algorithm that is stable for every
/// nonsingular matrix. Today that is `segmented` at every size, as it is the only stable one. At
/// n = 1000 it beats one thread's LAPACK with warm caches only (perf_tests/README.md).
constexpr Algorithm choose_algorithm(std::int64_t /*n*/) { return Algorithm::segmented; }

/// Memory for solves with matrices of one size, allocated once. The options belong to it.
///
///   Trikkos::Workspace work(exec, A, b, options);
///   Trikkos::solve(exec, work, A, b, x);       // no allocation, no fence, on this exec
///   if (!work.status(exec).ok()) ...           // waits
///
/// A Workspace is a handle, like a View: copies share the memory. It serves one solve at a time; it
/// keeps neither the matrix nor the execution space instance. Other instances may solve with it,
/// but Kokkos' CUDA backend allocates for each of them when it runs its first team kernel.
template <class T, ExecutionSpace Exec>
class Workspace {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// For matrices of A's size and any number of right-hand sides: as many as b has, or as it takes
  /// to fill the machine, are solved at a time, and `bytes()` grows with them. Allocates; reads no
  /// values.
  /// \throws std::invalid_argument for bad shapes or options
  template <class View, class B>
  Workspace(const Exec& exec, const Tridiagonal<View>& A, const B& b, const Options& options = {})
      : Workspace(exec, (check(A, b), static_cast<std::int64_t>(A.diag.extent(0))),
                  Impl::column_count(b), options) {}

  /// The same from numbers.
  Workspace(const Exec& exec, std::int64_t n, std::int64_t rhs_count, const Options& options = {});

  /// What the last solve with this workspace found. Waits for `exec`.
  Status status(const Exec& exec) const;

  std::int64_t size() const { return m_n; }
  const Options& options() const { return m_options; }
  /// The algorithm that solves; never `automatic`.
  Algorithm algorithm() const {
    if (std::holds_alternative<Spike>(m_method)) return Algorithm::spike;
    if (std::holds_alternative<Pcr>(m_method)) return Algorithm::pcr;
    return std::holds_alternative<Segmented>(m_method) ? Algorithm::segmented : Algorithm::thomas;
  }
  /// Device memory held.
  std::size_t bytes() const {
    return sizeof(T) * (m_storage.extent(0) + m_rhs.extent(0) + m_correction.extent(0) +
                        m_scaled.extent(0)) +
           sizeof(Impl::Real<T>) * m_scale.extent(0) +
           sizeof(Impl::ResidualNorms) * m_norms.extent(0) +
           sizeof(std::int64_t) * m_words.extent(0);
  }

  /// \private What `solve` runs: all right-hand sides, block by block.
  void run(const Exec& exec, const Impl::Bands<T>& A, const Impl::Columns<const T>& b,
           const Impl::Columns<T>& x, std::int64_t rhs_count);

 private:
  using Memory = typename Exec::memory_space;
  using Segmented = Impl::Segmented<T, Exec>;
  using Spike = Impl::Spike<T, Exec>;
  using Pcr = Impl::PcrCall<T, Exec>;
  using Thomas = Impl::ThomasCall<T, Exec>;
  using Method = std::variant<Segmented, Spike, Pcr, Thomas>;

  template <class View, class B>
  static void check(const Tridiagonal<View>& A, const B& b) {
    Impl::check_matrix_type<Exec, Tridiagonal<View>>();
    Impl::check_rhs_type<Exec, Tridiagonal<View>, B>();
    Impl::check_matrix("Trikkos::Workspace", A);
    Impl::check_rhs("Trikkos::Workspace", static_cast<std::int64_t>(A.diag.extent(0)), b);
  }
  static std::int64_t checked(const char* what, std::int64_t count) {
    Impl::check_count("Trikkos::Workspace", what, count);
    return count;
  }
  static const Options& checked(const Options& options) {
    Impl::check_options("Trikkos::Workspace", options);
    return options;
  }
  static Method method(std::int64_t n, const Options& options) {
    const Algorithm chosen =
        options.algorithm() == Algorithm::automatic ? choose_algorithm(n) : options.algorithm();
    if (chosen == Algorithm::spike) return Spike(n, options);
    if (chosen == Algorithm::pcr) return Pcr(n, options);
    if (chosen == Algorithm::thomas) return Thomas(n, options);
    return Segmented(n, options);
  }
  bool scales_columns() const { return m_options.scaling() == Scaling::columns; }
  bool measures() const { return m_options.verify() > 0 || m_options.refine() > 0; }
  void launch(const Exec& exec, const Impl::Bands<T>& A, const Impl::Columns<const T>& b,
              const Impl::Columns<T>& x, std::int64_t count, const Impl::Diagnosis& found,
              bool reset) const {
    std::visit(
        [&](const auto& m) { m.launch(exec, A, b, x, count, m_storage.data(), found, reset); },
        m_method);
    if (scales_columns())
      Kokkos::parallel_for("Trikkos::Workspace::restore_unknowns", rows(exec, count * m_n),
                           Impl::RestoreUnknown<T>{x, m_scale.data(), m_n, found});
  }
  /// A as `Options::scaling` wants it.
  Impl::Bands<T> scaled(const Exec& exec, Impl::Bands<T> A) const {
    A.scale_rows = m_options.scaling() == Scaling::rows;
    if (!scales_columns()) return A;
    T* const bands = m_scaled.data();
    const Impl::ScaleColumn<T> columns{A, bands, bands + m_n, bands + 2 * m_n, m_scale.data()};
    Kokkos::parallel_for("Trikkos::Workspace::scale_columns", rows(exec, m_n), columns);
    return columns.scaled();
  }
  static auto rows(const Exec& exec, std::int64_t count) {
    return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count);
  }
  void reset_diagnosis(const Exec& exec) const {
    Kokkos::parallel_for("Trikkos::Workspace::reset", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                         Impl::ResetDiagnosis{diagnosis()});
  }
  Impl::Diagnosis diagnosis() const { return {m_words.data()}; }

  std::int64_t m_n, m_block = 1;
  Options m_options;
  Method m_method;
  Kokkos::View<T*, Memory> m_storage, m_rhs, m_correction, m_scaled;
  Kokkos::View<Impl::Real<T>*, Memory> m_scale;
  Kokkos::View<std::int64_t[2 * Impl::Diagnosis::words], Memory> m_words;  // x, then correction
  Kokkos::View<Impl::ResidualNorms*, Memory> m_norms;
};

template <class Exec, class View, class B>
Workspace(const Exec&, const Tridiagonal<View>&, const B&, const Options& = {})
    -> Workspace<typename View::non_const_value_type, Exec>;

// Outside the class, so not inline: an `extern template class Workspace<double, Exec>` keeps the
// kernels of all algorithms out of a translation unit.

template <class T, ExecutionSpace Exec>
Workspace<T, Exec>::Workspace(const Exec& exec, std::int64_t n, std::int64_t rhs_count,
                              const Options& options)
    : m_n(checked("n", n)), m_options(checked(options)), m_method(method(n, options)) {
  checked("rhs_count", rhs_count);
  const auto [words, items] = std::visit(
      [](const auto& m) { return std::pair(m.storage_words(), m.parallel_items()); }, m_method);
  // Right-hand sides in flight: enough to fill the device, few enough to keep the memory small.
  const std::int64_t wanted = Impl::is_host_v<Exec> ? 256 : 16384;
  m_block = std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(items, 1), 1,
                                     std::max<std::int64_t>(rhs_count, 1));
  using Kokkos::view_alloc;
  using Kokkos::WithoutInitializing;
  m_storage = decltype(m_storage)(
      view_alloc(exec, WithoutInitializing, "Trikkos::Workspace::storage"), words * m_block);
  m_words =
      decltype(m_words)(view_alloc(exec, WithoutInitializing, "Trikkos::Workspace::diagnosis"));
  const auto allocate = [&](auto& view, const std::string& label, std::int64_t count) {
    view = std::remove_reference_t<decltype(view)>(view_alloc(exec, WithoutInitializing, label),
                                                   count);
  };
  if (measures()) {
    allocate(m_norms, "Trikkos::Workspace::norms", m_block);
    allocate(m_rhs, "Trikkos::Workspace::rhs", m_block * n);
  }
  if (options.refine() > 0) allocate(m_correction, "Trikkos::Workspace::correction", m_block * n);
  if (scales_columns()) {
    allocate(m_scaled, "Trikkos::Workspace::scaled", 3 * n);
    allocate(m_scale, "Trikkos::Workspace::scale", n);
  }
  reset_diagnosis(exec);
  // Kokkos' CUDA backend allocates for a team launch until one has asked for level-1 scratch.
  if constexpr (!Impl::is_host_v<Exec>)
    Kokkos::parallel_for("Trikkos::Workspace::team_scratch",
                         Kokkos::TeamPolicy<Exec>(exec, 1, Impl::coarse_lanes)
                             .set_scratch_size(1, Kokkos::PerTeam(8)),
                         Impl::NoWork{});
}

template <class T, ExecutionSpace Exec>
Status Workspace<T, Exec>::status(const Exec& exec) const {
  Status s = Impl::fetch(exec, m_words, "Trikkos::Workspace::status");
  if (!measures()) {
    s.backward_error = -1;
    return s;
  }
  double tolerance = 45 * Kokkos::Experimental::epsilon_v<Impl::Real<T>>;
  if (m_options.verify() > 0) tolerance = std::min(tolerance, m_options.verify());
  const bool accurate = s.backward_error <= tolerance;
  if (s.reason == Status::Reason::unstable && m_options.refine() > 0 && accurate) {
    s.reason = Status::Reason::none;  // it was, but refinement has mended it
    s.row = -1;
  }
  if (s.ok() && !accurate) s.reason = Status::Reason::inaccurate;
  return s;
}

template <class T, ExecutionSpace Exec>
void Workspace<T, Exec>::run(const Exec& exec, const Impl::Bands<T>& A,
                             const Impl::Columns<const T>& b, const Impl::Columns<T>& x,
                             std::int64_t rhs_count) {
  if (m_n == 0 || rhs_count == 0) return reset_diagnosis(exec);
  const Impl::Bands<T> solved = scaled(exec, A);  // with this matrix; residuals are those of A
  for (std::int64_t first = 0; first < rhs_count; first += m_block) {
    const std::int64_t count = std::min(m_block, rhs_count - first);
    Impl::Columns<const T> b_block{b.data + first * b.rhs_stride, b.rhs_stride, b.row_stride};
    const Impl::Columns<T> x_block{x.data + first * x.rhs_stride, x.rhs_stride, x.row_stride};
    const bool reset = first == 0;
    if (measures()) {
      const Impl::Columns<T> kept{m_rhs.data(), m_n, 1};
      Kokkos::parallel_for("Trikkos::Workspace::keep_rhs", rows(exec, count * m_n),
                           Impl::KeepRhs<T>{b_block, kept, m_n});
      b_block = {kept.data, m_n, 1};
    }
    launch(exec, solved, b_block, x_block, count, diagnosis(), reset);
    if (!measures()) continue;
    const bool refines = m_options.refine() > 0;
    const Impl::Columns<T> d{refines ? m_correction.data() : nullptr, m_n, 1};
    const Impl::ResidualKernels<T, Impl::is_host_v<Exec>> measured{
        A,     b_block,        {x_block.data, x_block.rhs_stride, x_block.row_stride},
        count, m_norms.data(), m_words.data() + Impl::Diagnosis::backward_error,
        d};
    measured.measure(exec);
    if (refines)
      Impl::Refinement<T, Impl::is_host_v<Exec>>{measured, x_block, d}.launch(
          exec, m_options.refine(), [&] {
            // what it reports does not concern x: a diagnosis of its own
            launch(exec, solved, {d.data, d.rhs_stride, d.row_stride}, d, count,
                   {m_words.data() + Impl::Diagnosis::words}, true);
          });
    measured.report(exec);
  }
}

}  // namespace Trikkos

#endif
