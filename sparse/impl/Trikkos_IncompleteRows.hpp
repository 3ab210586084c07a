// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INCOMPLETEROWS_HPP
#define TRIKKOS_IMPL_INCOMPLETEROWS_HPP

#include <Trikkos_IncompleteOptions.hpp>
#include <impl/Trikkos_FactorPattern.hpp>
#include <impl/Trikkos_Fused.hpp>
#include <impl/Trikkos_RelaxedMemory.hpp>

/// \file
/// One row of ILU(0) and of IC(0): what both do to a pivot, and how they come to it. A row needs
/// the rows of the columns that it has left of its diagonal. Every sum is in the order of columns,
/// in spelled-out operations, so that whoever computes a row gets the same bits.

namespace Trikkos::Impl {

// ---- reports

/// What one attempt reports, in device memory.
struct AttemptReport {
  std::int64_t breakdown_row, breakdowns;
  std::int64_t stuck_row;       // first that has no pivot after repairs
  std::int64_t not_finite_row;  // first that A has Inf or NaN in

  KOKKOS_INLINE_FUNCTION void reset() {
    breakdown_row = stuck_row = not_finite_row = Diagnosis::clear;
    breakdowns = 0;
  }
  KOKKOS_INLINE_FUNCTION bool asks_for_another() const {
    return breakdowns > 0 && not_finite_row == Diagnosis::clear;
  }
};

/// The attempt that a kernel works for. All are launched, as the host does not wait for the first;
/// those that nobody needs return at once.
struct Attempt {
  AttemptReport* reports;
  int number;
  double shift;

  KOKKOS_FORCEINLINE_FUNCTION bool is_needed() const {
    return number == 0 || reports[number - 1].asks_for_another();
  }
  KOKKOS_FORCEINLINE_FUNCTION AttemptReport& report() const { return reports[number]; }
};

struct ResetAttempts {
  AttemptReport* reports;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { reports[i].reset(); }
};

// ---- values of A

template <class T>
KOKKOS_FORCEINLINE_FUNCTION Real<T> modulus_sum(const T& v) {  // |re| + |im|, never squared
  if constexpr (is_complex_v<T>)
    return Kokkos::abs(v.real()) + Kokkos::abs(v.imag());
  else
    return Kokkos::abs(v);
}
/// v with its modulus 1, or 1 for zero.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T phase_of(const T& v) {
  if constexpr (is_complex_v<T>) {
    const Real<T> size = magnitude(v);
    if (!(size > 0)) return T(1);
    const T u{v.real() / size, v.imag() / size};
    const Real<T> one_over = 1 / Kokkos::sqrt(sum_of_squares(u.real(), u.imag()));
    return {u.real() * one_over, u.imag() * one_over};
  } else {
    return v < 0 ? T(-1) : T(1);
  }
}

/// Factors and inverse pivots that are their own flags (`Flagged`), for rows that wait for them; or
/// none.
template <class T>
struct Published {
  using Flag = Flagged<T>;
  typename Flag::Word *factors = nullptr, *inverse = nullptr;

  KOKKOS_FORCEINLINE_FUNCTION void clear_row(std::int64_t i, std::int64_t start,
                                             std::int64_t end) const {
    Flag::clear(inverse + i * Flag::words);
    for (std::int64_t k = start; k < end; ++k) Flag::clear(factors + k * Flag::words);
  }
};

/// Row i of A, shifted, to where it will be factored.
template <class T, IncompleteKind kind>
struct GatherRow {
  FactorRows rows;
  Attempt attempt;
  Strided<const T> given;
  T* value;
  Real<T>* scale;      // sum of moduli of each row
  std::int32_t* done;  // whether a row is factored
  Published<T> published;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (!attempt.is_needed()) return;
    done[i] = 0;
    if (published.factors != nullptr) published.clear_row(i, rows.start[i], rows.start[i + 1]);
    Real<T> sum = 0;
    for (std::int64_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
      T v(0);
      for (std::int64_t s = rows.first_source[k]; s < rows.first_source[k + 1]; ++s) {
        const std::int64_t source = rows.source[s];
        if (source >= 0)
          v += given[source];
        else if (source != FactorRows::no_source)
          v += conjugate(given[FactorRows::conjugate_of(source)]);
      }
      value[k] = v;
      sum += modulus_sum(v);
    }
    scale[i] = sum;
    const T d = value[rows.diagonal[i]],
            direction = kind == IncompleteKind::lu ? phase_of(d) : T(1);
    const auto amount = static_cast<Real<T>>(attempt.shift) * sum;
    if (attempt.shift > 0) value[rows.diagonal[i]] = d + product(amount, direction);
    if (!(finite_probe(sum) == 0)) Kokkos::atomic_min(&attempt.report().not_finite_row, i);
  }
};

// ---- pivots

template <class T>
struct PivotRule {
  OnBreakdown on_breakdown;
  Real<T> number;

  KOKKOS_FORCEINLINE_FUNCTION Real<T> threshold(const Real<T>& scale) const {
    return on_breakdown == OnBreakdown::boost ? number * scale : Real<T>(0);
  }
  /// What takes the place of a pivot; `direction` has modulus 1.
  KOKKOS_FORCEINLINE_FUNCTION T instead(const T& pivot, const T& direction,
                                        const Real<T>& scale) const {
    if (on_breakdown == OnBreakdown::replace) return T(number);
    if (on_breakdown == OnBreakdown::boost) return product(threshold(scale), direction);
    return pivot;
  }
};

