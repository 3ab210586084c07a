// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDINREGISTERS_HPP
#define TRIKKOS_IMPL_FACTOREDINREGISTERS_HPP

#include <impl/factored/Trikkos_FactoredChunks.hpp>

/// \file
/// Interleaved right-hand sides with one factored open matrix on a device: as in
/// Trikkos_FactoredOnChip.hpp, but that threads have their chunks in registers, as rows of
/// neighbours lie side by side in memory anyway. The words of factors lie there in the order in
/// which a chunk is swept over, so that the compiler knows how far they are from each other:
/// addresses are most of the instructions otherwise.
///
/// Traffic: 1 word an unknown read, 1 written; factors, 4W + 1 words a row, come through the cache.

namespace Trikkos::Impl {

template <class T, int W = 1, int rows = Factors<T, W>::short_chunk>
struct SolveInRegisters : FactoredChunks<T, W> {
  using Base = FactoredChunks<T, W>;
  using Base::factors, Base::b, Base::x, Base::tiles, Base::shape, Base::systems, Base::post;
  using typename Base::Values;

  int systems_bits;  // systems are a power of two

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const SystemTiles::Tile these = tiles[member.league_rank()];
    const int s = member.team_rank() & (systems - 1), p = member.team_rank() >> systems_bits;
    const int begin = p * shape.rows, left = p < shape.chunks ? shape.n - begin : 0;
    const int m = s >= these.count ? 0 : left < shape.rows ? left : shape.rows;
    T* const handed = team_scratch<T>(member);
    T* const handed_back = handed + shape.handed_words(systems);
    const Vectors<const T> rhs = b.block(these.first);
    const auto word = factors.chunk(p < shape.chunks ? p : 0);
    const bool corrects = W > 1 && factors.judged() == FactorsAre::stable_if_corrected;

    ChunkInRegisters<T, W, rows> chunk(rhs.data + (s * rhs.system_stride + begin * rhs.row_stride),
                                       rhs.row_stride, m);
    Values v = {}, leaves = {};
    chunk.leaves_forward(word, v);
    this->template entering<true>(member, handed, s, p, v);
    if (corrects) post(handed_back, s, p, v);
    chunk.sweep_forward(word, v, leaves);
    if (corrects) {
      this->template mistaken<true>(member, handed_back, s, p, v);
      this->template entering<true>(member, handed, s, p, v);
      chunk.correct_forward(word, v, leaves);
    }
    this->template entering<false>(member, handed_back, s, p, leaves);
    if (corrects) post(handed, s, p, leaves);
    chunk.sweep_backward(word, leaves);
    if (corrects) {
      this->template mistaken<false>(member, handed, s, p, leaves);
      this->template entering<false>(member, handed_back, s, p, leaves);
      chunk.correct_backward(word, leaves);
    }
    if (m == 0) return;
    if (!chunk.is_finite()) this->diagnose(these.first + s, begin, m, chunk.first_bad());
    const Vectors<T> solution = x.block(these.first);
    chunk.store(solution.data + (s * solution.system_stride + begin * solution.row_stride),
                solution.row_stride);
  }
};

}  // namespace Trikkos::Impl

#endif
