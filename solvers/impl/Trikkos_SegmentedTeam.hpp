// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SEGMENTEDTEAM_HPP
#define TRIKKOS_IMPL_SEGMENTEDTEAM_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_PartitionDiagnosis.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TwoRowCarry.hpp>

/// \file
/// `Algorithm::segmented` on a device. A team stages a tile of rows in its scratch with coalesced
/// loads; each thread carries one partition of it, and a few levels of a tree merge the partitions'
/// segments. The segments that leave the tiles are merged by a coarse tree, the root is solved, and
/// the second pass repeats carry and tree with the values around each segment known.
///
/// Traffic: 4 words a row read in the first pass, 4 read and 1 written in the second, and 10 words
/// a segment of `partition_size << levels` rows.

namespace Trikkos::Impl {

// ---- shapes

/// Partitions (threads) in a tile, rows in a partition, tree levels in a tile. The default shape is
/// known to the compiler; any other comes as numbers.
template <class T>
struct DefaultTile {
  // Odd rows: no bank conflicts. 64 double partitions of 15 rows fill 36 KiB of scratch.
  static constexpr int lanes = sizeof(T) > 8 ? 32 : 64, rows = 15, levels = sizeof(T) > 8 ? 3 : 4;
};

inline constexpr int max_tile_lanes = 64;
inline constexpr int coarse_lanes = 128;
inline constexpr int scratch_limit = 48 * 1024;  // what every backend grants at level 0 ...

KOKKOS_INLINE_FUNCTION constexpr int scratch_reserved(int team_size) {
  return 8 * (team_size + 2);  // ... less what Kokkos keeps of it for team reductions
}

template <class T, bool Default>
struct TileShape {
  int m_lanes = 0, m_rows = 0, m_levels = 0;

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const {
    if constexpr (Default)
      return DefaultTile<T>::lanes;
    else
      return m_lanes;
  }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const {
    if constexpr (Default)
      return DefaultTile<T>::rows;
    else
      return m_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int levels() const {
    if constexpr (Default)
      return DefaultTile<T>::levels;
    else
      return m_levels;
  }
  KOKKOS_FORCEINLINE_FUNCTION int tile_rows() const { return lanes() * rows(); }
  KOKKOS_FORCEINLINE_FUNCTION int segments() const { return lanes() >> levels(); }

  // Scratch: the rows of partition t start at t * pitch, an odd number.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return rows() | 1; }
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const { return lanes() * pitch(); }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const { return MergeNode<T>::words * lanes(); }
  KOKKOS_FORCEINLINE_FUNCTION int place(int row_in_tile) const {
    if constexpr (Default)
      return row_in_tile;
    else
      return row_in_tile + row_in_tile / rows() * (pitch() - rows());
  }
};
static_assert(DefaultTile<double>::rows % 2 == 1, "place() of the default tile assumes it");

/// `bytes` of the team's scratch, of which the last few are for alignment.
template <class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T* team_scratch(const Member& member, std::size_t bytes) {
  return static_cast<T*>(member.team_scratch(0).get_shmem_aligned(bytes - alignof(T), alignof(T)));
}

template <class T>
TileShape<T, false> default_tile_shape() {
  return {DefaultTile<T>::lanes, DefaultTile<T>::rows, DefaultTile<T>::levels};
}

/// The shape for partitions of `rows` rows, with as many threads as the scratch holds.
template <class T>
TileShape<T, false> tile_shape(std::int64_t rows) {
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

/// A level of the coarse tree: `count` segments in groups of `coarse_lanes`.
struct CoarseLevel {
  std::int64_t count, groups, segment_offset, node_offset;  // offsets in scalars
};

/// How one system spreads over tiles and coarse levels, and where its workspace lies.
struct TeamLayout {
  static constexpr int max_levels = 6;

  std::int64_t n = 0, tiles = 0, segments = 0;
  CoarseLevel level[max_levels];
  int levels = 0;
  std::int64_t bounds_offset = 0, root_offset = 0, words = 0;

  TeamLayout() = default;
  TeamLayout(std::int64_t n_, std::int64_t tile_rows, std::int64_t segments_in_tile) : n(n_) {
    tiles = (n + tile_rows - 1) / tile_rows;
    segments = tiles * segments_in_tile;
    std::int64_t count = segments;
    do {
      CoarseLevel& l = level[levels++];
      l.count = count;
      l.groups = (count + coarse_lanes - 1) / coarse_lanes;
      l.segment_offset = words;
      words += segment_words * count;
      l.node_offset = words;
      words += 11 * coarse_lanes * l.groups;
      count = l.groups;
    } while (count > 1);
    bounds_offset = words;
    words += 2 * segments + 2;
  }
};

/// Segments in memory, a word of all of them at a time.
template <class T>
struct SegmentArray {
  T* data;
  std::int64_t count;

  KOKKOS_FORCEINLINE_FUNCTION void put(std::int64_t i, const Segment<T>& s) const {
    T* p = data + i;
    const T w[segment_words] = {s.top.l,    s.top.u,    s.top.p,    s.top.q,    s.top.f,
                                s.bottom.l, s.bottom.u, s.bottom.p, s.bottom.q, s.bottom.f};
    for (int k = 0; k < segment_words; ++k) p[k * count] = w[k];
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment<T> get(std::int64_t i) const {
    const T* p = data + i;
    return {{p[0], p[count], p[2 * count], p[3 * count], p[4 * count]},
            {p[5 * count], p[6 * count], p[7 * count], p[8 * count], p[9 * count]}};
  }
};

// ---- the tree of a team

/// Merges the segments of `lanes` threads in pairs, `levels` times, in scratch of 11 words a lane:
/// slots [0, h) hold the h segments of a level, slots [h, 2h) the nodes of the merges that made
/// them (a heap). `keep(slot, node)` stores a node, `check(h, pair, left, right, merged, node)`
/// sees every merge. Returns segment t to the threads t < lanes >> levels.
template <class Member, class T, class Keep, class Check>
KOKKOS_FORCEINLINE_FUNCTION Segment<T> merge_tree(const Member& member, T* scratch, int lanes,
                                                  int levels, Segment<T> s, const Keep& keep,
                                                  const Check& check) {
  const int t = member.team_rank();
  const SegmentArray<T> slots{scratch, lanes};
  slots.put(t, s);
  member.team_barrier();
  TRIKKOS_UNROLL(1)
  for (int h = lanes / 2; h >= lanes >> levels && h > 0; h /= 2) {
    MergeNode<T> node;
    if (t < h) {
      const Segment<T> left = slots.get(2 * t), right = slots.get(2 * t + 1);
      s = merge(left, right, node);
      check(h, t, left, right, s, node);
    }
    member.team_barrier();
    if (t < h) {
      slots.put(t, s);
      keep(h + t, node);
    }
    member.team_barrier();
  }
  return s;
}

// ---- tiles

/// The arrays of a tile in scratch and the steps that both passes share.
template <class T, bool Default>
struct StagedTile {
  TileShape<T, Default> shape;
  T* scratch;  // a, b, c, d, each band_words(), then the nodes
  std::int64_t base;

  KOKKOS_FORCEINLINE_FUNCTION T* band(int k) const { return scratch + k * shape.band_words(); }
  KOKKOS_FORCEINLINE_FUNCTION T* nodes() const { return band(4); }

  /// Copies element(i) of the rows i < n of the tile into band k: coalesced, `Chunk` loads of a
  /// thread in flight at a time.
  template <int Chunk, class Member, class Element>
  KOKKOS_FORCEINLINE_FUNCTION void stage(const Member& member, int k, std::int64_t n,
                                         const Element& element) const {
    const int t = member.team_rank(), lanes = shape.lanes(), rows = shape.rows();
    T* const to = band(k);
    TRIKKOS_UNROLL(1)
    for (int first = 0; first < rows; first += Chunk) {
      T v[Chunk];
      TRIKKOS_UNROLL(Chunk)
      for (int i = 0; i < Chunk; ++i) {
        const int row = (first + i) * lanes + t;
        v[i] = first + i < rows && base + row < n ? element(base + row) : T(0);
      }
      TRIKKOS_UNROLL(Chunk)
      for (int i = 0; i < Chunk; ++i)
        if (first + i < rows) to[shape.place((first + i) * lanes + t)] = v[i];
    }
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, const Bands<T>& A,
                                        const Strided<const T>& b) const {
    if (Default && base > 0 && base + shape.tile_rows() < A.n && A.is_contiguous() &&
        b.stride == 1) {
      // A band at a time, all its loads in flight: more of them would cost registers, and so teams.
      constexpr int lanes = DefaultTile<T>::lanes, rows = DefaultTile<T>::rows;
      TRIKKOS_UNROLL(1)
      for (int k = 0; k < 4; ++k) {
        const T* const from = k == 0   ? A.sub.data
                              : k == 1 ? A.main.data
                              : k == 2 ? A.super.data
                                       : b.data;
        const T* const p = from + base + member.team_rank();
        T* const to = band(k) + member.team_rank();
        T v[rows];
        TRIKKOS_UNROLL(rows)
        for (int i = 0; i < rows; ++i) v[i] = p[i * lanes];
        TRIKKOS_UNROLL(rows)
        for (int i = 0; i < rows; ++i) to[i * lanes] = v[i];
      }
    } else {
      stage<4>(member, 0, A.n, [&](std::int64_t i) { return A.lower(i); });
      stage<4>(member, 1, A.n, [&](std::int64_t i) { return A.diag(i); });
      stage<4>(member, 2, A.n, [&](std::int64_t i) { return A.upper(i); });
      stage<4>(member, 3, A.n, [&](std::int64_t i) { return b[i]; });
    }
    member.team_barrier();
  }

  /// Rows in the partition of thread t.
  KOKKOS_FORCEINLINE_FUNCTION int length(int t, std::int64_t n) const {
    const std::int64_t left = n - base - t * shape.rows();
    return left >= shape.rows() ? shape.rows() : left > 0 ? static_cast<int>(left) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T> equation(int t, int k) const {
    const int i = t * shape.pitch() + k;
    return scaled(Equation<T>{band(0)[i], band(1)[i], band(2)[i], band(3)[i]});
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment<T> reduce_partition(int t, std::int64_t n) const {
    const int m = length(t, n);
    if (m == 0) return transparent_segment<T>();
    const Equation<T> e0 = equation(t, 0);
    if (m == 1) return single_row_segment(e0);
    Segment<T> s = start_segment(e0, equation(t, 1));
    TRIKKOS_UNROLL(1)
    for (int k = 2; k < m; ++k) carry(s, equation(t, k));
    return s;
  }
};

/// First pass: rows to segments.
template <class T, bool Default>
struct ReduceTiles {
  Bands<T> A;
  Columns<const T> b;
  TileShape<T, Default> shape;
  Diagnosis diagnosis;
  T* work;
  std::int64_t words, segments;
  int tiles;
  bool reset;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t rhs = member.league_rank() / tiles, tile = member.league_rank() % tiles;
    if (reset && member.league_rank() == 0 && t == 0) diagnosis.reset();
    const StagedTile<T, Default> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                        tile * shape.tile_rows()};
    staged.load(member, A, b[rhs]);
    Segment<T> s = staged.reduce_partition(t, A.n);
    member.team_barrier();  // the tree reuses the bands' scratch
    s = merge_tree(
        member, staged.scratch, shape.lanes(), shape.levels(), s, [](int, const MergeNode<T>&) {},
        [](int, int, const auto&, const auto&, const auto&, const auto&) {});
    if (t < shape.segments())
      SegmentArray<T>{work + rhs * words, segments}.put(tile * shape.segments() + t, s);
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Default>& shape) {
    const int bands = 4 * shape.band_words(), nodes = shape.node_words();
    return sizeof(T) * (bands > nodes ? bands : nodes) + alignof(T);
  }
};

/// A level of the coarse tree: `coarse_lanes` segments to one, nodes to memory; the last level
/// solves the root.
template <class T>
struct MergeCoarse {
  T* work;
  std::int64_t words;
  CoarseLevel level;
  std::int64_t parent_offset, bounds_offset;
  bool is_root, periodic;
  std::int64_t n, segment_rows;  // rows below a segment of this level, for reports
  std::int64_t root_count;       // segments of the finest level
  Diagnosis diagnosis;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t rhs = member.league_rank() / level.groups;
    const std::int64_t group = member.league_rank() % level.groups;
    T* const mine = work + rhs * words;
    const std::int64_t first = group * coarse_lanes;
    Segment<T> s = transparent_segment<T>();
    if (first + t < level.count)
      s = SegmentArray<T>{mine + level.segment_offset, level.count}.get(first + t);
    T* const nodes = mine + level.node_offset + group * coarse_lanes * MergeNode<T>::words;
    s = merge_tree(
        member, team_scratch<T>(member, scratch_bytes()), coarse_lanes, tree_levels, s,
        [&](int slot, const MergeNode<T>& node) {
          for (int k = 0; k < MergeNode<T>::words; ++k)
            nodes[slot * MergeNode<T>::words + k] = node.g[k];
        },
        [&](int h, int pair, const Segment<T>& left, const Segment<T>& right,
            const Segment<T>& merged, const MergeNode<T>& node) {
          const std::int64_t middle = first + (2 * pair + 1) * (coarse_lanes / (2 * h));
          diagnose_merge(diagnosis, left, right, merged, node.g[MergeNode<T>::first_of_v1],
                         middle * segment_rows);
        });
    if (t != 0) return;
    if (!is_root) {
      SegmentArray<T>{mine + parent_offset, level.groups}.put(group, s);
      return;
    }
    const Bounds<T> root = solve_root(s, periodic);
    diagnose_root(diagnosis, s, periodic, root, n);
    // the bounds of the finest segments start with x(-1) and end with x(n), two apart from the rest
    T* const bounds = mine + bounds_offset;
    bounds[0] = root.prev;
    bounds[2 * root_count + 1] = root.next;
    bounds[1] = root.first;
    bounds[2 * root_count] = root.last;
  }
  static constexpr int tree_levels = 7;
  static_assert(1 << tree_levels == coarse_lanes);
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() {
    return sizeof(T) * segment_words * coarse_lanes + alignof(T);
  }
};

/// The way down the coarse tree, one thread a segment: the values at its ends.
template <class T>
struct DescendCoarse {
  T* work;
  std::int64_t words;
  TeamLayout layout;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const std::int64_t rhs = index / layout.segments, i = index % layout.segments;
    T* const mine = work + rhs * words;
    T* const out = mine + layout.bounds_offset;
    const std::int64_t last = 2 * layout.segments;
    // the outermost four, by the root; the rest is written here
    Bounds<T> b{out[0], out[1], out[last], out[last + 1]};
    for (int l = layout.levels - 1; l >= 0; --l) {
      std::int64_t at = i;
      for (int k = 0; k < l; ++k) at /= coarse_lanes;
      const std::int64_t group = at / coarse_lanes;
      const int leaf = static_cast<int>(at % coarse_lanes);
      const T* const nodes =
          mine + layout.level[l].node_offset + group * coarse_lanes * MergeNode<T>::words;
      int slot = 1;
      TRIKKOS_UNROLL(1)
      for (int h = coarse_lanes / 2; h >= 1; h /= 2) {
        const T* const node = nodes + slot * MergeNode<T>::words;
        const bool right = (leaf & h) != 0;
        descend(
            b, [&](int k) { return node[k]; }, right);
        slot = 2 * slot + right;
      }
    }
    if (i > 0) out[2 * i + 1] = b.first;
    if (i < layout.segments - 1) out[2 * i + 2] = b.last;
  }
};

/// Second pass: from the bounds of each segment to the solution of its rows.
template <class T, bool Default>
struct SubstituteTiles {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  TileShape<T, Default> shape;
  Diagnosis diagnosis;
  T* work;
  std::int64_t words, bounds_offset;
  int tiles;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank();
    const std::int64_t rhs = member.league_rank() / tiles;
    // backwards: the tiles that the first pass read last may still be in the cache
    const std::int64_t tile = tiles - 1 - member.league_rank() % tiles;
    const StagedTile<T, Default> staged{shape, team_scratch<T>(member, scratch_bytes(shape)),
                                        tile * shape.tile_rows()};
    const std::int64_t n = A.n;
    const int lanes = shape.lanes(), levels = shape.levels(), m = staged.length(t, n);
    const std::int64_t segment = tile * shape.segments() + (t >> levels);
    const T* const at = work + rhs * words + bounds_offset + 2 * segment;
    Bounds<T> bounds{at[0], at[1], at[2], at[3]};
    staged.load(member, A, b[rhs]);

