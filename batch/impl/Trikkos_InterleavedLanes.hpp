// SPDX-FileCopyrightText: Trikkos contributors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRIKKOS_IMPL_INTERLEAVEDLANES_HPP
#define TRIKKOS_IMPL_INTERLEAVEDLANES_HPP

#include <impl/Trikkos_LaneVectors.hpp>
#include <impl/Trikkos_Method.hpp>
#include <impl/partition/Trikkos_Elimination.hpp>

/// \file
/// Open systems side by side, on a host. A row of as many as there are lanes is one line of memory
/// in a page of its own, and costs as much as four lines of one page. So some vectors of them take
/// turns, block after block of rows, which come to a cache row by row while those before them are
/// solved: the nearest cache holds few lines that are a power of two apart.

namespace Trikkos::Impl {

/// Two blocks of rows, of which one is solved and one is on its way.
template <class T, int W>
class InterleavedRows {
 public:
  static constexpr int width = lane_count<T>, arrays = 2 * W + 2;  // bands and b
  static constexpr std::int64_t block = 16;                        // rows
  static constexpr std::int64_t words(int vectors) { return 2 * block * arrays * vectors * width; }

  /// To `memory`, which begins with a line.
  explicit InterleavedRows(T* memory) : m_memory(memory) {}
  /// Of vectors of as many systems as lanes. Systems beyond are left out.
  void begin(const Problem<T, W>& systems) {
    m_n = systems.n();
    m_vectors = static_cast<int>(systems.count()) / width;
    m_some_are_shared = false;
    for (int j = 0; j < arrays; ++j) {
      const auto v = j < arrays - 1 ? systems.A.band(j) : systems.b;
      m_from[j] = {v.data, v.row_stride};
      m_is_shared[j] = v.system_stride == 0;
      m_some_are_shared |= m_is_shared[j];
    }
    restart();
  }
  /// The first block is on its way.
  void restart() {
    m_next = m_ahead = {};
    m_limit = m_vectors > 0 ? std::min(block, m_n) : 0;
    for (int k = 0; k < pieces_ahead; ++k) ask();
  }
  bool has_first_block() const { return m_limit <= block; }
  /// All of the block that was on its way is there, and the next one is on its way.
  void next_block() {
    finish();
    m_limit = std::min(m_limit + block, m_n);
  }
  void finish() {
    while (m_next.row < m_limit) copy();
  }
  /// Called for each row of a vector that is solved.
  KOKKOS_FORCEINLINE_FUNCTION void advance() {
    if (m_next.row < m_limit) copy();
  }
  KOKKOS_FORCEINLINE_FUNCTION Lanes<T> load(int j, std::int64_t row, int v) const {
    return reinterpret_cast<const Lanes<T>*>(m_memory)[place(j, row, v)];
  }

 private:
  static constexpr int pieces_ahead = 24;

  /// A row of a vector.
  struct Piece {
    std::int64_t row = 0;
    int vector = 0;
  };
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(int j, std::int64_t row, int v) const {
    return (row % (2 * block) * arrays + j) * m_vectors + v;
  }
  KOKKOS_FORCEINLINE_FUNCTION void step(Piece& p) const {
    if (++p.vector < m_vectors) return;
    p.vector = 0;
    ++p.row;
  }
  KOKKOS_FORCEINLINE_FUNCTION const T* at(int j, const Piece& p) const {
    return m_from[j].data + p.row * m_from[j].stride + p.vector * width;
  }
  KOKKOS_FORCEINLINE_FUNCTION void ask() {
    if (m_ahead.row >= m_n || m_vectors == 0) return;
    for (int j = 0; j < arrays; ++j) {
      const T* const p = at(j, m_ahead);
      KOKKOS_IF_ON_HOST((__builtin_prefetch(p, 0, 3);))
      KOKKOS_IF_ON_HOST((__builtin_prefetch(p + width - 1, 0, 3);))
    }
    step(m_ahead);
  }
  KOKKOS_FORCEINLINE_FUNCTION void copy() {
    ask();
    auto* const to = reinterpret_cast<Lanes<T>*>(m_memory) + place(0, m_next.row, m_next.vector);
    const bool is_inner = m_next.row >= W && m_next.row < m_n - W;
    if (is_inner && !m_some_are_shared)
      for (int j = 0; j < arrays; ++j) to[j * m_vectors] = load_adjacent(at(j, m_next));
    else
      for (int j = 0; j < arrays; ++j) to[j * m_vectors] = word(j, m_next);
    step(m_next);
  }
  /// Where it may be outside of the matrix, or one for all systems.
  KOKKOS_FUNCTION Lanes<T> word(int j, const Piece& p) const {
    const std::int64_t column = j < arrays - 1 ? p.row + j - W : p.row;
    if (column < 0 || column >= m_n) return constant<Lanes<T>>(0);
    if (m_is_shared[j]) return in_all_lanes(m_from[j][p.row]);
    return load_adjacent(at(j, p));
  }

