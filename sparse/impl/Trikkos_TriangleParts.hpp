// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEPARTS_HPP
#define TRIKKOS_IMPL_TRIANGLEPARTS_HPP

#include <impl/Trikkos_Slabs.hpp>

/// \file
/// Parts of neighbouring rows, for `blocked`. Within a part rows are sorted by rank; each value
/// that a part works with has a slot in its scratch: first those of its own rows, then those that
/// it imports from parts before it, by rank. Ranks go by level (device) or elimination (host).

namespace Trikkos::Impl {

/// Of a device's team, those that solve rows. H200: with 128 the same within 5 %, but for parts of
/// strips, 32 rows of a level, 1.1 to 1.4 times as long.
inline constexpr int computing_threads = 256;

/// Those that wait for what a part needs of others. Measured on an H200: 8, 16, 32, 64 took 552,
/// 440, 369, 345 us (128^3 points). Whole warps, as they wait for nothing that their own warp
/// makes.
inline constexpr int importing_threads = 64;

/// As kernels see it. Row r of part q has position q rows_of_part + r.
struct PartsView {
  std::int64_t n, rows_of_part, parts, slots;  // slots: of the largest part
  const std::int32_t *import_start, *import_position;
  const unsigned char* is_exported;  // whether a part imports the value at a position

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows(std::int64_t part) const {
    return Kokkos::min(rows_of_part, n - part * rows_of_part);
  }
};

template <class Exec>
struct TriangleParts {
  std::int64_t n = 0, rows_of_part = 0, parts = 0, slots = 0;
  Array<std::int32_t, Exec> import_start, import_position;
  Array<unsigned char, Exec> is_exported;

  PartsView view() const {
    return {n,
            rows_of_part,
            parts,
            slots,
            import_start.data(),
            import_position.data(),
            is_exported.data()};
  }
};

}  // namespace Trikkos::Impl

#endif
