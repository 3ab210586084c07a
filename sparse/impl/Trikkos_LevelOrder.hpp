// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LEVELORDER_HPP
#define TRIKKOS_IMPL_LEVELORDER_HPP

#include <impl/Trikkos_TriangleLevels.hpp>

/// \file
/// Rows sorted by level, those of a level in the order of elimination: a radix sort, stable, so the
/// same on every run.

namespace Trikkos::Impl {

/// One digit of the keys. Each chunk of items is counted, and moved, by one thread, in order: few
/// items for many threads, many for few.
template <bool on_host>
struct SortByDigit {
  static constexpr int bits = on_host ? 8 : 4, values = 1 << bits;
  static constexpr std::int64_t items_of_chunk = values;

  const std::int32_t* from;
  std::int32_t* to;
  const std::int32_t* key;  // of an item
  std::int32_t* place;      // of a digit's items of a chunk, digit by digit
  std::int64_t n, chunks;
  int shift;

  struct Count {};
  struct Move {};

  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t chunk) const {
    for_items(chunk, [&](std::int32_t item) { ++place[digit(item) * chunks + chunk]; });
  }
  KOKKOS_INLINE_FUNCTION void operator()(Move, std::int64_t chunk) const {
    for_items(chunk, [&](std::int32_t item) { to[place[digit(item) * chunks + chunk]++] = item; });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t digit(std::int32_t item) const {
    return (key[item] >> shift) & (values - 1);
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_items(std::int64_t chunk, const F& f) const {
    const std::int64_t end = Kokkos::min((chunk + 1) * items_of_chunk, n);
    for (std::int64_t p = chunk * items_of_chunk; p < end; ++p) f(from[p]);
  }
};

struct ListRows {
  RowOrder order;
  std::int32_t* row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const { row[p] = order[p]; }
};

struct FindMaximum {
  const std::int32_t* value;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int32_t& largest) const {
    if (value[i] > largest) largest = value[i];
  }
};

/// Items, which number keys, sorted by key; those of one key stay in order. Waits.
template <class Exec>
Array<std::int32_t, Exec> sort_by(const Exec& exec, Array<std::int32_t, Exec> items,
                                  const Array<std::int32_t, Exec>& key, std::int32_t largest) {
  using Pass = SortByDigit<is_host_v<Exec>>;
  const std::int64_t n = items.extent(0);
  const std::int64_t chunks = (n + Pass::items_of_chunk - 1) / Pass::items_of_chunk;
  const std::int64_t places = chunks * Pass::values;
  const auto place = new_array<std::int32_t>(exec, "place", places);
  auto sorted = new_array<std::int32_t>(exec, "sorted", n);
  for (int shift = 0; shift < 31 && largest >> shift > 0; shift += Pass::bits) {
    const Pass pass{items.data(), sorted.data(), key.data(), place.data(), n, chunks, shift};
    fill(exec, place.data(), places, 0);
    Kokkos::parallel_for("Trikkos::TriangularPlan::count_digits",
                         range<typename Pass::Count>(exec, chunks), pass);
    sum_up(exec, place.data(), places);
    Kokkos::parallel_for("Trikkos::TriangularPlan::sort", range<typename Pass::Move>(exec, chunks),
                         pass);
    std::swap(items, sorted);
  }
  exec.fence("Trikkos::TriangularPlan::sort");  // before what it worked in is freed
  return items;
}

/// Where levels begin.
struct FindLevels {
  const std::int32_t* row;
  const std::int32_t* level;
  std::int32_t* first;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int32_t mine = level[row[p]];
    if (p == 0 || level[row[p - 1]] != mine) first[mine] = static_cast<std::int32_t>(p);
  }
};

template <class Exec>
struct LevelOrder {
  Array<std::int32_t, Exec> row;    // by level
  std::vector<std::int32_t> first;  // of each level, and how many rows there are

  std::int64_t levels() const { return static_cast<std::int64_t>(first.size()) - 1; }
  std::int32_t width(std::int64_t l) const { return first[l + 1] - first[l]; }
};

/// Waits.
template <class Exec>
LevelOrder<Exec> order_by_level(const Exec& exec, RowOrder natural,
                                const Array<std::int32_t, Exec>& level) {
  const std::int64_t n = natural.n;
  std::int32_t largest = -1;
  Kokkos::parallel_reduce("Trikkos::TriangularPlan::count_levels", range(exec, n),
                          FindMaximum{level.data()}, Kokkos::Max<std::int32_t>(largest));
  exec.fence("Trikkos::TriangularPlan::count_levels");
  if (n == 0) largest = -1;

  Array<std::int32_t, Exec> rows = new_array<std::int32_t>(exec, "row", n);
  Kokkos::parallel_for("Trikkos::TriangularPlan::list", range(exec, n),
                       ListRows{natural, rows.data()});
  rows = sort_by(exec, rows, level, largest);

  const auto first = new_array<std::int32_t>(exec, "level_first", largest + 1);
  Kokkos::parallel_for("Trikkos::TriangularPlan::find_levels", range(exec, n),
                       FindLevels{rows.data(), level.data(), first.data()});
  LevelOrder<Exec> r{rows, std::vector<std::int32_t>(largest + 2)};
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if constexpr (is_host_v<Exec>)
    std::copy(first.data(), first.data() + first.extent(0), r.first.data());
  else
    Kokkos::deep_copy(
        exec,
        Kokkos::View<std::int32_t*, Kokkos::HostSpace, Unmanaged>(r.first.data(), first.extent(0)),
        first);
  exec.fence("Trikkos::TriangularPlan::find_levels");
  r.first.back() = static_cast<std::int32_t>(n);
  return r;
}

}  // namespace Trikkos::Impl

#endif
