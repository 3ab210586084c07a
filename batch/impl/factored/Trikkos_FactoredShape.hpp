// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDSHAPE_HPP
#define TRIKKOS_IMPL_FACTOREDSHAPE_HPP

#include <algorithm>
#include <impl/Trikkos_Staging.hpp>
#include <impl/Trikkos_TeamScratch.hpp>
#include <impl/factored/Trikkos_Factors.hpp>
#include <type_traits>

namespace Trikkos::Impl {

/// Chunks of a system, and systems of a team.
template <class T, int W = 1>
struct FactoredShape {
  static constexpr int short_chunk = Factors<T, W>::short_chunk,
                       long_chunk = Factors<T, W>::long_chunk;
  static constexpr int line = 128 / sizeof(T);  // systems of a line of memory
  static constexpr int most_threads = 512, wanted_threads = 128;

  int n = 0, rows = 0, chunks = 0;  // no chunks: a team cannot hold a system
  int group_bits = 0;               // chunks of a group: 2^group_bits
  int granted = 0;                  // bytes of scratch: an SM holds two teams

  FactoredShape() = default;
  /// `most_rows`: of a chunk. They are odd: threads that read rows an even number of words apart
  /// compete for the banks of scratch; and so do those of neighbouring systems whose chunks are not
  /// an even number, `by_twos`, as systems begin where 16 bytes do.
  FactoredShape(std::int64_t n_, int granted_, int most_rows, bool by_twos = false)
      : granted(std::max(scratch_limit, granted_ / 2)) {
    if (n_ < 1 || n_ > longest) return;
    n = static_cast<int>(n_);
    const auto whole = [&](int rows_of_chunk) {
      const int count = (n + rows_of_chunk - 1) / rows_of_chunk;
      const bool shares_warp = count <= 32 && (count > 1 || W == 1);  // with another system's
      return by_twos && shares_warp ? (count + 1) / 2 * 2 : count;
    };
    chunks = whole(most_rows);
    rows = ((n + chunks - 1) / chunks) | 1;
    chunks = whole(rows);
    // one group if a thread may as well look at all chunks, else about as many as it has chunks
    while (1 << group_bits < chunks && (group_bits < 3 || 1 << 2 * group_bits < chunks))
      ++group_bits;
    if (!fits(1, granted)) chunks = 0;
  }
  static constexpr int longest = short_chunk * most_threads;

  /// With the chunks that were fastest on an H200 (perf_tests/README.md). Long ones, half as many
  /// values to hand on, but where an SM has too few threads then.
  static FactoredShape contiguous(std::int64_t n, bool periodic, int granted) {
    const bool too_few = W == 1 && sizeof(T) == 8 && (periodic ? n > 2560 : n <= 4 * short_chunk);
    return {n, granted, sizeof(T) > 8 || too_few ? short_chunk : long_chunk, sizeof(T) == 8};
  }
  /// Those of rings in scratch, where a team has a line of long ones; those of open matrices in
  /// registers, where an SM has registers for two teams of long chunks and for one of short ones,
  /// or for two of half a line where it has none for a whole one.
  static FactoredShape interleaved(std::int64_t n, bool periodic, int granted) {
    const FactoredShape brief(n, granted, short_chunk), extended(n, granted, long_chunk);
    if (periodic) {
      const bool is_line = extended.chunks > 0 && extended.fits(line, extended.granted);
      return sizeof(T) <= 8 && (W > 1 || is_line) ? extended : brief;
    }
    if (!Factors<T, W>::has_long_chunks) return brief;
    const auto share = [](const FactoredShape& shape, int systems) {  // of an SM's threads
      return static_cast<double>(systems * shape.chunks) / registers_for(shape.rows);
    };
    const bool by_lines = share(brief, line) > 0.5 && share(extended, line) <= 0.5;
    const bool by_halves = share(brief, line) > 1 && share(extended, line / 2) <= 0.5;
    return by_lines || by_halves ? extended : brief;
  }

  Factors<T, W> factors(bool periodic, T* data) const {
    return {data, n, rows, chunks, 1 << group_bits, periodic};
  }
  KOKKOS_FORCEINLINE_FUNCTION int groups() const {
    return (chunks + (1 << group_bits) - 1) >> group_bits;
  }
  /// Between systems in scratch: chunks are complete, so that all are equally far from each other.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return staged_words<T>(rows * chunks); }

