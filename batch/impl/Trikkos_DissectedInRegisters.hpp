// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DISSECTEDINREGISTERS_HPP
#define TRIKKOS_IMPL_DISSECTEDINREGISTERS_HPP

#include <algorithm>
#include <impl/Trikkos_Dissection.hpp>
#include <impl/Trikkos_Fused.hpp>
#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_Gate.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <string>

/// \file
/// Tridiagonal systems without pivoting, watched, on a device: LU in the order of nested
/// dissection. A thread has a chunk of 17 rows of one system, and neighbouring threads have
/// neighbouring systems. Where these are interleaved, each row of a warp is whole lines of memory,
/// which go straight to registers; elsewhere a thread has a line of its own, and x the same bits.
/// What an eliminated row leaves stays in registers, some of it in scratch:
///
///   x_k = z_k - u_k x_(k+1) - w_k x_l         l: the last row of the chunk before
///
/// The last rows of the chunks are a tridiagonal system again, which is solved by cyclic reduction.
///
/// A system is solved here if no u_k or w_k exceeds one, those of cyclic reduction included: each
/// unknown is then a bounded combination of two others, and no entry of L or U grows. Rows that are
/// diagonally dominant leave nothing larger. Nor may row l meet a whole chunk that does not fade.
/// Other systems are not stored, but marked. Those that do not look dominant may be marked before,
/// and are not tried.
///
/// Traffic: 4 words a row read, 1 written.

namespace Trikkos::Impl {

/// The systems of a team: each has 2^levels of its threads.
struct RegisterShape {
  int n = 0, levels = 0, systems = 0;
  int step = 0;  // between rows, in words, where it is the same in all arrays

  KOKKOS_FORCEINLINE_FUNCTION int chunks() const { return 1 << levels; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return systems << levels; }
};

/// Marks systems, of nine rows and more, in which any of some rows is not diagonally dominant.
/// Where rows are alike, or random, they tell as much as all.
template <class T>
struct MarkUnlikely {
  static constexpr int looks = 4;  // rows, evenly spread: 1 of 1300 random systems passes

  Problem<T> problem;
  Marks<T> marks;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t system =
        std::int64_t(member.league_rank()) * member.team_size() + member.team_rank();
    const bool exists = system < problem.count(),
               is_left = exists && !looks_dominant(problem.A[system]);
    if (exists) marks.marked[system] = T(is_left);
    const bool any_is_left = any_in_team(member, is_left);
    if (member.team_rank() == 0 && any_is_left) marks.any->raise();
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static bool looks_dominant(const Bands<T>& A) {
    bool is_dominant = true;
    TRIKKOS_UNROLL(looks)
    for (int k = 0; k < looks; ++k) {
      const std::int64_t i = (2 * k + 1) * A.n / (2 * looks);
      const BandRow<T, 1> row{
          {A.template entry<-1>(i), A.template entry<0>(i), A.template entry<1>(i)}, T(0)};
      is_dominant = is_dominant & row.is_dominant();
    }
    return is_dominant;
  }
};

/// `InScratch`: so many z of a chunk are kept there. `interleaved`: all arrays have shape.step.
template <class T, int InScratch, bool interleaved>
struct SolveDissectedInRegisters {
  static constexpr int rows = 17, inner = rows - 1;
  static constexpr int ahead = 3;   // rows that are on their way
  static constexpr int handed = 3;  // words of a thread that others read
  static constexpr int words = handed + InScratch;
  /// Of row l: the sum of what it has in the columns of a chunk, over the first of them, for its
  /// rounding errors add up. Of tridiag(-1, 2, -1) 3.4, where nothing fades 16.
  static constexpr int most_reach = 6;

  Problem<T> problem;
  RegisterShape shape;
  SystemTiles tiles;  // one a team
  Marks<T> marks;
  bool has_looked;  // some are marked

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int lanes = shape.lanes(), systems = shape.systems, chunks = shape.chunks();
    const int t = member.team_rank(), p = t / systems, s = t % systems;
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    const std::int64_t system = tile.first + (s < tile.count ? s : 0);
    bool is_tried = s < tile.count;
    if (has_looked) {
      is_tried = load_if(is_tried, marks.marked + system, T(1)) == T(0);
      if (!any_in_team(member, is_tried)) return;
    }
    const Bands<T> A = problem.A[system];
    const Strided<const T> b = problem.b[system];
    const Strided<T> solution = problem.x[system];
    const int first = p * rows, left = is_tried ? shape.n - first : 0;  // rows from there on
    const auto place = [&](int k, std::int64_t stride) {
      return std::int64_t(first + k) * (interleaved ? shape.step : stride);
    };
    const auto entry = [&](int j, int k) { return A.band[j].data + place(k, A.band[j].stride); };

