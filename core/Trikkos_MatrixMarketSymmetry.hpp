// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_MATRIXMARKETSYMMETRY_HPP
#define TRIKKOS_MATRIXMARKETSYMMETRY_HPP

namespace Trikkos {

/// Which entries of a Matrix Market file stand for two.
enum class MatrixMarketSymmetry {
  general,         ///< none
  symmetric,       ///< A(j,i) = A(i,j), the lower triangle is stored
  skew_symmetric,  ///< A(j,i) = -A(i,j), what is below the diagonal is stored
  hermitian        ///< A(j,i) = conj(A(i,j)), the lower triangle is stored
};

/// As files have it.
constexpr const char* name(MatrixMarketSymmetry symmetry) {
  switch (symmetry) {
    case MatrixMarketSymmetry::general:
      return "general";
    case MatrixMarketSymmetry::symmetric:
      return "symmetric";
    case MatrixMarketSymmetry::skew_symmetric:
      return "skew-symmetric";
    case MatrixMarketSymmetry::hermitian:
      return "hermitian";
  }
  return "";
}

}  // namespace Trikkos

#endif
