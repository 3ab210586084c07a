// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEPARTS_HPP
#define TRIKKOS_IMPL_TRIANGLEPARTS_HPP

#include <Kokkos_NestedSort.hpp>
#include <bit>
#include <impl/Trikkos_Strips.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/Trikkos_TriangularChoice.hpp>

/// \file
/// Parts of neighbouring rows, for `blocked`. Within a part rows are sorted by rank; each value
/// that a part works with has a slot in its scratch: first those of its own rows, then those that
/// it imports from parts before it, by rank. Ranks go by level (device) or elimination (host).

namespace Trikkos::Impl {

/// Of a device's team, those that solve rows. H200: with 128 the same within 5 %, but for parts of
/// strips, 32 rows of a level, 1.1 to 1.4 times as long.
inline constexpr int computing_threads = 256;

/// Those that wait for what a part needs of others. Measured on an H200: 8, 16, 32, 64 took 552,
/// 440, 369, 345 us (128^3 points). Whole warps, as they wait for nothing that their own warp
/// makes.
inline constexpr int importing_threads = 64;

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
  std::int64_t n = 0, rows_of_part = 0, parts = 0, slots = 0;
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
  // Between counts: in one line of a cache they take longer than all else.
  static constexpr std::int64_t stride = 32;

  std::int32_t* cell;
  std::int32_t* count;  // of the ranks of each set
  int bits;             // of the number of cells of a set

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t* count_of(std::int64_t part) const {
    return count + part * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION void insert(std::int64_t part, std::int32_t rank) const {
    const std::uint32_t cells = std::uint32_t(1) << bits;
    std::int32_t* const set = cell + (part << bits);
    std::uint32_t at = (static_cast<std::uint32_t>(rank) * 2654435769u) >> (32 - bits);
    for (std::uint32_t i = 0; i < cells; ++i, at = (at + 1) & (cells - 1)) {
      std::int32_t found = relaxed_load(set + at);
      if (found == none) {
        found = Kokkos::atomic_compare_exchange(set + at, none, rank);
        if (found == none) return Kokkos::atomic_inc(count_of(part));
      }
      if (found == rank) return;
      if (relaxed_load(count_of(part)) > static_cast<std::int32_t>(cells / 2)) return;  // too large
    }
    Kokkos::atomic_max(count_of(part), overflow);
  }
};

/// Warps, of neighbouring rows of a part each.
struct CollectImports {
  static constexpr int warp = SpreadOverParts::warp;

