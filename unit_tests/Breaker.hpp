// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_BREAKER_HPP
#define TRIKKOS_TEST_BREAKER_HPP

#include <BreakerNumbers.hpp>
#include <BreakerSolvers.hpp>
#include <functional>

/// \file
/// The breaker: a search for matrices that a method solves badly without saying so. Random
/// matrices do not find them. Several climbers change entries of a matrix each, keep what does not
/// make the backward error smaller, and start anew when they are stuck; all their matrices of one
/// step are solved together. The numbers depend on the seed alone, not on time or threads.
///
///   const auto found = Breaker::search<double>({options, Level::call}, {.seed = 1});
///   EXPECT_LE(found.worst(), Breaker::promised<double>(method));

namespace Test::Breaker {

/// What kind of matrix a climber starts from.
enum class Mode { free, pattern, mixed, rows, columns };
constexpr Mode modes[] = {Mode::free, Mode::pattern, Mode::mixed, Mode::rows, Mode::columns};
constexpr const char* name(Mode mode) {
  constexpr const char* names[] = {"free", "pattern", "mixed", "rows", "columns"};
  return names[static_cast<int>(mode)];
}

/// A matrix as a climber changes it, of W diagonals on either side.
template <class T, int W = 1>
struct Genes {
  HostMatrix<T, W> A;
  std::vector<T> x;  // b = A x, or b itself
  bool x_is_b = false;
  std::vector<int> row_exponents, column_exponents;  // of powers of two; empty: none

  static Genes random(std::int64_t n, Boundary boundary, Mode mode, Random& random) {
    Genes g{{}, std::vector<T>(n), random.below(4) == 0, {}, {}};
    g.A.periodic = boundary == Boundary::periodic;
    const bool repeats = mode == Mode::pattern || (mode != Mode::free && random.below(2) == 0);
    const std::int64_t period = repeats ? 1 + random.below(4) : n;
    for (int j = -W; j <= W; ++j) {
      std::vector<T>& band = g.A.band(j);
      for (std::int64_t i = 0; i < n; ++i)
        band.push_back(i < period ? pick<T>(random) : T(band[i - period]));
    }
    g.new_x(random);
    const auto exponents = [&](double largest) {
      std::vector<int> e(n);
      for (int& v : e) v = static_cast<int>(largest * random.number());
      return e;
    };
    constexpr double range = std::numeric_limits<Trikkos::Impl::Real<T>>::max_exponent;
    if (mode == Mode::rows) g.row_exponents = exponents(0.3 * range);
    if (mode == Mode::columns) g.column_exponents = exponents(random.below(2) ? 27 : 0.3 * range);
    return g;
  }

