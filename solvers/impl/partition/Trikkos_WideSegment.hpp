// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_WIDESEGMENT_HPP
#define TRIKKOS_IMPL_WIDESEGMENT_HPP

#include <impl/partition/Trikkos_Segment.hpp>
#include <impl/partition/Trikkos_Staircase.hpp>

/// \file
/// Segments of matrices with W > 1 diagonals on either side: 2W rows over (x_prev, u, v, x_next),
/// where each stands for W unknowns, in this order those before the partition, its first, its last
/// and those after it. Row i knows x_prev, u and the first i + 1 of (v, x_next).
///
/// A partition of m < 2W rows has unknowns that are among its first and its last ones, or last ones
/// that lie before it. Each pair of names of one unknown is a row, 1 -1; with the m rows of the
/// partition these are 2W again.

namespace Trikkos::Impl {

/// One row of the system: the sum of a[j] x(k - W + j) is d.
template <class V, int W>
struct Equation {
  V a[2 * W + 1], d;
};

template <class V, int W>
struct Segment {
  static constexpr int words = 3 * W * (2 * W + 1);
  V w[words];

  /// Where row i begins: 2W coefficients of (x_prev, u), the right-hand side, i + 1 of (v, x_next).
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int start(int i) {
    return i * (2 * W + 1) + i * (i + 1) / 2;
  }
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int rhs(int i) { return start(i) + 2 * W; }
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int length(int i) { return 2 * W + 2 + i; }
};

/// x_k = f - sum of q[j] x_(k+1+j)
template <class V, int W>
struct BackRow {
  V q[2 * W], f;
};

/// The values around and at the ends of a segment, from left to right: W before it, its first W,
/// its last W and W after it.
template <class V, int W>
struct Bounds {
  V x[4 * W];
};
template <class V, int W, class Word>
requires(W > 1) KOKKOS_FORCEINLINE_FUNCTION Bounds<V, W> bounds_from(const Word& word) {
  Bounds<V, W> b;
  TRIKKOS_UNROLL(4 * W)
  for (int k = 0; k < 4 * W; ++k) b.x[k] = word(k);
  return b;
}
template <class V, int W, class Word>
KOKKOS_FORCEINLINE_FUNCTION void put_bounds(const Word& word, const Bounds<V, W>& b) {
  TRIKKOS_UNROLL(4 * W)
  for (int k = 0; k < 4 * W; ++k) word(k) = b.x[k];
}

template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Real<V> finite_probe(const Bounds<V, W>& b) {
  Real<V> probe = finite_probe(b.x[W]);
  for (int k = W + 1; k < 3 * W; ++k) probe += finite_probe(b.x[k]);
  return probe;
}

/// As for one diagonal.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> scaled(const Equation<V, W>& e, bool scale_rows) {
  KOKKOS_IF_ON_HOST((if (!scale_rows) {
    stay_a_branch();
    return e;
  }))
  auto field = exponent_field(e.a[0]);
  TRIKKOS_UNROLL(2 * W)
  for (int j = 1; j < 2 * W + 1; ++j) field = larger_words(field, exponent_field(e.a[j]));
  auto s = scale_for<Real<V>>(field);
  KOKKOS_IF_ON_DEVICE((s = scale_rows ? s : constant<Real<V>>(1);))
  Equation<V, W> r;
  TRIKKOS_UNROLL(2 * W + 1)
  for (int j = 0; j < 2 * W + 1; ++j) r.a[j] = e.a[j] * s;
  r.d = e.d * s;
  return r;
}

/// A partition of no rows.
template <class V, int W>
requires(W > 1) KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> identity_segment() {
  using S = Segment<V, W>;
  S s;
  TRIKKOS_UNROLL(S::words)
  for (int k = 0; k < S::words; ++k) s.w[k] = constant<V>(0);
  TRIKKOS_UNROLL(2 * W)
  for (int i = 0; i < 2 * W; ++i) {
    s.w[S::start(i) + i] = constant<V>(-1);
    s.w[S::start(i + 1) - 1] = constant<V>(1);
  }
  return s;
}

