// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_TEST_TRIANGLEBREAKER_HPP
#define TRIKKOS_TEST_TRIANGLEBREAKER_HPP

#include <BreakerNumbers.hpp>
#include <TriangularSolves.hpp>

/// \file
/// The breaker for sparse triangles: a search for patterns and values whose rows have the largest
/// backward errors. Each climber changes a small triangle; those of all climbers are the blocks of
/// one matrix, so that a plan judges them together, and algorithms take turns.

namespace Test::Breaker {

/// What a triangle is stored as and solved with.
struct TriangleForm {
  Trikkos::Uplo uplo;
  Trikkos::Diag diag;
  Trikkos::Transpose op;
};
inline std::vector<TriangleForm> triangle_forms() {
  std::vector<TriangleForm> r;
  for (const auto op : all_ops)
    for (const auto diag : {Trikkos::Diag::non_unit, Trikkos::Diag::unit})
      for (const auto uplo : {Trikkos::Uplo::lower, Trikkos::Uplo::upper})
        r.push_back({uplo, diag, op});
  return r;
}

/// How large the numbers of a climber may be: about 1, any that products of three allow, or any,
/// subnormal ones and, in b, Inf and NaN too.
enum class Range { plain, wide, all };
constexpr int range_count = 3;

template <class T>
class TriangleGenes {
  using Real = Trikkos::Impl::Real<T>;
  using Limits = std::numeric_limits<Real>;

 public:
  static constexpr int size = 20;

  TriangleGenes(Range range, const TriangleForm& form, Random& random)
      : m_range(range), m_form(form) {
    for (int i = 0; i < size; ++i) {
      m_entries.push_back({i, i, pivot(random)});
      m_b.push_back(right(random));
    }
    for (int k = random.below(3 * size); k > 0; --k) add_entry(random);
  }

  void change(Random& random) {
    for (int k = 1 + random.below(3); k > 0; --k) change_once(random);
  }

  /// Whether the library can divide by all of the diagonal, and so must not say anything.
  bool is_divisible() const {
    T sum[size]{};
    for (const Entry& e : m_entries)
      if (e.row == e.column) sum[e.row] += e.value;
    if (m_form.diag == Trikkos::Diag::unit) return true;
    return std::all_of(sum, sum + size, [](const T& d) {
      const Real most = Trikkos::Impl::magnitude(d);
      return Trikkos::Impl::finite_probe(d) == 0 && most >= 4 * Limits::min();
    });
  }

  /// As rows of A behind those that it has, and of b.
  void append_to(HostTriangle<T>& A, std::vector<T>& b) const {
    const int first = A.rows();
    for (int i = 0; i < size; ++i) {
      for (const Entry& e : m_entries)
        if (e.row == i) A.add(first + e.column, e.value);
      A.end_row();
    }
    b.insert(b.end(), m_b.begin(), m_b.end());
  }

 private:
  struct Entry {
    int row, column;
    T value;
  };

  Real scale(Random& random) const {
    if (m_range == Range::plain) return 1;
    const double most =
        m_range == Range::wide ? Limits::max_exponent / 6. : 1.05 * Limits::max_exponent;
    return static_cast<Real>(std::ldexp(1., static_cast<int>(most * random.number())));
  }
  T value(Random& random) const {
    const T v = random.below(2) ? pick<T>(random) : any_number<T>(random);
    const T r = v * scale(random);
    return Trikkos::Impl::finite_probe(r) == 0 ? r : v;
  }
  T pivot(Random& random) const {
    while (true) {
      const T v = value(random);
      if (Trikkos::Impl::magnitude(v) >= 4 * Limits::min()) return v;
    }
  }
  T right(Random& random) const {
    if (m_range == Range::all && random.below(100) == 0)
      return random.below(2) ? T(Limits::infinity()) : T(Limits::quiet_NaN());
    return value(random);
  }
  void add_entry(Random& random) {
    const int i = random.below(size), j = random.below(size);
    const bool is_lower = m_form.uplo == Trikkos::Uplo::lower;
    m_entries.push_back({is_lower ? std::max(i, j) : std::min(i, j),
                         is_lower ? std::min(i, j) : std::max(i, j), value(random)});
  }
  /// Another number, or another last digit, power of two or sign.
  void change_number(T& v, const T& other, Random& random) const {
    const T before = v;
    switch (random.below(4)) {
      case 0:
        v = other;
        break;
      case 1:
        v += v * Real(Limits::epsilon() * (random.below(9) - 4));
        break;
      case 2:
        v = v * Real(random.below(2) ? 2 : 0.5);
        break;
      default:
        v = -v;
    }
    if (!(Trikkos::Impl::finite_probe(v) == 0)) v = before;
  }
  void change_once(Random& random) {
    const int at = random.below(static_cast<int>(m_entries.size()));
    Entry& e = m_entries[at];
    const int row = random.below(size);
    switch (random.below(8)) {
      case 0:
        return add_entry(random);
      case 1:  // another part of the same place, which may cancel it
        return m_entries.push_back(
            {e.row, e.column, random.below(2) ? T(-e.value) : value(random)});
      case 2:
        if (m_entries.size() > size) m_entries.erase(m_entries.begin() + at);
        return;
      case 3:
        std::swap(e, m_entries[random.below(static_cast<int>(m_entries.size()))]);
        return;
      case 4:
      case 5:
        return change_number(m_b[row], right(random), random);
      default:
        return change_number(e.value, value(random), random);
    }
  }

