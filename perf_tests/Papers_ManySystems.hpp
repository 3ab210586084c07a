// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PAPERS_MANYSYSTEMS_HPP
#define TRIKKOS_PAPERS_MANYSYSTEMS_HPP

#include "Papers_Solver.hpp"

/// \file
/// Many diagonally dominant systems of n rows: one behind the other as one system with couplings of
/// zero, and solved inside kernels.

namespace Papers {

/// Rows of system k side by side as LAPACK has them, or as the execution space prefers.
template <class T>
using Contiguous = Kokkos::View<T**, Kokkos::LayoutRight, Perf::Exec>;
template <class T>
using Preferred = Kokkos::View<T**, Perf::Exec>;

template <class View>
struct Systems {
  View lower, diag, upper, b, x;

  KOKKOS_INLINE_FUNCTION auto matrix(int k) const {
    return Trikkos::Tridiagonal{row(lower, k), row(diag, k), row(upper, k)};
  }
  KOKKOS_INLINE_FUNCTION static auto row(const View& view, int k) {
    return Kokkos::subview(view, k, Kokkos::ALL);
  }
};

/// A team for each system. The options are made in the kernel, so it has one algorithm only.
template <class T, Trikkos::Algorithm algorithm>
struct SolveByTeams {
  Systems<Contiguous<T>> systems;
  Kokkos::View<int, Perf::Exec> flagged;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int k = member.league_rank();
    const int info =
        Trikkos::solve(member, systems.matrix(k), systems.row(systems.b, k),
                       systems.row(systems.x, k), Trikkos::Options{}.algorithm(algorithm));
    if (info > 0) flagged() = 1;
  }
};

/// A thread for each system.
template <class T>
struct SolveByThreads {
  Systems<Preferred<T>> systems;
  Kokkos::View<int, Perf::Exec> flagged;

  KOKKOS_INLINE_FUNCTION void operator()(int k) const {
    const int info = Trikkos::solve(Trikkos::this_thread, systems.matrix(k),
                                    systems.row(systems.b, k), systems.row(systems.x, k));
    if (info > 0) flagged() = 1;
  }
};

template <class T>
struct Uncouple {
  Trikkos::Tridiagonal<Kokkos::View<T*, Perf::Exec>> A;
  std::int64_t n;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    A.lower(k * n) = A.upper((k + 1) * n - 1) = T(0);
  }
};

/// The systems and everything that is needed to solve them this way or that.
template <class T>
class ManySystems {
 public:
  ManySystems(Perf::Harness& harness, std::int64_t n, std::int64_t count)
      : problem(harness.exec(), {Trikkos::Gallery::uniform_dominant, n * count}),
        m_harness(harness),
        m_n(n),
        m_count(static_cast<int>(count)) {
    Kokkos::parallel_for("Papers::uncouple", Kokkos::RangePolicy<Perf::Exec>(exec(), 0, count),
                         Uncouple<T>{problem.A, n});
  }

  const Perf::Problem<T> problem;

  std::int64_t count() const { return m_count; }

  /// The time is NaN where so many threads make no team, or are more than there are rows, or where
  /// a team is granted too little scratch.
  template <Trikkos::Algorithm algorithm>
  Outcome by_teams(int threads) const {
    const SolveByTeams<T, algorithm> work{
        {contiguous(problem.A.lower.data()), contiguous(problem.A.diag.data()),
         contiguous(problem.A.upper.data()), contiguous(problem.b.data()),
         contiguous(problem.x.data())},
        m_flagged};
    const int bytes = static_cast<int>(
        Trikkos::team_scratch_bytes<T>(m_n, Trikkos::Options{}.algorithm(algorithm)));
    const auto scratch = Kokkos::PerTeam(bytes);
    using Policy = Kokkos::TeamPolicy<Perf::Exec>;
    constexpr double nan = Kokkos::Experimental::quiet_NaN_v<double>;
    if (threads > m_n || bytes > Policy::scratch_size_max(0)) return {{nan, nan}, ""};
    const Policy any = Policy(exec(), m_count, 1).set_scratch_size(0, scratch);
    if (threads > any.team_size_max(work, Kokkos::ParallelForTag{})) return {{nan, nan}, ""};
    const Policy policy = Policy(exec(), m_count, threads).set_scratch_size(0, scratch);
    const Perf::Time time =
        m_harness.time([] {}, [&] { Kokkos::parallel_for("Papers::teams", policy, work); });
    return {time, complaint()};
  }

  Outcome by_threads() const {
    const auto view = [&](const std::string& label) {
      return Preferred<T>(Kokkos::view_alloc(exec(), Kokkos::WithoutInitializing, label), m_count,
                          m_n);
    };
    const Systems<Preferred<T>> systems{view("Papers::lower"), view("Papers::diag"),
                                        view("Papers::upper"), view("Papers::b"),
                                        view("Papers::x")};
    const auto& [A, b, x] = problem;
    Trikkos::marshal(exec(), contiguous(A.lower.data()), systems.lower);
    Trikkos::marshal(exec(), contiguous(A.diag.data()), systems.diag);
    Trikkos::marshal(exec(), contiguous(A.upper.data()), systems.upper);
    Trikkos::marshal(exec(), contiguous(b.data()), systems.b);
    const Perf::Time time =
        m_harness.time([] {},
                       [&] {
                         Kokkos::parallel_for("Papers::threads",
                                              Kokkos::RangePolicy<Perf::Exec>(exec(), 0, m_count),
                                              SolveByThreads<T>{systems, m_flagged});
                       });
    Trikkos::marshal(exec(), systems.x, contiguous(x.data()));
    return {time, complaint()};
  }

 private:
  const Perf::Exec& exec() const { return m_harness.exec(); }
  /// What solves inside a kernel have said since the last call.
  std::string complaint() const {
    int flagged = 0;
    Kokkos::deep_copy(flagged, m_flagged);
    Kokkos::deep_copy(m_flagged, 0);
    return flagged == 0 ? "" : "flagged";
  }
  Contiguous<T> contiguous(T* data) const { return Contiguous<T>(data, m_count, m_n); }

  Perf::Harness& m_harness;
  std::int64_t m_n;
  int m_count;
  Kokkos::View<int, Perf::Exec> m_flagged{"Papers::flagged"};
};

}  // namespace Papers

#endif
