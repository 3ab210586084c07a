// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_TRIANGLEPATTERN_HPP
#define TRIKKOS_IMPL_TRIANGLEPATTERN_HPP

#include <Trikkos_CsrTriangle.hpp>
#include <bit>
#include <impl/Trikkos_Check.hpp>
#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/Trikkos_ExclusiveSum.hpp>
#include <impl/Trikkos_Residual.hpp>
#include <impl/Trikkos_Slabs.hpp>
#include <impl/Trikkos_Tickets.hpp>
#include <impl/Trikkos_TriangleRows.hpp>

/// \file
/// The rows of op(A)'s triangle: who needs whom, and which of the given values.

namespace Trikkos::Impl {

/// What the analysis finds out, where Exec works: the host reads it where it must know.
struct TriangleFindings {
  std::int64_t bad_row = Diagnosis::clear, bad_entry = Diagnosis::clear;  // the first ones
  std::int64_t stored = 0, entries = 0;  // of all rows, of the triangle
  std::int32_t last_level = -1;          // of a row
  std::int32_t longest = 0;              // entries of a row, without the diagonal,
  std::int64_t longest_with = 8;         // with it; shorter ones make no difference
  std::int64_t segments = 0;             // of rows, if they were counted
  std::int64_t slots = 0, imports = 0;   // of the largest part, of all parts
  std::int64_t part_levels = 0;          // from the first to the last of each part, summed up
  std::int64_t places = 0;               // of packed entries
  Tickets tickets = {};                  // of the kernel that finds levels

  KOKKOS_FORCEINLINE_FUNCTION bool is_matrix() const {
    return bad_row == Diagnosis::clear && bad_entry == Diagnosis::clear;
  }
};

template <class T>
struct Copy {
  const T* from;
  T* to;
  std::int64_t count;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < count) to[i] = from[i];
  }
};
template <class T, class... Properties>
Copy<T> copied(const Kokkos::View<T*, Properties...>& from,
               const Kokkos::View<T*, Properties...>& to) {
  return {from.data(), to.data(), static_cast<std::int64_t>(to.extent(0))};
}
template <class Exec, class... T>
void copy(const Exec& exec, const Copy<T>&... copies) {
  launch_all(exec, "Trikkos::TriangularPlan::copy", copies...);
}

/// A CSR matrix as it was given, without values.
struct CsrPattern {
  const std::int64_t* row_map;
  Strided<const std::int32_t> column;
  std::int64_t entries = 0;  // about so many
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
  KOKKOS_FORCEINLINE_FUNCTION bool is_forward() const { return stored_lower != transposed; }
  KOKKOS_FORCEINLINE_FUNCTION RowOrder natural() const { return {n, is_forward()}; }
};

// ---- checks

template <class From>
struct CopyRowMap {
  Strided<const From> from;
  std::int64_t n, entries;
  std::int64_t* to;
  TriangleFindings* findings;

  /// Finds the first row that starts before the one before it, or where there are no entries.
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to[i] = static_cast<std::int64_t>(from[i]);
    const bool is_bad =
        (i == 0 ? from[0] != 0 : from[i] < from[i - 1]) || (i == n && to[n] > entries);
    if (is_bad) Kokkos::atomic_min(&findings->bad_row, i);
    if (i == n) findings->stored = to[n];
  }
};

/// Finds the first column that the matrix does not have.
struct CheckColumns {
  Strided<const std::int32_t> column;
  std::int64_t n;
  TriangleFindings* findings;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    if (k < findings->stored) is_column(column[k], k);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_column(std::int32_t j, std::int64_t k) const {
    const bool r = 0 <= j && j < n;
    if (!r) Kokkos::atomic_min(&findings->bad_entry, k);
    return r;
  }
};

template <class Matrix>
Strided<const std::int32_t> columns_of(const Matrix& A) {
  return {reinterpret_cast<const std::int32_t*>(A.entries.data()), row_stride(A.entries)};
}

