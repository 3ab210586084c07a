// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ROWORDERING_HPP
#define TRIKKOS_IMPL_ROWORDERING_HPP

#include <Trikkos_IncompleteOptions.hpp>
#include <impl/Trikkos_CuthillMckee.hpp>
#include <impl/Trikkos_RowGraph.hpp>
#include <impl/Trikkos_System.hpp>

/// \file
/// Rows in the order in which a preconditioner eliminates them, and vectors in that order.

namespace Trikkos::Impl {

/// Both empty for the order of A.
template <class Exec>
struct RowOrdering {
  Array<std::int32_t, Exec> old_row;  // the row of A at each position
  Array<std::int32_t, Exec> new_row;  // the position of each row of A

  bool is_natural() const { return old_row.extent(0) == 0; }
};

/// Waits.
template <class Exec>
RowOrdering<Exec> row_ordering(const Exec& exec, const CsrPattern& A, std::int64_t n,
                               FactorShape shape, IncompleteOrdering wanted) {
  RowOrdering<Exec> r;
  if (wanted == IncompleteOrdering::natural || n == 0) return r;
  const auto graph = row_graph(exec, A, n, shape);
  if (wanted == IncompleteOrdering::multicolour) {
    Slabs<Exec> scratch("scratch");
    const auto colour = row_colours(exec, graph);
    const auto rows =
        order_by_level(exec, scratch, {n, true}, colour, largest_of(exec, colour)).row;
    r.old_row = new_array<std::int32_t>(exec, "old_row", n);
    copy(exec, copied(rows, r.old_row));
    exec.fence("Trikkos::IncompleteFactors::ordering");  // before the scratch is freed
  } else {
    const auto start = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, graph.start);
    const auto neighbour =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, graph.neighbour);
    const CuthillMckee rows(n, start.data(), neighbour.data());
    r.old_row = new_array<std::int32_t>(exec, "old_row", n);
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::deep_copy(exec, r.old_row,
                      Kokkos::View<const std::int32_t*, Kokkos::HostSpace, Unmanaged>(
                          rows.order().data(), rows.order().size()));
    exec.fence("Trikkos::IncompleteFactors::ordering");  // before its memory is freed
  }
  r.new_row = new_array<std::int32_t>(exec, "new_row", n);
  Kokkos::parallel_for("Trikkos::IncompleteFactors::ordering", range(exec, n),
                       InvertOrder{r.old_row.data(), r.new_row.data()});
  return r;
}

/// Vectors in the order of a preconditioner, one behind the other in `to`.
template <class T>
struct GatherVectors {
  const std::int32_t* old_row;
  std::int64_t n;
  Vectors<const T> from;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    to[at] = from[at / n][old_row[at % n]];
  }
};
/// And back.
template <class T>
struct ScatterVectors {
  const std::int32_t* old_row;
  std::int64_t n;
  const T* from;
  Vectors<T> to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t at) const {
    to[at / n][old_row[at % n]] = from[at];
  }
};

}  // namespace Trikkos::Impl

#endif