template <class Mask, class V, int W>
KOKKOS_FORCEINLINE_FUNCTION void select_segment(const Mask& mask, Segment<V, W>& s,
                                                const Segment<V, W>& other) {
  for (int k = 0; k < Segment<V, W>::words; ++k) s.w[k] = select(mask, other.w[k], s.w[k]);
}

template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Real<V> finite_probe(const Segment<V, W>& s) {
  Real<V> probe = finite_probe(s.w[0]);
  for (int k = 1; k < Segment<V, W>::words; ++k) probe += finite_probe(s.w[k]);
  return probe;
}
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION bool is_finite(const Segment<V, W>& s) {
  return finite_probe(s) == 0;
}

/// The rows of two neighbours as one staircase, outside (x_prev, u) of the left one, in the window
/// the unknowns where they meet and (v, x_next) of the right one; and the 2W unknowns where they
/// meet, eliminated.
///
/// By so many `Threads`, each of which has some of the columns that rotations do not depend on: of
/// the 2W outside, and of the last 2W, that with its number and every `Threads`-th behind. All else
/// each of them has, and the same.
///
/// `Folded`: x_prev and u of the left one are known, and in its right-hand sides. Their columns and
/// their words are not looked at; all else is the same, bit for bit.
template <class V, int W, int Threads = 1, bool Folded = false>
class MeetingRows {
  static constexpr int half = 2 * W, each = half / Threads, outside = Folded ? 0 : each;
  static_assert(half % Threads == 0);
  using S = Segment<V, W>;
  using Rows = Staircase<V, 2 * half, outside, half + each>;
  static constexpr int rhs = Rows::rhs, window = Rows::window, last = window + half;

