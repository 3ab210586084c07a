// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What `solve` promises beyond numbers: no allocation, no fence, nothing on another execution space
// instance, and our name on everything.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Kokkos_Graph.hpp>
#include <Trikkos.hpp>
#include <Watch.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace Test::Watching;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Marshaling;
using Trikkos::Options;
using Trikkos::Pivoting;
using Trikkos::Scaling;
using Trikkos::Transpose;

// An instance that is not the default one; distinct from it on a device. (A single thread cannot be
// divided: Kokkos 4.6 aborts.)
template <class Exec>
Exec other_instance() {
  if (Exec().concurrency() < 2) return Exec();
  return Kokkos::Experimental::partition_space(Exec(), std::vector<int>{1, 1}).back();
}

struct Case {
  std::int64_t n, rhs_count;  // 0: b and x of rank 1
  Boundary boundary;
  Options options;

  std::string name() const {
    return "n " + std::to_string(n) + ", rhs " + std::to_string(rhs_count) + ", " +
           Trikkos::name(boundary) + ", " + Trikkos::name(options.algorithm()) +
           ", partition_size " + std::to_string(options.partition_size()) + ", transpose " +
           std::to_string(static_cast<int>(options.transpose())) +
           (options.verify() > 0 ? ", verify" : "") + ", refine " +
           std::to_string(options.refine()) + ", marshaling " +
           std::to_string(static_cast<int>(options.spike().marshaling)) + ", scaling " +
           Trikkos::name(options.scaling());
  }
};

// Every option with every size, and more right-hand sides than are in flight at a time.
std::vector<Case> cases(std::int64_t largest) {
  std::vector<Case> all;
  for (const std::int64_t n : {std::int64_t(1), std::int64_t(1000), largest}) {
    for (const auto algorithm : Trikkos::algorithms) {
      const Options options = Options{}.algorithm(algorithm);
      const std::int64_t many = n == 1 ? 20000 : n == 1000 ? 300 : 5;
      all.push_back({n, 0, Boundary::open, options});
      all.push_back({n, 0, Boundary::periodic, options});
      all.push_back({n, many, Boundary::open, options});
      for (const auto transpose : {Transpose::transpose, Transpose::conjugate_transpose}) {
        all.push_back({n, 0, Boundary::open, Options(options).transpose(transpose)});
      }
      all.push_back({n, 0, Boundary::open, Options(options).verify(1e-4)});
      all.push_back({n, many, Boundary::periodic,
                     Options(options).verify(1e-4).transpose(Transpose::transpose)});
      if (algorithm == Algorithm::automatic || algorithm == Algorithm::segmented ||
          algorithm == Algorithm::spike)
        all.push_back({n, 0, Boundary::open, Options(options).partition_size(37)});
      all.push_back({n, 0, Boundary::open, Options(options).refine(2)});
      all.push_back({n, many, Boundary::open, Options(options).refine(1).verify(1e-4)});
      all.push_back({n, many, Boundary::periodic, Options(options).scaling(Scaling::columns)});
      all.push_back({n, 0, Boundary::open, Options(options).scaling(Scaling::columns).refine(1)});
      if (algorithm == Algorithm::thomas)
        all.push_back({n, many, Boundary::periodic,
                       Options(options).thomas({Trikkos::Corners::sherman_morrison})});
      if (algorithm == Algorithm::pcr) {
        for (const auto boundary : {Boundary::open, Boundary::periodic})
          all.push_back({n, many, boundary, Options(options).pcr({.reduction_steps = 5})});
      }
    }
    for (const auto pivoting : {Pivoting::diagonal, Pivoting::none}) {
      for (const auto marshaling : {Marshaling::on_chip, Marshaling::global, Marshaling::none}) {
        const Options options = Options{}.spike({pivoting, marshaling});
        all.push_back({n, 0, Boundary::periodic, options});
        all.push_back({n, 3, Boundary::open, Options(options).partition_size(8)});
        if (marshaling != Marshaling::on_chip)
          all.push_back({n, 3, Boundary::open, Options{}.spike({pivoting, marshaling, 8})});
      }
    }
  }
  return all;
}

