// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <FastError.hpp>
#include <HostViews.hpp>
#include <Message.hpp>
#include <Outcome.hpp>
#include <Trikkos_OutOfCore.hpp>
#include <Trikkos_Uniform.hpp>
#include <Trikkos_Views.hpp>

/// \file
/// Systems in the memory of the host, in chunks cut at every awkward place.

namespace Test::InChunks {

using Reference::HostSystem;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::OutOfCore;
using Trikkos::OutOfCoreOptions;
using Trikkos::Status;

template <class T>
inline constexpr double gate = scaled<T>(1e-14);

inline OutOfCoreOptions rows(std::int64_t chunk_rows) {
  OutOfCoreOptions r;
  r.chunk_rows = chunk_rows;
  return r;
}
inline OutOfCoreOptions memory(std::size_t bytes) {
  OutOfCoreOptions r;
  r.memory_limit = bytes;
  return r;
}
/// Of a device, as it makes them of one; on a host three that take turns.
inline std::vector<TEST_EXECSPACE> instances() {
  if constexpr (Trikkos::Impl::is_host_v<TEST_EXECSPACE>)
    return std::vector<TEST_EXECSPACE>(3);
  else
    return Kokkos::Experimental::partition_space(TEST_EXECSPACE(), std::vector<double>(3, 1));
}
/// What an open matrix never reads is not a number.
template <class T>
HostSystem<T> poisoned(HostSystem<T> A) {
  if (!A.periodic && A.size() > 0)
    A.lower.front() = A.upper.back() = T(std::numeric_limits<double>::quiet_NaN());
  return A;
}

/// x over b.
template <class T>
::Test::Outcome<T> solve_in_chunks(const HostSystem<T>& A, const std::vector<T>& b,
                                   const OutOfCoreOptions& limits, const Options& options = {}) {
  const HostSystem<T> copy = poisoned(A);
  ::Test::Outcome<T> r{b, {}, 0};
  const auto x = on_host(r.x);
  OutOfCore out(instances(), on_host(copy), x, limits, options);
  EXPECT_LE(out.bytes(), limits.memory_limit);
  r.status = Trikkos::solve(out, on_host(copy), x, x);
  r.eta = fast_backward_error(A, r.x, b);
  return r;
}
/// eta within the gate; or, where x leaves the number range, a status that says so.
template <class T>
void expect_stable(const ::Test::Outcome<T>& r, const HostSystem<T>& A, const std::vector<T>& b) {
  if (r.status.ok()) {
    EXPECT_LE(r.eta, gate<T>);
    return;
  }
  const auto exact = Reference::solve_wide(A, b);
  constexpr double largest = std::numeric_limits<Trikkos::Impl::Real<T>>::max();
  EXPECT_TRUE(exact.zero_pivot >= 0 || !(Reference::max_norm(exact.x) < 1e-8 * largest))
      << "x is representable, but the status is " << r.status.why();
}

// ---- one system

TEST(TEST_CATEGORY, out_of_core_meets_the_gates_of_table_iii) {
  for (const Gallery type : Trikkos::table_iii) {
    const auto A = gallery(type, 512, 1);
    for (const auto& b : right_hand_sides(A, 1))
      for (const std::int64_t chunk_rows : {100, 253}) {
        SCOPED_TRACE(std::string(Trikkos::name(type)) + ", " + std::to_string(chunk_rows));
        expect_stable(solve_in_chunks(A, b, rows(chunk_rows)), A, b);
        expect_stable(solve_in_chunks(A, b, rows(chunk_rows), Options{}.partition_size(7)), A, b);
      }
  }
}

/// What the gate must see: chunks that do not know of each other.
TEST(TEST_CATEGORY, out_of_core_gates_reject_chunks_without_their_couplings) {
  const auto A = gallery(Gallery::uniform_dominant, 512, 1);
  const auto b = random_rhs(512, 1);
  auto without = A;
  for (std::int64_t first = 100; first < 512; first += 100)
    without.lower[first] = without.upper[first - 1] = 0;
  const auto r = solve_in_chunks(without, b, rows(100));
  EXPECT_LE(r.eta, gate<double>);
  EXPECT_GT(fast_backward_error(A, r.x, b), 1e-3);
}

/// Cuts wander through singular blocks and beside zero couplings.
TEST(TEST_CATEGORY, out_of_core_cuts_may_be_anywhere) {
  constexpr std::int64_t n = 24, block = 8;
  for (const Gallery type : {Gallery::singular_blocks, Gallery::nearly_singular_blocks,
                             Gallery::zero_coupling, Gallery::diagonal_0101}) {
    const auto A = Reference::to_host(
        Trikkos::gallery<double>(TEST_EXECSPACE{}, type, n, 3, Boundary::open, block));
    const auto b = right_hand_sides(A, 3)[1];
    for (std::int64_t chunk_rows = 1; chunk_rows <= n; ++chunk_rows) {
      SCOPED_TRACE(std::string(Trikkos::name(type)) + ", " + std::to_string(chunk_rows));
      expect_stable(solve_in_chunks(A, b, rows(chunk_rows)), A, b);
    }
  }
}

template <class T>
void every_cut(std::int64_t n, std::initializer_list<std::int64_t> chunk_rows) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = gallery<T>(Gallery::uniform, n, n + 1, boundary);
    const auto b = random_rhs<T>(n, n);
    for (const std::int64_t c : chunk_rows) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(c) + " in a chunk, " +
                   Trikkos::name(boundary));
      const auto r = solve_in_chunks(A, b, rows(c));
      EXPECT_TRUE(r.ok()) << r;
      EXPECT_LE(r.eta, gate<T>);
    }
  }
}
TEST(TEST_CATEGORY, out_of_core_solves_every_small_size) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 6, 13}) every_cut<double>(n, {0, 1, 2, 3, 4, 5});
}
TEST(TEST_CATEGORY, out_of_core_solves_every_scalar) {
  for (const std::int64_t n : {1, 2, 9, 500}) {
    every_cut<float>(n, {0, 1, 100});
    every_cut<Kokkos::complex<double>>(n, {0, 1, 100});
  }
}
TEST(TEST_CATEGORY, out_of_core_solves_large_chunks) {
  every_cut<double>(40001, {0, 1000, 20000, 39999});
}

