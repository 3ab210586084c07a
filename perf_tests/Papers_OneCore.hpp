// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_ONECORE_HPP
#define TRIKKOS_PAPERS_ONECORE_HPP

#include <chrono>

#include "Papers_Sparse.hpp"

/// \file
/// ILU(0), CG and BiCGStab as plain loops: what one core of the host takes.

namespace Papers {

class OneCore {
  using Vector = std::vector<double>;
  using Clock = std::chrono::steady_clock;

 public:
  struct Result {
    std::int64_t iterations = 0;
    double factorisation = 0, solve = 0;  // seconds
    bool has_converged = false;
  };

  explicit OneCore(const SparseMatrix& A) : m_A(A), m_factors(A), m_diagonal(A.rows()) {
    for (int i = 0; i < A.rows(); ++i)
      m_diagonal[i] = static_cast<int>(std::lower_bound(A.entries.begin() + A.row_map[i],
                                                        A.entries.begin() + A.row_map[i + 1], i) -
                                       A.entries.begin());
  }

  /// From x = 0, to |b - A x| <= relative |b| as the recurrence has it; not longer than `seconds`.
  Result solve(bool is_cg, const Vector& b, double relative, std::int64_t most, double seconds) {
    Result result;
    auto start = Clock::now();
    factor();
    result.factorisation = since(start);
    start = Clock::now();
    Vector x(b.size(), 0.), r = b;
    const double target = relative * std::sqrt(dot(b, b));
    const auto goes_on = [&] {
      result.solve = since(start);
      result.has_converged = std::sqrt(dot(r, r)) <= target;
      return !result.has_converged && result.iterations < most && result.solve < seconds;
    };
    is_cg ? cg(x, r, result, goes_on) : bicgstab(x, r, result, goes_on);
    return result;
  }

 private:
  static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  static double dot(const Vector& x, const Vector& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  }
  /// y = x + factor y
  static void scale_and_add(const Vector& x, double factor, Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + factor * y[i];
  }
  /// y = y + factor x
  static void add(double factor, const Vector& x, Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
  }

  void factor() {
    m_factors.values = m_A.values;
    const auto& row_map = m_A.row_map;
    const auto& column = m_A.entries;
    auto& value = m_factors.values;
    for (int i = 0; i < m_A.rows(); ++i)
      for (int k = row_map[i]; k < m_diagonal[i]; ++k) {
        const int j = column[k];
        const double factor = value[k] /= value[m_diagonal[j]];
        int at = k + 1;
        for (int above = m_diagonal[j] + 1; above < row_map[j + 1]; ++above) {
          while (at < row_map[i + 1] && column[at] < column[above]) ++at;
          if (at == row_map[i + 1]) break;
          if (column[at] == column[above]) value[at] -= factor * value[above];
        }
      }
  }
  void precondition(const Vector& r, Vector& z) const {
    const auto& value = m_factors.values;
    for (int i = 0; i < m_A.rows(); ++i) {
      double sum = r[i];
      for (int k = m_A.row_map[i]; k < m_diagonal[i]; ++k) sum -= value[k] * z[m_A.entries[k]];
      z[i] = sum;
    }
    for (int i = m_A.rows(); i-- > 0;) {
      double sum = z[i];
      for (int k = m_diagonal[i] + 1; k < m_A.row_map[i + 1]; ++k)
        sum -= value[k] * z[m_A.entries[k]];
      z[i] = sum / value[m_diagonal[i]];
    }
  }

  template <class GoesOn>
  void cg(Vector& x, Vector& r, Result& result, const GoesOn& goes_on) const {
    Vector z(x.size()), p(x.size(), 0.), q(x.size());
    double before = 1;
    for (; goes_on(); ++result.iterations) {
      precondition(r, z);
      const double rho = dot(r, z);
      scale_and_add(z, rho / before, p);
      m_A.multiply(p, q);
      const double alpha = rho / dot(p, q);
      add(alpha, p, x);
      add(-alpha, q, r);
      before = rho;
    }
  }
  template <class GoesOn>
  void bicgstab(Vector& x, Vector& r, Result& result, const GoesOn& goes_on) const {
    const Vector shadow = r;
    Vector p(x.size(), 0.), v(x.size(), 0.), t(x.size()), y(x.size());
    double before = 1, alpha = 1, omega = 1;
    for (; goes_on(); ++result.iterations) {
      const double rho = dot(shadow, r);
      add(-omega, v, p);
      scale_and_add(r, rho / before * alpha / omega, p);
      precondition(p, y);
      m_A.multiply(y, v);
      alpha = rho / dot(shadow, v);
      add(alpha, y, x);
      add(-alpha, v, r);
      precondition(r, y);
      m_A.multiply(y, t);
      omega = dot(t, r) / dot(t, t);
      add(omega, y, x);
      add(-omega, t, r);
      before = rho;
    }
  }

  const SparseMatrix& m_A;
  SparseMatrix m_factors;
  std::vector<int> m_diagonal;
};

}  // namespace Papers

#endif
