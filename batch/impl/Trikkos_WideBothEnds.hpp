// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WIDEBOTHENDS_HPP
#define TRIKKOS_IMPL_WIDEBOTHENDS_HPP

#include <impl/Trikkos_DissectedSystems.hpp>
#include <impl/Trikkos_SystemsOnChip.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_Tile.hpp>

/// \file
/// `segmented` for many short systems of W > 1 diagonals on either side, on a device. A
/// team holds some of them in its scratch, and of each one thread carries W rows from the first row
/// on, and another from the last row on. Where they meet, W rows of either know 2W unknowns. This
/// is QR of the rows in another order: no segments, whose outer columns and tree are most of the
/// arithmetic otherwise.
///
/// Traffic: 2W + 2 words a row read, 1 written.

namespace Trikkos::Impl {

/// Half of a system in scratch, from its end. The way back takes the place of the bands, x that of
/// b.
template <class T, int W>
struct WideEndRows {
  T* diag;   // of the first of them
  int band;  // between bands, from those to where it begins to the others
  int rhs;   // from diag to b
  int step, m;
  bool scale_rows;

  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(int k) const {
    const T* const at = diag + k * step;
    Equation<T, W> e;
    TRIKKOS_UNROLL(2 * W + 1)
    for (int j = 0; j <= 2 * W; ++j) e.a[j] = at[(j - W) * band];
    e.d = at[rhs];
    return scaled(e, scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(int k, const BackRow<T, W>& row) const {
    T* const at = diag + k * step;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) at[(j - W) * band] = row.q[j];
    at[W * band] = row.f;
  }
  KOKKOS_FORCEINLINE_FUNCTION BackRow<T, W> kept(int k) const {
    const T* const at = diag + k * step;
    BackRow<T, W> row;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) row.q[j] = at[(j - W) * band];
    row.f = at[W * band];
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION T& solution(int k) const { return diag[k * step + rhs]; }
};

/// Rows of a system in scratch, from the `begin`-th on, that are read from memory again.
template <class T, int W, class Matrix>
struct RereadWideRows : StagedRows<T, 0, W> {
  const Matrix& A;
  Strided<const T> b;
  int begin;

  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> inner_equation(int k) const {
    return scaled(equation_of<T, W>(A, begin + k, b[begin + k]), A.scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<T, W> equation(int k) const {
    return k < this->m ? inner_equation(k) : unit_equation<T, W>();
  }
};

template <class T, class Elimination, bool Interleaved, class Matrices, class Which>
struct SolveWideFromBothEnds : SystemsOnChip<T, Interleaved, Matrices, 0, false, Which> {
  using Base = SystemsOnChip<T, Interleaved, Matrices, 0, false, Which>;
  using Base::problem, Base::shape, Base::tiles, Base::rhs, Base::place;
  using Matrix = MatrixOf<Matrices>;
  static constexpr int W = Elimination::half_bandwidth, met = 2 * W;
  using Lone = typename Elimination::template Lone<T>;
  using Half = WideEndRows<T, W>;

  static constexpr int handed_words = Lone::words;  // of a system
  /// Bytes of a run of x that is copied in bulk: little else is to be done meanwhile.
  static constexpr int bulk = 128;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), n = shape.n, systems = shape.systems();
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    if (!Base::wants_any(member, tile)) return;
    if (problem.resets && t == 0) problem.diagnosis.reset();  // long before anything is reported
    T* const bands = team_scratch<T, staging_alignment>(member);
    T* const handed = bands + shape.bands * shape.band_words();
    Base::template load<true>(member, handed + staged_words<T>(handed_words * systems), bands,
                              tile);
    wait_for_kernels_before(member);

    const bool is_last = t >= systems;  // the half that ends with the last row
    const int in_tile = is_last ? t - systems : t, front = (n + 1) / 2;
    const bool exists = in_tile < tile.count && Base::is_wanted(tile.first + in_tile);
    const int s = exists ? in_tile : 0;
    const int band = is_last ? -shape.band_words() : shape.band_words();
    const Half half{bands + W * shape.band_words() + place(s, is_last ? n - 1 : 0),
                    band,
                    (rhs - W) * shape.band_words(),
                    is_last ? -between() : between(),
                    !exists   ? 0
                    : is_last ? n - front
                              : front,
                    problem.A.first.scale_rows};
    T* const word = handed + s;
    // threads without a system read none that another one writes
    Lone carried([&](int i) { return exists ? half.equation(i) : unit_equation<T, W>(); });
    carry(half, carried);
    if (exists && is_last) {
      carried.for_words([&](const T& value, int k) { word[k * systems] = value; });
      if (!carried.is_sound()) word[0] = not_a_number();
    }
    member.team_barrier();
    T x[met];
    if (exists && !is_last) {
      meet(
          carried, [&](int k) { return word[k * systems]; }, x);
      if (!carried.is_sound()) x[0] = not_a_number();
      TRIKKOS_UNROLL(met)
      for (int j = 0; j < met; ++j) word[j * systems] = x[j];
    }
    member.team_barrier();
    if (exists) {
      Real<T> probe(0);
      TRIKKOS_UNROLL(met)
      for (int j = 0; j < met; ++j) {
        x[j] = word[(is_last ? met - 1 - j : j) * systems];
        probe += finite_probe(x[j]);
      }
      if (probe == 0) {
        if (!go_back(half, x)) report(bands, tile.first, s, is_last ? front : 0, half.m);
      } else if (!is_last) {
        solve_in_segments(bands, tile.first, s);
      }
    }
    Base::template store_wanted<bulk>(member, bands, tile);
  }

