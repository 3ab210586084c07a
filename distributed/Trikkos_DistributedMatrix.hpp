// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_DISTRIBUTEDMATRIX_HPP
#define TRIKKOS_DISTRIBUTEDMATRIX_HPP

#include <Trikkos_Tridiagonal.hpp>

#include <mpi.h>

namespace Trikkos {

/// A tridiagonal matrix, or many of one size, whose rows lie on the ranks of a communicator: rank 0
/// has the first ones, rank 1 those that follow, and so on.
///
///   Trikkos::Distributed A{comm, Trikkos::Tridiagonal{lower, diag, upper}};
///
/// `block` has the rows of this rank, any number of them, none too: Views of rank 1 (row), 2
/// (system, row) or 3 (system, system, row), of any layout, lines of an array that is divided along
/// the axis of its rows (`along`). Row i reads lower(i) x(i-1) + diag(i) x(i) + upper(i) x(i+1) as
/// everywhere; so lower(0) and upper(n-1) of a block are its couplings to the rows before and after
/// it, wherever those are. Those of the first and of the last row of the whole are never read,
/// unless `block.boundary`, the same on all ranks, is periodic: then they are the corners.
template <TridiagonalMatrix Matrix>
struct Distributed {
  using value_type = typename Matrix::value_type;

  MPI_Comm comm;  ///< the user's; only collective calls are made on it, in the order of the user's
  Matrix block;
};

template <class Matrix>
Distributed(MPI_Comm, Matrix) -> Distributed<Matrix>;

}  // namespace Trikkos

#endif