/// The factors as they are made. `inverse` is that of each pivot, zero where there is none, so that
/// later rows are then eliminated without that row.
template <class T>
struct FactorsInProgress {
  FactorRows rows;
  T *value, *inverse;
  const Real<T>* scale;
  PivotRule<T> rule;
  Attempt attempt;

  KOKKOS_FORCEINLINE_FUNCTION void report(std::int64_t i, bool is_stuck) const {
    AttemptReport& r = attempt.report();
    Kokkos::atomic_min(&r.breakdown_row, i);
    Kokkos::atomic_inc(&r.breakdowns);
    if (is_stuck) Kokkos::atomic_min(&r.stuck_row, i);
  }
};

template <class T, IncompleteKind kind>
struct IncompleteRow;

/// ILU(0): A = L U at the places that A has, L with a unit diagonal.
template <class T>
struct IncompleteRow<T, IncompleteKind::lu> : FactorsInProgress<T> {
  /// Subtracts row j, which entry k of row i is in the column of.
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(std::int64_t i, std::int64_t k) const {
    const FactorRows& pattern = this->rows;
    T* const entry = this->value;
    const std::int32_t j = pattern.column[k];
    const T factor = product(this->inverse[j], entry[k]);
    entry[k] = factor;
    const std::int64_t end = pattern.start[i + 1], end_above = pattern.start[j + 1];
    std::int64_t at = k + 1, above = pattern.diagonal[j] + 1;
    while (at < end && above < end_above) {
      const std::int32_t mine = pattern.column[at], other = pattern.column[above];
      if (mine == other) entry[at] = fused(-factor, entry[above], entry[at]);
      at += mine <= other;
      above += other <= mine;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(std::int64_t i) const {
    T& pivot = this->value[this->rows.diagonal[i]];
    const Pivot p = judged(i, pivot);
    if (p.is_broken) this->report(i, p.is_stuck);
    pivot = p.value;
    this->inverse[i] = p.inverse;
  }

  struct Pivot {
    T value, inverse;  // zero where there is none
    bool is_broken, is_stuck;
  };
  /// What becomes of the pivot of row i.
  KOKKOS_FORCEINLINE_FUNCTION Pivot judged(std::int64_t i, T pivot) const {
    const Real<T> row_scale = this->scale[i];
    const bool is_broken =
        !(magnitude(pivot) >= this->rule.threshold(row_scale)) || !is_usable(pivot);
    if (is_broken) pivot = this->rule.instead(pivot, phase_of(pivot), row_scale);
    const bool has_inverse = is_usable(pivot);
    return {pivot, has_inverse ? one_over(pivot) : T(0), is_broken, !has_inverse};
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION T one_over(const T& pivot) {
    if constexpr (is_complex_v<T>)
      return reciprocal(pivot);
    else
      return T(1) / pivot;
  }
  static KOKKOS_FORCEINLINE_FUNCTION bool is_usable(const T& pivot) {
    return finite_probe(pivot) == 0 && pivot != T(0) && finite_probe(one_over(pivot)) == 0;
  }
};

/// IC(0): A = L L^H at the places that its lower triangle has. Imaginary parts of diagonal entries
/// are not read.
template <class T>
struct IncompleteRow<T, IncompleteKind::cholesky> : FactorsInProgress<T> {
  /// Entry k of row i: (A(i, j) - sum of L(i, c) conj L(j, c), c < j) / L(j, j).
  KOKKOS_FORCEINLINE_FUNCTION void eliminate(std::int64_t i, std::int64_t k) const {
    const FactorRows& pattern = this->rows;
    T* const entry = this->value;
    const std::int32_t j = pattern.column[k];
    T sum = entry[k];
    std::int64_t at = pattern.start[i], other = pattern.start[j];
    const std::int64_t other_end = pattern.diagonal[j];
    while (at < k && other < other_end) {
      const std::int32_t a = pattern.column[at], b = pattern.column[other];
      if (a == b) sum = fused(-entry[at], conjugate(entry[other]), sum);
      at += a <= b;
      other += b <= a;
    }
    entry[k] = product(this->inverse[j], sum);
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(std::int64_t i) const {
    const std::int64_t d = this->rows.diagonal[i];
    const Real<T> row_scale = this->scale[i];
    Real<T> square = Kokkos::real(this->value[d]);
    for (std::int64_t k = this->rows.start[i]; k < d; ++k)
      square = -add_square(this->value[k], -square);
    const bool is_broken = !(square >= this->rule.threshold(row_scale)) || !is_usable(square);
    if (is_broken) {
      square = Kokkos::real(this->rule.instead(T(square), T(1), row_scale));
      this->report(i, !is_usable(square));
    }
    const Real<T> root = is_usable(square) ? Kokkos::sqrt(square) : Real<T>(0);
    this->value[d] = T(root);
    this->inverse[i] = root > 0 ? T(1 / root) : T(0);
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION bool is_usable(const Real<T>& square) {
    return square > 0 && finite_probe(square) == 0;
  }
};

}  // namespace Trikkos::Impl

#endif
