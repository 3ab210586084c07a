// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_SPARSEMATRICES_HPP
#define TRIKKOS_TEST_SPARSEMATRICES_HPP

#include <Reference.hpp>
#include <Triangles.hpp>
#include <Trikkos_IncompleteFactors.hpp>
#include <map>

/// \file
/// Square sparse matrices on the host, and their incomplete factors, by maps of wide numbers.

namespace Test {

/// As a HostTriangle, of which both triangles are meant.
template <class T>
using HostMatrix = HostTriangle<T>;

template <class Exec, class T>
auto csr_on_device(const HostMatrix<T>& A) {
  return Trikkos::CsrMatrix{on_device<int, Exec>(A.row_map), on_device<int, Exec>(A.entries),
                            on_device<T, Exec>(A.values)};
}

/// f(row, column, value) for all entries.
template <class T, class F>
void for_entries(const HostMatrix<T>& A, const F& f) {
  for (int i = 0; i < A.rows(); ++i)
    for (int k = A.row_map[i]; k < A.row_map[i + 1]; ++k) f(i, A.entries[k], A.values[k]);
}

/// -1 or another number of modulus 1 between neighbours on a grid of m^d points, 2 d between a
/// point and itself; `wind` is added to what comes from lower neighbours, and to the diagonal
/// (upwind differences).
template <class T>
HostMatrix<T> laplacian(int m, int d, double wind = 0) {
  T coupling(-1);
  if constexpr (Trikkos::Impl::is_complex_v<T>) coupling = T(-0.6, 0.8);
  HostMatrix<T> A;
  const int n = d == 2 ? m * m : m * m * m;
  for (int i = 0; i < n; ++i) {
    const int at[] = {i % m, i / m % m, i / m / m}, step[] = {1, m, m * m};
    for (int axis = d - 1; axis >= 0; --axis)
      if (at[axis] > 0) A.add(i - step[axis], coupling * T(1 + wind));
    A.add(i, T(2 * d + d * wind));
    for (int axis = 0; axis < d; ++axis)
      if (at[axis] < m - 1) A.add(i + step[axis], Trikkos::Impl::conjugate(coupling));
    A.end_row();
  }
  return A;
}

/// |b - A x| / |b|, in wide numbers.
template <class T>
double relative_residual(const HostMatrix<T>& A, const std::vector<T>& x, const std::vector<T>& b) {
  std::vector<Reference::WideOf<T>> r;
  for (const T& v : b) r.push_back(Reference::widen(v));
  for_entries(A, [&](int i, int j, const T& v) {
    r[i] = r[i] - Reference::widen(v) * Reference::widen(x[j]);
  });
  long double above = 0, below = 0;
  for (int i = 0; i < A.rows(); ++i) {
    const auto square = [](const auto& v) {
      const auto size = static_cast<long double>(Reference::modulus(v));
      return size * size;
    };
    above += square(r[i]);
    below += square(Reference::widen(b[i]));
  }
  return static_cast<double>(std::sqrt(above / below));
}

// ---- incomplete factors

inline Reference::Wide conjugate(Reference::Wide v) { return v; }
inline Reference::WideComplex conjugate(Reference::WideComplex v) { return {v.re, 0 - v.im}; }
inline Reference::Wide real(Reference::Wide v) { return v; }
inline Reference::Wide real(Reference::WideComplex v) { return v.re; }
inline Reference::Wide modulus_sum(Reference::Wide v) { return Reference::modulus(v); }
inline Reference::Wide modulus_sum(Reference::WideComplex v) {
  return Reference::modulus(v.re) + Reference::modulus(v.im);
}
inline Reference::Wide square_root(Reference::Wide v) {
  const Reference::Wide r = std::sqrt(static_cast<long double>(v));
  return (r + v / r) / Reference::Wide(2);  // twice the digits
}

/// Factors at the places that A has, and on the diagonal, as the definition has it, row by row;
/// real repairs only.
template <class T>
class ReferenceFactors {
 public:
  using Wide = Reference::WideOf<T>;
  using Row = std::map<int, Wide>;

