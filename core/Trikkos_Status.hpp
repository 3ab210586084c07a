// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_STATUS_HPP
#define TRIKKOS_STATUS_HPP

#include <cstdint>
#include <cstdio>
#include <string>

namespace Trikkos {

/// What a solve found out about its numbers. Obtained from `Workspace::status(exec)` or
/// `Plan::status(exec)`, the only calls that wait.
struct Status {
  enum class Reason {
    none,
    singular,    ///< a column without a usable pivot: A is singular to working precision
    not_finite,  ///< Inf or NaN in A or b, or an intermediate overflow
    unstable,    ///< pivoting was needed where the algorithm does none (`thomas`, `pcr`: at all;
                 ///< `spike`: across partitions), so x is not to be trusted; `segmented` does it
    inaccurate   ///< `Options::verify` or `refine`: the backward error exceeds 45 units in the last
                 ///< place (1e-14 in double), or the tolerance of `verify` where that is less
  };

  Reason reason = Reason::none;
  std::int64_t system = -1;  ///< first bad system, (i, j) of rank 3 as i J + j; -1 if none, or if
                             ///< there is one only
  std::int64_t row = -1;     ///< its first bad row; -1 if none, or not known
  double backward_error =
      -1;  ///< worst of the right-hand sides; -1 without `Options::verify` or `refine`

  /// `truncated`, also where `automatic` tried that: what was neglected at worst, beside the
  /// largest unknown: on a host what neighbouring windows disagree by at their seams, on a device
  /// the coupling between the ends of groups of rows; of many systems the worst; -1 where
  /// `segmented` solved from the start, or `automatic` kept no window
  double disagreement = -1;
  bool fell_back = false;  ///< that was too much, so `segmented` has solved, of many systems those

  bool ok() const { return reason == Reason::none; }
  explicit operator bool() const { return ok(); }

  /// One sentence for a log.
  std::string why() const {
    const std::string of_system = system < 0 ? "" : "system " + std::to_string(system);
    const std::string of_row = row < 0 ? "" : "row " + std::to_string(row);
    const std::string both = of_system + (system < 0 || row < 0 ? "" : ", ") + of_row;
    const std::string at = both.empty() ? "" : " (" + both + ")";
    switch (reason) {
      case Reason::none:
        return "ok";
      case Reason::singular:
        return "the matrix is singular" + at;
      case Reason::not_finite:
        return "Inf, NaN or overflow" + at;
      case Reason::unstable:
        return "pivoting was needed but not done" + at;
      case Reason::inaccurate: {
        char eta[32];
        std::snprintf(eta, sizeof eta, "%.2g", backward_error);
        return std::string("backward error ") + eta +
               " exceeds 45 units in the last place or the tolerance of Options::verify" + at;
      }
    }
    return "unknown";
  }
};

}  // namespace Trikkos

#endif
