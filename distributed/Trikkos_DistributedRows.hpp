// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_DISTRIBUTEDROWS_HPP
#define TRIKKOS_DISTRIBUTEDROWS_HPP

#include <cmath>
#include <impl/Trikkos_RowTransfer.hpp>
#include <string>
#include <vector>

/// \file
/// Which rows a rank should have, and how they get there and back.

namespace Trikkos {

/// Divides n rows among ranks of different speed, so that all take about as long: rank r gets those
/// from first[r] to first[r + 1]. Collective; waits.
///
/// \param n      the same on all ranks
/// \param speed  of this rank, rows a second as measured, say, or in any other unit; 0: no rows
/// \return `first`, one entry more than there are ranks, the same on all
/// \throws std::invalid_argument on all ranks for a speed that is none, or where all are 0
inline std::vector<std::int64_t> balanced_partition(MPI_Comm comm, std::int64_t n,
                                                    double speed = 1) {
  constexpr auto function = "Trikkos::balanced_partition";
  const Impl::Communicator ranks(function, comm);
  const Impl::Fault fault = Impl::attempt([&] {
    Impl::check_count(function, "n", n);
    if (!(speed >= 0) || std::isinf(speed))
      throw std::invalid_argument(std::string(function) + ": speed is " + std::to_string(speed) +
                                  ", expected 0 or more");
  });
  const Impl::RowBlocks same(function, ranks, fault, 0, {{"n", n}});
  std::vector<double> speeds(static_cast<std::size_t>(ranks.size()));
  ranks.gather_to_all(&speed, speeds.data(), 1);
  double fastest = 0;
  for (const double s : speeds) fastest = std::max(fastest, s);
  if (fastest == 0)
    throw std::invalid_argument(std::string(function) +
                                ": speed is 0 on all ranks, expected more on one");
  long double total = 0, before = 0;
  for (const double s : speeds) total += s / fastest;
  std::vector<std::int64_t> first{0};
  for (const double s : speeds) {
    before += s / fastest;
    first.push_back(before < total ? static_cast<std::int64_t>(n * (before / total)) : n);
  }
  return first;
}

/// Copies vectors of one rank to the blocks of rows of all. Collective; waits; allocates buffers of
/// up to 2^24 values on the host and on `exec`.
///
/// \param root   the rank that has them
/// \param all    there a View of rank 1 (row), 2 (system, row) or 3, any layout; unused elsewhere
/// \param block  the rows of this rank, of the rank of `all`, as many systems on all ranks
/// \throws std::invalid_argument on all ranks where the rows of all blocks are not those of `all`,
///         or the systems
template <ExecutionSpace Exec, ViewType All, ViewType Block>
void scatter(const Exec& exec, MPI_Comm comm, int root, const All& all, const Block& block) {
  using T = typename Block::non_const_value_type;
  static_assert(std::is_same_v<typename All::non_const_value_type, T> &&
                    static_cast<int>(All::rank()) == static_cast<int>(Block::rank()),
                "Trikkos::scatter: block must have value type and rank of all");
  static_assert(!std::is_const_v<typename Block::value_type>,
                "Trikkos::scatter: block must not be const");
  TRIKKOS_CHECK_ACCESS("Trikkos::scatter", "all", Exec, All);
  TRIKKOS_CHECK_ACCESS("Trikkos::scatter", "block", Exec, Block);
  const Impl::RowTransfer<T, Exec> transfer("Trikkos::scatter", exec, comm, root, all, block);
  transfer.scatter(exec, Impl::vectors<const T>(all), Impl::vectors<T>(block));
}

/// The way back: the blocks of rows of all ranks to one. Collective; waits; allocates as `scatter`.
///
/// \param root   the rank that gets them
/// \param block  the rows of this rank
/// \param all    on `root` a View of all rows; unused elsewhere
/// \throws std::invalid_argument as `scatter`
template <ExecutionSpace Exec, ViewType Block, ViewType All>
void gather(const Exec& exec, MPI_Comm comm, int root, const Block& block, const All& all) {
  using T = typename All::non_const_value_type;
  static_assert(std::is_same_v<typename Block::non_const_value_type, T> &&
                    static_cast<int>(All::rank()) == static_cast<int>(Block::rank()),
                "Trikkos::gather: block must have value type and rank of all");
  static_assert(!std::is_const_v<typename All::value_type>,
                "Trikkos::gather: all must not be const");
  TRIKKOS_CHECK_ACCESS("Trikkos::gather", "block", Exec, Block);
  TRIKKOS_CHECK_ACCESS("Trikkos::gather", "all", Exec, All);
  const Impl::RowTransfer<T, Exec> transfer("Trikkos::gather", exec, comm, root, all, block);
  transfer.gather(exec, Impl::vectors<const T>(block), Impl::vectors<T>(all));
}

}  // namespace Trikkos

#endif
