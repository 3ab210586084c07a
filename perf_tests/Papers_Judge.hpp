// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_JUDGE_HPP
#define TRIKKOS_PAPERS_JUDGE_HPP

#include <cmath>

#include "Perf_Problem.hpp"

/// \file
/// The errors of a solution: computed on the host in long double, in one pass, since systems are
/// large.

namespace Papers {

struct Errors {
  double residual = 0;  // |A x - b| / |b| in 2-norms: SC'12, equation 13
  double eta = 0;       // |A x - b| / (|A| |x| + |b|) in infinity norms
  double largest = 0;   // |A x - b| in the infinity norm
};

/// A maximum that a NaN wins.
template <class V>
void raise(V& maximum, V v) {
  if (maximum == maximum && !(v <= maximum)) maximum = v;
}

/// Judges solutions of one system with one right-hand side.
template <class T>
class Judge {
  using Long = long double;

 public:
  explicit Judge(const Perf::Problem<T>& problem)
      : m_lower(host(problem.A.lower)),
        m_diag(host(problem.A.diag)),
        m_upper(host(problem.A.upper)),
        m_b(host(problem.b)) {}

  Errors errors(const Perf::Problem<T>& problem) const {
    const auto x = host(problem.x);
    const auto n = static_cast<std::int64_t>(m_diag.extent(0));
    Long rr = 0, bb = 0, largest_r = 0, largest_row = 0, largest_x = 0, largest_b = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const Long r = m_b(0, i) - product(i, x), b = m_b(0, i);
      Long row = std::abs(Long(m_diag(i)));
      if (i > 0) row += std::abs(Long(m_lower(i)));
      if (i < n - 1) row += std::abs(Long(m_upper(i)));
      rr += r * r;
      bb += b * b;
      raise(largest_r, std::abs(r));
      raise(largest_row, row);
      raise(largest_x, std::abs(Long(x(0, i))));
      raise(largest_b, std::abs(b));
    }
    return {static_cast<double>(std::sqrt(rr / bb)),
            static_cast<double>(largest_r / (largest_row * largest_x + largest_b)),
            static_cast<double>(largest_r)};
  }

  /// Replaces b by A b, rounded once: the right-hand side of a known x of moderate size.
  static void multiply(const Perf::Problem<T>& problem) {
    const Judge judge(problem);
    const auto Ab = Kokkos::create_mirror(Kokkos::HostSpace{}, problem.b);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(Ab.extent(1)); ++i)
      Ab(0, i) = static_cast<T>(judge.product(i, judge.m_b));
    Kokkos::deep_copy(problem.b, Ab);
  }

 private:
  template <class View>
  static auto host(const View& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  }
  using Band = decltype(host(std::declval<Kokkos::View<T*, Perf::Exec>>()));
  using Vectors = decltype(host(std::declval<typename Perf::Problem<T>::Vectors>()));

  /// Row i of A x.
  Long product(std::int64_t i, const Vectors& x) const {
    Long sum = Long(m_diag(i)) * x(0, i);
    if (i > 0) sum += Long(m_lower(i)) * x(0, i - 1);
    if (i < static_cast<std::int64_t>(m_diag.extent(0)) - 1) sum += Long(m_upper(i)) * x(0, i + 1);
    return sum;
  }

  Band m_lower, m_diag, m_upper;
  Vectors m_b;
};

}  // namespace Papers

#endif
