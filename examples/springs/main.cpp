// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Masses in a row between two walls, joined by springs. K is their stiffness matrix, tridiagonal,
// and X, its inverse, their flexibility: X(i, j) is how far mass i moves where mass j is pushed by
// a unit force. Most questions need some of its entries, or products; all of it is there, too.

#include <Trikkos.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using Exec = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Exec>;

/// Spring i is to the left of mass i: from 1 to 3, the weakest in the middle of the row.
KOKKOS_INLINE_FUNCTION double spring(std::int64_t i, std::int64_t n) {
  return 1 + 2 * Kokkos::abs(2 * static_cast<double>(i) / static_cast<double>(n) - 1);
}

int run(std::int64_t n) {
  const Exec exec;
  const Trikkos::Tridiagonal K{Vector("lower", n), Vector("diag", n), Vector("upper", n)};
  Kokkos::parallel_for(
      "springs", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(std::int64_t i) {
        K.lower(i) = -spring(i, n);
        K.diag(i) = spring(i, n) + spring(i + 1, n);
        K.upper(i) = -spring(i + 1, n);
      });

  // in O(n): what each mass yields to a force of its own, and how far a load moves all of them
  const Trikkos::InverseGenerators flexibility(exec, K);
  const Vector own("own", n), moved("moved", n);
  flexibility.diagonal(exec, 0, own);
  Kokkos::deep_copy(exec, moved, 1e-3);
  flexibility.apply(exec, moved, moved);
  const auto softest = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, own);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, moved);
  const auto most = std::max_element(softest.data(), softest.data() + n) - softest.data();
  std::printf("masses            %lld\n", static_cast<long long>(n));
  std::printf("softest           %lld, moves %.6g by a unit force\n", static_cast<long long>(most),
              softest(most));
  std::printf("all loaded        it moves %.6g by 0.001 on each\n", x(most));
  std::printf("condition number  %.6g\n", flexibility.condition_inf(exec, K));

  // all of X
  const Kokkos::View<double**, Exec> X("X", n, n);
  Trikkos::inverse(exec, flexibility, X);
  const Trikkos::Status status = flexibility.status(exec);  // waits
  const auto row = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{},
                                                       Kokkos::subview(X, most, Kokkos::ALL));
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += 1e-3 * row(j);
  std::printf("its row of X      adds up to %.6g\n", sum);
  std::printf("status            %s\n", status.why().c_str());
  return status.ok() ? 0 : 1;
}

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const long n = argc > 1 ? std::atol(argv[1]) : 1000;
  if (n < 1 || n > 100000) {
    std::fprintf(stderr, "trikkos_springs: masses are '%s', expected 1 to 100000\n", argv[1]);
    return 2;
  }
  return run(n);
}
