// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_COPYWINDOW_HPP
#define TRIKKOS_IMPL_COPYWINDOW_HPP

#include <impl/Trikkos_System.hpp>

namespace Trikkos::Impl {

/// Some rows of some systems, between a vector's place and a buffer, where systems and rows are
/// counted from others on.
template <class T>
struct CopyWindow {
  Vectors<const T> from;
  Vectors<T> to;
  std::int64_t from_system, from_row, to_system, to_row, rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto [k, i] = split_index(index, rows);
    to[to_system + k][to_row + i] = from[from_system + k][from_row + i];
  }
};

}  // namespace Trikkos::Impl

#endif
