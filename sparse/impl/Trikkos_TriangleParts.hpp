// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEPARTS_HPP
#define TRIKKOS_IMPL_TRIANGLEPARTS_HPP

#include <Kokkos_NestedSort.hpp>
#include <bit>
#include <impl/Trikkos_PackedTriangle.hpp>
#include <impl/Trikkos_TeamScratch.hpp>

/// \file
/// Parts of neighbouring rows, for `blocked`. Within a part rows are sorted by rank; each value
/// that a part works with has a slot in its scratch: first those of its own rows, then those that
/// it imports from parts before it, by rank. Ranks go by level (device) or elimination (host).

namespace Trikkos::Impl {

/// As kernels see it. Row r of part q has position q rows_of_part + r.
struct PartsView {
  std::int64_t n, rows_of_part, parts, slots;  // slots: of the largest part
  const std::int32_t *import_start, *import_position;
  const unsigned char* is_exported;  // whether a part imports the value at a position

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows(std::int64_t part) const {
    return Kokkos::min(rows_of_part, n - part * rows_of_part);
  }
};

template <class Exec>
struct TriangleParts {
  std::int64_t n = 0, rows_of_part = 0, parts = 0, slots = 0, imports = 0;
  Array<std::int32_t, Exec> import_start, import_position;
  Array<unsigned char, Exec> is_exported;

  PartsView view() const {
    return {n,
            rows_of_part,
            parts,
            slots,
            import_start.data(),
            import_position.data(),
            is_exported.data()};
  }
};

// ---- how large they may be

/// For each part a set of ranks, those of the rows that it imports: hash tables of one size.
struct ImportSets {
  static constexpr std::int32_t none = -1, overflow = 1 << 30;

  std::int32_t* cell;
  std::int32_t* count;  // of the ranks of each set
  int bits;             // of the number of cells of a set

  KOKKOS_FORCEINLINE_FUNCTION void insert(std::int64_t part, std::int32_t rank) const {
    const std::uint32_t cells = std::uint32_t(1) << bits;
    std::int32_t* const set = cell + (part << bits);
    std::uint32_t at = (static_cast<std::uint32_t>(rank) * 2654435769u) >> (32 - bits);
    for (std::uint32_t i = 0; i < cells; ++i, at = (at + 1) & (cells - 1)) {
      std::int32_t found = relaxed_load(set + at);
      if (found == none) {
        found = Kokkos::atomic_compare_exchange(set + at, none, rank);
        if (found == none) return Kokkos::atomic_inc(count + part);
      }
      if (found == rank) return;
      if (relaxed_load(count + part) > static_cast<std::int32_t>(cells / 2)) return;  // too large
    }
    Kokkos::atomic_max(count + part, overflow);
  }
};

struct CollectImports {
  TriangleRows rows;
  RowOrder natural;
  const std::int32_t* rank;
  std::int64_t rows_of_part;
  ImportSets sets;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t part = natural[row] / rows_of_part;
    for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k) {
      const std::int32_t j = rows.needed[k];
      if (natural[j] / rows_of_part != part) sets.insert(part, rank[j]);
    }
  }
};

/// Slots of the largest part.
struct CountSlots {
  PartsView parts;
  const std::int32_t* count;  // of imports
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t q, std::int64_t& most) const {
    const std::int64_t slots = parts.rows(q) + count[q];
    if (slots > most) most = slots;
  }
};

/// A size of parts that fits, and what parts import.
template <class Exec>
struct PartSizes {
  std::int64_t rows_of_part = 0, slots = 0, imports = 0;
  int bits = 0;
  Array<std::int32_t, Exec> cell, import_start;

  bool fit() const { return slots > 0; }
};

