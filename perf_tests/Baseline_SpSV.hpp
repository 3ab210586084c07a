// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BASELINE_SPSV_HPP
#define TRIKKOS_BASELINE_SPSV_HPP

#include "Baseline_cuSPARSE.hpp"
#include "Perf_Triangles.hpp"

/// \file
/// cuSPARSE's sparse triangular solves, SpSV for one right-hand side and SpSM for several.

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)

namespace Perf {

/// The description of a triangle for cuSPARSE.
class CusparseTriangle {
 public:
  explicit CusparseTriangle(const TriangularProblem& p) {
    expect_success(
        cusparseCreateCsr(&m_A, p.rows(), p.rows(), static_cast<std::int64_t>(p.entries.extent(0)),
                          p.row_map.data(), p.entries.data(), p.values.data(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    auto fill =
        p.host.uplo == Trikkos::Uplo::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    auto diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    expect_success(cusparseSpMatSetAttribute(m_A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    expect_success(
        cusparseSpMatSetAttribute(m_A, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
  }
  ~CusparseTriangle() { cusparseDestroySpMat(m_A); }
  CusparseTriangle(const CusparseTriangle&) = delete;
  CusparseTriangle& operator=(const CusparseTriangle&) = delete;
  cusparseSpMatDescr_t get() const { return m_A; }

 private:
  cusparseSpMatDescr_t m_A{};
};

inline cusparseOperation_t cusparse_operation(bool is_transposed) {
  return is_transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
}

/// \param analysis  its seconds; it needs the values
inline Time cusparse_spsv(const Harness& harness, const TriangularProblem& p, bool is_transposed,
                          const double* b, double* x, double& analysis) {
  const Exec& exec = harness.exec();
  const CusparseHandle handle(exec);
  const CusparseTriangle A(p);
  const auto op = cusparse_operation(is_transposed);
  constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
  cusparseConstDnVecDescr_t right{};
  cusparseDnVecDescr_t left{};
  cusparseSpSVDescr_t plan{};
  expect_success(cusparseCreateConstDnVec(&right, p.rows(), b, CUDA_R_64F));
  expect_success(cusparseCreateDnVec(&left, p.rows(), x, CUDA_R_64F));
  expect_success(cusparseSpSV_createDescr(&plan));
  const double one = 1;
  std::size_t bytes = 0;
  expect_success(cusparseSpSV_bufferSize(handle.get(), op, &one, A.get(), right, left, CUDA_R_64F,
                                         algorithm, plan, &bytes));
  const Kokkos::View<char*, Exec> buffer(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::cusparse_spsv"), bytes);
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  analysis = Stopwatch<Exec>().seconds(exec, [&] {
    status = cusparseSpSV_analysis(handle.get(), op, &one, A.get(), right, left, CUDA_R_64F,
                                   algorithm, plan, buffer.data());
  });
  expect_success(status);
  const Time time = harness.time([] {},
                                 [&] {
                                   status =
                                       cusparseSpSV_solve(handle.get(), op, &one, A.get(), right,
                                                          left, CUDA_R_64F, algorithm, plan);
                                 });
  expect_success(status);
  cusparseSpSV_destroyDescr(plan);
  cusparseDestroyDnVec(left);
  cusparseDestroyDnVec(right);
  return time;
}

/// b and x: (system, row), rows adjacent.
inline Time cusparse_spsm(const Harness& harness, const TriangularProblem& p, bool is_transposed,
                          int rhs_count, const double* b, double* x, double& analysis) {
  const Exec& exec = harness.exec();
  const CusparseHandle handle(exec);
  const CusparseTriangle A(p);
  const auto op = cusparse_operation(is_transposed);
  constexpr auto as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
  constexpr auto algorithm = CUSPARSE_SPSM_ALG_DEFAULT;
  const std::int64_t n = p.rows();
  cusparseConstDnMatDescr_t right{};
  cusparseDnMatDescr_t left{};
  cusparseSpSMDescr_t plan{};
  expect_success(
      cusparseCreateConstDnMat(&right, n, rhs_count, n, b, CUDA_R_64F, CUSPARSE_ORDER_COL));
  expect_success(cusparseCreateDnMat(&left, n, rhs_count, n, x, CUDA_R_64F, CUSPARSE_ORDER_COL));
  expect_success(cusparseSpSM_createDescr(&plan));
  const double one = 1;
  std::size_t bytes = 0;
  expect_success(cusparseSpSM_bufferSize(handle.get(), op, as_is, &one, A.get(), right, left,
                                         CUDA_R_64F, algorithm, plan, &bytes));
  const Kokkos::View<char*, Exec> buffer(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Perf::cusparse_spsm"), bytes);
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  analysis = Stopwatch<Exec>().seconds(exec, [&] {
    status = cusparseSpSM_analysis(handle.get(), op, as_is, &one, A.get(), right, left, CUDA_R_64F,
                                   algorithm, plan, buffer.data());
  });
  expect_success(status);
  const Time time = harness.time([] {},
                                 [&] {
                                   status =
                                       cusparseSpSM_solve(handle.get(), op, as_is, &one, A.get(),
                                                          right, left, CUDA_R_64F, algorithm, plan);
                                 });
  expect_success(status);
  cusparseSpSM_destroyDescr(plan);
  cusparseDestroyDnMat(left);
  cusparseDestroyDnMat(right);
  return time;
}

}  // namespace Perf

#endif
#endif
