// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_EXAMPLES_SOLVE_LAPACK_HPP
#define TRIKKOS_EXAMPLES_SOLVE_LAPACK_HPP

#include <Trikkos.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#ifdef TRIKKOS_HAVE_LAPACK

extern "C" void dgtsv_(const int* n, const int* nrhs, double* dl, double* d, double* du, double* b,
                       const int* ldb, int* info);

/// LAPACK's dgtsv (one thread on the host) on copies of A and b, which it overwrites.
class Lapack {
  using Host = Kokkos::View<double*, Kokkos::HostSpace>;

 public:
  template <class View>
  Lapack(const Trikkos::Tridiagonal<View>& A, const View& b)
      : m_given{
            {copy("lower", A.lower), copy("diag", A.diag), copy("upper", A.upper), copy("b", b)}} {
    if (b.extent(0) > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::invalid_argument("--lapack: " + std::to_string(b.extent(0)) +
                                  " rows are more than dgtsv's 32-bit integers can count");
    }
    for (int k = 0; k < 4; ++k) m_work[k] = Host("lapack::work", b.extent(0));
  }

  void prepare() {
    for (int k = 0; k < 4; ++k) Kokkos::deep_copy(m_work[k], m_given[k]);
  }

  /// After `prepare`.
  void solve() {
    const int n = static_cast<int>(m_work[3].extent(0)), one = 1;
    const auto& [lower, diag, upper, b] = m_work;
    // Its lower diagonal starts with A(1,0), in ours that is row 1's.
    dgtsv_(&n, &one, lower.data() + (n > 0), diag.data(), upper.data(), b.data(), &n, &m_info);
  }

  bool ok() const { return m_info == 0; }

  template <class View>
  void copy_solution(const View& x) const {
    Kokkos::deep_copy(x, m_work[3]);
  }

 private:
  template <class View>
  static Host copy(const char* label, const View& from) {
    Host to(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("lapack::") + label),
            from.extent(0));
    Kokkos::deep_copy(to, from);
    return to;
  }

  Kokkos::Array<Host, 4> m_given, m_work;
  int m_info = 0;
};

#endif
#endif