TEST(TEST_CATEGORY, out_of_core_survives_the_ends_of_the_number_range) {
  for (const Gallery type : {Gallery::random_row_scaling, Gallery::graded_rows,
                             Gallery::near_overflow, Gallery::near_underflow}) {
    const auto A = gallery(type, 100, 5);
    const auto b = right_hand_sides(A, 5)[1];
    for (const std::int64_t chunk_rows : {1, 33, 50, 99}) {
      SCOPED_TRACE(std::string(Trikkos::name(type)) + ", " + std::to_string(chunk_rows));
      expect_stable(solve_in_chunks(A, b, rows(chunk_rows)), A, b);
    }
  }
}

TEST(TEST_CATEGORY, out_of_core_agrees_with_the_reference) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    const auto A = gallery(Gallery::uniform_dominant, 1003, 9, boundary);
    const auto b = random_rhs(1003, 9);
    const auto r = solve_in_chunks(A, b, rows(100));
    EXPECT_LE(Reference::relative_difference(r.x, Reference::solve(A, b)), 1e-14);
  }
}

/// Rows of the whole, whatever chunk they are in.
TEST(TEST_CATEGORY, out_of_core_finds_bad_numbers_in_their_row) {
  for (const std::int64_t n : {7, 100})
    for (const std::int64_t chunk_rows : {0, 1, 3, 6, 33}) {
      SCOPED_TRACE(std::to_string(chunk_rows) + " of " + std::to_string(n));
      const auto b = random_rhs(n, 2);
      const auto status = [&](Gallery type) {
        return solve_in_chunks(gallery(type, n, 2), b, rows(chunk_rows)).status;
      };
      EXPECT_EQ(status(Gallery::zero_row).reason, Status::Reason::singular);
      EXPECT_EQ(status(Gallery::zero_row).row, n / 2);
      EXPECT_EQ(status(Gallery::nan_entry).reason, Status::Reason::not_finite);
      EXPECT_EQ(status(Gallery::nan_entry).row, n / 2);
      EXPECT_EQ(status(Gallery::zero_column).reason, Status::Reason::singular);
      EXPECT_LE(std::abs(status(Gallery::zero_column).row - n / 2), 1);
      EXPECT_EQ(status(Gallery::zero_column).system, -1);
    }
}

