// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SOLVER_HPP
#define TRIKKOS_IMPL_SOLVER_HPP

#include <algorithm>
#include <cstddef>
#include <impl/Trikkos_ColumnScaling.hpp>
#include <impl/Trikkos_Guard.hpp>
#include <impl/Trikkos_KernelTeam.hpp>
#include <impl/Trikkos_Methods.hpp>

namespace Trikkos::Impl {

/// The parts of one piece of memory, or of none, to see how large it must be.
class Parts {
 public:
  explicit Parts(std::byte* start) : m_start(start) {}

  template <class U>
  U* take(std::int64_t count) {
    constexpr std::size_t line = 64;  // of a cache, and no less than vectors of lanes ask for
    U* const part = m_start == nullptr ? nullptr : reinterpret_cast<U*>(m_start + m_bytes);
    m_bytes += (sizeof(U) * static_cast<std::size_t>(count) + line - 1) / line * line;
    return part;
  }
  std::size_t bytes() const { return m_bytes; }

 private:
  std::byte* m_start;
  std::size_t m_bytes = 0;
};

/// How systems of one shape, with W diagonals on either side, are solved: scaling, guard and
/// method. Holds no memory.
template <class T, class Exec, int W = 1>
class Solver {
 public:
  Solver(const Shape& shape, const Options& options)
      : m_shape(shape),
        m_options(options),
        m_guard(options),
        m_method(method<T, Exec, W>(shape, options)) {
    const std::int64_t items =
        std::visit([](const auto& m) { return m.parallel_items(); }, m_method);
    // Systems in flight: enough to fill the device, few enough to keep the memory small.
    const bool takes_memory = storage_words() > 0 || m_guard.measures();
    const std::int64_t wanted = !takes_memory ? most_in_flight : is_host_v<Exec> ? 256 : 16384;
    // a guard keeps every b
    const std::int64_t at_least =
        m_guard.measures() ? 1 : std::max(this->at_least(), shape.matrices == 1 ? at_once() : 1);
    m_in_flight = evenly(std::max<std::int64_t>(shape.count, 1),
                         std::max(wanted / std::max<std::int64_t>(items, 1), at_least));
  }

  const Shape& shape() const { return m_shape; }
  const Options& options() const { return m_options; }
  Algorithm algorithm() const { return chosen<T, Exec, W>(m_options, m_shape); }
  std::size_t bytes() const { return memory(nullptr).bytes; }

  /// Makes fresh memory ready.
  void start(const Exec& exec, std::byte* start) const;
  /// Prepares what depends on the matrices alone, for the solves that follow: a scaled copy, or
  /// factors. Returns whether there are some to solve with; only then it waits.
  bool factor(const Exec& exec, std::byte* start, const Systems<T, W>& A) const;
  /// After `factor` of the same A: all systems, as many at a time as are in flight.
  void solve(const Exec& exec, std::byte* start, const Systems<T, W>& A, const Vectors<const T>& b,
             const Vectors<T>& x, bool factored, const Numbering& number = {}) const;
  /// The same of matrices that are computed, by `segmented`.
  template <ComputedMatrices Matrices>
  void solve(const Exec& exec, std::byte* start, const Matrices& A, const Vectors<const T>& b,
             const Vectors<T>& x, const Numbering& number) const {
    solve_all(exec, memory(start), A, A, b, x, m_in_flight, number,
              [&](const auto& problem, std::int64_t) { segmented().solve(exec, problem); });
  }
  /// What the last solve found. Waits.
  Status status(const Exec& exec, std::byte* start) const {
    return m_guard.status(fetch(exec, memory(start).report, "Trikkos::Workspace::status"),
                          m_shape.n);
  }
  bool scales_columns() const { return m_options.scaling() == Scaling::columns; }

 private:
  /// At most so many at a time, equally many each time but for what aligned rows ask for.
  static std::int64_t evenly(std::int64_t count, std::int64_t most) {
    constexpr std::int64_t multiple = 64;
    if (count <= most) return count;
    const std::int64_t times = (count + most - 1) / most, each = (count + times - 1) / times;
    return std::min(most, (each + multiple - 1) / multiple * multiple);
  }
  static constexpr std::int64_t most_in_flight = std::int64_t(1) << 30;  // league sizes are int

  /// Of `segmented`, or `automatic`.
  const auto& segmented() const {
    if constexpr (W == 1) {
      using Call = typename FormsOf<Algorithm::truncated>::template Call<T, Exec>;
      if (const auto* method = std::get_if<Call>(&m_method)) return method->second_way();
    }
    return std::get<typename FormsOf<Algorithm::segmented>::template Call<T, Exec, W>>(m_method);
  }
  std::int64_t storage_words() const {
    return std::visit([](const auto& m) { return m.storage_words(); }, m_method);
  }
  std::int64_t shared_words() const {
    return std::visit([](const auto& m) { return m.shared_words(); }, m_method);
  }
  std::int64_t at_once() const {
    return std::visit(
        [](const auto& m) -> std::int64_t {
          if constexpr (requires { m.at_once; })
            return m.at_once;
          else
            return 1;
        },
        m_method);
  }
  std::int64_t at_least() const {
    return std::visit(
        [](const auto& m) -> std::int64_t {
          if constexpr (requires { m.at_least(); })
            return m.at_least();
          else
            return 1;
        },
        m_method);
  }
  std::int64_t factor_words() const {
    return std::visit(
        [](const auto& m) -> std::int64_t {
          if constexpr (FactoringMethod<std::decay_t<decltype(m)>, T, Exec, W>)
            return m.factor_words();
          else
            return 0;
        },
        m_method);
  }
  struct Memory {
    Report* report;
    T* storage;
    GuardMemory<T> guard{};
    ScaledColumns<T, W> scaled{};
    T* factors;
    std::size_t bytes;
  };
  Memory memory(std::byte* start) const {
    const std::int64_t n = m_shape.n;
    Parts parts(start);
    Memory r;
    r.report = parts.take<Report>(1);
    r.storage = parts.take<T>(shared_words() + m_in_flight * storage_words());
    if (m_guard.measures()) {
      r.guard.norms = parts.take<ResidualNorms>(m_in_flight);
      r.guard.rhs = parts.take<T>(m_in_flight * n);
    }
    if (m_guard.refines()) {
      r.guard.correction = parts.take<T>(m_in_flight * n);
      r.guard.words = parts.take<std::int64_t>(Diagnosis::words);
    }
    if (scales_columns())
      r.scaled = {parts.take<T>((2 * W + 1) * m_shape.matrices * n),
                  parts.take<Real<T>>(m_shape.matrices * n), n};
    r.factors = parts.take<T>(factor_words());
    r.bytes = parts.bytes();
    return r;
  }

