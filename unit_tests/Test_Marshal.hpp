// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layouts are compared word by word in memory, including the words that belong to no element.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Reference.hpp>
#include <Trikkos.hpp>
#include <Watch.hpp>
#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using Trikkos::Impl::Adjacent;
using Trikkos::Impl::Bands;
using Trikkos::Impl::Strided;

template <class T>
using Vector = Kokkos::View<T*, TEST_EXECSPACE>;
template <class T, class Layout>
using Vectors = Kokkos::View<T**, Layout, TEST_EXECSPACE>;

template <class T>
T random_value(std::mt19937_64& engine) {
  std::uniform_real_distribution<Trikkos::Impl::Real<T>> distribution(-1, 1);
  if constexpr (std::is_floating_point_v<T>)
    return distribution(engine);
  else
    return {distribution(engine), distribution(engine)};
}
template <class T>
std::vector<T> random_values(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(random_value<T>(engine));
  return values;
}

// ---- marshal

/// Where the elements of a View (system, row) lie in a buffer: worked out here, not by Kokkos.
struct Placement {
  const char* name;
  std::int64_t systems, rows, offset, system_stride, row_stride, size;

  std::int64_t operator()(std::int64_t system, std::int64_t row) const {
    return offset + system * system_stride + row * row_stride;
  }
};
std::vector<Placement> placements(std::int64_t systems, std::int64_t rows) {
  const std::int64_t m = systems, n = rows;
  return {
      {"left", m, n, 0, 1, m, m * n},
      {"right", m, n, 0, n, 1, m * n},
      {"left, padded", m, n, 3, 1, m + 5, 3 + (m + 5) * n},
      {"right, padded", m, n, 2, n + 7, 1, 2 + m * (n + 7)},
      {"left, strided", m, n, 1, 2, 2 * m + 1, 1 + (2 * m + 1) * n},
      {"right, strided", m, n, 0, 3 * n, 3, 3 * m * n},
  };
}

constexpr int untouched = 77;

/// The words of the buffer that are not what a copy of `from` would have left in it.
template <class T>
std::int64_t wrong_words(const Placement& to, const std::vector<T>& found, const Placement& from,
                         const std::vector<T>& source) {
  std::vector<T> expected(to.size, T(untouched));
  for (std::int64_t s = 0; s < to.systems; ++s)
    for (std::int64_t k = 0; k < to.rows; ++k) expected[to(s, k)] = source[from(s, k)];
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < to.size; ++i) count += !(found[i] == expected[i]);
  return count;
}

template <class T>
auto strided_view(const Vector<std::remove_const_t<T>>& buffer, const Placement& p) {
  const Kokkos::LayoutStride layout(p.systems, p.system_stride, p.rows, p.row_stride);
  return Kokkos::View<T**, Kokkos::LayoutStride, TEST_EXECSPACE, Kokkos::MemoryUnmanaged>(
      buffer.data() + (buffer.extent(0) > 0 ? p.offset : 0), layout);
}

template <class T>
void expect_marshals(std::int64_t systems, std::int64_t rows) {
  const TEST_EXECSPACE exec;
  std::uint64_t seed = 1;
  for (const Placement& from : placements(systems, rows)) {
    const auto source = random_values<T>(from.size, seed++);
    const Vector<T> from_buffer = Reference::to_device(exec, source);
    for (const Placement& to : placements(systems, rows)) {
      SCOPED_TRACE(std::to_string(systems) + " x " + std::to_string(rows) + ", " + from.name +
                   " to " + to.name);
      const Vector<T> to_buffer("to", to.size);
      Kokkos::deep_copy(exec, to_buffer, T(untouched));
      Trikkos::marshal(exec, strided_view<const T>(from_buffer, from),
                       strided_view<T>(to_buffer, to));
      exec.fence();
      EXPECT_EQ(wrong_words(to, Reference::to_host(to_buffer), from, source), 0);
    }
    EXPECT_EQ(Reference::to_host(from_buffer), source);
  }
}

