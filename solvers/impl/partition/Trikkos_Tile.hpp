// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TILE_HPP
#define TRIKKOS_IMPL_TILE_HPP

#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_StagedRows.hpp>
#include <impl/partition/Trikkos_TileShape.hpp>

/// \file
/// The tile of `segmented` and `spike` on a device: how its rows get into the scratch of a team,
/// and x out of it.

namespace Trikkos::Impl {

/// The nodes of a tree among the rows of a tile that make way for their pivot rows: in the first
/// two of each partition, which have none, and what finds no place there behind all of them.
template <class Tile, class T>
struct NodesAmongRows {
  static constexpr int in_rows = 2 * Tile::bands;

  const Tile& tile;
  T* behind;
  int lanes;

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(int slot, int k) const {
    if (k < in_rows) return tile.band(k / 2)[slot * tile.shape.pitch() + k % 2];
    return behind[(k - in_rows) * lanes + slot];
  }
};

/// The arrays of a tile in scratch and the steps that both passes share. `in_bulk`: bands and b are
/// so aligned and contiguous that tiles inside a system are loaded in bulk, if others are not. K:
/// of so many systems from the `system`-th on, as far as there are.
template <class T, int Rows, int W = 1, Moves How = Moves::in_words, int K = 1>
struct StagedTile {
  static constexpr int rhs = 2 * W + 1, bands = rhs + K;
  static constexpr bool is_bulk = How != Moves::in_words, is_shifted = How == Moves::shifted;

  TileShape<T, Rows, W, K, How> shape;
  T* scratch;  // the bands, from left to right, and b, each band_words(), then the nodes
  std::int64_t base;
  int m_shift = 0;  // of all arrays, or of K > 1 from one right-hand side to the next

  template <class Problem>
  KOKKOS_FORCEINLINE_FUNCTION static int shift_of(const Problem& problem, std::int64_t system) {
    if constexpr (!is_shifted) return 0;
    if constexpr (K > 1) return static_cast<int>(problem.x.system_stride % in_one_go<T>);
    const T* const first = problem.x.data + system * problem.x.system_stride;
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(first) / sizeof(T) % in_one_go<T>);
  }
  /// Of the k-th array.
  KOKKOS_FORCEINLINE_FUNCTION int shift(int k) const {
    if constexpr (!is_shifted) return 0;
    if constexpr (K > 1) return k > rhs ? shift_of_column<T>(k - rhs, m_shift) : 0;
    return m_shift;
  }
  /// From its row 0 on.
  KOKKOS_FORCEINLINE_FUNCTION T* band(int k) const {
    return scratch + (k * shape.band_words() + shift(k));
  }
  KOKKOS_FORCEINLINE_FUNCTION T* nodes() const { return scratch + bands * shape.band_words(); }
  KOKKOS_FORCEINLINE_FUNCTION NodesAmongRows<StagedTile, T> nodes_among_rows() const {
    return {*this, nodes(), shape.lanes()};
  }

