// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DIAGNOSIS_HPP
#define TRIKKOS_IMPL_DIAGNOSIS_HPP

#include <Trikkos_Concepts.hpp>
#include <Trikkos_Status.hpp>
#include <impl/Trikkos_System.hpp>
#include <impl/Trikkos_TeamLaunch.hpp>
#include <limits>

namespace Trikkos::Impl {

/// What kernels report to a Status, in device memory: first bad rows. Rows of many systems are
/// counted through, so that the first one belongs to the first bad system. Written by atomic
/// minima, so the report does not depend on scheduling.
struct Diagnosis {
  enum Word : int {
    elimination,  ///< first row where the elimination broke down, 4 row + reason
    merge,        ///< the same where segments merge: less exact, so second choice
    solution,     ///< first row whose solution is not finite
    suspect,      ///< 0 if anything is not finite: the substitution pass then looks for the row
    systems,      ///< how many there are
    seams,  ///< the bits of what windows have neglected at worst, whose order is that of numbers;
            ///< -1 if there are none
    words
  };
  static constexpr std::int64_t clear = std::numeric_limits<std::int64_t>::max();

  std::int64_t* word = nullptr;
  std::int64_t system_count = 1;
  std::int64_t first_row = 0;  // of this system, where rows are counted through
  Numbering number{};

  /// That of the k-th system of n rows.
  KOKKOS_INLINE_FUNCTION Diagnosis of(std::int64_t k, std::int64_t n) const {
    return {word, system_count, number[k] * n, number.from(k)};
  }

  KOKKOS_INLINE_FUNCTION void reset() const {
    word[elimination] = word[merge] = word[solution] = word[suspect] = clear;
    word[systems] = system_count;
    word[seams] = -1;
  }
  /// Of windows, see `truncated`; 0 or more, not a NaN.
  KOKKOS_INLINE_FUNCTION void report_disagreement(double by) const {
    const auto bits = Kokkos::bit_cast<std::int64_t>(by);
    if (word[seams] < bits) Kokkos::atomic_max(word + seams, bits);
  }
  KOKKOS_INLINE_FUNCTION void report(Status::Reason reason, std::int64_t row) const {
    mark_suspect();
    lower(elimination, code(reason, row));
  }
  KOKKOS_INLINE_FUNCTION void report_merge(std::int64_t row) const {
    mark_suspect();
    lower(merge, code(Status::Reason::singular, row));
  }
  /// x is finite but not to be trusted.
  KOKKOS_INLINE_FUNCTION void report_unstable(std::int64_t row) const {
    lower(elimination, code(Status::Reason::unstable, row));
  }
  KOKKOS_INLINE_FUNCTION void report_solution(std::int64_t row) const {
    lower(solution, code(Status::Reason::not_finite, row));
  }
  KOKKOS_INLINE_FUNCTION void mark_suspect() const { word[suspect] = 0; }  // so does every writer
  KOKKOS_INLINE_FUNCTION bool is_suspect() const { return word[suspect] == 0; }

 private:
  KOKKOS_INLINE_FUNCTION std::int64_t code(Status::Reason reason, std::int64_t row) const {
    return 4 * (first_row + row) + static_cast<int>(reason);
  }
  /// Every row may have something to report: most then see a smaller one and only read.
  KOKKOS_INLINE_FUNCTION void lower(Word minimum, std::int64_t code) const {
    if (code < word[minimum]) Kokkos::atomic_min(word + minimum, code);
  }
};

/// Its words, as one thing to be fetched.
struct DiagnosisWords {
  std::int64_t word[Diagnosis::words];
};

struct ResetDiagnosis {
  Diagnosis diagnosis;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    let_next_begin();
    diagnosis.reset();
  }
};

/// The words on the host, of systems of n rows, as a Status. The first bad system is named, by the
/// most exact report there is of it.
inline Status decode(const std::int64_t* word, std::int64_t n) {
  constexpr Diagnosis::Word by_exactness[] = {Diagnosis::elimination, Diagnosis::merge,
                                              Diagnosis::solution};
  const auto system = [&](std::int64_t code) { return code / 4 / n; };
  Status s;
  std::int64_t found = Diagnosis::clear;
  for (const auto which : by_exactness)
    if (word[which] != Diagnosis::clear &&
        (found == Diagnosis::clear || system(word[which]) < system(found)))
      found = word[which];
  if (found != Diagnosis::clear) {
    s.reason = static_cast<Status::Reason>(found % 4);
    s.system = word[Diagnosis::systems] > 1 ? system(found) : -1;
    s.row = found / 4 % n;
  } else if (word[Diagnosis::suspect] != Diagnosis::clear) {
    s.reason = Status::Reason::not_finite;
  }
  if (word[Diagnosis::seams] >= 0)
    s.disagreement = Kokkos::bit_cast<double>(word[Diagnosis::seams]);
  return s;
}

}  // namespace Trikkos::Impl

#endif