/// The largest parts with as few rows whose values fit into so many slots. Waits.
///
/// H200: n / 256 rows, at least 256 and at most 4096, are best, as far as the scratch goes.
/// \param large_only  these or none
template <class Exec>
PartSizes<Exec> part_sizes(const Exec& exec, const TrianglePattern<Exec>& pattern,
                           const Array<std::int32_t, Exec>& rank, std::int64_t slots,
                           bool large_only) {
  constexpr std::int64_t most = 4096;
  const std::int64_t n = pattern.shape.n;
  std::int64_t least = 256, rows_of_part = least;
  while (rows_of_part < most && 256 * rows_of_part < n) rows_of_part *= 2;
  if (large_only) least = rows_of_part;
  for (; rows_of_part >= least; rows_of_part /= 2) {
    if (rows_of_part >= slots) continue;
    // Of many parts those that need more than four times their rows are of no use.
    constexpr std::int64_t few = 512;
    const std::int64_t parts = (n + rows_of_part - 1) / rows_of_part;
    const std::int64_t room = slots - rows_of_part;
    const auto largest =
        static_cast<std::uint64_t>(parts <= few ? room : std::min(room, 4 * rows_of_part));
    PartSizes<Exec> r;
    r.rows_of_part = rows_of_part;
    r.bits = std::bit_width(2 * largest - 1);
    r.cell = new_array<std::int32_t>(exec, "imports", parts << r.bits, ImportSets::none);
    r.import_start = new_array<std::int32_t>(exec, "import_start", parts + 1, 0);
    const ImportSets sets{r.cell.data(), r.import_start.data(), r.bits};
    Kokkos::parallel_for(
        "Trikkos::TriangularPlan::collect_imports", range(exec, n),
        CollectImports{pattern.rows(), pattern.shape.natural(), rank.data(), rows_of_part, sets});
    std::int64_t found = 0;
    Kokkos::parallel_reduce(
        "Trikkos::TriangularPlan::count_slots", range(exec, parts),
        CountSlots{{n, rows_of_part, parts, 0, nullptr, nullptr, nullptr}, r.import_start.data()},
        Kokkos::Max<std::int64_t>(found));
    exec.fence("Trikkos::TriangularPlan::count_slots");
    if (found > rows_of_part + static_cast<std::int64_t>(largest)) continue;
    sum_up(exec, r.import_start.data(), parts + 1);
    r.imports = fetch(exec, r.import_start.data() + parts, "Trikkos::TriangularPlan::import_start");
    r.slots = found;
    return r;
  }
  return {};
}

// ---- the parts

/// Ranks of the rows in the order of elimination.
struct RankRows {
  RowOrder natural;
  const std::int32_t* rank;
  std::int32_t* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const { to[e] = rank[natural[e]]; }
};

/// Those that a set has, anywhere in its part's place.
struct ListImports {
  ImportSets sets;
  const std::int32_t* import_start;
  std::int32_t* next;  // 0 for each part
  std::int32_t* import_rank;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t part = i >> sets.bits;
    if (sets.cell[i] == ImportSets::none) return;
    import_rank[import_start[part] + Kokkos::atomic_fetch_add(next + part, 1)] = sets.cell[i];
  }
};

/// A team for each part: the ranks of its rows, and of those that it imports.
template <class Exec>
struct SortParts {
  PartsView parts;
  std::int32_t *row_rank, *import_rank;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t q = member.league_rank();
    const std::int32_t start = parts.import_start[q];
    sort(member, row_rank + q * parts.rows_of_part, parts.rows(q));
    sort(member, import_rank + start, parts.import_start[q + 1] - start);
  }

 private:
  using View = Kokkos::View<std::int32_t*, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  template <class Member>
  KOKKOS_INLINE_FUNCTION static void sort(const Member& member, std::int32_t* rank,
                                          std::int64_t count) {
    Kokkos::Experimental::sort_team(member, View(rank, count));
  }
};

struct PlaceRows {
  const std::int32_t *row_rank, *by_rank;
  std::int32_t *row, *position;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    row[p] = by_rank[row_rank[p]];
    position[row[p]] = static_cast<std::int32_t>(p);
  }
};

struct PlaceImports {
  const std::int32_t *import_rank, *by_rank, *position;
  std::int32_t* import_position;
  unsigned char* is_exported;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int32_t p = position[by_rank[import_rank[i]]];
    import_position[i] = p;
    is_exported[p] = 1;
  }
};

