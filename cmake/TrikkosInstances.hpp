// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INSTANCES_HPP
#define TRIKKOS_INSTANCES_HPP

#include <Trikkos_BackwardError.hpp>
#include <Trikkos_Gallery.hpp>
#include <Trikkos_Workspace.hpp>

/// \file
/// What tests and benchmarks instantiate alike, compiled once for each scalar (TrikkosTools.cmake)
/// and declared `extern` for all others: the greater part of the time that they take to build.

#define TRIKKOS_INSTANCES_OF(EXTERN, Exec, T)                                              \
  EXTERN template class Trikkos::Impl::Solver<T, Exec>;                                    \
  EXTERN template class Trikkos::Impl::Solver<T, Exec, 2>;                                 \
  EXTERN template double Trikkos::Impl::worst_backward_error<T>(                           \
      const Exec&, const Trikkos::Impl::Systems<T>&, std::int64_t, std::int64_t,           \
      const Trikkos::Impl::Vectors<const T>&, const Trikkos::Impl::Vectors<const T>&);     \
  EXTERN template auto Trikkos::gallery<T>(const Exec&, Trikkos::Gallery, std::int64_t,    \
                                           std::uint64_t, Trikkos::Boundary, std::int64_t) \
      ->Trikkos::Tridiagonal<Kokkos::View<T*, Exec>>;                                      \
  EXTERN template auto Trikkos::gallery_rhs<T>(const Exec&, std::int64_t, std::uint64_t)   \
      ->Kokkos::View<T*, Exec>;

#define TRIKKOS_INSTANCES(EXTERN, Exec)                      \
  TRIKKOS_INSTANCES_OF(EXTERN, Exec, float)                  \
  TRIKKOS_INSTANCES_OF(EXTERN, Exec, double)                 \
  TRIKKOS_INSTANCES_OF(EXTERN, Exec, Kokkos::complex<float>) \
  TRIKKOS_INSTANCES_OF(EXTERN, Exec, Kokkos::complex<double>)

#ifdef KOKKOS_ENABLE_SERIAL
TRIKKOS_INSTANCES(extern, Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
TRIKKOS_INSTANCES(extern, Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
TRIKKOS_INSTANCES(extern, Kokkos::Cuda)
#endif

#endif
