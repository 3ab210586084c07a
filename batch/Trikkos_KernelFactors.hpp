// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_KERNELFACTORS_HPP
#define TRIKKOS_KERNELFACTORS_HPP

#include <Trikkos_ComputedMatrix.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/factored/Trikkos_FactorsInKernel.hpp>

/// \file
/// Inside a kernel: a matrix is factored once and solved with many times, in memory of the user's.
///
///   const Trikkos::KernelFactors<double> F(memory, n);            // a handle, as cheap as a View
///   int info = Trikkos::factor(Trikkos::this_thread, A, F);       // or factor(member, A, F)
///   info = Trikkos::solve(Trikkos::this_thread, F, b, x);         // many times
///
/// | algorithm                            | factors   | words a row | flops a row of a solve |
/// |--------------------------------------|-----------|-------------|------------------------|
/// | `automatic`, `segmented`, `factored` | rotations | 6, ring 10  | 50, ring 100           |
/// | `thomas`                             | LU        | 3, ring 5   | 5, ring 9              |
/// | pentadiagonal: rotations             | rotations | 10, ring 18 | 100, ring 200          |
/// | pentadiagonal: `thomas`              | LU        | 5, ring 9   | 9, ring 17             |
///
/// (Real scalars.) To factor takes about 50 flops a row by rotations, 4 of them divisions or roots,
/// a ring 250; LU 15 and 3 divisions; pentadiagonal matrices, which have a KernelFactors<T, 2>,
/// about 120 (ring 900) and 30. A solve reads the factors and b once and writes x twice. With
/// `Corners::sherman_morrison` a ring has 4 words a row (pentadiagonal: 7) and another pass over x.
///
/// Stability: rotations are backward stable for every nonsingular A, each row by itself
/// (`Scaling::rows`); no error was seen to add up along a matrix of 10^6 rows (pentadiagonal:
/// 20 000). LU does not pivot
/// and is for diagonally dominant or positive definite A; what it cannot do is flagged. Either is
/// for one thread: a matrix each, or one that a team shares, its threads with a right-hand side
/// each.
///
/// Source: Higham, Accuracy and Stability of Numerical Algorithms, sections 9.6 and 19.6.

namespace Trikkos {

/// Bytes of memory for the factors of a matrix of n rows, `half_bandwidth` as of KernelFactors.
template <class T, int half_bandwidth = 1>
KOKKOS_INLINE_FUNCTION constexpr std::size_t factor_memory_bytes(
    std::int64_t n, const Options& options = {}, Boundary boundary = Boundary::open) {
  const bool periodic = boundary == Boundary::periodic;
  return Impl::team_bytes<T>(Impl::with_factors<T, half_bandwidth>(
      options, n, periodic,
      [&](auto form) -> std::int64_t { return decltype(form)::type::words(n, periodic); }));
}

/// Factors in memory: made by `factor`, used by `solve`. A handle, like a View: it may be made
/// again from the same memory, also in another kernel.
///
/// \tparam half_bandwidth  1 for tridiagonal matrices, 2 for pentadiagonal ones
template <class T, int half_bandwidth = 1>
class KernelFactors {
 public:
  using value_type = T;

  /// Aborts where the memory is strided or too small, or where the algorithm has no factors (`pcr`,
  /// `spike`).
  /// \param memory   of rank 1 and any value type, contiguous, of `factor_memory_bytes` at least;
  ///                 nobody else may write there as long as the factors are used
  /// \param n        rows
  /// \param options  of which `algorithm`, `transpose`, `scaling` (`columns` is as `none`) and the
  ///                 corners of `thomas` matter
  /// \param boundary of the matrix
  template <ViewType Memory>
  KOKKOS_INLINE_FUNCTION KernelFactors(const Memory& memory, std::int64_t n,
                                       const Options& options = {},
                                       Boundary boundary = Boundary::open)
      : m_n(n), m_options(options), m_boundary(boundary) {
    static_assert(Impl::is_scalar_v<T>,
                  "Trikkos::KernelFactors: T must be float, double or Kokkos::complex of either");
    static_assert(Memory::rank() == 1, "Trikkos::KernelFactors: memory must have rank 1");
    if (options.algorithm() == Algorithm::pcr || options.algorithm() == Algorithm::spike)
      Kokkos::abort("Trikkos::KernelFactors: algorithm is pcr or spike, expected another");
    if (!memory.span_is_contiguous())
      Kokkos::abort("Trikkos::KernelFactors: memory is strided, expected a contiguous View");
    if (memory.extent(0) * sizeof(typename Memory::value_type) <
        factor_memory_bytes<T, half_bandwidth>(n, options, boundary))
      Kokkos::abort(
          "Trikkos::KernelFactors: memory is too small, expected Trikkos::factor_memory_bytes");
    if (n > 0) m_memory = Impl::aligned_scratch<T>(reinterpret_cast<char*>(memory.data()));
  }

  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return m_n; }
  KOKKOS_INLINE_FUNCTION Boundary boundary() const { return m_boundary; }
  KOKKOS_INLINE_FUNCTION const Options& options() const { return m_options; }
  /// What `factor` returned.
  KOKKOS_INLINE_FUNCTION int info() const {
    return m_n > 0 ? 1 + static_cast<int>(*m_memory.row) : 0;
  }

