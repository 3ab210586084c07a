// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CHECK_HPP
#define TRIKKOS_IMPL_CHECK_HPP

#include <Trikkos_Options.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <stdexcept>
#include <string>

/// \file
/// The checks of arguments and the sentences they end in. Types fail to compile, shapes and options
/// throw on the host before anything is launched.

namespace Trikkos::Impl {

template <class Matrix>
KOKKOS_INLINE_FUNCTION constexpr void check_matrix_values() {
  static_assert(Matrix::view_type::rank() == 1,
                "Trikkos::solve: A must have rank 1 (one system): its bands are rank-1 Views");
  static_assert(is_scalar_v<typename Matrix::value_type>,
                "Trikkos::solve: A must hold float, double or Kokkos::complex of either");
}

template <class Matrix, class B>
KOKKOS_INLINE_FUNCTION constexpr void check_rhs_values() {
  static_assert(ViewType<B>, "Trikkos::solve: b must be a Kokkos::View");
  static_assert(B::rank() == 1 || B::rank() == 2,
                "Trikkos::solve: b must have rank 1 (row) or 2 (system, row)");
  static_assert(std::is_same_v<typename B::non_const_value_type, typename Matrix::value_type>,
                "Trikkos::solve: b must have the value type of A");
}

template <class Matrix, class B, class X>
KOKKOS_INLINE_FUNCTION constexpr void check_vector_values() {
  check_rhs_values<Matrix, B>();
  static_assert(ViewType<X>, "Trikkos::solve: x must be a Kokkos::View");
  static_assert(!std::is_const_v<typename X::value_type>,
                "Trikkos::solve: x must not be const: it receives the solution");
  static_assert(X::rank() == B::rank(), "Trikkos::solve: x must have the rank of b");
  static_assert(std::is_same_v<typename X::non_const_value_type, typename Matrix::value_type>,
                "Trikkos::solve: x must have the value type of A");
}

template <class Exec, class Matrix>
constexpr void check_matrix_type() {
  check_matrix_values<Matrix>();
  static_assert(is_accessible_v<Exec, typename Matrix::view_type>,
                "Trikkos::solve: A must be accessible from the execution space");
}

template <class Exec, class Matrix, class B>
constexpr void check_rhs_type() {
  check_rhs_values<Matrix, B>();
  static_assert(is_accessible_v<Exec, B>,
                "Trikkos::solve: b must be accessible from the execution space");
}

template <class Exec, class Matrix, class B, class X>
constexpr void check_vector_types() {
  check_rhs_type<Exec, Matrix, B>();
  check_vector_values<Matrix, B, X>();
  static_assert(is_accessible_v<Exec, X>,
                "Trikkos::solve: x must be accessible from the execution space");
}

inline void expect_extent(const char* function, const char* argument, const char* what,
                          std::int64_t actual, std::int64_t expected, const char* source) {
  if (actual == expected) return;
  throw std::invalid_argument(std::string(function) + ": " + argument + " has " +
                              std::to_string(actual) + " " + what + ", expected " +
                              std::to_string(expected) + " (" + source + ")");
}

template <class View>
void check_matrix(const char* function, const Tridiagonal<View>& A) {
  const auto n = static_cast<std::int64_t>(A.diag.extent(0));
  expect_extent(function, "lower", "rows", A.lower.extent(0), n, "diag.extent(0)");
  expect_extent(function, "upper", "rows", A.upper.extent(0), n, "diag.extent(0)");
}

template <class B>
void check_rhs(const char* function, std::int64_t n, const B& b) {
  expect_extent(function, "b", "rows", b.extent(B::rank() - 1), n, "diag.extent(0)");
}

template <class B, class X>
void check_vectors(const char* function, std::int64_t n, const B& b, const X& x) {
  check_rhs(function, n, b);
  expect_extent(function, "x", "rows", x.extent(X::rank() - 1), n, "diag.extent(0)");
  if constexpr (B::rank() == 2)
    expect_extent(function, "x", "systems", x.extent(0), b.extent(0), "b.extent(0)");
}

inline void check_count(const char* function, const char* what, std::int64_t count) {
  if (count < 0)
    throw std::invalid_argument(std::string(function) + ": " + what + " is " +
                                std::to_string(count) + ", expected 0 or more");
}

/// Rows of the longest partition that `Marshaling::on_chip` takes.
inline constexpr std::int64_t longest_staged = 66;

inline void check_options(const char* function, const Options& options) {
  if (options.partition_size() < 0 || options.partition_size() == 1)
    throw std::invalid_argument(std::string(function) + ": partition_size is " +
                                std::to_string(options.partition_size()) +
                                ", expected 0 (automatic) or at least 2");
  if (!(options.verify() >= 0))
    throw std::invalid_argument(std::string(function) + ": verify is " +
                                std::to_string(options.verify()) +
                                ", expected a tolerance of at least 0");
  const auto at_least_0 = [&](const char* what, std::int64_t value) {
    if (value < 0)
      throw std::invalid_argument(std::string(function) + ": " + what + " is " +
                                  std::to_string(value) + ", expected at least 0");
  };
  at_least_0("refine", options.refine());
  at_least_0("dynamic_tiling", options.dynamic_tiling());
  at_least_0("reduction_steps", options.reduction_steps());
  if (options.marshaling() == Marshaling::on_chip) {
    const auto at_most = [&](const char* what, std::int64_t value, std::int64_t limit) {
      if (value > limit)
        throw std::invalid_argument(std::string(function) + ": " + what + " is " +
                                    std::to_string(value) + ", expected at most " +
                                    std::to_string(limit) + " (Marshaling::on_chip)");
    };
    at_most("partition_size", options.partition_size(), longest_staged);
    at_most("dynamic_tiling", options.dynamic_tiling(), 0);
  }
}

}  // namespace Trikkos::Impl

#endif
