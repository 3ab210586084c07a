// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_DIAGNOSIS_HPP
#define TRIKKOS_IMPL_DIAGNOSIS_HPP

#include <Trikkos_Concepts.hpp>
#include <Trikkos_Status.hpp>
#include <limits>

namespace Trikkos::Impl {

/// What kernels report to a Status, in device memory: first bad rows and the largest backward
/// error. Written by atomic minima and maxima, so the report does not depend on scheduling.
struct Diagnosis {
  enum Word : int {
    elimination,     ///< first row where the elimination broke down, 4 row + reason
    merge,           ///< the same where segments merge: less exact, so second choice
    solution,        ///< first row whose solution is not finite
    suspect,         ///< 0 if anything is not finite: the substitution pass then looks for the row
    backward_error,  ///< the largest, as the bits of a double, of `Options::verify`
    words
  };
  static constexpr std::int64_t clear = std::numeric_limits<std::int64_t>::max();

  std::int64_t* word = nullptr;

  KOKKOS_INLINE_FUNCTION void reset() const {
    word[elimination] = word[merge] = word[solution] = word[suspect] = clear;
    word[backward_error] = 0;
  }
  KOKKOS_INLINE_FUNCTION void report(Status::Reason reason, std::int64_t row) const {
    word[suspect] = 0;  // every writer writes the same
    lower(elimination, 4 * row + static_cast<int>(reason));
  }
  KOKKOS_INLINE_FUNCTION void report_merge(std::int64_t row) const {
    word[suspect] = 0;
    lower(merge, 4 * row + static_cast<int>(Status::Reason::singular));
  }
  /// x is finite but not to be trusted.
  KOKKOS_INLINE_FUNCTION void report_unstable(std::int64_t row) const {
    lower(elimination, 4 * row + static_cast<int>(Status::Reason::unstable));
  }
  KOKKOS_INLINE_FUNCTION void report_solution(std::int64_t row) const { lower(solution, row); }
  KOKKOS_INLINE_FUNCTION void mark_suspect() const { word[suspect] = 0; }
  KOKKOS_INLINE_FUNCTION bool is_suspect() const { return word[suspect] == 0; }

 private:
  /// Every row may have something to report: most then see a smaller one and only read.
  KOKKOS_INLINE_FUNCTION void lower(Word minimum, std::int64_t code) const {
    if (code < word[minimum]) Kokkos::atomic_min(word + minimum, code);
  }
};

struct ResetDiagnosis {
  Diagnosis diagnosis;
  KOKKOS_INLINE_FUNCTION void operator()(int) const { diagnosis.reset(); }
};

inline Status decode(const std::int64_t* word) {
  Status s;
  s.backward_error = Kokkos::bit_cast<double>(word[Diagnosis::backward_error]);
  const bool in_merge = word[Diagnosis::elimination] == Diagnosis::clear;
  const std::int64_t broken = word[in_merge ? Diagnosis::merge : Diagnosis::elimination];
  if (broken != Diagnosis::clear) {
    s.reason = static_cast<Status::Reason>(broken % 4);
    s.row = broken / 4;
  } else if (word[Diagnosis::solution] != Diagnosis::clear) {
    s.reason = Status::Reason::not_finite;
    s.row = word[Diagnosis::solution];
  } else if (word[Diagnosis::suspect] != Diagnosis::clear) {
    s.reason = Status::Reason::not_finite;
  }
  return s;
}

/// Waits for the words on the device and decodes them.
template <class Exec, class Words>
Status fetch(const Exec& exec, const Words& words, const char* function) {
  std::int64_t host[Diagnosis::words];
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(
      exec, Kokkos::View<std::int64_t*, Kokkos::HostSpace, Unmanaged>(host, Diagnosis::words),
      Kokkos::subview(words, Kokkos::pair<int, int>(0, Diagnosis::words)));
  exec.fence(function);
  return decode(host);
}

}  // namespace Trikkos::Impl

#endif