/// Slots of the entries of each row.
struct PlaceEntries {
  TriangleRows rows;
  RowOrder natural;
  PartsView parts;
  const std::int32_t *rank, *position, *import_rank;
  std::int32_t* slot;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t part = natural[row] / parts.rows_of_part, first = part * parts.rows_of_part;
    for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k) {
      const std::int32_t j = rows.needed[k];
      const bool is_inside = natural[j] / parts.rows_of_part == part;
      slot[k] = static_cast<std::int32_t>(is_inside ? position[j] - first
                                                    : parts.rows(part) + import(part, rank[j]));
    }
  }

 private:
  /// Which of its part's imports has this rank.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t import(std::int64_t part, std::int32_t wanted) const {
    const std::int32_t begin = parts.import_start[part];
    std::int32_t low = begin, high = parts.import_start[part + 1];
    while (low + 1 < high) {
      const std::int32_t middle = low + (high - low) / 2;
      (import_rank[middle] <= wanted ? low : high) = middle;
    }
    return low - begin;
  }
};

/// \param by_rank   rows in an order in which no row needs one behind it
/// \param rank      of each row there
/// \param[out] row  at each position
/// \param[out] slot of each entry
template <class Exec>
TriangleParts<Exec> make_parts(const Exec& exec, const TrianglePattern<Exec>& pattern,
                               const PartSizes<Exec>& sizes,
                               const Array<std::int32_t, Exec>& by_rank,
                               const Array<std::int32_t, Exec>& rank,
                               Array<std::int32_t, Exec>& row, Array<std::int32_t, Exec>& slot) {
  const std::int64_t n = pattern.shape.n, rows_of_part = sizes.rows_of_part;
  const RowOrder natural = pattern.shape.natural();
  TriangleParts<Exec> r;
  r.n = n;
  r.rows_of_part = rows_of_part;
  r.parts = (n + rows_of_part - 1) / rows_of_part;
  r.slots = sizes.slots;
  r.imports = sizes.imports;
  r.import_start = sizes.import_start;
  r.import_position = new_array<std::int32_t>(exec, "import_position", r.imports);
  r.is_exported = new_array<unsigned char>(exec, "is_exported", n, static_cast<unsigned char>(0));

  const auto row_rank = new_array<std::int32_t>(exec, "row_rank", n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::rank_rows", range(exec, n),
                       RankRows{natural, rank.data(), row_rank.data()});
  const auto next = new_array<std::int32_t>(exec, "next", r.parts, 0);
  const auto import_rank = new_array<std::int32_t>(exec, "import_rank", r.imports);
  const ImportSets sets{sizes.cell.data(), nullptr, sizes.bits};
  Kokkos::parallel_for("Trikkos::TriangularPlan::list_imports", range(exec, r.parts << sizes.bits),
                       ListImports{sets, r.import_start.data(), next.data(), import_rank.data()});
  constexpr int team_size = is_host_v<Exec> ? 1 : 256;
  Kokkos::parallel_for("Trikkos::TriangularPlan::sort_parts",
                       light(Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(r.parts), team_size)),
                       SortParts<Exec>{r.view(), row_rank.data(), import_rank.data()});

  row = new_array<std::int32_t>(exec, "row", n);
  slot = new_array<std::int32_t>(exec, "slot", pattern.entries);
  const auto position = new_array<std::int32_t>(exec, "position", n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::place_rows", range(exec, n),
                       PlaceRows{row_rank.data(), by_rank.data(), row.data(), position.data()});
  Kokkos::parallel_for("Trikkos::TriangularPlan::place_imports", range(exec, r.imports),
                       PlaceImports{import_rank.data(), by_rank.data(), position.data(),
                                    r.import_position.data(), r.is_exported.data()});
  Kokkos::parallel_for("Trikkos::TriangularPlan::place_entries", range(exec, n),
                       PlaceEntries{pattern.rows(), natural, r.view(), rank.data(), position.data(),
                                    import_rank.data(), slot.data()});
  exec.fence("Trikkos::TriangularPlan::parts");  // before what it worked in is freed
  return r;
}

}  // namespace Trikkos::Impl

#endif
