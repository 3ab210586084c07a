// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_INVERSES_HPP
#define TRIKKOS_TEST_INVERSES_HPP

#include <Reference.hpp>
#include <Trikkos_Inverse.hpp>
#include <complex>
#include <random>

/// \file
/// Judges of an inverse, and matrices to be inverted.

namespace Test {

/// An array on the host.
template <class T>
struct HostArray {
  std::int64_t rows = 0, columns = 0;
  std::vector<T> values;

  T& operator()(std::int64_t i, std::int64_t j) { return values[i * columns + j]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return values[i * columns + j]; }
};
template <class View>
auto array_on_host(const View& v) {
  using T = typename View::non_const_value_type;
  HostArray<T> r{static_cast<std::int64_t>(v.extent(0)), static_cast<std::int64_t>(v.extent(1)),
                 std::vector<T>(v.extent(0) * v.extent(1))};
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged> host(
      r.values.data(), v.extent(0), v.extent(1));
  copy(host, v);
  return r;
}

/// The largest entry of A X - I over eps |A|_inf max |X|, and of X A - I over eps |A|_1 max |X|, in
/// numbers of 64 bits and more whose exponents suffice for all products. NaN fails.
struct InverseErrors {
  double right = 0, left = 0;

  double worst() const { return !(right <= left) ? right : left; }
};
template <class T>
InverseErrors inverse_errors(const Reference::HostSystem<T>& A, const HostArray<T>& X) {
  using R = Trikkos::Impl::Real<T>;
  using Long =
      std::conditional_t<Trikkos::Impl::is_complex_v<T>, std::complex<long double>, long double>;
  const auto wide = [](const T& v) -> Long {
    if constexpr (Trikkos::Impl::is_complex_v<T>)
      return {v.real(), v.imag()};
    else
      return v;
  };
  const auto take = [](long double& most, long double v) {
    if (!(v <= most)) most = v;  // NaN stays
  };
  const std::int64_t n = A.size();
  long double rows = 0, columns = 0, largest = 0, right = 0, left = 0;
  const auto below = [&](std::int64_t i) { return i > 0 ? wide(A.lower[i]) : Long(0); };
  const auto above = [&](std::int64_t i) { return i + 1 < n ? wide(A.upper[i]) : Long(0); };
  for (std::int64_t i = 0; i < n; ++i) {
    const long double d = std::abs(wide(A.diag[i]));
    take(rows, d + std::abs(below(i)) + std::abs(above(i)));
    take(columns,
         d + (i > 0 ? std::abs(above(i - 1)) : 0) + (i + 1 < n ? std::abs(below(i + 1)) : 0));
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const Long x = wide(X(i, j));
      Long r = wide(A.diag[i]) * x - Long(i == j), l = wide(A.diag[j]) * x - Long(i == j);
      if (i > 0) r += below(i) * wide(X(i - 1, j));
      if (i + 1 < n) r += above(i) * wide(X(i + 1, j));
      if (j > 0) l += above(j - 1) * wide(X(i, j - 1));
      if (j + 1 < n) l += below(j + 1) * wide(X(i, j + 1));
      take(largest, std::abs(x));
      take(right, std::abs(r));
      take(left, std::abs(l));
    }
  const long double unit = largest * std::numeric_limits<R>::epsilon();
  if (right == 0 && left == 0) return {};
  return {static_cast<double>(right / (unit * rows)), static_cast<double>(left / (unit * columns))};
}

/// Of dominant matrices, of those that need pivoting, and of those that leave the number range.
enum class InverseFamily {
  dominant,
  poisson,
  kms,   // the inverse is 0.9^|i-j|
  skew,  // tridiag(-1, 1, 1)
  random,
  no_diagonal,  // every other leading minor vanishes: n even
  vanishing,    // many minors vanish, for any n
  blocks,       // zero couplings here and there, on one side or on both
  graded_rows,  // rows and columns times powers of two up to 2^500
  graded,       // by entry
  localised,    // nearly singular somewhere in the middle
  shooting      // 1, -2.5, 1: minors grow and decay as 2^n
};
inline constexpr InverseFamily inverse_families[] = {
    InverseFamily::dominant,  InverseFamily::poisson,   InverseFamily::kms,
    InverseFamily::skew,      InverseFamily::random,    InverseFamily::no_diagonal,
    InverseFamily::vanishing, InverseFamily::blocks,    InverseFamily::graded_rows,
    InverseFamily::graded,    InverseFamily::localised, InverseFamily::shooting};

template <class T>
Reference::HostSystem<T> inverse_matrix(InverseFamily family, std::int64_t n,
                                        std::uint64_t seed = 1) {
  using R = Trikkos::Impl::Real<T>;
  std::mt19937_64 random(seed);
  const auto real = [&] {
    return static_cast<R>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  };
  const auto number = [&]() -> T {
    if constexpr (Trikkos::Impl::is_complex_v<T>) {
      const R re = real();
      return {re, real()};
    } else {
      return real();
    }
  };
  const int most = sizeof(R) == 8 ? 500 : 60;
  const auto power = [&](int bits) { return std::ldexp(R(1), static_cast<int>(real() * R(bits))); };
  Reference::HostSystem<T> A{std::vector<T>(n), std::vector<T>(n), std::vector<T>(n)};
  const auto all = [&](double a, double b, double c) {
    for (std::int64_t i = 0; i < n; ++i) {
      A.lower[i] = T(static_cast<R>(a));
      A.diag[i] = T(static_cast<R>(b));
      A.upper[i] = T(static_cast<R>(c));
    }
  };
  for (std::int64_t i = 0; i < n; ++i) {
    A.lower[i] = number();
    A.diag[i] = number();
    A.upper[i] = number();
  }
  switch (family) {
    case InverseFamily::dominant:
      for (T& v : A.diag) v += T(4);
      break;
    case InverseFamily::poisson:
      all(-1, 2, -1);
      break;
    case InverseFamily::kms:
      all(-0.9, 1.81, -0.9);
      A.diag[0] = A.diag[n - 1] = T(1);
      if (n == 1) A.diag[0] = T(R(0.19));
      break;
    case InverseFamily::skew:
      all(-1, 1, 1);
      break;
    case InverseFamily::random:
      break;
    case InverseFamily::no_diagonal:
      for (std::int64_t i = 0; i < n - n % 2; ++i) A.diag[i] = T(0);
      break;
    case InverseFamily::vanishing:
      for (std::int64_t i = 0; i < n; ++i) {  // 0, 1, 1, 0, ...: minors 0, -1, -1, ...
        A.lower[i] = A.upper[i] = T(1);
        A.diag[i] = T(R(i % 3 == 0 ? 0 : 1));
      }
      if (n % 3 == 1) A.diag[n - 1] = T(R(0.5));
      break;
    case InverseFamily::blocks:
      for (std::int64_t i = 0; i < n; ++i) {
        A.diag[i] += T(3);
        if (i % 5 == 4) A.upper[i] = T(0);
        if (i % 7 == 5) A.lower[i] = T(0);
      }
      break;
    case InverseFamily::graded_rows:
      for (std::int64_t i = 0; i < n; ++i) {
        const R row = power(most / 2), column = power(most / 2);
        A.lower[i] *= row;
        A.diag[i] = (A.diag[i] + T(4)) * row * column;
        A.upper[i] *= row;
        if (i > 0) A.upper[i - 1] *= column;
        if (i + 1 < n) A.lower[i + 1] *= column;
      }
      break;
    case InverseFamily::graded:
      for (auto* band : {&A.lower, &A.diag, &A.upper})
        for (T& v : *band) v *= power(most / 20);
      break;
    case InverseFamily::localised:
      all(1, 4, 1);
      A.diag[n / 2] = T(R(0.5358983848622454));  // but for rounding, 4 - 2 sqrt(3)
      break;
    case InverseFamily::shooting:  // of some rows: condition 4^40, 4^16; what follows is dominant
      all(1, 4, 1);
      for (std::int64_t i = 0; i < std::min(n, std::int64_t(sizeof(R) == 8 ? 40 : 16)); ++i)
        A.diag[i] = T(R(-2.5));
      A.diag[0] = T(R(-0.5));
      break;
  }
  return A;
}

/// Changes entries of A at random, and keeps what does not make the errors of an inverse with an ok
/// status smaller: `invert(A)` yields a status and the array. Returns the worst.
template <class T, class Invert>
double climb_inverse(InverseFamily family, std::int64_t n, std::uint64_t seed, int steps,
                     const Invert& invert) {
  using R = Trikkos::Impl::Real<T>;
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t m) { return static_cast<std::int64_t>(random() % m); };
  const auto unit = [&] { return static_cast<R>(static_cast<double>(random() >> 11) * 0x1p-53); };
  auto A = inverse_matrix<T>(family, n, seed);
  double worst = 0;
  for (int step = 0; step < steps; ++step) {
    auto B = A;
    for (std::int64_t changes = 1 + below(3); changes > 0; --changes) {
      const std::int64_t i = below(n), k = below(n);
      T& v = B.band(static_cast<int>(below(3)) - 1)[i];
      switch (below(8)) {
        case 0:
          v = T(0);
          break;
        case 1:
          v = B.band(static_cast<int>(below(3)) - 1)[k];
          break;
        case 2:
          v = -v;
          break;
        case 3:
          v *= std::ldexp(R(1), static_cast<int>(below(41)) - 20);
          break;
        case 4:  // by some units in the last place
          v *= 1 + static_cast<R>(below(9) - 4) * std::numeric_limits<R>::epsilon();
          break;
        case 5:  // the leading minor nearly vanishes
          if (i > 0 && B.diag[i - 1] != T(0))
            B.diag[i] = B.lower[i] * B.upper[i - 1] / B.diag[i - 1] * (1 + unit() * R(1e-6));
          break;
        case 6:
          v += T(unit() - R(0.5));
          break;
        default:
          v *= 1 + (unit() - R(0.5)) / R(8);
      }
    }
    const auto r = invert(B);
    if (!r.status.ok()) continue;
    const double found = inverse_errors(B, r.X).worst();
    if (found >= worst || !(found == found)) {
      A = B;
      worst = found;
      if (!(found == found)) return found;
    }
  }
  return worst;
}

}  // namespace Test

#endif
