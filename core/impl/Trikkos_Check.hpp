// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CHECK_HPP
#define TRIKKOS_IMPL_CHECK_HPP

#include <Trikkos_Options.hpp>
#include <impl/Trikkos_System.hpp>
#include <stdexcept>
#include <string>

/// \file
/// The checks of arguments and the sentences they end in. Types fail to compile, shapes and options
/// throw on the host before anything is launched.

// Macros, as the words of a static_assert are a literal: they name the function that was called.

#define TRIKKOS_CHECK_MATRIX_VALUES(function, Matrix)                                      \
  static_assert(Matrix::rank() >= 1 && Matrix::rank() <= 3, function                       \
                ": A must have rank 1 (row), 2 (system, row) or 3 (system, system, row)"); \
  static_assert(Trikkos::Impl::is_scalar_v<typename Matrix::value_type>,                   \
                function ": A must hold float, double or Kokkos::complex of either")

#define TRIKKOS_CHECK_VECTOR_VALUES(function, name, Vector, Matrix)                               \
  static_assert(Trikkos::ViewType<Vector>, function ": " name " must be a Kokkos::View");         \
  static_assert(Vector::rank() >= 1 && Vector::rank() <= 3, function                              \
                ": " name " must have rank 1 (row), 2 (system, row) or 3 (system, system, row)"); \
  static_assert(Matrix::rank() == 1 || static_cast<int>(Vector::rank()) == Matrix::rank(),        \
                function ": " name " must have the rank of A, unless A has rank 1 (row)");        \
  static_assert(                                                                                  \
      std::is_same_v<typename Vector::non_const_value_type, typename Matrix::value_type>,         \
      function ": " name " must have the value type of A")

#define TRIKKOS_CHECK_SOLUTION_VALUES(function, X, B, Matrix)                \
  TRIKKOS_CHECK_VECTOR_VALUES(function, "b", B, Matrix);                     \
  TRIKKOS_CHECK_VECTOR_VALUES(function, "x", X, Matrix);                     \
  static_assert(!std::is_const_v<typename X::value_type>,                    \
                function ": x must not be const: it receives the solution"); \
  static_assert(X::rank() == B::rank(), function ": x must have the rank of b")

#define TRIKKOS_CHECK_ACCESS(function, name, Exec, Type)    \
  static_assert(Trikkos::Impl::is_accessible_v<Exec, Type>, \
                function ": " name " must be accessible from the execution space")

/// All that a host call with matrix, right-hand side and solution asks of their types.
#define TRIKKOS_CHECK_SYSTEM(function, Exec, Matrix, B, X) \
  TRIKKOS_CHECK_MATRIX_VALUES(function, Matrix);           \
  TRIKKOS_CHECK_SOLUTION_VALUES(function, X, B, Matrix);   \
  TRIKKOS_CHECK_ACCESS(function, "A", Exec, Matrix);       \
  TRIKKOS_CHECK_ACCESS(function, "b", Exec, B);            \
  TRIKKOS_CHECK_ACCESS(function, "x", Exec, X)