template <class T, class Exec, class Vector>
void expect_contract_for(const Exec& exec, const Case& c, const Vector& b, const Vector& x) {
  const auto A = Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform_dominant, c.n, 1, c.boundary);
  Kokkos::deep_copy(exec, b, T(1));
  const auto expect_kept = [&](const char* what, const Trace& trace, bool is_solve) {
    SCOPED_TRACE(what);
    EXPECT_EQ(waits(trace), Strings{});
    EXPECT_EQ(foreign_labels(trace), Strings{});
    EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
    EXPECT_FALSE(trace.kernels.empty());
    if (is_solve) {
      EXPECT_TRUE(has_region(trace, "Trikkos::solve"));
    }
  };

  const Algorithm algorithm = c.options.algorithm();
  if (algorithm != Algorithm::factored) {
    Trikkos::Workspace work(exec, A, b, c.options);
    const auto with_workspace = watch([&] { Trikkos::solve(exec, work, A, b, x); });
    EXPECT_TRUE(work.status(exec).ok()) << work.status(exec).why();
    expect_kept("workspace", with_workspace, true);
  }

  Trikkos::Plan plan(exec, A, c.options, c.rhs_count);
  const auto with_plan = watch([&] { Trikkos::solve(exec, plan, b, x); });
  EXPECT_TRUE(plan.status(exec).ok()) << plan.status(exec).why();
  expect_kept("plan", with_plan, true);

  auto update = watch([&] { plan.update(exec, A); });
  // factors are judged on the host
  if (algorithm == Algorithm::automatic || algorithm == Algorithm::thomas ||
      algorithm == Algorithm::factored)
    std::erase_if(update.fences, [&](const Event& e) { return e.device == device_id(exec); });
  expect_kept("update", update, false);
  expect_kept("plan, again", watch([&] { Trikkos::solve(exec, plan, b, x); }), true);
  exec.fence();
}

template <class T, class Exec>
void expect_contract(std::int64_t largest) {
  for (const Case& c : cases(largest)) {
    SCOPED_TRACE(c.name());
    // A new one each time: nothing that Kokkos allocates with its first kernel is there yet.
    const Exec exec = other_instance<Exec>();
    if (c.rhs_count == 0) {
      const Kokkos::View<T*, Exec> b("b", c.n), x("x", c.n);
      expect_contract_for<T>(exec, c, b, x);
    } else {
      const Kokkos::View<T**, Exec> b("b", c.rhs_count, c.n), x("x", c.rhs_count, c.n);
      expect_contract_for<T>(exec, c, b, x);
    }
    if (c.rhs_count > 0 && c.n == 1000) {
      const Kokkos::View<T***, Exec> b("b", 4, c.n, 75), x("x", 4, c.n, 75);
      expect_contract_for<T>(exec, c, Trikkos::along(b, 1), Trikkos::along(x, 1));
    }
    if (testing::Test::HasFailure()) return;  // one case says it all
  }
}

// Five diagonals: one matrix and many, more than are in flight at a time.
template <class Exec>
void expect_contract_of_pentadiagonal_matrices() {
  const Exec exec = other_instance<Exec>();
  for (const auto& options : {Options{}, Options{}.algorithm(Algorithm::thomas),
                              Options{}.thomas({Trikkos::Corners::sherman_morrison}).refine(1)})
    for (const auto boundary : {Boundary::open, Boundary::periodic}) {
      SCOPED_TRACE(std::string(Trikkos::name(options.algorithm())) + ", " +
                   Trikkos::name(boundary));
      const Kokkos::View<double**, Exec> off("off", 300, 50), diag("diag", 300, 50),
          b("b", 300, 50);
      Kokkos::deep_copy(exec, off, 1.);
      Kokkos::deep_copy(exec, diag, 9.);
      Kokkos::deep_copy(exec, b, 1.);
      const auto expect_kept = [&](const auto& A) {
        const Trikkos::Workspace work(exec, A, b, options);
        const Trikkos::Plan plan(exec, A, options, 300);
        for (const Trace& trace : {watch([&] { Trikkos::solve(exec, work, A, b, b); }),
                                   watch([&] { Trikkos::solve(exec, plan, b, b); })}) {
          EXPECT_EQ(waits(trace), Strings{});
          EXPECT_EQ(foreign_labels(trace), Strings{});
          EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
          EXPECT_TRUE(has_region(trace, "Trikkos::solve"));
        }
        EXPECT_TRUE(work.status(exec).ok());
        EXPECT_TRUE(plan.status(exec).ok());
      };
      expect_kept(Trikkos::Pentadiagonal{off, off, diag, off, off, boundary});
      const auto one = [](const auto& v) { return Kokkos::subview(v, 0, Kokkos::ALL); };
      expect_kept(
          Trikkos::Pentadiagonal{one(off), one(off), one(diag), one(off), one(off), boundary});
    }
}

