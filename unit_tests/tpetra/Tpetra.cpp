// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests of Trikkos::tpetra: every rank runs all of them. Rank 1 has no rows, the others different
// numbers of them. Judged by the residual of each line, from loops on the host.

#include <gtest/gtest.h>

#include <Message.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Import.hpp>
#include <Trikkos.hpp>
#include <Trikkos_Distributed.hpp>
#include <Trikkos_Tpetra.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace {

using Teuchos::RCP;
using Teuchos::rcp;
using Matrix = Tpetra::CrsMatrix<>;
using Map = Matrix::map_type;
using Global = Matrix::global_ordinal_type;
using Vectors = Tpetra::MultiVector<>;
using Exec = Matrix::execution_space;
using Bands = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Lines = Trikkos::TpetraLines;

/// Between MPI and Kokkos, which the program starts, and the tests.
struct Start : testing::Environment {
  void SetUp() override { Tpetra::initialize(nullptr, nullptr); }
  void TearDown() override { Tpetra::finalize(); }
};
const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new Start);

int rank() { return Tpetra::getDefaultComm()->getRank(); }
int ranks() { return Tpetra::getDefaultComm()->getSize(); }
/// A number of this rank's own, 0 on rank 1.
std::int64_t own(std::int64_t n) { return rank() == 1 ? 0 : n + 2 * rank(); }

RCP<const Map> map_of(std::int64_t rows) {
  return rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                     static_cast<std::size_t>(rows), 0, Tpetra::getDefaultComm()));
}

/// Tridiagonal matrices that are neither symmetric nor the same, and not dominant.
auto matrices(std::int64_t count, std::int64_t n) {
  const Bands lower("lower", count, n), diag("diag", count, n), upper("upper", count, n);
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto t = static_cast<double>(7 * k + 3 * i + rank());
      lower(k, i) = std::sin(t);
      diag(k, i) = 0.3 * std::cos(2 * t);
      upper(k, i) = 1 + 0.5 * std::sin(5 * t);
    }
  return Trikkos::Tridiagonal{lower, diag, upper};
}
auto first_of(const Trikkos::Tridiagonal<Bands>& A) {
  const auto row = [](const Bands& band) { return Kokkos::subview(band, 0, Kokkos::ALL()); };
  return Trikkos::Tridiagonal{row(A.lower), row(A.diag), row(A.upper)};
}

RCP<Vectors> random(const RCP<const Map>& map, int columns) {
  const auto v = rcp(new Vectors(map, columns));
  v->randomize(-1, 1);
  return v;
}

double entry(const Vectors& v, std::int64_t row, int column) {
  return v.getVector(column)->getLocalViewHost(Tpetra::Access::ReadOnly)(row, 0);
}

/// The largest backward error of op(A) x = b of all lines and columns; of one matrix or of many.
double error(const Trikkos::Tridiagonal<Bands>& A, const Lines& lines, const Vectors& b,
             const Vectors& x, bool transposes = false) {
  double worst = 0;
  const std::int64_t n = lines.length(), after = lines.after();
  for (std::size_t j = 0; j < b.getNumVectors(); ++j)
    for (std::int64_t line = 0; line < lines.count(); ++line) {
      const std::int64_t k = A.diag.extent(0) == 1 ? 0 : line;
      const auto row = [&](std::int64_t i) {
        return (line / after * n + i) * after + line % after;
      };
      double residual = 0, scale = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        double r = entry(b, row(i), j), s = std::abs(r);
        const auto take = [&](std::int64_t at, double a) {
          if (at < 0 || at >= n) return;
          r -= a * entry(x, row(at), j);
          s += std::abs(a * entry(x, row(at), j));
        };
        take(i - 1, i == 0 ? 0 : transposes ? A.upper(k, i - 1) : A.lower(k, i));
        take(i, A.diag(k, i));
        take(i + 1, i + 1 == n ? 0 : transposes ? A.lower(k, i + 1) : A.upper(k, i));
        residual = std::max(residual, std::abs(r));
        scale = std::max(scale, s);
      }
      worst = std::max(worst, residual / scale);
    }
  return worst;
}
constexpr double small = 1e-14;

