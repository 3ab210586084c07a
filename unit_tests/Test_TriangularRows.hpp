// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <TriangleRows.hpp>
#include <TriangularSolves.hpp>

/// \file
/// Sparse triangles with rows of any scalar and of any length. A device divides long ones into
/// segments of eight entries: what it does then is done here by a host's loop.

namespace Test::TriangularRows {

namespace Impl = Trikkos::Impl;
using Trikkos::Diag;
using Trikkos::Transpose;
using Trikkos::Uplo;
using Complex = Kokkos::complex<double>;

TEST(TEST_CATEGORY, triangular_scalars) {
  using Exec = TEST_EXECSPACE;
  const auto neighbours = random_neighbours(4);
  expect_all_solved<Exec>("float", triangle<float>(700, neighbours, true));
  expect_all_solved<Exec>("complex<float>",
                          triangle<Kokkos::complex<float>>(700, neighbours, true));
  expect_all_solved<Exec>("complex<double>", triangle<Complex>(700, neighbours, true));
}

// ---- long rows

/// Rows with so many entries beside the diagonal as fill one, two, three or ten segments, or one
/// less or more; and with all that there can be.
constexpr int lengths[] = {7, 8, 9, 14, 15, 16, 17, 63, 64, 65, 1 << 20};

template <class T>
HostTriangle<T> long_rows(int n) {
  return triangle<T>(
      n,
      [](int i, const auto& add) {
        const int count = std::min(i, lengths[i % std::size(lengths)]);
        for (int k = 0; k < count; ++k) add(static_cast<int>(std::int64_t(k) * i / count));
      },
      true);
}
/// With ones on the diagonal, and entries so small that x does not grow.
template <class T>
HostTriangle<T> of_unit_diagonal(HostTriangle<T> A) {
  A.diag = Diag::unit;
  for (T& v : A.values) v *= T(1. / 64);
  return A;
}

template <class T>
void long_rows_are_solved() {
  using Exec = TEST_EXECSPACE;
  const auto A = long_rows<T>(220);
  expect_all_solved<Exec>("long rows", A);
  expect_all_solved<Exec>("shuffled", shuffled(A));
  expect_all_solved<Exec>("of unit diagonal", of_unit_diagonal(shuffled(A)));
}
TEST(TEST_CATEGORY, triangular_long_rows) {
  long_rows_are_solved<float>();
  long_rows_are_solved<Complex>();
}

// ---- the order of entries

TEST(TEST_CATEGORY, triangular_sums) {
  const TEST_EXECSPACE exec;
  // one and more entries for a thread of a team, and of a scan
  for (const int size : {1, 2, 3, 1023, 1024, 1025, 16384, 16385, 70000, 140001, 1100007}) {
    std::vector<std::int32_t> counts(size), sums(size);
    std::int32_t sum = 0, most = 0;
    for (int i = 0; i < size; ++i) {
      counts[i] = i == size - 1 ? 99 : (i * 7) % 5;  // what the last one was does not matter
      sums[i] = sum;
      sum += counts[i];
      if (i < size - 1) most = std::max(most, counts[i]);
    }
    const auto found = on_device<std::int32_t, TEST_EXECSPACE>(counts);
    const auto total = Impl::new_array<std::int64_t>(exec, "total", 1, -1);
    const auto largest = Impl::new_array<std::int64_t>(exec, "largest", 1, 0);
    Impl::sum_up(exec, found.data(), size, {total.data(), largest.data()});
    exec.fence("Test::sum_up");
    EXPECT_EQ(to_vector(found), sums) << size;
    EXPECT_EQ(to_vector(total)[0], sums.back()) << size;
    EXPECT_EQ(to_vector(largest)[0], most) << size;
  }
}
/// In one pass and in several, in part of a chunk and in many, of keys that few and that many have.
TEST(TEST_CATEGORY, triangular_sorts) {
  const TEST_EXECSPACE exec;
  for (const int n : {1, 255, 257, 3000, 70001})
    for (const int largest : {0, 1, 255, 1023, 1024, 66000}) {
      std::vector<std::int32_t> keys(n), by_rest(n);
      for (int i = 0; i < n; ++i)
        keys[i] = static_cast<std::int32_t>(Impl::random_bits(5, 0, i) % (largest + 1));
      keys[n / 2] = largest;
      std::iota(by_rest.begin(), by_rest.end(), 0);
      std::stable_sort(by_rest.begin(), by_rest.end(), [](int i, int j) { return i % 7 < j % 7; });
      const auto key = on_device<std::int32_t, TEST_EXECSPACE>(keys);
      const auto from = on_device<std::int32_t, TEST_EXECSPACE>(by_rest);
      for (const bool is_natural : {true, false}) {
        Impl::Slabs<TEST_EXECSPACE> memory("test");
        const auto found = Impl::sort_by(exec, memory, {n, false}, key, largest,
                                         is_natural ? nullptr : from.data());
        exec.fence("Test::sort_by");
        auto sorted = by_rest;
        if (is_natural) std::iota(sorted.rbegin(), sorted.rend(), 0);  // backward
        std::stable_sort(sorted.begin(), sorted.end(),
                         [&](int i, int j) { return keys[i] < keys[j]; });
        EXPECT_EQ(to_vector(found), sorted)
            << n << " keys up to " << largest << (is_natural ? "" : ", sorted before");
      }
    }
}
/// Of one thread a row and of several, either way, whatever is left out or stored twice; the last
/// rows are too long for several.
TEST(TEST_CATEGORY, triangular_filled_rows) {
  const TEST_EXECSPACE exec;
  constexpr int n = 700;
  const auto A = shuffled(triangle<double>(
      n,
      [](int i, const auto& add) {
        const int count = i > n - 3 ? i : i % 30;
        for (int k = 0; k < count; ++k) add(static_cast<int>((i * 31 + k * 17) % i));
      },
      true));
  const auto matrix = on_device<TEST_EXECSPACE>(A);
  for (const bool stored_lower : {true, false})
    for (const bool unit : {false, true}) {
      Impl::Slabs<TEST_EXECSPACE> memory("test");
      const auto row_map = Impl::checked_row_map(exec, memory, matrix);
      const Impl::CsrPattern given{row_map.data(), Impl::columns_of(matrix)};
      const Impl::TriangleShape shape{n, stored_lower, unit, false};
      const auto pattern = Impl::triangle_pattern(exec, memory, given, shape);
      Kokkos::parallel_for("Test::fill_rows", Impl::range(exec, n),
                           Impl::FillRows{given, shape, pattern.rows()});
      exec.fence("Test::fill_rows");
      const auto needed = to_vector(pattern.needed);
      const auto source = to_vector(pattern.source);
      for (const int bits : {1, 3, 5}) {
        Kokkos::deep_copy(pattern.needed, -1);
        Kokkos::deep_copy(pattern.source, -1);
        Kokkos::parallel_for("Test::fill_rows", Impl::range(exec, std::int64_t(n) << bits),
                             Impl::FillRowsTogether{{given, shape, pattern.rows()}, bits});
        exec.fence("Test::fill_rows");
        EXPECT_EQ(to_vector(pattern.needed), needed) << bits;
        EXPECT_EQ(to_vector(pattern.source), source) << bits;
      }
    }
}
/// Of one thread a row and of several, with values that are stored twice; the last row is too long
/// for several.
TEST(TEST_CATEGORY, triangular_sorted_rows) {
  const TEST_EXECSPACE exec;
  constexpr int n = 2600;
  const auto A = triangle<double>(
      n,
      [](int i, const auto& add) {
        const int count = i == n - 1 ? i : i % 70;
        for (int k = 0; k < count; ++k) add(static_cast<int>((i * 31 + k * 17) % i));
      },
      true);
  Impl::Slabs<TEST_EXECSPACE> memory("test");
  const auto matrix = on_device<TEST_EXECSPACE>(A);
  const auto row_map = Impl::checked_row_map(exec, memory, matrix);
  const Impl::CsrPattern given{row_map.data(), Impl::columns_of(matrix)};
  const auto pattern = Impl::triangle_pattern(exec, memory, given, {n, true, false, false});
  std::vector<std::int32_t> shuffled_rank(n);
  for (int i = 0; i < n; ++i) shuffled_rank[i] = (i * 7) % n;  // 7 does not divide n
  shuffled_rank[n - 1] = n;  // a row is behind those that it needs
  const auto rank = on_device<std::int32_t, TEST_EXECSPACE>(shuffled_rank);
  const std::int64_t entries = pattern.entries;
  const auto needed = Impl::new_array<std::int32_t>(exec, "needed", entries, -1);
  const auto source = Impl::new_array<std::int64_t>(exec, "source", entries, -1);
  const Impl::TriangleRows sorted{pattern.start.data(), needed.data(), source.data()};
  std::vector<std::int32_t> first_needed;
  std::vector<std::int64_t> first_source;
  for (const int bits : {0, 1, 3, 5}) {
    Kokkos::parallel_for(
        "Test::sort_rows", Impl::range(exec, std::int64_t(n) << bits),
        Impl::SortRowsTogether<const std::int32_t*>{pattern.rows(), sorted, rank.data(), bits});
    exec.fence("Test::sort_rows");
    if (first_needed.empty()) {
      Kokkos::parallel_for("Test::sort_rows", Impl::range(exec, n),
                           Impl::SortRows<const std::int32_t*>{pattern.rows(), rank.data()});
      exec.fence("Test::sort_rows");
      first_needed = to_vector(pattern.needed);
      first_source = to_vector(pattern.source);
    }
    EXPECT_EQ(to_vector(needed), first_needed) << bits;
    EXPECT_EQ(to_vector(source), first_source) << bits;
    Kokkos::deep_copy(needed, -1);
    Kokkos::deep_copy(source, -1);
  }
  ASSERT_EQ(static_cast<std::int64_t>(first_source.size()), entries);
  const auto start = to_vector(pattern.start);
  for (int i = 0; i < n; ++i) {
    for (std::int64_t k = start[i] + 1; k < start[i + 1]; ++k) {
      const auto before = shuffled_rank[first_needed[k - 1]], here = shuffled_rank[first_needed[k]];
      ASSERT_TRUE(before < here || (before == here && first_source[k - 1] < first_source[k]));
    }
  }
}

// ---- segments

/// A pattern on the host.
struct HostRows {
  std::vector<std::int64_t> start, source;
  std::vector<std::int32_t> needed;

