// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_LAPACK.hpp"
#include "Perf_ManySystems.hpp"

/// \file
/// Tridiagonal systems of different sizes, one behind the other: a VariableBatch, beside one system
/// of as many rows, which is what it makes of them, and LAPACK.

namespace {

using Perf::Exec;
using Perf::Harness;

using T = double;
using Offsets = std::vector<std::int64_t>;
using Matrix = Trikkos::Tridiagonal<Perf::Vector>;

enum class Sizes { all_64, mixed, one_huge };
constexpr const char* name(Sizes sizes) {
  constexpr const char* names[] = {"all_64", "1_to_2000", "one_huge"};
  return names[static_cast<int>(sizes)];
}

/// Of systems with so many rows together; the last one is cut off. One huge: it has half the rows,
/// the others 64 each.
Offsets offsets(Sizes sizes, std::int64_t rows) {
  std::uint64_t state = 1;
  const auto size = [&]() -> std::int64_t {
    if (sizes != Sizes::mixed) return 64;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return 1 + static_cast<std::int64_t>((state >> 33) % 2000);
  };
  Offsets result = {0};
  if (sizes == Sizes::one_huge) result.push_back(rows / 2);
  while (result.back() < rows) result.push_back(std::min(rows, result.back() + size()));
  return result;
}
auto view(const Offsets& offsets) {
  using View = Kokkos::View<const std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  return View(offsets.data(), offsets.size());
}

/// Cuts the couplings between systems, which nobody reads but who sees them as one.
struct Separate {
  Matrix A;
  Kokkos::View<const std::int64_t*, Exec> offsets;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    if (offsets(k) == offsets(k + 1)) return;
    A.lower(offsets(k)) = 0;
    A.upper(offsets(k + 1) - 1) = 0;
  }
};

struct VariableProblem {
  Offsets offsets;
  Matrix A;
  Perf::Vector b, x;

  VariableProblem(const Exec& exec, Sizes sizes, std::int64_t rows)
      : offsets(::offsets(sizes, rows)),
        A(Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform, rows, 1)),
        b(Trikkos::gallery_rhs<T>(exec, rows, 2)),
        x("Perf::x", rows) {
    const auto on_device = Kokkos::create_mirror_view_and_copy(Exec(), view(offsets));
    Kokkos::parallel_for(
        "Perf::separate",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, systems()),
        Separate{A, on_device});
    exec.fence("Perf::VariableProblem");
  }
  std::int64_t systems() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// `solver(harness, problem)` leaves the solutions in problem.x and returns its Time. The backward
/// error is that of all systems as one.
template <class Solver>
void add_solver(Harness& harness, const std::string& name, Sizes sizes, std::int64_t rows,
                const Solver& solver) {
  Perf::add(name, [&harness, sizes, rows, solver](benchmark::State& state) {
    const std::int64_t bytes = 5 * rows * std::int64_t(sizeof(T));
    const double ceiling = harness.ceiling(bytes);
    const VariableProblem problem(harness.exec(), sizes, rows);
    const Perf::Time time = solver(harness, problem);
    const double eta = Trikkos::backward_error(harness.exec(), problem.A, problem.x, problem.b);
    Perf::report(state, time, static_cast<double>(rows), static_cast<double>(bytes), ceiling, eta,
                 Perf::tolerated<T>);
    return time;
  });
}

Perf::Time variable_batch(const Harness& h, const VariableProblem& p) {
  const Trikkos::VariableBatch<T, Exec> batch(h.exec(), view(p.offsets));
  return h.time_of(batch, [&] { Trikkos::solve(h.exec(), batch, p.A, p.b, p.x); });
}
Perf::Time as_one(const Harness& h, const VariableProblem& p) {
  const Trikkos::Workspace work(h.exec(), p.A, p.b);
  return h.time([] {}, [&] { Trikkos::solve(h.exec(), work, p.A, p.b, p.x); });
}

#ifdef TRIKKOS_HAVE_LAPACK
/// dgtsv, system after system, by all threads.
Perf::Time lapack_gtsv(const Harness& h, const VariableProblem& p) {
  const auto copy = [&] {
    return Perf::Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Perf::copy"),
                        p.x.extent(0));
  };
  const Matrix A{copy(), copy(), copy()};
  return h.time(
      [&] {
        Kokkos::deep_copy(h.exec(), A.lower, p.A.lower);
        Kokkos::deep_copy(h.exec(), A.diag, p.A.diag);
        Kokkos::deep_copy(h.exec(), A.upper, p.A.upper);
        Kokkos::deep_copy(h.exec(), p.x, p.b);
      },
      [&] {
        Perf::for_all_by_host(p.systems(), [&](std::int64_t k) {
          const std::int64_t begin = p.offsets[k];
          const auto n = static_cast<lapack_int>(p.offsets[k + 1] - begin);
          LAPACKE_dgtsv_work(LAPACK_COL_MAJOR, n, 1, A.lower.data() + begin + 1,
                             A.diag.data() + begin, A.upper.data() + begin, p.x.data() + begin, n);
        });
      });
}
#endif

const Perf::Registration registration([](Harness& harness) {
  const std::int64_t rows = harness.sizes({Perf::on_host ? 1 << 22 : 1 << 25}).front();
  for (const Sizes sizes : {Sizes::all_64, Sizes::mixed, Sizes::one_huge}) {
    const std::string prefix =
        "variable/double/rows:" + std::to_string(rows) + "/" + name(sizes) + "/";
    add_solver(harness, prefix + "variable_batch", sizes, rows, variable_batch);
    add_solver(harness, prefix + "segmented_as_one", sizes, rows, as_one);
#ifdef TRIKKOS_HAVE_LAPACK
    if constexpr (Perf::on_host)
      add_solver(harness, prefix + "lapack_gtsv", sizes, rows, lapack_gtsv);
#endif
  }
});

}  // namespace
