// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_INCOMPLETEOPTIONS_HPP
#define TRIKKOS_INCOMPLETEOPTIONS_HPP

#include <Trikkos_TriangularOptions.hpp>
#include <cstdio>

namespace Trikkos {

/// The two that keep the pattern of A.
enum class IncompleteKind {
  lu,       ///< ILU(0): L U, L with a unit diagonal
  cholesky  ///< IC(0): L L^H, of a Hermitian A
};

/// What an incomplete factorisation does about a pivot that broke down: of ILU(0) one that is zero
/// (or so small that its reciprocal overflows), of IC(0) one that is not positive.
enum class OnBreakdown {
  fail,     ///< leaves it: solves give Inf or NaN. Later rows are eliminated without that row.
  replace,  ///< by a number
  boost,    ///< raises small ones to a part of the sum of moduli of what is read of the row of A
  shift     ///< starts again with a larger diagonal, until no pivot breaks down
};

constexpr const char* name(OnBreakdown what) {
  switch (what) {
    case OnBreakdown::fail:
      return "fail";
    case OnBreakdown::replace:
      return "replace";
    case OnBreakdown::boost:
      return "boost";
    case OnBreakdown::shift:
      return "shift";
  }
  return "unknown";
}

/// In what order rows are eliminated: A is factored as P^T (L U) P, b and x stay as they are.
enum class IncompleteOrdering {
  natural,      ///< that of A
  multicolour,  ///< rows of one colour do not need each other: a few levels, so much to do side by
                ///< side, for more iterations. Jones and Plassmann 1993, where Exec works
  reverse_cuthill_mckee  ///< small distances between neighbours: for A whose rows come in disorder.
                         ///< Found by one thread of the host
};

constexpr const char* name(IncompleteOrdering ordering) {
  switch (ordering) {
    case IncompleteOrdering::natural:
      return "natural";
    case IncompleteOrdering::multicolour:
      return "multicolour";
    case IncompleteOrdering::reverse_cuthill_mckee:
      return "reverse_cuthill_mckee";
  }
  return "unknown";
}

/// How to factor incompletely. Setters chain: IncompleteOptions{}.boost(1e-8)
class IncompleteOptions {
 public:
  /// Chooses OnBreakdown::replace: such a pivot becomes `value` (of IC(0): its square does).
  constexpr IncompleteOptions& replace(double value) {
    m_on_breakdown = OnBreakdown::replace;
    m_value = value;
    return *this;
  }
  /// Chooses OnBreakdown::boost: a pivot (of IC(0): its square) smaller than `part` times the sum
  /// of moduli of its row becomes that large, with its sign (IC(0): positive). Moduli: of a complex
  /// entry |re| + |im|, of a complex pivot the larger of both.
  constexpr IncompleteOptions& boost(double part) {
    m_on_breakdown = OnBreakdown::boost;
    m_value = part;
    return *this;
  }
  /// Chooses OnBreakdown::shift: what stands on the diagonal grows by `first` times the sum of
  /// moduli of its row, away from zero (IC(0): up), then by four times as much, and so on, at most
  /// `largest_shift_count` times (Manteuffel 1980, there relative to the diagonal). On ILU(0) a
  /// shift above 1 always helps, as the matrix is then diagonally dominant, but for rows of zeros;
  /// on IC(0) one of the number of entries of a row, for positive definite A.
  constexpr IncompleteOptions& shift(double first = 1. / 1024) {
    m_on_breakdown = OnBreakdown::shift;
    m_value = first;
    return *this;
  }
  static constexpr int largest_shift_count = 10;

  constexpr OnBreakdown on_breakdown() const { return m_on_breakdown; }
  /// That of `replace`, `boost` or `shift`.
  constexpr double value() const { return m_value; }

  /// An order other than that of A costs two more passes over vectors a solve, and memory for
  /// `rhs_count` of them. Nothing but this chooses one.
  constexpr IncompleteOptions& ordering(IncompleteOrdering what) {
    m_ordering = what;
    return *this;
  }
  constexpr IncompleteOrdering ordering() const { return m_ordering; }

  /// How the factors are solved with; its `transpose` must be `none`.
  constexpr IncompleteOptions& triangular(const TriangularOptions& options) {
    m_triangular = options;
    return *this;
  }
  constexpr const TriangularOptions& triangular() const { return m_triangular; }

 private:
  OnBreakdown m_on_breakdown = OnBreakdown::fail;
  double m_value = 0;
  IncompleteOrdering m_ordering = IncompleteOrdering::natural;
  TriangularOptions m_triangular;
};

/// What an incomplete factorisation found out about its numbers. Rows are those of A; the first is
/// the one that is eliminated first.
struct IncompleteStatus {
  enum class Reason {
    none,        ///< there are factors, of A or, after repairs, of a matrix near it
    zero_pivot,  ///< ILU(0): a pivot broke down, and stayed so
    indefinite,  ///< IC(0): the same
    not_finite   ///< Inf or NaN in A
  };

  Reason reason = Reason::none;
  std::int64_t row = -1;  ///< first row of that reason; -1 if none

  /// Rows whose diagonal entry is not stored: the first, or -1, and how many. Such an entry counts
  /// as a stored zero; elimination may make a pivot of it.
  std::int64_t missing_row = -1, missing = 0;
  /// Pivots of A that broke down, or were boosted: the first, or -1, and how many, whatever was
  /// done about them. After a shift, those without it.
  std::int64_t breakdown_row = -1, breakdowns = 0;
  /// Of the diagonal, in sums of moduli of rows; 0 without OnBreakdown::shift or a reason for it.
  double shift = 0;

  bool ok() const { return reason == Reason::none; }
  explicit operator bool() const { return ok(); }

  /// One sentence for a log.
  std::string why() const {
    const auto rows = [](std::int64_t count, std::int64_t first) {
      return std::to_string(count) + (count == 1 ? " row" : " rows") + ", the first is " +
             std::to_string(first);
    };
    std::string text;
    switch (reason) {
      case Reason::none:
        text = "ok";
        break;
      case Reason::zero_pivot:
        text = "a pivot is zero (row " + std::to_string(row) + ")";
        break;
      case Reason::indefinite:
        text = "a pivot is not positive (row " + std::to_string(row) + ")";
        break;
      case Reason::not_finite:
        return "Inf or NaN in the matrix (row " + std::to_string(row) + ")";
    }
    if (breakdowns > 0) text += "; breakdown in " + rows(breakdowns, breakdown_row);
    if (missing > 0) text += "; no diagonal entry in " + rows(missing, missing_row);
    if (shift > 0) {
      char number[32];
      std::snprintf(number, sizeof number, "%.3g", shift);
      text += std::string("; diagonal shifted by ") + number + " of each row";
    }
    return text;
  }
};

}  // namespace Trikkos

#endif