  template <class Exec>
  explicit HostRows(const Impl::TrianglePattern<Exec>& p)
      : start(to_vector(p.start)), source(to_vector(p.source)), needed(to_vector(p.needed)) {}
};

/// Each segment, by plain loops.
template <class T>
void expect_divided(const HostTriangle<T>& A, Transpose op) {
  const TEST_EXECSPACE exec;
  const RowsOfTriangle given(exec, A, op);
  ASSERT_TRUE(given.are_divided());
  const HostRows rows(given.pattern), segments(given.segments.pattern);
  const auto row_of = to_vector(given.segments.row_of), row_level = to_vector(given.pattern.level),
             level = to_vector(given.segments.pattern.level);
  const bool is_forward = given.pattern.shape.is_forward();
  ASSERT_TRUE(std::is_sorted(row_of.begin(), row_of.end()));
  std::vector<std::vector<std::int32_t>> of_row(A.rows());
  for (std::size_t s = 0; s < row_of.size(); ++s)
    of_row[row_of[s]].push_back(static_cast<std::int32_t>(s));
  if (!is_forward)
    for (auto& list : of_row) std::reverse(list.begin(), list.end());

  for (int r = 0; r < A.rows(); ++r) {
    SCOPED_TRACE("row " + std::to_string(r));
    const std::int64_t begin = rows.start[r], end = rows.start[r + 1];
    const auto entries = std::count_if(rows.needed.begin() + begin, rows.needed.begin() + end,
                                       [&](std::int32_t j) { return j != r; });
    ASSERT_EQ(of_row[r].size(), std::max<std::int64_t>(1, (entries - 1 + 6) / 7));
    std::int64_t k = begin;
    for (std::size_t i = 0; i < of_row[r].size(); ++i) {
      const std::int32_t s = of_row[r][i];
      std::int64_t at = segments.start[s];
      int summands = 0, mine = 0;
      if (i > 0) {
        ASSERT_EQ(segments.needed[at], of_row[r][i - 1]);
        ASSERT_EQ(segments.source[at++], Impl::TriangleRows::no_source);
        ++summands;
      }
      for (; at < segments.start[s + 1]; ++at, ++k) {
        const std::int32_t j = rows.needed[k];
        ASSERT_EQ(segments.source[at], rows.source[k]);
        ASSERT_EQ(segments.needed[at], j == r ? s : of_row[j].back());
        summands += j != r;
        if (j != r) mine = std::max(mine, row_level[j] + 1);
      }
      ASSERT_LE(summands, 8);
      ASSERT_EQ(level[s], mine);
    }
    ASSERT_EQ(k, end);
  }
}
TEST(TEST_CATEGORY, triangular_segments) {
  auto A = shuffled(long_rows<double>(220));
  for (const auto uplo : {Uplo::lower, Uplo::upper})
    for (const auto diag : {Diag::non_unit, Diag::unit})
      for (const auto op : {Transpose::none, Transpose::transpose}) {
        SCOPED_TRACE(name(uplo) + std::string(", ") + name(diag) + ", transpose " +
                     std::to_string(static_cast<int>(op)));
        A.uplo = uplo;
        A.diag = diag;
        expect_divided(A, op);
      }
  const TEST_EXECSPACE exec;
  const auto short_rows = triangle<double>(100, random_neighbours(8));
  EXPECT_FALSE(RowsOfTriangle(exec, short_rows, Transpose::none).are_divided());
  EXPECT_FALSE(RowsOfTriangle(exec, HostTriangle<double>{}, Transpose::none).are_divided());
}

/// Rows, or segments, packed and solved as by a device's `sync_free`, one after the other, in
/// slices of one row, as a thread by itself makes a warp.
template <class T>
class LikeDevice {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using Flag = Impl::Flagged<T>;

