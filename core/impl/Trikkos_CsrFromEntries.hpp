// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_CSRFROMENTRIES_HPP
#define TRIKKOS_IMPL_CSRFROMENTRIES_HPP

#include <Trikkos_CsrMatrix.hpp>
#include <algorithm>
#include <impl/Trikkos_MatrixMarketHeader.hpp>
#include <impl/Trikkos_Scalar.hpp>
#include <new>
#include <utility>
#include <vector>

/// \file
/// Compressed rows from entries in any order, on the host's threads: rows are counted, filled in
/// whatever order threads come, then sorted. Where places are repeated, one thread adds up in the
/// order of the list. No memory but list and result, unless places are repeated.

namespace Trikkos::Impl {

using CsrHost = Kokkos::DefaultHostExecutionSpace;
using CsrRange = Kokkos::RangePolicy<CsrHost, Kokkos::IndexType<std::int64_t>>;

/// A matrix as a list. Of one that is not general each entry off the diagonal stands for two.
template <class T>
struct EntryList {
  std::int64_t rows = 0, columns = 0;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  bool sums = true;  ///< entries of one place add up; else the last one counts
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

/// Calls f(i) for i in [0, count).
template <class Function>
void for_each_on_host(const char* label, std::int64_t count, const Function& f) {
  const CsrHost host;
  Kokkos::parallel_for(label, CsrRange(host, 0, count), f);
  host.fence(label);
}

template <class T>
struct CsrCountRows {
  const EntryList<T>* list;
  std::int64_t* count;

  void operator()(std::int64_t k) const {
    Kokkos::atomic_inc(count + list->row[k]);
    if (list->is_mirrored(k)) Kokkos::atomic_inc(count + list->column[k]);
  }
};

template <class T>
struct CsrFillRows {
  const EntryList<T>* list;
  HostCsrMatrix<T> A;  // row_map: the free place of each row

  void operator()(std::int64_t k) const {
    const T& value = list->value[k];
    add(list->row[k], list->column[k], value);
    if (list->is_mirrored(k)) add(list->column[k], list->row[k], mirrored(list->symmetry, value));
  }
  void add(std::int32_t row, std::int32_t column, const T& value) const {
    const auto at = Kokkos::atomic_fetch_add(&A.row_map(row), std::int64_t(1));
    A.entries(at) = column;
    A.values(at) = value;
  }
};

/// Sorts the entries of a row and counts those that have the place of the one before.
template <class T>
struct CsrSortRow {
  HostCsrMatrix<T> A;
  bool* no_memory;

  void operator()(std::int64_t i, std::int64_t& repeated) const {
    const std::int64_t first = A.row_map(i), last = A.row_map(i + 1);
    bool sorted = true;
    for (std::int64_t k = first + 1; k < last; ++k) sorted &= A.entries(k - 1) < A.entries(k);
    if (sorted) return;
    try {
      sort(first, last);
    } catch (const std::bad_alloc&) {
      Kokkos::atomic_store(no_memory, true);
    }
    for (std::int64_t k = first + 1; k < last; ++k) repeated += A.entries(k - 1) == A.entries(k);
  }
  void sort(std::int64_t first, std::int64_t last) const {
    std::vector<std::pair<std::int32_t, T>> row(last - first);
    for (std::int64_t k = first; k < last; ++k) row[k - first] = {A.entries(k), A.values(k)};
    std::sort(row.begin(), row.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::int64_t k = first; k < last; ++k) {
      A.entries(k) = row[k - first].first;
      A.values(k) = row[k - first].second;
    }
  }
};

/// From counts to starts; the last one is the sum of all.
inline void starts_of(std::int64_t* count, std::int64_t n) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exchange(count[i], sum);
  count[n] = sum;
}

/// Memory for `count` entries.
template <class T>
void allocate_entries(HostCsrMatrix<T>& A, std::int64_t count) {
  const auto uninitialized = [](const std::string& label) {
    return Kokkos::view_alloc(Kokkos::WithoutInitializing, label);
  };
  A.entries = decltype(A.entries)(uninitialized("Trikkos::read_csr::entries"), count);
  A.values = decltype(A.values)(uninitialized("Trikkos::read_csr::values"), count);
}

/// Each place once, without values. Rows are sorted.
template <class T>
HostCsrMatrix<T> without_repeated(const HostCsrMatrix<T>& A, std::int64_t repeated) {
  HostCsrMatrix<T> r;
  r.columns = A.columns;
  r.row_map = decltype(r.row_map)("Trikkos::read_csr::row_map", A.rows() + 1);
  allocate_entries(r, A.row_map(A.rows()) - repeated);
  for (std::int64_t i = 0, to = 0; i < A.rows(); ++i) {
    for (std::int64_t k = A.row_map(i); k < A.row_map(i + 1); ++k) {
      if (k == A.row_map(i) || A.entries(k) != A.entries(k - 1)) r.entries(to++) = A.entries(k);
    }
    r.row_map(i + 1) = to;
  }
  return r;
}

/// The sum of the entries of each place, or the last of them.
/// \return the first row in which a sum is not finite, or `rows`
template <class T>
std::int64_t add_up(const EntryList<T>& list, const HostCsrMatrix<T>& A) {
  std::int64_t first_bad = list.rows;
  const auto add = [&](std::int64_t row, std::int32_t column, const T& value) {
    const std::int32_t* const entries = A.entries.data();
    T& sum = A.values(
        std::lower_bound(entries + A.row_map(row), entries + A.row_map(row + 1), column) - entries);
    sum = list.sums ? sum + value : value;
    if (finite_probe(sum) != Real<T>(0)) first_bad = std::min(first_bad, row);
  };
  Kokkos::deep_copy(A.values, T(0));
  for (std::int64_t k = 0; k < list.size(); ++k) {
    add(list.row[k], list.column[k], list.value[k]);
    if (list.is_mirrored(k))
      add(list.column[k], list.row[k], mirrored(list.symmetry, list.value[k]));
  }
  return first_bad;
}

/// Rows are sorted.
/// \return the first row in which sums are not finite, or `rows`
/// \throws std::bad_alloc or Kokkos' exception where there is not enough memory
template <class T>
std::int64_t csr_from_entries(const EntryList<T>& list, HostCsrMatrix<T>& A) {
  const std::int64_t n = list.rows;
  A.columns = list.columns;
  A.row_map = decltype(A.row_map)("Trikkos::read_csr::row_map", n + 1);
  for_each_on_host("Trikkos::csr::count_rows", list.size(),
                   CsrCountRows<T>{&list, A.row_map.data()});
  starts_of(A.row_map.data(), n);
  allocate_entries(A, A.row_map(n));
  for_each_on_host("Trikkos::csr::fill_rows", list.size(), CsrFillRows<T>{&list, A});
  // starts have become ends
  std::copy_backward(A.row_map.data(), A.row_map.data() + n, A.row_map.data() + n + 1);
  A.row_map(0) = 0;

  std::int64_t repeated = 0;
  bool no_memory = false;
  Kokkos::parallel_reduce("Trikkos::csr::sort_rows", CsrRange(CsrHost(), 0, n),
                          CsrSortRow<T>{A, &no_memory}, repeated);
  if (no_memory) throw std::bad_alloc();
  if (repeated == 0) return n;
  A = without_repeated(A, repeated);
  return add_up(list, A);
}

}  // namespace Trikkos::Impl

#endif