// The Views that users have, some const, in all pairs.
template <class T, class FromLayout, class ToLayout>
void expect_marshals_layouts(std::int64_t systems, std::int64_t rows) {
  const TEST_EXECSPACE exec;
  const Vectors<T, FromLayout> from("from", systems, rows);
  const Vectors<T, ToLayout> to("to", systems, rows);
  const std::int64_t size = systems * rows;
  ASSERT_EQ(static_cast<std::int64_t>(from.span()), size);
  ASSERT_EQ(static_cast<std::int64_t>(to.span()), size);
  const auto source = random_values<T>(size, 7);
  ::Test::copy(Vector<T>(from.data(), size), Reference::to_device(exec, source));

  const Vectors<const T, FromLayout> constant = from;
  Trikkos::marshal(exec, constant, to);
  exec.fence();
  const auto all = placements(systems, rows);
  const auto placement = [&](bool is_left) { return all[is_left ? 0 : 1]; };
  constexpr bool from_left = std::is_same_v<FromLayout, Kokkos::LayoutLeft>;
  constexpr bool to_left = std::is_same_v<ToLayout, Kokkos::LayoutLeft>;
  const auto found = Reference::to_host(Vector<T>(to.data(), size));
  EXPECT_EQ(wrong_words(placement(to_left), found, placement(from_left), source), 0);
}

template <class T>
void marshal_all_layouts() {
  for (const std::int64_t systems : {0, 1, 31, 32, 33})
    for (const std::int64_t rows : {0, 1, 31, 32, 33}) expect_marshals<T>(systems, rows);
  expect_marshals<T>(1000, 7);
  expect_marshals<T>(7, 1000);

  using Left = Kokkos::LayoutLeft;
  using Right = Kokkos::LayoutRight;
  expect_marshals_layouts<T, Left, Left>(70, 45);
  expect_marshals_layouts<T, Left, Right>(70, 45);
  expect_marshals_layouts<T, Right, Left>(70, 45);
  expect_marshals_layouts<T, Right, Right>(70, 45);
}

template <class T>
void marshal_there_and_back(std::int64_t systems, std::int64_t rows) {
  const TEST_EXECSPACE exec;
  const Vectors<T, Kokkos::LayoutRight> from("from", systems, rows), back("back", systems, rows);
  const Vectors<T, Kokkos::LayoutLeft> by_row("by_row", systems, rows);
  const std::int64_t size = systems * rows;
  const auto source = random_values<T>(size, 3);
  ::Test::copy(Vector<T>(from.data(), size), Reference::to_device(exec, source));
  Trikkos::marshal(exec, from, by_row);
  Trikkos::marshal(exec, by_row, back);
  exec.fence();
  const auto marshaled = Reference::to_host(Vector<T>(by_row.data(), size));
  std::int64_t wrong = 0;
  for (std::int64_t k = 0; k < rows; ++k)
    for (std::int64_t s = 0; s < systems; ++s)
      wrong += !(marshaled[k * systems + s] == source[s * rows + k]);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Reference::to_host(Vector<T>(back.data(), size)), source);
}

// What the comparison is worth: it must reject a copy in the wrong order, an element that was left
// out and one that was written beside the array.
void comparison_notices_mistakes() {
  const auto all = placements(33, 40);
  const Placement &left = all[0], &right = all[1], &padded = all[2];
  const auto source = random_values<double>(right.size, 5);
  EXPECT_EQ(wrong_words(right, source, right, source), 0);
  EXPECT_GT(wrong_words(left, source, right, source), left.size / 2);

  std::vector<double> copy(padded.size, untouched);
  for (std::int64_t s = 0; s < 33; ++s)
    for (std::int64_t k = 0; k < 40; ++k) copy[padded(s, k)] = source[right(s, k)];
  EXPECT_EQ(wrong_words(padded, copy, right, source), 0);
  copy[padded(32, 39)] = untouched;
  EXPECT_EQ(wrong_words(padded, copy, right, source), 1);
  copy[padded(32, 3) + 1] = 0;
  EXPECT_EQ(wrong_words(padded, copy, right, source), 2);
}

// ---- the functor, as a solver that cuts one system into partitions uses it

enum class Band { lower, diag, upper };

/// A band of one long matrix cut into partitions of `rows` rows, the last of them filled up with
/// rows of the identity.
template <class T>
struct ReadBandPartitions {
  Bands<T> A;
  Band band;
  std::int64_t rows;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t partition, std::int64_t row) const {
    const std::int64_t i = partition * rows + row;
    if (i >= A.n) return T(band == Band::diag ? 1 : 0);
    return band == Band::lower ? A.lower(i) : band == Band::diag ? A.diag(i) : A.upper(i);
  }
};