 public:
  LikeDevice(const Exec& exec, const HostTriangle<T>& A, Transpose op,
             const RowsOfTriangle<Exec>& rows)
      : m_exec(exec),
        m_pattern(rows.are_divided() ? rows.segments.pattern : rows.pattern),
        m_order(RowsOfTriangle<Exec>::by_level(exec, m_memory, m_pattern)) {
    const std::int64_t n = m_pattern.shape.n;
    m_row = m_order.row;
    if (rows.are_divided()) {
      m_row = Impl::new_array<std::int32_t>(exec, "row", n);
      m_kind = Impl::new_array<unsigned char>(exec, "kind", n);
      for_positions(Impl::PlaceSegments{n, m_pattern.rows(), m_pattern.shape.natural(),
                                        rows.segments.row_of.data(), m_order.row.data(),
                                        m_row.data(), m_kind.data()});
    }
    m_length = Impl::new_array<std::int32_t>(exec, "length", n);
    m_slice = Impl::new_array<std::int64_t>(exec, "slice", n + 1, std::int64_t(0));
    Impl::measure_slices(
        exec, {m_pattern.rows(), m_order.row.data(), n, 0, 0, m_length.data(), m_slice.data()});
    Impl::sum_up(exec, m_slice.data(), n + 1);
    exec.fence("Test::slices");
    m_needed = Impl::new_array<std::int32_t>(exec, "needed", m_slice(n));
    m_value = Impl::new_array<T>(exec, "value", m_slice(n));
    m_inverse = Impl::new_array<T>(exec, "inverse", n);
    for_positions(Impl::PackPattern<T, Impl::PositionOfRow>{n,
                                                            packed(),
                                                            m_pattern.rows(),
                                                            m_order.row.data(),
                                                            {m_order.position.data()},
                                                            m_needed.data()});
    const auto report =
        Impl::new_array<std::int64_t>(exec, "report", Impl::Diagnosis::words, std::int64_t(0));
    const auto values = on_device<T, Exec>(A.values);
    for_positions(Impl::PackValues<T>{packed(), m_pattern.rows(), m_order.row.data(),
                                      Impl::strided<const T>(values), A.diag == Diag::unit,
                                      op == Transpose::conjugate_transpose, m_value.data(),
                                      m_inverse.data(), Impl::Diagnosis{report.data()}});
    exec.fence("Test::LikeDevice");
  }

