// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Trikkos_Inverse.hpp>

#include "Baseline_LAPACK.hpp"
#include "Baseline_cuSOLVER.hpp"

/// \file
/// The inverse of tridiagonal matrices in double, beside a fill of the same array: the poster's
/// algorithm, and with the identity on the right LAPACK's dgtsv on a host, cuSOLVER's dense LU on a
/// device. Two matrices: (-1, 2, -1), whose inverse is full, and (-1, 4, -1), whose entries decay
/// below the number range.

namespace {

using Perf::Exec;
using Perf::Harness;
using T = double;
using Vector = Kokkos::View<T*, Exec>;
template <class Layout>
using Square = Kokkos::View<T**, Layout, Exec>;

struct InverseProblem {
  Trikkos::Tridiagonal<Vector> A;
  std::int64_t n;

  InverseProblem(std::int64_t n_, T diag)
      : A{Vector("Perf::lower", n_), Vector("Perf::diag", n_), Vector("Perf::upper", n_)}, n(n_) {
    Kokkos::deep_copy(A.lower, T(-1));
    Kokkos::deep_copy(A.diag, diag);
    Kokkos::deep_copy(A.upper, T(-1));
  }
  template <class Layout = Kokkos::LayoutRight>
  Square<Layout> array() const {
    return Square<Layout>(Kokkos::view_alloc("Perf::X", Kokkos::WithoutInitializing), n, n);
  }
};

/// The largest entry of A X - I.
template <class View>
struct InverseResidual {
  Trikkos::Tridiagonal<Vector> A;
  View X;
  std::int64_t n;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index, T& most) const {
    const std::int64_t i = index / n, j = index % n;
    T r = A.diag(i) * X(i, j) - (i == j ? 1 : 0);
    if (i > 0) r += A.lower(i) * X(i - 1, j);
    if (i + 1 < n) r += A.upper(i) * X(i + 1, j);
    if (!(Kokkos::abs(r) <= most)) most = Kokkos::abs(r);
  }
};

/// `invert(harness, problem, X)` leaves the inverse in X and returns its Time.
template <class Layout, class Invert>
void add_inverse(Harness& harness, const std::string& name, std::int64_t n, T diag,
                 const Invert& invert) {
  const std::string full = "inverse/double/diag:" + std::to_string(static_cast<int>(diag)) +
                           "/n:" + std::to_string(n) + "/" + name;
  Perf::add(full, [&harness, n, diag, invert](benchmark::State& state) {
    const InverseProblem problem(n, diag);
    const auto X = problem.array<Layout>();
    const Perf::Time time = invert(harness, problem, X);
    T worst = 0;
    Kokkos::parallel_reduce(
        "Perf::residual", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n * n),
        InverseResidual<Square<Layout>>{problem.A, X, n}, Kokkos::Max<T>(worst));
    const Trikkos::InverseGenerators G(harness.exec(), problem.A);
    const double scale = G.condition_inf(harness.exec(), problem.A);
    const Perf::Time fill = harness.stream_time<0>(n * n * std::int64_t(sizeof(T)));
    state.counters["GB/s"] = static_cast<double>(n * n) * sizeof(T) / time.median * 1e-9;
    state.counters["of_fill"] = fill.median / time.median;
    state.counters["residual"] = worst / scale;
    if (!(worst <= 1e-14 * scale)) throw std::runtime_error("the residual is too large");
    return time;
  });
}

#ifdef TRIKKOS_HAVE_LAPACK
Perf::Time lapack_gtsv(const Harness& h, const InverseProblem& p, T* X) {
  const auto n = static_cast<lapack_int>(p.n);
  std::vector<T> lower(n), diag(n), upper(n);
  return h.time(
      [&] {
        std::copy_n(p.A.lower.data(), n, lower.data());
        std::copy_n(p.A.diag.data(), n, diag.data());
        std::copy_n(p.A.upper.data(), n, upper.data());
        std::fill_n(X, p.n * p.n, T(0));
        for (std::int64_t i = 0; i < p.n; ++i) X[i * (p.n + 1)] = 1;
      },
      [&] {
        LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, n, n, lower.data(), diag.data(), upper.data(), X, n);
      });
}
#endif

template <class Layout>
void add_ours(Harness& harness, const std::string& name, std::int64_t n, T diag) {
  add_inverse<Layout>(harness, name, n, diag,
                      [](const Harness& h, const InverseProblem& p, const Square<Layout>& X) {
                        const Trikkos::InverseGenerators<T, Exec> G(h.exec(), p.n);
                        return h.time([] {}, [&] { Trikkos::inverse(h.exec(), G, p.A, X); });
                      });
}

const Perf::Registration registration([](Harness& harness) {
  const auto sizes = Perf::on_host ? harness.sizes({1024, 4096, 8192})
                                   : harness.sizes({4096, 8192, 16384, 32768, 65536});
  using Right = Kokkos::LayoutRight;
  for (const std::int64_t n : sizes)
    for (const T diag : {2, 4}) {
      add_ours<Right>(harness, "generators/right", n, diag);
      add_ours<Kokkos::LayoutLeft>(harness, "generators/left", n, diag);
      // what is O(n) of it
      add_inverse<Right>(harness, "generators/without_writing", n, diag,
                         [](const Harness& h, const InverseProblem& p, const Square<Right>& X) {
                           const Trikkos::InverseGenerators<T, Exec> G(h.exec(), p.n);
                           const auto time = h.time([] {}, [&] { G.update(h.exec(), p.A); });
                           Trikkos::inverse(h.exec(), G, X);
                           return time;
                         });
      add_inverse<Right>(
          harness, "sherman_morrison", n, diag,
          [](const Harness& h, const InverseProblem& p, const Square<Right>& X) {
            return h.time([] {},
                          [&] {
                            static_cast<void>(Trikkos::inverse(
                                h.exec(), p.A, X, Trikkos::InverseAlgorithm::sherman_morrison));
                          });
          });
#ifdef TRIKKOS_HAVE_LAPACK
      if constexpr (Perf::on_host)
        add_inverse<Kokkos::LayoutLeft>(
            harness, "lapack_dgtsv", n, diag,
            [](const Harness& h, const InverseProblem& p, const Square<Kokkos::LayoutLeft>& X) {
              return lapack_gtsv(h, p, X.data());
            });
#endif
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSOLVER)
      if (n <= 16384)
        add_inverse<Kokkos::LayoutLeft>(
            harness, "cusolver_lu", n, diag,
            [](const Harness& h, const InverseProblem& p, const Square<Kokkos::LayoutLeft>& X) {
              return Perf::cusolver_lu(h, p.A, X);
            });
#endif
    }
});

}  // namespace