  /// Whether what leaves chunks is summed by weights, two words of factors more: else the chunks of
  /// a system are so many that its factors are too much for an SM's cache.
  bool is_for_weights() const {
    return Factors<T, W>::has_chunks && W * line / 2 * chunks <= most_threads;
  }

  /// Interleaved: as many as memory moves at a time, if they fit. Else as many as leave the fewest
  /// threads idle.
  int systems(bool interleaved) const {
    int best = 1;
    if (interleaved) {
      const auto fit = [&](int s) { return s * chunks <= most_threads && fits(s, granted); };
      while (best < line && fit(2 * best)) best *= 2;
      while (best >= line && best * chunks < wanted_threads && fit(2 * best)) best *= 2;
      return best;
    }
    for (int s = 2; s * chunks <= wanted_threads && fits(s); ++s)
      if (s * threads(best) > best * threads(s)) best = s;
    return best;
  }
  /// Interleaved ones whose chunks are in registers: a line of memory, of short ones more, of long
  /// ones as much as there are threads for. `by_halves`: half a line where an SM held one team else
  /// and holds several of those: one loads while another computes.
  int systems_in_registers(bool by_halves) const {
    const int threads_of_sm = registers_for(rows);
    // in double, one team of a whole line is faster than two of half a line
    const int most = std::is_same_v<T, double> && W == 1 ? threads_of_sm : most_threads;
    int s = line;
    while (s * chunks < 2 / W * wanted_threads) s *= 2;
    while (s > 1 && s * chunks > most) s /= 2;
    const bool one_team = 2 * threads(s) > threads_of_sm && s * chunks <= most_threads;
    return by_halves && s == line && one_team ? s / 2 : s;
  }
  /// So many threads of an SM: more have too few registers for a chunk each, fewer wait for memory
  /// together.
  static constexpr int registers_for(int rows_of_chunk) {
    if (W * sizeof(T) > 8) return 512;
    return rows_of_chunk > short_chunk ? (sizeof(T) > 4 ? 512 : 768) : (sizeof(T) > 4 ? 768 : 1024);
  }
  std::size_t scratch_bytes_in_registers(int systems) const {
    return sizeof(T) * 2 * static_cast<std::size_t>(handed_words(systems)) + staging_alignment;
  }
  /// In percent of an SM's threads: where so many teams would share it that no cache is left for
  /// the factors, which are read from the L2 cache then, less than could be. (sm_90: 256 KiB for
  /// cache and scratch, of which the driver makes 228, 196, 164, 132 or 100 scratch.)
  int desired_occupancy(int systems, std::size_t factor_bytes) const {
    constexpr std::size_t kibi = 1024, threads_of_sm = 2048, of_both = 248 * kibi;
    const std::size_t threads = this->threads(systems),
                      of_team = scratch_bytes(systems) + scratch_reserved(threads) + kibi;
    for (std::size_t scratch : {228 * kibi, 196 * kibi, 164 * kibi, 132 * kibi, 100 * kibi})
      if (scratch + factor_bytes <= of_both) {
        const std::size_t teams = std::max<std::size_t>(scratch / of_team, 1);
        return std::min<int>(100, 100 * teams * threads / threads_of_sm);
      }
    return 100;
  }
  bool fits(int systems, int bytes = scratch_limit) const {
    return static_cast<int>(scratch_bytes(systems)) + scratch_reserved(threads(systems)) <= bytes;
  }
  int threads(int systems) const { return (systems * chunks + 31) / 32 * 32; }
  KOKKOS_FORCEINLINE_FUNCTION int tile_words(int systems) const { return systems * pitch(); }
  /// For what leaves chunks and groups, one way.
  KOKKOS_FORCEINLINE_FUNCTION int handed_words(int systems) const {
    return staged_words<T>(systems * W * (chunks + groups()));
  }
  /// Scratch: a tile, and what is handed on, both ways.
  KOKKOS_FORCEINLINE_FUNCTION std::size_t scratch_bytes(int systems) const {
    return sizeof(T) * (tile_words(systems) + 2 * handed_words(systems)) + staging_bytes +
           staging_alignment;
  }
};

}  // namespace Trikkos::Impl

#endif
