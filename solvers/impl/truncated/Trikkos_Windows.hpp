// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WINDOWS_HPP
#define TRIKKOS_IMPL_WINDOWS_HPP

#include <Trikkos_Options.hpp>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/partition/Trikkos_Gate.hpp>

/// \file
/// `truncated` cuts a system into *windows* that overlap, and solves each as if there were nothing
/// outside. Of its x only the middle is kept, the *own* rows: neighbours meet at a *seam*, and each
/// has an opinion of the unknowns on either side of it.
///
/// Is x a solution? Every row but those at seams is one of a system that was solved, by the stable
/// elimination of `segmented`, with the very unknowns that are kept. Row s - 1, the last before a
/// seam, was solved with its own window's x_s, not with the x_s that is kept; so by keeping the
/// other it gets the residual c (x_s - x_s'), and row s likewise. So what neighbours disagree by,
/// beside the largest unknown, bounds the backward error of the whole, whatever A is: it counts the
/// coupling that was neglected, which decays over the overlap where A is diagonally dominant, and
/// the rounding errors of both.

namespace Trikkos::Impl {

/// Rows k * step to k * step + length of the system are the k-th window.
struct Windows {
  std::int64_t n = 0, length = 0, overlap = 0, count = 0;

  Windows() = default;
  Windows(std::int64_t n_, std::int64_t length_, std::int64_t overlap_)
      : n(n_), length(length_), overlap(overlap_) {
    count = n <= length ? 1 : 1 + (n - length + step() - 1) / step();
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t step() const { return length - 2 * overlap; }
  /// Of the first row that is not kept, which lies on a seam, within a window; the last window
  /// keeps all.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end() const { return overlap + step(); }
};

/// Rows of overlap on either side: as many as there are digits, nearly, so that what is neglected
/// is below rounding where it halves from row to row. A multiple of 4, for the sake of aligned
/// copies.
template <class T>
std::int64_t overlap_of(const Options& options) {
  const std::int64_t given = options.truncated().overlap;
  return given == 0 ? (sizeof(Real<T>) == 8 ? 48 : 24) : (given + 3) / 4 * 4;
}

/// What a window has to say of its seams.
template <class T>
struct Opinion {
  T left[2], right[2];  // x before and behind its first own row's edge, and its last one's
  Real<T> largest;      // |x| of its own rows; Inf where there is no x

  /// Scalars of a workspace for `count` of them.
  static std::int64_t words(std::int64_t count) {
    return (count * static_cast<std::int64_t>(sizeof(Opinion)) + sizeof(T) - 1) / sizeof(T);
  }
};
/// At the seam of neighbours; Inf where one of them has no x.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION double disagreement(const Opinion<T>& a, const Opinion<T>& b) {
  const Real<T> largest = a.largest < b.largest ? b.largest : a.largest;
  const Real<T> before = magnitude(a.right[0] - b.left[0]);
  const Real<T> behind = magnitude(a.right[1] - b.left[1]);
  const double apart = before < behind ? behind : before;
  constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
  if (!(finite_probe(largest) == 0)) return infinity;
  if (apart == 0) return 0;
  const double ratio = apart / static_cast<double>(largest);
  return ratio < infinity ? ratio : infinity;
}

/// Where windows agree as well as that, x is kept. Row scaling makes 16 units, in a row whose
/// off-diagonal entry is at most as large as the row is, at most as many of its backward error, of
/// the 45 that are called stable.
template <class T>
inline constexpr double largest_disagreement = 16 * Kokkos::Experimental::epsilon_v<Real<T>>;

/// All opinions, and what follows from them.
template <class T>
struct Verdict {
  const Opinion<T>* opinions;
  std::int64_t count;
  Wanted* refused;  // what the second way waits for
  Diagnosis diagnosis;

  /// Of the seam behind the i-th window.
  KOKKOS_FORCEINLINE_FUNCTION double at(std::int64_t i) const {
    return disagreement(opinions[i], opinions[i + 1]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void tell(double worst) const {
    diagnosis.report_disagreement(worst);
    if (!(worst <= largest_disagreement<T>)) refused->raise();
  }
};

}  // namespace Trikkos::Impl

#endif
