// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_WINDOWS_HPP
#define TRIKKOS_TEST_WINDOWS_HPP

#include <FastError.hpp>
#include <Outcome.hpp>
#include <Trikkos_BackwardError.hpp>
#include <Trikkos_Gallery.hpp>
#include <Trikkos_Solve.hpp>
#include <cstring>

/// \file
/// Systems that windows are for, and what came of a solve, for the tests of `truncated` and
/// `automatic`.

namespace Test::Truncated {

using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Transpose;

template <class T>
constexpr double unit = std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon();

inline Options truncated(std::int64_t overlap = 0) {
  return Options{}.truncated({.overlap = overlap});
}
inline Options segmented() { return Options{}.algorithm(Algorithm::segmented); }

/// |a_ii| = factor (|a_i,i-1| + |a_i,i+1|), off-diagonal entries -1, or random ones.
template <class T>
HostSystem<T> dominant(std::int64_t n, double factor, bool random) {
  auto A = Reference::to_host(Trikkos::gallery<T>(TEST_EXECSPACE{}, Gallery::uniform, n, 5));
  for (std::int64_t i = 0; i < n; ++i) {
    if (!random) A.lower[i] = A.upper[i] = T(-1);
    const double sum =
        Kokkos::abs(i > 0 ? A.lower[i] : T(0)) + Kokkos::abs(i < n - 1 ? A.upper[i] : T(0));
    A.diag[i] = T(factor * sum + (n == 1 ? 1 : 0));
  }
  return A;
}

template <class T>
struct Outcome {
  std::vector<T> x;
  Trikkos::Status status;
  double eta;
};
template <class T>
Outcome<T> solve(const HostSystem<T>& A, const std::vector<T>& b, const Options& options) {
  const TEST_EXECSPACE exec;
  const Kokkos::View<T*, TEST_EXECSPACE> x("x", b.size());
  const auto status = Trikkos::solve(exec, Reference::to_device(exec, A),
                                     Reference::to_device(exec, b), x, options);
  Outcome<T> r{Reference::to_host(x), status, 0};
  const Transpose op = options.transpose();
  r.eta = fast_backward_error(
      op == Transpose::none ? A : Reference::transpose(A, op == Transpose::conjugate_transpose),
      r.x, b);
  return r;
}
template <class T>
std::vector<T> random_vector(std::int64_t n) {
  return Reference::to_host(Trikkos::gallery_rhs<T>(TEST_EXECSPACE{}, n, 7));
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// There windows are compared; a device knows the coupling that it neglects, which b does not
/// change.
constexpr bool on_host = Trikkos::Impl::is_host_v<TEST_EXECSPACE>;

}  // namespace Test::Truncated

#endif
