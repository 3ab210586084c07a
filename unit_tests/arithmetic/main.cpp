// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether both passes of the partitioned solvers compute the same coefficients bit for bit, with
// the optimisation, contraction and vector instructions that this program was compiled for.
// CMakeLists.txt compiles it with many. Prints what differs; the exit status says whether any did.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <impl/partition/Trikkos_HostPartitions.hpp>
#include <impl/segmented/Trikkos_WideCarry.hpp>
#include <impl/spike/Trikkos_DiagonalPivoting.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace Trikkos::Impl;

template <class V>
using Number = std::remove_cvref_t<decltype(lane(V{}, 0))>;
template <class V>
constexpr int count = sizeof(V) / sizeof(Number<V>);

int failures = 0;

void expect(bool holds, const char* what, const char* type) {
  if (holds) return;
  std::printf("%s, %s: differs\n", what, type);
  ++failures;
}

/// Bit for bit, but any NaN is as good as another.
template <class V, class Words>
bool same(const Words* a, const Words* b, std::size_t words) {
  using Float = std::remove_cvref_t<decltype(lane(Real<V>{}, 0))>;
  const std::size_t numbers = words * sizeof(Words) / sizeof(Float);
  std::vector<Float> x(numbers), y(numbers);
  std::memcpy(x.data(), a, numbers * sizeof(Float));
  std::memcpy(y.data(), b, numbers * sizeof(Float));
  for (std::size_t i = 0; i < numbers; ++i)
    if (!(std::isnan(x[i]) && std::isnan(y[i])) && std::memcmp(&x[i], &y[i], sizeof(Float)) != 0)
      return false;
  return true;
}

/// Numbers that make pivots tie, vanish and nearly vanish.
template <class V>
class Draw {
 public:
  V operator()() {
    V v{};
    for (int l = 0; l < count<V>; ++l) {
      const double re = real(), im = real();
      if constexpr (is_complex_v<V>)
        set_lane(v, l, Number<V>(re, im));
      else
        set_lane(v, l, Number<V>(re));
      static_cast<void>(im);
    }
    return v;
  }
  Equation<V> row() {
    return scaled(Equation<V>{(*this)(), (*this)(), (*this)(), (*this)()}, true);
  }
  Equation<V, 2> row_of_five() {
    Equation<V, 2> e;
    for (V& a : e.a) a = (*this)();
    e.d = (*this)();
    return scaled(e, true);
  }

 private:
  double real() {
    const double u = std::generate_canonical<double, 53>(m_random) * 2 - 1;
    constexpr double special[] = {0, 1, -1, 0.5, 1e-8, 1 + 1e-7};
    const auto kind = m_random() % 12;
    return kind < 6 ? special[kind] : u;
  }
  std::mt19937_64 m_random{7};
};

/// What the two passes agree on after each row.
template <class V>
struct Coefficients {
  V p_top, p, q;
};

// Each in a function of its own: the compiler contracts as it likes in each.

template <class V>
[[gnu::noinline]] std::vector<Coefficients<V>> first_pass(const std::vector<Equation<V>>& rows) {
  std::vector<Coefficients<V>> seen;
  Segment<V> s = start_segment(rows[0], rows[1]);
  for (std::size_t k = 2; k < rows.size(); ++k) {
    carry(s, rows[k]);
    seen.push_back({s.top.p, s.bottom.p, s.bottom.q});
  }
  return seen;
}
template <class V>
[[gnu::noinline]] std::vector<Coefficients<V>> second_pass(const std::vector<Equation<V>>& rows) {
  std::vector<Coefficients<V>> seen;
  V used = constant<V>(0);
  FoldedPair<V> s = start_fold(rows[0], rows[1], constant<V>(0.3), constant<V>(-0.7));
  for (std::size_t k = 2; k < rows.size(); ++k) {
    const BackRow<V> back = fold(s, rows[k]);
    used -= back.q * s.Bp + back.r * s.Ap + back.f * s.Bq;  // to contract with, if it may
    seen.push_back({s.Ap, s.Bp, s.Bq});
  }
  asm volatile("" : : "m"(used));
  return seen;
}

template <class V>
[[gnu::noinline]] Segment<V> merged_once(const Segment<V>& left, const Segment<V>& right) {
  MergeNode<V> node;
  return merge(left, right, node);
}
template <class V>
[[gnu::noinline]] Segment<V> merged_again(const Segment<V>& left, const Segment<V>& right,
                                          MergeNode<V>& node) {
  const Segment<V> s = merge(left, right, node);
  for (V& word : node.g) word = word * s.bottom.p - s.top.l * s.bottom.l;
  return s;
}

