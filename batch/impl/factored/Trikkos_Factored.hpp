// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORED_HPP
#define TRIKKOS_IMPL_FACTORED_HPP

#include <bit>
#include <impl/factored/Trikkos_FactorMatrix.hpp>
#include <impl/factored/Trikkos_FactoredInRegisters.hpp>
#include <impl/factored/Trikkos_FactoredLanes.hpp>
#include <impl/factored/Trikkos_FactoredOnChip.hpp>
#include <impl/factored/Trikkos_FactoredStream.hpp>
#include <impl/segmented/Trikkos_Segmented.hpp>

namespace Trikkos::Impl {

/// `Algorithm::factored` as a host call: the factors of a Plan's one matrix where they may be used,
/// else `segmented`.
template <class T, class Exec, int W = 1>
class FactoredCall {
  using Stable = typename FormsOf<Algorithm::segmented>::template Call<T, Exec, W>;
  using OnChip = FactoredShape<T, W>;
  static constexpr bool on_host = is_host_v<Exec>;

 public:
  FactoredCall(const Shape& shape, const Options& options)
      : m_stable(shape, Options(options).algorithm(Algorithm::segmented)),
        m_shape(shape),
        m_contiguous(on_chip<false>(shape)),
        m_interleaved(on_chip<true>(shape)) {
    m_shape.count = std::max<std::int64_t>(shape.count, 1);
  }

  /// Whether `automatic` should choose it.
  static bool is_for(const Shape& shape) {
    if (!shape.is_factored_once || shape.matrices != 1 || shape.n == 0) return false;
    if constexpr (on_host)
      return shape.count >= lane_count<T> && shape.n <= longest_on_host;
    else
      return on_chip<false>(shape).chunks > 0 && on_chip<true>(shape).chunks > 0;
  }

  std::int64_t storage_words() const { return m_stable.storage_words(); }
  std::int64_t shared_words() const {
    std::int64_t words = m_stable.shared_words();
    if constexpr (on_host) {
      using Kernel = SolveFactoredLanes<T, W>;
      if (can_factor())
        words = std::max(words, Kernel::groups_of(m_shape.count) * Kernel::group_words(m_shape.n));
    }
    return words;
  }
  std::int64_t parallel_items() const { return m_stable.parallel_items(); }
  static constexpr std::int64_t at_once = Stable::at_once;
  void solve(const Exec& exec, const Problem<T, W>& problem) const {
    m_stable.solve(exec, problem);
  }

  std::int64_t factor_words() const {
    if (!can_factor()) return 0;
    const std::int64_t words = factors<true>(nullptr).words;
    return shares_factors() ? words : whole_lines(words) + factors<false>(nullptr).words;
  }
  bool factor(const Exec& exec, const Systems<T, W>& A, T* memory) const {
    if (!can_factor()) return false;
    const auto make = [&](const Factors<T, W>& factors) {
      Impl::factor<Bands<T, W>>(exec, A.first, factors, "Trikkos::factored::factor");
    };
    const auto is_good = [&](const Factors<T, W>& factors) {
      return judged(exec, factors) >=
             (on_host ? FactorsAre::stable : FactorsAre::stable_if_corrected);
    };
    make(factors<true>(memory));
    if (!shares_factors()) make(factors<false>(memory));
    return is_good(factors<true>(memory)) && (shares_factors() || is_good(factors<false>(memory)));
  }
  void solve_factored(const Exec& exec, const Problem<T, W>& problem, T* memory) const {
    if (problem.resets)
      launch_one(exec, "Trikkos::factored::reset", ResetDiagnosis{problem.diagnosis});
    if constexpr (on_host) {
      using Kernel = SolveFactoredLanes<T, W>;
      const std::int64_t groups = Kernel::groups_of(std::min(problem.count(), m_shape.count));
      Kokkos::parallel_for("Trikkos::factored", range(exec, groups),
                           Kernel{factors<false>(memory), problem, groups});
    } else if (problem.count() > 1 && problem.b.system_stride < problem.b.row_stride) {
      interleaved(exec, problem, factors<true>(memory));
    } else {
      const Factors<T, W> factors = this->factors<false>(memory);
      if (!m_shape.periodic && m_contiguous.is_for_weights())
        launch<false, true>(exec, problem, factors);
      else
        launch<false, false>(exec, problem, factors);
    }
  }

 private:
  template <bool Interleaved>
  static OnChip on_chip(const Shape& shape) {
    if constexpr (on_host)
      return {};
    else if constexpr (Interleaved)
      return OnChip::interleaved(shape.n, shape.periodic, granted_scratch<Exec>());
    else
      return OnChip::contiguous(shape.n, shape.periodic, granted_scratch<Exec>());
  }
  static constexpr std::int64_t longest_on_host = 8192;  // for which memory is taken by threads

  bool can_factor() const {
    return m_shape.is_factored_once && m_shape.matrices == 1 && m_shape.n > 0 &&
           (on_host || (m_contiguous.chunks > 0 && m_interleaved.chunks > 0));
  }
  /// Those for contiguous right-hand sides lie behind those for interleaved ones, if chunks differ.
  template <bool Interleaved>
  Factors<T, W> factors(T* memory) const {
    if (on_host) return Factors<T, W>::whole(m_shape.n, m_shape.periodic, memory);
    const auto first = m_interleaved.factors(m_shape.periodic, memory);
    if (Interleaved || shares_factors()) return first;
    return m_contiguous.factors(m_shape.periodic,
                                memory == nullptr ? nullptr : memory + whole_lines(first.words));
  }
  static std::int64_t whole_lines(std::int64_t words) {
    return (words + OnChip::line - 1) / OnChip::line * OnChip::line;
  }
  bool shares_factors() const {
    return on_host ||
           (m_interleaved.rows == m_contiguous.rows && m_interleaved.chunks == m_contiguous.chunks);
  }

