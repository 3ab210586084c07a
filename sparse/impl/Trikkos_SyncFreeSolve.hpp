// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_SYNCFREESOLVE_HPP
#define TRIKKOS_IMPL_SYNCFREESOLVE_HPP

#include <impl/Trikkos_PackedTriangle.hpp>
#include <impl/Trikkos_Tickets.hpp>

/// \file
/// One launch: every row waits for the values that it needs. Rows in the order of levels, values
/// through global memory, each its own flag (`Flagged`).
///
/// There are two copies of the values. A solve uses one and empties the other for the next solve,
/// as far as the one before has filled it: so none needs a pass for that.

namespace Trikkos::Impl {

/// Entries of a row that are polled together.
template <class T>
struct PolledEntries {
  using Flag = Flagged<T>;
  static constexpr int count = 4;

  std::int32_t needed[count];
  T value[count];
  bool is_inside[count];

  /// Those from the i-th on.
  KOKKOS_FORCEINLINE_FUNCTION void load(const PackedTriangle<T>& A, std::int64_t place,
                                        std::int32_t i, std::int32_t length) {
    for (int j = 0; j < count; ++j) {
      const std::int64_t entry = place + (i + j) * A.stride();
      is_inside[j] = i + j < length;
      needed[j] = is_inside[j] ? A.needed[entry] : 0;
      value[j] = is_inside[j] ? A.value[entry] : T(0);
    }
  }
};

/// What is known of them; zeros, which are there, behind the last.
template <class T>
struct PolledValues {
  using Flag = Flagged<T>;
  static constexpr int count = PolledEntries<T>::count;

  typename Flag::Seen seen[count];

  KOKKOS_FORCEINLINE_FUNCTION void start(const PolledEntries<T>& entries) {
    for (int j = 0; j < count; ++j)
      seen[j] = entries.is_inside[j] ? Flag::nothing() : typename Flag::Seen{};
  }
  /// Looks for what is missing.
  KOKKOS_FORCEINLINE_FUNCTION void look(const PolledEntries<T>& entries,
                                        const typename Flag::Word* known) {
    for (int j = 0; j < count; ++j)
      if (seen[j].is_empty()) seen[j] = Flag::look(known + entries.needed[j] * Flag::words);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_there() const {
    bool is_missing = false;
    for (int j = 0; j < count; ++j) is_missing |= seen[j].is_empty();
    return !is_missing;
  }
  KOKKOS_FORCEINLINE_FUNCTION T subtract_from(T s, const PolledEntries<T>& entries) const {
    for (int j = 0; j < count; ++j) s = fused(-entries.value[j], seen[j].value(), s);
    return s;
  }
};

/// The row at position p, from the values that are in `known` sooner or later. Publishes it as
/// `mine`, and for others, if not null.
///
/// Threads of a warp solve the rows up to that of `group_end` together, which may need each other.
/// In a loop of its own each would wait for a value, and the hardware would let the one that makes
/// it starve for a while. So there is one loop for all: look at what is missing, go on with what is
/// there, look again; nobody leaves it before the last row is there (10 us a level if not). Threads
/// that are done and threads that wait look in the same instructions: one after the other would
/// take twice the time. What comes after the entries that are waited for is loaded beforehand.
template <int group, class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION T solve_when_ready(const PackedTriangle<T>& A, std::int64_t p, T s,
                                               const Word* known, Word* mine, const Word* group_end,
                                               Word* for_others) {
  using Flag = Flagged<T>;
  constexpr int count = PolledEntries<T>::count;
  const std::int64_t place = A.place(p);
  const std::int32_t length = A.length[p];
  const T inverse = A.inverse[p];
  PolledEntries<T> entries, next;
  PolledValues<T> values;
  entries.load(A, place, 0, length);
  next.load(A, place, count, length);
  values.start(entries);
  std::int32_t i = 0;
  bool is_done = false;
  Backoff backoff;
  while (true) {
    values.look(entries, known);
    const auto end = group > 1 && is_done ? Flag::look(group_end) : Flag::nothing();
    if (!is_done && values.are_there()) {
      s = values.subtract_from(s, entries);
      i += count;
      if (i < length) {
        entries = next;
        values.start(entries);
        next.load(A, place, i + count, length);
      } else {
        s = product(inverse, s);
        Flag::publish(mine, s);
        if (for_others != nullptr) Flag::publish(for_others, s);
        is_done = true;
      }
    } else {
      backoff.wait();
    }
    if (is_done && (group == 1 || !end.is_empty())) break;
  }
  return s;
}

template <class T, bool on_host>
struct SyncFreeRow {
  using Flag = Flagged<T>;
  using Word = typename Flag::Word;

  PackedTriangle<T> A;
  Vectors<const T> b;
  Vectors<T> x;
  std::int64_t systems, used;  // of this solve, of the one before
  Word *now, *next;
  std::int64_t stride;  // between systems

  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t last, std::int64_t k) const {
    const std::int32_t row = A.row[p];
    Word* const mine = at(now, k, name(p));
    Word* const none = nullptr;
    x[k][row] =
        solve_when_ready<group>(A, p, b[k][row], at(now, k, 0), mine, at(now, k, name(last)), none);
    Flag::clear(at(next, k, name(p)));
    if (k == systems - 1)
      for (std::int64_t j = systems; j < used; ++j) Flag::clear(at(next, j, name(p)));
  }

 private:
  /// What the matrix calls the row at a position.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t name(std::int64_t p) const {
    return on_host ? A.row[p] : p;
  }
  KOKKOS_FORCEINLINE_FUNCTION Word* at(Word* copy, std::int64_t k, std::int64_t name) const {
    return copy + (k * stride + name) * Flag::words;
  }
};

template <class T, bool on_host>
struct SyncFreeBody {
  SyncFreeRow<T, on_host> row;  // `now` is the first copy, `next` the second

  KOKKOS_FORCEINLINE_FUNCTION SyncFreeRow<T, on_host> start(std::int32_t copy,
                                                            std::int64_t used) const {
    SyncFreeRow<T, on_host> r = row;
    r.used = used;
    if (copy == 1) {
      r.now = row.next;
      r.next = row.now;
    }
    return r;
  }
};

}  // namespace Trikkos::Impl

#endif