// Systems of different sizes.
template <class Exec>
void expect_contract_of_inverse() {
  const Exec exec = other_instance<Exec>();
  for (const std::int64_t n : {1, 300}) {
    const auto A = Trikkos::gallery<double>(exec, Trikkos::Gallery::uniform_dominant, n);
    const Kokkos::View<double**, Exec> X("X", n, n);
    const Trikkos::InverseGenerators<double, Exec> G(exec, n, 16);
    const auto trace = watch([&] {
      Trikkos::inverse(exec, G, A, X);
      G.diagonal(exec, 0, A.diag);
      G.apply(exec, A.diag, A.diag);
    });
    EXPECT_TRUE(G.status(exec).ok());
    EXPECT_EQ(waits(trace), Strings{});
    EXPECT_EQ(foreign_labels(trace), Strings{});
    EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
    EXPECT_TRUE(has_region(trace, "Trikkos::inverse_rows"));
  }
}
template <class Exec>
void expect_contract_of_variable_batch() {
  const Exec exec = other_instance<Exec>();
  constexpr std::int64_t n = 1000;
  const auto A = Trikkos::gallery<double>(exec, Trikkos::Gallery::uniform_dominant, n);
  const Kokkos::View<double*, Exec> b("b", n), x("x", n);
  Kokkos::deep_copy(exec, b, 1.);
  const Kokkos::View<int*, Kokkos::HostSpace> offsets("offsets", 4);  // 0, 10, 10, n
  offsets(1) = offsets(2) = 10;
  offsets(3) = n;
  const Trikkos::VariableBatch<double, Exec> batch(exec, offsets, Options{}.refine(1));
  for (const auto& solution : {x, b}) {
    const auto trace = watch([&] { Trikkos::solve(exec, batch, A, b, solution); });
    EXPECT_EQ(waits(trace), Strings{});
    EXPECT_EQ(foreign_labels(trace), Strings{});
    EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
    EXPECT_TRUE(has_region(trace, "Trikkos::solve"));
    EXPECT_TRUE(batch.status(exec).ok());
  }
  const auto made =
      watch([&] { const Trikkos::VariableBatch<double, Exec> another(exec, offsets); });
  EXPECT_EQ(foreign_labels(made), Strings{});
  EXPECT_EQ(foreign_kernels(made, device_id(exec)), Strings{});
}

// Matrices that are not stored, or of which a few numbers are.
struct Coefficients {
  KOKKOS_FUNCTION Kokkos::Array<double, 3> operator()(std::int64_t, std::int64_t) const {
    return {-1, 3, -1};
  }
};
template <class Exec>
void expect_contract_of_computed_matrices() {
  const Exec exec = other_instance<Exec>();
  for (const auto& [count, n] : {std::pair(1, 5000), std::pair(30, 100)}) {
    const Kokkos::View<double**, Exec> b("b", count, n), x("x", count, n);
    const Trikkos::Workspace<double, Exec> work(exec, n, count, Options{}.refine(1));
    const auto expect_kept = [&](const Trace& trace) {
      EXPECT_EQ(waits(trace), Strings{});
      EXPECT_EQ(foreign_labels(trace), Strings{});
      EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
      EXPECT_TRUE(has_region(trace, "Trikkos::solve"));
      EXPECT_TRUE(work.status(exec).ok());
    };
    const Trikkos::Computed A{n, Coefficients{}};
    expect_kept(watch([&] { Trikkos::solve(exec, work, A, b, x); }));
    const auto made = watch([&] { Trikkos::toeplitz(exec, 10, -1., 3., -1.); });
    EXPECT_EQ(foreign_labels(made), Strings{});
    EXPECT_EQ(foreign_kernels(made, device_id(exec)), Strings{});
    const auto T = Trikkos::toeplitz(exec, n, -1., 3., -1.);
    expect_kept(watch([&] { Trikkos::solve(exec, work, T, b, x); }));
  }
}

