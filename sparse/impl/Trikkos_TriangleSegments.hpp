// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLESEGMENTS_HPP
#define TRIKKOS_IMPL_TRIANGLESEGMENTS_HPP

#include <impl/Trikkos_PackedTriangle.hpp>

/// \file
/// Long rows of a device in segments of at most eight entries, each solved like a row. A segment
/// goes on with the sum of the one before, so the sum is the same, bit by bit; the first segments
/// need what is known early, and are done when the last values come. Threads of a warp have rows of
/// the same length to do, nearly.

namespace Trikkos::Impl {

/// Numbers of segments: those of a row are adjacent, in the order of elimination.
struct SegmentOrder {
  static constexpr std::int64_t most = 8;  // entries, what a segment goes on with included

  const std::int64_t* first;  // of each row
  bool is_forward;

  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t segments(std::int64_t entries) {
    return entries <= most ? 1 : 1 + (entries - 2) / (most - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t number(std::int64_t row, std::int64_t i) const {
    return is_forward ? first[row] + i : first[row + 1] - 1 - i;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t last(std::int64_t row) const {
    return is_forward ? first[row + 1] - 1 : first[row];
  }
};

/// Rows whose entries are sorted, the diagonal last.
struct CountSegments {
  TriangleRows rows;
  std::int64_t* count;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    count[row] = SegmentOrder::segments(rows.needed_entries(row));
  }
};

/// The entries of a segment: the segment that it goes on with (source: none), those of the row, in
/// its last segment the diagonal.
struct FillSegments {
  TriangleRows rows;
  SegmentOrder segments;
  std::int32_t* row_of;
  const std::int32_t* row_level;
  std::int64_t* start;  // how many entries, then where they begin
  TriangleRows to;
  std::int32_t* level;

  struct Count {};  // of each row
  struct Fill {};   // of each segment

  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t row) const {
    constexpr std::int64_t most = SegmentOrder::most;
    const std::int64_t count = segments.first[row + 1] - segments.first[row];
    const std::int64_t needed = rows.needed_entries(row), after_first = (count - 1) * (most - 1);
    const std::int64_t diagonal = rows.start[row + 1] - rows.start[row] - needed;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t s = segments.number(row, i);
      row_of[s] = static_cast<std::int32_t>(row);
      start[s] = (i == 0 ? needed - after_first : most) + (i == count - 1 ? diagonal : 0);
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(Fill, std::int64_t s) const {
    const Piece piece = piece_of(s);
    std::int64_t at = start[s];
    if (piece.continues) {
      to.needed[at] = static_cast<std::int32_t>(segments.is_forward ? s - 1 : s + 1);
      to.source[at++] = TriangleRows::no_source;
    }
    // A level may hold several segments of a row: they keep their order when sorted by level.
    const std::int32_t row = row_of[s];
    std::int32_t last = row;  // needed: entries are sorted by level
    for (std::int64_t k = piece.begin; k < piece.end; ++k, ++at) {
      const std::int32_t j = rows.needed[k];
      to.needed[at] = static_cast<std::int32_t>(j == row ? s : segments.last(j));
      to.source[at] = rows.source[k];
      if (j != row) last = j;
    }
    level[s] = last == row ? 0 : row_level[last] + 1;
  }

 private:
  struct Piece {
    std::int64_t begin, end;  // of the row's entries
    bool continues;
  };
  KOKKOS_FORCEINLINE_FUNCTION Piece piece_of(std::int64_t s) const {
    const std::int32_t row = row_of[s];
    const std::int64_t count = segments.first[row + 1] - segments.first[row];
    const std::int64_t i =
        segments.is_forward ? s - segments.first[row] : segments.first[row + 1] - 1 - s;
    const std::int64_t begin = rows.start[row];
    const std::int64_t after_first = (count - 1) * (SegmentOrder::most - 1);
    const std::int64_t first = rows.needed_entries(row) - after_first;  // entries of the first
    const std::int64_t end = begin + first + i * (SegmentOrder::most - 1);
    return {i == 0 ? begin : end - (SegmentOrder::most - 1),
            i == count - 1 ? rows.start[row + 1] : end, i > 0};
  }
};

/// By position, when the order is known.
struct PlaceSegments {
  std::int64_t count;
  TriangleRows segments;
  RowOrder natural;
  const std::int32_t *row_of, *segment;
  std::int32_t* row;
  unsigned char* kind;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    if (p >= count) return;
    const std::int32_t s = segment[p];
    const std::int64_t next = natural.is_forward ? s + 1 : s - 1, begin = segments.start[s];
    row[p] = row_of[s];
    const bool continues =
        begin < segments.start[s + 1] && segments.source[begin] == TriangleRows::no_source;
    const bool goes_on = 0 <= next && next < natural.n && row_of[next] == row_of[s];
    kind[p] = static_cast<unsigned char>((continues ? SegmentKind::continues : 0) |
                                         (goes_on ? SegmentKind::goes_on : 0));
  }
};

template <class Exec>
struct TriangleSegments {
  TrianglePattern<Exec> pattern;  // of segments, in place of rows
  Array<std::int32_t, Exec> row_of;
};

/// Of each row the number of its first segment, and among the findings how many there are.
/// Asynchronous.
template <class Exec>
Array<std::int64_t, Exec> count_segments(const Exec& exec, Slabs<Exec>& memory,
                                         const TrianglePattern<Exec>& pattern) {
  const std::int64_t n = pattern.shape.n;
  const auto first = memory.template array<std::int64_t>(exec, n + 1);
  Kokkos::parallel_for("Trikkos::TriangularPlan::count_segments", range(exec, n),
                       CountSegments{pattern.rows(), first.data()});
  sum_up(exec, first.data(), n + 1, {&pattern.findings.data()->segments});
  return first;
}

/// Nothing where no row is long.
/// \param pattern  entries of a row sorted by level
/// \param first    segment of each row
/// \param count    of segments
template <class Exec>
TriangleSegments<Exec> divide_rows(const Exec& exec, Slabs<Exec>& memory,
                                   const TrianglePattern<Exec>& pattern,
                                   const Array<std::int64_t, Exec>& first, std::int64_t count) {
  const std::int64_t n = pattern.shape.n;
  const TriangleRows rows = pattern.rows();
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
  if (count <= n || count > limit) return {};

  TriangleSegments<Exec> r;
  TrianglePattern<Exec>& to = r.pattern;
  to.shape = pattern.shape;
  to.shape.n = count;
  to.entries = pattern.entries + count - n;
  to.findings = pattern.findings;
  // With what the analysis makes of them.
  const std::int64_t words = 2 * (count + 1 + to.entries) + 12 * count + to.entries + 4096;
  memory.reserve(exec, memory.template bytes_of<std::int32_t>(words));
  to.start = memory.template array<std::int64_t>(exec, count + 1);
  to.source = memory.template array<std::int64_t>(exec, to.entries);
  to.needed = memory.template array<std::int32_t>(exec, to.entries);
  to.level = memory.template array<std::int32_t>(exec, count);
  r.row_of = memory.template array<std::int32_t>(exec, count);
  const SegmentOrder segments{first.data(), pattern.shape.is_forward()};
  const FillSegments fill{
      rows,      segments,       r.row_of.data(), pattern.level.data(), to.start.data(),
      to.rows(), to.level.data()};
  Kokkos::parallel_for("Trikkos::TriangularPlan::measure_segments",
                       range<FillSegments::Count>(exec, n), fill);
  sum_up(exec, to.start.data(), count + 1);
  Kokkos::parallel_for("Trikkos::TriangularPlan::fill_segments",
                       range<FillSegments::Fill>(exec, count), fill);
  return r;
}

}  // namespace Trikkos::Impl

#endif
