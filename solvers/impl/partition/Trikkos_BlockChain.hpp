// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_BLOCKCHAIN_HPP
#define TRIKKOS_IMPL_BLOCKCHAIN_HPP

#include <algorithm>
#include <impl/partition/Trikkos_ReducedSystem.hpp>
#include <stdexcept>
#include <string>

/// \file
/// The top of the tree of partitions where systems are divided into blocks of rows, as those of
/// ranks or chunks: a segment for each block, merged in a chain.

namespace Trikkos::Impl {

/// By one thread a system: from the segments of all blocks to the values around and at the ends of
/// each.
template <class T>
struct BlockChain {
  const T* segments;         // [blocks][block_words], those of all systems packed
  std::int64_t block_words;  // from a block's words to the next one's
  ChainCoarse<T> chain;

  /// For reports, a block stands for two rows, its first and its last.
  static constexpr std::int64_t rows_of_block = 2;
  static TeamLayout layout(std::int64_t blocks) {
    return {rows_of_block * blocks, rows_of_block, 1, 1, std::max(1, static_cast<int>(blocks))};
  }

  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t system) const {
    load(system);
    chain(system);
  }
  /// Where there is a chain above: the segment of all blocks; and later, with what is around it,
  /// the rest of `solve`.
  KOKKOS_FORCEINLINE_FUNCTION Segment<T> merge(std::int64_t system) const {
    load(system);
    return chain.merge_all(system);
  }
  KOKKOS_FORCEINLINE_FUNCTION void spread(std::int64_t system, const Bounds<T>& b) const {
    chain.spread(system, b);
  }
  /// After `solve` or `spread`.
  KOKKOS_FORCEINLINE_FUNCTION Bounds<T> bounds_of(std::int64_t block, std::int64_t system) const {
    return OuterBounds<T, 1>{of(system) + chain.layout.bounds_offset + 2 * block, 1}.get();
  }
  KOKKOS_FORCEINLINE_FUNCTION void put_bounds_of(std::int64_t block, std::int64_t system,
                                                 const PackedBounds<T>& bounds) const {
    T* const words = bounds.words(system);
    put_bounds([&](int k) -> T& { return words[k]; }, bounds_of(block, system));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void load(std::int64_t system) const {
    const std::int64_t blocks = chain.layout.segments;
    const SegmentArray<T> links{of(system) + chain.layout.level[0].segment_offset, blocks};
    for (std::int64_t r = 0; r < blocks; ++r)
      for (int k = 0; k < Segment<T>::words; ++k)
        links(r, k) = segments[r * block_words + system * Segment<T>::words + k];
  }
  KOKKOS_FORCEINLINE_FUNCTION T* of(std::int64_t system) const {
    return chain.work + system * chain.layout.words;
  }
};

/// What is found in each of some blocks, and in chains of them.
struct ResetMany {
  std::int64_t* words;
  std::int64_t systems;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    Diagnosis{words + Diagnosis::words * k, systems}.reset();
  }
};

/// A report (Trikkos_Diagnosis.hpp) of a row of a block of `rows`, as of one of the whole, where
/// the block begins with row `first` of `total`.
inline std::int64_t report_in_whole(std::int64_t code, std::int64_t rows, std::int64_t first,
                                    std::int64_t total) {
  if (code == Diagnosis::clear) return code;
  const std::int64_t row = code / 4;
  return 4 * (row / rows * total + first + row % rows) + code % 4;
}
/// The same of the first or the last row of a block, as BlockChain reports it. `blocks` tells
/// which rows each has: first(r) to end(r), of total().
template <class Blocks>
std::int64_t report_at_block(std::int64_t code, const Blocks& blocks, std::int64_t count) {
  if (code == Diagnosis::clear) return code;
  constexpr std::int64_t rows = BlockChain<double>::rows_of_block;
  const std::int64_t end = code / 4 % (rows * count), system = code / 4 / (rows * count);
  const auto block = static_cast<int>(end / rows);
  const std::int64_t row = end % rows == 0 ? blocks.first(block) : blocks.end(block) - 1;
  const std::int64_t total = blocks.total();
  return 4 * (system * total + std::clamp<std::int64_t>(row, 0, total - 1)) + code % 4;
}

/// Of other blocks of rows nothing is known but the segments of `segmented`. `why`: "A is ..."
inline void check_block_options(const char* function, const Options& options,
                                const std::string& why) {
  const auto refuse = [&](const std::string& what, const char* expected) {
    throw std::invalid_argument(std::string(function) + ": " + what + ", expected " + expected +
                                " (" + why + ")");
  };
  const Algorithm algorithm = options.algorithm();
  if (algorithm != Algorithm::automatic && algorithm != Algorithm::segmented)
    refuse(std::string("algorithm is ") + name(algorithm), "automatic or segmented");
  if (options.transpose() != Transpose::none) refuse("A is to be transposed", "Transpose::none");
  if (options.scaling() == Scaling::columns) refuse("scaling is columns", "rows or none");
  if (options.verify() > 0) refuse("verify is " + std::to_string(options.verify()), "0");
  if (options.refine() > 0) refuse("refine is " + std::to_string(options.refine()), "0");
}

}  // namespace Trikkos::Impl

#endif
