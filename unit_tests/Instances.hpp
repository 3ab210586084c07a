// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_INSTANCES_HPP
#define TRIKKOS_TEST_INSTANCES_HPP

#include <BreakerSolvers.hpp>
#include <Copy.hpp>
#include <Trikkos.hpp>
#include <TrikkosInstances.hpp>

/// \file
/// What many tests instantiate of the tests' own, declared for all of them here, compiled once for
/// each scalar by Instances.cpp.in.

#define TRIKKOS_TEST_INSTANCES(EXTERN, T)                                                         \
  EXTERN template double Reference::backward_error(const Reference::HostSystem<T>&,               \
                                                   const std::vector<T>&, const std::vector<T>&); \
  EXTERN template std::vector<T> Reference::multiply(const Reference::HostSystem<T>&,             \
                                                     const std::vector<T>&);                      \
  EXTERN template Reference::Solution<Reference::WideOf<T>> Reference::solve_wide(                \
      const Reference::HostSystem<T>&, const std::vector<T>&);                                    \
  EXTERN template Test::Outcome<T> Test::solve(const Reference::HostSystem<T>&,                   \
                                               const std::vector<T>&, const Trikkos::Options&);   \
  EXTERN template std::vector<int> Test::solve_by_teams(const Test::Systems<T>&, int,             \
                                                        const Trikkos::Options&, int, bool);      \
  EXTERN template std::vector<int> Test::solve_by_threads(const Test::Systems<T>&, int);          \
  EXTERN template std::vector<int> Test::solve_by_threads_in_memory(const Test::Systems<T>&, int, \
                                                                    const Trikkos::Options&);     \
  EXTERN template std::vector<int> Test::solve_by_threads_with_factors(                           \
      const Test::Systems<T>&, int, const Trikkos::Options&);                                     \
  EXTERN template struct Test::Transfer<T, TEST_EXECSPACE>;

// By itself, as it has all algorithms, and few tests need it.
#define TRIKKOS_BREAKER_INSTANCES(EXTERN, T)      \
  EXTERN template class Test::Breaker::Solver<T>; \
  EXTERN template class Test::Breaker::Solver<T, 2>;

TRIKKOS_TEST_INSTANCES(extern, float)
TRIKKOS_TEST_INSTANCES(extern, double)
TRIKKOS_TEST_INSTANCES(extern, Kokkos::complex<float>)
TRIKKOS_TEST_INSTANCES(extern, Kokkos::complex<double>)
TRIKKOS_BREAKER_INSTANCES(extern, float)
TRIKKOS_BREAKER_INSTANCES(extern, double)
TRIKKOS_BREAKER_INSTANCES(extern, Kokkos::complex<float>)
TRIKKOS_BREAKER_INSTANCES(extern, Kokkos::complex<double>)

#endif
