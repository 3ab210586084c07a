// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <MatrixFiles.hpp>
#include <Message.hpp>
#include <TemporaryFile.hpp>
#include <Trikkos_CsrTriangle.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

// Every form of Matrix Market files into compressed rows and arrays, and back.
// Test_MatrixMarket.hpp has bands and vectors.

namespace {

using ::Test::TemporaryFile;
using Complex = Kokkos::complex<double>;
using Symmetry = Trikkos::MatrixMarketSymmetry;
template <class T>
using Csr = Trikkos::HostCsrMatrix<T>;

/// The entries by place.
template <class T>
using Entries = std::map<std::pair<std::int64_t, std::int64_t>, T>;

/// Also checks that rows are sorted and places are there once.
template <class T>
Entries<T> entries_of(const Csr<T>& A) {
  Entries<T> all;
  EXPECT_EQ(A.row_map(0), 0);
  EXPECT_EQ(A.entries.extent(0), static_cast<std::size_t>(A.row_map(A.rows())));
  EXPECT_EQ(A.values.extent(0), A.entries.extent(0));
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t k = A.row_map(i); k < A.row_map(i + 1); ++k) {
      EXPECT_LT(k > A.row_map(i) ? A.entries(k - 1) : -1, A.entries(k));
      all[{i, A.entries(k)}] = A.values(k);
    }
  }
  return all;
}

template <class T>
Csr<T> csr(std::int64_t rows, std::int64_t columns, const Entries<T>& all) {
  Csr<T> A{decltype(Csr<T>::row_map)("row_map", rows + 1),
           decltype(Csr<T>::entries)("entries", all.size()),
           decltype(Csr<T>::values)("values", all.size()), columns};
  std::int64_t k = 0;
  for (const auto& [at, value] : all) {
    A.entries(k) = static_cast<std::int32_t>(at.second);
    A.values(k++) = value;
    for (std::int64_t i = at.first; i < rows; ++i) A.row_map(i + 1) = k;
  }
  return A;
}

template <class T>
void expect_entries(const std::string& header, const std::string& text, std::int64_t columns,
                    const Entries<T>& expected) {
  const TemporaryFile file("%%MatrixMarket matrix " + header + "\n" + text);
  const auto A = Trikkos::read_csr<T>(file.path());
  EXPECT_EQ(A.columns, columns) << header;
  EXPECT_EQ(entries_of(A), expected) << header;
}

/// The text of the std::runtime_error without the path.
template <class Body>
std::string failure(const std::string& path, const Body& body) {
  try {
    body();
  } catch (const std::runtime_error& error) {
    const std::string what = error.what();
    return what.starts_with(path) ? what.substr(path.size()) : what;
  }
  return "no exception";
}

/// A matrix with entries of all sizes, some rows empty, some long, in one of the symmetries.
template <class T>
Entries<T> random_entries(std::int64_t n, std::int64_t count, Symmetry symmetry) {
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> number(-1, 1);
  Entries<T> all;
  for (std::int64_t k = 0; k < count; ++k) {
    auto i = static_cast<std::int64_t>(generator() % n),
         j = static_cast<std::int64_t>(generator() % n);
    if (k % 10 == 0) i = n / 2;
    T value(static_cast<Trikkos::Impl::Real<T>>(std::ldexp(number(generator), int(k % 200) - 100)));
    if constexpr (Trikkos::Impl::is_complex_v<T>) {
      if (i != j || symmetry == Symmetry::symmetric) value = T(value.real(), number(generator));
    }
    if (symmetry == Symmetry::skew_symmetric && i == j) continue;
    all[{i, j}] = value;
    if (symmetry == Symmetry::general || i == j) continue;
    all[{std::min(i, j), std::max(i, j)}] = Trikkos::Impl::mirrored(symmetry, value);
    all[{std::max(i, j), std::min(i, j)}] = value;
  }
  return all;
}

