// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_BASELINE_BAND_HPP
#define TRIKKOS_BASELINE_BAND_HPP

#include "Baseline_LAPACK.hpp"
#include "Baseline_cuSPARSE.hpp"
#include "Perf_Pentadiagonals.hpp"

// Kokkos Kernels 4.7 and newer
#if defined(TRIKKOS_HAVE_KOKKOS_KERNELS) && __has_include(<KokkosBatched_Gbtrf.hpp>) && \
    __has_include(<KokkosBatched_Gbtrs.hpp>)
#  define TRIKKOS_HAVE_KOKKOS_KERNELS_GB
#  include <KokkosBatched_Gbtrf.hpp>
#  include <KokkosBatched_Gbtrs.hpp>
#endif

/// \file
/// Who else solves pentadiagonal systems: LAPACK's gbsv and gbtrs, KokkosBatched::SerialGbtrf and
/// SerialGbtrs (partial pivoting), cuSPARSE's gpsvInterleavedBatch (QR).

namespace Perf {

/// The storage of LAPACK's gbtrf with two diagonals on either side, and room for two more above:
/// A(i, j) of a system is at (4 + i - j, j) of an array of 7 by n.
struct BandStorage {
  static constexpr int side = 2, rows = 3 * side + 1;
  using Arrays = Kokkos::View<double***, Kokkos::LayoutStride, Exec>;

  ManySystems systems;
  Vector memory;

  explicit BandStorage(const ManySystems& s)
      : systems(s), memory("Perf::BandStorage", rows * s.unknowns()) {}
  /// (system, row of the storage, column), those of a system side by side or of all of them.
  Arrays arrays() const {
    const auto [n, count, interleaved] = systems;
    return Arrays(memory.data(), interleaved
                                     ? Kokkos::LayoutStride(count, 1, rows, count, n, rows * count)
                                     : Kokkos::LayoutStride(count, rows * n, rows, 1, n, rows));
  }
};

/// Column i + j of the storage has A(i, i + j).
struct StoreBand {
  BandStorage::Arrays to;
  Array from;
  int j;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t e) const {
    const auto n = static_cast<std::int64_t>(from.extent(1));
    const std::int64_t k = e / n, i = e % n, column = i + j;
    if (column >= 0 && column < n) to(k, 2 * BandStorage::side - j, column) = from(k, i);
  }
};
inline BandStorage band_storage(const Exec& exec, const FiveBands& A, const ManySystems& systems) {
  const BandStorage storage(systems);
  const Vector bands[] = {A.lower2, A.lower, A.diag, A.upper, A.upper2};
  for (int j = -2; j <= 2; ++j)
    Kokkos::parallel_for(
        "Perf::store_band",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, systems.unknowns()),
        StoreBand{storage.arrays(), systems.array(bands[2 + j]), j});
  return storage;
}

#ifdef TRIKKOS_HAVE_LAPACK
inline void expect_zero(lapack_int info) {
  if (info != 0) throw std::runtime_error("LAPACK returned " + std::to_string(info));
}

/// dgbsv, system after system, by all threads (one system: by one).
inline Time lapack_gbsv(const Harness& h, const PentadiagonalMemory& p) {
  const BandStorage given = band_storage(h.exec(), p.bands, p.systems), copy(p.systems);
  const auto n = static_cast<lapack_int>(p.systems.n);
  std::vector<lapack_int> pivots(p.systems.unknowns());
  return h.time(
      [&] {
        Kokkos::deep_copy(h.exec(), copy.memory, given.memory);
        Kokkos::deep_copy(h.exec(), p.x, p.b);
      },
      [&] {
        for_all_by_host(p.systems.count, [&](std::int64_t k) {
          LAPACKE_dgbsv_work(LAPACK_COL_MAJOR, n, BandStorage::side, BandStorage::side, 1,
                             copy.memory.data() + k * n * BandStorage::rows, BandStorage::rows,
                             pivots.data() + k * n, p.x.data() + k * n, n);
        });
      });
}

/// dgbtrs with the factors of dgbtrf, one right-hand side after the other, by all threads.
inline Time lapack_gbtrs(const Harness& h, const PentadiagonalMemory& p) {
  const BandStorage factors = band_storage(h.exec(), p.bands, {p.systems.n, 1, false});
  const auto n = static_cast<lapack_int>(p.systems.n);
  std::vector<lapack_int> pivots(n);
  h.exec().fence("Perf::lapack_gbtrs");
  expect_zero(LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, n, n, BandStorage::side, BandStorage::side,
                                  factors.memory.data(), BandStorage::rows, pivots.data()));
  return h.time([&] { Kokkos::deep_copy(h.exec(), p.x, p.b); },
                [&] {
                  for_all_by_host(p.systems.count, [&](std::int64_t k) {
                    LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, 'N', n, BandStorage::side,
                                        BandStorage::side, 1, factors.memory.data(),
                                        BandStorage::rows, pivots.data(), p.x.data() + k * n, n);
                  });
                });
}
#endif

#ifdef TRIKKOS_HAVE_KOKKOS_KERNELS_GB
/// Factors its matrix, if it has one of its own or is the first, and solves.
struct KokkosKernelsGb {
  using Pivots = Kokkos::View<int**, Exec>;
  struct Factor {};
  struct Solve {};
  struct Both {};

