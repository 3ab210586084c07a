// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TILE_HPP
#define TRIKKOS_IMPL_TILE_HPP

#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_Segment.hpp>

/// \file
/// The tile of `segmented` and `spike` on a device: its shape, how its rows get into the scratch of
/// a team, and how a thread finds those of its partition there.

namespace Trikkos::Impl {

/// Partitions (threads) in a tile and tree levels in a tile by default: 64 double partitions of 15
/// rows fill 36 KiB of scratch.
template <class T>
struct DefaultTile {
  static constexpr int lanes = sizeof(T) > 8 ? 32 : 64, levels = sizeof(T) > 8 ? 3 : 4;
};

inline constexpr int max_tile_lanes = 64;
/// The default shape, and that rows are scaled, is known to the compiler, `Rows` a partition; any
/// other, `Rows` = 0, comes as numbers.
template <class T, int Rows>
struct TileShape {
  int m_lanes = 0, m_rows = 0, m_levels = 0;

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const {
    if constexpr (Rows > 0)
      return DefaultTile<T>::lanes;
    else
      return m_lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const {
    if constexpr (Rows > 0)
      return Rows;
    else
      return m_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int levels() const {
    if constexpr (Rows > 0)
      return DefaultTile<T>::levels;
    else
      return m_levels;
  }
  KOKKOS_FORCEINLINE_FUNCTION int tile_rows() const { return lanes() * rows(); }
  KOKKOS_FORCEINLINE_FUNCTION int segments() const { return lanes() >> levels(); }

  // Scratch: the rows of partition t start at t * pitch, an odd number: no bank conflicts.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return rows() | 1; }
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const { return lanes() * pitch(); }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const { return MergeNode<T>::words * lanes(); }
  KOKKOS_FORCEINLINE_FUNCTION int place(int row_in_tile) const {
    if constexpr (Rows % 2 == 1)
      return row_in_tile;
    else  // a division: cheap for the default shape
      return row_in_tile + row_in_tile / rows() * (pitch() - rows());
  }
};
/// The places in scratch of rows t, t + lanes, t + 2 lanes, ..., without a division for each where
/// the shape is not known to the compiler.
template <class T, int Rows>
class PlaceWalk {
 public:
  KOKKOS_FORCEINLINE_FUNCTION PlaceWalk(const TileShape<T, Rows>& shape, int t)
      : m_shape(shape), m_row(t) {
    if constexpr (Rows == 0) {
      m_partition = t / shape.rows();
      m_inside = t % shape.rows();
      m_partitions = shape.lanes() / shape.rows();
      m_rest = shape.lanes() % shape.rows();
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION int place() const {
    if constexpr (Rows == 0)
      return m_row + m_partition * (m_shape.pitch() - m_shape.rows());
    else
      return m_shape.place(m_row);
  }
  KOKKOS_FORCEINLINE_FUNCTION void advance() {
    m_row += m_shape.lanes();
    if constexpr (Rows == 0) {
      m_partition += m_partitions;
      m_inside += m_rest;
      if (m_inside >= m_shape.rows()) {
        m_inside -= m_shape.rows();
        ++m_partition;
      }
    }
  }

 private:
  const TileShape<T, Rows>& m_shape;
  int m_row, m_partition = 0, m_inside = 0, m_partitions = 0, m_rest = 0;
};

/// The shape for partitions of `rows` rows, with as many threads as the scratch holds.
template <class T>
TileShape<T, 0> tile_shape(std::int64_t rows) {
  int lanes = max_tile_lanes;
  const auto fits = [&] {
    const std::int64_t words = lanes * (4 * (rows | 1) + MergeNode<T>::words);
    return words * std::int64_t(sizeof(T)) + std::int64_t(alignof(T)) + scratch_reserved(lanes) <=
           scratch_limit;
  };
  while (lanes > 1 && !fits()) lanes /= 2;
  int levels = DefaultTile<T>::levels;
  while ((1 << levels) > lanes) --levels;
  return {lanes, static_cast<int>(rows), levels};
}

/// The partition of one thread in scratch: `Rows` of an elimination (Trikkos_Elimination.hpp). The
/// way back is kept in the place of the bands, the solution in that of b. Its rows are `Apart`
/// words from each other, or as many as `apart` says.
template <class T, int Apart = 1>
struct StagedRows {
  using value_type = T;
  using index_type = int;
  static constexpr bool ragged = false;

  T* first;  // of a; b, c and d follow, each `band_words` after the one before
  int band_words, m;
  bool scale_rows;
  int apart = Apart;

  KOKKOS_FORCEINLINE_FUNCTION int length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION int inner_rows() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(int k) const { return k < m; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> inner_equation(int k) const {
    const T* const e = at(k);
    return scaled(Equation<T>{e[0], e[band_words], e[2 * band_words], e[3 * band_words]},
                  scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(int k) const {
    return k < m ? inner_equation(k) : Equation<T>{T(0), T(1), T(0), T(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const BackRow<T>& row) const {
    T* const e = at(k);
    e[0] = row.q;
    e[band_words] = row.r;
    e[2 * band_words] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T> kept(int k) const {
    const T* const e = at(k);
    return {e[0], e[band_words], e[2 * band_words]};
  }
  /// All but u, in the place of the row.
  KOKKOS_FORCEINLINE_FUNCTION void keep_pivot(int k, const PivotRow<T>& row) const {
    T* const e = at(k);
    e[0] = row.l;
    e[band_words] = row.q;
    e[2 * band_words] = row.r;
    e[3 * band_words] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION PivotRow<T> kept_pivot(int k) const {
    const T* const e = at(k);
    return {e[0], T(0), e[band_words], e[2 * band_words], e[3 * band_words]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(int k, const T& v) const { solution(k) = v; }
  KOKKOS_FORCEINLINE_FUNCTION T& solution(int k) const { return at(k)[3 * band_words]; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T* at(int k) const {
    return first + (Apart > 0 ? k * Apart : k * apart);
  }
};

/// Where the rows of a tile come from: those of one system from `base` on. Bands 0 to 2 are the
/// matrix, 3 is b. (A policy of StagedTile::load.)
template <class T>
struct SystemRows {
  const Bands<T>& A;
  Strided<const T> b;
  std::int64_t base;

  /// Row i of the tile; zeros behind the last one.
  KOKKOS_FORCEINLINE_FUNCTION T value(int band, int i) const {
    const std::int64_t row = base + i;
    if (row >= A.n) return T(0);
    return band == 0 ? A.lower(row) : band == 1 ? A.diag(row) : band == 2 ? A.upper(row) : b[row];
  }
  /// Whether so many rows lie side by side in each band, and none is an end of the matrix.
  KOKKOS_FORCEINLINE_FUNCTION bool are_adjacent(int rows) const {
    return base > 0 && base + rows < A.n && A.is_contiguous() && b.stride == 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION const T* start(int band) const {
    const T* const from = band == 0   ? A.band[0].data
                          : band == 1 ? A.band[1].data
                          : band == 2 ? A.band[2].data
                                      : b.data;
    return from + base;
  }
};

/// The arrays of a tile in scratch and the steps that both passes share.
template <class T, int Rows>
struct StagedTile {
  TileShape<T, Rows> shape;
  T* scratch;  // a, b, c, d, each band_words(), then the nodes
  std::int64_t base;

  KOKKOS_FORCEINLINE_FUNCTION T* band(int k) const { return scratch + k * shape.band_words(); }
  KOKKOS_FORCEINLINE_FUNCTION T* nodes() const { return band(4); }

  /// Copies the tile's rows into scratch: coalesced.
  template <class Member, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, const Source& source) const {
    if (Rows > 0 && source.are_adjacent(shape.tile_rows())) {
      // A band at a time, all its loads in flight: more of them would cost registers, and so teams.
      constexpr int lanes = DefaultTile<T>::lanes, rows = Rows > 0 ? Rows : 1;
      TRIKKOS_UNROLL(1)
      for (int k = 0; k < 4; ++k) {
        const T* const p = source.start(k) + member.team_rank();
        T* const to = band(k) + shape.place(member.team_rank());
        T v[rows];
        TRIKKOS_UNROLL(rows)
        for (int i = 0; i < rows; ++i) v[i] = p[i * lanes];
        static_assert(Rows % 2 == 1 || lanes % rows == 0, "place(i + t) = place(i) + place(t)");
        TRIKKOS_UNROLL(rows)
        for (int i = 0; i < rows; ++i) to[shape.place(i * lanes)] = v[i];
      }
    } else {
      stage<0>(member, source);
      stage<1>(member, source);
      stage<2>(member, source);
      stage<3>(member, source);
    }
    member.team_barrier();
  }

  /// Rows in the partition of thread t.
  KOKKOS_FORCEINLINE_FUNCTION int length(int t, std::int64_t n) const {
    const std::int64_t left = n - base - t * shape.rows();
    return left >= shape.rows() ? shape.rows() : left > 0 ? static_cast<int>(left) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto rows(int t, const Bands<T>& A) const {
    constexpr bool always = Rows > 0;  // known to the compiler: 1 % of the time of a solve
    return StagedRows<T>{scratch + t * shape.pitch(), shape.band_words(), length(t, A.n),
                         always || A.scale_rows};
  }

 private:
  /// Band k, some loads of a thread in flight at a time.
  template <int k, class Member, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void stage(const Member& member, const Source& source) const {
    constexpr int chunk = 4;
    const int t = member.team_rank(), lanes = shape.lanes(), rows = shape.rows();
    T* const to = band(k);
    PlaceWalk<T, Rows> walk(shape, t);
    TRIKKOS_UNROLL(1)
    for (int first = 0; first < rows; first += chunk) {
      T v[chunk];
      TRIKKOS_UNROLL(chunk)
      for (int i = 0; i < chunk; ++i)
        v[i] = first + i < rows ? source.value(k, (first + i) * lanes + t) : T(0);
      TRIKKOS_UNROLL(chunk)
      for (int i = 0; i < chunk; ++i, walk.advance())
        if (first + i < rows) to[walk.place()] = v[i];
    }
  }
};

}  // namespace Trikkos::Impl

#endif
