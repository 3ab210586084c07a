// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_GALLERYTYPES_HPP
#define TRIKKOS_GALLERYTYPES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace Trikkos {

/// The test matrices that `gallery` makes. U(-1,1) is a fresh random number for each entry, and
/// what is not said of an entry is U(-1,1). Rows count from 0; (l, d, u) is a row of a Toeplitz
/// matrix. Where float lacks the range it has the value in brackets.
enum class Gallery {
  // The 16 types of Table III in L.-W. Chang, J. A. Stratton, H.-S. Kim, W.-M. W. Hwu: A scalable,
  // numerically stable, high-performance tridiagonal solver using GPUs, SC'12; in its order. The
  // Toeplitz types have one random pair (l, u). MATLAB's gallery function documents those it names.
  uniform,                 ///<  1: every entry U(-1,1)
  toeplitz_1e8,            ///<  2: (l, 1e8, u)
  lesp,                    ///<  3: gallery('lesp',n); sensitive real eigenvalues
  small_coupling,          ///<  4: lower(n/2) times 1e-50 [1e-30]
  sparse_off_diagonals,    ///<  5: off-diagonal entries are 0 with probability 1/2
  toeplitz_64,             ///<  6: (l, 64, u)
  inverse_kms,             ///<  7: inv(gallery('kms',n,0.5)), inverse Kac-Murdock-Szego
  randsvd_mode2,           ///<  8: gallery('randsvd',n,1e15,2,1,1) [1e6]; one small singular value
  randsvd_mode3,           ///<  9: ... geometrically distributed singular values
  randsvd_mode1,           ///< 10: ... one large singular value
  randsvd_mode4,           ///< 11: ... arithmetically distributed singular values
  tiny_lower,              ///< 12: lower times 1e-50 [1e-30]
  dorr,                    ///< 13: gallery('dorr',n,1e-4); diagonally dominant, ill-conditioned
  toeplitz_1e_8,           ///< 14: (l, 1e-8, u)
  clement,                 ///< 15: gallery('clement',n,0); eigenvalues n-1, n-3, ..., 1-n
  zero_diagonal_toeplitz,  ///< 16: (l, 0, u); singular for odd n

  // Types 2, 6, 14 and 16 read differently: every off-diagonal entry U(-1,1).
  toeplitz_1e8_entrywise,   ///< diag 1e8
  toeplitz_64_entrywise,    ///< diag 64
  toeplitz_1e_8_entrywise,  ///< diag 1e-8
  zero_diagonal_entrywise,  ///< diag 0; singular for odd n

  // Matrices without need of pivoting.
  uniform_dominant,  ///< |diag| exceeds its neighbours' sum in row and in column by 1, random sign
  poisson,           ///< (-1, 2, -1)

  // Matrices that make a solver stumble which does not pivot, or not across its tiles.
  diagonal_0101,           ///< off-diagonals 1, diag 0, 1, 0, 1, ...; singular for odd n
  all_ones_toeplitz,       ///< (1, 1, 1); singular for n % 3 == 2
  zero_coupling,           ///< lower(i) = upper(i-1) = 0 at every multiple i of `block`
  singular_blocks,         ///< every other block of `block` rows is singular, by turns its inner
                           ///< rows (all but first and last) and the whole; the matrix is not
  nearly_singular_blocks,  ///< the same blocks perturbed by 1e-13 [1e-5]

  // The ends of the number range. Take b = A x with a moderate x: for b of size 1, x may overflow.
  random_row_scaling,  ///< uniform, each row times a random power of two, 2^-26 to 2^26
  graded_rows,     ///< uniform, rows times powers of two rising from 1e-300 to 1e300 [1e-30, 1e30]
  near_overflow,   ///< uniform times 1e307 [1e37]
  near_underflow,  ///< uniform times 1e-307 [1e-37]; small entries are subnormal
  subnormal,       ///< uniform times 1e-310 [1e-40]

  // Singular for every n (equal_rows: n > 1). In exact arithmetic and in elimination with row
  // pivoting alike: a pivot is exactly zero.
  zero_row,     ///< row n/2 is 0
  zero_column,  ///< column n/2 is 0
  equal_rows,   ///< rows n/2-1 and n/2 are equal
  neumann,      ///< poisson with corners 1 (n = 1: 0): every row sums up to 0

  // Not numbers.
  nan_entry,  ///< uniform but diag(n/2) = NaN
  inf_entry   ///< uniform but diag(n/2) = Inf
};

/// The names of all types, in the order of the enumeration.
inline constexpr std::array gallery_names = {
    "uniform",
    "toeplitz_1e8",
    "lesp",
    "small_coupling",
    "sparse_off_diagonals",
    "toeplitz_64",
    "inverse_kms",
    "randsvd_mode2",
    "randsvd_mode3",
    "randsvd_mode1",
    "randsvd_mode4",
    "tiny_lower",
    "dorr",
    "toeplitz_1e_8",
    "clement",
    "zero_diagonal_toeplitz",
    "toeplitz_1e8_entrywise",
    "toeplitz_64_entrywise",
    "toeplitz_1e_8_entrywise",
    "zero_diagonal_entrywise",
    "uniform_dominant",
    "poisson",
    "diagonal_0101",
    "all_ones_toeplitz",
    "zero_coupling",
    "singular_blocks",
    "nearly_singular_blocks",
    "random_row_scaling",
    "graded_rows",
    "near_overflow",
    "near_underflow",
    "subnormal",
    "zero_row",
    "zero_column",
    "equal_rows",
    "neumann",
    "nan_entry",
    "inf_entry",
};
static_assert(gallery_names.size() == static_cast<std::size_t>(Gallery::inf_entry) + 1);

/// The type as in the source, e.g. "randsvd_mode2".
constexpr const char* name(Gallery type) { return gallery_names[static_cast<std::size_t>(type)]; }

/// All types, in the order of the enumeration.
inline constexpr auto gallery_types = [] {
  std::array<Gallery, gallery_names.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Gallery>(i);
  return all;
}();

/// Types 1 to 16 of Table III.
inline constexpr auto table_iii = [] {
  std::array<Gallery, 16> types{};
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = gallery_types[i];
  return types;
}();

/// The inverse of `name`. Throws std::invalid_argument, naming the valid ones, for any other text.
inline Gallery gallery_from_name(std::string_view text) {
  for (const Gallery type : gallery_types) {
    if (text == name(type)) return type;
  }
  std::string valid;
  for (const Gallery type : gallery_types) {
    valid += std::string(valid.empty() ? "" : ", ") + name(type);
  }
  throw std::invalid_argument("Trikkos::gallery_from_name: \"" + std::string(text) +
                              "\" is none of " + valid);
}

/// True where the matrix of this type with n rows is exactly singular, open boundary assumed.
constexpr bool is_singular(Gallery type, std::int64_t n) {
  switch (type) {
    case Gallery::zero_row:
    case Gallery::zero_column:
    case Gallery::neumann:
      return n > 0;
    case Gallery::equal_rows:
      return n > 1;
    case Gallery::clement:
    case Gallery::zero_diagonal_toeplitz:
    case Gallery::zero_diagonal_entrywise:
    case Gallery::diagonal_0101:
      return n % 2 == 1;
    case Gallery::all_ones_toeplitz:
      return n % 3 == 2;
    default:
      return false;
  }
}

}  // namespace Trikkos

#endif