// ---- memory and traffic

TEST(TEST_CATEGORY, out_of_core_has_room_for_the_last_chunk) {
  using Choice = Trikkos::Impl::ChunkChoice<double, TEST_EXECSPACE>;
  const auto expect_room = [](std::int64_t rows, std::int64_t last_rows, std::int64_t systems,
                              std::int64_t last_systems) {
    Trikkos::Impl::Chunks c;
    c.rows = rows;
    c.n = rows + last_rows;
    c.systems = systems;
    c.count = systems + last_systems;
    const auto words = Choice::storage_words(c, {});
    for (const std::int64_t m : {rows, last_rows})
      for (const std::int64_t k : {systems, last_systems}) {
        const Trikkos::Impl::BlockMethod<double, TEST_EXECSPACE> method({m, k, k}, {});
        EXPECT_LE(method.shared_words() + k * method.storage_words(), words)
            << m << " rows of " << k << " systems, chunks of " << rows << " and " << systems;
      }
  };
  for (const std::int64_t rows : {100, 270, 530, 1000, 1060, 2120, 3000})
    for (std::int64_t last = 1; last <= rows; ++last) expect_room(rows, last, 1, 1);
  for (const std::int64_t systems : {4, 8, 16})
    for (std::int64_t last = 1; last <= systems; ++last) expect_room(10, 10, systems, last);
}

TEST(TEST_CATEGORY, out_of_core_takes_no_more_memory_than_it_may) {
  const std::int64_t n = 10007;
  const auto A = gallery(Gallery::uniform, n, 3, Boundary::periodic);
  const auto b = random_rhs(n, 3);
  for (const std::size_t limit : {100000, 150000, 200000, 300000}) {
    SCOPED_TRACE(std::to_string(limit) + " bytes");
    OutOfCore out(instances(), on_host(A), on_host(b), memory(limit));
    EXPECT_LE(out.bytes(), limit);
    EXPECT_GE(5 * out.bytes(), 3 * limit) << "memory that is not used";
    EXPECT_LT(out.chunk_rows(), limit / (3 * 32));
    const auto r = solve_in_chunks(A, b, memory(limit));
    EXPECT_TRUE(r.ok()) << r;
    EXPECT_LE(r.eta, gate<double>);
  }
}
/// Two passes, less what has stayed on the device.
TEST(TEST_CATEGORY, out_of_core_moves_two_passes_at_most) {
  const std::int64_t n = 10001, chunk_rows = 1000;
  const auto A = gallery(Gallery::uniform, n, 3);
  const auto b = random_rhs(n, 3);
  std::vector<double> x(n), all_at_once(n);
  const auto solve = [&](std::size_t limit, std::vector<double>& to) {
    OutOfCoreOptions limits = rows(chunk_rows);
    limits.memory_limit = limit;
    OutOfCore out(instances(), on_host(A), on_host(b), limits);
    EXPECT_EQ(out.chunk_rows(), chunk_rows);
    EXPECT_EQ(out.chunk_count(), 11);
    EXPECT_TRUE(Trikkos::solve(out, on_host(A), on_host(b), on_host(to)).ok());
    const std::int64_t stay = std::min(n, chunk_rows * (out.resident_chunks() - 1) + 1);
    EXPECT_EQ(out.traffic().to_device, 32 * (2 * n - stay));
    EXPECT_EQ(out.traffic().to_host, 8 * n);
    return out.resident_chunks();
  };
  EXPECT_EQ(solve(std::size_t(1) << 30, all_at_once), 11);
  EXPECT_LT(solve(300000, x), 11);
  EXPECT_EQ(x, all_at_once);  // what stays does not matter
}
TEST(TEST_CATEGORY, out_of_core_in_one_chunk_is_a_solve) {
  const auto A = gallery(Gallery::uniform, 3000, 3);
  const auto b = random_rhs(3000, 3);
  EXPECT_EQ(solve_in_chunks(A, b, {}).x, ::Test::solve(A, b, Options{}).x);
}
TEST(TEST_CATEGORY, out_of_core_may_solve_again) {
  const auto A = gallery(Gallery::uniform, 3000, 3);
  const auto bad = gallery(Gallery::zero_row, 3000, 3);
  const auto b = random_rhs(3000, 3);
  for (const std::int64_t chunk_rows : {0, 700}) {
    OutOfCore out(TEST_EXECSPACE(), on_host(A), on_host(b), rows(chunk_rows));
    std::vector<double> first(3000), second(3000);
    EXPECT_TRUE(Trikkos::solve(out, on_host(A), on_host(b), on_host(first)).ok());
    EXPECT_EQ(Trikkos::solve(out, on_host(bad), on_host(b), on_host(second)).row, 1500);
    EXPECT_TRUE(Trikkos::solve(out, on_host(A), on_host(b), on_host(second)).ok());
    EXPECT_EQ(first, second);
  }
}