 private:
  /// Rows of a system in scratch.
  KOKKOS_FORCEINLINE_FUNCTION int between() const { return Interleaved ? shape.systems() : 1; }
  KOKKOS_FORCEINLINE_FUNCTION static T not_a_number() {
    return T(Kokkos::Experimental::quiet_NaN_v<Real<T>>);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void carry(const Half& half, Lone& carried) {
    if (half.m <= W) return;
    Equation<T, W> next = half.equation(W);
    TRIKKOS_UNROLL(2)
    for (int k = W; k < half.m; ++k) {
      const Equation<T, W> e = next;
      next = half.equation(k + 1 < half.m ? k + 1 : k);
      half.keep(k - W, carried.rotate(e));
    }
  }
  /// The 2W unknowns where the halves meet, W of either, from the rows that are carried and those
  /// that the other half does, word(k).
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION static void meet(Lone& carried, const Word& word, T (&x)[met]) {
    Staircase<T, met, 0, met, met> rows;
    TRIKKOS_UNROLL(W)
    for (int i = 0; i < W; ++i) {
      TRIKKOS_UNROLL(met)
      for (int j = 0; j < met; ++j) rows.row[i][rows.window + j] = T(0);
      TRIKKOS_UNROLL(met)
      for (int j = 0; j < met; ++j) rows.row[W + i][rows.window + j] = T(0);
    }
    int k = 0;
    TRIKKOS_UNROLL(W)
    for (int i = 0; i < W; ++i) {
      rows.row[i][rows.rhs] = carried.rows.row[i][carried.rows.rhs];
      rows.row[W + i][rows.rhs] = word(k++);
      TRIKKOS_UNROLL(met)
      for (int j = 0; j <= W + i; ++j) {
        rows.row[i][rows.window + j] = carried.rows.row[i][carried.rows.window + j];
        rows.row[W + i][rows.window + met - 1 - j] = word(k++);
      }
    }
    solve_dense(rows, x);
  }
  /// From where the halves meet, x, to the end. Returns whether all is finite.
  KOKKOS_FORCEINLINE_FUNCTION static bool go_back(const Half& half, T (&x)[met]) {
    Real<T> probe(0);
    TRIKKOS_UNROLL(W)
    for (int j = 0; j < W; ++j) half.solution(half.m - W + j) = x[j];
    for_kept_rows(half, half.m - W - 1, 0, [&](int k, const BackRow<T, W>& row) {
      const T v = Elimination::substituted(row, x);
      TRIKKOS_UNROLL(met)
      for (int j = met - 1; j > 0; --j) x[j] = x[j - 1];
      x[0] = v;
      half.solution(k) = v;
      probe += finite_probe(v);
    });
    return probe == 0;
  }
  /// By one thread: what is not safe from underflow, or not finite. Nodes of the chain of segments
  /// lie where the way back of their rows does later.
  KOKKOS_FUNCTION void solve_in_segments(T* bands, std::int64_t first, int s) const {
    constexpr int longest = 33;
    const int n = shape.n, links = (n + longest - 1) / longest, each = (n + links - 1) / links;
    const Matrix A = problem.A[first + s];
    const auto rows = [&](int link) {
      const int begin = link * each;
      return RereadWideRows<T, W, Matrix>{
          {bands + place(s, begin), shape.band_words(), link + 1 < links ? each : n - begin,
           A.scale_rows, between()},
          A,
          problem.b[first + s],
          begin};
    };
    const auto word = [&](int link, int k) -> T& {
      return bands[k % rhs * shape.band_words() + place(s, link * each + k / rhs)];
    };
    using Node = MergeNode<T, W>;
    auto segment = Elimination::reduce(rows(0));
    TRIKKOS_UNROLL(1)
    for (int link = 1; link < links; ++link) {
      Node node;
      segment = merge(segment, Elimination::reduce(rows(link)), node);
      TRIKKOS_UNROLL(Node::words)
      for (int k = 0; k < Node::words; ++k) word(link, k) = node.g[k];
    }
    auto bounds = solve_root(segment, false);
    const Diagnosis diagnosis = problem.diagnosis.of(first + s, n);
    diagnose_root(diagnosis, segment, false, bounds, n);
    Real<T> probe(0);
    TRIKKOS_UNROLL(1)
    for (int link = links - 1; link >= 0; --link) {
      auto mine = bounds;
      if (link > 0) {
        Node node;
        TRIKKOS_UNROLL(Node::words)
        for (int k = 0; k < Node::words; ++k) node.g[k] = word(link, k);
        mine = unchain(bounds, node);
      }
      probe += Elimination::substitute(rows(link), mine).probe;
    }
    if (probe == 0) return;
    // b is still what it was: x is stored behind the next barrier
    Elimination::diagnose(diagnosis,
                          CompletedRows<T, W, Matrix>{{A, problem.b[first + s], 0, n + W}});
    report(bands, first, s, 0, n);
  }
  /// The first of m unknowns that is not finite.
  KOKKOS_FUNCTION void report(const T* bands, std::int64_t first, int s, int begin, int m) const {
    const T* const x = bands + rhs * shape.band_words();
    for (int i = begin; i < begin + m; ++i)
      if (!(finite_probe(x[place(s, i)]) == 0))
        return problem.diagnosis.of(first + s, shape.n).report_solution(i);
  }
};

/// `segmented` for short systems on a device, many of them.
template <class T, class Exec, class Elimination>
class WideBothEnds {
  static constexpr int W = Elimination::half_bandwidth;
  using OnChip = OnChipShape<T, W>;