  BandStorage::Arrays matrices;
  Pivots pivots;
  Array x;

  KOKKOS_INLINE_FUNCTION void operator()(Factor, std::int64_t k) const {
    namespace KB = KokkosBatched;
    KB::SerialGbtrf<KB::Algo::Gbtrf::Unblocked>::invoke(
        Kokkos::subview(matrices, k, Kokkos::ALL, Kokkos::ALL),
        Kokkos::subview(pivots, k, Kokkos::ALL), BandStorage::side, BandStorage::side);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Both, std::int64_t k) const {
    (*this)(Factor{}, k);
    solve(k, k);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Solve, std::int64_t k) const { solve(0, k); }

  template <class What>
  void launch(const Exec& exec, std::int64_t count) const {
    Kokkos::parallel_for("Perf::kokkos_kernels", Kokkos::RangePolicy<Exec, What>(exec, 0, count),
                         *this);
  }

 private:
  KOKKOS_INLINE_FUNCTION void solve(std::int64_t matrix, std::int64_t k) const {
    namespace KB = KokkosBatched;
    KB::SerialGbtrs<KB::Trans::NoTranspose, KB::Algo::Gbtrs::Unblocked>::invoke(
        Kokkos::subview(matrices, matrix, Kokkos::ALL, Kokkos::ALL),
        Kokkos::subview(pivots, matrix, Kokkos::ALL), Kokkos::subview(x, k, Kokkos::ALL),
        BandStorage::side, BandStorage::side);
  }
};

/// A thread a system.
inline Time kokkos_kernels_gbsv(const Harness& h, const PentadiagonalMemory& p) {
  const BandStorage given = band_storage(h.exec(), p.bands, p.systems), copy(p.systems);
  const auto [n, count, interleaved] = p.systems;
  const KokkosKernelsGb work{copy.arrays(), KokkosKernelsGb::Pivots("Perf::pivots", count, n),
                             p.systems.array(p.x)};
  return h.time(
      [&] {
        Kokkos::deep_copy(h.exec(), copy.memory, given.memory);
        Kokkos::deep_copy(h.exec(), p.x, p.b);
      },
      [&] { work.launch<KokkosKernelsGb::Both>(h.exec(), p.systems.count); });
}
/// A thread a right-hand side.
inline Time kokkos_kernels_gbtrs(const Harness& h, const PentadiagonalMemory& p) {
  const BandStorage factors = band_storage(h.exec(), p.bands, {p.systems.n, 1, false});
  const KokkosKernelsGb work{factors.arrays(),
                             KokkosKernelsGb::Pivots("Perf::pivots", 1, p.systems.n),
                             p.systems.array(p.x)};
  work.launch<KokkosKernelsGb::Factor>(h.exec(), 1);
  return h.time([&] { Kokkos::deep_copy(h.exec(), p.x, p.b); },
                [&] { work.launch<KokkosKernelsGb::Solve>(h.exec(), p.systems.count); });
}
#endif

#if defined(KOKKOS_ENABLE_CUDA) && defined(TRIKKOS_HAVE_CUSPARSE)
/// gpsvInterleavedBatch (its one algorithm, QR) overwrites everything: it is restored before each
/// run, which is not timed.
inline Time cusparse_gpsv(const Harness& h, const PentadiagonalMemory& p) {
  const CusparseHandle handle(h.exec());
  const auto [n, count, interleaved] = p.systems;
  Vector copy[5];
  for (Vector& band : copy)
    band = Vector(Kokkos::view_alloc(Kokkos::WithoutInitializing, "Perf::cusparse_gpsv"),
                  p.systems.unknowns());
  const Vector given[] = {p.bands.lower2, p.bands.lower, p.bands.diag, p.bands.upper,
                          p.bands.upper2};
  const auto restore = [&] {
    for (int which = 0; which < 5; ++which) {
      Kokkos::deep_copy(h.exec(), copy[which], given[which]);
      const Array rows = p.systems.array(copy[which]);
      const int j = which - 2;  // entries outside must be zero
      for (std::int64_t i = 0; i < p.systems.n; ++i)
        if (i + j < 0 || i + j >= p.systems.n)
          Kokkos::deep_copy(h.exec(), Kokkos::subview(rows, Kokkos::ALL, i), 0.);
    }
    Kokkos::deep_copy(h.exec(), p.x, p.b);
  };
  constexpr int qr = 0;
  const int m = static_cast<int>(n), systems = static_cast<int>(count);
  std::size_t bytes = 0;
  expect_success(cusparseDgpsvInterleavedBatch_bufferSizeExt(
      handle.get(), qr, m, copy[0].data(), copy[1].data(), copy[2].data(), copy[3].data(),
      copy[4].data(), p.x.data(), systems, &bytes));
  const Kokkos::View<char*, Exec> buffer("Perf::cusparse", bytes);
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  const Time time = h.time(restore, [&] {
    status = cusparseDgpsvInterleavedBatch(handle.get(), qr, m, copy[0].data(), copy[1].data(),
                                           copy[2].data(), copy[3].data(), copy[4].data(),
                                           p.x.data(), systems, buffer.data());
  });
  expect_success(status);
  return time;
}
#endif

}  // namespace Perf

#endif