  void interleaved(const Exec& exec, const Problem<T, W>& problem,
                   const Factors<T, W>& factors) const {
    constexpr int brief = OnChip::short_chunk, extended = OnChip::long_chunk;
    const bool is_brief = m_interleaved.rows <= brief;
    if constexpr (Factors<T, W>::has_chunks)
      if (is_for_registers()) {
        if (is_brief) return in_registers<brief>(exec, problem, factors);
        if constexpr (Factors<T, W>::has_long_chunks)
          return in_registers<extended>(exec, problem, factors);
      }
    if constexpr (W == 1)
      if (is_brief && is_for_stream(problem)) return stream(exec, problem, factors);
    launch<true, false>(exec, problem, factors);
  }
  /// Interleaved systems of which a team has at least as many as memory moves at a time.
  bool is_for_registers() const {
    return !m_shape.periodic && m_interleaved.systems_in_registers(false) * sizeof(T) >= moved;
  }
  static constexpr std::size_t moved = 64;  // bytes that memory moves at a time
  /// Whether right-hand sides, as many as memory moves at a time, begin where that does.
  template <class Right>
  static bool is_aligned(const Vectors<Right>& v) {
    const auto strides = static_cast<std::size_t>(v.row_stride | v.slab_stride);
    return v.system_stride == 1 &&
           (reinterpret_cast<std::uintptr_t>(v.data) | strides * sizeof(T)) % moved == 0;
  }
  template <int rows>
  void in_registers(const Exec& exec, const Problem<T, W>& problem,
                    const Factors<T, W>& factors) const {
    using Kernel = SolveInRegisters<T, W, rows>;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<OnChip::registers_for(rows), 1>>;
    const int systems =
        m_interleaved.systems_in_registers(is_aligned(problem.b) && is_aligned(problem.x));
    const SystemTiles tiles(problem.slab(), systems);
    const int league = static_cast<int>(tiles.count(problem.count()));
    Kokkos::parallel_for(
        "Trikkos::factored::in_registers",
        light(Teams(exec, league, m_interleaved.threads(systems))
                  .set_scratch_size(
                      0, Kokkos::PerTeam(m_interleaved.scratch_bytes_in_registers(systems)))),
        Kernel{{factors, problem.b, problem.x, tiles, problem.diagnosis, m_interleaved, systems},
               std::countr_zero(static_cast<unsigned>(systems))});
  }
  /// Longer ones, of which fewer fit into scratch than make a line of memory, and than a team goes
  /// over twice, and there are enough of them.
  bool is_for_stream(const Problem<T, W>& problem) const {
    const int systems = StreamFactored<T>::systems_for(m_interleaved);
    return problem.slab() >= OnChip::line && problem.count() >= least_in_stream &&
           !m_shape.periodic && m_interleaved.systems(true) < systems;
  }
  void stream(const Exec& exec, const Problem<T, W>& problem, const Factors<T, W>& factors) const {
    using Stream = StreamFactored<T>;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Stream::registers_for, 1>>;
    const int systems = Stream::systems_for(m_interleaved);
    const SystemTiles tiles(problem.slab(), systems);
    const int league = static_cast<int>(tiles.count(problem.count()));
    Kokkos::parallel_for(
        "Trikkos::factored::stream",
        light(Teams(exec, league, Stream::threads)
                  .set_scratch_size(
                      0, Kokkos::PerTeam(Stream::scratch_bytes(m_interleaved, systems)))),
        Stream{{factors, problem.b, problem.x, tiles, problem.diagnosis, m_interleaved, systems}});
  }
  static constexpr std::int64_t least_in_stream = 1 << 13;

  template <bool Interleaved, bool by_weights>
  void launch(const Exec& exec, const Problem<T, W>& problem, const Factors<T, W>& factors) const {
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<OnChip::most_threads, 2 / W>>;
    const OnChip& shape = Interleaved ? m_interleaved : m_contiguous;
    const int systems = shape.systems(Interleaved);
    const SystemTiles tiles(problem.slab(), systems);
    const int league = static_cast<int>(tiles.count(problem.count()));
    // light last: the other way round nvcc spends a minute on the policy's type
    const auto policy = light(Kokkos::Experimental::prefer(
        Teams(exec, league, shape.threads(systems))
            .set_scratch_size(0, Kokkos::PerTeam(shape.scratch_bytes(systems))),
        Kokkos::Experimental::DesiredOccupancy(shape.desired_occupancy(
            systems, sizeof(T) * static_cast<std::size_t>(factors.words_on_chip(by_weights))))));
    Kokkos::parallel_for(
        "Trikkos::factored", policy,
        SolveFactored<T, Interleaved, W, by_weights>{
            {factors, problem.b, problem.x, tiles, problem.diagnosis, shape, systems}});
  }

  Stable m_stable;
  Shape m_shape;
  OnChip m_contiguous, m_interleaved;
};

/// In a kernel nothing is factored beforehand: it is `segmented` there.
template <>
struct FormsOf<Algorithm::factored> : FormsOf<Algorithm::segmented> {
  template <class T, class Exec, int W = 1>
  using Call = FactoredCall<T, Exec, W>;
};

}  // namespace Trikkos::Impl

#endif
