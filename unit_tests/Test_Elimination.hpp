// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Outcome.hpp>
#include <cmath>
#include <impl/Trikkos_Guard.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>
#include <impl/partition/Trikkos_InKernelPartitions.hpp>
#include <impl/partition/Trikkos_Partitioned.hpp>
#include <limits>
#include <vector>

/// \file
/// An elimination written from its concept alone (CONTRIBUTING.md) solves on every backend.

namespace Test::Plain {

using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
namespace Impl = Trikkos::Impl;

/// Gaussian elimination without pivoting: for diagonally dominant matrices. Two rows are carried,
/// A over (x_prev, x_first, x_k) and B over (x_prev, x_first, x_k, x_(k+1)).
struct PlainElimination {
  static std::string label(const char* kernel) { return std::string("Trikkos::plain::") + kernel; }
  static constexpr int half_bandwidth = 1;
  template <class>
  static constexpr int device_rows = 15;
  static constexpr int default_row_multiple = 1;
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t rows_in_one_go(std::int64_t partition_size) {
    return partition_size;
  }
  template <class>
  static constexpr std::int64_t rows_in_tile(std::int64_t partition_size) {
    return partition_size;
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static void carry(Impl::Segment<V>& s, const Impl::Equation<V>& e) {
    const auto [A, B] = s;
    const V inv = Impl::reciprocal(B.p), a = A.p * inv, b = e.a * inv;
    s.top = {A.l - a * B.l, A.u - a * B.u, -a * B.q, A.f - a * B.f};
    s.bottom = {-b * B.l, -b * B.u, e.b - b * B.q, e.c, e.d - b * B.f};
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static Impl::Segment<V> start(const Impl::Equation<V>& e0,
                                                            const Impl::Equation<V>& e1) {
    return {{e0.a, e0.b, e0.c, e0.d}, {Impl::constant<V>(0), e1.a, e1.b, e1.c, e1.d}};
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION Impl::Segment<V> reduce(const Rows& rows) const {
    const V zero = Impl::constant<V>(0), one = Impl::constant<V>(1);
    const Impl::Equation<V> e = rows.equation(0);
    Impl::Segment<V> s = Impl::identity_segment<V>();
    const Impl::Segment<V> single{{zero, one, -one, zero}, {e.a, e.b, zero, e.c, e.d}};
    Impl::select_segment(rows.longer_than(0), s, single);
    Impl::select_segment(rows.longer_than(1), s, start(e, rows.equation(1)));
    for (typename Rows::index_type k = 2; k < rows.length(); ++k) {
      Impl::Segment<V> next = s;
      carry(next, rows.equation(k));
      Impl::select_segment(rows.longer_than(k), s, next);
    }
    return s;
  }

  template <class Rows, class V = typename Rows::value_type>
  KOKKOS_FORCEINLINE_FUNCTION Impl::Findings<V> substitute(const Rows& rows,
                                                           const Impl::Bounds<V>& bounds) const {
    const auto length = rows.length();
    const V zero = Impl::constant<V>(0);
    V next = bounds.last, after = bounds.next;
    Impl::Real<V> probe = Impl::finite_probe(bounds.first) + Impl::finite_probe(next);
    if (length > 1) {
      Impl::Segment<V> s = start(rows.equation(0), rows.equation(1));
      const auto known = [&](const auto& row) {
        return row.f - row.l * bounds.prev - row.u * bounds.first;
      };
      for (typename Rows::index_type k = 2; k < length; ++k) {  // the row of x_(k-1)
        const V inv = Impl::reciprocal(s.bottom.p);
        const Impl::Equation<V> e = rows.equation(k);
        rows.keep(k, {s.bottom.q * inv, zero, known(s.bottom) * inv});
        carry(s, e);
      }
      Impl::back_substitute<0>(rows, length - 1, 2, next, after,
                               [&](const V& v) { probe += Impl::finite_probe(v); });
      rows.store(1, next);
    }
    if (length > 0) rows.store(0, bounds.first);
    return {probe};
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION static void diagnose(const Impl::Diagnosis& diagnosis,
                                              const Impl::UnstagedRows<T>& rows) {
    for (std::int64_t k = 0; k < rows.m; ++k)
      if (Impl::report_bad_row(diagnosis, rows.inner_equation(k), rows.first + k)) return;
  }
};

/// As a Workspace runs a method.
template <class T>
Outcome<T> solve_plainly(const Reference::HostSystem<T>& A, const std::vector<T>& b,
                         std::int64_t partition_size) {
  const TEST_EXECSPACE exec;
  using Method = Impl::Partitioned<T, TEST_EXECSPACE, PlainElimination>;
  static_assert(Impl::Method<Method, T, TEST_EXECSPACE>);
  using InPhases = std::conditional_t<Impl::is_host_v<TEST_EXECSPACE>,
                                      Impl::HostPartitions<T, TEST_EXECSPACE, PlainElimination>,
                                      Impl::DevicePartitions<T, TEST_EXECSPACE, PlainElimination>>;
  static_assert(Impl::MethodInPhases<InPhases, T, TEST_EXECSPACE>);
  const Method method({.n = A.size()}, Options{}.partition_size(partition_size));
  const Kokkos::View<T*, TEST_EXECSPACE> storage("storage", method.storage_words()),
      x("x", b.size());
  const Kokkos::View<Impl::Report, TEST_EXECSPACE> report("report");
  const auto A_view = Reference::to_device(exec, A);
  const auto b_view = Reference::to_device(exec, b);
  method.solve(exec, {Impl::systems(A_view, 1), Impl::vectors<const T>(b_view), Impl::vectors<T>(x),
                      storage.data(), Impl::Diagnosis{report.data()->words}, true});
  const auto status = Impl::decode(Impl::fetch(exec, report.data(), "plain").words, A.size());
  const auto host_x = Reference::to_host(x);
  return {host_x, status, Reference::backward_error(A, host_x, b)};
}

template <class T>
void solves() {
  for (const std::int64_t n : {1, 2, 3, 8, 17, 100, 1000, 20011})
    for (const auto boundary : {Boundary::open, Boundary::periodic})
      for (const std::int64_t partition_size : {0, 2, 3, 15, 64}) {
        SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary) + ", partitions of " +
                     std::to_string(partition_size));
        auto A = gallery<T>(Gallery::uniform_dominant, n, n, boundary);
        const auto b = random_rhs<T>(n, n);
        const auto r = solve_plainly(A, b, partition_size);
        EXPECT_TRUE(r.ok()) << r;
        EXPECT_LE(r.eta, scaled<T>(1e-14));
        A.lower[n / 2] = A.diag[n / 2] = A.upper[n / 2] = T(0);
        const auto spoilt = solve_plainly(A, b, partition_size);
        EXPECT_EQ(spoilt.status.reason, Trikkos::Status::Reason::singular) << spoilt;
        EXPECT_EQ(spoilt.status.row, n / 2);
      }
}

TEST(TEST_CATEGORY, elimination_written_from_the_concept_solves) {
  solves<double>();
  solves<Kokkos::complex<float>>();
}

template <class T>
struct Invert {
  Kokkos::View<T*, TEST_EXECSPACE> v;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { v(i) = Impl::reciprocal(v(i)); }
};
/// A device has its own, for numbers whose reciprocals are not subnormal.
template <class T>
void inverts() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> v;
  for (int e = Limits::min_exponent; e < -Limits::min_exponent; ++e)
    for (int k = 0; k < 40; ++k) {
      const auto m = static_cast<T>(1 + std::abs(Impl::random_uniform(1, e + 5000, k)));
      v.push_back(std::ldexp(k < 2 ? 1 + static_cast<T>(k) * Limits::epsilon() : m, e));
      if (k % 2 == 1) v.back() = -v.back();
    }
  const TEST_EXECSPACE exec;
  const auto all = Reference::to_device(exec, v);
  const Kokkos::RangePolicy<TEST_EXECSPACE> range(exec, 0, static_cast<int>(v.size()));
  Kokkos::parallel_for("Test::invert", range, Invert<T>{all});
  const auto found = Reference::to_host(all);
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_LE(std::abs(std::fma(static_cast<long double>(v[i]), found[i], -1.0L)),
              Limits::epsilon())
        << v[i];
}
TEST(TEST_CATEGORY, reciprocals_of_pivots_are_precise) {
  inverts<float>();
  inverts<double>();
}

static_assert(Impl::EliminationOf<PlainElimination, Impl::StridedRows<double>>);
struct NoElimination {};
static_assert(!Impl::EliminationOf<NoElimination, Impl::StridedRows<double>>);

}  // namespace Test::Plain
