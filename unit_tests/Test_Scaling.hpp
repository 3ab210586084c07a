// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <Outcome.hpp>
#include <random>

/// \file
/// Options::scaling: rows and columns of very different size, by the error of the unknowns in the
/// units of their columns; and what scaling by powers of two must not change, bit by bit.

namespace Test::Scaled {

using Reference::HostSystem;
using Trikkos::Algorithm;
using Trikkos::Boundary;
using Trikkos::Gallery;
using Trikkos::Options;
using Trikkos::Pivoting;
using Trikkos::Scaling;
using Trikkos::Transpose;
using Trikkos::Impl::Real;
using Reason = Trikkos::Status::Reason;

class Random {
 public:
  explicit Random(std::uint64_t seed) : m_bits(seed) {}
  double uniform() { return std::ldexp(static_cast<double>(m_bits() >> 11), -52) - 1; }
  template <class T>
  T number() {
    if constexpr (Trikkos::Impl::is_complex_v<T>) {
      const Real<T> re = static_cast<Real<T>>(uniform()), im = static_cast<Real<T>>(uniform());
      return {re, im};
    } else {
      return static_cast<T>(uniform());
    }
  }

 private:
  std::mt19937_64 m_bits;
};

// ---- accuracy

enum class Kind { dominant, random };

/// Rows times 10^U(-rows, rows), columns times 10^U(-columns, columns).
struct Spread {
  double rows, columns;
};

template <class T>
struct Problem {
  HostSystem<T> A;
  std::vector<T> x, b;  // b = A x, rounded once
  std::vector<double> unit;

  /// With one seed the spreads of one kind differ in nothing but their rows' and columns' size.
  Problem(Kind kind, std::int64_t n, const Spread& spread, std::uint64_t seed, Boundary boundary)
      : A{std::vector<T>(n), std::vector<T>(n), std::vector<T>(n), boundary == Boundary::periodic},
        x(n) {
    Random random(seed);
    std::vector<double> row;
    for (std::int64_t i = 0; i < n; ++i) {
      row.push_back(std::pow(10, spread.rows * random.uniform()));
      unit.push_back(std::pow(10, spread.columns * random.uniform()));
    }
    const auto times = [&](const T& v, std::int64_t i, std::int64_t j) {
      return T(static_cast<Real<T>>(row[i] * unit[j]) * v);
    };
    for (std::int64_t i = 0; i < n; ++i) {
      const T l = random.template number<T>(), u = random.template number<T>();
      const T d = random.template number<T>();
      const T large = T(static_cast<Real<T>>(random.uniform() > 0 ? 3.2 : -3.2));
      A.lower[i] = times(l, i, (i + n - 1) % n);
      A.diag[i] = times(kind == Kind::dominant ? large : d, i, i);
      A.upper[i] = times(u, i, (i + 1) % n);
      x[i] = T(random.template number<T>() * static_cast<Real<T>>(1 / unit[i]));
    }
    b = Reference::multiply(A, x);
  }

  /// The largest error of an unknown in its column's unit; those of x are at most sqrt(2).
  double error(const std::vector<T>& of) const {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double e =
          static_cast<double>(Reference::modulus(Reference::widen(of[i]) - Reference::widen(x[i])) *
                              Reference::widen(unit[i]));
      if (!(e <= largest)) largest = e;
      if (std::isnan(e)) return std::numeric_limits<double>::infinity();
    }
    return largest;
  }
};

/// The worst of several matrices and partition sizes.
template <class T>
double worst_error(Kind kind, const Spread& spread, const Options& options, Boundary boundary) {
  double worst = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    const Problem<T> p(kind, 512, spread, seed, boundary);
    for (const std::int64_t partition_size : {0, 7, 15, 32, 66}) {
      if (partition_size > 0 && options.algorithm() != Algorithm::segmented) break;
      const auto r = solve(p.A, p.b, Options(options).partition_size(partition_size));
      EXPECT_TRUE(r.ok()) << r;
      worst = std::max(worst, p.error(r.x));
    }
  }
  return worst;
}

/// Within 10 times the error of the same matrices with rows and columns of one size.
template <class T>
void expect_as_unscaled(Kind kind, const Spread& spread, const Options& options,
                        Boundary boundary = Boundary::open) {
  SCOPED_TRACE(std::string(kind == Kind::dominant ? "dominant" : "random") + ", rows 10^+-" +
               std::to_string(spread.rows) + ", columns 10^+-" + std::to_string(spread.columns) +
               ", " + name(boundary) + ", " + describe(options));
  constexpr double epsilon = std::numeric_limits<Real<T>>::epsilon();
  const double unscaled = worst_error<T>(kind, {0, 0}, options, boundary);
  EXPECT_LE(worst_error<T>(kind, spread, options, boundary), 10 * std::max(unscaled, 2 * epsilon));
}

constexpr auto kinds = {Kind::dominant, Kind::random};