/// x = op^-1 b
template <class Operator>
RCP<Vectors> applied(const Operator& op, const Vectors& b,
                     Teuchos::ETransp mode = Teuchos::NO_TRANS) {
  const auto x = rcp(new Vectors(op.getRangeMap(), b.getNumVectors()));
  x->putScalar(std::numeric_limits<double>::quiet_NaN());  // must not be read
  op.apply(b, *x, mode);
  return x;
}

/// All axes of grids in 1, 2 and 3 dimensions, of which ranks have different parts.
std::vector<Lines> all_lines() {
  return {{{own(9)}, 0},       {{own(5), 8}, 1},    {{8, own(5)}, 0},
          {{own(3), 4, 7}, 2}, {{own(3), 7, 4}, 1}, {{7, 4, own(3)}, 0}};
}

TEST(Tpetra, Lines_OneMatrix) {
  for (const Lines& lines : all_lines()) {
    const auto A = matrices(1, lines.length());
    const Trikkos::Plan plan(Exec{}, first_of(A));
    const auto map = map_of(lines.count() * lines.length());
    const auto b = random(map, 3);
    EXPECT_LE(error(A, lines, *b, *applied(Trikkos::TpetraOperator(plan, map, lines), *b)), small);
    if (lines.count() == 1) {
      EXPECT_LE(error(A, lines, *b, *applied(Trikkos::TpetraOperator(plan, map), *b)), small);
    }
  }
}

TEST(Tpetra, Lines_OwnMatrices) {
  for (const Lines& lines : all_lines()) {
    const auto A = matrices(lines.count(), lines.length());
    const Trikkos::Plan plan(Exec{}, A);
    const auto map = map_of(lines.count() * lines.length());
    const auto b = random(map, 2);
    EXPECT_LE(error(A, lines, *b, *applied(Trikkos::TpetraOperator(plan, map, lines), *b)), small);
  }
}

TEST(Tpetra, Transposed) {
  const Lines lines{{own(5), 8}, 1};
  const auto A = matrices(lines.count(), 8);
  const Trikkos::Plan plan(Exec{}, A);
  const Trikkos::Plan of_transpose(Exec{}, A,
                                   Trikkos::Options{}.transpose(Trikkos::Transpose::transpose));
  const auto map = map_of(lines.count() * 8);
  const auto b = random(map, 2);
  const Trikkos::TpetraOperator without(plan, map, lines), op(plan, map, lines, of_transpose);
  EXPECT_TRUE(op.hasTransposeApply());
  EXPECT_FALSE(without.hasTransposeApply());
  EXPECT_LE(error(A, lines, *b, *applied(op, *b)), small);
  EXPECT_LE(error(A, lines, *b, *applied(op, *b, Teuchos::TRANS), true), small);
  EXPECT_LE(error(A, lines, *b, *applied(op, *b, Teuchos::CONJ_TRANS), true), small);
  EXPECT_EQ(::Test::message([&] { applied(without, *b, Teuchos::TRANS); }),
            "Trikkos::TpetraOperator::apply: mode is TRANS, of which there is no plan");
}

TEST(Tpetra, AlphaAndBeta) {
  const Lines lines{{own(5), 8}, 1};
  const Trikkos::Plan plan(Exec{}, first_of(matrices(1, 8)));
  const auto map = map_of(lines.count() * 8);
  const Trikkos::TpetraOperator op(plan, map, lines);
  const auto b = random(map, 2), y = random(map, 2), x = applied(op, *b);
  const auto expect = [&](const char* what, const Vectors& right, double alpha, double beta,
                          const Vectors& start) {
    Vectors result(start, Teuchos::Copy);
    op.apply(right, result, Teuchos::NO_TRANS, alpha, beta);
    for (std::int64_t i = 0; i < lines.count() * 8; ++i)
      for (int j = 0; j < 2; ++j) {
        const double solved = alpha == 0 ? 0 : alpha * entry(*x, i, j);
        const double kept = beta == 0 ? 0 : beta * entry(start, i, j);
        EXPECT_NEAR(entry(result, i, j), solved + kept, small * (1 + std::abs(solved))) << what;
      }
  };
  expect("2 x - 3 y", *b, 2, -3, *y);
  expect("x + y", *b, 1, 1, *y);
  expect("3 y", *b, 0, 3, *y);
  Vectors nan(map, 2);
  nan.putScalar(std::numeric_limits<double>::quiet_NaN());
  expect("2 x", *b, 2, 0, nan);
  expect("0", nan, 0, 0, nan);
  expect("y", nan, 0, 1, *y);
  Vectors same(*b, Teuchos::Copy);  // in place
  op.apply(same, same);
  EXPECT_EQ(same.getLocalLength(), x->getLocalLength());
  for (std::int64_t i = 0; i < lines.count() * 8; ++i)
    EXPECT_EQ(entry(same, i, 1), entry(*x, i, 1));
}

