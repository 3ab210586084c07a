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
/// f(form, systems), both as types: those that a thread solves a row for.
/// \tparam of_four  entries that are polled together for four systems
template <bool on_host, int of_four, class F>
void with_row_form(std::int32_t longest, bool is_divided, int systems, const F& f) {
  if constexpr (on_host) {
    f(RowForm<4, false>{}, std::integral_constant<int, 1>{});
  } else {
    const auto with = [&]<int polled, int of_thread>() {
      const std::integral_constant<int, of_thread> constant;
      is_divided ? f(RowForm<polled, true>{}, constant) : f(RowForm<polled, false>{}, constant);
    };
    if (systems == 4) return with.template operator()<of_four, 4>();
    if (systems == 2) return with.template operator()<4, 2>();
    if (is_divided || longest > 2) return with.template operator()<4, 1>();
    f(RowForm<2, false>{}, std::integral_constant<int, 1>{});
  }
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

/// What is known of them, for systems whose values lie side by side; zeros, which are there, behind
/// the last.
template <class T, int count, int systems = 1>
struct PolledValues {
  using Flag = Flagged<T>;

  typename Flag::Seen seen[count][systems];

  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void start(const Entries& entries) {
    for (int j = 0; j < count; ++j)
      for (int k = 0; k < systems; ++k)
        seen[j][k] = entries.is_inside[j] ? Flag::nothing() : typename Flag::Seen{};
  }
  /// Looks for what is missing.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void look(const Entries& entries, const typename Flag::Word* known,
                                        std::int64_t stride) {
    for (int j = 0; j < count; ++j)
      if (is_missing(j)) Flag::look(known + entries.needed[j] * stride, seen[j]);
  }
  /// Looks for all of them, also where a zero is kept for those behind the last.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void look_again(const Entries& entries,
                                              const typename Flag::Word* known) {
    constexpr int stride = systems * Flag::words;
    for (int j = 0; j < count; ++j) Flag::look(known + entries.needed[j] * stride, seen[j]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_there() const {
    bool missing = false;
    for (int j = 0; j < count; ++j) missing |= is_missing(j);
    return !missing;
  }
  /// \param continues  with the first, in place of s
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION void subtract_from(T (&s)[systems], bool continues,
                                                 const Entries& entries) const {
    for (int k = 0; k < systems; ++k) {
      s[k] = continues ? seen[0][k].value() : less(s[k], entries, 0, k);
      for (int j = 1; j < count; ++j) s[k] = less(s[k], entries, j, k);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_missing(int j) const {
    bool missing = false;
    for (int k = 0; k < systems; ++k) missing |= seen[j][k].is_empty();
    return missing;
  }
  /// Behind the last entry, zero times zero leaves a real s as it is, but could change the sign of
  /// a complex one's zero.
  template <class Entries>
  KOKKOS_FORCEINLINE_FUNCTION T less(const T& s, const Entries& entries, int j, int k) const {
    const T r = fused(-entries.value[j], seen[j][k].value(), s);
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
/// \param s       of systems whose values lie side by side
/// \param stride  words from the value of one row to that of the next
template <int group, class Form, class T, int systems, class Word>
KOKKOS_FORCEINLINE_FUNCTION void solve_when_ready(const PackedTriangle<T>& A, std::int64_t p,
                                                  T (&s)[systems], std::int64_t stride,
                                                  const Word* known, Word* mine,
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
  PolledValues<T, count, systems> values;
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
      values.subtract_from(s, continues, entries);
      continues = false;
      i += count;
      if (i < length) {
        entries = next;
        values.start(entries);
        next.load(needed, value, i + count, length);
      } else {
        if (!goes_on)
          for (T& each : s) each = product(inverse, each);
        Flag::publish(mine, s);
        is_done = true;
      }
    } else {
      backoff.wait();
    }
    if (is_done && (group == 1 || !end.is_empty())) break;
  }
}

/// \tparam of_thread  systems that a thread solves a row for, side by side
template <class T, bool on_host, class Form, int of_thread = 1>
struct SyncFreeRow {
  using Flag = Flagged<T>;
  using Word = typename Flag::Word;

  PackedTriangle<T> A;
  Vectors<const T> b;
  Vectors<T> x;
  SideBySide systems;
  std::int64_t used;  // systems of the solve before
  Word *now, *next;
  std::int64_t rows;                   // that have values
  ValuesSideBySide<T> near_b, near_x;  // in place of b, x

  /// The k-th system and those after it; those behind the last count as zero.
  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION void solve(std::int64_t p, std::int64_t last, std::int64_t k) const {
    if (k >= systems.count) return;
    const std::int32_t row = A.row[p];
    T s[of_thread];
    read_b(k, row, s);
    solve_when_ready<group, Form>(A, p, s, systems.width() * Flag::words, at(now, k, 0),
                                  at(now, k, name(p)), at(now, k, name(last)));
    if (!Form::goes_on(A, p)) write_x(k, row, s);
    clear(at(next, k, name(p)));
    if (k + of_thread >= systems.count)
      for (std::int64_t j = k + of_thread; j < used; j += of_thread) clear(at(next, j, name(p)));
  }

 private:
  /// What the matrix calls the row at a position.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t name(std::int64_t p) const {
    return on_host ? A.row[p] : p;
  }
  KOKKOS_FORCEINLINE_FUNCTION Word* at(Word* copy, std::int64_t k, std::int64_t name) const {
    return copy + systems.index(k, name, rows) * Flag::words;
  }
  static KOKKOS_FORCEINLINE_FUNCTION void clear(Word* to) { Flag::template clear<of_thread>(to); }

  KOKKOS_FORCEINLINE_FUNCTION void read_b(std::int64_t k, std::int64_t row,
                                          T (&s)[of_thread]) const {
    if (of_thread > 1 && near_b.data != nullptr) {
      const auto near = near_b.template at<of_thread>(k, row);
      for (int j = 0; j < of_thread; ++j) s[j] = near.value[j];
    } else {
      for (int j = 0; j < of_thread; ++j)
        s[j] = k + j < systems.count ? b.in_slab(k + j, row) : T(0);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void write_x(std::int64_t k, std::int64_t row,
                                           const T (&s)[of_thread]) const {
    if (of_thread > 1 && near_x.data != nullptr) {
      Adjoining<T, of_thread> near;
      for (int j = 0; j < of_thread; ++j) near.value[j] = s[j];
      near_x.template at<of_thread>(k, row) = near;
    } else {
      for (int j = 0; j < of_thread; ++j)
        if (k + j < systems.count) x.in_slab(k + j, row) = s[j];
    }
  }
};

template <class T, bool on_host, class Form, int of_thread = 1>
struct SyncFreeBody {
  using Row = SyncFreeRow<T, on_host, Form, of_thread>;
  static constexpr int systems_of_thread = of_thread;
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
