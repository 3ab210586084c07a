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
        m_on_chip(on_chip(shape)) {
    m_shape.count = std::max<std::int64_t>(shape.count, 1);
  }

  /// Whether `automatic` should choose it.
  static bool is_for(const Shape& shape) {
    if (!shape.is_factored_once || shape.matrices != 1 || shape.n == 0) return false;
    if constexpr (on_host)
      return shape.count >= lane_count<T> && shape.n <= longest_on_host;
    else
      return on_chip(shape).chunks > 0;
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

  std::int64_t factor_words() const { return can_factor() ? factors(nullptr).words : 0; }
  bool factor(const Exec& exec, const Systems<T, W>& A, T* memory) const {
    if (!can_factor()) return false;
    Impl::factor<Bands<T, W>>(exec, A.first, factors(memory), "Trikkos::factored::factor");
    return judged(exec, factors(memory)) >=
           (on_host ? FactorsAre::stable : FactorsAre::stable_if_corrected);
  }
  void solve_factored(const Exec& exec, const Problem<T, W>& problem, T* memory) const {
    if (problem.resets)
      Kokkos::parallel_for("Trikkos::factored::reset", range(exec, 1),
                           ResetDiagnosis{problem.diagnosis});
    const Factors<T, W> factors = this->factors(memory);
    if constexpr (on_host) {
      using Kernel = SolveFactoredLanes<T, W>;
      const std::int64_t groups = Kernel::groups_of(std::min(problem.count(), m_shape.count));
      Kokkos::parallel_for("Trikkos::factored", range(exec, groups),
                           Kernel{factors, problem, groups});
    } else {
      constexpr int each = OnChip::most_of_thread;
      const bool interleaved =
          problem.count() > 1 && problem.b.system_stride < problem.b.row_stride;
      if constexpr (Factors<T, W>::has_chunks)
        if (is_for_registers())
          return interleaved ? in_registers(exec, problem, factors)
                             : contiguous<true>(exec, problem, factors);
      if constexpr (W == 1)
        if (interleaved && is_for_stream(problem)) return stream(exec, problem, factors);
      if (interleaved && m_on_chip.fits(each, each, m_on_chip.granted))
        launch<each, true, false>(exec, problem, factors);
      else
        contiguous<false>(exec, problem, factors);
    }
  }

 private:
  static OnChip on_chip(const Shape& shape) {
    if constexpr (on_host)
      return {};
    else
      return {shape.n, granted_scratch<Exec>()};
  }
  static constexpr std::int64_t longest_on_host = 8192;  // for which memory is taken by threads

  bool can_factor() const {
    return m_shape.is_factored_once && m_shape.matrices == 1 && m_shape.n > 0 &&
           (on_host || m_on_chip.chunks > 0);
  }
  Factors<T, W> factors(T* memory) const {
    return on_host ? Factors<T, W>::whole(m_shape.n, m_shape.periodic, memory)
                   : m_on_chip.factors(m_shape.periodic, memory);
  }
  /// Interleaved systems of which a team has at least as many as memory moves at a time.
  bool is_for_registers() const {
    return !m_shape.periodic && systems_in_registers(false) * sizeof(T) >= moved;
  }
  int systems_in_registers(bool by_halves) const {
    return m_on_chip.systems_in_registers(SolveInRegisters<T, W>::registers_for, by_halves);
  }
  static constexpr std::size_t moved = 64;  // bytes that memory moves at a time
  /// Whether right-hand sides, as many as memory moves at a time, begin where that does.
  template <class Right>
  static bool is_aligned(const Vectors<Right>& v) {
    const auto strides = static_cast<std::size_t>(v.row_stride | v.slab_stride);
    return v.system_stride == 1 &&
           (reinterpret_cast<std::uintptr_t>(v.data) | strides * sizeof(T)) % moved == 0;
  }
  void in_registers(const Exec& exec, const Problem<T, W>& problem,
                    const Factors<T, W>& factors) const {
    using Kernel = SolveInRegisters<T, W>;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Kernel::registers_for, 1>>;
    const int systems = systems_in_registers(is_aligned(problem.b) && is_aligned(problem.x));
    const SystemTiles tiles(problem.slab(), systems);
    const int league = static_cast<int>(tiles.count(problem.count()));
    Kokkos::parallel_for(
        "Trikkos::factored::in_registers",
        light(Teams(exec, league, m_on_chip.threads(systems, 1))
                  .set_scratch_size(
                      0, Kokkos::PerTeam(m_on_chip.scratch_bytes_in_registers(systems)))),
        Kernel{{factors, problem.b, problem.x, tiles, problem.diagnosis, m_on_chip, systems},
               std::countr_zero(static_cast<unsigned>(systems))});
  }
  /// Longer ones, of which fewer fit into scratch than make a line of memory, and than a team goes
  /// over twice, and there are enough of them.
  bool is_for_stream(const Problem<T, W>& problem) const {
    constexpr int line = 128 / sizeof(T);
    const int systems = StreamFactored<T>::systems_for(m_on_chip);
    return problem.slab() >= line && problem.count() >= least_in_stream && !m_shape.periodic &&
           m_on_chip.systems(true, OnChip::most_of_thread) < systems;
  }
  void stream(const Exec& exec, const Problem<T, W>& problem, const Factors<T, W>& factors) const {
    using Stream = StreamFactored<T>;
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Stream::registers_for, 1>>;
    const int systems = Stream::systems_for(m_on_chip);
    const SystemTiles tiles(problem.slab(), systems);
    const int league = static_cast<int>(tiles.count(problem.count()));
    Kokkos::parallel_for(
        "Trikkos::factored::stream",
        light(Teams(exec, league, Stream::threads)
                  .set_scratch_size(0, Kokkos::PerTeam(Stream::scratch_bytes(m_on_chip, systems)))),
        Stream{{factors, problem.b, problem.x, tiles, problem.diagnosis, m_on_chip, systems}});
  }
  static constexpr std::int64_t least_in_stream = 1 << 13;

  template <bool by_weights>
  void contiguous(const Exec& exec, const Problem<T, W>& problem,
                  const Factors<T, W>& factors) const {
    constexpr int each = OnChip::most_of_thread;
    if (m_on_chip.fits(each, each))
      launch<each, false, by_weights>(exec, problem, factors);
    else
      launch<1, false, by_weights>(exec, problem, factors);
  }
  template <int each, bool Interleaved, bool by_weights>
  void launch(const Exec& exec, const Problem<T, W>& problem, const Factors<T, W>& factors) const {
    using Teams = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<OnChip::most_threads, 2 / W>>;
    const int systems = m_on_chip.systems(Interleaved, each);
    const SystemTiles tiles(problem.slab(), systems);
    const int league = static_cast<int>(tiles.count(problem.count()));
    // light last: the other way round nvcc spends a minute on the policy's type
    const auto policy = light(Kokkos::Experimental::prefer(
        Teams(exec, league, m_on_chip.threads(systems, each))
            .set_scratch_size(0, Kokkos::PerTeam(m_on_chip.scratch_bytes(systems))),
        Kokkos::Experimental::DesiredOccupancy(m_on_chip.desired_occupancy(
            systems, each,
            sizeof(T) * static_cast<std::size_t>(factors.words_on_chip(by_weights))))));
    Kokkos::parallel_for(
        "Trikkos::factored", policy,
        SolveFactored<T, each, Interleaved, W, by_weights>{
            {factors, problem.b, problem.x, tiles, problem.diagnosis, m_on_chip, systems}});
  }

  Stable m_stable;
  Shape m_shape;
  OnChip m_on_chip;
};

/// In a kernel nothing is factored beforehand: it is `segmented` there.
template <>
struct FormsOf<Algorithm::factored> : FormsOf<Algorithm::segmented> {
  template <class T, class Exec, int W = 1>
  using Call = FactoredCall<T, Exec, W>;
};

}  // namespace Trikkos::Impl

#endif
