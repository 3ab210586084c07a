// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORS_HPP
#define TRIKKOS_IMPL_FACTORS_HPP

#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Residual.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

/// \file
/// One matrix, factored once for many right-hand sides: LU without pivoting, in Crout's form, where
/// U has a unit diagonal and no multiplier depends on how rows are scaled.
///
///   z_i = (d_i - a_i z_(i-1)) / p_i        p_i = b_i - a_i u_(i-1)
///   x_i = z_i - u_i x_(i+1) - w_i x_(n-1)  u_i = c_i / p_i
///
/// w is zero but for a periodic matrix, whose last column it is: w_i = (A(i, n-1) - a_i w_(i-1)) /
/// p_i. Its last row r, r_i = A(n-1, i) - r_(i-1) u_(i-1), gives
///
///   x_(n-1) = (d_(n-1) - sum r_i z_i) / p_(n-1),  p_(n-1) = b_(n-1) - sum r_i w_i
///
/// (Gloster et al. 2019, equations 4 to 6, whose equation 6 lacks the index i+1; their
/// periodic systems take a Sherman-Morrison correction instead, another pass over memory.)
///
/// Rows are numbered by chunks, which threads sweep over side by side. What leaves a chunk that
/// nothing enters is a sum over its rows, whose weights are products of multipliers; what does
/// enter is found from what leaves the chunks before it and the products over all their rows.
/// Weights and products are made here.

namespace Trikkos::Impl {

/// What may be done with factors.
enum class FactorsAre : int {
  unsafe,           ///< nothing: pivots are too small, or not finite
  as_thomas,        ///< what `thomas` may: the backward error is small against the whole matrix
  stable,           ///< the backward error is small in each row by itself
  stable_in_chunks  ///< the same of chunks: products of multipliers are small
};

/// Where factors lie. Row k of chunk p is row k + p rows of the matrix; chunks come in groups.
template <class T>
struct Factors {
  /// 1/p, a/p, u; w and r of a ring; of several chunks the weights.
  enum Band : int { inverse, lower, upper, column, last, leaves_forward, leaves_backward, bands };

  std::int64_t n = 0, rows = 0, chunks = 0, group = 0;  // group 0: swept over as a whole
  bool periodic = false;                                // of more than one row

  T* band[bands] = {};  // [rows][chunks] each
  // of -l (forward) and -u (backward): over a chunk, over those of its group that are swept before
  // it, over a group; and what a chunk's part of a ring's column sends backward
  T *product[2] = {}, *product_before[2] = {}, *group_product[2] = {}, *column_leaves = nullptr;
  T* verdict = nullptr;  // a `FactorsAre`, in the place of a scalar
  std::int64_t words = 0;

  KOKKOS_INLINE_FUNCTION constexpr Factors(T* data, std::int64_t n_, std::int64_t rows_,
                                           std::int64_t chunks_, std::int64_t group_,
                                           bool is_periodic)
      : n(n_), rows(rows_), chunks(chunks_), group(group_), periodic(is_periodic && n_ > 1) {
    const auto take = [&](T*& part, std::int64_t count) {
      if (data != nullptr) part = data + words;
      words += count;
    };
    take(band[inverse], rows * chunks);
    take(band[lower], rows * chunks);
    take(band[upper], rows * chunks);
    if (periodic) {
      take(band[column], rows * chunks);
      take(band[last], rows * chunks);
    }
    if (group > 0) {
      take(band[leaves_forward], rows * chunks);
      take(band[leaves_backward], rows * chunks);
      for (int way = 0; way < 2; ++way) {
        take(product[way], chunks);
        take(product_before[way], chunks);
        take(group_product[way], groups());
      }
      take(column_leaves, chunks);
    }
    take(verdict, 1);
  }
  KOKKOS_INLINE_FUNCTION static constexpr Factors whole(std::int64_t n, bool periodic, T* data) {
    return {data, n, n, 1, 0, periodic};
  }

  KOKKOS_FORCEINLINE_FUNCTION constexpr std::int64_t groups() const {
    return (chunks + group - 1) / group;
  }
  KOKKOS_FORCEINLINE_FUNCTION T& at(Band which, std::int64_t k, std::int64_t p) const {
    return band[which][k * chunks + p];
  }
  KOKKOS_FORCEINLINE_FUNCTION T& row(Band which, std::int64_t i) const {
    return at(which, i % rows, i / rows);
  }
};

/// The factorisation, row after row.
template <class T>
struct Crout {
  struct Row {
    T inverse, lower, upper, column, last;
  };

  std::int64_t n;
  bool ring;                               // periodic, of more than one row
  T end_lower{}, end_diag{}, end_upper{};  // of the last row of a ring

