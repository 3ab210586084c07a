// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_HOSTLINK_HPP
#define TRIKKOS_IMPL_HOSTLINK_HPP

#include <Trikkos_Concepts.hpp>
#include <impl/Trikkos_CopyWindow.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <optional>
#include <utility>

/// \file
/// Chunks of arrays between the host and a device.

namespace Trikkos {

/// Bytes that a solve moves between host and device.
struct LinkTraffic {
  std::int64_t to_device = 0, to_host = 0;
};

namespace Impl {

/// An array on the host.
template <class T>
struct ArrayOnHost {
  Vectors<T> at;
  bool is_pinned;  // the device copies by itself, while the host goes on
};

/// Whether memory of the host is pinned, by its View's type or by the user (cudaHostRegister).
template <class Memory>
bool is_pinned(const void* data) {
  if constexpr (!std::is_same_v<Memory, Kokkos::HostSpace>) return true;
#ifdef KOKKOS_ENABLE_CUDA
  cudaPointerAttributes attributes;
  if (data != nullptr && cudaPointerGetAttributes(&attributes, data) == cudaSuccess)
    return attributes.type != cudaMemoryTypeUnregistered;
  cudaGetLastError();  // not to be found by others
#endif
  static_cast<void>(data);
  return false;
}
template <class T, class View>
ArrayOnHost<T> array_on_host(const View& v) {
  return {vectors<T>(v), is_pinned<typename View::memory_space>(v.data())};
}

/// Rows of systems in an array.
struct Window2D {
  std::int64_t system, systems, row, rows;

  std::int64_t count() const { return systems * rows; }
};

/// An execution space instance, and the memory through which it gets arrays that it cannot copy as
/// they lie: pageable ones, and those whose rows or systems are far apart. Threads of the host copy
/// these. Copies in both directions and kernels are in the order of the calls.
template <class T, class Exec>
class HostLink {
 public:
  explicit HostLink(const Exec& exec) : m_exec(exec) {}

  const Exec& exec() const { return m_exec; }
  const LinkTraffic& traffic() const { return m_traffic; }
  void clear_traffic() { m_traffic = {}; }
  std::size_t staging_bytes() const { return sizeof(T) * m_staging.size(); }

  /// Before the copies of a chunk of `words` values in all: waits where the memory is in use.
  void begin(std::int64_t words) {
    m_words = words;
    m_taken = 0;
    if (m_is_busy) finish();
  }
  /// Copies to the device; how the array lies there.
  Vectors<T> load(const ArrayOnHost<const T>& from, const Window2D& w, T* to) {
    if (w.count() == 0) return {to, w.rows, 1};
    m_traffic.to_device += bytes(w);
    const bool by_system = is_by_system(from.at, w);
    const Vectors<T> there = packed(to, w, by_system);
    if (const std::optional<Pieces> pieces = this->pieces(from, w, by_system)) {
      const Vectors<const T>& v = from.at;
      for (std::int64_t k = 0; k < pieces->count; ++k)
        copy_in(to + k * pieces->words,
                &v[w.system + (by_system ? k : 0)][w.row + (by_system ? 0 : k)], pieces->words);
    } else if constexpr (is_host_v<Exec>) {
      copy_window(m_exec, from.at, there, w, true, by_system);
    } else {
      T* const staged = stage(w);
      copy_window(m_host, from.at, packed(staged, w, by_system), w, true, by_system);
      m_host.fence("Trikkos::OutOfCore: a chunk is in pinned memory");
      copy_in(to, staged, w.count());
    }
    return there;
  }
  /// And back from there, behind all that was launched before. Where it goes through the memory of
  /// this link it arrives with the next `finish`.
  void store(const Vectors<T>& from, const ArrayOnHost<T>& to, const Window2D& w) {
    if (w.count() == 0) return;
    m_traffic.to_host += bytes(w);
    const bool by_system = from.row_stride == 1;
    const std::optional<Pieces> pieces = is_by_system(to.at, w) == by_system || w.systems == 1
                                             ? this->pieces(to, w, by_system)
                                             : std::nullopt;
    if (pieces) {
      const Vectors<T>& v = to.at;
      for (std::int64_t k = 0; k < pieces->count; ++k)
        copy_out(&v[w.system + (by_system ? k : 0)][w.row + (by_system ? 0 : k)],
                 from.data + k * pieces->words, pieces->words);
    } else if constexpr (is_host_v<Exec>) {
      copy_window(m_exec, from.read_only(), to.at, w, false, is_by_system(to.at, w));
    } else {
      if (m_arriving) finish();  // of a chunk before, in the same memory
      m_taken = 0;               // what was loaded has left it by then
      T* const staged = stage(w);
      copy_out(staged, from.data, w.count());
      m_arriving = {packed(staged, w, by_system).read_only(), to.at, w};
    }
  }
  /// Waits for all that was launched here.
  void finish() {
    m_exec.fence("Trikkos::OutOfCore: a chunk is done");
    m_is_busy = false;
    if (!m_arriving) return;
    const auto& [from, to, w] = *m_arriving;
    copy_window(m_host, from, to, w, false, is_by_system(to, w));
    m_host.fence("Trikkos::OutOfCore: a chunk of x is in place");
    m_arriving.reset();
  }

