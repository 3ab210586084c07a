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

/// What rows of a triangle look like: how many entries are polled together, whether some are
/// segments of longer ones.
template <int polled_, bool is_divided>
struct RowForm {
  static constexpr int polled = polled_;

  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION bool continues(const PackedTriangle<T>& A, std::int64_t p) {
    return is_divided && (A.kind[p] & SegmentKind::continues) != 0;
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION bool goes_on(const PackedTriangle<T>& A, std::int64_t p) {
    return is_divided && (A.kind[p] & SegmentKind::goes_on) != 0;
  }
};
/// f(form)
template <bool on_host, class F>
void with_row_form(std::int32_t longest, bool is_divided, const F& f) {
  if constexpr (!on_host) {
    if (is_divided) return f(RowForm<4, true>{});
    if (longest <= 2) return f(RowForm<2, false>{});
  }
  f(RowForm<4, false>{});
}

/// Entries of a row that are polled together; `stride` apart.
template <class T, int count, int stride>
struct PolledEntries {
  using Flag = Flagged<T>;

  std::int32_t needed[count];
  T value[count];
  bool is_inside[count];

  /// Those from the i-th on.
  /// \param zero  what those behind the last one need
  KOKKOS_FORCEINLINE_FUNCTION void load(const std::int32_t* row_needed, const T* row_value,
                                        std::int32_t i, std::int32_t length,
                                        std::int32_t zero = 0) {
    for (int j = 0; j < count; ++j) {
      is_inside[j] = i + j < length;
      needed[j] = is_inside[j] ? row_needed[(i + j) * stride] : zero;
      value[j] = is_inside[j] ? row_value[(i + j) * stride] : T(0);
    }
  }
};

/// What is known of them; zeros, which are there, behind the last.
template <class T, int count>
struct PolledValues {
  using Flag = Flagged<T>;

  typename Flag::Seen seen[count];

  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void start(const Entries& entries) {
    for (int j = 0; j < count; ++j)
      seen[j] = entries.is_inside[j] ? Flag::nothing() : typename Flag::Seen{};
  }
  /// Looks for what is missing.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void look(const Entries& entries, const typename Flag::Word* known,
                                        std::int64_t stride) {
    for (int j = 0; j < count; ++j)
      if (seen[j].is_empty()) seen[j] = Flag::look(known + entries.needed[j] * stride);
  }
  /// Looks for all of them, also where a zero is kept for those behind the last.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void look_again(const Entries& entries,
                                              const typename Flag::Word* known) {
    for (int j = 0; j < count; ++j) seen[j] = Flag::look(known + entries.needed[j] * Flag::words);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_there() const {
    bool is_missing = false;
    for (int j = 0; j < count; ++j) is_missing |= seen[j].is_empty();
    return !is_missing;
  }
  /// \param continues  with the first, in place of s
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION T subtract_from(T s, bool continues, const Entries& entries) const {
    s = continues ? seen[0].value() : less(s, entries, 0);
    for (int j = 1; j < count; ++j) s = less(s, entries, j);
    return s;
  }

 private:
  /// Behind the last entry, zero times zero leaves a real s as it is, but could change the sign of
  /// a complex one's zero.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION T less(const T& s, const Entries& entries, int j) const {
    const T r = fused(-entries.value[j], seen[j].value(), s);
    return is_complex_v<T> ? select(entries.is_inside[j], r, s) : r;
  }
};

/// b(row) less its entries times what they need, `count` at a time, as soon as that is known;
/// divided, published. A segment of a row hands its sum to the next one.
///
/// Threads of a warp solve the rows up to that of `group_end` together, which may need each other.
/// In a loop of its own each would wait for a value, and the hardware would let the one that makes
/// it starve for a while. So there is one loop for all: look at what is missing, go on with what is
/// there, look again; nobody leaves it before the last row is there (10 us a level if not). Threads
/// that are done and threads that wait look in the same instructions: one after the other would
/// take twice the time. What comes after the entries that are waited for is loaded beforehand.
///
/// \param group   rows of a slice
/// \param stride  words from the value of one row to that of the next
template <int group, class Form, class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION T solve_when_ready(const PackedTriangle<T>& A, std::int64_t p, T s,
                                               std::int64_t stride, const Word* known, Word* mine,
                                               const Word* group_end) {
  using Flag = Flagged<T>;
  constexpr int count = Form::polled;
  const std::int64_t place = A.place(p);
  const std::int32_t* const needed = A.needed + place;
  const T* const value = A.value + place;
  const std::int32_t length = A.length[p];
  const T inverse = A.inverse[p];
  const bool goes_on = Form::goes_on(A, p);
  bool continues = Form::continues(A, p);
  PolledEntries<T, count, group> entries, next;
  PolledValues<T, count> values;
  entries.load(needed, value, 0, length);
  next.load(needed, value, count, length);
  values.start(entries);
  std::int32_t i = 0;
  bool is_done = false;
  Backoff backoff;
  while (true) {
    values.look(entries, known, stride);
    const auto end = group > 1 && is_done ? Flag::look(group_end) : Flag::nothing();
    if (!is_done && values.are_there()) {
      s = values.subtract_from(s, continues, entries);
      continues = false;
      i += count;
      if (i < length) {
        entries = next;
        values.start(entries);
        next.load(needed, value, i + count, length);
      } else {
        if (!goes_on) s = product(inverse, s);
        Flag::publish(mine, s);
        is_done = true;
      }
    } else {
      backoff.wait();
    }
    if (is_done && (group == 1 || !end.is_empty())) break;
  }
  return s;
}

template <class T, bool on_host, class Form>
struct SyncFreeRow {
  using Flag = Flagged<T>;
  using Word = typename Flag::Word;

  PackedTriangle<T> A;
  Vectors<const T> b;
  Vectors<T> x;
  SideBySide systems;
  std::int64_t used;  // systems of the solve before
  Word *now, *next;
  std::int64_t rows;  // that have values

  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t last, std::int64_t k) const {
    if (k >= systems.count) return;
    const std::int32_t row = A.row[p];
    const T s =
        solve_when_ready<group, Form>(A, p, b[k][row], systems.width() * Flag::words, at(now, k, 0),
                                      at(now, k, name(p)), at(now, k, name(last)));
    if (!Form::goes_on(A, p)) x[k][row] = s;
    Flag::clear(at(next, k, name(p)));
    if (k == systems.count - 1)
      for (std::int64_t j = systems.count; j < used; ++j) Flag::clear(at(next, j, name(p)));
  }

 private:
  /// What the matrix calls the row at a position.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t name(std::int64_t p) const {
    return on_host ? A.row[p] : p;
  }
  KOKKOS_FORCEINLINE_FUNCTION Word* at(Word* copy, std::int64_t k, std::int64_t name) const {
    return copy + systems.index(k, name, rows) * Flag::words;
  }
};

template <class T, bool on_host, class Form>
struct SyncFreeBody {
  using Row = SyncFreeRow<T, on_host, Form>;
  Row row;  // `now` is the first copy, `next` the second

  KOKKOS_FORCEINLINE_FUNCTION Row start(std::int32_t copy, std::int64_t used) const {
    Row r = row;
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
