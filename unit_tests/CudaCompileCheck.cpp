// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <Trikkos.hpp>

/// \file
/// Instantiates every functor of numbers TRIKKOS_SCALAR for CUDA, to be compiled where nothing can
/// run it, and for real and for complex ones for a host execution space beside it: nvcc compiles
/// both.

// Not in a namespace without a name: nvcc warns of members that not every scalar uses there.
struct Coefficients {
  KOKKOS_FUNCTION Kokkos::Array<TRIKKOS_SCALAR, 3> operator()(std::int64_t system,
                                                              std::int64_t row) const {
    using T = TRIKKOS_SCALAR;
    return {T(-1), T(3 + system + row), T(-1)};
  }
};

namespace {

using T = TRIKKOS_SCALAR;
using Exec = Kokkos::Cuda;
using Host = Kokkos::DefaultHostExecutionSpace;
static_assert(!Trikkos::Impl::is_host_v<Exec> && Trikkos::Impl::is_host_v<Host>);

template <class Exec>
void host_calls(const Exec& exec) {
  const auto A = Trikkos::gallery<T>(exec, Trikkos::Gallery::uniform, 1000);
  const auto b = Trikkos::gallery_rhs<T>(exec, 1000);
  const Kokkos::View<T*, Exec> x("x", 1000);
  static_cast<void>(Trikkos::solve(exec, A, b, x, Trikkos::Options{}.verify(1e-12)));
  Trikkos::Plan plan(exec, A, Trikkos::Options{}.algorithm(Trikkos::Algorithm::thomas));
  Trikkos::solve(exec, plan, b, x);
  Trikkos::Plan pcr(exec, A, Trikkos::Options{}.algorithm(Trikkos::Algorithm::pcr));
  Trikkos::solve(exec, pcr, b, x);
  plan.update(exec, A);
  static_cast<void>(Trikkos::backward_error(exec, A, x, b));
  if constexpr (std::is_same_v<T, double>) {
    const Kokkos::View<int*, Kokkos::HostSpace> offsets("offsets", 2);
    const Trikkos::VariableBatch<T, Exec> batch(exec, offsets);
    Trikkos::solve(exec, batch, A, b, x);
  }
}

template <class Exec>
void pentadiagonal(const Exec& exec) {
  const auto b = Trikkos::gallery_rhs<T>(exec, 1000);
  const Trikkos::Pentadiagonal A{b, b, b, b, b};
  const Kokkos::View<T*, Exec> x("x", 1000);
  const Trikkos::Plan plan(exec, A, Trikkos::Options{}.algorithm(Trikkos::Algorithm::factored));
  Trikkos::solve(exec, plan, b, x);
  static_cast<void>(Trikkos::backward_error(exec, A, x, b));
  const Kokkos::View<int*, Kokkos::HostSpace> offsets("offsets", 2);
  const Trikkos::VariableBatch<T, Exec, 2> batch(exec, offsets);
  Trikkos::solve(exec, batch, A, b, x);
  const Trikkos::Plan five(exec, Trikkos::toeplitz(exec, 1000, 1., -4., 6., -4., 1.));
  Trikkos::solve(exec, five, b, x);
}

template <class Exec>
void files(const Exec& exec) {
  const auto A = Trikkos::read_csr<T>("A.mtx");
  const auto copy = [&](const auto& v) { return Kokkos::create_mirror_view_and_copy(exec, v); };
  Trikkos::write_csr(
      "B.mtx", Trikkos::CsrMatrix{copy(A.row_map), copy(A.entries), copy(A.values), A.columns});
  const auto B = Trikkos::read_tridiagonal<T>("B.mtx");
  Trikkos::write_vector("b.mtx", copy(B.diag));
}

template <class Exec>
void inverses(const Exec& exec) {
  const auto b = Trikkos::gallery_rhs<T>(exec, 1000);
  const Trikkos::Tridiagonal A{b, b, b};
  const Kokkos::View<T**, Exec> X("X", 1000, 1000);
  static_cast<void>(Trikkos::inverse(exec, A, X));
  static_cast<void>(Trikkos::inverse(exec, A, X, Trikkos::InverseAlgorithm::sherman_morrison));
  const Trikkos::InverseGenerators G(exec, A);
  G.diagonal(exec, 0, b);
  G.entries(exec, Kokkos::View<int*, Exec>("rows", 1000), Kokkos::View<int*, Exec>("columns", 1000),
            b);
  G.apply(exec, b, b);
  static_cast<void>(G.trace(exec));
  static_cast<void>(G.condition_1(exec, A));
  Trikkos::inverse_in_blocks(exec, G, 100, [](std::int64_t, const auto&) {});
  const Kokkos::View<T**, Exec> bands("bands", 100, 8);
  const Kokkos::View<T***, Exec> all("all", 100, 8, 8);
  static_cast<void>(Trikkos::inverse(exec, Trikkos::Tridiagonal{bands, bands, bands}, all));
}

template <class Exec>
void computed(const Exec& exec) {
  const Trikkos::Workspace<T, Exec> work(exec, 1000, 1);
  const auto b = Trikkos::gallery_rhs<T>(exec, 1000);
  Trikkos::solve(exec, work, Trikkos::Computed{1000, Coefficients{}}, b, b);
  static_cast<void>(Trikkos::Plan(exec, Trikkos::Computed{1000, Coefficients{}}, {}, 3));
}

template <class Exec>
void sparse_triangles(const Exec& exec) {
  const Kokkos::View<int*, Exec> row_map("row_map", 1001), entries("entries", 0);
  const Kokkos::View<T*, Exec> values("values", 0), x("x", 1000);
  const Trikkos::TriangularPlan plan(exec, Trikkos::CsrTriangle{row_map, entries, values});
  plan.update(exec, values);
  Trikkos::solve(exec, plan, x, x);
  static_cast<void>(plan.status(exec));
}
template <class Exec>
void incomplete_factors(const Exec& exec) {
  const Kokkos::View<int*, Exec> row_map("row_map", 1001), entries("entries", 0);
  const Kokkos::View<T*, Exec> values("values", 0), b("b", 1000), x("x", 1000);
  const Trikkos::CsrMatrix A{row_map, entries, values};
  const Trikkos::IncompleteLu lu(exec, A);
  const Trikkos::IncompleteCholesky cholesky(exec, A, Trikkos::IncompleteOptions{}.shift());
  lu.update(exec, A);
  static_cast<void>(lu.describe());
  const Trikkos::IncompleteLu ordered(
      exec, A, Trikkos::IncompleteOptions{}.ordering(Trikkos::IncompleteOrdering::multicolour));
  Trikkos::solve(exec, ordered, b, x);
  static_cast<void>(cholesky.status(exec));
  const Trikkos::ConjugateGradient<T, Exec> cg(exec, 1000);
  const Trikkos::BiCgStab<T, Exec> bicgstab(exec, 1000);
  static_cast<void>(Trikkos::solve(exec, cg, A, cholesky, b, x));
  static_cast<void>(Trikkos::solve(exec, bicgstab, A, lu, b, x));
}
/// The way to levels where threads must not wait for each other.
[[maybe_unused]] void levels(const Exec& exec, Trikkos::Impl::Slabs<Exec>& memory,
                             const Trikkos::Impl::TrianglePattern<Exec>& pattern,
                             const Trikkos::Impl::CsrPattern& given) {
  Trikkos::Impl::levels_by_rounds(exec, memory, pattern, given, nullptr);
}

template <class Exec>
void marshaling(const Exec& exec) {
  const Kokkos::View<T**, Kokkos::LayoutRight, Exec> from("from", 1000, 100);
  const Kokkos::View<T**, Kokkos::LayoutLeft, Exec> to("to", 1000, 100);
  Trikkos::marshal(exec, from, to);
}

struct InsideKernels {
  Trikkos::Tridiagonal<Kokkos::View<T*, Exec>> A;
  Kokkos::View<T*, Exec> b, x;
  Kokkos::View<int, Exec> info;

