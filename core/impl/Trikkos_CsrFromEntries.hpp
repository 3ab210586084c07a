// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CSRFROMENTRIES_HPP
#define TRIKKOS_IMPL_CSRFROMENTRIES_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <algorithm>
#include <impl/Trikkos_MatrixMarketHeader.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <memory>
#include <vector>

/// \file
/// Compressed rows from entries in any order, on the host's threads: rows are counted, filled in
/// whatever order threads come, then sorted by column and place in the list, so that the result has
/// the same bits in every run. 16 bytes an entry beside list and result.

namespace Trikkos::Impl {

using CsrHost = Kokkos::DefaultHostExecutionSpace;

/// A matrix as a list. Of one that is not general each entry off the diagonal stands for two.
template <class T>
struct EntryList {
  std::int64_t rows = 0, columns = 0;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  bool sums = true;  ///< entries of one place add up; else the first one counts
  std::vector<std::int32_t> row, column;
  std::vector<T> value;

  std::int64_t size() const { return static_cast<std::int64_t>(value.size()); }
  bool is_mirrored(std::int64_t k) const {
    return symmetry != MatrixMarketSymmetry::general && row[k] != column[k];
  }
};

/// The value at A(j,i) that goes with A(i,j).
template <class T>
T mirrored(MatrixMarketSymmetry symmetry, const T& value) {
  if (symmetry == MatrixMarketSymmetry::skew_symmetric) return -value;
  if (symmetry == MatrixMarketSymmetry::hermitian) return conjugate(value);
  return value;
}

/// An entry in its row: number k of the list, or the mirror image of number -1 - k.
struct CsrSlot {
  std::int32_t column;
  std::int64_t source;

  std::int64_t entry() const { return source < 0 ? -1 - source : source; }
  bool operator<(const CsrSlot& other) const {
    return column != other.column ? column < other.column : entry() < other.entry();
  }
};

template <class T>
struct CountRows {
  const EntryList<T>* list;
  std::int64_t* count;

  void operator()(std::int64_t k) const {
    Kokkos::atomic_inc(count + list->row[k]);
    if (list->is_mirrored(k)) Kokkos::atomic_inc(count + list->column[k]);
  }
};

template <class T>
struct FillSlots {
  const EntryList<T>* list;
  std::int64_t* next;  // free place of each row
  CsrSlot* slot;

  void operator()(std::int64_t k) const {
    add(list->row[k], {list->column[k], k});
    if (list->is_mirrored(k)) add(list->column[k], {list->row[k], -1 - k});
  }
  void add(std::int32_t row, const CsrSlot& s) const {
    slot[Kokkos::atomic_fetch_add(next + row, std::int64_t(1))] = s;
  }
};

/// Sorts a row and counts its places.
struct SortRow {
  const std::int64_t* end;  // of each row, which starts where the one before ends
  CsrSlot* slot;
  std::int64_t* places;

  void operator()(std::int64_t i) const {
    CsrSlot *const first = slot + (i == 0 ? 0 : end[i - 1]), *const last = slot + end[i];
    if (!std::is_sorted(first, last)) std::sort(first, last);
    places[i] = 0;
    for (const CsrSlot* s = first; s != last; ++s) {
      places[i] += s == first || s->column != s[-1].column;
    }
  }
};

template <class T>
struct WriteRow {
  const EntryList<T>* list;
  const std::int64_t* end;
  const CsrSlot* slot;
  const std::int64_t* row_map;
  std::int32_t* entries;
  T* values;

  /// Finds the first row in which a sum is not finite.
  void operator()(std::int64_t i, std::int64_t& first_bad) const {
    std::int64_t to = row_map[i];
    for (std::int64_t k = i == 0 ? 0 : end[i - 1]; k < end[i]; ++to) {
      const std::int32_t column = slot[k].column;
      T sum = value(slot[k++]);
      for (; k < end[i] && slot[k].column == column; ++k) {
        if (list->sums) sum += value(slot[k]);
      }
      entries[to] = column;
      values[to] = sum;
      if (finite_probe(sum) != Real<T>(0) && i < first_bad) first_bad = i;
    }
  }
  T value(const CsrSlot& s) const {
    const T& v = list->value[s.entry()];
    return s.source < 0 ? mirrored(list->symmetry, v) : v;
  }
};

/// From counts to starts: to[i] is the sum of those before i, to[n] that of all.
inline void starts_of(const std::int64_t* count, std::int64_t n, std::int64_t* to) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t here = count[i];
    to[i] = sum;
    sum += here;
  }
  to[n] = sum;
}

/// Calls f(i) for i in [0, count).
template <class Function>
void on_host(const char* label, std::int64_t count, const Function& f) {
  const CsrHost host;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<CsrHost, Kokkos::IndexType<std::int64_t>>(host, 0, count), f);
  host.fence(label);
}

/// Rows are sorted. \return the first row in which sums are not finite, or `rows`
template <class T>
std::int64_t csr_from_entries(const EntryList<T>& list, HostCsrMatrix<T>& A) {
  const std::int64_t n = list.rows;
  std::vector<std::int64_t> count(n), end(n + 1);
  on_host("Trikkos::csr::count_rows", list.size(), CountRows<T>{&list, count.data()});
  starts_of(count.data(), n, end.data());
  const auto slot = std::make_unique_for_overwrite<CsrSlot[]>(end[n]);
  // starts become ends as rows are filled
  on_host("Trikkos::csr::fill_slots", list.size(), FillSlots<T>{&list, end.data(), slot.get()});
  on_host("Trikkos::csr::sort_rows", n, SortRow{end.data(), slot.get(), count.data()});

  A.columns = list.columns;
  A.row_map = decltype(A.row_map)("Trikkos::read_csr::row_map", n + 1);
  starts_of(count.data(), n, A.row_map.data());
  const auto uninitialized = [](const std::string& label) {
    return Kokkos::view_alloc(Kokkos::WithoutInitializing, label);
  };
  A.entries = decltype(A.entries)(uninitialized("Trikkos::read_csr::entries"), A.row_map(n));
  A.values = decltype(A.values)(uninitialized("Trikkos::read_csr::values"), A.row_map(n));
  std::int64_t first_bad = n;
  const CsrHost host;
  Kokkos::parallel_reduce("Trikkos::csr::write_rows",
                          Kokkos::RangePolicy<CsrHost, Kokkos::IndexType<std::int64_t>>(host, 0, n),
                          WriteRow<T>{&list, end.data(), slot.get(), A.row_map.data(),
                                      A.entries.data(), A.values.data()},
                          Kokkos::Min<std::int64_t>(first_bad));
  return std::min(first_bad, n);
}

}  // namespace Trikkos::Impl

#endif
