// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_TRIANGLES_HPP
#define TRIKKOS_PERF_TRIANGLES_HPP

#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "Perf_Harness.hpp"

/// \file
/// Sparse triangles to solve with: of grids, of random numberings, of Matrix Market files. Their
/// values are random, so that all of them are well conditioned.

namespace Perf {

/// The places (row, column) of n rows below the diagonal, or, mirrored, above it.
struct Graph {
  int n = 0;
  std::vector<std::pair<int, int>> edges;
};

/// The points of a grid before a point: its neighbours along the axes, or all that touch it.
inline Graph grid(int m, int dimensions, bool is_full) {
  Graph g{dimensions == 3 ? m * m * m : m * m, {}};
  for (int z = 0; z < (dimensions == 3 ? m : 1); ++z)
    for (int y = 0; y < m; ++y)
      for (int x = 0; x < m; ++x)
        for (int c = -1; c <= 0; ++c)
          for (int b = -1; b <= 1; ++b)
            for (int a = -1; a <= 1; ++a) {
              const bool is_before = c < 0 || b < 0 || (b == 0 && a < 0);
              const bool is_inside =
                  z + c >= 0 && y + b >= 0 && y + b < m && x + a >= 0 && x + a < m;
              const bool is_wanted = is_full || (a != 0) + (b != 0) + (c != 0) == 1;
              const int i = x + m * (y + m * z);
              if (is_before && is_inside && is_wanted)
                g.edges.emplace_back(i, i + a + m * (b + m * c));
            }
  return g;
}

/// Three places anywhere in a row.
inline Graph random_graph(int n) {
  Graph g{n, {}};
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < 3; ++k)
      g.edges.emplace_back(i, static_cast<int>(Trikkos::Impl::random_bits(2, k, i) % i));
  return g;
}

/// The same graph, its rows numbered at random.
inline Graph renumbered(Graph g) {
  std::vector<int> by_key(g.n), number(g.n);
  std::iota(by_key.begin(), by_key.end(), 0);
  const auto key = [](int i) { return Trikkos::Impl::random_bits(3, 0, i); };
  std::sort(by_key.begin(), by_key.end(), [&](int i, int j) { return key(i) < key(j); });
  for (int i = 0; i < g.n; ++i) number[by_key[i]] = i;
  for (auto& [i, j] : g.edges) {
    const auto [low, high] = std::minmax({number[i], number[j]});
    i = high;
    j = low;
  }
  return g;
}

/// What a Matrix Market file has on one side of the diagonal.
inline Graph graph_from_file(const std::string& path, Trikkos::Uplo uplo) {
  const auto A = Trikkos::read_csr<double>(path);
  if (A.columns != A.rows()) throw std::runtime_error(path + ": the matrix is not square");
  Graph g{static_cast<int>(A.rows()), {}};
  for (int i = 0; i < g.n; ++i)
    for (std::int64_t k = A.row_map(i); k < A.row_map(i + 1); ++k) {
      const int j = A.entries(k);
      if (uplo == Trikkos::Uplo::lower ? j < i : i < j)
        g.edges.emplace_back(std::max(i, j), std::min(i, j));
    }
  return g;
}

/// A triangle, its rows sorted; 1 + sum |A(i, j)| on the diagonal.
struct HostTriangle {
  Trikkos::Uplo uplo;
  std::vector<int> row_map, entries;
  std::vector<double> values;

  HostTriangle(const Graph& g, Trikkos::Uplo uplo_) : uplo(uplo_), row_map(g.n + 1) {
    const bool is_lower = uplo == Trikkos::Uplo::lower;
    std::vector<std::vector<int>::size_type> next(g.n + 1, 0);
    for (const auto& [i, j] : g.edges) ++next[(is_lower ? i : j) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<int> columns(g.edges.size());
    const auto starts = next;
    for (const auto& [i, j] : g.edges) columns[next[is_lower ? i : j]++] = is_lower ? j : i;
    for (int i = 0; i < g.n; ++i) {
      const auto first = columns.begin() + static_cast<std::ptrdiff_t>(starts[i]);
      auto last = columns.begin() + static_cast<std::ptrdiff_t>(starts[i + 1]);
      std::sort(first, last);
      last = std::unique(first, last);
      double sum = 1;
      if (!is_lower) entries.push_back(i), values.push_back(0);
      const std::size_t diagonal = values.size() - (is_lower ? 0 : 1);
      for (auto j = first; j != last; ++j) {
        const auto index = static_cast<std::int64_t>(entries.size());
        values.push_back(Trikkos::Impl::random_uniform(1, 0, index));
        sum += std::abs(values.back());
        entries.push_back(*j);
      }
      if (is_lower) {
        entries.push_back(i);
        values.push_back(sum);
      } else {
        values[diagonal] = sum;
      }
      row_map[i + 1] = static_cast<int>(entries.size());
    }
  }
  int rows() const { return static_cast<int>(row_map.size()) - 1; }

  /// The largest |b - op(A) x| / (|op(A)| |x| + |b|) of a row.
  double row_error(bool is_transposed, const double* x, const double* b) const {
    std::vector<long double> r(b, b + rows()), scale(rows());
    for (int i = 0; i < rows(); ++i) scale[i] = std::abs(b[i]);
    for (int i = 0; i < rows(); ++i)
      for (int k = row_map[i]; k < row_map[i + 1]; ++k) {
        const auto [row, column] =
            is_transposed ? std::pair(entries[k], i) : std::pair(i, entries[k]);
        const long double term = static_cast<long double>(values[k]) * x[column];
        r[row] -= term;
        scale[row] += std::abs(term);
      }
    long double worst = 0;
    for (int i = 0; i < rows(); ++i)
      if (!(std::abs(r[i]) <= worst * scale[i])) worst = std::abs(r[i]) / scale[i];
    return static_cast<double>(worst);
  }
};

/// A triangle where Exec works, and which of its systems are solved.
struct TriangularProblem {
  using T = double;
  using Integers = Kokkos::View<int*, Exec>;
  using Vector = Kokkos::View<T*, Exec>;
  using Vectors = Kokkos::View<T**, Kokkos::LayoutRight, Exec>;

  HostTriangle host;
  Integers row_map, entries;
  Vector values;

  TriangularProblem(const Graph& g, Trikkos::Uplo uplo)
      : host(g, uplo),
        row_map(on_device(host.row_map)),
        entries(on_device(host.entries)),
        values(on_device(host.values)) {}

  auto triangle() const { return Trikkos::CsrTriangle{row_map, entries, values, host.uplo}; }
  int rows() const { return host.rows(); }
  /// Matrix, row map, and each b and x, once.
  std::int64_t bytes(int rhs_count) const {
    return 12 * static_cast<std::int64_t>(host.entries.size()) +
           (4 + 16 * std::int64_t(rhs_count)) * rows();
  }

 private:
  template <class V>
  static Kokkos::View<V*, Exec> on_device(const std::vector<V>& v) {
    const Kokkos::View<V*, Exec> r("Perf::triangle", v.size());
    Kokkos::deep_copy(
        r, Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(v.data(), v.size()));
    return r;
  }
};

}  // namespace Perf

#endif