  /// Starts to copy the rows of a system into scratch. All threads call it.
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void load(const Member& member, Staging<Member>& staging,
                                        const Problem& problem, std::int64_t system,
                                        bool in_bulk) const {
    const std::int64_t n = problem.n();
    if constexpr (is_bulk) {
      clear_missing(member, problem, system);
      if (is_inside(n))
        load_inside(staging, problem, system);
      else
        load_end(member, staging, problem, system);
    } else if constexpr (ComputedMatrices<std::remove_cvref_t<decltype(problem.A)>>) {
      static_assert(K == 1);
      compute_rows(member, problem.A[system]);
      load_band(member, staging, rhs, problem.b[system], 0, end(n));
    } else if (in_bulk && is_inside(n)) {
      load_inside(staging, problem, system);
    } else {
      TRIKKOS_UNROLL(1)
      for (int k = 0; k < bands; ++k) {
        const int away = k < rhs ? k - W : 0;  // what lies outside the matrix is not read
        const std::int64_t before = -away - base, last = n - (away > 0 ? away : 0);
        const Vectors<const T> of_all = k < rhs ? problem.A.band(k) : problem.b;
        load_band(member, staging, k, of_all[system_of(problem, system, k)],
                  before > 0 ? static_cast<int>(before) : 0, end(last));
      }
    }
  }
  /// When it is there: conjugated, and with zeros or corners for what lies outside the matrix.
  /// `pads`: behind the last row of an open system come rows 1 x = 0. Returned is whether every row
  /// of the tile is one then.
  template <bool pads, class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION bool complete(const Member& member, const Problem& problem,
                                            std::int64_t system) const {
    if constexpr (is_bulk) {
      if (problem.count() > 1 && !is_inside(problem.n())) clear_between(member, problem, system);
      return true;
    } else {
      put_edges(member, problem, system);
      if (is_whole(problem.n())) return true;
      if (!pads || problem.A.first.periodic) return false;
      pad(member, problem.n());
      return true;
    }
  }
  /// The solution, which has taken the place of b. All threads call it.
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Member& member, const Problem& problem,
                                         std::int64_t system) const {
    const int rows = end(problem.n()), count = systems(problem, system);
    if constexpr (is_bulk) {
      const auto first = [&](int j) {
        return problem.x.data + ((system + j) * problem.x.system_stride + base);
      };
      if (rows == shape.tile_rows()) {
        if constexpr (K == 1) return store_run(member, first(0), band(rhs), rows);
        Staging<Member>::template store_by_one<T>(member, [&](const auto& start_run) {
          TRIKKOS_UNROLL(K)
          for (int j = 0; j < K; ++j) {
            const int head = head_of(rhs + j);
            if (j < count)
              start_run(first(j) + head, band(rhs + j) + head, rows - edges_of(rhs + j));
          }
        });
        TRIKKOS_UNROLL(K)
        for (int j = 0; j < K; ++j)
          if (j < count) store_edges(member, first(j), band(rhs + j), rows, rhs + j);
        return;
      }
      member.team_barrier();
      for (int j = 0; j < count; ++j)
        for (int i = member.team_rank(); i < rows; i += member.team_size())
          first(j)[i] = band(rhs + j)[i];
      return;
    }
    if (!is_in_one_piece()) member.team_barrier();
    TRIKKOS_UNROLL(1)
    for (int j = 0; j < count; ++j) {
      const Strided<T> x = problem.x[system + j];
      if (is_in_one_piece())
        Staging<Member>::store(
            member, Runs<T>{band(rhs + j), x.data + base * x.stride, 1, rows, 0, 0, x.stride});
      else
        for (int i = member.team_rank(); i < rows; i += member.team_size())
          x[base + i] = band(rhs + j)[shape.place(i)];
    }
  }
  /// So many rows, a multiple of `in_one_go`. All threads call it.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void store_run(const Member& member, T* to, T* from, int rows) const {
    const int head = head_of(rhs);
    Staging<Member>::store_run(member, to + head, from + head, rows - edges_of(rhs));
    store_edges(member, to, from, rows, rhs);
  }
  /// Of those in the tile, how many there are.
  template <class Problem>
  KOKKOS_FORCEINLINE_FUNCTION static int systems(const Problem& problem, std::int64_t system) {
    if constexpr (K == 1) return 1;
    const std::int64_t left = problem.count() - system;
    return left < K ? static_cast<int>(left) : K;
  }

  /// Rows in the partition of thread t.
  KOKKOS_FORCEINLINE_FUNCTION int length(int t, std::int64_t n) const {
    const std::int64_t left = n - base - t * shape.rows();
    return left >= shape.rows() ? shape.rows() : left > 0 ? static_cast<int>(left) : 0;
  }
  /// All rows of the tile are of the system.
  KOKKOS_FORCEINLINE_FUNCTION bool is_whole(std::int64_t n) const {
    return base + shape.tile_rows() <= n;
  }
  /// Where the tile is whole, as `complete` says, all rows of a partition; `Length`: `Rows` then,
  /// or 0.
  template <int Length = 0, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION auto rows(int t, const Problem& problem, bool whole = false) const {
    constexpr bool always = Rows > 0;  // known to the compiler: 1 % of the time of a solve
    StagedRows<T, 1, W, Length, NumberOf<T, K>, is_shifted && (K > 1)> r{
        band(0) + t * shape.pitch(), shape.band_words(),
        Length > 0 ? Length
        : whole    ? shape.rows()
                   : length(t, problem.n()),
        always || problem.A.first.scale_rows};
    r.shift = m_shift;
    return r;
  }

 private:
  /// Rows of the k-th array that come before those of bulk stores, and with those behind them.
  KOKKOS_FORCEINLINE_FUNCTION int head_of(int k) const {
    return shift(k) > 0 ? in_one_go<T> - shift(k) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION int edges_of(int k) const { return head_of(k) + shift(k); }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void store_edges(const Member& member, T* to, const T* from, int rows,
                                               int k) const {
    const int t = member.team_rank();
    if (t >= edges_of(k)) return;
    const int i = t < head_of(k) ? t : rows - edges_of(k) + t;
    to[i] = from[i];
  }
  /// That the k-th of all arrays belongs to: where there are fewer than K, the last one again.
  template <class Problem>
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t system_of(const Problem& problem,
                                                            std::int64_t system, int k) {
    if constexpr (K == 1) return system;
    const int j = k - rhs, last = systems(problem, system) - 1;
    return j <= 0 ? system : system + (j < last ? j : last);
  }
  /// Whether the k-th of all arrays is loaded: the last one again is elsewhere `shifted`.
  template <class Problem>
  KOKKOS_FORCEINLINE_FUNCTION static bool is_there(const Problem& problem, std::int64_t system,
                                                   int k) {
    return !is_shifted || K == 1 || k < rhs + systems(problem, system);
  }
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void clear_missing(const Member& member, const Problem& problem,
                                                 std::int64_t system) const {
    if constexpr (is_shifted && (K > 1)) {
      TRIKKOS_UNROLL(1)
      for (int k = rhs + systems(problem, system); k < bands; ++k)
        for (int i = member.team_rank(); i < shape.tile_rows(); i += member.team_size())
          band(k)[i] = T(0);
    }
  }
  /// The first row of the tile in the k-th of all arrays, where there is one slab of systems.
  template <class Problem>
  KOKKOS_FORCEINLINE_FUNCTION const T* start(const Problem& problem, std::int64_t system,
                                             int k) const {
    const T* const first = k < rhs ? problem.A.first.band[k].data : problem.b.data;
    const std::int64_t stride = k < rhs ? problem.A.stride[k] : problem.b.system_stride;
    return first + (system_of(problem, system, k) * stride + base);
  }
  /// By numbers that the compiler knows: it would copy the bands to memory for an index.
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void load_inside(Staging<Member>& staging, const Problem& problem,
                                               std::int64_t system) const {
    const auto words = [&](int k) {
      return is_there(problem, system, k) ? shape.tile_rows() + edges_of(k) : 0;
    };
    int all = 0;
    TRIKKOS_UNROLL(bands)
    for (int k = 0; k < bands; ++k) all += words(k);
    staging.template load_by_one<T>(all, [&](const auto& start_run) {
      TRIKKOS_UNROLL(bands)
      for (int k = 0; k < bands; ++k)
        if (is_there(problem, system, k))
          start_run(band(k) - shift(k), start(problem, system, k) - shift(k), words(k));
    });
  }
  /// Of the k-th array at an end of the system: rows [begin, end) are of the matrix, and rows
  /// [first, last) are read by a bulk copy. What lies outside the matrix is only where it lies
  /// between two systems.
  struct End {
    int begin, end, first, last;
  };
  template <class Problem>
  KOKKOS_FORCEINLINE_FUNCTION End end_of(const Problem& problem, std::int64_t system, int k) const {
    const int away = k < rhs ? k - W : 0;
    const std::int64_t n = problem.n();
    End r;
    r.begin = base == 0 && away < 0 ? -away : 0;
    r.end = end(n - (away > 0 ? away : 0));
    const bool is_one_of_many = k < rhs && problem.A.stride[k] != 0,
               has_before = is_one_of_many && system > 0,
               has_behind = is_one_of_many && system < problem.count() - 1;
    constexpr int multiple = in_one_go<T>;
    const int shifted_by = shift(k);
    r.first =
        (has_before ? 0 : (r.begin + shifted_by + multiple - 1) / multiple * multiple) - shifted_by;
    r.last = ((has_behind ? end(n) : r.end) + shifted_by) / multiple * multiple - shifted_by;
    if (r.last <= r.first || !is_there(problem, system, k)) r.first = r.last = r.begin;  // none
    return r;
  }
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void load_end(const Member& member, Staging<Member>& staging,
                                            const Problem& problem, std::int64_t system) const {
    int words = 0;
    TRIKKOS_UNROLL(bands)
    for (int k = 0; k < bands; ++k) {
      const End rows = end_of(problem, system, k);
      words += rows.last - rows.first;
    }
    staging.template load_by_one<T>(words, [&](const auto& start_run) {
      TRIKKOS_UNROLL(bands)
      for (int k = 0; k < bands; ++k) {
        const End rows = end_of(problem, system, k);
        if (rows.first < rows.last)
          start_run(band(k) + rows.first, start(problem, system, k) + rows.first,
                    rows.last - rows.first);
      }
    });
    // what no bulk copy takes, zeros outside the matrix, and 1 x = 0 behind the last row: now, as
    // each access to memory behind the others takes as long as all of them
    staging.load_by_all([&] {
      const int t = member.team_rank(), team = member.team_size();
      TRIKKOS_UNROLL(bands)
      for (int k = 0; k < bands; ++k) {
        const T* const from = start(problem, system, k);
        const End rows = end_of(problem, system, k);
        TRIKKOS_UNROLL(1)
        for (int i = rows.begin + t; i < rows.first; i += team) start_copy(band(k) + i, from + i);
        TRIKKOS_UNROLL(1)
        for (int i = larger(rows.begin, rows.last) + t; i < rows.end; i += team)
          start_copy(band(k) + i, from + i);
        if (t < rows.begin) band(k)[t] = T(0);
      }
      const std::int64_t n = problem.n();
      TRIKKOS_UNROLL(1)
      for (int i = end(n - W) + t; i < shape.tile_rows(); i += team) {
        TRIKKOS_UNROLL(bands)
        for (int k = 0; k < bands; ++k)
          if (i >= end(k > W && k < rhs ? n - (k - W) : n)) band(k)[i] = T(k == W);
      }
    });
  }
  /// When bulk copies are there: zeros once more for what they brought from between two systems.
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void clear_between(const Member& member, const Problem& problem,
                                                 std::int64_t system) const {
    const int t = member.team_rank();
    TRIKKOS_UNROLL(bands)
    for (int k = 0; k < bands; ++k) {
      const End rows = end_of(problem, system, k);
      if (t < rows.begin) band(k)[t] = T(0);
      if (rows.end + t < rows.last) band(k)[rows.end + t] = T(0);
    }
    member.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION static int larger(int a, int b) { return a > b ? a : b; }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void pad(const Member& member, std::int64_t n) const {
    for (int i = end(n) + member.team_rank(); i < shape.tile_rows(); i += member.team_size())
      for (int k = 0; k < bands; ++k) band(k)[shape.place(i)] = T(k == W);
    member.team_barrier();
  }
  template <class Member, class Problem>
  KOKKOS_FORCEINLINE_FUNCTION void put_edges(const Member& member, const Problem& problem,
                                             std::int64_t system) const {
    if constexpr (!ComputedMatrices<std::remove_cvref_t<decltype(problem.A)>>) {
      if (is_inside(problem.n()) && !problem.A.first.conjugated) return;
      const auto A = problem.A[system];
      if (A.conjugated) {
        for (int i = member.team_rank(); i < rhs * shape.band_words(); i += member.team_size())
          scratch[i] = conjugate(scratch[i]);
        member.team_barrier();
      }
      if (member.team_rank() == 0) load_edges(A, std::make_integer_sequence<int, W>{});
      member.team_barrier();
    }
  }
  /// Neither the first nor the last tile.
  KOKKOS_FORCEINLINE_FUNCTION bool is_inside(std::int64_t n) const {
    const int behind = m_shift > 0 ? larger(W, in_one_go<T>) : W;
    return base >= W && base + shape.tile_rows() <= n - behind;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in_one_piece() const { return shape.pitch() == shape.rows(); }
  /// Of the rows up to n, where those of the tile end.
  KOKKOS_FORCEINLINE_FUNCTION int end(std::int64_t n) const {
    const std::int64_t left = n - base;
    return left >= shape.tile_rows() ? shape.tile_rows() : left > 0 ? static_cast<int>(left) : 0;
  }
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void load_band(const Member& member, Staging<Member>& staging, int k,
                                             const Strided<const T>& from, int first,
                                             int last) const {
    const T* const start = from.data + (base + first) * from.stride;
    if (is_in_one_piece())
      staging.load(Runs<const T>{band(k) + first, start, 1, last - first, 0, 0, from.stride});
    else if (first == 0 && last == shape.tile_rows())
      staging.load(Runs<const T>{band(k), start, shape.lanes(), shape.rows(), shape.pitch(),
                                 shape.rows() * from.stride, from.stride});
    else
      for (int i = first + member.team_rank(); i < last; i += member.team_size())
        band(k)[shape.place(i)] = from[base + i];
  }
  template <class Member, class Matrix>
  KOKKOS_FORCEINLINE_FUNCTION void compute_rows(const Member& member, const Matrix& A) const {
    for (int i = member.team_rank(); i < end(A.n); i += member.team_size()) {
      const auto row = A.row(base + i);
      for (int k = 0; k < rhs; ++k) band(k)[shape.place(i)] = row[k];
    }
  }
  /// The entries that are j + 1 diagonals away, of the first and of the last rows.
  template <class Matrix, int... j>
  KOKKOS_FORCEINLINE_FUNCTION void load_edges(const Matrix& A,
                                              std::integer_sequence<int, j...>) const {
    const auto put = [&](int k, std::int64_t i, const T& v) {
      if (i >= base && i < base + shape.tile_rows())
        band(k)[shape.place(static_cast<int>(i - base))] = v;
    };
    const auto load = [&](auto distance) {
      constexpr int away = decltype(distance)::value;
      for (int i = 0; i < away && i < A.n; ++i) {
        put(W - away, i, A.template entry<-away>(i));
        put(W + away, A.n - 1 - i, A.template entry<away>(A.n - 1 - i));
      }
    };
    (load(std::integral_constant<int, j + 1>{}), ...);
  }
};

}  // namespace Trikkos::Impl

#endif
