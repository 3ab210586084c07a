// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDSTREAM_HPP
#define TRIKKOS_IMPL_FACTOREDSTREAM_HPP

#include <impl/factored/Trikkos_FactoredChunks.hpp>

/// \file
/// Interleaved right-hand sides with one factored tridiagonal matrix on a device, where scratch
/// does not hold as many as make a line of memory. A team goes over some of them twice, a thread
/// over a chunk of one: first to see what leaves the chunks, then, once what enters them is known,
/// to sweep over them. So x is that of the recurrence itself, and what chunks hand on is all that
/// is rounded otherwise.
///
/// Traffic: 2 words an unknown read, 1 written; factors, 5 words a row, come through the cache.

namespace Trikkos::Impl {

/// Of open systems.
template <class T>
struct StreamFactored : FactoredChunks<T> {
  using Base = FactoredChunks<T>;
  using Base::factors, Base::b, Base::x, Base::tiles, Base::shape, Base::systems;
  static constexpr int threads = 128;
  /// So many threads of an SM.
  static constexpr int registers_for = sizeof(T) > 8 ? 384 : 512;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), s = t % systems, lane = t / systems,
              lanes = threads / systems, chunks = shape.chunks;
    const SystemTiles::Tile these = tiles[member.league_rank()];
    const bool exists = s < these.count;
    const std::int64_t system = these.first + (exists ? s : 0);
    const Strided<const T> rhs = b[system];
    // of a chunk: what leaves it, and then what enters it; words of all systems side by side
    T* const forward = team_scratch<T>(member) + s;
    T* const backward = forward + chunks * systems;
    T* const of_groups = backward + chunks * systems;
    const auto load = [&](int p) {
      return ChunkInRegisters<T>(&rhs[p * shape.rows], rhs.stride, rows_of(p));
    };

    for (int p = lane; p < chunks; p += lanes) {
      const auto word = factors.chunk(p);
      ChunkInRegisters<T> chunk = load(p);
      T v[1] = {}, leaves[1] = {};
      chunk.sweep_forward(word, v, leaves);
      forward[p * systems] = v[0];
      backward[p * systems] = leaves[0];
    }
    member.team_barrier();
    chain<0>(member, lane, lanes, forward, of_groups, [&](int p, const T& enters) {
      T& leaves = backward[p * systems];
      leaves = fused(factors.response[p], enters, leaves);
    });
    chain<1>(member, lane, lanes, backward, of_groups, [](int, const T&) {});
    if (!exists) return;

    const Strided<T> solution = x[system];
    // backwards: the chunks that were read last may still be in the cache
    for (int i = (chunks - 1) / lanes; i >= 0; --i) {
      const int p = i * lanes + lane, m = rows_of(p), begin = p * shape.rows;
      if (m <= 0) continue;
      const auto word = factors.chunk(p);
      ChunkInRegisters<T> chunk = load(p);
      T v[1] = {forward[p * systems]}, enters[1] = {backward[p * systems]}, unused[1] = {};
      chunk.sweep_forward(word, v, unused);
      chunk.sweep_backward(word, enters);
      if (!chunk.is_finite()) this->diagnose(system, begin, m, chunk.first_bad());
      chunk.store(&solution[begin], solution.stride);
    }
  }
  static std::size_t scratch_bytes(const FactoredShape<T>& shape, int systems) {
    return sizeof(T) * static_cast<std::size_t>(handed_words(shape, systems)) + alignof(T);
  }
  /// Of a team: a line of memory, or as much of one as fits into scratch.
  static int systems_for(const FactoredShape<T>& shape) {
    int systems = 128 / sizeof(T);
    while (systems > 1 &&
           static_cast<int>(scratch_bytes(shape, systems)) + scratch_reserved(threads) >
               shape.granted)
      systems /= 2;
    return systems;
  }

 private:
  static KOKKOS_INLINE_FUNCTION int handed_words(const FactoredShape<T>& shape, int systems) {
    return systems * (2 * shape.chunks + shape.groups());
  }
  KOKKOS_FORCEINLINE_FUNCTION int rows_of(int p) const {
    const int left = shape.n - p * shape.rows;
    return left < shape.rows ? left : shape.rows;
  }
  /// From what leaves chunks to what enters them, of which `use(p, value)` is told: what leaves
  /// groups of them first.
  template <int way, class Member, class Use>
  KOKKOS_FORCEINLINE_FUNCTION void chain(const Member& member, int lane, int lanes, T* handed,
                                         T* of_groups, const Use& use) const {
    const int chunks = shape.chunks, in_group = 1 << shape.group_bits, groups = shape.groups();
    const auto for_group = [&](int g, const auto& f) {
      const int begin = g * in_group, past = begin + in_group, end = past < chunks ? past : chunks;
      for (int i = 0; i < end - begin; ++i) f(way == 0 ? begin + i : end - 1 - i);
    };
    for (int g = lane; g < groups; g += lanes) {
      T v(0);
      for_group(g, [&](int p) { v = fused(factors.product[way][p], v, handed[p * systems]); });
      of_groups[g * systems] = v;
    }
    member.team_barrier();
    for (int g = lane; g < groups; g += lanes) {
      T v(0);
      for (int i = way == 0 ? 0 : groups - 1; i != g; i += way == 0 ? 1 : -1)
        v = fused(factors.group_product[way][i], v, of_groups[i * systems]);
      for_group(g, [&](int p) {
        T& at = handed[p * systems];
        const T enters = v;
        v = fused(factors.product[way][p], v, at);
        at = enters;
        use(p, enters);
      });
    }
    member.team_barrier();
  }
};

}  // namespace Trikkos::Impl

#endif
