// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_BREAKERSOLVERS_HPP
#define TRIKKOS_TEST_BREAKERSOLVERS_HPP

#include <FastError.hpp>
#include <InKernels.hpp>
#include <Outcome.hpp>
#include <Promise.hpp>
#include <ReferencePentadiagonal.hpp>
#include <cmath>
#include <limits>
#include <optional>

/// \file
/// The solution and judgement of many systems at once, by the methods of Promise.hpp.

namespace Test::Breaker {

using Reference::HostMatrix;
using Reference::HostSystem;
using Trikkos::Boundary;
using Trikkos::Transpose;

/// op(A) x = b, its rows times powers of two before anybody solves it. W diagonals on either side.
template <class T, int W = 1>
struct Problem {
  HostMatrix<T, W> A;
  std::vector<T> b;
  std::vector<int> row_exponents;  // empty: none
};

template <class T>
T times_power(T v, int exponent) {
  if constexpr (std::is_floating_point_v<T>)
    return std::ldexp(v, exponent);
  else
    return {std::ldexp(v.real(), exponent), std::ldexp(v.imag(), exponent)};
}

/// Applies the powers.
template <class T, int W>
void apply_row_exponents(Problem<T, W>& p) {
  for (std::size_t i = 0; i < p.row_exponents.size(); ++i) {
    const int exponent = p.row_exponents[i];
    for (int j = -W; j <= W; ++j) p.A.band(j)[i] = times_power(p.A.band(j)[i], exponent);
    p.b[i] = times_power(p.b[i], exponent);
  }
  p.row_exponents.clear();
}

/// How a solve ended.
struct Judged {
  double eta;  // NaN unless x is finite
  bool ok;

  /// A wrong x counts if nobody says that it is.
  double score() const {
    if (!ok) return -1;
    return std::isfinite(eta) ? eta : std::numeric_limits<double>::infinity();
  }
};

/// So many systems make a device go the ways that it has for thousands.
inline constexpr int thousands = 1 << 14;

/// (system, array, row), systems adjacent.
template <class T>
using Interleaved = Kokkos::View<T***, Kokkos::LayoutLeft, TEST_EXECSPACE>;

/// System i of many is system i % count of a few.
template <class T, class Few>
struct RepeatSystems {
  Interleaved<T> many;
  Few few;
  int count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t systems = many.extent(0), s = i % systems, row = i / systems;
    for (std::size_t a = 0; a < few.extent(1); ++a) many(s, a, row) = few(s % count, a, row);
  }
};
/// All copies of system k become 1 x = 0.
template <class T, int W>
struct MakeUnit {
  Interleaved<T> many;
  int k, count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t systems = many.extent(0), s = i % systems, row = i / systems;
    if (s % count != k) return;
    for (int a = 0; a <= 2 * W + 1; ++a) many(s, a, row) = T(a == W);
  }
};
/// Counts what is not what it is in the first copy.
template <class T>
struct CountOthers {
  Interleaved<T> many;
  int array, count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& others) const {
    const std::int64_t systems = many.extent(0), s = i % systems, row = i / systems;
    const T v = many(s, array, row), first = many(s % count, array, row);
    others += !(v == first) && (v == v || first == first);
  }
};

/// Solves and judges up to `capacity` problems of one size and boundary: inside kernels and as a
/// batch all in one launch, other host calls one after the other with one Workspace. The error is
/// measured before rows were scaled, where the method judges rows.
template <class T, int W = 1>
class Solver {
  static constexpr int b_at = 2 * W + 1, x_at = b_at + 1, arrays = x_at + 1;  // behind the bands

