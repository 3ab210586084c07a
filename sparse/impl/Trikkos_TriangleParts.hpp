// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEPARTS_HPP
#define TRIKKOS_IMPL_TRIANGLEPARTS_HPP

#include <impl/Trikkos_PackedTriangle.hpp>
#include <impl/Trikkos_TeamScratch.hpp>

/// \file
/// Parts of neighbouring rows, for `blocked`. Within a part rows are sorted by level; each value
/// that a part works with has a slot in its scratch: first those of its own rows, then those that
/// it imports from parts before it, by level.

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
  Array<std::int32_t, Exec> row, import_start, import_position;
  Array<std::int32_t, Exec> slot;  // of each entry
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

struct NumberParts {
  RowOrder natural;
  std::int64_t rows_of_part;
  std::int32_t* part;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    part[natural[e]] = static_cast<std::int32_t>(e / rows_of_part);
  }
};

/// Entries that need a row of another part.
struct FindImports {
  TriangleRows rows;
  const std::int32_t *part, *position, *rank;
  std::int64_t rows_of_part;
  std::int64_t* place;  // how many a row has, then where they are listed
  std::int32_t* slot;
  std::int64_t* entry;
  std::int32_t *rank_key, *part_key;

  struct Count {};
  struct List {};

  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t row) const {
    std::int64_t count = 0;
    for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k)
      count += part[rows.needed[k]] != part[row];
    place[row] = count;
  }
  /// The others have their slots at once.
  KOKKOS_INLINE_FUNCTION void operator()(List, std::int64_t row) const {
    std::int64_t to = place[row];
    for (std::int64_t k = rows.start[row]; k < rows.start[row + 1]; ++k) {
      const std::int32_t j = rows.needed[k];
      if (part[j] == part[row]) {
        slot[k] = static_cast<std::int32_t>(position[j] - part[j] * rows_of_part);
      } else {
        entry[to] = k;
        rank_key[to] = rank[j];
        part_key[to] = part[row];
        ++to;
      }
    }
  }
};

/// Sorted by part and rank, entries that need the same row follow each other: one import.
struct NumberImports {
  TriangleRows rows;
  PartsView parts;
  const std::int32_t* item;
  const std::int64_t* entry;
  const std::int32_t *rank_key, *part_key, *position;
  std::int32_t *number, *import_start, *import_position, *slot;
  unsigned char* is_exported;

  struct Count {};
  struct Place {};

  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t i) const {
    number[i] = is_first(i);
    if (is_first(i)) Kokkos::atomic_inc(import_start + part_key[item[i]]);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Place, std::int64_t i) const {
    const std::int64_t k = entry[item[i]], part = part_key[item[i]];
    const std::int64_t index = number[i] + is_first(i) - 1;
    slot[k] = static_cast<std::int32_t>(parts.rows(part) + index - import_start[part]);
    if (!is_first(i)) return;
    const std::int32_t from = position[rows.needed[k]];
    import_position[index] = from;
    is_exported[from] = 1;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_first(std::int64_t i) const {
    if (i == 0) return true;
    const std::int32_t a = item[i - 1], b = item[i];
    return rank_key[a] != rank_key[b] || part_key[a] != part_key[b];
  }
};

struct CountSlots {
  PartsView parts;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t q, std::int64_t& most) const {
    const std::int64_t slots = parts.rows(q) + parts.import_start[q + 1] - parts.import_start[q];
    if (slots > most) most = slots;
  }
};

