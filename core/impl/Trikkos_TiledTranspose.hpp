// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TILEDTRANSPOSE_HPP
#define TRIKKOS_IMPL_TILEDTRANSPOSE_HPP

#include <algorithm>
#include <impl/Trikkos_System.hpp>
#include <limits>

/// \file
/// Data marshaling (Chang et al., SC'12, section III-A): copies between a layout in which the rows
/// of a system are adjacent and one in which row k of neighbouring systems is. A system may be a
/// partition of a longer one.

namespace Trikkos::Impl {

/// Whose neighbours lie side by side in memory.
enum class Adjacent { systems, rows };

/// write(system, row, read(system, row)) for all of them, in tiles, so that neighbouring threads
/// read and write neighbouring addresses even where the two sides disagree on what those are. For
/// element types up to 40 bytes.
///
///   T    Read::operator()(std::int64_t system, std::int64_t row) const
///   void Write::operator()(std::int64_t system, std::int64_t row, const T& value) const
///
/// What is read must not overlap what is written.
template <class Read, class Write>
struct TiledTranspose {
  Read read;
  Write write;
  std::int64_t systems = 0, rows = 0;
  Adjacent from = Adjacent::rows, to = Adjacent::systems;

  /// Asynchronous; no allocation but what Kokkos' CUDA backend may need for a team launch on an
  /// instance that no Workspace was made for.
  template <class Exec>
  void launch(const Exec& exec, const char* label) const {
    if (systems == 0 || rows == 0) return;
    if constexpr (is_host_v<Exec>) {  // no teams: Kokkos allocates scratch for the first of them
      Kokkos::parallel_for(
          label,
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, host_tiles().count()),
          *this);
    } else {
      const std::int64_t league =
          std::min<std::int64_t>(device_tiles().count(), std::numeric_limits<int>::max());
      Kokkos::parallel_for(
          label,
          Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<width * lines, teams>>(
              exec, static_cast<int>(league), width * lines)
              .set_scratch_size(0, Kokkos::PerTeam(from == to ? 0 : scratch_bytes() + alignof(T))),
          *this);
    }
  }

