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
/// whatever order threads come, then sorted, by value where the column is the same, so that sums
/// have the same bits in every run. No memory but list and result, unless there are sums.

namespace Trikkos::Impl {

using CsrHost = Kokkos::DefaultHostExecutionSpace;
using CsrRange = Kokkos::RangePolicy<CsrHost, Kokkos::IndexType<std::int64_t>>;

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

/// By column, then by value.
template <class T>
bool is_before(std::int32_t column, const T& value, std::int32_t other_column, const T& other) {
  if (column != other_column) return column < other_column;
  if constexpr (is_complex_v<T>) {
    if (value.real() == other.real()) return value.imag() < other.imag();
    return value.real() < other.real();
  } else {
    return value < other;
  }
}

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
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) {
      return is_before(a.first, a.second, b.first, b.second);
    });
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

/// Each place once: the sum of its entries, or the first of them. Rows are sorted.
/// \return the first row in which a sum is not finite, or `rows`
template <class T>
std::int64_t sum_repeated(HostCsrMatrix<T>& A, std::int64_t repeated, bool sums) {
  HostCsrMatrix<T> r;
  r.columns = A.columns;
  r.row_map = decltype(r.row_map)("Trikkos::read_csr::row_map", A.rows() + 1);
  allocate_entries(r, A.row_map(A.rows()) - repeated);
  std::int64_t to = 0, first_bad = A.rows();
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t k = A.row_map(i); k < A.row_map(i + 1);) {
      const std::int32_t column = A.entries(k);
      T sum = A.values(k);
      while (++k < A.row_map(i + 1) && A.entries(k) == column) {
        if (sums) sum += A.values(k);
      }
      if (finite_probe(sum) != Real<T>(0)) first_bad = std::min(first_bad, i);
      r.entries(to) = column;
      r.values(to++) = sum;
    }
    r.row_map(i + 1) = to;
  }
  A = r;
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
  return repeated == 0 ? n : sum_repeated(A, repeated, list.sums);
}

}  // namespace Trikkos::Impl

#endif
