// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_FACTORPATTERN_HPP
#define TRIKKOS_IMPL_FACTORPATTERN_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <impl/Trikkos_LevelOrder.hpp>
#include <impl/Trikkos_PackedTriangle.hpp>

/// \file
/// Where incomplete factors have entries: where A has some, and on the diagonal. Rows are sorted by
/// column; what A has several times is one entry, which has several sources.

namespace Trikkos::Impl {

/// Row i has the entries start[i] to start[i + 1]. Entry k is the sum of the given values numbered
/// source[first_source[k]] to source[first_source[k + 1]]: no_source is nothing, any other negative
/// number s the conjugate of value conjugate_of(s).
struct FactorRows {
  const std::int64_t* start;
  const std::int32_t* column;
  const std::int64_t* diagonal;  // entry of each row
  const std::int64_t* first_source;
  const std::int64_t* source;

  static constexpr std::int64_t no_source = TriangleRows::no_source;
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t conjugate_of(std::int64_t s) { return -2 - s; }
};

/// Which entries of A are read: all, or those of the lower triangle.
struct FactorShape {
  bool is_lower;
  KOKKOS_FORCEINLINE_FUNCTION bool wants(std::int64_t i, std::int64_t j) const {
    return !is_lower || j <= i;
  }
};

/// What is wanted of A, with other numbers for rows and columns. Of a Hermitian A, what comes to
/// stand above the diagonal is that entry's conjugate below it, in another row.
struct NumberedPattern {
  CsrPattern A;
  FactorShape shape;
  const std::int32_t* new_row;  // null: as in A

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t number(std::int64_t i) const {
    return new_row == nullptr ? static_cast<std::int32_t>(i) : new_row[i];
  }
  KOKKOS_FORCEINLINE_FUNCTION bool moves(std::int32_t row, std::int32_t column) const {
    return shape.is_lower && column > row;
  }
  /// f(k, column) for what is wanted of row i of A.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(std::int64_t i, const F& f) const {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (shape.wants(i, A.column[k])) f(k, number(A.column[k]));
  }
  /// Entries that stay in their row, and its diagonal, be it stored or not.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t staying(std::int64_t i) const {
    const std::int32_t row = number(i);
    std::int64_t count = 1;
    for_row(i, [&](std::int64_t, std::int32_t column) { count += !moves(row, column); });
    return count;
  }
};
struct CountSources {
  NumberedPattern pattern;
  std::int64_t* count;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int32_t row = pattern.number(i);
    pattern.for_row(i, [&](std::int64_t, std::int32_t column) {
      if (pattern.moves(row, column)) Kokkos::atomic_inc(count + column);
    });
    Kokkos::atomic_add(count + row, pattern.staying(i));
  }
};
struct CollectSources {
  NumberedPattern pattern;
  std::int64_t* next;  // free place of each row
  TriangleRows rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int32_t row = pattern.number(i);
    std::int64_t at = Kokkos::atomic_fetch_add(next + row, pattern.staying(i));
    set(at++, row, FactorRows::no_source);
    pattern.for_row(i, [&](std::int64_t k, std::int32_t column) {
      if (pattern.moves(row, column))
        set(Kokkos::atomic_fetch_add(next + column, std::int64_t(1)), row,
            FactorRows::conjugate_of(k));
      else
        set(at++, column, k);
    });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void set(std::int64_t at, std::int32_t column,
                                       std::int64_t source) const {
    rows.needed[at] = column;
    rows.source[at] = source;
  }
};

KOKKOS_FORCEINLINE_FUNCTION bool begins_entry(const TriangleRows& sorted, std::int64_t row,
                                              std::int64_t k) {
  return k == sorted.start[row] || sorted.needed[k] != sorted.needed[k - 1];
}

struct CountColumns {
  TriangleRows sorted;
  std::int64_t* count;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t columns = 0;
    for (std::int64_t k = sorted.start[i]; k < sorted.start[i + 1]; ++k)
      columns += begins_entry(sorted, i, k);
    count[i] = columns;
  }
};
struct ListColumns {
  TriangleRows sorted;
  const std::int64_t* start;
  std::int64_t n;
  std::int32_t* column;
  std::int64_t *diagonal, *first_source;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t entry = start[i];
    for (std::int64_t k = sorted.start[i]; k < sorted.start[i + 1]; ++k) {
      if (!begins_entry(sorted, i, k)) continue;
      if (sorted.needed[k] == i) diagonal[i] = entry;
      column[entry] = sorted.needed[k];
      first_source[entry++] = k;
    }
    if (i == n - 1) first_source[entry] = sorted.start[n];
  }
};