    const bool suspect = diagnosis.is_suspect();
    if (suspect) diagnose_partition(diagnosis, A, b[rhs], staged.base + t * shape.rows(), m);
    T* const nodes = staged.nodes();
    merge_tree(
        member, nodes, lanes, levels, staged.reduce_partition(t, n),
        [&](int slot, const MergeNode<T>& node) {
          for (int k = 0; k < MergeNode<T>::words; ++k) nodes[k * lanes + slot] = node.g[k];
        },
        [&](int h, int pair, const Segment<T>& left, const Segment<T>& right,
            const Segment<T>& merged, const MergeNode<T>& node) {
          if (!suspect) return;
          const int middle = (2 * pair + 1) * (lanes / (2 * h)) * shape.rows();
          diagnose_merge(diagnosis, left, right, merged, node.g[MergeNode<T>::first_of_v1],
                         staged.base + middle);
        });
    int slot = (lanes >> levels) + (t >> levels);
    TRIKKOS_UNROLL(1)
    for (int h = (1 << levels) / 2; h >= 1; h /= 2) {
      const bool right = (t & h) != 0;
      descend(
          bounds, [&](int k) { return nodes[k * lanes + slot]; }, right);
      slot = 2 * slot + right;
    }

    // The fold writes its three words of a row over those of the band, the substitution the fourth.
    T* const q = staged.band(0) + t * shape.pitch();
    T* const r = staged.band(1) + t * shape.pitch();
    T* const f = staged.band(2) + t * shape.pitch();
    T* const solution = staged.band(3) + t * shape.pitch();
    T next = bounds.last, after = bounds.next;
    auto probe = finite_probe(bounds.first) + finite_probe(next);
    if (m > 1) {
      FoldedPair<T> s =
          start_fold(staged.equation(t, 0), staged.equation(t, 1), bounds.prev, bounds.first);
      TRIKKOS_UNROLL(1)
      for (int k = 2; k < m; ++k) {
        const BackRow<T> row = fold(s, staged.equation(t, k));
        q[k] = row.q;
        r[k] = row.r;
        f[k] = row.f;
      }
      TRIKKOS_UNROLL(2)
      for (int k = m - 1; k >= 2; --k) {
        const T v = f[k] - q[k] * next - r[k] * after;
        solution[k] = next;
        after = next;
        next = v;
        probe += finite_probe(v);
      }
      solution[1] = next;
    }
    if (m > 0) solution[0] = bounds.first;
    member.team_barrier();