 public:
  /// `left(k)` and `right(k)`: their words.
  template <class Left, class Right>
  KOKKOS_FORCEINLINE_FUNCTION MeetingRows(const Left& left, const Right& right, int thread = 0)
      : m_thread(thread) {
    TRIKKOS_UNROLL(half)
    for (int i = 0; i < half; ++i) {
      V(&top)[Rows::columns] = m_rows.row[i];
      TRIKKOS_UNROLL(each)
      for (int c = 0; c < outside; ++c) top[c] = left(S::start(i) + number(c));
      top[rhs] = left(S::rhs(i));
      TRIKKOS_UNROLL(half)
      for (int j = 0; j <= i; ++j) top[window + j] = left(S::rhs(i) + 1 + j);

      V(&bottom)[Rows::columns] = m_rows.row[half + i];
      bottom[rhs] = right(S::rhs(i));
      TRIKKOS_UNROLL(half)
      for (int j = 0; j < half; ++j) bottom[window + j] = right(S::start(i) + j);
      TRIKKOS_UNROLL(each)
      for (int c = 0; c < each && c <= i; ++c)
        bottom[last + c] = knows(i, c) ? right(S::rhs(i) + 1 + number(c)) : constant<V>(0);
    }
  }
  /// node.put(k, word) is called for the words of a `MergeNode`. Returned is the smallest square.
  template <bool Scaled, class Node>
  KOKKOS_FORCEINLINE_FUNCTION Real<V> eliminate(Node& node) {
    Real<V> least = constant<Real<V>>(1);
    for_constants<0, half>([&](auto t) {
      m_rows.template eliminate<Scaled, t>(t == 0 ? half : 2 * half, least);
      const V(&pivot)[Rows::columns] = m_rows.row[2 * half - 1 - t];
      constexpr int known = Folded ? 0 : half, to = MergeNode<V, W>::start(t, known),
                    inner = to + 1 + known, outer = inner + half - 1 - t;
      if (m_thread == 0) {
        node.put(to, pivot[rhs]);
        TRIKKOS_UNROLL(half)
        for (int j = t + 1; j < half; ++j) node.put(inner + j - t - 1, pivot[window + j]);
      }
      TRIKKOS_UNROLL(each)
      for (int c = 0; c < outside; ++c) node.put(to + 1 + number(c), pivot[c]);
      TRIKKOS_UNROLL(each)
      for (int c = 0; c < each; ++c) node.put(outer + number(c), pivot[last + c]);
    });
    return least;
  }
  /// put(k, word) for the words of the segment that is left.
  template <class Put>
  KOKKOS_FORCEINLINE_FUNCTION void put_segment(const Put& put) const {
    TRIKKOS_UNROLL(half)
    for (int i = 0; i < half; ++i) {
      const V(&from)[Rows::columns] = m_rows.row[i];
      TRIKKOS_UNROLL(each)
      for (int c = 0; c < outside; ++c) put(S::start(i) + number(c), from[c]);
      if (m_thread == 0) put(S::rhs(i), from[rhs]);
      TRIKKOS_UNROLL(each)
      for (int c = 0; c < each && c <= i; ++c)
        if (knows(i, c)) put(S::rhs(i) + 1 + number(c), from[last + c]);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION int number(int c) const {
    return Threads == 1 ? c : c * Threads + m_thread;
  }
  /// Whether row i of a segment knows that one of (v, x_next).
  KOKKOS_FORCEINLINE_FUNCTION bool knows(int i, int c) const {
    return i >= (c + 1) * Threads - 1 || number(c) <= i;
  }

  Rows m_rows;
  int m_thread;
};
/// `Folded`: as above.
template <bool Scaled, bool Folded = false, class V, int W, class Node>
requires(W > 1) KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> merge_rows(const Segment<V, W>& left,
                                                                     const Segment<V, W>& right,
                                                                     Node& node, Real<V>& least) {
  MeetingRows<V, W, 1, Folded> rows([&](int k) { return left.w[k]; },
                                    [&](int k) { return right.w[k]; });
  least = rows.template eliminate<Scaled>(node);
  Segment<V, W> s;
  rows.put_segment([&](int k, const V& v) { s.w[k] = v; });
  return s;
}
/// On a device always scaled: registers have no room for what would be merged once more.
template <bool Folded = false, class V, int W, class Node>
requires(W > 1)
    KOKKOS_FORCEINLINE_FUNCTION Segment<V, W> merge(const Segment<V, W>& left,
                                                    const Segment<V, W>& right, Node& node) {
  Real<V> least;
  KOKKOS_IF_ON_HOST(
      (const Segment<V, W> merged = merge_rows<false, Folded>(left, right, node, least);
       if (is_safe(least)) return merged;))
  return merge_rows<true, Folded>(left, right, node, least);
}
/// What the unknowns outside, once they are known, add to the right-hand sides.
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION void fold(Segment<V, W>& s, const V* outer) {
  using S = Segment<V, W>;
  TRIKKOS_UNROLL(2 * W)
  for (int i = 0; i < 2 * W; ++i) {
    V& f = s.w[S::rhs(i)];
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) f = fused(-s.w[S::start(i) + j], outer[j], f);
  }
}

/// The unknowns where two segments met, `x`, from left to right. `Folded`: of those around them,
/// only what is on the right.
template <class V, int W, bool Folded = false>
struct MeetingPoint {
  static constexpr int half = 2 * W, outside = Folded ? 0 : half;
  V x[half];

