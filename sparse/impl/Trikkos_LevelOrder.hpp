// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_LEVELORDER_HPP
#define TRIKKOS_IMPL_LEVELORDER_HPP

#include <bit>
#include <impl/Trikkos_TriangleLevels.hpp>

/// \file
/// Rows sorted by level, those of a level in the order of elimination: a radix sort, stable, so the
/// same on every run.

namespace Trikkos::Impl {

/// One digit of the keys. Chunks of items are counted, and moved, each in order: by a host's
/// thread, or a device's team.
struct SortByDigit {
  static constexpr int items_of_chunk = 256, most_bits = 10;

  RowOrder natural;
  const std::int32_t* from;  // null: items are in natural order
  std::int32_t* to;
  const std::int32_t* key;  // of an item
  std::int32_t* place;      // of a digit's items of a chunk, digit by digit
  std::int64_t chunks;
  int shift, bits;

  struct Count {};
  struct Move {};

  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t chunk) const {
    for (std::int64_t d = 0; d < values(); ++d) place[d * chunks + chunk] = 0;
    for (std::int64_t p = first(chunk); p < end(chunk); ++p) ++place_of(digit(item(p)), chunk);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Move, std::int64_t chunk) const {
    for (std::int64_t p = first(chunk); p < end(chunk); ++p)
      to[place_of(digit(item(p)), chunk)++] = item(p);
  }

  template <class Member>
  requires TeamMember<Member> KOKKOS_INLINE_FUNCTION void operator()(Count,
                                                                     const Member& member) const {
    std::int32_t* const count = team_scratch<std::int32_t>(member);
    const std::int64_t chunk = member.league_rank(), p = first(chunk) + member.team_rank();
    for (int d = member.team_rank(); d < values(); d += items_of_chunk) count[d] = 0;
    member.team_barrier();
    if (p < end(chunk)) Kokkos::atomic_inc(count + digit(item(p)));
    member.team_barrier();
    for (int d = member.team_rank(); d < values(); d += items_of_chunk)
      place_of(d, chunk) = count[d];
  }
  template <class Member>
  requires TeamMember<Member> KOKKOS_INLINE_FUNCTION void operator()(Move,
                                                                     const Member& member) const {
    std::int32_t* const digits = team_scratch<std::int32_t>(member);
    const std::int64_t chunk = member.league_rank(), p = first(chunk) + member.team_rank();
    if (p < end(chunk)) digits[member.team_rank()] = digit(item(p));
    member.team_barrier();
    if (p >= end(chunk)) return;
    const std::int32_t mine = digits[member.team_rank()];
    std::int32_t before = 0;
    for (int i = 0; i < member.team_rank(); ++i) before += digits[i] == mine;
    to[place_of(mine, chunk) + before] = item(p);
  }
  int scratch_bytes() const {
    return (std::max(values(), items_of_chunk) + 1) * static_cast<int>(sizeof(std::int32_t));
  }
  KOKKOS_FORCEINLINE_FUNCTION int values() const { return 1 << bits; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(std::int64_t chunk) const {
    return chunk * items_of_chunk;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end(std::int64_t chunk) const {
    return Kokkos::min(first(chunk) + items_of_chunk, natural.n);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t item(std::int64_t p) const {
    return from == nullptr ? natural[p] : from[p];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t digit(std::int32_t item) const {
    return (key[item] >> shift) & (values() - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t& place_of(std::int64_t d, std::int64_t chunk) const {
    return place[d * chunks + chunk];
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

template <class Tag, class Exec>
void launch(const Exec& exec, const char* label, const SortByDigit& pass) {
  if constexpr (is_host_v<Exec>)
    Kokkos::parallel_for(label, range<Tag>(exec, pass.chunks), pass);
  else
    Kokkos::parallel_for(label,
                         light(Kokkos::TeamPolicy<Exec, Tag>(exec, static_cast<int>(pass.chunks),
                                                             SortByDigit::items_of_chunk)
                                   .set_scratch_size(0, Kokkos::PerTeam(pass.scratch_bytes()))),
                         pass);
}

/// Rows sorted by key; those of one key stay in the order that they come in. Asynchronous.
/// \param from  rows in another order than the natural one
template <class Exec>
Array<std::int32_t, Exec> sort_by(const Exec& exec, Slabs<Exec>& memory, RowOrder natural,
                                  const Array<std::int32_t, Exec>& key, std::int32_t largest,
                                  const std::int32_t* from = nullptr) {
  const std::int64_t n = natural.n;
  const auto array = [&](std::int64_t count) {
    return memory.template array<std::int32_t>(exec, count);
  };
  auto sorted = array(n);
  if (largest <= 0 && from == nullptr) {
    Kokkos::parallel_for("Trikkos::TriangularPlan::list", range(exec, n),
                         ListRows{natural, sorted.data()});
    return sorted;
  }
  // H200, 27 points 96^3: 155 us with one digit of 10 bits, 106 with two of 5.
  constexpr std::int64_t most_places = 1 << 20;
  const std::int64_t chunks = (n + SortByDigit::items_of_chunk - 1) / SortByDigit::items_of_chunk;
  int most_bits = is_host_v<Exec> ? 8 : SortByDigit::most_bits;
  while (most_bits > 4 && chunks << most_bits > most_places) --most_bits;
  const int all_bits = std::bit_width(static_cast<std::uint32_t>(std::max(largest, 1)));
  const int passes = (all_bits + most_bits - 1) / most_bits;
  const int bits = (all_bits + passes - 1) / passes;
  const std::int64_t places = chunks << bits;
  const auto place = array(places + 1);
  auto other = passes > 1 ? array(n) : sorted;
  for (int shift = 0; shift < all_bits; shift += bits) {
    std::swap(sorted, other);
    const SortByDigit pass{natural,      from,   sorted.data(), key.data(),
                           place.data(), chunks, shift,         bits};
    launch<SortByDigit::Count>(exec, "Trikkos::TriangularPlan::count_digits", pass);
    sum_up(exec, place.data(), places + 1);
    launch<SortByDigit::Move>(exec, "Trikkos::TriangularPlan::sort", pass);
    from = sorted.data();
  }
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
