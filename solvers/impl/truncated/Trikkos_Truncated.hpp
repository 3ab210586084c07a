// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRUNCATED_HPP
#define TRIKKOS_IMPL_TRUNCATED_HPP

#include <impl/segmented/Trikkos_Segmented.hpp>
#include <impl/truncated/Trikkos_HostWindows.hpp>
#include <impl/truncated/Trikkos_LookFirst.hpp>
#include <impl/truncated/Trikkos_WindowsAndSegments.hpp>
#include <impl/truncated/Trikkos_WindowsOfEach.hpp>
#include <limits>

namespace Trikkos::Impl {

/// `Algorithm::truncated` as a host call: windows, the verdict on them, and behind it `segmented`,
/// whose kernels return at once where windows agree. On a device also of many systems that lie one
/// behind the other, each of which is judged by itself.
///
/// That second way needs b, so where x is b nothing may be written before windows have agreed:
/// there, `segmented` solves from the start. It does as well where matrices are read only once
/// anyway (systems in SIMD lanes or on chip), for interleaved systems and those of one matrix, for
/// rings, and where one window holds all.
///
/// `automatic` calls it for long systems, and then looks at matrices before (LookFirst.hpp); for
/// shorter ones on a device, whose first pass does for both, it need not.
template <class T, class Exec>
class Truncated {
 public:
  Truncated(const Shape& shape, const Options& options)
      : m_segmented(shape, second_options(shape, options)),
        m_windows(shape.n, options),
        m_samples(options.algorithm() == Algorithm::automatic ? overlap_of<T>(options) : 0),
        m_has_overlap(options.truncated().overlap != 0),
        m_of_many(shape.count > 1),
        m_cuts((!m_of_many || (!is_host_v<Exec> && shape.matrices == shape.count)) &&
               !m_segmented.is_one_pass() && m_windows.count() > 1 &&
               m_windows.count() < std::numeric_limits<int>::max()) {}

  /// Whether `automatic` calls it.
  static bool is_for(const Shape& shape, const Options& options) {
    constexpr std::int64_t least = has_short ? 4096 : least_looked_at;
    constexpr std::int64_t least_of_many = std::int64_t(1) << 23;
    if (options.algorithm() != Algorithm::automatic || options.partition_size() != 0) return false;
    if (shape.count == 1) return shape.n >= least;
    return shape.count * shape.n >= least_of_many && !shape.interleaved &&
           Truncated(shape, options).m_cuts;
  }

  std::int64_t storage_words() const {
    if (!m_cuts) return m_segmented.storage_words();
    if constexpr (is_host_v<Exec>)
      return std::max(m_windows.storage_words(), m_segmented.storage_words());
    else
      return m_segmented.storage_words() +
             std::max(WindowLists::words_for<T>(1), words_of_short_ones());
  }
  std::int64_t shared_words() const {
    return std::max(m_segmented.shared_words(), m_cuts ? own_words() : 0);
  }
  std::int64_t parallel_items() const { return m_segmented.parallel_items(); }
  static constexpr std::int64_t at_once = Partitioned<T, Exec, OrthogonalCarry>::at_once;
  std::int64_t at_least() const {
    if constexpr (requires { m_segmented.at_least(); })
      return m_segmented.at_least();
    else
      return 1;
  }

  void solve(const Exec& exec, const Problem<T>& problem) const {
    if (!m_cuts || problem.A.first.periodic || problem.b.data == problem.x.data)
      return m_segmented.solve(exec, problem);
    auto* const refused = reinterpret_cast<Wanted*>(problem.storage);
    Problem<T> second = problem;
    second.storage = problem.storage + shared_words();
    second.resets = false;
    if constexpr (is_host_v<Exec>) {
      Wanted* const tried = refused + 1;
      LookFirst<T, TryOrRefuse>{problem, m_samples, {tried, refused}}.launch(exec);
      m_windows.launch(exec, problem, OnlyIf{tried}, refused, problem.storage + line,
                       second.storage);
      m_segmented.passes().solve(exec, second, OnlyIf{refused});
    } else {
      if (m_of_many && is_interleaved(problem)) return m_segmented.solve(exec, problem);
      if constexpr (has_short) {
        const WindowsAndSegments<T, Exec> both(m_segmented.passes());
        if (!m_has_overlap && both.is_for(problem)) {
          second.resets = problem.resets;
          return both.solve(exec, second, m_samples == 0);
        }
        if (m_samples > 0 && !m_of_many && problem.n() < least_looked_at)
          return m_segmented.solve(exec, problem);
      }
      solve_each_in_windows(exec, m_windows, m_samples, m_segmented.passes(), problem, second,
                            refused, m_segmented.passes().takes_two_turns(exec));
    }
  }
  /// Without windows.
  const Partitioned<T, Exec, OrthogonalCarry>& second_way() const { return m_segmented; }

 private:
  /// One system on a device that has few windows, unless their overlap is given: whatever the
  /// matrix.
  static constexpr bool has_short = !is_host_v<Exec> && std::is_floating_point_v<T>;
  /// Rows of one system, from which on a look costs less than windows gain, where they do.
  static constexpr std::int64_t least_looked_at =
      std::int64_t(1) << (is_host_v<Exec> || sizeof(Real<T>) == 8 ? 16 : 17);
  static constexpr std::int64_t line = 64 / sizeof(T);
  static_assert(2 * sizeof(Wanted) <= 64);

  struct TryOrRefuse {
    Wanted *tried, *refused;

    KOKKOS_FORCEINLINE_FUNCTION void operator()(bool is_likely) const {
      tried->set(is_likely);
      refused->set(!is_likely);
    }
  };

  /// Many systems that have no windows in the end are solved as `automatic` would without them.
  static Options second_options(const Shape& shape, const Options& options) {
    const bool is_free = options.algorithm() == Algorithm::automatic && shape.count > 1;
    return is_free ? options : Options(options).algorithm(Algorithm::segmented);
  }
  std::int64_t words_of_short_ones() const {
    if constexpr (has_short)
      return WindowsAndSegments<T, Exec>(m_segmented.passes()).storage_words();
    else
      return 0;
  }
  /// Two words, and on a host the opinions, up to the next cache line.
  std::int64_t own_words() const {
    if constexpr (is_host_v<Exec>)
      return line + (m_windows.opinion_words() + line - 1) / line * line;
    else
      return line;
  }

  Partitioned<T, Exec, OrthogonalCarry> m_segmented;
  std::conditional_t<is_host_v<Exec>, HostWindows<T>, DeviceWindows<T>> m_windows;
  std::int64_t m_samples;
  bool m_has_overlap, m_of_many, m_cuts;
};

template <>
struct FormsOf<Algorithm::truncated> : FormsOf<Algorithm::segmented> {
  template <class T, class Exec>
  using Call = Truncated<T, Exec>;
};

}  // namespace Trikkos::Impl

#endif