TEST(Tpetra, SomeColumns) {
  const Lines lines{{own(9)}, 0};
  const auto A = matrices(1, own(9));
  const auto map = map_of(own(9));
  const Trikkos::TpetraOperator op(Trikkos::Plan(Exec{}, first_of(A)), map);
  const auto b = random(map, 4), x = random(map, 4), before = rcp(new Vectors(*x, Teuchos::Copy));
  const Teuchos::Array<std::size_t> columns{0, 3};
  const auto some_b = b->subView(columns());
  const auto some_x = x->subViewNonConst(columns());
  EXPECT_FALSE(some_x->isConstantStride());
  op.apply(*some_b, *some_x);
  EXPECT_LE(error(A, lines, *some_b, *some_x), small);
  for (std::int64_t i = 0; i < own(9); ++i) EXPECT_EQ(entry(*x, i, 1), entry(*before, i, 1));
}

TEST(Tpetra, UpdatesWithThePlan) {
  const Lines lines{{own(5), 8}, 1};
  const Trikkos::Plan plan(Exec{}, matrices(lines.count(), 8));
  const auto map = map_of(lines.count() * 8);
  const Trikkos::TpetraOperator op(plan, map, lines);
  auto A = matrices(lines.count() + 1, 8);
  for (Bands* band : {&A.lower, &A.diag, &A.upper})
    *band = Kokkos::subview(*band, std::pair<int, int>(1, lines.count() + 1), Kokkos::ALL());
  plan.update(Exec{}, A);
  const auto b = random(map, 1);
  EXPECT_LE(error(A, lines, *b, *applied(op, *b)), small);
}

/// Lines along the axis that ranks divide, many or one; all matrices are the same.
TEST(Tpetra, LinesAcrossRanks) {
  const std::int64_t n = own(5), total = map_of(n)->getGlobalNumElements();
  const auto bands = Trikkos::toeplitz(Exec{}, n, 1., -0.3, 2.);
  for (const std::int64_t lines : {1, 6}) {
    const Trikkos::DistributedPlan plan(Exec{}, Trikkos::Distributed{MPI_COMM_WORLD, bands}, {},
                                        lines);
    const auto map = map_of(n * lines);
    const Trikkos::TpetraOperator op(plan, map, {{n, lines}, 0});
    const auto b = random(map, 2), x = applied(op, *b);
    // in one piece on each rank, which is judged by its own
    const auto everywhere =
        rcp(new Map(total * lines, 0, Tpetra::getDefaultComm(), Tpetra::LocallyReplicated));
    const Tpetra::Import<> gather(map, everywhere);
    Vectors all_b(everywhere, 2), all_x(everywhere, 2);
    all_b.doImport(*b, gather, Tpetra::INSERT);
    all_x.doImport(*x, gather, Tpetra::INSERT);
    const Bands lower("lower", 1, total), diag("diag", 1, total), upper("upper", 1, total);
    Kokkos::deep_copy(lower, 1);
    Kokkos::deep_copy(diag, -0.3);
    Kokkos::deep_copy(upper, 2);
    EXPECT_LE(error({lower, diag, upper}, {{total, lines}, 0}, all_b, all_x), small);
  }
}

// ---- the local block

