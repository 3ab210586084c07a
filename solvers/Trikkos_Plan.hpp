// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PLAN_HPP
#define TRIKKOS_PLAN_HPP

#include <Trikkos_Workspace.hpp>

namespace Trikkos {

namespace Impl {
template <class T>
struct CopyRow {
  Bands<T> A;
  T *lower, *diag, *upper;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    lower[i] = A.lower(i);
    diag[i] = A.diag(i);
    upper[i] = A.upper(i);
  }
};
}  // namespace Impl

/// A matrix made ready to be solved with many times.
///
///   Trikkos::Plan plan(exec, A, options, rhs_count);
///   Trikkos::solve(exec, plan, b, x);   // no allocation, no fence, on this exec
///   plan.update(exec, A);               // new values, same size: no allocation
///
/// A Plan copies the values of A (3 words a row): what happens to A's Views later does not concern
/// it. It stores no factors: reading the matrix again costs a solve 72 bytes an unknown in double,
/// reading factors of a pivoted elimination would cost 80. A Plan is a handle, like a View: copies
/// share the memory; it serves one solve at a time and keeps no execution space instance. (Others
/// may solve with it, see Workspace.)
///
/// Any number of right-hand sides can be solved, `rhs_count` at a time, or fewer where those fill
/// the machine. Memory grows with them: for each in flight `thomas` takes 2 words a row, `refine` 2
/// and `verify` 1. So say how many there will be where there are many of few rows; one at a time is
/// slow then.
template <class T, ExecutionSpace Exec>
class Plan {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// Allocates; asynchronous otherwise.
  /// \throws std::invalid_argument for bad shapes or options, or a negative rhs_count
  template <class View>
  Plan(const Exec& exec, const Tridiagonal<View>& A, const Options& options = {},
       std::int64_t rhs_count = 1)
      : m_work(exec, checked_size(A, options, rhs_count), rhs_count, options),
        m_A{band(exec, "Trikkos::Plan::lower", m_work.size()),
            band(exec, "Trikkos::Plan::diag", m_work.size()),
            band(exec, "Trikkos::Plan::upper", m_work.size()), A.boundary} {
    update(exec, A);
  }

  /// New values for a matrix of the same size and boundary. Asynchronous, no allocation.
  /// \throws std::invalid_argument where size or boundary differ
  template <class View>
  void update(const Exec& exec, const Tridiagonal<View>& A) {
    constexpr auto function = "Trikkos::Plan::update";
    Impl::check_matrix_type<Exec, Tridiagonal<View>>();
    static_assert(std::is_same_v<typename View::non_const_value_type, T>,
                  "Trikkos::Plan::update: A must have the value type of the plan");
    Impl::check_matrix(function, A);
    Impl::expect_extent(function, "A", "rows", A.diag.extent(0), m_work.size(), "the plan's A");
    if (A.boundary != m_A.boundary)
      throw std::invalid_argument(std::string(function) + ": A is " + name(A.boundary) +
                                  ", expected " + name(m_A.boundary) + " (the plan's A)");
    Kokkos::parallel_for(
        "Trikkos::Plan::update",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, m_work.size()),
        Impl::CopyRow<T>{Impl::bands(A), m_A.lower.data(), m_A.diag.data(), m_A.upper.data()});
  }

  /// What the last solve with this plan found. Waits for `exec`.
  Status status(const Exec& exec) const { return m_work.status(exec); }

  std::int64_t size() const { return m_work.size(); }
  const Options& options() const { return m_work.options(); }
  Algorithm algorithm() const { return m_work.algorithm(); }
  /// Device memory held.
  std::size_t bytes() const { return m_work.bytes() + 3 * sizeof(T) * m_A.diag.extent(0); }

  /// \private
  void run(const Exec& exec, const Impl::Columns<const T>& b, const Impl::Columns<T>& x,
           std::int64_t rhs_count) {
    m_work.run(exec, Impl::bands(m_A, options().transpose()), b, x, rhs_count);
  }

 private:
  using Band = Kokkos::View<T*, typename Exec::memory_space>;

  template <class View>
  static std::int64_t checked_size(const Tridiagonal<View>& A, const Options& options,
                                   std::int64_t rhs_count) {
    Impl::check_matrix_type<Exec, Tridiagonal<View>>();
    Impl::check_matrix("Trikkos::Plan", A);
    Impl::check_options("Trikkos::Plan", options);
    Impl::check_count("Trikkos::Plan", "rhs_count", rhs_count);
    return static_cast<std::int64_t>(A.diag.extent(0));
  }
  static Band band(const Exec& exec, const std::string& label, std::int64_t n) {
    return Band(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n);
  }

  Workspace<T, Exec> m_work;
  Tridiagonal<Band> m_A;
};

template <class Exec, class View>
Plan(const Exec&, const Tridiagonal<View>&, const Options& = {}, std::int64_t = 1)
    -> Plan<typename View::non_const_value_type, Exec>;

}  // namespace Trikkos

#endif