// A matrix of 5 diagonals, made here: wide and thin levels.
template <class Exec>
void expect_contract_of_triangles() {
  using Trikkos::TriangularAlgorithm;
  constexpr int n = 20000, far = 5000;
  Kokkos::View<int*, Kokkos::HostSpace> row_map("row_map", n + 1), entries("entries", 3 * n);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    for (const int j : {i - far, i - far / 2, i})
      if (j >= 0) entries(count++) = j;
    row_map(i + 1) = count;
  }
  for (const auto algorithm : Trikkos::triangular_algorithms) {
    if (algorithm == TriangularAlgorithm::point_to_point && !Trikkos::Impl::is_host_v<Exec>)
      continue;
    SCOPED_TRACE(Trikkos::name(algorithm));
    const Exec exec = other_instance<Exec>();
    const Kokkos::View<double*, Exec> values("values", 3 * n), b("b", n);
    Kokkos::deep_copy(exec, values, 1.);
    const Trikkos::CsrTriangle A{
        Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, row_map),
        Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, entries), values};
    const Kokkos::View<double**, Exec> many("many", 3, n);
    const auto options = Trikkos::TriangularOptions{}.algorithm(algorithm).rhs_count(2);
    const auto made = watch([&] { const Trikkos::TriangularPlan another(exec, A, options); });
    EXPECT_EQ(foreign_labels(made), Strings{});
    EXPECT_EQ(foreign_kernels(made, device_id(exec)), Strings{});
    // What it works in, for parts, and what it keeps; entries, levels, slots, places, the end.
    const auto is_ours = [](const std::string& label) { return label.starts_with("Trikkos::"); };
    EXPECT_LE(std::count_if(made.allocations.begin(), made.allocations.end(), is_ours), 3);
    // A host waits for the solves that it tries, too, before it chooses.
    const auto is_tried = [](const std::string& label) { return label.ends_with("::try"); };
    const auto fences = [&](const auto& counts) {
      return std::count_if(made.fences.begin(), made.fences.end(),
                           [&](const Event& fence) { return counts(fence.label); });
    };
    EXPECT_LE(fences([&](const std::string& l) { return is_ours(l) && !is_tried(l); }), 5);
    const bool tries =
        Trikkos::Impl::is_host_v<Exec> && (algorithm == TriangularAlgorithm::automatic ||
                                           algorithm == TriangularAlgorithm::point_to_point);
    EXPECT_LE(fences(is_tried), tries ? 25 : 0);
    const Trikkos::TriangularPlan plan(exec, A, options);
    const auto expect_kept = [&](const Trace& trace) {
      EXPECT_EQ(waits(trace), Strings{});
      EXPECT_EQ(foreign_labels(trace), Strings{});
      EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
      EXPECT_FALSE(trace.kernels.empty());
    };
    for (int run = 0; run < 2; ++run) {
      const auto one = watch([&] { Trikkos::solve(exec, plan, b, b); });
      EXPECT_TRUE(has_region(one, "Trikkos::solve"));
      expect_kept(one);
      expect_kept(watch([&] { Trikkos::solve(exec, plan, many, many); }));
      expect_kept(watch([&] { plan.update(exec, values); }));
    }
    EXPECT_TRUE(plan.status(exec).ok());
  }
}