// ---- many systems

/// In memory that the device copies by itself.
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using Pinned = Kokkos::SharedHostPinnedSpace;
#else
using Pinned = Kokkos::HostSpace;
#endif

template <class View>
void fill(const View& v, std::int64_t k, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) v(k, i) = values[i];
}
template <class View>
std::vector<double> row(const View& v, std::int64_t k) {
  std::vector<double> r(v.extent(1));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = v(k, i);
  return r;
}

template <class View>
void solves_a_batch(std::int64_t count, std::int64_t n, bool is_shared, Boundary boundary,
                    const OutOfCoreOptions& limits, std::int64_t bad = -1) {
  SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n) + " rows, " +
               std::to_string(limits.chunk_rows) + " in a chunk, " +
               std::to_string(limits.memory_limit) + " bytes");
  std::vector<HostSystem<double>> matrices;
  const View lower("lower", count, n), diag("diag", count, n), upper("upper", count, n),
      b("b", count, n), x("x", count, n);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto type = k == bad && !is_shared ? Gallery::zero_row : Gallery::uniform;
    matrices.push_back(gallery(type, n, is_shared ? 1 : k, boundary));
    fill(lower, k, matrices[k].lower);
    fill(diag, k, matrices[k].diag);
    fill(upper, k, matrices[k].upper);
    fill(b, k, random_rhs(n, k));
    if (k == bad) b(k, n / 2) = std::numeric_limits<double>::quiet_NaN();
  }
  const auto solve = [&](const auto& A) {
    OutOfCore out(instances(), A, b, limits);
    EXPECT_LE(out.bytes(), limits.memory_limit);
    EXPECT_LE(out.staging_bytes(), limits.memory_limit);
    return Trikkos::solve(out, A, b, x);
  };
  Status status;
  if (is_shared && count > 0)
    status = solve(on_host(matrices[0]));
  else
    status = solve(Trikkos::Tridiagonal{lower, diag, upper, boundary});
  EXPECT_EQ(status.system, bad);
  EXPECT_EQ(status.row, bad < 0 ? -1 : n / 2);
  for (std::int64_t k = 0; k < count; ++k)
    if (k != bad) {
      EXPECT_LE(fast_backward_error(matrices[k], row(x, k), row(b, k)), gate<double>) << k;
    }
}
template <class View>
void solves_batches() {
  for (const bool is_shared : {false, true})
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      for (const std::int64_t count : {0, 1, 2, 7, 40})
        for (const std::int64_t chunk_rows : {0, 7, 19})
          solves_a_batch<View>(count, 20, is_shared, boundary, rows(chunk_rows));
      solves_a_batch<View>(40, 500, is_shared, boundary, memory(400000));
      solves_a_batch<View>(3, 5000, is_shared, boundary, memory(100000));
    }
  for (const bool is_shared : {false, true})
    for (const std::int64_t bad : {0, 17, 39}) {
      solves_a_batch<View>(40, 500, is_shared, Boundary::open, memory(400000), bad);
      solves_a_batch<View>(40, 50, is_shared, Boundary::open, rows(17), bad);
    }
}
TEST(TEST_CATEGORY, out_of_core_solves_contiguous_batches) {
  solves_batches<Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>>();
}
TEST(TEST_CATEGORY, out_of_core_solves_interleaved_batches) {
  solves_batches<Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>>();
}
TEST(TEST_CATEGORY, out_of_core_solves_pinned_batches) {
  solves_batches<Kokkos::View<double**, Kokkos::LayoutRight, Pinned>>();
  solves_batches<Kokkos::View<double**, Kokkos::LayoutLeft, Pinned>>();
}