template <class T>
void expect_round_trip(Symmetry symmetry) {
  const auto all = random_entries<T>(60, 500, symmetry);
  const TemporaryFile file;
  Trikkos::write_csr(file.path(), csr<T>(60, 60, all), symmetry);
  EXPECT_NE(file.text().find(name(symmetry)), std::string::npos);
  EXPECT_EQ(entries_of(Trikkos::read_csr<T>(file.path())), all) << name(symmetry);
  Entries<T> pattern;
  for (const auto& [at, value] : all) pattern[at] = T(1);
  if (symmetry == Symmetry::skew_symmetric) return;
  Trikkos::write_csr_pattern(file.path(), csr<T>(60, 60, all), symmetry);
  EXPECT_EQ(entries_of(Trikkos::read_csr<T>(file.path())), pattern) << name(symmetry);
}

}  // namespace

TEST(TEST_CATEGORY, matrix_market_forms_coordinate) {
  expect_entries<double>("coordinate real general", "2 3 3\n2 3 1.5\n1 1 -2\n2 1 0\n", 3,
                         {{{0, 0}, -2}, {{1, 0}, 0}, {{1, 2}, 1.5}});
  expect_entries<double>("coordinate integer general", "3 2 1\n3 2 -7\n", 2, {{{2, 1}, -7}});
  expect_entries<float>("coordinate pattern general", "1 2 2\n1 2\n1 1\n", 2,
                        {{{0, 0}, 1.f}, {{0, 1}, 1.f}});
  expect_entries<Complex>("coordinate complex general", "1 1 1\n1 1 1 -2\n", 1,
                          {{{0, 0}, Complex(1, -2)}});
  expect_entries<double>("coordinate real symmetric", "2 2 2\n2 1 3\n2 2 4\n", 2,
                         {{{0, 1}, 3}, {{1, 0}, 3}, {{1, 1}, 4}});
  expect_entries<double>("coordinate integer skew-symmetric", "2 2 1\n2 1 3\n", 2,
                         {{{0, 1}, -3}, {{1, 0}, 3}});
  expect_entries<double>("coordinate pattern symmetric", "2 2 1\n2 1\n", 2,
                         {{{0, 1}, 1}, {{1, 0}, 1}});
  expect_entries<Complex>("coordinate complex hermitian", "2 2 2\n1 1 5 0\n2 1 1 2\n", 2,
                          {{{0, 0}, 5}, {{0, 1}, Complex(1, -2)}, {{1, 0}, Complex(1, 2)}});
  expect_entries<double>("coordinate real general", "3 4 0\n", 4, {});
  expect_entries<double>("coordinate real general", "0 0 0\n", 0, {});
}

TEST(TEST_CATEGORY, matrix_market_forms_array) {
  expect_entries<double>("array real general", "2 3\n1\n2\n0\n4\n5\n-0\n", 3,
                         {{{0, 0}, 1}, {{1, 0}, 2}, {{1, 1}, 4}, {{0, 2}, 5}});
  expect_entries<double>("array integer symmetric", "2 2\n1\n2\n3\n", 2,
                         {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 2}, {{1, 1}, 3}});
  expect_entries<double>(
      "array real skew-symmetric", "3 3\n1\n2\n3\n", 3,
      {{{0, 1}, -1}, {{1, 0}, 1}, {{0, 2}, -2}, {{2, 0}, 2}, {{1, 2}, -3}, {{2, 1}, 3}});
  expect_entries<Complex>(
      "array complex hermitian", "2 2\n1 0\n2 3\n4 0\n", 2,
      {{{0, 0}, 1}, {{0, 1}, Complex(2, -3)}, {{1, 0}, Complex(2, 3)}, {{1, 1}, 4}});

  const TemporaryFile file("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
  const auto A = Trikkos::read_array<double>(file.path());
  EXPECT_EQ(A(0, 0), 1);
  EXPECT_EQ(A(0, 1), 2);
  EXPECT_EQ(A(1, 0), 2);
  EXPECT_EQ(A(1, 1), 3);
  file.write("%%MatrixMarket matrix array real skew-symmetric\n1 1\n");
  EXPECT_EQ(Trikkos::read_array<double>(file.path())(0, 0), 0);
  file.write("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  EXPECT_EQ(failure(file.path(), [&] { Trikkos::read_array<double>(file.path()); }),
            ":2: the format is 'coordinate', expected 'array'");
}