  /// One tile, by a thread of a host.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const Tiles tiles = host_tiles();
    const Place first = tiles.first(index);
    const std::int64_t end_system = smaller(first.system + tiles.tile_systems, systems);
    const std::int64_t end_row = smaller(first.row + tiles.tile_rows, rows);
    if (to == Adjacent::rows) {
      for (std::int64_t s = first.system; s < end_system; ++s)
        for (std::int64_t k = first.row; k < end_row; ++k) write(s, k, read(s, k));
    } else {
      for (std::int64_t k = first.row; k < end_row; ++k)
        for (std::int64_t s = first.system; s < end_system; ++s) write(s, k, read(s, k));
    }
  }

  /// One tile, by a team of `width * lines` threads.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    T* const tile = from == to ? nullptr
                               : static_cast<T*>(member.team_scratch(0).get_shmem_aligned(
                                     scratch_bytes(), alignof(T)));
    const Tiles tiles = device_tiles();
    const std::int64_t count = tiles.count();
    for (std::int64_t i = member.league_rank(); i < count; i += member.league_size()) {
      const Place first = tiles.first(i);
      T v[passes] = {};
      for_passes(from, first, member.team_rank(),
                 [&](int p, std::int64_t s, std::int64_t k) { v[p] = read(s, k); });
      if (from != to) {
        const int lane = member.team_rank() % width, line = member.team_rank() / width;
        TRIKKOS_UNROLL(passes)
        for (int p = 0; p < passes; ++p) tile[(line + p * lines) * pitch + lane] = v[p];
        member.team_barrier();
        TRIKKOS_UNROLL(passes)
        for (int p = 0; p < passes; ++p) v[p] = tile[lane * pitch + line + p * lines];
        member.team_barrier();  // the next tile takes its place
      }
      for_passes(to, first, member.team_rank(),
                 [&](int p, std::int64_t s, std::int64_t k) { write(s, k, v[p]); });
    }
  }

 private:
  using T =
      std::remove_cvref_t<std::invoke_result_t<const Read&, const std::int64_t, std::int64_t>>;

  static constexpr int width = 32, lines = 8, passes = width / lines;
  // Teams in flight: 6 reach 90% of a copy's bandwidth, 4 only 75% (H200, double).
  static constexpr int teams = 6;
  static constexpr int pitch = width + 1;  // odd: no bank conflicts
  static KOKKOS_INLINE_FUNCTION constexpr std::size_t scratch_bytes() {
    return sizeof(T) * width * pitch;
  }
  static_assert(sizeof(T) <= 40, "a tile must fit the 48 KiB of scratch that every backend grants");

  struct Place {
    std::int64_t system, row;
  };
  struct Tiles {
    std::int64_t systems, rows, tile_systems, tile_rows;
    Adjacent to;

    KOKKOS_INLINE_FUNCTION std::int64_t across() const {
      return (systems + tile_systems - 1) / tile_systems;
    }
    KOKKOS_INLINE_FUNCTION std::int64_t along() const { return (rows + tile_rows - 1) / tile_rows; }
    KOKKOS_INLINE_FUNCTION std::int64_t count() const { return across() * along(); }
    /// Tiles follow each other as their target does in memory: caches join what they half write.
    KOKKOS_INLINE_FUNCTION Place first(std::int64_t i) const {
      const std::int64_t in_line = to == Adjacent::systems ? across() : along();
      const std::int64_t q = quotient(i, in_line), r = i - q * in_line;
      return to == Adjacent::systems ? Place{r * tile_systems, q * tile_rows}
                                     : Place{q * tile_systems, r * tile_rows};
    }
    /// a / b with 32 bits if they do, which is many times faster.
    static KOKKOS_FORCEINLINE_FUNCTION std::int64_t quotient(std::int64_t a, std::int64_t b) {
      return (a | b) >> 32 == 0 ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b)
                                : a / b;
    }
  };
  KOKKOS_INLINE_FUNCTION Tiles device_tiles() const { return {systems, rows, width, width, to}; }
  KOKKOS_INLINE_FUNCTION Tiles host_tiles() const {
    constexpr std::int64_t values = 32768;
    constexpr int block = 16;  // whole cache lines, few enough to stay in the cache at any stride
    if (from != to) return {systems, rows, block, block, to};
    const std::int64_t length = smaller(to == Adjacent::rows ? rows : systems, values);
    const std::int64_t count = values / length;
    return to == Adjacent::rows ? Tiles{systems, rows, count, length, to}
                                : Tiles{systems, rows, length, count, to};
  }

  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t smaller(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
  }
  /// body(p, system, row) for the values of a tile that thread t moves: side by side with those of
  /// its neighbours. Each direction has its own loop, along which addresses grow by a constant.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_passes(Adjacent adjacent, const Place& first, int t,
                                              const Body& body) const {
    const int lane = t % width, line = t / width;
    const int systems_left = static_cast<int>(smaller(systems - first.system, width));
    const int rows_left = static_cast<int>(smaller(rows - first.row, width));
    if (adjacent == Adjacent::systems) {
      if (lane >= systems_left) return;
      TRIKKOS_UNROLL(passes)
      for (int p = 0; p < passes; ++p)
        if (line + p * lines < rows_left)
          body(p, first.system + lane, first.row + line + p * lines);
    } else {
      if (lane >= rows_left) return;
      TRIKKOS_UNROLL(passes)
      for (int p = 0; p < passes; ++p)
        if (line + p * lines < systems_left)
          body(p, first.system + line + p * lines, first.row + lane);
    }
  }
};

template <class Read, class Write>
TiledTranspose(Read, Write, std::int64_t, std::int64_t, Adjacent, Adjacent)
    -> TiledTranspose<Read, Write>;

// ---- what is read and written

/// Any array (system, row).
template <class T>
struct ReadVectors {
  Vectors<const T> from;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t system, std::int64_t row) const {
    return from[system][row];
  }
};
template <class T>
struct WriteVectors {
  Vectors<T> to;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t system, std::int64_t row,
                                              const T& value) const {
    to[system][row] = value;
  }
};

}  // namespace Trikkos::Impl

#endif