/// Neighbours in the numbering of the whole, whose rows lie on ranks in the reverse order. Ranks
/// are coupled; a rank's block is tridiagonal.
struct Chain {
  RCP<const Map> map;
  RCP<Matrix> A;
  Trikkos::Tridiagonal<Bands> block;
};
Chain chain(std::int64_t rows) {
  const auto counted = map_of(rows);
  const auto total = static_cast<Global>(counted->getGlobalNumElements());
  Teuchos::Array<Global> own_rows;
  for (std::int64_t i = 0; i < rows; ++i)
    own_rows.push_back(total - 1 - counted->getGlobalElement(static_cast<int>(i)));
  const RCP<const Map> map = rcp(new Map(total, own_rows(), 0, Tpetra::getDefaultComm()));
  std::set<Global>
      needed;  // columns in ascending order, so that their numbers are not those of rows
  for (const Global row : own_rows)
    for (const Global column : {row - 1, row, row + 1})
      if (column >= 0 && column < total) needed.insert(column);
  const Teuchos::Array<Global> own_columns(needed.begin(), needed.end());
  const RCP<const Map> column_map =
      rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(), own_columns(), 0,
                  Tpetra::getDefaultComm()));
  const auto A = rcp(new Matrix(map, column_map, 3));
  const Bands lower("lower", 1, rows), diag("diag", 1, rows), upper("upper", 1, rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const Global row = own_rows[i];
    lower(0, i) = upper(0, i) = -1;
    diag(0, i) = 2.5;
    for (const Global column : {row - 1, row, row + 1})
      if (column >= 0 && column < total)
        A->insertGlobalValues(row, Teuchos::tuple(column),
                              Teuchos::tuple(column == row ? 2.5 : -1.));
  }
  A->fillComplete(map, map);
  return {map, A, {lower, diag, upper}};
}

TEST(Tpetra, LocalBlock) {
  const std::int64_t n = own(9);
  const Chain c = chain(n);
  const auto block = Trikkos::local_block(Exec{}, *c.A);
  ASSERT_EQ(block.rows(), n);
  ASSERT_EQ(block.columns, n);
  ASSERT_EQ(static_cast<std::int64_t>(block.entries.extent(0)), n == 0 ? 0 : 3 * n - 2);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = block.row_map(i); k < block.row_map(i + 1); ++k) {
      EXPECT_LE(std::abs(block.entries(k) - i), 1);
      EXPECT_EQ(block.values(k), block.entries(k) == i ? 2.5 : -1);
    }
  if (ranks() > 2 && rank() == 0) {
    EXPECT_GT(c.A->getLocalNumEntries(), block.entries.extent(0));
  }
  c.A->resumeFill();
  EXPECT_EQ(::Test::message([&] { Trikkos::local_block(Exec{}, *c.A); }),
            "Trikkos::local_block: A is not fill-complete");
}

/// Incomplete factors of a tridiagonal matrix are complete.
template <template <class, class> class Incomplete>
void expect_factors() {
  const Chain c = chain(own(9));
  const Incomplete<double, Exec> factors(Exec{}, Trikkos::local_block(Exec{}, *c.A));
  const Trikkos::TpetraOperator op(factors, c.map, {}, factors);
  const auto b = random(c.map, 3);
  const Lines lines{{own(9)}, 0};
  EXPECT_LE(error(c.block, lines, *b, *applied(op, *b)), small);
  EXPECT_LE(error(c.block, lines, *b, *applied(op, *b, Teuchos::TRANS)), small);
  c.A->scale(2);
  for (const Bands* band : {&c.block.lower, &c.block.diag, &c.block.upper})
    for (std::int64_t i = 0; i < own(9); ++i) (*band)(0, i) *= 2;
  factors.update(Exec{}, Trikkos::local_block(Exec{}, *c.A));
  EXPECT_LE(error(c.block, lines, *b, *applied(op, *b)), small);
}
TEST(Tpetra, IncompleteLu) { expect_factors<Trikkos::IncompleteLu>(); }
TEST(Tpetra, IncompleteCholesky) { expect_factors<Trikkos::IncompleteCholesky>(); }