  /// The k-th of them is b times 2^k, the last group is not full; b and x side by side, or not.
  template <class Form, int of_thread>
  std::vector<std::vector<T>> solve(const std::vector<T>& b, bool are_near) const {
    const auto n = static_cast<std::int64_t>(b.size()), positions = m_pattern.shape.n;
    const Impl::SideBySide systems{2 * of_thread - 1, of_thread};  // of 2, 4 or 16: room for others
    const std::int64_t of_copy = positions * systems.width() * Flag::words;
    const auto words = Impl::new_array(m_exec, "words", 2 * of_copy, Flag::Of::empty);
    const auto near = Impl::new_array(m_exec, "near", n * systems.width(), T(std::nan("")));
    const Kokkos::View<T**, Kokkos::LayoutRight, Exec> x("x", systems.count, n);
    for (std::int64_t k = 0; k < systems.count; ++k)
      for (std::int64_t i = 0; i < n; ++i) x(k, i) = T(1 << k) * b[i];
    m_exec.fence("Test::LikeDevice");
    const Impl::ValuesSideBySide<T> side_by_side{near.data(), systems, n}, none;
    const auto used = are_near ? side_by_side : none;
    if (are_near)
      Impl::BringSideBySide<T, false>{Impl::vectors<const T>(x), side_by_side}.launch(m_exec, "b");
    const Impl::SyncFreeRow<T, false, Form, of_thread> row{
        packed(),     Impl::vectors<const T>(x), Impl::vectors<T>(x), systems, 0,
        words.data(), words.data() + of_copy,    positions,           used,    used};
    for (std::int64_t p = 0; p < positions; ++p)
      for (std::int64_t k = 0; k < systems.width(); k += of_thread) row.template solve<1>(p, p, k);
    if (are_near)
      Impl::BringSideBySide<T, true>{Impl::vectors<T>(x), side_by_side}.launch(m_exec, "x");
    m_exec.fence("Test::LikeDevice");
    std::vector<std::vector<T>> r;
    for (std::int64_t k = 0; k < systems.count; ++k)
      r.push_back(to_vector(Kokkos::View<T*, Exec>(Kokkos::subview(x, k, Kokkos::ALL))));
    return r;
  }

