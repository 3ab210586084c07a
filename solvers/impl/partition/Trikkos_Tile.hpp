// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TILE_HPP
#define TRIKKOS_IMPL_TILE_HPP

#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_StridedRows.hpp>

/// \file
/// The tile of `segmented` and `spike` on a device: its shape, how its rows get into the scratch of
/// a team, and how a thread finds those of its partition there.

namespace Trikkos::Impl {

/// Partitions (threads) in a tile and tree levels in a tile by default: 64 double partitions of 15
/// rows fill 36 KiB of scratch.
template <class T, int W = 1>
struct DefaultTile {
  static constexpr std::size_t bytes = W * sizeof(T);
  static constexpr int lanes = bytes > 16 ? 16 : bytes > 8 ? 32 : 64, levels = bytes > 8 ? 3 : 4;
};

inline constexpr int max_tile_lanes = 64;
/// The default shape, and that rows are scaled, is known to the compiler, `Rows` a partition; any
/// other, `Rows` = 0, comes as numbers.
template <class T, int Rows, int W = 1>
struct TileShape {
  using Default = DefaultTile<T, W>;

  int m_lanes = 0, m_rows = 0, m_levels = 0;

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const {
    if constexpr (Rows > 0)
      return Default::lanes;
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
      return Default::levels;
    else
      return m_levels;
  }
  KOKKOS_FORCEINLINE_FUNCTION int tile_rows() const { return lanes() * rows(); }
  KOKKOS_FORCEINLINE_FUNCTION int segments() const { return lanes() >> levels(); }

  // Scratch: the rows of partition t start at t * pitch, an odd number: no bank conflicts.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return rows() | 1; }
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const { return lanes() * pitch(); }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const { return MergeNode<T, W>::words * lanes(); }
  KOKKOS_FORCEINLINE_FUNCTION int place(int row_in_tile) const {
    if constexpr (Rows % 2 == 1)
      return row_in_tile;
    else  // a division: cheap for the default shape
      return row_in_tile + row_in_tile / rows() * (pitch() - rows());
  }
};
/// The places in scratch of rows t, t + lanes, t + 2 lanes, ..., without a division for each where
/// the shape is not known to the compiler.
template <class T, int Rows, int W = 1>
class PlaceWalk {
 public:
  KOKKOS_FORCEINLINE_FUNCTION PlaceWalk(const TileShape<T, Rows, W>& shape, int t)
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
  const TileShape<T, Rows, W>& m_shape;
  int m_row, m_partition = 0, m_inside = 0, m_partitions = 0, m_rest = 0;
};

/// The shape for partitions of `rows` rows, with as many threads as the scratch holds.
template <class T, int W = 1>
TileShape<T, 0, W> tile_shape(std::int64_t rows) {
  int lanes = max_tile_lanes;
  const auto fits = [&] {
    const std::int64_t words = lanes * ((2 * W + 2) * (rows | 1) + MergeNode<T, W>::words);
    return words * std::int64_t(sizeof(T)) + std::int64_t(alignof(T)) + scratch_reserved(lanes) <=
           scratch_limit;
  };
  while (lanes > 1 && !fits()) lanes /= 2;
  int levels = DefaultTile<T, W>::levels;
  while ((1 << levels) > lanes) --levels;
  return {lanes, static_cast<int>(rows), levels};
}

/// The partition of one thread in scratch: `Rows` of an elimination (Trikkos_Elimination.hpp). The
/// way back is kept in the place of the bands, the solution in that of b. Its rows are `Apart`
/// words from each other, or as many as `apart` says.
template <class T, int Apart = 1, int W = 1>
struct StagedRows {
  using value_type = T;
  using index_type = int;
  static constexpr int half_bandwidth = W;
  static constexpr bool ragged = false;

  T* first;  // of the first band; the others and b follow, each `band_words` after the one before
  int band_words, m;
  bool scale_rows;
  int apart = Apart;

