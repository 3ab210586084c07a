// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SLABS_HPP
#define TRIKKOS_IMPL_SLABS_HPP

#include <algorithm>
#include <impl/Trikkos_Launch.hpp>
#include <string>
#include <vector>

/// \file
/// Many arrays in few allocations: each of those of a device waits for it, and so does its end.

namespace Trikkos::Impl {

/// With memory of its own, or a piece of a slab.
template <class T, class Exec>
using Array = Kokkos::View<T*, typename Exec::memory_space>;

/// Memory that arrays are cut from. They live as long as it does, or a copy of it.
template <class Exec>
class Slabs {
 public:
  explicit Slabs(const char* what) : m_label(std::string("Trikkos::TriangularPlan::") + what) {}

  /// What an array takes.
  template <class T>
  static std::int64_t bytes_of(std::int64_t count) {
    constexpr std::int64_t line = 256;  // of a device's memory
    return (count * static_cast<std::int64_t>(sizeof(T)) + line - 1) / line * line;
  }
  /// Allocates, unless a slab has room for so many bytes.
  void reserve(const Exec& exec, std::int64_t bytes) {
    if (slab_with(bytes) == m_slabs.end())
      m_slabs.push_back(
          {Array<char, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, m_label), bytes),
           0});
  }
  /// Not initialized.
  template <class T>
  Array<T, Exec> array(const Exec& exec, std::int64_t count) {
    if (count == 0) return {};
    constexpr std::int64_t least = 1 << 16;  // of a slab that nobody has reserved
    const std::int64_t bytes = bytes_of<T>(count);
    if (slab_with(bytes) == m_slabs.end()) reserve(exec, std::max(bytes, least));
    Slab& slab = *slab_with(bytes);
    char* const at = slab.memory.data() + slab.used;
    slab.used += bytes;
    return Array<T, Exec>(reinterpret_cast<T*>(at), count);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Slab& slab : m_slabs) sum += slab.memory.extent(0);
    return sum;
  }

 private:
  struct Slab {
    Array<char, Exec> memory;
    std::int64_t used;
  };
  auto slab_with(std::int64_t room) {
    return std::find_if(m_slabs.begin(), m_slabs.end(), [&](const Slab& slab) {
      return slab.used + room <= static_cast<std::int64_t>(slab.memory.extent(0));
    });
  }

  std::string m_label;
  std::vector<Slab> m_slabs;
};

// ---- initial values

template <class T>
struct Fill {
  T* to;
  std::int64_t count;
  T value;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < count) to[i] = value;
  }
};
template <class T, class... Properties>
Fill<T> filled(const Kokkos::View<T*, Properties...>& array, const T& value) {
  return {array.data(), static_cast<std::int64_t>(array.extent(0)), value};
}

/// One launch for two or more loops of which none needs another.
template <class First, class Second>
struct Both {
  First first;
  Second second;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    first(i);
    second(i);
  }
};
template <class Loop>
Loop all_of(const Loop& loop) {
  return loop;
}
template <class First, class... Rest>
auto all_of(const First& first, const Rest&... rest) {
  return Both<First, decltype(all_of(rest...))>{first, all_of(rest...)};
}

/// Loops, each of which ends itself after `count` items.
template <class Exec, class... Loop>
void launch_all(const Exec& exec, const char* label, const Loop&... loops) {
  Kokkos::parallel_for(label, range(exec, std::max({loops.count...})), all_of(loops...));
}
template <class Exec, class... T>
void fill(const Exec& exec, const Fill<T>&... fills) {
  launch_all(exec, "Trikkos::TriangularPlan::fill", fills...);
}

/// An array with memory of its own.
template <class T, class Exec>
Array<T, Exec> new_array(const Exec& exec, const char* what, std::int64_t count) {
  const std::string label = std::string("Trikkos::TriangularPlan::") + what;
  return Array<T, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), count);
}
template <class T, class Exec>
Array<T, Exec> new_array(const Exec& exec, const char* what, std::int64_t count, const T& value) {
  const auto r = new_array<T>(exec, what, count);
  fill(exec, filled(r, value));
  return r;
}

}  // namespace Trikkos::Impl

#endif