namespace Trikkos::Impl {

inline void expect_extent(const char* function, const char* argument, const char* what,
                          std::int64_t actual, std::int64_t expected, const char* source) {
  if (actual == expected) return;
  throw std::invalid_argument(std::string(function) + ": " + argument + " has " +
                              std::to_string(actual) + " " + what + ", expected " +
                              std::to_string(expected) + " (" + source + ")");
}

/// As many systems as `like`, the View called `of`, has, along each axis that counts them.
template <class View, class Like>
void expect_systems(const char* function, const char* argument, const View& v, const Like& like,
                    const std::string& of) {
  constexpr int axes = static_cast<int>(View::rank()) - 1;
  for (int axis = 0; axis < axes; ++axis) {
    const std::string number = std::to_string(axis);
    const std::string what = axes == 1 ? "systems" : "systems along axis " + number;
    expect_extent(function, argument, what.c_str(), v.extent(axis), like.extent(axis),
                  (of + ".extent(" + number + ")").c_str());
  }
}

/// "diag.extent(0)" where that is how many rows there are.
template <class View>
std::string rows_of(const char* name, const View&) {
  return std::string(name) + ".extent(" + std::to_string(View::rank() - 1) + ")";
}

template <BandMatrix Matrix>
void check_matrix(const char* function, const Matrix& A) {
  constexpr const char* names[] = {"lower2", "lower", "diag", "upper", "upper2"};
  for_bands(A, [&](int j, const auto& band) {
    const char* const name = names[2 + j];
    expect_systems(function, name, band, A.diag, "diag");
    expect_extent(function, name, "rows", row_count(band), row_count(A.diag),
                  rows_of("diag", A.diag).c_str());
  });
}

/// b has n rows for each system, as `source` says.
template <class B>
void check_rhs(const char* function, std::int64_t n, const std::string& source, const B& b) {
  std::string hint = source;
  if (B::rank() == 2 && row_count(b) != n && system_count(b) == n)
    hint += "; pass an (n, nrhs) array as Trikkos::columns(b)";
  expect_extent(function, "b", "rows", row_count(b), n, hint.c_str());
}

/// ... and a system for each matrix.
template <BandMatrix Matrix, class B>
void check_rhs(const char* function, const Matrix& A, const B& b) {
  check_rhs(function, row_count(A.diag), rows_of("diag", A.diag), b);
  if constexpr (Matrix::rank() > 1) expect_systems(function, "b", b, A.diag, "diag");
}

template <class B, class X>
void check_solution(const char* function, const B& b, const X& x) {
  expect_extent(function, "x", "rows", row_count(x), row_count(b), rows_of("b", b).c_str());
  expect_systems(function, "x", x, b, "b");
}

/// Where corners have no place.
inline void check_open(const char* function, Boundary boundary) {
  if (boundary != Boundary::open)
    throw std::invalid_argument(std::string(function) + ": A is " + name(boundary) + ", expected " +
                                name(Boundary::open));
}

inline void check_count(const char* function, const char* what, std::int64_t count) {
  if (count < 0)
    throw std::invalid_argument(std::string(function) + ": " + what + " is " +
                                std::to_string(count) + ", expected 0 or more");
}

/// Rows of the longest partition that `Marshaling::on_chip` takes.
inline constexpr std::int64_t longest_staged = 66;

/// \param W  diagonals of A on either side
inline void check_options(const char* function, const Options& options, int W = 1,
                          bool in_plan = false) {
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    throw std::invalid_argument(std::string(function) + ": " + what + ", expected " + expected);
  };
  const auto is = [](const char* what, std::int64_t value) {
    return std::string(what) + " is " + std::to_string(value);
  };
  const auto at_least_0 = [&](const char* what, std::int64_t value) {
    if (value < 0) refuse(is(what, value), "at least 0");
  };
  const Algorithm algorithm = options.algorithm();
  const bool is_for_many_diagonals =
      algorithm == Algorithm::automatic || algorithm == Algorithm::segmented ||
      algorithm == Algorithm::thomas || (in_plan && algorithm == Algorithm::factored);
  if (W > 1 && !is_for_many_diagonals)
    refuse(std::string("algorithm is ") + name(algorithm),
           std::string(in_plan ? "automatic, segmented, factored or thomas"
                               : "automatic, segmented or thomas") +
               " (A is pentadiagonal)");
  const std::string of_algorithm = std::string(" (algorithm ") + name(algorithm) + ")";
  const std::int64_t partition_size = options.partition_size();
  if (partition_size < 0 || partition_size == 1)
    refuse(is("partition_size", partition_size), "0 (automatic) or at least 2");
  if (partition_size > 0 && (algorithm == Algorithm::pcr || algorithm == Algorithm::thomas ||
                             algorithm == Algorithm::factored || algorithm == Algorithm::truncated))
    refuse(is("partition_size", partition_size), "0: it has no partitions" + of_algorithm);
  if (!(options.verify() >= 0))
    refuse("verify is " + std::to_string(options.verify()), "a tolerance of at least 0");
  at_least_0("refine", options.refine());

  const SpikeOptions& spike = options.spike();
  if (algorithm != Algorithm::spike && spike != SpikeOptions{})
    refuse("options of spike are given", "none" + of_algorithm);
  at_least_0("dynamic_tiling", spike.dynamic_tiling);
  if (spike.marshaling == Marshaling::on_chip) {
    const auto at_most = [&](const char* what, std::int64_t value, std::int64_t limit) {
      if (value > limit)
        refuse(is(what, value), "at most " + std::to_string(limit) + " (Marshaling::on_chip)");
    };
    at_most("partition_size", partition_size, longest_staged);
    at_most("dynamic_tiling", spike.dynamic_tiling, 0);
  }

  const std::int64_t overlap = options.truncated().overlap;
  if (algorithm != Algorithm::truncated && options.truncated() != TruncatedOptions{})
    refuse("options of truncated are given", "none" + of_algorithm);
  if (overlap < 0 || overlap > TruncatedOptions::most_overlap)
    refuse(is("overlap", overlap), "0 to " + std::to_string(TruncatedOptions::most_overlap));

  const PcrOptions& pcr = options.pcr();
  if (algorithm != Algorithm::pcr && pcr != PcrOptions{})
    refuse("options of pcr are given", "none" + of_algorithm);
  at_least_0("reduction_steps", pcr.reduction_steps);

  if (algorithm != Algorithm::thomas && options.thomas() != ThomasOptions{})
    refuse("options of thomas are given", "none" + of_algorithm);
}

}  // namespace Trikkos::Impl

#endif