 private:
  Impl::PackedTriangle<T> packed() const {
    return {m_slice.data(), m_length.data(),  m_row.data(),  m_needed.data(),
            m_value.data(), m_inverse.data(), m_kind.data(), 0};
  }
  template <class Functor>
  void for_positions(const Functor& functor) const {
    Kokkos::parallel_for("Test::LikeDevice", Impl::range(m_exec, m_pattern.shape.n), functor);
  }

  Exec m_exec;
  Impl::Slabs<Exec> m_memory{"test"};
  Impl::TrianglePattern<Exec> m_pattern;
  Impl::LevelOrder<Exec> m_order;
  Impl::Array<std::int32_t, Exec> m_row, m_length, m_needed;
  Impl::Array<unsigned char, Exec> m_kind;
  Impl::Array<std::int64_t, Exec> m_slice;
  Impl::Array<T, Exec> m_value, m_inverse;
};

/// There and back again, over NaN; nothing else is written.
template <class T, class Layout>
void expect_brought_side_by_side(std::int64_t count, std::int64_t rows, int bits) {
  using Exec = TEST_EXECSPACE;
  const Exec exec;
  const Impl::SideBySide systems{count, bits};
  const std::int64_t places = systems.groups() * systems.width() * rows;
  const Kokkos::View<T**, Layout, Exec> from("from", count, rows), to("to", count, rows);
  const auto host = Kokkos::create_mirror_view(from);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < rows; ++i) host(k, i) = T(Impl::random_uniform(7, k, i));
  Kokkos::deep_copy(from, host);
  Kokkos::deep_copy(to, T(std::nan("")));
  const Kokkos::View<T*, Exec> near("near", places + 1);
  Kokkos::deep_copy(near, T(-3));
  const Impl::ValuesSideBySide<T> side_by_side{near.data(), systems, rows};
  Impl::BringSideBySide<T, false>{Impl::vectors<const T>(from), side_by_side}.launch(exec, "there");
  Impl::BringSideBySide<T, true>{Impl::vectors<T>(to), side_by_side}.launch(exec, "back");
  exec.fence("Test::expect_brought_side_by_side");
  const auto values = to_vector(near);
  const auto back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, to);
  EXPECT_EQ(values[places], T(-3));
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < rows; ++i) {
      ASSERT_EQ(values[systems.index(k, i, rows)], host(k, i)) << "system " << k << ", row " << i;
      ASSERT_EQ(back(k, i), host(k, i)) << "system " << k << ", row " << i;
    }
}
TEST(TEST_CATEGORY, triangular_side_by_side) {
  const std::pair<int, int> groups[] = {{2, 1}, {3, 2},  {4, 2},  {5, 3},  {16, 4}, {1, 4},
                                        {9, 4}, {31, 5}, {32, 5}, {33, 5}, {70, 5}};
  for (const auto& [count, bits] : groups)
    for (const int rows : {1, 7, 64, 129, 700}) {
      SCOPED_TRACE(std::to_string(count) + " systems of " + std::to_string(rows) + " rows");
      expect_brought_side_by_side<double, Kokkos::LayoutLeft>(count, rows, bits);
      expect_brought_side_by_side<double, Kokkos::LayoutRight>(count, rows, bits);
      expect_brought_side_by_side<Complex, Kokkos::LayoutRight>(count, rows, bits);
    }
}

