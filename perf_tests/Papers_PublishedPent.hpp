// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_PUBLISHEDPENT_HPP
#define TRIKKOS_PAPERS_PUBLISHEDPENT_HPP

#include "Perf_Pentadiagonals.hpp"

/// \file
/// The solvers of Gloster et al. (2019), section IV-A, as the paper states them: A = L R without
/// pivoting, factored once; a thread a system, forward and back, with a division a row.
/// cuPentBatch has factors for each system, cuPentConstantBatch one set for all, and
/// cuPentUniformBatch one number in the place of epsilon.

namespace Papers {

/// The rows of epsilon, beta, alpha, gamma and delta: (system, row).
struct PentFactors {
  Perf::Array epsilon, beta, alpha, gamma, delta;
};

/// In the places of a, b, c, d and e.
struct PentFactor {
  PentFactors f;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const auto n = static_cast<std::int64_t>(f.alpha.extent(1));
    for (std::int64_t i = 0; i < n; ++i) {
      if (i > 1) f.beta(k, i) -= f.epsilon(k, i) * f.gamma(k, i - 2);
      if (i > 1) f.alpha(k, i) -= f.epsilon(k, i) * f.delta(k, i - 2);
      if (i > 0) f.alpha(k, i) -= f.beta(k, i) * f.gamma(k, i - 1);
      if (i > 0) f.gamma(k, i) -= f.beta(k, i) * f.delta(k, i - 1);
      f.gamma(k, i) /= f.alpha(k, i);
      f.delta(k, i) /= f.alpha(k, i);
    }
  }
};

enum class Lhs { own, constant, uniform };

/// x has the right-hand sides and receives the solutions.
template <Lhs lhs>
struct PentSolve {
  PentFactors f;
  double uniform_epsilon;
  Perf::Array x;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const auto n = static_cast<std::int64_t>(x.extent(1));
    const std::int64_t s = lhs == Lhs::own ? k : 0;
    double before2 = 0, before = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double g = x(k, i);
      if (i > 1) g -= epsilon(s, i) * before2;
      if (i > 0) g -= f.beta(s, i) * before;
      before2 = before;
      before = g / f.alpha(s, i);
      x(k, i) = before;
    }
    double behind2 = 0, behind = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      double v = x(k, i);
      if (i + 1 < n) v -= f.gamma(s, i) * behind;
      if (i + 2 < n) v -= f.delta(s, i) * behind2;
      behind2 = behind;
      behind = v;
      x(k, i) = v;
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION double epsilon(std::int64_t s, std::int64_t i) const {
    return lhs == Lhs::uniform ? uniform_epsilon : f.epsilon(s, i);
  }
};

/// Factors `bands`, of all systems or of one, and takes the time of solves.
template <Lhs lhs>
Perf::Time published_pent(const Perf::Harness& h, const Perf::ManySystems& systems,
                          const Perf::FiveBands& bands, const Perf::Vector& b,
                          const Perf::Vector& x) {
  const Perf::Exec& exec = h.exec();
  const std::int64_t count = lhs == Lhs::own ? systems.count : 1;
  const Perf::ManySystems matrices{systems.n, count, true};
  const auto copy = [&](const Perf::Vector& band) {
    const Perf::Vector result(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Papers::factors"), band.extent(0));
    Kokkos::deep_copy(exec, result, band);
    return result;
  };
  // a View that does not own its memory refers to each
  const Perf::FiveBands memory{copy(bands.lower2), copy(bands.lower), copy(bands.diag),
                               copy(bands.upper), copy(bands.upper2)};
  const PentFactors factors{matrices.array(memory.lower2), matrices.array(memory.lower),
                            matrices.array(memory.diag), matrices.array(memory.upper),
                            matrices.array(memory.upper2)};
  using Range = Kokkos::RangePolicy<Perf::Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("Papers::pent_factor", Range(exec, 0, count), PentFactor{factors});
  double epsilon = 0;
  Kokkos::deep_copy(exec, epsilon, Kokkos::subview(bands.lower2, 0));
  exec.fence("Papers::published_pent");
  const PentSolve<lhs> work{factors, epsilon, systems.array(x)};
  return h.time(
      [&] { Kokkos::deep_copy(exec, x, b); },
      [&] { Kokkos::parallel_for("Papers::pent_solve", Range(exec, 0, systems.count), work); });
}

}  // namespace Papers

#endif
