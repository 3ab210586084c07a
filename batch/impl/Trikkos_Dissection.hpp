// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DISSECTION_HPP
#define TRIKKOS_IMPL_DISSECTION_HPP

#include <impl/Trikkos_Fused.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// LU without pivoting of a matrix with W diagonals on either side, in the order of nested
/// dissection. The last W rows of a chunk are a *separator*, r; l is the one before the chunk. The
/// rows between, its interior, are eliminated first, each by
///
///   x_i = z - sum of u[t] x_(i+1+t) - sum of w[c] l_c
///
/// and leave their Schur complement: what the rows of l and those of r have in l and r. Of two
/// neighbours the separator between goes next, and so on up a tree.
///
/// **Is that safe?** |L||U| is compared with each row of A, as when a Plan is factored
/// (factored/Trikkos_Crout.hpp). Rounding errors are some units in the last place of it; no
/// products of multipliers are formed that could be larger. So x solves a system whose rows differ
/// from those of A by some units in the last place times `growth_limit`.

namespace Trikkos::Impl {

/// A row: of the matrix from its left-most diagonal on, and of b.
template <class T, int W>
struct BandRow {
  T a[2 * W + 1], d;

  KOKKOS_FORCEINLINE_FUNCTION bool is_dominant() const {
    Real<T> others(0);
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j <= 2 * W; ++j)
      if (j != W) others += magnitude(a[j]);
    return others <= magnitude(a[W]);
  }
};

/// Rows of a separator, as far as one side goes: of l from the chunks behind it, of r from those
/// before.
template <class T, int W>
struct SeparatorRows {
  static constexpr int words = W * (2 * W + 1) + 1;

  T own[W][W], other[W][W], f[W];  // coefficients of itself and of the separator at the other end
  Real<T> growth;                  // of |L||U|, in rows whose entries sum up to 1 to 2

  /// word(k) is where the k-th of them lies.
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION void put(const Word& word) const {
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        word(a * W + c) = own[a][c];
        word((W + a) * W + c) = other[a][c];
      }
      word(2 * W * W + a) = f[a];
    }
    word(words - 1) = T(growth);
  }
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION static SeparatorRows get(const Word& word) {
    SeparatorRows r;
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        r.own[a][c] = word(a * W + c);
        r.other[a][c] = word((W + a) * W + c);
      }
      r.f[a] = word(2 * W * W + a);
    }
    if constexpr (is_complex_v<T>)
      r.growth = word(words - 1).real();
    else
      r.growth = word(words - 1);
    return r;
  }
};

/// A separator once it is eliminated: x = f - near x_near - far x_far - own x, row by row from the
/// last one.
template <class T, int W>
struct EliminatedSeparator {
  static constexpr int words = W * (2 * W + 1) + W * (W - 1) / 2;

  T own[W][W], near[W][W], far[W][W], f[W];  // of own what is above the diagonal

  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION void put(const Word& word) const {
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        word(a * W + c) = near[a][c];
        word((W + a) * W + c) = far[a][c];
        if (c > a) word(above(a, c)) = own[a][c];
      }
      word(2 * W * W + a) = f[a];
    }
  }
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION static EliminatedSeparator get(const Word& word) {
    EliminatedSeparator r;
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        r.near[a][c] = word(a * W + c);
        r.far[a][c] = word((W + a) * W + c);
        if (c > a) r.own[a][c] = word(above(a, c));
      }
      r.f[a] = word(2 * W * W + a);
    }
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void solve(const T (&x_near)[W], const T (&x_far)[W],
                                         T (&x)[W]) const {
    TRIKKOS_UNROLL(W)
    for (int a = W - 1; a >= 0; --a) {
      T v = f[a];
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) v = fused(-near[a][c], x_near[c], fused(-far[a][c], x_far[c], v));
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c)
        if (c > a) v = fused(-own[a][c], x[c], v);
      x[a] = v;
    }
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int above(int a, int c) {
    return W * (2 * W + 1) + a * (2 * W - a - 1) / 2 + c - a - 1;
  }
};

/// A row of an interior once it is eliminated.
template <class T, int W>
struct InteriorRow {
  T u[W], w[W], z;