/// Rows whose diagonal entry has no source but the one that sets it to zero.
struct MissingDiagonals {
  FactorRows rows;

  struct First {};
  struct Count {};
  KOKKOS_INLINE_FUNCTION void operator()(First, std::int64_t i, std::int64_t& first) const {
    if (is_missing(i) && i < first) first = i;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t i, std::int64_t& count) const {
    count += is_missing(i);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_missing(std::int64_t i) const {
    const std::int64_t d = rows.diagonal[i];
    return rows.first_source[d + 1] - rows.first_source[d] == 1;
  }
};

/// The memory behind FactorRows.
template <class Exec>
struct FactorPattern {
  std::int64_t n = 0, entries = 0;
  std::int64_t missing_row = -1, missing = 0;  // diagonal entries
  Array<std::int64_t, Exec> start, diagonal, first_source, source;
  Array<std::int32_t, Exec> column;

  FactorRows rows() const {
    return {start.data(), column.data(), diagonal.data(), first_source.data(), source.data()};
  }
  CsrPattern as_given() const { return {start.data(), {column.data(), 1}}; }
};

/// Waits.
template <class Exec>
void find_missing_diagonals(const Exec& exec, FactorPattern<Exec>& pattern) {
  constexpr auto label = "Trikkos::IncompleteFactors::find_missing";
  const MissingDiagonals missing{pattern.rows()};
  std::int64_t first = Diagnosis::clear;
  Kokkos::parallel_reduce(label, range<MissingDiagonals::First>(exec, pattern.n), missing,
                          Kokkos::Min<std::int64_t>(first));
  exec.fence(label);
  if (first == Diagnosis::clear) return;
  pattern.missing_row = first;
  Kokkos::parallel_reduce(label, range<MissingDiagonals::Count>(exec, pattern.n), missing,
                          Kokkos::Sum<std::int64_t>(pattern.missing));
  exec.fence(label);
}

/// Waits.
template <class Exec>
FactorPattern<Exec> factor_pattern(const Exec& exec, const NumberedPattern& A, std::int64_t n) {
  FactorPattern<Exec> r;
  r.n = n;
  r.start = new_array<std::int64_t>(exec, "start", n + 1, std::int64_t(0));
  if (n == 0) return r;
  const auto begin = new_array<std::int64_t>(exec, "sources", n + 1, std::int64_t(0));
  Kokkos::parallel_for("Trikkos::IncompleteFactors::count_sources", range(exec, n),
                       CountSources{A, begin.data()});
  sum_up(exec, begin.data(), n + 1);
  const std::int64_t sources =
      fetch(exec, begin.data() + n, "Trikkos::IncompleteFactors::count_sources");
  const auto columns = new_array<std::int32_t>(exec, "columns", sources);
  const auto rank = new_array<std::int32_t>(exec, "rank", n);
  r.source = new_array<std::int64_t>(exec, "source", sources);
  const TriangleRows sorted{begin.data(), columns.data(), r.source.data()};
  const auto next = new_array<std::int64_t>(exec, "next", n);
  copy(exec, Copy<std::int64_t>{begin.data(), next.data(), n});
  Kokkos::parallel_for("Trikkos::IncompleteFactors::collect", range(exec, n),
                       CollectSources{A, next.data(), sorted});
  Kokkos::parallel_for("Trikkos::IncompleteFactors::list", range(exec, n),
                       ListRows{{n, true}, rank.data()});
  Kokkos::parallel_for("Trikkos::IncompleteFactors::sort_rows", range(exec, n),
                       SortRows{sorted, rank.data()});

  Kokkos::parallel_for("Trikkos::IncompleteFactors::count_columns", range(exec, n),
                       CountColumns{sorted, r.start.data()});
  sum_up(exec, r.start.data(), n + 1);
  r.entries = fetch(exec, r.start.data() + n, "Trikkos::IncompleteFactors::count_columns");
  r.column = new_array<std::int32_t>(exec, "column", r.entries);
  r.diagonal = new_array<std::int64_t>(exec, "diagonal", n);
  r.first_source = new_array<std::int64_t>(exec, "first_source", r.entries + 1);
  Kokkos::parallel_for("Trikkos::IncompleteFactors::list_columns", range(exec, n),
                       ListColumns{sorted, r.start.data(), n, r.column.data(), r.diagonal.data(),
                                   r.first_source.data()});
  find_missing_diagonals(exec, r);
  exec.fence("Trikkos::IncompleteFactors::pattern");  // before what it worked in is freed
  return r;
}

}  // namespace Trikkos::Impl

#endif