/// A vector of n rows cut likewise, filled up with zeros ...
template <class T>
struct ReadPartitions {
  Strided<const T> from;
  std::int64_t rows, n;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t partition, std::int64_t row) const {
    const std::int64_t i = partition * rows + row;
    return i < n ? from[i] : T(0);
  }
};
/// ... and the way back, which leaves out what was filled up.
template <class T>
struct WritePartitions {
  Strided<T> to;
  std::int64_t rows, n;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t partition, std::int64_t row,
                                              const T& value) const {
    const std::int64_t i = partition * rows + row;
    if (i < n) to[i] = value;
  }
};

template <class T>
void marshal_partitions(std::int64_t n, std::int64_t rows) {
  SCOPED_TRACE("n " + std::to_string(n) + ", partitions of " + std::to_string(rows));
  using namespace Trikkos::Impl;
  const TEST_EXECSPACE exec;
  const std::int64_t partitions = (n + rows - 1) / rows, size = partitions * rows;
  const Reference::HostSystem<T> host{random_values<T>(n, 11), random_values<T>(n, 12),
                                      random_values<T>(n, 13)};
  const auto A = Reference::to_device(exec, host);
  const Bands<T> view = bands(A);

  for (const auto band : {Band::lower, Band::diag, Band::upper}) {
    const Vector<T> marshaled("marshaled", size + 1);
    Kokkos::deep_copy(exec, marshaled, T(untouched));
    TiledTranspose{ReadBandPartitions<T>{view, band, rows},
                   WriteVectors<T>{{marshaled.data(), 1, partitions}},
                   partitions,
                   rows,
                   Adjacent::rows,
                   Adjacent::systems}
        .launch(exec, "Trikkos::test");
    const auto& source = band == Band::lower  ? host.lower
                         : band == Band::diag ? host.diag
                                              : host.upper;
    std::vector<T> expected(size + 1, T(untouched));
    for (std::int64_t i = 0; i < size; ++i) {
      const bool outside = band == Band::lower ? i == 0 : band == Band::upper && i == n - 1;
      expected[i % rows * partitions + i / rows] =
          i >= n ? T(band == Band::diag ? 1 : 0) : (outside ? T(0) : source[i]);
    }
    exec.fence();
    EXPECT_EQ(Reference::to_host(marshaled), expected);
  }

  // a vector with strides, there and back, which writes nothing but its n rows
  const Vector<T> b_buffer = Reference::to_device(exec, random_values<T>(2 * n, 14));
  const auto b_host = Reference::to_host(b_buffer);
  const Vector<T> marshaled("marshaled", size), x_buffer("x", 3 * n + 5);
  Kokkos::deep_copy(exec, x_buffer, T(untouched));
  TiledTranspose{ReadPartitions<T>{{b_buffer.data(), 2}, rows, n},
                 WriteVectors<T>{{marshaled.data(), 1, partitions}},
                 partitions,
                 rows,
                 Adjacent::rows,
                 Adjacent::systems}
      .launch(exec, "Trikkos::test");
  TiledTranspose{ReadVectors<T>{{marshaled.data(), 1, partitions}},
                 WritePartitions<T>{{x_buffer.data(), 3}, rows, n},
                 partitions,
                 rows,
                 Adjacent::systems,
                 Adjacent::rows}
      .launch(exec, "Trikkos::test");
  exec.fence();
  const auto marshaled_host = Reference::to_host(marshaled);
  std::vector<T> expected(size), expected_x(3 * n + 5, T(untouched));
  for (std::int64_t i = 0; i < n; ++i) {
    expected[i % rows * partitions + i / rows] = b_host[2 * i];
    expected_x[3 * i] = b_host[2 * i];
  }
  EXPECT_EQ(marshaled_host, expected);
  EXPECT_EQ(Reference::to_host(x_buffer), expected_x);
}

template <class T>
void marshal_all_partitions() {
  for (const std::int64_t rows : {2, 31, 32, 33, 100})
    for (const std::int64_t n : {1, 2, 64, 1023, 10000}) marshal_partitions<T>(n, rows);
}

// ---- the contract, and errors