    const Strided<T> to = x[rhs];
    for (int i = 0; i < shape.rows(); ++i) {
      const int row = i * lanes + t;
      if (staged.base + row < n) to[staged.base + row] = staged.band(3)[shape.place(row)];
    }
    if (m > 0 && !(probe == 0))
      for (int k = 0; k < m; ++k)
        if (!(finite_probe(solution[k]) == 0)) {
          diagnosis.report_solution(staged.base + t * shape.rows() + k);
          break;
        }
  }
  static KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes(const TileShape<T, Default>& shape) {
    return sizeof(T) * (4 * shape.band_words() + shape.node_words()) + alignof(T);
  }
};

/// Everything that one solve of `segmented` on a device needs to know.
template <class T>
struct SegmentedTeam {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  TileShape<T, false> shape;
  TeamLayout layout;
  Diagnosis diagnosis;
  T* storage;  // [rhs in flight][layout.words]

  template <class Exec>
  void launch(const Exec& exec, std::int64_t rhs_count, bool reset) const {
    if (shape.m_rows == DefaultTile<T>::rows && shape.m_lanes == DefaultTile<T>::lanes)
      launch_with(exec, rhs_count, reset, TileShape<T, true>{});
    else
      launch_with(exec, rhs_count, reset, shape);
  }