/// \param by_level  rows sorted by level
/// \param rank      of each row there
/// Waits.
template <class Exec>
TriangleParts<Exec> make_parts(const Exec& exec, const TrianglePattern<Exec>& pattern,
                               const Array<std::int32_t, Exec>& by_level,
                               const Array<std::int32_t, Exec>& rank, std::int64_t rows_of_part) {
  const std::int64_t n = pattern.shape.n;
  const RowOrder natural = pattern.shape.natural();
  TriangleParts<Exec> r;
  r.n = n;
  r.rows_of_part = rows_of_part;
  r.parts = (n + rows_of_part - 1) / rows_of_part;
  const auto part = new_array<std::int32_t>(exec, "part", n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::number_parts", range(exec, n),
                       NumberParts{natural, rows_of_part, part.data()});
  const auto last_part = static_cast<std::int32_t>(r.parts - 1);
  r.row = new_array<std::int32_t>(exec, "row", n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::copy", range(exec, n),
                       Copy<std::int32_t>{by_level.data(), r.row.data()});
  r.row = sort_by(exec, r.row, part, last_part);
  const auto position = new_array<std::int32_t>(exec, "position", n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::invert", range(exec, n),
                       InvertOrder{r.row.data(), position.data()});

  r.slot = new_array<std::int32_t>(exec, "slot", pattern.entries);
  const auto place = new_array<std::int64_t>(exec, "place", n + 1, std::int64_t(0));
  FindImports find{pattern.rows(), part.data(),   position.data(), rank.data(), rows_of_part,
                   place.data(),   r.slot.data(), nullptr,         nullptr,     nullptr};
  Kokkos::parallel_for("Trikkos::TriangularPlan::count_imports", range<FindImports::Count>(exec, n),
                       find);
  sum_up(exec, place.data(), n + 1);
  const std::int64_t found = fetch(exec, place.data() + n, "Trikkos::TriangularPlan::place");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (found > most) return r;  // no parts with so many imports are of any use: no slots
  const auto entry = new_array<std::int64_t>(exec, "entry", found);
  const auto rank_key = new_array<std::int32_t>(exec, "rank_key", found),
             part_key = new_array<std::int32_t>(exec, "part_key", found);
  find.entry = entry.data();
  find.rank_key = rank_key.data();
  find.part_key = part_key.data();
  Kokkos::parallel_for("Trikkos::TriangularPlan::list_imports", range<FindImports::List>(exec, n),
                       find);

  auto item = new_array<std::int32_t>(exec, "item", found);
  Kokkos::parallel_for("Trikkos::TriangularPlan::list", range(exec, found),
                       ListRows{{found, true}, item.data()});
  item = sort_by(exec, item, rank_key, static_cast<std::int32_t>(n - 1));
  item = sort_by(exec, item, part_key, last_part);
  const auto number = new_array<std::int32_t>(exec, "number", found + 1, 0);
  r.import_start = new_array<std::int32_t>(exec, "import_start", r.parts + 1, 0);
  r.import_position = new_array<std::int32_t>(exec, "import_position", found);
  r.is_exported = new_array<unsigned char>(exec, "is_exported", n, static_cast<unsigned char>(0));
  const NumberImports imports{pattern.rows(),        r.view(),
                              item.data(),           entry.data(),
                              rank_key.data(),       part_key.data(),
                              position.data(),       number.data(),
                              r.import_start.data(), r.import_position.data(),
                              r.slot.data(),         r.is_exported.data()};
  Kokkos::parallel_for("Trikkos::TriangularPlan::number_imports",
                       range<NumberImports::Count>(exec, found), imports);
  sum_up(exec, number.data(), found + 1);
  sum_up(exec, r.import_start.data(), r.parts + 1);
  Kokkos::parallel_for("Trikkos::TriangularPlan::place_imports",
                       range<NumberImports::Place>(exec, found), imports);
  Kokkos::parallel_reduce("Trikkos::TriangularPlan::count_slots", range(exec, r.parts),
                          CountSlots{r.view()}, Kokkos::Max<std::int64_t>(r.slots));
  r.imports = fetch(exec, number.data() + found, "Trikkos::TriangularPlan::number");
  return r;
}

/// Parts whose values fit into the scratch of a team, or none: `slots` is 0 then. Waits.
///
/// H200: n / 256 rows, at least 256 and at most 4096, are best, as far as the scratch goes.
template <class T, class Exec>
TriangleParts<Exec> parts_that_fit(const Exec& exec, const TrianglePattern<Exec>& pattern,
                                   const Array<std::int32_t, Exec>& by_level,
                                   const Array<std::int32_t, Exec>& rank) {
  constexpr std::int64_t least = 256, most = 4096;
  const std::int64_t slots =
      (granted_scratch<Exec>() - scratch_reserved(1024)) / static_cast<std::int64_t>(sizeof(T));
  std::int64_t rows_of_part = least;
  while (rows_of_part < most && 256 * rows_of_part < pattern.shape.n) rows_of_part *= 2;
  for (; rows_of_part >= least; rows_of_part /= 2) {
    if (rows_of_part > slots) continue;
    auto parts = make_parts(exec, pattern, by_level, rank, rows_of_part);
    if (parts.slots > 0 && parts.slots <= slots) return parts;
  }
  return {};
}

}  // namespace Trikkos::Impl

#endif
