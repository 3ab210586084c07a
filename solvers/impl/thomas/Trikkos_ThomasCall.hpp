// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_THOMASCALL_HPP
#define TRIKKOS_IMPL_THOMASCALL_HPP

#include <impl/Trikkos_Diagnosis.hpp>
#include <impl/thomas/Trikkos_Thomas.hpp>

namespace Trikkos::Impl {

/// One thread a right-hand side.
template <class T>
struct ThomasSweep {
  Bands<T> A;
  Columns<const T> b;
  Columns<T> x;
  ThomasState<T>* states;
  Diagnosis diagnosis;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t rhs) const {
    const ThomasVerdict verdict = Thomas<T>{A}.solve(b[rhs], x[rhs], states + rhs * A.n);
    if (verdict.row >= 0) return diagnosis.report(verdict.reason, verdict.row);
    for (std::int64_t i = 0; i < A.n; ++i)
      if (!(finite_probe(x[rhs][i]) == 0)) return diagnosis.report_solution(i);
  }
};

/// `Algorithm::thomas` as a host call.
template <class T, class Exec>
class ThomasCall {
 public:
  ThomasCall(std::int64_t n, const Options&) : m_n(n) {}

  std::int64_t storage_words() const { return 2 * m_n; }
  std::int64_t parallel_items() const { return 1; }

  void launch(const Exec& exec, const Bands<T>& A, const Columns<const T>& b, const Columns<T>& x,
              std::int64_t rhs_count, T* storage, const Diagnosis& diagnosis, bool reset) const {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    if (reset)
      Kokkos::parallel_for("Trikkos::thomas::reset", Kokkos::RangePolicy<Exec>(exec, 0, 1),
                           ResetDiagnosis{diagnosis});
    Kokkos::parallel_for(
        "Trikkos::thomas", Policy(exec, 0, rhs_count),
        ThomasSweep<T>{A, b, x, reinterpret_cast<ThomasState<T>*>(storage), diagnosis});
  }

 private:
  std::int64_t m_n;
};

}  // namespace Trikkos::Impl

#endif
