// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDINREGISTERS_HPP
#define TRIKKOS_IMPL_FACTOREDINREGISTERS_HPP

#include <impl/factored/Trikkos_FactoredChunks.hpp>

/// \file
/// Interleaved right-hand sides with one factored open tridiagonal matrix on a device: as in
/// Trikkos_FactoredOnChip.hpp, but that threads have their chunks in registers, where rows of
/// neighbours lie side by side in memory anyway. Words of factors lie one behind the other for each
/// chunk, so that the compiler knows how far from each other: addresses are most of the
/// instructions otherwise.
///
/// Traffic: 1 word an unknown read, 1 written; factors, 5 words a row, come through the cache.

namespace Trikkos::Impl {

template <class T>
struct SolveInRegisters : FactoredChunks<T, 1> {
  using Base = FactoredChunks<T, 1>;
  using Base::factors, Base::b, Base::x, Base::tiles, Base::shape, Base::systems;
  using typename Base::Values;
  /// So many threads of an SM: more have too few registers each, fewer wait for memory together.
  static constexpr int registers_for = sizeof(T) > 8 ? 512 : sizeof(T) > 4 ? 768 : 1024;

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

    ChunkInRegisters<T> chunk(rhs.data + (s * rhs.system_stride + begin * rhs.row_stride),
                              rhs.row_stride, m);
    Values v = {{chunk.leaves_forward(word)}};
    this->template entering<true>(member, handed, s, p, v);
    v[0][0] = chunk.sweep_forward(word, v[0][0]);
    this->template entering<false>(member, handed_back, s, p, v);
    const Real<T> probe = chunk.sweep_backward(word, v[0][0]);
    if (m == 0) return;
    if (!(probe == 0)) this->diagnose(these.first + s, begin, m, chunk.first_bad(m));
    const Vectors<T> solution = x.block(these.first);
    chunk.store(solution.data + (s * solution.system_stride + begin * solution.row_stride),
                solution.row_stride, m);
  }
};

}  // namespace Trikkos::Impl

#endif