/// The row map in 64 bits. Asynchronous: whether it is one is among the findings. Columns are not
/// looked at.
template <class Exec, class Matrix>
Array<std::int64_t, Exec> copied_row_map(const Exec& exec, Slabs<Exec>& memory, const Matrix& A,
                                         TriangleFindings* findings) {
  using Offset = typename decltype(A.row_map)::non_const_value_type;
  const std::int64_t n = A.rows(), entries = A.entries.extent(0);
  const auto row_map = memory.template array<std::int64_t>(exec, n + 1);
  if (n == 0) return row_map;  // nobody reads it
  Kokkos::parallel_for(
      "Trikkos::TriangularPlan::check_row_map", range(exec, n + 1),
      CopyRowMap<Offset>{strided<const Offset>(A.row_map), n, entries, row_map.data(), findings});
  return row_map;
}
template <class Matrix>
void expect_csr_extents(const char* function, const Matrix& A) {
  const std::int64_t n = A.rows(), entries = A.entries.extent(0);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (n > most)
    throw std::invalid_argument(std::string(function) + ": row_map has " + std::to_string(n) +
                                " rows, expected at most " + std::to_string(most) +
                                " (32-bit entries)");
  expect_extent(function, "values", "entries", A.values.extent(0), entries, "entries.extent(0)");
}

/// \throws std::invalid_argument for a matrix that is none, as was found
template <class Exec, class Matrix>
void expect_matrix(const Exec& exec, const char* function, const Matrix& A,
                   const Array<std::int64_t, Exec>& row_map, const TriangleFindings& found) {
  if (found.is_matrix()) return;
  const std::int64_t n = A.rows(), row = found.bad_row, k = found.bad_entry;
  const auto at = [](const char* name, std::int64_t i, std::int64_t value) {
    return std::string(name) + "(" + std::to_string(i) + ") is " + std::to_string(value) +
           ", expected ";
  };
  const auto offset = [&](std::int64_t i) { return fetch(exec, row_map.data() + i, function); };
  std::string what;
  if (row == 0)
    what = at("row_map", 0, offset(0)) + "0";
  else if (row <= n && offset(row) < offset(row - 1))
    what = at("row_map", row, offset(row)) + "at least " + std::to_string(offset(row - 1)) +
           " as the one before";
  else if (row <= n)
    what = at("row_map", n, offset(n)) + "at most " + std::to_string(A.entries.extent(0)) +
           " (entries.extent(0))";
  else
    what = at("entries", k, fetch(exec, &columns_of(A)[k], function)) + "0 to " +
           std::to_string(n - 1) + " (" + std::to_string(n) + " rows)";
  throw std::invalid_argument(std::string(function) + ": " + what);
}

/// The row map in 64 bits, of a matrix all of which has been looked at. Waits.
/// \throws std::invalid_argument for a matrix that is none
template <class Exec, class Matrix>
Array<std::int64_t, Exec> checked_row_map(const Exec& exec, Slabs<Exec>& memory, const Matrix& A,
                                          const char* function = "Trikkos::TriangularPlan") {
  expect_csr_extents(function, A);
  const auto findings = memory.template array<TriangleFindings>(exec, 1);
  fill(exec, filled(findings, TriangleFindings{}));
  const auto row_map = copied_row_map(exec, memory, A, findings.data());
  Kokkos::parallel_for("Trikkos::TriangularPlan::check_columns", range(exec, A.entries.extent(0)),
                       CheckColumns{columns_of(A), A.rows(), findings.data()});
  expect_matrix(exec, function, A, row_map, fetch(exec, findings.data(), function));
  return row_map;
}

// ---- rows of op(A)

/// Counts the entries of each row, if there are rows, and checks their columns. Where lanes of a
/// thread have a row together, neighbouring ones read what is adjacent.
struct CountEntries {
  std::int64_t rows_of_team;
  CsrPattern A;
  TriangleShape shape;
  CheckColumns check;
  std::int64_t* count;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (check.findings->bad_row != Diagnosis::clear) return;
    const std::int64_t first = member.league_rank() * rows_of_team,
                       end = Kokkos::min(first + rows_of_team, shape.n);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, first, end), [&](std::int64_t i) {
      std::int64_t wanted = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, A.row_map[i], A.row_map[i + 1]),
          [&](std::int64_t k, std::int64_t& sum) {
            const std::int32_t j = A.column[k];
            if (!check.is_column(j, k) || !shape.wants(i, j)) return;
            ++sum;
            if (shape.transposed) Kokkos::atomic_inc(count + j);
          },
          wanted);
      if (!shape.transposed) Kokkos::single(Kokkos::PerThread(member), [&] { count[i] = wanted; });
    });
  }
};

