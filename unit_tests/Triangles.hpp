// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_TRIANGLES_HPP
#define TRIKKOS_TEST_TRIANGLES_HPP

#include <FastError.hpp>
#include <Trikkos_TriangularPlan.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <impl/Trikkos_Random.hpp>
#include <mutex>
#include <thread>
#include <vector>

/// \file
/// Sparse triangles on the host: patterns, values, and the judge of solutions.

namespace Test {

/// A sparse matrix in compressed rows, and which of its triangles is meant.
template <class T>
struct HostTriangle {
  std::vector<int> row_map = {0}, entries;
  std::vector<T> values;
  Trikkos::Uplo uplo = Trikkos::Uplo::lower;
  Trikkos::Diag diag = Trikkos::Diag::non_unit;

  int rows() const { return static_cast<int>(row_map.size()) - 1; }
  void add(int column, const T& value) {
    entries.push_back(column);
    values.push_back(value);
  }
  void end_row() { row_map.push_back(static_cast<int>(entries.size())); }
  bool has(int i, int j) const {
    if (i == j) return diag == Trikkos::Diag::non_unit;
    return (j < i) == (uplo == Trikkos::Uplo::lower);
  }
  /// f(row, column, value) for the entries of the triangle, and the ones of a unit diagonal.
  template <class F>
  void for_each(const F& f) const {
    for (int i = 0; i < rows(); ++i) {
      if (diag == Trikkos::Diag::unit) f(i, i, T(1));
      for (int k = row_map[i]; k < row_map[i + 1]; ++k)
        if (has(i, entries[k])) f(i, entries[k], values[k]);
    }
  }
};

template <class T>
T random_number(std::uint64_t seed, std::int64_t index) {
  if constexpr (Trikkos::Impl::is_complex_v<T>)
    return T(Trikkos::Impl::random_uniform(seed, 0, index),
             Trikkos::Impl::random_uniform(seed, 1, index));
  else
    return T(Trikkos::Impl::random_uniform(seed, 0, index));
}

template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed = 1) {
  std::vector<T> v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = random_number<T>(seed, i);
  return v;
}

/// Random entries at (i, j) for the j < i that `neighbours(i, add)` adds, and at (j, i), and a
/// diagonal that dominates the lower rows.
template <class T, class Neighbours>
HostTriangle<T> triangle(int n, const Neighbours& neighbours, bool both = false) {
  std::vector<std::vector<int>> below(n), above(n);
  for (int i = 0; i < n; ++i)
    neighbours(i, [&](int j) {
      below[i].push_back(j);
      if (both) above[j].push_back(i);
    });
  HostTriangle<T> A;
  for (int i = 0; i < n; ++i) {
    std::sort(below[i].begin(), below[i].end());
    double sum = 1;
    const auto add = [&](int j) {
      const T v = random_number<T>(7, static_cast<std::int64_t>(A.entries.size()));
      sum += std::abs(Kokkos::real(v)) + std::abs(Kokkos::imag(v));
      A.add(j, v);
    };
    for (const int j : below[i]) add(j);
    const std::size_t diagonal = A.entries.size();
    A.add(i, T(1));
    for (const int j : above[i]) add(j);
    A.values[diagonal] = T(i % 2 ? sum : -sum);
    A.end_row();
  }
  return A;
}

/// Neighbours on a grid of m^d points that come before a point: along the axes, or all.
inline auto grid_neighbours(int m, int d, bool is_full) {
  return [=](int i, const auto& add) {
    const int c[3] = {i % m, i / m % m, i / m / m};
    for (int z = d == 3 ? -1 : 0; z <= 0; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
          const int j = i + x + m * (y + m * z), axes = (x != 0) + (y != 0) + (z != 0);
          const bool is_inside = c[0] + x >= 0 && c[0] + x < m && c[1] + y >= 0 && c[1] + y < m &&
                                 (d == 2 || c[2] + z >= 0);
          if (j < i && is_inside && (is_full || axes == 1)) add(j);
        }
  };
}
/// Some rows anywhere before a row: wide levels without locality.
inline auto random_neighbours(int count, int seed = 3) {
  return [=](int i, const auto& add) {
    std::vector<int> chosen;
    for (int k = 0; k < count && i > 0; ++k)
      chosen.push_back(static_cast<int>(Trikkos::Impl::random_bits(seed, k, i) % i));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const int j : chosen) add(j);
  };
}
template <class T>
HostTriangle<T> dense_triangle(int n) {
  return triangle<T>(
      n,
      [](int i, const auto& add) {
        for (int j = 0; j < i; ++j) add(j);
      },
      true);
}
template <class T>
HostTriangle<T> grid(int m, int d, bool is_full) {
  return triangle<T>(d == 2 ? m * m : m * m * m, grid_neighbours(m, d, is_full), true);
}