// Of a matrix with 5 diagonals: factors, and iterations, which wait once each.
template <class Exec>
void expect_contract_of_incomplete_factors() {
  constexpr int m = 20, n = m * m;
  Kokkos::View<int*, Kokkos::HostSpace> row_map("row_map", n + 1), entries("entries", 5 * n);
  Kokkos::View<double*, Kokkos::HostSpace> values("values", 5 * n);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    for (const int j : {i - m, i - 1, i, i + 1, i + m})
      if (j >= 0 && j < n) {
        values(count) = j == i ? 4.1 : -1;
        entries(count++) = j;
      }
    row_map(i + 1) = count;
  }
  const auto there = [](const auto& v) {
    return Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, v);
  };
  const Exec exec = other_instance<Exec>();
  const Trikkos::CsrMatrix A{there(row_map), there(entries), there(values)};
  const Kokkos::View<double*, Exec> b("b", n), x("x", n);
  Kokkos::deep_copy(exec, b, 1.);
  const auto expect_named = [&](const Trace& trace) {
    EXPECT_EQ(foreign_labels(trace), Strings{});
    EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
    EXPECT_FALSE(trace.kernels.empty());
  };
  const auto expect_kept = [&](const Trace& trace) {
    EXPECT_EQ(waits(trace), Strings{});
    expect_named(trace);
  };
  for (const auto& options : {Trikkos::IncompleteOptions{}, Trikkos::IncompleteOptions{}.shift()}) {
    expect_named(watch([&] { const Trikkos::IncompleteLu made(exec, A, options); }));
    const Trikkos::IncompleteCholesky factors(exec, A, options);
    for (int run = 0; run < 2; ++run) {
      expect_kept(watch([&] { factors.update(exec, A); }));
      expect_kept(watch([&] { Trikkos::solve(exec, factors, b, x); }));
    }
    EXPECT_TRUE(factors.status(exec).ok());
  }

  const Trikkos::IncompleteLu lu(exec, A);
  const auto expect_one_wait_each = [&](const auto& method) {
    Kokkos::deep_copy(exec, x, 0.);
    Trikkos::KrylovResult result;
    const auto trace = watch([&] { result = Trikkos::solve(exec, method, A, lu, b, x); });
    EXPECT_TRUE(result.ok()) << result.why();
    EXPECT_GT(result.iterations, 5);
    EXPECT_EQ(trace.allocations, Strings{});
    EXPECT_EQ(trace.deallocations, Strings{});
    expect_named(trace);
    EXPECT_TRUE(has_region(trace, "Trikkos::solve"));
    const auto named = [](const Event& e) { return e.label.starts_with("Trikkos::Krylov"); };
    // and for |b|, the first residual, and the last
    EXPECT_EQ(std::count_if(trace.fences.begin(), trace.fences.end(), named),
              result.iterations + 3);
    for (const Event& e : trace.fences) EXPECT_EQ(e.device, device_id(exec)) << e.label;
  };
  expect_one_wait_each(Trikkos::ConjugateGradient<double, Exec>(exec, n));
  expect_one_wait_each(Trikkos::BiCgStab<double, Exec>(exec, n));
}

// Calls that allocate and wait, but say whose they are and where they work.
template <class T, class Exec>
void expect_names() {
  const Exec exec = other_instance<Exec>();
  for (const auto algorithm :
       {Algorithm::segmented, Algorithm::spike, Algorithm::pcr, Algorithm::thomas}) {
    for (const double tolerance : {0., 1e-4}) {
      const Options options =
          Options{}.algorithm(algorithm).verify(tolerance).refine(tolerance > 0 ? 1 : 0);
      const auto A = Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform_dominant, 1000);
      const Kokkos::View<T*, Exec> b("b", 1000), x("x", 1000);
      const auto expect_named = [&](const char* what, bool allocates, const Trace& trace) {
        SCOPED_TRACE(what);
        EXPECT_EQ(foreign_labels(trace), Strings{});
        EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});
        EXPECT_FALSE(trace.kernels.empty());
        EXPECT_EQ(trace.allocations.empty(), !allocates);
      };
      expect_named("Workspace", true,
                   watch([&] { const Trikkos::Workspace work(exec, A, b, options); }));
      expect_named("Plan", true, watch([&] { const Trikkos::Plan plan(exec, A, options); }));
      const auto once = watch([&] { EXPECT_TRUE(Trikkos::solve(exec, A, b, x, options).ok()); });
      expect_named("solve", true, once);
      EXPECT_TRUE(has_region(once, "Trikkos::solve"));
      expect_named("backward_error", true, watch([&] { Trikkos::backward_error(exec, A, x, b); }));
      expect_named("gallery", true, watch([&] {
                     Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform, 100);
                     Trikkos::gallery_rhs<T>(exec, 100);
                   }));
    }
  }
}

