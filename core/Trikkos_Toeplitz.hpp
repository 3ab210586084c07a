// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TOEPLITZ_HPP
#define TRIKKOS_TOEPLITZ_HPP

#include <Trikkos_Pentadiagonal.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Launch.hpp>

namespace Trikkos {

namespace Impl {
template <class T, int count>
struct SetValues {
  Kokkos::Array<T, count> values;
  T* to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t j) const { to[j] = values[j]; }
};

template <class T, class Exec>
using UniformBand = Uniform<Kokkos::View<const T, Exec>>;

/// Bands of n entries each.
template <class Exec, class T, int count>
Kokkos::Array<UniformBand<T, Exec>, count> uniform_bands(const Exec& exec, std::int64_t n,
                                                         const Kokkos::Array<T, count>& values) {
  static_assert(is_scalar_v<T>,
                "Trikkos::toeplitz: diag must be float, double or Kokkos::complex of either");
  check_count("Trikkos::toeplitz", "n", n);
  const std::string label = "Trikkos::toeplitz";
  const Kokkos::View<T*, Exec> all(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label),
                                   count);
  Kokkos::parallel_for(label, range(exec, count), SetValues<T, count>{values, all.data()});
  Kokkos::Array<UniformBand<T, Exec>, count> r;
  for (int j = 0; j < count; ++j) r[j] = {Kokkos::subview(all, j), n};
  return r;
}
}  // namespace Impl

/// The tridiagonal matrix of n rows that has the same entries in each,
///
///   (A x)(i) = lower x(i-1) + diag x(i) + upper x(i+1),
///
/// with `Boundary::periodic` a circulant one. Three values are stored (`Uniform`), so that a solve
/// moves b and x only, in double 24 bytes an unknown where it takes two passes, 16 where one.
///
///   const auto A = Trikkos::toeplitz(exec, n, -1., 2., -1.);
///
/// Allocates; asynchronous.
/// \throws std::invalid_argument for a negative n
template <ExecutionSpace Exec, class T>
auto toeplitz(const Exec& exec, std::int64_t n, const std::type_identity_t<T>& lower, const T& diag,
              const std::type_identity_t<T>& upper, Boundary boundary = Boundary::open)
    -> Tridiagonal<Impl::UniformBand<T, Exec>> {
  const auto r = Impl::uniform_bands<Exec, T, 3>(exec, n, {lower, diag, upper});
  return {r[0], r[1], r[2], boundary};
}

/// The pentadiagonal one.
template <ExecutionSpace Exec, class T>
auto toeplitz(const Exec& exec, std::int64_t n, const std::type_identity_t<T>& lower2,
              const std::type_identity_t<T>& lower, const T& diag,
              const std::type_identity_t<T>& upper, const std::type_identity_t<T>& upper2,
              Boundary boundary = Boundary::open) -> Pentadiagonal<Impl::UniformBand<T, Exec>> {
  const auto r = Impl::uniform_bands<Exec, T, 5>(exec, n, {lower2, lower, diag, upper, upper2});
  return {r[0], r[1], r[2], r[3], r[4], boundary};
}

}  // namespace Trikkos

#endif