/// In the order of elimination, the diagonal last.
struct FillRows {
  CsrPattern A;
  TriangleShape shape;  // not transposed
  TriangleRows rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const bool is_forward = shape.is_forward();  // else what is sorted comes the other way round
    std::int64_t at = is_forward ? rows.start[i] : rows.start[i + 1] - 1;
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int32_t j = A.column[k];
      if (!shape.wants(i, j)) continue;
      rows.put(at, j, k);
      at += is_forward ? 1 : -1;
    }
    SortRows<RowOrder>{rows, shape.natural()}(i);
  }
};

/// The same by some threads a row: each counts what comes before its entries. Much longer rows one
/// thread sorts sooner.
struct FillRowsTogether {
  static constexpr std::int64_t most = 8;  // entries a thread

  FillRows fill;
  int bits;  // of the number of threads

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t threads = std::int64_t(1) << bits, row = i >> bits, first = i % threads;
    const std::int64_t begin = fill.A.row_map[row], end = fill.A.row_map[row + 1];
    if (end - begin > most * threads) {
      if (first == 0) fill(row);
      return;
    }
    for (std::int64_t k = begin + first; k < end; k += threads) {
      const std::int32_t j = fill.A.column[k];
      if (fill.shape.wants(row, j))
        fill.rows.put(fill.rows.start[row] + before(row, k, begin, end), j, k);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t before(std::int64_t row, std::int64_t k,
                                                  std::int64_t begin, std::int64_t end) const {
    const RowOrder rank = fill.shape.natural();
    const std::int64_t mine = rank[fill.A.column[k]];
    std::int64_t count = 0;
    for (std::int64_t l = begin; l < end; ++l) {
      const std::int32_t j = fill.A.column[l];
      const std::int64_t other = rank[j];
      const bool is_before = (other < mine) | ((other == mine) & (l < k));  // no branches
      count += is_before & fill.shape.wants(row, j);
    }
    return count;
  }
};

/// Of the transposed triangle, in any order.
struct FillTransposed {
  CsrPattern A;
  TriangleShape shape;
  std::int64_t* filled;  // see TrianglePattern
  TriangleRows rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int32_t j = A.column[k];
      if (shape.wants(i, j))
        rows.put(rows.start[j] + Kokkos::atomic_fetch_add(filled + j, std::int64_t(1)),
                 static_cast<std::int32_t>(i), k);
    }
  }
};

/// The memory behind TriangleRows.
template <class Exec>
struct TrianglePattern {
  TriangleShape shape;
  Array<TriangleFindings, Exec> findings;
  Array<std::int64_t, Exec> start, source;
  Array<std::int32_t, Exec> needed, level;  // level: of each row, once that is known
  Array<std::int64_t, Exec> other_source;   // of as many entries, to sort them into
  Array<std::int32_t, Exec> other_needed;
  Array<std::int64_t, Exec> filled_entries;  // transposed: of each row, so far
  std::int64_t entries = 0, longest = 0;     // longest: of a row, the diagonal included

  TriangleRows rows() const { return {start.data(), needed.data(), source.data()}; }
};