  KOKKOS_FUNCTION void operator()(int) const {
    info() = Trikkos::solve(Trikkos::this_thread, A, b, x);
    if constexpr (std::is_same_v<T, double>) {
      const Trikkos::Pentadiagonal five{b, b, b, b, b};
      info() += Trikkos::solve(Trikkos::this_thread, five, b, x, x);
    }
  }
  KOKKOS_FUNCTION int with_factors(const Kokkos::TeamPolicy<Exec>::member_type& member) const {
    const Trikkos::KernelFactors<T> rotations(x, 100);
    const Trikkos::KernelFactors<T> lu(x, 100,
                                       Trikkos::Options{}.algorithm(Trikkos::Algorithm::thomas));
    const Trikkos::KernelFactors<T, 2> wide(x, 100, lu.options());
    const Trikkos::Pentadiagonal five{b, b, b, b, b};
    return Trikkos::solve(member, five, b, b, lu.options()) + Trikkos::factor(member, five, wide) +
           Trikkos::solve(Trikkos::this_thread, wide, b, b) +
           Trikkos::factor(member, A, rotations) + Trikkos::factor(Trikkos::this_thread, A, lu) +
           Trikkos::solve(Trikkos::this_thread, rotations, b, b) +
           Trikkos::solve(Trikkos::this_thread, lu, b, b);
  }
  KOKKOS_FUNCTION void operator()(const Kokkos::TeamPolicy<Exec>::member_type& member) const {
    const auto pcr = Trikkos::Options{}.algorithm(Trikkos::Algorithm::pcr);
    int result = Trikkos::solve(member, A, b, x) + Trikkos::solve(member, A, b, x, pcr);
    if constexpr (std::is_same_v<T, double>) result += with_factors(member);
    Kokkos::single(Kokkos::PerTeam(member), [&] { info() = result; });
  }
};

}  // namespace

void out_of_core(const Exec& exec) {
  const Trikkos::Tridiagonal<Kokkos::View<T*, Kokkos::HostSpace>> A;
  const Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::SharedHostPinnedSpace> b;
  Trikkos::OutOfCore out(exec, A, b);
  static_cast<void>(Trikkos::solve(out, A, b, b));
}

void cuda_compile_check(const Exec& exec, const InsideKernels& inside) {
  host_calls(exec);
  marshaling(exec);
  inverses(exec);
  sparse_triangles(exec);
  incomplete_factors(exec);
  if constexpr (std::is_same_v<T, double>) {
    files(exec);
    out_of_core(exec);
    pentadiagonal(exec);
    pentadiagonal(Host{});
    computed(exec);
    computed(Host{});
    inverses(Host{});
  }
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Kokkos::complex<float>>)
    host_calls(Host{});
  if constexpr (std::is_same_v<T, double>) {
    sparse_triangles(Host{});
    incomplete_factors(Host{});
  }
  marshaling(Host{});
  Kokkos::parallel_for("thread", Kokkos::RangePolicy<Exec>(exec, 0, 1), inside);
  const auto bytes = static_cast<int>(
      Trikkos::team_scratch_bytes<T>(1000, Trikkos::Options{}.algorithm(Trikkos::Algorithm::pcr)));
  Kokkos::parallel_for(
      "team",
      Kokkos::TeamPolicy<Exec>(exec, 1, Kokkos::AUTO).set_scratch_size(0, Kokkos::PerTeam(bytes)),
      inside);
}
