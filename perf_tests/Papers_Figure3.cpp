// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Baseline_Band.hpp"
#include "Papers_Constant.hpp"
#include "Papers_PublishedPent.hpp"

/// \file
/// Gloster et al. (2019), Figures 3 and 4: pentadiagonal batches with one matrix against matrices
/// of their own.

namespace Papers {

namespace {

using Batch = ConstantBatch<Perf::FiveBands>;

template <Lhs lhs>
ConstantWay<Batch> published(const char* name) {
  return {name, [](const Perf::Harness& h, const Batch& batch) {
            return published_pent<lhs>(h, batch.systems, lhs == Lhs::own ? batch.copies : batch.one,
                                       batch.b, batch.x);
          }};
}

std::vector<ConstantWay<Batch>> open_ways() {
  using Trikkos::Algorithm;
  using Trikkos::Options;
  std::vector<ConstantWay<Batch>> ways = {
      published<Lhs::own>("own matrices, as cuPentBatch, factored before"),
      published<Lhs::constant>("one matrix, as cuPentConstantBatch"),
      published<Lhs::uniform>("one matrix, as cuPentUniformBatch"),
      with_own_matrices<Batch>("own matrices, segmented", {}),
      with_plan<Batch>("one matrix, thomas", Options{}.algorithm(Algorithm::thomas)),
      with_plan<Batch>("one matrix, factored", Options{}.algorithm(Algorithm::factored))};
#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
  ways.push_back({"own matrices, cuSPARSE gpsvInterleavedBatch",
                  [](const Perf::Harness& h, const Batch& batch) {
                    return Perf::cusparse_gpsv(h, {batch.systems, batch.copies, batch.b, batch.x});
                  }});
#endif
  return ways;
}

/// The corners of the paper's rings are treated as in that of cuPentBatch.
std::vector<ConstantWay<Batch>> periodic_ways() {
  using Trikkos::Algorithm;
  using Trikkos::Options;
  return {with_own_matrices<Batch>("own matrices, segmented", {}),
          with_plan<Batch>("one matrix, thomas, Woodbury",
                           Options{}.thomas({Trikkos::Corners::sherman_morrison})),
          with_plan<Batch>("one matrix, thomas, bordered", Options{}.algorithm(Algorithm::thomas)),
          with_plan<Batch>("one matrix, factored", Options{}.algorithm(Algorithm::factored))};
}

}  // namespace

void figure3(const Arguments& arguments) {
  std::printf(
      "## Gloster et al. 2019, Figures 3 and 4: pentadiagonal, one matrix for all\n\n"
      "Interleaved, N unknowns in each of M systems, (1, -4, 7, -4, 1): a step of implicit "
      "hyperdiffusion with sigma = 1. The paper: cuPentConstantBatch\nand cuPentUniformBatch are "
      "faster than cuPentBatch for large N and M, about as fast for small ones, and "
      "cuPentUniformBatch is slightly the\nfaster (V100, curves without numbers; periodic). Here: "
      "the solve alone, caches cold; the paper's three solvers are its recurrences in\n"
      "Kokkos (Papers_PublishedPent.hpp), not its code, and for open systems.\n\nOpen "
      "systems.\n\n");
  const auto matrix = [](Trikkos::Boundary boundary) {
    return [boundary](const Perf::Exec& exec, std::int64_t n) {
      Perf::FiveBands A = Perf::hyperdiffusion(exec, n, 1);
      A.boundary = boundary;
      return A;
    };
  };
  print_constant<Batch>(arguments, matrix(Trikkos::Boundary::open), open_ways());
  std::printf("Periodic systems.\n\n");
  print_constant<Batch>(arguments, matrix(Trikkos::Boundary::periodic), periodic_ways());
}

}  // namespace Papers