/// Substitution, row by row, in the order of the sorted rows.
template <class T, class Exec>
std::vector<T> substituted(const HostTriangle<T>& A, Transpose op,
                           const RowsOfTriangle<Exec>& given, const std::vector<T>& b) {
  const HostRows rows(given.pattern);
  std::vector<T> x(b.size());
  for (int e = 0; e < A.rows(); ++e) {
    const std::int32_t r = given.pattern.shape.natural()[e];
    T s = b[r], d = A.diag == Diag::unit ? T(1) : T(0);
    for (std::int64_t k = rows.start[r]; k < rows.start[r + 1]; ++k) {
      T v = A.values[rows.source[k]];
      if (op == Transpose::conjugate_transpose) v = Impl::conjugate(v);
      if (rows.needed[k] == r)
        d += v;
      else
        s = Impl::fused(-v, x[rows.needed[k]], s);
    }
    x[r] = Impl::product(Impl::reciprocal(d), s);
  }
  return x;
}

template <class T>
void solved_like_on_a_device(const HostTriangle<T>& A, bool is_divided) {
  const TimeLimit limit;
  const Kokkos::DefaultHostExecutionSpace exec;
  const auto b = random_vector<T>(A.rows());
  for (const auto op : all_ops) {
    SCOPED_TRACE(name(A.uplo) + std::string(", ") + name(A.diag) + ", transpose " +
                 std::to_string(static_cast<int>(op)));
    const RowsOfTriangle rows(exec, A, op);
    const auto expected = substituted(A, op, rows, b);
    EXPECT_LE(worst_row_error(A, op, expected, b), 1);
    ASSERT_EQ(rows.are_divided(), is_divided);
    const LikeDevice<T> solver(exec, A, op, rows);
    const auto expect_solved_by = [&]<class Form, int of_thread>() {
      for (const bool are_near : {false, true}) {
        if (are_near && of_thread == 1) continue;
        const auto x = solver.template solve<Form, of_thread>(b, are_near);
        for (std::size_t k = 0; k < x.size(); ++k) {
          auto multiple = expected;
          for (T& value : multiple) value *= T(1 << k);
          EXPECT_TRUE(same_bits(x[k], multiple))
              << "system " << k << " of " << x.size() << ", polled " << Form::polled;
        }
      }
    };
    const auto with_all = [&]<bool divided>() {
      expect_solved_by.template operator()<Impl::RowForm<2, divided>, 1>();
      expect_solved_by.template operator()<Impl::RowForm<4, divided>, 1>();
      expect_solved_by.template operator()<Impl::RowForm<4, divided>, 2>();
      expect_solved_by.template operator()<Impl::RowForm<2, divided>, 4>();
      expect_solved_by.template operator()<Impl::RowForm<4, divided>, 4>();
    };
    is_divided ? with_all.template operator()<true>() : with_all.template operator()<false>();
  }
}
template <class T>
void expect_solved_like_on_a_device() {
  auto long_ones = shuffled(long_rows<T>(220));
  auto short_ones = triangle<T>(220, grid_neighbours(15, 2, false), true);
  for (const auto uplo : {Uplo::lower, Uplo::upper}) {
    long_ones.uplo = short_ones.uplo = uplo;
    solved_like_on_a_device(long_ones, true);
    solved_like_on_a_device(of_unit_diagonal(long_ones), true);
    solved_like_on_a_device(short_ones, false);
  }
}
TEST(TEST_CATEGORY, triangular_segments_solve_like_rows) {
  expect_solved_like_on_a_device<double>();
  expect_solved_like_on_a_device<Complex>();
  expect_solved_like_on_a_device<Kokkos::complex<float>>();
}

}  // namespace Test::TriangularRows