/// Lines of an array along each of its axes, of which two do not make one.
TEST(TEST_CATEGORY, out_of_core_solves_the_lines_of_an_array) {
  using View = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;
  const auto matrix = gallery(Gallery::uniform, 12, 1);
  for (const std::int64_t chunk_rows : {0, 5})
    for (int axis = 0; axis < 3; ++axis) {
      SCOPED_TRACE("axis " + std::to_string(axis) + ", " + std::to_string(chunk_rows));
      const View array("array", 12, 12, 12);
      const auto lines = Trikkos::along(array, axis);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
          for (int k = 0; k < 12; ++k) lines(i, j, k) = random_rhs(12, 12 * i + j)[k];
      OutOfCore out(TEST_EXECSPACE(), on_host(matrix), lines, rows(chunk_rows));
      EXPECT_TRUE(Trikkos::solve(out, on_host(matrix), lines, lines).ok());
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) {
          std::vector<double> x(12);
          for (int k = 0; k < 12; ++k) x[k] = lines(i, j, k);
          EXPECT_LE(fast_backward_error(matrix, x, random_rhs(12, 12 * i + j)), gate<double>);
        }
    }
}
/// More of them than there are chunks, or one.
TEST(TEST_CATEGORY, out_of_core_solves_on_any_number_of_instances) {
  const auto A = gallery(Gallery::uniform, 3000, 3);
  const auto b = random_rhs(3000, 3);
  const std::vector<TEST_EXECSPACE> one(1), five(5);
  for (const auto& some : {one, five}) {
    OutOfCore out(some, on_host(A), on_host(b), rows(1000));
    auto x = b;
    EXPECT_TRUE(Trikkos::solve(out, on_host(A), on_host(x), on_host(x)).ok());
    EXPECT_EQ(x, solve_in_chunks(A, b, rows(1000)).x);
  }
}

// ---- errors

TEST(TEST_CATEGORY, out_of_core_says_what_is_wrong) {
  const auto A = gallery(Gallery::uniform, 10, 3), other = gallery(Gallery::uniform, 11, 3);
  const auto ring = gallery(Gallery::uniform, 10, 3, Boundary::periodic);
  auto b = random_rhs(10, 3), longer = random_rhs(11, 3);
  const auto make = [&](const OutOfCoreOptions& limits, const Options& options = {}) {
    return message([&] { OutOfCore(TEST_EXECSPACE(), on_host(A), on_host(b), limits, options); });
  };
  EXPECT_EQ(make(rows(-1)), "Trikkos::OutOfCore: chunk_rows is -1, expected at least 0");
  OutOfCoreOptions none;
  none.instances = 0;
  EXPECT_EQ(make(none), "Trikkos::OutOfCore: instances is 0, expected at least 1");
  EXPECT_EQ(make(memory(100)).find("Trikkos::OutOfCore: memory_limit is 100, expected at least "),
            0u);
  EXPECT_EQ(make({}, Options{}.verify(1e-10)),
            "Trikkos::OutOfCore: verify is 0.000000, expected 0 (A goes in chunks)");
  EXPECT_EQ(make({}, Options{}.algorithm(Trikkos::Algorithm::thomas)),
            "Trikkos::OutOfCore: algorithm is thomas, expected automatic or segmented (A goes in "
            "chunks)");
  EXPECT_EQ(message([&] { OutOfCore(TEST_EXECSPACE(), on_host(A), on_host(longer)); }),
            "Trikkos::OutOfCore: b has 11 rows, expected 10 (diag.extent(0))");

  OutOfCore out(TEST_EXECSPACE(), on_host(A), on_host(b));
  const auto solve = [&](const HostSystem<double>& matrix, std::vector<double>& rhs,
                         std::vector<double>& x) {
    return message(
        [&] { static_cast<void>(Trikkos::solve(out, on_host(matrix), on_host(rhs), on_host(x))); });
  };
  EXPECT_EQ(solve(other, longer, longer),
            "Trikkos::solve: A has 11 rows, expected 10 (the OutOfCore)");
  EXPECT_EQ(solve(A, b, longer), "Trikkos::solve: x has 11 rows, expected 10 (b.extent(0))");
  EXPECT_EQ(solve(ring, b, b), "Trikkos::solve: A is periodic, expected open (the OutOfCore)");
}

}  // namespace Test::InChunks