  /// As many at a time as are in flight, by run(problem, its first system). `solved` are the
  /// matrices A, or those scaled.
  template <class Matrices, class Run>
  void solve_all(const Exec& exec, const Memory& memory, const Matrices& A, Matrices solved,
                 const Vectors<const T>& b, const Vectors<T>& x, std::int64_t in_flight,
                 const Numbering& number, const Run& run) const;

  Shape m_shape;
  Options m_options;
  Guard<T> m_guard;
  AnyMethod<T, Exec, W> m_method;
  std::int64_t m_in_flight = 1;
};

struct NoWork {
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member&) const {}
};
/// Kokkos' CUDA backend allocates for a team launch until one has asked for level-1 scratch.
template <class Exec>
void prepare_for_teams(const Exec& exec) {
  if constexpr (!is_host_v<Exec>)
    Kokkos::parallel_for(
        "Trikkos::Workspace::team_scratch",
        Kokkos::TeamPolicy<Exec>(exec, 1, coarse_lanes).set_scratch_size(1, Kokkos::PerTeam(8)),
        NoWork{});
}

// Outside the class, so not inline: an `extern template class Solver<double, Exec>` keeps the
// kernels of all algorithms out of a translation unit.

template <class T, class Exec, int W>
void Solver<T, Exec, W>::start(const Exec& exec, std::byte* start) const {
  launch_one(exec, "Trikkos::Workspace::reset", ResetReport{memory(start).report, 1});
  prepare_for_teams(exec);
}

template <class T, class Exec, int W>
bool Solver<T, Exec, W>::factor(const Exec& exec, std::byte* start, const Systems<T, W>& A) const {
  const Memory memory = this->memory(start);
  if (scales_columns()) {
    const std::int64_t matrices = A.is_shared() ? 1 : A.count;
    Kokkos::parallel_for("Trikkos::Workspace::scale_columns", range(exec, matrices * m_shape.n),
                         ScaleColumn<T, W>{A, memory.scaled});
  }
  return std::visit(
      [&](const auto& m) {
        if constexpr (FactoringMethod<std::decay_t<decltype(m)>, T, Exec, W>)
          return m.factor(exec, scales_columns() ? memory.scaled.systems(A) : A, memory.factors);
        else
          return false;
      },
      m_method);
}

template <class T, class Exec, int W>
void Solver<T, Exec, W>::solve(const Exec& exec, std::byte* start, const Systems<T, W>& A,
                               const Vectors<const T>& b, const Vectors<T>& x, bool factored,
                               const Numbering& number) const {
  const Memory memory = this->memory(start);
  const auto& scaled = memory.scaled;
  const std::int64_t n = m_shape.n, scale_stride = A.is_shared() ? 0 : n;
  // factors need no memory for each system
  const std::int64_t in_flight = factored && !m_guard.measures() ? most_in_flight : m_in_flight;
  solve_all(exec, memory, A, scales_columns() ? scaled.systems(A) : A, b, x, in_flight, number,
            [&](const Problem<T, W>& p, std::int64_t first) {
              std::visit(
                  [&](const auto& m) {
                    if constexpr (FactoringMethod<std::decay_t<decltype(m)>, T, Exec, W>)
                      if (factored) return m.solve_factored(exec, p, memory.factors);
                    m.solve(exec, p);
                  },
                  m_method);
              if (scales_columns())
                Kokkos::parallel_for("Trikkos::Workspace::restore_unknowns",
                                     range(exec, p.count() * n),
                                     RestoreUnknown<T>{p.x, scaled.scale + first * scale_stride, n,
                                                       scale_stride, p.diagnosis});
            });
}

template <class T, class Exec, int W>
template <class Matrices, class Run>
void Solver<T, Exec, W>::solve_all(const Exec& exec, const Memory& memory, const Matrices& A,
                                   Matrices solved, const Vectors<const T>& b, const Vectors<T>& x,
                                   std::int64_t in_flight, const Numbering& number,
                                   const Run& run) const {
  const Diagnosis diagnosis{memory.report->words, A.count, 0, number};
  if (m_shape.n == 0 || A.count == 0) {
    launch_one(exec, "Trikkos::Workspace::reset", ResetReport{memory.report, A.count});
    return;
  }
  solved.first.scale_rows = m_options.scaling() == Scaling::rows;
  const Problem<T, W, Matrices> all{solved, b, x, memory.storage, diagnosis, true};
  for (std::int64_t first = 0, count; first < A.count; first += count) {
    count = all.block_size(first, in_flight);
    Problem<T, W, Matrices> problem = all.block(first, count);
    problem.resets = first == 0;
    m_guard.run(exec, A.block(first, count), problem, memory.guard, memory.report,
                [&](const auto& p) { run(p, first); });
  }
}

}  // namespace Trikkos::Impl

#endif
