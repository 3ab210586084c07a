// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_REFERENCEPENTADIAGONAL_HPP
#define TRIKKOS_TEST_REFERENCEPENTADIAGONAL_HPP

#include <Reference.hpp>
#include <Trikkos_Pentadiagonal.hpp>

/// \file
/// Pentadiagonal matrices for Reference.hpp.

namespace Reference {

/// On the host; the fields mean what they mean in Trikkos::Pentadiagonal.
template <class T>
struct HostPentadiagonal {
  using value_type = T;
  static constexpr int half_bandwidth = 2;

  std::vector<T> lower2, lower, diag, upper, upper2;
  bool periodic = false;

  std::int64_t size() const { return static_cast<std::int64_t>(diag.size()); }
  /// Of A(i, i + j).
  const std::vector<T>& band(int j) const {
    const std::vector<T>* const bands[] = {&lower2, &lower, &diag, &upper, &upper2};
    return *bands[2 + j];
  }
  std::vector<T>& band(int j) { return const_cast<std::vector<T>&>(std::as_const(*this).band(j)); }
};

/// Of W diagonals on either side.
template <class T, int W>
using HostMatrix = std::conditional_t<W == 1, HostSystem<T>, HostPentadiagonal<T>>;

/// The index of a column in a ring of n.
inline std::int64_t wrapped(std::int64_t i, std::int64_t n) { return (i % n + n) % n; }

template <class T, class F>
void for_row(const HostPentadiagonal<T>& A, std::int64_t i, const F& f) {
  for (int j = -2; j <= 2; ++j) {
    const std::int64_t column = wrapped(i + j, A.size());
    if (A.periodic || column == i + j) f(column, A.band(j)[i]);
  }
}

template <class T>
HostPentadiagonal<T> transpose(const HostPentadiagonal<T>& A, bool conjugate = false) {
  HostPentadiagonal<T> B = A;
  for (int j = -2; j <= 2; ++j)
    for (std::int64_t i = 0; i < A.size(); ++i) {
      T& v = B.band(j)[i] = A.band(-j)[wrapped(i + j, A.size())];
      if constexpr (!std::is_floating_point_v<T>)
        if (conjugate) v = Kokkos::conj(v);
    }
  return B;
}

template <class T, Trikkos::ExecutionSpace Exec>
auto to_device(const Exec& exec, const HostPentadiagonal<T>& A)
    -> Trikkos::Pentadiagonal<Kokkos::View<T*, Exec>> {
  return {to_device(exec, A.lower2),
          to_device(exec, A.lower),
          to_device(exec, A.diag),
          to_device(exec, A.upper),
          to_device(exec, A.upper2),
          A.periodic ? Trikkos::Boundary::periodic : Trikkos::Boundary::open};
}

}  // namespace Reference

#endif
