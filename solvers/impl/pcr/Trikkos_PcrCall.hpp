// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PCRCALL_HPP
#define TRIKKOS_IMPL_PCRCALL_HPP

#include <algorithm>
#include <array>
#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/pcr/Trikkos_CyclicReduction.hpp>
#include <impl/pcr/Trikkos_Pcr.hpp>

namespace Trikkos::Impl {

/// PCR-Thomas on the rows of a level, a team or a host thread for each system.
template <class Level>
struct SolveLevel {
  using T = typename Level::value_type;
  using Rows = CyclicRows<T, Level::rhs_words, int>;

  Level level;
  int steps;
  std::int64_t offset = 0;  // host: the fast memory is the workspace from here on

  template <class Team>
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, std::int64_t system, T* memory) const {
    const auto rows = level.rows(system);
    CyclicVerdict verdict;
    const PcrOnChip<T, Level::rhs_words, Team> pcr{team, Rows{memory, static_cast<int>(level.n)},
                                                   verdict};
    pcr.solve(rows, steps);
    pcr.store(rows);
    level.report(system, verdict);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t system) const {
    solve(LoneThread{}, system, level.problem.storage + system * level.words + offset);
  }
  static std::size_t scratch_bytes(std::int64_t n) {
    return sizeof(T) * static_cast<std::size_t>(Rows::words * n) + alignof(T);
  }
};
/// ... as a team.
template <class Level>
struct SolveLevelInTeam {
  SolveLevel<Level> body;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    using T = typename Level::value_type;
    body.solve(KernelTeam<Member>(member), member.league_rank(), team_scratch<T>(member));
  }
};

/// One step of PCR in device memory.
template <class From, class To>
struct PcrStep {
  From from;
  To to;
  std::int64_t s;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [system, i] = split_index(index, to.n);
    const auto rows = from.rows(system);
    CyclicVerdict verdict;
    const auto row = rows.checked_row(i, verdict);
    to.rows(system).set(i, eliminate_neighbours(rows.row_or_none(i - s), row,
                                                rows.row_or_none(i + s), i, s, verdict));
    from.report(system, verdict);
  }
};

/// The s systems that the steps have made, one a thread. Neighbouring threads have neighbouring
/// rows.
template <class Level>
struct SolveClasses {
  Level level;
  std::int64_t s;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [system, r] = split_index(index, s);
    CyclicVerdict verdict;
    solve_class(level.rows(system), r, s, verdict);
    level.report(system, verdict);
  }
};
template <class Level, class Matrix>
struct StoreUnknown {
  Level level;
  Matrix matrix;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [system, i] = split_index(index, level.n);
    const auto rows = level.rows(system);
    const auto to = matrix.rows(system);
    CyclicVerdict verdict;
    typename Level::value_type last(0);
    if constexpr (Level::rhs_words == 2) last = to.last_unknown(rows, verdict);
    store_unknown(rows, to, i, last, verdict);
    level.report(system, verdict);
  }
};

/// `Algorithm::pcr` as a host call. A system that fits into the scratch of a team is solved there.
/// A larger one is halved by cyclic reduction until it does, or, where the number of PCR steps is
/// given, takes these steps in device memory, with one thread for each of the systems they make.
template <class T, class Exec>
class PcrCall {
  static constexpr int team_size = 256;

 public:
  /// Rows that one team solves on chip, 128 bytes left for Kokkos' static shared memory; on a host,
  /// one thread in its caches.
  template <int Rhs>
  static constexpr std::int64_t on_chip = is_host_v<Exec>
                                              ? 1024
                                              : (scratch_limit - scratch_reserved(team_size) -
                                                 128) /
                                                    int(sizeof(T) * CyclicRows<T, Rhs>::words);

  PcrCall(const Shape& shape, const Options& options)
      : m_n(shape.n), m_steps(options.pcr().reduction_steps) {}

  std::int64_t storage_words() const {
    return std::max(storage_words<1>(m_n), storage_words<2>(std::max<std::int64_t>(m_n - 1, 0)));
  }
  std::int64_t shared_words() const { return 0; }
  std::int64_t parallel_items() const { return m_n <= on_chip<1> ? 1 : m_n / on_chip<1> + 1; }

  void solve(const Exec& exec, const Problem<T>& problem) const {
    if (problem.resets) launch_one(exec, "Trikkos::pcr::reset", ResetDiagnosis{problem.diagnosis});
    if (problem.A.first.periodic && m_n > 1)
      launch(exec, Matrix<2>{problem, storage_words(), m_n - 1});
    else
      launch(exec, Matrix<1>{problem, storage_words(), m_n});
  }

 private:
  template <int Rhs>
  using Matrix = CyclicLevel<T, Rhs, true>;
  template <int Rhs>
  using Level = CyclicLevel<T, Rhs, false>;

  /// For n rows, the last one of a periodic matrix not counted.
  template <int Rhs>
  std::int64_t storage_words(std::int64_t n) const {
    constexpr int row = CyclicRows<T, Rhs>::words;
    if (m_steps > 0 && n > on_chip<Rhs>) return 2 * row * n;
    std::int64_t rows = 0, left = n;
    while (left > on_chip<Rhs>) rows += left /= 2;
    if (is_host_v<Exec>) rows += left;
    return row * rows + (Rhs == 2 && n > on_chip<Rhs> ? n : 0);
  }

