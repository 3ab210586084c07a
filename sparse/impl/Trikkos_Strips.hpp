// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_STRIPS_HPP
#define TRIKKOS_IMPL_STRIPS_HPP

#include <impl/Trikkos_PackedTriangle.hpp>
#include <limits>

/// \file
/// The order in which rows are divided into parts: that of elimination or, of large and thin
/// triangles, strips of neighbouring rows, each sorted by level. Either way no part needs one
/// behind it. Of a grid, line by line, a part of a strip is a tile of lines and levels in place of
/// some lines: what goes from part to part through global memory does so once a tile, not once a
/// line.

namespace Trikkos::Impl {

struct StripOrder {
  RowOrder natural;
  const std::int32_t *row = nullptr, *place = nullptr;  // null: the order is natural

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator[](std::int64_t i) const {
    return row == nullptr ? natural[i] : row[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place_of(std::int32_t r) const {
    return place == nullptr ? natural[r] : place[r];
  }
};

struct StripOfRow {
  RowOrder natural;
  std::int64_t rows_of_strip;
  std::int32_t* strip;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row) const {
    strip[row] = static_cast<std::int32_t>(natural[row] / rows_of_strip);
  }
};

/// Asynchronous.
/// \param by_level  rows in the order of levels
template <class Exec>
StripOrder order_strips(const Exec& exec, Slabs<Exec>& memory, RowOrder natural,
                        const Array<std::int32_t, Exec>& by_level, std::int64_t rows_of_strip) {
  const std::int64_t n = natural.n;
  memory.reserve(exec, 6 * memory.template bytes_of<std::int32_t>(n));
  const auto strip = memory.template array<std::int32_t>(exec, n),
             place = memory.template array<std::int32_t>(exec, n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::strips", range(exec, n),
                       StripOfRow{natural, rows_of_strip, strip.data()});
  const auto last = static_cast<std::int32_t>((n - 1) / rows_of_strip);
  const auto row = sort_by(exec, memory, natural, strip, last, by_level.data());
  Kokkos::parallel_for("Trikkos::TriangularPlan::places", range(exec, n),
                       InvertOrder{row.data(), place.data()});
  return {natural, row.data(), place.data()};
}

/// From which level to which the rows of each part are.
struct PartLevels {
  std::int32_t *first, *last;
  KOKKOS_FORCEINLINE_FUNCTION void take(std::int64_t part, std::int32_t lowest,
                                        std::int32_t highest) const {
    if (lowest < relaxed_load(first + part)) Kokkos::atomic_min(first + part, lowest);
    if (highest > relaxed_load(last + part)) Kokkos::atomic_max(last + part, highest);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count(std::int64_t part) const {
    return std::int64_t(last[part]) - first[part] + 1;
  }
};

/// So that neighbouring warps work for different parts, and do not wait for one counter.
struct SpreadOverParts {
  static constexpr std::int64_t warp = 32;

  std::int64_t parts, items;  // items: of each part, a multiple of a warp

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return parts * items; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t part(std::int64_t i) const { return i / warp % parts; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t item(std::int64_t i) const {
    return i / warp / parts * warp + i % warp;
  }
};

/// Of parts of neighbouring rows, by every step-th row.
struct CollectLevels {
  RowOrder natural;
  const std::int32_t* level;
  SpreadOverParts spread;
  std::int64_t step;
  PartLevels levels;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t part = spread.part(i), e = (part * spread.items + spread.item(i)) * step;
    if (e < natural.n) levels.take(part, level[natural[e]], level[natural[e]]);
  }
};
struct SumLevels {
  PartLevels levels;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t part, std::int64_t& sum) const {
    sum += levels.count(part);
  }
};

/// How many parts of so many rows a strip should have: 32 at most, or so that levels of a part have
/// up to 48 rows. 1: there should be no strips. Waits where it must look at levels.
///
/// H200, five points, 1024^2 and 2048^2, by lines of a strip, for parts of 4096 rows: 605 (4), 486
/// (16), 446 (32), 795 us (64), and 2209 (2), 1199 (16), 1161 us (32), `sync_free` 1746.
/// Unstructured meshes of up to 134 000 rows are slower in strips, by 2 to 40 %: where there are
/// more than 16 levels for each part, few of them are waited for through global memory.
template <class Exec>
std::int64_t parts_of_strip(const Exec& exec, Slabs<Exec>& memory,
                            const TrianglePattern<Exec>& pattern, std::int64_t rows_of_part,
                            std::int64_t levels) {
  constexpr std::int64_t large = 1 << 19, levels_of_part = 16, rows_of_level = 48, most = 32;
  constexpr std::int64_t step = 16;
  const std::int64_t n = pattern.shape.n, parts = (n + rows_of_part - 1) / rows_of_part;
  if (is_host_v<Exec> || n < large || levels > levels_of_part * parts) return 1;
  const auto first = memory.template array<std::int32_t>(exec, parts),
             last = memory.template array<std::int32_t>(exec, parts);
  const PartLevels found{first.data(), last.data()};
  fill(exec, filled(first, std::numeric_limits<std::int32_t>::max()), filled(last, -1));
  const SpreadOverParts spread{parts, rows_of_part / step};
  Kokkos::parallel_for(
      "Trikkos::TriangularPlan::collect_levels", range(exec, spread.count()),
      CollectLevels{pattern.shape.natural(), pattern.level.data(), spread, step, found});
  std::int64_t sum = 0;
  Kokkos::parallel_reduce("Trikkos::TriangularPlan::sum_levels", range(exec, parts),
                          SumLevels{found}, sum);
  exec.fence("Trikkos::TriangularPlan::sum_levels");
  std::int64_t r = 1;
  while (r < most && 2 * r * n <= rows_of_level * sum) r *= 2;
  return r;
}

}  // namespace Trikkos::Impl

#endif
