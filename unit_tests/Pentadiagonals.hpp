// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_PENTADIAGONALS_HPP
#define TRIKKOS_TEST_PENTADIAGONALS_HPP

#include <Breaker.hpp>
#include <ManySystems.hpp>
#include <ReferencePentadiagonal.hpp>

/// \file
/// Pentadiagonal matrices to solve with, and their solution by every call that there is.

namespace Test::Five {

using Reference::HostPentadiagonal;
using Trikkos::Boundary;
using Trikkos::Options;
using Trikkos::Transpose;

enum class Family {
  dominant,
  positive_definite,  // L L^T, ill-conditioned
  biharmonic,         // 1 -4 6 -4 1, condition number n^4
  random,             // needs pivoting
  zero_diagonal,      // does so everywhere
  advection,          // implicit central differences at a Courant number of 100, 4th-order damping
};
constexpr Family families[] = {Family::dominant, Family::positive_definite, Family::biharmonic,
                               Family::random,   Family::zero_diagonal,     Family::advection};
constexpr const char* name(Family family) {
  constexpr const char* names[] = {"dominant", "positive definite", "biharmonic",
                                   "random",   "zero diagonal",     "advection"};
  return names[static_cast<int>(family)];
}

template <class T>
HostPentadiagonal<T> make(Family family, std::int64_t n, std::uint64_t seed = 1,
                          Boundary boundary = Boundary::open) {
  Breaker::Random random(1000 * seed + static_cast<std::uint64_t>(n));
  HostPentadiagonal<T> A;
  A.periodic = boundary == Boundary::periodic;
  for (int j = -2; j <= 2; ++j)
    for (std::int64_t i = 0; i < n; ++i) A.band(j).push_back(Breaker::any_number<T>(random));
  const auto fill = [&](double far, double lower, double diag, double upper) {
    const double values[] = {far, lower, diag, upper, far};
    for (int j = -2; j <= 2; ++j) std::fill(A.band(j).begin(), A.band(j).end(), T(values[2 + j]));
  };
  switch (family) {
    case Family::dominant:
      for (T& v : A.diag) v += T(6);
      break;
    case Family::positive_definite: {
      const auto a = A.upper, b = A.upper2;  // of L, below its diagonal of ones
      const auto at = [n](std::int64_t i) { return Reference::wrapped(i, n); };
      const auto bar = [](const T& v) { return Trikkos::Impl::conjugate(v); };
      const auto inside = [&](std::int64_t i) { return A.periodic || i >= 0; };
      for (std::int64_t i = 0; i < n; ++i) {
        const T ai = inside(i - 1) ? a[i] : T(0), bi = inside(i - 2) ? b[i] : T(0);
        A.diag[i] = T(1) + ai * bar(ai) + bi * bar(bi);
        A.lower[i] = ai + (inside(i - 2) ? bi * bar(a[at(i - 1)]) : T(0));
        A.lower2[i] = bi;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        A.upper[i] = bar(A.lower[at(i + 1)]);
        A.upper2[i] = bar(A.lower2[at(i + 2)]);
      }
      break;
    }
    case Family::biharmonic:  // on a ring it is singular
      fill(1, -4, A.periodic ? 6.1 : 6, -4);
      break;
    case Family::random:
      break;
    case Family::zero_diagonal:
      if (n > 1) std::fill(A.diag.begin(), A.diag.end(), T(0));
      break;
    case Family::advection:
      fill(0.0625, -0.25 - 50, 1.375, -0.25 + 50);
      break;
  }
  return A;
}

// ---- as FastError.hpp

/// |b - A x| / (|A| |x| + |b|) in maximum norms; NaN unless all numbers are finite.
template <class T>
double fast_backward_error(const HostPentadiagonal<T>& A, const std::vector<T>& x,
                           const std::vector<T>& b) {
  if (A.size() < 5) return Reference::backward_error(A, x, b);  // entries may share a place
  long double error = 0, rows = 0, size_of_x = 0, size_of_b = 0;
  for (std::int64_t i = 0; i < A.size(); ++i) {
    LongSum<T> r;
    long double row = 0;
    Reference::for_row(A, i, [&](std::int64_t column, const T& v) {
      r.add(v, x[column]);
      row += long_modulus(v);
    });
    r.subtract(b[i]);
    if (!r.is_finite()) return std::numeric_limits<double>::quiet_NaN();
    error = std::max(error, r.square());
    rows = std::max(rows, row);
    size_of_x = std::max(size_of_x, long_square(x[i]));
    size_of_b = std::max(size_of_b, long_square(b[i]));
  }
  const long double scale = rows * std::sqrt(size_of_x) + std::sqrt(size_of_b);
  return error == 0 ? 0. : static_cast<double>(std::sqrt(error) / scale);
}
/// A x, rounded once.
template <class T>
std::vector<T> fast_multiply(const HostPentadiagonal<T>& A, const std::vector<T>& x) {
  std::vector<T> b(x.size());
  for (std::int64_t i = 0; i < A.size(); ++i) {
    LongSum<T> sum;
    Reference::for_row(A, i, [&](std::int64_t column, const T& v) { sum.add(v, x[column]); });
    if constexpr (std::is_floating_point_v<T>)
      b[i] = static_cast<T>(sum.re);
    else
      b[i] = T(sum.re, sum.im);
  }
  return b;
}

// ---- many systems

template <class T>
struct Batch {
  std::vector<HostPentadiagonal<T>> A;
  std::vector<std::vector<T>> b;

