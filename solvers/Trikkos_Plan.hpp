// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PLAN_HPP
#define TRIKKOS_PLAN_HPP

#include <Trikkos_Workspace.hpp>
#include <memory>

namespace Trikkos {

namespace Impl {
template <class T, int W, class Matrices = Systems<T, W>>
struct CopyRow {
  Matrices A;
  Vectors<T> to[2 * W + 1];

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, i] = split_index(index, A.first.n);
    copy(A[k], k, i, std::make_integer_sequence<int, 2 * W + 1>{});
  }

 private:
  template <int... j>
  KOKKOS_FORCEINLINE_FUNCTION void copy(const MatrixOf<Matrices>& from, std::int64_t k,
                                        std::int64_t i, std::integer_sequence<int, j...>) const {
    ((to[j][k][i] = from.template entry<j - W>(i)), ...);
  }
};
}  // namespace Impl

/// A matrix, or many, made ready to be solved with many times.
///
///   Trikkos::Plan plan(exec, A, options, rhs_count);
///   Trikkos::solve(exec, plan, b, x);   // no allocation, no fence, on this exec
///   plan.update(exec, A);               // new values, same size: no allocation
///
/// A Plan copies the values of A (a word for each entry): what happens to A's Views later does not
/// concern it. One matrix of a length that fits on chip (n <= 5000 in double on a device, 4600 if
/// it is pentadiagonal, 8192 on a host for as many right-hand sides as SIMD lanes) is factored,
/// too, LU without pivoting, 3 words more a row, 2 on a device and 2 for a ring (pentadiagonal: 5,
/// 4 and 4): `automatic` and `Algorithm::factored` then move 16 bytes an unknown in double for each
/// right-hand side, by 6 operations (9). Factors are used where they promise a backward error of
/// some units in the last place, as for all diagonally dominant and positive definite matrices (the
/// latter, if pentadiagonal, of rows of like size); `segmented` solves where not, and `algorithm()`
/// tells. `Algorithm::thomas` uses them with one thread a right-hand side, 32 bytes an unknown.
///
/// No other algorithm stores factors: reading many matrices again costs a solve 72 bytes an unknown
/// in double, reading factors of a pivoted elimination would cost 80. What `Scaling::columns` needs
/// is computed once. A Plan is a handle, like a View: copies share the memory, solving does not
/// change it (`const Plan`); it serves one solve at a time and keeps no execution space instance.
/// (Others may solve with it, see Workspace.)
///
/// Any number of right-hand sides can be solved with one matrix, `rhs_count` at a time, or fewer
/// where those fill the machine. Memory grows with them: for each in flight `thomas` takes 2 words
/// a row (if A is tridiagonal; on a device one more in all), `refine` 2 and `verify` 1. So say how
/// many there will be where there are many of few rows; one at a time is slow then. Many matrices
/// have one right-hand side each; `thomas` factors many pentadiagonal ones anew in each solve, in 5
/// words a row, 9 if they are periodic.
///
/// \tparam half_bandwidth  1 for tridiagonal matrices, 2 for pentadiagonal ones
template <class T, ExecutionSpace Exec, int half_bandwidth = 1>
class Plan {
 public:
  using value_type = T;
  using execution_space = Exec;

  /// Allocates; waits where there are factors to judge.
  /// \throws std::invalid_argument for bad shapes or options, or a negative rhs_count
  template <BandMatrix Matrix>
  requires(Matrix::half_bandwidth == half_bandwidth)
      Plan(const Exec& exec, const Matrix& A, const Options& options = {},
           std::int64_t rhs_count = 1)
      : m_work(exec,
               Impl::Solver<T, Exec, half_bandwidth>(shape_of(A, options, rhs_count), options)),
        m_A(copy_of(exec, A.boundary)),
        m_is_factored(std::make_shared<bool>(false)) {
    update(exec, A);
  }

  /// The same of a matrix that is computed, f(row), or of `rhs_count` matrices, f(system, row). f
  /// is evaluated here and in `update`, once or more for each row.
  template <class F>
  requires(Computed<F>::half_bandwidth == half_bandwidth)
      Plan(const Exec& exec, const Computed<F>& A, const Options& options = {},
           std::int64_t rhs_count = 1)
      : m_work(exec,
               Impl::Solver<T, Exec, half_bandwidth>(shape_of(A, options, rhs_count), options)),
        m_A(copy_of(exec, A.boundary)),
        m_is_factored(std::make_shared<bool>(false)) {
    update(exec, A);
  }

