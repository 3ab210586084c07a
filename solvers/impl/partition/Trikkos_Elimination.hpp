// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_ELIMINATION_HPP
#define TRIKKOS_IMPL_ELIMINATION_HPP

#include <concepts>
#include <impl/Trikkos_Fused.hpp>
#include <impl/partition/Trikkos_PartitionDiagnosis.hpp>
#include <impl/partition/Trikkos_StridedRows.hpp>
#include <string>

/// \file
/// What `segmented` and `spike` differ in: how the rows of one partition are eliminated. All else,
/// on a host, on a device and in a kernel, is the same for every elimination.

namespace Trikkos::Impl {

/// One partition, or one in each lane, and memory for its way back. No index is beyond length()
/// but that of `equation`, which may be asked for 2W rows more.
template <class R>
concept PartitionRows = requires(const R& rows, typename R::index_type k,
                                 const typename R::value_type& v,
                                 const BackRow<typename R::value_type, R::half_bandwidth>& back) {
  { R::half_bandwidth } -> std::convertible_to<int>;
  { R::ragged } -> std::convertible_to<bool>;  // whether lanes may differ in length
  // rows of the longest partition, and of every partition
  { rows.length() } -> std::convertible_to<typename R::index_type>;
  { rows.inner_rows() } -> std::convertible_to<typename R::index_type>;
  rows.longer_than(k);  // a mask of the lanes whose partition has a row k
  // row k, scaled; behind the last row of a partition 1 x = 0
  { rows.equation(k) } -> std::convertible_to<Equation<typename R::value_type, R::half_bandwidth>>;
  // the same where W <= k < inner_rows(): for fast loops
  {
    rows.inner_equation(k)
    } -> std::convertible_to<Equation<typename R::value_type, R::half_bandwidth>>;
  rows.keep(k, back);
  { rows.kept(k) } -> std::convertible_to<BackRow<typename R::value_type, R::half_bandwidth>>;
  rows.store(k, v);  // x_k
};

/// How to eliminate partitions of `Rows`. An object of it is passed to the kernels: it holds
/// options, if any.
template <class E, class Rows>
concept EliminationOf = PartitionRows<Rows> &&
    requires(const E& e, const Rows& rows,
             const Bounds<typename Rows::value_type, E::half_bandwidth>& bounds,
             const Diagnosis& diagnosis, const UnstagedRows<double, E::half_bandwidth>& suspects) {
  // W, diagonals on either side of the matrix
  requires E::half_bandwidth == Rows::half_bandwidth;
  // of kernels, "Trikkos::<method>::" and the argument
  { E::label("") } -> std::convertible_to<std::string>;
  // rows of a partition on a device unless options say otherwise
  { E::template device_rows<double> } -> std::convertible_to<int>;
  // partitions whose size is chosen for them have a multiple of so many rows
  { E::default_row_multiple } -> std::convertible_to<int>;
  // of a partition of given size, the rows that are eliminated one after the other
  { E::rows_in_one_go(std::int64_t()) } -> std::same_as<std::int64_t>;
  // the same in a tile of a device
  { E::template rows_in_tile<double>(std::int64_t()) } -> std::same_as<std::int64_t>;
  // first pass: the partition's 2W rows of the reduced system
  { e.reduce(rows) } -> std::same_as<Segment<typename Rows::value_type, E::half_bandwidth>>;
  // second pass: stores the solution, once what is around the partition is known
  { e.substitute(rows, bounds) } -> std::same_as<Findings<typename Rows::value_type>>;
  // reports why a partition has no finite solution, if it can
  e.diagnose(diagnosis, suspects);
};

template <class Rows>
inline constexpr int at_once_of = 1;
template <class Rows>
requires(Rows::at_once > 1) inline constexpr int at_once_of<Rows> = Rows::at_once;

struct NoPause {
  KOKKOS_FORCEINLINE_FUNCTION void operator()() const {}
};

/// body(k, equation) for the inner rows from k up to `end`, which k becomes. Where threads read
/// them straight to registers, `Rows::ahead` rows are on their way while as many are in work. Lanes
/// load `Rows::at_once` together, if they can, and call `pause` after so many, else after each.
template <class Rows, class Index, class Body, class Pause = NoPause>
KOKKOS_FORCEINLINE_FUNCTION void for_inner_rows(const Rows& rows, Index& k, Index end,
                                                const Body& body, const Pause& pause = {}) {
  if constexpr (requires { Rows::ahead; }) {
    constexpr int ahead = Rows::ahead;
    using Row = decltype(rows.read(k));
    Row next[ahead], now[ahead];
    const auto read = [&](Index first) {
      TRIKKOS_UNROLL(ahead)
      for (int i = 0; i < ahead; ++i) next[i] = rows.read(first + i < end ? first + i : end - 1);
    };
    if (k >= end) return;
    read(k);
    TRIKKOS_UNROLL(1)
    for (; k + ahead <= end; k += ahead) {
      TRIKKOS_UNROLL(ahead)
      for (int i = 0; i < ahead; ++i) now[i] = next[i];
      read(k + ahead);
      TRIKKOS_UNROLL(ahead)
      for (int i = 0; i < ahead; ++i) body(k + i, rows.scale(now[i]));
    }
    TRIKKOS_UNROLL(ahead)
    for (int i = 0; i < ahead - 1; ++i)
      if (k + i < end) body(k + i, rows.scale(next[i]));
    k = end;
  } else if constexpr (requires { requires Rows::looks_ahead; }) {
    if (k >= end) return;
    auto next = rows.inner_equation(k);
    TRIKKOS_UNROLL(2)
    for (; k + 1 < end; ++k) {
      const auto e = next;
      next = rows.inner_equation(k + 1);
      body(k, e);
    }
    body(k++, next);
  } else {
    constexpr int at_once = at_once_of<Rows>;
    if constexpr (at_once > 1) {
      if (rows.comes_at_once()) {
        for (; k + at_once <= end; k += at_once) {
          std::remove_cvref_t<decltype(rows.inner_equation(k))> e[at_once];
          rows.inner_equations(k, e);
          for (int i = 0; i < at_once; ++i) body(k + i, e[i]);
          pause();
        }
      }
    }
    TRIKKOS_UNROLL(1)
    for (; k < end; ++k) {
      body(k, rows.inner_equation(k));
      pause();
    }
  }
}

/// body(k, row) for the rows that are kept, from the k-th down to the `last`-th. A device's thread
/// loads a few of them at once, as it would wait for each.
template <class Rows, class Index, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_kept_rows(const Rows& rows, Index k, Index last,
                                               const Body& body) {
#if defined(__CUDA_ARCH__)
  constexpr int at_once = 4;
#else
  constexpr int at_once = 1;
#endif
  TRIKKOS_UNROLL(1)
  for (; k >= last && (at_once == 1 || (k - last + 1) % at_once != 0); --k) body(k, rows.kept(k));
  if constexpr (at_once > 1) {
    TRIKKOS_UNROLL(1)
    for (; k >= last; k -= at_once) {
      std::remove_cvref_t<decltype(rows.kept(k))> row[at_once];
      TRIKKOS_UNROLL(at_once)
      for (int i = 0; i < at_once; ++i) row[i] = rows.kept(k - i);
      TRIKKOS_UNROLL(at_once)
      for (int i = 0; i < at_once; ++i) body(k - i, row[i]);
    }
  }
}

/// The way back of an elimination: x_k = f - q x_(k+1) - r x_(k+2) for unknowns first - 1 down to
/// last - 1, with the row for x_(k-1) kept as number k - shift. `next` and `after` are x_k and
/// x_(k+1); `note(x_(k-1))` is called for each.
TRIKKOS_CALLS_ITS_ARGUMENT
template <int shift, class Rows, class V, class Note>
KOKKOS_FORCEINLINE_FUNCTION void back_substitute(const Rows& rows, typename Rows::index_type first,
                                                 typename Rows::index_type last, V& next, V& after,
                                                 const Note& note) {
  const auto inner = rows.inner_rows();
  TRIKKOS_UNROLL(2)
  for (typename Rows::index_type k = first; k >= last; --k) {
    const auto& row = rows.kept(k - shift);  // g++ copies lanes in halves, whose loads then wait
    V v = fused(-row.r, after, fused(-row.q, next, row.f));
    rows.store(k, next);
    if (Rows::ragged && k >= inner) {
      // lanes that end before row k still wait with their own last unknown
      const auto active = rows.longer_than(k);
      v = select(active, v, next);
      after = select(active, next, after);
    } else {
      after = next;
    }
    next = v;
    note(v);
  }
}

}  // namespace Trikkos::Impl

#endif
