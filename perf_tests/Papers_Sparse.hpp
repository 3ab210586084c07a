// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_SPARSE_HPP
#define TRIKKOS_PAPERS_SPARSE_HPP

#include <Trikkos.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Sparse matrices on the host: of the size and pattern of some in Naumov's tables, and from files.

namespace Papers {

/// In compressed rows, sorted by column, each place once.
struct SparseMatrix {
  std::vector<int> row_map = {0}, entries;
  std::vector<double> values;

  int rows() const { return static_cast<int>(row_map.size()) - 1; }
  void add(int column, double value) {
    entries.push_back(column);
    values.push_back(value);
  }
  void end_row() { row_map.push_back(static_cast<int>(entries.size())); }
  double at(int i, int j) const {
    const auto first = entries.begin() + row_map[i], last = entries.begin() + row_map[i + 1];
    const auto found = std::lower_bound(first, last, j);
    return found != last && *found == j ? values[found - entries.begin()] : 0.;
  }
  /// Symmetric, with a positive diagonal.
  bool may_be_positive() const {
    for (int i = 0; i < rows(); ++i) {
      if (!(at(i, i) > 0)) return false;
      for (int k = row_map[i]; k < row_map[i + 1]; ++k)
        if (values[k] != at(entries[k], i)) return false;
    }
    return true;
  }
  /// y = A x
  void multiply(const std::vector<double>& x, std::vector<double>& y) const {
    for (int i = 0; i < rows(); ++i) {
      double sum = 0;
      for (int k = row_map[i]; k < row_map[i + 1]; ++k) sum += values[k] * x[entries[k]];
      y[i] = sum;
    }
  }
};

/// Edges times the same factor, so that a grid has at most about `rows` points.
inline std::vector<int> edges(std::vector<int> wanted, std::int64_t rows) {
  double points = 1;
  for (const int edge : wanted) points *= edge;
  const double part = std::pow(std::min(1., static_cast<double>(rows) / points),
                               1. / static_cast<double>(wanted.size()));
  for (int& edge : wanted) edge = std::max(3, static_cast<int>(edge * part + 1e-6));
  return wanted;
}

/// 513 x 1025 points: an implicit step of diffusion in linear finite elements on triangles, seven
/// points. The stiffness of the squares' diagonals is zero, so these entries are of the mass
/// matrix.
inline SparseMatrix parabolic_fem(std::int64_t rows) {
  const auto edge = edges({513, 1025}, rows);
  const int nx = edge[0], ny = edge[1];
  const double step = 512. * 512, mass = 1. / 12;  // a time step of 1 over h^2
  SparseMatrix A;
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      struct Neighbour {
        int x, y;
        double value;
      };
      const Neighbour neighbours[] = {{-1, -1, mass}, {0, -1, mass - step}, {-1, 0, mass - step},
                                      {0, 0, 0},      {1, 0, mass - step},  {0, 1, mass - step},
                                      {1, 1, mass}};
      const auto is_inside = [&](const Neighbour& n) {
        return x + n.x >= 0 && x + n.x < nx && y + n.y >= 0 && y + n.y < ny;
      };
      double diagonal = 0;  // that of elements: constants have no stiffness, and twice their mass
      for (const Neighbour& n : neighbours)
        if (is_inside(n) && n.value != 0) diagonal += n.value == mass ? mass : step + mass;
      for (const Neighbour& n : neighbours)
        if (is_inside(n)) A.add(x + n.x + nx * (y + n.y), n.value == 0 ? diagonal : n.value);
      A.end_row();
    }
  return A;
}

/// 1000 x 1000 points, unit conductances between neighbours; one inner point is grounded, so that
/// it is no row.
inline SparseMatrix ecology2(std::int64_t rows) {
  const auto edge = edges({1000, 1000}, rows);
  const int nx = edge[0], ny = edge[1], grounded = nx / 2 + nx * (ny / 2);
  SparseMatrix A;
  for (int i = 0; i < nx * ny; ++i) {
    if (i == grounded) continue;
    const int x = i % nx, y = i / nx;
    const std::pair<bool, int> neighbours[] = {
        {y > 0, i - nx}, {x > 0, i - 1}, {true, i}, {x < nx - 1, i + 1}, {y < ny - 1, i + nx}};
    int count = -1;
    for (const auto& [is_there, j] : neighbours) count += is_there;
    for (const auto& [is_there, j] : neighbours)
      if (is_there && j != grounded) A.add(j - (j > grounded), j == i ? count : -1.);
    A.end_row();
  }
  return A;
}

/// 148 x 148 x 58 points: diffusion and a wind along all axes, upwind.
inline SparseMatrix atmosmodd(std::int64_t rows) {
  const auto edge = edges({148, 148, 58}, rows);
  const int step[] = {1, edge[0], edge[0] * edge[1]};
  const double wind = 0.1;
  SparseMatrix A;
  for (int i = 0; i < step[2] * edge[2]; ++i) {
    const int at[] = {i % edge[0], i / step[1] % edge[1], i / step[2]};
    for (int axis = 2; axis >= 0; --axis)
      if (at[axis] > 0) A.add(i - step[axis], -1 - wind);
    A.add(i, 6 + 3 * wind);
    for (int axis = 0; axis < 3; ++axis)
      if (at[axis] < edge[axis] - 1) A.add(i + step[axis], -1);
    A.end_row();
  }
  return A;
}

/// Its rows and columns in a random order.
inline SparseMatrix shuffled(const SparseMatrix& A) {
  const int n = A.rows();
  std::vector<int> old_row(n), new_row(n);
  for (int i = 0; i < n; ++i) old_row[i] = i;
  for (int i = n; i > 1; --i)
    std::swap(old_row[i - 1], old_row[Trikkos::Impl::random_bits(1, 0, i) % i]);
  for (int p = 0; p < n; ++p) new_row[old_row[p]] = p;
  SparseMatrix r;
  std::vector<std::pair<int, double>> row;
  for (const int i : old_row) {
    row.clear();
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      row.emplace_back(new_row[A.entries[k]], A.values[k]);
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) r.add(column, value);
    r.end_row();
  }
  return r;
}

/// \throws std::runtime_error for a file that is none
inline SparseMatrix read_sparse(const std::string& path) {
  const auto A = Trikkos::read_csr<double>(path);
  if (A.rows() != A.columns) throw std::runtime_error(path + ": the matrix is not square");
  SparseMatrix r;
  r.row_map.assign(A.row_map.data(), A.row_map.data() + A.row_map.size());
  r.entries.assign(A.entries.data(), A.entries.data() + A.entries.size());
  r.values.assign(A.values.data(), A.values.data() + A.values.size());
  return r;
}

}  // namespace Papers

#endif