// Entries of one place add up; in a pattern they are one.
TEST(TEST_CATEGORY, matrix_market_forms_repeated) {
  expect_entries<double>("coordinate real symmetric", "2 2 4\n2 1 1\n1 1 5\n2 1 2\n2 1 4\n", 2,
                         {{{0, 0}, 5}, {{0, 1}, 7}, {{1, 0}, 7}});
  expect_entries<Complex>("coordinate complex general", "1 2 3\n1 2 1 1\n1 1 2 2\n1 2 1 -3\n", 2,
                          {{{0, 0}, Complex(2, 2)}, {{0, 1}, Complex(2, -2)}});
  expect_entries<double>("coordinate pattern general", "1 1 2\n1 1\n1 1\n", 1, {{{0, 0}, 1}});
  const TemporaryFile file(
      "%%MatrixMarket matrix coordinate real general\n3 3 3\n"
      "1 1 1\n2 3 1e308\n2 3 1e308\n");
  EXPECT_EQ(failure(file.path(), [&] { Trikkos::read_csr<double>(file.path()); }),
            ": the entries of one place in row 2 add up to more than fits");
}

TEST(TEST_CATEGORY, matrix_market_forms_round_trip) {
  expect_round_trip<double>(Symmetry::general);
  expect_round_trip<double>(Symmetry::symmetric);
  expect_round_trip<double>(Symmetry::skew_symmetric);
  expect_round_trip<Complex>(Symmetry::general);
  expect_round_trip<Complex>(Symmetry::symmetric);
  expect_round_trip<Complex>(Symmetry::skew_symmetric);
  expect_round_trip<Complex>(Symmetry::hermitian);

  // rectangular, and from a device
  using Exec = TEST_EXECSPACE;
  const Entries<double> all = {{{0, 4}, 0.1}, {{2, 0}, 5e-324}, {{2, 1}, -1e300}};
  const auto A = csr<double>(3, 5, all);
  const auto on_device = [](const auto& v) {
    return Kokkos::create_mirror_view_and_copy(Exec(), v);
  };
  const Trikkos::CsrMatrix B{on_device(A.row_map), on_device(A.entries), on_device(A.values), 5};
  const TemporaryFile file;
  Trikkos::write_csr(file.path(), B);
  EXPECT_EQ(file.text(),
            "%%MatrixMarket matrix coordinate real general\n3 5 3\n"
            "1 5 0.1\n3 1 5e-324\n3 2 -1e+300\n");
  EXPECT_EQ(entries_of(Trikkos::read_csr<double>(file.path())), all);
  Trikkos::write_csr(file.path(), Csr<double>{});
  EXPECT_EQ(file.text(), "%%MatrixMarket matrix coordinate real general\n0 0 0\n");

  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", 2, 3);
  for (int i = 0; i < 6; ++i) x.data()[i] = 1. / (i + 1);
  Trikkos::write_array(file.path(), x);
  const auto y = Trikkos::read_array<double>(file.path());
  ASSERT_EQ(y.extent(0), 2u);
  ASSERT_EQ(y.extent(1), 3u);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(y(i, j), x(i, j));
  }
}