  T p{}, u{}, w{}, r{}, last_p{};
  Real<T> last_growth{}, last_fill{};  // of the last pivot and, at most, of an entry in its row
  Real<T> growth_of_rows{}, growth{};  // at most: against the size of a row, of the matrix
  bool possible = true;

  template <class Rows>
  KOKKOS_FUNCTION explicit Crout(const Rows& A) : n(A.n), ring(A.periodic && A.n > 1) {
    if (!ring) return;
    end_lower = A.lower(n - 1);
    end_upper = A.upper(n - 1);
    last_p = end_diag = A.diag(n - 1);
    last_growth = magnitude(last_p);
  }

  /// Row i with its three entries: of a ring any but the last.
  KOKKOS_FUNCTION Row next(std::int64_t i, T a, T b, T c) {
    if (n == 1) {  // a ring of one row: its entries are one
      b += a + c;
      a = c = T(0);
    }
    const Real<T> size = largest(a, b, c);
    T outer(0);  // in the last column
    if (ring) {
      if (i == 0) outer += a;
      if (i == n - 2) {
        outer += c;
        c = T(0);
      }
      if (i == 0) a = T(0);
    }
    const bool small_multiplier = i > 0 && magnitude(a) <= magnitude(p);
    const T elimination = a * u, fill = a * w;
    if (ring) {
      const T r_fill = r * u;
      r = i == 0 ? end_upper : -r_fill;
      if (i == n - 2) r += end_lower;
      const Real<T> entry = magnitude(r) + magnitude(r_fill);
      if (!(entry <= last_fill)) last_fill = entry;
    }
    p = b - elimination;
    w = quotient(outer - fill, p);
    u = quotient(c, p);
    judge(p, magnitude(p) + magnitude(elimination) + magnitude(fill) + magnitude(p * w), size,
          small_multiplier);
    if (ring) {
      last_p -= r * w;
      last_growth += magnitude(r * w);
    }
    return {quotient(T(1), p), quotient(a, p), u, w, r};
  }
  /// The last row of a ring: x_(n-1) = -inverse (sum of last z), with its own `last`.
  KOKKOS_FUNCTION Row end() {
    const Real<T> pivot = magnitude(last_p) + last_growth;
    judge(last_p, pivot > last_fill ? pivot : last_fill, largest(end_lower, end_diag, end_upper),
          false);
    return {quotient(T(1), last_p), T(0), T(0), T(0), -last_p};
  }
  /// So far.
  KOKKOS_FUNCTION bool is_safe() const { return possible && growth <= Thomas<T>::growth_limit; }
  /// Rounding errors are some units in the last place times the growth |L||U| / |A|.
  KOKKOS_FUNCTION FactorsAre verdict(Real<T> largest_product) const {
    constexpr int stable_growth = 4;  // diagonally dominant and positive definite ones: 3
    constexpr int most_product = 4;   // a digit is lost to cancellation beyond
    if (!is_safe()) return FactorsAre::unsafe;
    if (!(growth_of_rows <= stable_growth)) return FactorsAre::as_thomas;
    return largest_product <= most_product ? FactorsAre::stable_in_chunks : FactorsAre::stable;
  }

 private:
  static KOKKOS_FUNCTION Real<T> largest(const T& a, const T& b, const T& c) {
    Real<T> size = magnitude(a);
    size = magnitude(b) > size ? magnitude(b) : size;
    return magnitude(c) > size ? magnitude(c) : size;
  }
  /// `grown`: |L||U| in a row. Multipliers of at most 1 are as good as those of partial pivoting,
  /// but not for a row that is smaller than the one before.
  KOKKOS_FUNCTION void judge(const T& pivot, Real<T> grown, Real<T> size, bool small_multiplier) {
    // not a number where a, b, c, u or w are not finite, and Inf where p is not
    possible = possible && finite_probe(grown) == 0 && magnitude(pivot) > 0 &&
               size >= Kokkos::Experimental::norm_min_v<Real<T>>;
    if (grown > growth_of_rows * size) growth_of_rows = grown / size;
    if (!small_multiplier && grown > growth * size) growth = grown / size;
  }
};

/// Factors a matrix, made of bands: by one thread of a team, and the products by all.
template <class T, class Rows = Bands<T>>
struct FactorMatrix {
  Bands<T> bands;
  Factors<T> factors;

