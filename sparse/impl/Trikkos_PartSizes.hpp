// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PARTSIZES_HPP
#define TRIKKOS_IMPL_PARTSIZES_HPP

#include <bit>
#include <impl/Trikkos_ImportSets.hpp>
#include <impl/Trikkos_TriangleParts.hpp>
#include <impl/Trikkos_TriangularChoice.hpp>

/// \file
/// How many rows a part may have.

namespace Trikkos::Impl {

/// Where the imports of parts begin, from how many there are; the slots of the largest part; the
/// levels of all parts. One team.
struct PlaceParts {
  static constexpr int threads = 512;  // of a device

  PartsView parts;
  PartLevels levels;
  ImportSets sets;
  std::int32_t* import_start;
  TriangleFindings* findings;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    Kokkos::parallel_scan(Kokkos::TeamThreadRange(member, parts.parts + 1),
                          [&](std::int64_t q, std::int64_t& sum, bool is_final) {
                            const std::int64_t here = q == parts.parts ? 0 : *sets.count_of(q);
                            if (is_final) place(q, sum, here);
                            sum += here;
                          });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void place(std::int64_t q, std::int64_t start,
                                         std::int64_t imports) const {
    import_start[q] = static_cast<std::int32_t>(start);
    if (q == parts.parts) {
      findings->imports = start;
    } else if (levels.last[q] >= 0) {  // it was looked at
      Kokkos::atomic_add(&findings->part_levels, levels.count(q));
      if (relaxed_load(&findings->slots) < parts.rows(q) + imports)
        Kokkos::atomic_max(&findings->slots, parts.rows(q) + imports);
    }
  }
};

/// A size of parts that fits, and what parts import.
template <class Exec>
struct PartSizes {
  std::int64_t rows_of_part = 0, parts = 0, slots = 0, imports = 0;
  std::int64_t parts_of_strip = 1;
  double rows_of_level = 0;  // in a part, in the mean
  int bits = 0;
  StripOrder order{};
  Array<std::int32_t, Exec> cell, count, import_start;

  bool fit() const { return slots > 0; }
  ImportSets sets() const { return {cell.data(), count.data(), bits}; }
};

/// Tries sizes of parts.
template <class Exec>
class PartSizing {
  using Ints = Array<std::int32_t, Exec>;

 public:
  /// \param slots  of a part, at most
  PartSizing(const Exec& exec, Slabs<Exec>& memory, const TrianglePattern<Exec>& pattern,
             const Ints& by_rank, const Ints& rank, std::int64_t slots, bool large_only,
             std::int64_t longest)
      : m_exec(exec),
        m_memory(memory),
        m_pattern(pattern),
        m_by_rank(by_rank),
        m_rank(rank),
        m_slots(slots),
        m_longest(longest),
        m_large_only(large_only) {}

  /// Whether parts of so many rows fit, or are known to be of no use.
  bool settles(std::int64_t rows_of_part, std::int64_t parts_of_strip) {
    if (rows_of_part >= m_slots) return false;
    divide(rows_of_part, parts_of_strip);
    // Where all of them take longer than to wait for some, these may be enough to see that parts
    // are too large, or of no use.
    constexpr std::int64_t step = 16, worth_it = 1 << 18;
    if (n() >= worth_it) {
      const TriangleFindings found = look(step);
      if (!fits(found)) return false;
      tried.imports = step * found.imports;
      if (m_large_only && needs_distant_ones(n(), tried.imports)) return true;
    }
    const TriangleFindings found = look(1);
    if (!fits(found)) return false;
    tried.slots = found.slots;
    tried.imports = found.imports;
    tried.rows_of_level = static_cast<double>(n()) / static_cast<double>(found.part_levels);
    return true;
  }

 private:
  std::int64_t n() const { return m_pattern.shape.n; }
  Ints ints(std::int64_t count) { return m_memory.template array<std::int32_t>(m_exec, count); }

  std::int64_t largest_imports() const {
    // Of many parts those that need more than four times their rows are of no use.
    constexpr std::int64_t few = 512;
    const std::int64_t rows = tried.rows_of_part, room = m_slots - rows;
    return std::min(tried.parts <= few ? room : std::min(room, 4 * rows),
                    std::max<std::int64_t>(m_longest, 1) * rows);
  }
  bool fits(const TriangleFindings& found) const {
    return found.slots <= tried.rows_of_part + largest_imports();
  }