void marshal_keeps_the_contract() {
  using namespace Test::Watching;
  TEST_EXECSPACE exec;
  if (exec.concurrency() > 1)  // an instance never used before; one OpenMP thread cannot be split
    exec = Kokkos::Experimental::partition_space(exec, std::vector<int>{1, 1}).back();
  const Trikkos::Workspace<double, TEST_EXECSPACE> prepares_team_launches(exec, 100, 1);
  const Vectors<double, Kokkos::LayoutRight> right("right", 100, 100), other("other", 100, 100);
  const Vectors<double, Kokkos::LayoutLeft> left("left", 100, 100);
  exec.fence();
  const auto trace = watch([&] {
    Trikkos::marshal(exec, right, left);
    Trikkos::marshal(exec, left, right);
    Trikkos::marshal(exec, right, other);
  });
  EXPECT_EQ(waits(trace), Strings{});
  EXPECT_EQ(trace.kernels.size(), 3u);
  for (const Event& kernel : trace.kernels) EXPECT_EQ(kernel.label, "Trikkos::marshal");
  EXPECT_EQ(foreign_kernels(trace, device_id(exec)), Strings{});

  const Vectors<double, Kokkos::LayoutRight> none("none", 0, 5);
  const auto nothing = watch([&] { Trikkos::marshal(exec, none, none); });
  EXPECT_TRUE(nothing.kernels.empty());
  EXPECT_EQ(waits(nothing), Strings{});

  EXPECT_FALSE(waits(watch([&] { exec.fence("seen"); })).empty());
  EXPECT_FALSE(waits(watch([&] { const Vector<double> v("seen", 3); })).empty());
}

void errors_of_marshal() {
  const TEST_EXECSPACE exec;
  const auto message = [&](const auto& from, const auto& to) {
    std::string text = "(no exception)";
    const auto trace = Test::Watching::watch([&] {
      try {
        Trikkos::marshal(exec, from, to);
      } catch (const std::invalid_argument& e) {
        text = e.what();
      }
    });
    return trace.kernels.empty() ? text : text + " (after a kernel was launched)";
  };
  const Vectors<double, Kokkos::LayoutRight> from("from", 3, 8);
  const auto to = [](std::int64_t systems, std::int64_t rows) {
    return Vectors<double, Kokkos::LayoutLeft>("to", systems, rows);
  };
  EXPECT_EQ(message(from, to(3, 7)),
            "Trikkos::marshal: to has 7 rows, expected 8 (from.extent(1))");
  EXPECT_EQ(message(from, to(4, 8)),
            "Trikkos::marshal: to has 4 systems, expected 3 (from.extent(0))");
  EXPECT_EQ(message(from, to(8, 3)),
            "Trikkos::marshal: to has 8 systems, expected 3 (from.extent(0))");
  EXPECT_EQ(message(from, to(0, 0)),
            "Trikkos::marshal: to has 0 systems, expected 3 (from.extent(0))");
  EXPECT_EQ(message(to(0, 0), to(0, 5)),
            "Trikkos::marshal: to has 5 rows, expected 0 (from.extent(1))");
  EXPECT_EQ(message(from, to(3, 8)), "(no exception) (after a kernel was launched)");
}

}  // namespace

TEST(TEST_CATEGORY, marshal_all_layouts_float) { marshal_all_layouts<float>(); }
TEST(TEST_CATEGORY, marshal_all_layouts_double) { marshal_all_layouts<double>(); }
TEST(TEST_CATEGORY, marshal_all_layouts_complex) { marshal_all_layouts<Kokkos::complex<double>>(); }
TEST(TEST_CATEGORY, marshal_there_and_back) {
  marshal_there_and_back<double>(100003, 3);
  marshal_there_and_back<double>(3, 100003);
  marshal_there_and_back<double>(1024, 1024);
  marshal_there_and_back<Kokkos::complex<float>>(517, 1030);
}
TEST(TEST_CATEGORY, marshal_comparison_notices_mistakes) { comparison_notices_mistakes(); }
TEST(TEST_CATEGORY, marshal_partitions_double) { marshal_all_partitions<double>(); }
TEST(TEST_CATEGORY, marshal_partitions_complex) {
  marshal_all_partitions<Kokkos::complex<float>>();
}
TEST(TEST_CATEGORY, marshal_keeps_the_contract) { marshal_keeps_the_contract(); }
TEST(TEST_CATEGORY, errors_of_marshal) { errors_of_marshal(); }
