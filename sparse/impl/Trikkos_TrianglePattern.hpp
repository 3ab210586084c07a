// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEPATTERN_HPP
#define TRIKKOS_IMPL_TRIANGLEPATTERN_HPP

#include <Trikkos_CsrTriangle.hpp>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_Launch.hpp>
#include <impl/Trikkos_Residual.hpp>

/// \file
/// The rows of op(A)'s triangle: who needs whom, and which of the given values.

namespace Trikkos::Impl {

template <class T, class Exec>
using Array = Kokkos::View<T*, typename Exec::memory_space>;

template <class T, class Exec>
Array<T, Exec> new_array(const Exec& exec, const char* what, std::int64_t count) {
  const std::string label = std::string("Trikkos::TriangularPlan::") + what;
  return Array<T, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), count);
}

template <class T>
struct Fill {
  T* to;
  T value;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = value; }
};
template <class T, class Exec>
void fill(const Exec& exec, T* to, std::int64_t count, const T& value) {
  Kokkos::parallel_for("Trikkos::TriangularPlan::fill", range(exec, count), Fill<T>{to, value});
}
template <class T>
struct Copy {
  const T* from;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i]; }
};
template <class T, class Exec>
Array<T, Exec> new_array(const Exec& exec, const char* what, std::int64_t count, const T& value) {
  const auto r = new_array<T>(exec, what, count);
  fill(exec, r.data(), count, value);
  return r;
}

/// A CSR matrix as it was given, without values.
struct CsrPattern {
  const std::int64_t* row_map;
  Strided<const std::int32_t> column;
};

/// The rows in the order of elimination.
struct RowOrder {
  std::int64_t n;
  bool is_forward;

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator[](std::int64_t e) const {
    return static_cast<std::int32_t>(is_forward ? e : n - 1 - e);
  }
};

/// Which entries are wanted, and as what. Rows are numbered in the order in which they can be
/// solved one after the other: forwards, or backwards if op(A) is an upper triangle.
struct TriangleShape {
  std::int64_t n = 0;
  bool stored_lower = true, unit = false, transposed = false;

  KOKKOS_FORCEINLINE_FUNCTION bool wants(std::int64_t i, std::int64_t j) const {
    return i == j ? !unit : (j < i) == stored_lower;
  }
  bool is_forward() const { return stored_lower != transposed; }
  RowOrder natural() const { return {n, is_forward()}; }
};

/// Row r of op(A) has the entries start[r] to start[r + 1]: the row that it needs, or r itself for
/// the diagonal, and the number of the value.
struct TriangleRows {
  static constexpr std::int64_t no_source = -1;  // of the sum that a segment goes on with

  const std::int64_t* start;
  std::int32_t* needed;
  std::int64_t* source;

  /// Where the diagonal comes last: entries without it.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t needed_entries(std::int64_t r) const {
    std::int64_t end = start[r + 1];
    while (end > start[r] && needed[end - 1] == r) --end;
    return end - start[r];
  }
};

// ---- checks

template <class From>
struct CopyRowMap {
  Strided<const From> from;
  std::int64_t* to;

  /// Finds the first row that starts before the one before it.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& first_bad) const {
    to[i] = static_cast<std::int64_t>(from[i]);
    const bool is_bad = i == 0 ? from[0] != 0 : from[i] < from[i - 1];
    if (is_bad && i < first_bad) first_bad = i;
  }
};

struct CheckColumns {
  Strided<const std::int32_t> column;
  std::int64_t n;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, std::int64_t& first_bad) const {
    const bool is_bad = column[k] < 0 || column[k] >= n;
    if (is_bad && k < first_bad) first_bad = k;
  }
};

template <class Exec, class Functor>
std::int64_t find_first(const Exec& exec, const char* label, std::int64_t count,
                        const Functor& functor) {
  std::int64_t first = Diagnosis::clear;
  Kokkos::parallel_reduce(label, range(exec, count), functor, Kokkos::Min<std::int64_t>(first));
  exec.fence(label);
  return first;
}

/// The row map in 64 bits. Waits.
/// \throws std::invalid_argument for a matrix that is none
template <class Exec, class Matrix>
Array<std::int64_t, Exec> checked_row_map(const Exec& exec, const Matrix& A,
                                          const char* function = "Trikkos::TriangularPlan") {
  using Offset = typename decltype(A.row_map)::non_const_value_type;
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument(std::string(function) + ": " + what);
  };
  const auto at = [](const char* name, std::int64_t i, std::int64_t value) {
    return std::string(name) + "(" + std::to_string(i) + ") is " + std::to_string(value);
  };
  const std::int64_t n = A.rows(), entries = A.entries.extent(0);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (n > most)
    refuse("row_map has " + std::to_string(n) + " rows, expected at most " + std::to_string(most) +
           " (32-bit entries)");
  expect_extent(function, "values", "entries", A.values.extent(0), entries, "entries.extent(0)");

  const auto row_map = new_array<std::int64_t>(exec, "row_map", n + 1);
  if (n == 0) return row_map;  // nobody reads it
  const auto offset = [&](std::int64_t i) {
    return fetch(exec, row_map.data() + i, "Trikkos::TriangularPlan::row_map");
  };
  const std::int64_t bad_row =
      find_first(exec, "Trikkos::TriangularPlan::check_row_map", n + 1,
                 CopyRowMap<Offset>{strided<const Offset>(A.row_map), row_map.data()});
  if (bad_row == 0) refuse(at("row_map", 0, offset(0)) + ", expected 0");
  if (bad_row <= n)
    refuse(at("row_map", bad_row, offset(bad_row)) + ", expected at least " +
           std::to_string(offset(bad_row - 1)) + " as the one before");
  if (offset(n) > entries)
    refuse(at("row_map", n, offset(n)) + ", expected at most " + std::to_string(entries) +
           " (entries.extent(0))");
  return row_map;
}