  /// Of its row of U, whose diagonal is 1.
  KOKKOS_FORCEINLINE_FUNCTION Real<T> norm() const {
    Real<T> sum = magnitude(u[0]) + Real<T>(1);
    TRIKKOS_UNROLL(W)
    for (int t = 1; t < W; ++t) sum += magnitude(u[t]);
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) sum += magnitude(w[c]);
    return sum;
  }
};

template <class T, int W>
class Dissection {
 public:
  /// Of |L||U| in a row, beyond which a matrix is not solved: diagonally dominant and positive
  /// definite ones reach 4.
  static constexpr int growth_limit = 8;

  /// Eliminates the interior of a chunk of `rows` rows. chunk.equation(k) is row k, from -W on,
  /// those of l, unless the chunk is the first one; chunk.keep(k, row) keeps what became of it.
  template <class Rows>
  KOKKOS_FORCEINLINE_FUNCTION void reduce(const Rows& chunk, int rows, bool is_first,
                                          SeparatorRows<T, W>& l, SeparatorRows<T, W>& r) {
    using R = Real<T>;
    T e[W][W];  // in the rows of l, from the column of x_i on
    R squares[W], fills[W];
    InteriorRow<T, W> before[W];  // nearest first: those of l say that it is itself
    R norms[W];
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      const BandRow<T, W> row = unit(chunk.equation(is_first ? a : a - W));
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        e[a][c] = c > a || is_first ? T(0) : row.a[2 * W - (a - c > 0 ? a - c : 0)];
        l.own[a][c] = before[a].u[c] = T(0);
        before[a].w[c] = T(c == W - 1 - a && !is_first ? -1 : 0);
      }
      l.f[a] = before[a].z = T(0);
      squares[a] = fills[a] = R(0);
      norms[a] = R(1);
    }
    const int inner = rows - W;
    BandRow<T, W> next = chunk.equation(0);
    TRIKKOS_UNROLL(2)
    for (int i = 0; i < inner; ++i) {
      const BandRow<T, W> row = next;
      next = chunk.equation(i + 1);
      const InteriorRow<T, W> mine = eliminate(row, before, norms);
      chunk.keep(i, mine);
      R fill = magnitude(mine.w[0]);
      TRIKKOS_UNROLL(W)
      for (int c = 1; c < W; ++c) fill += magnitude(mine.w[c]);
      TRIKKOS_UNROLL(W)
      for (int a = 0; a < W; ++a) {
        const T m = e[a][0];
        TRIKKOS_UNROLL(W)
        for (int c = 0; c < W; ++c) {
          e[a][c] =
              c + 1 < W ? fused(-m, mine.u[c], e[a][c + 1 < W ? c + 1 : c]) : -(m * mine.u[c]);
          l.own[a][c] = fused(-m, mine.w[c], l.own[a][c]);
        }
        l.f[a] = fused(-m, mine.z, l.f[a]);
        const R size = magnitude(m);
        squares[a] = fused(size, size, squares[a]);
        fills[a] = fused(size, fill, fills[a]);
      }
      push(before, mine);
      push(norms, mine.norm());
    }
    l.growth = r.growth = R(0);
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        l.other[a][c] = e[a][c];
        const R size = magnitude(e[a][c]);
        squares[a] = fused(size, size, squares[a]);
      }
      // the entries are in a column each, the fill is in those of l
      raise(l.growth, Kokkos::sqrt(squares[a]) + fills[a]);
    }
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      BandRow<T, W> row = unit(a == 0 ? next : chunk.equation(inner + a));
      R grown(0);
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) r.other[a][c] = T(0);
      TRIKKOS_UNROLL(W)
      for (int d = W; d > 0; --d) {  // the column d rows before, where that is of the interior
        if (d <= a) continue;
        const int k = d > a ? d - a - 1 : 0;
        const T m = row.a[W - d];
        TRIKKOS_UNROLL(W)
        for (int c = 0; c < W; ++c) {
          row.a[W - d + 1 + c] = fused(-m, before[k].u[c], row.a[W - d + 1 + c]);
          r.other[a][c] = fused(-m, before[k].w[c], r.other[a][c]);
        }
        row.d = fused(-m, before[k].z, row.d);
        grown = fused(magnitude(m), norms[k], grown);
      }
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) r.own[a][c] = row.a[W + c - a];
      r.f[a] = row.d;
      raise(r.growth, grown);
    }
  }

  /// Eliminates the separator between two neighbours, whose rows are `mine` on the side of the
  /// separator that mine are of and `others` on the other side, from the rows of that: from l if
  /// `others` are from behind, or from r.
  KOKKOS_FORCEINLINE_FUNCTION void merge(SeparatorRows<T, W>& outer,
                                         const SeparatorRows<T, W>& near,
                                         const SeparatorRows<T, W>& far,
                                         EliminatedSeparator<T, W>& met) {
    using R = Real<T>;
    R norms[W];
    eliminate(near, far, met, norms);
    R added(0);
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      T m[W];
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        m[c] = outer.other[a][c];
        outer.other[a][c] = T(0);
      }
      R grown(0);
      TRIKKOS_UNROLL(W)
      for (int k = 0; k < W; ++k) {
        TRIKKOS_UNROLL(W)
        for (int c = 0; c < W; ++c) {
          outer.own[a][c] = fused(-m[k], met.near[k][c], outer.own[a][c]);
          outer.other[a][c] = fused(-m[k], met.far[k][c], outer.other[a][c]);
          if (c > k) m[c] = fused(-m[k], met.own[k][c], m[c]);
        }
        outer.f[a] = fused(-m[k], met.f[k], outer.f[a]);
        grown = fused(magnitude(m[k]), norms[k], grown);
      }
      raise(added, grown);
    }
    outer.growth += added;
  }
  /// The last separator, when nothing else is left.
  KOKKOS_FORCEINLINE_FUNCTION void solve_last(SeparatorRows<T, W> rows, T (&x)[W]) {
    Real<T> norms[W];
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      Real<T> grown = rows.growth;
      TRIKKOS_UNROLL(W)
      for (int k = 0; k < W; ++k) {
        if (k >= a) continue;
        const T m = rows.own[a][k];
        TRIKKOS_UNROLL(W)
        for (int c = 0; c < W; ++c)
          if (c > k) rows.own[a][c] = fused(-m, rows.own[k][c], rows.own[a][c]);
        rows.f[a] = fused(-m, rows.f[k], rows.f[a]);
        grown = fused(magnitude(m), norms[k], grown);
      }
      const T p = rows.own[a][a], inverse = reciprocal(p);
      norms[a] = Real<T>(1);
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        if (c <= a) continue;
        rows.own[a][c] = rows.own[a][c] * inverse;
        norms[a] += magnitude(rows.own[a][c]);
      }
      rows.f[a] = rows.f[a] * inverse;
      watch(fused(magnitude(p), norms[a], grown), Real<T>(1));
    }
    TRIKKOS_UNROLL(W)
    for (int a = W - 1; a >= 0; --a) {
      x[a] = rows.f[a];
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c)
        if (c > a) x[a] = fused(-rows.own[a][c], x[c], x[a]);
    }
  }

  /// Whether nothing has grown so far.
  KOKKOS_FORCEINLINE_FUNCTION bool is_safe() const { return m_is_safe; }

 private:
  /// Below this products could be less than the smallest number.
  static constexpr Real<T> least =
      Kokkos::Experimental::norm_min_v<Real<T>> / Kokkos::Experimental::epsilon_v<Real<T>>;

  /// Not a number is not safe.
  KOKKOS_FORCEINLINE_FUNCTION void watch(const Real<T>& grown, const Real<T>& size) {
    m_is_safe = m_is_safe && grown <= fused(Real<T>(growth_limit), size, -least);
  }
  static KOKKOS_FORCEINLINE_FUNCTION void raise(Real<T>& most, const Real<T>& v) {
    most = v <= most ? most : v;  // not a number stays
  }
  static KOKKOS_FORCEINLINE_FUNCTION Real<T> norm(const BandRow<T, W>& row) {
    Real<T> sum = magnitude(row.a[0]);
    TRIKKOS_UNROLL(2 * W)
    for (int j = 1; j <= 2 * W; ++j) sum += magnitude(row.a[j]);
    return sum;
  }
  /// Multiplied by a power of two so that its entries sum up to 1 to 2.
  static KOKKOS_FORCEINLINE_FUNCTION BandRow<T, W> unit(BandRow<T, W> row) {
    const Real<T> scale = scale_for<Real<T>>(exponent_field(norm(row)));
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j <= 2 * W; ++j) row.a[j] = row.a[j] * scale;
    row.d = row.d * scale;
    return row;
  }
  /// A row of an interior, by those before it.
  KOKKOS_FORCEINLINE_FUNCTION InteriorRow<T, W> eliminate(const BandRow<T, W>& row,
                                                          const InteriorRow<T, W> (&before)[W],
                                                          const Real<T> (&norms)[W]) {
    T p = row.a[W], m[W];  // m[d]: in the column d + 1 rows before
    InteriorRow<T, W> mine;
    mine.z = row.d;
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) {
      m[c] = row.a[W - 1 - c];
      mine.u[c] = row.a[W + 1 + c];
      mine.w[c] = T(0);
    }
    Real<T> grown(0);
    TRIKKOS_UNROLL(W)
    for (int d = W - 1; d >= 0; --d) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {  // column c + 1 rows behind that one
        const int at = d - 1 - c;    // as many rows before, or at -1 its own column
        if (at >= 0) m[at >= 0 ? at : 0] = fused(-m[d], before[d].u[c], m[at >= 0 ? at : 0]);
        if (at == -1) p = fused(-m[d], before[d].u[c], p);
        if (at < -1)
          mine.u[at < -1 ? -2 - at : 0] =
              fused(-m[d], before[d].u[c], mine.u[at < -1 ? -2 - at : 0]);
        mine.w[c] = fused(-m[d], before[d].w[c], mine.w[c]);
      }
      mine.z = fused(-m[d], before[d].z, mine.z);
      grown = fused(magnitude(m[d]), norms[d], grown);
    }
    const T inverse = reciprocal(p);
    TRIKKOS_UNROLL(W)
    for (int c = 0; c < W; ++c) {
      mine.u[c] = mine.u[c] * inverse;
      mine.w[c] = mine.w[c] * inverse;
    }
    mine.z = mine.z * inverse;
    watch(fused(magnitude(p), mine.norm(), grown), norm(row));
    return mine;
  }
  /// The rows of a separator, from both sides of it, and the norms of its rows of U.
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(const SeparatorRows<T, W>& near,
                                             const SeparatorRows<T, W>& far,
                                             EliminatedSeparator<T, W>& met, Real<T> (&norms)[W]) {
    using R = Real<T>;
    TRIKKOS_UNROLL(W)
    for (int a = 0; a < W; ++a) {
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        met.own[a][c] = near.own[a][c] + far.own[a][c];
        met.near[a][c] = near.other[a][c];
        met.far[a][c] = far.other[a][c];
      }
      met.f[a] = near.f[a] + far.f[a];
      R grown = near.growth + far.growth;
      TRIKKOS_UNROLL(W)
      for (int k = 0; k < W; ++k) {
        if (k >= a) continue;
        const T m = met.own[a][k];
        TRIKKOS_UNROLL(W)
        for (int c = 0; c < W; ++c) {
          if (c > k) met.own[a][c] = fused(-m, met.own[k][c], met.own[a][c]);
          met.near[a][c] = fused(-m, met.near[k][c], met.near[a][c]);
          met.far[a][c] = fused(-m, met.far[k][c], met.far[a][c]);
        }
        met.f[a] = fused(-m, met.f[k], met.f[a]);
        grown = fused(magnitude(m), norms[k], grown);
      }
      const T p = met.own[a][a], inverse = reciprocal(p);
      norms[a] = R(1);
      TRIKKOS_UNROLL(W)
      for (int c = 0; c < W; ++c) {
        if (c > a) {
          met.own[a][c] = met.own[a][c] * inverse;
          norms[a] += magnitude(met.own[a][c]);
        }
        met.near[a][c] = met.near[a][c] * inverse;
        met.far[a][c] = met.far[a][c] * inverse;
        norms[a] += magnitude(met.near[a][c]) + magnitude(met.far[a][c]);
      }
      met.f[a] = met.f[a] * inverse;
      watch(fused(magnitude(p), norms[a], grown), R(1));
    }
  }
  template <class Item>
  static KOKKOS_FORCEINLINE_FUNCTION void push(Item (&items)[W], const Item& item) {
    TRIKKOS_UNROLL(W)
    for (int t = W - 1; t > 0; --t) items[t] = items[t - 1];
    items[0] = item;
  }

  bool m_is_safe = true;
};

}  // namespace Trikkos::Impl

#endif