    T* const scratch = team_scratch<T>(member);
    T* const failed = scratch + words * lanes;
    T* const mine = scratch + t;  // words of neighbouring threads are neighbours
    const auto kept = [&](int k) -> T& { return mine[(handed + k) * lanes]; };
    const auto word = [&](int j, int chunks_on) -> T& {
      return mine[j * lanes + chunks_on * systems];
    };

    Equation<T> coming[ahead];
    const auto read = [&](int k) {
      const bool is_row = k < left;
      return Equation<T>{load_if(is_row && first + k > 0, entry(0, k), T(0)),
                         load_if(is_row, entry(1, k), T(1)),
                         load_if(k < left - 1 && k < inner, entry(2, k), T(0)),
                         load_if(is_row, b.data + place(k, b.stride), T(0))};
    };
    TRIKKOS_UNROLL(ahead)
    for (int k = 0; k < ahead; ++k) coming[k] = read(k);
    // row l: its entry in the column of x_k, and what the chunk adds to its diagonal and right
    // side, over that in the column of x_0
    const T of_l = load_if(p > 0 && left > 0, entry(2, -1), T(0));
    T e(1), l_diag(0), l_rhs(0), reach(0);
    if (p == 0) failed[s] = T(0);

    // but for rounding errors, and what 17 such factors make of a number
    const auto at_most_one = [](const T& v) { return magnitude(v) <= T(1.01); };
    const auto is_reliable = [](const T& inverse) {  // not rounded as numbers are that underflow
      return magnitude(inverse) >= Kokkos::Experimental::norm_min_v<T>;
    };
    bool is_safe = true;
    T u[inner], w[inner], z[inner];
    T u_before(0), w_before(p > 0 ? -1 : 0), z_before(0);
    T pivot, to_l, f;  // of row k: to_l x_l + pivot x_k + .. = f
    const auto eliminate_before = [&](const Equation<T>& row) {
      pivot = fused(-row.a, u_before, row.b);
      to_l = -row.a * w_before;
      f = fused(-row.a, z_before, row.d);
    };
    TRIKKOS_UNROLL(inner)
    for (int k = 0; k < inner; ++k) {
      const Equation<T> row = coming[k % ahead];
      if (k + ahead < rows) coming[k % ahead] = read(k + ahead);
      eliminate_before(row);
      const T inverse = reciprocal(pivot);
      u_before = u[k] = row.c * inverse;
      w_before = w[k] = to_l * inverse;
      z_before = z[k] = f * inverse;
      if (k < InScratch) kept(k) = z_before;
      is_safe = is_safe & at_most_one(u_before) & at_most_one(w_before) & is_reliable(inverse);
      reach += magnitude(e);
      l_rhs = fused(-e, z_before, l_rhs);
      l_diag = fused(-e, w_before, l_diag);
      e = -e * u_before;
    }
    is_safe = is_safe & (magnitude(of_l) * reach <= magnitude(of_l) * most_reach);
    eliminate_before(coming[inner % ahead]);

    word(0, 0) = of_l * l_diag;
    word(1, 0) = of_l * e;
    word(2, 0) = of_l * l_rhs;
    member.team_barrier();
    T to_next(0);
    if (p < chunks - 1) {
      pivot += word(0, 1);
      to_next = word(1, 1);
      f += word(2, 1);
    }
    member.team_barrier();
    // of the last rows that are left every other one goes
    TRIKKOS_UNROLL(1)
    for (int h = 1; h < chunks; h *= 2) {
      const int q = p & (2 * h - 1);
      if (q == h - 1) {
        const T inverse = reciprocal(pivot);
        word(0, 0) = to_l *= inverse;
        word(1, 0) = to_next *= inverse;
        word(2, 0) = f *= inverse;
        is_safe = is_safe & at_most_one(to_l) & at_most_one(to_next) & is_reliable(inverse);
      }
      member.team_barrier();
      if (q == 2 * h - 1) {
        pivot = fused(-to_l, word(1, -h), pivot);
        f = fused(-to_l, word(2, -h), f);
        to_l = -to_l * word(0, -h);
        if (p < chunks - 1) {
          pivot = fused(-to_next, word(0, h), pivot);
          f = fused(-to_next, word(2, h), f);
          to_next = -to_next * word(1, h);
        }
      }
    }
    T x(0);
    if (p == chunks - 1) {
      const T inverse = reciprocal(pivot);
      word(2, 0) = x = f * inverse;
      is_safe = is_safe & is_reliable(inverse) & (finite_probe(x) == 0);
    }
    if (!is_safe) failed[s] = T(1);
    TRIKKOS_UNROLL(1)
    for (int h = chunks / 2; h > 0; h /= 2) {
      member.team_barrier();
      if ((p & (2 * h - 1)) == h - 1) {
        const T before = p >= h ? word(2, -h) : T(0);
        word(2, 0) = x = fused(-to_l, before, fused(-to_next, word(2, h), f));
      }
    }
    member.team_barrier();
    if (!is_tried) return;
    const bool has_failed = failed[s] != T(0);
    if (p == 0) marks.mark(system, has_failed);
    if (has_failed) return;

