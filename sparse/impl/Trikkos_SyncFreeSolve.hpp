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

template <class T, bool on_host>
struct SyncFreeRow {
  using Flag = Flagged<T>;
  using Word = typename Flag::Word;
  static constexpr int batch = 4;  // entries that are polled together

  PackedTriangle<T> A;
  Vectors<const T> b;
  Vectors<T> x;
  std::int64_t systems, used;  // of this solve, of the one before
  Word *now, *next;
  std::int64_t stride;  // between systems

  /// Threads of a warp solve the rows up to `last` together, which may need each other. In a loop
  /// of its own each would wait for a value, and the hardware would let the one that makes it
  /// starve for a while. So there is one loop for all: look at what is missing, go on with what is
  /// there, look again; nobody leaves it before the last row is there (10 us a level if not).
  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t last, std::int64_t k) const {
    const std::int32_t row = A.row[p], length = A.length[p];
    const Word* const group_end = at(now, k, name(last));
    const std::int64_t place = A.place(p);
    T s = b[k][row], value[batch];
    std::int32_t needed[batch];
    typename Flag::Seen seen[batch];
    std::int32_t i = 0;
    load(place, i, length, needed, value, seen);
    bool is_done = false;
    Backoff backoff;
    while (true) {
      bool is_missing = false;
      if (is_done) {
        if (group == 1 || !Flag::look(group_end).is_empty()) break;
      } else {
        for (int j = 0; j < batch; ++j) {  // in memory, only what is missing
          if (seen[j].is_empty()) seen[j] = Flag::look(at(now, k, needed[j]));
          is_missing = is_missing || seen[j].is_empty();
        }
        if (!is_missing) {
          for (int j = 0; j < batch; ++j) s = fused(-value[j], seen[j].value(), s);
          i += batch;
          if (i < length) {
            load(place, i, length, needed, value, seen);
          } else {
            s = product(A.inverse[p], s);
            Flag::publish(at(now, k, name(p)), s);
            is_done = true;
          }
        }
      }
      if (is_missing) backoff.wait();
    }
    x[k][row] = s;
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
  /// The next entries; zeros, which are there, behind the last.
  KOKKOS_FORCEINLINE_FUNCTION void load(std::int64_t place, std::int32_t i, std::int32_t length,
                                        std::int32_t (&needed)[batch], T (&value)[batch],
                                        typename Flag::Seen (&seen)[batch]) const {
    for (int j = 0; j < batch; ++j) {
      const bool is_inside = i + j < length;
      const std::int64_t entry = place + (i + j) * A.stride();
      needed[j] = is_inside ? A.needed[entry] : 0;
      value[j] = is_inside ? A.value[entry] : T(0);
      seen[j] = is_inside ? Flag::nothing() : typename Flag::Seen{};
    }
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