// `status` may wait, but only for its own instance.
template <class Exec>
void expect_status_waits_for_its_instance() {
  const Exec exec = other_instance<Exec>();
  const auto A = Trikkos::gallery<double>(exec, Trikkos::Gallery::uniform_dominant, 1000);
  const Kokkos::View<double*, Exec> b("b", 1000), x("x", 1000);
  Trikkos::Workspace work(exec, A, b, Options{}.verify(1e-4));
  Trikkos::solve(exec, work, A, b, x);
  const auto trace = watch([&] { EXPECT_TRUE(work.status(exec).ok()); });
  EXPECT_EQ(foreign_labels(trace), Strings{});
  EXPECT_EQ(trace.allocations, Strings{});
  bool waited = false;
  for (const Event& e : trace.fences) {
    EXPECT_EQ(e.device, device_id(exec)) << e.label;
    waited = waited || e.label.starts_with("Trikkos::");
  }
  EXPECT_TRUE(waited);
}

// ---- what breaks each rule is noticed

template <class Exec>
struct Nothing {
  KOKKOS_INLINE_FUNCTION void operator()(int) const {}
  KOKKOS_INLINE_FUNCTION void operator()(int, double&) const {}
};

template <class Exec>
void watch_notices_violations() {
  const Exec exec = other_instance<Exec>();
  using Policy = Kokkos::RangePolicy<Exec>;

  const auto kernel =
      watch([&] { Kokkos::parallel_for("Trikkos::good", Policy(exec, 0, 3), Nothing<Exec>{}); });
  EXPECT_EQ(waits(kernel), Strings{});
  EXPECT_EQ(foreign_labels(kernel), Strings{});
  EXPECT_EQ(foreign_kernels(kernel, device_id(exec)), Strings{});
  ASSERT_EQ(kernel.kernels.size(), 1u);

  EXPECT_EQ(foreign_labels(
                watch([&] { Kokkos::parallel_for("other", Policy(exec, 0, 3), Nothing<Exec>{}); })),
            Strings{"kernel other"});
  EXPECT_EQ(foreign_labels(watch([&] {
              Kokkos::parallel_for(Policy(exec, 0, 3), Nothing<Exec>{});
            })).size(),
            1u);

  // A kernel of another instance is noticed where instances have different names.
  const auto elsewhere =
      watch([&] { Kokkos::parallel_for("Trikkos::", Policy(Exec(), 0, 3), Nothing<Exec>{}); });
  EXPECT_EQ(foreign_kernels(elsewhere, device_id(exec)).empty(),
            device_id(exec) == device_id(Exec()));
  EXPECT_EQ(foreign_kernels(elsewhere, device_id(exec) + 1).size(), 1u);

  EXPECT_FALSE(waits(watch([&] { exec.fence("Trikkos::fence"); })).empty());
  EXPECT_FALSE(waits(watch([&] { Kokkos::fence(); })).empty());
  EXPECT_FALSE(waits(watch([&] {
                 double sum = 0;
                 Kokkos::parallel_reduce("Trikkos::sum", Policy(exec, 0, 3), Nothing<Exec>{}, sum);
               })).empty());
  const auto allocation = watch([&] { const Kokkos::View<double*, Exec> v("other", 3); });
  EXPECT_EQ(allocation.allocations, Strings{"other"});
  EXPECT_EQ(allocation.deallocations, Strings{"other"});
  EXPECT_FALSE(foreign_labels(allocation).empty());
  const auto region = watch([] { const Kokkos::Profiling::ScopedRegion r("other"); });
  EXPECT_EQ(foreign_labels(region), Strings{"region other"});

  // Afterwards nobody watches any more.
  Trace trace;
  { const Watch watching(trace); }
  exec.fence();
  EXPECT_TRUE(trace.fences.empty());
}

// ---- CUDA graphs

