// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BASELINE_CUSPARSE_HPP
#define TRIKKOS_BASELINE_CUSPARSE_HPP

#include "Perf_Problem.hpp"

/// \file
/// cuSPARSE's gtsv2, with pivoting, and gtsv2_nopivot. For CUDA, where the library is found.

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)

#  include <cuComplex.h>
#  include <cusparse.h>

namespace Perf {

template <class T>
struct Gtsv2;
template <>
struct Gtsv2<float> {
  using value_type = float;
  static constexpr auto buffer_size = cusparseSgtsv2_bufferSizeExt;
  static constexpr auto solve = cusparseSgtsv2;
  static constexpr auto buffer_size_nopivot = cusparseSgtsv2_nopivot_bufferSizeExt;
  static constexpr auto solve_nopivot = cusparseSgtsv2_nopivot;
};
template <>
struct Gtsv2<double> {
  using value_type = double;
  static constexpr auto buffer_size = cusparseDgtsv2_bufferSizeExt;
  static constexpr auto solve = cusparseDgtsv2;
  static constexpr auto buffer_size_nopivot = cusparseDgtsv2_nopivot_bufferSizeExt;
  static constexpr auto solve_nopivot = cusparseDgtsv2_nopivot;
};
template <>
struct Gtsv2<Kokkos::complex<float>> {
  using value_type = cuComplex;
  static constexpr auto buffer_size = cusparseCgtsv2_bufferSizeExt;
  static constexpr auto solve = cusparseCgtsv2;
  static constexpr auto buffer_size_nopivot = cusparseCgtsv2_nopivot_bufferSizeExt;
  static constexpr auto solve_nopivot = cusparseCgtsv2_nopivot;
};
template <>
struct Gtsv2<Kokkos::complex<double>> {
  using value_type = cuDoubleComplex;
  static constexpr auto buffer_size = cusparseZgtsv2_bufferSizeExt;
  static constexpr auto solve = cusparseZgtsv2;
  static constexpr auto buffer_size_nopivot = cusparseZgtsv2_nopivot_bufferSizeExt;
  static constexpr auto solve_nopivot = cusparseZgtsv2_nopivot;
};

inline void expect_success(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

class CusparseHandle {
 public:
  explicit CusparseHandle(const Kokkos::Cuda& exec) {
    expect_success(cusparseCreate(&m_handle));
    expect_success(cusparseSetStream(m_handle, exec.cuda_stream()));
  }
  ~CusparseHandle() { cusparseDestroy(m_handle); }
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  cusparseHandle_t get() const { return m_handle; }

 private:
  cusparseHandle_t m_handle{};
};

/// The routines overwrite b with x: it is restored before each run, which is not timed.
template <class T, bool Pivot>
Time cusparse_gtsv2(Harness& harness, const Problem<T>& problem) {
  using Value = typename Gtsv2<T>::value_type;
  using Band = Kokkos::View<T*, Exec>;
  const Exec& exec = harness.exec();
  const auto n = static_cast<int>(problem.A.diag.extent(0));
  const auto rhs_count = static_cast<int>(problem.b.extent(0));

  // The entries outside the matrix must be zero.
  const Band lower(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::lower"), n);
  const Band upper(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::upper"), n);
  Kokkos::deep_copy(exec, lower, problem.A.lower);
  Kokkos::deep_copy(exec, upper, problem.A.upper);
  Kokkos::deep_copy(exec, Kokkos::subview(lower, 0), T{});
  Kokkos::deep_copy(exec, Kokkos::subview(upper, n - 1), T{});

  const auto data = [](const auto& view) { return reinterpret_cast<Value*>(view.data()); };
  const CusparseHandle handle(exec);
  constexpr auto buffer_size = Pivot ? Gtsv2<T>::buffer_size : Gtsv2<T>::buffer_size_nopivot;
  constexpr auto solve = Pivot ? Gtsv2<T>::solve : Gtsv2<T>::solve_nopivot;
  std::size_t bytes = 0;
  expect_success(buffer_size(handle.get(), n, rhs_count, data(lower), data(problem.A.diag),
                             data(upper), data(problem.x), n, &bytes));
  const Kokkos::View<char*, Exec> buffer(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::cusparse_gtsv2"), bytes);

  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  const Time time =
      harness.time([&] { Kokkos::deep_copy(exec, problem.x, problem.b); },
                   [&] {
                     status = solve(handle.get(), n, rhs_count, data(lower), data(problem.A.diag),
                                    data(upper), data(problem.x), n, buffer.data());
                   });
  expect_success(status);
  return time;
}

}  // namespace Perf

#endif

namespace Perf {

/// Adds cuSPARSE's routines as solvers of the case, where there are any.
template <class T>
void add_cusparse([[maybe_unused]] Harness& harness, [[maybe_unused]] const std::string& prefix,
                  [[maybe_unused]] const Case& c) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    add_solver<T>(harness, prefix + "cusparse_gtsv2", c, cusparse_gtsv2<T, true>);
    if (c.type == Trikkos::Gallery::uniform_dominant) {
      add_solver<T>(harness, prefix + "cusparse_gtsv2_nopivot", c, cusparse_gtsv2<T, false>);
    }
  }
#endif
}

}  // namespace Perf

#endif
