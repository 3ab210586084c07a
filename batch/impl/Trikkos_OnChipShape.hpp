// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ONCHIPSHAPE_HPP
#define TRIKKOS_IMPL_ONCHIPSHAPE_HPP

#include <algorithm>
#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/partition/Trikkos_WideSegment.hpp>

/// \file
/// How many systems a team of a device holds in its scratch, and where.

namespace Trikkos::Impl {

/// The systems of a team: each has 2^levels of its `lanes` threads, and those `rows` rows each.
template <class T, int W = 1>
struct OnChipShape {
  static constexpr int bands = 2 * W + 2;  // of the matrix, and b
  static constexpr int each = std::max<int>(staging_alignment / sizeof(T), 1);  // a wide word
  static constexpr int default_lanes = 64, most_lanes = 256, warp = 32;
  /// Rows of partitions, and of chunks: as few threads as that takes, a power of two, as the tree
  /// costs more than rows do. With W > 1 partitions of more leave too few threads.
  static constexpr int longest = W == 1 ? 27 : 17, longest_chunk = W == 1 ? 27 : 29;
  static constexpr int known_rows = 17;  // to compilers

  int n = 0, rows = 0, lanes = 0, levels = 0;  // no lanes: a team cannot hold a system
  int in_rows = 0;  // words of a slot of the tree that take the place of rows
  int gap = 0;      // words behind the last partition of contiguous systems, and as many times as
                    // there are systems behind the last row of interleaved ones
  bool has_marks = false;