 private:
  using HostExec = std::conditional_t<is_host_v<Exec>, Exec, Kokkos::DefaultHostExecutionSpace>;
  template <class E>
  struct Pinned {
    using type = Kokkos::HostSpace;
  };
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
  template <class E>
  requires(!is_host_v<E>) struct Pinned<E> {
    using type = Kokkos::SharedHostPinnedSpace;
  };
#endif
  using Staging = Kokkos::View<T*, typename Pinned<Exec>::type>;

  /// Contiguous on both sides, one behind the other on the device.
  struct Pieces {
    std::int64_t count, words;
  };
  struct Arriving {
    Vectors<const T> from;
    Vectors<T> to;
    Window2D window;
  };

  static std::int64_t bytes(const Window2D& w) {
    return static_cast<std::int64_t>(sizeof(T)) * w.count();
  }
  /// Whether neighbours in memory are rows, rather than systems.
  template <class U>
  static bool is_by_system(const Vectors<U>& v, const Window2D& w) {
    return w.systems == 1 || v.slab != one_slab || v.row_stride <= v.system_stride;
  }
  static Vectors<T> packed(T* data, const Window2D& w, bool by_system) {
    if (by_system) return {data, w.rows, 1};
    return {data, 1, w.systems};
  }
  /// None where it is cheaper to have the host copy.
  template <class U>
  std::optional<Pieces> pieces(const ArrayOnHost<U>& a, const Window2D& w, bool by_system) const {
    constexpr std::int64_t least_bytes = 64 << 10;  // a copy has a latency of some microseconds
    if (!a.is_pinned && !is_host_v<Exec>) return {};
    const Vectors<U>& v = a.at;
    const std::int64_t inner = by_system ? w.rows : w.systems;
    const std::int64_t outer = by_system ? w.systems : w.rows;
    if ((by_system ? v.row_stride : v.system_stride) != 1 && inner > 1) return {};
    const bool is_one = (by_system ? v.system_stride : v.row_stride) == inner && v.slab == one_slab;
    if (outer == 1 || is_one) return Pieces{1, inner * outer};
    if (inner * static_cast<std::int64_t>(sizeof(T)) >= least_bytes) return Pieces{outer, inner};
    return {};
  }

  T* stage(const Window2D& w) {
    if (static_cast<std::int64_t>(m_staging.extent(0)) < m_words)
      m_staging = Staging(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "Trikkos::OutOfCore::staging"), m_words);
    m_is_busy = true;
    T* const part = m_staging.data() + m_taken;
    m_taken += w.count();
    return part;
  }
  // Contiguous, in the order of what this instance does; the host does not wait where its memory is
  // pinned.
  template <class Memory, class U>
  static auto as_view(U* data, std::int64_t count) {
    return Kokkos::View<U*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(data, count);
  }
  void copy_in(T* to, const T* from, std::int64_t count) const {
    Kokkos::deep_copy(m_exec, as_view<typename Exec::memory_space>(to, count),
                      as_view<Kokkos::HostSpace>(from, count));
  }
  void copy_out(T* to, const T* from, std::int64_t count) const {
    Kokkos::deep_copy(m_exec, as_view<Kokkos::HostSpace>(to, count),
                      as_view<typename Exec::memory_space>(from, count));
  }
  /// `from` or, else, `to` is what the window is of; the other is packed. By rows, or by systems,
  /// as neighbours lie in the user's array.
  template <class E>
  static void copy_window(const E& exec, Vectors<const T> from, Vectors<T> to, const Window2D& w,
                          bool is_of_from, bool by_system) {
    CopyWindow<T> kernel{from,
                         to,
                         is_of_from ? w.system : 0,
                         is_of_from ? w.row : 0,
                         is_of_from ? 0 : w.system,
                         is_of_from ? 0 : w.row,
                         w.rows};
    if (!by_system) {
      std::swap(kernel.from.system_stride, kernel.from.row_stride);
      std::swap(kernel.to.system_stride, kernel.to.row_stride);
      std::swap(kernel.from_system, kernel.from_row);
      std::swap(kernel.to_system, kernel.to_row);
      kernel.rows = w.systems;
    }
    const auto is_one_piece = [&](const auto& v) {
      return v.slab == one_slab && v.row_stride == 1 && v.system_stride == kernel.rows;
    };
    if (is_one_piece(kernel.from) && is_one_piece(kernel.to)) {  // no divisions then
      kernel.from_row += std::exchange(kernel.from_system, 0) * kernel.rows;
      kernel.to_row += std::exchange(kernel.to_system, 0) * kernel.rows;
      kernel.rows = w.count();
    }
    Kokkos::parallel_for("Trikkos::OutOfCore::copy", range(exec, w.count()), kernel);
  }

  Exec m_exec;
  HostExec m_host;
  Staging m_staging;
  std::int64_t m_words = 0, m_taken = 0;
  bool m_is_busy = false;
  std::optional<Arriving> m_arriving;
  LinkTraffic m_traffic;
};

}  // namespace Impl
}  // namespace Trikkos

#endif