 public:
  Solver(const Method& method, std::int64_t n, Boundary boundary, int capacity)
      : m_method(method),
        m_many("thousands",
               method.level == Level::interleaved_thousands
                   ? (thousands + capacity - 1) / capacity * capacity
                   : 0,
               arrays, n),
        m_work(m_exec, works() ? n : 0, method.level == Level::call ? 1 : capacity,
               works() ? method.options : Options{}),
        m_memory("systems", layout(capacity, n)),
        m_systems(systems(boundary)),
        m_host(Kokkos::create_mirror_view(m_memory)) {
    if (m_many.extent(0) > 0)
      with_thousands([&](const auto& A, const auto& b, const auto&) {
        m_work = Trikkos::Workspace<T, TEST_EXECSPACE, W>(m_exec, A, b, method.options);
      });
  }

  std::vector<Judged> operator()(const std::vector<Problem<T, W>>& problems) {
    const int count = static_cast<int>(problems.size());
    for (int k = 0; k < count; ++k) put(k, problems[k]);
    Kokkos::deep_copy(m_memory, m_host);
    m_are_alike = true;
    const std::vector<int> info = launch(count);
    Kokkos::deep_copy(m_host, m_memory);
    std::vector<Judged> judged;
    for (int k = 0; k < count; ++k) {
      m_x.resize(m_host.extent(2));
      for (std::size_t i = 0; i < m_x.size(); ++i) m_x[i] = m_host(k, x_at, i);
      judged.push_back({m_are_alike ? error(problems[k]) : 1, info[k] == 0});
    }
    return judged;
  }
  /// The last x of the last call.
  const std::vector<T>& solution() const { return m_x; }

 private:
  bool works() const { return is_host_call(m_method.level) && !is_plan(m_method.level); }
  void put(int k, const Problem<T, W>& p) {
    const auto transpose = m_method.options.transpose();
    const auto copy = [&](int which, const std::vector<T>& v) {
      for (std::size_t i = 0; i < m_host.extent(2); ++i) m_host(k, which, i) = v[i];
    };
    const auto copy_all = [&](const HostMatrix<T, W>& A, const std::vector<T>& b) {
      for (int j = -W; j <= W; ++j) copy(W + j, A.band(j));
      copy(b_at, b);
    };
    if (p.row_exponents.empty() && transpose == Transpose::none) return copy_all(p.A, p.b);
    Problem<T, W> sent = p;
    apply_row_exponents(sent);
    if (transpose != Transpose::none)
      sent.A = Reference::transpose(sent.A, transpose == Transpose::conjugate_transpose);
    copy_all(sent.A, sent.b);
  }
  double error(const Problem<T, W>& p) const {
    if (judges_rows(m_method) || p.row_exponents.empty()) return fast_backward_error(p.A, m_x, p.b);
    Problem<T, W> sent = p;
    apply_row_exponents(sent);
    return fast_backward_error(sent.A, m_x, sent.b);
  }
  Systems<T, W> systems(Boundary boundary) const {
    const auto all = [&](int which) {
      return Kokkos::subview(m_memory, Kokkos::ALL, which, Kokkos::ALL);
    };
    if constexpr (W == 1)
      return {all(0), all(1), all(2), all(b_at), all(x_at), boundary};
    else
      return {all(0), all(1), all(2), all(3), all(4), all(b_at), all(x_at), boundary};
  }
  Kokkos::LayoutStride layout(std::size_t capacity, std::size_t n) const {
    const bool interleaved = m_method.level == Level::interleaved;
    return Kokkos::LayoutStride(capacity, interleaved ? 1 : arrays * n, arrays,
                                interleaved ? capacity * n : n, n, interleaved ? capacity : 1);
  }
  std::vector<int> launch(int count);
  std::vector<int> launch_batch(int count);
  std::vector<int> launch_thousands(int count);
  std::vector<int> launch_plans(int count);
  /// f(A, b, x)
  template <class F>
  void with_thousands(const F& f) const {
    const auto all = [&](int which) {
      return Kokkos::subview(m_many, Kokkos::ALL, which, Kokkos::ALL);
    };
    const Boundary boundary = m_systems.boundary;
    if constexpr (W == 1)
      f(Trikkos::Tridiagonal{all(0), all(1), all(2), boundary}, all(b_at), all(x_at));
    else
      f(Trikkos::Pentadiagonal{all(0), all(1), all(2), all(3), all(4), boundary}, all(b_at),
        all(x_at));
  }
  template <class F>
  void for_rows_of(const Interleaved<T>& many, const F& f) const {
    Kokkos::parallel_for("Test::thousands", rows_of(many), f);
  }
  auto rows_of(const Interleaved<T>& many) const {
    return Kokkos::RangePolicy<TEST_EXECSPACE, Kokkos::IndexType<std::int64_t>>(
        m_exec, 0, many.extent(0) * many.extent(2));
  }
  bool are_alike(const Interleaved<T>& many, int array, int count) const {
    std::int64_t others = 0;
    Kokkos::parallel_reduce("Test::compare", rows_of(many), CountOthers<T>{many, array, count},
                            others);
    return others == 0;
  }