  KOKKOS_FORCEINLINE_FUNCTION int length() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION int inner_rows() const { return m; }
  KOKKOS_FORCEINLINE_FUNCTION bool longer_than(int k) const { return k < m; }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> inner_equation(int k) const {
    return scaled(equation_of<T, W>(*this, k, solution(k)), scale_rows);
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(int k) const {
    return at(k)[(W + j) * band_words];
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(int k) const {
    return k < m ? inner_equation(k) : unit_equation<T, W>();
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const BackRow<T, W>& row) const {
    T* const e = at(k);
    if constexpr (W == 1) {
      e[0] = row.q;
      e[band_words] = row.r;
    } else {
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) e[j * band_words] = row.q[j];
    }
    e[2 * W * band_words] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T, W> kept(int k) const {
    const T* const e = at(k);
    if constexpr (W == 1) {
      return {e[0], e[band_words], e[2 * band_words]};
    } else {
      BackRow<T, W> row;
      TRIKKOS_UNROLL(2 * W)
      for (int j = 0; j < 2 * W; ++j) row.q[j] = e[j * band_words];
      row.f = e[2 * W * band_words];
      return row;
    }
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
  KOKKOS_FORCEINLINE_FUNCTION T& solution(int k) const { return at(k)[(2 * W + 1) * band_words]; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T* at(int k) const {
    return first + (Apart > 0 ? k * Apart : k * apart);
  }
};

/// Where the rows of a tile come from: those of one system from `base` on. Bands 0 to 2W are the
/// matrix, 2W + 1 is b. (A policy of StagedTile::load.)
template <class T, int W = 1, class Matrix = Bands<T, W>>
struct SystemRows {
  const Matrix& A;
  Strided<const T> b;
  std::int64_t base;

  /// Row i of the tile; zeros behind the last one.
  template <int band>
  KOKKOS_FORCEINLINE_FUNCTION T value(int i) const {
    const std::int64_t row = base + i;
    if (row >= A.n) return T(0);
    if constexpr (band > 2 * W)
      return b[row];
    else
      return A.template entry<band - W>(row);
  }
  /// All of it, where the matrix computes whole rows.
  KOKKOS_FORCEINLINE_FUNCTION auto row(int i) const requires ComputedMatrices<Matrix> {
    const std::int64_t at = base + i;
    Kokkos::Array<T, 2 * W + 2> r{};
    if (at >= A.n) return r;
    const auto coefficients = A.row(at);
    for (int k = 0; k < 2 * W + 1; ++k) r[k] = coefficients[k];
    r[2 * W + 1] = b[at];
    return r;
  }
  /// Whether so many rows lie side by side in each band, and none is an end of the matrix.
  KOKKOS_FORCEINLINE_FUNCTION bool are_adjacent(int rows) const
      requires(!ComputedMatrices<Matrix>) {
    return base >= W && base + rows <= A.n - W && A.is_contiguous() && b.stride == 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION const T* start(int band) const {
    const T* from = b.data;
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j < 2 * W + 1; ++j) from = band == j ? A.band[j].data : from;
    return from + base;
  }
};

/// The arrays of a tile in scratch and the steps that both passes share.
template <class T, int Rows, int W = 1>
struct StagedTile {
  static constexpr int bands = 2 * W + 2;

  TileShape<T, Rows, W> shape;
  T* scratch;  // the bands, from left to right, and b, each band_words(), then the nodes
  std::int64_t base;

  KOKKOS_FORCEINLINE_FUNCTION T* band(int k) const { return scratch + k * shape.band_words(); }
  KOKKOS_FORCEINLINE_FUNCTION T* nodes() const { return band(bands); }

  /// Copies the tile's rows into scratch: coalesced.
  template <class Member, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, const Source& source) const {
    if constexpr (requires { source.row(0); })
      stage_rows(member, source);
    else
      load_bands(member, source);
    member.team_barrier();
  }

  /// Rows in the partition of thread t.
  KOKKOS_FORCEINLINE_FUNCTION int length(int t, std::int64_t n) const {
    const std::int64_t left = n - base - t * shape.rows();
    return left >= shape.rows() ? shape.rows() : left > 0 ? static_cast<int>(left) : 0;
  }
  template <class Matrix>
  KOKKOS_FORCEINLINE_FUNCTION auto rows(int t, const Matrix& A) const {
    constexpr bool always = Rows > 0;  // known to the compiler: 1 % of the time of a solve
    return StagedRows<T, 1, W>{scratch + t * shape.pitch(), shape.band_words(), length(t, A.n),
                               always || A.scale_rows};
  }

 private:
  template <class Member, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void load_bands(const Member& member, const Source& source) const {
    if (Rows > 0 && source.are_adjacent(shape.tile_rows())) {
      // A band at a time, all its loads in flight: more of them would cost registers, and so teams.
      constexpr int lanes = DefaultTile<T, W>::lanes, rows = Rows > 0 ? Rows : 1;
      TRIKKOS_UNROLL(1)
      for (int k = 0; k < bands; ++k) {
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
      stage_all(member, source, std::make_integer_sequence<int, bands>{});
    }
  }
  /// Computed rows, with b.
  template <class Member, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void stage_rows(const Member& member, const Source& source) const {
    const int t = member.team_rank();
    PlaceWalk<T, Rows, W> walk(shape, t);
    for (int i = 0; i < shape.rows(); ++i, walk.advance()) {
      const auto row = source.row(i * shape.lanes() + t);
      for (int k = 0; k < bands; ++k) band(k)[walk.place()] = row[k];
    }
  }
  template <class Member, class Source, int... k>
  KOKKOS_FORCEINLINE_FUNCTION void stage_all(const Member& member, const Source& source,
                                             std::integer_sequence<int, k...>) const {
    (stage<k>(member, source), ...);
  }
  /// Band k, some loads of a thread in flight at a time.
  template <int k, class Member, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void stage(const Member& member, const Source& source) const {
    constexpr int chunk = 4;
    const int t = member.team_rank(), lanes = shape.lanes(), rows = shape.rows();
    T* const to = band(k);
    PlaceWalk<T, Rows, W> walk(shape, t);
    TRIKKOS_UNROLL(1)
    for (int first = 0; first < rows; first += chunk) {
      T v[chunk];
      TRIKKOS_UNROLL(chunk)
      for (int i = 0; i < chunk; ++i)
        v[i] = first + i < rows ? source.template value<k>((first + i) * lanes + t) : T(0);
      TRIKKOS_UNROLL(chunk)
      for (int i = 0; i < chunk; ++i, walk.advance())
        if (first + i < rows) to[walk.place()] = v[i];
    }
  }
};

}  // namespace Trikkos::Impl

#endif