template <class Matrix>
Strided<const std::int32_t> columns_of(const Matrix& A) {
  return {reinterpret_cast<const std::int32_t*>(A.entries.data()), row_stride(A.entries)};
}

/// Waits.
/// \throws std::invalid_argument for a column outside the matrix
template <class Exec>
void check_columns(const Exec& exec, Strided<const std::int32_t> column, std::int64_t n,
                   std::int64_t entries, const char* function = "Trikkos::TriangularPlan") {
  const std::int64_t k =
      find_first(exec, "Trikkos::TriangularPlan::check_columns", entries, CheckColumns{column, n});
  if (k == Diagnosis::clear) return;
  throw std::invalid_argument(
      std::string(function) + ": entries(" + std::to_string(k) + ") is " +
      std::to_string(fetch(exec, &column[k], "Trikkos::TriangularPlan::entries")) +
      ", expected 0 to " + std::to_string(n - 1) + " (" + std::to_string(n) + " rows)");
}

// ---- rows of op(A)

/// Counts the entries of each row, and those that are not wanted.
struct CountEntries {
  CsrPattern A;
  TriangleShape shape;
  std::int64_t* count;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& ignored) const {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int32_t j = A.column[k];
      if (!shape.wants(i, j))
        ++ignored;
      else if (shape.transposed)
        Kokkos::atomic_inc(count + j);
      else
        ++count[i];
    }
  }
};

/// From counts to starts, in place.
template <class Count>
struct ExclusiveSum {
  Count* count;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, Count& sum, bool is_final) const {
    const Count here = count[i];
    if (is_final) count[i] = sum;
    sum += here;
  }
};
template <class Exec, class Count>
void sum_up(const Exec& exec, Count* count, std::int64_t size) {
  Kokkos::parallel_scan("Trikkos::TriangularPlan::sum", range(exec, size),
                        ExclusiveSum<Count>{count});
}

struct FillRows {
  CsrPattern A;
  TriangleShape shape;
  std::int64_t* next;  // free place of each row
  TriangleRows rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int32_t j = A.column[k];
      if (!shape.wants(i, j)) continue;
      const std::int64_t at =
          shape.transposed ? Kokkos::atomic_fetch_add(next + j, std::int64_t(1)) : next[i]++;
      rows.needed[at] = shape.transposed ? static_cast<std::int32_t>(i) : j;
      rows.source[at] = k;
    }
  }
};

/// The memory behind TriangleRows.
template <class Exec>
struct TrianglePattern {
  TriangleShape shape;
  Array<std::int64_t, Exec> start, source;
  Array<std::int32_t, Exec> needed;
  std::int64_t entries = 0, ignored = 0;

  TriangleRows rows() const { return {start.data(), needed.data(), source.data()}; }
};

/// Rows in which entries are in no particular order, if transposed in one that may differ from run
/// to run. Waits.
template <class Exec>
TrianglePattern<Exec> triangle_pattern(const Exec& exec, const CsrPattern& A,
                                       const TriangleShape& shape) {
  TrianglePattern<Exec> r{shape, {}, {}, {}};
  r.start = new_array<std::int64_t>(exec, "start", shape.n + 1, std::int64_t(0));
  Kokkos::parallel_reduce("Trikkos::TriangularPlan::count", range(exec, shape.n),
                          CountEntries{A, shape, r.start.data()}, r.ignored);
  sum_up(exec, r.start.data(), shape.n + 1);
  r.entries = fetch(exec, r.start.data() + shape.n, "Trikkos::TriangularPlan::start");
  r.needed = new_array<std::int32_t>(exec, "needed", r.entries);
  r.source = new_array<std::int64_t>(exec, "source", r.entries);
  const auto next = new_array<std::int64_t>(exec, "next", shape.n + 1);
  Kokkos::parallel_for("Trikkos::TriangularPlan::copy", range(exec, shape.n),
                       Copy<std::int64_t>{r.start.data(), next.data()});
  Kokkos::parallel_for("Trikkos::TriangularPlan::fill_rows", range(exec, shape.n),
                       FillRows{A, shape, next.data(), r.rows()});
  exec.fence("Trikkos::TriangularPlan::fill_rows");  // before `next` is freed
  return r;
}

}  // namespace Trikkos::Impl

#endif
