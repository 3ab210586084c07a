// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_GALLERY_HPP
#define TRIKKOS_GALLERY_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <Trikkos_Concepts.hpp>
#include <Trikkos_GalleryTypes.hpp>
#include <Trikkos_Tridiagonal.hpp>
#include <cstdint>
#include <impl/Trikkos_GalleryRow.hpp>
#include <impl/Trikkos_RandomSvd.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// Test matrices for tridiagonal solvers: `auto A = gallery<double>(exec, Gallery::dorr, 512);`.

namespace Trikkos {

namespace Impl {

inline void check_gallery_rows(const char* function, std::int64_t n) {
  if (n < 0) {
    throw std::invalid_argument(std::string("Trikkos::") + function + ": n is " +
                                std::to_string(n) + ", expected 0 or more");
  }
}

/// The mode of a randsvd type, 0 for any other.
constexpr int randsvd_mode(Gallery type) {
  switch (type) {
    case Gallery::randsvd_mode1:
      return 1;
    case Gallery::randsvd_mode2:
      return 2;
    case Gallery::randsvd_mode3:
      return 3;
    case Gallery::randsvd_mode4:
      return 4;
    default:
      return 0;
  }
}

/// Fills A on the host and copies it.
template <class Exec, class View>
void fill_random_svd(const Exec& exec, const Tridiagonal<View>& A, int mode, std::uint64_t seed) {
  using T = typename View::value_type;
  const auto n = static_cast<std::int64_t>(A.diag.extent(0));
  constexpr double kappa = std::is_same_v<Real<T>, float> ? 1e6 : 1e15;
  HostBands bands = random_svd(n, kappa, mode, seed);
  bands.lower.front() = bands.upper.back() = Kokkos::Experimental::quiet_NaN_v<double>;

  const auto copy = [&](const View& to, const std::vector<double>& from) {
    auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, to);
    for (std::int64_t i = 0; i < n; ++i) host(i) = static_cast<T>(from[i]);
    Kokkos::deep_copy(exec, to, host);
    exec.fence("Trikkos::gallery: randsvd copied from the host");  // before `host` goes
  };
  copy(A.lower, bands.lower);
  copy(A.diag, bands.diag);
  copy(A.upper, bands.upper);
}

}  // namespace Impl

/// Allocates and fills a test matrix with n rows of float, double or Kokkos::complex.
///
/// The same (type, n, seed, block) gives the same numbers on every backend. Random entries of
/// complex matrices are random in both parts, other entries are real. With `Boundary::open`,
/// lower(0) and upper(n-1) are NaN, since nobody may read them; with `Boundary::periodic` they
/// continue the type's formula.
///
/// `block` is the number of rows in a block of zero_coupling, singular_blocks and
/// nearly_singular_blocks; other types ignore it.
///
/// One asynchronous kernel that writes 3 n entries. The randsvd types instead take O(n^3) work on
/// the host (0.1 s for n = 512, 10 s for 2048), at most 2048 rows and open boundaries, and fence.
///
/// Throws std::invalid_argument for n < 0, block < 1 and what randsvd types do not support.
template <class T, ExecutionSpace Exec>
auto gallery(const Exec& exec, Gallery type, std::int64_t n, std::uint64_t seed = 0,
             Boundary boundary = Boundary::open, std::int64_t block = 256)
    -> Tridiagonal<Kokkos::View<T*, Exec>> {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::gallery: T must be float, double or Kokkos::complex of these");
  constexpr std::int64_t largest_randsvd = 2048;
  const int mode = Impl::randsvd_mode(type);
  Impl::check_gallery_rows("gallery", n);
  if (block < 1) {
    throw std::invalid_argument("Trikkos::gallery: block is " + std::to_string(block) +
                                ", expected 1 or more");
  }
  if (mode != 0 && n > largest_randsvd) {
    throw std::invalid_argument(std::string("Trikkos::gallery: n is ") + std::to_string(n) +
                                ", expected at most " + std::to_string(largest_randsvd) + " for " +
                                name(type));
  }
  if (mode != 0 && boundary != Boundary::open) {
    throw std::invalid_argument(std::string("Trikkos::gallery: boundary is periodic, expected ") +
                                "open for " + name(type));
  }

  using View = Kokkos::View<T*, Exec>;
  const auto band = [&](const std::string& label) {
    return View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n);
  };
  const Kokkos::Profiling::ScopedRegion region("Trikkos::gallery");
  const Tridiagonal<View> A{band("Trikkos::gallery::lower"), band("Trikkos::gallery::diag"),
                            band("Trikkos::gallery::upper"), boundary};
  if (n == 0) return A;
  if (mode != 0) {
    Impl::fill_random_svd(exec, A, mode, seed);
  } else {
    Kokkos::parallel_for("Trikkos::gallery",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                         Impl::GalleryFill<View>{A, Impl::GalleryFormula<T>(type, n, seed, block)});
  }
  return A;
}

/// Allocates a random vector with n entries U(-1,1), complex ones in both parts; independent of the
/// matrices with the same seed. One asynchronous kernel.
template <class T, ExecutionSpace Exec>
auto gallery_rhs(const Exec& exec, std::int64_t n, std::uint64_t seed = 0)
    -> Kokkos::View<T*, Exec> {
  static_assert(Impl::is_scalar_v<T>,
                "Trikkos::gallery_rhs: T must be float, double or Kokkos::complex of these");
  Impl::check_gallery_rows("gallery_rhs", n);
  using View = Kokkos::View<T*, Exec>;
  const View rhs(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Trikkos::gallery::rhs"), n);
  Kokkos::parallel_for(
      "Trikkos::gallery_rhs",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
      Impl::GalleryFillVector<View>{rhs, Impl::GalleryFormula<T>(Gallery::uniform, n, seed, 1)});
  return rhs;
}

}  // namespace Trikkos

#endif
