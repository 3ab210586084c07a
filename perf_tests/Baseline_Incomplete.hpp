// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BASELINE_INCOMPLETE_HPP
#define TRIKKOS_BASELINE_INCOMPLETE_HPP

#include "Baseline_cuSPARSE.hpp"

/// \file
/// ILU(0) as a preconditioner by cuSPARSE: csrilu02 (deprecated in CUDA 12.x and 13.0, but there)
/// and SpSV.

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)

namespace Perf {

/// Rows must be sorted by column, each with a diagonal entry.
class CusparseIlu {
  using Integers = Kokkos::View<int*, Kokkos::Cuda>;
  using Values = Kokkos::View<double*, Kokkos::Cuda>;
  using Bytes = Kokkos::View<char*, Kokkos::Cuda>;

  static constexpr auto operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  static constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;

 public:
  /// Analyses and factors.
  CusparseIlu(const Kokkos::Cuda& exec, const Integers& row_map, const Integers& entries,
              const Values& values)
      : m_handle(exec),
        m_n(static_cast<int>(row_map.extent(0)) - 1),
        m_row_map(row_map),
        m_entries(entries),
        m_given(values),
        m_values("Perf::cusparse_ilu", values.extent(0)),
        m_half("Perf::cusparse_half", m_n) {
    expect_success(cusparseCreateMatDescr(&m_A));
    expect_success(cusparseCreateCsrilu02Info(&m_info));
    int bytes = 0;
    expect_success(cusparseDcsrilu02_bufferSize(m_handle.get(), m_n, count(), m_A, m_values.data(),
                                                m_row_map.data(), m_entries.data(), m_info,
                                                &bytes));
    m_buffer = Bytes("Perf::csrilu02", bytes);
    Kokkos::deep_copy(exec, m_values, m_given);
    expect_success(cusparseDcsrilu02_analysis(m_handle.get(), m_n, count(), m_A, m_values.data(),
                                              m_row_map.data(), m_entries.data(), m_info, policy,
                                              m_buffer.data()));
    factor(exec);
    m_lower.analyse(*this, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT);
    m_upper.analyse(*this, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT);
    exec.fence("Perf::CusparseIlu");
  }
  ~CusparseIlu() {
    cusparseDestroyCsrilu02Info(m_info);
    cusparseDestroyMatDescr(m_A);
  }
  CusparseIlu(const CusparseIlu&) = delete;
  CusparseIlu& operator=(const CusparseIlu&) = delete;

  /// A's values again.
  void factor(const Kokkos::Cuda& exec) const {
    Kokkos::deep_copy(exec, m_values, m_given);
    expect_success(cusparseDcsrilu02(m_handle.get(), m_n, count(), m_A, m_values.data(),
                                     m_row_map.data(), m_entries.data(), m_info, policy,
                                     m_buffer.data()));
  }
  void update(const Kokkos::Cuda& exec) const {
    factor(exec);
    for (const auto* const triangle : {&m_lower, &m_upper})
      expect_success(cusparseSpSV_updateMatrix(m_handle.get(), triangle->plan, m_values.data(),
                                               CUSPARSE_SPSV_UPDATE_GENERAL));
  }
  /// The first zero pivot, or -1. Waits.
  int zero_pivot() const {
    int row = -1;
    const auto status = cusparseXcsrilu02_zeroPivot(m_handle.get(), m_info, &row);
    if (status != CUSPARSE_STATUS_ZERO_PIVOT) expect_success(status);
    return row;
  }
  /// z = U^-1 L^-1 r
  template <class Vector>
  void operator()(const Kokkos::Cuda&, const Vector& r, const Vector& z) const {
    m_lower.solve(*this, r.data(), m_half.data());
    m_upper.solve(*this, m_half.data(), z.data());
  }

 private:
  int count() const { return static_cast<int>(m_values.extent(0)); }

  struct Triangle {
    cusparseSpMatDescr_t A{};
    cusparseSpSVDescr_t plan{};
    cusparseDnVecDescr_t right{}, left{};
    Bytes buffer;

    void analyse(const CusparseIlu& ilu, cusparseFillMode_t fill, cusparseDiagType_t diagonal) {
      const double one = 1;
      expect_success(cusparseCreateCsr(&A, ilu.m_n, ilu.m_n, ilu.count(), ilu.m_row_map.data(),
                                       ilu.m_entries.data(), ilu.m_values.data(),
                                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
      expect_success(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
      expect_success(
          cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
      expect_success(cusparseCreateDnVec(&right, ilu.m_n, ilu.m_half.data(), CUDA_R_64F));
      expect_success(cusparseCreateDnVec(&left, ilu.m_n, ilu.m_half.data(), CUDA_R_64F));
      expect_success(cusparseSpSV_createDescr(&plan));
      std::size_t bytes = 0;
      expect_success(cusparseSpSV_bufferSize(ilu.m_handle.get(), operation, &one, A, right, left,
                                             CUDA_R_64F, algorithm, plan, &bytes));
      buffer = Bytes("Perf::cusparse_spsv", bytes);
      expect_success(cusparseSpSV_analysis(ilu.m_handle.get(), operation, &one, A, right, left,
                                           CUDA_R_64F, algorithm, plan, buffer.data()));
    }
    void solve(const CusparseIlu& ilu, double* b, double* x) const {
      const double one = 1;
      expect_success(cusparseDnVecSetValues(right, b));
      expect_success(cusparseDnVecSetValues(left, x));
      expect_success(cusparseSpSV_solve(ilu.m_handle.get(), operation, &one, A, right, left,
                                        CUDA_R_64F, algorithm, plan));
    }
    ~Triangle() {
      if (plan != nullptr) cusparseSpSV_destroyDescr(plan);
      if (left != nullptr) cusparseDestroyDnVec(left);
      if (right != nullptr) cusparseDestroyDnVec(right);
      if (A != nullptr) cusparseDestroySpMat(A);
    }
  };

  CusparseHandle m_handle;
  int m_n;
  Integers m_row_map, m_entries;
  Values m_given, m_values, m_half;
  Bytes m_buffer;
  cusparseMatDescr_t m_A{};
  csrilu02Info_t m_info{};
  Triangle m_lower, m_upper;
};

}  // namespace Perf

#endif

#endif
