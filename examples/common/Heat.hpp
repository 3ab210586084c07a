// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_HEAT_HPP
#define TRIKKOS_EXAMPLES_HEAT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Example {

using Exec = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<double***, Kokkos::LayoutRight, Exec>;  // a square has one plane only

/// Heat in a square or a cube that is kept cold at its boundary: two products of sines, of which
/// the second decays faster. Point 0 along an axis is h from the boundary.
struct ExactHeat {
  static constexpr double pi = 3.14159265358979323846;

  int axes;
  double h;

  KOKKOS_FUNCTION double wave(int number, std::int64_t i, std::int64_t j, std::int64_t k,
                              double time) const {
    const double w = pi * number;
    const auto sine = [&](std::int64_t at) {
      return Kokkos::sin(w * h * static_cast<double>(at + 1));
    };
    return Kokkos::exp(-axes * w * w * time) * sine(i) * sine(j) * (axes == 3 ? sine(k) : 1);
  }
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                    double time) const {
    return wave(1, i, j, k, time) + 0.5 * wave(3, i, j, k, time);
  }
};

inline auto points_of(const Exec& exec, const Field& u) {
  return Kokkos::MDRangePolicy<Exec, Kokkos::Rank<3, Kokkos::Iterate::Right>,
                               Kokkos::IndexType<std::int64_t>>(
      exec, {0, 0, 0}, {u.extent_int(0), u.extent_int(1), u.extent_int(2)});
}
inline void add(const Exec& exec, const Field& change, const Field& u) {
  Kokkos::parallel_for(
      "step", points_of(exec, u), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        u(i, j, k) += change(i, j, k);
      });
}

// `first`: which of the whole u's first point is.

inline void set(const Exec& exec, const ExactHeat& exact, const Field& u, std::int64_t first = 0) {
  Kokkos::parallel_for(
      "initial", points_of(exec, u), KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        u(i, j, k) = exact(first + i, j, k, 0);
      });
}
inline double largest_error(const Exec& exec, const Field& u, const ExactHeat& exact, double time,
                            std::int64_t first = 0) {
  double error = 0;
  Kokkos::parallel_reduce(
      "error", points_of(exec, u),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k, double& largest) {
        const double e = Kokkos::abs(u(i, j, k) - exact(first + i, j, k, time));
        if (!(e <= largest)) largest = e;
      },
      Kokkos::Max<double>(error));
  return error;
}

}  // namespace Example

#endif
