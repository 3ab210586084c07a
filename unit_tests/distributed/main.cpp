// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests of Trikkos::mpi and of Trikkos::tpetra: every rank runs all of them, in the same order;
// those of Trikkos::mpi with --tree in groups of ranks, with --shared by ranks that share. A test
// that hangs ends by the alarm, and mpirun ends the other ranks.

#include <gtest/gtest.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <string_view>

#include <mpi.h>

#include "Mode.hpp"

namespace Test {
Mode mode = Mode::usual;
}

namespace {

constexpr unsigned longest_seconds = 120;

/// Of ranks beside the first: what fails, and nothing else.
class Failures : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : m_rank(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& r) override {
    if (r.failed())
      std::printf("rank %d, %s:%d: %s\n", m_rank, r.file_name(), r.line_number(), r.message());
  }
  int m_rank;
};

}  // namespace

int main(int argc, char** argv) {
  alarm(longest_seconds);
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--tree") Test::mode = Test::Mode::tree;
  if (option == "--shared") Test::mode = Test::Mode::shared;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(rank));
  }
  int failed = 0, failed_somewhere = 0;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    failed = RUN_ALL_TESTS();
  }
  MPI_Allreduce(&failed, &failed_somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed_somewhere;
}