  std::int64_t count() const { return static_cast<std::int64_t>(A.size()); }
  std::int64_t n() const { return A.empty() ? 0 : A.front().size(); }
  double eta(std::int64_t k, const std::vector<T>& x) const {
    return fast_backward_error(A[k], x, b[k]);
  }
};
template <class T>
Batch<T> make_batch(std::int64_t count, std::int64_t n, Boundary boundary = Boundary::open) {
  Batch<T> r;
  for (std::int64_t k = 0; k < count; ++k) {
    r.A.push_back(make<T>(families[k % std::size(families)], n, 100 + k, boundary));
    r.b.push_back(k % 2 ? random_rhs<T>(n, 200 + k)
                        : fast_multiply(r.A[k], random_rhs<T>(n, 200 + k)));
  }
  return r;
}

/// In the memory of the execution space.
template <class T>
struct DeviceBatch {
  using Array = Many::Array<T>;

  Trikkos::Pentadiagonal<Array> A;
  Array b, x;

  DeviceBatch(const Batch<T>& batch, Many::Layout layout)
      : A{array(batch, layout),
          array(batch, layout),
          array(batch, layout),
          array(batch, layout),
          array(batch, layout),
          !batch.A.empty() && batch.A.front().periodic ? Boundary::periodic : Boundary::open},
        b(array(batch, layout)),
        x(array(batch, layout)) {
    put(batch);
  }
  void put(const Batch<T>& batch) const {
    const TEST_EXECSPACE exec;
    for (std::int64_t k = 0; k < batch.count(); ++k) {
      Trikkos::Impl::for_bands(A, [&](int j, const Array& to) {
        ::Test::copy(Many::row_of(to, k), Reference::to_device(exec, batch.A[k].band(j)));
      });
      ::Test::copy(Many::row_of(b, k), Reference::to_device(exec, batch.b[k]));
    }
  }
  std::vector<T> solution(std::int64_t k) const { return Reference::to_host(Many::row_of(x, k)); }

  /// The k-th system, inside kernels.
  KOKKOS_FUNCTION auto matrix(int k) const {
    return Trikkos::Pentadiagonal{Many::row_of(A.lower2, k), Many::row_of(A.lower, k),
                                  Many::row_of(A.diag, k),   Many::row_of(A.upper, k),
                                  Many::row_of(A.upper2, k), A.boundary};
  }

 private:
  static Array array(const Batch<T>& batch, Many::Layout layout) {
    return Many::make_array<T>(layout, batch.count(), batch.n());
  }
};

/// Who solves them.
enum class Level { call, batch, team, thread };
constexpr Level levels[] = {Level::call, Level::batch, Level::team, Level::thread};

/// 0 for each system that was solved. A Status names one bad system: those behind it are solved
/// once more.
template <class T>
std::vector<int> solve_all(const DeviceBatch<T>& d, Level level, const Options& options) {
  const TEST_EXECSPACE exec;
  const auto count = static_cast<int>(d.b.extent(0));
  const Systems<T, 2> systems{d.A.lower2, d.A.lower, d.A.diag, d.A.upper,
                              d.A.upper2, d.b,       d.x,      d.A.boundary};
  if (level == Level::team) return solve_by_teams(systems, count, options);
  if (level == Level::thread) return solve_by_threads_in_memory(systems, count, options);
  std::vector<int> info(count, 0);
  if (level == Level::call) {
    for (int k = 0; k < count; ++k)
      info[k] =
          !Trikkos::solve(exec, d.matrix(k), Many::row_of(d.b, k), Many::row_of(d.x, k), options)
               .ok();
    return info;
  }
  for (int first = 0; first < count; ++first) {
    const auto rest = [&](const Many::Array<T>& all) {
      return Kokkos::subview(all, Kokkos::pair(first, count), Kokkos::ALL);
    };
    const Trikkos::Pentadiagonal A{rest(d.A.lower2), rest(d.A.lower),  rest(d.A.diag),
                                   rest(d.A.upper),  rest(d.A.upper2), d.A.boundary};
    const auto status = Trikkos::solve(exec, A, rest(d.b), rest(d.x), options);
    if (status.ok()) break;
    first += std::max<int>(static_cast<int>(status.system), 0);
    info[first] = 1;
  }
  return info;
}

}  // namespace Test::Five

#endif