  /// Their order, and memory for what they import.
  void divide(std::int64_t rows_of_part, std::int64_t parts_of_strip) {
    tried.rows_of_part = rows_of_part;
    tried.parts_of_strip = parts_of_strip;
    tried.parts = (n() + rows_of_part - 1) / rows_of_part;
    tried.order = {m_pattern.shape.natural()};
    if (parts_of_strip > 1)
      tried.order = order_strips(m_exec, m_memory, tried.order.natural, m_by_rank,
                                 parts_of_strip * rows_of_part);
    const auto places = static_cast<std::uint64_t>(2 * largest_imports() - 1);
    tried.bits = std::max(5, static_cast<int>(std::bit_width(places)));
    const std::int64_t cells = tried.parts << tried.bits;
    if (static_cast<std::int64_t>(tried.cell.extent(0)) < cells) {
      // With what `order_parts` makes of them: half of the cells remain free.
      m_memory.reserve(m_exec, m_memory.template bytes_of<std::int32_t>(
                                   cells + cells / 2 + n() + 40 * (tried.parts + 1) + 512));
      tried.cell = ints(cells);
    }
    tried.count = ints(tried.parts * ImportSets::stride);
    tried.import_start = ints(tried.parts + 1);
    m_first_level = ints(tried.parts);
    m_last_level = ints(tried.parts);
  }

  /// What every step-th of them imports. Waits.
  TriangleFindings look(std::int64_t step) {
    TriangleFindings* const findings = m_pattern.findings.data();
    fill(m_exec, Fill<std::int32_t>{tried.cell.data(), tried.parts << tried.bits, ImportSets::none},
         filled(tried.count, 0), filled(m_first_level, std::numeric_limits<std::int32_t>::max()),
         filled(m_last_level, -1), Fill<std::int64_t>{&findings->slots, 1, 0},
         Fill<std::int64_t>{&findings->part_levels, 1, 0});
    constexpr int most_bits = is_host_v<Exec> ? 0 : 3;
    const int bits = std::min(bits_of_row(n(), m_pattern.entries, m_longest), most_bits);
    const SpreadOverParts spread{(tried.parts + step - 1 - step / 2) / step,
                                 tried.rows_of_part << bits};
    const PartLevels levels{m_first_level.data(), m_last_level.data()};
    launch(m_exec,
           CollectImports{m_pattern.rows(), tried.order, m_rank.data(), m_pattern.level.data(),
                          spread, step, bits, tried.sets(), levels, 0});
    const PartsView parts{n(), tried.rows_of_part, tried.parts, 0, nullptr, nullptr, nullptr};
    Kokkos::parallel_for(
        "Trikkos::TriangularPlan::place_parts",
        light(Kokkos::TeamPolicy<Exec>(m_exec, 1, is_host_v<Exec> ? 1 : PlaceParts::threads)),
        PlaceParts{parts, levels, tried.sets(), tried.import_start.data(), findings});
    return fetch(m_exec, findings, "Trikkos::TriangularPlan::slots");
  }

  const Exec& m_exec;
  Slabs<Exec>& m_memory;
  const TrianglePattern<Exec>& m_pattern;
  Ints m_by_rank, m_rank;
  std::int64_t m_slots, m_longest;
  bool m_large_only;
  Ints m_first_level, m_last_level;  // of each part

 public:
  PartSizes<Exec> tried{};
};

/// The largest parts with as few rows whose values fit into so many slots. Waits.
///
/// H200: without strips n / 1024 rows, at least 256 and at most 4096, as far as the scratch goes.
/// With n / 256 three of 9 matrices take 7 to 24 % longer (luxembourg, dftwater, ship_001), one 6 %
/// less (igea).
///
/// \param large_only  these, if their rows do not need distant ones, or none
/// \param levels      there are
/// \param longest     entries of a row
template <class Exec>
PartSizes<Exec> part_sizes(const Exec& exec, Slabs<Exec>& memory,
                           const TrianglePattern<Exec>& pattern,
                           const Array<std::int32_t, Exec>& by_rank,
                           const Array<std::int32_t, Exec>& rank, std::int64_t slots,
                           bool large_only, std::int64_t levels, std::int64_t longest) {
  constexpr std::int64_t least = 256, most = 4096;
  PartSizing<Exec> sizing(exec, memory, pattern, by_rank, rank, slots, large_only, longest);
  const std::int64_t in_strip = parts_of_strip(exec, memory, pattern, most, levels);
  if (in_strip > 1 && sizing.settles(most, in_strip)) return sizing.tried;
  std::int64_t rows_of_part = least;
  while (rows_of_part < most && 1024 * rows_of_part < pattern.shape.n) rows_of_part *= 2;
  for (; rows_of_part >= least; rows_of_part /= 2) {
    if (sizing.settles(rows_of_part, 1)) return sizing.tried;
    if (large_only) break;
  }
  return {};
}

}  // namespace Trikkos::Impl

#endif
