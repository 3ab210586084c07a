// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_OUTCOME_HPP
#define TRIKKOS_TEST_OUTCOME_HPP

#include <Reference.hpp>
#include <Trikkos_Gallery.hpp>
#include <Trikkos_Solve.hpp>
#include <limits>
#include <string>

/// \file
/// One solve and what it left behind, on the host.

namespace Test {

template <class T>
bool is_finite(const std::vector<T>& x) {
  for (const T& v : x)
    if (!std::isfinite(Kokkos::abs(v))) return false;
  return true;
}

template <class T>
struct Outcome {
  std::vector<T> x;
  Trikkos::Status status;
  double eta;  // normwise backward error, NaN unless x is finite

  bool ok() const { return status.ok(); }
};

template <class T>
std::ostream& operator<<(std::ostream& out, const Outcome<T>& o) {
  return out << "status: " << o.status.why() << ", eta " << o.eta;
}

/// op(A) x = b.
template <class T>
Outcome<T> solve(const Reference::HostSystem<T>& A, const std::vector<T>& b,
                 const Trikkos::Options& options) {
  using Trikkos::Transpose;
  const TEST_EXECSPACE exec;
  const Kokkos::View<T*, TEST_EXECSPACE> x("x", b.size());
  const auto status = Trikkos::solve(exec, Reference::to_device(exec, A),
                                     Reference::to_device(exec, b), x, options);
  Outcome<T> r{Reference::to_host(x), status, std::numeric_limits<double>::quiet_NaN()};
  if (!is_finite(r.x)) return r;
  if (options.transpose() == Transpose::none)
    r.eta = Reference::backward_error(A, r.x, b);
  else
    r.eta = Reference::backward_error(
        Reference::transpose(A, options.transpose() == Transpose::conjugate_transpose), r.x, b);
  return r;
}

template <class T = double>
Reference::HostSystem<T> gallery(Trikkos::Gallery type, std::int64_t n, std::uint64_t seed = 0,
                                 Trikkos::Boundary boundary = Trikkos::Boundary::open) {
  return Reference::to_host(Trikkos::gallery<T>(TEST_EXECSPACE{}, type, n, seed, boundary));
}
template <class T = double>
std::vector<T> random_rhs(std::int64_t n, std::uint64_t seed = 0) {
  return Reference::to_host(Trikkos::gallery_rhs<T>(TEST_EXECSPACE{}, n, seed));
}

/// b random, which hides a loss of digits behind a huge x, and b = A x, which does not.
template <class T>
std::array<std::vector<T>, 2> right_hand_sides(const Reference::HostSystem<T>& A,
                                               std::uint64_t seed) {
  const auto random = random_rhs<T>(A.size(), seed);
  return {random, Reference::multiply(A, random)};
}

/// A bound for double, in as many units in the last place of T.
template <class T>
constexpr double scaled(double bound_for_double) {
  return bound_for_double / std::numeric_limits<double>::epsilon() *
         static_cast<double>(std::numeric_limits<Trikkos::Impl::Real<T>>::epsilon());
}

inline Trikkos::Options with(const Trikkos::Options& options, Trikkos::Pivoting pivoting) {
  Trikkos::SpikeOptions spike = options.spike();
  spike.pivoting = pivoting;
  return Trikkos::Options(options).spike(spike);
}

inline std::string describe(const Trikkos::Options& o) {
  const auto number = [](const char* what, auto value) {
    return std::string(", ") + what + " " + std::to_string(static_cast<int>(value));
  };
  return std::string(name(o.algorithm())) + number("partition_size", o.partition_size()) +
         number("transpose", o.transpose()) + number("refine", o.refine()) +
         number("pivoting", o.spike().pivoting) + number("marshaling", o.spike().marshaling) +
         number("dynamic_tiling", o.spike().dynamic_tiling) + ", scaling " + name(o.scaling()) +
         ", corners " + name(o.thomas().corners);
}

}  // namespace Test

#endif