  /// New values for matrices of the same size, number and boundary. No allocation; asynchronous but
  /// for `factored` and `thomas`, which wait for `exec` to judge the factors of one matrix.
  /// \throws std::invalid_argument where one of these differs
  template <BandMatrix Matrix>
  requires(Matrix::half_bandwidth == half_bandwidth) void update(const Exec& exec,
                                                                 const Matrix& A) const {
    constexpr auto function = "Trikkos::Plan::update";
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::Plan::update", Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::Plan::update", "A", Exec, Matrix);
    static_assert(std::is_same_v<typename Matrix::value_type, T>,
                  "Trikkos::Plan::update: A must have the value type of the plan");
    Impl::check_matrix(function, A);
    expect_same(Impl::row_count(A.diag), Impl::system_count(A.diag), A.boundary);
    take(exec, Impl::systems(A, matrices()));
  }
  template <class F>
  requires(Computed<F>::half_bandwidth == half_bandwidth) void update(const Exec& exec,
                                                                      const Computed<F>& A) const {
    static_assert(std::is_same_v<typename Computed<F>::value_type, T>,
                  "Trikkos::Plan::update: A must have the value type of the plan");
    expect_same(A.n, Computed<F>::is_one ? 1 : matrices(), A.boundary);
    take(exec, Impl::systems(A, matrices()));
  }

  /// What the last solve with this plan found. Waits for `exec`.
  Status status(const Exec& exec) const { return m_work.status(exec); }

  std::int64_t size() const { return m_work.size(); }
  /// How many; 1 where one serves all right-hand sides.
  std::int64_t matrices() const { return m_work.m_solver.shape().matrices; }
  const Options& options() const { return m_work.options(); }
  /// What solves: `segmented` where factors are not to be used.
  Algorithm algorithm() const {
    const Algorithm wanted = m_work.algorithm();
    return wanted == Algorithm::factored && !*m_is_factored ? Algorithm::segmented : wanted;
  }
  /// Device memory held.
  std::size_t bytes() const {
    return m_work.bytes() + (2 * half_bandwidth + 1) * sizeof(T) * m_A.diag.size();
  }

  /// \private
  void run(const Exec& exec, const Impl::Vectors<const T>& b, const Impl::Vectors<T>& x,
           std::int64_t count, const Impl::Numbering& number = {}) const {
    m_work.m_solver.solve(exec, m_work.m_memory.data(), systems(count), b, x, *m_is_factored,
                          number);
  }

 private:
  using Band = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

  using Copy = std::conditional_t<half_bandwidth == 1, Tridiagonal<Band>, Pentadiagonal<Band>>;

  template <class Matrix>
  static Impl::Shape shape_of(const Matrix& A, const Options& options, std::int64_t rhs_count) {
    TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::Plan", Matrix);
    TRIKKOS_CHECK_ACCESS("Trikkos::Plan", "A", Exec, Matrix);
    Impl::check_matrix("Trikkos::Plan", A);
    const std::int64_t matrices = Impl::system_count(A.diag);
    return shape_of(Impl::row_count(A.diag), Matrix::rank() == 1 ? rhs_count : matrices, matrices,
                    A.boundary, options, rhs_count);
  }
  template <class F>
  static Impl::Shape shape_of(const Computed<F>& A, const Options& options,
                              std::int64_t rhs_count) {
    Impl::check_count("Trikkos::Plan", "n", A.n);
    return shape_of(A.n, rhs_count, Computed<F>::is_one ? 1 : rhs_count, A.boundary, options,
                    rhs_count);
  }
  static Impl::Shape shape_of(std::int64_t n, std::int64_t count, std::int64_t matrices,
                              Boundary boundary, const Options& options, std::int64_t rhs_count) {
    constexpr auto function = "Trikkos::Plan";
    Impl::check_options(function, options, half_bandwidth, true);
    Impl::check_count(function, "rhs_count", rhs_count);
    if (options.algorithm() == Algorithm::factored && matrices != 1)
      throw std::invalid_argument(std::string(function) + ": A has " + std::to_string(matrices) +
                                  " systems, expected one (algorithm factored)");
    return {n, count, matrices, true, boundary == Boundary::periodic, matrices == 1};
  }
  void expect_same(std::int64_t n, std::int64_t count, Boundary boundary) const {
    constexpr auto function = "Trikkos::Plan::update";
    Impl::expect_extent(function, "A", "rows", n, size(), "the plan's A");
    Impl::expect_extent(function, "A", "systems", count, matrices(), "the plan's A");
    if (boundary != m_A.boundary)
      throw std::invalid_argument(std::string(function) + ": A is " + name(boundary) +
                                  ", expected " + name(m_A.boundary) + " (the plan's A)");
  }
  template <class Matrices>
  void take(const Exec& exec, const Matrices& A) const {
    Impl::CopyRow<T, half_bandwidth, Matrices> kernel{A, {}};
    Impl::for_bands(m_A, [&](int j, const Band& band) {
      kernel.to[half_bandwidth + j] = Impl::vectors<T>(band);
    });
    Kokkos::parallel_for("Trikkos::Plan::update", Impl::range(exec, matrices() * size()), kernel);
    *m_is_factored = m_work.m_solver.factor(exec, m_work.m_memory.data(), systems(matrices()));
  }
  Copy copy_of(const Exec& exec, Boundary boundary) const {
    const auto band = [&](const char* name) {
      const std::string label = std::string("Trikkos::Plan::") + name;
      return Band(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), matrices(), size());
    };
    if constexpr (half_bandwidth == 1)
      return {band("lower"), band("diag"), band("upper"), boundary};
    else
      return {band("lower2"), band("lower"), band("diag"), band("upper"), band("upper2"), boundary};
  }
  /// The copy, for so many right-hand sides.
  Impl::Systems<T, half_bandwidth> systems(std::int64_t count) const {
    Impl::Systems<T, half_bandwidth> r = Impl::systems(m_A, count, options().transpose());
    if (matrices() == 1)
      for (std::int64_t& stride : r.stride) stride = 0;
    return r;
  }

  Workspace<T, Exec, half_bandwidth> m_work;
  Copy m_A;
  std::shared_ptr<bool> m_is_factored;  // of all copies, like the memory
};

template <class Exec, BandMatrix Matrix>
Plan(const Exec&, const Matrix&, const Options& = {}, std::int64_t = 1)
    -> Plan<typename Matrix::value_type, Exec, Matrix::half_bandwidth>;
template <class Exec, class F>
Plan(const Exec&, const Computed<F>&, const Options& = {}, std::int64_t = 1)
    -> Plan<typename Computed<F>::value_type, Exec, Computed<F>::half_bandwidth>;

}  // namespace Trikkos

#endif
