// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ROWGRAPH_HPP
#define TRIKKOS_IMPL_ROWGRAPH_HPP

#include <impl/Trikkos_FactorPattern.hpp>
#include <impl/Trikkos_Random.hpp>
#include <impl/Trikkos_RelaxedMemory.hpp>

/// \file
/// Which rows must not be eliminated side by side, and colours for them.

namespace Trikkos::Impl {

/// Rows i and j are neighbours if A has an entry at (i, j) or (j, i) that is read.
struct CountNeighbours {
  CsrPattern A;
  FactorShape shape;
  std::int64_t* count;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int32_t j = A.column[k];
      if (j == i || !shape.wants(i, j)) continue;
      Kokkos::atomic_inc(count + i);
      Kokkos::atomic_inc(count + j);
    }
  }
};
struct ListNeighbours {
  CsrPattern A;
  FactorShape shape;
  std::int64_t* next;  // free place of each row
  std::int32_t* neighbour;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int32_t j = A.column[k];
      if (j == i || !shape.wants(i, j)) continue;
      neighbour[Kokkos::atomic_fetch_add(next + i, std::int64_t(1))] = j;
      neighbour[Kokkos::atomic_fetch_add(next + j, std::int64_t(1))] = static_cast<std::int32_t>(i);
    }
  }
};

/// Neighbours of row i: start[i] to start[i + 1], some of them twice, in an order that may differ
/// from run to run.
template <class Exec>
struct RowGraph {
  Array<std::int64_t, Exec> start;
  Array<std::int32_t, Exec> neighbour;
};

/// Waits.
template <class Exec>
RowGraph<Exec> row_graph(const Exec& exec, const CsrPattern& A, std::int64_t n, FactorShape shape) {
  RowGraph<Exec> r;
  r.start = new_array<std::int64_t>(exec, "neighbours_start", n + 1, std::int64_t(0));
  Kokkos::parallel_for("Trikkos::IncompleteFactors::count_neighbours", range(exec, n),
                       CountNeighbours{A, shape, r.start.data()});
  sum_up(exec, r.start.data(), n + 1);
  r.neighbour = new_array<std::int32_t>(
      exec, "neighbours",
      fetch(exec, r.start.data() + n, "Trikkos::IncompleteFactors::count_neighbours"));
  const auto next = new_array<std::int64_t>(exec, "next", n);
  copy(exec, Copy<std::int64_t>{r.start.data(), next.data(), n});
  Kokkos::parallel_for("Trikkos::IncompleteFactors::list_neighbours", range(exec, n),
                       ListNeighbours{A, shape, next.data(), r.neighbour.data()});
  exec.fence("Trikkos::IncompleteFactors::list_neighbours");  // before `next` is freed
  return r;
}

/// A round: whoever comes before all its neighbours without a colour, in a random order of rows,
/// takes the smallest colour that those before it do not have (Jones and Plassmann 1993). That is
/// what one loop in that order would give, whatever the threads see of each other.
struct ColourRows {
  const std::int64_t* start;
  const std::int32_t* neighbour;
  std::int32_t* colour;  // -1: none yet

  /// Counts those that must wait.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& waiting) const {
    if (colour[i] >= 0) return;
    for (std::int64_t k = start[i]; k < start[i + 1]; ++k)
      if (is_before(neighbour[k], i) && relaxed_load(colour + neighbour[k]) < 0) {
        ++waiting;
        return;
      }
    relaxed_store(colour + i, smallest_free(i));
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION bool is_before(std::int64_t i, std::int64_t j) {
    const auto mine = random_bits(1, 0, i), other = random_bits(1, 0, j);
    return mine < other || (mine == other && i < j);
  }
  KOKKOS_INLINE_FUNCTION std::int32_t smallest_free(std::int64_t i) const {
    for (std::int32_t first = 0;; first += 64) {
      std::uint64_t taken = 0;
      for (std::int64_t k = start[i]; k < start[i + 1]; ++k) {
        if (!is_before(neighbour[k], i)) continue;
        const std::int32_t c = relaxed_load(colour + neighbour[k]) - first;
        if (c >= 0 && c < 64) taken |= std::uint64_t{1} << c;
      }
      for (int c = 0; c < 64; ++c)
        if ((taken >> c & 1) == 0) return first + c;
    }
  }
};

/// A colour for each row, from 0 on, that none of its neighbours has; the same on every run. Waits
/// once a round.
template <class Exec>
Array<std::int32_t, Exec> row_colours(const Exec& exec, const RowGraph<Exec>& graph) {
  const std::int64_t n = graph.start.extent(0) - 1;
  const auto colour = new_array<std::int32_t>(exec, "colour", n, -1);
  for (std::int64_t waiting = n; waiting > 0;) {
    constexpr auto label = "Trikkos::IncompleteFactors::colour";
    waiting = 0;
    Kokkos::parallel_reduce(label, range(exec, n),
                            ColourRows{graph.start.data(), graph.neighbour.data(), colour.data()},
                            Kokkos::Sum<std::int64_t>(waiting));
    exec.fence(label);
  }
  return colour;
}

}  // namespace Trikkos::Impl

#endif
