// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DISSECTEDSYSTEMS_HPP
#define TRIKKOS_IMPL_DISSECTEDSYSTEMS_HPP

#include <impl/Trikkos_DissectedChunk.hpp>
#include <impl/Trikkos_SystemsOnChip.hpp>

/// \file
/// Many systems of W diagonals on either side, without pivoting and watched, on a device. A
/// thread eliminates a chunk of one, and separators go in a tree (Trikkos_Dissection.hpp), all in
/// the place of the rows. Systems of which anything grows, or is not finite, are not stored, but
/// marked: another kernel solves them behind.
///
/// Traffic: 2W + 2 words a row read, 1 written.

namespace Trikkos::Impl {

template <class T, class Matrices, bool Interleaved = false, bool InStep = false>
struct SolveDissected : SystemsOnChip<T, Interleaved, Matrices, 0, InStep> {
  using Base = SystemsOnChip<T, Interleaved, Matrices, 0, InStep>;
  using Base::problem, Base::shape, Base::tiles, Base::rhs, Base::place;
  static constexpr int W = Base::W;

  Marks<T> marks;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int t = member.team_rank(), systems = shape.systems(), chunks = shape.partitions();
    // neighbouring threads have neighbouring chunks, or systems
    const int s = Interleaved ? t % systems : t >> shape.levels,
              p = Interleaved ? t / systems : t & (chunks - 1);
    const SystemTiles::Tile tile = tiles[member.league_rank()];
    T* const scratch = team_scratch<T, staging_alignment>(member);
    T* const bands = Base::bands_in(scratch, tile);
    T* const failed = bands + shape.bands * shape.band_words();
    if (p == 0) failed[s] = T(0);
    Base::pad(member, bands);
    let_next_begin(member);
    Base::load_short_or_long(member, scratch + shape.words(), bands, tile);
    wait_for_kernels_before(member);
    const ChunkRows<T, W, Interleaved> chunk{
        bands + W * shape.band_words() + place(s, p * shape.rows), shape.band_words(), shape.rows,
        Base::apart()};
    const int threads = Interleaved ? shape.lanes : chunks;
    if (!solve_dissected(chunk, member, p, chunks, threads)) failed[s] = T(1);
    barrier_of_systems(member, threads);
    if (p == 0 && s < tile.count) marks.mark(tile.first + s, failed[s] != T(0));
    Base::store_some(member, bands, tile, [&](int k) { return failed[k] == T(0); });
  }
};

template <class T, class Exec, int W>
class DissectedSystems {
  using OnChip = OnChipShape<T, W>;

 public:
  /// For so many systems at least.
  explicit DissectedSystems(const Shape& shape, std::int64_t least = 1 << 12)
      : m_least(least),
        m_contiguous(OnChip::chunks(rows_of(shape), scratch_of_teams<Exec>())),
        m_interleaved(OnChip::interleaved_chunks(rows_of(shape), scratch_of_teams<Exec>())) {}
  bool fits(bool interleaved) const { return shape(interleaved).lanes > 0; }
  template <class Matrices>
  bool is_for(const Problem<T, W, Matrices>& problem, bool interleaved) const {
    return !ComputedMatrices<Matrices> && fits(interleaved) && problem.count() >= m_least &&
           !problem.A.first.periodic;
  }
  template <class Matrices>
  void solve(const Exec& exec, const Problem<T, W, Matrices>& problem, const Marks<T>& marks,
             bool interleaved) const {
    launch_one(exec, "Trikkos::dissected::reset",
               ResetWanted{problem.diagnosis, problem.resets, marks.any});
    if (interleaved)
      launch<true>(exec, problem, marks);
    else
      launch<false>(exec, problem, marks);
  }

 private:
  std::int64_t rows_of(const Shape& shape) const { return shape.count < m_least ? 0 : shape.n; }
  const OnChip& shape(bool interleaved) const { return interleaved ? m_interleaved : m_contiguous; }
  template <bool Interleaved, class Matrices>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem,
              const Marks<T>& marks) const {
    if constexpr (Interleaved && OnChip::each == 2) {
      const OnChip stepped = m_interleaved.with_step_of_rows();
      if (are_rows_to_be_in_step(problem) && stepped.fits(scratch_of_teams<Exec>()))
        return launch<true, true>(exec, problem, marks, stepped);
    } else if constexpr (!Interleaved && OnChip::each > 1) {
      if (are_to_be_in_step(problem))
        return launch<false, true>(exec, problem, marks,
                                   m_contiguous.in_step(problem.b.system_stride));
    }
    launch<Interleaved, false>(exec, problem, marks, shape(Interleaved));
  }
  template <bool Interleaved, bool InStep, class Matrices>
  void launch(const Exec& exec, const Problem<T, W, Matrices>& problem, const Marks<T>& marks,
              const OnChip& shape) const {
    const SolveDissected<T, Matrices, Interleaved, InStep> kernel{
        {problem, shape, SystemTiles(problem.slab(), shape.systems()),
         can_load_in_bulk<Interleaved, staging_alignment>(problem)},
        marks};
    launch_teams<256>(exec, "Trikkos::dissected",
                      {static_cast<int>(kernel.tiles.count(problem.count())), shape.lanes,
                       shape.scratch_bytes(), /*overlap=*/true},
                      kernel);
  }

  std::int64_t m_least;
  OnChip m_contiguous, m_interleaved;
};

}  // namespace Trikkos::Impl

#endif