/// Rows by themselves need no more than the scaling that is the default.
TEST(TEST_CATEGORY, scaling_by_rows_takes_rows_of_any_size) {
  for (const Kind kind : kinds) {
    for (const int steps : {0, 2}) {
      expect_as_unscaled<double>(kind, {8, 0}, Options{}.refine(steps));
      expect_as_unscaled<double>(kind, {140, 0}, Options{}.refine(steps));
    }
    expect_as_unscaled<double>(kind, {140, 0}, Options{}, Boundary::periodic);
    expect_as_unscaled<Kokkos::complex<double>>(kind, {140, 0}, Options{});
    expect_as_unscaled<float>(kind, {15, 0}, Options{});
  }
}

/// Columns, too, with two steps of refinement; in float as many digits fewer.
TEST(TEST_CATEGORY, scaling_by_rows_and_refinement_take_columns) {
  const auto refined = Options{}.refine(2);
  for (const Kind kind : kinds) {
    for (const Spread& spread : {Spread{0, 8}, Spread{8, 8}}) {
      expect_as_unscaled<double>(kind, spread, refined);
      expect_as_unscaled<double>(kind, spread, refined, Boundary::periodic);
      expect_as_unscaled<Kokkos::complex<double>>(kind, spread, refined);
    }
    expect_as_unscaled<float>(kind, {3, 3}, refined);
  }
}

TEST(TEST_CATEGORY, scaling_by_columns_takes_columns_of_any_size) {
  for (const Kind kind : kinds) {
    for (const int steps : {0, 2}) {
      const auto options = Options{}.scaling(Scaling::columns).refine(steps);
      expect_as_unscaled<double>(kind, {0, 8}, options);
      expect_as_unscaled<double>(kind, {0, 140}, options);
      expect_as_unscaled<double>(kind, {0, 140}, options, Boundary::periodic);
      expect_as_unscaled<Kokkos::complex<double>>(kind, {0, 140}, options);
      expect_as_unscaled<float>(kind, {0, 15}, options);
    }
  }
  for (const Algorithm algorithm : {Algorithm::spike, Algorithm::pcr, Algorithm::thomas})
    expect_as_unscaled<double>(Kind::dominant, {0, 140},
                               Options{}.algorithm(algorithm).scaling(Scaling::columns).refine(2));
}

// ---- bit by bit

std::vector<Options> algorithms() {
  return {Options{}.algorithm(Algorithm::segmented),
          Options{}.algorithm(Algorithm::segmented).partition_size(7),
          Options{}.algorithm(Algorithm::spike),
          Options{}.spike({.pivoting = Pivoting::none}),
          Options{}.algorithm(Algorithm::pcr),
          Options{}.algorithm(Algorithm::thomas)};
}

template <class T>
std::vector<T> times(std::vector<T> v, const std::vector<Real<T>>& factor, std::int64_t shift = 0) {
  const auto n = static_cast<std::int64_t>(v.size());
  for (std::int64_t i = 0; i < n; ++i) v[i] = v[i] * factor[(i + n + shift) % n];
  return v;
}

/// 2^-20 to 2^20.
template <class T>
std::vector<Real<T>> powers_of_two(std::int64_t n, int seed) {
  Random random(seed);
  std::vector<Real<T>> powers;
  for (std::int64_t i = 0; i < n; ++i)
    powers.push_back(static_cast<Real<T>>(std::ldexp(1., static_cast<int>(20 * random.uniform()))));
  return powers;
}

constexpr auto transposes = {Transpose::none, Transpose::transpose, Transpose::conjugate_transpose};

/// A D y = b has y = D^-1 x to the last bit, D of powers of two.
template <class T>
void columns_are_scaled_away() {
  for (const std::int64_t n : {1, 2, 3, 17, 500}) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      for (const Transpose op : transposes) {
        for (Options options : algorithms()) {
          options.scaling(Scaling::columns).transpose(op);
          SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary) + ", " + describe(options));
          auto A = gallery<T>(Gallery::uniform_dominant, n, 3, boundary);
          const auto b = random_rhs<T>(n, 3);
          const auto x = solve(A, b, options);
          EXPECT_LE(x.eta, scaled<T>(1e-15));
          EXPECT_TRUE(x.ok()) << x;
          const auto D = powers_of_two<T>(n, 3);
          if (op == Transpose::none) {
            A = {times(A.lower, D, -1), times(A.diag, D), times(A.upper, D, 1), A.periodic};
          } else {
            A = {times(A.lower, D), times(A.diag, D), times(A.upper, D), A.periodic};
          }
          const auto y = solve(A, b, options);
          EXPECT_TRUE(y.ok()) << y;
          EXPECT_EQ(times(y.x, D), x.x);
        }
      }
    }
  }
}
TEST(TEST_CATEGORY, scaling_by_columns_is_exact) {
  columns_are_scaled_away<float>();
  columns_are_scaled_away<double>();
  columns_are_scaled_away<Kokkos::complex<double>>();
}