TEST(TEST_CATEGORY, matrix_market_forms_refuses_to_write) {
  const TemporaryFile file;
  const auto refusal = [&](const auto& A, Symmetry symmetry) {
    return ::Test::message([&] { Trikkos::write_csr(file.path(), A, symmetry); });
  };
  const auto pair = [](int i, int j, const char* what) {
    const std::string a = std::to_string(i) + "," + std::to_string(j),
                      b = std::to_string(j) + "," + std::to_string(i);
    return "Trikkos::write_csr: A(" + a + ") and A(" + b + ") do not belong to a matrix that is " +
           what;
  };
  const auto A = csr<double>(3, 3, {{{0, 1}, 2}, {{1, 0}, 2}, {{2, 0}, 1}});
  EXPECT_EQ(refusal(A, Symmetry::symmetric), pair(2, 0, "symmetric"));
  EXPECT_EQ(refusal(A, Symmetry::skew_symmetric), pair(1, 0, "skew-symmetric"));
  EXPECT_EQ(refusal(csr<double>(3, 3, {{{0, 2}, 1}}), Symmetry::symmetric),
            pair(2, 0, "symmetric"));
  EXPECT_EQ(
      refusal(csr<double>(2, 2, {{{1, 1}, 1}}), Symmetry::skew_symmetric),
      "Trikkos::write_csr: A(1,1) cannot be on the diagonal of a matrix that is skew-symmetric");
  EXPECT_EQ(refusal(csr<Complex>(1, 1, {{{0, 0}, Complex(0, 1)}}), Symmetry::hermitian),
            "Trikkos::write_csr: A(0,0) cannot be on the diagonal of a matrix that is hermitian");
  EXPECT_EQ(refusal(csr<double>(2, 3, {}), Symmetry::symmetric),
            "Trikkos::write_csr: A is 2 x 3, expected a square matrix (symmetric)");
  auto bad = csr<double>(2, 1, {{{0, 0}, 1}, {{1, 1}, 2}});
  EXPECT_EQ(refusal(bad, Symmetry::general),
            "Trikkos::write_csr: entries(1) is 1, expected 0 to 0");
  bad.row_map(1) = 3;
  EXPECT_EQ(refusal(bad, Symmetry::general),
            "Trikkos::write_csr: row_map(1) is 3, expected 0 to 2");
  bad.row_map(0) = 1;
  EXPECT_EQ(refusal(bad, Symmetry::general),
            "Trikkos::write_csr: row_map(0) is 1, expected 0 to 0");
  EXPECT_EQ(::Test::message(
                [&] { Trikkos::write_csr_pattern(file.path(), A, Symmetry::skew_symmetric); }),
            "Trikkos::write_csr_pattern: a pattern cannot be skew-symmetric");
}

// The same matrix wherever the text is cut, with whatever lines a file may have.
TEST(TEST_CATEGORY, matrix_market_forms_borders_of_chunks) {
  const auto all = random_entries<double>(200, 1000, Symmetry::general);
  std::vector<std::string> lines;
  for (const auto& [at, value] : all) {
    char text[100];
    std::snprintf(text, sizeof text, "%d %d\t%.17g", int(at.first) + 1, int(at.second) + 1, value);
    lines.push_back(text);
  }
  std::shuffle(lines.begin(), lines.end(), std::mt19937_64(3));
  std::string text = "%%MatrixMarket matrix coordinate real general\n% header\n200 200 " +
                     std::to_string(lines.size()) + "\r\n";
  const char* const ends[] = {"\n",
                              "\r\n",
                              "  \n",
                              "\n\n",
                              "\n% comment\n",
                              "\n"
                              " \t\r\n%\n"};
  for (std::size_t k = 0; k < lines.size(); ++k) {
    text += (k % 7 == 0 ? "  " : "") + lines[k] + (k + 1 < lines.size() ? ends[k % 6] : "");
  }
  const TemporaryFile file(text);
  for (const std::size_t chunk : {1, 2, 3, 5, 17, 64, 1000, 65536}) {
    EXPECT_EQ(entries_of(Trikkos::Impl::read_csr<double>(file.path(), chunk)), all) << chunk;
  }
  const std::int64_t last = std::count(text.begin(), text.end(), '\n') + 1;
  file.write(text + " 1");
  for (const std::size_t chunk : {1, 100, 65536}) {
    EXPECT_EQ(failure(file.path(), [&] { Trikkos::Impl::read_csr<double>(file.path(), chunk); }),
              ":" + std::to_string(last) + ": expected the end of the line, got '1'");
  }
}