  static constexpr int block = 512 * 8 / sizeof(T);
  static KOKKOS_INLINE_FUNCTION constexpr std::size_t scratch_bytes() {
    return sizeof(T) * 5 * block + alignof(T);
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    using F = Factors<T>;
    const Rows A(bands);
    const std::int64_t n = A.n;
    const int t = member.team_rank(), threads = member.team_size();
    T* const staged = team_scratch<T>(member, scratch_bytes());
    Crout<T> crout(A);
    for (std::int64_t first = 0; first < n; first += block) {
      const int m = static_cast<int>(n - first < block ? n - first : block);
      for (int k = t; k < m; k += threads) {
        staged[k] = A.lower(first + k);
        staged[block + k] = A.diag(first + k);
        staged[2 * block + k] = A.upper(first + k);
      }
      member.team_barrier();
      if (t == 0)
        for (int k = 0; k < m; ++k) {
          const bool is_end = crout.ring && first + k == n - 1;
          const auto row =
              is_end ? crout.end()
                     : crout.next(first + k, staged[k], staged[block + k], staged[2 * block + k]);
          staged[k] = row.inverse;
          staged[block + k] = row.lower;
          staged[2 * block + k] = row.upper;
          staged[3 * block + k] = row.column;
          staged[4 * block + k] = row.last;
        }
      member.team_barrier();
      for (int k = t; k < m; k += threads) {
        const typename F::Band order[] = {F::inverse, F::lower, F::upper, F::column, F::last};
        for (int j = 0; j < 5; ++j)
          if (factors.band[order[j]] != nullptr)
            factors.row(order[j], first + k) = staged[j * block + k];
      }
      member.team_barrier();
    }
    Real<T> largest(0);
    if (factors.group > 0) {
      for (std::int64_t p = t; p < factors.chunks; p += threads) multiply_rows(p);
      member.team_barrier();
      if (t == 0) largest = multiply_groups();
    }
    if (t == 0) *factors.verdict = T(static_cast<int>(crout.verdict(largest)));
  }

 private:
  KOKKOS_FUNCTION std::int64_t rows_of(std::int64_t p) const {
    const std::int64_t left = factors.n - p * factors.rows;
    return left > factors.rows ? factors.rows : left > 0 ? left : 0;
  }
  /// Products over the rows of a chunk, from either end.
  KOKKOS_FUNCTION void multiply_rows(std::int64_t p) const {
    using F = Factors<T>;
    T forward(1), backward(1), column(0);
    for (std::int64_t k = rows_of(p) - 1; k >= 0; --k) {
      factors.at(F::leaves_forward, k, p) = forward * factors.at(F::inverse, k, p);
      forward *= -factors.at(F::lower, k, p);
    }
    for (std::int64_t k = 0; k < rows_of(p); ++k) {
      factors.at(F::leaves_backward, k, p) = backward;
      if (factors.periodic) column += backward * factors.at(F::column, k, p);
      backward *= -factors.at(F::upper, k, p);
    }
    factors.product[0][p] = forward;
    factors.product[1][p] = backward;
    factors.column_leaves[p] = column;
  }
  /// Over the chunks of a group. Returns the largest product of all.
  KOKKOS_FUNCTION Real<T> multiply_groups() const {
    using F = Factors<T>;
    Real<T> largest(0);
    const auto see = [&](const T& v) {
      if (!(magnitude(v) <= largest)) largest = magnitude(v);
    };
    for (std::int64_t p = 0; p < factors.chunks; ++p)
      for (std::int64_t k = 0; k < rows_of(p); ++k) {
        see(factors.at(F::leaves_backward, k, p));
        see(quotient(factors.at(F::leaves_forward, k, p), factors.at(F::inverse, k, p)));
      }
    for (int way = 0; way < 2; ++way)
      for (std::int64_t g = 0; g < factors.groups(); ++g) {
        const std::int64_t begin = g * factors.group, past = begin + factors.group,
                           end = past < factors.chunks ? past : factors.chunks;
        T all(1);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t p = way == 0 ? i : begin + end - 1 - i;
          factors.product_before[way][p] = all;
          all *= factors.product[way][p];
          see(factors.product[way][p]);
          see(all);
        }
        factors.group_product[way][g] = all;
      }
    return largest;
  }
};

/// Factors the matrix in memory of the factors'.
template <class Rows, class T, class Exec>
void factor(const Exec& exec, const Bands<T>& A, const Factors<T>& factors,
            const std::string& label) {
  using Teams = Kokkos::TeamPolicy<Exec>;
  const int threads = is_host_v<Exec> ? 1 : 128;
  Kokkos::parallel_for(
      label,
      light(Teams(exec, 1, threads)
                .set_scratch_size(0, Kokkos::PerTeam(FactorMatrix<T, Rows>::scratch_bytes()))),
      FactorMatrix<T, Rows>{A, factors});
}

/// What they are good for. Waits.
template <class T, class Exec>
FactorsAre judged(const Exec& exec, const Factors<T>& factors) {
  const T verdict = fetch(exec, factors.verdict, "Trikkos::Plan::factor");
  return static_cast<FactorsAre>(static_cast<int>(magnitude(verdict)));
}

}  // namespace Trikkos::Impl

#endif