template <class V>
void rotations_agree(const char* type) {
  Draw<V> draw;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<Equation<V>> rows(3 + trial % 64);
    for (auto& row : rows) row = draw.row();
    const auto first = first_pass(rows), second = second_pass(rows);
    expect(same<V>(first.data(), second.data(), first.size()), "carry", type);
    const Segment<V> left = start_segment(rows[0], rows[1]),
                     right = segment_of<V>({draw(), draw(), draw(), draw(), draw()},
                                           {draw(), draw(), draw(), draw(), draw()});
    MergeNode<V> node;
    const Segment<V> once = merged_once(left, right), again = merged_again(left, right, node);
    expect(same<V>(&once, &again, 1), "merge", type);
  }
}

/// The same for two diagonals on either side.
template <class V, int Outer>
[[gnu::noinline]] std::vector<V> wide_pass(const std::vector<Equation<V, 2>>& rows,
                                           CarriedRows<V, 2, Outer> carried) {
  std::vector<V> seen;
  V used = constant<V>(0);
  for (std::size_t k = 4; k < rows.size(); ++k) {
    carry<V, 2, Outer>(carried, rows[k]);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j <= i; ++j) seen.push_back(carried.row[i][carried.window + j]);
    used -= carried.row[4][carried.rhs] * seen.back() + carried.row[3][carried.rhs] * seen[0];
  }
  asm volatile("" : : "m"(used));
  return seen;
}
template <class V>
[[gnu::noinline]] Segment<V, 2> wide_merge(const Segment<V, 2>& left, const Segment<V, 2>& right,
                                           bool uses_node) {
  MergeNode<V, 2> node;
  const Segment<V, 2> s = merge(left, right, node);
  if (uses_node) {
    V used = constant<V>(0);
    for (const V& word : node.g) used -= word * s.w[0] + s.w[1] * s.w[2];
    asm volatile("" : : "m"(used));
  }
  return s;
}
template <class V>
void wide_carries_agree(const char* type) {
  Draw<V> draw;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Equation<V, 2>> rows(5 + trial % 64);
    for (auto& row : rows) row = draw.row_of_five();
    const auto equation = [&](int i) { return rows[i]; };
    V outer[4];
    for (V& v : outer) v = draw();
    const auto first = wide_pass<V, 4>(rows, start_rows<2, V>(equation)),
               second = wide_pass<V, 0>(rows, start_fold<2, V>(equation, outer));
    expect(same<V>(first.data(), second.data(), first.size()), "carry of four rows", type);
    Segment<V, 2> right;
    for (V& w : right.w) w = draw();
    const auto left = segment_of<2>(start_rows<2, V>(equation));
    const auto once = wide_merge(left, right, false), again = wide_merge(left, right, true);
    expect(same<V>(&once, &again, 1), "merge of eight rows", type);
  }
}

/// The same for SPIKE's partitions.
template <class V>
struct VectorRows {
  using value_type = V;
  using index_type = int;
  static constexpr bool ragged = false;

  const std::vector<Equation<V>>& rows;

  int length() const { return static_cast<int>(rows.size()); }
  int inner_rows() const { return length(); }
  void keep(int, const BackRow<V>&) const {}
};
template <class V, class State>
[[gnu::noinline]] std::vector<Coefficients<V>> spike_pass(const std::vector<Equation<V>>& rows,
                                                          State s) {
  std::vector<Coefficients<V>> seen;
  typename Findings<V>::Mask block{};
  for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
    block = magnitude(s.p) < magnitude(rows[k + 1].a);
    s.template eliminate<Trikkos::Pivoting::diagonal>(static_cast<std::int64_t>(k), block,
                                                      rows[k + 1]);
    seen.push_back({s.p, s.p, s.q});
  }
  return seen;
}
template <class V>
void spikes_agree(const char* type) {
  Draw<V> draw;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<Equation<V>> rows(2 + trial % 64);
    for (auto& row : rows) row = draw.row();
    const VectorRows<V> all{rows};
    const auto first = spike_pass<V>(rows, SpikeTips<V>(rows[0])),
               second =
                   spike_pass<V>(rows, SpikeFold<V, VectorRows<V>>(all, rows[0], constant<V>(0.3)));
    expect(same<V>(first.data(), second.data(), first.size()), "spike", type);
  }
}