  template <int Rhs>
  void launch(const Exec& exec, const Matrix<Rhs>& matrix) const {
    const std::int64_t count = matrix.problem.count();
    if (matrix.n <= on_chip<Rhs>) return solve_on_chip(exec, matrix, 0, count);
    if (m_steps == 0)
      reduce(exec, matrix, count);
    else
      interleave(exec, matrix, count);
  }

  template <class L>
  void solve_on_chip(const Exec& exec, const L& level, std::int64_t offset,
                     std::int64_t count) const {
    const SolveLevel<L> solve{level, m_steps, offset};
    if constexpr (is_host_v<Exec>) {
      Kokkos::parallel_for("Trikkos::pcr", range(exec, count), solve);
    } else {
      const int threads = static_cast<int>(std::clamp<std::int64_t>(level.n, 1, team_size));
      Kokkos::parallel_for(
          "Trikkos::pcr",
          light(Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(count), (threads + 31) / 32 * 32)
                    .set_scratch_size(0, Kokkos::PerTeam(SolveLevel<L>::scratch_bytes(level.n)))),
          SolveLevelInTeam<L>{solve});
    }
  }

  /// Cyclic reduction, and the rest on chip.
  template <int Rhs>
  void reduce(const Exec& exec, const Matrix<Rhs>& matrix, std::int64_t count) const {
    std::array<Level<Rhs>, 64> levels;
    int top = 0;
    const auto add = [&](std::int64_t n, std::int64_t spacing, std::int64_t offset) {
      levels[top] = {matrix.problem, matrix.words, n / 2, 2 * spacing, offset};
      return range(exec, count * (n / 2));
    };
    const auto end = [](const Level<Rhs>& l) { return l.offset + CyclicRows<T, Rhs>::words * l.n; };
    const auto first = add(matrix.n, 1, Rhs == 2 ? matrix.n : 0);
    Kokkos::parallel_for("Trikkos::pcr::reduce", first,
                         ReduceLevel<Matrix<Rhs>, Level<Rhs>>{matrix, levels[0]});
    for (; levels[top].n > on_chip<Rhs>;) {
      const Level<Rhs> from = levels[top++];
      const auto rows = add(from.n, from.spacing, end(from));
      Kokkos::parallel_for("Trikkos::pcr::reduce", rows,
                           ReduceLevel<Level<Rhs>, Level<Rhs>>{from, levels[top]});
    }
    solve_on_chip(exec, levels[top], end(levels[top]), count);
    for (; top > 0; --top)
      Kokkos::parallel_for("Trikkos::pcr::substitute",
                           range(exec, count * (levels[top - 1].n - levels[top].n)),
                           SubstituteLevel<Level<Rhs>, Level<Rhs>>{levels[top], levels[top - 1]});
    Kokkos::parallel_for("Trikkos::pcr::substitute", range(exec, count * (matrix.n - levels[0].n)),
                         SubstituteLevel<Level<Rhs>, Matrix<Rhs>>{levels[0], matrix});
    if constexpr (Rhs == 2) {
      solve_border(exec, matrix, matrix, count);
      Kokkos::parallel_for("Trikkos::pcr::substitute_border", range(exec, count * matrix.n),
                           SubstituteBorder<Matrix<Rhs>>{matrix});
    }
  }

  /// PCR by turns from one half of the workspace into the other, then a thread for each system.
  template <int Rhs>
  void interleave(const Exec& exec, const Matrix<Rhs>& matrix, std::int64_t count) const {
    const std::int64_t n = matrix.n;
    Level<Rhs> from{matrix.problem, matrix.words, n, 1, 0};
    Level<Rhs> to{matrix.problem, matrix.words, n, 1, CyclicRows<T, Rhs>::words * n};
    const auto rows = range(exec, count * n);
    Kokkos::parallel_for("Trikkos::pcr::step", rows,
                         PcrStep<Matrix<Rhs>, Level<Rhs>>{matrix, from, 1});
    std::int64_t s = 2;
    for (int k = 1; k < m_steps && s < n; ++k, s *= 2) {
      Kokkos::parallel_for("Trikkos::pcr::step", rows,
                           PcrStep<Level<Rhs>, Level<Rhs>>{from, to, s});
      std::swap(from, to);
    }
    s = std::min(s, n);
    Kokkos::parallel_for("Trikkos::pcr::thomas", range(exec, count * s),
                         SolveClasses<Level<Rhs>>{from, s});
    Kokkos::parallel_for("Trikkos::pcr::store", rows,
                         StoreUnknown<Level<Rhs>, Matrix<Rhs>>{from, matrix});
    if constexpr (Rhs == 2) solve_border(exec, from, matrix, count);
  }

  template <class Known>
  void solve_border(const Exec& exec, const Known& known, const Matrix<2>& matrix,
                    std::int64_t count) const {
    Kokkos::parallel_for("Trikkos::pcr::border", range(exec, count),
                         SolveBorder<Known, Matrix<2>>{known, matrix});
  }

  std::int64_t m_n;
  int m_steps;
};

}  // namespace Trikkos::Impl

#endif