 public:
  /// Whether the elimination has a way with W rows that are carried.
  static constexpr bool is_for_it = requires { typename Elimination::template Lone<T>; };

  WideBothEnds(const Shape& shape, const Options& options)
      : m_contiguous(contiguous(options.partition_size() == 0 ? shape.n : 0)),
        m_interleaved(interleaved(options.partition_size() == 0 ? shape.n : 0)) {}

  template <class Matrices>
  bool is_for(const Problem<T, W, Matrices>& problem, bool interleaved) const {
    return problem.count() >= least_systems && !problem.A.first.periodic &&
           (interleaved ? m_interleaved.lanes > 0 && problem.slab() >= least_slab
                        : m_contiguous.lanes > 0);
  }
  template <class Matrices>
  requires(is_for_it) void solve(const Exec& exec, const Problem<T, W, Matrices>& problem,
                                 bool interleaved = false) const {
    if (interleaved)
      launch<true>(exec, problem, m_interleaved);
    else
      launch<false>(exec, problem, m_contiguous);
  }
  /// Of contiguous systems those that are marked.
  template <class Matrices>
  requires(is_for_it) void solve_marked(const Exec& exec, const Problem<T, W, Matrices>& problem,
                                        const Marks<T>& marks) const {
    launch<false>(exec, problem, m_contiguous, OnlyIf{marks.any}, MarkedSystems<T>{marks.marked});
  }