  /// First what does not wait for other unknowns: 2W sums side by side.
  template <class Words>
  KOKKOS_FORCEINLINE_FUNCTION MeetingPoint(const Bounds<V, W>& b, const Words& g) {
    TRIKKOS_UNROLL(half)
    for (int k = 0; k < half; ++k) {
      const int left = start(k) + 1, right = left + outside + half - 1 - k;
      x[k] = g(left - 1);
      TRIKKOS_UNROLL(half)
      for (int j = 0; j < outside; ++j) x[k] = fused(-g(left + j), b.x[j], x[k]);
      TRIKKOS_UNROLL(half)
      for (int j = 0; j < half; ++j) x[k] = fused(-g(right + j), b.x[half + j], x[k]);
    }
    TRIKKOS_UNROLL(half)
    for (int k = half - 2; k >= 0; --k) {
      const int inner = start(k) + 1 + outside;
      TRIKKOS_UNROLL(half)
      for (int j = k + 1; j < half; ++j) x[k] = fused(-g(inner + j - k - 1), x[j], x[k]);
    }
  }
  /// The bounds of the left and of the right segment.
  KOKKOS_FORCEINLINE_FUNCTION Bounds<V, W> left(const Bounds<V, W>& b) const {
    Bounds<V, W> r = b;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) r.x[2 * W + j] = x[j];
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION Bounds<V, W> right(const Bounds<V, W>& b) const {
    Bounds<V, W> r = b;
    TRIKKOS_UNROLL(2 * W)
    for (int j = 0; j < 2 * W; ++j) r.x[j] = x[j];
    return r;
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int start(int k) {
    return MergeNode<V, W>::start(k, outside);
  }
};
template <class V, int W, class Words>
KOKKOS_FORCEINLINE_FUNCTION void descend(Bounds<V, W>& b, const Words& g, bool right) {
  const MeetingPoint<V, W> met(b, g);
  b = right ? met.right(b) : met.left(b);
}
template <class V, int W>
KOKKOS_FORCEINLINE_FUNCTION Bounds<V, W> unchain(Bounds<V, W>& b, const MergeNode<V, W>& node) {
  const MeetingPoint<V, W> met(b, node);
  const Bounds<V, W> last = met.right(b);
  b = met.left(b);
  return last;
}

/// All unknowns of as many rows.
template <class V, int size>
KOKKOS_FORCEINLINE_FUNCTION void solve_dense(Staircase<V, size, 0, size, size>& rows,
                                             V (&x)[size]) {
  Real<V> least = constant<Real<V>>(1);
  for_constants<0, size - 1>([&](auto t) { rows.template eliminate<true, t>(size, least); });
  const V(&left)[rows.columns] = rows.row[0];
  x[size - 1] = product(left[rows.rhs], reciprocal(left[rows.columns - 1]));
  for_constants<1, size>([&](auto i) {
    constexpr int t = size - 1 - i;
    const V(&pivot)[rows.columns] = rows.row[i];
    x[t] = pivot[rows.rhs];
    TRIKKOS_UNROLL(size)
    for (int j = t + 1; j < size; ++j) x[t] = fused(-pivot[rows.window + j], x[j], x[t]);
  });
}

/// The unknowns at the ends, from the one segment that is left. Open: nothing lies outside.
/// Periodic: the last unknowns come before the first, and the first after the last.
template <class V, int W>
KOKKOS_INLINE_FUNCTION Bounds<V, W> solve_root(const Segment<V, W>& s, bool periodic) {
  using S = Segment<V, W>;
  constexpr int half = 2 * W;
  const V zero = constant<V>(0);
  const auto wrap = [&](const V& v) { return periodic ? v : zero; };
  Staircase<V, half, 0, half, half> ends;  // over (u, v)
  for (int i = 0; i < half; ++i) {
    const V *const prev = s.w + S::start(i), *const last = s.w + S::rhs(i) + 1;
    ends.row[i][ends.rhs] = s.w[S::rhs(i)];
    for (int j = 0; j < W; ++j) {
      const V next = W + j <= i ? last[W + j] : zero;
      ends.row[i][ends.window + j] = prev[W + j] + wrap(next);
      ends.row[i][ends.window + W + j] = (j <= i ? last[j] : zero) + wrap(prev[j]);
    }
  }
  V x[half];
  solve_dense(ends, x);
  Bounds<V, W> b;
  for (int j = 0; j < W; ++j) {
    b.x[j] = wrap(x[W + j]);
    b.x[3 * W + j] = wrap(x[j]);
  }
  for (int j = 0; j < half; ++j) b.x[W + j] = x[j];
  return b;
}

}  // namespace Trikkos::Impl

#endif