TEST(Tpetra, Triangle) {
  const Chain c = chain(own(9));
  const Trikkos::TriangularPlan plan(
      Exec{}, Trikkos::csr_triangle(Trikkos::local_block(Exec{}, *c.A), Trikkos::Uplo::lower,
                                    Trikkos::Diag::non_unit));
  Kokkos::deep_copy(c.block.upper, 0);
  const auto b = random(c.map, 2);
  EXPECT_LE(error(c.block, {{own(9)}, 0}, *b, *applied(Trikkos::TpetraOperator(plan, c.map), *b)),
            small);
}

// ---- what is refused

TEST(Tpetra, RefusesWhatDoesNotFit) {
  const Trikkos::Plan plan(Exec{}, first_of(matrices(1, 8)));
  const Trikkos::Plan two(Exec{}, matrices(2, 8));
  const auto refused = [&](const auto& of, std::int64_t rows, const Lines& lines) {
    return ::Test::message([&] { Trikkos::TpetraOperator(of, map_of(rows), lines); });
  };
  const int last = ranks() - 1;
  const std::string on_last = ", on rank " + std::to_string(last);
  const auto rows_of = [&](std::int64_t n, std::int64_t of_last) {
    return rank() == last ? of_last : n;
  };
  EXPECT_EQ(refused(plan, rows_of(8, 7), {}),  // all are told what is wrong on the last
            "Trikkos::TpetraOperator: rows of the map are 7, expected 8 (the plan)" + on_last);
  EXPECT_EQ(
      refused(plan, rows_of(16, 17), {{2, 8}, 1}),
      "Trikkos::TpetraOperator: rows of the map are 17, expected 16 (lines.extents)" + on_last);
  EXPECT_EQ(refused(plan, 16, {{2, 8}, 0}),
            "Trikkos::TpetraOperator: rows of a line are 2, expected 8 (the plan), on rank 0");
  EXPECT_EQ(refused(plan, 16, {{2, 8}, 2}),
            "Trikkos::TpetraOperator: axis is 2, expected 0 to 1, on rank 0");
  EXPECT_EQ(refused(two, 24, {{3, 8}, 1}),
            "Trikkos::TpetraOperator: matrices of the plan are 2, expected 3 (lines.extents), on "
            "rank 0");
  EXPECT_EQ(refused(two, 8, {}),
            "Trikkos::TpetraOperator: matrices of the plan are 2, expected 1 (without lines), on "
            "rank 0");
  const Trikkos::IncompleteLu ilu(Exec{}, Trikkos::local_block(Exec{}, *chain(4).A));
  EXPECT_EQ(refused(ilu, 24, {{2, 4, 3}, 1}),
            "Trikkos::TpetraOperator: lines are those of a middle axis, expected the first or last "
            "(the plan), on rank 0");
  const Trikkos::Plan longer(Exec{}, first_of(matrices(1, 9)));
  EXPECT_EQ(::Test::message([&] { Trikkos::TpetraOperator(plan, map_of(8), {}, longer); }),
            "Trikkos::TpetraOperator: rows of the map are 8, expected 9 (the transposed plan), on "
            "rank 0");
}

TEST(Tpetra, RefusesOtherVectors) {
  const auto map = map_of(8), other = map_of(rank() == 0 ? 9 : 8), equal = map_of(8);
  const Trikkos::TpetraOperator op(Trikkos::Plan(Exec{}, first_of(matrices(1, 8))), map);
  const auto refused = [&](Vectors&& x, Vectors&& y) {
    return ::Test::message([&] { op.apply(x, y); });
  };
  EXPECT_EQ(refused(Vectors(other, 1), Vectors(map, 1)),
            "Trikkos::TpetraOperator::apply: the map of X is not that of the operator");
  EXPECT_EQ(refused(Vectors(map, 1), Vectors(other, 1)),
            "Trikkos::TpetraOperator::apply: the map of Y is not that of the operator");
  EXPECT_EQ(refused(Vectors(map, 2), Vectors(map, 3)),
            "Trikkos::TpetraOperator::apply: Y has 3 columns, expected 2 (X)");
  EXPECT_NO_THROW(applied(op, *random(equal, 1)));
}

}  // namespace