// Repeated entries add up in the order of the file, in the image of a place, too.
TEST(TEST_CATEGORY, matrix_market_forms_order_of_sums) {
  std::string text = "%%MatrixMarket matrix coordinate real skew-symmetric\n50 50 60000\n";
  Entries<double> expected;
  std::mt19937_64 generator(1);
  for (int k = 0; k < 60000; ++k) {
    const auto i = static_cast<std::int64_t>(1 + generator() % 49),
               j = static_cast<std::int64_t>(generator() % i);
    const auto digits = static_cast<int>(generator() % 2000001) - 1000000;
    text += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(digits) +
            "e-6\n";
    expected[{i, j}] += digits / 1e6;
    expected[{j, i}] -= digits / 1e6;
  }
  const TemporaryFile file(text);
  for (const std::size_t chunk : {1000, 65536}) {
    EXPECT_EQ(entries_of(Trikkos::Impl::read_csr<double>(file.path(), chunk)), expected);
  }
}

TEST(TEST_CATEGORY, matrix_market_forms_csr_triangle) {
  const TemporaryFile file("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  const auto A = Trikkos::read_csr<double>(file.path());
  const auto L = Trikkos::csr_triangle(A, Trikkos::Uplo::lower);
  EXPECT_EQ(L.rows(), 2);
  EXPECT_EQ(L.values.data(), A.values.data());
}

#if defined(TRIKKOS_HAVE_ZLIB)

TEST(TEST_CATEGORY, matrix_market_forms_gzip) {
  const auto all = random_entries<double>(100, 2000, Symmetry::general);
  const TemporaryFile file("", ".mtx.gz"), text;
  Trikkos::write_csr(file.path(), csr<double>(100, 100, all));
  Trikkos::write_csr(text.path(), csr<double>(100, 100, all));
  EXPECT_TRUE(file.text().starts_with("\x1f\x8b"));
  EXPECT_LT(file.text().size(), text.text().size());
  for (const std::size_t chunk : {1000, 65536}) {
    EXPECT_EQ(entries_of(Trikkos::Impl::read_csr<double>(file.path(), chunk)), all);
  }
  const auto read = [&] {
    return failure(file.path(), [&] { Trikkos::read_csr<double>(file.path()); });
  };
  const std::string whole = file.text();
  file.write(whole.substr(0, whole.size() / 2));
  EXPECT_EQ(read(), ": cannot be read: zlib: unexpected end of file");
  file.write(whole.substr(0, 3));
  EXPECT_EQ(read(), ": cannot be read: zlib: unexpected end of file");
  std::string damaged = whole;
  damaged[damaged.size() - 8] ^= 1;
  file.write(damaged);
  EXPECT_EQ(read(), ": cannot be read: zlib: incorrect data check");
  file.write(whole + whole);  // gzip's files may be put together
  const std::string count = std::to_string(all.size());
  EXPECT_EQ(read(), ":" + std::to_string(all.size() + 4) +
                        ": expected the end of the file after the " + count +
                        " entries that line 2 promises, got '100 100 " + count + "'");
  file.write(text.text());  // the name does not matter
  EXPECT_EQ(entries_of(Trikkos::read_csr<double>(file.path())), all);
}

#else

TEST(TEST_CATEGORY, matrix_market_forms_gzip) {
  const TemporaryFile file("\x1f\x8b\x08", ".mtx.gz");
  EXPECT_EQ(failure(file.path(), [&] { Trikkos::read_csr<double>(file.path()); }),
            ":1: the file is compressed, expected text: Trikkos was compiled without zlib "
            "(TRIKKOS_HAVE_ZLIB), so unpack it with gunzip");
  EXPECT_EQ(failure(file.path(), [&] { Trikkos::write_csr(file.path(), Csr<double>{}); }),
            ": cannot be compressed: Trikkos was compiled without zlib (TRIKKOS_HAVE_ZLIB), "
            "expected a name without .gz");
}

#endif

TEST(TEST_CATEGORY, matrix_market_forms_files) {
  const ::Test::MatrixFiles files;
  if (files.paths.empty()) GTEST_SKIP() << files.why_none();
  for (const auto& path : files.paths) {
    const auto A = Trikkos::read_csr<double>(path.string());
    std::printf("%-40s %8lld rows %9lld entries\n", path.filename().c_str(),
                static_cast<long long>(A.rows()), static_cast<long long>(A.row_map(A.rows())));
    EXPECT_GT(A.rows(), 0) << path;
  }
}
