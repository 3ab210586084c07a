// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_BLOCKSOFINVERSE_HPP
#define TRIKKOS_IMPL_BLOCKSOFINVERSE_HPP

#include <Trikkos_Concepts.hpp>
#include <array>
#include <string>
#include <vector>

namespace Trikkos::Impl {

/// Blocks of rows on their way to the host: two are under way, each in an instance of its own.
template <class T, class Exec>
class BlocksOfInverse {
  using Device = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;
  using Host = Kokkos::View<
      T**, Kokkos::LayoutRight,
      std::conditional_t<is_host_v<Exec>, Kokkos::HostSpace, Kokkos::SharedHostPinnedSpace>>;
  /// Of one after the other.
  struct Lane {
    Exec exec;
    Device device;
    Host host;
    std::int64_t first = 0, rows = 0;  // none: nothing is under way
  };

 public:
  BlocksOfInverse(const Exec& exec, std::int64_t rows, std::int64_t n) {
    exec.fence("Trikkos::inverse_in_blocks: generators");
    if constexpr (is_host_v<Exec>) {
      const Host host = array<Host>(rows, n);
      m_lanes.push_back({exec, host, host});
    } else {
      for (const Exec& e : Kokkos::Experimental::partition_space(exec, std::vector<int>{1, 1}))
        m_lanes.push_back({e, array<Device>(rows, n), array<Host>(rows, n)});
    }
  }

  /// write(instance, view) makes the block; `use` has an earlier one meanwhile.
  template <class Write, class Use>
  void add(std::int64_t first, std::int64_t rows, const Write& write, const Use& use) {
    Lane& lane = m_lanes[m_next];
    hand_over(lane, use);
    lane.first = first;
    lane.rows = rows;
    write(lane.exec, part(lane.device, rows));
    if constexpr (!is_host_v<Exec>)
      Kokkos::deep_copy(lane.exec, part(lane.host, rows), part(lane.device, rows));
    m_next = (m_next + 1) % m_lanes.size();
  }
  template <class Use>
  void finish(const Use& use) {
    for (std::size_t k = 0; k < m_lanes.size(); ++k)
      hand_over(m_lanes[(m_next + k) % m_lanes.size()], use);
  }

 private:
  template <class View>
  static View array(std::int64_t rows, std::int64_t n) {
    return View(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("Trikkos::inverse_in_blocks")),
        rows, n);
  }
  template <class View>
  static View part(const View& v, std::int64_t rows) {
    return Kokkos::subview(v, Kokkos::make_pair(std::int64_t(0), rows), Kokkos::ALL);
  }
  template <class Use>
  static void hand_over(Lane& lane, const Use& use) {
    if (lane.rows == 0) return;
    lane.exec.fence("Trikkos::inverse_in_blocks: a block");
    use(lane.first, part(lane.host, lane.rows));
    lane.rows = 0;
  }

  std::vector<Lane> m_lanes;
  std::size_t m_next = 0;
};

}  // namespace Trikkos::Impl

#endif