  TriangleRows rows;
  StripOrder order;
  const std::int32_t *rank, *level;
  SpreadOverParts spread;  // threads, of those that are looked at: every step-th
  std::int64_t step;
  int bits;  // of the number of threads for a row
  ImportSets sets;
  PartLevels levels;
  std::int64_t warps_of_team;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t first = member.league_rank() * warps_of_team,
                       last = Kokkos::min(first + warps_of_team, warps());
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, first, last), [&](std::int64_t w) {
      const std::int64_t part = spread.part(w * warp) * step + step / 2;
      const auto lanes = Kokkos::ThreadVectorRange(member, warp);
      Kokkos::parallel_for(lanes, [&](std::int64_t lane) {
        const std::int64_t item = spread.item(w * warp + lane);
        for_row(part, item, [&](std::int32_t row) { collect(part, item, row); });
      });
      Kokkos::MinMaxScalar<std::int32_t> found;
      Kokkos::parallel_reduce(
          lanes,
          [&](std::int64_t lane, Kokkos::MinMaxScalar<std::int32_t>& some) {
            for_row(part, spread.item(w * warp + lane), [&](std::int32_t row) {
              some.min_val = Kokkos::min(some.min_val, level[row]);
              some.max_val = Kokkos::max(some.max_val, level[row]);
            });
          },
          Kokkos::MinMax<std::int32_t>(found));
      Kokkos::single(Kokkos::PerThread(member),
                     [&] { levels.take(part, found.min_val, found.max_val); });
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t warps() const { return spread.count() / warp; }

 private:
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(std::int64_t part, std::int64_t item, const F& f) const {
    const std::int64_t e = part * (spread.items >> bits) + (item >> bits);
    if (e < order.natural.n) f(order[e]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void collect(std::int64_t part, std::int64_t item,
                                           std::int32_t row) const {
    const std::int64_t threads = std::int64_t(1) << bits, rows_of_part = spread.items >> bits;
    for (std::int64_t k = rows.start[row] + item % threads; k < rows.start[row + 1]; k += threads) {
      const std::int32_t j = rows.needed[k];
      if (order.place_of(j) / rows_of_part != part) sets.insert(part, rank[j]);
    }
  }
};
template <class Exec>
void launch(const Exec& exec, CollectImports kernel) {
  constexpr int warp = is_host_v<Exec> ? 1 : CollectImports::warp,
                threads = is_host_v<Exec> ? 1 : 4;
  constexpr std::int64_t of_host = 8;
  kernel.warps_of_team = is_host_v<Exec> ? of_host : threads;
  const auto teams =
      static_cast<int>((kernel.warps() + kernel.warps_of_team - 1) / kernel.warps_of_team);
  Kokkos::parallel_for("Trikkos::TriangularPlan::collect_imports",
                       light(Kokkos::TeamPolicy<Exec>(exec, teams, threads, warp)), kernel);
}

/// Where the imports of parts begin, from how many there are; the slots of the largest part; the
/// levels of all parts. One team.
struct PlaceParts {
  static constexpr int threads = 512;  // of a device

  PartsView parts;
  PartLevels levels;
  ImportSets sets;
  std::int32_t* import_start;
  TriangleFindings* findings;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    Kokkos::parallel_scan(Kokkos::TeamThreadRange(member, parts.parts + 1),
                          [&](std::int64_t q, std::int64_t& sum, bool is_final) {
                            const std::int64_t here = q == parts.parts ? 0 : *sets.count_of(q);
                            if (is_final) place(q, sum, here);
                            sum += here;
                          });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void place(std::int64_t q, std::int64_t start,
                                         std::int64_t imports) const {
    import_start[q] = static_cast<std::int32_t>(start);
    if (q == parts.parts) {
      findings->imports = start;
    } else if (levels.last[q] >= 0) {  // it was looked at
      Kokkos::atomic_add(&findings->part_levels, levels.count(q));
      if (relaxed_load(&findings->slots) < parts.rows(q) + imports)
        Kokkos::atomic_max(&findings->slots, parts.rows(q) + imports);
    }
  }
};

/// A size of parts that fits, and what parts import.
template <class Exec>
struct PartSizes {
  std::int64_t rows_of_part = 0, parts = 0, slots = 0, imports = 0;
  std::int64_t parts_of_strip = 1;
  double rows_of_level = 0;  // in a part, in the mean
  int bits = 0;
  StripOrder order{};
  Array<std::int32_t, Exec> cell, count, import_start;

  bool fit() const { return slots > 0; }
  ImportSets sets() const { return {cell.data(), count.data(), bits}; }
};

/// The largest parts with as few rows whose values fit into so many slots. Waits.
///
/// H200: without strips n / 1024 rows, at least 256 and at most 4096, as far as the scratch goes.
/// With n / 256 three of 9 matrices take 7 to 24 % longer (luxembourg, dftwater, ship_001), one 6 %
/// less (igea).
///
/// \param large_only  these, if their rows do not need distant ones, or none
/// \param levels      there are
/// \param longest     entries of a row
template <class Exec>
PartSizes<Exec> part_sizes(const Exec& exec, Slabs<Exec>& memory,
                           const TrianglePattern<Exec>& pattern,
                           const Array<std::int32_t, Exec>& by_rank,
                           const Array<std::int32_t, Exec>& rank, std::int64_t slots,
                           bool large_only, std::int64_t levels, std::int64_t longest) {
  constexpr std::int64_t least = 256, most = 4096;
  const std::int64_t n = pattern.shape.n;
  TriangleFindings* const findings = pattern.findings.data();
  constexpr int most_bits = is_host_v<Exec> ? 0 : 3;
  const int bits = std::min(bits_of_row(n, pattern.entries, longest), most_bits);
  PartSizes<Exec> r;
  // Whether r is the answer: parts of so many rows, or none.
  const auto settles = [&](std::int64_t rows_of_part, std::int64_t parts_of_strip) {
    if (rows_of_part >= slots) return false;
    // Of many parts those that need more than four times their rows are of no use.
    constexpr std::int64_t few = 512;
    r.rows_of_part = rows_of_part;
    r.parts_of_strip = parts_of_strip;
    r.parts = (n + rows_of_part - 1) / rows_of_part;
    r.order = {pattern.shape.natural()};
    if (parts_of_strip > 1)
      r.order = order_strips(exec, memory, r.order.natural, by_rank, parts_of_strip * rows_of_part);
    const std::int64_t room = slots - rows_of_part, all = std::max<std::int64_t>(longest, 1);
    const std::int64_t largest =
        std::min(r.parts <= few ? room : std::min(room, 4 * rows_of_part), all * rows_of_part);
    r.bits =
        std::max(5, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(2 * largest - 1))));
    const std::int64_t cells = r.parts << r.bits;
    if (static_cast<std::int64_t>(r.cell.extent(0)) < cells) {
      // With what `order_parts` makes of them: half of the cells remain free.
      memory.reserve(exec, memory.template bytes_of<std::int32_t>(cells + cells / 2 + n +
                                                                  40 * (r.parts + 1) + 512));
      r.cell = memory.template array<std::int32_t>(exec, cells);
    }
    r.count = memory.template array<std::int32_t>(exec, r.parts * ImportSets::stride);
    r.import_start = memory.template array<std::int32_t>(exec, r.parts + 1);
    const auto first = memory.template array<std::int32_t>(exec, r.parts),
               last = memory.template array<std::int32_t>(exec, r.parts);
    const PartLevels part_levels{first.data(), last.data()};
    const auto look = [&](std::int64_t step) {
      fill(exec, Fill<std::int32_t>{r.cell.data(), cells, ImportSets::none}, filled(r.count, 0),
           filled(first, std::numeric_limits<std::int32_t>::max()), filled(last, -1),
           Fill<std::int64_t>{&findings->slots, 1, 0},
           Fill<std::int64_t>{&findings->part_levels, 1, 0});
      const SpreadOverParts spread{(r.parts + step - 1 - step / 2) / step, rows_of_part << bits};
      launch(exec, CollectImports{pattern.rows(), r.order, rank.data(), pattern.level.data(),
                                  spread, step, bits, r.sets(), part_levels, 0});
      const PartsView parts{n, rows_of_part, r.parts, 0, nullptr, nullptr, nullptr};
      Kokkos::parallel_for(
          "Trikkos::TriangularPlan::place_parts",
          light(Kokkos::TeamPolicy<Exec>(exec, 1, is_host_v<Exec> ? 1 : PlaceParts::threads)),
          PlaceParts{parts, part_levels, r.sets(), r.import_start.data(), findings});
      return fetch(exec, findings, "Trikkos::TriangularPlan::slots");
    };
    const auto fits = [&](const TriangleFindings& found) {
      return found.slots <= rows_of_part + largest;
    };
    // Where all of them take longer than to wait for some, these may be enough to see that parts
    // are too large, or of no use.
    constexpr std::int64_t step = 16, worth_it = 1 << 18;
    if (n >= worth_it) {
      const TriangleFindings found = look(step);
      if (!fits(found)) return false;
      r.imports = step * found.imports;
      if (large_only && needs_distant_ones(n, r.imports)) return true;
    }
    const TriangleFindings found = look(1);
    if (!fits(found)) return false;
    r.slots = found.slots;
    r.imports = found.imports;
    r.rows_of_level = static_cast<double>(n) / static_cast<double>(found.part_levels);
    return true;
  };
  const std::int64_t in_strip = parts_of_strip(exec, memory, pattern, most, levels);
  if (in_strip > 1 && settles(most, in_strip)) return r;
  std::int64_t rows_of_part = least;
  while (rows_of_part < most && 1024 * rows_of_part < n) rows_of_part *= 2;
  for (; rows_of_part >= least; rows_of_part /= 2) {
    if (settles(rows_of_part, 1)) return r;
    if (large_only) break;
  }
  return {};
}

// ---- the parts

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