  std::vector<Row> rows;
  int breakdown_row = -1, breakdowns = 0, stuck_row = -1, missing_row = -1, missing = 0;

  ReferenceFactors(const HostMatrix<T>& A, Trikkos::IncompleteKind kind,
                   const Trikkos::IncompleteOptions& options = {}, double shift = 0)
      : rows(A.rows()), m_options(options) {
    const bool is_lu = kind == Trikkos::IncompleteKind::lu;
    for_entries(A, [&](int i, int j, const T& v) {
      if (is_lu || j <= i) rows[i][j] = rows[i][j] + Reference::widen(v);
    });
    for (int i = 0; i < A.rows(); ++i) {
      if (rows[i].count(i) == 0 && missing++ == 0) missing_row = i;
      Reference::Wide scale = 0;
      for (const auto& [j, v] : rows[i]) scale = scale + modulus_sum(v);
      Wide& d = rows[i][i];
      const bool is_negative = is_lu && real(d) < Reference::Wide(0);
      if (is_negative)
        d = d - Wide(Reference::Wide(shift) * scale);
      else
        d = d + Wide(Reference::Wide(shift) * scale);
      if (is_lu)
        eliminate_lu(i, scale);
      else
        eliminate_cholesky(i, scale);
    }
  }

 private:
  void eliminate_lu(int i, Reference::Wide scale) {
    for (auto& [j, v] : rows[i]) {
      if (j >= i) break;
      v = m_has_pivot[j] ? v / rows[j][j] : Wide(0);
      for (const auto& [c, u] : rows[j])
        if (c > j && rows[i].count(c)) rows[i][c] = rows[i][c] - v * u;
    }
    Wide& d = rows[i][i];
    const auto size = Reference::modulus(d);
    const Wide sign = real(d) < Reference::Wide(0) ? Wide(-1) : Wide(1);
    if (is_broken(size, scale)) d = repaired(i, d, sign, scale);
    m_has_pivot.push_back(!(Reference::modulus(d) == Reference::Wide(0)));
    if (!m_has_pivot[i] && stuck_row < 0) stuck_row = i;
  }
  void eliminate_cholesky(int i, Reference::Wide scale) {
    Wide d = rows[i][i];
    for (auto& [j, v] : rows[i]) {
      if (j == i) break;
      for (const auto& [c, l] : rows[i])
        if (c < j && rows[j].count(c)) v = v - l * conjugate(rows[j][c]);
      v = m_has_pivot[j] ? v / rows[j][j] : Wide(0);
      d = d - v * conjugate(v);
    }
    Reference::Wide square = real(d);
    if (is_broken(square, scale)) square = real(repaired(i, Wide(square), Wide(1), scale));
    m_has_pivot.push_back(Reference::Wide(0) < square);
    if (!m_has_pivot[i] && stuck_row < 0) stuck_row = i;
    rows[i][i] = m_has_pivot[i] ? Wide(square_root(square)) : Wide(0);
  }
  bool is_broken(Reference::Wide size, Reference::Wide scale) const {
    const bool boosts = m_options.on_breakdown() == Trikkos::OnBreakdown::boost;
    return !(Reference::Wide(0) < size) ||
           (boosts && size < Reference::Wide(m_options.value()) * scale);
  }
  Wide repaired(int i, const Wide& pivot, const Wide& sign, Reference::Wide scale) {
    if (breakdowns++ == 0) breakdown_row = i;
    const Reference::Wide number = m_options.value();
    if (m_options.on_breakdown() == Trikkos::OnBreakdown::replace) return Wide(number);
    if (m_options.on_breakdown() == Trikkos::OnBreakdown::boost) return sign * Wide(number * scale);
    return pivot;
  }

  Trikkos::IncompleteOptions m_options;
  std::vector<bool> m_has_pivot;
};

}  // namespace Test

#endif
