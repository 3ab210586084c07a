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
  /// Of a chunk. Odd: threads that read rows an even number of words apart compete for the banks of
  /// scratch.
  static constexpr int most_rows = Factors<T, W>::most_rows;
  static constexpr int most_threads = 512, wanted_threads = 128;

  int n = 0, rows = 0, chunks = 0;  // no chunks: a team cannot hold a system
  int group_bits = 0;               // chunks of a group: 2^group_bits
  int granted = 0;                  // bytes of scratch: an SM holds two teams

  FactoredShape() = default;
  FactoredShape(std::int64_t n_, int granted_) : granted(std::max(scratch_limit, granted_ / 2)) {
    if (n_ < 1 || n_ > most_rows * most_threads) return;
    n = static_cast<int>(n_);
    chunks = (n + most_rows - 1) / most_rows;
    rows = ((n + chunks - 1) / chunks) | 1;
    chunks = (n + rows - 1) / rows;
    // one group if a thread may as well look at all chunks, else about as many as it has chunks
    while (1 << group_bits < chunks && (group_bits < 3 || 1 << 2 * group_bits < chunks))
      ++group_bits;
    if (!fits(1, 1, granted)) chunks = 0;
  }
  Factors<T, W> factors(bool periodic, T* data) const {
    return {data, n, rows, chunks, 1 << group_bits, periodic};
  }
  KOKKOS_FORCEINLINE_FUNCTION int groups() const {
    return (chunks + (1 << group_bits) - 1) >> group_bits;
  }
  /// Between systems in scratch: chunks are complete, so that all are equally far from each other.
  KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return staged_words<T>(rows * chunks); }

  /// So many systems to a thread, which share the factors that it reads.
  static constexpr int most_of_thread = 2;

  /// Interleaved: as many as memory moves at a time, if they fit. Else as many as leave the fewest
  /// threads idle. `each`: a thread.
  int systems(bool interleaved, int each) const {
    int best = each;
    if (interleaved) {
      const auto fit = [&](int s) {
        return s / each * chunks <= most_threads && fits(s, each, granted);
      };
      constexpr int line = 128 / sizeof(T);
      while (best < line && fit(2 * best)) best *= 2;
      while (best >= line && best / each * chunks < wanted_threads && fit(2 * best)) best *= 2;
      return best;
    }
    for (int s = 2 * each; s / each * chunks <= wanted_threads && fits(s, each); s += each)
      if (s * threads(best, each) > best * threads(s, each)) best = s;
    return best;
  }
  /// Interleaved ones whose chunks are in registers, each of a thread: a line of memory, of short
  /// ones more, of long ones as much as there are threads for. `by_halves`: half a line where an
  /// SM, which has registers for so many threads, held one team else and holds several of those:
  /// one loads while another computes.
  int systems_in_registers(int threads_of_sm, bool by_halves) const {
    constexpr int line = 128 / sizeof(T);
    // in double, one team of a whole line is faster than two of half a line
    const int most = std::is_same_v<T, double> && W == 1 ? threads_of_sm : most_threads;
    int s = line;
    while (s * chunks < 2 / W * wanted_threads) s *= 2;
    while (s > 1 && s * chunks > most) s /= 2;
    const bool one_team = 2 * threads(s, 1) > threads_of_sm && s * chunks <= most_threads;
    return by_halves && s == line && one_team ? s / 2 : s;
  }
  std::size_t scratch_bytes_in_registers(int systems) const {
    return sizeof(T) * 2 * static_cast<std::size_t>(handed_words(systems)) + staging_alignment;
  }
  /// In percent of an SM's threads: where so many teams would share it that no cache is left for
  /// the factors, which are read from the L2 cache then, less than could be. (sm_90: 256 KiB for
  /// cache and scratch, of which the driver makes 228, 196, 164, 132 or 100 scratch.)
  int desired_occupancy(int systems, int each, std::size_t factor_bytes) const {
    constexpr std::size_t kibi = 1024, threads_of_sm = 2048, of_both = 248 * kibi;
    const std::size_t threads = this->threads(systems, each),
                      of_team = scratch_bytes(systems) + scratch_reserved(threads) + kibi;
    for (std::size_t scratch : {228 * kibi, 196 * kibi, 164 * kibi, 132 * kibi, 100 * kibi})
      if (scratch + factor_bytes <= of_both) {
        const std::size_t teams = std::max<std::size_t>(scratch / of_team, 1);
        return std::min<int>(100, 100 * teams * threads / threads_of_sm);
      }
    return 100;
  }
  bool fits(int systems, int each, int bytes = scratch_limit) const {
    return static_cast<int>(scratch_bytes(systems)) + scratch_reserved(threads(systems, each)) <=
           bytes;
  }
  int threads(int systems, int each) const { return (systems / each * chunks + 31) / 32 * 32; }
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
