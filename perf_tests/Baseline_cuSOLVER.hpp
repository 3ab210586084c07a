// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BASELINE_CUSOLVER_HPP
#define TRIKKOS_BASELINE_CUSOLVER_HPP

#include "Perf_Harness.hpp"

/// \file
/// cuSOLVER's dense LU with the identity on the right: the inverse of a tridiagonal matrix by a
/// routine that does not know it is one. For CUDA, where the library is found.

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSOLVER)

#  include <cusolverDn.h>

namespace Perf {

inline void expect_success(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw std::runtime_error("cuSOLVER: status " + std::to_string(static_cast<int>(status)));
}

/// A as a dense matrix beside the identity.
template <class Matrix, class Square>
struct DenseSystem {
  Matrix A;
  Square dense, X;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const std::int64_t n = dense.extent(0), j = index / n, i = index % n;
    X(i, j) = i == j ? 1 : 0;
    dense(i, j) = i == j ? A.diag(i) : i == j + 1 ? A.lower(i) : i + 1 == j ? A.upper(i) : 0;
  }
};

/// getrf and getrs. Both work in place: A and the identity are written before each run, which is
/// not timed.
template <class Matrix>
Time cusolver_lu(const Harness& harness, const Matrix& A,
                 const Kokkos::View<double**, Kokkos::LayoutLeft, Exec>& X) {
  const Exec& exec = harness.exec();
  const auto n = static_cast<int>(X.extent(0));
  const Kokkos::View<double**, Kokkos::LayoutLeft, Exec> dense(
      Kokkos::view_alloc("Perf::dense", Kokkos::WithoutInitializing), n, n);
  const Kokkos::View<int*, Exec> pivots("Perf::pivots", n), info("Perf::info", 1);
  cusolverDnHandle_t handle{};
  expect_success(cusolverDnCreate(&handle));
  expect_success(cusolverDnSetStream(handle, exec.cuda_stream()));
  int length = 0;
  expect_success(cusolverDnDgetrf_bufferSize(handle, n, n, dense.data(), n, &length));
  const Kokkos::View<double*, Exec> buffer("Perf::cusolver_lu", length);
  const Time time = harness.time(
      [&] {
        Kokkos::parallel_for(
            "Perf::dense",
            Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0,
                                                                       std::int64_t(n) * n),
            DenseSystem<Matrix, Kokkos::View<double**, Kokkos::LayoutLeft, Exec>>{A, dense, X});
      },
      [&] {
        expect_success(cusolverDnDgetrf(handle, n, n, dense.data(), n, buffer.data(), pivots.data(),
                                        info.data()));
        expect_success(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, n, dense.data(), n, pivots.data(),
                                        X.data(), n, info.data()));
      });
  cusolverDnDestroy(handle);
  return time;
}

}  // namespace Perf

#endif
#endif