/// Memory for what is known of as many rows, with initial values. Asynchronous.
template <class Exec>
TrianglePattern<Exec> new_pattern(const Exec& exec, Slabs<Exec>& memory,
                                  const TriangleShape& shape) {
  TrianglePattern<Exec> r{shape, {}, {}, {}, {}, {}, {}, {}, {}, 0, 0};
  r.findings = memory.template array<TriangleFindings>(exec, 1);
  r.start = memory.template array<std::int64_t>(exec, shape.n + 1);
  r.level = memory.template array<std::int32_t>(exec, shape.n);
  r.filled_entries = memory.template array<std::int64_t>(exec, shape.transposed ? shape.n : 0);
  fill(exec, filled(r.findings, TriangleFindings{}), filled(r.start, std::int64_t(0)),
       filled(r.level, -1), filled(r.filled_entries, std::int64_t(0)));
  return r;
}
/// Of threads for a row: as many as it has entries; more where there are few rows, and still more
/// where one is long.
inline int bits_of_row(std::int64_t n, std::int64_t entries, std::int64_t longest) {
  constexpr std::int64_t full = 1 << 20, most_threads = 1 << 22, most = 1024;
  const std::int64_t rows = std::max<std::int64_t>(n, 1);
  const std::int64_t of_long = std::min(longest, most_threads / rows);
  const std::int64_t threads =
      std::clamp<std::int64_t>(std::max({entries / rows, full / rows, of_long}), 1, most);
  return std::bit_width(static_cast<std::uint64_t>(threads - 1));
}
/// Where rows begin, and among the findings how many entries there are. Asynchronous.
template <class Exec>
void count_entries(const Exec& exec, const TrianglePattern<Exec>& pattern, const CsrPattern& A) {
  const std::int64_t n = pattern.shape.n;
  TriangleFindings* const findings = pattern.findings.data();
  // A lane for four entries in the mean; more where there are few rows: one may be long.
  constexpr int threads = is_host_v<Exec> ? 1 : 128, rows_of_host = 256, warp_bits = 5;
  const int bits = std::clamp(bits_of_row(n, A.entries, 1) - 2, 0, is_host_v<Exec> ? 0 : warp_bits);
  const int rows_of_team = is_host_v<Exec> ? rows_of_host : threads >> bits;
  Kokkos::parallel_for(
      "Trikkos::TriangularPlan::count",
      light(Kokkos::TeamPolicy<Exec>(exec, static_cast<int>((n + rows_of_team - 1) / rows_of_team),
                                     is_host_v<Exec> ? 1 : rows_of_team, 1 << bits)),
      CountEntries{rows_of_team, A, pattern.shape, {A.column, n, findings}, pattern.start.data()});
  sum_up(exec, pattern.start.data(), n + 1, {&findings->entries, &findings->longest_with});
}
/// Sorts the entries of each row. Asynchronous. For devices.
template <class Exec, class Rank>
void sort_rows(const Exec& exec, TrianglePattern<Exec>& pattern, const Rank& rank) {
  const int bits = bits_of_row(pattern.shape.n, pattern.entries, pattern.longest);
  const TriangleRows from = pattern.rows();
  std::swap(pattern.needed, pattern.other_needed);
  std::swap(pattern.source, pattern.other_source);
  Kokkos::parallel_for("Trikkos::TriangularPlan::sort_rows", range(exec, pattern.shape.n << bits),
                       SortRowsTogether<Rank>{from, pattern.rows(), rank, bits});
}
/// Entries in the order of elimination, the diagonal last. Asynchronous.
template <class Exec>
void fill_rows(const Exec& exec, Slabs<Exec>& memory, TrianglePattern<Exec>& pattern,
               const CsrPattern& A, const TriangleFindings& found) {
  const TriangleShape& shape = pattern.shape;
  const std::int64_t entries = found.entries;
  pattern.entries = entries;
  pattern.longest = found.longest_with;
  pattern.needed = memory.template array<std::int32_t>(exec, entries);
  pattern.source = memory.template array<std::int64_t>(exec, entries);
  if constexpr (!is_host_v<Exec>) {
    pattern.other_needed = memory.template array<std::int32_t>(exec, entries);
    pattern.other_source = memory.template array<std::int64_t>(exec, entries);
  }
  constexpr auto label = "Trikkos::TriangularPlan::fill_rows";
  if (!shape.transposed) {
    const FillRows fill{A, shape, pattern.rows()};
    const int bits = is_host_v<Exec> ? 0 : bits_of_row(shape.n, pattern.entries, pattern.longest);
    if (bits == 0)
      Kokkos::parallel_for(label, range(exec, shape.n), fill);
    else
      Kokkos::parallel_for(label, range(exec, shape.n << bits), FillRowsTogether{fill, bits});
    return;
  }
  Kokkos::parallel_for(label, range(exec, shape.n),
                       FillTransposed{A, shape, pattern.filled_entries.data(), pattern.rows()});
  if constexpr (is_host_v<Exec>)
    Kokkos::parallel_for("Trikkos::TriangularPlan::sort_pattern", range(exec, shape.n),
                         SortRows<RowOrder>{pattern.rows(), shape.natural()});
  else
    sort_rows(exec, pattern, shape.natural());
}

/// Of a matrix that has been checked. Waits.
template <class Exec>
TrianglePattern<Exec> triangle_pattern(const Exec& exec, Slabs<Exec>& memory, const CsrPattern& A,
                                       const TriangleShape& shape) {
  auto r = new_pattern(exec, memory, shape);
  count_entries(exec, r, A);
  fill_rows(exec, memory, r, A, fetch(exec, r.findings.data(), "Trikkos::TriangularPlan::entries"));
  return r;
}

}  // namespace Trikkos::Impl

#endif