/// R A x = R b has the same x.
template <class T>
void rows_are_scaled_away() {
  for (const std::int64_t n : {1, 2, 3, 17, 500, 5000}) {
    for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
      for (Options options : algorithms()) {
        if (options.algorithm() != Algorithm::segmented && options.algorithm() != Algorithm::spike)
          continue;
        SCOPED_TRACE("n " + std::to_string(n) + ", " + name(boundary) + ", " + describe(options));
        const auto A = gallery<T>(Gallery::uniform_dominant, n, 3, boundary);
        const auto b = random_rhs<T>(n, 3);
        const auto R = powers_of_two<T>(n, 3);
        const HostSystem<T> scaled_A{times(A.lower, R), times(A.diag, R), times(A.upper, R),
                                     A.periodic};
        EXPECT_EQ(solve(scaled_A, times(b, R), options).x, solve(A, b, options).x);
      }
    }
  }
}
TEST(TEST_CATEGORY, scaling_by_rows_is_exact) {
  rows_are_scaled_away<float>();
  rows_are_scaled_away<double>();
  rows_are_scaled_away<Kokkos::complex<double>>();
}

/// Where rows and columns have their largest entry in [1, 2), on the diagonal, there is nothing to
/// scale.
TEST(TEST_CATEGORY, scaling_changes_nothing_in_a_balanced_matrix) {
  for (const Boundary boundary : {Boundary::open, Boundary::periodic}) {
    auto A = gallery(Gallery::uniform, 1000, 3, boundary);
    for (double& d : A.diag) d = 1.75 + 0.2 * d;
    const auto b = random_rhs(1000, 3);
    for (const Options& options : algorithms()) {
      SCOPED_TRACE(describe(options));
      const auto rows = solve(A, b, Options(options).scaling(Scaling::rows));
      EXPECT_EQ(solve(A, b, options).x, rows.x);  // the default
      const auto none = solve(A, b, Options(options).scaling(Scaling::none)).x;
      EXPECT_EQ(solve(A, b, Options(options).scaling(Scaling::columns)).x, none);
      // A device has a kernel of its own for the default tile with scaled rows.
      if (Trikkos::Impl::is_host_v<TEST_EXECSPACE> || options.partition_size() > 0) {
        EXPECT_EQ(none, rows.x);
      } else {
        EXPECT_LE(Reference::relative_difference(none, rows.x), 1e-14);
      }
    }
  }
}

// ---- columns: right-hand sides, and what is not a number

/// Many right-hand sides, in blocks, each unknown as if alone; with Plan and Workspace, twice, in
/// place.
TEST(TEST_CATEGORY, scaling_by_columns_of_many_right_hand_sides) {
  const TEST_EXECSPACE exec;
  constexpr std::int64_t n = 100, count = 300;
  const Problem<double> p(Kind::random, n, {0, 8}, 1, Boundary::periodic);
  const auto A = Reference::to_device(exec, p.A);
  const Kokkos::View<double**, TEST_EXECSPACE> b("b", count, n), x("x", count, n);
  for (Options options : {Options{}, Options{}.refine(2), Options{}.verify(1e-14)}) {
    options.scaling(Scaling::columns);
    SCOPED_TRACE(describe(options));
    Trikkos::Workspace work(exec, A, b, options);
    Trikkos::Plan plan(exec, A, options);
    for (int repeat = 0; repeat < 4; ++repeat) {
      for (std::int64_t k = 0; k < count; ++k)
        ::Test::copy(Kokkos::subview(b, k, Kokkos::ALL), Trikkos::gallery_rhs<double>(exec, n, k));
      if (repeat % 2)
        Trikkos::solve(exec, work, A, b, b);
      else
        Trikkos::solve(exec, plan, b, b);
      EXPECT_TRUE((repeat % 2 ? work.status(exec) : plan.status(exec)).ok());
      for (const std::int64_t k : {0, 1, 63, 64, 255, 256, 299}) {
        const auto found = Reference::to_host(Kokkos::subview(b, k, Kokkos::ALL));
        const auto alone = solve(p.A, random_rhs(n, k), options).x;
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_NEAR(found[i], alone[i], 1e-8 * std::abs(alone[i])) << "system " << k;
      }
    }
  }
}

TEST(TEST_CATEGORY, scaling_by_columns_flags_what_is_not_a_number) {
  for (Options options : algorithms()) {
    options.scaling(Scaling::columns);
    SCOPED_TRACE(describe(options));
    for (const Gallery type : {Gallery::nan_entry, Gallery::inf_entry, Gallery::zero_column})
      EXPECT_FALSE(solve(gallery(type, 100, 3), random_rhs(100, 3), options).ok()) << name(type);
    // y is finite, x = D y is not
    auto A = gallery(Gallery::uniform_dominant, 100, 3);
    for (auto* band : {&A.lower, &A.diag, &A.upper})
      for (double& v : *band) v = std::ldexp(v, -1000);
    auto b = random_rhs(100, 3);
    for (double& v : b) v = std::ldexp(v, 100);
    const auto r = solve(A, b, options);
    EXPECT_FALSE(is_finite(r.x));
    EXPECT_EQ(r.status.reason, Reason::not_finite) << r;
  }
}

}  // namespace Test::Scaled
