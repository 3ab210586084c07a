// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORMATRIX_HPP
#define TRIKKOS_IMPL_FACTORMATRIX_HPP

#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Residual.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/factored/Trikkos_Factors.hpp>
#include <string>

/// \file
/// The kernel that factors a matrix, and makes the weights and products of chunks.

namespace Trikkos::Impl {

/// W x W: what the W values that enter some rows make of those that leave them.
template <class T, int W>
struct Transfer {
  T at[W][W] = {};

  static KOKKOS_FORCEINLINE_FUNCTION Transfer identity() {
    Transfer r;
    for (int i = 0; i < W; ++i) r.at[i][i] = T(1);
    return r;
  }
  static KOKKOS_FORCEINLINE_FUNCTION Transfer load(const T* from) {
    Transfer r;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) r.at[i][j] = from[i * W + j];
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to) const {
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) to[i * W + j] = at[i][j];
  }
  /// With a row that comes before, whose value is less its multipliers times those before it.
  template <class Multiplier>
  KOKKOS_FORCEINLINE_FUNCTION void precede(const Multiplier& multiplier) {
    for (int i = 0; i < W; ++i) {
      const T newest = at[i][0];
      for (int j = 0; j < W; ++j)
        at[i][j] = newest * -multiplier(j) + (j + 1 < W ? at[i][j + 1] : T(0));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Transfer operator*(const Transfer& a, const Transfer& b) {
    Transfer r;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j)
        for (int k = 0; k < W; ++k) r.at[i][j] += a.at[i][k] * b.at[k][j];
    return r;
  }
  /// The largest sum of a row.
  KOKKOS_FORCEINLINE_FUNCTION Real<T> norm() const {
    Real<T> most(0);
    for (int i = 0; i < W; ++i) {
      Real<T> sum(0);
      for (int j = 0; j < W; ++j) sum += magnitude(at[i][j]);
      raise<T>(most, sum);
    }
    return most;
  }
};

/// Factors a matrix, made of bands: by one thread of a team, and the products by all.
template <class T, int W = 1, class Rows = Bands<T, W>>
struct FactorMatrix {
  using F = Factors<T, W>;

  Bands<T, W> bands;
  F factors;

  static constexpr int read = 2 * W + 1, made = 4 * W + 1;  // words of a row
  static constexpr int block = 512 * 8 / sizeof(T) / W;
  static KOKKOS_INLINE_FUNCTION constexpr std::size_t scratch_bytes() {
    return sizeof(T) * made * block + alignof(T);
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Rows A(bands);
    const std::int64_t n = A.n;
    const int t = member.team_rank(), threads = member.team_size();
    T* const staged = team_scratch<T>(member);
    Crout<T, W> crout(A);
    for (std::int64_t first = 0; first < n; first += block) {
      const int m = static_cast<int>(n - first < block ? n - first : block);
      for (int k = t; k < m; k += threads) {
        T entries[read];
        read_row<W>(A, first + k, entries);
        for (int j = 0; j < read; ++j) staged[j * block + k] = entries[j];
      }
      member.team_barrier();
      if (t == 0)
        for (int k = 0; k < m; ++k) {
          T entries[read];
          for (int j = 0; j < read; ++j) entries[j] = staged[j * block + k];
          const auto row = crout.next(first + k, entries);
          for (int j = 0; j < made; ++j) staged[j * block + k] = row.band[j];
        }
      member.team_barrier();
      for (int k = t; k < m; k += threads)
        for (int j = 0; j < made; ++j)
          if (factors.band[j] != nullptr) factors.row(j, first + k) = staged[j * block + k];
      member.team_barrier();
    }
    Real<T> largest(0), growth(0);
    if (factors.group > 0) {
      for (std::int64_t p = t; p < factors.chunks; p += threads) multiply_rows(p);
      member.team_barrier();
      if (t == 0) largest = multiply_groups();
      for (std::int64_t p = t; factors.words_by_chunk() > 0 && p < factors.chunks; p += threads)
        copy_by_chunk(p);
      if (W > 1) growth = largest_growth(member, staged);
    }
    if (t != 0) return;
    store_end(crout, factors);
    *factors.verdict = T(static_cast<int>(crout.verdict(largest, growth)));
  }

  static KOKKOS_FUNCTION void store_end(const Crout<T, W>& crout, const F& factors) {
    if (factors.periodic)
      for (int a = 0; a < W; ++a)
        for (int c = 0; c < W; ++c) factors.end[a * W + c] = crout.factor_of_end(a, c);
  }