  Problem<T, W> problem() const {
    Problem<T, W> p{A, x_is_b ? x : fast_multiply(A, x), row_exponents};
    if (column_exponents.empty()) return p;
    const std::int64_t n = A.size();
    for (int j = -W; j <= W; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        p.A.band(j)[i] = times_power(A.band(j)[i], column_exponents[Reference::wrapped(i + j, n)]);
    return p;
  }

  /// About as large a diagonal as makes pivoting unnecessary, smaller by a part `less` at most.
  void make_dominant(Random& random, double less = 0.2) {
    const auto n = static_cast<std::int64_t>(A.size());
    for (std::int64_t i = 0; i < n; ++i) {
      Trikkos::Impl::Real<T> sum = 0;
      for (int j = 1; j <= W; ++j) sum += Kokkos::abs(A.band(-j)[i]) + Kokkos::abs(A.band(j)[i]);
      const double more = random.below(2) ? 0 : 0.2 * random.number();
      A.diag[i] = T(sum) * T(1 + std::max(more, -less));
      if (random.below(4) == 0) A.diag[i] = -A.diag[i];
    }
  }

  void mutate(Random& random) {
    const auto n = static_cast<int>(A.size());
    auto& band = A.band(random.below(2 * W + 1) - W);
    const int first = random.below(n);
    const auto change = [&](T& v, double by) {
      v *= static_cast<Trikkos::Impl::Real<T>>(1 + by * random.number());
    };
    switch (random.below(9)) {
      case 0:
        band[first] = pick<T>(random);
        break;
      case 1:
        change(band[first], 0.1);
        break;
      case 2: {  // the same on a periodic pattern
        const int period = 1 + random.below(4);
        const T v = pick<T>(random);
        for (int i = random.below(period); i < n; i += period) band[i] = v;
        break;
      }
      case 3: {
        const int period = 1 + random.below(4);
        T factor(1);
        change(factor, 0.05);
        for (int i = random.below(period); i < n; i += period) band[i] *= factor;
        break;
      }
      case 4:
        x[first] = any_number<T>(random);
        break;
      case 5:
        new_x(random);
        break;
      case 6: {  // a block anew
        const int end = std::min(n, first + 1 + random.below(8));
        for (int i = first; i < end; ++i)
          for (int j = -W; j <= W; ++j) A.band(j)[i] = pick<T>(random);
        break;
      }
      case 7: {  // a block moves
        const int to = random.below(n), count = 1 + random.below(8);
        for (int i = 0; i < count && std::max(first, to) + i < n; ++i)
          for (int j = -W; j <= W; ++j) A.band(j)[to + i] = A.band(j)[first + i];
        break;
      }
      default:
        make_singular(first, std::min(n, first + 1 + random.below(n)), random);
    }
  }

 private:
  void new_x(Random& random) {
    const bool ones = random.below(2) == 0;
    for (T& v : x) v = ones && random.below(2) == 0 ? T(1) : any_number<T>(random);
  }
  /// Makes the last pivot of a block tiny, so that the block is nearly singular by itself.
  void make_singular(int first, int end, Random& random) {
    HostMatrix<T, W> U = A;  // eliminated without pivoting
    for (int i = first; i < end; ++i) {
      T product(0);  // what the pivot loses
      for (int k = std::max(first, i - W); k < i; ++k) {
        const T multiplier = U.band(k - i)[i] / U.diag[k];
        for (int column = k + 1; column < i; ++column)
          U.band(column - i)[i] -= multiplier * U.band(column - k)[k];
        product += multiplier * U.band(i - k)[k];
        for (int column = i + 1; column <= k + W; ++column)
          U.band(column - i)[i] -= multiplier * U.band(column - k)[k];
      }
      if (i > first && i == end - 1 && std::isfinite(Kokkos::abs(product)) &&
          Kokkos::abs(product) < 10)
        A.diag[i] = product + pick<T>(random) * T(random.below(2) ? 1e-3 : 0);
      U.diag[i] = A.diag[i] - product;
    }
  }
};

/// How long to search, and where.
struct Search {
  std::uint64_t seed = 1;
  int rounds = 6;                  // each of another size or boundary
  int climbers = 10;               // two of each mode
  int steps = 40;                  // in a round
  int patience = 2000;             // steps without progress before a climber starts anew
  std::int64_t largest = 1 << 20;  // rows
  std::function<bool()> stop = [] { return false; };
};

/// The worst that came to light.
template <class T, int W = 1>
struct Found {
  double worst_of[std::size(modes)] = {-1, -1, -1, -1, -1};  // by Mode; -1: nothing passed for ok
  std::int64_t evaluations = 0;
  Problem<T, W> problem;  // the worst of all

  double worst() const { return *std::max_element(std::begin(worst_of), std::end(worst_of)); }
};

template <class T, int W = 1>
class Climber {
 public:
  Climber(std::int64_t n, Boundary boundary, Mode mode, bool dominant, std::uint64_t seed,
          double less = 0.2)
      : m_n(n),
        m_boundary(boundary),
        m_mode(mode),
        m_dominant(dominant),
        m_less(less),
        m_random(seed) {
    start();
  }
  const Genes<T, W>& next() const { return m_next; }
  Mode mode() const { return m_mode; }

