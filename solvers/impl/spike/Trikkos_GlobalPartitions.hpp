// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_GLOBALPARTITIONS_HPP
#define TRIKKOS_IMPL_GLOBALPARTITIONS_HPP

#include <algorithm>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_TiledTranspose.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_ReducedSystem.hpp>
#include <impl/partition/Trikkos_StridedRows.hpp>
#include <impl/spike/Trikkos_DiagonalPivoting.hpp>

/// \file
/// `Algorithm::spike` on a device as the SC'12 paper runs it: a thread works on its partition in
/// device memory, where it lies (`Marshaling::none`), or after a pass that has transposed the bands
/// so that row k of neighbouring partitions is adjacent (`Marshaling::global`). With or without
/// dynamic tiling, for partitions of any size.
///
/// Traffic in words a row: 4 read and 4 written by the transposition, 4 read by the first pass, 4
/// read, 3 written, 3 read and 1 written by the second, 1 read and 1 written to transpose back: 25.
/// Without marshaling 15, but each in a memory transaction of its own.

namespace Trikkos::Impl {

/// How one system is cut into partitions, and where its workspace lies.
struct GlobalLayout {
  std::int64_t rows = 0, partitions = 0;
  bool marshaled = false;
  TeamLayout reduced;  // a segment for each partition
  std::int64_t band_words = 0;

  GlobalLayout() = default;
  GlobalLayout(std::int64_t n, std::int64_t rows_, bool marshaled_)
      : rows(rows_), partitions((n + rows - 1) / rows), marshaled(marshaled_), reduced(n, rows, 1) {
    band_words = rows * partitions;
    reduced.words += (marshaled ? 4 : 3) * band_words;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t words() const { return reduced.words; }
  /// a, b, c, d and, in the same place, q, r, f, x; or q, r, f only.
  KOKKOS_INLINE_FUNCTION std::int64_t bands_offset() const {
    return reduced.words - (marshaled ? 4 : 3) * band_words;
  }
};

/// What both passes know. Threads of a team work on neighbouring partitions.
template <class T, Pivoting P, bool Tiled>
struct GlobalPass {
  static constexpr int lanes = 128;

  Problem<T> problem;
  GlobalLayout layout;
  std::int64_t tile;

  KOKKOS_INLINE_FUNCTION std::int64_t teams() const {
    return (layout.partitions + lanes - 1) / lanes;
  }
  KOKKOS_INLINE_FUNCTION T* work(std::int64_t system) const {
    return problem.storage + system * layout.words();
  }
  KOKKOS_INLINE_FUNCTION Diagnosis diagnosis(std::int64_t system) const {
    return problem.diagnosis.of(system, problem.n());
  }
  KOKKOS_INLINE_FUNCTION StridedRows<T> rows(std::int64_t system, std::int64_t p) const {
    const Bands<T> A = problem.A[system];
    const std::int64_t first = p * layout.rows, left = A.n - first;
    const std::int64_t m = left < 0 ? 0 : left < layout.rows ? left : layout.rows;
    T* const band = work(system) + layout.bands_offset();
    const std::int64_t size = layout.band_words, n = layout.partitions;
    if (layout.marshaled) {
      T* const at = band + p;
      return {{at, n},
              {at + size, n},
              {at + 2 * size, n},
              {at + 3 * size, n},
              {at, n},
              {at + size, n},
              {at + 2 * size, n},
              {at + 3 * size, n},
              m > 0 ? at[0] : T(0),
              m > 0 ? at[2 * size + (m - 1) * n] : T(0),
              false,
              A.scale_rows,
              m};
    }
    return {A.band[0].from(first),
            A.band[1].from(first),
            A.band[2].from(first),
            problem.b[system].from(first),
            {band + first, 1},
            {band + size + first, 1},
            {band + 2 * size + first, 1},
            problem.x[system].from(first),
            m > 0 ? A.lower(first) : T(0),
            m > 0 ? A.upper(first + m - 1) : T(0),
            A.conjugated,
            A.scale_rows,
            m};
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION auto elimination(const Member& member) const {
    if constexpr (Tiled)
      return DiagonalPivoting<P, DynamicTiling<Member>>{{member, tile, layout.rows}};
    else
      return DiagonalPivoting<P>{};
  }
};

template <class T, Pivoting P, bool Tiled>
struct ReducePartitions {
  GlobalPass<T, P, Tiled> pass;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t system = member.league_rank() / pass.teams();
    const std::int64_t p = member.league_rank() % pass.teams() * pass.lanes + member.team_rank();
    if (pass.problem.resets && member.league_rank() == 0 && member.team_rank() == 0)
      pass.problem.diagnosis.reset();
    const GlobalLayout& layout = pass.layout;
    if (p < pass.lanes)
      layout.reduced.arrivals(pass.work(system)).reset(static_cast<int>(p), pass.lanes);
    const Segment<T> s = pass.elimination(member).reduce(pass.rows(system, p));
    if (p < layout.partitions)
      SegmentArray<T>{pass.work(system) + layout.reduced.level[0].segment_offset, layout.partitions}
          .put(p, s);
  }
};

template <class T, Pivoting P, bool Tiled>
struct SubstitutePartitions {
  GlobalPass<T, P, Tiled> pass;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t system = member.league_rank() / pass.teams();
    const std::int64_t p = member.league_rank() % pass.teams() * pass.lanes + member.team_rank();
    const GlobalLayout& layout = pass.layout;
    const StridedRows<T> rows = pass.rows(system, p);
    const std::int64_t first = p * layout.rows;
    const Diagnosis diagnosis = pass.diagnosis(system);
    if (diagnosis.is_suspect()) {
      const Bands<T> A = pass.problem.A[system];
      DiagonalPivoting<P>::diagnose(diagnosis,
                                    UnstagedRows<T>{A, pass.problem.b[system], first, rows.m});
    }
    Bounds<T> bounds{};
    if (p < layout.partitions) {
      const T* const at = pass.work(system) + layout.reduced.bounds_offset + 2 * p;
      bounds = {at[0], at[1], at[2], at[3]};
    }
    const Findings<T> found = pass.elimination(member).substitute(rows, bounds);
    if (found.unstable) diagnosis.report_unstable(first);
    if (!(found.probe == 0))
      for (std::int64_t k = 0; k < rows.m; ++k)
        if (!(finite_probe(rows.x[k]) == 0)) {
          diagnosis.report_solution(first + k);
          break;
        }
  }
};

/// Band 0, 1, 2 of A or, 3, a right-hand side: row k of partition p, and 1 x = 0 behind the end.
template <class T>
struct ReadPartition {
  Bands<T> A;
  Strided<const T> b;
  std::int64_t rows;
  int band;

  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t p, std::int64_t k) const {
    const std::int64_t i = p * rows + k;
    if (i >= A.n) return T(band == 1 ? 1 : 0);
    return band == 0 ? A.lower(i) : band == 1 ? A.diag(i) : band == 2 ? A.upper(i) : b[i];
  }
};