/// The root that rotations start from is as good as its promise, and lets nothing bad pass.
template <class V>
void roots_are_rough(const char* type) {
  using T = Number<V>;
  using Limits = std::numeric_limits<T>;
  const auto root = [](T v) { return static_cast<double>(lane(rough_root(constant<V>(v)), 0)); };
  double worst = 0;
  for (int e = Limits::min_exponent - 1; e < Limits::max_exponent - 1; e += 2)
    for (int k = 0; k < 600; ++k) {  // from one power of four to the next
      const T v = std::ldexp(T(1 + k / 200.), e);
      worst = std::max(worst, std::abs(root(v) * std::sqrt(static_cast<double>(v)) - 1));
    }
  if (!(worst < 1e-4)) std::printf("error %.1e: ", worst);
  expect(worst < 1e-4, "rough root", type);
  expect(std::isinf(root(0)), "rough root of 0", type);
  expect(std::isnan(root(Limits::quiet_NaN())), "rough root of NaN", type);
  expect(!(root(Limits::infinity()) > 0), "rough root of Inf", type);  // NaN or 0
}

/// And what it is for: a matrix whose carried rows grew by the golden ratio a row under pivoting.
template <class T>
void advection_is_solved(const char* type) {
  constexpr std::int64_t n = 3000;
  const std::vector<T> lower(n, T(-1)), diag(n, T(1)), upper(n, T(1));
  std::vector<T> b(n), x(n);
  std::mt19937_64 random(3);
  std::vector<double> known(n);
  for (double& v : known) v = static_cast<float>(std::generate_canonical<double, 53>(random));
  for (std::int64_t i = 0; i < n; ++i)
    b[i] = T(static_cast<Real<T>>((i > 0 ? -known[i - 1] : 0) + known[i] +
                                  (i < n - 1 ? known[i + 1] : 0)));
  Trikkos::Impl::Bands<T> A;
  A.band[0] = {lower.data(), 1};
  A.band[1] = {diag.data(), 1};
  A.band[2] = {upper.data(), 1};
  A.n = n;
  for (const std::int64_t rows : {0, 2, 15, 66, 512}) {
    using Host = HostPasses<T, OrthogonalCarry>;
    const HostShape shape(OrthogonalCarry{}, n, rows, lane_count<T>);
    struct alignas(64) Line {
      char bytes[64];
    };
    std::vector<Line> storage(Host::storage_words(shape) * sizeof(T) / 64 + 1);
    std::int64_t words[Diagnosis::words];
    const Diagnosis diagnosis{words};
    diagnosis.reset();
    const Host solver{{Systems<T>(A, 1),
                       {b.data(), n, 1},
                       {x.data(), n, 1},
                       reinterpret_cast<T*>(storage.data()),
                       diagnosis,
                       false},
                      shape};
    for (std::int64_t g = 0; g < shape.groups; ++g) solver.reduce_group({0, 1}, g);
    solver.solve_groups(0);
    for (std::int64_t g = 0; g < shape.groups; ++g) solver.substitute_group({0, 1}, g);
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i)
      worst = std::max(worst, static_cast<double>(Kokkos::abs(x[i] - T(known[i]))));
    const double bound = 500. * std::numeric_limits<Real<T>>::epsilon();  // condition number 2
    if (!(worst <= bound)) std::printf("error %.1e, %d rows: ", worst, static_cast<int>(rows));
    expect(worst <= bound, "advection", type);
  }
}

/// Rows that are loaded together are those that are loaded one by one.
template <class T>
void loads_agree(const char* type) {
#if defined(__AVX__)
  constexpr int width = lane_count<T>, rows = rows_at_once<T>;
  for (const std::int64_t step : {rows, 7, 66, 264})
    for (const int offset : {0, 1, 3}) {
      std::vector<T> numbers(static_cast<std::size_t>(width * step + rows + offset));
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = T(i + 1);
      Lanes<T> loaded[rows];
      load_rows(numbers.data() + offset, step, loaded);
      bool same = true;
      for (int i = 0; i < rows; ++i)
        for (int l = 0; l < width; ++l) same &= loaded[i][l] == numbers[offset + l * step + i];
      expect(same, "loads", type);
    }
#else
  static_cast<void>(type);
#endif
}