  TEST_EXECSPACE m_exec;
  Method m_method;
  Interleaved<T> m_many;
  Trikkos::Workspace<T, TEST_EXECSPACE, W> m_work;
  using Memory = Kokkos::View<T***, Kokkos::LayoutStride, TEST_EXECSPACE>;
  Memory m_memory;  // bands, b, x
  std::optional<Trikkos::Plan<T, TEST_EXECSPACE, W>> m_plan;
  Systems<T, W> m_systems;
  decltype(Kokkos::create_mirror_view(Memory())) m_host;
  std::vector<T> m_x;
  bool m_are_alike = true;  // copies, all bits
};

/// 0 for each system that was solved.
template <class T, int W>
std::vector<int> Solver<T, W>::launch(int count) {
  if constexpr (W == 1)  // others take memory
    if (m_method.level == Level::thread) return solve_by_threads(m_systems, count);
  if (m_method.level == Level::thread_with_factors)
    return solve_by_threads_with_factors(m_systems, count, m_method.options);
  if (m_method.level == Level::team) return solve_by_teams(m_systems, count, m_method.options);
  if (m_method.level == Level::thread_in_memory)
    return solve_by_threads_in_memory(m_systems, count, m_method.options);
  if (is_plan(m_method.level)) return launch_plans(count);
  if (m_method.level == Level::interleaved_thousands) return launch_thousands(count);
  if (m_method.level != Level::call) return launch_batch(count);
  std::vector<int> info;
  for (int k = 0; k < count; ++k) {
    Trikkos::solve(m_exec, m_work, m_systems.matrix(k), m_systems.row(m_systems.b, k),
                   m_systems.row(m_systems.x, k));
    info.push_back(m_work.status(m_exec).ok() ? 0 : 1);
  }
  return info;
}

/// A Status names one bad system only: those behind it are solved once more.
template <class T, int W>
std::vector<int> Solver<T, W>::launch_batch(int count) {
  std::vector<int> info(count, 0);
  for (int first = 0; first < count; ++first) {
    const auto rest = [&](int which) {
      return Kokkos::subview(m_memory, Kokkos::pair(first, count), which, Kokkos::ALL);
    };
    const Boundary boundary = m_systems.boundary;
    if constexpr (W == 1)
      Trikkos::solve(m_exec, m_work, Trikkos::Tridiagonal{rest(0), rest(1), rest(2), boundary},
                     rest(b_at), rest(x_at));
    else
      Trikkos::solve(m_exec, m_work,
                     Trikkos::Pentadiagonal{rest(0), rest(1), rest(2), rest(3), rest(4), boundary},
                     rest(b_at), rest(x_at));
    const Trikkos::Status status = m_work.status(m_exec);
    if (status.ok()) break;
    first += std::max<int>(static_cast<int>(status.system), 0);
    info[first] = 1;
  }
  return info;
}

