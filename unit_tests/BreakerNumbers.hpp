// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_BREAKERNUMBERS_HPP
#define TRIKKOS_TEST_BREAKERNUMBERS_HPP

#include <cmath>
#include <cstdint>
#include <impl/Trikkos_Scalar.hpp>
#include <limits>
#include <random>
#include <type_traits>

/// \file
/// The numbers that searches for bad matrices are made of.

namespace Test::Breaker {

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_engine(seed) {}

  int below(int n) { return static_cast<int>(m_engine() % static_cast<std::uint64_t>(n)); }
  /// In [-1, 1).
  double number() { return std::ldexp(static_cast<double>(m_engine() >> 11), -52) - 1; }

 private:
  std::mt19937_64 m_engine;
};

/// A number as matrices have them: a zero, a tie, a tiny one, or any.
template <class T>
T pick(Random& random) {
  using R = Trikkos::Impl::Real<T>;
  constexpr double unit = std::numeric_limits<R>::epsilon();
  const auto real = [&] {
    switch (random.below(16)) {
      case 0:
        return 0.;
      case 1:
      case 2:
        return 1.;
      case 3:
      case 4:
        return -1.;
      case 5:
        return 0.5;
      case 6:
        return 1 + 1e-3 * random.number();
      case 7:
        return 1e-3 * random.number();
      case 8:
        return std::sqrt(unit) * random.number();
      case 9:
        return unit * random.number();
      default:
        return random.number();
    }
  };
  const R v = static_cast<R>(real());
  if constexpr (!std::is_floating_point_v<T>) {
    const int phase = random.below(8);
    if (phase == 0) return T(v, static_cast<R>(real()));
    if (phase == 1) return T(0, v);
    if (phase == 2) return T(v, v);
  }
  return v;
}
template <class T>
T any_number(Random& random) {
  using R = Trikkos::Impl::Real<T>;
  const R re = static_cast<R>(random.number());
  if constexpr (std::is_floating_point_v<T>)
    return re;
  else
    return {re, static_cast<R>(random.number())};
}

}  // namespace Test::Breaker

#endif