/// Rows are scaled by the same powers of two in lanes as one by one.
template <class T>
void scales_agree(const char* type) {
  std::mt19937_64 random(5);
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       -T(0),
                       T(1),
                       T(-3),
                       Limits::min(),
                       Limits::denorm_min(),
                       Limits::max(),
                       -Limits::max() / 3,
                       Limits::infinity()};
  for (int trial = 0; trial < 2000; ++trial) {
    Equation<Lanes<T>> e{};
    const auto draw = [&] {
      if (random() % 3 == 0) return special[random() % std::size(special)];
      return std::ldexp(T(1 + random() % 1000 / 1000.), static_cast<int>(random() % 200) - 100);
    };
    for (int l = 0; l < lane_count<T>; ++l) {
      e.a[l] = draw();
      e.b[l] = draw();
      e.c[l] = draw();
      e.d[l] = draw();
    }
    const auto lanes = scaled(e, true);
    for (int l = 0; l < lane_count<T>; ++l) {
      const auto one = scaled(Equation<T>{e.a[l], e.b[l], e.c[l], e.d[l]}, true);
      const Equation<T> of_lane{lanes.a[l], lanes.b[l], lanes.c[l], lanes.d[l]};
      expect(same<T>(&one, &of_lane, 1), "scaled rows", type);
    }
  }
}

/// Lanes that are merged in a tree get bounds that fit those of their neighbours, to the last bit.
template <class T>
void lanes_meet(const char* type) {
  using V = Lanes<T>;
  constexpr int width = lane_count<T>;
  Draw<V> draw;
  for (int trial = 0; trial < 100; ++trial) {
    const Segment<V> s = segment_of<V>({draw(), draw(), draw(), draw(), draw()},
                                       {draw(), draw(), draw(), draw(), draw()});
    MergeNode<V> nodes{};
    MergeNode<T> last{};
    for (int k = 0; k < last.words; ++k) last.g[k] = T(Real<T>(k));
    const auto all =
        LaneTree<T, 1>::merge_all(s, nodes, true, Diagnosis{}, /* report */ false, 0, 1);
    LaneTree<T, 1>::put_last(nodes, last);
    const Bounds<T> ends{T(Real<T>(0.3)), T(Real<T>(-2)), T(Real<T>(5)), T(Real<T>(0.7))};
    const Bounds<V> bounds = LaneTree<T, 1>::spread(ends, nodes);
    const MergeNode<T> kept = LaneTree<T, 1>::last(nodes);
    expect(same<T>(&kept, &last, 1), "node of the last lane", type);
    static_cast<void>(all);
    for (int l = 0; l < width; ++l) {
      const Bounds<T> here = lane_of<T>(bounds, l);
      const Bounds<T> next = l + 1 < width ? lane_of<T>(bounds, l + 1) : ends;
      const T seen[] = {here.last, here.next}, there[] = {l + 1 < width ? next.prev : ends.last,
                                                          l + 1 < width ? next.first : ends.next};
      expect(same<T>(seen, there, 2), "bounds of lanes", type);
    }
    const Bounds<T> first = lane_of<T>(bounds, 0);
    expect(first.prev == ends.prev && first.first == ends.first, "bounds of the first lane", type);
  }
}

template <class T>
void all(const char* type) {
  lanes_meet<T>(type);
  rotations_agree<T>(type);
  rotations_agree<Lanes<T>>((std::string("lanes of ") + type).c_str());
  wide_carries_agree<T>(type);
  wide_carries_agree<Lanes<T>>((std::string("lanes of ") + type).c_str());
  spikes_agree<T>(type);
  spikes_agree<Lanes<T>>((std::string("lanes of ") + type).c_str());
}

}  // namespace

int main() {
  all<double>("double");
  loads_agree<double>("double");
  loads_agree<float>("float");
  scales_agree<double>("double");
  scales_agree<float>("float");
  roots_are_rough<double>("double");
  roots_are_rough<float>("float");
  roots_are_rough<Lanes<double>>("lanes of double");
  roots_are_rough<Lanes<float>>("lanes of float");
  all<Kokkos::complex<float>>("complex<float>");
  advection_is_solved<double>("double");
  std::printf("%d lanes of double, %s: %d differences\n", lane_count<double>,
              TRIKKOS_HAVE_FMA ? "fused" : "not fused", failures);
  return failures > 0;
}
