// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_PERF_HARNESS_HPP
#define TRIKKOS_PERF_HARNESS_HPP

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <Trikkos_Status.hpp>
#include <algorithm>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// What all benchmarks share: how a time is taken and what is reported with it.

namespace Perf {

using Exec = Kokkos::DefaultExecutionSpace;

inline constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Exec::memory_space>::accessible;

/// This program's own options; see README.md.
struct Settings {
  std::int64_t max_rows = std::numeric_limits<std::int64_t>::max();
  int samples = 15;
  bool cold_caches = true;
  std::int64_t out_of_core_rows = 0;  ///< 0: what a usual machine has memory for
  std::string matrices = {};          ///< a directory of Matrix Market files, or none
};

/// What a vectorised streaming kernel moves at once.
struct alignas(on_host ? 64 : 16) Pack {
  static constexpr int size = on_host ? 8 : 2;
  double v[size];
};

/// Reads `Reads` arrays and writes one: each of n packs, `stride` packs from one to the next.
template <int Reads>
struct Stream {
  Pack* data;
  std::int64_t stride;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    Pack sum{};
    for (int r = 0; r < Reads; ++r) {
      for (int k = 0; k < Pack::size; ++k) sum.v[k] += data[r * stride + i].v[k];
    }
    data[Reads * stride + i] = sum;
  }
  template <class Space>
  void launch(const Space& exec, std::int64_t n) const {
    Kokkos::parallel_for("Perf::Stream",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                         *this);
  }
};

/// Reads the buffer, each cache line of it.
struct ReadBuffer {
  Pack* data;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (data[i].v[0] != 0) data[i].v[0] = 0;  // never
  }
};

/// Seconds from the start of work to its end: on the device's clock if it has one we know.
template <class Space>
class Stopwatch {
 public:
  template <class Work>
  double seconds(const Space& exec, const Work& work) const {
    exec.fence("Perf::Stopwatch: start");
    const Kokkos::Timer timer;
    work();
    exec.fence("Perf::Stopwatch: stop");
    return timer.seconds();
  }
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Stopwatch<Kokkos::Cuda> {
 public:
  Stopwatch() {
    cudaEventCreate(&m_start);
    cudaEventCreate(&m_stop);
  }
  ~Stopwatch() {
    cudaEventDestroy(m_start);
    cudaEventDestroy(m_stop);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Does not wait before the start: the work is launched while the device is still busy.
  template <class Work>
  double seconds(const Kokkos::Cuda& exec, const Work& work) const {
    cudaEventRecord(m_start, exec.cuda_stream());
    work();
    cudaEventRecord(m_stop, exec.cuda_stream());
    cudaEventSynchronize(m_stop);
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, m_start, m_stop) != cudaSuccess) {
      Kokkos::abort("Perf::Stopwatch: a CUDA error");
    }
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t m_start{}, m_stop{};
};
#endif

/// In seconds.
struct Time {
  double median, fastest;
};

inline Time summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  return {(seconds[n / 2] + seconds[(n - 1) / 2]) / 2, seconds.front()};
}

/// The buffer that empties the caches of a machine.
template <class Space>
class Caches {
 public:
  Caches() = default;
  /// Small for few `rows`, a trial run. `sharers` of the same caches each have a part of it.
  explicit Caches(std::int64_t rows, int sharers = 1)
      : m_buffer(Kokkos::view_alloc("Perf::buffer", Kokkos::WithoutInitializing),
                 rows < 65536 ? (1 << 20) / sizeof(Pack) : bytes() / sharers / sizeof(Pack)) {}

  /// Writing leaves nothing else in the caches, reading leaves them clean: what is timed next does
  /// not pay for writing the buffer back. Asynchronous.
  void empty(const Space& exec) const {
    const auto n = static_cast<std::int64_t>(m_buffer.extent(0));
    Stream<0>{m_buffer.data(), 0}.launch(exec, n);
    Kokkos::parallel_for("Perf::read_buffer",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                         ReadBuffer{m_buffer.data()});
  }

 private:
  static std::int64_t bytes() {
    constexpr std::int64_t usual = 256 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>)
      return std::max<std::int64_t>(usual, 2 * sysconf(_SC_LEVEL3_CACHE_SIZE));
#endif
    return usual;
  }

  Kokkos::View<Pack*, Space> m_buffer;
};

/// Takes times. Owns the buffer that empties the caches and remembers the measured ceilings.
class Harness {
 public:
  explicit Harness(const Settings& settings) : m_settings(settings), m_caches(settings.max_rows) {}

  const Exec& exec() const { return m_exec; }
  const std::string& matrices() const { return m_settings.matrices; }

  /// The sizes to run: none above --trikkos_max_rows, none twice.
  std::vector<std::int64_t> sizes(std::initializer_list<std::int64_t> wanted) const {
    std::vector<std::int64_t> result;
    for (const std::int64_t n : wanted) {
      const std::int64_t rows = std::min(n, m_settings.max_rows);
      if (std::find(result.begin(), result.end(), rows) == result.end()) result.push_back(rows);
    }
    return result;
  }

