// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lines of arrays that are divided along the axis of the rows, and Workspace and Plan for many
// solves.

#include <Ranks.hpp>
#include <Watch.hpp>

namespace {

using namespace Test;
using Trikkos::Boundary;
using Trikkos::Gallery;

template <class Layout>
using Array = Kokkos::View<double**, Layout, TEST_EXECSPACE>;

/// System k of a batch; those of one matrix have that of k = 0.
Reference::HostSystem<double> matrix(std::int64_t k, std::int64_t n, Boundary boundary) {
  return gallery(Gallery::uniform, n, k + 1, boundary);
}

struct Batch {
  std::vector<Reference::HostSystem<double>> A;
  std::vector<std::vector<double>> b;
};
Batch make_batch(std::int64_t count, std::int64_t n, Boundary boundary, bool is_one_matrix) {
  Batch r;
  for (std::int64_t k = 0; k < count; ++k) {
    r.A.push_back(matrix(is_one_matrix ? 0 : k, n, boundary));
    r.b.push_back(random_rhs(n, k));
  }
  return r;
}
/// The vectors of all systems, each from(system).
template <class Layout, class From>
Array<Layout> array(const Batch& batch, std::int64_t n, const From& from) {
  const Array<Layout> v("v", batch.b.size(), n);
  const auto host = Kokkos::create_mirror_view(v);
  for (std::size_t k = 0; k < batch.b.size(); ++k)
    for (std::int64_t i = 0; i < n; ++i) host(k, i) = from(k)[i];
  ::Test::copy(v, host);
  return v;
}
template <class View>
void expect_solved(const Batch& batch, const View& x, const Cut& cut) {
  const std::int64_t n = cut.back();
  const Array<Kokkos::LayoutRight> all("all", batch.b.size(), n);
  Trikkos::gather(TEST_EXECSPACE{}, world, 0, x, all);
  if (rank() > 0) return;
  const auto host = ::Test::host_copy(all);
  for (std::size_t k = 0; k < batch.b.size(); ++k) {
    std::vector<double> one(n);
    for (std::int64_t i = 0; i < n; ++i) one[i] = host(k, i);
    EXPECT_LE(fast_backward_error(batch.A[k], one, batch.b[k]), gate<double>) << "system " << k;
  }
}

template <class Layout>
void own_matrices(std::int64_t count, const Cut& cut, Boundary boundary) {
  SCOPED_TRACE(std::to_string(count) + " systems, " + describe(cut));
  const std::int64_t n = cut.back();
  const Batch batch = make_batch(count, n, boundary, false);
  const auto band = [&](auto member) {
    return rows_of(array<Layout>(batch, n, [&](auto k) { return batch.A[k].*member; }), cut);
  };
  using System = Reference::HostSystem<double>;
  const Trikkos::Distributed A{
      world, Trikkos::Tridiagonal{band(&System::lower), band(&System::diag), band(&System::upper),
                                  boundary}};
  const auto x = rows_of(array<Layout>(batch, n, [&](auto k) { return batch.b[k]; }), cut);
  EXPECT_TRUE(solve_rows(TEST_EXECSPACE{}, A, x, x).ok());  // in place
  expect_solved(batch, x, cut);
}

TEST(distributed_batch, solves_own_matrices) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {3, 100})
      for (const Cut& cut : {even_cut(n), cut_at(n, 1)})
        for (const std::int64_t count : {0, 1, 19}) {
          own_matrices<Kokkos::LayoutLeft>(count, cut, boundary);
          own_matrices<Kokkos::LayoutRight>(count, cut, boundary);
        }
}