/// Rows in another order, and a third of the entries in two parts.
template <class T>
HostTriangle<T> shuffled(const HostTriangle<T>& A) {
  HostTriangle<T> r;
  r.uplo = A.uplo;
  r.diag = A.diag;
  for (int i = 0; i < A.rows(); ++i) {
    std::vector<std::pair<std::uint64_t, int>> places;  // of entries, by a random number
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      for (int part = 0; part < (k % 3 == 0 ? 2 : 1); ++part)
        places.push_back({Trikkos::Impl::random_bits(5, part, k), k});
    std::sort(places.begin(), places.end());
    for (const auto& [number, k] : places)
      r.add(A.entries[k], k % 3 == 0 ? A.values[k] * T(0.5) : A.values[k]);
    r.end_row();
  }
  return r;
}

/// Of Views on the host.
template <class RowMap, class Entries, class Values>
auto host_triangle(const Trikkos::CsrTriangle<RowMap, Entries, Values>& A) {
  HostTriangle<typename Values::non_const_value_type> r;
  r.uplo = A.uplo;
  r.diag = A.diag;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (auto k = A.row_map(i); k < A.row_map(i + 1); ++k) r.add(A.entries(k), A.values(k));
    r.end_row();
  }
  return r;
}

// ---- on the device

template <class T, class Exec>
Kokkos::View<T*, Exec> on_device(const std::vector<T>& v) {
  const Kokkos::View<T*, Exec> r("Test::on_device", v.size());
  Kokkos::deep_copy(
      r, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(v.data(), v.size()));
  return r;
}
template <class View>
auto to_vector(const View& v) {
  using T = typename View::non_const_value_type;
  std::vector<T> r(v.extent(0));
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(r.data(), r.size()), v);
  return r;
}
template <class Exec, class T>
auto on_device(const HostTriangle<T>& A) {
  return Trikkos::CsrTriangle{on_device<int, Exec>(A.row_map), on_device<int, Exec>(A.entries),
                              on_device<T, Exec>(A.values), A.uplo, A.diag};
}

// ---- the judge

/// |b - op(A) x| of each row, in long double, as a part of what substitution may leave there, which
/// is c u |op(A)| |x| for u half a unit in the last place. A row of k entries rounds its sum k - 1
/// times, and the reciprocal of its diagonal and the product with it, in complex numbers each part
/// of a sum twice: Higham, Accuracy and Stability, section 8.1. So c = k + 1, or 2 sqrt(2) (k - 1)
/// + 6 < 3 k + 4. What underflows adds to it: terms, x itself, and the reciprocal of what is large.
template <class T>
std::vector<double> row_errors(const HostTriangle<T>& A, Trikkos::Transpose op,
                               const std::vector<T>& x, const std::vector<T>& b) {
  using Real = Trikkos::Impl::Real<T>;
  constexpr bool is_complex = Trikkos::Impl::is_complex_v<T>;
  constexpr long double u = std::numeric_limits<Real>::epsilon() / 2;
  constexpr long double smallest = std::numeric_limits<Real>::denorm_min();
  struct Row {
    LongSum<T> residual;
    long double scale = 0, diagonal = 0;
    int entries = 0;
  };
  std::vector<Row> rows(A.rows());
  for (int i = 0; i < A.rows(); ++i) rows[i].residual.subtract(b[i]);
  A.for_each([&](int i, int j, const T& v) {
    const bool conjugates = op == Trikkos::Transpose::conjugate_transpose;
    if (op != Trikkos::Transpose::none) std::swap(i, j);
    Row& row = rows[i];
    row.residual.add(conjugates ? Trikkos::Impl::conjugate(v) : v, x[j]);
    row.scale += long_modulus(v) * long_modulus(x[j]);
    if (i == j) row.diagonal += long_modulus(v);
    ++row.entries;
  });
  std::vector<double> r;
  for (int i = 0; i < A.rows(); ++i) {
    const Row& row = rows[i];
    const long double error = std::sqrt(row.residual.square()), d = row.diagonal;
    const long double c = u * (is_complex ? 3 * row.entries + 4 : row.entries + 1);
    const long double lost = 4 * smallest * (row.entries + d * (1 + d * long_modulus(x[i])));
    const long double bound = c / (1 - c) * row.scale + lost;
    r.push_back(row.residual.is_finite() ? static_cast<double>(error / bound) : HUGE_VAL);
  }
  return r;
}
/// At most 1 of a right solution.
template <class T>
double worst_row_error(const HostTriangle<T>& A, Trikkos::Transpose op, const std::vector<T>& x,
                       const std::vector<T>& b) {
  const auto errors = row_errors(A, op, x, b);
  return errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end());
}

/// Ends the program if it lives too long: a kernel that spins for ever cannot be stopped.
class TimeLimit {
 public:
  explicit TimeLimit(int seconds = 120)
      : m_thread([=, this] {
          std::unique_lock lock(m_mutex);
          if (m_end.wait_for(lock, std::chrono::seconds(seconds), [this] { return m_is_over; }))
            return;
          std::fprintf(stderr, "Test::TimeLimit: not done after %d seconds\n", seconds);
          std::_Exit(1);
        }) {}
  ~TimeLimit() {
    {
      const std::lock_guard lock(m_mutex);
      m_is_over = true;
    }
    m_end.notify_one();
    m_thread.join();
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  std::mutex m_mutex;
  std::condition_variable m_end;
  bool m_is_over = false;
  std::thread m_thread;
};

}  // namespace Test

#endif