    const auto store = [&](int k) {
      if (k < left) solution.data[place(k, solution.stride)] = x;
    };
    const T x_l = p > 0 ? word(2, -1) : T(0);
    T probe = finite_probe(x);
    store(inner);
    TRIKKOS_UNROLL(inner)
    for (int k = inner - 1; k >= 0; --k) {
      const T z_k = k < InScratch ? kept(k) : z[k];
      x = fused(-w[k], x_l, fused(-u[k], x, z_k));
      store(k);
      probe += finite_probe(x);
    }
    if (!(probe == 0))
      report_first_not_finite(problem.diagnosis.of(system, shape.n), solution, first,
                              left < rows ? left : rows);
  }
};

template <class T, class Exec>
class DissectedInRegisters {
  static constexpr int team = 512, most_chunks = 64;

 public:
  static constexpr int rows = SolveDissectedInRegisters<T, 0, true>::rows;  // of a chunk

  explicit DissectedInRegisters(const Shape& shape, int most_lanes = team,
                                int scratch = scratch_limit)
      : m_most_lanes(most_lanes), m_scratch(scratch) {
    m_shape.n = static_cast<int>(std::min<std::int64_t>(shape.n, most_chunks * rows + 1));
    while (m_shape.chunks() * rows < m_shape.n) ++m_shape.levels;
    // as many systems as memory moves at a time, of short ones twice as many
    constexpr int line = 128 / sizeof(T);
    m_shape.systems = std::min(m_shape.levels > 2 ? line : 2 * line, most_lanes >> m_shape.levels);
  }
  bool fits() const {
    return m_shape.n > 0 && m_shape.chunks() <= most_chunks && m_shape.systems > 0;
  }
  bool is_for(const Problem<T>& problem) const { return fits() && !problem.A.first.periodic; }
  /// Whether neighbours lie side by side, and rows of all arrays equally far from each other.
  static bool is_interleaved(const Problem<T>& problem) {
    const std::int64_t step = problem.b.row_stride;
    const auto is_beside = [&](std::int64_t stride) { return stride == 1 || problem.count() == 1; };
    bool is = step == static_cast<int>(step) && problem.x.row_stride == step &&
              is_beside(problem.b.system_stride) && is_beside(problem.x.system_stride);
    for (int j = 0; j < 3; ++j)
      is = is && problem.A.first.band[j].stride == step && is_beside(problem.A.stride[j]);
    return is;
  }
  /// `looks`: systems that do not look dominant are not tried.
  void solve(const Exec& exec, const std::string& label, const Problem<T>& problem,
             const Marks<T>& marks, bool looks = false) const {
    launch_one(exec, label + "::reset", ResetWanted{problem.diagnosis, problem.resets, marks.any});
    if (looks) {
      const int looking = std::min(m_most_lanes, 128);
      const auto teams = static_cast<int>((problem.count() + looking - 1) / looking);
      Kokkos::parallel_for(label + "::look", light(Kokkos::TeamPolicy<Exec>(exec, teams, looking)),
                           MarkUnlikely<T>{problem, marks});
    }
    constexpr int all = rows - 1, some = 7;
    if (!is_interleaved(problem))
      launch<some, false>(exec, label, problem, marks, looks);
    else if (bytes<all>() + scratch_reserved(m_shape.lanes()) <= m_scratch)
      launch<all, true>(exec, label, problem, marks, looks);
    else
      launch<some, true>(exec, label, problem, marks, looks);
  }

 private:
  template <int InScratch>
  int bytes() const {
    constexpr int words = SolveDissectedInRegisters<T, InScratch, true>::words;
    return static_cast<int>(sizeof(T)) * (words * m_shape.lanes() + m_shape.systems + 1);
  }
  template <int InScratch, bool interleaved>
  void launch(const Exec& exec, const std::string& label, const Problem<T>& problem,
              const Marks<T>& marks, bool looks) const {
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team, 1>>;
    const SystemTiles tiles(problem.slab(), m_shape.systems);
    RegisterShape shape = m_shape;
    if constexpr (interleaved) shape.step = static_cast<int>(problem.b.row_stride);
    Kokkos::parallel_for(
        label + "::dissected_in_registers",
        light(Teams(exec, static_cast<int>(tiles.count(problem.count())), shape.lanes())
                  .set_scratch_size(0, Kokkos::PerTeam(bytes<InScratch>()))),
        SolveDissectedInRegisters<T, InScratch, interleaved>{problem, shape, tiles, marks, looks});
  }

  RegisterShape m_shape;
  int m_most_lanes, m_scratch;
};

}  // namespace Trikkos::Impl

#endif