  /// Takes the step if it is not down, and proposes another one.
  void judge(double score, int patience) {
    m_stuck = score > m_score ? 0 : m_stuck + 1;
    if (m_stuck > patience) return start();
    if (score >= m_score) {
      m_score = score;
      m_best = m_next;
    } else {
      m_next = m_best;
    }
    m_next.mutate(m_random);
  }

 private:
  void start() {
    m_next = Genes<T, W>::random(m_n, m_boundary, m_mode, m_random);
    if (m_dominant) m_next.make_dominant(m_random, m_less);
    m_best = m_next;
    m_score = -1;
    m_stuck = 0;
  }
  std::int64_t m_n;
  Boundary m_boundary;
  Mode m_mode;
  bool m_dominant;  // to start with: others are not for the method
  double m_less;
  Random m_random;
  Genes<T, W> m_best, m_next;
  double m_score = -1;
  int m_stuck = 0;
};

/// Methods for dominant matrices, which find others out.
inline bool starts_dominant(const Method& m) {
  return algorithm_of(m) == Algorithm::factored || algorithm_of(m) == Algorithm::truncated;
}

/// Rows of the systems to try: two partitions and a bit, four, and many; where the method chooses
/// partitions itself, enough for the longest ones in all SIMD lanes of a host.
template <class T, int W>
std::int64_t system_size(const Method& m, int round) {
  constexpr bool host = Trikkos::Impl::is_host_v<TEST_EXECSPACE>;
  const std::int64_t given = m.options.partition_size();
  const bool partitions =
      algorithm_of(m) == Algorithm::segmented || algorithm_of(m) == Algorithm::spike;
  const std::int64_t rows = !partitions ? 40 : given > 0 ? given : host ? 66 : 15;
  const std::int64_t many = std::max<std::int64_t>(8 * rows, 64) - 1;
  const std::int64_t all_lanes = host ? Trikkos::Impl::lane_count<T> * 4 * rows + 1 : 1000;
  if (m.level == Level::plan_thousands) {  // longer than what threads have in registers
    constexpr std::int64_t longer[] = {1100, 1500, 3100};
    return longer[round % 3];
  }
  const std::int64_t sizes[] = {2 * rows + 3, 4 * rows, given > 0 ? many : all_lanes,
                                given > 0 ? many - 1 : many};
  return fitting<T, W>(sizes[round % 4], m);
}

/// Rounds of all climbers. Odd rounds are periodic.
template <class T, int W = 1>
Found<T, W> search(const Method& method, const Search& how) {
  Found<T, W> found;
  double worst = -1;
  for (int round = 0; round < how.rounds && !how.stop(); ++round) {
    const Boundary boundary = round % 2 ? Boundary::periodic : Boundary::open;
    const std::int64_t n = std::min(system_size<T, W>(method, round / 2), how.largest);
    Solver<T, W> solver(method, n, boundary, how.climbers);
    std::vector<Climber<T, W>> climbers;
    for (int k = 0; k < how.climbers; ++k)
      climbers.emplace_back(n, boundary, modes[k % std::size(modes)], starts_dominant(method),
                            1000003 * how.seed + 1009 * round + k);
    std::vector<Problem<T, W>> problems(how.climbers);
    for (int step = 0; step < how.steps && !how.stop(); ++step) {
      for (int k = 0; k < how.climbers; ++k) problems[k] = climbers[k].next().problem();
      const auto judged = solver(problems);
      found.evaluations += how.climbers;
      for (int k = 0; k < how.climbers; ++k) {
        const double score = judged[k].score();
        double& worst_of_mode = found.worst_of[static_cast<int>(climbers[k].mode())];
        worst_of_mode = std::max(worst_of_mode, score);
        if (score > worst) {
          worst = score;
          found.problem = problems[k];
        }
        climbers[k].judge(score, how.patience);
      }
    }
  }
  return found;
}

}  // namespace Test::Breaker

#endif
