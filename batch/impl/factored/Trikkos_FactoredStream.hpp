// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTOREDSTREAM_HPP
#define TRIKKOS_IMPL_FACTOREDSTREAM_HPP

#include <impl/Trikkos_Method.hpp>
#include <impl/factored/Trikkos_FactoredShape.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>

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
struct StreamFactored {
  using F = Factors<T>;
  static constexpr int threads = 128;

  F factors;
  Vectors<const T> b;
  Vectors<T> x;
  SystemTiles tiles;  // one a team
  Diagnosis diagnosis;
  FactoredShape<T> shape;
  int systems;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), s = t % systems, lane = t / systems,
              lanes = threads / systems, chunks = shape.chunks;
    const SystemTiles::Tile these = tiles[member.league_rank()];
    const bool exists = s < these.count;
    const std::int64_t system = these.first + (exists ? s : 0);
    const Strided<const T> rhs = b[system];
    T* const scratch = team_scratch<T>(member);
    // of a chunk: what leaves it, and then what enters it; words of all systems side by side
    T* const forward = scratch + s;
    T* const backward = forward + chunks * systems;
    T* const of_groups = backward + chunks * systems;
    T* const y = scratch + handed_words(shape, systems) + t;  // of this thread
    const std::int64_t to_lower = away(F::lower), to_upper = away(F::upper),
                       to_weight = away(F::leaves_backward);

    for (int p = lane; p < chunks; p += lanes) {
      const int m = rows_of(p);
      const T* from = &rhs[p * shape.rows];
      const T* inverse = factors.band[F::inverse] + p;
      T z(0), leaves(0);
      TRIKKOS_UNROLL(8)
      for (int k = 0; k < m; ++k) {
        z = fused(-inverse[to_lower], z, product(*inverse, *from));
        leaves = fused(inverse[to_weight], z, leaves);
        from += rhs.stride;
        inverse += chunks;
      }
      forward[p * systems] = z;
      backward[p * systems] = leaves;
    }
    member.team_barrier();
    chain<0>(member, lane, lanes, forward, of_groups, [&](int p, const T& enters) {
      T& leaves = backward[p * systems];
      leaves = fused(factors.response[p], enters, leaves);
    });
    chain<1>(member, lane, lanes, backward, of_groups, [](int, const T&) {});
    if (!exists) return;

    const Strided<T> solution = x[system];
    for (int p = lane; p < chunks; p += lanes) {
      const int m = rows_of(p);
      const T* from = &rhs[p * shape.rows];
      const T* inverse = factors.band[F::inverse] + p;
      T z = forward[p * systems];
      TRIKKOS_UNROLL(8)
      for (int k = 0; k < m; ++k) {
        z = fused(-inverse[to_lower], z, product(*inverse, *from));
        y[k * threads] = z;
        from += rhs.stride;
        inverse += chunks;
      }
      T v = backward[p * systems];
      Real<T> probe(0);
      TRIKKOS_UNROLL(8)
      for (int k = m - 1; k >= 0; --k) {
        inverse -= chunks;
        v = fused(-inverse[to_upper], v, y[k * threads]);
        y[k * threads] = v;
        probe += finite_probe(v);
      }
      if (!(probe == 0)) diagnose(system, p, m, y, rhs);
      T* to = &solution[p * shape.rows];
      TRIKKOS_UNROLL(8)
      for (int k = 0; k < m; ++k, to += solution.stride) *to = y[k * threads];
    }
  }
  static std::size_t scratch_bytes(const FactoredShape<T>& shape, int systems) {
    return sizeof(T) *
               static_cast<std::size_t>(handed_words(shape, systems) + threads * shape.rows) +
           alignof(T);
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
  /// From 1/p to another word of the same row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t away(int band) const {
    return factors.band[band] - factors.band[F::inverse];
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
  /// What is not finite is reported where it is first seen: in b, which is still what it was, and
  /// in x.
  KOKKOS_FUNCTION void diagnose(std::int64_t system, int p, int m, const T* y,
                                const Strided<const T>& rhs) const {
    const Diagnosis found = diagnosis.of(system, shape.n);
    found.mark_suspect();
    const int begin = p * shape.rows;
    for (int k = m - 1; k >= 0; --k) {
      if (!(finite_probe(y[k * threads]) == 0)) found.report_solution(begin + k);
      if (!(finite_probe(rhs[begin + k]) == 0)) found.report(Status::Reason::not_finite, begin + k);
    }
  }
};

}  // namespace Trikkos::Impl

#endif