/// All copies must have the same bits. A Status names one bad system only: its copies become other
/// ones, and all are solved once more.
template <class T, int W>
std::vector<int> Solver<T, W>::launch_thousands(int count) {
  std::vector<int> info(count, 0);
  for_rows_of(m_many, RepeatSystems<T, Memory>{m_many, m_memory, count});
  for (int bad = 0; bad <= count; ++bad) {
    with_thousands([&](const auto& A, const auto& b, const auto& x) {
      Trikkos::solve(m_exec, m_work, A, b, x);
    });
    const Trikkos::Status status = m_work.status(m_exec);
    if (status.ok()) break;
    const int k = static_cast<int>(status.system % count);
    info[k] = 1;
    for_rows_of(m_many, MakeUnit<T, W>{m_many, k, count});
  }
  m_are_alike = are_alike(m_many, x_at, count);
  for (int k = 0; k < count; ++k)
    ::Test::copy(m_systems.row(m_systems.x, k), Kokkos::subview(m_many, k, x_at, Kokkos::ALL));
  return info;
}

/// Each system with some copies of its right-hand side, of which one counts. Where `factored`
/// leaves a matrix to another algorithm nothing is learnt of it.
template <class T, int W>
std::vector<int> Solver<T, W>::launch_plans(int count) {
  const bool in_thousands = m_method.level == Level::plan_thousands;
  const int copies = in_thousands ? (1 << 13) + 6 : Trikkos::Impl::lane_count<T> + 1;
  const std::size_t n = m_memory.extent(2);
  const Interleaved<T> many("copies", copies, 1, n);
  const auto interleaved = Kokkos::subview(many, Kokkos::ALL, 0, Kokkos::ALL);
  const Kokkos::View<T**, Kokkos::LayoutRight, TEST_EXECSPACE> contiguous(
      "copies", in_thousands ? 0 : copies, n);
  std::vector<int> info;
  const auto solve = [&](const auto& copy, int k) {
    for (int j = 0; j < copies && !in_thousands; ++j)
      ::Test::copy(Kokkos::subview(copy, j, Kokkos::ALL), m_systems.row(m_systems.b, k));
    if (in_thousands) {
      const auto b = Kokkos::subview(m_memory, Kokkos::pair(k, k + 1), Kokkos::pair(b_at, b_at + 1),
                                     Kokkos::ALL);
      for_rows_of(many, RepeatSystems<T, std::remove_cv_t<decltype(b)>>{many, b, 1});
    }
    Trikkos::solve(m_exec, *m_plan, copy, copy);
    ::Test::copy(m_systems.row(m_systems.x, k), Kokkos::subview(copy, k % copies, Kokkos::ALL));
  };
  for (int k = 0; k < count; ++k) {
    if (m_plan)
      m_plan->update(m_exec, m_systems.matrix(k));
    else
      m_plan.emplace(m_exec, m_systems.matrix(k), m_method.options, copies);
    if (k % 2 == 0 || in_thousands)
      solve(interleaved, k);
    else
      solve(contiguous, k);
    const bool counts = m_method.options.algorithm() != Algorithm::factored ||
                        m_plan->algorithm() == Algorithm::factored;
    info.push_back(counts && m_plan->status(m_exec).ok() ? 0 : 1);
    // in thousands `segmented` goes through them in several turns, the last of which may be short
    if (in_thousands && info.back() == 0) m_are_alike = m_are_alike && are_alike(many, 0, 1);
  }
  return info;
}

/// The largest n, at most `wanted`, for which a team finds its scratch on every backend (OpenMP
/// grants 32 KiB, of which Kokkos keeps some).
template <class T, int W = 1>
std::int64_t fitting(std::int64_t wanted, const Method& m) {
  if (m.level != Level::team) return wanted;
  while (wanted > 1 &&
         Trikkos::team_scratch_bytes<T, W>(wanted, m.options, Boundary::periodic) > 30 * 1024)
    --wanted;
  return wanted;
}

}  // namespace Test::Breaker

#endif