  Range m_range;
  TriangleForm m_form;
  std::vector<Entry> m_entries;
  std::vector<T> m_b;
};

/// Row by row, what a solution is worth: the error of rows with a finite x, as a part of its bound
/// (what a finite x that needs Inf or NaN makes too large); HUGE_VAL for what is not finite though
/// substitution in long double stays away from overflow; zero for other rows that are not finite.
template <class T>
std::vector<double> judge_rows(const HostTriangle<T>& A, Trikkos::Transpose op,
                               const std::vector<T>& x, const std::vector<T>& b) {
  using Real = Trikkos::Impl::Real<T>;
  const int n = A.rows();
  std::vector<std::vector<std::pair<int, T>>> needed(n);
  A.for_each([&](int i, int j, const T& v) {
    if (op == Trikkos::Transpose::none)
      needed[i].push_back({j, v});
    else
      needed[j].push_back({i, v});
  });
  // In sums of moduli: an upper bound of all that substitution computes.
  const long double most = std::numeric_limits<Real>::max() / 8;
  std::vector<long double> size(n);
  const bool is_forward = (A.uplo == Trikkos::Uplo::lower) == (op == Trikkos::Transpose::none);
  for (int e = 0; e < n; ++e) {
    const int i = is_forward ? e : n - 1 - e;
    long double sum = long_modulus(b[i]), diagonal = 0, parts = 0;
    LongSum<T> d;
    for (const auto& [j, v] : needed[i]) {
      if (j == i) {
        d.add(v, T(1));
        parts += long_modulus(v);
      } else {
        sum += long_modulus(v) * size[j];
      }
    }
    diagonal = std::sqrt(d.square());
    size[i] = std::max({sum, parts, sum / diagonal, 1 / diagonal});
    if (!(size[i] <= most)) size[i] = HUGE_VALL;
  }
  auto r = row_errors(A, op, x, b);
  for (int i = 0; i < n; ++i)
    if (!(Trikkos::Impl::finite_probe(x[i]) == 0)) r[i] = size[i] <= most ? HUGE_VAL : 0;
  return r;
}

struct TriangleSearch {
  std::uint64_t seed = 1;
  int climbers = 60, steps = 40;
};

/// The largest errors found by climbers of each range.
struct TriangleFound {
  double worst[range_count] = {};
  std::int64_t evaluations = 0, flagged = 0;
  bool agree = true;  // all algorithms on the last matrices, but for which NaN is which
};

template <class T, class Exec>
TriangleFound search_triangles(const Exec& exec, const TriangleForm& form,
                               const TriangleSearch& how) {
  struct Climber {
    TriangleGenes<T> genes, next;
    double score = -1;
    int stuck = 0;
  };
  constexpr int patience = 50;
  Random random(how.seed);
  const auto range = [](int c) { return static_cast<Range>(c % range_count); };
  const auto made = [&](int c) {
    while (true) {
      const TriangleGenes<T> genes(range(c), form, random);
      if (genes.is_divisible()) return genes;
    }
  };
  std::vector<Climber> climbers;
  for (int c = 0; c < how.climbers; ++c) {
    const auto genes = made(c);
    climbers.push_back({genes, genes});
  }

  TriangleFound found;
  HostTriangle<T> A;
  std::vector<T> b, x;
  const auto solve_with = [&](Trikkos::TriangularAlgorithm algorithm) {
    const Trikkos::TriangularPlan plan(
        exec, on_device<Exec>(A),
        Trikkos::TriangularOptions{}.algorithm(algorithm).transpose(form.op));
    x = solve(exec, plan, b);
    if (!plan.status(exec).ok()) ++found.flagged;
  };
  const auto algorithms = algorithms_of<Exec>();
  for (int step = 0; step < how.steps; ++step) {
    A = {};
    A.uplo = form.uplo;
    A.diag = form.diag;
    b.clear();
    for (const Climber& climber : climbers) climber.next.append_to(A, b);
    solve_with(algorithms[step % algorithms.size()]);
    const auto errors = judge_rows(A, form.op, x, b);
    for (int c = 0; c < how.climbers; ++c) {
      Climber& climber = climbers[c];
      const auto first = errors.begin() + c * TriangleGenes<T>::size;
      const double score = *std::max_element(first, first + TriangleGenes<T>::size);
      double& worst = found.worst[static_cast<int>(range(c))];
      worst = std::max(worst, score);
      ++found.evaluations;
      climber.stuck = score > climber.score ? 0 : climber.stuck + 1;
      if (score >= climber.score) {
        climber.score = score;
        climber.genes = climber.next;
      }
      if (climber.stuck > patience) {
        climber.genes = climber.next = made(c);
        climber.score = -1;
        continue;
      }
      climber.next = climber.genes;
      climber.next.change(random);
      if (!climber.next.is_divisible()) climber.next = climber.genes;
    }
  }
  std::vector<T> first;
  for (const auto algorithm : algorithms) {
    solve_with(algorithm);
    for (T& v : x)
      if (v != v) v = T(std::nan(""));
    if (first.empty()) first = x;
    found.agree &= same_bits(x, first);
  }
  return found;
}

}  // namespace Test::Breaker

#endif
