// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTORDER_HPP
#define TRIKKOS_IMPL_PARTORDER_HPP

#include <Kokkos_NestedSort.hpp>
#include <impl/Trikkos_PartSizes.hpp>
#include <impl/Trikkos_TeamScratch.hpp>

/// \file
/// From a size of parts to their rows and imports, in order.

namespace Trikkos::Impl {

/// A team for each part: its rows and those that it imports, sorted by rank. They are sorted where
/// a team is fast, in scratch.
template <class Exec>
struct ArrangePart {
  static constexpr int threads = is_host_v<Exec> ? 1 : 256;

  PartsView parts;
  StripOrder order;
  ImportSets sets;
  const std::int32_t *by_rank, *rank;
  std::int32_t *row, *position, *import_rank;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    std::int32_t* const count = team_scratch<std::int32_t>(member);
    std::int32_t* const ranks = count + 1;
    const std::int64_t q = member.league_rank(), first = q * parts.rows_of_part;
    const std::int64_t own = parts.rows(q);
    for_all(member, own, [&](std::int64_t i) { ranks[i] = rank[order[first + i]]; });
    sort(member, ranks, own);
    for_all(member, own, [&](std::int64_t i) {
      const std::int32_t r = by_rank[ranks[i]];
      row[first + i] = r;
      position[r] = static_cast<std::int32_t>(first + i);
    });

    Kokkos::single(Kokkos::PerTeam(member), [&] { *count = 0; });
    member.team_barrier();
    const std::int64_t cells = std::int64_t(1) << sets.bits;
    for_all(member, cells, [&](std::int64_t i) {
      const std::int32_t found = sets.cell[q * cells + i];
      if (found != ImportSets::none) ranks[Kokkos::atomic_fetch_add(count, 1)] = found;
    });
    sort(member, ranks, *count);
    for_all(member, *count,
            [&](std::int64_t i) { import_rank[parts.import_start[q] + i] = ranks[i]; });
  }
  int scratch_bytes() const { return static_cast<int>((parts.slots + 2) * sizeof(std::int32_t)); }

 private:
  template <class Member, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_all(const Member& member, std::int64_t count,
                                                  const F& f) {
    for (std::int64_t i = member.team_rank(); i < count; i += threads) f(i);
    member.team_barrier();
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION static void sort(const Member& member, std::int32_t* from,
                                          std::int64_t count) {
    using View = Kokkos::View<std::int32_t*, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::Experimental::sort_team(member, View(from, count));
    member.team_barrier();
  }
};

struct PlaceImports {
  std::int64_t count;
  const std::int32_t *import_rank, *by_rank, *position;
  std::int32_t* import_position;
  unsigned char* is_exported;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i >= count) return;
    const std::int32_t p = position[by_rank[import_rank[i]]];
    import_position[i] = p;
    is_exported[p] = 1;
  }
};

/// What the rows of a part call those that they need: their slots.
struct SlotOfRow {
  std::int64_t n, rows_of_part;
  const std::int32_t *rank, *position, *import_start, *import_rank;

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator()(std::int32_t row, std::int32_t needed) const {
    const std::int64_t part = position[row] / rows_of_part, first = part * rows_of_part;
    if (position[needed] / rows_of_part == part)
      return static_cast<std::int32_t>(position[needed] - first);
    const std::int64_t rows = Kokkos::min(rows_of_part, n - first);
    return static_cast<std::int32_t>(rows + import(part, rank[needed]));
  }

 private:
  /// Which of its part's imports has this rank.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t import(std::int64_t part, std::int32_t wanted) const {
    const std::int32_t begin = import_start[part];
    std::int32_t low = begin, high = import_start[part + 1];
    while (low + 1 < high) {
      const std::int32_t middle = low + (high - low) / 2;
      (import_rank[middle] <= wanted ? low : high) = middle;
    }
    return low - begin;
  }
};

/// The order of rows in parts, while it is being made.
template <class Exec>
struct PartOrder {
  Array<std::int32_t, Exec> import_rank, position;
};

/// \param n        rows
/// \param by_rank  these in an order in which no row needs one behind it
/// \param rank     of each row there
/// \param[out] row  at each position
template <class Exec>
PartOrder<Exec> order_parts(const Exec& exec, Slabs<Exec>& memory, std::int64_t n,
                            const PartSizes<Exec>& sizes, const Array<std::int32_t, Exec>& by_rank,
                            const Array<std::int32_t, Exec>& rank,
                            const Array<std::int32_t, Exec>& row) {
  const auto array = [&](std::int64_t count) {
    return memory.template array<std::int32_t>(exec, count);
  };
  const PartOrder<Exec> r{array(sizes.imports), array(n)};
  const ArrangePart<Exec> kernel{{n, sizes.rows_of_part, sizes.parts, sizes.slots,
                                  sizes.import_start.data(), nullptr, nullptr},
                                 sizes.order,
                                 sizes.sets(),
                                 by_rank.data(),
                                 rank.data(),
                                 row.data(),
                                 r.position.data(),
                                 r.import_rank.data()};
  Kokkos::parallel_for(
      "Trikkos::TriangularPlan::arrange_parts",
      light(Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(sizes.parts), kernel.threads)
                .set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()))),
      kernel);
  return r;
}

}  // namespace Trikkos::Impl

#endif
