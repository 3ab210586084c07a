// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_TRIANGLEROWS_HPP
#define TRIKKOS_TEST_TRIANGLEROWS_HPP

#include <Triangles.hpp>
#include <impl/Trikkos_TriangleSegments.hpp>

namespace Test {

/// The rows of op(A) as a device has them before it packs them.
template <class Exec>
struct RowsOfTriangle {
  Trikkos::Impl::Slabs<Exec> memory{"test"};
  Trikkos::Impl::TrianglePattern<Exec> pattern;    // sorted by level
  Trikkos::Impl::TriangleSegments<Exec> segments;  // none where no row is long

  template <class T>
  RowsOfTriangle(const Exec& exec, const HostTriangle<T>& A, Trikkos::Transpose op) {
    const auto matrix = on_device<Exec>(A);
    const auto row_map = Trikkos::Impl::checked_row_map(exec, memory, matrix);
    const Trikkos::Impl::CsrPattern given{row_map.data(), Trikkos::Impl::columns_of(matrix)};
    pattern = Trikkos::Impl::triangle_pattern(
        exec, memory, given,
        {A.rows(), A.uplo == Trikkos::Uplo::lower, A.diag == Trikkos::Diag::unit,
         op != Trikkos::Transpose::none});
    Trikkos::Impl::find_levels(exec, memory, pattern, given);
    const auto rank = by_level(exec, memory, pattern).position;
    Kokkos::parallel_for("Test::sort_rows", Trikkos::Impl::range(exec, A.rows()),
                         Trikkos::Impl::SortRows{pattern.rows(), rank.data()});
    const auto first = Trikkos::Impl::count_segments(exec, memory, pattern);
    const auto count = fetch(exec, pattern.findings.data(), "Test::RowsOfTriangle").segments;
    segments = Trikkos::Impl::divide_rows(exec, memory, pattern, first, count);
    exec.fence("Test::RowsOfTriangle");
  }
  bool are_divided() const { return segments.row_of.extent(0) > 0; }

  static auto by_level(const Exec& exec, Trikkos::Impl::Slabs<Exec>& memory,
                       const Trikkos::Impl::TrianglePattern<Exec>& of) {
    const auto last = Trikkos::Impl::largest_of(exec, of.level);
    return Trikkos::Impl::order_by_level(exec, memory, of.shape.natural(), of.level, last);
  }
};

}  // namespace Test

#endif