  Strided<const T> m_from[arrays];
  bool m_is_shared[arrays];  // by all systems
  bool m_some_are_shared = false;
  std::int64_t m_n = 0, m_limit = 0;  // rows, and where the block ends that is on its way
  int m_vectors = 0;
  T* m_memory;
  Piece m_next, m_ahead;
};

/// A vector of them, `Rows` of an elimination (Trikkos_Elimination.hpp).
template <class T, int W>
struct InterleavedLanes {
  using V = Lanes<T>;
  using value_type = V;
  using index_type = std::int64_t;
  static constexpr int half_bandwidth = W;
  static constexpr int width = lane_count<T>;
  static constexpr bool ragged = false;
  static constexpr std::int64_t rows_ahead = 12;

  InterleavedRows<T, W>* rows = nullptr;
  std::int64_t n = 0;
  int vector = 0;
  Strided<T> x{};
  BackRow<V, W>* back = nullptr;
  unsigned stored = 0;  // a bit for each lane whose solution counts
  bool scale_rows = true, conjugated = false;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length() const { return n; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inner_rows() const { return n; }
  KOKKOS_FORCEINLINE_FUNCTION auto longer_than(std::int64_t k) const {
    return constant<Real<V>>(k < length() ? 1 : 0) > constant<Real<V>>(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> inner_equation(std::int64_t k) const {
    rows->advance();
    return scaled(equation_of<V, W>(*this, k, rows->load(2 * W + 1, k, vector)), scale_rows);
  }
  KOKKOS_FORCEINLINE_FUNCTION Equation<V, W> equation(std::int64_t k) const {
    return k < length() ? inner_equation(k) : unit_equation<V, W>();
  }
  template <int j>
  KOKKOS_FORCEINLINE_FUNCTION V entry(std::int64_t k) const {
    const V v = rows->load(W + j, k, vector);
    if constexpr (is_complex_v<T>)
      if (conjugated) return conjugate(v);
    return v;
  }
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t k, const BackRow<V, W>& row) const {
    back[k] = row;
  }
  /// In the place of q and f.
  KOKKOS_FORCEINLINE_FUNCTION void keep_pair(std::int64_t k, const V& u, const V& z) const {
    back[k].q = u;
    back[k].f = z;
  }
  KOKKOS_FORCEINLINE_FUNCTION const BackRow<V, W>& kept(std::int64_t k) const { return back[k]; }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t k, const V& v) const {
    rows->advance();
    T* const p = x.data + k * x.stride;
    if (k >= rows_ahead) {
      [[maybe_unused]] const T* const later = p - rows_ahead * x.stride;
      KOKKOS_IF_ON_HOST((__builtin_prefetch(later, 1, 3);))
      KOKKOS_IF_ON_HOST((__builtin_prefetch(later + width - 1, 1, 3);))
    }
    if (stored == all_lanes<T>)
      store_adjacent(p, v);
    else
      for (int l = 0; l < width; ++l)
        if (stored >> l & 1) p[l] = lane(v, l);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store_in_pairs(std::int64_t k, const V& v) const { store(k, v); }
};

}  // namespace Trikkos::Impl

#endif
