// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_IMPORTSETS_HPP
#define TRIKKOS_IMPL_IMPORTSETS_HPP

#include <impl/Trikkos_Strips.hpp>

/// \file
/// Which values parts need of others, before it is known how large parts are.

namespace Trikkos::Impl {

/// For each part a set of ranks, those of the rows that it imports: hash tables of one size.
struct ImportSets {
  static constexpr std::int32_t none = -1, overflow = 1 << 30;
  // Between counts: where eight of them share a sector, to count takes longer than all else (H200:
  // 13 ns an import).
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

}  // namespace Trikkos::Impl

#endif
