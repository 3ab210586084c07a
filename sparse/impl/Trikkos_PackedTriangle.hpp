// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_PACKEDTRIANGLE_HPP
#define TRIKKOS_IMPL_PACKEDTRIANGLE_HPP

#include <impl/Trikkos_Fused.hpp>
#include <impl/Trikkos_LevelOrder.hpp>

/// \file
/// The matrix as the solves read it: rows in the order in which they are solved ("positions"), the
/// values packed in this order, the diagonal as its reciprocal. On a device, 32 rows make a slice
/// in which the k-th entries of all rows are adjacent (SELL-32); padding is stored, but not read.
///
/// The entries of a row are summed up in an order that is that of the pattern alone, so every
/// algorithm gives the same bits: on a host the order of elimination, on a device by level, so that
/// what comes last is waited for last.

namespace Trikkos::Impl {

/// Of a segment of a long row (TriangleSegments): begins with the sum of the one before, is not
/// the last.
namespace SegmentKind {
inline constexpr unsigned char continues = 1, goes_on = 2;
}

template <class T>
struct PackedTriangle {
  const std::int64_t* slice;   // where slices begin
  const std::int32_t* length;  // entries of the row at a position
  const std::int32_t* row;     // that is there
  const std::int32_t* needed;  // of an entry: a row (host), a position (device), a slot (blocked)
  const T* value;
  const T* inverse;           // of the diagonal, by position
  const unsigned char* kind;  // of a segment, or null: rows are whole
  int slice_bits;             // of the number of rows in a slice

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(std::int64_t p) const {
    return slice[p >> slice_bits] + (p & ((std::int64_t(1) << slice_bits) - 1));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride() const { return std::int64_t(1) << slice_bits; }
};

// ---- from the pattern

struct InvertOrder {
  const std::int32_t* row;
  std::int32_t* position;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t p) const {
    position[row[p]] = static_cast<std::int32_t>(p);
  }
};

/// Entries of the row at each position, without the diagonal, which is last; the places that each
/// slice takes.
struct MeasureSlices {
  TriangleRows rows;
  const std::int32_t* row;
  std::int64_t n;
  int slice_bits;
  std::int64_t slices_of_team;
  std::int32_t* length;
  std::int64_t* slice;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t slices = (n + (std::int64_t(1) << slice_bits) - 1) >> slice_bits;
    const std::int64_t first = member.league_rank() * slices_of_team,
                       last = Kokkos::min(first + slices_of_team, slices);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, first, last), [&](std::int64_t q) {
      const std::int64_t begin = q << slice_bits;
      const std::int64_t end = Kokkos::min(begin + (std::int64_t(1) << slice_bits), n);
      std::int32_t longest = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, begin, end),
          [&](std::int64_t p, std::int32_t& most) {
            length[p] = static_cast<std::int32_t>(rows.needed_entries(row[p]));
            most = Kokkos::max(most, length[p]);
          },
          Kokkos::Max<std::int32_t>(longest));
      Kokkos::single(Kokkos::PerThread(member),
                     [&] { slice[q] = std::int64_t(longest) << slice_bits; });
    });
  }
};
/// Asynchronous.
template <class Exec>
void measure_slices(const Exec& exec, MeasureSlices kernel) {
  constexpr int warp = is_host_v<Exec> ? 1 : 32, threads = is_host_v<Exec> ? 1 : 4;
  constexpr std::int64_t of_host = 256;
  kernel.slices_of_team = is_host_v<Exec> ? of_host : threads;
  const std::int64_t rows_of_team = kernel.slices_of_team << kernel.slice_bits;
  const auto teams = static_cast<int>((kernel.n + rows_of_team - 1) / rows_of_team);
  Kokkos::parallel_for("Trikkos::TriangularPlan::measure_slices",
                       light(Kokkos::TeamPolicy<Exec>(exec, teams, threads, warp)), kernel);
}

/// What a row calls those that it needs: their numbers, or positions.
struct NumberOfRow {
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator()(std::int32_t, std::int32_t needed) const {
    return needed;
  }
};
struct PositionOfRow {
  const std::int32_t* position;
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator()(std::int32_t, std::int32_t needed) const {
    return position[needed];
  }
};

template <class T, class Name>
struct PackPattern {
  std::int64_t count;  // of positions
  PackedTriangle<T> A;
  TriangleRows rows;
  const std::int32_t* row;  // or segment, at a position
  Name name;
  std::int32_t* needed;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    if (p >= count) return;
    const std::int32_t r = row[p];
    const std::int64_t start = rows.start[r], place = A.place(p), stride = A.stride();
    for (std::int32_t k = 0; k < A.length[p]; ++k)
      needed[place + k * stride] = name(r, rows.needed[start + k]);
  }
};

// ---- values

/// As a loop among others.
struct ResetOnce {
  Diagnosis diagnosis;
  std::int64_t count = 1;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i == 0) diagnosis.reset();
  }
};

template <class T>
struct PackValues {
  PackedTriangle<T> A;
  TriangleRows rows;
  const std::int32_t* row;  // or segment, at a position
  Strided<const T> from;
  bool is_unit, is_conjugated;
  T *value, *inverse;
  Diagnosis diagnosis;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t place = A.place(p), stride = A.stride(), end = rows.start[row[p] + 1];
    std::int64_t k = rows.start[row[p]];
    Real<T> probe = 0;
    for (std::int32_t i = 0; i < A.length[p]; ++i, ++k) {
      const T v = rows.source[k] == TriangleRows::no_source ? T(-1) : given(k);
      probe += finite_probe(v);
      value[place + i * stride] = v;
    }
    const bool goes_on = A.kind != nullptr && (A.kind[p] & SegmentKind::goes_on) != 0;
    T d = is_unit || goes_on ? T(1) : T(0);
    for (; k < end; ++k) d += given(k);
    inverse[p] = one_over(d);
    probe += finite_probe(d);
    if (probe != 0)
      diagnosis.report(Status::Reason::not_finite, A.row[p]);
    else if (!(finite_probe(inverse[p]) == 0))  // zero, missing, or too small to divide by
      diagnosis.report(Status::Reason::singular, A.row[p]);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T given(std::int64_t k) const {
    const T v = from[rows.source[k]];
    return is_conjugated ? conjugate(v) : v;
  }
  static KOKKOS_FORCEINLINE_FUNCTION T one_over(const T& d) {
    if constexpr (is_complex_v<T>)
      return d == T(0) ? T(1 / Real<T>(0), 0) : reciprocal(d);
    else
      return T(1) / d;
  }
};

}  // namespace Trikkos::Impl

#endif