#ifdef KOKKOS_ENABLE_CUDA
// A solve can be captured from its stream, or as a node of a Kokkos::Graph, and what is launched
// again gives the same bits.
void expect_captured(const Options& options) {
  SCOPED_TRACE(Trikkos::name(options.algorithm()) +
               std::string(options.refine() ? ", refine" : ""));
  const Kokkos::Cuda exec = other_instance<Kokkos::Cuda>();
  const auto A = Trikkos::gallery<double>(exec, Trikkos::Gallery::uniform_dominant, 100003);
  const auto b = Trikkos::gallery_rhs<double>(exec, 100003);
  const Kokkos::View<double*, Kokkos::Cuda> x("x", 100003), again("again", 100003);
  const Trikkos::Plan plan(exec, A, options);
  Trikkos::solve(exec, plan, b, x);
  exec.fence();
  const auto expect_same = [&] {
    EXPECT_TRUE(plan.status(exec).ok()) << plan.status(exec).why();
    const auto host_x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
    const auto host_again = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, again);
    EXPECT_TRUE(std::equal(host_x.data(), host_x.data() + host_x.extent(0), host_again.data()));
  };
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal),
            cudaSuccess);
  Trikkos::solve(exec, plan, b, again);
  ASSERT_EQ(cudaStreamEndCapture(exec.cuda_stream(), &graph), cudaSuccess);
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int launch = 0; launch < 2; ++launch) {
    Kokkos::deep_copy(exec, again, 0.);
    ASSERT_EQ(cudaGraphLaunch(executable, exec.cuda_stream()), cudaSuccess);
    expect_same();
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);

  const auto solve = [&plan, b, again](const Kokkos::Cuda& instance) {
    Trikkos::solve(instance, plan, b, again);
  };
  auto of_kokkos = Kokkos::Experimental::create_graph(
      exec, [&](const auto& root) { root.cuda_capture(exec, solve); });
  of_kokkos.instantiate();
  for (int launch = 0; launch < 2; ++launch) {
    Kokkos::deep_copy(exec, again, 0.);
    of_kokkos.submit(exec);
    expect_same();
  }
}
#endif

}  // namespace

#ifdef KOKKOS_ENABLE_CUDA
TEST(TEST_CATEGORY, contract_solves_can_be_captured) {
  if constexpr (std::is_same_v<TEST_EXECSPACE, Kokkos::Cuda>) {
    for (const auto algorithm : Trikkos::algorithms)
      for (const int steps : {0, 1}) expect_captured(Options{}.algorithm(algorithm).refine(steps));
  } else {
    GTEST_SKIP() << "streams are CUDA's";
  }
}
#endif
TEST(TEST_CATEGORY, contract_watch_notices_violations) {
  watch_notices_violations<TEST_EXECSPACE>();
}
TEST(TEST_CATEGORY, contract_of_solve_double) { expect_contract<double, TEST_EXECSPACE>(100003); }
TEST(TEST_CATEGORY, contract_of_solve_complex) {
  expect_contract<Kokkos::complex<float>, TEST_EXECSPACE>(10007);
}
TEST(TEST_CATEGORY, contract_of_inverse) { expect_contract_of_inverse<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, contract_of_pentadiagonal_matrices) {
  expect_contract_of_pentadiagonal_matrices<TEST_EXECSPACE>();
}
TEST(TEST_CATEGORY, contract_of_variable_batch) {
  expect_contract_of_variable_batch<TEST_EXECSPACE>();
}
TEST(TEST_CATEGORY, contract_of_computed_matrices) {
  expect_contract_of_computed_matrices<TEST_EXECSPACE>();
}
TEST(TEST_CATEGORY, contract_of_triangles) { expect_contract_of_triangles<TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, contract_of_incomplete_factors) {
  expect_contract_of_incomplete_factors<TEST_EXECSPACE>();
}
TEST(TEST_CATEGORY, contract_names_everything) { expect_names<double, TEST_EXECSPACE>(); }
TEST(TEST_CATEGORY, contract_status_waits_for_its_instance) {
  expect_status_waits_for_its_instance<TEST_EXECSPACE>();
}