  /// In so many bytes of scratch; with partitions of a multiple of `multiple` rows and at most
  /// `most_rows`, or of so many rows exactly, if any.
  OnChipShape(std::int64_t n_, bool interleaved, int granted, int multiple,
              std::int64_t exactly = 0, int most_rows = longest) {
    if (n_ < 1 || n_ > granted) return;
    n = static_cast<int>(n_);
    levels = n > 1 ? 1 : 0;
    const auto partition = [&] { return (n + partitions() - 1) / partitions(); };
    const std::int64_t most = exactly > 0 ? exactly : most_rows;
    while (partition() > most && partitions() < most_lanes) ++levels;
    // an odd number of multiples: threads that read rows a power of two apart compete for banks
    rows = exactly > 0 ? static_cast<int>(exactly)
                       : multiple * ((std::max(partition(), 2) + multiple - 1) / multiple | 1);
    lanes = std::max(default_lanes, partitions());
    // as many systems as memory moves at a time
    constexpr int line = 128 / sizeof(T);
    if (interleaved) lanes = std::clamp(line * partitions(), default_lanes, most_lanes);
    while (!fits(granted) && systems() > 1) lanes /= 2;
    if (!fits(granted) || partition() > most || rows >= most_rows + multiple || rows < 2) lanes = 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION int partitions() const { return 1 << levels; }
  KOKKOS_FORCEINLINE_FUNCTION int systems() const { return lanes >> levels; }
  /// Words of a band of a system in scratch: partitions are complete, so that all are equally far
  /// from each other.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return (rows << levels) + gap; }
  /// Scratch: the bands, what the tree needs besides, marks of systems, and what a Staging wants.
  KOKKOS_FORCEINLINE_FUNCTION int band_words() const {
    return staged_words<T>(pitch() * systems());
  }
  KOKKOS_FORCEINLINE_FUNCTION int node_words() const {
    return staged_words<T>((MergeNode<T, W>::words - in_rows) * lanes);
  }
  KOKKOS_FORCEINLINE_FUNCTION int mark_words() const {
    return has_marks ? staged_words<T>(systems()) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION int words() const {
    return bands * band_words() + node_words() + mark_words() + each;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t scratch_bytes() const {
    return sizeof(T) * words() + staging_bytes + staging_alignment;
  }

  /// In so many bytes of scratch.
  bool fits(int granted) const {
    const int gaps = static_cast<int>(sizeof(T)) * bands * systems() * (each - 1);
    return static_cast<int>(scratch_bytes()) + gaps + scratch_reserved(lanes) <= granted;
  }

  /// Two threads for each of so many systems.
  static OnChipShape pairs(std::int64_t n_, int systems) {
    OnChipShape r;
    r.n = static_cast<int>(n_);
    r.levels = 1;
    // aligned, and an odd multiple: else rows of all systems were in one bank of scratch
    constexpr int unit = std::max<int>(staging_alignment / (2 * sizeof(T)), 1);
    r.rows = unit * (((r.n + 1) / 2 + unit - 1) / unit | 1);
    r.lanes = 2 * systems;
    return r;
  }
  /// Two threads for each system, and as many systems as memory moves at a time, if a
  /// multiprocessor with `all` that scratch holds four such teams; twice as many, as their rows
  /// come faster, if it holds three, and of short systems more. A team may always have
  /// `scratch_limit`.
  static OnChipShape both_ends(std::int64_t n_, int all, int most) {
    OnChipShape r;
    const int granted = std::max(scratch_limit, all / 4);
    if (n_ < 1 || n_ > granted) return r;
    r.n = static_cast<int>(n_);
    r.levels = 1;
    r.rows = (r.n + 1) / 2;
    r.in_rows = MergeNode<T, W>::words - 2;
    constexpr int line = 128 / sizeof(T);
    r.lanes = std::min(8 * line, most);
    const auto fits = [&] {
      return r.fits(granted / 2) || (r.systems() == 2 * line && r.fits(all / 3));
    };
    while (!fits() && r.systems() > line) r.lanes /= 2;
    if (!fits() && !r.fits(granted)) r.lanes = 0;
    return r;
  }

  /// A chunk of some rows a thread, an odd number, and a word for each system: the tree of
  /// separators takes the place of rows.
  static OnChipShape chunks(std::int64_t n_, int granted) {
    OnChipShape r;
    if (n_ < 1 || n_ > granted) return r;
    r.n = static_cast<int>(n_);
    r.has_marks = true;
    while (sizeof(T) << r.levels < staging_alignment) ++r.levels;  // so that systems are aligned
    while (((r.n - 1) >> r.levels) + 1 > longest_chunk) ++r.levels;
    r.rows = std::max(((r.n - 1) >> r.levels) + 1, 2 * W) | 1;
    r.in_rows = MergeNode<T, W>::words;
    r.lanes = std::max(warp, r.partitions());
    if (r.lanes > most_lanes || !r.fits(granted)) r.lanes = 0;
    return r;
  }
  /// The same of interleaved systems, as many as memory moves at a time, or where scratch has no
  /// room for these fewer with more chunks each. Threads read rows side by side, and all of a team
  /// wait at each level of the tree: chunks are longer then, and as long as they come out.
  static OnChipShape interleaved_chunks(std::int64_t n_, int granted) {
    OnChipShape r;
    if (n_ < 1 || n_ > granted) return r;
    constexpr int line = 128 / sizeof(T), sector = 32 / sizeof(T), longest_of_many = 24;
    r.n = static_cast<int>(n_);
    r.has_marks = true;
    r.in_rows = MergeNode<T, W>::words;
    const auto chunk = [&] { return std::max(((r.n - 1) >> r.levels) + 1, 2 * W); };
    while (chunk() > longest_of_many && r.levels < 3) ++r.levels;
    r.lanes = std::max(line << r.levels, warp);
    for (r.rows = chunk(); !r.fits(granted) && r.systems() > sector; r.rows = chunk()) ++r.levels;
    if (r.lanes > most_lanes || !r.fits(granted)) r.lanes = 0;
    return r;
  }
  /// So that contiguous systems are as far from multiples of 16 bytes as in memory, where they
  /// begin `between` words from each other.
  OnChipShape in_step(std::int64_t between) const {
    OnChipShape r = *this;
    r.gap = static_cast<int>(between - pitch()) & (each - 1);
    return r;
  }
  /// So that rows of interleaved systems are, of which every other one is not aligned: with a word
  /// behind each.
  OnChipShape with_step_of_rows() const {
    OnChipShape r = *this;
    if (r.lanes > 0) r.gap = ((rows << levels) + systems() - 1) / systems();
    return r;
  }
  /// The same, where a multiprocessor has five such teams, as four take longer than without, or
  /// three of twice as many systems.
  OnChipShape with_rows_in_step(int all) const {
    OnChipShape r = with_step_of_rows();
    if (r.lanes == 0) return r;
    const int granted = std::max(scratch_limit, all / 4);
    constexpr int line = 128 / sizeof(T);
    if (!r.fits(5 * granted / 6) && !(systems() == 2 * line && r.fits(all / 3))) r.lanes = 0;
    return r;
  }
  /// With marks, and where systems are short, which are many then, in teams of a warp.
  OnChipShape with_marks() const {
    OnChipShape r = *this;
    r.has_marks = true;
    if (partitions() <= warp) r.lanes = warp;
    return r;
  }

 private:
  OnChipShape() = default;
};

}  // namespace Trikkos::Impl

#endif