  /// \private
  template <class Rows>
  KOKKOS_INLINE_FUNCTION void factor(Rows A) const {
    if (A.n != m_n || A.periodic != (m_boundary == Boundary::periodic))
      Kokkos::abort("Trikkos::factor: A has not the size or boundary of the factors");
    if (m_n == 0) return;
    A.scale_rows = m_options.scaling() == Scaling::rows;
    *m_memory.row = with_form([&](const auto& form) { return form.factor(A); });
  }
  /// \private The first row of x that is not finite, -1 if none.
  KOKKOS_INLINE_FUNCTION std::int64_t solve(const Impl::Strided<const T>& b,
                                            const Impl::Strided<T>& x) const {
    if (m_n == 0) return -1;
    const auto probe = with_form([&](const auto& form) { return form.solve(b, x); });
    for (std::int64_t i = 0; i < m_n && !(probe == 0); ++i)
      if (!(Impl::finite_probe(x[i]) == 0)) return i;
    return -1;
  }

 private:
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION auto with_form(const F& f) const {
    const bool periodic = m_boundary == Boundary::periodic;
    return Impl::with_factors<T, half_bandwidth>(m_options, m_n, periodic, [&](auto form) {
      return f(typename decltype(form)::type(m_n, periodic, m_memory.words));
    });
  }

  std::int64_t m_n;
  Options m_options;
  Boundary m_boundary;
  Impl::AlignedScratch<T> m_memory{};  // the row that is reported, and the factors
};

/// The calling thread factors A, or what the options make of it.
///
/// \param A  of rank 1, any layout, with the size and boundary that F was made for, else aborts; it
///           is not needed later
/// \return 0, or 1 + the first row that is not finite, has no pivot (rotations) or whose pivot is
///         too small to trust solutions (LU)
template <BandMatrix Matrix, class T, int half_bandwidth>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int factor(ThisThread, const Matrix& A,
                                                const KernelFactors<T, half_bandwidth>& F) {
  TRIKKOS_CHECK_MATRIX_VALUES("Trikkos::factor", Matrix);
  static_assert(Matrix::half_bandwidth == half_bandwidth,
                "Trikkos::factor: A must have as many diagonals as the factors are for");
  static_assert(Matrix::rank() == 1, "Trikkos::factor: A must have rank 1 inside a kernel");
  static_assert(std::is_same_v<typename Matrix::value_type, T>,
                "Trikkos::factor: A must have the value type of the factors");
  F.factor(Impl::bands(A, F.options().transpose()));
  return F.info();
}

/// The same of a matrix that is computed: f(row), or A[system] of f(system, row). f is evaluated a
/// few times a row.
template <class F, class T, int half_bandwidth>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int factor(ThisThread, const Computed<F>& A,
                                                const KernelFactors<T, half_bandwidth>& factors) {
  static_assert(Computed<F>::is_one,
                "Trikkos::factor: A must be one matrix inside a kernel: f(row), or A[system]");
  static_assert(Computed<F>::half_bandwidth == half_bandwidth,
                "Trikkos::factor: A must have as many diagonals as the factors are for");
  static_assert(std::is_same_v<typename Computed<F>::value_type, T>,
                "Trikkos::factor: A must have the value type of the factors");
  if (factors.options().transpose() != Transpose::none)
    Kokkos::abort("Trikkos::factor: transpose is given, expected none (A is computed)");
  factors.factor(Impl::bands(A));
  return factors.info();
}

/// One thread of the team factors A, in memory that all can reach. All must call; the factors are
/// ready for all of them on return.
///
/// \return as for one thread; to every thread
template <TeamMember Member, class Matrix, class T, int half_bandwidth>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int factor(const Member& member, const Matrix& A,
                                                const KernelFactors<T, half_bandwidth>& F) {
  member.team_barrier();  // nobody solves with what was there before
  Kokkos::single(Kokkos::PerTeam(member), [&] { static_cast<void>(factor(this_thread, A, F)); });
  member.team_barrier();
  return F.info();
}

/// The calling thread solves with factors. Threads may share them.
///
/// \param b, x  of rank 1, as long as the matrix; may be the same View
/// \return 0, or what `factor` returned, or 1 + the first row where x is not finite
template <class T, int half_bandwidth, class B, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int solve(ThisThread,
                                               const KernelFactors<T, half_bandwidth>& F,
                                               const B& b, const X& x) {
  using Matrix = Tridiagonal<Kokkos::View<T*>>;
  TRIKKOS_CHECK_SOLUTION_VALUES("Trikkos::solve", X, B, Matrix);
  static_assert(B::rank() == 1 && X::rank() == 1,
                "Trikkos::solve: b and x must have rank 1 inside a kernel");
  const std::int64_t bad = F.solve(Impl::strided<const T>(b), Impl::strided<T>(x));
  return F.info() != 0 ? F.info() : 1 + static_cast<int>(bad);
}

}  // namespace Trikkos

#endif