  /// Of `outofcore`, where nothing else is said: `usual`.
  std::int64_t out_of_core_rows(std::int64_t usual) const {
    return std::min(m_settings.out_of_core_rows > 0 ? m_settings.out_of_core_rows : usual,
                    m_settings.max_rows);
  }

  /// The time of `work`, each time after `restore` and with cold caches, neither of them timed; two
  /// runs more to warm up.
  template <class Restore, class Work>
  Time time(const Restore& restore, const Work& work) const {
    return time_in(m_exec, restore, work);
  }
  /// The same for work in another execution space, whose caches are its own affair.
  template <class Space, class Restore, class Work>
  Time time_in(const Space& space, const Restore& restore, const Work& work) const {
    constexpr int warm_ups = 2;
    const Stopwatch<Space> stopwatch;
    std::vector<double> samples;
    for (int i = -warm_ups; i < m_settings.samples; ++i) {
      restore();
      if (m_settings.cold_caches) m_caches.empty(m_exec);
      const double seconds = stopwatch.seconds(space, work);
      if (i >= 0) samples.push_back(seconds);
    }
    return summary(samples);
  }

  /// The time of `work` with `solver`, a workspace, plan or batch made beforehand: nothing is
  /// allocated while the time is taken. \throws std::runtime_error unless its status is ok
  template <class Solver, class Work>
  Time time_of(const Solver& solver, const Work& work) const {
    const Time result = time([] {}, work);
    const Trikkos::Status status = solver.status(m_exec);
    if (!status) throw std::runtime_error(status.why());
    return result;
  }

  /// The time to read `Reads` arrays and write one, together `bytes` long.
  template <int Reads>
  Time stream_time(std::int64_t bytes) const {
    const std::int64_t n = packs(bytes, Reads + 1);
    const std::int64_t stride = n + 37;  // no two arrays at the same place of a page
    const Kokkos::View<Pack*, Exec> data(
        Kokkos::view_alloc(m_exec, "Perf::stream", Kokkos::WithoutInitializing),
        (Reads + 1) * stride);
    for (int r = 0; r <= Reads; ++r) Stream<0>{data.data() + r * stride, 0}.launch(m_exec, n);
    return time([] {}, [&] { Stream<Reads>{data.data(), stride}.launch(m_exec, n); });
  }
  /// What stream_time moves: `bytes` made a multiple of what it works with.
  static std::int64_t stream_bytes(std::int64_t bytes, int arrays) {
    return packs(bytes, arrays) * arrays * static_cast<std::int64_t>(sizeof(Pack));
  }

  /// Bytes per second at which a kernel that reads four arrays and writes one can move `bytes`:
  /// the ceiling for whoever works on arrays of this size. Measured once per size; the fastest time
  /// counts, so that what else goes on in the machine does not lower it.
  double ceiling(std::int64_t bytes) {
    const auto [entry, is_new] = m_ceilings.try_emplace(bytes, 0.0);
    if (is_new) {
      entry->second = static_cast<double>(stream_bytes(bytes, 5)) / stream_time<4>(bytes).fastest;
    }
    return entry->second;
  }

 private:
  static std::int64_t packs(std::int64_t bytes, int arrays) {
    return std::max<std::int64_t>(1, bytes / (arrays * static_cast<std::int64_t>(sizeof(Pack))));
  }

  Exec m_exec;
  Settings m_settings;
  Caches<Exec> m_caches;
  std::map<std::int64_t, double> m_ceilings;
};

/// True once a benchmark has failed: the exit status of the run.
inline bool& any_failed() {
  static bool failed = false;
  return failed;
}

/// Registers a benchmark whose `body` returns a Time: the median is reported, one iteration being
/// the whole measurement. An exception becomes the benchmark's error.
template <class Body>
void add(const std::string& name, const Body& body) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [body](benchmark::State& state) {
                                 for (auto _ : state) {
                                   try {
                                     const Time time = body(state);
                                     state.counters["fastest_ms"] = time.fastest * 1e3;
                                     state.SetIterationTime(time.median);
                                   } catch (const std::exception& error) {
                                     any_failed() = true;
                                     state.SkipWithError(error.what());
                                     break;
                                   }
                                 }
                               })
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

template <class V>
Kokkos::View<V*, Exec> on_device(const std::vector<V>& v) {
  const Kokkos::View<V*, Exec> r("Perf::on_device", v.size());
  Kokkos::deep_copy(
      r, Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(v.data(), v.size()));
  return r;
}

/// Adds the benchmarks of one file, where it stands at namespace scope:
///   const Perf::Registration registration([](Perf::Harness& harness) { ... add(...) ... });
class Registration {
 public:
  using Function = void (*)(Harness&);
  explicit Registration(Function function) { all().push_back(function); }
  static std::vector<Function>& all() {
    static std::vector<Function> functions;
    return functions;
  }
};

}  // namespace Perf

#endif
