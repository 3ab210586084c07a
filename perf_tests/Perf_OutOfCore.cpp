// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Trikkos_OutOfCore.hpp>
#include <cmath>

#include "Perf_Problem.hpp"

/// \file
/// Systems in the memory of the host, beside copies of as many bytes both ways at once.

namespace {

using Perf::Exec;
using Perf::Harness;

using T = double;
using HostExec = Kokkos::DefaultHostExecutionSpace;

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using Pinned = Kokkos::SharedHostPinnedSpace;
#else
using Pinned = Kokkos::HostSpace;
#endif

enum class Memory { pinned, pageable };
constexpr const char* name(Memory memory) {
  return memory == Memory::pinned ? "pinned" : "pageable";
}
template <class Space>
using HostVector = Kokkos::View<T*, Space>;

/// Numbers in (-1, 1) that depend on the row alone.
struct Fill {
  T* data;
  std::uint64_t seed;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::uint64_t z = (seed << 40) + static_cast<std::uint64_t>(i) + 1;
    z *= 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    data[i] = static_cast<T>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
  }
};
template <class Space>
HostVector<Space> filled(std::int64_t n, std::uint64_t seed) {
  const HostVector<Space> v(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Perf::host"), n);
  Kokkos::parallel_for("Perf::fill",
                       Kokkos::RangePolicy<HostExec, Kokkos::IndexType<std::int64_t>>(0, n),
                       Fill{v.data(), seed});
  HostExec().fence("Perf::fill");
  return v;
}

/// Bytes that a solve moves, and no work: in pieces, each way on an instance of its own.
class BothWays {
 public:
  BothWays(const Exec& exec, const Trikkos::LinkTraffic& traffic)
      : m_instances(partition(exec)),
        m_in(words(traffic.to_device)),
        m_out(words(traffic.to_host)),
        m_host_in(filled<Pinned>(std::min(m_in, most), 1)),
        m_host_out(filled<Pinned>(std::min(m_out, most), 2)),
        m_device_in("Perf::in", std::min(m_in, piece)),
        m_device_out("Perf::out", std::min(m_out, piece)) {}

  void operator()() const {
    for (std::int64_t at = 0; at < std::max(m_in, m_out); at += piece) {
      if (at < m_in) copy(m_instances[0], m_device_in, m_host_in, true, at, m_in);
      // the way back has less to do, and as much time
      const auto share = static_cast<std::int64_t>(
          static_cast<double>(m_out) / static_cast<double>(std::max<std::int64_t>(m_in, 1)) *
          static_cast<double>(at));
      if (share < m_out) {
        const std::int64_t next = std::min(m_out, share + piece * m_out / std::max(m_in, m_out));
        copy(m_instances[1], m_device_out, m_host_out, false, share, next);
      }
    }
    for (const Exec& exec : m_instances) exec.fence("Perf::BothWays");
  }

 private:
  static constexpr std::int64_t piece = (std::int64_t(32) << 20) / sizeof(T);
  static constexpr std::int64_t most = (std::int64_t(4) << 30) / sizeof(T);  // then again

  static std::vector<Exec> partition(const Exec& exec) {
    if constexpr (Perf::on_host)
      return {exec, exec};
    else
      return Kokkos::Experimental::partition_space(exec, std::vector<double>(2, 1));
  }
  static std::int64_t words(std::int64_t bytes) {
    return bytes / static_cast<std::int64_t>(sizeof(T));
  }
  static void copy(const Exec& exec, const HostVector<Exec>& device, const HostVector<Pinned>& host,
                   bool to_device, std::int64_t first, std::int64_t end) {
    const std::int64_t count =
        std::min({piece, end - first, static_cast<std::int64_t>(host.extent(0))});
    if (count <= 0) return;
    const auto size = static_cast<std::int64_t>(host.extent(0));
    const std::int64_t at = std::min(first % size, size - count);
    const auto there = Kokkos::subview(device, Kokkos::pair<std::int64_t, std::int64_t>(0, count));
    const auto here =
        Kokkos::subview(host, Kokkos::pair<std::int64_t, std::int64_t>(at, at + count));
    if (to_device)
      Kokkos::deep_copy(exec, there, here);
    else
      Kokkos::deep_copy(exec, here, there);
  }

  std::vector<Exec> m_instances;
  std::int64_t m_in, m_out;
  HostVector<Pinned> m_host_in, m_host_out;
  HostVector<Exec> m_device_in, m_device_out;
};

/// Seconds for as many bytes, measured once.
double copy_seconds(const Harness& harness, const Trikkos::LinkTraffic& traffic) {
  static std::map<std::pair<std::int64_t, std::int64_t>, double> measured;
  const auto [entry, is_new] =
      measured.try_emplace(std::pair(traffic.to_device, traffic.to_host), 0.0);
  if (is_new) {
    const BothWays both(harness.exec(), traffic);
    entry->second = harness.time([] {}, both).fastest;
  }
  return entry->second;
}

/// `systems` of `n` rows, one behind the other. `limit`: bytes of the device.
struct Case {
  std::int64_t n, systems;
  std::size_t limit;
  std::int64_t unknowns() const { return n * systems; }
};

template <class Space>
Perf::Time run(benchmark::State& state, const Harness& harness, const Case& c) {
  const std::int64_t n = c.unknowns();
  const auto lower = filled<Space>(n, 1), diag = filled<Space>(n, 2), upper = filled<Space>(n, 3),
             b = filled<Space>(n, 4), x = filled<Space>(n, 5);
  const auto solve = [&](const auto& A, const auto& b_, const auto& x_) {
    Trikkos::OutOfCore out(harness.exec(), A, b_, {.memory_limit = c.limit});
    Trikkos::Status status;
    const Perf::Time time = harness.time([] {}, [&] { status = Trikkos::solve(out, A, b_, x_); });
    if (!status) throw std::runtime_error(status.why());
    const double eta = Trikkos::backward_error(HostExec(), A, x_, b_);
    if (!(eta <= Perf::tolerated<T>)) throw std::runtime_error("a large backward error");
    const Trikkos::LinkTraffic traffic = out.traffic();
    const double copies = copy_seconds(harness, traffic);
    state.counters["ns/row"] = 1e9 * time.median / static_cast<double>(n);
    state.counters["to_device_GB"] = 1e-9 * static_cast<double>(traffic.to_device);
    state.counters["to_host_GB"] = 1e-9 * static_cast<double>(traffic.to_host);
    state.counters["GB/s"] =
        1e-9 * static_cast<double>(traffic.to_device + traffic.to_host) / time.median;
    state.counters["copies_ms"] = 1e3 * copies;
    state.counters["of_copies"] = copies / time.median;
    state.counters["chunks"] = static_cast<double>(out.chunk_count());
    state.counters["eta"] = eta;
    return time;
  };
  if (c.systems == 1) return solve(Trikkos::Tridiagonal{lower, diag, upper}, b, x);
  const auto array = [&](const HostVector<Space>& v) {
    return Kokkos::View<T**, Kokkos::LayoutRight, Space>(v.data(), c.systems, c.n);
  };
  return solve(Trikkos::Tridiagonal{array(lower), array(diag), array(upper)}, array(b), array(x));
}

void add(Harness& harness, const std::string& limit_name, Memory memory, const Case& c) {
  const std::string rows = c.systems == 1
                               ? "one:" + std::to_string(c.n)
                               : "batch:" + std::to_string(c.systems) + "x" + std::to_string(c.n);
  Perf::add("outofcore/double/" + rows + "/" + name(memory) + "/" + limit_name,
            [&harness, c, memory](benchmark::State& state) {
              return memory == Memory::pinned ? run<Pinned>(state, harness, c)
                                              : run<Kokkos::HostSpace>(state, harness, c);
            });
}

const Perf::Registration registration([](Harness& harness) {
  const std::int64_t rows =
      harness.out_of_core_rows(Perf::on_host ? std::int64_t(1) << 22 : std::int64_t(1) << 28);
  const auto bytes = static_cast<std::size_t>(rows) * sizeof(T);
  constexpr std::size_t kib = 1 << 10, gib = 1 << 30;
  const std::size_t all = 6 * bytes, some = std::clamp(bytes, 64 * kib, gib);
  const std::int64_t n = std::min<std::int64_t>(rows, 4096);
  for (const Memory memory : {Memory::pinned, Memory::pageable}) {
    add(harness, "two_passes", memory, {rows, 1, some});
    add(harness, "stays", memory, {rows, 1, all});
    add(harness, "one_pass", memory, {n, rows / n, std::clamp(bytes, 1024 * kib, gib)});
  }
});

}  // namespace
