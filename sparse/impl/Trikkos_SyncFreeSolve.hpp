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
  typename Flag::Seen seen[count];

  /// Those from the i-th on; zeros, which are there, behind the last.
  KOKKOS_FORCEINLINE_FUNCTION void load(const PackedTriangle<T>& A, std::int64_t place,
                                        std::int32_t i, std::int32_t length) {
    for (int j = 0; j < count; ++j) {
      const bool is_inside = i + j < length;
      const std::int64_t entry = place + (i + j) * A.stride();
      needed[j] = is_inside ? A.needed[entry] : 0;
      value[j] = is_inside ? A.value[entry] : T(0);
      seen[j] = is_inside ? Flag::nothing() : typename Flag::Seen{};
    }
  }
  /// Looks for what is missing. Returns whether something still is.
  KOKKOS_FORCEINLINE_FUNCTION bool look(const typename Flag::Word* known) {
    bool is_missing = false;
    for (int j = 0; j < count; ++j) {
      if (seen[j].is_empty()) seen[j] = Flag::look(known + needed[j] * Flag::words);
      is_missing = is_missing || seen[j].is_empty();
    }
    return is_missing;
  }
  KOKKOS_FORCEINLINE_FUNCTION T subtract_from(T s) const {
    for (int j = 0; j < count; ++j) s = fused(-value[j], seen[j].value(), s);
    return s;
  }
};

/// The row at position p, from the values that are in `known` sooner or later. Publishes it as
/// `mine`, and for others, if not null.
///
/// Threads of a warp solve the rows up to that of `group_end` together, which may need each other.
/// In a loop of its own each would wait for a value, and the hardware would let the one that makes
/// it starve for a while. So there is one loop for all: look at what is missing, go on with what is
/// there, look again; nobody leaves it before the last row is there (10 us a level if not).
template <int group, class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION T solve_when_ready(const PackedTriangle<T>& A, std::int64_t p, T s,
                                               const Word* known, Word* mine, const Word* group_end,
                                               Word* for_others) {
  using Flag = Flagged<T>;
  const std::int64_t place = A.place(p);
  const std::int32_t length = A.length[p];
  PolledEntries<T> entries;
  std::int32_t i = 0;
  entries.load(A, place, i, length);
  bool is_done = false;
  Backoff backoff;
  while (true) {
    if (is_done) {
      if (group == 1 || !Flag::look(group_end).is_empty()) break;
    } else if (entries.look(known)) {
      backoff.wait();
    } else {
      s = entries.subtract_from(s);
      i += PolledEntries<T>::count;
      if (i < length) {
        entries.load(A, place, i, length);
      } else {
        s = product(A.inverse[p], s);
        Flag::publish(mine, s);
        if (for_others != nullptr) Flag::publish(for_others, s);
        is_done = true;
      }
    }
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
