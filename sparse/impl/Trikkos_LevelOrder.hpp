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

  RowOrder natural;
  const std::int32_t* from;  // null: items are in natural order
  std::int32_t* to;
  const std::int32_t* key;  // of an item
  std::int32_t* place;      // of a digit's items of a chunk, digit by digit
  std::int64_t chunks;
  int shift;

  struct Count {};
  struct Move {};

  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t chunk) const {
    for (std::int64_t d = 0; d < values; ++d) place[d * chunks + chunk] = 0;
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
    const std::int64_t end = Kokkos::min((chunk + 1) * items_of_chunk, natural.n);
    for (std::int64_t p = chunk * items_of_chunk; p < end; ++p)
      f(from == nullptr ? natural[p] : from[p]);
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

/// The largest, -1 of none. Waits.
template <class Exec>
std::int32_t largest_of(const Exec& exec, const Array<std::int32_t, Exec>& value) {
  constexpr auto label = "Trikkos::TriangularPlan::largest";
  if (value.extent(0) == 0) return -1;
  std::int32_t largest = -1;
  Kokkos::parallel_reduce(label, range(exec, value.extent(0)), FindMaximum{value.data()},
                          Kokkos::Max<std::int32_t>(largest));
  exec.fence(label);
  return largest;
}

/// Rows sorted by key; those of one key stay in the order that they come in. Asynchronous.
/// \param from  rows in another order than the natural one
template <class Exec>
Array<std::int32_t, Exec> sort_by(const Exec& exec, Slabs<Exec>& memory, RowOrder natural,
                                  const Array<std::int32_t, Exec>& key, std::int32_t largest,
                                  const std::int32_t* from = nullptr) {
  using Pass = SortByDigit<is_host_v<Exec>>;
  const std::int64_t n = natural.n;
  const std::int64_t chunks = (n + Pass::items_of_chunk - 1) / Pass::items_of_chunk;
  const std::int64_t places = chunks * Pass::values;
  const auto array = [&](std::int64_t count) {
    return memory.template array<std::int32_t>(exec, count);
  };
  auto sorted = array(n);
  if (largest <= 0 && from == nullptr) {
    Kokkos::parallel_for("Trikkos::TriangularPlan::list", range(exec, n),
                         ListRows{natural, sorted.data()});
    return sorted;
  }
  const auto place = array(places + 1);
  auto other = largest >> Pass::bits > 0 ? array(n) : sorted;
  int shift = 0;
  do {
    std::swap(sorted, other);
    const Pass pass{natural, from, sorted.data(), key.data(), place.data(), chunks, shift};
    Kokkos::parallel_for("Trikkos::TriangularPlan::count_digits",
                         range<typename Pass::Count>(exec, chunks), pass);
    sum_up(exec, place.data(), places + 1);
    Kokkos::parallel_for("Trikkos::TriangularPlan::sort", range<typename Pass::Move>(exec, chunks),
                         pass);
    from = sorted.data();
    shift += Pass::bits;
  } while (shift < 31 && largest >> shift > 0);
  return sorted;
}

/// Where levels begin, and the position of each row.
struct FindLevels {
  const std::int32_t* row;
  const std::int32_t* level;
  std::int64_t n;
  std::int32_t *first, *position;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int32_t mine = level[row[p]];
    position[row[p]] = static_cast<std::int32_t>(p);
    if (p == 0 || level[row[p - 1]] != mine) first[mine] = static_cast<std::int32_t>(p);
    if (p + 1 == n) first[mine + 1] = static_cast<std::int32_t>(n);
  }
};

template <class Exec>
struct LevelOrder {
  Array<std::int32_t, Exec> row, position;  // by level, and where each is
  Array<std::int32_t, Exec> begin;          // of each level, and how many rows there are

  std::int64_t levels() const { return static_cast<std::int64_t>(begin.extent(0)) - 1; }
};

/// Where levels begin, and how many rows there are, on the host. Waits.
template <class Exec>
std::vector<std::int32_t> level_starts(const Exec& exec, const LevelOrder<Exec>& order) {
  std::vector<std::int32_t> first(order.levels() + 1);
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if (order.levels() > 0)
    Kokkos::deep_copy(
        exec, Kokkos::View<std::int32_t*, Kokkos::HostSpace, Unmanaged>(first.data(), first.size()),
        order.begin);
  exec.fence("Trikkos::TriangularPlan::level_starts");
  return first;
}

/// Asynchronous.
/// \param last  the largest level, -1 if there is none
template <class Exec>
LevelOrder<Exec> order_by_level(const Exec& exec, Slabs<Exec>& memory, RowOrder natural,
                                const Array<std::int32_t, Exec>& level, std::int32_t last) {
  LevelOrder<Exec> r;
  r.row = sort_by(exec, memory, natural, level, last);
  r.position = memory.template array<std::int32_t>(exec, natural.n);
  r.begin = memory.template array<std::int32_t>(exec, last + 2);
  Kokkos::parallel_for(
      "Trikkos::TriangularPlan::find_levels", range(exec, natural.n),
      FindLevels{r.row.data(), level.data(), natural.n, r.begin.data(), r.position.data()});
  return r;
}

}  // namespace Trikkos::Impl

#endif
