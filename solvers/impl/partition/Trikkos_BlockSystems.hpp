// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_BLOCKSYSTEMS_HPP
#define TRIKKOS_IMPL_BLOCKSYSTEMS_HPP

#include <impl/Trikkos_System.hpp>

/// \file
/// Neighbouring rows of larger systems, as those of one rank or one chunk, as the kernels of
/// partitions see them.

namespace Trikkos::Impl {

/// Neighbouring rows of a tridiagonal matrix: lower(0) and upper(n-1) are their couplings to the
/// rows before and after them, and are not read where there are none.
template <class T>
struct BlockBands : Bands<T> {
  bool has_before = false, has_after = false;

  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    const bool is_outside =
        (j < 0 && i == 0 && !has_before) || (j > 0 && i == this->n - 1 && !has_after);
    return is_outside ? T(0) : this->value(this->band[1 + j][i]);
  }
};

template <class T>
struct BlockSystems : Systems<T> {
  static constexpr bool is_part = true;

  bool has_before = false, has_after = false;

  KOKKOS_FORCEINLINE_FUNCTION BlockBands<T> operator[](std::int64_t k) const {
    return {Systems<T>::operator[](k), has_before, has_after};
  }
  BlockSystems block(std::int64_t k, std::int64_t count_) const {
    return {Systems<T>::block(k, count_), has_before, has_after};
  }
};

}  // namespace Trikkos::Impl

#endif