/// Row k of partition p where row k of all partitions is adjacent.
template <class T>
struct MarshaledBand {
  T* data;
  std::int64_t partitions;

  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t p, std::int64_t k) const {
    return data[k * partitions + p];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t k, const T& v) const {
    data[k * partitions + p] = v;
  }
};

template <class T>
struct WriteSolution {
  Strided<T> x;
  std::int64_t rows, n;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t k, const T& v) const {
    if (p * rows + k < n) x[p * rows + k] = v;
  }
};

/// `spike` with partitions in device memory, as a host call.
template <class T, class Exec, Pivoting P>
class GlobalPartitions {
 public:
  static constexpr std::int64_t default_rows = 64;

  GlobalPartitions(const Shape& shape, const Options& options)
      : m_layout(shape.n,
                 options.partition_size() == 0
                     ? default_rows
                     : std::min(options.partition_size(), std::max<std::int64_t>(shape.n, 2)),
                 options.spike().marshaling != Marshaling::none),
        m_tile(options.spike().dynamic_tiling) {}

  std::int64_t storage_words() const { return m_layout.words(); }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return m_layout.partitions; }

  void reduce(const Exec& exec, const Problem<T>& problem) const {
    if (m_layout.marshaled)
      for (std::int64_t k = 0; k < problem.count(); ++k)
        for (int which = 0; which < 4; ++which)
          TiledTranspose<ReadPartition<T>, MarshaledBand<T>>{
              {problem.A[k], problem.b[k], m_layout.rows, which},
              band(problem, k, which),
              m_layout.partitions,
              m_layout.rows}
              .launch(exec, "Trikkos::spike::marshal");
    with_pass(problem, [&]<bool Tiled>(const GlobalPass<T, P, Tiled>& pass) {
      Kokkos::parallel_for("Trikkos::spike::reduce", policy(exec, pass),
                           ReducePartitions<T, P, Tiled>{pass});
    });
  }
  void solve_reduced(const Exec& exec, const Problem<T>& problem) const {
    ReducedSystem<T>{problem.storage, m_layout.reduced, problem.A.first.periodic, m_layout.rows,
                     problem.diagnosis}
        .launch(exec, problem.count(), "Trikkos::spike::");
  }
  void substitute(const Exec& exec, const Problem<T>& problem) const {
    with_pass(problem, [&]<bool Tiled>(const GlobalPass<T, P, Tiled>& pass) {
      Kokkos::parallel_for("Trikkos::spike::substitute", policy(exec, pass),
                           SubstitutePartitions<T, P, Tiled>{pass});
    });
    if (m_layout.marshaled)
      for (std::int64_t k = 0; k < problem.count(); ++k)
        TiledTranspose<MarshaledBand<T>, WriteSolution<T>>{
            band(problem, k, 3), {problem.x[k], m_layout.rows, problem.n()},
            m_layout.partitions, m_layout.rows,
            Adjacent::systems,   Adjacent::rows}
            .launch(exec, "Trikkos::spike::marshal_back");
  }
  void solve(const Exec& exec, const Problem<T>& problem) const {
    reduce(exec, problem);
    solve_reduced(exec, problem);
    substitute(exec, problem);
  }

 private:
  /// body(pass), with dynamic tiling as a type of its own.
  template <class Body>
  void with_pass(const Problem<T>& problem, const Body& body) const {
    if (P == Pivoting::diagonal && m_tile > 0)
      body(GlobalPass<T, P, P == Pivoting::diagonal>{problem, m_layout, m_tile});
    else
      body(GlobalPass<T, P, false>{problem, m_layout, 0});
  }
  template <class Pass>
  static auto policy(const Exec& exec, const Pass& pass) {
    return light(Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Pass::lanes, 1>>(
        exec, static_cast<int>(pass.problem.count() * pass.teams()), Pass::lanes));
  }
  MarshaledBand<T> band(const Problem<T>& problem, std::int64_t system, int which) const {
    return {problem.storage + system * m_layout.words() + m_layout.bands_offset() +
                which * m_layout.band_words,
            m_layout.partitions};
  }

  GlobalLayout m_layout;
  std::int64_t m_tile;
};

}  // namespace Trikkos::Impl

#endif