template <class Layout>
void one_matrix(std::int64_t count, const Cut& cut, Boundary boundary) {
  SCOPED_TRACE(std::to_string(count) + " right-hand sides, " + describe(cut));
  const std::int64_t n = cut.back();
  const Batch batch = make_batch(count, n, boundary, true);
  const auto host_A = matrix(0, n, boundary);
  const auto b = rows_of(array<Layout>(batch, n, [&](auto k) { return batch.b[k]; }), cut);
  const auto x =
      rows_of(array<Layout>(batch, n, [&](auto) { return std::vector<double>(n, -1); }), cut);
  const auto A = rows_of(poisoned(host_A), cut);
  EXPECT_TRUE(solve_rows(TEST_EXECSPACE{}, A, b, x).ok());
  expect_solved(batch, x, cut);

  // a Plan has the same bits, before and after others have been in it
  const auto of_plan = rows_of(Array<Layout>("x", count, n), cut);
  const Trikkos::DistributedPlan plan(
      TEST_EXECSPACE{}, rows_of(poisoned(matrix(5, n, boundary)), cut), {}, count, way());
  Trikkos::solve(TEST_EXECSPACE{}, plan, b, of_plan);
  plan.update(TEST_EXECSPACE{}, A);
  Trikkos::solve(TEST_EXECSPACE{}, plan, b, of_plan);
  EXPECT_TRUE(plan.status(TEST_EXECSPACE{}).ok());
  const auto bits = ::Test::host_copy(x), bits_of_plan = ::Test::host_copy(of_plan);
  for (std::size_t k = 0; k < x.extent(0); ++k)
    for (std::size_t i = 0; i < x.extent(1); ++i) EXPECT_EQ(bits(k, i), bits_of_plan(k, i));
}

TEST(distributed_batch, solves_many_right_hand_sides) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic})
    for (const std::int64_t n : {2, 77})
      for (const Cut& cut : {even_cut(n), cut_at(n, n / 2)})
        for (const std::int64_t count : {0, 1, 7, 17}) {
          one_matrix<Kokkos::LayoutLeft>(count, cut, boundary);
          one_matrix<Kokkos::LayoutRight>(count, cut, boundary);
        }
}

/// The middle axis of a block of memory that has all three, of different layout on every other
/// rank.
template <class Layout>
bool solve_lines(const Reference::HostSystem<double>& host_A, const Cut& cut) {
  const std::int64_t n = cut.back(), rows = cut[rank() + 1] - cut[rank()];
  const Kokkos::View<double***, Layout, TEST_EXECSPACE> u("u", 3, rows, 4);
  const auto host = Kokkos::create_mirror_view(u);
  const auto b = [&](std::int64_t k) { return random_rhs(n, k); };
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      const auto line = b(4 * i + j);
      for (std::int64_t k = 0; k < rows; ++k) host(i, k, j) = line[cut[rank()] + k];
    }
  Kokkos::deep_copy(u, host);
  const auto lines = Trikkos::along(u, 1);
  const auto status = solve_rows(TEST_EXECSPACE{}, rows_of(poisoned(host_A), cut), lines, lines);
  const Kokkos::View<double***, Layout, TEST_EXECSPACE> all("all", 3, 4, rank() == 0 ? n : 0);
  Trikkos::gather(TEST_EXECSPACE{}, world, 0, lines, all);
  const auto host_all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, all);
  for (std::int64_t i = 0; rank() == 0 && i < 3; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      std::vector<double> x(n);
      for (std::int64_t k = 0; k < n; ++k) x[k] = host_all(i, j, k);
      EXPECT_LE(fast_backward_error(host_A, x, b(4 * i + j)), gate<double>) << i << " " << j;
    }
  return status.ok();
}

TEST(distributed_batch, solves_lines_of_arrays_whose_layouts_differ) {
  const auto A = matrix(0, 41, Boundary::open);
  const Cut cut = even_cut(41);
  EXPECT_TRUE(rank() % 2 == 0 ? solve_lines<Kokkos::LayoutLeft>(A, cut)
                              : solve_lines<Kokkos::LayoutRight>(A, cut));
}

TEST(distributed_batch, solves_without_allocation) {
  const Cut cut = even_cut(1000);
  const auto A = rows_of(poisoned(matrix(0, 1000, Boundary::open)), cut);
  const auto x = rows_of(Reference::to_device(TEST_EXECSPACE{}, random_rhs(1000)), cut);
  const Trikkos::DistributedWorkspace work(TEST_EXECSPACE{}, A, x, {}, way());
  EXPECT_TRUE(work.status(TEST_EXECSPACE{}).ok());
  EXPECT_EQ(work.size(), cut[rank() + 1] - cut[rank()]);
  EXPECT_EQ(work.first_row(), cut[rank()]);
  EXPECT_EQ(work.total_size(), 1000);
  EXPECT_GT(work.bytes(), 0);
  const auto trace = ::Test::Watching::watch([&] {
    for (int k = 0; k < 3; ++k) Trikkos::solve(TEST_EXECSPACE{}, work, A, x, x);
  });
  EXPECT_EQ(trace.allocations, ::Test::Watching::Strings{});
  EXPECT_TRUE(work.status(TEST_EXECSPACE{}).ok());
}

}  // namespace