 private:
  template <class Exec, bool Default>
  void launch_with(const Exec& exec, std::int64_t rhs_count, bool reset,
                   const TileShape<T, Default>& tile) const {
    using TilePolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<max_tile_lanes, 1>>;
    using CoarsePolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<coarse_lanes, 1>>;
    using Reduce = ReduceTiles<T, Default>;
    using Substitute = SubstituteTiles<T, Default>;
    const int league = static_cast<int>(rhs_count * layout.tiles);

    Kokkos::parallel_for("Trikkos::segmented::reduce",
                         TilePolicy(exec, league, tile.lanes())
                             .set_scratch_size(0, Kokkos::PerTeam(Reduce::scratch_bytes(tile))),
                         Reduce{A, b, tile, diagnosis, storage, layout.words, layout.segments,
                                static_cast<int>(layout.tiles), reset});

    std::int64_t segment_rows = std::int64_t(tile.rows()) << tile.levels();
    for (int l = 0; l < layout.levels; ++l) {
      const bool is_root = l == layout.levels - 1;
      const std::int64_t parent = is_root ? 0 : layout.level[l + 1].segment_offset;
      Kokkos::parallel_for(
          "Trikkos::segmented::coarse",
          CoarsePolicy(exec, static_cast<int>(rhs_count * layout.level[l].groups), coarse_lanes)
              .set_scratch_size(0, Kokkos::PerTeam(MergeCoarse<T>::scratch_bytes())),
          MergeCoarse<T>{storage, layout.words, layout.level[l], parent, layout.bounds_offset,
                         is_root, A.periodic(), layout.n, segment_rows, layout.segments,
                         diagnosis});
      segment_rows *= coarse_lanes;
    }
    Kokkos::parallel_for("Trikkos::segmented::bounds",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, rhs_count * layout.segments),
                         DescendCoarse<T>{storage, layout.words, layout});
    Kokkos::parallel_for("Trikkos::segmented::substitute",
                         TilePolicy(exec, league, tile.lanes())
                             .set_scratch_size(0, Kokkos::PerTeam(Substitute::scratch_bytes(tile))),
                         Substitute{A, b, x, tile, diagnosis, storage, layout.words,
                                    layout.bounds_offset, static_cast<int>(layout.tiles)});
  }
};

}  // namespace Trikkos::Impl

#endif