 private:
  static constexpr int warp = 32;

  template <bool Interleaved, class Matrices, class Gate = Always, class Which = EverySystem>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem, const OnChip& shape,
              const Gate& gate = {}, const Which& wanted = {}) const {
    using Kernel = SolveWideFromBothEnds<T, Elimination, Interleaved, Matrices, Which>;
    Kernel kernel{{problem, shape, SystemTiles(problem.slab(), shape.systems()),
                   can_load_in_bulk<Interleaved, staging_alignment>(problem), wanted}};
    const int league = static_cast<int>(kernel.tiles.count(problem.count()));
    kernel.problem.resets = false;
    if (problem.resets)
      launch_one(exec, Elimination::label("reset"), ResetDiagnosis{problem.diagnosis});
    launch_teams<warp>(
        exec, Elimination::label("from_both_ends"),
        {gate.league(league), warp, scratch_bytes(shape), problem.resets || Gate::overlaps},
        gate.teams(kernel, league));
  }

  static std::size_t scratch_bytes(const OnChip& shape) {
    int handed = 0;
    if constexpr (is_for_it) handed = Elimination::template Lone<T>::words;
    return sizeof(T) *
               (shape.bands * shape.band_words() + staged_words<T>(handed * shape.systems())) +
           staging_bytes + staging_alignment;
  }
  /// A team for so many systems, of which an SM holds the most, but at least `least_held`. As the
  /// threads of a warp take as long for a row as one does, it has some teams, and not too narrow
  /// ones; of two as good the smaller one is loaded sooner.
  static OnChip team_for(std::int64_t n, int least, int least_held, bool halves) {
    // of sm_90, whose registers are for so many teams
    constexpr int of_sm = 227 * 1024, most_teams = 8, wide = 7, widest = 11;
    int best = 0, most = 0;
    for (int systems = warp / 2; is_for_it && n >= 4 * W && n <= of_sm && systems >= least;
         systems = halves ? systems / 2 : systems - 1) {
      const int bytes =
          static_cast<int>(scratch_bytes(OnChip::pairs(n, systems))) + scratch_reserved(warp);
      const int teams = std::min(of_sm / (bytes + 1024), most_teams), held = teams * systems;
      const int worth = held * std::min(systems, wide);
      if (bytes > scratch_of_teams<Exec>() || teams < (systems > widest ? 5 : 3) ||
          held < least_held || worth < most)
        continue;
      best = systems;
      most = worth;
    }
    return OnChip::pairs(n, best);
  }
  /// Two threads a system, of a warp; of less than three most of the warp would be idle.
  static OnChip contiguous(std::int64_t n) { return team_for(n, 3, 12, false); }
  /// Rows of 64 bytes and more.
  static OnChip interleaved(std::int64_t n) {
    constexpr int least = 64 / sizeof(T);
    return team_for(n, least, 4 * least, true);
  }
  static constexpr std::int64_t least_systems = 1 << 12, least_slab = 32;

  OnChip m_contiguous, m_interleaved;
};

}  // namespace Trikkos::Impl

#endif