 private:
  KOKKOS_FUNCTION std::int64_t rows_of(std::int64_t p) const {
    const std::int64_t left = factors.n - p * factors.rows;
    return left > factors.rows ? factors.rows : left > 0 ? left : 0;
  }
  /// Products over the rows of a chunk, from either end.
  KOKKOS_FUNCTION void multiply_rows(std::int64_t p) const {
    auto forward = Transfer<T, W>::identity(), backward = forward;
    const auto multiplier = [&](int band, std::int64_t k) {
      return [this, band, k, p](int t) { return factors.at(band + t, k, p); };
    };
    for (std::int64_t k = rows_of(p) - 1; k >= 0; --k) {
      for (int i = 0; i < W; ++i)
        factors.at(F::leaves_forward + i, k, p) = forward.at[i][0] * factors.at(F::inverse, k, p);
      forward.precede(multiplier(F::lower, k));
    }
    for (std::int64_t k = 0; k < rows_of(p); ++k) {
      for (int i = 0; i < W; ++i) factors.at(F::leaves_backward + i, k, p) = backward.at[i][0];
      backward.precede(multiplier(F::upper, k));
    }
    Transfer<T, W> response;
    for (int c = 0; c < W; ++c) {
      T v[W] = {};
      v[c] = T(1);
      for (std::int64_t k = 0; k < rows_of(p); ++k) {
        push_next(v, T(0), multiplier(F::lower, k));
        for (int i = 0; i < W; ++i)
          response.at[i][c] =
              fused(factors.at(F::leaves_backward + i, k, p), v[0], response.at[i][c]);
      }
    }
    response.store(factors.response + F::square * p);
    forward.store(factors.product[0] + F::square * p);
    backward.store(factors.product[1] + F::square * p);
  }
  /// A row that a chunk lacks hands on what enters, for W = 1; for more it is jumped over.
  KOKKOS_FUNCTION void copy_by_chunk(std::int64_t p) const {
    const auto word = factors.chunk(p);
    const int most = factors.most_rows(), lacking = most - static_cast<int>(rows_of(p));
    for (int k = 0; k < most; ++k)
      for (int band = 0; band < F::bands; ++band)
        if (band < F::column || band >= F::leaves_forward)
          word(k, band) = k >= lacking       ? factors.at(band, k - lacking, p)
                          : band == F::lower ? T(-1)
                                             : T(0);
  }
  /// Over the chunks of a group. Returns the largest product of all.
  KOKKOS_FUNCTION Real<T> multiply_groups() const {
    Real<T> largest(0);
    for (std::int64_t p = 0; p < factors.chunks; ++p)
      for (std::int64_t k = 0; k < rows_of(p); ++k)
        for (int i = 0; i < W; ++i) {
          raise<T>(largest, magnitude(factors.at(F::leaves_backward + i, k, p)));
          raise<T>(largest, magnitude(quotient(factors.at(F::leaves_forward + i, k, p),
                                               factors.at(F::inverse, k, p))));
        }
    for (int way = 0; way < 2; ++way)
      for (std::int64_t g = 0; g < factors.groups(); ++g) {
        const std::int64_t begin = g * factors.group, past = begin + factors.group,
                           end = past < factors.chunks ? past : factors.chunks;
        auto all = Transfer<T, W>::identity();
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t p = way == 0 ? i : begin + end - 1 - i;
          all.store(factors.product_before[way] + F::square * p);
          all = product(way, p) * all;
          raise<T>(largest, product(way, p).norm());
          raise<T>(largest, all.norm());
        }
        all.store(factors.group_product[way] + F::square * g);
      }
    return largest;
  }
  KOKKOS_FORCEINLINE_FUNCTION Transfer<T, W> product(int way, std::int64_t p) const {
    return Transfer<T, W>::load(factors.product[way] + F::square * p);
  }
  /// What enters any chunk may have grown so much when it leaves any other. To the first thread.
  template <class Member>
  KOKKOS_FUNCTION Real<T> largest_growth(const Member& member, T* words) const {
    const int t = member.team_rank(), threads = member.team_size();
    Real<T> most(0);
    for (std::int64_t first = t; first < factors.chunks; first += threads)
      for (int way = 0; way < 2; ++way) {
        auto all = Transfer<T, W>::identity();
        const std::int64_t step = way == 0 ? 1 : -1;
        for (std::int64_t p = first; p >= 0 && p < factors.chunks; p += step) {
          all = product(way, p) * all;
          raise<T>(most, all.norm());
        }
      }
    words[t] = T(most);
    member.team_barrier();
    for (int i = 0; i < threads && t == 0; ++i) raise<T>(most, magnitude(words[i]));
    return most;
  }
};

/// Factors the matrix in memory of the factors'.
template <class Rows, class T, int W, class Exec>
void factor(const Exec& exec, const Bands<T, W>& A, const Factors<T, W>& factors,
            const std::string& label) {
  using Teams = Kokkos::TeamPolicy<Exec>;
  using Kernel = FactorMatrix<T, W, Rows>;
  const int threads = is_host_v<Exec> ? 1 : 128;
  Kokkos::parallel_for(
      label,
      light(Teams(exec, 1, threads).set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()))),
      Kernel{A, factors});
}

/// What they are good for. Waits.
template <class T, int W, class Exec>
FactorsAre judged(const Exec& exec, Factors<T, W> factors) {
  T verdict = fetch(exec, factors.verdict, "Trikkos::Plan::factor");
  factors.verdict = &verdict;
  return factors.judged();
}

}  // namespace Trikkos::Impl

#endif
