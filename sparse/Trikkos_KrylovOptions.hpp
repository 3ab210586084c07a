// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_KRYLOVOPTIONS_HPP
#define TRIKKOS_KRYLOVOPTIONS_HPP

#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

namespace Trikkos {

/// When ConjugateGradient and BiCgStab stop. Setters chain:
///
///   KrylovOptions{}.relative(1e-10).max_iterations(500)
class KrylovOptions {
 public:
  /// Stop where |b - A x| <= max(relative |b|, absolute), in the Euclidean norm.
  constexpr KrylovOptions& relative(double tolerance) {
    m_relative = tolerance;
    return *this;
  }
  constexpr double relative() const { return m_relative; }
  constexpr KrylovOptions& absolute(double tolerance) {
    m_absolute = tolerance;
    return *this;
  }
  constexpr double absolute() const { return m_absolute; }

  constexpr KrylovOptions& max_iterations(std::int64_t count) {
    m_max_iterations = count;
    return *this;
  }
  constexpr std::int64_t max_iterations() const { return m_max_iterations; }

 private:
  double m_relative = 1e-8, m_absolute = 0;
  std::int64_t m_max_iterations = 1000;
};

/// How an iteration ended. The residual is that of the x that it left, computed anew.
struct KrylovResult {
  enum class Reason {
    converged,
    max_iterations,             ///< not there yet
    breakdown,                  ///< BiCgStab: a scalar that it divides by is zero, as far as
                                ///< numbers tell, and starting from x again did not help
    stagnation,                 ///< the recurrence has converged, x has not, and starting from x
                                ///< again did not halve its residual: rounding admits no more
    indefinite,                 ///< ConjugateGradient: p^H A p <= 0 for some p
    indefinite_preconditioner,  ///< ConjugateGradient: r^H M r <= 0 for some r
    not_finite                  ///< Inf, NaN or overflow in A, M, b or x
  };

  Reason reason = Reason::converged;
  std::int64_t iterations = 0;
  double residual = 0;    ///< |b - A x|; |b| if that is not finite
  double right_norm = 0;  ///< |b|

  bool ok() const { return reason == Reason::converged; }
  explicit operator bool() const { return ok(); }

  /// One sentence for a log.
  std::string why() const {
    const char* const words[] = {"converged",
                                 "not converged",
                                 "breakdown",
                                 "stagnation",
                                 "the matrix is not positive definite",
                                 "the preconditioner is not positive definite",
                                 "Inf, NaN or overflow"};
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, ", |b - A x| = %.2g, |b| = %.2g", residual, right_norm);
    return std::string(words[static_cast<int>(reason)]) + " after " + std::to_string(iterations) +
           (iterations == 1 ? " iteration" : " iterations") + numbers;
  }
};

}  // namespace Trikkos

#endif
