// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_cuSPARSE.hpp"
#include "Papers_Constant.hpp"

/// \file
/// Gloster et al. (2019), Figure 2: tridiagonal batches with one matrix against matrices of their
/// own.

namespace Papers {

namespace {

using Batch = ConstantBatch<Trikkos::Tridiagonal<Perf::Vector>>;

/// A step of implicit diffusion, sigma = 1 (equation 11).
template <Trikkos::Boundary boundary>
auto diffusion(const Perf::Exec& exec, std::int64_t n) {
  const auto band = [&](double value) {
    const Perf::Vector v(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Papers::band"), n);
    Kokkos::deep_copy(exec, v, value);
    return v;
  };
  return Trikkos::Tridiagonal{band(-1), band(3), band(-1), boundary};
}

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
/// cuThomasBatch. It overwrites the matrices: a program has to restore them before each step, as
/// the paper's did, or they are restored beforehand.
Perf::Time cu_thomas_batch(const Perf::Harness& h, const Batch& batch, bool restore_is_timed) {
  const Perf::CusparseHandle handle(h.exec());
  const int n = static_cast<int>(batch.systems.n), count = static_cast<int>(batch.systems.count);
  const Perf::Vector given[] = {batch.copies.lower, batch.copies.diag, batch.copies.upper};
  Perf::Vector copy[3];
  for (Perf::Vector& band : copy)
    band = Perf::Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Papers::copy"),
                        batch.systems.unknowns());
  const auto restore = [&] {
    for (int which = 0; which < 3; ++which) Kokkos::deep_copy(h.exec(), copy[which], given[which]);
    // entries outside must be zero
    const Perf::Array lower = batch.systems.array(copy[0]), upper = batch.systems.array(copy[2]);
    Kokkos::deep_copy(h.exec(), Kokkos::subview(lower, Kokkos::ALL, 0), 0.);
    Kokkos::deep_copy(h.exec(), Kokkos::subview(upper, Kokkos::ALL, n - 1), 0.);
  };
  constexpr int thomas = 0;
  std::size_t bytes = 0;
  Perf::expect_success(cusparseDgtsvInterleavedBatch_bufferSizeExt(
      handle.get(), thomas, n, copy[0].data(), copy[1].data(), copy[2].data(), batch.x.data(),
      count, &bytes));
  const Kokkos::View<char*, Perf::Exec> buffer("Papers::cusparse", bytes);
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  const Perf::Time time = h.time(
      [&] {
        Kokkos::deep_copy(h.exec(), batch.x, batch.b);
        if (!restore_is_timed) restore();
      },
      [&] {
        if (restore_is_timed) restore();
        status =
            cusparseDgtsvInterleavedBatch(handle.get(), thomas, n, copy[0].data(), copy[1].data(),
                                          copy[2].data(), batch.x.data(), count, buffer.data());
      });
  Perf::expect_success(status);
  return time;
}
#endif

std::vector<ConstantWay<Batch>> open_ways() {
  using Trikkos::Algorithm;
  using Trikkos::Options;
  const auto thomas = Options{}.algorithm(Algorithm::thomas);
  std::vector<ConstantWay<Batch>> ways;
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  for (const bool timed : {true, false})
    ways.push_back({timed ? "cuThomasBatch (cuSPARSE), matrices restored each time"
                          : "cuThomasBatch (cuSPARSE), restoring not timed",
                    [timed](const Perf::Harness& h, const Batch& batch) {
                      return cu_thomas_batch(h, batch, timed);
                    }});
#endif
  ways.push_back(with_own_matrices<Batch>("own matrices, thomas", thomas));
  ways.push_back(with_own_matrices<Batch>("own matrices, segmented", {}));
  ways.push_back(with_plan<Batch>("one matrix, thomas (as cuThomasConstantBatch)", thomas));
  ways.push_back(
      with_plan<Batch>("one matrix, factored", Options{}.algorithm(Algorithm::factored)));
  return ways;
}

/// The paper's rings have their corners taken out by the formula of Sherman and Morrison, whose
/// second system is solved once.
std::vector<ConstantWay<Batch>> periodic_ways() {
  using Trikkos::Algorithm;
  using Trikkos::Options;
  const auto bordered = Options{}.algorithm(Algorithm::thomas);
  const auto as_paper = Options{}.thomas({Trikkos::Corners::sherman_morrison});
  return {with_own_matrices<Batch>("own matrices, thomas", bordered),
          with_own_matrices<Batch>("own matrices, segmented", {}),
          with_plan<Batch>("one matrix, thomas, Sherman-Morrison (as the paper)", as_paper),
          with_plan<Batch>("one matrix, thomas, bordered", bordered),
          with_plan<Batch>("one matrix, factored", Options{}.algorithm(Algorithm::factored))};
}

}  // namespace

void figure2(const Arguments& arguments) {
  std::printf(
      "## Gloster et al. 2019, Figure 2: tridiagonal, one matrix for all\n\n"
      "Interleaved, N unknowns in each of M systems, (-1, 3, -1): a step of implicit diffusion "
      "with sigma = 1. The paper: cuThomasConstantBatch\nis faster than cuThomasBatch for all N "
      "and M that it shows, most of all for large N and moderate M (V100, curves without numbers; "
      "1000 steps\nwith their right-hand sides, periodic). Here: the solve alone, caches cold. "
      "cuSPARSE has no periodic one.\n\nOpen systems.\n\n");
  print_constant<Batch>(arguments, diffusion<Trikkos::Boundary::open>, open_ways());
  std::printf("Periodic systems.\n\n");
  print_constant<Batch>(arguments, diffusion<Trikkos::Boundary::periodic>, periodic_ways());
}

}  // namespace Papers
